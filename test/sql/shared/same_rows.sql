-- Rows of a query, as a number and a hash
CREATE FUNCTION rows_of(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    answer text;
BEGIN
    EXECUTE format('SELECT count(*) || '' '' || md5(coalesce(string_agg(q::text, '','' ORDER BY q::text), '''')) FROM (%s) q',
                   query) INTO answer;
    RETURN answer;
END $$;

-- Whether the join and the nested loop, which runs once for each query, have the same
-- rows; an error if the plan is not that of test.plan
CREATE TABLE truth (query text, rows text);
CREATE FUNCTION same_rows(query text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    workers text := current_setting('max_parallel_workers_per_gather');
    joined text;
    looped text;
    plan text;
BEGIN
    PERFORM set_config('enable_nestloop', 'off', true);
    EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
    IF plan !~ current_setting('test.plan') THEN
        RAISE EXCEPTION 'another plan: % %', query, plan;
    END IF;
    joined := rows_of(query);
    SELECT t.rows INTO looped FROM truth t WHERE t.query = same_rows.query;
    IF NOT FOUND THEN
        PERFORM set_config('neardup.enable_join', 'off', true);
        PERFORM set_config('enable_nestloop', 'on', true);
        PERFORM set_config('max_parallel_workers_per_gather', '0', true);
        EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
        IF plan ~ 'SimilarityJoin' THEN
            RAISE EXCEPTION 'no nested loop: %', query;
        END IF;
        looped := rows_of(query);
        PERFORM set_config('neardup.enable_join', 'on', true);
        PERFORM set_config('max_parallel_workers_per_gather', workers, true);
        INSERT INTO truth VALUES (query, looped);
    END IF;
    IF joined <> looped THEN
        RAISE NOTICE '% instead of %: %', joined, looped, query;
    END IF;
    RETURN joined = looped;
END $$;
CREATE FUNCTION same_rows(algorithm text, query text) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('neardup.join_algorithm', algorithm, true);
    RETURN same_rows(query);
END $$;
