
-- exported keys

CREATE FUNCTION candidate_keys(sig signature, threshold double precision,
                               measure text = 'jaccard') RETURNS bigint[]
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20;
COMMENT ON FUNCTION candidate_keys(signature, double precision, text) IS 'keys, of which near-duplicates share at least one';

CREATE FUNCTION candidate_keys(sig signature, threshold double precision,
                               measure text, counts bytea) RETURNS bigint[]
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20;
COMMENT ON FUNCTION candidate_keys(signature, double precision, text, bytea) IS 'keys of rare features, of which near-duplicates share at least one';

CREATE FUNCTION size_classes(sig signature, threshold double precision,
                             measure text = 'jaccard') RETURNS bigint[]
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20;
COMMENT ON FUNCTION size_classes(signature, double precision, text) IS 'size class of a set, and the next: near-duplicates share one';

CREATE FUNCTION feature_counts_add(bytea, signature) RETURNS bytea
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION feature_counts_add(bytea, signature) IS 'transition function of feature_counts';

CREATE FUNCTION feature_counts_combine(bytea, bytea) RETURNS bytea
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION feature_counts_combine(bytea, bytea) IS 'combine function of feature_counts';

CREATE AGGREGATE feature_counts(signature) (
    SFUNC = feature_counts_add, STYPE = bytea, SSPACE = 1048576,
    COMBINEFUNC = feature_counts_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE feature_counts(signature) IS 'counts of features, for candidate_keys()';
