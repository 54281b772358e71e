
-- evaluation

CREATE FUNCTION f_measure("precision" double precision, recall double precision,
                          beta double precision = 1) RETURNS double precision
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION f_measure(double precision, double precision, double precision) IS 'F of precision and recall; recall counts beta times as much';

CREATE TYPE pair_figures AS (
    found bigint, true_pairs bigint, correct bigint,
    "precision" double precision, recall double precision, f double precision,
    highest_false_match double precision, lowest_true_match double precision,
    separation double precision
);
COMMENT ON TYPE pair_figures IS 'quality of found pairs';

CREATE FUNCTION pair_evaluation_add(bytea, boolean, boolean, double precision) RETURNS bytea
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION pair_evaluation_add(bytea, boolean, boolean, double precision) IS 'transition function of pair_evaluation';

CREATE FUNCTION pair_evaluation_combine(bytea, bytea) RETURNS bytea
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION pair_evaluation_combine(bytea, bytea) IS 'combine function of pair_evaluation';

CREATE FUNCTION pair_evaluation_final(bytea) RETURNS pair_figures
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION pair_evaluation_final(bytea) IS 'final function of pair_evaluation';

CREATE AGGREGATE pair_evaluation(found boolean, correct boolean, similarity double precision) (
    SFUNC = pair_evaluation_add, STYPE = bytea, SSPACE = 48,
    FINALFUNC = pair_evaluation_final, FINALFUNC_MODIFY = READ_ONLY,
    COMBINEFUNC = pair_evaluation_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE pair_evaluation(boolean, boolean, double precision) IS 'precision, recall, F, highest false match and separation of pairs';

CREATE TYPE cluster_figures AS (
    items bigint, found_clusters bigint, true_clusters bigint,
    adjusted_rand double precision,
    bcubed_precision double precision, bcubed_recall double precision,
    bcubed_f double precision
);
COMMENT ON TYPE cluster_figures IS 'quality of found clusters';

CREATE FUNCTION cluster_evaluation_add(internal, "any", "any") RETURNS internal
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cluster_evaluation_add(internal, "any", "any") IS 'transition function of cluster_evaluation';

CREATE FUNCTION cluster_evaluation_final(internal) RETURNS cluster_figures
    AS 'MODULE_PATHNAME'
    LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cluster_evaluation_final(internal) IS 'final function of cluster_evaluation';

-- No partial aggregation: a state has all items.
CREATE AGGREGATE cluster_evaluation(found "any", truth "any") (
    SFUNC = cluster_evaluation_add, STYPE = internal,
    FINALFUNC = cluster_evaluation_final, FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cluster_evaluation("any", "any") IS 'adjusted Rand index and B-cubed of clusters';

CREATE FUNCTION _neardup_check_query(argument text, query text, columns text[]) RETURNS void
    AS 'MODULE_PATHNAME', 'neardup_check_query'
    LANGUAGE C STABLE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION _neardup_check_query(text, text, text[]) IS 'function of evaluate_methods(): raises an error unless a text is one query with these columns';

CREATE FUNCTION _neardup_check_expression(argument text, expression text) RETURNS void
    AS 'MODULE_PATHNAME', 'neardup_check_expression'
    LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION _neardup_check_expression(text, text) IS 'function of evaluate_methods(): raises an error unless a text is one expression';

-- The SET clause restores the search path at the end.
CREATE FUNCTION _neardup_run(statement text, path text) RETURNS double precision
    LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    start CONSTANT timestamptz := clock_timestamp();
BEGIN
    PERFORM set_config('search_path', path, true);
    EXECUTE statement;
    PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
    RETURN 1000 * extract(epoch FROM clock_timestamp() - start);
END
$$;
COMMENT ON FUNCTION _neardup_run(text, text) IS 'function of evaluate_methods(): runs a statement with a search path, and returns milliseconds';

CREATE FUNCTION _neardup_evaluation_begin(neardup text, documents text, truth text, condition text, path text,
                                          OUT less text, OUT equal text)
    LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    run CONSTANT text := format('SELECT %s._neardup_run($1, $2)', neardup);
    operators CONSTANT text := format('SELECT %1$s._neardup_operator($1, ''<''), %1$s._neardup_operator($1, ''='')', neardup);
    refused text;               -- an id
    types regtype[];            -- of id, id1 and id2
    common regtype;
    common_equal text;
BEGIN
    documents := rtrim(documents, E'; \t\r\n\x0B\f');
    truth := rtrim(truth, E'; \t\r\n\x0B\f');
    EXECUTE run USING format('SELECT %s._neardup_check_expression(''condition'', %L)', neardup, condition), path;
    EXECUTE run USING format('SELECT %s._neardup_check_query(''documents'', %L, ''{id}'')', neardup, documents), path;
    EXECUTE run USING format('SELECT %s._neardup_check_query(''truth'', %L, ''{id1,id2}'')', neardup, truth), path;
    EXECUTE run USING format(E'CREATE TEMP TABLE neardup_documents AS SELECT * FROM (%s\n) d', documents), path;
    EXECUTE run USING format(E'CREATE TEMP TABLE neardup_given AS SELECT id1, id2 FROM (%s\n) t', truth), path;

    -- A composite id with a null field is distinct from null, but not NOT NULL.
    EXECUTE 'SELECT ''null'' FROM pg_temp.neardup_documents WHERE id IS NOT DISTINCT FROM NULL LIMIT 1' INTO refused;
    IF refused IS NOT NULL THEN
        RAISE EXCEPTION 'id of a row of query "documents" is null'
            USING ERRCODE = 'null_value_not_allowed', HINT = 'Leave such rows out of the query, or give them an id.';
    END IF;
    EXECUTE 'SELECT format(''%s'', id) FROM pg_temp.neardup_documents GROUP BY id HAVING count(*) > 1 ORDER BY id LIMIT 1' INTO refused;
    IF refused IS NOT NULL THEN
        RAISE EXCEPTION 'id % of query "documents" is not unique', refused
            USING ERRCODE = 'unique_violation', HINT = 'Each document has an id of its own.';
    END IF;
    CREATE UNIQUE INDEX ON pg_temp.neardup_documents (id);

    types := ARRAY(SELECT atttypid FROM pg_attribute
                   WHERE attrelid IN (to_regclass('pg_temp.neardup_documents'), to_regclass('pg_temp.neardup_given'))
                     AND attname IN ('id', 'id1', 'id2') ORDER BY attrelid = to_regclass('pg_temp.neardup_given'), attname);
    EXECUTE operators INTO less, equal USING types[1];
    BEGIN
        EXECUTE format('SELECT pg_typeof(coalesce(NULL::%s, NULL::%s, NULL::%s))', VARIADIC types) INTO common;
        EXECUTE operators INTO common_equal, common_equal USING common;
    EXCEPTION WHEN datatype_mismatch OR cannot_coerce THEN
        NULL;
    END;
    IF common_equal IS NULL THEN
        RAISE EXCEPTION 'ids of the queries "documents" and "truth" cannot be compared'
            USING ERRCODE = 'datatype_mismatch', DETAIL = format('Column "id" is of type %s, "id1" of type %s, "id2" of type %s.', VARIADIC types),
                  HINT = 'Cast them to one type in one of the queries.';
    END IF;
    -- The lesser id comes first, as in pairs that are found.
    EXECUTE run USING format(E'CREATE TEMP TABLE neardup_truth AS SELECT DISTINCT a.id AS id1, b.id AS id2 '
                             'FROM pg_temp.neardup_given g, LATERAL (VALUES (g.id1, g.id2), (g.id2, g.id1)) t (id1, id2) '
                             'JOIN pg_temp.neardup_documents a ON CAST(a.id AS %1$s) %2$s CAST(t.id1 AS %1$s) '
                             'JOIN pg_temp.neardup_documents b ON CAST(b.id AS %1$s) %2$s CAST(t.id2 AS %1$s) '
                             'WHERE a.id %3$s b.id AND (%4$s\n)',
                             -- its name in the catalog: "character" would be one of length 1
                             (SELECT format('%I.%I', nspname, typname) FROM pg_type t JOIN pg_namespace s ON s.oid = typnamespace WHERE t.oid = common),
                             common_equal, less, condition), path;
    ANALYZE pg_temp.neardup_truth;
END
$$;
COMMENT ON FUNCTION _neardup_evaluation_begin(text, text, text, text, text) IS 'function of evaluate_methods(): creates tables of the documents and of the true pairs, and returns operators of ids';

-- Each method is an expression that makes a signature of a document.  A table of signatures
-- is joined with itself.  neardup_found has numbers of pairs by similarity, all and true
-- ones; each threshold counts those that reach it.  For evaluate_methods(), where best is
-- null, all pairs count at the only threshold.
--
-- Statements with texts of the caller run with the caller's search path.  It may have
-- operators of other users, so all other names in these statements are qualified.
CREATE FUNCTION _neardup_evaluate(documents text, truth text, methods text[], thresholds double precision[], condition text,
                                  measures text[], best text, ties text, path text,
                                  OUT method text, OUT measure text, OUT threshold double precision,
                                  OUT signatures bigint, OUT bytes double precision,
                                  OUT true_pairs bigint, OUT found bigint, OUT correct bigint,
                                  OUT recall double precision, OUT "precision" double precision, OUT f double precision,
                                  OUT wrong_per_document double precision,
                                  OUT highest_false_match double precision, OUT separation double precision,
                                  OUT make_ms double precision, OUT find_ms double precision) RETURNS SETOF record
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET extra_float_digits = 1
AS $$
DECLARE
    neardup CONSTANT text := (SELECT quote_ident(nspname) FROM pg_extension e JOIN pg_namespace s ON s.oid = extnamespace WHERE extname = 'neardup');
    run CONSTANT text := format('SELECT %s._neardup_run($1, $2)', neardup);
    sweep CONSTANT boolean := best IS NOT NULL;
    best_condition CONSTANT text := CASE best
        WHEN 'left' THEN 'f.rank OPERATOR(pg_catalog.>=) a.best'
        WHEN 'right' THEN 'f.rank OPERATOR(pg_catalog.>=) b.best'
        WHEN 'either' THEN 'f.rank OPERATOR(pg_catalog.>=) LEAST(a.best, b.best)'
        WHEN 'reciprocal' THEN 'f.rank OPERATOR(pg_catalog.>=) GREATEST(a.best, b.best)' END;
    n CONSTANT int := cardinality(methods);
    what text;
    given int;
    less text;
    equal text;
    at double precision[];      -- thresholds of the method
    value text;
    near text;
    pairs text;                 -- queries of the pairs found, and of the true ones among them
    correct_pairs text;
BEGIN
    -- one dimension, counted from 1
    methods := ARRAY(SELECT unnest(methods));
    thresholds := ARRAY(SELECT unnest(thresholds));
    measures := ARRAY(SELECT unnest(measures));
    IF array_position(methods, NULL) IS NOT NULL OR array_position(thresholds, NULL) IS NOT NULL OR array_position(measures, NULL) IS NOT NULL THEN
        RAISE EXCEPTION 'methods, thresholds and measures must not be null' USING ERRCODE = 'null_value_not_allowed';
    ELSIF sweep AND thresholds = '{}' THEN
        RAISE EXCEPTION 'there are no thresholds' USING ERRCODE = 'invalid_parameter_value', HINT = 'Give one or more, such as ''{0.5, 0.8}''.';
    ELSIF best <> '' AND best_condition IS NULL THEN
        RAISE EXCEPTION 'argument "best" cannot be "%"', best
            USING ERRCODE = 'invalid_parameter_value', HINT = 'It is left, right, either or reciprocal, or empty, which leaves all pairs.';
    ELSIF ties <> '' AND best = '' THEN
        RAISE EXCEPTION 'argument "ties" has no use without "best"'
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Say whose best matches count: best => ''left'', ''right'', ''either'' or ''reciprocal''.';
    END IF;
    IF ties <> '' THEN
        EXECUTE run USING format('SELECT %s._neardup_check_expression(''ties'', %L)', neardup, ties), path;
    END IF;
    FOR what, given IN VALUES ('measures', cardinality(measures)), ('thresholds', CASE WHEN sweep THEN 1 ELSE cardinality(thresholds) END) LOOP
        IF given NOT IN (1, n) THEN
            RAISE EXCEPTION 'there are % % for % methods', given, what, n
                USING ERRCODE = 'invalid_parameter_value', HINT = 'Give one for each method, or one for all.';
        END IF;
    END LOOP;
    -- raises an error for a measure that does not exist, or a threshold that it does not have
    EXECUTE format('SELECT count(%1$s.near_duplicate(s, s, t, m)) FROM %1$s.signature_from(''{1}''::bigint[]) s, '
                   'unnest($1) WITH ORDINALITY t (t, i), unnest($2) WITH ORDINALITY m (m, j) WHERE i = j OR $3 OR cardinality($1) = 1 OR cardinality($2) = 1', neardup)
        INTO given USING thresholds, measures, sweep;

    EXECUTE format('SELECT * FROM %s._neardup_evaluation_begin($1, $2, $3, $4, $5)', neardup) INTO less, equal USING neardup, documents, truth, condition, path;
    FOR i IN 1 .. n LOOP
        method := methods[i];
        measure := measures[CASE cardinality(measures) WHEN 1 THEN 1 ELSE i END];
        at := CASE WHEN sweep THEN thresholds ELSE ARRAY[thresholds[CASE cardinality(thresholds) WHEN 1 THEN 1 ELSE i END]] END;
        EXECUTE run USING format('SELECT %s._neardup_check_expression(''methods'', %L)', neardup, method), path;
        EXECUTE run INTO make_ms
            USING format(E'CREATE TEMP TABLE neardup_signatures AS SELECT *, (%s\n)::%s.signature AS neardup_signature FROM pg_temp.neardup_documents', method, neardup), path;
        ANALYZE pg_temp.neardup_signatures;

        EXECUTE format('SELECT %s._neardup_measure($1, $2, $3, $4)', neardup) INTO value USING neardup, measure, 'a.neardup_signature'::text, 'b.neardup_signature'::text;
        -- a method's own rule ignores the threshold: its pairs reach the greatest one
        IF sweep AND measure = 'jaccard' THEN
            value := format('CASE WHEN %s.near_duplicate(a.neardup_signature, b.neardup_signature, 1::pg_catalog.float8) THEN 1::pg_catalog.float8 ELSE %s END', neardup, value);
        END IF;
        near := format('%s.near_duplicate(a.neardup_signature, b.neardup_signature, %s::pg_catalog.float8, %L::pg_catalog.text)',
                       neardup, (SELECT min(t) FROM unnest(at) t), measure);
        pairs := format(E'SELECT a.id AS id1, b.id AS id2, %s AS similarity%s FROM pg_temp.neardup_signatures a JOIN pg_temp.neardup_signatures b '
                        'ON %s AND a.id %s b.id AND (%s\n)',
                        value, CASE WHEN ties <> '' THEN format(E', COALESCE((%s\n)::pg_catalog.float8, ''-Infinity'') AS tie', ties) END, near, less, condition);
        -- the true pairs among them, which are few
        correct_pairs := format('SELECT %s AS similarity FROM pg_temp.neardup_truth t JOIN pg_temp.neardup_signatures a ON a.id %2$s t.id1 '
                                'JOIN pg_temp.neardup_signatures b ON b.id %2$s t.id2 WHERE %3$s', value, equal, near);
        IF NOT sweep THEN
            EXECUTE run INTO find_ms USING format('CREATE TEMP TABLE neardup_pairs AS %s', pairs), path;
            pairs := 'TABLE pg_temp.neardup_pairs';
        ELSIF best <> '' THEN
            -- a document's best are all pairs that reach its greatest similarity and, among these, the greatest `ties`
            EXECUTE run USING format('CREATE TEMP TABLE neardup_pairs AS WITH f AS MATERIALIZED (SELECT p.*, %s AS rank FROM (%s) p), best AS (SELECT m.id, pg_catalog.max(m.best) AS best FROM ('
                                     'SELECT f.id1 AS id, pg_catalog.max(f.rank) AS best FROM f GROUP BY f.id1 UNION ALL SELECT f.id2, pg_catalog.max(f.rank) FROM f GROUP BY f.id2) m GROUP BY m.id) '
                                     'SELECT f.* FROM f JOIN best a ON a.id %3$s f.id1 JOIN best b ON b.id %3$s f.id2 WHERE %4$s',
                                     CASE WHEN ties <> '' THEN 'ARRAY[p.similarity, p.tie]' ELSE 'p.similarity' END, pairs, equal, best_condition), path;
            pairs := 'TABLE pg_temp.neardup_pairs';
            correct_pairs := format('SELECT f.similarity FROM pg_temp.neardup_pairs f JOIN pg_temp.neardup_truth t ON f.id1 %1$s t.id1 AND f.id2 %1$s t.id2', equal);
        END IF;
        EXECUTE run USING format('CREATE TEMP TABLE neardup_found AS SELECT s.similarity, pg_catalog.sum(s.found) AS found, pg_catalog.sum(s.correct) AS correct FROM ('
                                 'SELECT p.similarity, pg_catalog.count(*) AS found, 0 AS correct FROM (%s) p GROUP BY p.similarity UNION ALL '
                                 'SELECT p.similarity, 0, pg_catalog.count(*) FROM (%s) p GROUP BY p.similarity) s GROUP BY s.similarity',
                                 pairs, correct_pairs), path;
        RETURN QUERY EXECUTE
            'SELECT $1, $2, c.threshold, s.signatures, s.bytes, t.true_pairs, c.found, c.correct, '
            'c.correct / nullif(t.true_pairs, 0)::float8, c.correct / nullif(c.found, 0)::float8, 2 * c.correct / nullif(c.found + t.true_pairs, 0)::float8, '
            '(c.found - c.correct) / nullif(s.documents, 0)::float8, c.highest_false, c.lowest_true - c.highest_false, $5, $6 '
            'FROM (SELECT t.i, t.threshold, coalesce(sum(p.found), 0)::bigint AS found, coalesce(sum(p.correct), 0)::bigint AS correct, '
            'max(p.similarity) FILTER (WHERE p.found > p.correct) AS highest_false, min(p.similarity) FILTER (WHERE p.correct > 0) AS lowest_true '
            'FROM unnest($3) WITH ORDINALITY t (threshold, i) LEFT JOIN pg_temp.neardup_found p ON p.similarity >= t.threshold OR NOT $4 GROUP BY t.i, t.threshold) c, '
            '(SELECT count(*) AS documents, count(neardup_signature) AS signatures, avg(pg_column_size(neardup_signature))::float8 AS bytes FROM pg_temp.neardup_signatures) s, '
            '(SELECT count(*) AS true_pairs FROM pg_temp.neardup_truth) t ORDER BY c.i'
            USING method, measure, at, sweep, make_ms, find_ms;
        EXECUTE format('DROP TABLE pg_temp.neardup_signatures, pg_temp.neardup_found%s', CASE WHEN NOT sweep OR best <> '' THEN ', pg_temp.neardup_pairs' END);
    END LOOP;
    DROP TABLE pg_temp.neardup_documents, pg_temp.neardup_given, pg_temp.neardup_truth;
END
$$;
COMMENT ON FUNCTION _neardup_evaluate(text, text, text[], double precision[], text, text[], text, text, text) IS 'function of evaluate_methods() and evaluate_thresholds()';

-- Unsafe in parallel, since it creates temporary tables.  The body is parsed here, and only
-- passes the caller's search path.
CREATE FUNCTION evaluate_methods(documents text, truth text, methods text[],
                                 thresholds double precision[] = '{0.8}', condition text = 'true',
                                 measures text[] = '{jaccard}',
                                 OUT method text, OUT threshold double precision,
                                 OUT signatures bigint, OUT bytes double precision,
                                 OUT found bigint, OUT correct bigint,
                                 OUT recall double precision, OUT "precision" double precision,
                                 OUT f double precision,
                                 OUT highest_false_match double precision, OUT separation double precision,
                                 OUT true_pairs bigint,
                                 OUT make_ms double precision, OUT find_ms double precision) RETURNS SETOF record
    LANGUAGE sql VOLATILE STRICT PARALLEL UNSAFE COST 100000 ROWS 10
BEGIN ATOMIC
    SELECT e.method, e.threshold, e.signatures, e.bytes, e.found, e.correct, e.recall, e."precision", e.f,
           e.highest_false_match, e.separation, e.true_pairs, e.make_ms, e.find_ms
    FROM _neardup_evaluate(documents, truth, methods, thresholds, condition, measures, NULL, '', pg_catalog.current_setting('search_path')) e;
END;
COMMENT ON FUNCTION evaluate_methods(text, text, text[], double precision[], text, text[]) IS 'recall, precision, F and time of methods on documents whose near-duplicates are known';

CREATE FUNCTION evaluate_thresholds(documents text, truth text, methods text[],
                                    thresholds double precision[] = '{0.05,0.1,0.15,0.2,0.25,0.3,0.35,0.4,0.45,0.5,0.55,0.6,0.65,0.7,0.75,0.8,0.85,0.9,0.95,1}',
                                    condition text = 'true', measures text[] = '{similarity}',
                                    best text = '', ties text = '',
                                    OUT method text, OUT measure text, OUT threshold double precision,
                                    OUT true_pairs bigint, OUT found bigint, OUT correct bigint, OUT wrong bigint,
                                    OUT recall double precision, OUT "precision" double precision,
                                    OUT f double precision, OUT wrong_per_document double precision) RETURNS SETOF record
    LANGUAGE sql VOLATILE STRICT PARALLEL UNSAFE COST 100000 ROWS 20
BEGIN ATOMIC
    SELECT e.method, e.measure, e.threshold, e.true_pairs, e.found, e.correct, e.found - e.correct, e.recall, e."precision", e.f, e.wrong_per_document
    FROM _neardup_evaluate(documents, truth, methods, thresholds, condition, measures, best, ties, pg_catalog.current_setting('search_path')) e;
END;
COMMENT ON FUNCTION evaluate_thresholds(text, text, text[], double precision[], text, text[], text, text) IS 'recall and precision of methods at many thresholds, with signatures made once';
