
-- frequent features

CREATE FUNCTION frequent_features_add(bytea, signature) RETURNS bytea
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION frequent_features_add(bytea, signature) IS 'transition function of frequent_features';

CREATE FUNCTION frequent_features_add(bytea, signature, int) RETURNS bytea
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION frequent_features_add(bytea, signature, int) IS 'transition function of frequent_features';

CREATE FUNCTION frequent_features_combine(bytea, bytea) RETURNS bytea
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION frequent_features_combine(bytea, bytea) IS 'combine function of frequent_features';

CREATE FUNCTION frequent_features_final(bytea) RETURNS text
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION frequent_features_final(bytea) IS 'final function of frequent_features';

CREATE AGGREGATE frequent_features(sig signature) (
    SFUNC = frequent_features_add, STYPE = bytea, SSPACE = 524352,
    FINALFUNC = frequent_features_final, FINALFUNC_MODIFY = READ_ONLY,
    COMBINEFUNC = frequent_features_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE frequent_features(signature) IS 'the most frequent features, for the option "frequent" of signature_gin_ops';

CREATE AGGREGATE frequent_features(sig signature, n int) (
    SFUNC = frequent_features_add, STYPE = bytea, SSPACE = 524352,
    FINALFUNC = frequent_features_final, FINALFUNC_MODIFY = READ_ONLY,
    COMBINEFUNC = frequent_features_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE frequent_features(signature, int) IS 'the n most frequent features, for the option "frequent" of signature_gin_ops';
