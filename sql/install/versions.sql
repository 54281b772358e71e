
-- Versions: what was there when signatures were made

-- stable: another version of a library may be loaded next time
CREATE FUNCTION neardup_components(OUT component text, OUT version text) RETURNS SETOF record
    AS 'MODULE_PATHNAME'
    LANGUAGE C STABLE STRICT PARALLEL SAFE ROWS 30;
COMMENT ON FUNCTION neardup_components() IS 'what decides which words a text has, and the versions that are there now';

-- Dumps take its rows along.  No key: restoring adds the rows of before to
-- those of CREATE EXTENSION.
CREATE TABLE neardup_recorded_versions (component text NOT NULL, version text NOT NULL);
-- rows that a dump has added may be equal; without an identity nobody could delete
-- them where all tables are published
ALTER TABLE neardup_recorded_versions REPLICA IDENTITY FULL;
COMMENT ON TABLE neardup_recorded_versions IS 'versions of what made the words of stored signatures';
COMMENT ON COLUMN neardup_recorded_versions.component IS 'as neardup_components() names it';
COMMENT ON COLUMN neardup_recorded_versions.version IS 'the version it had';
SELECT pg_catalog.pg_extension_config_dump('neardup_recorded_versions', '');
GRANT SELECT ON neardup_recorded_versions TO PUBLIC;
-- The script of a trusted extension runs as the cluster's superuser.  The rows
-- are the creator's, the table is not: all sessions read it.
GRANT INSERT, DELETE ON neardup_recorded_versions TO @extowner@;
INSERT INTO neardup_recorded_versions SELECT component, version FROM neardup_components();

CREATE FUNCTION neardup_accept_versions() RETURNS void
    LANGUAGE sql VOLATILE PARALLEL UNSAFE
BEGIN ATOMIC
    DELETE FROM neardup_recorded_versions;
    INSERT INTO neardup_recorded_versions SELECT component, version FROM neardup_components();
END;
COMMENT ON FUNCTION neardup_accept_versions() IS 'records that all that is stored has been made with the versions that are there now';
