--
-- Thresholds known at run time only: an index may have been built for higher ones.  It
-- answers nevertheless, and like the plain function.
--

-- Families of sets: each is the first set with a part exchanged.  The generator is
-- ours, so numbers are the same everywhere.
CREATE TABLE docs (id int PRIMARY KEY, sig signature);
INSERT INTO docs
SELECT f * 12 + i, signature_from(array(
  SELECT CASE WHEN hash % 1000 < i * 45 THEN 1000000 * (f * 12 + i) + g ELSE 1000000 * f + g END
  FROM generate_series(1, n) g,
       LATERAL (SELECT ((g * 7919 + f * 104729 + i * 1299709)::bigint * 2654435761 % 4294967296) / 65536 AS hash) h))
FROM generate_series(1, 60) f, generate_series(0, 11) i,
     LATERAL (SELECT 1 + (f * 37 + i * (f % 5)) % 257 AS n) s;
INSERT INTO docs VALUES (0, NULL), (1, signature_from('{}'));
CREATE TABLE queries AS SELECT id AS q, sig AS query FROM docs WHERE id % 23 = 0 AND sig IS NOT NULL;
ANALYZE docs;

-- Answers of the function and of an index
CREATE FUNCTION by_function(t float8, measure text) RETURNS text LANGUAGE sql
SET neardup.enable_join = off SET enable_bitmapscan = off AS
$$ SELECT count(*) || ' ' || coalesce(sum(q * 31 + id), 0)
   FROM queries, docs WHERE near_duplicate(sig, query, t, measure) $$;
CREATE FUNCTION by_index(t float8, measure text, OUT answer text, OUT looked_at bigint)
LANGUAGE plpgsql SET neardup.enable_join = off SET enable_seqscan = off
SET plan_cache_mode = force_generic_plan SET client_min_messages = warning AS
$$
DECLARE
  plan json;
BEGIN
  EXECUTE format('PREPARE look_up (float8) AS
    SELECT count(*) || '' '' || coalesce(sum(q * 31 + id), 0) FROM queries,
    LATERAL (SELECT id FROM docs WHERE near_duplicate(sig, query, $1, %L) OFFSET 0) d', measure);
  EXECUTE format('EXECUTE look_up (%s)', t) INTO answer;
  IF measure = 'jaccard' THEN
    EXECUTE format('EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, FORMAT JSON) EXECUTE look_up (%s)', t) INTO plan;
  END IF;
  DEALLOCATE look_up;
  SELECT sum((node->>'Actual Rows')::float8 * (node->>'Actual Loops')::float8)
  INTO looked_at
  FROM jsonb_path_query(plan::jsonb, '$.** ? (@."Node Type" == "Bitmap Index Scan")') node;
END
$$;
CREATE TABLE asked (t float8, measure text);
\getenv abs_srcdir PG_ABS_SRCDIR
\set file :abs_srcdir '/sql/shared/set_measures.sql'
\i :file
INSERT INTO asked SELECT t, measure FROM unnest('{0.3, 0.6, 0.65, 0.7, 0.75, 0.79, 0.8, 0.9}'::float8[]) t, set_measures;
INSERT INTO asked SELECT t, 'shared' FROM unnest('{1, 4, 12, 25, 1000}'::float8[]) t;
CREATE TABLE truth AS SELECT t, measure, by_function(t, measure) AS found FROM asked;
SELECT sum(split_part(found, ' ', 1)::int) AS found FROM truth;

-- The default, indexes that are extended less and more, and one with a list
CREATE FUNCTION check_index(options text) RETURNS TABLE (wrong text, sparing text) LANGUAGE plpgsql AS
$$
BEGIN
  EXECUTE format('CREATE INDEX docs_sig ON docs USING gin (sig signature_gin_ops %s) WITH (fastupdate = off)', options);
  RETURN QUERY
  WITH tried AS MATERIALIZED (
    SELECT t, measure, truth.found AS expected, i.answer AS got,
           i.looked_at < (SELECT count(*) FROM queries) * (SELECT count(*) FROM docs) / 4 AS spared
    FROM truth, LATERAL by_index(t, measure) i)
  SELECT string_agg(measure || ' ' || t, ', ' ORDER BY measure, t) FILTER (WHERE expected <> got),
         string_agg(t::text, ' ' ORDER BY t) FILTER (WHERE spared AND measure = 'jaccard')
  FROM tried;
  DROP INDEX docs_sig;
END
$$;
SELECT * FROM check_index('');
SELECT * FROM check_index('(threshold = 0.95)');
SELECT * FROM check_index('(ell = 1, frac = 0)');
SELECT * FROM check_index('(ell = 40, frac = 0.05)');
SELECT * FROM check_index('(measure = containment)');

-- A look-up that visits every row warns once, and reads little more of the index than
-- one key a row.
CREATE INDEX docs_sig ON docs USING gin (sig) WITH (fastupdate = off);
SET enable_seqscan = off;
SET neardup.enable_join = off;
SET plan_cache_mode = force_generic_plan;
PREPARE near (float8) AS SELECT count(*) FROM queries,
LATERAL (SELECT id FROM docs WHERE near_duplicate(sig, query, $1) OFFSET 0) d WHERE q < 100;
EXECUTE near(0.3);
EXECUTE near(0.75);
EXECUTE near(0.8);
EXECUTE near(2);
EXECUTE near(NULL);
DROP TABLE docs, queries, asked, truth;
DROP FUNCTION by_function, by_index, check_index;
