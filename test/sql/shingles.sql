--
-- Sets of shingles
--

-- "a rose is a rose is a rose" has 5 shingles of 4 words, 3 distinct
SELECT cardinality(shingles('a rose is a rose is a rose', 4)::bigint[]);
-- A and B have 3/5, 3/6 and 3/7 in common
SELECT k, intersection_size(a, b)::text || '/' ||
       (cardinality(a::bigint[]) + cardinality(b::bigint[]) - intersection_size(a, b))::text AS resemblance, similarity(a, b)
FROM generate_series(1, 3) k,
     LATERAL (SELECT shingles('a rose is a rose is a rose', k), shingles('a rose is a flower which is a rose', k)) s (a, b)
ORDER BY k;

-- Broder's labelled shingles: a multiset, whose overlap is the sum of the lesser
-- counts; an element that occurs once is unchanged
SELECT cardinality(shingles('a rose is a rose is a rose', 'k=4 repeats=number')::bigint[]) AS all_five;
SELECT intersection_size(shingles('a a a b', 'k=1 repeats=number'), shingles('a a c a a', 'k=1 repeats=number')) AS three,
       shingles('x y z', 'k=1 repeats=number')::bigint[] = shingles('x y z', 'k=1')::bigint[] AS same_values;
SELECT intersection_size(shingles(repeat('a b ', 5000), 'k=1 repeats=number'),
               shingles(repeat('b c b ', 4000), 'k=1 repeats=number')) AS five_thousand;
SELECT minhash(shingles('a b a b a b c', 'k=1 repeats=number'), 64)
       = minhash('a b a b a b c', 64, 1, 'repeats=number') AS same_bytes;
SELECT similarity(shingles('a b', 'repeats=number'), shingles('a b'));

-- A document shorter than k is one shingle; one without words the empty set
SELECT shingles('one two') = shingles('one two', 3) AS k, shingles('one two'), shingles('one'), shingles(''), shingles(' ... ');
SELECT shingles('one two')::bigint[] = shingles('one two', 2)::bigint[] AS as_if_two;
SELECT similarity(shingles(''), shingles(''));

-- The values are fixed for ever: XXH3 of the words' hashes in sequence
SELECT shingles('a', 1), shingles('word', 1), shingles('слово', 1);
SELECT shingles('the quick brown fox');
SELECT shingles('the quick brown fox', 'order=sorted');
SELECT shingles('the quick brown fox', 'order=xor');
SELECT shingles('the quick brown fox', 'order=sum');
SELECT shingles('fox', 'unit=char');
SELECT shingles('The fox. A dog!', 'unit=sentence k=1');
SELECT shingles(E'The fox.\nA dog!', 'unit=line k=1');

-- Word order.  Any permutation inside a shingle is the same
SELECT o, k, bool_and(shingles(array_to_string(p, ' '), k, 'order=' || o) = shingles(array_to_string(p[1:1] || array_reverse, ' '), k, 'order=' || o)) AS same
FROM unnest('{keep,sorted,xor,sum}'::text[]) o, generate_series(2, 12) k,
     LATERAL (SELECT array_agg('w' || n % 5 ORDER BY n) FROM generate_series(1, k) n) a (p),
     LATERAL (SELECT array_agg('w' || n % 5 ORDER BY n DESC) FROM generate_series(2, k) n) b (array_reverse)
WHERE k IN (3, 7, 12) GROUP BY o, k ORDER BY o, k;
-- xor loses words that occur twice, sum and sorted do not
SELECT o, shingles('a a b', 'k=3 order=' || o)::bigint[] = shingles('b c c', 'k=3 order=' || o)::bigint[] AS lost
FROM unnest('{sorted,xor,sum}'::text[]) o ORDER BY o;
-- sorted and sum find the multisets that a naive count finds, for every k
SELECT count(*) AS cases,
       count(*) FILTER (WHERE naive <> cardinality(shingles(t, k, 'order=sorted')::bigint[])) AS sorted,
       count(*) FILTER (WHERE naive <> cardinality(shingles(t, k, 'order=sum')::bigint[])) AS sum
FROM (SELECT k, array_to_string(w, ' ') AS t,
             (SELECT count(DISTINCT (SELECT array_agg(x ORDER BY x) FROM unnest(w[i:i + k - 1]) x))
              FROM generate_series(1, cardinality(w) - k + 1) i) AS naive
      FROM generate_series(1, 14) k, generate_series(1, 20) s,
           LATERAL (SELECT array_agg('w' || (hashint8(s * 1000 + n) & 3) ORDER BY n) FROM generate_series(1, 60) n) a (w)) c;
-- The sorted window that is kept between shingles has the words of each shingle
SELECT count(*) AS cases,
       count(*) FILTER (WHERE (SELECT array_agg(v ORDER BY v)
                               FROM unnest(shingles(array_to_string(w, ' '), k, 'order=sorted')::bigint[]) v)
                           <> (SELECT array_agg(DISTINCT v ORDER BY v)
                               FROM generate_series(1, cardinality(w) - k + 1) i,
                                    unnest(shingles(array_to_string(w[i:i + k - 1], ' '), k, 'order=sorted')::bigint[]) v)) AS wrong
FROM generate_series(1, 40) k, generate_series(1, 3) s,
     LATERAL (SELECT array_agg('w' || (hashint8(s * 1000 + n) & 31) ORDER BY n) FROM generate_series(1, 100) n) a (w);
-- and its values are fixed, too
SELECT md5(string_agg(shingles(t, k, 'order=sorted')::text, ' ' ORDER BY k)) AS values
FROM generate_series(1, 40) k,
     LATERAL (SELECT string_agg('w' || (hashint8(n) & 31), ' ' ORDER BY n) FROM generate_series(1, 100) n) a (t);

-- Characters: of the words, joined by single spaces
SELECT cardinality(shingles('abcabc', 'unit=char k=3')::bigint[]) AS three,
       shingles('Ab,  cd', 'unit=char k=5') = shingles(' ab cd!', 'unit=char k=5') AS spaces,
       shingles('ёж', 'unit=char k=2') = shingles('еж', 'unit=char k=2') AS folded;
SELECT shingles('数据库', 'unit=char k=3') = shingles('数据库。', 'unit=char k=3') AS not_segmented,
       cardinality(shingles('数据库', 'unit=char k=1')::bigint[]) AS three;
-- no space where a long word is cut
SELECT cardinality(shingles(repeat('a', 5000), 'unit=char k=5')::bigint[]) AS one,
       cardinality(shingles(repeat('яж', 5000), 'unit=char k=5')::bigint[]) AS two;

-- Sentences: a newline is a space, an empty line ends one
SELECT s, cardinality(shingles(s, 'unit=sentence k=1')::bigint[]) AS sentences
FROM unnest(ARRAY['One. Two! Three? Four', E'One\ntwo. Three\nfour', E'Title\n\nText is here. And here', E'Dr. 5 etc. is one of them', '...', E'\n\n', 'Раз. Два!', '一。二。三。']) s;
-- Neither order nor inflection of the words matters with order=sum
SELECT shingles('The foxes jumped. Dogs sleep.', 'english unit=sentence order=sum k=1') =
       shingles('Jumping the fox. Sleeping dog? Sleeps dogs!', 'english unit=sentence order=sum k=1') AS same,
       shingles('Slept dog. Foxes jumped the!', 'english unit=sentence order=sum k=2') =
       shingles('The foxes jumped. Dogs slept.', 'english unit=sentence order=sum k=2') AS pairs;
-- and SH of a sentence is the sum of its words' hashes
SELECT shingles('the fox. a dog', 'unit=sentence order=sum k=2')::bigint[] = shingles('the fox a dog', 'order=sum k=4')::bigint[] AS sums;
-- sentences over the border of the window, and longer than it
SELECT cardinality(shingles(repeat('x ', n) || '. The quick fox. Lazy dogs. ' || repeat('y ', 10), 'unit=sentence k=1')::bigint[]) AS sentences
FROM generate_series(32740, 32780, 8) n;
SELECT cardinality(shingles(repeat('a b c ', 100000) || '. End.', 'unit=sentence k=1')::bigint[]) > 1 AS cut;

-- Lines: those without words do not count; a line end is a line end
SELECT cardinality(shingles(E'a b\n\n  \nc d\r\na b\n.', 'unit=line k=1')::bigint[]) AS two,
       shingles(E'a b\nc', 'unit=line k=2') = shingles(E'\na b\r\n\r\nc', 'unit=line k=2') AS same,
       shingles('a b<p>c</p>d<br>e', 'html unit=line k=1') = shingles(E'a b\nc\nd\ne', 'unit=line k=1') AS html;
SELECT cardinality(shingles('<h1>Title</h1><p>One <b>word</b>. Two</p>three', 'html unit=sentence k=1')::bigint[]) AS html_sentences;
SELECT cardinality(shingles(string_agg(repeat('word ', n), E'\n'), 'unit=line k=1')::bigint[]) AS lines FROM generate_series(1, 300) n;

-- Large and repetitive documents
SELECT cardinality(shingles(string_agg(n::text, ' ' ORDER BY n), 1)::bigint[]) AS distinct_words FROM generate_series(1, 200000) n;
SELECT cardinality(shingles(repeat('a ', 1000000), 3)::bigint[]) AS one, cardinality(shingles(repeat('a b c ', 300000), 2)::bigint[]) AS three;
-- all distinct words of texts with few, many and skewed ones
SELECT bool_and(cardinality(shingles(t, 1)::bigint[]) = words) AS right_count
FROM (SELECT g, string_agg(w, ' ') AS t, count(DISTINCT w) AS words
      FROM generate_series(1, 30) g, generate_series(1, 400 * g) n,
           LATERAL (SELECT CASE g % 3 WHEN 0 THEN n % 4 WHEN 1 THEN abs(hashint8(n)) ELSE abs(hashint8(n)) % (1 + n % 100) END::text) v (w)
      GROUP BY g) t;

-- The set does not depend on earlier documents
SELECT bool_and(shingles(t) = single) AS same
FROM (VALUES (repeat('x y z ', 30000), shingles(repeat('x y z ', 30000))), ('', shingles('')), ('a b', shingles('a b')), ('ё п''', shingles('ё п'''))) v (t, single);

-- A generated column, an index on an expression, a prepared statement
CREATE TABLE shingled (id int PRIMARY KEY, body text, sig signature GENERATED ALWAYS AS (shingles(body, 'english stop')) STORED);
INSERT INTO shingled VALUES (1, 'The quick brown foxes'), (2, 'quick brown fox'), (3, NULL);
SELECT id, sig FROM shingled ORDER BY id;
CREATE INDEX ON shingled (shingles(body, 2, 'russian'));
PREPARE find (text, text) AS SELECT id FROM shingled WHERE shingles(body, $2) = shingles($1, $2) ORDER BY id;
EXECUTE find ('QUICK BROWN fox', 'k=1');
EXECUTE find ('quick the brown fox', 'english stop');
DROP TABLE shingled;
