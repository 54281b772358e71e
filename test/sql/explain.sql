--
-- neardup_explain_index(): whether an index serves a condition
--
CREATE TABLE docs (id int PRIMARY KEY, sig signature);
INSERT INTO docs SELECT i, signature_from(array(SELECT i * 1000 + g FROM generate_series(1, 30) g)) FROM generate_series(1, 50) i;
CREATE INDEX docs_sig ON docs USING gin (sig) WITH (fastupdate = off);
ANALYZE docs;
-- Whether an index serves, and why not, compared with the planner's choice
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
FROM unnest('{jaccard,similarity,dice,cosine,containment,contains,overlap_coefficient}'::text[]) measure,
     unnest('{0.5,0.8,0.9}'::float8[]) t ORDER BY measure, t;
DROP INDEX docs_part, docs_all;
\getenv abs_srcdir PG_ABS_SRCDIR
\set file :abs_srcdir '/sql/shared/set_measures.sql'
\i :file
SET enable_seqscan = off;
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
FROM (SELECT measure FROM set_measures UNION VALUES ('similarity')) m,
     (SELECT i / 100.0 AS t FROM generate_series(70, 100) i) s;
RESET enable_seqscan;
DROP FUNCTION is_looked_up;
DROP TABLE docs;
