--
-- test/bench/lookup.sql
--		One document's near-duplicates among all: time, false candidates, and the
--		cost of the index.
--
\pset footer off
CREATE TABLE stored AS SELECT id, shingles(body) AS sig FROM docs ORDER BY id;
CREATE TABLE arrays AS
SELECT id, sig::bigint[] AS features FROM stored ORDER BY id;
VACUUM ANALYZE stored;
VACUUM ANALYZE arrays;

-- Builds, in turns: an index of signatures by GIN, one by access method neardup, and one
-- of the same features
CREATE PROCEDURE build(name text, run int) LANGUAGE sql AS $$
  DROP INDEX IF EXISTS stored_sig;
  CALL measure(name, run, 'CREATE INDEX stored_sig ON stored USING '
    || CASE name WHEN 'gin' THEN 'gin (sig) WITH (fastupdate = off)' ELSE 'neardup (sig)' END);
$$;
SET client_min_messages = warning;
CALL build('gin', 1);
CALL measure('array', 1, 'CREATE INDEX arrays_features ON arrays USING gin (features) WITH (fastupdate = off)');
CALL build('neardup', 1);
DROP INDEX arrays_features;
CALL build('gin', 2);
CALL measure('array', 2, 'CREATE INDEX arrays_features ON arrays USING gin (features) WITH (fastupdate = off)');
CALL build('neardup', 2);
CALL build('gin', 3);
CALL build('neardup', 3);
RESET client_min_messages;

CREATE TABLE asked AS
SELECT id, sig FROM stored WHERE id % 341 = 7;
ANALYZE asked;
CREATE TABLE answers (name text, mb float8, queries int, hits bigint,
                      rejected bigint);

-- All in one statement, then one by one with a prepared plan
CREATE PROCEDURE ask(name text, run int) LANGUAGE plpgsql AS $$
DECLARE
  s signature;
  n bigint;
  total bigint := 0;
  before float8 := cpu();
BEGIN
  FOR s IN SELECT sig FROM asked LOOP
    SELECT count(*) INTO n FROM stored WHERE near_duplicate(sig, s, 0.8);
    total := total + n;
  END LOOP;
  INSERT INTO taken VALUES (name || ' one by one', run, cpu() - before, NULL);
END $$;
CREATE PROCEDURE ask_all(name text, runs int) LANGUAGE plpgsql
SET enable_seqscan = off AS $$
BEGIN
  FOR run IN 0 .. runs LOOP -- run 0 warms up
    CALL ask(name, run);
    CALL measure(name || ' in one', run,
      'SELECT sum(n) FROM asked,
         LATERAL (SELECT count(*) AS n FROM stored
                  WHERE near_duplicate(stored.sig, asked.sig, 0.8)
                  OFFSET 0) AS l');
  END LOOP;
  DELETE FROM taken t WHERE t.run = 0;
  INSERT INTO answers
  SELECT name, pg_relation_size('stored_sig') / 1e6, c.*
  FROM candidates('SELECT sig FROM asked',
                  'SELECT id FROM stored WHERE near_duplicate(sig, $1, 0.8)') c;
END $$;
-- a session that did not build the index, as the build leaves pages in memory
\connect
CALL ask_all('neardup', :runs);
CALL build('gin', 4);
\connect
CALL ask_all('gin', :runs);

SELECT name, round(mb) AS "MB",
       round(pg_relation_size('arrays_features') / 1e6) AS "int8[] MB",
       round((mb * 1e6 / pg_relation_size('arrays_features'))::numeric, 3)
         AS "ratio (0.45)",
       round(median_cpu(name)::numeric, 1) AS "build s",
       round(median_cpu('array')::numeric, 1) AS "int8[] s",
       round((median_cpu('array') / median_cpu(name))::numeric, 2)
         AS "ratio (3)"
FROM answers ORDER BY name DESC;
SELECT name, queries, round(hits::numeric / queries, 1) AS "found each",
       round(rejected::numeric / queries, 1) AS "false candidates (80)",
       round((median_cpu(name || ' one by one') / queries * 1000)::numeric, 3)
         AS "ms each (0.3)",
       round((median_cpu(name || ' in one') / queries * 1000)::numeric, 3)
         AS "ms, in one statement"
FROM answers ORDER BY name DESC;

-- The same rows without the index
SET enable_bitmapscan = off;
CREATE TEMP TABLE scanned AS
SELECT a.id, (SELECT count(*) FROM stored
              WHERE near_duplicate(stored.sig, a.sig, 0.8)) AS n
FROM (SELECT * FROM asked ORDER BY id LIMIT 30) AS a;
RESET enable_bitmapscan;
SET enable_seqscan = off;
SELECT count(*) AS "look-ups with other rows than by scan"
FROM scanned s JOIN asked a USING (id)
WHERE n <> (SELECT count(*) FROM stored
            WHERE near_duplicate(stored.sig, a.sig, 0.8));
RESET enable_seqscan;

-- Peers: the same query by extensions in Debian
CREATE EXTENSION pg_trgm;
CALL measure('trgm', 1, 'CREATE INDEX docs_trgm ON docs USING gin (body gin_trgm_ops)');
SET pg_trgm.similarity_threshold = 0.8;
SET enable_seqscan = off;
CALL measure('trgm ask', 1,
  'SELECT sum(n) FROM (SELECT body FROM docs WHERE id % 6812 = 7) AS asked,
     LATERAL (SELECT count(*) AS n FROM docs WHERE docs.body % asked.body
              OFFSET 0) AS l');
SELECT round(pg_relation_size('docs_trgm') / 1e6) AS "pg_trgm MB",
       round(median_cpu('trgm')::numeric, 1) AS "build s",
       round((median_cpu('trgm ask')
              / (SELECT count(*) FROM docs WHERE id % 6812 = 7)
              * 1000)::numeric, 1) AS "ms each";
RESET enable_seqscan;
DROP INDEX docs_trgm;
DROP EXTENSION pg_trgm;

SELECT count(*) > 0 AS rum FROM pg_available_extensions WHERE name = 'rum'
\gset
\if :rum
CREATE SCHEMA IF NOT EXISTS rumx;
CREATE EXTENSION IF NOT EXISTS rum SCHEMA rumx;
CREATE TABLE fewer AS SELECT * FROM arrays WHERE id % 10 = 7;
VACUUM ANALYZE fewer;
CALL measure('rum', 1, 'CREATE INDEX fewer_rum ON fewer USING rum (features rumx.rum_anyarray_ops)');
SET rum.array_similarity_function = 'jaccard';
SET rum.array_similarity_threshold = 0.8;
SET enable_seqscan = off;
SET enable_indexonlyscan = off; -- rum offers it, and fails
CALL measure('rum ask', 1,
  'SELECT sum(n) FROM (SELECT features FROM fewer WHERE id % 340 = 7) AS asked,
     LATERAL (SELECT count(*) AS n FROM fewer
              WHERE fewer.features OPERATOR(rumx.%) asked.features
              OFFSET 0) AS l');
SELECT count(*) AS "rum: rows",
       round(pg_relation_size('fewer_rum') / 1e6) AS "MB",
       round(median_cpu('rum')::numeric, 1) AS "build s",
       round((median_cpu('rum ask')
              / (SELECT count(*) FROM fewer WHERE id % 340 = 7)
              * 1000)::numeric, 1) AS "ms each"
FROM fewer;
DROP TABLE fewer;
RESET enable_seqscan;
RESET enable_indexonlyscan;
\endif
DROP TABLE arrays;
DROP TABLE stored, asked, answers;
