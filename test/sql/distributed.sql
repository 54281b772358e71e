--
-- neardup_pairs(): all pairs of a table, by every design, on one server;
-- test/citus runs it on many
--

CREATE SCHEMA distributed;
SET search_path = distributed, public;

\getenv abs_srcdir PG_ABS_SRCDIR
\set file :abs_srcdir '/sql/shared/random_sets.sql'
\i :file
\set file :abs_srcdir '/sql/shared/set_measures.sql'
\i :file
CREATE TABLE docs AS
SELECT r * 7 % 401 AS id, random_set(r) AS sig FROM generate_series(1, 400) r;
INSERT INTO docs SELECT NULL, sig FROM docs WHERE id < 5;

-- Compare the pairs of a table with those of a nested loop, and count them
CREATE FUNCTION pairs_are(result text, source text, threshold float8, measure text, OUT n bigint, OUT same boolean)
LANGUAGE plpgsql SET neardup.enable_join = off AS $$
BEGIN
    EXECUTE format('WITH p AS MATERIALIZED (%2$s)
                    SELECT count(r.a), bool_and(p.a IS NOT NULL AND r.a IS NOT NULL)
                    FROM %1$s r FULL JOIN p ON p.a = r.a AND p.b = r.b AND p.similarity = r.similarity',
        result,
        format('SELECT a.id AS a, b.id AS b, %3$s AS similarity FROM %1$s a JOIN %1$s b ON near_duplicate(a.sig, b.sig, %2$s, %4$L) AND a.id < b.id',
               source, threshold,
               CASE measure WHEN 'jaccard' THEN 'similarity(a.sig, b.sig)'
                            WHEN 'shared' THEN 'shared_values(a.sig, b.sig)::float8'
                            ELSE format('pg_temp.set_measure_value(%L, nfeatures(a.sig), nfeatures(b.sig), intersection_size(a.sig, b.sig))', measure) END, measure)) INTO n, same;
END $$;
CREATE FUNCTION check_pairs(source text, threshold float8, measure text, design text, OUT taken text, OUT n bigint, OUT same boolean)
LANGUAGE plpgsql AS $$
BEGIN
    taken := design;
    CALL neardup_pairs(source::regclass, 'id', 'sig', threshold, 'found', measure, taken);
    SELECT * INTO n, same FROM pairs_are('found', source, threshold, measure);
    DROP TABLE found;
END $$;

SELECT design, measure, threshold, c.*
FROM unnest('{auto,classes,keys}'::text[]) design, (VALUES
    ('jaccard', 0.5), ('jaccard', 0.8), ('jaccard', 1), ('dice', 0.8), ('overlap_coefficient', 0.9), ('shared', 9))
    v (measure, threshold), check_pairs('docs', threshold, measure, design) c
ORDER BY measure, threshold, design;

-- Tables of few rows, many of them equal, in several steps
CREATE TABLE few (id int, sig signature);
DO $$
DECLARE
    c record;
    n int := 0;
    pairs bigint := 0;
    measures text[] := array(SELECT m.measure FROM set_measures m WHERE commutes ORDER BY m.n);
BEGIN
    FOR seed IN 1 .. 40 LOOP
        TRUNCATE few;
        INSERT INTO few SELECT i, random_set(seed * 20 + abs(hashint4(seed * 100 + i)) % 12) FROM generate_series(1, seed % 25) i;
        FOR c IN SELECT design, p.* FROM unnest('{classes,keys}'::text[]) design,
                 check_pairs('few', (ARRAY[0.3, 0.5, 0.8, 1])[1 + seed % 4], measures[1 + seed / 4 % cardinality(measures)], design) p LOOP
            n := n + 1;
            pairs := pairs + c.n;
            IF NOT c.same THEN
                RAISE WARNING 'seed %, %: other pairs than of a nested loop', seed, c.design;
            END IF;
        END LOOP;
        COMMIT;
    END LOOP;
    RAISE NOTICE 'calls: %, with pairs: %', n, pairs > 500;
END $$;
DROP TABLE few;

-- Sketches and vectors have bands or features, and no classes of sizes
CREATE TABLE sketches AS SELECT id, minhash(sig, 64) AS sig FROM docs;
CREATE TABLE vectors AS
SELECT id, signature_from(f, array_fill(1 + id % 3, ARRAY[cardinality(f)])) AS sig
FROM (SELECT id, sig::bigint[] AS f FROM docs WHERE id IS NOT NULL) s WHERE cardinality(f) > 0;
SELECT * FROM check_pairs('sketches', 0.8, 'jaccard', 'join');
SELECT * FROM check_pairs('sketches', 0.8, 'jaccard', 'keys');
SELECT * FROM check_pairs('vectors', 0.8, 'cosine', 'join');
SELECT * FROM check_pairs('vectors', 0.8, 'cosine', 'keys');
-- Empty samples are near-duplicates of nothing; the features that samples share are not estimated
CREATE TABLE samples AS SELECT id, sample(sig, 8) AS sig FROM docs;
SELECT count(*) > 1 AS empty FROM samples WHERE nfeatures(sig) > 0 AND cardinality(sig::bigint[]) = 0;
SELECT design, measure, c.n > 0 AS found, same
FROM unnest('{join,classes,keys}'::text[]) design, (VALUES ('jaccard', 0.8), ('shared', 2)) v (measure, threshold),
     check_pairs('samples', threshold, measure, design) c
ORDER BY measure, design;
DROP TABLE samples;
\set SHOW_CONTEXT never
CALL neardup_pairs('sketches', 'id', 'sig', 0.8, 'found', design => 'classes');
\set SHOW_CONTEXT errors

-- Ids of any type that has an order; names of any kind; views
CREATE TABLE "Docs of {id} ""x"" %s" AS SELECT md5(id::text)::uuid AS "the {sig}", sig AS "Sig" FROM docs;
CREATE SCHEMA "Results {t}";
CALL neardup_pairs('"Docs of {id} ""x"" %s"', 'the {sig}', 'Sig', 0.8, '"Results {t}"."Found {x}"');
CALL neardup_pairs('"Docs of {id} ""x"" %s"', 'the {sig}', 'Sig', 0.8, '"Results {t}".classes', design => 'classes');
CALL neardup_pairs('"Docs of {id} ""x"" %s"', 'the {sig}', 'Sig', 0.8, '"Results {t}"."keys {x}"', design => 'keys');
CREATE VIEW named AS SELECT 'doc ' || id AS id, sig FROM docs WHERE id > 10;
CALL neardup_pairs('named', 'id', 'sig', 0.8, 'found_named', design => 'classes');
SELECT * FROM pairs_are('found_named', 'named', 0.8, 'jaccard');
CREATE VIEW uuids AS SELECT "the {sig}" AS id, "Sig" AS sig FROM "Docs of {id} ""x"" %s";
SELECT p.* FROM unnest('{"\"Found {x}\"",classes,"\"keys {x}\""}'::text[]) r, pairs_are('"Results {t}".' || r, 'uuids', 0.8, 'jaccard') p;
-- Intermediate tables are gone
SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace IN ('distributed'::regnamespace, '"Results {t}"'::regnamespace) ORDER BY 1;

-- A temporary result
CALL neardup_pairs('docs', 'id', 'sig', 0.8, 'pg_temp.temporary', design => 'keys');
SELECT * FROM pairs_are('pg_temp.temporary', 'docs', 0.8, 'jaccard');
SELECT relname, relpersistence FROM pg_class WHERE relkind = 'r' AND relnamespace = pg_my_temp_schema();

-- Operators of ids are found in any schema
CREATE SCHEMA elsewhere;
SET client_min_messages = warning;
CREATE TYPE elsewhere.number;
CREATE FUNCTION elsewhere.number_in(cstring) RETURNS elsewhere.number LANGUAGE internal IMMUTABLE STRICT AS 'int4in';
CREATE FUNCTION elsewhere.number_out(elsewhere.number) RETURNS cstring LANGUAGE internal IMMUTABLE STRICT AS 'int4out';
CREATE TYPE elsewhere.number (INPUT = elsewhere.number_in, OUTPUT = elsewhere.number_out, LIKE = int4);
RESET client_min_messages;
SELECT format('CREATE FUNCTION elsewhere.number_%s(elsewhere.number, elsewhere.number) RETURNS boolean LANGUAGE internal IMMUTABLE STRICT AS %L', f, 'int4' || f),
       format('CREATE OPERATOR elsewhere.%s (LEFTARG = elsewhere.number, RIGHTARG = elsewhere.number, FUNCTION = elsewhere.number_%s)', o, f)
FROM (VALUES ('<', 'lt'), ('<=', 'le'), ('=', 'eq'), ('>=', 'ge'), ('>', 'gt')) v (o, f) \gexec
CREATE FUNCTION elsewhere.number_cmp(elsewhere.number, elsewhere.number) RETURNS int LANGUAGE internal IMMUTABLE STRICT AS 'btint4cmp';
CREATE OPERATOR CLASS elsewhere.number_ops DEFAULT FOR TYPE elsewhere.number USING btree AS
    OPERATOR 1 elsewhere.<, OPERATOR 2 elsewhere.<=, OPERATOR 3 elsewhere.=, OPERATOR 4 elsewhere.>=, OPERATOR 5 elsewhere.>,
    FUNCTION 1 elsewhere.number_cmp(elsewhere.number, elsewhere.number);
CREATE VIEW number_ids AS SELECT id::text::elsewhere.number AS id, sig FROM docs;
CALL neardup_pairs('number_ids', 'id', 'sig', 0.8, 'by_join');
CALL neardup_pairs('number_ids', 'id', 'sig', 0.8, 'by_classes', design => 'classes');
CALL neardup_pairs('number_ids', 'id', 'sig', 0.8, 'by_keys', design => 'keys');
SELECT format('CREATE VIEW number_ids_%1$s AS SELECT a::text::int AS a, b::text::int AS b, similarity FROM %1$s', r)
FROM unnest('{by_join,by_classes,by_keys}'::text[]) r \gexec
SELECT p.* FROM unnest('{by_join,by_classes,by_keys}'::text[]) r, pairs_are('number_ids_' || r, 'docs', 0.8, 'jaccard') p;

-- Temporary tables with the result's names are neither filled nor dropped
CREATE TEMPORARY TABLE apart (a int, b int, similarity float8);
CREATE TEMPORARY TABLE apart_rows (a int);
CREATE TEMPORARY TABLE apart_near (a int);
CALL neardup_pairs('docs', 'id', 'sig', 0.8, 'apart', design => 'classes');
SELECT count(*) FROM apart;
SELECT * FROM pairs_are('distributed.apart', 'docs', 0.8, 'jaccard');
SELECT relnamespace::regnamespace = 'distributed'::regnamespace AS distributed, relname
FROM pg_class WHERE relname LIKE 'apart%' ORDER BY 2, 1;
CREATE TEMPORARY TABLE apart_too (a int);
CALL neardup_pairs('docs', 'id', 'sig', 0.8, 'apart_too');
SELECT * FROM pairs_are('distributed.apart_too', 'docs', 0.8, 'jaccard');

-- Groups that the pairs connect
CALL neardup_pairs('docs', 'id', 'sig', 0.8, 'pairs', design => 'classes');
SELECT count(*), count(DISTINCT c.group_id), bool_and(c.representative = d.representative AND c.size = d.size) AS same
FROM near_duplicate_groups_of_pairs('TABLE pairs') c
JOIN near_duplicate_groups('SELECT id, sig FROM docs WHERE id IS NOT NULL', 0.8) d USING (id);

-- No pairs
CREATE TABLE nothing (id int, sig signature);
SELECT d, c.* FROM unnest('{auto,classes,keys}'::text[]) d, check_pairs('nothing', 0.8, 'jaccard', d) c;
INSERT INTO nothing VALUES (1, NULL), (2, shingles(''));
SELECT d, c.* FROM unnest('{auto,classes,keys}'::text[]) d, check_pairs('nothing', 0.8, 'jaccard', d) c;

-- Rows that change during the call, as other sessions may change them between two
-- statements: the first row of a set gets another set, or is deleted
CREATE TABLE equal AS SELECT n AS id, shingles(n % 3 || ' a b c d e') AS sig FROM generate_series(1, 9) n;
CREATE VIEW changing AS SELECT id, CASE WHEN id = 1 AND to_regclass('distributed.more_firsts') IS NOT NULL
										THEN shingles('2 a b c d e') ELSE sig END AS sig FROM equal;
CREATE VIEW leaving AS SELECT * FROM equal WHERE id > 1 OR to_regclass('distributed.more_firsts') IS NULL;
\set VERBOSITY terse
CALL neardup_pairs('changing', 'id', 'sig', 0.8, 'more', design => 'keys');
CALL neardup_pairs('changing', 'id', 'sig', 0.8, 'more', design => 'classes');
CALL neardup_pairs('leaving', 'id', 'sig', 0.8, 'more', design => 'keys');
\set VERBOSITY default
\set SHOW_CONTEXT never
CALL neardup_pairs('leaving', 'id', 'sig', 0.8, 'more', design => 'classes');

-- Errors
CALL neardup_pairs('docs', 'id', 'sig', NULL, 'more');
CALL neardup_pairs('docs', 'id', 'sig', 0.8, NULL);
CALL neardup_pairs('docs', 'id', 'sig', 1.5, 'more');
CALL neardup_pairs('docs', 'id', 'sig', 0.8, 'more', 'jacard');
CALL neardup_pairs('docs', 'id', 'sig', 0.8, 'more', 'containment');
CALL neardup_pairs('docs', 'id', 'sig', 0.8, 'more', design => 'quick');
CALL neardup_pairs('docs', 'number', 'sig', 0.8, 'more');
CALL neardup_pairs('docs', 'id', 'body', 0.8, 'more');
CREATE VIEW documents AS SELECT to_json(id) AS id, sig FROM docs;
CALL neardup_pairs('documents', 'id', 'sig', 0.8, 'more');
CALL neardup_pairs(0, 'id', 'sig', 0.8, 'more');
CALL neardup_pairs('docs', 'id', 'sig', 0.8, 'more; DROP TABLE docs');
CALL neardup_pairs('docs', 'id', 'sig', 0.8, '');
CALL neardup_pairs('docs', 'id', 'sig', 0.8, 'a.b.c.d');
\set VERBOSITY terse
CALL neardup_pairs('docs', 'id', 'id', 0.8, 'more');
CALL neardup_pairs('docs', 'id', 'sig', 0.8, 'pairs');
\set VERBOSITY default
CALL neardup_pairs('docs', 'id', 'sig', 0.8, repeat('x', 60), design => 'classes');
CALL neardup_pairs('docs', 'id', 'sig', 0.8, repeat('x', 64), design => 'classes');
CALL neardup_pairs('docs', 'id', 'sig', 0.8, repeat('x', 64));
CALL neardup_pairs('docs', 'id', 'sig', 0.8, 'distributed."' || repeat('ä', 32) || '"');
CALL neardup_pairs('docs', 'id', 'sig', 0.8, repeat('x', 64) || '.pairs');
CALL neardup_pairs('docs', 'id', 'sig', 0.8, '"' || repeat('x', 63) || '"');
SELECT relname FROM pg_class WHERE relname LIKE 'xxx%';
CREATE TABLE twice AS SELECT id / 2 AS id, sig FROM docs;
CALL neardup_pairs('twice', 'id', 'sig', 0.8, 'more');
CALL neardup_pairs('twice', 'id', 'sig', 0.8, 'more', design => 'classes');
CALL neardup_pairs('twice', 'id', 'sig', 0.8, 'more', design => 'keys');
-- a primary key does not cover rows of tables that inherit
CREATE TABLE parent (id int PRIMARY KEY, sig signature);
CREATE TABLE child () INHERITS (parent);
INSERT INTO parent SELECT id, sig FROM docs WHERE id < 5;
CALL neardup_pairs('parent', 'id', 'sig', 0.8, 'pg_temp.inherited');
INSERT INTO child SELECT id, sig FROM docs WHERE id = 3;
CALL neardup_pairs('parent', 'id', 'sig', 0.8, 'more');
SELECT relname FROM pg_class WHERE relname LIKE 'more%';

-- It needs the caller's own privileges
CREATE ROLE regress_neardup_pairs;
GRANT USAGE, CREATE ON SCHEMA distributed TO regress_neardup_pairs;
SET ROLE regress_neardup_pairs;
\set VERBOSITY terse
CALL neardup_pairs('docs', 'id', 'sig', 0.8, 'his');
\set VERBOSITY default
RESET ROLE;

-- An id of several fields may have one that is null
CREATE TYPE place AS (shelf int, label text);
CREATE TABLE placed AS SELECT ROW(id, CASE WHEN id % 2 = 0 THEN 'x' END)::place AS id, sig FROM docs WHERE id < 100;
CALL neardup_pairs('placed', 'id', 'sig', 0.5, 'placed_by_join', 'jaccard', 'join');
CALL neardup_pairs('placed', 'id', 'sig', 0.5, 'placed_by_keys', 'jaccard', 'keys');
CALL neardup_pairs('placed', 'id', 'sig', 0.5, 'placed_by_classes', 'jaccard', 'classes');
SELECT count(*) > 10 AS many, count(*) = (SELECT count(*) FROM placed_by_keys) AS by_keys, count(*) = (SELECT count(*) FROM placed_by_classes) AS by_classes FROM placed_by_join;
INSERT INTO placed SELECT id, sig FROM placed WHERE (id).shelf = 3;
CALL neardup_pairs('placed', 'id', 'sig', 0.5, 'placed_twice');

SET client_min_messages = warning;
DROP SCHEMA distributed, "Results {t}", elsewhere CASCADE;
DROP ROLE regress_neardup_pairs;
