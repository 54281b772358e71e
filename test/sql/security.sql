--
-- Objects of others in the search path are neither replaced nor called
--

\set regression :DBNAME
CREATE DATABASE neardup_security;
\connect neardup_security
CREATE SCHEMA trap;
SET client_min_messages = warning;
-- From 18 on an error in an install script names the command
\set SHOW_CONTEXT never

-- An existing object is an error, and no member of the extension with its old owner
-- (CVE-2022-2625).
CREATE FUNCTION signature_from(bigint[]) RETURNS bytea LANGUAGE sql AS 'SELECT NULL::bytea';
CREATE EXTENSION neardup;
DROP FUNCTION signature_from(bigint[]);
CREATE TYPE signature AS (a int);
CREATE EXTENSION neardup;
DROP TYPE signature;

-- The install script calls nothing that a trap in its schema could replace
-- (CVE-2020-14350).
CREATE FUNCTION trap.sprung(int, int) RETURNS boolean LANGUAGE plpgsql AS
  $$BEGIN RAISE EXCEPTION 'sprung'; END$$;
CREATE OPERATOR trap.= (LEFTARG = int, RIGHTARG = int, FUNCTION = trap.sprung);
CREATE FUNCTION trap.sprung(text, text) RETURNS boolean LANGUAGE plpgsql AS
  $$BEGIN RAISE EXCEPTION 'sprung'; END$$;
CREATE OPERATOR trap.= (LEFTARG = text, RIGHTARG = text, FUNCTION = trap.sprung);
CREATE FUNCTION trap.lower(text) RETURNS text LANGUAGE plpgsql AS
  $$BEGIN RAISE EXCEPTION 'sprung'; END$$;
SET search_path = trap, public, pg_catalog;
CREATE EXTENSION neardup SCHEMA public;

-- Nor does anything at run time: the trap is first in the search path, also with
-- functions of the extension's own names.
CREATE FUNCTION trap.similarity(signature, signature) RETURNS float8
  LANGUAGE plpgsql AS $$BEGIN RAISE EXCEPTION 'sprung'; END$$;
CREATE FUNCTION trap.sprung(signature, signature) RETURNS boolean
  LANGUAGE plpgsql AS $$BEGIN RAISE EXCEPTION 'sprung'; END$$;
CREATE OPERATOR trap.% (LEFTARG = signature, RIGHTARG = signature, FUNCTION = trap.sprung);
CREATE OPERATOR trap.= (LEFTARG = signature, RIGHTARG = signature, FUNCTION = trap.sprung);
CREATE TABLE public.guarded (id int PRIMARY KEY, body text,
  sig signature GENERATED ALWAYS AS (public.shingles(body)) STORED);
CREATE INDEX guarded_sig ON public.guarded USING gin (sig) WITH (fastupdate = off);
CREATE CONSTRAINT TRIGGER no_near_duplicates AFTER INSERT OR UPDATE ON guarded
  FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.8');
CREATE TRIGGER skip_near_duplicates BEFORE INSERT ON guarded
  FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.8', 'skip');
INSERT INTO guarded VALUES (1, 'one two three four five');
INSERT INTO guarded VALUES (2, 'one two three four five');
SET enable_seqscan = off;
SELECT id FROM guarded
WHERE public.near_duplicate(sig, public.shingles('One, two, three, four, five!'), 0.8);
UPDATE guarded SET body = 'six seven eight';
REINDEX TABLE guarded;
ANALYZE guarded;
RESET enable_seqscan;
DROP TABLE guarded;
RESET search_path;
DROP SCHEMA trap CASCADE;

-- Functions and operators that another role creates in the extension's schema are not
-- called in the place of PostgreSQL's for other types, or any; nor functions with names
-- of neardup in the library's schema.
CREATE FUNCTION public.trap(name text, arguments text) RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog AS
  $$BEGIN EXECUTE format('CREATE FUNCTION %s(%s) RETURNS boolean LANGUAGE plpgsql AS ''BEGIN RAISE EXCEPTION ''''sprung''''; END''', name, arguments); END$$;
CREATE FUNCTION public.traps(schema text) RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog AS
$$
DECLARE
  types text[] := '{int4,int8,numeric,float8,text,varchar,oid,regclass}';
  l text;
  r text;
  o text;
BEGIN
  FOREACH l IN ARRAY types LOOP
    FOREACH r IN ARRAY types LOOP
      PERFORM public.trap(schema || '.sprung', l || ',' || r);
      FOREACH o IN ARRAY '{=,<>,<,>,<=,>=,+,-,*,/,%,&,|,<<,>>,||}'::text[] LOOP
        EXECUTE format('CREATE OPERATOR %s.%s (LEFTARG = %s, RIGHTARG = %s, FUNCTION = %1$s.sprung)', schema, o, l, r);
      END LOOP;
      PERFORM public.trap(schema || '.concat', l || ',' || r), public.trap(schema || '.format', l || ',' || r);
    END LOOP;
    PERFORM public.trap(schema || '.count', l), public.trap(schema || '.array_agg', l), public.trap(schema || '.unnest', l || '[]'),
            public.trap(schema || '.cardinality', l || '[]'), public.trap(schema || '.quote_literal', l || ',int4');
    PERFORM public.trap(schema || '.format', 'text, text, ' || l), public.trap(schema || '.format', 'text, text, text, ' || l || ', int4');
  END LOOP;
  PERFORM public.trap(schema || '.count', 'public.lexicon'), public.trap(schema || '.top_words', 'text, public.lexicon, int4, text'),
          public.trap(schema || '.near_duplicate', 'public.signature, public.signature, float8'),
          public.trap(schema || '.near_duplicate', 'public.signature, public.signature, int4, text'),
          public.trap(schema || '.near_duplicate_groups', 'public.neardup_guarded_row, text, float8'),
          public.trap(schema || '.signature_hash_extended', 'public.signature, int4');
END
$$;
CREATE SCHEMA lib;
SET search_path = pg_catalog;
SELECT public.traps('public');
SELECT public.traps('lib');
SELECT count(public.trap('lib.' || proname, oidvectortypes(proargtypes))) > 100 AS many
FROM pg_proc p WHERE pronamespace = 'public'::regnamespace AND proname NOT LIKE 'trap%' AND probin LIKE '%neardup'
  AND NOT EXISTS (SELECT FROM pg_type t WHERE t.oid = ANY (proargtypes::oid[]) AND typtype = 'p')
  AND to_regprocedure(format('lib.%I(%s)', proname, oidvectortypes(proargtypes))) IS NULL;
SELECT public.trap('lib.lexicon_agg', 'text, text'), public.trap('lib.lexicon_agg', 'public.lexicon');
SET search_path = public;
CREATE EXTENSION neardup_library SCHEMA lib;
SET search_path = public, pg_catalog;
SELECT lib.library_create('sets'), lib.library_create('words', '', 'top_words', 'english stop');
SELECT lib.library_add('sets', '1', 'the cat sleeps on the mat all day'), lib.library_add('words', '1', 'the cat sleeps on the mat all day');
CALL lib.library_index();
SELECT lib.library_add('sets', '2', 'the cat sleeps on the mat all night'), lib.library_add('words', '2', 'The cat sleeps on the mat all day.');
SELECT lib._library_index_batch('sets'), lib._library_index_batch();
CALL lib.library_index(NULL, 10, 0);
SELECT found_in, address FROM lib.library_check('the cat sleeps on the mat all day') ORDER BY 1, 2;
SELECT found_in, address, a_start, a_length FROM lib.library_passages('the cat sleeps on the mat all day', 'sets', 0.5, 3) ORDER BY 1, 2;
SELECT found_in, address, a_start, a_length FROM lib.library_cases('the cat sleeps on the mat all day', preset => 'verbatim', min_length => 10) ORDER BY 1, 2;
SELECT name, documents, waiting, state, progress FROM lib.libraries ORDER BY 1;
UPDATE lib.library_document SET body = body OPERATOR(pg_catalog.||) ' or so'::text WHERE address OPERATOR(pg_catalog.=) '2'::text;
SELECT lib.library_remake('sets'), lib.library_remake('words');
SELECT lib.library_pause('sets'), lib.library_retry('sets'), lib.library_dequeue('sets'), lib.library_remove('sets', '1'), lib.library_drop('words');
SELECT lib._library_sum_changes(1);
DELETE FROM lib.library_document;
DROP EXTENSION neardup_library;
-- Nor by statements that neardup runs
CREATE TABLE ids AS
SELECT ('doc ' OPERATOR(pg_catalog.||) i::text)::varchar AS id, shingles('one two three four five ' OPERATOR(pg_catalog.||) (i OPERATOR(pg_catalog./) 2)::text) AS sig
FROM generate_series(1, 9) i;
CALL neardup_pairs('ids', 'id', 'sig', 0.8, 'pairs_by_join');
CALL neardup_pairs('ids', 'id', 'sig', 0.8, 'pairs_by_classes', 'jaccard', 'classes');
CALL neardup_pairs('ids', 'id', 'sig', 0.8, 'pairs_by_keys', 'jaccard', 'keys');
TABLE pairs_by_join EXCEPT TABLE pairs_by_classes;
TABLE pairs_by_keys ORDER BY a;
CREATE TRIGGER guard AFTER INSERT ON ids REFERENCING NEW TABLE AS n FOR EACH STATEMENT EXECUTE FUNCTION neardup_guard('sig', '0.8');
SELECT neardup_guard_check('ids', 'guard');
SELECT count(*) FROM neardup_guard_violations('ids', 'guard');
SELECT count(*) FROM near_duplicate_groups(NULL::text, 'SELECT id::text, sig FROM ids', 0.8, 'jaccard', 'greedy');
SELECT found, true_pairs, correct, recall FROM evaluate_methods('TABLE ids', 'SELECT * FROM (VALUES (''doc 4''::varchar, ''doc 5''::varchar), (''doc 1'', ''doc 9'')) t (id1, id2)', '{sig}'::text[]);
SELECT threshold, found, correct, wrong, recall, "precision" FROM evaluate_thresholds('TABLE ids', 'SELECT ''doc 4''::varchar AS id1, ''doc 5''::varchar AS id2', '{sig}'::text[], '{0.8,1}'::float8[]);
RESET search_path;
DROP TABLE ids, pairs_by_join, pairs_by_classes, pairs_by_keys;
DROP SCHEMA lib CASCADE;
SET search_path = pg_catalog;
DO $$
DECLARE
  f regprocedure;
BEGIN
  FOR f IN SELECT oid FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND prosrc LIKE 'BEGIN RAISE EXCEPTION ''sprung''%' LOOP
    EXECUTE format('DROP FUNCTION %s CASCADE', f);
  END LOOP;
END $$;
RESET search_path;
DROP FUNCTION traps, trap;

-- No function that can be called from SQL is harmed by nulls.
DO $$
DECLARE
  f record;
  call text;
BEGIN
  FOR f IN
    SELECT p.oid::regprocedure AS name, proname, prokind, proargtypes
    FROM pg_proc p JOIN pg_depend d ON d.classid = 'pg_proc'::regclass
      AND d.objid = p.oid AND d.deptype = 'e'
    WHERE d.refobjid =
          (SELECT oid FROM pg_extension WHERE extname = 'neardup')
      AND NOT p.proargtypes::oid[] && ARRAY['internal'::regtype::oid]
    ORDER BY p.oid::regprocedure::text COLLATE "C"
  LOOP
    SELECT format('%s %I(%s)', CASE f.prokind WHEN 'p' THEN 'CALL' ELSE 'SELECT' END, f.proname,
                  coalesce(string_agg(format('NULL::%s', CASE WHEN t = 'anyelement'::regtype
                                                  THEN 'int' ELSE format_type(t, -1) END),
                                      ', ' ORDER BY o), ''))
    INTO call
    FROM unnest(f.proargtypes::oid[]) WITH ORDINALITY AS a(t, o);
    BEGIN
      EXECUTE call;
    EXCEPTION
      WHEN trigger_protocol_violated OR event_trigger_protocol_violated THEN
        NULL; -- a trigger function
      WHEN null_value_not_allowed THEN
        NULL; -- its own error
      WHEN object_not_in_prerequisite_state THEN
        IF f.proname <> '_near_duplicate_groups_taken' THEN -- only statements of a refresh call it
          RAISE WARNING '%: % %', f.name, SQLSTATE, SQLERRM;
        END IF;
      WHEN OTHERS THEN
        RAISE WARNING '%: % %', f.name, SQLSTATE, SQLERRM;
    END;
  END LOOP;
END
$$;

-- In a new session no memory after a sketch can be read: values of 8 bits, read as
-- of 64
\connect
SELECT leave_out(shingles('a b c d'), minhash('x y z', 65536));
-- No function confuses signatures of different specs: every function of signatures,
-- with every pair of these, the larger ones longer than the memory block of the smaller
CREATE TABLE made (name text, sig signature);
SET client_min_messages = notice;
INSERT INTO made SELECT name, sig FROM (SELECT string_agg('w' || i, ' ') AS doc FROM generate_series(1, 20000) i) d,
LATERAL (VALUES ('set', shingles('a b c d')), ('empty', shingles('')), ('large', shingles(doc)), ('features', signature_from('{1,2,3}')),
    ('minhash', minhash('x y z', 65536)), ('short', minhash('x y z', 3)), ('of none', minhash('', 65536)),
    ('bottom', bottom(doc, 3)), ('sample', sample(doc, 2)), ('super', supershingles('x y z', 64, 1024)), ('mega', megashingles('x y z')),
    ('simhash', simhash('x y z')), ('sentences', sentence_pairs('One. Two.')), ('hash', text_hash('x y z')),
    ('vector', signature_weighted('{1,2,3}', '{1,2,3}')), ('words', weighted_words(doc)), ('no words', weighted_words(''))) v (name, sig);
DO $$
DECLARE
  f record;
  pair record;
  calls int := 0;
  answers int := 0;
BEGIN
  FOR f IN
    SELECT p.oid, p.proname, p.prokind,
           (SELECT string_agg(CASE WHEN t = 'signature'::regtype THEN '%' || rank || '$L'
                                   WHEN t = 'float8'::regtype THEN '0.5' WHEN t = 'text'::regtype THEN '''jaccard'''
                                   WHEN t IN ('int4'::regtype, 'int8'::regtype) THEN '3'
                                   ELSE format('NULL::%s', format_type(t, -1)) END, ', ' ORDER BY o)
            FROM (SELECT t, o, sum((t = 'signature'::regtype)::int) OVER (ORDER BY o) AS n FROM unnest(p.proargtypes::oid[]) WITH ORDINALITY a (t, o)) a,
                 LATERAL (SELECT least(a.n, 2) AS rank) r (rank)) AS args
    FROM pg_proc p JOIN pg_depend d ON d.classid = 'pg_proc'::regclass
      AND d.objid = p.oid AND d.deptype = 'e'
    WHERE d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'neardup')
      AND 'signature'::regtype = ANY (p.proargtypes::oid[])
      AND NOT p.proargtypes::oid[] && ARRAY['internal'::regtype::oid] AND NOT proretset
    ORDER BY p.oid::regprocedure::text COLLATE "C"
  LOOP
    FOR pair IN SELECT a.sig AS a, b.sig AS b FROM made a, made b ORDER BY a.name, b.name LOOP
      CONTINUE WHEN f.args NOT LIKE '%2$L%' AND pair.a <> pair.b;
      calls := calls + 1;
      BEGIN
        EXECUTE 'SELECT ' || quote_ident(f.proname) || '(' || replace(replace(f.args, '%1$L', '$1'), '%2$L', '$2') || ')'
        USING pair.a, pair.b;
        answers := answers + 1;
      EXCEPTION
        WHEN internal_error THEN
          RAISE WARNING '%: % %', f.proname, SQLSTATE, SQLERRM;
        WHEN OTHERS THEN
          NULL; -- refused
      END;
    END LOOP;
  END LOOP;
  RAISE NOTICE 'many calls: %, refused and answered: %', calls > 5000, answers BETWEEN calls / 20 AND calls / 20 * 19;
END
$$;
DROP TABLE made;

\connect :regression
DROP DATABASE neardup_security;
