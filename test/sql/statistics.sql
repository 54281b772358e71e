--
-- Statistics of signature columns, and estimates made of them
--
CREATE SCHEMA statistics_test;
SET search_path = statistics_test, public;
\getenv abs_srcdir PG_ABS_SRCDIR
\set file :abs_srcdir '/sql/shared/set_measures.sql'
\i :file

-- Families of ten rows, two of each set; from one set to the next three of
-- thirty elements change
CREATE TABLE docs AS
SELECT id, CASE WHEN id % 50 <> 0 THEN signature_from(ARRAY(
        SELECT family * 1000 + e + 3 * (id % 10 / 2)
        FROM generate_series(1, 30) e)) END AS sig
FROM (SELECT id, id / 10 AS family FROM generate_series(1, 2000) id) s;

-- Estimated and actual rows of a query
CREATE FUNCTION estimate(query text, OUT estimated float8, OUT actual float8)
LANGUAGE plpgsql AS $$
DECLARE
    plan json;
BEGIN
    EXECUTE 'EXPLAIN (ANALYZE, TIMING OFF, FORMAT json) ' || query INTO plan;
    plan := plan->0->'Plan';
    estimated := plan->>'Plan Rows';
    actual := plan->>'Actual Rows';
END $$;

-- No statistics yet: one constant for all
SELECT count(DISTINCT estimated)
FROM unnest('{0.5,0.8,1}'::float8[]) t,
    estimate(format('SELECT FROM docs a JOIN docs b ON near_duplicate(a.sig, b.sig, %s)', t));
ANALYZE docs;
SELECT t, actual, estimated / actual BETWEEN 0.8 AND 1.25 AS near
FROM unnest('{0.4,0.5,0.6,0.7,0.8,0.9,0.95,1}'::float8[]) t,
    estimate(format('SELECT FROM docs a JOIN docs b ON near_duplicate(a.sig, b.sig, %s)', t))
ORDER BY t;
SELECT m, actual, estimated / actual BETWEEN 0.25 AND 4 AS near
FROM (SELECT measure FROM set_measures WHERE measure <> 'jaccard') s (m),
    estimate(format('SELECT FROM docs a JOIN docs b ON near_duplicate(a.sig, b.sig, 0.8, %L)', m))
ORDER BY m;
-- Near-duplicates are mostly equal in other columns, too: in no way, by one of a thousand families, and as a comparison
CREATE TABLE labelled AS SELECT id, id / 10 AS family, id % 7 AS other, sig FROM docs;
ANALYZE labelled;
SELECT condition, actual, estimated / actual BETWEEN 0.33 AND 10 AS near
FROM unnest('{"a.other = b.other","a.family = b.family","a.family = b.family AND a.id < b.id"}'::text[]) condition,
    estimate('SELECT FROM labelled a JOIN labelled b ON near_duplicate(a.sig, b.sig, 0.8) AND ' || condition);
SELECT actual, estimated / actual BETWEEN 0.33 AND 3 AS near
FROM estimate('SELECT FROM labelled a JOIN labelled b ON similarity(a.sig, b.sig) >= 0.8 AND a.family = b.family');
-- Operators and a look-up
SELECT actual, estimated / actual BETWEEN 0.25 AND 4 AS near
FROM estimate('SELECT FROM docs a JOIN docs b ON a.sig % b.sig');
SELECT actual, estimated / actual BETWEEN 0.25 AND 4 AS near
FROM estimate('SELECT FROM docs a JOIN docs b ON a.sig <% b.sig');
SELECT actual, estimated / actual BETWEEN 0.2 AND 4 AS near
FROM estimate('SELECT FROM docs WHERE sig % (SELECT sig FROM docs WHERE id = 7)');
-- All rows with some of them, from a subquery that is not pulled up, on either side
SELECT sides, actual, estimated / actual BETWEEN 0.5 AND 2 AS near
FROM unnest('{"a.sig, b.sig","b.sig, a.sig"}'::text[]) sides,
    estimate(format('SELECT FROM (SELECT sig FROM docs ORDER BY id LIMIT 40) a JOIN docs b ON near_duplicate(%s, 0.8)', sides));
-- Look-ups of a constant, by an index, too
CREATE INDEX docs_sig ON docs USING gin (sig) WITH (fastupdate = off);
SELECT sig AS seven FROM docs WHERE id = 7 \gset
SELECT indexed, condition, actual, estimated / actual BETWEEN 0.2 AND 4 AS near
FROM (SELECT set_config('enable_seqscan', 'off', false) AS indexed UNION ALL SELECT set_config('enable_seqscan', 'on', false)) i,
    unnest(ARRAY['near_duplicate(sig, %L, 0.8)', 'near_duplicate(%L, sig, 0.8)']) condition,
    estimate(format('SELECT FROM docs WHERE ' || condition, :'seven'));
DROP INDEX docs_sig;
-- Semi-join: no more than there are rows
SELECT actual, estimated / actual BETWEEN 0.5 AND 1.25 AS near
FROM estimate('SELECT FROM docs a WHERE EXISTS (SELECT FROM docs b WHERE near_duplicate(a.sig, b.sig, 0.8))');
-- An unknown threshold, and an invalid one
SELECT estimated > 0 FROM estimate('SELECT FROM docs a JOIN docs b ON near_duplicate(a.sig, b.sig, (SELECT 0.8))');
EXPLAIN (COSTS OFF) SELECT FROM docs a JOIN docs b ON near_duplicate(a.sig, b.sig, 7);

-- Sketches: by threshold, or by their rule at any threshold
CREATE TABLE sketches AS
SELECT id, abs(hashint4(id) % 100) AS part, sig, minhash(sig) AS minhash, bottom(sig, 20) AS bottom, simhash(sig) AS simhash,
    supershingles(sig) AS supershingles, megashingles(sig) AS megashingles FROM docs;
ANALYZE sketches;
SELECT method, t, actual, estimated / actual BETWEEN 0.8 AND 1.25 AS near
FROM unnest('{minhash,bottom,simhash,supershingles,megashingles}'::text[]) method,
    unnest('{0.7,0.8,0.9,0.95,1}'::float8[]) t,
    estimate(format('SELECT FROM sketches a JOIN sketches b ON near_duplicate(a.%1$s, b.%1$s, %2$s)', method, t))
ORDER BY method, t;
SELECT actual, estimated / actual BETWEEN 0.8 AND 1.25 AS near
FROM estimate('SELECT FROM sketches a JOIN sketches b ON near_duplicate(a.supershingles, b.supershingles, 0.97, ''similarity'')');
SELECT actual, estimated / actual BETWEEN 0.2 AND 4 AS near
FROM estimate('SELECT FROM sketches WHERE minhash % (SELECT minhash FROM sketches WHERE id = 7)');

-- Semi- and anti-joins: a row does not match itself if another condition excludes it;
-- with a part of the rows fewer have a match
SELECT "column", "join", condition, actual, estimated / actual BETWEEN 0.6 AND 1.6 AS near
FROM unnest('{sig,minhash,supershingles}'::text[]) "column",
    unnest('{EXISTS,NOT EXISTS}'::text[]) "join",
    unnest('{a.id <> b.id,b.part < 25}'::text[]) condition,
    estimate(format('SELECT FROM sketches a WHERE %1$s (SELECT FROM sketches b WHERE near_duplicate(a.%3$s, b.%3$s, 1) AND %2$s)',
                    "join", condition, "column"))
ORDER BY 1, 2, 3;

-- Where each row has one match, a sample has few rows with their match
CREATE TABLE pairs AS
SELECT id, signature_from(ARRAY(SELECT id / 2 * 1000 + e FROM generate_series(1, 5) e)) AS sig FROM generate_series(2, 20001) id;
SET default_statistics_target = 10;
ANALYZE pairs;
RESET default_statistics_target;
SELECT estimated < 4500 AS few
FROM estimate('SELECT FROM pairs a WHERE NOT EXISTS (SELECT FROM pairs b WHERE near_duplicate(a.sig, b.sig, 0.8) AND a.id <> b.id)');

-- Vectors: with nearly equal weights their cosine is about that of sets
CREATE TABLE vectors AS
SELECT id, signature_weighted(sig::bigint[], ARRAY(SELECT (1 + f % 3)::real FROM unnest(sig::bigint[]) f)) AS v FROM docs;
ANALYZE vectors;
SELECT t, actual, estimated / actual BETWEEN 0.8 AND 1.25 AS near
FROM unnest('{0.5,0.7,0.8,0.9,1}'::float8[]) t,
    estimate(format('SELECT FROM vectors a JOIN vectors b ON near_duplicate(a.v, b.v, %s)', t))
ORDER BY t;
SELECT actual, estimated / actual BETWEEN 0.25 AND 4 AS near
FROM estimate('SELECT FROM vectors a JOIN vectors b ON near_duplicate(a.v, b.v, 0.8, ''cosine'')');
-- At low thresholds a part of a large sample is joined
CREATE TABLE many_vectors AS
SELECT signature_weighted(features, ARRAY(SELECT (1 + f % 3)::real FROM unnest(features) f)) AS v
FROM (SELECT ARRAY(SELECT id / 100 * 1000 + e + id % 100 / 20 FROM generate_series(1::bigint, 10) e) AS features
      FROM generate_series(1, 6000) id) s;
ANALYZE many_vectors;
SELECT t, actual, estimated / actual BETWEEN 0.5 AND 2 AS near
FROM unnest('{0.5,0.6,0.7,0.8,0.9}'::float8[]) t,
    estimate(format('SELECT FROM many_vectors a JOIN many_vectors b ON near_duplicate(a.v, b.v, %s)', t))
ORDER BY t;

-- Dense vectors, of 500 families of 8; the join is chosen, also of 20,000 rows
CREATE FUNCTION random_of(seed bigint) RETURNS float8 LANGUAGE sql IMMUTABLE AS $$
    SELECT ((((((seed * 1103515245 + 12345) & 2147483647) * 1103515245 + 12345) & 2147483647) >> 8) % 100000) / 50000.0 - 1
$$;
CREATE TABLE dense_vectors AS
SELECT id, dense(array_agg((random_of(id / 8 * 7001 + i * 31) + id % 4 / 4.0 * random_of(id * 613 + i * 97))::real)) AS v
FROM generate_series(1, 4000) id, generate_series(1, 12) i GROUP BY id;
CREATE FUNCTION estimate_dense() RETURNS TABLE (t float8, near boolean) LANGUAGE sql AS $$
    SELECT t, estimated / actual BETWEEN 0.4 AND 2.5 FROM unnest('{0.5,0.7,0.8,0.85,0.9,0.95,1}'::float8[]) t,
        estimate(format('SELECT FROM dense_vectors a JOIN dense_vectors b ON near_duplicate(a.v, b.v, %s, ''cosine'')', t)) ORDER BY t $$;
SELECT * FROM estimate_dense() WHERE t IN (0.5, 0.9);
ANALYZE dense_vectors;
SELECT * FROM estimate_dense();
SELECT actual > 1 AS some, estimated / actual BETWEEN 0.2 AND 5 AS near
FROM estimate('SELECT FROM dense_vectors WHERE near_duplicate(v, (SELECT v FROM dense_vectors WHERE id = 8), 0.8, ''cosine'')');
INSERT INTO dense_vectors SELECT 4000 * n + id, v FROM dense_vectors, generate_series(1, 4) n;
ANALYZE dense_vectors;
EXPLAIN (COSTS off) SELECT FROM dense_vectors a JOIN dense_vectors b ON near_duplicate(a.v, b.v, 0.9, 'cosine') AND a.id < b.id;
EXPLAIN (COSTS off) SELECT FROM dense_vectors a WHERE EXISTS (SELECT FROM dense_vectors b WHERE near_duplicate(a.v, b.v, 0.9, 'cosine') AND a.id < b.id);
-- few vectors are compared with all
EXPLAIN (COSTS off) SELECT FROM (SELECT v FROM dense_vectors LIMIT 3) a JOIN dense_vectors b ON near_duplicate(a.v, b.v, 0.9, 'cosine');

-- Two families, of 70 and of 30 % of all rows: rows of one are near to each other, at
-- two thirds.  With so many pairs a part of the sample is joined; at higher thresholds
-- the whole sample is, for a hundred pairs
CREATE TABLE families AS
SELECT sig, signature_weighted(sig::bigint[], array_fill(1::real, ARRAY[cardinality(sig::bigint[])])) AS v, minhash(sig) AS minhash
FROM (SELECT signature_from(ARRAY(
        SELECT (id % 10 < 7)::int * 1000 + e FROM generate_series(1, 20) e
        UNION ALL SELECT CASE WHEN id <= 200 THEN (id + 19) / 20 * 10 + id % 10 ELSE id END * 10 + e + 10000 FROM generate_series(1, 5) e
        UNION ALL SELECT id + 90000 WHERE id <= 200)) AS sig
      FROM generate_series(1, 4000) id) s;
ANALYZE families;
-- The share of pairs that ANALYZE has noted at a threshold, which are 6 numbers each
CREATE FUNCTION noted(col text, threshold float8) RETURNS float8 LANGUAGE sql AS $$
    SELECT numbers[6 + 6 * (array_position('{0.5,0.6,0.7,0.8,0.9,0.95,1}', threshold) - 1)]
    FROM pg_attribute JOIN pg_statistic ON starelid = attrelid AND staattnum = attnum,
        LATERAL (VALUES (stakind1, stanumbers1), (stakind2, stanumbers2), (stakind3, stanumbers3),
            (stakind4, stanumbers4), (stakind5, stanumbers5)) slot (kind, numbers)
    WHERE attrelid = 'families'::regclass AND attname = col AND kind = 18274 $$;
SELECT col, t, noted(col, t) / share BETWEEN 0.95 AND 1.05 AS near, noted(col, t)::real = share::real AS of_all
FROM unnest('{sig,v}'::text[]) col, unnest('{0.5,0.6,0.7,0.8,0.9}'::float8[]) t,
    LATERAL (SELECT CASE WHEN t < 0.65 THEN 2800 * 2799 + 1200 * 1199 ELSE 200 END / (4000.0 * 3999) AS share) s
ORDER BY col, t;
SELECT noted('minhash', 0.5) BETWEEN 0.5 AND 0.65 AS near;

-- An expression has statistics if it is indexed, or in CREATE STATISTICS
CREATE TABLE arrays AS SELECT id, sig::bigint[] AS features FROM docs;
ANALYZE arrays;
SELECT estimated < actual / 4 AS far
FROM estimate('SELECT FROM arrays a JOIN arrays b ON near_duplicate(signature_from(a.features), signature_from(b.features), 0.8)');
CREATE STATISTICS made ON (signature_from(features)) FROM arrays;
ANALYZE arrays;
SELECT estimated / actual BETWEEN 0.8 AND 1.25 AS near
FROM estimate('SELECT FROM arrays a JOIN arrays b ON near_duplicate(signature_from(a.features), signature_from(b.features), 0.8)');

-- Its statistics do not name a column: a row matches itself only if both sides are one
-- expression of one table
CREATE TABLE singles AS
SELECT ARRAY[3 * i, 3 * i + 1, 3 * i + 2] AS f3, ARRAY[3 * i, 3 * i + 1, 3 * i + 2, -i] AS f4
FROM generate_series(1::bigint, 1000) i;
CREATE TABLE singles_2 AS SELECT ARRAY[-f3[1], -f3[2], -f3[3]] AS f3 FROM singles;
CREATE STATISTICS singles_made ON (signature_from(f3)), (signature_from(f4)) FROM singles;
CREATE STATISTICS singles_2_made ON (signature_from(f3)) FROM singles_2;
ANALYZE singles, singles_2;
SELECT estimated::int / 100 AS hundreds, actual, q
FROM unnest('{singles a JOIN singles b ON near_duplicate(signature_from(a.f3)\, signature_from(b.f3)\, 0.8),
    singles a JOIN singles b ON near_duplicate(signature_from(a.f3)\, signature_from(b.f4)\, 0.8),
    singles a JOIN singles_2 b ON near_duplicate(signature_from(a.f3)\, signature_from(b.f3)\, 0.8)}'::text[]) q,
    estimate('SELECT FROM ' || q);

-- No signature, one, only empty ones, different specs, sketches
CREATE TABLE odd (sig signature, sketch signature);
ANALYZE odd;
INSERT INTO odd VALUES (NULL, NULL);
ANALYZE odd;
INSERT INTO odd VALUES (signature_from('{}'), minhash(signature_from('{}'))),
    (signature_from('{}'), minhash(signature_from('{}')));
ANALYZE odd;
INSERT INTO odd SELECT signature_from('{1,2}'), minhash(signature_from('{1,2}'))
FROM generate_series(1, 20);
ANALYZE odd;
SELECT actual, estimated / actual BETWEEN 0.8 AND 1.25 AS near
FROM estimate('SELECT FROM odd a JOIN odd b ON near_duplicate(a.sig, b.sig, 0.8)');
SELECT actual FROM estimate('SELECT FROM odd a JOIN odd b ON near_duplicate(a.sketch, b.sketch, 0.8)');
INSERT INTO odd VALUES (sample(signature_from('{1,2}'), 1), NULL);
ANALYZE odd;

-- Statistics with invalid numbers are ignored
CREATE TABLE strange AS SELECT id, sig, minhash(sig) AS sketch FROM docs;
CREATE INDEX ON strange USING gin (sketch);
CREATE INDEX ON strange USING neardup (sketch);
ANALYZE strange;
CREATE FUNCTION expected(query text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE plan json;
BEGIN
    EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
    RETURN plan -> 0 -> 'Plan' ->> 'Plan Rows';
END $$;
CREATE TABLE expectations (number text, query text, rows float8);
CREATE PROCEDURE expect_with(number text) LANGUAGE plpgsql AS $$
BEGIN
    FOR slot IN 1 .. 5 LOOP
        EXECUTE format('UPDATE pg_statistic SET stanumbers%1$s = CASE %2$L WHEN ''none'' THEN ''{1}''
            ELSE ARRAY(SELECT nullif(%2$L, ''none'')::real FROM unnest(stanumbers%1$s)) END
            WHERE starelid = ''strange''::regclass AND stakind%1$s = 18274', slot, number);
    END LOOP;
    INSERT INTO expectations SELECT number, q, expected(q) FROM unnest(ARRAY[
        'SELECT FROM strange a, strange b WHERE a.sig % b.sig',
        'SELECT FROM strange a, strange b WHERE a.sketch % b.sketch',
        'SELECT FROM strange a WHERE EXISTS (SELECT FROM strange b WHERE a.sketch % b.sketch)']) q;
END $$;
CALL expect_with('NaN');
CALL expect_with('Infinity');
CALL expect_with('-1');
CALL expect_with('3e38');
-- estimates of both partitions may be equal
CALL expect_with('4e9');
CALL expect_with('0');
CALL expect_with('none');
SELECT e.number, bool_and(e.rows = none.rows) AS as_none, bool_and(e.rows >= 1 AND e.rows < 1e12) AS sane
FROM expectations e JOIN expectations none USING (query) WHERE none.number = 'none'
GROUP BY e.number ORDER BY e.number COLLATE "C";

SET client_min_messages = warning;
DROP SCHEMA statistics_test CASCADE;
