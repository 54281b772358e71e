--
-- test/bench/artificial_sets.sql
--		Artificial sets that all differ, the same everywhere.  For join_scale and
--		growth.
--
-- 60 features each, ten of them from a vocabulary of 50,000, some of them very
-- frequent, like phrases, the others from one of 2^63.  Eight in a row are versions
-- of one, each with three or four features of its own; two with three are near.
--
-- Portions Copyright (c) 2026, the neardup developers
--

-- The features of sets 8 n to 8 n + 7 before they were changed
CREATE FUNCTION features(n bigint) RETURNS bigint[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN ARRAY(
  SELECT hashint8extended(CASE WHEN place > 10 THEN n * 64 + place
                               ELSE -1 - ((hashint8extended(n, place) & 1048575) ^ 3 / 2.4e13)::bigint END,
                          20261122)
  FROM generate_series(1, 60) AS place);
CREATE FUNCTION artificial_sets(size bigint) RETURNS TABLE (id bigint, sig signature)
LANGUAGE sql IMMUTABLE AS $$
SELECT n * 8 + v,
       signature_from(f[1 : 7 * v] || (ARRAY(SELECT hashint8extended(n * 8 + v, i) FROM generate_series(1, own) i))
                      || f[7 * v + own + 1 :])
FROM (SELECT n, features(n) AS f FROM generate_series(0, size / 8 - 1) AS n OFFSET 0) AS source,
     generate_series(0, 7) AS v,
     LATERAL (VALUES (3 + (hashint8extended(n * 8 + v, 0) & 1)::int)) AS o (own)
$$;
