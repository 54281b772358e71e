-- Every function that makes a signature of a set or of a text, with the method that it is
-- named after and a call: %s is the set or the text.  Arguments without a default are 4, '',
-- a few words, or columns `lexicon`, `shingle_lexicon` and `word_set`.  From the catalogs, so that a
-- new method is among them; `call` is null if an argument is of another type.
CREATE TEMP VIEW method_calls AS
SELECT proname::text AS method, proargtypes[0]::regtype AS takes,
       format('%I(%%s', proname) ||
       (SELECT CASE WHEN count(*) = count(value) THEN coalesce(string_agg(', ' || value, '' ORDER BY n), '') || ')' END
        FROM generate_series(1, pronargs - pronargdefaults - 1) n,
             LATERAL (SELECT CASE proargtypes[n]::regtype::text WHEN 'integer' THEN '4' WHEN 'text' THEN '''''' WHEN 'text[]' THEN '''{w1,w2,a,b}'''
                                  WHEN 'lexicon' THEN CASE WHEN proname ~ 'shingles' THEN 'shingle_lexicon' ELSE 'lexicon' END WHEN 'word_set' THEN 'word_set' END AS value) v) AS call
FROM pg_proc p JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
WHERE d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'neardup') AND prokind = 'f' AND prorettype = 'signature'::regtype
  AND NOT proname ~ '^signature_'
  AND (proargtypes[0] = 'signature'::regtype AND 'signature'::regtype <> ALL (proargtypes[1:]::oid[])
       OR proargtypes[0] = 'text'::regtype AND proargnames[1] = 'doc');
