--
-- Passages of one text planted in another, in five languages, unchanged and edited:
-- the places where they are found
--

-- Artificial words: pairs of words of a language, so that three in a row are hardly
-- repeated
CREATE TABLE languages (language text, words text[], space text, stop text);
INSERT INTO languages VALUES
('english', string_to_array('water stone light river garden window paper silver morning letter yellow bridge summer island mountain winter kitchen market village father candle forest harbour shoulder question evening copper leather meadow thunder ladder basket mirror pocket', ' '), ' ', '. '),
('russian', string_to_array('вода камень свет река садовник окно бумага серебро утро письмо жёлтый мостовая лето остров горный зимний кухня рынок деревня отец свеча лесной гавань плечо вопрос вечер медный кожа луговой гром лестница корзина зеркало карман', ' '), ' ', '. '),
('ukrainian', string_to_array('вода камінь світло річка садівник вікно папір срібло ранок лист жовтий міст літо острів гірський зима кухня ринок п’ять батько свічка лісовий гавань плече питання вечір мідний шкіра луговий грім драбина кошик дзеркало кишеня', ' '), ' ', '. '),
('persian', string_to_array('آب سنگ روشن رودخانه باغبان پنجره کاغذ نقره بامداد نامه زرد پل تابستان جزیره کوهستان زمستان آشپزخانه بازار روستا پدر شمع جنگل بندر شانه پرسش شامگاه مسی چرم چمن تندر نردبان سبد آینه جیب', ' '), ' ', '. '),
('chinese', string_to_array('水源 石头 阳光 河流 花园 窗户 纸张 银色 早晨 信件 黄色 桥梁 夏天 岛屿 高山 冬天 厨房 市场 村庄 父亲 蜡烛 森林 港口 肩膀 问题 晚上 铜像 皮革 草地 雷声 梯子 篮子 镜子 口袋', ' '), '', '。');

CREATE TYPE planted AS (a text, b text, a_places int4multirange, b_places int4multirange);

-- Two texts with four passages in common, in another order in b.  Of a hundred
-- words of a passage that number is changed: replaced, left out, added.
CREATE FUNCTION plant(seed bigint, words text[], space text, stop text, changed int) RETURNS planted
    LANGUAGE plpgsql AS
$$
DECLARE
    result planted := ('', '', '{}', '{}');
    passage text;
    edited text;
    word text;
    parts text[];
    n int;
BEGIN
    seed := seed * 7919 + 1;
    FOR part IN 1..4 LOOP
        FOR side IN 0..1 LOOP
            -- words of one text only are distinct: otherwise a passage would extend by
            -- chance, as in Chinese, where both halves of a word are words
            passage := '';
            FOR i IN 1..80 LOOP
                seed := (seed * 1103515245 + 12345) % 2147483648;
                word := words[1 + side + seed / 65536 % 17 * 2];
                seed := (seed * 1103515245 + 12345) % 2147483648;
                passage := passage || word || words[1 + side + seed / 65536 % 17 * 2] || CASE WHEN i < 80 THEN space ELSE '' END;
            END LOOP;
            parts[side] := passage;
        END LOOP;
        passage := '';
        edited := '';
        FOR i IN 1..60 LOOP
            seed := (seed * 1103515245 + 12345) % 2147483648;
            word := words[1 + seed / 65536 % cardinality(words)];
            seed := (seed * 1103515245 + 12345) % 2147483648;
            word := word || words[1 + seed / 65536 % cardinality(words)];
            passage := passage || space || word;
            seed := (seed * 1103515245 + 12345) % 2147483648;
            n := seed / 65536 % 300;
            IF n >= 3 * changed OR i IN (1, 60) THEN
                edited := edited || space || upper(word);
            ELSIF n < changed THEN
                edited := edited || space || words[1 + n] || words[2];
            ELSIF n < 2 * changed THEN
                edited := edited || space || upper(word) || space || words[3] || words[4 + n / 3];
            END IF;
        END LOOP;
        passage := ltrim(passage);
        edited := ltrim(edited);
        result.a := result.a || parts[0] || stop;
        result.a_places := result.a_places + int4multirange(int4range(length(result.a) + 1, length(result.a) + 1 + length(passage)));
        result.a := result.a || passage || stop;
        IF part % 2 = 0 THEN
            result.b := result.b || parts[1] || stop;
            result.b_places := result.b_places + int4multirange(int4range(length(result.b) + 1, length(result.b) + 1 + length(edited)));
            result.b := result.b || edited || stop;
        ELSE
            parts[2] := edited || stop || parts[1] || stop;
            result.b_places := (SELECT coalesce(range_agg(int4range(lower(r) + length(parts[2]), upper(r) + length(parts[2]))), '{}') FROM unnest(result.b_places) r)
                               + int4multirange(int4range(1, 1 + length(edited)));
            result.b := parts[2] || result.b;
        END IF;
    END LOOP;
    RETURN result;
END
$$;

CREATE FUNCTION size(int4multirange) RETURNS bigint
    LANGUAGE sql AS
$$ SELECT coalesce(sum(upper(r) - lower(r)), 0) FROM unnest($1) r $$;

CREATE TABLE texts AS
SELECT language, changed, seed, p.*
FROM languages, unnest(ARRAY[0, 3, 8]) changed, generate_series(1, 10) seed, plant(seed, words, space, stop, changed) p;
CREATE TABLE found AS
SELECT language, changed, seed, a_places, b_places,
       (SELECT range_agg(int4range(a_start, a_start + a_length)) FROM shared_passages(a, b)) AS a_found,
       (SELECT range_agg(int4range(b_start, b_start + b_length)) FROM shared_passages(a, b)) AS b_found
FROM texts;

-- Unchanged: exact places
SELECT language, count(*) AS texts, count(*) FILTER (WHERE a_places = a_found AND b_places = b_found) AS exact
FROM found WHERE changed = 0 GROUP BY language ORDER BY language;
-- By characters
SELECT language, changed,
       sum(size(a_places * a_found) + size(b_places * b_found)) >= 0.97 * sum(size(a_found) + size(b_found)) AS precise,
       sum(size(a_places * a_found) + size(b_places * b_found))
       >= CASE changed WHEN 0 THEN 0.97 ELSE 0.95 END * sum(size(a_places) + size(b_places)) AS complete
FROM found GROUP BY language, changed ORDER BY language, changed;

DROP TABLE languages, texts, found;
DROP FUNCTION plant, size;
DROP TYPE planted;
