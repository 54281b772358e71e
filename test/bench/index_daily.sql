--
-- test/bench/index_daily.sql
--		Look-ups in an index of access method neardup while its table grows by a tenth a
--		day, before and after the VACUUM of each day.
--
-- Artificial sets as in index_growth.sql: 60 features each, ten of them frequent.  With
-- :merge_postings, that many postings are merged at once instead of two million, so that
-- a small table is cut as a larger one: 300,000 rows with 60,000 as ten million.
--
\pset footer off
\if :{?rows}
\else
\set rows 300000
\endif
\if :{?merge_postings}
SET neardup.merge_postings = :merge_postings;
\endif
CREATE TABLE daily (id bigint PRIMARY KEY, sig signature) WITH (autovacuum_enabled = off);
CREATE TABLE daily_taken (day int, vacuumed boolean, us float8, segments bigint, mb float8);
CREATE PROCEDURE add_rows(first bigint, last bigint) LANGUAGE sql AS $$
INSERT INTO daily
SELECT id, signature_from(ARRAY(
  SELECT hashint8extended(CASE WHEN place > 10 THEN id * 64 + place
                               ELSE -1 - ((hashint8extended(id, place) & 1048575) ^ 3 / 2.4e13)::bigint END,
                          20261122)
  FROM generate_series(1, 60) AS place))
FROM generate_series(first, last) AS id;
$$;
-- The least of five runs of 500 look-ups each
CREATE PROCEDURE look_up(day int, vacuumed boolean, stored bigint) LANGUAGE plpgsql AS $$
DECLARE
  asked signature[] := ARRAY(SELECT sig FROM daily WHERE id % (stored / 500) = 7 ORDER BY id LIMIT 500);
  query signature;
  before float8;
  least float8 := 'inf';
  found int;
BEGIN
  FOR run IN 1 .. 5 LOOP
    before := cpu();
    FOREACH query IN ARRAY asked LOOP
      SELECT count(*) INTO found FROM daily WHERE near_duplicate(sig, query, 0.8);
      ASSERT found = 1;
    END LOOP;
    least := least(least, cpu() - before);
  END LOOP;
  INSERT INTO daily_taken
  SELECT day, vacuumed, least * 1e6 / cardinality(asked), count(*), pg_relation_size('daily_sig') / 1048576.0
  FROM neardup_index_segments('daily_sig');
END $$;
-- In statements of 1,000 rows, as an application adds them
CREATE PROCEDURE add_day(first bigint, last bigint) LANGUAGE plpgsql AS $$
BEGIN
  FOR start IN first .. last BY 1000 LOOP
    CALL add_rows(start, least(start + 999, last));
    COMMIT;
  END LOOP;
END $$;
CALL add_rows(1, :rows);
CREATE INDEX daily_sig ON daily USING neardup (sig);
VACUUM ANALYZE daily;
SET enable_seqscan = off;
CALL look_up(0, true, :rows);
SELECT statement
FROM generate_series(1, 3) AS day,
     LATERAL (VALUES (1, format('CALL add_day(%s, %s)', round(:rows * 1.1 ^ (day - 1))::bigint + 1, round(:rows * 1.1 ^ day)::bigint)),
                     (2, format('CALL look_up(%s, false, %s)', day, :rows)),
                     (3, 'VACUUM daily'),
                     (4, format('CALL look_up(%s, true, %s)', day, :rows))) AS s (step, statement)
ORDER BY day, step \gexec
SELECT b.day, b.segments AS "segments before VACUUM", a.segments AS "after", round(b.us) AS "µs before", round(a.us) AS "µs after",
       round((b.us / a.us)::numeric, 2) AS ratio, round(b.mb) AS "MB before", round(a.mb) AS "MB after"
FROM daily_taken b JOIN daily_taken a USING (day) WHERE a.vacuumed AND NOT b.vacuumed ORDER BY day;
DROP TABLE daily, daily_taken;
DROP PROCEDURE add_rows, look_up, add_day;
