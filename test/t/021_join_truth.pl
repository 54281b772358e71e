
# Copyright (c) 2026, the neardup developers

# The similarity join finds all pairs of collections whose pairs are known.
#
# Descriptions of test/data; and larger collections, where COLLECTIONS
# names the folder that has them: for test/run, that is DATA.

use strict;
use warnings;

use File::Basename qw(dirname);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $data = dirname(__FILE__) . '/../data';
my $more = $ENV{COLLECTIONS} // '';

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', "jit = off\nenable_nestloop = off");
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION neardup');

# The measure of a pair by its definition, from sizes and overlap.
my %value = (
	jaccard => 'overlap::float8 / (size1 + size2 - overlap)',
	dice => '2 * overlap::float8 / (size1 + size2)',
	cosine => 'least(overlap / sqrt(size1::float8 * size2), 1)');

# Thresholds at which the pairs of resemblance 0.5 include all pairs.
my %thresholds = (
	jaccard => [ 0.5, 0.55, 0.6, 2 / 3, 0.7, 0.75, 0.8, 0.9, 0.95, 1 ],
	dice => [ 0.7, 0.8, 0.9 ],
	cosine => [ 0.75, 0.8, 0.9 ]);

# A query for the missing pairs, the wrong ones, and whether there are any.
sub pairs_query
{
	my ($measure, $threshold, $other) = @_;

	return "
		CREATE TEMP TABLE found AS
		SELECT a.id AS id1, b.id AS id2 FROM docs a JOIN $other b
		ON near_duplicate(a.sig, b.sig, $threshold, '$measure')
			AND a.id < b.id;
		SELECT (SELECT count(*) FROM (SELECT id1, id2 FROM pairs
				WHERE $value{$measure} >= $threshold
				EXCEPT SELECT * FROM found) m),
			(SELECT count(*) FROM (SELECT * FROM found EXCEPT
				SELECT id1, id2 FROM pairs
				WHERE $value{$measure} >= $threshold) n),
			(SELECT count(*) > 0 FROM found);
		DROP TABLE found;\n";
}

# A query for the missing and wrong rows of a semi-, an anti- and a left join.
sub types_query
{
	my ($threshold, $other) = @_;

	return "
		CREATE TEMP TABLE near AS
		SELECT id1 AS a, id2 AS b FROM pairs
		WHERE $value{jaccard} >= $threshold
		UNION ALL
		SELECT id2, id1 FROM pairs WHERE $value{jaccard} >= $threshold;
		SELECT
		(SELECT count(*) FROM
			(SELECT id FROM docs a WHERE EXISTS
				(SELECT FROM $other b WHERE a.id <> b.id
					AND near_duplicate(a.sig, b.sig, $threshold))) s
			FULL JOIN (SELECT DISTINCT a FROM near) n ON id = a
			WHERE id IS NULL OR a IS NULL),
		(SELECT count(*) FROM
			(SELECT id FROM docs a WHERE NOT EXISTS
				(SELECT FROM $other b WHERE a.id <> b.id
					AND near_duplicate(a.sig, b.sig, $threshold))) s
			FULL JOIN (SELECT id AS a FROM docs EXCEPT SELECT a FROM near) n
			ON id = a
			WHERE id IS NULL OR a IS NULL),
		(SELECT count(*) FROM
			(SELECT a.id, b.id AS other FROM docs a LEFT JOIN $other b
				ON near_duplicate(a.sig, b.sig, $threshold)
					AND a.id <> b.id) s
			FULL JOIN (SELECT id AS a, b FROM docs LEFT JOIN near ON id = a) n
			ON id = a AND coalesce(other, 0) = coalesce(b, 0)
			WHERE id IS NULL OR a IS NULL);
		DROP TABLE near;\n";
}

# Runs queries, each [name, query, answer], in one session.
sub check_queries
{
	my @queries = @_;
	my @answers = split /\n/,
	  $node->safe_psql('postgres', join('', map { $_->[1] } @queries));

	is(shift(@answers), $_->[2], $_->[0]) foreach @queries;
	return;
}

# Loads a collection; $columns are those of the file of pairs.  The join reads
# docs once where it joins it with itself, but not docs and others.
sub load
{
	my ($sets, $pairs, $columns) = @_;

	$node->safe_psql(
		'postgres', "
		DROP TABLE IF EXISTS raw, docs, pairs CASCADE;
		CREATE TABLE raw (id int, features bigint[]);
		\\copy raw from program 'xz -dc $sets'
		CREATE TABLE docs AS
		SELECT id, signature_from(features) AS sig FROM raw;
		CREATE VIEW others AS SELECT * FROM docs WHERE id IS NOT NULL;
		CREATE TABLE pairs ($columns);
		\\copy pairs from program 'xz -dc $pairs'
		ANALYZE docs");
	foreach ([ 'docs', 'true' ], [ 'others', 'false' ])
	{
		my ($other, $self) = @$_;

		like(
			$node->safe_psql(
				'postgres', "EXPLAIN (FORMAT yaml)
				SELECT FROM docs a JOIN $other b
				ON near_duplicate(a.sig, b.sig, 0.5)"),
			qr/SimilarityJoin.*Self-Join: $self/s,
			"the join with $other is a similarity join");
	}
	return;
}

# Every measure and threshold; some of them, and other joins, with every
# size of memory.
sub check
{
	my ($name, @memory) = @_;
	my @queries;

	foreach my $measure (sort keys %thresholds)
	{
		push @queries,
		  [ sprintf('%s, %s %.2f', $name, $measure, $_),
			pairs_query($measure, $_, 'docs'), '0|0|t' ]
		  foreach @{ $thresholds{$measure} };
	}
	foreach my $memory (@memory)
	{
		foreach my $t (0.5, 0.8)
		{
			my $set = "SET work_mem = '$memory';";

			push @queries,
			  [ "$name, jaccard $t, $memory, $_",
				$set . pairs_query('jaccard', $t, $_), '0|0|t' ],
			  [ "$name, other joins, jaccard $t, $memory, $_",
				$set . types_query($t, $_), '0|0|0' ]
			  foreach 'docs', 'others';
		}
	}
	check_queries(@queries);
	return;
}

# By several processes: the leader only collects the workers' pairs.
my $parallel = "SET max_parallel_workers_per_gather = 2;
	SET parallel_leader_participation = off;
	SET min_parallel_table_scan_size = 0;
	SET parallel_setup_cost = 0;
	SET parallel_tuple_cost = 0;\n";

# The same by several processes, in shared memory and by files.
sub check_parallel
{
	my ($name, @memory) = @_;
	my @queries;

	foreach my $other ('docs', 'others')
	{
		like(
			$node->safe_psql(
				'postgres', "$parallel EXPLAIN SELECT a.id, b.id FROM docs a JOIN $other b
				ON near_duplicate(a.sig, b.sig, 0.5) AND a.id < b.id"),
			qr/Parallel Custom Scan \(SimilarityJoin\)/,
			"the join with $other is one of several processes");
		foreach my $memory (@memory)
		{
			my $set = "$parallel SET work_mem = '$memory';";

			foreach my $t (0.5, 0.8)
			{
				push @queries,
				  [ "$name, jaccard $t, $memory, $other, parallel",
					$set . pairs_query('jaccard', $t, $other), '0|0|t' ],
				  [ "$name, other joins, jaccard $t, $memory, $other, parallel",
					$set . types_query($t, $other), '0|0|0' ];
			}
			push @queries,
			  [ "$name, $_ 0.8, $memory, $other, parallel",
				$set . pairs_query($_, 0.8, $other), '0|0|t' ]
			  foreach 'cosine', 'dice';
		}
	}
	check_queries(@queries);
	return;
}

# All algorithms find the same.
sub check_algorithms
{
	my ($name, $memory, $settings, @thresholds) = @_;
	my @queries;
	my @algorithms = split /\n/,
	  $node->safe_psql('postgres', q{LOAD 'neardup';
		SELECT unnest(enumvals) FROM pg_settings
		WHERE name = 'neardup.join_algorithm'});

	cmp_ok(scalar @algorithms, '>=', 11, 'there are some algorithms');
	foreach my $algorithm (@algorithms)
	{
		push @queries,
		  [ "$name, jaccard $_, $memory, $algorithm",
			"$settings SET work_mem = '$memory';
			SET neardup.join_algorithm = '$algorithm';"
			  . pairs_query('jaccard', $_, 'docs'), '0|0|t' ]
		  foreach @thresholds;
	}
	check_queries(@queries);
	return;
}

my @columns =
  ('id1 int, id2 int', 'overlap int, size1 int, size2 int');

load(
	"$data/descriptions_sets.tsv.xz",
	"$data/descriptions_pairs.tsv.xz",
	join(', ', @columns));
check('descriptions', '64kB', '256kB', '1MB', '1GB');
check_parallel('descriptions', '64kB', '64MB');
check_algorithms('descriptions', '256kB', '', 0.8);
check_algorithms('descriptions', '64MB', '', 0.5, 0.8);
check_algorithms('descriptions', '64MB', $parallel, 0.8);

SKIP:
{
	my $dblp = "$more/ssj_dblp18k_words";
	skip 'COLLECTIONS has no ssj_dblp18k_words', 1
	  unless -f "$dblp/sets.tsv.xz";

	load("$dblp/sets.tsv.xz", "$dblp/pairs.tsv.xz",
		join(', jaccard float8, ', @columns));
	$thresholds{jaccard} = [ 0.5, 0.6, 0.7, 0.8, 0.9 ];
	check('titles', '256kB', '1MB');
	check_parallel('titles', '256kB', '64MB');
	check_algorithms('titles', '64MB', '', 0.8);
}

$node->stop;

done_testing();
