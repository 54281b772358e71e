--
-- Which index serves the guard, and which tables it searches
--

-- Faulty triggers can be created here: errors are those of the first row
SET check_function_bodies = off;

CREATE FUNCTION f(a int, b int) RETURNS signature LANGUAGE sql IMMUTABLE AS
$$ SELECT signature_from(array(SELECT generate_series(a::bigint, b))) $$;
CREATE SCHEMA "Odd schema";
CREATE TABLE "Odd schema"."The docs" (
    id int PRIMARY KEY, a int, "The sig" signature, other signature, body text
);
CREATE VIEW docs AS SELECT id, a, "The sig" AS sig, other FROM "Odd schema"."The docs";
CREATE CONSTRAINT TRIGGER guard AFTER INSERT OR UPDATE ON "Odd schema"."The docs"
    FOR EACH ROW EXECUTE FUNCTION neardup_guard('The sig', '0.8');

-- No suitable index, and the command that creates one
INSERT INTO docs VALUES (1, 1, f(1, 20));
CREATE INDEX ON "Odd schema"."The docs" ("The sig");
CREATE INDEX ON "Odd schema"."The docs" USING gin (other) WITH (fastupdate = off);
CREATE INDEX ON "Odd schema"."The docs" USING gin (("The sig"::bigint[]));
INSERT INTO docs VALUES (1, 1, f(1, 20));
CREATE INDEX part ON "Odd schema"."The docs" USING gin ("The sig")
    WITH (fastupdate = off) WHERE a > 0;
INSERT INTO docs VALUES (1, 1, f(1, 20));
CREATE INDEX "The index" ON "Odd schema"."The docs" USING gin ("The sig");
UPDATE pg_index SET indisvalid = false
WHERE indexrelid = '"Odd schema"."The index"'::regclass;
INSERT INTO docs VALUES (1, 1, f(1, 20));
UPDATE pg_index SET indisvalid = true
WHERE indexrelid = '"Odd schema"."The index"'::regclass;
CREATE INDEX high ON "Odd schema"."The docs" USING gin
    ("The sig" signature_gin_ops (threshold = 0.9)) WITH (fastupdate = off);
INSERT INTO docs VALUES (1, 1, f(1, 20));
DROP INDEX "Odd schema".part;
ALTER INDEX "Odd schema"."The index" SET (fastupdate = off);
SELECT gin_clean_pending_list('"Odd schema"."The index"');
INSERT INTO docs VALUES (1, 1, f(1, 20));
INSERT INTO docs VALUES (2, 2, f(2, 21));
-- without this index, the error names the one for higher thresholds
DROP INDEX "Odd schema"."The index";
INSERT INTO docs VALUES (2, 2, f(2, 21));
-- containment indexes have every feature; any column of an index may be the signature
CREATE INDEX ON "Odd schema"."The docs"
    USING gin (other, "The sig" signature_gin_ops (measure = containment))
    WITH (fastupdate = off);
INSERT INTO docs VALUES (2, 2, f(2, 21));
INSERT INTO docs VALUES (2, 2, f(22, 41));
SELECT id, a FROM docs ORDER BY id;

-- The first argument
CREATE TABLE plain (id int PRIMARY KEY, body int[], sig signature);
CREATE INDEX plain_other ON plain (id);
CREATE FUNCTION try(argument text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('CREATE CONSTRAINT TRIGGER guard AFTER INSERT ON plain
        FOR EACH ROW EXECUTE FUNCTION neardup_guard(%L, ''0.8'')', argument);
    INSERT INTO plain VALUES (1, '{1}');
    DROP TRIGGER guard ON plain;
END $$;
SELECT try('nil');
SELECT try('body');
SELECT try('plain_other');
SELECT try('part');
SELECT try('docs');
SELECT try('');
CREATE INDEX plain_two ON plain USING gin (sig, signature_from(body::bigint[]))
    WITH (fastupdate = off);
SELECT try('plain_two');
CREATE INDEX plain_slow ON plain USING gin (signature_from(body::bigint[]));
SELECT try('plain_slow');
DROP TABLE plain;
DROP FUNCTION try;

-- An index on an expression, here one that takes a generated column
CREATE TABLE expr (id int PRIMARY KEY, body int[],
                   twice int[] GENERATED ALWAYS AS (body || body) STORED,
                   note text);
CREATE INDEX expr_sig ON expr USING gin (signature_from(twice::bigint[]))
    WITH (fastupdate = off);
CREATE CONSTRAINT TRIGGER guard AFTER INSERT OR UPDATE ON expr
    FOR EACH ROW EXECUTE FUNCTION neardup_guard('expr_sig', '0.8');
INSERT INTO expr VALUES (1, '{1,2,3,4,5}');
INSERT INTO expr VALUES (2, '{1,2,3,4}');
INSERT INTO expr VALUES (2, '{1,2,3}'), (3, NULL), (4, '{}'), (5, '{}');
UPDATE expr SET body = body || 4 WHERE id = 2;
UPDATE expr SET body = body || 3, note = 'x' WHERE id = 2;
CREATE TRIGGER skip BEFORE INSERT OR UPDATE ON expr
    FOR EACH ROW EXECUTE FUNCTION neardup_guard('expr_sig', '0.8', 'skip');
INSERT INTO expr VALUES (6, '{1,2,3,4}'), (7, '{1,2}'), (8, NULL) RETURNING id;
UPDATE expr SET body = body || '{2,3,4}' WHERE id = 7 RETURNING id;
UPDATE expr SET body = body || '{7,6}' WHERE id = 7 RETURNING id;
SELECT id, body, note FROM expr ORDER BY id;
-- an expression of the whole row
CREATE FUNCTION whole(expr) RETURNS signature LANGUAGE plpgsql IMMUTABLE AS
$$ BEGIN RETURN public.signature_from(($1).twice::bigint[]); END $$;
CREATE INDEX expr_whole ON expr USING gin (whole(expr)) WITH (fastupdate = off);
DROP TRIGGER guard ON expr;
DROP TRIGGER skip ON expr;
CREATE CONSTRAINT TRIGGER guard AFTER INSERT OR UPDATE ON expr
    FOR EACH ROW EXECUTE FUNCTION neardup_guard('expr_whole', '0.8');
INSERT INTO expr VALUES (10, '{1,2,3,4}');
UPDATE expr SET body = '{1,2,3,4}' WHERE id = 7;
UPDATE expr SET note = 'y' WHERE id = 7;
CREATE TRIGGER skip BEFORE INSERT ON expr
    FOR EACH ROW EXECUTE FUNCTION neardup_guard('expr_whole', '0.8', 'skip');
INSERT INTO expr VALUES (10, '{1,2,3,4}');
DROP INDEX expr_whole;
DROP FUNCTION whole;
DROP TABLE expr;

-- Partitions: a near-duplicate may be in any of them, at any level, with
-- columns in another order
CREATE TABLE parts (id int, a int, b int,
                    sig signature GENERATED ALWAYS AS (f(a, b)) STORED,
                    PRIMARY KEY (id)) PARTITION BY RANGE (id);
CREATE TABLE p1 PARTITION OF parts FOR VALUES FROM (0) TO (100);
CREATE TABLE p2 (gone int, sig signature GENERATED ALWAYS AS (f(a, b)) STORED,
                 b int, a int, id int NOT NULL);
ALTER TABLE p2 DROP COLUMN gone;
ALTER TABLE parts ATTACH PARTITION p2 FOR VALUES FROM (100) TO (200);
CREATE TABLE p3 PARTITION OF parts FOR VALUES FROM (200) TO (300)
    PARTITION BY RANGE (id);
CREATE TABLE p31 PARTITION OF p3 FOR VALUES FROM (200) TO (250);
CREATE INDEX parts_sig ON parts USING gin (sig) WITH (fastupdate = off);
CREATE CONSTRAINT TRIGGER guard AFTER INSERT OR UPDATE ON parts
    FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.8');
INSERT INTO parts VALUES (1, 1, 20), (101, 101, 120), (201, 201, 220);
INSERT INTO parts VALUES (2, 2, 21);
INSERT INTO parts VALUES (2, 102, 121);
INSERT INTO parts VALUES (2, 202, 221);
INSERT INTO parts VALUES (102, 2, 21);
INSERT INTO p31 VALUES (202, 2, 21);
INSERT INTO parts SELECT i, 10 * i, 10 * i + 10
    FROM unnest('{3,103,203,4,104,204}'::int[]) i;
-- from one partition to another
UPDATE parts SET id = 102 WHERE id = 1;
UPDATE parts SET id = 1, a = 202, b = 221 WHERE id = 102;
UPDATE parts SET id = 202 WHERE id = 102;
-- a new partition is searched at once, also in a running statement
CREATE TABLE p32 PARTITION OF p3 FOR VALUES FROM (250) TO (300);
INSERT INTO parts VALUES (251, 301, 320);
INSERT INTO parts VALUES (1, 302, 321);
ALTER TABLE p3 DETACH PARTITION p32;
BEGIN;
INSERT INTO parts VALUES (1, 302, 321);
ROLLBACK;
CREATE FUNCTION attach() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.id = 12 THEN
        ALTER TABLE p3 ATTACH PARTITION p32 FOR VALUES FROM (250) TO (300);
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER attach AFTER INSERT ON p1 FOR EACH ROW EXECUTE FUNCTION attach();
INSERT INTO parts VALUES (11, 901, 920), (12, 801, 820), (13, 302, 321);
DROP TRIGGER attach ON p1;
ALTER TABLE p3 ATTACH PARTITION p32 FOR VALUES FROM (250) TO (300);
SELECT id, a, b, tableoid::regclass FROM parts ORDER BY id;
-- by the name of an index on the partitioned table
DROP TRIGGER guard ON parts;
CREATE CONSTRAINT TRIGGER guard AFTER INSERT OR UPDATE ON parts
    FOR EACH ROW EXECUTE FUNCTION neardup_guard('parts_sig', '0.8');
INSERT INTO parts VALUES (105, 2, 21);
INSERT INTO parts VALUES (6, 102, 121);
-- BEFORE triggers are cloned, too
CREATE TRIGGER skip BEFORE INSERT OR UPDATE ON parts
    FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.8', 'skip');
INSERT INTO parts VALUES (105, 2, 21), (106, 501, 520), (6, 502, 521), (7, 601, 620)
    RETURNING id;
DROP TRIGGER skip ON parts;
-- a trigger on one partition searches that partition, one on a subtree the subtree
DROP TRIGGER guard ON parts;
CREATE CONSTRAINT TRIGGER guard AFTER INSERT OR UPDATE ON p2
    FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.8');
CREATE CONSTRAINT TRIGGER guard AFTER INSERT OR UPDATE ON p3
    FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.8');
INSERT INTO parts VALUES (8, 501, 520), (105, 601, 620), (205, 501, 520);
INSERT INTO parts VALUES (107, 602, 621);
INSERT INTO parts VALUES (252, 502, 521);
DROP TRIGGER guard ON p2;
DROP TRIGGER guard ON p3;
-- partitions that cannot be searched
CREATE CONSTRAINT TRIGGER guard AFTER INSERT OR UPDATE ON parts
    FOR EACH ROW EXECUTE FUNCTION neardup_guard('parts_sig', '0.8');
DROP INDEX parts_sig;
INSERT INTO parts VALUES (9, 701, 720);
CREATE INDEX parts_sig ON ONLY parts USING gin (sig) WITH (fastupdate = off);
CREATE INDEX p1_sig ON p1 USING gin (sig) WITH (fastupdate = off);
ALTER INDEX parts_sig ATTACH PARTITION p1_sig;
INSERT INTO parts VALUES (9, 701, 720);
DROP TRIGGER guard ON parts;
CREATE CONSTRAINT TRIGGER guard AFTER INSERT OR UPDATE ON parts
    FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.8');
INSERT INTO parts VALUES (9, 701, 720);
CREATE FOREIGN DATA WRAPPER nowhere;
CREATE SERVER nowhere FOREIGN DATA WRAPPER nowhere;
CREATE FOREIGN TABLE p4 PARTITION OF parts FOR VALUES FROM (300) TO (400)
    SERVER nowhere;
DROP TRIGGER guard ON parts;
ALTER TABLE parts DROP CONSTRAINT parts_pkey;
DROP INDEX parts_sig;
CREATE FOREIGN TABLE p4 PARTITION OF parts FOR VALUES FROM (300) TO (400)
    SERVER nowhere;
CREATE CONSTRAINT TRIGGER guard AFTER INSERT OR UPDATE ON parts
    FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.8');
CREATE TRIGGER skip BEFORE INSERT OR UPDATE ON parts
    FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.8', 'skip');
CREATE INDEX p1_sig ON p1 USING gin (sig) WITH (fastupdate = off);
CREATE INDEX p2_sig ON p2 USING gin (sig) WITH (fastupdate = off);
CREATE INDEX p31_sig ON p31 USING gin (sig) WITH (fastupdate = off);
CREATE INDEX p32_sig ON p32 USING gin (sig) WITH (fastupdate = off);
INSERT INTO parts VALUES (9, 701, 720);
DROP SERVER nowhere CASCADE;
DROP FOREIGN DATA WRAPPER nowhere;
INSERT INTO parts VALUES (9, 701, 720), (109, 702, 721);
SELECT id, a, b FROM parts WHERE id IN (9, 109);
DROP TABLE parts;
DROP FUNCTION attach;

-- Inheritance: an error
CREATE TABLE parent (id int, sig signature);
CREATE TABLE child () INHERITS (parent);
CREATE INDEX ON parent USING gin (sig) WITH (fastupdate = off);
CREATE CONSTRAINT TRIGGER guard AFTER INSERT OR UPDATE ON parent
    FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.8');
INSERT INTO child VALUES (1, f(1, 20)), (2, f(1, 20));
INSERT INTO parent VALUES (3, f(1, 20));
INSERT INTO parent VALUES (4, f(1, 20));
DROP TABLE parent, child;

DROP VIEW docs;
DROP TABLE "Odd schema"."The docs";
DROP SCHEMA "Odd schema";
DROP FUNCTION f;

-- A statement that inserts into many partitions: their guards share one list of partitions
CREATE TABLE many (id int, sig signature) PARTITION BY LIST (id);
DO $$ BEGIN
    FOR i IN 1..60 LOOP
        EXECUTE format('CREATE TABLE many_%s PARTITION OF many FOR VALUES IN (%s)', i, i);
    END LOOP;
END $$;
CREATE INDEX ON many USING gin (sig) WITH (fastupdate = off);
CREATE FUNCTION memory_of_guards() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.id = 60 THEN
        RAISE NOTICE 'less than 2 MB: %', (SELECT sum(total_bytes) < 2000000 FROM pg_backend_memory_contexts WHERE name LIKE 'neardup guard%');
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER guard AFTER INSERT ON many FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.8');
CREATE TRIGGER memory AFTER INSERT ON many FOR EACH ROW EXECUTE FUNCTION memory_of_guards();
INSERT INTO many SELECT i, signature_from(ARRAY[i * 10, i * 10 + 1, i * 10 + 2]::bigint[]) FROM generate_series(1, 60) i;
INSERT INTO many VALUES (1, signature_from(ARRAY[600, 601, 602]::bigint[]));
DROP TABLE many;
DROP FUNCTION memory_of_guards;
