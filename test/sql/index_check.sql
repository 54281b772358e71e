--
-- Checks of an index of access method neardup: their memory, and errors that they find
--

CREATE SCHEMA index_check;
SET search_path = index_check, public;
SET client_min_messages = warning;
SET max_parallel_maintenance_workers = 0;

-- The indexed function records the session's whole megabytes above test.before, and
-- returns another value for row test.other; test.wanted is a further row that an
-- index should have
CREATE FUNCTION memory_now() RETURNS bigint LANGUAGE sql AS $$
    SELECT sum(total_bytes)::bigint FROM pg_backend_memory_contexts $$;
CREATE SEQUENCE gained MINVALUE 0;
CREATE FUNCTION set_of(id int) RETURNS signature LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    IF id % 10000 = 0 AND current_setting('test.before', true) <> '' THEN
        PERFORM setval('index_check.gained', greatest((SELECT last_value FROM index_check.gained),
            (index_check.memory_now() - current_setting('test.before')::bigint) >> 20));
    END IF;
    IF id = current_setting('test.other', true)::int THEN
        RETURN public.signature_from(ARRAY[7]);
    END IF;
    RETURN public.signature_from(CASE WHEN id % 5000 > 0 THEN ARRAY[id % 7, id, id / 3 + 1000000] END);
END $$;
CREATE FUNCTION is_wanted(id int) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    RETURN id % 9 > 0 OR id = current_setting('test.wanted', true)::int;
END $$;

CREATE TABLE docs AS SELECT id FROM generate_series(1, 70000) id;
CREATE INDEX docs_set ON docs USING neardup (set_of(id)) WHERE is_wanted(id);
INSERT INTO docs SELECT id FROM generate_series(70001, 70100) id;
DELETE FROM docs WHERE id % 90 = 1;
VACUUM docs;
INSERT INTO docs SELECT id FROM generate_series(70101, 70120) id;
SELECT count(*) FILTER (WHERE rows > 20000) AS large FROM neardup_index_segments('docs_set');
SELECT count(*) FROM docs WHERE id % 9 > 0;

-- More memory than the rows need, and much less
SELECT neardup_index_check('docs_set'), neardup_index_check('docs_set', true);
SET maintenance_work_mem = '1MB';
SELECT neardup_index_check('docs_set');
SELECT setval('gained', 0), set_config('test.before', memory_now()::text, false) <> '' AS before;
SELECT neardup_index_check('docs_set', true);
SELECT last_value < 3 AS little FROM gained;
SET test.before = '';

-- A row that differs or is missing: the first, the last, one in between
SET test.other = 2;
SELECT neardup_index_check('docs_set', true);
\set VERBOSITY sqlstate
SET test.other = 70120;
SELECT neardup_index_check('docs_set', true);
SET test.other = 0;
SET test.wanted = 34506;
SELECT neardup_index_check('docs_set', true);
SET test.wanted = 63000;
SELECT neardup_index_check('docs_set', true);
RESET maintenance_work_mem;
SELECT neardup_index_check('docs_set', true);
SET test.wanted = 0;
SELECT neardup_index_check('docs_set', true);

-- An index expression is computed as the owner of the table, who does not get the
-- privileges of the checking role; settings are restored
CREATE ROLE neardup_index_owner;
GRANT ALL ON SCHEMA index_check TO neardup_index_owner;
SET ROLE neardup_index_owner;
CREATE FUNCTION set_by(id int) RETURNS signature LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    IF current_setting('test.told', true) <> '' THEN
        RAISE WARNING 'as the owner: %', current_user = 'neardup_index_owner';
        PERFORM set_config('test.left', 'something', false);
    END IF;
    RETURN public.signature_from(ARRAY[id]);
END $$;
CREATE TABLE owned AS SELECT 1 AS id;
CREATE INDEX owned_set ON owned USING neardup (set_by(id)) WHERE set_by(id) IS NOT NULL;
RESET ROLE;
SET test.told = 'yes';
\set VERBOSITY terse
SELECT neardup_index_check('owned_set', true);
SELECT current_setting('test.left', true) AS left, current_user = session_user AS myself;
SET test.told = '';

-- No relation, or one of another kind
CREATE FUNCTION state_of(query text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE query;
    RETURN 'none';
EXCEPTION WHEN OTHERS THEN
    RETURN SQLSTATE || ' ' || SQLERRM;
END $$;
SELECT f, state_of(format('SELECT FROM ' || f, 4000000000)) AS missing, state_of(format('SELECT FROM ' || f, '''owned''::regclass')) AS "table",
       state_of(format('SELECT FROM ' || f, '''owned_set''::regclass')) AS index
FROM unnest('{neardup_index_check(%s),neardup_index_segments(%s),neardup_index_merges(%s),"neardup_explain_index(%s, 0.5)",
              "neardup_guard_check(%s, ''t'')","neardup_guard_rows(%s, ''t'')","neardup_guard_violations(%s, ''t'')"}'::text[]) f;

DROP SCHEMA index_check CASCADE;
DROP ROLE neardup_index_owner;
