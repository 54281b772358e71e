--
-- Rows that a guard would have refused
--

\set SHOW_CONTEXT never
-- From PostgreSQL 17 on, a function with a text body would not find the schema in an index
CREATE FUNCTION f(a int, b int) RETURNS signature LANGUAGE sql IMMUTABLE
RETURN signature_from(array(SELECT generate_series(a::bigint, b)));
CREATE TABLE docs (id int PRIMARY KEY, tenant int, sig signature);
CREATE INDEX docs_sig ON docs USING gin (sig) WITH (fastupdate = off);
INSERT INTO docs VALUES (1, 1, f(1, 20)), (3, 1, f(2, 21)), (2, 1, f(1, 20)), (4, 2, f(1, 20)), (5, 3, f(31, 50)),
    (6, NULL, f(1, 20)), (7, NULL, f(1, 20)), (8, 1, NULL), (9, 1, signature_from('{}')), (10, 1, f(4, 23));

-- A key column with the name of a result column
CREATE TABLE named ("row" int PRIMARY KEY, sig signature);
INSERT INTO named VALUES (3, f(1, 20)), (1, f(1, 20)), (2, f(1, 20));
CREATE INDEX ON named USING gin (sig) WITH (fastupdate = off);
SET client_min_messages = error;
CREATE TRIGGER guard AFTER INSERT ON named FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.8');
RESET client_min_messages;
SELECT row_key, near_key FROM neardup_guard_violations('named', 'guard');
DROP TABLE named;

-- In the transaction that creates the guard
BEGIN;
CREATE CONSTRAINT TRIGGER guard AFTER INSERT OR UPDATE ON docs
    FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.8');
SELECT neardup_guard_check('docs', 'guard');
COMMIT;
SELECT row_table, row_place, row_key, near_key, near_place, similarity
FROM neardup_guard_violations('docs', 'guard') ORDER BY row_key::int;
-- within a scope
CREATE CONSTRAINT TRIGGER scoped AFTER INSERT OR UPDATE ON docs
    FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.8', 'within', 'tenant');
SELECT row_key, near_key, similarity FROM neardup_guard_violations('docs', 'scoped') ORDER BY row_key::int;
-- delete them
DELETE FROM docs USING neardup_guard_violations('docs', 'scoped') v
WHERE docs.tableoid = v.row_table AND docs.ctid = v.row_place RETURNING id;
SELECT neardup_guard_check('docs', 'scoped');
SELECT neardup_guard_check('docs', 'guard');

-- WHEN: rows that are not checked are not listed
CREATE TABLE posts (id int PRIMARY KEY, state text, sig signature);
INSERT INTO posts VALUES (1, 'draft', f(1, 20)), (2, 'draft', f(1, 20)), (3, 'live', f(2, 21)), (4, 'live', f(31, 50)),
    (5, NULL, f(1, 20));
CREATE INDEX posts_sig ON posts USING gin (sig) WITH (fastupdate = off);
CREATE CONSTRAINT TRIGGER live AFTER INSERT OR UPDATE ON posts
    FOR EACH ROW WHEN (NEW.state = 'live' AND NEW.sig IS NOT NULL) EXECUTE FUNCTION neardup_guard('sig', '0.8');
SELECT row_key, near_key, similarity FROM neardup_guard_violations('posts', 'live') ORDER BY 1;
SELECT query FROM neardup_guard_rows('posts', 'live');
INSERT INTO posts VALUES (6, 'draft', f(1, 20));
INSERT INTO posts VALUES (7, 'live', f(1, 20));
DELETE FROM posts WHERE id = 3;
SELECT neardup_guard_check('posts', 'live');
CREATE CONSTRAINT TRIGGER changed AFTER UPDATE ON posts
    FOR EACH ROW WHEN (NEW.state IS DISTINCT FROM OLD.state) EXECUTE FUNCTION neardup_guard('sig', '0.8');
SELECT neardup_guard_check('posts', 'changed');
DROP TABLE posts;

-- Errors
SET check_function_bodies = off;
SELECT neardup_guard_check('docs', 'nobody');
SELECT neardup_guard_check('pg_class', 'nobody');
CREATE TRIGGER other BEFORE UPDATE ON docs FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger();
SELECT neardup_guard_check('docs', 'other');
CREATE TRIGGER wrong AFTER UPDATE ON docs FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '2');
SELECT neardup_guard_check('docs', 'wrong');
CREATE TRIGGER missing AFTER UPDATE ON docs FOR EACH ROW EXECUTE FUNCTION neardup_guard('nil', '0.8');
SELECT neardup_guard_check('docs', 'missing');
CREATE TRIGGER scopeless AFTER UPDATE ON docs FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.8', 'within', 'nil');
SELECT neardup_guard_check('docs', 'scopeless');
RESET check_function_bodies;
DROP TABLE docs;

-- An expression, a predicate, odd names, a key of two columns or none, triggers for statements
CREATE SCHEMA "odd""schema";
CREATE TABLE "odd""schema"."Select" ("from" int, "A b" text, a int, b int, PRIMARY KEY ("A b", "from"));
CREATE INDEX "Key" ON "odd""schema"."Select" USING gin (f(a, b)) WITH (fastupdate = off) WHERE "from" > 0;
INSERT INTO "odd""schema"."Select" VALUES (1, 'y', 1, 20), (1, 'x', 2, 21), (0, 'x', 1, 20), (2, 'x', 101, 120), (3, 'x', 101, 120);
CREATE TRIGGER "The guard" AFTER INSERT ON "odd""schema"."Select" REFERENCING NEW TABLE AS n
    FOR EACH STATEMENT EXECUTE FUNCTION neardup_guard('Key', '0.8');
SELECT neardup_guard_check('"odd""schema"."Select"', 'The guard');
SELECT row_key, near_key, similarity FROM neardup_guard_violations('"odd""schema"."Select"', 'The guard') ORDER BY 1;
ALTER TABLE "odd""schema"."Select" DROP CONSTRAINT "Select_pkey";
SELECT neardup_guard_check('"odd""schema"."Select"', 'The guard');
SELECT row_place, row_key, near_place, near_key FROM neardup_guard_violations('"odd""schema"."Select"', 'The guard') ORDER BY 1;
DROP SCHEMA "odd""schema" CASCADE;

-- Partitions
CREATE TABLE parts (id int PRIMARY KEY, sig signature) PARTITION BY HASH (id);
CREATE TABLE part0 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE part1 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 1);
CREATE INDEX parts_sig ON parts USING gin (sig) WITH (fastupdate = off);
INSERT INTO parts SELECT i, f(i % 4 * 100, i % 4 * 100 + 20) FROM generate_series(1, 9) i;
CREATE CONSTRAINT TRIGGER guard AFTER INSERT OR UPDATE ON parts
    FOR EACH ROW EXECUTE FUNCTION neardup_guard('parts_sig', '0.8');
SELECT row_table = (SELECT tableoid FROM parts WHERE id = row_key::int) AS there, row_key, near_key
FROM neardup_guard_violations('parts', 'guard') ORDER BY row_key;
SELECT neardup_guard_check('part0', 'guard');
DROP TABLE parts;

-- With the privileges of the caller
CREATE TABLE docs (id int PRIMARY KEY, sig signature, mine boolean);
INSERT INTO docs VALUES (1, f(1, 20), true), (2, f(1, 20), true), (3, f(1, 20), false);
CREATE TRIGGER guard AFTER INSERT ON docs REFERENCING NEW TABLE AS n
    FOR EACH STATEMENT EXECUTE FUNCTION neardup_guard('sig', '0.8');
CREATE ROLE regress_guard_violations;
CREATE TRIGGER condition AFTER INSERT ON docs REFERENCING NEW TABLE AS n
    FOR EACH STATEMENT EXECUTE FUNCTION neardup_guard('sig', '0.8', 'warn', 'if', 'new.mine');
SET ROLE regress_guard_violations;
SELECT neardup_guard_check('docs', 'guard');
SELECT neardup_guard_check('docs', 'condition');
RESET ROLE;
DROP TRIGGER condition ON docs;
GRANT SELECT ON docs TO regress_guard_violations;
ALTER TABLE docs ENABLE ROW LEVEL SECURITY;
CREATE POLICY mine ON docs USING (mine);
SET ROLE regress_guard_violations;
SELECT neardup_guard_check('docs', 'guard');
RESET ROLE;
-- Expressions of the owner are not computed with the privileges of a superuser
CREATE ROLE regress_guard_owner;
CREATE SCHEMA theirs AUTHORIZATION regress_guard_owner;
SET ROLE regress_guard_owner;
CREATE FUNCTION theirs.sig(body text) RETURNS public.signature LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    IF session_user <> current_user AND current_user <> 'regress_guard_owner' THEN
        RAISE NOTICE 'worked out as somebody else';
    END IF;
    RETURN public.shingles(body);
END $$;
CREATE TABLE theirs.notes (id int PRIMARY KEY, body text);
CREATE INDEX notes_sig ON theirs.notes USING gin ((theirs.sig(body)) public.signature_gin_ops) WITH (fastupdate = off);
INSERT INTO theirs.notes VALUES (1, 'one two three four'), (2, 'one two three four'), (3, 'five six seven eight');
SET check_function_bodies = off;
CREATE TRIGGER guard AFTER INSERT ON theirs.notes FOR EACH ROW EXECUTE FUNCTION public.neardup_guard('notes_sig', '0.8');
RESET check_function_bodies;
RESET ROLE;
CREATE ROLE regress_guard_super SUPERUSER;
SET ROLE regress_guard_super;
SELECT neardup_guard_check('theirs.notes', 'guard');
SELECT row_key, near_key, similarity FROM neardup_guard_violations('theirs.notes', 'guard');
SET ROLE regress_guard_owner;
SELECT row_key, near_key, similarity FROM neardup_guard_violations('theirs.notes', 'guard');
RESET ROLE;
DROP SCHEMA theirs CASCADE;
DROP ROLE regress_guard_owner, regress_guard_super;
-- Functions of other users are not called, and a view has no rows
CREATE SCHEMA trap;
CREATE FUNCTION trap.count_all(bigint) RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN RAISE NOTICE 'trapped'; RETURN 100; END $$;
CREATE AGGREGATE trap.count(*) (SFUNC = trap.count_all, STYPE = bigint, INITCOND = '0');
SET search_path = trap, public, pg_catalog;
SELECT public.neardup_guard_check('docs', 'guard') < 100 AS counted;
RESET search_path;
DROP SCHEMA trap CASCADE;
CREATE VIEW seen AS SELECT * FROM docs;
SET check_function_bodies = off;
CREATE TRIGGER guard INSTEAD OF INSERT ON seen FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.8');
RESET check_function_bodies;
SELECT neardup_guard_check('seen', 'guard');
SELECT * FROM neardup_guard_violations('seen', 'guard');
DROP VIEW seen;
-- A column of another type with the name of the guard's column
ALTER TABLE docs RENAME sig TO was;
ALTER TABLE docs ADD sig text;
SELECT neardup_guard_check('docs', 'guard');
SELECT * FROM neardup_guard_violations('docs', 'guard');
DROP TABLE docs;
DROP ROLE regress_guard_violations;
DROP FUNCTION f;
