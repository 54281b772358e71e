# 027_memory.pl
#		The memory of joins, groups and the guard stays within work_mem and a constant,
#		and EXPLAIN tells how much it is.
#
# Portions Copyright (c) 2026, the neardup developers

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# Kilobytes beyond the limit: catalog caches, buffers of files, a large set
use constant BEYOND => 4096;

plan skip_all => 'there is no /proc/self/status' unless -r '/proc/self/status';

my $node = PostgreSQL::Test::Cluster->new('memory');
$node->init;
$node->append_conf(
	'postgresql.conf', q{
autovacuum = off
jit = off
fsync = off
hash_mem_multiplier = 1
max_parallel_workers_per_gather = 0
client_min_messages = warning
});
$node->start;
$node->safe_psql(
	'postgres', q{
CREATE EXTENSION neardup;
-- sets of one feature that differ, and pairs of sets of 60 features
CREATE TABLE words AS
SELECT id, signature_from(ARRAY[hashint8extended(id, 1)]) AS sig FROM generate_series(1, 60000) id;
CREATE TABLE pairs AS
SELECT id, signature_from(ARRAY(
	SELECT hashint8extended(id / 2 * 100 + id % 2 * 6 + feature, 2) FROM generate_series(1, 60) feature)) AS sig
FROM generate_series(1, 20000) id;
-- groups take the rows in the order of an index, without a sort, which has memory of its own
ALTER TABLE words ADD PRIMARY KEY (id);
ALTER TABLE pairs ADD PRIMARY KEY (id);
CREATE TABLE guarded (id int, sig signature);
CREATE INDEX ON guarded USING neardup (sig);
CREATE TRIGGER guard BEFORE INSERT ON guarded FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.8', 'skip');
CREATE TABLE guarded_statement (id int, sig signature);
CREATE INDEX ON guarded_statement USING neardup (sig);
CREATE TRIGGER guard AFTER INSERT ON guarded_statement REFERENCING NEW TABLE AS added
	FOR EACH STATEMENT EXECUTE FUNCTION neardup_guard('sig', '0.8');
VACUUM ANALYZE;
CREATE FUNCTION kilobytes(field text) RETURNS int LANGUAGE sql
RETURN (regexp_match(pg_read_file('/proc/self/status'), field || ':\s*(\d+)'))[1]::int;
-- What EXPLAIN says of the join of a query
CREATE FUNCTION memory_usage(query text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, TIMING OFF) ' || query LOOP
		IF line ~ 'Memory Usage: \d+ kB' AND line !~ 'Batches' THEN
			RETURN (regexp_match(line, 'Memory Usage: (\d+)'))[1];
		END IF;
	END LOOP;
END $$;
});
plan skip_all => 'address space is not memory with the address sanitizer'
  if $node->safe_psql('postgres', q{SELECT pg_read_file('/proc/self/status') ~ 'VmSize:\s*\d{10}'}) eq 't';

# Kilobytes by which a new session grows at most while it runs a statement, after the
# same with few rows, which loads what stays in caches
sub growth
{
	my ($memory, $few, $statement, $result) = @_;
	my @lines = split /\n/, $node->safe_psql(
		'postgres', qq{
SET work_mem = '$memory';
SET enable_nestloop = off;
SET enable_sort = off;
CREATE TEMP TABLE results (n bigint);
BEGIN;
$few;
ROLLBACK;
INSERT INTO results SELECT kilobytes('VmSize');
BEGIN;
$statement;
ROLLBACK;
SELECT kilobytes('VmPeak') - n FROM results;
});
	return ($lines[-1], $lines[-2]);
}

# A statement with its number of rows in place of ROWS
sub with_rows
{
	my ($statement, $rows) = @_;
	return $statement =~ s/ROWS/$rows/gr;
}

sub join_of
{
	my ($table, $rest) = @_;
	return "FROM $table a $rest JOIN $table b ON near_duplicate(a.sig, b.sig, 0.8)";
}

# Statements, each for few rows and for many; ROWS stands for the number of rows
my %statements = (
	'join of words' => [ 60000, join_of('(SELECT * FROM words LIMIT ROWS)', '') . ' AND a.id < b.id' ],
	'join of pairs' => [ 20000, join_of('(SELECT * FROM pairs LIMIT ROWS)', '') . ' AND a.id < b.id' ],
	'outer join of pairs' => [ 20000, join_of('(SELECT * FROM pairs LIMIT ROWS)', 'LEFT') ],
	'filtered join' => [ 20000, 'FROM (SELECT * FROM pairs LIMIT ROWS / 10) a JOIN pairs b ON near_duplicate(a.sig, b.sig, 0.8)' ],
	'groups' => [ 20000, q{FROM near_duplicate_groups('SELECT id, sig FROM pairs WHERE id <= ROWS', 0.8)} ],
	'groups of words' => [ 30000, q{FROM near_duplicate_groups('SELECT id, sig FROM words WHERE id <= ROWS', 0.8)} ],
	'groups of sketches' => [ 20000, q{FROM near_duplicate_groups('SELECT id, minhash(sig, 16) FROM pairs WHERE id <= ROWS', 0.8, 'similarity')} ],
	'connected groups' => [ 20000, q{FROM near_duplicate_groups('SELECT id, sig FROM pairs WHERE id <= ROWS', 0.8, rule => 'connected')} ],
);

foreach my $memory ('64kB', '1MB', '4MB', '6MB', '64MB')
{
	my $limit = $node->safe_psql('postgres', "SELECT pg_size_bytes('$memory') / 1024");

	foreach my $name (sort keys %statements)
	{
		my ($rows, $from) = @{ $statements{$name} };
		my ($few, $query) = map { with_rows("SELECT count(*) $from", $_) } 10, $rows;
		my ($growth) = growth($memory, $few, $query);

		cmp_ok($growth, '<=', $limit + BEYOND, "$name in $memory");
	}
	foreach my $table ('words', 'pairs')
	{
		my ($rows, $from) = @{ $statements{"join of $table"} };
		my ($few, $query) =
		  map { with_rows("SELECT memory_usage('SELECT 1 $from')", $_) } 10, $rows;
		my ($growth, $said) = growth($memory, $few, $query);

		cmp_ok($said, '<=', 1.25 * $limit + 128, "memory by EXPLAIN, join of $table in $memory");
		cmp_ok($growth, '<=', 1.05 * $said + BEYOND, "EXPLAIN does not tell too little");
	}
	foreach my $table ('guarded', 'guarded_statement')
	{
		my ($few, $insert) =
		  map { "INSERT INTO $table SELECT id, sig FROM pairs WHERE id % 2 = 0 LIMIT $_" } 10, 5000;
		my ($growth) = growth($memory, $few, $insert);

		cmp_ok($growth, '<=', $limit + BEYOND, "insert into $table in $memory");
	}
}

done_testing();
