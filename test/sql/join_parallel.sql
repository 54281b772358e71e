--
-- The similarity join by several processes
--
-- Sets in enough pages for all processes to read some.

CREATE SCHEMA join_parallel;
SET search_path = join_parallel, public;

\getenv abs_srcdir PG_ABS_SRCDIR
\set file :abs_srcdir '/sql/shared/random_sets.sql'
\i :file
CREATE TABLE sets AS
SELECT r AS id, r % 7 AS kind, random_set(r) AS sig, repeat('x', 800) AS text
FROM generate_series(1, 250) r;
ANALYZE sets;
-- Tables that take long to read are divided
CREATE FUNCTION costly(id int) RETURNS bool
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE COST 10000 AS $$
BEGIN
    RETURN id IS NOT NULL;
END $$;
CREATE VIEW left_sets AS SELECT * FROM sets WHERE id % 3 < 2 AND costly(id);
CREATE VIEW right_sets AS SELECT * FROM sets WHERE id % 3 > 0 AND costly(id);

SET min_parallel_table_scan_size = 0;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET enable_nestloop = off;
SET enable_hashjoin = off;
SET enable_mergejoin = off;

EXPLAIN (COSTS OFF)
SELECT count(*) FROM sets a JOIN sets b ON near_duplicate(a.sig, b.sig, 0.8);
EXPLAIN (COSTS OFF)
SELECT count(*) FROM left_sets a JOIN right_sets b ON near_duplicate(a.sig, b.sig, 0.8, 'containment');
EXPLAIN (COSTS OFF)
SELECT count(*) FROM sets a WHERE NOT EXISTS (SELECT FROM sets b WHERE near_duplicate(a.sig, b.sig, 0.8) AND a.id < b.id);

\set file :abs_srcdir '/sql/shared/same_rows.sql'
\i :file
SET test.plan = '"Custom Plan Provider": "SimilarityJoin",\s*"Parallel Aware": true';
\set file :abs_srcdir '/sql/shared/set_measures.sql'
\i :file
SET max_parallel_workers_per_gather = 2;

CREATE TEMP VIEW query AS
SELECT m AS measure, t AS threshold, name,
    format(text, format('near_duplicate(a.sig, b.sig, %s, %L)', t, m)) AS text
FROM (SELECT measure FROM set_measures) s (m),
    unnest('{0.3333333333333333,0.5,0.8,1}'::text[]) t, (VALUES
    ('inner', 'SELECT a.id, b.id AS b FROM left_sets a JOIN right_sets b ON %s'),
    ('filtered', 'SELECT a.id, b.id AS b FROM left_sets a JOIN right_sets b ON %s AND a.kind <> b.kind'),
    ('self', 'SELECT a.id, b.id AS b FROM sets a JOIN sets b ON %s AND a.id < b.id'),
    ('left', 'SELECT a.id, b.id AS b FROM left_sets a LEFT JOIN right_sets b ON %s AND a.kind <> b.kind'),
    ('semi', 'SELECT a.id, a.sig FROM left_sets a WHERE EXISTS (SELECT FROM right_sets b WHERE %s AND a.kind <> b.kind)'),
    ('anti', 'SELECT a.id FROM left_sets a WHERE NOT EXISTS (SELECT FROM right_sets b WHERE %s)'),
    ('self anti', 'SELECT a.id FROM sets a WHERE NOT EXISTS (SELECT FROM sets b WHERE %s AND b.id < a.id)'),
    ('self equal', 'SELECT a.id, b.id AS b, length(a.text) FROM sets a JOIN sets b ON %s AND a.kind = b.kind'))
    q(name, text)
WHERE m IN ('jaccard', 'containment') AND
      (t IN ('0.5', '0.8') OR q.name NOT IN ('left', 'semi', 'anti', 'self anti')) OR
    t = '0.5' AND q.name IN ('inner', 'filtered', 'self', 'self equal');

-- In memory
SELECT name, count(*), bool_and(same_rows(text)) FROM query
GROUP BY name ORDER BY name;

-- Every algorithm
CREATE VIEW algorithm AS
SELECT unnest('{ppjoin,ppjoin+,probe-count,pair-count,probe-stopwords,probe-optmerge,all-pairs-0,all-pairs-1,all-pairs-2,word-groups}'::text[]) AS name;
SELECT a.name, count(*), bool_and(same_rows(a.name, text))
FROM algorithm a, query q
WHERE threshold = '0.5'
    AND (q.name, measure) IN (('self', 'jaccard'), ('filtered', 'containment'))
GROUP BY a.name ORDER BY a.name;
RESET neardup.join_algorithm;

-- Signatures of all kinds, computed, and several kinds together
SELECT expression, same_rows(format('SELECT a.id, b.id AS b FROM left_sets a JOIN right_sets b ON near_duplicate(%s, %s, 0.6)',
    replace(expression, 'sig', 'a.sig'), replace(expression, 'sig', 'b.sig')))
FROM unnest('{"minhash(sig, 64)","bottom(sig, 8)","sample(sig, 2)",supershingles(sig),simhash(sig)}'::text[]) expression;
CREATE TABLE specs AS
SELECT id, id % 3 AS kind, CASE id % 3 WHEN 0 THEN sig WHEN 1 THEN minhash(sig, 16) ELSE simhash(sig) END AS sig, text
FROM sets;
ANALYZE specs;
SELECT same_rows('SELECT a.id, b.id AS b FROM specs a JOIN specs b ON a.kind = b.kind AND near_duplicate(a.sig, b.sig, 0.6)');
SET max_parallel_workers_per_gather = 2;
\set VERBOSITY terse
SELECT count(*) FROM specs a JOIN specs b ON near_duplicate(a.sig, b.sig, 0.6);
\set VERBOSITY default
CREATE TABLE vectors AS
SELECT id, signature_from(f, array_fill(1 + id % 3, ARRAY[cardinality(f)])) AS sig, text
FROM (SELECT id, sig::bigint[] AS f, text FROM sets) s WHERE cardinality(f) > 0;
ANALYZE vectors;
SELECT measure, same_rows(format('SELECT a.id, b.id AS b FROM vectors a JOIN vectors b ON near_duplicate(a.sig, b.sig, 0.6, %L) AND a.id < b.id', measure))
FROM unnest('{jaccard,cosine}'::text[]) measure;

-- EXPLAIN ANALYZE, with that number of workers
CREATE FUNCTION counter(name text, workers int, query text) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
    plan text;
BEGIN
    PERFORM set_config('max_parallel_workers_per_gather', workers::text, true);
    EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT json) ' || query INTO plan;
    RETURN substring(plan FROM format('"%s": ("?[^,\n]+)', name));
END $$;
-- In shared memory: no files are written, except for rows where addresses have
-- 32 bits.
CREATE FUNCTION shares_memory_where_it_can(query text) RETURNS bool
LANGUAGE sql AS $$
SELECT (counter('Temp Written Blocks', 2, query) = '0') = (version() ~ '64-bit')
$$;
SELECT name, count(*), bool_and(shares_memory_where_it_can(text))
FROM query WHERE measure = 'jaccard' AND threshold = '0.5'
GROUP BY name ORDER BY name;
SELECT shares_memory_where_it_can('SELECT count(*) FROM sets a JOIN sets b ON near_duplicate(minhash(a.sig, 64), minhash(b.sig, 64), 0.6)');
-- On disk: in several batches, the same for all processes
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
SELECT counter('Batches', 2, text)::int > 1 FROM query
WHERE name IN ('inner', 'self') AND measure = 'jaccard' AND threshold = '0.5';
SELECT name, count(*), bool_and(same_rows(text))
FROM query WHERE threshold = '0.5'
GROUP BY name ORDER BY name;
SELECT a.name, count(*), bool_and(same_rows(a.name, text))
FROM algorithm a, query q
WHERE q.name = 'self' AND threshold = '0.5' AND measure = 'jaccard'
GROUP BY a.name ORDER BY a.name;
SELECT same_rows('SELECT a.id, b.id AS b FROM sets a JOIN sets b ON near_duplicate(minhash(a.sig, 64), minhash(b.sig, 64), 0.6) AND a.id < b.id');
RESET neardup.join_algorithm;
-- Signatures of a different spec arrive when others are already on disk
CREATE TABLE late AS
SELECT id, id > 200 AS is_sketch, CASE WHEN id > 200 THEN minhash(sig, 16) ELSE sig END AS sig, text FROM sets;
-- No signature arrives before rows have filled the memory
CREATE TABLE none_first AS
SELECT id, CASE WHEN id > 150 THEN sig END AS sig, text FROM sets;
-- Each process has a signature that fills its memory
CREATE TABLE large AS
SELECT id, CASE WHEN id % 10 = 0 THEN signature_from(array_cat(sig::bigint[], few))
                ELSE sig END AS sig, repeat('x', id % 20 * 300) AS text
FROM sets, (SELECT array_agg(hashint8extended(n, 1)) AS few FROM generate_series(1, 20000) n) f
WHERE sig IS NOT NULL;
ANALYZE late, none_first, large;
SELECT text, same_rows(text) FROM unnest(ARRAY[
    'SELECT a.id, b.id AS b FROM specs a JOIN specs b ON a.kind = b.kind AND near_duplicate(a.sig, b.sig, 0.6)',
    'SELECT a.id, b.id AS b FROM late a JOIN late b ON a.is_sketch = b.is_sketch AND near_duplicate(a.sig, b.sig, 0.5)',
    'SELECT a.id, b.id AS b, length(a.text) FROM none_first a LEFT JOIN none_first b ON near_duplicate(a.sig, b.sig, 0.5) AND a.id <> b.id',
    'SELECT a.id, b.id AS b, length(a.text) + length(b.text) AS n FROM large a JOIN large b ON near_duplicate(a.sig, b.sig, 0.5) AND a.id < b.id',
    'SELECT a.id, b.id AS b FROM vectors a JOIN vectors b ON near_duplicate(a.sig, b.sig, 0.6) AND a.id < b.id']) text;
-- Sets of many sizes, which no process merges alone: in chunks that are the same for all
CREATE TABLE sizes AS
SELECT id, signature_from(ARRAY(
    SELECT CASE WHEN e = 1 + id % 11 AND id % 3 = 0 THEN hashint8extended(id * 100003 + e, 3)
                WHEN e % 9 = 0 THEN e % 5
                ELSE hashint8extended(id % 300 * 100003 + e, 4) END
    FROM generate_series(1, 1 + (hashint8extended(id % 300, 77) & 1048575) % 1200) e)) AS sig
FROM (SELECT i * 7919 % 1000 AS id FROM generate_series(1, 1000::bigint) i) x;
ANALYZE sizes;
SET work_mem = '256kB';
SELECT measure, same_rows(format('SELECT a.id, b.id AS b FROM sizes a JOIN sizes b ON near_duplicate(a.sig, b.sig, 0.8, %L) AND a.id < b.id', measure))
FROM unnest('{jaccard,containment,contains}'::text[]) measure;
RESET work_mem;
RESET hash_mem_multiplier;

-- Counters are those of all processes together
SELECT name, counter(name, 2, text) = counter(name, 0, text) AS same
FROM unnest('{Sets,Distinct Sets,Algorithm,Prefix Postings,Matching Sets,Rows Removed by Join Filter}'::text[]) name,
    (SELECT 'SELECT count(*) FROM sets a JOIN sets b ON near_duplicate(a.sig, b.sig, 0.8) AND a.id < b.id') q (text);

-- A small side, which each process has whole, with its part of the other one
CREATE VIEW few_sets AS SELECT * FROM sets WHERE id < 10;
EXPLAIN (COSTS OFF)
SELECT a.id, b.id AS b FROM few_sets a JOIN sets b ON near_duplicate(a.sig, b.sig, 0.5);
SELECT same_rows(format(text, format('near_duplicate(a.sig, b.sig, 0.5, %L)', measure)))
FROM unnest('{jaccard,containment}'::text[]) measure, unnest(ARRAY[
    'SELECT a.id, b.id AS b FROM few_sets a JOIN sets b ON %s AND a.kind <> b.kind',
    'SELECT a.id, b.id AS b, length(a.text) FROM sets a JOIN few_sets b ON %s',
    'SELECT a.id, b.id AS b FROM sets a LEFT JOIN few_sets b ON %s AND a.kind <> b.kind',
    'SELECT a.id, a.sig FROM sets a WHERE EXISTS (SELECT FROM few_sets b WHERE %s AND a.kind <> b.kind)',
    'SELECT a.id FROM sets a WHERE NOT EXISTS (SELECT FROM few_sets b WHERE %s)']) text;
SELECT name, counter(name, 2, text) = counter(name, 0, text) AS same
FROM unnest('{Algorithm,Batches,Rows Removed by Join Filter}'::text[]) name,
    (SELECT 'SELECT count(*) FROM few_sets a JOIN sets b ON near_duplicate(a.sig, b.sig, 0.5) AND a.kind <> b.kind') q (text);
-- Its sets are counted for each process; a worker may attach after the end
SELECT counter('Sets', 2, text)::int - counter('Sets', 0, text)::int IN (0, n, 2 * n) AS sets
FROM (SELECT 'SELECT count(*) FROM sets a JOIN (SELECT * FROM sets WHERE id <= 100) b ON near_duplicate(a.sig, b.sig, 0.5)') q (text),
    (SELECT count(*) AS n FROM sets WHERE id <= 100 AND nfeatures(sig) > 0) sets;

-- A process that reads no part of the only page does not know that these are sketches
CREATE TABLE one_page AS SELECT id, minhash(sig, 16) AS sig FROM sets WHERE id < 10;
CREATE TABLE sketches WITH (parallel_workers = 0) AS SELECT id, minhash(sig, 16) AS sig FROM sets;
ANALYZE one_page, sketches;
SELECT counter('Workers Planned', 2, text) AS workers, counter('Algorithm', 2, text) AS algorithm
FROM (SELECT 'SELECT a.id, b.id AS b FROM one_page a LEFT JOIN sketches b ON near_duplicate(a.sig, b.sig, 0.6)') q (text);

-- Nothing on one side, no threshold
SELECT same_rows('SELECT a.id FROM sets a JOIN (SELECT * FROM sets WHERE kind + 0 <> kind + 0) b ON near_duplicate(a.sig, b.sig, 0.8)');
SET max_parallel_workers_per_gather = 2;
SELECT count(*) FROM sets a JOIN sets b ON near_duplicate(a.sig, b.sig, (SELECT NULL::float8));
\set SHOW_CONTEXT never
SELECT count(*) FROM sets a JOIN sets b ON near_duplicate(a.sig, b.sig, (SELECT 2::float8));
\set SHOW_CONTEXT errors

-- Rescanned, closed early, fetched in parts
SET enable_material = off;
SET enable_memoize = off;
SELECT t.i, s.n
FROM (VALUES (1), (2), (3)) t (i),
    LATERAL (SELECT count(*) AS n FROM sets a JOIN sets b ON near_duplicate(a.sig, b.sig, 0.8) AND a.id < b.id
             WHERE a.kind >= 0 OFFSET 0 * t.i) s
ORDER BY i;
-- A side that one process reads alone is begun during the join, and used again at its
-- end
CREATE TABLE alone WITH (parallel_workers = 0) AS SELECT * FROM sets WHERE kind < 4;
ANALYZE alone;
CREATE VIEW again AS SELECT t.i, s.n
FROM generate_series(1, 20) t (i),
    LATERAL (SELECT count(*) AS n
             FROM sets a JOIN (SELECT * FROM alone UNION ALL SELECT * FROM alone WHERE kind = 2) b
                  ON near_duplicate(a.sig, b.sig, 0.8) AND a.id < b.id
             WHERE a.kind >= 0 OFFSET 0 * t.i) s;
SELECT same_rows('SELECT a.id, b.id AS b FROM sets a JOIN (SELECT * FROM alone UNION ALL SELECT * FROM alone WHERE kind = 2) b ON near_duplicate(a.sig, b.sig, 0.8) AND a.id < b.id WHERE a.kind >= 0');
SELECT n, count(*) FROM again GROUP BY n;
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
SELECT n, count(*) FROM again GROUP BY n;
RESET work_mem;
RESET hash_mem_multiplier;
SET neardup.enable_join = off;
SET max_parallel_workers_per_gather = 0;
SELECT n FROM again LIMIT 1;
SET max_parallel_workers_per_gather = 2;
RESET neardup.enable_join;
SELECT count(*) FROM (SELECT FROM sets a JOIN sets b ON near_duplicate(a.sig, b.sig, 0.5) LIMIT 10) s;
BEGIN;
DECLARE c CURSOR FOR SELECT a.id FROM sets a JOIN sets b ON near_duplicate(a.sig, b.sig, 0.5);
MOVE 100 c;
CLOSE c;
COMMIT;
SET parallel_leader_participation = off;
SELECT same_rows('SELECT a.id, b.id AS b FROM sets a JOIN sets b ON near_duplicate(a.sig, b.sig, 0.5) AND a.id < b.id');

-- Equal sets of several processes are merged
CREATE TABLE copies AS
SELECT n * 1000 + id AS id, sig, text FROM generate_series(0, 19) n, sets ORDER BY n, id;
ANALYZE copies;
SELECT counter('Distinct Sets', 2, text) = counter('Distinct Sets', 0, text) AS same
FROM (SELECT 'SELECT count(*) FROM copies a JOIN copies b ON near_duplicate(a.sig, b.sig, 0.8) AND a.id < b.id') q (text);

SET client_min_messages = warning;
DROP SCHEMA join_parallel CASCADE;
