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

DROP FUNCTION told_each, told, f;
DROP ROLE regress_guard_tenant, regress_guard_writer, regress_guard_reader;
