--
-- Similarity joins with a comparison of integers among their conditions
--

CREATE SCHEMA join_comparison;
SET search_path = join_comparison, public;
SET max_parallel_workers_per_gather = 0;
SET jit = off;

-- Ten near-duplicates of each kind; the numbers rise, fall, are equal and null
CREATE DOMAIN positive AS int CHECK (VALUE > 0);
CREATE TABLE docs AS
SELECT i AS id, i % 4 AS kind,
    (i % 5)::smallint AS i2,
    CASE WHEN i % 7 > 0 THEN 20 - i % 11 END AS i4,
    CASE WHEN i % 6 > 0 THEN (i % 9 - 4) * 3000000000 END AS i8,
    (i % 3 + 1)::positive AS domain, (i % 5)::numeric AS num, chr(65 + i % 6) AS txt,
    signature_from(ARRAY(SELECT i % 4 * 100 + e FROM generate_series(1 + i % 2, 12) e)) AS sig
FROM generate_series(1, 40) i;
INSERT INTO docs (id, i2, sig)
VALUES (41, -32768, NULL), (42, 32767, signature_from('{}')), (43, NULL, signature_from('{1,2,3,4,5,6,7,8,9,10,11,12}'));
INSERT INTO docs (id, i4, i8, sig) VALUES
    (44, -2147483648, -9223372036854775808, signature_from('{1,2,3,4,5,6,7,8,9,10,11,12}')),
    (45, 2147483647, 9223372036854775807, signature_from('{1,2,3,4,5,6,7,8,9,10,11,12}'));
CREATE TABLE others AS SELECT * FROM docs WHERE id > 3;
ANALYZE;

\getenv abs_srcdir PG_ABS_SRCDIR
\set file :abs_srcdir '/sql/shared/same_rows.sql'
\i :file
SET test.plan = 'SimilarityJoin';

-- Every operator and pair of types, on either side, in every kind of join
CREATE TEMP VIEW condition AS
SELECT op, x || ' and ' || y AS columns, format(form, x, op, y) AS clause
FROM unnest('{<,<=,<>,>=,>}'::text[]) op,
    unnest('{i2,i4,i8}'::text[]) x, unnest('{i2,i4,i8}'::text[]) y,
    unnest('{a.%s %s b.%s,b.%s %s a.%s}'::text[]) form
UNION ALL
SELECT op, x, format('a.%1$s %2$s b.%1$s', x, op)
FROM unnest('{<,<=,<>,>=,>}'::text[]) op,
    unnest('{ctid,domain,num,txt}'::text[]) x;
CREATE TEMP VIEW query AS
SELECT op, columns, name, format(text, clause) AS text
FROM condition, (VALUES
    ('inner', 'SELECT a.id, b.id AS b FROM docs a JOIN others b ON near_duplicate(a.sig, b.sig, 0.8) AND %s'),
    ('self', 'SELECT a.id, b.id AS b FROM docs a JOIN docs b ON near_duplicate(a.sig, b.sig, 0.8) AND %s'),
    ('left', 'SELECT a.id, b.id AS b FROM docs a LEFT JOIN others b ON near_duplicate(a.sig, b.sig, 0.8) AND %s AND a.kind + b.kind < 6'),
    ('self left', 'SELECT a.id, b.id AS b FROM docs a LEFT JOIN docs b ON near_duplicate(a.sig, b.sig, 0.8) AND %s'),
    ('semi', 'SELECT a.id FROM docs a WHERE EXISTS (SELECT FROM docs b WHERE near_duplicate(a.sig, b.sig, 0.8) AND %s)'),
    ('anti', 'SELECT a.id FROM docs a WHERE NOT EXISTS (SELECT FROM others b WHERE near_duplicate(a.sig, b.sig, 0.8) AND %s)'))
    q(name, text);
SELECT name, count(*), bool_and(same_rows(text)) FROM query GROUP BY name ORDER BY name;

-- On disk
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
CREATE TABLE many AS
SELECT id + 100 * n AS id, i4, signature_from(ARRAY(SELECT n * 1000 + e FROM unnest(sig::bigint[]) e)) AS sig
FROM docs, generate_series(1, 30) n;
\set file :abs_srcdir '/sql/shared/counter.sql'
\i :file
SELECT counter('Disk Usage', 'SELECT FROM many a JOIN many b ON near_duplicate(a.sig, b.sig, 0.8) AND a.id < b.id') > 64;
SELECT same_rows('SELECT a.id, b.id AS b FROM many a JOIN many b ON near_duplicate(a.sig, b.sig, 0.8) AND a.id < b.id');
SELECT same_rows('SELECT a.id, b.id AS b FROM many a LEFT JOIN many b ON near_duplicate(a.sig, b.sig, 0.8) AND a.i4 < b.i4');
-- A group whose rows are in a file, many of them with the same value
CREATE TABLE group_of AS
SELECT n AS id, n % 500 AS part, repeat('x', 100) AS pad, signature_from('{1,2,3,4,5}') AS sig FROM generate_series(1, 2000) n
UNION ALL SELECT 3000 + n, n, 'y', signature_from(ARRAY(SELECT n * 100 + e FROM generate_series(1, 5) e)) FROM generate_series(1, 1500) n
UNION ALL SELECT 5000 + n, n, 'z', signature_from('{1,2,3,4}') FROM generate_series(1, 3) n;
SELECT counter('Disk Usage', 'SELECT FROM group_of a JOIN group_of b ON near_duplicate(a.sig, b.sig, 0.8) AND a.part < b.part') > 64;
SELECT counter('Rows Removed by Join Filter', 'SELECT FROM group_of a JOIN group_of b ON near_duplicate(a.sig, b.sig, 0.8) AND a.part < b.part')
    = count(*) AS removed FROM group_of a JOIN group_of b ON near_duplicate(a.sig, b.sig, 0.8) AND a.part >= b.part;
SELECT same_rows('SELECT a.id, length(b.pad) AS b, b.part FROM group_of a JOIN group_of b ON near_duplicate(a.sig, b.sig, 0.8) AND a.part < b.part AND (a.id + b.id) % 97 = 0');
RESET work_mem;
RESET hash_mem_multiplier;
SELECT counter('Rows Removed by Join Filter', 'SELECT FROM group_of a JOIN group_of b ON near_duplicate(a.sig, b.sig, 0.8) AND a.part < b.part')
    = count(*) AS removed FROM group_of a JOIN group_of b ON near_duplicate(a.sig, b.sig, 0.8) AND a.part >= b.part;

-- EXISTS and NOT EXISTS of copies of one text, in memory and in a file, in any order: each row finds a
-- match early, and no search is repeated
CREATE TABLE copies AS
SELECT n AS id, hashint4(n) & 65535 AS r, repeat('x', 100) AS pad, signature_from('{1,2,3}') AS sig FROM generate_series(1, 3000) n;
ANALYZE copies;
CREATE TEMP VIEW of_copies AS
SELECT start, compared, format('SELECT a.id, a.r, a.pad FROM copies a WHERE %s (SELECT FROM copies b WHERE near_duplicate(a.sig, b.sig, 0.8) AND %s)', start, compared) AS text
FROM unnest('{EXISTS,NOT EXISTS}'::text[]) start,
    unnest('{a.id < b.id,a.id > b.id,a.r < b.r,a.r > b.r,a.id < b.id AND a.r > b.r,a.id > b.id AND b.r % 300 = 7}'::text[]) compared;
SELECT count(*), bool_and(same_rows(text)) AS same FROM of_copies;
SET enable_nestloop = off;
SELECT start, compared, counter('Rows Removed by Join Filter', text) FROM of_copies WHERE counter('Rows Removed by Join Filter', text) > 60000;
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
SELECT counter('Disk Usage', text) > 64 AS on_disk, count(*), bool_and(same_rows(text)) AS same FROM of_copies GROUP BY 1;
SELECT start, compared, counter('Rows Removed by Join Filter', text) FROM of_copies WHERE counter('Rows Removed by Join Filter', text) > 60000;
RESET work_mem;
RESET hash_mem_multiplier;
RESET enable_nestloop;

-- Columns of one side and of the other
SELECT same_rows('SELECT a.id, a.txt, b.num, b.id AS b FROM docs a JOIN docs b ON near_duplicate(a.sig, b.sig, 0.8) AND a.i2 < b.i2 AND a.kind + b.i4 < 15');

-- Pairs that the comparison removes are counted as those of any other condition
SELECT counter('Rows Removed by Join Filter', 'SELECT FROM docs a JOIN docs b ON near_duplicate(a.sig, b.sig, 0.8) AND a.id < b.id')
    = count(*) AS removed FROM docs a JOIN docs b ON near_duplicate(a.sig, b.sig, 0.8) AND a.id >= b.id;

-- Two comparisons; one of two columns of a side, one with a constant
SELECT same_rows('SELECT a.id, b.id AS b FROM docs a JOIN docs b ON near_duplicate(a.sig, b.sig, 0.8) AND a.i2 < b.i2 AND a.id > b.id');
SELECT same_rows('SELECT a.id, b.id AS b FROM docs a LEFT JOIN docs b ON near_duplicate(a.sig, b.sig, 0.8) AND a.i2 < a.kind');
SELECT same_rows('SELECT a.id, b.id AS b FROM docs a LEFT JOIN docs b ON near_duplicate(a.sig, b.sig, 0.8) AND a.id < 7');

-- A null compares with nothing, neither in the comparison nor in later conditions
CREATE TABLE mixed AS SELECT id, id AS n, sig FROM docs WHERE id <= 40
UNION ALL SELECT id, NULL, minhash(sig) FROM docs WHERE id <= 40;
SELECT same_rows('SELECT a.id, b.id AS b FROM mixed a JOIN mixed b ON near_duplicate(a.sig, b.sig, 0.8) AND a.n < b.n');
SELECT same_rows('SELECT a.id, a.n, b.id AS b FROM mixed a LEFT JOIN mixed b ON near_duplicate(a.sig, b.sig, 0.8) AND a.n < b.n');
-- All of these have rows
SELECT query FROM truth WHERE rows LIKE '0 %';
SET enable_nestloop = off;
UPDATE mixed SET n = id WHERE id = 7;
SELECT count(*) FROM mixed a JOIN mixed b ON near_duplicate(a.sig, b.sig, 0.8) AND a.n < b.n;

SET client_min_messages = warning;
DROP SCHEMA join_comparison CASCADE;
