--
-- Passages that a collection repeats
--
CREATE TABLE docs (id int PRIMARY KEY, body text);
INSERT INTO docs VALUES
  (1, 'Intro. All rights are reserved, and no part may be copied by anybody. One.'),
  (2, 'Two; all RIGHTS are reserved and no part may be copied by anybody'),
  (3, 'no part may be copied by anybody, all rights are reserved and no part may be copied by anybody: three'),
  (4, NULL), (5, ''), (6, 'short'),
  (7, 'say it say it say it say it say it say it');
SELECT r.*, substr(d.body, r.start, r.length) AS passage, left(substr(f.body, first_start), 12) AS first
FROM repeated_passages('SELECT id, body FROM docs', 6) r JOIN docs d USING (id) JOIN docs f ON f.id = first_id
ORDER BY r.id, start, r.length;
-- One copy of each stays
SELECT id, without_repeated(body, passages)
FROM docs LEFT JOIN (SELECT r.id, range_agg(int4range(start, start + length)) AS passages
                     FROM repeated_passages('SELECT id, body FROM docs', 6) r GROUP BY r.id) r USING (id)
ORDER BY id;
SELECT without_repeated('abc', '{[1,4)}') AS nothing, without_repeated('abc', '{[2,3)}') AS a, without_repeated('abc', '{[1,2), [100,200)}') AS b,
       without_repeated('abc', NULL) AS whole, without_repeated(NULL, '{[1,2)}') IS NULL AS no;
-- The order of the query says what is first; ids of any type; an analysis
SELECT r.id, r.first_id, words FROM repeated_passages('SELECT id, body FROM docs WHERE id < 3 ORDER BY id DESC', 6) r;
SELECT r.id, r.first_id, words FROM repeated_passages(NULL::text, 'SELECT ''no. '' || id, body FROM docs WHERE id < 3', 6) r;
SELECT r.start, r.first_start, words
FROM repeated_passages($$VALUES (1, 'The <b>cat</b> sleeps on mats'), (2, 'cats sleep on the <i>mat</i>')$$, 3, 'english html stop') r;
SELECT count(*) FROM repeated_passages('SELECT id, body FROM docs');
SELECT count(*) FROM repeated_passages(NULL);
SELECT count(*) FROM repeated_passages('SELECT id, body FROM docs WHERE false');
-- Mistakes
SELECT * FROM repeated_passages('docs');
SELECT * FROM repeated_passages('SELECT id FROM docs');
SELECT * FROM repeated_passages('SELECT body, id FROM docs');
SELECT * FROM repeated_passages('SELECT id, body FROM docs', 0);
SELECT * FROM repeated_passages('SELECT NULL::int, body FROM docs');
SELECT * FROM repeated_passages('DELETE FROM docs RETURNING id, body');
SELECT * FROM repeated_passages('SELECT id, body FROM docs', 5, 'klingon');

-- The definition, one window after the other.  Words are separated by one blank.
CREATE FUNCTION number(seed text, below int) RETURNS int
    LANGUAGE sql IMMUTABLE AS
$$ SELECT ('x' || substr(md5(seed), 1, 7))::bit(28)::int % below $$;
-- parts of a few sources, one after the other, and words that recur
CREATE TABLE collection AS
SELECT d AS id, string_agg(CASE WHEN number(d || ' own ' || i, 12) = 0 THEN 'o' || number(d || ' ' || i, 3)
                           ELSE 'w' || number('source ' || part || ' ' || i % 23, 5) END, ' ' ORDER BY i) AS body
FROM generate_series(1, 60) d, generate_series(0, 4 + number('length ' || d, 60)) i, LATERAL (SELECT number(d || ' part ' || i / 15, 4)) p (part)
GROUP BY d;
CREATE FUNCTION naive_passages(k int) RETURNS TABLE (id int, start int, words int, first_id int, first_start int)
    LANGUAGE sql AS
$$
WITH words AS (SELECT c.id, string_to_array(body, ' ') AS w FROM collection c),
windows AS (SELECT w.id, i, w[i:i + k - 1] AS win FROM words w, generate_series(1, cardinality(w) - k + 1) i),
firsts AS (SELECT DISTINCT ON (win) win, id, i FROM windows ORDER BY win, id, i),
repeats AS (SELECT w.id, w.i, f.id AS f_id, f.i AS f_i FROM windows w JOIN firsts f USING (win)
            WHERE f.id < w.id OR (f.id = w.id AND f.i + k <= w.i)),
runs AS (SELECT *, count(*) FILTER (WHERE begins) OVER (PARTITION BY id ORDER BY i) AS run
         FROM (SELECT *, (lag(i) OVER w, lag(f_id) OVER w, lag(f_i) OVER w) IS DISTINCT FROM (i - 1, f_id, f_i - 1) AS begins
               FROM repeats WINDOW w AS (PARTITION BY id ORDER BY i)) b)
SELECT id, min(i)::int, (count(*) + k - 1)::int, min(f_id), min(f_i)::int FROM runs GROUP BY id, run
$$;
CREATE FUNCTION word_at(doc text, place int) RETURNS int
    LANGUAGE sql IMMUTABLE AS
$$ SELECT cardinality(string_to_array(left(doc, place), ' ')) $$;
CREATE FUNCTION differ(k int, OUT rows bigint, OUT differ bigint)
    LANGUAGE sql AS
$$
WITH found AS (
    SELECT r.id, word_at(d.body, r.start) AS start, word_at(d.body, r.start + r.length - 1) - word_at(d.body, r.start) + 1 AS words, r.first_id,
           word_at(f.body, r.first_start) AS first_start, r.words AS said
    FROM repeated_passages('SELECT id, body FROM collection', k) r JOIN collection d USING (id) JOIN collection f ON f.id = r.first_id)
SELECT (SELECT count(*) FROM found),
       (SELECT count(*) FROM ((TABLE found EXCEPT ALL SELECT n.*, words FROM naive_passages(k) n) UNION ALL (SELECT n.*, words FROM naive_passages(k) n EXCEPT ALL TABLE found)) d)
$$;
SELECT k, d.* FROM unnest(ARRAY[1, 2, 3, 5, 8, 13, 40, 100]) k, differ(k) d;
-- What is left has no window twice, but for new ones at the seams; no word is lost: each that was cut is still there
WITH passages AS (SELECT r.id, range_agg(int4range(start, start + length)) AS passages FROM repeated_passages('SELECT id, body FROM collection', 8) r GROUP BY r.id),
rest AS (SELECT c.id, without_repeated(body, passages) AS body FROM collection c LEFT JOIN passages p USING (id))
SELECT (SELECT sum(cardinality(string_to_array(body, ' '))) FROM collection) AS words,
       (SELECT count(*) FROM rest, regexp_split_to_table(body, ' +') w WHERE w <> '') AS rest,
       (SELECT count(DISTINCT w) FROM collection, regexp_split_to_table(body, ' +') w)
       - (SELECT count(DISTINCT w) FROM rest, regexp_split_to_table(body, ' +') w WHERE w <> '') AS lost;

-- On disk, the same; within maintenance_work_mem; it can be cancelled
CREATE TABLE large AS
SELECT d AS id, string_agg('w' || number(d % 700 || ' ' || i, 100000), ' ' ORDER BY i) AS body FROM generate_series(1, 1400) d, generate_series(1, 100) i GROUP BY d;
CREATE TABLE in_memory AS SELECT * FROM repeated_passages('SELECT id, body FROM large', 20);
SET maintenance_work_mem = '1MB';
CREATE TABLE on_disk AS SELECT * FROM repeated_passages('SELECT id, body FROM large', 20);
RESET maintenance_work_mem;
SELECT count(*), count(*) FILTER (WHERE first_id = id - 700 AND words = 100 AND start = 1 AND first_start = 1) AS whole FROM on_disk;
SELECT count(*) FROM (TABLE in_memory EXCEPT ALL TABLE on_disk) d;
-- two levels of files
SET maintenance_work_mem = '1MB';
SELECT r.* FROM (SELECT string_agg('w' || i, ' ') AS body FROM generate_series(1, 400000) i) t,
     repeated_passages(format('SELECT n, %L FROM generate_series(1, 2) n', body)) r;
RESET maintenance_work_mem;
SET statement_timeout = '20ms';
SELECT count(*) FROM repeated_passages('SELECT id, body FROM large, generate_series(1, 50)', 20);
RESET statement_timeout;

DROP TABLE docs, collection, large, in_memory, on_disk;
DROP FUNCTION naive_passages, differ, number, word_at;
