--
-- Joins of a table with itself: read once where both sides have the same rows
--

CREATE SCHEMA selfjoin;
SET search_path = selfjoin, public;
SET max_parallel_workers_per_gather = 0;
SET jit = off;

CREATE TABLE docs AS
SELECT i AS id, i % 3 AS kind, 'title ' || i AS title,
    (SELECT string_agg('word' || (i / 4 * 50 + w), ' ' ORDER BY w)
     FROM generate_series(1 + i % 2, 20) w) AS body
FROM generate_series(1, 40) i;
INSERT INTO docs VALUES (41, 0, 'null', NULL), (42, 1, 'empty', ''), (43, 2, 'empty', '');
ALTER TABLE docs ADD sig signature GENERATED ALWAYS AS (shingles(body)) STORED;
CREATE TABLE others AS TABLE docs;
CREATE VIEW few AS SELECT * FROM docs WHERE id < 20;
CREATE TABLE parts (LIKE docs) PARTITION BY RANGE (id);
CREATE TABLE part_1 PARTITION OF parts FOR VALUES FROM (1) TO (100);
INSERT INTO parts SELECT id, kind, title, body, sig FROM docs;
ANALYZE;

\getenv abs_srcdir PG_ABS_SRCDIR
\set file :abs_srcdir '/sql/shared/self_join.sql'
\i :file

-- Both sides have the same rows
SELECT self::boolean, same, q FROM (VALUES
    ('SELECT a.id, b.id FROM docs a JOIN docs b ON near_duplicate(a.sig, b.sig, 0.8)'),
    ('SELECT b.id, a.title FROM docs a JOIN docs b ON near_duplicate(b.sig, a.sig, 0.8) AND a.id < b.id'),
    ('SELECT a.title, b.id, b.body FROM docs a JOIN docs b ON a.sig % b.sig AND a.kind <> b.kind'),
    ('SELECT a.id, b.id FROM docs a JOIN docs b ON contained_in(a.sig, b.sig, 0.9) AND a.id <> b.id'),
    ('SELECT a.id, b.title FROM docs a JOIN docs b ON near_duplicate(shingles(a.body), shingles(b.body), 0.8)'),
    ('SELECT a.id, b.id FROM docs a JOIN docs b ON near_duplicate(minhash(a.sig), minhash(b.sig), 0.6)'),
    ('SELECT a.id, b.kind FROM docs a JOIN docs b ON near_duplicate(a.sig, b.sig, 0.8) WHERE a.kind < 2 AND b.kind < 2'),
    ('SELECT a.id, b.id FROM few a JOIN few b ON near_duplicate(a.sig, b.sig, 0.8)'),
    ('SELECT a, b FROM docs a JOIN docs b ON near_duplicate(a.sig, b.sig, 0.8) AND a.id < b.id'),
    ('SELECT a.ctid, b.tableoid::regclass, b.ctid FROM docs a JOIN docs b ON near_duplicate(a.sig, b.sig, 0.8)'),
    ('SELECT a.id, b.id FROM docs a LEFT JOIN docs b ON near_duplicate(a.sig, b.sig, 0.8) AND a.id < b.id'),
    ('SELECT a.title FROM docs a WHERE EXISTS (SELECT FROM docs b WHERE near_duplicate(a.sig, b.sig, 0.8) AND b.id < a.id)'),
    ('SELECT a.title FROM docs a WHERE NOT EXISTS (SELECT FROM docs b WHERE near_duplicate(a.sig, b.sig, 0.8) AND b.id < a.id)'),
    ('SELECT count(*) FROM docs a JOIN docs b ON near_duplicate(a.sig, b.sig, 0.8)'),
    ('SELECT a.id, b.id FROM docs a JOIN docs b ON near_duplicate(a.sig, b.sig, 0.8) AND a.kind = b.kind AND a.kind = 1'),
    ('WITH d AS MATERIALIZED (SELECT id, title, shingles(body, ''k=2'') AS s FROM docs) SELECT a.id, b.title FROM d a JOIN d b ON near_duplicate(a.s, b.s, 0.8)'),
    ('SELECT x, l.* FROM generate_series(0, 2) x, LATERAL (SELECT a.id, b.id AS b FROM docs a JOIN docs b ON near_duplicate(a.sig, b.sig, 0.8) WHERE a.kind = x AND b.kind = x OFFSET 0) l'),
    ('SELECT a.id, b.id, c.id FROM docs a JOIN docs b ON near_duplicate(a.sig, b.sig, 0.8) LEFT JOIN docs c ON c.id = b.id + 1')
    ) v (q), self_join(q);

-- They do not, or it is unknown
SELECT self::boolean, same, q FROM (VALUES
    ('SELECT a.id, b.id FROM docs a JOIN others b ON near_duplicate(a.sig, b.sig, 0.8)'),
    ('SELECT a.id, b.id FROM docs a JOIN docs b ON near_duplicate(a.sig, b.sig, 0.8) WHERE b.kind < 2'),
    ('SELECT a.id, b.id FROM docs a JOIN docs b ON near_duplicate(a.sig, b.sig, 0.8) WHERE a.kind < 2 AND b.kind > 0'),
    ('SELECT a.id, b.id FROM docs a JOIN few b ON near_duplicate(a.sig, b.sig, 0.8)'),
    ('SELECT a.id, b.id FROM docs a LEFT JOIN docs b ON near_duplicate(a.sig, b.sig, 0.8) AND b.kind = 1'),
    ('SELECT a.id, b.id FROM docs a JOIN docs b ON near_duplicate(a.sig, shingles(b.body), 0.8)'),
    ('SELECT a.id, b.id FROM docs a JOIN docs b ON near_duplicate(shingles(a.body), shingles(b.title || b.body), 0.5)'),
    ('SELECT a.id, b.id FROM docs a JOIN docs b ON near_duplicate(a.sig, b.sig, 0.8) WHERE random() >= a.id - a.id AND random() >= b.id - b.id'),
    ('SELECT a.id, b.id FROM docs a TABLESAMPLE system (100) JOIN docs b ON near_duplicate(a.sig, b.sig, 0.8)'),
    ('SELECT a.id, b.id FROM parts a JOIN parts b ON near_duplicate(a.sig, b.sig, 0.8)'),
    ('WITH d AS MATERIALIZED (TABLE docs), e AS MATERIALIZED (TABLE few) SELECT a.id, b.id FROM d a JOIN e b ON near_duplicate(a.sig, b.sig, 0.8)')
    ) v (q), self_join(q);

-- The plan: all columns of either side are read
SET enable_nestloop = off;
EXPLAIN (VERBOSE, COSTS OFF)
SELECT a.title, b.kind FROM docs a JOIN docs b ON near_duplicate(a.sig, b.sig, 0.8) AND a.id < b.id;
-- One side is read, and its signatures are computed once
SELECT count(*) FROM docs a JOIN docs b ON near_duplicate(signed(a.body), signed(b.body), 0.8);
SELECT last_value = (SELECT count(*) FROM docs) AS once FROM signed_number;

-- Again with another parameter, and by a cursor that is closed early
PREPARE by_kind(int) AS
SELECT array_agg(a.id || ' ' || b.id ORDER BY a.id, b.id)
FROM docs a JOIN docs b ON near_duplicate(a.sig, b.sig, 0.8) AND a.id < b.id
WHERE a.kind = $1 AND b.kind = $1;
SET plan_cache_mode = force_generic_plan;
EXECUTE by_kind(0);
EXECUTE by_kind(1);
BEGIN;
DECLARE c CURSOR FOR SELECT a.id, b.id FROM docs a JOIN docs b ON near_duplicate(a.sig, b.sig, 0.8) AND a.id < b.id;
FETCH 2 FROM c;
CLOSE c;
ROLLBACK;

-- An index finds the rows: of one kind, of both, of a range
CREATE INDEX docs_kind ON docs (kind);
CREATE INDEX docs_id ON docs (id);
CREATE INDEX docs_second ON docs (kind) WHERE kind = 2;
SET enable_seqscan = off;
CREATE FUNCTION scans(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    plan text;
BEGIN
    EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
    RETURN (SELECT string_agg(m[1], ', ') FROM regexp_matches(plan, '"(Seq Scan|Index Scan|Bitmap Heap Scan)"', 'g') m);
END $$;
CREATE TABLE found_by_index (q) AS VALUES
    ('SELECT a.title, b.id FROM docs a JOIN docs b ON near_duplicate(a.sig, b.sig, 0.8) AND a.kind = b.kind AND a.id < b.id WHERE a.kind = 1'),
    ('SELECT a.id, b.title FROM docs a LEFT JOIN docs b ON near_duplicate(shingles(a.body), shingles(b.body), 0.8) AND b.id < 30 WHERE a.id < 30'),
    ('SELECT a.id FROM few a WHERE NOT EXISTS (SELECT FROM few b WHERE near_duplicate(a.sig, b.sig, 0.8) AND b.id < a.id)'),
    ('SELECT a.id, b.id FROM docs a JOIN docs b ON near_duplicate(a.sig, b.sig, 0.8) WHERE a.kind = 2 AND b.kind = 2'),
    ('SELECT a.id, b.id FROM docs a JOIN docs b ON near_duplicate(a.sig, b.sig, 0.8) WHERE a.id < 30 AND b.id < 31'),
    ('SELECT x, l.* FROM generate_series(0, 2) x, LATERAL (SELECT a.id, b.id AS b FROM docs a JOIN docs b ON near_duplicate(a.sig, b.sig, 0.8) WHERE a.kind = x AND b.kind = x OFFSET 0) l');
SET enable_indexscan = off;
SELECT self::boolean, same, scans(q), q FROM found_by_index, self_join(q) ORDER BY q;
RESET enable_indexscan;
SET enable_bitmapscan = off;
SELECT self::boolean, same, scans(q), q FROM found_by_index, self_join(q) ORDER BY q;
RESET enable_bitmapscan;
RESET enable_seqscan;
DROP INDEX docs_kind, docs_id, docs_second;

-- Two specs in one table, without and with a condition that separates them
CREATE TABLE mixed AS
SELECT id, kind, CASE kind WHEN 0 THEN sig ELSE minhash(sig) END AS sig FROM docs;
SELECT count(*) FROM mixed a JOIN mixed b ON near_duplicate(a.sig, b.sig, 0.8);
SELECT self::boolean, same FROM self_join('SELECT a.id, b.id FROM mixed a JOIN mixed b ON near_duplicate(a.sig, b.sig, 0.8) AND a.kind = b.kind');

-- Rows that a policy hides
CREATE ROLE regress_neardup_self;
GRANT USAGE ON SCHEMA selfjoin TO regress_neardup_self;
GRANT SELECT ON docs TO regress_neardup_self;
GRANT SELECT, INSERT ON truth TO regress_neardup_self;
ALTER TABLE docs ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON docs USING (kind = 1);
SET ROLE regress_neardup_self;
SELECT self::boolean, same FROM self_join('SELECT a.kind, b.kind FROM docs a JOIN docs b ON near_duplicate(a.sig, b.sig, 0.8)');
SELECT DISTINCT a.kind, b.kind FROM docs a JOIN docs b ON near_duplicate(a.sig, b.sig, 0.8);
RESET ROLE;

-- The row identity of a partitioned table that is changed is of one side only
CREATE TABLE changed (id int, sig signature) PARTITION BY RANGE (id);
CREATE TABLE changed_1 PARTITION OF changed FOR VALUES FROM (1) TO (30);
CREATE TABLE changed_2 PARTITION OF changed FOR VALUES FROM (30) TO (1000);
INSERT INTO changed SELECT id, sig FROM docs WHERE id < 60;
ANALYZE changed;
CREATE TABLE before AS SELECT * FROM changed;
-- EXPLAIN VERBOSE shows their names
CREATE FUNCTION verbose_lines(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY EXECUTE 'EXPLAIN (VERBOSE, COSTS OFF) ' || query;
END $$;
SELECT count(*) > 0 AS read
FROM verbose_lines('DELETE FROM changed b USING changed a WHERE near_duplicate(a.sig, b.sig, 0.8) AND a.id < b.id') line
WHERE line ~ 'Output: .*tableoid';
BEGIN;
MERGE INTO changed a USING changed b ON near_duplicate(a.sig, b.sig, 0.8) AND a.id <> b.id
WHEN NOT MATCHED THEN INSERT VALUES (b.id + 500, NULL)
WHEN MATCHED AND a.id < b.id AND a.id < 0 THEN DELETE;
SELECT count(*), sum(id) FROM changed WHERE id > 500;
SELECT count(*), sum(id + 500) FROM before b
WHERE NOT EXISTS (SELECT FROM before a WHERE similarity(a.sig, b.sig) + 0 >= 0.8 AND a.id <> b.id);
ROLLBACK;
BEGIN;
WITH gone AS (DELETE FROM changed b USING changed a WHERE near_duplicate(a.sig, b.sig, 0.8) AND a.id < b.id RETURNING a.id)
SELECT count(*) > 0 AS any FROM gone;
SELECT count(*), sum(id) FROM changed;
SELECT count(*), sum(id) FROM before b
WHERE NOT EXISTS (SELECT FROM before a WHERE similarity(a.sig, b.sig) + 0 >= 0.8 AND a.id < b.id);
ROLLBACK;

-- The later row of each pair is deleted
DELETE FROM docs b USING docs a WHERE near_duplicate(a.sig, b.sig, 0.8) AND a.id < b.id;
SELECT count(*), count(*) FILTER (WHERE id % 4 = 0) AS firsts FROM docs;

SET client_min_messages = warning;
DROP SCHEMA selfjoin CASCADE;
DROP ROLE regress_neardup_self;
