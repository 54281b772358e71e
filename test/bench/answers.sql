--
-- test/bench/answers.sql
--		Classification of Clough and Stevenson's short answers into their four
--		levels of copying by the passages shared with the source: naive Bayes, each
--		answer by all the others.
--
-- Portions Copyright (c) 2026, the neardup developers
--
\pset footer off

CREATE SCHEMA answers;
SET search_path = answers, public;
CREATE TABLE docs (id int PRIMARY KEY, body text);
CREATE TABLE pairs (id int PRIMARY KEY, source int, level int, category text, jaccard float8, containment float8);
\copy docs FROM PROGRAM 'xz -dc "$DATA/clough_stevenson/docs.tsv.xz"'
\copy pairs FROM PROGRAM 'xz -dc "$DATA/clough_stevenson/pairs.tsv.xz"'

-- Shares of the answer: copied; equal within its passages; in its longest unchanged
-- passage
CREATE TABLE features AS
SELECT p.id, p.level, p.category, of_a AS coverage,
    (SELECT coalesce(sum(similarity * a_length) / sum(a_length), 0)
     FROM shared_passages(a.body, b.body)) AS similarity,
    (SELECT coalesce(max(a_length), 0)::float8 / length(a.body)
     FROM shared_passages(a.body, b.body, max_gap => 0)) AS longest
FROM pairs p JOIN docs a ON a.id = p.id JOIN docs b ON b.id = p.source,
    coverage(a.body, b.body);

SELECT category AS written, count(*) AS answers, round(avg(coverage)::numeric, 2) AS coverage,
    round(avg(similarity)::numeric, 2) AS similarity, round(avg(longest)::numeric, 2) AS longest
FROM features GROUP BY level, category ORDER BY level DESC;

-- Each share in fifths, with half an answer added to each
CREATE TABLE fifths AS
SELECT id, level, name, least(floor(value * 5), 4) AS fifth
FROM features, LATERAL (VALUES ('coverage', coverage), ('similarity', similarity), ('longest', longest)) v (name, value);
CREATE TABLE judged AS
SELECT DISTINCT ON (asked.id) asked.id, asked.level, levels.level AS judged
FROM (SELECT DISTINCT id, level FROM fifths) asked CROSS JOIN (SELECT DISTINCT level FROM fifths) levels
CROSS JOIN LATERAL (
    SELECT ln(count(*)) AS prior FROM features f WHERE f.level = levels.level AND f.id <> asked.id) p
CROSS JOIN LATERAL (
    SELECT sum(ln((same + 0.5) / (of_level + 2.5))) AS likelihood
    FROM (SELECT count(*) FILTER (WHERE f.fifth = own.fifth) AS same, count(*) AS of_level
          FROM fifths own JOIN fifths f USING (name)
          WHERE own.id = asked.id AND f.level = levels.level AND f.id <> asked.id
          GROUP BY own.name) n) l
ORDER BY asked.id, p.prior + likelihood DESC, levels.level;

SELECT category AS written, count(*) FILTER (WHERE judged = 3) AS "judged: cut",
    count(*) FILTER (WHERE judged = 2) AS light, count(*) FILTER (WHERE judged = 1) AS heavy,
    count(*) FILTER (WHERE judged = 0) AS "not copied"
FROM judged JOIN features USING (id, level) GROUP BY level, category ORDER BY level DESC;
SELECT count(*) AS answers, round(avg((judged = level)::int), 3) AS "right of four",
    round(avg(((judged > 0) = (level > 0))::int), 3) AS "right, copied or not"
FROM judged;
