--
-- Weighted features: vectors of numbers and of words
--

-- A vector has each feature once, with the sum of its weights, and no feature of weight
-- 0; the order of the arrays does not matter
SELECT signature_weighted('{7,42,-1}', '{0.5,2,0.1}') AS vector;
SELECT signature_weighted('{7,42,7,5}', '{0.5,2,1,0}') AS sum,
       signature_weighted('{42,7,5,7}', '{2,1,0,0.5}') AS swapped,
       signature_weighted('{}', '{}') AS empty,
       signature_weighted('{1}', '{-0}') AS nothing;
SELECT signature_weighted('{1,1,1}', '{16777216,1,1}') = signature_weighted('{1,1,1}', '{1,16777216,1}') AS same,
       signature_weighted('{1,1,1}', '{16777216,1,1}') AS rounded_once;
SELECT describe(signature_weighted('{7,42}', '{0.5,2}')) AS two, describe(signature_weighted('{}', '{}')) AS none;
SELECT signature_weighted('{7,42,-1}', '{0.5,2,0.1}')::bigint[] AS features,
       signature_weighted('{7,42}', '{0.5,2}')::bytea AS bytes;
SELECT signature_weighted(NULL, '{1}') IS NULL AS is_null;

-- All values of a float4; settings do not matter
SET extra_float_digits = -3;
SELECT v, v::text::signature = v AS text, v::bytea::signature = v AS bytes
FROM (SELECT signature_weighted('{1,2,3,4,5}', '{3.4028235e38,1e-45,1.1754944e-38,0.1,16777216}') AS v) s;
RESET extra_float_digits;
SELECT 'weighted{0000000000000001:1.50,0000000000000002: 2e0 }'::signature,
       'weighted { 0000000000000001 : .5 }'::signature;

-- Invalid vectors
SELECT signature_weighted('{1}', '{-1}');
SELECT signature_weighted('{1}', '{NaN}');
SELECT signature_weighted('{1}', '{Infinity}');
SELECT signature_weighted('{1,1}', '{3e38,3e38}');
SELECT signature_weighted('{1}', '{1,2}');
SELECT signature_weighted('{1,NULL}', '{1,2}');
SELECT signature_weighted('{1,2}', '{1,NULL}');
SELECT 'weighted{0000000000000001}'::signature;
SELECT 'weighted{0000000000000001:}'::signature;
SELECT 'weighted{0000000000000001:0}'::signature;
SELECT 'weighted{0000000000000001:-2}'::signature;
SELECT 'weighted{0000000000000001:inf}'::signature;
SELECT 'weighted{0000000000000001:1e39}'::signature;
SELECT 'weighted{0000000000000001:1e-50}'::signature;
SELECT 'weighted{0000000000000001:nan}'::signature;
SELECT 'weighted{0000000000000001:1,0000000000000001:1}'::signature;
SELECT 'weighted{0000000000000002:1,0000000000000001:1}'::signature;
SELECT 'weighted{0000000000000001:1x}'::signature;
SELECT 'weighted{0000000000000001:0x1p-1}'::signature;
SELECT 'weighted{0000000000000001:+1}'::signature;
SELECT 'weighted{0000000000000001:1e}'::signature;
SELECT 'weighted[k=1]{}'::signature;
SELECT 'weighted_words{}'::signature;
SELECT 'weighted_words(1){}'::signature;
SELECT '\x0118ff000060000000000000000000000000000000000000010000000700000000000000'::bytea::signature; -- cut off
SELECT '\x0118ff00006000000000000000000000000000000000000001000000070000000000000000000000'::bytea::signature; -- 0
SELECT '\x0118ff0000600000000000000000000000000000000000000100000007000000000000000000807f'::bytea::signature; -- infinite
SELECT '\x0118ff000060000000000000000000000000000000000000020000000700000000000000000080bf'::bytea::signature; -- one feature, not two
SELECT '\x0118ff0000400000000000000000000000000000000000000100000007000000000000000000803f'::bytea::signature; -- width 64

-- By hand: 4*4 / (5*5) and 4 / (3+4+3); 2 / sqrt(2*2); 1/2; a part
SELECT cosine(a, b), similarity(a, b), a <-> b AS distance, cosine(b, a) = cosine(a, b) AS symmetric,
       near_duplicate(a, b, 0.64, 'cosine') AS reached, near_duplicate(a, b, 0.6400000001, 'cosine') AS missed,
       near_duplicate(a, b, 0.4) AS near, near_duplicate(a, b, 0.4000000001) AS not_near
FROM (SELECT signature_weighted('{1,2}', '{3,4}') AS a, signature_weighted('{2,3}', '{4,3}') AS b) s;
SELECT cosine(a, a) AS itself, similarity(a, a) AS alike, cosine(a, b) AS twice, similarity(a, b) AS half,
       cosine(a, c) AS none, similarity(a, c) AS nothing
FROM (SELECT signature_weighted('{1,2}', '{1,1}') AS a, signature_weighted('{1,2}', '{2,2}') AS b,
             signature_weighted('{3}', '{1}') AS c) s;
SELECT cosine(signature_weighted('{1}', '{5}'), signature_weighted('{1}', '{0.001}')) AS single,
       similarity(signature_weighted('{1}', '{8}'), signature_weighted('{1}', '{2}')) AS quarter;
-- the empty vector is similar to nothing, not even to itself
SELECT cosine(e, e), similarity(e, e), cosine(e, a), similarity(a, e), near_duplicate(e, e, 1e-300, 'cosine') AS near, e % a AS op
FROM (SELECT signature_weighted('{}', '{}') AS e, signature_weighted('{1}', '{1}') AS a) s;
-- the largest and the smallest weights, together
SELECT cosine(a, b), similarity(a, b), cosine(a, c), similarity(b, c) = 1 / 3.0::float8 AS third
FROM (SELECT signature_weighted('{1,2}', '{3.4028235e38,3.4028235e38}') AS a,
             signature_weighted('{1,2}', '{1e-45,1e-45}') AS b, signature_weighted('{1,3}', '{1e-45,1e-45}') AS c) s;
-- with weights 1 it is like a set; with whole weights like a set with repetitions
SELECT count(*) FILTER (WHERE cosine(v, w) <> cosine(s, t)) AS cosine, count(*) FILTER (WHERE similarity(v, w) <> similarity(s, t)) AS similarity
FROM (SELECT signature_weighted(array_agg(f), array_agg(1::real)) AS v, signature_from(array_agg(f)) AS s
      FROM generate_series(1, 12) n, generate_series(1, n) f GROUP BY n) a,
     (SELECT signature_weighted(array_agg(f), array_agg(1::real)) AS w, signature_from(array_agg(f)) AS t
      FROM generate_series(1, 12) n, generate_series(n, 15) f GROUP BY n) b;
SELECT similarity(signature_weighted(f, a), signature_weighted(f, b)) = similarity(signature_from(f, a::int[]), signature_from(f, b::int[])) AS multiset
FROM (VALUES ('{1,2,3}'::bigint[], '{3,1,7}'::real[], '{5,0,6}'::real[])) v (f, a, b);

-- Measures that vectors do not have
SELECT dice(v, v) FROM (SELECT signature_weighted('{1}', '{1}') AS v) s;
SELECT intersection_size(v, v) FROM (SELECT signature_weighted('{1}', '{1}') AS v) s;
SELECT hamming(v, v) FROM (SELECT signature_weighted('{1}', '{1}') AS v) s;
SELECT contained_in(v, v, 0.8) FROM (SELECT signature_weighted('{1}', '{1}') AS v) s;
SELECT near_duplicate(v, v, 0.8, 'overlap_coefficient') FROM (SELECT signature_weighted('{1}', '{1}') AS v) s;
SELECT near_duplicate_approx(v, v, 0.8) FROM (SELECT signature_weighted('{1}', '{1}') AS v) s;
SELECT minhash(v) FROM (SELECT signature_weighted('{1}', '{1}') AS v) s;
SELECT cosine(v, signature_from('{1}')) FROM (SELECT signature_weighted('{1}', '{1}') AS v) s;

-- Order: by features, then their number, then weights; equality is of all three
SELECT array_agg(n ORDER BY v) AS sorted, array_agg(n ORDER BY v DESC) AS back, count(DISTINCT v) AS different
FROM (VALUES (1, signature_weighted('{}', '{}')), (2, signature_weighted('{1}', '{1e-45}')), (3, signature_weighted('{1}', '{2}')),
             (4, signature_weighted('{1}', '{10}')), (5, signature_weighted('{1,2}', '{1,1}')), (6, signature_weighted('{1,2}', '{1,2}')),
             (7, signature_weighted('{2}', '{1}')), (8, signature_weighted('{-1}', '{1}')), (6, signature_weighted('{1,2}', '{1,2}'))) t (n, v);
SELECT a = b AS equal, a <> c AS differ, signature_hash(a) = signature_hash(b) AS hashes, signature_hash(a) = signature_hash(c) AS others
FROM (SELECT signature_weighted('{1,2}', '{1,2}') AS a, signature_weighted('{2,1}', '{2,1}') AS b, signature_weighted('{1,2}', '{2,1}') AS c) s;

-- Against arithmetic on rows, sums in the same order: the same to the last bit
CREATE FUNCTION random_of(seed bigint, n int) RETURNS int LANGUAGE sql IMMUTABLE AS $$
    SELECT (((((seed * 1103515245 + 12345) & 2147483647) * 1103515245 + 12345) & 2147483647) >> 8)::int % n
$$;
CREATE TEMP TABLE components AS
SELECT id, f, CASE WHEN id % 10 = 0 THEN 1 WHEN random_of(id * 700 + f, 4) = 0 THEN power(10, random_of(id * 900 + f, 40) - 20)
                   ELSE random_of(id * 500 + f, 1000) / 7.0 END::real AS w
FROM generate_series(1, 90) id, generate_series(1, 40) f
WHERE random_of((id % 13) * 1000 + f, 100) < 45 OR random_of(id * 2000 + f, 100) < 10;
DELETE FROM components WHERE w = 0;
CREATE TEMP TABLE vectors AS SELECT id, signature_weighted(array_agg(f ORDER BY w), array_agg(w ORDER BY w)) AS v FROM components GROUP BY id;
CREATE TEMP TABLE truth AS
SELECT a.id AS a, b.id AS b,
       least(coalesce((SELECT sum(x.w::float8 * y.w ORDER BY f) FROM components x JOIN components y USING (f) WHERE x.id = a.id AND y.id = b.id)
                      / sqrt((SELECT sum(x.w::float8 * x.w ORDER BY f) FROM components x WHERE x.id = a.id)
                             * (SELECT sum(x.w::float8 * x.w ORDER BY f) FROM components x WHERE x.id = b.id)), 0), 1) AS cosine,
       (SELECT sum(CASE WHEN n = 2 THEN least ELSE 0 END ORDER BY f) / sum(greatest ORDER BY f)
        FROM (SELECT f, count(*) AS n, min(w)::float8 AS least, max(w)::float8 AS greatest
              FROM components WHERE id IN (a.id, b.id) GROUP BY f) u) AS similarity
FROM vectors a JOIN vectors b ON a.id < b.id;
SELECT count(*), count(DISTINCT cosine) > 3000 AS many, count(*) FILTER (WHERE cosine > 0.8) AS near, count(*) FILTER (WHERE similarity > 0.6) AS alike FROM truth;
-- except on 32-bit x86, where the server itself rounds twice
SELECT CASE WHEN 1::float8 + (power(2::float8, -53) + power(2::float8, -64)) > 1 THEN 0 ELSE 1e-14 END AS slack \gset
SELECT count(*) FILTER (WHERE NOT abs(cosine(v.v, w.v) - cosine) <= :slack * cosine) AS cosine,
       count(*) FILTER (WHERE NOT abs(cosine(w.v, v.v) - cosine) <= :slack * cosine) AS cosine_back,
       count(*) FILTER (WHERE NOT abs(similarity(v.v, w.v) - similarity) <= :slack * similarity) AS similarity,
       count(*) FILTER (WHERE NOT abs(similarity(w.v, v.v) - similarity) <= :slack * similarity) AS similarity_back,
       count(*) FILTER (WHERE cosine > 0 AND NOT near_duplicate(v.v, w.v, cosine * (1 - :slack), 'cosine')) AS at,
       count(*) FILTER (WHERE cosine BETWEEN 1e-300 AND 0.99999 AND near_duplicate(v.v, w.v, cosine * (1 + 2.3e-16 + :slack), 'cosine')) AS above,
       count(*) FILTER (WHERE similarity > 0 AND NOT near_duplicate(v.v, w.v, similarity * (1 - :slack))) AS at_similarity,
       count(*) FILTER (WHERE similarity BETWEEN 1e-300 AND 0.99999 AND near_duplicate(v.v, w.v, similarity * (1 + 2.3e-16 + :slack))) AS above_similarity,
       count(*) FILTER (WHERE cosine IS NULL OR similarity IS NULL OR cosine(v.v, w.v) IS NULL OR similarity(v.v, w.v) IS NULL) AS nulls
FROM truth JOIN vectors v ON v.id = a JOIN vectors w ON w.id = b;
SELECT count(*) FILTER (WHERE cosine(v, v) <> 1 OR similarity(v, v) <> 1) AS itself,
       count(*) FILTER (WHERE v::text::signature <> v OR v::bytea::signature <> v) AS input FROM vectors;

-- Words, by their share of the document
SELECT weighted_words('A rose is a rose') = weighted_words('rose is a Rose. A?') AS bag,
       (SELECT array_agg(w ORDER BY w) FROM regexp_matches(weighted_words('a rose is a rose')::text, ':([0-9.]+)', 'g') m, LATERAL (SELECT m[1]) u (w)) AS weights,
       weighted_words('?') = regexp_replace(weighted_words('a')::text, '{.*', '{}')::signature AS empty,
       cosine(weighted_words('a b b'), weighted_words('b b b b c c')) AS cosine, -- 2*4 / sqrt(5*20)
       weighted_words('english'::regconfig, 'Roses and roses, a house') = weighted_words('english'::regconfig, 'rose house rose') AS configured;
SELECT describe(weighted_words('running foxes', 'english stop')) AS described,
       weighted_words('running foxes', 'english') = weighted_words('runs fox', 'english k=1') AS stemmed;
-- with a lexicon: the numbers of word_statistics(), in float4; words of all documents
-- weigh nothing, and unknown words are left out
CREATE TEMP TABLE corpus AS
SELECT id, 'the ' || string_agg('w' || random_of(id * 100 + i, 1 + random_of(i, 60)), ' ' ORDER BY i) AS body
FROM generate_series(1, 60) id, generate_series(1, 10 + random_of(id, 30)) i GROUP BY id;
CREATE TEMP TABLE stats AS SELECT lexicon_agg(body) AS lexicon FROM corpus;
CREATE FUNCTION words_vector(doc text, lexicon, formula text) RETURNS signature LANGUAGE plpgsql AS $$
DECLARE
    v signature;
BEGIN
    EXECUTE format('SELECT signature_weighted(coalesce(array_agg((weighted_words(word)::bigint[])[1]), ''{}''), coalesce(array_agg(greatest(%s, 0)::real), ''{}''))
                    FROM (SELECT *, sum(tf) OVER ()::float8 AS dl, max(tf) OVER ()::float8 AS most FROM word_statistics($1, $2)) s WHERE df > 0', formula)
    INTO v USING $1, $2;
    RETURN v;
END $$;
SELECT kind, count(*) FILTER (WHERE regexp_replace(weighted_words(body || extra, lexicon, kind)::text, '^[^{]*', 'weighted') <> words_vector(body || extra, lexicon, formula)::text) AS wrong,
       count(DISTINCT weighted_words(body, lexicon, kind)) AS vectors,
       count(*) FILTER (WHERE weighted_words(body, lexicon, kind)::bigint[] && weighted_words('the')::bigint[]) AS the
FROM corpus, stats, (VALUES ('tf', 'tf / dl', ''), ('tf-idf', 'tf / dl * idf', ' unheard'), ('tf-ridf', '(0.5 + 0.5 * tf / most) * ridf', '')) f (kind, formula, extra)
GROUP BY kind ORDER BY kind;
SELECT count(*) FILTER (WHERE weighted_words(body, lexicon) = weighted_words(body, lexicon, 'tf-idf', '')) AS defaults,
       count(*) FILTER (WHERE cosine(weighted_words(body, lexicon, 'bm25'), weighted_words(body, lexicon, 'BM25 k1=2 b=0.75')) = 1) AS bm25 FROM corpus, stats;
SELECT weighted_words('never seen', lexicon)::bigint[] AS none,
       weighted_words('simple'::regconfig, 'w1 w1 w2', (SELECT lexicon_agg('simple'::regconfig, 'w' || i) FROM generate_series(1, 9) i))::bigint[]
       <@ weighted_words('simple'::regconfig, 'w1 w2')::bigint[] AS configured FROM stats;
-- lexicons and weights belong to the spec
SELECT cosine(weighted_words(body, lexicon), weighted_words(body)) FROM corpus, stats WHERE id = 1;
SELECT cosine(weighted_words(body, lexicon), weighted_words(body, lexicon, 'tf-ridf')) FROM corpus, stats WHERE id = 1;
SELECT cosine(weighted_words(body, lexicon), weighted_words(body, lexicon + lexicon)) FROM corpus, stats WHERE id = 1;
SELECT cosine(weighted_words('a'), weighted_words('a', 'english'));
SELECT weighted_words('a', lexicon, 'idf') FROM stats;
SELECT weighted_words('a', lexicon, analysis => 'english') FROM stats;
SELECT weighted_words('a', 'unit=char');

DROP FUNCTION random_of, words_vector;
