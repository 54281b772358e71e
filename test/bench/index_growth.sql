--
-- test/bench/index_growth.sql
--		Time of a row while a table grows: inserted into an index of access method
--		neardup, with and without the guard, 20,000 rows a statement, no two of them
--		near, up to :rows (1,000,000).
--
-- Artificial sets: 60 features each, ten of them from a vocabulary of 50,000, some of
-- them very frequent, the others from one of 2^63.  They are made before each statement,
-- without being timed, so that ten million fit on a disk.
--
\pset footer off
\if :{?rows}
\else
\set rows 1000000
\endif
CREATE TEMP TABLE grown_source (id bigint, sig signature);
CREATE TABLE grown_taken (guarded boolean, rows bigint, cpu float8, segments bigint);
CREATE PROCEDURE make_source(first bigint, last bigint) LANGUAGE sql AS $$
TRUNCATE grown_source;
INSERT INTO grown_source
SELECT id, signature_from(ARRAY(
  SELECT hashint8extended(CASE WHEN place > 10 THEN id * 64 + place
                               ELSE -1 - ((hashint8extended(id, place) & 1048575) ^ 3 / 2.4e13)::bigint END,
                          20261122)
  FROM generate_series(1, 60) AS place))
FROM generate_series(first, last) AS id;
$$;
CREATE PROCEDURE grow(guarded boolean, rows bigint) LANGUAGE plpgsql AS $$
DECLARE
  before float8;
BEGIN
  DROP TABLE IF EXISTS grown;
  CREATE TABLE grown (id bigint PRIMARY KEY, sig signature) WITH (autovacuum_enabled = off);
  CREATE INDEX grown_sig ON grown USING neardup (sig);
  IF guarded THEN
    CREATE CONSTRAINT TRIGGER no_near_duplicates AFTER INSERT ON grown
      FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.8');
  END IF;
  COMMIT;
  FOR part IN 1 .. rows / 20000 LOOP
    CALL make_source((part - 1) * 20000 + 1, part * 20000);
    COMMIT;
    before := cpu();
    INSERT INTO grown SELECT * FROM grown_source;
    COMMIT;
    INSERT INTO grown_taken VALUES (guarded, part * 20000, cpu() - before,
                                    (SELECT count(*) FROM neardup_index_segments('grown_sig')));
  END LOOP;
END $$;
SET client_min_messages = warning;
CALL grow(false, :rows);
CALL grow(true, :rows);
RESET client_min_messages;
-- A row's mean in the last half before a size, including merges
SELECT size AS rows, guarded,
       round((sum(cpu) * 1e6 / (count(*) * 20000))::numeric, 1) AS "us a row",
       round((sum(cpu) / count(*) / first_value(sum(cpu) / count(*)) OVER (PARTITION BY guarded ORDER BY size))::numeric, 2)
         AS "to the first (2 for 100 times as many)",
       round(avg(segments)) AS segments, round(max(cpu)::numeric, 2) AS "longest statement, s"
FROM grown_taken, unnest('{100000,200000,400000,600000,1000000,3000000,10000000}'::bigint[]) AS size
WHERE rows > size / 2 AND rows <= size AND size <= :rows
GROUP BY size, guarded ORDER BY guarded, size;
SELECT segment, rows, keys, pages FROM neardup_index_segments('grown_sig') ORDER BY rows DESC;
DROP TABLE grown, grown_source, grown_taken;
DROP PROCEDURE grow, make_source;
