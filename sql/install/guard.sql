
-- guard

-- Arguments: a signature column or an index, the threshold, the mode (reject, skip, tag,
-- warn), the column to tag; then "measure" and its name, "if" and a condition on the rows
-- new and old, "within" and the columns of the scope.
CREATE FUNCTION neardup_guard() RETURNS trigger
    AS 'MODULE_PATHNAME'
    LANGUAGE C VOLATILE PARALLEL SAFE;
COMMENT ON FUNCTION neardup_guard() IS 'trigger that keeps near-duplicates out of a table';

CREATE TYPE neardup_guarded_row AS ("table" regclass, place tid, key text, checked boolean);
COMMENT ON TYPE neardup_guarded_row IS 'place of a row, its primary key, and whether the trigger''s WHEN holds';

CREATE FUNCTION neardup_guard_rows(relation regclass, trigger name,
                                   OUT query text, OUT threshold double precision, OUT measure text)
    AS 'MODULE_PATHNAME'
    LANGUAGE C STABLE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION neardup_guard_rows(regclass, name) IS 'query of the rows that a guard checks, its threshold and measure';

-- Groups within the guard's scope, as if the rows were inserted one after another.
CREATE FUNCTION _neardup_guard_groups(query text, threshold double precision, measure text)
    RETURNS TABLE (row_table regclass, row_place tid, row_key text,
                   near_table regclass, near_place tid, near_key text,
                   similarity double precision)
    LANGUAGE sql VOLATILE STRICT PARALLEL UNSAFE ROWS 100
BEGIN ATOMIC
    SELECT (g.id)."table", (g.id).place, (g.id).key,
           (g.representative)."table", (g.representative).place, (g.representative).key, g.similarity
    FROM near_duplicate_groups(NULL::neardup_guarded_row, $1, $2, $3) AS g
    WHERE g.similarity IS NOT NULL AND (g.id).checked;
END;
COMMENT ON FUNCTION _neardup_guard_groups(text, double precision, text) IS 'function of neardup_guard_violations(): rows of a query of rows that would be refused';

CREATE FUNCTION neardup_guard_violations(relation regclass, trigger name)
    RETURNS TABLE (row_table regclass, row_place tid, row_key text,
                   near_table regclass, near_place tid, near_key text,
                   similarity double precision)
    AS 'MODULE_PATHNAME'
    LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE ROWS 100;
COMMENT ON FUNCTION neardup_guard_violations(regclass, name) IS 'rows of a table that a guard would have refused, each with the nearest row';

CREATE FUNCTION neardup_guard_check(relation regclass, trigger name) RETURNS bigint
    LANGUAGE sql VOLATILE STRICT PARALLEL UNSAFE
BEGIN ATOMIC
    SELECT count(*) FROM neardup_guard_violations($1, $2);
END;
COMMENT ON FUNCTION neardup_guard_check(regclass, name) IS 'number of rows that a guard would have refused; an error if it does not guard the table';

-- A faulty definition is an error when the guard is created.
CREATE FUNCTION neardup_guard_created() RETURNS event_trigger
    AS 'MODULE_PATHNAME'
    LANGUAGE C VOLATILE PARALLEL SAFE;
COMMENT ON FUNCTION neardup_guard_created() IS 'function of the event trigger neardup_guard_created';
CREATE EVENT TRIGGER neardup_guard_created ON ddl_command_end
    WHEN TAG IN ('CREATE TRIGGER')
    EXECUTE FUNCTION neardup_guard_created();
COMMENT ON EVENT TRIGGER neardup_guard_created IS 'refuses a guard with wrong arguments or without a suitable index';

-- session state
CREATE FUNCTION neardup_guard_skipped()
    RETURNS TABLE (row_table regclass, row_key text, near_table regclass, near_key text,
                   similarity double precision)
    AS 'MODULE_PATHNAME'
    LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED ROWS 10;
COMMENT ON FUNCTION neardup_guard_skipped() IS 'rows that a guard skipped in the last statement, each with its near-duplicate in the table';
