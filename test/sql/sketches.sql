--
-- Sketches of sets: construction, forms, measures, errors
--

-- The text of each
CREATE TEMP TABLE example AS
SELECT signature_from(array(SELECT generate_series(1, 60))) AS a,
       signature_from(array(SELECT generate_series(4, 62))) AS b,
       signature_from('{}') AS e;
SELECT minhash(a, 16), bottom(a, 3), sample(a, 20), simhash(a) FROM example;
SELECT supershingles(a, 2, 14), megashingles(a, 3, 14) FROM example;
SELECT describe(minhash(a)), describe(bottom(a, 3)), describe(sample(a, 20)) FROM example;
SELECT describe(supershingles(a)), describe(megashingles(a)), describe(simhash(a)) FROM example;

-- A sketch has the analysis of its set of shingles, whose values are hashes already
CREATE TEMP TABLE shingled AS
SELECT ('shingles[english k=2]{' || string_agg(h, ',' ORDER BY h COLLATE "C") || '}')::signature AS s
FROM (SELECT lpad(to_hex(hashint8extended(i, 0)), 16, '0') AS h FROM generate_series(1, 40) i) x;
SELECT minhash(s, 4), bottom(s, 2), simhash(s) FROM shingled;
SELECT sample(s, 8) FROM shingled;
SELECT (bottom(s, 2)::bigint[]) = (s::bigint[])[1:2] AS smallest,
       bottom(s, 40)::bigint[] = s::bigint[] AS all_of_them,
       sample(s, 1)::bigint[] = s::bigint[] AS all_are_divisible_by_1
FROM shingled;

-- A min-hash sketch never changes, by whichever round its slots are filled
SELECT size, md5(string_agg(minhash(t, size, 1)::text, ' ' ORDER BY n)) AS sketches
FROM unnest('{1,7,100,128,1000}'::int[]) size, unnest('{1,5,50,100,300,9000}'::int[]) n,
     LATERAL (SELECT string_agg('w' || w, ' ' ORDER BY w) FROM generate_series(1, n) w) a (t)
GROUP BY size ORDER BY size;

-- Supershingles are those of a min-hash sketch, megashingles those of supershingles
SELECT supershingles(a, 5, 7) = supershingles(minhash(a, 35), 5, 7) AS of_sketch,
       megashingles(a, 5, 7) = megashingles(minhash(a, 35), 5, 7) AS mega_of_sketch,
       megashingles(a, 5, 7) = megashingles(supershingles(a, 5, 7), 5, 7) AS mega_of_super,
       cardinality(megashingles(a)::bigint[]) AS pairs
FROM example;

-- Text and binary forms read back
CREATE TEMP TABLE made AS
SELECT v.* FROM example, shingled,
    LATERAL (VALUES (1, minhash(a)), (2, minhash(e)), (3, minhash(s, 1)), (4, minhash(a, 65536)),
                    (5, bottom(a, 7)), (6, bottom(a, 1000)), (7, bottom(e, 1)), (8, bottom(s, 2147483647)),
                    (9, sample(a, 3)), (10, sample(a, 2147483647)), (11, sample(e, 2)), (12, sample(s, 2)),
                    (13, supershingles(a)), (14, supershingles(e)), (15, supershingles(s, 256, 256)),
                    (16, megashingles(a)), (17, megashingles(e)), (18, megashingles(s, 2, 1)),
                    (19, simhash(a)), (20, simhash(e)), (21, simhash(s))) v (id, sig);
SELECT count(*), count(*) FILTER (WHERE sig::text::signature = sig) AS text,
       count(*) FILTER (WHERE sig::bytea::signature = sig) AS binary,
       count(DISTINCT sig) AS different
FROM made;
SELECT id, sig::text FROM made WHERE length(sig::text) < 40 ORDER BY id;

-- A sketch estimates resemblance; a sample, which is a set, all measures
SELECT v.name, round(similarity(x, y)::numeric, 4) AS similarity,
       near_duplicate(x, y, 0.8) AS near, x % y AS op, similarity(x, x) AS self,
       round((x <-> y)::numeric, 4) AS distance
FROM example,
    LATERAL (VALUES (1, 'minhash', minhash(a), minhash(b)), (2, 'bottom', bottom(a, 30), bottom(b, 30)),
                    (3, 'bottom of all', bottom(a, 64), bottom(b, 64)),
                    (4, 'sample', sample(a, 2), sample(b, 2)), (5, 'supershingles', supershingles(a), supershingles(b)),
                    (6, 'megashingles', megashingles(a), megashingles(b)),
                    (7, 'simhash', simhash(a), simhash(b)), (8, 'exact', a, b)) v (id, name, x, y)
ORDER BY id;
SELECT hamming(minhash(a), minhash(b)) AS minhash, hamming(simhash(a), simhash(b)) AS simhash,
       hamming(supershingles(a), supershingles(b)) AS super,
       hamming(megashingles(a), megashingles(b)) AS mega, hamming(sample(a, 2), sample(b, 2)) AS sample
FROM example;
SELECT containment(x, y), containment(y, x), intersection_size(x, y), round(dice(x, y)::numeric, 4) AS dice,
       round(cosine(x, y)::numeric, 4) AS cosine, contained_in(y, x, 0.95), x %> y AS op,
       near_duplicate(x, y, 0.9, 'overlap_coefficient')
FROM (SELECT sample(a, 4) AS x, sample(b, 4) AS y FROM example) s;
SELECT containment(minhash(a), minhash(b)) FROM example;
SELECT contained_in(bottom(a, 9), bottom(b, 9), 0.5) FROM example;
SELECT near_duplicate(simhash(a), simhash(b), 0.5, 'cosine') FROM example;
SELECT supershingles(a) <% supershingles(b) FROM example;
SELECT intersection_size(megashingles(a), megashingles(b)) FROM example;
SELECT hamming(bottom(a, 9), bottom(b, 9)) FROM example;

-- The sketch of an empty set is similar to nothing, not even to itself
SELECT v.name, similarity(x, x) AS self, similarity(x, y) AS other, x % x AS near, hamming(x, x) AS h
FROM example,
    LATERAL (VALUES (1, 'minhash', minhash(e), minhash(a)), (2, 'sample', sample(e, 2), sample(a, 2)),
                    (3, 'supershingles', supershingles(e), supershingles(a)),
                    (4, 'megashingles', megashingles(e), megashingles(a)),
                    (5, 'simhash', simhash(e), simhash(a))) v (id, name, x, y)
ORDER BY id;
SELECT similarity(bottom(e, 2), bottom(e, 2)), similarity(bottom(e, 2), bottom(a, 2)) FROM example;

-- Rules of agreement: two supershingles, one megashingle, at any threshold; one
-- supershingle if there is one group only
SELECT groups, agree, supers % other AS near, near_duplicate(supers, other, 1) AS near_at_1,
       round(similarity(supers, other)::numeric, 4) AS similarity,
       megas % mega_other AS mega_near, round(similarity(megas, mega_other)::numeric, 4) AS mega_similarity
FROM (SELECT groups, agree, s AS supers, o AS other,
             CASE WHEN groups > 1 THEN megashingles(s, groups, 14) END AS megas,
             CASE WHEN groups > 1 THEN megashingles(o, groups, 14) END AS mega_other
      FROM (VALUES (1, 0), (1, 1), (2, 1), (2, 2), (6, 1), (6, 2), (6, 3), (6, 6)) v (groups, agree),
           LATERAL (SELECT format('supershingles(%s,14)#9{%s}', groups,
                        (SELECT string_agg(lpad(to_hex(g), 16, '0'), ',' ORDER BY g)
                         FROM generate_series(1, groups) g))::signature AS s,
                    format('supershingles(%s,14)#9{%s}', groups,
                        (SELECT string_agg(lpad(to_hex(CASE WHEN g > agree THEN 99 ELSE g END), 16, '0'), ',' ORDER BY g)
                         FROM generate_series(1, groups) g))::signature AS o) l) x
ORDER BY groups, agree;

-- Another size is a different spec
SELECT similarity(minhash(a, 64), minhash(a, 128)) FROM example;
SELECT minhash(a) % minhash(s) FROM example, shingled;

-- Parameters out of range
SELECT minhash(a, 0) FROM example;
SELECT minhash(a, 65537) FROM example;
SELECT bottom(a, 0) FROM example;
SELECT sample(a, 0) FROM example;
SELECT sample(a, -3) FROM example;
SELECT supershingles(a, 0, 14) FROM example;
SELECT supershingles(a, 257, 1) FROM example;
SELECT supershingles(a, 6, 0) FROM example;
SELECT supershingles(a, 6, 10923) FROM example;
SELECT megashingles(a, 1, 14) FROM example;
SELECT supershingles(minhash(a, 128)) FROM example;
SELECT megashingles(supershingles(a, 5, 14)) FROM example;
SELECT minhash(sample(a, 2)) FROM example;
SELECT simhash(minhash(a)) FROM example;
SELECT minhash(NULL::signature), simhash(NULL::signature), bottom(a, NULL) FROM example;

-- From text: the same bytes as from the set of shingles
CREATE TEMP TABLE document AS
SELECT i AS id, (SELECT string_agg(substr(md5((i * 31 + w % (i % 13 * 400 + 2))::text), 1, 1 + w % 5), ' ' ORDER BY w)
                 FROM generate_series(1, i * i) w) || E'.\nЖили-были дед и баба, и была у них курочка-ряба.' AS doc
FROM generate_series(1, 60) i;
INSERT INTO document VALUES (0, ''), (-1, '...'), (-2, 'one two'), (-3, repeat('a b c ', 3000));
SELECT a AS analysis, count(*), max(cardinality(shingles(doc, a)::bigint[])) > 1024 AS large,
       count(*) FILTER (WHERE minhash(doc, analysis => a) <> minhash(shingles(doc, a))
           OR minhash(doc, 200, analysis => a) <> minhash(shingles(doc, a), 200)) AS minhash,
       count(*) FILTER (WHERE bottom(doc, 9, analysis => a) <> bottom(shingles(doc, a), 9)) AS bottom,
       count(*) FILTER (WHERE sample(doc, 3, analysis => a) <> sample(shingles(doc, a), 3)) AS sample,
       count(*) FILTER (WHERE simhash(doc, analysis => a) <> simhash(shingles(doc, a))) AS simhash,
       count(*) FILTER (WHERE supershingles(doc, analysis => a) <> supershingles(shingles(doc, a))) AS super,
       count(*) FILTER (WHERE megashingles(doc, analysis => a) <> megashingles(shingles(doc, a))) AS mega
FROM document, unnest('{"",russian k=2,k=1,unit=char k=7,order=sorted,html stop english unit=sentence k=1}'::text[]) a
GROUP BY a ORDER BY a COLLATE "C";
SELECT minhash('a b c d', 4), minhash('a b c d', 4, 2), simhash('a b c d', 2, 'english');
SELECT minhash('a b c d', 4) = minhash('a b c d', 4, 3) AS k_is_3, minhash('a b c d', 4, 3, 'k=3') IS NOT NULL AS said_twice,
       minhash('a b c d', 4, 0, 'k=2') = minhash('a b c d', 4, 2) AS of_the_analysis;
SELECT minhash('a b c d', 4, 3, 'k=2');
SELECT minhash('a b c d', 4, -1);
SELECT minhash('a b c d', 0);
\set VERBOSITY terse
SELECT bottom('a b c d', 5, 3, 'klingon'); -- the hint depends on libstemmer
\set VERBOSITY default

-- Weighted sets: an element of weight w counts w times
SELECT similarity(a, b) AS nine_of_14, containment(b, a), intersection_size(a, b), signature_from('{1,2}', '{1,1}') = signature_from('{1,2}') AS plain,
       signature_from('{1,2,1}', '{2,1,3}') = signature_from('{2,1}', '{1,5}') AS added, signature_from('{1,2}', '{0,1}') AS without
FROM (SELECT signature_from('{1,2,3}', '{10,1,1}') AS a, signature_from('{1,2,4}', '{8,2,1}') AS b) s;
SELECT count(*) AS pairs, count(*) FILTER (WHERE abs(similarity(x, y) - t) > 1e-12) AS wrong,
       abs(avg(similarity(minhash(x), minhash(y)) - t)) < 3.5 * 0.5 / sqrt(128 * 200) AS unbiased
FROM (SELECT signature_from(array_agg(f), array_agg(v)) AS x, signature_from(array_agg(f), array_agg(w)) AS y,
             sum(least(v, w))::float8 / sum(greatest(v, w)) AS t
      FROM (SELECT i, i * 1000 + f AS f, (hashint8extended(f, i) & 15)::int AS v, (hashint8extended(f, i + f % 2) & 15)::int AS w
            FROM generate_series(1, 200) i, generate_series(1, 20) f) s
      GROUP BY i) s;
SELECT signature_from('{}', '{}'), signature_from('{1}', '{0}');
SELECT signature_from('{1,2}', '{1}');
SELECT signature_from('{1}', '{-1}');
-- more than the limit of a set; the sum of the first two and the last exceeds 32 bits
SELECT signature_from('{1,2,3}', '{2147483647,2147483647,7}');
SELECT signature_from('{1}', '{NULL}');
SELECT signature_from('{1,2}', '{2147483647,1}');

-- Input that is not a sketch
SELECT 'minhash(3)#5{01,02}'::signature;
SELECT 'minhash(3)#0{01,02,03}'::signature;
SELECT 'minhash(0)#5{}'::signature;
SELECT 'minhash#5{01}'::signature;
SELECT 'minhash(1){01}'::signature;
SELECT 'minhash(1)#5{0001}'::signature;
SELECT 'minhash(1)[k=0]#5{01}'::signature;
SELECT 'bottom(2)#5{0000000000000001}'::signature;
SELECT 'bottom(2)#5{0000000000000002,0000000000000001}'::signature;
SELECT 'sample(2)#5{0000000000000002,0000000000000003}'::signature;
SELECT 'sample(2)#1{0000000000000002,0000000000000004}'::signature;
SELECT 'sample(0)#1{0000000000000002}'::signature;
SELECT 'supershingles(2,14)#5{0000000000000002}'::signature;
SELECT 'supershingles(2)#5{0000000000000002,0000000000000002}'::signature;
SELECT 'supershingles(0,14)#0{}'::signature;
SELECT 'megashingles(1,14)#5{}'::signature;
SELECT 'megashingles(3,14)#5{0000000000000002}'::signature;
SELECT 'simhash#5{0000000000000002,0000000000000003}'::signature;
SELECT 'simhash#5{}'::signature;
SELECT 'features[k=3]{}'::signature;
SELECT 'shingles{}'::signature;
