--
-- test/bench/common.sql
--		Shared by the benchmarks: the corpus, and a stop-watch.
--
CREATE EXTENSION neardup;

CREATE TABLE docs (id int PRIMARY KEY, release text, package text, md5 text,
                   body text);

-- Measurements: seconds of this backend's CPU, and of the clock
CREATE TABLE taken (name text, run int, cpu float8, clock float8);

CREATE FUNCTION cpu() RETURNS float8 LANGUAGE sql VOLATILE
RETURN split_part(pg_read_file('/proc/self/schedstat'), ' ', 1)::float8 / 1e9;

-- Run a statement, and record its time.
CREATE PROCEDURE measure(name text, run int, statement text)
LANGUAGE plpgsql AS $$
DECLARE
  cpu_before float8 := cpu();
  before timestamptz := clock_timestamp();
BEGIN
  EXECUTE statement;
  INSERT INTO taken
  VALUES (name, run, cpu() - cpu_before,
          extract(epoch FROM clock_timestamp() - before));
END $$;

-- Counts
CREATE TABLE found (name text, run int, n bigint);

-- Run a query that counts, and record its time and the count.
CREATE PROCEDURE measure_count(name text, run int, query text)
LANGUAGE plpgsql AS $$
BEGIN
  CALL measure(name, run, format('INSERT INTO found SELECT %L, %s, (%s)',
                                 name, run, query));
END $$;

-- The query that counts near-duplicates in a table (or a subquery), for these
CREATE FUNCTION pairs(threshold float8, source text = 'stored')
RETURNS text LANGUAGE sql IMMUTABLE
RETURN format('SELECT count(*) FROM %1$s a JOIN %1$s b
               ON near_duplicate(a.sig, b.sig, %2$s) AND a.id < b.id',
              source, threshold);

CREATE FUNCTION found(of text) RETURNS bigint LANGUAGE sql STABLE
RETURN (SELECT max(n) FROM found WHERE name = of);

CREATE FUNCTION median_cpu(of text) RETURNS float8 LANGUAGE sql STABLE
RETURN (SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY cpu)
        FROM taken WHERE name = of);

CREATE FUNCTION median_clock(of text) RETURNS float8 LANGUAGE sql STABLE
RETURN (SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY clock)
        FROM taken WHERE name = of);

-- Run a query for each signature of another query, with one plan for all, and return
-- the numbers of rows found and of false candidates.
CREATE FUNCTION candidates(signatures text, query text,
                           OUT queries int, OUT hits bigint,
                           OUT rejected bigint)
LANGUAGE plpgsql AS $$
DECLARE
  sig signature;
  plan json;
BEGIN
  queries := 0; hits := 0; rejected := 0;
  FOR sig IN EXECUTE signatures LOOP
    EXECUTE 'EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) ' || query
    INTO plan USING sig;
    plan := plan->0->'Plan';
    IF plan->>'Node Type' <> 'Bitmap Heap Scan' THEN
      RAISE EXCEPTION 'the index is not used: %', plan->>'Node Type';
    END IF;
    queries := queries + 1;
    hits := hits + (plan->>'Actual Rows')::float8::bigint;
    rejected := rejected
      + coalesce((plan->>'Rows Removed by Index Recheck')::float8::bigint, 0)
      + coalesce((plan->>'Rows Removed by Filter')::float8::bigint, 0);
  END LOOP;
END $$;
