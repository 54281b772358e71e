--
-- test/bench/guard_statement.sql
--		Load of 200,000 rows, one in twenty of them a near-duplicate, into a table
--		of 340,000: guarded row by row, and by statement.
--
\pset footer off

-- Descriptions of which no two are near, and copies with all words changed: enough for
-- both, and one changed word makes a near-duplicate
CREATE TABLE distinct_docs AS
SELECT row_number() OVER (ORDER BY md5(body)) AS n, body FROM docs
WHERE id IN (SELECT id FROM near_duplicate_groups('SELECT id, shingles(body) FROM docs', 0.6)
             WHERE id = representative);
CREATE TABLE many AS
SELECT row_number() OVER (ORDER BY v, n) AS id,
       CASE WHEN v = 0 THEN body ELSE regexp_replace(body, '\m(\w)', chr(96 + v) || '\1', 'g') END AS body
FROM distinct_docs, generate_series(0, 9) v
WHERE v * (SELECT count(*) FROM distinct_docs) + n <= 530000;
CREATE TABLE base AS SELECT * FROM many WHERE id <= 340000;
CREATE TABLE new AS
SELECT id, body FROM many WHERE id > 340000
UNION ALL
SELECT 600000 + id, body || ' again' FROM many
WHERE id % 10 = 0 AND length(body) > 300 AND id <= 340000
LIMIT 200000;
SELECT (SELECT count(*) FROM base) AS "rows there", (SELECT count(*) FROM new) AS "new rows";

CREATE PROCEDURE load(name text, run int, setup text[]) LANGUAGE plpgsql AS $$
DECLARE
  statement text;
BEGIN
  DROP TABLE IF EXISTS target;
  CREATE TABLE target (id int PRIMARY KEY, body text,
                       sig signature GENERATED ALWAYS AS (shingles(body)) STORED);
  INSERT INTO target SELECT * FROM base;
  FOREACH statement IN ARRAY setup LOOP
    EXECUTE statement;
  END LOOP;
  ANALYZE target;
  COMMIT; -- the stored rows are of another transaction
  CALL measure(name, run, 'INSERT INTO target SELECT * FROM new ORDER BY md5(body)');
END $$;

CREATE PROCEDURE load_all(runs int) LANGUAGE plpgsql AS $$
DECLARE
  gin text := 'CREATE INDEX target_sig ON target USING gin (sig) WITH (fastupdate = off)';
  neardup text := 'CREATE INDEX target_sig ON target USING neardup (sig)';
  each_row text := $q$CREATE TRIGGER guard AFTER INSERT ON target
    FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.8', 'warn')$q$;
  statement text := $q$CREATE TRIGGER guard AFTER INSERT ON target REFERENCING NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION neardup_guard('sig', '0.8', 'warn')$q$;
BEGIN
  SET LOCAL client_min_messages = error;
  FOR run IN 1 .. runs LOOP
    CALL load('no index, no guard', run, '{}');
    CALL load('no index, statement', run, ARRAY[statement]);
    CALL load('gin, each row', run, ARRAY[gin, each_row]);
    CALL load('neardup, statement', run, ARRAY[neardup, statement]);
    CALL load('neardup, each row', run, ARRAY[neardup, each_row]);
  END LOOP;
END $$;
SET client_min_messages = error;
CALL load_all(least(:runs, 3));

SELECT name, round(median_cpu(name)::numeric, 2) AS s,
       round(200000 / median_cpu(name)) AS "rows/s",
       round((median_cpu('gin, each row') / median_cpu(name))::numeric, 1) AS "times each row (5)"
FROM (SELECT name, min(ctid) FROM taken WHERE name ~ '(guard|statement|row)$' GROUP BY name) t
ORDER BY min;
DROP TABLE base, new, target, many, distinct_docs;
