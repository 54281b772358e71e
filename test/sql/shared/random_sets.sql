-- Sets of a small universe: many are equal, near or tiny, some are empty or null
CREATE TABLE numbers AS
WITH RECURSIVE lcg(i, x) AS (
    SELECT 0, 20260119::bigint
    UNION ALL
    SELECT i + 1, (x * 1103515245 + 12345) % 2147483648 FROM lcg WHERE i < 9000)
SELECT i, x / 65536 AS x FROM lcg;

-- Set r: up to 24 elements of 40, from a family of 30 sets, a few changed
CREATE FUNCTION random_set(r int) RETURNS signature LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN r % 41 <> 0 THEN signature_from(ARRAY(
        SELECT (CASE WHEN c.x % 9 = 0 THEN c.x % 40
                     ELSE (f.x % 30 * 17 + e * e) % 40 END)::bigint
        FROM generate_series(1, (f.x % 25)::int) e
        JOIN numbers c ON c.i = (r * 31 + e * 7) % 9000)) END
    FROM numbers f WHERE f.i = r % 120 + 300 * (r % 2)
$$;
