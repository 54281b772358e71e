--
-- What EXPLAIN shows of long signatures
--
CREATE TABLE docs (id int PRIMARY KEY, sig signature);
INSERT INTO docs SELECT i, signature_from(array(SELECT i * 1000 + g FROM generate_series(1, 30) g)) FROM generate_series(1, 50) i;
CREATE INDEX docs_sig ON docs USING gin (sig) WITH (fastupdate = off);
ANALYZE docs;
SELECT sig AS long FROM docs WHERE id = 7 \gset
-- what EXPLAIN ANALYZE shows, as every version of the server tells it
CREATE FUNCTION analyzed(query text) RETURNS SETOF text LANGUAGE plpgsql AS
$$
DECLARE
  line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF) ' || query LOOP
    CONTINUE WHEN line ~ 'Index Searches:';
    RETURN NEXT replace(line, '.00 loops', ' loops');
  END LOOP;
END
$$;
-- in filters, index conditions, output and joins; short ones are shown as they are
EXPLAIN (COSTS OFF) SELECT id FROM docs WHERE near_duplicate(sig, :'long', 0.3);
EXPLAIN (COSTS OFF) SELECT id FROM docs WHERE near_duplicate(sig, 'features{0000000000000001,0000000000000002}', 0.3);
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT id FROM docs WHERE near_duplicate(sig, :'long', 0.9);
SELECT analyzed(format('SELECT id FROM docs WHERE near_duplicate(sig, %1$L, 0.9)', :'long'));
EXPLAIN (COSTS OFF, VERBOSE) SELECT id, similarity(sig, :'long') FROM docs WHERE id < 3 LIMIT 1;
SET neardup.enable_join = off;
EXPLAIN (COSTS OFF) SELECT a.id, b.id FROM docs a, docs b
WHERE near_duplicate(a.sig, b.sig, 0.9) AND near_duplicate(a.sig, :'long', 0.9) AND a.id <> b.id AND similarity(b.sig, :'long') > 0.5;
RESET neardup.enable_join;
RESET enable_seqscan;
EXPLAIN (COSTS OFF) SELECT a.id, b.id FROM docs a JOIN docs b
ON near_duplicate(a.sig, b.sig, 0.9) AND similarity(a.sig, :'long') > similarity(b.sig, :'long');
-- A plan that is kept is run with the whole of it, before and after.
SET enable_seqscan = off;
PREPARE near AS SELECT id, sig = :'long' AS same FROM docs WHERE near_duplicate(sig, :'long', 0.9);
EXECUTE near;
EXPLAIN (COSTS OFF) EXECUTE near;
SELECT analyzed('EXECUTE near');
EXECUTE near;
-- What is explained and run has it, too.
CREATE TABLE copied (sig signature);
SELECT analyzed(format('INSERT INTO copied SELECT %1$L FROM docs WHERE near_duplicate(sig, %1$L, 0.9)', :'long'));
SELECT sig = :'long' AS same FROM copied;

-- Whether an index serves, and why not; what the planner does is the truth of it
CREATE INDEX docs_plain ON docs (id);
CREATE INDEX docs_part ON docs USING gin (sig) WHERE id < 10;
CREATE INDEX docs_all ON docs USING gin (sig signature_gin_ops (measure = containment));
SELECT neardup_explain_index('docs_sig', 0.8), neardup_explain_index('docs_plain', 0.8),
       neardup_explain_index('docs_part', 0.8);
SELECT neardup_explain_index('docs', 0.8);
CREATE TEMP TABLE bare (sig signature);
SELECT neardup_explain_index('bare', 0.8);
SELECT neardup_explain_index('docs_sig', 8);
SELECT neardup_explain_index('docs_sig', 0.8, 'euclid');
SELECT measure, t, neardup_explain_index('docs_sig', t, measure),
       neardup_explain_index('docs_all', t, measure) AS docs_all
FROM unnest('{jaccard,similarity,dice,cosine,containment,contains,overlap}'::text[]) measure,
     unnest('{0.5,0.8,0.9}'::float8[]) t ORDER BY measure, t;
DROP INDEX docs_part, docs_all;
CREATE FUNCTION is_looked_up(t float8, measure text) RETURNS boolean LANGUAGE plpgsql AS
$$
DECLARE
  plan json;
BEGIN
  EXECUTE format('EXPLAIN (FORMAT JSON) SELECT FROM docs WHERE near_duplicate(sig, (SELECT sig FROM docs WHERE id = 7), %s, %L)', t, measure) INTO plan;
  RETURN plan::text ~ 'docs_sig';
END
$$;
SELECT count(*) AS asked, count(*) FILTER (WHERE is_looked_up(t, measure)) AS looked_up,
       count(*) FILTER (WHERE is_looked_up(t, measure) <> (neardup_explain_index('docs_sig', t, measure) = 'yes')) AS wrong
FROM unnest('{jaccard,similarity,dice,cosine,containment,contains,overlap}'::text[]) measure,
     (SELECT i / 100.0 AS t FROM generate_series(70, 100) i) s;
DROP FUNCTION analyzed, is_looked_up;
DROP TABLE docs, copied;
