--
-- Kept groups: after each refresh they are those of the rows, whatever was done to the rows
--

CREATE SCHEMA kept_groups;
SET search_path = kept_groups, public;

-- Pseudo-random numbers below n
CREATE FUNCTION number(seed bigint, i bigint, n int) RETURNS int LANGUAGE sql IMMUTABLE
RETURN ((hashint8extended(i, seed) >> 20) & 1048575) % n;
-- Sets at few places, with some numbers left out: many are near or equal, some empty or null
CREATE FUNCTION random_set(seed bigint, i bigint) RETURNS signature LANGUAGE sql IMMUTABLE
RETURN CASE number(seed, i, 25) WHEN 0 THEN NULL WHEN 1 THEN signature_from('{}') ELSE signature_from(ARRAY(
    SELECT f::bigint FROM generate_series(number(seed + 1, i, 30), number(seed + 1, i, 30) + 6 + number(seed + 2, i, 4)) f
    WHERE number(seed + 3, i * 100 + f, 9) > 0)) END;

-- The definition, by brute force: rows that are not in the group where they belong.  Greedy: no two representatives
-- are near, each other row belongs to the nearest.
CREATE FUNCTION wrong_greedy(docs text, groups text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    n bigint;
BEGIN
    EXECUTE format($sql$
        WITH r AS (SELECT g.*, d.tenant, d.sig, d.k, g.id = g.representative AS represents FROM %s d FULL JOIN %s g ON g.id = d.k),
        nearest AS (SELECT a.id, max(similarity(a.sig, b.sig)) FILTER (WHERE similarity(a.sig, b.sig) >= 0.6) AS similarity FROM r a
                    LEFT JOIN r b ON b.represents AND b.id <> a.id AND a.tenant IS NOT DISTINCT FROM b.tenant GROUP BY a.id)
        SELECT count(*) FROM r LEFT JOIN nearest n USING (id) LEFT JOIN r own ON own.id = r.representative
        WHERE r.k IS NULL OR r.id IS NULL OR r.similarity IS DISTINCT FROM n.similarity OR r.represents <> (r.similarity IS NULL)
            OR NOT r.represents AND NOT (own.represents AND own.tenant IS NOT DISTINCT FROM r.tenant AND similarity(own.sig, r.sig) = r.similarity)
        $sql$, docs, groups) INTO n;
    RETURN n;
END $$;
-- Connected: two rows have one representative if a chain leads from one to the other.
CREATE FUNCTION wrong_connected(docs text, groups text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    n bigint;
BEGIN
    EXECUTE format($sql$
        WITH RECURSIVE r AS (SELECT g.id, g.representative, g.similarity, d.tenant, d.sig, d.k FROM %s d FULL JOIN %s g ON g.id = d.k),
        pairs AS MATERIALIZED (SELECT a.id AS a, b.id AS b FROM r a JOIN r b ON similarity(a.sig, b.sig) >= 0.6
                               AND a.id <> b.id AND a.tenant IS NOT DISTINCT FROM b.tenant),
        reached (a, b) AS (SELECT id, id FROM r UNION SELECT reached.a, pairs.b FROM reached JOIN pairs ON pairs.a = reached.b)
        SELECT count(*) FROM r a FULL JOIN r b ON true
        WHERE a.k IS NULL OR a.id IS NULL OR a.similarity IS NOT NULL
            OR (a.representative = b.representative) <> EXISTS (SELECT FROM reached WHERE reached.a = a.id AND reached.b = b.id)
            OR NOT EXISTS (SELECT FROM r c WHERE c.id = a.representative AND c.representative = c.id)
        $sql$, docs, groups) INTO n;
    RETURN n;
END $$;

CREATE TYPE pair AS (a int, b text);
CREATE DOMAIN number_domain AS numeric CHECK (value >= 0);
-- A table with keys of a type, its groups, and random batches: rows come with keys in any order, are changed, get another
-- key or scope, and go; in batches of 1 to 8 commands
CREATE FUNCTION history(key_type text, rule text, refresh text, seed int, batches int, OUT commands int, OUT wrong bigint) LANGUAGE plpgsql
SET client_min_messages = warning AS $$
DECLARE
    key text := CASE key_type WHEN 'uuid' THEN 'md5($1::text)::uuid' WHEN 'pair' THEN 'ROW(number(7, $1, 5), $1)::pair'
        WHEN 'text' THEN 'left(md5($1::text), 6)' WHEN 'number_domain' THEN '$1::number_domain' ELSE 'number(9, $1, 1000000)' END;
    i int := 0;
    wrong_now bigint;
BEGIN
    DROP TABLE IF EXISTS docs, docs_groups, docs_groups_changed;
    EXECUTE format('CREATE TABLE docs (k %s PRIMARY KEY, n int UNIQUE, tenant int, note text, sig signature)', key_type);
    CREATE INDEX ON docs USING neardup (sig);
    PERFORM near_duplicate_groups_create('docs_groups', 'docs', 'k', 'sig', 0.6, rule => rule, within => '{tenant}', refresh => refresh);
    commands := 0;
    wrong := 0;
    FOR batch IN 1 .. batches LOOP
        FOR command IN 0 .. number(seed, batch, 8) LOOP
            i := i + 1;
            commands := commands + 1;
            CASE number(seed + 1, i, 8)
            WHEN 0, 1, 2 THEN
                EXECUTE format('INSERT INTO docs SELECT %s, $1, $2, NULL, random_set($3, $1)', key) USING i, number(seed + 2, i, 10) / 8, seed;
            WHEN 3 THEN
                EXECUTE format('INSERT INTO docs SELECT %s, s.n, 0, NULL, random_set($2, s.n) FROM generate_series($1 * 10 + 200000, $1 * 10 + 200004) s(n)', replace(key, '$1', 's.n'))
                    USING i, seed;
            WHEN 4 THEN UPDATE docs SET sig = random_set(seed + 50, i) WHERE n % 20 = number(seed + 3, i, 20);
            WHEN 5 THEN UPDATE docs SET note = i WHERE n % 5 = number(seed + 3, i, 5);
            WHEN 6 THEN
                EXECUTE format('UPDATE docs SET k = %s, tenant = nullif(tenant, $2) WHERE n = (SELECT n FROM docs ORDER BY n OFFSET $3 LIMIT 1)',
                               replace(key, '$1', '($1 + 100000)')) USING i, number(seed + 4, i, 3), number(seed + 3, i, 30);
            ELSE DELETE FROM docs WHERE n % 12 = number(seed + 3, i, 12);
            END CASE;
        END LOOP;
        IF refresh = 'deferred' THEN
            CALL near_duplicate_groups_refresh('docs_groups');
        END IF;
        EXECUTE format('SELECT wrong_%s(''docs'', ''docs_groups'')', rule) INTO wrong_now;
        wrong := wrong + wrong_now + near_duplicate_groups_check('docs_groups');
    END LOOP;
END $$;
SELECT key_type, rule, refresh, sum(commands) > 30 AS enough, sum(wrong) AS wrong
FROM (VALUES (1, 'int', 'deferred', 25), (2, 'uuid', 'deferred', 10), (3, 'text', 'deferred', 10), (4, 'pair', 'deferred', 10),
             (5, 'number_domain', 'deferred', 10), (6, 'int', 'immediate', 10)) t (seed, key_type, refresh, batches),
     unnest('{greedy,connected}'::text[]) rule, history(key_type, rule, refresh, seed, batches) GROUP BY seed, key_type, rule, refresh ORDER BY seed, rule;

-- All kinds of statements
CREATE TABLE parts (k int NOT NULL, tenant int, sig signature) PARTITION BY RANGE (k);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (0) TO (100);
-- its columns are in another order
CREATE TABLE parts_2 (sig signature, dropped int, tenant int, k int NOT NULL);
ALTER TABLE parts_2 DROP dropped;
ALTER TABLE parts ATTACH PARTITION parts_2 FOR VALUES FROM (100) TO (200);
CREATE INDEX ON parts (k);
CREATE INDEX ON parts USING neardup (sig);
CREATE PROCEDURE refreshed(what text) LANGUAGE plpgsql AS $$
BEGIN
    CALL near_duplicate_groups_refresh('parts_groups');
    RAISE NOTICE '%: % rows, % wrong, % wrong by the check, % notes left', what, (SELECT count(*) FROM parts_groups),
        wrong_greedy('parts', 'parts_groups'), near_duplicate_groups_check('parts_groups'),
        (SELECT count(*) FROM parts_groups_changed WHERE coalesce(state, '') !~ 'lock|partition');
END $$;
INSERT INTO parts SELECT i, i / 8 % 2, random_set(7, i) FROM generate_series(1, 190) i;
SELECT near_duplicate_groups_create('parts_groups', 'parts', 'k', 'sig', 0.6, within => '{tenant}', fill => false);
SELECT count(*) FROM parts_groups;
CALL refreshed('first');
DELETE FROM parts WHERE k % 10 = 3;
UPDATE parts SET k = k + 102 WHERE k % 10 = 1 AND k < 90;
CALL refreshed('rows that move to another partition');
INSERT INTO parts_2 SELECT random_set(8, i), 0, i FROM generate_series(193, 199) i WHERE i NOT IN (SELECT k FROM parts);
UPDATE parts_1 SET sig = random_set(9, k) WHERE k % 7 = 0;
DELETE FROM parts_2 WHERE k % 9 = 0;
CALL refreshed('a partition by its own name');
COPY parts FROM stdin;
3	0	\N
\.
COPY parts_1 (sig, k) FROM stdin;
\N	13
\.
CALL refreshed('COPY');
MERGE INTO parts USING generate_series(20, 120) i ON k = i
WHEN NOT MATCHED THEN INSERT VALUES (i, 0, random_set(10, i))
WHEN MATCHED AND k % 6 = 0 THEN DELETE
WHEN MATCHED AND k % 6 < 3 THEN UPDATE SET sig = random_set(11, k);
CALL refreshed('MERGE');
BEGIN;
SAVEPOINT a;
DELETE FROM parts WHERE k < 50;
CALL near_duplicate_groups_refresh('parts_groups');
ROLLBACK TO a;
DELETE FROM parts WHERE k BETWEEN 50 AND 80;
COMMIT;
CALL refreshed('subtransaction');
DELETE FROM parts WHERE k < 21;
WITH gone AS (DELETE FROM parts WHERE k BETWEEN 150 AND 170 RETURNING *) INSERT INTO parts SELECT k - 150, tenant, sig FROM gone;
CALL refreshed('WITH');
TRUNCATE parts_2;
INSERT INTO parts VALUES (144, 0, random_set(12, 1));
CALL refreshed('TRUNCATE of a partition');
TRUNCATE parts;
INSERT INTO parts SELECT i, 0, random_set(12, i) FROM generate_series(1, 60) i;
CALL refreshed('TRUNCATE');
-- rows change without triggers
ALTER TABLE parts DISABLE TRIGGER USER;
DELETE FROM parts WHERE k IN (SELECT representative FROM parts_groups WHERE similarity IS NOT NULL);
ALTER TABLE parts ENABLE TRIGGER USER;
SELECT near_duplicate_groups_check('parts_groups') > 10 AS wrong;
CALL near_duplicate_groups_refresh('parts_groups', whole => true);
CALL refreshed('all anew');
-- a key that comes twice
INSERT INTO parts_1 SELECT 2, 0, NULL FROM generate_series(1, 2);
CALL near_duplicate_groups_refresh('parts_groups');
DELETE FROM parts WHERE k = 2;
CALL refreshed('a key once again');

-- Partitions come and go
CREATE TABLE parts_3 PARTITION OF parts FOR VALUES FROM (200) TO (300);
INSERT INTO parts_3 SELECT i, 0, random_set(13, i) FROM generate_series(200, 230) i;
CALL refreshed('a new partition');
TRUNCATE parts_3;
CALL refreshed('TRUNCATE of it');
ALTER TABLE parts DETACH PARTITION parts_1;
CALL refreshed('a partition is gone');
ALTER TABLE parts ATTACH PARTITION parts_1 FOR VALUES FROM (0) TO (100);
CALL refreshed('and back');
DROP TABLE parts_1;
CALL refreshed('dropped');
SELECT near_duplicate_groups_drop('parts_groups');
SELECT tgrelid::regclass, tgname FROM pg_trigger WHERE tgrelid::regclass::text LIKE 'parts%' ORDER BY 1, 2;

-- An index on an expression, on some of the rows; the columns that it reads are watched
CREATE TABLE texts (id bigint PRIMARY KEY, "the text" text, deleted_at date, views int);
CREATE INDEX texts_live ON texts USING neardup (shingles("the text")) WHERE deleted_at IS NULL;
INSERT INTO texts SELECT i, (SELECT string_agg('w' || (i / 4) * 100 + n, ' ' ORDER BY n) FROM generate_series(1, 40) n) || ' x' || i FROM generate_series(1, 40) i;
SELECT near_duplicate_groups_create('live', 'texts', 'id', 'texts_live', 0.7, 'dice', refresh => 'immediate');
SELECT count(*), count(DISTINCT representative) FROM live;
UPDATE texts SET views = 1;
UPDATE texts SET deleted_at = '2026-01-01' WHERE id % 4 = 0;
UPDATE texts SET "the text" = upper("the text") WHERE id > 30;
SELECT count(*), count(DISTINCT representative), near_duplicate_groups_check('live') FROM live;
UPDATE texts SET deleted_at = NULL, "the text" = 'w401 w402 w403 w404 w405' WHERE id = 4;
SELECT count(*), count(DISTINCT representative), near_duplicate_groups_check('live') FROM live;
SELECT tgname, pg_get_triggerdef(oid) FROM pg_trigger WHERE tgrelid = 'texts'::regclass ORDER BY tgname;
TRUNCATE texts;
SELECT count(*) FROM live;

-- Pairs that are not the same
CREATE TABLE pages (id text COLLATE "C" PRIMARY KEY, sig signature);
CREATE INDEX ON pages USING neardup (sig);
INSERT INTO pages SELECT 'p' || i, signature_from(ARRAY(SELECT generate_series(i / 4 * 100, i / 4 * 100::bigint + 10 + i % 4))) FROM generate_series(0, 11) i;
CREATE TABLE not_same (a text, b text, remark text);
INSERT INTO not_same VALUES ('p0', 'p1');
SELECT near_duplicate_groups_create('pages_groups', 'pages', 'id', 'sig', 0.7, apart => 'not_same');
CREATE FUNCTION pages_groups() RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    CALL near_duplicate_groups_refresh('pages_groups');
    RETURN (SELECT string_agg(id || ':' || representative, ' ' ORDER BY id) FROM pages_groups) || ', wrong: ' || near_duplicate_groups_check('pages_groups');
END $$;
SELECT pages_groups();
INSERT INTO not_same VALUES ('p4', 'p7'), ('p8', 'none');
SELECT pages_groups();
UPDATE not_same SET b = 'p6' WHERE a = 'p4';
SELECT pages_groups();
DELETE FROM not_same WHERE a = 'p0';
SELECT pages_groups();
UPDATE not_same SET remark = 'nothing to do';
SELECT count(*) FROM pages_groups_changed;
TRUNCATE not_same;
SELECT pages_groups();
SELECT near_duplicate_groups_drop('pages_groups');
SELECT count(*) FROM pg_trigger WHERE tgrelid IN ('pages'::regclass, 'not_same'::regclass);
SELECT near_duplicate_groups_create('pages_groups', 'pages', 'id', 'sig', 0.7, apart => 'not_same', refresh => 'immediate');
INSERT INTO not_same VALUES ('p0', 'p3');
SELECT string_agg(id || ':' || representative, ' ' ORDER BY id) FROM pages_groups;

-- Nobody needs rights on the groups to write; only the owner refreshes them
CREATE ROLE neardup_writer;
GRANT USAGE ON SCHEMA kept_groups TO neardup_writer;
GRANT INSERT ON texts TO neardup_writer;
SET ROLE neardup_writer;
INSERT INTO texts VALUES (1, 'one two three four five six'), (2, 'One two three four five six');
SELECT near_duplicate_groups_check('live');
CALL near_duplicate_groups_refresh('live');
SELECT * FROM live;
RESET ROLE;
SELECT id, representative, similarity FROM live ORDER BY id;

-- Rows one by one in one transaction, whose plans were made for empty tables: a refresh looks rows up once
-- there are some, and leaves one note and one lock
CREATE TABLE filled (id int PRIMARY KEY, sig signature);
CREATE INDEX ON filled USING neardup (sig);
-- what the transaction has read and written so far, beside what is not counted yet of those before
CREATE FUNCTION counts(groups regclass) RETURNS TABLE (read bigint, noted bigint, locked bigint)
LANGUAGE sql VOLATILE BEGIN ATOMIC
    SELECT (SELECT seq_tup_read FROM pg_stat_xact_user_tables WHERE relid = groups), n_tup_ins, n_tup_upd
    FROM pg_stat_xact_user_tables WHERE relid = (groups || '_changed')::regclass;
END;
CREATE PROCEDURE fill_one_by_one(rule text) LANGUAGE plpgsql AS $$
DECLARE
    before record;
    c record;
BEGIN
    SELECT * INTO before FROM counts('filled_groups');
    FOR i IN 1 .. 1000 LOOP
        INSERT INTO filled VALUES (i, signature_from(ARRAY(SELECT generate_series(i / 3 * 100, i / 3 * 100::bigint + 10 + i % 3))));
    END LOOP;
    SELECT now.read - before.read AS read, now.noted - before.noted AS noted, now.locked - before.locked AS locked INTO c FROM counts('filled_groups') now;
    RAISE NOTICE '%: reads groups %, % notes, % lock, % wrong', rule, CASE WHEN c.read < 500000 THEN 'by index' ELSE c.read::text END,
        c.noted, c.locked, near_duplicate_groups_check('filled_groups');
END $$;
SELECT near_duplicate_groups_create('filled_groups', 'filled', 'id', 'sig', 0.7, refresh => 'immediate');
VACUUM ANALYZE filled, filled_groups, filled_groups_changed;
CALL fill_one_by_one('greedy');
SELECT near_duplicate_groups_drop('filled_groups');
TRUNCATE filled;
SELECT near_duplicate_groups_create('filled_groups', 'filled', 'id', 'sig', 0.7, rule => 'connected', refresh => 'immediate');
VACUUM ANALYZE filled, filled_groups, filled_groups_changed;
CALL fill_one_by_one('connected');
SELECT near_duplicate_groups_drop('filled_groups');
SELECT _near_duplicate_groups_taken(NULL::int);

-- A session keeps the statements of a refresh; what they name changes
CREATE TABLE living (id int PRIMARY KEY, body text, tenant int);
CREATE INDEX living_body ON living USING neardup (shingles(body));
INSERT INTO living VALUES (1, 'one two three four five six seven'), (2, 'One two three four five six seven.');
SELECT near_duplicate_groups_create('living_groups', 'living', 'id', 'living_body', 0.7, refresh => 'immediate');
CREATE PROCEDURE insert_living() LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE (SELECT format('INSERT INTO %s VALUES (%s, ''one two three four five six seven'')', tgrelid::regclass, (SELECT max(id) + 1 FROM living_groups))
             FROM pg_trigger WHERE tgname = 'living_groups');
    RAISE NOTICE '%, wrong: %', (SELECT string_agg(id || ':' || representative, ' ' ORDER BY id) FROM living_groups), near_duplicate_groups_check('living_groups');
END $$;
CALL insert_living();
-- the name of the table
ALTER TABLE living RENAME TO "Was living";
CALL insert_living();
-- the expression of the index of this name
DROP INDEX living_body;
CREATE INDEX living_body ON "Was living" USING neardup (shingles(right(body, -4)));
UPDATE "Was living" SET body = 'two' || body WHERE id < 3;
CALL insert_living();
-- names behind a column's number, another key's type
ALTER TABLE "Was living" DROP tenant, ALTER id TYPE bigint;
ALTER TABLE living_groups ALTER id TYPE bigint, ALTER representative TYPE bigint;
ALTER TABLE living_groups_changed ALTER id TYPE bigint;
CALL insert_living();
-- what was rolled back
BEGIN;
ALTER TABLE "Was living" RENAME TO rolled_back;
CALL insert_living();
ROLLBACK;
CALL insert_living();
DISCARD PLANS;
CALL insert_living();
-- another owner
ALTER TABLE "Was living" OWNER TO neardup_writer;
ALTER TABLE living_groups OWNER TO neardup_writer;
CALL insert_living();
ALTER TABLE living_groups_changed OWNER TO neardup_writer;
GRANT USAGE ON SCHEMA kept_groups TO neardup_writer;
CALL insert_living();
SET ROLE neardup_writer;
CALL insert_living();
RESET ROLE;
-- not even by its name is it called for another role
SELECT _near_duplicate_groups_refresh('living_groups', false);
-- a refresh inside of another one, by a trigger of the owner
CREATE FUNCTION add_another() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.id = 20 THEN
        ANALYZE kept_groups.living_groups;
        INSERT INTO kept_groups."Was living" VALUES (21, 'one two three four five six seven');
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER another AFTER INSERT ON living_groups FOR EACH ROW EXECUTE FUNCTION add_another();
INSERT INTO "Was living" VALUES (20, 'seven six five four three two one');
SELECT id, representative FROM living_groups WHERE id > 19 ORDER BY id;
CALL insert_living();
DROP TABLE "Was living", living_groups, living_groups_changed;

-- Errors
\set VERBOSITY terse
\set SHOW_CONTEXT never
CREATE VIEW texts_view AS TABLE texts;
CREATE TEMP TABLE passing (id int);
CREATE TABLE parent (id int);
CREATE TABLE child () INHERITS (parent);
CREATE TABLE json_keys (id json NOT NULL, n int UNIQUE, sig signature);
CREATE TABLE plain (id int PRIMARY KEY, n int, sig signature);
\set VERBOSITY default
SELECT near_duplicate_groups_create('g', 'texts_view', 'id', 'sig', 0.7);
SELECT near_duplicate_groups_create('g', 'passing', 'id', 'sig', 0.7);
SELECT near_duplicate_groups_create('g', 'parent', 'id', 'sig', 0.7);
SELECT near_duplicate_groups_create('g', 'plain', 'no', 'sig', 0.7);
SELECT near_duplicate_groups_create('g', 'json_keys', 'id', 'sig', 0.7);
SELECT near_duplicate_groups_create('g', 'json_keys', 'n', 'sig', 0.7);
SELECT near_duplicate_groups_create('g', 'plain', 'id', 'sig', 0.7);
SELECT near_duplicate_groups_create('g', 'plain', 'id', 'body', 0.7);
CREATE INDEX plain_gin ON plain USING gin (sig);
SELECT near_duplicate_groups_create('g', 'plain', 'id', 'sig', 0.5);
SELECT near_duplicate_groups_create('g', 'plain', 'id', 'sig', 0.8, within => '{n,m}');
SELECT near_duplicate_groups_create('g', 'plain', 'id', 'sig', 0.8, rule => 'single');
SELECT near_duplicate_groups_create('g', 'plain', 'id', 'sig', 0.8, refresh => 'daily');
SELECT near_duplicate_groups_create('g', 'plain', 'id', 'sig', 0.8, apart => 'not_same');
SELECT near_duplicate_groups_create('g', 'plain', 'id', 'sig', 0.8, apart => 'plain', rule => 'connected');
SELECT near_duplicate_groups_create('g', 'plain', 'id', 'sig', 1.8);
SELECT near_duplicate_groups_create('g', 'plain', 'id', 'sig', 0.8, 'nearness');
SELECT near_duplicate_groups_create('g', 'plain', 'id', 'sig', NULL);
SELECT near_duplicate_groups_create('g', NULL, 'id', 'sig', 0.8);
SELECT near_duplicate_groups_create(repeat('g', 56), 'plain', 'id', 'sig', 0.8);
ALTER TABLE plain ALTER n SET NOT NULL;
SELECT near_duplicate_groups_create('g', 'plain', 'n', 'sig', 0.8);
ALTER TABLE plain ALTER n DROP NOT NULL;
SELECT near_duplicate_groups_create('g', 'plain', 'n', 'sig', 0.8);
SELECT near_duplicate_groups_create('live', 'texts', 'id', 'texts_live', 0.7);
SELECT near_duplicate_groups_create('texts', 'plain', 'id', 'sig', 0.8);
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT near_duplicate_groups_create('g', 'plain', 'id', 'sig', 0.8);
ROLLBACK;
CALL near_duplicate_groups_refresh('plain');
SELECT near_duplicate_groups_drop('plain');
-- what was changed later
SELECT near_duplicate_groups_create('"The groups"', 'plain', 'id', 'sig', 0.8);
ALTER TABLE plain RENAME sig TO signature;
INSERT INTO plain VALUES (1);
ALTER TABLE plain RENAME signature TO sig;
ALTER TABLE "The groups_changed" ADD PRIMARY KEY (id);
ALTER TABLE "The groups_changed" DROP CONSTRAINT "The groups_changed_pkey";
CREATE INDEX notes_index ON "The groups_changed" (id);
INSERT INTO plain VALUES (1);
DROP INDEX notes_index;
ALTER TABLE plain ALTER id TYPE bigint;
INSERT INTO plain VALUES (1);
ALTER TABLE plain ALTER id TYPE int;
ALTER TABLE plain OWNER TO neardup_writer;
INSERT INTO plain VALUES (1);
ALTER TABLE plain OWNER TO CURRENT_USER;
INSERT INTO plain VALUES (1);
TRUNCATE "The groups_changed";
CALL near_duplicate_groups_refresh('"The groups"');
TABLE "The groups";
ALTER TABLE "The groups" RENAME TO renamed;
DELETE FROM plain;
CALL near_duplicate_groups_refresh('renamed');
ALTER TABLE renamed RENAME TO "The groups";
DELETE FROM plain;
SELECT near_duplicate_groups_drop('"The groups"');
-- triggers of others
CREATE TRIGGER few AFTER INSERT ON plain FOR EACH ROW EXECUTE FUNCTION near_duplicate_groups_note('live');
INSERT INTO plain VALUES (1);
DROP TRIGGER few ON plain;
CREATE TRIGGER before BEFORE INSERT ON plain FOR EACH ROW EXECUTE FUNCTION near_duplicate_groups_note('live');
INSERT INTO plain VALUES (1);
DROP TRIGGER before ON plain;
ALTER TABLE plain OWNER TO neardup_writer;
CREATE TRIGGER foreign_groups AFTER INSERT ON plain FOR EACH ROW
  EXECUTE FUNCTION near_duplicate_groups_note('kept_groups.live', 'id', 'sig', '0.7', 'dice', 'greedy', 'immediate', '{}', '{}', '');
INSERT INTO plain VALUES (1);

SET client_min_messages = warning;
DROP SCHEMA kept_groups CASCADE;
DROP ROLE neardup_writer;
