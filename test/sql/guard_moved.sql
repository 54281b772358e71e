--
-- Guards of partitions, and rows that an UPDATE moves from one to another
--

-- Faulty triggers can be created here: errors are those of the first row
SET check_function_bodies = off;
CREATE SCHEMA guard_moved_test;
SET search_path = guard_moved_test, public;
CREATE TABLE parts (id int, part int, body text, note text, sig signature GENERATED ALWAYS AS (shingles(body)) STORED,
    PRIMARY KEY (id, part)) PARTITION BY LIST (part);
CREATE TABLE part1 PARTITION OF parts FOR VALUES IN (1);
CREATE TABLE part2 PARTITION OF parts FOR VALUES IN (2);
CREATE TABLE part3 PARTITION OF parts FOR VALUES IN (3);
CREATE INDEX ON parts USING gin (sig) WITH (fastupdate = off);
CREATE FUNCTION fill() RETURNS void LANGUAGE sql AS $$
    TRUNCATE parts;
    INSERT INTO parts SELECT id, part, body
    FROM (VALUES (1, 1, 'one two three four five'), (2, 1, 'nothing that is like it'), (3, 2, 'a third text of its own')) v (id, part, body)
$$;

-- A row skipped in its new partition would be lost: an error of CREATE TRIGGER, and of INSERT
CREATE TRIGGER skip BEFORE INSERT ON parts FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.8', 'skip');
INSERT INTO parts VALUES (1, 1, 'one two three four five');
DROP TRIGGER skip ON parts;
CREATE TRIGGER skip BEFORE INSERT OR UPDATE OF body ON parts FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.8', 'skip');
DROP TRIGGER skip ON parts;

-- A row that becomes near stays unchanged in place; a row that was near already moves, and one that is not
CREATE TRIGGER skip BEFORE INSERT OR UPDATE ON parts FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.8', 'skip');
SELECT fill();
UPDATE parts SET part = 2, body = 'one two three four five' WHERE id = 2;
UPDATE parts SET part = 2, body = 'not like any other text' WHERE id = 2;
ALTER TABLE parts DISABLE TRIGGER skip;
INSERT INTO parts VALUES (4, 1, 'one two three four five');
ALTER TABLE parts ENABLE TRIGGER skip;
UPDATE parts SET part = part % 3 + 1;
SELECT id, part, body FROM parts ORDER BY id;

-- A row inserted by the same statement is a different row
MERGE INTO parts p USING (VALUES (1, ''), (9, 'one two three four five'), (2, ''), (10, 'not like any other text')) v (id, body) ON p.id = v.id
WHEN MATCHED THEN UPDATE SET part = p.part % 3 + 1
WHEN NOT MATCHED THEN INSERT VALUES (v.id, 1, v.body);
WITH moved AS (UPDATE parts SET part = part % 3 + 1 WHERE id = 1 RETURNING id),
    stayed AS (UPDATE parts SET note = 'stays' WHERE id = 3 RETURNING id)
INSERT INTO parts SELECT 11 + id, 1, 'one two three four five' FROM moved UNION ALL SELECT 11 + id, 1, 'a third text of its own' FROM stayed;
SELECT id, part, body FROM parts ORDER BY id;

-- Two guards accept the move, and both see the row; a guard that refuses it keeps the row in place
CREATE TRIGGER skip_more BEFORE INSERT OR UPDATE ON parts FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.9', 'skip');
UPDATE parts SET part = part % 3 + 1;
UPDATE parts SET part = part % 3 + 1, body = 'not like any other text' WHERE id = 3;
SELECT id, part, body FROM parts ORDER BY id;
DROP TRIGGER skip_more ON parts;

-- Triggers that change other rows in between, and an UPDATE that fails and is repeated
CREATE FUNCTION meanwhile() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.note = 'fails' THEN
        RAISE EXCEPTION 'fails';
    ELSIF NEW.id <> 3 THEN
        UPDATE parts SET note = 'in between' WHERE id = 3;
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER a_between BEFORE INSERT ON parts FOR EACH ROW EXECUTE FUNCTION meanwhile();
CREATE TRIGGER z_between BEFORE UPDATE ON parts FOR EACH ROW EXECUTE FUNCTION meanwhile();
BEGIN;
DO $$ BEGIN
    UPDATE parts SET part = part % 3 + 1, note = 'fails' WHERE id = 4;
EXCEPTION WHEN raise_exception THEN NULL;
END $$;
UPDATE parts SET part = part % 3 + 1 WHERE id = 4;
UPDATE parts SET part = part % 3 + 1 WHERE id = 2;
INSERT INTO parts VALUES (20, 1, 'one two three four five'), (21, 2, 'not like any other text');
SELECT id, part, body FROM parts ORDER BY id;
COMMIT;
DROP TRIGGER a_between ON parts;
DROP TRIGGER z_between ON parts;

-- A row that was accepted in a table that has been truncated since
BEGIN;
UPDATE parts SET note = 'here' WHERE id = 3;
TRUNCATE parts;
INSERT INTO parts VALUES (1, 1, 'one two three four five'), (2, 2, 'one two three four five');
SELECT id FROM parts;
ROLLBACK;

-- Mode reject: a row that moves in is checked as an inserted one
DROP TRIGGER skip ON parts;
CREATE CONSTRAINT TRIGGER guard AFTER INSERT OR UPDATE ON parts FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.8');
UPDATE parts SET note = 'twin' WHERE id = 4;
UPDATE parts SET part = part % 3 + 1 WHERE id = 4;

-- Another trigger changes the row during the move, and inserts a row that is near to another
CREATE FUNCTION change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.note = 'change' THEN
        NEW.body := 'one two three four five';
    ELSIF NEW.note = 'insert' THEN
        INSERT INTO parts VALUES (NEW.id + 20, NEW.part, 'nothing that is like it');
    END IF;
    RETURN NEW;
END $$;
DROP TRIGGER guard ON parts;
CREATE TRIGGER skip BEFORE INSERT OR UPDATE ON parts FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.8', 'skip');
CREATE TRIGGER change BEFORE INSERT ON parts FOR EACH ROW EXECUTE FUNCTION change();
SELECT fill();
UPDATE parts SET part = 3, note = 'change' WHERE id = 3;
INSERT INTO parts VALUES (4, 1, 'one two three four five');
SELECT id, part, body FROM parts ORDER BY id;
SELECT fill();
ALTER TABLE parts DISABLE TRIGGER skip;
INSERT INTO parts VALUES (4, 1, 'one two three four five');
ALTER TABLE parts ENABLE TRIGGER skip;
UPDATE parts SET part = 2, note = 'insert' WHERE id = 4;
SELECT id, part, body FROM parts WHERE id = 4;

-- Mode tag: a row that has moved is not tagged with the key that it had before
TRUNCATE parts;
DROP TRIGGER change ON parts;
DROP TRIGGER skip ON parts;
ALTER TABLE parts ADD same_as text;
CREATE TRIGGER tag BEFORE INSERT OR UPDATE ON parts FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.8', 'tag', 'same_as');
INSERT INTO parts VALUES (1, 1, 'one two three four five'), (2, 1, 'one two three four five'), (3, 2, 'one two three four five');
SELECT id, part, same_as FROM parts ORDER BY id;
UPDATE parts SET part = 2 WHERE id = 1;
UPDATE parts SET part = 3 WHERE id = 2;
INSERT INTO parts VALUES (4, 1, 'one two three four five');
SELECT id, part, same_as FROM parts ORDER BY id;
BEGIN;
UPDATE parts SET part = 3, body = 'one, two, three, four, five!' WHERE id = 1;
INSERT INTO parts VALUES (5, 1, 'one two three four five');
UPDATE parts SET part = 1, body = 'not like any other text' WHERE id = 2;
INSERT INTO parts VALUES (6, 1, 'one two three four five');
SELECT id, part, same_as FROM parts ORDER BY id;
COMMIT;

-- A trigger updates many rows during the move
DROP TRIGGER tag ON parts;
TRUNCATE parts;
INSERT INTO parts SELECT i, 1, format('text %s of its %s own words %s', i, i * 7, i * 13) FROM generate_series(1, 60) i;
INSERT INTO parts VALUES (1000, 2, 'text 1 of its 7 own words 13');
CREATE FUNCTION close_up() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE parts SET note = 'closed up' WHERE part = OLD.part AND id > OLD.id;
    RETURN OLD;
END $$;
CREATE TRIGGER close_up BEFORE DELETE ON parts FOR EACH ROW EXECUTE FUNCTION close_up();
CREATE TRIGGER skip BEFORE INSERT OR UPDATE ON parts FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.8', 'skip');
UPDATE parts SET part = 2 WHERE id = 1;
SELECT part, count(*), sum(id) FROM parts GROUP BY part ORDER BY part;
DROP TRIGGER skip ON parts;
CREATE TRIGGER tag BEFORE INSERT OR UPDATE ON parts FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.8', 'tag', 'same_as');
DELETE FROM parts WHERE id = 1000;
INSERT INTO parts SELECT 2000 + n, 2, body FROM parts, generate_series(1, 2) n WHERE id = 1;
INSERT INTO parts SELECT i, 2, format('text %s of its %s own words %s', i, i * 7, i * 13) FROM generate_series(3000, 3060) i;
UPDATE parts SET id = 2003, part = 3 WHERE id = 2001;
SELECT id, part, same_as FROM parts WHERE id IN (1, 2002, 2003) ORDER BY id;
DROP TRIGGER tag ON parts;
DROP TRIGGER close_up ON parts;

-- A move that a trigger prevents, and then another statement
TRUNCATE parts;
INSERT INTO parts VALUES (1, 1, 'one two three four five'), (2, 2, 'a third text of its own');
CREATE FUNCTION hold_back() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RETURN CASE WHEN NEW.id > 1 THEN NEW END;
END $$;
CREATE TRIGGER a_hold_back BEFORE INSERT ON parts FOR EACH ROW EXECUTE FUNCTION hold_back();
CREATE TRIGGER skip BEFORE INSERT OR UPDATE ON parts FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.8', 'skip');
BEGIN;
UPDATE parts SET part = 2 WHERE id = 1;
INSERT INTO parts VALUES (3, 1, 'a third text of its own'), (4, 2, 'a third text of its own');
SELECT id, part, body FROM parts ORDER BY id;
COMMIT;

SET client_min_messages = warning;
DROP SCHEMA guard_moved_test CASCADE;
