--
-- The guard on dense vectors, by cosine: without an index it reads all rows
--

CREATE SCHEMA guard_dense;
SET search_path = guard_dense, public;
CREATE TABLE rows (id int PRIMARY KEY, tenant int, v signature, note text);

-- The measure, among the other arguments
CREATE FUNCTION try(arguments text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    state text; message text; detail text; hint text;
BEGIN
    EXECUTE format('CREATE TRIGGER t BEFORE INSERT ON rows FOR EACH ROW EXECUTE FUNCTION neardup_guard(%s)', arguments);
    DROP TRIGGER t ON rows;
    RETURN 'accepted';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
    RETURN concat_ws(E'\n', state || ': ' || message, NULLIF(detail, ''), NULLIF(hint, ''));
END $$;
\pset format unaligned
\pset tuples_only on
SELECT format(E'%s\n%s', a, try(a)) FROM unnest(array[
    $$'v', '0.9', 'skip'$$,
    $$'v', '0.9', 'skip', 'measure', 'cosine'$$,
    $$'v', '0.9', 'warn', 'measure', 'cosine', 'if', 'new.tenant > old.tenant', 'within', 'note'$$,
    $$'v', '0.9', 'tag', 'note', 'measure', 'cosine', 'within', 'tenant'$$,
    $$'v', '0.9', 'tag', 'measure', 'measure', 'cosine'$$,
    $$'v', '0.9', 'skip', 'measure', 'jaccard'$$,
    $$'v', '0.9', 'skip', 'measure'$$,
    $$'v', '0.9', 'skip', 'measure', 'containment'$$,
    $$'v', '0.9', 'skip', 'measure', 'Cosine'$$,
    $$'v', '0.9', 'skip', 'measure', 'cosine', 'x'$$,
    $$'v', '0.9', 'skip', 'if', 'true', 'measure', 'cosine'$$,
    $$'v', '0.9', 'measure', 'cosine', 'skip'$$,
    $$'note', '0.9', 'skip', 'measure', 'cosine'$$,
    $$'rows_pkey', '0.9', 'skip', 'measure', 'cosine'$$]) a;
\pset format aligned
\pset tuples_only off

-- What is near, and what is not: zeros, nulls, other dimensions, sets
CREATE CONSTRAINT TRIGGER guard AFTER INSERT OR UPDATE ON rows FOR EACH ROW EXECUTE FUNCTION neardup_guard('v', '0.9', 'measure', 'cosine');
INSERT INTO rows VALUES (1, 1, dense('{3,4}')), (2, 1, dense('{-3,-4}')), (3, 1, dense('{0,0}')), (4, 1, dense('{0,0}')), (5, 1, NULL), (6, 1, dense('{3,4,0}'));
INSERT INTO rows VALUES (7, 1, dense('{3,5}'));
INSERT INTO rows VALUES (7, 1, dense('{1,0}')), (8, 1, dense('{10,1}'));
UPDATE rows SET v = dense('{3.5,4}') WHERE id = 2;
UPDATE rows SET v = dense('{3.5,4}') WHERE id = 1;
UPDATE rows SET note = 'x';
INSERT INTO rows VALUES (7, 1, shingles('one two three four five'));
DELETE FROM rows WHERE id = 1;
INSERT INTO rows VALUES (7, 1, dense('{3,4}'));
SELECT id, v FROM rows ORDER BY id;
SELECT neardup_guard_check('rows', 'guard');
-- another measure is an error, and the rows that are there are no obstacle
CREATE TABLE sets (id int PRIMARY KEY, v signature);
CREATE TRIGGER sets AFTER INSERT ON sets REFERENCING NEW TABLE AS n FOR EACH STATEMENT EXECUTE FUNCTION neardup_guard('v', '0.9');
INSERT INTO sets VALUES (1, dense('{3,4}'));
DROP TRIGGER sets ON sets;
INSERT INTO sets VALUES (1, dense('{3,4}')), (2, minhash(signature_from('{1,2}')));
CREATE TRIGGER sets AFTER INSERT ON sets REFERENCING NEW TABLE AS n FOR EACH STATEMENT EXECUTE FUNCTION neardup_guard('v', '0.9', 'measure', 'cosine');
INSERT INTO sets VALUES (3, signature_from('{1,2}')), (4, signature_from('{3,4}')), (5, dense('{4,-3}'));
INSERT INTO sets SELECT 5 + i, dense(array[4, -3] || array_fill(1::real, array[i])) FROM generate_series(1, 20) i;
INSERT INTO sets SELECT 25 + i, dense(array[4, -3] || array_fill(1::real, array[i])) FROM generate_series(20, 40) i;
INSERT INTO sets VALUES (99, minhash(signature_from('{1,2}')));
DROP TABLE sets;

-- Sets and weighted vectors by cosine, with an index; the threshold's own bounds
CREATE TABLE others (id int PRIMARY KEY, v signature);
CREATE INDEX others_v ON others USING neardup (v);
CREATE CONSTRAINT TRIGGER guard AFTER INSERT OR UPDATE ON others FOR EACH ROW EXECUTE FUNCTION neardup_guard('v', '0.7', 'measure', 'cosine');
INSERT INTO others VALUES (1, signature_from('{1,2}')), (2, signature_from('{1,2,3,4,5}'));
INSERT INTO others VALUES (3, signature_from('{1,3}')), (4, signature_from('{11,12,13,14}')), (5, signature_from('{11,12}'));
SELECT lexicon_agg(t) AS words FROM unnest('{red rose,red tulip,blue rose,black coffee}'::text[]) t \gset
INSERT INTO others VALUES (6, weighted_words('red rose', :'words'::lexicon)), (7, weighted_words('blue tulip', :'words'::lexicon));
INSERT INTO others VALUES (8, weighted_words('red rose rose', :'words'::lexicon));
DROP INDEX others_v;
CREATE INDEX others_v ON others USING gin (v) WITH (fastupdate = off);
INSERT INTO others VALUES (9, signature_from('{21,22}'));
DROP TABLE others;

-- Against the definition: rows in the order of their ids, in all modes, within scopes
-- and without, with vectors in the row and out of line, after some have gone
CREATE FUNCTION random_of(seed bigint) RETURNS float8 LANGUAGE sql IMMUTABLE AS $$
    SELECT ((((((seed * 1103515245 + 12345) & 2147483647) * 1103515245 + 12345) & 2147483647) >> 8) % 100000) / 50000.0 - 1
$$;
CREATE TABLE vectors AS
SELECT id, id % 3 AS tenant, CASE WHEN id % 40 > 0 THEN dense(array_agg((random_of(id % 25 * 7001 + i * 31) + (id % 7) / 5.0 * random_of(id * 613 + i * 97))::real ORDER BY i)) END AS v
FROM generate_series(1, 240) id, LATERAL generate_series(1, CASE WHEN id % 11 = 0 THEN 600 WHEN id % 12 = 0 THEN 15 ELSE 16 END) i GROUP BY id;
INSERT INTO vectors SELECT 300 + id, tenant, v FROM vectors WHERE id % 9 = 0;
CREATE TABLE pairs AS
SELECT a.id AS a, b.id AS b, a.tenant = b.tenant AS together, cosine(a.v, b.v) AS s
FROM vectors a JOIN vectors b ON b.id < a.id AND CASE WHEN cardinality(a.v::real[]) = cardinality(b.v::real[]) THEN cosine(a.v, b.v) >= 0.9 END;
SELECT count(*) > 200 AS many, count(*) FILTER (WHERE together) > 80 AS together FROM pairs;
CREATE TABLE stored (id int, tenant int, v signature, PRIMARY KEY (id));
ALTER TABLE stored ADD tag int, ADD old boolean;
CREATE TABLE parted (LIKE stored INCLUDING ALL) PARTITION BY RANGE (id);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (0) TO (150);
CREATE TABLE parted_2 (old boolean, v signature, tag int, tenant int, id int NOT NULL);
ALTER TABLE parted ATTACH PARTITION parted_2 FOR VALUES FROM (150) TO (1000);

-- Rows that are accepted, or not tagged, by the definition: rows that are refused do not
-- stay, rows with a tag do
CREATE FUNCTION by_definition(scope boolean, mode text = 'reject') RETURNS int[] LANGUAGE plpgsql AS $$
DECLARE
    kept int[] := '{}';
    r int;
BEGIN
    FOR r IN SELECT id FROM vectors ORDER BY id LOOP
        IF NOT EXISTS (SELECT FROM pairs WHERE a = r AND (b = ANY (kept) OR mode = 'tag') AND (together OR NOT scope)) THEN kept := kept || r; END IF;
    END LOOP;
    RETURN kept;
END $$;
CREATE FUNCTION guarded(relation text, mode text, scope boolean) RETURNS int[] LANGUAGE plpgsql AS $$
DECLARE
    r vectors;
BEGIN
    EXECUTE format('TRUNCATE %s', relation);
    -- rows that are gone
    EXECUTE format('INSERT INTO %s SELECT id, tenant, v FROM vectors', relation);
    EXECUTE format('DELETE FROM %s', relation);
    EXECUTE format('CREATE TRIGGER guard %s ON %s FOR EACH ROW EXECUTE FUNCTION neardup_guard(%s)',
        CASE mode WHEN 'reject' THEN 'AFTER INSERT OR UPDATE' ELSE 'BEFORE INSERT OR UPDATE' END, relation,
        concat_ws(', ', '''v'', ''0.9''', CASE mode WHEN 'skip' THEN '''skip''' WHEN 'tag' THEN '''tag'', ''tag''' END, '''measure'', ''cosine''',
                  CASE WHEN scope THEN '''within'', ''tenant''' END));
    FOR r IN SELECT * FROM vectors ORDER BY id LOOP
        BEGIN
            EXECUTE format('INSERT INTO %s VALUES ($1, $2, $3)', relation) USING r.id, r.tenant, r.v;
        EXCEPTION WHEN exclusion_violation THEN NULL;
        END;
    END LOOP;
    EXECUTE format('DROP TRIGGER guard ON %s', relation);
    RETURN (SELECT array_agg(id ORDER BY id) FROM (SELECT * FROM stored UNION ALL SELECT id, tenant, v, tag, old FROM parted) t WHERE tag IS NULL);
END $$;
SELECT relation, mode, scope, guarded(relation, mode, scope) = by_definition(scope, mode) AS same
FROM (VALUES ('stored', 'reject', true), ('stored', 'reject', false), ('stored', 'skip', true), ('stored', 'tag', false)) v (relation, mode, scope);
TRUNCATE stored;
SELECT relation, mode, scope, guarded(relation, mode, scope) = by_definition(scope, mode) AS same
FROM (VALUES ('parted', 'reject', true), ('parted', 'skip', false), ('parted', 'tag', true)) v (relation, mode, scope);
TRUNCATE parted;

-- All rows of a statement: few are compared with the table one by one, many are joined
CREATE FUNCTION guarded_batches(size int, scope boolean, memory text, OUT accepted int, OUT wrong int) LANGUAGE plpgsql AS $$
DECLARE
    batch int;
    clean boolean;
BEGIN
    TRUNCATE stored;
    PERFORM set_config('work_mem', memory, true);
    EXECUTE format('CREATE TRIGGER guard AFTER INSERT ON stored REFERENCING NEW TABLE AS n FOR EACH STATEMENT EXECUTE FUNCTION neardup_guard(''v'', ''0.9'', ''measure'', ''cosine'' %s)',
        CASE WHEN scope THEN ', ''within'', ''tenant''' END);
    accepted := 0;
    wrong := 0;
    FOR batch IN 0 .. 340 / size LOOP
        clean := NOT EXISTS (SELECT FROM pairs WHERE a / size = batch AND (b / size = batch OR b IN (SELECT id FROM stored)) AND (together OR NOT scope));
        BEGIN
            INSERT INTO stored SELECT id, tenant, v FROM vectors WHERE id / size = batch;
            accepted := accepted + 1;
            wrong := wrong + (NOT clean)::int;
        EXCEPTION WHEN exclusion_violation THEN
            wrong := wrong + clean::int;
        END;
    END LOOP;
    DROP TRIGGER guard ON stored;
END $$;
SELECT size, scope, accepted > 2 AS some, accepted < 340 / size - 2 AS not_all, wrong FROM (VALUES (1), (3), (20)) s (size), (VALUES (false), (true)) t (scope), guarded_batches(size, scope, '4MB');
SELECT accepted > 2 AS some, wrong FROM guarded_batches(20, true, '64kB');

-- Changed rows, by row and by statement
CREATE FUNCTION changed(timing text, statement boolean, OUT accepted int, OUT wrong int) LANGUAGE plpgsql AS $$
DECLARE
    r record;
    clean boolean;
BEGIN
    TRUNCATE stored;
    INSERT INTO stored SELECT id, tenant, v FROM vectors WHERE id = ANY ((SELECT by_definition(false))::int[]) AND id < 200;
    EXECUTE format('CREATE TRIGGER guard %s', timing);
    accepted := 0;
    wrong := 0;
    FOR r IN SELECT s.id, o.id AS other, o.v FROM (SELECT id, row_number() OVER (ORDER BY id) AS n FROM stored) s
             JOIN (SELECT *, row_number() OVER (ORDER BY id DESC) AS n FROM vectors) o USING (n) ORDER BY s.id LIMIT 40 LOOP
        clean := NOT EXISTS (SELECT FROM stored t WHERE t.id <> r.id AND CASE WHEN cardinality(t.v::real[]) = cardinality(r.v::real[]) THEN cosine(t.v, r.v) >= 0.9 END);
        BEGIN
            UPDATE stored SET v = r.v, note = 'changed' WHERE id = r.id;
            accepted := accepted + 1;
            wrong := wrong + (NOT clean)::int;
        EXCEPTION WHEN exclusion_violation THEN
            wrong := wrong + clean::int;
        END;
    END LOOP;
    DROP TRIGGER guard ON stored;
END $$;
ALTER TABLE stored ADD note text;
SELECT accepted > 2 AS some, accepted < 38 AS not_all, wrong
FROM (VALUES ('AFTER UPDATE ON stored FOR EACH ROW EXECUTE FUNCTION neardup_guard(''v'', ''0.9'', ''measure'', ''cosine'')', false),
             ('AFTER UPDATE ON stored REFERENCING OLD TABLE AS o NEW TABLE AS n FOR EACH STATEMENT EXECUTE FUNCTION neardup_guard(''v'', ''0.9'', ''measure'', ''cosine'')', true)) t (timing, statement),
     changed(timing, statement);

-- The condition, and the rows that would be refused
TRUNCATE stored;
INSERT INTO stored SELECT id, tenant, v FROM vectors;
CREATE CONSTRAINT TRIGGER guard AFTER INSERT OR UPDATE ON stored FOR EACH ROW EXECUTE FUNCTION neardup_guard('v', '0.9', 'measure', 'cosine');
CREATE CONSTRAINT TRIGGER conditional AFTER INSERT OR UPDATE ON stored FOR EACH ROW EXECUTE FUNCTION neardup_guard('v', '0.9', 'measure', 'cosine', 'if', 'abs(new.id - old.id) > 100');
SET client_min_messages = error; -- several specs
SELECT count(*) > 50 AS some, array_agg(v.row_key::int ORDER BY v.row_key::int) = (SELECT array_agg(id ORDER BY id) FROM vectors WHERE id <> ALL ((SELECT by_definition(false))::int[])) AS same
FROM neardup_guard_violations('stored', 'guard') v;
SELECT count(*) > 50 AS some, bool_and(abs(row_key::int - near_key::int) > 100) AS apart, bool_and(similarity = s) AS cosine
FROM neardup_guard_violations('stored', 'conditional') v JOIN pairs ON a = row_key::int AND b = near_key::int;
SELECT threshold, measure FROM neardup_guard_rows('stored', 'guard');
CREATE CONSTRAINT TRIGGER scoped AFTER INSERT OR UPDATE ON stored FOR EACH ROW EXECUTE FUNCTION neardup_guard('v', '0.9', 'measure', 'cosine', 'within', 'tenant');
SELECT count(*) > 20 AS some, array_agg(v.row_key::int ORDER BY v.row_key::int) = (SELECT array_agg(id ORDER BY id) FROM vectors WHERE id <> ALL ((SELECT by_definition(true))::int[])) AS same
FROM neardup_guard_violations('stored', 'scoped') v;
DROP TRIGGER scoped ON stored;
RESET client_min_messages;
ALTER TABLE stored DISABLE TRIGGER guard;
INSERT INTO stored SELECT 501, 1, v FROM vectors WHERE id = 1;

SET client_min_messages = warning;
DROP SCHEMA guard_dense CASCADE;
