--
-- Access method neardup: the cache of segments, in little memory
--

CREATE SCHEMA index_cache;
SET search_path = index_cache, public;
SET client_min_messages = warning;

-- 9,000 sets of 40 features and five frequent ones; each third set is near to the one before
CREATE FUNCTION make(seed int) RETURNS signature LANGUAGE sql IMMUTABLE AS $$
    SELECT signature_from(array(
        SELECT CASE WHEN i <= 5 THEN hashint8extended(seed / 3 % 7 * i, 0)
            ELSE hashint8extended(seed - (seed % 3 = 2 AND i > 7)::int, i) END
        FROM generate_series(1, 45) i)) $$;
CREATE TABLE docs AS SELECT i AS id, make(i) AS sig FROM generate_series(1, 9000) i;
CREATE TABLE pairs AS SELECT a.id, b.id AS other FROM docs a JOIN docs b
    ON near_duplicate(a.sig, b.sig, 0.8);
SELECT count(*) AS pairs FROM pairs;
CREATE TABLE grown (LIKE docs) WITH (autovacuum_enabled = off);
CREATE INDEX grown_sig ON grown USING neardup (sig);
SET neardup.merge_postings = 100000;
INSERT INTO grown SELECT * FROM docs;
SELECT count(*) BETWEEN 3 AND 30 AS segments, sum(keys) > 200000 AS keys FROM neardup_index_segments('grown_sig');

-- Rows that 9,000 look-ups find, and pages that they read, with a cache of that number
-- of kilobytes.  An index of another name is cached again.
CREATE TABLE looked_up (kilobytes int, pages bigint, missing bigint, wrong bigint);
CREATE TABLE found (LIKE pairs);
CREATE PROCEDURE look_up(kilobytes int) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('neardup.segment_cache_memory', kilobytes || 'kB', true), set_config('work_mem', '64kB', true),
        set_config('hash_mem_multiplier', '1', true);
    SET LOCAL enable_seqscan = off; SET LOCAL neardup.enable_join = off;
    ALTER INDEX grown_sig RENAME TO grown_other; ALTER INDEX grown_other RENAME TO grown_sig;
    PERFORM neardup_index_counters(true);
    TRUNCATE found;
    INSERT INTO found SELECT d.id, g.id FROM docs d,
        LATERAL (SELECT id FROM grown WHERE near_duplicate(sig, d.sig, 0.8) OFFSET 0) g;
    INSERT INTO looked_up SELECT kilobytes, pages,
        (SELECT count(*) FROM (SELECT * FROM pairs EXCEPT SELECT * FROM found) s),
        (SELECT count(*) FROM (SELECT * FROM found EXCEPT SELECT * FROM pairs) s)
    FROM neardup_index_counters();
END $$;
CALL look_up(8192);
CALL look_up(200);
CALL look_up(120);
CALL look_up(64);
SELECT kilobytes, missing, wrong, pages > lag(pages) OVER (ORDER BY kilobytes DESC) AS more_pages
FROM looked_up ORDER BY kilobytes DESC;

DROP SCHEMA index_cache CASCADE;
