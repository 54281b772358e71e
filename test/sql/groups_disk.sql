--
-- Groups that do not fit into memory, against an oracle that knows arrays only, at every
-- memory from 64 kB: rounds, batches, deferred candidates, and keys of one set only
--

CREATE SCHEMA groups_disk;
SET search_path = groups_disk, public;
SET client_min_messages = warning;
SET hash_mem_multiplier = 1;

-- Rows of several kinds, which differ in the sizes of sets and in what they share
CREATE TABLE rows (kind text, id int, elements bigint[], sig signature, PRIMARY KEY (kind, id));
CREATE FUNCTION draw(seed bigint, n int) RETURNS int LANGUAGE sql IMMUTABLE
RETURN ((hashint8extended(seed, 20261128) & 1073741823) % n)::int;
-- pairs and triples that share most of 30 features, apart from all others
INSERT INTO rows (kind, id, elements)
SELECT 'pairs', id, ARRAY(SELECT id / 3 * 1000 + id % 3 * 2 + e FROM generate_series(1, 30) e) FROM generate_series(1, 240) id;
-- rows of four templates, in which some features are drawn
INSERT INTO rows (kind, id, elements)
SELECT 'templates', id, ARRAY(SELECT DISTINCT id % 4 * 1000 + CASE draw(id * 100 + e, 6) WHEN 0 THEN 100 + draw(id * 77 + e, 400) ELSE e END
                              FROM generate_series(1, 25) e ORDER BY 1) FROM generate_series(1, 240) id;
-- chains: each row is near to the next ones
INSERT INTO rows (kind, id, elements)
SELECT 'chains', id, ARRAY(SELECT place / 100 * 10000 + place % 100 * 3 + e FROM generate_series(1, 24) e)
FROM (SELECT id, draw(id, 300) AS place FROM generate_series(1, 240) id) p;
-- sizes from 1 to 300, whose features are frequent
INSERT INTO rows (kind, id, elements)
SELECT 'sizes', id, ARRAY(SELECT DISTINCT draw(draw(id, 80) * 1000 + e + CASE draw(id * 1000 + e, 9) WHEN 0 THEN id * 7 ELSE 0 END, 900) AS element
                          FROM generate_series(1, 1 + CASE draw(id, 8) WHEN 0 THEN 300 ELSE 20 END * (draw(id, 80) + 1) / 80) e ORDER BY 1)
FROM generate_series(1, 240) id;
-- sets that differ, and a few equal ones
INSERT INTO rows (kind, id, elements)
SELECT 'differ', id, ARRAY(SELECT id / CASE WHEN id < 50 THEN 2 ELSE 1 END * 1000 + e FROM generate_series(1, 30) e) FROM generate_series(1, 240) id;
UPDATE rows SET sig = signature_from(elements);
SELECT kind, count(*) AS rows, min(nfeatures(sig)), max(nfeatures(sig)), count(DISTINCT sig) AS sets FROM rows GROUP BY kind ORDER BY kind;

CREATE TABLE near (a int, b int, s float8, PRIMARY KEY (a, b));
CREATE FUNCTION find_near(of text, measure text, threshold float8) RETURNS void LANGUAGE sql AS $$
    TRUNCATE near;
    INSERT INTO near
    SELECT * FROM (
        SELECT a, b, CASE measure WHEN 'jaccard' THEN o / (na + nb - o) WHEN 'dice' THEN 2 * o / (na + nb)
                                  WHEN 'cosine' THEN least(o / sqrt(na * nb), 1) ELSE o / least(na, nb) END AS s
        FROM (SELECT a.id AS a, b.id AS b, count(*)::float8 AS o, cardinality(a.elements)::float8 AS na, cardinality(b.elements)::float8 AS nb
              FROM rows a, unnest(a.elements) x, rows b, unnest(b.elements) y
              WHERE a.kind = of AND b.kind = of AND x = y AND a.id <> b.id GROUP BY a.id, b.id, a.elements, b.elements) n) s
    WHERE s >= threshold
$$;
-- Groups by the definition
CREATE FUNCTION greedy(of text) RETURNS TABLE (id int, representative int, similarity float8) LANGUAGE plpgsql AS $$
DECLARE
    chosen bool[] := '{}';
    r int;
BEGIN
    FOR r IN SELECT rows.id FROM rows WHERE kind = of ORDER BY 1 LOOP
        chosen[r] := NOT EXISTS (SELECT FROM near WHERE a = r AND b < r AND chosen[b]);
    END LOOP;
    RETURN QUERY SELECT rows.id, coalesce(n.b, rows.id), n.s
    FROM rows LEFT JOIN LATERAL (SELECT b, s FROM near WHERE a = rows.id AND chosen[b] AND NOT chosen[a] ORDER BY s DESC, b LIMIT 1) n ON true
    WHERE kind = of;
END $$;
CREATE FUNCTION connected(of text) RETURNS TABLE (id int, representative int, similarity float8) LANGUAGE sql AS $$
    WITH RECURSIVE reached AS (
        SELECT id AS a, id AS b FROM rows WHERE kind = of UNION SELECT reached.a, near.b FROM reached JOIN near ON near.a = reached.b)
    SELECT a, min(b), NULL::float8 FROM reached GROUP BY a
$$;

-- Rows of groups that are not as the definition says, at each memory
CREATE FUNCTION wrong(of text, measure text, threshold float8) RETURNS TABLE (rule text, memory text, groups bigint, wrong bigint) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM find_near(of, measure, threshold);
    FOREACH rule IN ARRAY '{greedy,connected}'::text[] LOOP
        CREATE TEMP TABLE right_ones AS SELECT * FROM greedy(of) WHERE rule = 'greedy' UNION ALL SELECT * FROM connected(of) WHERE rule = 'connected';
        FOREACH memory IN ARRAY '{64kB,100kB,160kB}'::text[] LOOP
            PERFORM set_config('work_mem', memory, true);
            CREATE TEMP TABLE found AS
            SELECT g.id::int, g.representative::int, g.similarity, g.group_id
            FROM near_duplicate_groups(format('SELECT id, sig FROM rows WHERE kind = %L ORDER BY id', of), threshold, measure, rule) g;
            PERFORM set_config('work_mem', '4MB', true);
            SELECT count(DISTINCT group_id) INTO groups FROM found;
            SELECT count(*) INTO wrong FROM found FULL JOIN right_ones o USING (id)
            WHERE (found.representative, found.similarity) IS DISTINCT FROM (o.representative, o.similarity);
            DROP TABLE found;
            RETURN NEXT;
        END LOOP;
        DROP TABLE right_ones;
    END LOOP;
END $$;
SELECT k.kind, m.measure, m.threshold, w.rule, min(groups) AS groups, count(*) AS memories, sum(wrong) AS wrong
FROM (SELECT DISTINCT kind FROM rows) k,
     (VALUES ('jaccard', 0.5), ('jaccard', 0.8), ('overlap_coefficient', 0.7)) m (measure, threshold),
     LATERAL wrong(k.kind, m.measure, m.threshold) w
GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4;

-- Rows of all kinds together; and sketches, whose candidates are found by whole sets
CREATE FUNCTION checksum(query text, threshold float8, measure text, rule text, memory text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    result text;
BEGIN
    PERFORM set_config('work_mem', memory, true);
    SELECT count(DISTINCT group_id) || ' ' || md5(string_agg(g::text, ' ' ORDER BY id)) INTO result FROM near_duplicate_groups(query, threshold, measure, rule) g;
    RETURN result;
END $$;
SELECT split_part(in_memory, ' ', 1) AS groups, on_disk = in_memory AS same, method, rule
FROM (VALUES ('minhash(sig, 32)', 'similarity'), ('sig', 'jaccard')) m (method, measure), (VALUES ('greedy'), ('connected')) r (rule),
     LATERAL (SELECT checksum(format('SELECT row_number() OVER (ORDER BY kind, id), %s FROM rows ORDER BY kind, id', method), 0.7, measure, rule, '64kB') AS on_disk,
                     checksum(format('SELECT row_number() OVER (ORDER BY kind, id), %s FROM rows ORDER BY kind, id', method), 0.7, measure, rule, '64MB') AS in_memory) c;

-- More sets than are recognised at once, each of several rows, in two, three and many rows that are near
CREATE TABLE many AS
SELECT id, n % 2 = 1 AND id < 2000 AS new, signature_from(ARRAY(SELECT n / 2 * 100 + n % 2 * 2 + e FROM generate_series(1, 12) e)) AS sig
FROM (SELECT id, id * 37 % 2600 AS n FROM generate_series(1, 6000) id) r;
ANALYZE many;
CREATE INDEX ON many USING neardup (sig);
CREATE TABLE groups AS
SELECT id, representative, similarity FROM near_duplicate_groups('SELECT id, sig FROM many WHERE NOT new ORDER BY id', 0.7);
CREATE FUNCTION checksum_of_added(rule text, memory text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    result text;
BEGIN
    PERFORM set_config('work_mem', memory, true);
    SELECT count(DISTINCT representative) || ' ' || md5(string_agg(g::text, ' ' ORDER BY id)) INTO result
    FROM near_duplicate_groups_add('SELECT id, sig FROM many WHERE new ORDER BY id',
        'SELECT id, sig, representative, similarity FROM groups JOIN many USING (id) WHERE near_duplicate(sig, $1, 0.7)', 0.7, rule => rule) g;
    RETURN result;
END $$;
SELECT split_part(in_memory, ' ', 1) AS groups, on_disk = in_memory AS same, method, rule
FROM (VALUES ('minhash(sig, 32)', 'similarity', 0.7), ('sig', 'jaccard', 0.7), ('sig', 'jaccard', 0.9)) m (method, measure, threshold),
     (VALUES ('greedy'), ('connected')) r (rule),
     LATERAL (SELECT checksum(format('SELECT id, %s FROM many ORDER BY id', method), threshold, measure, rule, '64kB') AS on_disk,
                     checksum(format('SELECT id, %s FROM many ORDER BY id', method), threshold, measure, rule, '64MB') AS in_memory) c;
SELECT split_part(in_memory, ' ', 1) AS groups, on_disk = in_memory AS same, rule
FROM (VALUES ('greedy'), ('connected')) r (rule),
     LATERAL (SELECT checksum_of_added(rule, '64kB') AS on_disk, checksum_of_added(rule, '64MB') AS in_memory) c;

DROP SCHEMA groups_disk CASCADE;
