
-- frequent features

CREATE FUNCTION frequent_features_add(internal, signature) RETURNS internal
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION frequent_features_add(internal, signature) IS 'transition function of frequent_features';

CREATE FUNCTION frequent_features_add(internal, signature, int) RETURNS internal
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION frequent_features_add(internal, signature, int) IS 'transition function of frequent_features';

CREATE FUNCTION frequent_features_combine(internal, internal) RETURNS internal
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION frequent_features_combine(internal, internal) IS 'combine function of frequent_features';

CREATE FUNCTION frequent_features_serialize(internal) RETURNS bytea
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION frequent_features_serialize(internal) IS 'serialization function of frequent_features';

CREATE FUNCTION frequent_features_deserialize(bytea, internal) RETURNS internal
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION frequent_features_deserialize(bytea, internal) IS 'deserialization function of frequent_features';

CREATE FUNCTION frequent_features_final(internal) RETURNS text
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION frequent_features_final(internal) IS 'final function of frequent_features';

CREATE AGGREGATE frequent_features(sig signature) (
    SFUNC = frequent_features_add, STYPE = internal, SSPACE = 524352,
    FINALFUNC = frequent_features_final, FINALFUNC_MODIFY = READ_ONLY,
    COMBINEFUNC = frequent_features_combine,
    SERIALFUNC = frequent_features_serialize, DESERIALFUNC = frequent_features_deserialize,
    PARALLEL = SAFE
);
COMMENT ON AGGREGATE frequent_features(signature) IS 'the most frequent features, for the option "frequent" of signature_gin_ops';

CREATE AGGREGATE frequent_features(sig signature, n int) (
    SFUNC = frequent_features_add, STYPE = internal, SSPACE = 524352,
    FINALFUNC = frequent_features_final, FINALFUNC_MODIFY = READ_ONLY,
    COMBINEFUNC = frequent_features_combine,
    SERIALFUNC = frequent_features_serialize, DESERIALFUNC = frequent_features_deserialize,
    PARALLEL = SAFE
);
COMMENT ON AGGREGATE frequent_features(signature, int) IS 'the n most frequent features, for the option "frequent" of signature_gin_ops';
