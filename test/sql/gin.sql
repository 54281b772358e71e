--
-- The GIN operator class: the same rows as a sequential scan, for every
-- condition, threshold, measure and option
--

-- Families of near-duplicates: every row is its family's set with a few
-- elements dropped and added; some are empty, tiny, equal or null
CREATE TABLE docs (id int PRIMARY KEY, sig signature) WITH (autovacuum_enabled = off);
INSERT INTO docs
SELECT id, CASE WHEN id % 97 = 0 THEN NULL ELSE signature_from(array(
           SELECT hashint8extended(family * 1000 + i, 0)
           FROM generate_series(1, size) i
           WHERE hashint8extended(i, id) & 15 > 0 OR id % 10 = 0
           UNION
           SELECT hashint8extended(i % 40, 1) FROM generate_series(1, id % 4) i)) END
FROM (SELECT id, id / 6 AS family, (id / 6) * 7 % 90 AS size
      FROM generate_series(1::bigint, 1800) id) s;
SELECT count(sig), min(cardinality(sig::bigint[])), max(cardinality(sig::bigint[])),
       count(DISTINCT sig) < count(sig) AS some_equal
FROM docs;

-- The truth, by sequential scan: queries q, thresholds t, measures m
CREATE TABLE query AS SELECT id AS q, sig AS query FROM docs WHERE id % 60 = 23;
CREATE TABLE threshold (t float8) WITH (autovacuum_enabled = off);
INSERT INTO threshold VALUES (0.3), (0.5), (2.0/3), (0.8), (0.9), (1);
\getenv abs_srcdir PG_ABS_SRCDIR
\set file :abs_srcdir '/sql/shared/set_measures.sql'
\i :file
CREATE TABLE measure AS SELECT measure AS m FROM set_measures;
SET enable_indexscan = off;
SET enable_bitmapscan = off;
CREATE TABLE truth AS
SELECT m, t, q, id FROM measure, threshold, query, docs
WHERE near_duplicate(sig, query, t, m);
RESET enable_indexscan;
RESET enable_bitmapscan;
SELECT m, count(*) > 1000 AS many, count(*) < 1000000 AS not_all
FROM truth GROUP BY m ORDER BY m;

-- By index, where it can answer: plpgsql, so that measure and threshold are
-- constants when planned
CREATE FUNCTION by_index(OUT differing bigint, OUT indexed bigint) LANGUAGE plpgsql
SET enable_seqscan = off SET enable_indexscan = off SET neardup.enable_join = off SET jit = off AS $$
DECLARE
    differences text;
    plan text;
    n bigint;
BEGIN
    differing := 0;
    indexed := 0;
    FOR differences IN
        SELECT format('SELECT count(*)
                       FROM (SELECT q, id FROM query, docs WHERE near_duplicate(sig, query, %1$L, %2$L)) f
                       FULL JOIN (SELECT q, id FROM truth WHERE t = %1$L AND m = %2$L) t USING (q, id)
                       WHERE f.id IS NULL OR t.id IS NULL', t, m)
        FROM measure, threshold LOOP
        EXECUTE 'EXPLAIN (FORMAT json) ' || differences INTO plan;
        CONTINUE WHEN plan NOT LIKE '%Index Cond": "(sig \%\%%';
        indexed := indexed + 1;
        EXECUTE differences INTO n;
        differing := differing + n;
    END LOOP;
END $$;

-- For each set of options: no row differs, and how many of the 36 conditions
-- the index can answer
CREATE INDEX docs_sig ON docs USING gin (sig) WITH (fastupdate = off);
SELECT * FROM by_index();
DROP INDEX docs_sig;
CREATE INDEX docs_sig ON docs USING gin (sig signature_gin_ops (threshold = 0.3));
SELECT * FROM by_index();
DROP INDEX docs_sig;
CREATE INDEX docs_sig ON docs USING gin
    (sig signature_gin_ops (threshold = 0.5, ell = 1, frac = 0));
SELECT * FROM by_index();
DROP INDEX docs_sig;
CREATE INDEX docs_sig ON docs USING gin
    (sig signature_gin_ops (threshold = 0.9, ell = 3, frac = 0.5));
SELECT * FROM by_index();
DROP INDEX docs_sig;
CREATE INDEX docs_sig ON docs USING gin (sig signature_gin_ops (measure = containment));
SELECT * FROM by_index();
DROP INDEX docs_sig;

-- Options out of range
CREATE INDEX ON docs USING gin (sig signature_gin_ops (threshold = 0));
CREATE INDEX ON docs USING gin (sig signature_gin_ops (threshold = 1.1));
CREATE INDEX ON docs USING gin (sig signature_gin_ops (ell = 0));
CREATE INDEX ON docs USING gin (sig signature_gin_ops (frac = -1));
CREATE INDEX ON docs USING gin (sig signature_gin_ops (measure = euclid));
CREATE INDEX ON docs USING gin (sig signature_gin_ops (bands = 4));

-- Every form uses the index, with constants, parameters and join variables, with
-- the column on either side.  (A value that is not constant is read from a setting,
-- as plans with subqueries differ between versions.)
CREATE INDEX docs_sig ON docs USING gin (sig) WITH (fastupdate = off);
SET enable_seqscan = off;
SET test.sig = 'features{}';
EXPLAIN (COSTS OFF)
SELECT * FROM docs WHERE near_duplicate(sig, current_setting('test.sig')::signature, 0.8);
EXPLAIN (COSTS OFF)
SELECT * FROM docs WHERE near_duplicate(current_setting('test.sig')::signature, sig, 0.9, 'dice');
EXPLAIN (COSTS OFF)
SELECT * FROM docs WHERE sig % current_setting('test.sig')::signature;
EXPLAIN (COSTS OFF)
SELECT * FROM docs WHERE contained_in(sig, current_setting('test.sig')::signature, 0.8);
EXPLAIN (COSTS OFF)
SELECT * FROM docs WHERE sig <% current_setting('test.sig')::signature;
EXPLAIN (COSTS OFF)
SELECT * FROM docs WHERE current_setting('test.sig')::signature %> sig;
RESET enable_seqscan;
SET neardup.enable_join = off;
EXPLAIN (COSTS OFF)
SELECT q, id FROM query, docs WHERE query % sig;
RESET neardup.enable_join;
SET enable_seqscan = off;
PREPARE near (signature, float8) AS SELECT id FROM docs WHERE near_duplicate(sig, $1, $2) ORDER BY id;
SET plan_cache_mode = force_generic_plan;
EXPLAIN (COSTS OFF) EXECUTE near('features{}', 0.8);
-- a parameter below the threshold of the index: slow, but right
SELECT sig AS sig23 FROM docs WHERE id = 23 \gset
EXECUTE near(:'sig23', 0.3);
EXECUTE near(:'sig23', 0.9);
EXECUTE near(:'sig23', 2);
EXECUTE near(NULL, 0.8);
RESET plan_cache_mode;
-- no index where it cannot answer, or a column is the threshold; from 18 on such
-- plans show that a disabled node was used
RESET enable_seqscan;
EXPLAIN (COSTS OFF)
SELECT * FROM docs WHERE near_duplicate(sig, current_setting('test.sig')::signature, 0.79);
EXPLAIN (COSTS OFF)
SELECT * FROM docs WHERE contained_in(current_setting('test.sig')::signature, sig, 0.8);
EXPLAIN (COSTS OFF)
SELECT * FROM threshold LEFT JOIN docs ON near_duplicate(sig, current_setting('test.sig')::signature, t);
SET enable_seqscan = off;
-- the setting counts when the scan runs
SET neardup.threshold = 0.9;
PREPARE percent AS SELECT count(*) FROM docs, (SELECT sig AS s FROM docs WHERE id = 23) q WHERE sig % s;
SET plan_cache_mode = force_generic_plan;
EXPLAIN (COSTS OFF) EXECUTE percent;
EXECUTE percent;
SET neardup.threshold = 0.4;
EXECUTE percent;
RESET neardup.threshold;
RESET plan_cache_mode;
SELECT count(*) FROM docs WHERE near_duplicate(sig, (SELECT sig FROM docs WHERE id = 23), 0.9);
SELECT count(*) FROM docs WHERE near_duplicate(sig, (SELECT sig FROM docs WHERE id = 23), 0.4);

-- A query of very many features: with keys, and with more than the limit
INSERT INTO docs SELECT 5000, signature_from(array_agg(i)) FROM generate_series(1::bigint, 200000) i;
INSERT INTO docs SELECT 5001, signature_from(array_agg(i)) FROM generate_series(1::bigint, 600000) i;
SELECT id FROM docs
WHERE near_duplicate(sig, (SELECT signature_from(array_agg(i)) FROM generate_series(1::bigint, 190000) i), 0.8);
SELECT id FROM docs
WHERE near_duplicate(sig, (SELECT signature_from(array_agg(i)) FROM generate_series(1::bigint, 590000) i), 0.8);

-- Signatures of a different spec are never near-duplicates, by either plan
INSERT INTO docs VALUES (6000, 'shingles[k=3]{0000000000000001}');
SELECT count(*) FROM docs WHERE near_duplicate(sig, (SELECT signature_from('{1,2,3}')), 0.8);
SELECT count(*) FROM docs WHERE near_duplicate(sig, (SELECT signature_from('{}')), 0.8);
SELECT count(*) FROM docs WHERE near_duplicate(sig, (SELECT 'shingles[k=4]{}'::signature), 0.8);
UPDATE docs SET sig = 'shingles[k=3]{}' WHERE id = 6000;
SELECT count(*) FROM docs WHERE near_duplicate(sig, (SELECT signature_from('{1,2,3}')), 0.8);
SET enable_seqscan = on;
SET enable_bitmapscan = off;
SELECT count(*) FROM docs WHERE near_duplicate(sig, (SELECT signature_from('{1,2,3}')), 0.8);
RESET enable_bitmapscan;
DELETE FROM docs WHERE id = 6000;
SET enable_seqscan = off;
VACUUM docs;
SELECT count(*) FROM docs WHERE near_duplicate(sig, (SELECT signature_from('{1,2,3}')), 0.8);

-- On an expression, and with other columns of other types
CREATE TABLE arrays (id int, f bigint[]);
INSERT INTO arrays SELECT id, sig::bigint[] FROM docs WHERE sig IS NOT NULL AND id < 2000;
CREATE INDEX ON arrays USING gin (f, signature_from(f));
EXPLAIN (COSTS OFF)
SELECT b.id FROM arrays a JOIN arrays b ON near_duplicate(signature_from(a.f), signature_from(b.f), 0.8)
WHERE a.id = 23 AND b.f @> '{1}';
SELECT b.id FROM arrays a JOIN arrays b ON near_duplicate(signature_from(a.f), signature_from(b.f), 0.8)
WHERE a.id = 23 ORDER BY 1;
SELECT id FROM truth WHERE q = 23 AND t = 0.8 AND m = 'jaccard' ORDER BY 1;

-- Parallel build and pages that turn lossy
SET work_mem = '64kB';
SELECT * FROM by_index();
RESET work_mem;
RESET enable_seqscan;

DROP TABLE docs, query, threshold, measure, truth, arrays;
DROP FUNCTION by_index;
