--
-- Access method neardup over supershingles and lexical methods, whose rule for
-- near-duplicates is no threshold: the same rows as a sequential scan and as GIN, and
-- the nearest ones by the share that is equal
--
CREATE FUNCTION random_of(seed bigint, n int) RETURNS int LANGUAGE sql IMMUTABLE AS $$
  SELECT (abs(hashint8extended(seed, 7)) % n)::int $$;
-- Families of documents in which some words and sentences differ
CREATE FUNCTION doc(id int) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT string_agg('w' || CASE WHEN random_of(id * 1000 + i, 60) < id % 5 THEN random_of(id * 1000 + i, 300)
                                ELSE random_of(id / 5 * 1000 + i, 100 + i % 9 * 40) END
                    || CASE WHEN i % 11 = 0 THEN '. S' ELSE ' ' END, '' ORDER BY i)
  FROM generate_series(1, 20 + id / 5 * 7 % 60) i $$;
CREATE TABLE docs AS SELECT id, doc(id) AS body FROM generate_series(1, 320) id;
CREATE TABLE stats AS SELECT lexicon_agg(body) AS lexicon, word_set_agg(body, '', 100) AS words FROM docs;
CREATE TABLE methods (method text, expression text);
INSERT INTO methods VALUES
  ('supershingles', 'supershingles(body)'),
  ('megashingles', 'megashingles(body)'),
  ('small groups', 'supershingles(body, 20, 3)'),
  ('one group', 'supershingles(body, 1, 5)'),
  ('imatch', 'imatch(body, lexicon, minimum => 8)'),
  ('fuzzy_fingerprint', 'fuzzy_fingerprint(body, lexicon)'),
  ('descriptive_words', 'descriptive_words(body, words)'),
  ('top_words', 'top_words(body, 4)'),
  ('long_sentences', 'long_sentences(body, n => 1)'),
  ('heavy_sentences', 'heavy_sentences(body, lexicon, n => 1)'),
  ('text_hash', 'text_hash(body)');
CREATE TABLE hashes (method text, id int, sig signature);
CREATE TABLE gin_hashes (LIKE hashes);
CREATE PROCEDURE fill(low int, high int) LANGUAGE plpgsql AS $$
DECLARE
  m methods;
BEGIN
  FOR m IN SELECT * FROM methods LOOP
    EXECUTE format('INSERT INTO hashes SELECT %L, id, %s FROM docs, stats WHERE id BETWEEN %s AND %s ORDER BY id',
                   m.method, m.expression, low, high);
  END LOOP;
  INSERT INTO gin_hashes SELECT * FROM hashes WHERE id BETWEEN low AND high;
END $$;
CALL fill(1, 240);
DO $$
DECLARE
  m text;
BEGIN
  FOR m IN SELECT method FROM methods LOOP
    EXECUTE format('CREATE INDEX %I ON hashes USING neardup (sig) WHERE method = %L', 'hashes ' || m, m);
    EXECUTE format('CREATE INDEX %I ON gin_hashes USING gin (sig) WITH (fastupdate = off) WHERE method = %L', 'gin ' || m, m);
  END LOOP;
END $$;
ANALYZE hashes, gin_hashes;

CREATE FUNCTION asked(plan text, m text, OUT conditions text, OUT nearest text)
LANGUAGE plpgsql SET neardup.enable_join = off AS $$
DECLARE
  rows text := CASE WHEN plan = 'gin' THEN 'gin_hashes' ELSE 'hashes' END || format(' WHERE method = %L', m);
  q signature;
  t float8;
  part text;
  shown text;
BEGIN
  conditions := ''; nearest := '';
  FOR q IN EXECUTE format('SELECT sig FROM hashes WHERE method = %L AND id %% 41 = 3 ORDER BY id', m) LOOP
    CONTINUE WHEN q IS NULL;
    EXECUTE format('EXPLAIN (FORMAT json) SELECT FROM %s AND near_duplicate(sig, %L, 0.9)', rows, q) INTO shown;
    IF shown !~ (CASE plan WHEN 'seq' THEN 'Seq Scan' WHEN 'index' THEN '"Index Scan' ELSE 'Bitmap Index Scan' END) THEN
      RAISE EXCEPTION 'another plan for %: %', plan, shown;
    END IF;
    FOREACH t IN ARRAY '{0.05,0.4,0.7,0.95,1}'::float8[] LOOP
      EXECUTE 'SELECT string_agg(id::text, '','' ORDER BY id) FROM ' || rows ||
              ' AND near_duplicate(sig, $1, $2)' INTO part USING q, t;
      conditions := conditions || coalesce(part, '-') || ';';
      EXECUTE 'SELECT string_agg(id::text, '','' ORDER BY id) FROM ' || rows ||
              ' AND near_duplicate(sig, $1, $2, ''similarity'')' INTO part USING q, t;
      conditions := conditions || coalesce(part, '-') || ';';
    END LOOP;
    CONTINUE WHEN plan IN ('bitmap', 'gin');
    EXECUTE 'SELECT string_agg(d::numeric(9,6)::text, '','' ORDER BY d) FROM (
        SELECT sig <-> $1 AS d FROM ' || rows || ' ORDER BY sig <-> $1 LIMIT 30) s' INTO part USING q;
    nearest := nearest || part || ';';
    EXECUTE 'SELECT string_agg(d::numeric(9,6)::text, '','' ORDER BY d) FROM (
        SELECT sig <-> $1 AS d FROM ' || rows || ' AND near_duplicate(sig, $1, 0.9)
        ORDER BY sig <-> $1 LIMIT 3) s' INTO part USING q;
    nearest := nearest || coalesce(part, '-') || ';';
  END LOOP;
  nearest := nullif(nearest, '');
END $$;
CREATE TABLE answers (plan text, rows int, method text, conditions text, nearest text);
CREATE PROCEDURE ask(plan text) LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('enable_seqscan', CASE WHEN plan = 'seq' THEN 'on' ELSE 'off' END, true),
          set_config('enable_indexscan', CASE WHEN plan = 'index' THEN 'on' ELSE 'off' END, true),
          set_config('enable_bitmapscan', CASE WHEN plan IN ('bitmap', 'gin') THEN 'on' ELSE 'off' END, true);
  INSERT INTO answers SELECT plan, (SELECT count(*) FROM hashes), m.method, a.* FROM methods m, asked(plan, m.method) a;
  COMMIT;
END $$;
CALL ask('seq');
CALL ask('index');
CALL ask('bitmap');
CALL ask('gin');
-- pending rows, then merged ones; some are deleted
CALL fill(241, 320);
CALL ask('seq');
CALL ask('index');
DELETE FROM hashes WHERE id % 7 = 0;
VACUUM hashes;
CALL ask('seq');
CALL ask('bitmap');
SELECT rows, method, count(*) AS plans, count(DISTINCT conditions) AS conditions,
       count(DISTINCT nearest) AS nearest, bool_and(conditions ~ '\d,\d') AS found
FROM answers GROUP BY rows, method ORDER BY rows, method;
SELECT bool_and(neardup_index_check(format('%I', 'hashes ' || method)::regclass, true) > 0) AS whole FROM methods;

-- A measure that cannot be computed is an error, with the index and without
SELECT sig AS q FROM hashes WHERE method = 'imatch' AND id = 3 \gset
SET enable_seqscan = off;
SELECT id FROM hashes WHERE method = 'imatch' AND contained_in(sig, :'q', 0.5);
SELECT id FROM hashes WHERE method = 'imatch' ORDER BY sig <=> :'q' LIMIT 1;
SELECT id FROM hashes WHERE method = 'top_words' AND near_duplicate(sig, :'q', 0.5);
-- One hash is also looked up by equality
CREATE INDEX ON hashes USING hash (sig) WHERE method = 'text_hash';
SELECT count(*) AS differ FROM hashes a WHERE method = 'text_hash' AND a.sig IS NOT NULL
AND ARRAY(SELECT id FROM hashes b WHERE method = 'text_hash' AND b.sig = a.sig ORDER BY id)
    IS DISTINCT FROM
    ARRAY(SELECT id FROM hashes b WHERE method = 'text_hash' AND near_duplicate(b.sig, a.sig, 0.9) ORDER BY id);

-- The guard and exclusion constraints use it
CREATE TABLE guarded (id int PRIMARY KEY, sig signature,
  EXCLUDE USING neardup (signature_query(sig, 0.9) WITH %%));
INSERT INTO guarded SELECT id, sig FROM hashes WHERE method = 'supershingles' AND id < 25 ORDER BY id
ON CONFLICT DO NOTHING;
SELECT count(*) < 20 AS fewer, count(*) > 4 AS some FROM guarded;
SELECT count(*) AS pairs FROM guarded a JOIN guarded b ON a.sig % b.sig AND a.id < b.id;
ALTER TABLE guarded DROP CONSTRAINT guarded_signature_query_excl;
CREATE INDEX ON guarded USING neardup (sig);
CREATE CONSTRAINT TRIGGER guard AFTER INSERT ON guarded
  FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.9');
\set VERBOSITY sqlstate
INSERT INTO guarded SELECT id + 1000, sig FROM guarded ORDER BY id LIMIT 1;
DROP TABLE docs, stats, methods, hashes, gin_hashes, answers, guarded;
DROP FUNCTION random_of, doc, asked;
DROP PROCEDURE fill, ask;
