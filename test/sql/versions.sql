--
-- What decides which words a text has is recorded, and what has changed is told
--
\set regression :DBNAME
CREATE DATABASE neardup_versions;
\connect neardup_versions
CREATE SCHEMA near;
CREATE EXTENSION neardup SCHEMA near;

SELECT component, version ~ '^[0-9a-f.]+$' AS told FROM near.neardup_components()
WHERE component IN ('ICU', 'Unicode', 'stemmer english', 'stemmer russian') ORDER BY component COLLATE "C";
SELECT count(*) AS differences FROM near.neardup_components() c
FULL JOIN near.neardup_recorded_versions r USING (component, version) WHERE c IS NULL OR r IS NULL;
-- stemmers are known by what they do
SELECT count(*) = count(DISTINCT version) AS all_differ FROM near.neardup_components();

-- All is as it was: nothing is told
\connect
SELECT cardinality(near.shingles('a rose is a rose')::bigint[]) AS features;

-- Another ICU, as if it had been upgraded; in a dump the row is there beside
-- that of today.  Once in a session, whoever it is.
INSERT INTO near.neardup_recorded_versions VALUES ('ICU', '60.1'), ('ICU', '60.1'), ('stemmer klingon', '1');
CREATE ROLE neardup_reader;
GRANT USAGE ON SCHEMA near TO neardup_reader;
\connect
SET ROLE neardup_reader;
\set VERBOSITY terse
SELECT near.similarity('features{0000000000000001}', 'features{0000000000000001}');
SELECT cardinality(near.shingles('a rose is a rose')::bigint[]) AS features;
SELECT cardinality(near.shingles('a rose is a rose')::bigint[]) AS features;
SELECT near.neardup_accept_versions();
\set VERBOSITY default
-- the way out
\connect
SELECT near.neardup_accept_versions();
\connect
SELECT cardinality(near.shingles('a rose is a rose')::bigint[]) AS features;

-- It moves with the extension
INSERT INTO near.neardup_recorded_versions VALUES ('Unicode', '1.0');
ALTER EXTENSION neardup SET SCHEMA public;
\connect
\set VERBOSITY terse
SELECT cardinality(shingles('a rose is a rose')::bigint[]) AS features;
\set VERBOSITY default
DROP EXTENSION neardup;
DROP OWNED BY neardup_reader;
DROP ROLE neardup_reader;

\connect :regression
DROP DATABASE neardup_versions;
