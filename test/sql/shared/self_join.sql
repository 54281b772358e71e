-- Whether the query is a similarity join, and one that reads its sides once,
-- and whether it has the rows of the nested loop, of which there are some
CREATE FUNCTION self_join(query text, OUT self text, OUT same boolean)
LANGUAGE plpgsql AS $$
DECLARE
    plan text;
    rows_of text := format('SELECT array_agg(q::text ORDER BY q::text) FROM (%s) q', query);
    joined text[];
    looped text[];
BEGIN
    PERFORM set_config('enable_nestloop', 'off', true);
    PERFORM set_config('neardup.enable_join', 'on', true);
    EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
    self := (SELECT string_agg(m[1], ' ') FROM regexp_matches(plan, '"Self-Join": (true|false)', 'g') m);
    EXECUTE rows_of INTO joined;
    PERFORM set_config('enable_nestloop', 'on', true);
    PERFORM set_config('neardup.enable_join', 'off', true);
    EXECUTE rows_of INTO looped;
    PERFORM set_config('neardup.enable_join', 'on', true);
    same := joined = looped AND cardinality(joined) > 0;
END $$;

-- A signature, and how often one was made
CREATE FUNCTION signed(text) RETURNS signature LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    PERFORM nextval('signed_number');
    RETURN shingles($1);
END $$;
CREATE SEQUENCE signed_number;
