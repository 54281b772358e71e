
-- lexicon: aggregates

CREATE FUNCTION lexicon_agg_add(bytea, text) RETURNS bytea
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION lexicon_agg_add(bytea, text) IS 'transition function of lexicon_agg';

CREATE FUNCTION lexicon_agg_add(bytea, text, text) RETURNS bytea
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION lexicon_agg_add(bytea, text, text) IS 'transition function of lexicon_agg';

CREATE FUNCTION lexicon_agg_add(bytea, text, text, int) RETURNS bytea
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION lexicon_agg_add(bytea, text, text, int) IS 'transition function of lexicon_agg';

CREATE FUNCTION lexicon_agg_add(bytea, regconfig, text) RETURNS bytea
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION lexicon_agg_add(bytea, regconfig, text) IS 'transition function of lexicon_agg';

CREATE FUNCTION lexicon_agg_add(bytea, regconfig, text, int) RETURNS bytea
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION lexicon_agg_add(bytea, regconfig, text, int) IS 'transition function of lexicon_agg';

CREATE FUNCTION lexicon_agg_add_lexicon(bytea, lexicon) RETURNS bytea
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION lexicon_agg_add_lexicon(bytea, lexicon) IS 'transition function of lexicon_agg';

CREATE FUNCTION lexicon_agg_combine(bytea, bytea) RETURNS bytea
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION lexicon_agg_combine(bytea, bytea) IS 'combine function of lexicon_agg';

CREATE FUNCTION lexicon_agg_final(bytea) RETURNS lexicon
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION lexicon_agg_final(bytea) IS 'final function of lexicon_agg';

CREATE AGGREGATE lexicon_agg(doc text) (
    SFUNC = lexicon_agg_add, STYPE = bytea, SSPACE = 65536,
    FINALFUNC = lexicon_agg_final, FINALFUNC_MODIFY = READ_ONLY,
    COMBINEFUNC = lexicon_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE lexicon_agg(text) IS 'the statistics of the words of documents';

CREATE AGGREGATE lexicon_agg(doc text, analysis text) (
    SFUNC = lexicon_agg_add, STYPE = bytea, SSPACE = 65536,
    FINALFUNC = lexicon_agg_final, FINALFUNC_MODIFY = READ_ONLY,
    COMBINEFUNC = lexicon_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE lexicon_agg(text, text) IS 'the statistics of the words of documents';

CREATE AGGREGATE lexicon_agg(doc text, analysis text, max_words int) (
    SFUNC = lexicon_agg_add, STYPE = bytea, SSPACE = 65536,
    FINALFUNC = lexicon_agg_final, FINALFUNC_MODIFY = READ_ONLY,
    COMBINEFUNC = lexicon_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE lexicon_agg(text, text, int) IS 'the statistics of the most frequent words of documents';

CREATE AGGREGATE lexicon_agg(config regconfig, doc text) (
    SFUNC = lexicon_agg_add, STYPE = bytea, SSPACE = 65536,
    FINALFUNC = lexicon_agg_final, FINALFUNC_MODIFY = READ_ONLY,
    COMBINEFUNC = lexicon_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE lexicon_agg(regconfig, text) IS 'the statistics of the words of documents made by a text search configuration';

CREATE AGGREGATE lexicon_agg(config regconfig, doc text, max_words int) (
    SFUNC = lexicon_agg_add, STYPE = bytea, SSPACE = 65536,
    FINALFUNC = lexicon_agg_final, FINALFUNC_MODIFY = READ_ONLY,
    COMBINEFUNC = lexicon_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE lexicon_agg(regconfig, text, int) IS 'the statistics of the most frequent words of documents made by a text search configuration';

CREATE AGGREGATE lexicon_agg(lexicon) (
    SFUNC = lexicon_agg_add_lexicon, STYPE = bytea, SSPACE = 65536,
    FINALFUNC = lexicon_agg_final, FINALFUNC_MODIFY = READ_ONLY,
    COMBINEFUNC = lexicon_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE lexicon_agg(lexicon) IS 'the sum of lexicons';

CREATE FUNCTION shingle_lexicon_agg_add(bytea, text, text) RETURNS bytea
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION shingle_lexicon_agg_add(bytea, text, text) IS 'transition function of shingle_lexicon_agg';

CREATE FUNCTION shingle_lexicon_agg_add(bytea, text, text, int) RETURNS bytea
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION shingle_lexicon_agg_add(bytea, text, text, int) IS 'transition function of shingle_lexicon_agg';

CREATE AGGREGATE shingle_lexicon_agg(doc text, analysis text) (
    SFUNC = shingle_lexicon_agg_add, STYPE = bytea, SSPACE = 65536,
    FINALFUNC = lexicon_agg_final, FINALFUNC_MODIFY = READ_ONLY,
    COMBINEFUNC = lexicon_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE shingle_lexicon_agg(text, text) IS 'the statistics of shingles in documents';

CREATE AGGREGATE shingle_lexicon_agg(doc text, analysis text, max_shingles int) (
    SFUNC = shingle_lexicon_agg_add, STYPE = bytea, SSPACE = 65536,
    FINALFUNC = lexicon_agg_final, FINALFUNC_MODIFY = READ_ONLY,
    COMBINEFUNC = lexicon_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE shingle_lexicon_agg(text, text, int) IS 'the statistics of shingles in documents, of the most frequent ones';
