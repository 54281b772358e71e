--
-- Words: letters, folding, scripts, stemming, filters, markup
--

-- Letters and digits of any script; the underscore separates
SELECT neardup_words('Hello, World! snake_case x-ray 3.14 R2D2');
SELECT neardup_words(''), neardup_words(' .,;!? '), neardup_words(E'\n\t');
SELECT neardup_words(NULL) IS NULL AS strict;

-- NFKC case folding
SELECT neardup_words('STRASSE straße ﬁne ﬀ Å Å A' || U&'\030A' || ' ℌ x² ① Ⅷ ＡＢＣ１２ ΣΊΣΥΦΟΣ ǅ');
-- fractions are words, symbols are not
SELECT neardup_words('½ 2½ 1⁄2 Java™ 5 ㎏ €3 ☃ a+b');
-- ignorable characters join, a zero-width space separates
SELECT neardup_words(U&'in\00ADfor\2060ma\FEFFtion zero\200Bwidth x\FE0F');
-- a mark belongs to the letter before it, and to nothing else
SELECT neardup_words(U&'re\0301sume\0301 \0301x \0301 e\00AD\0301'), neardup_words(U&'re\0301sume\0301') = neardup_words('résumé') AS same;
-- a ligature of words
SELECT neardup_words('ﷺ');

-- Cyrillic: yo is ie; an apostrophe belongs to a word between two letters
SELECT neardup_words('Ёлка ёж ЕЩЁ ' || U&'\0435\0308\0436');
SELECT neardup_words('п''ять п’ять пʼять п`ять П´ЯТЬ ''п''ять'' п''''ять п'' п''5 rock''n''roll д''Artagnan о''' || U&'\00AD' || 'к');
SELECT neardup_words('Я їжджу щодня на роботу, а він — ні. Об’єкт, під’їзд, м''яч, Лук''янов і комп''ютер.', 'ukrainian');
SELECT neardup_words('Съешь же ещё этих мягких французских булок, да выпей чаю. Книги, книга, книгой.', 'russian');

-- Arabic script: one yeh and one kaf, no marks, no tatweel, joined by ZWNJ
SELECT neardup_words(U&'\0643\062A\0627\0628 \06A9\062A\0627\0628 \064A\06A9 \06CC\0643 \0639\0644\0649 \0639\0644\06CC', 'persian');
SELECT neardup_words(U&'\0639\064E\0644\064E\064A\0652\0643\064F\0645\0652 \0633\0640\0640\0644\0627\0645 \0640\0640 \0645\06CC\200C\062E\0648\0627\0647\0645', 'persian');
-- each character is like its normal forms, between letters and after one
SELECT count(*) > 1000 AS many, count(*) FILTER (WHERE words <> neardup_words(c, analysis)) AS composed, count(*) FILTER (WHERE words <> neardup_words(d, analysis)) AS decomposed
FROM unnest('{"",turkish}'::text[]) analysis,
     (SELECT format(f, chr(n)) AS text, normalize(format(f, chr(n)), NFC) AS c, normalize(format(f, chr(n)), NFD) AS d
      FROM generate_series(160, 63743) n, unnest('{x%sy,п%sк,I%s}'::text[]) f
      WHERE n NOT BETWEEN 55296 AND 57343 AND n NOT BETWEEN 44032 AND 55203 AND (chr(n) IS NOT NFC NORMALIZED OR chr(n) IS NOT NFD NORMALIZED)) t,
     neardup_words(text, analysis) words;
-- a letter that can be composed is one letter, composed or not
SELECT neardup_words(U&'\0622\0628 \0627\0653\0628 \0627\064E\0653\0628 \0623\062D\0645\062F \0627\0654\062D\0645\062F');
-- heh with a mark above: one letter, two, decomposed, and without the mark
SELECT neardup_words(U&'\062E\0627\0646\06C0 \062E\0627\0646\0647\0654 \062E\0627\0646\06D5\0654 \062E\0627\0646\0647', '') AS plain, neardup_words(U&'\06C0 \0647\0654', 'arabic') AS arabic;
SELECT neardup_words('بنی‌آدم اعضای یکدیگرند، که در آفرینش ز یک گوهرند. كتاب‌هاي من كجاست؟', 'persian');
-- Arabic keeps its own forms, for its stemmer
SELECT neardup_words('كتاب الكتاب والكتاب کتاب', 'arabic');

-- Turkish I
SELECT neardup_words('IŞIK ışık İZ iz I' || U&'\0307' || 'Z', 'turkish');
SELECT neardup_words('MİLLÎ Ìì I' || U&'\0323\0302\00AD\0307', 'turkish') AS words, neardup_words('MİLLÎ Ìì', 'turkish') = neardup_words(normalize('MİLLÎ Ìì', NFD), 'turkish') AS same;
SELECT neardup_words('xI' || U&'\0344' || 'y', 'turkish') = neardup_words(normalize('xI' || U&'\0344' || 'y'), 'turkish') AS same;

-- Scripts without spaces are segmented by ICU; its dictionaries grow with versions, so
-- only words that all versions know are printed
SELECT neardup_words('我们在北京学习中文。今天天气很好！') @> '{我们,在,北京,学习,中文,今天,天气}' AS chinese,
       neardup_words('私は日本語を勉強しています。PostgreSQLのデータベース') @> '{私,は,日本語,を,勉強,postgresql,の,データベース}' AS japanese,
       neardup_words('ภาษาไทยเป็นภาษาที่สวยงาม น้ำ ทำ') @> '{ภาษา,ไทย,เป็น,ที่,สวยงาม,น้ำ,ทำ}' AS thai;
SELECT cardinality(neardup_words('ພາສາລາວເປັນພາສາ')) > 1 AS lao, cardinality(neardup_words('ភាសាខ្មែរជាភាសា')) > 1 AS khmer,
       cardinality(neardup_words('မြန်မာဘာသာစကား')) > 1 AS burmese;
SELECT neardup_words('2024年に'), neardup_words('abcภาษา123');
SELECT neardup_words('ﾃﾞｰﾀﾍﾞｰｽ') = neardup_words('データベース') AS halfwidth,
       neardup_words('น' || U&'\0E33') = neardup_words('น' || U&'\0E4D\0E32') AS am;
SELECT neardup_words('안녕하세요 세계') = neardup_words(normalize('안녕하세요 세계', NFD)) AS hangul;

-- Stemming; stop words, lengths and digits are filtered before it
SELECT neardup_words('The quick brown foxes were jumping over the lazy dogs', 'english');
SELECT neardup_words('The quick brown foxes were jumping over the lazy dogs', 'english stop');
SELECT neardup_words('Don''t you know it''s his', 'english stop'), neardup_words('Daß die Männer müßten', 'german stop');
SELECT neardup_words('Я и ты, не мы, а они и она', 'russian stop'), neardup_words('Я і ти, не ми, а вони й вона', 'ukrainian stop');
SELECT neardup_words('این کتاب را می‌خواهم و آن را نمی‌خواهم', 'persian stop');
SELECT neardup_words('a bb ccc dddd eeeee ж жж жжж жжжж', 'minlen=3 maxlen=4');
SELECT neardup_words('one 2 three4 ٥ six² VII Ⅶ ⑧ nine', 'digits=drop');
SELECT neardup_words('on and off', 'english minlen=3 stop');
-- Accents: marks that letters of any script can carry, and strokes
SELECT neardup_words('Café crème ÜBER Łódź đà Việt Nam ảnh ớ ñandú Smørrebrød Ǿ Ħ ŧ ﬁancé', 'accents=fold'), neardup_words('ἀρχῇ Ἑλλάς ΐ', 'accents=fold');
-- Cyrillic letters are letters, composed or not; stress marks vanish
SELECT neardup_words(U&'мой мо\0438\0306 \0439\0301 їжак \0456\0308 ў ѓ ёж за\0301мок', 'accents=fold');
-- marks of one script are more than accents
SELECT neardup_words(U&'\304B\3099 \304C', 'accents=fold') = neardup_words('が が') AS kana, neardup_words('की हिन्दी أحمد', 'accents=fold') = neardup_words('की हिन्दी أحمد') AS others,
       neardup_words('안녕', 'accents=fold') = neardup_words('안녕') AS hangul;
SELECT neardup_words('I ı İ i Şeker', 'turkish accents=fold');
-- stop words and stems are those of the word without
SELECT neardup_words('Über für die Männer', 'german stop accents=fold') = neardup_words('Uber fur die Manner', 'german stop accents=fold') AS same,
       neardup_words('für die Männer', 'german stop accents=fold');
-- a Latin or Greek letter is its decomposition without the marks, except for strokes
SELECT count(*) AS letters, string_agg(c, ' ' ORDER BY n) FILTER (WHERE neardup_words('x' || c, 'accents=fold') <> neardup_words(regexp_replace(normalize('x' || c, NFKD), U&'[\0300-\0344\0346-\036F]', '', 'g'))) AS strokes
FROM (SELECT n, chr(n) AS c FROM generate_series(192, 1023) n UNION ALL SELECT n, chr(n) FROM generate_series(7680, 8188) n) t
WHERE n NOT BETWEEN 688 AND 890 AND neardup_words(c) <> '{}';
-- with any unit, and with the analysis of a lexicon
SELECT shingles('Café au lait', 'unit=char k=4 accents=fold') = shingles('cafe au lait', 'unit=char k=4 accents=fold') AS chars,
       shingles('Été là. Où?', 'unit=sentence accents=fold k=1') = shingles('Ete la. Ou?', 'unit=sentence accents=fold k=1') AS sentences,
       (lexicon_word(l, 'café')).df = 2 AND (lexicon_word(l, 'cafe')).df = 2 AND (lexicon_describe(l)).words = 3 AS lexicon, top_words('Café слово', l) = top_words('cafe', l) AS of_lexicon
FROM (SELECT lexicon_agg(d, 'accents=fold script=latin') FROM unnest('{café crème слово,cafe noir}'::text[]) d) s (l);

-- Scripts: that of the first letter; numbers are of any
SELECT neardup_words('Слово word 2nd 2й wordово R2D2 123 日本 データ ½', 'script=latin'), neardup_words('Слово word 2nd 2й wordово R2D2 123 日本 データ ½', 'script=cyrillic'),
       neardup_words('word 日本 データ の 한국 123', 'script=cjk digits=drop');
SELECT script FROM unnest('{latin,cyrillic,greek,arabic,hebrew,armenian,georgian,devanagari,bengali,gurmukhi,gujarati,oriya,tamil,telugu,kannada,malayalam,sinhala,ethiopic,thai,lao,khmer,burmese,hangul,cjk}'::text[]) WITH ORDINALITY s (script, n),
     LATERAL (SELECT array_to_string(neardup_words('w ж σ ک ש ա ა क ক ਕ ક କ க క ಕ ക ක ሀ ก ກ ក က 가 木', 'script=' || script), '') AS words) w
WHERE words IS DISTINCT FROM substr('wжσکשաაकকਕકକகకಕകකሀกກកက가木', n::int, 1);
SELECT neardup_words('the word слово и the слова', 'russian stop script=cyrillic');

-- unit, order and k do not matter here
SELECT neardup_words('to be or not to be', 'unit=char order=sorted k=9 english');

-- Markup: inline tags join, others separate
SELECT neardup_words('<p>One <b>bo</b>ld wo<i>rd</i><br/>next<td>cell</td>cell <H1 CLASS="a>b">Head</H1>line', 'html');
SELECT neardup_words('<style>p {x}</style>a<script type="x">var b = "<b>";</script>c<!-- d <e> -- f -->g<!doctype h><?php i ?>j', 'html');
SELECT neardup_words('caf&eacute; caf&#233; caf&#xE9; caf&eacute caf&#XE9 r&amp;b &Zcaron;&#142; &nbsp; x&nbsp;y &hearts; &zwnj;z&shy;z', 'html');
SELECT neardup_words('&unknown; & &; &#; &#x; &#0; &#1114112; &#99999999999999999999; &ampersand &lt;b&gt;', 'html');
-- the longest entity name that needs no semicolon
SELECT neardup_words('one&nbsptwo caf&eacutes &copy2024 &notit; &notin; &notin &frac123 &am &amp;eacute &eacut; x&sup2', 'html');
-- the end of a comment
SELECT neardup_words('a <!-- b > c --> d <!--> e <!---> f <!-- g -- > h --!> i <!----!> j <!--!> k -->l <!--> m', 'html');
SELECT neardup_words('a < b > c <3 d<e f', 'html'), neardup_words('x <!-- never closed', 'html'), neardup_words('x <a href="never closed>', 'html');
SELECT neardup_words('<![CDATA[data]]> <x:y z = ''>''>t</x:y> </> </ b> <a href=foo">u</a>', 'html');
-- an unclosed tag or comment in a section ends with it
SELECT neardup_words('<p><![CDATA[ use <script> for code ]]></p> rest of the page', 'html') AS script,
       neardup_words('<![CDATA[ a <b title="c ]]> d " > e', 'html') AS value,
       neardup_words('<![CDATA[ a <!-- b ]]> c <![CDATA[ d <i>e</i>]] <p>f</p> ]> &amp; <![CDATA[g]]> h <!-- i ]]> j', 'html') AS comment,
       neardup_words('<![CDATA[ a <style> b', 'html') AS open;
SELECT neardup_words('<a href=a?b="c>one</a> <p q== r=s=''t>two</p> <i a=b c = "d>e" f>three</i> two''s "four"', 'html');
SELECT neardup_words('<script/>a</script><SCRIPT>b</scripts>c</SCRIPT >d<script>e', 'html');
SELECT neardup_words('п<b>''</b>ять e<i>' || U&'\0301' || '</i>', 'html'), neardup_words('<'), neardup_words('<', 'html'), neardup_words('&', 'html');
SELECT neardup_words('<p>x</p>', '');

-- Long words are cut
SELECT length(w), left(w, 3) FROM unnest(neardup_words(repeat('ab', 1500))) w;
SELECT length(w), left(w, 3) FROM unnest(neardup_words(repeat('яж', 1500))) w;
SELECT length(w) FROM unnest(neardup_words(repeat('ﷺ', 3000))) w GROUP BY 1 ORDER BY 1;
SELECT length(w) FROM unnest(neardup_words('a' || repeat(U&'\0301', 3000))) w;
-- as characters they are one word, without the parts that are left out
SELECT shingles(repeat('ab', 1500) || ' c', 'unit=char k=4') = shingles('ababab c', 'unit=char k=4') AS whole,
       shingles('foo ' || repeat('a', 2058), 'unit=char k=4 maxlen=255') = shingles('foo aaaaaaaaaa', 'unit=char k=4 maxlen=255') AS end_of_one;
-- and a word that is left out leaves no space, also at the end
SELECT analysis, shingles('the cat sat', analysis || ' unit=char k=2') = shingles(doc, analysis || ' unit=char k=2') AS left_out
FROM (VALUES ('english stop', 'the cat sat on the'), ('english stop', 'on the the cat sat'), ('minlen=2', 'the x cat sat x y'),
             ('maxlen=4', 'the cat sat wherever'), ('digits=drop', '7 the cat 12 sat 77'), ('script=latin', 'the cat sat сидел')) v (analysis, doc);
-- and blocks of text make no difference
SELECT count(*), count(DISTINCT w), min(w), max(w) FROM unnest(neardup_words(repeat('слово word ', 20000))) w;
SELECT array_agg(DISTINCT w) FROM generate_series(65500, 65560) n, unnest(neardup_words(repeat(' ', n) || 'wordя словоw')) w;

-- Versions
SELECT component, version ~ '\d' AS fits FROM neardup_versions();

-- Cached stems, more and more of them, are those computed again: each word twice, far
-- from the first time and near
WITH d AS MATERIALIZED (
  SELECT string_agg(word, ' ' ORDER BY turn, n) AS doc
  FROM generate_series(1, 25000) n, generate_series(1, 2) turn,
       LATERAL (SELECT translate(md5(n::text), '0123456789', 'ghijklmnop') || CASE n % 3 WHEN 0 THEN 'ing' WHEN 1 THEN 's the' ELSE '' END AS word) w)
SELECT words > 20000 AS many, words = (SELECT cardinality(shingles(doc, 'english stop k=1')::bigint[]) FROM d) AS alike
FROM (SELECT count(DISTINCT w) AS words FROM d, unnest(neardup_words(doc, 'english stop')) w) s;
