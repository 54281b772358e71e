--
-- test/bench/methods.sql
--		Recall, precision, F and time of all methods on collections whose
--		near-duplicates are known: the tables of doc/methods_measured.md.
--
-- Portions Copyright (c) 2026, the neardup developers
--
SET client_min_messages = warning;
\pset footer off

CREATE SCHEMA known;

-- The texts, and their true pairs, judged by people or counted exactly
CREATE TABLE known.descriptions (id int PRIMARY KEY, body text);
CREATE TABLE known.description_pairs (id1 int, id2 int, jaccard float8, overlap int, size1 int, size2 int, package int);
CREATE TABLE known.titles (id int PRIMARY KEY, body text);
CREATE TABLE known.title_pairs (id1 int, id2 int, label int, jaccard float8);
CREATE TABLE known.essays (id int PRIMARY KEY, body text);
CREATE TABLE known.essay_pairs (id1 int, id2 int, label int, jaccard float8, kind text);
CREATE TABLE known.answers (id int PRIMARY KEY, body text);
CREATE TABLE known.answer_pairs (id1 int, id2 int, level int, category text, jaccard float8, containment float8);
CREATE TABLE known.poets (id int PRIMARY KEY, poet text, form text, body text);
\copy known.descriptions FROM PROGRAM 'xz -dc "$DATA/debdesc_20k/docs.tsv.xz"'
\copy known.description_pairs FROM PROGRAM 'xz -dc "$DATA/debdesc_20k/pairs.tsv.xz"'
\copy known.titles FROM PROGRAM 'xz -dc "$DATA/er_dblp_acm/docs.tsv.xz"'
\copy known.title_pairs FROM PROGRAM 'xz -dc "$DATA/er_dblp_acm/pairs.tsv.xz"'
\copy known.essays FROM PROGRAM 'xz -dc "$DATA/ua_gec/docs.tsv.xz"'
\copy known.essay_pairs FROM PROGRAM 'xz -dc "$DATA/ua_gec/pairs.tsv.xz"'
\copy known.answers FROM PROGRAM 'xz -dc "$DATA/clough_stevenson/docs.tsv.xz"'
\copy known.answer_pairs FROM PROGRAM 'xz -dc "$DATA/clough_stevenson/pairs.tsv.xz"'
\copy known.poets FROM PROGRAM 'xz -dc "$DATA/persian_poets/docs.tsv.xz"'

-- Records are compared across catalogues, answers with their sources
CREATE TABLE known.collections (place int, name text, documents text,
    truth text, analysis text, stopped text, anchors text[], condition text);
INSERT INTO known.collections VALUES
(1, 'descriptions', 'TABLE known.descriptions',
    'SELECT id1, id2 FROM known.description_pairs WHERE jaccard >= 0.8',
    'simple', 'english stop', '{the,of,and,to,for}', 'true'),
(2, 'titles', 'TABLE known.titles', 'TABLE known.title_pairs',
    'simple', 'english stop', '{the,of,and,in,for}',
    '(a.id <= 2616) <> (b.id <= 2616)'),
(3, 'essays', 'TABLE known.essays', 'TABLE known.essay_pairs',
    'ukrainian', 'ukrainian stop', '{і,в,на,що,не}', 'true'),
(4, 'answers', 'TABLE known.answers',
    'SELECT id1, id2 FROM known.answer_pairs WHERE level > 0',
    'english', 'english stop', '{the,of,and,to,in}',
    '(a.id >= 96) <> (b.id >= 96)'),
(5, 'poets', 'SELECT id, body FROM known.poets',
    'SELECT a.id AS id1, b.id AS id2 FROM known.poets a JOIN known.poets b
     ON a.poet = b.poet AND a.id < b.id',
    'persian', 'persian stop', '{از,و,به,در,که}', 'true');

-- The methods.  What is in braces is of the collection.  No thresholds: the
-- method has a rule of its own.
CREATE TABLE known.methods (place serial, name text, call text,
    thresholds float8[], measure text DEFAULT 'jaccard');
INSERT INTO known.methods (name, call) VALUES
('hash of the text', 'text_hash(body, {analysis})'),
('Long Sent', 'long_sentences(body, analysis => {analysis})'),
('Heavy Sent', 'heavy_sentences(body, {lexicon})'),
('TF', 'top_words(body, 6, {analysis})'),
('TF-IDF', 'top_words(body, {lexicon})'),
('normalised TF-IDF', 'top_words(body, {lexicon}, 6, ''ntf-idf'')'),
('BM25', 'top_words(body, {lexicon}, 6, ''bm25'')'),
('TF-RIDF', 'top_words(body, {lexicon}, 6, ''tf-ridf'')'),
('I-Match, one lexicon', 'imatch(body, {lexicon}, 0)'),
('I-Match, 11 lexicons', 'imatch(body, {lexicon})'),
('descriptive words', 'descriptive_words(body, (SELECT word_set FROM collection))'),
('fuzzy fingerprint', 'fuzzy_fingerprint(body, {lexicon})'),
('supershingles', 'supershingles({set})'),
('megashingles', 'megashingles({set})');
INSERT INTO known.methods (name, call, thresholds) VALUES
('simhash', 'simhash({set})', '{0.796875,0.84375,0.90625,0.953125}');
INSERT INTO known.methods (name, call, thresholds)
SELECT name, call, '{0.1,0.2,0.3,0.5,0.7,0.8,0.9}'
FROM (VALUES
('min-hash', 'minhash({set})'),
('min-hash, words weighted by tf', 'minhash(shingles(body, {analysis} || '' repeats=number k=1''))'),
('MIN_s, s = 100', 'bottom({set}, 100)'),
('MOD_m, m = 8', 'sample({set}, 8)'),
('shingles', '{set}'),
('... without stop words', 'shingles(body, {stopped})'),
('... order=sorted', 'shingles(body, {analysis} || '' order=sorted'')'),
('... order=xor', 'shingles(body, {analysis} || '' order=xor'')'),
('... order=sum', 'shingles(body, {analysis} || '' order=sum'')'),
('... common ones left out', 'leave_out({set}, (SELECT common FROM collection))'),
('words', 'shingles(body, 1, {analysis})'),
('words, numbered', 'shingles(body, {analysis} || '' repeats=number k=1'')'),
('characters, 5', 'shingles(body, ''unit=char k=5'')'),
('winnowing, window 4', 'winnow(body, 4, 0, {analysis})'),
('every 4th', 'every_nth(body, 4, 0, {analysis})'),
('anchored', 'anchored(body, {anchors}, 0, {analysis})'),
('sif', 'sif(body, {anchors})'),
('Koala', 'koala(body)'),
('sentence pairs', 'sentence_pairs(body, {analysis})')) m (name, call);
-- by other measures; nearly all documents have a cosine of 0.1
INSERT INTO known.methods (name, call, measure, thresholds) VALUES
('shingles, by overlap', '{set}', 'overlap_coefficient', '{0.1,0.2,0.3,0.5,0.7,0.8,0.9}'),
('sentence pairs, by overlap', 'sentence_pairs(body, {analysis})', 'overlap_coefficient', '{0.1,0.2,0.3,0.5,0.7,0.8,0.9}'),
('vector of tf, by cosine', 'weighted_words(body, {analysis})', 'cosine', '{0.7,0.8,0.9}'),
('vector of tf-idf, by cosine', 'weighted_words(body, {lexicon})', 'cosine', '{0.3,0.5,0.7,0.8,0.9}'),
('vector of tf-ridf, by cosine', 'weighted_words(body, {lexicon}, ''tf-ridf'')', 'cosine', '{0.3,0.5,0.7,0.8,0.9}');

CREATE TABLE known.results (sweep bool, collection text, method int,
    threshold float8, bytes float8, recall float8, "precision" float8,
    f float8, ms float8);

-- A method's expression on a collection
CREATE FUNCTION known.expression(m known.methods, c known.collections)
RETURNS text LANGUAGE sql IMMUTABLE
RETURN replace(replace(replace(replace(replace(m.call,
    '{set}', 'shingles(body, {analysis})'),
    '{lexicon}', '(SELECT words FROM collection)'),
    '{analysis}', quote_literal(c.analysis)),
    '{stopped}', quote_literal(c.stopped)),
    '{anchors}', quote_literal(c.anchors));

-- The statistics that methods use; common shingles are in more than one document in a
-- hundred, and in more than twenty
CREATE PROCEDURE known.prepare(c known.collections) LANGUAGE plpgsql AS $$
BEGIN
    DROP TABLE IF EXISTS collection;
    EXECUTE format('CREATE TEMP TABLE collection AS SELECT lexicon_agg(body, %1$L) AS words, '
                   'word_set_agg(body, %1$L) AS word_set, '
                   '(SELECT signature_from(coalesce(array_agg(f), ''{}'')) FROM '
                   '(SELECT f FROM (%2$s) d, unnest(shingles(body, %1$L)::bigint[]) f '
                   'GROUP BY f HAVING count(*) > greatest((SELECT count(*) FROM (%2$s) d) / 100, 20)) s) AS common '
                   'FROM (%2$s) d', c.analysis, c.documents);
END $$;

-- Methods at their thresholds on a collection, by one call
CREATE PROCEDURE known.compare(sweep bool, c known.collections, places int[],
                               thresholds float8[])
LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO known.results
    SELECT sweep, c.name, places[e.ordinality], e.threshold, e.bytes, e.recall,
           e.precision, coalesce(e.f, 0), e.make_ms + e.find_ms
    FROM evaluate_methods(c.documents, c.truth,
        ARRAY(SELECT known.expression(m, c)
              FROM unnest(places) WITH ORDINALITY p (place, n)
              JOIN known.methods m USING (place) ORDER BY n),
        thresholds, c.condition,
        ARRAY(SELECT m.measure FROM unnest(places) WITH ORDINALITY p (place, n)
              JOIN known.methods m USING (place) ORDER BY n))
        WITH ORDINALITY e;
END $$;

-- First each method at each of its thresholds, then at its best
CREATE PROCEDURE known.compare_all(runs int) LANGUAGE plpgsql AS $$
DECLARE
    c known.collections;
    places int[];
    thresholds float8[];
BEGIN
    FOR c IN SELECT * FROM known.collections ORDER BY place LOOP
        CALL known.prepare(c);
        SELECT array_agg(place ORDER BY place, t), array_agg(t ORDER BY place, t)
        INTO places, thresholds
        FROM known.methods, unnest(coalesce(methods.thresholds, '{1}')) t;
        CALL known.compare(true, c, places, thresholds);
        SELECT array_agg(method), array_agg(threshold) INTO places, thresholds
        FROM (SELECT DISTINCT ON (method) method, threshold
              FROM known.results WHERE collection = c.name
              ORDER BY method, f DESC, threshold DESC) best;
        FOR run IN 1 .. runs LOOP
            CALL known.compare(false, c, places, thresholds);
        END LOOP;
        COMMIT;
    END LOOP;
END $$;
CALL known.compare_all(:runs);

-- Two digits without a leading zero, as in the sources
CREATE FUNCTION known.short(figure float8) RETURNS text LANGUAGE sql IMMUTABLE
RETURN coalesce(CASE WHEN round(figure::numeric, 2) = 1 THEN '1.0'
                ELSE ltrim(round(figure::numeric, 2)::text, '0') END, '–');

CREATE VIEW known.medians AS
SELECT sweep, collection, method, threshold, avg(bytes) AS bytes,
       CASE WHEN avg(recall) > 0 THEN
         concat_ws(' ', known.short(avg(recall)), known.short(avg("precision")),
                   known.short(avg(f)))
       ELSE '–' END AS rpf,
       percentile_cont(0.5) WITHIN GROUP (ORDER BY ms) AS ms
FROM known.results GROUP BY sweep, collection, method, threshold;

-- One line of a table for each method or threshold, a column per collection
\pset format unaligned
\pset tuples_only on
\echo 'Each at its best threshold: recall, precision, F, threshold'
SELECT concat_ws(' | ', '| ' || m.name,
         round(max(r.bytes) FILTER (WHERE r.collection = 'descriptions')),
         string_agg(r.rpf || CASE WHEN r.rpf = '–' OR m.thresholds IS NULL THEN ''
           ELSE ' @ ' || known.short(r.threshold) END, ' | ' ORDER BY c.place)) || ' |'
FROM known.methods m JOIN known.medians r ON r.method = m.place
JOIN known.collections c ON c.name = r.collection
WHERE NOT r.sweep GROUP BY m.place, m.name ORDER BY m.place;
\echo 'Milliseconds for signatures and pairs'
SELECT concat_ws(' | ', '| ' || m.name,
         string_agg(round(r.ms)::text, ' | ' ORDER BY c.place)) || ' |'
FROM known.methods m JOIN known.medians r ON r.method = m.place
JOIN known.collections c ON c.name = r.collection
WHERE NOT r.sweep GROUP BY m.place, m.name ORDER BY m.place;
\echo 'What the threshold does'
SELECT concat_ws(' | ', '| ' || m.name, known.short(r.threshold),
         string_agg(r.rpf, ' | ' ORDER BY c.place)) || ' |'
FROM known.methods m JOIN known.medians r ON r.method = m.place
JOIN known.collections c ON c.name = r.collection
WHERE r.sweep AND m.name IN ('simhash', 'min-hash', 'shingles', 'words', 'sentence pairs',
  'shingles, by overlap', 'vector of tf-idf, by cosine')
GROUP BY m.place, m.name, r.threshold ORDER BY m.place, r.threshold;
\pset tuples_only off
\pset format aligned
