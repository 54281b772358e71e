
-- fill

CREATE FUNCTION neardup_fill() RETURNS trigger
    AS 'MODULE_PATHNAME'
    LANGUAGE C VOLATILE PARALLEL SAFE;
COMMENT ON FUNCTION neardup_fill() IS 'trigger function that computes a column where a generated column cannot';
