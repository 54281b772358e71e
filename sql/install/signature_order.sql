
-- signature: order

CREATE FUNCTION signature_eq(signature, signature) RETURNS boolean
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION signature_eq(signature, signature) IS 'implementation of = operator';

CREATE FUNCTION signature_ne(signature, signature) RETURNS boolean
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION signature_ne(signature, signature) IS 'implementation of <> operator';

CREATE FUNCTION signature_lt(signature, signature) RETURNS boolean
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION signature_lt(signature, signature) IS 'implementation of < operator';

CREATE FUNCTION signature_le(signature, signature) RETURNS boolean
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION signature_le(signature, signature) IS 'implementation of <= operator';

CREATE FUNCTION signature_gt(signature, signature) RETURNS boolean
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION signature_gt(signature, signature) IS 'implementation of > operator';

CREATE FUNCTION signature_ge(signature, signature) RETURNS boolean
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION signature_ge(signature, signature) IS 'implementation of >= operator';

CREATE OPERATOR = (
    LEFTARG = signature, RIGHTARG = signature, FUNCTION = signature_eq,
    COMMUTATOR = =, NEGATOR = <>,
    RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES
);
COMMENT ON OPERATOR = (signature, signature) IS 'same spec and values';

CREATE OPERATOR <> (
    LEFTARG = signature, RIGHTARG = signature, FUNCTION = signature_ne,
    COMMUTATOR = <>, NEGATOR = =,
    RESTRICT = neqsel, JOIN = neqjoinsel
);
COMMENT ON OPERATOR <> (signature, signature) IS 'different spec or values';

CREATE OPERATOR < (
    LEFTARG = signature, RIGHTARG = signature, FUNCTION = signature_lt,
    COMMUTATOR = >, NEGATOR = >=,
    RESTRICT = scalarltsel, JOIN = scalarltjoinsel
);
COMMENT ON OPERATOR < (signature, signature) IS 'sorts before';

CREATE OPERATOR <= (
    LEFTARG = signature, RIGHTARG = signature, FUNCTION = signature_le,
    COMMUTATOR = >=, NEGATOR = >,
    RESTRICT = scalarlesel, JOIN = scalarlejoinsel
);
COMMENT ON OPERATOR <= (signature, signature) IS 'sorts before or with';

CREATE OPERATOR > (
    LEFTARG = signature, RIGHTARG = signature, FUNCTION = signature_gt,
    COMMUTATOR = <, NEGATOR = <=,
    RESTRICT = scalargtsel, JOIN = scalargtjoinsel
);
COMMENT ON OPERATOR > (signature, signature) IS 'sorts after';

CREATE OPERATOR >= (
    LEFTARG = signature, RIGHTARG = signature, FUNCTION = signature_ge,
    COMMUTATOR = <=, NEGATOR = <,
    RESTRICT = scalargesel, JOIN = scalargejoinsel
);
COMMENT ON OPERATOR >= (signature, signature) IS 'sorts after or with';

CREATE FUNCTION signature_cmp(signature, signature) RETURNS integer
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION signature_cmp(signature, signature) IS 'btree comparison of signatures';

CREATE FUNCTION signature_hash(signature) RETURNS integer
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION signature_hash(signature) IS 'hash of a signature';

CREATE FUNCTION signature_hash_extended(signature, bigint) RETURNS bigint
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION signature_hash_extended(signature, bigint) IS 'hash of a signature with a seed';

CREATE OPERATOR CLASS signature_ops DEFAULT FOR TYPE signature USING btree AS
    OPERATOR 1 <,
    OPERATOR 2 <=,
    OPERATOR 3 =,
    OPERATOR 4 >=,
    OPERATOR 5 >,
    FUNCTION 1 signature_cmp(signature, signature);
COMMENT ON OPERATOR FAMILY signature_ops USING btree IS 'order of signatures';
COMMENT ON OPERATOR CLASS signature_ops USING btree IS 'order of signatures';

CREATE OPERATOR CLASS signature_ops DEFAULT FOR TYPE signature USING hash AS
    OPERATOR 1 =,
    FUNCTION 1 signature_hash(signature),
    FUNCTION 2 signature_hash_extended(signature, bigint);
COMMENT ON OPERATOR FAMILY signature_ops USING hash IS 'equality of signatures';
COMMENT ON OPERATOR CLASS signature_ops USING hash IS 'equality of signatures';
