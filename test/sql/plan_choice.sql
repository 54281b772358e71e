--
-- The chosen plan where one is clearly the fastest: look-ups by GIN and by access
-- method neardup, the join
--
CREATE SCHEMA plan_choice_test;
SET search_path = plan_choice_test, public;

-- Families of ten rows; from one to the next two of thirty elements change
CREATE TABLE docs AS
SELECT id, signature_from(ARRAY(SELECT id / 10 * 1000 + e + 2 * (id % 10) FROM generate_series(1, 30) e)) AS sig
FROM generate_series(1, 6000) id;
CREATE TABLE sets AS SELECT id, sig FROM docs;
CREATE TABLE minhashes AS SELECT id, minhash(sig) AS sig FROM docs;
CREATE TABLE simhashes AS SELECT id, simhash(sig) AS sig FROM docs;
CREATE TABLE samples AS SELECT id, bottom(sig, 20) AS sig FROM docs;
CREATE TABLE vectors AS
SELECT id, signature_weighted(sig::bigint[], ARRAY(SELECT (1 + f % 3)::real FROM unnest(sig::bigint[]) f)) AS sig FROM docs;
CREATE FUNCTION make_indexes(name text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('CREATE INDEX %s_near ON %1$s USING neardup (sig)', name);
    IF name <> 'vectors' THEN
        EXECUTE format('CREATE INDEX %s_gin ON %1$s USING gin (sig) WITH (fastupdate = off)', name);
    END IF;
    EXECUTE format('CREATE TABLE %s_10 AS SELECT * FROM %1$s WHERE id %% 600 = 7', name);
    EXECUTE format('ANALYZE %s', name);
    EXECUTE format('ANALYZE %s_10', name);
END $$;
SELECT make_indexes(name) FROM unnest('{sets,minhashes,simhashes,samples,vectors}'::text[]) name;

-- The access path of a query
CREATE FUNCTION taken(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    plan text;
BEGIN
    EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
    RETURN CASE WHEN plan ~ 'SimilarityJoin' THEN 'join' WHEN plan ~ '_near"' THEN 'neardup'
        WHEN plan ~ '_gin"' THEN 'gin' ELSE 'scan' END;
END $$;

-- Few rows: GIN for sketches, but for simhashes where it has a thousand keys
SELECT name, threshold, taken(format('SELECT FROM %I WHERE near_duplicate(sig, (SELECT sig FROM %1$I WHERE id = 7), %s)', name, threshold)) AS one,
    taken(format('SELECT FROM %s_10 a JOIN %1$s b ON near_duplicate(a.sig, b.sig, %s)', name, threshold)) AS few,
    taken(format('SELECT FROM %s a JOIN %1$s b ON near_duplicate(a.sig, b.sig, %s) AND a.id < b.id', name, threshold)) AS "all",
    taken(format('SELECT FROM %s a WHERE EXISTS (SELECT FROM %1$s b WHERE near_duplicate(a.sig, b.sig, %s) AND a.id < b.id)', name, threshold)) AS semi
FROM unnest('{sets,minhashes,simhashes,samples,vectors}'::text[]) name,
    unnest('{0.8,0.95}'::float8[]) threshold
ORDER BY name, threshold;
SELECT taken('SELECT FROM sets a JOIN sets b ON near_duplicate(a.sig, b.sig, 0.5) AND a.id < b.id') AS "all",
    taken('SELECT FROM sets a JOIN sets b ON near_duplicate(a.sig, b.sig, 0.5) AND a.id < b.id LIMIT 10') AS limited,
    taken('SELECT FROM sets_10 a JOIN sets b ON near_duplicate(a.sig, b.sig, 0.5)') AS few;

-- One join, not a look-up for each row, with a threshold of any kind
PREPARE firsts(float8) AS
SELECT FROM sets a WHERE NOT EXISTS (SELECT FROM sets b WHERE near_duplicate(a.sig, b.sig, $1) AND b.id < a.id);
SET plan_cache_mode = force_generic_plan;
SELECT query, taken(query)
FROM unnest(ARRAY['EXECUTE firsts(0.8)',
    'SELECT FROM sets a WHERE NOT EXISTS (SELECT FROM sets b WHERE near_duplicate(a.sig, b.sig, (SELECT 0.8)) AND b.id < a.id)',
    'WITH t AS (SELECT 0.8 AS t) SELECT FROM sets a WHERE NOT EXISTS (SELECT FROM sets b WHERE near_duplicate(a.sig, b.sig, (SELECT t FROM t)) AND b.id < a.id)',
    'SELECT FROM sets a WHERE NOT EXISTS (SELECT FROM sets b WHERE near_duplicate(a.sig, b.sig, 0.8) AND b.id < a.id AND b.id > (SELECT min(id) FROM sets_10))']) query;
RESET plan_cache_mode;
-- Nor a hash join with look-ups
SELECT name, taken(format('SELECT FROM %1$s a WHERE NOT EXISTS (SELECT FROM %1$s b WHERE near_duplicate(a.sig, b.sig, 0.5) AND b.id < a.id
    AND NOT EXISTS (SELECT FROM %1$s_10 c WHERE c.id = b.id))', name))
FROM unnest('{samples,sets,vectors}'::text[]) name;

-- Nor a hash join where most rows have one of a few values, as it compares these rows one by one; with many values a join is as fast
CREATE TABLE owned AS
SELECT id, id % 3 AS tenant, id % 3000 AS title, signature_from(ARRAY(SELECT least(id, 5900) * 1000 + e FROM generate_series(1, 30) e)) AS sig
FROM generate_series(1, 6000) id;
ANALYZE owned;
SELECT key, start, taken(format('SELECT FROM owned a WHERE %s (SELECT FROM owned b WHERE a.%s = b.%2$s AND near_duplicate(a.sig, b.sig, 0.8) AND b.id < a.id)',
    start, key))
FROM unnest('{tenant,title}'::text[]) key, unnest('{EXISTS,NOT EXISTS}'::text[]) start
ORDER BY key, start;

-- nor by a key without statistics, which may have few values; nor, from 18 on, by a hash join with exchanged sides
SELECT name, start, taken(format('SELECT FROM %I a WHERE id %% 20 = 3
    AND %s (SELECT FROM %1$I b WHERE a.id %% 10 = b.id %% 10 AND near_duplicate(a.sig, b.sig, 0.8) AND a.id < b.id)', name, start))
FROM unnest('{sets,samples}'::text[]) name, unnest('{EXISTS,NOT EXISTS}'::text[]) start ORDER BY name, start;
SELECT taken('SELECT FROM sets a LEFT JOIN sets b ON a.id % 10 = b.id % 10 AND near_duplicate(a.sig, b.sig, 0.8) AND a.id < b.id
    WHERE a.id % 20 = 3') AS "left",
    taken('SELECT FROM sets a RIGHT JOIN sets b ON a.id % 10 = b.id % 10 AND near_duplicate(a.sig, b.sig, 0.8) AND a.id < b.id
    WHERE b.id % 20 = 3') AS "right";

-- nor with statistics of one side's key only, or by a merge join
SELECT taken('SELECT FROM owned a WHERE id % 20 = 3
    AND EXISTS (SELECT FROM owned b WHERE a.title % 3 = b.tenant AND near_duplicate(a.sig, b.sig, 0.8) AND a.id < b.id)') AS one_side,
    taken('SELECT FROM simhashes a JOIN simhashes b ON a.id % 10 = b.id % 10 AND near_duplicate(a.sig, b.sig, 0.8) AND a.id < b.id') AS merge;

-- A threshold from another row: access method neardup answers any
CREATE TABLE thresholds AS SELECT id, (ARRAY[0.5, 0.8, 0.95])[1 + id / 600 % 3]::float8 AS t FROM sets_10;
ANALYZE thresholds;
CREATE VIEW asked AS
SELECT t, a.id AS a, b.id AS b FROM sets_10 a JOIN thresholds USING (id) JOIN sets b ON near_duplicate(a.sig, b.sig, t);
SELECT taken('SELECT a, b FROM asked');
CREATE TABLE found AS SELECT * FROM asked;
SET enable_indexscan = off;
SET enable_bitmapscan = off;
SELECT taken('SELECT a, b FROM asked');
SELECT t, count(*), bool_and(f.a IS NOT NULL AND s.a IS NOT NULL) AS same
FROM found f FULL JOIN asked s USING (t, a, b) GROUP BY t ORDER BY t;
RESET enable_indexscan;
RESET enable_bitmapscan;

-- A small index stays in memory between the rows of an outer query
CREATE TABLE few AS SELECT id, sig FROM sets WHERE id <= 400;
CREATE INDEX few_gin ON few USING gin (sig) WITH (fastupdate = off);
ANALYZE few;
SELECT taken('SELECT id, ARRAY(SELECT b.id FROM few b WHERE near_duplicate(b.sig, a.sig, 0.8)) FROM few a');

-- A join that keeps rows with wide columns goes to disk, and look-ups cost less
SET work_mem = '1400kB';
SELECT wanted, taken(format('SELECT a.id, b.%s FROM sets a JOIN sets b ON near_duplicate(a.sig, b.sig, 0.8) WHERE a.id <= 700', wanted))
FROM unnest('{id,sig}'::text[]) wanted;
RESET work_mem;

-- Many copies of one text are one set: a join is 90 times as fast as look-ups
CREATE TABLE copies (id int PRIMARY KEY, sig signature);
INSERT INTO copies SELECT id, CASE WHEN id <= 1500 THEN first_value(sig) OVER (ORDER BY id) ELSE sig END
FROM sets WHERE id <= 4000;
CREATE INDEX copies_gin ON copies USING gin (sig) WITH (fastupdate = off);
ANALYZE copies;
SELECT taken('SELECT FROM copies a JOIN copies b ON near_duplicate(a.sig, b.sig, 0.8) AND a.id < b.id') AS half,
    taken('SELECT FROM copies a JOIN copies b ON near_duplicate(a.sig, b.sig, 0.8)') AS whole;
-- also for EXISTS, where a nested loop is expected to find a match at once
CREATE TABLE form AS SELECT id, first_value(sig) OVER (ORDER BY id) AS sig FROM sets WHERE id <= 3000;
ANALYZE form;
SELECT start, op, taken(format('SELECT FROM form a WHERE %s (SELECT FROM form b WHERE near_duplicate(a.sig, b.sig, 0.8) AND a.id %s b.id)', start, op))
FROM unnest('{EXISTS,NOT EXISTS}'::text[]) start, unnest('{<,>}'::text[]) op ORDER BY start, op;
CREATE TABLE others AS TABLE copies;
ANALYZE others;
SELECT taken('SELECT FROM copies a JOIN others b ON near_duplicate(a.sig, b.sig, 0.8)');

-- Simhashes, each with a thousand keys to look up: the join compares a few with all, faster than a nested loop
\getenv abs_srcdir PG_ABS_SRCDIR
\set file :abs_srcdir '/sql/shared/counter.sql'
\i :file
CREATE TABLE hashes AS TABLE simhashes;
CREATE TABLE hashes_100 AS SELECT * FROM hashes WHERE id % 60 = 7;
ANALYZE hashes, hashes_100;
SELECT taken('SELECT FROM hashes_100 a JOIN hashes b ON near_duplicate(a.sig, b.sig, 0.8)');
SELECT counter('Candidates', 'SELECT FROM hashes_100 a JOIN hashes b ON near_duplicate(a.sig, b.sig, 0.8)') > 100000 AS compared;
SELECT count(*) FROM hashes_100 a JOIN hashes b ON near_duplicate(a.sig, b.sig, 0.8);
SET neardup.enable_join = off;
SELECT count(*) FROM hashes_100 a JOIN hashes b ON near_duplicate(a.sig, b.sig, 0.8);
RESET neardup.enable_join;
-- but samples, which may be long, are compared only if they share values
SELECT counter('Candidates', 'SELECT FROM samples_10 a JOIN samples_10 b ON near_duplicate(a.sig, b.sig, 0.5) AND a.id < b.id');

-- A column that is being filled may have many rows where few are expected: no nested loop of
-- all pairs for the little that it could save, with a LIMIT or without
CREATE TABLE filled AS SELECT id, sig, NULL::int AS done FROM docs;
CREATE TABLE fresh AS SELECT id, sig FROM docs WHERE id % 3 = 0;
ANALYZE filled, fresh;
SELECT taken('SELECT FROM fresh a JOIN filled b ON near_duplicate(a.sig, b.sig, 0.8) WHERE b.done IS NOT NULL') AS "all",
    taken('SELECT FROM fresh a JOIN filled b ON near_duplicate(a.sig, b.sig, 0.8) WHERE b.done IS NOT NULL LIMIT 1') AS limited;
-- nor without statistics of id % 100
CREATE TABLE unknown (id int PRIMARY KEY, status text, sig signature) WITH (autovacuum_enabled = off);
INSERT INTO unknown SELECT id, NULL, sig FROM docs;
SELECT taken('SELECT FROM unknown a JOIN docs b ON near_duplicate(a.sig, b.sig, 0.8) WHERE a.status IS NULL AND a.id % 100 = 3') AS "all",
    taken('SELECT FROM unknown a JOIN docs b ON near_duplicate(a.sig, b.sig, 0.8) WHERE a.status IS NULL AND a.id % 100 = 3 LIMIT 1') AS limited,
    taken('SELECT FROM unknown a JOIN docs b ON near_duplicate(a.sig, b.sig, 0.8) WHERE a.id = 3') AS one;
-- nor where an index finds the rows to compare, a third of all; "b" was inserted after ANALYZE
CREATE TABLE states AS SELECT id, sig, CASE id WHEN 3 THEN 'b' ELSE 'a' END AS status FROM docs;
CREATE INDEX ON states (id);
ANALYZE states;
UPDATE states SET status = 'b' WHERE id % 50 = 1;
SELECT taken('SELECT FROM states a JOIN states b ON near_duplicate(a.sig, b.sig, 0.8) AND a.id < b.id WHERE b.status = ''b''') AS "all",
    taken('SELECT FROM states a JOIN states b ON near_duplicate(a.sig, b.sig, 0.8) AND a.id < b.id WHERE b.status = ''b'' LIMIT 1') AS limited;

-- nor a hash or merge join with equally few rows, by a key that leaves a third of the others to compare
CREATE TABLE staged AS SELECT id, tenant, title, sig, NULL::int AS batch FROM owned;
ANALYZE staged;
CREATE FUNCTION staged_taken(kind text, key text) RETURNS text LANGUAGE sql AS $$
SELECT taken(format(CASE kind WHEN 'anti' THEN
    'SELECT FROM staged a WHERE a.batch = 1 AND NOT EXISTS (SELECT FROM owned b WHERE a.%1$s = b.%1$s AND near_duplicate(a.sig, b.sig, 0.8))'
    ELSE 'SELECT FROM staged a %2$s JOIN owned b ON a.%1$s = b.%1$s AND near_duplicate(a.sig, b.sig, 0.8) WHERE a.batch = 1' END, key, kind))
$$;
SELECT key, staged_taken('', key) AS "inner", staged_taken('LEFT', key) AS "left", staged_taken('anti', key) AS anti
FROM unnest('{tenant}'::text[]) key;
SELECT taken('SELECT FROM staged a JOIN owned b ON a.tenant = b.tenant AND near_duplicate(a.sig, b.sig, 0.8) WHERE a.batch = 1 LIMIT 1') AS limited;

-- A sixth of the rows are of one template: a query for the first near row expects none, in every form
CREATE TABLE letters AS SELECT id, signature_from(ARRAY(SELECT CASE WHEN id % 6 = 0 AND e > 3 THEN e ELSE id::bigint * 1000 + e END
    FROM generate_series(1, 60) e)) AS sig FROM generate_series(1, 24000) id;
CREATE INDEX letters_near ON letters USING neardup (sig);
CREATE TABLE asking AS SELECT id, signature_from(ARRAY[id, 7, 8, 9]) AS sig FROM generate_series(1, 10) id;
ANALYZE letters, asking;
CREATE TABLE forms (form text, query text);
INSERT INTO forms VALUES
    ('limit', $$SELECT id FROM letters WHERE near_duplicate(sig, signature_from('{1,2,3}'), 0.8) LIMIT 1$$),
    ('exists', $$SELECT EXISTS (SELECT FROM letters WHERE near_duplicate(sig, signature_from('{1,2,3}'), 0.8))$$),
    ('scalar', $$SELECT (SELECT id FROM letters WHERE near_duplicate(sig, signature_from('{1,2,3}'), 0.8) LIMIT 1)$$),
    ('value', $$SELECT id FROM letters WHERE near_duplicate(sig, (SELECT sig FROM asking WHERE id = 1), 0.8) LIMIT 1$$),
    ('generic', $$EXECUTE first_letter(signature_from('{1,2,3}'))$$),
    ('operator', $$SELECT id FROM letters WHERE sig % signature_from('{1,2,3}') LIMIT 1$$),
    ('subplan', $$SELECT id, EXISTS (SELECT FROM letters l WHERE near_duplicate(l.sig, a.sig, 0.8)) FROM asking a$$),
    ('subplan limit', $$SELECT id, (SELECT l.id FROM letters l WHERE near_duplicate(l.sig, a.sig, 0.8) LIMIT 1) FROM asking a$$),
    ('join limit', $$SELECT a.id FROM letters a JOIN letters b ON near_duplicate(a.sig, b.sig, 0.8) AND a.id < b.id LIMIT 1$$),
    ('join exists', $$SELECT EXISTS (SELECT FROM letters a JOIN letters b ON near_duplicate(a.sig, b.sig, 0.8) AND a.id < b.id)$$);
PREPARE first_letter(signature) AS SELECT id FROM letters WHERE near_duplicate(sig, $1, 0.8) LIMIT 1;
SET plan_cache_mode = force_generic_plan;
SELECT form, taken(query) FROM forms ORDER BY form;
DROP INDEX letters_near;
CREATE INDEX letters_gin ON letters USING gin (sig) WITH (fastupdate = off);
SELECT form, taken(query) FROM forms ORDER BY form;
DROP INDEX letters_gin;
SELECT form, taken(query) FROM forms WHERE form ~ 'join' ORDER BY form;
-- PL/pgSQL plans its statements as parameters
CREATE INDEX letters_near ON letters USING neardup (sig);
DO $$
DECLARE
    asked signature := signature_from('{1,2,3}');
    before bigint := pg_stat_get_xact_numscans('letters_near'::regclass);
    found_id int;
BEGIN
    IF EXISTS (SELECT FROM letters WHERE near_duplicate(sig, asked, 0.8)) THEN
        RAISE 'a letter that is not there';
    END IF;
    SELECT id INTO found_id FROM letters WHERE near_duplicate(sig, asked, 0.8) LIMIT 1;
    RAISE NOTICE 'scans of the index: %', pg_stat_get_xact_numscans('letters_near'::regclass) - before;
END $$;
RESET plan_cache_mode;

-- A nested loop with a further table, above a join that reads its own tables once, is allowed
CREATE FUNCTION read_once(query text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    plan text;
BEGIN
    EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
    RETURN plan ~ '"Self-Join": true';
END $$;
CREATE TABLE least AS SELECT 3000 AS id;
ANALYZE docs, least;
SELECT read_once('SELECT FROM docs a, docs b, least l WHERE near_duplicate(a.sig, b.sig, 0.8) AND a.id <> l.id') AS once;

SET client_min_messages = warning;
DROP SCHEMA plan_choice_test CASCADE;

-- Joins without signatures cost the same as before the module was loaded
\c
SET enable_mergejoin = off;
CREATE TABLE plan_choice_a AS SELECT i AS a, i AS b FROM generate_series(1, 2000) i;
CREATE TABLE plan_choice_b AS SELECT i AS a, i % 50 AS b FROM generate_series(1, 50000) i;
CREATE TABLE plan_choice_c AS SELECT i AS c FROM generate_series(1, 50) i;
CREATE INDEX ON plan_choice_b (a);
VACUUM ANALYZE plan_choice_a, plan_choice_b, plan_choice_c;
CREATE FUNCTION plan_choice_cost(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    plan json;
BEGIN
    EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan;
    RETURN plan -> 0 -> 'Plan' ->> 'Total Cost';
END $$;
\set query 'SELECT FROM plan_choice_a a LEFT JOIN (plan_choice_b b JOIN plan_choice_c c ON b.b = c.c) ON b.a = a.a WHERE a.b < 10'
EXPLAIN (COSTS OFF) :query;
SELECT plan_choice_cost(:'query') AS before \gset
LOAD 'neardup';
SELECT plan_choice_cost(:'query') = :'before' AS same;
DROP TABLE plan_choice_a, plan_choice_b, plan_choice_c;

-- So do look-ups in a GIN index without signatures, for rows of an outer query
\c
CREATE TABLE plan_choice_lists AS SELECT ARRAY[i % 500, i % 77, i] AS list FROM generate_series(1, 20000) i;
CREATE INDEX ON plan_choice_lists USING gin (list);
VACUUM ANALYZE plan_choice_lists;
\set query 'SELECT (SELECT count(*) FROM plan_choice_lists WHERE list @> ARRAY[i]) FROM generate_series(1, 10) i'
\set file :abs_srcdir '/sql/shared/plan.sql'
\i :file
SELECT plan(:'query');
SELECT plan_choice_cost(:'query') AS before \gset
LOAD 'neardup';
SELECT plan_choice_cost(:'query') = :'before' AS same;
DROP TABLE plan_choice_lists;
DROP FUNCTION plan;
DROP FUNCTION plan_choice_cost;

-- The number of shared features decides about near-duplicates, if their sizes are known
CREATE TABLE plan_choice_parts AS SELECT i AS id, signature_from(ARRAY(SELECT generate_series(1::bigint, 80))
    || ARRAY(SELECT i * 100 + x FROM generate_series(1::bigint, 20) x)) AS sig FROM generate_series(1000::bigint, 2999) i;
ANALYZE plan_choice_parts;
EXPLAIN (COSTS OFF) SELECT count(*) FROM plan_choice_parts a JOIN plan_choice_parts b ON near_duplicate(a.sig, b.sig, 90, 'shared') AND a.id < b.id;
DROP TABLE plan_choice_parts;
