--
-- The datatype: text and binary form, order, hash, casts
--

-- Text form: a set, for any input
SELECT signature_from('{5, 3, 3, 1}');
SELECT signature_from('{}');
SELECT signature_from('{-1, 0, 9223372036854775807}');
SELECT signature_from('{{1,2},{2,3}}');
SELECT signature_from(NULL);
SELECT signature_from('{1, NULL}');

-- Input accepts the output, and a little more
SELECT 'features{0000000000000001,00000000000000ff}'::signature;
SELECT ' features { 0000000000000001 , 00000000000000FF } '::signature;
SELECT 'shingles[k=3]{0000000000000001}'::signature;
SELECT 'shingles[ K=5  english STOP ]{0000000000000001}'::signature;
SELECT 'shingles[config=1a2b3c4d k=3]{}'::signature;
SELECT sig::text::signature = sig AS same, sig
FROM (VALUES ('shingles[russian stop minlen=3 maxlen=25 digits=drop unit=sentence order=sum k=7]{}'::signature),
             ('shingles[persian unit=char order=xor k=1000]{0123456789abcdef,fedcba9876543210}')) v (sig);

-- and nothing else
\set VERBOSITY terse
SELECT ''::signature;
SELECT 'features'::signature;
SELECT 'feature{}'::signature;
SELECT 'features{'::signature;
SELECT 'features{}}'::signature;
\set VERBOSITY default
SELECT 'features{1}'::signature;
SELECT 'features{0000000000000001 0000000000000002}'::signature;
SELECT 'features{0000000000000002,0000000000000001}'::signature;
SELECT 'features{0000000000000001,0000000000000001}'::signature;
SELECT 'features{000000000000000g}'::signature;
SELECT 'features[k=3]{}'::signature;
SELECT 'shingles{}'::signature;
SELECT 'shingles[k=3{}'::signature;
SELECT 'shingles[k=0]{}'::signature;
\set VERBOSITY terse
SELECT 'shingles[klingon k=3]{}'::signature; -- the hint depends on libstemmer
\set VERBOSITY default
SELECT 'shingles[config=1a2b3c4d k=0]{}'::signature;
SELECT 'shingles[config=1a2b3c4d k=1001]{}'::signature;
SELECT 'shingles[config=xyz k=3]{}'::signature;
-- no signs, no blanks, no fewer digits
SELECT 'shingles[config=-1 k=3]{}'::signature;
SELECT 'shingles[config= 1a2b3c k=3]{}'::signature;
SELECT 'shingles[config=0x1a2b3c k=3]{}'::signature;
SELECT 'shingles[config=1a2b3c k=3]{}'::signature;
SELECT 'shingles[config=1a2b3c4d k= 3]{}'::signature;
SELECT 'shingles[config=1a2b3c4d k=+3]{}'::signature;
SELECT 'shingles[config=1a2b3c4d  k=3]{}'::signature;

-- Its description
SELECT describe(signature_from('{1,2,3}'));
SELECT describe('shingles[k=3]{0000000000000001}');
SELECT describe('shingles[english stop unit=sentence k=1]{}');
SELECT describe('shingles[config=1a2b3c4d k=3]{}');

-- Casts
SELECT signature_from('{3,1}')::bigint[];
SELECT signature_from('{-1,1}')::bigint[];
SELECT signature_from('{}')::bigint[];
SELECT '{2,1}'::bigint[]::signature;
SELECT signature_from('{1,258}')::bytea;
SELECT '\x0102ff0000400000000000000000000000000000000000000200000001000000000000000201000000000000'::bytea::signature;
SELECT sig::bytea::signature = sig AS bytea, sig::bigint[]::signature = sig AS array
FROM (SELECT signature_from(array_agg(i * i * 7919 % 1000003)) AS sig
      FROM generate_series(1, 1000::bigint) i) s;

-- Bytes are checked: each of these differs from a valid one in one place
CREATE FUNCTION bad_bytes(place int, byte int) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
    rule text;
BEGIN
    RETURN set_byte('shingles[k=3]{0000000000000001,0000000000000002}'
                    ::signature::bytea, place, byte)::signature::text;
EXCEPTION WHEN invalid_binary_representation THEN
    GET STACKED DIAGNOSTICS rule = PG_EXCEPTION_DETAIL;
    RETURN rule;
END $$;
SELECT place, byte, bad_bytes(place, byte)
FROM (VALUES (0, 2), (1, 0), (1, 2), (1, 99), (2, 5), (2, 255), (3, 4),
             (4, 250), (5, 32), (6, 0), (7, 255), (8, 0), (12, 2), (12, 16), (12, 32),
             (15, 1), (15, 99), (16, 1), (20, 1), (24, 3), (36, 3)) v (place, byte);
SELECT ''::bytea::signature;
SELECT substr(signature_from('{1,2}')::bytea, 1, 27)::signature;
SELECT substr(signature_from('{1,2}')::bytea, 1, 43)::signature;
SELECT substr(signature_from('{1,2}')::bytea, 1, 36)::signature;

-- Order and equality are total, across specs too
CREATE TABLE sigs (id int, sig signature);
INSERT INTO sigs VALUES
    (1, signature_from('{}')), (2, signature_from('{1}')),
    (3, signature_from('{1,2}')), (4, signature_from('{2}')),
    (5, signature_from('{-1}')), (6, 'shingles[k=2]{}'),
    (7, 'shingles[k=3]{}'), (8, 'shingles[english k=2]{}'),
    (9, 'shingles[k=3]{0000000000000001}'), (10, signature_from('{2}')),
    (11, NULL);
SELECT id, sig FROM sigs ORDER BY sig, id;
SELECT sig, count(*) FROM sigs GROUP BY sig HAVING count(*) > 1;
SELECT a.id, b.id FROM sigs a JOIN sigs b ON a.sig = b.sig AND a.id < b.id;
SELECT count(*) FROM sigs a, sigs b
WHERE (a.sig < b.sig)::int + (a.sig = b.sig)::int + (a.sig > b.sig)::int <> 1
   OR (a.sig <= b.sig) <> NOT (a.sig > b.sig)
   OR (a.sig >= b.sig) <> NOT (a.sig < b.sig)
   OR (a.sig <> b.sig) <> NOT (a.sig = b.sig);
CREATE UNIQUE INDEX sigs_unique ON sigs (sig);
SET enable_hashjoin = off;
SELECT a.id, b.id FROM sigs a JOIN sigs b ON a.sig = b.sig AND a.id < b.id;
SET enable_mergejoin = off;
SELECT a.id, b.id FROM sigs a JOIN sigs b ON a.sig = b.sig AND a.id < b.id;
RESET enable_hashjoin;
RESET enable_mergejoin;

-- The hash never changes: hash partitions rely on these numbers
SELECT id, signature_hash(sig), signature_hash_extended(sig, 0),
       signature_hash_extended(sig, 42)
FROM sigs WHERE id IN (1, 3, 7) ORDER BY id;
SELECT bool_and(signature_hash_extended(sig, 0)::bit(32) = signature_hash(sig)::bit(32))
FROM sigs WHERE sig IS NOT NULL;
CREATE TABLE parted (id int, sig signature) PARTITION BY HASH (sig);
CREATE TABLE parted0 PARTITION OF parted FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE parted1 PARTITION OF parted FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO parted SELECT * FROM sigs;
SELECT tableoid::regclass, id FROM parted ORDER BY id;

-- Binary COPY, by psql: the server need not reach the folder
\getenv abs_builddir PG_ABS_BUILDDIR
\set file :abs_builddir '/results/signature.bin'
\set command '\\copy sigs TO ' :'file' ' (FORMAT binary)'
:command
CREATE TABLE copied (LIKE sigs);
\set command '\\copy copied FROM ' :'file' ' (FORMAT binary)'
:command
SELECT count(*) FROM sigs JOIN copied USING (id)
WHERE sigs.sig IS DISTINCT FROM copied.sig;

-- Large ones are stored out of line, and read unchanged
INSERT INTO copied
SELECT 12, signature_from(array_agg(i)) FROM generate_series(1, 100000) i;
SELECT cardinality(sig::bigint[]), sig = signature_from(sig::bigint[])
FROM copied WHERE id = 12;

DROP TABLE sigs, parted, copied;
DROP FUNCTION bad_bytes;
