
# Copyright (c) 2026, the neardup developers

# A backend, then the postmaster are killed during guarded writes.  Afterwards the
# index and the table agree, and there is no pair of near-duplicates.

use strict;
use warnings;

use File::Basename qw(dirname);
use lib dirname(__FILE__);
use Documents;
use IPC::Run;
use Killed;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $writers = 3;
# Of each kind
my $kills = $ENV{KILLS} // 2;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', 'restart_after_crash = on');
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION neardup');
make_docs($node, 'postgres', 1, 0);
$node->safe_psql(
	'postgres', q{
	CREATE SEQUENCE number;
	CREATE CONSTRAINT TRIGGER no_near_duplicates
		AFTER INSERT OR UPDATE ON docs
		FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.8')});

# Repeatedly a row that is mostly refused, then a larger transaction.  Each writer is
# killed before its end.
my $script = "$PostgreSQL::Test::Utils::tmp_check/write.sql";
append_to_file($script,
	"INSERT INTO docs (id, body)
	 SELECT n, doc(n / 100 * 4) FROM (SELECT nextval('number')::int AS n) AS s;
	 BEGIN;
	 INSERT INTO docs (id, body)
	 SELECT n, doc(n * 4) FROM (SELECT nextval('number')::int + 100000 AS n
		FROM generate_series(1, 20)) AS s;
	 UPDATE docs SET body = doc(id * 4 + 4000000)
	 WHERE id IN (SELECT max(id) - 5 FROM docs);
	 COMMIT;\n" x 5000);

sub start_writers
{
	return map {
		my $ignored = '';
		IPC::Run::start(
			[
				'psql', '-X', '-q', '-d',
				$node->connstr('postgres') . ' application_name=victim',
				'-f', $script
			],
			'>', \$ignored, '2>', \$ignored)
	} 1 .. $writers;
}

# A sequential scan for each row: many rounds begin again.
sub empty_at_times
{
	my $round = shift;

	$node->safe_psql('postgres', 'TRUNCATE docs') if $round % 5 == 0;
	return;
}

# Wait until all writers have written something.
sub wait_for_rows
{
	my $more = shift;
	my $there = $node->safe_psql('postgres', 'SELECT count(*) FROM docs');

	$node->poll_query_until('postgres',
		"SELECT count(*) >= $there + $more AND "
		  . victims_are_there($writers) . ' FROM docs')
	  or die 'the writers do not write';
	return;
}

# After a crash: table, index and guard are consistent.
sub check
{
	my $name = shift;
	my $there = $node->safe_psql('postgres', 'SELECT count(*) FROM docs');

	is(same_by_index_and_scan($node, 'postgres', $name),
		$there, "$name: no document has a near-duplicate but itself");
	is( $node->safe_psql(
			'postgres', q(
			SET enable_bitmapscan = off; SET enable_mergejoin = off;
			SELECT count(*) FROM docs a JOIN docs b
				ON similarity(a.sig, b.sig) >= 0.8 AND a.id < b.id)),
		0,
		"$name: nor is there a pair by brute force");
	return;
}

# A backend
foreach my $round (1 .. $kills)
{
	empty_at_times($round);
	my @running = start_writers();
	wait_for_rows(150);
	my $pid = $node->safe_psql(
		'postgres', q(
		SELECT pid FROM pg_stat_activity
		WHERE application_name = 'victim'
		ORDER BY state, pid LIMIT 1));
	is(kill('KILL', $pid), 1, "backend $round: killed");
	IPC::Run::finish($_) for @running;
	$node->poll_query_until('postgres', undef, '')
	  or die 'the server does not restart';
	check("backend $round");
}

# The postmaster
foreach my $round (1 .. $kills)
{
	empty_at_times($round);
	my @running = start_writers();
	wait_for_rows(150);
	kill_postmaster($node);
	IPC::Run::finish($_) for @running;
	$node->start;
	check("postmaster $round");
}

# Afterwards writes continue as before.
my @running = start_writers();
wait_for_rows(100);
IPC::Run::kill_kill($_) for @running;
$node->poll_query_until('postgres', 'SELECT ' . victims_are_there(0))
  or die 'the writers do not end';
check('afterwards');

$node->stop;

done_testing();
