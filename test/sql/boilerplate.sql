--
-- Boilerplate: passages that occur in many documents
--

-- Documents of random words from few, with three phrases: one in every third
-- document, one in every fifth, whose first words are the last ones of the
-- first, one in every seventh
CREATE TABLE docs AS
SELECT n AS id,
       concat_ws(E' -\n',
         CASE WHEN n % 7 = 0 THEN 'Copyright, all rights reserved; no warranty of any kind!' END,
         (SELECT string_agg('w' || ('x' || substr(md5(n || '.' || i), 1, 4))::bit(16)::int % 40, ' ' ORDER BY i)
          FROM generate_series(1, 20) i),
         CASE WHEN n % 3 = 0 THEN '(This package contains <b>the</b> files' END,
         CASE WHEN n % 3 = 0 OR n % 5 = 0 THEN 'that are needed for its DOCUMENTATION' END,
         CASE WHEN n % 5 = 0 THEN 'and are of no use without the other one.' END,
         CASE WHEN n % 2 = 0 THEN 'end' || n END) AS body
FROM generate_series(1, 210) n;
CREATE TABLE statistics AS SELECT shingle_lexicon_agg(body, 'k=4') AS lexicon FROM docs;

-- In plain SQL: words, their runs of four, the documents of each; then
-- stretches of runs that are frequent
CREATE FUNCTION naive(at_least int) RETURNS TABLE (id int, passage text, words bigint, documents bigint)
LANGUAGE sql SET enable_nestloop = off AS $$
  WITH word AS (SELECT d.id, w, o FROM docs d, unnest(neardup_words(body)) WITH ORDINALITY AS u (w, o)),
  run AS (SELECT a.id, a.o, concat_ws(' ', a.w, b.w, c.w, d.w) AS run
          FROM word a JOIN word b ON b.id = a.id AND b.o = a.o + 1
          JOIN word c ON c.id = a.id AND c.o = a.o + 2 JOIN word d ON d.id = a.id AND d.o = a.o + 3),
  often AS (SELECT run, count(DISTINCT id) AS documents FROM run GROUP BY run HAVING count(DISTINCT id) >= at_least),
  stretch AS (SELECT r.id, r.o, documents, r.o - row_number() OVER (PARTITION BY r.id ORDER BY r.o) AS stretch
              FROM run r JOIN often USING (run)),
  whole AS (SELECT id, stretch, min(o) AS first, max(o) + 3 AS last, min(documents) AS documents
            FROM stretch GROUP BY id, stretch)
  SELECT s.id, (SELECT string_agg(w, ' ' ORDER BY o) FROM word w WHERE w.id = s.id AND o BETWEEN first AND last),
         last - first + 1, documents
  FROM whole s
$$;
CREATE FUNCTION found(at_least int) RETURNS TABLE (id int, passage text, words bigint, documents bigint)
LANGUAGE sql AS $$
  SELECT id, array_to_string(neardup_words(substr(body, start, length)), ' '), words, b.documents
  FROM docs, statistics, boilerplate(body, lexicon, at_least) b
$$;
SELECT at_least, count(*) FILTER (WHERE of = 'found') AS found, count(*) FILTER (WHERE of = 'naive') AS naive
FROM (VALUES (1), (2), (3), (10), (29), (30), (31), (42), (70), (71), (98), (99), (211)) v(at_least),
LATERAL (SELECT 'found' AS of FROM found(at_least) UNION ALL SELECT 'naive' FROM naive(at_least)) s
GROUP BY at_least ORDER BY at_least;
SELECT at_least, count(*)
FROM (VALUES (1), (2), (3), (10), (29), (30), (31), (42), (70), (71), (98), (99)) v(at_least),
LATERAL ((SELECT * FROM found(at_least) EXCEPT ALL SELECT * FROM naive(at_least))
         UNION ALL (SELECT * FROM naive(at_least) EXCEPT ALL SELECT * FROM found(at_least))) s
GROUP BY at_least;

-- A whole table: the number of documents with each passage
SELECT min(substr(body, start, length)) AS passage, words, count(*) AS here, max(b.documents) AS documents
FROM docs, statistics, boilerplate(body, lexicon, 20) b
GROUP BY text_hash(substr(body, start, length)), words ORDER BY here DESC, words, 1;

-- Text without boilerplate: the rest keeps its order, and no two words are joined
SELECT id, without_boilerplate(body, lexicon, 20) AS rest FROM docs, statistics WHERE id IN (1, 3, 5, 7, 105) ORDER BY id;
SELECT count(*) FROM docs, statistics
WHERE (SELECT count(*) FROM boilerplate(without_boilerplate(body, lexicon, 20), lexicon, 20)) > 0;
SELECT count(*) FROM docs, statistics, LATERAL (SELECT without_boilerplate(body, lexicon, 20) AS rest) r
WHERE cardinality(neardup_words(rest))
      <> cardinality(neardup_words(body))
         - (SELECT count(DISTINCT w) FROM boilerplate(body, lexicon, 20),
            -- count words by their numbers, as passages may overlap
            generate_series(cardinality(neardup_words(left(body, start - 1))) + 1,
                            cardinality(neardup_words(left(body, start - 1))) + words) w);

-- As sets, in one step
SELECT cardinality(frequent_shingles(lexicon, 20)::bigint[]), similarity(frequent_shingles(lexicon, 20), shingles('', 4))
FROM statistics;
SELECT count(*) FROM docs, statistics
WHERE cardinality(leave_out(shingles(body, 4), frequent_shingles(lexicon, 20))::bigint[])
      <> (SELECT count(*) FROM unnest(shingles(body, 4)::bigint[]) f
          WHERE NOT EXISTS (SELECT FROM lexicon_words(lexicon) w WHERE w.hash = f AND w.df >= 20));
-- of lexicons without rare shingles
SELECT count(*) FROM docs, statistics
WHERE without_boilerplate(body, lexicon, 20) <> without_boilerplate(body, lexicon_trim(lexicon, 1000, 20), 20);

-- Cut at the borders of words, in characters
SELECT start, length, words, b.documents, substr(doc, start, length)
FROM (VALUES ('«ёлка — e' || U&'\0301' || 'té, наш дом!»')) v(doc),
LATERAL (SELECT shingle_lexicon_agg(d, 'k=3') AS l FROM (VALUES ('Ёлка été наш дом'), ('елка Été наш')) x(d)) s,
boilerplate(doc, l, 2) b;
SELECT without_boilerplate('eins 我们这里有东西 zwei', shingle_lexicon_agg(d, 'k=2'), 1) FROM (VALUES ('我们这里')) x(d);
-- markup, stemming, order
SELECT substr(doc, start, length) FROM (VALUES ('<p>Dogs <i>and</i> cats, running!</p>')) v(doc),
LATERAL (SELECT shingle_lexicon_agg(d, 'english html k=3 order=sorted') AS l FROM (VALUES ('cat and dogs'), ('runs and cats')) x(d)) s,
boilerplate(doc, l, 1) b;
-- fewer words than in a run; no words; null
SELECT count(*) FROM statistics, boilerplate('two words', lexicon, 1);
SELECT without_boilerplate('two words', lexicon, 1), without_boilerplate('', lexicon, 1), without_boilerplate(NULL, lexicon) FROM statistics;

-- Errors
SELECT boilerplate('a', lexicon, 0) FROM statistics;
SELECT without_boilerplate('a', lexicon_agg('a b')) ;
SELECT frequent_shingles(shingle_lexicon_agg('a b', 'unit=char k=3'));
SELECT without_boilerplate('a', shingle_lexicon_agg('a b', 'unit=line k=1'));

-- Ads with one footer, 60 of them equal: copies are no boilerplate if the lexicon
-- is made from one document of each group
CREATE TABLE ads AS
SELECT n AS id,
       (SELECT string_agg('w' || ('x' || substr(md5(greatest(n, 60) || '.' || i), 1, 6))::bit(24)::int % 5000, ' ' ORDER BY i)
        FROM generate_series(1, 30) i)
       || ' Pick up in person only, no returns, no warranty, no refunds, call after six in the evening please.' AS body
FROM generate_series(1, 200) n;
CREATE FUNCTION duplicates(query text) RETURNS bigint LANGUAGE sql
RETURN (SELECT sum(size - 1) FROM near_duplicate_groups(query, 0.8) WHERE id = representative);
SELECT duplicates('SELECT id, shingles(body) FROM ads');
CREATE TABLE all_ads AS
SELECT lexicon_trim(shingle_lexicon_agg(body, 'k=8'), 1000000, min_df => 50) AS lexicon FROM ads;
CREATE TABLE one_of_each AS
SELECT lexicon_trim(shingle_lexicon_agg(body, 'k=8'), 1000000, min_df => 50) AS lexicon
FROM ads JOIN near_duplicate_groups('SELECT id, shingles(body) FROM ads', 0.8) g USING (id)
WHERE g.id = g.representative;
SELECT count(*), count(*) FILTER (WHERE rest ~ '[[:alpha:]]') AS with_words
FROM (SELECT without_boilerplate(body, lexicon, 50) AS rest FROM ads, all_ads) a;
SELECT count(*), count(*) FILTER (WHERE rest ~ '[[:alpha:]]') AS with_words
FROM (SELECT without_boilerplate(body, lexicon, 50) AS rest FROM ads, one_of_each) a;
SELECT duplicates('SELECT id, shingles(without_boilerplate(body, lexicon, 50)) FROM ads, one_of_each');
DROP FUNCTION duplicates;
DROP TABLE ads, all_ads, one_of_each;

DROP FUNCTION naive, found;
DROP TABLE docs, statistics;
