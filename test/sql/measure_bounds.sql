--
-- The bounds that filters and indexes rest on, for all small sizes: exactly as tight as the
-- formula of each measure allows (for a build with NEARDUP_TESTING)
--

-- Sizes, up to 2^63, of sets that can reach the threshold with one of na elements, and the
-- least overlap with any of them
CREATE FUNCTION neardup_measure_bounds(measure text, na bigint, threshold float8, OUT least_size bigint, OUT most_size bigint, OUT least_overlap bigint)
    AS '$libdir/neardup' LANGUAGE C IMMUTABLE STRICT;
\getenv abs_srcdir PG_ABS_SRCDIR
\set file :abs_srcdir '/sql/shared/set_measures.sql'
\i :file
CREATE TEMP TABLE value AS
SELECT measure, na, nb, o, pg_temp.set_measure_value(measure, na, nb, o) AS value
FROM set_measures, generate_series(1, 12) na, generate_series(1, 90) nb, generate_series(1, least(na, nb)) o;
-- shares that are reached exactly, and those just above and below them
CREATE TEMP TABLE threshold AS
SELECT DISTINCT t FROM (SELECT o::float8 / n AS share FROM generate_series(1, 12) n, generate_series(1, n) o) s,
    unnest(ARRAY[share, share * (1 + 2.3e-16), share * (1 - 1.2e-16)]) t
WHERE t BETWEEN 0.2 AND 1;
CREATE TEMP TABLE bound AS
SELECT measure, na, t, b.* FROM set_measures, generate_series(1, 12) na, threshold, neardup_measure_bounds(measure, na, t) b;
CREATE INDEX ON value (measure, na);
ANALYZE;

-- Up to 90 elements, above which only a measure that bounds no size finds more
SELECT measure, count(*) AS bounds, count(*) FILTER (WHERE most_size > 90) > 0 AS some_above,
       count(*) FILTER (WHERE least_size IS DISTINCT FROM v.first) AS wrong_least,
       count(*) FILTER (WHERE least(most_size, 90) IS DISTINCT FROM v.last OR v.sizes <> v.last - v.first + 1) AS wrong_greatest,
       count(*) FILTER (WHERE least_overlap IS DISTINCT FROM v.overlap) AS wrong_overlap
FROM bound, LATERAL (
    SELECT min(nb) AS first, max(nb) AS last, count(DISTINCT nb) AS sizes, min(o) AS overlap
    FROM value WHERE value.measure = bound.measure AND value.na = bound.na AND value.value >= bound.t) v
     (first, last, sizes, overlap)
GROUP BY measure ORDER BY measure;
DROP FUNCTION neardup_measure_bounds;
