--
-- The guard as a trigger for each statement, which checks all new rows at once
--

-- Faulty triggers can be created here: errors are those of the first row
SET check_function_bodies = off;

-- From PostgreSQL 17 on, a function with a text body would not find the schema in an index
CREATE FUNCTION f(a int, b int) RETURNS signature LANGUAGE sql IMMUTABLE
RETURN signature_from(array(SELECT generate_series(a::bigint, b)));
CREATE TABLE docs (id int PRIMARY KEY, tenant int, sig signature, note text);

-- When it fires
CREATE FUNCTION try(definition text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    state text; message text; detail text; hint text;
BEGIN
    EXECUTE 'CREATE TRIGGER t ' || definition;
    INSERT INTO docs VALUES (1, 1, f(1, 20));
    UPDATE docs SET note = 'x' WHERE id = 1;
    DELETE FROM docs WHERE id = 1;
    DROP TRIGGER t ON docs;
    RETURN 'accepted';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT,
        detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
    RETURN concat_ws(E'\n', state || ': ' || message, NULLIF(detail, ''),
                     NULLIF(hint, ''));
END $$;
\pset format unaligned
\pset tuples_only on
SELECT format(E'%s\n%s', t, try(t)) FROM unnest(array[
    $$AFTER INSERT ON docs REFERENCING NEW TABLE AS n FOR EACH STATEMENT EXECUTE FUNCTION neardup_guard('sig', '0.8')$$,
    $$AFTER UPDATE ON docs REFERENCING OLD TABLE AS o NEW TABLE AS n FOR EACH STATEMENT EXECUTE FUNCTION neardup_guard('sig', '0.8', 'warn')$$,
    $$AFTER INSERT ON docs FOR EACH STATEMENT EXECUTE FUNCTION neardup_guard('sig', '0.8')$$,
    $$AFTER UPDATE ON docs REFERENCING NEW TABLE AS n FOR EACH STATEMENT EXECUTE FUNCTION neardup_guard('sig', '0.8')$$,
    $$BEFORE INSERT ON docs FOR EACH STATEMENT EXECUTE FUNCTION neardup_guard('sig', '0.8', 'warn')$$,
    $$AFTER DELETE ON docs REFERENCING OLD TABLE AS o FOR EACH STATEMENT EXECUTE FUNCTION neardup_guard('sig', '0.8')$$,
    $$AFTER INSERT ON docs REFERENCING NEW TABLE AS n FOR EACH STATEMENT EXECUTE FUNCTION neardup_guard('sig', '0.8', 'skip')$$,
    $$AFTER INSERT ON docs REFERENCING NEW TABLE AS n FOR EACH STATEMENT EXECUTE FUNCTION neardup_guard('sig', '0.8', 'tag', 'note')$$,
    $$AFTER INSERT ON docs REFERENCING NEW TABLE AS n FOR EACH STATEMENT EXECUTE FUNCTION neardup_guard('note', '0.8')$$,
    $$AFTER INSERT ON docs REFERENCING NEW TABLE AS n FOR EACH STATEMENT EXECUTE FUNCTION neardup_guard('none', '0.8')$$,
    $$AFTER INSERT ON docs REFERENCING NEW TABLE AS n FOR EACH STATEMENT EXECUTE FUNCTION neardup_guard('docs_pkey', '0.8')$$]) t;
\pset format aligned
\pset tuples_only off
CREATE TABLE parts (id int, sig signature) PARTITION BY RANGE (id);
CREATE TABLE part PARTITION OF parts DEFAULT;
CREATE TRIGGER t AFTER INSERT ON parts REFERENCING NEW TABLE AS n FOR EACH STATEMENT
    EXECUTE FUNCTION neardup_guard('sig', '0.8');
INSERT INTO parts VALUES (1, f(1, 20));
DROP TRIGGER t ON parts;
CREATE TRIGGER t AFTER INSERT ON part REFERENCING NEW TABLE AS n FOR EACH STATEMENT
    EXECUTE FUNCTION neardup_guard('sig', '0.8');
INSERT INTO part VALUES (1, f(1, 20));
DROP TABLE parts;

-- All of a statement's rows at once: without an index, then with one
CREATE TRIGGER new_rows AFTER INSERT ON docs REFERENCING NEW TABLE AS n
    FOR EACH STATEMENT EXECUTE FUNCTION neardup_guard('sig', '0.8');
CREATE TRIGGER changed_rows AFTER UPDATE ON docs REFERENCING OLD TABLE AS o NEW TABLE AS n
    FOR EACH STATEMENT EXECUTE FUNCTION neardup_guard('sig', '0.8');
CREATE PROCEDURE try_statements() LANGUAGE plpgsql AS $$
DECLARE
    statement text; message text; detail text;
BEGIN
    FOREACH statement IN ARRAY array[
        'INSERT INTO docs VALUES (1001, 1, f(501, 520))',
        'INSERT INTO docs VALUES (1001, 1, f(1, 20)), (1002, 1, f(1, 20))',
        'INSERT INTO docs VALUES (1003, 1, f(1, 20)), (1002, 1, f(701, 719)), (1001, 1, f(2, 21))',
        'INSERT INTO docs VALUES (1001, 1, f(1, 20)), (1002, 1, f(31, 50)), (1003, 1, NULL), (1004, 1, signature_from(array[]::bigint[]))',
        'INSERT INTO docs VALUES (1005, 1, f(2, 21))',
        'UPDATE docs SET note = ''x''',
        'UPDATE docs SET sig = f(1, 20) WHERE id = 5',
        'UPDATE docs SET sig = f(2, 21) WHERE id = 1001',
        'UPDATE docs SET sig = CASE id WHEN 1001 THEN f(31, 50) ELSE f(2, 21) END WHERE id IN (1001, 1002)',
        'INSERT INTO docs VALUES (1001, 1, f(2, 21)) ON CONFLICT (id) DO UPDATE SET sig = excluded.sig',
        'INSERT INTO docs VALUES (1001, 1, f(2, 21)) ON CONFLICT DO NOTHING',
        'INSERT INTO docs VALUES (1005, 1, f(2, 21)) ON CONFLICT DO NOTHING',
        'WITH d AS (DELETE FROM docs WHERE id = 1001) INSERT INTO docs VALUES (1005, 1, f(31, 50))',
        'DELETE FROM docs WHERE id > 1000'] LOOP
        BEGIN
            EXECUTE statement;
            RAISE INFO '%', statement;
        EXCEPTION WHEN exclusion_violation THEN
            GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL;
            RAISE INFO E'%\n%\n%', statement, message, detail;
        END;
    END LOOP;
END $$;
INSERT INTO docs SELECT i, 1, f(i * 100 + 1, i * 100 + 20) FROM generate_series(1, 200) i;
CALL try_statements();
CREATE INDEX docs_sig ON docs USING gin (sig) WITH (fastupdate = off);
ANALYZE docs;
CALL try_statements();
-- earlier statements of the transaction, subtransactions
BEGIN;
INSERT INTO docs VALUES (1001, 1, f(1, 20));
SAVEPOINT a;
INSERT INTO docs VALUES (1002, 1, f(1, 20));
ROLLBACK TO a;
INSERT INTO docs VALUES (1002, 1, f(31, 50));
DELETE FROM docs WHERE id = 1001;
SAVEPOINT b;
INSERT INTO docs VALUES (1003, 1, f(1, 20));
ROLLBACK TO b;
INSERT INTO docs VALUES (1004, 1, f(1, 20));
COMMIT;
-- older pairs of a table are not refused
ALTER TABLE docs DISABLE TRIGGER USER;
INSERT INTO docs SELECT id + 2000, 1, sig FROM docs WHERE id < 100;
ALTER TABLE docs ENABLE TRIGGER USER;
UPDATE docs SET note = 'y';
UPDATE docs SET note = 'z' WHERE id = 1;
-- warn
DROP TRIGGER new_rows ON docs;
CREATE TRIGGER new_rows AFTER INSERT ON docs REFERENCING NEW TABLE AS n
    FOR EACH STATEMENT EXECUTE FUNCTION neardup_guard('sig', '0.8', 'warn');
INSERT INTO docs SELECT id + 5000, 1, sig FROM docs WHERE id BETWEEN 110 AND 120;
INSERT INTO docs SELECT 10001, 1, sig FROM docs WHERE id = 150;
-- without a primary key
ALTER TABLE docs DROP CONSTRAINT docs_pkey;
INSERT INTO docs VALUES (1, 1, f(1000001, 1000020));
INSERT INTO docs VALUES (1, 1, f(2000001, 2000020)), (1, 1, f(2000001, 2000020));
-- in little memory
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
INSERT INTO docs SELECT id, 1, sig FROM docs WHERE id BETWEEN 161 AND 170;
INSERT INTO docs SELECT i, 1, f(i * 100 + 1, i * 100 + 20) FROM generate_series(200001, 202000) i
UNION ALL SELECT 300001, 1, f(1801, 1820);
UPDATE docs SET sig = f(id * 100 + 50, id * 100 + 70) WHERE id > 200000;
UPDATE docs SET sig = f(id * 100 + 60, id * 100 + CASE WHEN id % 2 = 0 THEN 80 ELSE 70 END) WHERE id > 200000;
UPDATE docs SET note = 'x', sig = CASE WHEN id = 200005 THEN f(1901, 1920) ELSE sig END WHERE id > 200000;
RESET work_mem;
RESET hash_mem_multiplier;
DROP TABLE docs;

-- Scopes with a collation and nulls, and a partial index
CREATE COLLATION blind (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE pages (id int PRIMARY KEY, tenant int, language text COLLATE blind, live boolean DEFAULT true,
                    a int, b int);
CREATE INDEX pages_live ON pages USING gin (f(a, b)) WITH (fastupdate = off) WHERE live;
CREATE TRIGGER new_rows AFTER INSERT ON pages REFERENCING NEW TABLE AS n FOR EACH STATEMENT
    EXECUTE FUNCTION neardup_guard('pages_live', '0.8', 'within', 'tenant', 'language');
CREATE TRIGGER changed_rows AFTER UPDATE ON pages REFERENCING OLD TABLE AS o NEW TABLE AS n FOR EACH STATEMENT
    EXECUTE FUNCTION neardup_guard('pages_live', '0.8', 'within', 'tenant', 'language');
INSERT INTO pages VALUES (1, 1, 'en', true, 1, 20), (2, 2, 'en', true, 1, 20), (3, 1, 'de', true, 1, 20),
    (4, NULL, 'en', true, 1, 20), (5, 1, NULL, true, 1, 20), (6, NULL, NULL, true, 1, 20), (7, 1, 'en', false, 1, 20);
INSERT INTO pages VALUES (8, 2, 'EN', true, 2, 21);
INSERT INTO pages VALUES (8, NULL, 'en', true, 2, 21);
INSERT INTO pages VALUES (8, NULL, NULL, true, 2, 21);
INSERT INTO pages VALUES (8, 3, 'En', true, 2, 21), (9, 3, 'en', true, 1, 20);
INSERT INTO pages VALUES (8, 3, 'En', true, 2, 21), (9, 3, 'en', false, 1, 20);
UPDATE pages SET live = true WHERE id = 7;
UPDATE pages SET tenant = 1 WHERE id = 2;
UPDATE pages SET tenant = 4 WHERE tenant = 1;
UPDATE pages SET live = false WHERE id = 8;
UPDATE pages SET live = true WHERE id = 9;
-- and with look-ups
INSERT INTO pages SELECT i, 5, 'en', true, i * 100, i * 100 + 20 FROM generate_series(11, 300) i;
ANALYZE pages;
INSERT INTO pages VALUES (8000, 2, 'EN', true, 2, 21);
INSERT INTO pages VALUES (8000, 7, 'EN', true, 2, 21);
UPDATE pages SET live = true WHERE id = 8;
UPDATE pages SET tenant = 2 WHERE id = 8000;
DROP TABLE pages;

-- Signatures of several specs, and sketches
CREATE TABLE texts (id int PRIMARY KEY, language text, sig signature);
CREATE TRIGGER new_rows AFTER INSERT ON texts REFERENCING NEW TABLE AS n FOR EACH STATEMENT
    EXECUTE FUNCTION neardup_guard('sig', '0.8', 'within', 'language');
CREATE FUNCTION made(language text) RETURNS signature LANGUAGE sql IMMUTABLE AS
$$ SELECT shingles('xaa xab xac xad xae xaf xag xah', language || ' stop') $$;
INSERT INTO texts VALUES (1, 'english', made('english')), (2, 'dutch', made('dutch'));
INSERT INTO texts VALUES (3, 'dutch', made('dutch'));
DROP TRIGGER new_rows ON texts;
CREATE TRIGGER new_rows AFTER INSERT ON texts REFERENCING NEW TABLE AS n FOR EACH STATEMENT
    EXECUTE FUNCTION neardup_guard('sig', '0.8');
INSERT INTO texts VALUES (3, 'german', made('german'));
TRUNCATE texts;
INSERT INTO texts SELECT i, 'en', minhash(string_agg('w' || i || j, ' ')) FROM generate_series(1, 9) i, generate_series(1, 30) j GROUP BY i;
INSERT INTO texts SELECT 10, 'en', sig FROM texts WHERE id = 4;
DROP TRIGGER new_rows ON texts;
CREATE TRIGGER new_rows AFTER INSERT ON texts REFERENCING NEW TABLE AS n FOR EACH STATEMENT
    EXECUTE FUNCTION neardup_guard('sig', '0.8', 'within', 'language');
INSERT INTO texts SELECT 10, 'EN', sig FROM texts WHERE id = 4;
INSERT INTO texts SELECT 11, language, sig FROM texts WHERE id = 4;
DROP TABLE texts;
DROP FUNCTION made;

-- Random statements, with and without an index: those are refused that leave a new
-- row near to another one, by a comparison of all pairs
CREATE TABLE tried (id int PRIMARY KEY, tenant int, sig signature);
CREATE FUNCTION offends(ids int[]) RETURNS boolean LANGUAGE sql AS $$
    SELECT EXISTS (SELECT FROM tried x, tried y WHERE x.id = ANY (ids) AND x.id <> y.id
        AND x.tenant IS NOT DISTINCT FROM y.tenant AND similarity(x.sig, y.sig) >= 0.8) $$;
CREATE FUNCTION run(guarded boolean, statement text, ids int[]) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE statement;
    IF NOT guarded AND offends(ids) THEN
        RAISE exclusion_violation;
    END IF;
    RETURN true;
EXCEPTION WHEN exclusion_violation THEN
    RETURN false;
END $$;
CREATE FUNCTION compare(statements int) RETURNS TABLE (accepted int, refused int, differ int) LANGUAGE plpgsql AS $$
DECLARE
    statement text; ids int[]; rows text; expected boolean; got boolean;
BEGIN
    accepted := 0; refused := 0; differ := 0;
    FOR s IN 1 .. statements LOOP
        SELECT array_agg(i), string_agg(format('(%s, nullif(%s, 3), f(%s, %s))', i, (random() * 3)::int,
            start * 3, start * 3 + size), ', ')
        INTO ids, rows
        FROM (SELECT CASE WHEN random() < 0.7 THEN s * 10 + k ELSE 10 + (random() * s * 10)::int END AS i,
                     (random() * 400)::int AS start, 15 + (random() * 3)::int AS size
              FROM generate_series(1, 1 + (random() * random() * 9)::int) k) AS x;
        statement := 'INSERT INTO tried VALUES ' || rows || ' ON CONFLICT (id) DO NOTHING';
        IF (SELECT count(*) = count(DISTINCT i) FROM unnest(ids) i) AND random() < 0.5 THEN
            statement := 'INSERT INTO tried VALUES ' || rows ||
                ' ON CONFLICT (id) DO UPDATE SET tenant = excluded.tenant, sig = excluded.sig';
        END IF;
        ALTER TABLE tried DISABLE TRIGGER USER;
        BEGIN
            expected := run(false, statement, ids);
            RAISE division_by_zero;
        EXCEPTION WHEN division_by_zero THEN
            ALTER TABLE tried ENABLE TRIGGER USER;
        END;
        got := run(true, statement, ids);
        accepted := accepted + got::int;
        refused := refused + (NOT got)::int;
        differ := differ + (got <> expected)::int;
    END LOOP;
    RETURN NEXT;
END $$;
CREATE TRIGGER new_rows AFTER INSERT ON tried REFERENCING NEW TABLE AS n FOR EACH STATEMENT
    EXECUTE FUNCTION neardup_guard('sig', '0.8', 'within', 'tenant');
CREATE TRIGGER changed_rows AFTER UPDATE ON tried REFERENCING OLD TABLE AS o NEW TABLE AS n FOR EACH STATEMENT
    EXECUTE FUNCTION neardup_guard('sig', '0.8', 'within', 'tenant');
SELECT setseed(0.5);
SELECT accepted > 40 AS accepted, refused > 40 AS refused, differ FROM compare(150);
CREATE INDEX ON tried USING gin (sig) WITH (fastupdate = off);
ANALYZE tried;
SELECT accepted > 40 AS accepted, refused > 40 AS refused, differ FROM compare(150);
DROP FUNCTION compare, run, offends;
DROP TABLE tried;
-- Transition tables of an UPDATE have the rows of tables that inherit
CREATE TABLE ancestor (id int PRIMARY KEY, sig signature);
CREATE TABLE heir () INHERITS (ancestor);
INSERT INTO heir VALUES (1, f(1, 20));
CREATE TRIGGER new_rows AFTER INSERT ON ancestor REFERENCING NEW TABLE AS n FOR EACH STATEMENT EXECUTE FUNCTION neardup_guard('sig', '0.8');
INSERT INTO ancestor VALUES (2, f(1, 20));
CREATE TRIGGER changed_rows AFTER UPDATE ON ancestor REFERENCING OLD TABLE AS o NEW TABLE AS n FOR EACH STATEMENT
    EXECUTE FUNCTION neardup_guard('sig', '0.8');
UPDATE ancestor SET sig = f(1, 20);
DROP TABLE ancestor CASCADE;
-- Rows of COPY ... FREEZE belong to the statement: joined, then looked up
CREATE TABLE frozen (id int PRIMARY KEY, sig signature);
CREATE TRIGGER new_rows AFTER INSERT ON frozen REFERENCING NEW TABLE AS n FOR EACH STATEMENT
    EXECUTE FUNCTION neardup_guard('sig', '0.8');
BEGIN;
TRUNCATE frozen;
COPY frozen FROM stdin WITH (FREEZE);
1	features{0000000000000001,0000000000000002}
2	features{0000000000000001,0000000000000002}
\.
ROLLBACK;
CREATE INDEX ON frozen USING gin (sig) WITH (fastupdate = off);
BEGIN;
TRUNCATE frozen;
INSERT INTO frozen SELECT i, f(i * 10, i * 10 + 5) FROM generate_series(1, 200) i;
COPY frozen FROM stdin WITH (FREEZE);
1000	features{0000000000000001,0000000000000002}
\.
SELECT count(*) FROM frozen;
COPY frozen FROM stdin WITH (FREEZE);
1001	features{0000000000000001,0000000000000002}
\.
ROLLBACK;
DROP TABLE frozen;

-- A row that another trigger changes or deletes before the check is not refused, neither
-- for its new version nor for rows near to its old one
CREATE FUNCTION leave() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.note = 'delete' THEN
        DELETE FROM busy WHERE id = NEW.id;
    ELSIF NEW.note = 'change' THEN
        UPDATE busy SET note = 'changed', sig = f(100001, 100020) WHERE id = NEW.id;
    ELSIF NEW.note = 'touch' THEN
        UPDATE busy SET note = 'touched' WHERE id = NEW.id;
    END IF;
    RETURN NULL;
END $$;
CREATE PROCEDURE try_busy() LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO busy VALUES (1001, 'change', f(100001, 100019));
    INSERT INTO busy VALUES (1002, 'delete', f(101, 120));
    BEGIN
        INSERT INTO busy VALUES (1003, 'stay', f(101, 120));
    EXCEPTION WHEN exclusion_violation THEN
        RAISE NOTICE 'refused';
    END;
    INSERT INTO busy VALUES (1004, 'touch', f(200001, 200020));
    BEGIN
        INSERT INTO busy VALUES (1005, 'touch', f(201, 220));
    EXCEPTION WHEN exclusion_violation THEN
        RAISE NOTICE 'refused, though touched';
    END;
    DELETE FROM busy WHERE id > 1000;
END $$;
CREATE TABLE busy (id int PRIMARY KEY, note text, sig signature);
CREATE TRIGGER leave AFTER INSERT ON busy FOR EACH ROW EXECUTE FUNCTION leave();
CREATE TRIGGER new_rows AFTER INSERT ON busy REFERENCING NEW TABLE AS n FOR EACH STATEMENT
    EXECUTE FUNCTION neardup_guard('sig', '0.8');
INSERT INTO busy SELECT i, 'stay', f(i * 100 + 1, i * 100 + 20) FROM generate_series(1, 200) i;
ANALYZE busy;
CALL try_busy();
CREATE INDEX ON busy USING gin (sig) WITH (fastupdate = off);
CALL try_busy();
ALTER TABLE busy DROP CONSTRAINT busy_pkey;
CALL try_busy();
DROP TABLE busy;
DROP PROCEDURE try_busy;
DROP FUNCTION leave;

-- Rows that a foreign key changes are in this statement's transition tables
CREATE TABLE tenants (id int PRIMARY KEY);
CREATE TABLE owned (id int PRIMARY KEY, tenant int REFERENCES tenants ON UPDATE CASCADE, sig signature);
INSERT INTO tenants VALUES (1), (2), (3);
INSERT INTO owned VALUES (1, 1, f(1, 20)), (2, NULL, f(1, 20)), (3, 2, f(1, 20)), (4, 3, f(101, 120)), (5, 2, f(101, 120));
CREATE TRIGGER guard AFTER UPDATE ON owned REFERENCING OLD TABLE AS o NEW TABLE AS n FOR EACH STATEMENT
    EXECUTE FUNCTION neardup_guard('sig', '0.8', 'within', 'tenant');
UPDATE tenants SET id = id + 10;
SELECT id, tenant FROM owned ORDER BY id;
ALTER TABLE owned DROP CONSTRAINT owned_tenant_fkey,
    ADD FOREIGN KEY (tenant) REFERENCES tenants ON UPDATE SET NULL;
UPDATE tenants SET id = id + 10 WHERE id > 11;
SELECT id, tenant FROM owned ORDER BY id;
-- also a row that the same statement inserted
WITH i AS (INSERT INTO owned VALUES (6, 13, f(1, 20))) UPDATE tenants SET id = 20 WHERE id = 13;
DROP TABLE owned, tenants;

-- More rows than fit into memory: rows with their old signature are not new
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
CREATE TABLE changed (id int PRIMARY KEY, n int, sig signature);
INSERT INTO changed SELECT i, 0, CASE WHEN i <= 2 THEN f(1, 20) ELSE f(i * 100, i * 100 + 5) END FROM generate_series(1, 6000) i;
CREATE TRIGGER guard AFTER UPDATE ON changed REFERENCING OLD TABLE AS o NEW TABLE AS n FOR EACH STATEMENT
    EXECUTE FUNCTION neardup_guard('sig', '0.8');
UPDATE changed SET n = n + 1, sig = CASE WHEN id <= 2 THEN sig ELSE f(id * 100, id * 100 + 6) END;
UPDATE changed SET n = n + 1, sig = f(id * 100, id * 100 + 7) WHERE id > 2;
UPDATE changed SET n = n + 1, sig = f(id * 100, id * 100 + 7 + id % 2) WHERE id > 1;
UPDATE changed SET n = n + 1, sig = f(id * 100 - CASE id WHEN 5000 THEN 100 ELSE 0 END, id * 100 + 8 - CASE id WHEN 5000 THEN 100 ELSE 0 END) WHERE id > 2;
SELECT n, count(*) FROM changed GROUP BY n ORDER BY n;
DROP TABLE changed;
RESET hash_mem_multiplier;
RESET work_mem;

-- An index with many rows of a different spec, which look-ups skip
CREATE TABLE spoken (id int PRIMARY KEY, lang text, sig signature);
CREATE INDEX ON spoken USING gin (sig) WITH (fastupdate = off);
INSERT INTO spoken SELECT i, CASE i % 2 WHEN 0 THEN 'german' ELSE 'english' END,
    shingles(format('%s words %s of %s a text %s', i, i * 7, i * 11, i * 13), CASE i % 2 WHEN 0 THEN 'german' ELSE 'english' END) FROM generate_series(1, 3000) i;
ANALYZE spoken;
CREATE TRIGGER guard AFTER INSERT ON spoken REFERENCING NEW TABLE AS n FOR EACH STATEMENT
    EXECUTE FUNCTION neardup_guard('sig', '0.8', 'within', 'lang');
INSERT INTO spoken SELECT i, 'english', shingles(format('%s words %s of %s a text %s', i, i * 7, i * 11, i * 13), 'english') FROM generate_series(4001, 4050) i;
INSERT INTO spoken SELECT i, 'english', shingles(format('%s words %s of %s a text %s', i, i * 7, i * 11, i * 13), 'english') FROM generate_series(5001, 5050) i
UNION ALL SELECT 5100, 'english', shingles('5050 words 35350 of 55550 a text 65650', 'english');
INSERT INTO spoken SELECT i, 'german', shingles(format('%s words %s of %s a text %s', i, i * 7, i * 11, i * 13), 'german') FROM generate_series(6001, 6050) i
UNION ALL SELECT 6100, 'german', shingles('2000 words 14000 of 22000 a text 26000', 'german');
SELECT count(*) FROM spoken;
DROP TABLE spoken;

-- Sketches of several specs, separated by scopes, also by look-ups
CREATE TABLE sketched (id int PRIMARY KEY, lang text, sig signature);
CREATE TRIGGER guard AFTER INSERT ON sketched REFERENCING NEW TABLE AS n FOR EACH STATEMENT
    EXECUTE FUNCTION neardup_guard('sig', '0.8', 'within', 'lang');
INSERT INTO sketched VALUES (1, 'a', minhash(f(1, 20), 64)), (2, 'b', minhash(f(1, 20), 32)), (3, 'c', f(1, 20)), (4, 'd', simhash(f(1, 20)));
INSERT INTO sketched VALUES (5, 'a', minhash(f(1, 20), 32)), (6, 'c', minhash(f(1, 20), 64)), (7, 'b', f(1, 20)) RETURNING id;
INSERT INTO sketched VALUES (8, 'b', minhash(f(1, 20), 32));
INSERT INTO sketched VALUES (8, 'd', simhash(f(1, 20)));
INSERT INTO sketched VALUES (8, 'c', f(1, 20));
INSERT INTO sketched VALUES (8, 'e', minhash(f(1, 20), 32)), (9, 'e', minhash(f(1, 20), 32));
SELECT count(*) FROM sketched;
DROP TRIGGER guard ON sketched;
CREATE TRIGGER guard AFTER INSERT ON sketched REFERENCING NEW TABLE AS n FOR EACH STATEMENT
    EXECUTE FUNCTION neardup_guard('sig', '0.8');
DELETE FROM sketched WHERE id > 1;
INSERT INTO sketched VALUES (2, 'b', minhash(f(1, 20), 32));
INSERT INTO sketched VALUES (3, 'b', minhash(f(101, 120), 64)), (4, 'b', f(101, 120));
INSERT INTO sketched VALUES (5, 'b', minhash(f(101, 120), 64)) RETURNING id;
INSERT INTO sketched VALUES (5, 'b', minhash(f(201, 220), 64)) RETURNING id;
DROP TABLE sketched;

-- Rows of one template have very many pairs: the search ends early
CREATE TABLE templates (id int PRIMARY KEY, sig signature);
CREATE TRIGGER guard AFTER INSERT ON templates REFERENCING NEW TABLE AS n FOR EACH STATEMENT
    EXECUTE FUNCTION neardup_guard('sig', '0.8', 'warn');
SELECT clock_timestamp() AS began \gset
SET client_min_messages = error;
INSERT INTO templates SELECT i, signature_from(array(SELECT generate_series(1::bigint, 60)) || ARRAY[1000::bigint + i, 100000 + i]) FROM generate_series(1, 8000) i;
SELECT clock_timestamp() - :'began'::timestamptz < '20s' AS soon;
RESET client_min_messages;
DROP TRIGGER guard ON templates;
TRUNCATE templates;
CREATE TRIGGER guard AFTER INSERT ON templates REFERENCING NEW TABLE AS n FOR EACH STATEMENT
    EXECUTE FUNCTION neardup_guard('sig', '0.8');
DO $$
BEGIN
    INSERT INTO templates SELECT i, signature_from(array(SELECT generate_series(1::bigint, 60)) || ARRAY[1000::bigint + i, 100000 + i]) FROM generate_series(1, 8000) i;
EXCEPTION WHEN exclusion_violation THEN
    RAISE INFO '%', regexp_replace(SQLERRM, '[0-9]+', 'n', 'g');
END $$;
SELECT count(*) FROM templates;
DROP TABLE templates;

-- Equal rows have very many pairs, of which few are examined
CREATE TABLE equals (id int, sig signature);
CREATE TRIGGER guard AFTER INSERT ON equals REFERENCING NEW TABLE AS n FOR EACH STATEMENT
    EXECUTE FUNCTION neardup_guard('sig', '0.8', 'warn');
SELECT clock_timestamp() AS began \gset
INSERT INTO equals SELECT i, f(1, 20) FROM generate_series(1, 30000) i;
INSERT INTO equals VALUES (30001, f(1, 20)), (30002, f(101, 120)), (30003, f(1, 20));
SELECT clock_timestamp() - :'began'::timestamptz < '40s' AS soon;
-- with a primary key: near to rows of the same statement and of an earlier one
ALTER TABLE equals ADD PRIMARY KEY (id);
TRUNCATE equals;
INSERT INTO equals SELECT i, f(1, 20 + i % 3) FROM generate_series(1, 30) i;
INSERT INTO equals VALUES (31, f(101, 120)), (32, f(2, 22)), (33, f(102, 120));
DROP TABLE equals;
-- Sketches that are equal in many scopes
CREATE TABLE equals (id int PRIMARY KEY, lang int, sig signature);
CREATE TRIGGER guard AFTER INSERT ON equals REFERENCING NEW TABLE AS n FOR EACH STATEMENT
    EXECUTE FUNCTION neardup_guard('sig', '0.8', 'within', 'lang');
SELECT clock_timestamp() AS began \gset
INSERT INTO equals SELECT i, i, minhash(f(1, 20)) FROM generate_series(1, 8000) i;
INSERT INTO equals VALUES (8001, 77, minhash(f(1, 20)));
SELECT clock_timestamp() - :'began'::timestamptz < '10s' AS soon;
DROP TABLE equals;

-- The last new rows are near, or the first
CREATE TABLE late (id int PRIMARY KEY, sig signature);
CREATE TRIGGER guard AFTER INSERT ON late REFERENCING NEW TABLE AS n FOR EACH STATEMENT EXECUTE FUNCTION neardup_guard('sig', '0.8');
INSERT INTO late SELECT i, f(i * 100, i * 100 + 5) FROM generate_series(1, 3000) i;
TRUNCATE late;
INSERT INTO late SELECT i, CASE WHEN i >= 2999 THEN f(1, 20) ELSE f(i * 100, i * 100 + 5) END FROM generate_series(1, 3000) i;
INSERT INTO late SELECT i, CASE WHEN i <= 2 THEN f(1, 20) ELSE f(i * 100, i * 100 + 5) END FROM generate_series(1, 3000) i;
SELECT count(*) FROM late;
DROP TABLE late;

DROP PROCEDURE try_statements;
DROP FUNCTION try, f;
DROP COLLATION blind;
