--
-- The estimate of an index's size
--
CREATE TABLE docs (id int, sig signature);
INSERT INTO docs SELECT id, CASE WHEN id % 97 > 0 THEN signature_from(array(
    SELECT hashint8extended(id / 6 * 1000 + i, 0) FROM generate_series(1, 20 + id % 5) i
    UNION SELECT hashint8extended(i, 1) FROM generate_series(1, 20) i WHERE hashint8extended(i, id) & 3 = 0)) END
FROM generate_series(1::bigint, 3000) id;
CREATE FUNCTION error(estimate text, method text, OUT of_20_percent bool) LANGUAGE plpgsql AS $$
DECLARE
  bytes float8;
BEGIN
  EXECUTE format('SELECT %s FROM docs', estimate) INTO bytes;
  EXECUTE 'CREATE INDEX made ON docs USING ' || method;
  of_20_percent := abs(bytes / pg_relation_size('made') - 1) < 0.2;
  DROP INDEX made;
END $$;
SELECT estimate, e.* FROM (VALUES
  ('neardup_estimate(sig)', 'neardup (sig)'),
  ('neardup_estimate(minhash(sig))', 'neardup (minhash(sig))'),
  ('neardup_estimate(bottom(sig, 20))', 'neardup (bottom(sig, 20))'),
  ('neardup_estimate(simhash(sig))', 'neardup (simhash(sig))'),
  ('neardup_estimate(supershingles(sig))', 'neardup (supershingles(sig))'),
  ('neardup_estimate_gin(sig, 0)', 'gin (sig signature_gin_ops (measure = containment))'),
  ('neardup_estimate_gin(sig, 0.5)', 'gin (sig signature_gin_ops (threshold = 0.5))'),
  ('neardup_estimate_gin(sig, 0.8)', 'gin (sig)')) v (estimate, method), error(estimate, method) e;
SELECT neardup_estimate(sig) > 0 AS nulls, neardup_estimate_gin(sig, 0.8) > 0 AS nulls FROM docs WHERE sig IS NULL;
SELECT neardup_estimate(sig), neardup_estimate_gin(sig, 0.8) FROM docs WHERE false;
SELECT neardup_estimate_gin(sig, 2) FROM docs;
SELECT neardup_estimate_gin(sig, NULL) FROM docs;
SELECT neardup_estimate_gin(minhash(sig), 0.8) > 100000 AS some, neardup_estimate_gin(minhash(sig), 0) > 100000 AS of_containment FROM docs;
-- a hash table that is read again, of unordered rows
SET enable_sort = off;
SET work_mem = '1GB';
SELECT count(DISTINCT sizes) AS different FROM (VALUES (0), (1), (2)) o (x), LATERAL (
  SELECT string_agg(bytes::text, ' ' ORDER BY g) AS sizes FROM (
    SELECT id % 2 AS g, neardup_estimate(sig) AS bytes
    FROM (SELECT * FROM docs ORDER BY hashint8(id) OFFSET 0) docs GROUP BY g HAVING count(*) > o.x OFFSET 0) g) s;
RESET enable_sort;
RESET work_mem;
DROP TABLE docs;
DROP FUNCTION error;
