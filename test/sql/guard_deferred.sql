--
-- The guard as a deferred constraint: rows that are changed or deleted before
-- they are checked
--

CREATE FUNCTION f(a int, b int) RETURNS signature LANGUAGE sql IMMUTABLE AS
$$ SELECT signature_from(array(SELECT generate_series(a::bigint, b))) $$;
CREATE TABLE docs (
    id int PRIMARY KEY,
    a int, b int,
    sig signature GENERATED ALWAYS AS (f(a, b)) STORED,
    note text
);
CREATE INDEX docs_sig ON docs USING gin (sig) WITH (fastupdate = off);
-- an index that keeps an update of the note from being HOT
CREATE INDEX docs_note ON docs (note);
CREATE CONSTRAINT TRIGGER guard AFTER INSERT OR UPDATE ON docs
    DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.8');
INSERT INTO docs VALUES (1, 1, 20);

-- Refused at the end, or when the constraint is set immediate
BEGIN;
INSERT INTO docs VALUES (2, 2, 21);
SELECT count(*) FROM docs;
COMMIT;
BEGIN;
INSERT INTO docs VALUES (2, 2, 21);
SET CONSTRAINTS guard IMMEDIATE;
ROLLBACK;

-- Corrected in time
BEGIN;
INSERT INTO docs VALUES (2, 2, 21);
DELETE FROM docs WHERE id = 2;
INSERT INTO docs VALUES (2, 3, 22), (3, 101, 120);
UPDATE docs SET a = 201, b = 220 WHERE id = 2;
COMMIT;
BEGIN;
INSERT INTO docs VALUES (4, 2, 21);
DELETE FROM docs WHERE id = 1;
COMMIT;
SELECT id, a, b FROM docs ORDER BY id;

-- Rows may exchange their signatures
BEGIN;
UPDATE docs SET a = 101, b = 120 WHERE id = 2;
UPDATE docs SET a = 201, b = 220 WHERE id = 3;
COMMIT;
BEGIN;
UPDATE docs SET a = 201, b = 220 WHERE id = 2;
COMMIT;

-- A near-duplicate is refused although another column of it was updated
-- afterwards, which is not checked itself: not HOT, HOT, twice, and in
-- subtransactions
BEGIN;
INSERT INTO docs VALUES (5, 2, 21, DEFAULT, 'new');
UPDATE docs SET note = 'newer' WHERE id = 5;
COMMIT;
BEGIN;
INSERT INTO docs VALUES (5, 2, 21, DEFAULT, 'new');
UPDATE docs SET note = note WHERE id = 5;
COMMIT;
BEGIN;
UPDATE docs SET a = 2, b = 21 WHERE id = 3;
UPDATE docs SET note = 'newer' WHERE id = 3;
SAVEPOINT s;
UPDATE docs SET note = 'newest' WHERE id = 3;
SAVEPOINT s;
UPDATE docs SET a = 301, b = 320 WHERE id = 3;
ROLLBACK TO s;
COMMIT;
BEGIN;
SAVEPOINT s;
INSERT INTO docs VALUES (5, 2, 21);
ROLLBACK TO s;
INSERT INTO docs VALUES (5, 401, 420, DEFAULT, 'new');
UPDATE docs SET note = 'newer' WHERE id = 5;
COMMIT;
SELECT id, a, b, note FROM docs ORDER BY id;

-- ... and although the trigger does not fire at that update
DROP TRIGGER guard ON docs;
CREATE CONSTRAINT TRIGGER guard AFTER INSERT OR UPDATE OF sig ON docs
    DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.8');
BEGIN;
INSERT INTO docs VALUES (6, 2, 21, DEFAULT, 'new');
UPDATE docs SET note = 'newer' WHERE id = 6;
COMMIT;
BEGIN;
INSERT INTO docs VALUES (6, 501, 520, DEFAULT, 'new');
UPDATE docs SET note = 'newer' WHERE id = 6;
COMMIT;
UPDATE docs SET a = 2, b = 21 WHERE id = 6;

-- A trigger that updates the same row
DROP TRIGGER guard ON docs;
CREATE FUNCTION touch() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.note IS DISTINCT FROM 'touched' THEN
        UPDATE docs SET note = 'touched' WHERE id = NEW.id;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER a_touch AFTER INSERT OR UPDATE ON docs
    FOR EACH ROW EXECUTE FUNCTION touch();
CREATE CONSTRAINT TRIGGER guard AFTER INSERT OR UPDATE ON docs
    FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.8');
INSERT INTO docs VALUES (7, 2, 21, DEFAULT, 'new');
INSERT INTO docs VALUES (7, 601, 620, DEFAULT, 'new');
UPDATE docs SET a = 2, b = 21, note = 'x' WHERE id = 7;
SELECT id, a, b, note FROM docs ORDER BY id;

DROP TABLE docs;
DROP FUNCTION touch, f;
