--
-- test/bench/groups_kept.sql
--		Kept groups of 340,720 descriptions: notes, refreshes after new rows and after
--		deleted representatives, and one row at a time.
--
-- Portions Copyright (c) 2026, the neardup developers
--
\pset footer off
SET client_min_messages = warning;
SET work_mem = '64MB';

-- 10,000 of them, any, come later
CREATE TABLE stored AS
SELECT row_number() OVER (ORDER BY n > 330720, id)::int AS id, sig
FROM (SELECT id, shingles(body) AS sig, row_number() OVER (ORDER BY hashint4extended(id, 1)) AS n FROM docs) numbered;
CREATE TABLE later AS SELECT * FROM stored WHERE id > 330720;
DELETE FROM stored WHERE id > 330720;
ALTER TABLE stored ADD PRIMARY KEY (id);
CREATE INDEX ON stored USING neardup (sig);
VACUUM ANALYZE stored;
CHECKPOINT;
CALL measure('created', 1, $$SELECT near_duplicate_groups_create('groups', 'stored', 'id', 'sig', 0.8)$$);
VACUUM ANALYZE groups;

-- Each run begins and ends with the same rows.
CREATE PROCEDURE measure_all(run int) LANGUAGE plpgsql AS $$
BEGIN
  ALTER TABLE stored DISABLE TRIGGER USER;
  CALL measure('insert without notes', run, 'INSERT INTO stored TABLE later');
  CALL measure('delete without notes', run, 'DELETE FROM stored WHERE id > 330720');
  ALTER TABLE stored ENABLE TRIGGER USER;
  COMMIT;
  CALL measure('insert', run, 'INSERT INTO stored TABLE later');
  COMMIT;
  CALL measure('refresh after 10,000 new rows', run, 'CALL near_duplicate_groups_refresh(''groups'')');
  COMMIT;
  CALL measure('delete', run, 'DELETE FROM stored WHERE id > 330720');
  COMMIT;
  CALL measure('refresh after 10,000 deleted rows', run, 'CALL near_duplicate_groups_refresh(''groups'')');
  COMMIT;
  -- those with the most members of 2,000
  CREATE TABLE gone AS SELECT s.* FROM stored s JOIN (
    SELECT representative FROM groups GROUP BY 1 HAVING count(*) > 1 ORDER BY hashint4extended(representative, 1) LIMIT 1000) g ON s.id = g.representative;
  DELETE FROM stored s USING gone WHERE s.id = gone.id;
  COMMIT;
  CALL measure('refresh after 1,000 deleted representatives', run, 'CALL near_duplicate_groups_refresh(''groups'')');
  INSERT INTO stored TABLE gone;
  CALL near_duplicate_groups_refresh('groups');
  DROP TABLE gone;
  COMMIT;
END $$;
SELECT format('CALL measure_all(%s)', run) FROM generate_series(1, :runs) run \gexec
SELECT near_duplicate_groups_check('groups');
SELECT near_duplicate_groups_drop('groups');

SELECT near_duplicate_groups_create('groups', 'stored', 'id', 'sig', 0.8, refresh => 'immediate');
-- The kernel's figure of CPU is too coarse for one row.
CREATE PROCEDURE measure_rows(name text, run int, statement text) LANGUAGE plpgsql AS $$
DECLARE
  cpu_before float8 := cpu();
  before timestamptz := clock_timestamp();
BEGIN
  FOR i IN 330721 .. 331220 LOOP
    EXECUTE format(statement, i);
    COMMIT;
  END LOOP;
  INSERT INTO taken VALUES (name, run, (cpu() - cpu_before) / 500, extract(epoch FROM clock_timestamp() - before) / 500);
END $$;
CREATE INDEX ON later (id);
SELECT format('CALL measure_rows(''immediate, one row'', %1$s, ''INSERT INTO stored SELECT * FROM later WHERE id = %%s'')', run),
       format('CALL measure_rows(''immediate, one deletion'', %1$s, ''DELETE FROM stored WHERE id = %%s'')', run)
FROM generate_series(1, :runs) run \gexec
SELECT near_duplicate_groups_check('groups');

SELECT name, round(median_cpu(name)::numeric, 5) AS s, round(median_clock(name)::numeric, 5) AS clock
FROM (SELECT name, min(ctid) FROM taken GROUP BY name) t ORDER BY min;
SELECT what, round(((median_cpu(what) - median_cpu(what || ' without notes')) * 1e6 / 10000)::numeric, 2) AS "µs a note" FROM unnest('{insert,delete}'::text[]) what;
SELECT near_duplicate_groups_drop('groups');
DROP TABLE stored, later;
