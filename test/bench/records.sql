--
-- test/bench/records.sql
--		Records of two catalogues: measures, weights and best matches, the table of
--		doc/records.md; and the pairs of evaluate_thresholds() against naive SQL.
--
-- Portions Copyright (c) 2026, the neardup developers
--
SET client_min_messages = warning;
\pset footer off

-- In one catalogue ids are at most 2616
CREATE TABLE records (id int PRIMARY KEY, body text);
CREATE TABLE same (id1 int, id2 int, label int, jaccard float8);
\copy records FROM PROGRAM 'xz -dc "$DATA/er_dblp_acm/docs.tsv.xz"'
\copy same FROM PROGRAM 'xz -dc "$DATA/er_dblp_acm/pairs.tsv.xz"'
CREATE TABLE letters AS SELECT shingle_lexicon_agg(body, 'unit=char k=3') AS lexicon FROM records;

CREATE TABLE swept AS
SELECT best, e.*
FROM unnest('{"",left,right,either,reciprocal}'::text[]) best,
     evaluate_thresholds('TABLE records', 'TABLE same',
         ARRAY['shingles(body, ''k=1'')', 'shingles(body, ''k=1'')', 'shingles(body, ''unit=char k=3'')', 'shingles(body, ''unit=char k=3'')',
               'weighted_shingles(body, (SELECT lexicon FROM letters))', 'weighted_shingles(body, (SELECT lexicon FROM letters), ''bm25'')'],
         (SELECT array_agg(t / 20.0) FROM generate_series(6, 20) t), 'a.id <= 2616 AND b.id > 2616',
         '{similarity,overlap_coefficient,similarity,overlap_coefficient,cosine,cosine}', best => best) e;
SELECT DISTINCT ON (method, measure, best) method, measure, best, threshold,
       round(recall::numeric, 3) AS recall, round("precision"::numeric, 3) AS precision, round(f::numeric, 3) AS f
FROM swept ORDER BY method, measure, best, f DESC, threshold;

-- All pairs that share a word, each judged by a search for a better one
CREATE TABLE pair AS
SELECT a.id AS a, b.id AS b, similarity(shingles(a.body, 'k=1'), shingles(b.body, 'k=1')) AS s,
       EXISTS (SELECT FROM same WHERE (id1, id2) = (a.id, b.id)) AS correct
FROM records a JOIN records b ON a.id <= 2616 AND b.id > 2616
WHERE similarity(shingles(a.body, 'k=1'), shingles(b.body, 'k=1')) >= 0.3;
CREATE INDEX ON pair (a, s);
CREATE INDEX ON pair (b, s);
CREATE TABLE judged AS
SELECT p.*, NOT EXISTS (SELECT FROM pair q WHERE q.a = p.a AND q.s > p.s) AS best_a,
       NOT EXISTS (SELECT FROM pair q WHERE q.b = p.b AND q.s > p.s) AS best_b
FROM pair p;
SELECT count(*) AS different FROM (
    SELECT best, threshold, found, correct FROM swept WHERE method = 'shingles(body, ''k=1'')' AND measure = 'similarity'
    EXCEPT
    SELECT best, t, count(*) FILTER (WHERE s >= t), count(*) FILTER (WHERE s >= t AND correct)
    FROM (SELECT DISTINCT best, threshold AS t FROM swept) v LEFT JOIN judged
        ON CASE best WHEN 'left' THEN best_a WHEN 'right' THEN best_b WHEN 'either' THEN best_a OR best_b
                     WHEN 'reciprocal' THEN best_a AND best_b ELSE true END
    GROUP BY best, t) d;
