--
-- Exclusion constraints: the operator, the rows that are refused, and when
--

-- Each meets the condition of the other
SELECT t, m, n, a %% b AS match, b %% a AS commuted
FROM (VALUES (0.5, 0.5, 'jaccard', 'jaccard'), (0.5, 0.6, 'jaccard', 'jaccard'),
             (0.5, 0.5, 'containment', 'containment'), (0.6, 0.6, 'containment', 'containment'),
             (1, 0.5, 'contains', 'containment'), (1, 1, 'shared', 'shared'), (2, 1, 'shared', 'shared')) v (t, u, m, n),
     signature_query(signature_from('{1,2}'), t, m) AS a, signature_query(signature_from('{1}'), u, n) AS b;
SELECT signature(signature_query(signature_from('{1,2}'), 0.5, 'dice'));
SELECT signature_query(signature_from('{1}'), 1) %% signature_query(shingles('one two three'), 1);

CREATE FUNCTION make(id bigint) RETURNS signature LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN id % 97 = 0 THEN NULL ELSE signature_from(array(
         SELECT hashint8extended(id / 6 * 1000 + i, 0) FROM generate_series(1, 40) i
         WHERE hashint8extended(i, id) & 7 > 0)) END
$$;
\set VERBOSITY terse

-- A near-duplicate of a stored row is refused, by all measures
CREATE TABLE docs (id int PRIMARY KEY, sig signature,
  CONSTRAINT no_near_duplicates EXCLUDE USING neardup (signature_query(sig, 0.8) WITH %%));
SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conname = 'no_near_duplicates';
INSERT INTO docs VALUES (1, make(1));
INSERT INTO docs VALUES (2, make(1));
\set VERBOSITY default
INSERT INTO docs VALUES (2, signature_from(array[5,6,7])), (3, signature_from(array[5,6,7]));
\set VERBOSITY terse
INSERT INTO docs VALUES (2, make(1)), (3, make(7)) ON CONFLICT DO NOTHING RETURNING id;
INSERT INTO docs VALUES (2, make(1)) ON CONFLICT ON CONSTRAINT no_near_duplicates DO NOTHING RETURNING id;
UPDATE docs SET sig = make(1) WHERE id = 3;
UPDATE docs SET sig = make(1) WHERE id = 1;
DELETE FROM docs WHERE id = 1;
INSERT INTO docs VALUES (2, make(1));
INSERT INTO docs VALUES (4, NULL), (5, NULL);
DELETE FROM docs;

CREATE FUNCTION let_in(condition text, OUT partly bool, OUT kept bool, OUT left_out bool) LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM docs;
  EXECUTE format('ALTER TABLE docs DROP CONSTRAINT no_near_duplicates,
    ADD CONSTRAINT no_near_duplicates EXCLUDE USING neardup (signature_query(sig, %s) WITH %%%%)', condition);
  INSERT INTO docs SELECT id, make(id) FROM generate_series(1::bigint, 700) id
  ON CONFLICT DO NOTHING;
  PERFORM neardup_index_check('no_near_duplicates', true);
  EXECUTE format('SELECT bool_and(EXISTS (SELECT FROM docs d WHERE near_duplicate(d.sig, make(id), %s)))
    FROM generate_series(1::bigint, 700) id WHERE id NOT IN (SELECT id FROM docs)', condition) INTO left_out;
  EXECUTE format('SELECT NOT EXISTS (SELECT FROM docs a, docs b WHERE a.id < b.id AND near_duplicate(a.sig, b.sig, %s))', condition) INTO kept;
  partly := count(*) BETWEEN 118 AND 690 FROM docs;
END $$;
SELECT c, l.* FROM unnest(array['0.6', '0.8', '0.8, ''dice''', '0.8, ''cosine''', '30, ''shared''']) c, let_in(c) l;

-- Stored rows, and rows of different specs
ALTER TABLE docs DROP CONSTRAINT no_near_duplicates;
INSERT INTO docs SELECT 1000 + id, sig FROM docs WHERE id < 7 AND sig IS NOT NULL;
ALTER TABLE docs ADD CONSTRAINT no_near_duplicates EXCLUDE USING neardup (signature_query(sig, 0.8) WITH %%);
DELETE FROM docs WHERE id > 1000;
ALTER TABLE docs ADD CONSTRAINT no_near_duplicates EXCLUDE USING neardup (signature_query(sig, 0.8) WITH %%)
  DEFERRABLE INITIALLY DEFERRED;
INSERT INTO docs VALUES (2000, shingles('one two three four'));
INSERT INTO docs VALUES (2001, supershingles(shingles('one two three four')));
INSERT INTO docs VALUES (2002, shingles('one two three four'));
DELETE FROM docs WHERE id >= 2000;

-- Deferred to the end of the transaction
BEGIN;
INSERT INTO docs SELECT 1000 + id, sig FROM docs WHERE id < 7 AND sig IS NOT NULL;
DELETE FROM docs WHERE id < 7;
COMMIT;
INSERT INTO docs SELECT id - 1000, sig FROM docs WHERE id > 1000;
BEGIN;
INSERT INTO docs SELECT id - 1000, sig FROM docs WHERE id > 1000;
COMMIT;

-- The operator is looked up by the index, whatever thresholds rows have
CREATE TABLE several (id int, query signature_query);
INSERT INTO several SELECT id, signature_query(make(id), 0.5 + id % 5 / 10.0, CASE id % 3 WHEN 0 THEN 'containment' WHEN 1 THEN 'dice' ELSE 'jaccard' END)
FROM generate_series(1, 300) id;
CREATE INDEX several_query ON several USING neardup (query);
CREATE FUNCTION pairs() RETURNS text LANGUAGE sql SET enable_hashjoin = off AS
$$ SELECT count(*) || ' ' || md5(string_agg(a.id || ' ' || b.id, ',' ORDER BY a.id, b.id)) FROM several a, several b WHERE a.query %% b.query $$;
SELECT pairs() AS pairs \gset
SET enable_seqscan = off;
SET plan_cache_mode = force_generic_plan;
PREPARE looked_up (signature_query) AS SELECT FROM several WHERE query %% $1;
EXPLAIN (COSTS OFF) EXECUTE looked_up (NULL);
DEALLOCATE looked_up;
RESET plan_cache_mode;
SELECT pairs() = :'pairs' AS same;
RESET enable_seqscan;
SELECT neardup_explain_index('several_query', 0.8);

-- Errors; PostgreSQL 17 names the schema of the operator
\set VERBOSITY sqlstate
CREATE TABLE refused (sig signature, EXCLUDE USING neardup (sig WITH %));
\set VERBOSITY terse
CREATE TABLE refused (sig signature, EXCLUDE USING neardup (sig WITH %%));
CREATE TABLE refused (sig signature, EXCLUDE USING gin (signature_query(sig, 0.8) WITH %%));
DROP TABLE docs, several;
DROP FUNCTION let_in, pairs, make;

-- The index of a constraint answers conditions on the signature, at any threshold, and orders by distance
CREATE TABLE kept (id int PRIMARY KEY, body text, sig signature,
  CONSTRAINT kept_once EXCLUDE USING neardup (signature_query(sig, 0.8) WITH %%) WHERE (id > 0),
  CONSTRAINT kept_body EXCLUDE USING neardup (signature_query(shingles(body, 1), 0.9) WITH %%));
INSERT INTO kept SELECT id, 'text ' || id, signature_from(array(
    SELECT hashint8extended(id / 4 * 1000 + k, 0) FROM generate_series(1, 40) k WHERE hashint8extended(k, id) & 3 > 0))
FROM generate_series(1::bigint, 1000) id ON CONFLICT DO NOTHING;
ANALYZE kept;
SELECT count(*) BETWEEN 900 AND 999 AS some FROM kept;
SELECT i, neardup_explain_index(i, 0.3) FROM unnest('{kept_once,kept_body}'::regclass[]) i;
SET max_parallel_workers_per_gather = 0;
CREATE TABLE answers (plan text, near text, half text, body text, nearest text);
CREATE PROCEDURE answer(plan text) LANGUAGE sql AS $$
  INSERT INTO answers SELECT plan,
    (SELECT string_agg(a.id || ' ' || b.id, ',' ORDER BY a.id, b.id) FROM kept a, LATERAL (SELECT id FROM kept b WHERE near_duplicate(b.sig, a.sig, 0.3) AND id > 0 OFFSET 0) b WHERE a.id < 60),
    (SELECT string_agg(a.id || ' ' || b.id, ',' ORDER BY a.id, b.id) FROM kept a, LATERAL (SELECT id FROM kept b WHERE contained_in(b.sig, a.sig, 0.7) AND id > 0 OFFSET 0) b WHERE a.id < 60),
    (SELECT string_agg(a.id || ' ' || b.id, ',' ORDER BY a.id, b.id) FROM kept a, LATERAL (SELECT id FROM kept b WHERE near_duplicate(shingles(b.body, 1), shingles(a.body, 1), 0.4) OFFSET 0) b WHERE a.id < 9),
    (SELECT string_agg(a.id || ' ' || b.d, ',' ORDER BY a.id, b.d) FROM kept a, LATERAL (SELECT b.sig <-> a.sig AS d FROM kept b WHERE id > 0 ORDER BY b.sig <-> a.sig LIMIT 4) b WHERE a.id < 60)
$$;
SET enable_indexscan = off;
SET enable_bitmapscan = off;
CALL answer('seqscan');
RESET enable_indexscan;
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT id FROM kept WHERE near_duplicate(sig, signature_from(ARRAY[1]), 0.85) AND id > 0;
EXPLAIN (COSTS OFF) SELECT id FROM kept WHERE id > 0 ORDER BY sig <-> signature_from(ARRAY[1]) LIMIT 3;
EXPLAIN (COSTS OFF) SELECT id FROM kept WHERE near_duplicate(shingles(body, 1), shingles('text 3', 1), 0.5);
CALL answer('indexscan');
RESET enable_bitmapscan;
SET enable_indexscan = off;
CALL answer('bitmapscan');
RESET enable_indexscan;
RESET enable_seqscan;
SELECT count(*), count(DISTINCT near), count(DISTINCT half), count(DISTINCT body), count(DISTINCT nearest), min(length(near)) > 500 AS many,
       min(length(half)) > 500 AS many, min(length(body)) > 10 AS many, min(length(nearest)) > 500 AS many FROM answers;
DROP TABLE answers, kept;
