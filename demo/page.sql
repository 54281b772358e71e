--
-- demo/page.sql
--		A page of HTML that shows what two texts have in common, side by side, with
--		each passage linked to where it stands in the other.
--
-- Of the pairs that share a part only, the one with the most passages
SELECT passages_html(x.body, y.body,
                     a_title => x.package || ' in ' || x.release,
                     b_title => y.package || ' in ' || y.release, analysis => 'english')
FROM docs x JOIN docs y ON near_duplicate(x.sig, y.sig, 0.25) AND x.id < y.id
     AND NOT near_duplicate(x.sig, y.sig, 0.7),
     LATERAL (SELECT count(*) AS n FROM shared_passages(x.body, y.body, analysis => 'english')) passages
WHERE length(x.body) > 500 AND length(y.body) > 500
ORDER BY passages.n DESC, x.id, y.id
LIMIT 1;
