--
-- Access method neardup: the same rows as a sequential scan, for every
-- condition, threshold and measure, and the nearest ones in the same order
--

-- Families of near-duplicates, some rows empty, tiny, equal or null
CREATE FUNCTION make(id bigint) RETURNS signature LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN id % 97 = 0 THEN NULL ELSE signature_from(array(
         SELECT hashint8extended(family * 1000 + i, 0)
         FROM generate_series(1, size) i
         WHERE hashint8extended(i, id) & 15 > 0 OR id % 10 = 0
         UNION
         SELECT hashint8extended(i % 40, 1) FROM generate_series(1, id % 4) i)) END
  FROM (SELECT id / 6 AS family, (id / 6) * 7 % 90 AS size) s
$$;
CREATE TABLE docs (id int PRIMARY KEY, sig signature);
INSERT INTO docs SELECT id, make(id) FROM generate_series(1::bigint, 900) id;
CREATE INDEX docs_sig ON docs USING neardup (sig);
ANALYZE docs;

-- The truth, by sequential scan: thresholds t, measures m, queries q
CREATE TABLE query AS SELECT id AS q, sig AS query FROM docs WHERE id % 144 = 23;
INSERT INTO query VALUES (-1, signature_from('{}'::bigint[])),
  (-2, signature_from('{1,2,3}'::bigint[]));
CREATE TABLE threshold (t float8);
INSERT INTO threshold VALUES (0.01), (0.5), (0.8), (1);
\getenv abs_srcdir PG_ABS_SRCDIR
\set file :abs_srcdir '/sql/shared/set_measures.sql'
\i :file
CREATE TABLE measure AS SELECT measure AS m FROM set_measures;

-- The rows of a condition, and the distances of the nearest rows, by the plans that
-- settings allow.  Distances are compared, as rows with equal ones are in any order;
-- and each row must have its distance.
CREATE FUNCTION found(OUT conditions text, OUT nearest text) LANGUAGE plpgsql
SET neardup.enable_join = off SET jit = off AS $$
DECLARE
  r record;
  part text;
BEGIN
  conditions := ''; nearest := '';
  FOR r IN SELECT * FROM measure, threshold, query ORDER BY m, t, q LOOP
    EXECUTE format('SELECT string_agg(id::text, '','' ORDER BY id) FROM docs
                    WHERE near_duplicate(sig, %L, %L, %L)', r.query, r.t, r.m)
    INTO part;
    conditions := md5(conditions || coalesce(part, '-'));
  END LOOP;
  FOR r IN SELECT * FROM query, unnest('{1,30}'::int[]) AS t ORDER BY q, t LOOP
    EXECUTE format('SELECT string_agg(id::text, '','' ORDER BY id) FROM docs
                    WHERE near_duplicate(sig, %L, %L, ''shared'')', r.query, r.t)
    INTO part;
    conditions := md5(conditions || coalesce(part, '-'));
  END LOOP;
  FOR r IN SELECT * FROM query, unnest('{7,2000}'::int[]) AS k ORDER BY q, k LOOP
    EXECUTE format('SELECT string_agg(coalesce(d::text, ''null''), '','' ORDER BY n)
      FROM (SELECT sig <-> %1$L AS d, row_number() OVER () AS n FROM
             (SELECT sig FROM docs ORDER BY sig <-> %1$L LIMIT %2$s) s) s', r.query, r.k)
    INTO part;
    nearest := md5(nearest || coalesce(part, '-'));
  END LOOP;
END $$;
CREATE FUNCTION compare(OUT rows text, OUT bitmap text, OUT ordered text)
LANGUAGE plpgsql AS $$
DECLARE
  truth record;
  by_index record;
BEGIN
  SET LOCAL enable_indexscan = off; SET LOCAL enable_bitmapscan = off;
  truth := found();
  SET LOCAL enable_seqscan = off; SET LOCAL enable_sort = off;
  SET LOCAL enable_indexscan = on;
  by_index := found();
  rows := by_index.conditions = truth.conditions;
  ordered := by_index.nearest = truth.nearest;
  SET LOCAL enable_indexscan = off; SET LOCAL enable_bitmapscan = on;
  SET LOCAL enable_sort = on;
  by_index := found();
  bitmap := by_index.conditions = truth.conditions;
  SET LOCAL enable_seqscan = on; SET LOCAL enable_indexscan = on;
END $$;

-- The plans are of the kind that is compared
SET enable_seqscan = off;
EXPLAIN (COSTS OFF)
SELECT id FROM docs ORDER BY sig <-> signature_from('{1,2}'::bigint[]) LIMIT 3;
SET enable_indexscan = off;
EXPLAIN (COSTS OFF) SELECT id FROM docs
WHERE near_duplicate(sig, signature_from('{1,2}'::bigint[]), 0.05);
RESET enable_indexscan;
SET enable_bitmapscan = off;
-- by whichever sort, as versions differ
CREATE FUNCTION plan_lines(pattern text, query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
    CONTINUE WHEN line !~ pattern;
    RETURN NEXT ltrim(line, ' ->');
  END LOOP;
END $$;
SELECT plan_lines('Index Scan|Index Cond', $$SELECT id FROM docs
WHERE sig % signature_from('{1,2}'::bigint[])
ORDER BY sig <-> signature_from('{1,2}'::bigint[]), id LIMIT 3$$);
SELECT plan_lines('Index Scan|Order By', $$SELECT g, l.id FROM generate_series(1, 2) g, LATERAL
  (SELECT id FROM docs ORDER BY sig <-> signature_from(ARRAY[g]) LIMIT 2) AS l$$);
DROP FUNCTION plan_lines;
RESET enable_bitmapscan;
RESET enable_seqscan;

-- Built; and with rows that were added, changed and deleted
SELECT * FROM compare();
SELECT neardup_index_check('docs_sig', true);
INSERT INTO docs SELECT id, make(id) FROM generate_series(901::bigint, 1500) id;
UPDATE docs SET sig = make(id + 3000) WHERE id % 5 = 2;
DELETE FROM docs WHERE id % 11 = 4;
SELECT * FROM compare();
SELECT neardup_index_check('docs_sig', true) >= count(*) AS indexed FROM docs;
VACUUM docs;
SELECT neardup_index_check('docs_sig', true) >= count(*) AS indexed FROM docs;
SELECT rows AS pending FROM neardup_index_segments('docs_sig') WHERE segment IS NULL;
SELECT * FROM compare();

-- Places of deleted rows are used again, and many small segments merged
INSERT INTO docs SELECT id, make(id) FROM generate_series(2000::bigint, 5000) id;
SELECT count(*) > 1 AS several, sum(rows) > 3000 AS all
FROM neardup_index_segments('docs_sig');
SELECT neardup_index_check('docs_sig', true) >= count(*) AS indexed FROM docs;
DELETE FROM docs WHERE id >= 2000 AND id % 3 > 0;
VACUUM docs;
INSERT INTO docs SELECT id, make(id * 7) FROM generate_series(6000::bigint, 7000) id;
SELECT neardup_index_check('docs_sig', true) >= count(*) AS indexed FROM docs;
SELECT * FROM compare();

-- Long rows, which no page can take
INSERT INTO docs SELECT 8000 + id, signature_from(array(
  SELECT hashint8extended(i, id / 3) FROM generate_series(1, 3000 + id) i))
FROM generate_series(1, 9) id;
INSERT INTO query SELECT id, sig FROM docs WHERE id IN (8001, 8005);
SELECT neardup_index_check('docs_sig', true) >= count(*) AS indexed FROM docs;
SELECT * FROM compare();

-- A build in parts that are merged, and a concurrent build
SET maintenance_work_mem = '1MB';
REINDEX INDEX docs_sig;
SELECT neardup_index_check('docs_sig', true) >= count(*) AS indexed FROM docs;
SELECT segment, rows >= (SELECT count(*) FROM docs) AS all_rows
FROM neardup_index_segments('docs_sig') ORDER BY 1;
RESET maintenance_work_mem;
INSERT INTO docs VALUES (9000, make(9000));
REINDEX INDEX CONCURRENTLY docs_sig;
SELECT neardup_index_check('docs_sig', true) >= count(*) AS indexed FROM docs;
SELECT * FROM compare();
TRUNCATE docs;
SELECT neardup_index_check('docs_sig', true);
SELECT * FROM compare();

-- Counters of scans; and whether an index serves
CREATE TABLE counted AS SELECT id, signature_from(array(
  SELECT hashint8extended(i, id / 10) FROM generate_series(1, 20 + id % 10) i)) AS sig
FROM generate_series(0, 999) id;
CREATE INDEX counted_sig ON counted USING neardup (sig);
CREATE INDEX counted_part ON counted USING neardup (sig) WHERE id < 10;
VACUUM ANALYZE counted;
SELECT sig AS query FROM counted WHERE id = 325 \gset
SET enable_seqscan = off; SET enable_bitmapscan = off;
SELECT count(*) > 0 AS some FROM neardup_index_counters(true);
SELECT count(*) FROM counted WHERE near_duplicate(sig, :'query', 0.8);
SELECT index, scans, passes, keys, postings, candidates, rows, pages > 0 AS pages FROM neardup_index_counters(true);
SELECT count(*) FROM (SELECT FROM counted ORDER BY sig <-> :'query' LIMIT 300) s;
SELECT index, scans, passes, keys, postings, candidates, rows, pages > 0 AS pages FROM neardup_index_counters();
RESET enable_bitmapscan;
SET enable_indexscan = off;
SELECT count(*) FROM counted WHERE near_duplicate(sig, :'query', 0.8);
SELECT index, scans, passes, rows FROM neardup_index_counters(true);
SELECT count(*) FROM neardup_index_counters();
-- Without an order a pass keeps all rows that fit into memory
CREATE TABLE alike AS SELECT id, shingles('one two three four') AS sig FROM generate_series(1, 3000) id;
CREATE INDEX alike_sig ON alike USING neardup (sig);
SET enable_bitmapscan = off; RESET enable_indexscan;
SELECT count(DISTINCT id) FROM alike WHERE near_duplicate(sig, shingles('one two three four'), 0.8);
SET work_mem = '64kB';
SELECT count(DISTINCT id) FROM alike WHERE near_duplicate(sig, shingles('one two three four'), 0.8);
RESET work_mem;
SELECT index, scans, passes, rows FROM neardup_index_counters(true);
RESET enable_bitmapscan; SET enable_indexscan = off;
DROP TABLE alike;
-- Long lists are read, too, where they exclude many rows: all have a third of 40 features
CREATE TABLE mixed AS SELECT id, signature_from(array(
  SELECT i::bigint FROM generate_series(1, 40) i WHERE hashint8extended(i, id) % 3 = 0)) AS sig
FROM generate_series(1, 20000) id;
CREATE INDEX mixed_sig ON mixed USING neardup (sig);
SELECT sig AS seventh FROM mixed WHERE id = 7 \gset
SELECT count(*) FROM mixed WHERE near_duplicate(sig, :'seventh', 0.6);
SELECT index, scans, rows < 100 AS few FROM neardup_index_counters(true);
DROP TABLE mixed;
-- EXPLAIN (ANALYZE) shows them from PostgreSQL 18 on
CREATE FUNCTION explained(query text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  line text;
  n int := 0;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
    n := n + (line ~ '^ *(Index Searches|Passes|Keys|Postings|Candidates): [1-9]')::int;
  END LOOP;
  RETURN n = CASE WHEN current_setting('server_version_num')::int >= 180000 THEN 5 ELSE 0 END;
END $$;
SELECT explained(format('SELECT id FROM counted WHERE near_duplicate(sig, %L, 0.8)', :'query')) AS bitmap;
RESET enable_indexscan;
SELECT explained(format('SELECT id FROM counted ORDER BY sig <-> %L LIMIT 3', :'query')) AS ordered;
DROP FUNCTION explained;
RESET enable_indexscan; RESET enable_seqscan;
SELECT neardup_explain_index('counted_sig', 0.01, m), neardup_explain_index('counted_part', 1, m) AS part
FROM unnest('{jaccard,containment,overlap_coefficient}'::text[]) m;
SELECT neardup_explain_index('counted_sig', 3, 'shared');
SELECT neardup_explain_index('counted_sig', 3);
DROP TABLE counted;

-- A threshold that is known only at run time
INSERT INTO docs SELECT id, make(id) FROM generate_series(1::bigint, 900) id;
VACUUM ANALYZE docs;
SET enable_seqscan = off;
SET plan_cache_mode = force_generic_plan;
PREPARE near(signature, float8) AS
SELECT count(*) FROM docs WHERE near_duplicate(sig, $1, $2);
EXPLAIN (COSTS OFF) EXECUTE near(make(24), 0.2);
EXECUTE near(make(24), 0.2);
EXECUTE near(make(24), 0.9);
EXECUTE near(NULL, 0.9);
EXECUTE near(make(24), 1.5);
RESET plan_cache_mode;
RESET enable_seqscan;

-- Null is last, and the order of a null is none
SET enable_seqscan = off; SET enable_sort = off;
SELECT count(*) = 900 AS all_rows, sum((d IS NULL)::int) AS nulls, bool_and(d IS NOT NULL OR n > 891) AS last
FROM (SELECT d, row_number() OVER () AS n FROM
       (SELECT sig <-> make(24) AS d FROM docs ORDER BY sig <-> make(24)) s) s;
SELECT count(*) FROM (SELECT id FROM docs ORDER BY sig <-> NULL::signature LIMIT 950) s;
-- By two distances
SELECT string_agg(id::text, ',' ORDER BY n) FROM (SELECT id, row_number() OVER () AS n FROM
  (SELECT id FROM docs ORDER BY sig <-> make(24), sig <-> make(26) LIMIT 6) s) s;
-- After a distance that may be null the executor compares nothing, and the index is not used
RESET enable_sort;
SET plan_cache_mode = force_generic_plan;
PREPARE last_asked(signature) AS SELECT id FROM docs ORDER BY sig <-> make(24), sig <-> $1 LIMIT 6;
PREPARE first_asked(signature) AS SELECT round((sig <-> make(24))::numeric, 6) AS distance FROM docs ORDER BY sig <-> $1, sig <-> make(24) LIMIT 6;
EXPLAIN (COSTS OFF) EXECUTE last_asked(NULL);
EXECUTE first_asked(NULL);
DEALLOCATE last_asked;
DEALLOCATE first_asked;
RESET plan_cache_mode;
SELECT o.id, (SELECT round(min(d)::numeric, 6) FROM (SELECT d.sig <-> make(24) AS d FROM docs d ORDER BY d.sig <-> o.sig, d.sig <-> make(24) LIMIT 1) s)
FROM (VALUES (1, NULL::signature), (2, make(24))) o (id, sig) ORDER BY o.id;
SET enable_sort = off;
-- All rows, without any column
CREATE TABLE single AS SELECT sig FROM docs;
CREATE INDEX single_sig ON single USING neardup (sig);
VACUUM single;
EXPLAIN (COSTS OFF) SELECT count(*) FROM single;
SELECT count(*) FROM single;
SELECT count(*) FROM (SELECT FROM single ORDER BY sig <-> make(24) LIMIT 1000) s;
SELECT count(*) FROM docs;
-- With a condition on another set
SELECT count(*), min(id), max(id) FROM
  (SELECT id FROM docs WHERE near_duplicate(sig, make(30), 0.3)
   ORDER BY sig <-> make(24) LIMIT 900) s;
RESET enable_sort;

-- Rows of a different spec are never near-duplicates, and come last in order
INSERT INTO docs VALUES (-1, shingles('one two three four five'));
SELECT count(*) FROM docs WHERE near_duplicate(sig, make(24), 0.8);
SELECT id FROM docs ORDER BY sig <-> make(24) LIMIT 1;
SELECT max(n) FILTER (WHERE id = -1) > max(n) FILTER (WHERE distance IS NOT NULL) AS last
FROM (SELECT id, distance, row_number() OVER () AS n
      FROM (SELECT id, sig <-> make(24) AS distance FROM docs ORDER BY sig <-> make(24)) d) d;
SELECT neardup_index_check('docs_sig', true) >= count(*) AS indexed FROM docs;
-- A query of a spec that is not in the index
EXPLAIN (COSTS OFF)
SELECT count(*) FROM docs WHERE sig %% signature_query(text_hash('one two'), 0.8, 'jaccard');
SELECT count(*) FROM docs WHERE sig %% signature_query(text_hash('one two'), 0.8, 'jaccard');
DELETE FROM docs WHERE id = -1;
VACUUM docs;
SELECT count(*) FROM docs WHERE near_duplicate(sig, make(24), 0.8);
RESET enable_seqscan;

-- Several specs: the same rows by an index as without one, and the same errors
-- where the measure cannot be computed
CREATE TABLE several AS
SELECT id, g, CASE g WHEN 1 THEN make(id) WHEN 2 THEN sample(make(id), 4)
                     WHEN 3 THEN signature_weighted(array[id % 5, id], '{1,2}') END AS sig
FROM generate_series(1::bigint, 90) id, generate_series(1, 3) g;
CREATE INDEX several_sig ON several USING neardup (sig);
ANALYZE several;
CREATE FUNCTION outcome(query text, scan text) RETURNS text
LANGUAGE plpgsql SET enable_seqscan = off SET enable_indexscan = off SET enable_bitmapscan = off AS $$
DECLARE
  result text;
BEGIN
  PERFORM set_config('enable_' || scan, 'on', true);
  EXECUTE 'SELECT string_agg(id::text, '','' ORDER BY id) FROM (' || query || ') s' INTO result;
  RETURN result;
EXCEPTION WHEN feature_not_supported OR datatype_mismatch OR invalid_parameter_value THEN
  RETURN SQLERRM;
END $$;
CREATE TABLE outcomes AS
SELECT condition, w.g AS wanted, g.g, outcome(q, 'seqscan') AS outcome,
       outcome(q, 'indexscan') AS by_index, outcome(q, 'bitmapscan') AS by_bitmap
FROM unnest(array['near_duplicate(sig, %L, 0.9)', 'near_duplicate(sig, %L, 0.9, ''containment'')',
                  'sig %%> %L', 'near_duplicate(sig, %L, 1.5)',
                  'true ORDER BY sig <-> %L LIMIT 3', 'true ORDER BY sig <=> %L LIMIT 3']) condition,
     several w, generate_series(1, 4) g,
     LATERAL (SELECT format('SELECT id FROM several WHERE g = %s AND ' || condition, g.g, w.sig) AS q) q
WHERE w.id = 6;
SELECT condition, wanted, count(*) FILTER (WHERE outcome LIKE '%cannot%' OR outcome LIKE '%range%') AS errors,
       count(*) FILTER (WHERE outcome LIKE '%6%') AS found
FROM outcomes GROUP BY 1, 2 ORDER BY 1, 2;
SELECT * FROM outcomes
WHERE by_index IS DISTINCT FROM outcome OR by_bitmap IS DISTINCT FROM outcome ORDER BY 1, 2, 3;
SET enable_seqscan = off; SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF) SELECT id FROM several
WHERE g = 1 AND sig %> sample(signature_from('{1}'), 4) ORDER BY sig <-> sample(signature_from('{1}'), 4);
RESET enable_seqscan; RESET enable_bitmapscan;
DROP TABLE several, outcomes;
DROP FUNCTION outcome(text, text);

-- Unsupported conditions and definitions
SELECT neardup_index_check('docs_pkey');
CREATE TABLE parts (sig signature) PARTITION BY HASH (sig);
CREATE INDEX parts_sig ON parts USING neardup (sig);
SELECT neardup_index_check('parts_sig');
DROP TABLE parts;
CREATE INDEX CONCURRENTLY docs_broken ON docs USING neardup (shingles('a', 1 / (id - id)));
SELECT neardup_index_check('docs_broken');
SELECT * FROM neardup_index_segments('docs_broken');
DROP INDEX docs_broken;
CREATE INDEX ON docs USING neardup (id);
CREATE INDEX ON docs USING neardup (sig, sig);
CREATE INDEX ON docs USING neardup (sig) WITH (fillfactor = 50);
CREATE UNIQUE INDEX ON docs USING neardup (sig);

-- Expressions, parts, an unlogged and a temporary table
CREATE UNLOGGED TABLE texts (id int, body text);
CREATE INDEX texts_body ON texts USING neardup (shingles(body)) WHERE id > 1;
INSERT INTO texts VALUES (1, 'a rose is a rose is a rose'),
  (2, 'a rose is a flower which is a rose'), (3, 'a rose is a flower, which is a rose'),
  (4, NULL), (5, '');
SET enable_seqscan = off;
SELECT id FROM texts WHERE id > 1
ORDER BY shingles(body) <-> shingles('a rose is a flower'), id LIMIT 3;
RESET enable_seqscan;
SELECT neardup_index_check('texts_body', true);
CREATE TEMP TABLE mine AS SELECT * FROM docs WHERE id < 20;
CREATE INDEX mine_sig ON mine USING neardup (sig);
INSERT INTO mine SELECT * FROM docs WHERE id >= 20;
SELECT neardup_index_check('mine_sig', true);

-- No worker scans in an order by a column of an outer row, which it does not get
CREATE TABLE parts (id int, sig signature) PARTITION BY RANGE (id);
CREATE TABLE part_1 PARTITION OF parts FOR VALUES FROM (0) TO (1000);
CREATE TABLE part_2 PARTITION OF parts FOR VALUES FROM (1000) TO (9999);
INSERT INTO parts SELECT i, signature_from(ARRAY[i % 40, i % 40 + 1, i % 40 + 2]) FROM generate_series(1, 2000) i;
CREATE INDEX ON part_1 USING neardup (sig);
ANALYZE parts;
BEGIN;
SET LOCAL parallel_setup_cost = 0;
SET LOCAL parallel_tuple_cost = 0;
SET LOCAL min_parallel_table_scan_size = 0;
SET LOCAL parallel_leader_participation = off;
SET LOCAL enable_seqscan = off;
SET LOCAL work_mem = '64kB';
SELECT o.id, x.d FROM (VALUES (1, signature_from('{1,2,3}')), (2, signature_from('{2,3,4}'))) o (id, sig)
  CROSS JOIN LATERAL (SELECT parts.sig <-> o.sig AS d FROM parts ORDER BY parts.sig <-> o.sig LIMIT 1) x;
COMMIT;
DROP TABLE parts;

-- Rows that were rolled back are not found, and VACUUM removes them
BEGIN;
INSERT INTO mine SELECT * FROM docs;
ROLLBACK;
SELECT neardup_index_check('mine_sig', true);
VACUUM mine;
SELECT neardup_index_check('mine_sig', true);

-- The guard uses it, and prefers it to GIN
CREATE TABLE guarded (id int PRIMARY KEY, sig signature);
CREATE INDEX guarded_gin ON guarded USING gin (sig);
CREATE INDEX guarded_neardup ON guarded USING neardup (sig);
CREATE CONSTRAINT TRIGGER no_near_duplicates AFTER INSERT OR UPDATE ON guarded
  FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.4');
INSERT INTO guarded SELECT id, make(id) FROM generate_series(1::bigint, 540, 6) id
WHERE id / 6 * 7 % 90 > 20;
INSERT INTO guarded VALUES (1000, make(27));
INSERT INTO guarded VALUES (1001, make(2000));
INSERT INTO guarded VALUES (1002, make(2003));
SELECT neardup_index_check('guarded_neardup', true) >= count(*) AS indexed FROM guarded;

DROP TABLE docs, query, single, threshold, measure, texts, mine, guarded;
DROP FUNCTION compare, found, make;

-- A session's cached segments are dropped with their index: here another index has
-- the same number and file, and its segments have the same numbers
SET enable_seqscan = off;
BEGIN;
CREATE TABLE again (sig signature);
CREATE INDEX again_sig ON again USING neardup (sig);
CREATE FUNCTION five(id int) RETURNS signature LANGUAGE sql IMMUTABLE
RETURN signature_from(ARRAY[id, id + 20000, id + 40000, id + 60000, id + 80000]::bigint[]);
INSERT INTO again SELECT five(id) FROM generate_series(1, 9000) id;
SELECT count(*) FROM generate_series(1, 9000, 90) id,
  LATERAL (SELECT FROM again WHERE near_duplicate(sig, five(id), 0.8) OFFSET 0) AS l;
TRUNCATE again;
INSERT INTO again SELECT five(id) FROM generate_series(9001, 18000) id;
SELECT count(*) FROM generate_series(9001, 18000, 90) id,
  LATERAL (SELECT FROM again WHERE near_duplicate(sig, five(id), 0.8) OFFSET 0) AS l;
SELECT segment, rows > 0 AS rows FROM neardup_index_segments('again_sig');
COMMIT;
DROP TABLE again;
DROP FUNCTION five;
RESET enable_seqscan;

-- Equal sets: their rows are adjacent, here on several pages.  They are looked up so
-- often that a session caches the row map
CREATE TABLE equals (id int, sig signature);
CREATE FUNCTION some_set(id int) RETURNS signature LANGUAGE sql IMMUTABLE AS $$
SELECT CASE WHEN id % 10 < 6 THEN signature_from(ARRAY[id % 10, 11, 12])
            WHEN id % 10 = 6 THEN signature_from(ARRAY[1, 2, 3, id])
            WHEN id % 10 < 9 THEN signature_from(ARRAY[id]) END
$$;
INSERT INTO equals SELECT id, some_set(id) FROM generate_series(1, 12000) id;
CREATE INDEX equals_sig ON equals USING neardup (sig);
CREATE FUNCTION not_found(first int, last int) RETURNS TABLE (asked bigint, wrong bigint) LANGUAGE sql
SET enable_seqscan = off AS $$
WITH wanted AS MATERIALIZED (
  SELECT sig, count(*) AS n, sum(id) AS ids FROM (TABLE equals ORDER BY id) e GROUP BY sig
), asked AS MATERIALIZED (
  SELECT DISTINCT some_set(id) AS sig FROM generate_series(first, last) id
)
SELECT count(*), count(*) FILTER (WHERE (coalesce(w.n, 0), w.ids) IS DISTINCT FROM (f.n, f.ids))
FROM asked a LEFT JOIN wanted w USING (sig), LATERAL (
  SELECT count(*) AS n, sum(id) AS ids FROM equals e WHERE near_duplicate(e.sig, a.sig, 1) OFFSET 0) f
WHERE a.sig IS NOT NULL
$$;
SELECT * FROM not_found(1, 1500);
-- few features: only equal sets are near enough
SELECT count(*) FROM equals WHERE near_duplicate(sig, signature_from('{5,11,12}'), 0.8);
SELECT count(*) FROM equals WHERE near_duplicate(sig, signature_from('{5,11,12}'), 0.5);
-- some rows are deleted, some are pending
DELETE FROM equals WHERE id % 3 = 0;
VACUUM equals;
INSERT INTO equals SELECT id, some_set(id) FROM generate_series(1, 300) id;
SELECT * FROM not_found(1, 1500);
DROP TABLE equals;
DROP FUNCTION not_found, some_set;

-- Another tenant's rows have more specs than an index numbers: no error, and the same rows
CREATE TABLE tenants (id int, tenant int, sig signature);
INSERT INTO tenants SELECT i, 2, sample(signature_from(array(SELECT hashint8extended(k, i) FROM generate_series(1, 20) k)), 1 + i::int)
FROM generate_series(1::bigint, 80) i;
INSERT INTO tenants SELECT 1000 + i, 1, signature_from(array(SELECT i + k FROM generate_series(1, 20) k)) FROM generate_series(1::bigint, 80) i;
CREATE INDEX tenants_sig ON tenants USING neardup (sig);
INSERT INTO tenants SELECT 1000 + i, 1, signature_from(array(SELECT i + k FROM generate_series(1, 20) k)) FROM generate_series(81::bigint, 160) i;
CREATE FUNCTION tenant_rows(OUT nearest text, OUT every_row bigint, OUT distances bigint, OUT near text) LANGUAGE plpgsql AS $$
DECLARE
    asked signature := (SELECT sig FROM tenants WHERE id = 1040);
BEGIN
    SELECT string_agg(d::text, ' ') INTO nearest
    FROM (SELECT round((sig <-> asked)::numeric, 3) AS d FROM tenants WHERE tenant = 1 ORDER BY sig <-> asked LIMIT 5) t;
    SELECT count(*), count(d) INTO every_row, distances FROM (SELECT sig <-> asked AS d FROM tenants ORDER BY sig <-> asked) t;
    SELECT string_agg(id::text, ' ' ORDER BY id) INTO near FROM tenants WHERE near_duplicate(sig, asked, 0.8);
END $$;
SET client_min_messages = error;
SET enable_seqscan = off;
SELECT * FROM tenant_rows();
RESET enable_seqscan;
SET enable_indexscan = off;
SET enable_bitmapscan = off;
SELECT * FROM tenant_rows();
RESET enable_indexscan;
RESET enable_bitmapscan;
RESET client_min_messages;
DROP FUNCTION tenant_rows;
DROP TABLE tenants;

-- The example of src/index/README.md
CREATE FUNCTION words_from(first int, last int) RETURNS signature LANGUAGE sql IMMUTABLE AS $$SELECT signature_from(array(SELECT i::bigint FROM generate_series(first, last) i))$$;
CREATE TABLE example AS SELECT * FROM (VALUES (1, 'the set itself', words_from(1, 60)), (2, 'six words changed', words_from(7, 66)),
    (3, 'seven words changed', words_from(8, 67)), (4, 'its first 45 words', words_from(1, 45)), (5, 'seven words in common', words_from(54, 113)), (6, 'other words', words_from(61, 120))) e (n, row_name, sig);
CREATE INDEX example_sig ON example USING neardup (sig);
SET enable_seqscan = off;
SELECT row_name, cardinality(sig::bigint[]) AS size, intersection_size(sig, asked) AS common, round(similarity(sig, asked)::numeric, 3) AS similarity,
       row_name IN (SELECT row_name FROM example WHERE near_duplicate(sig, words_from(1, 60), 0.8)) AS found,
       cardinality(array(SELECT unnest(candidate_keys(asked, 0.8)) INTERSECT SELECT unnest(candidate_keys(sig, 0.01)))) AS keys
FROM example, words_from(1, 60) asked ORDER BY n;
RESET enable_seqscan;
SELECT cardinality(candidate_keys(words_from(1, 60), 0.8)) AS keys, min(size) AS least, max(size) AS most
FROM generate_series(1, 90) size WHERE least(size, 60) >= 0.8 * greatest(size, 60);
DROP TABLE example;
DROP FUNCTION words_from;
