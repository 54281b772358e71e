
-- measures

CREATE FUNCTION neardup_support(internal) RETURNS internal
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_support(internal) IS 'planner support of near-duplicate conditions';

CREATE FUNCTION neardup_sel(internal, oid, internal, integer) RETURNS double precision
    AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_sel(internal, oid, internal, integer) IS 'restriction selectivity of near-duplicate operators';

CREATE FUNCTION neardup_joinsel(internal, oid, internal, smallint, internal) RETURNS double precision
    AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_joinsel(internal, oid, internal, smallint, internal) IS 'join selectivity of near-duplicate operators';

CREATE FUNCTION similarity(a signature, b signature) RETURNS double precision
    AS 'MODULE_PATHNAME', 'signature_similarity'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10
    SUPPORT neardup_support;
COMMENT ON FUNCTION similarity(signature, signature) IS 'resemblance of a and b: |a n b| / |a u b|';

CREATE FUNCTION containment(a signature, b signature) RETURNS double precision
    AS 'MODULE_PATHNAME', 'signature_containment'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10
    SUPPORT neardup_support;
COMMENT ON FUNCTION containment(signature, signature) IS 'share of a that is in b: |a n b| / |a|';

CREATE FUNCTION intersection_size(a signature, b signature) RETURNS bigint
    AS 'MODULE_PATHNAME', 'signature_intersection_size'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10
    SUPPORT neardup_support;
COMMENT ON FUNCTION intersection_size(signature, signature) IS 'number of features that a and b share: |a n b|, estimated from samples';

CREATE FUNCTION shared_values(a signature, b signature) RETURNS bigint
    AS 'MODULE_PATHNAME', 'signature_shared_values'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10
    SUPPORT neardup_support;
COMMENT ON FUNCTION shared_values(signature, signature) IS 'number of values that a and b share, which measure "shared" compares';

CREATE FUNCTION dice(a signature, b signature) RETURNS double precision
    AS 'MODULE_PATHNAME', 'signature_dice'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10
    SUPPORT neardup_support;
COMMENT ON FUNCTION dice(signature, signature) IS 'Dice coefficient of a and b: 2 |a n b| / (|a| + |b|)';

CREATE FUNCTION cosine(a signature, b signature) RETURNS double precision
    AS 'MODULE_PATHNAME', 'signature_cosine'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10
    SUPPORT neardup_support;
COMMENT ON FUNCTION cosine(signature, signature) IS 'cosine of a and b: |a n b| / sqrt(|a| |b|)';

CREATE FUNCTION hamming(a signature, b signature) RETURNS bigint
    AS 'MODULE_PATHNAME', 'signature_hamming'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION hamming(signature, signature) IS 'Hamming distance of a and b: |a u b| - |a n b|';

CREATE FUNCTION near_duplicate(a signature, b signature, threshold double precision,
                               measure text DEFAULT 'jaccard') RETURNS boolean
    AS 'MODULE_PATHNAME', 'signature_near_duplicate'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10
    SUPPORT neardup_support;
COMMENT ON FUNCTION near_duplicate(signature, signature, double precision, text) IS 'true if the measure of a and b is at least the threshold';

CREATE FUNCTION near_duplicate_approx(a signature, b signature, threshold double precision,
                                      recall double precision DEFAULT 0.99) RETURNS boolean
    AS 'MODULE_PATHNAME', 'signature_near_duplicate_approx'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10
    SUPPORT neardup_support;
COMMENT ON FUNCTION near_duplicate_approx(signature, signature, double precision, double precision) IS 'near_duplicate() of pairs that share a band chosen for that recall';

CREATE FUNCTION contained_in(a signature, b signature, threshold double precision) RETURNS boolean
    AS 'MODULE_PATHNAME', 'signature_contained_in'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10
    SUPPORT neardup_support;
COMMENT ON FUNCTION contained_in(signature, signature, double precision) IS 'true if the share of a that is in b is at least the threshold';

CREATE FUNCTION signature_near_duplicate_op(signature, signature) RETURNS boolean
    AS 'MODULE_PATHNAME'
    LANGUAGE C STABLE STRICT PARALLEL SAFE COST 10
    SUPPORT neardup_support; -- stable: depends on neardup.threshold
COMMENT ON FUNCTION signature_near_duplicate_op(signature, signature) IS 'implementation of % operator';

CREATE FUNCTION signature_contained_in_op(signature, signature) RETURNS boolean
    AS 'MODULE_PATHNAME'
    LANGUAGE C STABLE STRICT PARALLEL SAFE COST 10
    SUPPORT neardup_support; -- stable: depends on neardup.threshold
COMMENT ON FUNCTION signature_contained_in_op(signature, signature) IS 'implementation of <% operator';

CREATE FUNCTION signature_contains_op(signature, signature) RETURNS boolean
    AS 'MODULE_PATHNAME'
    LANGUAGE C STABLE STRICT PARALLEL SAFE COST 10
    SUPPORT neardup_support; -- stable: depends on neardup.threshold
COMMENT ON FUNCTION signature_contains_op(signature, signature) IS 'implementation of %> operator';

CREATE FUNCTION signature_distance(signature, signature) RETURNS double precision
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10
    SUPPORT neardup_support;
COMMENT ON FUNCTION signature_distance(signature, signature) IS 'implementation of <-> operator';

CREATE FUNCTION signature_cosine_distance(signature, signature) RETURNS double precision
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10
    SUPPORT neardup_support;
COMMENT ON FUNCTION signature_cosine_distance(signature, signature) IS 'implementation of <=> operator';

CREATE OPERATOR % (
    LEFTARG = signature, RIGHTARG = signature, FUNCTION = signature_near_duplicate_op,
    COMMUTATOR = %, RESTRICT = neardup_sel, JOIN = neardup_joinsel
);
COMMENT ON OPERATOR % (signature, signature) IS 'near-duplicates: similarity is at least neardup.threshold';

CREATE OPERATOR <% (
    LEFTARG = signature, RIGHTARG = signature, FUNCTION = signature_contained_in_op,
    COMMUTATOR = %>, RESTRICT = neardup_sel, JOIN = neardup_joinsel
);
COMMENT ON OPERATOR <% (signature, signature) IS 'left is contained in right: containment is at least neardup.threshold';

CREATE OPERATOR %> (
    LEFTARG = signature, RIGHTARG = signature, FUNCTION = signature_contains_op,
    COMMUTATOR = <%, RESTRICT = neardup_sel, JOIN = neardup_joinsel
);
COMMENT ON OPERATOR %> (signature, signature) IS 'left contains right: containment of right in left is at least neardup.threshold';

CREATE OPERATOR <-> (
    LEFTARG = signature, RIGHTARG = signature, FUNCTION = signature_distance,
    COMMUTATOR = <->
);
COMMENT ON OPERATOR <-> (signature, signature) IS 'distance: 1 - similarity';

CREATE OPERATOR <=> (
    LEFTARG = signature, RIGHTARG = signature, FUNCTION = signature_cosine_distance,
    COMMUTATOR = <=>
);
COMMENT ON OPERATOR <=> (signature, signature) IS 'distance: 1 - cosine';
