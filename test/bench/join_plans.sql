--
-- test/bench/join_plans.sql
--		The planner's choice for 10, 1,000 and all documents against all, and its
--		estimate of rows.  For test/bench/join.
--
-- Portions Copyright (c) 2026, the neardup developers
--
\pset footer off
CREATE TABLE asked_10 AS SELECT * FROM stored WHERE id % 34072 = 7;
CREATE TABLE asked_1000 AS SELECT * FROM stored WHERE id % 340 = 7 ORDER BY id LIMIT 1000;
CREATE INDEX stored_sig ON stored USING gin (sig) WITH (fastupdate = off);
VACUUM ANALYZE stored;
VACUUM ANALYZE asked_10;
VACUUM ANALYZE asked_1000;
\connect
-- The settings that PostgreSQL comes with
SET work_mem = '4MB';
SET max_parallel_workers_per_gather = 2;
SET jit = on;

CREATE FUNCTION asking(asked text, threshold float8, what text = 'a.id, b.id')
RETURNS text LANGUAGE sql IMMUTABLE
RETURN format('SELECT %s FROM %I a JOIN stored b
               ON near_duplicate(a.sig, b.sig, %s)%s', what, asked, threshold,
              CASE asked WHEN 'stored' THEN ' AND a.id < b.id' ELSE '' END);

-- The join of a plan: its node, the index on its inner side, rows expected
CREATE FUNCTION planned(query text, OUT node text, OUT rows float8)
LANGUAGE plpgsql AS $$
DECLARE
  plan json;
BEGIN
  EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan;
  plan := plan->0->'Plan';
  rows := plan->>'Plan Rows';
  WHILE json_array_length(plan->'Plans') = 1 LOOP
    plan := plan->'Plans'->0;
  END LOOP;
  node := coalesce(plan->>'Custom Plan Provider', plan->>'Node Type')
    || CASE WHEN plan->'Plans'->1->>'Node Type' = 'Bitmap Heap Scan'
       THEN ', index' ELSE '' END;
END $$;

\echo Plans at 0.8
\pset tuples_only on
SELECT 'EXPLAIN ' || asking(asked, 0.8)
FROM unnest('{asked_10,asked_1000,stored}'::text[]) AS asked \gexec
\pset tuples_only off

-- Number of pairs, and times of the node and of the index
CREATE PROCEDURE ask_either_way() LANGUAGE plpgsql AS $$
DECLARE
  asked text;
  threshold float8;
BEGIN
  FOREACH asked IN ARRAY '{asked_10,asked_1000,stored}'::text[] LOOP
    FOREACH threshold IN ARRAY '{0.5,0.6,0.7,0.8,0.9,0.95}'::float8[] LOOP
      SET LOCAL enable_nestloop = off;
      CALL measure_count(format('%s %s node', asked, threshold), 1,
                         asking(asked, threshold, 'count(*)'));
      RESET enable_nestloop;
      -- the index is for 0.8 and more
      IF asked <> 'stored' AND threshold >= 0.8 THEN
        SET LOCAL neardup.enable_join = off;
        SET LOCAL enable_seqscan = off;
        CALL measure_count(format('%s %s index', asked, threshold), 1,
                           asking(asked, threshold, 'count(*)'));
        RESET neardup.enable_join;
        RESET enable_seqscan;
      END IF;
    END LOOP;
  END LOOP;
END $$;
SET max_parallel_workers_per_gather = 0;
SET work_mem = '256MB';
SET jit = off;
CALL ask_either_way();
SET work_mem = '4MB';
SET max_parallel_workers_per_gather = 2;
SET jit = on;
\echo What is chosen, what is expected
SELECT (SELECT reltuples FROM pg_class WHERE oid = asked::regclass) || ' x '
         || (SELECT reltuples FROM pg_class WHERE oid = 'stored'::regclass) AS rows, threshold, node AS "planned", rows AS expected, found,
       round((CASE WHEN rows > found THEN rows / greatest(found, 1)
              ELSE found / rows END)::numeric, 1) AS "apart (4)",
       round((median_cpu(name || ' node') * 1000)::numeric) AS "node ms",
       round((median_cpu(name || ' index') * 1000)::numeric) AS "index ms",
       found = coalesce(found(name || ' index'), found) AS "both find as many"
FROM unnest('{asked_10,asked_1000,stored}'::text[]) WITH ORDINALITY AS a (asked, i),
     unnest('{0.5,0.6,0.7,0.8,0.9,0.95}'::float8[]) AS threshold,
     planned(asking(asked, threshold)),
     LATERAL (VALUES (asked || ' ' || threshold)) AS n (name),
     LATERAL (VALUES (found(name || ' node')::float8)) AS f (found)
ORDER BY i, threshold;
DROP TABLE asked_10, asked_1000;
DROP INDEX stored_sig;
