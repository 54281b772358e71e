
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

CREATE FUNCTION lsh_parameters(threshold double precision, recall double precision DEFAULT 0.99,
                               size integer DEFAULT 128,
                               OUT bands integer, OUT rows integer, OUT probability double precision)
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION lsh_parameters(double precision, double precision, integer) IS 'bands for a threshold and a recall';

CREATE FUNCTION lsh_probability(similarity double precision, bands integer, rows integer) RETURNS double precision
    AS 'MODULE_PATHNAME', 'lsh_probability_of_banding'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION lsh_probability(double precision, integer, integer) IS 'probability that documents of a resemblance agree in a band';

CREATE FUNCTION supershingle_probability(similarity double precision, groups integer DEFAULT 6,
                                         size integer DEFAULT 14, agree integer DEFAULT 2) RETURNS double precision
    AS 'MODULE_PATHNAME', 'supershingle_probability_of_groups'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION supershingle_probability(double precision, integer, integer, integer) IS 'probability that documents of a resemblance agree in a number of supershingles';
