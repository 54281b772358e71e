--
-- Hashes of the components that cut and stem words are recorded; a change is reported
--
\set regression :DBNAME
CREATE DATABASE neardup_versions;
\connect neardup_versions
CREATE SCHEMA near;
CREATE EXTENSION neardup SCHEMA near;

SELECT component, version ~ '^[0-9a-f.]+$' AS fits FROM near.neardup_components()
WHERE component IN ('ICU', 'letters', 'stems of english', 'stems of russian') ORDER BY component COLLATE "C";
SELECT count(*) AS differences FROM near.neardup_components() c
FULL JOIN near.neardup_recorded_versions r USING (component, version) WHERE c IS NULL OR r IS NULL;
-- a stemmer is identified by its results
SELECT count(*) = count(DISTINCT version) AS all_differ FROM near.neardup_components();

-- No change: no warning
\connect
SELECT cardinality(near.shingles('a rose is a rose')::bigint[]) AS features;

-- Another ICU with the same results: no warning
INSERT INTO near.neardup_recorded_versions VALUES ('ICU', '60.1'), ('stems of klingon', '1');
\connect
SELECT cardinality(near.shingles('a rose is a rose')::bigint[]) AS features;
-- One with other results, as after an upgrade; a dump has its row beside today's.  One
-- warning a session, for any role, and only about used components.
INSERT INTO near.neardup_recorded_versions VALUES ('letters', '0'), ('stems of german', '0');
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
-- accept them
\connect
SELECT near.neardup_accept_versions();
\connect
SELECT cardinality(near.shingles('a rose is a rose')::bigint[]) AS features;

-- Warnings are about stemmers and segmenters that the session uses
INSERT INTO near.neardup_recorded_versions VALUES ('ICU', '60.1'), ('sentences', '0'), ('words of Thai', '0'), ('stems of german', '0');
\set VERBOSITY terse
\connect
SELECT cardinality(near.shingles('a rose is a rose', 1, 'english')::bigint[]) AS features;
\connect
SELECT cardinality(near.shingles('a rose is a rose', 1, 'german')::bigint[]) AS features;
\connect
SELECT cardinality(near.shingles('a rose', 1, 'unit=sentence')::bigint[]) AS features;
\connect
SELECT cardinality(near.shingles('ภาษาไทย', 1)::bigint[]) AS features;
-- stored signatures that are joined, too
CREATE TABLE docs (id int PRIMARY KEY, body text, made near.signature GENERATED ALWAYS AS (near.shingles(body, 1, 'german')) STORED, kept near.signature);
INSERT INTO docs SELECT i, 'Haus ' || i FROM generate_series(1, 40) i;
UPDATE docs SET kept = near.shingles(body, 1, 'german');
ANALYZE docs;
\connect
SET search_path = near, public;
SET enable_nestloop = off;
SELECT count(*) FROM docs a JOIN docs b ON near_duplicate(a.kept, b.kept, 0.9);
SELECT count(*) FROM docs a JOIN docs b ON near_duplicate(a.kept, b.kept, 0.9);
RESET search_path;
-- The number of outdated rows, and when versions are accepted
SELECT * FROM near.neardup_outdated('docs', 'made');
SELECT * FROM near.neardup_outdated('docs', 'kept');
\set VERBOSITY default
SELECT * FROM near.neardup_outdated('docs', 'kept', $$near.shingles(body, 1, 'german')$$);
-- parts of the table that cannot be read
SELECT * FROM near.neardup_outdated('docs', 'made', percent => 0);
SELECT * FROM near.neardup_outdated('docs', 'made', percent => 100.5);
SELECT * FROM near.neardup_outdated('docs', 'made', percent => 'NaN');
UPDATE docs SET kept = near.shingles('something else') WHERE id <= 3;
SELECT * FROM near.neardup_outdated('docs', 'kept', $$near.shingles(body, 1, 'german')$$);
SELECT compared <= 40 AS some, outdated <= 3 AS few FROM near.neardup_outdated('docs', 'kept', $$near.shingles(body, 1, 'german')$$, 50);
SELECT near.neardup_accept_versions();
SET search_path = near, public;
UPDATE docs SET kept = near.shingles(body, 1, 'german') WHERE kept IS DISTINCT FROM near.shingles(body, 1, 'german');
RESET search_path;
SELECT near.neardup_accept_versions(force => true);
ALTER TABLE docs DROP COLUMN kept;
CREATE MATERIALIZED VIEW seen AS SELECT made FROM docs;
SELECT near.neardup_accept_versions();
DROP MATERIALIZED VIEW seen;
SELECT near.neardup_accept_versions();
-- as if another stemmer had made a row
CREATE TABLE other (body text, sig near.signature GENERATED ALWAYS AS (near.shingles(body, 1, 'german')) STORED);
INSERT INTO other VALUES ('Häuser');
CREATE OR REPLACE FUNCTION near.other_word(text) RETURNS text LANGUAGE sql IMMUTABLE RETURN 'Haus';
ALTER TABLE other DROP COLUMN sig, ADD sig near.signature GENERATED ALWAYS AS (near.shingles(near.other_word(body), 1, 'german')) STORED;
CREATE OR REPLACE FUNCTION near.other_word(text) RETURNS text LANGUAGE sql IMMUTABLE RETURN 'Baum';
SELECT near.neardup_accept_versions();
DROP TABLE docs, other;
DROP FUNCTION near.other_word;

-- It moves with the extension
INSERT INTO near.neardup_recorded_versions VALUES ('ICU', '1.0'), ('letters', '0');
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
