-- The examples of doc/reference.md, for test/reference: a line with the name of a function,
-- and functions to see, then statements.  The first ones make what the others use.

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
-- boilerplate without_boilerplate shingle_lexicon_agg
SELECT start, length, words, documents FROM reference_words,
  boilerplate('The city library opens a new reading room, too', shingles, 2);
-- bottom minhash sample
SELECT nfeatures(bottom('one two three four five six', 2)), describe(bottom('one two three four', 2));
-- candidate_keys size_classes feature_counts
SELECT cardinality(candidate_keys(sig, 0.8)) FROM reference_docs ORDER BY id;
-- cluster_evaluation pair_evaluation evaluate_methods
SELECT (cluster_evaluation(found, truth)).* FROM (VALUES (1, 'a'), (1, 'a'), (2, 'b')) AS t (found, truth);
-- contained_in containment near_duplicate
SELECT contained_in(shingles('a new reading room'), sig, 0.8) FROM reference_docs WHERE id = 1;
-- containment contained_in similarity
SELECT containment(shingles('a new reading room in May'), sig) FROM reference_docs WHERE id = 1;
-- copied_cases shared_passages find_sources
SELECT * FROM copied_cases('As we hear, the city library opens a new reading room on Monday with eighty seats in it.',
                           'The city library opens a new reading room on Monday with eighty seats.', min_length => 40);
-- copied_sections copied_cases
SELECT section, copied FROM copied_sections(ARRAY['one two three four five', 'six seven eight'],
                                            'one two three four five', block => 3);
-- cosine dice similarity
SELECT cosine(shingles('one two three four'), shingles('one two three five'));
-- coverage shared_passages
SELECT * FROM coverage('one two three four five', 'one two three four', min_words => 3);
-- dense cosine near_duplicate
SELECT dense('{3,4}'), near_duplicate(dense('{3,4}'), dense('{4,3}'), 0.9, 'cosine');
-- describe nfeatures
SELECT describe(shingles('one two three four', 'english stop'));
-- descriptive_words word_set_agg
SELECT descriptive_words('library library pool', word_set) IS NOT NULL AS made FROM reference_words;
-- dice cosine similarity
SELECT dice(shingles('one two three four'), shingles('one two three five'));
-- evaluate_methods evaluate_thresholds
-- evaluate_thresholds evaluate_methods
-- every_nth anchored winnow
SELECT nfeatures(every_nth('one two three four five six seven eight', 2));
-- f_measure pair_evaluation
SELECT f_measure(0.5, 1), f_measure(0.5, 1, 2);
-- feature_counts candidate_keys
SELECT octet_length(feature_counts(sig)) > 0 AS has_counts FROM reference_docs;
-- find_sources copied_cases
-- frequent_shingles leave_out boilerplate
SELECT nfeatures(frequent_shingles(shingles, 2)) FROM reference_words;
-- fuzzy_fingerprint imatch
SELECT nfeatures(fuzzy_fingerprint(body, lexicon)) FROM reference_docs, reference_words WHERE id = 1;
-- hamming intersection_size simhash
SELECT hamming(shingles('one two three four'), shingles('one two three five'));
-- heavy_sentences long_sentences
SELECT heavy_sentences('A pool. The city library opens.', lexicon, 1) = heavy_sentences('The city library opens! No pool.', lexicon, 1)
FROM reference_words;
-- highlight passages_html shared_passages
SELECT highlight('now one two three four five', 'one two three four', min_words => 3);
-- identity similarity
SELECT identity(a.body, b.body, lexicon) > identity(a.body, c.body, lexicon) AS more_alike
FROM reference_docs a, reference_docs b, reference_docs c, reference_words WHERE (a.id, b.id, c.id) = (1, 2, 3);
-- imatch fuzzy_fingerprint
SELECT nfeatures(imatch(body, lexicon, minimum => 1)) > 0 AS has_hashes FROM reference_docs, reference_words WHERE id = 1;
-- intersection_size shared_values hamming
SELECT intersection_size(a.sig, b.sig) FROM reference_docs a, reference_docs b WHERE (a.id, b.id) = (1, 2);
-- koala sif
SELECT nfeatures(koala('the city library opens a new reading room', 2, 5));
-- leave_out frequent_shingles
SELECT nfeatures(leave_out(shingles('one two three four'), shingles('one two three')));
-- lexicon_agg lexicon_word lexicon_describe
SELECT (lexicon_describe(lexicon_agg(body))).documents FROM reference_docs;
-- lexicon_describe lexicon_agg
SELECT (lexicon_describe(lexicon)).* FROM reference_words;
-- lexicon_hash signature_hash
-- lexicon_hash_extended lexicon_hash
-- lexicon_trim lexicon_agg
SELECT (lexicon_describe(lexicon_trim(lexicon, 5))).words FROM reference_words;
-- lexicon_word lexicon_words
SELECT (lexicon_word(lexicon, 'library')).* FROM reference_words;
-- lexicon_words lexicon_word
SELECT count(*) FROM reference_words, lexicon_words(lexicon);
-- long_sentences heavy_sentences text_hash
SELECT long_sentences('A pool. The city library opens.', 1) = long_sentences('The city library opens! No pool.', 1);
-- lsh_parameters lsh_probability near_duplicate_approx
SELECT * FROM lsh_parameters(0.8);
-- lsh_probability lsh_parameters
SELECT round(lsh_probability(0.8, 20, 5)::numeric, 4);
-- megashingles supershingles
SELECT nfeatures(megashingles('one two three four'));
-- minhash bottom simhash
SELECT similarity(minhash('one two three four five'), minhash('one two three four five')), describe(minhash('one two three'));
-- near_duplicate similarity contained_in signature_query
SELECT a.id, b.id FROM reference_docs a JOIN reference_docs b ON near_duplicate(a.sig, b.sig, 0.7) AND a.id < b.id;
-- near_duplicate_approx near_duplicate lsh_parameters
SELECT near_duplicate_approx(shingles('one two three'), shingles('One, two, three'), 0.8);
-- near_duplicate_groups near_duplicate_groups_add near_duplicate_groups_of_pairs near_duplicate_groups_create
SELECT * FROM near_duplicate_groups('SELECT id, sig FROM reference_docs', 0.7);
-- near_duplicate_groups_add near_duplicate_groups
SELECT * FROM near_duplicate_groups_add(
  'SELECT id, sig FROM reference_docs WHERE id > 1',
  'SELECT id, sig, 1, NULL::float FROM reference_docs WHERE id = 1 AND near_duplicate(sig, $1, 0.7)', 0.7);
-- near_duplicate_groups_check near_duplicate_groups_create near_duplicate_groups_refresh
SELECT near_duplicate_groups_create('reference_groups', 'reference_docs', 'id', 'sig', 0.7);
SELECT near_duplicate_groups_check('reference_groups');
-- near_duplicate_groups_create near_duplicate_groups_refresh near_duplicate_groups_drop
SELECT * FROM reference_groups ORDER BY id;
-- near_duplicate_groups_note near_duplicate_groups_create
-- near_duplicate_groups_merge near_duplicate_groups_merge_script near_duplicate_groups_create
BEGIN;
CALL near_duplicate_groups_merge('reference_groups');
ROLLBACK;
-- near_duplicate_groups_merge_script near_duplicate_groups_merge
SELECT count(*) > 0 AS statements FROM near_duplicate_groups_merge_script('reference_groups');
-- neardup_backfill neardup_outdated
CREATE TABLE reference_filled AS SELECT id, body, NULL::signature AS words FROM reference_docs;
CALL neardup_backfill('reference_filled', 'words', 'shingles(body, 1)');
SELECT id, nfeatures(words) FROM reference_filled ORDER BY id;
-- near_duplicate_groups_refresh near_duplicate_groups_create near_duplicate_groups_check
UPDATE reference_docs SET body = 'Trams run again.' WHERE id = 2;
CALL near_duplicate_groups_refresh('reference_groups');
-- near_duplicate_groups_drop near_duplicate_groups_create
SELECT near_duplicate_groups_drop('reference_groups');
-- near_duplicate_groups_of_pairs near_duplicate_groups
SELECT * FROM near_duplicate_groups_of_pairs('VALUES (1, 2), (2, 3), (5, 6)', 'connected');
-- neardup_accept_versions neardup_outdated neardup_versions
-- neardup_components neardup_versions
-- neardup_estimate neardup_estimate_gin
SELECT neardup_estimate(sig) > 0 AS bytes FROM reference_docs;
-- neardup_estimate_gin neardup_estimate
SELECT neardup_estimate_gin(sig, 0.8) > 0 AS bytes FROM reference_docs;
-- neardup_explain_index near_duplicate
SELECT neardup_explain_index('reference_sig', 0.3);
-- neardup_fill neardup_guard
CREATE TABLE reference_titles (title text, sig signature);
CREATE TRIGGER reference_fill BEFORE INSERT OR UPDATE ON reference_titles
  FOR EACH ROW EXECUTE FUNCTION neardup_fill('sig', 'shingles(title, 2)', 'title');
INSERT INTO reference_titles VALUES ('A new reading room') RETURNING nfeatures(sig);
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
-- neardup_guard_check neardup_guard neardup_guard_violations
SELECT neardup_guard_check('reference_docs', 'reference_guard');
-- neardup_guard_rows neardup_guard_violations
SELECT threshold FROM neardup_guard_rows('reference_docs', 'reference_guard');
-- neardup_guard_skipped neardup_guard
SELECT count(*) FROM neardup_guard_skipped();
-- neardup_guard_violations neardup_guard_check
SELECT count(*) FROM neardup_guard_violations('reference_docs', 'reference_guard');
-- neardup_index_check neardup_index_segments
SELECT neardup_index_check('reference_sig', true) >= 3 AS rows;
-- neardup_index_counters neardup_index_segments
-- neardup_index_merges neardup_index_segments
SELECT count(*) FROM neardup_index_merges('reference_sig');
-- neardup_index_segments neardup_index_check neardup_index_merges
SELECT sum(rows) >= 3 AS rows FROM neardup_index_segments('reference_sig');
-- neardup_outdated neardup_accept_versions
SELECT * FROM neardup_outdated('reference_docs', 'sig');
-- neardup_pairs candidate_keys
CALL neardup_pairs('reference_posts', 'id', 'sig', 0.8, 'reference_pairs');
SELECT * FROM reference_pairs WHERE a < 3 ORDER BY a, b;
-- neardup_versions neardup_components
SELECT component FROM neardup_versions() ORDER BY component COLLATE "C";
-- neardup_words shingles
SELECT neardup_words('The libraries opened at 10 a.m.', 'english stop');
-- nfeatures describe
SELECT nfeatures(shingles('one two three four'));
-- pair_evaluation cluster_evaluation f_measure
SELECT (pair_evaluation(found, correct, 0.9)).* FROM (VALUES (true, true), (true, false), (false, true)) AS t (found, correct);
-- passages_html highlight shared_passages
SELECT length(passages_html('one two three', 'one two three', min_words => 2)) > 1000 AS is_page;
-- repeated_passages without_repeated boilerplate
SELECT * FROM repeated_passages($$VALUES (1, 'one two three four'), (2, 'now one, two, three')$$, 3);
-- sample bottom minhash
SELECT describe(sample('one two three four', 8));
-- sentence_pairs shingles
SELECT nfeatures(sentence_pairs('One. Two. Three.'));
-- shared_passages copied_cases coverage highlight
SELECT * FROM shared_passages('now one two three four five', 'one two three four', min_words => 3);
-- shared_values intersection_size
SELECT shared_values(shingles('one two three four'), shingles('one two three five'));
-- shingle_lexicon_agg boilerplate frequent_shingles
SELECT (lexicon_describe(shingle_lexicon_agg(body, 'k=2'))).words FROM reference_docs;
-- shingles describe neardup_words
SELECT nfeatures(shingles('The pool is closed')), nfeatures(shingles('The pool is closed', 2, 'english stop'));
-- sif koala anchored
SELECT nfeatures(sif('the cat sat on the mat', '{cat}', 10));
-- signature signature_query
SELECT signature(signature_query(sig, 0.8)) = sig FROM reference_docs WHERE id = 1;
-- signature_from signature_weighted
SELECT similarity(signature_from('{1,2,3}'), signature_from('{2,3,4}'));
-- signature_hash signature_hash_extended
SELECT signature_hash(shingles('a b c')) = signature_hash(shingles('A, b, c'));
-- signature_hash_extended signature_hash
SELECT signature_hash_extended(shingles('a b c'), 1) = signature_hash_extended(shingles('A, b, c'), 1);
-- signature_intersect_agg signature_union_agg
SELECT nfeatures(signature_intersect_agg(sig)) FROM reference_docs WHERE id < 2;
-- signature_query near_duplicate
SELECT signature_query(shingles('one two three'), 0.8) %% signature_query(shingles('One, two, three'), 0.8);
-- signature_union_agg signature_intersect_agg
SELECT nfeatures(signature_union_agg(sig)) FROM reference_docs WHERE id <> 2;
-- signature_weighted signature_from weighted_words
SELECT cosine(signature_weighted('{1,2}', '{1,0.5}'), signature_weighted('{1,2}', '{1,0.5}'));
-- simhash minhash hamming
SELECT hamming(simhash('one two three four'), simhash('One two, three four'));
-- similarity near_duplicate containment dice cosine
SELECT similarity(shingles('A rose is a rose is a rose.'), shingles('a rose is a flower which is a rose'));
-- size_classes candidate_keys
SELECT size_classes(sig, 0.8) FROM reference_docs WHERE id = 3;
-- supershingle_probability supershingles
SELECT round(supershingle_probability(0.95)::numeric, 3);
-- supershingles megashingles
SELECT near_duplicate(supershingles('one two three four'), supershingles('One two, three four'), 0.95);
-- text_hash long_sentences
SELECT text_hash('Some text') = text_hash('some text!');
-- top_words text_hash
SELECT top_words('pool pool library', 1) = top_words('the pool of a pool', 1);
-- weighted_shingles weighted_words
SELECT nfeatures(weighted_shingles('The city library', shingles, analysis => 'k=2')) FROM reference_words;
-- weighted_words cosine lexicon_agg
SELECT round(cosine(weighted_words('library room', lexicon), weighted_words(body, lexicon))::numeric, 2)
FROM reference_docs, reference_words WHERE id = 1;
-- winnow every_nth
SELECT winnow('{5,3,8,1,9,2}'::bigint[], 3);
-- without_boilerplate boilerplate
SELECT without_boilerplate('The city library opens a new reading room, too', shingles, 2) FROM reference_words;
-- without_repeated repeated_passages without_boilerplate
SELECT without_repeated('one two three four', '{[5,14)}');
-- word_set_agg descriptive_words
SELECT word_set_agg(body) IS NOT NULL AS made FROM reference_docs;
-- word_statistics lexicon_word
SELECT word, tf, df FROM reference_words, word_statistics('library library pool', lexicon) ORDER BY word;
