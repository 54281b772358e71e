--
-- Memory that a session keeps does not grow with its work
--

-- Kilobytes that the session keeps, without those of queries
SELECT current_setting('server_version_num')::int >= 180000 AS has_path \gset
\if :has_path
CREATE FUNCTION kept() RETURNS bigint LANGUAGE sql AS $$
    WITH context AS MATERIALIZED (SELECT * FROM pg_backend_memory_contexts)
    SELECT sum(c.used_bytes)::bigint / 1024
    FROM context c JOIN context cache ON cache.path[cache.level] = ANY (c.path)
    WHERE cache.name = 'CacheMemoryContext' AND c.level <= cache.level + 1
$$;
\else
CREATE FUNCTION kept() RETURNS bigint LANGUAGE sql AS $$
    SELECT sum(used_bytes)::bigint / 1024 FROM pg_backend_memory_contexts
    WHERE name = 'CacheMemoryContext' OR parent = 'CacheMemoryContext'
$$;
\endif

-- Run a statement, in which %s is the number of the run, so that each run is a call
-- site of its own; return the growth after `times` runs, in steps of 256 kB, which
-- leave room for the server's own caches
CREATE FUNCTION growth(statement text, times int) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    before bigint;
BEGIN
    FOR i IN 1 .. times / 10 LOOP
        EXECUTE replace(statement, '%s', (-i)::text);
    END LOOP;
    before := kept();
    FOR i IN 1 .. times LOOP
        EXECUTE replace(statement, '%s', i::text);
    END LOOP;
    RETURN (kept() - before) / 256;
END $$;

-- Short texts, all different
SELECT growth($$SELECT shingles('plain %s')$$, 5000) AS plain,
       growth($$SELECT shingles('blank %s', ' ')$$, 5000) AS blank,
       growth($$SELECT shingles('stop %s', 'english stop')$$, 5000) AS analysed,
       growth($$SELECT lexicon_agg('counted %s')$$, 5000) AS counted;

-- Lexicons that are cached between queries: all their memory counts in a transaction,
-- and after it the limit of a hash table holds
CREATE FUNCTION lexicons_kept() RETURNS bigint LANGUAGE sql AS $$
    SELECT coalesce(sum(total_bytes), 0)::bigint / 1024 / 1024
    FROM pg_backend_memory_contexts WHERE name = 'neardup lexicon'
$$;
CREATE TABLE lexicons (id int, words lexicon);
ALTER TABLE lexicons ALTER words SET STORAGE EXTERNAL;
INSERT INTO lexicons
SELECT i, l + x
FROM (SELECT lexicon_agg(doc) AS l
      FROM (SELECT string_agg('w' || j, ' ') AS doc FROM generate_series(1, 100000) j) d) l,
     generate_series(1, 16) i, LATERAL (SELECT lexicon_agg(w) AS x FROM (VALUES ('x' || i)) v (w)) x;
SET work_mem = '8MB';
SET hash_mem_multiplier = 1;
BEGIN;
SELECT count(top_words('w1 w2 w3', words, 2, weight)) AS signatures
FROM lexicons, unnest('{tf,tf-idf,ntf-idf,bm25,tf-ridf}'::text[]) weight;
SELECT lexicons_kept() BETWEEN 10 AND 64 AS within;
COMMIT;
SELECT lexicons_kept() BETWEEN 1 AND 8 AS behind;
SET work_mem = '64kB';
SELECT lexicons_kept() AS tight;

RESET work_mem;
RESET hash_mem_multiplier;
DROP TABLE lexicons;
DROP FUNCTION growth, kept, lexicons_kept;
