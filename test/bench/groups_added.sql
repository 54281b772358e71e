--
-- test/bench/groups_added.sql
--		Groups of 10,000 new rows with 330,720 others that have groups, and of all
--		rows at once.
--
-- Portions Copyright (c) 2026, the neardup developers
--
\pset footer off
SET client_min_messages = warning;
SET work_mem = '64MB';

-- The new rows are any of the descriptions, and the last in the table
CREATE TABLE stored AS
SELECT row_number() OVER (ORDER BY n > 330720, id)::int AS id, sig, body
FROM (SELECT *, shingles(body) AS sig, row_number() OVER (ORDER BY hashint4extended(id, 1)) AS n FROM docs) numbered
ORDER BY 1;
-- the first and the last word are others
CREATE TABLE changed AS
SELECT id, shingles(regexp_replace(regexp_replace(body, '\w+', 'v' || id), '\w+(\W*)$', 'w' || id || '\1')) AS sig
FROM stored WHERE id > 330720;
ALTER TABLE stored DROP body;
CREATE TABLE old_groups AS
SELECT id::int, representative::int, similarity
FROM near_duplicate_groups('SELECT id, sig FROM stored WHERE id <= 330720', 0.8);
-- groups in a table of their own, in one whose index has all, in the rows themselves
CREATE TABLE groups AS SELECT * FROM old_groups;
ALTER TABLE groups ADD PRIMARY KEY (id);
CREATE TABLE covered AS SELECT * FROM old_groups;
ALTER TABLE covered ADD PRIMARY KEY (id) INCLUDE (representative, similarity);
CREATE TABLE whole AS
SELECT id, sig, representative, similarity FROM stored LEFT JOIN old_groups USING (id) ORDER BY id;
ALTER TABLE stored ADD PRIMARY KEY (id);
ALTER TABLE whole ADD PRIMARY KEY (id);
CREATE INDEX ON stored USING neardup (sig);
CREATE INDEX ON whole USING neardup (sig);
VACUUM ANALYZE;
CHECKPOINT;
WITH olds AS (SELECT DISTINCT sig FROM stored WHERE id <= 330720)
SELECT (SELECT count(*) FROM stored JOIN olds USING (sig) WHERE id > 330720) AS "of 10,000 with an old row's signature",
       (SELECT count(*) FROM changed JOIN olds USING (sig)) AS "of the changed";

-- The statement that adds rows of `new_rows` to groups that are in a table, or in the rows
CREATE FUNCTION adding(new_rows text, groups text) RETURNS text LANGUAGE sql
RETURN format('near_duplicate_groups_add(%L, %L, 0.8)', 'SELECT id, sig FROM ' || new_rows,
  CASE groups WHEN 'whole' THEN 'SELECT id, sig, representative, similarity FROM whole
                                 WHERE representative IS NOT NULL AND near_duplicate(sig, $1, 0.8)'
  ELSE format('SELECT s.id, s.sig, g.representative, g.similarity FROM stored s JOIN %I g USING (id)
               WHERE near_duplicate(s.sig, $1, 0.8)', groups) END);
CREATE FUNCTION all_anew() RETURNS text LANGUAGE sql
RETURN $$near_duplicate_groups('SELECT id, sig FROM stored', 0.8)$$;

CREATE PROCEDURE measure_all(run int) LANGUAGE plpgsql AS $$
DECLARE
  new_rows text := 'stored WHERE id > 330720';
BEGIN
  CALL measure('all anew', run, 'SELECT count(*) FROM ' || all_anew());
  CALL measure('10,000', run, 'SELECT count(*) FROM ' || adding(new_rows, 'groups'));
  CALL measure('10,000, an index that has the groups', run, 'SELECT count(*) FROM ' || adding(new_rows, 'covered'));
  CALL measure('10,000, groups in the rows themselves', run, 'SELECT count(*) FROM ' || adding(new_rows, 'whole'));
  CALL measure('1,000', run, 'SELECT count(*) FROM ' || adding(new_rows || ' AND id <= 331720', 'groups'));
  CALL measure('10,000, none equal', run, 'SELECT count(*) FROM ' || adding('changed', 'groups'));
  CALL measure('1,000, none equal', run, 'SELECT count(*) FROM ' || adding('changed WHERE id <= 331720', 'groups'));
  CREATE TABLE written AS SELECT * FROM old_groups;
  ALTER TABLE written ADD PRIMARY KEY (id);
  COMMIT;
  CALL measure('10,000, written', run,
    format('INSERT INTO written SELECT * FROM %s ON CONFLICT (id) DO UPDATE
            SET representative = excluded.representative, similarity = excluded.similarity', adding(new_rows, 'groups')));
  DROP TABLE written;
  CALL measure('all anew, written', run,
    format('CREATE TABLE written AS SELECT id::int, representative::int, similarity FROM %s; ALTER TABLE written ADD PRIMARY KEY (id)', all_anew()));
  DROP TABLE written;
  COMMIT;
END $$;

SELECT format('CALL measure_all(%s)', run) FROM generate_series(1, :runs) run \gexec
-- a new session
\connect
CALL measure('all anew, the first statement of a session', 1, 'SELECT count(*) FROM ' || all_anew());
\connect
CALL measure('10,000, the first statement of a session', 1, 'SELECT count(*) FROM ' || adding('stored WHERE id > 330720', 'groups'));

SELECT name, round(median_cpu(name)::numeric, 3) AS s,
       '1/' || round((median_cpu(CASE WHEN name ~ 'written' THEN 'all anew, written'
                                 WHEN name ~ 'session' THEN 'all anew, the first statement of a session'
                                 ELSE 'all anew' END) / median_cpu(name))::numeric, 1) AS "all anew, likewise (1/20)"
FROM (SELECT name, min(ctid) FROM taken GROUP BY name) t ORDER BY min;
DROP TABLE stored, changed, old_groups, groups, covered, whole;
