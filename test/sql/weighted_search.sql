--
-- Vectors in the similarity join and in the GIN index, against all pairs
--

CREATE SCHEMA weighted_search;
SET search_path = weighted_search, public;

CREATE FUNCTION random_of(seed bigint, n int) RETURNS int LANGUAGE sql IMMUTABLE AS $$
    SELECT (((((seed * 1103515245 + 12345) & 2147483647) * 1103515245 + 12345) & 2147483647) >> 8)::int % n
$$;

-- Families of vectors that differ in some components: weights of a few sizes
-- (many ties), of 40 orders of magnitude, all alike; single components, empty
-- vectors and nulls
CREATE TABLE components AS
SELECT r AS id, f, CASE r % 4
    WHEN 0 THEN 1
    WHEN 1 THEN 1 + random_of(r % 25 * 777 + f * 13, 4)
    WHEN 2 THEN power(10, random_of(r % 25 * 991 + f * 17, 40) - 20)
    ELSE (1 + random_of(r % 25 * 555 + f * 3, 900) + (random_of(r * 333 + f, 5) = 0)::int * random_of(r * 31 + f, 400)) / 7.0 END::real AS w
FROM generate_series(1, 180) r, generate_series(1, 60) f
WHERE (random_of(r % 25 * 7919 + f * 31, 100) < 25 AND random_of(r * 50021 + f * 97, 100) < 85) OR random_of(r * 104729 + f * 53, 100) < 3;
DELETE FROM components c WHERE id % 29 = 3 AND f > (SELECT min(f) FROM components WHERE id = c.id);
DELETE FROM components WHERE id % 37 = 5;
CREATE TABLE vectors AS
SELECT id, CASE WHEN id % 41 > 0 THEN signature_weighted(coalesce(array_agg(f) FILTER (WHERE f > 0), '{}'), coalesce(array_agg(w) FILTER (WHERE f > 0), '{}')) END AS v
FROM generate_series(1, 180) id LEFT JOIN components USING (id) GROUP BY id;
CREATE VIEW left_vectors AS SELECT * FROM vectors WHERE id % 3 < 2;
CREATE VIEW right_vectors AS SELECT * FROM vectors WHERE id % 3 > 0;
SELECT count(*), count(v) AS known, count(DISTINCT v) AS different, count(*) FILTER (WHERE v = 'weighted{}') AS empty,
       count(*) FILTER (WHERE cardinality(v::bigint[]) = 1) AS single FROM vectors;
CREATE TABLE truth AS
SELECT a.id AS a, b.id AS b, cosine(a.v, b.v), similarity(a.v, b.v) FROM left_vectors a, right_vectors b;

-- Thresholds, some of them reached exactly by pairs
CREATE TABLE thresholds AS SELECT unnest('{1e-60,0.01,0.2,0.5,0.7,0.8,0.9,0.99,1}'::float8[]) AS t;
INSERT INTO thresholds
SELECT * FROM (SELECT cosine FROM truth WHERE cosine BETWEEN 0.3 AND 0.9999 AND a % 4 <> 0 ORDER BY md5(a || ' ' || b) LIMIT 6) c
UNION SELECT * FROM (SELECT similarity FROM truth WHERE similarity BETWEEN 0.3 AND 0.9999 AND a % 4 <> 0 ORDER BY md5(a || ' ' || b) LIMIT 6) s;
SELECT count(*), count(*) FILTER (WHERE EXISTS (SELECT FROM truth WHERE cosine = t)) AS reached_by_cosine,
       count(*) FILTER (WHERE EXISTS (SELECT FROM truth WHERE similarity = t)) AS reached_by_similarity FROM thresholds;

-- The pairs of a join, against the truth, and its algorithm; an error unless it is a
-- similarity join
CREATE FUNCTION joined(algorithm text, measure text, t float8, OUT done text, OUT batches int, OUT pairs bigint, OUT wrong bigint) LANGUAGE plpgsql AS $$
DECLARE
    query text := format('SELECT a.id AS a, b.id AS b FROM left_vectors a JOIN right_vectors b ON near_duplicate(a.v, b.v, %L, %L)', t, measure);
    plan json;
BEGIN
    PERFORM set_config('neardup.join_algorithm', algorithm, true);
    SET LOCAL enable_nestloop = off;
    EXECUTE format('EXPLAIN (ANALYZE, TIMING off, FORMAT json) CREATE TEMP TABLE found ON COMMIT DROP AS %s', query) INTO plan;
    IF plan -> 0 -> 'Plan' ->> 'Custom Plan Provider' IS DISTINCT FROM 'SimilarityJoin' THEN
        RAISE EXCEPTION 'no similarity join: %', query;
    END IF;
    done := plan -> 0 -> 'Plan' ->> 'Algorithm';
    batches := plan -> 0 -> 'Plan' ->> 'Batches';
    SET LOCAL enable_nestloop = on;
    EXECUTE format('SELECT (SELECT count(*) FROM found),
                    (SELECT count(*) FROM (SELECT a, b FROM truth WHERE %1$I >= %2$L) x FULL JOIN found USING (a, b) WHERE x IS NULL OR found IS NULL)
                    + (SELECT count(*) - count(DISTINCT (a, b)) FROM found)', replace(measure, 'jaccard', 'similarity'), t) INTO pairs, wrong;
    DROP TABLE found;
END $$;

-- Each algorithm, and any setting where there is only one
CREATE TABLE algorithms AS SELECT unnest('{auto,all-pairs-0,all-pairs-1,all-pairs-2,ppjoin+}'::text[]) AS algorithm;
SELECT measure, algorithm, done, count(*) AS joins, max(batches) = 1 AS at_once, count(DISTINCT pairs) AS answers,
       min(pairs) AS least, max(pairs) AS most, sum(wrong) AS wrong
FROM algorithms, unnest('{cosine,jaccard}'::text[]) measure, thresholds, LATERAL joined(algorithm, measure, t)
WHERE measure = 'cosine' OR algorithm = 'auto'
GROUP BY measure, algorithm, done ORDER BY measure, algorithm COLLATE "C";
-- and on disk, in parts
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
SELECT measure, algorithm, done, count(*) AS joins, min(batches) > 1 AS in_parts, count(DISTINCT pairs) AS answers,
       min(pairs) AS least, max(pairs) AS most, sum(wrong) AS wrong
FROM algorithms, unnest('{cosine,jaccard}'::text[]) measure, thresholds, LATERAL joined(algorithm, measure, t)
WHERE (measure = 'cosine' AND algorithm <> 'ppjoin+') OR algorithm = 'auto'
GROUP BY measure, algorithm, done ORDER BY measure, algorithm COLLATE "C";
RESET work_mem;
RESET hash_mem_multiplier;
-- The filters save postings, candidates and comparisons
CREATE FUNCTION counters(algorithm text, OUT postings bigint, OUT candidates bigint, OUT verified bigint, OUT matches bigint) LANGUAGE plpgsql AS $$
DECLARE
    plan json;
BEGIN
    PERFORM set_config('neardup.join_algorithm', algorithm, true);
    SET LOCAL enable_nestloop = off;
    EXPLAIN (ANALYZE, TIMING off, FORMAT json) SELECT FROM vectors a JOIN vectors b ON near_duplicate(a.v, b.v, 0.8, 'cosine') INTO plan;
    plan := plan -> 0 -> 'Plan';
    postings := plan ->> 'Prefix Postings';
    candidates := plan ->> 'Candidates';
    verified := plan ->> 'Verified';
    matches := plan ->> 'Matching Sets';
END $$;
SELECT c1.postings < c0.postings AS fewer_postings, c2.postings <= c1.postings AS no_more, c0.candidates < c1.candidates AS by_sum,
       c2.candidates < c1.candidates AS by_bound, c2.verified = c2.candidates AS verified,
       c0.matches = c1.matches AND c1.matches = c2.matches AS same, c0.candidates - c0.matches AS in_vain -- as weights are rounded up
FROM counters('all-pairs-0') c0, counters('all-pairs-1') c1, counters('all-pairs-2') c2;
-- other joins than inner ones, and further conditions
SET enable_nestloop = off;
EXPLAIN (COSTS OFF) SELECT a.id, b.id FROM left_vectors a LEFT JOIN right_vectors b ON near_duplicate(a.v, b.v, 0.8, 'cosine') AND a.id < b.id;
SELECT count(*) - (SELECT count(*) FILTER (WHERE cosine >= 0.8 AND a < b) FROM truth)
       - (SELECT count(*) FROM left_vectors l WHERE NOT EXISTS (SELECT FROM truth WHERE a = l.id AND a < b AND cosine >= 0.8)) AS "left"
FROM left_vectors a LEFT JOIN right_vectors b ON near_duplicate(a.v, b.v, 0.8, 'cosine') AND a.id < b.id;
SELECT count(*) - (SELECT count(DISTINCT a) FROM truth WHERE a <> b AND cosine >= 0.8) AS semi
FROM left_vectors a WHERE EXISTS (SELECT FROM right_vectors b WHERE near_duplicate(b.v, a.v, 0.8, 'cosine') AND a.id <> b.id);
SELECT count(*) - (SELECT count(*) FROM left_vectors) + (SELECT count(DISTINCT a) FROM truth WHERE a <> b AND cosine >= 0.8) AS anti
FROM left_vectors a WHERE NOT EXISTS (SELECT FROM right_vectors b WHERE near_duplicate(b.v, a.v, 0.8, 'cosine') AND a.id <> b.id);
-- identical vectors are joined once
CREATE TABLE copies AS SELECT id, v FROM vectors, generate_series(1, 3) WHERE id % 5 = 0;
SELECT count(*) = 9 * (SELECT count(*) FROM vectors a, vectors b WHERE a.id % 5 = 0 AND b.id % 5 = 0 AND cosine(a.v, b.v) >= 0.7) AS right
FROM copies a JOIN copies b ON near_duplicate(a.v, b.v, 0.7, 'cosine');
-- signatures of a different spec are never near-duplicates
SELECT FROM vectors a JOIN (VALUES (signature_from('{1}'))) b (v) ON near_duplicate(a.v, b.v, 0.8, 'cosine');
RESET enable_nestloop;

-- By the index: each vector is looked up
CREATE FUNCTION looked_up(measure text, t float8, OUT pairs bigint, OUT wrong bigint) LANGUAGE plpgsql AS $$
DECLARE
    query text := format('SELECT a.id, b.id FROM left_vectors a CROSS JOIN LATERAL (SELECT id FROM vectors WHERE near_duplicate(a.v, v, %L, %L) AND id %% 3 > 0 OFFSET 0) b', t, measure);
    plan json;
BEGIN
    SET LOCAL enable_seqscan = off;
    EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
    IF plan::text !~ 'Bitmap Index Scan' THEN
        RAISE EXCEPTION 'no index scan: %', query;
    END IF;
    EXECUTE format('CREATE TEMP TABLE found ON COMMIT DROP AS %s', replace(query, 'a.id, b.id', 'a.id AS a, b.id AS b'));
    SET LOCAL enable_seqscan = on;
    EXECUTE format('SELECT (SELECT count(*) FROM found),
                    (SELECT count(*) FROM (SELECT a, b FROM truth WHERE %1$I >= %2$L) x FULL JOIN found USING (a, b) WHERE x IS NULL OR found IS NULL)',
                   replace(measure, 'jaccard', 'similarity'), t) INTO pairs, wrong;
    DROP TABLE found;
END $$;
CREATE INDEX vectors_v ON vectors USING gin (v signature_gin_ops (threshold = 0.25));
-- that index is for a cosine above 0.5
SELECT measure, count(*) AS thresholds, sum(pairs) AS pairs, sum(wrong) AS wrong
FROM (VALUES ('cosine', 0.5), ('jaccard', 0.25)) m (measure, least), thresholds, LATERAL looked_up(measure, t)
WHERE t >= least AND (t > least OR measure = 'jaccard') GROUP BY measure ORDER BY measure;
EXPLAIN (COSTS OFF) SELECT id FROM vectors WHERE near_duplicate(v, 'weighted{0000000000000001:1}', 0.49, 'cosine');
-- a lower threshold, known only at run time, finds all pairs
SET plan_cache_mode = force_generic_plan;
PREPARE near(signature, float8) AS SELECT count(*) FROM vectors WHERE near_duplicate(v, $1, $2, 'cosine');
SET enable_seqscan = off;
SELECT v AS v7 FROM vectors WHERE id = 7 \gset
EXPLAIN (COSTS OFF) EXECUTE near(:'v7', 0.3);
EXECUTE near(:'v7', 0.3);
RESET enable_seqscan;
SELECT count(*) FROM vectors a, vectors b WHERE a.id = 7 AND cosine(a.v, b.v) >= 0.3;
DEALLOCATE near;
RESET plan_cache_mode;
DROP INDEX vectors_v;
-- the default is for a resemblance of 0.8
CREATE INDEX vectors_v ON vectors USING gin (v);
SELECT measure, count(*) AS thresholds, sum(pairs) AS pairs, sum(wrong) AS wrong
FROM (VALUES ('cosine', sqrt(0.8)), ('jaccard', 0.8)) m (measure, least), thresholds, LATERAL looked_up(measure, t)
WHERE t >= least GROUP BY measure ORDER BY measure;
-- measures that vectors do not have are errors, by every plan
SET enable_seqscan = off;
SELECT count(*) FROM vectors WHERE near_duplicate(v, 'weighted{0000000000000001:1}', 0.99, 'dice');
RESET enable_seqscan;
SET enable_nestloop = off;
SELECT FROM left_vectors a JOIN right_vectors b ON near_duplicate(a.v, b.v, 0.8, 'overlap_coefficient');
SELECT FROM left_vectors a JOIN right_vectors b ON a.v <% b.v;
RESET enable_nestloop;
DROP INDEX vectors_v;

-- The guard: 6.5 / 7 is near, 6 / 8 is not
CREATE TABLE guarded (id int PRIMARY KEY, v signature);
CREATE INDEX ON guarded USING gin (v) WITH (fastupdate = off);
CREATE CONSTRAINT TRIGGER guard AFTER INSERT OR UPDATE ON guarded
    FOR EACH ROW EXECUTE FUNCTION neardup_guard('v', '0.8');
INSERT INTO guarded VALUES (1, signature_weighted('{1,2,3}', '{5,1,1}'));
INSERT INTO guarded VALUES (2, signature_weighted('{1,2,4}', '{5,1,1}'));
INSERT INTO guarded VALUES (3, signature_weighted('{1,2,3}', '{5,1,0.5}'));
SELECT id FROM guarded ORDER BY id;

SET client_min_messages = warning;
DROP SCHEMA weighted_search CASCADE;
