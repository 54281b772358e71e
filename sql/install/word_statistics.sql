
-- lexicon: reading

CREATE FUNCTION lexicon_trim(lexicon, max_words int, min_df int = 1) RETURNS lexicon
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION lexicon_trim(lexicon, int, int) IS 'a lexicon without its rarest words';

CREATE FUNCTION documents(lexicon) RETURNS bigint
    AS 'MODULE_PATHNAME', 'lexicon_documents'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION documents(lexicon) IS 'number of documents: N';

CREATE FUNCTION words(lexicon) RETURNS bigint
    AS 'MODULE_PATHNAME', 'lexicon_nwords'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION words(lexicon) IS 'number of distinct words';

CREATE FUNCTION length(lexicon) RETURNS bigint
    AS 'MODULE_PATHNAME', 'lexicon_length'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION length(lexicon) IS 'number of words of all documents';

CREATE FUNCTION df_error(lexicon) RETURNS bigint
    AS 'MODULE_PATHNAME', 'lexicon_df_error'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION df_error(lexicon) IS 'maximal error of df()';

CREATE FUNCTION cf_error(lexicon) RETURNS bigint
    AS 'MODULE_PATHNAME', 'lexicon_cf_error'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cf_error(lexicon) IS 'maximal error of cf()';

CREATE FUNCTION df(lexicon, word text) RETURNS bigint
    AS 'MODULE_PATHNAME', 'lexicon_df'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION df(lexicon, text) IS 'documents that have a word';

CREATE FUNCTION cf(lexicon, word text) RETURNS bigint
    AS 'MODULE_PATHNAME', 'lexicon_cf'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION cf(lexicon, text) IS 'occurrences of a word';

CREATE FUNCTION idf(lexicon, word text) RETURNS double precision
    AS 'MODULE_PATHNAME', 'lexicon_word_idf'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION idf(lexicon, text) IS 'inverse document frequency of a word: log(N / df)';

CREATE FUNCTION ridf(lexicon, word text) RETURNS double precision
    AS 'MODULE_PATHNAME', 'lexicon_word_ridf'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION ridf(lexicon, text) IS 'residual idf of a word: idf + log(1 - exp(-cf / N))';

CREATE FUNCTION lexicon_describe(lexicon) RETURNS text
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION lexicon_describe(lexicon) IS 'describes a lexicon: analysis, documents and words';

CREATE FUNCTION lexicon_words(lexicon, OUT hash bigint, OUT df bigint, OUT cf bigint,
                              OUT idf double precision, OUT ridf double precision) RETURNS SETOF record
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100 ROWS 10000;
COMMENT ON FUNCTION lexicon_words(lexicon) IS 'the words of a lexicon, by hash';

CREATE FUNCTION word_statistics(doc text, lexicon, analysis text = '',
                                OUT word text, OUT tf int, OUT df bigint, OUT cf bigint,
                                OUT idf double precision, OUT ridf double precision) RETURNS SETOF record
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100 ROWS 100;
COMMENT ON FUNCTION word_statistics(text, lexicon, text) IS 'the words of a document with their statistics';
