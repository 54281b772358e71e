-- States of aggregates: bytea or signature, in memory and flat, by every plan.
\pset null '(null)'
SELECT aggfnoid::regprocedure AS aggregate FROM pg_aggregate a
JOIN pg_depend d ON d.objid = a.aggfnoid AND d.classid = 'pg_proc'::regclass AND d.deptype = 'e'
JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'neardup'
WHERE aggtranstype = 'internal'::regtype OR aggcombinefn = 0 ORDER BY aggfnoid::regprocedure::text COLLATE "C";

CREATE TABLE state_docs AS
SELECT i AS id, i % 7 AS g, i % 3 AS h, i * 5 % 11 AS f, i * 3 % 11 / 2 AS t, body,
       shingles(body, 2) AS sig, CASE WHEN i % 4 > 0 THEN lexicon END AS lexicon
FROM generate_series(1, 420) i
CROSS JOIN LATERAL (SELECT string_agg(chr(97 + (i * j * j + i % 13 * j) % 26) || (i + j) % 5, ' ') FROM generate_series(1, i % 37) j) b (body)
CROSS JOIN LATERAL (SELECT lexicon_agg(w) FROM unnest(ARRAY[body, 'a b']) w) l (lexicon);
ANALYZE state_docs;
CREATE TABLE expressions (n serial, expression text);
INSERT INTO expressions (expression) VALUES
('lexicon_agg(body)'),
('lexicon_agg(body, ''english stop'')'),
('lexicon_agg(''simple''::regconfig, body)'),
('lexicon_agg(lexicon)'),
('shingle_lexicon_agg(body, ''k=2'', 100000)'),
('word_set_agg(body, '''', 20)'),
('word_set_agg(''simple''::regconfig, body)'),
('signature_union_agg(sig)'),
('signature_intersect_agg(sig)'),
('pair_evaluation(f = t, g = h, id / 420.0)'),
('cluster_evaluation(f, t)');

-- Results of an aggregate for every group, and for all rows, as one text.
CREATE FUNCTION results(expression text, source text = 'state_docs') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    result text;
BEGIN
    EXECUTE format('SELECT string_agg(g || md5(r), '' '' ORDER BY g) FROM (SELECT g, (%s)::text AS r FROM %s GROUP BY g UNION ALL SELECT -1, (%1$s)::text FROM %2$s) s', expression, source) INTO result;
    RETURN result;
END $$;
CREATE FUNCTION plan_has(query text, pattern text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    line text;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN ' || query LOOP
        IF line ~ pattern THEN
            RETURN true;
        END IF;
    END LOOP;
    RETURN false;
END $$;
SET enable_sort = off;
SELECT plan_has('SELECT g, lexicon_agg(body) FROM state_docs GROUP BY g', 'HashAggregate');
CREATE TABLE expected AS SELECT n, expression, results(expression) AS result FROM expressions;
SELECT count(*), count(DISTINCT result) FROM expected;

-- by sorting
SET enable_sort = on;
SET enable_hashagg = off;
SELECT expression FROM expected WHERE result IS DISTINCT FROM results(expression) ORDER BY n;
RESET enable_hashagg;

-- by hashing in little memory, with many groups
CREATE TABLE many_groups AS SELECT id / 2 + i * 1000 AS g, body, sig, lexicon, f, t, h, id FROM state_docs, generate_series(1, 3) i;
ANALYZE many_groups;
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
SET enable_sort = off;
CREATE TABLE by_hash AS SELECT n, results(expression, 'many_groups') AS result FROM expressions;
SELECT plan_has('(ANALYZE, COSTS off, TIMING off) SELECT g, signature_union_agg(sig) FROM many_groups GROUP BY g', 'Batches: ([2-9]|[1-9][0-9])') AS spilled;
SET enable_sort = on;
SET enable_hashagg = off;
RESET work_mem;
SELECT expression FROM expressions JOIN by_hash USING (n) WHERE result IS DISTINCT FROM results(expression, 'many_groups') ORDER BY n;
RESET hash_mem_multiplier;
RESET enable_hashagg;
RESET enable_sort;

-- by workers, whose states are combined, except for clusters
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
SET parallel_leader_participation = off;
ALTER TABLE state_docs SET (parallel_workers = 2);
SELECT expression FROM expected WHERE NOT plan_has('SELECT ' || expression || ' FROM state_docs', 'Partial Aggregate') ORDER BY n;
SELECT expression FROM expected WHERE result IS DISTINCT FROM results(expression) ORDER BY n;
RESET parallel_leader_participation;
SET max_parallel_workers_per_gather = 0;

-- by partitions
CREATE TABLE parted (LIKE state_docs) PARTITION BY LIST (h);
CREATE TABLE parted_0 PARTITION OF parted FOR VALUES IN (0);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES IN (1, 2);
INSERT INTO parted SELECT * FROM state_docs;
ANALYZE parted;
SET enable_partitionwise_aggregate = on;
SELECT plan_has('SELECT g, lexicon_agg(body) FROM parted GROUP BY g', 'Partial HashAggregate');
SELECT expression FROM expected WHERE result IS DISTINCT FROM results(expression, 'parted') ORDER BY n;
RESET enable_partitionwise_aggregate;

-- grouping sets, and DISTINCT and ORDER BY in the aggregate
CREATE FUNCTION same(a text, b text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    result boolean;
BEGIN
    EXECUTE format('SELECT (SELECT string_agg(v::text, ''; '' ORDER BY v::text) FROM (%s) v) = (SELECT string_agg(v::text, ''; '' ORDER BY v::text) FROM (%s) v)', a, b) INTO result;
    RETURN result;
END $$;
SELECT expression FROM expressions
WHERE same(format('SELECT g, h, %s FROM state_docs GROUP BY ROLLUP (g, h)', expression),
           format('SELECT g, h, %s FROM state_docs GROUP BY g, h UNION ALL SELECT g, NULL, %1$s FROM state_docs GROUP BY g UNION ALL SELECT NULL, NULL, %1$s FROM state_docs', expression)) IS NOT TRUE
ORDER BY n;
SELECT expression FROM expressions
WHERE same(format('SELECT h, %s FROM state_docs GROUP BY GROUPING SETS ((h), ())', regexp_replace(expression, '\)$', ' ORDER BY body, id)')),
           format('SELECT h, %s FROM state_docs GROUP BY h UNION ALL SELECT NULL, %1$s FROM state_docs', expression)) IS NOT TRUE
ORDER BY n;
SELECT (SELECT lexicon_agg(DISTINCT body) FROM state_docs)::text = (SELECT lexicon_agg(body) FROM (SELECT DISTINCT body FROM state_docs) d)::text AS lexicon,
       (SELECT signature_union_agg(DISTINCT sig) FROM state_docs) = (SELECT signature_union_agg(sig) FROM state_docs) AS signature;

-- moving and growing frames: the result of a state is computed repeatedly
SELECT expression, frame FROM expressions, unnest(ARRAY['2 PRECEDING', 'UNBOUNDED PRECEDING']) frame
WHERE same(format('SELECT id, %s OVER (ORDER BY id ROWS BETWEEN %s AND CURRENT ROW) FROM state_docs WHERE id <= 40', expression, frame),
           format('SELECT a.id, (SELECT %s FROM state_docs WHERE id BETWEEN %s AND a.id) FROM state_docs a WHERE id <= 40', expression,
                  CASE frame WHEN '2 PRECEDING' THEN 'a.id - 2' ELSE '1' END)) IS NOT TRUE
ORDER BY n, frame;

-- also where a hash table is read again
SET enable_sort = off;
SELECT plan_has('SELECT (SELECT count(r) FROM (SELECT g, lexicon_agg(body) AS r FROM state_docs GROUP BY g HAVING count(*) > o.x) s) FROM (VALUES (0), (1)) o (x)', 'Filter: \(count');
SELECT expression FROM expressions
WHERE same(format('SELECT x, (SELECT string_agg(r::text, '' '' ORDER BY g) FROM (SELECT g, %s AS r FROM state_docs GROUP BY g HAVING count(*) > o.x) s) FROM (VALUES (0), (1), (2)) o (x)', expression),
           format('SELECT x, (SELECT string_agg(r::text, '' '' ORDER BY g) FROM (SELECT g, %s AS r FROM state_docs GROUP BY g) s) FROM generate_series(0, 2) x', expression)) IS NOT TRUE
ORDER BY n;
RESET enable_sort;

-- no rows, and NULL
SELECT lexicon_agg(NULL::text), lexicon_agg(NULL::lexicon), word_set_agg(NULL::text), signature_union_agg(NULL), cluster_evaluation(NULL::int, NULL::int), pair_evaluation(NULL, NULL, NULL);
SELECT lexicon_agg(b)::text = (SELECT lexicon_agg('a'))::text AS same FROM (VALUES (NULL), ('a'), (NULL)) v (b);

-- As by engines on several servers: flat states of parts, then their sum.
CREATE AGGREGATE lexicon_part(text) (SFUNC = lexicon_agg_add, STYPE = bytea);
CREATE AGGREGATE lexicon_sum(bytea) (SFUNC = lexicon_agg_combine, STYPE = bytea, FINALFUNC = lexicon_agg_final);
CREATE AGGREGATE bounded_part(text, text, int) (SFUNC = lexicon_agg_add, STYPE = bytea);
CREATE AGGREGATE word_set_part(text, text, int) (SFUNC = word_set_agg_add, STYPE = bytea);
CREATE AGGREGATE word_set_sum(bytea) (SFUNC = word_set_agg_combine, STYPE = bytea, FINALFUNC = word_set_agg_final);
CREATE AGGREGATE union_part(signature) (SFUNC = signature_union_agg_add, STYPE = signature);
CREATE AGGREGATE pair_part(boolean, boolean, double precision) (SFUNC = pair_evaluation_add, STYPE = bytea);
CREATE AGGREGATE pair_sum(bytea) (SFUNC = pair_evaluation_combine, STYPE = bytea, FINALFUNC = pair_evaluation_final);
CREATE TABLE parts AS
SELECT h, lexicon_part(body) AS lexicon, bounded_part(body, '', 50) AS bounded, word_set_part(body, '', 20) AS word_set,
       union_part(sig) AS sig, pair_part(f = t, g = h, id / 420.0) AS pair
FROM state_docs GROUP BY h;
INSERT INTO parts (h) VALUES (3);
SELECT p.lexicon::text = d.lexicon::text AS lexicon, p.word_set::text = d.word_set::text AS word_set, p.sig = d.sig AS sig,
       p.pair::text = d.pair::text AS pair, (lexicon_describe(bounded)).words <= 50 AS bounded
FROM (SELECT lexicon_sum(lexicon) AS lexicon, word_set_sum(word_set) AS word_set, signature_union_agg(sig) AS sig,
             pair_sum(pair) AS pair, lexicon_sum(bounded) AS bounded FROM parts) p,
     (SELECT lexicon_agg(body) AS lexicon, word_set_agg(body, '', 20) AS word_set, signature_union_agg(sig) AS sig,
             pair_evaluation(f = t, g = h, id / 420.0) AS pair FROM state_docs) d;
-- two results of one state
SELECT lexicon_agg(body)::text = lexicon_sum(part)::text FROM (SELECT body, NULL::bytea AS part FROM state_docs UNION ALL SELECT NULL, lexicon FROM parts) s;
SELECT lexicon_part(body) = (SELECT lexicon_part(body) FROM state_docs) AS part, lexicon_agg(body)::text = (SELECT lexicon_sum(lexicon) FROM parts)::text AS lexicon FROM state_docs;
SELECT h, lexicon_part(body) OVER (ORDER BY id) = (SELECT lexicon_part(body) FROM state_docs b WHERE b.id <= a.id) AS same FROM state_docs a ORDER BY id LIMIT 3;

-- States of other aggregates
CREATE AGGREGATE pair_begun(boolean, boolean, double precision) (SFUNC = pair_evaluation_add, STYPE = bytea, INITCOND = '\x00');
CREATE AGGREGATE mixed(text) (SFUNC = lexicon_agg_add, STYPE = bytea, FINALFUNC = word_set_agg_final);
SELECT pair_begun(true, true, 1);
SELECT mixed(body) FROM state_docs;
SELECT lexicon_agg_add(NULL, 'a');
SELECT lexicon_sum('\x00');
SELECT lexicon_sum('\x0000000000000000' || substr(lexicon, 9)) FROM parts;
SELECT word_set_sum(substr(word_set, 1, length(word_set) - 1)) FROM parts;
SELECT word_set_sum(word_set || '\x00') FROM parts;
SELECT pair_sum(pair || '\x00') FROM parts;

-- damaged states are refused, or read without harm
CREATE FUNCTION outcome(name text, state bytea) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    result text;
BEGIN
    EXECUTE format('SELECT left(%I($1)::text, 1)', name) INTO result USING state;
    RETURN 'read';
EXCEPTION WHEN invalid_binary_representation OR invalid_parameter_value OR numeric_value_out_of_range OR datatype_mismatch OR feature_not_supported THEN
    RETURN 'refused';
END $$;
SELECT name, count(*) FILTER (WHERE o = 'refused') > 0 AS refused, count(*) FILTER (WHERE o IS NULL) AS neither
FROM (SELECT name, outcome(name, set_byte(state, at, (get_byte(state, at) + 1 + i * 37 % 255) % 256)) AS o
      FROM (SELECT 'lexicon_sum' AS name, lexicon AS state FROM parts WHERE h = 1
            UNION ALL SELECT 'word_set_sum', word_set FROM parts WHERE h = 1
            UNION ALL SELECT 'pair_sum', pair FROM parts WHERE h = 1) s,
           generate_series(0, 99) i, LATERAL (SELECT (CASE WHEN i < 60 THEN i ELSE i * 7919 END) % length(state) AS at) a) d
GROUP BY name ORDER BY name;
SELECT name, count(*) FILTER (WHERE o = 'refused') AS refused
FROM (SELECT name, outcome(name, substr(state, 1, length(state) * i / 10)) AS o
      FROM (SELECT 'lexicon_sum' AS name, lexicon AS state FROM parts WHERE h = 1
            UNION ALL SELECT 'word_set_sum', word_set FROM parts WHERE h = 1
            UNION ALL SELECT 'pair_sum', pair FROM parts WHERE h = 1) s, generate_series(0, 9) i) d
GROUP BY name ORDER BY name;

DROP AGGREGATE lexicon_part(text), lexicon_sum(bytea), bounded_part(text, text, int), word_set_part(text, text, int), word_set_sum(bytea),
    union_part(signature), pair_part(boolean, boolean, double precision), pair_sum(bytea),
    pair_begun(boolean, boolean, double precision), mixed(text);
DROP FUNCTION results, plan_has, same, outcome;
DROP TABLE state_docs, many_groups, by_hash, expressions, expected, parted, parts;
