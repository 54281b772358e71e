--
-- test/bench/long_documents.sql
--		Makes long documents of the corpus: a table "long" with signatures.
--
-- A document is three of 30 pieces of boilerplate (4 kB each: descriptions
-- of one hash class) and :pieces descriptions of its own choice, where :pieces
-- may depend on the number d of the document; every tenth is a copy of the one
-- before it with two of them exchanged, the 7th and the 57th.  Descriptions
-- are those of the table :source; there are :documents documents.
--
-- Portions Copyright (c) 2026, the neardup developers
--
CREATE TEMP TABLE numbered AS
SELECT row_number() OVER (ORDER BY md5(id::text)) - 1 AS n, body
FROM :source;
CREATE UNIQUE INDEX ON numbered (n);
ANALYZE numbered;
CREATE TEMP TABLE boilerplate AS
SELECT n % 30 AS n, string_agg(body, e'\n' ORDER BY n) AS body
FROM numbered WHERE n < 300 GROUP BY n % 30;
SELECT count(*) / 10000 * 10000 AS choices FROM numbered \gset

-- Own generator: the same documents everywhere
CREATE FUNCTION pick(doc int, place int) RETURNS bigint LANGUAGE sql IMMUTABLE
RETURN 300 + (('x' || substr(md5(doc || ' ' || place), 1, 8))::bit(32)::bigint
       & 2147483647) % :choices;
CREATE TABLE long AS
SELECT id,
       (SELECT string_agg(body, e'\n' ORDER BY n) FROM boilerplate
        WHERE n IN (id / 10 % 30, id / 10 * 7 % 30, id / 10 * 11 % 30))
       || e'\n' ||
       (SELECT string_agg(body, e'\n' ORDER BY place)
        FROM generate_series(1, :pieces) AS place
        JOIN numbered ON n = pick(CASE WHEN place IN (7, 57) THEN id ELSE d END,
                                  place)) AS body
FROM generate_series(1, :documents) AS id,
     LATERAL (VALUES (id - (id % 10 = 9)::int)) AS original (d);
ALTER TABLE long ADD sig signature GENERATED ALWAYS AS (shingles(body)) STORED;
VACUUM ANALYZE long;
DROP FUNCTION pick;
