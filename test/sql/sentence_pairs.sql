--
-- Sums of neighbouring sentences, a multiset (Veretennikov)
--

CREATE FUNCTION random_of(seed bigint, n int) RETURNS int LANGUAGE sql IMMUTABLE AS $$
    SELECT (((((seed * 1103515245 + 12345) & 2147483647) * 1103515245 + 12345) & 2147483647) >> 8)::int % n
$$;

-- n sentences give n values, the last of which is the last sentence alone
SELECT n, cardinality(sentence_pairs(body)::bigint[]) AS size
FROM (VALUES (0, ''), (0, '...'), (1, 'One.'), (2, 'One. Two.'), (3, 'One. Two. Three!'),
             (4, 'One. Two. One. Two.'), (3, E'Without a stop\n\nAn empty line\n\nends a sentence')) v (n, body);
SELECT sentence_pairs('One two.') = sentence_pairs('Two one') AS order_of_words,
       sentence_pairs('One two. Three.') = sentence_pairs('Three. One two.') AS order_of_sentences,
       intersection_size(sentence_pairs('One two. Three.'), sentence_pairs('Three. One two.')) AS sum_of_both,
       sentence_pairs(E'a b\nc', 'unit=line') = sentence_pairs(E'B, a.\n\nC! ', 'unit=line') AS lines,
       sentence_pairs('One. Two.', 'order=sum') = sentence_pairs('One. Two.') AS "order";
SELECT sentence_pairs('One. Two.', 'order=sum k=7');

-- Operations 4 to 6 of the source do not change the value: formatting, the forms of
-- words, their order in a sentence
CREATE TEMP TABLE forms (language text, one text, other text);
INSERT INTO forms VALUES
('russian', 'Мама мыла раму. Братья читали новую книгу о путешествиях! Старый дом стоял на горе.',
 E'Раму\nмыла   мама. О ПУТЕШЕСТВИИ новую книгу читал брат. На горе — старого дома стоявших…'),
('english', 'The cat is sleeping on the mat. Nobody reads old books.', 'On the mats, the cats is sleep. Nobody: old book read.'),
('ukrainian', 'Мама мила раму. Стара хата.', 'РАМУ мила мама. Хата стара.'),
('persian', 'کتاب‌های من. خانه بزرگ است.', 'من كتابهاي. است بزرگ خانه.');
SELECT language, sentence_pairs(one, language) = sentence_pairs(other, language) AS same,
       cardinality(sentence_pairs(one, language)::bigint[]) AS sentences
FROM forms ORDER BY language;
-- operation 7, synonyms, by a dictionary of a configuration
CREATE TEXT SEARCH DICTIONARY sp_synonyms (TEMPLATE = synonym, SYNONYMS = synonym_sample);
CREATE TEXT SEARCH CONFIGURATION sp_config (COPY = english);
ALTER TEXT SEARCH CONFIGURATION sp_config ALTER MAPPING FOR asciiword WITH sp_synonyms, english_stem;
SELECT sentence_pairs('sp_config'::regconfig, 'Postgres is big. Two users.') = sentence_pairs('sp_config'::regconfig, 'A big pgsql! Two users?') AS same,
       sentence_pairs('english'::regconfig, 'Postgres is big. Two users.') = sentence_pairs('english'::regconfig, 'Pgsql is big. Two users.') AS without,
       intersection_size(sentence_pairs('sp_config'::regconfig, 'One here. Two here.'), sentence_pairs('sp_config'::regconfig, 'Two here.')) AS sentences;
SELECT similarity(sentence_pairs('sp_config'::regconfig, 'One.'), sentence_pairs('english'::regconfig, 'One.')) AS other;
DROP TEXT SEARCH CONFIGURATION sp_config;
DROP TEXT SEARCH DICTIONARY sp_synonyms;

-- X(A, B) as the source defines it, for random documents of few different sentences,
-- so that many are repeated: sentence i is the word s_i
CREATE TEMP TABLE docs AS
SELECT id, array_agg(s ORDER BY i) AS sentences, string_agg('S' || s || ' words.', ' ' ORDER BY i) AS body
FROM (SELECT id, i, random_of(id * 100 + i, 6) AS s
      FROM generate_series(1, 60) id, generate_series(1, 1 + random_of(id, 25)) i) d GROUP BY id;
CREATE TEMP TABLE seq2 AS      -- an unordered pair is its sum; -1 stands for 0
SELECT id, least(s, next) AS low, greatest(s, next) AS high, count(*) AS n
FROM (SELECT id, s, coalesce(lead(s) OVER (PARTITION BY id ORDER BY i), -1) AS next
      FROM docs, unnest(sentences) WITH ORDINALITY u (s, i)) p GROUP BY 1, 2, 3;
SELECT count(*) AS pairs, count(*) FILTER (WHERE x <> intersection_size(sa, sb)) AS wrong,
       count(*) FILTER (WHERE abs(containment(sa, sb) - x::float8 / cardinality(a.sentences)) > 1e-15) AS wrong_share,
       count(*) FILTER (WHERE x > 0) AS similar
FROM docs a, docs b, sentence_pairs(a.body) sa, sentence_pairs(b.body) sb,
     LATERAL (SELECT coalesce(sum(least(p.n, q.n)), 0) AS x
              FROM seq2 p JOIN seq2 q USING (low, high) WHERE p.id = a.id AND q.id = b.id) o;

-- Similar documents are found by any plan
CREATE TEMP TABLE sigs AS SELECT id, sentence_pairs(body) AS sig FROM docs;
CREATE INDEX ON sigs USING gin (sig signature_gin_ops (measure = containment));
CREATE FUNCTION found(scan text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    result text;
BEGIN
    PERFORM set_config('enable_seqscan', (scan = 'seq')::text, true), set_config('enable_bitmapscan', (scan = 'index')::text, true),
            set_config('neardup.enable_join', (scan = 'join')::text, true);
    SELECT format('%s pairs, %s', count(*), sum(a.id * 61 + b.id)) INTO result
    FROM sigs a JOIN sigs b ON contained_in(a.sig, b.sig, 0.6);
    RETURN result;
END $$;
SELECT found('seq') = found('index') AS index, found('seq') = found('join') AS "join", found('seq') LIKE '% pairs, %' AS some;

-- Operations 1 to 3: the share that remains after a fragment is deleted, two sentences
-- are exchanged, a word is inserted
CREATE TEMP TABLE long AS
SELECT id, array_agg('S' || id || 'x' || i || ' is a sentence.' ORDER BY i) AS sentences
FROM generate_series(1, 30) id, generate_series(1, 10 + random_of(id, 40)) i GROUP BY id;
SELECT count(*) AS documents,
       count(*) FILTER (WHERE intersection_size(sentence_pairs(whole), sentence_pairs(without)) < n - 5) AS deleted,
       count(*) FILTER (WHERE intersection_size(sentence_pairs(whole), sentence_pairs(exchanged)) < n - 4) AS exchanged,
       count(*) FILTER (WHERE intersection_size(sentence_pairs(whole), sentence_pairs(inserted)) <> n - 2) AS inserted
FROM long, LATERAL (SELECT cardinality(sentences) AS n, 2 + random_of(id + 7, 5) AS p) x,
     LATERAL (SELECT array_to_string(sentences, ' ') AS whole,
                     array_to_string(sentences[:p] || sentences[p + 5:], ' ') AS without,
                     array_to_string(sentences[:p - 1] || sentences[p + 1] || sentences[p] || sentences[p + 2:], ' ') AS exchanged,
                     array_to_string(sentences[:p - 1] || ('Inserted ' || sentences[p]) || sentences[p + 1:], ' ') AS inserted) v;
-- A fragment is contained in its own document, except for its last sentence, and in no
-- other
SELECT count(*) AS fragments,
       count(*) FILTER (WHERE (containment(f, sig) * size >= size - 1.001) <> (o.id = l.id)) AS wrong,
       count(*) FILTER (WHERE containment(f, sig) > 0 AND o.id <> l.id) AS others
FROM long l, generate_series(1, 3) part, long o, LATERAL (SELECT 3 + random_of(l.id * 9 + part, 6) AS size) s,
     LATERAL (SELECT sentence_pairs(array_to_string(l.sentences[part:part + size - 1], ' ')) AS f,
                     sentence_pairs(array_to_string(o.sentences, ' ')) AS sig) v;

DROP TABLE forms, docs, seq2, sigs, long;
DROP FUNCTION random_of, found;
