--
-- Cases of copying: passages that are close to each other in both texts
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set file :abs_srcdir '/sql/shared/plagdet.sql'
\i :file

-- The scores of the tests below, by hand: pair 1 is found exactly, 2 in two
-- halves, 3 by half, 4 by two that overlap, 5 and 6 in one text only, 7 not at all
INSERT INTO planted VALUES (1, 1, 100, 51, 100), (2, 1, 100, 51, 100), (3, 1, 100, 51, 100), (4, 1, 100, 51, 100),
                           (5, 1, 100, 51, 100), (6, 1, 100, 51, 100), (7, 1, 100, 51, 100);
INSERT INTO found VALUES (1, 1, 100, 51, 100), (2, 1, 50, 51, 50), (2, 51, 50, 101, 50), (3, 51, 50, 101, 50),
                         (4, 1, 80, 51, 80), (4, 21, 80, 71, 80), (5, 1, 100, 151, 100), (6, 101, 100, 51, 100);
SELECT pairs, p.* FROM (VALUES ('{1}'::int[]), ('{2}'), ('{3}'), ('{4}'), ('{5}'), ('{6}'), ('{7}'), ('{1,7}'), ('{1,5}'), ('{1,2}'), ('{1,3}')) t (pairs), plagdet(pairs) p;

-- A row
\set fox 'Of its own it has this. The bridge was built in 1894 by the engineer Anna Holm. It carried two railway tracks over the river until the great flood of 1926 took its middle pier away, and nobody was hurt. That was all, it says.'
\set edited 'Two railway tracks were carried by it over the river, until in 1926 the great flood took the middle pier. By Anna Holm, an engineer, the bridge was built in 1894! Nobody knows more of these words, which stand elsewhere.'
SELECT substr(:'fox', a_start, a_length) AS a, substr(:'edited', b_start, b_length) AS b, round(similarity::numeric, 3) AS similarity, round(coverage::numeric, 3) AS coverage
FROM copied_cases(:'fox', :'edited') \gx
-- Sentences in another order are one case; layout and upper case do not matter
SELECT preset, c.* FROM unnest(ARRAY['verbatim', 'edited', 'rewritten', 'EDITED']) preset, copied_cases(:'fox', upper(:'fox') || E'\n\n' || 'more', preset) c;
SELECT min_length, count(c) FROM unnest(ARRAY[0, 100, 150, 200, 2147483647]) min_length, copied_cases(:'fox', :'edited', min_length => min_length) c GROUP BY 1 ORDER BY 1;
SELECT min_share, count(c) FROM unnest(ARRAY[0, 0.5, 0.75, 1]) min_share, copied_cases(:'fox', :'edited', min_share => min_share) c GROUP BY 1 ORDER BY 1;
-- Stems, markup
SELECT count(*) FROM copied_cases('Cats were jumping over fences, while some dogs sleeping deeply', 'a cat jumps over the fence while a dog sleeps', min_length => 0);
SELECT count(*) FROM copied_cases('Cats were jumping over fences, while some dogs sleeping deeply', 'a cat jumps over the fence while a dog sleeps', min_length => 0, analysis => 'english');
SELECT * FROM copied_cases('<p>alpha <b>beta</b> gamma delta</p>', 'alpha beta gamma delta', 'verbatim', 0, analysis => 'html');
-- No case
SELECT * FROM copied_cases('', :'fox');
SELECT * FROM copied_cases('', '');
SELECT * FROM copied_cases(NULL, 'a');
SELECT * FROM copied_cases(:'fox', 'Nothing of it');
-- Words that are frequent in one of the texts are left out
SELECT count(*) FROM copied_cases(repeat('the same line again and again ', 4), 'the same line again and again', 'verbatim', 0);
SELECT count(*) FROM copied_cases(repeat('the same line again and again ', 5), 'the same line again and again', 'verbatim', 0);
-- Mistakes
SELECT * FROM copied_cases('a', 'b', 'english');
SELECT * FROM copied_cases('a', 'b', min_length => -1);
SELECT * FROM copied_cases('a', 'b', min_share => 1.1);
SELECT * FROM copied_cases('a', 'b', min_share => 'NaN');

-- The definition in the manual, step by step, in quadratic time.  Words are
-- separated by one blank.
CREATE TYPE rules AS (reach int, near int, least int, often int, rarity int, gap int, far int, share float8, length int);
CREATE FUNCTION rules_of(name text) RETURNS rules
    LANGUAGE sql IMMUTABLE AS
$$
SELECT ROW(reach, near, least, often, rarity, gap, far, share, length)::rules
FROM (VALUES ('verbatim', 1, 4, 4, 4, 200, 10, 10, .2, 150), ('edited', 3, 20, 7, 2, 400, 50, 100, .3, 150),
             ('strict', 1, 4, 4, 4, 200, 10, 10, .9, 150), ('wide', 6, 12, 5, 4, 200, 60, 960, .2, 250),
             ('narrow', 6, 12, 5, 4, 200, 20, 320, .15, 400)) r (n, reach, near, least, often, rarity, gap, far, share, length)
WHERE n = name
$$;

-- For each match the number of its group: matches that are linked, directly or not
CREATE FUNCTION clusters_of(a_places int[], b_places int[], near int, far int) RETURNS int[]
    LANGUAGE plpgsql IMMUTABLE AS
$$
DECLARE
    labels int[] := array_fill(0, ARRAY[coalesce(cardinality(a_places), 0)]);
    linked int[];
    one int;
BEGIN
    FOR start IN 1..cardinality(labels) LOOP
        CONTINUE WHEN labels[start] > 0;
        linked := ARRAY[start];
        WHILE cardinality(linked) > 0 LOOP
            FOREACH one IN ARRAY linked LOOP
                labels[one] := start;
            END LOOP;
            linked := ARRAY(SELECT DISTINCT m.i::int
                            FROM unnest(a_places, b_places, labels) WITH ORDINALITY AS m (a, b, label, i), unnest(linked) AS l (i)
                            WHERE m.label = 0 AND least(abs(m.a - a_places[l.i]), abs(m.b - b_places[l.i])) <= near
                              AND greatest(abs(m.a - a_places[l.i]), abs(m.b - b_places[l.i])) <= far);
        END LOOP;
    END LOOP;
    RETURN labels;
END
$$;

CREATE FUNCTION naive_cases(a text, b text, rules)
    RETURNS TABLE (a1 int, a2 int, b1 int, b2 int, m int, length int)
    LANGUAGE plpgsql AS
$$
DECLARE
    m_a int[];
    m_b int[];
    labels int[];
BEGIN
    CREATE TEMP TABLE words ON COMMIT DROP AS
    SELECT side, i::int, word FROM (VALUES ('a', a), ('b', b)) t (side, doc), unnest(string_to_array(doc, ' ')) WITH ORDINALITY w (word, i);
    ALTER TABLE words ADD counts boolean, ADD x int;
    -- words of both that are frequent in neither
    UPDATE words w SET counts = (SELECT count(DISTINCT side) = 2 FROM words o WHERE o.word = w.word);
    UPDATE words w SET counts = false
    WHERE counts AND EXISTS (SELECT FROM words o WHERE o.word = w.word GROUP BY o.side
                             HAVING count(*) > greatest(4, (SELECT count(*) FROM words t WHERE t.side = o.side) / ($3).rarity));
    UPDATE words w SET x = n FROM (SELECT side, i, row_number() OVER (PARTITION BY side ORDER BY i) n FROM words WHERE counts) o
    WHERE (o.side, o.i) = (w.side, w.i);
    -- pairs that are frequent in neither
    CREATE TEMP TABLE word_pairs ON COMMIT DROP AS
    SELECT f.side, f.i, s.i AS j, ARRAY[least(f.word, s.word), greatest(f.word, s.word)] AS pair
    FROM words f JOIN words s ON f.side = s.side AND s.x BETWEEN f.x + 1 AND f.x + ($3).reach AND s.i - f.i <= ($3).near AND s.word <> f.word;
    DELETE FROM word_pairs WHERE pair IN (SELECT pair FROM word_pairs GROUP BY side, pair HAVING count(*) > ($3).often);
    -- matches
    SELECT array_agg(t.i ORDER BY t.i, t.j), array_agg(t.j ORDER BY t.i, t.j) INTO m_a, m_b
    FROM (SELECT DISTINCT x.i, y.i AS j
          FROM word_pairs p JOIN word_pairs q ON p.side = 'a' AND q.side = 'b' AND p.pair = q.pair
          JOIN words x ON x.side = 'a' AND x.i IN (p.i, p.j) JOIN words y ON y.side = 'b' AND y.i IN (q.i, q.j) AND x.word = y.word) t;
    -- passages
    labels := clusters_of(m_a, m_b, ($3).near, ($3).near);
    SELECT array_agg(p.i ORDER BY p.i, p.j), array_agg(p.j ORDER BY p.i, p.j) INTO m_a, m_b
    FROM unnest(m_a, m_b, labels) p (i, j, label)
    WHERE label IN (SELECT label FROM unnest(m_a, m_b, labels) q (i, j, label) GROUP BY label HAVING least(count(DISTINCT i), count(DISTINCT j)) >= ($3).least);
    -- adjacent words, as far as the texts agree
    WITH RECURSIVE ahead(i, j) AS (
        SELECT * FROM unnest(m_a, m_b)
        UNION SELECT x.i, y.i FROM ahead JOIN words x ON x.side = 'a' AND x.i = ahead.i + 1 JOIN words y ON y.side = 'b' AND y.i = ahead.j + 1 AND x.word = y.word),
    back(i, j) AS (
        SELECT * FROM unnest(m_a, m_b)
        UNION SELECT x.i, y.i FROM back JOIN words x ON x.side = 'a' AND x.i = back.i - 1 JOIN words y ON y.side = 'b' AND y.i = back.j - 1 AND x.word = y.word)
    SELECT array_agg(i ORDER BY i, j), array_agg(j ORDER BY i, j) INTO m_a, m_b FROM (TABLE ahead UNION TABLE back) m;
    -- cases
    labels := clusters_of(m_a, m_b, ($3).gap, ($3).far);
    RETURN QUERY SELECT min(i), max(i), min(j), max(j), least(count(DISTINCT i), count(DISTINCT j))::int,
                        least((SELECT length(string_agg(word, ' ')) FROM words w WHERE side = 'a' AND w.i BETWEEN min(c.i) AND max(c.i)),
                              (SELECT length(string_agg(word, ' ')) FROM words w WHERE side = 'b' AND w.i BETWEEN min(c.j) AND max(c.j)))::int
    FROM unnest(m_a, m_b, labels) c (i, j, label) GROUP BY label;
    DROP TABLE words, word_pairs;
END
$$;

-- The rules of a list of cases: as they are given, or adapted to the words of the shorter text
CREATE FUNCTION rules_for(name text, n int, min_length int, min_share float8) RETURNS rules
    LANGUAGE plpgsql IMMUTABLE AS
$$
DECLARE
    r rules := rules_of(name);
BEGIN
    r.share := CASE WHEN min_share IS NULL AND n < 180 THEN greatest(r.share, least(.7, .3 + (180 - n)::float8 / 400))
                    WHEN name = 'strict' THEN greatest(r.share, min_share) ELSE coalesce(min_share, r.share) END;
    r.length := coalesce(min_length, CASE WHEN n < 180 THEN r.length * n / 180 ELSE r.length END);
    RETURN r;
END
$$;

-- Texts of a few hundred words: parts of one in the other, edited
CREATE FUNCTION number(seed text, below int) RETURNS int
    LANGUAGE sql IMMUTABLE AS
$$ SELECT ('x' || substr(md5(seed), 1, 7))::bit(28)::int % below $$;
CREATE FUNCTION source(seed int, n int, kinds int) RETURNS text[]
    LANGUAGE sql IMMUTABLE AS
$$ SELECT array_agg('w' || number(seed || ' ' || i, kinds)) FROM generate_series(1, n) i $$;
CREATE FUNCTION copy_of(seed int, words text[], kinds int) RETURNS text[]
    LANGUAGE sql IMMUTABLE AS
$$
SELECT array_agg(CASE number(seed || ' kind ' || i, 10) WHEN 0 THEN 'x' || i WHEN 1 THEN 'w' || number(seed || ' other ' || i, kinds) ELSE word END
                 ORDER BY part, i + number(seed || ' moved ' || i, 4), i)
FROM unnest(words) WITH ORDINALITY w (word, i), LATERAL (SELECT number(seed || ' part ' || i / 40, 100)) p (part)
WHERE number(seed || ' left ' || i / 40, 2) = 0
$$;
-- Parts of a as they are, with other words between them; and one word in five, by tens, of a part of b
CREATE FUNCTION others(name text, n int) RETURNS text[]
    LANGUAGE sql IMMUTABLE AS
$$ SELECT array_agg(name || i) FROM generate_series(1, n) i $$;
CREATE TABLE pairs (no int GENERATED ALWAYS AS IDENTITY, what text, seed int, kinds int, n int, a text, b text);
INSERT INTO pairs (what, seed, kinds, n, a, b)
SELECT 'edited', seed, kinds, n,
       array_to_string(copy_of(seed, source(seed, n, kinds), kinds) || source(seed + 1000, n / 3, kinds * 2) || copy_of(seed + 1, source(seed, n, kinds), kinds), ' '),
       array_to_string(source(seed, n, kinds), ' ')
FROM generate_series(1, 2) seed, (VALUES (60, 90), (400, 180), (30, 50)) k (kinds, n)
UNION ALL
SELECT what, NULL, NULL, n, array_to_string(others('y', 20) || taken || others('z', 150), ' '), array_to_string(w, ' ')
FROM (VALUES ('copied', 200), ('summary', 400), ('summary', 1300)) k (what, n), source(5, n, 5000) w,
     LATERAL (SELECT array_agg(CASE WHEN what = 'copied' AND i % 40 >= 28 THEN 'x' || i ELSE word END ORDER BY i)
              FROM unnest(w) WITH ORDINALITY t (word, i)
              WHERE i BETWEEN 41 AND 280 AND (what = 'copied' OR i / 10 % 5 = 0)) t (taken)
ORDER BY 1, 2, 3, 4;
CREATE TABLE lists AS
SELECT no, name, c.* FROM pairs, unnest(ARRAY['verbatim', 'edited', 'wide', 'narrow']) name, naive_cases(a, b, rules_of(name)) c;
INSERT INTO lists SELECT no, 'strict', a1, a2, b1, b2, m, length FROM lists WHERE name = 'verbatim';

-- The cases of a list that are long enough, matched well enough and not within others
CREATE FUNCTION naive_list(pair int, name text, n int, min_length int, min_share float8)
    RETURNS TABLE (a1 int, a2 int, b1 int, b2 int, m int)
    LANGUAGE sql AS
$$
WITH good AS (
    SELECT l.a1, l.a2, l.b1, l.b2, l.m, l.length, r.length AS least
    FROM lists l, rules_for(name, n, min_length, min_share) r
    WHERE l.no = pair AND l.name = naive_list.name AND l.m::float8 / least(l.a2 - l.a1 + 1, l.b2 - l.b1 + 1) >= r.share)
SELECT a1, a2, b1, b2, m FROM good g
WHERE g.length >= g.least
  AND NOT EXISTS (SELECT FROM good o WHERE (o.a1, o.a2, o.b1, o.b2) <> (g.a1, g.a2, g.b1, g.b2)
                  AND g.a1 >= o.a1 AND g.a2 <= o.a2 AND g.b1 >= o.b1 AND g.b2 <= o.b2)
$$;

-- The cases of a preset, by its one or two lists
CREATE FUNCTION naive_preset(pair int, na int, nb int, preset text, min_length int, min_share float8)
    RETURNS TABLE (a1 int, a2 int, b1 int, b2 int, m int)
    LANGUAGE sql AS
$$
WITH first AS MATERIALIZED (
    SELECT row_number() OVER () AS no, c.*, c.a2 - c.a1 + 1 AS a_words, c.b2 - c.b1 + 1 AS b_words
    FROM naive_list(pair, CASE preset WHEN 'rewritten' THEN 'wide' ELSE preset END, least(na, nb), min_length, min_share) c),
second AS MATERIALIZED (
    SELECT c.* FROM naive_list(pair, CASE preset WHEN 'edited' THEN 'strict' ELSE 'narrow' END, least(na, nb), min_length, min_share) c
    WHERE preset <> 'verbatim'),
within AS (
    SELECT f.no, f.m AS whole, s.* FROM first f JOIN second s ON s.a1 >= f.a1 AND s.a2 <= f.a2 AND s.b1 >= f.b1 AND s.b2 <= f.b2),
replaced AS (
    SELECT no FROM within WHERE preset = 'edited' GROUP BY no, whole HAVING sum(m) >= .6 * whole),
taken AS (
    SELECT f.a1, f.a2, f.b1, f.b2, f.m FROM first f WHERE preset <> 'rewritten' AND no NOT IN (SELECT no FROM replaced)
    UNION SELECT w.a1, w.a2, w.b1, w.b2, w.m FROM within w JOIN replaced USING (no)
    UNION SELECT CASE WHEN to_a THEN 1 ELSE f.a1 END, CASE WHEN to_a THEN na ELSE f.a2 END,
                 CASE WHEN to_b THEN 1 ELSE f.b1 END, CASE WHEN to_b THEN nb ELSE f.b2 END, f.m
    FROM first f, LATERAL (SELECT f.a_words > f.b_words AND f.a_words * 5 >= na AS to_a, f.b_words > f.a_words AND f.b_words * 5 >= nb AS to_b) t
    WHERE preset = 'rewritten' AND greatest(f.a_words, f.b_words) >= 2 * least(f.a_words, f.b_words)
    UNION SELECT s.* FROM second s WHERE preset = 'rewritten')
SELECT t.a1, t.a2, t.b1, t.b2, max(t.m) FROM taken t
WHERE NOT EXISTS (SELECT FROM taken o WHERE (o.a1, o.a2, o.b1, o.b2) <> (t.a1, t.a2, t.b1, t.b2)
                  AND t.a1 >= o.a1 AND t.a2 <= o.a2 AND t.b1 >= o.b1 AND t.b2 <= o.b2)
GROUP BY 1, 2, 3, 4
$$;

CREATE FUNCTION word_at(doc text, place int) RETURNS int
    LANGUAGE sql IMMUTABLE AS
$$ SELECT cardinality(string_to_array(left(doc, place), ' ')) $$;
CREATE TABLE compared AS
SELECT no, what, n, preset, min_length, min_share, cardinality(found) AS cases, found, expected
FROM pairs, (VALUES ('verbatim', 0, 0.0), ('verbatim', NULL, NULL), ('edited', 0, 0.0), ('edited', 0, 0.7), ('edited', NULL, NULL),
                    ('rewritten', 0, 0.0), ('rewritten', NULL, NULL)) p (preset, min_length, min_share),
     LATERAL (SELECT ARRAY(SELECT (word_at(a, a_start), word_at(a, a_start + a_length - 1), word_at(b, b_start), word_at(b, b_start + b_length - 1),
                                   similarity::numeric(6, 4), coverage::numeric(6, 4))::text
                           FROM copied_cases(a, b, preset, min_length, min_share) ORDER BY 1) AS found,
                     ARRAY(SELECT (a1, a2, b1, b2, (m::numeric / (a2 - a1 + b2 - b1 + 2 - m))::numeric(6, 4),
                                   (m::numeric / (least(a2 - a1, b2 - b1) + 1))::numeric(6, 4))::text
                           FROM naive_preset(no, cardinality(string_to_array(a, ' ')), cardinality(string_to_array(b, ' ')), preset, min_length, min_share)
                           ORDER BY 1) AS expected) c;
SELECT what, preset, min_length, min_share, count(*) AS pairs, sum(cases) AS cases, count(*) FILTER (WHERE found <> expected) AS differ
FROM compared GROUP BY what, preset, min_length, min_share ORDER BY what, preset, min_length, min_share;
-- A copy as it is has its strict cases; a summary's source is the whole text if a fifth of it is in the case
SELECT what, n, preset, expected FROM compared WHERE what <> 'edited' AND min_share IS NULL ORDER BY what, n, preset;

-- The order of the texts does not matter
SELECT count(*) FROM pairs, unnest(ARRAY['verbatim', 'edited', 'rewritten']) preset
WHERE (SELECT array_agg(c ORDER BY c) FROM copied_cases(a, b, preset, 0) c) IS DISTINCT FROM
      (SELECT array_agg(d ORDER BY d) FROM copied_cases(b, a, preset, 0) c, LATERAL (SELECT b_start, b_length, a_start, a_length, similarity, coverage) d);
-- Words of another text before a text move all places; a whole text has them, too
SELECT count(*) FROM pairs, unnest(ARRAY['verbatim', 'edited', 'rewritten']) preset, (SELECT string_agg('v' || i, ' ') || ' ' FROM generate_series(1, 101) i) f (filler)
WHERE (SELECT array_agg(d ORDER BY d)
       FROM copied_cases(a, b, preset, 0, 0.2) c,
            LATERAL (SELECT a_start, a_length, b_start, b_length, CASE WHEN a_length < length(a) THEN similarity END, coverage) d) IS DISTINCT FROM
      (SELECT array_agg(d ORDER BY d)
       FROM copied_cases(filler || a, b, preset, 0, 0.2) c,
            LATERAL (SELECT greatest(a_start - length(filler), 1), least(a_length, length(a)), b_start, b_length, CASE WHEN a_length < length(a) THEN similarity END, coverage) d);
-- Two documents in sequence have the cases of each
CREATE TABLE joined AS
SELECT p.seed, p.a AS a1, p.b AS b1, replace(q.a, 'w', 'v') AS a2, replace(q.b, 'w', 'v') AS b2, ' ' || y || ' ' AS y, ' ' || z || ' ' AS z
FROM pairs p, pairs q, (SELECT string_agg('y' || i, ' '), string_agg('z' || i, ' ') FROM generate_series(1, 250) i) f (y, z)
WHERE p.seed = q.seed AND p.kinds = 60 AND q.kinds = 400;
SELECT count(*) FROM joined, unnest(ARRAY['verbatim', 'edited', 'rewritten']) preset
WHERE (SELECT array_agg(d ORDER BY d)
       FROM (SELECT * FROM copied_cases(a1, b1, preset, 0, 0.2)
             UNION ALL SELECT a_start + length(a1 || y), a_length, b_start + length(b1 || z), b_length, similarity, coverage FROM copied_cases(a2, b2, preset, 0, 0.2)) d)
      IS DISTINCT FROM
      (SELECT array_agg(c ORDER BY c) FROM copied_cases(a1 || y || a2, b1 || z || b2, preset, 0, 0.2) c);

-- It can be cancelled
CREATE TABLE long AS SELECT string_agg(i::text, ' ') AS doc FROM generate_series(1, 1000000) i;
SET statement_timeout = '20ms';
SELECT count(*) FROM long, copied_cases(doc, doc);
RESET statement_timeout;

DROP TABLE planted, found, pairs, lists, compared, joined, long;
DROP FUNCTION characters, plagdet, rules_of, rules_for, clusters_of, naive_cases, naive_list, naive_preset, others, number, source, copy_of, word_at;
DROP TYPE rules;
