--
-- Changes of random texts that do not change a signature: the order of words in a
-- shingle, and the order and inflection of words in a sentence
--

-- A linear congruential generator: the same numbers everywhere
CREATE FUNCTION random_of(seed bigint, n int) RETURNS int LANGUAGE sql IMMUTABLE AS $$
    SELECT (((((seed * 1103515245 + 12345) & 2147483647) * 1103515245 + 12345) & 2147483647) >> 8)::int % n
$$;
CREATE FUNCTION shuffle(words text[], seed bigint) RETURNS text[] LANGUAGE sql IMMUTABLE AS $$
    SELECT array_agg(w ORDER BY random_of(seed + i * 7919, 1000003), i) FROM unnest(words) WITH ORDINALITY u (w, i)
$$;

-- A text of k words, some of them twice, in two orders
CREATE TEMP TABLE windows AS
SELECT id, k, words, shuffle(words, id) AS shuffled
FROM (SELECT id, 2 + id % 13 AS k FROM generate_series(1, 1000) id) s,
     LATERAL (SELECT array_agg(CASE random_of(id * 100 + i, 3) WHEN 0 THEN 'слово' ELSE 'word' END || random_of(id * 50 + i, 9) ORDER BY i) AS words
              FROM generate_series(1, k) i) w;
SELECT o, count(*) AS texts, count(*) FILTER (WHERE words <> shuffled) AS permuted,
       count(*) FILTER (WHERE shingles(array_to_string(words, ' '), k, 'order=' || o) <>
                              shingles(array_to_string(shuffled, ' '), k, 'order=' || o)) AS differ
FROM windows, unnest('{keep,sorted,xor,sum}'::text[]) o GROUP BY o ORDER BY o;

-- Longer texts, of different words, with a permuted run: they share the windows whose
-- sets of words are equal
CREATE TEMP TABLE runs AS
SELECT id, k, words, words[:start] || shuffle(words[start + 1:start + len], id) || words[start + len + 1:] AS permuted
FROM (SELECT id, 2 + id % 9 AS k, random_of(id, 20) AS start, 2 + random_of(id + 500, 14) AS len FROM generate_series(1, 300) id) s,
     LATERAL (SELECT array_agg('w' || i ORDER BY i) AS words FROM generate_series(1, 40) i) w;
SELECT o, count(*) AS texts, count(*) FILTER (WHERE found <> expected) AS wrong, sum(found) AS shingles_in_common
FROM runs, unnest('{keep,sorted,xor,sum}'::text[]) o,
     LATERAL (SELECT intersection_size(shingles(array_to_string(words, ' '), k, 'order=' || o), shingles(array_to_string(permuted, ' '), k, 'order=' || o)) AS found) f,
     LATERAL (SELECT count(*) AS expected
              FROM (SELECT CASE o WHEN 'keep' THEN words[i:i + k - 1] ELSE (SELECT array_agg(w ORDER BY w) FROM unnest(words[i:i + k - 1]) w) END
                    FROM generate_series(1, 41 - k) i
                    INTERSECT
                    SELECT CASE o WHEN 'keep' THEN permuted[i:i + k - 1] ELSE (SELECT array_agg(w ORDER BY w) FROM unnest(permuted[i:i + k - 1]) w) END
                    FROM generate_series(1, 41 - k) i) common) e
GROUP BY o ORDER BY o;

-- Russian texts of sentences; the same with other forms of each word, another order of
-- the words of each sentence, and other layout; and the second with a moved passage
CREATE TEMP TABLE forms AS
SELECT base, string_to_array(forms, ' ') AS forms
FROM unnest('{книга книги книгу книгой книге,дом дома дому домом домов,стол стола столу столом столов,
новый нового новому новым новая новую,читал читала читали,гора горы гору горой горе,
город города городу городом городов,красный красного красному красная красные,писал писала писали,
школа школы школу школой школе,большой большого большому большая большие,лес леса лесу лесом лесов,
работал работала работали,река реки реку рекой реке,машина машины машину машиной машине,
старый старого старому старая старые}'::text[]) WITH ORDINALITY u (forms, base);
CREATE TEMP TABLE sentences AS
SELECT id, s, string_agg(forms[1 + random_of(id * 9000 + s * 30 + i, cardinality(forms))], ' ' ORDER BY i) || '.' AS sentence,
       string_agg(forms[1 + random_of(id * 7000 + s * 30 + i, cardinality(forms))],
                  CASE random_of(id + s, 3) WHEN 0 THEN ', ' WHEN 1 THEN E'\n' ELSE ' - ' END
                  ORDER BY random_of(id * 3000 + s * 40 + i, 1000), i) || substr('.!?', 1 + random_of(id * s, 3), 1) AS varied
FROM generate_series(1, 150) id, generate_series(1, 4 + random_of(id, 20)) s, generate_series(1, 3 + random_of(id * 50 + s, 7)) i,
     LATERAL (SELECT forms FROM forms WHERE base = 1 + random_of(id * 600 + s * 20 + i, 16)) f
GROUP BY id, s;
CREATE TEMP TABLE texts AS
SELECT id, n, string_agg('Летом ' || sentence, ' ' ORDER BY s) AS body,
       string_agg('Летом ' || varied, ' ' ORDER BY s) AS varied,
       string_agg('Летом ' || varied, ' ' ORDER BY CASE WHEN s BETWEEN p AND p + len THEN target ELSE s END, s) AS moved
FROM sentences JOIN (SELECT id, count(*) AS n FROM sentences GROUP BY id) c USING (id),
     LATERAL (SELECT 1 + random_of(id + 11, n::int) AS p, random_of(id + 22, 4) AS len, random_of(id + 33, n::int + 1) + 0.5 AS target) m
GROUP BY id, n;
CREATE TEMP TABLE stats AS SELECT lexicon_agg(body, 'russian') AS lexicon FROM texts;
SELECT count(*) AS texts, count(*) FILTER (WHERE body = varied) AS equal, count(DISTINCT sentence_pairs(body, 'russian')) AS different FROM texts;
SELECT count(*) FILTER (WHERE sentence_pairs(body, 'russian') <> sentence_pairs(varied, 'russian')) AS sentence_pairs,
       count(*) FILTER (WHERE sentence_pairs('russian'::regconfig, body) <> sentence_pairs('russian'::regconfig, varied)) AS configured,
       count(*) FILTER (WHERE shingles(body, a) <> shingles(varied, a)) AS shingles,
       count(*) FILTER (WHERE long_sentences(body, analysis => 'russian order=sorted') <> long_sentences(varied, analysis => 'russian order=sorted')) AS long_sentences,
       count(*) FILTER (WHERE heavy_sentences(body, lexicon, analysis => 'russian order=sum') <> heavy_sentences(varied, lexicon, analysis => 'russian order=sum')) AS heavy_sentences,
       count(*) FILTER (WHERE sentence_pairs(body) = sentence_pairs(varied)) AS without_stemmer
FROM texts, stats, (VALUES ('russian unit=sentence order=sum k=2')) v (a);
-- the lexical methods ignore the order of words
SELECT lexicon_agg(varied, 'russian') = min(lexicon::text)::lexicon AS lexicon, lexicon_agg(varied) = lexicon_agg(body) AS without_stemmer FROM texts, stats;
SELECT count(*) FILTER (WHERE top_words(body, lexicon, weight => 'tf-ridf') IS DISTINCT FROM top_words(moved, lexicon, weight => 'tf-ridf')) AS top_words,
       count(*) FILTER (WHERE imatch(body, lexicon, low => 0, minimum => 1) IS DISTINCT FROM imatch(moved, lexicon, low => 0, minimum => 1)) AS imatch,
       count(*) FILTER (WHERE fuzzy_fingerprint(body, lexicon) <> fuzzy_fingerprint(moved, lexicon)) AS fuzzy_fingerprint,
       count(*) FILTER (WHERE weighted_words(body, lexicon) <> weighted_words(moved, lexicon)) AS weighted_words,
       count(imatch(body, lexicon, low => 0, minimum => 1)) > 0 AS some
FROM texts, stats;
-- a moved passage changes at most three pairs, and neither the longest nor the
-- heaviest sentences
SELECT count(*) FILTER (WHERE moved <> varied) AS moved,
       count(*) FILTER (WHERE intersection_size(sentence_pairs(body, 'russian'), sentence_pairs(moved, 'russian')) < n - 3) AS more_than_three,
       count(*) FILTER (WHERE intersection_size(sentence_pairs(body, 'russian'), sentence_pairs(moved, 'russian')) = n - 3) AS three,
       count(*) FILTER (WHERE long_sentences(body, analysis => 'russian order=sorted') <> long_sentences(moved, analysis => 'russian order=sorted')) AS long_sentences,
       count(*) FILTER (WHERE heavy_sentences(body, lexicon, analysis => 'russian order=sum') <> heavy_sentences(moved, lexicon, analysis => 'russian order=sum')) AS heavy_sentences
FROM texts, stats;

-- Repeated elements of every kind are numbered in one way
SELECT signature_from(s, '{3}')::bigint[] = shingles('rose rose rose', 1, 'repeats=number')::bigint[] AS shingles,
       signature_from(s || p, '{1,2}')::bigint[] = sentence_pairs('Rose. Rose. Rose.')::bigint[] AS sentence_pairs
FROM (SELECT shingles('rose', 1)::bigint[] AS s) s, (SELECT sentence_pairs('Rose rose.')::bigint[] AS p) p;

DROP TABLE windows, runs, forms, sentences, texts, stats;
DROP FUNCTION random_of, shuffle;
