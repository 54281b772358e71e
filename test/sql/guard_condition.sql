--
-- A guard with a condition on both rows
--

\set SHOW_CONTEXT never
CREATE FUNCTION f(a int, b int) RETURNS signature LANGUAGE sql IMMUTABLE
RETURN signature_from(array(SELECT generate_series(a::bigint, b)));
CREATE TABLE posts (id int PRIMARY KEY, author text, at timestamp, accepted boolean DEFAULT false, sig signature, twin int,
    kind text GENERATED ALWAYS AS (lower(author)) STORED);
CREATE INDEX posts_sig ON posts USING gin (sig) WITH (fastupdate = off);

-- A window of time, the same author: rows
CREATE TRIGGER guard AFTER INSERT OR UPDATE ON posts FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.8', 'reject', 'if',
    'abs(extract(epoch FROM new.at - old.at)) < 600 AND new.author = old.author AND NOT new.accepted AND NOT old.accepted');
INSERT INTO posts VALUES (1, 'ann', '2026-01-01 10:00', false, f(1, 20));
INSERT INTO posts VALUES (2, 'ann', '2026-01-01 10:05', false, f(2, 21));
INSERT INTO posts VALUES (2, 'bob', '2026-01-01 10:05', false, f(2, 21));
INSERT INTO posts VALUES (3, 'ann', '2026-01-01 10:10', false, f(1, 20));
INSERT INTO posts VALUES (4, 'ann', '2026-01-01 10:11', true, f(1, 20));
INSERT INTO posts VALUES (5, NULL, '2026-01-01 10:11', false, f(1, 20));
-- an UPDATE of a column that the condition names is checked
UPDATE posts SET author = 'ann' WHERE id = 2;
UPDATE posts SET accepted = false WHERE id = 4;
UPDATE posts SET at = at - interval '9 minutes' WHERE id = 3;
UPDATE posts SET twin = 1;
-- two rows of one statement
INSERT INTO posts SELECT i, 'eve', '2026-01-01 12:00'::timestamp + i * interval '10 minutes', false, f(1, 20) FROM generate_series(11, 13) i;
INSERT INTO posts SELECT i, 'eve', '2026-01-02 12:00'::timestamp + i * interval '9 minutes', false, f(1, 20) FROM generate_series(21, 23) i;
SELECT neardup_guard_check('posts', 'guard');
ALTER TABLE posts DISABLE TRIGGER guard;
INSERT INTO posts VALUES (6, 'ann', '2026-01-01 10:04', false, f(3, 22)), (7, 'ann', '2026-01-01 10:06', false, f(2, 21)), (8, 'eve', '2026-01-01 14:10:01', false, f(1, 20));
SELECT neardup_guard_check('posts', 'guard');
SELECT row_key, near_key, similarity FROM neardup_guard_violations('posts', 'guard');
BEGIN;
DELETE FROM posts USING neardup_guard_violations('posts', 'guard') v WHERE posts.tableoid = v.row_table AND posts.ctid = v.row_place RETURNING id;
SELECT neardup_guard_check('posts', 'guard');
ROLLBACK;
SELECT query FROM neardup_guard_rows('posts', 'guard');
DROP TRIGGER guard ON posts;

-- With a scope; the key of the new row in the condition
CREATE TRIGGER guard AFTER INSERT ON posts FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.8', 'if', 'new.id - old.id > 90', 'within', 'author');
INSERT INTO posts (id, author, sig) VALUES (91, 'ann', f(1, 20));
INSERT INTO posts (id, author, sig) VALUES (92, 'ann', f(1, 20));
INSERT INTO posts (id, author, sig) VALUES (92, 'zoe', f(1, 20));
SELECT row_key, near_key FROM neardup_guard_violations('posts', 'guard');
DROP TRIGGER guard ON posts;

-- Modes skip, tag and warn; generated columns, which have no value before the row is stored
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON posts FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.8', 'skip', 'if', 'new.kind = old.kind');
INSERT INTO posts (id, author, sig) VALUES (101, 'BOB', f(1, 20)), (102, 'Carl', f(1, 20)), (103, 'cARL', f(1, 20)) RETURNING id;
SELECT row_key, near_key FROM neardup_guard_skipped();
UPDATE posts SET author = 'BOB' WHERE id = 102 RETURNING id;
DROP TRIGGER guard ON posts;
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON posts FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.8', 'tag', 'twin', 'if', 'new.kind = old.kind');
INSERT INTO posts (id, author, sig) VALUES (104, 'BOB', f(1, 20)), (105, 'Dave', f(1, 20)), (106, 'Dave', f(1, 20)) RETURNING id, twin;
UPDATE posts SET author = 'dAVE' WHERE id = 104 RETURNING id, twin;
DROP TRIGGER guard ON posts;
CREATE TRIGGER guard BEFORE INSERT ON posts FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.8', 'warn', 'if', 'new.kind = old.kind');
INSERT INTO posts (id, author, sig) VALUES (107, 'DAVE', f(1, 20)), (108, 'Erin', f(1, 20));
DROP TRIGGER guard ON posts;

-- Statements: few rows, which are looked up, and many, which are joined; the row itself
-- does not satisfy the condition
CREATE TABLE items (id int PRIMARY KEY, doi int, sig signature);
INSERT INTO items SELECT i, i, f(i * 100, i * 100 + 20) FROM generate_series(1, 500) i;
CREATE INDEX items_sig ON items USING gin (sig) WITH (fastupdate = off);
ANALYZE items;
CREATE TRIGGER guard AFTER INSERT ON items REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION neardup_guard('sig', '0.8', 'if', 'new.doi <> old.doi');
CREATE TRIGGER guard_updates AFTER UPDATE ON items REFERENCING OLD TABLE AS before NEW TABLE AS after FOR EACH STATEMENT EXECUTE FUNCTION neardup_guard('sig', '0.8', 'if', 'new.doi <> old.doi');
INSERT INTO items VALUES (1001, 1, f(100, 120)), (1002, 2, f(201, 221));
INSERT INTO items VALUES (1003, 3, f(300, 320)), (1004, 3, f(400, 420));
INSERT INTO items SELECT i + 1003, i, f(i * 100, i * 100 + 20) FROM generate_series(3, 400) i;
INSERT INTO items SELECT i + 2000, i + (i = 399)::int, f(i * 100, i * 100 + 20) FROM generate_series(1, 400) i;
UPDATE items SET doi = 7 WHERE id = 1001;
UPDATE items SET doi = doi + 1000;
UPDATE items SET doi = doi + 1 WHERE id > 1000 AND id < 1900;
SELECT neardup_guard_check('items', 'guard');
-- without a primary key, and with a condition that distinguishes equal signatures
ALTER TABLE items DROP CONSTRAINT items_pkey;
BEGIN;
INSERT INTO items VALUES (3001, 1, f(90001, 90020));
INSERT INTO items VALUES (3002, 1, f(90001, 90020));
INSERT INTO items VALUES (3003, 2, f(90001, 90020));
ROLLBACK;
DROP TABLE items;

-- Against an oracle that compares each new row with all accepted ones: rows, statements
-- with look-ups and with joins, violations of a table filled without the guard
SELECT setseed(0.58);
CREATE TABLE drawn AS
SELECT i AS id, (random() * 3)::int AS author, (random() * 50)::int AS minute, nullif((random() * 4)::int, 4) AS tenant,
       f(a * 10 + b, a * 10 + b + 19) AS sig
FROM (SELECT i, (random() * 6)::int AS a, (random() * 3)::int AS b FROM generate_series(1, 400) i) d;
CREATE TABLE oracle AS TABLE drawn WITH NO DATA;
DO $$
DECLARE
  new drawn;
BEGIN
  FOR new IN SELECT * FROM drawn ORDER BY id LOOP
    INSERT INTO oracle SELECT new.* WHERE NOT EXISTS (SELECT FROM oracle old WHERE near_duplicate(old.sig, new.sig, 0.8)
      AND abs(new.minute - old.minute) < 10 AND new.author = old.author AND new.tenant IS NOT DISTINCT FROM old.tenant);
  END LOOP;
END $$;
SELECT count(*) FROM oracle;
CREATE TABLE tried (id int PRIMARY KEY, author int, minute int, tenant int, sig signature);
CREATE PROCEDURE try_rows(index text, trigger text) LANGUAGE plpgsql AS $$
DECLARE
  row drawn;
BEGIN
  TRUNCATE tried;
  EXECUTE index;
  EXECUTE format('CREATE TRIGGER guard AFTER INSERT ON tried %s EXECUTE FUNCTION neardup_guard(''sig'', ''0.8'', ''if'', ''abs(new.minute - old.minute) < 10 AND new.author = old.author'', ''within'', ''tenant'')', trigger);
  FOR row IN SELECT * FROM drawn ORDER BY id LOOP
    BEGIN
      INSERT INTO tried SELECT row.*;
    EXCEPTION WHEN exclusion_violation THEN NULL;
    END;
  END LOOP;
  RAISE NOTICE 'differences: %, violations: %', (SELECT count(*) FROM (SELECT id FROM oracle) o FULL JOIN (SELECT id FROM tried) t USING (id) WHERE o.id IS NULL OR t.id IS NULL),
    neardup_guard_check('tried', 'guard');
  DROP TRIGGER guard ON tried;
END $$;
CALL try_rows('', 'REFERENCING NEW TABLE AS added FOR EACH STATEMENT');
CALL try_rows('CREATE INDEX tried_sig ON tried USING neardup (sig)', 'REFERENCING NEW TABLE AS added FOR EACH STATEMENT');
CALL try_rows('', 'FOR EACH ROW');
CREATE TRIGGER guard AFTER INSERT ON tried FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.8', 'if', 'abs(new.minute - old.minute) < 10 AND new.author = old.author', 'within', 'tenant');
ALTER TABLE tried DISABLE TRIGGER guard;
INSERT INTO tried SELECT * FROM drawn ON CONFLICT DO NOTHING;
SELECT count(*), count(*) FILTER (WHERE o.id IS NOT NULL) AS wrong
FROM neardup_guard_violations('tried', 'guard') v LEFT JOIN oracle o ON o.id = v.row_key::int;
SELECT count(*) FROM drawn WHERE id NOT IN (SELECT id FROM oracle);
DROP PROCEDURE try_rows;
DROP TABLE drawn, oracle, tried;

-- Partitions with columns in another order
CREATE TABLE parts (id int, tenant int, label text, sig signature, PRIMARY KEY (id, tenant)) PARTITION BY LIST (tenant);
CREATE TABLE part1 PARTITION OF parts FOR VALUES IN (1);
CREATE TABLE part2 (sig signature, gone int, label text, tenant int NOT NULL, id int NOT NULL);
ALTER TABLE part2 DROP gone;
ALTER TABLE parts ATTACH PARTITION part2 FOR VALUES IN (2);
CREATE INDEX ON parts USING gin (sig) WITH (fastupdate = off);
CREATE CONSTRAINT TRIGGER guard AFTER INSERT OR UPDATE ON parts FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.8', 'if', 'new.label = old.label AND new.id > old.id');
INSERT INTO parts VALUES (1, 1, 'x', f(1, 20)), (2, 2, 'y', f(1, 20));
INSERT INTO parts VALUES (3, 2, 'x', f(1, 20));
INSERT INTO parts VALUES (3, 1, 'y', f(1, 20));
INSERT INTO parts VALUES (0, 2, 'x', f(1, 20));
UPDATE parts SET tenant = 1, id = 4, label = 'x' WHERE id = 2;
SELECT neardup_guard_check('parts', 'guard');
DROP TABLE parts;

-- Errors when the trigger is created, and what they name
CREATE PROCEDURE try(condition text) LANGUAGE plpgsql AS $$
DECLARE
  message text;
  detail text;
  hint text;
BEGIN
  EXECUTE format('CREATE TRIGGER guard AFTER INSERT ON posts FOR EACH ROW EXECUTE FUNCTION neardup_guard(''sig'', ''0.8'', ''if'', %L)', condition);
  DROP TRIGGER guard ON posts;
  RAISE NOTICE '%: accepted', condition;
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
  RAISE NOTICE '%: % % % %', condition, SQLSTATE, message, detail, hint;
END $$;
CALL try('new.att > old.at');
CALL try('at > old.at');
CALL try('posts.at > old.at');
CALL try('newer.at > old.at');
CALL try('new.at >');
CALL try('');
CALL try('new.at');
CALL try('new.at > old.at, true');
CALL try('true FROM posts');
CALL try('true; DROP TABLE posts');
CALL try('new.at > (SELECT max(at) FROM posts)');
CALL try('max(new.at) > old.at');
CALL try('generate_series(1, new.id) > 0');
CALL try('random() > 0.5');
CALL try('new.id > $1');
CALL try('new.ctid <> old.ctid');
CALL try('new IS NOT NULL');
CALL try('new.sig = old.sig');
CALL try('new.sig OPERATOR(public.=) old.sig');
CALL try('similarity(new.sig, old.sig) < 1');
CALL try('public.similarity(new.sig, old.sig) < 1');
CALL try('new.id = old.author');
CALL try('new.at > now() -- a comment');
CALL try('true');
-- names that mean something else in the search path
CREATE FUNCTION is_less(text, text) RETURNS boolean LANGUAGE sql IMMUTABLE RETURN false;
CREATE OPERATOR public.< (LEFTARG = text, RIGHTARG = text, FUNCTION = is_less);
SET search_path = public, pg_catalog;
CALL try('new.author < old.author');
CALL try('new.author OPERATOR(pg_catalog.<) old.author');
RESET search_path;
DROP OPERATOR public.< (text, text);
DROP FUNCTION is_less;
-- and where the words stand
\set VERBOSITY terse
CREATE TRIGGER guard AFTER INSERT ON posts FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.8', 'if');
CREATE TRIGGER guard AFTER INSERT ON posts FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.8', 'if', 'true', 'author');
CREATE TRIGGER guard AFTER INSERT ON posts FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.8', 'within', 'author', 'if', 'true');
CREATE TRIGGER guard BEFORE INSERT ON posts FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.8', 'tag', 'twin', 'if', 'new.twin = old.twin');
\set VERBOSITY default

-- The condition is parsed with the names of the moment, as an index is looked up
CREATE TRIGGER guard AFTER INSERT ON posts FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.8', 'if', 'new.author = old.author');
ALTER TABLE posts RENAME author TO writer;
INSERT INTO posts (id, writer, sig) VALUES (201, 'ann', f(1, 20));
SELECT neardup_guard_check('posts', 'guard');
ALTER TABLE posts RENAME writer TO author;
INSERT INTO posts (id, author, sig) VALUES (201, 'ann', f(1, 20));
-- whatever the search path of the inserter is
CREATE FUNCTION differs(text, text) RETURNS boolean LANGUAGE sql IMMUTABLE RETURN false;
CREATE OPERATOR public.= (LEFTARG = text, RIGHTARG = text, FUNCTION = differs);
SET search_path = public, pg_catalog;
INSERT INTO posts (id, author, sig) VALUES (201, 'ann', f(1, 20));
RESET search_path;
DROP OPERATOR public.= (text, text);
-- with the inserter's rights, as a CHECK
CREATE ROLE regress_guard_inserter;
GRANT INSERT ON posts TO regress_guard_inserter;
CREATE FUNCTION same(text, text) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
  RAISE NOTICE 'compared as %', current_user;
  RETURN $1 OPERATOR(pg_catalog.=) $2;
END $$;
DROP TRIGGER guard ON posts;
CREATE TRIGGER guard AFTER INSERT ON posts FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.95', 'if', 'public.same(new.author, old.author)');
SET ROLE regress_guard_inserter;
INSERT INTO posts (id, author, sig) VALUES (201, 'eva', f(3, 22));
RESET ROLE;
REVOKE EXECUTE ON FUNCTION same FROM PUBLIC;
SET ROLE regress_guard_inserter;
INSERT INTO posts (id, author, sig) VALUES (202, 'eva', f(3, 22));
RESET ROLE;
DROP TABLE posts;
DROP PROCEDURE try;
DROP FUNCTION f, same, differs;
DROP ROLE regress_guard_inserter;
