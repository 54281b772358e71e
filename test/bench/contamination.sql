-- Test questions in training texts: 1,000 of them planted among 100,000 texts, with one word
-- in twenty changed, and 1,000 that are nowhere.
-- COLLECTIONS=DIR psql -f test/bench/contamination.sql, in an empty database
\i test/bench/common.sql
\copy docs FROM PROGRAM 'xzcat "$COLLECTIONS/debdesc.tsv.xz"'
CREATE FUNCTION number(seed text, below int) RETURNS int
    LANGUAGE sql IMMUTABLE AS
$$ SELECT ('x' || substr(md5(seed), 1, 7))::bit(28)::int % below $$;

-- One text of a package; the training texts are of all others
CREATE TABLE originals AS
SELECT row_number() OVER (ORDER BY md5(package)) AS n, package, body
FROM (SELECT DISTINCT ON (package) package, body FROM docs ORDER BY package, length(body) DESC) d
WHERE cardinality(string_to_array(body, ' ')) >= 70;
CREATE TABLE questions AS
SELECT n::int AS id, array_to_string((string_to_array(body, ' '))[5:4 + 20 + number('length ' || n, 41)], ' ') AS body
FROM originals WHERE n <= 2000;
-- The first 1,000 are planted, each in the middle of another text
CREATE TABLE edited AS
SELECT id, string_agg(CASE WHEN number(id || ' ' || i, 20) = 0 THEN 'changed' || number(id || 'w' || i, 1000) ELSE word END, ' ' ORDER BY i) AS body
FROM questions, regexp_split_to_table(body, ' ') WITH ORDINALITY w (word, i) WHERE id <= 1000 GROUP BY id;
CREATE TABLE training AS
SELECT d.n::int AS id, CASE WHEN e.id IS NULL THEN d.body
                            ELSE left(d.body, 250) || ' ' || e.body || ' ' || substr(d.body, 251) END AS body
FROM (SELECT row_number() OVER (ORDER BY md5(id::text)) AS n, body FROM docs
      WHERE package NOT IN (SELECT package FROM originals WHERE n <= 2000)) d
LEFT JOIN edited e ON e.id = d.n
WHERE d.n <= 100000;
ALTER TABLE training ADD sig signature;
UPDATE training SET sig = shingles(body, 3);
ALTER TABLE questions ADD sig signature;
UPDATE questions SET sig = shingles(body, 3);
CALL measure('neardup', 1, 'CREATE INDEX training_sig ON training USING neardup (sig)');
VACUUM ANALYZE training;
VACUUM ANALYZE questions;
SELECT count(*) AS texts, round(avg(cardinality(string_to_array(body, ' ')))) AS "words each" FROM training;

CREATE TABLE leaks (question int, text int, share float8);
CALL measure('join', 1, 'INSERT INTO leaks SELECT q.id, t.id, containment(q.sig, t.sig)
  FROM questions q JOIN training t ON contained_in(q.sig, t.sig, 0.5)');
CREATE PROCEDURE look_up() LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
  q signature;
BEGIN
  FOR q IN SELECT sig FROM questions ORDER BY id LOOP
    PERFORM id FROM training WHERE contained_in(q, sig, 0.5);
  END LOOP;
END $$;
CALL measure('look-ups', 1, 'CALL look_up()');
-- A planted question is found if its text is; the others are in none, but packages copy from each other
SELECT round(count(DISTINCT question) FILTER (WHERE question = text) / 1000.0, 3) AS recall,
       count(DISTINCT question) FILTER (WHERE question > 1000) AS "others with a text",
       round(median_cpu('neardup')::numeric, 2) AS "index s", round(median_cpu('join')::numeric, 2) AS "join s",
       round((median_cpu('look-ups') / 2)::numeric, 3) AS "look-up ms"
FROM leaks;
-- ... so that these are right, too: half of their words are in runs of five
SELECT count(*) AS "others", count(*) FILTER (WHERE of_a < 0.5) AS "without half of their words"
FROM (SELECT DISTINCT ON (question) question, text FROM leaks WHERE question > 1000 ORDER BY question, share DESC, text) l
JOIN questions q ON q.id = question JOIN training t ON t.id = text, coverage(q.body, t.body, 5);
DROP INDEX training_sig;
CALL measure('gin', 1, 'CREATE INDEX training_sig ON training USING gin (sig signature_gin_ops (measure = containment)) WITH (fastupdate = off)');
SELECT round(median_cpu('gin')::numeric, 2) AS "GIN for containment s";
