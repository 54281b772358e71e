--
-- Places of words in a document: the text cut out there is the word
--

CREATE FUNCTION neardup_word_places(doc text, analysis text = '', OUT start int, OUT length int) RETURNS SETOF record
    AS '$libdir/neardup' LANGUAGE C IMMUTABLE STRICT;

-- The text at the places, in order
CREATE FUNCTION cut(doc text, analysis text = '') RETURNS text[]
    LANGUAGE sql IMMUTABLE AS
$$ SELECT array_agg(convert_from(substr(convert_to(doc, 'UTF8'), start + 1, length), 'UTF8') ORDER BY n)
   FROM neardup_word_places(doc, analysis) WITH ORDINALITY AS p(start, length, n) $$;

SELECT cut(' Hello, World! snake_case x-ray 3.14 R2D2');
SELECT cut(''), cut(' .,;!? '), cut('a'), cut('é'), cut(' я. ');
-- what belongs to a letter is part of it, an apostrophe only where it joins
SELECT cut('п''ять, п'' ''я rock''n''roll'), cut(U&'re\0301sume\0301, \0301x') = ARRAY[U&'re\0301sume\0301', 'x'] AS marks,
       cut(U&'in\00ADfor\2060ma\FEFFtion zero\200Bwidth x\FE0F.') = ARRAY[U&'in\00ADfor\2060ma\FEFFtion', 'zero', U&'width', U&'x\FE0F'] AS joined;
-- a character that folds to two words is one place, or places around the separator
SELECT cut('½ 2½ 1⁄2 Java™ 5 ㎏ ﷺ x²');
-- markup and entities
SELECT cut('<p>One <b>bo</b>ld<br>w&ouml;rd &#65;&amp;B</p> &lt;x<!-- no -->y &frac12;', 'html');
SELECT cut('<b>a</b>b c&shy;d &eacute;', 'html');
-- a divided word with its divider, and no divider that divides nothing
SELECT cut(E'The inter-\nnational so\u00AD\r\n ft e\u00AC x-\nY z\u00AD. été\u2010\n-ish a-\n', 'hyphens=join') =
       ARRAY['The', E'inter-\nnational', E'so\u00AD\r\n ft', 'e', 'x', 'Y', E'z\u00AD', 'été', 'ish', 'a'] AS divided,
       cut('inter-<br>na<b>tion</b>al <i>x-</i>' || E'\n' || '<i>y</i>.', 'html hyphens=join');
-- words that are left out have no place
SELECT cut('The foxes were jumping over 12 lazy dogs', 'english stop digits=drop minlen=4');
-- scripts without spaces: words are next to each other
SELECT array_to_string(cut('我们在北京学习中文。今天天气很好！'), '|'), array_to_string(cut('abcภาษาไทย123 น้ำ'), '|'),
       array_to_string(cut('PostgreSQLのﾃﾞｰﾀﾍﾞｰｽ'), '|'), array_to_string(cut('Русское中文слово'), '|');

-- A run that is cut because of its length, and one across blocks of the source
SELECT array_agg(length ORDER BY start) FROM neardup_word_places(repeat('я', 2500));
SELECT count(*), sum(length) FROM neardup_word_places(repeat('слово word ', 20000));
SELECT bool_and(convert_from(substr(utf8, start + 1, length), 'UTF8') IN ('слово', 'word', 'naïve'))
FROM (SELECT d, convert_to(d, 'UTF8') AS utf8 FROM repeat('слово word naïve ', 5000) d OFFSET 0) t, neardup_word_places(d);

-- Random texts: each place has one word, the one found there alone.  The pieces do not
-- change with their surroundings.
CREATE FUNCTION random_text(seed bigint, n int) RETURNS text
    LANGUAGE plpgsql IMMUTABLE AS
$$
DECLARE
    pieces text[] := ARRAY['word', 'Word', 'слово', 'Ёж', 'naïve', 'п’ять', 'كتاب', U&'e\0301te\0301', 'x2', 'ΣΊΣ', 'Å',
                           U&'so\00ADft', 'STRASSE', 'ﬁne', 'بنی‌آدم', '안녕', 'ǅ', 'देवनागरी', U&'\0928\093F'];
    separators text[] := ARRAY[' ', ', ', E'\n', '. ', ' — ', '_', U&'\200B', ' (', U&' \0301', ' '' '];
    result text := '';
BEGIN
    FOR i IN 1..n LOOP
        seed := (seed * 1103515245 + 12345) % 2147483648;
        result := result || pieces[1 + seed / 65536 % cardinality(pieces)];
        seed := (seed * 1103515245 + 12345) % 2147483648;
        result := result || separators[1 + seed / 65536 % cardinality(separators)];
    END LOOP;
    RETURN result;
END
$$;
SELECT count(*) AS texts, sum(cardinality(words)) AS words,
       count(*) FILTER (WHERE words IS DISTINCT FROM
                              (SELECT array_agg(w ORDER BY n)
                               FROM unnest(places) WITH ORDINALITY AS p(place, n), unnest(neardup_words(place)) w)) AS different,
       count(*) FILTER (WHERE cardinality(words) <> cardinality(places)) AS missing
FROM (SELECT neardup_words(d) AS words, cut(d) AS places
      FROM generate_series(1, 300) seed, random_text(seed, 40) d) t;

DROP FUNCTION cut, neardup_word_places, random_text;
