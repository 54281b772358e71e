--
-- The analysis argument: its words, and its canonical form
--

-- The signature has the canonical text: fixed order, defaults left out
SELECT shingles('', 'k=5 order=keep unit=word simple');
SELECT shingles('', E'STOP\n\tEnglish  Order=SUM k=007 UNIT=Sentence digits=DROP maxlen=25 minlen=3 ');
SELECT shingles('', 'unit=char k=5'), shingles('', 'unit=line');
SELECT shingles('', 'repeats=number script=CJK accents=Fold digits=drop russian');
SELECT sig::text::signature = sig AS same, describe(sig)
FROM (SELECT shingles('Café', 'script=latin accents=fold k=1')) s (sig);
SELECT shingles('', 'minlen=1 maxlen=255'); -- every word has a character
SELECT shingles('', 'order=sorted'), shingles('', 'order=xor');
SELECT shingles(''), shingles('', ''), shingles('', 7), shingles('', 7, 'english');
SELECT shingles('', 'ukrainian stop k=1'), shingles('', 'persian k=1000');

-- Its hash: two texts of one canonical form are one spec, others are not
SELECT shingles('a b c', 'english stop') = shingles('a b c', 'stop English k=3') AS same,
       shingles('a b c', 'english stop') = shingles('a b c', 'english') AS other;
SELECT count(*) AS analyses, count(DISTINCT substr(shingles('', a)::bytea, 9, 4)) AS hashes
FROM unnest(ARRAY['', 'k=4', 'k=5', 'english', 'russian', 'english stop', 'minlen=2', 'minlen=3', 'maxlen=3',
                  'digits=drop', 'accents=fold', 'script=latin', 'script=greek', 'unit=char', 'unit=line', 'unit=sentence', 'order=sorted', 'order=xor',
                  'order=sum', 'english k=4']) a;

-- Markup is not part of the spec
SELECT shingles('<b>a rose</b> is', 'html') = shingles('a rose is') AS same;

-- Every language that this libstemmer has is accepted by its name
SELECT name, shingles('', name)::text
FROM unnest('{arabic,armenian,basque,catalan,danish,dutch,english,finnish,french,german,greek,hindi,hungarian,indonesian,irish,italian,lithuanian,nepali,norwegian,porter,portuguese,romanian,russian,serbian,spanish,swedish,tamil,turkish,ukrainian,yiddish,persian}'::text[]) name
WHERE shingles('', name)::text <> format('shingles[%s k=3]{}', name);

-- and every language with a list of stop words is accepted with "stop"
SELECT name
FROM unnest('{danish,dutch,english,finnish,french,german,hungarian,italian,nepali,norwegian,portuguese,russian,spanish,swedish,turkish,ukrainian,persian,porter}'::text[]) name
WHERE shingles('', name || ' stop')::text <> format('shingles[%s stop k=3]{}', name);

-- Errors
\set VERBOSITY terse
SELECT shingles('', 'klingon'); -- the hint depends on libstemmer
SELECT shingles('', 'english kk=3');
SELECT shingles('', '=');
SELECT shingles('', 'k=');
SELECT shingles('', 'greek stop');
SELECT shingles('', 'stop');
SELECT shingles('', repeat('x', 300));
\set VERBOSITY default
SELECT shingles('', 'unit=paragraph');
SELECT shingles('', 'order=');
SELECT shingles('', 'digits=keep');
SELECT shingles('', 'accents=keep');
SELECT shingles('', 'script=roman');
SELECT shingles('', 'script=latin script=greek');
SELECT shingles('', 'minlen=0');
SELECT shingles('', 'maxlen=256');
SELECT shingles('', 'minlen=-1');
SELECT shingles('', 'k=0');
SELECT shingles('', 'k=1001');
SELECT shingles('', 'k=99999999999999999999');
SELECT shingles('', 'k=3x');
SELECT shingles('', 'minlen=5 maxlen=4');
SELECT shingles('', 'english russian');
SELECT shingles('', 'simple english');
SELECT shingles('', 'html HTML');
SELECT shingles('', 'k=3 k=4');
SELECT shingles('', 'unit=char unit=char');
SELECT shingles('', 0);
SELECT shingles('', -1, 'english');
SELECT shingles('', 1001);
SELECT shingles('', 4, 'english k=5');
SELECT shingles('', 5, 'english k=5'); -- the same is none

-- The hints list the known words
DO $$
DECLARE
    hint text;
    analysis text;
BEGIN
    FOREACH analysis IN ARRAY '{klingon,stop}'::text[] LOOP
        BEGIN
            PERFORM shingles('', analysis);
        EXCEPTION WHEN invalid_parameter_value THEN
            GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
            RAISE NOTICE '%: % % %', analysis, hint LIKE '%english%', hint LIKE '%russian%', hint LIKE '%persian%';
        END;
    END LOOP;
END $$;

-- Arguments as for to_tsvector()
SELECT shingles('english', 'some text');
SELECT shingles('english', ' some text');
SELECT shingles('simple', 'Some text');
SELECT shingles('some text', 'english') = shingles('some text', 3, 'english') AS right_way;
SELECT shingles('english', 'stop english k=1'); -- a document of one word

-- Arguments by name
SELECT shingles(doc => 'a b c', analysis => 'english') = shingles('a b c', 'english') AS same;
SELECT shingles(doc => 'a b c', k => 2) = shingles('a b c', 2) AS same;

-- NULL
SELECT shingles(NULL) IS NULL AND shingles('a', NULL::int) IS NULL AND shingles('a', NULL::text) IS NULL AS strict;

-- Another analysis in every row
SELECT a, shingles('The roses', a) FROM unnest(ARRAY['k=1', 'english k=1', 'k=1', 'english stop k=1', 'order=sum k=1', 'k=2']) WITH ORDINALITY u (a, n)
ORDER BY n;

-- A signature in a language that this libstemmer lacks can be read, but not computed
SELECT 'shingles[lovins k=3]{}'::signature;
\set VERBOSITY terse
SELECT shingles('', 'lovins');
\set VERBOSITY default

-- Recipes: lines of a log, and letters with a counter, are equal without their
-- numbers; translate() folds letters that look alike
SELECT similarity(shingles(a), shingles(b)) < 0.3 AS as_they_are, similarity(shingles(a, 'digits=drop k=2'), shingles(b, 'digits=drop k=2')) AS without_numbers
FROM (VALUES ('2026-11-02 09:14:03 app[412]: connection from 10.0.3.17 port 51442 closed after 12 ms',
              '2026-11-03 11:00:51 app[77]: connection from 10.0.4.2 port 60001 closed after 3051 ms'),
             ('Reminder no 17: your invoice 2026-0412 is still open, please pay by 3 May',
              'Reminder no 18: your invoice 2026-0977 is still open, please pay by 9 May'),
             ('2026-11-02 09:14:03 app[412]: connection from 10.0.3.17 closed', '2026-11-02 09:14:09 app[412]: connection from 10.0.3.17 refused')) v (a, b);
SELECT neardup_words(a) && neardup_words(b) AS common, similarity(shingles(a, 'unit=char k=5'), shingles(b, 'unit=char k=5')) < 0.2 AS characters,
       shingles(a) = shingles(translate(b, 'аеорсух', 'aeopcyx')) AS folded
FROM (SELECT a, translate(a, 'aeopcyx', 'аеорсух') FROM (VALUES ('Please confirm your password on our page today')) v (a)) v (a, b);
