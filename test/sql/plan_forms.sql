--
-- Conditions in other words, joins of every form, with and without indexes and statistics: all are planned as
-- the similarity join, but for the exceptions that doc/join.md names
--
CREATE SCHEMA plan_forms_test;
SET search_path = plan_forms_test, public;
SET max_parallel_workers_per_gather = 0;

-- Families of four rows, and rows without near-duplicates
CREATE TABLE docs (id int, release int, f bigint[], sig signature) WITH (autovacuum_enabled = off);
CREATE TABLE clean (LIKE docs) WITH (autovacuum_enabled = off);
CREATE TABLE parts (LIKE docs) PARTITION BY RANGE (id);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (0) TO (5000) WITH (autovacuum_enabled = off);
CREATE TABLE parts_2 PARTITION OF parts FOR VALUES FROM (5000) TO (20001) WITH (autovacuum_enabled = off);
INSERT INTO clean SELECT id, id % 20, f, signature_from(f)
FROM (SELECT id, ARRAY(SELECT id::bigint * 1000 + e FROM generate_series(1, 24) e) AS f FROM generate_series(1, 20000) id) _;
INSERT INTO docs SELECT id, id % 20, f, signature_from(f)
FROM (SELECT id, ARRAY(SELECT id / 4 * 1000 + e + id % 4 FROM generate_series(1::bigint, 24) e) AS f FROM generate_series(1, 20000) id) _;
INSERT INTO parts SELECT * FROM docs;
CREATE VIEW shown AS SELECT * FROM docs WHERE release >= 0;
CREATE TABLE names AS SELECT id FROM docs;

-- Each index is hidden but in the configurations that have it.
CREATE INDEX docs_gin ON docs USING gin (sig) WITH (fastupdate = off);
CREATE INDEX clean_gin ON clean USING gin (sig) WITH (fastupdate = off);
CREATE INDEX parts_1_gin ON parts_1 USING gin (sig) WITH (fastupdate = off);
CREATE INDEX docs_near ON docs USING neardup (sig);
CREATE INDEX clean_near ON clean USING neardup (sig);
CREATE INDEX parts_1_near ON parts_1 USING neardup (sig);
CREATE INDEX docs_btree ON docs (id);
CREATE INDEX docs_btree2 ON docs (release);
CREATE INDEX clean_btree ON clean (id);
CREATE INDEX clean_btree2 ON clean (release);
CREATE INDEX parts_1_btree ON parts_1 (release);
CREATE INDEX docs_expression ON docs USING neardup (signature_from(f));
CREATE INDEX clean_expression ON clean USING gin (signature_from(f)) WITH (fastupdate = off);
ALTER TABLE clean ADD CONSTRAINT clean_exclusion EXCLUDE USING neardup (signature_query(sig, 0.8) WITH %%);
CREATE PROCEDURE show_indexes(shown text) LANGUAGE sql AS $$
UPDATE pg_index SET indisvalid = indexrelid::regclass::text ~ ('_(' || shown || ')\d?$')
WHERE indrelid IN ('docs'::regclass, 'clean'::regclass, 'parts_1'::regclass)
$$;

CREATE TABLE conditions (condition text);
INSERT INTO conditions VALUES
    ('near_duplicate(A, B, 0.8)'), ('near_duplicate(A, B, 0.8) IS TRUE'), ('coalesce(near_duplicate(A, B, 0.8), false)'),
    ('A % B'), ('A %% signature_query(B, 0.8)'), ('near_duplicate_approx(A, B, 0.8, 0.95)'), ('contained_in(A, B, 0.9)'),
    ('similarity(A, B) >= 0.8'), ('0.8 < similarity(A, B)'), ('A <-> B <= 0.2'),
    ('containment(A, B) >= 0.9'), ('dice(A, B) > 0.88'), ('cosine(A, B) >= 0.88'), ('shared_values(A, B) >= 21'), ('A <=> B < 0.12');

-- T is a table, C the condition
CREATE TABLE forms (n int GENERATED ALWAYS AS IDENTITY, form text, query text);
INSERT INTO forms (form, query) VALUES
    ('inner', 'SELECT a.id, b.id FROM T a JOIN T b ON C AND a.id < b.id'),
    ('all', 'SELECT a.id, b.id FROM T a, T b WHERE C'),
    ('equality', 'SELECT a.id, b.id FROM T a JOIN T b ON a.release = b.release AND C AND a.id < b.id'),
    ('left', 'SELECT a.id, b.id FROM T a LEFT JOIN T b ON C AND a.id <> b.id'),
    ('right', 'SELECT a.id, b.id FROM T a RIGHT JOIN T b ON C AND a.id <> b.id'),
    ('exists', 'SELECT id FROM T a WHERE EXISTS (SELECT FROM T b WHERE C AND b.id < a.id)'),
    ('not exists', 'SELECT id FROM T a WHERE NOT EXISTS (SELECT FROM T b WHERE C AND b.id < a.id)'),
    ('exists equal', 'SELECT id FROM T a WHERE EXISTS (SELECT FROM T b WHERE C AND a.release = b.release AND b.id < a.id)'),
    ('not exists equal', 'SELECT id FROM T a WHERE NOT EXISTS (SELECT FROM T b WHERE C AND a.release = b.release AND b.id < a.id)'),
    ('lateral', 'SELECT a.id, x.id FROM T a, LATERAL (SELECT b.id FROM T b WHERE C AND a.id < b.id) x'),
    ('left lateral', 'SELECT a.id, x.id FROM T a LEFT JOIN LATERAL (SELECT b.id FROM T b WHERE C AND a.id < b.id) x ON true'),
    ('update', 'UPDATE T a SET release = 0 FROM T b WHERE C AND b.id < a.id'),
    ('delete', 'DELETE FROM T a USING T b WHERE C AND b.id < a.id'),
    ('delete exists', 'DELETE FROM T a WHERE EXISTS (SELECT FROM T b WHERE C AND b.id < a.id)'),
    ('merge', 'MERGE INTO T a USING T b ON C AND b.id < a.id WHEN MATCHED THEN DELETE'),
    ('cte', 'WITH p AS MATERIALIZED (SELECT a.id, b.id AS b FROM T a JOIN T b ON C AND a.id < b.id) SELECT count(*) FROM p'),
    ('cte side', 'WITH b AS MATERIALIZED (SELECT * FROM T) SELECT a.id, b.id FROM T a JOIN b ON C AND a.id < b.id'),
    ('group', 'SELECT a.id, count(*) FROM T a JOIN T b ON C AND a.id <> b.id GROUP BY a.id'),
    ('best', 'SELECT DISTINCT ON (a.id) a.id, b.id FROM T a JOIN T b ON C AND a.id <> b.id ORDER BY a.id, similarity(A, B) DESC, b.id'),
    ('first', 'SELECT a.id, b.id FROM T a JOIN T b ON C AND a.id < b.id ORDER BY similarity(A, B) DESC LIMIT 10'),
    ('further', 'SELECT a.id, b.id FROM T a JOIN T b ON C AND a.id < b.id JOIN names n ON n.id = b.id'),
    ('view', 'SELECT a.id, b.id FROM shown a JOIN shown b ON C AND a.id < b.id'),
    ('view exists', 'SELECT id FROM shown a WHERE EXISTS (SELECT FROM shown b WHERE C AND b.id < a.id)'),
    ('partitions', 'SELECT a.id, b.id FROM parts a JOIN parts b ON C AND a.id < b.id'),
    ('partitions exists', 'DELETE FROM parts a WHERE EXISTS (SELECT FROM parts b WHERE C AND b.id < a.id)'),
    ('two tables', 'SELECT a.id, b.id FROM T a JOIN clean b ON C'),
    ('limit', 'SELECT a.id, b.id FROM clean a JOIN clean b ON C AND a.id < b.id LIMIT 10'),
    ('limit equal', 'SELECT a.id, b.id FROM clean a JOIN clean b ON C AND a.release = b.release AND a.id < b.id LIMIT 10'),
    ('limit exists', 'SELECT id FROM clean a WHERE EXISTS (SELECT FROM clean b WHERE C AND b.id < a.id) LIMIT 1'),
    ('is there', 'SELECT EXISTS (SELECT FROM clean a JOIN clean b ON C AND a.id < b.id)'),
    -- what is no join, by doc/join.md
    ('no join: value', 'SELECT a.id, EXISTS (SELECT FROM T b WHERE C AND a.id <> b.id) FROM T a'),
    ('no join: or', 'SELECT id FROM T a WHERE a.id = 7 OR EXISTS (SELECT FROM T b WHERE C AND a.id <> b.id)'),
    ('no join: nearest', 'SELECT a.id, x.id FROM T a, LATERAL (SELECT b.id FROM T b WHERE C AND a.id <> b.id ORDER BY similarity(A, B) LIMIT 1) x');

-- The forms that are not planned as a join
CREATE FUNCTION missed(columns text = 'sig', only_table text = NULL, OUT form text, OUT condition text) RETURNS SETOF record LANGUAGE plpgsql AS $$
DECLARE
    query text;
    plan text;
BEGIN
    FOR form, condition, query IN SELECT f.form, c.condition, f.query FROM forms f, conditions c ORDER BY n, c.condition LOOP
        query := regexp_replace(query, '\mT\M', coalesce(only_table, 'docs'), 'g');
        query := regexp_replace(query, '\mC\M', condition, 'g');
        IF only_table IS NULL OR query !~ 'docs|parts|shown' THEN
            query := regexp_replace(query, '\m([AB])\M', format(columns, '\1'), 'g');
            EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
            IF plan !~ 'SimilarityJoin' THEN
                RETURN NEXT;
            END IF;
        END IF;
    END LOOP;
END $$;
CREATE TABLE configurations (configuration text, shown text, columns text, only_table text);
INSERT INTO configurations VALUES
    ('no index', 'none', '\1.sig', NULL), ('gin', 'gin', '\1.sig', NULL), ('neardup', 'near', '\1.sig', NULL),
    ('both', 'gin|near', '\1.sig', NULL), ('btree', 'btree', '\1.sig', NULL),
    ('expression', 'expression', 'signature_from(\1.f)', NULL), ('exclusion', 'exclusion', '\1.sig', 'clean');
CREATE FUNCTION missed_by_configuration(OUT form text, OUT condition text, OUT configuration text) RETURNS SETOF record LANGUAGE plpgsql AS $$
DECLARE
    c configurations;
BEGIN
    FOR c IN SELECT * FROM configurations LOOP
        CALL show_indexes(c.shown);
        RETURN QUERY SELECT m.form, m.condition, c.configuration FROM missed(c.columns, c.only_table) m;
    END LOOP;
END $$;
CREATE VIEW exceptions AS
SELECT form, count(DISTINCT condition) AS conditions, count(DISTINCT configuration) AS configurations, count(*) AS plans,
    CASE WHEN form !~ 'no join' THEN string_agg(DISTINCT condition, '; ') END AS missed
FROM missed_by_configuration() GROUP BY form ORDER BY form;
TABLE exceptions;
ANALYZE docs, clean, parts, names;
TABLE exceptions;

-- A few rows are looked up, in any words
CREATE TABLE few AS SELECT * FROM clean WHERE id % 2000 = 7;
ANALYZE few;
CALL show_indexes('near');
CREATE FUNCTION taken(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    plan text;
BEGIN
    EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
    RETURN CASE WHEN plan ~ 'SimilarityJoin' THEN 'join' WHEN plan ~ 'clean_near' THEN 'neardup' ELSE 'scan' END;
END $$;
INSERT INTO conditions VALUES ('B %% signature_query(A, 0.8)');
CREATE VIEW few_taken AS
SELECT condition, taken(format('SELECT a.id, b.id FROM few a JOIN clean b ON %s', joined)) AS few,
    taken(format('SELECT a.id, b.id FROM few a JOIN clean b ON %s LIMIT 1', joined)) AS few_limit,
    taken(format('SELECT id FROM few a WHERE EXISTS (SELECT FROM clean b WHERE %s)', joined)) AS few_exist,
    taken('SELECT id FROM clean WHERE ' || of_one) AS one,
    taken(format('SELECT id FROM clean WHERE %s LIMIT 1', of_one)) AS one_limit,
    taken(format('SELECT EXISTS (SELECT FROM clean WHERE %s)', of_one)) AS one_exists,
    taken(format('SELECT names.id FROM clean JOIN names USING (id) WHERE %s', of_one)) AS one_joined
FROM (SELECT condition, regexp_replace(condition, '\m([AB])\M', '\1.sig', 'g') AS joined,
          replace(replace(condition, 'A', '(SELECT sig FROM few LIMIT 1)'), 'B', 'sig') AS of_one FROM conditions) c;
SELECT count(*) AS conditions, few, few_limit, few_exist, one, one_limit, one_exists, one_joined
FROM few_taken GROUP BY 2, 3, 4, 5, 6, 7, 8 ORDER BY 1;

SET client_min_messages = warning;
DROP SCHEMA plan_forms_test CASCADE;
