
-- shingles

CREATE FUNCTION shingles(doc text, k int = 0, analysis text = '') RETURNS signature
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION shingles(text, int, text) IS 'the set of a document''s shingles of k units';

-- The second argument has no name, here and in other files: so shingles(doc => ...,
-- analysis => ...) calls the function above.
CREATE FUNCTION shingles(doc text, text) RETURNS signature
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION shingles(text, text) IS 'the set of a document''s shingles';

-- immutable like to_tsvector(regconfig, text)
CREATE FUNCTION shingles(config regconfig, doc text, k int = 3) RETURNS signature
    AS 'MODULE_PATHNAME'
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
COMMENT ON FUNCTION neardup_versions() IS 'versions of neardup and of its libraries';
