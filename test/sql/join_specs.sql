--
-- The similarity join of signatures of several specs
--
-- They are never near-duplicates: the join has the rows of a nested loop.

CREATE SCHEMA join_specs;
SET search_path = join_specs, public;
SET enable_hashjoin = off;
SET enable_mergejoin = off;

-- Rows of eight kinds; the first two have empty sets, too
CREATE TABLE features AS
SELECT i AS id, i % 10 AS kind,
    signature_from(ARRAY(SELECT (i / 10 % 7 * 5 + e * (1 + i % 2))::bigint
                         FROM generate_series(1, 10 + i % 3) e)) AS sig
FROM generate_series(1, 300) i;
CREATE TABLE docs AS
SELECT id, CASE kind WHEN 9 THEN 7 ELSE kind % 7 END AS kind, CASE kind
        WHEN 0 THEN sig
        WHEN 1 THEN sample(sig, 1)
        WHEN 2 THEN minhash(sig, 16)
        WHEN 3 THEN minhash(sig, 64)
        WHEN 4 THEN bottom(sig, 8)
        WHEN 5 THEN shingles('word number ' || id % 5, 1)
        WHEN 6 THEN NULL
        WHEN 7 THEN signature_from('{}')
        WHEN 8 THEN sample(signature_from('{}'), 1)
        WHEN 9 THEN signature_weighted(sig::bigint[],
            ARRAY(SELECT (1 + f % 3)::real FROM unnest(sig::bigint[]) f))
    END AS sig, repeat('x', 40) AS text
FROM features;
CREATE VIEW empty_docs AS SELECT * FROM docs WHERE sig::text ~ '{}';
CREATE VIEW cosine_docs AS SELECT * FROM docs WHERE kind IN (0, 5, 7);
SELECT kind, count(*), count(DISTINCT sig) FROM docs GROUP BY kind ORDER BY kind;

CREATE FUNCTION costly_equal(int, int) RETURNS boolean IMMUTABLE COST 1000
LANGUAGE plpgsql AS 'BEGIN RETURN $1 = $2; END';
CREATE FUNCTION cheap_equal(int, int) RETURNS boolean IMMUTABLE COST 1
LANGUAGE plpgsql AS 'BEGIN RETURN $1 = $2; END';

-- The rows of a query, as a number and a hash, or its error; by the join or the
-- nested loop
CREATE FUNCTION outcome(query text, joined boolean) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
    plan text;
    answer text;
BEGIN
    PERFORM set_config('neardup.enable_join', joined::text, true);
    PERFORM set_config('enable_nestloop', (NOT joined)::text, true);
    EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
    IF plan ~ 'SimilarityJoin' <> joined THEN
        RAISE EXCEPTION 'another plan: %', query;
    END IF;
    EXECUTE format('SELECT count(*) || '' '' || md5(coalesce(string_agg(q::text, '','' ORDER BY q::text), '''')) FROM (%s) q',
                   query) INTO answer;
    RETURN answer;
EXCEPTION WHEN datatype_mismatch OR feature_not_supported OR invalid_parameter_value THEN
    RETURN SQLERRM;
END $$;

CREATE TABLE query AS
SELECT c.name AS conditions, j.name AS type, format(j.text, c.text) AS text
FROM (VALUES
    ('none', 'true'),
    ('equal kinds', 'a.kind = b.kind'),
    ('equal kinds, other types', 'b.kind::bigint = a.kind + 0'),
    ('kinds, and ids', 'a.kind = b.kind AND a.id < b.id'),
    ('no equality', 'abs(a.kind - b.kind) < 1'),
    ('a cheap function', 'cheap_equal(a.kind, b.kind)'),
    ('a costly function', 'costly_equal(a.kind, b.kind)'),
    ('not distinct', 'nullif(a.kind, 1) IS NOT DISTINCT FROM nullif(b.kind, 1)'),
    ('not distinct, two are null', 'nullif(a.kind % 6, 0) IS NOT DISTINCT FROM nullif(b.kind % 6, 0)'),
    ('distinct', 'a.kind IS DISTINCT FROM b.kind'),
    ('kinds, too coarse', 'a.kind % 3 = b.kind % 3'),
    ('ids', 'a.id < b.id'),
    ('two kinds, by id', 'a.kind IN (2, 3) AND b.kind IN (2, 3) AND a.id % 10 = b.id % 10'),
    ('a set and a sketch', 'a.kind = 0 AND b.kind = 3 AND a.id > b.id'),
    ('one kind', 'a.kind = 4 AND b.kind = 4')) c(name, text),
    (VALUES
    ('inner', 'SELECT a.id, b.id AS b FROM docs a JOIN docs b ON near_duplicate(a.sig, b.sig, 0.7) AND %s'),
    ('left', 'SELECT a.id, b.id AS b FROM docs a LEFT JOIN docs b ON near_duplicate(a.sig, b.sig, 0.7) AND b.id <> 19 AND %s'),
    ('semi', 'SELECT id FROM docs a WHERE EXISTS (SELECT FROM docs b WHERE near_duplicate(a.sig, b.sig, 0.7) AND %s)'),
    ('anti', 'SELECT id FROM docs a WHERE NOT EXISTS (SELECT FROM docs b WHERE near_duplicate(a.sig, b.sig, 0.7) AND b.id <> a.id AND %s)'),
    ('approximate', 'SELECT a.id, b.id AS b FROM docs a JOIN docs b ON near_duplicate_approx(a.sig, b.sig, 0.7) AND a.kind IN (0, 5) AND b.kind IN (0, 5) AND %s'),
    ('cosine', 'SELECT a.id, b.id AS b FROM cosine_docs a LEFT JOIN cosine_docs b ON near_duplicate(a.sig, b.sig, 0.8, ''cosine'') AND %s'),
    ('empty', 'SELECT a.id, b.id AS b FROM empty_docs a LEFT JOIN docs b ON near_duplicate(a.sig, b.sig, 0.7) AND %s'),
    ('with empty', 'SELECT a.id, b.id AS b FROM docs a JOIN empty_docs b ON near_duplicate(a.sig, b.sig, 0.7) AND %s'))
    j(name, text);

SELECT conditions, type,
    CASE WHEN joined = looped THEN 'same' ELSE 'DIFFERENT: ' || looped END,
    CASE WHEN joined ~ '^[a-z]' THEN joined
         ELSE split_part(joined, ' ', 1) END AS rows
FROM (SELECT *, outcome(text, true) AS joined, outcome(text, false) AS looped
      FROM query) q
ORDER BY conditions, type;

-- A measure that a signature does not have, or an invalid threshold or recall, is an
-- error when two signatures are compared
SELECT conditions, condition,
    CASE WHEN joined = looped THEN 'same' ELSE 'DIFFERENT: ' || looped END,
    CASE WHEN joined ~ '^[a-z]' THEN joined
         ELSE split_part(joined, ' ', 1) END AS rows
FROM (SELECT conditions, condition, outcome(text, true) AS joined, outcome(text, false) AS looped
      FROM (SELECT c.name AS conditions, n.text AS condition,
                format('SELECT a.id, b.id AS b FROM docs a LEFT JOIN docs b ON %s AND %s', n.text, c.text) AS text
            FROM (VALUES
                ('no partners', 'a.kind = b.kind + 100'),
                ('partners of sets only', 'a.kind = b.kind AND (a.kind + b.kind) IN (0, 10)'),
                ('a sketch without partners', 'a.kind = b.kind + CASE b.kind WHEN 2 THEN 100 ELSE 0 END AND b.kind IN (0, 2, 5)'),
                ('one sketch with a partner', 'a.kind = b.kind AND (a.kind = 0 OR a.id = 102) AND b.kind IN (0, 2)'),
                ('samples', 'a.kind = 1 AND b.kind = 1'),
                ('no signatures', 'a.kind = 6 AND b.kind = 6'),
                ('vectors', 'a.kind = b.kind AND a.id % 10 = 9 AND b.id % 10 = 9')) c(name, text),
                (VALUES
                ('near_duplicate(a.sig, b.sig, 0.5, ''containment'')'),
                ('contained_in(b.sig, a.sig, 0.5)'),
                ('near_duplicate(a.sig, b.sig, 0.5, ''cosine'')'),
                ('near_duplicate(a.sig, b.sig, 0.5, ''similarity'')'),
                ('dice(b.sig, a.sig) > 0.5'),
                ('near_duplicate(a.sig, b.sig, 1.5)'),
                ('near_duplicate(a.sig, b.sig, ''NaN'')'),
                ('near_duplicate(a.sig, b.sig, (SELECT NULL::float8))'),
                ('near_duplicate_approx(a.sig, b.sig, 0.5)'),
                ('near_duplicate_approx(a.sig, b.sig, 0)'),
                ('near_duplicate_approx(a.sig, b.sig, 0.01, 0.999)'),
                ('near_duplicate_approx(a.sig, b.sig, 0.5, 1)')) n(text)) q) q
ORDER BY conditions, condition COLLATE "C";
-- It is no error where nothing is compared: without another condition one pair is
-- enough, and without a signature on one side there is none.
CREATE VIEW no_docs AS SELECT * FROM docs WHERE kind = 6;
SELECT text, CASE WHEN joined = looped THEN 'same' ELSE 'DIFFERENT: ' || looped END,
    CASE WHEN joined ~ '^[a-z]' THEN joined ELSE split_part(joined, ' ', 1) END AS rows
FROM (SELECT text, outcome(text, true) AS joined, outcome(text, false) AS looped
      FROM unnest(ARRAY[
        'SELECT a.id FROM docs a JOIN no_docs b ON near_duplicate(a.sig, b.sig, 2)',
        'SELECT a.id FROM no_docs a LEFT JOIN docs b ON near_duplicate(a.sig, b.sig, 2)',
        'SELECT a.id FROM docs a LEFT JOIN no_docs b ON near_duplicate_approx(a.sig, b.sig, 0.5, 3)',
        'SELECT a.id FROM cosine_docs a JOIN cosine_docs b ON near_duplicate_approx(a.sig, b.sig, 0.5, 3)',
        'SELECT a.id FROM docs a JOIN docs b ON near_duplicate(a.sig, b.sig, 2)',
        'SELECT a.id FROM (SELECT * FROM docs WHERE kind = 2) a JOIN (SELECT * FROM docs WHERE kind = 2) b ON contained_in(a.sig, b.sig, 0.5)']) text) q;

-- On disk
CREATE TABLE many AS
SELECT d.id * 100 + i AS id, d.kind, d.sig, d.text
FROM docs d, generate_series(1, 4) i
UNION ALL
SELECT id * 100, kind, CASE WHEN kind < 2 THEN s ELSE minhash(s, 64) END, ''
FROM (SELECT *, signature_from(ARRAY(SELECT id * 1000 + e FROM generate_series(1, 50) e)) AS s
      FROM docs WHERE kind IN (0, 3)) d;
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
SET neardup.enable_join = on;
SET enable_nestloop = off;
EXPLAIN (COSTS OFF)
SELECT a.id, b.id AS b FROM many a LEFT JOIN many b
ON near_duplicate(a.sig, b.sig, 0.8) AND a.kind = b.kind AND a.id < b.id;
CREATE FUNCTION batches(query text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
    plan text;
BEGIN
    EXECUTE 'EXPLAIN (ANALYZE, FORMAT json) ' || query INTO plan;
    RETURN substring(plan FROM '"Batches": (\d+)');
END $$;
SELECT batches('SELECT a.id, b.id AS b FROM many a LEFT JOIN many b
ON near_duplicate(a.sig, b.sig, 0.8) AND a.kind = b.kind AND a.id < b.id') > 2;
SELECT conditions, type,
    CASE WHEN joined = looped THEN 'same' ELSE 'DIFFERENT: ' || looped END,
    CASE WHEN joined ~ '^[a-z]' THEN joined
         ELSE split_part(joined, ' ', 1) END AS rows
FROM (SELECT *, outcome(text, true) AS joined, outcome(text, false) AS looped
      FROM (SELECT conditions, type, replace(text, 'docs', 'many') AS text
            FROM query WHERE type IN ('inner', 'left', 'anti')
                AND conditions IN ('equal kinds', 'kinds, and ids', 'no equality', 'ids')) q) q
ORDER BY conditions, type;

-- By several processes, each of which joins some of the specs
ALTER TABLE many SET (parallel_workers = 3);
SET max_parallel_workers_per_gather = 3;
SET min_parallel_table_scan_size = 0;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
EXPLAIN (COSTS OFF)
SELECT a.id, b.id AS b FROM many a LEFT JOIN many b
ON near_duplicate(a.sig, b.sig, 0.8) AND a.kind = b.kind AND a.id < b.id;
SET client_min_messages = error;
SELECT type, memory,
    CASE WHEN joined = looped THEN 'same' ELSE 'DIFFERENT: ' || looped END
FROM (SELECT type, memory, outcome(text, true) AS joined, outcome(text, false) AS looped
      FROM unnest('{64kB,64MB}'::text[]) memory, set_config('work_mem', memory, false),
          LATERAL (SELECT type, replace(text, 'docs', 'many') AS text FROM query
                   WHERE type IN ('inner', 'left', 'semi', 'anti') AND conditions = 'ids') q) q
ORDER BY type, memory;
RESET client_min_messages;
RESET max_parallel_workers_per_gather;
RESET min_parallel_table_scan_size;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
SET work_mem = '64kB';

-- More values than buckets, and more rows that share a bucket with a different spec than
-- are kept at once: 15,000 values, each of two rows and one spec
CREATE TABLE tenants AS
SELECT id, tenant, CASE WHEN id % 2 = 0 THEN sig ELSE sample(sig, 1) END AS sig
FROM (SELECT id, id % 15000 AS tenant, signature_from(ARRAY[id % 15000, id % 15000 + 1]) AS sig FROM generate_series(1, 30000) id) s;
ANALYZE tenants;
SELECT count(*) FROM tenants a JOIN tenants b ON near_duplicate(a.sig, b.sig, 0.3) AND a.tenant = b.tenant AND a.id < b.id;
-- Nor are all pairs compared, which takes long, where nulls are equal
SET statement_timeout = '20s';
SELECT count(*) FROM tenants a JOIN tenants b ON near_duplicate(a.sig, b.sig, 0.3)
    AND nullif(a.tenant, 7) IS NOT DISTINCT FROM nullif(b.tenant, 7) AND a.id < b.id;
RESET statement_timeout;
INSERT INTO tenants SELECT 90000 + id, tenant, sample(sig, 1) FROM tenants WHERE id IN (27776, 27778);
SELECT count(*) FROM tenants a JOIN tenants b ON near_duplicate(a.sig, b.sig, 0.3) AND a.tenant = b.tenant AND b.id < a.id AND a.id < 90000;
SELECT count(*) FROM tenants a JOIN tenants b ON near_duplicate(a.sig, b.sig, 0.3) AND a.tenant = b.tenant AND a.id < b.id;

-- Sets of thirty specs are in one engine, which makes one index in memory
CREATE TABLE sampled AS SELECT i * 30 + n AS id, sample(signature_from(ARRAY[i, i + 1, i + 2, i + 3]::bigint[]), n) AS sig
FROM generate_series(1, 200) i, generate_series(1, 30) n;
CREATE FUNCTION indexes(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    plan json;
BEGIN
    EXECUTE 'EXPLAIN (ANALYZE, TIMING OFF, FORMAT json) ' || query INTO plan;
    RETURN plan->0->'Plan'->>'Batches';
END $$;
SET client_min_messages = error;
SET max_parallel_workers_per_gather = 0;
SET work_mem = '64MB';
SELECT indexes('SELECT FROM sampled a JOIN sampled b ON near_duplicate(a.sig, b.sig, 0.6) AND a.id < b.id');

SET client_min_messages = warning;
DROP SCHEMA join_specs CASCADE;
