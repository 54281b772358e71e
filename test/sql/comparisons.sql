--
-- Comparisons of a measure with a constant, as users of pg_trgm write them:
-- planned as conditions are, and true of the same pairs.
--

CREATE TABLE docs (id int PRIMARY KEY, body text, sig signature);
INSERT INTO docs
SELECT f * 8 + i, body, shingles(body, 1)
FROM generate_series(1, 14) f, generate_series(0, 7) i,
  LATERAL (SELECT string_agg('w' || CASE WHEN (g * 7 + i * 3 + f) % 19 < i THEN 'x' || f * 8 + i || '_' || g
                                    ELSE f || '_' || g END, ' ' ORDER BY g) AS body
           FROM generate_series(1, 3 + (f * 5 + i % 3) % 23) g) b;
INSERT INTO docs VALUES (1, '', shingles('', 1)), (2, NULL, NULL);
CREATE INDEX docs_sig ON docs USING gin (sig signature_gin_ops (threshold = 0.3)) WITH (fastupdate = off);
ANALYZE docs;

-- The join
EXPLAIN (COSTS OFF) SELECT * FROM docs a, docs b WHERE similarity(a.sig, b.sig) >= 0.8 AND a.id < b.id;
EXPLAIN (COSTS OFF) SELECT * FROM docs a, docs b WHERE 0.8 < similarity(a.sig, b.sig);
EXPLAIN (COSTS OFF) SELECT * FROM docs a, docs b WHERE 0 < dice(a.sig, b.sig);
EXPLAIN (COSTS OFF) SELECT * FROM docs a, docs b WHERE a.sig <-> b.sig <= 0.2;
EXPLAIN (COSTS OFF) SELECT * FROM docs a LEFT JOIN docs b ON containment(b.sig, a.sig) > 0.8::real;
SET enable_nestloop = off;
EXPLAIN (COSTS OFF) SELECT * FROM docs a WHERE NOT EXISTS
  (SELECT FROM docs b WHERE dice(a.sig, b.sig) >= 0.8 AND a.id <> b.id);
RESET enable_nestloop;
EXPLAIN (COSTS OFF) WITH d AS MATERIALIZED (SELECT * FROM docs)
SELECT * FROM d a JOIN d b ON similarity(a.sig, b.sig) = 1;
-- Look-ups
\getenv abs_srcdir PG_ABS_SRCDIR
\set file :abs_srcdir '/sql/shared/plan.sql'
\i :file
CREATE TABLE query AS SELECT sig AS q FROM docs WHERE id IN (11, 62);
ANALYZE query;
SET neardup.enable_join = off;
SET enable_seqscan = off;
SELECT plan($$SELECT id FROM docs WHERE similarity(sig, (SELECT q FROM query LIMIT 1)) >= 0.8$$);
SELECT plan($$SELECT id FROM docs WHERE (SELECT q FROM query LIMIT 1) <-> sig < 0.25 AND id + 0 < 100$$);
SELECT plan($$SELECT id FROM query, docs WHERE dice(q, sig) >= 0.8$$);
RESET enable_seqscan;
RESET neardup.enable_join;
-- Of partitions, one by one
CREATE TABLE parts (id int, sig signature) PARTITION BY RANGE (id);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (0) TO (100);
CREATE TABLE parts_2 PARTITION OF parts FOR VALUES FROM (100) TO (1000);
INSERT INTO parts SELECT id, sig FROM docs;
CREATE INDEX ON parts USING gin (sig signature_gin_ops (threshold = 0.3)) WITH (fastupdate = off);
ANALYZE parts;
SET enable_seqscan = off;
SELECT plan($$SELECT id FROM parts WHERE similarity(sig, (SELECT q FROM query LIMIT 1)) >= 0.8$$);
SELECT count(*) FROM parts WHERE similarity(sig, (SELECT sig FROM docs WHERE id = 62)) >= 0.8;
SELECT count(*) FROM docs WHERE similarity(sig, (SELECT sig FROM docs WHERE id = 62)) >= 0.8;
RESET enable_seqscan;

-- Neither a join nor a look-up: true of 0, true of no value, or not a constant
SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF) SELECT * FROM docs a, docs b WHERE similarity(a.sig, b.sig) >= 0;
EXPLAIN (COSTS OFF) SELECT * FROM docs a, docs b WHERE similarity(a.sig, b.sig) <= 0.8;
EXPLAIN (COSTS OFF) SELECT * FROM docs a, docs b WHERE similarity(a.sig, b.sig) > 1;
EXPLAIN (COSTS OFF) SELECT * FROM docs a, docs b WHERE similarity(a.sig, b.sig) = 0.8;
EXPLAIN (COSTS OFF) SELECT * FROM docs a, docs b WHERE similarity(a.sig, b.sig) >= 'NaN';
EXPLAIN (COSTS OFF) SELECT * FROM docs a, docs b WHERE similarity(a.sig, b.sig) >= a.id;
EXPLAIN (COSTS OFF) SELECT * FROM docs a, docs b WHERE a.sig <-> b.sig <= 1;
EXPLAIN (COSTS OFF) SELECT * FROM docs a, docs b WHERE intersection_size(a.sig, b.sig) >= 5;
RESET enable_bitmapscan;

-- The same pairs by every plan, at every value that occurs: the thresholds are
-- values of pairs, where a comparison changes its answer.
CREATE FUNCTION pairs(condition text, plan text) RETURNS text LANGUAGE plpgsql AS
$$
DECLARE
  result text;
BEGIN
  PERFORM set_config('neardup.enable_join', (plan = 'join')::text, true),
          set_config('enable_nestloop', (plan <> 'join')::text, true),
          set_config('enable_seqscan', (plan <> 'index')::text, true),
          set_config('enable_bitmapscan', (plan = 'index')::text, true);
  EXECUTE 'SELECT count(*) || '' '' || coalesce(sum(a.id * 1000003::bigint + b.id * 7919), 0) FROM docs a, docs b WHERE '
    || condition INTO result;
  RETURN result;
END
$$;
CREATE FUNCTION plan_of(condition text, plan text) RETURNS text LANGUAGE plpgsql AS
$$
DECLARE
  line text;
  result text := 'nested loop';
BEGIN
  PERFORM pairs('false', plan);
  FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) SELECT FROM docs a, docs b WHERE ' || condition
  LOOP
    IF line ~ 'SimilarityJoin' THEN result := 'join'; END IF;
    IF line ~ 'Index Cond' THEN result := 'index'; END IF;
  END LOOP;
  RETURN result;
END
$$;
CREATE TABLE conditions AS
WITH measured AS (
  SELECT m, v, row_number() OVER (PARTITION BY m ORDER BY md5(v::text)) AS n
  FROM (SELECT DISTINCT m, v FROM docs a, docs b, LATERAL (VALUES
          ('similarity(a.sig, b.sig)', similarity(a.sig, b.sig)), ('a.sig <-> b.sig', a.sig <-> b.sig),
          ('containment(a.sig, b.sig)', containment(a.sig, b.sig)), ('dice(a.sig, b.sig)', dice(a.sig, b.sig)),
          ('cosine(a.sig, b.sig)', cosine(a.sig, b.sig))) AS l (m, v)
        WHERE v > 0.3 AND v < 0.7) d)
SELECT format(CASE WHEN n % 2 = 0 THEN '%1$s %2$s %4$L::%5$s' ELSE '%4$L::%5$s %3$s %1$s' END,
              m, op, commuted, v, CASE WHEN n % 5 = 0 THEN 'real' ELSE 'float8' END) AS condition
FROM measured, (VALUES ('>=', '<='), ('>', '<'), ('<=', '>='), ('<', '>')) o (op, commuted)
WHERE n <= 10 AND (op ~ '<') = (m ~ '<->');
CREATE FUNCTION compare(condition text, OUT pairs_found bigint, OUT join_differs int, OUT index_differs int)
LANGUAGE plpgsql AS
$$
DECLARE
  truth text := pairs(condition, 'loop');
BEGIN
  pairs_found := split_part(truth, ' ', 1);
  join_differs := (truth <> pairs(condition, 'join'))::int;
  index_differs := (truth <> pairs(condition, 'index'))::int;
END
$$;
SELECT count(*), sum(pairs_found) AS found, sum(join_differs) AS join_differs, sum(index_differs) AS index_differs
FROM conditions, compare(condition);
SELECT plan_of(condition, 'join') AS join_plan, plan_of(condition, 'index') AS index_plan, count(*)
FROM conditions GROUP BY 1, 2 ORDER BY 1, 2;

-- Expressions of a measure and constants find the same pairs; the planner uses those that imply a condition
CREATE TABLE computed AS
SELECT regexp_replace(regexp_replace(form, '\mS\M', measure), '\mV\M', v::text, 'g') AS condition
FROM (SELECT v, row_number() OVER (ORDER BY md5(v::text)) AS n
      FROM (SELECT DISTINCT similarity(a.sig, b.sig) AS v FROM docs a, docs b) d WHERE v > 0.3 AND v < 0.7) d,
  (VALUES ('similarity(a.sig, b.sig)'), ('similarity(b.sig, a.sig)')) m (measure),
  (VALUES ('1 - S <= 1 - V'), ('1 - V > 1 - S'), ('1 - V - S < 0'), ('100 * S >= 100 * V'), ('S / 3 > V / 3::float8'),
    ('(a.sig <-> b.sig) * -1 >= V - 1'), ('S::real >= V::real'), ('S::numeric > V::numeric'), ('S::real > V'),
    ('round(S::numeric, 2) >= round(V::numeric, 2)'), ('round(S::numeric, 2) = 1'), ('round(100 * S) > round(100 * V)'),
    ('coalesce(S, 0) >= V'), ('1 - coalesce(S, 0) < 1 - V'), ('coalesce(S, -1)::real >= V::real'), ('coalesce(a.sig <-> b.sig, 1) <= 1 - V'),
    ('(S >= V) IS TRUE'), ('near_duplicate(a.sig, b.sig, V) IS TRUE'), ('coalesce(near_duplicate(a.sig, b.sig, V), false)'),
    ('contained_in(a.sig, b.sig, V) IS TRUE')) f (form)
WHERE n <= 4;
SELECT count(*), sum(pairs_found) AS found, sum(join_differs) AS join_differs, sum(index_differs) AS index_differs
FROM computed, compare(condition);
SELECT plan_of(condition, 'join') AS join_plan, plan_of(condition, 'index') AS index_plan, count(*)
FROM computed GROUP BY 1, 2 ORDER BY 1, 2;
-- Neither a join nor a look-up: true of no value or of 0, not monotonic, or not computable in advance
CREATE TABLE not_computed AS
SELECT * FROM unnest('{"coalesce(similarity(a.sig, b.sig), 1) >= 0.5",
  "coalesce(a.sig <-> b.sig, 0) < 0.5", "1 / (similarity(a.sig, b.sig) + 1) < 0.6", "similarity(a.sig, b.sig) / 0 > 1",
  "similarity(a.sig, b.sig) * 1e-300 * 1e-300 > 0.5", "(similarity(a.sig, b.sig) * 1e300)::real > 1", "abs(similarity(a.sig, b.sig) - 0.5) > 0.4",
  "1 - similarity(a.sig, b.sig) >= 0.5", "similarity(a.sig, b.sig) * ''NaN'' > 0.5", "near_duplicate(a.sig, b.sig, 0.8) IS NOT FALSE",
  "near_duplicate(a.sig, b.sig, 0.8) IS NOT TRUE", "coalesce(near_duplicate(a.sig, b.sig, 0.8), true)",
  "coalesce(similarity(a.sig, b.sig), 1e305) * 1e6 < 0.5", "coalesce(similarity(a.sig, b.sig), -1e300)::real >= 0.5",
  "coalesce(similarity(a.sig, b.sig), 1e-300)::real >= 0.5"}'::text[]) condition;
SELECT plan_of(condition, 'join') AS join_plan, plan_of(condition, 'index') AS index_plan, count(*) FROM not_computed GROUP BY 1, 2;
-- Rows without a signature have no match
SELECT count(*) FROM docs a WHERE NOT EXISTS (SELECT FROM docs b WHERE coalesce(similarity(a.sig, b.sig), 0) >= 0.5 AND a.id <> b.id);
SET neardup.enable_join = off;
SELECT count(*) FROM docs a WHERE NOT EXISTS (SELECT FROM docs b WHERE coalesce(similarity(a.sig, b.sig), 0) >= 0.5 AND a.id <> b.id);
RESET neardup.enable_join;
DROP TABLE computed, not_computed;

-- Whole numbers: of shared features, and of features estimated from samples of
-- known rate
CREATE INDEX docs_every ON docs USING gin (sig signature_gin_ops (measure = containment)) WITH (fastupdate = off);
CREATE TABLE counts AS
SELECT format(CASE WHEN n % 2 = 0 THEN '%1$s %2$s %4$L::%5$s' ELSE '%4$L::%5$s %3$s %1$s' END,
              m, op, commuted, n, type) AS condition
FROM unnest('{shared_values(a.sig\, b.sig),shared_values(b.sig\, a.sig)}'::text[]) m, generate_series(1, 20, 9) n,
     unnest('{bigint, int, smallint}'::text[]) type, (VALUES ('>=', '<='), ('>', '<')) o (op, commuted);
SELECT count(*), sum(pairs_found) AS found, sum(join_differs) AS join_differs, sum(index_differs) AS index_differs
FROM counts, compare(condition);
SELECT plan_of(condition, 'join') AS join_plan, plan_of(condition, 'index') AS index_plan, count(*)
FROM counts GROUP BY 1, 2 ORDER BY 1, 2;
SELECT plan_of(condition, 'join') AS join_plan, plan_of(condition, 'index') AS index_plan, count(*)
FROM unnest('{shared_values(a.sig\, b.sig) >= 0,shared_values(a.sig\, b.sig) > -1,shared_values(a.sig\, b.sig) <= 5,shared_values(a.sig\, b.sig) = 5,shared_values(a.sig\, b.sig) > 2147483647,intersection_size(a.sig\, b.sig) >= 5}'::text[]) condition
GROUP BY 1, 2;
CREATE FUNCTION look_ups(modulus int) RETURNS TABLE (asked bigint, found bigint, differ bigint, planned bigint) LANGUAGE plpgsql AS
$$
BEGIN
  RETURN QUERY
  WITH asked AS (
    SELECT format(c, quote_literal(CASE modulus WHEN 1 THEN d.sig ELSE sample(d.sig, modulus) END), n,
                  CASE modulus WHEN 1 THEN 'a.sig' ELSE format('sample(a.sig, %s)', modulus) END) AS condition
    FROM docs d, generate_series(1, 30, 13) n, unnest('{intersection_size(%3$s\, %1$s) >= %2$s,%2$s < intersection_size(%1$s\, %3$s)}'::text[]) c
    WHERE d.id IN (11, 62, 77))
  SELECT count(*), sum(split_part(loop, ' ', 1)::int), count(*) FILTER (WHERE loop <> index), count(*) FILTER (WHERE plan = 'index')
  FROM (SELECT pairs(condition || ' AND b.id = 11', 'loop') AS loop, pairs(condition || ' AND b.id = 11', 'index') AS index,
               plan_of(condition || ' AND b.id = 11', 'index') AS plan FROM asked) l;
END
$$;
CREATE INDEX docs_sample ON docs USING gin (sample(sig, 3) signature_gin_ops (measure = containment)) WITH (fastupdate = off);
SELECT modulus, l.* FROM unnest('{1, 3}'::int[]) modulus, look_ups(modulus) l;
DROP INDEX docs_every, docs_sample;
DROP FUNCTION look_ups;
DROP TABLE counts;

-- With every method, also where another rule decides about near-duplicates
CREATE FUNCTION check_method(call text) RETURNS TABLE (conditions bigint, found bigint, join_differs bigint, index_differs bigint)
LANGUAGE plpgsql AS
$$
BEGIN
  EXECUTE 'UPDATE docs SET sig = ' || call || ' WHERE id > 2';
  DELETE FROM docs WHERE id <= 2;
  ANALYZE docs;
  RETURN QUERY
  SELECT count(*), sum(c.pairs_found)::bigint, sum(c.join_differs), sum(c.index_differs)
  FROM (SELECT format(c, t) AS condition
        FROM unnest('{similarity(a.sig\, b.sig) >= %s,similarity(a.sig\, b.sig) > %s,%s >= a.sig <-> b.sig}'::text[]) c,
             unnest('{0, 0.2, 0.5, 0.8, 0.9, 1}'::float8[]) t) conditions, compare(condition) c;
END
$$;
CREATE TABLE word_sets AS SELECT word_set_agg(body, '', 200) AS words FROM docs;
SELECT call, c.* FROM unnest('{"minhash(body, 16, 1)", "bottom(shingles(body, 1), 8)", "sample(shingles(body, 1), 2)", "simhash(body, 1)", "supershingles(shingles(body, 1), 6, 2)", "megashingles(shingles(body, 1), 6, 2)", "long_sentences(body)", "text_hash(body)", "weighted_words(body)", "descriptive_words(body, (SELECT words FROM word_sets))"}'::text[]) call, check_method(call) c;
DROP TABLE docs, parts, query, conditions, word_sets;
DROP FUNCTION plan, pairs, plan_of, compare, check_method;
