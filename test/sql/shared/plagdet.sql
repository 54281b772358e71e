-- Measures of M. Potthast, B. Stein, A. Barron-Cedeno and P. Rosso, "An
-- Evaluation Framework for Plagiarism Detection", 2010, by characters of both
-- texts, each case and each detection of equal weight (macro averages).  A
-- detection detects a case of its pair if they overlap in both texts.

CREATE TABLE planted (pair int, a_start int, a_length int, b_start int, b_length int);
CREATE TABLE found (pair int, a_start int, a_length int, b_start int, b_length int);

CREATE FUNCTION characters(int4multirange) RETURNS bigint
    LANGUAGE sql IMMUTABLE AS
$$ SELECT coalesce(sum(upper(r) - lower(r)), 0) FROM unnest($1) r $$;

CREATE FUNCTION plagdet(pairs int[], OUT "precision" numeric, OUT recall numeric, OUT granularity numeric, OUT plagdet numeric)
    LANGUAGE sql STABLE AS
$$
WITH cases AS (
    SELECT row_number() OVER () AS s, pair, int4range(a_start, a_start + a_length) AS a, int4range(b_start, b_start + b_length) AS b
    FROM planted WHERE pair = ANY (pairs)),
detections AS (
    SELECT row_number() OVER () AS r, pair, int4range(a_start, a_start + a_length) AS a, int4range(b_start, b_start + b_length) AS b
    FROM found WHERE pair = ANY (pairs)),
common AS (
    SELECT s, r, c.a * d.a AS a, c.b * d.b AS b
    FROM cases c JOIN detections d ON c.pair = d.pair AND c.a && d.a AND c.b && d.b),
precise AS (
    SELECT (characters(coalesce(range_agg(m.a), '{}')) + characters(coalesce(range_agg(m.b), '{}')))::numeric
           / (upper(d.a) - lower(d.a) + upper(d.b) - lower(d.b)) AS share
    FROM detections d LEFT JOIN common m USING (r) GROUP BY r, d.a, d.b),
complete AS (
    SELECT (characters(coalesce(range_agg(m.a), '{}')) + characters(coalesce(range_agg(m.b), '{}')))::numeric
           / (upper(c.a) - lower(c.a) + upper(c.b) - lower(c.b)) AS share, nullif(count(m.r), 0) AS detections
    FROM cases c LEFT JOIN common m USING (s) GROUP BY s, c.a, c.b),
measures AS (
    SELECT coalesce((SELECT avg(share) FROM precise), 0) AS p, coalesce(avg(share), 0) AS r, coalesce(avg(detections), 1) AS g FROM complete)
SELECT round(p, 3), round(r, 3), round(g, 3),
       round(CASE WHEN p + r = 0 THEN 0 ELSE 2 * p * r / (p + r) END / log(2, 1 + g), 3)
FROM measures
$$;
