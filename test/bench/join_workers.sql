--
-- test/bench/join_workers.sql
--		The join by one process and by two, in turns, by the clock: of stored
--		signatures, of a million sets that differ, and of texts, whose signatures
--		are computed.  After them two sessions at once, each with the whole join by
--		one process: the limit of the machine for two processes that share nothing.
--
-- With SHARED=3GB the server has shared memory for it from the start.
--
-- Portions Copyright (c) 2026, the neardup developers
--
\pset footer off

CREATE TABLE stored AS SELECT id, shingles(body) AS sig FROM docs;
-- Sets of 60 features: eight in a row are one, each with three or four features of its own
CREATE TABLE million AS
SELECT n * 8 + v AS id, signature_from(ARRAY(
    SELECT hashint8extended(CASE WHEN place / 7 = v AND place % 7 < own THEN place ELSE 0 END
                            + CASE WHEN place / 7 = v AND place % 7 < own THEN (n * 8 + v) * 64
                                   WHEN place > 50 THEN hashint8extended(n, place) & 65535
                                   ELSE n * 64 + place END, 20261122)
    FROM generate_series(1, 60) place)) AS sig
FROM generate_series(0, 124999) n, generate_series(0, 7) v,
    LATERAL (VALUES (3 + (hashint8extended(n * 8 + v, 0) & 1)::int)) o (own);
VACUUM ANALYZE stored, million;
SET work_mem = '2GB';
SET min_parallel_table_scan_size = 0;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET enable_nestloop = off;

CREATE TABLE questions (name text, query text);
INSERT INTO questions VALUES
('stored, 0.5', 'SELECT count(*) FROM stored a JOIN stored b ON near_duplicate(a.sig, b.sig, 0.5) AND a.id < b.id'),
('a million, 0.8', 'SELECT count(*) FROM million a JOIN million b ON near_duplicate(a.sig, b.sig, 0.8) AND a.id < b.id'),
('texts, 0.5', 'SELECT count(*) FROM docs a JOIN docs b ON near_duplicate(shingles(a.body), shingles(b.body), 0.5) AND a.id < b.id');
-- measure_count() inserts, and such a statement is not parallel.  Run 0 warms up.
CREATE PROCEDURE ask_by(processes int, name text, run int, query text) LANGUAGE plpgsql AS $$
DECLARE
  before timestamptz;
  pairs bigint;
BEGIN
  PERFORM set_config('max_parallel_workers_per_gather', (processes - 1)::text, false);
  before := clock_timestamp();
  EXECUTE query INTO pairs;
  INSERT INTO taken VALUES (name || ' by ' || processes, run, NULL, extract(epoch FROM clock_timestamp() - before));
  INSERT INTO found VALUES (name || ' by ' || processes, run, pairs);
END $$;

CREATE EXTENSION dblink;
SELECT format('host=%s port=%s dbname=%s', current_setting('unix_socket_directories'),
              current_setting('port'), current_database()) AS here \gset
SELECT session, dblink_connect(session, :'here'),
    dblink_exec(session, 'SET work_mem = ''2GB''; SET enable_nestloop = off; SET max_parallel_workers_per_gather = 0')
FROM (VALUES ('first'), ('second')) s (session) \g /dev/null
CREATE PROCEDURE ask_at_once(name text, run int, query text) LANGUAGE plpgsql AS $$
DECLARE
  sessions CONSTANT text[] := '{first,second}';
  session text;
  before timestamptz := clock_timestamp();
BEGIN
  FOREACH session IN ARRAY sessions LOOP
    PERFORM dblink_send_query(session, query);
  END LOOP;
  FOREACH session IN ARRAY sessions LOOP
    INSERT INTO found SELECT name || ' at once', run, pairs FROM dblink_get_result(session) t (pairs bigint);
    PERFORM FROM dblink_get_result(session) t (pairs bigint);  -- the end
  END LOOP;
  INSERT INTO taken VALUES (name || ' at once', run, NULL, extract(epoch FROM clock_timestamp() - before));
END $$;

SELECT CASE turn WHEN 3 THEN format('CALL ask_at_once(%L, %s, %L)', name, run, query)
                 ELSE format('CALL ask_by(%s, %L, %s, %L)', turn, name, run, query) END
FROM generate_series(0, :runs) run, questions, generate_series(1, 3) turn
ORDER BY name, run, turn \gexec

DELETE FROM taken WHERE run = 0;
SELECT q.name, found(q.name || ' by 1') AS pairs,
    (SELECT count(DISTINCT n) = 1 FROM found f WHERE f.name LIKE q.name || ' %') AS "same pairs",
    round(median_clock(q.name || ' by 1')::numeric, 2) AS "one: s",
    round(median_clock(q.name || ' by 2')::numeric, 2) AS "two: s",
    round(percentile_cont(0.5) WITHIN GROUP (ORDER BY one.clock / two.clock)::numeric, 2) AS "times as fast (1.7)",
    round(percentile_cont(0.5) WITHIN GROUP (ORDER BY 2 * one.clock / at_once.clock)::numeric, 2) AS "two sessions: times as much",
    round(percentile_cont(0.5) WITHIN GROUP (ORDER BY at_once.clock / two.clock / 2)::numeric, 2) AS "of that",
    string_agg(round((one.clock / two.clock)::numeric, 2)::text, ' ' ORDER BY one.run) AS "each pair of runs"
FROM questions q JOIN taken one ON one.name = q.name || ' by 1'
JOIN taken two ON two.name = q.name || ' by 2' AND two.run = one.run
JOIN taken at_once ON at_once.name = q.name || ' at once' AND at_once.run = one.run
GROUP BY q.name ORDER BY q.name;
