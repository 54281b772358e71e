-- Groups of rows of one template beside rows that differ.  The goal: at most 3 times as long.
-- psql -v n=100000 -f test/bench/groups.sql
\timing off
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS neardup;
DROP TABLE IF EXISTS template, templates, mails, differ;
-- 64 words, two of which are mostly the row's own: J .82 to 1
CREATE TABLE template AS
SELECT i AS id, shingles((SELECT string_agg(CASE WHEN w IN (10, 40) AND (i::bigint * 7919 + w * 31) % 3 > 0
                                                 THEN 'v' || (i::bigint * 7919 + w * 104729) % 100003 ELSE 'w' || w END, ' ' ORDER BY w)
                          FROM generate_series(1, 64) w)) AS sig
FROM generate_series(1, :n) i;
-- 50 of them
CREATE TABLE templates AS
SELECT i AS id, shingles((SELECT string_agg(CASE WHEN w IN (10, 40) AND (i::bigint * 7919 + w * 31) % 3 > 0
                                                 THEN 'v' || (i::bigint * 7919 + w * 104729) % 100003 ELSE 't' || i % 50 || 'w' || w END, ' ' ORDER BY w)
                          FROM generate_series(1, 64) w)) AS sig
FROM generate_series(1, :n) i;
-- 64 words, five of which are the row's own: J about 0.65
CREATE TABLE mails AS
SELECT i AS id, shingles((SELECT string_agg(CASE WHEN w IN (8, 20, 32, 44, 56) THEN 'v' || (i::bigint * 7919 + w * 104729) % 100003 ELSE 'w' || w END, ' ' ORDER BY w)
                          FROM generate_series(1, 64) w)) AS sig
FROM generate_series(1, :n) i;
CREATE TABLE differ AS
SELECT i AS id, shingles((SELECT string_agg(to_hex(hashint8(i::bigint * 64 + w)), ' ' ORDER BY w) FROM generate_series(1, 64) w)) AS sig
FROM generate_series(1, :n) i;
SET work_mem = '256MB';
SET max_parallel_workers_per_gather = 0;
SELECT min(similarity(a.sig, b.sig)), max(similarity(a.sig, b.sig)) FROM mails a, mails b WHERE a.id < 50 AND b.id BETWEEN 50 AND 100;
\timing on
\echo differ, greedy and connected
SELECT count(DISTINCT group_id) FROM near_duplicate_groups('TABLE differ', 0.8);
SELECT count(DISTINCT group_id) FROM near_duplicate_groups('TABLE differ', 0.8, rule => 'connected');
\echo one template
SELECT count(DISTINCT group_id) FROM near_duplicate_groups('TABLE template', 0.8);
SELECT count(DISTINCT group_id) FROM near_duplicate_groups('TABLE template', 0.8, rule => 'connected');
\echo fifty templates
SELECT count(DISTINCT group_id) FROM near_duplicate_groups('TABLE templates', 0.8);
SELECT count(DISTINCT group_id) FROM near_duplicate_groups('TABLE templates', 0.8, rule => 'connected');
\echo mails at 0.6
SELECT count(DISTINCT group_id) FROM near_duplicate_groups('TABLE mails', 0.6);
SELECT count(DISTINCT group_id) FROM near_duplicate_groups('TABLE mails', 0.6, rule => 'connected');
\echo in 4 MB: differ, one template, mails; the goal of temporary files is twice the signatures
SET work_mem = '4MB';
SELECT count(DISTINCT group_id) FROM near_duplicate_groups('TABLE differ', 0.8);
SELECT count(DISTINCT group_id) FROM near_duplicate_groups('TABLE template', 0.8);
SELECT count(DISTINCT group_id) FROM near_duplicate_groups('TABLE mails', 0.6, rule => 'connected');
ALTER TABLE templates ADD PRIMARY KEY (id);
SET hash_mem_multiplier = 1;
SET enable_sort = off;
SELECT pg_stat_force_next_flush();
SELECT temp_bytes AS before FROM pg_stat_database WHERE datname = current_database() \gset
SELECT count(*) FROM near_duplicate_groups('TABLE templates', 0.8);
SELECT pg_stat_force_next_flush();
SELECT round(((temp_bytes - :before) / (SELECT sum(pg_column_size(sig)) FROM templates))::numeric, 2) AS "temporary files, in signatures"
FROM pg_stat_database WHERE datname = current_database();
