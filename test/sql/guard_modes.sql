--
-- The guard's arguments, its modes, and when each of them may fire
--

-- Faulty triggers can be created here: errors are those of the first row
SET check_function_bodies = off;

CREATE FUNCTION f(a int, b int) RETURNS signature LANGUAGE sql IMMUTABLE AS
$$ SELECT signature_from(array(SELECT generate_series(a::bigint, b))) $$;
CREATE TABLE docs (
    id int PRIMARY KEY,
    a int, b int,
    sig signature GENERATED ALWAYS AS (f(a, b)) STORED,
    twin int,
    twin_text text
);
CREATE INDEX docs_sig ON docs USING gin (sig) WITH (fastupdate = off);
INSERT INTO docs VALUES (1, 1, 20);

-- Arguments: an error at the first row
CREATE FUNCTION try(definition text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    state text; message text; detail text; hint text;
BEGIN
    EXECUTE 'CREATE ' || definition;
    INSERT INTO docs VALUES (2, 101, 120);
    DELETE FROM docs WHERE id = 2;
    EXECUTE 'DROP TRIGGER t ON docs';
    RETURN 'accepted';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT,
        detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
    RETURN concat_ws(E'\n', state || ': ' || message, NULLIF(detail, ''),
                     NULLIF(hint, ''));
END $$;
CREATE FUNCTION try_arguments(arguments text) RETURNS text
LANGUAGE sql AS $$ SELECT try('TRIGGER t ' ||
    CASE WHEN arguments ~ 'tag|skip' THEN 'BEFORE' ELSE 'AFTER' END ||
    ' INSERT ON docs FOR EACH ROW EXECUTE FUNCTION neardup_guard(' ||
    arguments || ')') $$;
\pset format unaligned
\pset tuples_only on
SELECT format(E'(%s)\n%s', a, try_arguments(a)) FROM unnest(array[
    $$'sig', '0.8'$$, $$'sig', '1'$$, $$'sig', '8e-1', 'warn'$$,
    $$'sig', '.9', 'skip'$$, $$'sig', '+0.80', 'tag', 'twin'$$,
    $$$$, $$'sig'$$, $$'sig', '0.8', 'tag', 'twin', 'twin'$$,
    $$'sig', ''$$, $$'sig', '0'$$, $$'sig', '-0.8'$$, $$'sig', '1.1'$$,
    $$'sig', 'NaN'$$, $$'sig', 'Infinity'$$, $$'sig', '80%'$$,
    $$'sig', ' 0.8'$$, $$'sig', '0.8x'$$, $$'sig', '0x1p-1'$$, $$'sig', '1e-999'$$,
    $$'sig', '0.8', 'Reject'$$, $$'sig', '0.8', ''$$,
    $$'sig', '0.8', 'tag'$$, $$'sig', '0.8', 'skip', 'twin'$$,
    $$'sig', '0.8', 'tag', 'nil'$$, $$'sig', '0.8', 'tag', 'ctid'$$,
    $$'sig', '0.8', 'tag', 'sig'$$, $$'sig', '0.8', 'tag', 'a'$$]) a;

-- When it fires
SELECT format(E'%s\n%s', t, try(t || $$ EXECUTE FUNCTION neardup_guard('sig', '0.8')$$))
FROM unnest(array[
    'TRIGGER t AFTER INSERT ON docs FOR EACH ROW',
    'CONSTRAINT TRIGGER t AFTER INSERT OR UPDATE ON docs DEFERRABLE FOR EACH ROW',
    'TRIGGER t AFTER INSERT OR DELETE ON docs FOR EACH ROW',
    'TRIGGER t AFTER INSERT ON docs FOR EACH STATEMENT',
    'TRIGGER t BEFORE INSERT ON docs FOR EACH STATEMENT',
    'TRIGGER t AFTER INSERT OR TRUNCATE ON docs FOR EACH STATEMENT',
    'TRIGGER t BEFORE INSERT ON docs FOR EACH ROW']) t;
SELECT format(E'%s\n%s', t, try(t || $$ ON docs FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.8', $$ ||
    CASE t WHEN 'TRIGGER t AFTER INSERT' THEN $$'tag', 'twin')$$ ELSE $$'skip')$$ END))
FROM unnest(array['TRIGGER t AFTER INSERT', 'CONSTRAINT TRIGGER t AFTER INSERT',
                  'TRIGGER t BEFORE INSERT']) t;
\pset format aligned
\pset tuples_only off
SELECT neardup_guard();
CREATE VIEW docs_view AS SELECT * FROM docs;
CREATE TRIGGER t INSTEAD OF INSERT ON docs_view
    FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.8', 'skip');
INSERT INTO docs_view VALUES (2, 101, 120);
DROP VIEW docs_view;
SELECT id FROM docs ORDER BY id;

-- skip: the row is dropped; the generated column is computed for that
CREATE TRIGGER skip BEFORE INSERT OR UPDATE ON docs
    FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.8', 'skip');
INSERT INTO docs SELECT i, i, i + 19 FROM generate_series(1, 12) i
    ON CONFLICT DO NOTHING RETURNING id, a;
INSERT INTO docs VALUES (30, 101, 120), (31, 102, 121), (32, NULL, NULL),
    (33, 2, 1), (34, 2, 1) RETURNING id;
COPY docs (id, a, b) FROM stdin;
40	201	220
41	202	221
42	301	320
\.
UPDATE docs SET a = 102, b = 121 WHERE id = 40 RETURNING id;
UPDATE docs SET a = 202, b = 221 WHERE id = 40 RETURNING id;
UPDATE docs SET twin = 0 WHERE id = 40 RETURNING id;
-- a row near to its own old version: the BEFORE trigger drops it before ON CONFLICT sees it
INSERT INTO docs VALUES (42, 301, 320)
    ON CONFLICT (id) DO UPDATE SET twin = 1 RETURNING id;
INSERT INTO docs VALUES (42, 401, 420)
    ON CONFLICT (id) DO UPDATE SET twin = 2 RETURNING id;
SELECT id, a, b, twin FROM docs ORDER BY id;
DROP TRIGGER skip ON docs;

-- tag: the key of the other row, as it is or as text
CREATE TRIGGER tag BEFORE INSERT OR UPDATE ON docs
    FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.8', 'tag', 'twin');
CREATE TRIGGER tag_text BEFORE INSERT OR UPDATE ON docs
    FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.8', 'tag', 'twin_text');
INSERT INTO docs VALUES (50, 2, 21), (51, 501, 520), (52, 502, 521)
    RETURNING id, twin, twin_text;
INSERT INTO docs (id, a, b, twin) VALUES (53, 601, 620, 7) RETURNING id, twin;
UPDATE docs SET a = 603, b = 622 WHERE id = 52 RETURNING id, twin, twin_text;
UPDATE docs SET a = 703, b = 722 WHERE id = 52 RETURNING id, twin, twin_text;
UPDATE docs SET twin = 8 WHERE id = 50 RETURNING id, twin, twin_text;
-- no chains: the tag of the near row, whose row is further away
BEGIN;
INSERT INTO docs VALUES (54, 1101, 1120) RETURNING id, twin, twin_text;
INSERT INTO docs VALUES (55, 1103, 1122) RETURNING id, twin, twin_text;
INSERT INTO docs VALUES (56, 1105, 1124) RETURNING id, twin, twin_text;
INSERT INTO docs VALUES (57, 1107, 1126) RETURNING id, twin, twin_text;
-- the nearest, and of equally near ones the first by key
ALTER TABLE docs DISABLE TRIGGER USER;
INSERT INTO docs VALUES (73, 1301, 1320), (72, 1303, 1322), (71, 1303, 1322), (70, 1300, 1319);
ALTER TABLE docs ENABLE TRIGGER USER;
INSERT INTO docs VALUES (74, 1303, 1323) RETURNING id, twin, twin_text;
INSERT INTO docs VALUES (75, 1301, 1319) RETURNING id, twin, twin_text;
INSERT INTO docs VALUES (76, 1302, 1321) RETURNING id, twin, twin_text;
-- a row is not its own representative
UPDATE docs SET b = 1121 WHERE id = 54 RETURNING id, twin, twin_text;
ROLLBACK;
DROP TRIGGER tag ON docs;
DROP TRIGGER tag_text ON docs;
CREATE TABLE keys (k1 int, k2 text, sig signature, n bigint, t text,
                   g text GENERATED ALWAYS AS ('x') STORED);
CREATE INDEX ON keys USING gin (sig) WITH (fastupdate = off);
CREATE TRIGGER tag BEFORE INSERT ON keys
    FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.8', 'tag', 'n');
INSERT INTO keys VALUES (1, 'a, "b"', f(1, 20));
ALTER TABLE keys ADD PRIMARY KEY (k1);
INSERT INTO keys VALUES (1, 'a, "b"', f(1, 20));
ALTER TABLE keys DROP CONSTRAINT keys_pkey, ADD PRIMARY KEY (k1, k2);
INSERT INTO keys VALUES (1, 'a, "b"', f(1, 20));
DROP TRIGGER tag ON keys;
CREATE TRIGGER tag BEFORE INSERT ON keys
    FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.8', 'tag', 'g');
INSERT INTO keys VALUES (1, 'a, "b"', f(1, 20));
DROP TRIGGER tag ON keys;
CREATE TRIGGER tag BEFORE INSERT ON keys
    FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.8', 'tag', 't');
INSERT INTO keys VALUES (1, 'a, "b"', f(1, 20)), (2, 'c', f(2, 21)) RETURNING k1, t;

-- warn: before or after
CREATE TRIGGER warn_before BEFORE INSERT OR UPDATE ON docs
    FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.8', 'warn');
CREATE CONSTRAINT TRIGGER warn_after AFTER INSERT OR UPDATE ON docs
    DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.8', 'warn');
INSERT INTO docs VALUES (60, 801, 820), (61, 901, 920);
INSERT INTO docs VALUES (62, 902, 921);

-- BEFORE triggers fire in the order of their names: one that fires later may
-- still change what the signature is made from
CREATE FUNCTION change() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN NEW.a := 1; NEW.b := 20; RETURN NEW; END $$;
CREATE TRIGGER z_change BEFORE INSERT ON docs
    FOR EACH ROW EXECUTE FUNCTION change();
INSERT INTO docs VALUES (63, 1001, 1020);
DROP TRIGGER z_change ON docs;
CREATE TRIGGER a_change BEFORE INSERT ON docs
    FOR EACH ROW EXECUTE FUNCTION change();
INSERT INTO docs VALUES (64, 1001, 1020);

-- A tag column has the length limit of the key, a greater one or none
CREATE TABLE limited (id varchar(40) PRIMARY KEY, short varchar(3), same varchar(50), free varchar, n numeric(3), a int, b int,
    sig signature GENERATED ALWAYS AS (f(a, b)) STORED);
CREATE INDEX ON limited USING gin (sig) WITH (fastupdate = off);
CREATE TRIGGER tag BEFORE INSERT ON limited FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.8', 'tag', 'short');
DROP TRIGGER tag ON limited;
CREATE TRIGGER tag_free BEFORE INSERT OR UPDATE ON limited FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.8', 'tag', 'free');
CREATE TRIGGER tag_same BEFORE INSERT OR UPDATE ON limited FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.8', 'tag', 'same');
INSERT INTO limited (id, a, b) VALUES ('a very long key', 1, 20), ('another', 2, 21);
-- A tag is never the row's own present or former key
UPDATE limited SET id = 'renamed', a = 2, b = 21 WHERE id = 'a very long key';
SELECT id, same, free FROM limited ORDER BY id;
DROP TABLE limited;
-- A tag column is not in a predicate or a scope
CREATE TABLE heads (id int PRIMARY KEY, same_as int, sig signature);
CREATE INDEX heads_only ON heads USING gin (sig) WITH (fastupdate = off) WHERE same_as IS NULL;
CREATE TRIGGER tag BEFORE INSERT ON heads FOR EACH ROW EXECUTE FUNCTION neardup_guard('heads_only', '0.8', 'tag', 'same_as');
DROP TRIGGER tag ON heads;
CREATE INDEX ON heads USING gin (sig) WITH (fastupdate = off);
CREATE TRIGGER tag BEFORE INSERT ON heads FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.8', 'tag', 'same_as', 'within', 'same_as');
DROP TABLE heads;
-- A primary key whose index is no btree, as one WITHOUT OVERLAPS from version 18 on; here
-- an update of the catalog makes one, as earlier versions have none
CREATE TABLE spans (span int4range NOT NULL, same_as int4range, sig signature, EXCLUDE USING gist (span WITH &&));
UPDATE pg_index SET indisprimary = true WHERE indrelid = 'spans'::regclass;
CREATE INDEX ON spans USING gin (sig) WITH (fastupdate = off);
CREATE TRIGGER tag BEFORE INSERT ON spans FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.8', 'tag', 'same_as');
ALTER TABLE spans DISABLE TRIGGER tag;
INSERT INTO spans VALUES ('[5,6)', NULL, f(1, 20)), ('[3,4)', NULL, f(1, 20)), ('[4,5)', NULL, f(2, 20));
ALTER TABLE spans ENABLE TRIGGER tag;
INSERT INTO spans VALUES ('[7,8)', NULL, f(1, 20)) RETURNING same_as;
DROP TABLE spans;

-- A key that is written differently in a tag
CREATE TABLE written (id numeric PRIMARY KEY, same_as numeric, sig signature);
CREATE INDEX ON written USING gin (sig) WITH (fastupdate = off);
CREATE TRIGGER tag BEFORE INSERT OR UPDATE ON written FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.8', 'tag', 'same_as');
INSERT INTO written VALUES (1, NULL, f(1, 20)), (2, NULL, f(1, 20));
UPDATE written SET id = 1.0, sig = f(101, 120) WHERE id = 1;
UPDATE written SET sig = f(1, 20) WHERE id = 1;
SELECT id, same_as FROM written ORDER BY id;
DROP TABLE written;

DROP TABLE docs, keys;
DROP FUNCTION try_arguments, try, change, f;
