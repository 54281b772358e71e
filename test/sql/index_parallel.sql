--
-- Access method neardup, built by several processes: the same index, and the
-- same errors, as by one
--
CREATE FUNCTION make(id bigint) RETURNS signature LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN CASE WHEN id % 97 = 0 THEN NULL ELSE signature_from(array(
         SELECT hashint8extended(id / 6 * 1000 + i, 0) FROM generate_series(1, 20 + id % 5) i)) END;
CREATE TABLE docs (id int, sig signature) WITH (parallel_workers = 3);
INSERT INTO docs SELECT id, make(id) FROM generate_series(1::bigint, 3000) id;
-- and of different specs, in all parts of the table
INSERT INTO docs SELECT -id, CASE id % 3 WHEN 0 THEN shingles(string_agg(w::text, ' '), 2 + id % 2)
    ELSE weighted_words(string_agg(w::text, ' ')) END
FROM generate_series(1, 600) id, generate_series(id % 50, id % 50 + 12) w GROUP BY id;
CREATE TABLE mixed (LIKE docs) WITH (parallel_workers = 3);
INSERT INTO mixed SELECT * FROM docs ORDER BY hashint4(id);
ANALYZE docs, mixed;

-- What a build makes: its rows, keys and postings, by how many processes it may
CREATE FUNCTION built(workers int, memory text, command text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  result text;
BEGIN
  PERFORM set_config('max_parallel_maintenance_workers', workers::text, true);
  PERFORM set_config('maintenance_work_mem', memory, true);
  EXECUTE command;
  SELECT format('%s rows, %s keys, %s postings, %s', sum(rows), sum(keys), sum(postings),
                neardup_index_check('made', true)) INTO result
  FROM neardup_index_segments('made');
  DROP INDEX made;
  RETURN result;
END $$;
SELECT command, workers, memory,
       built(workers, memory, command) = built(0, '64MB', command) AS same
FROM unnest('{CREATE INDEX made ON docs USING neardup (sig),
              CREATE INDEX made ON mixed USING neardup (sig) WHERE id > 100,
              CREATE INDEX made ON docs USING neardup (make(abs(id)))}'::text[]) command,
     (VALUES (1, '64MB'), (3, '64MB'), (2, '1MB')) v (workers, memory) ORDER BY 1, 2;

-- The same rows are found
SET max_parallel_maintenance_workers = 3;
CREATE INDEX mixed_sig ON mixed USING neardup (sig) WHERE id > 0;
CREATE FUNCTION found() RETURNS text LANGUAGE sql SET neardup.enable_join = off AS $$
  SELECT count(*) || ' ' || sum(a.id * b.id) FROM mixed a, mixed b
  WHERE a.id > 0 AND b.id > 0 AND b.id % 20 = 7 AND near_duplicate(a.sig, b.sig, 0.3) $$;
SET enable_indexscan = off; SET enable_bitmapscan = off;
SELECT found() AS truth \gset
RESET enable_indexscan; RESET enable_bitmapscan;
SET enable_seqscan = off;
SELECT found() = :'truth' AS same;
RESET enable_seqscan;
DELETE FROM mixed WHERE id % 10 = 3;
REINDEX INDEX mixed_sig;
SELECT neardup_index_check('mixed_sig', true) >= count(*) AS all_rows FROM mixed WHERE id > 0;
REINDEX INDEX CONCURRENTLY mixed_sig;
SELECT neardup_index_check('mixed_sig', true) >= count(*) AS all_rows FROM mixed WHERE id > 0;
INSERT INTO mixed SELECT id, make(id) FROM generate_series(4000::bigint, 4100) id;
VACUUM mixed;
SELECT neardup_index_check('mixed_sig', true) >= count(*) AS all_rows FROM mixed WHERE id > 0;

-- By the server's workers, and what they raise
CREATE FUNCTION fails(sig signature, id int) RETURNS signature LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
  IF id = 2990 THEN RAISE 'row % cannot be read', id; END IF;
  RETURN sig;
END $$;
\set VERBOSITY terse
CREATE INDEX failed ON docs USING neardup (fails(sig, id));
\set VERBOSITY default
SELECT to_regclass('failed');
CREATE FUNCTION worker(sig signature) RETURNS signature LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
  IF EXISTS (SELECT FROM pg_stat_activity WHERE pid = pg_backend_pid() AND backend_type = 'parallel worker') THEN
    RAISE 'a parallel worker has read this';
  END IF;
  PERFORM pg_sleep(0.01);
  RETURN sig;
END $$;
\set VERBOSITY terse
CREATE INDEX failed ON docs USING neardup (worker(sig));
\set VERBOSITY default

-- An order by what stands in an outer row is for no worker
CREATE TABLE parts (id int, sig signature) PARTITION BY RANGE (id);
CREATE TABLE part_1 PARTITION OF parts FOR VALUES FROM (0) TO (1000);
CREATE TABLE part_2 PARTITION OF parts FOR VALUES FROM (1000) TO (9999);
INSERT INTO parts SELECT i, signature_from(ARRAY[i % 40, i % 40 + 1, i % 40 + 2]) FROM generate_series(1, 2000) i;
CREATE INDEX ON part_1 USING neardup (sig);
ANALYZE parts;
BEGIN;
SET LOCAL parallel_setup_cost = 0;
SET LOCAL parallel_tuple_cost = 0;
SET LOCAL min_parallel_table_scan_size = 0;
SET LOCAL parallel_leader_participation = off;
SET LOCAL enable_seqscan = off;
SET LOCAL work_mem = '64kB';
SELECT o.id, x.d FROM (VALUES (1, signature_from('{1,2,3}')), (2, signature_from('{2,3,4}'))) o (id, sig)
  CROSS JOIN LATERAL (SELECT parts.sig <-> o.sig AS d FROM parts ORDER BY parts.sig <-> o.sig LIMIT 1) x;
COMMIT;
DROP TABLE parts;

-- Tables that workers cannot read, and empty ones
CREATE TEMP TABLE mine (sig signature) WITH (parallel_workers = 2);
INSERT INTO mine SELECT sig FROM docs WHERE id > 0;
CREATE INDEX mine_sig ON mine USING neardup (sig);
SELECT neardup_index_check('mine_sig', true);
TRUNCATE mixed;
SELECT neardup_index_check('mixed_sig', true);
DROP TABLE docs, mixed;
DROP FUNCTION make, built, found, fails, worker;
