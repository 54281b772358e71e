--
-- Every function that makes a sketch of a set: all pairs, look-ups in both indexes, the join
-- and exported keys find the same near-duplicates.  The functions are found in the
-- catalogs, so a new method is among them.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set file :abs_srcdir '/sql/shared/method_calls.sql'
\i :file
-- there is a call of each function
SELECT method FROM method_calls WHERE call IS NULL;
CREATE TABLE sets AS
SELECT i AS id, signature_from(array(SELECT hashint8extended(k, CASE WHEN k <= i % 8 * 3 THEN i ELSE 1000 + i / 8 END)
                                     FROM generate_series(1::bigint, 60) k)) AS set
FROM generate_series(1, 120) i;

CREATE TABLE sketches AS SELECT format(call, 'set') AS sketch FROM method_calls WHERE takes = 'signature'::regtype;
SELECT count(*) >= 6 AS many FROM sketches;

-- the pairs of a query, as one line, if its plan has a word
CREATE FUNCTION pairs(query text, word text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    line text;
    planned boolean := false;
    found text;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN ' || query LOOP
        planned := planned OR line ~ word;
    END LOOP;
    IF NOT planned THEN
        RETURN 'no ' || word;
    END IF;
    EXECUTE format('SELECT count(*) || '' '' || coalesce(md5(string_agg(a || '' '' || b, '','' ORDER BY a, b)), '''') FROM (%s) q', query) INTO found;
    RETURN found;
END $$;
CREATE FUNCTION differences(sketch text, threshold float8) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    query CONSTANT text := format('SELECT a.id AS a, b.id AS b FROM sketched a, sketched b WHERE near_duplicate(a.sig, b.sig, %s)', threshold);
    truth text;
    found text;
BEGIN
    EXECUTE format('CREATE TABLE sketched AS SELECT id, %s AS sig FROM sets', sketch);
    INSERT INTO sketched SELECT 1000 + row_number() OVER (), near FROM sketched s, pg_temp.barely_near(s.sig, threshold) near WHERE s.id = 8;
    ANALYZE sketched;
    truth := pairs(format('SELECT a, b FROM (SELECT a.id AS a, b.id AS b, near_duplicate(a.sig, b.sig, %s) AS near FROM sketched a, sketched b OFFSET 0) p WHERE near', threshold), 'Nested');
    IF split_part(truth, ' ', 1)::int <= (SELECT count(*) FROM sketched) THEN
        RETURN NEXT 'no pairs';
    END IF;
    PERFORM set_config('enable_nestloop', 'off', true);
    found := pairs(query, 'SimilarityJoin');
    IF found <> truth THEN RETURN NEXT 'join: ' || found; END IF;
    found := pairs(format('SELECT DISTINCT a.id AS a, b.id AS b FROM (SELECT *, unnest(candidate_keys(sig, %1$s)) AS key FROM sketched) a
        JOIN (SELECT *, unnest(candidate_keys(sig, %1$s)) AS key FROM sketched) b USING (key) WHERE near_duplicate(a.sig, b.sig, %1$s)', threshold), '');
    IF found <> truth THEN RETURN NEXT 'keys: ' || found; END IF;
    PERFORM set_config('enable_nestloop', 'on', true), set_config('enable_seqscan', 'off', true), set_config('neardup.enable_join', 'off', true);
    CREATE INDEX sketched_sig ON sketched USING neardup (sig);
    found := pairs(query, 'sketched_sig');
    IF found <> truth THEN RETURN NEXT 'neardup: ' || found; END IF;
    DROP INDEX sketched_sig;
    EXECUTE format('CREATE INDEX sketched_sig ON sketched USING gin (sig signature_gin_ops (threshold = %s)) WITH (fastupdate = off)', threshold);
    found := pairs(query, 'sketched_sig');
    IF found <> truth THEN RETURN NEXT 'gin: ' || found; END IF;
    PERFORM set_config('enable_seqscan', 'on', true), set_config('neardup.enable_join', 'on', true);
    DROP TABLE sketched;
END $$;
SELECT sketch, threshold, differences(sketch, threshold) FROM sketches, unnest('{0.8,0.9}'::float8[]) threshold ORDER BY sketch COLLATE "C", threshold;

DROP FUNCTION differences, pairs;
DROP TABLE sets, sketches;
DROP VIEW method_calls;
