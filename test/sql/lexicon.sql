--
-- The datatype lexicon: its aggregate, arithmetic, bounds and look-ups
--

CREATE TABLE rose (id int, body text);
INSERT INTO rose VALUES (1, 'A rose is a rose is a rose'), (2, 'a flower'),
    (3, ''), (4, NULL), (5, 'Roses are red');

-- All documents count but NULL
SELECT lexicon_agg(body) AS lexicon FROM rose;
SELECT (lexicon_describe(lexicon_agg(body))).* FROM rose;
SELECT lexicon_describe(lexicon_agg(body, 'english stop html')) FROM rose;
SELECT analysis ~ '^config=[0-9a-f]{8}$' AS configured, documents, words, length, df_error, cf_error
FROM (SELECT (lexicon_describe(lexicon_agg('pg_catalog.english'::regconfig, body))).* FROM rose) d;
SELECT lexicon_agg(body) IS NULL AS none FROM rose WHERE body IS NULL;

-- df and cf of a word, idf = log(N/df), ridf = idf + log(1 - exp(-cf/N))
SELECT * FROM word_statistics('A rose, a red rose: what is a rose?',
                              (SELECT lexicon_agg(body) FROM rose));
SELECT w.word, w.df, round((w.idf - ln(4.0 / w.df))::numeric, 15) AS idf_off,
       round((w.ridf - ln(4.0 / w.df) - ln(1 - exp(-w.cf / 4.0)))::numeric, 15) AS ridf_off
FROM word_statistics('a flower is a rose', (SELECT lexicon_agg(body) FROM rose)) w;
-- many words, in order of their first occurrence, however often they occur
SELECT count(*) AS words, bool_and((w.word, w.tf, w.n) IS NOT DISTINCT FROM (o.word, o.tf, o.n)) AS same
FROM (SELECT string_agg('w' || i * i % n, ' ' ORDER BY i) AS doc FROM generate_series(1, 5000) i, (VALUES (7), (1000), (99991)) v (n) GROUP BY n) d,
     LATERAL (SELECT word, tf, row_number() OVER () AS n FROM word_statistics(doc, (SELECT lexicon_agg(body) FROM rose))) w
     FULL JOIN LATERAL (SELECT word, count(*)::int AS tf, row_number() OVER (ORDER BY min(place)) AS n
                        FROM string_to_table(doc, ' ') WITH ORDINALITY t (word, place) GROUP BY word) o USING (word);
SELECT word, w.*
FROM (SELECT lexicon_agg(body) AS lexicon FROM rose) l, unnest('{ROSE,rose,flower,tulip,?!,NULL}'::text[]) word,
     lexicon_word(lexicon, word) w;
SELECT (lexicon_word(lexicon, 'rose')).df, (lexicon_word(lexicon, 'the')).df
FROM (SELECT lexicon_agg(body, 'english stop') AS lexicon FROM rose) l;
SELECT count(*), sum(w.df), sum(w.cf)
FROM rose, lexicon_words((SELECT lexicon_agg(body) FROM rose)) w WHERE id = 1;

-- Its counts are those of plain SQL
CREATE TABLE corpus AS
SELECT id, string_agg('w' || ((id * 7919 + i * i * 104729) % 1009 % (i + 3)), ' ' ORDER BY i) AS body
FROM generate_series(1, 500) id, generate_series(1, 1 + id % 40) i GROUP BY id;
CREATE TABLE counted AS
SELECT word, count(DISTINCT id) AS df, count(*) AS cf
FROM corpus, unnest(neardup_words(body)) word GROUP BY word;
CREATE TABLE stats AS SELECT lexicon_agg(body) AS lexicon FROM corpus;
SELECT count(*) AS words,
       count(*) FILTER (WHERE (lexicon_word(lexicon, word)).df <> df OR (lexicon_word(lexicon, word)).cf <> cf) AS wrong,
       count(*) = min((lexicon_describe(lexicon)).words) AND sum(cf) = min((lexicon_describe(lexicon)).length) AS complete
FROM counted, stats;

-- Sums, in any order and any parts, are the same as counting all at once
SELECT a.l + b.l = lexicon AS sum, b.l + a.l = lexicon AS commuted,
       lexicon - a.l = b.l AS rest, lexicon <> a.l AS differ,
       lexicon_describe(lexicon - lexicon)
FROM stats, (SELECT lexicon_agg(body) l FROM corpus WHERE id % 3 = 0) a,
     (SELECT lexicon_agg(body) l FROM corpus WHERE id % 3 <> 0) b;
SELECT lexicon_agg(l) = (SELECT lexicon FROM stats) AS same
FROM (SELECT lexicon_agg(body) l FROM corpus GROUP BY id % 7) parts;
SELECT count(*) AS groups, sum((lexicon_describe(l)).documents) AS documents
FROM (SELECT lexicon_agg(body) l FROM corpus GROUP BY id % 7) parts;

-- ... and so are the parts of parallel workers
BEGIN;
SET LOCAL parallel_setup_cost = 0;
SET LOCAL parallel_tuple_cost = 0;
SET LOCAL min_parallel_table_scan_size = 0;
SET LOCAL max_parallel_workers_per_gather = 2;
EXPLAIN (COSTS OFF) SELECT lexicon_agg(body, '', 100) FROM corpus;
SELECT lexicon_agg(body) = (SELECT lexicon FROM stats) AS same FROM corpus;
SELECT lexicon_agg('simple'::regconfig, body, 2000) = lexicon_agg('simple'::regconfig, body) AS same FROM corpus;
SELECT (lexicon_describe(lexicon_agg(body, '', 20))).words <= 20 AS bounded FROM corpus;
COMMIT;

-- The bound on the number of words: no count is off by more than the given error
SELECT max AS max_words, (lexicon_describe(l)).words <= max AS bounded, (lexicon_describe(l)).df_error > 0 AS lossy,
       (lexicon_describe(l)).documents, (lexicon_describe(l)).length,
       (SELECT count(*) FROM counted
        WHERE (lexicon_word(l, word)).df NOT BETWEEN df - (lexicon_describe(l)).df_error AND df
           OR (lexicon_word(l, word)).cf NOT BETWEEN cf - (lexicon_describe(l)).cf_error AND cf) AS wrong
FROM (SELECT max, lexicon_agg(body, '', max) AS l
      FROM corpus, unnest('{1, 2, 10, 30, 41, 42, 43, 1000}'::int[]) max GROUP BY max) s
ORDER BY max;
-- and the frequent words are there
SELECT count(*) FROM counted
WHERE df > (SELECT (lexicon_describe(lexicon_agg(body, '', 20))).df_error FROM corpus)
  AND (lexicon_word((SELECT lexicon_agg(body, '', 20) FROM corpus), word)).df = 0;

-- Trimming drops the rarest words
SELECT max, min_df, (lexicon_describe(l)).words, lexicon_describe(l)
FROM stats, (VALUES (20, 1), (0, 1), (1000, 1), (1000, 400), (10, 200)) v (max, min_df),
     lexicon_trim(lexicon, max, min_df) l ORDER BY max, min_df;
SELECT count(*) AS wrong FROM counted, stats, lexicon_trim(lexicon, 20) l
WHERE (lexicon_word(l, word)).df = 0 AND df > (lexicon_describe(l)).df_error OR (lexicon_word(l, word)).df NOT IN (0, df);
-- lossy ones can be subtracted, within their error
SELECT (lexicon_describe(d)).documents, (lexicon_describe(d)).df_error
FROM stats, lexicon_minus(lexicon, (SELECT lexicon_agg(body, '', 30) FROM corpus WHERE id < 100)) d;

-- sums and differences of lossy ones are within their given errors; a difference may
-- also count too much, but no word in more documents than there are
CREATE TABLE part AS
SELECT max, id % 3 = 0 AS third, lexicon_agg(body, '', max) AS l
FROM corpus, unnest('{10, 30, 45, 1000}'::int[]) max GROUP BY 1, 2;
CREATE TABLE counted_rest AS
SELECT word, count(DISTINCT id) AS df, count(*) AS cf
FROM corpus, unnest(neardup_words(body)) word WHERE id % 3 <> 0 GROUP BY word;
SELECT max, (lexicon_describe(sum)).words > max AS larger, (lexicon_describe(sum)).documents, (lexicon_describe(sum)).length, (lexicon_describe(sum)).df_error > 0 AS lossy,
       (SELECT count(*) FROM counted
        WHERE (lexicon_word(sum, word)).df NOT BETWEEN df - (lexicon_describe(sum)).df_error AND df
           OR (lexicon_word(sum, word)).cf NOT BETWEEN cf - (lexicon_describe(sum)).cf_error AND cf) AS wrong
FROM (SELECT max, a.l + b.l AS sum FROM part a JOIN part b USING (max) WHERE a.third AND NOT b.third) s ORDER BY max;
CREATE TABLE lossy AS
SELECT max, lexicon_agg(body, '', max) AS l FROM corpus, unnest('{10, 30, 45, 1000}'::int[]) max GROUP BY max;
CREATE TABLE rest AS
SELECT 'exact - lossy' AS name, max, lexicon - l AS rest FROM stats, part WHERE third
UNION ALL
SELECT 'lossy - exact', a.max, a.l - b.l FROM lossy a, part b WHERE b.max = 1000 AND b.third
UNION ALL
SELECT 'lossy - lossy', max, a.l - b.l FROM lossy a JOIN part b USING (max) WHERE b.third;
SELECT name, max, (lexicon_describe(rest)).documents, (lexicon_describe(rest)).length, (lexicon_describe(rest)).df_error > 0 AS lossy, c.*
FROM rest, LATERAL
     (SELECT count(*) FILTER (WHERE abs((lexicon_word(rest, word)).df - df) > (lexicon_describe(rest)).df_error OR abs((lexicon_word(rest, word)).cf - cf) > (lexicon_describe(rest)).cf_error) AS wrong,
             count(*) FILTER (WHERE (lexicon_word(rest, word)).df > (lexicon_describe(rest)).documents OR (lexicon_word(rest, word)).cf < (lexicon_word(rest, word)).df) AS impossible,
             count(*) FILTER (WHERE (lexicon_word(rest, word)).df > df) > 0 AS too_much, count(*) FILTER (WHERE (lexicon_word(rest, word)).df < df) > 0 AS too_little
      FROM counted_rest) c ORDER BY name, max;
DROP TABLE part, counted_rest, lossy, rest;
-- a word that was dropped once may lose one number and keep the other
CREATE TABLE dropped AS
SELECT kind, i, CASE WHEN i <= 10 THEN CASE kind WHEN 'df' THEN 'x' ELSE repeat('x ', 10) END
                     WHEN i <= 30 THEN 'y' WHEN i = 31 THEN 'z'
                     WHEN kind = 'df' THEN repeat('x ', 1000) WHEN i <= 41 THEN 'x x' ELSE 'x' END AS body
FROM (VALUES ('cf', 121), ('df', 32)) k (kind, n), generate_series(1, n) i;
SELECT kind, (lexicon_describe(rest)).df_error, (lexicon_describe(rest)).cf_error, (lexicon_word(rest, 'x')).df AS df, (lexicon_word(l, 'x')).df AS true_df, (lexicon_word(rest, 'x')).cf AS cf, (lexicon_word(l, 'x')).cf AS true_cf
FROM (SELECT kind, lexicon_agg(body, '', 2 ORDER BY i) - lexicon_agg(body) FILTER (WHERE i <= 10) AS rest,
             lexicon_agg(body) FILTER (WHERE i > 10) AS l FROM dropped GROUP BY kind) s ORDER BY kind;
DROP TABLE dropped;

-- Text and binary form
SELECT lexicon::text::lexicon = lexicon AS text, lexicon::bytea::lexicon = lexicon AS bytes FROM stats;
SELECT lexicon::text::lexicon = lexicon AS text, lexicon::bytea::lexicon = lexicon AS bytes
FROM (SELECT lexicon_agg(body, 'russian minlen=2 digits=drop html') AS lexicon FROM rose
      UNION ALL SELECT lexicon_agg('simple'::regconfig, body) FROM rose) l;
CREATE TABLE copied (lexicon lexicon);
\getenv abs_builddir PG_ABS_BUILDDIR
\set file :abs_builddir '/results/lexicon.bin'
\set command '\\copy stats TO ' :'file' ' (FORMAT binary)'
:command
\set command '\\copy copied FROM ' :'file' ' (FORMAT binary)'
:command
SELECT c.lexicon = s.lexicon AS binary FROM copied c, stats s;

\set VERBOSITY terse
SELECT ''::lexicon;
SELECT 'lexicon[klingon] documents=0'::lexicon;
\set VERBOSITY default
SELECT 'lexicon[simple'::lexicon;
SELECT 'lexicon[config=-1a2b3c4] documents=0'::lexicon;
SELECT 'lexicon[config= 1a2b3c4] documents=0'::lexicon;
SELECT 'lexicon[simple] documents=1 length=x'::lexicon;
CREATE FUNCTION made(documents text, length text, words text, initials text = '1' || repeat(',0', 31))
RETURNS lexicon LANGUAGE sql AS $$
    SELECT format('lexicon[simple] documents=%s length=%s df_error=0 cf_error=0 initials=%s {%s}',
                  documents, length, initials, words)::lexicon
$$;
SELECT made('1', '2', '0000000000000001:1:2');
SELECT made('1', '2', '0000000000000001:2:2');
SELECT made('1', '2', '0000000000000001:0:2');
SELECT made('2', '2', '0000000000000001:2:1');
SELECT made('2', '2', '0000000000000001:1:3');
SELECT made('2', '9', '0000000000000002:1:1,0000000000000001:1:1');
SELECT made('2', '9', '0000000000000001:1:1 0000000000000002:1:1');
SELECT made('2', '9', '000000000000001:1:1');
SELECT made('2', '9', '0000000000000001:1:1', '1,2');
SELECT made('2', '9', '0000000000000001:1:1', '10' || repeat(',0', 31));
SELECT made('2', '9223372036854775808', '');
SELECT made('2', '9223372036854775807', '0000000000000001:1:4294967296');
SELECT lexicon_describe(made('2', '9223372036854775807', '0000000000000001:1:4294967295'));
-- words that would all have one slot of a hash table without a random seed take no
-- longer than others: 20 times as long and more than 60 s is an error
SELECT clock_timestamp() AS began \gset
SELECT (lexicon_describe(lexicon_agg(l))).words AS words
FROM (SELECT made('2', '999999', string_agg(lpad(to_hex(i), 6, '0') || substr(md5(i::text), 1, 10) || ':1:1', ',' ORDER BY i)) AS l
      FROM generate_series(1, 300000) i) s;
SELECT greatest(60000, 20000 * extract(epoch FROM clock_timestamp() - :'began'::timestamptz))::int AS patience \gset
SET statement_timeout = :patience;
SELECT (lexicon_describe(lexicon_agg(l))).words AS words
FROM (SELECT made('2', '999999', string_agg(lpad(to_hex(i), 6, '0') || '0000000000:1:1', ',' ORDER BY i)) AS l
      FROM generate_series(1, 300000) i) s;
RESET statement_timeout;
-- counts stop at the greatest number
SELECT (lexicon_word(l + l, 'a')).cf FROM made('2', '18446744073709551', 'e6c632b61e964e1f:1:4294967295') l;
-- and a greater number of documents is an error: every sum can be read back
SELECT l + l FROM made('2', '9223372036854775807', '') l;
SELECT l + l FROM made('9223372036854775807', '2', '') l;
SELECT lexicon_agg(l) FROM made('2', '5000000000000000000', '') l, generate_series(1, 2);
SELECT (lexicon_describe(l + l)).df_error AS errors, (l + l)::text::lexicon = l + l AS sum, lexicon_trim(l + l, 1)::text::lexicon = l + l AS trimmed
FROM (SELECT 'lexicon[simple] documents=9 length=9 df_error=9223372036854775807 cf_error=9 initials=1' || repeat(',0', 31) || ' {}' AS t) t,
     LATERAL (SELECT t::lexicon AS l) l;
-- also differences of lexicons that have errors, or no common documents
SELECT made('9', '10', '', '10' || repeat(',0', 31)) - made('9', '10', '', '0' || repeat(',0', 31));
SELECT a - b AS difference FROM
    (SELECT format('lexicon[simple] documents=9 length=%s df_error=9 cf_error=9 initials=0' || repeat(',0', 31) || ' {0000000000000001:%s}', '10', '5:9')::lexicon AS a,
            format('lexicon[simple] documents=1 length=%s df_error=9 cf_error=9 initials=0' || repeat(',0', 31) || ' {0000000000000001:%s}', '8', '1:2')::lexicon AS b) l;

-- Altered bytes are refused: every one counts
SELECT substr(lexicon::bytea, 1, 428)::lexicon FROM stats;
SELECT substr(lexicon::bytea, 1, 16)::lexicon FROM stats;
SELECT (lexicon::bytea || '\x00')::lexicon FROM stats;
SELECT set_byte(lexicon::bytea, 0, 2)::lexicon FROM stats;
SELECT set_byte(lexicon::bytea, 1, 4)::lexicon FROM stats;
SELECT set_byte(lexicon::bytea, 2, 7)::lexicon FROM stats;
SELECT set_byte(lexicon::bytea, 2, 255)::lexicon FROM stats;
SELECT set_byte(lexicon::bytea, 20, 1)::lexicon FROM stats;
CREATE FUNCTION accepted(input bytea) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    RETURN input::lexicon IS NOT NULL;
EXCEPTION WHEN invalid_binary_representation THEN
    RETURN false;
END $$;
SELECT accepted(set_byte(bytes, place, get_byte(bytes, place) # 1)) AS accepted,
       count(*) = max(length(bytes)) AS each
FROM (SELECT lexicon_agg(body)::bytea AS bytes FROM rose) b,
     generate_series(0, length(bytes) - 1) place GROUP BY 1;

-- Markup does not combine with a configuration, as the text form could not name both
SELECT (decode('010100000400000080913349000001000000000094c21178ee686914', 'hex') || decode(repeat('00', 288), 'hex'))::lexicon;

-- Lexicons that cannot be combined
SELECT a + b FROM (SELECT lexicon_agg(body) a, lexicon_agg(body, 'english') b FROM rose) l;
SELECT a - b FROM (SELECT lexicon_agg(body, 'stop english') a, lexicon_agg(body) b FROM rose) l;
SELECT a - b FROM (SELECT lexicon_agg(body) FILTER (WHERE id = 1) a,
                          lexicon_agg(body) FILTER (WHERE id = 2) b FROM rose) l;
SELECT a - b FROM (SELECT lexicon_agg(body) FILTER (WHERE id = 2) a,
                          lexicon_agg(body) b FROM rose) l;
SELECT lexicon_agg(l) FROM (SELECT lexicon_agg(body, CASE id % 2 WHEN 0 THEN 'english' ELSE '' END) l
                            FROM rose GROUP BY id) s;
SELECT lexicon_agg(body, CASE id % 2 WHEN 0 THEN 'english' ELSE '' END) FROM rose;
SELECT lexicon_agg(body, '', id) FROM rose;
SELECT lexicon_agg(body, '', 0) FROM rose;
SELECT lexicon_agg(body, '', NULL) FROM rose;
SELECT lexicon_agg(body, 'unit=char') FROM rose;
\set VERBOSITY terse
SELECT lexicon_agg(body, 'klingon') FROM rose;
\set VERBOSITY default
SELECT lexicon_agg(NULL::regconfig, body) FROM rose;
SELECT (lexicon_word(lexicon_agg(body), 'red rose')).df FROM rose;
SELECT (lexicon_word(lexicon_agg('simple'::regconfig, body), 'rose')).df FROM rose;
SELECT word_statistics('a rose', lexicon_agg(body), 'english') FROM rose;
SELECT lexicon_trim(lexicon, -1) FROM stats;
SELECT lexicon_trim(lexicon, 10, 0) FROM stats;
-- k, order, repetitions and sentences do not matter to the words of a lexicon
SELECT lexicon_agg(body, 'english k=5 unit=sentence order=sum repeats=number') = lexicon_agg(body, 'english') AS same FROM rose;

-- Equality can be hashed, as for DISTINCT and a replica's search for a row without a key
CREATE TABLE equals AS
SELECT i, lexicon_agg(body) AS lexicon FROM rose, generate_series(1, 4) i WHERE i % 2 = 0 OR body <> '' GROUP BY i
UNION ALL SELECT 5, lexicon_agg(body, 'english') FROM rose UNION ALL SELECT 6, NULL UNION ALL SELECT 7, (SELECT lexicon_agg('x' || n) FROM generate_series(1, 5000) n);
SELECT count(*), count(DISTINCT i) FROM (SELECT lexicon, max(i) AS i FROM equals GROUP BY lexicon) e;
SELECT count(DISTINCT lexicon_hash(lexicon)) AS hashes, bool_and(lexicon_hash(lexicon) = (lexicon_hash_extended(lexicon, 0) << 32) >> 32) AS as_extended,
       bool_or(lexicon_hash_extended(lexicon, 0) = lexicon_hash_extended(lexicon, 1)) AS without_seed FROM equals;
SET enable_nestloop = off;
EXPLAIN (COSTS off) SELECT FROM equals a JOIN equals b USING (lexicon);
SELECT count(*) FROM equals a JOIN equals b USING (lexicon);
RESET enable_nestloop;
SELECT lexicon_hash(lexicon_agg('a rose is a rose')) AS fixed, lexicon_hash_extended(lexicon_agg('a rose is a rose'), 42) AS fixed_too;
CREATE TABLE spread (i int, lexicon lexicon) PARTITION BY HASH (lexicon);
CREATE TABLE spread0 PARTITION OF spread FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE spread1 PARTITION OF spread FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO spread SELECT * FROM equals;
SELECT count(*), count(DISTINCT tableoid) FROM spread;
DROP TABLE equals, spread;

-- A large one is fetched once per query, not once per row
CREATE TABLE large AS
SELECT lexicon_agg('x' || i) AS lexicon FROM generate_series(1, 20000) i;
SELECT pg_column_size(lexicon) > 100000 AS stored_outside FROM large;
CREATE FUNCTION toast_blocks() RETURNS bigint LANGUAGE sql STABLE AS $$
    SELECT heap_blks_hit + heap_blks_read
    FROM pg_statio_all_tables
    WHERE relid = (SELECT reltoastrelid FROM pg_class WHERE oid = 'large'::regclass)
$$;
SELECT pg_stat_force_next_flush();
SELECT toast_blocks() AS before \gset
SELECT sum((lexicon_word((SELECT lexicon FROM large), 'x' || i)).df) FROM generate_series(1, 1000) i;
SELECT pg_stat_force_next_flush();
SELECT toast_blocks() - :before BETWEEN 1 AND 2000 AS once;
-- and so is each of two that alternate, except for its head
INSERT INTO large SELECT lexicon_agg('x' || i || ' y') FROM generate_series(1, 20001) i;
SELECT pg_stat_force_next_flush();
SELECT toast_blocks() AS before \gset
SELECT sum((lexicon_word(CASE i % 2 WHEN 0 THEN a ELSE b END, 'x' || i)).df) AS x, sum((lexicon_word(CASE i % 2 WHEN 0 THEN a ELSE b END, 'y')).df) AS y
FROM generate_series(1, 1000) i,
     (SELECT a.lexicon AS a, b.lexicon AS b FROM large a, large b WHERE (lexicon_describe(a.lexicon)).documents < (lexicon_describe(b.lexicon)).documents) l;
SELECT pg_stat_force_next_flush();
SELECT toast_blocks() - :before BETWEEN 1 AND 10000 AS once_each;

DROP TABLE rose, corpus, counted, stats, copied, large;
DROP FUNCTION made, accepted, toast_blocks;
