--
-- Passages: their places, edits, settings, an oracle
--

-- The passages in both texts
CREATE FUNCTION passages(a text, b text, analysis text = '', min_words int = 8, max_gap int = 8,
                         OUT in_a text, OUT in_b text, OUT similarity text) RETURNS SETOF record
    LANGUAGE sql AS
$$ SELECT substr(a, a_start, a_length), substr(b, b_start, b_length), round(p.similarity::numeric, 3)
   FROM shared_passages(a, b, min_words, max_gap, analysis) p ORDER BY a_start, b_start $$;

\set fox 'The quick brown fox jumps over the lazy dog, while the cat sleeps on the mat.'
\set other 'Nobody knew.  The QUICK\nbrown -- fox jumps (over) the lazy dog while the cat sleeps on the sofa!'
SELECT * FROM shared_passages(:'fox', E:'other');
SELECT * FROM passages(:'fox', E:'other');
SELECT * FROM coverage(:'fox', E:'other');
-- the same with exchanged texts
SELECT * FROM shared_passages(E:'other', :'fox');

-- No passage, and the whole text
SELECT * FROM shared_passages('', :'fox');
SELECT * FROM shared_passages(:'fox', 'Something else');
SELECT * FROM shared_passages('', '');
SELECT * FROM shared_passages(NULL, :'fox');
SELECT * FROM shared_passages(:'fox', :'fox');
SELECT (coverage('', :'fox')).*, (coverage(:'fox', :'fox')).*;
SELECT coverage(:'fox', NULL);

-- The least length, in words
SELECT * FROM passages('one two three. Four', 'one two THREE five', '', 3);
SELECT * FROM passages('one two three. Four', 'one two THREE five', '', 4);
SELECT * FROM passages('one', 'x One y one', '', 1);
-- A gap: words without a counterpart, in either text
\set a 'alpha beta gamma delta epsilon zeta eta theta iota kappa lambda my'
SELECT * FROM passages(:'a', 'alpha beta gamma delta x y z zeta eta theta iota kappa lambda', '', 4, 2);
SELECT * FROM passages(:'a', 'alpha beta gamma delta x y z zeta eta theta iota kappa lambda', '', 4, 3);
SELECT * FROM passages(:'a', 'alpha beta gamma delta zeta eta theta iota kappa lambda', '', 4, 0);
SELECT * FROM passages(:'a', 'alpha beta gamma delta zeta eta theta iota kappa lambda', '', 4, 1);
-- words of both passages are not counted twice
SELECT * FROM passages('a b c d e f', 'a b c d c d e f', '', 4, 2);
-- An edit close to an end: the two words after it are fewer than a shingle, but hardly
-- equal by chance
\set a 'one two three four five six seven eight nine ten eleven twelve thirteen'
SELECT * FROM passages(:'a', 'x x one two X four five six seven eight nine ten eleven ELSE thirteen x x');
SELECT * FROM passages(:'a', 'x x one two four five six seven eight nine ten eleven ELSE twelve thirteen x x');
SELECT * FROM passages(:'a', 'x x two one three four five six seven eight nine ten X X twelve thirteen x x');
SELECT * FROM passages(:'a', 'x x one two X Y four five six seven eight nine ten eleven ELSE thirteen x x');
-- not if gaps are excluded, or are too small
SELECT * FROM passages(:'a', 'x x one two X four five six seven eight nine ten eleven ELSE thirteen x x', '', 8, 0);
SELECT * FROM passages(:'a', 'x x one two X Y four five six seven eight nine ten eleven ELSE thirteen x x', '', 8, 1);
-- they are no passage alone
SELECT * FROM passages(:'a', 'x x one two X four five six X eight nine ten ELSE twelve thirteen x x', '', 8);
SELECT * FROM passages(:'a', 'x x one two X four five six X eight nine ten ELSE twelve thirteen x x', '', 6);
-- longer shingles have longer short runs
SELECT * FROM passages(:'a', 'x one two three X X X seven eight nine ten eleven twelve thirteen', 'k=5', 6);
-- moved passages
SELECT * FROM passages('a b c d e f g h', 'e f g h x x x x x x x x x x a b c d', '', 4);

-- The analysis decides which words are equal
SELECT * FROM passages('The foxes were jumping over lazy dogs!', 'a fox is jumped, over the lazy dog', 'english stop k=2', 3);
SELECT * FROM passages('the cat sat on the mat', 'cat the sat the on mat', 'order=sorted k=6', 6);
SELECT * FROM passages('one two three four five', 'two one three five four', 'order=sorted k=5', 5);
SELECT * FROM passages('<p>Съешь же <b>ещё</b> этих мягких бул&shy;ок, да выпей &laquo;чаю&raquo;.</p>', 'x СЪЕШЬ ЖЕ ЕЩЕ ЭТИХ МЯГКИХ булок, да выпей чаю, z', 'html', 5);
SELECT * FROM passages('Книги стояли на полках в тёмной комнате', 'книга стояла на полке в темных комнатах', 'russian', 5);
-- psql's versions differ about the width of a non-joiner
\pset format unaligned
SELECT * FROM passages('كتاب‌هاي من كجاست؟ نمی‌دانم', 'کتابهای من کجاست نمیدانم', 'persian', 4);
\pset format aligned
SELECT * FROM passages('我们在北京学习中文。今天天气很好！', '他说：今天天气很好，我们在北京学习中文。', '', 3);
SELECT * FROM passages('ПРИВІТ! П''ять комп''ютерів і під’їзд', 'п’ять комп’ютерів і під''їзд були', 'ukrainian', 4);
-- units are words, whatever the analysis
SELECT * FROM passages('one two three four', 'one two three four', 'unit=char', 4);

-- Neither a character nor a grapheme is cut
SELECT * FROM shared_passages(U&'xx \0915\094D\0937\093F one two three \+01F468\200D\+01F469', U&'\0915\094D\0937\093F one two three', 4);
SELECT * FROM shared_passages(U&'a e\0301 b c\0301\0302 q', U&'q \00E9 b c\0301\0302\0303', 1);
SELECT * FROM shared_passages(U&'\0600\0661\0662 one two', U&'\0661\0662 one two', 3);

-- Settings out of range
SELECT * FROM shared_passages('a', 'b', 0);
SELECT * FROM shared_passages('a', 'b', 8, -1);
SELECT * FROM shared_passages('a', 'b', 8, 101);
\set VERBOSITY terse
SELECT * FROM shared_passages('a', 'b', analysis => 'englisch');	-- the list depends on the stemmer's version
\set VERBOSITY default
SELECT * FROM shared_passages('a', 'b', 2147483647);
SELECT * FROM shared_passages('a', 'b', 2147483647, 100, 'k=1000');

-- Repeated text: the number of passages is linear in the text
SELECT count(*), max(similarity) FROM shared_passages(repeat('The same line again and again. ', 3000), repeat('the same line, again, and again ', 2000));
SELECT count(*) FROM shared_passages(repeat('The same line again and again. ', 1000), 'x the same line again and again y', 6);
SELECT (coverage(repeat('The same line again and again. ', 1000), 'the same line again and again y', 6)).*;
SELECT count(*) FROM shared_passages(repeat('a ', 100000), repeat('a ', 90000));
SELECT count(*) <= 400 AS few, sum(a_length) > 0 AS some FROM shared_passages(repeat('a b ', 200) || repeat('a ', 200), repeat('b a ', 300) || repeat('b ', 200));
-- frequent words in another order are no run
SELECT * FROM passages('c a e c ' || repeat('x c y a z e ', 9), 'c e a c', 'k=1', 4, 0);
SELECT * FROM passages('c a e c ' || repeat('x c y a z e ', 9), 'c a e c', 'k=1', 4, 0);

-- It can be cancelled
SET statement_timeout = '30ms';
SELECT count(*) FROM shared_passages(repeat('a b ', 3000000), repeat('b a ', 3000000));
RESET statement_timeout;

-- An oracle: all pairs of equal words, in SQL.  Words are of two letters, so
-- that word i is at character 3i + 1.
CREATE FUNCTION random_words(seed bigint, n int, letters int) RETURNS text
    LANGUAGE plpgsql IMMUTABLE AS
$$
DECLARE
    result text[];
BEGIN
    seed := seed * 7919 + 1;
    FOR i IN 1..n LOOP
        seed := (seed * 1103515245 + 12345) % 2147483648;
        result[i] := 'w' || chr(97 + (seed / 65536 % letters)::int);
    END LOOP;
    RETURN array_to_string(result, ' ');
END
$$;
CREATE TABLE pairs AS
SELECT seed, letters, least::int, k, random_words(seed, 20 + seed * 7 % 100, letters) AS a,
       random_words(seed + 1000, 20 + seed * 11 % 130, letters) AS b
FROM (SELECT seed, (2 + seed * seed % 19) AS letters, (2 + seed % 7) AS least, (1 + seed % 5) AS k
      FROM generate_series(1, 150) seed) s;
CREATE TABLE words AS
SELECT seed, side, (n - 1)::int AS i, w
FROM pairs, LATERAL (VALUES ('a', a), ('b', b)) AS t(side, doc), unnest(string_to_array(doc, ' ')) WITH ORDINALITY AS x(w, n);
-- maximal common runs, from word i of a and j of b
CREATE TABLE runs AS
SELECT seed, min(i) AS i, min(j) AS j, count(*)::int AS n
FROM (SELECT a.seed, a.i, b.i AS j, a.i - row_number() OVER (PARTITION BY a.seed, a.i - b.i ORDER BY a.i) AS island
      FROM words a JOIN words b ON a.seed = b.seed AND a.w = b.w AND a.side = 'a' AND b.side = 'b') equal
JOIN pairs USING (seed)
GROUP BY seed, i - j, island, least HAVING count(*) >= least;
CREATE TABLE found AS
SELECT seed, (a_start - 1) / 3 AS i, (b_start - 1) / 3 AS j, (a_length + 1) / 3 AS n, a_length, b_length, similarity
FROM pairs, shared_passages(a, b, least, 0, 'k=' || k);
CREATE INDEX ON found (seed, i);
CREATE INDEX ON found (seed, j);
ANALYZE pairs, words, runs, found;
SELECT count(*) > 500 AS many, count(DISTINCT seed) > 100 AS of_many FROM runs;
-- each passage is a maximal common run
SELECT count(*) FROM found LEFT JOIN runs USING (seed, i, j, n) WHERE runs.seed IS NULL OR a_length <> b_length OR similarity <> 1;
-- each word of a run is in a passage, in both texts
SELECT count(*) FROM runs, generate_series(0, runs.n - 1) x
WHERE NOT EXISTS (SELECT FROM found WHERE seed = runs.seed AND runs.i + x >= found.i AND runs.i + x < found.i + found.n)
   OR NOT EXISTS (SELECT FROM found WHERE seed = runs.seed AND runs.j + x >= found.j AND runs.j + x < found.j + found.n);
-- each run is within one, unless all of it is frequent
CREATE TABLE windows AS
SELECT seed, side, i, count(*) OVER (PARTITION BY seed, side, w) AS often
FROM (SELECT seed, side, i, substr(doc, 3 * i + 1, 3 * least - 1) AS w
      FROM pairs, LATERAL (VALUES ('a', a), ('b', b)) AS t(side, doc),
           generate_series(0, (length(doc) + 1) / 3 - least) i) t;
CREATE INDEX ON windows (seed, side, i);
ANALYZE windows;
SELECT count(*) > 500 AS many,
       count(*) FILTER (WHERE NOT EXISTS (SELECT FROM found WHERE seed = runs.seed AND runs.i >= found.i AND runs.i + runs.n <= found.i + found.n
                                          AND runs.j >= found.j AND runs.j + runs.n <= found.j + found.n)) AS missing
FROM runs JOIN pairs USING (seed)
WHERE EXISTS (SELECT FROM generate_series(0, n - least) x
              JOIN windows a ON a.seed = runs.seed AND a.side = 'a' AND a.i = runs.i + x
              JOIN windows b ON b.seed = runs.seed AND b.side = 'b' AND b.i = runs.j + x
              WHERE a.often <= 8 AND b.often <= 8);
-- with gaps, runs are still within passages, and shared words are in both
CREATE TABLE bridged AS
SELECT seed, (a_start - 1) / 3 AS i, (b_start - 1) / 3 AS j, (a_length + 1) / 3 AS n, (b_length + 1) / 3 AS m, similarity
FROM pairs, shared_passages(a, b, least, 3, 'k=' || k);
CREATE INDEX ON bridged (seed);
ANALYZE bridged;
SELECT count(*) FROM found
WHERE NOT EXISTS (SELECT FROM bridged b WHERE b.seed = found.seed AND found.i >= b.i AND found.i + found.n <= b.i + b.n
                  AND found.j >= b.j AND found.j + found.n <= b.j + b.m);
SELECT count(*) FROM bridged WHERE similarity <= 0 OR similarity > 1;
-- the shares
SELECT count(*) FROM pairs, coverage(a, b, least, 0, 'k=' || k) c
WHERE abs(of_a - (SELECT count(DISTINCT found.i + x) FROM found, generate_series(0, found.n - 1) x WHERE found.seed = pairs.seed)
                 / ((length(a) + 1) / 3)::float8) > 1e-9
   OR abs(of_b - (SELECT count(DISTINCT found.j + x) FROM found, generate_series(0, found.n - 1) x WHERE found.seed = pairs.seed)
                 / ((length(b) + 1) / 3)::float8) > 1e-9;
-- the passages do not depend on the order of the texts
SELECT count(*) FROM pairs
WHERE (SELECT array_agg((a_start, a_length, b_start, b_length, similarity) ORDER BY a_start, b_start, a_length, b_length)
       FROM shared_passages(a, b, least, 2)) IS DISTINCT FROM
      (SELECT array_agg((b_start, b_length, a_start, a_length, similarity) ORDER BY b_start, a_start, b_length, a_length)
       FROM shared_passages(b, a, least, 2));
DROP TABLE pairs, words, runs, found, bridged, windows;
DROP FUNCTION random_words, passages;

-- No passage is within another, also where very many overlap
CREATE FUNCTION few_words(n int, kinds int, seed int) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT string_agg(chr(120 + (hashint4extended(w, seed) & 1023)::int % kinds), ' ' ORDER BY w) FROM generate_series(1, n) w $$;
WITH passage AS MATERIALIZED (
    SELECT kinds, seed, gap, ordinality AS number, p.* FROM generate_series(2, 3) kinds, generate_series(1, 6) seed, unnest('{0,2}'::int[]) gap,
        shared_passages(few_words(600, kinds, seed), few_words(600, kinds, seed + 100), 2, gap, 'k=2') WITH ORDINALITY p)
SELECT (SELECT count(*) > 9000 FROM passage) AS many, count(*) AS within
FROM passage x JOIN passage y USING (kinds, seed, gap)
WHERE x.number <> y.number AND y.a_start <= x.a_start AND y.a_start + y.a_length >= x.a_start + x.a_length
    AND y.b_start <= x.b_start AND y.b_start + y.b_length >= x.b_start + x.b_length;
DROP FUNCTION few_words;
