
-- lexicon

CREATE TYPE lexicon;
COMMENT ON TYPE lexicon IS 'statistics of a corpus: occurrences of each word, and documents that have it';

CREATE FUNCTION lexicon_in(cstring) RETURNS lexicon
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION lexicon_in(cstring) IS 'text input of lexicon';

CREATE FUNCTION lexicon_out(lexicon) RETURNS cstring
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION lexicon_out(lexicon) IS 'text output of lexicon';

CREATE FUNCTION lexicon_recv(internal) RETURNS lexicon
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION lexicon_recv(internal) IS 'binary input of lexicon';

CREATE FUNCTION lexicon_send(lexicon) RETURNS bytea
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION lexicon_send(lexicon) IS 'binary output of lexicon';

CREATE TYPE lexicon (
    INPUT = lexicon_in,
    OUTPUT = lexicon_out,
    RECEIVE = lexicon_recv,
    SEND = lexicon_send,
    ALIGNMENT = double,
    STORAGE = external -- hashes do not compress
);

CREATE FUNCTION lexicon_to_bytea(lexicon) RETURNS bytea
    AS 'MODULE_PATHNAME', 'lexicon_send'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION lexicon_to_bytea(lexicon) IS 'implementation of cast to bytea';

CREATE FUNCTION lexicon_from_bytea(bytea) RETURNS lexicon
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION lexicon_from_bytea(bytea) IS 'implementation of cast from bytea';

CREATE CAST (lexicon AS bytea)
    WITH FUNCTION lexicon_to_bytea(lexicon) AS ASSIGNMENT;
COMMENT ON CAST (lexicon AS bytea) IS 'the portable bytes';

CREATE CAST (bytea AS lexicon)
    WITH FUNCTION lexicon_from_bytea(bytea) AS ASSIGNMENT;
COMMENT ON CAST (bytea AS lexicon) IS 'from the portable bytes, checked';

CREATE FUNCTION lexicon_eq(lexicon, lexicon) RETURNS boolean
    AS 'byteaeq'
    LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION lexicon_eq(lexicon, lexicon) IS 'implementation of = operator';

CREATE FUNCTION lexicon_ne(lexicon, lexicon) RETURNS boolean
    AS 'byteane'
    LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION lexicon_ne(lexicon, lexicon) IS 'implementation of <> operator';

CREATE FUNCTION lexicon_plus(lexicon, lexicon) RETURNS lexicon
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION lexicon_plus(lexicon, lexicon) IS 'implementation of + operator';

CREATE FUNCTION lexicon_minus(lexicon, lexicon) RETURNS lexicon
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION lexicon_minus(lexicon, lexicon) IS 'implementation of - operator';

CREATE OPERATOR = (
    LEFTARG = lexicon, RIGHTARG = lexicon, FUNCTION = lexicon_eq,
    COMMUTATOR = =, NEGATOR = <>,
    RESTRICT = eqsel, JOIN = eqjoinsel, HASHES
);
COMMENT ON OPERATOR = (lexicon, lexicon) IS 'same analysis and counts';

CREATE OPERATOR <> (
    LEFTARG = lexicon, RIGHTARG = lexicon, FUNCTION = lexicon_ne,
    COMMUTATOR = <>, NEGATOR = =,
    RESTRICT = neqsel, JOIN = neqjoinsel
);
COMMENT ON OPERATOR <> (lexicon, lexicon) IS 'different analysis or counts';

CREATE FUNCTION lexicon_hash(lexicon) RETURNS integer
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION lexicon_hash(lexicon) IS 'hash of a lexicon';

CREATE FUNCTION lexicon_hash_extended(lexicon, bigint) RETURNS bigint
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION lexicon_hash_extended(lexicon, bigint) IS 'hash of a lexicon with a seed';

CREATE OPERATOR CLASS lexicon_ops DEFAULT FOR TYPE lexicon USING hash AS
    OPERATOR 1 =,
    FUNCTION 1 lexicon_hash(lexicon),
    FUNCTION 2 lexicon_hash_extended(lexicon, bigint);
COMMENT ON OPERATOR FAMILY lexicon_ops USING hash IS 'equality of lexicons';
COMMENT ON OPERATOR CLASS lexicon_ops USING hash IS 'equality of lexicons';

CREATE OPERATOR + (
    LEFTARG = lexicon, RIGHTARG = lexicon, FUNCTION = lexicon_plus,
    COMMUTATOR = +
);
COMMENT ON OPERATOR + (lexicon, lexicon) IS 'the statistics of the documents of both';

-- no commutator: a - b is not b - a
CREATE OPERATOR - (
    LEFTARG = lexicon, RIGHTARG = lexicon, FUNCTION = lexicon_minus
);
COMMENT ON OPERATOR - (lexicon, lexicon) IS 'the statistics of the left side''s documents without the right side''s';
