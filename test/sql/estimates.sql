--
-- Estimates of sketches against the truth: random pairs of sets of known
-- resemblance, the same in every run.  The bounds are those of the theory, and
-- 3.5 standard deviations of a mean or a root mean square of these trials.
--

-- Pairs of sets of n numbers each, of which `shared` are in both
CREATE FUNCTION numbers(first bigint, n bigint) RETURNS signature
LANGUAGE sql IMMUTABLE AS $$ SELECT signature_from(array(SELECT generate_series(first, first + n - 1))) $$;
CREATE TABLE cell AS
SELECT n, shared, trials, shared::float8 / (2 * n - shared) AS j
FROM (VALUES (10, 400), (100, 300), (1000, 100), (10000, 30)) s (n, trials),
     LATERAL (SELECT DISTINCT round(2 * n * j / (1 + j))::int AS shared
              FROM unnest('{0.1,0.3,0.5,0.7,0.8,0.9,0.95}'::float8[]) j) l
WHERE shared BETWEEN 1 AND n - 1;
CREATE TABLE pair AS
SELECT n, shared, trials, j, numbers(seed, n) AS a, numbers(seed + n - shared, n) AS b
FROM cell, LATERAL (SELECT (n::bigint * 1000003 + shared * 7919 + trial) << 24 AS seed
                    FROM generate_series(1, trials) trial) l;
SELECT n, count(DISTINCT shared) AS cells, count(*) AS pairs,
       count(*) FILTER (WHERE similarity(a, b) <> j) AS wrong
FROM pair GROUP BY n ORDER BY n;

-- For each estimate the number of cells, how many are biased, and how many
-- have an error above the bound `se`
CREATE TABLE estimate (method text, n int, shared int, truth float8, estimate float8, se float8);
CREATE VIEW verdict AS
SELECT method, count(*) AS cells,
       count(*) FILTER (WHERE abs(bias) > 3.5 * rmse / sqrt(trials) + 1e-12) AS biased,
       count(*) FILTER (WHERE rmse > se * (1 + 3.5 / sqrt(2 * trials))) AS inexact
FROM (SELECT method, count(*) AS trials, avg(estimate - truth) AS bias,
             sqrt(avg((estimate - truth) ^ 2)) AS rmse, min(se) AS se
      FROM estimate GROUP BY method, n, shared) s
GROUP BY method ORDER BY method;

-- Min-hash: the standard error of the theory, and 5 % for eight bits
INSERT INTO estimate
SELECT 'minhash 128', n, shared, j, similarity(minhash(a), minhash(b)), 1.05 * sqrt(j * (1 - j) / 128) FROM pair;
-- 200 slots; J = 0.05 is rarely estimated as less than 0, which would be cut
INSERT INTO estimate
SELECT 'minhash 200', n, shared, j, similarity(minhash(a, 200), minhash(b, 200)), 1.05 * sqrt(j * (1 - j) / 200) FROM pair;
-- For sets of hundreds, less than the theory of independent slots says
INSERT INTO estimate
SELECT 'minhash 128, small sets', n, shared, j, similarity(minhash(a), minhash(b)), 0.8 * sqrt(j * (1 - j) / 128)
FROM pair WHERE n <= 100;
-- MIN_s: a sample of the union without repetition
INSERT INTO estimate
SELECT 'bottom 100', n, shared, j, similarity(bottom(a, 100), bottom(b, 100)),
       sqrt(j * (1 - j) / 100 * greatest(1 - 100.0 / (2 * n - shared), 0)) + 1e-12 FROM pair;
-- MOD_m, resemblance and containment (those that are not empty)
INSERT INTO estimate
SELECT 'sample 8', n, shared, j, similarity(sample(a, 8), sample(b, 8)), 1.1 * sqrt(j * (1 - j) * 8 / (2 * n - shared))
FROM pair WHERE n >= 1000;
INSERT INTO estimate
SELECT 'sample 8: containment', n, shared, c, containment(sample(a, 8), sample(b, 8)), 1.1 * sqrt(c * (1 - c) * 8 / n)
FROM pair, LATERAL (SELECT shared::float8 / n AS c) l WHERE n >= 1000;
INSERT INTO estimate
SELECT 'sample 8: overlap', n, shared, shared, intersection_size(sample(a, 8), sample(b, 8)), 1.1 * sqrt(shared * 8)
FROM pair WHERE n >= 1000;
SELECT * FROM verdict;
TRUNCATE estimate;

-- The estimate of min-hash is about 0 where nothing is shared
SELECT avg(similarity(minhash(a), minhash(numbers((a::bigint[])[1] - 1000000, n)))) < 0.005 AS near_0,
       min(similarity(minhash(a), minhash(numbers((a::bigint[])[1] - 1000000, n)))) AS least
FROM pair WHERE n = 100;

-- Simhash: the share of bits that differ is the angle divided by pi.  Sets of
-- odd size have no sums of 0.
INSERT INTO estimate
SELECT 'simhash', n, shared, 1 - acos(shared / (n + 1.0)) / pi(), similarity(simhash(a), simhash(b)), 0.0625
FROM (SELECT n, shared, numbers(seed, n + 1) AS a, numbers(seed + n + 1 - shared, n + 1) AS b
      FROM cell, LATERAL (SELECT (shared + trial * 20011)::bigint << 24 AS seed
                          FROM generate_series(1, 200) trial) l
      WHERE n = 1000) s;
SELECT * FROM verdict;

-- Supershingles and megashingles find the number of pairs in the formula, and the
-- same pairs; near_duplicate_approx() finds the number of its banding
CREATE TABLE found AS
SELECT j, count(*) AS trials, avg((supershingles(a) % supershingles(b))::int) AS super,
       avg((megashingles(a) % megashingles(b))::int) AS mega,
       avg((near_duplicate_approx(a, b, 0.7))::int) AS approx,
       avg((near_duplicate_approx(a, b, 0.7, 0.5))::int) AS half
FROM (SELECT j, numbers(seed, n) AS a, numbers(seed + n - shared, n) AS b
      FROM cell, LATERAL (SELECT (shared * 31 + trial * 40009)::bigint << 24 AS seed
                          FROM generate_series(1, 250) trial) l
      WHERE n = 1000 AND j > 0.4) s
GROUP BY j;
SELECT round(j::numeric, 3) AS j, super = mega AS same,
       abs(super - p) < 3.5 * sqrt(p * (1 - p) / trials) + 0.005 AS super,
       approx = 0 AS approx_0, half = 0 AS half_0,
       j < 0.7 OR abs(approx - q) < 3.5 * sqrt(q * (1 - q) / trials) + 0.005 AS approx,
       j < 0.7 OR abs(half - h) < 3.5 * sqrt(h * (1 - h) / trials) + 0.005 AS half
FROM found, LATERAL (SELECT supershingle_probability(j) AS p) p,
     LATERAL (SELECT lsh_probability(j, bands, rows) AS q FROM lsh_parameters(0.7)) q,
     LATERAL (SELECT lsh_probability(j, bands, rows) AS h FROM lsh_parameters(0.7, 0.5)) h
ORDER BY j;

DROP VIEW verdict;
DROP TABLE cell, pair, estimate, found;
DROP FUNCTION numbers;
