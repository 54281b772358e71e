
-- signature_query

CREATE TYPE signature_query;
COMMENT ON TYPE signature_query IS 'a signature with a threshold and a measure: the key of an index scan';

CREATE FUNCTION signature_query_in(cstring) RETURNS signature_query
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION signature_query_in(cstring) IS 'text input of signature_query';

CREATE FUNCTION signature_query_out(signature_query) RETURNS cstring
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION signature_query_out(signature_query) IS 'text output of signature_query';

CREATE FUNCTION signature_query_recv(internal) RETURNS signature_query
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION signature_query_recv(internal) IS 'binary input of signature_query';

CREATE FUNCTION signature_query_send(signature_query) RETURNS bytea
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION signature_query_send(signature_query) IS 'binary output of signature_query';

CREATE TYPE signature_query (
    INPUT = signature_query_in,
    OUTPUT = signature_query_out,
    RECEIVE = signature_query_recv,
    SEND = signature_query_send,
    ALIGNMENT = double,
    STORAGE = external
);

CREATE FUNCTION signature_query(signature, threshold double precision,
                                measure text DEFAULT 'jaccard') RETURNS signature_query
    AS 'MODULE_PATHNAME', 'signature_query_new'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
    SUPPORT neardup_support;
COMMENT ON FUNCTION signature_query(signature, double precision, text) IS 'a signature with a threshold and a measure';

CREATE FUNCTION signature_matches(signature, signature_query) RETURNS boolean
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10
    SUPPORT neardup_support;
COMMENT ON FUNCTION signature_matches(signature, signature_query) IS 'implementation of %% operator';

CREATE OPERATOR %% (
    LEFTARG = signature, RIGHTARG = signature_query, FUNCTION = signature_matches,
    RESTRICT = neardup_sel, JOIN = neardup_joinsel
);
COMMENT ON OPERATOR %% (signature, signature_query) IS 'condition of index scans for near-duplicates';

CREATE FUNCTION signature(signature_query) RETURNS signature
    AS 'MODULE_PATHNAME', 'signature_query_signature'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION signature(signature_query) IS 'the signature of a query';

CREATE FUNCTION signature_queries_match(signature_query, signature_query) RETURNS boolean
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10
    SUPPORT neardup_support;
COMMENT ON FUNCTION signature_queries_match(signature_query, signature_query) IS 'implementation of %% operator';

CREATE OPERATOR %% (
    LEFTARG = signature_query, RIGHTARG = signature_query, FUNCTION = signature_queries_match,
    COMMUTATOR = %%, RESTRICT = neardup_sel, JOIN = neardup_joinsel
);
COMMENT ON OPERATOR %% (signature_query, signature_query) IS 'each satisfies the condition of the other, for exclusion constraints';

-- Errors of exclusion constraints show this: a query without the signature's values
CREATE TYPE signature_query_key;
COMMENT ON TYPE signature_query_key IS 'a signature_query as errors of exclusion constraints show it';

CREATE FUNCTION signature_query_key_in(cstring) RETURNS signature_query_key
    AS 'MODULE_PATHNAME', 'signature_query_in'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION signature_query_key_in(cstring) IS 'text input of signature_query_key';

CREATE FUNCTION signature_query_key_out(signature_query_key) RETURNS cstring
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION signature_query_key_out(signature_query_key) IS 'text output of signature_query_key';

CREATE TYPE signature_query_key (
    INPUT = signature_query_key_in,
    OUTPUT = signature_query_key_out,
    LIKE = signature_query
);
CREATE CAST (signature_query AS signature_query_key) WITHOUT FUNCTION AS IMPLICIT;
COMMENT ON CAST (signature_query AS signature_query_key) IS 'for indexes of exclusion constraints';
