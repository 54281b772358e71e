
-- dense

CREATE FUNCTION dense(coordinates real[]) RETURNS signature
    AS 'MODULE_PATHNAME', 'signature_dense'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION dense(real[]) IS 'the vector of an embedding, scaled to length 1';

CREATE FUNCTION signature_to_coordinates(signature) RETURNS real[]
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION signature_to_coordinates(signature) IS 'implementation of cast to real[]: the coordinates of a dense vector';

CREATE CAST (signature AS real[])
    WITH FUNCTION signature_to_coordinates(signature) AS ASSIGNMENT;
COMMENT ON CAST (signature AS real[]) IS 'the coordinates of a dense vector';
