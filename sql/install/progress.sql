
-- progress

CREATE FUNCTION neardup_progress(OUT pid int, OUT datid oid, OUT phase text,
                                 OUT done bigint, OUT total bigint) RETURNS SETOF record
    AS 'MODULE_PATHNAME'
    LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED COST 100 ROWS 10;
COMMENT ON FUNCTION neardup_progress() IS 'how far similarity joins and evaluations of all sessions are';
