
-- lexicon: reading

CREATE FUNCTION lexicon_trim(lexicon, max_words int, min_df int = 1) RETURNS lexicon
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION lexicon_trim(lexicon, int, int) IS 'a lexicon without its rarest words';

CREATE FUNCTION lexicon_describe(lexicon, OUT analysis text, OUT documents bigint, OUT words bigint,
                                 OUT length bigint, OUT df_error bigint, OUT cf_error bigint) RETURNS record
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION lexicon_describe(lexicon) IS 'analysis of a lexicon, number of documents, distinct words and words, maximal errors of df and cf';

CREATE FUNCTION lexicon_word(lexicon, word text, OUT df bigint, OUT cf bigint,
                             OUT idf double precision, OUT ridf double precision) RETURNS record
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION lexicon_word(lexicon, text) IS 'documents that have a word, its occurrences, idf and residual idf';

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
