--
-- Access method neardup over sketches: the same rows as a sequential scan at any
-- threshold, and the nearest ones by their estimates
--

-- Families of near-duplicates, some without features
CREATE FUNCTION make(id bigint) RETURNS signature LANGUAGE sql IMMUTABLE AS $$
  SELECT signature_from(array(
    SELECT hashint8extended(id / 6 * 1000 + i, 0)
    FROM generate_series(1, id / 6 * 7 % 60) i
    WHERE hashint8extended(i, id) & 7 > id % 3 OR id % 6 = 0))
$$;
-- two with other parameters, and every other method of the catalogs
\getenv abs_srcdir PG_ABS_SRCDIR
\set file :abs_srcdir '/sql/shared/method_calls.sql'
\i :file
CREATE TABLE methods AS
SELECT * FROM (VALUES ('minhash, 16', 'minhash(s, 16)'), ('bottom, 20', 'bottom(s, 20)')) v (method, call)
UNION ALL
SELECT method, format(call, 's') FROM method_calls WHERE takes = 'signature'::regtype AND method <> 'bottom';
CREATE TABLE sketches (method text, id int, sig signature);
CREATE FUNCTION fill(low int, high int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  m methods;
BEGIN
  FOR m IN SELECT * FROM methods LOOP
    EXECUTE format('INSERT INTO sketches SELECT %L, id, %s FROM generate_series(%s::bigint, %s) id, make(id) s',
                   m.method, m.call, low, high);
  END LOOP;
END $$;
SELECT fill(1, 500);
INSERT INTO sketches SELECT method, 10000 + row_number() OVER (), near FROM sketches, unnest('{0.8,0.95}'::float8[]) t, pg_temp.barely_near(sig, t) near WHERE id = 139;
SELECT format('CREATE INDEX %I ON sketches USING neardup (sig) WHERE method = %L',
              'sketches_' || replace(method, ', ', '_'), method) AS statement
FROM methods ORDER BY method COLLATE "C" \gexec
ANALYZE sketches;

CREATE FUNCTION asked(m text, OUT conditions text, OUT nearest text)
LANGUAGE plpgsql SET neardup.enable_join = off AS $$
DECLARE
  q signature;
  t float8;
  part text;
BEGIN
  conditions := ''; nearest := '';
  FOR q IN EXECUTE format('SELECT sig FROM sketches WHERE method = %L AND id %% 67 = 5 ORDER BY id', m) LOOP
    FOREACH t IN ARRAY '{0.05,0.3,0.5,0.8,0.95,1}'::float8[] LOOP
      EXECUTE format('SELECT string_agg(id::text, '','' ORDER BY id) FROM sketches
        WHERE method = %L AND near_duplicate(sig, $1, $2)', m) INTO part USING q, t;
      conditions := conditions || coalesce(part, '-') || ';';
    END LOOP;
    EXECUTE format('SELECT string_agg(d::numeric(9,6)::text, '','' ORDER BY d) FROM (
        SELECT sig <-> $1 AS d FROM sketches WHERE method = %L ORDER BY sig <-> $1 LIMIT 40) s', m)
    INTO part USING q;
    nearest := nearest || part || ';';
    EXECUTE format('SELECT string_agg(d::numeric(9,6)::text, '','' ORDER BY d) FROM (
        SELECT sig <-> $1 AS d FROM sketches WHERE method = %L AND near_duplicate(sig, $1, 0.2)
        ORDER BY sig <-> $1 LIMIT 9) s', m)
    INTO part USING q;
    nearest := nearest || coalesce(part, '-') || ';';
  END LOOP;
END $$;
CREATE TABLE answers (plan text, rows int, method text, conditions text, nearest text);
CREATE PROCEDURE ask(plan text) LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('enable_seqscan', CASE WHEN plan = 'seq' THEN 'on' ELSE 'off' END, true),
          set_config('enable_indexscan', CASE WHEN plan IN ('seq', 'bitmap') THEN 'off' ELSE 'on' END, true),
          set_config('enable_bitmapscan', CASE WHEN plan = 'bitmap' THEN 'on' ELSE 'off' END, true);
  INSERT INTO answers
  SELECT plan, (SELECT count(*) FROM sketches s WHERE s.method = m.method), m.method, a.*
  FROM methods m, asked(m.method) a;
  COMMIT;
END $$;
CALL ask('seq');
CALL ask('index');
CALL ask('bitmap');
-- pending rows, and further segments
SELECT fill(501, 700);
CALL ask('seq');
CALL ask('index');
CALL ask('bitmap');
DELETE FROM sketches WHERE id % 7 = 0;
VACUUM sketches;
CALL ask('seq');
CALL ask('index');
CALL ask('bitmap');
SELECT rows, method, count(*) AS plans, count(DISTINCT conditions) AS conditions,
       count(DISTINCT nearest) AS nearest, max(length(conditions)) > 500 AS found
FROM answers GROUP BY rows, method ORDER BY rows, method COLLATE "C";
SELECT indexrelid::regclass AS index, neardup_index_check(indexrelid, true) > 0 AS indexed
FROM pg_index WHERE indrelid = 'sketches'::regclass ORDER BY indexrelid::regclass::text COLLATE "C";

-- The index finds and orders them
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT id FROM sketches
WHERE method = 'minhash' AND near_duplicate(sig, minhash(make(24)), 0.5)
ORDER BY sig <-> minhash(make(24)) LIMIT 3;
RESET enable_seqscan;

-- The cost of a look-up is known after ANALYZE: lists of min-hashes are long, those of
-- supershingles are short
CREATE TABLE costs AS SELECT minhash(s) AS slots, supershingles(s) AS hashes
FROM generate_series(1::bigint, 400) id, make(id) s;
CREATE INDEX ON costs USING neardup (slots);
CREATE INDEX ON costs USING neardup (hashes);
VACUUM costs;
CREATE FUNCTION cost(query text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
  plan json;
BEGIN
  EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
  RETURN plan->0->'Plan'->>'Startup Cost';
END $$;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
CREATE TABLE before AS
SELECT q, cost(q) AS cost FROM (VALUES ('SELECT FROM costs WHERE near_duplicate(slots, (SELECT minhash(make(24))), 0.5)'),
  ('SELECT FROM costs WHERE near_duplicate(hashes, (SELECT supershingles(make(24))), 0.5)')) v (q);
ANALYZE costs;
SELECT q, cost(q) > 2 * cost AS more FROM before ORDER BY q DESC;
RESET enable_seqscan;
RESET enable_bitmapscan;
DROP TABLE costs, before;
DROP FUNCTION cost;
SET enable_seqscan = off;

-- Other measures are errors, other sketches are not near, as in a scan
SELECT id FROM sketches WHERE method = 'minhash' AND contained_in(sig, minhash(make(24)), 0.5);
SELECT id FROM sketches WHERE method = 'minhash' ORDER BY sig <=> minhash(make(24)) LIMIT 1;
SELECT id FROM sketches WHERE method = 'minhash' AND near_duplicate(sig, minhash(make(24), 16), 0.5);

-- The guard uses it
CREATE TABLE guarded (id int PRIMARY KEY, sig signature);
CREATE INDEX ON guarded USING neardup (sig);
CREATE CONSTRAINT TRIGGER guard AFTER INSERT ON guarded
  FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.7');
INSERT INTO guarded VALUES (1, minhash(make(24))), (2, minhash(make(50)));
INSERT INTO guarded VALUES (3, minhash(make(25)));
DROP TABLE sketches, methods, answers, guarded;
DROP VIEW method_calls;
DROP FUNCTION make, fill, asked;
DROP PROCEDURE ask;
