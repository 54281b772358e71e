
-- sentence pairs

CREATE FUNCTION sentence_pairs(doc text, analysis text = '') RETURNS signature
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION sentence_pairs(text, text) IS 'the set of sums of a document''s neighbouring sentences';

CREATE FUNCTION sentence_pairs(config regconfig, doc text) RETURNS signature
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 200;
COMMENT ON FUNCTION sentence_pairs(regconfig, text) IS 'the set of sums of a document''s neighbouring sentences; a text search configuration makes the words';
