--
-- New rows against old groups, by an index of access method neardup on the old rows:
-- equal signatures are looked up first
--

CREATE SCHEMA groups_added;
SET search_path = groups_added, public;

-- Rows whose sets are runs of numbers at few places, with some left out: many are
-- equal, some empty or null
CREATE TABLE docs (id int PRIMARY KEY, tenant int, live boolean, sig signature);
CREATE FUNCTION fill(seed int, n int, spread int) RETURNS void LANGUAGE sql AS $$
    TRUNCATE docs;
    INSERT INTO docs
    SELECT i, nullif(h[2] % 3, 2), h[3] % 5 > 0,
           CASE h[4] % 31 WHEN 0 THEN NULL WHEN 1 THEN signature_from('{}')
           ELSE signature_from(coalesce((SELECT array_agg(f) FROM generate_series(h[5] % spread, h[5] % spread + 5 + h[6] % 5) f
                                         WHERE (h[7] >> (f % 13)::int) % 5 > 0), '{}')) END
    FROM generate_series(1, n) i,
         LATERAL (SELECT array_agg(hashint4extended(i, seed * 10 + j) >> 33 & 1073741823 ORDER BY j)::bigint[] AS h
                  FROM generate_series(1, 7) j) hashed
$$;
CREATE INDEX docs_sig ON docs USING neardup (sig) WHERE live;
CREATE TABLE groups (id bigint PRIMARY KEY, representative bigint, similarity float8);
SET enable_seqscan = off;
SET neardup.enable_join = off;

-- Add the rows in batches of random size, and count the batches whose groups are not
-- those of all rows at once
CREATE FUNCTION batches(seed int, threshold float8, measure text, rule text, most int, scope text DEFAULT '', condition text DEFAULT '',
                        OUT batches int, OUT wrong bigint) LANGUAGE plpgsql AS $$
DECLARE
    done int := 0;
    upto int;
BEGIN
    batches := 0;
    wrong := 0;
    TRUNCATE groups;
    WHILE done < (SELECT max(id) FROM docs) LOOP
        batches := batches + 1;
        upto := done + 1 + abs(hashint4extended(done, seed) % most);
        WITH added AS MATERIALIZED (SELECT * FROM near_duplicate_groups_add(
            format('SELECT id, sig %s FROM docs WHERE live AND id > %s AND id <= %s', scope, done, upto),
            format('SELECT g.id, d.sig, g.representative, g.similarity %s FROM groups g JOIN docs d USING (id)
                    WHERE d.live AND near_duplicate(d.sig, $1, %s, %L) %s', replace(scope, 'tenant', 'd.tenant'), threshold, measure, condition),
            threshold, measure, rule)),
        renamed AS (UPDATE groups g SET representative = a.representative FROM added a
                    WHERE rule = 'connected' AND g.representative = a.id)
        INSERT INTO groups SELECT * FROM added WHERE rule = 'greedy' OR id > done
        ON CONFLICT (id) DO UPDATE SET representative = excluded.representative, similarity = excluded.similarity;
        done := upto;
        wrong := wrong + (
            SELECT count(*) FROM groups g
            FULL JOIN near_duplicate_groups(format('SELECT id, sig %s FROM docs WHERE live AND id <= %s', scope, done),
                                              threshold, measure, rule) c USING (id)
            WHERE (g.representative, g.similarity) IS DISTINCT FROM (c.representative, c.similarity));
    END LOOP;
END $$;

-- All measures, both rules, sets that are often and seldom equal: 1,000 batches and more
SELECT sum(b.batches) >= 1000 AS enough, sum(b.wrong) AS wrong
FROM (VALUES (1, 0.6, 'jaccard', 8), (2, 0.4, 'jaccard', 30), (3, 0.8, 'dice', 12), (4, 0.7, 'cosine', 60), (5, 0.9, 'overlap_coefficient', 6),
             (6, 1, 'jaccard', 10)) t (seed, threshold, measure, spread),
     unnest('{greedy,connected}'::text[]) rule,
     LATERAL (SELECT fill(seed, 240, spread)) filled,
     LATERAL (SELECT b.* FROM batches(seed + 0 * (filled IS NULL)::int, threshold, measure, rule, 4) b) b;

-- Within a scope, with a condition on it, and without one
SELECT rule, condition, b.wrong
FROM unnest('{greedy,connected}'::text[]) rule, unnest('{"",AND d.tenant IS NOT DISTINCT FROM $2}'::text[]) condition,
     LATERAL (SELECT fill(7, 200, 6)) filled,
     LATERAL (SELECT b.* FROM batches(7 + 0 * (filled IS NULL)::int, 0.6, 'jaccard', rule, 20, ', tenant', condition) b) b;

-- In little memory
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
SELECT fill(8, 400, 30), wrong FROM batches(8, 0.5, 'jaccard', 'greedy', 300);
RESET work_mem;
RESET hash_mem_multiplier;

-- Each signature is looked up once if there are equal ones, and otherwise twice
SELECT FROM fill(9, 0, 1);
INSERT INTO docs SELECT i, 1, true, signature_from(ARRAY[i % 50, i % 50 + 1000, i % 50 + 2000, i % 50 + 3000]) FROM generate_series(1, 150) i;
INSERT INTO docs SELECT i, 1, true, signature_from(ARRAY[i, i + 1000, i + 2000, i + 3000]) FROM generate_series(151, 160) i;
TRUNCATE groups;
INSERT INTO groups SELECT id, representative, similarity FROM near_duplicate_groups('SELECT id, sig FROM docs WHERE id <= 100', 0.5);
CREATE FUNCTION scans(query text) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
    PERFORM neardup_index_counters(true);
    EXECUTE query;
    RETURN (SELECT scans FROM neardup_index_counters() WHERE index = 'docs_sig'::regclass);
END $$;
SELECT scans($$SELECT * FROM near_duplicate_groups_add('SELECT id, sig FROM docs WHERE id > 100',
    'SELECT g.id, d.sig, g.representative, g.similarity FROM groups g JOIN docs d USING (id) WHERE d.live AND near_duplicate(d.sig, $1, 0.5)', 0.5)$$);
-- also if the query returns the signature through a cast
SELECT scans($$SELECT * FROM near_duplicate_groups_add('SELECT id, sig FROM docs WHERE id > 100',
    'SELECT g.id, d.sig::bytea::signature, g.representative, g.similarity FROM groups g JOIN docs d USING (id) WHERE d.live AND near_duplicate(d.sig, $1, 0.5)', 0.5)$$);

-- A new row joins the group of an equal old row, whatever the old row's similarity
UPDATE groups SET representative = id - 50, similarity = NULL WHERE id = 60;
DELETE FROM groups WHERE id IN (10, 11);
UPDATE groups SET representative = 1, similarity = 0.2 WHERE id = 61;
SELECT * FROM near_duplicate_groups_add('SELECT id, sig FROM docs WHERE id IN (109, 110, 111)',
    'SELECT g.id, d.sig, g.representative, g.similarity FROM groups g JOIN docs d USING (id) WHERE d.live AND near_duplicate(d.sig, $1, 0.5)', 0.5);

-- Old rows have a scope that the new ones do not have; an id in the place of a similarity
SELECT count(*) FROM near_duplicate_groups_add('SELECT id, sig FROM docs WHERE id > 100',
    'SELECT g.id, d.sig, g.representative, g.similarity, d.live FROM groups g JOIN docs d USING (id) WHERE near_duplicate(d.sig, $1, 0.5)', 0.5);
SELECT count(*) FROM near_duplicate_groups_add('SELECT id, sig FROM docs WHERE id > 100',
    'SELECT g.id, d.sig, g.similarity, g.representative FROM groups g JOIN docs d USING (id) WHERE near_duplicate(d.sig, $1, 0.5)', 0.5);
SELECT count(*) FROM near_duplicate_groups_add('SELECT id, sig FROM docs WHERE id > 100',
    'SELECT g.id, d.sig, g.representative, ''NaN''::float8 FROM groups g JOIN docs d USING (id) WHERE near_duplicate(d.sig, $1, 0.5)', 0.5);
SELECT count(*) FROM near_duplicate_groups_add('SELECT id, sig FROM docs WHERE id > 100',
    'SELECT g.id, d.sig, NULL::int, g.similarity FROM groups g JOIN docs d USING (id) WHERE near_duplicate(d.sig, $1, 0.5)', 0.5);
SELECT count(*) FROM near_duplicate_groups_add('SELECT id, sig FROM docs WHERE id > 100',
    'SELECT g.id, d.sig, g.representative, g.similarity FROM groups g JOIN docs d USING (id) WHERE near_duplicate(d.sig, $1, 0.5) FOR UPDATE', 0.5);

-- Of several conditions for one signature the index gets the strictest: one of these rows is equal
SELECT FROM fill(9, 0, 1);
INSERT INTO docs SELECT i, 1, true, signature_from(ARRAY[1, 2, 3, 4, 10 + i]) FROM generate_series(1, 9) i;
CREATE FUNCTION given(condition text) RETURNS TABLE (hits bigint, given bigint) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM neardup_index_counters(true);
    EXECUTE format('SELECT count(*) FROM docs WHERE live AND %s', condition) INTO hits;
    given := (SELECT rows FROM neardup_index_counters() WHERE index = 'docs_sig'::regclass);
    RETURN NEXT;
END $$;
SELECT g.* FROM unnest(ARRAY[
    $$near_duplicate(sig, signature_from('{1,2,3,4,11}'), 0.5)$$,
    $$near_duplicate(sig, signature_from('{1,2,3,4,11}'), 0.5) AND near_duplicate(sig, signature_from('{1,2,3,4,11}'), 1)$$,
    $$near_duplicate(sig, signature_from('{1,2,3,4,11}'), 1, 'dice') AND near_duplicate(sig, signature_from('{1,2,3,4,11}'), 0.5)$$,
    $$near_duplicate(sig, signature_from('{1,2,3,4,11}'), 0.5) AND near_duplicate(sig, signature_from('{1,2,3,4,12}'), 1)$$]) condition,
    given(condition) g;

-- Old rows in an order of their own: a representative has equal rows with lower ids
SELECT FROM fill(9, 0, 1);
INSERT INTO docs SELECT i, i % 2, true, signature_from(ARRAY[1, 2, 3, 4, 5, 6, 7, 8]) FROM generate_series(1, 4) i;
TRUNCATE groups;
INSERT INTO groups SELECT id, representative, similarity FROM near_duplicate_groups('SELECT id, sig FROM docs ORDER BY id DESC', 0.7);
INSERT INTO docs SELECT 4 + i, 0, true, signature_from(ARRAY[1, 2, 3, 4, 5, 6, 7, 7 + i]) FROM generate_series(1, 2) i;
SELECT * FROM near_duplicate_groups_add('SELECT id, sig FROM docs WHERE id > 4',
    'SELECT g.id, d.sig, g.representative, g.similarity FROM groups g JOIN docs d USING (id) WHERE d.live AND near_duplicate(d.sig, $1, 0.7)', 0.7);

-- Many columns
SELECT added.* FROM (SELECT repeat(', 1', 120) AS columns) c,
    near_duplicate_groups_add('SELECT 2, shingles(''a b c d'')' || columns, 'SELECT 1, shingles(''a b c d''), 1, NULL::float8' || columns, 0.5) added;

SET client_min_messages = warning;
DROP SCHEMA groups_added CASCADE;
