--
-- Passages: the memory that doc/passages.md promises, in bytes for each word
--

CREATE FUNCTION neardup_memory_peak() RETURNS bigint AS '$libdir/neardup' LANGUAGE C VOLATILE;

-- Bytes for each word of both texts, at the peak, without 64 kB
CREATE FUNCTION bytes_per_word(a text, b text) RETURNS float8 LANGUAGE plpgsql AS $$
BEGIN
    PERFORM neardup_memory_peak(), coverage(a, b);
    RETURN (neardup_memory_peak() - 65536)::float8 / (cardinality(neardup_words(a)) + cardinality(neardup_words(b)));
END $$;

-- Memory that a session allocates at its first texts does not count
SELECT coverage('a', 'b');

-- Words of that many letters, numbered from n up to m
CREATE FUNCTION some_words(n int, m int, letters int = 5) RETURNS text LANGUAGE sql AS
$$ SELECT string_agg('w' || substr(md5(i::text), 1, letters - 1), ' ' ORDER BY i) FROM generate_series(n, m) i $$;

-- half of it common, all, nothing; short words, long ones
SELECT what, bytes BETWEEN 16 AND 22 AS within, CASE WHEN bytes NOT BETWEEN 16 AND 22 THEN bytes END AS bytes
FROM (SELECT 'half' AS what, bytes_per_word(some_words(1, 20000), some_words(10000, 30000)) AS bytes
      UNION ALL SELECT 'all', bytes_per_word(some_words(1, 20000), some_words(1, 20000))
      UNION ALL SELECT 'nothing', bytes_per_word(some_words(1, 20000), some_words(20001, 40000))
      UNION ALL SELECT 'short', bytes_per_word(some_words(1, 20000, 3), some_words(10000, 30000, 3))
      UNION ALL SELECT 'long', bytes_per_word(some_words(1, 20000, 30), some_words(10000, 30000, 30))) AS s;

-- one text much longer than the other; neither has to be the first
SELECT bytes_per_word(some_words(1, 50000), some_words(1, 3000)) < 22 AS longer,
       bytes_per_word(some_words(1, 3000), some_words(1, 50000)) < 22 AS shorter;

-- repeated text: all of it is frequent
SELECT bytes_per_word(repeat('a b ', 60000), repeat('b a ', 60000)) < 32 AS words,
       bytes_per_word(repeat('The same line again and again. ', 30000), repeat('the same line, again, and again ', 30000)) < 32 AS lines;

-- cases: words that differ, phrases that match in four places each
CREATE FUNCTION case_bytes_per_word(a text, b text) RETURNS float8 LANGUAGE plpgsql AS $$
BEGIN
    PERFORM neardup_memory_peak();
    PERFORM count(*) FROM copied_cases(a, b, 'rewritten');
    RETURN (neardup_memory_peak() - 65536)::float8 / (cardinality(neardup_words(a)) + cardinality(neardup_words(b)));
END $$;
SELECT what, bytes BETWEEN 16 AND most AS within, CASE WHEN bytes NOT BETWEEN 16 AND most THEN bytes END AS bytes
FROM (SELECT 'half' AS what, 80 AS most, case_bytes_per_word(some_words(1, 20000), some_words(10000, 30000)) AS bytes
      UNION ALL SELECT 'nothing', 80, case_bytes_per_word(some_words(1, 20000), some_words(20001, 40000))
      UNION ALL SELECT 'four', 200, case_bytes_per_word(repeat(some_words(1, 10000) || ' ', 4), repeat(some_words(1, 10000) || ' ', 4))) AS s;

-- and it is released
SELECT count(*) FROM pg_backend_memory_contexts WHERE name IN ('neardup evidence', 'neardup passages', 'neardup cases');

-- The words of a document with their statistics: each word is kept once
CREATE FUNCTION word_bytes(doc text) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
    PERFORM neardup_memory_peak();
    PERFORM count(*) FROM word_statistics(doc, (SELECT lexicon_agg('a'::text)));
    RETURN neardup_memory_peak();
END $$;
SELECT word_bytes(repeat('the same words again and again, ', 10000)) BETWEEN 1 AND 100000 AS once;

DROP FUNCTION bytes_per_word, case_bytes_per_word, some_words, word_bytes, neardup_memory_peak;
