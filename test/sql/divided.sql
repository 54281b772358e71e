--
-- Words divided at line ends, as in text out of PDFs and OCR: hyphens=join, and
-- letters without the blanks between words: unit=letter
--

-- each divider
SELECT d AS divider, neardup_words(format(E'inter%s\nnational', chr(d)), 'hyphens=join') AS joined,
       neardup_words(format(E'inter%s\nnational', chr(d)), '') AS plain
FROM unnest('{45,8208,173,172}'::int[]) d;
-- other dashes divide nothing
SELECT neardup_words(format(E'inter%s\nnational', chr(d)), 'hyphens=join') FROM unnest('{95,8209,8211,8212,8722}'::int[]) d;
-- line ends and white space
SELECT neardup_words(E'a-\r\nb c- \t\n\t d e-\n\nf g-\ff h-\x0bi k-\rl', 'hyphens=join');
-- a divider that is not at a line end, or alone
SELECT neardup_words(E'self-made pre- and post-war soft\u00ADly x\u00ACy a -\nb 1 \u00AC\nc (d)-\ne -\nf g--\nh', 'hyphens=join');
-- and at either end of the text
SELECT neardup_words(E'-\na-\n', 'hyphens=join'), neardup_words(E'a-', 'hyphens=join'), neardup_words(E'a\u00AC\n', 'hyphens=join');
-- after a hyphen, capitals and numbers are separate words; a soft hyphen or a not sign joins all
SELECT neardup_words(E'Anglo-\nSaxon EU-\nStaat COVID-\n19 4-\nfold LIMITA-\nTION NATION-\nA \u01C5-\n\u01C5', 'hyphens=join');
SELECT neardup_words(E'Mc\u00AD\nKay COVID\u00AC\n19 19\u00AD\n95', 'hyphens=join');
-- other scripts: with capitals, without
SELECT neardup_words(E'междуна-\nродный Нью-\nЙорк МЕЖДУ-\nНАРОДНЫЙ Δημο\u2010\nκρατία שלו-\nם п''-\nять', 'hyphens=join');
-- letters that fold to several, or carry marks
SELECT neardup_words(E'specie-\n\uFB01c e\u0301-\nte\u0301 x-\n\u0301y', 'hyphens=join');
-- several times, and a run that is cut because of its length
SELECT neardup_words(E'in-\nter-\nna-\ntion-\nal', 'hyphens=join');
SELECT array_agg(length(w)) FROM unnest(neardup_words(repeat('x', 1000) || E'-\n' || repeat('y', 1000), 'hyphens=join')) w;

-- Random texts, also joined by SQL, with and without stemming
CREATE FUNCTION joined(doc text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
SELECT regexp_replace(doc, replace(replace(replace(
    '(?<=[ANY])[-‐]LINE(?=[a-zéа-яё])|(?<=[CAPITAL])[-‐]LINE(?=[CAPITAL]{2})|(?<=[ANY0-9])[­¬]LINE(?=[ANY0-9])',
    'LINE', E'[ \\t]*[\\n\\v\\f\\r][ \\t\\n\\v\\f\\r]*'), 'ANY', 'a-zéа-яёCAPITAL' || U&'\0301'), 'CAPITAL', 'A-ZÉА-ЯЁ'), '', 'g') $$;
CREATE FUNCTION random_text(seed bigint, n int, separators text[]) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    pieces text[] := ARRAY['inter', 'national', 'Name', 'WORD', 'x2', '19', 'été', 'ÉTÉ', 'слово', 'Ёж', 'МИР', 'I', 'q', U&'e\0301'];
    result text := '';
BEGIN
    FOR i IN 1..n LOOP
        seed := (seed * 1103515245 + 12345) % 2147483648;
        result := result || pieces[1 + seed / 65536 % cardinality(pieces)];
        seed := (seed * 1103515245 + 12345) % 2147483648;
        result := result || separators[1 + seed / 65536 % cardinality(separators)];
    END LOOP;
    RETURN result;
END $$;
CREATE TABLE random_texts AS
SELECT random_text(seed, 60, ARRAY[E'-\n', E'-\r\n', E'- \n  ', E'\u2010\n', E'\u00AD\n', E'\u00AC\n', E'-\n\n', '-', '- ', E'\u00AC', E'\u00AD',
                                   E'\n', ' ', ' ', E'. ', E'.-\n', E' -\n']) AS body
FROM generate_series(1, 400) seed;
-- across the borders of chunks and blocks, too
INSERT INTO random_texts SELECT string_agg(body || repeat(' more-' || E'\n' || 'over', n::int % 40), ' ') FROM (SELECT body, row_number() OVER () AS n FROM random_texts) t;
INSERT INTO random_texts
SELECT repeat('x', p) || E' LIMITA\u00AD\r\nTION inter-\n  national' || repeat(E' law-\nful', 20000) FROM generate_series(1000, 1060, 3) p;
SELECT analysis, count(*) AS texts, count(*) FILTER (WHERE shingles(body, analysis || ' hyphens=join')::bytea <> shingles(body, analysis)::bytea) AS divided,
       count(*) FILTER (WHERE shingles(body, analysis || ' hyphens=join')::bytea <> shingles(joined(body), analysis)::bytea) AS different
FROM random_texts, unnest('{simple,russian,turkish,order=sum k=2}'::text[]) analysis GROUP BY 1 ORDER BY analysis COLLATE "C";

-- Where nothing is divided, the bytes are those without the word
SELECT count(*) AS texts, count(*) FILTER (WHERE shingles(body, 'hyphens=join')::bytea <> shingles(body)::bytea) AS different
FROM generate_series(1, 200) seed, random_text(seed, 60, ARRAY['-', '- ', E'\u00AC', E'\u00AD', E'\n', ' ', '. ', E'.-\n', E' -\n', E'\r\n']) body;
-- and hyphens=join is not part of the spec
SELECT shingles(E'a-\nb c d', 'hyphens=join k=2') = shingles('ab c d', 2) AS same, describe(shingles('a', 'hyphens=join'));

-- Sentences: an empty line ends one; lines: each line end does
SELECT shingles(E'One inter-\nnational law. Two.', 'unit=sentence k=1 hyphens=join') = shingles('One international law. Two.', 'unit=sentence k=1') AS sentence,
       shingles(E'inter-\n\nnational', 'unit=sentence k=1 hyphens=join') = shingles(E'inter.\n\nnational', 'unit=sentence k=1') AS paragraph,
       shingles(E'inter-\nnational', 'unit=line k=1 hyphens=join') = shingles(E'inter\nnational', 'unit=line k=1') AS line;
-- with markup
SELECT neardup_words('inter-<br>na<b>tion</b>al so&shy;<p>ft e&not;<br/>nd <i>a-</i>' || E'\n' || '<i>b</i>', 'html hyphens=join');

-- Places are those in the original text
CREATE TABLE divided (a text, b text);
INSERT INTO divided VALUES (E'Last year the inter-\nnational committee met in Ge\u00AD\r\n  neva for the first time. They went home.',
                            'They say that the international committee met in Geneva for the first time, but no.');
-- psql 15 counts a soft hyphen as one column wide, psql 17 as none
SELECT p.*, translate(substr(a, a_start, a_length), U&'\00AD', '~') AS in_a, substr(b, b_start, b_length) AS in_b
FROM divided, shared_passages(a, b, analysis => 'hyphens=join', min_words => 5) p;
SELECT translate(highlight(a, b, analysis => 'hyphens=join', min_words => 5), U&'\00AD', '~') AS highlight FROM divided;
SELECT count(*) AS as_it_stands FROM divided, shared_passages(a, b, min_words => 10);

-- Statistics keep the option
SELECT lexicon_describe(l), l::text::lexicon = l AS text, l::bytea::lexicon = l AS bytes, (lexicon_word(l, 'committee')).df AS committee, (lexicon_word(l, 'geneva')).df AS geneva
FROM (SELECT lexicon_agg(a, 'hyphens=join') AS l FROM divided) t;
SELECT lexicon_describe(lexicon_agg(a, 'html english hyphens=join')) FROM divided;
SELECT weighted_words(a, l, 'tf') = weighted_words(joined(a), l, 'tf') AS same
FROM divided, (SELECT lexicon_agg(joined(a), 'hyphens=join') AS l FROM divided) t;

-- Words from a text-search configuration: SQL joins them
CREATE TABLE configured (body text, sig signature GENERATED ALWAYS AS
    (shingles('english'::regconfig, regexp_replace(body, '([a-z])[-‐­¬][ \t]*[\n\r]\s*([a-z])', '\1\2', 'g'), 2)) STORED);
INSERT INTO configured VALUES (E'inter-\nnational com\u00AC\r\n  mittees met'), ('international committees met');
SELECT count(DISTINCT sig) AS signatures FROM configured;

-- Letters: the same however words are divided
SELECT shingles(E'inter-\nnational softw are 2.0', 'unit=letter k=8') = shingles('international software 20', 'unit=letter k=8') AS same;
SELECT describe(shingles('ab cd', 'unit=letter k=4')), shingles('', 'unit=letter');
SELECT s::text::signature = s AS text, s::bytea::signature = s AS bytes FROM shingles('ab cd', 'unit=letter k=3') s;
-- they are runs of k of the words' characters
SELECT analysis, count(*) AS texts,
       count(*) FILTER (WHERE shingles(body, analysis || ' unit=letter k=5')::bigint[] <>
                              shingles(array_to_string(neardup_words(body, analysis), ''), 'unit=char k=5')::bigint[]) AS different
FROM (SELECT body FROM random_texts WHERE length(body) < 2000) t, unnest('{simple,english stop,digits=drop,hyphens=join minlen=3}'::text[]) analysis
GROUP BY 1 ORDER BY analysis COLLATE "C";
-- functions of words refuse them, statistics of shingles accept them
SELECT lexicon_agg(a, 'unit=letter') FROM divided;
SELECT lexicon_describe(shingle_lexicon_agg(a, 'unit=letter k=8')) FROM divided;
SELECT shingles('', 'letters'), 1;
SELECT shingles('', 'hyphens=keep');
SELECT shingles('', 'hyphens');
SELECT shingles('', 'hyphens=join hyphens=join');

DROP TABLE random_texts, divided, configured;
DROP FUNCTION joined, random_text;
