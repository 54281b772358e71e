--
-- test/bench/nearest.sql
--		Access method neardup beside GIN, and beside other indexes that order by
--		distance: build, look-ups, the ten nearest, guarded rows, tickets of eight
--		words, documents of 50 kB.
--
\pset footer off
CREATE TABLE stored AS SELECT id, shingles(body) AS sig FROM docs ORDER BY id;
VACUUM ANALYZE stored;
CREATE TABLE asked AS SELECT id, sig FROM stored WHERE id % 341 = 7;
ANALYZE asked;
CREATE TABLE sizes (name text, bytes_per_row float8);

-- Building, in turns
CREATE PROCEDURE build(name text, run int, method text) LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('DROP INDEX IF EXISTS stored_%s', name);
  CALL measure('build ' || name, run,
               format('CREATE INDEX stored_%s ON stored USING %s', name, method));
  INSERT INTO sizes SELECT name, pg_relation_size('stored_' || name)
                                 / (SELECT count(*) FROM stored)::float8;
END $$;
SET client_min_messages = warning;
SELECT format('CALL build(%L, %s, %L)', name, run, method)
FROM generate_series(1, least(:runs, 3)) run,
     (VALUES ('neardup', 'neardup (sig)'), ('gin', 'gin (sig) WITH (fastupdate = off)')) v (name, method)
ORDER BY run, name \gexec
RESET client_min_messages;

-- Measure each query separately, for the mean and the slowest.
CREATE TABLE each_taken (name text, run int, cpu float8, answer float8);
CREATE PROCEDURE ask(name text, run int, queries text, question text)
LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
  r record;
  before float8;
  result float8;
BEGIN
  FOR r IN EXECUTE queries LOOP
    before := cpu();
    EXECUTE question INTO result USING r.query;
    INSERT INTO each_taken VALUES (name, run, cpu() - before, result);
  END LOOP;
END $$;
CREATE FUNCTION nearest(what text, operator text) RETURNS text LANGUAGE sql
RETURN format('SELECT max(d) FROM (SELECT %1$s %2$s $1 AS d FROM %3$s ORDER BY %1$s %2$s $1 LIMIT 10) s',
              split_part(what, '.', 2), operator, split_part(what, '.', 1));

-- Near-duplicates, with the one index and with the other
DROP INDEX stored_gin;
CALL ask('neardup at 0.8', 1, 'SELECT sig AS query FROM asked',
         'SELECT count(*) FROM stored WHERE near_duplicate(sig, $1, 0.8)');
-- the same in one statement, without the start of each: mean of all
SET enable_memoize = off;
SET neardup.enable_join = off;
SET enable_seqscan = off;
SELECT format('CALL measure_count(%L, %s, %L)', 'neardup at 0.8, in one statement', run,
              'SELECT count(*) FROM (SELECT sig AS query FROM asked OFFSET 0) a, LATERAL (SELECT FROM stored WHERE near_duplicate(sig, query, 0.8) OFFSET 0) s')
FROM generate_series(1, :runs) run \gexec
RESET enable_memoize;
RESET neardup.enable_join;
RESET enable_seqscan;
CALL ask('neardup at 0.5', 1, 'SELECT sig AS query FROM asked',
         'SELECT count(*) FROM stored WHERE near_duplicate(sig, $1, 0.5)');
CALL ask('ten nearest', 1, 'SELECT sig AS query FROM asked', nearest('stored.sig', '<->'));
DROP INDEX stored_neardup;
CREATE INDEX stored_gin ON stored USING gin (sig) WITH (fastupdate = off);
CALL ask('gin at 0.8', 1, 'SELECT sig AS query FROM asked',
         'SELECT count(*) FROM stored WHERE near_duplicate(sig, $1, 0.8)');

-- Tickets of eight words, by tf-idf
CREATE TABLE lexicons AS SELECT lexicon_agg(body) AS lexicon FROM docs;
CREATE TABLE vectors AS
SELECT id, weighted_words(body, (SELECT lexicon FROM lexicons)) AS v FROM docs ORDER BY id;
CREATE INDEX vectors_v ON vectors USING neardup (v);
VACUUM ANALYZE vectors;
INSERT INTO sizes SELECT 'vectors', pg_relation_size('vectors_v') / (SELECT count(*) FROM vectors)::float8;
CREATE TABLE tickets AS
SELECT weighted_words(array_to_string((regexp_split_to_array(body, '\s+'))[6:13], ' '),
                      (SELECT lexicon FROM lexicons)) AS v
FROM docs WHERE id % 3407 = 7;
CALL ask('tickets by cosine', 1, 'SELECT v AS query FROM tickets', nearest('vectors.v', '<=>'));
CALL ask('tickets by resemblance', 1, 'SELECT v AS query FROM tickets', nearest('vectors.v', '<->'));

-- Documents of 50 kB: 7,000 features, 10,000 of them, in families of ten
CREATE TABLE long_docs AS
SELECT id, signature_from(array(
  SELECT hashint8extended(CASE WHEN hashint8extended(i, id) & 15 = 0 THEN id ELSE id / 10 END * 10000 + i, 0)
  FROM generate_series(1, 7000) i)) AS sig
FROM generate_series(1::bigint, 10000) id;
CREATE INDEX long_docs_sig ON long_docs USING neardup (sig);
VACUUM ANALYZE long_docs;
CALL ask('50 kB at 0.8', 1, 'SELECT sig AS query FROM long_docs WHERE id % 100 = 3',
         'SELECT count(*) FROM long_docs WHERE near_duplicate(sig, $1, 0.8)');
CALL ask('50 kB, ten nearest', 1, 'SELECT sig AS query FROM long_docs WHERE id % 100 = 3',
         nearest('long_docs.sig', '<->'));

-- Other indexes that order by distance, on a tenth of the descriptions
CREATE TABLE fewer AS SELECT id, left(body, 2000) AS body, shingles(body)::bigint[] AS features FROM docs WHERE id % 10 = 7;
ANALYZE fewer;
CREATE EXTENSION pg_trgm;
CALL measure('build pg_trgm', 1, 'CREATE INDEX fewer_trgm ON fewer USING gist (body gist_trgm_ops (siglen = 64))');
INSERT INTO sizes SELECT 'pg_trgm', pg_relation_size('fewer_trgm') / (SELECT count(*) FROM fewer)::float8;
CALL ask('pg_trgm, a tenth', 1, 'SELECT body AS query FROM fewer WHERE id % 3410 = 7', nearest('fewer.body', '<->'));
SELECT count(*) > 0 AS rum FROM pg_available_extensions WHERE name = 'rum' \gset
\if :rum
CREATE SCHEMA rumx;
CREATE EXTENSION rum SCHEMA rumx;
CALL measure('build rum', 1, 'CREATE INDEX fewer_rum ON fewer USING rum (features rumx.rum_anyarray_ops)');
INSERT INTO sizes SELECT 'rum', pg_relation_size('fewer_rum') / (SELECT count(*) FROM fewer)::float8;
-- it orders the rows of a condition
CALL ask('rum, a tenth', 1, 'SELECT features AS query FROM fewer WHERE id % 3410 = 7',
         'SELECT max(d) FROM (SELECT features OPERATOR(rumx.<=>) $1 AS d FROM fewer
            WHERE features && $1 ORDER BY 1 LIMIT 10) s');
\endif
SELECT name, round(max(bytes_per_row)) AS "bytes a row (110)",
       round(median_cpu('build ' || name)::numeric, 1) AS "build s"
FROM sizes GROUP BY name ORDER BY name;
SELECT name, count(*) AS queries, round(avg(answer)::numeric, 2) AS "mean answer",
       round((avg(cpu) * 1000)::numeric, 3) AS "mean ms, with planning",
       round((max(cpu) * 1000)::numeric, 2) AS "slowest ms"
FROM each_taken GROUP BY name ORDER BY min(ctid);
SELECT round((median_cpu('neardup at 0.8, in one statement') * 1e6 / (SELECT count(*) FROM asked))::numeric, 1)
         AS "us of one of many look-ups (50)",
       round(found('neardup at 0.8, in one statement') / (SELECT count(*) FROM asked)::numeric, 1) AS "rows found by each";

-- Rows under the guard: 20,000 into 100,000
CREATE TABLE target (id int PRIMARY KEY, sig signature);
CREATE PROCEDURE insert_guarded(name text, run int, method text) LANGUAGE plpgsql AS $$
BEGIN
  DROP TABLE IF EXISTS target;
  CREATE TABLE target (id int PRIMARY KEY, sig signature);
  INSERT INTO target SELECT id, sig FROM base;
  EXECUTE format('CREATE INDEX ON target USING %s', method);
  CREATE CONSTRAINT TRIGGER no_near_duplicates AFTER INSERT OR UPDATE ON target
    FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.8');
  ANALYZE target;
  COMMIT;
  CALL measure('guard ' || name, run,
               'INSERT INTO target SELECT id, sig FROM fresh');
END $$;
CREATE INDEX stored_neardup ON stored USING neardup (sig);
DROP INDEX stored_gin;
SET enable_seqscan = off;
CREATE TABLE apart AS
SELECT * FROM stored AS a
WHERE NOT EXISTS (SELECT FROM stored AS b
                  WHERE near_duplicate(b.sig, a.sig, 0.8) AND b.id < a.id OFFSET 0);
RESET enable_seqscan;
-- 20,000 of them, and 100,000 others that are near to none of these
CREATE TABLE fresh AS SELECT id, sig FROM apart ORDER BY md5(id::text) LIMIT 20000;
CREATE TABLE base AS
SELECT a.id, a.sig FROM stored a
WHERE NOT EXISTS (SELECT FROM fresh b WHERE near_duplicate(a.sig, b.sig, 0.8))
ORDER BY md5(a.id::text) LIMIT 100000;
SET client_min_messages = warning;
SELECT format('CALL insert_guarded(%L, %s, %L)', name, run, method)
FROM generate_series(1, least(:runs, 3)) run,
     (VALUES ('neardup', 'neardup (sig)'), ('gin', 'gin (sig) WITH (fastupdate = off)')) v (name, method)
ORDER BY run, name \gexec
SELECT name, round(20000 / median_cpu(name)) AS "rows/s (25000)"
FROM (VALUES ('guard neardup'), ('guard gin')) v (name);
DROP TABLE stored, asked, vectors, lexicons, tickets, long_docs, fewer, apart, fresh, base, target, sizes, each_taken;
