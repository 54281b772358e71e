# 018_join_workers.pl
#		A similarity join, or groups, by several processes of which one fails, is
#		canceled or killed, in each phase: nothing remains of it.
#
# Portions Copyright (c) 2026, the neardup developers

use strict;
use warnings;

use File::Spec;
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('workers');
$node->init;

# Shared memory is in files, which the test can see.  The leader does not participate.
$node->append_conf(
	'postgresql.conf', q{
dynamic_shared_memory_type = mmap
restart_after_crash = on
autovacuum = off
jit = off
max_parallel_workers_per_gather = 2
parallel_leader_participation = off
min_parallel_table_scan_size = 0
parallel_setup_cost = 0
parallel_tuple_cost = 0
enable_nestloop = off
enable_hashjoin = off
enable_mergejoin = off
work_mem = '64kB'
hash_mem_multiplier = 1
});
$node->start;
$node->safe_psql(
	'postgres', q{
CREATE EXTENSION neardup;
CREATE TABLE docs AS
SELECT i AS id, signature_from(ARRAY(
	SELECT (i / 4 * 1000 + e * (1 + i / 8 % 3))::bigint
	FROM generate_series(i % 4, 40) e)) AS sig, repeat('x', 100) AS text
FROM generate_series(1, 2100) i;
ANALYZE docs;
-- Does at that place what the settings say, after enough rows
CREATE FUNCTION trouble(place text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
	IF current_setting('test.place', true) = place THEN
		IF current_setting('test.what') = 'error' THEN
			RAISE EXCEPTION 'trouble at %', place;
		END IF;
		PERFORM pg_sleep(3600);
	END IF;
	RETURN true;
END $$;
CREATE FUNCTION made(signature, id int) RETURNS signature LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
	IF id % 1000 = 999 THEN
		PERFORM trouble('read');
	END IF;
	RETURN $1;
END $$;
CREATE FUNCTION looked(int, int) RETURNS boolean LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
	IF $1 % 1000 = 998 THEN
		PERFORM trouble('probe');
	END IF;
	RETURN true;
END $$;
CREATE FUNCTION shown(int) RETURNS int LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
	IF $1 % 1000 = 3 THEN
		PERFORM trouble('output');
	END IF;
	RETURN $1;
END $$;
});

# Remaining files: temporary ones, and shared memory.
sub left_over
{
	my $data = $node->data_dir;
	my @files = (
		glob("$data/base/pgsql_tmp/*"), glob("$data/base/pgsql_tmp/*/*"),
		glob("$data/pg_dynshmem/*"));

	s{^\Q$data\E/}{} for @files;
	return join(' ', sort @files);
}

# Wait for the end of the workers: a process is listed until it has released
# everything.
sub wait_for_end
{
	$node->poll_query_until('postgres', q(
		SELECT count(*) = 0 FROM pg_stat_activity WHERE pid <> pg_backend_pid()
			AND backend_type IN ('client backend', 'parallel worker')))
	  or die 'processes go on';
	return;
}

sub is_clean
{
	my ($before, $name) = @_;

	wait_for_end();
	is(left_over(), $before, "$name: nothing is left over");
	return;
}

my %joins = (
	'inner' => 'SELECT sum(shown(a.id)), count(*) FROM docs a JOIN docs b '
	  . 'ON near_duplicate(made(a.sig, a.id), made(b.sig, b.id), 0.6) AND looked(a.id, b.id) AND a.id <> b.id',
	'anti' => 'SELECT sum(shown(a.id)), count(*) FROM docs a WHERE NOT EXISTS (SELECT FROM docs b '
	  . 'WHERE near_duplicate(made(a.sig, a.id), made(b.sig, b.id), 0.6) AND looked(a.id, b.id) AND a.id < b.id)',
	'left' => 'SELECT sum(shown(a.id)), count(*) FROM docs a LEFT JOIN docs b '
	  . 'ON near_duplicate(made(a.sig, a.id), made(b.sig, b.id), 0.6) AND looked(a.id, b.id) AND a.id <> b.id');

# In files, and in shared memory
my @memory = ('64kB', '64MB');

# A session whose query runs until one of its workers sleeps at that place
my $sleeping = q(FROM pg_stat_activity WHERE leader_pid IS NOT NULL AND wait_event = 'PgSleep');

sub sleeping_at
{
	my ($place, $query, $memory) = @_;
	my %session = (out => '', err => '');

	$session{run} = IPC::Run::start(
		[
			'psql', '-XAtq', '-d', $node->connstr('postgres'),
			map { ('-c', $_) } "SET work_mem = '$memory'",
			"SET test.place = '$place'", "SET test.what = 'sleep'", $query
		],
		'<', File::Spec->devnull, '>', \$session{out}, '2>', \$session{err});
	$node->poll_query_until('postgres', "SELECT count(*) > 0 $sleeping")
	  or die "no worker sleeps at $place";
	return \%session;
}

# The state of a server after joins, when all queries have ended
$node->safe_psql('postgres', $_) for values %joins;
wait_for_end();
my $clean = left_over();

foreach my $type (sort keys %joins)
{
	my $query = $joins{$type};
	my $expected = $node->safe_psql('postgres', "SET max_parallel_workers_per_gather = 0; $query");

	like($node->safe_psql('postgres', "EXPLAIN $query"),
		qr/Parallel Custom Scan \(SimilarityJoin\)/, "$type: by several processes");
	is($node->safe_psql('postgres', $query), $expected, "$type: the same rows");
	is_clean($clean, $type);

	is($node->safe_psql('postgres', "SET work_mem = '64MB'; $query"), $expected,
		"$type: the same rows in memory");
	is_clean($clean, "$type in memory");

	foreach my $memory (@memory)
	{
		foreach my $place (qw(read probe output))
		{
			my ($status, $out, $err) = $node->psql('postgres',
				"SET work_mem = '$memory'; SET test.place = '$place'; SET test.what = 'error'; $query");

			like($err, qr/trouble at $place.*parallel worker/s, "$type, $memory: an error of a worker at $place");
			is_clean($clean, "$type, $memory, $place, error");

			my $session = sleeping_at($place, $query, $memory);
			$node->safe_psql('postgres', "SELECT pg_cancel_backend(leader_pid) $sleeping LIMIT 1");
			$session->{run}->finish;
			like($session->{err}, qr/canceling statement due to user request/, "$type, $memory: canceled at $place");
			is_clean($clean, "$type, $memory, $place, canceled");
		}
	}
	my ($status, $out, $err) = $node->psql('postgres', "SET temp_file_limit = '100kB'; $query");
	like($err, qr/temporary file size exceeds/, "$type: too little room on disk");
	is_clean($clean, "$type, temp_file_limit");
}

# Workers compute the signatures that are grouped
foreach my $rule (qw(greedy connected))
{
	my $query = "SELECT count(*), sum(representative) FROM near_duplicate_groups('SELECT id, made(sig, id) FROM docs', 0.6, rule => '$rule')";
	my $expected = $node->safe_psql('postgres', "SET max_parallel_workers_per_gather = 0; $query");

	foreach my $memory (@memory)
	{
		is($node->safe_psql('postgres', "SET work_mem = '$memory'; $query"), $expected,
			"groups, $rule, $memory: the same rows");
		is_clean($clean, "groups, $rule, $memory");

		my ($status, $out, $err) = $node->psql('postgres',
			"SET work_mem = '$memory'; SET test.place = 'read'; SET test.what = 'error'; $query");
		like($err, qr/trouble at read.*parallel worker/s, "groups, $rule, $memory: an error of a worker");
		is_clean($clean, "groups, $rule, $memory, error");

		my $session = sleeping_at('read', $query, $memory);
		$node->safe_psql('postgres', "SELECT pg_cancel_backend(leader_pid) $sleeping LIMIT 1");
		$session->{run}->finish;
		like($session->{err}, qr/canceling statement due to user request/, "groups, $rule, $memory: canceled");
		is_clean($clean, "groups, $rule, $memory, canceled");
	}
	my ($status, $out, $err) = $node->psql('postgres', "SET temp_file_limit = '100kB'; $query");
	like($err, qr/temporary file size exceeds/, "groups, $rule: too little room on disk");
	is_clean($clean, "groups, $rule, temp_file_limit");
}

# At any moment, also while the sets and the index are built: the leader and the
# workers are in another phase each time.
{
	my $moments = 16;
	my $before = left_over();

	$node->safe_psql(
		'postgres', q{
		CREATE TABLE many AS
		SELECT i AS id, signature_from(ARRAY(
			SELECT (i / 4 * 1000 + e * (1 + i / 8 % 3))::bigint
			FROM generate_series(i % 4, 40) e)) AS sig
		FROM generate_series(1, 20000) i;
		ANALYZE many});
	my $settings = "SET work_mem = '64MB'; SET parallel_leader_participation = on;";
	my $query = 'SELECT count(*) FROM many a JOIN many b '
	  . 'ON near_duplicate(a.sig, b.sig, 0.6) AND a.id < b.id';
	my $expected =
	  $node->safe_psql('postgres', "SET max_parallel_workers_per_gather = 0; $query");

	my $plan = $node->safe_psql('postgres', "$settings EXPLAIN (ANALYZE) $query");

	like($plan, qr/Parallel Custom Scan \(SimilarityJoin\)/, 'many rows: by several processes');
	my ($ms) = $plan =~ /Execution Time: (\d+)/;
	my @answers = map {
		my ($status, $out, $err) = $node->psql('postgres',
			"$settings SET statement_timeout = " . (1 + int($ms * $_ / $moments)) . "; $query");
		$err =~ /due to statement timeout/ ? $expected : $out
	} 1 .. $moments;
	is(join(' ', @answers), join(' ', ($expected) x $moments), 'canceled at many moments, or at its end');
	is_clean($before, 'many moments');
}

# A worker is killed: the server restarts
foreach my $memory (@memory)
{
	foreach my $place (qw(read probe output))
	{
		kill_at($place, $memory);
	}
}

sub kill_at
{
	my ($place, $memory) = @_;
	my $session = sleeping_at($place, $joins{anti}, $memory);

	kill 'KILL', $node->safe_psql('postgres', "SELECT pid $sleeping LIMIT 1");
	$session->{run}->finish;
	like($session->{err}, qr/server closed the connection|terminating connection/, "$memory: killed at $place");
	$node->poll_query_until('postgres', 'SELECT true')
	  or die 'the server does not restart';

	# the control segment has a new name
	my $left = left_over();
	is(scalar(split ' ', $left), scalar(split ' ', $clean), "$memory: killed at $place: nothing is left over")
	  or diag $left;
	is( $node->safe_psql('postgres', $joins{anti}),
		$node->safe_psql('postgres', "SET max_parallel_workers_per_gather = 0; $joins{anti}"),
		'and the join runs');
	return;
}

$node->stop;
done_testing();
