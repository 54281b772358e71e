--
-- Dense vectors: values, forms, cosine, joins and groups
--

CREATE SCHEMA dense;
SET search_path = dense, public;

-- A vector of length 1, of finite coordinates; zeros have no direction
SELECT dense('{3,4}') AS scaled, dense('{0.6,-0.8}') AS kept, dense('{-0,0,-0}') AS zeros, dense('{-0,-2}') AS zero,
       dense(NULL) IS NULL AS is_null;
SELECT describe(dense('{3,4}')) AS two, describe(dense('{7}')) AS one, describe(dense('{0,0}')) AS zeros, nfeatures(dense('{3,4}'));
SELECT dense('{3,4}')::real[] AS coordinates, dense('{0,0}')::real[] AS zeros, dense('{1,-1}')::bigint[] AS bits, dense('{3,4}')::bytea AS bytes;
SELECT dense(dense('{1,2,3}')::real[]) = dense('{1,2,3}') AS again;
SELECT dense('{3.4028235e38,3.4028235e38}') AS large, dense('{1e-45,1e-45}') AS small, dense('{1,1e-45}') AS both;
SELECT n, pg_column_size(dense(array_agg(i::real))) AS bytes FROM (VALUES (1), (384), (65535)) v (n), generate_series(1, n) i GROUP BY n ORDER BY n;
SELECT dense('{{3,4},{0,0}}') AS of_any_shape, dense('{3,4}'::float8[]::real[]) = dense('{3,4}') AS same, dense('{3,4}'::numeric[]) = dense('{3,4}') AS numeric;

-- Both forms, whatever the settings
SET extra_float_digits = -3;
SELECT count(*), count(*) FILTER (WHERE v::text::signature <> v OR v::bytea::signature <> v OR dense(v::real[]) <> v) AS other
FROM generate_series(1, 300) r, LATERAL (SELECT dense(array_agg((sin(r * 7919 + i * 104729) * power(10, (r * i) % 9 - 4))::real ORDER BY i)) AS v FROM generate_series(1, 1 + r % 40) i) d;
RESET extra_float_digits;
SELECT 'dense(2){.6,-8e-1}'::signature = dense('{3,-4}') AS read, ' dense ( 3 ) { } '::signature = dense('{0,0,0}') AS zeros;

-- Invalid vectors
SELECT dense('{}');
SELECT dense('{1,NULL}');
SELECT dense('{1,NaN}');
SELECT dense('{-Infinity,1}');
SELECT dense(array_fill(1::real, '{65536}'));
SELECT 'dense{1}'::signature;
SELECT 'dense(0){}'::signature;
SELECT 'dense(65536){}'::signature;
SELECT 'dense(2){1}'::signature;
SELECT 'dense(1){1,0}'::signature;
SELECT 'dense(2){1,1}'::signature;
SELECT 'dense(2){-0,1}'::signature;
SELECT 'dense(1){nan}'::signature;
SELECT 'dense(1){1e39}'::signature;
SELECT 'dense(1){}1'::signature;
SELECT 'dense(1){1'::signature;
SELECT 'dense(1)#1{1}'::signature;
SELECT 'dense(1)[k=1]{1}'::signature;
SELECT substr(dense('{3,4}')::bytea, 1, 33)::signature; -- cut off
SELECT set_byte(dense('{3,4}')::bytea, 5, 64)::signature; -- width 64
SELECT set_byte(dense('{3,4}')::bytea, 16, 3)::signature; -- three dimensions
SELECT set_byte(dense('{1,0}')::bytea, 35, 128)::signature; -- -0
SELECT set_byte(set_byte(dense('{3,4}')::bytea, 31, 127), 30, 128)::signature; -- infinite
SELECT shingles('a b c')::real[];

-- By hand: 24 / 25 but for rounding; opposite; at right angles; itself
SELECT round(cosine(a, b)::numeric, 6) AS cosine, cosine(a, b) = cosine(b, a) AS symmetric, cosine(a, c) AS opposite, cosine(a, d) AS right_angle,
       round((a <=> b)::numeric, 6) AS distance, a <=> c AS greatest, near_duplicate(a, b, 0.95, 'cosine') AS near, near_duplicate(a, b, 0.97, 'cosine') AS not_near
FROM (SELECT dense('{3,4}') AS a, dense('{4,3}') AS b, dense('{-3,-4}') AS c, dense('{4,-3}') AS d) s;
SELECT count(*) FILTER (WHERE cosine(v, v) <> 1 OR NOT near_duplicate(v, v, 1, 'cosine') OR (v <=> v) <> 0) AS not_itself
FROM generate_series(1, 300) r, LATERAL (SELECT dense(array_agg(sin(r * 7919 + i * 104729)::real ORDER BY i)) AS v FROM generate_series(1, 1 + r % 40) i) d;
-- zeros are similar to nothing, not even to themselves
SELECT cosine(z, z), cosine(z, a), z <=> z AS distance, near_duplicate(z, z, 1e-300, 'cosine') AS near FROM (SELECT dense('{0,0}') AS z, dense('{1,0}') AS a) s;
-- another number of dimensions is another spec
SELECT near_duplicate(dense('{1,0}'), dense('{1,0,0}'), 0.5, 'cosine') AS near, dense('{1,0}') <=> dense('{1,0,0}') AS distance;
SELECT cosine(dense('{1,0}'), dense('{1,0,0}'));
SELECT near_duplicate(dense('{1,0}'), shingles('a b c'), 0.5, 'cosine') AS near;

-- Measures that dense vectors do not have
SELECT similarity(v, v) FROM (SELECT dense('{1,2}') AS v) s;
SELECT near_duplicate(v, v, 0.8) FROM (SELECT dense('{1,2}') AS v) s;
SELECT near_duplicate(v, v, 0.8, 'similarity') FROM (SELECT dense('{1,2}') AS v) s;
SELECT v % v FROM (SELECT dense('{1,2}') AS v) s;
SELECT v <-> v FROM (SELECT dense('{1,2}') AS v) s;
SELECT dice(v, v) FROM (SELECT dense('{1,2}') AS v) s;
SELECT intersection_size(v, v) FROM (SELECT dense('{1,2}') AS v) s;
SELECT hamming(v, v) FROM (SELECT dense('{1,2}') AS v) s;
SELECT contained_in(v, v, 0.8) FROM (SELECT dense('{1,2}') AS v) s;
SELECT near_duplicate_approx(v, v, 0.8) FROM (SELECT dense('{1,2}') AS v) s;
SELECT minhash(v) FROM (SELECT dense('{1,2}') AS v) s;
SELECT v + v FROM (SELECT dense('{1,2}') AS v) s;
SELECT candidate_keys(v, 0.8, 'cosine') FROM (SELECT dense('{1,2}') AS v) s;
SELECT size_classes(v, 0.8, 'cosine') FROM (SELECT dense('{1,2}') AS v) s;
SELECT feature_counts(v) FROM (SELECT dense('{1,2}') AS v) s;
SELECT signature_query(v, 0.8, 'cosine')::text = signature_query(v, 0.8, 'cosine')::text::signature_query::text AS query FROM (SELECT dense('{1,2}') AS v) s;

-- Order: by dimensions, then coordinates; equality is of both
SELECT array_agg(n ORDER BY v) AS sorted, array_agg(n ORDER BY v DESC) AS back, count(DISTINCT v) AS different
FROM (VALUES (1, dense('{0}')), (2, dense('{-1}')), (3, dense('{5}')), (4, dense('{0,0}')), (5, dense('{-3,4}')), (6, dense('{0,1}')),
             (7, dense('{3,-4}')), (8, dense('{3,4}')), (8, dense('{6,8}'))) t (n, v);
SELECT a = b AS equal, a <> c AS differ, signature_hash(a) = signature_hash(b) AS hashes, signature_hash(a) = signature_hash(c) AS others
FROM (SELECT dense('{3,4}') AS a, dense('{30,40}') AS b, dense('{4,3}') AS c) s;

-- Indexes refuse them, and find nothing for them
CREATE TABLE indexed (v signature);
CREATE INDEX indexed_neardup ON indexed USING neardup (v);
INSERT INTO indexed VALUES (dense('{3,4}'));
DROP INDEX indexed_neardup;
CREATE INDEX indexed_gin ON indexed USING gin (v);
INSERT INTO indexed VALUES (dense('{3,4}'));
INSERT INTO indexed VALUES (signature_from('{1,2}'));
SET enable_seqscan = off;
SET client_min_messages = error;
SELECT count(*) FROM indexed WHERE near_duplicate(v, dense('{3,4}'), 0.9, 'cosine');
CREATE INDEX indexed_neardup ON indexed USING neardup (v);
SELECT count(*) FROM indexed WHERE near_duplicate(v, dense('{3,4}'), 0.9, 'cosine');
SELECT count(*) FROM (SELECT FROM indexed ORDER BY v <=> dense('{3,4}') LIMIT 1) s;
RESET client_min_messages;
RESET enable_seqscan;
CREATE INDEX ON indexed (v);
ANALYZE indexed;

-- Against arithmetic on rows: vectors near some of 20 others, of several dimensions;
-- zeros, nulls, equal ones
CREATE FUNCTION random_of(seed bigint, n int) RETURNS int LANGUAGE sql IMMUTABLE AS $$
    SELECT (((((seed * 1103515245 + 12345) & 2147483647) * 1103515245 + 12345) & 2147483647) >> 8)::int % n
$$;
CREATE TABLE coordinates AS
SELECT id, i, CASE WHEN id % 50 = 0 THEN 0 ELSE random_of(id % 20 * 7001 + i * 31, 2001) - 1000 + random_of(id * 613 + i * 97, 1 + id % 7 * 150) END::real AS x
FROM generate_series(1, 300) id, generate_series(1, CASE id % 6 WHEN 5 THEN 3 WHEN 4 THEN 70 ELSE 20 END) i;
INSERT INTO coordinates SELECT 300 + id, i, 2 * x FROM coordinates WHERE id % 29 = 0;
CREATE TABLE vectors AS SELECT id, CASE WHEN id % 41 > 0 THEN dense(array_agg(x ORDER BY i)) END AS v FROM coordinates GROUP BY id;
SELECT count(*), count(v) AS known, count(DISTINCT v) AS different, count(*) FILTER (WHERE cardinality(v::bigint[]) = 0) AS zeros,
       count(DISTINCT regexp_replace(v::text, '{.*', '')) AS specs FROM vectors;
CREATE TABLE unit AS SELECT id, i, x FROM vectors, unnest(v::real[]) WITH ORDINALITY u (x, i);
CREATE TABLE truth AS
SELECT a.id AS a, b.id AS b, sum(x.x::float8 * y.x) AS cosine
FROM vectors a JOIN vectors b ON a.id < b.id AND cardinality(a.v::real[]) = cardinality(b.v::real[]) AND cardinality(a.v::bigint[]) > 0 AND cardinality(b.v::bigint[]) > 0
JOIN unit x ON x.id = a.id JOIN unit y ON y.id = b.id AND y.i = x.i GROUP BY 1, 2;
SELECT count(*) > 10000 AS many, count(*) FILTER (WHERE cosine >= 0.999) > 5 AS same, count(*) FILTER (WHERE cosine >= 0.8) > 500 AS near,
       count(*) FILTER (WHERE cosine < 0) > 1000 AS negative FROM truth;
SELECT count(*) FILTER (WHERE NOT abs(cosine(v.v, w.v) - cosine) <= 1e-6) AS cosine,
       count(*) FILTER (WHERE near_duplicate(v.v, w.v, 0.8, 'cosine') <> (cosine(v.v, w.v) >= 0.8)) AS near
FROM truth JOIN vectors v ON v.id = a JOIN vectors w ON w.id = b;
-- to the last bit
SELECT count(*) > 5000 AS many, count(*) FILTER (WHERE NOT near_duplicate(v, w, c, 'cosine')) AS at,
       count(*) FILTER (WHERE near_duplicate(v, w, c * (1 + 3e-16), 'cosine')) AS above
FROM (SELECT v.v, w.v AS w, cosine(v.v, w.v) AS c FROM truth JOIN vectors v ON v.id = a JOIN vectors w ON w.id = b) s WHERE c > 0 AND c < 1 - 1e-15;
SELECT count(*) AS too_close_to_tell FROM truth, unnest('{0.3,0.7,0.8,0.9,0.99}'::float8[]) t WHERE abs(cosine - t) < 1e-6;

-- The join, against the truth
CREATE FUNCTION joined(t float8, OUT pairs bigint, OUT wrong bigint) LANGUAGE plpgsql AS $$
DECLARE
    plan text;
    query text := format('SELECT a.id AS a, b.id AS b FROM vectors a JOIN vectors b ON near_duplicate(a.v, b.v, %L, ''cosine'') AND a.id < b.id', t);
BEGIN
    SET LOCAL enable_nestloop = off;
    EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
    IF plan !~ 'SimilarityJoin' THEN
        RAISE EXCEPTION 'no similarity join: %', query;
    END IF;
    EXECUTE format('SELECT count(f), count(*) FILTER (WHERE f IS NULL OR x IS NULL) FROM (%s) f FULL JOIN (SELECT a, b FROM truth WHERE cosine >= %L) x USING (a, b)', query, t) INTO pairs, wrong;
END $$;
SET client_min_messages = error;
SELECT t, wrong, pairs > 0 AS some FROM unnest('{1e-300,0.3,0.7,0.8,0.9,0.99}'::float8[]) t, joined(t);

-- Groups
SELECT rule, count(*), count(DISTINCT g.group_id) < count(*) AS grouped,
       count(*) FILTER (WHERE g.id <> g.representative AND NOT near_duplicate(v.v, w.v, 0.9, 'cosine') AND rule = 'greedy') AS far,
       count(*) FILTER (WHERE g.similarity <> cosine(v.v, w.v)) AS other_similarity
FROM unnest('{connected,greedy}'::text[]) rule, near_duplicate_groups('SELECT id, v FROM vectors', 0.9, 'cosine', rule) g
JOIN vectors v ON v.id = g.id JOIN vectors w ON w.id = g.representative GROUP BY rule ORDER BY rule;

-- Where pgvector is installed: signatures of its types, and its distance
CREATE FUNCTION same_by_pgvector() RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    same boolean;
BEGIN
    IF NOT EXISTS (SELECT FROM pg_available_extension_versions WHERE name = 'vector' AND string_to_array(version, '.')::int[] >= '{0,7,0}') THEN
        RETURN true;
    END IF;
    CREATE EXTENSION vector SCHEMA dense;
    EXECUTE $q$
        SELECT bool_and(dense(a.e) = a.v AND cosine(dense(a.e::halfvec::real[]), a.v) > 0.999 AND abs((a.e <=> f.e) - (a.v <=> f.v)) < 1e-5)
        FROM (SELECT v, (v::real[])::vector AS e FROM vectors WHERE cardinality(v::bigint[]) = 20) a,
             (SELECT v, (v::real[])::vector AS e FROM vectors WHERE cardinality(v::bigint[]) = 20 LIMIT 5) f $q$ INTO same;
    RETURN same;
END $$;
SELECT same_by_pgvector();

DROP SCHEMA dense CASCADE;
