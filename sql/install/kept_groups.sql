
-- kept groups

-- The functions run as the owner of the table, by kept_groups_run() in C, as they compute its
-- expressions.  The search path is pg_catalog: other names are qualified in the statements that
-- they make, also objects of this extension, whose schema is known at run time only.

-- Arguments: table of groups, key, signature, threshold, measure, rule, refresh, columns of the
-- scope, columns that an index on an expression reads.
CREATE FUNCTION near_duplicate_groups_note() RETURNS trigger
    AS 'MODULE_PATHNAME', 'kept_groups_note'
    LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION near_duplicate_groups_note() IS 'trigger function that notes changed rows of a table with kept groups';

-- What keeps a table of groups, which dumps have as the arguments of a trigger, and parts of
-- statements: the schema of this extension; the table of notes; type and equality of ids; the rows
-- of the grouped table as d (id, sig, s1, s2, ...), where s1, s2, ... are the scope
CREATE FUNCTION _near_duplicate_groups_parts(groups regclass, OUT relation regclass, OUT arguments text[], OUT schema text,
                                             OUT notes text, OUT id text, OUT same text, OUT "rows" text, OUT scope text, OUT apart text)
    LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    note oid;
    within text[];
    signature text;
    condition text;
BEGIN
    SELECT quote_ident(n.nspname), p.oid INTO schema, note
    FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace JOIN pg_proc p ON p.pronamespace = n.oid
    WHERE e.extname = 'neardup' AND p.proname = 'near_duplicate_groups_note' AND p.pronargs = 0;
    SELECT t.tgrelid, a.arguments INTO relation, arguments
    FROM pg_depend d JOIN pg_trigger t ON t.oid = d.objid JOIN pg_class c ON c.oid = t.tgrelid,
         LATERAL (SELECT array_agg(convert_from(decode(m.m[1], 'hex'), getdatabaseencoding()) ORDER BY m.n) AS arguments
                  FROM regexp_matches(encode(t.tgargs, 'hex'), '((?:..)*?)00', 'g') WITH ORDINALITY AS m(m, n)) a
    WHERE d.refclassid = 'pg_proc'::regclass AND d.refobjid = note AND d.classid = 'pg_trigger'::regclass
        AND t.tgparentid = 0 AND t.tgtype & 1 = 1 AND to_regclass(a.arguments[1]) = groups
        AND to_regclass(nullif(a.arguments[10], '')) IS DISTINCT FROM t.tgrelid
        AND c.relowner = (SELECT relowner FROM pg_class WHERE oid = groups);
    IF groups IS NULL THEN
        RAISE EXCEPTION 'table of groups must not be null' USING ERRCODE = 'null_value_not_allowed';
    ELSIF (SELECT relowner FROM pg_class WHERE oid = groups) <> (SELECT oid FROM pg_roles WHERE rolname = current_user) THEN
        RAISE EXCEPTION 'groups % are kept by another role', groups
            USING ERRCODE = 'insufficient_privilege',
                  HINT = format('SET ROLE %I', (SELECT pg_get_userbyid(relowner) FROM pg_class WHERE oid = groups));
    ELSIF relation IS NULL THEN
        RAISE EXCEPTION 'table % has no groups that are kept', groups
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  DETAIL = 'No trigger of a table of the same owner has its name.',
                  HINT = 'Call near_duplicate_groups_create(), or drop the table if its groups were kept once.';
    END IF;
    SELECT format('%I.%I', n.nspname, c.relname || '_changed'), format_type(a.atttypid, a.atttypmod),
           format('OPERATOR(%I.%s)', s.nspname, o.oprname)
    INTO notes, id, same
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'id'
    JOIN pg_index i ON i.indrelid = c.oid AND i.indisprimary AND i.indnkeyatts = 1 AND i.indkey[0] = a.attnum
    JOIN pg_opclass k ON k.oid = i.indclass[0]
    JOIN pg_amop p ON p.amopfamily = k.opcfamily AND p.amoplefttype = k.opcintype
        AND p.amoprighttype = k.opcintype AND p.amopstrategy = 3
    JOIN pg_operator o ON o.oid = p.amopopr JOIN pg_namespace s ON s.oid = o.oprnamespace
    WHERE c.oid = groups;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'table % has no primary key "id"', groups
            USING ERRCODE = 'object_not_in_prerequisite_state', HINT = format('ALTER TABLE %s ADD PRIMARY KEY (id)', groups);
    END IF;
    -- an index on an expression, or on some rows
    IF arguments[9] <> '{}' THEN
        SELECT pg_get_indexdef(i.indexrelid, k.n::int, false), ' WHERE ' || pg_get_expr(i.indpred, i.indrelid)
        INTO STRICT signature, condition
        FROM pg_class c JOIN pg_index i ON i.indexrelid = c.oid, unnest(i.indclass) WITH ORDINALITY AS k(class, n)
        WHERE i.indrelid = relation AND c.relname = arguments[3]
            AND (SELECT opcintype FROM pg_opclass WHERE oid = k.class) = (schema || '.signature')::regtype;
    END IF;
    apart := (SELECT format('SELECT %s FROM %s', string_agg(quote_ident(attname), ', ' ORDER BY attnum), attrelid::regclass)
              FROM pg_attribute WHERE attrelid = to_regclass(nullif(arguments[10], '')) AND attnum IN (1, 2) GROUP BY attrelid);
    within := arguments[8];
    scope := (SELECT coalesce(string_agg(', d.s' || n, '' ORDER BY n), '') FROM generate_subscripts(within, 1) n);
    "rows" := format('(SELECT %I, %s%s FROM %s%s%s) AS d (id, sig%s)', arguments[2], coalesce(signature, quote_ident(arguments[3])),
                     (SELECT string_agg(', ' || quote_ident(name), '' ORDER BY n) FROM unnest(within) WITH ORDINALITY AS w(name, n)),
                     CASE (SELECT relkind FROM pg_class WHERE oid = relation) WHEN 'p' THEN '' ELSE 'ONLY ' END,
                     relation, condition, replace(scope, 'd.', ''));
END
$$;
COMMENT ON FUNCTION _near_duplicate_groups_parts(regclass) IS 'function of near_duplicate_groups_refresh(): what keeps a table of groups, and parts of statements';

-- Partitions come, with rows that have no notes, and go, with rows whose end has no note.  Each known
-- one has the trigger for statements, which PostgreSQL does not copy from the parent, and a row in the notes.
CREATE FUNCTION _near_duplicate_groups_partitions(groups regclass) RETURNS void
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    schema CONSTANT name := (SELECT n.nspname FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
                             WHERE e.extname = 'neardup');
    p record;
    root pg_trigger;
    part regclass;
    has_trigger boolean;
    gone boolean;
    twice text;
BEGIN
    EXECUTE format('SELECT * FROM %I._near_duplicate_groups_parts($1)', schema) INTO p USING groups;
    SELECT t.* INTO STRICT root FROM pg_trigger t JOIN pg_class c ON c.oid = groups
    WHERE t.tgrelid = p.relation AND t.tgname = c.relname || '_changed';
    FOR part, has_trigger IN EXECUTE format('
        SELECT relid::regclass, EXISTS (SELECT FROM pg_trigger t WHERE t.tgrelid = relid AND t.tgname = $2 AND t.tgfoid = $3) AS has_trigger
        FROM pg_partition_tree($1) WHERE isleaf AND NOT EXISTS (SELECT FROM %s WHERE state = ''partition '' || relid::regclass)',
        p.notes) USING p.relation, root.tgname, root.tgfoid LOOP
        IF NOT has_trigger THEN
            EXECUTE replace(pg_get_triggerdef(root.oid), format(' ON %s FOR ', p.relation), format(' ON %s FOR ', part));
        END IF;
        EXECUTE format('INSERT INTO %s SELECT %I, NULL FROM %s UNION ALL SELECT NULL, %L',
                       p.notes, p.arguments[2], part, 'partition ' || part);
    END LOOP;
    EXECUTE format('WITH gone AS (DELETE FROM %s WHERE state LIKE ''partition %%'' AND state <> ALL (ARRAY(
            SELECT ''partition '' || relid::regclass FROM pg_partition_tree($1) WHERE isleaf)) RETURNING true)
        SELECT EXISTS (SELECT FROM gone)', p.notes) INTO gone USING p.relation;
    IF gone THEN
        EXECUTE format('INSERT INTO %s SELECT g.id FROM %s g WHERE NOT EXISTS (SELECT FROM %s WHERE d.id %s g.id)',
                       p.notes, groups, p."rows", p.same);
    END IF;
    -- a unique index over all partitions need not exist
    EXECUTE format('SELECT d.id::text FROM (SELECT DISTINCT id FROM %s WHERE state IS NULL) c JOIN %s ON d.id %s c.id
        GROUP BY d.id HAVING count(*) > 1 LIMIT 1', p.notes, p."rows", p.same) INTO twice;
    IF twice IS NOT NULL THEN
        RAISE EXCEPTION 'key % comes twice in table %', twice, p.relation
            USING ERRCODE = 'unique_violation', HINT = 'The key of a row with a group is unique over all partitions.';
    END IF;
END
$$;
COMMENT ON FUNCTION _near_duplicate_groups_partitions(regclass) IS 'function of near_duplicate_groups_refresh(): notes rows of partitions that came or went';

-- Statements of a refresh, in the order of RefreshStatement in kept_refresh.c, which prepares them once per session
CREATE FUNCTION _near_duplicate_groups_statements(groups regclass, OUT notes regclass, OUT statements text[])
    LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    schema CONSTANT name := (SELECT n.nspname FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
                             WHERE e.extname = 'neardup');
    p record;
    a text[];
BEGIN
    EXECUTE format('SELECT * FROM %I._near_duplicate_groups_parts($1)', schema) INTO p USING groups;
    a := p.arguments;
    notes := p.notes::regclass;
    statements := ARRAY[
        -- read: what the statements depend on
        concat('SELECT d.* FROM ', p."rows", ' WHERE EXISTS (' || p.apart || ')'),
        -- lock
        format('UPDATE %s SET state = ''lock'' WHERE state = ''lock''', p.notes),
        -- first
        format('INSERT INTO %s (state) VALUES (''lock'')', p.notes),
        -- partitions
        CASE (SELECT relkind FROM pg_class WHERE oid = p.relation)
            WHEN 'p' THEN format('SELECT %I._near_duplicate_groups_partitions(%L)', schema, groups) END,
        -- take: members of a representative that was changed are decided again; if the rule is connected, all of the component.
        -- What is to be decided does not come back to the notes: one transaction's dead rows would be read by each of its refreshes.
        format('
            WITH noted AS (DELETE FROM %1$s WHERE state IS NULL RETURNING id),
            changed AS (SELECT DISTINCT id FROM noted WHERE id IS NOT NULL),
            lost AS (SELECT DISTINCT g.representative FROM %2$s g JOIN changed c ON g.id %3$s c.id %4$s),
            decided AS (SELECT id, false AS is_member FROM changed
                UNION ALL
                SELECT g.id, true FROM %2$s g JOIN lost l ON g.representative %3$s l.representative
                WHERE NOT EXISTS (SELECT FROM changed c WHERE c.id %3$s g.id)),
            gone AS (DELETE FROM %2$s g USING decided t WHERE g.id %3$s t.id)
            (SELECT NULL AS id, false FROM noted WHERE id IS NULL LIMIT 1) UNION ALL SELECT id, is_member FROM decided',
            p.notes, groups, p.same, CASE a[6] WHEN 'greedy' THEN format('AND g.representative %s g.id', p.same) END),
        -- whole
        format('
            DELETE FROM %1$s;
            INSERT INTO %1$s SELECT g.id, g.representative, g.similarity
            FROM %2$s.near_duplicate_groups(NULL::%3$s, %4$L, %5$L::pg_catalog.float8, %6$L, %7$L, %8$L) g',
            groups, p.schema, p.id, 'SELECT d.* FROM ' || p."rows", a[4], a[5], a[6], p.apart),
        -- add
        format('
            WITH added AS MATERIALIZED (SELECT a.id, a.representative, a.similarity FROM %1$s.near_duplicate_groups_add(
                NULL::%2$s, %3$L, %4$L, %5$L::pg_catalog.float8, %6$L, %7$L, %11$L) a)%8$s
            INSERT INTO %9$s AS g SELECT * FROM added ON CONFLICT (id) DO %10$s',
            p.schema, p.id,
            format('SELECT d.* FROM %s._near_duplicate_groups_taken(NULL::%s) c JOIN %s ON d.id %s c.id ORDER BY c.is_member DESC',
                   p.schema, p.id, p."rows", p.same),
            format('SELECT g.id, d.sig, g.representative, g.similarity%1$s FROM %3$s, LATERAL (SELECT * FROM %2$s g WHERE g.id %4$s d.id OFFSET 0) g '
                   'WHERE %5$s.near_duplicate(d.sig, $1, %6$L, %7$L) AND NOT g.id %4$s ANY (ARRAY(SELECT c.id FROM %8$s c WHERE c.state IS NULL))',
                   p.scope, groups, p."rows", p.same, p.schema, a[4], a[5], p.notes),
            a[4], a[5], a[6],
            CASE a[6] WHEN 'connected' THEN format(
                ', renamed AS (UPDATE %s g SET representative = a.representative FROM added a WHERE g.representative %s a.id)',
                groups, p.same) END,
            groups,
            CASE a[6] WHEN 'connected' THEN 'NOTHING'
                ELSE 'UPDATE SET representative = excluded.representative, similarity = excluded.similarity' END,
            p.apart)];
END
$$;
COMMENT ON FUNCTION _near_duplicate_groups_statements(regclass) IS 'function of near_duplicate_groups_refresh(): its statements';

CREATE FUNCTION _near_duplicate_groups_taken_support(internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'kept_groups_taken_support'
    LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION _near_duplicate_groups_taken_support(internal) IS 'function of the planner: how many rows _near_duplicate_groups_taken() returns';

CREATE FUNCTION _near_duplicate_groups_taken(id_type anyelement, OUT id anyelement, OUT is_member boolean) RETURNS SETOF record
    AS 'MODULE_PATHNAME', 'kept_groups_taken'
    LANGUAGE C STABLE PARALLEL RESTRICTED SUPPORT _near_duplicate_groups_taken_support;
COMMENT ON FUNCTION _near_duplicate_groups_taken(anyelement) IS 'function of near_duplicate_groups_refresh(): the rows that it decides';

CREATE FUNCTION _near_duplicate_groups_refresh(groups regclass, whole boolean) RETURNS void
    AS 'MODULE_PATHNAME', 'kept_groups_refresh'
    LANGUAGE C VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp;
COMMENT ON FUNCTION _near_duplicate_groups_refresh(regclass, boolean) IS 'function of near_duplicate_groups_refresh(), with the rights of the owner';

CREATE PROCEDURE near_duplicate_groups_refresh(groups regclass, whole boolean = false)
    AS 'MODULE_PATHNAME', 'kept_groups_run'
    LANGUAGE C;
COMMENT ON PROCEDURE near_duplicate_groups_refresh(regclass, boolean) IS 'brings kept groups up to date with the rows that have changed, or makes all anew';

CREATE FUNCTION _near_duplicate_groups_check(groups regclass) RETURNS bigint
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    schema CONSTANT name := (SELECT n.nspname FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
                             WHERE e.extname = 'neardup');
    p record;
    a text[];
    wrong bigint;
BEGIN
    EXECUTE format('SELECT * FROM %I._near_duplicate_groups_parts($1)', schema) INTO p USING groups;
    a := p.arguments;
    -- the order lets the rule elect the representatives that there are
    EXECUTE format(CASE a[6] WHEN 'greedy' THEN '
        SELECT count(*) FROM %1$s g FULL JOIN %2$s o ON g.id %3$s o.id
        WHERE g.representative IS NULL OR o.representative IS NULL
            OR g.similarity IS DISTINCT FROM o.similarity
            OR NOT g.representative %3$s o.representative AND NOT EXISTS (
                -- another one that is as near
                SELECT FROM %1$s r, %4$s, (SELECT id, sig FROM %4$s) AS near
                WHERE r.id %3$s g.representative AND r.representative %3$s r.id AND d.id %3$s g.id AND near.id %3$s r.id
                    AND %5$s.near_duplicate(d.sig, near.sig, least(g.similarity, 1), %6$L))'
        ELSE '
        SELECT count(*) FROM (
            SELECT first_value(g.id) OVER (PARTITION BY g.representative ORDER BY g.id) AS kept,
                   first_value(o.id) OVER (PARTITION BY o.representative ORDER BY o.id) AS made,
                   EXISTS (SELECT FROM %1$s r WHERE r.id %3$s g.representative AND r.representative %3$s r.id) AS named
            FROM %1$s g FULL JOIN %2$s o ON g.id %3$s o.id) AS both_groups
        WHERE (kept %3$s made AND named) IS NOT TRUE' END,
        groups, format('%s.near_duplicate_groups(NULL::%s, %L, %L::pg_catalog.float8, %L, %L, %L)', p.schema, p.id,
            format('SELECT d.* FROM %1$s LEFT JOIN %2$s g ON g.id %3$s d.id ORDER BY NOT g.representative %3$s g.id, d.id',
                   p."rows", groups, p.same), a[4], a[5], a[6], p.apart),
        p.same, p."rows", p.schema, a[5]) INTO wrong;
    RETURN wrong;
END
$$;
COMMENT ON FUNCTION _near_duplicate_groups_check(regclass) IS 'function of near_duplicate_groups_check(), with the rights of the owner';

CREATE FUNCTION near_duplicate_groups_check(groups regclass) RETURNS bigint
    AS 'MODULE_PATHNAME', 'kept_groups_run'
    LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION near_duplicate_groups_check(regclass) IS 'number of rows of kept groups that are not as they should be';

-- What forbids to keep groups, and the way out
CREATE FUNCTION _near_duplicate_groups_refuse(groups text, relation regclass, key name, signature name, threshold double precision,
                                              measure text, rule text, within name[], refresh text, apart regclass, fill boolean,
                                              OUT code text, OUT message text, OUT detail text, OUT hint text)
    LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    c CONSTANT pg_class := (SELECT c FROM pg_class c WHERE c.oid = relation);
    a CONSTANT pg_attribute := (SELECT a FROM pg_attribute a WHERE a.attrelid = relation AND a.attname = key AND a.attnum > 0);
    schema CONSTANT text := (SELECT quote_ident(n.nspname) FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
                             WHERE e.extname = 'neardup');
    column_number CONSTANT int := (SELECT attnum FROM pg_attribute WHERE attrelid = relation AND attname = signature
                                   AND attnum > 0 AND atttypid = (schema || '.signature')::regtype);
    unknown CONSTANT name := (SELECT w FROM unnest(within) w WHERE NOT EXISTS (
        SELECT FROM pg_attribute WHERE attrelid = relation AND attname = w AND attnum > 0 AND attgenerated <> 'v') LIMIT 1);
    primary_key CONSTANT text := (SELECT format('Name the primary key "%s", or ', k.attname) FROM pg_index i JOIN pg_attribute k
                                  ON k.attrelid = i.indrelid AND k.attnum = i.indkey[0] WHERE i.indrelid = relation AND i.indisprimary AND i.indnkeyatts = 1);
    served boolean;
    answers text;
BEGIN
    IF num_nulls(groups, key, signature, threshold, measure, rule, within, refresh, fill) > 0 THEN
        RAISE EXCEPTION 'arguments of near_duplicate_groups_create() must not be null' USING ERRCODE = 'null_value_not_allowed';
    END IF;
    EXECUTE format('SELECT coalesce(bool_or(answer LIKE ''yes%%''), false), string_agg(format(''Index "%%s": %%s.'', name, answer), '' '') FROM (
            SELECT x.relname, %s.neardup_explain_index(x.oid, $1, $2) FROM pg_index i JOIN pg_class x ON x.oid = i.indexrelid JOIN pg_am m ON m.oid = x.relam
            WHERE i.indrelid = $3 AND i.indisvalid AND m.amname IN (''gin'', ''neardup'')
                AND (x.relname = $4 OR i.indpred IS NULL AND EXISTS (SELECT FROM pg_depend WHERE classid = ''pg_class''::regclass
                     AND objid = x.oid AND refobjid = $3 AND refobjsubid = $5))) AS indexes (name, answer)', schema)
        INTO served, answers USING threshold, measure, relation, CASE WHEN column_number IS NULL THEN signature END, column_number;
    -- no index holds dense vectors, method 27: their rows are joined; without a row, the measure tells that they come
    IF NOT served AND measure = 'cosine' AND column_number IS NOT NULL AND c.relkind IN ('r', 'p')
        AND c.relowner = (SELECT oid FROM pg_roles WHERE rolname = current_user) THEN
        EXECUTE format('SELECT coalesce((SELECT get_byte(%1$I::bytea, 1) = 27 FROM %2$s WHERE %1$I IS NOT NULL LIMIT 1), true)', signature, relation) INTO served;
    END IF;
    SELECT r.code, r.message, r.detail, r.hint INTO code, message, detail, hint FROM (VALUES
        (c.relowner <> (SELECT oid FROM pg_roles WHERE rolname = current_user), 'insufficient_privilege',
         format('table "%s" belongs to another role', relation), 'Its expressions are computed with the rights of its owner.', format('SET ROLE %I', pg_get_userbyid(c.relowner))),
        (c.relkind NOT IN ('r', 'p'), 'wrong_object_type', format('"%s" is not a table', relation),
         'Triggers note the rows that change.',
         'Keep the groups of the table that has the texts.'),
        (c.relpersistence = 't', 'wrong_object_type', format('"%s" is a temporary table', relation), 'Its groups would be one, too.',
         'Call near_duplicate_groups() as often as you need its groups.'),
        (c.relkind = 'r' AND EXISTS (SELECT FROM pg_inherits WHERE inhparent = relation), 'wrong_object_type',
         format('tables inherit from "%s"', relation), 'Triggers are not inherited.', 'Use declarative partitions.'),
        (a.attnum IS NULL, 'undefined_column', format('column "%s" of relation "%s" does not exist', key, relation),
         'It is the key of the rows.', 'Name a column of the table.'),
        (NOT a.attnotnull, 'invalid_column_definition', format('key "%s" of table "%s" may be null', key, relation), 'The groups have it as primary key.',
         concat(primary_key, format('ALTER TABLE %s ALTER %I SET NOT NULL', relation, key))),
        (NOT EXISTS (SELECT FROM pg_index i JOIN pg_class x ON x.oid = i.indexrelid JOIN pg_am m ON m.oid = x.relam
                     WHERE i.indrelid = relation AND i.indisvalid AND i.indpred IS NULL AND i.indkey[0] = a.attnum AND m.amname = 'btree'
                         AND (i.indisunique AND i.indnkeyatts = 1 OR c.relkind = 'p')), 'object_not_in_prerequisite_state',
         format('table "%s" has no unique index on its key "%s"', relation, key),
         'Groups are a table with the key as primary key, whose type has to have an order.',
         concat(primary_key, format('CREATE UNIQUE INDEX ON %s (%I)', relation, key))),
        (unknown IS NOT NULL, 'undefined_column', format('column "%s" of relation "%s" does not exist, or is virtual', unknown, relation),
         'It is named as a column of the scope.', 'Name columns of the table.'),
        (NOT served, 'object_not_in_prerequisite_state',
         format('table "%s" has no index that serves %s %s of %s', relation, measure, threshold,
                CASE WHEN column_number IS NULL THEN 'its expression' ELSE quote_ident(signature) END),
         coalesce(answers, format('There is neither a column "%s" of type signature with an index, nor an index of that name.', signature)),
         CASE WHEN column_number IS NULL THEN format('Name a column of type signature, such as sig signature GENERATED ALWAYS AS (shingles(%I)) STORED, '
                                                     'with an index, or an index on such an expression.', signature)
             ELSE format('CREATE INDEX ON %s USING neardup (%I)', relation, signature) END),
        (rule NOT IN ('greedy', 'connected'), 'invalid_parameter_value', format('rule of groups is not known: "%s"', rule),
         'It decides which rows are a group.', 'The rules are greedy and connected.'),
        (refresh NOT IN ('deferred', 'immediate'), 'invalid_parameter_value', format('refresh of groups is not known: "%s"', refresh),
         'It says when changed rows are grouped.', 'It is deferred or immediate.'),
        (apart IS NOT NULL AND rule = 'connected', 'feature_not_supported', 'the rule connected does not keep rows apart',
         'A near-duplicate of both connects them.', 'Take the rule greedy.'),
        (NOT EXISTS (SELECT FROM pg_class t JOIN pg_attribute x ON x.attrelid = t.oid AND x.attnum = 1 AND x.atttypid = a.atttypid
                     JOIN pg_attribute y ON y.attrelid = t.oid AND y.attnum = 2 AND y.atttypid = a.atttypid
                     WHERE t.oid = apart AND t.relkind = 'r' AND t.relowner = c.relowner AND t.relpersistence = c.relpersistence)
         AND apart IS NOT NULL, 'wrong_object_type', format('"%s" is not a table of pairs of ids', apart),
         'Its first two columns have the type of the key, and it has the same owner.',
         format('CREATE TABLE not_same (a %1$s NOT NULL, b %1$s NOT NULL)', a.atttypid::regtype)),
        (current_setting('transaction_isolation') NOT LIKE 'read %', 'feature_not_supported',
         'groups cannot be created at isolation level ' || current_setting('transaction_isolation'),
         'Rows that were committed since the transaction began would be missed.', 'Use READ COMMITTED.'))
        AS r (is_refused, code, message, detail, hint) WHERE is_refused LIMIT 1;
END
$$;
COMMENT ON FUNCTION _near_duplicate_groups_refuse(text, regclass, name, name, double precision, text, text, name[], text, regclass, boolean)
    IS 'function of near_duplicate_groups_create(): the error if groups cannot be kept';

CREATE FUNCTION _near_duplicate_groups_create(groups text, relation regclass, key name, signature name, threshold double precision,
                                              measure text, rule text, within name[], refresh text, apart regclass, fill boolean) RETURNS void
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    schema CONSTANT name := (SELECT n.nspname FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
                             WHERE e.extname = 'neardup');
    place CONSTANT name[] := parse_ident(groups);
    groups_name CONSTANT name := place[cardinality(place)];
    groups_schema CONSTANT name := (SELECT coalesce(place[cardinality(place) - 1], n.nspname) FROM pg_class c
                                    JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = relation);
    table_name CONSTANT text := format('%I.%I', groups_schema, groups_name);
    notes CONSTANT text := format('%I.%I', groups_schema, groups_name || '_changed');
    persistence CONSTANT text := (SELECT CASE relpersistence WHEN 'u' THEN 'UNLOGGED' END FROM pg_class WHERE oid = relation);
    column_type CONSTANT text := (SELECT format_type(a.atttypid, a.atttypmod) || CASE WHEN a.attcollation <> 0 THEN ' COLLATE ' || a.attcollation::regcollation ELSE '' END
                                  FROM pg_attribute a WHERE a.attrelid = relation AND a.attname = key);
    reads CONSTANT name[] := coalesce((SELECT array_agg(DISTINCT a.attname) FROM pg_class c JOIN pg_index i ON i.indexrelid = c.oid
        JOIN pg_depend d ON d.classid = 'pg_class'::regclass AND d.objid = c.oid JOIN pg_attribute a ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid
        WHERE c.relname = signature AND i.indrelid = relation AND d.refobjid = relation
            AND NOT EXISTS (SELECT FROM pg_attribute WHERE attrelid = relation AND attname = signature)), '{}');
    call CONSTANT text := format('EXECUTE FUNCTION %I.near_duplicate_groups_note(%L, %L, %L, %L, %L, %L, %L, %L, %L, %L)', schema,
                                 table_name, key, signature, threshold, measure, rule, refresh, within, reads, coalesce(apart::text, ''));
    watched regclass;
    refused record;
BEGIN
    EXECUTE format('SELECT * FROM %I._near_duplicate_groups_refuse($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)', schema) INTO refused
        USING groups, relation, key, signature, threshold, measure, rule, within, refresh, apart, fill;
    IF refused.code IS NOT NULL THEN
        RAISE EXCEPTION USING MESSAGE = refused.message, ERRCODE = refused.code, DETAIL = refused.detail, HINT = refused.hint;
    ELSIF octet_length(groups_name) > 55 THEN
        RAISE EXCEPTION 'name of groups is too long: "%"', groups_name USING ERRCODE = 'name_too_long', DETAIL = 'It has more than 55 bytes.';
    ELSIF to_regclass(table_name) IS NOT NULL THEN
        RAISE EXCEPTION 'relation "%" already exists', groups_name
            USING ERRCODE = 'duplicate_table', HINT = CASE WHEN EXISTS (SELECT FROM pg_trigger WHERE tgname = groups_name AND tgrelid = relation)
                THEN format('Drop its groups by near_duplicate_groups_drop(%L), or choose another name.', groups) ELSE 'Choose another name.' END;
    END IF;
    EXECUTE format('CREATE %s TABLE %s (id %s PRIMARY KEY, representative %s NOT NULL, similarity double precision)',
                   persistence, table_name, column_type, column_type);
    EXECUTE format('CREATE %s TABLE %s (id %s, state text) USING heap', persistence, notes, column_type);
    -- rows can be deleted if all tables are published
    EXECUTE format('ALTER TABLE %s REPLICA IDENTITY FULL', notes);
    EXECUTE format('COMMENT ON TABLE %s IS %L', table_name, 'groups of near-duplicates in ' || relation);
    EXECUTE format('COMMENT ON TABLE %s IS %L', notes, 'rows of ' || relation || ' that have changed since its groups were refreshed');
    FOREACH watched IN ARRAY array_remove(ARRAY[relation, apart], NULL) LOOP
        EXECUTE format('CREATE TRIGGER %I AFTER INSERT OR UPDATE OR DELETE ON %s FOR EACH ROW %s', groups_name, watched, call);
        EXECUTE format('CREATE TRIGGER %I AFTER TRUNCATE%s ON %s FOR EACH STATEMENT %s', groups_name || '_changed',
                       CASE refresh WHEN 'immediate' THEN ' OR INSERT OR UPDATE OR DELETE' END, watched, call);
    END LOOP;
    IF fill THEN
        EXECUTE format('SELECT %I._near_duplicate_groups_refresh($1, true)', schema) USING table_name::regclass;
    END IF;
    EXECUTE format('CREATE INDEX ON %s (representative)', table_name);
END
$$;
COMMENT ON FUNCTION _near_duplicate_groups_create(text, regclass, name, name, double precision, text, text, name[], text, regclass, boolean)
    IS 'function of near_duplicate_groups_create(), with the rights of the owner';

CREATE FUNCTION near_duplicate_groups_create(groups text, relation regclass, key name, signature name, threshold double precision,
                                             measure text = 'jaccard', rule text = 'greedy', within name[] = '{}',
                                             refresh text = 'deferred', apart regclass = NULL,
                                             fill boolean = true) RETURNS void
    AS 'MODULE_PATHNAME', 'kept_groups_run'
    LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION near_duplicate_groups_create(text, regclass, name, name, double precision, text, text, name[], text, regclass, boolean)
    IS 'makes a table of groups of near-duplicates that is kept up to date with a table';

CREATE FUNCTION _near_duplicate_groups_drop(groups regclass) RETURNS void
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    schema CONSTANT name := (SELECT n.nspname FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
                             WHERE e.extname = 'neardup');
    p record;
    made record;
BEGIN
    EXECUTE format('SELECT * FROM %I._near_duplicate_groups_parts($1)', schema) INTO p USING groups;
    -- a table that was a partition has one, too
    FOR made IN SELECT t.tgname, t.tgrelid::regclass FROM pg_trigger r JOIN pg_trigger t USING (tgfoid, tgargs)
             JOIN pg_class c ON c.oid = t.tgrelid
             WHERE r.tgrelid = p.relation AND r.tgname = (SELECT relname FROM pg_class WHERE oid = groups)
                 AND t.tgparentid = 0 AND c.relowner = (SELECT relowner FROM pg_class WHERE oid = groups) LOOP
        EXECUTE format('DROP TRIGGER %I ON %s', made.tgname, made.tgrelid);
    END LOOP;
    EXECUTE format('DROP TABLE %s, %s', groups, p.notes);
END
$$;
COMMENT ON FUNCTION _near_duplicate_groups_drop(regclass) IS 'function of near_duplicate_groups_drop(), with the rights of the owner';

CREATE FUNCTION near_duplicate_groups_drop(groups regclass) RETURNS void
    AS 'MODULE_PATHNAME', 'kept_groups_run'
    LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION near_duplicate_groups_drop(regclass) IS 'drops kept groups, and the triggers that kept them';
