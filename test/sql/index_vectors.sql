--
-- Access method neardup on vectors: the nearest by either measure, and the rows that
-- reach a threshold, as by a sequential scan
--

-- Vectors in families: weights of a few sizes (many ties), of 40 orders of
-- magnitude, all alike; single components, empty vectors and nulls
CREATE FUNCTION make(id bigint) RETURNS signature LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN id % 83 = 0 THEN NULL
              WHEN id % 71 = 0 THEN signature_weighted('{}', '{}')
              WHEN id % 61 = 0 THEN signature_weighted(array[id % 5], '{2}')
              ELSE signature_weighted(
                coalesce(array_agg(f), '{}'),
                coalesce(array_agg((CASE id / 8 % 4
                  WHEN 0 THEN 1
                  WHEN 1 THEN 1 + hashint8extended(f, id / 8) & 3
                  WHEN 2 THEN power(10, (hashint8extended(f, 7) & 31) - 16)
                  ELSE (1 + hashint8extended(f, id / 8) & 1023) / 7.0 END)::real), '{}')) END
  FROM generate_series(1, 80) f
  WHERE hashint8extended(f, id / 8) & 3 = 0 AND hashint8extended(f, id) & 7 > 0
    OR hashint8extended(f, -id) & 31 = 0
$$;
CREATE TABLE docs (id int PRIMARY KEY, v signature);
INSERT INTO docs SELECT id, make(id) FROM generate_series(1::bigint, 700) id;
CREATE INDEX docs_v ON docs USING neardup (v);
INSERT INTO docs SELECT id, make(id) FROM generate_series(701::bigint, 800) id;
ANALYZE docs;
SELECT count(*), count(v), count(DISTINCT v) AS different,
       count(*) FILTER (WHERE v = 'weighted{}') AS empty
FROM docs;
CREATE TABLE query AS SELECT id AS q, v AS query FROM docs WHERE id % 97 = 11;
INSERT INTO query VALUES (-1, signature_weighted('{}', '{}')),
  (-2, signature_weighted('{1,2,3,900}', '{1,2,3,4}')),
  (-3, signature_weighted('{1000}', '{5}'));

-- The rows of each condition, and the distances of the nearest, as rows with equal
-- distances are in any order
CREATE FUNCTION found(OUT conditions text, OUT by_similarity text, OUT by_cosine text)
LANGUAGE plpgsql SET neardup.enable_join = off SET jit = off AS $$
DECLARE
  r record;
  part text;
BEGIN
  conditions := ''; by_similarity := ''; by_cosine := '';
  FOR r IN SELECT * FROM query, unnest('{jaccard,cosine,similarity}'::text[]) m,
                  unnest('{1e-9,0.2,0.5,0.9,1}'::float8[]) t ORDER BY q, m, t LOOP
    EXECUTE format('SELECT string_agg(id::text, '','' ORDER BY id) FROM docs
                    WHERE near_duplicate(v, %L, %L, %L)', r.query, r.t, r.m)
    INTO part;
    conditions := md5(conditions || coalesce(part, '-'));
  END LOOP;
  FOR r IN SELECT * FROM query, unnest('{5,1000}'::int[]) k ORDER BY q, k LOOP
    EXECUTE format('SELECT string_agg(coalesce(d::text, ''null''), '','' ORDER BY n)
      FROM (SELECT v <-> %1$L AS d, row_number() OVER () AS n FROM
             (SELECT v FROM docs ORDER BY v <-> %1$L LIMIT %2$s) s) s', r.query, r.k)
    INTO part;
    by_similarity := md5(by_similarity || coalesce(part, '-'));
    EXECUTE format('SELECT string_agg(coalesce(d::text, ''null''), '','' ORDER BY n)
      FROM (SELECT v <=> %1$L AS d, row_number() OVER () AS n FROM
             (SELECT v FROM docs ORDER BY v <=> %1$L LIMIT %2$s) s) s', r.query, r.k)
    INTO part;
    by_cosine := md5(by_cosine || coalesce(part, '-'));
  END LOOP;
END $$;
CREATE FUNCTION compare(OUT conditions bool, OUT by_similarity bool, OUT by_cosine bool)
LANGUAGE plpgsql AS $$
DECLARE
  truth record;
  by_index record;
BEGIN
  SET LOCAL enable_indexscan = off; SET LOCAL enable_bitmapscan = off;
  truth := found();
  SET LOCAL enable_seqscan = off; SET LOCAL enable_sort = off;
  SET LOCAL enable_indexscan = on;
  by_index := found();
  conditions := by_index.conditions = truth.conditions;
  by_similarity := by_index.by_similarity = truth.by_similarity;
  by_cosine := by_index.by_cosine = truth.by_cosine;
  SET LOCAL enable_seqscan = on; SET LOCAL enable_bitmapscan = on; SET LOCAL enable_sort = on;
END $$;
SET enable_seqscan = off;
EXPLAIN (COSTS OFF)
SELECT id FROM docs ORDER BY v <=> signature_weighted('{1,2}', '{1,2}') LIMIT 3;
SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF)
SELECT id FROM docs WHERE near_duplicate(v, signature_weighted('{1,2}', '{1,2}'), 0.3, 'cosine')
ORDER BY v <-> signature_weighted('{1,2}', '{1,2}') LIMIT 3;
RESET enable_bitmapscan;
RESET enable_seqscan;

SELECT * FROM compare();
SELECT neardup_index_check('docs_v', true);
INSERT INTO docs SELECT id, make(id) FROM generate_series(801::bigint, 2500) id;
UPDATE docs SET v = make(id + 3000) WHERE id % 7 = 2;
DELETE FROM docs WHERE id % 3 = 1;
VACUUM docs;
SELECT neardup_index_check('docs_v', true) >= count(*) AS indexed FROM docs;
SELECT * FROM compare();

-- With a condition of the other measure, and one on another vector
CREATE TABLE long_query AS
SELECT signature_weighted(array_agg(f), array_agg((f % 10 + 1)::real)) AS q FROM generate_series(1, 17000) f;
SET enable_seqscan = off; SET enable_sort = off; SET enable_bitmapscan = off;
SELECT count(*), count(*) = (SELECT count(*) FROM docs WHERE cosine(v, make(24)) >= 0.3) AS all
FROM (SELECT id FROM docs WHERE near_duplicate(v, make(24), 0.3, 'cosine')
      ORDER BY v <-> make(24)) s;
SELECT count(*), count(*) = (SELECT count(*) FROM docs WHERE similarity(v, make(17)) >= 0.1) AS all
FROM (SELECT id FROM docs WHERE near_duplicate(v, make(17), 0.1)
      ORDER BY v <=> make(24)) s;
-- A query with enough components to visit all rows
SELECT bool_and(d = e) AS same, count(*) FROM
  (SELECT row_number() OVER () AS n, d FROM
    (SELECT v <=> (SELECT q FROM long_query) AS d FROM docs
     WHERE v IS NOT NULL ORDER BY v <=> (SELECT q FROM long_query) OFFSET 0) s) a
  FULL JOIN
  (SELECT row_number() OVER (ORDER BY e) AS n, e FROM
    (SELECT v <=> q AS e FROM docs, long_query WHERE v IS NOT NULL OFFSET 0) s) b USING (n);
-- Measures that vectors do not have
SELECT count(*) FROM docs WHERE near_duplicate(v, make(24), 0.3, 'dice');
RESET enable_seqscan; RESET enable_sort; RESET enable_bitmapscan;

-- Tickets of eight words, by the words that are rare
CREATE TABLE tickets (id int PRIMARY KEY, body text);
INSERT INTO tickets SELECT i, string_agg('w' || least(hashint8extended(k, i) & 4095, hashint8extended(k, i + 999) & 4095), ' ')
FROM generate_series(1::bigint, 2000) i, generate_series(1, 8) k GROUP BY i;
CREATE TABLE vectors AS
SELECT id, weighted_words(body, (SELECT lexicon_agg(body) FROM tickets)) AS v FROM tickets;
CREATE INDEX vectors_v ON vectors USING neardup (v);
ANALYZE vectors;
SELECT bool_and(s.d = i.d) AS same, count(*) FROM
  (SELECT a.id, n, d FROM (SELECT * FROM vectors WHERE id % 97 = 5) a,
     LATERAL (SELECT v <=> a.v AS d, row_number() OVER (ORDER BY v <=> a.v) AS n FROM vectors) b
   WHERE n <= 10) s
  FULL JOIN
  (SELECT a.id, row_number() OVER (PARTITION BY a.id ORDER BY d) AS n, d FROM (SELECT * FROM vectors WHERE id % 97 = 5) a,
     LATERAL (SELECT v <=> a.v AS d FROM vectors ORDER BY v <=> a.v LIMIT 10) b) i USING (id, n);

-- Sets by their cosine
CREATE TABLE sets AS SELECT id, signature_from(v::bigint[]) AS sig FROM docs WHERE v <> 'weighted{}';
CREATE INDEX sets_sig ON sets USING neardup (sig);
SELECT bool_and(s.d = i.d) AS same, count(*) FROM
  (SELECT a.id, n, d FROM (SELECT * FROM sets WHERE id % 53 = 5) a,
     LATERAL (SELECT sig <=> a.sig AS d, row_number() OVER (ORDER BY sig <=> a.sig) AS n FROM sets) b
   WHERE n <= 10) s
  FULL JOIN
  (SELECT a.id, row_number() OVER (PARTITION BY a.id ORDER BY d) AS n, d FROM (SELECT * FROM sets WHERE id % 53 = 5) a,
     LATERAL (SELECT sig <=> a.sig AS d FROM sets ORDER BY sig <=> a.sig LIMIT 10) b) i USING (id, n);

DROP TABLE docs, query, long_query, tickets, vectors, sets;
DROP FUNCTION make, found, compare;

-- Each new lexicon is a new spec of vectors: VACUUM frees the numbers of specs without
-- rows, as a look-up reads all rows of specs without a number
CREATE TABLE refreshed (id int PRIMARY KEY, sig signature);
INSERT INTO refreshed SELECT id, signature_from(ARRAY(SELECT hashint8extended(id / 5 * 100 + i, 0) FROM generate_series(1, 40 + id % 5) i))
FROM generate_series(1, 300) id;
ALTER TABLE refreshed ADD sketch signature;
CREATE INDEX refreshed_sketch ON refreshed USING neardup (sketch);
\set ECHO none
SELECT command FROM generate_series(2, 60) k, unnest(ARRAY[
  format('UPDATE refreshed SET sketch = sample(sig, %s)', k), 'VACUUM refreshed']) command \gexec
\set ECHO all
SELECT count(*) > 0 AS counted FROM neardup_index_counters(true);
SET enable_seqscan = off;
SELECT count(*) < 10 AS few FROM refreshed WHERE near_duplicate(sketch, sample((SELECT sig FROM refreshed WHERE id = 99), 60), 1);
SELECT rows < 10 AS few FROM neardup_index_counters() WHERE index = 'refreshed_sketch'::regclass;
RESET enable_seqscan;
SELECT neardup_index_check('refreshed_sketch', true);
-- with more specs than numbers, rows without a number are read, and stay without one
UPDATE refreshed SET sketch = sample(sig, 2 + id % 100);
VACUUM refreshed;
SELECT neardup_index_check('refreshed_sketch', true);
SET enable_seqscan = off;
SELECT k, array_agg(r.id) FROM unnest('{1,7,60,98}'::int[]) k, refreshed r
WHERE r.id % 100 = k AND near_duplicate(r.sketch, sample((SELECT sig FROM refreshed WHERE id = 100 + k), 2 + k), 0.5)
GROUP BY k ORDER BY k;
RESET enable_seqscan;
DROP TABLE refreshed;
