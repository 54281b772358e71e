
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
COMMENT ON FUNCTION sif(text, text[], integer, text) IS 'the substrings of a given length that follow an anchor';

CREATE FUNCTION koala(doc text, count integer DEFAULT 100, length integer DEFAULT 20,
                      analysis text DEFAULT '') RETURNS signature
    AS 'MODULE_PATHNAME', 'koala_of_text'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 200;
COMMENT ON FUNCTION koala(text, integer, integer, text) IS 'the substrings of a given number of consonants whose first five are the rarest in the document';

CREATE FUNCTION leave_out(signature, common signature) RETURNS signature
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION leave_out(signature, signature) IS 'a set without the features of another one';
