--
-- Access method neardup: merges that are done a step at a time, and many segments
--

CREATE SCHEMA index_merge;
SET search_path = index_merge, public;
SET client_min_messages = warning;

-- A row of 2,100 features is a segment by itself.  A step takes less than one of them.
CREATE TABLE docs (id serial PRIMARY KEY, sig signature) WITH (autovacuum_enabled = off);
CREATE INDEX docs_sig ON docs USING neardup (sig);
SET neardup.merge_postings = 2000;
CREATE FUNCTION make(seed int, size int) RETURNS signature LANGUAGE sql IMMUTABLE AS $$
    SELECT signature_from(array(SELECT hashint8extended(i, 0)
        FROM generate_series(seed % 13 * 4000 + 1, seed % 13 * 4000 + size) i)) $$;
CREATE PROCEDURE add(first int, last int) LANGUAGE sql AS $$
    INSERT INTO docs (sig) SELECT make(i, CASE WHEN i % 3 > 0 THEN 2100 ELSE 1 + i % 50 END)
    FROM generate_series(first, last) i $$;
-- Whether the index finds the rows of a sequential scan
CREATE FUNCTION differs(seed int) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    s signature := make(seed, 2000);
    answers text[];
    answer text;
BEGIN
    FOREACH answer IN ARRAY '{on,off}'::text[] LOOP
        PERFORM set_config('enable_seqscan', answer, true),
            set_config('enable_indexscan', CASE answer WHEN 'on' THEN 'off' ELSE 'on' END, true),
            set_config('enable_bitmapscan', CASE answer WHEN 'on' THEN 'off' ELSE 'on' END, true);
        SELECT answers || string_agg(id::text, ',' ORDER BY id) INTO answers
        FROM docs WHERE near_duplicate(sig, s, 0.6);
    END LOOP;
    RETURN answers[1] IS DISTINCT FROM answers[2];
END $$;

-- After each row; merges are in every phase
CREATE TABLE seen (phase text, segments bigint, rows bigint, of_rows bigint, postings bigint, of_postings bigint);
CREATE PROCEDURE add_checked(first int, last int) LANGUAGE plpgsql AS $$
BEGIN
    FOR i IN first .. last LOOP
        CALL add(i, i);
        PERFORM neardup_index_check('docs_sig');
        INSERT INTO seen SELECT m.phase, s.n, m.rows, m.of_rows, m.postings, m.of_postings FROM neardup_index_merges('docs_sig') m,
            (SELECT count(*) AS n FROM neardup_index_segments('docs_sig')) s;
    END LOOP;
END $$;
CALL add_checked(1, 110);
SELECT phase, count(*) > 0 AS seen FROM seen GROUP BY phase ORDER BY phase;
-- A merge reads all rows of its segments, then all postings; then these segments are gone
SELECT phase, min(rows) = 0 AS none, bool_or(rows < of_rows) AS some, bool_or(rows = of_rows) AS whole,
    min(postings) = 0 AS no_lists, bool_or(postings < of_postings) AS some_lists, bool_and(postings = of_postings) AS all_lists
FROM seen GROUP BY phase ORDER BY phase;
SELECT max(segments) > 36 AS many FROM seen;
SELECT neardup_index_check('docs_sig', true);
SELECT bool_or(differs(i)) AS differ FROM generate_series(1, 13) i;
-- Each segment is in at most one merge, whose result has a greater number
SELECT count(*) > 0 AS some, bool_and(part < segment) AS before, count(*) = count(DISTINCT part) AS once,
    bool_and(part IN (SELECT segment FROM neardup_index_segments('docs_sig'))) AS there
FROM neardup_index_merges('docs_sig'), unnest(merged) AS part;

-- The maximal number of merges, and rows that are deleted meanwhile
CALL add(111, 200);
SELECT neardup_index_check('docs_sig', true);
DELETE FROM docs WHERE id % 5 = 0;
VACUUM (INDEX_CLEANUP ON) docs;
SELECT neardup_index_check('docs_sig', true), (SELECT count(*) FROM neardup_index_merges('docs_sig')) AS merges,
    (SELECT count(*) FROM neardup_index_segments('docs_sig') WHERE segment IS NOT NULL) AS segments,
    (SELECT sum(dead_rows) FROM neardup_index_segments('docs_sig')) AS dead;
SELECT bool_or(differs(i)) AS differ FROM generate_series(1, 13) i;
SELECT format(E'CALL add(%s, %s)', i * 1000, i * 1000 + i), format('DELETE FROM docs WHERE id %% 11 = %s', i % 11),
    'VACUUM (INDEX_CLEANUP ON) docs', format('CALL add(%s, %s)', i * 2000, i * 2000 + 2 * i)
FROM generate_series(4, 20, 3) i
\gexec
SELECT neardup_index_check('docs_sig', true) = count(*) AS whole FROM docs;
SELECT bool_or(differs(i)) AS differ FROM generate_series(1, 13) i;
CALL add(1, 20);
DELETE FROM docs;
VACUUM (INDEX_CLEANUP ON) docs;
SELECT neardup_index_check('docs_sig', true);
SELECT * FROM neardup_index_segments('docs_sig') WHERE segment IS NOT NULL;
SELECT * FROM neardup_index_merges('docs_sig');

-- Free pages are reused: the file stops growing
CALL add(1, 60);
VACUUM (INDEX_CLEANUP ON) docs;
CREATE TEMP TABLE size AS SELECT pg_relation_size('docs_sig') AS size;
SELECT 'UPDATE docs SET sig = sig', 'VACUUM (INDEX_CLEANUP ON) docs' FROM generate_series(1, 6)
\gexec
SELECT pg_relation_size('docs_sig') <= 1.5 * size AS bounded FROM size;
SELECT neardup_index_check('docs_sig', true);

-- The maximal number of levels of directories
SET neardup.level_entries = 3;
CREATE TABLE many (sig signature) WITH (autovacuum_enabled = off);
CREATE INDEX many_sig ON many USING neardup (sig);
INSERT INTO many SELECT signature_from(array(SELECT hashint8extended(i * 10000 + k, 0) FROM generate_series(1, 2100) k))
FROM generate_series(1, 110) i;
VACUUM (INDEX_CLEANUP ON) many;
SELECT count(*) AS segments, sum(pages) > 200 AS large FROM neardup_index_segments('many_sig') WHERE segment IS NOT NULL;
SELECT neardup_index_check('many_sig', true);

-- Rows without features have no postings, and are merged within the memory limit
SET maintenance_work_mem = '1MB';
CREATE TABLE empties (sig signature);
CREATE INDEX empties_sig ON empties USING neardup (sig);
INSERT INTO empties SELECT NULL FROM generate_series(1, 700000);
SELECT max(rows) <= 1024 * 1024 / 4 AS fit, count(*) > 2 AS several FROM neardup_index_segments('empties_sig');
SELECT neardup_index_check('empties_sig', true);
RESET maintenance_work_mem;
DROP TABLE empties;

DROP SCHEMA index_merge CASCADE;
