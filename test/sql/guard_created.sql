--
-- A faulty guard is an error when it is created
--

\set SHOW_CONTEXT never
SET client_min_messages = warning;
CREATE FUNCTION f(a int, b int) RETURNS signature LANGUAGE sql IMMUTABLE
RETURN signature_from(array(SELECT generate_series(a::bigint, b)));
CREATE TABLE docs (id int PRIMARY KEY, tenant int, sig signature, twin int);
CREATE INDEX docs_sig ON docs USING gin (sig) WITH (fastupdate = off);
CREATE INDEX docs_two ON docs USING gin (sig) WITH (fastupdate = off) WHERE tenant = 2;
-- Create a trigger, and roll back.
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

-- A guard of each kind; rows are not read
INSERT INTO docs VALUES (1, 1, f(1, 20)), (2, 1, f(1, 20));
CALL try($$CREATE TRIGGER guard AFTER INSERT ON docs FOR EACH ROW %s('sig', '0.8', 'within', 'tenant')$$);
CALL try($$CREATE TRIGGER guard BEFORE INSERT ON docs FOR EACH ROW %s('docs_two', '0.8', 'skip')$$);
CALL try($$CREATE TRIGGER guard BEFORE INSERT ON docs FOR EACH ROW %s('sig', '0.8', 'tag', 'twin')$$);
CALL try($$CREATE TRIGGER guard AFTER INSERT ON docs REFERENCING NEW TABLE AS n FOR EACH STATEMENT %s('sig', '0.8')$$);

-- No check where bodies of functions are not checked, as in a restore
SET check_function_bodies = off;
CALL try($$CREATE TRIGGER guard AFTER INSERT ON docs FOR EACH ROW %s('nil', '0.8')$$);
RESET check_function_bodies;
-- or when the event trigger is off
ALTER EVENT TRIGGER neardup_guard_created DISABLE;
CALL try($$CREATE TRIGGER guard AFTER INSERT ON docs FOR EACH ROW %s('nil', '0.8')$$);
ALTER EVENT TRIGGER neardup_guard_created ENABLE;

-- The error is that of the first row
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
-- without the index
DROP INDEX docs_sig;
CALL try($$CREATE TRIGGER guard AFTER INSERT ON docs FOR EACH ROW %s('sig', '0.8')$$);
CALL try($$CREATE TRIGGER guard AFTER INSERT ON docs REFERENCING NEW TABLE AS n FOR EACH STATEMENT %s('sig', '0.8')$$);
-- tables that inherit, and a copy of a trigger on a child
CREATE TABLE parent (id int PRIMARY KEY, sig signature);
CREATE INDEX ON parent USING gin (sig) WITH (fastupdate = off);
CREATE TRIGGER guard AFTER INSERT ON parent FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.8');
INSERT INTO parent VALUES (1, f(1, 20));
CREATE TABLE child () INHERITS (parent);
CREATE INDEX ON child USING gin (sig) WITH (fastupdate = off);
INSERT INTO parent VALUES (2, f(101, 120));
SELECT neardup_guard_check('parent', 'guard');
SELECT * FROM neardup_guard_violations('parent', 'guard');
CREATE TRIGGER guard AFTER INSERT ON child FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.8');
SET check_function_bodies = off;
CREATE TRIGGER guard BEFORE INSERT ON child FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.8', 'skip');
RESET check_function_bodies;
INSERT INTO child VALUES (3, f(1, 20));
SELECT neardup_guard_check('child', 'guard');
ALTER TRIGGER guard ON child RENAME TO own_guard;
INSERT INTO child VALUES (3, f(1, 20));
CREATE TRIGGER another AFTER INSERT ON parent REFERENCING NEW TABLE AS n FOR EACH STATEMENT EXECUTE FUNCTION neardup_guard('sig', '0.8');
DROP TABLE child;
INSERT INTO parent VALUES (2, f(101, 120));
INSERT INTO parent VALUES (3, f(101, 120));
DROP TABLE parent;

-- Partitions: one error for all
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

-- CREATE TRIGGER computes no expressions of the table's owner
CREATE ROLE regress_guard_owner;
GRANT ALL ON SCHEMA regress_guard_created TO regress_guard_owner;
GRANT ALL ON SCHEMA public TO regress_guard_owner;
SET ROLE regress_guard_owner;
CREATE FUNCTION regress_guard_created.computed(a int, b int) RETURNS signature LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    RAISE WARNING 'computed';
    RETURN public.signature_from(ARRAY[a, b]);
END $$;
CREATE TABLE regress_guard_created.owned (id int PRIMARY KEY, a int, b int);
CREATE INDEX owned_made ON regress_guard_created.owned USING gin (regress_guard_created.computed(a, 3)) WITH (fastupdate = off);
RESET ROLE;
CREATE TRIGGER guard AFTER INSERT ON regress_guard_created.owned FOR EACH ROW EXECUTE FUNCTION neardup_guard('owned_made', '0.8');
SELECT neardup_guard_check('regress_guard_created.owned', 'guard');
SET ROLE regress_guard_owner;
SELECT neardup_guard_check('regress_guard_created.owned', 'guard');
RESET ROLE;
SELECT neardup_guard_check(1, 'guard');
SELECT * FROM neardup_guard_rows(1, 'guard');
SELECT * FROM neardup_guard_violations(1, 'guard');

-- A WHEN that a dump cannot restore, as PostgreSQL writes its operator without schema
CREATE INDEX docs_all ON docs USING gin (sig) WITH (fastupdate = off);
CREATE PROCEDURE warned(condition text) LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('CREATE TRIGGER guard AFTER UPDATE ON docs FOR EACH ROW WHEN (%s) EXECUTE FUNCTION neardup_guard(''sig'', ''0.8'')', condition);
    SET LOCAL search_path = pg_catalog;
    RAISE WARNING '%', regexp_replace(pg_get_triggerdef(oid), '.*(WHEN .*) EXECUTE.*', '\1') FROM pg_trigger WHERE tgname = 'guard' AND tgrelid = 'public.docs'::regclass;
    RESET search_path;
    DROP TRIGGER guard ON docs;
END $$;
CALL warned('OLD.sig IS DISTINCT FROM NEW.sig');
CALL warned('NULLIF(NEW.sig, OLD.sig) IS NOT NULL');
CALL warned('CASE NEW.sig WHEN OLD.sig THEN false ELSE true END');
CALL warned('(OLD.sig = NEW.sig) IS NOT TRUE');
CALL warned('CASE WHEN NEW.sig = OLD.sig THEN false ELSE true END');
CALL warned('OLD.tenant IS DISTINCT FROM NEW.tenant AND NULLIF(NEW.tenant, 1) > 0');
DROP PROCEDURE warned;

DROP PROCEDURE try;
DROP TABLE docs;
DROP FUNCTION f;
DROP SCHEMA regress_guard_created CASCADE;
REVOKE ALL ON SCHEMA public FROM regress_guard_owner;
DROP ROLE regress_guard_owner;
