--
-- What a guard tells, and with whose rights it runs
--

\set SHOW_CONTEXT never
\set VERBOSITY terse
CREATE FUNCTION f(a int, b int) RETURNS signature LANGUAGE sql IMMUTABLE
RETURN signature_from(array(SELECT generate_series(a::bigint, b)));
CREATE ROLE regress_guard_tenant;
CREATE ROLE regress_guard_writer BYPASSRLS;
CREATE ROLE regress_guard_reader BYPASSRLS;

-- Who may not read a row does not learn how similar it is, in any mode
CREATE TABLE docs (id int PRIMARY KEY, tenant text DEFAULT current_user, sig signature, twin int);
CREATE INDEX docs_sig ON docs USING gin (sig) WITH (fastupdate = off);
INSERT INTO docs VALUES (1, 'somebody', f(1, 20)), (2, 'regress_guard_tenant', f(101, 120));
CREATE POLICY tenants ON docs USING (tenant = current_user);
GRANT SELECT, INSERT ON docs TO regress_guard_tenant;
GRANT INSERT ON docs TO regress_guard_writer;
GRANT SELECT (id, sig), INSERT ON docs TO regress_guard_reader;
CREATE FUNCTION told() RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  detail text;
BEGIN
  INSERT INTO docs (id, sig) SELECT 11, f(2, 21) UNION ALL SELECT 12, f(3001, 3020) UNION ALL SELECT 13, f(102, 121);
  RETURN QUERY SELECT concat_ws(' ', 'skipped', row_table, row_key, near_table, near_key, similarity) FROM neardup_guard_skipped();
  DELETE FROM docs WHERE id > 10;
EXCEPTION
  WHEN exclusion_violation THEN
    GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
    RETURN NEXT 'refused ' || detail;
  WHEN insufficient_privilege THEN
    NULL; -- it may not delete
END $$;
CREATE FUNCTION told_each(kind text, arguments text) RETURNS TABLE (who text, what text) LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('CREATE TRIGGER guard %s EXECUTE FUNCTION neardup_guard(''sig'', ''0.8'', %s)', kind, arguments);
  FOREACH who IN ARRAY '{none,regress_guard_reader,regress_guard_writer,regress_guard_tenant}'::text[] LOOP
    EXECUTE format('SET LOCAL ROLE %s', who);
    FOR what IN SELECT * FROM told() LOOP
      RETURN NEXT;
    END LOOP;
    RESET ROLE;
    DELETE FROM docs WHERE id > 10;
  END LOOP;
  DROP TRIGGER guard ON docs;
END $$;
ALTER TABLE docs ENABLE ROW LEVEL SECURITY;
SELECT * FROM told_each('AFTER INSERT ON docs FOR EACH ROW', $$'reject'$$);
SELECT * FROM told_each('AFTER INSERT ON docs REFERENCING NEW TABLE AS new FOR EACH STATEMENT', $$'reject'$$);
\set VERBOSITY default
SELECT * FROM told_each('AFTER INSERT ON docs FOR EACH ROW', $$'warn'$$);
SELECT * FROM told_each('AFTER INSERT ON docs REFERENCING NEW TABLE AS new FOR EACH STATEMENT', $$'warn'$$);
SELECT * FROM told_each('BEFORE INSERT ON docs FOR EACH ROW', $$'warn'$$);
SELECT * FROM told_each('BEFORE INSERT ON docs FOR EACH ROW', $$'skip'$$);
\set VERBOSITY terse
DROP TABLE docs;

DROP FUNCTION told_each, told;

-- A superuser asks about a stranger's table that is full of traps: casts, operators,
-- functions in index expressions, in a predicate, in WHEN, in conditions, in a policy,
-- a default, a generated column, a domain.  None runs with the superuser's rights.
CREATE ROLE regress_guard_stranger;
CREATE SCHEMA strange AUTHORIZATION regress_guard_stranger;
GRANT CREATE ON SCHEMA public TO regress_guard_stranger;
SET ROLE regress_guard_stranger;
CREATE FUNCTION strange.trap(what text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  IF EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname OPERATOR(pg_catalog.=) current_user AND rolsuper) THEN
    RAISE WARNING 'trapped by %', what;
  END IF;
  RETURN what;
END $$;
CREATE TYPE strange.kind AS ENUM ('a', 'b', 'c');
CREATE TYPE strange.pair AS (a int, b strange.kind);
CREATE FUNCTION strange.made(body text, trap text) RETURNS public.signature LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  PERFORM strange.trap('expression');
  RETURN public.shingles(body);
END $$;
CREATE FUNCTION strange.text(strange.kind) RETURNS text LANGUAGE sql AS $$ SELECT strange.trap('cast of an enum') $$;
CREATE FUNCTION strange.text(strange.pair) RETURNS text LANGUAGE sql AS $$ SELECT strange.trap('cast of a row') $$;
CREATE CAST (strange.kind AS text) WITH FUNCTION strange.text(strange.kind) AS IMPLICIT;
CREATE CAST (strange.pair AS text) WITH FUNCTION strange.text(strange.pair) AS IMPLICIT;
CREATE FUNCTION strange.compares(anyelement, anyelement) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$ SELECT strange.trap('an operator') IS NULL $$;
CREATE FUNCTION strange.compares(bigint, bigint) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$ SELECT strange.trap('an operator') IS NULL $$;
CREATE FUNCTION strange.compares(strange.kind, strange.kind) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$ SELECT strange.trap('an operator') IS NULL $$;
CREATE OPERATOR public.= (LEFTARG = strange.kind, RIGHTARG = strange.kind, FUNCTION = strange.compares);
CREATE OPERATOR public.< (LEFTARG = strange.kind, RIGHTARG = strange.kind, FUNCTION = strange.compares);
CREATE OPERATOR public.= (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = strange.compares);
CREATE OPERATOR public.< (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = strange.compares);
CREATE FUNCTION public.format(text, strange.kind) RETURNS text LANGUAGE sql AS $$ SELECT strange.trap('a function') $$;
CREATE DOMAIN strange.word AS text CHECK (strange.trap('a domain') IS NOT NULL);
CREATE TABLE strange.docs (id strange.kind, part strange.pair, word strange.word DEFAULT strange.trap('a default'), body text,
    twice text GENERATED ALWAYS AS (body || strange.trap('a generated column')) STORED,
    sig public.signature GENERATED ALWAYS AS (strange.made(body, strange.trap('a generated column'))) STORED, PRIMARY KEY (id));
CREATE INDEX docs_made ON strange.docs USING gin (strange.made(body, strange.trap('a constant')))
    WITH (fastupdate = off) WHERE strange.trap('a predicate') IS NOT NULL;
CREATE INDEX docs_sig ON strange.docs USING gin (sig) WITH (fastupdate = off);
INSERT INTO strange.docs VALUES ('a', ROW(1, 'a')), ('b', ROW(1, 'b')), ('c', ROW(1, 'a'));
UPDATE strange.docs SET body = 'one two three four five';
CREATE POLICY policy ON strange.docs USING (strange.trap('a policy') IS NOT NULL);
ALTER TABLE strange.docs ENABLE ROW LEVEL SECURITY;
RESET ROLE;
SET search_path = strange, public, pg_catalog;
\set VERBOSITY default
CREATE FUNCTION pg_temp.asks(arguments text, condition text = '') RETURNS SETOF text LANGUAGE plpgsql
SET search_path = strange, public, pg_catalog AS $$
BEGIN
  EXECUTE format('CREATE TRIGGER guard AFTER INSERT ON strange.docs FOR EACH ROW %s EXECUTE FUNCTION public.neardup_guard(%s)', condition, arguments);
  RETURN NEXT public.neardup_guard_check('strange.docs', 'guard');
  RETURN QUERY SELECT concat_ws(' ', row_key, near_key, similarity) FROM public.neardup_guard_violations('strange.docs', 'guard');
  EXECUTE 'DROP TRIGGER guard ON strange.docs';
END $$;
SELECT pg_temp.asks($$'sig', '0.8'$$);
SELECT pg_temp.asks($$'docs_made', '0.8'$$);
SELECT pg_temp.asks($$'sig', '0.8', 'within', 'word'$$, $$WHEN (strange.trap('WHEN') IS NOT NULL AND NEW.id IS NOT NULL)$$);
SELECT pg_temp.asks($$'sig', '0.8', 'if', 'strange.trap(''a condition'') IS NOT NULL AND new.word = old.word', 'within', 'word', 'part'$$);
ALTER TABLE strange.docs FORCE ROW LEVEL SECURITY;
SELECT pg_temp.asks($$'sig', '0.8'$$);
-- the query of rows, which the superuser would run himself, is refused with expressions
CREATE TRIGGER guard AFTER INSERT ON strange.docs FOR EACH ROW EXECUTE FUNCTION public.neardup_guard('docs_made', '0.8');
SELECT public.neardup_guard_rows('strange.docs', 'guard');
DROP TRIGGER guard ON strange.docs;
-- and so is everything with expressions for who sees only some rows
GRANT SELECT ON strange.docs TO regress_guard_tenant;
GRANT USAGE ON SCHEMA strange TO regress_guard_tenant;
CREATE TRIGGER guard AFTER INSERT ON strange.docs FOR EACH ROW EXECUTE FUNCTION public.neardup_guard('docs_made', '0.8');
SET ROLE regress_guard_tenant;
SELECT public.neardup_guard_check('strange.docs', 'guard');
RESET ROLE;
RESET search_path;
SET client_min_messages = error;
DROP SCHEMA strange CASCADE;
RESET client_min_messages;
REVOKE CREATE ON SCHEMA public FROM regress_guard_stranger;
DROP OWNED BY regress_guard_stranger;
DROP FUNCTION f;
DROP ROLE regress_guard_tenant, regress_guard_writer, regress_guard_reader, regress_guard_stranger;
