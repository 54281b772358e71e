--
-- What others have put into the search path is neither replaced nor called
--

\set regression :DBNAME
CREATE DATABASE neardup_security;
\connect neardup_security
CREATE SCHEMA trap;
SET client_min_messages = warning;
-- From 18 on an error in an install script tells the command
\set SHOW_CONTEXT never

-- An object that is there already is an error, not a member of the extension
-- (CVE-2022-2625) with its old owner.
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

-- Nor does anything at run time: the trap stands before everything else in
-- the search path, with functions of the extension's own names, too.
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

-- No function that can be called from SQL takes harm from nulls.
DO $$
DECLARE
  f record;
  call text;
BEGIN
  FOR f IN
    SELECT p.oid::regprocedure AS name, proname, pronargs, proargtypes
    FROM pg_proc p JOIN pg_depend d ON d.classid = 'pg_proc'::regclass
      AND d.objid = p.oid AND d.deptype = 'e'
    WHERE d.refobjid =
          (SELECT oid FROM pg_extension WHERE extname = 'neardup')
      AND NOT p.proargtypes::oid[] && ARRAY['internal'::regtype::oid]
    ORDER BY p.oid::regprocedure::text COLLATE "C"
  LOOP
    SELECT format('SELECT %I(%s)', f.proname,
                  coalesce(string_agg(format('NULL::%s', format_type(t, -1)),
                                      ', ' ORDER BY o), ''))
    INTO call
    FROM unnest(f.proargtypes::oid[]) WITH ORDINALITY AS a(t, o);
    BEGIN
      EXECUTE call;
    EXCEPTION
      WHEN trigger_protocol_violated THEN
        NULL; -- a trigger function
      WHEN OTHERS THEN
        RAISE WARNING '%: % %', f.name, SQLSTATE, SQLERRM;
    END;
  END LOOP;
END
$$;

\connect :regression
DROP DATABASE neardup_security;
