--
-- Altered input: refused by a rule, or a value that is written as it was read
--

-- A linear congruential generator: the same numbers everywhere
CREATE FUNCTION next_random(INOUT state bigint) LANGUAGE sql IMMUTABLE AS $$
    SELECT (state * 1103515245 + 12345) & 2147483647
$$;

CREATE FUNCTION altered(input bytea, seed bigint) RETURNS bytea
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    r bigint := next_random(seed);
    place int;
BEGIN
    FOR i IN 0 .. (r >> 8) % 3 LOOP
        r := next_random(r);
        place := (r >> 8) % greatest(length(input), 1);
        r := next_random(r);
        CASE (r >> 16) % 5
            WHEN 0 THEN input := substr(input, 1, place);
            WHEN 1 THEN input := substr(input, 1, place) || substr(input, place + 2);
            WHEN 2 THEN input := substr(input, 1, place) || input;
            ELSE
                IF place < length(input) THEN
                    input := set_byte(input, place, ((r >> 8) & 255)::int);
                END IF;
        END CASE;
    END LOOP;
    RETURN input;
END $$;

CREATE TYPE outcome AS ENUM ('refused', 'accepted', 'not the same again');

CREATE FUNCTION try_bytes(input bytea) RETURNS outcome LANGUAGE plpgsql AS $$
BEGIN
    IF input::signature::bytea = input
       AND input::signature::text::signature = input::signature
       AND similarity(input::signature, input::signature) BETWEEN 0 AND 1
       AND describe(input::signature) IS NOT NULL THEN
        RETURN 'accepted';
    END IF;
    RETURN 'not the same again';
EXCEPTION WHEN invalid_binary_representation THEN
    RETURN 'refused';
END $$;

CREATE FUNCTION try_text(input text) RETURNS outcome LANGUAGE plpgsql AS $$
DECLARE
    sig signature;
BEGIN
    sig := input::signature;
    IF sig::text::signature = sig AND sig::bytea::signature = sig THEN
        RETURN 'accepted';
    END IF;
    RETURN 'not the same again';
EXCEPTION
    WHEN invalid_text_representation OR invalid_parameter_value THEN
        RETURN 'refused';
END $$;

CREATE TABLE good (sig signature);
INSERT INTO good VALUES
    (signature_from('{}')), (signature_from('{1,2,3}')),
    ('shingles[k=3]{0000000000000001,7fffffffffffffff,ffffffffffffffff}'),
    ('shingles[russian stop minlen=3 unit=sentence order=sum k=2]{0123456789abcdef}'),
    ('shingles[config=1a2b3c4d k=3]{0000000000000001,0000000000000002}'),
    (minhash('a b c', 10)), (minhash(signature_from('{1,2}'), 9)), (bottom('a b c d e f', 2)),
    (sample(signature_from('{1,2,3,4,5,6}'), 2)), (supershingles('a b c d', 2, 3)),
    (megashingles('a b c d', 3, 2)), (simhash('a b c d')), (winnow('a b c d e f g', 2, 2)),
    (koala('some letters', 3, 4)), (anchored('a b c d a d', '{a}', 2)),
    (signature_weighted('{1,2,3}', '{0.5,1e20,1e-40}')), (weighted_words('a b a c'));

SELECT try_bytes(altered(sig::bytea, i)) AS outcome, count(*) > 100 AS many
FROM good, generate_series(1, 4000) i GROUP BY 1 ORDER BY 1;
-- accepted values can be indexed, searched for and compared
CREATE TABLE accepted (id serial, sig signature);
INSERT INTO accepted (sig) SELECT altered(sig::bytea, i)::signature
FROM good, generate_series(1, 4000) i WHERE try_bytes(altered(sig::bytea, i)) = 'accepted';
CREATE INDEX accepted_sig ON accepted USING gin (sig);
SET client_min_messages = error;
DO $$
DECLARE
    a record;
BEGIN
    SET LOCAL enable_seqscan = off;
    FOR a IN SELECT DISTINCT ON (left(sig::text, 20)) * FROM accepted ORDER BY left(sig::text, 20), id LOOP
        PERFORM FROM accepted WHERE near_duplicate(sig, a.sig, 0.9);
    END LOOP;
END $$;
RESET client_min_messages;
SELECT count(DISTINCT sig) > 1000 AS many FROM accepted;
DROP TABLE accepted;
-- letters that an encoding does not have cannot get in as text
SELECT try_text(translate(encode(altered(convert_to(sig::text, 'UTF8'), i), 'escape'), '\', '/')) AS outcome,
       count(*) > 100 AS many
FROM good, generate_series(1, 4000) i GROUP BY 1 ORDER BY 1;

-- The type with a threshold
SELECT '0.8 jaccard features{0000000000000001}'::signature_query;
SELECT '1e-3 Containment  shingles[k=3]{}'::signature_query;
SELECT '0 jaccard features{}'::signature_query;
SELECT '1.01 jaccard features{}'::signature_query;
SELECT 'nan jaccard features{}'::signature_query;
SELECT '0.8 euclid features{}'::signature_query;
SELECT '+0.8 jaccard features{}'::signature_query;
SELECT '0x1p-1 jaccard features{}'::signature_query;
-- read back unchanged, whatever the settings
SET extra_float_digits = -15;
SELECT signature_query(signature_from('{}'), 1.0 / 3), signature_query(signature_from('{}'), 0.9999999999999999);
RESET extra_float_digits;
SELECT '0.8 jaccard'::signature_query;
SELECT '0.8'::signature_query;
SELECT signature_from('{1,2}') %% signature_query(signature_from('{1,2,3}'), 2.0 / 3) AS reached,
       signature_from('{1,2}') %% signature_query(signature_from('{1,2,3}'), 0.67) AS missed,
       signature_from('{1,2}') %% signature_query(signature_from('{1,2,3}'), 0.67, 'containment') AS contained;

DROP TABLE good;
DROP FUNCTION try_bytes, try_text, altered, next_random;
DROP TYPE outcome;
