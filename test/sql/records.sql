-- Records of short columns: statistics of shingles of any unit, vectors of
-- shingles that they weigh, and best matches by them.

CREATE EXTENSION IF NOT EXISTS neardup;

-- from a small generator: two catalogues, the second with misspellings
CREATE TABLE catalogue (side text, id int, title text, PRIMARY KEY (side, id));
WITH word AS (
	SELECT i, (ARRAY['steel', 'wooden', 'garden', 'kitchen', 'lamp', 'table', 'chair', 'pump',
					 'filter', 'brush', 'drill', 'hammer', 'shelf', 'mirror', 'carpet', 'kettle'])[i + 1] AS w
	FROM generate_series(0, 15) i)
INSERT INTO catalogue
SELECT 'a', n, (SELECT w FROM word WHERE i = n * 7 % 16) || ' ' || (SELECT w FROM word WHERE i = n * 5 % 11) ||
	   ' model ' || chr(97 + n % 26) || chr(97 + n / 26) || (n * 37 % 1000)
FROM generate_series(1, 60) n;
INSERT INTO catalogue
SELECT 'b', id, CASE id % 3 WHEN 0 THEN title
						   WHEN 1 THEN replace(title, 'e', 'ee')
						   ELSE split_part(title, ' ', 2) || ' ' || split_part(title, ' ', 1) || ', ' ||
								split_part(title, ' ', 4) END
FROM catalogue WHERE side = 'a';

-- the statistics against SQL, with shingles from the set function
CREATE TABLE counted AS
SELECT shingle_lexicon_agg(title, 'unit=char k=3') AS lexicon FROM catalogue;
SELECT lexicon_describe(lexicon) FROM counted;
WITH shingle AS (
	SELECT DISTINCT side, id, unnest(shingles(title, 'unit=char k=3')::bigint[]) AS s FROM catalogue),
df AS (
	SELECT to_hex(s) AS hash, count(*) AS df FROM shingle GROUP BY s)
SELECT count(*) AS shingles, count(*) FILTER (WHERE w.df IS DISTINCT FROM df.df) AS different
FROM (SELECT to_hex(hash) AS hash, words.df FROM counted, lexicon_words(lexicon) AS words) w
FULL JOIN df USING (hash);
SELECT (lexicon_word(lexicon, 'gar')).df, (lexicon_word(lexicon, 'xyz')).df, (lexicon_word(lexicon, 'mod')).cf FROM counted;
SELECT (lexicon_word(lexicon, 'gard')).df FROM counted;

-- sums, parts, text and bytes keep it
SELECT c.lexicon = a.l + b.l AS sum_is_the_same, (c.lexicon - b.l) = a.l AS difference,
	   c.lexicon::text::lexicon = c.lexicon AS read_again, c.lexicon::bytea::lexicon = c.lexicon AS by_bytes
FROM counted c,
	 (SELECT shingle_lexicon_agg(title, 'unit=char k=3') AS l FROM catalogue WHERE side = 'a') a,
	 (SELECT shingle_lexicon_agg(title, 'unit=char k=3') AS l FROM catalogue WHERE side = 'b') b;
SELECT left(shingle_lexicon_agg(title, 'order=sorted k=2 english stop')::text, 60) FROM catalogue;

-- vectors, against the formula: tf / length * ln(N / df), cosine
CREATE TABLE vectors AS
SELECT side, id, weighted_shingles(title, lexicon) AS v FROM catalogue, counted;
SELECT count(DISTINCT describe(v)) AS descriptions, min(left(v::text, 43)) AS made_by FROM vectors;
CREATE TABLE weighed AS
WITH letters AS (
	SELECT side, id, regexp_replace(title, '[^a-z0-9]+', ' ', 'g') AS t FROM catalogue),
occurrence AS (
	SELECT side, id, substr(t, i, 3) AS s FROM letters, generate_series(1, length(t) - 2) i),
tf AS (
	SELECT side, id, s, count(*)::float8 / sum(count(*)) OVER (PARTITION BY side, id) AS tf
	FROM occurrence GROUP BY side, id, s)
SELECT side, id, s, tf * ln((SELECT count(*) FROM catalogue)::float8 /
							 count(*) OVER (PARTITION BY s)) AS w
FROM tf;
SELECT count(*) AS pairs, round(max(abs(cosine(x.v, y.v) - coalesce(c.cosine, 0)))::numeric, 5) AS off_by
FROM vectors x JOIN vectors y ON x.side = 'a' AND y.side = 'b'
LEFT JOIN (
	SELECT p.id AS a, q.id AS b,
		   sum(p.w * q.w) / sqrt((SELECT sum(w * w) FROM weighed WHERE side = 'a' AND id = p.id) *
								 (SELECT sum(w * w) FROM weighed WHERE side = 'b' AND id = q.id)) AS cosine
	FROM weighed p JOIN weighed q ON p.s = q.s AND p.side = 'a' AND q.side = 'b'
	GROUP BY p.id, q.id) c ON c.a = x.id AND c.b = y.id;

-- by join and by index, the same pairs
CREATE INDEX ON vectors USING gin (v signature_gin_ops (threshold = 0.3)) WITH (fastupdate = off);
ANALYZE vectors;
CREATE TABLE pairs AS
SELECT x.id AS a, y.id AS b, cosine(x.v, y.v) AS score
FROM vectors x JOIN vectors y ON near_duplicate(x.v, y.v, 0.5, 'cosine')
WHERE x.side = 'a' AND y.side = 'b';
SET neardup.enable_join = off;
SELECT count(*) AS pairs,
	   (SELECT count(*) FROM (
			SELECT x.id, y.id FROM vectors x, vectors y
			WHERE x.side = 'a' AND y.side = 'b' AND cosine(x.v, y.v) >= 0.5
			EXCEPT SELECT a, b FROM pairs) missing) AS missing
FROM pairs;
SET enable_seqscan = off;
SELECT count(*) AS looked_up,
	   count(*) FILTER (WHERE (x.id, y.id) NOT IN (SELECT a, b FROM pairs)) AS wrong
FROM vectors x JOIN vectors y ON near_duplicate(y.v, x.v, 0.5, 'cosine')
WHERE x.side = 'a' AND y.side = 'b';
RESET enable_seqscan;
RESET neardup.enable_join;

-- the best match of each row, and those that are best for both
WITH ranked AS (
	SELECT *, rank() OVER (PARTITION BY a ORDER BY score DESC) AS best_for_a,
		   rank() OVER (PARTITION BY b ORDER BY score DESC) AS best_for_b
	FROM pairs)
SELECT count(*) AS matches, count(*) FILTER (WHERE a = b) AS correct
FROM ranked WHERE best_for_a = 1 AND best_for_b = 1;

-- of several conditions the join uses the one with the fewest pairs, at any place
CREATE TABLE two AS
SELECT i AS id, signature_from(ARRAY[i % 4, i % 4 + 10, i % 4 + 20, i % 4 + 30]) AS maker,
	   signature_from(ARRAY[i / 2, i / 2 + 10000, i / 2 + 20000, i / 2 + 30000]) AS name
FROM generate_series(1, 2000) i;
ANALYZE two;
CREATE FUNCTION driven_by(condition text) RETURNS TABLE (line text) LANGUAGE plpgsql AS $$
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) SELECT FROM two a JOIN two b ON ' || condition LOOP
		IF line ~ 'Cond:|Filter:' THEN RETURN NEXT; END IF;
	END LOOP;
END $$;
SELECT * FROM driven_by('near_duplicate(a.maker, b.maker, 0.5) AND near_duplicate(a.name, b.name, 0.5)');
SELECT * FROM driven_by('near_duplicate(a.name, b.name, 0.5) AND near_duplicate(a.maker, b.maker, 0.5)');
DROP FUNCTION driven_by;
DROP TABLE two;

-- words and shingles cannot be combined
SELECT weighted_words('a', lexicon) FROM counted;
SELECT top_words('a', lexicon) FROM counted;
SELECT weighted_shingles('a b', lexicon_agg('a b c')) ;
SELECT weighted_shingles(title, lexicon, 'tf-idf', 'unit=char k=4') FROM catalogue, counted LIMIT 1;
SELECT lexicon_agg(title) + (SELECT lexicon FROM counted) FROM catalogue;
SELECT cosine(weighted_shingles('steel lamp', lexicon), weighted_words('steel lamp')) FROM counted;
SELECT shingle_lexicon_agg(title, 'k=1') FROM catalogue;
SELECT shingle_lexicon_agg(title, 'k=2', 0) FROM catalogue;
SELECT shingle_lexicon_agg(title, 'k=3 repeats=number') FROM catalogue;
SELECT shingle_lexicon_agg(title, NULL) FROM catalogue;
SELECT shingle_lexicon_agg(NULL, 'k=3');
SELECT ('lexicon[unit=char k=3] documents=1 length=1 df_error=0 cf_error=0 initials=' || repeat('0,', 31) || '0 {}')::lexicon AS read;
SELECT weighted_shingles('', lexicon), weighted_shingles('zzzzz', lexicon) FROM counted;

DROP TABLE catalogue, counted, vectors, weighed, pairs;
