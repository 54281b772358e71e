--
-- Measures and conditions against arithmetic on arrays
--

SELECT similarity(a, b), containment(a, b), containment(b, a), intersection_size(a, b),
       dice(a, b), cosine(a, b), hamming(a, b), a <-> b AS distance
FROM (SELECT signature_from('{1,2,3,4}') AS a, signature_from('{3,4,5,6,7,8}') AS b) s;
SELECT similarity(a, a), dice(a, a), cosine(a, a), hamming(a, a), a <-> a AS distance
FROM (SELECT signature_from('{1,2,3}') AS a) s;

-- The empty set is similar to nothing, not even to itself
SELECT similarity(e, e), containment(e, a), containment(a, e), intersection_size(e, a),
       dice(e, e), cosine(e, e), hamming(e, a), near_duplicate(e, e, 0.01),
       contained_in(e, a, 0.01), e % e AS op
FROM (SELECT signature_from('{}') AS e, signature_from('{1,2,3}') AS a) s;
SELECT similarity(NULL, signature_from('{1}')), near_duplicate(signature_from('{1}'), NULL, 0.8),
       near_duplicate(signature_from('{1}'), signature_from('{1}'), NULL);

-- Thresholds are greater than 0 and at most 1; measures are known by name
SELECT near_duplicate(signature_from('{1}'), signature_from('{1}'), 1);
SELECT near_duplicate(signature_from('{1}'), signature_from('{1}'), 0);
SELECT near_duplicate(signature_from('{1}'), signature_from('{1}'), 1.0001);
SELECT near_duplicate(signature_from('{1}'), signature_from('{1}'), 80);
-- a text where its signature is wanted
SELECT similarity(signature_from('{1}'), 'A text that somebody has taken for a signature, and which is long: о нём');
SELECT near_duplicate(signature_from('{1}'), signature_from('{1}'), -0.5);
SELECT near_duplicate(signature_from('{1}'), signature_from('{1}'), 'NaN');
SELECT contained_in(signature_from('{1}'), signature_from('{1}'), 'Infinity');
SELECT near_duplicate(signature_from('{1}'), signature_from('{1}'), 0.8, 'euclid');
SELECT near_duplicate(signature_from('{1}'), signature_from('{1}'), 0.8, 'Dice');
SET neardup.threshold = 0;
SET neardup.threshold = 1.5;
SET neardup.threshold = 'NaN';
SET neardup.treshold = 0.5;
SHOW neardup.threshold;

-- Exact fractions: 4/5 of five elements is 0.8, and so on
WITH fraction (o, n) AS (
    SELECT o, n FROM generate_series(1, 60) n, generate_series(1, n) o)
SELECT count(*),
       count(*) FILTER (WHERE contained_in(a, b, o::float8 / n)) AS reached,
       count(*) FILTER (WHERE near_duplicate(a, b, o::float8 / n)) AS jaccard,
       count(*) FILTER (WHERE contained_in(a, b, o::float8 / n + 1e-15)) AS missed
FROM fraction,
     LATERAL (SELECT signature_from(array(SELECT generate_series(1, n))) AS a,
                     signature_from(array(SELECT generate_series(1, o))) AS b) s
WHERE o < n;

-- Operators are the functions at neardup.threshold
SELECT a % b AS near, b <% a AS contained, a %> b AS contains, a <% b AS not_contained
FROM (SELECT signature_from('{1,2,3,4,5}') AS a, signature_from('{1,2,3,4}') AS b) s;
SET neardup.threshold = 0.81;
SELECT a % b AS near, b <% a AS contained, a %> b AS contains
FROM (SELECT signature_from('{1,2,3,4,5}') AS a, signature_from('{1,2,3,4}') AS b) s;
RESET neardup.threshold;

-- also in a session whose first use of it is in a parallel query
CREATE TABLE alike AS
SELECT signature_from('{1,2,3,4,5}') AS a, signature_from('{1,2,3}') AS b FROM generate_series(1, 100);
ALTER TABLE alike SET (parallel_workers = 2);
ANALYZE alike;
CREATE FUNCTION are_alike(a signature, b signature) RETURNS bool LANGUAGE plpgsql STABLE PARALLEL SAFE AS
  $$ BEGIN RETURN a % b; END $$;
\c
SET neardup.threshold = 0.6;
SET neardup.enable_join = off;
SET min_parallel_table_scan_size = 0;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
EXPLAIN (COSTS OFF) SELECT count(*) FROM alike WHERE are_alike(a, b);
SELECT count(*) FROM alike WHERE are_alike(a, b);
SHOW neardup.threshold;
SHOW neardup.enable_join;
DROP TABLE alike;
DROP FUNCTION are_alike;
RESET ALL;

-- Signatures of different spec
SELECT similarity(signature_from('{1}'), 'shingles[k=3]{0000000000000001}');
SELECT near_duplicate('shingles[english k=3]{}', 'shingles[english stop k=3]{}', 0.8);
SELECT signature_from('{1}') % 'shingles[k=3]{}'::signature;
SELECT hamming('shingles[k=2]{}', 'shingles[k=3]{}');

--
-- Random pairs of sets, each measure and threshold, against arrays in SQL
--
CREATE FUNCTION random_set(seed bigint, universe int, size int) RETURNS bigint[]
LANGUAGE sql IMMUTABLE AS $$
    SELECT coalesce(array_agg(DISTINCT (hashint8extended(i, seed) & 2147483647) % universe), '{}')
    FROM generate_series(1, size) i
$$;
CREATE TABLE pairs AS
SELECT id, x, y, cardinality(x) AS nx, cardinality(y) AS ny,
       (SELECT count(*) FROM unnest(x) e WHERE e = ANY (y)) AS o
FROM (SELECT id,
             random_set(id, 12 + id % 29, id % 31) AS x,
             CASE WHEN id % 3 = 0 THEN random_set(id + 1, 12 + id % 29, id % 17)
                  -- the same set with a few elements dropped and added
                  ELSE array(SELECT e FROM unnest(random_set(id, 12 + id % 29, id % 31)) e
                             WHERE hashint8extended(e, id + 7) & 7 > 0
                             UNION SELECT 1000 + g FROM generate_series(1, id % 4) g) END AS y
      FROM generate_series(1, 3000) id) s;
-- the sets are of many sizes and overlaps
SELECT count(*), min(nx), max(nx), min(ny), max(ny), max(o),
       count(*) FILTER (WHERE o > 0 AND o * 5 >= 4 * (nx + ny - o)) > 100 AS many_near
FROM pairs;

CREATE TABLE thresholds (t float8);
INSERT INTO thresholds VALUES (0.001), (0.5), (2.0/3), (0.75), (0.8), (0.9), (0.95), (1);
INSERT INTO thresholds SELECT DISTINCT o::float8 / (nx + ny - o) FROM pairs
WHERE o > 0 AND id % 100 = 1;

\getenv abs_srcdir PG_ABS_SRCDIR
\set file :abs_srcdir '/sql/shared/set_measures.sql'
\i :file
SELECT measure AS has_no_formula FROM set_measures WHERE pg_temp.set_measure_value(measure, 2, 3, 1) IS NULL;
SELECT measure, count(*) AS tests, count(*) FILTER (WHERE expected) > 1000 AS some_true,
       count(*) FILTER (WHERE near_duplicate(sx, sy, t, measure) <> expected) AS wrong,
       count(*) FILTER (WHERE near_duplicate(sy, sx, t, CASE measure
           WHEN 'containment' THEN 'contains' WHEN 'contains' THEN 'containment'
           ELSE measure END) <> expected) AS wrong_mirrored
FROM (SELECT signature_from(x) AS sx, signature_from(y) AS sy, t, v.measure,
             nx > 0 AND ny > 0 AND v.value >= t AS expected
      FROM pairs, thresholds,
           LATERAL (SELECT measure, pg_temp.set_measure_value(measure, nx, ny, o) FROM set_measures) v (measure, value)) s
GROUP BY measure ORDER BY measure;

-- The number of shared elements, of which the threshold is a whole one
SELECT count(*) FILTER (WHERE o >= n) > 1000 AS some_true,
       count(*) FILTER (WHERE near_duplicate(signature_from(x), signature_from(y), n, 'shared') <> (o >= n)) AS wrong
FROM pairs, unnest('{1,2,3,5,10,1000,2147483647}'::int[]) n;
SELECT count(*) FILTER (WHERE shared_values(signature_from(x), signature_from(y)) <> o) AS wrong,
       count(*) FILTER (WHERE intersection_size(sample(signature_from(x), 2), sample(signature_from(y), 2))
                              <> 2 * shared_values(sample(signature_from(x), 2), sample(signature_from(y), 2))) AS wrong_of_samples
FROM pairs;
SELECT shared_values(minhash(signature_from('{1}')), minhash(signature_from('{1}')));
SELECT near_duplicate(signature_from('{1}'), signature_from('{1}'), 0, 'shared');
SELECT near_duplicate(signature_from('{1}'), signature_from('{1}'), 1.5, 'shared');
SELECT near_duplicate(signature_from('{1}'), signature_from('{1}'), 'NaN', 'shared');
SELECT near_duplicate(signature_from('{1}'), signature_from('{1}'), 2147483648, 'shared');
SELECT near_duplicate(minhash(signature_from('{1}')), minhash(signature_from('{1}')), 1, 'shared');
SELECT '47 shared features {0000000000000001}'::signature_query;
SELECT '0.5 shared features {1,2}'::signature_query;

SELECT count(*) FILTER (WHERE intersection_size(sx, sy) <> o) AS overlap,
       count(*) FILTER (WHERE hamming(sx, sy) <> nx + ny - 2 * o) AS hamming,
       count(*) FILTER (WHERE similarity(sx, sy) <> coalesce(o::float8 / nullif(nx + ny - o, 0), 0)) AS similarity,
       count(*) FILTER (WHERE sx <-> sy <> 1 - similarity(sx, sy)) AS distance,
       count(*) FILTER (WHERE dice(sx, sy) <> coalesce(2 * o::float8 / nullif(nx + ny, 0), 0)) AS dice
FROM (SELECT *, signature_from(x) AS sx, signature_from(y) AS sy FROM pairs) s;

-- Sets of 100,000, and a small one in a large one (binary search, no merge)
SELECT intersection_size(a, b), intersection_size(a, c), intersection_size(c, a), containment(c, a),
       contained_in(c, a, 2.0 / 3), contained_in(c, a, 0.67),
       near_duplicate(a, b, 0.6), near_duplicate(a, b, 0.601)
FROM (SELECT signature_from(array_agg(i)) AS a, signature_from(array_agg(i + 25000)) AS b,
             signature_from('{5, 99999, 100001}') AS c
      FROM generate_series(1, 100000) i) s;

DROP TABLE pairs, thresholds;
DROP FUNCTION random_set;

-- A signature stored out of line is not read again for each row that it is compared
-- with: number of scans of the TOAST index
CREATE TABLE stored (id int, sig signature);
ALTER TABLE stored ALTER sig SET STORAGE EXTERNAL;
INSERT INTO stored
SELECT i, signature_from(array(SELECT x FROM generate_series(1, CASE WHEN i > 2 THEN 5 ELSE 2000 + i END) x))
FROM generate_series(1, 100) i;
CREATE FUNCTION reads(comparison text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    index oid := (SELECT i.indexrelid FROM pg_class c JOIN pg_index i ON i.indrelid = c.reltoastrelid
                  WHERE c.oid = 'stored'::regclass);
    before bigint := pg_stat_get_xact_numscans(index);
BEGIN
    EXECUTE format('SELECT count(%s) FROM stored, (SELECT sig AS one FROM stored WHERE id = 1 OFFSET 0) o',
                   comparison);
    RETURN pg_stat_get_xact_numscans(index) - before;
END $$;
SELECT comparison, reads(comparison) BETWEEN 1 AND 5 AS few
FROM string_to_table('near_duplicate(sig, one, 0.8);near_duplicate(one, sig, 0.8, ''dice'');'
                     'contained_in(sig, one, 0.8);sig % one;sig <% one;one %> sig;'
                     'similarity(one, sig);sig <-> one;sig <=> one;containment(sig, one);'
                     'dice(sig, one);cosine(sig, one);intersection_size(sig, one);shared_values(one, sig);'
                     'hamming(sig, one)', ';') comparison;
-- A cached value is compared like one that was just read, in any order of input
SELECT count(*) AS pairs, count(*) FILTER (WHERE similarity(a.sig, b.sig) <> similarity(a.fresh, b.fresh)) AS wrong
FROM (SELECT id, sig, sig::bigint[]::signature AS fresh FROM stored WHERE id < 5 OFFSET 0) a,
     (SELECT id, sig, sig::bigint[]::signature AS fresh FROM stored WHERE id < 5 OFFSET 0) b;
DROP TABLE stored;
DROP FUNCTION reads;
