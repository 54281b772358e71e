--
-- test/bench/plan_grid.sql
--		The tables of plan_grid: signatures of 10,000, 100,000 and all documents,
--		taken at random, with both indexes, and those of 1 and 100 of them.
--
-- Portions Copyright (c) 2026, the neardup developers
--
CREATE TABLE picked AS SELECT id, row_number() OVER (ORDER BY hashint4(id), id) AS n FROM docs;
CREATE INDEX ON picked (id);
ANALYZE picked;

CREATE FUNCTION grid_call(method text) RETURNS text LANGUAGE sql IMMUTABLE
RETURN CASE method WHEN 'sets' THEN 'shingles(body)' WHEN 'vectors' THEN 'weighted_words(body)'
       WHEN 'minhashes' THEN 'minhash(body)' WHEN 'simhashes' THEN 'simhash(body)'
       WHEN 'samples' THEN 'bottom(body, 100)' WHEN 'supershingles' THEN 'supershingles(body)' END;

CREATE PROCEDURE make_grid_tables(method text) LANGUAGE plpgsql AS $$
DECLARE
  size int;
  few int;
  name text;
BEGIN
  FOREACH size IN ARRAY '{10000,100000,1000000}'::int[] LOOP
    name := format('%s_%s', method, size);
    EXECUTE format('CREATE TABLE %I AS SELECT id, %s AS sig FROM docs JOIN picked USING (id) WHERE n <= %s ORDER BY id',
                   name, grid_call(method), size);
    EXECUTE format('CREATE INDEX %I ON %I USING neardup (sig)', name || '_near', name);
    -- GIN is for sets and sketches
    IF method <> 'vectors' THEN
      EXECUTE format('CREATE INDEX %I ON %I USING gin (sig) WITH (fastupdate = off)', name || '_gin', name);
    END IF;
    FOREACH few IN ARRAY '{1,100}'::int[] LOOP
      EXECUTE format('CREATE TABLE %I AS SELECT s.* FROM %I s JOIN picked USING (id) WHERE n <= %s',
                     name || '_' || few, name, few);
      EXECUTE format('ANALYZE %I', name || '_' || few);
    END LOOP;
    EXECUTE format('ANALYZE %I', name);
  END LOOP;
END $$;

CREATE PROCEDURE drop_grid_tables(method text) LANGUAGE plpgsql AS $$
DECLARE
  size int;
BEGIN
  FOREACH size IN ARRAY '{10000,100000,1000000}'::int[] LOOP
    EXECUTE format('DROP TABLE %1$s_%2$s, %1$s_%2$s_1, %1$s_%2$s_100', method, size);
  END LOOP;
END $$;
