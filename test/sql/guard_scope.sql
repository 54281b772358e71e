--
-- The guard compares rows within a scope, or those of a partial index
--

CREATE FUNCTION f(a int, b int) RETURNS signature LANGUAGE sql IMMUTABLE AS
$$ SELECT signature_from(array(SELECT generate_series(a::bigint, b))) $$;
CREATE COLLATION blind (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE docs (
    id int PRIMARY KEY, tenant int, language text COLLATE blind, a int, b int,
    sig signature GENERATED ALWAYS AS (f(a, b)) STORED, twin int,
    site int GENERATED ALWAYS AS (tenant / 10) STORED
);
CREATE INDEX docs_sig ON docs USING gin (sig) WITH (fastupdate = off);

-- Arguments: an error at the first row
CREATE FUNCTION try(arguments text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    state text; message text; detail text; hint text;
BEGIN
    EXECUTE 'CREATE TRIGGER t ' ||
        CASE WHEN arguments ~ 'tag|skip' THEN 'BEFORE' ELSE 'AFTER' END ||
        ' INSERT ON docs FOR EACH ROW EXECUTE FUNCTION neardup_guard(' ||
        arguments || ')';
    INSERT INTO docs VALUES (1, 1, 'en', 1, 20), (2, 2, 'en', 1, 20),
        (3, 1, 'de', 1, 20);
    DELETE FROM docs;
    EXECUTE 'DROP TRIGGER t ON docs';
    RETURN 'accepted';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT,
        detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
    RETURN concat_ws(E'\n', state || ': ' || message, NULLIF(detail, ''),
                     NULLIF(hint, ''));
END $$;
ALTER TABLE docs ADD within int, ADD spot point;
\pset format unaligned
\pset tuples_only on
SELECT format(E'(%s)\n%s', a, try(a)) FROM unnest(array[
    $$'sig', '0.8', 'within', 'tenant', 'language'$$,
    $$'sig', '0.8', 'reject', 'within', 'tenant', 'language'$$,
    $$'sig', '0.8', 'tag', 'within', 'within', 'tenant'$$,
    $$'sig', '0.8', 'within', 'tenant'$$, $$'sig', '0.8', 'within', 'language'$$,
    $$'sig', '0.8', 'within'$$, $$'sig', '0.8', 'skip', 'within'$$,
    $$'sig', '0.8', 'tag', 'within'$$, $$'sig', '0.8', 'tag', 'within', 'tenant'$$,
    $$'sig', '0.8', 'Within', 'tenant'$$, $$'sig', '0.8', 'skip', 'tenant'$$,
    $$'sig', '0.8', 'skip', 'twin', 'within', 'tenant'$$,
    $$'within', '0.8', 'within', 'tenant'$$,
    $$'sig', '0.8', 'within', 'tenant,language'$$, $$'sig', '0.8', 'within', 'ctid'$$,
    $$'sig', '0.8', 'within', 'spot'$$, $$'sig', '0.8', 'within', 'site', 'language'$$]) a;
\pset format aligned
\pset tuples_only off

-- reject: the same tenant and language, under the collation; nulls are equal
CREATE CONSTRAINT TRIGGER guard AFTER INSERT OR UPDATE ON docs FOR EACH ROW
    EXECUTE FUNCTION neardup_guard('sig', '0.8', 'within', 'tenant', 'language');
INSERT INTO docs VALUES (1, 1, 'en', 1, 20), (2, 2, 'en', 1, 20), (3, 1, 'de', 1, 20),
    (4, NULL, 'en', 1, 20), (5, 1, NULL, 1, 20), (6, NULL, NULL, 1, 20);
INSERT INTO docs VALUES (7, 2, 'EN', 2, 21);
INSERT INTO docs VALUES (7, 1, 'dE', 2, 21);
INSERT INTO docs VALUES (7, NULL, 'en', 2, 21);
INSERT INTO docs VALUES (7, 1, NULL, 2, 21);
INSERT INTO docs VALUES (7, NULL, NULL, 2, 21);
INSERT INTO docs VALUES (7, 2, 'de', 2, 21), (8, 2, NULL, 1, 20), (9, NULL, 'de', 1, 20);
-- an UPDATE that moves a row to another scope is checked; one that stays is not
UPDATE docs SET tenant = 1 WHERE id = 2;
UPDATE docs SET language = 'DE' WHERE id = 8;
UPDATE docs SET language = NULL WHERE id = 9;
UPDATE docs SET tenant = 3 WHERE id = 2;
UPDATE docs SET twin = 1, language = 'en' WHERE id = 1;
INSERT INTO docs VALUES (10, 2, 'en', 1, 20);
INSERT INTO docs VALUES (11, 3, 'en', 1, 20);
SELECT id, tenant, language FROM docs ORDER BY id;
DROP TRIGGER guard ON docs;

-- skip, tag, warn; a generated column is computed before the row is stored
TRUNCATE docs;
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON docs FOR EACH ROW
    EXECUTE FUNCTION neardup_guard('sig', '0.8', 'skip', 'within', 'site');
INSERT INTO docs (id, tenant, a, b)
    SELECT i, i, 1, 20 FROM generate_series(0, 35) i RETURNING id;
UPDATE docs SET tenant = 11 WHERE id IN (10, 20) RETURNING id, tenant;
DROP TRIGGER guard ON docs;
TRUNCATE docs;
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON docs FOR EACH ROW
    EXECUTE FUNCTION neardup_guard('sig', '0.8', 'tag', 'twin', 'within', 'tenant');
INSERT INTO docs (id, tenant, a, b)
    SELECT i, i % 3, 1, 20 FROM generate_series(0, 5) i RETURNING id, tenant, twin;
DROP TRIGGER guard ON docs;
CREATE TRIGGER guard AFTER INSERT ON docs FOR EACH ROW
    EXECUTE FUNCTION neardup_guard('sig', '0.8', 'warn', 'within', 'tenant');
INSERT INTO docs (id, tenant, a, b) VALUES (6, 3, 1, 20), (7, 3, 1, 20);

-- Compared with all pairs
CREATE TABLE many (id int PRIMARY KEY, tenant int, labels int[], sig signature);
CREATE INDEX many_sig ON many USING gin (sig) WITH (fastupdate = off);
CREATE TRIGGER guard BEFORE INSERT ON many FOR EACH ROW EXECUTE FUNCTION
    neardup_guard('sig', '0.8', 'skip', 'within', 'tenant', 'labels');
CREATE FUNCTION rows_to_try() RETURNS SETOF many LANGUAGE sql AS $$
    SELECT i, nullif(i * 7919 % 5, 4),
        (array['{}', '{1}', '{1,2}', '{2,1}', NULL]::text[])[1 + i / 5 * 104729 % 5]::int[],
        f(i * 31 % 97, i * 31 % 97 + 9) FROM generate_series(1, 1500) i ORDER BY i $$;
INSERT INTO many SELECT * FROM rows_to_try();
CREATE FUNCTION mistakes() RETURNS TABLE (kept bigint, near bigint, unfounded bigint)
LANGUAGE sql SET enable_bitmapscan = off AS $$ SELECT (SELECT count(*) FROM many),
    (SELECT count(*) FROM many x, many y WHERE x.id < y.id AND x.tenant IS NOT DISTINCT
        FROM y.tenant AND x.labels IS NOT DISTINCT FROM y.labels AND similarity(x.sig, y.sig) >= 0.8),
    (SELECT count(*) FROM rows_to_try() x WHERE NOT EXISTS (SELECT FROM many y WHERE y.id = x.id)
        AND NOT EXISTS (SELECT FROM many y WHERE y.id < x.id AND x.tenant IS NOT DISTINCT
        FROM y.tenant AND x.labels IS NOT DISTINCT FROM y.labels AND similarity(x.sig, y.sig) >= 0.8)) $$;
SELECT * FROM mistakes();
-- an index that has a column of the scope is preferred, and searched by it
CREATE TEMP TABLE first AS SELECT * FROM many;
TRUNCATE many;
CREATE INDEX many_labels ON many USING gin (labels, sig) WITH (fastupdate = off);
INSERT INTO many SELECT * FROM rows_to_try();
SELECT * FROM mistakes();
(TABLE first EXCEPT TABLE many) UNION ALL (TABLE many EXCEPT TABLE first);
SELECT pg_stat_force_next_flush();
SELECT 2 * s.idx_tup_read > 3 * l.idx_tup_read AS fewer, l.idx_tup_read > 0 AS used
FROM pg_stat_user_indexes s, pg_stat_user_indexes l
WHERE s.indexrelname = 'many_sig' AND l.indexrelname = 'many_labels';

-- Partitions: rows are compared by scope, not by partition
CREATE TABLE parts (id int, tenant int, sig signature, PRIMARY KEY (id))
    PARTITION BY RANGE (id);
CREATE INDEX parts_sig ON parts USING gin (sig) WITH (fastupdate = off);
CREATE TABLE parts1 PARTITION OF parts FOR VALUES FROM (0) TO (10);
CREATE TABLE parts2 (dropped int, tenant int, sig signature, id int NOT NULL);
ALTER TABLE parts2 DROP dropped;
ALTER TABLE parts ATTACH PARTITION parts2 FOR VALUES FROM (10) TO (20);
CREATE CONSTRAINT TRIGGER guard AFTER INSERT OR UPDATE ON parts FOR EACH ROW
    EXECUTE FUNCTION neardup_guard('sig', '0.8', 'within', 'tenant');
INSERT INTO parts VALUES (1, 1, f(1, 20)), (11, 2, f(1, 20)), (12, NULL, f(1, 20));
INSERT INTO parts VALUES (2, 2, f(1, 20));
INSERT INTO parts VALUES (13, 1, f(1, 20));
INSERT INTO parts VALUES (2, NULL, f(1, 20));
UPDATE parts SET tenant = 1 WHERE id = 11;
UPDATE parts SET tenant = 3 WHERE id = 1;
INSERT INTO parts VALUES (13, 1, f(1, 20));
DROP TRIGGER guard ON parts;
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON parts FOR EACH ROW
    EXECUTE FUNCTION neardup_guard('sig', '0.8', 'skip', 'within', 'tenant');
INSERT INTO parts VALUES (3, 1, f(1, 20)), (14, 3, f(1, 20)), (4, 4, f(1, 20)),
    (15, 4, f(1, 20)) RETURNING id;

-- A partial index guards the rows that it has
CREATE TABLE pages (id int PRIMARY KEY, language text, sig signature,
    live boolean GENERATED ALWAYS AS (language <> 'old') STORED);
CREATE INDEX pages_live ON pages USING gin (sig) WITH (fastupdate = off) WHERE live;
CREATE CONSTRAINT TRIGGER guard AFTER INSERT OR UPDATE ON pages FOR EACH ROW
    EXECUTE FUNCTION neardup_guard('pages_live', '0.8');
INSERT INTO pages VALUES (1, 'en', f(1, 20)), (2, 'old', f(1, 20)), (3, NULL, f(1, 20));
INSERT INTO pages VALUES (4, 'de', f(2, 21));
INSERT INTO pages VALUES (4, 'old', f(2, 21));
UPDATE pages SET language = 'en' WHERE id = 4;
UPDATE pages SET language = 'old' WHERE id = 1;
UPDATE pages SET language = 'en' WHERE id = 4;
UPDATE pages SET language = 'en' WHERE id = 1;
CREATE TRIGGER skip BEFORE INSERT ON pages FOR EACH ROW
    EXECUTE FUNCTION neardup_guard('pages_live', '0.8', 'skip', 'within', 'language');
DROP TRIGGER guard ON pages;
INSERT INTO pages VALUES (5, 'en', f(1, 20)), (6, 'old', f(1, 20)), (7, 'de', f(1, 20)),
    (8, 'de', f(1, 20)) RETURNING id;

-- Signatures of several specs, separated by the scope; by either index
TRUNCATE pages;
CREATE FUNCTION made(language text) RETURNS signature LANGUAGE sql IMMUTABLE AS
$$ SELECT shingles('xaa xab xac xad xae xaf xag xah', language || ' stop') $$;
DROP TRIGGER skip ON pages;
CREATE INDEX pages_sig ON pages USING gin (sig) WITH (fastupdate = off);
CREATE CONSTRAINT TRIGGER guard AFTER INSERT OR UPDATE ON pages FOR EACH ROW
    EXECUTE FUNCTION neardup_guard('sig', '0.8', 'within', 'language');
INSERT INTO pages VALUES (1, 'english', made('english')), (2, 'dutch', made('dutch'));
INSERT INTO pages VALUES (3, 'dutch', made('dutch'));
DROP INDEX pages_sig;
CREATE INDEX pages_sig ON pages USING neardup (sig);
INSERT INTO pages VALUES (9, 'english', made('english'));
INSERT INTO pages VALUES (3, 'german', made('german'));
-- a partial index of the access method, too
CREATE INDEX pages_few ON pages USING neardup (sig) WHERE language <> 'english';
CREATE TRIGGER warn AFTER INSERT ON pages FOR EACH ROW EXECUTE FUNCTION
    neardup_guard('pages_few', '0.8', 'warn', 'within', 'language');
DROP TRIGGER guard ON pages;
INSERT INTO pages VALUES (4, 'english', made('english')), (5, 'german', made('german'));

DROP FUNCTION made;
DROP FUNCTION try, rows_to_try, mistakes;
DROP TABLE docs, many, parts, pages, first;
DROP FUNCTION f;
DROP COLLATION blind;
