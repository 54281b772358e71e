
-- guard

-- Arguments: a signature column or an index on an expression that makes one,
-- the threshold, the mode (reject, skip, tag, warn), the column to tag; then
-- "within" and columns that rows have to agree in to be compared.
CREATE FUNCTION neardup_guard() RETURNS trigger
    AS 'MODULE_PATHNAME'
    LANGUAGE C VOLATILE PARALLEL SAFE;
COMMENT ON FUNCTION neardup_guard() IS 'trigger that keeps near-duplicates out of a table';

CREATE TYPE neardup_guarded_row AS ("table" regclass, place tid, key text, checked boolean);
COMMENT ON TYPE neardup_guarded_row IS 'where a row is, its primary key, and whether the trigger''s WHEN holds';

CREATE FUNCTION neardup_guard_rows(relation regclass, trigger name,
                                   OUT query text, OUT threshold double precision)
    AS 'MODULE_PATHNAME'
    LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_guard_rows(regclass, name) IS 'query of the rows that a guard looks at, and its threshold';

-- Not that of any type: who makes functions in this schema could make one of this
-- type, which would be called in its place when a guard is created.
CREATE FUNCTION neardup_guard_clusters(id_type neardup_guarded_row, query text,
                                       threshold double precision, measure text, rule text)
    RETURNS TABLE (id neardup_guarded_row, cluster bigint, representative neardup_guarded_row,
                   similarity double precision, size bigint)
    AS 'MODULE_PATHNAME', 'near_duplicate_clusters_typed'
    LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 100000;
COMMENT ON FUNCTION neardup_guard_clusters(neardup_guarded_row, text, double precision, text, text) IS 'function of guards: near_duplicate_clusters() of rows of tables';

-- Groups are within the columns of the guard's scope, and of the rule kept: as
-- if the rows were inserted one after another.
CREATE FUNCTION neardup_guard_violations(relation regclass, trigger name)
    RETURNS TABLE (row_table regclass, row_place tid, row_key text,
                   near_table regclass, near_place tid, near_key text,
                   similarity double precision)
    AS 'MODULE_PATHNAME'
    LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE ROWS 100;
COMMENT ON FUNCTION neardup_guard_violations(regclass, name) IS 'rows of a table that a guard would not have let in, and those that they are near to';

CREATE FUNCTION neardup_guard_check(relation regclass, trigger name) RETURNS bigint
    AS 'MODULE_PATHNAME'
    LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION neardup_guard_check(regclass, name) IS 'number of rows that a guard would not have let in; warns if there are any';

-- What is wrong with a guard is told when it is created.
CREATE FUNCTION neardup_guard_created() RETURNS event_trigger
    AS 'MODULE_PATHNAME'
    LANGUAGE C VOLATILE PARALLEL SAFE;
COMMENT ON FUNCTION neardup_guard_created() IS 'function of the event trigger neardup_guard_created';
CREATE EVENT TRIGGER neardup_guard_created ON ddl_command_end
    WHEN TAG IN ('CREATE TRIGGER')
    EXECUTE FUNCTION neardup_guard_created();
COMMENT ON EVENT TRIGGER neardup_guard_created IS 'warns of mistakes in a guard that is created, and of rows that it would not have let in';

-- session state
CREATE FUNCTION neardup_guard_skipped()
    RETURNS TABLE (row_table regclass, row_key text, near_table regclass, near_key text,
                   similarity double precision)
    AS 'MODULE_PATHNAME'
    LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED ROWS 10;
COMMENT ON FUNCTION neardup_guard_skipped() IS 'rows that a guard of the last statement has skipped, and those that they are near to';

-- A row with which a guard has done something counts as a call of one of these.
CREATE FUNCTION neardup_guard_refused() RETURNS void
    AS 'MODULE_PATHNAME', 'neardup_guard_counter'
    LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_guard_refused() IS 'its calls are counted for rows that guards have refused';
CREATE FUNCTION neardup_guard_left_out() RETURNS void
    AS 'MODULE_PATHNAME', 'neardup_guard_counter'
    LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_guard_left_out() IS 'its calls are counted for rows that guards have skipped';
CREATE FUNCTION neardup_guard_tagged() RETURNS void
    AS 'MODULE_PATHNAME', 'neardup_guard_counter'
    LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_guard_tagged() IS 'its calls are counted for rows that guards have tagged';
CREATE FUNCTION neardup_guard_warned() RETURNS void
    AS 'MODULE_PATHNAME', 'neardup_guard_counter'
    LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_guard_warned() IS 'its calls are counted for rows that guards have warned of';
REVOKE ALL ON FUNCTION neardup_guard_refused(), neardup_guard_left_out(),
    neardup_guard_tagged(), neardup_guard_warned() FROM PUBLIC;

CREATE FUNCTION neardup_guard_counts(OUT refused bigint, OUT skipped bigint,
                                     OUT tagged bigint, OUT warned bigint)
    LANGUAGE sql STABLE STRICT PARALLEL RESTRICTED
BEGIN ATOMIC
    SELECT coalesce(pg_catalog.pg_stat_get_function_calls('neardup_guard_refused()'::regprocedure), 0),
           coalesce(pg_catalog.pg_stat_get_function_calls('neardup_guard_left_out()'::regprocedure), 0),
           coalesce(pg_catalog.pg_stat_get_function_calls('neardup_guard_tagged()'::regprocedure), 0),
           coalesce(pg_catalog.pg_stat_get_function_calls('neardup_guard_warned()'::regprocedure), 0);
END;
COMMENT ON FUNCTION neardup_guard_counts() IS 'rows that the guards of this database have refused, skipped, tagged, warned of';
