
-- lexical

CREATE FUNCTION text_hash(doc text, analysis text = '') RETURNS signature
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION text_hash(text, text) IS 'hash of all words of a document';

CREATE FUNCTION text_hash(config regconfig, doc text) RETURNS signature
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 200;
COMMENT ON FUNCTION text_hash(regconfig, text) IS 'hash of all words of a document, made by a text search configuration';

CREATE FUNCTION long_sentences(doc text, n int = 2, analysis text = '') RETURNS signature
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION long_sentences(text, int, text) IS 'hash of the n longest sentences of a document';

CREATE FUNCTION long_sentences(config regconfig, doc text, n int = 2) RETURNS signature
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 200;
COMMENT ON FUNCTION long_sentences(regconfig, text, int) IS 'hash of the n longest sentences of a document; a text search configuration makes the words';

CREATE FUNCTION heavy_sentences(doc text, lexicon, n int = 2, weight text = 'tf-idf',
                                analysis text = '') RETURNS signature
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION heavy_sentences(text, lexicon, int, text, text) IS 'hash of the n sentences of a document whose words weigh most';

CREATE FUNCTION heavy_sentences(config regconfig, doc text, lexicon, n int = 2,
                                weight text = 'tf-idf') RETURNS signature
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 200;
COMMENT ON FUNCTION heavy_sentences(regconfig, text, lexicon, int, text) IS 'hash of the n sentences of a document whose words weigh most; a text search configuration makes the words';

CREATE FUNCTION top_words(doc text, n int = 6, analysis text = '') RETURNS signature
    AS 'MODULE_PATHNAME', 'top_words_by_tf'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION top_words(text, int, text) IS 'hash of the n most frequent words of a document';

CREATE FUNCTION top_words(config regconfig, doc text, n int = 6) RETURNS signature
    AS 'MODULE_PATHNAME', 'top_words_by_tf'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 200;
COMMENT ON FUNCTION top_words(regconfig, text, int) IS 'hash of the n most frequent words of a document, made by a text search configuration';

CREATE FUNCTION top_words(doc text, lexicon, n int = 6, weight text = 'tf-idf',
                          analysis text = '') RETURNS signature
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION top_words(text, lexicon, int, text, text) IS 'hash of the n words of a document that weigh most';

CREATE FUNCTION top_words(config regconfig, doc text, lexicon, n int = 6,
                          weight text = 'tf-idf') RETURNS signature
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 200;
COMMENT ON FUNCTION top_words(regconfig, text, lexicon, int, text) IS 'hash of the n words of a document, made by a text search configuration, that weigh most';

CREATE FUNCTION imatch(doc text, lexicon, lexicons int = 10, minimum int = 4,
                       low double precision = 0.2, high double precision = 0.8,
                       removed double precision = 0.33, seed bigint = 0,
                       analysis text = '') RETURNS signature
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION imatch(text, lexicon, int, int, double precision, double precision, double precision, bigint, text) IS 'hashes of the words of medium rarity of a document';

CREATE FUNCTION imatch(config regconfig, doc text, lexicon, lexicons int = 10, minimum int = 4,
                       low double precision = 0.2, high double precision = 0.8,
                       removed double precision = 0.33, seed bigint = 0) RETURNS signature
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 200;
COMMENT ON FUNCTION imatch(regconfig, text, lexicon, int, int, double precision, double precision, double precision, bigint) IS 'hashes of the words of medium rarity of a document; a text search configuration makes the words';

CREATE FUNCTION fuzzy_fingerprint(doc text, lexicon, schemes int = 3, analysis text = '') RETURNS signature
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION fuzzy_fingerprint(text, lexicon, int, text) IS 'first letters that a document uses more or less than the collection';

CREATE FUNCTION fuzzy_fingerprint(config regconfig, doc text, lexicon, schemes int = 3) RETURNS signature
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 200;
COMMENT ON FUNCTION fuzzy_fingerprint(regconfig, text, lexicon, int) IS 'first letters that a document uses more or less than the collection; a text search configuration makes the words';
