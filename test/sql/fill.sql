--
-- neardup_fill: a column that depends on more than its row
--

CREATE TABLE library (name text, words lexicon);
INSERT INTO library SELECT 'all', lexicon_agg(b) FROM unnest('{the red rose, the blue rose, the house, a house of bricks}'::text[]) b;
CREATE TABLE filled (id int, title text, body text, sig signature, note text);
CREATE TRIGGER fill BEFORE INSERT OR UPDATE ON filled FOR EACH ROW
    EXECUTE FUNCTION neardup_fill('sig', 'top_words(concat_ws('' '', title, body), (SELECT words FROM library WHERE name = ''all''))', 'title', 'body');
CREATE VIEW checked AS
SELECT id, note, sig = top_words(concat_ws(' ', title, body), (SELECT words FROM library)) AS current, sig IS NULL AS none FROM filled;

INSERT INTO filled VALUES (1, 'Roses', 'the red rose'), (2, NULL, 'bricks'), (3, 'unknown', NULL);
SELECT * FROM checked ORDER BY id;
COPY filled (id, body) FROM stdin;
4	blue rose of bricks
\.
SELECT * FROM checked WHERE id = 4;

-- Computed where a column that it reads is changed or assigned, or its own is
UPDATE filled SET body = 'a house' WHERE id = 1;
SELECT * FROM checked WHERE id = 1;
UPDATE filled SET sig = NULL WHERE id = 2;
SELECT * FROM checked WHERE id = 2;
-- and otherwise not: this value stays that of the old statistics
UPDATE library SET words = words + lexicon_agg FROM (SELECT lexicon_agg('more words of roses')) l;
UPDATE filled SET note = 'noted' WHERE id IN (1, 2);
SELECT * FROM checked ORDER BY id;
UPDATE filled SET body = body WHERE id IN (1, 2);
SELECT * FROM checked ORDER BY id;
-- nor are the columns that it reads fetched
CREATE TABLE long_ones (id int, body text, sig signature, note text);
ALTER TABLE long_ones ALTER body SET STORAGE EXTERNAL;
CREATE TRIGGER fill BEFORE INSERT OR UPDATE ON long_ones FOR EACH ROW
    EXECUTE FUNCTION neardup_fill('sig', 'shingles(body)', 'body');
INSERT INTO long_ones SELECT i, repeat('a long text ', 10000) FROM generate_series(1, 10) i;
CREATE FUNCTION toast_blocks() RETURNS bigint LANGUAGE sql STABLE AS $$
    SELECT heap_blks_hit + heap_blks_read FROM pg_statio_all_tables
    WHERE relid = (SELECT reltoastrelid FROM pg_class WHERE oid = 'long_ones'::regclass)
$$;
SELECT pg_stat_force_next_flush();
SELECT toast_blocks() AS before \gset
UPDATE long_ones SET note = 'noted';
SELECT pg_stat_force_next_flush();
SELECT toast_blocks() - :before AS fetched;
DROP TABLE long_ones;
DROP FUNCTION toast_blocks;
-- A trigger that fires before may change the columns that it reads
CREATE FUNCTION rewrite() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.body := 'the red rose'; RETURN NEW; END $$;
CREATE TRIGGER a_rewrite BEFORE UPDATE ON filled FOR EACH ROW EXECUTE FUNCTION rewrite();
UPDATE filled SET note = 'rewritten' WHERE id = 2;
SELECT * FROM checked WHERE id = 2;
DROP TRIGGER a_rewrite ON filled;

-- Other columns, prepared statements, upserts, partitions
PREPARE insert_one AS INSERT INTO filled (id, body) VALUES ($1, $2);
EXECUTE insert_one(5, 'red bricks');
EXECUTE insert_one(6, 'blue bricks');
ALTER TABLE filled ADD other int DEFAULT 7;
ALTER TABLE filled DROP COLUMN note CASCADE;
EXECUTE insert_one(7, 'house');
SELECT count(*) AS wrong FROM filled WHERE sig IS DISTINCT FROM top_words(concat_ws(' ', title, body), (SELECT words FROM library)) AND id > 4;
CREATE TABLE parted (id int PRIMARY KEY, body text, n int) PARTITION BY RANGE (id);
CREATE TABLE parted1 PARTITION OF parted FOR VALUES FROM (0) TO (10);
CREATE TABLE parted2 (n int, body text, id int NOT NULL);
ALTER TABLE parted ATTACH PARTITION parted2 FOR VALUES FROM (10) TO (20);
CREATE TRIGGER fill BEFORE INSERT OR UPDATE ON parted FOR EACH ROW EXECUTE FUNCTION neardup_fill('n', 'length(body) -- of characters', 'body');
INSERT INTO parted VALUES (1, 'one'), (11, 'eleven');
INSERT INTO parted VALUES (1, 'first') ON CONFLICT (id) DO UPDATE SET body = excluded.body;
UPDATE parted SET id = 12 WHERE id = 1;
SELECT * FROM parted ORDER BY id;
-- names are resolved in the schema of the trigger's table, not in that of a partition
CREATE SCHEMA fill_elsewhere;
CREATE TABLE fill_elsewhere.parted3 PARTITION OF parted FOR VALUES FROM (20) TO (30);
CREATE TABLE added (n int);
INSERT INTO added VALUES (100);
CREATE TABLE fill_elsewhere.added (n int);
INSERT INTO fill_elsewhere.added VALUES (200);
DROP TRIGGER fill ON parted;
CREATE TRIGGER fill BEFORE INSERT OR UPDATE ON parted FOR EACH ROW
    EXECUTE FUNCTION neardup_fill('n', '(SELECT length(parted.body) + added.n FROM added)', 'body');
INSERT INTO parted VALUES (2, 'one'), (13, 'two'), (21, 'three');
SELECT * FROM parted WHERE n > 100 ORDER BY id;
DROP TABLE parted, added, fill_elsewhere.added;
DROP SCHEMA fill_elsewhere;

-- Names are not looked up in the search path of the inserting session
CREATE SCHEMA fill_trap;
CREATE FUNCTION fill_trap.concat_ws(text, text, text) RETURNS text LANGUAGE sql AS $$ SELECT 'trapped' $$;
CREATE TABLE fill_trap.library AS SELECT * FROM library LIMIT 0;
SET search_path = fill_trap, public, pg_catalog;
INSERT INTO filled (id, body) VALUES (8, 'red house');
SHOW search_path;
RESET search_path;
SELECT sig = top_words('red house', (SELECT words FROM library)) AS right FROM filled WHERE id = 8;
DROP SCHEMA fill_trap CASCADE;

-- An error leaves the path as it was
UPDATE library SET words = (SELECT lexicon_agg('simple'::regconfig, 'a'));
INSERT INTO filled (id, body) VALUES (9, 'red house');
SHOW search_path;

-- How it must be used
CREATE TABLE used (id int, body text, n int, made int GENERATED ALWAYS AS (length(body)) STORED);
CREATE FUNCTION use(timing text, arguments text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('CREATE TRIGGER used %s EXECUTE FUNCTION neardup_fill(%s)', timing, arguments);
    INSERT INTO used VALUES (1, 'text');
    DELETE FROM used;
END $$;
SELECT neardup_fill();
SELECT use('AFTER INSERT ON used FOR EACH ROW', $$'n', 'length(body)', 'body'$$);
SELECT use('BEFORE INSERT ON used', $$'n', 'length(body)', 'body'$$);
SELECT use('BEFORE DELETE ON used FOR EACH ROW', $$'n', 'length(body)', 'body'$$);
SELECT use('BEFORE INSERT ON used FOR EACH ROW', $$'n', 'length(body)'$$);
SELECT use('BEFORE INSERT ON used FOR EACH ROW', $$'m', 'length(body)', 'body'$$);
SELECT use('BEFORE INSERT ON used FOR EACH ROW', $$'n', 'length(body)', 'text'$$);
SELECT use('BEFORE INSERT ON used FOR EACH ROW', $$'n', 'made', 'made'$$);
SELECT use('BEFORE INSERT ON used FOR EACH ROW', $$'made', 'id', 'id'$$);
SELECT use('BEFORE INSERT ON used FOR EACH ROW', $$'n', 'id', 'body'$$);
SELECT use('BEFORE INSERT ON used FOR EACH ROW', $$'n', 'body', 'body'$$);
ALTER TABLE used ADD short varchar(3);
SELECT use('BEFORE INSERT ON used FOR EACH ROW', $$'short', 'body::varchar', 'body'$$);
SELECT use('BEFORE INSERT ON used FOR EACH ROW', $$'n', 'generate_series(1, 2)', 'body'$$);
SELECT use('BEFORE INSERT ON used FOR EACH ROW', $$'n', '1), (2', 'body'$$);
SELECT use('BEFORE INSERT ON used FOR EACH ROW', $$'n', 'length(', 'body'$$);
SELECT use('BEFORE INSERT ON used FOR EACH ROW', $$'short', 'body::varchar(3)', 'body'$$);

DROP TABLE used, filled, library CASCADE;
DROP FUNCTION use, rewrite;
