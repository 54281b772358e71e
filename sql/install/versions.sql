
-- versions of the components that made stored signatures

-- stable: another version of a library may be loaded next time
CREATE FUNCTION neardup_components(OUT component text, OUT version text) RETURNS SETOF record
    AS 'MODULE_PATHNAME'
    LANGUAGE C STABLE STRICT PARALLEL SAFE ROWS 40;
COMMENT ON FUNCTION neardup_components() IS 'components that decide the words of a text, each with a hash of its behaviour, and the version of ICU';

-- Dumps contain its rows.  There is no key, since a restore adds them to the rows of CREATE EXTENSION.
CREATE TABLE neardup_recorded_versions (component text NOT NULL, version text NOT NULL);
-- A replica identity lets rows be deleted if all tables are published; a restore may have
-- added equal rows.
ALTER TABLE neardup_recorded_versions REPLICA IDENTITY FULL;
COMMENT ON TABLE neardup_recorded_versions IS 'versions of the components that made stored signatures';
COMMENT ON COLUMN neardup_recorded_versions.component IS 'name, as in neardup_components()';
COMMENT ON COLUMN neardup_recorded_versions.version IS 'its hash, or the version of ICU';
SELECT pg_catalog.pg_extension_config_dump('neardup_recorded_versions', '');
GRANT SELECT ON neardup_recorded_versions TO PUBLIC;
-- A trusted extension's script runs as the cluster's superuser, who owns the table; its
-- creator may change the rows.
GRANT INSERT, DELETE ON neardup_recorded_versions TO @extowner@;
INSERT INTO neardup_recorded_versions SELECT component, version FROM neardup_components();

-- As the owner of the table, who may have written the expression
CREATE FUNCTION neardup_outdated(relation regclass, signature_column name, expression text DEFAULT NULL,
                                 percent double precision DEFAULT 100, OUT compared bigint, OUT outdated bigint)
    AS 'MODULE_PATHNAME'
    LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION neardup_outdated(regclass, name, text, double precision) IS 'number of rows of a table, or of a sample of its pages, whose signature would now differ';

CREATE FUNCTION neardup_accept_versions(force boolean DEFAULT false) RETURNS void
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    schema_name CONSTANT name := (SELECT n.nspname FROM pg_catalog.pg_extension e
        JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) e.extnamespace
        WHERE e.extname OPERATOR(pg_catalog.=) 'neardup');
    signatures record;
    outdated bigint := 0;
BEGIN
    IF NOT (pg_catalog.has_table_privilege(pg_catalog.format('%I.neardup_recorded_versions', schema_name), 'DELETE')
            AND pg_catalog.has_table_privilege(pg_catalog.format('%I.neardup_recorded_versions', schema_name), 'INSERT')) THEN
        RAISE EXCEPTION 'permission denied for table neardup_recorded_versions'
            USING ERRCODE = 'insufficient_privilege', HINT = pg_catalog.format(
                'The role that created the extension has the right: SET ROLE %I.', (
                SELECT pg_catalog.pg_get_userbyid(extowner) FROM pg_catalog.pg_extension WHERE extname OPERATOR(pg_catalog.=) 'neardup'));
    END IF;
    FOR signatures IN SELECT c.oid::regclass AS relation, a.attname, a.attgenerated OPERATOR(pg_catalog.=) 's' AS generated
        FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) a.attrelid
        JOIN pg_catalog.pg_type t ON t.oid OPERATOR(pg_catalog.=) a.atttypid
        JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) t.typnamespace
        WHERE n.nspname OPERATOR(pg_catalog.=) schema_name AND t.typname OPERATOR(pg_catalog.=) 'signature'
            AND c.relkind OPERATOR(pg_catalog.=) ANY ('{r,m}') AND c.relpersistence OPERATOR(pg_catalog.<>) 't' AND NOT a.attisdropped
        ORDER BY c.oid, a.attnum
    LOOP
        EXIT WHEN force;
        IF signatures.generated THEN
            EXECUTE pg_catalog.format('SELECT outdated FROM %I.neardup_outdated($1, $2)', schema_name)
                INTO outdated USING signatures.relation, signatures.attname;
            CONTINUE WHEN outdated OPERATOR(pg_catalog.=) 0;
        END IF;
        RAISE EXCEPTION 'column "%" of table % %', signatures.attname, signatures.relation, CASE WHEN signatures.generated
            THEN pg_catalog.format('has %s rows that are out of date', outdated)
            ELSE 'is stored, and may be out of date' END
            USING ERRCODE = 'object_not_in_prerequisite_state', HINT = CASE WHEN signatures.generated
                THEN 'Make their signatures again, or say force => true.'
                ELSE 'Count its rows by neardup_outdated(table, column, expression), then say force => true.' END;
    END LOOP;
    EXECUTE pg_catalog.format('DELETE FROM %I.neardup_recorded_versions', schema_name);
    EXECUTE pg_catalog.format('INSERT INTO %1$I.neardup_recorded_versions '
        'SELECT component, version FROM %1$I.neardup_components()', schema_name);
END
$$;
COMMENT ON FUNCTION neardup_accept_versions(boolean) IS 'records the present versions for all stored signatures, if no row is out of date';
