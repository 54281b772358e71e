-- Cases of copying, in a planted corpus: COLLECTIONS=DIR psql -f test/bench/cases.sql
-- Each manner by each preset: precision, recall, granularity, plagdet.  Then sources among
-- 3,230: how often the true one is among the ten nearest, and the time.
CREATE EXTENSION IF NOT EXISTS neardup;
CREATE SCHEMA bench_cases;
SET search_path = bench_cases, public;
\i test/sql/shared/plagdet.sql
CREATE TABLE texts (pair int PRIMARY KEY, language text, manner text, a text, b text);
\copy texts FROM PROGRAM 'python3 test/oracle/planted.py texts'
\copy planted FROM PROGRAM 'python3 test/oracle/planted.py cases'

CREATE TABLE measured (preset text, language text, manner text, "precision" numeric, recall numeric, granularity numeric, plagdet numeric);
\timing on
INSERT INTO found SELECT pair, c.* FROM texts, LATERAL (SELECT a_start, a_length, b_start, b_length FROM copied_cases(a, b, 'verbatim')) c;
\timing off
INSERT INTO measured SELECT 'verbatim', language, manner, (plagdet(array_agg(pair))).* FROM texts GROUP BY GROUPING SETS ((language, manner), (manner));
TRUNCATE found;
\timing on
INSERT INTO found SELECT pair, c.* FROM texts, LATERAL (SELECT a_start, a_length, b_start, b_length FROM copied_cases(a, b, 'edited')) c;
\timing off
INSERT INTO measured SELECT 'edited', language, manner, (plagdet(array_agg(pair))).* FROM texts GROUP BY GROUPING SETS ((language, manner), (manner));
TRUNCATE found;
\timing on
INSERT INTO found SELECT pair, c.* FROM texts, LATERAL (SELECT a_start, a_length, b_start, b_length FROM copied_cases(a, b, 'rewritten')) c;
\timing off
INSERT INTO measured SELECT 'rewritten', language, manner, (plagdet(array_agg(pair))).* FROM texts GROUP BY GROUPING SETS ((language, manner), (manner));
SELECT * FROM measured WHERE language IS NULL OR (preset, manner) IN (('verbatim', 'verbatim'), ('edited', 'random'), ('edited', 'translated'), ('rewritten', 'summary'))
ORDER BY array_position(ARRAY['verbatim', 'random', 'translated', 'summary'], manner), preset, language NULLS FIRST;

CREATE TABLE sources AS SELECT pair::text AS id, b AS body FROM texts;
CREATE TABLE others (id int, language text, body text);
\copy others FROM PROGRAM 'python3 test/oracle/planted.py --others 2830 others'
INSERT INTO sources SELECT 'other ' || id, body FROM others;
CREATE TABLE frequent AS SELECT frequent_shingles(shingle_lexicon_agg(body, 'k=2 order=sorted'), 20) AS pairs FROM sources;
ALTER TABLE sources ADD pairs signature;
UPDATE sources SET pairs = leave_out(shingles(body, 'k=2 order=sorted'), f.pairs) FROM frequent f;
CREATE INDEX ON sources USING neardup (pairs);
VACUUM ANALYZE sources;
CREATE TABLE queries AS SELECT pair, manner, a, leave_out(shingles(a, 'k=2 order=sorted'), f.pairs) AS pairs FROM texts, frequent f;
SET enable_seqscan = off;
\timing on
CREATE TABLE nearest AS SELECT q.pair, manner, n.id FROM queries q, LATERAL (SELECT id FROM sources s ORDER BY s.pairs <=> q.pairs LIMIT 10) n;
CREATE TABLE cases AS SELECT q.pair, manner, c.* FROM queries q, LATERAL find_sources(a, q.pairs, 'SELECT id, pairs, body FROM sources') c;
\timing off
SELECT manner, count(DISTINCT pair) FILTER (WHERE id = pair::text)::numeric / count(DISTINCT pair) AS recall FROM nearest GROUP BY manner;
DROP SCHEMA bench_cases CASCADE;
