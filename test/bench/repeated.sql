-- Repeated passages of a collection, beside its signatures: processor time
-- COLLECTIONS=DIR psql -f test/bench/repeated.sql, in an empty database
\i test/bench/common.sql
\copy docs FROM PROGRAM 'xzcat "$COLLECTIONS/debdesc.tsv.xz"'
VACUUM ANALYZE docs;
SET max_parallel_workers_per_gather = 0;
SELECT count(*) AS documents, sum(length(body)) AS characters FROM docs;
SET maintenance_work_mem = '64MB';
SELECT format($f$
CALL measure('signatures', %1$s, 'SELECT count(shingles(body)) FROM docs');
CALL measure('repeated passages of 50 words', %1$s, 'CREATE TABLE repeated AS SELECT * FROM repeated_passages(''SELECT id, body FROM docs'')');
%2$s;
CALL measure('repeated passages of 20 words', %1$s, 'SELECT count(*) FROM repeated_passages(''SELECT id, body FROM docs'', 20)');
$f$, run, CASE WHEN run < 3 THEN 'DROP TABLE repeated' ELSE 'ANALYZE repeated' END) FROM generate_series(1, 3) run \gexec
SELECT name, round(percentile_cont(0.5) WITHIN GROUP (ORDER BY cpu)::numeric, 2) AS cpu_seconds FROM taken GROUP BY name ORDER BY name;
SELECT count(*) AS rows, count(DISTINCT id) AS documents FROM repeated;
CALL measure('without them', 1, 'CREATE TABLE rest AS SELECT id, without_repeated(body, passages) AS body FROM docs
  LEFT JOIN (SELECT r.id, range_agg(int4range(start, start + length)) AS passages FROM repeated r GROUP BY r.id) r USING (id)');
SELECT round(cpu::numeric, 2) AS cpu_seconds FROM taken WHERE name = 'without them';
SELECT sum(length(body)) AS characters FROM rest;
SELECT count(*) AS repeated_in_the_rest FROM repeated_passages('SELECT id, body FROM rest');
