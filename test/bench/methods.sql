--
-- test/bench/methods.sql
--		Recall, precision, F and time of all methods on collections whose
--		near-duplicates are known: the table of doc/methods.md.
--
-- Portions Copyright (c) 2026, the neardup developers
--
SET client_min_messages = warning;
\pset footer off

CREATE SCHEMA known;
CREATE TABLE known.descriptions (id int PRIMARY KEY, body text);
CREATE TABLE known.description_pairs (id1 int, id2 int, jaccard float8, overlap int, size1 int, size2 int, package int);
CREATE TABLE known.titles (id int PRIMARY KEY, body text);
CREATE TABLE known.title_pairs (id1 int, id2 int, label int, jaccard float8);
CREATE TABLE known.essays (id int PRIMARY KEY, body text);
CREATE TABLE known.essay_pairs (id1 int, id2 int, label int, jaccard float8, kind text);
\copy known.descriptions FROM PROGRAM 'xz -dc "$DATA/debdesc_20k/docs.tsv.xz"'
\copy known.description_pairs FROM PROGRAM 'xz -dc "$DATA/debdesc_20k/pairs.tsv.xz"'
\copy known.titles FROM PROGRAM 'xz -dc "$DATA/er_dblp_acm/docs.tsv.xz"'
\copy known.title_pairs FROM PROGRAM 'xz -dc "$DATA/er_dblp_acm/pairs.tsv.xz"'
\copy known.essays FROM PROGRAM 'xz -dc "$DATA/ua_gec/docs.tsv.xz"'
\copy known.essay_pairs FROM PROGRAM 'xz -dc "$DATA/ua_gec/pairs.tsv.xz"'

-- All methods on one collection
CREATE FUNCTION known.compare(documents text, truth text, analysis text,
                              condition text = 'true')
RETURNS TABLE (method text, threshold numeric, signatures bigint, bytes int,
               found bigint, recall numeric, "precision" numeric, f numeric,
               make_ms int, find_ms int)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    lexicon text := '(SELECT words FROM collection)';
    shingled text := format('shingles(body, %L)', analysis);
BEGIN
    EXECUTE format('CREATE TEMP TABLE collection AS SELECT lexicon_agg(body, %1$L) AS words, '
                   'word_set_agg(body, %1$L) AS word_set FROM (%2$s) d', analysis, documents);
    RETURN QUERY
    SELECT replace(replace(e.method, lexicon, 'lexicon'), format(', %L', analysis), ''),
           round(e.threshold::numeric, 2), e.signatures, round(e.bytes)::int,
           e.found, round(e.recall::numeric, 3), round(e.precision::numeric, 3),
           round(e.f::numeric, 3), round(e.make_ms)::int, round(e.find_ms)::int
    FROM evaluate_methods(documents, truth,
        ARRAY[format('text_hash(body, %L)', analysis),
              format('long_sentences(body, %L)', analysis),
              format('heavy_sentences(body, %s)', lexicon),
              format('top_words(body, 6, %L)', analysis),
              format('top_words(body, %s)', lexicon),
              format('top_words(body, %s, 6, ''ntf-idf'')', lexicon),
              format('top_words(body, %s, 6, ''bm25'')', lexicon),
              format('top_words(body, %s, 6, ''tf-ridf'')', lexicon),
              format('imatch(body, %s, 0)', lexicon),
              format('imatch(body, %s)', lexicon),
              'descriptive_words(body, (SELECT word_set FROM collection))',
              format('fuzzy_fingerprint(body, %s)', lexicon),
              format('megashingles(%s)', shingled), format('simhash(%s)', shingled),
              format('minhash(%s)', shingled), format('minhash(%s)', shingled),
              shingled, shingled, shingled, format('shingles(body, 1, %L)', analysis),
              format('sentence_pairs(body, %L)', analysis)],
        '{1,1,1,1,1,1,1,1,1,1,1,1,1,0.953125,0.8,0.5,0.8,0.5,0.3,0.5,0.3}',
        condition) e;
    DROP TABLE collection;
END $$;

\echo Descriptions
SELECT * FROM known.compare('TABLE known.descriptions',
    'SELECT id1, id2 FROM known.description_pairs WHERE jaccard >= 0.8', 'simple');
\echo Titles
SELECT * FROM known.compare('TABLE known.titles', 'TABLE known.title_pairs',
    'simple', '(a.id <= 2616) <> (b.id <= 2616)');
\echo Essays
SELECT * FROM known.compare('TABLE known.essays', 'TABLE known.essay_pairs',
    'ukrainian');
