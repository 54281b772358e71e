--
-- Golden bytes: stored values never change.  If this test fails, values that users
-- stored with an earlier version differ from those computed today: mend the code,
-- not the expected bytes.
--
\pset format unaligned

CREATE TEMP TABLE texts AS SELECT
    'A rose is a rose is a rose. The house, the garden and the roses in it are old; nobody knows them. The house is a rose.' AS en,
    'Роза есть роза. Ёлка стоит в лесу, и дома стоят там же. Роза ёлке не подруга.' AS ru;
CREATE TEMP TABLE stats AS
SELECT lexicon_agg(d) AS lexicon, lexicon_agg(d, 'english stop') AS stopped
FROM unnest('{a rose is a rose,the house and the garden,old roses in the garden,nobody is in the house,an old house in an old garden}'::text[]) d;
CREATE TEMP TABLE word_sets AS
SELECT ROW('simple', weighted_words('rose house garden old')::bigint[], '{0.01,0.02,0.03,0.04}', NULL)::word_set AS words;

-- Every method: header and values, little-endian
CREATE TEMP TABLE golden AS
SELECT name, sig FROM texts, stats, word_sets, LATERAL (VALUES
    ('shingles', shingles(en)),
    ('shingles, numbered', shingles(en, 'k=1 repeats=number')),
    ('shingles, sorted', shingles(en, 'order=sorted k=4')),
    ('shingles, xor', shingles(en, 'order=xor k=2')),
    ('shingles, sum', shingles(en, 'order=sum k=2')),
    ('shingles, characters', shingles('Rose, ROSE', 'unit=char k=4')),
    ('shingles, sentences', shingles(en, 'unit=sentence k=2')),
    ('shingles, lines', shingles(E'a rose\nis\na rose', 'unit=line k=1')),
    ('shingles, English', shingles(en, 'english stop')),
    ('shingles, Russian', shingles(ru, 'russian minlen=2')),
    ('shingles, filtered', shingles(en || ' 1x ' || ru, 'maxlen=4 digits=drop script=latin accents=fold')),
    ('shingles, markup', shingles('<p>a &eacute;t&eacute; <b>rose</b></p>', 'html k=1')),
    ('shingles, configured', shingles('english'::regconfig, en, 2)),
    ('shingles, of no words', shingles('')),
    ('features', signature_from('{-1,0,1,9223372036854775807}')),
    ('features, weighted', signature_from('{7,-7}', '{3,1}')),
    ('minhash', minhash(en, 20)),
    ('minhash of features', minhash(signature_from('{1,2,3}'), 16)),
    ('minhash of one', minhash('rose', 9)),
    ('minhash of none', minhash('', 9)),
    ('bottom', bottom(en, 5)),
    ('bottom of features', bottom(signature_from('{1,2,3,4,5}'), 2)),
    ('sample', sample(en, 4)),
    ('sample of features', sample(signature_from('{1,2,3,4,5,6,7,8}'), 3)),
    ('supershingles', supershingles(en, 3, 4)),
    ('megashingles', megashingles(en, 3, 4)),
    ('simhash', simhash(en)),
    ('simhash of features', simhash(signature_from('{1,2,3}'))),
    ('winnow', winnow(en, 4)),
    ('every_nth', every_nth(en, 5)),
    ('anchored', anchored(en, '{the,a rose}', 2)),
    ('sif', sif(en, '{the}', 8)),
    ('koala', koala(en, 3, 6)),
    ('leave_out', leave_out(shingles(en, 1), shingles('the rose', 1))),
    ('sentence_pairs', sentence_pairs('One rose. One rose. One rose. Two houses.')),
    ('text_hash', text_hash(en)),
    ('long_sentences', long_sentences(en)),
    ('heavy_sentences', heavy_sentences(en, lexicon)),
    ('top_words', top_words(en)),
    ('top_words, tf-idf', top_words(en, stopped, 3)),
    ('top_words, ntf-idf', top_words(en, lexicon, 3, 'ntf-idf')),
    ('top_words, bm25', top_words(en, lexicon, 3, 'bm25')),
    ('top_words, bm25 with parameters', top_words(en, lexicon, 3, 'bm25 k1=1.2 b=0.5 floor=0.1')),
    ('top_words, tf-ridf', top_words(en, lexicon, 3, 'tf-ridf')),
    ('imatch', imatch(en, lexicon, 4, 1, 0, 1, 0.3, 7)),
    ('descriptive_words', descriptive_words(en, words)),
    ('fuzzy_fingerprint', fuzzy_fingerprint(en, lexicon)),
    ('weighted', signature_weighted('{3,-1,3}', '{0.5,1e-40,2}')),
    ('weighted_words', weighted_words('a rose is a rose')),
    ('weighted_words, bm25', weighted_words('a rose is a rose', lexicon, 'bm25')),
    ('dense', dense('{1,-2,0,0.5}')),
    ('dense, of zeros', dense('{0,0,0}')),
    ('weighted_shingles', weighted_shingles('a rose is a rose', (SELECT shingle_lexicon_agg(d, 'k=2') FROM unnest('{a rose is,is a rose,a house}'::text[]) d)))) v (name, sig);
SELECT name, encode(sig::bytea, 'hex') AS bytes FROM golden ORDER BY name COLLATE "C";
-- none is missing: 15 stands for no method
SELECT array_agg(n ORDER BY n) AS missing FROM generate_series(1, 27) n
WHERE n NOT IN (SELECT get_byte(sig::bytea, 1) FROM golden WHERE sig IS NOT NULL);

-- Hashes, on which hash partitions rely, and the order, of all of them
SELECT name, signature_hash(sig), signature_hash_extended(sig, 42) FROM golden ORDER BY sig, name COLLATE "C";
-- Lexicons
SELECT encode(lexicon::bytea, 'hex') AS bytes FROM stats;
SELECT encode(lexicon_trim(stopped, 3)::bytea, 'hex') AS bytes FROM stats;

-- Queries of an index
SELECT encode(signature_query_send(signature_query(sig, 0.8, measure)), 'hex') AS bytes
FROM golden, unnest('{jaccard,containment,contains,dice,cosine,overlap_coefficient}'::text[]) WITH ORDINALITY m (measure, i)
WHERE name = 'features' ORDER BY i;

-- Keys in an index: the entries on the page of a GIN index of one row, 32 of 64 bits.
-- The page is read from the file, as SQL shows no key of an index.
CREATE FUNCTION gin_keys(sig signature) RETURNS int[] LANGUAGE plpgsql AS $$
DECLARE
    block int = current_setting('block_size');
    page bytea;
    big boolean;
    at int;
    key text;
    keys int[] = '{}';
BEGIN
    CREATE TABLE one AS SELECT sig;
    CREATE INDEX one_gin ON one USING gin (sig);
    CHECKPOINT;
    page := pg_read_binary_file(pg_relation_filepath('one_gin'), block, block);
    DROP TABLE one;
    -- page size and layout version 4 show the machine's byte order
    big := get_byte(page, 19) = 4;
    -- from pd_lower the number of line pointers; of each, lp_off
    FOR item IN 0 .. (CASE WHEN big THEN get_byte(page, 13) + 256 * get_byte(page, 12) ELSE get_byte(page, 12) + 256 * get_byte(page, 13) END - 24) / 4 - 1 LOOP
        at := 24 + 4 * item;
        at := CASE WHEN big THEN (get_byte(page, at) << 7) + (get_byte(page, at + 1) >> 1) ELSE get_byte(page, at) + 256 * (get_byte(page, at + 1) & 127) END;
        -- after the header of the index tuple
        key := encode(substr(page, at + 9, 4), 'hex');
        IF NOT big THEN
            key := substr(key, 7, 2) || substr(key, 5, 2) || substr(key, 3, 2) || substr(key, 1, 2);
        END IF;
        keys := keys || ('x' || key)::bit(32)::int;
    END LOOP;
    RETURN keys;
END $$;
SELECT name, gin_keys(sig) AS keys FROM golden
WHERE name IN ('features', 'minhash of one', 'text_hash', 'shingles, characters', 'simhash', 'supershingles', 'weighted', 'weighted_words', 'shingles, of no words')
ORDER BY name COLLATE "C";

-- Exported keys, by hashes and by counters
SELECT name, md5(candidate_keys(sig, 0.8)::text) AS digest FROM golden
WHERE name IN ('features', 'minhash of one', 'text_hash', 'shingles, characters', 'simhash', 'supershingles', 'weighted', 'weighted_words')
ORDER BY name COLLATE "C";
WITH counted AS (
    SELECT feature_counts(s) AS counts FROM unnest('{"{1,2,3,4,5,6}", "{4,5,6}", "{6}"}'::text[]) v (f), signature_from(f::bigint[]) s)
SELECT md5(counts) AS digest, candidate_keys(signature_from('{1,2,3,4,5,6}'::bigint[]), 0.8, 'jaccard', counts) AS keys FROM counted;

-- Bands
SELECT * FROM lsh_parameters(0.5, 0.9, 128);

-- More of each, as a digest: texts of 0 to 599 words, some of them long
CREATE TEMP TABLE many AS
SELECT i, (SELECT coalesce(string_agg('w' || (j::bigint * j * 40503 + i * 2654435761 >> 7) % (3 + i), CASE j % 11 WHEN 0 THEN '. W ' ELSE ' ' END ORDER BY j), '')
           FROM generate_series(1, i) j) AS doc
FROM generate_series(0, 599, 7) i;
SELECT name, md5(string_agg(coalesce(sig::bytea, ''), ''::bytea ORDER BY i)) AS digest
FROM many, stats, word_sets, LATERAL (VALUES
    ('shingles', shingles(doc)), ('shingles, sorted', shingles(doc, 'order=sorted k=7')),
    ('minhash', minhash(doc)), ('minhash of features', minhash(signature_from(shingles(doc)::bigint[]), 300)),
    ('bottom', bottom(doc, 50)), ('sample', sample(doc, 8)), ('supershingles', supershingles(doc)),
    ('megashingles', megashingles(doc)), ('simhash', simhash(doc)), ('winnow', winnow(doc, 6)), ('koala', koala(doc)),
    ('sif', sif(doc, '{w1,w2}')), ('anchored', anchored(doc, '{w1,w2}')), ('sentence_pairs', sentence_pairs(doc)),
    ('long_sentences', long_sentences(doc)), ('weighted_words', weighted_words(doc))) v (name, sig)
GROUP BY name ORDER BY name COLLATE "C";
SELECT md5(lexicon_agg(doc)::bytea) AS digest FROM many;
