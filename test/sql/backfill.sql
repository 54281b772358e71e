--
-- neardup_backfill()
--

CREATE SCHEMA backfill;
\set SHOW_CONTEXT never
SET search_path = backfill, public;
SET client_min_messages = warning;
CREATE TABLE docs (id int PRIMARY KEY, body text, sig signature) WITH (fillfactor = 80);
INSERT INTO docs SELECT i, CASE WHEN i % 10 > 0 THEN 'text number ' || i || ' with some words' END FROM generate_series(1, 3000) i;
CREATE FUNCTION wrong() RETURNS bigint LANGUAGE sql RETURN (SELECT count(*) FROM docs WHERE sig IS DISTINCT FROM shingles(body));
SELECT wrong();
CALL neardup_backfill('docs', 'sig', 'shingles(body) -- a comment', batch => 100);
SELECT wrong();
-- rows that are right stay where they are, others do not
CREATE TABLE before AS SELECT id, ctid AS place FROM docs;
UPDATE docs SET sig = shingles('stale') WHERE id % 100 = 0;
UPDATE docs SET sig = NULL WHERE id % 100 = 1;
SELECT wrong();
SET client_min_messages = notice;
ANALYZE docs;
CALL neardup_backfill('docs', 'sig', 'shingles(body)', batch => 100000);
SET client_min_messages = warning;
SELECT wrong(), count(*) FILTER (WHERE d.ctid = place) AS stayed FROM docs d JOIN before USING (id);
-- partitions, where the column is at another place
CREATE TABLE parts (id int, body text, sig signature) PARTITION BY RANGE (id);
CREATE TABLE parts_1 (sig signature, id int, body text);
ALTER TABLE parts ATTACH PARTITION parts_1 FOR VALUES FROM (0) TO (100);
CREATE TABLE parts_2 PARTITION OF parts FOR VALUES FROM (100) TO (200) PARTITION BY RANGE (id);
CREATE TABLE parts_2_1 PARTITION OF parts_2 DEFAULT;
INSERT INTO parts SELECT i, 'text number ' || i FROM generate_series(1, 199) i;
CALL neardup_backfill('parts', 'sig', 'shingles(body, k => 1)', 50);
SELECT count(*), count(*) FILTER (WHERE sig = shingles(body, k => 1)) AS filled FROM parts;

-- Errors
CALL neardup_backfill('docs', 'sig', 'shingles(title)');
CALL neardup_backfill('docs', 'sig', 'shingles(body)', 0);
CALL neardup_backfill('docs', NULL, 'shingles(body)');
BEGIN;
CALL neardup_backfill('docs', 'sig', 'shingles(body)');
ROLLBACK;
CREATE ROLE neardup_owner;
ALTER TABLE docs OWNER TO neardup_owner;
CALL neardup_backfill('docs', 'sig', 'shingles(body)');
RESET client_min_messages;

SET client_min_messages = warning;
DROP SCHEMA backfill CASCADE;
DROP ROLE neardup_owner;
