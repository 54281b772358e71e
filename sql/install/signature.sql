
-- signature

CREATE TYPE signature;
COMMENT ON TYPE signature IS 'spec and values by which documents are compared';

CREATE FUNCTION signature_in(cstring) RETURNS signature
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION signature_in(cstring) IS 'text input of signature';

CREATE FUNCTION signature_out(signature) RETURNS cstring
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION signature_out(signature) IS 'text output of signature';

CREATE FUNCTION signature_recv(internal) RETURNS signature
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION signature_recv(internal) IS 'binary input of signature';

CREATE FUNCTION signature_send(signature) RETURNS bytea
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION signature_send(signature) IS 'binary output of signature';

CREATE FUNCTION signature_typanalyze(internal) RETURNS boolean
    AS 'MODULE_PATHNAME'
    LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION signature_typanalyze(internal) IS 'gathers statistics of signature columns';

CREATE FUNCTION signature_subscript(internal) RETURNS internal
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION signature_subscript(internal) IS 'subscripts a signature into a signature_query in plans';

CREATE TYPE signature (
    INPUT = signature_in,
    OUTPUT = signature_out,
    RECEIVE = signature_recv,
    SEND = signature_send,
    ANALYZE = signature_typanalyze,
    SUBSCRIPT = signature_subscript,
    ALIGNMENT = double,
    STORAGE = external -- hashes do not compress
);

CREATE FUNCTION signature_from(features bigint[]) RETURNS signature
    AS 'MODULE_PATHNAME', 'signature_from_array'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION signature_from(bigint[]) IS 'the exact set of given features';

CREATE FUNCTION signature_from(features bigint[], weights integer[]) RETURNS signature
    AS 'MODULE_PATHNAME', 'signature_from_weighted'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION signature_from(bigint[], integer[]) IS 'the set with each feature as often as its weight';

CREATE FUNCTION describe(signature) RETURNS text
    AS 'MODULE_PATHNAME', 'signature_describe'
    LANGUAGE C STABLE STRICT PARALLEL SAFE; -- stable: names configurations of this database
COMMENT ON FUNCTION describe(signature) IS 'describes a signature and how it was made';

CREATE FUNCTION signature_to_bytea(signature) RETURNS bytea
    AS 'MODULE_PATHNAME', 'signature_send'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION signature_to_bytea(signature) IS 'implementation of cast to bytea';

CREATE FUNCTION signature_from_bytea(bytea) RETURNS signature
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION signature_from_bytea(bytea) IS 'implementation of cast from bytea';

CREATE FUNCTION signature_to_array(signature) RETURNS bigint[]
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION signature_to_array(signature) IS 'implementation of cast to bigint[]: the values';

CREATE CAST (signature AS bytea)
    WITH FUNCTION signature_to_bytea(signature) AS ASSIGNMENT;
COMMENT ON CAST (signature AS bytea) IS 'the portable bytes';

CREATE CAST (bytea AS signature)
    WITH FUNCTION signature_from_bytea(bytea) AS ASSIGNMENT;
COMMENT ON CAST (bytea AS signature) IS 'from the portable bytes, checked';

CREATE CAST (signature AS bigint[])
    WITH FUNCTION signature_to_array(signature) AS ASSIGNMENT;
COMMENT ON CAST (signature AS bigint[]) IS 'the values';

CREATE CAST (bigint[] AS signature)
    WITH FUNCTION signature_from(bigint[]) AS ASSIGNMENT;
COMMENT ON CAST (bigint[] AS signature) IS 'the exact set of given features';
