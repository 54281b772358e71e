
# Copyright (c) 2026, the neardup developers

# Ten sessions insert, update and delete rows with kept groups, deferred and immediate, while
# two others refresh them; a backend and the postmaster are killed meanwhile.  Then a
# replica, a dump that is restored.  Afterwards the groups are those of the rows, by brute
# force.  And neardup_backfill() beside a writer, stopped once.

use strict;
use warnings;

use File::Basename qw(dirname);
use lib dirname(__FILE__);
use IPC::Run;
use Killed;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(allows_streaming => 1);
$node->append_conf(
	'postgresql.conf', q{
restart_after_crash = on
max_connections = 40
wal_keep_size = 1GB
max_standby_streaming_delay = -1
});
$node->start;
$node->safe_psql(
	'postgres', q{
	CREATE EXTENSION neardup;
	-- families of five texts; two of a family differ in a few of forty words
	CREATE FUNCTION doc(n int) RETURNS text LANGUAGE sql IMMUTABLE
	RETURN (SELECT string_agg('w' || n / 5 || '.' || CASE WHEN i % 20 = n % 5 THEN 'x' || n ELSE i::text END, ' ' ORDER BY i)
		FROM generate_series(1, 40) i);
	CREATE TABLE deferred (id int PRIMARY KEY, sig signature);
	CREATE INDEX ON deferred USING neardup (sig);
	CREATE TABLE immediate (LIKE deferred INCLUDING ALL);
	CREATE TABLE chains (LIKE deferred INCLUDING ALL);
	SELECT near_duplicate_groups_create('deferred_groups', 'deferred', 'id', 'sig', 0.6);
	SELECT near_duplicate_groups_create('immediate_groups', 'immediate', 'id', 'sig', 0.6, refresh => 'immediate');
	SELECT near_duplicate_groups_create('chains_groups', 'chains', 'id', 'sig', 0.6, rule => 'connected');
	-- rows in no group, near representatives, rows that are not with the nearest one
	CREATE FUNCTION wrong(docs text) RETURNS bigint LANGUAGE plpgsql AS $$
	DECLARE
		n bigint;
	BEGIN
		EXECUTE format('WITH r AS (SELECT d.id AS row, d.sig, g.* FROM %1$s d FULL JOIN %1$s_groups g USING (id)),
			nearest AS (SELECT a.id, max(similarity(a.sig, b.sig)) AS similarity FROM r a JOIN r b
				ON b.id = b.representative AND a.id <> b.id AND similarity(a.sig, b.sig) >= 0.6 GROUP BY a.id)
			SELECT count(*) FROM r LEFT JOIN nearest n USING (id)
			WHERE row IS NULL OR id IS NULL OR r.similarity IS DISTINCT FROM n.similarity
				OR (id = representative) <> (r.similarity IS NULL)', docs) INTO n;
		RETURN n;
	END $$});

# Scripts of pgbench
my $dir = $PostgreSQL::Test::Utils::tmp_check;
my %script = (
	write => q{
\set id random(1, 600)
\set n random(1, 200)
\set what random(1, 10)
\if :what <= 4
INSERT INTO TABLE VALUES (:id, shingles(doc(:n))) ON CONFLICT (id) DO NOTHING;
\elif :what <= 7
UPDATE TABLE SET sig = shingles(doc(:n)) WHERE id = :id;
\else
DELETE FROM TABLE WHERE id = :id;
\endif
},
	refresh => "CALL near_duplicate_groups_refresh('TABLE_groups');\n");

# Start pgbench for a table; return the run and its output.
sub bench
{
	my ($what, $table, $clients, $transactions) = @_;
	my ($text, $file) = ($script{$what}, "$dir/$what.$table.sql");
	my %run = (out => '', what => "$what $table");

	$text =~ s/TABLE/$table/g;
	open my $sql, '>', $file or die "$file: $!";
	print $sql $text;
	close $sql;
	$run{run} = IPC::Run::start(
		[ 'pgbench', '-n', '-c', $clients, '-t', $transactions, '--random-seed', 42,
			'-f', $file, $node->connstr('postgres') ],
		'>&', \$run{out});
	return \%run;
}

sub check
{
	my ($node, $name) = @_;

	foreach my $table (qw(deferred chains))
	{
		$node->safe_psql('postgres', "CALL near_duplicate_groups_refresh('${table}_groups')");
	}
	is($node->safe_psql('postgres', "SELECT wrong('deferred'), wrong('immediate')"),
		'0|0', "$name: the groups are right");
	is($node->safe_psql('postgres',
			join ' UNION ALL ', map { "SELECT near_duplicate_groups_check('${_}_groups')
				+ (SELECT count(*) FROM ${_}_groups_changed) - 1" } qw(deferred immediate chains)),
		"0\n0\n0", "$name: also by the check, and no note is left");
	return;
}

# No session fails, by a deadlock or otherwise.
my @runs = map { bench('write', $_, $_ eq 'immediate' ? 4 : 10, $_ eq 'immediate' ? 60 : 100) }
  qw(deferred immediate chains);
push @runs, map { bench('refresh', $_, 2, 25) } qw(deferred chains);
foreach my $run (@runs)
{
	ok($run->{run}->finish, $run->{what}) or diag($run->{out});
	unlike($run->{out}, qr/aborted|ERROR/, "$run->{what}: no error");
}
cmp_ok($node->safe_psql('postgres', 'SELECT count(*) FROM deferred'), '>', 100, 'there are rows');
check($node, 'after the writers');

# A backend that refreshes, then the postmaster are killed meanwhile.
foreach my $victim (qw(backend postmaster))
{
	my @running = map { bench('write', $_, 5, 100_000) } qw(deferred immediate chains);
	push @running, bench('refresh', 'deferred', 2, 100_000);
	$node->poll_query_until('postgres',
		q{SELECT count(*) > 10 FROM pg_stat_activity WHERE backend_type = 'client backend'});
	sleep 1;
	if ($victim eq 'backend')
	{
		my $pid;
		$pid = $node->safe_psql('postgres', q{SELECT pid FROM pg_stat_activity WHERE query LIKE 'CALL near%'
			AND state = 'active' LIMIT 1}) until $pid;
		kill 'KILL', $pid;
	}
	else
	{
		kill_postmaster($node);
	}
	$_->{run}->finish foreach @running;
	$node->start if $victim eq 'postmaster';
	$node->poll_query_until('postgres', 'SELECT true');
	check($node, "after the $victim was killed");
}

# A replica has the groups, and goes on when it is promoted.
$node->backup('backup');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'backup', has_streaming => 1);
$standby->start;
ok(bench('write', $_, 4, 25)->{run}->finish, "write $_ beside the replica") foreach qw(deferred immediate);
$node->safe_psql('postgres', q{CALL near_duplicate_groups_refresh('deferred_groups')});
$node->wait_for_catchup($standby);
is($standby->safe_psql('postgres', "SELECT wrong('deferred'), wrong('immediate')"),
	'0|0', 'the groups on the replica are right');
$standby->promote;
$standby->safe_psql('postgres', 'DELETE FROM deferred WHERE id % 3 = 0; DELETE FROM immediate WHERE id % 3 = 0');
check($standby, 'the promoted replica');
$standby->stop;

# A dump has the groups, notes that wait, and the triggers.
$node->safe_psql('postgres', 'DELETE FROM deferred WHERE id % 5 = 0');
$node->command_ok([ 'pg_dump', '-f', "$dir/dump.sql", $node->connstr('postgres') ], 'dumped');
$node->safe_psql('postgres', 'CREATE DATABASE restored');
$node->command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('restored'), '-f', "$dir/dump.sql" ], 'restored');
is($node->safe_psql('restored', q{SELECT count(*) > 0 FROM deferred_groups_changed WHERE state IS NULL}),
	't', 'notes are restored');
$node->safe_psql('restored', q{
	DELETE FROM deferred WHERE id % 7 = 0;
	DELETE FROM immediate WHERE id % 7 = 0;
	CALL near_duplicate_groups_refresh('deferred_groups')});
is($node->safe_psql('restored', q{SELECT wrong('deferred'), wrong('immediate')}), '0|0', 'the restored groups are right');

# A column of 100,000 rows is filled while others write; the first call is stopped.
$node->safe_psql(
	'postgres', q{
	CREATE TABLE texts (id int PRIMARY KEY, body text, note int, sig signature) WITH (fillfactor = 90);
	INSERT INTO texts SELECT i, 'text ' || i || ' of many others, ' || i % 100 FROM generate_series(1, 100000) i;
	CREATE TRIGGER fill BEFORE INSERT OR UPDATE ON texts FOR EACH ROW
		EXECUTE FUNCTION neardup_fill('sig', 'shingles(body)', 'body')});
$script{edit} = q{
\set id random(1, 110000)
\set what random(1, 4)
\if :what = 1
UPDATE texts SET body = 'another text ' || :id WHERE id = :id;
\elif :what = 2
UPDATE texts SET note = :id WHERE id BETWEEN :id AND :id + 2;
\elif :what = 3
DELETE FROM texts WHERE id = :id;
\else
INSERT INTO texts VALUES (:id, 'a new text ' || :id) ON CONFLICT (id) DO NOTHING;
\endif
};
my $writers = bench('edit', 'texts', 3, 100_000);
my $call = q{CALL neardup_backfill('texts', 'sig', 'shingles(body)', batch => 2000)};
my ($out, $err) = ('', '');
my $fill = IPC::Run::start([ 'psql', '-Xqc', $call, $node->connstr('postgres') ], '>', \$out, '2>', \$err);
$fill->pump until $err =~ /rows filled\n.*rows filled\n/s;
$node->safe_psql('postgres', q{SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE query LIKE 'CALL neardup_backfill%'});
ok(!$fill->finish, 'the procedure was stopped');
cmp_ok($node->safe_psql('postgres', 'SELECT count(sig) FROM texts'), '>', 2000, 'what it had done stays');
my ($rc, $stdout, $stderr) = $node->psql('postgres', $call);
is($rc, 0, 'the next call ends') or diag($stderr);
like($stderr, qr/NOTICE:  texts: \d+ of \d+ pages, \d+ rows filled/, 'and has said how far it is');
is($node->safe_psql('postgres', 'SELECT count(*) FROM texts WHERE sig IS NULL'), '0', 'no row is empty');
$writers->{run}->kill_kill;
is($node->safe_psql('postgres', 'SELECT count(*) FROM texts WHERE sig <> shingles(body)'), '0', 'or wrong');

$node->stop;

done_testing();
