
-- weighted

CREATE FUNCTION signature_weighted(features bigint[], weights real[]) RETURNS signature
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION signature_weighted(bigint[], real[]) IS 'the vector of given features and their weights';

CREATE FUNCTION weighted_words(doc text, analysis text = '') RETURNS signature
    AS 'MODULE_PATHNAME', 'weighted_words_by_tf'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION weighted_words(text, text) IS 'the vector of a document: each word by its share of all words';

CREATE FUNCTION weighted_words(config regconfig, doc text) RETURNS signature
    AS 'MODULE_PATHNAME', 'weighted_words_by_tf'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 200;
COMMENT ON FUNCTION weighted_words(regconfig, text) IS 'the vector of a document: each word by its share of all words; a text search configuration makes the words';

CREATE FUNCTION weighted_words(doc text, lexicon, weight text = 'tf-idf',
                               analysis text = '') RETURNS signature
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION weighted_words(text, lexicon, text, text) IS 'the vector of a document: each word with its weight';

CREATE FUNCTION weighted_words(config regconfig, doc text, lexicon,
                               weight text = 'tf-idf') RETURNS signature
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 200;
COMMENT ON FUNCTION weighted_words(regconfig, text, lexicon, text) IS 'the vector of a document: each word with its weight; a text search configuration makes the words';

CREATE FUNCTION weighted_shingles(doc text, lexicon, weight text = 'tf-idf',
                                  analysis text = '') RETURNS signature
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION weighted_shingles(text, lexicon, text, text) IS 'the vector of a document: each shingle with its weight';
