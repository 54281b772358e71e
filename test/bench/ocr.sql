-- Wrong letters: how many texts are found by themselves
-- COLLECTIONS=DIR psql -f test/bench/ocr.sql, in an empty database
\i test/bench/common.sql
\copy docs FROM PROGRAM 'xzcat "$COLLECTIONS/debdesc.tsv.xz"'
CREATE FUNCTION number(seed text, below int) RETURNS int
    LANGUAGE sql IMMUTABLE AS
$$ SELECT ('x' || substr(md5(seed), 1, 7))::bit(28)::int % below $$;
CREATE TABLE scans AS
SELECT id, wrong, left(body, 1200) AS body,
       (SELECT string_agg(CASE WHEN c ~ '[a-z]' AND number(id || ' ' || i || ' ' || wrong, 1000) < wrong * 10
                               THEN chr(97 + number(id || 'r' || i, 26)) ELSE c END, '' ORDER BY i)
        FROM regexp_split_to_table(left(body, 1200), '') WITH ORDINALITY t (c, i)) AS scanned
FROM (SELECT min(id) AS id, min(body) AS body FROM docs WHERE length(body) BETWEEN 600 AND 1200
      GROUP BY package ORDER BY md5(package) LIMIT 1000) d, unnest(ARRAY[0, 1, 3, 5]) wrong;
SELECT analysis, threshold, wrong,
       count(*) FILTER (WHERE near_duplicate(shingles(body, analysis), shingles(scanned, analysis), threshold)) AS found
FROM scans, (VALUES ('', 0.8), ('', 0.4), ('unit=letter k=8', 0.8), ('unit=letter k=8', 0.3), ('unit=letter k=5', 0.4)) m (analysis, threshold)
GROUP BY analysis, threshold, wrong ORDER BY analysis, threshold DESC, wrong;
-- pairs of unlike originals
CREATE TABLE originals AS
SELECT id, shingles(body) AS words, shingles(body, 'unit=letter k=8') AS eight, shingles(body, 'unit=letter k=5') AS five FROM scans WHERE wrong = 0;
SELECT (SELECT count(*) FROM originals a JOIN originals b ON near_duplicate(a.words, b.words, 0.4) AND a.id < b.id) AS words_at_4,
       (SELECT count(*) FROM originals a JOIN originals b ON near_duplicate(a.eight, b.eight, 0.3) AND a.id < b.id) AS eight_at_3,
       (SELECT count(*) FROM originals a JOIN originals b ON near_duplicate(a.five, b.five, 0.4) AND a.id < b.id) AS five_at_4;
