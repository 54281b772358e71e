
-- gin

CREATE FUNCTION gin_signature_extract_value(signature, internal, internal) RETURNS internal
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION gin_signature_extract_value(signature, internal, internal) IS 'GIN support: keys of a row';

-- The argument is a signature_query; amvalidate() requires the indexed type.
CREATE FUNCTION gin_signature_extract_query(signature, internal, smallint, internal, internal, internal, internal) RETURNS internal
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION gin_signature_extract_query(signature, internal, smallint, internal, internal, internal, internal) IS 'GIN support: keys of a query';

CREATE FUNCTION gin_signature_consistent(internal, smallint, signature, integer, internal, internal, internal, internal) RETURNS boolean
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION gin_signature_consistent(internal, smallint, signature, integer, internal, internal, internal, internal) IS 'GIN support: whether matching keys are enough';

CREATE FUNCTION gin_signature_triconsistent(internal, smallint, signature, integer, internal, internal, internal) RETURNS "char"
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION gin_signature_triconsistent(internal, smallint, signature, integer, internal, internal, internal) IS 'GIN support: whether matching keys can be enough';

CREATE FUNCTION gin_signature_opclass_options(internal) RETURNS void
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION gin_signature_opclass_options(internal) IS 'GIN support: options of signature_gin_ops';

CREATE OPERATOR CLASS signature_gin_ops DEFAULT FOR TYPE signature USING gin AS
    OPERATOR 1 %% (signature, signature_query),
    FUNCTION 2 gin_signature_extract_value(signature, internal, internal),
    FUNCTION 3 gin_signature_extract_query(signature, internal, smallint, internal, internal, internal, internal),
    FUNCTION 4 gin_signature_consistent(internal, smallint, signature, integer, internal, internal, internal, internal),
    FUNCTION 6 gin_signature_triconsistent(internal, smallint, signature, integer, internal, internal, internal),
    FUNCTION 7 gin_signature_opclass_options(internal),
    STORAGE integer;
COMMENT ON OPERATOR FAMILY signature_gin_ops USING gin IS 'near-duplicates by extended prefix';
COMMENT ON OPERATOR CLASS signature_gin_ops USING gin IS 'near-duplicates by extended prefix';

-- stable: the options of an index may change
CREATE FUNCTION neardup_explain_index(index regclass, threshold double precision,
                                      measure text DEFAULT 'jaccard') RETURNS text
    AS 'MODULE_PATHNAME'
    LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_explain_index(regclass, double precision, text) IS 'whether an index serves a near-duplicate condition, and why not';
