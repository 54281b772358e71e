-- A query's plan in one form for all versions of the server: 17 and 19 name subplans,
-- their values and nameless subqueries differently
CREATE FUNCTION plan(query text, options text DEFAULT 'COSTS OFF') RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    line text;
BEGIN
    FOR line IN EXECUTE format('EXPLAIN (%s) %s', options, query) LOOP
        CONTINUE WHEN line ~ 'Disabled: true';
        line := regexp_replace(line, '\m(Init|Sub)Plan (\w+_)?(\d+)', '\1Plan \3', 'g');
        line := replace(replace(line, '(InitPlan 1).col1', '$0'), ' (returns $0)', '');
        RETURN NEXT regexp_replace(line, '"\*SELECT\* \d+(_\d+)?"|unnamed_subquery(_\d+)?', 'unnamed', 'g');
    END LOOP;
END $$;
