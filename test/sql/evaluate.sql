--
-- Evaluation: pairs and clusters against the truth, methods against each other
--
\set SHOW_CONTEXT never

-- F: recall counts beta times as much as precision
SELECT beta, round(f_measure(0.8, 0.5, beta)::numeric, 6) AS f FROM unnest('{0, 0.5, 1, 2, 1000}'::float8[]) beta;
SELECT f_measure(0, 0), f_measure(1, 1), f_measure(0.3, 0.3, 7);
SELECT f_measure(1.1, 0.5);
SELECT f_measure(0.5, 'nan');
SELECT f_measure(0.5, 0.5, -1);
-- table 2 of the survey: F follows from recall and precision
SELECT method, recall, precision, f, round(f_measure(precision, recall)::numeric, 2) AS computed
FROM (VALUES ('Long Sent', .84, .80, .82), ('TF', .60, .94, .73), ('Heavy Sent', .62, .86, .72), ('TF-IDF', .54, .96, .69),
             ('I-Match', .50, .97, .66), ('descriptive words', .44, .77, .56), ('megashingles', .36, .91, .51), ('MD5', .23, 1.0, .38)) t (method, recall, precision, f)
WHERE abs(f_measure(precision, recall) - f) > 0.015;

-- Pairs: 4 found, 3 of them true, of 5 that are
CREATE TEMP TABLE found (a int, b int, similarity float8);
CREATE TEMP TABLE truth (a int, b int);
INSERT INTO found VALUES (1, 2, 0.9), (1, 3, 0.8), (2, 3, 1.0), (4, 5, 0.85);
INSERT INTO truth VALUES (1, 2), (1, 3), (2, 3), (6, 7), (6, 8);
SELECT (pair_evaluation(f.a IS NOT NULL, t.a IS NOT NULL, f.similarity)).*
FROM found f FULL JOIN truth t USING (a, b);
SELECT (pair_evaluation(true, a < 4, similarity)).* FROM found WHERE similarity > 0.85;
SELECT (pair_evaluation(true, false, similarity)).* FROM found WHERE similarity > 2;
SELECT (pair_evaluation(true, a < 4, NULL)).* FROM found;
SELECT (pair_evaluation(false, true, 0.5)).* FROM truth;
-- in parallel
BEGIN;
SET LOCAL parallel_setup_cost = 0;
SET LOCAL parallel_tuple_cost = 0;
SET LOCAL min_parallel_table_scan_size = 0;
SET LOCAL max_parallel_workers_per_gather = 2;
CREATE TABLE many AS SELECT i % 3 = 0 AS found, i % 5 = 0 AS correct, (i * 7919 % 1000) / 1000.0 AS similarity FROM generate_series(1, 30000) i;
EXPLAIN (COSTS OFF) SELECT pair_evaluation(found, correct, similarity) FROM many;
SELECT (pair_evaluation(found, correct, similarity)).* FROM many;
SELECT count(*) FILTER (WHERE found) AS found, count(*) FILTER (WHERE correct) AS correct, count(*) FILTER (WHERE found AND correct) AS both,
       max(similarity) FILTER (WHERE found AND NOT correct) AS highest, min(similarity) FILTER (WHERE found AND correct) AS lowest FROM many;
ROLLBACK;

-- Clusters: the example of Hubert and Arabie's index, 6 items
SELECT (cluster_evaluation(found, truth)).*
FROM unnest('{1,1,1,2,2,2}'::int[], '{a,a,b,b,c,c}'::text[]) t (found, truth);
-- as computed from its definition, with all pairs
CREATE TEMP TABLE clusters AS
SELECT i, (i * 7919 % 101) % 7 AS found, CASE WHEN i % 4 = 0 THEN (i * 104729 % 211) % 5 ELSE (i * 7919 % 101) % 7 END AS truth FROM generate_series(1, 200) i;
SELECT round((e).adjusted_rand::numeric, 12) = round(((shared - expected) / ((f + t) / 2 - expected))::numeric, 12) AS rand,
       round((e).bcubed_precision::numeric, 12) = round(p::numeric, 12) AS precision, round((e).bcubed_recall::numeric, 12) = round(r::numeric, 12) AS recall,
       (e).items, (e).found_clusters, (e).true_clusters
FROM (SELECT cluster_evaluation(found, truth) AS e FROM clusters) x,
     (SELECT shared, f, t, f * t / n AS expected
      FROM (SELECT count(*)::float8 AS n, count(*) FILTER (WHERE a.found = b.found AND a.truth = b.truth)::float8 AS shared,
                   count(*) FILTER (WHERE a.found = b.found)::float8 AS f, count(*) FILTER (WHERE a.truth = b.truth)::float8 AS t
            FROM clusters a JOIN clusters b ON a.i < b.i) c) y,
     (SELECT avg(p) AS p, avg(r) AS r
      FROM (SELECT a.i, count(*) FILTER (WHERE a.found = b.found AND a.truth = b.truth)::float8 / count(*) FILTER (WHERE a.found = b.found) AS p,
                   count(*) FILTER (WHERE a.found = b.found AND a.truth = b.truth)::float8 / count(*) FILTER (WHERE a.truth = b.truth) AS r
            FROM clusters a, clusters b GROUP BY a.i) s) z;
-- the borders, and items without a cluster, each of which is one
SELECT name, (cluster_evaluation(found, truth)).*
FROM (VALUES ('same', 1, 5), ('same', 2, 6), ('same', 1, 5), ('one', 1, 1), ('one', 1, 1), ('singletons', 1, 1), ('singletons', 2, 2),
             ('opposite', 1, 1), ('opposite', 1, 2), ('no label', NULL, 1), ('no label', NULL, 2), ('no label', 1, 3), ('no label', 1, 3), ('alone', 1, 1)) v (name, found, truth)
GROUP BY name ORDER BY name;
SELECT cluster_evaluation(1, 2) IS NULL AS none WHERE false;
-- many items, of which those without a label stay apart
BEGIN;
CREATE TABLE items AS SELECT i, nullif(i * 7919 % 1009, 0) % 700 AS found, (i * 7919 % 1009) % 650 || CASE WHEN i % 31 > 0 THEN '' END AS truth FROM generate_series(1, 30000) i;
CREATE TEMP TABLE alone AS SELECT (cluster_evaluation(found, truth)).* FROM items;
SELECT count(found) AS found, count(DISTINCT found) + count(*) - count(found) = (SELECT found_clusters FROM alone) AS found_clusters,
       count(truth) AS truth, count(DISTINCT truth) + count(*) - count(truth) = (SELECT true_clusters FROM alone) AS true_clusters FROM items;
ROLLBACK;
SELECT cluster_evaluation(box '(0,0),(1,1)', 1);

-- Methods
CREATE TEMP TABLE texts (id int PRIMARY KEY, body text, source text);
INSERT INTO texts VALUES
(1, 'The quick brown fox jumps over the lazy dog near the river. It was a sunny day.', 'a'),
(2, 'The quick brown fox jumps over the lazy dog near the river. It was a rainy day.', 'b'),
(3, 'The quick brown fox jumps over the lazy dog near the river. It was a sunny day.', 'b'),
(4, 'An entirely different text about databases and their indexes. They are fast.', 'a'),
(5, 'An entirely different text about indexes and their databases. They are fast.', 'b');
CREATE TEMP TABLE stats AS SELECT lexicon_agg(body) AS lexicon FROM texts;
SELECT method, threshold, signatures, found, correct, round(recall::numeric, 2) AS recall, round("precision"::numeric, 2) AS precision,
       round(f::numeric, 2) AS f, round(highest_false_match::numeric, 2) AS hfm, round(separation::numeric, 2) AS separation, true_pairs,
       make_ms > 0 AND find_ms > 0 AND bytes > 20 AS measured
FROM evaluate_methods('SELECT * FROM texts', $$SELECT * FROM (VALUES (1, 2), (3, 1), (3, 2), (4, 5), (5, 4), (1, 99)) t (id1, id2)$$,
    '{shingles(body), text_hash(body), long_sentences(body), "long_sentences(body, n => 1)", "top_words(body, (SELECT lexicon FROM stats))", "shingles(body, ''k=1'')", "text_hash('''')"}',
    '{0.6, 0.8, 0.8, 0.8, 0.8, 0.6, 0.8}');
-- only pairs of different sources are judged
SELECT method, found, correct, true_pairs
FROM evaluate_methods('SELECT id, body, source FROM texts', 'SELECT 1 AS id1, 2 AS id2 UNION SELECT 1, 3 UNION SELECT 2, 3',
    '{text_hash(body), shingles(body)}', '{0.5}', 'a.source <> b.source');
-- a is the document of the lesser id, in found pairs and in true ones of any order
SELECT ids, found, correct, true_pairs, recall
FROM (VALUES ('SELECT 1 AS id1, 3 AS id2 UNION SELECT 2, 3'), ('SELECT 3 AS id1, 1 AS id2 UNION SELECT 3, 2')) v (ids),
     evaluate_methods('SELECT id, body FROM texts', ids, '{shingles(body)}', '{0.5}', 'a.id = 1') ORDER BY ids;
-- by other measures, of the document of the lesser id first
SELECT measure, found, correct, round(highest_false_match::numeric, 4) AS hfm, round(separation::numeric, 4) AS separation, values
FROM (VALUES (1, 'jaccard'), (2, 'dice'), (3, 'cosine'), (4, 'overlap_coefficient'), (5, 'containment'), (6, 'contains')) v (n, measure),
     evaluate_methods($$SELECT id, body FROM texts UNION ALL SELECT 6, 'The quick brown fox jumps over the lazy dog near the river.'$$,
                      'SELECT 3 AS id1, 6 AS id2', '{shingles(body)}', '{0.55}', 'true', ARRAY[measure]) e,
     (SELECT round(similarity(a, b)::numeric, 4) || ' ' || round(dice(a, b)::numeric, 4) || ' ' || round(cosine(a, b)::numeric, 4) || ' ' ||
             round(containment(a, b)::numeric, 4) || ' ' || round(containment(b, a)::numeric, 4) AS values
      FROM texts, shingles(body) a, shingles('The quick brown fox jumps over the lazy dog near the river.') b WHERE id = 3) x ORDER BY n;
SELECT method, round(highest_false_match::numeric, 4) AS hfm
FROM evaluate_methods('SELECT * FROM texts', 'SELECT 1 AS id1, 3 AS id2', '{shingles(body), weighted_words(body), weighted_words(body)}', '{0.1}', 'true', '{containment, cosine, jaccard}');
SELECT * FROM evaluate_methods('SELECT * FROM texts', 'SELECT 1 AS id1, 1 AS id2', '{shingles(body)}', '{NaN}');
SELECT * FROM evaluate_methods('SELECT * FROM texts WHERE false', 'SELECT 1 AS id1, 1 AS id2', '{shingles(body),shingles(body)}', '{0.5,2}');
SELECT * FROM evaluate_methods('SELECT * FROM texts', 'SELECT 1 AS id1, 1 AS id2', '{shingles(body)}', measures => '{euclid}');
SELECT * FROM evaluate_methods('SELECT * FROM texts', 'SELECT 1 AS id1, 1 AS id2', '{shingles(body)}', measures => '{dice,cosine}');
SELECT relname FROM pg_class WHERE relname LIKE 'neardup\_%' AND relpersistence = 't';
SELECT * FROM evaluate_methods('SELECT * FROM texts -- all', 'SELECT 1 AS id1, 1 AS id2 -- none', '{}');
SELECT * FROM evaluate_methods('SELECT * FROM texts; SELECT 1', 'SELECT 1 AS id1, 1 AS id2', '{}');
SELECT * FROM evaluate_methods('DELETE FROM texts RETURNING *', 'SELECT 1 AS id1, 1 AS id2', '{}');
SELECT * FROM evaluate_methods('SELECT 1 AS id', 'SELECT 1 AS id1, 1 AS id2', '{}', '{}');
SELECT * FROM evaluate_methods('SELECT * FROM texts', 'SELECT 1 AS id1, 1 AS id2', '{shingles(body), text_hash(body)}', '{0.8, 0.8, 0.8}');
SELECT * FROM evaluate_methods('SELECT * FROM texts', 'SELECT 1 AS id1, 1 AS id2', '{NULL}');
SELECT * FROM evaluate_methods('SELECT * FROM texts', 'SELECT 1 AS id1, 1 AS id2', '{shingles(body)}', '{0}');
SELECT * FROM evaluate_methods('SELECT * FROM texts UNION ALL SELECT * FROM texts', 'SELECT 1 AS id1, 1 AS id2', '{shingles(body)}');
SELECT * FROM evaluate_methods('SELECT NULLIF(id, 2) AS id, body FROM texts', 'SELECT 1 AS id1, 1 AS id2', '{shingles(body)}');
SELECT * FROM evaluate_methods('SELECT * FROM texts', 'SELECT 1 AS id1, 1 AS id2', '{length(body)}');

-- A method and a condition are one expression each
SELECT * FROM evaluate_methods('SELECT 1 AS id, ''a b''::text AS doc', 'SELECT 1 AS id1, 2 AS id2',
    '{shingles(doc)) AS neardup_signature; COMMIT; SELECT (1}', '{0.5}');
SELECT * FROM evaluate_methods('SELECT 1 AS id, ''a b''::text AS doc', 'SELECT 1 AS id1, 2 AS id2',
    '{shingles(doc)}', '{0.5}', 'true); COMMIT; SELECT (true');
-- it may end in a comment, as queries may
SELECT method, found, correct FROM evaluate_methods('SELECT * FROM (VALUES (1, ''a b''), (2, ''a b'')) d (id, body) -- two', 'SELECT 1 AS id1, 2 AS id2',
    '{shingles(body) -- of words}', '{0.5}', 'a.id < b.id -- each');
SELECT method, found, correct FROM evaluate_thresholds('SELECT * FROM (VALUES (1, ''a b''), (2, ''a b'')) d (id, body)', 'SELECT 1 AS id1, 2 AS id2',
    '{shingles(body) -- of words}', '{0.5}', 'a.id < b.id -- each');
-- Ids of documents and of true pairs may be of types that are compared in one of them
SELECT ids, truth, found, correct, true_pairs
FROM unnest('{int,bigint,varchar,char(2),text,numeric}'::text[], '{bigint,smallint,text,char(3),varchar,float8}'::text[]) t (ids, truth),
     evaluate_methods(format('SELECT i::text::%s AS id, ''a b''::text AS body FROM generate_series(10, 12) i', ids),
                      format('SELECT 11::text::%s AS id1, 10::text::%1$s AS id2', truth), '{shingles(body)}') ORDER BY ids;
SELECT * FROM evaluate_methods('SELECT 1 AS id, ''a b''::text AS doc', 'SELECT ''1'' AS id1, 2 AS id2', '{shingles(doc)}');
SELECT * FROM evaluate_methods('SELECT 1 AS id, ''a b''::text AS doc', 'SELECT ''1''::text AS id1, ''2''::text AS id2', '{shingles(doc)}');
-- of several fields, of which one is null
CREATE TYPE place AS (shelf int, label text);
SELECT found, true_pairs, correct FROM evaluate_methods('SELECT ROW(i, NULL)::place AS id, ''a b''::text AS body FROM generate_series(1, 3) i',
    'SELECT ROW(2, NULL)::place AS id1, ROW(1, NULL)::place AS id2', '{shingles(body)}');
SELECT found, true_pairs, correct FROM evaluate_thresholds('SELECT ROW(i, NULL)::place AS id, ''a b''::text AS body FROM generate_series(1, 3) i',
    'SELECT ROW(2, NULL)::place AS id1, ROW(1, NULL)::place AS id2', '{shingles(body)}', '{0.5}');
SELECT * FROM evaluate_methods('SELECT ROW(1, NULL)::place AS id, ''a b''::text AS body FROM generate_series(1, 3) i',
    'SELECT ROW(2, NULL)::place AS id1, ROW(1, NULL)::place AS id2', '{shingles(body)}');
DROP TYPE place;
-- The documents' collation orders two ids, whatever the collation of the truth
CREATE COLLATION dictionary (provider = icu, locale = 'en');
SELECT found, true_pairs, correct FROM evaluate_methods(
    $$SELECT id COLLATE dictionary AS id, body FROM (VALUES ('a', 'x y z'), ('B', 'x y z'), ('c', 'u v w'), ('D', 'u v w')) v (id, body)$$,
    $$SELECT * FROM (VALUES ('a', 'B'), ('D', 'c'), ('c', 'D')) v (id1, id2)$$, '{shingles(body)}');
DROP COLLATION dictionary;
