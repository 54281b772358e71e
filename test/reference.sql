-- The examples of doc/reference.md, for test/reference: a line with the name of a function,
-- and functions to see, then statements; after a line "errors" a line each with what
-- raises an error.  The first statements make what the others use.


-- *
CREATE TABLE reference_docs (id int PRIMARY KEY, body text,
  sig signature GENERATED ALWAYS AS (shingles(body)) STORED);
CREATE INDEX reference_sig ON reference_docs USING neardup (sig);
INSERT INTO reference_docs VALUES
  (1, 'The city library opens a new reading room on Monday with eighty seats.'),
  (2, 'The city library opens a new reading room on Monday with ninety seats.'),
  (3, 'The swimming pool stays closed until Friday.');
CREATE TABLE reference_words AS
  SELECT lexicon_agg(body) AS lexicon, shingle_lexicon_agg(body, 'k=2') AS shingles,
         word_set_agg(body) AS word_set FROM reference_docs;

-- anchored every_nth winnow
SELECT nfeatures(anchored('the cat and the dog and the mouse', '{the}', 2));
-- errors
SELECT anchored('the cat sat', '{the}', 3, 'english stop');
SELECT anchored('the cat sat', '{the,NULL}');
-- boilerplate without_boilerplate shingle_lexicon_agg
SELECT start, length, words, documents FROM reference_words,
  boilerplate('The city library opens a new reading room, too', shingles, 2);
-- errors
SELECT * FROM reference_words, boilerplate('a', shingles, 0);
SELECT * FROM reference_words, boilerplate('a', lexicon);
-- bottom minhash sample
SELECT nfeatures(bottom('one two three four five six', 2)), describe(bottom('one two three four', 2));
-- errors
SELECT bottom('one two three', 0);
SELECT containment(bottom('one two three', 8), bottom('one two', 8));
-- candidate_keys size_classes feature_counts
SELECT cardinality(candidate_keys(sig, 0.8)) FROM reference_docs ORDER BY id;
-- errors
SELECT candidate_keys(sig, 0) FROM reference_docs;
SELECT candidate_keys(simhash('a b c'), 0.3);
SELECT candidate_keys(minhash('a b c'), 0.8, 'dice');
SELECT candidate_keys(sig, 0.8, 'jaccard', '\x00') FROM reference_docs;
-- cluster_evaluation pair_evaluation evaluate_methods
SELECT (cluster_evaluation(found, truth)).* FROM (VALUES (1, 'a'), (1, 'a'), (2, 'b')) AS t (found, truth);
-- errors
SELECT cluster_evaluation(box '(0,0),(1,1)', 1);
-- contained_in containment near_duplicate
SELECT contained_in(shingles('a new reading room'), sig, 0.8) FROM reference_docs WHERE id = 1;
-- errors
SELECT contained_in(sig, sig, 2) FROM reference_docs;
SELECT contained_in(minhash('a b'), minhash('a b'), 0.8);
-- containment contained_in similarity
SELECT containment(shingles('a new reading room in May'), sig) FROM reference_docs WHERE id = 1;
-- errors
SELECT containment(shingles('a b'), shingles('a b', 2));
SELECT containment(minhash('a b'), minhash('a b'));
-- copied_cases shared_passages find_sources
SELECT * FROM copied_cases('As we hear, the city library opens a new reading room on Monday with eighty seats in it.',
                           'The city library opens a new reading room on Monday with eighty seats.', min_length => 40);
-- errors
SELECT copied_cases('a', 'b', 'english');
SELECT copied_cases('a', 'b', min_share => 1.1);
-- copied_sections copied_cases
SELECT section, copied FROM copied_sections(ARRAY['one two three four five', 'six seven eight'],
                                            'one two three four five', block => 3);
-- errors
SELECT copied_sections('{a}', 'b', block => 2);
SELECT copied_sections('{a}', 'b', block_share => 0);
-- cosine dice similarity
SELECT cosine(shingles('one two three four'), shingles('one two three five'));
-- errors
SELECT cosine(shingles('a b'), shingles('a b', 2));
SELECT cosine(minhash('a b'), minhash('a b'));
-- coverage shared_passages
SELECT * FROM coverage('one two three four five', 'one two three four', min_words => 3);
-- errors
SELECT coverage('a', 'b', min_words => 0);
-- dense cosine near_duplicate
SELECT dense('{3,4}'), near_duplicate(dense('{3,4}'), dense('{4,3}'), 0.9, 'cosine');
-- errors
SELECT dense('{3,NaN}');
SELECT cosine(dense('{3,4}'), dense('{1,2,3}'));
-- describe nfeatures
SELECT describe(shingles('one two three four', 'english stop'));
-- descriptive_words word_set_agg
SELECT descriptive_words('library library pool', word_set) IS NOT NULL AS made FROM reference_words;
-- errors
SELECT descriptive_words('a', ROW(NULL, '{1}', '{0.1}', NULL)::word_set);
SELECT descriptive_words('a', ROW('', '{1}', '{NaN}', NULL)::word_set);
-- dice cosine similarity
SELECT dice(shingles('one two three four'), shingles('one two three five'));
-- errors
SELECT dice(shingles('a b'), shingles('a b', 2));
SELECT dice(minhash('a b'), minhash('a b'));
-- evaluate_methods evaluate_thresholds
SELECT method, threshold, round(recall::numeric, 2) AS recall, round("precision"::numeric, 2) AS "precision"
FROM evaluate_methods('SELECT id, body FROM reference_docs', 'SELECT 1 AS id1, 2 AS id2',
                      '{shingles(body), "shingles(body, 1)"}', '{0.65}');
-- errors
SELECT * FROM evaluate_methods('reference_docs', 'TABLE reference_pairs_known', '{sig}');
SELECT * FROM evaluate_methods('SELECT body FROM reference_docs', 'SELECT 1 AS id1, 2 AS id2', '{shingles(body)}');
SELECT * FROM evaluate_methods('TABLE reference_docs', 'SELECT 1 AS id1, 2 AS id2', '{sig}', '{1.5}');
SELECT * FROM evaluate_methods('TABLE reference_docs', 'SELECT 1 AS id1, 2 AS id2', '{sig}', measures => '{euclid}');
-- evaluate_thresholds evaluate_methods
SELECT method, threshold, found, correct FROM evaluate_thresholds('SELECT id, body FROM reference_docs',
  'SELECT 1 AS id1, 2 AS id2', '{shingles(body)}', '{0.5,0.7,0.9}') ORDER BY threshold;
-- errors
SELECT * FROM evaluate_thresholds('TABLE reference_docs', 'SELECT 1 AS id1, 2 AS id2', '{sig}', best => 'both');
SELECT * FROM evaluate_thresholds('TABLE reference_docs', 'SELECT 1 AS id1, 2 AS id2', '{sig}', ties => 'a.id');
-- every_nth anchored winnow
SELECT nfeatures(every_nth('one two three four five six seven eight', 2));
-- errors
SELECT every_nth('one two three', 0);
SELECT every_nth('one two three', 2, 0, 'repeats=number');
-- f_measure pair_evaluation
SELECT f_measure(0.5, 1), f_measure(0.5, 1, 2);
-- errors
SELECT f_measure(1.5, 1);
SELECT f_measure(0.5, 1, -1);
-- feature_counts candidate_keys
SELECT octet_length(feature_counts(sig)) > 0 AS has_counts FROM reference_docs;
-- errors
SELECT feature_counts(simhash('a b c'));
-- find_sources copied_cases
SELECT source_id, a_start, a_length, b_start, similarity FROM find_sources(
  'As we hear, the city library opens a new reading room on Monday with eighty seats in it.',
  shingles('As we hear, the city library opens a new reading room on Monday with eighty seats in it.'),
  'SELECT id, sig, body FROM reference_docs', min_length => 40) ORDER BY source_id;
-- errors
SELECT * FROM find_sources('a', shingles('a'), 'SELECT id, sig FROM reference_docs');
-- frequent_shingles leave_out boilerplate
SELECT nfeatures(frequent_shingles(shingles, 2)) FROM reference_words;
-- errors
SELECT frequent_shingles(shingles, 0) FROM reference_words;
SELECT frequent_shingles(lexicon, 2) FROM reference_words;
-- fuzzy_fingerprint imatch
SELECT nfeatures(fuzzy_fingerprint(body, lexicon)) FROM reference_docs, reference_words WHERE id = 1;
-- errors
SELECT fuzzy_fingerprint(body, shingles) FROM reference_docs, reference_words;
SELECT fuzzy_fingerprint(body, lexicon, schemes => 17) FROM reference_docs, reference_words;
-- hamming intersection_size simhash
SELECT hamming(shingles('one two three four'), shingles('one two three five'));
-- errors
SELECT hamming(shingles('a b'), simhash('a b'));
SELECT hamming(bottom('a b', 8), bottom('a b', 8));
-- heavy_sentences long_sentences
SELECT heavy_sentences('A pool. The city library opens.', lexicon, 1) = heavy_sentences('The city library opens! No pool.', lexicon, 1)
FROM reference_words;
-- errors
SELECT heavy_sentences('A pool.', lexicon, 0) FROM reference_words;
SELECT heavy_sentences('A pool.', shingles) FROM reference_words;
-- highlight passages_html shared_passages
SELECT highlight('now one two three four five', 'one two three four', min_words => 3);
-- errors
SELECT highlight('a', 'b', options => 'Colour=red');
SELECT highlight('a', 'b', min_words => 0);
-- identity similarity
SELECT identity(a.body, b.body, lexicon) > identity(a.body, c.body, lexicon) AS more_alike
FROM reference_docs a, reference_docs b, reference_docs c, reference_words WHERE (a.id, b.id, c.id) = (1, 2, 3);
-- errors
SELECT identity('a', 'b', lexicon, variant => 6) FROM reference_words;
SELECT identity('a', 'b', shingles) FROM reference_words;
-- imatch fuzzy_fingerprint
SELECT nfeatures(imatch(body, lexicon, minimum => 1)) > 0 AS has_hashes FROM reference_docs, reference_words WHERE id = 1;
-- errors
SELECT imatch('a', lexicon, low => 0.9, high => 0.1) FROM reference_words;
SELECT imatch('a', shingles) FROM reference_words;
-- intersection_size shared_values hamming
SELECT intersection_size(a.sig, b.sig) FROM reference_docs a, reference_docs b WHERE (a.id, b.id) = (1, 2);
-- errors
SELECT intersection_size(shingles('a b'), shingles('a b', 2));
SELECT intersection_size(minhash('a b'), minhash('a b'));
-- koala sif
SELECT nfeatures(koala('the city library opens a new reading room', 2, 5));
-- errors
SELECT koala('one two three', 0);
SELECT koala('one two three', 2, 0);
-- leave_out frequent_shingles
SELECT nfeatures(leave_out(shingles('one two three four'), shingles('one two three')));
-- errors
SELECT leave_out(minhash('a b'), shingles('a'));
SELECT leave_out(shingles('a b'), shingles('a b', 2));
-- lexicon_agg lexicon_word lexicon_describe
SELECT (lexicon_describe(lexicon_agg(body))).documents FROM reference_docs;
-- errors
SELECT lexicon_agg(body, '', 0) FROM reference_docs;
SELECT lexicon_agg(body, CASE WHEN id = 1 THEN 'stop english' ELSE '' END) FROM reference_docs;
SELECT lexicon_agg(body, 'unit=char') FROM reference_docs;
-- lexicon_describe lexicon_agg
SELECT (lexicon_describe(lexicon)).* FROM reference_words;
-- lexicon_hash signature_hash
SELECT lexicon_hash(lexicon) = lexicon_hash(lexicon_trim(lexicon, 100)) AS equal FROM reference_words;
-- lexicon_hash_extended lexicon_hash
SELECT lexicon_hash_extended(lexicon, 1) = lexicon_hash_extended(lexicon, 2) AS seeds_are_equal FROM reference_words;
-- lexicon_trim lexicon_agg
SELECT (lexicon_describe(lexicon_trim(lexicon, 5))).words FROM reference_words;
-- errors
SELECT lexicon_trim(lexicon, -1) FROM reference_words;
-- lexicon_word lexicon_words
SELECT (lexicon_word(lexicon, 'library')).* FROM reference_words;
-- errors
SELECT lexicon_word(lexicon, 'city library') FROM reference_words;
-- lexicon_words lexicon_word
SELECT count(*) FROM reference_words, lexicon_words(lexicon);
-- long_sentences heavy_sentences text_hash
SELECT long_sentences('A pool. The city library opens.', 1) = long_sentences('The city library opens! No pool.', 1);
-- errors
SELECT long_sentences('A pool.', 0);
SELECT long_sentences('A pool.', 1, 'unit=char');
-- lsh_parameters lsh_probability near_duplicate_approx
SELECT * FROM lsh_parameters(0.8);
-- errors
SELECT * FROM lsh_parameters(0.8, recall => 1.5);
SELECT * FROM lsh_parameters(0);
SELECT * FROM lsh_parameters(0.01, size => 4);
-- lsh_probability lsh_parameters
SELECT round(lsh_probability(0.8, 20, 5)::numeric, 4);
-- errors
SELECT lsh_probability(1.5, 20, 5);
SELECT lsh_probability(0.8, 0, 5);
-- megashingles supershingles
SELECT nfeatures(megashingles('one two three four'));
-- errors
SELECT megashingles('one two three', 1);
SELECT megashingles(supershingles('one two three', 5, 14));
-- minhash bottom simhash
SELECT similarity(minhash('one two three four five'), minhash('one two three four five')), describe(minhash('one two three'));
-- errors
SELECT minhash('one two three', 0);
SELECT minhash(simhash('one two three'));
SELECT similarity(minhash('a', 64), minhash('a', 128));
-- near_duplicate similarity contained_in signature_query
SELECT a.id, b.id FROM reference_docs a JOIN reference_docs b ON near_duplicate(a.sig, b.sig, 0.7) AND a.id < b.id;
-- errors
SELECT near_duplicate(sig, sig, 80) FROM reference_docs;
SELECT near_duplicate(sig, sig, 0.8, 'euclid') FROM reference_docs;
SELECT near_duplicate(sig, 'some text', 0.8) FROM reference_docs;
SELECT near_duplicate(minhash('a b'), minhash('a b'), 0.8, 'dice');
-- near_duplicate_approx near_duplicate lsh_parameters
SELECT near_duplicate_approx(shingles('one two three'), shingles('One, two, three'), 0.8);
-- errors
SELECT near_duplicate_approx(shingles('a'), shingles('a'), 0.8, 1);
SELECT near_duplicate_approx(minhash('a'), minhash('a'), 0.8);
-- near_duplicate_groups near_duplicate_groups_add near_duplicate_groups_of_pairs near_duplicate_groups_create
SELECT * FROM near_duplicate_groups('SELECT id, sig FROM reference_docs', 0.7);
-- errors
SELECT * FROM near_duplicate_groups('reference_docs', 0.7);
SELECT * FROM near_duplicate_groups('SELECT id, body FROM reference_docs', 0.7);
SELECT * FROM near_duplicate_groups('SELECT id, sig FROM reference_docs', 0.7, rule => 'best');
SELECT * FROM near_duplicate_groups('SELECT id, sig FROM reference_docs', 0.7, 'containment');
SELECT * FROM near_duplicate_groups('SELECT id, sig FROM reference_docs', 7);
SELECT * FROM near_duplicate_groups('DELETE FROM reference_docs RETURNING id, sig', 0.7);
-- near_duplicate_groups_add near_duplicate_groups
SELECT * FROM near_duplicate_groups_add(
  'SELECT id, sig FROM reference_docs WHERE id > 1',
  'SELECT id, sig, 1, NULL::float FROM reference_docs WHERE id = 1 AND near_duplicate(sig, $1, 0.7)', 0.7);
-- errors
SELECT * FROM near_duplicate_groups_add('SELECT id, sig FROM reference_docs', 'SELECT id, sig, NULL::int, 1.0::float FROM reference_docs', 0.7);
SELECT * FROM near_duplicate_groups_add('SELECT id, sig FROM reference_docs', 'SELECT id, sig FROM reference_docs', 0.7);
-- near_duplicate_groups_check near_duplicate_groups_create near_duplicate_groups_refresh
SELECT near_duplicate_groups_create('reference_groups', 'reference_docs', 'id', 'sig', 0.7);
SELECT near_duplicate_groups_check('reference_groups');
-- errors
SELECT near_duplicate_groups_check('reference_docs');
-- near_duplicate_groups_create near_duplicate_groups_refresh near_duplicate_groups_drop
SELECT * FROM reference_groups ORDER BY id;
-- errors
SELECT near_duplicate_groups_create('reference_groups', 'reference_docs', 'id', 'sig', 0.7);
SELECT near_duplicate_groups_create('more_groups', 'reference_docs', 'id', 'body', 0.7);
SELECT near_duplicate_groups_create('more_groups', 'reference_docs', 'body', 'sig', 0.7);
SELECT near_duplicate_groups_create('more_groups', 'reference_docs', 'id', 'sig', 0.7, refresh => 'never');
-- near_duplicate_groups_note near_duplicate_groups_create
SELECT tgname, tgenabled FROM pg_trigger WHERE tgrelid = 'reference_docs'::regclass ORDER BY tgname COLLATE "C";
-- errors
CREATE TRIGGER t AFTER INSERT ON reference_docs FOR EACH ROW EXECUTE FUNCTION near_duplicate_groups_note(); INSERT INTO reference_docs VALUES (9, 'a');
-- near_duplicate_groups_merge near_duplicate_groups_merge_script near_duplicate_groups_create
BEGIN;
CALL near_duplicate_groups_merge('reference_groups');
SELECT id FROM reference_docs ORDER BY id;
ROLLBACK;
-- errors
CALL near_duplicate_groups_merge('reference_docs');
CALL near_duplicate_groups_merge('reference_groups', 'ignore');
-- near_duplicate_groups_merge_script near_duplicate_groups_merge
SELECT count(*) > 0 AS statements FROM near_duplicate_groups_merge_script('reference_groups');
-- errors
SELECT * FROM near_duplicate_groups_merge_script('reference_docs');
-- neardup_backfill neardup_outdated
CREATE TABLE reference_filled AS SELECT id, body, NULL::signature AS words FROM reference_docs;
CALL neardup_backfill('reference_filled', 'words', 'shingles(body, 1)');
SELECT id, nfeatures(words) FROM reference_filled ORDER BY id;
-- errors
CALL neardup_backfill('reference_filled', 'nothing', 'shingles(body, 1)');
CALL neardup_backfill('reference_filled', 'words', 'length(body)');
CALL neardup_backfill('reference_filled', 'words', 'shingles(body, 1)', 0);
-- near_duplicate_groups_refresh near_duplicate_groups_create near_duplicate_groups_check
UPDATE reference_docs SET body = 'Trams run again.' WHERE id = 2;
CALL near_duplicate_groups_refresh('reference_groups');
SELECT * FROM reference_groups ORDER BY id;
-- errors
CALL near_duplicate_groups_refresh('reference_docs');
-- near_duplicate_groups_drop near_duplicate_groups_create
SELECT near_duplicate_groups_drop('reference_groups');
-- errors
SELECT near_duplicate_groups_drop('reference_docs');
-- near_duplicate_groups_of_pairs near_duplicate_groups
SELECT * FROM near_duplicate_groups_of_pairs('VALUES (1, 2), (2, 3), (5, 6)', 'connected');
-- errors
SELECT * FROM near_duplicate_groups_of_pairs('VALUES (1, 2, 3, 4)');
SELECT * FROM near_duplicate_groups_of_pairs('VALUES (1, 2, ''NaN''::float)');
SELECT * FROM near_duplicate_groups_of_pairs('VALUES (1, 2), (NULL, NULL)');
-- near_duplicate_groups_sweep near_duplicate_groups evaluate_thresholds
SELECT threshold, groups, duplicates, largest
FROM near_duplicate_groups_sweep('SELECT id, sig FROM reference_docs', '{0.3,0.5,0.7,0.9}');
-- errors
SELECT * FROM near_duplicate_groups_sweep('SELECT id, sig FROM reference_docs', '{70}');
-- neardup_accept_versions neardup_outdated neardup_versions
SELECT neardup_accept_versions(force => true);
SELECT count(*) AS changed FROM (SELECT * FROM neardup_components() EXCEPT TABLE neardup_recorded_versions) c;
-- errors
SELECT neardup_accept_versions();
-- neardup_components neardup_versions
SELECT component FROM neardup_components() ORDER BY component COLLATE "C" LIMIT 3;
-- neardup_estimate neardup_estimate_gin
SELECT neardup_estimate(sig) > 0 AS bytes FROM reference_docs;
-- neardup_estimate_gin neardup_estimate
SELECT neardup_estimate_gin(sig, 0.8) > 0 AS bytes FROM reference_docs;
-- errors
SELECT neardup_estimate_gin(sig, NULL) FROM reference_docs;
SELECT neardup_estimate_gin(sig, 2) FROM reference_docs;
-- neardup_explain_index near_duplicate
SELECT neardup_explain_index('reference_sig', 0.3);
-- errors
SELECT neardup_explain_index('reference_docs', 0.3);
-- neardup_fill neardup_guard
CREATE TABLE reference_titles (title text, sig signature);
CREATE TRIGGER reference_fill BEFORE INSERT OR UPDATE ON reference_titles
  FOR EACH ROW EXECUTE FUNCTION neardup_fill('sig', 'shingles(title, 2)', 'title');
INSERT INTO reference_titles VALUES ('A new reading room') RETURNING nfeatures(sig);
-- errors
CREATE TRIGGER t BEFORE INSERT ON reference_titles FOR EACH ROW EXECUTE FUNCTION neardup_fill('sig'); INSERT INTO reference_titles VALUES ('a');
CREATE TRIGGER t BEFORE INSERT ON reference_titles FOR EACH ROW EXECUTE FUNCTION neardup_fill('sig', 'length(title)', 'title'); INSERT INTO reference_titles VALUES ('a');
CREATE TRIGGER t BEFORE INSERT ON reference_titles FOR EACH ROW EXECUTE FUNCTION neardup_fill('sig', 'shingles(body)', 'body'); INSERT INTO reference_titles VALUES ('a');
-- neardup_guard neardup_guard_check neardup_guard_violations neardup_guard_skipped
CREATE CONSTRAINT TRIGGER reference_guard AFTER INSERT OR UPDATE ON reference_docs
  FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.8');

CREATE TABLE reference_posts (id int PRIMARY KEY, tenant int, same_as int, body text,
  sig signature GENERATED ALWAYS AS (shingles(body)) STORED);
CREATE INDEX ON reference_posts USING neardup (sig);
CREATE TRIGGER reference_tag BEFORE INSERT OR UPDATE ON reference_posts
  FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.8', 'tag', 'same_as',
                                              'if', 'abs(new.id - old.id) < 5', 'within', 'tenant');
INSERT INTO reference_posts VALUES (1, 7, NULL, 'Trams run every ten minutes.'),
  (2, 7, NULL, 'trams run every ten minutes'), (3, 8, NULL, 'Trams run every ten minutes.'),
  (10, 7, NULL, 'Trams run every ten minutes!') RETURNING id, same_as;
-- errors
INSERT INTO reference_docs VALUES (4, 'The swimming pool stays closed until Friday!');
CREATE TRIGGER t BEFORE INSERT ON reference_docs FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '80'); INSERT INTO reference_docs VALUES (5, 'Another text of some words');
CREATE TRIGGER t BEFORE INSERT ON reference_docs FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.8'); INSERT INTO reference_docs VALUES (5, 'Another text of some words');
CREATE TRIGGER t AFTER INSERT ON reference_titles FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.8'); INSERT INTO reference_titles VALUES ('a');
CREATE TRIGGER t BEFORE INSERT ON reference_docs FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.8', 'tag', 'parent'); INSERT INTO reference_docs VALUES (5, 'Another text of some words');
-- neardup_guard_check neardup_guard neardup_guard_violations
SELECT neardup_guard_check('reference_docs', 'reference_guard');
-- errors
SELECT neardup_guard_check('reference_docs', 'no_guard');
SELECT neardup_guard_check('reference_titles', 'reference_fill');
-- neardup_guard_rows neardup_guard_violations
SELECT threshold FROM neardup_guard_rows('reference_docs', 'reference_guard');
-- errors
SELECT * FROM neardup_guard_rows('reference_docs', 'no_guard');
-- neardup_guard_skipped neardup_guard
SELECT count(*) FROM neardup_guard_skipped();
-- neardup_guard_violations neardup_guard_check
SELECT count(*) FROM neardup_guard_violations('reference_docs', 'reference_guard');
-- errors
SELECT * FROM neardup_guard_violations('reference_docs', 'no_guard');
-- neardup_index_check neardup_index_segments
SELECT neardup_index_check('reference_sig', true) >= 3 AS rows;
-- errors
SELECT neardup_index_check('reference_docs_pkey');
-- neardup_index_counters neardup_index_segments
SET enable_seqscan = off;
SELECT id FROM reference_docs WHERE near_duplicate(sig, shingles('The pool stays closed until Friday.'), 0.5);
RESET enable_seqscan;
SELECT index, scans FROM neardup_index_counters() WHERE index = 'reference_sig'::regclass;
-- neardup_index_merges neardup_index_segments
SELECT count(*) FROM neardup_index_merges('reference_sig');
-- errors
SELECT * FROM neardup_index_merges('reference_docs');
-- neardup_index_segments neardup_index_check neardup_index_merges
SELECT sum(rows) >= 3 AS rows FROM neardup_index_segments('reference_sig');
-- errors
SELECT * FROM neardup_index_segments('reference_docs_pkey');
-- neardup_outdated neardup_accept_versions
SELECT * FROM neardup_outdated('reference_docs', 'sig');
-- errors
SELECT * FROM neardup_outdated('reference_docs', 'nothing');
SELECT * FROM neardup_outdated('reference_filled', 'words');
SELECT * FROM neardup_outdated('reference_docs', 'sig', percent => 101);
-- neardup_pairs candidate_keys
CALL neardup_pairs('reference_posts', 'id', 'sig', 0.8, 'reference_pairs');
SELECT * FROM reference_pairs WHERE a < 3 ORDER BY a, b;
-- errors
CALL neardup_pairs('reference_posts', 'id', 'sig', 0.8, 'more_pairs', 'containment');
CALL neardup_pairs('reference_posts', 'id', 'body', 0.8, 'more_pairs');
CALL neardup_pairs('reference_posts', 'tenant', 'sig', 0.8, 'more_pairs');
CALL neardup_pairs('reference_posts', 'id', 'sig', 0.8, 'more_pairs', design => 'quick');
-- neardup_versions neardup_components
SELECT component FROM neardup_versions() ORDER BY component COLLATE "C";
-- neardup_words shingles
SELECT neardup_words('The libraries opened at 10 a.m.', 'english stop');
-- errors
SELECT neardup_words('a', 'englsh stop');
-- nfeatures describe
SELECT nfeatures(shingles('one two three four'));
-- pair_evaluation cluster_evaluation f_measure
SELECT (pair_evaluation(found, correct, 0.9)).* FROM (VALUES (true, true), (true, false), (false, true)) AS t (found, correct);
-- passages_html highlight shared_passages
SELECT length(passages_html('one two three', 'one two three', min_words => 2)) > 1000 AS is_page;
-- errors
SELECT passages_html('a', 'b', min_words => 0);
SELECT passages_html('a', 'b', preset => 'english');
-- repeated_passages without_repeated boilerplate
SELECT * FROM repeated_passages($$VALUES (1, 'one two three four'), (2, 'now one, two, three')$$, 3);
-- errors
SELECT * FROM repeated_passages('reference_docs');
SELECT * FROM repeated_passages('SELECT id FROM reference_docs');
SELECT * FROM repeated_passages('SELECT id, body FROM reference_docs', 0);
-- sample bottom minhash
SELECT describe(sample('one two three four', 8));
-- errors
SELECT sample('one two three', 0);
SELECT sample(minhash('one two three'), 2);
-- sentence_pairs shingles
SELECT nfeatures(sentence_pairs('One. Two. Three.'));
-- errors
SELECT sentence_pairs('One. Two.', 'k=2');
-- shared_passages copied_cases coverage highlight
SELECT * FROM shared_passages('now one two three four five', 'one two three four', min_words => 3);
-- errors
SELECT * FROM shared_passages('a', 'b', min_words => 0);
SELECT * FROM shared_passages('a', 'b', max_gap => -1);
-- shared_values intersection_size
SELECT shared_values(shingles('one two three four'), shingles('one two three five'));
-- errors
SELECT shared_values(shingles('a b'), shingles('a b', 2));
-- shingle_lexicon_agg boilerplate frequent_shingles
SELECT (lexicon_describe(shingle_lexicon_agg(body, 'k=2'))).words FROM reference_docs;
-- errors
SELECT shingle_lexicon_agg(body, 'k=1') FROM reference_docs;
SELECT shingle_lexicon_agg(body, 'k=2', 0) FROM reference_docs;
-- shingles describe neardup_words
SELECT nfeatures(shingles('The pool is closed')), nfeatures(shingles('The pool is closed', 2, 'english stop'));
-- errors
SELECT shingles('some text', 'englsh');
SELECT shingles('some text', 4, 'english k=3');
SELECT shingles('english', 'Some text, in the wrong place');
SELECT shingles('some text', -1);
-- sif koala anchored
SELECT nfeatures(sif('the cat sat on the mat', '{cat}', 10));
-- errors
SELECT sif('the cat sat', '{...}');
SELECT sif('the cat sat', '{cat}', 0);
-- signature signature_query
SELECT signature(signature_query(sig, 0.8)) = sig FROM reference_docs WHERE id = 1;
-- signature_from signature_weighted
SELECT similarity(signature_from('{1,2,3}'), signature_from('{2,3,4}'));
-- errors
SELECT signature_from('{1,NULL}');
SELECT signature_from('{1,2}', '{1}');
-- signature_hash signature_hash_extended
SELECT signature_hash(shingles('a b c')) = signature_hash(shingles('A, b, c'));
-- signature_hash_extended signature_hash
SELECT signature_hash_extended(shingles('a b c'), 1) = signature_hash_extended(shingles('A, b, c'), 1);
-- signature_intersect_agg signature_union_agg
SELECT nfeatures(signature_intersect_agg(sig)) FROM reference_docs WHERE id < 2;
-- errors
SELECT signature_intersect_agg(minhash(body)) FROM reference_docs;
-- signature_query near_duplicate
SELECT signature_query(shingles('one two three'), 0.8) %% signature_query(shingles('One, two, three'), 0.8);
-- errors
SELECT signature_query(shingles('a'), 80);
SELECT signature_query(shingles('a'), 0.8, 'euclid');
-- signature_union_agg signature_intersect_agg
SELECT nfeatures(signature_union_agg(sig)) FROM reference_docs WHERE id <> 2;
-- errors
SELECT signature_union_agg(minhash(body)) FROM reference_docs;
SELECT signature_union_agg(shingles(body, id)) FROM reference_docs;
-- signature_weighted signature_from weighted_words
SELECT cosine(signature_weighted('{1,2}', '{1,0.5}'), signature_weighted('{1,2}', '{1,0.5}'));
-- errors
SELECT signature_weighted('{1,2}', '{1}');
SELECT signature_weighted('{1,2}', '{1,-1}');
-- simhash minhash hamming
SELECT hamming(simhash('one two three four'), simhash('One two, three four'));
-- errors
SELECT simhash(minhash('a b c'));
SELECT dice(simhash('a'), simhash('a'));
-- similarity near_duplicate containment dice cosine
SELECT similarity(shingles('A rose is a rose is a rose.'), shingles('a rose is a flower which is a rose'));
-- errors
SELECT similarity(shingles('a b'), shingles('a b', 2));
SELECT similarity(shingles('a'), 'some text');
-- size_classes candidate_keys
SELECT size_classes(sig, 0.8) FROM reference_docs WHERE id = 3;
-- errors
SELECT size_classes(simhash('a'), 0.8);
SELECT size_classes(sig, 0) FROM reference_docs;
-- supershingle_probability supershingles
SELECT round(supershingle_probability(0.95)::numeric, 3);
-- errors
SELECT supershingle_probability(0.5, 6, 14, 7);
SELECT supershingle_probability(1.5);
-- supershingles megashingles
SELECT near_duplicate(supershingles('one two three four'), supershingles('One two, three four'), 0.95);
-- errors
SELECT supershingles('one two three', 0);
SELECT supershingles(minhash('one two three', 64));
-- text_hash long_sentences
SELECT text_hash('Some text') = text_hash('some text!');
-- errors
SELECT text_hash('a', 'unit=char');
SELECT text_hash('a', 'k=2');
-- top_words text_hash
SELECT top_words('pool pool library', 1) = top_words('the pool of a pool', 1);
-- errors
SELECT top_words('a', 0);
SELECT top_words('a', shingles) FROM reference_words;
SELECT top_words('a', lexicon, weight => 'idf') FROM reference_words;
-- weighted_shingles weighted_words
SELECT nfeatures(weighted_shingles('The city library', shingles, analysis => 'k=2')) FROM reference_words;
-- errors
SELECT weighted_shingles('a b', lexicon) FROM reference_words;
SELECT weighted_shingles('a b', shingles, analysis => 'k=3') FROM reference_words;
-- weighted_words cosine lexicon_agg
SELECT round(cosine(weighted_words('library room', lexicon), weighted_words(body, lexicon))::numeric, 2)
FROM reference_docs, reference_words WHERE id = 1;
-- errors
SELECT weighted_words('a b', shingles) FROM reference_words;
SELECT weighted_words('a b', lexicon, analysis => 'stop english') FROM reference_words;
SELECT weighted_words('a b', lexicon, 'idf') FROM reference_words;
SELECT cosine(weighted_words('a', lexicon), weighted_words('a')) FROM reference_words;
-- winnow every_nth
SELECT winnow('{5,3,8,1,9,2}'::bigint[], 3);
-- errors
SELECT winnow('a b c', 0);
SELECT winnow('{1,NULL}'::bigint[], 4);
-- without_boilerplate boilerplate
SELECT without_boilerplate('The city library opens a new reading room, too', shingles, 2) FROM reference_words;
-- errors
SELECT without_boilerplate('a', lexicon) FROM reference_words;
SELECT without_boilerplate('a', shingles, 0) FROM reference_words;
-- without_repeated repeated_passages without_boilerplate
SELECT without_repeated('one two three four', '{[5,14)}');
-- word_set_agg descriptive_words
SELECT word_set_agg(body) IS NOT NULL AS made FROM reference_docs;
-- errors
SELECT word_set_agg(body, '', 0) FROM reference_docs;
SELECT word_set_agg(body, '', id) FROM reference_docs;
-- word_statistics lexicon_word
SELECT word, tf, df FROM reference_words, word_statistics('library library pool', lexicon) ORDER BY word;
-- errors
SELECT * FROM reference_words, word_statistics('a', shingles);
SELECT * FROM reference_words, word_statistics('a', lexicon, 'stop english');
