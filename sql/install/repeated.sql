
-- repeated passages

CREATE FUNCTION repeated_passages(query text, min_words int = 50, analysis text = '')
    RETURNS TABLE (id bigint, start int, length int, words int, first_id bigint, first_start int)
    AS 'MODULE_PATHNAME'
    LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 100000;
COMMENT ON FUNCTION repeated_passages(text, int, text) IS 'passages that the texts of a query repeat, and where each is first; ids are numbers';

CREATE FUNCTION repeated_passages(id_type anyelement, query text, min_words int = 50, analysis text = '')
    RETURNS TABLE (id anyelement, start int, length int, words int, first_id anyelement, first_start int)
    AS 'MODULE_PATHNAME'
    LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 100000;
COMMENT ON FUNCTION repeated_passages(anyelement, text, int, text) IS 'passages that the texts of a query repeat, and where each is first; ids are of that type';

CREATE FUNCTION without_repeated(doc text, passages int4multirange) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (SELECT coalesce(string_agg(substr(doc, lower(rest), upper(rest) - lower(rest)), ' ' ORDER BY rest),
                        substr(doc, 1, 0))
        FROM unnest(int4multirange(int4range(1, length(doc) + 1)) - coalesce(passages, '{}')) rest);
COMMENT ON FUNCTION without_repeated(text, int4multirange) IS 'a document without passages, given by ranges of characters, each replaced by a blank';
