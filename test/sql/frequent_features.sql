--
-- The order of features in the index, its option "frequent", and the aggregate
-- of frequent features: any list gives the rows of a sequential scan
--

-- Families of near-duplicates over a vocabulary in which the feature of rank r
-- is as frequent as 1 / r
CREATE TABLE docs (id int PRIMARY KEY, sig signature);
INSERT INTO docs
SELECT id, CASE WHEN id % 97 = 0 THEN NULL ELSE signature_from(array(
           SELECT power(3000, (hashint8extended(family * 1000 + i, 0) & 65535) / 65536.0)::bigint
           FROM generate_series(1, size) i
           WHERE hashint8extended(i, id) & 15 > 0 OR id % 10 = 0)) END
FROM (SELECT id, id / 6 AS family, (id / 6) * 7 % 90 AS size
      FROM generate_series(1::bigint, 1200) id) s;
SELECT count(sig), min(cardinality(sig::bigint[])), max(cardinality(sig::bigint[])),
       (SELECT max(n) > 300 AND min(n) < 10
        FROM (SELECT count(*) n FROM docs, unnest(sig::bigint[]) f GROUP BY f) g) AS skewed
FROM docs;

-- The truth, by sequential scan
CREATE TABLE query AS SELECT id AS q, sig AS query FROM docs WHERE id % 24 = 5;
CREATE TABLE condition AS
SELECT format('near_duplicate(sig, query, %s, %L)', t, m) AS condition
FROM unnest('{0.5,0.8,1}'::float8[]) t, unnest('{jaccard,containment,cosine}'::text[]) m;
CREATE TABLE found (run text, condition text, q int, id int);
CREATE FUNCTION search(run text) RETURNS bigint LANGUAGE plpgsql
SET neardup.enable_join = off SET jit = off AS $$
DECLARE
    c text;
    line text;
    indexed bigint := 0;
BEGIN
    FOR c IN SELECT condition FROM condition LOOP
        EXECUTE format('INSERT INTO found SELECT %L, %L, q, id FROM query, docs WHERE %s', run, c, c);
        FOR line IN EXECUTE 'EXPLAIN SELECT q, id FROM query, docs WHERE ' || c LOOP
            indexed := indexed + (line LIKE '%Index Cond: (sig \%\%%')::int;
        END LOOP;
    END LOOP;
    RETURN indexed;
END $$;
SET enable_indexscan = off;
SET enable_bitmapscan = off;
SELECT search('scan') AS indexed;
RESET enable_indexscan;
RESET enable_bitmapscan;
SELECT count(*) > 2000 AS many, count(*) < 100000 AS not_all FROM found;

-- By index with a list: the number of the 9 conditions that used it, and of rows
-- that differ
CREATE FUNCTION by_index(list text, more text = '', OUT indexed bigint, OUT differing bigint)
LANGUAGE plpgsql SET enable_seqscan = off AS $$
BEGIN
    EXECUTE format('CREATE INDEX docs_sig ON docs USING gin (sig signature_gin_ops (frequent = %L%s)) WITH (fastupdate = off)',
                   list, more);
    indexed := search('index');
    SELECT count(*) INTO differing
    FROM (SELECT * FROM found f WHERE run = 'index') f
    FULL JOIN (SELECT * FROM found WHERE run = 'scan') t USING (condition, q, id)
    WHERE f.run IS NULL OR t.run IS NULL;
    DELETE FROM found WHERE run = 'index';
    DROP INDEX docs_sig;
END $$;

-- Lists: the frequent features; the greatest number; features that are rare; at
-- random; one range
CREATE FUNCTION prefixes(list text) RETURNS SETOF int LANGUAGE sql IMMUTABLE AS $$
SELECT ('x0000' || substr(list, i, 4))::bit(32)::int FROM generate_series(1, length(list), 4) i $$;
CREATE FUNCTION list(int[]) RETURNS text LANGUAGE sql IMMUTABLE AS $$
SELECT string_agg(lpad(to_hex(p), 4, '0'), '' ORDER BY p) FROM unnest($1) p $$;
CREATE TABLE list AS
SELECT 'frequent' AS name, frequent_features(sig) AS list FROM docs
UNION ALL SELECT 'all', frequent_features(sig, 384) FROM docs
UNION ALL SELECT 'few', frequent_features(sig, 7) FROM docs
UNION ALL SELECT 'random', list(array_agg(DISTINCT hashint8extended(i, 7)::bit(16)::int)) FROM generate_series(1, 380) i
UNION ALL SELECT 'stretch', list(array_agg(i)) FROM generate_series(65536 - 384, 65535) i;
INSERT INTO list
SELECT 'others', list(array(SELECT * FROM prefixes(a.list) EXCEPT SELECT * FROM prefixes(f.list)))
FROM list a, list f WHERE a.name = 'all' AND f.name = 'frequent';
SELECT name, length(list) % 4 AS rest, length(list) / 4 AS prefixes,
       list(array(SELECT prefixes(list))) = list AS in_order
FROM list ORDER BY name;
SELECT name, b.* FROM list, by_index(list) b ORDER BY name;
SELECT name, b.* FROM list, by_index(list, ', ell = 1, frac = 0, threshold = 0.5') b ORDER BY name;
SELECT name, b.* FROM list, by_index(list, ', ell = 3, frac = 0.5, threshold = 0.9') b WHERE name = 'frequent';
SELECT name, b.* FROM list, by_index(list, ', measure = containment') b WHERE name IN ('frequent', 'others') ORDER BY name;
SELECT * FROM by_index('');

-- With frequent features last fewer rows are examined in vain, at the same
-- extension, and more with frequent features first
CREATE FUNCTION rejected(list text) RETURNS bigint LANGUAGE plpgsql
SET enable_seqscan = off SET jit = off AS $$
DECLARE
    sig signature;
    plan json;
    n bigint := 0;
BEGIN
    EXECUTE format('CREATE INDEX docs_sig ON docs USING gin (sig signature_gin_ops (frequent = %L, ell = 2, frac = 0))', list);
    FOR sig IN SELECT query FROM query WHERE query IS NOT NULL LOOP
        EXECUTE 'EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) SELECT FROM docs WHERE near_duplicate(sig, $1, 0.8)'
        INTO plan USING sig;
        n := n + coalesce((plan->0->'Plan'->>'Rows Removed by Index Recheck')::float8, 0)
               + coalesce((plan->0->'Plan'->>'Rows Removed by Filter')::float8, 0);
    END LOOP;
    DROP INDEX docs_sig;
    RETURN n;
END $$;
SELECT max(r) FILTER (WHERE name = 'frequent') * 10 < max(r) FILTER (WHERE name = 'none') AS last,
       max(r) FILTER (WHERE name = 'others') > max(r) FILTER (WHERE name = 'none') AS first
FROM (SELECT name, rejected(list) AS r FROM list UNION ALL SELECT 'none', rejected('')) s;

-- With a list ell is 5 and frac 0.1, with an empty one or none 13 and 0.15, if
-- they are not given; frac is of what a set has beyond 100
INSERT INTO docs
SELECT 2000 + id, signature_from(array(SELECT hashint8extended(i, id) FROM generate_series(1, 1000) i))
FROM generate_series(1, 40) id;
CREATE FUNCTION index_size(list text, more text = '') RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    size bigint;
BEGIN
    EXECUTE format('CREATE INDEX docs_sig ON docs USING gin (sig signature_gin_ops (frequent = %L%s))', list, more);
    size := pg_relation_size('docs_sig');
    DROP INDEX docs_sig;
    RETURN size;
END $$;
SELECT index_size(list) = index_size(list, ', ell = 5, frac = 0.1') AS five,
       index_size(list) < index_size(list, ', ell = 6') AS not_six,
       index_size(list) < index_size(list, ', frac = 0.15') AS tenth,
       index_size('') = index_size('', ', ell = 13, frac = 0.15') AS thirteen,
       index_size('') > index_size('', ', ell = 5') AS ell,
       index_size('') > index_size('', ', frac = 0.1') AS frac
FROM list WHERE name = 'frequent';
DELETE FROM docs WHERE id > 2000;

-- Options that are no lists
CREATE INDEX ON docs USING gin (sig signature_gin_ops (frequent = 'xyz'));
CREATE INDEX ON docs USING gin (sig signature_gin_ops (frequent = '00ff01'));
CREATE INDEX ON docs USING gin (sig signature_gin_ops (frequent = '00ff01FF'));
CREATE INDEX ON docs USING gin (sig signature_gin_ops (frequent = '00ff 100'));
CREATE INDEX ON docs USING gin (sig signature_gin_ops (frequent = '00ffüßчщ'));
CREATE INDEX ON docs USING gin (sig signature_gin_ops (frequent = '00ff0100ffff1000'));
CREATE INDEX ON docs USING gin (sig signature_gin_ops (frequent = '00000000'));
CREATE INDEX ON docs USING gin (sig signature_gin_ops (frequent = NULL));
SELECT list(array_agg(i)) AS list FROM generate_series(1, 385) i \gset
CREATE INDEX ON docs USING gin (sig signature_gin_ops (frequent = :'list'));

-- Frequent shingles, which are hashes, counted by SQL
CREATE TABLE texts (id int, sig signature);
INSERT INTO texts
SELECT id, shingles((SELECT string_agg('w' || power(500, (hashint8extended(id * 100 + i, 1) & 65535) / 65536.0)::int, ' ')
                     FROM generate_series(1, 40) i), 1)
FROM generate_series(1, 1000) id;
CREATE VIEW counted AS
SELECT (f >> 48 & 65535)::int AS prefix, count(*) AS n FROM texts, unnest(sig::bigint[]) f GROUP BY 1;
SELECT n, frequent_features(sig, n) = (
           SELECT list(array_agg(prefix))
           FROM (SELECT prefix FROM counted c
                 WHERE c.n > 8 + 4.0 * (SELECT sum(n) FROM counted) / 65536
                 ORDER BY c.n DESC, prefix LIMIT v.n) s) AS same,
       length(frequent_features(sig, n)) / 4 AS prefixes
FROM texts, unnest('{1, 2, 50, 256, 384}'::int[]) v (n) GROUP BY n ORDER BY n;
SELECT frequent_features(sig) = frequent_features(sig, 256) AS by_default FROM texts;
SELECT frequent_features(sig, 3) FROM texts;

-- The counts of parallel workers add up
BEGIN;
SET LOCAL parallel_setup_cost = 0;
SET LOCAL parallel_tuple_cost = 0;
SET LOCAL min_parallel_table_scan_size = 0;
SET LOCAL max_parallel_workers_per_gather = 2;
SET LOCAL parallel_leader_participation = off;
EXPLAIN (COSTS OFF) SELECT frequent_features(sig) FROM docs;
SELECT frequent_features(sig) = (SELECT list FROM list WHERE name = 'frequent') AS same FROM docs;
SELECT frequent_features(sig, 7) = (SELECT list FROM list WHERE name = 'few') AS same FROM docs;
SELECT frequent_features(NULL::signature) = '' AS same FROM docs;
COMMIT;

-- No feature is frequent where none is repeated, in few rows, or in none
SELECT frequent_features(signature_from(array[i, i + 100000])) = '' AS empty FROM generate_series(1::bigint, 50000) i;
SELECT i, length(frequent_features(signature_from('{1, 2, 3}'))) AS length
FROM unnest('{8, 9}'::int[]) i, generate_series(1, i) GROUP BY i ORDER BY i;
SELECT frequent_features(sig) = '' AS empty FROM docs WHERE false;
SELECT frequent_features(NULL::signature), frequent_features(NULL, 10);
SELECT frequent_features(signature_from('{}'));
SELECT frequent_features(CASE WHEN i > 9 THEN signature_from('{1}') END) FROM generate_series(1, 20) i;

-- Other signatures than sets of numbers: shingles, which are hashes, and
-- sketches that are indexed by their features
CREATE FUNCTION compare(source text, t float8, OUT prefixes int, OUT pairs bigint, OUT differing bigint)
LANGUAGE plpgsql SET neardup.enable_join = off SET jit = off AS $$
DECLARE
    list text;
BEGIN
    EXECUTE 'CREATE TEMP TABLE s AS ' || source;
    SET LOCAL enable_bitmapscan = off;
    EXECUTE format('CREATE TEMP TABLE scan AS SELECT a.id AS x, b.id AS y FROM s a JOIN s b ON near_duplicate(a.sig, b.sig, %s)', t);
    SET LOCAL enable_bitmapscan = on;
    SET LOCAL enable_seqscan = off;
    SELECT frequent_features(sig) INTO list FROM s;
    EXECUTE format('CREATE INDEX ON s USING gin (sig signature_gin_ops (frequent = %L, threshold = %s))', list, t);
    EXECUTE format('CREATE TEMP TABLE index AS SELECT a.id AS x, b.id AS y FROM s a JOIN s b ON near_duplicate(a.sig, b.sig, %s)', t);
    SET LOCAL enable_seqscan = on;
    prefixes := length(list) / 4;
    SELECT count(*), count(*) FILTER (WHERE scan.x IS NULL OR index.x IS NULL) INTO pairs, differing
    FROM scan FULL JOIN index USING (x, y);
    DROP TABLE s, scan, index;
END $$;
SELECT * FROM compare($$SELECT id, shingles((SELECT string_agg('w' || f, ' ') FROM unnest(sig::bigint[]) f), 1) AS sig FROM docs$$, 0.8);
SELECT * FROM compare('SELECT id, bottom(sig, 30) AS sig FROM docs', 0.8);
SELECT * FROM compare('SELECT id, sample(sig, 2) AS sig FROM docs', 0.8);
DROP FUNCTION compare;

-- Those with candidate keys of their own are in no order
SELECT frequent_features(minhash(sig)) FROM docs;
CREATE INDEX docs_minhash ON docs USING gin (minhash(sig) signature_gin_ops (frequent = '00010002'));
DROP INDEX docs_minhash;

-- Signatures of two kinds, and numbers that cannot be
SELECT frequent_features(s) FROM (VALUES (signature_from('{1}')), (shingles('a'))) v (s);
SELECT frequent_features(sig, 0) FROM docs;
SELECT frequent_features(sig, 385) FROM docs;
SELECT frequent_features(sig, NULL) FROM docs WHERE sig IS NOT NULL;
SELECT frequent_features(sig, id) FROM docs WHERE id < 10;

-- The definition has the list, and the guard uses the index
SELECT frequent_features(sig, 3) AS list FROM docs \gset
CREATE INDEX docs_sig ON docs USING gin (sig signature_gin_ops (frequent = :'list')) WITH (fastupdate = off);
SELECT pg_get_indexdef('docs_sig'::regclass);
CREATE CONSTRAINT TRIGGER no_near_duplicates AFTER INSERT OR UPDATE ON docs
    FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.8');
INSERT INTO docs SELECT 10000, signature_from(sig::bigint[] || 987654321) FROM docs WHERE id = 1000;
INSERT INTO docs SELECT 10000, signature_from(array_agg(hashint8extended(i, 9))) FROM generate_series(1, 50) i;
INSERT INTO docs SELECT 10001, sig FROM docs WHERE id = 10000;
SELECT id FROM docs WHERE id >= 10000;

DROP VIEW counted;
DROP TABLE docs, query, condition, found, list, texts;
DROP FUNCTION search, by_index, prefixes, list, rejected, index_size;

-- The longest list, with all other options, stays below the length from which the
-- server compresses a row of pg_attribute.
CREATE TABLE longest (sig signature);
SELECT format('CREATE INDEX longest_sig ON longest USING gin (sig signature_gin_ops
  (frequent = %L, threshold = 0.123456789012345, ell = 1000, frac = 0.123456789012345, measure = containment))',
  string_agg('00' || lpad(to_hex(i % 256), 2, '0'), '' ORDER BY i)) FROM generate_series(0, 255) i \gexec
DROP INDEX longest_sig;
SELECT format('CREATE INDEX longest_sig ON longest USING gin (sig signature_gin_ops
  (frequent = %L, threshold = 0.123456789012345, ell = 1000, frac = 0.123456789012345, measure = containment))',
  string_agg(lpad(to_hex(i), 4, '0'), '' ORDER BY i)) FROM generate_series(0, 383) i \gexec
SELECT pg_column_size(a.*) < 2000 AS short FROM pg_attribute a WHERE attrelid = 'longest_sig'::regclass;
DROP TABLE longest;
