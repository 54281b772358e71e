# distributed_pairs.pl
#		neardup on Citus: a coordinator and two workers, each a server of its own.
#
# Skipped where Citus is not installed.
#
# Portions Copyright (c) 2026, the neardup developers

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use File::Basename qw(dirname);

my $sharedir = `pg_config --sharedir`;
chomp $sharedir;
plan skip_all => "Citus is not installed ($sharedir/extension/citus.control)"
  unless -f "$sharedir/extension/citus.control";

# Start a server that other nodes reach by the loopback address.
sub start_node
{
	my ($name) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);

	$node->init;
	$node->append_conf(
		'postgresql.conf', qq{
shared_preload_libraries = 'citus'
citus.node_conninfo = 'sslmode=prefer'
citus.shard_count = 8
listen_addresses = '127.0.0.1'
max_prepared_transactions = 100
max_connections = 100
});
	$node->append_conf('pg_hba.conf', 'host all all 127.0.0.1/32 trust');
	$node->start;
	$node->safe_psql('postgres', 'CREATE EXTENSION citus; CREATE EXTENSION neardup');
	return $node;
}

my $node = start_node('coordinator');
my @workers = map { start_node($_) } qw(worker_1 worker_2);

$node->safe_psql('postgres',
	"SELECT citus_set_coordinator_host('127.0.0.1', " . $node->port . ')');
$node->safe_psql('postgres', "SELECT citus_add_node('127.0.0.1', " . $_->port . ')')
  for @workers;
is( $node->safe_psql('postgres', 'SELECT count(*) FROM citus_get_active_worker_nodes()'),
	2, 'there are two workers');

# Documents, once in a table of the coordinator and once distributed, by the ids or by
# another column.
$node->safe_psql('postgres',
	slurp_file(dirname(__FILE__) . '/../sql/shared/random_sets.sql'));
$node->safe_psql(
	'postgres', q{
CREATE TABLE local_docs AS
SELECT r * 7 % 401 AS id, r % 5 AS tenant, 'doc ' || r AS title,
    random_set(r) AS sig
FROM generate_series(1, 400) r;
CREATE TABLE docs (LIKE local_docs);
SELECT create_distributed_table('docs', 'id');
INSERT INTO docs SELECT * FROM local_docs;
CREATE TABLE tenants (LIKE local_docs);
SELECT create_distributed_table('tenants', 'tenant');
INSERT INTO tenants SELECT * FROM local_docs;
CREATE TABLE everywhere (LIKE local_docs);
SELECT create_reference_table('everywhere');
INSERT INTO everywhere SELECT * FROM local_docs;
});

# The pairs of a query, as numbers and a hash.
sub rows_of
{
	my ($query) = @_;

	return $node->safe_psql('postgres',
		"SELECT count(*), md5(string_agg(a || ' ' || b || ' ' || round(similarity::numeric, 9), ',' ORDER BY a, b)) FROM ($query) q");
}

sub by_loops
{
	my ($condition, $similarity) = @_;

	return rows_of("SELECT a.id AS a, b.id AS b, $similarity AS similarity FROM local_docs a JOIN local_docs b ON $condition AND a.id < b.id");
}

my $number = 0;
for my $measure (['jaccard', 'similarity(a.sig, b.sig)', 0.8],
	['jaccard', 'similarity(a.sig, b.sig)', 0.5],
	['dice', 'dice(a.sig, b.sig)', 0.8],
	['cosine', 'cosine(a.sig, b.sig)', 0.7],
	['overlap_coefficient', 'greatest(containment(a.sig, b.sig), containment(b.sig, a.sig))', 0.9],
	['shared', 'intersection_size(a.sig, b.sig)::float8', 9])
{
	my ($name, $similarity, $threshold) = @$measure;
	my $expected = by_loops("near_duplicate(a.sig, b.sig, $threshold, '$name')", $similarity);

	like($expected, qr/^[1-9]/, "there are pairs: $expected");
	for my $source (qw(docs tenants))
	{
		for my $design (qw(classes keys auto))
		{
			my $result = 'pairs_' . $number++;
			my $taken = $node->safe_psql('postgres',
				"CALL neardup_pairs('$source', 'id', 'sig', $threshold, '$result', '$name', '$design')");

			is(rows_of("TABLE $result"), $expected, "$source by $design ($taken): $name, $threshold");
			is( $node->safe_psql('postgres',
					"SELECT partmethod FROM pg_dist_partition WHERE logicalrelid = '$result'::regclass"),
				'h', 'the result is distributed');
		}
	}
	is($node->safe_psql('postgres',
			"CALL neardup_pairs('everywhere', 'id', 'sig', $threshold, 'reference_$number', '$name')"),
		'join', 'a reference table is joined where it is');
	is(rows_of("TABLE reference_$number"), $expected, 'with the same pairs');
}
is($node->safe_psql('postgres', q{SELECT count(*) FROM pg_class WHERE relname ~ '^pairs_.*_[a-z]'}),
	0, 'intermediate tables are gone');

# The result has more shards than nodes, fewer, or one; ids are texts, with names of any
# kind
$node->safe_psql(
	'postgres', q{
CREATE TABLE "Docs of {id} 'x'" (tenant int, "the {sig}" text, "Sig" signature);
SELECT create_distributed_table('"Docs of {id} ''x''"', 'the {sig}');
INSERT INTO "Docs of {id} 'x'" SELECT tenant, 'doc ' || id, sig FROM docs;
});
my $named = q{SELECT a.name AS a, b.name AS b, similarity(a.sig, b.sig) AS similarity FROM (SELECT 'doc ' || id AS name, sig FROM local_docs) a
	JOIN (SELECT 'doc ' || id AS name, sig FROM local_docs) b ON near_duplicate(a.sig, b.sig, 0.8) AND a.name < b.name};
for my $shards (1, 3, 17)
{
	for my $design (qw(classes keys))
	{
		$node->safe_psql('postgres',
			qq{SET citus.shard_count = $shards; CALL neardup_pairs('"Docs of {id} ''x''"', 'the {sig}', 'Sig', 0.8, '"named {$shards}_$design"', 'jaccard', '$design')});
		is(rows_of(qq{TABLE "named {$shards}_$design"}), rows_of($named), "texts as ids, $shards shards, by $design");
	}
}

# Ids that are not unique
$node->safe_psql(
	'postgres', q{
CREATE TABLE twice (id int, sig signature);
SELECT create_distributed_table('twice', 'id');
INSERT INTO twice SELECT id / 2, sig FROM docs;
});
for my $design (qw(classes keys))
{
	my ($status, $out, $err) = $node->psql('postgres',
		"CALL neardup_pairs('twice', 'id', 'sig', 0.8, 'twice_pairs', 'jaccard', '$design')");

	like($err, qr/ids are not unique/, "ids must be unique, by $design");
}
is($node->safe_psql('postgres', q{SELECT count(*) FROM pg_class WHERE relname ~ '^twice_'}),
	0, 'what was made before an error is gone');

# Sketches
$node->safe_psql(
	'postgres', q{
CREATE TABLE sketches (id int, sig signature);
SELECT create_distributed_table('sketches', 'id');
INSERT INTO sketches SELECT id, minhash(sig, 64) FROM docs;
CALL neardup_pairs('sketches', 'id', 'sig', 0.8, 'sketch_pairs');
});
is( rows_of('TABLE sketch_pairs'),
	rows_of('SELECT a.id AS a, b.id AS b, similarity(minhash(a.sig, 64), minhash(b.sig, 64)) AS similarity '
		. 'FROM local_docs a JOIN local_docs b ON near_duplicate(minhash(a.sig, 64), minhash(b.sig, 64), 0.8) AND a.id < b.id'),
	'sketches');

# Groups of the result
is( $node->safe_psql('postgres', q{
		SELECT count(DISTINCT group_id), sum(id * representative) FROM near_duplicate_groups_of_pairs('TABLE pairs_0', 'connected')}),
	$node->safe_psql('postgres', q{
		SELECT count(DISTINCT group_id), sum(id * representative) FROM near_duplicate_groups('SELECT id, sig FROM local_docs', 0.8, 'jaccard', 'connected') WHERE size > 1}),
	'groups of the pairs');

# Aggregates: in parts on the nodes, except with labels of any type
$node->safe_psql(
	'postgres', q{
CREATE TABLE lexicons (id int, tenant int, words lexicon);
SELECT create_distributed_table('lexicons', 'id');
INSERT INTO lexicons SELECT id, tenant, lexicon_agg(title) FROM docs GROUP BY id, tenant;
CREATE TABLE local_lexicons AS SELECT * FROM lexicons;
});
for my $call (
	'feature_counts(sig)', 'lexicon_agg(title)',
	q{lexicon_agg(title, 'english')}, q{lexicon_agg(title, 'english', 1000)},
	q{lexicon_agg('simple'::regconfig, title)}, 'lexicon_agg(words)',
	q{shingle_lexicon_agg(title, 'k=2')}, 'word_set_agg(title)',
	q{word_set_agg(title, '', 2)}, 'signature_union_agg(sig)',
	'signature_intersect_agg(sig)',
	'pair_evaluation(id % 2 = 0, tenant < 2, id / 400.0)',
	'cluster_evaluation(id % 7, tenant)')
{
	my $table = $call =~ /words/ ? 'lexicons' : 'docs';

	for my $filter ('true', 'false')
	{
		is( $node->safe_psql('postgres', "SELECT md5(($call)::text) FROM $table WHERE $filter"),
			$node->safe_psql('postgres', "SELECT md5(($call)::text) FROM local_$table WHERE $filter"),
			"$call, $filter");
	}
	is( $node->safe_psql('postgres', "SELECT tenant, md5(($call)::text) FROM $table GROUP BY tenant ORDER BY tenant"),
		$node->safe_psql('postgres', "SELECT tenant, md5(($call)::text) FROM local_$table GROUP BY tenant ORDER BY tenant"),
		"$call in groups");
	next if $call =~ /^cluster/;
	like($node->safe_psql('postgres', "EXPLAIN (VERBOSE, COSTS off) SELECT $call FROM $table"),
		qr/worker_(binary_)?partial_agg/, "$call in two phases");
}

# Joins in doc/distributed.md
is( $node->safe_psql('postgres', 'SELECT count(*) FROM docs a JOIN everywhere b ON near_duplicate(a.sig, b.sig, 0.8)'),
	$node->safe_psql('postgres', 'SELECT count(*) FROM local_docs a JOIN local_docs b ON near_duplicate(a.sig, b.sig, 0.8)'),
	'a distributed table with a reference table');
is( $node->safe_psql('postgres', 'SELECT count(*) FROM docs a JOIN (SELECT id, sig FROM docs OFFSET 0) b ON near_duplicate(a.sig, b.sig, 0.8)'),
	$node->safe_psql('postgres', 'SELECT count(*) FROM local_docs a JOIN local_docs b ON near_duplicate(a.sig, b.sig, 0.8)'),
	'a distributed table with itself, one side broadcast');
is( $node->safe_psql('postgres', 'SELECT count(*) FROM tenants a JOIN tenants b ON a.tenant = b.tenant AND near_duplicate(a.sig, b.sig, 0.8)'),
	$node->safe_psql('postgres', 'SELECT count(*) FROM local_docs a JOIN local_docs b ON a.tenant = b.tenant AND near_duplicate(a.sig, b.sig, 0.8)'),
	'within tenants');

# The operators read a setting, which other nodes have from the database or from a SET
# that Citus propagates.
my $near_to = q{sig % (SELECT sig FROM local_docs WHERE id = 14)};
my $expected = $node->safe_psql('postgres', "SET neardup.threshold = 0.4; SELECT count(*) FROM local_docs WHERE $near_to");
isnt($expected, $node->safe_psql('postgres', "SELECT count(*) FROM local_docs WHERE $near_to"),
	'the setting matters');
is( $node->safe_psql('postgres', "SELECT count(*) FROM docs WHERE $near_to"),
	$node->safe_psql('postgres', "SELECT count(*) FROM local_docs WHERE $near_to"),
	'% by the setting that all nodes have');
is( $node->safe_psql('postgres', "SET citus.propagate_set_commands = 'local'; BEGIN; SET LOCAL neardup.threshold = 0.4; SELECT count(*) FROM docs WHERE $near_to; COMMIT"),
	$expected, 'a setting that Citus passes on');
$node->safe_psql('postgres', 'ALTER DATABASE postgres SET neardup.threshold = 0.4');
is($node->safe_psql('postgres', "SELECT count(*) FROM docs WHERE $near_to"),
	$expected, 'that of the database');
$node->safe_psql('postgres', 'ALTER DATABASE postgres RESET neardup.threshold');

done_testing();
