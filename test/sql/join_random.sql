--
-- The similarity join against the nested loop, on random sets
--

CREATE SCHEMA join_random;
SET search_path = join_random, public;

\getenv abs_srcdir PG_ABS_SRCDIR
\set file :abs_srcdir '/sql/shared/random_sets.sql'
\i :file
CREATE TABLE sets AS
SELECT r AS id, r % 7 AS kind, random_set(r) AS sig FROM generate_series(1, 200) r;
SELECT count(*), count(sig), count(DISTINCT sig),
    count(*) FILTER (WHERE sig = signature_from('{}')) AS empty
FROM sets;
CREATE VIEW left_sets AS SELECT * FROM sets WHERE id % 3 < 2;
CREATE VIEW right_sets AS SELECT * FROM sets WHERE id % 3 > 0;

\set file :abs_srcdir '/sql/shared/same_rows.sql'
\i :file
SET test.plan = 'SimilarityJoin';
\set file :abs_srcdir '/sql/shared/set_measures.sql'
\i :file

CREATE TEMP VIEW condition AS
SELECT measure, t AS threshold,
    format('near_duplicate(a.sig, b.sig, %s, %L)', t, measure) AS clause
FROM set_measures,
    unnest('{0.01,0.3333333333333333,0.5,0.6,0.8,0.95,1}'::text[]) t
UNION ALL
SELECT 'shared', t, format('near_duplicate(a.sig, b.sig, %s, ''shared'')', t)
FROM unnest('{1,2,3,5,9,2147483647}'::text[]) t;
CREATE TEMP VIEW query AS
SELECT measure, threshold, name, format(text, clause) AS text
FROM condition, (VALUES
    ('inner', 'SELECT a.id, b.id AS b FROM left_sets a JOIN right_sets b ON %s'),
    ('self', 'SELECT a.id, b.id AS b FROM sets a JOIN sets b ON %s AND a.id < b.id'),
    ('self left', 'SELECT a.id, b.id AS b FROM sets a LEFT JOIN sets b ON %s AND a.kind <> b.kind'),
    ('left', 'SELECT a.id, b.id AS b FROM left_sets a LEFT JOIN right_sets b ON %s AND a.kind <> b.kind'),
    ('semi', 'SELECT a.id FROM left_sets a WHERE EXISTS (SELECT FROM right_sets b WHERE %s)'),
    ('semi filtered', 'SELECT a.id FROM left_sets a WHERE EXISTS (SELECT FROM right_sets b WHERE %s AND a.kind > b.kind)'),
    ('anti', 'SELECT a.id FROM left_sets a WHERE NOT EXISTS (SELECT FROM right_sets b WHERE %s)'),
    ('anti filtered', 'SELECT a.id FROM sets a WHERE NOT EXISTS (SELECT FROM sets b WHERE %s AND b.id < a.id)'))
    q(name, text);

-- In memory
SELECT name, count(*), bool_and(same_rows(text)) FROM query
WHERE name IN ('inner', 'self', 'left', 'anti')
    OR threshold IN ('0.3333333333333333', '0.8', '1', '3')
GROUP BY name ORDER BY name;

-- The value of a pair, which the join returns: of sets, sketches, vectors, and of several
-- specs; in the output, in a filter, above an outer join; the arguments in either order
CREATE TABLE kinds AS
SELECT r AS id, random_set(r) AS sig FROM generate_series(1, 120) r
UNION ALL SELECT 200 + r, minhash(random_set(r), 32) FROM generate_series(1, 40) r
UNION ALL SELECT 300 + r, simhash(random_set(r)) FROM generate_series(1, 40) r
UNION ALL SELECT 400 + r, bottom(random_set(r), 8) FROM generate_series(1, 40) r
UNION ALL SELECT 500 + r, weighted_words(repeat('common ', r % 4) || 'a' || r % 3 || ' b' || r % 5 || ' c' || r % 7) FROM generate_series(1, 40) r;
CREATE VIEW exact_kinds AS SELECT * FROM kinds WHERE id < 200;
CREATE VIEW weighted_kinds AS SELECT * FROM kinds WHERE id > 500;
CREATE TEMP VIEW value_query AS
SELECT call, name, format(text, call, source, format('near_duplicate(a.sig, b.sig, %s, %L)', threshold, measure)) AS text
FROM (VALUES ('similarity(a.sig, b.sig)', 'jaccard', 'kinds'), ('similarity(b.sig, a.sig)', 'similarity', 'kinds'),
             ('dice(a.sig, b.sig)', 'dice', 'exact_kinds'), ('cosine(b.sig, a.sig)', 'cosine', 'exact_kinds'),
             ('cosine(a.sig, b.sig)', 'cosine', 'weighted_kinds'), ('dice(a.sig, b.sig)', 'jaccard', 'exact_kinds'),
             ('containment(a.sig, b.sig)', 'containment', 'exact_kinds'), ('containment(b.sig, a.sig)', 'containment', 'exact_kinds'),
             ('containment(b.sig, a.sig)', 'contains', 'exact_kinds'), ('1 - (a.sig <-> b.sig)', 'jaccard', 'kinds')) c (call, measure, source),
    unnest('{0.3,0.8,1}'::text[]) threshold, (VALUES
    ('inner', 'SELECT a.id, b.id AS b, %1$s AS value FROM %2$s a JOIN %2$s b ON %3$s AND a.id < b.id'),
    ('filter', 'SELECT a.id, b.id AS b FROM %2$s a JOIN %2$s b ON %3$s AND a.id <> b.id AND %1$s BETWEEN 0.5 AND 0.9'),
    ('left', 'SELECT a.id, b.id AS b, %1$s AS value, a.sig AS sig FROM %2$s a LEFT JOIN (SELECT * FROM %2$s WHERE id %% 3 > 0) b ON %3$s AND a.id > b.id'),
    ('above', 'SELECT a.id, b.id AS b FROM %2$s a LEFT JOIN (SELECT * FROM %2$s WHERE id %% 3 > 0) b ON %3$s AND a.id > b.id WHERE coalesce(%1$s, 2) > 0.6')) q (name, text)
WHERE name <> 'filter' OR source <> 'kinds'; -- an error of a nested loop
SET client_min_messages = error; -- specs that differ
SELECT call, count(*), bool_and(same_rows(text)) FROM value_query GROUP BY call ORDER BY call;
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
SELECT name, count(*), bool_and(same_rows(text)) FROM value_query GROUP BY name ORDER BY name;
RESET work_mem;
RESET hash_mem_multiplier;
RESET client_min_messages;
-- ... so that its function is not called, nor are signatures kept
BEGIN;
SET LOCAL track_functions = 'all';
SET LOCAL enable_nestloop = off;
SELECT count(similarity) FROM (SELECT similarity(a.sig, b.sig) FROM sets a JOIN sets b ON near_duplicate(a.sig, b.sig, 0.5) AND a.id < b.id OFFSET 0) p;
SELECT count(dice) FROM (SELECT dice(a.sig, b.sig) FROM sets a JOIN sets b ON near_duplicate(a.sig, b.sig, 0.5) AND a.id < b.id OFFSET 0) p;
SELECT name, pg_stat_get_xact_function_calls(format('%s(signature, signature)', name)::regprocedure) FROM unnest('{similarity,dice}'::text[]) name;
COMMIT;

-- Every algorithm
CREATE TEMP VIEW algorithm AS
SELECT unnest('{auto,ppjoin,ppjoin+,probe-count,pair-count,probe-stopwords,probe-optmerge,all-pairs-0,all-pairs-1,all-pairs-2,word-groups}'::text[]) AS name;
SELECT a.name, count(*), bool_and(same_rows(a.name, text))
FROM algorithm a, query q
WHERE q.name IN ('self', 'left') AND threshold IN ('0.3333333333333333', '0.6', '0.8')
GROUP BY a.name ORDER BY a.name;

-- Sketches, computed: some with several parameters, and every other method of the catalogs
\set file :abs_srcdir '/sql/shared/method_calls.sql'
\i :file
CREATE TEMP VIEW sketch AS
SELECT unnest('{"minhash(sig, 16)","minhash(sig, 64)","bottom(sig, 8)","sample(sig, 2)"}'::text[]) AS sketch
UNION ALL
SELECT format(call, 'sig') FROM method_calls WHERE takes = 'signature'::regtype AND method NOT IN ('minhash', 'bottom', 'sample');
CREATE TEMP VIEW sketch_query AS
SELECT sketch, threshold, name, format(text,
    format('near_duplicate(%1$s, %2$s, %3$s)', replace(sketch, 'sig', 'a.sig'),
           replace(sketch, 'sig', 'b.sig'), threshold)) AS text
FROM sketch, unnest('{0.4,0.8}'::text[]) threshold, (VALUES
    ('inner', 'SELECT a.id, b.id AS b FROM left_sets a JOIN right_sets b ON %s AND a.kind <> b.kind'),
    ('left', 'SELECT a.id, b.id AS b FROM left_sets a LEFT JOIN right_sets b ON %s'),
    ('anti', 'SELECT a.id FROM left_sets a WHERE NOT EXISTS (SELECT FROM right_sets b WHERE %s)'))
    q(name, text);
SELECT sketch, count(*), bool_and(same_rows(text)) FROM sketch_query
GROUP BY sketch ORDER BY sketch;

-- ... and pairs that share a single key
CREATE TABLE barely (sketch text, id int, sig signature);
DO $$
DECLARE
    each text;
BEGIN
    FOR each IN SELECT s.sketch FROM sketch s LOOP
        EXECUTE format('INSERT INTO barely SELECT %1$L, row_number() OVER (), near FROM (SELECT %1$s AS v FROM sets ORDER BY cardinality(sig::bigint[]) DESC NULLS LAST, id LIMIT 1) s,
            LATERAL (SELECT v AS near UNION ALL SELECT * FROM pg_temp.barely_near(v, 0.8)) n', each);
    END LOOP;
END $$;
ANALYZE barely;
SELECT sketch, same_rows(format('SELECT a.id, b.id AS b FROM barely a JOIN barely b ON near_duplicate(a.sig, b.sig, 0.8) AND a.id < b.id WHERE a.sketch = %1$L AND b.sketch = %1$L', sketch))
FROM sketch ORDER BY sketch;

-- MIN_s of more values than must be shared: families of eight, from equal sets to sets
-- that share little, of several sizes
CREATE TABLE samples AS
SELECT id, bottom(signature_from(ARRAY(
    SELECT hashint8extended(CASE WHEN abs(hashint4(e * 131 + id)) % 14 < id % 8 THEN id ELSE 1000 + id / 8 END * 1000 + e, 0)
    FROM generate_series(1, 20 + id / 4) e)), 60) AS sig
FROM generate_series(1, 240) id;
SELECT threshold, same_rows(format('SELECT a.id, b.id AS b FROM samples a JOIN samples b ON near_duplicate(a.sig, b.sig, %s)', threshold)) AS same,
    (SELECT count(*) FROM samples a JOIN samples b ON near_duplicate(a.sig, b.sig, threshold) AND a.id < b.id) AS pairs
FROM unnest('{0.2,0.4,0.6,0.8,0.9,1}'::float8[]) threshold ORDER BY threshold;

-- On disk: in several batches
CREATE TABLE many AS
SELECT id, kind, sig, repeat('x', id) AS text FROM sets
UNION ALL
SELECT id + 1000, kind, signature_from(ARRAY(SELECT id * 1000 + e FROM generate_series(1, 50) e)), '' FROM sets WHERE id <= 60
UNION ALL
SELECT id + 2000, kind, signature_from(ARRAY(SELECT id * 1000 + e FROM generate_series(3, 51) e)), '' FROM sets WHERE id <= 60;
CREATE VIEW other_many AS SELECT * FROM many WHERE id > 0;
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
\set file :abs_srcdir '/sql/shared/counter.sql'
\i :file
SELECT counter('Disk Usage', 'SELECT a.text, b.text FROM many a JOIN many b ON near_duplicate(a.sig, b.sig, 0.8)') > 64;
SET neardup.join_algorithm = 'ppjoin';
SELECT counter('Batches', 'SELECT a.text, b.text FROM many a JOIN many b ON near_duplicate(a.sig, b.sig, 0.8)') > 5;
SELECT counter('Batches', 'SELECT a.text, b.text FROM many a JOIN other_many b ON near_duplicate(a.sig, b.sig, 0.8)') > 5;
RESET neardup.join_algorithm;
CREATE FUNCTION on_many(query text) RETURNS text LANGUAGE sql AS $$
    SELECT regexp_replace(replace(query, 'right_sets', 'other_many'),
                          '(left_)?sets', 'many', 'g') $$;
SELECT name, count(*), bool_and(same_rows(on_many(text)))
FROM query WHERE (threshold IN ('0.5', '0.8') OR measure = 'shared' AND threshold = '1')
    AND (name ~ 'self|left' OR threshold = '0.8')
GROUP BY name ORDER BY name;

SELECT sketch, count(*), bool_and(same_rows(on_many(text)))
FROM sketch_query WHERE threshold = '0.8' AND name = 'anti'
GROUP BY sketch ORDER BY sketch;

SELECT a.name, count(*), bool_and(same_rows(a.name, on_many(text)))
FROM algorithm a, query q WHERE threshold = '0.6' AND q.name = 'left'
GROUP BY a.name ORDER BY a.name;

-- A group of equal sets that is larger than memory
CREATE TABLE equal AS
SELECT i AS id, signature_from(ARRAY[i % 3, 10, 11]) AS sig, repeat('y', 500) AS text
FROM generate_series(1, 300) i;
CREATE VIEW other_equal AS SELECT * FROM equal WHERE id > 0;
SELECT counter('Disk Usage', 'SELECT a.text, b.text FROM equal a JOIN equal b ON near_duplicate(a.sig, b.sig, 0.4)') > 250;
SELECT counter('Disk Usage', 'SELECT a.text, b.text FROM equal a JOIN other_equal b ON near_duplicate(a.sig, b.sig, 0.4)') > 500;
SELECT same_rows('SELECT a.id, b.id AS b, md5(a.text || b.text) FROM equal a JOIN equal b ON near_duplicate(a.sig, b.sig, 0.4) AND a.id < b.id');
SELECT same_rows('SELECT a.id, b.id AS b, md5(a.text || b.text) FROM equal a LEFT JOIN equal b ON near_duplicate(a.sig, b.sig, 0.6) AND a.id > b.id + 250');
SELECT same_rows('SELECT a.id, b.id AS b, md5(a.text || b.text) FROM equal a JOIN other_equal b ON near_duplicate(a.sig, b.sig, 0.4) AND a.id < b.id');
SELECT same_rows('SELECT a.id, b.id AS b, md5(a.text || b.text) FROM equal a LEFT JOIN other_equal b ON near_duplicate(a.sig, b.sig, 0.6) AND a.id > b.id + 250');

SET client_min_messages = warning;
DROP SCHEMA join_random CASCADE;
