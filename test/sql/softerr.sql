--
-- Soft errors of the input functions (PostgreSQL 16 and later)
--

-- without the hints, which list what this libstemmer knows
SELECT input, type, pg_input_is_valid(input, type) AS valid,
       (pg_input_error_info(input, type)).message,
       (pg_input_error_info(input, type)).detail,
       (pg_input_error_info(input, type)).sql_error_code
FROM (VALUES ('features{}', 'signature'),
             ('features', 'signature'),
             ('shoes{}', 'signature'),
             ('features{1}', 'signature'),
             ('features{0000000000000002,0000000000000001}', 'signature'),
             ('features{0000000000000002', 'signature'),
             ('features{} ?', 'signature'),
             ('weighted{0000000000000001:0.5}', 'signature'),
             ('weighted{0000000000000001:x}', 'signature'),
             ('weighted{0000000000000001:0}', 'signature'),
             ('shingles[english k=3]{}', 'signature'),
             ('shingles{}', 'signature'),
             ('shingles[k=0]{}', 'signature'),
             ('shingles[k=x]{}', 'signature'),
             ('shingles[k=3 k=4]{}', 'signature'),
             ('shingles[order=random k=3]{}', 'signature'),
             ('shingles[simple stop k=3]{}', 'signature'),
             ('shingles[config=k]{}', 'signature'),
             ('0.8 jaccard features{}', 'signature_query'),
             ('8 jaccard features{}', 'signature_query'),
             ('0.8 euclid features{}', 'signature_query'),
             ('0.8 dice features', 'signature_query')) v (input, type);

-- An unknown word is an error with a hint that lists the known ones
SELECT pg_input_is_valid('shingles[klingon k=3]{}', 'signature'),
       (pg_input_error_info('shingles[klingon k=3]{}', 'signature')).sql_error_code;
