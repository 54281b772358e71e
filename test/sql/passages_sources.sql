--
-- The passages of one document in a whole table: one statement over an index
-- of all features
--

CREATE TABLE sources (id int PRIMARY KEY, body text);
INSERT INTO sources
SELECT id, string_agg('w' || id * 1000 + i, ' ' ORDER BY i) FROM generate_series(1, 300) id, generate_series(1, 100) i GROUP BY id;
-- two with the same passage, one of them with more of it
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

-- By the index, and without it
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT id FROM sources WHERE near_duplicate(sig, signature_from('{1,2,3}'), 2, 'shared');
SELECT array_agg(id ORDER BY id) FROM asked, sources WHERE near_duplicate(sig, shingles(doc), 6, 'shared');
SET enable_seqscan = on;
SET enable_bitmapscan = off;
SELECT array_agg(id ORDER BY id) FROM asked, sources WHERE near_duplicate(sig, shingles(doc), 6, 'shared');
RESET enable_seqscan;
RESET enable_bitmapscan;

-- The nearest by rare pairs of words, and the cases of each
CREATE TABLE sources_frequent AS SELECT frequent_shingles(shingle_lexicon_agg(body, 'k=2 order=sorted'), 20) AS pairs FROM sources;
ALTER TABLE sources ADD pairs signature;
UPDATE sources SET pairs = leave_out(shingles(body, 'k=2 order=sorted'), f.pairs) FROM sources_frequent f;
CREATE INDEX sources_pairs ON sources USING neardup (pairs);
CREATE FUNCTION near_pairs(doc text) RETURNS signature
    LANGUAGE sql STABLE AS
$$ SELECT leave_out(shingles(doc, 'k=2 order=sorted'), pairs) FROM sources_frequent $$;
SELECT c.*, left(substr(doc, a_start, a_length), 12) AS begins, left(substr(body, b_start, b_length), 12) AS source_begins
FROM asked, find_sources(doc, near_pairs(doc), 'SELECT id, pairs, body FROM sources', min_length => 100) c JOIN sources ON id::text = source_id
ORDER BY least(a_length, b_length) * coverage DESC, source_id;
SELECT candidates, count(DISTINCT source_id)
FROM asked, unnest(ARRAY[1, 2, 100]) candidates, find_sources(doc, near_pairs(doc), 'SELECT id, pairs, body FROM sources', 'verbatim', candidates, 100)
GROUP BY 1 ORDER BY 1;
-- Rows are compared until five in a row have no case, at most `candidates`: here the n-th nearest row is a copy or not
CREATE FUNCTION sources_by_order(copies int[]) RETURNS TABLE (id text, pairs signature, body text)
    LANGUAGE sql STABLE AS
$$ SELECT 'n' || n, (signature_from(ARRAY(SELECT generate_series(1, 20 - n)))), CASE WHEN n = ANY (copies) THEN doc ELSE 'nothing of it' END
   FROM asked, generate_series(1, 12) n $$;
SELECT copies, stop, array_agg(source_id ORDER BY source_id) AS found
FROM asked, (VALUES ('{1,2}'::int[], 100), ('{1,6}', 100), ('{1,7}', 100), ('{6}', 100), ('{5,10}', 100), ('{5,11}', 100), ('{1,6,12}', 6)) c (copies, stop),
     find_sources(doc, signature_from(ARRAY(SELECT generate_series(1, 20))), format('SELECT * FROM sources_by_order(%L)', copies), candidates => stop)
GROUP BY copies, stop ORDER BY copies, stop;
SELECT count(*) FROM asked, find_sources('Nothing of it', near_pairs('Nothing of it'), 'SELECT id, pairs, body FROM sources', min_length => 0);
SELECT count(*) FROM asked, find_sources(NULL, near_pairs(doc), 'SELECT id, pairs, body FROM sources');
-- Names in a query are the caller's; a condition narrows it
CREATE SCHEMA callers;
SET search_path = callers, public;
CREATE VIEW older AS SELECT id, pairs, body FROM sources WHERE id < 1000;
SELECT source_id, a_start, a_length FROM asked, find_sources(doc, near_pairs(doc), 'SELECT * FROM older WHERE id <> 200', min_length => 100);
RESET search_path;
DROP SCHEMA callers CASCADE;
-- Names of any kind
CREATE SCHEMA "Odd schema";
CREATE TABLE "Odd schema"."Odd; table" ("the ""id""" text, "Sig" signature, "select" varchar);
INSERT INTO "Odd schema"."Odd; table" SELECT 'no. ' || id, shingles(body), body FROM sources WHERE id IN (7, 200);
SELECT source_id, a_start, a_length, b_start, b_length
FROM asked, find_sources(doc, shingles(doc), 'SELECT "the ""id""", "Sig", "select" FROM "Odd schema"."Odd; table" -- odd', 'verbatim', min_length => 100);
-- Mistakes
SELECT * FROM find_sources('a', shingles('a'), 'SELECT no, pairs, body FROM sources');
SELECT * FROM find_sources('a', shingles('a'), 'SELECT id, pairs FROM sources');
-- its hint differs from PostgreSQL 19 on
\set VERBOSITY terse
SELECT * FROM find_sources('a', shingles('a'), 'SELECT id, body, body FROM sources');
\set VERBOSITY default
SELECT * FROM find_sources('a', shingles('a'), 'SELECT id, pairs, body FROM sources', 'none');
SELECT * FROM find_sources('a', shingles('a'), 'SELECT id, pairs, body FROM sources', candidates => -1);

DROP FUNCTION passages_of, near_pairs, sources_by_order;
DROP SCHEMA "Odd schema" CASCADE;
DROP TABLE sources, sources_frequent, asked;
