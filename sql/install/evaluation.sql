
-- evaluation

CREATE FUNCTION f_measure("precision" double precision, recall double precision,
                          beta double precision = 1) RETURNS double precision
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION f_measure(double precision, double precision, double precision) IS 'F of precision and recall; recall counts beta times as much';

CREATE TYPE pair_figures AS (
    found bigint, true_pairs bigint, correct bigint,
    "precision" double precision, recall double precision, f double precision,
    highest_false_match double precision, lowest_true_match double precision,
    separation double precision
);
COMMENT ON TYPE pair_figures IS 'quality of found pairs';

CREATE FUNCTION pair_evaluation_add(bytea, boolean, boolean, double precision) RETURNS bytea
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION pair_evaluation_add(bytea, boolean, boolean, double precision) IS 'transition function of pair_evaluation';

CREATE FUNCTION pair_evaluation_combine(bytea, bytea) RETURNS bytea
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION pair_evaluation_combine(bytea, bytea) IS 'combine function of pair_evaluation';

CREATE FUNCTION pair_evaluation_final(bytea) RETURNS pair_figures
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION pair_evaluation_final(bytea) IS 'final function of pair_evaluation';

CREATE AGGREGATE pair_evaluation(found boolean, correct boolean, similarity double precision) (
    SFUNC = pair_evaluation_add, STYPE = bytea, SSPACE = 48,
    FINALFUNC = pair_evaluation_final, FINALFUNC_MODIFY = READ_ONLY,
    COMBINEFUNC = pair_evaluation_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE pair_evaluation(boolean, boolean, double precision) IS 'precision, recall, F, highest false match and separation of pairs';

CREATE TYPE cluster_figures AS (
    items bigint, found_clusters bigint, true_clusters bigint,
    adjusted_rand double precision,
    bcubed_precision double precision, bcubed_recall double precision,
    bcubed_f double precision
);
COMMENT ON TYPE cluster_figures IS 'quality of found clusters';

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

-- internal state: another node would not know the types of the labels, and would gain
-- nothing, as a state has all items
CREATE AGGREGATE cluster_evaluation(found "any", truth "any") (
    SFUNC = cluster_evaluation_add, STYPE = internal,
    FINALFUNC = cluster_evaluation_final, FINALFUNC_MODIFY = READ_ONLY,
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

-- unsafe in parallel: makes temporary tables
CREATE FUNCTION evaluate_thresholds(documents text, truth text, methods text[],
                                    thresholds double precision[] = '{0.05,0.1,0.15,0.2,0.25,0.3,0.35,0.4,0.45,0.5,0.55,0.6,0.65,0.7,0.75,0.8,0.85,0.9,0.95,1}',
                                    condition text = 'true', measures text[] = '{similarity}',
                                    best text = '',
                                    OUT method text, OUT measure text, OUT threshold double precision,
                                    OUT true_pairs bigint, OUT found bigint, OUT correct bigint, OUT wrong bigint,
                                    OUT recall double precision, OUT "precision" double precision,
                                    OUT f double precision, OUT wrong_per_document double precision) RETURNS SETOF record
    AS 'MODULE_PATHNAME'
    LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE COST 100000 ROWS 20;
COMMENT ON FUNCTION evaluate_thresholds(text, text, text[], double precision[], text, text[], text) IS 'recall and precision of methods at many thresholds, with signatures made once';
