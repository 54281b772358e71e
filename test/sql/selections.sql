--
-- Selection of features: a few of a document's shingles
--

-- Winnowing: the worked example of its authors
SELECT winnow('{77,74,42,17,98,50,17,98,8,88,67,39,77,74,42,17,98}'::bigint[], 4);
SELECT winnow('{}'::bigint[], 4), winnow('{5}'::bigint[], 4), winnow('{3,2,1}'::bigint[], 4),
       winnow('{3,1,1}'::bigint[], 1), winnow('{1,1,1,1,1,1}'::bigint[], 3), winnow('{1,-1,2}'::bigint[], 3);
SELECT winnow('{1,NULL}'::bigint[], 4);
SELECT winnow('{1,2}'::bigint[], 0);

-- against its definition: in each window the smallest, the rightmost among
-- equals; one position once
CREATE FUNCTION naive_winnow(h bigint[], w int) RETURNS bigint[] LANGUAGE sql AS $$
    SELECT coalesce(array_agg(h[p] ORDER BY p), '{}')
    FROM (SELECT DISTINCT (SELECT i FROM generate_series(s, least(s + w - 1, cardinality(h))) i
                           ORDER BY h[i], i DESC LIMIT 1) AS p
          FROM generate_series(1, greatest(cardinality(h) - w + 1, least(cardinality(h), 1))) s) x
$$;
SELECT count(*), count(*) FILTER (WHERE winnow(h, w) <> naive_winnow(h, w)) AS wrong,
       max(cardinality(h)) AS longest, max(w) AS widest
FROM (SELECT array(SELECT (hashint8extended(j, i) & 1023) % (2 + i % 100) FROM generate_series(1, i % 90) j) AS h,
             1 + i % 17 AS w
      FROM generate_series(1, 600) i) s;
-- sequences that rise or fall take as long as others
SELECT cardinality(winnow(array(SELECT generate_series(1, 100000)::bigint), 5000)) AS rising,
       cardinality(winnow(array(SELECT -generate_series(1, 100000)::bigint), 5000)) AS falling;
-- its density on random hashes is 2 / (w + 1)
SELECT w, abs(n / 50000.0 * (w + 1) / 2 - 1) < 3.5 / sqrt(n) AS density
FROM (SELECT array(SELECT ('x' || left(md5(i::text), 16))::bit(64)::bigint FROM generate_series(1, 50000) i) AS h) s,
     unnest('{2,5,10,40}'::int[]) w, LATERAL (SELECT cardinality(winnow(h, w)) AS n) n ORDER BY w;

-- Documents
SELECT winnow('a rose is a rose is a rose', 2), every_nth('a rose is a rose is a rose', 2, 1);
SELECT winnow('', 2), winnow('two words', 5), every_nth('', 3), every_nth('two words', 5);
SELECT describe(winnow('a b c d e f g h', 3, 2, 'english'));
-- chosen shingles are in the set of shingles, and the header has its size
CREATE TEMP TABLE document AS
SELECT i AS id, (SELECT string_agg('w' || (hashint8extended(j, i) & 65535) % (5 + i * 3), ' ' ORDER BY j)
                 FROM generate_series(1, i * 5) j) AS doc
FROM generate_series(1, 80) i;
CREATE TEMP VIEW chosen AS
SELECT id, name, sig, shingles(doc) AS all
FROM document, LATERAL (VALUES ('winnow', winnow(doc, 1 + id % 9)), ('every_nth', every_nth(doc, 1 + id % 9)),
                               ('anchored', anchored(doc, '{w1,w2 w3}')), ('bottom', bottom(doc, 1 + id % 9)),
                               ('sample', sample(doc, 1 + id % 9))) v (name, sig);
SELECT name, count(*), count(*) FILTER (WHERE NOT sig::bigint[] <@ "all"::bigint[]) AS foreign,
       count(*) FILTER (WHERE substring(sig::text FROM '#(\d+)')::int <> cardinality("all"::bigint[])) AS miscounted,
       count(*) FILTER (WHERE sig::text::signature <> sig OR sig::bytea::signature <> sig) AS mangled
FROM chosen GROUP BY name ORDER BY name;
-- A window of one, or a distance of one, chooses all
SELECT count(*) FILTER (WHERE winnow(doc, 1)::bigint[] <> shingles(doc)::bigint[]
                           OR every_nth(doc, 1)::bigint[] <> shingles(doc)::bigint[]) AS not_all
FROM document;

-- The guarantee of winnowing: texts that share a run of w + k - 1 words share a
-- chosen shingle, wherever the run is; with a word less they need not
CREATE TEMP TABLE shared AS
SELECT i, w, k, extra,
       (SELECT string_agg('a' || (hashint8extended(j, i) & 1023), ' ' ORDER BY j) FROM generate_series(1, i % 23) j) || ' ' ||
       run || ' ' ||
       (SELECT string_agg('b' || (hashint8extended(j, i) & 1023), ' ' ORDER BY j) FROM generate_series(1, i % 7 + 1) j) AS x,
       (SELECT string_agg('c' || (hashint8extended(j, i) & 1023), ' ' ORDER BY j) FROM generate_series(1, i % 29 + 1) j) || ' ' ||
       run || coalesce(' ' ||
       (SELECT string_agg('d' || (hashint8extended(j, i) & 1023), ' ' ORDER BY j) FROM generate_series(1, i % 5) j), '') AS y
FROM (SELECT i, 2 + i % 11 AS w, 1 + i % 4 AS k, extra, (SELECT string_agg('s' || (hashint8extended(j, i) & 65535), ' ' ORDER BY j)
                         FROM generate_series(1, 2 + i % 11 + 1 + i % 4 - 1 + extra) j) AS run
      FROM generate_series(0, 400) i, unnest('{0,-1}'::int[]) extra) s;
SELECT extra, count(*), count(*) FILTER (WHERE intersection_size(winnow(x, w, k), winnow(y, w, k)) > 0) = count(*) AS all_share
FROM shared WHERE i > 0 AND i % 23 > 0 GROUP BY extra ORDER BY extra;

SELECT winnow('a b c', 2, 0, 'repeats=number');
SELECT koala('a b c', 2, 3, 'repeats=number');

-- Selections are measured as sets
SELECT round(similarity(winnow(a.doc, 4), winnow(b.doc, 4))::numeric, 3) AS similarity,
       round(containment(every_nth(a.doc, 2), every_nth(b.doc, 2))::numeric, 3) AS containment,
       near_duplicate(winnow(a.doc, 4), winnow(b.doc, 4), 0.5)
FROM document a, (SELECT 'one two three ' || doc AS doc FROM document WHERE id = 60) b WHERE a.id = 60;
SELECT similarity(winnow('a b c d', 4), winnow('a b c d', 5));

-- Anchors: shingles that begin with one, here by the words
SELECT (SELECT count(*) FROM unnest(anchored(doc, '{The, cat sat}', 2)::bigint[])) AS chosen,
       anchored(doc, '{the,Cat Sat}', 2)::bigint[] <@ (shingles('the cat', 2)::bigint[] || shingles('cat sat', 2)::bigint[]
           || shingles('the mat', 2)::bigint[]) AS those
FROM (VALUES ('The cat sat on the mat; a cat ran. The')) v (doc);
SELECT anchored('the cat sat', '{the}') = anchored('the cat sat', '{the,the,THE}') AS same_anchors,
       anchored('a b', '{b,a b}') = anchored('a b', '{a b,b}') AS any_order,
       anchored('the cat sat', '{}') AS no_anchors, anchored('the', '{the}', 3) AS short,
       anchored('cats jump', '{cat}', 2, 'english') = anchored('cat jumped', '{cat}', 2, 'english') AS stemmed;
SELECT anchored('the cat sat', '{the}') % anchored('the cat sat', '{cat}');
SELECT anchored('the cat sat', '{cat,...}');
SELECT anchored('the cat sat', '{cat,NULL}');
SELECT anchored('the cat sat', '{the}', 3, 'english stop');

-- sif: substrings of a number of characters that follow an anchor
SELECT cardinality(sif(doc, '{the}', 4)::bigint[]) AS two, sif(doc, '{the}', 4)::bigint[] <@ shingles(doc, 'unit=char k=4')::bigint[] AS of_the_text,
       sif(doc, '{the}', 4)::bigint[] <@ (shingles('e cat', 'unit=char k=4')::bigint[] || shingles('e mat', 'unit=char k=4')::bigint[]) AS those
FROM (VALUES ('The cat sat on the mat. They')) v (doc);
SELECT sif('anchor text', '{anchor}', 5, 'unit=word') = sif('Anchor: text!', '{ANCHOR}', 5) AS canonical;
SELECT sif('a', '{b}', 0);
-- with many anchors that begin alike it can be cancelled
SELECT clock_timestamp() AS began \gset
SET statement_timeout = '1s';
SELECT sif(repeat('a', 65000), array(SELECT repeat('a', 200) || 'b' || i FROM generate_series(1, 5000) i), 1);
RESET statement_timeout;
SELECT clock_timestamp() - :'began'::timestamptz < '20s' AS soon;

-- Koala: vowels, case, spaces and signs do not matter
SELECT koala('The quick brown fox jumps over the lazy dog', 10, 6) = koala('THQCK BRWN-FX, jmps vr th lz dg!!', 10, 6) AS english,
       koala('Съешь ещё этих мягких французских булок', 10, 6) = koala('съшь щ тх мгкх фрнцзскх блк', 10, 6) AS russian,
       koala('Ж ї й ў', 10, 2) = koala('жйў', 10, 2) AS short_vowels,
       koala('naïve façade', 10, 3) = koala('nvfçd', 10, 3) AS marks,
       koala('Rødgrød, sæbe, cœur, Gəncə', 10, 6) = koala('rdgrdsbcrgnc', 10, 6) AS latin,
       koala('Әйнек үй, бөрі, сұлу', 10, 6) = koala('йнкйбрсл', 10, 6) AS turkic,
       koala('aeiou', 10, 6) AS vowels, koala('bcd', 10, 6) AS short;
-- In "bcdfgbcdfh bcdfgkkkk" bcdfg occurs twice; other begins are rarer
SELECT cardinality(koala('bcdfgbcdfhbcdfgkkkk', 100, 7)::bigint[]) AS all,
       koala('bcdfgbcdfhbcdfgkkkk', 11, 7)::bigint[] && shingles('bcdfgbc', 'unit=char k=7')::bigint[] AS frequent,
       substring(koala('bcdfgbcdfhbcdfgkkkk', 11, 7)::text FROM '#\d+') AS features;
SELECT koala('b', 0);
SELECT koala('b', 1, 0);
SELECT koala('b', 1, 1001);
SELECT sif('a', '{b}', 1001);

-- Common shingles left out: those in more than forty of the documents
CREATE TEMP TABLE common AS
SELECT signature_from(array_agg(f)) AS features
FROM (SELECT f FROM document, unnest(shingles(doc, 1)::bigint[]) f GROUP BY f HAVING count(*) > 40) s;
SELECT count(*) AS documents, count(*) FILTER (WHERE cardinality(l::bigint[]) < cardinality(s::bigint[])) > 50 AS smaller,
       count(*) FILTER (WHERE l::bigint[] && features::bigint[]) AS some_left,
       count(*) FILTER (WHERE intersection_size(s, s) - cardinality(l::bigint[]) <>
           (SELECT count(*) FROM unnest(s::bigint[]) f WHERE f = ANY (features::bigint[]))) AS wrong
FROM document, common, LATERAL (SELECT shingles(doc, 1) AS s) s, LATERAL (SELECT leave_out(s, features) AS l) l;
SELECT leave_out(signature_from('{1,2,3}'), signature_from('{2,4}'));
SELECT leave_out(shingles('a b'), shingles('a b')), leave_out(signature_from('{}'), signature_from('{}'));
SELECT leave_out(shingles('a b', 1), shingles('a b', 2));
SELECT leave_out(minhash('a b'), signature_from('{1}'));
-- values of 8 bits, not 64
SELECT leave_out(shingles('a b c d'), minhash('x y z', 65536));
SELECT leave_out(signature_from('{1}'), minhash('x y z', 65536));
SELECT leave_out(minhash('x y z', 65536), minhash('x y z', 65536));
SELECT similarity(leave_out(shingles('a b'), signature_from('{1}')), leave_out(shingles('a b'), signature_from('{2}')));

-- Invalid input
SELECT 'winnow(0)[k=3]#1{0000000000000001}'::signature;
SELECT 'winnow(2)#1{0000000000000001}'::signature;
SELECT 'winnow(2)[k=3]#0{0000000000000001}'::signature;
SELECT 'koala(1)[k=3]#2{0000000000000001}'::signature;
SELECT 'koala(1)[unit=char k=3]#2{0000000000000001,0000000000000002}'::signature;
SELECT 'sif(1,1)[k=3]#2{0000000000000001}'::signature;

DROP FUNCTION naive_winnow;

-- Lengths are shingle sizes of characters, the usual size of shingles too
SELECT count(*), count(*) FILTER (WHERE sig::text::signature = sig AND sig::bytea::signature = sig) AS whole
FROM generate_series(1, 8) length, unnest(ARRAY['', 'english', 'accents=fold']) analysis,
     LATERAL (VALUES (koala('brown foxes jump over the lazy dog', 5, length, analysis)),
                     (sif('brown foxes jump over the lazy dog', '{fox}', length, analysis))) v (sig);

-- Anchors are computed once and kept: memory does not grow with the rows, with the same
-- anchors or others
CREATE FUNCTION kilobytes() RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    RETURN (SELECT sum(used_bytes) / 1024 FROM pg_backend_memory_contexts);
END $$;
SELECT kind, max(kilobytes) - min(kilobytes) < 256 AS constant
FROM (SELECT kind, CASE WHEN i % 10000 = 9000 THEN kilobytes() END AS kilobytes,
             anchored('a rose is a rose', anchors || CASE kind WHEN 'other' THEN i::text ELSE 'x' END) AS sig
      FROM (VALUES ('same', ARRAY['a', 'is']), ('other', ARRAY['a', 'is'])) v(kind, anchors), generate_series(1, 20000) i
      OFFSET 0) s
WHERE sig IS NOT NULL GROUP BY kind ORDER BY kind;
DROP FUNCTION kilobytes;
