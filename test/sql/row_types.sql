--
-- Row types that are altered between two calls, and under a cursor: minor releases of
-- November 2026 give each column of a row type a version
--
CREATE TYPE pair AS (a int, b text);
CREATE TABLE p (id pair, body text, sig signature GENERATED ALWAYS AS (shingles(body,1)) STORED);
INSERT INTO p SELECT ROW(i, 'x' || i)::pair, 'some words are here ' || i / 2 FROM generate_series(1, 6) i;
PREPARE g AS SELECT * FROM near_duplicate_groups(NULL::pair, 'SELECT id, sig FROM p', 0.9) ORDER BY 1;
EXECUTE g;
ALTER TYPE pair ADD ATTRIBUTE c int;
EXECUTE g;
UPDATE p SET id.c = 9;
EXECUTE g;
ALTER TYPE pair DROP ATTRIBUTE b;
EXECUTE g;
BEGIN;
DECLARE c CURSOR FOR SELECT * FROM near_duplicate_groups(NULL::pair, 'SELECT id, sig FROM p', 0.9) ORDER BY 1;
FETCH 2 FROM c;
ALTER TYPE pair ADD ATTRIBUTE d int;
FETCH 2 FROM c;
ROLLBACK;
DROP TABLE p;
DROP TYPE pair;

-- A guarded table that is altered between two executions of a statement
CREATE TABLE q (id int PRIMARY KEY, body text, sig signature GENERATED ALWAYS AS (shingles(body, 1)) STORED);
CREATE INDEX ON q USING gin (sig) WITH (fastupdate = off);
CREATE TRIGGER guard AFTER INSERT OR UPDATE ON q FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.8');
PREPARE ins AS INSERT INTO q (id, body) VALUES ($1, $2);
EXECUTE ins(1, 'one two three four');
ALTER TABLE q ADD COLUMN w text DEFAULT 'w', ADD COLUMN "first" int;
EXECUTE ins(2, 'one two three four');
EXECUTE ins(3, 'five six seven eight');
ALTER TABLE q DROP COLUMN w, ALTER COLUMN id TYPE bigint;
EXECUTE ins(4, 'five six seven eight');
SELECT id, body, "first" FROM q ORDER BY id;
DROP TABLE q;
DEALLOCATE ALL;

-- Rows of a guard, figures of evaluation and word sets have types of the extension, which
-- its owner may alter: the result is right, or an error
CREATE DATABASE neardup_row_types;
\set regression :DBNAME
\connect neardup_row_types
\set VERBOSITY terse
SET client_min_messages = warning;
CREATE EXTENSION neardup;
CREATE TABLE q (id int PRIMARY KEY, body text, sig signature GENERATED ALWAYS AS (shingles(body, 1)) STORED);
INSERT INTO q (id, body) SELECT i, 'one two three ' || i / 2 FROM generate_series(1, 5) i;
CREATE INDEX ON q USING gin (sig) WITH (fastupdate = off);
CREATE TRIGGER guard AFTER INSERT OR UPDATE ON q FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.9');
PREPARE violations AS SELECT row_key, near_key, similarity FROM neardup_guard_violations('q', 'guard') ORDER BY 1;
EXECUTE violations;
ALTER TABLE q ADD COLUMN w text DEFAULT 'w', ALTER COLUMN id TYPE bigint;
EXECUTE violations;
BEGIN;
DECLARE c CURSOR FOR SELECT row_key, near_key FROM neardup_guard_violations('q', 'guard') ORDER BY 1;
FETCH 1 FROM c;
ALTER TYPE neardup_guarded_row ADD ATTRIBUTE more text;
FETCH 1 FROM c;
ROLLBACK;
ALTER TYPE neardup_guarded_row ADD ATTRIBUTE more text;
EXECUTE violations;
ALTER TYPE neardup_guarded_row DROP ATTRIBUTE more;
EXECUTE violations;
SELECT count(*) FROM neardup_guard_violations('q', 'guard');
-- rows that are checked at the end of the transaction
CREATE CONSTRAINT TRIGGER later AFTER INSERT ON q DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.9');
DROP TRIGGER guard ON q;
BEGIN;
INSERT INTO q (id, body) VALUES (6, 'six seven eight nine');
ALTER TABLE q ADD COLUMN x text DEFAULT 'x';
ROLLBACK;
-- composite ids in rows of the join, in memory and in files
CREATE TYPE pair AS (a int, b text);
CREATE TABLE p (id pair, sig signature);
INSERT INTO p SELECT ROW(i, 'x' || i)::pair, shingles('some words here ' || i / 2, 1) FROM generate_series(1, 2000) i;
ANALYZE p;
SET enable_nestloop = off;
SET work_mem = '64kB';
PREPARE j AS SELECT count(*), sum((a.id).a), min((b.id).b), max((b.id).b) FROM p a JOIN p b ON near_duplicate(a.sig, b.sig, 0.9) WHERE (a.id).a < (b.id).a;
EXECUTE j;
ALTER TYPE pair ADD ATTRIBUTE c int;
UPDATE p SET id.c = 1 WHERE (id).a < 1000;
EXECUTE j;
ALTER TYPE pair DROP ATTRIBUTE c;
ALTER TYPE pair ADD ATTRIBUTE c text;
EXECUTE j;
BEGIN;
DECLARE c CURSOR FOR SELECT a.id, b.id FROM p a JOIN p b ON near_duplicate(a.sig, b.sig, 0.9) AND (a.id).a = 2 AND (b.id).a = 3;
ALTER TYPE pair ADD ATTRIBUTE d int;
FETCH c;
ROLLBACK;
-- figures
PREPARE figures AS SELECT pair_evaluation(i < 4, i < 3, i / 10.0) FROM generate_series(1, 5) i;
EXECUTE figures;
ALTER TYPE pair_figures ADD ATTRIBUTE more text;
EXECUTE figures;
ALTER TYPE pair_figures DROP ATTRIBUTE more;
EXECUTE figures;
ALTER TYPE cluster_figures ALTER ATTRIBUTE items TYPE text;
SELECT cluster_evaluation(i / 2, i / 3) FROM generate_series(1, 5) i;
ALTER TYPE cluster_figures ALTER ATTRIBUTE items TYPE bigint;
SELECT cluster_evaluation(i / 2, i / 3) FROM generate_series(1, 5) i;
-- word sets
CREATE TABLE sets AS SELECT word_set_agg('rose ' || repeat('a ', i % 7) || i, 'simple', 3) AS words FROM generate_series(1, 60) i;
SELECT descriptive_words('a rose', words) FROM sets;
ALTER TYPE word_set_round ADD ATTRIBUTE more text;
SELECT (word_set_agg('a b c')).analysis;
ALTER TYPE word_set_round DROP ATTRIBUTE more;
SELECT (word_set_agg('a b c')).analysis;
ALTER TYPE word_set ADD ATTRIBUTE more text;
SELECT (word_set_agg('a b c')).analysis;
SELECT descriptive_words('a rose', words) FROM sets;
ALTER TYPE word_set DROP ATTRIBUTE more;
SELECT descriptive_words('a rose', words) FROM sets;
ALTER TYPE word_set DROP ATTRIBUTE thresholds;
SELECT descriptive_words('a rose', words) FROM sets;
\connect :regression
DROP DATABASE neardup_row_types;
