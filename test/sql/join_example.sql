--
-- The example of src/join/README.md: sets of 60 elements at 0.8
--

CREATE SCHEMA join_example;
SET search_path = join_example, public;
SET enable_nestloop = off;
SET max_parallel_workers_per_gather = 0;

-- Counters of the join of a table with itself, but for those that are zero
CREATE FUNCTION counters(sets text, algorithm text) RETURNS TABLE (counter text, value bigint)
LANGUAGE plpgsql AS $$
DECLARE
    plan json;
BEGIN
    PERFORM set_config('neardup.join_algorithm', algorithm, true);
    EXECUTE format('EXPLAIN (ANALYZE, TIMING OFF, FORMAT json) SELECT FROM %1$s a JOIN %1$s b
                    ON near_duplicate(a.sig, b.sig, 0.8) AND a.id < b.id', sets) INTO plan;
    RETURN QUERY SELECT key, (plan->0->'Plan'->>key)::bigint
        FROM unnest('{Distinct Sets,Prefix Postings,Postings Removed by Size,Candidates Removed by Position,
                      Candidates,Candidates Removed by Bitmap,Verified,Matching Sets}'::text[]) key
        WHERE (plan->0->'Plan'->>key)::bigint > 0;
END $$;
CREATE FUNCTION elements(first int, last int) RETURNS bigint[] LANGUAGE sql
RETURN (SELECT array_agg(e::bigint) FROM generate_series(first, last) e);

-- Keys: each of 61 sets lacks another one of 61 elements; 7 of 60 are in the index
CREATE TABLE keys AS
SELECT id, signature_from(array_remove(elements(1, 61), id::bigint)) AS sig FROM generate_series(1, 61) id;
SELECT * FROM counters('keys', 'auto');

-- Size: 20 sets of 60 and 20 of 45, which share 7 elements of a pair only
CREATE TABLE sizes AS
SELECT id, signature_from(elements(1000 * id, 1000 * id + 6) || elements(1, 53)) AS sig FROM generate_series(1, 20) id
UNION ALL
SELECT 100 + id, signature_from(elements(1000 * id, 1000 * id + 6) || elements(101, 138)) FROM generate_series(1, 20) id;
SELECT * FROM counters('sizes', 'auto');

-- Bitmap: the second ones have 60 elements, too; their bitmaps are in postings, or compared
-- with those of candidates
CREATE TABLE bitmaps AS
SELECT id, signature_from(elements(1000 * id, 1000 * id + 6) || elements(1, 53)) AS sig FROM generate_series(1, 20) id
UNION ALL
SELECT 100 + id, signature_from(elements(1000 * id, 1000 * id + 6) || elements(101, 153)) FROM generate_series(1, 20) id;
SELECT * FROM counters('bitmaps', 'auto');
SELECT * FROM counters('bitmaps', 'ppjoin');

-- Position: element 0 is the first one of set 1, and the ninth of set 5; other sets make the
-- other elements as frequent
CREATE TABLE positions AS
SELECT id, signature_from(array_append(elements(101, 159), CASE id WHEN 1 THEN 0 ELSE 200 + id END::bigint)) AS sig
FROM generate_series(1, 4) id
UNION ALL SELECT 5, signature_from(elements(0, 8) || elements(301, 352))
UNION ALL SELECT 6, signature_from(elements(1, 8) || elements(301, 352))
UNION ALL SELECT 7, signature_from(ARRAY[0::bigint, 401] || elements(301, 352))
UNION ALL SELECT 8, signature_from(ARRAY[402::bigint] || elements(301, 352));
SELECT * FROM counters('positions', 'ppjoin');

SET client_min_messages = warning;
DROP SCHEMA join_example CASCADE;
