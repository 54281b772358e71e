--
-- A column with signatures of several specs: rows of different specs are never
-- near-duplicates, by any plan
--
CREATE SCHEMA specs;
SET search_path = specs, public;

-- Each text three times, in three languages, and once as a sketch
CREATE TABLE pages AS
SELECT t * 10 + l AS id, l AS kind,
       CASE l WHEN 4 THEN minhash(s, 32) WHEN 5 THEN NULL ELSE s END AS sig
FROM generate_series(1, 150) t, generate_series(1, 5) l,
     LATERAL (SELECT shingles((SELECT string_agg(CASE WHEN w = t % 3 * 7 THEN 'other' ELSE 'word' || (t / 3 * 31 + w) END, ' ' ORDER BY w)
                               FROM generate_series(1, 40) w),
                              (array['english', 'german', 'k=4', 'english', 'english'])[l]) AS s) m;
ANALYZE pages;

-- The oracle: by values within each spec
CREATE TABLE wanted AS
SELECT a.id, b.id AS b FROM pages a, pages b
WHERE CASE WHEN a.kind = b.kind THEN similarity(a.sig, b.sig) >= 0.6 END;
SELECT count(*), count(*) FILTER (WHERE id <> b) FROM wanted;

CREATE FUNCTION plan_has(query text, node text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    plan json;
BEGIN
    EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
    RETURN plan::text ~ node;
END $$;
-- True if the query has the wanted pairs, by a plan with that node
CREATE FUNCTION has_wanted(query text, node text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    equal boolean;
BEGIN
    IF NOT plan_has(query, node) THEN
        RAISE EXCEPTION 'not by %: %', node, query;
    END IF;
    EXECUTE format('SELECT NOT EXISTS ((%1$s) EXCEPT ALL TABLE wanted) AND NOT EXISTS (TABLE wanted EXCEPT ALL (%1$s))', query) INTO equal;
    RETURN equal;
END $$;

SET client_min_messages = error;
SET neardup.enable_join = off;
SELECT has_wanted('SELECT a.id, b.id FROM pages a JOIN pages b ON near_duplicate(a.sig, b.sig, 0.6)', 'Nested Loop') AS nested_loop;
RESET neardup.enable_join;
SELECT has_wanted('SELECT a.id, b.id FROM pages a JOIN pages b ON near_duplicate(a.sig, b.sig, 0.6)', 'SimilarityJoin') AS joined;
SELECT has_wanted('SELECT a.id, b.id FROM pages a JOIN pages b ON a.sig % b.sig AND similarity(a.sig, b.sig) >= 0.6', 'SimilarityJoin') AS joined
FROM set_config('neardup.threshold', '0.6', false);
RESET neardup.threshold;
BEGIN;
SET LOCAL parallel_setup_cost = 0;
SET LOCAL parallel_tuple_cost = 0;
SET LOCAL min_parallel_table_scan_size = 0;
SET LOCAL enable_nestloop = off;
ALTER TABLE pages SET (parallel_workers = 3);
SELECT has_wanted('SELECT a.id, b.id FROM pages a JOIN pages b ON near_duplicate(a.sig, b.sig, 0.6)', '"Gather"') AS processes;
ROLLBACK;

CREATE INDEX pages_gin ON pages USING gin (sig signature_gin_ops (threshold = 0.6));
SET enable_seqscan = off;
SET neardup.enable_join = off;
SELECT has_wanted('SELECT a.id, b.id FROM pages a JOIN pages b ON near_duplicate(a.sig, b.sig, 0.6)', 'pages_gin') AS gin;
DROP INDEX pages_gin;
CREATE INDEX pages_neardup ON pages USING neardup (sig);
SELECT has_wanted('SELECT a.id, b.id FROM pages a JOIN pages b ON near_duplicate(a.sig, b.sig, 0.6)', 'pages_neardup') AS neardup;

-- The nearest rows: rows of other specs have no distance, and come last
CREATE FUNCTION nearest(id int, rows int) RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(coalesce(round(distance::numeric, 4)::text, 'null'), ' ' ORDER BY n)
    FROM (SELECT distance, row_number() OVER () AS n
          FROM (SELECT p.sig <-> q.sig AS distance
                FROM pages p, (SELECT sig FROM pages WHERE pages.id = nearest.id OFFSET 0) q
                ORDER BY p.sig <-> q.sig LIMIT nearest.rows) d) d
$$;
CREATE TABLE by_index AS
SELECT id, n, nearest(id, n) FROM pages, unnest('{1, 10, 151, 800}'::int[]) n WHERE id / 10 IN (3, 77);
SET enable_indexscan = off;
SET enable_seqscan = on;
SELECT count(*), count(*) FILTER (WHERE nearest LIKE '0.0000 % null') AS with_nulls,
       bool_and(nearest = nearest(id, n)) AS equal FROM by_index;
RESET enable_indexscan;
RESET neardup.enable_join;
RESET client_min_messages;

-- One warning a statement names both
SELECT count(*) FILTER (WHERE near_duplicate(a.sig, b.sig, 0.6)) FROM pages a, pages b WHERE a.id = 11 AND b.kind IN (2, 3);
SELECT near_duplicate('shingles[k=3]{}', 'shingles[k=4]{}', 0.5) FROM generate_series(1, 3);
SELECT contained_in('shingles[k=3]{}', 'shingles[k=4]{}', 0.5);
SELECT near_duplicate_approx('shingles[k=3]{}', 'shingles[k=4]{}', 0.5);
SELECT 'shingles[k=3]{}'::signature <-> 'shingles[k=4]{}' AS distance, 'shingles[k=3]{}'::signature <=> 'shingles[k=4]{}' AS cosine;
DO $$
BEGIN
    FOR i IN 1 .. 3 LOOP
        PERFORM near_duplicate(a.sig, b.sig, 0.6) FROM pages a, pages b WHERE a.id = 11 AND b.id = 10 + i;
    END LOOP;
END $$;
-- Functions that return a value raise an error
SELECT similarity('shingles[k=3]{}', 'shingles[k=4]{}');

SET client_min_messages = warning;
DROP SCHEMA specs CASCADE;
