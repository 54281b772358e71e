/* neardup/sql/neardup--1.0.sql */

-- complain if script is sourced in psql, rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION neardup" to load this file. \quit

-- signature

CREATE TYPE signature;
COMMENT ON TYPE signature IS 'what a document is compared by: how it was made, and its values';

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

CREATE TYPE signature (
    INPUT = signature_in,
    OUTPUT = signature_out,
    RECEIVE = signature_recv,
    SEND = signature_send,
    ANALYZE = signature_typanalyze,
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
COMMENT ON FUNCTION signature_from(bigint[], integer[]) IS 'the set in which each feature stands as often as its weight says';

CREATE FUNCTION signature_weighted(features bigint[], weights real[]) RETURNS signature
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION signature_weighted(bigint[], real[]) IS 'the vector of given features and their weights';

CREATE FUNCTION describe(signature) RETURNS text
    AS 'MODULE_PATHNAME', 'signature_describe'
    LANGUAGE C STABLE STRICT PARALLEL SAFE; -- stable: names configurations of this database
COMMENT ON FUNCTION describe(signature) IS 'tells how a signature was made';

CREATE FUNCTION signature_to_bytea(signature) RETURNS bytea
    AS 'MODULE_PATHNAME'
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
COMMENT ON OPERATOR = (signature, signature) IS 'same making and values';

CREATE OPERATOR <> (
    LEFTARG = signature, RIGHTARG = signature, FUNCTION = signature_ne,
    COMMUTATOR = <>, NEGATOR = =,
    RESTRICT = neqsel, JOIN = neqjoinsel
);
COMMENT ON OPERATOR <> (signature, signature) IS 'different making or values';

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
COMMENT ON OPERATOR > (signature, signature) IS 'sorts behind';

CREATE OPERATOR >= (
    LEFTARG = signature, RIGHTARG = signature, FUNCTION = signature_ge,
    COMMUTATOR = <=, NEGATOR = <,
    RESTRICT = scalargesel, JOIN = scalargejoinsel
);
COMMENT ON OPERATOR >= (signature, signature) IS 'sorts behind or with';

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
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION similarity(signature, signature) IS 'resemblance of a and b: |a n b| / |a u b|';

CREATE FUNCTION containment(a signature, b signature) RETURNS double precision
    AS 'MODULE_PATHNAME', 'signature_containment'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION containment(signature, signature) IS 'share of a that is in b: |a n b| / |a|';

CREATE FUNCTION overlap(a signature, b signature) RETURNS bigint
    AS 'MODULE_PATHNAME', 'signature_overlap'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION overlap(signature, signature) IS 'number of features that a and b share: |a n b|';

CREATE FUNCTION dice(a signature, b signature) RETURNS double precision
    AS 'MODULE_PATHNAME', 'signature_dice'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION dice(signature, signature) IS 'Dice coefficient of a and b: 2 |a n b| / (|a| + |b|)';

CREATE FUNCTION cosine(a signature, b signature) RETURNS double precision
    AS 'MODULE_PATHNAME', 'signature_cosine'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
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
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION signature_distance(signature, signature) IS 'implementation of <-> operator';

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

-- shingles

CREATE FUNCTION shingles(doc text, k int = 3, analysis text = '') RETURNS signature
    AS 'MODULE_PATHNAME', 'shingles_with_k'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION shingles(text, int, text) IS 'the set of a document''s shingles of k units';

-- the second argument has no name: shingles(doc => ..., analysis => ...) is the
-- function above
CREATE FUNCTION shingles(doc text, text) RETURNS signature
    AS 'MODULE_PATHNAME', 'shingles_with_analysis'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION shingles(text, text) IS 'the set of a document''s shingles';

-- immutable like to_tsvector(regconfig, text)
CREATE FUNCTION shingles(config regconfig, doc text, k int = 3) RETURNS signature
    AS 'MODULE_PATHNAME', 'shingles_with_config'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 200;
COMMENT ON FUNCTION shingles(regconfig, text, int) IS 'the set of a document''s shingles of k words made by a text search configuration';

CREATE FUNCTION neardup_words(doc text, analysis text = '') RETURNS text[]
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION neardup_words(text, text) IS 'the words of a document as analysis makes them';

-- stable: another version of a library may be loaded next time
CREATE FUNCTION neardup_versions(OUT component text, OUT version text) RETURNS SETOF record
    AS 'MODULE_PATHNAME'
    LANGUAGE C STABLE STRICT PARALLEL SAFE ROWS 6;
COMMENT ON FUNCTION neardup_versions() IS 'versions of neardup and of what it is built on';

-- gin

CREATE TYPE signature_query;
COMMENT ON TYPE signature_query IS 'a signature with a threshold and a measure: what an index is asked for';

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

CREATE FUNCTION signature_query_setting(signature, measure text) RETURNS signature_query
    AS 'MODULE_PATHNAME'
    LANGUAGE C STABLE STRICT PARALLEL SAFE
    SUPPORT neardup_support; -- stable: depends on neardup.threshold
COMMENT ON FUNCTION signature_query_setting(signature, text) IS 'a signature with neardup.threshold and a measure';

CREATE FUNCTION signature_matches(signature, signature_query) RETURNS boolean
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10
    SUPPORT neardup_support;
COMMENT ON FUNCTION signature_matches(signature, signature_query) IS 'implementation of %% operator';

CREATE OPERATOR %% (
    LEFTARG = signature, RIGHTARG = signature_query, FUNCTION = signature_matches,
    RESTRICT = neardup_sel, JOIN = neardup_joinsel
);
COMMENT ON OPERATOR %% (signature, signature_query) IS 'what near-duplicate conditions are in an index scan';

CREATE FUNCTION gin_signature_extract_value(signature, internal, internal) RETURNS internal
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION gin_signature_extract_value(signature, internal, internal) IS 'GIN support: keys of a row';

-- Where amvalidate wants the indexed type, what comes is a signature_query.
CREATE FUNCTION gin_signature_extract_query(signature, internal, smallint, internal, internal, internal, internal) RETURNS internal
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION gin_signature_extract_query(signature, internal, smallint, internal, internal, internal, internal) IS 'GIN support: keys of a query';

CREATE FUNCTION gin_signature_consistent(internal, smallint, signature, integer, internal, internal, internal, internal) RETURNS boolean
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION gin_signature_consistent(internal, smallint, signature, integer, internal, internal, internal, internal) IS 'GIN support: whether matching keys are enough';

CREATE FUNCTION gin_signature_compare_partial(integer, integer, smallint, internal) RETURNS integer
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION gin_signature_compare_partial(integer, integer, smallint, internal) IS 'GIN support: finds the keys of other makings';

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
    FUNCTION 5 gin_signature_compare_partial(integer, integer, smallint, internal),
    FUNCTION 6 gin_signature_triconsistent(internal, smallint, signature, integer, internal, internal, internal),
    FUNCTION 7 gin_signature_opclass_options(internal),
    STORAGE integer;
COMMENT ON OPERATOR FAMILY signature_gin_ops USING gin IS 'near-duplicates by extended prefix';
COMMENT ON OPERATOR CLASS signature_gin_ops USING gin IS 'near-duplicates by extended prefix';

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

-- sketches

CREATE FUNCTION minhash(signature, size integer DEFAULT 128) RETURNS signature
    AS 'MODULE_PATHNAME', 'minhash_of_set'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20;
COMMENT ON FUNCTION minhash(signature, integer) IS 'min-hash sketch of a set';

CREATE FUNCTION minhash(doc text, size integer DEFAULT 128, k integer DEFAULT 0,
                        analysis text DEFAULT '') RETURNS signature
    AS 'MODULE_PATHNAME', 'minhash_of_text'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION minhash(text, integer, integer, text) IS 'min-hash sketch of a document''s shingles';

CREATE FUNCTION bottom(signature, s integer) RETURNS signature
    AS 'MODULE_PATHNAME', 'bottom_of_set'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20;
COMMENT ON FUNCTION bottom(signature, integer) IS 'the s smallest hashes of a set (MIN_s)';

CREATE FUNCTION bottom(doc text, s integer, k integer DEFAULT 0,
                        analysis text DEFAULT '') RETURNS signature
    AS 'MODULE_PATHNAME', 'bottom_of_text'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION bottom(text, integer, integer, text) IS 'the s smallest hashes of a document''s shingles (MIN_s)';

CREATE FUNCTION sample(signature, m integer) RETURNS signature
    AS 'MODULE_PATHNAME', 'sample_of_set'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20;
COMMENT ON FUNCTION sample(signature, integer) IS 'the hashes of a set that are divisible by m (MOD_m)';

CREATE FUNCTION sample(doc text, m integer, k integer DEFAULT 0,
                        analysis text DEFAULT '') RETURNS signature
    AS 'MODULE_PATHNAME', 'sample_of_text'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION sample(text, integer, integer, text) IS 'the hashes of a document''s shingles that are divisible by m (MOD_m)';

CREATE FUNCTION supershingles(signature, groups integer DEFAULT 6,
                              size integer DEFAULT 14) RETURNS signature
    AS 'MODULE_PATHNAME', 'supershingles_of_signature'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20;
COMMENT ON FUNCTION supershingles(signature, integer, integer) IS 'hashes of groups of min-hash slots; two agree in near-duplicates';

CREATE FUNCTION supershingles(doc text, groups integer DEFAULT 6, size integer DEFAULT 14,
                        k integer DEFAULT 0,
                        analysis text DEFAULT '') RETURNS signature
    AS 'MODULE_PATHNAME', 'supershingles_of_text'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION supershingles(text, integer, integer, integer, text) IS 'hashes of groups of a document''s min-hash slots';

CREATE FUNCTION megashingles(signature, groups integer DEFAULT 6,
                             size integer DEFAULT 14) RETURNS signature
    AS 'MODULE_PATHNAME', 'megashingles_of_signature'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20;
COMMENT ON FUNCTION megashingles(signature, integer, integer) IS 'hashes of pairs of supershingles; one agrees in near-duplicates';

CREATE FUNCTION megashingles(doc text, groups integer DEFAULT 6, size integer DEFAULT 14,
                        k integer DEFAULT 0,
                        analysis text DEFAULT '') RETURNS signature
    AS 'MODULE_PATHNAME', 'megashingles_of_text'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION megashingles(text, integer, integer, integer, text) IS 'hashes of pairs of a document''s supershingles';

CREATE FUNCTION simhash(signature) RETURNS signature
    AS 'MODULE_PATHNAME', 'simhash_of_set'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20;
COMMENT ON FUNCTION simhash(signature) IS 'signs of 64 random projections of a set';

CREATE FUNCTION simhash(doc text, k integer DEFAULT 0,
                        analysis text DEFAULT '') RETURNS signature
    AS 'MODULE_PATHNAME', 'simhash_of_text'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION simhash(text, integer, text) IS 'signs of 64 random projections of a document''s shingles';

CREATE FUNCTION near_duplicate_approx(a signature, b signature, threshold double precision,
                                      recall double precision DEFAULT 0.99) RETURNS boolean
    AS 'MODULE_PATHNAME', 'signature_near_duplicate_approx'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10
    SUPPORT neardup_support;
COMMENT ON FUNCTION near_duplicate_approx(signature, signature, double precision, double precision) IS 'near_duplicate() of pairs that share a band chosen for that recall';

CREATE FUNCTION lsh_parameters(threshold double precision, recall double precision DEFAULT 0.99,
                               size integer DEFAULT 128,
                               OUT bands integer, OUT rows integer, OUT probability double precision)
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION lsh_parameters(double precision, double precision, integer) IS 'the bands that are chosen for a threshold and a recall';

CREATE FUNCTION lsh_probability(similarity double precision, bands integer, rows integer) RETURNS double precision
    AS 'MODULE_PATHNAME', 'lsh_probability_of_banding'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION lsh_probability(double precision, integer, integer) IS 'probability that documents of that resemblance agree in a band';

CREATE FUNCTION supershingle_probability(similarity double precision, groups integer DEFAULT 6,
                                         size integer DEFAULT 14, agree integer DEFAULT 2) RETURNS double precision
    AS 'MODULE_PATHNAME', 'supershingle_probability_of_groups'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION supershingle_probability(double precision, integer, integer, integer) IS 'probability that so many supershingles agree in documents of that resemblance';

-- selections

CREATE FUNCTION winnow(hashes bigint[], "window" integer) RETURNS bigint[]
    AS 'MODULE_PATHNAME', 'winnow_array'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION winnow(bigint[], integer) IS 'the smallest hash of each window, rightmost among equals, in their order';

CREATE FUNCTION winnow(doc text, "window" integer, k integer DEFAULT 0,
                       analysis text DEFAULT '') RETURNS signature
    AS 'MODULE_PATHNAME', 'winnow_text'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION winnow(text, integer, integer, text) IS 'the smallest shingle of each window of consecutive ones';

CREATE FUNCTION every_nth(doc text, n integer, k integer DEFAULT 0,
                          analysis text DEFAULT '') RETURNS signature
    AS 'MODULE_PATHNAME', 'every_nth_of_text'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION every_nth(text, integer, integer, text) IS 'every n-th shingle of a document';

CREATE FUNCTION anchored(doc text, anchors text[], k integer DEFAULT 0,
                         analysis text DEFAULT '') RETURNS signature
    AS 'MODULE_PATHNAME', 'anchored_of_text'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION anchored(text, text[], integer, text) IS 'the shingles of a document that begin with an anchor';

CREATE FUNCTION sif(doc text, anchors text[], length integer DEFAULT 50,
                    analysis text DEFAULT '') RETURNS signature
    AS 'MODULE_PATHNAME', 'sif_of_text'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION sif(text, text[], integer, text) IS 'the substrings of so many characters that follow an anchor';

CREATE FUNCTION koala(doc text, count integer DEFAULT 100, length integer DEFAULT 20,
                      analysis text DEFAULT '') RETURNS signature
    AS 'MODULE_PATHNAME', 'koala_of_text'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 200;
COMMENT ON FUNCTION koala(text, integer, integer, text) IS 'the substrings of so many consonants whose first five are the rarest in the document';

CREATE FUNCTION leave_out(signature, common signature) RETURNS signature
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION leave_out(signature, signature) IS 'a set without the features of another one';

-- guard

-- Arguments: a signature column or an index on an expression that makes one,
-- the threshold, the mode (reject, skip, tag, warn), the column to tag.
CREATE FUNCTION neardup_guard() RETURNS trigger
    AS 'MODULE_PATHNAME'
    LANGUAGE C VOLATILE PARALLEL SAFE;
COMMENT ON FUNCTION neardup_guard() IS 'trigger that keeps near-duplicates out of a table';

-- join

-- lexicon

CREATE TYPE lexicon;
COMMENT ON TYPE lexicon IS 'the statistics of a corpus: how often each word occurs, and in how many documents';

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
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION lexicon_eq(lexicon, lexicon) IS 'implementation of = operator';

CREATE FUNCTION lexicon_ne(lexicon, lexicon) RETURNS boolean
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
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
    RESTRICT = eqsel, JOIN = eqjoinsel
);
COMMENT ON OPERATOR = (lexicon, lexicon) IS 'same analysis and counts';

CREATE OPERATOR <> (
    LEFTARG = lexicon, RIGHTARG = lexicon, FUNCTION = lexicon_ne,
    COMMUTATOR = <>, NEGATOR = =,
    RESTRICT = neqsel, JOIN = neqjoinsel
);
COMMENT ON OPERATOR <> (lexicon, lexicon) IS 'different analysis or counts';

CREATE OPERATOR + (
    LEFTARG = lexicon, RIGHTARG = lexicon, FUNCTION = lexicon_plus,
    COMMUTATOR = +
);
COMMENT ON OPERATOR + (lexicon, lexicon) IS 'the statistics of the documents of both';

-- no commutator: a - b is not b - a
CREATE OPERATOR - (
    LEFTARG = lexicon, RIGHTARG = lexicon, FUNCTION = lexicon_minus
);
COMMENT ON OPERATOR - (lexicon, lexicon) IS 'the statistics of the left side''s documents without those of the right side';

-- lexicon: aggregates

CREATE FUNCTION lexicon_agg_add(internal, text) RETURNS internal
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION lexicon_agg_add(internal, text) IS 'transition function of lexicon_agg';

CREATE FUNCTION lexicon_agg_add(internal, text, text) RETURNS internal
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION lexicon_agg_add(internal, text, text) IS 'transition function of lexicon_agg';

CREATE FUNCTION lexicon_agg_add(internal, text, text, int) RETURNS internal
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION lexicon_agg_add(internal, text, text, int) IS 'transition function of lexicon_agg';

CREATE FUNCTION lexicon_agg_add_config(internal, regconfig, text) RETURNS internal
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION lexicon_agg_add_config(internal, regconfig, text) IS 'transition function of lexicon_agg';

CREATE FUNCTION lexicon_agg_add_config(internal, regconfig, text, int) RETURNS internal
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION lexicon_agg_add_config(internal, regconfig, text, int) IS 'transition function of lexicon_agg';

CREATE FUNCTION lexicon_agg_add_lexicon(internal, lexicon) RETURNS internal
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION lexicon_agg_add_lexicon(internal, lexicon) IS 'transition function of lexicon_agg';

CREATE FUNCTION lexicon_agg_combine(internal, internal) RETURNS internal
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION lexicon_agg_combine(internal, internal) IS 'combine function of lexicon_agg';

CREATE FUNCTION lexicon_agg_serialize(internal) RETURNS bytea
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION lexicon_agg_serialize(internal) IS 'serialization function of lexicon_agg';

CREATE FUNCTION lexicon_agg_deserialize(bytea, internal) RETURNS internal
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION lexicon_agg_deserialize(bytea, internal) IS 'deserialization function of lexicon_agg';

CREATE FUNCTION lexicon_agg_final(internal) RETURNS lexicon
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION lexicon_agg_final(internal) IS 'final function of lexicon_agg';

CREATE AGGREGATE lexicon_agg(doc text) (
    SFUNC = lexicon_agg_add, STYPE = internal, SSPACE = 65536,
    FINALFUNC = lexicon_agg_final, FINALFUNC_MODIFY = READ_ONLY,
    COMBINEFUNC = lexicon_agg_combine,
    SERIALFUNC = lexicon_agg_serialize, DESERIALFUNC = lexicon_agg_deserialize,
    PARALLEL = SAFE
);
COMMENT ON AGGREGATE lexicon_agg(text) IS 'the statistics of the words of documents';

CREATE AGGREGATE lexicon_agg(doc text, analysis text) (
    SFUNC = lexicon_agg_add, STYPE = internal, SSPACE = 65536,
    FINALFUNC = lexicon_agg_final, FINALFUNC_MODIFY = READ_ONLY,
    COMBINEFUNC = lexicon_agg_combine,
    SERIALFUNC = lexicon_agg_serialize, DESERIALFUNC = lexicon_agg_deserialize,
    PARALLEL = SAFE
);
COMMENT ON AGGREGATE lexicon_agg(text, text) IS 'the statistics of the words of documents';

CREATE AGGREGATE lexicon_agg(doc text, analysis text, max_words int) (
    SFUNC = lexicon_agg_add, STYPE = internal, SSPACE = 65536,
    FINALFUNC = lexicon_agg_final, FINALFUNC_MODIFY = READ_ONLY,
    COMBINEFUNC = lexicon_agg_combine,
    SERIALFUNC = lexicon_agg_serialize, DESERIALFUNC = lexicon_agg_deserialize,
    PARALLEL = SAFE
);
COMMENT ON AGGREGATE lexicon_agg(text, text, int) IS 'the statistics of the most frequent words of documents';

CREATE AGGREGATE lexicon_agg(config regconfig, doc text) (
    SFUNC = lexicon_agg_add_config, STYPE = internal, SSPACE = 65536,
    FINALFUNC = lexicon_agg_final, FINALFUNC_MODIFY = READ_ONLY,
    COMBINEFUNC = lexicon_agg_combine,
    SERIALFUNC = lexicon_agg_serialize, DESERIALFUNC = lexicon_agg_deserialize,
    PARALLEL = SAFE
);
COMMENT ON AGGREGATE lexicon_agg(regconfig, text) IS 'the statistics of the words of documents made by a text search configuration';

CREATE AGGREGATE lexicon_agg(config regconfig, doc text, max_words int) (
    SFUNC = lexicon_agg_add_config, STYPE = internal, SSPACE = 65536,
    FINALFUNC = lexicon_agg_final, FINALFUNC_MODIFY = READ_ONLY,
    COMBINEFUNC = lexicon_agg_combine,
    SERIALFUNC = lexicon_agg_serialize, DESERIALFUNC = lexicon_agg_deserialize,
    PARALLEL = SAFE
);
COMMENT ON AGGREGATE lexicon_agg(regconfig, text, int) IS 'the statistics of the most frequent words of documents made by a text search configuration';

CREATE AGGREGATE lexicon_agg(lexicon) (
    SFUNC = lexicon_agg_add_lexicon, STYPE = internal, SSPACE = 65536,
    FINALFUNC = lexicon_agg_final, FINALFUNC_MODIFY = READ_ONLY,
    COMBINEFUNC = lexicon_agg_combine,
    SERIALFUNC = lexicon_agg_serialize, DESERIALFUNC = lexicon_agg_deserialize,
    PARALLEL = SAFE
);
COMMENT ON AGGREGATE lexicon_agg(lexicon) IS 'the sum of lexicons';

-- lexicon: reading

CREATE FUNCTION lexicon_trim(lexicon, max_words int, min_df int = 1) RETURNS lexicon
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION lexicon_trim(lexicon, int, int) IS 'a lexicon without its rarest words';

CREATE FUNCTION documents(lexicon) RETURNS bigint
    AS 'MODULE_PATHNAME', 'lexicon_documents'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION documents(lexicon) IS 'number of documents: N';

CREATE FUNCTION words(lexicon) RETURNS bigint
    AS 'MODULE_PATHNAME', 'lexicon_nwords'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION words(lexicon) IS 'number of distinct words';

CREATE FUNCTION length(lexicon) RETURNS bigint
    AS 'MODULE_PATHNAME', 'lexicon_length'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION length(lexicon) IS 'number of words of all documents';

CREATE FUNCTION df_error(lexicon) RETURNS bigint
    AS 'MODULE_PATHNAME', 'lexicon_df_error'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION df_error(lexicon) IS 'what a df may be off by at most';

CREATE FUNCTION cf_error(lexicon) RETURNS bigint
    AS 'MODULE_PATHNAME', 'lexicon_cf_error'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cf_error(lexicon) IS 'what a cf may be off by at most';

CREATE FUNCTION df(lexicon, word text) RETURNS bigint
    AS 'MODULE_PATHNAME', 'lexicon_df'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION df(lexicon, text) IS 'documents that have a word';

CREATE FUNCTION cf(lexicon, word text) RETURNS bigint
    AS 'MODULE_PATHNAME', 'lexicon_cf'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION cf(lexicon, text) IS 'occurrences of a word';

CREATE FUNCTION idf(lexicon, word text) RETURNS double precision
    AS 'MODULE_PATHNAME', 'lexicon_word_idf'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION idf(lexicon, text) IS 'inverse document frequency of a word: log(N / df)';

CREATE FUNCTION ridf(lexicon, word text) RETURNS double precision
    AS 'MODULE_PATHNAME', 'lexicon_word_ridf'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION ridf(lexicon, text) IS 'residual idf of a word: idf + log(1 - exp(-cf / N))';

CREATE FUNCTION lexicon_describe(lexicon) RETURNS text
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION lexicon_describe(lexicon) IS 'tells what a lexicon was made of';

CREATE FUNCTION lexicon_words(lexicon, OUT hash bigint, OUT df bigint, OUT cf bigint,
                              OUT idf double precision, OUT ridf double precision) RETURNS SETOF record
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100 ROWS 10000;
COMMENT ON FUNCTION lexicon_words(lexicon) IS 'the words of a lexicon, by hash';

CREATE FUNCTION word_statistics(doc text, lexicon, analysis text = '',
                                OUT word text, OUT tf int, OUT df bigint, OUT cf bigint,
                                OUT idf double precision, OUT ridf double precision) RETURNS SETOF record
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100 ROWS 100;
COMMENT ON FUNCTION word_statistics(text, lexicon, text) IS 'the words of a document with their statistics';

-- lexical

CREATE FUNCTION text_hash(doc text, analysis text = '') RETURNS signature
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION text_hash(text, text) IS 'hash of all words of a document';

CREATE FUNCTION text_hash(config regconfig, doc text) RETURNS signature
    AS 'MODULE_PATHNAME', 'text_hash_with_config'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 200;
COMMENT ON FUNCTION text_hash(regconfig, text) IS 'hash of all words of a document, made by a text search configuration';

CREATE FUNCTION sentence_pairs(doc text, analysis text = '') RETURNS signature
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION sentence_pairs(text, text) IS 'the set of sums of a document''s neighbouring sentences';

CREATE FUNCTION sentence_pairs(config regconfig, doc text) RETURNS signature
    AS 'MODULE_PATHNAME', 'sentence_pairs_with_config'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 200;
COMMENT ON FUNCTION sentence_pairs(regconfig, text) IS 'the set of sums of a document''s neighbouring sentences, their words made by a text search configuration';

CREATE FUNCTION long_sentences(doc text, analysis text = '', n int = 2) RETURNS signature
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION long_sentences(text, text, int) IS 'hash of the n longest sentences of a document';

CREATE FUNCTION long_sentences(config regconfig, doc text, n int = 2) RETURNS signature
    AS 'MODULE_PATHNAME', 'long_sentences_with_config'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 200;
COMMENT ON FUNCTION long_sentences(regconfig, text, int) IS 'hash of the n longest sentences of a document, their words made by a text search configuration';

CREATE FUNCTION heavy_sentences(doc text, lexicon, weight text = 'tf-idf',
                                analysis text = '', n int = 2) RETURNS signature
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION heavy_sentences(text, lexicon, text, text, int) IS 'hash of the n sentences of a document whose words weigh most';

CREATE FUNCTION heavy_sentences(config regconfig, doc text, lexicon,
                                weight text = 'tf-idf', n int = 2) RETURNS signature
    AS 'MODULE_PATHNAME', 'heavy_sentences_with_config'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 200;
COMMENT ON FUNCTION heavy_sentences(regconfig, text, lexicon, text, int) IS 'hash of the n sentences of a document whose words, made by a text search configuration, weigh most';

CREATE FUNCTION top_words(doc text, n int = 6, analysis text = '') RETURNS signature
    AS 'MODULE_PATHNAME', 'top_words_by_tf'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION top_words(text, int, text) IS 'hash of the n most frequent words of a document';

CREATE FUNCTION top_words(config regconfig, doc text, n int = 6) RETURNS signature
    AS 'MODULE_PATHNAME', 'top_words_by_tf_with_config'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 200;
COMMENT ON FUNCTION top_words(regconfig, text, int) IS 'hash of the n most frequent words of a document, made by a text search configuration';

CREATE FUNCTION top_words(doc text, lexicon, n int = 6, weight text = 'tf-idf',
                          analysis text = '') RETURNS signature
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION top_words(text, lexicon, int, text, text) IS 'hash of the n words of a document that weigh most';

CREATE FUNCTION top_words(config regconfig, doc text, lexicon, n int = 6,
                          weight text = 'tf-idf') RETURNS signature
    AS 'MODULE_PATHNAME', 'top_words_with_config'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 200;
COMMENT ON FUNCTION top_words(regconfig, text, lexicon, int, text) IS 'hash of the n words of a document, made by a text search configuration, that weigh most';

CREATE FUNCTION weighted_words(doc text, analysis text = '') RETURNS signature
    AS 'MODULE_PATHNAME', 'weighted_words_by_tf'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION weighted_words(text, text) IS 'the vector of a document: each word by its share of all words';

CREATE FUNCTION weighted_words(config regconfig, doc text) RETURNS signature
    AS 'MODULE_PATHNAME', 'weighted_words_by_tf_with_config'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 200;
COMMENT ON FUNCTION weighted_words(regconfig, text) IS 'the vector of a document, its words made by a text search configuration: each by its share of all words';

CREATE FUNCTION weighted_words(doc text, lexicon, weight text = 'tf-idf',
                               analysis text = '') RETURNS signature
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION weighted_words(text, lexicon, text, text) IS 'the vector of a document: each word and what it weighs';

CREATE FUNCTION weighted_words(config regconfig, doc text, lexicon,
                               weight text = 'tf-idf') RETURNS signature
    AS 'MODULE_PATHNAME', 'weighted_words_with_config'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 200;
COMMENT ON FUNCTION weighted_words(regconfig, text, lexicon, text) IS 'the vector of a document, its words made by a text search configuration, and what each weighs';

CREATE FUNCTION imatch(doc text, lexicon, lexicons int = 10, minimum int = 4,
                       low double precision = 0.2, high double precision = 0.8,
                       removed double precision = 0.33, seed bigint = 0,
                       analysis text = '') RETURNS signature
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION imatch(text, lexicon, int, int, double precision, double precision, double precision, bigint, text) IS 'hashes of those words of a document that are of middling rarity';

CREATE FUNCTION imatch(config regconfig, doc text, lexicon, lexicons int = 10, minimum int = 4,
                       low double precision = 0.2, high double precision = 0.8,
                       removed double precision = 0.33, seed bigint = 0) RETURNS signature
    AS 'MODULE_PATHNAME', 'imatch_with_config'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 200;
COMMENT ON FUNCTION imatch(regconfig, text, lexicon, int, int, double precision, double precision, double precision, bigint) IS 'hashes of those words of a document, made by a text search configuration, that are of middling rarity';

CREATE FUNCTION identity(a text, b text, lexicon, variant int = 5, analysis text = '') RETURNS double precision
    AS 'MODULE_PATHNAME', 'identity_measure'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 200;
COMMENT ON FUNCTION identity(text, text, lexicon, int, text) IS 'identity measure of Hoad and Zobel: shared words, rare ones above all';

CREATE FUNCTION identity(config regconfig, a text, b text, lexicon, variant int = 5) RETURNS double precision
    AS 'MODULE_PATHNAME', 'identity_measure_with_config'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 400;
COMMENT ON FUNCTION identity(regconfig, text, text, lexicon, int) IS 'identity measure of Hoad and Zobel of words made by a text search configuration';

CREATE FUNCTION fuzzy_fingerprint(doc text, lexicon, schemes int = 3, analysis text = '') RETURNS signature
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION fuzzy_fingerprint(text, lexicon, int, text) IS 'which first letters a document uses more or less than the collection';

CREATE FUNCTION fuzzy_fingerprint(config regconfig, doc text, lexicon, schemes int = 3) RETURNS signature
    AS 'MODULE_PATHNAME', 'fuzzy_fingerprint_with_config'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 200;
COMMENT ON FUNCTION fuzzy_fingerprint(regconfig, text, lexicon, int) IS 'which first letters a document uses more or less than the collection, its words made by a text search configuration';

CREATE TYPE word_set_round AS (words int, covered double precision, unstable double precision);
COMMENT ON TYPE word_set_round IS 'what a round of building a word set has left';

CREATE TYPE word_set AS (analysis text, words bigint[], thresholds real[], rounds word_set_round[]);
COMMENT ON TYPE word_set IS 'descriptive words, and the share of a document from which on each counts';

CREATE FUNCTION word_set_agg_add(internal, text) RETURNS internal
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION word_set_agg_add(internal, text) IS 'transition function of word_set_agg';

CREATE FUNCTION word_set_agg_add(internal, text, text) RETURNS internal
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION word_set_agg_add(internal, text, text) IS 'transition function of word_set_agg';

CREATE FUNCTION word_set_agg_add(internal, text, text, int) RETURNS internal
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION word_set_agg_add(internal, text, text, int) IS 'transition function of word_set_agg';

CREATE FUNCTION word_set_agg_add_config(internal, regconfig, text) RETURNS internal
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION word_set_agg_add_config(internal, regconfig, text) IS 'transition function of word_set_agg';

CREATE FUNCTION word_set_agg_add_config(internal, regconfig, text, int) RETURNS internal
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION word_set_agg_add_config(internal, regconfig, text, int) IS 'transition function of word_set_agg';

CREATE FUNCTION word_set_agg_combine(internal, internal) RETURNS internal
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION word_set_agg_combine(internal, internal) IS 'combine function of word_set_agg';

CREATE FUNCTION word_set_agg_serialize(internal) RETURNS bytea
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION word_set_agg_serialize(internal) IS 'serialization function of word_set_agg';

CREATE FUNCTION word_set_agg_deserialize(bytea, internal) RETURNS internal
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION word_set_agg_deserialize(bytea, internal) IS 'deserialization function of word_set_agg';

CREATE FUNCTION word_set_agg_final(internal) RETURNS word_set
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION word_set_agg_final(internal) IS 'final function of word_set_agg';

CREATE AGGREGATE word_set_agg(doc text) (
    SFUNC = word_set_agg_add, STYPE = internal, SSPACE = 65536,
    FINALFUNC = word_set_agg_final, FINALFUNC_MODIFY = READ_WRITE,
    COMBINEFUNC = word_set_agg_combine,
    SERIALFUNC = word_set_agg_serialize, DESERIALFUNC = word_set_agg_deserialize,
    PARALLEL = SAFE
);
COMMENT ON AGGREGATE word_set_agg(text) IS 'a set of descriptive words for documents';

CREATE AGGREGATE word_set_agg(doc text, analysis text) (
    SFUNC = word_set_agg_add, STYPE = internal, SSPACE = 65536,
    FINALFUNC = word_set_agg_final, FINALFUNC_MODIFY = READ_WRITE,
    COMBINEFUNC = word_set_agg_combine,
    SERIALFUNC = word_set_agg_serialize, DESERIALFUNC = word_set_agg_deserialize,
    PARALLEL = SAFE
);
COMMENT ON AGGREGATE word_set_agg(text, text) IS 'a set of descriptive words for documents';

CREATE AGGREGATE word_set_agg(doc text, analysis text, words int) (
    SFUNC = word_set_agg_add, STYPE = internal, SSPACE = 65536,
    FINALFUNC = word_set_agg_final, FINALFUNC_MODIFY = READ_WRITE,
    COMBINEFUNC = word_set_agg_combine,
    SERIALFUNC = word_set_agg_serialize, DESERIALFUNC = word_set_agg_deserialize,
    PARALLEL = SAFE
);
COMMENT ON AGGREGATE word_set_agg(text, text, int) IS 'a set of descriptive words for documents';

CREATE AGGREGATE word_set_agg(config regconfig, doc text) (
    SFUNC = word_set_agg_add_config, STYPE = internal, SSPACE = 65536,
    FINALFUNC = word_set_agg_final, FINALFUNC_MODIFY = READ_WRITE,
    COMBINEFUNC = word_set_agg_combine,
    SERIALFUNC = word_set_agg_serialize, DESERIALFUNC = word_set_agg_deserialize,
    PARALLEL = SAFE
);
COMMENT ON AGGREGATE word_set_agg(regconfig, text) IS 'a set of descriptive words for documents';

CREATE AGGREGATE word_set_agg(config regconfig, doc text, words int) (
    SFUNC = word_set_agg_add_config, STYPE = internal, SSPACE = 65536,
    FINALFUNC = word_set_agg_final, FINALFUNC_MODIFY = READ_WRITE,
    COMBINEFUNC = word_set_agg_combine,
    SERIALFUNC = word_set_agg_serialize, DESERIALFUNC = word_set_agg_deserialize,
    PARALLEL = SAFE
);
COMMENT ON AGGREGATE word_set_agg(regconfig, text, int) IS 'a set of descriptive words for documents';

CREATE FUNCTION descriptive_words(doc text, words word_set) RETURNS signature
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION descriptive_words(text, word_set) IS 'which words of a set a document uses often';

CREATE FUNCTION descriptive_words(config regconfig, doc text, words word_set) RETURNS signature
    AS 'MODULE_PATHNAME', 'descriptive_words_with_config'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 200;
COMMENT ON FUNCTION descriptive_words(regconfig, text, word_set) IS 'which words of a set a document, its words made by a text search configuration, uses often';

-- fill

CREATE FUNCTION neardup_fill() RETURNS trigger
    AS 'MODULE_PATHNAME'
    LANGUAGE C VOLATILE PARALLEL SAFE;
COMMENT ON FUNCTION neardup_fill() IS 'trigger function that computes a column where a generated column cannot';

-- evaluate

CREATE FUNCTION f_measure("precision" double precision, recall double precision,
                          beta double precision = 1) RETURNS double precision
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION f_measure(double precision, double precision, double precision) IS 'F of precision and recall, which counts beta times as much';

CREATE TYPE pair_figures AS (
    found bigint, true_pairs bigint, correct bigint,
    "precision" double precision, recall double precision, f double precision,
    highest_false_match double precision, lowest_true_match double precision,
    separation double precision
);
COMMENT ON TYPE pair_figures IS 'how good the pairs are that were found';

CREATE FUNCTION pair_evaluation_add(internal, boolean, boolean, double precision) RETURNS internal
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION pair_evaluation_add(internal, boolean, boolean, double precision) IS 'transition function of pair_evaluation';

CREATE FUNCTION pair_evaluation_combine(internal, internal) RETURNS internal
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION pair_evaluation_combine(internal, internal) IS 'combine function of pair_evaluation';

CREATE FUNCTION pair_evaluation_serialize(internal) RETURNS bytea
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION pair_evaluation_serialize(internal) IS 'serialization function of pair_evaluation';

CREATE FUNCTION pair_evaluation_deserialize(bytea, internal) RETURNS internal
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION pair_evaluation_deserialize(bytea, internal) IS 'deserialization function of pair_evaluation';

CREATE FUNCTION pair_evaluation_final(internal) RETURNS pair_figures
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION pair_evaluation_final(internal) IS 'final function of pair_evaluation';

CREATE AGGREGATE pair_evaluation(found boolean, correct boolean, similarity double precision) (
    SFUNC = pair_evaluation_add, STYPE = internal,
    FINALFUNC = pair_evaluation_final, FINALFUNC_MODIFY = READ_ONLY,
    COMBINEFUNC = pair_evaluation_combine,
    SERIALFUNC = pair_evaluation_serialize, DESERIALFUNC = pair_evaluation_deserialize,
    PARALLEL = SAFE
);
COMMENT ON AGGREGATE pair_evaluation(boolean, boolean, double precision) IS 'precision, recall, F, highest false match and separation of pairs';

CREATE TYPE cluster_figures AS (
    items bigint, found_clusters bigint, true_clusters bigint,
    adjusted_rand double precision,
    bcubed_precision double precision, bcubed_recall double precision,
    bcubed_f double precision
);
COMMENT ON TYPE cluster_figures IS 'how good the clusters are that were found';

CREATE FUNCTION cluster_evaluation_add(internal, "any", "any") RETURNS internal
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cluster_evaluation_add(internal, "any", "any") IS 'transition function of cluster_evaluation';

CREATE FUNCTION cluster_evaluation_combine(internal, internal) RETURNS internal
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cluster_evaluation_combine(internal, internal) IS 'combine function of cluster_evaluation';

CREATE FUNCTION cluster_evaluation_serialize(internal) RETURNS bytea
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cluster_evaluation_serialize(internal) IS 'serialization function of cluster_evaluation';

CREATE FUNCTION cluster_evaluation_deserialize(bytea, internal) RETURNS internal
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cluster_evaluation_deserialize(bytea, internal) IS 'deserialization function of cluster_evaluation';

CREATE FUNCTION cluster_evaluation_final(internal) RETURNS cluster_figures
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cluster_evaluation_final(internal) IS 'final function of cluster_evaluation';

CREATE AGGREGATE cluster_evaluation(found "any", truth "any") (
    SFUNC = cluster_evaluation_add, STYPE = internal,
    FINALFUNC = cluster_evaluation_final, FINALFUNC_MODIFY = READ_WRITE,
    COMBINEFUNC = cluster_evaluation_combine,
    SERIALFUNC = cluster_evaluation_serialize, DESERIALFUNC = cluster_evaluation_deserialize,
    PARALLEL = SAFE
);
COMMENT ON AGGREGATE cluster_evaluation("any", "any") IS 'adjusted Rand index and B-cubed of clusters';

-- unsafe in parallel: makes temporary tables
CREATE FUNCTION evaluate_methods(documents text, truth text, methods text[],
                                 thresholds double precision[] = '{0.8}', condition text = 'true',
                                 measures text[] = '{jaccard}',
                                 OUT method text, OUT threshold double precision,
                                 OUT signatures bigint, OUT bytes double precision,
                                 OUT found bigint, OUT correct bigint,
                                 OUT recall double precision, OUT "precision" double precision,
                                 OUT f double precision,
                                 OUT highest_false_match double precision, OUT separation double precision,
                                 OUT true_pairs bigint,
                                 OUT make_ms double precision, OUT find_ms double precision) RETURNS SETOF record
    AS 'MODULE_PATHNAME'
    LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE COST 100000 ROWS 10;
COMMENT ON FUNCTION evaluate_methods(text, text, text[], double precision[], text, text[]) IS 'recall, precision, F and time of methods on documents whose near-duplicates are known';
