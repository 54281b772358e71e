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
-- words, of the same year
SELECT DISTINCT ON (best) best, threshold, round(f::numeric, 3) AS f
FROM unnest('{"",reciprocal}'::text[]) best,
     evaluate_thresholds('TABLE records', 'TABLE same', ARRAY['shingles(body, ''k=1'')'], (SELECT array_agg(t / 20.0) FROM generate_series(6, 20) t),
         'a.id <= 2616 AND b.id > 2616 AND right(a.body, 4) = right(b.body, 4)', best => best)
ORDER BY best, evaluate_thresholds.f DESC, threshold;

-- Weights from half of the pairs, measured on the other half, beside words alone
CREATE TABLE compared AS
SELECT a.id AS a, b.id AS b, similarity(shingles(a.body, 'k=1'), shingles(b.body, 'k=1')) AS words,
       similarity(shingles(a.body, 'unit=char k=3'), shingles(b.body, 'unit=char k=3')) AS letters,
       (right(a.body, 4) = right(b.body, 4))::int AS year,
       EXISTS (SELECT FROM same WHERE (id1, id2) = (a.id, b.id)) AS same
FROM records a JOIN records b ON a.id <= 2616 AND b.id > 2616 AND near_duplicate(shingles(a.body, 'k=1'), shingles(b.body, 'k=1'), 0.25);
CREATE TABLE measured AS
SELECT a, b, same, m.name, round(m.value::numeric, 1) AS value
FROM (SELECT *, max(words) OVER (PARTITION BY a) - words AS behind_a, max(words) OVER (PARTITION BY b) - words AS behind_b
      FROM compared) p,
     LATERAL (VALUES ('words', words), ('letters', letters), ('year', year), ('behind a', behind_a), ('behind b', behind_b)) m (name, value);
CREATE TABLE scored AS
WITH weights AS (
    SELECT name, value, ln((count(*) FILTER (WHERE same) + 0.5) / sum(count(*) FILTER (WHERE same)) OVER of_name)
                        - ln((count(*) FILTER (WHERE NOT same) + 0.5) / sum(count(*) FILTER (WHERE NOT same)) OVER of_name) AS weight
    FROM measured WHERE a % 2 = 0 GROUP BY name, value WINDOW of_name AS (PARTITION BY name))
SELECT a, b, same, 'weights' AS by, sum(coalesce(weight, 0)) AS score
FROM measured LEFT JOIN weights USING (name, value) WHERE a % 2 = 1 GROUP BY a, b, same
UNION ALL SELECT a, b, same, 'words', words FROM compared WHERE a % 2 = 1;
SELECT by, best, round(max(2.0 * correct / (found + (SELECT count(*) FROM same WHERE id1 % 2 = 1))), 3) AS f
FROM (SELECT by, best, count(*) OVER w AS found, sum(same::int) OVER w AS correct
      FROM (SELECT *, rank() OVER (PARTITION BY by, a ORDER BY score DESC) = 1 AND rank() OVER (PARTITION BY by, b ORDER BY score DESC) = 1 AS reciprocal
            FROM scored) s, unnest('{all,reciprocal}'::text[]) best
      WHERE best = 'all' OR reciprocal WINDOW w AS (PARTITION BY by, best ORDER BY score DESC)) c
GROUP BY by, best ORDER BY by, best;

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
