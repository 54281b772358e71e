--
-- First mistakes: calls that users try, and the error
--
\set VERBOSITY default
\set SHOW_CONTEXT never
CREATE TEMP TABLE docs (id int PRIMARY KEY, body text);
INSERT INTO docs VALUES (1, 'The foxes jumped over the dogs.'), (2, 'A fox jumps over dogs.');

-- The analysis is last, or is named; in shingles() it may follow the document
SELECT shingles(body, 2, 'english') = shingles(body, 'english k=2') AS shingles, shingles(body, 'english') = shingles(body, analysis => 'english') AS without_k,
       shingles(body, analysis => 'english k=2') = shingles(body, 2, 'english') AS k_of_analysis,
       minhash(body, size => 64, analysis => 'english k=2') = minhash(body, 64, 2, 'english') AS minhash,
       top_words(body, analysis => 'english', n => 2) = top_words(body, 2, 'english') AS top_words
FROM docs ORDER BY id;
-- literals have the expected types
SELECT shingles('a b', 'english') = shingles('a b'::text, analysis => 'english') AS analysis, shingles('a b', 2) = shingles('a b'::text, k => 2) AS k,
       minhash('a b', 64) = minhash('a b'::text, size => 64) AS size, top_words('a b', 3) = top_words('a b'::text, n => 3) AS n,
       anchored('a b', '{a}', 2) = anchored('a b'::text, anchors => ARRAY['a'], k => 2) AS anchored;
SELECT anchored(body, 'fox') FROM docs;
SELECT minhash(body, 'english') FROM docs;
-- one form with an analysis, but for the short one of shingles
SELECT p.proname, count(*) FROM pg_proc p JOIN pg_depend d ON d.objid = p.oid AND d.classid = 'pg_proc'::regclass AND d.deptype = 'e' JOIN pg_extension e ON e.oid = d.refobjid AND extname = 'neardup'
WHERE prokind = 'f' AND proargnames[1] = 'doc' AND NOT 'lexicon'::regtype = ANY (proargtypes)
GROUP BY p.proname HAVING count(*) > 1 ORDER BY p.proname;

-- Arguments given twice, misspelt, or in the place of others
SELECT shingles('a b', 5, 'english k=3');
SELECT shingles('a b', -1);
\set VERBOSITY terse
SELECT minhash('a b', analysis => 'englich'); -- the hint lists what the libstemmer knows
\set VERBOSITY default
SELECT shingles('a b', '3');
SELECT shingles('a b', 'english, stop');
SELECT shingles('a b', 'html,english');
SELECT shingles('a b', 'language=english');
SELECT shingles('a b', 'en');
SELECT shingles('a b', 'english stopwords');
SELECT shingles('a b', 'char');
SELECT shingles('a b', 'k = 5');
SELECT weighted_words('a b', 'tf-idf');
SELECT passages_html('a b', 'a b', analysis => 'english min_words=3');
SELECT highlight('a b', 'a b', analysis => 'MaxWords=3');
SELECT minhash(body, 0) FROM docs;
SELECT shingles('english', 3, 'some text');
SELECT minhash('english', analysis => 'some text');
SELECT shingles(body, 'english', 'stop') FROM docs;
SELECT minhash(body, 'english', 'stop') FROM docs;
SELECT weighted_words(body, 'english', 'tf-idf') FROM docs;
SELECT cosine(weighted_words('a b', lexicon_agg(body)), weighted_words('a b')) FROM docs;
SELECT weighted_words('a b', 'k=2');
SELECT text_hash('a b', 'english k=2'), text_hash('a b', 'k=1');
SELECT long_sentences('A b. C d.', analysis => 'k=2');
SELECT intersection_size(weighted_words('a b'), weighted_words('a c'));
SELECT containment(minhash('a b'), minhash('a c'));

-- Groups
SELECT * FROM near_duplicate_groups('docs', 0.8);
SELECT * FROM near_duplicate_groups('SELECT shingles(body) FROM docs', 0.8);
SELECT * FROM near_duplicate_groups('SELECT id, body FROM docs', 0.8);
SELECT * FROM near_duplicate_groups('SELECT id::text, shingles(body) FROM docs', 0.8);
SELECT * FROM near_duplicate_groups('SELECT id, shingles(body) FROM docs', 0.8, 'greedy');

-- Evaluation: the error names the query that lacks something
SELECT * FROM evaluate_methods('docs', 'SELECT 1 AS id1, 2 AS id2', '{shingles(body)}');
SELECT * FROM evaluate_methods('TABLE docs', 'truth', '{shingles(body)}');
SELECT * FROM evaluate_methods('SELECT body FROM docs', 'SELECT 1 AS id1, 2 AS id2', '{shingles(body)}');
SELECT * FROM evaluate_methods('TABLE docs', 'SELECT 1, 2', '{shingles(body)}');
SELECT * FROM evaluate_methods('TABLE docs', 'SELECT 1 AS id1, 2 AS b', '{shingles(body)}');
SELECT * FROM evaluate_methods('TABLE docs', 'SELECT', '{shingles(body)}');
SELECT * FROM evaluate_methods('TABLE no_table', 'SELECT 1 AS id1, 2 AS id2', '{shingles(body)}');
SELECT * FROM evaluate_methods('DELETE FROM docs', 'SELECT 1 AS id1, 2 AS id2', '{shingles(body)}');
SELECT * FROM evaluate_methods('', 'SELECT 1 AS id1, 2 AS id2', '{shingles(body)}');
SELECT found, true_pairs FROM evaluate_methods('TABLE docs;', E'SELECT 1 AS id1, 2 AS id2;\n', '{shingles(body)}');
-- ... or its context does
CREATE FUNCTION pg_temp.argument(documents text, method text, condition text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    context text;
BEGIN
    PERFORM evaluate_methods(documents, 'SELECT 1 AS id1, 2 AS id2', ARRAY[method], condition => condition);
    RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS context = PG_EXCEPTION_CONTEXT;
    RETURN SQLERRM || ': ' || split_part(context, E'\n', 1);
END $$;
SELECT pg_temp.argument(documents, method, condition)
FROM (VALUES ('SELECT id FROM no_table', 'shingles(body)', 'true'), ('TABLE docs', 'shingles(body', 'true'), ('TABLE docs', 'shingles(body)', 'true)')) v (documents, method, condition);

-- Pairs
CALL neardup_pairs('docs', 'id', 'body', 0.8, 'pairs');
CALL neardup_pairs('docs', 'nr', 'body', 0.8, 'pairs');

-- Misspelt languages; a number in the place of the document
SELECT shingles('a b', 'ukranian');
SELECT shingles('a b', 'englisch minlen=2');
-- a catalogue's code of a language, and its own name
SELECT shingles('a b', 'per stop');
SELECT shingles('a b', 'deutsch');
SELECT shingles(3, 'a b');
-- A look-up by another analysis than the column's: by index as by a sequential scan
CREATE TABLE looked_up (id int, body text, language text, sig signature GENERATED ALWAYS AS (shingles(body, 'unit=char k=3')) STORED,
    of_language signature GENERATED ALWAYS AS (shingles(body, language || ' k=2')) STORED, stored signature);
INSERT INTO looked_up VALUES (1, 'the same text', 'english'), (2, 'der gleiche Text', 'german');
UPDATE looked_up SET stored = shingles(body);
CREATE INDEX looked_up_sig ON looked_up USING neardup (sig);
CREATE INDEX looked_up_body ON looked_up USING neardup (shingles(body, 2));
CREATE INDEX looked_up_language ON looked_up USING neardup (of_language);
CREATE INDEX looked_up_stored ON looked_up USING neardup (stored);
SELECT id FROM looked_up WHERE near_duplicate(sig, shingles('the same text'), 0.5);
SET enable_seqscan = off;
SELECT id FROM looked_up WHERE near_duplicate(sig, shingles('the same text'), 0.5);
SET enable_bitmapscan = off;
SELECT id FROM looked_up WHERE near_duplicate(sig, shingles('the same text'), 0.5);
SELECT id FROM looked_up WHERE near_duplicate(shingles(body, 2), shingles('the same text'), 0.5);
-- no row, and nothing to warn of: the right analysis, a spec of each row, an unknown one
SELECT count(*) FROM looked_up WHERE near_duplicate(sig, shingles('another', 'unit=char k=3'), 0.5);
SELECT count(*) FROM looked_up WHERE near_duplicate(shingles(body, 2), shingles('another', 'k=2'), 0.5);
SELECT count(*) FROM looked_up WHERE near_duplicate(of_language, shingles('the same text', 'french k=2'), 0.5);
SELECT count(*) FROM looked_up WHERE near_duplicate(stored, shingles('the same text', 2), 0.5);
RESET enable_seqscan;
RESET enable_bitmapscan;
DROP TABLE looked_up;
