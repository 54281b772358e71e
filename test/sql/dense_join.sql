--
-- Joins of dense vectors: every kind, in memory and on disk, by several processes
--

CREATE SCHEMA dense_join;
SET search_path = dense_join, public;

-- Of several numbers of dimensions, below and above the coordinates that are kept: 12
-- vectors each, and others at a distance from these that varies; the first coordinates
-- vary most, but not by much.  Equal vectors, zeros and nulls.
CREATE FUNCTION random_of(seed bigint) RETURNS float8 LANGUAGE sql IMMUTABLE AS $$
    SELECT ((((((seed * 1103515245 + 12345) & 2147483647) * 1103515245 + 12345) & 2147483647) >> 8) % 100000) / 50000.0 - 1
$$;
CREATE TABLE vectors AS
SELECT id, id % 7 AS kind, repeat('x', id % 200) AS text, CASE WHEN id % 90 < 87 THEN dense(x) END AS v
FROM (SELECT id, array_agg((CASE WHEN id % 50 = 0 THEN 0
                                 ELSE (random_of(family * 7001 + i * 31) + (0.02 + id % 9 / 8.0) * random_of(id * 61300 + i * 97)) / (1 + i * 8.0 / dimensions) END)::real ORDER BY i) AS x
      FROM generate_series(1, 720) id,
           LATERAL (VALUES ('{1,2,3,8,40,65,130,385}'::int[], id % 12)) f (ns, family),
           LATERAL (VALUES (CASE WHEN id <= 520 THEN 130 ELSE ns[1 + id % 8] END)) d (dimensions), generate_series(1, dimensions) i
      GROUP BY id, dimensions) s;
INSERT INTO vectors SELECT 1000 + id, 3, 'equal', v FROM vectors WHERE id % 23 = 0;
CREATE VIEW left_vectors AS SELECT * FROM vectors WHERE id % 3 < 2;
CREATE VIEW right_vectors AS SELECT * FROM vectors WHERE id % 3 > 0;
ANALYZE vectors;
SELECT count(*), count(v) AS known, count(DISTINCT v) AS different, count(DISTINCT regexp_replace(v::text, '{.*', '')) AS specs FROM vectors;

\getenv abs_srcdir PG_ABS_SRCDIR
\set file :abs_srcdir '/sql/shared/same_rows.sql'
\i :file
SET client_min_messages = error; -- several specs
SET test.plan = 'SimilarityJoin';

CREATE VIEW query AS
SELECT name, t, format(text, format('near_duplicate(a.v, b.v, %L, ''cosine'')', t)) AS text
FROM unnest('{1e-300,0.5,0.8,0.9,0.99,1}'::float8[]) t, (VALUES
    ('inner', 'SELECT a.id, b.id AS b FROM left_vectors a JOIN right_vectors b ON %s'),
    ('filtered', 'SELECT a.id, b.id AS b, a.text || b.text AS text FROM left_vectors a JOIN right_vectors b ON %s AND a.kind <> b.kind'),
    ('self', 'SELECT a.id, b.id AS b FROM vectors a JOIN vectors b ON %s AND a.id < b.id'),
    ('all', 'SELECT a.id, b.id AS b FROM vectors a JOIN vectors b ON %s'),
    ('left', 'SELECT a.id, b.id AS b FROM left_vectors a LEFT JOIN right_vectors b ON %s AND a.kind <> b.kind'),
    ('semi', 'SELECT a.id, a.v FROM left_vectors a WHERE EXISTS (SELECT FROM right_vectors b WHERE %s AND a.kind <> b.kind)'),
    ('anti', 'SELECT a.id FROM left_vectors a WHERE NOT EXISTS (SELECT FROM right_vectors b WHERE %s)'),
    ('self anti', 'SELECT a.id FROM vectors a WHERE NOT EXISTS (SELECT FROM vectors b WHERE %s AND b.id < a.id)'))
    q (name, text)
WHERE t IN (0.8, 0.9) OR name IN ('self', 'filtered');

-- In memory
SELECT name, count(*), bool_and(same_rows(text)) FROM query GROUP BY name ORDER BY name;
SELECT sum(split_part(rows, ' ', 1)::int) > 10000 AS many, count(*) FILTER (WHERE rows LIKE '0 %') AS none FROM truth;

-- A pair that reaches the threshold, to the last bit
SELECT bool_and(rows_of(format('SELECT FROM vectors a JOIN vectors b ON near_duplicate(a.v, b.v, %s, ''cosine'') AND a.id = %s AND b.id = %s', c, a, b)) LIKE '1 %') AS at,
       bool_and(rows_of(format('SELECT FROM vectors a JOIN vectors b ON near_duplicate(a.v, b.v, %s, ''cosine'') AND a.id = %s AND b.id = %s', c * (1 + 3e-16), a, b)) LIKE '0 %') AS above
FROM (SELECT a.id AS a, b.id AS b, cosine(a.v, b.v) AS c FROM vectors a JOIN vectors b ON a.id < b.id AND a.id < 40 AND b.id < 40 AND near_duplicate(a.v, b.v, 0.5, 'cosine') AND cosine(a.v, b.v) < 1) s;

-- On disk, with less and less memory
SET hash_mem_multiplier = 1;
CREATE FUNCTION same_rows_within(memory text, query text, OUT same boolean) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('work_mem', memory, true);
    same := same_rows(query);
END $$;
SELECT memory, count(*), bool_and(same_rows_within(memory, text))
FROM unnest('{400kB,128kB,64kB}'::text[]) memory, query WHERE t IN (0.8, 0.99) GROUP BY memory ORDER BY memory;
RESET work_mem;
\set file :abs_srcdir '/sql/shared/counter.sql'
\i :file
SET work_mem = '64kB';
SELECT counter('Batches', text) > 4 AS batches, counter('Disk Usage', text) > 0 AS disk FROM query WHERE name = 'self' AND t = 0.9;
RESET work_mem;
SELECT counter('Batches', text) AS batches, counter('Disk Usage', text) AS disk,
       counter('Candidates', text) BETWEEN 1 AND counter('Sets', text) * counter('Sets', text) / 8 AS few FROM query WHERE name = 'self' AND t = 0.99;
-- EXPLAIN names the algorithm, and what its bounds by coordinates refuse
CREATE FUNCTION lines(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    line text;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS off, TIMING off, SUMMARY off) ' || query LOOP
        IF line ~ 'Algorithm|Coordinates|Prefix' THEN
            RETURN NEXT regexp_replace(trim(line), '[1-9][0-9]*', 'N');
        END IF;
    END LOOP;
END $$;
SELECT lines('SELECT count(*) FROM vectors a JOIN vectors b ON near_duplicate(a.v, b.v, 0.8, ''cosine'') AND a.id < b.id');

-- By several processes
SET min_parallel_table_scan_size = 0;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET max_parallel_workers_per_gather = 2;
SET test.plan = '"Custom Plan Provider": "SimilarityJoin",\s*"Parallel Aware": true';
SELECT memory, count(*), bool_and(same_rows_within(memory, text))
FROM unnest('{4MB,128kB}'::text[]) memory, query WHERE t IN (0.8, 0.99) GROUP BY memory ORDER BY memory;

RESET max_parallel_workers_per_gather;

-- A join can be cancelled: this one compares 18 million pairs
SET client_min_messages = warning;
CREATE TABLE many AS
SELECT id, dense(ARRAY(SELECT sin(id * 7919 + i * 104729)::real FROM generate_series(1, 32) i)) AS v FROM generate_series(1, 6000) id;
SET statement_timeout = '100ms';
SELECT count(*) FROM many a JOIN many b ON near_duplicate(a.v, b.v, 1e-300, 'cosine') AND a.id < b.id;
RESET statement_timeout;

DROP SCHEMA dense_join CASCADE;
