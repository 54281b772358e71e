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
