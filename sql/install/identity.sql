
-- identity

CREATE FUNCTION identity(a text, b text, lexicon, variant int = 5, analysis text = '') RETURNS double precision
    AS 'MODULE_PATHNAME', 'identity_measure'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 200;
COMMENT ON FUNCTION identity(text, text, lexicon, int, text) IS 'identity measure of Hoad and Zobel: shared words, weighted by rarity';

CREATE FUNCTION identity(config regconfig, a text, b text, lexicon, variant int = 5) RETURNS double precision
    AS 'MODULE_PATHNAME', 'identity_measure'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 400;
COMMENT ON FUNCTION identity(regconfig, text, text, lexicon, int) IS 'identity measure of Hoad and Zobel; a text search configuration makes the words';
