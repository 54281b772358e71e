--
-- test/bench/guard.sql
--		Insertion of 20,000 rows without near-duplicates into a table of 100,000:
--		with and without the guard, by an index of GIN and one of access method
--		neardup.
--
\pset footer off

-- Documents without near-duplicates: the first of each set of shingles, unless an
-- earlier one is near
CREATE TEMP TABLE distinct_docs AS
SELECT DISTINCT ON (sig) id, sig
FROM (SELECT id, shingles(body) AS sig FROM docs) AS s ORDER BY sig, id;
CREATE INDEX distinct_docs_sig ON distinct_docs USING gin (sig);
VACUUM ANALYZE distinct_docs;
SET enable_seqscan = off;
CREATE TEMP TABLE fresh AS
SELECT id FROM distinct_docs AS a
WHERE NOT EXISTS (SELECT FROM distinct_docs AS b
                  WHERE near_duplicate(b.sig, a.sig, 0.8) AND b.id < a.id
                  OFFSET 0)
ORDER BY md5(id::text) LIMIT 20000;
-- and 100,000 others that are not near to any of these
CREATE TEMP TABLE near_fresh AS
SELECT DISTINCT b.sig FROM fresh JOIN distinct_docs AS a USING (id),
  LATERAL (SELECT sig FROM distinct_docs
           WHERE near_duplicate(sig, a.sig, 0.8) OFFSET 0) AS b;
RESET enable_seqscan;
ANALYZE near_fresh;
CREATE TABLE base AS
SELECT id, body FROM docs
WHERE shingles(body) NOT IN (SELECT sig FROM near_fresh)
ORDER BY md5(id::text) LIMIT 100000;
CREATE TABLE new AS
SELECT id, body FROM docs JOIN fresh USING (id) ORDER BY md5(id::text);
DROP TABLE distinct_docs, fresh, near_fresh;
SELECT (SELECT count(*) FROM base) AS "rows there",
       (SELECT count(*) FROM new) AS "new rows";

CREATE PROCEDURE insert_new(name text, run int, guard text[], singly boolean)
LANGUAGE plpgsql AS $$
DECLARE
  statement text;
  r record;
  before float8;
BEGIN
  DROP TABLE IF EXISTS target;
  CREATE TABLE target (id int PRIMARY KEY, body text,
                       sig signature GENERATED ALWAYS AS (shingles(body)) STORED);
  INSERT INTO target SELECT id, body FROM base;
  IF name LIKE 'neardup%' THEN
    CREATE INDEX target_sig ON target USING neardup (sig);
  ELSIF name <> 'no index' THEN
    CREATE INDEX target_sig ON target USING gin (sig) WITH (fastupdate = off);
  END IF;
  FOREACH statement IN ARRAY guard LOOP
    EXECUTE statement;
  END LOOP;
  ANALYZE target;
  COMMIT; -- the stored rows are of another transaction
  IF singly THEN
    before := cpu();
    FOR r IN SELECT * FROM new LOOP
      INSERT INTO target VALUES (r.id, r.body);
    END LOOP;
    INSERT INTO taken VALUES (name, run, cpu() - before, NULL);
  ELSE
    CALL measure(name, run, 'INSERT INTO target SELECT * FROM new');
  END IF;
END $$;

CREATE PROCEDURE insert_all(runs int) LANGUAGE plpgsql AS $$
DECLARE
  reject text := $q$CREATE CONSTRAINT TRIGGER no_near_duplicates
    AFTER INSERT OR UPDATE ON target
    FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.8')$q$;
  skip text := $q$CREATE TRIGGER skip_near_duplicates BEFORE INSERT ON target
    FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.8', 'skip')$q$;
BEGIN
  FOR run IN 1 .. runs LOOP
    CALL insert_new('no index', run, '{}', false);
    CALL insert_new('no guard', run, '{}', false);
    CALL insert_new('guard', run, ARRAY[reject], false);
    CALL insert_new('guard and skip', run, ARRAY[reject, skip], false);
    CALL insert_new('no guard, singly', run, '{}', true);
    CALL insert_new('guard, singly', run, ARRAY[reject], true);
    CALL insert_new('neardup: no guard', run, '{}', false);
    CALL insert_new('neardup: guard', run, ARRAY[reject], false);
    CALL insert_new('neardup: guard and skip', run, ARRAY[reject, skip], false);
    CALL insert_new('neardup: no guard, singly', run, '{}', true);
    CALL insert_new('neardup: guard, singly', run, ARRAY[reject], true);
  END LOOP;
END $$;
CALL insert_all(least(:runs, 3));

SELECT name, round(median_cpu(name)::numeric, 2) AS s,
       round(20000 / median_cpu(name)) AS "rows/s (8000 with guard)",
       round((median_cpu(name) / median_cpu(base))::numeric, 2)
         AS "to no guard (2)"
FROM (VALUES ('no index', 'no guard'),
             ('no guard', 'no guard'),
             ('guard', 'no guard'),
             ('guard and skip', 'no guard'),
             ('no guard, singly', 'no guard, singly'),
             ('guard, singly', 'no guard, singly'),
             ('neardup: no guard', 'neardup: no guard'),
             ('neardup: guard', 'neardup: no guard'),
             ('neardup: guard and skip', 'neardup: no guard'),
             ('neardup: no guard, singly', 'neardup: no guard, singly'),
             ('neardup: guard, singly', 'neardup: no guard, singly'))
  AS v (name, base);
SELECT count(*) AS "rows afterwards" FROM target;
DROP TABLE base, new, target;
