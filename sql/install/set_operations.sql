
-- set operations

CREATE FUNCTION nfeatures(signature) RETURNS bigint
    AS 'MODULE_PATHNAME', 'signature_nfeatures'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION nfeatures(signature) IS 'number of features of the document';

CREATE FUNCTION signature_union(signature, signature) RETURNS signature
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20;
COMMENT ON FUNCTION signature_union(signature, signature) IS 'implementation of + operator';

CREATE FUNCTION signature_intersect(signature, signature) RETURNS signature
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20;
COMMENT ON FUNCTION signature_intersect(signature, signature) IS 'implementation of * operator';

CREATE FUNCTION signature_except(signature, signature) RETURNS signature
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20;
COMMENT ON FUNCTION signature_except(signature, signature) IS 'implementation of - operator';

CREATE OPERATOR + (
    LEFTARG = signature, RIGHTARG = signature, FUNCTION = signature_union,
    COMMUTATOR = +
);
COMMENT ON OPERATOR + (signature, signature) IS 'the features of either set';

CREATE OPERATOR * (
    LEFTARG = signature, RIGHTARG = signature, FUNCTION = signature_intersect,
    COMMUTATOR = *
);
COMMENT ON OPERATOR * (signature, signature) IS 'the features of both sets';

CREATE OPERATOR - (
    LEFTARG = signature, RIGHTARG = signature, FUNCTION = signature_except
);
COMMENT ON OPERATOR - (signature, signature) IS 'the features of the left set that the right one lacks';

CREATE FUNCTION signature_union_agg_add(signature, signature) RETURNS signature
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION signature_union_agg_add(signature, signature) IS 'transition and combine function of signature_union_agg';

CREATE FUNCTION signature_union_agg_final(signature) RETURNS signature
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION signature_union_agg_final(signature) IS 'final function of signature_union_agg';

CREATE AGGREGATE signature_union_agg(signature) (
    SFUNC = signature_union_agg_add, STYPE = signature, SSPACE = 65536,
    FINALFUNC = signature_union_agg_final, FINALFUNC_MODIFY = READ_ONLY,
    COMBINEFUNC = signature_union_agg_add, PARALLEL = SAFE
);
COMMENT ON AGGREGATE signature_union_agg(signature) IS 'the features of any of the sets';

CREATE FUNCTION signature_intersect_agg_final(signature) RETURNS signature
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION signature_intersect_agg_final(signature) IS 'final function of signature_intersect_agg';

CREATE AGGREGATE signature_intersect_agg(signature) (
    SFUNC = signature_intersect, STYPE = signature,
    FINALFUNC = signature_intersect_agg_final, FINALFUNC_MODIFY = READ_ONLY,
    COMBINEFUNC = signature_intersect, PARALLEL = SAFE
);
COMMENT ON AGGREGATE signature_intersect_agg(signature) IS 'the features of all of the sets';
