--
-- Lexical methods: their formulas, and changes that do not change them
--

-- A linear congruential generator: the same numbers everywhere
CREATE FUNCTION random_of(seed bigint, n int) RETURNS int LANGUAGE sql IMMUTABLE AS $$
    SELECT (((((seed * 1103515245 + 12345) & 2147483647) * 1103515245 + 12345) & 2147483647) >> 8)::int % n
$$;

-- Documents of 5 to 60 words, of which w0 .. w9 are everywhere
CREATE TEMP TABLE corpus AS
SELECT id, string_agg('w' || CASE WHEN random_of(id * 1000 + i, 3) = 0 THEN random_of(id * 1000 + i + 500, 10)
                                  ELSE random_of(id * 1000 + i + 500, 400) END, ' ' ORDER BY i) AS body
FROM generate_series(1, 400) id, generate_series(1, 5 + random_of(id, 56)) i GROUP BY id;
CREATE TEMP TABLE stats AS SELECT lexicon_agg(body) AS lexicon FROM corpus;

-- Hash of the canonical text
SELECT text_hash('A rose is a rose.') = text_hash('  a ROSE; is... a rose') AS same,
       text_hash('A rose is a rose.') = text_hash('a rose is a roses') AS inflected,
       text_hash('A rose is a rose.', 'english') = text_hash('a rose is a roses', 'english') AS stemmed,
       text_hash('<b>rose</b>', 'html') = text_hash('rose') AS markup,
       text_hash('a b') = text_hash('b a') AS swapped,
       text_hash('?!') IS NULL AS none;
SELECT count(DISTINCT text_hash(body)) FROM corpus;
SELECT text_hash(repeat('word ', 1024)) <> text_hash(repeat('word ', 1025)) AS differ,
       text_hash(repeat('word ', 5000)) = text_hash(repeat('Word, ', 5000)) AS same;

-- Long Sent: the two longest; of the same length, first in the alphabet
CREATE TEMP TABLE sentences AS SELECT
    'The first one is long enough to be taken. Short. Another that is long enough to be taken. Beta gamma delta. Alpha gamma delta.' AS body;
SELECT long_sentences(body) = long_sentences(replace(body, 'Short', 'Changed')) AS elsewhere,
       long_sentences(body) = long_sentences(replace(body, 'Another', 'Any other')) AS there,
       long_sentences(body) = long_sentences('Another that is long enough to be taken. The first one is long enough to be taken!') AS swapped
FROM sentences;
SELECT long_sentences('B b. C c. A a. D d.') = long_sentences('X. A a. B b. Y.') AS alphabetical,
       long_sentences('A b. B b. C c.') = long_sentences('A b. C c.') AS others,
       long_sentences('One two three. Four.', analysis => 'order=sorted') = long_sentences('Three one two. Four.', analysis => 'order=sorted') AS sorted,
       long_sentences('One two three. Four.') = long_sentences('Three one two. Four.') AS kept,
       long_sentences(E'a b c\nd e\nf', analysis => 'unit=line') = long_sentences(E'f\nd e\na b c\ng', analysis => 'unit=line') AS lines,
       long_sentences('A b. C.', n => 1) = long_sentences('A b. D.', n => 1) AS one,
       long_sentences('english'::regconfig, 'Long sentences here. Short.') = long_sentences('english'::regconfig, 'Shorts. The long sentence here.') AS configured,
       long_sentences('') IS NULL AS none;

-- Heavy Sent: the two whose words weigh most
SELECT heavy_sentences('W0 w1 w2 w0 w3. W300 w301. W4 w5 w6 w5. W302 w303.', lexicon) =
       heavy_sentences('W302 w303. W7 w8. W300 w301.', lexicon) AS heaviest,
       heavy_sentences('W300 w301.', lexicon) = heavy_sentences('W301 w300.', lexicon) AS kept,
       heavy_sentences('W300 w301.', lexicon, analysis => 'order=sum') = heavy_sentences('W301 w300.', lexicon, analysis => 'order=sum') AS summed,
       heavy_sentences('Not in it.', lexicon) IS NULL AS none,
       heavy_sentences('', lexicon) IS NULL AS empty
FROM stats;

-- Top words: those that plain SQL chooses; other words do not count
CREATE FUNCTION chosen(body text, lexicon, kind text) RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(trim(repeat(w.word || ' ', w.tf)), ' ') FROM (
        SELECT s.*, rank() OVER (ORDER BY round((CASE kind
            WHEN 'tf' THEN tf
            WHEN 'tf-idf' THEN tf * idf
            WHEN 'bm25' THEN tf / (2 * (0.25 + 0.75 * dl * (lexicon_describe($2)).documents / (lexicon_describe($2)).length) + tf)
                             * greatest(0, ln(((lexicon_describe($2)).documents - df + 0.5) / (df + 0.5)))
            WHEN 'bm25 k1=1.2 b=0.5 floor=3' THEN tf / (1.2 * (0.5 + 0.5 * dl * (lexicon_describe($2)).documents / (lexicon_describe($2)).length) + tf)
                             * greatest(3, ln(((lexicon_describe($2)).documents - df + 0.5) / (df + 0.5)))
            WHEN 'ntf-idf' THEN (0.5 + 0.5 * tf / tf_max) * idf
            WHEN 'tf-ridf' THEN (0.5 + 0.5 * tf / tf_max) * ridf
            END)::numeric, 9) DESC) AS rank
        FROM (SELECT *, sum(tf) OVER () AS dl, max(tf) OVER ()::float8 AS tf_max FROM word_statistics(body, $2)) s) w
    WHERE rank <= 6
$$;
-- a document of these words alone, each as often as before, and some others that keep
-- the length and the largest tf, has the same signature
SELECT kind, count(*) AS documents,
       count(*) FILTER (WHERE top_words(body, lexicon, 6, kind) <> top_words(short, lexicon, 6, kind)) AS wrong
FROM stats, unnest('{tf,tf-idf,bm25,bm25 k1=1.2 b=0.5 floor=3,ntf-idf,tf-ridf}'::text[]) kind,
     LATERAL (SELECT body, chosen(body, lexicon, kind) AS words FROM corpus WHERE id <= 150) c,
     LATERAL (SELECT max(tf) AS most, sum(tf) AS length FROM word_statistics(body, lexicon)) t,
     LATERAL (SELECT words || CASE WHEN kind <> 'tf' THEN repeat(' unknown', most::int) ELSE '' END AS base) b,
     LATERAL (SELECT base || (SELECT coalesce(string_agg(' filler' || i, ''), '')
                              FROM generate_series(1, length - array_length(string_to_array(base, ' '), 1)) i) AS short) f
WHERE (SELECT count(DISTINCT w) FROM unnest(string_to_array(words, ' ')) w) = 6
GROUP BY kind ORDER BY kind;
SELECT top_words('b a b c', 2) = top_words('C a. b B', 2) AS bag,
       top_words('a a a b b b c', 2) = top_words('a a b b d', 2) AS most,
       top_words('a b') = top_words('a b', 6, '') AS defaults,
       top_words('a b c', 6) = top_words('a b c', 7) AS other_n,
       top_words('english'::regconfig, 'Roses and roses, a house') = top_words('english'::regconfig, 'rose house rose') AS configured,
       top_words('') IS NULL AS none;
-- words that the lexicon does not have do not count
SELECT count(*) FILTER (WHERE top_words(body || ' never seen before', lexicon, weight => kind) <> top_words(body, lexicon, weight => kind)) AS wrong
FROM stats, corpus, unnest('{tf-idf,ntf-idf,tf-ridf}'::text[]) kind;
SELECT top_words('never seen', lexicon) IS NULL AS none,
       top_words('w1 w2', lexicon_agg) IS NULL AS empty_lexicon
FROM stats, (SELECT lexicon_agg('')) e;
-- an empty lexicon gives no signature: of no documents, of one without words, with all
-- words trimmed; first letters are counted nevertheless
SELECT name, bool_and(top_words('w1 w2', l, weight => kind) IS NULL) AS top_words,
       bool_and(heavy_sentences('W1 w2.', l, weight => kind) IS NULL) AS heavy_sentences,
       bool_and(imatch('w1 w2', l, minimum => 1, low => 0, high => 1) IS NULL) AS imatch,
       bool_and(cardinality(weighted_words('w1 w2', l, kind)::bigint[]) = 0) AS weighted_words,
       bool_and(fuzzy_fingerprint('w1 w2', l) IS NULL) AS fuzzy_fingerprint,
       min(identity('w1', 'w1', l)) AS identity, bool_and(abs(identity('w1', 'w1', l, v)) < 1000) AS finite
FROM (SELECT 'no documents' AS name, lexicon - lexicon AS l FROM stats
      UNION ALL SELECT 'no words', lexicon_agg('')
      UNION ALL SELECT 'trimmed', lexicon_trim(lexicon, 0) FROM stats) e,
     unnest('{tf,tf-idf,bm25,ntf-idf,tf-ridf,bm25 floor=0.5}'::text[]) kind, generate_series(1, 5) v GROUP BY name ORDER BY name;
-- nor do word order and, with a stemmer, endings
SELECT count(*) FILTER (WHERE top_words(body, lexicon) <> top_words(
           (SELECT string_agg(w, ' ' ORDER BY random_of(id * 77 + i, 1000), i) FROM unnest(string_to_array(body, ' ')) WITH ORDINALITY u (w, i)), lexicon)) AS wrong
FROM stats, corpus;

-- I-Match: the set of the words of middling rarity, idf / log N
CREATE FUNCTION middling(body text, lexicon, low float8, high float8) RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(word, ' ' ORDER BY word DESC) FROM word_statistics(body, $2)
    WHERE idf / ln((lexicon_describe($2)).documents) BETWEEN low AND high
$$;
SELECT low, high, count(imatch) AS signatures,
       count(*) FILTER (WHERE imatch IS DISTINCT FROM imatch(middling(body, lexicon, low, high), lexicon, low => low, high => high)) AS wrong,
       count(*) FILTER (WHERE imatch IS DISTINCT FROM imatch(body || ' ' || body || ' unknown', lexicon, low => low, high => high)) AS repeated
FROM stats, (VALUES (0.1, 1.0), (0.3, 0.7), (0, 1), (0.5, 0.5)) v (low, high), corpus,
     imatch(body, lexicon, low => low, high => high) imatch
GROUP BY low, high ORDER BY low, high;
-- fewer than the minimum: no signature; fewer in a further lexicon: no coordinate
SELECT minimum, imatch('w300 w301 w302', lexicon, minimum => minimum) IS NULL AS none
FROM stats, generate_series(2, 4) minimum ORDER BY minimum;
SELECT imatch('w300 w301 w302', lexicon, 3, 3, removed => 0.99)::text ~ '{[0-9a-f]{16}(,0000000000000000){3}}' AS only_first,
       imatch('w300 w301 w302', lexicon, 0, 3)::text ~ '{[0-9a-f]{16}}' AS alone
FROM stats;
-- no coordinate is equal to nothing
SELECT similarity(a, b), near_duplicate(a, b, 0.5), similarity(a, a), hamming(a, b), hamming(a, a)
FROM stats, imatch('w300 w301 w302', lexicon, 3, 3, removed => 0.99) a, imatch('w303 w304 w305', lexicon, 3, 3, removed => 0.99) b;
-- a further word changes the coordinates of those lexicons that have it: the first, and 0.67 of the others
CREATE TEMP VIEW extended AS
SELECT body, body || ' ' || extra AS longer FROM corpus, LATERAL (SELECT 'w' || 200 + random_of(id * 13, 200) AS extra) e
WHERE ' ' || body || ' ' NOT LIKE '% ' || extra || ' %';
SELECT round(avg(1 - similarity(imatch(body, lexicon, 100), imatch(longer, lexicon, 100)))::numeric, 1) AS changed,
       round((1 + 100 * 0.67) / 101, 1) AS expected
FROM stats, extended;
-- one of 11 is rarely lost, one of 1 always is
SELECT count(*) FILTER (WHERE near_duplicate(imatch(body, lexicon), imatch(longer, lexicon), 1)) > 0.95 * count(imatch(body, lexicon)) AS robust,
       count(*) FILTER (WHERE near_duplicate(imatch(body, lexicon, 0), imatch(longer, lexicon, 0), 1)) AS fragile
FROM stats, extended;
SELECT imatch(body, lexicon, seed => 1) <> imatch(body, lexicon) AS seeded FROM stats, corpus WHERE id = 1;

-- Fuzzy fingerprints: the more schemes, the more are found
SELECT schemes, count(*) FILTER (WHERE near_duplicate(fuzzy_fingerprint(body, lexicon, schemes),
                                                      fuzzy_fingerprint(body || ' another', lexicon, schemes), 1)) AS near,
       count(*) FILTER (WHERE fuzzy_fingerprint(body, lexicon, schemes) <> fuzzy_fingerprint(upper(body), lexicon, schemes)) AS wrong
FROM corpus, (SELECT lexicon_agg(body || ' alpha beta gamma delta') AS lexicon FROM corpus) l, unnest('{1,3,8}'::int[]) schemes
GROUP BY schemes ORDER BY schemes;
SELECT fuzzy_fingerprint('alpha beta', lexicon, 2) = fuzzy_fingerprint('band air', lexicon, 2) AS initials,
       fuzzy_fingerprint('', lexicon) IS NULL AS none,
       fuzzy_fingerprint('w1', lexicon_agg) IS NULL AS empty_lexicon
FROM stats, (SELECT lexicon_agg('')) e;

-- Descriptive words: a bit per word, and the choice of the set
CREATE TEMP TABLE word_sets AS
SELECT word_set_agg(body, '', 40) AS words FROM corpus;
SELECT (words).analysis, cardinality((words).words) <= 40 AS bounded,
       cardinality((words).words) = cardinality((words).thresholds) AS paired,
       cardinality((words).rounds) AS rounds FROM word_sets;
SELECT bool_and(words <= previous) AS fewer, min(covered) > 0.5 AS covered,
       min(unstable) < max(unstable) AS stabler
FROM (SELECT r.*, lag(r.words) OVER (ORDER BY i) AS previous
      FROM word_sets, unnest((word_sets.words).rounds) WITH ORDINALITY r (words, covered, unstable, i)) r;
SELECT (SELECT word_set_agg(body, '' , 40 ORDER BY id DESC) FROM corpus) = words AS any_order FROM word_sets;
-- of parts, too, of partitions or of parallel workers, and where not all documents are in the sample: 50,000 are
CREATE TABLE many (id int, body text) PARTITION BY RANGE (id);
CREATE TABLE many_1 PARTITION OF many FOR VALUES FROM (MINVALUE) TO (10000);
CREATE TABLE many_2 PARTITION OF many FOR VALUES FROM (10000) TO (MAXVALUE);
INSERT INTO many SELECT i, 'w' || i % 7 || ' w' || i % 11 || ' x' || i % 5003 FROM generate_series(1, 70000) i;
ANALYZE many;
CREATE TEMP TABLE alone AS SELECT word_set_agg(body) AS words, word_set_agg(body ORDER BY id DESC) AS descending, word_set_agg(body) FILTER (WHERE id <= 50000) AS others FROM many;
SELECT cardinality((words).words) AS words, words = descending AS any_order, words <> others AS sampled FROM alone;
BEGIN;
SET LOCAL enable_partitionwise_aggregate = on;
EXPLAIN (COSTS OFF) SELECT word_set_agg(body) FROM many;
SELECT word_set_agg(body) = (SELECT words FROM alone) AS same FROM many;
SET LOCAL enable_partitionwise_aggregate = off;
SET LOCAL parallel_setup_cost = 0;
SET LOCAL parallel_tuple_cost = 0;
SET LOCAL min_parallel_table_scan_size = 0;
SET LOCAL max_parallel_workers_per_gather = 2;
EXPLAIN (COSTS OFF) SELECT word_set_agg(body) FROM many;
SELECT word_set_agg(body) = (SELECT words FROM alone) AS same FROM many;
ROLLBACK;
DROP TABLE many;
-- the ones are those that plain SQL finds; a sentence of one word is its hash
CREATE FUNCTION word_hash(word text) RETURNS bigint LANGUAGE sql AS $$ SELECT (sentence_pairs(word)::bigint[])[1] $$;
SELECT count(*) AS documents, count(*) FILTER (WHERE ones IS DISTINCT FROM bits) AS wrong
FROM word_sets, corpus,
     LATERAL (SELECT array_agg(hash ORDER BY hash) AS ones
              FROM (SELECT word_hash(word) AS hash, count(*)::float8 / cardinality(string_to_array(body, ' ')) AS share
                    FROM unnest(string_to_array(body, ' ')) word GROUP BY word) w
              JOIN unnest((words).words, (words).thresholds) t (hash, threshold) USING (hash) WHERE share > threshold) o,
     LATERAL (SELECT array_agg(bit ORDER BY bit) AS bits FROM unnest(descriptive_words(body, words)::bigint[]) bit) b;
SELECT near_duplicate(a, a, 1), hamming(a, a), similarity(a, a) FROM word_sets, descriptive_words((SELECT body FROM corpus WHERE id = 3), words) a;
SELECT count(*) FILTER (WHERE near_duplicate(a, b, 0.01) <> (a = b)) AS wrong,
       count(*) FILTER (WHERE hamming(a, b) <> cardinality(a::bigint[]) + cardinality(b::bigint[]) - 2 * round((similarity(a, b) * (cardinality(a::bigint[]) + cardinality(b::bigint[])) / (1 + similarity(a, b))))) AS hamming
FROM word_sets, corpus c, corpus d, descriptive_words(c.body, words) a, descriptive_words(d.body, words) b
WHERE c.id < 50 AND d.id < 50;
SELECT descriptive_words('none of them', words) IS NULL AS none FROM word_sets;
-- a variable that changes from call to call
DO $$
DECLARE
  words word_set;
BEGIN
  words.analysis := '';
  words.thresholds := '{0.1}';
  FOR word IN 1..2 LOOP
    words.words := weighted_words((array['rose', 'house'])[word])::bigint[];
    RAISE NOTICE '% %', descriptive_words('a rose', words) IS NOT NULL, descriptive_words('a house', words) IS NOT NULL;
  END LOOP;
END $$;
SELECT descriptive_words('english'::regconfig, 'Roses roses house', word_set_agg) = descriptive_words('english'::regconfig, 'a rose, the house: rose', word_set_agg) AS configured
FROM (SELECT word_set_agg('english'::regconfig, body) FROM (SELECT 'rose rose house a' AS body FROM generate_series(1, 5)) b) w;

-- Duplicates are usually found by one document per group
SELECT count(*) AS copies, count(DISTINCT id) AS documents
FROM (SELECT long_sentences(body), top_words(body, lexicon), imatch(body, lexicon), text_hash(body), min(id) AS id
      FROM stats, (SELECT * FROM corpus UNION ALL SELECT id + 1000, upper(body) FROM corpus WHERE id % 2 = 0) c
      GROUP BY 1, 2, 3, 4) g;

-- Text and binary form
SELECT sig::text::signature = sig AS text, sig::bytea::signature = sig AS bytes, regexp_replace(describe(sig), '\d{4,}', '...') AS describe
FROM stats, word_sets, unnest(ARRAY[text_hash('a b c'), long_sentences('A b. C.'), heavy_sentences('W1 w2.', lexicon),
    top_words('w1 w2', lexicon), imatch('w1 w2 w300 w301 w302 w303', lexicon), fuzzy_fingerprint('w1 w2', lexicon),
    descriptive_words((SELECT body FROM corpus WHERE id = 3), words), sentence_pairs('A b. C d.'),
    sentence_pairs('simple'::regconfig, 'A b. C d.'), long_sentences('simple'::regconfig, 'A b.')]) sig;
SELECT 'text_hash[k=1]#1{0000000000000000}'::signature;
SELECT 'text_hash[k=1]#2{0000000000000001,0000000000000002}'::signature;
SELECT 'imatch(1,0)[k=1]#2{0000000000000001}'::signature;
SELECT 'imatch(1,0)[k=1]#2{0000000000000000,0000000000000001}'::signature;
SELECT 'imatch(101,0)[k=1]#2{0000000000000000,0000000000000001}'::signature;
SELECT 'fuzzy_fingerprint(2,0)[k=1]#32{0000000000000001,0000000000000000}'::signature;
SELECT 'descriptive_words(1,0)[k=1]#2{0000000000000001,0000000000000002}'::signature;
SELECT 'descriptive_words(2,0)[k=1]#2{0000000000000002,0000000000000001}'::signature;

-- Their rule, with and without an index
CREATE TEMP TABLE sigs AS
SELECT id, imatch(body, lexicon, 10, 3) AS imatch, top_words(body, lexicon) AS top, descriptive_words(body, words) AS described
FROM stats, word_sets, (SELECT * FROM corpus UNION ALL
    SELECT id + 1000, regexp_replace(body, '\mw[0-9]{3}\M', '') FROM corpus WHERE id % 3 = 0 UNION ALL
    SELECT id + 2000, body || ' w' || id FROM corpus WHERE id % 5 = 0) c;
CREATE INDEX ON sigs USING gin (imatch);
CREATE INDEX ON sigs USING gin (top);
CREATE INDEX ON sigs USING gin (described);
ANALYZE sigs;
CREATE FUNCTION pairs(method text, enable bool) RETURNS TABLE (pairs bigint, sum bigint) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('enable_seqscan', (NOT enable)::text, true), set_config('neardup.enable_join', 'off', true),
            set_config('enable_indexscan', enable::text, true), set_config('enable_bitmapscan', enable::text, true);
    RETURN QUERY EXECUTE format('SELECT count(*), sum(a.id * 31 + b.id)::bigint FROM sigs a JOIN sigs b ON near_duplicate(a.%1$I, b.%1$I, 0.9)', method);
END $$;
SELECT method, (pairs(method, false)).*, pairs(method, true) = pairs(method, false) AS same
FROM unnest('{imatch,top,described}'::text[]) method ORDER BY method;

-- Signatures of other lexicons or parameters cannot be compared
SELECT similarity(top_words(body, lexicon), top_words(body, lexicon, 5)) FROM stats, corpus WHERE id = 1;
SELECT similarity(top_words(body, lexicon), top_words(body, lexicon + lexicon)) IS NULL FROM stats, corpus WHERE id = 1;
SELECT containment(top_words(body, lexicon), top_words(body, lexicon)) FROM stats, corpus WHERE id = 1;

-- Bad arguments
SELECT top_words('a', 0);
SELECT top_words('a', 1001);
SELECT top_words('a', lexicon, weight => 'idf') FROM stats;
SELECT top_words('a', lexicon, weight => 'tf-idf k1=2') FROM stats;
SELECT top_words('a', lexicon, weight => 'bm25 k1=-1') FROM stats;
SELECT top_words('a', lexicon, weight => 'bm25 k1=0x2') FROM stats;
SELECT top_words('a', lexicon, weight => 'bm25 b=nan') FROM stats;
SELECT top_words('a', lexicon, weight => 'bm25 k1=') FROM stats;
SELECT top_words('a', lexicon, weight => 'bm25 k=1') FROM stats;
SELECT top_words('a', lexicon, weight => 'bm25 k1=1 b=0.5 k1=2') FROM stats;
SELECT top_words('w1 w2 w3', lexicon, 2, 'BM25 k1=1.2 b=0.75 floor=0.1') IS NOT NULL AS fine FROM stats;
SELECT top_words('a', lexicon, analysis => 'english') FROM stats;
SELECT top_words('simple'::regconfig, 'a', lexicon) FROM stats;
SELECT top_words('a', lexicon_agg('simple'::regconfig, 'a'));
SELECT long_sentences('a', n => 0);
SELECT heavy_sentences('a', lexicon, n => 101) FROM stats;
SELECT imatch('a', lexicon, 101) FROM stats;
SELECT imatch('a', lexicon, minimum => 0) FROM stats;
SELECT imatch('a', lexicon, low => 0.5, high => 0.4) FROM stats;
SELECT imatch('a', lexicon, low => 'nan') FROM stats;
SELECT imatch('a', lexicon, removed => 1) FROM stats;
SELECT fuzzy_fingerprint('a', lexicon, 17) FROM stats;
SELECT text_hash('a', 'unit=char');
SELECT text_hash('english', 'The document.');
SELECT lexicon_agg('english', body) FROM corpus WHERE id = 1;
SELECT word_set_agg(body, '', 0) FROM corpus;
SELECT word_set_agg(body, '', id) FROM corpus;
SELECT descriptive_words('a', ROW('', '{1}', '{}', NULL)::word_set);
SELECT descriptive_words('a', ROW('', '{1,1}', '{0.1,0.1}', NULL)::word_set);
SELECT descriptive_words('a', ROW('', '{1}', '{nan}', NULL)::word_set);
SELECT descriptive_words('a', ROW('', NULL, '{0.1}', NULL)::word_set);
SELECT descriptive_words('a', ROW(NULL, '{1}', '{0.1}', NULL)::word_set);
-- words that would all have one slot of a hash table without a random seed take no
-- longer than others: 20 times as long and more than 10 s is an error
SELECT clock_timestamp() AS began \gset
SELECT descriptive_words('a', ROW('', array_agg(hashint8extended(i, 0) ORDER BY i), array_agg(0.1::real), NULL)::word_set) AS none
FROM generate_series(1, 300000) i;
SELECT greatest(10000, 20000 * extract(epoch FROM clock_timestamp() - :'began'::timestamptz))::int AS patience \gset
SET statement_timeout = :patience;
SELECT descriptive_words('a', ROW('', array_agg(i::bigint << 40), array_agg(0.1::real), NULL)::word_set) AS none
FROM generate_series(1, 300000) i;
RESET statement_timeout;

-- Identity measures of Hoad and Zobel, in plain SQL
SELECT v, count(*) FILTER (WHERE abs(identity(a, b, lexicon, v) / nullif(oracle, 0) - 1) > 1e-12 OR (oracle = 0) <> (identity(a, b, lexicon, v) = 0)) AS wrong,
       count(*) FILTER (WHERE identity(a, b, lexicon, v) <> identity(b, a, lexicon, v)) AS asymmetric, count(*)
FROM stats, generate_series(1, 5) v,
     (SELECT a.body AS a, b.body AS b FROM corpus a, corpus b WHERE a.id <= 12 AND b.id <= 12) p,
     LATERAL (SELECT coalesce(sum(CASE v WHEN 1 THEN ln(n / df) WHEN 2 THEN ln(1 + n / df) WHEN 3 THEN ln(1 + n / df) * (tf + tf2)
                           WHEN 4 THEN ln(n / df) ELSE n / df END / (1 + abs(tf - tf2))), 0)
                     / (1 + CASE v WHEN 1 THEN diff ELSE ln(1 + diff) END) AS oracle
              FROM (SELECT x.tf, y.tf AS tf2, x.df, (lexicon_describe(lexicon)).documents::float8 AS n
                    FROM word_statistics(a, lexicon) x JOIN word_statistics(b, lexicon) y USING (word)) s
              RIGHT JOIN (SELECT abs(cardinality(string_to_array(a, ' ')) - cardinality(string_to_array(b, ' ')))::float8 AS diff) d ON true
              GROUP BY diff) o
GROUP BY v ORDER BY v;
SELECT identity('unknown word', 'word unknown', lexicon) = 2 * (lexicon_describe(lexicon)).documents AS as_rare_as_can_be,
       identity('simple'::regconfig, 'w1', 'w2', l) AS nothing_shared
FROM stats, (SELECT lexicon_agg('simple'::regconfig, 'w1') AS l) c;
SELECT identity('a', 'b', lexicon, 6) FROM stats;

DROP VIEW extended;
DROP TABLE corpus, stats, sentences, word_sets, sigs;
DROP FUNCTION random_of, chosen, middling, pairs, word_hash;
