--
-- test/bench/sketches.sql
--		Computation of sketches and of sets; look-ups; the approximate join against the
--		exact one.
--
-- Portions Copyright (c) 2026, the neardup developers
--
SET client_min_messages = warning;
\pset footer off

-- Computing them, in turns
CREATE TABLE sketched (name text, call text);
INSERT INTO sketched VALUES
  ('shingles', 'shingles(body)'), ('minhash', 'minhash(body, 128)'),
  ('bottom', 'bottom(body, 100)'), ('sample', 'sample(body, 8)'),
  ('supershingles', 'supershingles(body)'),
  ('megashingles', 'megashingles(body)'), ('simhash', 'simhash(body)'),
  ('winnow', 'winnow(body, 4)');
CREATE PROCEDURE make_all(runs int) LANGUAGE plpgsql AS $$
DECLARE
  s record;
BEGIN
  FOR run IN 1 .. runs LOOP
    FOR s IN SELECT * FROM sketched LOOP
      CALL measure(s.name, run, format('SELECT count(%s) FROM docs', s.call));
    END LOOP;
  END LOOP;
END $$;
CALL make_all(:runs);
SELECT call, round(median_cpu(name)::numeric, 2) AS s,
       round((median_cpu(name) / median_cpu('shingles'))::numeric, 2)
         AS "to sets (minhash 1.3)"
FROM sketched ORDER BY name <> 'shingles', name;

-- Looking them up: the near-duplicates of 100 documents
CREATE TABLE looked_up (name text, threshold float8, megabytes float8,
                        build float8, queries int, hits bigint,
                        rejected bigint, asking float8);
CREATE PROCEDURE look_up(name text, call text, threshold float8)
LANGUAGE plpgsql AS $$
DECLARE
  before float8;
  built float8;
  c record;
BEGIN
  DROP TABLE IF EXISTS stored_sketches;
  EXECUTE format('CREATE TABLE stored_sketches AS SELECT id, %s AS sig FROM docs', call);
  ANALYZE stored_sketches;
  before := cpu();
  CREATE INDEX stored_sketches_sig ON stored_sketches USING gin (sig)
    WITH (fastupdate = off);
  built := cpu() - before;
  SET LOCAL enable_seqscan = off;
  before := cpu();
  SELECT * INTO c FROM candidates(
    'SELECT sig FROM stored_sketches WHERE id % 3407 = 11',
    format('SELECT id FROM stored_sketches WHERE near_duplicate(sig, $1, %s)', threshold));
  INSERT INTO looked_up
  VALUES (name, threshold, pg_relation_size('stored_sketches_sig') / 1e6,
          built, c.queries, c.hits, c.rejected, cpu() - before);
  RESET enable_seqscan;
END $$;
SELECT format('CALL look_up(%L, %L, %s)', name, call, threshold)
FROM sketched, unnest('{0.8,0.953125}'::float8[]) threshold
WHERE threshold = 0.8 OR name IN ('minhash', 'simhash') \gexec
SELECT name, round(threshold::numeric, 3) AS threshold,
       round(megabytes::numeric) AS "index MB", round(build::numeric, 1) AS "build s",
       round(hits::numeric / queries, 1) AS "found each",
       round(rejected::numeric / queries, 1) AS "false candidates",
       round((asking / queries * 1000)::numeric, 2) AS "ms each, with EXPLAIN"
FROM looked_up ORDER BY threshold, name;

-- The join of all with all
CREATE TABLE stored_sets AS SELECT id, shingles(body) AS sig FROM docs;
ANALYZE stored_sets;
CREATE TABLE counted (name text, pairs bigint);
SET work_mem = '512MB';
CALL measure('exact', 1, 'INSERT INTO counted SELECT ''exact'', count(*)
  FROM stored_sets a JOIN stored_sets b ON near_duplicate(a.sig, b.sig, 0.8) AND a.id < b.id');
CALL measure('approx', 1, 'INSERT INTO counted SELECT ''approx'', count(*)
  FROM stored_sets a JOIN stored_sets b ON near_duplicate_approx(a.sig, b.sig, 0.8, 0.99) AND a.id < b.id');
RESET work_mem;
SELECT e.pairs, a.pairs AS "with near_duplicate_approx()",
       round(a.pairs::numeric / e.pairs, 5) AS "recall (0.98)",
       round(median_cpu('exact')::numeric, 1) AS "exact s",
       round(median_cpu('approx')::numeric, 1) AS "approx s"
FROM counted e, counted a WHERE e.name = 'exact' AND a.name = 'approx';
DROP TABLE stored_sketches, stored_sets;
