--
-- The similarity join as a node of plans: conditions, join types, parameters
--

CREATE SCHEMA join_test;
SET search_path = join_test, public;
-- The node is used wherever it is possible
SET enable_nestloop = off;

CREATE TABLE left_docs (id int, kind int, sig signature);
CREATE TABLE right_docs (id int, kind int, features bigint[]);

INSERT INTO left_docs VALUES
    (1, 1, signature_from('{1,2,3,4,5}')),
    (2, 1, signature_from('{1,2,3,4,5}')),
    (3, 2, signature_from('{1,2,3,4}')),
    (4, 2, signature_from('{11,12}')),
    (5, 1, signature_from('{}')),
    (6, 1, NULL);
INSERT INTO right_docs VALUES
    (1, 1, '{1,2,3,4,5}'),
    (2, 2, '{1,2,3,4,5,6,7,8,9,10}'),
    (3, 1, '{11,12}'),
    (4, 2, '{11,12,13}'),
    (5, 2, '{}'),
    (6, 2, NULL);

-- Join types; signatures may be computed
EXPLAIN (COSTS OFF)
SELECT l.id, r.id FROM left_docs l
JOIN right_docs r ON near_duplicate(l.sig, signature_from(r.features), 0.8)
    AND l.kind <= r.kind;
SELECT l.id, r.id FROM left_docs l
JOIN right_docs r ON near_duplicate(l.sig, signature_from(r.features), 0.8)
    AND l.kind <= r.kind
ORDER BY 1, 2;

EXPLAIN (COSTS OFF)
SELECT l.id, r.id, r.kind FROM left_docs l
LEFT JOIN right_docs r ON near_duplicate(signature_from(r.features), l.sig, 0.8)
    AND r.kind = 1
WHERE coalesce(r.id, 0) <> 1 OR l.id = 2;
SELECT l.id, r.id, r.kind FROM left_docs l
LEFT JOIN right_docs r ON near_duplicate(signature_from(r.features), l.sig, 0.8)
    AND r.kind = 1
WHERE coalesce(r.id, 0) <> 1 OR l.id = 2
ORDER BY 1, 2;

EXPLAIN (COSTS OFF)
SELECT id FROM left_docs l WHERE EXISTS
    (SELECT FROM right_docs r
     WHERE near_duplicate(l.sig, signature_from(r.features), 0.6));
SELECT id FROM left_docs l WHERE EXISTS
    (SELECT FROM right_docs r
     WHERE near_duplicate(l.sig, signature_from(r.features), 0.6))
ORDER BY id;

EXPLAIN (COSTS OFF)
SELECT id FROM left_docs l WHERE NOT EXISTS
    (SELECT FROM right_docs r
     WHERE near_duplicate(l.sig, signature_from(r.features), 0.6)
     AND r.id <> 1);
SELECT id FROM left_docs l WHERE NOT EXISTS
    (SELECT FROM right_docs r
     WHERE near_duplicate(l.sig, signature_from(r.features), 0.6)
     AND r.id <> 1)
ORDER BY id;

-- A right join is a left join with exchanged sides
SELECT l.id, r.id FROM left_docs l
RIGHT JOIN right_docs r ON near_duplicate(l.sig, signature_from(r.features), 0.8)
ORDER BY 1, 2;

-- Every form of the condition
CREATE TABLE docs AS
SELECT id, signature_from(features) AS sig FROM right_docs;
EXPLAIN (COSTS OFF)
SELECT FROM docs a JOIN docs b ON a.sig % b.sig;
EXPLAIN (COSTS OFF)
SELECT FROM docs a JOIN docs b ON a.sig <% b.sig;
EXPLAIN (COSTS OFF)
SELECT FROM docs a JOIN docs b ON a.sig %> b.sig;
EXPLAIN (COSTS OFF)
SELECT FROM docs a JOIN docs b ON contained_in(a.sig, b.sig, 0.9);
EXPLAIN (COSTS OFF)
SELECT FROM docs a JOIN docs b ON near_duplicate(a.sig, b.sig, 0.7, 'cosine');
EXPLAIN (COSTS OFF)
SELECT FROM docs a JOIN docs b ON a.sig %% signature_query(b.sig, 0.7, 'dice');
SELECT a.id, b.id FROM docs a JOIN docs b ON a.sig % b.sig ORDER BY 1, 2;
SELECT a.id, b.id FROM docs a JOIN docs b ON a.sig <% b.sig ORDER BY 1, 2;
SELECT a.id, b.id FROM docs a JOIN docs b ON a.sig %> b.sig ORDER BY 1, 2;
SELECT a.id, b.id FROM docs a
JOIN docs b ON contained_in(a.sig, b.sig, 0.5) ORDER BY 1, 2;
SELECT a.id, b.id FROM docs a
JOIN docs b ON near_duplicate(a.sig, b.sig, 0.7, 'cosine') ORDER BY 1, 2;
SELECT a.id, b.id FROM docs a
JOIN docs b ON a.sig %% signature_query(b.sig, 0.8, 'dice') ORDER BY 1, 2;
SELECT a.id, b.id FROM docs a
JOIN docs b ON near_duplicate(b.sig, a.sig, 0.3, 'contains') ORDER BY 1, 2;

-- A comparison that implies it
EXPLAIN (COSTS OFF)
SELECT FROM docs a JOIN docs b ON near_duplicate_approx(a.sig, b.sig, 0.5);
SELECT a.id, b.id FROM docs a
JOIN docs b ON near_duplicate_approx(a.sig, b.sig, 0.5, 0.999999) ORDER BY 1, 2;

-- Thresholds: a setting, a parameter, a subquery, a column, null, nonsense
SET neardup.threshold = 0.5;
SELECT count(*) FROM docs a JOIN docs b ON a.sig % b.sig;
RESET neardup.threshold;
SET plan_cache_mode = force_generic_plan;
PREPARE pairs(float8) AS
SELECT count(*) FROM docs a JOIN docs b ON near_duplicate(a.sig, b.sig, $1);
EXPLAIN (COSTS OFF) EXECUTE pairs(0.5);
EXECUTE pairs(0.5);
EXECUTE pairs(0.6);
EXECUTE pairs(0.9);
EXECUTE pairs(NULL);
EXECUTE pairs(0);
EXECUTE pairs('NaN');
RESET plan_cache_mode;
SELECT count(*) FROM docs a
JOIN docs b ON near_duplicate(a.sig, b.sig, (SELECT 0.2 + min(id) * 0.3 FROM docs));
SELECT count(*) FROM docs a
LEFT JOIN docs b ON near_duplicate(a.sig, b.sig, NULL) WHERE b.id IS NULL;
SET enable_nestloop = on;
EXPLAIN (COSTS OFF)
SELECT FROM docs a JOIN docs b ON near_duplicate(a.sig, b.sig, a.id * 0.1);
EXPLAIN (COSTS OFF)
SELECT FROM docs a JOIN docs b ON near_duplicate(a.sig, b.sig, random());
-- These are not conditions between two sides
EXPLAIN (COSTS OFF)
SELECT FROM docs a JOIN docs b ON near_duplicate(a.sig, b.sig, 0.5) OR a.id = 1;
EXPLAIN (COSTS OFF)
SELECT FROM docs a CROSS JOIN docs b WHERE near_duplicate(a.sig, a.sig, 0.5);
SET enable_nestloop = off;
-- ... and this condition is one, of three tables
EXPLAIN (COSTS OFF)
SELECT FROM docs a, docs b, docs c
WHERE near_duplicate(a.sig, b.sig, 0.5) AND near_duplicate(b.sig, c.sig, 0.6);
SELECT a.id, b.id, c.id FROM docs a, docs b, docs c
WHERE near_duplicate(a.sig, b.sig, 0.5) AND near_duplicate(b.sig, c.sig, 0.6)
ORDER BY 1, 2, 3;
-- Two conditions between the same sides
SELECT a.id, b.id FROM docs a, docs b
WHERE near_duplicate(a.sig, b.sig, 0.5) AND contained_in(a.sig, b.sig, 1)
ORDER BY 1, 2;
-- Subqueries with columns of either side, above the join and within it
\getenv abs_srcdir PG_ABS_SRCDIR
\set file :abs_srcdir '/sql/shared/plan.sql'
\i :file
SELECT plan($$SELECT a.id, b.id, (SELECT count(*) FROM right_docs c WHERE c.id < b.id AND c.id <> a.id) AS c
FROM docs a LEFT JOIN docs b ON near_duplicate(a.sig, b.sig, 0.5)
    AND b.id <> (SELECT max(c.id) - a.id FROM left_docs c WHERE c.id <> b.id)
WHERE a.id <> (SELECT sum(c.id) FROM left_docs c WHERE c.id = b.id)$$, 'VERBOSE, COSTS OFF');
SELECT a.id, b.id, (SELECT count(*) FROM right_docs c WHERE c.id < b.id AND c.id <> a.id) AS c
FROM docs a LEFT JOIN docs b ON near_duplicate(a.sig, b.sig, 0.5)
    AND b.id <> (SELECT max(c.id) - a.id FROM left_docs c WHERE c.id <> b.id)
WHERE a.id <> (SELECT sum(c.id) FROM left_docs c WHERE c.id = b.id)
ORDER BY 1, 2;

SET neardup.enable_join = off;
SET enable_nestloop = on;
EXPLAIN (COSTS OFF)
SELECT FROM docs a JOIN docs b ON near_duplicate(a.sig, b.sig, 0.5);
SET enable_nestloop = off;
RESET neardup.enable_join;


-- Signatures of different specs are never near-duplicates
SELECT count(*) FROM docs a
JOIN (SELECT id, bottom(sig, 4) AS sig FROM docs) b ON near_duplicate(a.sig, b.sig, 0.5);
SELECT count(*) FROM docs a
LEFT JOIN (SELECT CASE WHEN id < 4 THEN bottom(sig, 4) ELSE sig END AS sig FROM docs) b
ON near_duplicate(NULLIF(a.sig, a.sig), b.sig, 0.5);
SELECT count(*) FROM docs a
JOIN docs b ON near_duplicate(minhash(a.sig), minhash(b.sig), 0.5, 'cosine');

-- Rows are changed through the join
BEGIN;
DELETE FROM left_docs l USING right_docs r
WHERE near_duplicate(l.sig, signature_from(r.features), 0.8) AND r.kind = 1
RETURNING l.id, r.id;
SELECT id FROM left_docs ORDER BY id;
ROLLBACK;
BEGIN;
UPDATE left_docs l SET kind = r.id * 100 FROM right_docs r
WHERE near_duplicate(l.sig, signature_from(r.features), 0.8) AND r.kind = 1;
SELECT id, kind FROM left_docs ORDER BY id;
ROLLBACK;
BEGIN;
MERGE INTO right_docs r USING (SELECT * FROM left_docs WHERE id > 1) l
ON near_duplicate(l.sig, signature_from(r.features), 0.9)
WHEN MATCHED THEN UPDATE SET kind = l.id * 100
WHEN NOT MATCHED THEN INSERT VALUES (l.id * 100, 0, NULL);
SELECT id, kind, features FROM right_docs ORDER BY id;
ROLLBACK;
-- Whole rows, system columns, row locks
SELECT l, r.tableoid::regclass, r.ctid FROM left_docs l
JOIN right_docs r ON near_duplicate(l.sig, signature_from(r.features), 0.9)
ORDER BY l.id, r.id;
SELECT l.id, r.id FROM left_docs l
JOIN right_docs r ON near_duplicate(l.sig, signature_from(r.features), 1)
ORDER BY 1, 2 FOR UPDATE OF l;

-- Cursors, forward and back
BEGIN;
DECLARE c SCROLL CURSOR FOR
SELECT a.id AS a, b.id AS b FROM docs a
JOIN docs b ON near_duplicate(a.sig, b.sig, 0.5) ORDER BY 1, 2;
FETCH 2 FROM c;
FETCH BACKWARD 1 FROM c;
DECLARE d CURSOR FOR
SELECT a.id AS a FROM docs a JOIN docs b ON near_duplicate(a.sig, b.sig, 0.5);
MOVE 100 FROM d;
ROLLBACK;

-- Rescanned with another threshold
SELECT t, n FROM (VALUES (0.4), (0.5), (0.6), (0.9), (NULL)) v(t)
CROSS JOIN LATERAL (
    SELECT count(*) AS n FROM docs a
    JOIN docs b ON near_duplicate(a.sig, b.sig, v.t::float8)) l
ORDER BY t;
-- ... and with other rows
SELECT k, n FROM generate_series(1, 4) k
CROSS JOIN LATERAL (
    SELECT count(*) AS n FROM docs a
    JOIN docs b ON near_duplicate(a.sig, b.sig, 0.5) AND a.id >= k) l
ORDER BY k;

-- Outer joins above outer joins
SELECT a.id, b.id, c.id, b.id IS NULL AS no_b FROM docs a
LEFT JOIN docs b ON near_duplicate(a.sig, b.sig, 0.9) AND b.id > 1
LEFT JOIN docs c ON near_duplicate(b.sig, c.sig, 0.5)
ORDER BY 1, 2, 3;
SELECT a.id, coalesce(s.x, 'none') FROM docs a
LEFT JOIN (SELECT id, sig, 'number ' || id AS x FROM docs WHERE id > 1) s
ON near_duplicate(a.sig, s.sig, 0.9)
ORDER BY 1, 2;

-- A query with a parameter that is no condition on rows
PREPARE gated(int) AS
SELECT count(*) FROM docs a
JOIN docs b ON near_duplicate(a.sig, b.sig, 0.5) AND $1 > 0;
SET plan_cache_mode = force_generic_plan;
EXECUTE gated(1);
EXECUTE gated(0);
RESET plan_cache_mode;

-- Row-level security: a condition that can leak rows must not be evaluated before the
-- policy, nor the join before a condition of a security barrier
CREATE ROLE neardup_reader;
CREATE FUNCTION tell(int, int) RETURNS boolean COST 0.0001
    LANGUAGE plpgsql AS $$
BEGIN
    RAISE NOTICE 'saw % and %', $1, $2;
    RETURN true;
END $$;
ALTER TABLE docs ENABLE ROW LEVEL SECURITY;
CREATE POLICY few ON docs USING (id <= 3);
GRANT SELECT ON docs TO neardup_reader;
GRANT USAGE ON SCHEMA join_test TO neardup_reader;
SET ROLE neardup_reader;
SELECT a.id, b.id FROM docs a
JOIN docs b ON near_duplicate(a.sig, b.sig, 0.5) AND tell(a.id, b.id)
WHERE a.id < 3 ORDER BY 1, 2;
RESET ROLE;
CREATE VIEW near_pairs WITH (security_barrier) AS
SELECT a.id AS a, b.id AS b, a.sig AS a_sig, b.sig AS b_sig
FROM docs a, docs b WHERE a.id = b.id + 2;
SELECT a, b FROM near_pairs WHERE near_duplicate(a_sig, b_sig, 0.1)
ORDER BY 1, 2;
EXPLAIN (COSTS OFF)
SELECT a, b FROM near_pairs WHERE near_duplicate(a_sig, b_sig, 0.1);

-- EXPLAIN
CREATE FUNCTION explain_join(format text, query text) RETURNS SETOF text
LANGUAGE plpgsql AS $$
DECLARE
    line text;
BEGIN
    FOR line IN EXECUTE
        format('EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF, FORMAT %s) %s',
               format, query)
    LOOP
        RETURN QUERY SELECT regexp_replace(replace(l, '.00 loops', ' loops'),
                '(Memory Usage|Disk Usage)(.*?)[1-9]\d*', '\1\2N')
            FROM regexp_split_to_table(line, '\n') l;
    END LOOP;
END $$;
SELECT explain_join('text', $$
    SELECT FROM docs a JOIN docs b
    ON near_duplicate(a.sig, b.sig, 0.5) AND a.id < b.id$$);
SELECT l FROM explain_join('json', $$
    SELECT FROM docs a JOIN docs b
    ON near_duplicate(a.sig, b.sig, 0.5) AND a.id < b.id$$) l
WHERE l ~ 'Join|Cond|Sets|Post|Cand|Veri|Batch|Usage';

-- A nested loop would find the first pair of many at once; here there is none, and it
-- would compare all rows with all
RESET enable_nestloop;
CREATE TABLE apart AS
SELECT id, signature_from(ARRAY[3 * id, 3 * id + 1, 3 * id + 2]) AS sig FROM generate_series(1::bigint, 5000) id;
ANALYZE apart;
SELECT EXISTS (SELECT FROM apart a JOIN apart b ON near_duplicate(a.sig, b.sig, 0.8) AND a.id < b.id) AS any;
EXPLAIN (COSTS OFF)
SELECT FROM apart a JOIN apart b ON near_duplicate(a.sig, b.sig, 0.8) AND a.id < b.id LIMIT 1;

-- Nor do several processes compare all, if they divide only one of the tables
CREATE TABLE undivided WITH (parallel_workers = 0) AS TABLE apart;
ANALYZE undivided;
SET min_parallel_table_scan_size = 0;
SET parallel_setup_cost = 0;
EXPLAIN (COSTS OFF)
SELECT FROM apart a JOIN undivided b ON near_duplicate(minhash(a.sig), minhash(b.sig), 0.8) LIMIT 1;
EXPLAIN (COSTS OFF)
SELECT FROM apart a WHERE EXISTS (SELECT FROM undivided b WHERE near_duplicate(minhash(a.sig), minhash(b.sig), 0.8)) LIMIT 1;
RESET min_parallel_table_scan_size;
RESET parallel_setup_cost;

-- Groups of few and many rows, around the number of inner rows that are compared side by
-- side: all match all, with a column in the result or none, and in a self-join once
CREATE TABLE copies AS
SELECT i AS id, signature_from(ARRAY[1, 2, 3]::bigint[]) AS sig FROM generate_series(1, 4097) i;
CREATE TABLE others AS
SELECT i AS id, signature_from(ARRAY[1, 2, 3, 4]::bigint[]) AS sig FROM generate_series(1, 3) i;
ANALYZE copies, others;
SET enable_nestloop = off;
SELECT n, count(*) = 3 * n AND sum(o.id::bigint * c.id) = 6 * n * (n + 1) / 2 AS right,
       count(*) FILTER (WHERE o.id < c.id) = 3 * n - 6 AS filtered
FROM (VALUES (4095), (4096), (4097)) v (n),
LATERAL (SELECT o.id, o.sig FROM others o OFFSET 0) o
JOIN LATERAL (SELECT c.id, c.sig FROM copies c WHERE c.id <= n OFFSET 0) c
ON near_duplicate(o.sig, c.sig, 0.7)
GROUP BY n ORDER BY n;
SELECT n, (SELECT count(*) FROM others o JOIN copies c ON near_duplicate(o.sig, c.sig, 0.7) AND c.id <= n) AS inner,
       (SELECT count(*) FROM others o LEFT JOIN copies c
        ON near_duplicate(o.sig, c.sig, 0.7) AND o.id < c.id AND c.id <= n) AS left,
       (SELECT count(*) FROM copies c LEFT JOIN others o
        ON near_duplicate(o.sig, c.sig, 0.7) AND o.id < c.id WHERE c.id <= n) AS right,
       (SELECT count(*) || ' ' || sum(b.id - a.id) FROM copies a JOIN copies b
        ON near_duplicate(a.sig, b.sig, 0.7) AND a.id < b.id AND a.id <= n AND b.id <= n) AS self
FROM (VALUES (3), (4096), (4097)) v (n) ORDER BY n;

DROP OWNED BY neardup_reader;
DROP ROLE neardup_reader;
SET client_min_messages = warning;
DROP SCHEMA join_test CASCADE;
