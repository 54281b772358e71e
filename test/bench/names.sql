--
-- test/bench/names.sql
--		Look-ups of short names with typing errors among a million: by shingles of
--		three characters, and by pg_trgm's trigrams, of words with blanks around them,
--		so a resemblance of 0.5 is stricter than its similarity of 0.5.
--
\pset footer off

-- Names of two to four words of the descriptions, each but once
CREATE TABLE words AS
SELECT row_number() OVER (ORDER BY md5(word)) AS n, word
FROM (SELECT word FROM docs, unnest(neardup_words(body)) word
      WHERE id % 10 = 0 AND length(word) BETWEEN 3 AND 12 GROUP BY word HAVING count(*) > 2) w;
SELECT count(*) AS words FROM words \gset
-- the number of a word, small ones more often
CREATE FUNCTION a_word(seed text, words int) RETURNS bigint LANGUAGE sql IMMUTABLE STRICT
RETURN 1 + floor(words * (abs(hashtextextended(seed, 0) % 1000000) / 1e6::float8) ^ 2)::bigint;
CREATE TABLE names AS
SELECT min(id) AS id, name
FROM (SELECT id, concat_ws(' ', a.word, b.word, CASE WHEN id % 3 > 0 THEN c.word END,
                           CASE WHEN id % 3 > 1 THEN d.word END) AS name
      FROM generate_series(1, 1000000) id
      JOIN words a ON a.n = a_word('a' || id, :words) JOIN words b ON b.n = a_word('b' || id, :words)
      JOIN words c ON c.n = a_word('c' || id, :words) JOIN words d ON d.n = a_word('d' || id, :words)) s
GROUP BY name ORDER BY 1;
ALTER TABLE names ADD sig signature GENERATED ALWAYS AS (shingles(name, 'unit=char k=3')) STORED;
VACUUM ANALYZE names;

-- Two letters are exchanged, and one is left out
CREATE TABLE asked AS
SELECT id, overlay(overlay(name PLACING reverse(substr(name, p, 2)) FROM p FOR 2)
                   PLACING '' FROM length(name) - 3 FOR 1) AS name
FROM (SELECT id, name, 2 + id % (length(name) - 6) AS p FROM names
      WHERE id % 5000 = 7 AND length(name) > 8) s;
SELECT count(*) AS names, round(avg(length(name)), 1) AS letters,
       round(avg(nfeatures(sig)), 1) AS shingles, (SELECT count(*) FROM asked) AS asked
FROM names;

-- Results of the search for each name: their number, and whether its own name is among them
CREATE TABLE answers (name text, run int, asked int, own bool, n int);
CREATE TABLE sizes (name text, mb float8);
CREATE PROCEDURE ask(name text, run int, question text) LANGUAGE plpgsql
SET enable_seqscan = off AS $$
DECLARE
  a record;
  before float8 := cpu();
BEGIN
  FOR a IN SELECT * FROM asked ORDER BY id LOOP
    EXECUTE format('INSERT INTO answers SELECT $1, $2, $3, bool_or(s.id = $3), count(*) FROM (%s) s', question)
    USING name, run, a.id, a.name;
  END LOOP;
  INSERT INTO taken VALUES (name, run, cpu() - before, NULL);
END $$;
CREATE PROCEDURE build(name text, method text) LANGUAGE plpgsql AS $$
BEGIN
  CALL measure('build ' || name, 1, format('CREATE INDEX names_index ON names USING %s', method));
  INSERT INTO sizes VALUES (name, pg_relation_size('names_index') / 1e6);
END $$;
CREATE EXTENSION pg_trgm;
SET pg_trgm.similarity_threshold = 0.5;
\set near 'SELECT id FROM names WHERE near_duplicate(sig, shingles($4, ''unit=char k=3''), 0.5)'
\set farther 'SELECT id FROM names WHERE near_duplicate(sig, shingles($4, ''unit=char k=3''), 0.4)'
\set nearest 'SELECT id FROM names ORDER BY sig <-> shingles($4, ''unit=char k=3'') LIMIT 10'
\set trigrams 'SELECT id FROM names WHERE name % $4'
\set nearest_trigrams 'SELECT id FROM names ORDER BY name <-> $4 LIMIT 10'

CALL build('neardup', 'neardup (sig)');
SELECT format('CALL ask(%L, %s, %L)', 'neardup', run, :'near') FROM generate_series(1, :runs) run \gexec
SELECT format('CALL ask(%L, %s, %L)', 'neardup at 0.4', run, :'farther') FROM generate_series(1, :runs) run \gexec
SELECT format('CALL ask(%L, %s, %L)', 'neardup, ten nearest', run, :'nearest') FROM generate_series(1, :runs) run \gexec
DROP INDEX names_index;
CALL build('gin', 'gin (sig signature_gin_ops (threshold = 0.5)) WITH (fastupdate = off)');
SELECT format('CALL ask(%L, %s, %L)', 'gin', run, :'near') FROM generate_series(1, :runs) run \gexec
DROP INDEX names_index;
CALL build('pg_trgm, GIN', 'gin (name gin_trgm_ops) WITH (fastupdate = off)');
SELECT format('CALL ask(%L, %s, %L)', 'pg_trgm, GIN', run, :'trigrams') FROM generate_series(1, :runs) run \gexec
DROP INDEX names_index;
CALL build('pg_trgm, GiST, ten nearest', 'gist (name gist_trgm_ops)');
CALL ask('pg_trgm, GiST, ten nearest', 1, :'nearest_trigrams');

SELECT a.name, round((median_cpu(a.name) / count(*) FILTER (WHERE run = 1) * 1000)::numeric, 2) AS "ms each",
       round(avg(n), 1) AS "found each", round(100 * avg(coalesce(own, false)::int), 1) AS "own found, %",
       round(max(median_cpu('build ' || s.name))::numeric, 1) AS "build s", round(max(mb)) AS "MB"
FROM answers a LEFT JOIN sizes s USING (name) GROUP BY a.name ORDER BY 2;
