--
-- test/bench/fragments.sql
--		Look-ups of fragments of long documents: the two experiments of
--		Veretennikov.
--
-- One: several forms of one book in a large base (forms of the works of Persian
-- poets).  Two: random fragments of 8 kB and more of each of many long
-- documents, of which every 30th word is replaced, so that some 0.9 of their
-- shingles of 3 words are left: each has to be found in its document and in no
-- other.  Then the same in ten times as many documents of a tenth of the length: the
-- cost of the number of documents.
--
-- There are :books documents of :pieces descriptions each (some 400 bytes), chosen
-- among all different ones; no long description, which would be a large part of a
-- fragment.
--
-- Portions Copyright (c) 2026, the neardup developers
--
\pset footer off
\if :{?books} \else
	\set books 500
\endif
\if :{?pieces} \else
	\set pieces 2500
\endif
\if :{?fragments} \else
	\set fragments 2
\endif

-- seconds of this backend, where the kernel has no nanoseconds
CREATE FUNCTION ticks() RETURNS float8 LANGUAGE sql VOLATILE
RETURN (SELECT (s[14]::float8 + s[15]::float8) / 100
        FROM regexp_split_to_array(pg_read_file('/proc/self/stat'), ' ') AS s);
CREATE FUNCTION hash_int(of text) RETURNS bigint LANGUAGE sql IMMUTABLE
RETURN ('x' || substr(md5(of), 1, 8))::bit(32)::bigint & 2147483647;

-- One.  Fragments are nested; forms without stop words are found by the other words.
CREATE TABLE forms (id int, poet text, form text, body text);
\copy forms FROM PROGRAM 'xz -dc "$DATA/persian_poets/docs.tsv.xz"'
INSERT INTO forms
SELECT id * 1000 + size, poet, size || ' thousand characters', substr(body, 100000, size * 1000)
FROM forms, (VALUES (10), (30), (300)) v(size) WHERE form = 'as scraped';
CREATE TABLE forms_features AS
SELECT id, poet, length(body) AS length, winnow(body, 32, 3, 'persian stop') AS sig FROM forms
UNION ALL
SELECT -id, 'base', 0, winnow(body, 32, 3, 'persian stop') FROM docs WHERE id % 10 = 0;
CREATE INDEX ON forms_features USING neardup (sig);
SELECT count(*) AS forms, count(DISTINCT poet) AS poets, (SELECT count(*) FROM forms_features WHERE poet = 'base') AS base,
       (SELECT count(*) FROM forms a JOIN forms b USING (poet)
        WHERE a.id <> b.id AND (a.id < 1000 AND b.id < 1000 OR length(a.body) < length(b.body) AND a.id >= 1000)) AS "to be found"
FROM forms;
SELECT count(*) FILTER (WHERE a.poet = b.poet AND (a.id < 1000 AND b.id < 1000 OR a.length < b.length AND a.id >= 1000)) AS found,
       count(*) FILTER (WHERE a.poet <> b.poet) AS wrong
FROM forms_features a JOIN forms_features b ON a.id <> b.id AND contained_in(a.sig, b.sig, 0.25)
WHERE a.poet <> 'base';

-- Two
CREATE TEMP TABLE numbered AS
SELECT row_number() OVER (ORDER BY md5(body)) - 1 AS n, body FROM (SELECT DISTINCT body FROM docs WHERE length(body) < 1500) AS s;
CREATE UNIQUE INDEX ON numbered (n);
ANALYZE numbered;
SELECT count(*) AS choices FROM numbered \gset
CREATE TABLE books (id int, body text);
ALTER TABLE books ALTER body SET STORAGE external;	-- substr reads a part

-- Documents, each with its features; look-ups among them
CREATE PROCEDURE experiment(books int, pieces int, fragments int, choices bigint) LANGUAGE plpgsql AS $$
DECLARE
  f record;
  began float8;
  clock timestamptz;
  way text[];
  hit int[];
  recall int; wrong int; n int;
  others int[];		-- found, but of another document ...
  asking int[];		-- ... by that fragment
BEGIN
  TRUNCATE books;
  INSERT INTO books
  SELECT b, (SELECT string_agg(n.body, e'\n' ORDER BY p)
             FROM generate_series(1, pieces) AS p JOIN numbered n ON n.n = hash_int(b || '.' || p) % choices)
  FROM generate_series(1, books) AS b;
  CREATE TEMP TABLE asked ON COMMIT DROP AS
  SELECT id, (SELECT string_agg(CASE WHEN o % 30 = 0 THEN 'replaced' || hash_int(word || id) ELSE word END, ' ' ORDER BY o)
              FROM regexp_split_to_table(substr(body, 1 + (hash_int(id || 'start' || i) % (length(body) - size))::int, size),
                                         '\s+') WITH ORDINALITY AS u (word, o)) AS body
  FROM books, generate_series(1, fragments) AS i, LATERAL (SELECT 8192 + (hash_int(id || 'size' || i) % 8192)::int AS size) AS s;
  RAISE NOTICE '% documents, % MB, % fragments, containment of the first ten %', books,
    (SELECT round(sum(octet_length(body)) / 1e6) FROM books), (SELECT count(*) FROM asked),
    (SELECT round(avg(containment(shingles(a.body), shingles(b.body)))::numeric, 3)
     FROM (SELECT * FROM asked LIMIT 10) a JOIN books b USING (id));
  FOREACH way SLICE 1 IN ARRAY ARRAY[
    ['winnow 16', 'winnow(body, 16, 3)', 'neardup (sig)', '0.65'],
    ['winnow 32', 'winnow(body, 32, 3)', 'neardup (sig)', '0.6'],
    ['winnow 64', 'winnow(body, 64, 3)', 'neardup (sig)', '0.4'],
    ['winnow 64', 'winnow(body, 64, 3)', 'gin (sig signature_gin_ops (measure = containment)) WITH (fastupdate = off)', '0.4'],
    ['sample 32', 'sample(shingles(body), 32)', 'neardup (sig)', '0.4']] LOOP
    began := ticks();
    EXECUTE format('CREATE TABLE features AS SELECT id, %s AS sig FROM books', way[2]);
    RAISE NOTICE '%, %, from % on: features % s', way[1], split_part(way[3], ' ', 1), way[4], round((ticks() - began)::numeric, 1);
    began := ticks();
    EXECUTE 'CREATE INDEX features_sig ON features USING ' || way[3];
    RAISE NOTICE '  index % MB, % s; table % MB', round(pg_relation_size('features_sig') / 1e6, 1),
      round((ticks() - began)::numeric, 1), round(pg_total_relation_size('features') / 1e6 - pg_relation_size('features_sig') / 1e6, 1);
    ANALYZE features;
    SET LOCAL enable_seqscan = off;
    recall := 0; wrong := 0; n := 0; others := '{}'; asking := '{}';
    began := ticks(); clock := clock_timestamp();
    FOR f IN SELECT * FROM asked LOOP
      EXECUTE format('SELECT array_agg(id) FROM features WHERE contained_in(%s, sig, %s)', replace(way[2], 'body', '$1'), way[4])
      INTO hit USING f.body;
      n := n + 1;
      hit := coalesce(hit, '{}');
      recall := recall + (f.id = ANY (hit))::int;
      wrong := wrong + cardinality(array_remove(hit, f.id));
      others := others || array_remove(hit, f.id);
      asking := asking || array_fill(n, ARRAY[cardinality(array_remove(hit, f.id))]);
    END LOOP;
    RAISE NOTICE '  % of % found, % wrong; % ms each, % by the clock', recall, n, wrong,
      round(((ticks() - began) * 1000 / n)::numeric, 2),
      round(extract(epoch FROM clock_timestamp() - clock)::numeric * 1000 / n, 2);
    -- all shingles decide; for few fragments, as this takes long
    SELECT count(*) FILTER (WHERE c >= 0.8) AS found, round(max(c)::numeric, 2) AS most INTO f
    FROM (SELECT containment(shingles(a.body), shingles(b.body)) AS c
          FROM unnest(others[1:100], asking[1:100]) AS o (id, number)
          JOIN (SELECT row_number() OVER () AS number, body FROM asked) a USING (number)
          JOIN books b ON b.id = o.id) AS s;
    RAISE NOTICE '  of the first 100 wrong, % by all shingles, of which they have % at most', f.found, f.most;
    DROP TABLE features;
  END LOOP;
END $$;
SET client_min_messages = notice;
CALL experiment(:books, :pieces, :fragments, :choices);
CALL experiment(:books * 10, :pieces / 10, :fragments, :choices);
DROP TABLE books, forms, forms_features;
