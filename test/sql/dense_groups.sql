--
-- Groups of dense vectors, by both rules, added, kept and evaluated, against arithmetic
--

CREATE SCHEMA dense_groups;
SET search_path = dense_groups, public;

-- Families of vectors, and chains of them; zeros, nulls and equal ones
CREATE FUNCTION random_of(seed bigint) RETURNS float8 LANGUAGE sql IMMUTABLE AS $$
    SELECT ((((((seed * 1103515245 + 12345) & 2147483647) * 1103515245 + 12345) & 2147483647) >> 8) % 100000) / 50000.0 - 1
$$;
CREATE TABLE rows (id int PRIMARY KEY, family int, v signature);
INSERT INTO rows
SELECT id, family, CASE WHEN id % 67 > 0 THEN dense(array_agg((CASE WHEN id % 71 = 0 THEN 0 ELSE
           random_of(family * 7001 + i * 31) + (id % 17) / 12.0 * random_of(family * 333 + i * 7) + 0.1 * random_of(id * 613 + i * 97) END)::real ORDER BY i)) END
FROM (SELECT id, id % 23 AS family FROM generate_series(1, 300) id) s, generate_series(1, 20) i GROUP BY id, family;
INSERT INTO rows SELECT 300 + id, family, v FROM rows WHERE id % 13 = 0;
CREATE TABLE pairs AS
SELECT a.id AS a, b.id AS b, (SELECT sum(x::float8 * y) FROM unnest(a.v::real[], b.v::real[]) u (x, y)) AS s
FROM rows a, rows b WHERE a.id <> b.id AND a.v IS NOT NULL AND b.v IS NOT NULL;
SELECT count(*) FILTER (WHERE s >= 0.9) > 1000 AS many, count(*) FILTER (WHERE abs(s - 0.9) < 1e-6) AS in_doubt FROM pairs;
DELETE FROM pairs WHERE s < 0.9;
CREATE INDEX ON pairs (a);

CREATE TABLE truth (rule text, id int, representative int, similarity float8);
DO $$ -- greedy, by the definition
DECLARE
    chosen int[] := '{}';
    r int;
BEGIN
    FOR r IN SELECT id FROM rows ORDER BY id LOOP
        IF NOT EXISTS (SELECT FROM pairs WHERE a = r AND b = ANY (chosen)) THEN chosen := chosen || r; END IF;
    END LOOP;
    INSERT INTO truth
    SELECT 'greedy', id, coalesce(near.b, id), near.s
    FROM rows LEFT JOIN LATERAL (SELECT b, round(s::numeric, 5) AS s FROM pairs WHERE a = id AND b = ANY (chosen) AND id <> ALL (chosen)
                                 ORDER BY pairs.s DESC, b LIMIT 1) near ON true;
END $$;
INSERT INTO truth
WITH RECURSIVE reached AS (
    SELECT id AS a, id AS b FROM rows UNION SELECT reached.a, pairs.b FROM reached JOIN pairs ON pairs.a = reached.b)
SELECT 'connected', a, min(b) FROM reached GROUP BY a;
SELECT rule, count(DISTINCT representative) < 200 AS some, count(DISTINCT representative) > 20 AS others FROM truth GROUP BY rule ORDER BY rule;

-- Both rules, in memory and on disk
SET hash_mem_multiplier = 1;
CREATE FUNCTION wrong(rule text, memory text) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('work_mem', memory, true);
    RETURN (SELECT count(*) FROM near_duplicate_groups('SELECT id, v FROM rows', 0.9, 'cosine', wrong.rule) g
            FULL JOIN (SELECT * FROM truth t WHERE t.rule = wrong.rule) t USING (id)
            WHERE g IS NULL OR t IS NULL OR g.representative <> t.representative OR abs(g.similarity - t.similarity) > 2e-5
               OR (wrong.rule = 'greedy' AND (g.similarity IS NULL) <> (t.similarity IS NULL)));
END $$;
SELECT rule, memory, wrong(rule, memory) FROM unnest('{greedy,connected}'::text[]) rule, unnest('{4MB,256kB,64kB}'::text[]) memory ORDER BY rule, memory;

-- Within scopes, a null one and vectors of other dimensions among them: as the groups of
-- each by itself
CREATE TABLE scoped AS
SELECT id, NULLIF(id % 4, 3) AS a, id % 2 AS b, v FROM rows
UNION ALL SELECT 1000 + id, 0, 0, dense(v::real[] || '{0,0}') FROM rows WHERE id < 40;
SET client_min_messages = error; -- several specs
CREATE FUNCTION differ(rule text, memory text) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('work_mem', memory, true);
    RETURN (SELECT count(*) FROM near_duplicate_groups('SELECT id, v, a, b FROM scoped', 0.9, 'cosine', differ.rule) g
            FULL JOIN (SELECT alone.* FROM (SELECT DISTINCT a, b FROM scoped) s,
                       near_duplicate_groups(format('SELECT id, v FROM scoped WHERE (a, b) IS NOT DISTINCT FROM (%L::int, %L::int)', a, b), 0.9, 'cosine', differ.rule) alone) t USING (id)
            WHERE (g.representative, g.similarity, g.size) IS DISTINCT FROM (t.representative, t.similarity, t.size));
END $$;
SELECT rule, memory, differ(rule, memory) FROM unnest('{greedy,connected}'::text[]) rule, unnest('{4MB,64kB}'::text[]) memory ORDER BY rule, memory;
SELECT count(DISTINCT group_id) > 100 AS some FROM near_duplicate_groups('SELECT id, v, a, b FROM scoped', 0.9, 'cosine');
RESET client_min_messages;

-- Rows that are added to groups
CREATE TABLE kept AS SELECT id, representative, similarity FROM near_duplicate_groups('SELECT id, v FROM rows WHERE id <= 200', 0.9, 'cosine', 'greedy');
ALTER TABLE kept ADD PRIMARY KEY (id);
INSERT INTO kept SELECT a.*
FROM near_duplicate_groups_add('SELECT id, v FROM rows WHERE id > 200',
         'SELECT k.id, r.v, k.representative, k.similarity FROM kept k JOIN rows r USING (id) WHERE near_duplicate(r.v, $1, 0.9, ''cosine'')',
         0.9, 'cosine') a
ON CONFLICT (id) DO UPDATE SET representative = excluded.representative, similarity = excluded.similarity;
SELECT count(*) FILTER (WHERE k IS NULL OR k.representative <> t.representative) AS wrong
FROM (SELECT * FROM truth WHERE rule = 'greedy') t LEFT JOIN kept k USING (id);

-- Groups that are kept
CREATE TABLE docs AS SELECT * FROM rows WHERE id <= 200;
ALTER TABLE docs ADD PRIMARY KEY (id);
SELECT near_duplicate_groups_create('docs_groups', 'docs', 'id', 'v', 0.9, 'cosine');
INSERT INTO docs SELECT * FROM rows WHERE id > 200;
DELETE FROM docs WHERE id % 10 = 3;
UPDATE docs SET v = (SELECT v FROM rows r WHERE r.id = docs.id + 1) WHERE id % 10 = 4;
CALL near_duplicate_groups_refresh('docs_groups');
SELECT near_duplicate_groups_check('docs_groups') AS wrong;
SELECT count(*) FILTER (WHERE g.id <> g.representative) > 100 AS members,
       count(*) FILTER (WHERE g.id <> g.representative AND NOT near_duplicate(d.v, r.v, 0.9, 'cosine')) AS far
FROM docs_groups g JOIN docs d USING (id) JOIN docs r ON r.id = g.representative;
SELECT count(*) AS near_representatives
FROM docs_groups g JOIN docs a ON a.id = g.id AND g.representative = g.id, docs_groups h JOIN docs b ON b.id = h.id AND h.representative = h.id
WHERE a.id < b.id AND near_duplicate(a.v, b.v, 0.9, 'cosine');

-- Groups of a table that is empty, within a scope
CREATE TABLE empty_docs (id int PRIMARY KEY, family int, v signature);
SELECT near_duplicate_groups_create('empty_groups', 'empty_docs', 'id', 'v', 0.9, 'jaccard', within => '{family}');
SELECT near_duplicate_groups_create('empty_groups', 'empty_docs', 'id', 'v', 0.9, 'cosine', within => '{family}');
INSERT INTO empty_docs SELECT id, family % 2, v FROM rows WHERE id < 150;
CALL near_duplicate_groups_refresh('empty_groups');
INSERT INTO empty_docs SELECT id, family % 2, v FROM rows WHERE id >= 150;
CALL near_duplicate_groups_refresh('empty_groups');
SELECT near_duplicate_groups_check('empty_groups') AS wrong;
SELECT count(*) = (SELECT count(*) FROM rows) AS all_rows, count(*) FILTER (WHERE g.id <> g.representative) > 50 AS members,
       count(*) FILTER (WHERE d.family <> r.family) AS elsewhere
FROM empty_groups g JOIN empty_docs d USING (id) JOIN empty_docs r ON r.id = g.representative;
SELECT count(*) AS near_representatives
FROM empty_groups g JOIN empty_docs a ON a.id = g.id AND g.representative = g.id, empty_groups h JOIN empty_docs b ON b.id = h.id AND h.representative = h.id
WHERE a.id < b.id AND a.family = b.family AND near_duplicate(a.v, b.v, 0.9, 'cosine');
-- a table of other values needs an index
CREATE TABLE set_docs (id int PRIMARY KEY, v signature);
INSERT INTO set_docs VALUES (1, signature_from('{1,2}'));
SELECT near_duplicate_groups_create('set_groups', 'set_docs', 'id', 'v', 0.9, 'cosine');

-- At several thresholds, and against labels
SELECT s.threshold, s.duplicates = (SELECT count(*) FROM near_duplicate_groups('SELECT id, v FROM rows', s.threshold, 'cosine', 'greedy') g WHERE g.id <> g.representative) AS same
FROM near_duplicate_groups_sweep('SELECT id, v FROM rows', '{0.8,0.9,0.99}', 'cosine') s ORDER BY s.threshold;
SELECT e.threshold, e.found = p.found AS found, e.correct = p.correct AS correct, e.found > 0 AS some
FROM evaluate_thresholds('SELECT id, v FROM rows', 'SELECT a.id AS id1, b.id AS id2 FROM rows a, rows b WHERE a.id < b.id AND a.family = b.family',
                         '{v}', '{0.8,0.9,0.99}', measures => '{cosine}') e,
     LATERAL (SELECT count(*) AS found, count(*) FILTER (WHERE a.family = b.family) AS correct
              FROM rows a, rows b WHERE a.id < b.id AND near_duplicate(a.v, b.v, e.threshold, 'cosine')) p ORDER BY e.threshold;

-- What groups of dense vectors do not have
SELECT * FROM near_duplicate_groups('SELECT id, v FROM rows', 0.9);

SET client_min_messages = warning;
DROP SCHEMA dense_groups CASCADE;
