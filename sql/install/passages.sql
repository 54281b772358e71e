
-- passages

CREATE FUNCTION shared_passages(a text, b text, min_words int = 8, max_gap int = 8, analysis text = '',
                                OUT a_start int, OUT a_length int, OUT b_start int, OUT b_length int,
                                OUT similarity double precision) RETURNS SETOF record
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000 ROWS 10;
COMMENT ON FUNCTION shared_passages(text, text, int, int, text) IS 'passages that two texts share';

CREATE FUNCTION copied_cases(a text, b text, preset text = 'edited', min_length int = NULL, min_share double precision = NULL,
                             analysis text = '',
                             OUT a_start int, OUT a_length int, OUT b_start int, OUT b_length int,
                             OUT similarity double precision, OUT coverage double precision) RETURNS SETOF record
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000 ROWS 2;
COMMENT ON FUNCTION copied_cases(text, text, text, int, double precision, text) IS 'cases of copying between two texts, each with all its passages';

-- The query runs with the caller's search path, so all other names are qualified.  It is a
-- cursor, since a loop over a query would fetch, and compare, ten rows at once.  Sequential
-- scans are disabled, since costs of distances omit fetching all signatures.
CREATE FUNCTION find_sources(doc text, features signature, query text, preset text = 'edited', candidates int = 100,
                             min_length int = NULL, min_share double precision = NULL, analysis text = '')
    RETURNS TABLE (source_id text, a_start int, a_length int, b_start int, b_length int,
                   similarity double precision, coverage double precision)
    LANGUAGE plpgsql STABLE PARALLEL UNSAFE COST 10000 ROWS 10
    SET enable_seqscan = off
AS $$
DECLARE
    neardup CONSTANT text := (SELECT pg_catalog.quote_ident(s.nspname)
                              FROM pg_catalog.pg_extension e JOIN pg_catalog.pg_namespace s ON s.oid OPERATOR(pg_catalog.=) e.extnamespace
                              WHERE e.extname OPERATOR(pg_catalog.=) 'neardup');
    nearest refcursor;
    cases jsonb;
    all_cases jsonb := '[]';
    without int := 0;
BEGIN
    IF doc IS NULL OR features IS NULL OR query IS NULL THEN
        RETURN;
    END IF;
    OPEN nearest FOR EXECUTE pg_catalog.format(
        E'SELECT (SELECT pg_catalog.jsonb_agg(pg_catalog.to_jsonb(c) OPERATOR(pg_catalog.||) pg_catalog.jsonb_build_object(''source_id'','
        ' CASE WHEN n.id IS DISTINCT FROM NULL THEN pg_catalog.format(''%%s'', n.id) END))'
        ' FROM %2$s.copied_cases($1, pg_catalog.format(''%%s'', n.body), $4, $5, $6, $7) c)'
        ' FROM (SELECT * FROM (%1$s\n) s (id, sig, body) ORDER BY s.sig OPERATOR(%2$s.<=>) $2 LIMIT $3) n',
        query, neardup)
    USING doc, features, candidates, preset, min_length, min_share, analysis;
    -- until five in a row have no case
    WHILE without OPERATOR(pg_catalog.<) 5 LOOP
        FETCH nearest INTO cases;
        EXIT WHEN NOT FOUND;
        without := CASE WHEN cases IS NULL THEN without OPERATOR(pg_catalog.+) 1 ELSE 0 END;
        all_cases := all_cases OPERATOR(pg_catalog.||) COALESCE(cases, '[]');
    END LOOP;
    CLOSE nearest;
    RETURN QUERY
    SELECT c.* FROM pg_catalog.jsonb_to_recordset(all_cases) c (source_id text, a_start int, a_length int, b_start int, b_length int,
                                                           similarity double precision, coverage double precision)
    ORDER BY LEAST(c.a_length, c.b_length) OPERATOR(pg_catalog.*) c.coverage DESC, c.source_id COLLATE pg_catalog."C", c.a_start, c.b_start;
END
$$;
COMMENT ON FUNCTION find_sources(text, signature, text, text, int, int, double precision, text) IS 'cases of copying between a document and the nearest rows of a query, best first, until five in a row have none';

CREATE FUNCTION coverage(a text, b text, min_words int = 8, max_gap int = 8, analysis text = '',
                         OUT of_a double precision, OUT of_b double precision)
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION coverage(text, text, int, int, text) IS 'shares of two texts that are in shared passages';

CREATE FUNCTION highlight(a text, b text, min_words int = 8, max_gap int = 8,
                          options text = '', analysis text = '') RETURNS text
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION highlight(text, text, int, int, text, text) IS 'a text as HTML that marks the passages it shares with another';

CREATE FUNCTION passages_html(a text, b text, min_words int = 8, max_gap int = 8,
                              a_title text = 'First text', b_title text = 'Second text',
                              preset text = 'edited', analysis text = '') RETURNS text
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION passages_html(text, text, int, int, text, text, text, text) IS 'an HTML page of two texts side by side, with shared passages linked';

CREATE FUNCTION copied_sections(a text[], b text, block int = 50,
                                block_share double precision = 0.75, section_share double precision = 0.75,
                                document_share double precision = 0.75, early boolean = false,
                                analysis text = '',
                                OUT section int, OUT parts int, OUT looked_at int, OUT copied int,
                                OUT share double precision, OUT is_copied boolean) RETURNS SETOF record
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000 ROWS 10;
COMMENT ON FUNCTION copied_sections(text[], text, int, double precision, double precision, double precision, boolean, text) IS 'copied blocks of each section of a document, and which sections, or the document, were copied';

CREATE FUNCTION boilerplate(doc text, lexicon, min_documents int = 10,
                            OUT start int, OUT length int, OUT words int, OUT documents bigint) RETURNS SETOF record
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 200 ROWS 2;
COMMENT ON FUNCTION boilerplate(text, lexicon, int) IS 'passages of a document that many documents have, by a lexicon of shingles';

CREATE FUNCTION without_boilerplate(doc text, lexicon, min_documents int = 10) RETURNS text
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 200;
COMMENT ON FUNCTION without_boilerplate(text, lexicon, int) IS 'a document without passages that many documents have';

CREATE FUNCTION frequent_shingles(lexicon, min_documents int = 10) RETURNS signature
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION frequent_shingles(lexicon, int) IS 'shingles of many documents, for leave_out()';
