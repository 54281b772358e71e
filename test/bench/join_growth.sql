--
-- test/bench/join_growth.sql
--		The join of growing numbers of documents.  For test/bench/join.
--
-- Portions Copyright (c) 2026, the neardup developers
--
\pset footer off
SET work_mem = '1GB';

-- The first n in random order: a tenth of the rows has a hundredth of the
-- pairs, so time is also shown less that of a hash join of the same number of rows.
CREATE TABLE shuffled AS
SELECT row_number() OVER (ORDER BY md5(id::text)) AS n, id, sig
FROM stored ORDER BY n;
CREATE TABLE sizes AS
SELECT size, format('grown_%s', size) AS name, format('groups_%s', size) AS groups
FROM unnest('{10000,34000,100000,340000}'::int[]) AS size;
CREATE PROCEDURE grow(runs int) LANGUAGE plpgsql AS $$
DECLARE
  s record;
BEGIN
  FOR s IN SELECT * FROM sizes ORDER BY size LOOP
    EXECUTE format('CREATE TABLE %I AS SELECT id, sig FROM shuffled
                    WHERE n <= %s ORDER BY n', s.name, s.size);
    EXECUTE format('ANALYZE %I', s.name);
    CALL measure_count(s.name, 0, pairs(0.8, s.name));
    CALL make_groups(s.groups, s.size, s.name);
  END LOOP;
  DELETE FROM taken WHERE run = 0;
  SET LOCAL enable_nestloop = off;
  SET LOCAL enable_mergejoin = off;
  FOR run IN 1 .. runs LOOP
    FOR s IN SELECT * FROM sizes ORDER BY size LOOP
      FOR again IN 1 .. greatest(100000 / s.size, 1) LOOP
        CALL measure_count(s.name, run, pairs(0.8, s.name));
        CALL measure_count(s.groups, run, grouped(s.groups));
      END LOOP;
    END LOOP;
  END LOOP;
END $$;
CALL grow(:runs);
\echo Growth, at 0.8
SELECT size AS rows, found(name) AS pairs,
       round(median_cpu(name)::numeric, 3) AS "CPU s",
       round((each * 1e6)::numeric, 2) AS "us a row",
       round((each / first_value(each) OVER (ORDER BY size))::numeric, 2)
         AS "to 10,000 (2)",
       round(median_cpu(groups)::numeric, 3) AS "hash join s",
       round((net * 1e6)::numeric, 2) AS "us a row, less that",
       round((net / first_value(net) OVER (ORDER BY size))::numeric, 2)
         AS "to 10,000"
FROM sizes, LATERAL (VALUES (median_cpu(name) / size,
                             (median_cpu(name) - median_cpu(groups)) / size))
              AS v (each, net)
ORDER BY size;
SELECT format('DROP TABLE %I, %I', name, groups) FROM sizes \gexec
DROP TABLE shuffled, sizes;
