--
-- A library: collections, a queue, statistics, checks
--

\set regression :DBNAME
\set SHOW_CONTEXT never
CREATE DATABASE neardup_library;
\connect neardup_library
SET client_min_messages = warning;
CREATE EXTENSION neardup;
CREATE SCHEMA l;
CREATE EXTENSION neardup_library SCHEMA l;
SET search_path = public, l;

-- A document: 40 words; four in a row differ in the last word only, and every
-- hundredth is of another kind
CREATE FUNCTION doc(n int) RETURNS text LANGUAGE sql IMMUTABLE
RETURN (SELECT string_agg('word' || ('x' || substr(md5(n / 4 || '.' || i), 1, 4))::bit(16)::int % 700,
                          ' ' ORDER BY i) || ' ending' || n % 4
        FROM generate_series(1, 40) i);

SELECT library_create('papers', 'https://example.org/papers');
SELECT library_create('books', 'shelf 3', 'top_words', 'english stop minlen=3');
-- Errors
SELECT library_create('papers');
SELECT library_create('x', method => 'guess');
\set VERBOSITY terse
SELECT library_create('x', analysis => 'klingon'); -- the hint lists what the libstemmer knows
\set VERBOSITY default
SELECT library_create('x', threshold => 2);
SELECT count(library_add('none', 'a', 'b'));
SELECT library_check('a', 'none');
SELECT count(*) FROM library;
-- a null is an error
\set VERBOSITY terse
SELECT library_create(NULL);
SELECT library_create('x', analysis => NULL);
SELECT library_create('x', method => NULL);
SELECT library_create('x', threshold => NULL);
SELECT library_add('papers', NULL, 'text');
SELECT library_add('papers', 'a', NULL);
SELECT library_add(NULL, 'a', 'text');
SELECT library_pause('papers', NULL);
SELECT library_pause(NULL);
SELECT library_drop(NULL);
SELECT library_dequeue(NULL);
SELECT library_retry(NULL);
SELECT library_remove(NULL, 'a');
SELECT library_remake(NULL);
\set VERBOSITY default
SELECT library_remove('papers', NULL);
SELECT _library_index_batch('papers', NULL);
CALL library_index(batch => NULL);
CALL library_index(tolerance => NULL);
CALL library_index(tolerance => -1);
CALL library_index(tolerance => 'NaN');
SELECT _library_settle('papers', NULL);
SELECT library_create('');
SELECT name, waiting FROM libraries ORDER BY name;

-- The queue, and its states
SELECT count(library_add('papers', 'paper/' || n, doc(n))) FROM generate_series(1, 400) n;
SELECT count(library_add('books', 'book/' || n, doc(n) || ' ' || doc(n + 1000))) FROM generate_series(1, 200) n;
SELECT name, documents, words, waiting, failed, workers, state, progress FROM libraries ORDER BY name;
SELECT _library_index_batch('papers', 100), _library_index_batch(batch => 50);
SELECT name, documents, words, waiting, failed, workers, state, progress FROM libraries ORDER BY name;
SELECT library_pause('papers');
SELECT _library_index_batch('papers');
SELECT state FROM libraries WHERE name = 'papers';
SELECT library_pause('papers', false);
CALL library_index(batch => 70);
SELECT name, documents, words, waiting, failed, state, progress, last_indexed <= now() AS past
FROM libraries ORDER BY name;
SELECT count(*), count(DISTINCT document_id) FROM library_signature;

-- Statistics are those of the documents, whatever the changes
CREATE VIEW wrong AS
SELECT name, documents, words, s.counted, (lexicon_describe(s.lexicon)).length
FROM libraries JOIN library l USING (name)
LEFT JOIN (SELECT d.library_id AS id, count(*) AS counted, lexicon_agg(d.body, l.analysis) AS lexicon
           FROM library_document d JOIN library l ON l.id = d.library_id GROUP BY 1) s USING (id)
WHERE (libraries.documents, words)
      IS DISTINCT FROM (coalesce(s.counted, 0), coalesce((lexicon_describe(s.lexicon)).length, 0));
SELECT * FROM wrong;
SELECT library_remove('papers', 'paper/7'), library_remove('papers', 'paper/7');
SELECT count(library_add('papers', 'paper/8', 'quite another text than there was before'));
SELECT count(library_add('papers', 'paper/8', 'another text, which comes before the first is indexed'));
SELECT count(library_add('papers', 'paper/9', 'this will go'));
SELECT library_remove('papers', 'paper/9');
CALL library_index('papers');
DELETE FROM library_document WHERE library_id = 1 AND id % 10 = 3;
UPDATE library_document SET body = body || ' more' WHERE library_id = 1 AND id % 10 = 4;
SELECT * FROM wrong;
SELECT documents FROM libraries WHERE name = 'papers';
SELECT count(*) FROM library_document d WHERE address IN ('paper/7', 'paper/9');
-- and so are the signatures
SELECT count(*) FROM library_signature s LEFT JOIN library_document d ON d.id = document_id WHERE d.id IS NULL;
SELECT count(*) FROM library_document d LEFT JOIN library_signature s ON s.document_id = d.id
WHERE d.library_id = 1 AND s.signature IS DISTINCT FROM shingles(d.body);
SELECT library_remake('papers') = count(*) FROM library_document WHERE library_id = 1;
-- summed rows have the same counts
SELECT _library_sum_changes(1);
SELECT count(*) FROM library_change WHERE library_id = 1;
SELECT * FROM wrong;

-- Checks: the same as a comparison with each document
CREATE VIEW naive AS
SELECT n, d.id, similarity(shingles(doc(n)), shingles(d.body)) AS similarity
FROM generate_series(1, 500) n, library_document d
WHERE d.library_id = 1 AND similarity(shingles(doc(n)), shingles(d.body)) >= 0.8;
CREATE VIEW checked AS
SELECT n, c.document, c.similarity FROM generate_series(1, 500) n, library_check(doc(n), 'papers') c;
SELECT count(*) > 1000 AS many FROM checked;
(TABLE naive EXCEPT TABLE checked) UNION ALL (TABLE checked EXCEPT TABLE naive);
-- threshold above and below the library's own
SELECT found_in, address, round(similarity::numeric, 2) AS similarity
FROM library_check(doc(101), 'papers', 0.99);
SELECT count(*) FROM library_check(doc(101), 'papers', 0.1);
-- in all libraries, each with its own method
SELECT found_in, address, round(similarity::numeric, 2) AS similarity
FROM library_check(doc(120) || ' ' || doc(1120)) ORDER BY found_in, address COLLATE "C";
SELECT found_in, address FROM library_check('Nobody has ever written that.');
SELECT found_in, address, a_start, a_length, b_start, b_length, passage_similarity
FROM library_passages('Said: ' || doc(102), 'papers', 0.9) ORDER BY address COLLATE "C";
-- cases, from any part of a document, in each library by its own method
SELECT found_in, address, a_start, a_length, b_start, b_length, similarity, coverage
FROM library_cases('Said: ' || doc(102), 'papers', candidates => 1, min_length => 40);
SELECT DISTINCT found_in FROM library_cases(doc(120), min_length => 40) ORDER BY 1;
SELECT count(*) FROM library_cases('Nobody has ever written that.', min_length => 0);

-- The method of the source: signatures are six words chosen by the library's statistics
SELECT (lexicon_describe(statistics)).documents FROM library WHERE name = 'books';
SELECT count(*), count(*) FILTER (WHERE s.signature = top_words(d.body, l.statistics, 6, 'tf-ridf')) AS same
FROM library_document d JOIN library l ON l.id = d.library_id JOIN library_signature s ON s.document_id = d.id
WHERE l.name = 'books';
-- a few more documents use the present statistics, many more cause new ones
SELECT count(library_add('books', 'book/201', doc(1201)));
CALL library_index();
SELECT (lexicon_describe(statistics)).documents FROM library WHERE name = 'books';
SELECT count(library_add('books', 'book/' || n, doc(n))) FROM generate_series(202, 260) n;
CALL library_index();
SELECT lexicon_describe(min(l.statistics::text)::lexicon) = lexicon_describe(lexicon_agg(d.body, l.analysis)) AS all_of_them, count(*),
       count(*) FILTER (WHERE s.signature = top_words(d.body, l.statistics, 6, 'tf-ridf')) AS same
FROM library_document d JOIN library l ON l.id = d.library_id JOIN library_signature s ON s.document_id = d.id
WHERE l.name = 'books';
SELECT * FROM wrong;

-- A document that cannot be indexed stays, with the reason, and does not block others
CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.body LIKE '%poison%' THEN RAISE data_exception USING MESSAGE = 'not that'; END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER refuse BEFORE INSERT ON library_document FOR EACH ROW EXECUTE FUNCTION refuse();
SELECT count(library_add('papers', 'new/' || n, CASE WHEN n = 3 THEN 'poison' ELSE doc(n + 5000) END))
FROM generate_series(1, 6) n;
CALL library_index();
SELECT waiting, failed, state FROM libraries WHERE name = 'papers';
SELECT address, error FROM library_queue;
SELECT count(*) FROM library_document WHERE address LIKE 'new/%';
DROP TRIGGER refuse ON library_document;
SELECT library_retry('papers');
CALL library_index();
SELECT waiting, failed FROM libraries WHERE name = 'papers';
SELECT count(*) FROM library_document WHERE address LIKE 'new/%';

-- A batch is bounded in bytes, too, but never empty
INSERT INTO library_queue (library_id, address, body)
SELECT 1, 'long/' || n, repeat('long text ' || n || ' ', 500000) FROM generate_series(1, 4) n;
SELECT _library_index_batch(), _library_index_batch(), _library_index_batch();
CALL library_index(batch => 0);

-- Batches see the work of other workers, whatever the default isolation level
CREATE TABLE levels (level text);
CREATE FUNCTION note_level() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO levels VALUES (current_setting('transaction_isolation'));
  RETURN NULL;
END $$;
CREATE TRIGGER note_level AFTER INSERT ON library_document EXECUTE FUNCTION note_level();
SELECT count(library_add('papers', 'level/' || n, doc(n + 7000))) FROM generate_series(1, 3) n;
SET default_transaction_isolation = 'repeatable read';
CALL library_index(batch => 2);
RESET default_transaction_isolation;
TABLE levels;
DROP TRIGGER note_level ON library_document;
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT library_remake('papers');
ROLLBACK;

-- Removed from the queue: indexed documents stay
SELECT count(library_add('papers', 'later/' || n, doc(n + 6000))) FROM generate_series(1, 30) n;
SELECT _library_index_batch('papers', 10);
SELECT library_dequeue('papers');
SELECT count(*) FROM library_document WHERE address LIKE 'later/%';

-- Signatures are computed as the owner, whoever calls
CREATE ROLE neardup_other SUPERUSER;
SET ROLE neardup_other;
SELECT library_create('others') > 0 AS made, library_remake('papers') > 0 AS remade;
RESET ROLE;
SELECT count(DISTINCT relowner) FROM pg_class WHERE relname LIKE 'library_signature%' AND relkind IN ('r', 'p');
SELECT library_drop('others');
DROP ROLE neardup_other;

-- Statistics of deleted documents, while another session has those of added ones
CREATE TEMP TABLE changes AS TABLE library_change;
DELETE FROM library_change;
INSERT INTO library_change (library_id, documents, words, gone)
SELECT library_id('papers'), -1, -2, (SELECT lexicon_agg('one word'::text)) FROM generate_series(1, 2);
SELECT _library_sum_changes(library_id('papers'));
SELECT documents, words, come IS NULL AS none_come, (lexicon_describe(gone)).documents FROM library_change;
DELETE FROM library_change;
INSERT INTO library_change SELECT * FROM changes;
DROP TABLE changes;

-- Privileges: the owner of the extension creates libraries, others need grants
CREATE ROLE neardup_reader;
CREATE ROLE neardup_worker;
GRANT USAGE ON SCHEMA l TO neardup_reader, neardup_worker;
GRANT SELECT ON library, library_document, library_queue, library_signature, library_change, libraries
TO neardup_reader, neardup_worker;
GRANT INSERT, UPDATE, DELETE ON library_document, library_queue, library_signature, library_change
TO neardup_worker;
SET ROLE neardup_worker;
SELECT count(library_add('papers', 'by worker', doc(9000)));
CALL library_index();
SET ROLE neardup_reader;
SELECT address FROM library_check(doc(9000));
SELECT state FROM libraries ORDER BY name;
SELECT count(library_add('papers', 'by reader', doc(9001)));
SELECT library_create('by reader');
RESET ROLE;

-- A document without words has no signature, also if all are rebuilt
SELECT library_create('t', '', 'top_words', 'english stop') > 0 AS t, library_create('zz', '', 'top_words') > 0 AS zz;
SELECT count(library_add('t', address, body))
FROM (VALUES ('1', 'The pool stays closed until Friday because of repairs.'), ('2', 'and the of')) v (address, body);
SELECT count(library_add('zz', '1', 'the cat sleeps'));
CALL library_index();
SELECT name, (lexicon_describe(statistics)).documents, count(s.signature) AS signatures
FROM library l LEFT JOIN library_signature s ON s.library_id = l.id
WHERE name IN ('t', 'zz') GROUP BY l.name, (lexicon_describe(statistics)).documents ORDER BY 1;
SELECT library_remake('t');
-- An error in one library blocks no other one, and is reported at the end
SELECT count(library_add(l, '3', 'the dog sleeps')) FROM unnest('{t,zz}'::text[]) l;
SELECT format('CREATE VIEW leaning AS TABLE library_signature_%s', id) FROM library WHERE name = 't' \gexec
CALL library_index();
SELECT name, (lexicon_describe(statistics)).documents FROM library WHERE name IN ('t', 'zz') ORDER BY 1;
DROP VIEW leaning;
CALL library_index();
SELECT name, (lexicon_describe(statistics)).documents FROM library WHERE name IN ('t', 'zz') ORDER BY 1;
SELECT library_drop(l) FROM unnest('{t,zz}'::text[]) l;

-- Columns that signatures and statistics depend on cannot change; others can
UPDATE library SET analysis = 'english' WHERE name = 'papers';
UPDATE library SET method = 'top_words' WHERE name = 'papers';
UPDATE library SET id = 77 WHERE name = 'papers';
DELETE FROM library WHERE name = 'papers';
TRUNCATE library;
UPDATE library SET threshold = 0.7, address = 'elsewhere', analysis = analysis WHERE name = 'papers';

-- All tables may be published: deleted rows are identified by a key
SET client_min_messages = error;	-- wal_level need not be logical
CREATE PUBLICATION everything FOR ALL TABLES;
RESET client_min_messages;
SELECT library_remake('papers') = count(*) FROM library_document WHERE library_id = library_id('papers');
SELECT _library_sum_changes(library_id('papers'));
SELECT neardup_accept_versions(force => true);

-- A dropped library drops all its rows
SELECT library_drop('papers');
SELECT count(*) FROM library_document WHERE library_id = 1;
SELECT count(*) FROM library_change WHERE library_id = 1;
SELECT to_regclass('l.library_signature_1');
SELECT * FROM wrong;
-- and so does TRUNCATE, if there can be no invisible rows
BEGIN ISOLATION LEVEL REPEATABLE READ;
TRUNCATE library_document;
ROLLBACK;
TRUNCATE library_document;
SELECT name, documents, words, state FROM libraries;
SELECT count(*) FROM library_signature;
SELECT * FROM wrong;

-- A batch of one library does not read the queue of a paused one
SELECT count(library_create(name)) FROM (VALUES ('paused'), ('going')) v (name);
SELECT library_pause('paused');
INSERT INTO library_queue (library_id, address, body)
SELECT library_id(CASE WHEN n <= 20000 THEN 'paused' ELSE 'going' END), n, 'what is in document ' || n FROM generate_series(1, 20003) n;
ANALYZE library_queue;
CREATE VIEW gone_through AS
SELECT pg_stat_get_xact_tuples_returned(min(indrelid::int)::oid) + sum(pg_stat_get_xact_tuples_fetched(indexrelid)) AS entries
FROM pg_index WHERE indrelid = 'library_queue'::regclass;
BEGIN;
SELECT entries AS before FROM gone_through \gset
SELECT _library_index_batch();
SELECT entries - :before < 1000 AS few FROM gone_through;
COMMIT;
SELECT name, documents, waiting, state FROM libraries WHERE name IN ('paused', 'going') ORDER BY name;
-- documents added while their library was dropped are removed with the next library
INSERT INTO library_queue (library_id, address, body) VALUES (-1, 'late', 'text');
SELECT library_drop('paused'), library_drop('going');
SELECT count(*) FROM library_queue;
DROP VIEW gone_through;

DROP PUBLICATION everything;

-- Every object has a comment, and is in the extension's schema
SELECT o.type, o.identity
FROM pg_depend d CROSS JOIN pg_identify_object(d.classid, d.objid, d.objsubid) o
WHERE d.deptype = 'e' AND d.refclassid = 'pg_extension'::regclass
  AND d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'neardup_library')
  AND o.type IN ('table', 'view', 'function', 'procedure')
  AND (coalesce(obj_description(d.objid, d.classid::regclass::name), '') = '' OR o.schema <> 'l')
ORDER BY o.identity COLLATE "C";

-- Dropping it leaves nothing
DROP VIEW wrong, naive, checked;
DROP EXTENSION neardup_library;
SELECT count(*) FROM pg_class WHERE relname LIKE 'library%';
DROP OWNED BY neardup_reader, neardup_worker;
DROP ROLE neardup_reader, neardup_worker;
\connect :regression
DROP DATABASE neardup_library;
