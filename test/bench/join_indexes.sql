--
-- test/bench/join_indexes.sql
--		The join node against nested loops with an index: ours, rum's, pg_trgm's.
--		For test/bench/join_peers.
--
-- Portions Copyright (c) 2026, the neardup developers
--
\pset footer off
SET client_min_messages = warning;
SELECT count(*) > 0 AS rum FROM pg_available_extensions WHERE name = 'rum'
\gset
\if :rum
CREATE SCHEMA IF NOT EXISTS rumx;
CREATE EXTENSION IF NOT EXISTS rum SCHEMA rumx;
\endif
CREATE EXTENSION pg_trgm;

-- As measure_count, that number of runs; a query that takes too long is not recorded.
CREATE PROCEDURE measure_if_in_time(name text, runs int, query text)
LANGUAGE plpgsql AS $$
BEGIN
  FOR run IN 1 .. runs LOOP
    CALL measure_count(name, run, query);
  END LOOP;
EXCEPTION WHEN query_canceled THEN
  NULL;
END $$;

CREATE TABLE shuffled AS
SELECT row_number() OVER (ORDER BY md5(id::text)) AS n, id, body,
       shingles(body) AS sig
FROM docs ORDER BY n LIMIT 100000;
CREATE TABLE ways (way text, using_index text, condition text, i int);
INSERT INTO ways VALUES
  ('node', NULL, 'near_duplicate(a.sig, b.sig, 0.8)', 1),
  ('our index', 'gin (sig) WITH (fastupdate = off)', 'near_duplicate(a.sig, b.sig, 0.8)', 2),
  ('pg_trgm % (another measure)', 'gin (body gin_trgm_ops)', 'a.body % b.body', 4);
\if :rum
INSERT INTO ways VALUES
  ('rum %', 'rum (features rumx.rum_anyarray_ops)', 'a.features OPERATOR(rumx.%) b.features', 3);
LOAD 'rum';
SET rum.array_similarity_function = 'jaccard';
SET rum.array_similarity_threshold = 0.8;
\endif
SET pg_trgm.similarity_threshold = 0.8;
SET work_mem = '1GB';

-- One after the other, each with a table and an index of its own
SELECT format('DROP TABLE IF EXISTS fewer') AS dropping,
       format('CREATE TABLE fewer AS SELECT id, %s FROM shuffled WHERE n <= %s ORDER BY n',
              CASE WHEN condition LIKE '%features%' THEN 'sig::bigint[] AS features'
                   WHEN condition LIKE '%body%' THEN 'body' ELSE 'sig' END, size) AS making,
       'VACUUM ANALYZE fewer' AS vacuuming,
       CASE WHEN using_index IS NOT NULL THEN
         format('CALL measure(%L, 1, %L)', way || size || ' build',
                'CREATE INDEX fewer_index ON fewer USING ' || using_index)
       END AS building,
       format('SET enable_seqscan = %s; SET neardup.enable_join = %1$s;
               SET enable_indexonlyscan = off', using_index IS NULL) AS choosing,
       format('SET statement_timeout = %s', :patience * 1000) AS limiting,
       format('CALL measure_if_in_time(%L, %s, %L)', way || size,
              CASE way WHEN 'node' THEN :runs ELSE 1 END,
              format('SELECT count(*) FROM fewer a JOIN fewer b ON %s AND a.id < b.id',
                     condition)) AS joining,
       'RESET statement_timeout; RESET enable_seqscan' AS resetting
FROM ways, unnest('{10000,100000}'::int[]) AS size ORDER BY size, i
\gexec

\echo Nested loops with an index, one run each; at 0.8
SELECT size AS rows, way, found(way || size) AS pairs,
       round(median_cpu(way || size || ' build')::numeric, 1) AS "build s",
       coalesce(round(median_cpu(way || size)::numeric, 2)::text, 'over ' || :patience)
         AS "CPU s",
       round((median_cpu(way || size) / median_cpu('node' || size))::numeric, 1)
         AS "to the node (10)"
FROM ways, unnest('{10000,100000}'::int[]) AS size ORDER BY size, i;
SELECT size AS rows, count(DISTINCT name) AS "ways to count",
       count(DISTINCT n) = 1 AS "the same pairs"
FROM found, unnest('{10000,100000}'::int[]) AS size
WHERE name IN ('node' || size, 'our index' || size) GROUP BY size ORDER BY size;
DROP TABLE shuffled, fewer, ways;
DROP EXTENSION pg_trgm;
