
# Copyright (c) 2026, the neardup developers

# REPACK of PostgreSQL 19, also CONCURRENTLY while rows are written: both indexes have
# the table's rows, and the guard works.

use strict;
use warnings;

use File::Basename qw(dirname);
use lib dirname(__FILE__);
use Documents;
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;

plan skip_all => 'REPACK is in PostgreSQL 19 and later'
  if $node->pg_version->major < 19;

$node->append_conf('postgresql.conf', 'wal_level = logical');
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION neardup');
make_docs($node, 'postgres', 0, 1999);
$node->safe_psql(
	'postgres', q{
	DELETE FROM docs WHERE id % 4 <> 0;
	CREATE INDEX docs_nearest ON docs USING neardup (shingles(body, 2));
	CREATE CONSTRAINT TRIGGER no_near_duplicates
		AFTER INSERT OR UPDATE ON docs
		FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.8')});

# Each row is found by both indexes, no pair is left, and a near-duplicate is refused.
sub check
{
	my ($name, $rows) = @_;

	is($node->safe_psql('postgres', 'SELECT count(*) FROM docs'),
		$rows, "$name: no row is lost");
	is(same_by_index_and_scan($node, 'postgres', $name),
		$rows, "$name: each row is near itself only");
	is( $node->safe_psql(
			'postgres', q{
			SET enable_seqscan = off; SET enable_bitmapscan = off;
			SELECT count(*) FROM docs a WHERE a.id = (SELECT b.id FROM docs b
				ORDER BY shingles(b.body, 2) <-> shingles(a.body, 2) LIMIT 1)}),
		$rows, "$name: each row is its own nearest");
	is($node->safe_psql('postgres', qq{SELECT neardup_index_check('docs_nearest', true) >= $rows}),
		't', "$name: the index has no fault");
	my ($status, $out, $err) = $node->psql('postgres',
		'INSERT INTO docs (id, body) VALUES (-1, doc(9))');
	like($err, qr/near-duplicate/, "$name: the guard refuses");
	return;
}

$node->safe_psql('postgres', 'REPACK docs');
check('REPACK', 500);
$node->safe_psql('postgres', 'REPACK docs USING INDEX docs_pkey');
check('REPACK USING INDEX', 500);

# New rows, near-duplicates that are refused, changed and deleted rows
my $script = "$PostgreSQL::Test::Utils::tmp_check/repack.sql";
append_to_file($script, q{
INSERT INTO docs (id, body) VALUES (nextval('number'), doc(currval('number')::int * 4));
INSERT INTO docs (id, body) VALUES (-nextval('number'), doc(currval('number')::int / 2 * 4));
UPDATE docs SET body = doc(id * 4 + 400000) WHERE id = currval('number') - 4;
DELETE FROM docs WHERE id = currval('number') - 8 AND id % 3 = 0;
});
$node->safe_psql('postgres', 'CREATE SEQUENCE number START 10001');
my $writer = IPC::Run::start(
	[
		'pgbench', '-n', '-c', '2', '-T', '10', '-f', $script, '--continue-on-error',
		'-h', $node->host, '-p', $node->port, 'postgres'
	],
	'>', \my $out, '2>', \my $err);
# A busy machine may start them late
$node->poll_query_until('postgres', 'SELECT max(id) > 10000 FROM docs')
  or die "the writers do not write: $err";
my $times = 0;
my $until = time + 5;
while (time < $until)
{
	$node->safe_psql('postgres', 'REPACK (CONCURRENTLY) docs');
	$times++;
}
$writer->finish;
cmp_ok($times, '>', 1, "REPACK (CONCURRENTLY) ran beside writers");
my $rows = $node->safe_psql('postgres', 'SELECT count(*) FROM docs');
check('REPACK (CONCURRENTLY)', $rows);

$node->stop;

done_testing();
