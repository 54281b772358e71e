
-- merging of groups

CREATE FUNCTION near_duplicate_groups_merge_script(groups regclass, conflicts text = 'error') RETURNS SETOF text
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    schema CONSTANT name := (SELECT n.nspname FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
                             WHERE e.extname = 'neardup');
    p record;
    -- who goes for whom, and the table of it; the rows of both as d and r
    log text;
    pairs text;
    f record;
    u record;
    n bigint;
    tables text[];
    kept text[] := '{}';
    moved text[] := '{}';
BEGIN
    IF groups IS NULL OR conflicts IS NULL THEN
        RAISE EXCEPTION 'arguments of near_duplicate_groups_merge_script() must not be null' USING ERRCODE = 'null_value_not_allowed';
    ELSIF conflicts NOT IN ('error', 'delete', 'keep') THEN
        RAISE EXCEPTION 'treatment of conflicts is not known: "%"', conflicts
            USING ERRCODE = 'invalid_parameter_value', HINT = 'It is error, delete or keep.';
    END IF;
    EXECUTE format('SELECT * FROM %I._near_duplicate_groups_parts($1)', schema) INTO p USING groups;
    log := regexp_replace(p.notes, '_changed("?)$', '_merged\1');
    pairs := format('%%s JOIN %1$s d ON d.%2$I %3$s m.id JOIN %1$s r ON r.%2$I %3$s m.representative',
                    p.relation, p.arguments[2], p.same);
    tables := ARRAY[p.relation::text];
    -- foreign keys to the table, to a partition, or to a table that has it as partition
    FOR f IN SELECT c.conrelid::regclass AS name, c.conrelid, c.conkey, c.conname,
                    string_agg(format('d.%I OPERATOR(%I.%s) t.%I', k.attname, s.nspname, o.oprname, a.attname), ' AND ' ORDER BY x.n) AS matches,
                    string_agg(format('%I = r.%I', a.attname, k.attname), ', ' ORDER BY x.n) AS sets,
                    array_agg(k.attname ORDER BY x.n) AS keys
             FROM pg_constraint c, unnest(c.conkey, c.confkey, c.conpfeqop) WITH ORDINALITY AS x(referencing, referenced, equal, n)
             JOIN pg_operator o ON o.oid = x.equal JOIN pg_namespace s ON s.oid = o.oprnamespace,
             pg_attribute a, pg_attribute k
             WHERE c.contype = 'f' AND c.conparentid = 0
                 AND (c.confrelid = p.relation OR c.confrelid IN (SELECT relid FROM pg_partition_tree(p.relation))
                      OR c.confrelid IN (SELECT relid FROM pg_partition_ancestors(p.relation)))
                 AND a.attrelid = c.conrelid AND a.attnum = x.referencing AND k.attrelid = c.confrelid AND k.attnum = x.referenced
             GROUP BY c.oid, c.conrelid, c.conkey, c.conname ORDER BY c.conrelid::regclass::text, c.conname LOOP
        tables := tables || f.name::text;
        FOR u IN SELECT i.indexrelid::regclass AS name, i.indexprs IS NOT NULL OR i.indpred IS NOT NULL OR i.indisexclusion AS unknown,
                        string_agg(CASE WHEN a.attnum = ANY (f.conkey) THEN format('CASE WHEN m.id IS NULL THEN t.%1$I ELSE r.%2$I END', a.attname,
                                        f.keys[array_position(f.conkey, a.attnum)]) ELSE format('t.%I', a.attname) END, ', ' ORDER BY x.n) AS columns,
                        CASE WHEN i.indnullsnotdistinct THEN 'true' ELSE string_agg(format('t.%I IS NOT NULL', a.attname), ' AND ' ORDER BY x.n) END AS given
                 FROM pg_index i, unnest(i.indkey::int2[]) WITH ORDINALITY AS x(attnum, n)
                 LEFT JOIN pg_attribute a ON a.attrelid = f.conrelid AND a.attnum = x.attnum
                 WHERE i.indrelid = f.conrelid AND (i.indisunique OR i.indisexclusion) AND i.indkey::int2[] && f.conkey AND x.n <= i.indnkeyatts
                 GROUP BY i.indexrelid, i.indexprs, i.indpred, i.indisexclusion, i.indnullsnotdistinct ORDER BY i.indexrelid::regclass::text LOOP
            IF u.unknown THEN
                RETURN NEXT format('-- %s has the unique index %s on an expression, on some rows, or of a constraint: merging may break it.', f.name, u.name);
                CONTINUE;
            END IF;
            EXECUTE format('SELECT count(*) FROM (%s) t WHERE n > 1', format(
                'SELECT row_number() OVER (PARTITION BY %s) AS n FROM %s t LEFT JOIN (%s) ON %s AND NOT m.id %s m.representative WHERE %s',
                u.columns, f.name, format(pairs, groups || ' m'), f.matches, p.same, u.given)) INTO n;
            CONTINUE WHEN n = 0;
            RETURN NEXT format('-- %s rows of %s would break its unique index %s, as rows of one group become equal. Delete them '
                '(conflicts => ''delete''), or do not merge the rows that they belong to (conflicts => ''keep'').', n, f.name, u.name);
            IF conflicts = 'delete' THEN
                moved := moved || format('DELETE FROM %1$s x USING (SELECT t.tableoid AS part, t.ctid AS place, row_number() OVER (PARTITION BY %2$s ORDER BY m.id IS NOT NULL, t.ctid) AS n '
                    'FROM %1$s t LEFT JOIN (%3$s) ON %4$s AND m.merged_at = now() WHERE %5$s) y WHERE x.tableoid = y.part AND x.ctid = y.place AND y.n > 1;',
                    f.name, u.columns, format(pairs, log || ' m'), f.matches, u.given);
            ELSIF conflicts = 'keep' THEN
                kept := kept || format('DELETE FROM %1$s l USING (SELECT m.id, row_number() OVER (PARTITION BY %2$s ORDER BY m.id IS NOT NULL, t.ctid) AS n '
                    'FROM %3$s t LEFT JOIN (%4$s) ON %5$s AND m.merged_at = now() WHERE %6$s) y WHERE l.id %7$s y.id AND y.n > 1 AND l.merged_at = now();',
                    log, u.columns, f.name, format(pairs, log || ' m'), f.matches, u.given, p.same);
            END IF;
        END LOOP;
        moved := moved || format('UPDATE %s t SET %s FROM %s WHERE %s AND m.merged_at = now();', f.name, f.sets, format(pairs, log || ' m'), f.matches);
    END LOOP;
    RETURN NEXT 'BEGIN;';
    -- the table first, as a transaction adds a row before rows that refer to it
    RETURN NEXT format('LOCK TABLE %s IN SHARE ROW EXCLUSIVE MODE;',
                       (SELECT string_agg(t, ', ' ORDER BY t <> tables[1], t) FROM (SELECT DISTINCT unnest(tables)) AS locked (t)));
    RETURN NEXT format('CALL %I.near_duplicate_groups_refresh(%L);', schema, groups);
    IF to_regclass(log) IS NULL THEN
        RETURN NEXT format('CREATE TABLE IF NOT EXISTS %1$s (id %2$s, representative %2$s, merged_at timestamptz NOT NULL);', log, p.id);
    END IF;
    RETURN NEXT format('INSERT INTO %s SELECT g.id, g.representative, now() FROM %s g WHERE NOT g.id %s g.representative;', log, groups, p.same);
    RETURN QUERY SELECT unnest(kept || moved);
    RETURN NEXT format('DELETE FROM %s d USING %s m WHERE d.%I %s m.id AND m.merged_at = now();', p.relation, log, p.arguments[2], p.same);
    RETURN NEXT format('CALL %I.near_duplicate_groups_refresh(%L);', schema, groups);
    RETURN NEXT 'COMMIT;';
END
$$;
COMMENT ON FUNCTION near_duplicate_groups_merge_script(regclass, text)
    IS 'statements that point foreign keys to the representatives of kept groups, and delete the other rows';

-- The caller's search path stays for triggers, so names are qualified.
CREATE PROCEDURE near_duplicate_groups_merge(groups regclass, conflicts text = 'error')
    LANGUAGE plpgsql
AS $$
DECLARE
    statements text[];
    statement text;
BEGIN
    EXECUTE pg_catalog.format('SELECT ARRAY(SELECT %I.near_duplicate_groups_merge_script($1, $2))', (
        SELECT n.nspname FROM pg_catalog.pg_extension e JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) e.extnamespace
        WHERE e.extname OPERATOR(pg_catalog.=) 'neardup')) INTO statements USING groups, conflicts;
    FOREACH statement IN ARRAY statements LOOP
        CONTINUE WHEN statement OPERATOR(pg_catalog.=) ANY ('{BEGIN;,COMMIT;}');
        IF pg_catalog.starts_with(statement, '--') THEN
            IF conflicts OPERATOR(pg_catalog.=) 'error' AND pg_catalog.strpos(statement, ' would break ') OPERATOR(pg_catalog.>) 0 THEN
                RAISE EXCEPTION 'merging groups % would break a unique index', groups
                    USING ERRCODE = 'unique_violation', DETAIL = pg_catalog.substr(statement, 4),
                          HINT = 'near_duplicate_groups_merge_script() shows all statements.';
            END IF;
            CONTINUE;
        END IF;
        EXECUTE statement;
    END LOOP;
END
$$;
COMMENT ON PROCEDURE near_duplicate_groups_merge(regclass, text)
    IS 'points foreign keys to the representatives of kept groups, and deletes the other rows';
