--
-- First mistakes: the form of a call that people try, and what they are told
--
\set VERBOSITY default
\set SHOW_CONTEXT never
CREATE TEMP TABLE docs (id int PRIMARY KEY, body text);
INSERT INTO docs VALUES (1, 'The foxes jumped over the dogs.'), (2, 'A fox jumps over dogs.');

-- The analysis stands right behind the document, in every function, is named,
-- or stands last: all the same
SELECT shingles(body, 'english', 2) = shingles(body, 2, 'english') AS shingles, shingles(body, 'english') = shingles(body, analysis => 'english') AS without_k,
       minhash(body, 'english', 64, 2) = minhash(body, 64, 2, 'english') AS minhash, minhash(body, 'english') = minhash(body, analysis => 'english') AS default,
       bottom(body, 'english', 4, 2) = bottom(body, 4, 2, 'english') AS bottom, sample(body, 'english', 2, 1) = sample(body, 2, 1, 'english') AS sample,
       supershingles(body, 'english', 5, 4, 2) = supershingles(body, 5, 4, 2, 'english') AS super, megashingles(body, 'english', 5, 4, 2) = megashingles(body, 5, 4, 2, 'english') AS mega,
       simhash(body, 'english', 2) = simhash(body, 2, 'english') AS simhash,
       winnow(body, 'english', 2, 1) = winnow(body, 2, 1, 'english') AS winnow, every_nth(body, 'english', 2, 1) = every_nth(body, 2, 1, 'english') AS every_nth,
       anchored(body, 'english', ARRAY['fox'], 2) = anchored(body, ARRAY['fox'], 2, 'english') AS anchored, sif(body, 'english', ARRAY['fox'], 5) = sif(body, ARRAY['fox'], 5, 'english') AS sif,
       koala(body, 'english', 3, 4) = koala(body, 3, 4, 'english') AS koala, top_words(body, 'english', 2) = top_words(body, 2, 'english') AS top_words
FROM docs ORDER BY id;
SELECT minhash(body, 64, 'english k=2') = minhash(body, 64, 2, 'english') AS minhash, bottom(body, 4, 'english') = bottom(body, 4, analysis => 'english') AS bottom,
       sample(body, 2, 'english') = sample(body, 2, analysis => 'english') AS sample, winnow(body, 4, 'english') = winnow(body, 4, analysis => 'english') AS winnow,
       every_nth(body, 2, 'english') = every_nth(body, 2, analysis => 'english') AS every_nth, anchored(body, ARRAY['fox'], 'english') = anchored(body, ARRAY['fox'], analysis => 'english') AS anchored
FROM docs ORDER BY id;
-- literals, too, are what they look like
SELECT minhash('a b', 'english') = minhash('a b'::text, analysis => 'english') AS analysis, minhash('a b', 64) = minhash('a b'::text, size => 64) AS size,
       top_words('a b', 'english') = top_words('a b'::text, analysis => 'english') AS top_words, top_words('a b', 3) = top_words('a b'::text, n => 3) AS n,
       shingles('a b', 'english', 5) = shingles('a b'::text, 5, 'english') AS shingles;
SELECT anchored(body, '{fox}', 'english') = anchored(body, ARRAY['fox'], 'english') AS anchored, anchored(body, 'english', '{fox}') = anchored(body, ARRAY['fox'], 'english') AS analysis_first,
       anchored(body, '{fox}', 2) = anchored(body, ARRAY['fox'], 2) AS k, anchored(body, 'english', '{fox}', 2) = anchored(body, ARRAY['fox'], 2, 'english') AS all,
       sif(body, '{fox}', 'english') = sif(body, ARRAY['fox'], analysis => 'english') AS sif, sif(body, 'english', '{fox}') = sif(body, ARRAY['fox'], analysis => 'english') AS sif_analysis_first,
       sif(body, '{fox}', 5) = sif(body, ARRAY['fox'], 5) AS length, sif(body, 'english', '{fox}', 5) = sif(body, ARRAY['fox'], 5, 'english') AS sif_all
FROM docs ORDER BY id;
SELECT anchored(body, 'fox', 'english') FROM docs;
SELECT anchored(body, 'fox') FROM docs;
-- a function has an analysis somewhere behind the document if it takes one
SELECT p.oid::regprocedure FROM pg_proc p JOIN pg_depend d ON d.objid = p.oid AND d.classid = 'pg_proc'::regclass AND d.deptype = 'e' JOIN pg_extension e ON e.oid = d.refobjid AND extname = 'neardup'
WHERE 'analysis' = ANY (proargnames) AND proargnames[1] = 'doc' AND prokind = 'f' AND NOT 'lexicon'::regtype = ANY (proargtypes)
  AND NOT EXISTS (SELECT FROM pg_proc q WHERE q.proname = p.proname AND q.proargtypes[0] = 'text'::regtype AND q.proargtypes[1] = 'text'::regtype);

-- What is said twice, misspelt, or in the place of something else
SELECT shingles('a b', 'english k=3', 5);
SELECT shingles('a b', 'english', 0);
\set VERBOSITY terse
SELECT minhash('a b', 'englich'); -- the hint lists what the libstemmer knows
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
SELECT passages_html('a b', 'a b', 'english min_words=3');
SELECT highlight('a b', 'a b', 'MaxWords=3');
SELECT minhash(body, 'english', 0) FROM docs;
SELECT shingles('english', 'some text', 3);
SELECT minhash('english', 'some text');
SELECT shingles(body, 'english', 'stop') FROM docs;
SELECT shingles('a b', 'english', '5');
SELECT minhash(body, 'english', 'stop') FROM docs;
SELECT weighted_words(body, 'english', 'tf-idf') FROM docs;
SELECT cosine(weighted_words('a b', lexicon_agg(body)), weighted_words('a b')) FROM docs;
SELECT weighted_words('a b', 'k=2');
SELECT text_hash('a b', 'english k=2'), text_hash('a b', 'k=1');
SELECT long_sentences('A b. C d.', 'k=2');
SELECT overlap(weighted_words('a b'), weighted_words('a c'));
SELECT containment(minhash('a b'), minhash('a c'));

-- Groups
SELECT * FROM near_duplicate_groups('docs', 0.8);
SELECT * FROM near_duplicate_groups('SELECT shingles(body) FROM docs', 0.8);
SELECT * FROM near_duplicate_groups('SELECT id, body FROM docs', 0.8);
SELECT * FROM near_duplicate_groups('SELECT id::text, shingles(body) FROM docs', 0.8);
SELECT * FROM near_duplicate_groups('SELECT id, shingles(body) FROM docs', 0.8, 'greedy');

-- Evaluation: what a query lacks is told of that query
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
\set SHOW_CONTEXT always
SELECT * FROM evaluate_methods('SELECT id FROM no_table', 'SELECT 1 AS id1, 2 AS id2', '{shingles(body)}');

-- Pairs
\set SHOW_CONTEXT never
CALL neardup_pairs('docs', 'id', 'body', 0.8, 'pairs');
CALL neardup_pairs('docs', 'nr', 'body', 0.8, 'pairs');

-- Languages that are nearly there, and none that is; a number in the place of the document
SELECT shingles('a b', 'ukranian');
SELECT shingles('a b', 'englisch minlen=2');
SELECT shingles(3, 'a b');
