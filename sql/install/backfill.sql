
-- backfill

-- As it commits, it can have no search path of its own.  The caller's decides what the expression
-- means; all other names are qualified.
CREATE PROCEDURE neardup_backfill(relation regclass, signature_column name, expression text, batch integer DEFAULT 10000)
    LANGUAGE plpgsql
AS $$
DECLARE
    owner CONSTANT name := (SELECT r.rolname FROM pg_catalog.pg_class c
        JOIN pg_catalog.pg_roles r ON r.oid OPERATOR(pg_catalog.=) c.relowner WHERE c.oid OPERATOR(pg_catalog.=) relation);
    parts CONSTANT regclass[] := ARRAY(SELECT c.oid::regclass FROM pg_catalog.pg_class c
        WHERE c.relkind OPERATOR(pg_catalog.<>) 'p' AND (c.oid OPERATOR(pg_catalog.=) relation OR c.oid OPERATOR(pg_catalog.=) ANY (
            SELECT t.relid::oid FROM pg_catalog.pg_partition_tree(relation) t)) ORDER BY c.oid);
    part regclass;
    pages bigint;
    step bigint;
    block bigint;
    differ text;
    changed bigint;
    in_pass bigint;
    filled bigint := 0;
    done boolean;
BEGIN
    IF relation IS NULL OR signature_column IS NULL OR expression IS NULL OR batch IS NULL THEN
        RAISE EXCEPTION 'arguments of neardup_backfill() must not be null' USING ERRCODE = 'null_value_not_allowed';
    ELSIF batch OPERATOR(pg_catalog.<) 1 THEN
        RAISE EXCEPTION 'batch is out of range: %', batch
            USING ERRCODE = 'invalid_parameter_value', DETAIL = 'It is a number of rows, from 1 on.';
    ELSIF owner OPERATOR(pg_catalog.<>) current_user AND pg_catalog.pg_has_role(owner, 'USAGE') THEN
        RAISE EXCEPTION 'table % belongs to role "%"', relation, owner
            USING ERRCODE = 'insufficient_privilege', DETAIL = 'Its triggers would run with more rights.',
                  HINT = pg_catalog.format('SET ROLE %I', owner);
    END IF;
    FOREACH part IN ARRAY parts LOOP
        -- First the rows without a value, so that a new call soon is where the last one was.  Then those
        -- with another one; until there are none, as an UPDATE may move a row to a page that was done.
        differ := pg_catalog.format('%I IS NULL AND ', signature_column);
        LOOP
            pages := pg_catalog.pg_relation_size(part) OPERATOR(pg_catalog./) pg_catalog.current_setting('block_size')::bigint;
            step := (SELECT GREATEST(1, batch::float8 OPERATOR(pg_catalog.*) c.relpages OPERATOR(pg_catalog./) c.reltuples)::bigint FROM pg_catalog.pg_class c
                     WHERE c.oid OPERATOR(pg_catalog.=) part AND c.reltuples OPERATOR(pg_catalog.>) 0 AND c.relpages OPERATOR(pg_catalog.>) 0);
            step := COALESCE(step, GREATEST(1, batch OPERATOR(pg_catalog./) 50));
            block := 0;
            in_pass := 0;
            WHILE block OPERATOR(pg_catalog.<) pages LOOP
                BEGIN
                    EXECUTE pg_catalog.format('UPDATE ONLY %1$s SET %2$I = (%3$s
) WHERE ctid OPERATOR(pg_catalog.>=) $1 AND ctid OPERATOR(pg_catalog.<) $2 AND %4$s pg_catalog.record_image_ne(ROW(%2$I), ROW((%3$s
)))', part, signature_column, expression, differ)
                        USING pg_catalog.format('(%s,0)', block)::tid, pg_catalog.format('(%s,0)', block OPERATOR(pg_catalog.+) step)::tid;
                    GET DIAGNOSTICS changed = ROW_COUNT;
                    done := true;
                EXCEPTION WHEN deadlock_detected OR serialization_failure THEN
                    done := false;
                END;
                COMMIT;
                CONTINUE WHEN NOT done;
                block := block OPERATOR(pg_catalog.+) step;
                in_pass := in_pass OPERATOR(pg_catalog.+) changed;
                filled := filled OPERATOR(pg_catalog.+) changed;
                RAISE NOTICE '%: % of % pages, % rows filled', part, LEAST(block, pages), pages, filled;
            END LOOP;
            EXIT WHEN differ OPERATOR(pg_catalog.=) '' AND in_pass OPERATOR(pg_catalog.=) 0;
            differ := '';
        END LOOP;
    END LOOP;
END
$$;
COMMENT ON PROCEDURE neardup_backfill(regclass, name, text, integer) IS 'fills a column of a table that is in use, in batches';
