--
-- Groups of rows that come, change and go, against an oracle that knows arrays only.  Drawn
-- are the types of ids and scopes, orders, measure, rule, verdicts, memory and index.  GROUPS_ROUNDS
-- in the environment is the number of rounds, GROUPS_SEED another seed
--

\getenv rounds GROUPS_ROUNDS
\if :{?rounds}
\else
\set rounds 40
\endif
\getenv seed GROUPS_SEED
\if :{?seed}
\else
\set seed 1
\endif

CREATE SCHEMA groups_random;
SET search_path = groups_random, public;
SET client_min_messages = warning;
\getenv abs_srcdir PG_ABS_SRCDIR
\set file :abs_srcdir '/sql/shared/set_measures.sql'
\i :file

CREATE SEQUENCE draws;
CREATE FUNCTION draw(seed bigint, n int) RETURNS int LANGUAGE sql AS $$
    SELECT ((hashint8extended(nextval('draws'), seed) & 1073741823) % n)::int
$$;

CREATE TYPE noted AS (number int, note text);
CREATE COLLATION blind (provider = icu, locale = 'und-u-ks-level2', deterministic = false);

-- Ids: an expression of n, which numbers rows from 1; values look equal, or have null
-- fields or equal hashes, but differ
CREATE TABLE id_kinds (kind serial, type text, id text);
INSERT INTO id_kinds (type, id) VALUES
    ('bigint', 'n'), ('bigint', '-7 * n'), ('int', 'n'), ('numeric', 'n / 8.0'), ('float8', 'n / 3.0::float8'),
    ('text', 'md5(n::text) COLLATE "C"'), ('text', '(repeat(''x'', 20 * n) || n) COLLATE blind'),
    ('uuid', 'md5(n::text)::uuid'), ('char(5)', '(''x'' || n)::char(5)'), ('name', '(''x'' || n)::name'),
    ('jsonb', 'CASE n % 2 WHEN 0 THEN to_jsonb(n / 2) ELSE jsonb_build_array(n / 2) END'),
    ('int[]', 'CASE n % 3 WHEN 0 THEN ARRAY[n / 3] WHEN 1 THEN ARRAY[[n / 3]] ELSE ARRAY[n / 3, NULL] END'),
    ('noted', 'ROW(CASE n % 3 WHEN 1 THEN NULL ELSE n END, CASE n % 3 WHEN 0 THEN NULL WHEN 1 THEN nullif(n, 1)::text ELSE ''x'' END)::noted'),
    ('timestamptz', 'timestamptz ''2026-01-01 00:00+00'' + n * interval ''1 hour'''), ('bytea', 'int4send(n)'),
    ('interval', 'n * interval ''1 day'''), ('inet', 'inet ''10.0.0.0'' + n'), ('date', 'date ''2026-01-01'' - n'),
    ('varbit', 'n::bit(16)::varbit');

-- Scopes: values, and for each the number of the first one that equals it
CREATE TABLE scope_kinds (kind serial, type text, value text[], class int[]);
INSERT INTO scope_kinds (type, value, class) VALUES
    ('int', '{1,2,3,NULL}', '{1,2,3,4}'),
    ('jsonb', '{"\"de\"","[\"de\"]","[[\"de\"]]","1.0","1",NULL}', '{1,2,3,4,4,6}'),
    ('jsonb', '{"[]","{}","[[]]","null",NULL}', '{1,2,3,4,5}'),
    ('int[]', '{"{1,2}","{{1,2}}","[0:1]={1,2}","{}","{NULL}",NULL}', '{1,2,3,4,5,6}'),
    ('noted', '{"(,)","(1,)","(,1)",NULL}', '{1,2,3,4}'),
    ('noted[]', '{"{\"(,)\"}","{NULL}","{}","{{\"(,)\"}}"}', '{1,2,3,4}'),
    ('char(4)', '{ab,"ab ",abcd,a,NULL}', '{1,1,3,4,5}'),
    ('text COLLATE blind', '{a,A,b,"",NULL}', '{1,1,3,4,5}'),
    ('text COLLATE "C"', '{a,A,"a ",NULL}', '{1,2,3,4}'),
    ('numeric', '{1,1.00,0,-0.0,NaN}', '{1,1,3,3,5}'),
    ('float8', '{0,-0,NaN,1}', '{1,1,3,4}'),
    ('uuid', '{00000000-0000-0000-0000-000000000000,00000000-0000-0000-0000-000000000001,NULL}', '{1,2,3}'),
    ('interval', '{1 day,24:00,30 days,1 month,NULL}', '{1,1,3,3,5}'),
    ('int4range', '{"[1,2)","[1,1]",empty,"(,)"}', '{1,1,3,4}'),
    ('timestamptz', '{2026-01-01 00:00+00,2026-01-01 01:00+01,infinity,NULL}', '{1,1,3,4}');
DO $$ -- the classes are those of the types themselves
DECLARE
    k record;
    wrong int;
BEGIN
    FOR k IN SELECT * FROM scope_kinds LOOP
        EXECUTE format('SELECT count(*) FROM unnest($1, $2) WITH ORDINALITY a (v, c, i), unnest($1, $2) WITH ORDINALITY b (v, c, i)
                        WHERE (a.v::%1$s IS NOT DISTINCT FROM b.v::%1$s) <> (a.c = b.c)', k.type)
        INTO wrong USING k.value, k.class;
        IF wrong > 0 THEN RAISE 'classes of %: %', k.type, wrong; END IF;
    END LOOP;
END $$;

-- The rows: a set of numbers, often equal or close to another one, sometimes empty or null;
-- the class of the scope
CREATE TABLE rows (n int PRIMARY KEY, elements bigint[], class int, rank int);
CREATE FUNCTION elements(seed bigint) RETURNS bigint[] LANGUAGE sql AS $$
    SELECT CASE draw(seed, 16) WHEN 0 THEN NULL WHEN 1 THEN '{}'
           ELSE (SELECT array_agg(e) FROM generate_series(start, start + 7 + draw(seed, 3)) e WHERE draw(seed, 9) > 0 OR e = start) END
    FROM (SELECT draw(seed, 5) * 4 + 1 AS start OFFSET 0) s
$$;
CREATE TABLE pairs (a int, b int, s float8);
-- "not the same"
CREATE TABLE verdicts (a int, b int);
CREATE FUNCTION find_pairs(measure text, threshold float8) RETURNS void LANGUAGE sql AS $$
    DELETE FROM pairs;
    INSERT INTO pairs
    SELECT * FROM (
        SELECT a, b, pg_temp.set_measure_value(measure, na, nb, o) AS s
        FROM (SELECT a.n AS a, b.n AS b, cardinality(a.elements)::float8 AS na, cardinality(b.elements)::float8 AS nb,
                     (SELECT count(*) FROM unnest(a.elements) e WHERE e = ANY (b.elements))::float8 AS o
              FROM rows a, rows b
              WHERE a.n <> b.n AND a.class = b.class AND cardinality(a.elements) > 0 AND cardinality(b.elements) > 0) n) s
    WHERE s >= threshold AND NOT EXISTS (SELECT FROM verdicts v WHERE (s.a, s.b) IN ((v.a, v.b), (v.b, v.a)));
$$;

-- Greedy groups by the definition, in the order of ranks: n, representative, similarity
CREATE FUNCTION greedy() RETURNS TABLE (n int, representative int, similarity float8) LANGUAGE plpgsql AS $$
DECLARE
    chosen int[] := '{}';
    r int;
BEGIN
    FOR r IN SELECT rows.n FROM rows ORDER BY rank LOOP
        IF NOT EXISTS (SELECT FROM pairs WHERE a = r AND b = ANY (chosen)) THEN chosen := chosen || r; END IF;
    END LOOP;
    RETURN QUERY SELECT rows.n, coalesce(near.b, rows.n), near.s
    FROM rows LEFT JOIN LATERAL (SELECT p.b, p.s FROM pairs p JOIN rows o ON o.n = p.b
                                 WHERE p.a = rows.n AND p.b = ANY (chosen) AND rows.n <> ALL (chosen)
                                 ORDER BY p.s DESC, o.rank LIMIT 1) near ON true;
END $$;
-- Components: the row of the least rank stands for each
CREATE FUNCTION components() RETURNS TABLE (n int, representative int, similarity float8) LANGUAGE sql AS $$
    WITH RECURSIVE reached AS (
        SELECT n AS a, n AS b FROM rows UNION SELECT reached.a, pairs.b FROM reached JOIN pairs ON pairs.a = reached.b)
    SELECT DISTINCT ON (a) a, b, NULL::float8 FROM reached JOIN rows ON rows.n = b ORDER BY a, rank
$$;

-- Groups that are kept are right: rows that are not as they should be.  Greedy: no two
-- representatives are near, other rows belong to the nearest one
CREATE TABLE found (n int, representative int, similarity float8);
CREATE TABLE component (n int, representative int, similarity float8);
CREATE FUNCTION wrong_kept(rule text) RETURNS bigint LANGUAGE sql AS $$
    SELECT count(*) FROM rows r FULL JOIN found f USING (n) LEFT JOIN found o ON o.n = f.representative
    WHERE r.n IS NULL OR f.n IS NULL OR o.n IS NULL OR o.representative <> o.n
       OR (SELECT count(*) FROM found g WHERE g.n = r.n) <> 1
       OR CASE WHEN rule = 'connected' THEN
              (SELECT array_agg(g.n ORDER BY g.n) FROM found g WHERE g.representative = f.representative)
              <> (SELECT array_agg(c.n ORDER BY c.n) FROM component c WHERE c.representative = (SELECT representative FROM component WHERE n = r.n))
          WHEN f.representative = r.n THEN
              f.similarity IS NOT NULL OR EXISTS (SELECT FROM pairs JOIN found g ON g.n = pairs.b AND g.representative = g.n WHERE pairs.a = r.n)
          ELSE f.similarity IS DISTINCT FROM (SELECT s FROM pairs WHERE a = r.n AND b = f.representative)
               OR f.similarity IS DISTINCT FROM (SELECT max(s) FROM pairs JOIN found g ON g.n = pairs.b AND g.representative = g.n WHERE pairs.a = r.n)
          END
$$;

-- One history: groups of the first rows, then batches of changes
CREATE FUNCTION history(seed bigint) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    ids id_kinds;
    scopes scope_kinds;
    scope text := '';
    measures text[] := ARRAY['jaccard'] || array(SELECT m.measure FROM set_measures m WHERE commutes ORDER BY n);
    measure text := measures[1 + draw(seed, cardinality(measures))];
    rule text := (ARRAY['greedy', 'connected'])[1 + draw(seed, 2)];
    threshold float8 := 0.4 + draw(seed, 61) / 100.0;
    direction text := (ARRAY['id', 'id DESC', 'mark', 'mark DESC', 'length(data::text) DESC'])[1 + draw(seed, 5)];
    index text := (ARRAY['none', 'neardup', 'neardup', 'gin'])[1 + draw(seed, 4)];
    condition text := '';
    apart text;
    wrong bigint := 0;
    n_wrong bigint;
    last int := CASE draw(seed, 8) WHEN 0 THEN 120 ELSE 12 END + draw(seed, 30);
BEGIN
    SELECT * INTO ids FROM id_kinds OFFSET draw(seed, (SELECT count(*)::int FROM id_kinds)) LIMIT 1;
    SELECT * INTO scopes FROM scope_kinds OFFSET draw(seed, (SELECT count(*)::int FROM scope_kinds)) LIMIT 1;
    IF draw(seed, 3) > 0 THEN
        scope := ', scope';
        condition := CASE draw(seed, 2) WHEN 0 THEN ' AND scope IS NOT DISTINCT FROM $2' ELSE '' END;
    END IF;
    PERFORM set_config('work_mem', (ARRAY['64kB', '100kB', '1MB', '4MB'])[1 + draw(seed, 4)], true);
    PERFORM set_config('hash_mem_multiplier', (1 + draw(seed, 2))::text, true);
    PERFORM set_config('enable_seqscan', CASE index WHEN 'none' THEN 'on' ELSE 'off' END, true);
    PERFORM set_config('neardup.enable_join', CASE draw(seed, 2) WHEN 0 THEN 'on' ELSE 'off' END, true);
    DROP TABLE IF EXISTS data, groups;
    EXECUTE format('CREATE TABLE data (n int, id %s, sig signature, scope %s, mark int)', ids.type, scopes.type);
    EXECUTE format('CREATE TABLE groups (id %1$s, representative %1$s, similarity float8)', ids.type);
    IF index <> 'none' THEN
        EXECUTE CASE WHEN index = 'gin' AND measure = 'jaccard'
                THEN format('CREATE INDEX ON data USING gin (sig signature_gin_ops (threshold = %s))', threshold)
                ELSE 'CREATE INDEX ON data USING neardup (sig)' END;
    END IF;
    TRUNCATE rows;
    PERFORM put_row(n, ids, scopes, scope, seed) FROM generate_series(1, last) n;

    TRUNCATE verdicts;
    IF rule = 'greedy' AND ids.type <> 'varbit' AND draw(seed, 3) = 0 THEN
        INSERT INTO verdicts SELECT 1 + draw(seed, last), 1 + draw(seed, last) FROM generate_series(1, draw(seed, 80));
        apart := 'SELECT a.id, b.id FROM verdicts v JOIN data a ON a.n = a JOIN data b ON b.n = b';
    END IF;

    -- groups of all rows, and of their pairs
    EXECUTE format('UPDATE rows SET rank = o.rank FROM (SELECT n, row_number() OVER (ORDER BY %s, id) AS rank FROM data) o WHERE o.n = rows.n', direction);
    PERFORM find_pairs(measure, threshold);
    EXECUTE format('INSERT INTO groups SELECT id, representative, similarity FROM near_duplicate_groups(NULL::%s, %L, $1, $2, $3, $4)',
                   ids.type, format('SELECT id, sig %s FROM data ORDER BY %s', scope, direction)) USING threshold, measure, rule, apart;
    PERFORM find_rows();
    SELECT count(*) INTO n_wrong
    FROM (SELECT f.*, 1 FROM found f EXCEPT ALL SELECT o.*, 1 FROM greedy() o WHERE rule = 'greedy') x
    WHERE rule = 'greedy';
    SELECT n_wrong + count(*) INTO n_wrong
    FROM (SELECT f.* FROM found f EXCEPT ALL SELECT * FROM components()) x WHERE rule = 'connected';
    SELECT n_wrong + abs(count(*) - (SELECT count(*) FROM rows)) INTO n_wrong FROM found;
    IF n_wrong > 0 THEN RAISE WARNING '%: % rows of groups: %', seed, n_wrong, (ids, scopes, scope, measure, rule, threshold, direction, apart); END IF;
    wrong := wrong + n_wrong;
    UPDATE rows SET rank = o.rank FROM (SELECT n, row_number() OVER (ORDER BY id) AS rank FROM data) o WHERE o.n = rows.n;
    TRUNCATE found;
    EXECUTE format('INSERT INTO found SELECT d.n, r.n, p.similarity FROM near_duplicate_groups_of_pairs(NULL::%s, %L, %L) p
                    JOIN data d ON d.id = p.id JOIN data r ON r.id = p.representative', ids.type,
                   'SELECT a.id, b.id, coalesce(s, 0) FROM data a LEFT JOIN pairs ON a = a.n LEFT JOIN data b ON b.n = b', rule);
    SELECT count(*) INTO n_wrong
    FROM (SELECT f.n, f.representative, CASE rule WHEN 'greedy' THEN f.similarity END FROM found f
          EXCEPT ALL SELECT * FROM (SELECT * FROM greedy() WHERE rule = 'greedy' UNION ALL SELECT * FROM components() WHERE rule = 'connected') o) x;
    SELECT n_wrong + abs(count(*) - (SELECT count(*) FROM rows)) INTO n_wrong FROM found;
    IF n_wrong > 0 THEN RAISE WARNING '%: % rows of pairs: %', seed, n_wrong, (ids, scopes, scope, measure, rule, threshold, direction, apart); END IF;
    wrong := wrong + n_wrong;

    FOR batch IN 1 .. 3 LOOP
        -- insertions, updates, deletions; then the rows whose groups are decided again: members
        -- of representatives (connected: of groups) that change, and rows that change
        CREATE TEMP TABLE changed ON COMMIT DROP AS SELECT DISTINCT 1 + draw(seed, last + 8) AS n FROM generate_series(1, 1 + draw(seed, 9));
        PERFORM find_rows();
        CREATE TEMP TABLE again ON COMMIT DROP AS
        SELECT n FROM found WHERE n IN (SELECT n FROM changed)
            OR representative IN (SELECT f.representative FROM found f JOIN changed USING (n) WHERE rule = 'connected' OR f.representative = f.n);
        DELETE FROM groups USING data, again WHERE groups.id = data.id AND data.n = again.n;
        DELETE FROM data WHERE n IN (SELECT n FROM changed);
        DELETE FROM rows WHERE n IN (SELECT n FROM changed);
        PERFORM put_row(n, ids, scopes, scope, seed) FROM changed WHERE draw(seed, 3) > 0 ORDER BY n;
        last := greatest(last, (SELECT max(n) FROM rows));
        EXECUTE format('CREATE TEMP TABLE added ON COMMIT DROP AS SELECT * FROM near_duplicate_groups_add(NULL::%s, %L, %L, $1, $2, $3, $4)', ids.type,
            format('SELECT id, sig %s FROM data d WHERE NOT EXISTS (SELECT FROM groups g WHERE g.id = d.id) ORDER BY mark', scope),
            format('SELECT g.id, d.sig, g.representative, g.similarity %s FROM groups g JOIN data d USING (id) WHERE near_duplicate(d.sig, $1, %s, %L) %s',
                   scope, threshold, measure, condition)) USING threshold, measure, rule, apart;
        IF rule = 'connected' THEN
            UPDATE groups SET representative = added.representative FROM added WHERE groups.representative = added.id;
        ELSE
            DELETE FROM groups USING added WHERE groups.id = added.id;
        END IF;
        INSERT INTO groups SELECT * FROM added WHERE NOT EXISTS (SELECT FROM groups WHERE groups.id = added.id);
        PERFORM find_pairs(measure, threshold);
        PERFORM find_rows();
        UPDATE rows SET rank = n;
        TRUNCATE component;
        INSERT INTO component SELECT * FROM components() WHERE rule = 'connected';
        n_wrong := wrong_kept(rule);
        IF n_wrong > 0 THEN
            RAISE WARNING '%: % rows of batch %: %', seed, n_wrong, batch, (ids, scopes, scope, condition, measure, rule, threshold, direction, index, apart);
        END IF;
        wrong := wrong + n_wrong;
        DROP TABLE changed, again, added;
    END LOOP;
    RETURN wrong;
END $$;
-- Put a row of rows and data
CREATE FUNCTION put_row(n int, ids id_kinds, scopes scope_kinds, scope text, seed bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    place int := 1 + draw(seed, cardinality(scopes.value));
    elements bigint[] := elements(seed);
BEGIN
    INSERT INTO rows VALUES (n, elements, CASE scope WHEN '' THEN 0 ELSE scopes.class[place] END);
    EXECUTE format('INSERT INTO data SELECT n, %s, signature_from($3), $2::%s, $4 FROM (VALUES ($1)) v (n)', ids.id, scopes.type)
    USING n, scopes.value[place], elements, draw(seed, 6);
END $$;
-- The groups by numbers of rows
CREATE FUNCTION find_rows() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    TRUNCATE found;
    INSERT INTO found SELECT d.n, r.n, g.similarity FROM groups g LEFT JOIN data d ON d.id = g.id LEFT JOIN data r ON r.id = g.representative;
END $$;

-- Each history in a transaction of its own, in which settings end
SET plan_cache_mode = force_custom_plan;
CREATE TABLE results (wrong bigint);
SELECT format('INSERT INTO results SELECT history(%s)', :seed::bigint * 1000000 + i) FROM generate_series(1, :rounds) i
\set ECHO none
\gexec
\set ECHO all
SELECT count(*) = :rounds AS all_rounds, sum(wrong) AS wrong FROM results;

DROP SCHEMA groups_random CASCADE;
