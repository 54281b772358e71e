-- A number that EXPLAIN (ANALYZE) shows of a query's join
CREATE FUNCTION counter(name text, query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    plan text;
BEGIN
    PERFORM set_config('enable_nestloop', 'off', true);
    EXECUTE 'EXPLAIN (ANALYZE, FORMAT json) ' || query INTO plan;
    RETURN substring(plan FROM format('"%s": (\d+)', name));
END $$;
