\ir same_rows.sql
SET test.plan = 'SimilarityJoin';

-- Whether the similarity join of the query reads its sides once, and has the rows of
-- the nested loop, of which there are some
CREATE FUNCTION self_join(query text, OUT self text, OUT same boolean)
LANGUAGE plpgsql AS $$
DECLARE
    plan text;
BEGIN
    PERFORM set_config('enable_nestloop', 'off', true);
    EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
    self := (SELECT string_agg(m[1], ' ') FROM regexp_matches(plan, '"Self-Join": (true|false)', 'g') m);
    same := same_rows(query) AND rows_of(query) NOT LIKE '0 %';
END $$;

-- A signature, and the number of calls
CREATE FUNCTION signed(text) RETURNS signature LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    PERFORM nextval('signed_number');
    RETURN shingles($1);
END $$;
CREATE SEQUENCE signed_number;
