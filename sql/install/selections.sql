
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

CREATE FUNCTION winnow(doc text, text, "window" integer, k integer DEFAULT 0) RETURNS signature
    AS 'MODULE_PATHNAME', 'winnow_text'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION winnow(text, text, integer, integer) IS 'the smallest shingle of each window of consecutive ones';

CREATE FUNCTION winnow(doc text, "window" integer, text) RETURNS signature
    AS 'MODULE_PATHNAME', 'winnow_text'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION winnow(text, integer, text) IS 'the smallest shingle of each window of consecutive ones';

CREATE FUNCTION every_nth(doc text, n integer, k integer DEFAULT 0,
                          analysis text DEFAULT '') RETURNS signature
    AS 'MODULE_PATHNAME', 'every_nth_of_text'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION every_nth(text, integer, integer, text) IS 'every n-th shingle of a document';

CREATE FUNCTION every_nth(doc text, text, n integer, k integer DEFAULT 0) RETURNS signature
    AS 'MODULE_PATHNAME', 'every_nth_of_text'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION every_nth(text, text, integer, integer) IS 'every n-th shingle of a document';

CREATE FUNCTION every_nth(doc text, n integer, text) RETURNS signature
    AS 'MODULE_PATHNAME', 'every_nth_of_text'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION every_nth(text, integer, text) IS 'every n-th shingle of a document';

CREATE FUNCTION anchored(doc text, anchors text[], k integer DEFAULT 0,
                         analysis text DEFAULT '') RETURNS signature
    AS 'MODULE_PATHNAME', 'anchored_of_text'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION anchored(text, text[], integer, text) IS 'the shingles of a document that begin with an anchor';

CREATE FUNCTION anchored(doc text, text, anchors text[], k integer DEFAULT 0) RETURNS signature
    AS 'MODULE_PATHNAME', 'anchored_of_text'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION anchored(text, text, text[], integer) IS 'the shingles of a document that begin with an anchor';

CREATE FUNCTION anchored(doc text, anchors text[], text) RETURNS signature
    AS 'MODULE_PATHNAME', 'anchored_of_text'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION anchored(text, text[], text) IS 'the shingles of a document that begin with an anchor';

-- Literals without a type: what is in braces are the anchors.  The arguments have
-- names, as pg_dump writes a body with arguments that have none wrongly.
CREATE FUNCTION anchored(doc text, one text, other text) RETURNS signature
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 100
    RETURN CASE WHEN one ~ '^\s*\{' THEN anchored(doc, anchors => one::text[], k => 0, analysis => other)
                ELSE anchored(doc, one, anchors => other::text[], k => 0) END;
COMMENT ON FUNCTION anchored(text, text, text) IS 'the shingles of a document that begin with an anchor; of two literals the one in braces is the anchors';

CREATE FUNCTION sif(doc text, anchors text[], length integer DEFAULT 50,
                    analysis text DEFAULT '') RETURNS signature
    AS 'MODULE_PATHNAME', 'sif_of_text'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION sif(text, text[], integer, text) IS 'the substrings of so many characters that follow an anchor';

CREATE FUNCTION sif(doc text, text, anchors text[], length integer DEFAULT 50) RETURNS signature
    AS 'MODULE_PATHNAME', 'sif_of_text'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION sif(text, text, text[], integer) IS 'the substrings of so many characters that follow an anchor';

-- Literals without a type: what is in braces are the anchors.  The arguments have
-- names, as pg_dump writes a body with arguments that have none wrongly.
CREATE FUNCTION sif(doc text, one text, other text) RETURNS signature
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 100
    RETURN CASE WHEN one ~ '^\s*\{' THEN sif(doc, anchors => one::text[], length => 50, analysis => other)
                ELSE sif(doc, one, anchors => other::text[], length => 50) END;
COMMENT ON FUNCTION sif(text, text, text) IS 'the substrings of 50 characters that follow an anchor; of two literals the one in braces is the anchors';

CREATE FUNCTION koala(doc text, count integer DEFAULT 100, length integer DEFAULT 20,
                      analysis text DEFAULT '') RETURNS signature
    AS 'MODULE_PATHNAME', 'koala_of_text'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 200;
COMMENT ON FUNCTION koala(text, integer, integer, text) IS 'the substrings of so many consonants whose first five are the rarest in the document';

CREATE FUNCTION koala(doc text, text, count integer DEFAULT 100,
                      length integer DEFAULT 20) RETURNS signature
    AS 'MODULE_PATHNAME', 'koala_of_text'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 200;
COMMENT ON FUNCTION koala(text, text, integer, integer) IS 'the substrings of so many consonants whose first five are the rarest in the document';

CREATE FUNCTION leave_out(signature, common signature) RETURNS signature
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION leave_out(signature, signature) IS 'a set without the features of another one';
