\set ECHO none
-- The measures of sets whose thresholds are shares, from the error that lists them, so that a
-- new measure is among them (similarity is jaccard for sets); and the formula of each, which
-- shares no code with the extension and is null for a measure that has none here yet
CREATE FUNCTION pg_temp.set_measure_value(measure text, na float8, nb float8, o float8) RETURNS float8 LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE measure WHEN 'jaccard' THEN o / nullif(na + nb - o, 0)
                        WHEN 'containment' THEN o / nullif(na, 0)
                        WHEN 'contains' THEN o / nullif(nb, 0)
                        WHEN 'dice' THEN 2 * o / nullif(na + nb, 0)
                        WHEN 'cosine' THEN least(o / nullif(sqrt(na * nb), 0), 1)
                        WHEN 'overlap_coefficient' THEN o / nullif(least(na, nb), 0) END
$$;
CREATE FUNCTION pg_temp.listed_measures() RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
    hint text;
BEGIN
    PERFORM near_duplicate(signature_from('{}'), signature_from('{}'), 1, '');
EXCEPTION WHEN invalid_parameter_value THEN
    GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
    RETURN regexp_split_to_array(substring(hint FROM '^Measures are (.*)\.$'), ', | and ');
END $$;
CREATE TEMP VIEW set_measures AS
SELECT measure, n, pg_temp.set_measure_value(measure, 2, 5, 1) = pg_temp.set_measure_value(measure, 5, 2, 1) AS commutes
FROM unnest(pg_temp.listed_measures()) WITH ORDINALITY m (measure, n) WHERE measure NOT IN ('similarity', 'shared');
\set ECHO all
