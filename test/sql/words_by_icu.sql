--
-- Words by ICU are those of neardup (for a build with NEARDUP_TESTING)
--

-- Tables and short cuts give the words of ICU for whole runs: random text of ASCII,
-- Cyrillic, Arabic with marks, combining marks, Hangul, Thai, ligatures, letters
-- beyond the BMP
CREATE FUNCTION words_by_icu(doc text, analysis text) RETURNS text[]
    AS '$libdir/neardup', 'neardup_words_by_icu' LANGUAGE C IMMUTABLE STRICT;
CREATE FUNCTION random_text(seed bigint, n int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    ranges int[] := ARRAY[
        [32, 126], [32, 47], [97, 122], [97, 122], [65, 90], [192, 591], [768, 879], [880, 1023],
        [1024, 1153], [1072, 1103], [1024, 1327], [39, 39], [8217, 8217], [1536, 1791], [1569, 1610], [1611, 1624],
        [8203, 8207], [173, 173], [4352, 4607], [44032, 44100], [55203, 55203], [64256, 64433], [64336, 65023], [65136, 65276],
        [65281, 65500], [3585, 3675], [3661, 3661], [3634, 3635], [3713, 3807], [2304, 2431], [7680, 8191], [8208, 8303],
        [8448, 8585], [188, 190], [12353, 12543], [19968, 20100], [119808, 120831], [66560, 66639], [125184, 125258], [918000, 918050],
        [6016, 6109], [4096, 4255], [127232, 127404], [768, 783], [304, 305], [73, 73], [775, 775], [131072, 131100]];
    state bigint := seed;
    range int;
    result text := '';
BEGIN
    FOR i IN 1..n LOOP
        -- stay with a range for some characters
        IF i % 4 = 1 THEN
            state := (state * 1103515245 + 12345) % 2147483648;
            range := 1 + (state >> 12) % 48;
        END IF;
        state := (state * 1103515245 + 12345) % 2147483648;
        result := result || chr(ranges[range][1] + ((state >> 12) % (ranges[range][2] - ranges[range][1] + 1))::int);
    END LOOP;
    RETURN result;
END $$;
CREATE TABLE random_texts AS SELECT n, random_text(n, 60) AS body FROM generate_series(1, 3000) n;
SELECT analysis, count(*) AS texts, sum(cardinality(neardup_words(body, analysis))) > 20000 AS many_words,
       count(*) FILTER (WHERE neardup_words(body, analysis) IS DISTINCT FROM words_by_icu(body, analysis)) AS different
FROM random_texts, unnest('{simple,arabic,turkish,accents=fold,turkish accents=fold}'::text[]) analysis GROUP BY 1 ORDER BY analysis COLLATE "C";
-- divided words
SELECT count(*) AS texts, count(*) FILTER (WHERE words <> neardup_words(body)) > 2000 AS many_divided,
       count(*) FILTER (WHERE words IS DISTINCT FROM words_by_icu(body, 'hyphens=join')) AS different
FROM (SELECT regexp_replace(body, '(.{5})', '\1' || (ARRAY['-', '‐', '­', '¬'])[n % 4 + 1] || E'\n', 'g') AS body FROM random_texts) t,
     neardup_words(body, 'hyphens=join') words;
-- long ones, across the borders of chunks and blocks
SELECT count(*) AS texts, count(*) FILTER (WHERE neardup_words(body) IS DISTINCT FROM words_by_icu(body, '')) AS different
FROM (SELECT string_agg(body || repeat(' ascii words', (n % 30)::int), ' ' ORDER BY n) AS body FROM random_texts GROUP BY n % 5) t;
-- every code point alone, before and after a letter
SELECT sum(n) AS characters, count(*) FILTER (WHERE neardup_words(body) IS DISTINCT FROM words_by_icu(body, '')) AS different
FROM (SELECT count(*) AS n, string_agg(c || 'a' || c || 'и' || c || ' ' || c || ' ', '' ORDER BY n) AS body
      FROM (SELECT n, chr(n) AS c FROM generate_series(1, 204800) n WHERE n NOT BETWEEN 55296 AND 57343) t GROUP BY n / 64) t;
DROP TABLE random_texts;
DROP FUNCTION random_text, words_by_icu;
