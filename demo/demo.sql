--
-- demo/demo.sql
--		Near-duplicates among Debian's package descriptions: found, looked
--		up, rejected.
--
--	xz -dc descriptions.tsv.xz | psql -q -f demo.sql
--
\pset footer off
SET client_min_messages = warning;

CREATE EXTENSION neardup;
CREATE TABLE docs (id int PRIMARY KEY, release text, package text, body text);
\copy docs from pstdin

\echo
\echo '========  The documents: package descriptions of five Debian releases'
\echo
SELECT count(*) AS descriptions, count(DISTINCT package) AS packages,
       pg_size_pretty(sum(length(body))) AS text
FROM docs;

\echo
\echo '========  1. A signature for each, kept by PostgreSQL, and an index'
\echo
\set ECHO queries
\timing on
ALTER TABLE docs ADD sig signature GENERATED ALWAYS AS (shingles(body)) STORED;
CREATE INDEX docs_sig ON docs USING neardup (sig);
\timing off
\set ECHO none
VACUUM ANALYZE docs;

\echo
\echo '========  2. All pairs of near-duplicates: 80 % of their shingles shared'
\echo
\set ECHO queries
\timing on
CREATE TABLE pairs AS
SELECT a.id AS a, b.id AS b, similarity(a.sig, b.sig)
FROM docs a JOIN docs b ON near_duplicate(a.sig, b.sig, 0.8) AND a.id < b.id;
\timing off
\set ECHO none
\echo
SELECT count(*) AS pairs,
       count(*) FILTER (WHERE x.body <> y.body) AS "text differs",
       count(*) FILTER (WHERE x.package <> y.package) AS "package differs"
FROM pairs p JOIN docs x ON x.id = p.a JOIN docs y ON y.id = p.b;
\echo 'Some of the less obvious:'
SELECT DISTINCT ON (x.package)
       left(x.package || ' (' || x.release || ')', 42) AS one,
       left(y.package || ' (' || y.release || ')', 42) AS other,
       round(p.similarity::numeric, 3) AS similarity
FROM pairs p JOIN docs x ON x.id = p.a JOIN docs y ON y.id = p.b
WHERE x.package <> y.package AND p.similarity < 1 AND p.a % 100 = 0
ORDER BY x.package, p.a, p.b
LIMIT 8;

\echo
\echo '========  3. The same straight on the text, with nothing stored'
\echo
\set ECHO queries
\timing on
CREATE TABLE text_pairs AS
SELECT a.id AS a, b.id AS b FROM docs a JOIN docs b
  ON near_duplicate(shingles(a.body), shingles(b.body), 0.8) AND a.id < b.id;
\timing off
\set ECHO none
\echo
SELECT count(*) AS pairs,
       (SELECT count(*)
        FROM (SELECT a, b FROM text_pairs EXCEPT SELECT a, b FROM pairs) x)
         AS "not found above",
       (SELECT count(*)
        FROM (SELECT a, b FROM pairs EXCEPT SELECT a, b FROM text_pairs) x)
         AS "found above only"
FROM text_pairs;

\echo
\echo '========  4. Is a text like this one there already?'
\echo
\set question 'encrypted DNS name resolver daemon\nnss-tls is an alternative, encrypted name resolving library to use with glibc, which uses DNS-over-HTTPS (DoH).\n\nThe glibc name resolver can be configured via nsswitch.conf(5) to use nss-tls instead of the DNS resolver, or fall back to DNS when nss-tls fails.\n\nThis way, all applications that use the standard resolver API (getaddrinfo(), gethostbyname(), etc''), are transparently migrated from DNS to encrypted means of name resolving, with zero application-side changes and minimal resource consumption footprint.\nHowever, nss-tls does not deal with applications that use their own, built-in DNS resolver.\n\nThis package contains the daemon to be used in conjunction with the libnss-tls NSS module. The daemon runs in the background, receives name resolving requests over a Unix socket and replies with resolved addresses.'
\echo :question
\echo
\echo 'SELECT id, package, release, similarity(sig, shingles(:''question''))'
\echo 'FROM docs WHERE near_duplicate(sig, shingles(:''question''), 0.8);'
\timing on
SELECT id, package, release,
       round(similarity(sig, shingles(:'question'))::numeric, 3) AS similarity
FROM docs WHERE near_duplicate(sig, shingles(:'question'), 0.8)
ORDER BY id;
\timing off
\echo 'How PostgreSQL finds them (the conditions, with a signature each, cut short):'
\pset tuples_only on
\o | cut -c -78
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF)
SELECT id FROM docs WHERE near_duplicate(sig, shingles(:'question'), 0.8);
\o
\pset tuples_only off

\echo
\echo '========  5. Groups, and one row that stands for each'
\echo
\set ECHO queries
\timing on
CREATE TABLE clusters AS
SELECT * FROM near_duplicate_groups('SELECT id, sig FROM docs', 0.8);
\timing off
\set ECHO none
\echo
SELECT count(DISTINCT group_id) AS groups, count(DISTINCT group_id) FILTER (WHERE size > 1) AS "of several",
       max(size) AS largest, count(*) FILTER (WHERE id <> representative) AS "to delete"
FROM clusters;
\echo 'The largest:'
SELECT size, left(d.package, 30) AS "stands for it", count(DISTINCT m.package) AS packages,
       round(min(c.similarity)::numeric, 3) AS "least similarity"
FROM clusters c JOIN docs d ON d.id = c.representative JOIN docs m ON m.id = c.id
GROUP BY size, d.id, d.package ORDER BY size DESC, d.id LIMIT 6;

\echo
\echo '========  6. No further near-duplicates, please'
\echo
\set ECHO queries
CREATE CONSTRAINT TRIGGER no_near_duplicates AFTER INSERT OR UPDATE ON docs
  FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.8');
\set ECHO none
\echo
\echo 'INSERT INTO docs (id, body) VALUES (10001, :''question'');'
\timing on
\set ON_ERROR_STOP off
INSERT INTO docs (id, body) VALUES (10001, :'question');
\set rejected :LAST_ERROR_SQLSTATE
\set ON_ERROR_STOP on
\echo
\set ECHO queries
INSERT INTO docs (id, body) VALUES (10002, 'Nobody has said this here before.');
\timing off
\set ECHO none

-- make demo fails if the guard accepted the row
SELECT :'rejected' <> '23P01' AS accepted \gset
\if :accepted
SELECT 'the guard has not rejected the text'::int;
\endif
