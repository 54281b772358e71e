
-- distributed

CREATE FUNCTION _neardup_operator(type regtype, operator text) RETURNS text
    AS 'MODULE_PATHNAME', 'neardup_operator'
    LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION _neardup_operator(regtype, text) IS 'function of neardup_pairs(): the operator < or = of a type''s default order, or null';

CREATE FUNCTION _neardup_measure(neardup text, measure text, x text, y text) RETURNS text
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN CASE measure
        WHEN 'jaccard' THEN format('%s.similarity(%s, %s)', neardup, x, y)
        WHEN 'contains' THEN format('%s.containment(%s, %s)', neardup, y, x)
        WHEN 'overlap_coefficient' THEN format('GREATEST(%1$s.containment(%2$s, %3$s), %1$s.containment(%3$s, %2$s))', neardup, x, y)
        WHEN 'shared' THEN format('%s.shared_values(%s, %s)::pg_catalog.float8', neardup, x, y)
        ELSE format('%s.%I(%s, %s)', neardup, measure, x, y) END;
COMMENT ON FUNCTION _neardup_measure(text, text, text, text) IS 'function of neardup_pairs(): an expression of a measure of two expressions';

-- Creates a table of a query's rows.  On one server CREATE TABLE AS may run in parallel;
-- otherwise distribution has the arguments of create_distributed_table().  ANALYZE reads
-- only the columns that joins compare, since signatures would take longer than the join.
CREATE FUNCTION _neardup_pairs_table(kind text, name text, distribution text, columns text, query text) RETURNS bigint
    LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    n bigint;
BEGIN
    EXECUTE format('CREATE %s TABLE %s AS %s', kind, name, query) || CASE distribution WHEN '' THEN '' ELSE ' WITH NO DATA' END;
    GET DIAGNOSTICS n = ROW_COUNT;
    IF distribution <> '' THEN
        EXECUTE format('SELECT create_distributed_table(%L, %s)', name, distribution);
        EXECUTE format('INSERT INTO %s %s', name, query);
        GET DIAGNOSTICS n = ROW_COUNT;
    END IF;
    EXECUTE format('ANALYZE %s (%s)', name, columns);
    RETURN n;
END
$$;
COMMENT ON FUNCTION _neardup_pairs_table(text, text, text, text, text) IS 'function of neardup_pairs(): creates a table';

-- Distributed rows are joined in steps, each a table that the next one reads:
--
--   rows      the id of each row and a hash of its signature; rows with equal
--             signatures are one set;
--   firsts    for each set the row with the least id, and the shards of near that have
--             rows of the set, which will compute its pairs;
--   sets      sets with their signatures, which are sent only now;
--   near      pairs of sets, in each shard that has rows of either;
--   wanted    sets whose rows a shard needs for its pairs;
--   members   in each shard the rows of the sets that it needs, and whether they are
--             its own; from these it computes its part of the result.
--
-- So a set's rows are sent to a shard once, not once for each near set.  Pairs, which may
-- be many, are not sent at all.
--
-- Sets are compared by their size classes, or by rare features if one class has more sets
-- than a node's share.  A set is compared with sets of its class and of the next.  A
-- shard has neighbouring classes, so a set is mostly sent once.
--
-- near has one shard per node, or a few for many rows, since a set that two shards of one
-- node need is sent twice.  Each shard of the result belongs to a shard of near on its
-- node, so that its rows stay there.  Citus places a row by the hash of a value.  Here the
-- shard is known, so one value whose hash is in its range is searched for each.
CREATE FUNCTION _neardup_pairs_of_sets(neardup text, source_table text, id_column text, id_type regtype, sig_column text, place text,
                                       bounds text, similarity text, is_near text, equal_is_one boolean,
                                       schema text, result text, design text) RETURNS text
    LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    make_table CONSTANT text := format('SELECT %s._neardup_pairs_table($1, $2, $3, $4, $5)', neardup);
    kind CONSTANT text := CASE schema WHEN 'pg_temp' THEN 'TEMPORARY' ELSE 'UNLOGGED' END;
    made CONSTANT text[] := ARRAY(SELECT format('%s.%I', schema, result || '_' || e)
                                  FROM unnest('{rows,near,firsts,sets,keys,matches,sent,wanted,members}'::text[]) e);
    result_table CONSTANT text := format('%s.%I', schema, result);
    rows_table CONSTANT text := made[1];
    near_table CONSTANT text := made[2];
    sets_table CONSTANT text := made[4];
    -- arguments of create_distributed_table(), if tables are distributed
    by_set CONSTANT text := CASE place WHEN '' THEN '' ELSE quote_literal('set') END;
    by_place text := '';
    -- the column that the source is distributed by, if it is not the id
    place_too CONSTANT text := CASE WHEN place IN ('', id_column) THEN '' ELSE ', place' END;
    at_place text := '';
    id_less text;
    id_equal text;
    seed bigint := 0;
    proven boolean;
    nrows bigint;
    nodes float8 := 1;
    keys int[] := '{0}';        -- values of near's column place, by shard
    lows int[];                 -- the least hash of each shard of the result,
    dealt int[];                -- and the shard of near that it belongs to
    shard text := '0';          -- expression: shard of near that computes pairs whose a is id
    signed text;                -- sets with their signatures
    of_sets boolean := true;    -- signatures have size classes and features
    largest float8;             -- greatest share of sets in one class
    starts bigint[];            -- first class of each stretch of classes,
    stretches int[];            -- and its shard
    nsets bigint;
    found bigint;               -- sets whose first row was found by id
    unchanged bigint;           -- sets whose first row still has the signature
    pairs text;
BEGIN
    EXECUTE format('SELECT %1$s._neardup_operator($1, ''<''), %1$s._neardup_operator($1, ''='')', neardup) INTO id_less, id_equal USING id_type;

    -- If signatures with equal hashes differ in a second hash, try another seed.  Signatures
    -- without values, which samples may be, are near none, not even equal ones.
    LOOP
        EXECUTE make_table INTO nrows USING kind, rows_table, by_set, 'set'::text,
            format('SELECT %1$s.signature_hash_extended(%2$s, %3$s::bigint) AS set, %1$s.signature_hash_extended(%2$s, %4$s::bigint) AS proof, %5$s AS id%6$s '
                   'FROM %7$s WHERE %1$s.similarity(%2$s, %2$s) > 0 AND %5$s IS DISTINCT FROM NULL',
                   neardup, sig_column, seed, seed + 1, id_column, replace(place_too, 'place', format('%s AS place', place)), source_table);
        EXECUTE format('SELECT count(*) = 0 FROM (SELECT set FROM %s GROUP BY set HAVING min(proof) <> max(proof)) c', rows_table) INTO proven;
        EXIT WHEN proven;
        EXECUTE format('DROP TABLE %s', rows_table);
        seed := seed + 2;
        IF seed = 16 THEN
            RAISE EXCEPTION 'hashes of different signatures are equal'
                USING ERRCODE = 'program_limit_exceeded', DETAIL = 'This happened with each of 8 seeds.',
                      HINT = 'Signatures that were made for that purpose are among them; join the table with itself instead.';
        END IF;
    END LOOP;

    -- Create result and near, still empty, with their shards: one for a million rows.  A
    -- set has a bit for each shard that has rows of it.
    IF place <> '' THEN
        SELECT greatest(count(*), 1) INTO nodes FROM pg_dist_node WHERE isactive AND shouldhaveshards AND noderole = 'primary';
        by_place := format('''place'', shard_count := %s, colocate_with := ''none''', least(nodes * greatest(ceil(nrows / nodes / 1000000), 1), 63));
    END IF;
    EXECUTE make_table USING '', result_table, CASE place WHEN '' THEN '' ELSE quote_literal('a') END, 'a'::text,
        format('SELECT %1$s AS a, %1$s AS b, 0::float8 AS similarity FROM %2$s WHERE false', id_column, source_table);
    EXECUTE make_table USING kind, near_table, by_place, 'a'::text,
        'SELECT 0 AS place, 0::bigint AS a, 0::bigint AS b, 0::float8 AS similarity WHERE false'::text;
    IF place <> '' THEN
        by_place := format('''place'', colocate_with := %L', near_table);
        WITH placed AS (
            SELECT s.logicalrelid = near_table::regclass AS near, s.shardminvalue::int AS low, s.shardmaxvalue::int AS high, min(p.groupid) AS node
            FROM pg_dist_shard s JOIN pg_dist_placement p ON p.shardid = s.shardid
            WHERE s.logicalrelid IN (near_table::regclass, result_table::regclass) GROUP BY 1, 2, 3),
        near AS (
            SELECT *, row_number() OVER (ORDER BY node, low)::int - 1 AS number FROM placed WHERE near),
        of_node AS (
            SELECT node, array_agg(number ORDER BY number) AS numbers FROM near GROUP BY node),
        -- assign a node's shards of the result in turn to its shards of near, or, if it has none, to all
        result AS (
            SELECT p.low, coalesce(n.numbers, (SELECT array_agg(number ORDER BY number) FROM near)) AS numbers,
                   row_number() OVER (PARTITION BY p.node ORDER BY p.low)::int - 1 AS number
            FROM placed p LEFT JOIN of_node n ON n.node = p.node WHERE NOT p.near)
        SELECT (SELECT array_agg((SELECT v FROM generate_series(1, 10000) v WHERE worker_hash(v) BETWEEN low AND high LIMIT 1) ORDER BY number) FROM near),
               array_agg(low ORDER BY low), array_agg(numbers[number % cardinality(numbers) + 1] ORDER BY low)
        INTO keys, lows, dealt FROM result;
        shard := format('(%L::int[])[width_bucket(worker_hash(id), %L::int[])]', dealt, lows);
    END IF;

    -- Equal signatures become one set, whose signature is read from its first row.
    IF place_too <> '' THEN
        EXECUTE format('SELECT format(''s.%%s %%s f.place AND '', $2, %s._neardup_operator(atttypid, ''='')) FROM pg_attribute '
                       'WHERE attrelid = $1::regclass AND quote_ident(attname) = $2', neardup) INTO at_place USING source_table, place;
    END IF;
    EXECUTE make_table INTO nsets USING kind, made[3],
        CASE place WHEN '' THEN '' ELSE format('%L, colocate_with := %L', CASE place_too WHEN '' THEN 'id' ELSE 'place' END, source_table) END,
        CASE place_too WHEN '' THEN 'id' ELSE 'place' END,
        format('SELECT f.* FROM (SELECT DISTINCT ON (set) id%1$s, set, count(*) OVER (PARTITION BY set) > 1 AS many, '
               'bit_or(1::bigint << %2$s) OVER (PARTITION BY set) AS shards FROM %3$s ORDER BY set, id%1$s) f', place_too, shard, rows_table);
    signed := format('(SELECT f.set, f.many, f.shards, s.%s AS sig FROM %s f JOIN %s s ON %ss.%s %s f.id)',
                     sig_column, made[3], source_table, at_place, id_column, id_equal);

    BEGIN
        EXECUTE format('SELECT %s.size_classes(s.sig, %s) FROM %s s LIMIT 1', neardup, bounds, signed);
    EXCEPTION WHEN feature_not_supported THEN
        of_sets := false;
    END;
    equal_is_one := equal_is_one AND of_sets;
    IF design = 'auto' AND NOT of_sets THEN
        design := 'keys';
    END IF;

    -- Divide the classes, in order, into stretches with equal shares of the features.  A row
    -- changed meanwhile may have a signature without a class.
    IF design <> 'keys' THEN
        EXECUTE format('SELECT max(c.sets)::float8 / sum(c.sets)::float8, coalesce(sum(c.sets), 0), '
                       'array_agg(c.class ORDER BY c.class) FILTER (WHERE c.shard <> c.before AND c.class IS NOT NULL), '
                       'array_agg(c.shard ORDER BY c.class) FILTER (WHERE c.shard <> c.before AND c.class IS NOT NULL) '
                       'FROM (SELECT p.*, lag(p.shard, 1, -1) OVER (ORDER BY p.class) AS before '
                       'FROM (SELECT h.class, h.sets, floor(%4$s * (sum(h.features) OVER (ORDER BY h.class) - h.features / 2.0) / sum(h.features) OVER ())::int AS shard '
                       'FROM (SELECT (%1$s.size_classes(s.sig, %2$s))[1] AS class, count(*) AS sets, sum(%1$s.nfeatures(s.sig)) AS features '
                       'FROM %3$s s GROUP BY 1) h) p) c', neardup, bounds, signed, cardinality(keys)) INTO largest, found, starts, stretches;
        IF design = 'auto' THEN
            design := CASE WHEN largest * nodes > 1 THEN 'keys' ELSE 'classes' END;
        END IF;
    END IF;
    IF design = 'classes' THEN
        EXECUTE make_table USING kind, sets_table, by_place, 'place'::text,
            format('SELECT (%1$L::int[])[(%2$L::int[])[c.stretch] + 1] AS place, c.stretch = q.own AS home, q.set, q.many, q.shards, q.sig '
                   'FROM (SELECT g.*, width_bucket(g.classes[1], %3$L::bigint[]) AS own, width_bucket(g.classes[2], %3$L::bigint[]) AS next '
                   'FROM (SELECT s.*, %4$s.size_classes(s.sig, %5$s) AS classes FROM %6$s s) g) q, generate_series(q.own, q.next) c (stretch)',
                   keys, coalesce(stretches, '{}'), coalesce(starts, '{}'), neardup, bounds, signed);
    ELSE
        EXECUTE make_table INTO found USING kind, sets_table, by_set, 'set'::text, format('SELECT * FROM %s s', signed);
    END IF;

    -- Each set must find one row by its id.  Each statement has a new snapshot, so a row
    -- may have changed.
    EXECUTE format('SELECT count(*) FROM %s s WHERE %s AND %s.signature_hash_extended(s.sig, %s::bigint) = s.set',
                   sets_table, CASE design WHEN 'classes' THEN 's.home' ELSE 'true' END, neardup, seed) INTO unchanged;
    IF found > nsets THEN
        RAISE EXCEPTION 'ids are not unique'
            USING ERRCODE = 'unique_violation', DETAIL = format('%s sets were looked up by id, and %s found.', nsets, found),
                  HINT = 'Take a column that has another value in each row.';
    ELSIF least(found, unchanged) < nsets THEN
        RAISE EXCEPTION 'rows of % changed during the search for their pairs', source_table
            USING ERRCODE = 'serialization_failure',
                  DETAIL = format('Of %s sets, %s were read again with the same signature.', nsets, least(found, unchanged)),
                  HINT = 'Call neardup_pairs() once more, or in a transaction of isolation level REPEATABLE READ.';
    END IF;

    -- Pairs of sets: by classes in the shard of the greater class of the two, by keys where
    -- the second signature is.  A set with many rows is compared with itself, unless equal
    -- sets are always near.
    IF design = 'classes' THEN
        pairs := format('SELECT a.set AS a, b.set AS b, a.shards | b.shards AS shards, %1$s AS similarity FROM %2$s a JOIN %2$s b ON a.place = b.place AND %3$s AND %4$s',
                        similarity, sets_table, is_near,
                        CASE WHEN equal_is_one THEN 'a.set < b.set AND (a.home OR b.home)'
                             ELSE 'CASE WHEN a.set = b.set THEN a.home AND a.many ELSE a.set < b.set AND (a.home OR b.home) END' END);
    ELSE
        EXECUTE make_table USING kind, made[5], CASE place WHEN '' THEN '' ELSE quote_literal('key') END, 'key'::text,
            format('SELECT k.key, s.set FROM %1$s s, unnest(%2$s.candidate_keys(s.sig, %3$s%4$s)) k (key)', sets_table, neardup, bounds,
                   CASE WHEN of_sets THEN format(', (SELECT %s.feature_counts(sig) FROM %s)', neardup, sets_table) END);
        EXECUTE make_table USING kind, made[6], CASE place WHEN '' THEN '' ELSE quote_literal('a') END, 'a, b'::text,
            format('SELECT DISTINCT a.set AS a, b.set AS b FROM %1$s a JOIN %1$s b ON a.key = b.key AND a.set < b.set', made[5]);
        EXECUTE make_table USING kind, made[7], CASE place WHEN '' THEN '' ELSE quote_literal('b') END, 'b'::text,
            format('SELECT c.b, c.a, s.shards, s.sig FROM (SELECT DISTINCT a, b FROM %s) c JOIN %s s ON s.set = c.a%s', made[6], sets_table,
                   CASE WHEN NOT equal_is_one THEN format(' UNION ALL SELECT set, set, shards, sig FROM %s WHERE many', sets_table) END);
        pairs := format('SELECT a.a, a.b, a.shards | b.shards AS shards, %s AS similarity FROM %s a JOIN %s b ON b.set = a.b WHERE %s IS TRUE',
                        similarity, made[7], sets_table, is_near);
    END IF;
    EXECUTE format('INSERT INTO %1$s SELECT (%2$L::int[])[s.shard + 1] AS place, n.a, n.b, n.similarity FROM (%3$s) n, generate_series(0, %4$s) s (shard) '
                   'WHERE (n.shards >> s.shard) & 1::bigint = 1', near_table, keys, pairs, cardinality(keys) - 1);
    EXECUTE format('ANALYZE %s (a, b)', near_table);

    -- Pairs of rows: a shard has all pairs with its sets.  It receives the rows of the other
    -- sets, and all rows of sets with many.  The lesser row of each pair is the shard's own.
    EXECUTE make_table USING kind, made[8], CASE place WHEN '' THEN '' ELSE format('''set'', colocate_with := %L', rows_table) END, 'set'::text,
        format('SELECT q.set, array_position(%1$L::int[], q.place) - 1 AS shard '
               'FROM (SELECT DISTINCT v.set, n.place FROM %2$s n, LATERAL (VALUES (n.a), (n.b)) v (set)) q', keys, near_table);
    EXECUTE make_table USING kind, made[9], by_place, 'set'::text,
        format('SELECT (%1$L::int[])[s.shard + 1] AS place, r.set, r.shard = s.shard AS here, r.id '
               'FROM (SELECT set, id, %2$s AS shard FROM %3$s) r JOIN ('
               'SELECT u.set, bit_or(u.shards) AS shards FROM ('
               'SELECT set, CASE WHEN count(*) > 1 THEN bit_or(1::bigint << %2$s) ELSE 0 END AS shards FROM %3$s GROUP BY set '
               'UNION ALL SELECT set, 1::bigint << shard FROM %4$s) u GROUP BY u.set) w ON w.set = r.set '
               'JOIN generate_series(0, %5$s) s (shard) ON (w.shards >> s.shard) & 1::bigint = 1',
               keys, shard, rows_table, made[8], cardinality(keys) - 1);
    EXECUTE format('INSERT INTO %1$s SELECT x.id AS a, y.id AS b, n.similarity '
                   'FROM (SELECT place, a, b, similarity FROM %2$s UNION ALL SELECT place, b, a, similarity FROM %2$s WHERE a <> b%3$s) n '
                   'JOIN %4$s x ON x.place = n.place AND x.set = n.a AND x.here '
                   'JOIN %4$s y ON y.place = n.place AND y.set = n.b AND x.id %5$s y.id', result_table, near_table,
                   CASE WHEN equal_is_one THEN format(' UNION ALL SELECT DISTINCT place, set, set AS b, 1::float8 FROM %s', made[9]) END,
                   made[9], id_less);
    EXECUTE format('ANALYZE %s (a, b, similarity)', result_table);
    EXECUTE format('DROP TABLE %s', array_to_string(CASE design WHEN 'keys' THEN made ELSE made[1:4] || made[8:9] END, ', '));
    RETURN design;
END
$$;
COMMENT ON FUNCTION _neardup_pairs_of_sets(text, text, text, regtype, text, text, text, text, text, boolean, text, text, text) IS 'function of neardup_pairs(): all pairs by classes or by keys';

-- Statements run with the search path pg_catalog, pg_temp: other names are qualified, and
-- ids are compared by the operators of their type.
CREATE FUNCTION _neardup_pairs(source regclass, id name, sig name, threshold double precision,
                               result text, measure text, design text, creation_schema text) RETURNS text
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET extra_float_digits = 1
AS $$
DECLARE
    missing CONSTANT text := CASE WHEN source IS NULL THEN 'source' WHEN id IS NULL THEN 'id' WHEN sig IS NULL THEN 'sig'
        WHEN threshold IS NULL THEN 'threshold' WHEN result IS NULL THEN 'result' WHEN measure IS NULL THEN 'measure'
        WHEN design IS NULL THEN 'design' END;
    neardup text;               -- the extension's schema, quoted
    source_name text;           -- unquoted
    source_table text;          -- quoted, with its schema
    place text;                 -- column by which it is distributed, quoted; '' on one server
    id_type regtype;
    sig_type regtype;
    base regtype;
    id_less text;
    bounds text;                -- threshold and measure
    similarity text;            -- of a.sig and b.sig
    is_near text;
    names text[];               -- of the result
    schema text;                -- of the result
    name text;
    twice text;
BEGIN
    IF missing IS NOT NULL THEN
        RAISE EXCEPTION 'argument "%" of neardup_pairs must not be null', missing USING ERRCODE = 'null_value_not_allowed';
    END IF;
    IF design NOT IN ('auto', 'join', 'classes', 'keys') THEN
        RAISE EXCEPTION 'there is no design "%"', design
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Designs are auto, join, classes and keys.';
    END IF;

    -- raises an error for a threshold that the measure does not have
    SELECT quote_ident(nspname) INTO neardup FROM pg_extension e JOIN pg_namespace s ON s.oid = extnamespace WHERE extname = 'neardup';
    EXECUTE format('SELECT %1$s.near_duplicate(s, s, $1, $2) FROM %1$s.signature_from(''{1}''::bigint[]) s', neardup) USING threshold, measure;
    IF measure IN ('containment', 'contains') THEN
        RAISE EXCEPTION 'measure "%" depends on which one of two signatures comes first', measure
            USING ERRCODE = 'feature_not_supported',
                  HINT = 'Join the table with itself: SELECT ... FROM docs a JOIN docs b ON contained_in(a.sig, b.sig, 0.9).';
    END IF;
    bounds := format('%L::float8, %L::text', threshold, measure);
    EXECUTE format('SELECT %s._neardup_measure($1, $2, $3, $4)', neardup) INTO similarity USING neardup, measure, 'a.sig'::text, 'b.sig'::text;
    is_near := format('%s.near_duplicate(a.sig, b.sig, %s)', neardup, bounds);

    SELECT relname, format('%I.%I', nspname, relname) INTO source_name, source_table
    FROM pg_class c JOIN pg_namespace s ON s.oid = relnamespace WHERE c.oid = source;
    IF source_name IS NULL THEN
        RAISE EXCEPTION 'there is no table with OID %', source::oid USING ERRCODE = 'undefined_table';
    END IF;
    SELECT atttypid INTO id_type FROM pg_attribute WHERE attrelid = source AND attname = id AND NOT attisdropped;
    SELECT atttypid INTO sig_type FROM pg_attribute WHERE attrelid = source AND attname = sig AND NOT attisdropped;
    EXECUTE format('SELECT %s._neardup_operator($1, ''<'')', neardup) INTO id_less USING id_type;
    IF id_type IS NOT NULL AND id_less IS NULL THEN
        RAISE EXCEPTION 'column "%" of "%" is of type %, which has no order', id, source_name, id_type
            USING ERRCODE = 'datatype_mismatch', DETAIL = 'Of a pair of rows the one with the lesser id comes first.',
                  HINT = 'Take a column of another type, or a view that has the id as text.';
    ELSIF id_type IS NULL OR sig_type IS NULL THEN
        RAISE EXCEPTION '"%" has no column "%"', source_name, CASE WHEN id_type IS NULL THEN id ELSE sig END
            USING ERRCODE = 'undefined_column', HINT = 'For an expression create a generated column, or a view.';
    END IF;
    -- accept a domain over signature
    base := sig_type;
    WHILE (SELECT typtype = 'd' FROM pg_type WHERE oid = base) LOOP
        base := (SELECT typbasetype FROM pg_type WHERE oid = base);
    END LOOP;
    IF base <> to_regtype(neardup || '.signature') THEN
        RAISE EXCEPTION 'column "%" of "%" is of type %, not signature', sig, source_name, sig_type
            USING ERRCODE = 'datatype_mismatch', HINT = 'Make a generated column: sig signature GENERATED ALWAYS AS (shingles(body)) STORED.';
    END IF;

    -- Always qualify the result's name: otherwise a temporary table of that name would be found first.
    BEGIN
        names := parse_ident(result);
    EXCEPTION WHEN invalid_parameter_value THEN
        RAISE EXCEPTION 'invalid name of the result: "%"', result
            USING ERRCODE = 'invalid_name',
                  HINT = 'It is the name of a table, with or without its schema.  Put one that is not a plain word into double quotes.';
    END;
    IF cardinality(names) > 3 THEN
        RAISE EXCEPTION 'improper qualified name (too many dotted names): %', result USING ERRCODE = 'syntax_error';
    ELSIF cardinality(names) = 3 AND names[1] <> current_database() THEN
        RAISE EXCEPTION 'cross-database references are not implemented: %', result USING ERRCODE = 'feature_not_supported';
    END IF;
    result := names[cardinality(names)];
    schema := CASE WHEN cardinality(names) > 1 THEN names[cardinality(names) - 1] ELSE creation_schema END;
    IF schema IS NULL THEN
        RAISE EXCEPTION 'no schema has been selected to create in' USING ERRCODE = 'undefined_schema';
    END IF;

    IF to_regclass('pg_catalog.pg_dist_partition') IS NOT NULL THEN
        SELECT quote_ident(column_to_column_name(logicalrelid, partkey)) INTO place
        FROM pg_dist_partition WHERE logicalrelid = source AND partmethod = 'h';
    END IF;
    place := coalesce(place, '');
    IF design = 'auto' AND place = '' THEN
        design := 'join';
    END IF;

    -- The parser would truncate longer names.
    FOREACH name IN ARRAY names || CASE WHEN design <> 'join' THEN ARRAY[result || '_rows', result || '_members'] END LOOP
        IF octet_length(name) > current_setting('max_identifier_length')::int THEN
            RAISE EXCEPTION 'name "%" is too long', name
                USING ERRCODE = 'name_too_long',
                      DETAIL = format('A name has %s bytes at most; names of intermediate tables are the result''s name and an ending.',
                                      current_setting('max_identifier_length')),
                      HINT = 'Give the result a shorter name, and rename it afterwards.';
        END IF;
    END LOOP;
    schema := CASE to_regnamespace(quote_ident(schema)) WHEN pg_my_temp_schema() THEN 'pg_temp' ELSE quote_ident(schema) END;

    -- An id of two rows would give a pair twice.  Check that on one server; on several all
    -- ids would have to travel.  IS DISTINCT FROM NULL, as a composite value with a null field
    -- is not NOT NULL.
    IF place = '' THEN
        EXECUTE format('SELECT format(''%%s'', %1$I) FROM %2$s WHERE %1$I IS DISTINCT FROM NULL AND %3$I IS NOT NULL '
                       'GROUP BY %1$I HAVING count(*) > 1 ORDER BY %1$I LIMIT 1', id, source_table, sig) INTO twice;
    END IF;
    IF twice IS NOT NULL THEN
        RAISE EXCEPTION 'ids are not unique'
            USING ERRCODE = 'unique_violation', DETAIL = format('Several rows of "%s" have %I = %s.', source_name, id, twice),
                  HINT = 'Take a column that has another value in each row.';
    END IF;

    IF design <> 'join' THEN
        EXECUTE format('SELECT %s._neardup_pairs_of_sets($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)', neardup) INTO design
            USING neardup, source_table, quote_ident(id), id_type, quote_ident(sig), place, bounds, similarity, is_near, measure <> 'shared', schema, result, design;
        RETURN design;
    END IF;
    EXECUTE format('SELECT %s._neardup_pairs_table($1, $2, $3, $4, $5)', neardup)
        USING '', format('%s.%I', schema, result), CASE place WHEN '' THEN '' ELSE quote_literal('a') END, 'a, b, similarity',
              format('SELECT a.id AS a, b.id AS b, %1$s AS similarity FROM (SELECT %2$I AS id, %3$I AS sig FROM %4$s) a '
                     'JOIN (SELECT %2$I AS id, %3$I AS sig FROM %4$s) b ON %5$s AND a.id %6$s b.id',
                     similarity, id, sig, source_table, is_near, id_less);
    RETURN design;
END
$$;
COMMENT ON FUNCTION _neardup_pairs(regclass, name, name, double precision, text, text, text, text) IS 'function of neardup_pairs()';

-- The body is parsed here: the search path decides only where the result is created.
CREATE PROCEDURE neardup_pairs(source regclass, id name, sig name, threshold double precision,
                               result text, measure text = 'jaccard', INOUT design text = 'auto')
    LANGUAGE sql
BEGIN ATOMIC
    SELECT _neardup_pairs(source, id, sig, threshold, result, measure, design, pg_catalog.current_schema());
END;
COMMENT ON PROCEDURE neardup_pairs(regclass, name, name, double precision, text, text, text) IS 'creates a table of all pairs of near-duplicates of a table, which may be distributed';
