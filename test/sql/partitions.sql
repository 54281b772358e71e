--
-- Joins of partitioned tables and of UNION ALL views with themselves
--

CREATE SCHEMA partitions;
SET search_path = partitions, public;
SET max_parallel_workers_per_gather = 0;
SET jit = off;

CREATE TABLE docs AS
SELECT i AS id, i % 3 AS kind, 'title ' || i AS title,
    (SELECT string_agg('word' || (i / 4 * 50 + w), ' ' ORDER BY w)
     FROM generate_series(1 + i % 2, 20) w) AS body
FROM generate_series(1, 60) i;
INSERT INTO docs VALUES (61, 0, 'null', NULL), (62, 1, 'empty', ''), (63, 2, 'empty', '');
ALTER TABLE docs ADD sig signature GENERATED ALWAYS AS (shingles(body)) STORED;

-- By ranges; one part has its columns in another order, and one has parts
CREATE TABLE parts (id int, kind int, title text, body text, sig signature) PARTITION BY RANGE (id);
CREATE TABLE part_1 PARTITION OF parts FOR VALUES FROM (1) TO (20);
CREATE TABLE part_2 (sig signature, gone int, title text, kind int, id int, body text);
ALTER TABLE part_2 DROP gone;
ALTER TABLE parts ATTACH PARTITION part_2 FOR VALUES FROM (20) TO (40);
CREATE TABLE part_3 PARTITION OF parts FOR VALUES FROM (40) TO (100) PARTITION BY LIST (kind);
CREATE TABLE part_3_0 PARTITION OF part_3 FOR VALUES IN (0);
CREATE TABLE part_3_1 PARTITION OF part_3 DEFAULT;
INSERT INTO parts SELECT * FROM docs;
CREATE TABLE one_part (LIKE parts) PARTITION BY RANGE (id);
CREATE TABLE one_part_1 PARTITION OF one_part FOR VALUES FROM (1) TO (100);
INSERT INTO one_part SELECT * FROM docs;
-- By kind, which a join may compare for equality
CREATE TABLE kinds (LIKE parts) PARTITION BY LIST (kind);
CREATE TABLE kind_0 PARTITION OF kinds FOR VALUES IN (0);
CREATE TABLE kind_1 PARTITION OF kinds FOR VALUES IN (1);
CREATE TABLE kind_2 PARTITION OF kinds FOR VALUES IN (2);
INSERT INTO kinds SELECT * FROM docs;
-- Tables that inherit
CREATE TABLE parent (LIKE parts);
CREATE TABLE child (extra int) INHERITS (parent);
INSERT INTO parent SELECT * FROM docs WHERE id <= 30;
INSERT INTO child SELECT *, id FROM docs WHERE id > 30;
CREATE VIEW united AS
SELECT id, kind, title, sig FROM docs UNION ALL
SELECT id + 100, kind + 1, upper(title), sig FROM parts;
CREATE VIEW united_some AS
SELECT id, title, body, sig FROM docs WHERE kind < 2 UNION ALL
SELECT id + 100, title, body, sig FROM docs WHERE kind = 2;
CREATE VIEW united_made AS
SELECT 'docs' AS source, id, shingles(body, 'k=2') AS sig FROM docs UNION ALL
SELECT 'parts', id, shingles(body, 'k=2') FROM parts WHERE id < 50;
CREATE VIEW united_other AS
SELECT id, kind, body AS title, sig FROM docs UNION ALL
SELECT id + 100, kind + 1, upper(title), sig FROM parts;
CREATE VIEW kept AS SELECT id, kind, title, sig FROM docs WHERE kind > 0 OFFSET 0;
CREATE VIEW guarded WITH (security_barrier) AS SELECT id, kind, title, sig FROM parts WHERE kind > 0;
ANALYZE;

\getenv abs_srcdir PG_ABS_SRCDIR
\set file :abs_srcdir '/sql/shared/self_join.sql'
\i :file

-- Read once
SELECT self, same, q FROM (VALUES
    ('SELECT a.id, b.id FROM parts a JOIN parts b ON near_duplicate(a.sig, b.sig, 0.8)'),
    ('SELECT a.id, b.title FROM parts a JOIN parts b ON near_duplicate(a.sig, b.sig, 0.8) AND a.id < b.id'),
    ('SELECT a.title, b.kind, b.id FROM parts a JOIN parts b ON a.sig % b.sig AND a.kind <> b.kind'),
    ('SELECT a.id, b.title FROM parts a JOIN parts b ON near_duplicate(shingles(a.body), shingles(b.body), 0.8)'),
    ('SELECT a, b FROM parts a JOIN parts b ON near_duplicate(a.sig, b.sig, 0.8) AND a.id < b.id'),
    ('SELECT a.ctid, a.tableoid::regclass, b.ctid, b.tableoid::regclass FROM parts a JOIN parts b ON near_duplicate(a.sig, b.sig, 0.8)'),
    ('SELECT a.id, b.id FROM parts a LEFT JOIN parts b ON near_duplicate(a.sig, b.sig, 0.8) AND a.id < b.id'),
    ('SELECT a.title FROM parts a WHERE NOT EXISTS (SELECT FROM parts b WHERE near_duplicate(a.sig, b.sig, 0.8) AND b.id < a.id)'),
    ('SELECT a.id, b.title FROM parts a JOIN parts b ON near_duplicate(a.sig, b.sig, 0.8) WHERE a.kind < 2 AND b.kind < 2'),
    ('SELECT a.id, b.title FROM parts a JOIN parts b ON near_duplicate(a.sig, b.sig, 0.8) WHERE a.id < 35 AND b.id < 35'),
    ('SELECT a.id, b.title FROM one_part a JOIN one_part b ON near_duplicate(a.sig, b.sig, 0.8)'),
    ('SELECT a.id, b.title FROM kinds a JOIN kinds b ON near_duplicate(a.sig, b.sig, 0.8) AND a.kind = b.kind'),
    ('SELECT a.id, b.title FROM parent a JOIN parent b ON near_duplicate(a.sig, b.sig, 0.8)'),
    ('SELECT a.id, b.title FROM united a JOIN united b ON near_duplicate(a.sig, b.sig, 0.8)'),
    ('SELECT a, b.title FROM united a JOIN united b ON near_duplicate(a.sig, b.sig, 0.8) AND a.kind < b.kind'),
    ('SELECT a.id, b.title FROM united_some a JOIN united_some b ON near_duplicate(a.sig, b.sig, 0.8)'),
    ('SELECT a.title, b.id FROM united_some a JOIN united_some b ON near_duplicate(a.sig, b.sig, 0.8) AND a.body < b.body'),
    ('SELECT a.id, b.source FROM united_made a JOIN united_made b ON near_duplicate(a.sig, b.sig, 0.8)'),
    ('SELECT a.source, b.id FROM united_made a JOIN united_made b ON near_duplicate(a.sig, b.sig, 0.8)'),
    ('SELECT a.kind, b.title FROM kept a JOIN kept b ON near_duplicate(a.sig, b.sig, 0.8) AND a.id < b.id'),
    ('SELECT a.kind, b.title FROM guarded a JOIN guarded b ON near_duplicate(a.sig, b.sig, 0.8) AND a.id < b.id')
    ) v (q), self_join(q);

-- Not the same rows, or unknown
SELECT self, same, q FROM (VALUES
    ('SELECT a.id, b.id FROM parts a JOIN docs b ON near_duplicate(a.sig, b.sig, 0.8)'),
    ('SELECT a.id, b.id FROM parts a JOIN one_part b ON near_duplicate(a.sig, b.sig, 0.8)'),
    ('SELECT a.id, b.id FROM parts a JOIN parts b ON near_duplicate(a.sig, b.sig, 0.8) WHERE b.id < 35'),
    ('SELECT a.id, b.id FROM parts a JOIN parts b ON near_duplicate(a.sig, b.sig, 0.8) WHERE a.kind < 2 AND b.kind > 0'),
    ('SELECT a.id, b.id FROM parts a JOIN parts b ON near_duplicate(a.sig, shingles(b.body), 0.8)'),
    ('SELECT a.id, b.title FROM united a JOIN united_other b ON near_duplicate(a.sig, b.sig, 0.8)'),
    ('SELECT a.id, b.id FROM (SELECT id, sig FROM docs UNION ALL SELECT id, sig FROM docs WHERE random() < 2) a JOIN (SELECT id, sig FROM docs UNION ALL SELECT id, sig FROM docs WHERE random() < 2) b ON near_duplicate(a.sig, b.sig, 0.8)'),
    ('SELECT a.id, b.id FROM (SELECT id, sig FROM docs OFFSET 0) a JOIN (SELECT id + 1 AS id, sig FROM docs OFFSET 0) b ON near_duplicate(a.sig, b.sig, 0.8)'),
    ('SELECT a.kind, b.kind FROM (SELECT kind, sig FROM docs OFFSET 0) a JOIN (SELECT NULL::int AS kind, sig FROM docs OFFSET 0) b ON near_duplicate(a.sig, b.sig, 0.8)')
    ) v (q), self_join(q);

-- The plan: all columns of either side are read, of every part
SET enable_nestloop = off;
EXPLAIN (VERBOSE, COSTS OFF)
SELECT a.title, b.kind FROM parts a JOIN parts b ON near_duplicate(a.sig, b.sig, 0.8) AND a.id < b.id;
\set file :abs_srcdir '/sql/shared/plan.sql'
\i :file
SELECT plan($$SELECT a.title, b.id FROM united_some a JOIN united_some b ON near_duplicate(a.sig, b.sig, 0.8)$$, 'VERBOSE, COSTS OFF');

-- Partition by partition, if their key is in the condition
SET enable_partitionwise_join = on;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
EXPLAIN (COSTS OFF)
SELECT a.id, b.title FROM kinds a JOIN kinds b ON near_duplicate(a.sig, b.sig, 0.8) AND a.kind = b.kind AND a.id < b.id;
SELECT self, same FROM self_join('SELECT a.id, b.title FROM kinds a JOIN kinds b ON near_duplicate(a.sig, b.sig, 0.8) AND a.kind = b.kind AND a.id < b.id');
SELECT self, same FROM self_join('SELECT a.id, b.title FROM kinds a LEFT JOIN kinds b ON near_duplicate(a.sig, b.sig, 0.8) AND a.kind = b.kind AND a.id < b.id');
SELECT self, same FROM self_join('SELECT a.id FROM kinds a WHERE NOT EXISTS (SELECT FROM kinds b WHERE near_duplicate(a.sig, b.sig, 0.8) AND a.kind = b.kind AND a.id > b.id)');
SELECT self, same FROM self_join('SELECT a, b FROM parts a JOIN parts b ON near_duplicate(a.sig, b.sig, 0.8) AND a.id = b.id');
RESET enable_partitionwise_join;

-- Signatures are computed once
SELECT count(*) FROM parts a JOIN parts b ON near_duplicate(signed(a.body), signed(b.body), 0.8);
SELECT last_value = (SELECT count(*) FROM parts) AS once FROM signed_number;

-- By several processes, which divide partitions
SET max_parallel_workers_per_gather = 2;
SET min_parallel_table_scan_size = 0;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
EXPLAIN (COSTS OFF)
SELECT count(*) FROM parts a JOIN parts b ON near_duplicate(a.sig, b.sig, 0.8) AND a.id < b.id;
SELECT count(*) FROM parts a JOIN parts b ON near_duplicate(a.sig, b.sig, 0.8) AND a.id < b.id;
SELECT count(*) FROM docs a JOIN docs b ON near_duplicate(a.sig, b.sig, 0.8) AND a.id < b.id;
SELECT count(*), sum(length(b.title)) FROM united a JOIN united b ON near_duplicate(a.sig, b.sig, 0.8) AND a.kind < b.kind;
SET max_parallel_workers_per_gather = 0;
SELECT count(*), sum(length(b.title)) FROM united a JOIN united b ON near_duplicate(a.sig, b.sig, 0.8) AND a.kind < b.kind;

-- The later row of each pair is deleted
DELETE FROM parts b USING parts a WHERE near_duplicate(a.sig, b.sig, 0.8) AND a.id < b.id;
SELECT count(*), array_agg(id ORDER BY id) = (SELECT array_agg(id ORDER BY id) FROM docs b WHERE NOT EXISTS (SELECT FROM docs a WHERE near_duplicate(a.sig, b.sig, 0.8) AND a.id < b.id)) AS firsts FROM parts;

SET client_min_messages = warning;
DROP SCHEMA partitions CASCADE;
