
-- descriptive words

CREATE TYPE word_set_round AS (words int, covered double precision, unstable double precision);
COMMENT ON TYPE word_set_round IS 'words left by a round of building a word set';

CREATE TYPE word_set AS (analysis text, words bigint[], thresholds real[], rounds word_set_round[]);
COMMENT ON TYPE word_set IS 'descriptive words, and the share of a document above which each counts';

CREATE FUNCTION word_set_agg_add(bytea, text) RETURNS bytea
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION word_set_agg_add(bytea, text) IS 'transition function of word_set_agg';

CREATE FUNCTION word_set_agg_add(bytea, text, text) RETURNS bytea
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION word_set_agg_add(bytea, text, text) IS 'transition function of word_set_agg';

CREATE FUNCTION word_set_agg_add(bytea, text, text, int) RETURNS bytea
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION word_set_agg_add(bytea, text, text, int) IS 'transition function of word_set_agg';

CREATE FUNCTION word_set_agg_add(bytea, regconfig, text) RETURNS bytea
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION word_set_agg_add(bytea, regconfig, text) IS 'transition function of word_set_agg';

CREATE FUNCTION word_set_agg_add(bytea, regconfig, text, int) RETURNS bytea
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION word_set_agg_add(bytea, regconfig, text, int) IS 'transition function of word_set_agg';

CREATE FUNCTION word_set_agg_combine(bytea, bytea) RETURNS bytea
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION word_set_agg_combine(bytea, bytea) IS 'combine function of word_set_agg';

CREATE FUNCTION word_set_agg_final(bytea) RETURNS word_set
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION word_set_agg_final(bytea) IS 'final function of word_set_agg';

CREATE AGGREGATE word_set_agg(doc text) (
    SFUNC = word_set_agg_add, STYPE = bytea, SSPACE = 65536,
    FINALFUNC = word_set_agg_final, FINALFUNC_MODIFY = READ_ONLY,
    COMBINEFUNC = word_set_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE word_set_agg(text) IS 'a set of descriptive words for documents';

CREATE AGGREGATE word_set_agg(doc text, analysis text) (
    SFUNC = word_set_agg_add, STYPE = bytea, SSPACE = 65536,
    FINALFUNC = word_set_agg_final, FINALFUNC_MODIFY = READ_ONLY,
    COMBINEFUNC = word_set_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE word_set_agg(text, text) IS 'a set of descriptive words for documents';

CREATE AGGREGATE word_set_agg(doc text, analysis text, words int) (
    SFUNC = word_set_agg_add, STYPE = bytea, SSPACE = 65536,
    FINALFUNC = word_set_agg_final, FINALFUNC_MODIFY = READ_ONLY,
    COMBINEFUNC = word_set_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE word_set_agg(text, text, int) IS 'a set of descriptive words for documents';

CREATE AGGREGATE word_set_agg(config regconfig, doc text) (
    SFUNC = word_set_agg_add, STYPE = bytea, SSPACE = 65536,
    FINALFUNC = word_set_agg_final, FINALFUNC_MODIFY = READ_ONLY,
    COMBINEFUNC = word_set_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE word_set_agg(regconfig, text) IS 'a set of descriptive words for documents';

CREATE AGGREGATE word_set_agg(config regconfig, doc text, words int) (
    SFUNC = word_set_agg_add, STYPE = bytea, SSPACE = 65536,
    FINALFUNC = word_set_agg_final, FINALFUNC_MODIFY = READ_ONLY,
    COMBINEFUNC = word_set_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE word_set_agg(regconfig, text, int) IS 'a set of descriptive words for documents';

CREATE FUNCTION descriptive_words(doc text, words word_set) RETURNS signature
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION descriptive_words(text, word_set) IS 'words of a set that a document uses often';

CREATE FUNCTION descriptive_words(config regconfig, doc text, words word_set) RETURNS signature
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 200;
COMMENT ON FUNCTION descriptive_words(regconfig, text, word_set) IS 'words of a set that a document uses often; a text search configuration makes its words';
