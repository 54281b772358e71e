--
-- Groups of near-duplicates
--

CREATE SCHEMA groups;
SET search_path = groups, public;

-- Documents, some of them copies of others, some without a signature or with an
-- empty one
CREATE FUNCTION lcg(seed bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
    SELECT mod(seed::numeric * 6364136223846793005 + 1442695040888963407, 9223372036854775807)::bigint
$$;
CREATE TABLE docs (id int PRIMARY KEY, score int, sig signature);
CREATE FUNCTION fill(seed bigint, n int, spread int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    r bigint := lcg(seed);
    features bigint[];
BEGIN
    TRUNCATE docs;
    FOR i IN 1 .. n LOOP
        -- a run of numbers from one of few, with some left out
        r := lcg(r);
        SELECT array_agg(f) INTO features
        FROM generate_series((r >> 20) % spread, (r >> 20) % spread + 5 + (r >> 40) % 6) f
        WHERE (r >> (f::int % 30)) % 7 <> 0;
        INSERT INTO docs VALUES (i, (r >> 33) % 5,
            CASE WHEN (r >> 25) % 31 = 0 THEN NULL
                 WHEN (r >> 25) % 31 = 1 THEN signature_from('{}')
                 ELSE signature_from(coalesce(features, '{}')) END);
    END LOOP;
END $$;

\getenv abs_srcdir PG_ABS_SRCDIR
\set file :abs_srcdir '/sql/shared/set_measures.sql'
\i :file

-- The definition of groups, by all pairs.  Rows are in order of rank.
CREATE TABLE ranked (rank int PRIMARY KEY, id int, sig signature, link int);
CREATE FUNCTION oracle(threshold float8, measure text, rule text, column_order text)
RETURNS TABLE (id int, representative int, similarity float8) LANGUAGE plpgsql AS $$
DECLARE
    changed boolean := true;
BEGIN
    TRUNCATE ranked;
    EXECUTE format('INSERT INTO ranked SELECT row_number() OVER (ORDER BY %s), id, sig FROM docs', column_order);
    CREATE TEMP TABLE near ON COMMIT DROP AS
    SELECT a.rank AS a, b.rank AS b,
           CASE measure WHEN 'jaccard' THEN similarity(a.sig, b.sig)
                        WHEN 'cosine' THEN cosine(a.sig, b.sig)
                        ELSE pg_temp.set_measure_value(measure, nfeatures(a.sig), nfeatures(b.sig), intersection_size(a.sig, b.sig)) END AS s
    FROM ranked a, ranked b
    WHERE a.rank <> b.rank AND near_duplicate(a.sig, b.sig, threshold, measure);
    IF rule = 'connected' THEN
        UPDATE ranked SET link = rank;
        WHILE changed LOOP
            UPDATE ranked r SET link = m.link
            FROM (SELECT near.a, min(o.link) AS link FROM near JOIN ranked o ON o.rank = near.b GROUP BY near.a) m
            WHERE m.a = r.rank AND m.link < r.link;
            changed := FOUND;
        END LOOP;
        RETURN QUERY SELECT r.id, f.id, NULL::float8 FROM ranked r JOIN ranked f ON f.rank = r.link;
    ELSE
        FOR i IN 1 .. (SELECT max(rank) FROM ranked) LOOP
            UPDATE ranked SET link = i
            WHERE rank = i AND NOT EXISTS (SELECT FROM near JOIN ranked o ON o.rank = near.b AND o.link = o.rank
                                           WHERE near.a = i AND near.b < i);
        END LOOP;
        UPDATE ranked r SET link = (SELECT near.b FROM near JOIN ranked o ON o.rank = near.b AND o.link = o.rank
                                    WHERE near.a = r.rank ORDER BY near.s DESC, near.b LIMIT 1)
        WHERE link IS NULL;
        RETURN QUERY SELECT r.id, f.id, near.s FROM ranked r JOIN ranked f ON f.rank = r.link
                     LEFT JOIN near ON near.a = r.rank AND near.b = r.link;
    END IF;
    DROP TABLE near;
END $$;

-- Rows in which the function and the oracle differ, or whose group_id or size is wrong
CREATE FUNCTION differences(threshold float8, measure text, rule text, column_order text)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    n bigint;
BEGIN
    CREATE TEMP TABLE found ON COMMIT DROP AS
    SELECT * FROM near_duplicate_groups(format('SELECT id, sig FROM docs ORDER BY %s', column_order),
                                          threshold, measure, rule);
    SELECT count(*) INTO n
    FROM (SELECT f.id, f.representative, f.similarity FROM found f) f
    FULL JOIN oracle(threshold, measure, rule, column_order || ', id') o USING (id)
    WHERE (f.id, f.representative, f.similarity) IS DISTINCT FROM (o.id::bigint, o.representative::bigint, o.similarity);
    SELECT n + count(*) INTO n
    FROM (SELECT group_id FROM found GROUP BY group_id
          HAVING count(*) <> min(size) OR min(size) <> max(size) OR count(DISTINCT representative) <> 1
              OR count(*) FILTER (WHERE id = representative) <> 1) x;
    DROP TABLE found;
    RETURN n;
END $$;

SELECT seed, fill(seed, 60 + seed * 7, 12 + seed % 4 * 10),
       (SELECT count(*) FROM oracle(0.6, 'jaccard', 'greedy', 'id') WHERE id <> representative) > 5 AS some,
       (SELECT sum(differences(t, m, r, o))
        FROM unnest('{0.3,0.6,0.8,1}'::float8[]) t, (SELECT measure FROM set_measures WHERE commutes) s (m),
             unnest('{connected,greedy}'::text[]) r, unnest('{id,score,"score DESC, id DESC"}'::text[]) o) AS differences
FROM generate_series(1, 5) seed;

-- The plan, the order of rows and the memory do not matter
SELECT fill(99, 3000, 400);
CREATE TABLE in_memory AS SELECT * FROM near_duplicate_groups('SELECT id, sig FROM docs', 0.6);
CREATE TABLE connected AS SELECT * FROM near_duplicate_groups('SELECT id, sig FROM docs', 0.6, rule => 'connected');
SELECT max(size) > 5 AS large, count(*) FILTER (WHERE size = 1) > 5 AS alone, count(*) FROM in_memory;
CREATE FUNCTION same(query text, rule text DEFAULT 'greedy') RETURNS boolean LANGUAGE sql AS $$
    SELECT count(*) = 0
    FROM near_duplicate_groups(query, 0.6, rule => rule) a
    FULL JOIN (SELECT * FROM in_memory WHERE rule = 'greedy' UNION ALL SELECT * FROM connected WHERE rule <> 'greedy') b
    USING (id, group_id, representative, size)
    WHERE a.similarity IS DISTINCT FROM b.similarity OR a.id IS NULL OR b.id IS NULL
$$;
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
CREATE VIEW shuffled AS SELECT id, sig FROM docs WHERE id % 3 = 1 UNION ALL SELECT id, sig FROM docs WHERE id % 3 <> 1;
SELECT same('SELECT id, sig FROM docs'), same('SELECT id, sig FROM docs', 'connected'),
       same('TABLE shuffled'), same('TABLE shuffled', 'connected');
RESET work_mem;
RESET hash_mem_multiplier;
SET enable_indexscan = off;
SET enable_bitmapscan = off;
SELECT same('TABLE shuffled'), same('SELECT DISTINCT id, sig FROM docs'), same('SELECT id, sig FROM docs GROUP BY id'),
       same('WITH d AS MATERIALIZED (TABLE docs) SELECT d.id, d.sig FROM d LIMIT 3000');
RESET enable_indexscan;
RESET enable_bitmapscan;
SELECT id, representative FROM near_duplicate_groups('SELECT id, sig FROM docs ORDER BY score LIMIT 5', 0.6);
-- the query's order decides ties, so it is in a subquery
SELECT (SELECT array_agg((id, representative)) FROM near_duplicate_groups(query, 0.6))
       = (SELECT array_agg((id, representative)) FROM near_duplicate_groups(
              'SELECT id, sig FROM docs WHERE score = (SELECT min(score) FROM docs)', 0.6)) AS as_by_condition
FROM unnest('{SELECT * FROM (SELECT id\, sig FROM docs ORDER BY score + 1 FETCH FIRST ROW WITH TIES) t,
              "WITH d AS (TABLE docs) SELECT * FROM (SELECT DISTINCT ON (score, id) id, sig FROM d ORDER BY score FETCH FIRST ROW WITH TIES) t"}'::text[]) query;
SELECT id FROM near_duplicate_groups('SELECT id, sig FROM docs ORDER BY score FETCH FIRST ROW WITH TIES', 0.6);

-- The representatives are the rows that a guard in mode skip accepts, in that order
CREATE TABLE guarded (id int PRIMARY KEY, sig signature);
CREATE INDEX guarded_sig ON guarded USING gin (sig signature_gin_ops (threshold = 0.6)) WITH (fastupdate = off);
CREATE TRIGGER skip BEFORE INSERT ON guarded FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.6', 'skip');
INSERT INTO guarded SELECT id, sig FROM docs ORDER BY score, id;
SELECT count(*) FILTER (WHERE g.id IS NULL OR c.id IS NULL) AS differences, count(*) > 100 AS many
FROM guarded g FULL JOIN (SELECT * FROM near_duplicate_groups('SELECT id, sig FROM docs ORDER BY score', 0.6)
                          WHERE id = representative) c ON c.id = g.id;

-- Groups of pairs are those of the rows; they do not depend on the pairs' order,
-- direction and number
CREATE TABLE pairs AS
SELECT a.id AS a, b.id AS b, similarity(a.sig, b.sig) AS s
FROM docs a JOIN docs b ON near_duplicate(a.sig, b.sig, 0.6) AND a.id <> b.id
UNION ALL SELECT id, NULL, NULL FROM docs;
CREATE FUNCTION same_pairs(query text, rule text DEFAULT 'greedy') RETURNS boolean LANGUAGE sql AS $$
    SELECT count(*) = 0
    FROM near_duplicate_groups_of_pairs(query, rule) a
    FULL JOIN (SELECT * FROM in_memory WHERE rule = 'greedy' UNION ALL SELECT * FROM connected WHERE rule <> 'greedy') b
    USING (id, group_id, representative, size)
    WHERE a.similarity IS DISTINCT FROM b.similarity OR a.id IS NULL OR b.id IS NULL
$$;
SELECT same_pairs('TABLE pairs'), same_pairs('SELECT a, b FROM pairs', 'connected'),
       same_pairs('SELECT * FROM pairs WHERE a < b OR b IS NULL ORDER BY b DESC');
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
SELECT same_pairs('TABLE pairs'), same_pairs('SELECT b, a FROM pairs', 'connected'),
       (SELECT count(*) FROM near_duplicate_groups_of_pairs(NULL::text, 'SELECT lpad(a::text, 300, ''0''), lpad(b::text, 300, ''0''), s FROM pairs', 'greedy') a
        FULL JOIN in_memory b ON a.id::int = b.id
        WHERE (a.representative::int, a.similarity, a.group_id, a.size)
              IS DISTINCT FROM (b.representative, b.similarity, b.group_id, b.size)) AS differences;
-- few pairs of many rows
SELECT representative, count(*), min(id), max(id), min(size)
FROM near_duplicate_groups_of_pairs('SELECT i, CASE WHEN i % 1000 < 2 THEN i + 1 END FROM generate_series(6000, 1, -1) i')
WHERE size > 1 GROUP BY 1 ORDER BY 1;
RESET work_mem;
RESET hash_mem_multiplier;
-- Ids of which twenty have one hash, among others; the table is on disk
CREATE TABLE colliding AS
SELECT i, ((i % 20 + 1)::bigint << 32) | ((i % 20 + 1) # (i / 20)) AS id FROM generate_series(1, 8000) i;
SELECT max(n) FROM (SELECT count(*) n FROM colliding GROUP BY hashint8(id)) h;
CREATE TABLE colliding_pairs AS
SELECT a.id AS a, CASE WHEN a.i % 50 > 0 THEN b.id END AS b, (a.i * 37 % 101 / 100.0)::float8 AS s
FROM colliding a JOIN colliding b ON b.i = CASE WHEN a.i % 3 = 0 THEN a.i - 1 WHEN a.i % 7 = 0 THEN a.i * 31 % 8000 + 1 ELSE a.i END
ORDER BY hashint4(a.i);
SET hash_mem_multiplier = 1;
CREATE FUNCTION of_colliding(type text, rule text, memory text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    answer text;
BEGIN
    PERFORM set_config('work_mem', memory, true);
    EXECUTE format('SELECT count(*) || '' '' || max(size) || '' '' || md5(string_agg(c::text, '','')) FROM near_duplicate_groups_of_pairs(NULL::%s, %L, %L) c',
        type, format('SELECT a::%1$s, b::%1$s, s FROM colliding_pairs', type), rule) INTO answer;
    RETURN answer;
END $$;
SELECT type, rule, split_part(of_colliding(type, rule, '64kB'), ' ', 1) AS ids,
    of_colliding(type, rule, '64kB') = of_colliding(type, rule, '64MB') AS same
FROM unnest('{bigint,text,numeric}'::text[]) type, unnest('{connected,greedy}'::text[]) rule ORDER BY 1, 2;
RESET hash_mem_multiplier;

SELECT * FROM near_duplicate_groups_of_pairs('VALUES (1, 2), (2, 3), (3, 1), (4, 5), (6, 5), (7, NULL), (8, 8)');
SELECT * FROM near_duplicate_groups_of_pairs('VALUES (1, 2), (2, 3), (3, 4), (6, 5), (7, NULL), (8, 8)', 'connected');
SELECT * FROM near_duplicate_groups_of_pairs('VALUES (2, 1, 0.5), (2, 3, -7), (4, 3, 0.9), (2, 3, 0.6), (2, 1, 0.5)');
SELECT * FROM near_duplicate_groups_of_pairs(NULL::text, 'VALUES (''b'', ''a''), (''c'', ''b'')', 'greedy');
SELECT * FROM near_duplicate_groups_of_pairs(NULL::uuid, 'SELECT md5(i::text)::uuid, md5((i % 2)::text)::uuid FROM generate_series(1, 3) i', 'greedy');
-- a row value with null fields is an id
CREATE TYPE noted AS (number int, note text);
SELECT * FROM near_duplicate_groups_of_pairs(NULL::noted, 'SELECT ROW(1, NULL)::noted, ROW(2, ''a'')::noted', 'greedy');
SELECT * FROM near_duplicate_groups_of_pairs(NULL::noted,
    'SELECT ROW(i, NULL)::noted, CASE WHEN i < 5 THEN ROW(i + 1, NULL)::noted END FROM generate_series(1, 5) i', 'connected');
SELECT * FROM near_duplicate_groups_of_pairs('SELECT 1, 2 WHERE false');
SELECT * FROM near_duplicate_groups_of_pairs('SELECT NULL::int, NULL::int');
SELECT * FROM near_duplicate_groups_of_pairs('SELECT 1, 2, NULL::float8');
SELECT * FROM near_duplicate_groups_of_pairs('SELECT 1, 2, ''NaN''::float8');
SELECT * FROM near_duplicate_groups_of_pairs('SELECT 1');
SELECT * FROM near_duplicate_groups_of_pairs('SELECT 1, 2, 3, 4');
SELECT * FROM near_duplicate_groups_of_pairs(NULL::text, 'VALUES (''b'', ''a'')'); -- the rule is missing
-- ids are in the order of their column
CREATE COLLATION dictionary (provider = icu, locale = 'en');
SELECT id, representative FROM near_duplicate_groups_of_pairs(NULL::text,
    $$SELECT a COLLATE dictionary, b COLLATE dictionary FROM (VALUES ('a', 'B')) v (a, b)$$, 'greedy');
SELECT id, representative FROM near_duplicate_groups_of_pairs(NULL::text,
    $$SELECT a COLLATE "C", b COLLATE "C" FROM (VALUES ('a', 'B')) v (a, b)$$, 'greedy');
SELECT id, representative FROM near_duplicate_groups_add(NULL::text, $$SELECT 'new', shingles('x y z')$$,
    $$SELECT id COLLATE dictionary, sig, id COLLATE dictionary, NULL::float8 FROM (VALUES ('B', shingles('x y z')), ('a', shingles('x y z'))) v (id, sig)$$, 0.8);
DROP COLLATION dictionary;
SELECT count(*) FROM near_duplicate_groups_of_pairs(NULL) a, near_duplicate_groups_of_pairs('SELECT 1, 2', NULL) b;
SELECT * FROM near_duplicate_groups_of_pairs(NULL::point, 'SELECT ''(1,1)''::point, ''(1,2)''::point', 'greedy');

-- New rows against old groups: batch after batch, the groups are those of all rows
-- at once
CREATE TABLE groups (id bigint PRIMARY KEY, representative bigint, similarity float8);
CREATE FUNCTION add_batches(threshold float8, size int) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    wrong bigint := 0;
    last int := (SELECT max(id) FROM docs);
BEGIN
    TRUNCATE groups;
    FOR i IN 0 .. (last - 1) / size LOOP
        INSERT INTO groups
        SELECT * FROM near_duplicate_groups_add(
            format('SELECT id, sig FROM docs WHERE id > %s AND id <= %s', i * size, (i + 1) * size),
            format('SELECT g.id, d.sig, g.representative, g.similarity FROM groups g JOIN docs d USING (id) WHERE near_duplicate(d.sig, $1, %s)', threshold),
            threshold)
        ON CONFLICT (id) DO UPDATE SET representative = excluded.representative, similarity = excluded.similarity;
        wrong := wrong + (
            SELECT count(*) FROM groups g
            FULL JOIN near_duplicate_groups(format('SELECT id, sig FROM docs WHERE id <= %s', (i + 1) * size), threshold) c USING (id)
            WHERE (g.representative, g.similarity) IS DISTINCT FROM (c.representative, c.similarity));
    END LOOP;
    RETURN wrong;
END $$;
-- where new rows connect groups, their representatives are renamed
CREATE FUNCTION connect_batches(threshold float8, size int) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    wrong bigint := 0;
    last int := (SELECT max(id) FROM docs);
BEGIN
    TRUNCATE groups;
    FOR i IN 0 .. (last - 1) / size LOOP
        WITH added AS (SELECT * FROM near_duplicate_groups_add(
            format('SELECT id, sig FROM docs WHERE id > %s AND id <= %s', i * size, (i + 1) * size),
            format('SELECT g.id, d.sig, g.representative FROM groups g JOIN docs d USING (id) WHERE near_duplicate(d.sig, $1, %s)', threshold),
            threshold, rule => 'connected')),
        renamed AS (UPDATE groups SET representative = a.representative FROM added a WHERE groups.representative = a.id)
        INSERT INTO groups SELECT id, representative, similarity FROM added WHERE id > i * size;
        wrong := wrong + (
            SELECT count(*) FROM groups g
            FULL JOIN near_duplicate_groups(format('SELECT id, sig FROM docs WHERE id <= %s', (i + 1) * size), threshold, rule => 'connected') c USING (id)
            WHERE (g.representative, g.similarity) IS DISTINCT FROM (c.representative, c.similarity));
    END LOOP;
    RETURN wrong;
END $$;
CREATE TABLE all_docs AS TABLE docs;
SELECT seed, fill(seed, 300, 20 + seed * 20), add_batches(0.6, 1 + seed * 7) AS wrong, add_batches(0.4, 20) AS wrong,
       connect_batches(0.4, 3 + seed * 7) AS wrong
FROM generate_series(1, 3) seed;
-- in little memory, where the new rows go to disk
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
SELECT fill(6, 300, 60), add_batches(0.5, 100) AS wrong;
RESET work_mem;
RESET hash_mem_multiplier;
-- some rows change their groups, and rows that are not near do not
SELECT fill(3, 100, 30);
TRUNCATE groups;
INSERT INTO groups SELECT id, representative, similarity FROM near_duplicate_groups('SELECT id, sig FROM docs WHERE id <= 60', 0.5);
SELECT count(*) FILTER (WHERE id > 60) AS new, count(*) FILTER (WHERE id <= 60) > 0 AS changed
FROM near_duplicate_groups_add('SELECT id, sig FROM docs WHERE id > 60',
    'SELECT d.id, d.sig, g.representative::numeric, g.similarity FROM groups g JOIN docs d USING (id) WHERE $1 IS NOT NULL', 0.5);
SELECT count(*) FILTER (WHERE representative LIKE '0%')
FROM near_duplicate_groups_add(NULL::text, 'SELECT lpad(id::text, 5, ''0''), sig FROM docs WHERE id > 60',
    'SELECT lpad(g.id::text, 5, ''0''), d.sig, lpad(g.representative::text, 5, ''0''), g.similarity FROM groups g JOIN docs d USING (id) WHERE near_duplicate(d.sig, $1, 0.5)', 0.5);
-- (texts: the new 00003 connects 00002 with 00001)
SELECT * FROM near_duplicate_groups_add(NULL::text,
    $$VALUES ('00003', signature_from('{1,2,3,4}')), ('00004', signature_from('{1,2,3,4,5}')), ('00005', signature_from('{9}'))$$,
    $$SELECT * FROM (VALUES ('00001', signature_from('{1,2}'), '00001'), ('00002', signature_from('{3,4}'), '00002'),
                            ('00000', signature_from('{2,3,4,6}'), '00002')) o (id, sig, r) WHERE near_duplicate(sig, $1, 0.5)$$,
    0.5, rule => 'connected');
SELECT * FROM near_duplicate_groups_add('SELECT id, sig FROM docs WHERE id > 95', 'SELECT id, sig FROM docs WHERE sig = $1', 0.5);
SELECT * FROM near_duplicate_groups_add('SELECT id, sig FROM docs WHERE id > 95', 'SELECT id, sig FROM docs WHERE sig = $1', 0.5, rule => 'connected');
SELECT * FROM near_duplicate_groups_add('SELECT id, sig FROM docs WHERE id > 95', 'SELECT id, sig, ''x''::text, 1.0 FROM docs', 0.5);
SELECT * FROM near_duplicate_groups_add('SELECT id, sig FROM docs WHERE id > 95', 'DELETE FROM docs', 0.5);
SELECT * FROM near_duplicate_groups_add('SELECT id, sig FROM docs WHERE id > 95', 'DELETE FROM docs RETURNING id, sig, id, 1.0', 0.5);
TRUNCATE docs;
INSERT INTO docs TABLE all_docs;

-- Ids of any type
CREATE TYPE pair AS (a int, b text);
CREATE DOMAIN code AS text CHECK (value <> '');
CREATE TABLE few AS
SELECT i AS id, signature_from(ARRAY[1, 2, 3, 4, i % 2, 10 * (i / 3)]) AS sig FROM generate_series(1, 6) i;
SELECT * FROM near_duplicate_groups('SELECT id, sig FROM few', 0.6);
SELECT * FROM near_duplicate_groups(NULL::text, 'SELECT ''no. '' || id, sig FROM few', 0.6);
SELECT * FROM near_duplicate_groups(NULL::text, 'SELECT repeat(id::text, 10000), sig FROM few', 0.6, rule => 'connected')
WHERE length(id) <> 10000 OR id < representative OR representative <> repeat('1', 10000);
SELECT * FROM near_duplicate_groups(NULL::uuid, 'SELECT md5(id::text)::uuid, sig FROM few ORDER BY id', 0.6);
SELECT * FROM near_duplicate_groups(NULL::pair, 'SELECT (id, ''x'')::pair, sig FROM few', 0.6);
SELECT sum((id).id), max((representative).id) FROM near_duplicate_groups(NULL::few, 'SELECT few, sig FROM few', 0.6);
SELECT * FROM near_duplicate_groups(NULL::int[], 'SELECT ARRAY[id, 2], sig FROM few', 0.6) LIMIT 2;
SELECT * FROM near_duplicate_groups(NULL::code, 'SELECT id, sig FROM few', 0.6) LIMIT 2;
SELECT * FROM near_duplicate_groups(NULL::numeric, 'SELECT id, sig FROM few', 0.6) LIMIT 2;

-- Ids that are cast where values are assigned: no two become one
SELECT * FROM near_duplicate_groups('SELECT id::numeric, sig FROM few', 0.6) LIMIT 2;
SELECT * FROM near_duplicate_groups('SELECT id::float8, sig FROM few', 0.6) LIMIT 2;
SELECT * FROM near_duplicate_groups('SELECT id + 0.25, sig FROM few', 0.6) LIMIT 2;
SELECT * FROM near_duplicate_groups(NULL::numeric, 'SELECT id + 0.25, sig FROM few', 0.6) LIMIT 2;
SELECT * FROM near_duplicate_groups(NULL::date, 'SELECT timestamp ''2026-01-01 12:00'' + id * interval ''1 day'', sig FROM few', 0.6);
SELECT * FROM near_duplicate_groups(NULL::"char", 'SELECT chr(64 + id::int) || ''x'', sig FROM few WHERE id < 20', 0.6);
SELECT * FROM near_duplicate_groups_of_pairs('SELECT 1.5::float8, 2');
SELECT * FROM near_duplicate_groups(NULL::float4, 'SELECT id + 16777216, sig FROM few ORDER BY id', 0.6);
SELECT * FROM near_duplicate_groups(NULL::float8, 'SELECT id + 9007199254740992, sig FROM few ORDER BY id', 0.6);
SELECT * FROM near_duplicate_groups(NULL::float8, 'SELECT id * 0.5, sig FROM few ORDER BY id', 0.6) LIMIT 2;
SELECT * FROM near_duplicate_groups(NULL::name, 'SELECT repeat(''x'', 70) || id, sig FROM few ORDER BY id', 0.6);
SELECT id, similarity FROM near_duplicate_groups_of_pairs('SELECT 1, 2, 0.12345678901234567890123');
SELECT * FROM near_duplicate_groups('SELECT id, sig FROM few FOR UPDATE', 0.6);

-- Signatures of all kinds
CREATE FUNCTION kinds(expression text, threshold float8, measure text DEFAULT 'jaccard') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    kept bigint;
BEGIN
    CREATE TEMP TABLE saved ON COMMIT DROP AS TABLE docs;
    TRUNCATE docs;
    EXECUTE format('INSERT INTO docs SELECT id, id %% 3, %s FROM texts', expression);
    SELECT count(*) INTO kept FROM near_duplicate_groups('SELECT id, sig FROM docs', threshold, measure) WHERE id = representative;
    RETURN format('%s kept, %s differ', kept, differences(threshold, measure, 'greedy', 'score')
                  + differences(threshold, measure, 'connected', 'score'));
END $$;
CREATE TABLE texts AS
SELECT i AS id, (SELECT string_agg('w' || (i / 4 * 17 + w * 3 + CASE WHEN w = i % 25 THEN i ELSE 0 END), ' ' ORDER BY w)
                 FROM generate_series(1, 25) w) AS body
FROM generate_series(1, 80) i;
SELECT kinds('shingles(body)', 0.6);
SELECT kinds('minhash(body)', 0.6);
SELECT kinds('bottom(shingles(body), 20)', 0.6);
SELECT kinds('simhash(body)', 0.8);
SELECT kinds('supershingles(body)', 0.8);
SELECT kinds('imatch(body, (SELECT lexicon_agg(body) FROM texts))', 0.8);
SELECT kinds('weighted_words(body, (SELECT lexicon_agg(body) FROM texts))', 0.8, 'cosine');
SELECT kinds('weighted_words(body, (SELECT lexicon_agg(body) FROM texts))', 0.6, 'jaccard');

-- Further columns are a scope: each scope has its own groups, in one order
CREATE COLLATION blind (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
SELECT fill(44, 300, 20);
CREATE TABLE scoped AS SELECT id, sig, nullif(id % 4, 3) AS tenant, (array['a', 'A', 'b'])[1 + id % 3] COLLATE blind AS part FROM docs;
CREATE FUNCTION scoped_differences(rule text) RETURNS bigint LANGUAGE sql AS $$
    WITH apart AS (
        SELECT s.tenant, s.part, c.* FROM (SELECT DISTINCT tenant, part FROM scoped) s, near_duplicate_groups(
            format('SELECT id, sig FROM groups.scoped WHERE tenant IS NOT DISTINCT FROM %L AND part = %L ORDER BY id DESC', s.tenant, s.part),
            0.5, 'jaccard', rule) c),
    together AS (SELECT * FROM near_duplicate_groups(
        'SELECT id, sig, tenant, part FROM groups.scoped ORDER BY id DESC', 0.5, 'jaccard', rule))
    SELECT count(*) FROM apart a FULL JOIN together t USING (id)
    WHERE ROW(a.representative, a.similarity, a.size) IS DISTINCT FROM ROW(t.representative, t.similarity, t.size)
$$;
SELECT scoped_differences('greedy'), scoped_differences('connected'),
       (SELECT count(*) > 20 FROM near_duplicate_groups('SELECT id, sig, tenant, part FROM scoped', 0.5) WHERE id <> representative) AS many;
SELECT id, representative FROM near_duplicate_groups(
    $$VALUES (1, shingles('a b c d e f'), 'x'), (2, shingles('a b c d e f'), 'x'), (3, shingles('a b c d e f', 'german'), 'y'),
             (4, shingles('a b c d e f', 'german'), 'y'), (5, shingles('a b c d e f'), 'y')$$, 0.5);
-- New rows, too: in batches, with the scope in the condition or only in the result
CREATE FUNCTION scoped_batches(rule text, condition text, size int) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    wrong bigint;
BEGIN
    TRUNCATE groups;
    FOR i IN 0 .. 300 / size LOOP
        CREATE TEMP TABLE added AS SELECT * FROM near_duplicate_groups_add(
            format('SELECT id, sig, tenant, part FROM groups.scoped WHERE id > %s AND id <= %s', i * size, (i + 1) * size),
            format('SELECT g.id, s.sig, g.representative, g.similarity, s.tenant::numeric, s.part FROM groups g JOIN groups.scoped s USING (id) WHERE %s; -- of any', condition),
            0.5, rule => rule);
        UPDATE groups g SET representative = a.representative FROM added a WHERE rule = 'connected' AND g.representative = a.id;
        INSERT INTO groups SELECT * FROM added WHERE rule = 'greedy' OR id > i * size
        ON CONFLICT (id) DO UPDATE SET representative = excluded.representative, similarity = excluded.similarity;
        DROP TABLE added;
    END LOOP;
    SELECT count(*) INTO wrong FROM groups g
    FULL JOIN near_duplicate_groups('SELECT id, sig, tenant, part FROM groups.scoped', 0.5, rule => rule) c USING (id)
    WHERE (g.representative, g.similarity) IS DISTINCT FROM (c.representative, c.similarity);
    RETURN wrong;
END $$;
SELECT rule, scoped_batches(rule, condition, 70) AS wrong
FROM unnest('{greedy, connected}'::text[]) rule,
     unnest('{near_duplicate(s.sig\, $1\, 0.5) AND s.tenant IS NOT DISTINCT FROM $2 AND s.part = $3,near_duplicate(s.sig\, $1\, 0.5)}'::text[]) condition;
-- by one join, or by a look-up for each row
CREATE INDEX scoped_sig ON scoped USING gin (sig signature_gin_ops (threshold = 0.5)) WITH (fastupdate = off);
ANALYZE scoped;
SET enable_seqscan = off;
SET neardup.enable_join = off;
SELECT scoped_batches('greedy', 'near_duplicate(s.sig, $1, 0.5)', 100) AS wrong;
RESET neardup.enable_join;
RESET enable_seqscan;
-- signatures of different scopes may be of different specs
SELECT id, representative FROM near_duplicate_groups_add(
    $$VALUES (3, shingles('a b c d e f'), 'x'), (4, shingles('a b c d e f', 'german'), 'y'), (5, shingles('a b c d e f'), NULL)$$,
    $$VALUES (1, shingles('a b c d e f'), 1, NULL::float8, 'x'), (2, shingles('a b c d e f', 'german'), 2, NULL, 'y')$$, 0.5);
SELECT * FROM near_duplicate_groups_add('SELECT id, sig, tenant FROM scoped', 'SELECT id, sig, id, 1 FROM scoped WHERE sig = $1', 0.5);
SELECT * FROM near_duplicate_groups_add('SELECT id, sig, tenant FROM scoped', 'SELECT id, sig, id, 1, ''x''::text FROM scoped', 0.5);
SELECT * FROM near_duplicate_groups_add('SELECT id, sig, tenant FROM scoped', 'SELECT id, sig, id, 1, $3 FROM scoped', 0.5);
DROP FUNCTION scoped_differences, scoped_batches;
DROP TABLE scoped;

-- Rows that are not the same, with equal texts, too
CREATE TABLE alike AS SELECT id, shingles(body, 'k=1') AS sig
FROM (VALUES (1, 'a b c d e f g h'), (2, 'a b c d e f g h'), (3, 'a b c d e f g x'), (4, 'a b c d e f g h')) v (id, body);
SELECT id, representative, similarity FROM near_duplicate_groups('SELECT id, sig FROM alike', 0.7, apart => 'VALUES (1, 2)');
SELECT id, representative, similarity FROM near_duplicate_groups(NULL::text, 'SELECT id::text, sig FROM alike', 0.7,
    apart => $$VALUES ('3', '1'), ('1', '2'), ('9', '1'), ('4', '4'), ('4', NULL)$$);
SELECT * FROM near_duplicate_groups_add('SELECT id, sig FROM alike WHERE id > 2',
    'SELECT id, sig, id, NULL::float8 FROM alike WHERE id = 1', 0.7, apart => 'VALUES (1, 3)');
SELECT * FROM near_duplicate_groups('SELECT id, sig FROM alike', 0.7, rule => 'connected', apart => 'VALUES (1, 3)');
SELECT * FROM near_duplicate_groups('SELECT id, sig FROM alike', 0.7, apart => 'VALUES (1, 2, 3)');
SELECT * FROM near_duplicate_groups('SELECT id, sig FROM alike', 0.7, apart => 'VALUES (1)');
SELECT * FROM near_duplicate_groups(NULL::varbit, 'SELECT id::bit(4)::varbit, sig FROM alike', 0.7, apart => 'VALUES (B''1'', B''0'')');

-- A sweep over thresholds: figures of the groups at each; the pair is the least similar one
SELECT * FROM near_duplicate_groups_sweep('SELECT id, sig FROM alike', '{0.9,0.7}');
SELECT * FROM near_duplicate_groups_sweep('SELECT ROW(id, NULL)::groups.noted, sig, id % 2 FROM alike;', '{0.7}', 'dice', 'connected');
SELECT count(*), min(threshold), max(threshold) FROM near_duplicate_groups_sweep('SELECT id, sig FROM alike WHERE false');
SELECT fill(77, 300, 40);
CREATE FUNCTION sweep_differences(measure text, rule text, query text, memory text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    n bigint;
BEGIN
    PERFORM set_config('work_mem', memory, true);
    SELECT count(*) INTO n
    FROM near_duplicate_groups_sweep(query, '{0.3,0.5,0.8,1}', measure, rule) s,
         LATERAL (SELECT count(*) FILTER (WHERE size > 1 AND id = representative) AS groups, count(*) FILTER (WHERE id <> representative) AS duplicates,
                         max(size) AS largest FROM near_duplicate_groups(query, s.threshold, measure, rule)) g,
         LATERAL (SELECT min(CASE measure WHEN 'jaccard' THEN similarity(a.sig, b.sig) ELSE cosine(a.sig, b.sig) END) AS similarity,
                         count(*) FILTER (WHERE (c.id, c.representative) = (s.id::int, s.representative::int)) AS is_pair
                  FROM near_duplicate_groups(query, s.threshold, measure, rule) c JOIN docs a ON a.id = c.id JOIN docs b ON b.id = c.representative
                  WHERE c.id <> c.representative) l
    WHERE (s.groups, s.duplicates, s.largest, s.similarity) IS DISTINCT FROM (g.groups, g.duplicates, g.largest, l.similarity)
       OR l.is_pair <> (s.duplicates > 0)::int;
    RETURN n + (SELECT (max(duplicates) < 100)::int FROM near_duplicate_groups_sweep(query, '{0.3}', measure, rule));
END $$;
SELECT m AS measure, r AS rule, sum(sweep_differences(m, r, q, memory)) AS wrong
FROM unnest('{jaccard,cosine}'::text[]) m, unnest('{greedy,connected}'::text[]) r, unnest('{64kB,4MB}'::text[]) memory,
     unnest('{"SELECT id, sig FROM docs ORDER BY score DESC","SELECT id, sig, score % 2 FROM docs"}'::text[]) q
GROUP BY 1, 2 ORDER BY 1, 2;
SELECT * FROM near_duplicate_groups_sweep('SELECT id, sig FROM alike', '{0.7,NULL}');
SELECT * FROM near_duplicate_groups_sweep('SELECT id, sig FROM alike', '{0.7,70}');

-- None, one, and the greatest number of equal rows
SELECT * FROM near_duplicate_groups('SELECT id, sig FROM few WHERE false', 0.6);
SELECT * FROM near_duplicate_groups('SELECT id, sig FROM few WHERE id = 3', 0.6);
SELECT * FROM near_duplicate_groups(NULL, 0.6);
SELECT * FROM near_duplicate_groups(NULL::uuid, NULL, 0.6);
SELECT group_id, representative, min(similarity), max(size), count(*)
FROM near_duplicate_groups('SELECT i, signature_from(ARRAY[1, i % 2]) FROM generate_series(1, 20000) i', 0.6)
GROUP BY 1, 2;

SELECT count(*), count(DISTINCT representative)
FROM near_duplicate_groups_of_pairs(NULL::pair, 'SELECT (i, ''x'')::groups.pair, (i / 10 * 10, ''x'')::groups.pair FROM generate_series(10, 4000) i', 'connected');

-- As part of other commands it sees their snapshot
BEGIN;
DELETE FROM few USING near_duplicate_groups('SELECT id, sig FROM few', 0.6) c
WHERE few.id = c.id AND c.id <> c.representative;
SELECT id FROM few ORDER BY id;
ROLLBACK;

-- Workers run the query, and the leader groups.
CREATE FUNCTION process() RETURNS bigint LANGUAGE plpgsql PARALLEL SAFE AS $$ BEGIN RETURN pg_backend_pid(); END $$;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
SET parallel_leader_participation = off;
SELECT bool_and(id / 1000000 <> pg_backend_pid()) AS by_workers, count(*) > 0 AS rows
FROM near_duplicate_groups('SELECT process() * 1000000 + id, sig FROM docs', 0.6);
SELECT bool_and(id / 1000000 <> pg_backend_pid()) AS by_workers
FROM near_duplicate_groups_of_pairs('SELECT process() * 1000000 + id, id FROM docs');
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
RESET max_parallel_workers_per_gather;
RESET parallel_leader_participation;
DROP FUNCTION process();

-- Errors
\set VERBOSITY default
SELECT * FROM near_duplicate_groups('SELECT id, sig FROM few', 0.6, 'containment');
SELECT * FROM near_duplicate_groups('SELECT id, sig FROM few', 0.6, 'jacard');
SELECT * FROM near_duplicate_groups('SELECT id, sig FROM few', 0.6, rule => 'linked');
SELECT * FROM near_duplicate_groups('SELECT id, sig FROM few', 60);
SELECT * FROM near_duplicate_groups('SELECT id FROM few', 0.6);
SELECT * FROM near_duplicate_groups('SELECT id, ''x'' FROM few', 0.6);
SELECT * FROM near_duplicate_groups('SELECT md5(''x'')::uuid, sig FROM few', 0.6);
SELECT * FROM near_duplicate_groups('SELECT NULL::int, sig FROM few', 0.6);
SELECT * FROM near_duplicate_groups(NULL::xid, 'SELECT ''1''::xid, sig FROM few', 0.6);
SELECT * FROM near_duplicate_groups('SELECT id, sig FROM few; SELECT 1', 0.6);
SELECT * FROM near_duplicate_groups('', 0.6);
SELECT * FROM near_duplicate_groups('few', 0.6);
SELECT * FROM near_duplicate_groups('groups."few"', 0.6);
SELECT * FROM near_duplicate_groups_of_pairs('few');
SELECT * FROM near_duplicate_groups('SELECT id, sig, point(1, 2) FROM few', 0.6);
SELECT * FROM near_duplicate_groups('SELECT id, minhash(sig), id % 2 FROM few', 0.6);
SELECT * FROM near_duplicate_groups_add('SELECT id, sig FROM few', 'SELECT id, sig, id, 1 FROM few WHERE sig = $2', 0.6);
SELECT * FROM near_duplicate_groups('DELETE FROM few RETURNING id, sig', 0.6);
SELECT * FROM near_duplicate_groups('WITH d AS (DELETE FROM few RETURNING id, sig) TABLE d', 0.6);
SELECT * FROM near_duplicate_groups('CHECKPOINT', 0.6);
SELECT * FROM near_duplicate_groups('SELECT id, shingles(id::text, id) FROM few', 0.6);
-- signatures of each spec have groups of their own, of whatever kind they are
CREATE TABLE mixed AS
SELECT 6 * id + n AS id, CASE n WHEN 0 THEN shingles(body, 'k=2') WHEN 1 THEN shingles(body, 'k=3') WHEN 2 THEN minhash(body, 64)
                         WHEN 3 THEN minhash(body, 128) WHEN 4 THEN simhash(body) ELSE bottom(shingles(body), 20) END AS sig
FROM texts, generate_series(0, 5) n WHERE texts.id <= 40;
SELECT rule, memory, count(*) FILTER (WHERE (a.representative, a.similarity) IS DISTINCT FROM (t.representative, t.similarity)) AS differ,
       count(*) FILTER (WHERE t.id <> t.representative) > 100 AS many
FROM unnest('{greedy,connected}'::text[]) rule, unnest('{64kB,4MB}'::text[]) memory, set_config('work_mem', memory, false),
     near_duplicate_groups('TABLE mixed', 0.6, rule => rule) t, generate_series(0, 5) n,
     near_duplicate_groups(format('SELECT id, sig FROM mixed WHERE id %% 6 = %s', n), 0.6, rule => rule) a
WHERE t.id = a.id GROUP BY 1, 2 ORDER BY 1, 2;
RESET work_mem;
SELECT * FROM near_duplicate_groups('SELECT id, minhash(sig) FROM few', 0.6, 'dice');
SELECT * FROM near_duplicate_groups('SELECT id, sig FROM few', 2, 'shared');

SET client_min_messages = warning;
-- Rows of templates, whose pairs are close to the threshold: each row has most of the
-- 40 features of one, and some of its own.  In little memory there are several rounds
CREATE FUNCTION fill_templates(seed bigint, n int, templates int, own int) RETURNS void LANGUAGE sql AS $$
    DELETE FROM docs;
    INSERT INTO docs
    SELECT i, (i * 7919) % 5, signature_from(ARRAY(
        SELECT CASE WHEN (hashint8extended(i * 41 + f, seed) & 65535) % 40 < own
                    THEN (hashint8extended(i * 43 + f, seed) >> 1) & 9223372036854775807
                    ELSE (hashint8extended((i % templates) * 47 + f, seed) >> 1) & 9223372036854775807 END
        FROM generate_series(1, 40) f))
    FROM generate_series(1, n) i
$$;
CREATE FUNCTION template_differences(memory text) RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE
    n numeric;
BEGIN
    PERFORM set_config('work_mem', memory, false);
    SELECT sum(differences(t, m, r, o)) INTO n
    FROM unnest('{0.5,0.6,0.7,0.8}'::float8[]) t, unnest('{jaccard,cosine}'::text[]) m,
         unnest('{connected,greedy}'::text[]) r, unnest('{id,"score DESC, id DESC"}'::text[]) o;
    PERFORM set_config('work_mem', '4MB', false);
    RETURN n;
END $$;
SELECT own, fill_templates(own, 150, 3, own),
       (SELECT count(*) FROM oracle(0.6, 'jaccard', 'greedy', 'id') WHERE id <> representative) > 20 AS some,
       template_differences('4MB') AS in_memory, template_differences('64kB') AS in_rounds
FROM unnest('{3,6,9}'::int[]) own;
-- and many of them, in any memory, with other rows in between
SELECT FROM fill_templates(1, 3000, 4, 5);
UPDATE docs SET sig = signature_from(ARRAY(SELECT (hashint8extended(id * 41 + f, 3) >> 1) & 9223372036854775807 FROM generate_series(1, 30) f))
WHERE id % 5 = 0;
SET work_mem = '256MB';
TRUNCATE in_memory, connected;
INSERT INTO in_memory SELECT * FROM near_duplicate_groups('SELECT id, sig FROM docs', 0.6);
INSERT INTO connected SELECT * FROM near_duplicate_groups('SELECT id, sig FROM docs', 0.6, rule => 'connected');
SELECT max(size) > 300 AS large, count(*) FILTER (WHERE size = 1) >= 600 AS alone FROM in_memory;
SET work_mem = '64kB';
SELECT same('SELECT id, sig FROM docs'), same('SELECT id, sig FROM docs', 'connected');
RESET work_mem;
-- The representatives are the rows that a guard in mode skip accepts
CREATE TABLE let_in (id int, sig signature);
CREATE INDEX ON let_in USING neardup (sig);
CREATE TRIGGER skipping BEFORE INSERT ON let_in FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.6', 'skip');
INSERT INTO let_in SELECT id, sig FROM docs ORDER BY id;
SELECT count(*) > 600 AS many, count(*) FILTER (WHERE g.id IS NULL OR c.id IS NULL) AS differ
FROM let_in g FULL JOIN (SELECT id FROM in_memory WHERE id = representative) c USING (id);

DROP SCHEMA groups CASCADE;
