--
-- test/bench/long.sql
--		10,000 documents of about 50 kB with shared boilerplate: index and look-ups.
--
\pset footer off

\set source docs
\set documents 10000
\set pieces 100
\ir long_documents.sql
SELECT count(*) AS documents, round(avg(octet_length(body)) / 1000) AS "kB each",
       round(avg(cardinality(sig::bigint[]))) AS "shingles each" FROM long;

CALL measure('long', 1, 'CREATE INDEX long_sig ON long USING gin (sig) WITH (fastupdate = off)');
CREATE TABLE long_arrays AS SELECT id, sig::bigint[] AS features FROM long;
CALL measure('long array', 1, 'CREATE INDEX long_features ON long_arrays USING gin (features) WITH (fastupdate = off)');
SELECT round(pg_relation_size('long_sig') / 1e6) AS "signature_gin_ops MB",
       round(pg_relation_size('long_features') / 1e6) AS "int8[] MB",
       round(pg_relation_size('long_sig')::numeric
             / pg_relation_size('long_features'), 3) AS ratio,
       round(median_cpu('long')::numeric, 1) AS "build s",
       round(median_cpu('long array')::numeric, 1) AS "int8[] s",
       round((median_cpu('long array') / median_cpu('long'))::numeric, 2) AS ratio;
DROP TABLE long_arrays;

CREATE TABLE asked_long AS SELECT sig FROM long WHERE id % 50 IN (8, 33);
\connect
SET enable_seqscan = off;
CALL measure('ask long', 1,
  'SELECT sum(n) FROM asked_long AS asked,
     LATERAL (SELECT count(*) AS n FROM long
              WHERE near_duplicate(long.sig, asked.sig, 0.8) OFFSET 0) AS l');
SELECT queries, round(hits::numeric / queries, 2) AS "found each",
       round(rejected::numeric / queries, 1) AS "false candidates (tens)",
       round((median_cpu('ask long') / queries * 1000)::numeric, 2) AS "ms each"
FROM candidates('SELECT sig FROM asked_long',
                'SELECT id FROM long WHERE near_duplicate(sig, $1, 0.8)');

-- and with an index of access method neardup
DROP INDEX long_sig;
CALL measure('neardup', 1, 'CREATE INDEX long_sig ON long USING neardup (sig)');
\connect
SET enable_seqscan = off;
SELECT round(pg_relation_size('long_sig') / 1e6) AS "neardup: MB",
       round(median_cpu('neardup')::numeric, 1) AS "build s",
       queries, round(hits::numeric / queries, 2) AS "found each",
       round(rejected::numeric / queries, 1) AS "false candidates (tens)"
FROM candidates('SELECT sig FROM asked_long',
                'SELECT id FROM long WHERE near_duplicate(sig, $1, 0.8)');
RESET enable_seqscan;
DROP TABLE long, asked_long;
