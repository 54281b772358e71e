--
-- No function runs code of a table's owner with the rights of the superuser who calls it
--

\set regression :DBNAME
CREATE DATABASE neardup_traps;
\connect neardup_traps
SET client_min_messages = warning;
-- PostgreSQL 15 gives members of PUBLIC no right to create objects in this schema
GRANT CREATE ON SCHEMA public TO PUBLIC;
CREATE EXTENSION neardup;
CREATE ROLE neardup_stranger;
CREATE SCHEMA stranger AUTHORIZATION neardup_stranger;
\set SHOW_CONTEXT never

-- The stranger's traps count, outside of transactions, when they run with the rights of
-- somebody else.
SET ROLE neardup_stranger;
SET search_path = stranger, public;
CREATE SEQUENCE sprung;
CREATE FUNCTION spring(trap text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  IF current_user <> 'neardup_stranger' THEN
    RAISE WARNING 'sprung: %', trap;
    PERFORM nextval('stranger.sprung');
  END IF;
  RETURN true;
END $$;
-- types: composite with casts, enumeration with casts, domain with a check
CREATE TYPE key AS (n int);
CREATE TYPE kind AS ENUM ('a', 'b');
CREATE FUNCTION checked(text) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$SELECT stranger.spring('check ' || $1)$$;
CREATE DOMAIN words AS text CHECK (checked(VALUE));
CREATE FUNCTION cast_key(key) RETURNS text LANGUAGE sql IMMUTABLE AS $$SELECT (stranger.spring('cast') AND false)::text || ($1).n$$;
CREATE FUNCTION cast_kind_json(kind) RETURNS json LANGUAGE sql IMMUTABLE AS $$SELECT to_json(stranger.spring('cast to json') AND $1 = 'a')$$;
CREATE FUNCTION cast_kind(kind) RETURNS text LANGUAGE sql IMMUTABLE AS $$SELECT stranger.spring('cast')::text || 'of ' || ($1 = 'a')$$;
CREATE CAST (key AS text) WITH FUNCTION cast_key(key) AS ASSIGNMENT;
CREATE CAST (kind AS json) WITH FUNCTION cast_kind_json(kind) AS IMPLICIT;
CREATE CAST (kind AS text) WITH FUNCTION cast_kind(kind) AS ASSIGNMENT;
-- operators for pairs of types that have none of their own in pg_catalog, or for any
DO $$
DECLARE
  types text[] := '{int2,int4,int8,numeric,float4,float8,text,varchar,name,oid,regclass,"\"char\"",tid,stranger.key,stranger.kind,stranger.words}';
  l text;
  r text;
  o text;
BEGIN
  FOREACH l IN ARRAY types LOOP
    FOREACH r IN ARRAY types LOOP
      EXECUTE format('CREATE FUNCTION stranger.operate(%s, %s) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $f$BEGIN RETURN stranger.spring(%L); END$f$', l, r, 'operator of ' || l || ' and ' || r);
      FOREACH o IN ARRAY '{=,<>,<,>,<=,>=,+,-,*,/,||,%,<=>}'::text[] LOOP
        EXECUTE format('CREATE OPERATOR public.%s (LEFTARG = %s, RIGHTARG = %s, FUNCTION = stranger.operate)', o, l, r);
      END LOOP;
    END LOOP;
  END LOOP;
END $$;
-- a table: default, generated columns, index expressions and predicate, statistics, policy, WHEN
CREATE FUNCTION body(text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$BEGIN PERFORM stranger.spring('expression'); RETURN $1; END $$;
CREATE FUNCTION a_kind() RETURNS kind LANGUAGE plpgsql AS $$BEGIN PERFORM stranger.spring('default'); RETURN 'a'; END $$;
CREATE TABLE docs (id key PRIMARY KEY, n int NOT NULL, kind kind DEFAULT a_kind(), title words, body words, kept signature,
  sig signature GENERATED ALWAYS AS (shingles(body(body), 1)) STORED);
CREATE INDEX docs_gin ON docs USING gin (sig) WITH (fastupdate = off);
CREATE INDEX docs_nearest ON docs USING neardup (sig);
CREATE INDEX docs_words ON docs USING gin (shingles(body(body), 2)) WITH (fastupdate = off) WHERE checked(body);
CREATE INDEX docs_some ON docs USING neardup (shingles(body(body), 2)) WHERE checked(body);
CREATE INDEX docs_body ON docs (body(body));
CREATE STATISTICS docs_statistics ON (body(body)), (shingles(body(body), 1)) FROM docs;
INSERT INTO docs SELECT ROW(i)::key, i, CASE WHEN i % 2 = 0 THEN 'a'::kind ELSE 'b' END, format('text %s', i), format('one two three four five six %s', i / 2) FROM generate_series(1, 20) i;
UPDATE docs SET kept = shingles(body, 1);
CREATE TRIGGER rows AFTER INSERT ON docs FOR EACH ROW WHEN (checked(NEW.body)) EXECUTE FUNCTION neardup_guard('sig', '0.8', 'warn', 'within', 'kind');
CREATE TRIGGER expressions AFTER INSERT ON docs FOR EACH ROW EXECUTE FUNCTION neardup_guard('docs_words', '0.8');
CREATE TRIGGER statements AFTER INSERT ON docs REFERENCING NEW TABLE AS new FOR EACH STATEMENT EXECUTE FUNCTION neardup_guard('sig', '0.8');
SELECT near_duplicate_groups_create('kept_groups', 'docs', 'id', 'sig', 0.8, within => '{kind}');
ALTER TABLE docs ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY rows ON docs USING (checked(body));
ANALYZE docs;
RESET ROLE;
-- one that only stores signatures, so that others are not outdated
CREATE TABLE public.lexicons AS SELECT lexicon_agg(body::text) AS lexicon, word_set_agg(body::text) AS words FROM stranger.docs;
RESET search_path;

-- The traps are set: what a superuser should not write springs each of them.
CREATE FUNCTION times_sprung() RETURNS bigint LANGUAGE sql VOLATILE AS $$SELECT last_value + is_called::int FROM stranger.sprung$$;
CREATE FUNCTION springs(statement text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  before CONSTANT bigint := times_sprung();
BEGIN
  EXECUTE statement;
  RETURN times_sprung() <> before;
END $$;
BEGIN;
SET LOCAL client_min_messages = error;
SELECT statement, springs(statement) FROM unnest('{
"SELECT id::text FROM stranger.docs",
"SELECT to_json(kind) FROM stranger.docs",
"SELECT FROM stranger.docs WHERE id = ROW(1)::stranger.key",
"SELECT FROM stranger.docs WHERE n::float8 = n",
"SELECT ''text''::stranger.words",
"INSERT INTO stranger.docs (id, n, body) VALUES (ROW(97)::stranger.key, 97, NULL)",
"UPDATE stranger.docs SET body = body WHERE n = 1"}'::text[]) statement;
ROLLBACK;

-- SQL of a caller may do what is not possible in a parallel query
CREATE SEQUENCE written;
CREATE FUNCTION writes() RETURNS boolean LANGUAGE sql VOLATILE PARALLEL UNSAFE AS $$SELECT nextval('public.written') IS NOT NULL$$;

-- Calls of functions that open a table or run SQL.  No call: PostgreSQL itself calls it,
-- for whoever writes to the table.  All others are called with columns of the table.
CREATE TABLE cases (name text, call text);
INSERT INTO cases VALUES
  ('neardup_guard', NULL), ('neardup_fill', NULL), ('neardup_guard_created', NULL),
  ('neardup_guard_check', 'SELECT neardup_guard_check(''stranger.docs'', ''rows'')'),
  ('neardup_guard_check', 'SELECT neardup_guard_check(''stranger.docs'', ''expressions'')'),
  ('neardup_guard_check', 'SELECT neardup_guard_check(''stranger.docs'', ''statements'')'),
  ('neardup_guard_violations', 'SELECT * FROM neardup_guard_violations(''stranger.docs'', ''statements'')'),
  ('neardup_guard_rows', 'SELECT neardup_guard_rows(''stranger.docs'', ''rows'')'),
  ('neardup_guard_violations', 'SELECT * FROM neardup_guard_violations(''stranger.docs'', ''rows'')'),
  ('neardup_guard_violations', 'SELECT * FROM neardup_guard_violations(''stranger.docs'', ''expressions'')'),
  ('_neardup_guard_groups', 'SELECT _neardup_guard_groups(query, threshold, measure) FROM neardup_guard_rows(''stranger.docs'', ''statements'')'),
  ('near_duplicate_groups', 'SELECT * FROM near_duplicate_groups(''SELECT n, sig FROM stranger.docs WHERE writes()'', 0.8)'),
  ('near_duplicate_groups', 'SELECT * FROM near_duplicate_groups(NULL::stranger.key, ''SELECT id, sig FROM stranger.docs WHERE writes()'', 0.8)'),
  ('near_duplicate_groups', 'SELECT * FROM near_duplicate_groups(NULL::stranger.key, ''SELECT id, sig, kind, body FROM stranger.docs'', 0.8, ''jaccard'', ''connected'')'),
  ('near_duplicate_groups_add', 'SELECT * FROM near_duplicate_groups_add(''SELECT n, sig FROM stranger.docs WHERE n > 10 AND writes()'', ''SELECT n, sig, n, NULL::float8 FROM stranger.docs WHERE n <= 10'', 0.8)'),
  ('near_duplicate_groups_add', 'SELECT * FROM near_duplicate_groups_add(NULL::stranger.key, ''SELECT id, sig, kind, body FROM stranger.docs WHERE n > 10'', ''SELECT id, sig, id, NULL::float8, kind, body FROM stranger.docs WHERE n <= 10'', 0.8)'),
  ('near_duplicate_groups_of_pairs', 'SELECT * FROM near_duplicate_groups_of_pairs(''SELECT n, n - 1 FROM stranger.docs WHERE writes()'')'),
  ('near_duplicate_groups_of_pairs', 'SELECT * FROM near_duplicate_groups_of_pairs(NULL::stranger.key, ''SELECT a.id, b.id FROM stranger.docs a, stranger.docs b WHERE a.n - b.n BETWEEN 0 AND 1'', ''connected'')'),
  ('near_duplicate_groups_note', NULL),
  ('near_duplicate_groups_create', 'SELECT near_duplicate_groups_create(''public.new_groups'', ''stranger.docs'', ''id'', ''sig'', 0.8, within => ''{kind}'')'),
  ('near_duplicate_groups_create', 'SELECT near_duplicate_groups_create(''stranger.new_groups'', ''stranger.docs'', ''id'', ''sig'', 0.8, within => ''{kind}'')'),
  ('near_duplicate_groups_refresh', 'SET ROLE neardup_stranger; UPDATE stranger.docs SET kind = kind; RESET ROLE; CALL near_duplicate_groups_refresh(''stranger.kept_groups'')'),
  ('near_duplicate_groups_refresh', 'CALL near_duplicate_groups_refresh(''stranger.kept_groups'', true)'),
  ('near_duplicate_groups_check', 'SELECT near_duplicate_groups_check(''stranger.kept_groups'')'),
  ('near_duplicate_groups_drop', 'SELECT near_duplicate_groups_drop(''stranger.kept_groups'')'),
  ('near_duplicate_groups_merge', 'CALL near_duplicate_groups_merge(''stranger.kept_groups'')'),
  ('near_duplicate_groups_sweep', 'SELECT * FROM near_duplicate_groups_sweep(''SELECT n, sig FROM stranger.docs WHERE writes()'')'),
  ('neardup_backfill', 'CALL neardup_backfill(''stranger.docs'', ''kept'', ''public.shingles(body, 1)'')'),
  ('repeated_passages', 'SELECT * FROM repeated_passages(''SELECT n, body FROM stranger.docs WHERE writes()'')'),
  ('near_duplicate_groups_merge_script', 'SELECT * FROM near_duplicate_groups_merge_script(''stranger.kept_groups'')'),
  ('repeated_passages', 'SELECT * FROM repeated_passages(NULL::stranger.key, ''SELECT id, body FROM stranger.docs'')'),
  ('_near_duplicate_groups_parts', 'SELECT _near_duplicate_groups_parts(''stranger.kept_groups'')'),
  ('_near_duplicate_groups_partitions', 'SELECT _near_duplicate_groups_partitions(''stranger.kept_groups'')'),
  ('_near_duplicate_groups_refresh', 'SELECT _near_duplicate_groups_refresh(''stranger.kept_groups'', true)'),
  ('_near_duplicate_groups_taken', NULL),
  ('_near_duplicate_groups_check', 'SELECT _near_duplicate_groups_check(''stranger.kept_groups'')'),
  ('_near_duplicate_groups_drop', 'SELECT _near_duplicate_groups_drop(''stranger.kept_groups'')'),
  ('find_sources', 'SELECT * FROM find_sources(''one two three four five six'', shingles(''one two three four five six'', 1), ''SELECT id, sig, body FROM stranger.docs WHERE writes()'')'),
  ('find_sources', 'SELECT * FROM find_sources(''one two three four five six'', shingles(''one two three four five six'', 1), ''SELECT kind, sig, body FROM stranger.docs'')'),
  ('neardup_pairs', 'CALL neardup_pairs(''stranger.docs'', ''id'', ''sig'', 0.8, ''public.pairs_of_keys'')'),
  ('neardup_pairs', 'CALL neardup_pairs(''stranger.docs'', ''n'', ''sig'', 0.8, ''public.pairs_of_numbers'', ''jaccard'', ''classes'')'),
  ('neardup_pairs', 'CALL neardup_pairs(''stranger.docs'', ''title'', ''sig'', 0.8, ''public.pairs_of_titles'', ''jaccard'', ''keys'')'),
  ('_neardup_pairs', NULL), ('_neardup_pairs_of_sets', NULL), ('_neardup_pairs_table', NULL),
  ('evaluate_methods', 'SELECT found FROM evaluate_methods(''SELECT id, kind, body, sig FROM stranger.docs WHERE writes()'', ''SELECT id AS id1, id AS id2 FROM stranger.docs'', ''{sig,"shingles(body, 2)"}'', ''{0.8}'', ''a.kind OPERATOR(pg_catalog.=) b.kind'')'),
  ('evaluate_thresholds', 'SELECT found FROM evaluate_thresholds(''SELECT kind AS id, body, sig FROM stranger.docs WHERE n < 3'', ''SELECT kind AS id1, kind AS id2 FROM stranger.docs'', ''{sig}'', ''{0.8}'')'),
  ('_neardup_evaluate', NULL), ('_neardup_evaluation_begin', NULL), ('_neardup_run', NULL),
  ('_neardup_check_expression', 'SELECT _neardup_check_expression(''condition'', ''a.kind = b.kind'')'),
  ('_neardup_check_query', 'SELECT _neardup_check_query(''documents'', ''SELECT id, body FROM stranger.docs'', ''{id,body}'')'),
  ('neardup_index_check', 'SELECT neardup_index_check(''stranger.docs_nearest'', true)'),
  ('neardup_index_check', 'SELECT neardup_index_check(''stranger.docs_some'', true)'),
  ('neardup_index_segments', 'SELECT * FROM neardup_index_segments(''stranger.docs_some'')'),
  ('neardup_index_merges', 'SELECT * FROM neardup_index_merges(''stranger.docs_some'')'),
  ('neardup_explain_index', 'SELECT * FROM neardup_explain_index(''stranger.docs_words'', 0.8)'),
  ('neardup_outdated', 'SELECT * FROM neardup_outdated(''stranger.docs'', ''sig'')'),
  ('neardup_outdated', 'SELECT * FROM neardup_outdated(''stranger.docs'', ''kept'', ''shingles(stranger.body(body), 1)'', 50)'),
  ('neardup_accept_versions', 'SELECT neardup_accept_versions(true)'),
  ('neardup_accept_versions', 'ALTER TABLE stranger.docs DROP COLUMN kept; SELECT neardup_accept_versions()');

-- The call of a function without a case: its arguments that have no default, by type.
CREATE VIEW functions AS
SELECT p.oid, p.proname, p.prokind, p.proargtypes, p.pronargs, p.pronargdefaults, p.proparallel, p.proargnames
FROM pg_proc p JOIN pg_depend d ON d.classid = 'pg_proc'::regclass::oid AND d.objid = p.oid AND d.deptype = 'e'
WHERE d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'neardup')
  AND NOT EXISTS (SELECT FROM pg_type t WHERE t.oid = ANY (p.proargtypes::oid[] || p.prorettype) AND t.typname IN ('internal', 'cstring'))
  AND NOT EXISTS (SELECT FROM pg_aggregate a WHERE p.oid IN (aggtransfn, aggfinalfn, aggcombinefn, aggserialfn, aggdeserialfn));
CREATE FUNCTION call(functions) RETURNS text LANGUAGE sql AS $$
SELECT format('SELECT %I(%s) FROM stranger.docs d, lexicons l', $1.proname,
  coalesce(string_agg(CASE format_type(t, NULL) WHEN 'signature' THEN 'd.sig' WHEN 'text' THEN 'd.body'
             WHEN 'text[]' THEN 'ARRAY[''two'']' WHEN 'bigint[]' THEN '''{1,2}''::bigint[]' WHEN 'real[]' THEN '''{1,2}''::real[]'
             WHEN 'integer' THEN '3' WHEN 'bigint' THEN '3::bigint' WHEN 'double precision' THEN '0.5::float8'
             WHEN 'regconfig' THEN '''simple''::regconfig' WHEN 'lexicon' THEN 'l.lexicon' WHEN 'word_set' THEN 'l.words'
             WHEN 'signature_query' THEN 'signature_query(d.sig, 0.5)' ELSE format('NULL::%s', format_type(t, NULL)) END, ', ' ORDER BY o), ''))
FROM unnest($1.proargtypes::oid[]) WITH ORDINALITY AS a (t, o)
WHERE o <= $1.pronargs - $1.pronargdefaults
$$;
-- A call may be refused, for its values or the caller's rights.  Where it is another error
-- a case is missing.
CREATE PROCEDURE spring_all() LANGUAGE plpgsql AS $$
DECLARE
  f functions;
  c text;
  before bigint;
BEGIN
  FOR f IN SELECT * FROM functions ORDER BY proname COLLATE "C", oid::regprocedure::text COLLATE "C" LOOP
    FOR c IN SELECT call FROM cases WHERE name = f.proname UNION ALL SELECT call(f) WHERE NOT EXISTS (SELECT FROM cases WHERE name = f.proname) LOOP
      CONTINUE WHEN c IS NULL;
      before := times_sprung();
      BEGIN
        EXECUTE c;
        RAISE data_exception; -- undo it
      EXCEPTION WHEN data_exception OR datatype_mismatch OR insufficient_privilege THEN
        NULL;
      WHEN OTHERS THEN
        RAISE WARNING 'not called: %: % %', c, SQLSTATE, SQLERRM;
      END;
      IF before <> times_sprung() THEN
        RAISE WARNING 'a trap was sprung by %', c;
      END IF;
    END LOOP;
  END LOOP;
END $$;
-- wherever PostgreSQL can, in a parallel worker
SELECT set_config(name, 'on', false) FROM pg_settings WHERE name IN ('force_parallel_mode', 'debug_parallel_query');
CREATE TABLE before AS SELECT times_sprung();
CALL spring_all();
SELECT times_sprung() IS DISTINCT FROM b.times_sprung AS sprung FROM before b;
SELECT name AS no_such_function FROM cases WHERE name NOT IN (SELECT proname FROM functions);

\connect :regression
DROP DATABASE neardup_traps;
DROP ROLE neardup_stranger;
