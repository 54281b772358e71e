-- Every function that makes a signature of a set or of a text, with the method that it is
-- named after and a call: %s is the set or the text.  Arguments without a default are 4, '',
-- a few words, or columns `lexicon`, `shingle_lexicon` and `word_set`.  From the catalogs, so that a
-- new method is among them; `call` is null if an argument is of another type.
CREATE TEMP VIEW method_calls AS
SELECT proname::text AS method, proargtypes[0]::regtype AS takes,
       format('%I(%%s', proname) ||
       (SELECT CASE WHEN count(*) = count(value) THEN coalesce(string_agg(', ' || value, '' ORDER BY n), '') || ')' END
        FROM generate_series(1, pronargs - pronargdefaults - 1) n,
             LATERAL (SELECT CASE proargtypes[n]::regtype::text WHEN 'integer' THEN '4' WHEN 'text' THEN '''''' WHEN 'text[]' THEN '''{w1,w2,a,b}'''
                                  WHEN 'lexicon' THEN CASE WHEN proname ~ 'shingles' THEN 'shingle_lexicon' ELSE 'lexicon' END WHEN 'word_set' THEN 'word_set' END AS value) v) AS call
FROM pg_proc p JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
WHERE d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'neardup') AND prokind = 'f' AND prorettype = 'signature'::regtype
  AND NOT proname ~ '^signature_'
  AND (proargtypes[0] = 'signature'::regtype AND 'signature'::regtype <> ALL (proargtypes[1:]::oid[])
       OR proargtypes[0] = 'text'::regtype AND proargnames[1] = 'doc');

-- Near-duplicates of a sketch that only just are, and share as few keys as two can: as many
-- bits are flipped as the threshold allows, one at the start of each of n parts but one, which
-- is another part in each row.  An index or a join that loses any key loses one of them.
CREATE FUNCTION pg_temp.flipped(sig signature, n int, except_part int) RETURNS signature LANGUAGE plpgsql AS $$
DECLARE
    bytes bytea := sig::bytea;
    bits CONSTANT int := 8 * (length(bytes) - 28);
    at int;
BEGIN
    FOR part IN 0 .. n - 1 LOOP
        CONTINUE WHEN part = except_part;
        at := 8 * 28 + part * bits / n;
        bytes := set_bit(bytes, at, 1 - get_bit(bytes, at));
    END LOOP;
    RETURN bytes::signature;
EXCEPTION WHEN invalid_binary_representation THEN
    RETURN NULL;    -- a set whose order would change
END $$;
CREATE FUNCTION pg_temp.barely_near(sig signature, threshold float8) RETURNS SETOF signature LANGUAGE plpgsql AS $$
DECLARE
    parts int := 1;
    other signature;
BEGIN
    FOR n IN 2 .. least(8 * (length(sig::bytea) - 28), 200) LOOP
        IF near_duplicate(sig, pg_temp.flipped(sig, n, n - 1), threshold) THEN
            parts := n;
        END IF;
    END LOOP;
    FOR part IN 0 .. parts - 1 LOOP
        other := pg_temp.flipped(sig, parts, part);
        IF near_duplicate(sig, other, threshold) THEN
            RETURN NEXT other;
        END IF;
    END LOOP;
END $$;
