-- Cases of copying, in a planted corpus: COLLECTIONS=DIR psql -f test/bench/cases.sql
-- Each manner by each preset: precision, recall, granularity, plagdet.
CREATE EXTENSION IF NOT EXISTS neardup;
CREATE SCHEMA bench_cases;
SET search_path = bench_cases, public;
\i test/sql/shared/plagdet.sql
CREATE TABLE texts (pair int PRIMARY KEY, language text, manner text, a text, b text);
\copy texts FROM PROGRAM 'python3 test/oracle/planted.py texts'
\copy planted FROM PROGRAM 'python3 test/oracle/planted.py cases'

SELECT set_config('bench.' || preset, '', false) FROM unnest(ARRAY['verbatim', 'edited', 'rewritten']) preset \g /dev/null
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
