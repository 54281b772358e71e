--
-- Words from a text-search configuration
--

SELECT shingles('english'::regconfig, 'The foxes are jumping', 1)::bigint[] = shingles('fox jump', 1)::bigint[] AS stems;
SELECT shingles('english'::regconfig, ''), shingles('english'::regconfig, 'the and of');
SELECT describe(shingles('english'::regconfig, 'one two three four', 2));
SELECT shingles('english'::regconfig, 'a', 0);
SELECT shingles('nosuch'::regconfig, 'a');
SELECT shingles(0::oid::regconfig, 'a');
-- The spec depends on the name, quoted where needed, and not on the OID
CREATE SCHEMA "Sch ema";
CREATE TEXT SEARCH CONFIGURATION "Sch ema"."my Config" (COPY = pg_catalog.simple);
SELECT describe(shingles('"Sch ema"."my Config"'::regconfig, 'one two', 2));
SELECT shingles('"Sch ema"."my Config"'::regconfig, 'one two three')::text AS before \gset
DROP SCHEMA "Sch ema" CASCADE;
CREATE SCHEMA "Sch ema";
CREATE TEXT SEARCH CONFIGURATION "Sch ema"."my Config" (COPY = pg_catalog.simple);
SELECT shingles('"Sch ema"."my Config"'::regconfig, 'one two three')::text = :'before' AS same;
-- nor on a setting that quotes all names
SET quote_all_identifiers = on;
SELECT shingles('"Sch ema"."my Config"'::regconfig, 'one two three')::text = :'before' AS same,
       shingles('english'::regconfig, 'a')::text AS english;
RESET quote_all_identifiers;
SELECT shingles('english'::regconfig, 'a')::text AS english;
-- nor on the keywords, which differ between versions of PostgreSQL
CREATE TEXT SEARCH CONFIGURATION "Sch ema"."user" (COPY = pg_catalog.simple);
CREATE TEXT SEARCH CONFIGURATION "Sch ema"."1""2" (COPY = pg_catalog.simple);
SELECT shingles('"Sch ema"."user"'::regconfig, 'a')::text AS keyword, shingles('"Sch ema"."1""2"'::regconfig, 'a')::text AS quoted;
SET client_min_messages = warning;
DROP SCHEMA "Sch ema" CASCADE;
RESET client_min_messages;
-- A word with several base forms is the sum of them
CREATE TEXT SEARCH DICTIONARY forms (TEMPLATE = ispell, DictFile = ispell_sample, AffFile = ispell_sample);
CREATE TEXT SEARCH CONFIGURATION forms (COPY = simple);
ALTER TEXT SEARCH CONFIGURATION forms ALTER MAPPING FOR asciiword WITH forms, simple;
SELECT ts_lexize('forms', 'unbookings'), ts_lexize('forms', 'booking');
-- XXH3 of XXH3('booking') + XXH3('book'), computed elsewhere
SELECT shingles('forms'::regconfig, 'Booking', 1);
DROP TEXT SEARCH CONFIGURATION forms;
DROP TEXT SEARCH DICTIONARY forms;
-- More words than PostgreSQL counts positions, more text than a block
SELECT cardinality(shingles('simple'::regconfig, string_agg('w' || n, ' ' ORDER BY n), 2)::bigint[]) AS pairs,
       shingles('simple'::regconfig, string_agg('w' || n, ' ' ORDER BY n), 2)::bigint[] =
       shingles(string_agg('w' || n, ' ' ORDER BY n), 2)::bigint[] AS same
FROM generate_series(1, 50000) n;
-- hyphenated words have more parts than characters; the whole is too long a word
SET client_min_messages = warning;
SELECT cardinality(shingles('simple'::regconfig, string_agg(chr(97 + n % 26), '-' ORDER BY n), 1)::bigint[]) AS letters
FROM generate_series(1, 60000) n;
-- a word longer than any block
SELECT cardinality(shingles('simple'::regconfig, repeat('x', 200000), 1)::bigint[]) AS none;
RESET client_min_messages;
