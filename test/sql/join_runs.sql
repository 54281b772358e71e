--
-- The similarity join run in part, again, or for a role that may not see all rows
--

CREATE SCHEMA join_runs;
SET search_path = join_runs, public;
SET enable_nestloop = off;

-- Pairs (i, i + 1) for odd i; each set twice
CREATE TABLE docs AS
SELECT i AS id, i % 3 AS kind, signature_from(ARRAY(
    SELECT ((i + 1) / 2 * 100 + e)::bigint
    FROM generate_series(1, 39 + i % 2) e)) AS sig, repeat('x', 100) AS text
FROM generate_series(1, 200) i;
ANALYZE docs;
CREATE VIEW pairs AS
SELECT a.id AS a, b.id AS b, a.text FROM docs a
JOIN docs b ON near_duplicate(a.sig, b.sig, 0.8) AND a.id < b.id;

CREATE FUNCTION counter(name text, query text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
    plan text;
BEGIN
    EXECUTE 'EXPLAIN (ANALYZE, FORMAT json) ' || query INTO plan;
    RETURN substring(plan FROM format('"%s": (\d+)', name));
END $$;

-- The rest of a cursor, whose rows are right
CREATE FUNCTION rest_of(c refcursor) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
    r record;
    n int := 0;
BEGIN
    LOOP
        FETCH c INTO r;
        EXIT WHEN NOT FOUND;
        ASSERT r.a + 1 = r.b;
        n := n + 1;
    END LOOP;
    RETURN n;
END $$;

-- Little memory: partly read rows are on disk
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
SELECT counter('Batches', 'SELECT * FROM pairs') > 1 AS on_disk;

-- Counters of a join that runs several times are those of the last run.
SELECT name, counter(name, format(query, '{0.8}')) AS once, counter(name, format(query, '{0.5,0.6,0.8}')) AS thrice
FROM unnest('{Sets,Matching Sets,Rows Removed by Join Filter}'::text[]) name,
     (VALUES ('SELECT (SELECT count(*) FROM docs a JOIN docs b ON near_duplicate(a.sig, b.sig, t)
               AND a.kind + b.kind < 3) FROM unnest(%L::float8[]) t')) q (query);

-- A cursor that moves back reads stored rows
BEGIN;
EXPLAIN (COSTS OFF)
DECLARE c SCROLL CURSOR FOR SELECT a, b FROM pairs;
DECLARE c SCROLL CURSOR FOR SELECT a, b FROM pairs;
MOVE 7 IN c;
CREATE TEMP TABLE seen (step int, a int, b int);
CREATE FUNCTION see(step int, direction text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    c refcursor := 'c';
    r record;
BEGIN
    CASE direction
        WHEN 'next' THEN FETCH NEXT FROM c INTO r;
        WHEN 'prior' THEN FETCH PRIOR FROM c INTO r;
        WHEN 'first' THEN FETCH FIRST FROM c INTO r;
        WHEN 'last' THEN FETCH LAST FROM c INTO r;
        WHEN 'tenth' THEN FETCH ABSOLUTE 10 FROM c INTO r;
    END CASE;
    INSERT INTO seen VALUES (step, r.a, r.b);
END $$;
SELECT see(1, 'next'), see(2, 'next'), see(3, 'next');
SELECT see(4, 'prior'), see(5, 'prior');
SELECT see(6, 'first'), see(7, 'last'), see(8, 'tenth'), see(9, 'first');
MOVE BACKWARD ALL IN c;
SELECT rest_of('c');
SELECT count(*) AS pairs, bool_and(a + 1 = b) AS right FROM seen;
SELECT (SELECT a FROM seen WHERE step = 2) = (SELECT a FROM seen WHERE step = 4) AS back,
    (SELECT a FROM seen WHERE step = 1) = (SELECT a FROM seen WHERE step = 5) AS back_again,
    (SELECT a FROM seen WHERE step = 3) = (SELECT a FROM seen WHERE step = 8) AS tenth,
    (SELECT a FROM seen WHERE step = 6) = (SELECT a FROM seen WHERE step = 9) AS first,
    (SELECT count(DISTINCT a) FROM seen) AS different;
ROLLBACK;

-- A cursor that outlives its transaction, partly read
BEGIN;
DECLARE held CURSOR WITH HOLD FOR SELECT a, b FROM pairs;
MOVE 10 IN held;
SAVEPOINT s;
MOVE 10 IN held;
RELEASE s;
COMMIT;
SELECT rest_of('held');
CLOSE held;

-- A cursor that is used in a subtransaction which fails
BEGIN;
DECLARE lost CURSOR FOR SELECT a, b FROM pairs;
MOVE 10 IN lost;
SAVEPOINT s;
MOVE 10 IN lost;
ROLLBACK TO s;
SELECT count(*) FROM pairs;
ROLLBACK;

-- Only the first rows, in a loop of its own
DO $$
DECLARE
    r record;
    n int := 0;
BEGIN
    FOR r IN SELECT a, b FROM pairs LOOP
        n := n + 1;
        EXIT WHEN n = 5;
    END LOOP;
    ASSERT n = 5 AND r.b = r.a + 1;
END $$;
SELECT count(*) FROM (SELECT FROM pairs LIMIT 3) p;
SELECT count(*) FROM docs d WHERE EXISTS (SELECT FROM pairs LIMIT 1 OFFSET 50);

-- Again, with the same rows
SET enable_material = off;
SET enable_nestloop = on;
EXPLAIN (COSTS OFF)
SELECT g, count(*), sum(a) FROM generate_series(1, 3) g
LEFT JOIN pairs ON (a % 4 < g) IS TRUE GROUP BY g ORDER BY g;
SELECT g, count(*), sum(a) FROM generate_series(1, 3) g
LEFT JOIN pairs ON (a % 4 < g) IS TRUE GROUP BY g ORDER BY g;
SET enable_nestloop = off;
RESET enable_material;
-- ... with another threshold, with other rows, not to the end
SELECT t, n FROM (VALUES (0.9), (0.99), (NULL), (0.5)) v(t), LATERAL (
    SELECT count(*) AS n FROM docs a
    JOIN docs b ON near_duplicate(a.sig, b.sig, v.t::float8) AND a.id <> b.id) l
ORDER BY t;
SELECT k, n FROM generate_series(1, 3) k, LATERAL (
    SELECT count(*) AS n FROM (SELECT FROM docs a
    LEFT JOIN docs b ON near_duplicate(a.sig, b.sig, 0.9) AND b.id <> a.id
    WHERE a.kind = k % 3 AND coalesce(b.kind, 0) <> k LIMIT 40) p) l
ORDER BY k;

-- Prepared once: a threshold and a condition as parameters
SET plan_cache_mode = force_generic_plan;
PREPARE near(float8, int) AS
SELECT count(*), sum(a.id) FROM docs a
JOIN docs b ON near_duplicate(a.sig, b.sig, $1) AND a.id < b.id AND b.kind = $2;
EXPLAIN (COSTS OFF) EXECUTE near(0.9, 1);
EXECUTE near(0.9, 1);
EXECUTE near(0.99, 1);
EXECUTE near(NULL, 1);
EXECUTE near(0.9, 2);
EXECUTE near(1.5, 2);
DEALLOCATE near;
RESET plan_cache_mode;

-- MERGE updates, inserts and deletes by the join
BEGIN;
CREATE TABLE news AS
SELECT id, kind, sig FROM docs WHERE id % 2 = 0 AND id <= 20
UNION ALL
SELECT 1000 + id, 0, signature_from(ARRAY[id, id + 1, id + 2]) FROM docs WHERE id <= 3;
EXPLAIN (COSTS OFF)
MERGE INTO docs d USING news n ON near_duplicate(d.sig, n.sig, 0.9) AND d.id % 2 = 1
WHEN MATCHED AND n.kind = 0 THEN DELETE
WHEN MATCHED AND n.kind = 1 THEN UPDATE SET text = 'near ' || n.id
WHEN MATCHED THEN DO NOTHING
WHEN NOT MATCHED THEN INSERT VALUES (n.id, n.kind, n.sig, 'new');
MERGE INTO docs d USING news n ON near_duplicate(d.sig, n.sig, 0.9) AND d.id % 2 = 1
WHEN MATCHED AND n.kind = 0 THEN DELETE
WHEN MATCHED AND n.kind = 1 THEN UPDATE SET text = 'near ' || n.id
WHEN MATCHED THEN DO NOTHING
WHEN NOT MATCHED THEN INSERT VALUES (n.id, n.kind, n.sig, 'new');
SELECT count(*) FROM docs;
SELECT id, text FROM docs WHERE text !~ '^x' ORDER BY id;
SELECT id FROM generate_series(1, 20) id EXCEPT SELECT id FROM docs ORDER BY id;
ROLLBACK;

-- Row-level security and security barriers: a leaky function is not called for a
-- hidden row
CREATE ROLE neardup_runs_reader;
CREATE FUNCTION told(int) RETURNS boolean COST 0.0001 LANGUAGE plpgsql AS $$
BEGIN
    IF $1 > 8 THEN
        RAISE EXCEPTION 'told of %', $1;
    END IF;
    RETURN true;
END $$;
CREATE VIEW few_docs WITH (security_barrier) AS
SELECT id, kind, sig FROM docs WHERE id * 2 <= 16;
CREATE TABLE guarded AS SELECT * FROM docs;
ALTER TABLE guarded ENABLE ROW LEVEL SECURITY;
CREATE POLICY few ON guarded USING (id * 2 <= 16);
GRANT USAGE ON SCHEMA join_runs TO neardup_runs_reader;
GRANT SELECT ON few_docs TO neardup_runs_reader;
GRANT SELECT, UPDATE, DELETE ON guarded TO neardup_runs_reader;
SET ROLE neardup_runs_reader;
EXPLAIN (COSTS OFF)
SELECT a.id, b.id FROM few_docs a JOIN guarded b
ON near_duplicate(a.sig, b.sig, 0.9) AND a.id <> b.id AND told(a.id) AND told(b.id);
SELECT a.id, b.id FROM few_docs a JOIN guarded b
ON near_duplicate(a.sig, b.sig, 0.9) AND a.id <> b.id AND told(a.id) AND told(b.id)
ORDER BY 1, 2;
SELECT a.id, b.id FROM few_docs a LEFT JOIN guarded b
ON near_duplicate(a.sig, b.sig, 0.9) AND a.id < b.id AND told(b.id + a.id - a.id)
ORDER BY 1, 2;
SELECT id FROM guarded a WHERE EXISTS (SELECT FROM guarded b
    WHERE near_duplicate(a.sig, b.sig, 0.9) AND told(b.id) AND a.id > b.id)
ORDER BY 1;
BEGIN;
UPDATE guarded g SET text = 'seen' FROM few_docs f
WHERE near_duplicate(g.sig, f.sig, 0.9) AND g.id > f.id AND told(g.id);
DELETE FROM guarded g USING few_docs f
WHERE near_duplicate(g.sig, f.sig, 0.9) AND g.id < f.id AND told(g.id)
RETURNING g.id;
RESET ROLE;
SELECT count(*), count(*) FILTER (WHERE text = 'seen') AS seen FROM guarded;
ROLLBACK;
RESET ROLE;

DROP OWNED BY neardup_runs_reader;
DROP ROLE neardup_runs_reader;
SET client_min_messages = warning;
DROP SCHEMA join_runs CASCADE;
