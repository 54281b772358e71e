--
-- Highlighted texts, and the page that shows two texts
--

\set a 'Fish & chips. The quick brown <fox> jumps over the "lazy" dog, it''s said.'
\set b 'the QUICK brown fox jumps over the lazy dog'

-- The whole text, safe in HTML
SELECT highlight(:'a', :'b');
SELECT highlight(:'b', :'a');
SELECT highlight(:'a', 'something else');
SELECT highlight('', :'b'), highlight(NULL, :'b') IS NULL AS strict;
SELECT highlight('<b>one</b> two &amp; three', 'one two three', 3, analysis => 'html');
SELECT highlight('Книги стояли на полках', 'книга стояла на полке', 4, options => 'StartSel="<i class=x>", StopSel=</i>', analysis => 'russian');
-- passages that overlap are one mark
SELECT highlight('a b c d e f g', 'a b c d x x x x x x x x x x c d e f g', 4);

-- Excerpts, of the longest passages
\set long 'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty'
SELECT highlight(:'long', 'five six seven eight', 3, 0, 'HighlightAll=false, MinWords=8, MaxWords=10');
SELECT highlight(:'long', 'five six seven eight', 3, 0, 'HighlightAll=false, MinWords=2, MaxWords=3');
SELECT highlight(:'long', 'five six seven eight. three sixteen seventeen eighteen', 3, 0, 'HighlightAll=false, MinWords=5, MaxWords=6, MaxFragments=2, FragmentDelimiter=" | "');
SELECT highlight(:'long', 'five six seven eight. three sixteen seventeen eighteen', 3, 0, 'HighlightAll=false, MinWords=5, MaxWords=6, ShortWord=0');
SELECT highlight(:'long', 'zero one two', 3, 0, 'HighlightAll=false, MinWords=5, MaxWords=6, MaxFragments=100');
SELECT highlight(:'long', 'nothing', 3, 0, 'HighlightAll=false, MinWords=4, MaxWords=6');
SELECT highlight('', 'nothing', 3, 0, 'HighlightAll=false');
-- to choose among very many takes no longer than to find them
SET statement_timeout = '60s';
SELECT cardinality(string_to_array(highlight(a, b, 1, 0, 'HighlightAll=false, MinWords=1, MaxWords=2, MaxFragments=200000'), '<b>')) - 1 AS excerpts
FROM (SELECT string_agg('p' || i || ' x', ' ' ORDER BY i) AS a, string_agg('p' || i || ' y', ' ' ORDER BY i::bigint * 7919 % 200003) AS b
      FROM generate_series(1, 200000) i) t;
RESET statement_timeout;

-- Options that make no sense
SELECT highlight('a', 'b', options => 'Colour=red');
SELECT highlight('a', 'b', options => 'MinWords=10, MaxWords=5');
SELECT highlight('a', 'b', options => 'MinWords=-1');
SELECT highlight('a', 'b', options => 'MaxWords=many');
SELECT highlight('a', 'b', options => 'MaxWords');

-- The page: the parts that differ between pages
CREATE FUNCTION page_text(page text, side text) RETURNS text
    LANGUAGE sql IMMUTABLE AS
$$ SELECT substr(part, strpos(part, '>') + 1)
   FROM split_part(split_part(page, '<div class="text" id="' || side || '"', 2), '</div>', 1) part $$;
-- what a browser shows of it, without the numbers of passages
CREATE FUNCTION shown(html text) RETURNS text
    LANGUAGE sql IMMUTABLE AS
$$ SELECT replace(replace(replace(replace(replace(regexp_replace(regexp_replace(html, '<a [^>]*>[0-9]+( &times;[0-9]+)?</a>', '', 'g'), '</?(mark[^>]*|u)>', '', 'g'),
          '&lt;', '<'), '&gt;', '>'), '&quot;', '"'), '&#39;', ''''), '&amp;', '&') $$;

SELECT page_text(passages_html(:'a', :'b'), 'a') AS a, page_text(passages_html(:'a', :'b'), 'b') AS b \gx
SELECT shown(page_text(passages_html(:'a', :'b'), 'a')) = :'a' AS a, shown(page_text(passages_html(:'a', :'b'), 'b')) = :'b' AS b;
-- passages that overlap: the one that begins last is on top
SELECT page_text(passages_html('a b c d e f g', 'a b c d x x x x x x x x x x c d e f g', 4), 'a');
SELECT page_text(passages_html('a b c d', 'x', 4), 'a'), page_text(passages_html('', ''), 'b') AS empty;
-- with very many passages the page takes no longer than to find them
SET statement_timeout = '60s';
SELECT cardinality(string_to_array(page, '<mark class="c7"><a')) - 1 AS marks, regexp_replace(page_text(page, 'a'), 'data-to="[^"]*" ', '') AS a
FROM (SELECT string_agg('one two u' || i, ' ') AS b FROM generate_series(1, 200000) i) t, passages_html('one two', b, 2, 0) page;
RESET statement_timeout;
-- head and list, titles
SELECT regexp_matches(passages_html(:'a', :'b', a_title => 'A <b>', b_title => '"B"'), '<title>[^\n]*|<p>[^\n]*|<h2[^\n]*|<tr><td>[^\n]*', 'g');
-- cases, and passages within them
\set fox 'Of its own it has this. The bridge was built in 1894 by the engineer Anna Holm. It carried two railway tracks over the river until the great flood of 1926 took its middle pier away, and nobody in the whole town was hurt. That was all, it says.'
\set edited 'Two railway tracks over the river were carried by it, until in 1926 the great flood took the middle pier; nobody in the whole town was hurt. By the engineer Anna Holm the bridge was built in 1894! Nobody knows more of these words, which stand elsewhere.'
SELECT page_text(passages_html(:'fox', :'edited', 4), 'a') AS a, page_text(passages_html(:'fox', :'edited', 4), 'b') AS b \gx
SELECT shown(page_text(passages_html(:'fox', :'edited', 4), 'a')) = :'fox' AS a, shown(page_text(passages_html(:'fox', :'edited', 4), 'b')) = :'edited' AS b;
SELECT regexp_matches(passages_html(:'fox', :'edited', 4), '<p id[^\n]*|<p><q>[^\n]*|<tr><td>[^\n]*', 'g');
SELECT regexp_matches(passages_html(:'fox', :'edited', preset => 'verbatim'), '<p><q>[^\n]*|<tr><td>[^\n]*', 'g');
SELECT passages_html('a', 'b', preset => 'none');
-- passages that begin at one place have one number, in the list, too
SELECT regexp_matches(page, '<a id[^\n]*|<tr><td><a href="#a[^\n]*', 'g')
FROM passages_html('x one two three, one two', 'one two. One two three; y. One two three four', 2, 0) page;
-- words that differ, in passages that overlap, too; words that have moved
SELECT page_text(page, 'a') AS a, page_text(page, 'b') AS b
FROM passages_html('one two new three four five six seven eight', 'one two three four five old six seven nine eight', 2, 2, preset => 'verbatim') page \gx
SELECT page_text(page, 'a') AS a, page_text(page, 'b') AS b
FROM passages_html('one two x y three four', 'one two y x z three four', 2, 3, preset => 'verbatim') page \gx
-- direction and language
SELECT regexp_matches(passages_html('متن اول', 'text two', analysis => 'persian'), '<div class="text"[^>]*>', 'g');
SELECT regexp_matches(passages_html('Привет', 'שלום hi'), '<div class="text"[^>]*>', 'g');
SELECT body, regexp_match(passages_html(body, ''), '<div class="text" id="a"[^>]*( dir=[^>]*)>'), regexp_match(passages_html(body, 'a', analysis => 'russian'), 'id="a"[^>]*( lang=[^>]*)>')
FROM unnest('{中文文本,日本語の文,カタカナ,한국어,ภาษาไทย,Ελληνικά,Русский,हिन्दी,English,"1, 2",""}'::text[]) body;
-- the page loads nothing from other servers
SELECT passages_html(:'a', :'b') ~ '(https?:|src=|@import|url\()' AS outside;

-- Random texts: the page shows them unchanged, and each passage once in each text
CREATE FUNCTION random_text(seed bigint, n int) RETURNS text
    LANGUAGE plpgsql IMMUTABLE AS
$$
DECLARE
    pieces text[] := ARRAY['a', 'b', 'c', '<d>', '&amp;', 'e"', '''f', 'я', U&'e\0301', E'\n', '  ', '<', '中文'];
    result text := '';
BEGIN
    seed := seed * 7919 + 1;
    FOR i IN 1..n LOOP
        seed := (seed * 1103515245 + 12345) % 2147483648;
        result := result || pieces[1 + seed / 65536 % cardinality(pieces)] || ' ';
    END LOOP;
    RETURN result;
END
$$;
SELECT count(*) AS pages,
       count(*) FILTER (WHERE shown(page_text(page, 'a')) IS DISTINCT FROM a OR shown(page_text(page, 'b')) IS DISTINCT FROM b) AS different,
       count(*) FILTER (WHERE regexp_count <> 2 * passages) AS marks,
       count(*) FILTER (WHERE replace(replace(highlight(a, b, 2, 1), '<b>', ''), '</b>', '')
                              IS DISTINCT FROM shown_escaped) AS highlighted, sum(passages) > 500 AS many
FROM (SELECT a, b, page, (SELECT count(*) FROM shared_passages(a, b, 2, 1)) AS passages,
             (SELECT sum(coalesce(m[1], '1')::int) FROM regexp_matches(page, '<a id="[ab][0-9]+"[^>]*>[0-9]+(?: &times;([0-9]+))?<', 'g') m) AS regexp_count,
             replace(replace(replace(replace(replace(a, '&', '&amp;'), '<', '&lt;'), '>', '&gt;'), '"', '&quot;'), '''', '&#39;') AS shown_escaped
      FROM generate_series(1, 150) seed, random_text(seed, 60) a, random_text(seed + 500, 70) b, passages_html(a, b, 2, 1) page) t;

-- Edited texts: words that a passage has in common are not framed, some that differ are, and few others
CREATE FUNCTION draw(seed bigint, below int) RETURNS int
    LANGUAGE sql IMMUTABLE AS
$$ SELECT (hashint8(seed)::bigint & 1048575)::int % below $$;
CREATE FUNCTION unframed(html text) RETURNS bigint
    LANGUAGE sql IMMUTABLE AS
$$ SELECT count(*) FROM regexp_matches(regexp_replace(html, '<u>[^<]*</u>|<a [^>]*>[^<]*</a>', '', 'g'), '<mark class="c[0-9]">([^<]*)</mark>', 'g') m,
                        regexp_matches(m[1], '\w+', 'g') $$;
SELECT count(*) > 100 AS pages, count(*) FILTER (WHERE least(unframed(page_text(page, 'a')), unframed(page_text(page, 'b'))) < matched) AS common_framed,
       count(*) FILTER (WHERE page_text(page, 'b') !~ '<u>' AND b ~ '[xy]') AS different_unframed,
       count(*) FILTER (WHERE (SELECT count(*) FROM regexp_matches(page_text(page, 'b'), '<u>[^<]*w[^<]*</u>', 'g')) > 5) AS many_framed
FROM (SELECT a, b, page, (SELECT m[1]::int FROM regexp_match(page, '</a></td><td>([0-9]+)</td><td>[0-9.]+</td></tr>\n</table>\n</div>') m) AS matched
      FROM generate_series(1, 200) seed,
           LATERAL (SELECT string_agg(w, ' ' ORDER BY i) AS a,
                           string_agg(CASE draw(seed * 7919 + i, 12) WHEN 0 THEN 'x' || i WHEN 1 THEN '' WHEN 2 THEN 'y' || i || ' ' || w ELSE w END, ' ' ORDER BY i) AS b
                    FROM generate_series(1, 60) i, LATERAL (SELECT 'w' || draw(seed * 1000 + i, 300)) t (w)) t,
           passages_html(a, b, 4, 4) page
      WHERE (SELECT count(*) FROM shared_passages(a, b, 4, 4)) = 1) t;

DROP FUNCTION page_text, shown, random_text, draw, unframed;
