-- Cases of copying, in a planted corpus: COLLECTIONS=DIR psql -f test/bench/cases.sql
-- Each manner by each preset, over two seeds: precision, recall, granularity, plagdet; and how
-- many texts without copying have a case.  Single sentences of 60 to 150 characters, by least
-- length.  Then texts with ten sources each among 3,130: how
-- many of these find_sources() finds, with how many comparisons, and in which time.
CREATE EXTENSION IF NOT EXISTS neardup;
CREATE SCHEMA bench_cases;
SET search_path = bench_cases, public;
\i test/sql/shared/plagdet.sql
CREATE TABLE texts (pair int PRIMARY KEY, language text, manner text, a text, b text);
\copy texts FROM PROGRAM 'python3 test/oracle/planted.py --seed 2 texts'
\copy planted FROM PROGRAM 'python3 test/oracle/planted.py --seed 2 cases'
UPDATE texts SET pair = pair + 10000;
UPDATE planted SET pair = pair + 10000;
\copy texts FROM PROGRAM 'python3 test/oracle/planted.py --seed 1 texts'
\copy planted FROM PROGRAM 'python3 test/oracle/planted.py --seed 1 cases'

CREATE TABLE measured (preset text, language text, manner text, "precision" numeric, recall numeric, granularity numeric, plagdet numeric);
CREATE TABLE false_cases (preset text, texts bigint, have_a_case bigint);
SELECT format($f$
TRUNCATE found;
INSERT INTO found SELECT pair, c.* FROM texts, LATERAL (SELECT a_start, a_length, b_start, b_length FROM copied_cases(a, b, %1$L)) c;
INSERT INTO measured SELECT %1$L, language, manner, (plagdet(array_agg(pair))).* FROM texts WHERE manner <> 'none' GROUP BY GROUPING SETS ((language, manner), (manner));
INSERT INTO false_cases SELECT %1$L, count(*), count(*) FILTER (WHERE pair IN (SELECT pair FROM found)) FROM texts WHERE manner = 'none';
$f$, preset) FROM unnest(ARRAY['verbatim', 'edited', 'rewritten']) preset \gexec
SELECT * FROM measured WHERE language IS NULL OR (preset, manner) IN (('verbatim', 'verbatim'), ('edited', 'random'), ('edited', 'translated'), ('rewritten', 'summary'))
ORDER BY array_position(ARRAY['verbatim', 'random', 'translated', 'summary'], manner), preset, language NULLS FIRST;
TABLE false_cases;

SELECT format($f$
TRUNCATE found;
INSERT INTO found SELECT pair, c.* FROM texts, LATERAL (SELECT a_start, a_length, b_start, b_length FROM copied_cases(a, b, min_length => %1$s)) c WHERE manner <> 'summary';
SELECT %1$L AS min_length, count(*) AS sentences,
       count(*) FILTER (WHERE EXISTS (SELECT FROM found f WHERE f.pair = p.pair AND int4range(f.a_start, f.a_start + f.a_length) && int4range(p.a_start, p.a_start + p.a_length)
                                      AND int4range(f.b_start, f.b_start + f.b_length) && int4range(p.b_start, p.b_start + p.b_length))) AS found,
       (SELECT count(DISTINCT pair) FROM found JOIN texts USING (pair) WHERE manner = 'none') AS texts_without_copying,
       (SELECT plagdet FROM plagdet(ARRAY(SELECT pair FROM texts WHERE manner NOT IN ('none', 'summary')))) AS plagdet_of_all
FROM planted p JOIN texts USING (pair) WHERE manner <> 'summary' AND b_length <= 150;
$f$, min_length) FROM unnest('{150,100,60}'::int[]) min_length \gexec

CREATE TABLE sources (id int, language text, body text);
\copy sources FROM PROGRAM 'python3 test/oracle/planted.py others'
CREATE TABLE queries (no int, sources int[], doc text);
\copy queries FROM PROGRAM 'python3 test/oracle/planted.py many'
CREATE TABLE frequent AS SELECT frequent_shingles(shingle_lexicon_agg(body, 'k=2 order=sorted'), 20) AS pairs FROM sources;
ALTER TABLE sources ADD pairs signature;
UPDATE sources SET pairs = leave_out(shingles(body, 'k=2 order=sorted'), f.pairs) FROM frequent f;
CREATE INDEX ON sources USING neardup (pairs);
ALTER TABLE queries ADD pairs signature;
UPDATE queries SET pairs = leave_out(shingles(doc, 'k=2 order=sorted'), f.pairs) FROM frequent f;
VACUUM ANALYZE sources;
CREATE TABLE taken (candidates int, cpu float8);
CREATE TABLE cases (candidates int, no int, source_id text);
CREATE FUNCTION cpu() RETURNS float8 LANGUAGE sql VOLATILE
RETURN split_part(pg_read_file('/proc/self/schedstat'), ' ', 1)::float8 / 1e9;
SELECT format($f$
INSERT INTO taken VALUES (%1$s, cpu());
INSERT INTO cases SELECT %1$s, no, source_id FROM queries, find_sources(doc, pairs, 'SELECT id, pairs, body FROM sources', candidates => %1$s);
UPDATE taken SET cpu = cpu() - cpu WHERE candidates = %1$s;
$f$, candidates) FROM unnest(ARRAY[10, 30, 100]) candidates \gexec
-- Rows are compared up to the fifth behind the last one with a case.
CREATE TABLE ranks AS
SELECT q.no, n.id, n.rank FROM queries q,
     LATERAL (SELECT id, row_number() OVER () AS rank FROM (SELECT id FROM sources s ORDER BY s.pairs <=> q.pairs LIMIT 100) n) n;
SELECT candidates, round((SELECT count(DISTINCT (c.no, c.source_id)) FROM cases c JOIN queries q USING (no)
                          WHERE c.candidates = t.candidates AND c.source_id::int = ANY (q.sources))::numeric / 1000, 3) AS found,
       (SELECT round(avg(n), 1) FROM (SELECT least(t.candidates, 5 + max(coalesce(rank, 0))) AS n
                                      FROM queries q LEFT JOIN cases c ON c.no = q.no AND c.candidates = t.candidates
                                      LEFT JOIN ranks r ON r.no = q.no AND r.id::text = c.source_id GROUP BY q.no) n) AS comparisons,
       round((cpu * 10)::numeric, 1) AS milliseconds
FROM taken t ORDER BY candidates;
DROP SCHEMA bench_cases CASCADE;
