--
-- Mode skip beside ON CONFLICT, MERGE and DISCARD: no text is lost
--

CREATE FUNCTION f(a int, b int) RETURNS signature LANGUAGE sql IMMUTABLE
RETURN signature_from(array(SELECT generate_series(a::bigint, b)));
CREATE TABLE docs (id int PRIMARY KEY, code text, a int, b int,
    sig signature GENERATED ALWAYS AS (f(a, b)) STORED);
CREATE INDEX docs_sig ON docs USING gin (sig) WITH (fastupdate = off);
CREATE TRIGGER guard BEFORE INSERT ON docs FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.8', 'skip');
INSERT INTO docs VALUES (1, 'x', 1, 20), (2, 'y', 101, 120), (3, NULL, 201, 220);

-- A row that conflicts is the row itself: its edited text is stored
INSERT INTO docs VALUES (1, 'x', 2, 21) ON CONFLICT (id) DO UPDATE SET (a, b) = (excluded.a, excluded.b) RETURNING id, a;
INSERT INTO docs VALUES (1, 'x', 3, 22) ON CONFLICT (id) DO NOTHING RETURNING id;
SELECT count(*) FROM neardup_guard_skipped();
INSERT INTO docs VALUES (1, 'x', 3, 22);
-- near to another row: skipped
INSERT INTO docs VALUES (1, 'x', 102, 121) ON CONFLICT (id) DO UPDATE SET (a, b) = (excluded.a, excluded.b) RETURNING id;
SELECT row_key, near_key FROM neardup_guard_skipped();
-- several rows in one statement, of which one is new
INSERT INTO docs SELECT i, 'm' || i, i * 100 - 98, i * 100 - 79 FROM generate_series(1, 4) i
ON CONFLICT (id) DO UPDATE SET a = excluded.a RETURNING id, a;

-- Unique indexes of other columns, of expressions, over some rows, with nulls
INSERT INTO docs VALUES (11, 'x', 2, 21) RETURNING id;
CREATE UNIQUE INDEX docs_code ON docs (lower(code));
INSERT INTO docs VALUES (11, 'X', 2, 21) ON CONFLICT (lower(code)) DO UPDATE SET b = docs.b + 1 RETURNING id, b;
INSERT INTO docs VALUES (13, NULL, 202, 221) RETURNING id;
DROP INDEX docs_code;
CREATE UNIQUE INDEX docs_code ON docs (code) NULLS NOT DISTINCT WHERE a > 100;
INSERT INTO docs VALUES (13, NULL, 202, 221) ON CONFLICT (code) WHERE a > 100 DO UPDATE SET b = docs.b + 1 RETURNING id, b;
INSERT INTO docs VALUES (14, 'x', 2, 21) RETURNING id;
DROP INDEX docs_code;
-- over a generated column, which has no value in a BEFORE trigger
ALTER TABLE docs ADD span int GENERATED ALWAYS AS (b - a) STORED;
CREATE UNIQUE INDEX docs_span ON docs (id, span) WHERE span < 100;
ALTER TABLE docs DROP CONSTRAINT docs_pkey;
INSERT INTO docs VALUES (2, 'y', 103, 122) RETURNING id;
UPDATE docs SET b = a + 19;
INSERT INTO docs VALUES (2, 'y', 103, 122) ON CONFLICT (id, span) WHERE span < 100 DO UPDATE SET a = excluded.a, b = excluded.b RETURNING id, a;
DROP INDEX docs_span;
ALTER TABLE docs ADD PRIMARY KEY (id);
-- modes warn and tag do not take the row itself for another one
DROP TRIGGER guard ON docs;
ALTER TABLE docs ADD twin int;
CREATE TRIGGER warn BEFORE INSERT ON docs FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.8', 'warn');
CREATE TRIGGER tag BEFORE INSERT ON docs FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.8', 'tag', 'twin');
INSERT INTO docs (id, a, b) VALUES (2, 104, 123) ON CONFLICT (id) DO UPDATE SET a = excluded.a, b = excluded.b, twin = excluded.twin RETURNING id, a, twin;
\set VERBOSITY terse
INSERT INTO docs (id, a, b) VALUES (20, 104, 123) RETURNING id, twin;
DROP TRIGGER warn ON docs;
DROP TRIGGER tag ON docs;
TRUNCATE docs;

-- MERGE that deletes or edits the near row in the same statement: by the order of its
-- rows, the new row is stored or skipped
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON docs FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.8', 'skip');
CREATE FUNCTION merged(source text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  rows text;
BEGIN
  TRUNCATE docs;
  INSERT INTO docs (id, a, b) VALUES (1, 1, 20);
  EXECUTE format('MERGE INTO docs USING (VALUES %s) s (id, a) ON docs.id = s.id
    WHEN MATCHED AND s.a IS NULL THEN DELETE
    WHEN MATCHED THEN UPDATE SET a = s.a, b = s.a + 19
    WHEN NOT MATCHED THEN INSERT (id, a, b) VALUES (s.id, s.a, s.a + 19)', source);
  SELECT string_agg(id || ':' || a, ' ' ORDER BY id) INTO rows FROM docs;
  RETURN coalesce(rows, 'nothing');
END $$;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SELECT merged('(1, NULL), (2, 2)') AS deletes_first, merged('(2, 2), (1, NULL)') AS inserts_first,
       merged('(1, 501), (2, 2)') AS edits_first, merged('(2, 2), (1, 501)') AS edits_last;
-- the recipe: a text that is replaced keeps its row
SELECT merged('(1, 2), (2, 501)') AS updated;
RESET enable_hashjoin;
RESET enable_mergejoin;
DROP FUNCTION merged;

-- DISCARD ALL forgets skipped rows; other forms do not
TRUNCATE docs;
INSERT INTO docs (id, a, b) VALUES (1, 1, 20), (2, 2, 21);
SELECT row_key FROM neardup_guard_skipped();
DISCARD PLANS;
SELECT row_key FROM neardup_guard_skipped();
DISCARD ALL;
SELECT row_key FROM neardup_guard_skipped();
DROP TABLE docs;
DROP FUNCTION f;
