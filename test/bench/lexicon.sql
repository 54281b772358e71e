--
-- test/bench/lexicon.sql
--		Statistics of the corpus against ts_stat; signatures that use them, rebuilt;
--		one document against the collection.
--
-- Portions Copyright (c) 2026, the neardup developers
--
SET client_min_messages = warning;
\pset footer off

CREATE TABLE collection AS SELECT lexicon_agg(body) AS words FROM docs;
CREATE TABLE statements (name text, statement text);
INSERT INTO statements VALUES
  ('shingles', 'SELECT count(shingles(body)) FROM docs'),
  ('lexicon_agg', 'SELECT (lexicon_describe(lexicon_agg(body))).documents FROM docs'),
  ('tf-ridf', $$SELECT count(top_words(body, words, 6, 'tf-ridf'))
                FROM docs, collection$$),
  ('ts_stat', $$SELECT count(*) FROM ts_stat(
                'SELECT to_tsvector(''simple'', body) FROM docs')$$);
CREATE PROCEDURE measure_all(runs int) LANGUAGE plpgsql AS $$
DECLARE
  s record;
BEGIN
  FOR run IN 1 .. runs LOOP
    FOR s IN SELECT * FROM statements LOOP
      CALL measure(s.name, run, s.statement);
    END LOOP;
  END LOOP;
END $$;
CALL measure_all(:runs);

-- One document at a time: its signature, and documents with an equal one
CREATE TABLE signed AS
SELECT id, top_words(body, words, 6, 'tf-ridf') AS sig FROM docs, collection;
CREATE INDEX ON signed (sig);
ANALYZE signed;
CREATE PROCEDURE check_each() LANGUAGE plpgsql AS $$
DECLARE
  document text;
BEGIN
  FOR document IN SELECT body FROM docs WHERE id % 340 = 11 LOOP
    PERFORM count(*) FROM signed WHERE sig =
      (SELECT top_words(document, words, 6, 'tf-ridf') FROM collection);
  END LOOP;
END $$;
SELECT count(*) AS checked FROM docs WHERE id % 340 = 11 \gset
SELECT format('CALL measure(''check'', %s, ''CALL check_each()'')', run)
FROM generate_series(1, :runs) run \gexec

SELECT name, round(median_cpu(name)::numeric, 2) AS s
FROM statements ORDER BY median_cpu(name);
SELECT ratio, round(value::numeric, 2) AS value, wanted
FROM (VALUES
  ('speed of lexicon_agg to ts_stat',
   median_cpu('ts_stat') / median_cpu('lexicon_agg'), '5'),
  ('time of TF-RIDF signatures to sets of shingles',
   median_cpu('tf-ridf') / median_cpu('shingles'), 'at most 2'),
  ('check of one document, ms',
   median_cpu('check') / :checked * 1000, 'at most 1')) v (ratio, value, wanted);
