--
-- test/bench/library.sql
--		Libraries: signatures rebuilt with new statistics, and their size each time;
--		the check of a document among all, and among a tenth.
--
-- Portions Copyright (c) 2026, the neardup developers
--
\pset footer off
SET client_min_messages = warning;
CREATE EXTENSION neardup_library;
CREATE TABLE remade (library text, run int, rows bigint, cpu float8, kb bigint);
CREATE TABLE checked (library text, documents bigint, checks int, found float8, cpu float8, clock float8);

-- The descriptions whose number a divisor has, as documents of a library
CREATE PROCEDURE fill(library text, divisor int) LANGUAGE plpgsql AS $$
DECLARE
  number int := library_id(library);
BEGIN
  TRUNCATE library_document, library_change;
  INSERT INTO library_document (library_id, address, body)
  SELECT number, id || release, body FROM docs WHERE id % divisor = 0;
  INSERT INTO library_change (library_id, documents, words, come)
  SELECT number, count(*), (lexicon_describe(lexicon_agg(body, analysis))).length,
         CASE method WHEN 'top_words' THEN lexicon_agg(body, analysis) END
  FROM docs, library l WHERE l.id = number AND docs.id % divisor = 0 GROUP BY method, analysis;
END $$;

CREATE PROCEDURE remake(library text, runs int) LANGUAGE plpgsql AS $$
DECLARE
  signatures regclass;
  cpu_before float8;
  n bigint;
BEGIN
  FOR run IN 1 .. runs LOOP
    cpu_before := cpu();
    n := library_remake(library);
    signatures := 'library_signature_' || library_id(library);
    INSERT INTO remade VALUES (library, run, n, cpu() - cpu_before, pg_total_relation_size(signatures) / 1024);
    COMMIT;
  END LOOP;
END $$;

-- The first 20 are not counted
CREATE PROCEDURE check_some(library text) LANGUAGE plpgsql AS $$
DECLARE
  document text;
  n int := -20;
  found bigint;
  cpu_before float8;
  before timestamptz;
BEGIN
  FOR document IN SELECT body FROM docs WHERE id % 1700 = 10 LOOP
    IF n = 0 THEN
      found := 0;
      cpu_before := cpu();
      before := clock_timestamp();
    END IF;
    found := found + (SELECT count(*) FROM library_check(document, library));
    n := n + 1;
  END LOOP;
  INSERT INTO checked
  VALUES (library, (SELECT count(*) FROM library_document), n, found::float8 / n, (cpu() - cpu_before) / n,
          extract(epoch FROM clock_timestamp() - before) / n);
END $$;

DO $$
BEGIN
  PERFORM library_create('tenth'), library_create('shingles'), library_create('top words', '', 'top_words'),
          library_create('top words, English', '', 'top_words', 'english stop');
END $$;
SELECT format('CALL fill(%L, %s)', name, CASE name WHEN 'tenth' THEN 10 ELSE 1 END),
       'VACUUM ANALYZE library_document',
       format('CALL remake(%L, %s)', name, :runs),
       format('CALL check_some(%L)', name)
FROM library ORDER BY id \gexec

SELECT library, max(rows) AS rows, round(percentile_cont(0.5) WITHIN GROUP (ORDER BY cpu)::numeric, 2) AS s,
       round(max(rows) / percentile_cont(0.5) WITHIN GROUP (ORDER BY cpu)) AS "rows/s (100000)",
       min(kb) AS "kB at least", max(kb) AS "kB at most"
FROM remade GROUP BY library ORDER BY 1;
SELECT library, documents, checks, round(found::numeric, 1) AS "found each", round(cpu::numeric * 1000, 2) AS "ms (2)",
       round(clock::numeric * 1000, 2) AS "ms by the clock"
FROM checked ORDER BY documents, library;
DROP TABLE remade, checked;
DROP PROCEDURE fill, remake, check_some;
DROP EXTENSION neardup_library;
