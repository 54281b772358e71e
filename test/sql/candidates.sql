--
-- Candidate keys: an index on sketches finds the rows that a sequential scan
-- finds, for every method and threshold
--

-- Families of near-duplicates: sets with a few elements dropped and added
CREATE TABLE docs (id int PRIMARY KEY, sig signature);
INSERT INTO docs
SELECT id, CASE WHEN id % 97 = 0 THEN NULL ELSE signature_from(array(
           SELECT hashint8extended(family * 1000 + i, 0)
           FROM generate_series(1, size) i
           WHERE hashint8extended(i, id) & 31 > id % 9 OR id % 10 = 0
           UNION
           SELECT hashint8extended(i % 40, 1) FROM generate_series(1, id % 4) i)) END
FROM (SELECT id, id / 6 AS family, (id / 6) * 7 % 120 AS size
      FROM generate_series(1::bigint, 600) id) s;

-- The same rows as sketches; indexed by one of them at a time.  Some with several parameters,
-- and every other method of the catalogs.
\getenv abs_srcdir PG_ABS_SRCDIR
\set file :abs_srcdir '/sql/shared/method_calls.sql'
\i :file
CREATE TABLE method (name text, call text);
INSERT INTO method VALUES
    ('minhash 128', 'minhash(sig)'), ('minhash 20', 'minhash(sig, 20)'), ('minhash 1', 'minhash(sig, 1)'),
    ('bottom 50', 'bottom(sig, 50)'), ('bottom 1000', 'bottom(sig, 1000)'), ('bottom 1', 'bottom(sig, 1)'),
    ('sample 2', 'sample(sig, 2)'), ('sample 10', 'sample(sig, 10)'), ('simhash', 'simhash(sig)'),
    ('supershingles', 'supershingles(sig)'), ('supershingles 1', 'supershingles(sig, 1, 8)'),
    ('megashingles', 'megashingles(sig)');
INSERT INTO method SELECT method, format(call, 'sig') FROM method_calls
WHERE takes = 'signature'::regtype AND method NOT IN (SELECT split_part(name, ' ', 1) FROM method);
CREATE TABLE threshold (t float8);
INSERT INTO threshold VALUES (0.3), (0.55), (0.8), (0.9), (0.96), (1);
CREATE TABLE sketch (id int, sig signature);
CREATE TABLE query (q int, query signature);
CREATE TABLE found (by text, t float8, q int, id int);
SET client_min_messages = warning;
-- with the index
SET neardup.enable_join = off;

-- Make the sketches and an index with the options, compare the rows that are
-- found with the index and without, and count the conditions that used it.
CREATE FUNCTION compare(call text, options text, OUT matches bigint, OUT differing bigint, OUT indexed bigint)
LANGUAGE plpgsql SET jit = off AS $$
DECLARE
    c record;
    line text;
BEGIN
    TRUNCATE sketch, query, found;
    DROP INDEX IF EXISTS sketch_sig;
    EXECUTE format('INSERT INTO sketch SELECT id, %s FROM docs', call);
    INSERT INTO query SELECT id, sig FROM sketch WHERE id % 24 = 5;
    INSERT INTO found SELECT 'seq', t, q, id FROM threshold, query, sketch WHERE near_duplicate(sig, query, t);
    EXECUTE format('CREATE INDEX sketch_sig ON sketch USING gin (sig signature_gin_ops%s)', options);
    indexed := 0;
    FOR c IN SELECT t, format('near_duplicate(sig, query, %L)', t) AS condition FROM threshold LOOP
        SET LOCAL enable_seqscan = off;
        EXECUTE format('INSERT INTO found SELECT ''index'', %L, q, id FROM query, sketch WHERE %s', c.t, c.condition);
        FOR line IN EXECUTE 'EXPLAIN SELECT q, id FROM query, sketch WHERE ' || c.condition LOOP
            indexed := indexed + (line LIKE '%Index Cond: (sig \%\%%')::int;
        END LOOP;
        RESET enable_seqscan;
    END LOOP;
    SELECT count(*) FILTER (WHERE by = 'seq') INTO matches FROM found;
    SELECT count(*) INTO differing
    FROM (SELECT t, q, id FROM found GROUP BY t, q, id HAVING count(*) <> 2) s;
END $$;

SELECT name, c.* FROM method, compare(call, '') c ORDER BY name COLLATE "C";
SELECT name, c.* FROM method, compare(call, ' (threshold = 0.3)') c ORDER BY name COLLATE "C";
SELECT name, c.* FROM method, compare(call, ' (threshold = 0.9, ell = 1, frac = 0)') c ORDER BY name COLLATE "C";
-- an index that accepts every threshold reads all rows where its keys do not suffice
SELECT name, c.* FROM method, compare(call, ' (measure = containment, threshold = 0.6)') c ORDER BY name COLLATE "C";

-- Number of rows that an index scan returns for recheck, of 594; at 0.8, simhashes
-- of unrelated documents are often near
CREATE FUNCTION candidates(call text, t float8) RETURNS bigint LANGUAGE plpgsql SET jit = off AS $$
DECLARE
    line text;
    n bigint := 0;
BEGIN
    TRUNCATE sketch;
    DROP INDEX IF EXISTS sketch_sig;
    EXECUTE format('INSERT INTO sketch SELECT id, %s FROM docs', call);
    CREATE INDEX sketch_sig ON sketch USING gin (sig);
    SET LOCAL enable_seqscan = off;
    FOR line IN EXECUTE format('EXPLAIN (ANALYZE, TIMING OFF, SUMMARY OFF, COSTS OFF, BUFFERS OFF)
        SELECT * FROM sketch WHERE near_duplicate(sig, (SELECT sig FROM sketch WHERE id = 41), %L)', t) LOOP
        n := n + coalesce(substring(line FROM 'Bitmap Index Scan.*rows=(\d+)')::bigint, 0);
    END LOOP;
    RESET enable_seqscan;
    RETURN n;
END $$;
SELECT name, candidates(call, 0.8) BETWEEN 1 AND 40 AS few_at_8, candidates(call, 0.96) BETWEEN 1 AND 20 AS few_at_96
FROM method WHERE name NOT LIKE '% 1' ORDER BY name COLLATE "C";

-- A measure that cannot be computed is an error with an index, too
TRUNCATE sketch;
INSERT INTO sketch SELECT id, minhash(sig) FROM docs;
CREATE INDEX sketch_dice ON sketch USING gin (sig signature_gin_ops (measure = containment));
SET enable_seqscan = off;
SELECT count(*) FROM sketch WHERE contained_in(sig, (SELECT minhash(signature_from('{1}'))), 0.8);
RESET enable_seqscan;

-- near_duplicate_approx(): no false pair, few lost, the same with an index and without
TRUNCATE sketch, query;
DROP INDEX sketch_dice;
INSERT INTO sketch SELECT id, sig FROM docs;
INSERT INTO query SELECT id, sig FROM sketch WHERE id % 2 = 1;
SET enable_indexscan = off;
SET enable_bitmapscan = off;
CREATE TABLE approx AS
SELECT recall, q, id, near_duplicate(sig, query, 0.8) AS exact, near_duplicate_approx(sig, query, 0.8, recall) AS approx
FROM (VALUES (0.5::float8), (0.9), (0.99), (0.999)) r (recall), query, sketch;
RESET enable_indexscan;
RESET enable_bitmapscan;
SELECT recall, count(*) FILTER (WHERE exact) > 500 AS many, count(*) FILTER (WHERE approx AND NOT exact) AS wrong,
       count(*) FILTER (WHERE approx)::float8 / count(*) FILTER (WHERE exact) > recall AS as_promised,
       count(*) FILTER (WHERE approx AND exact) < count(*) FILTER (WHERE exact) AS some_lost
FROM approx GROUP BY recall ORDER BY recall;
SET enable_seqscan = off;
-- leave out the line that only PostgreSQL 18 prints
CREATE FUNCTION plan(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    line text;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
        CONTINUE WHEN line ~ '^ *Disabled: true$';
        RETURN NEXT line;
    END LOOP;
END $$;
SELECT plan('SELECT q, id FROM query, sketch WHERE near_duplicate_approx(sig, query, 0.8, 0.5)');
SELECT count(*) AS differing
FROM (SELECT q, id FROM query, sketch WHERE near_duplicate_approx(sig, query, 0.8, 0.5)) f
FULL JOIN (SELECT q, id FROM approx WHERE recall = 0.5 AND approx) a USING (q, id)
WHERE f.q IS NULL OR a.q IS NULL;
-- by an index of access method neardup, too, in order as well
BEGIN;
DROP INDEX sketch_sig;
CREATE INDEX sketch_nearest ON sketch USING neardup (sig);
SELECT plan('SELECT q, id FROM query, sketch WHERE near_duplicate_approx(sig, query, 0.8, 0.5)');
SELECT count(*) AS differing
FROM (SELECT recall, q, id FROM (VALUES (0.5::float8), (0.99)) r (recall), query, LATERAL
        (SELECT id FROM sketch WHERE near_duplicate_approx(sig, query, 0.8, recall) OFFSET 0) s) f
FULL JOIN (SELECT recall, q, id FROM approx WHERE recall IN (0.5, 0.99) AND approx) a USING (recall, q, id)
WHERE f.q IS NULL OR a.q IS NULL;
SELECT count(*) AS differing
FROM (SELECT q, id FROM query, LATERAL (SELECT id FROM sketch WHERE near_duplicate_approx(sig, query, 0.8, 0.5)
      ORDER BY sig <-> query OFFSET 0) s) f
FULL JOIN (SELECT q, id FROM approx WHERE recall = 0.5 AND approx) a USING (q, id)
WHERE f.q IS NULL OR a.q IS NULL;
ROLLBACK;
RESET enable_seqscan;
SELECT near_duplicate_approx(a, a, 1), near_duplicate_approx(e, e, 0.5), near_duplicate_approx(a, a, 0.001)
FROM (SELECT signature_from('{1,2}') AS a, signature_from('{}') AS e) s;
SELECT near_duplicate_approx(a, a, 0.8, 1) FROM (SELECT signature_from('{1,2}') AS a) s;
SELECT near_duplicate_approx(a, a, 0.8, 'NaN') FROM (SELECT signature_from('{1,2}') AS a) s;
SELECT near_duplicate_approx(a, a, 0) FROM (SELECT signature_from('{1,2}') AS a) s;
SELECT near_duplicate_approx(a, a, 1e-6) FROM (SELECT signature_from('{1,2}') AS a) s;
SELECT near_duplicate_approx(minhash(a), minhash(a), 0.8) FROM (SELECT signature_from('{1,2}') AS a) s;

-- The curves, with the figures of the literature
SELECT round(supershingle_probability(0.95, 6, 14, 2)::numeric, 3) AS super,
       round(supershingle_probability(0.95, 1, 14, 1)::numeric, 3) AS one_group,
       supershingle_probability(1) AS one, supershingle_probability(0) AS zero,
       supershingle_probability(0.5, 6, 14, 0) AS always;
SELECT supershingle_probability(0.9, 6, 14, 0) AS always;
SELECT round(lsh_probability(s, 20, 5)::numeric, 3) AS "20 bands of 5"
FROM unnest('{0,0.2,0.3,0.4,0.5,0.6,0.7,0.8,1}'::float8[]) s ORDER BY s;
SELECT t AS threshold, r AS recall, size, bands, rows, round(probability::numeric, 4) AS probability
FROM unnest('{0.5,0.8,0.95,1}'::float8[]) t, unnest('{0.5,0.99,1}'::float8[]) r,
     unnest('{128,256}'::int[]) size, lsh_parameters(t, r, size)
ORDER BY t, r, size;
SELECT * FROM lsh_parameters(0.1, 0.99, 16);
SELECT * FROM lsh_parameters(0.8, 1.1);
SELECT * FROM lsh_parameters(0.8, 0.9, 0);
SELECT lsh_probability(1.1, 20, 5);
SELECT lsh_probability(0.5, 0, 5);
SELECT supershingle_probability(0.5, 6, 14, 7);

DROP TABLE docs, method, threshold, sketch, query, found, approx;
DROP VIEW method_calls;
DROP FUNCTION compare, candidates, plan;
