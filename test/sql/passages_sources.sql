--
-- The passages of one document in a whole table: one statement over an index
-- of all features
--

CREATE TABLE sources (id int PRIMARY KEY, body text);
INSERT INTO sources
SELECT id, string_agg('w' || id * 1000 + i, ' ' ORDER BY i) FROM generate_series(1, 300) id, generate_series(1, 100) i GROUP BY id;
-- two that have the same passage, one of them more of it
INSERT INTO sources SELECT 1001, body || ' and more' FROM sources WHERE id = 7;
INSERT INTO sources SELECT 1002, 'some ' || substr(body, 1, 200) FROM sources WHERE id = 7;
ALTER TABLE sources ADD sig signature GENERATED ALWAYS AS (shingles(body)) STORED;
CREATE INDEX sources_sig ON sources USING gin (sig signature_gin_ops (measure = containment)) WITH (fastupdate = off);
ANALYZE sources;

CREATE TABLE asked AS
SELECT 'Of its own: ' || substr((SELECT body FROM sources WHERE id = 7), 50, 300) || ', then ' ||
       upper(substr((SELECT body FROM sources WHERE id = 200), 1, 120)) || '. The end' AS doc;

CREATE FUNCTION passages_of(doc text) RETURNS TABLE (id int, a_start int, a_length int, b_start int, b_length int, similarity float8)
    LANGUAGE sql STABLE AS
$$
WITH found AS MATERIALIZED (
    SELECT s.id, p.*
    FROM sources s, shared_passages(doc, s.body) p
    WHERE near_duplicate(s.sig, shingles(doc), 6, 'shared'))
SELECT * FROM found f
WHERE NOT EXISTS (SELECT FROM found g
                  WHERE g.a_start <= f.a_start AND g.a_start + g.a_length >= f.a_start + f.a_length
                    AND (g.a_length, g.similarity, -g.id) > (f.a_length, f.similarity, -f.id))
ORDER BY a_length DESC, id, a_start
$$;
SELECT p.*, left(substr(doc, a_start, a_length), 12) AS begins, right(substr(doc, a_start, a_length), 12) AS ends,
       lower(substr(doc, a_start, a_length)) = substr(body, b_start, b_length) AS same
FROM asked, passages_of(doc) p JOIN sources USING (id) ORDER BY a_length DESC, id;

-- By the index, and the same without it
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT id FROM sources WHERE near_duplicate(sig, signature_from('{1,2,3}'), 2, 'shared');
SELECT array_agg(id ORDER BY id) FROM asked, sources WHERE near_duplicate(sig, shingles(doc), 6, 'shared');
SET enable_seqscan = on;
SET enable_bitmapscan = off;
SELECT array_agg(id ORDER BY id) FROM asked, sources WHERE near_duplicate(sig, shingles(doc), 6, 'shared');
RESET enable_seqscan;
RESET enable_bitmapscan;

DROP FUNCTION passages_of;
DROP TABLE sources, asked;
