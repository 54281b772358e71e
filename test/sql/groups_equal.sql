--
-- New rows with the set of an old row: an index of access method neardup is searched once
-- for an equal row of each, with the query's snapshot
--

CREATE SCHEMA groups_equal;
SET search_path = groups_equal, public;
SET enable_seqscan = off;
SET neardup.enable_join = off;

-- Sets 0 to 59 have nothing in common; rows 1 to 100 are old, rows 101 to 160 new
CREATE FUNCTION set_of(n int, n_features int = 5) RETURNS signature LANGUAGE sql IMMUTABLE
RETURN signature_from(ARRAY(SELECT (hashint4extended(n, i) >> 1) & 9223372036854775807 FROM generate_series(1, n_features) i));
CREATE TABLE docs (id int PRIMARY KEY, tenant int, note int, sig signature) WITH (fillfactor = 40);
CREATE TABLE groups (id bigint PRIMARY KEY, representative bigint, similarity float8);
CREATE FUNCTION fill() RETURNS void LANGUAGE sql AS $$
    TRUNCATE docs;
    INSERT INTO docs SELECT i, i % 2, 0, set_of(i % 50) FROM generate_series(1, 100) i;
    INSERT INTO docs SELECT i, i % 2, 0, set_of(i - 101) FROM generate_series(101, 160) i
$$;
CREATE FUNCTION group_old(rule text = 'greedy', scope text = '') RETURNS void LANGUAGE sql AS $$
    TRUNCATE groups;
    INSERT INTO groups SELECT id, representative, similarity
    FROM near_duplicate_groups(format('SELECT id, sig %s FROM docs WHERE id <= 100', scope), 0.6, rule => rule)
$$;

-- Number of new rows in another group than with all rows at once, of those in a group
-- with old rows, and of scans of the index
CREATE FUNCTION added(old_rows text, rule text = 'greedy', scope text = '', OUT wrong bigint, OUT with_old bigint, OUT scans bigint)
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM neardup_index_counters(true);
    CREATE TEMP TABLE new_groups AS
    SELECT * FROM near_duplicate_groups_add(format('SELECT id, sig %s FROM docs WHERE id > 100', scope), old_rows, 0.6, rule => rule);
    scans := (SELECT c.scans FROM neardup_index_counters() c WHERE index = 'docs_sig'::regclass);
    SELECT count(*) FILTER (WHERE (n.representative, n.similarity) IS DISTINCT FROM (c.representative, c.similarity)),
           count(*) FILTER (WHERE n.representative <= 100)
    INTO wrong, with_old
    FROM new_groups n
    FULL JOIN (SELECT * FROM near_duplicate_groups(format('SELECT id, sig %s FROM docs', scope), 0.6, rule => rule) WHERE id > 100) c USING (id);
    DROP TABLE new_groups;
END $$;
\set olds 'SELECT g.id, d.sig, g.representative, g.similarity FROM groups g JOIN docs d USING (id) WHERE near_duplicate(d.sig, $1, 0.6)'

-- 60 sets, 50 of them of old rows: a look-up for each, and a second one for each of the
-- other ten
SELECT FROM fill();
SELECT FROM group_old();
CREATE INDEX docs_sig ON docs USING neardup (sig);
SELECT * FROM added(:'olds');
-- later rows are pending in the index
DROP INDEX docs_sig;
TRUNCATE docs;
CREATE INDEX docs_sig ON docs USING neardup (sig);
SELECT FROM fill();
SELECT * FROM added(:'olds');
SELECT FROM group_old('connected');
SELECT * FROM added(:'olds', 'connected');
SELECT FROM group_old();

-- In little memory: several passes, several parts
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
INSERT INTO docs SELECT 200 + i, i % 2, 0, set_of(i % 600, 30) FROM generate_series(1, 1200) i;
INSERT INTO groups SELECT id, representative, similarity FROM near_duplicate_groups('SELECT id, sig FROM docs WHERE id BETWEEN 201 AND 800', 0.6);
WITH added AS (SELECT * FROM near_duplicate_groups_add('SELECT id, sig FROM docs WHERE id > 800', :'olds', 0.6))
SELECT count(*) AS wrong FROM added JOIN near_duplicate_groups('SELECT id, sig FROM docs WHERE id > 200', 0.6) c USING (id)
WHERE (added.representative, added.similarity) IS DISTINCT FROM (c.representative, c.similarity);
DELETE FROM docs WHERE id > 200;
DELETE FROM groups WHERE id > 200;
-- Equal rows that are no representatives: more than fit into memory by their sets
INSERT INTO docs SELECT 200 + i, 0, 0, signature_from(s[1:9] || CASE WHEN i % 2 = 0 THEN s[10:10] END)
FROM generate_series(1, 10000) i,
     LATERAL (SELECT ARRAY(SELECT (hashint4extended((i - 1) % 5000 / 2, j) >> 1) & 9223372036854775807 FROM generate_series(1, 10) j)) h (s);
INSERT INTO groups SELECT id, representative, similarity FROM near_duplicate_groups('SELECT id, sig FROM docs WHERE id BETWEEN 201 AND 5200 ORDER BY id % 2, id', 0.6);
SELECT count(*) AS members FROM groups WHERE id BETWEEN 201 AND 5200 AND id <> representative;
WITH added AS (SELECT * FROM near_duplicate_groups_add('SELECT id, sig FROM docs WHERE id > 5200 AND id % 2 = 1', :'olds', 0.6))
SELECT count(*) AS added, count(*) FILTER (WHERE (a.representative, a.similarity) IS DISTINCT FROM (g.representative, g.similarity)) AS wrong
FROM added a JOIN groups g ON g.id = a.id - 5000;
DELETE FROM docs WHERE id > 200;
DELETE FROM groups WHERE id > 200;
RESET work_mem;
RESET hash_mem_multiplier;

-- Old rows that were updated, and are found by the place of their first version
UPDATE docs SET note = 1 WHERE id <= 100;
SELECT * FROM added(:'olds');
UPDATE docs SET note = 2 WHERE id % 2 = 0;
SELECT * FROM added(:'olds');

-- Deleted rows, and rows of aborted transactions
SELECT FROM fill();
BEGIN;
DELETE FROM docs WHERE id <= 10;
INSERT INTO docs SELECT id, tenant, 0, sig FROM docs WHERE id BETWEEN 51 AND 60 ON CONFLICT DO NOTHING;
ROLLBACK;
DELETE FROM docs WHERE id BETWEEN 11 AND 20 OR id BETWEEN 66 AND 80;
SELECT FROM group_old();
SELECT wrong, with_old FROM added(:'olds');
VACUUM docs;
SELECT wrong, with_old FROM added(:'olds');

-- A statement sees the rows that were there when it began
SELECT FROM fill();
SELECT FROM group_old();
BEGIN;
DECLARE before CURSOR FOR SELECT * FROM near_duplicate_groups_add('SELECT id, sig FROM docs WHERE id IN (101, 120, 158)', :'olds', 0.6) ORDER BY id;
DELETE FROM docs WHERE id IN (50, 100);
UPDATE docs SET sig = set_of(57) WHERE id = 69;
INSERT INTO docs VALUES (99999, 0, 0, set_of(57));
INSERT INTO groups VALUES (99999, 99999, NULL);
FETCH ALL FROM before;
SELECT * FROM near_duplicate_groups_add('SELECT id, sig FROM docs WHERE id IN (101, 120, 158)', :'olds', 0.6) ORDER BY id;
ROLLBACK;

-- The index compares the upper halves of features' hashes, which are equal here: the
-- new row is near to the second old one, but not to its representative
TRUNCATE docs;
INSERT INTO docs VALUES
    (1, 0, 0, signature_from('{3674746035466822902,-272203934287019437,-2782979856314612160,1319797913695547817,5662477669566974019}')),
    (2, 0, 0, signature_from('{3674746035466822902,-272203934287019437,-2782979856314612160,1319797913695547817,963817890214129928}')),
    (101, 0, 0, signature_from('{3674746035466822902,-272203934287019437,-2782979856314612160,-7074185467332980703,963817890214129928}'));
SELECT FROM group_old();
SELECT * FROM added(:'olds');

-- Within a scope: the first row with the set is of another one
SELECT FROM fill();
UPDATE docs SET tenant = 1 - tenant WHERE id > 130;
SELECT FROM group_old('greedy', ', tenant');
SELECT a.wrong, a.with_old FROM unnest('{"","AND d.tenant = $2"}'::text[]) condition,
    added('SELECT g.id, d.sig, g.representative, g.similarity, d.tenant FROM groups g JOIN docs d USING (id) WHERE near_duplicate(d.sig, $1, 0.6) ' || condition,
          'greedy', ', tenant') a;

-- Large signatures, which are stored out of line
SELECT FROM fill();
UPDATE docs SET sig = set_of(id, 2000) WHERE id <= 5;
UPDATE docs SET sig = set_of(id - 100, 2000) WHERE id BETWEEN 101 AND 105;
SELECT FROM group_old();
SELECT wrong, with_old FROM added(:'olds');

-- Queries of all shapes, whose rows are not those of one table
SELECT FROM fill();
SELECT FROM group_old();
CREATE VIEW viewed AS SELECT d.id AS number, d.note, d.sig AS made FROM docs d WHERE note = 0;
CREATE VIEW view_of_view WITH (security_barrier) AS SELECT * FROM viewed WHERE number > 0;
SELECT t.what, a.* FROM (VALUES
    (1, 'table second', 'SELECT g.id, d.sig, g.representative, g.similarity FROM groups g, docs d WHERE g.id = d.id AND near_duplicate(d.sig, $1, 0.6)'),
    (2, 'subquery', 'SELECT g.id, s.sig, g.representative, g.similarity FROM (SELECT id + 0 AS id, sig FROM docs WHERE note = 0) s JOIN groups g USING (id) WHERE near_duplicate(s.sig, $1, 0.6)'),
    (3, 'view', 'SELECT g.id, made, g.representative, g.similarity FROM viewed JOIN groups g ON g.id = number WHERE near_duplicate(made, $1, 0.6)'),
    (4, 'view of a view', 'SELECT g.id, made, g.representative, g.similarity FROM view_of_view JOIN groups g ON g.id = number WHERE near_duplicate(made, $1, 0.6)'),
    (5, 'outer join', 'SELECT g.id, d.sig, g.representative, g.similarity FROM groups g LEFT JOIN docs d USING (id) WHERE near_duplicate(d.sig, $1, 0.6)'),
    (6, 'another row for each', 'SELECT DISTINCT ON (d.id) g.id, d.sig, g.representative, g.similarity FROM groups g JOIN docs d USING (id) WHERE near_duplicate(d.sig, $1, 0.6) ORDER BY d.id'),
    (7, 'union', 'SELECT g.id, d.sig, g.representative, g.similarity FROM groups g JOIN docs d USING (id) WHERE near_duplicate(d.sig, $1, 0.6) UNION ALL SELECT -1, NULL, NULL, NULL'),
    (8, 'cte', 'WITH d AS MATERIALIZED (SELECT * FROM docs) SELECT g.id, d.sig, g.representative, g.similarity FROM groups g JOIN d USING (id) WHERE near_duplicate(d.sig, $1, 0.6)'),
    (9, 'limit', 'SELECT g.id, d.sig, g.representative, g.similarity FROM groups g JOIN docs d USING (id) WHERE near_duplicate(d.sig, $1, 0.6) ORDER BY id LIMIT 50'),
    (10, 'sample', 'SELECT g.id, d.sig, g.representative, g.similarity FROM groups g JOIN docs d TABLESAMPLE bernoulli (100) USING (id) WHERE near_duplicate(d.sig, $1, 0.6)'),
    (11, 'other columns', 'SELECT g.id, d.sig, g.representative, g.similarity FROM groups g JOIN (VALUES (1, 2)) v ON true JOIN docs d USING (id) WHERE near_duplicate(d.sig, $1, 0.6) AND EXISTS (SELECT FROM docs e WHERE e.id = d.id)')
    ) t (number, what, query), LATERAL added(query) a ORDER BY number;
-- Conditions for the signature, also one that an equal set does not meet
SELECT t.condition, a.* FROM unnest(ARRAY[
    'near_duplicate(d.sig, $1, 0.9)', 'near_duplicate(d.sig, $1, 0.6, ''dice'')', 'near_duplicate($1, d.sig, 0.6)',
    'near_duplicate(d.sig, $1, 5, ''shared'')', 'near_duplicate(d.sig, $1, 6, ''shared'')',
    'near_duplicate(d.sig, $1, 0.6) AND similarity(d.sig, $1) = 1', 'near_duplicate(d.sig, $1, 0.6) AND d.sig <> $1']) WITH ORDINALITY t (condition, number),
    added('SELECT g.id, d.sig, g.representative, g.similarity FROM groups g JOIN docs d USING (id) WHERE ' || condition) a ORDER BY number;
SELECT * FROM added('SELECT g.id, d.sig, g.representative, g.similarity FROM groups g JOIN docs d USING (id) WHERE near_duplicate(d.sig, $1, 1.5)');
SELECT * FROM added('SELECT g.id, d.sig, g.representative, g.similarity FROM groups g JOIN docs d USING (id) WHERE near_duplicate(d.sig, $1, 0.6, ''none'')');
CREATE TABLE child () INHERITS (docs);
CREATE INDEX ON child USING neardup (sig);
SELECT wrong, with_old, scans >= 60 AS "a look-up each" FROM added(:'olds');
DROP TABLE child;

-- Partial indexes: of all old rows that are needed, and of some of them
DROP INDEX docs_sig;
CREATE INDEX docs_sig ON docs USING neardup (sig) WHERE tenant = 0;
SELECT with_old, scans FROM added(:'olds' || ' AND d.tenant = 0');
SET enable_seqscan = on;
SELECT wrong, with_old FROM added(:'olds');
SET enable_seqscan = off;
DROP INDEX docs_sig;
CREATE INDEX docs_sig ON docs USING neardup (sig);

-- Users see only rows that they may see
CREATE ROLE regress_neardup_groups;
GRANT USAGE ON SCHEMA groups_equal TO regress_neardup_groups;
GRANT SELECT ON docs TO regress_neardup_groups;
GRANT SELECT ON groups TO regress_neardup_groups;
ALTER TABLE docs ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON docs USING (tenant = 1);
SET ROLE regress_neardup_groups;
SELECT * FROM near_duplicate_groups_add('SELECT id + 1000, set_of(id) FROM generate_series(1, 4) id', :'olds', 0.6);
RESET ROLE;
REVOKE SELECT ON docs FROM regress_neardup_groups;
SET ROLE regress_neardup_groups;
SELECT * FROM near_duplicate_groups_add('SELECT id + 1000, set_of(id) FROM generate_series(1, 4) id', :'olds', 0.6);
RESET ROLE;
GRANT SELECT (id, sig) ON docs TO regress_neardup_groups;
SET ROLE regress_neardup_groups;
SELECT * FROM near_duplicate_groups_add('SELECT id + 1000, set_of(id) FROM generate_series(1, 4) id', :'olds', 0.6);
RESET ROLE;
ALTER TABLE docs DISABLE ROW LEVEL SECURITY;

SET client_min_messages = warning;
DROP SCHEMA groups_equal CASCADE;
DROP ROLE regress_neardup_groups;
