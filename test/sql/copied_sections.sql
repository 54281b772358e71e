--
-- Sections and blocks of a document that were copied from another
--

-- Words w1, w2, ...
CREATE FUNCTION numbered(first int, last int) RETURNS text
    LANGUAGE sql IMMUTABLE AS
$$ SELECT string_agg('w' || i, ' ' ORDER BY i) FROM generate_series(first, last) i $$;

-- Four sections of four blocks of ten words: copied whole, in three blocks (one
-- of them moved by half a block), in two, not at all; and one without blocks
CREATE TABLE docs AS
SELECT ARRAY[numbered(1, 40), numbered(101, 120) || ' ' || numbered(1001, 1010) || ' ' || numbered(126, 135),
             numbered(201, 220) || ' ' || numbered(2001, 2020), numbered(3001, 3040), 'too short'] AS a,
       numbered(1, 50) || ' ' || numbered(100, 140) || ' ' || numbered(195, 220) AS b;
SELECT c.* FROM docs, copied_sections(a, b, block => 10) c;
SELECT c.* FROM docs, copied_sections(a, b, block => 10, section_share => 0.5) c;
-- Stopping as soon as the verdict is certain
SELECT c.* FROM docs, copied_sections(a, b, block => 10, early => true) c;
SELECT c.* FROM docs, copied_sections(a, b, block => 10, section_share => 0.5, early => true) c;
SELECT section, looked_at, parts, is_copied FROM docs, copied_sections(a, b, block => 10, section_share => 0.25, document_share => 0.25, early => true);
-- A block: three quarters of its shingles, whatever is between them
SELECT * FROM copied_sections(ARRAY[numbered(1, 10)], numbered(1, 8) || ' x', block => 10);
SELECT * FROM copied_sections(ARRAY[numbered(1, 10)], numbered(1, 7) || ' x', block => 10);
-- shingles far from each other are not in one block
SELECT * FROM copied_sections(ARRAY[numbered(1, 10)], numbered(1, 5) || ' ' || numbered(101, 150) || ' ' || numbered(6, 10), block => 10, block_share => 0.6);
-- case, punctuation and inflection do not count; a short last block does
SELECT * FROM copied_sections(ARRAY['The Foxes jumped over lazy dogs. Then, they slept'], 'a fox jumps over the lazy dog and then they sleep', 4, analysis => 'english stop k=2');
SELECT * FROM copied_sections('{}', 'b');
SELECT * FROM copied_sections(ARRAY[NULL, 'a b c d']::text[], 'a b c d', block => 4);
SELECT * FROM copied_sections(ARRAY[numbered(1, 40)], repeat(numbered(1, 10) || ' ', 1000), block => 10);

SELECT * FROM copied_sections('{a}', 'b', block => 2);
SELECT * FROM copied_sections('{a}', 'b', block => 10001);
SELECT * FROM copied_sections('{a}', 'b', block_share => 0);
SELECT * FROM copied_sections('{a}', 'b', section_share => 1.5);
SELECT * FROM copied_sections('{a}', 'b', document_share => 'NaN');

-- Random sections: early stopping does not change the verdicts
WITH random AS (
    SELECT seed, array_agg(CASE (seed * (s + 3) * 7919 / 64) % 3 WHEN 0 THEN numbered(s * 100, s * 100 + 30 + seed % 20)
                           WHEN 1 THEN numbered(s * 100, s * 100 + 15 + seed % 17) || ' ' || numbered(9000, 9000 + s * 5) ELSE numbered(10000, 10050) END ORDER BY s) AS a,
           numbered(100, 1000) AS b
    FROM generate_series(1, 60) seed, generate_series(1, 8) s GROUP BY seed)
SELECT count(*) AS documents, count(*) FILTER (WHERE x.is_copied) BETWEEN 5 AND 55 AS some_copied, count(*) FILTER (WHERE x.is_copied <> y.is_copied) AS different,
       sum(y.looked_at) < sum(x.looked_at) AS fewer_looked_at
FROM random, copied_sections(a, b, 10, 0.75, 0.75, 0.5) x, copied_sections(a, b, 10, 0.75, 0.75, 0.5, true) y
WHERE x.section IS NULL AND y.section IS NULL;

DROP TABLE docs;
DROP FUNCTION numbered;
