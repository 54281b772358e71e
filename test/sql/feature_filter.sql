--
-- A few rows joined with many: rows that share too few features with all of the few
-- are not kept
--
CREATE SCHEMA feature_filter_test;
SET search_path = feature_filter_test, public;
\getenv abs_srcdir PG_ABS_SRCDIR
\set file :abs_srcdir '/sql/shared/same_rows.sql'
\i :file
SET test.plan = 'SimilarityJoin';

-- Families of eight, of 4 to 33 elements; in each family the rows have from none to all
-- of them changed, and each row has one of five common elements; some are empty or null
CREATE TABLE many AS
SELECT id, id % 7 AS kind, CASE WHEN id % 97 <> 0 THEN signature_from(ARRAY(
    SELECT CASE WHEN abs(hashint4(e * 131 + id)) % 8 < id % 8 THEN id * 1000 + e
                WHEN e = 1 THEN id % 5 ELSE 1000000 + id / 8 * 1000 + e END
    FROM generate_series(1, CASE WHEN id % 89 = 0 THEN 0 ELSE 4 + id / 8 % 30 END) e)) END AS sig
FROM generate_series(1, 1200) id;
CREATE TABLE few AS SELECT * FROM many WHERE id % 61 = 3;
ANALYZE many, few;

\set file :abs_srcdir '/sql/shared/counter.sql'
\i :file
\set file :abs_srcdir '/sql/shared/set_measures.sql'
\i :file

-- By every measure, in every kind of join, with the few on either side; 2/3 and 4/5 are
-- reached exactly
CREATE TEMP VIEW query AS
SELECT name, format(text, sides.few, sides.many) AS text
FROM (VALUES
    ('inner', 'SELECT a.id, b.id AS b FROM %s a JOIN %s b ON %%s'),
    ('inner, other conditions', 'SELECT a.id, b.id AS b FROM %s a JOIN %s b ON %%s AND a.id < b.id AND a.kind <> b.kind'),
    ('left', 'SELECT a.id, b.id AS b FROM %s a LEFT JOIN %s b ON %%s AND a.kind <> b.kind'),
    ('semi', 'SELECT a.id FROM %s a WHERE EXISTS (SELECT FROM %s b WHERE %%s AND a.id <> b.id)'),
    ('anti', 'SELECT a.id FROM %s a WHERE NOT EXISTS (SELECT FROM %s b WHERE %%s)')) q (name, text),
    (VALUES ('few', 'many'), ('many', 'few')) sides (few, many);
SELECT measure, count(*), bool_and(same_rows(format(text, format('near_duplicate(a.sig, b.sig, %s, %L)', threshold, measure))))
FROM query, set_measures,
    unnest('{0.3,0.6666666666666666,0.8,1}'::text[]) threshold
GROUP BY measure ORDER BY measure;
SELECT same_rows(format(text, 'near_duplicate(a.sig, b.sig, ' || least || ', ''shared'')')) AS same, count(*)
FROM query, unnest('{1,4,12}'::int[]) least GROUP BY same;

-- By every algorithm
SELECT algorithm, bool_and(same_rows(algorithm, format(text, 'near_duplicate(a.sig, b.sig, 0.6)')))
FROM query, unnest('{auto,ppjoin,ppjoin+,probe-count,pair-count,probe-stopwords,probe-optmerge,all-pairs-0,all-pairs-1,all-pairs-2,word-groups}'::text[]) algorithm
GROUP BY algorithm ORDER BY algorithm;

-- Sketches, by their keys or samples, and vectors
SELECT sketch, count(*), bool_and(same_rows(format(text, format('near_duplicate(%s, %s, %s)',
    replace(sketch, 'sig', 'a.sig'), replace(sketch, 'sig', 'b.sig'), threshold))))
FROM query, unnest('{"minhash(sig, 64)","bottom(sig, 12)","sample(sig, 2)",supershingles(sig),megashingles(sig),simhash(sig)}'::text[]) sketch,
    unnest('{0.6}'::text[]) threshold
GROUP BY sketch ORDER BY sketch;
CREATE TABLE many_vectors AS
SELECT id, kind, signature_weighted(sig::bigint[], ARRAY(SELECT (1 + abs(hashint8(f)) % 5)::real FROM unnest(sig::bigint[]) f)) AS sig FROM many;
CREATE TABLE few_vectors AS SELECT * FROM many_vectors WHERE id % 61 = 3;
ANALYZE many_vectors, few_vectors;
SELECT measure, algorithm, count(*), bool_and(same_rows(algorithm, format(replace(replace(text, 'few ', 'few_vectors '), 'many ', 'many_vectors '),
    format('near_duplicate(a.sig, b.sig, %s, %L)', threshold, measure))))
FROM query, unnest('{jaccard,cosine}'::text[]) measure, unnest('{0.4,0.8,1}'::text[]) threshold,
    unnest('{auto,all-pairs-0,all-pairs-1}'::text[]) algorithm
GROUP BY measure, algorithm ORDER BY measure, algorithm;

-- EXPLAIN: most rows are not kept, on either side, and the others fit into little
-- memory
SET enable_nestloop = off;
SELECT name, counter('Rows Removed by Feature Filter', format(text, 'near_duplicate(a.sig, b.sig, 0.8)')) BETWEEN 900 AND 1199 AS removed
FROM query ORDER BY name, removed;
SELECT counter('Rows Removed by Feature Filter', format('SELECT a.id, b.id FROM few%1$s a JOIN many%1$s b ON near_duplicate(%2$s, %3$s, 0.8)',
        what[3], replace(what[2], 'sig', 'a.sig'), replace(what[2], 'sig', 'b.sig'))) > what[4]::int AS removed
FROM (VALUES ('{minhashes,minhash(sig),"",400}'::text[]), ('{samples,"bottom(sig, 40)","",900}'), ('{vectors,sig,_vectors,900}')) v (what);
SET work_mem = '200kB';
SET hash_mem_multiplier = 1;
SELECT counter('Disk Usage', 'SELECT a.id, b.id FROM few a JOIN many b ON near_duplicate(a.sig, b.sig, 0.8)') AS disk,
    counter('Disk Usage', 'SELECT a.id, b.id FROM many a JOIN many b ON near_duplicate(a.sig, b.sig, 0.8)') > 50 AS disk_of_all;
RESET work_mem;
RESET hash_mem_multiplier;
-- A side without features; no filter where both sides are equally large, or one has no
-- known size
CREATE TABLE empty AS SELECT id, signature_from('{}') AS sig FROM few;
ANALYZE empty;
SELECT counter('Rows Removed by Feature Filter', 'SELECT a.id, b.id FROM empty a JOIN many b ON near_duplicate(a.sig, b.sig, 0.8)') AS empty,
    counter('Rows Removed by Feature Filter', 'SELECT a.id, b.id FROM many a JOIN (SELECT * FROM many WHERE id > 0) b ON near_duplicate(a.sig, b.sig, 0.8)') AS all;
RESET enable_nestloop;

-- Where a side has no rows, or no signatures, no sets are made of the other one, also if its rows are all kept
CREATE TABLE nothing AS SELECT id, NULL::signature AS sig FROM few;
ANALYZE nothing;
SELECT start, counter('Sets', format('SELECT a.id FROM many a %s nothing b ON near_duplicate(a.sig, b.sig, 0.8) %s', start, rest)) AS sets
FROM (VALUES ('JOIN', ''), ('LEFT JOIN', ''), ('LEFT JOIN', 'AND b.id < 0'), ('LEFT JOIN', 'WHERE b.id IS NULL')) v(start, rest);
SELECT (SELECT count(*) FROM many) = count(*) AS "all", count(b) AS partners
FROM many a LEFT JOIN nothing b ON near_duplicate(a.sig, b.sig, 0.8);

-- The few are so large that they are on disk when the many are read: parts of them,
-- changed copies, and sets that share little or nothing with them
CREATE TABLE large AS
SELECT id, id % 7 AS kind, signature_from(ARRAY(
    SELECT id::bigint * 1000000 + e * e FROM generate_series(1, 4000 + id) e)) AS sig
FROM generate_series(1, 10) id;
CREATE TABLE parts AS
SELECT id, id % 7 AS kind, signature_from(ARRAY(
    SELECT CASE WHEN abs(hashint4(e * 131 + id)) % 10 < id % 11 THEN -(id::bigint * 1000 + e)
                ELSE (1 + id % 10)::bigint * 1000000 + (id + e) * (id + e) END
    FROM generate_series(1, CASE WHEN id % 500 = 0 THEN 0 ELSE 3 + id / 8 % 30 END) e)) AS sig
FROM generate_series(1, 1000) id
UNION ALL
SELECT 5000 + id, id % 7, signature_from(ARRAY(
    SELECT CASE WHEN e % 40 < id % 9 THEN -(id::bigint * 10000 + e) ELSE (1 + id % 10)::bigint * 1000000 + e * e END
    FROM generate_series(1, 4001) e)) FROM generate_series(1, 20) id;
CREATE TABLE large_samples AS SELECT id, kind, bottom(sig, 3000) AS sig FROM large;
CREATE TABLE part_samples AS SELECT id, kind, bottom(sig, 3000) AS sig FROM parts;
ANALYZE large, parts, large_samples, part_samples;
CREATE TEMP VIEW large_query AS
SELECT name, replace(replace(text, 'few ', 'large '), 'many ', 'parts ') AS text FROM query;
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
SELECT measure, count(*), bool_and(same_rows(format(text, format('near_duplicate(a.sig, b.sig, %s, %L)', threshold, measure))))
FROM large_query, unnest('{jaccard,containment,contains,overlap_coefficient}'::text[]) measure, unnest('{0.5,0.9}'::text[]) threshold
GROUP BY measure ORDER BY measure;
SELECT count(*), bool_and(same_rows(format(replace(replace(text, 'large ', 'large_samples '), 'parts ', 'part_samples '),
    'near_duplicate(a.sig, b.sig, 0.6)'))) FROM large_query;
SELECT measure, threshold, counter('Rows Removed by Feature Filter',
    format('SELECT a.id, b.id FROM parts a JOIN large b ON near_duplicate(a.sig, b.sig, %s, %L)', threshold, measure)) > least AS removed
FROM (VALUES ('jaccard', 0.5, 200), ('containment', 0.9, 700)) v (measure, threshold, least);
-- The filter ends at the rows of a different spec
INSERT INTO parts SELECT id + 10000, 99, minhash(sig) FROM parts WHERE id = 7;
INSERT INTO parts SELECT id + 20000, kind, sig FROM parts;
SET enable_nestloop = off;
SELECT count(*), count(*) FILTER (WHERE a.id > 20000) FROM parts a JOIN large b ON near_duplicate(a.sig, b.sig, 0.9, 'containment') AND a.kind = b.kind;
SELECT count(*) FROM parts a JOIN large b ON near_duplicate(a.sig, b.sig, 0.9, 'containment');
RESET enable_nestloop;
RESET work_mem;
RESET hash_mem_multiplier;

-- More rows pass than not: then most are not examined
CREATE TABLE often AS
SELECT n AS id, 0 AS kind, (SELECT sig FROM few WHERE id = 64) AS sig FROM generate_series(1, 3000) n
UNION ALL SELECT id + 6000, kind, sig FROM many
UNION ALL SELECT id + 9000, kind, sig FROM many;
ANALYZE often;
SELECT name, same_rows(format(replace(text, 'many', 'often'), 'near_duplicate(a.sig, b.sig, 0.6)')) FROM query ORDER BY 1;

-- A different spec among the many
INSERT INTO many SELECT id + 10000, 99, minhash(sig) FROM many WHERE id = 700;
INSERT INTO many SELECT id + 20000, kind, sig FROM many WHERE id = 64;
SET enable_nestloop = off;
SELECT count(*) FROM few a JOIN many b ON near_duplicate(a.sig, b.sig, 0.8);
SELECT count(*) FROM many a JOIN few b ON near_duplicate(a.sig, b.sig, 0.8);
SELECT count(*) FROM few a JOIN many b ON near_duplicate(a.sig, b.sig, 0.8) AND a.kind = b.kind;
SELECT count(*) FROM few a JOIN many b ON near_duplicate(a.sig, b.sig, 0.8) AND (a.id = b.id OR b.id > 20000 AND a.id = 64);

RESET enable_nestloop;
SET client_min_messages = warning;
DROP SCHEMA feature_filter_test CASCADE;
