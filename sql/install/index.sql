
-- index

CREATE FUNCTION neardup_handler(internal) RETURNS index_am_handler
    AS 'MODULE_PATHNAME'
    LANGUAGE C STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_handler(internal) IS 'handler of access method neardup';

CREATE ACCESS METHOD neardup TYPE INDEX HANDLER neardup_handler;
COMMENT ON ACCESS METHOD neardup IS 'inverted index of sets and vectors: near-duplicates at any threshold, nearest first';

CREATE OPERATOR CLASS signature_neardup_ops DEFAULT FOR TYPE signature USING neardup AS
    OPERATOR 1 %% (signature, signature_query),
    OPERATOR 2 <-> (signature, signature) FOR ORDER BY pg_catalog.float_ops,
    OPERATOR 3 <=> (signature, signature) FOR ORDER BY pg_catalog.float_ops;
COMMENT ON OPERATOR FAMILY signature_neardup_ops USING neardup IS 'near-duplicates and nearest by overlap';
COMMENT ON OPERATOR CLASS signature_neardup_ops USING neardup IS 'near-duplicates and nearest by overlap';

-- in the same family, so that the index of a constraint answers conditions on the signature, too
CREATE OPERATOR CLASS signature_query_neardup_ops DEFAULT FOR TYPE signature_query_key USING neardup FAMILY signature_neardup_ops AS
    OPERATOR 1 %% (signature_query, signature_query),
    FUNCTION 1 signature(signature_query);
COMMENT ON OPERATOR CLASS signature_query_neardup_ops USING neardup IS 'exclusion constraints on near-duplicates';

CREATE FUNCTION neardup_index_check(index regclass, heapallindexed boolean DEFAULT false) RETURNS bigint
    AS 'MODULE_PATHNAME'
    LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION neardup_index_check(regclass, boolean) IS 'checks an index of access method neardup; returns the number of its rows';
REVOKE ALL ON FUNCTION neardup_index_check(regclass, boolean) FROM PUBLIC;

CREATE FUNCTION neardup_index_segments(index regclass, OUT segment bigint, OUT "rows" bigint,
                                       OUT dead_rows bigint, OUT keys bigint,
                                       OUT postings bigint, OUT pages bigint) RETURNS SETOF record
    AS 'MODULE_PATHNAME'
    LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION neardup_index_segments(regclass) IS 'segments and pending rows of an index of access method neardup';
REVOKE ALL ON FUNCTION neardup_index_segments(regclass) FROM PUBLIC;

CREATE FUNCTION neardup_index_merges(index regclass, OUT segment bigint, OUT merged bigint[],
                                     OUT phase text, OUT "rows" bigint, OUT keys bigint,
                                     OUT postings bigint, OUT pages bigint,
                                     OUT of_rows bigint, OUT of_postings bigint) RETURNS SETOF record
    AS 'MODULE_PATHNAME'
    LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION neardup_index_merges(regclass) IS 'progress of incremental merges of an index of access method neardup';
REVOKE ALL ON FUNCTION neardup_index_merges(regclass) FROM PUBLIC;

CREATE FUNCTION neardup_index_counters(reset boolean DEFAULT false, OUT index regclass, OUT scans bigint,
                                       OUT passes bigint, OUT pages bigint, OUT keys bigint,
                                       OUT postings bigint, OUT candidates bigint,
                                       OUT "rows" bigint) RETURNS SETOF record
    AS 'MODULE_PATHNAME'
    LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION neardup_index_counters(boolean) IS 'counters of index scans of access method neardup in this session';
REVOKE ALL ON FUNCTION neardup_index_counters(boolean) FROM PUBLIC;

CREATE FUNCTION neardup_estimate_add(internal, signature) RETURNS internal
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION neardup_estimate_add(internal, signature) IS 'transition function of neardup_estimate';

CREATE FUNCTION neardup_estimate_add(internal, signature, double precision) RETURNS internal
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION neardup_estimate_add(internal, signature, double precision) IS 'transition function of neardup_estimate_gin';

-- stable: GIN fills its pages depending on maintenance_work_mem
CREATE FUNCTION neardup_estimate_final(internal) RETURNS bigint
    AS 'MODULE_PATHNAME'
    LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION neardup_estimate_final(internal) IS 'final function of neardup_estimate and neardup_estimate_gin';

CREATE AGGREGATE neardup_estimate(sig signature) (
    SFUNC = neardup_estimate_add, STYPE = internal, SSPACE = 33554432,
    FINALFUNC = neardup_estimate_final, FINALFUNC_MODIFY = READ_WRITE,
    PARALLEL = SAFE
);
COMMENT ON AGGREGATE neardup_estimate(signature) IS 'bytes that an index of access method neardup would take';

CREATE AGGREGATE neardup_estimate_gin(sig signature, threshold double precision) (
    SFUNC = neardup_estimate_add, STYPE = internal, SSPACE = 33554432,
    FINALFUNC = neardup_estimate_final, FINALFUNC_MODIFY = READ_WRITE,
    PARALLEL = SAFE
);
COMMENT ON AGGREGATE neardup_estimate_gin(signature, double precision) IS 'bytes that a GIN index for a threshold would take, 0 for all features';
