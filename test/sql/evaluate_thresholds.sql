--
-- Evaluation at many thresholds: signatures made once, each threshold counted
--
\set VERBOSITY terse
CREATE TEMP TABLE texts (id int PRIMARY KEY, family int, body text);
-- families of texts, each with words exchanged at places of its own
INSERT INTO texts
SELECT i, i % 6, string_agg('w' || CASE WHEN n * 7919 % 101 < i THEN i * 1000 + n ELSE n + 35 * (i % 6) END, ' ' ORDER BY n)
FROM generate_series(1, 60) i, generate_series(1, 40) n GROUP BY i;
CREATE TEMP TABLE truth AS
SELECT a.id AS id1, b.id AS id2 FROM texts a JOIN texts b USING (family) WHERE a.id <> b.id;

-- The result
SELECT method, measure, threshold, true_pairs, found, correct, wrong, round(recall::numeric, 3) AS recall, round("precision"::numeric, 3) AS precision,
       round(f::numeric, 3) AS f, round(wrong_per_document::numeric, 3) AS wrong_per_document
FROM evaluate_thresholds('TABLE texts', 'TABLE truth', '{"shingles(body, 1)"}', '{0.9, 0.05, 0.3, 0.6}');

-- The oracle: all pairs, each measured, and counted at each threshold
CREATE FUNCTION expected(method text, measure text, thresholds float8[])
RETURNS TABLE (threshold float8, true_pairs bigint, found bigint, correct bigint) LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY EXECUTE format(
        'WITH pairs AS (SELECT %s AS value, a.family = b.family AS true
                        FROM (SELECT *, %s AS sig FROM texts) a, (SELECT *, %2$s AS sig FROM texts) b WHERE a.id < b.id)
         SELECT t, count(*) FILTER (WHERE pairs.true), count(*) FILTER (WHERE value >= t), count(*) FILTER (WHERE value >= t AND pairs.true)
         FROM unnest(%L::float8[]) t, pairs GROUP BY t',
        CASE measure WHEN 'shared' THEN 'shared_values(a.sig, b.sig)'
                     WHEN 'overlap_coefficient' THEN 'intersection_size(a.sig, b.sig)::float8 / nullif(least(nfeatures(a.sig), nfeatures(b.sig)), 0)'
                     WHEN 'contains' THEN 'containment(b.sig, a.sig)'
                     WHEN 'jaccard' THEN 'similarity(a.sig, b.sig)'
                     ELSE measure || '(a.sig, b.sig)' END, method, thresholds);
END $$;
CREATE TEMP TABLE methods (method text, measure text);
INSERT INTO methods VALUES ('shingles(body)', 'similarity'), ('shingles(body, 1)', 'jaccard'), ('shingles(body)', 'dice'), ('shingles(body)', 'containment'),
    ('shingles(body, 2)', 'contains'), ('shingles(body)', 'overlap_coefficient'), ('minhash(body)', 'similarity'), ('simhash(body)', 'similarity'),
    ('weighted_words(body)', 'cosine'), ('text_hash(body)', 'similarity'), ('supershingles(body)', 'similarity'), ('every_nth(body, 3)', 'similarity');
CREATE TEMP TABLE swept AS
SELECT s.* FROM (SELECT array_agg(method) AS methods, array_agg(measure) AS measures FROM methods) m,
     evaluate_thresholds('TABLE texts', 'TABLE truth', methods, measures => measures) s;
SELECT count(*), count(DISTINCT method || measure) AS methods, count(DISTINCT found) > 20 AS they_differ FROM swept;
SELECT method, measure, array_agg(threshold ORDER BY threshold) AS wrong_at
FROM (SELECT method, measure, threshold, true_pairs, found, correct FROM swept
      EXCEPT SELECT m.*, e.* FROM methods m, expected(method, measure, '{0.05,0.1,0.15,0.2,0.25,0.3,0.35,0.4,0.45,0.5,0.55,0.6,0.65,0.7,0.75,0.8,0.85,0.9,0.95,1}') e) x
GROUP BY method, measure;
SELECT count(*) FROM swept WHERE wrong <> found - correct OR recall <> correct::float8 / true_pairs OR "precision" IS DISTINCT FROM correct::float8 / nullif(found, 0)
    OR abs(f - f_measure("precision", recall)) > 1e-12 OR wrong_per_document <> wrong / 60.0;
-- numbers of features
SELECT threshold, found, correct FROM evaluate_thresholds('TABLE texts', 'TABLE truth', '{shingles(body)}', '{1, 5, 20}', measures => '{shared}')
EXCEPT SELECT threshold, found, correct FROM expected('shingles(body)', 'shared', '{1, 5, 20}');
-- ... of samples the features in both, which conditions compare, and no estimate
SELECT threshold, found, correct FROM evaluate_thresholds('TABLE texts', 'TABLE truth', '{"sample(body, 4)"}', '{1, 2, 5, 8}', measures => '{shared}')
EXCEPT SELECT threshold, found, correct FROM expected('sample(body, 4)', 'shared', '{1, 2, 5, 8}');

-- As evaluate_methods, threshold by threshold
SELECT count(*), bool_and((s.found, s.correct, s.recall, s."precision", s.f, s.true_pairs) IS NOT DISTINCT FROM (e.found, e.correct, e.recall, e."precision", e.f, e.true_pairs)) AS same
FROM unnest('{0.2, 0.5, 1}'::float8[]) t,
     evaluate_methods('TABLE texts', 'TABLE truth', '{shingles(body)}', ARRAY[t], 'a.id % 2 <> b.id % 2') e
JOIN evaluate_thresholds('TABLE texts', 'TABLE truth', '{shingles(body)}', '{0.2, 0.5, 1}', 'a.id % 2 <> b.id % 2') s USING (threshold) WHERE threshold = t;

-- A rule of the method's own ignores the threshold, under jaccard
CREATE TEMP TABLE copies AS
SELECT g AS id, string_agg('w' || g / 2 || 'x' || i, ' ' ORDER BY i) || ' end ' || g % 2 AS body
FROM generate_series(0, 29) g, generate_series(1, 200) i GROUP BY g;
SELECT measure, array_agg(found ORDER BY threshold) AS found, array_agg(found ORDER BY threshold)
       = (SELECT array_agg(e.found ORDER BY e.threshold)
          FROM evaluate_methods('TABLE copies', 'SELECT 1 AS id1, 2 AS id2',
                                array_fill('supershingles(body)'::text, ARRAY[3]), '{0.5, 0.99, 1}', measures => ARRAY[s.measure]) e) AS as_methods
FROM evaluate_thresholds('TABLE copies', 'SELECT 1 AS id1, 2 AS id2', '{supershingles(body),supershingles(body)}', '{0.5, 0.99, 1}',
                         measures => '{jaccard,similarity}') s GROUP BY measure ORDER BY measure;

-- The signatures are made once for a method, whatever the thresholds
CREATE SEQUENCE pg_temp.calls;
SELECT count(*) FROM evaluate_thresholds('TABLE texts', 'TABLE truth', '{"shingles(body, 2 + 0 * nextval(''pg_temp.calls'')::int)"}');
SELECT last_value FROM pg_temp.calls;

-- No pairs found, no true pairs
SELECT threshold, true_pairs, found, recall, "precision", f, wrong_per_document FROM evaluate_thresholds('TABLE texts', 'SELECT 1 AS id1, 999 AS id2', '{shingles(body)}', '{1}');
SELECT threshold, true_pairs, found, recall, "precision", f, wrong_per_document FROM evaluate_thresholds('SELECT 1 AS id, NULL::text AS body', 'TABLE truth', '{shingles(body)}', '{0.1, 0.1}');
SELECT relname FROM pg_class WHERE relname LIKE 'neardup\_%' AND relpersistence = 't';
SELECT * FROM evaluate_thresholds('TABLE texts', 'TABLE truth', '{}', measures => '{}');

-- Invalid thresholds, measures and methods
SELECT * FROM evaluate_thresholds('TABLE texts', 'TABLE truth', '{shingles(body)}', '{0.5, 0}');
SELECT * FROM evaluate_thresholds('TABLE texts', 'TABLE truth', '{shingles(body)}', '{0.5, NaN}');
SELECT * FROM evaluate_thresholds('TABLE texts', 'TABLE truth', '{shingles(body)}', '{0.5, NULL}');
SELECT * FROM evaluate_thresholds('TABLE texts', 'TABLE truth', '{shingles(body)}', '{}');
SELECT * FROM evaluate_thresholds('TABLE texts', 'TABLE truth', '{shingles(body)}', measures => '{shared}');
SELECT * FROM evaluate_thresholds('TABLE texts', 'TABLE truth', '{shingles(body)}', measures => '{euclid}');
SELECT * FROM evaluate_thresholds('TABLE texts', 'TABLE truth', '{shingles(body)}', measures => '{dice,cosine}');
SELECT * FROM evaluate_thresholds('TABLE texts', 'TABLE truth', '{NULL}');
SELECT * FROM evaluate_thresholds('TABLE texts', 'TABLE truth', '{length(body)}');
SELECT * FROM evaluate_thresholds('texts', 'TABLE truth', '{shingles(body)}');

-- Best matches of random sets, small enough for ties, against a search for a better
-- match of each pair.  All matches of a document count, on either side; equal ones
-- are all best, or the ones for which an expression is greatest.
CREATE TEMP TABLE sets (id int PRIMARY KEY, side int, sig signature);
CREATE FUNCTION expected_best(condition text, thresholds float8[], ties text)
RETURNS TABLE (best text, threshold float8, found bigint, correct bigint) LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY EXECUTE format(
        'WITH pair AS (SELECT a.id AS a, b.id AS b, similarity(a.sig, b.sig) AS s, %3$s AS u, (a.id + b.id) %% 3 = 0 AS correct
                       FROM sets a JOIN sets b ON a.id < b.id AND (%1$s) WHERE similarity(a.sig, b.sig) > 0),
              judged AS (SELECT p.*, NOT EXISTS (SELECT FROM pair q WHERE p.a IN (q.a, q.b) AND (q.s, q.u) > (p.s, p.u)) AS best_a,
                                NOT EXISTS (SELECT FROM pair q WHERE p.b IN (q.a, q.b) AND (q.s, q.u) > (p.s, p.u)) AS best_b FROM pair p)
         SELECT v, t, count(*) FILTER (WHERE s >= t), count(*) FILTER (WHERE s >= t AND correct)
         FROM unnest(%2$L::float8[]) t, unnest(''{left,right,either,reciprocal,""}''::text[]) v
         LEFT JOIN judged ON CASE v WHEN ''left'' THEN best_a WHEN ''right'' THEN best_b WHEN ''either'' THEN best_a OR best_b
                                    WHEN ''reciprocal'' THEN best_a AND best_b ELSE true END
         GROUP BY v, t', condition, thresholds, ties);
END $$;
DO $$
DECLARE
    thresholds CONSTANT float8[] := '{0.5, 0.2, 1}';
    condition text;
    different bigint;
    ties bigint := 0;
    n int := 0;
BEGIN
    FOR seed IN 1 .. 67 LOOP
        TRUNCATE sets;
        INSERT INTO sets SELECT i, abs(hashint4(seed * 1000 + i)) % 2,
            (SELECT signature_from(array_agg(DISTINCT (abs(hashint4(seed * 100000 + i * 100 + j)) % 7)::bigint)) FROM generate_series(1, 1 + i % 4) j)
        FROM generate_series(1, 12) i;
        FOREACH condition IN ARRAY '{true,a.side < b.side,a.side <> b.side}'::text[] LOOP
            EXECUTE 'SELECT count(*) FROM (SELECT s.* FROM unnest(''{left,right,either,reciprocal,""}''::text[]) v,
                LATERAL (SELECT v, threshold, found, correct FROM evaluate_thresholds(''TABLE sets'',
                    ''SELECT a.id AS id1, b.id AS id2 FROM sets a JOIN sets b ON (a.id + b.id) % 3 = 0'', ''{sig}'', $1, $2, best => v)) s
                EXCEPT SELECT * FROM expected_best($2, $1, ''0'')) x' INTO different USING thresholds, condition;
            n := n + 5;
            IF different > 0 THEN
                RAISE WARNING 'seed %, %: % rows differ', seed, condition, different;
            END IF;
            CONTINUE WHEN seed % 10 > 0;
            EXECUTE 'SELECT count(*) FROM (SELECT s.* FROM unnest(''{left,right,either,reciprocal}''::text[]) v,
                LATERAL (SELECT v, threshold, found, correct FROM evaluate_thresholds(''TABLE sets'',
                    ''SELECT a.id AS id1, b.id AS id2 FROM sets a JOIN sets b ON (a.id + b.id) % 3 = 0'', ''{sig}'', $1, $2, best => v,
                    ties => ''(a.id + b.id) % 4'')) s
                EXCEPT SELECT * FROM expected_best($2, $1, ''(a.id + b.id) % 4'')) x' INTO different USING thresholds, condition;
            IF different > 0 THEN
                RAISE WARNING 'seed %, %, ties: % rows differ', seed, condition, different;
            END IF;
        END LOOP;
        ties := ties + (SELECT count(*) FROM (SELECT a.id FROM sets a JOIN sets b ON a.id <> b.id AND similarity(a.sig, b.sig) > 0
                                              GROUP BY a.id, similarity(a.sig, b.sig) HAVING count(*) > 1) x);
        -- release locks of temporary tables
        COMMIT;
    END LOOP;
    RAISE NOTICE 'sweeps: %, with ties: %', n, ties > 1000;
END $$;
SELECT * FROM evaluate_thresholds('TABLE texts', 'TABLE truth', '{shingles(body)}', best => 'both');
SELECT * FROM evaluate_thresholds('TABLE texts', 'TABLE truth', '{shingles(body)}', ties => 'a.id');
SELECT * FROM evaluate_thresholds('TABLE texts', 'TABLE truth', '{shingles(body)}', best => 'left', ties => 'a.id); DROP TABLE x; SELECT (1');
