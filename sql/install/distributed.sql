
-- distributed

CREATE PROCEDURE neardup_pairs(source regclass, id name, sig name, threshold double precision,
                               result text, measure text = 'jaccard', INOUT design text = 'auto')
    AS 'MODULE_PATHNAME'
    LANGUAGE C;
COMMENT ON PROCEDURE neardup_pairs(regclass, name, name, double precision, text, text, text) IS 'makes a table of all pairs of near-duplicates of a table, which may be distributed';
