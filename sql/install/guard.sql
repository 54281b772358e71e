
-- guard

-- Arguments: a signature column or an index, the threshold, the mode (reject, skip, tag,
-- warn), the column to tag; then "within" and the columns of the scope.
CREATE FUNCTION neardup_guard() RETURNS trigger
    AS 'MODULE_PATHNAME'
    LANGUAGE C VOLATILE PARALLEL SAFE;
COMMENT ON FUNCTION neardup_guard() IS 'trigger that keeps near-duplicates out of a table';

CREATE TYPE neardup_guarded_row AS ("table" regclass, place tid, key text, checked boolean);
COMMENT ON TYPE neardup_guarded_row IS 'place of a row, its primary key, and whether the trigger''s WHEN holds';

CREATE FUNCTION _neardup_guard_definition(relation regclass, trigger name,
                                          OUT threshold double precision, OUT signature text,
                                          OUT scope text, OUT index regclass, OUT condition text)
    AS 'MODULE_PATHNAME', 'neardup_guard_definition'
    LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION _neardup_guard_definition(regclass, name) IS 'function of neardup_guard_rows(): a guard in SQL, or the error that the next row would raise';

-- Key columns are qualified in ORDER BY, since columns of the result may have the same
-- names.  LEFT joins let errors of the definition come first.
CREATE FUNCTION neardup_guard_rows(relation regclass, trigger name,
                                   OUT query text, OUT threshold double precision)
    LANGUAGE sql STABLE STRICT PARALLEL SAFE
BEGIN ATOMIC
    SELECT format('SELECT ROW(tableoid, ctid, %s, %s)::%s.neardup_guarded_row, %s%s FROM %s%s.%I%s%s',
                  CASE WHEN key.n > 0 THEN CASE key.n WHEN 1 THEN '' ELSE 'ROW' END ||
                       '(' || key.columns || ')::pg_catalog.text' ELSE 'NULL' END,
                  coalesce('(' || d.condition || ') IS TRUE', 'true'),
                  t.typnamespace::regnamespace, d.signature, d.scope,
                  CASE c.relkind WHEN 'p' THEN '' ELSE 'ONLY ' END, c.relnamespace::regnamespace, c.relname,
                  ' WHERE ' || pg_get_expr(i.indpred, i.indrelid), ' ORDER BY ' || key.columns),
           d.threshold
    FROM _neardup_guard_definition(relation, trigger) AS d
    LEFT JOIN pg_class AS c ON c.oid = relation
    LEFT JOIN pg_type AS t ON t.oid = 'neardup_guarded_row'::regtype
    LEFT JOIN pg_index AS i ON i.indexrelid = d.index
    CROSS JOIN LATERAL (SELECT count(*) AS n,
                               string_agg(format('%I.%I', c.relname, a.attname), ', ' ORDER BY k.n) AS columns
                        FROM pg_index AS p CROSS JOIN unnest(p.indkey) WITH ORDINALITY AS k(attnum, n)
                        JOIN pg_attribute AS a ON a.attrelid = p.indrelid AND a.attnum = k.attnum
                        WHERE p.indrelid = c.oid AND p.indisprimary AND k.n <= p.indnkeyatts) AS key;
END;
COMMENT ON FUNCTION neardup_guard_rows(regclass, name) IS 'query of the rows that a guard checks, and its threshold';

-- Groups within the guard's scope, as if the rows were inserted one after another.
CREATE FUNCTION neardup_guard_violations(relation regclass, trigger name)
    RETURNS TABLE (row_table regclass, row_place tid, row_key text,
                   near_table regclass, near_place tid, near_key text,
                   similarity double precision)
    LANGUAGE sql VOLATILE STRICT PARALLEL UNSAFE ROWS 100
BEGIN ATOMIC
    SELECT (c.id)."table", (c.id).place, (c.id).key,
           (c.representative)."table", (c.representative).place, (c.representative).key, c.similarity
    FROM neardup_guard_rows($1, $2) AS r,
         near_duplicate_groups(NULL::neardup_guarded_row, r.query, r.threshold) AS c
    WHERE c.similarity IS NOT NULL AND (c.id).checked;
END;
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
