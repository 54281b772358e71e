
-- groups

CREATE FUNCTION near_duplicate_groups(query text, threshold double precision,
                                        measure text = 'jaccard', rule text = 'greedy',
                                        apart text = NULL)
    RETURNS TABLE (id bigint, group_id bigint, representative bigint,
                   similarity double precision, size bigint)
    AS 'MODULE_PATHNAME'
    LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 100000;
COMMENT ON FUNCTION near_duplicate_groups(text, double precision, text, text, text) IS 'groups of near-duplicates among the rows of a query; ids are numbers';

CREATE FUNCTION near_duplicate_groups(id_type anyelement, query text, threshold double precision,
                                        measure text = 'jaccard', rule text = 'greedy',
                                        apart text = NULL)
    RETURNS TABLE (id anyelement, group_id bigint, representative anyelement,
                   similarity double precision, size bigint)
    AS 'MODULE_PATHNAME'
    LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 100000;
COMMENT ON FUNCTION near_duplicate_groups(anyelement, text, double precision, text, text, text) IS 'groups of near-duplicates among the rows of a query; ids are of that type';

CREATE FUNCTION near_duplicate_groups_of_pairs(query text, rule text = 'greedy')
    RETURNS TABLE (id bigint, group_id bigint, representative bigint,
                   similarity double precision, size bigint)
    AS 'MODULE_PATHNAME'
    LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 100000;
COMMENT ON FUNCTION near_duplicate_groups_of_pairs(text, text) IS 'groups of rows that the pairs of a query connect; ids are numbers';

CREATE FUNCTION near_duplicate_groups_of_pairs(id_type anyelement, query text, rule text)
    RETURNS TABLE (id anyelement, group_id bigint, representative anyelement,
                   similarity double precision, size bigint)
    AS 'MODULE_PATHNAME'
    LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 100000;
COMMENT ON FUNCTION near_duplicate_groups_of_pairs(anyelement, text, text) IS 'groups of rows that the pairs of a query connect; ids are of that type';

CREATE FUNCTION near_duplicate_groups_add(new_rows text, old_rows text, threshold double precision,
                                            measure text = 'jaccard', rule text = 'greedy',
                                            apart text = NULL)
    RETURNS TABLE (id bigint, representative bigint, similarity double precision)
    AS 'MODULE_PATHNAME'
    LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 10000;
COMMENT ON FUNCTION near_duplicate_groups_add(text, text, double precision, text, text, text) IS 'groups of new rows, and old rows that change their group; ids are numbers';

CREATE FUNCTION near_duplicate_groups_add(id_type anyelement, new_rows text, old_rows text,
                                            threshold double precision, measure text = 'jaccard',
                                            rule text = 'greedy', apart text = NULL)
    RETURNS TABLE (id anyelement, representative anyelement, similarity double precision)
    AS 'MODULE_PATHNAME'
    LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 10000;
COMMENT ON FUNCTION near_duplicate_groups_add(anyelement, text, text, double precision, text, text, text) IS 'groups of new rows, and old rows that change their group; ids are of that type';

CREATE FUNCTION near_duplicate_groups_sweep(query text,
                                              thresholds double precision[] = '{0.5,0.55,0.6,0.65,0.7,0.75,0.8,0.85,0.9,0.95}',
                                              measure text = 'jaccard', rule text = 'greedy')
    RETURNS TABLE (threshold double precision, groups bigint, duplicates bigint, largest bigint,
                   id text, representative text, similarity double precision)
    AS 'MODULE_PATHNAME'
    LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE COST 1000000 ROWS 10;
COMMENT ON FUNCTION near_duplicate_groups_sweep(text, double precision[], text, text) IS 'figures of the groups of the rows of a query at several thresholds, by which one is chosen';
