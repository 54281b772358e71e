-- Sets as values: union, intersection, difference, and aggregates of them.

CREATE EXTENSION IF NOT EXISTS neardup;

-- by hand
SELECT nfeatures('features{}'), nfeatures(signature_from('{1,2,2,3}')),
       nfeatures(minhash(signature_from('{1,2,3}'), 4)) AS of_the_document;
SELECT (signature_from('{1,2,3}') + signature_from('{3,4}'))::bigint[] AS both,
       (signature_from('{1,2,3}') * signature_from('{3,4}'))::bigint[] AS common,
       (signature_from('{1,2,3}') - signature_from('{3,4}'))::bigint[] AS rest;
SELECT (shingles('a b c d') + shingles('b c d e')) = shingles('a b c d e') AS same;
SELECT similarity(shingles('a b c d') - shingles('b c d e'), shingles('a b c'));

-- many random sets, against arrays
CREATE TABLE numbers AS
SELECT i, ARRAY(SELECT DISTINCT ((i * 7919 + j * j * 104729) % 37)::bigint - 5
				FROM generate_series(1, (i * 31) % 23) j ORDER BY 1) AS a
FROM generate_series(0, 60) i;
CREATE FUNCTION pg_temp.sorted(bigint[]) RETURNS bigint[]
LANGUAGE sql AS 'SELECT coalesce(array_agg(DISTINCT x ORDER BY x), ''{}'') FROM unnest($1) x';
SELECT count(*) AS pairs,
	   count(*) FILTER (WHERE pg_temp.sorted((signature_from(x.a) + signature_from(y.a))::bigint[])
						IS DISTINCT FROM pg_temp.sorted(x.a || y.a)) AS unions,
	   count(*) FILTER (WHERE pg_temp.sorted((signature_from(x.a) * signature_from(y.a))::bigint[])
						IS DISTINCT FROM pg_temp.sorted(ARRAY(SELECT unnest(x.a) INTERSECT SELECT unnest(y.a)))) AS intersections,
	   count(*) FILTER (WHERE pg_temp.sorted((signature_from(x.a) - signature_from(y.a))::bigint[])
						IS DISTINCT FROM pg_temp.sorted(ARRAY(SELECT unnest(x.a) EXCEPT SELECT unnest(y.a)))) AS differences
FROM numbers x, numbers y;

-- results are valid: they can be read again
SELECT count(*) AS unreadable FROM numbers x, numbers y
WHERE (signature_from(x.a) + signature_from(y.a))::text::signature
	  <> signature_from(x.a) + signature_from(y.a);

-- aggregates
SELECT pg_temp.sorted(signature_union_agg(signature_from(a))::bigint[]) =
	   (SELECT pg_temp.sorted(array_agg(x)) FROM numbers, unnest(a) x) AS same
FROM numbers;
SELECT signature_intersect_agg(signature_from(ARRAY[i, 1, 100, 7]))::bigint[] @> '{1,7,100}' AS common
FROM generate_series(1, 5) i;
SELECT signature_union_agg(s), signature_intersect_agg(s)
FROM (VALUES (NULL::signature)) v (s);
SELECT nfeatures(signature_union_agg(s)), nfeatures(signature_intersect_agg(s))
FROM (VALUES (NULL::signature), (signature_from('{1,2}')), (signature_from('{}')), (signature_from('{2,3}'))) v (s);

-- in parallel: the states are sent and combined
CREATE TABLE many AS SELECT i, signature_from(ARRAY[i % 5000, i % 77, i]) AS s FROM generate_series(1, 20000) i;
ALTER TABLE many SET (parallel_workers = 2);
ANALYZE many;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
EXPLAIN (COSTS OFF) SELECT signature_union_agg(s) FROM many;
SELECT nfeatures(signature_union_agg(s)), nfeatures(signature_intersect_agg(s)) FROM many;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;

-- as a window
SELECT i, nfeatures(signature_union_agg(s) OVER (ORDER BY i)) FROM many WHERE i <= 4 ORDER BY i;

-- errors
SELECT shingles('a b c') + shingles('a b c', 2);
SELECT minhash(shingles('a b c')) * minhash(shingles('a b c'));
SELECT signature_weighted('{1}', '{1}') - signature_weighted('{1}', '{1}');
SELECT signature_union_agg(s) FROM (VALUES (shingles('a')), (signature_from('{1}'))) v (s);
SELECT signature_union_agg(minhash('a b c'));
-- also with one row only
SELECT signature_intersect_agg(minhash('a b c'));

DROP TABLE numbers, many;
