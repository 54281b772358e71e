-- Keys for joins in other databases: near-duplicates share one, whatever the
-- order of features; and size classes.

CREATE EXTENSION IF NOT EXISTS neardup;

CREATE TABLE texts AS
SELECT n AS id, (SELECT string_agg('w' || (n % 20 * 50 + i + CASE WHEN (i * 7 + n / 20) % (5 + n % 9) = 0
																   THEN 1000 + n * i % 40 ELSE 0 END), ' ' ORDER BY i)
				 FROM generate_series(1, 8 + n % 20 * 3) i) AS body
FROM generate_series(1, 240) n;
CREATE TABLE sets AS SELECT id, shingles(body, 2) AS sig, body FROM texts;
CREATE TABLE counts AS SELECT feature_counts(sig) AS counts FROM sets;
SELECT length(counts) FROM counts;

-- a near pair without a common key would be an error: there are none
CREATE FUNCTION keys_of(which text, s signature, t float8, m text) RETURNS bigint[]
LANGUAGE sql STABLE AS $$
	SELECT CASE which WHEN 'hash' THEN candidate_keys(s, t, m)
					  ELSE candidate_keys(s, t, m, counts) END FROM counts
$$;
SELECT m AS measure, t AS threshold, which, count(*) AS near,
	   count(*) FILTER (WHERE NOT a.keys && b.keys) AS missed
FROM unnest('{jaccard,dice,cosine}'::text[]) m,
	 unnest('{0.5,0.8,0.9,1}'::float8[]) t,
	 unnest('{hash,rarest}'::text[]) which,
	 LATERAL (SELECT id, sig, keys_of(which, sig, t, m) AS keys FROM sets OFFSET 0) a,
	 LATERAL (SELECT keys_of(which, s.sig, t, m) AS keys FROM sets s
			  WHERE a.id < s.id AND near_duplicate(a.sig, s.sig, t, m) OFFSET 0) b
GROUP BY m, t, which ORDER BY m, t, which;

-- containment: the prefix of the contained, all of the containing
SELECT count(*) AS near, count(*) FILTER (WHERE NOT candidate_keys(a.sig, 0.8, 'containment') &&
												   candidate_keys(b.sig, 0.8, 'contains')) AS missed
FROM sets a JOIN sets b ON contained_in(a.sig, b.sig, 0.8) AND a.id <> b.id;

-- with the rarest features first there are fewer pairs
SELECT (SELECT count(DISTINCT (a.id, b.id)) FROM
		(SELECT id, unnest(candidate_keys(sig, 0.8, 'jaccard', counts)) AS key FROM sets, counts) a
		JOIN (SELECT id, unnest(candidate_keys(sig, 0.8, 'jaccard', counts)) AS key FROM sets, counts) b
		ON a.key = b.key AND a.id < b.id)
	   <=
	   (SELECT count(DISTINCT (a.id, b.id)) FROM
		(SELECT id, unnest(candidate_keys(sig, 0.8)) AS key FROM sets) a
		JOIN (SELECT id, unnest(candidate_keys(sig, 0.8)) AS key FROM sets) b
		ON a.key = b.key AND a.id < b.id) AS not_more;

-- all that is no set, of every method of the catalogs: sketches by bands, blocks or
-- coordinates, vectors, words
\getenv abs_srcdir PG_ABS_SRCDIR
\set file :abs_srcdir '/sql/shared/method_calls.sql'
\i :file
CREATE TABLE lexicons AS
SELECT lexicon_agg(body) AS lexicon, shingle_lexicon_agg(body, 'k=2') AS shingle_lexicon, word_set_agg(body) AS word_set FROM texts;
CREATE TABLE values_of (what text, id int, v signature);
SELECT format('INSERT INTO values_of SELECT %L, id, %s FROM sets, lexicons', format(call, 'x'),
              format(call, CASE takes WHEN 'text'::regtype THEN 'body' ELSE 'sig' END)) AS statement
FROM method_calls WHERE takes = 'signature'::regtype OR method NOT IN (SELECT method FROM method_calls WHERE takes = 'signature'::regtype)
UNION ALL
SELECT 'INSERT INTO values_of SELECT ''minhash(x, 64)'', id, minhash(sig, 64) FROM sets' \gexec
INSERT INTO values_of SELECT what, 1000 + row_number() OVER (), near FROM values_of, unnest('{0.8,0.95}'::float8[]) t, pg_temp.barely_near(v, t) near WHERE id = 59;
SELECT what, t, count(*) > 0 AS near,
	   count(*) FILTER (WHERE NOT candidate_keys(a.v, t) && candidate_keys(b.v, t)) AS missed
FROM values_of a JOIN values_of b USING (what), unnest('{0.8,0.95}'::float8[]) t
WHERE a.id < b.id AND near_duplicate(a.v, b.v, t)
GROUP BY what, t ORDER BY what COLLATE "C", t;

-- pairs by the measure similarity, whatever the rule of the method; keys find no
-- descriptive words, and a measure that a sketch cannot compute has no keys
SELECT what, t, count(*) > 0 AS near,
	   count(*) FILTER (WHERE NOT candidate_keys(a.v, t, 'similarity') && candidate_keys(b.v, t, 'similarity')) AS missed
FROM values_of a JOIN values_of b USING (what), unnest('{0.8,0.9}'::float8[]) t
WHERE a.id < b.id AND NOT what ~ '^descriptive' AND near_duplicate(a.v, b.v, t, 'similarity')
GROUP BY what, t ORDER BY what COLLATE "C", t;
DROP TABLE values_of;
DROP VIEW method_calls;
CREATE TABLE described AS SELECT id, descriptive_words(body, word_set) AS v FROM texts, lexicons;
SELECT t, count(*) > 0 AS near,
	   count(*) FILTER (WHERE NOT candidate_keys(a.v, t) && candidate_keys(b.v, t)) AS missed
FROM described a JOIN described b ON a.id < b.id, unnest('{0.8}'::float8[]) t
WHERE near_duplicate(a.v, b.v, t) GROUP BY t;
SELECT count(*) > 0 AS near FROM described a JOIN described b ON a.id < b.id
WHERE near_duplicate(a.v, b.v, 0.8, 'similarity') AND NOT near_duplicate(a.v, b.v, 0.8);
SELECT candidate_keys(v, 0.8, 'similarity') FROM described WHERE v IS NOT NULL;
DROP TABLE described, lexicons;
SELECT candidate_keys(minhash(sig), 0.8, 'dice') FROM sets;
SELECT candidate_keys(simhash(sig), 5, 'shared') FROM sets;
SELECT candidate_keys(bottom(sig, 16), 0.8, 'dice') FROM sets;

-- size classes: the same or neighbours, and each set is in two
SELECT t AS threshold, count(*) AS near,
	   count(*) FILTER (WHERE NOT size_classes(a.sig, t) && size_classes(b.sig, t)) AS missed
FROM unnest('{0.5,0.6666666666666666,0.8,1}'::float8[]) t, sets a JOIN sets b ON a.id < b.id
WHERE near_duplicate(a.sig, b.sig, t) GROUP BY t ORDER BY t;
SELECT t AS threshold, bool_and(small = large OR small + 1 = large) AS neighbours, max(large)
FROM unnest('{0.5,0.75,0.8,0.9}'::float8[]) t, generate_series(1, 60) n,
	 LATERAL (SELECT (size_classes(signature_from(ARRAY(SELECT generate_series(1, n)::bigint)), t))[1] AS small,
					 (size_classes(signature_from(ARRAY(SELECT generate_series(1, floor(n / t)::int)::bigint)), t))[1] AS large) c
GROUP BY t ORDER BY t;
-- ... so that classes can be joined separately: each pair is found once
CREATE TABLE parts AS SELECT id, sig, (size_classes(sig, 0.5))[1] AS own, part
FROM sets, unnest(size_classes(sig, 0.5)) part;
WITH apart AS (
	SELECT a.id AS a, b.id AS b FROM parts a JOIN parts b
	ON a.part = b.part AND near_duplicate(a.sig, b.sig, 0.5) AND a.id < b.id
	WHERE a.part = greatest(a.own, b.own)),
whole AS (
	SELECT a.id AS a, b.id AS b FROM sets a JOIN sets b
	ON near_duplicate(a.sig, b.sig, 0.5) AND a.id < b.id)
SELECT (SELECT count(*) FROM apart) AS apart, (SELECT count(*) FROM whole) AS whole,
	   (SELECT count(*) FROM (TABLE whole EXCEPT TABLE apart) m) AS missed;
DROP TABLE parts;
SELECT size_classes('features{}', 0.8), candidate_keys('features{}', 0.8);

-- a different spec has other keys
SELECT candidate_keys(shingles('a b c'), 0.8) && candidate_keys(shingles('a b c', 2), 0.8) AS meet;

-- in parallel, and errors
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT (SELECT feature_counts(sig) FROM sets) = counts AS same FROM counts;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
SELECT feature_counts(NULL::signature);
SELECT feature_counts(simhash('a'));
SELECT feature_counts_add('\x00', shingles('a'));
SELECT feature_counts_add(c, s) = feature_counts(s) AS same FROM (SELECT feature_counts(NULL::signature) AS c, shingles('a b c d') AS s) v GROUP BY c, s;
SELECT feature_counts_combine(counts, counts) = feature_counts_combine(counts, counts) AS not_in_place FROM counts;
CREATE AGGREGATE pg_temp.begun (signature) (SFUNC = feature_counts_add, STYPE = bytea, INITCOND = '\x00');
SELECT pg_temp.begun(sig) FROM sets;
SELECT candidate_keys(shingles('a'), 0.8, 'jaccard', '\x00');
SELECT candidate_keys(shingles('a'), 0);
SELECT candidate_keys(simhash('a'), 0.3);
SELECT size_classes(simhash('a'), 0.8);
DROP FUNCTION keys_of;
DROP TABLE texts, sets, counts;
