--
-- Merging of kept groups: foreign keys point to the representative, the others go
--

CREATE SCHEMA groups_merge;
\set SHOW_CONTEXT never
SET search_path = groups_merge, public;
CREATE FUNCTION f(family int, n int) RETURNS signature LANGUAGE sql IMMUTABLE
RETURN signature_from(ARRAY(SELECT generate_series(family * 1000 + n, family * 1000::bigint + n + 30)));

-- 1, 2 and 3 are a group, 4 and 5, and 6
CREATE TABLE docs (id int PRIMARY KEY, tenant int NOT NULL DEFAULT 1, code text NOT NULL, parent int REFERENCES docs, sig signature, UNIQUE (tenant, code));
CREATE INDEX ON docs USING neardup (sig);
INSERT INTO docs VALUES (1, 1, 'a', NULL, f(1, 0)), (2, 1, 'b', NULL, f(1, 1)), (3, 1, 'c', 2, f(1, 2)), (4, 1, 'd', 3, f(2, 0)), (5, 1, 'e', 4, f(2, 1)), (6, 1, 'f', 5, f(3, 0));
SELECT near_duplicate_groups_create('docs_groups', 'docs', 'id', 'sig', 0.8);
-- plain; of two columns; deferred; from partitions, into which a row moves; a list of tags, each once a document
CREATE TABLE notes (id int PRIMARY KEY, doc int REFERENCES docs ON DELETE CASCADE);
CREATE TABLE "By code" (tenant int, "Code" text, n int, FOREIGN KEY (tenant, "Code") REFERENCES docs (tenant, code) DEFERRABLE INITIALLY DEFERRED);
CREATE TABLE parts (doc int REFERENCES docs ON UPDATE RESTRICT, n int) PARTITION BY LIST (doc);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES IN (1, 3, 5);
CREATE TABLE parts_2 PARTITION OF parts DEFAULT;
CREATE TABLE tags (doc int REFERENCES docs, tag text, PRIMARY KEY (doc, tag));
CREATE TABLE linked (a int REFERENCES docs, b int REFERENCES docs, UNIQUE (b));
INSERT INTO notes SELECT i, (i - 1) % 6 + 1 FROM generate_series(1, 12) i;
INSERT INTO "By code" SELECT 1, chr(96 + i), i FROM generate_series(1, 6) i UNION ALL SELECT 1, NULL, 7;
INSERT INTO parts SELECT i, i FROM generate_series(1, 6) i;
INSERT INTO tags VALUES (1, 'x'), (2, 'x'), (2, 'y'), (3, 'y'), (3, 'z'), (5, 'x');
INSERT INTO linked VALUES (1, 3), (2, 5), (3, 6), (4, NULL), (5, NULL);
\pset format unaligned
SELECT near_duplicate_groups_merge_script('docs_groups');
\pset format aligned
CALL near_duplicate_groups_merge('docs_groups');
-- the two choices
SET check_function_bodies = off;
CREATE FUNCTION links() RETURNS TABLE (what text, links text) LANGUAGE sql AS $$
    SELECT 'docs', string_agg(id || ':' || coalesce(parent::text, '-'), ' ' ORDER BY id) FROM docs
    UNION ALL SELECT 'groups', string_agg(id || ':' || representative, ' ' ORDER BY id) FROM docs_groups
    UNION ALL SELECT 'merged', string_agg(id || ':' || representative, ' ' ORDER BY id) FROM docs_groups_merged
    UNION ALL SELECT 'notes', string_agg(id || ':' || doc, ' ' ORDER BY id) FROM notes
    UNION ALL SELECT 'by code', string_agg(n || ':' || coalesce("Code", '-'), ' ' ORDER BY n) FROM "By code"
    UNION ALL SELECT 'parts', string_agg(n || ':' || doc || ' in ' || tableoid::regclass, ' ' ORDER BY n) FROM parts
    UNION ALL SELECT 'tags', string_agg(doc || ':' || tag, ' ' ORDER BY doc, tag) FROM tags
    UNION ALL SELECT 'linked', string_agg(coalesce(a::text, '-') || ':' || coalesce(b::text, '-'), ' ' ORDER BY a, b) FROM linked $$;
BEGIN;
CALL near_duplicate_groups_merge('docs_groups', conflicts => 'keep');
SELECT * FROM links();
ROLLBACK;
BEGIN;
CALL near_duplicate_groups_merge('docs_groups', conflicts => 'delete');
SELECT * FROM links();
COMMIT;
-- nothing is left to do; the script can be run as it is
INSERT INTO docs VALUES (7, 1, 'g', 6, f(3, 1));
UPDATE notes SET doc = 7 WHERE id = 1;
\set ECHO errors
SELECT near_duplicate_groups_merge_script('docs_groups') \gexec
\set ECHO all
SELECT * FROM links();
SELECT near_duplicate_groups_check('docs_groups');

-- Uniqueness that cannot be foreseen
CREATE UNIQUE INDEX notes_some ON notes (doc) WHERE id < 3;
SELECT s FROM near_duplicate_groups_merge_script('docs_groups') s WHERE s LIKE '--%';
SELECT near_duplicate_groups_merge_script('docs_groups', 'both');
SELECT near_duplicate_groups_merge_script('docs');
CREATE ROLE neardup_owner;
GRANT ALL ON SCHEMA groups_merge TO neardup_owner;
ALTER TABLE docs_groups OWNER TO neardup_owner;
CALL near_duplicate_groups_merge('docs_groups');

SET client_min_messages = warning;
DROP SCHEMA groups_merge CASCADE;
DROP ROLE neardup_owner;
