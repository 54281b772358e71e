
# Copyright (c) 2026, the neardup developers

# Altered input for everything that reads values or texts: bytes of types,
# their text forms, analyses, lists of options, documents.
#
# A kind of input is a function fuzz_values.try_KIND(bytea) of the server.  It returns
# 'refused' if a rule was broken, 'accepted' if the value passed every use of it, and
# otherwise the fault.

package Values;

use strict;
use warnings;

use Dice;

my $functions = <<'SQL';
CREATE SCHEMA fuzz_values;
SET search_path = fuzz_values, public;
SET client_min_messages = error;
SET statement_timeout = '600s';

-- An error about a rule of ours
CREATE FUNCTION allowed(state text) RETURNS boolean LANGUAGE sql IMMUTABLE AS
$$ SELECT state ~ '^(22|54)' OR state IN ('42804', '0A000') $$;

CREATE FUNCTION spec_of(sig signature) RETURNS bytea LANGUAGE sql IMMUTABLE AS
$$ SELECT substr(sig::bytea, 1, 24) $$;
CREATE TABLE documents (body text);
INSERT INTO documents VALUES (''), ('one'), ('A rose is a rose is a rose. It is. <b>Is</b> it?'),
    ('Die Straße im Süden; об''єкт № 7, ещё раз. 東京 は 大きい。 ‌کتاب‌ها ' || repeat('words and words. ', 9));
CREATE TABLE lexicons AS
SELECT lexicon_agg(body) AS words FROM documents UNION ALL
SELECT lexicon_agg(body, 'english stop') FROM documents UNION ALL
SELECT lexicon_agg(body, '', 3) FROM documents UNION ALL
SELECT lexicon_agg(body) FROM documents WHERE false UNION ALL
SELECT lexicon_agg('simple'::regconfig, body) FROM documents UNION ALL
SELECT lexicon_agg(body, 'html k=2 minlen=2') FROM documents UNION ALL
SELECT lexicon_agg(body, 'unit=sentence order=sorted k=2') FROM documents;
CREATE VIEW own_words AS SELECT words FROM lexicons LIMIT 4;
CREATE TABLE good (sig signature);
INSERT INTO good
SELECT signature_from('{}') UNION ALL SELECT signature_from('{1,2,3}') UNION ALL
SELECT signature_from('{1,2,-1}', '{3,1,2}') UNION ALL
SELECT 'shingles[config=1a2b3c4d k=3]{0000000000000001,0000000000000002}' UNION ALL
SELECT signature_weighted('{1,2,3}', '{0.5,1e20,1e-40}') UNION ALL
SELECT dense('{0.5,-1e20,1e-40}') UNION ALL SELECT dense('{0,0}') UNION ALL
SELECT m FROM documents, own_words, LATERAL (VALUES
    (shingles(body)), (shingles(body, 'russian stop minlen=3 unit=sentence order=sum k=2')),
    (shingles('simple'::regconfig, body)), (minhash(body, 10)), (minhash(shingles(body), 64)),
    (bottom(body, 4)), (sample(body, 2)), (supershingles(body, 2, 3)), (megashingles(body, 3, 2)),
    (simhash(body)), (winnow(body, 2, 2)), (every_nth(body, 2)), (anchored(body, '{a,is}', 2)),
    (sif(body, '{a,is}', 3)), (koala(body, 3, 4)), (leave_out(shingles(body), shingles('a rose is'))),
    (text_hash(body)), (sentence_pairs(body)), (long_sentences(body)), (top_words(body, 3)),
    (weighted_words(body)), (heavy_sentences(body, words)), (imatch(body, words, 3, 1)),
    (fuzzy_fingerprint(body, words))) v(m)
WHERE (lexicon_describe(words)).words > 10;
CREATE TABLE distinct_good AS SELECT DISTINCT sig FROM good WHERE sig IS NOT NULL;
CREATE INDEX ON distinct_good (spec_of(sig));

-- What was accepted, with an index and a guard on it
CREATE TABLE accepted (id serial PRIMARY KEY, sig signature);
CREATE INDEX accepted_sig ON accepted USING gin (sig signature_gin_ops (threshold = 0.5)) WITH (fastupdate = off);
CREATE INDEX accepted_every ON accepted USING gin (sig signature_gin_ops (measure = containment));
CREATE INDEX accepted_spec ON accepted (spec_of(sig));
CREATE INDEX accepted_hash ON accepted USING hash (sig);
-- A guard wants one spec.
CREATE TABLE guarded (id serial PRIMARY KEY, sig signature);
CREATE INDEX guarded_sig ON guarded USING gin (sig) WITH (fastupdate = off);
CREATE TRIGGER guard AFTER INSERT ON guarded FOR EACH ROW
    EXECUTE FUNCTION neardup_guard('sig', '0.9', 'warn');

-- Whether a threshold decides; if not, the method's own rule of agreement does
CREATE FUNCTION by_threshold(sig signature) RETURNS boolean LANGUAGE sql IMMUTABLE AS
$$ SELECT get_byte(sig::bytea, 1) IN (1, 2, 3, 4, 5, 8, 9, 10, 11, 12, 13, 14, 24, 25, 27) $$;

-- Measures, conditions and operators of two values agree.
CREATE FUNCTION check_pair(a signature, b signature) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    s float8;
    near boolean;
    m text;
    v float8;
    raised text;
BEGIN
    BEGIN
        s := similarity(a, b);
        IF s <> similarity(b, a) OR NOT s BETWEEN 0 AND 1 OR (a <-> b) <> 1 - s THEN
            RETURN 'similarity ' || s;
        END IF;
    EXCEPTION WHEN OTHERS THEN
        raised := SQLSTATE;
        IF NOT allowed(raised) THEN RETURN 'similarity: ' || SQLERRM; END IF;
    END;
    BEGIN
        near := near_duplicate(a, b, 0.5);
        IF raised = '42804' THEN	-- two specs are never near
            IF near OR near_duplicate(b, a, 0.5) OR a %% signature_query(b, 0.5) OR a % b OR (a <-> b) IS NOT NULL THEN
                RETURN 'near_duplicate of different specs';
            END IF;
        ELSIF raised IS NOT NULL THEN
            RETURN 'similarity raises, near_duplicate does not';
        ELSIF near <> (s >= 0.5) AND by_threshold(a) OR near <> near_duplicate(b, a, 0.5)
           OR near <> (a %% signature_query(b, 0.5))
           OR near_duplicate(a, b, 0.8) <> (a % b) THEN
            RETURN 'near_duplicate';
        END IF;
    EXCEPTION WHEN OTHERS THEN
        IF SQLSTATE IS DISTINCT FROM raised THEN RETURN 'near_duplicate: ' || SQLERRM; END IF;
    END;
    FOREACH m IN ARRAY '{containment,dice,cosine}'::text[] LOOP
        BEGIN
            CASE m WHEN 'containment' THEN v := containment(a, b);
                WHEN 'dice' THEN v := dice(a, b);
                ELSE v := cosine(a, b); END CASE;
            IF near_duplicate(a, b, 0.6, m) <> (v >= 0.6) AND by_threshold(a) OR NOT v BETWEEN (m = 'cosine')::int * -1 AND 1 THEN
                RETURN m || ' ' || v;
            END IF;
        EXCEPTION WHEN OTHERS THEN
            IF NOT allowed(SQLSTATE) THEN RETURN m || ': ' || SQLERRM; END IF;
        END;
    END LOOP;
    BEGIN
        PERFORM intersection_size(a, b), near_duplicate(a, b, 0.5, 'overlap_coefficient'), near_duplicate(a, b, 0.5, 'contains');
    EXCEPTION WHEN OTHERS THEN
        IF NOT allowed(SQLSTATE) THEN RETURN 'overlap: ' || SQLERRM; END IF;
    END;
    BEGIN
        PERFORM hamming(a, b);
    EXCEPTION WHEN OTHERS THEN
        IF NOT allowed(SQLSTATE) THEN RETURN 'hamming: ' || SQLERRM; END IF;
    END;
    BEGIN
        IF near_duplicate_approx(a, b, 0.5) AND s < 0.5 THEN RETURN 'near_duplicate_approx'; END IF;
    EXCEPTION WHEN OTHERS THEN
        IF NOT allowed(SQLSTATE) THEN RETURN 'near_duplicate_approx: ' || SQLERRM; END IF;
    END;
    BEGIN
        IF nfeatures(a + b) <> nfeatures(a) + nfeatures(b) - nfeatures(a * b) OR a + b <> b + a OR a * b <> b * a
           OR (a - b) + (a * b) <> a OR nfeatures(a * b) <> intersection_size(a, b)
           OR near_duplicate(a, b, 2, 'shared') <> (intersection_size(a, b) >= 2)
           OR (SELECT signature_union_agg(u) FROM unnest(ARRAY[a, b, a]) u) <> a + b
           OR (SELECT signature_intersect_agg(u) FROM unnest(ARRAY[a, b, a]) u) <> a * b THEN
            RETURN 'sets';
        END IF;
    EXCEPTION WHEN OTHERS THEN
        IF NOT allowed(SQLSTATE) THEN RETURN 'sets: ' || SQLERRM; END IF;
    END;
    BEGIN
        PERFORM leave_out(a, b);
    EXCEPTION WHEN OTHERS THEN
        IF NOT allowed(SQLSTATE) THEN RETURN 'leave_out: ' || SQLERRM; END IF;
    END;
    IF (a = b) <> (signature_cmp(a, b) = 0) OR signature_cmp(a, b) <> - signature_cmp(b, a)
       OR (a < b) <> (b > a) OR (a = b AND signature_hash(a) <> signature_hash(b)) THEN
        RETURN 'order';
    END IF;
    RETURN NULL;
END $$;

-- Made of a value by a function of ours
CREATE FUNCTION check_made(sig signature) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    made signature;
BEGIN
    FOR i IN 1 .. 6 LOOP
        BEGIN
            CASE i WHEN 1 THEN made := minhash(sig, 9);
                WHEN 2 THEN made := bottom(sig, 3);
                WHEN 3 THEN made := sample(sig, 2);
                WHEN 4 THEN made := supershingles(sig, 2, 2);
                WHEN 5 THEN made := megashingles(sig, 3, 2);
                ELSE made := simhash(sig);
            END CASE;
            IF made::bytea::signature <> made OR made::text::signature <> made THEN
                RETURN 'made ' || i;
            END IF;
        EXCEPTION WHEN OTHERS THEN
            IF NOT allowed(SQLSTATE) THEN RETURN 'made ' || i || ': ' || SQLERRM; END IF;
        END;
    END LOOP;
    RETURN NULL;
END $$;

CREATE FUNCTION check_signature(s signature) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    other signature;
BEGIN
    IF s IS NULL THEN RETURN 'accepted'; END IF;
    -- Weights may make very many features of few: 100 MB and more, whose text
    -- form alone would take longer than a statement may on a busy machine.
    IF octet_length(s::bytea) > 10000000 THEN RETURN 'accepted'; END IF;
    IF s::text::signature <> s THEN RETURN 'text form'; END IF;
    IF s::bytea::signature <> s THEN RETURN 'bytes'; END IF;
    IF describe(s) IS NULL OR s::bigint[] IS NULL THEN RETURN 'casts'; END IF;
    -- What goes through everything is to be small.
    IF octet_length(s::bytea) > 20000 THEN RETURN 'accepted'; END IF;
    -- No index holds dense vectors.
    IF s::text !~ '^dense' THEN
        INSERT INTO accepted (sig) VALUES (s);
        DELETE FROM guarded WHERE spec_of(sig) <> spec_of(s);
        INSERT INTO guarded (sig) VALUES (s);
    END IF;
    SELECT g.sig INTO other FROM distinct_good g WHERE spec_of(g.sig) = spec_of(s) LIMIT 1;
    RETURN coalesce(check_pair(s, s), check_pair(s, coalesce(other, signature_from('{1,2}'))),
                    check_made(s), 'accepted');
END $$;

-- Bytes that are no text cannot get in as text.
CREATE FUNCTION as_text(input bytea) RETURNS text LANGUAGE sql AS
$$ SELECT convert_from(input, 'UTF8') $$;

CREATE FUNCTION try_signature_bytes(input bytea) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    sig signature;
BEGIN
    BEGIN
        sig := input::signature;
    EXCEPTION WHEN invalid_binary_representation OR program_limit_exceeded THEN
        RETURN 'refused';
    END;
    IF sig::bytea <> input THEN RETURN 'other bytes'; END IF;
    RETURN check_signature(sig);
END $$;

CREATE FUNCTION try_signature_text(input bytea) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    sig signature;
BEGIN
    BEGIN
        sig := as_text(input)::signature;
    EXCEPTION WHEN data_exception OR program_limit_exceeded THEN
        RETURN 'refused';
    END;
    RETURN check_signature(sig);
END $$;

CREATE FUNCTION try_query_text(input bytea) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    q signature_query;
    sig signature;
BEGIN
    BEGIN
        q := as_text(input)::signature_query;
    EXCEPTION WHEN data_exception OR program_limit_exceeded OR feature_not_supported THEN
        RETURN 'refused';
    END;
    IF q::text::signature_query::text <> q::text THEN RETURN 'text form'; END IF;
    BEGIN
        sig := substring(q::text FROM '^\S+ \S+ (.*)$')::signature;
        PERFORM sig %% q;
    EXCEPTION WHEN OTHERS THEN
        IF NOT allowed(SQLSTATE) THEN RETURN SQLERRM; END IF;
    END;
    BEGIN
        PERFORM FROM accepted WHERE accepted.sig %% q AND id < 10;
    EXCEPTION WHEN OTHERS THEN
        IF NOT allowed(SQLSTATE) THEN RETURN SQLERRM; END IF;
    END;
    RETURN 'accepted';
END $$;

-- Everything that asks a lexicon
CREATE FUNCTION check_lexicon(l lexicon) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    d text;
    i int;
BEGIN
    IF l::text::lexicon <> l THEN RETURN 'text form'; END IF;
    IF l::bytea::lexicon <> l THEN RETURN 'bytes'; END IF;
    IF lexicon_describe(l) IS NULL OR (lexicon_describe(l)).documents < 0 OR (lexicon_describe(l)).length < 0 THEN RETURN 'describe'; END IF;
    IF (lexicon_describe(l)).words <> (SELECT count(*) FROM lexicon_words(l)) THEN RETURN 'words'; END IF;
    SELECT body INTO d FROM documents ORDER BY body DESC LIMIT 1;
    FOR i IN 1 .. 12 LOOP
        BEGIN
            CASE i
                -- counts stay at the greatest
                WHEN 1 THEN IF l + l - l <> l AND (lexicon_describe(l)).df_error + (lexicon_describe(l)).cf_error = 0 AND (lexicon_describe(l)).length < 2147483648 THEN RETURN 'sum'; END IF;
                WHEN 2 THEN PERFORM lexicon_trim(l, 2), l - l;
                WHEN 3 THEN PERFORM (lexicon_word(l, 'rose')).df, (lexicon_word(l, 'rose')).cf, (lexicon_word(l, 'rose')).idf, (lexicon_word(l, 'rose')).ridf, (lexicon_describe(l)).df_error, (lexicon_describe(l)).cf_error;
                WHEN 4 THEN PERFORM word_statistics(d, l);
                WHEN 5 THEN PERFORM top_words(d, l), top_words(d, l, 2, 'tf-ridf');
                WHEN 6 THEN PERFORM heavy_sentences(d, l);
                WHEN 7 THEN PERFORM weighted_words(d, l), weighted_words(d, l, 'bm25');
                WHEN 8 THEN PERFORM imatch(d, l), imatch(d, l, 3, 1);
                WHEN 9 THEN PERFORM identity(d, d, l), identity('a rose', d, l, 1);
                WHEN 10 THEN PERFORM fuzzy_fingerprint(d, l);
                WHEN 11 THEN PERFORM lexicon_agg(x) FROM unnest(ARRAY[l, l, l]) x;
                ELSE PERFORM l + words FROM lexicons;
            END CASE;
        EXCEPTION WHEN OTHERS THEN
            IF NOT allowed(SQLSTATE) THEN RETURN 'use ' || i || ': ' || SQLERRM; END IF;
        END;
    END LOOP;
    RETURN 'accepted';
END $$;

CREATE FUNCTION try_lexicon_bytes(input bytea) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    l lexicon;
BEGIN
    BEGIN
        l := input::lexicon;
    EXCEPTION WHEN invalid_binary_representation OR program_limit_exceeded THEN
        RETURN 'refused';
    END;
    IF l::bytea <> input THEN RETURN 'other bytes'; END IF;
    RETURN check_lexicon(l);
END $$;

-- Altered bytes that have a checksum of their own, in a build for tests
CREATE FUNCTION try_sealed_lexicon(input bytea) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    RETURN try_lexicon_bytes(sealed_lexicon(input));
END $$;

CREATE FUNCTION try_lexicon_text(input bytea) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    l lexicon;
BEGIN
    BEGIN
        l := as_text(input)::lexicon;
    EXCEPTION WHEN data_exception OR program_limit_exceeded THEN
        RETURN 'refused';
    END;
    RETURN check_lexicon(l);
END $$;

CREATE FUNCTION try_analysis(input bytea) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    a text;
    d text;
    sig signature;
BEGIN
    SELECT body INTO d FROM documents ORDER BY body DESC LIMIT 1;
    BEGIN
        a := as_text(input);
        sig := shingles(d, a);
    EXCEPTION WHEN data_exception OR feature_not_supported THEN
        RETURN 'refused';
    END;
    IF shingles(d, a) <> sig OR sig::text::signature <> sig OR sig::bytea::signature <> sig
       OR describe(sig) IS NULL THEN
        RETURN 'not the same again';
    END IF;
    FOR i IN 1 .. 6 LOOP
        BEGIN
            CASE i WHEN 1 THEN IF minhash(d, 8, 0, a) <> minhash(sig, 8) THEN RETURN 'minhash'; END IF;
                WHEN 2 THEN PERFORM neardup_words(d, a);
                WHEN 3 THEN PERFORM long_sentences(d, analysis => a), text_hash(d, a), sentence_pairs(d, a);
                WHEN 4 THEN PERFORM top_words(d, 3, a), weighted_words(d, a);
                WHEN 5 THEN PERFORM shared_passages(d, d, 2, 1, a), coverage(d, d, 1, analysis => a), copied_cases(d, d, 'edited', 0, 0, a);
                ELSE PERFORM (lexicon_describe(lexicon_agg(d, a))).words, weighted_shingles(d, shingle_lexicon_agg(d, a));
            END CASE;
        EXCEPTION WHEN OTHERS THEN
            IF NOT allowed(SQLSTATE) THEN RETURN 'use ' || i || ': ' || SQLERRM; END IF;
        END;
    END LOOP;
    RETURN 'accepted';
END $$;

-- What two texts share, whichever comes first
CREATE FUNCTION check_passages(a text, b text, analysis text, min_words int, max_gap int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    covered record;
BEGIN
    IF EXISTS (SELECT FROM shared_passages(a, b, min_words, max_gap, analysis)
               WHERE NOT (a_start >= 1 AND a_length > 0 AND a_start - 1 + a_length <= length(a)
                     AND b_start >= 1 AND b_length > 0 AND b_start - 1 + b_length <= length(b)
                     AND similarity > 0 AND similarity <= 1)) THEN
        RETURN 'passages: places';
    END IF;
    IF EXISTS (SELECT * FROM shared_passages(a, b, min_words, max_gap, analysis) EXCEPT ALL
               SELECT b_start, b_length, a_start, a_length, similarity FROM shared_passages(b, a, min_words, max_gap, analysis)) THEN
        RETURN 'passages: the other way round';
    END IF;
    IF max_gap = 0 AND EXISTS (
        SELECT FROM shared_passages(a, b, min_words, 0, analysis)
        WHERE similarity < 1 OR cardinality(neardup_words(substr(a, a_start, a_length), analysis)) < min_words) THEN
        RETURN 'passages: not the same words';
    END IF;
    SELECT * INTO covered FROM coverage(a, b, min_words, max_gap, analysis);
    IF NOT covered.of_a BETWEEN 0 AND 1 OR NOT covered.of_b BETWEEN 0 AND 1 OR
       (covered.of_a > 0) <> EXISTS (SELECT FROM shared_passages(a, b, min_words, max_gap, analysis)) THEN
        RETURN 'coverage';
    END IF;
    SELECT * INTO covered FROM coverage(a, a, 1, 0, analysis);
    IF covered.of_a <> covered.of_b THEN RETURN 'coverage of itself'; END IF;
    IF EXISTS (SELECT FROM copied_cases(a, b, 'rewritten', 0, 0, analysis)
               WHERE NOT (a_start >= 1 AND a_length > 0 AND a_start - 1 + a_length <= length(a)
                     AND b_start >= 1 AND b_length > 0 AND b_start - 1 + b_length <= length(b)
                     AND similarity > 0 AND similarity <= coverage AND coverage <= 1)) THEN
        RETURN 'cases: places';
    END IF;
    IF EXISTS (SELECT * FROM copied_cases(a, b, 'edited', 0, 0, analysis) EXCEPT ALL
               SELECT b_start, b_length, a_start, a_length, similarity, coverage FROM copied_cases(b, a, 'edited', 0, 0, analysis)) THEN
        RETURN 'cases: the other way round';
    END IF;
    PERFORM highlight(a, b, min_words, max_gap, analysis => analysis), passages_html(a, b, min_words, max_gap, analysis => analysis);
    RETURN NULL;
END $$;

CREATE FUNCTION try_document(input bytea) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    d text;
    a text;
    found text;
    sig signature;
BEGIN
    BEGIN
        d := as_text(input);
    EXCEPTION WHEN data_exception THEN
        RETURN 'refused';
    END;
    FOREACH a IN ARRAY ARRAY['', 'english stop html k=2', 'unit=char k=4', 'russian unit=sentence order=sorted k=1',
        'unit=line k=1 accents=fold', 'repeats=number minlen=2 k=1', 'unit=letter k=6 hyphens=join',
        'english hyphens=join'] LOOP
        sig := shingles(d, a);
        IF minhash(d, 16, 0, a) <> minhash(sig, 16) OR bottom(d, 4, 0, a) <> bottom(sig, 4)
           OR sample(d, 2, 0, a) <> sample(sig, 2) OR simhash(d, 0, a) <> simhash(sig)
           OR supershingles(d, 2, 3, 0, a) <> supershingles(sig, 2, 3) THEN
            RETURN 'composition: ' || a;
        END IF;
        IF similarity(sig, sig) <> (CASE WHEN sig::bigint[] = '{}' THEN 0 ELSE 1 END)
           OR sig::bytea::signature <> sig THEN
            RETURN 'shingles: ' || a;
        END IF;
    END LOOP;
    PERFORM winnow(d, 3), every_nth(d, 2), anchored(d, '{the,a}'), sif(d, '{the,a}', 5), koala(d, 5, 3),
        text_hash(d), sentence_pairs(d), long_sentences(d), top_words(d), weighted_words(d),
        shingles('english'::regconfig, d), neardup_words(d, 'html');
    PERFORM heavy_sentences(d, words), imatch(d, words), fuzzy_fingerprint(d, words), identity(d, d, words),
        weighted_words(d, words), top_words(d, words)
    FROM own_words WHERE (lexicon_describe(words)).documents > 0;
    SELECT max(found_here) INTO found
    FROM (SELECT coalesce(check_passages(body, d, '', 1, 0), check_passages(body, d, 'html k=2', 3, 4),
                          check_passages(body, d, 'english stop', 8, 8), check_passages(body, d, 'hyphens=join', 2, 2)) AS found_here FROM documents) p;
    IF found IS NOT NULL THEN RETURN found; END IF;
    RETURN 'accepted';
EXCEPTION WHEN OTHERS THEN
    RETURN CASE WHEN allowed(SQLSTATE) AND SQLSTATE <> '22000' THEN 'refused' ELSE SQLERRM END;
END $$;

-- Arrays of features, weights and word sets, as their text
CREATE FUNCTION try_arrays(input bytea) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    parts text[];
    n int := 0;
    found text;
BEGIN
    BEGIN
        parts := string_to_array(as_text(input), ';');
    EXCEPTION WHEN data_exception THEN
        RETURN 'refused';
    END;
    FOR i IN 1 .. 6 LOOP
        BEGIN
            found := NULL;
            CASE i
                WHEN 1 THEN found := check_signature(signature_from(parts[1]::bigint[]));
                WHEN 2 THEN found := check_signature(signature_from(parts[1]::bigint[], parts[2]::int[]));
                WHEN 3 THEN found := check_signature(signature_weighted(parts[1]::bigint[], parts[3]::real[]));
                WHEN 4 THEN PERFORM winnow(parts[1]::bigint[], (parts[2]::int[])[1]);
                WHEN 5 THEN PERFORM descriptive_words(body, ROW('', parts[1]::bigint[], parts[3]::real[], '{}')::word_set) FROM documents;
                ELSE PERFORM minhash(body, (parts[2]::int[])[1]), bottom(body, (parts[2]::int[])[2]), sample(body, (parts[2]::int[])[3]),
                    shingles(body, (parts[2]::int[])[1]) FROM documents WHERE body <> '';
            END CASE;
            n := n + 1;
            IF found <> 'accepted' THEN RETURN i || ': ' || found; END IF;
        EXCEPTION WHEN OTHERS THEN
            IF NOT allowed(SQLSTATE) THEN RETURN 'use ' || i || ': ' || SQLERRM; END IF;
        END;
    END LOOP;
    RETURN CASE WHEN n > 0 THEN 'accepted' ELSE 'refused' END;
END $$;

-- Options of an index and arguments of a guard
CREATE TABLE optional (id int PRIMARY KEY, sig signature, twin int);
INSERT INTO optional SELECT row_number() OVER (), sig FROM distinct_good WHERE spec_of(sig) = spec_of(shingles(''));
CREATE FUNCTION try_options(input bytea) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    options text;
    state text;
BEGIN
    BEGIN
        options := as_text(input);
        EXECUTE format('CREATE INDEX optional_sig ON optional USING gin (sig signature_gin_ops (ell = %L, threshold = %L)) WITH (fastupdate = off)',
            split_part(options, ';', 1), split_part(options, ';', 2));
        IF (SELECT count(*) FROM optional a, optional b WHERE near_duplicate(a.sig, b.sig, 0.9))
           <> (SELECT count(*) FROM optional a, optional b WHERE similarity(a.sig, b.sig) >= 0.9) THEN
            RETURN 'index';
        END IF;
        EXECUTE format('CREATE TRIGGER guard AFTER INSERT ON optional FOR EACH ROW EXECUTE FUNCTION neardup_guard(%L, %L, %L)',
            'sig', split_part(options, ';', 3), 'warn');
        INSERT INTO optional SELECT id + 100, sig FROM optional;
        RAISE 'undone' USING ERRCODE = 'UNDON';
    EXCEPTION WHEN OTHERS THEN
        state := SQLSTATE;
        IF state NOT IN ('UNDON', '55000') AND NOT allowed(state) THEN RETURN SQLERRM; END IF;
    END;
    RETURN CASE WHEN state = 'UNDON' THEN 'accepted' ELSE 'refused' END;
END $$;

-- Once in a while, with what was accepted: the index and the joins find what
-- the plain conditions find.
CREATE FUNCTION near_pairs() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    answers text[] := '{}';
    answer text;
BEGIN
    FOR i IN 1 .. 3 LOOP
        PERFORM set_config('neardup.enable_join', CASE i WHEN 3 THEN 'on' ELSE 'off' END, true),
            set_config('enable_seqscan', CASE i WHEN 2 THEN 'off' ELSE 'on' END, true),
            set_config('enable_bitmapscan', CASE i WHEN 2 THEN 'on' ELSE 'off' END, true),
            set_config('enable_nestloop', CASE i WHEN 3 THEN 'off' ELSE 'on' END, true),
            set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true);
        BEGIN
            EXECUTE 'SELECT count(*) || '' '' || coalesce(sum(a.id * 31 + b.id), 0) FROM accepted a JOIN accepted b
                ON spec_of(a.sig) = spec_of(b.sig) AND near_duplicate(a.sig, b.sig, 0.7) AND a.id < b.id' INTO answer;
        EXCEPTION WHEN OTHERS THEN
            answer := SQLSTATE || ' ' || SQLERRM;
        END;
        answers := answers || answer;
    END LOOP;
    PERFORM FROM (SELECT spec_of(sig) AS spec FROM accepted GROUP BY 1 ORDER BY count(*) DESC LIMIT 3) m,
        near_duplicate_groups(format('SELECT id, sig FROM accepted WHERE spec_of(sig) = %L ORDER BY id', m.spec), 0.7);
    RETURN CASE WHEN answers[1] = ALL (answers) AND answers[1] !~ '^XX' THEN 'accepted' ELSE answers::text END;
END $$;
SQL

# The inputs to alter, by kind: a query for those of a column, or a list
my %kinds = (
	signature_bytes => 'SELECT sig::bytea FROM distinct_good ORDER BY sig',
	signature_text => q{SELECT convert_to(sig::text, 'UTF8') FROM distinct_good ORDER BY sig},
	query_text => q{SELECT convert_to(q::text, 'UTF8') FROM (SELECT sig,
		signature_query(sig, 0.8) AS q FROM distinct_good
		WHERE sig::text !~ '^(weighted|dense)') s ORDER BY sig},
	query_bytes => q{SELECT signature_query_send(signature_query(sig, t, m)) FROM distinct_good,
		(VALUES (0.8, 'jaccard'), (0.01, 'overlap_coefficient')) v(t, m)
		WHERE get_byte(sig::bytea, 1) < 3 OR m = 'jaccard' AND by_threshold(sig) ORDER BY 1},
	lexicon_bytes => 'SELECT words::bytea FROM lexicons ORDER BY words::text',
	sealed_lexicon => 'SELECT words::bytea FROM lexicons ORDER BY words::text',
	lexicon_text => q{SELECT convert_to(words::text, 'UTF8') FROM lexicons ORDER BY words::text},
	analysis => [
		'', 'english', 'russian html stop', 'k=5', 'unit=char k=8', 'order=sorted minlen=2 maxlen=20',
		'digits=drop accents=fold script=latin', 'repeats=number unit=sentence',
		'ukrainian order=xor', 'persian order=sum unit=line k=1', 'unit=letter k=9 hyphens=join' ],
	document => q{SELECT convert_to(body || b, 'UTF8') FROM documents, unnest(ARRAY['',
		'&lt;p&#x41;&#65;&nbsp;<script>x</script><!-- no --><style> a', 'e' || chr(769) || ' ﬁ ½ ' || chr(65279),
		'inter-' || chr(10) || 'na' || chr(173) || chr(10) || 'tional ' || chr(8208) || chr(13) || chr(10) || '¬']) b ORDER BY 1},
	arrays => [
		'{1,2,3};{1,2,3};{0.5,1,2}', '{};{};{}', '{-1,9223372036854775807};{2147483647,2147483647,7};{1e38,1e-45,NaN}',
		'{5,5,5,6};{1,1,0,2};{3,Infinity,-1,0}', '{NULL,1};{65536,10,2};{NULL,1}' ],
	options => [
		'0f,1e0;0.5;0.8', ';0.8;0.9', '00000001,ffffffff,abc;1;1', '1,2,3,4,5,6;0.01;1e-1' ]);
# Kinds that are sent by the binary protocol, too, or only by it; and their types
my %types = (
	signature_bytes => 'signature',
	lexicon_bytes => 'lexicon',
	query_bytes => 'signature_query');
# Slower kinds are tried less often.
my %often = (options => 60, document => 20, arrays => 20);
my @words = (
	'k=', 'unit=', 'hyphens=', 'order=', 'config=', 'minlen=', 'script=', 'repeats=number', 'english', 'stop', 'html',
	'{', '}', ',', ':', '[', ']', '(', ')', '#', ' ', '-', '+', '.', '0', '1', '65535', '4294967295', '-1',
	'18446744073709551616', '1e999', 'nan', 'inf', '0x1', '.5', ';', '"', "'", '<', '&#', "\n", "\t", "\0",
	"\xd0\xb0", "\xe2\x80\x8c", "\xf0\x9f\x98\x80", "\xcc\x81", "\xff", "\xc0\x80", 'ffffffffffffffff', 'features', 'minhash');

# Create tables and functions; return the source of inputs.
sub new
{
	my ($class, $connection) = @_;
	my $self = bless { kinds => [ sort keys %kinds ] }, $class;

	$connection->run('SET client_min_messages = warning;
		CREATE EXTENSION IF NOT EXISTS neardup;
		DROP SCHEMA IF EXISTS fuzz_values CASCADE');
	$connection->run($functions);
	my $untested = $connection->query("CREATE FUNCTION sealed_lexicon(bytea) RETURNS bytea
		AS '\$libdir/neardup', 'neardup_sealed_lexicon' LANGUAGE C STRICT")->{error};
	$self->{kinds} = [ grep { $_ ne 'sealed_lexicon' } @{ $self->{kinds} } ] if $untested;
	foreach my $kind (@{ $self->{kinds} })
	{
		my $source = $kinds{$kind};

		$self->{seeds}{$kind} = ref $source
		  ? [@$source]
		  : [ map { pack 'H*', substr($_->[0], 2) } grep { defined $_->[0] } @{ $connection->query($source)->{rows} } ];
	}
	return $self;
}

# Settings of a new connection
sub prepare
{
	my ($self, $connection) = @_;

	$connection->run("SET search_path = fuzz_values, public;
		SET client_min_messages = error; SET statement_timeout = '600s'");
	return;
}

# The type that a kind of input can be received as, or undef
sub type { return $types{ $_[1] }; }

# Whether a function of the server tries inputs of that kind
sub has_function { return $_[1] ne 'query_bytes'; }

# One alteration of a string of bytes
sub _alter
{
	my ($dice, $input, $other) = @_;
	my $size = length $input;
	my $at = $dice->below($size + 1);
	my $byte = sub { chr $dice->any(0, 1, 127, 128, 254, 255, $dice->below(256)) };

	return substr($input, 0, $at) if $dice->one_in(12);
	return $dice->any(
		sub { substr($input, 0, $at) . substr($input, $at > $size - 1 ? $size : $at + 1) },
		sub { substr($input, 0, $at) . $byte->() . substr($input, $at) },
		sub { substr($input, $at, 1, $byte->()) if $at < $size; $input },
		# a digit in the place of another
		sub { substr($input, $at, 1) = $dice->below(10) if substr($input, $at, 1) =~ /^[0-9]/; $input },
		sub { vec($input, $dice->below($size * 8), 1) ^= 1 if $size; $input },
		# a whole value of 4 or 8 bytes
		sub
		{
			my $width = $dice->any(4, 8);
			my $place = int($at / $width) * $width + $dice->any(0, 4);
			return $input if $place + $width > $size;
			substr($input, $place, $width) = $dice->any("\0" x $width, "\xff" x $width,
				"\1" . "\0" x ($width - 1), ("\0" x ($width - 1)) . "\x80", substr($input, $dice->below($size - $width + 1), $width));
			return $input;
		},
		# values removed or doubled, which keeps a binary value well-formed
		sub { my $n = 8 * (1 + $dice->below(3)); $size >= 28 + $n ? substr($input, 0, $size - $n) : $input },
		sub { $size > 36 ? $input . pack('Q<', unpack('Q<', substr($input, -8)) + $dice->below(3)) : $input },
		sub { substr($input, 0, $at) . $dice->any(@words) . substr($input, $at) },
		sub { substr($input, 0, $at) . substr($other, $dice->below(length($other) + 1)) },
		sub { my $n = $dice->below(20); substr($input, 0, $at) . substr($input, $at, $n) . substr($input, $at) })->();
}

# That number of inputs of a kind, altered at some places
sub inputs
{
	my ($self, $seed, $batch, $size) = @_;
	my $dice = Dice->new($seed * 1_000_003 + $batch);
	my $kind = $dice->any(grep { $dice->one_in($often{$_} || 1) } @{ $self->{kinds} });
	my $seeds = $self->{seeds}{$kind};
	my @inputs;

	$size = $size / 10 if $kind eq 'options';
	for (1 .. $size)
	{
		my $input = $dice->any(@$seeds);

		$input = _alter($dice, $input, $dice->any(@$seeds)) for 1 .. 1 + $dice->below(3);
		# the analysis, which is a small part of it
		vec($input, $dice->below(20 * 8), 1) ^= 1 if $kind eq 'sealed_lexicon' && $dice->one_in(2);
		push @inputs, $input;
	}
	return $kind, @inputs;
}

1;
