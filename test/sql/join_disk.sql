--
-- The similarity join on disk: the same rows as in memory
--
-- Sets are searched by their keys in several chunks, and compared later, in
-- several rounds.

CREATE SCHEMA join_disk;
SET search_path = join_disk, public;

-- Groups of five with sizes from 20 to 59, each with up to four elements of its
-- own, and with frequent ones; some are equal, some are alone.
CREATE TABLE sets AS
SELECT id, id % 7 AS kind, signature_from(ARRAY(
    SELECT CASE WHEN id % 5 = 4 AND id % 3 = 0 OR e <= own THEN hashint8extended(id * 100 + e, 1)
                WHEN e <= own + 6 THEN -1 - e
                ELSE hashint8extended(id / 5 * 100 + e, 2) END
    FROM generate_series(1, 20 + id / 5 % 40) e)) AS sig, repeat('x', id % 300) AS text
FROM generate_series(1, 1000) id, LATERAL (VALUES (CASE WHEN id % 11 < 2 THEN 0 ELSE id % 5 END)) o(own);
-- These sets are similar: a set of 40 elements is near to most of the others.
INSERT INTO sets
SELECT id, id % 7, signature_from(ARRAY(
    SELECT CASE WHEN e <= 2 + id % 5 THEN hashint8extended(id * 100 + e, 1) ELSE e END
    FROM generate_series(1, 40) e)), ''
FROM generate_series(3001, 3120) id;
-- These are equal, and others are near to them; some have no elements.
INSERT INTO sets
SELECT id, id % 7, signature_from(ARRAY(SELECT e FROM generate_series(1000, 1020 + id % 100 / 98) e)), repeat('y', id % 50)
FROM generate_series(4001, 4100) id;
INSERT INTO sets SELECT id, 1, signature_from('{}') FROM generate_series(5001, 5010) id;
INSERT INTO sets SELECT id, 2, NULL FROM generate_series(6001, 6010) id;
CREATE VIEW left_sets AS SELECT * FROM sets WHERE id % 3 < 2;
CREATE VIEW right_sets AS SELECT * FROM sets WHERE id % 3 > 0;
ANALYZE sets;

\getenv abs_srcdir PG_ABS_SRCDIR
\set file :abs_srcdir '/sql/shared/same_rows.sql'
\i :file
CREATE FUNCTION rows_of(query text, memory text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('work_mem', memory, true);
    RETURN rows_of(query);
END $$;
CREATE FUNCTION counter(name text, query text, memory text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    plan text;
BEGIN
    PERFORM set_config('work_mem', memory, true);
    EXECUTE 'EXPLAIN (ANALYZE, FORMAT json) ' || query INTO plan;
    RETURN substring(plan FROM format('"%s": (\d+)', name));
END $$;
SET hash_mem_multiplier = 1;
SET enable_nestloop = off;

CREATE VIEW query AS
SELECT name, threshold, measure, format(text, format('near_duplicate(a.sig, b.sig, %s, %L)', threshold, measure)) AS text
FROM (VALUES ('0.5', 'jaccard'), ('0.8', 'jaccard'), ('0.97', 'jaccard'), ('1', 'jaccard'),
             ('0.8', 'dice'), ('0.7', 'cosine'), ('0.9', 'overlap_coefficient'), ('0.8', 'containment')) c(threshold, measure), (VALUES
    ('self', 'SELECT a.id, b.id AS b FROM sets a JOIN sets b ON %s AND a.id < b.id'),
    ('all', 'SELECT a.id, b.id AS b, md5(a.text || b.text) FROM sets a JOIN sets b ON %s'),
    ('inner', 'SELECT a.id, b.id AS b FROM left_sets a JOIN right_sets b ON %s AND a.kind <> b.kind'),
    ('left', 'SELECT a.id, b.id AS b, b.text FROM left_sets a LEFT JOIN right_sets b ON %s'),
    ('semi', 'SELECT a.id FROM left_sets a WHERE EXISTS (SELECT FROM right_sets b WHERE %s AND a.kind <> b.kind)'),
    ('anti', 'SELECT a.id FROM sets a WHERE NOT EXISTS (SELECT FROM sets b WHERE %s AND b.id < a.id)'))
    q(name, text);

-- There are several chunks, and more sets to compare than are kept at once.
SELECT threshold, counter('Batches', text, '256MB') AS in_memory, counter('Batches', text, '64kB') > 5 AS chunks,
    counter('Verified', text, '64kB') > 65536 / 100 * 16 / 8 AS rounds,
    counter('Matching Sets', text, '64kB') - counter('Matching Sets', text, '256MB') AS matches
FROM query WHERE name = 'self' AND measure = 'jaccard' AND threshold IN ('0.5', '0.8') ORDER BY threshold;

-- The same rows
SELECT measure, threshold, count(*), bool_and(rows_of(text, '256MB') = rows_of(text, '64kB')) AS same
FROM query WHERE measure = 'jaccard' AND threshold IN ('0.5', '0.8') OR name IN ('self', 'left')
GROUP BY measure, threshold ORDER BY measure, threshold;
SELECT name, rows_of(text, '64kB') ~ '^0 ' AS none FROM query
WHERE measure = 'jaccard' AND threshold = '0.8' ORDER BY name;

-- With more memory, other chunks
SELECT memory, bool_and(rows_of(text, '256MB') = rows_of(text, memory)) AS same
FROM query, unnest('{128kB,200kB,512kB}'::text[]) memory
WHERE name = 'self' AND measure = 'jaccard' AND threshold = '0.8' GROUP BY memory ORDER BY memory;

-- Equal sets that are read after all others, when no row looks for them
CREATE TABLE late AS
SELECT * FROM sets ORDER BY row_number() OVER (PARTITION BY sig ORDER BY id), id;
CREATE VIEW left_late AS SELECT * FROM late WHERE id % 3 < 2;
CREATE VIEW right_late AS SELECT * FROM late WHERE id % 3 > 0;
SELECT name, measure, rows_of(late, '64kB') = rows_of(text, '256MB') AS same
FROM query, replace(text, 'sets', 'late') late
WHERE name IN ('self', 'left') AND threshold = '0.8' AND measure IN ('jaccard', 'containment') ORDER BY name, measure;

-- Sets that are larger than the memory
CREATE TABLE large AS SELECT id, kind, sig FROM sets;
INSERT INTO large SELECT 7000 + i, i % 7, signature_from(ARRAY(SELECT e FROM generate_series(i / 2 * 100, i / 2 * 100 + 9999) e))
FROM generate_series(1, 8) i;
SELECT name, measure, rows_of(large, '64kB') = rows_of(large, '256MB') AS same, rows_of(large, '64kB') = rows_of(text, '64kB') AS as_before
FROM query, replace(text, 'sets', 'large') large
WHERE name = 'self' AND threshold = '0.8' AND measure IN ('jaccard', 'containment') ORDER BY measure;

-- A join that is closed early, and one of sketches, whose sets are read whole
SELECT count(*) FROM (SELECT FROM sets a JOIN sets b ON near_duplicate(a.sig, b.sig, 0.5) LIMIT 5000) few;
SELECT rows_of(text, '256MB') = rows_of(text, '64kB') AS same
FROM (VALUES ('SELECT a.id, b.id AS b FROM sets a JOIN sets b ON near_duplicate(minhash(a.sig, 32), minhash(b.sig, 32), 0.8)')) q(text);

SET client_min_messages = warning;
DROP SCHEMA join_disk CASCADE;
