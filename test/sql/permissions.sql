--
-- Functions that only plans use need no privilege: a role that may read a view reads it
-- by every plan, without privileges on names that the view's owner used.
--

\set regression :DBNAME
CREATE DATABASE neardup_permissions;
\connect neardup_permissions
CREATE SCHEMA nd;
CREATE EXTENSION neardup SCHEMA nd;
SET search_path = public, nd;
CREATE TABLE docs (id int PRIMARY KEY, sig signature);
INSERT INTO docs
SELECT i, signature_from(array(SELECT i % 50 * 1000 + g FROM generate_series(1, 20 + i / 50) g))
FROM generate_series(1, 200) i;
CREATE INDEX docs_sig ON docs USING gin (sig) WITH (fastupdate = off);
ANALYZE docs;
CREATE VIEW near_constant AS SELECT id FROM docs
WHERE near_duplicate(sig, (SELECT sig FROM docs WHERE id = 7), 0.9);
CREATE VIEW near_folded AS SELECT id FROM docs
WHERE near_duplicate(sig, signature_from('{7001,7002,7003,7004,7005,7006,7007,7008,7009,7010}'), 0.4);
CREATE VIEW near_setting AS SELECT id FROM docs
WHERE sig % (SELECT sig FROM docs WHERE id = 7);
CREATE VIEW near_pairs AS SELECT a.id AS a, b.id AS b FROM docs a, docs b
WHERE contained_in(a.sig, b.sig, 0.99) AND a.id < b.id + 0 AND a.id < 3;
CREATE VIEW near_self AS SELECT a.id AS a, b.id AS b FROM docs a, docs b
WHERE near_duplicate(a.sig, b.sig, 0.9) AND a.id < b.id;
CREATE INDEX docs_contained ON docs USING gin (sig signature_gin_ops (measure = containment))
  WITH (fastupdate = off);
CREATE ROLE neardup_reader;
GRANT SELECT ON ALL TABLES IN SCHEMA public TO neardup_reader;
REVOKE EXECUTE ON FUNCTION signature_query(signature, double precision, text) FROM PUBLIC;
REVOKE USAGE ON SCHEMA nd FROM PUBLIC;

SET ROLE neardup_reader;
SET enable_seqscan = off;
SELECT count(*), sum(id) FROM near_constant;
SELECT count(*), sum(id) FROM near_folded;
SELECT count(*), sum(id) FROM near_setting;
SET neardup.enable_join = off;
SELECT count(*), sum(a), sum(b) FROM near_pairs;
SET neardup.enable_join = on;
SET enable_nestloop = off;
SELECT count(*), sum(a), sum(b) FROM near_self;
RESET enable_nestloop;
-- These are index scans, of any of the indexes
RESET ROLE;
\getenv abs_srcdir PG_ABS_SRCDIR
\set file :abs_srcdir '/sql/shared/plan.sql'
\i :file
SELECT regexp_replace(plan('SELECT id FROM near_constant'), 'docs_(contained|sig)', 'docs_index') AS plan;
SELECT regexp_replace(plan('SELECT id FROM near_setting'), 'docs_(contained|sig)', 'docs_index') AS plan;
SET neardup.enable_join = off;
SELECT regexp_replace(plan('SELECT a, b FROM near_pairs'), 'docs_(contained|sig)', 'docs_index') AS plan;
SET neardup.enable_join = on;

-- But a role that may not call the functions of a condition, also of a further one of
-- the join, does not get its rows.
CREATE FUNCTION refused(condition text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
  SET LOCAL ROLE neardup_reader;
  EXECUTE 'SELECT FROM docs a JOIN docs b ON a.id < b.id AND ' || condition;
EXCEPTION WHEN insufficient_privilege THEN
  RETURN NEXT condition || ': ' || SQLERRM;
END $$;
GRANT USAGE ON SCHEMA nd TO PUBLIC;
REVOKE EXECUTE ON FUNCTION near_duplicate(signature, signature, float8, text), similarity(signature, signature), signature_near_duplicate_op(signature, signature) FROM PUBLIC;
SET enable_nestloop = off;
SELECT line FROM plan('SELECT FROM docs a JOIN docs b ON a.id < b.id AND near_duplicate(a.sig, b.sig, 0.9)') line WHERE line ~ 'SimilarityJoin';
SELECT refused(condition) FROM unnest('{"near_duplicate(a.sig, b.sig, 0.9)","a.sig % b.sig","similarity(a.sig, b.sig) >= 0.9","a.sig %% signature_query(b.sig, 0.9)","contained_in(a.sig, b.sig, 0.9)"}'::text[]) condition;
REVOKE EXECUTE ON FUNCTION int4lt(int, int) FROM PUBLIC;
SELECT refused('contained_in(a.sig, b.sig, 0.9)');
RESET enable_nestloop;

-- Counters of an index include rows that policies hide
SELECT p.proname FROM pg_depend d JOIN pg_proc p ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid
WHERE d.deptype = 'e' AND d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'neardup')
  AND p.proname LIKE 'neardup\_index\_%' AND has_function_privilege('neardup_reader', p.oid, 'EXECUTE');

-- An index in the order of distances does not warn of the spec of a hidden row, as a
-- sequential scan does not.
CREATE TABLE hidden (id int, owner text, sig signature);
INSERT INTO hidden SELECT i, 'neardup_reader', shingles('one two three four five' || i) FROM generate_series(1, 3) i;
INSERT INTO hidden VALUES (4, 'somebody', shingles('one two three four five', 4));
CREATE INDEX ON hidden USING neardup (sig);
GRANT SELECT ON hidden TO neardup_reader;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA nd TO neardup_reader;
ALTER TABLE hidden ENABLE ROW LEVEL SECURITY;
CREATE POLICY owners ON hidden USING (owner = current_user);
SET ROLE neardup_reader;
SET enable_sort = off;
SELECT line FROM plan('SELECT id FROM hidden ORDER BY sig <-> shingles(''one two three four five'')') line WHERE line ~ 'Index Scan';
SELECT id FROM hidden ORDER BY sig <-> shingles('one two three four five'), id;
SELECT array_agg(id) FROM (SELECT id FROM hidden ORDER BY sig <-> shingles('one two three four five') LIMIT 9) h;
RESET ROLE;
SELECT array_agg(id) FROM (SELECT id FROM hidden ORDER BY sig <-> shingles('one two three four five') LIMIT 9) h;
RESET enable_sort;

-- A prepared look-up follows the setting.
PREPARE near_setting AS SELECT count(*) FROM near_setting;
EXECUTE near_setting;
SET neardup.threshold = 0.95;
EXECUTE near_setting;
RESET neardup.threshold;

-- Queries cannot use the subscripts of plans
SELECT sig['jaccard'] FROM docs;
UPDATE docs SET sig['jaccard'] = 1;

\connect :regression
DROP DATABASE neardup_permissions;
DROP ROLE neardup_reader;
