--
-- test/bench/algorithms.sql
--		The exact algorithms against each other, as in figures 2, 6 and 10 of their
--		survey: candidates and time by threshold.
--
-- Figure 2 has Probe-Count, Probe-stopWords and Probe-optMerge (Sarawagi and
-- Kirpal), figure 6 Probe-Count and All-Pairs by cosine (Bayardo, Ma and
-- Srikant), figure 10 All-Pairs, PPJoin and PPJoin+ by resemblance on three
-- collections (Xiao, Wang, Lin and Yu).  The number of sets is such that the
-- slowest algorithm ends.
--
-- Portions Copyright (c) 2026, the neardup developers
--
SET client_min_messages = warning;
\pset footer off
\pset null ''
SET work_mem = '1GB';

-- Different sets only, as in the papers; numbered at random, so that the
-- first n are a sample
CREATE SCHEMA sets;
CREATE TABLE sets.shingles AS
SELECT row_number() OVER (ORDER BY md5(id::text)) AS n, id, sig
FROM (SELECT min(id) AS id, shingles(body) AS sig FROM docs GROUP BY 2) AS s;
CREATE TABLE sets.words AS
SELECT n, id, shingles(body, 1) AS sig FROM sets.shingles JOIN docs USING (id);
CREATE TABLE sets.vectors AS
WITH collection AS MATERIALIZED (SELECT lexicon_agg(body) AS lexicon FROM docs)
SELECT n, id, weighted_words(body, lexicon) AS sig
FROM sets.shingles JOIN docs USING (id), collection WHERE n <= 10000;
CREATE TABLE sets.titles (id int, features bigint[]);
\copy sets.titles FROM PROGRAM 'xz -dc "$DATA/ssj_dblp18k_words/sets.tsv.xz"'
ALTER TABLE sets.titles ADD n int, ADD sig signature;
UPDATE sets.titles SET n = id, sig = signature_from(features);
VACUUM ANALYZE sets.shingles;
VACUUM ANALYZE sets.words;
VACUUM ANALYZE sets.vectors;
VACUUM ANALYZE sets.titles;

CREATE TABLE compared (figure int, collection text, sets int, measure text,
                       algorithms text[], thresholds float8[]);
INSERT INTO compared VALUES
  (2, 'words', 3000, 'jaccard',
   '{pair-count,probe-count,probe-stopwords,probe-optmerge}',
   '{0.5,0.6,0.7,0.8,0.9}'),
  (2, 'shingles', 10000, 'jaccard',
   '{pair-count,probe-count,probe-stopwords,probe-optmerge}',
   '{0.5,0.6,0.7,0.8,0.9}'),
  (6, 'words', 3000, 'cosine',
   '{probe-count,probe-optmerge,all-pairs-0,all-pairs-1,all-pairs-2}',
   '{0.5,0.6,0.7,0.8,0.9}'),
  (6, 'vectors', 10000, 'cosine', '{all-pairs-0,all-pairs-1,all-pairs-2}',
   '{0.5,0.6,0.7,0.8,0.9}'),
  (10, 'shingles', 1000000, 'jaccard', '{all-pairs-1,all-pairs-2,ppjoin,ppjoin+}',
   '{0.5,0.6,0.7,0.8,0.85,0.9,0.95}'),
  (10, 'words', 30000, 'jaccard', '{all-pairs-1,all-pairs-2,ppjoin,ppjoin+}',
   '{0.5,0.6,0.7,0.8,0.85,0.9,0.95}'),
  (10, 'titles', 1000000, 'jaccard', '{all-pairs-1,all-pairs-2,ppjoin,ppjoin+}',
   '{0.5,0.6,0.7,0.8,0.85,0.9,0.95}');

CREATE TABLE points (figure int, collection text, sets bigint, algorithm text,
                     threshold float8, run int, candidates bigint,
                     verified bigint, rows bigint, cpu float8);
CREATE PROCEDURE take_point(c compared, algorithm text, threshold float8,
                            run int)
LANGUAGE plpgsql AS $$
DECLARE
  before float8;
  plan json;
BEGIN
  PERFORM set_config('neardup.join_algorithm', algorithm, true);
  before := cpu();
  EXECUTE format('EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON)
                  SELECT FROM sets.%1$I a JOIN sets.%1$I b
                  ON near_duplicate(a.sig, b.sig, %2$s, %3$L) AND a.n < b.n
                  WHERE a.n <= %4$s AND b.n <= %4$s',
                 c.collection, threshold, c.measure, c.sets)
  INTO plan;
  plan := plan->0->'Plan';
  IF plan->>'Algorithm' IS DISTINCT FROM algorithm THEN
    RAISE EXCEPTION 'planned: %, %', plan->>'Node Type', plan->>'Algorithm';
  END IF;
  INSERT INTO points
  VALUES (c.figure, c.collection, (plan->>'Distinct Sets')::bigint, algorithm,
          threshold, run, (plan->>'Candidates')::bigint,
          (plan->>'Verified')::bigint, (plan->>'Actual Rows')::float8,
          cpu() - before);
END $$;
CREATE PROCEDURE take_all(runs int) LANGUAGE plpgsql AS $$
DECLARE
  c compared;
  p record;
BEGIN
  SET LOCAL enable_nestloop = off;
  FOR run IN 1 .. runs LOOP
    FOR c IN SELECT * FROM compared LOOP
      FOR p IN SELECT * FROM unnest(c.thresholds) AS threshold,
                             unnest(c.algorithms) AS algorithm LOOP
        CALL take_point(c, p.algorithm, p.threshold, run);
      END LOOP;
    END LOOP;
  END LOOP;
END $$;
CALL take_all(:runs);

CREATE VIEW curves AS
SELECT figure, format('%s %s: %s', sets, collection, algorithm) AS curve,
       threshold, max(candidates) AS candidates, max(verified) AS verified,
       percentile_cont(0.5) WITHIN GROUP (ORDER BY cpu) AS cpu,
       min(collection) AS collection
FROM points GROUP BY figure, sets, collection, algorithm, threshold;

\echo Figure 2: CPU ms by threshold
SELECT curve, threshold, round(cpu * 1000)::int FROM curves
WHERE figure = 2 ORDER BY collection, curve, threshold \crosstabview
\echo Figure 6: CPU ms by threshold
SELECT curve, threshold, round(cpu * 1000)::int FROM curves
WHERE figure = 6 ORDER BY collection DESC, curve, threshold \crosstabview
\echo Figure 6: candidates
SELECT curve, threshold, candidates FROM curves
WHERE figure = 6 ORDER BY collection DESC, curve, threshold \crosstabview
\echo Figure 10: CPU ms by threshold
SELECT curve, threshold, round(cpu * 1000)::int FROM curves
WHERE figure = 10 ORDER BY collection, curve, threshold \crosstabview
\echo Figure 10: candidates
SELECT curve, threshold, candidates FROM curves
WHERE figure = 10 ORDER BY collection, curve, threshold \crosstabview
\echo Figure 10: candidates verified
SELECT curve, threshold, verified FROM curves
WHERE figure = 10 ORDER BY collection, curve, threshold \crosstabview
\echo Figure 10: pairs
SELECT DISTINCT collection, threshold, rows FROM points
WHERE figure = 10 ORDER BY collection, threshold \crosstabview
SELECT count(*) AS "points, of all figures",
       count(*) FILTER (WHERE unlike) AS "where algorithms find other pairs"
FROM (SELECT count(DISTINCT rows) > 1 AS unlike
      FROM points GROUP BY figure, collection, threshold) AS p;
DROP SCHEMA sets CASCADE;
