--
-- test/bench/thresholds.sql
--		Recall and precision by threshold on one half of the essays, and of the
--		threshold chosen there on the other half: the last table of
--		doc/methods_measured.md, and its picture by test/bench/pictures.
--
-- Portions Copyright (c) 2026, the neardup developers
--
SET client_min_messages = warning;
\pset footer off

CREATE SCHEMA labelled;
CREATE TABLE labelled.essays (id int PRIMARY KEY, body text);
CREATE TABLE labelled.truth (id1 int, id2 int, label int, jaccard float8, kind text);
\copy labelled.essays FROM PROGRAM 'xz -dc "$DATA/ua_gec/docs.tsv.xz"'
\copy labelled.truth FROM PROGRAM 'xz -dc "$DATA/ua_gec/pairs.tsv.xz"'

-- Versions of one essay stay in one half together
CREATE TABLE labelled.halves AS
SELECT essays.id, body, hashint8(coalesce(group_id, -essays.id)) % 2 = 0 AS first
FROM labelled.essays
LEFT JOIN near_duplicate_groups_of_pairs('SELECT id1, id2 FROM labelled.truth', 'connected') groups
  ON groups.id = essays.id;

\timing on
CREATE TABLE labelled.sweep AS
SELECT * FROM evaluate_thresholds('SELECT id, body FROM labelled.halves WHERE first',
  'SELECT id1, id2 FROM labelled.truth',
  ARRAY['shingles(body, ''ukrainian'')', 'shingles(body, ''ukrainian k=1'')', 'minhash(body, analysis => ''ukrainian'')']);
\timing off

\pset format unaligned
\pset tuples_only on
\echo 'Recall and precision by threshold: shingles, words, min-hash'
SELECT concat_ws(' | ', '| ' || threshold,
         string_agg(round(recall::numeric, 3) || ' | ' || round("precision"::numeric, 3), ' | '
                    ORDER BY array_position(ARRAY['shingles(body, ''ukrainian'')', 'shingles(body, ''ukrainian k=1'')', 'minhash(body, analysis => ''ukrainian'')'], method))) || ' |'
FROM labelled.sweep GROUP BY threshold ORDER BY threshold;
\pset tuples_only off
\pset format aligned

\echo 'At most one wrong in twenty found, and the same on the other half'
WITH chosen AS (
    SELECT DISTINCT ON (method) * FROM labelled.sweep
    WHERE wrong <= 0.05 * found ORDER BY method, recall DESC, "precision" DESC)
SELECT c.method, c.threshold, round(c.recall::numeric, 3) AS recall_then, round(e.recall::numeric, 3) AS recall,
       round(c."precision"::numeric, 3) AS precision_then, round(e."precision"::numeric, 3) AS precision
FROM chosen c, evaluate_methods('SELECT id, body FROM labelled.halves WHERE NOT first',
  'SELECT id1, id2 FROM labelled.truth', ARRAY[c.method], ARRAY[c.threshold], measures => '{similarity}') e
ORDER BY c.method;
