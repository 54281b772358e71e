--
-- The guard over access method neardup, for rows that one statement inserts: it
-- finds as many near-duplicates as a join, though of a row's keys those are left out
-- that only the row itself has in its segment
--

-- 5,000 sets of 30; of twenty, two have 27 and two have 18 of them in common
CREATE FUNCTION make(id bigint) RETURNS signature LANGUAGE sql IMMUTABLE AS $$
  SELECT signature_from(array(
    SELECT hashint8extended(
      CASE WHEN id % 20 = 1 AND i > 1 OR id % 20 = 11 AND i > 10 THEN id - 1 ELSE id END * 100 + i, 0)
    FROM generate_series(1, 28) i
    UNION ALL SELECT hashint8extended(i + id % 3, 1) FROM generate_series(1, 2) i))
$$;
CREATE TABLE rows AS
SELECT id, make(id) AS sig FROM generate_series(1::bigint, 5000) id;
SELECT t, count(DISTINCT a.id) FROM rows a JOIN rows b
  ON near_duplicate(a.sig, b.sig, 0.4) AND a.id <> b.id,
  (VALUES (0.4), (0.8)) AS v (t)
WHERE near_duplicate(a.sig, b.sig, t) GROUP BY t ORDER BY t;

CREATE FUNCTION guarded(threshold float8, part int) RETURNS bigint LANGUAGE plpgsql
SET client_min_messages = error SET track_functions = 'all' AS $$
DECLARE
  before bigint;
BEGIN
  CREATE TABLE guarded (id int PRIMARY KEY, sig signature);
  CREATE INDEX guarded_sig ON guarded USING neardup (sig);
  EXECUTE format('CREATE TRIGGER guard AFTER INSERT ON guarded FOR EACH ROW
                  EXECUTE FUNCTION neardup_guard(''sig'', %L, ''warn'')', threshold);
  before := pg_stat_get_xact_function_calls('neardup_guard_warned'::regproc);
  FOR i IN 0 .. 5000 / part - 1 LOOP
    INSERT INTO guarded SELECT * FROM rows WHERE id > i * part AND id <= (i + 1) * part;
  END LOOP;
  DROP TABLE guarded;
  RETURN pg_stat_get_xact_function_calls('neardup_guard_warned'::regproc) - coalesce(before, 0);
END $$;
-- where one statement inserts both rows of a pair, each finds the other one
SELECT t, part, guarded(t, part) AS found
FROM (VALUES (0.4), (0.8)) AS v (t), (VALUES (5000), (500), (100)) AS p (part)
ORDER BY t, part;
DROP TABLE rows;
DROP FUNCTION make, guarded;
