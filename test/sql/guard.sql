--
-- The guard: a constraint trigger that rejects near-duplicates
--

-- Faulty triggers can be created here: errors are those of the first row
SET check_function_bodies = off;

-- The set of the numbers from a to b: of two such sets of 20 that are shifted
-- by 2, 18 of 22 numbers are common, by 3, 17 of 23
CREATE FUNCTION f(a int, b int) RETURNS signature LANGUAGE sql IMMUTABLE AS
$$ SELECT signature_from(array(SELECT generate_series(a::bigint, b))) $$;
SELECT similarity(f(1, 20), f(3, 22)), similarity(f(1, 20), f(4, 23));

CREATE TABLE docs (
    id int PRIMARY KEY,
    a int, b int,
    sig signature GENERATED ALWAYS AS (f(a, b)) STORED,
    note text
);
CREATE INDEX docs_sig ON docs USING gin (sig) WITH (fastupdate = off);
CREATE CONSTRAINT TRIGGER no_near_duplicates AFTER INSERT OR UPDATE ON docs
    FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.8');

-- INSERT
INSERT INTO docs VALUES (1, 1, 20);
INSERT INTO docs VALUES (2, 3, 22);
INSERT INTO docs VALUES (2, 4, 23);
-- the same row twice in one statement
INSERT INTO docs VALUES (3, 101, 120), (4, 201, 220), (5, 201, 220);
INSERT INTO docs VALUES (3, 101, 120), (4, 201, 220);
-- neither aborted nor deleted rows count
BEGIN;
INSERT INTO docs VALUES (6, 301, 320);
ROLLBACK;
INSERT INTO docs VALUES (7, 301, 320);
DELETE FROM docs WHERE id = 7;
INSERT INTO docs VALUES (8, 301, 320);
BEGIN;
SAVEPOINT s;
INSERT INTO docs VALUES (9, 401, 420);
ROLLBACK TO s;
INSERT INTO docs VALUES (9, 402, 421);
DELETE FROM docs WHERE id = 9;
INSERT INTO docs VALUES (10, 401, 420);
COMMIT;
-- exactly at the threshold: 4 of 5 numbers
INSERT INTO docs VALUES (11, 501, 505);
INSERT INTO docs VALUES (12, 501, 504);
INSERT INTO docs VALUES (12, 501, 503);
-- no signature, and empty ones, are near to nothing
INSERT INTO docs VALUES (20, NULL, NULL), (21, 2, 1), (22, 2, 1);
INSERT INTO docs VALUES (23, NULL, NULL), (24, 2, 1);
SELECT id, a, b, note FROM docs ORDER BY id;

-- The error
CREATE FUNCTION fields(statement text, OUT state text, OUT schema text,
                       OUT tbl text, OUT col text, OUT con text)
LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE statement;
EXCEPTION WHEN exclusion_violation THEN
    GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, schema = SCHEMA_NAME,
        tbl = TABLE_NAME, col = COLUMN_NAME, con = CONSTRAINT_NAME;
END $$;
SELECT * FROM fields('INSERT INTO docs VALUES (5, 3, 22)');

-- UPDATE
UPDATE docs SET a = 3, b = 22 WHERE id = 3;
UPDATE docs SET a = 7, b = 26 WHERE id = 3;
-- a row is not compared with itself
UPDATE docs SET a = 8, b = 27 WHERE id = 3;
-- one row replaces another
BEGIN;
UPDATE docs SET a = 101, b = 120 WHERE id = 3;
UPDATE docs SET a = 7, b = 26 WHERE id = 4;
COMMIT;
-- ... also in one statement, as rows are checked at its end
UPDATE docs SET a = 108 - a, b = 146 - b WHERE id IN (3, 4);
SELECT id, a, b FROM docs WHERE id < 10 ORDER BY id;

-- An unchanged signature is not checked: here of two rows that were stored before
-- the guard
ALTER TABLE docs DISABLE TRIGGER no_near_duplicates;
INSERT INTO docs VALUES (30, 601, 620), (31, 601, 620);
ALTER TABLE docs ENABLE TRIGGER no_near_duplicates;
UPDATE docs SET note = 'x' WHERE id IN (30, 31);
UPDATE docs SET a = 601, b = 620 WHERE id = 31;
UPDATE docs SET a = 602 WHERE id = 31;
DELETE FROM docs WHERE id = 30;
UPDATE docs SET a = 602 WHERE id = 31;

-- COPY, ON CONFLICT, MERGE, INSERT ... SELECT
COPY docs (id, a, b) FROM stdin;
40	701	720
41	801	820
42	702	721
\.
COPY docs (id, a, b) FROM stdin;
40	701	720
41	801	820
\.
INSERT INTO docs VALUES (42, 702, 721) ON CONFLICT DO NOTHING;
INSERT INTO docs VALUES (40, 702, 721) ON CONFLICT DO NOTHING;
INSERT INTO docs VALUES (40, 1, 20)
    ON CONFLICT (id) DO UPDATE SET a = 802, b = 821;
INSERT INTO docs VALUES (40, 1, 20)
    ON CONFLICT (id) DO UPDATE SET a = 702, b = 721;
INSERT INTO docs SELECT id + 100, a + 1, b + 1 FROM docs WHERE id = 40;
INSERT INTO docs SELECT id + 100, a + 1000, b + 1000 FROM docs WHERE id = 40;
MERGE INTO docs USING (VALUES (40, 801, 820)) v (id, a, b) ON docs.id = v.id
    WHEN MATCHED THEN UPDATE SET a = v.a, b = v.b;
MERGE INTO docs USING (VALUES (43, 801, 821)) v (id, a, b) ON docs.id = v.id
    WHEN NOT MATCHED THEN INSERT (id, a, b) VALUES (v.id, v.a, v.b);
SELECT id, a, b FROM docs WHERE id >= 40 ORDER BY id;

-- Rows of a different spec are no near-duplicates
CREATE TABLE raw (id int, sig signature);
CREATE INDEX ON raw USING gin (sig) WITH (fastupdate = off);
CREATE CONSTRAINT TRIGGER raw_guard AFTER INSERT OR UPDATE ON raw
    FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.5');
INSERT INTO raw VALUES (1, signature_from('{1,2,3}'));
DROP INDEX raw_sig_idx;
CREATE INDEX ON raw USING gin (sig signature_gin_ops (threshold = 0.3))
    WITH (fastupdate = off);
INSERT INTO raw VALUES (1, signature_from('{1,2,3}'));
INSERT INTO raw VALUES (2, 'shingles[k=3]{0000000000000001,0000000000000002,0000000000000003}');
-- no primary key to be named
INSERT INTO raw VALUES (2, signature_from('{1,2,3,4,5,6}'));
INSERT INTO raw VALUES (2, signature_from('{1,2,3,4,5,6,7}'));

-- Candidates on enough pages to make the bitmap lossy:
-- sets of 40 that have 24 in common
CREATE TABLE wide (id int PRIMARY KEY, sig signature, filler text);
CREATE FUNCTION g(i int) RETURNS signature LANGUAGE sql IMMUTABLE AS
$$ SELECT signature_from(array(SELECT generate_series(1, 24)
                         UNION SELECT i * 100 + generate_series(1, 16))) $$;
INSERT INTO wide SELECT i, g(i), repeat('x', 1500) FROM generate_series(1, 6000) i;
CREATE INDEX ON wide USING gin (sig signature_gin_ops (threshold = 0.5))
    WITH (fastupdate = off);
CREATE CONSTRAINT TRIGGER wide_guard AFTER INSERT OR UPDATE ON wide
    FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.5');
UPDATE wide SET filler = 'moved' WHERE id % 10 = 0;
DELETE FROM wide WHERE id % 10 = 1;
SET work_mem = '64kB';
CREATE FUNCTION is_lossy(query text) RETURNS boolean LANGUAGE plpgsql
SET enable_seqscan = off AS $$
DECLARE
    line text;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) ' || query LOOP
        IF line ~ 'Heap Blocks:.* lossy=[1-9]' THEN
            RETURN true;
        END IF;
    END LOOP;
    RETURN false;
END $$;
SELECT is_lossy('SELECT FROM wide WHERE near_duplicate(sig, g(6001), 0.5)');
INSERT INTO wide VALUES (6001, g(6001));
INSERT INTO wide VALUES (6002, g(3990));
INSERT INTO wide VALUES (6002, g(3991));
RESET work_mem;

-- Sketches: near by their estimate, or by their own rule
CREATE TABLE sketched (id int PRIMARY KEY, m signature, s signature);
CREATE INDEX ON sketched USING gin (m, s) WITH (fastupdate = off);
CREATE CONSTRAINT TRIGGER guard_m AFTER INSERT OR UPDATE ON sketched
    FOR EACH ROW EXECUTE FUNCTION neardup_guard('m', '0.8');
CREATE CONSTRAINT TRIGGER guard_s AFTER INSERT OR UPDATE ON sketched
    FOR EACH ROW EXECUTE FUNCTION neardup_guard('s', '0.8');
INSERT INTO sketched VALUES (1, minhash(f(1, 400)), supershingles(f(1, 400)));
\set VERBOSITY terse
INSERT INTO sketched VALUES (2, minhash(f(11, 410)));
\set VERBOSITY default
INSERT INTO sketched VALUES (2, minhash(f(201, 600)));
INSERT INTO sketched VALUES (3, NULL, supershingles(f(1, 400)));
INSERT INTO sketched VALUES (3, NULL, supershingles(f(201, 600)));
INSERT INTO sketched VALUES (4, minhash(f(2, 1)), supershingles(f(2, 1))),
    (5, minhash(f(2, 1)), supershingles(f(2, 1)));
SELECT id FROM sketched ORDER BY id;
DROP TABLE sketched;

-- One large set among small ones
INSERT INTO docs VALUES (60, 100001, 150000);
INSERT INTO docs VALUES (61, 100011, 150010);
INSERT INTO docs VALUES (61, 120001, 170000);

-- Privileges: an inserting role needs no SELECT, and sees no key that it may not read
CREATE ROLE guard_inserter;
GRANT INSERT (id, a, b), UPDATE (note) ON docs TO guard_inserter;
SET ROLE guard_inserter;
INSERT INTO docs VALUES (70, 2, 21);
INSERT INTO docs VALUES (70, 2001, 2020);
RESET ROLE;
GRANT SELECT (id) ON docs TO guard_inserter;
SET ROLE guard_inserter;
INSERT INTO docs VALUES (71, 2, 21);
RESET ROLE;
ALTER TABLE docs ENABLE ROW LEVEL SECURITY;
CREATE POLICY all_in ON docs FOR INSERT TO guard_inserter WITH CHECK (true);
CREATE POLICY none_out ON docs FOR SELECT TO guard_inserter USING (id > 70);
SET ROLE guard_inserter;
SELECT count(*) FROM docs;
INSERT INTO docs VALUES (71, 2, 21);
RESET ROLE;

-- Replication and restore: like any trigger, it can be disabled
SET session_replication_role = replica;
INSERT INTO docs VALUES (80, 2, 21);
ALTER TABLE docs ENABLE ALWAYS TRIGGER no_near_duplicates;
INSERT INTO docs VALUES (81, 2, 21);
RESET session_replication_role;

-- A column that is generated from a system column
CREATE TABLE of_table (id int PRIMARY KEY, a int, n int,
    sig signature GENERATED ALWAYS AS (f(CASE WHEN tableoid = 1 THEN 0 ELSE a END, 20)) STORED);
CREATE INDEX ON of_table USING gin (sig) WITH (fastupdate = off);
CREATE TRIGGER skip BEFORE INSERT OR UPDATE ON of_table FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.8', 'skip');
INSERT INTO of_table VALUES (1, 1, 1), (2, 2, 2), (3, 10, 3);
UPDATE of_table SET n = n + 1 RETURNING id, n;
ALTER TABLE of_table DROP sig;
ALTER TABLE of_table ADD sig signature GENERATED ALWAYS AS (f(CASE WHEN tableoid = 0 THEN id * 100 ELSE 1 END, 120)) STORED;
TRUNCATE of_table;
CREATE INDEX ON of_table USING gin (sig) WITH (fastupdate = off);
INSERT INTO of_table VALUES (1), (2) RETURNING id;
DROP TABLE of_table;

-- With a WHEN a row may not have been checked before
CREATE TABLE live (id int PRIMARY KEY, live bool, sig signature);
CREATE INDEX ON live USING gin (sig) WITH (fastupdate = off);
CREATE TRIGGER guard AFTER INSERT OR UPDATE ON live FOR EACH ROW WHEN (NEW.live) EXECUTE FUNCTION neardup_guard('sig', '0.8');
INSERT INTO live VALUES (1, true, f(1, 20));
INSERT INTO live VALUES (2, false, f(1, 20));
UPDATE live SET live = true WHERE id = 2;
UPDATE live SET id = id + 10 WHERE id = 1;
UPDATE live SET live = NOT live WHERE id = 2;
UPDATE live SET live = live RETURNING id;
-- nor with a WHEN that reads the whole row, or OLD
DROP TRIGGER guard ON live;
TRUNCATE live;
INSERT INTO live VALUES (1, true, f(1, 20)), (2, false, f(1, 20));
CREATE TRIGGER guard AFTER UPDATE ON live FOR EACH ROW WHEN ((to_jsonb(NEW) ->> 'live')::bool) EXECUTE FUNCTION neardup_guard('sig', '0.8');
UPDATE live SET live = true WHERE id = 2;
DROP TRIGGER guard ON live;
CREATE TRIGGER guard AFTER UPDATE ON live FOR EACH ROW WHEN (NOT OLD.live) EXECUTE FUNCTION neardup_guard('sig', '0.8');
UPDATE live SET live = true WHERE id = 2;
UPDATE live SET id = id + 10 RETURNING id;
-- whatever other updates happened in between
DROP TRIGGER guard ON live;
TRUNCATE live;
INSERT INTO live VALUES (1, true, f(1, 20)), (2, true, f(101, 120));
CREATE TRIGGER guard AFTER UPDATE ON live FOR EACH ROW WHEN (NOT OLD.live) EXECUTE FUNCTION neardup_guard('sig', '0.8');
UPDATE live SET sig = f(1, 20) WHERE id = 2;
UPDATE live SET live = false WHERE id = 2;
UPDATE live SET id = id + 10 WHERE id = 2;
-- or a setting
DROP TRIGGER guard ON live;
CREATE TRIGGER guard AFTER UPDATE ON live FOR EACH ROW WHEN (current_setting('guard.bulk', true) IS DISTINCT FROM 'on') EXECUTE FUNCTION neardup_guard('sig', '0.8');
UPDATE live SET id = id + 10 WHERE id = 2;
-- or OLD as a whole
DROP TRIGGER guard ON live;
CREATE TRIGGER guard AFTER UPDATE ON live FOR EACH ROW WHEN (OLD.* IS DISTINCT FROM NEW.*) EXECUTE FUNCTION neardup_guard('sig', '0.8');
UPDATE live SET id = id + 10 RETURNING id;
DROP TABLE live;

-- An index on queries has no signatures
CREATE TABLE asked (id int PRIMARY KEY, sig signature, query signature_query GENERATED ALWAYS AS (signature_query(sig, 0.8)) STORED);
CREATE INDEX asked_expression ON asked USING neardup (signature_query(sig, 0.8));
CREATE INDEX asked_column ON asked USING neardup (query);
CREATE PROCEDURE try_asked(arguments text) LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('CREATE TRIGGER guard AFTER INSERT ON asked %s', arguments);
    INSERT INTO asked VALUES (1, f(1, 20));
EXCEPTION WHEN OTHERS THEN
    RAISE NOTICE '%', SQLERRM;
END $$;
SET client_min_messages = notice;
CALL try_asked($$FOR EACH ROW EXECUTE FUNCTION neardup_guard('asked_expression', '0.8')$$);
CALL try_asked($$FOR EACH ROW EXECUTE FUNCTION neardup_guard('asked_column', '0.8')$$);
CALL try_asked($$FOR EACH ROW EXECUTE FUNCTION neardup_guard('query', '0.8')$$);
CALL try_asked($$REFERENCING NEW TABLE AS n FOR EACH STATEMENT EXECUTE FUNCTION neardup_guard('asked_expression', '0.8')$$);
CALL try_asked($$REFERENCING NEW TABLE AS n FOR EACH STATEMENT EXECUTE FUNCTION neardup_guard('query', '0.8')$$);
DROP PROCEDURE try_asked;
DROP TABLE asked;

-- Settings of a session do not hide rows
CREATE TABLE fuzzy (id int PRIMARY KEY, part int, sig signature);
CREATE INDEX ON fuzzy USING gin (sig) WITH (fastupdate = off);
INSERT INTO fuzzy SELECT i, i, signature_from(ARRAY(SELECT i * 100 + v FROM generate_series(1, 20) v)::bigint[]) FROM generate_series(1, 3000) i;
INSERT INTO fuzzy SELECT i + 3000, i + 10000, shingles('the same text in each of the parts') FROM generate_series(1, 3000) i;
CREATE TRIGGER guard AFTER INSERT ON fuzzy FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.8', 'within', 'part');
CREATE PROCEDURE try_fuzzy() LANGUAGE plpgsql AS $$
DECLARE
    refused int := 0;
BEGIN
    FOR i IN 1..20 LOOP
        BEGIN
            INSERT INTO fuzzy VALUES (7000 + i, i * 100 + 10000, shingles('the same text in each of the parts'));
        EXCEPTION WHEN exclusion_violation THEN
            refused := refused + 1;
        END;
    END LOOP;
    RAISE NOTICE '% refused', refused;
END $$;
SET gin_fuzzy_search_limit = 1;
CALL try_fuzzy();
SHOW gin_fuzzy_search_limit;
RESET gin_fuzzy_search_limit;
DROP PROCEDURE try_fuzzy;
DROP TABLE fuzzy;
RESET client_min_messages;

DROP TABLE docs, raw, wide;
DROP FUNCTION fields, is_lossy, g, f;
DROP ROLE guard_inserter;
