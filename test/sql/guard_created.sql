--
-- What is told when a guard is created
--

\set SHOW_CONTEXT never
SET client_min_messages = warning;
CREATE FUNCTION f(a int, b int) RETURNS signature LANGUAGE sql IMMUTABLE
RETURN signature_from(array(SELECT generate_series(a::bigint, b)));
CREATE TABLE docs (id int PRIMARY KEY, tenant int, sig signature, twin int);
CREATE INDEX docs_sig ON docs USING gin (sig) WITH (fastupdate = off);
CREATE INDEX docs_two ON docs USING gin (sig) WITH (fastupdate = off) WHERE tenant = 2;
-- Creates a trigger, and takes it back.
CREATE PROCEDURE try(definition text) LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format(definition, 'EXECUTE FUNCTION neardup_guard');
    ROLLBACK;
END $$;

-- A table that has no partition yet
CREATE TABLE unparted (id int, tenant int, sig signature) PARTITION BY LIST (id);
CREATE INDEX unparted_made ON unparted USING gin (shingles(tenant::text)) WITH (fastupdate = off);
CALL try($$CREATE TRIGGER guard AFTER INSERT ON unparted FOR EACH ROW %s('sig', '0.8', 'within', 'tenant')$$);
CALL try($$CREATE TRIGGER guard AFTER INSERT ON unparted FOR EACH ROW %s('unparted_made', '0.8')$$);
CALL try($$CREATE TRIGGER guard AFTER INSERT ON unparted FOR EACH ROW %s('nil', '0.8')$$);
CALL try($$CREATE TRIGGER guard AFTER INSERT ON unparted FOR EACH ROW %s('tenant', '0.8')$$);
CALL try($$CREATE TRIGGER guard AFTER INSERT ON unparted FOR EACH ROW %s('sig', '0.8', 'within', 'nil')$$);
DROP TABLE unparted;

-- Empty, or without near rows
CALL try($$CREATE TRIGGER guard AFTER INSERT ON docs FOR EACH ROW %s('sig', '0.8')$$);
INSERT INTO docs VALUES (1, 1, f(1, 20)), (2, 1, f(11, 30)), (3, 2, f(1, 20)), (4, NULL, NULL), (5, NULL, NULL);
CALL try($$CREATE TRIGGER guard AFTER INSERT ON docs FOR EACH ROW %s('sig', '0.8', 'within', 'tenant')$$);
CALL try($$CREATE TRIGGER guard AFTER INSERT ON docs FOR EACH ROW %s('docs_two', '0.8')$$);
-- With near ones, each kind of guard
CALL try($$CREATE TRIGGER guard AFTER INSERT ON docs FOR EACH ROW %s('sig', '0.8')$$);
CALL try($$CREATE CONSTRAINT TRIGGER guard AFTER INSERT OR UPDATE ON docs DEFERRABLE FOR EACH ROW %s('sig', '0.3')$$);
CALL try($$CREATE TRIGGER "A guard" BEFORE INSERT ON docs FOR EACH ROW %s('sig', '0.8', 'skip')$$);
CALL try($$CREATE TRIGGER guard BEFORE INSERT ON docs FOR EACH ROW %s('sig', '0.8', 'tag', 'twin')$$);
CALL try($$CREATE TRIGGER guard BEFORE UPDATE ON docs FOR EACH ROW %s('sig', '0.8', 'warn')$$);
CALL try($$CREATE TRIGGER guard AFTER INSERT ON docs REFERENCING NEW TABLE AS n FOR EACH STATEMENT %s('sig', '0.8')$$);
INSERT INTO docs VALUES (6, 2, f(2, 21));
CALL try($$CREATE TRIGGER guard AFTER INSERT ON docs FOR EACH ROW %s('sig', '0.8', 'within', 'tenant')$$);
CALL try($$CREATE TRIGGER guard AFTER INSERT ON docs FOR EACH ROW %s('docs_two', '0.8')$$);
CREATE TRIGGER guard BEFORE INSERT ON docs FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '1', 'skip', 'within', 'tenant');
CREATE OR REPLACE TRIGGER guard AFTER INSERT ON docs FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.8', 'within', 'tenant');
DROP TRIGGER guard ON docs;
-- rows of the same transaction count
BEGIN;
DELETE FROM docs WHERE id <> 1;
INSERT INTO docs VALUES (7, 1, f(1, 20));
CREATE TRIGGER guard AFTER INSERT ON docs FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.8');
INSERT INTO docs VALUES (8, 1, f(101, 120));
ROLLBACK;

-- Nothing is looked at where bodies of functions are not checked, as in a restore
SET check_function_bodies = off;
CALL try($$CREATE TRIGGER guard AFTER INSERT ON docs FOR EACH ROW %s('sig', '0.8')$$);
CALL try($$CREATE TRIGGER guard AFTER INSERT ON docs FOR EACH ROW %s('nil', '0.8')$$);
RESET check_function_bodies;
-- or when the event trigger is off
ALTER EVENT TRIGGER neardup_guard_created DISABLE;
CALL try($$CREATE TRIGGER guard AFTER INSERT ON docs FOR EACH ROW %s('sig', '0.8')$$);
ALTER EVENT TRIGGER neardup_guard_created ENABLE;

-- Mistakes are told in the words of the first row's error
CALL try($$CREATE TRIGGER guard AFTER INSERT ON docs FOR EACH ROW %s()$$);
CALL try($$CREATE TRIGGER guard AFTER INSERT ON docs FOR EACH ROW %s('sig', '80')$$);
CALL try($$CREATE TRIGGER guard AFTER INSERT ON docs FOR EACH ROW %s('sig', '0.8', 'refuse')$$);
CALL try($$CREATE TRIGGER guard AFTER INSERT ON docs FOR EACH ROW %s('nil', '0.8')$$);
CALL try($$CREATE TRIGGER guard AFTER INSERT ON docs FOR EACH ROW %s('tenant', '0.8')$$);
CALL try($$CREATE TRIGGER guard AFTER INSERT ON docs FOR EACH ROW %s('docs_pkey', '0.8')$$);
CALL try($$CREATE TRIGGER guard AFTER INSERT ON docs FOR EACH ROW %s('sig', '0.8', 'within', 'nil')$$);
CALL try($$CREATE TRIGGER guard BEFORE INSERT ON docs FOR EACH ROW %s('sig', '0.8')$$);
CALL try($$CREATE TRIGGER guard BEFORE INSERT ON docs FOR EACH ROW %s('sig', '0.8', 'tag', 'sig')$$);
CALL try($$CREATE TRIGGER guard BEFORE INSERT ON docs FOR EACH ROW %s('sig', '0.8', 'tag', 'id')$$);
CALL try($$CREATE TRIGGER guard AFTER DELETE ON docs FOR EACH ROW %s('sig', '0.8')$$);
CALL try($$CREATE TRIGGER guard AFTER INSERT ON docs FOR EACH STATEMENT %s('sig', '0.8')$$);
CREATE VIEW docs_view AS SELECT * FROM docs;
CALL try($$CREATE TRIGGER guard INSTEAD OF INSERT ON docs_view FOR EACH ROW %s('sig', '0.8', 'skip')$$);
DROP VIEW docs_view;
CREATE FOREIGN DATA WRAPPER regress_guard_created;
CREATE SERVER regress_guard_created FOREIGN DATA WRAPPER regress_guard_created;
CREATE FOREIGN TABLE elsewhere (id int, sig signature) SERVER regress_guard_created;
CALL try($$CREATE TRIGGER guard AFTER INSERT ON elsewhere FOR EACH ROW %s('sig', '0.8')$$);
-- the index may be made later: the rows are looked at all the same
DROP INDEX docs_sig;
CALL try($$CREATE TRIGGER guard AFTER INSERT ON docs FOR EACH ROW %s('sig', '0.8')$$);
CALL try($$CREATE TRIGGER guard AFTER INSERT ON docs REFERENCING NEW TABLE AS n FOR EACH STATEMENT %s('sig', '0.8')$$);
-- signatures that cannot be compared
INSERT INTO docs VALUES (9, 1, shingles('some words that are others'));
CALL try($$CREATE TRIGGER guard AFTER INSERT ON docs REFERENCING NEW TABLE AS n FOR EACH STATEMENT %s('sig', '0.8')$$);

-- Partitions: once for all
CREATE TABLE parts (id int PRIMARY KEY, sig signature) PARTITION BY RANGE (id);
CREATE INDEX parts_sig ON parts USING gin (sig) WITH (fastupdate = off);
CALL try($$CREATE TRIGGER guard AFTER INSERT ON parts FOR EACH ROW %s('sig', '8')$$);
CALL try($$CREATE TRIGGER guard AFTER INSERT ON parts FOR EACH ROW %s('sig', '0.8')$$);
CREATE TABLE part1 PARTITION OF parts FOR VALUES FROM (0) TO (10);
CREATE TABLE part2 PARTITION OF parts FOR VALUES FROM (10) TO (20) PARTITION BY RANGE (id);
CREATE TABLE part21 PARTITION OF part2 FOR VALUES FROM (10) TO (15);
CALL try($$CREATE TRIGGER guard AFTER INSERT ON parts FOR EACH ROW %s('sig', '0.8')$$);
INSERT INTO parts VALUES (1, f(1, 20)), (2, f(101, 120)), (11, f(1, 20)), (12, f(102, 121));
CALL try($$CREATE CONSTRAINT TRIGGER guard AFTER INSERT ON parts FOR EACH ROW %s('parts_sig', '0.8')$$);
CALL try($$CREATE TRIGGER guard AFTER INSERT ON part2 FOR EACH ROW %s('sig', '0.8')$$);
CALL try($$CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON part1 FOR EACH ROW %s('sig', '0.3', 'skip')$$);
CALL try($$CREATE TRIGGER guard AFTER INSERT ON parts REFERENCING NEW TABLE AS n FOR EACH STATEMENT %s('sig', '0.8')$$);
CALL try($$CREATE TRIGGER guard AFTER INSERT ON parts FOR EACH ROW %s('nil', '0.8')$$);
ALTER TABLE parts DROP CONSTRAINT parts_pkey;
CREATE FOREIGN TABLE part22 PARTITION OF part2 FOR VALUES FROM (15) TO (20) SERVER regress_guard_created;
CALL try($$CREATE TRIGGER guard AFTER INSERT ON parts FOR EACH ROW %s('sig', '0.8')$$);
DROP TABLE parts;
DROP FOREIGN TABLE elsewhere;
DROP SERVER regress_guard_created;
DROP FOREIGN DATA WRAPPER regress_guard_created;

-- Other triggers, also of a function of that name
CREATE SCHEMA regress_guard_created;
CREATE FUNCTION regress_guard_created.neardup_guard() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
CREATE TRIGGER other AFTER INSERT ON docs FOR EACH ROW EXECUTE FUNCTION regress_guard_created.neardup_guard('sig', '8');
DROP TRIGGER other ON docs;
SELECT neardup_guard_created();

-- Rows are compared by the rights of the table's owner, and told to those only
-- who may read them
CREATE ROLE regress_guard_owner;
CREATE ROLE regress_guard_other;
GRANT ALL ON SCHEMA regress_guard_created TO regress_guard_owner, regress_guard_other;
GRANT ALL ON SCHEMA public TO regress_guard_owner;
SET ROLE regress_guard_owner;
CREATE TABLE regress_guard_created.owned (id int PRIMARY KEY, a int, b int, mine boolean);
INSERT INTO regress_guard_created.owned VALUES (1, 1, 20, true), (2, 1, 20, false), (3, 1, 20, true);
CREATE FUNCTION regress_guard_created.made(a int, b int) RETURNS signature LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    IF current_setting('my.trouble', true) <> '' THEN
        IF current_setting('my.trouble') = 'tell' THEN
            RAISE WARNING 'computed by %, search_path %', current_user, current_setting('search_path');
        ELSE
            RAISE EXCEPTION 'trouble' USING ERRCODE = current_setting('my.trouble');
        END IF;
    END IF;
    RETURN public.signature_from(ARRAY[a, b]);
END $$;
CREATE INDEX owned_made ON regress_guard_created.owned USING gin (regress_guard_created.made(a, b)) WITH (fastupdate = off);
GRANT TRIGGER ON regress_guard_created.owned TO regress_guard_other;
RESET ROLE;
CREATE PROCEDURE try_owned() LANGUAGE plpgsql AS $$
BEGIN
    CREATE TRIGGER guard AFTER INSERT ON regress_guard_created.owned FOR EACH ROW EXECUTE FUNCTION neardup_guard('owned_made', '0.8');
    ROLLBACK;
END $$;
DELETE FROM regress_guard_created.owned WHERE id = 3;
SET my.trouble = 'tell';
CALL try_owned();
SHOW search_path;
RESET my.trouble;
SELECT current_user = session_user AS still_me;
SET ROLE regress_guard_other;
CALL try_owned();
RESET ROLE;
GRANT SELECT (id) ON regress_guard_created.owned TO regress_guard_other;
SET ROLE regress_guard_other;
CALL try_owned();
RESET ROLE;
GRANT SELECT ON regress_guard_created.owned TO regress_guard_other;
SET ROLE regress_guard_other;
CALL try_owned();
RESET ROLE;
-- a WHEN is the creator's, and does not get the owner's rights
SET ROLE regress_guard_other;
CREATE FUNCTION pg_temp.rights(int) RETURNS bool LANGUAGE plpgsql AS $$
BEGIN
    RAISE WARNING 'WHEN is worked out by %', current_user;
    RETURN true;
END $$;
BEGIN;
CREATE TRIGGER guard AFTER INSERT ON regress_guard_created.owned FOR EACH ROW WHEN (pg_temp.rights(NEW.id)) EXECUTE FUNCTION neardup_guard('owned_made', '0.8');
ROLLBACK;
DROP FUNCTION pg_temp.rights;
RESET ROLE;
ALTER TABLE regress_guard_created.owned ENABLE ROW LEVEL SECURITY;
CREATE POLICY mine ON regress_guard_created.owned USING (mine);
SET ROLE regress_guard_other;
CALL try_owned();
SET ROLE regress_guard_owner;
CALL try_owned();
SET my.trouble = 'tell';
CALL try_owned();
RESET my.trouble;
ALTER TABLE regress_guard_created.owned FORCE ROW LEVEL SECURITY;
CALL try_owned();
RESET ROLE;
-- who may read rows that the owner may not is not told that there are none
CALL try_owned();
ALTER TABLE regress_guard_created.owned DISABLE ROW LEVEL SECURITY;

-- An error is no error of the command, but a cancellation is, a deadlock, damage
SET my.trouble = 'division_by_zero';
CALL try_owned();
SET my.trouble = 'query_canceled';
CALL try_owned();
SET my.trouble = 'deadlock_detected';
CALL try_owned();
SET my.trouble = 'index_corrupted';
CALL try_owned();
BEGIN;
SAVEPOINT s;
CREATE TRIGGER guard AFTER INSERT ON regress_guard_created.owned FOR EACH ROW EXECUTE FUNCTION neardup_guard('owned_made', '0.8');
ROLLBACK TO s;
SET LOCAL my.trouble = 'out_of_memory';
CREATE TRIGGER guard AFTER INSERT ON regress_guard_created.owned FOR EACH ROW EXECUTE FUNCTION neardup_guard('owned_made', '0.8');
SELECT count(*) FROM pg_trigger WHERE tgrelid = 'regress_guard_created.owned'::regclass;
COMMIT;
SELECT count(*) FROM pg_trigger WHERE tgrelid = 'regress_guard_created.owned'::regclass;

-- To make the guard works out constants, as the owner
SET ROLE regress_guard_owner;
CREATE FUNCTION regress_guard_created.constant(int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$
BEGIN
    RAISE WARNING 'worked out by %, in a restricted operation: %', current_user, current_setting('search_path');
    RETURN $1;
END $$;
CREATE TABLE regress_guard_created.folded (id int PRIMARY KEY, a bigint);
-- which search path CREATE INDEX has depends on the server's version
SET client_min_messages = error;
CREATE INDEX folded_made ON regress_guard_created.folded USING gin (public.signature_from(ARRAY[a, regress_guard_created.constant(3)])) WITH (fastupdate = off);
SET client_min_messages = warning;
RESET ROLE;
CREATE TRIGGER guard AFTER INSERT ON regress_guard_created.folded FOR EACH ROW EXECUTE FUNCTION neardup_guard('folded_made', '0.8');

DROP PROCEDURE try, try_owned;
DROP TABLE docs;
DROP FUNCTION f;
DROP SCHEMA regress_guard_created CASCADE;
REVOKE ALL ON SCHEMA public FROM regress_guard_owner;
DROP ROLE regress_guard_owner, regress_guard_other;
