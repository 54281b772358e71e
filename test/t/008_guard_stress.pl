
# Copyright (c) 2026, the neardup developers

# Eight writers insert, update and delete documents that are full of
# near-duplicates of each other's, at every isolation level, in a plain and in
# a partitioned table, guarded by row, by statement or both, within scopes and by
# a partial index, as shingles or as dense vectors without an index, and while a backend or the postmaster is killed.  Afterwards
# there is no pair of near-duplicates in a scope, found by brute force; and every
# row is as the server answered its writer.

use strict;
use warnings;

use File::Basename qw(dirname);
use lib dirname(__FILE__);
use IPC::Run;
use Killed;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $writers = 8;

# Random numbers below n, the same in each run.
my $state;

sub number
{
	my $n = shift;

	$state = ($state * 1103515245 + 12345) % 2147483648;
	return ($state >> 8) % $n;
}

# A document of 60 words.  Documents of one family that differ in one or two words are
# near-duplicates (49 + 3 of 58 + 6 shingles), most others are not.
sub document
{
	my $family = shift;
	my @words = map { "w$family.$_" } 1 .. 60;

	$words[ number(60) ] = 'x' . number(9) for 0 .. number(4);
	return join ' ', @words;
}

# The rows of one writer: id => body, undef if unknown (the connection was lost during
# a commit).
my %rows;

# One transaction of a writer: its statements, and its rows after a commit.  All
# writers use the same families.
sub transaction
{
	my ($table, $writer, $serial, $level) = @_;
	my @levels = ('READ COMMITTED', 'REPEATABLE READ', 'SERIALIZABLE');
	my @statements = ('BEGIN ISOLATION LEVEL ' . $levels[ $level // number(3) ]);
	my @changes;
	my @own = ($serial - 20 .. $serial - 1);

	push @statements, 'SET CONSTRAINTS ALL DEFERRED' if number(4) == 0;
	for my $i (0 .. number(3))
	{
		my $what = number(20);
		my $id = "$writer" . sprintf '%06d', ($serial * 10 + $i);
		my $old = "$writer" . sprintf '%06d', $own[ number(20) ] * 10;
		my $body = document(int($serial / 4) + number(3));

		if ($what < 3)
		{
			my $more = $id + 5;
			my $second = document(int($serial / 4) + number(3));

			push @statements,
			  "INSERT INTO $table VALUES ($id, '$body'), ($more, '$second')";
			push @changes, [ $id, 'insert', $body ],
			  [ $more, 'insert', $second ];
		}
		elsif ($what < 12)
		{
			push @statements,
			  "INSERT INTO $table VALUES ($id, '$body')"
			  . ($what < 5 ? ' ON CONFLICT (id) DO NOTHING' : '');
			push @changes, [ $id, 'insert', $body ];
		}
		elsif ($what < 15)
		{
			push @statements, "UPDATE $table SET body = '$body' WHERE id = $old";
			push @changes, [ $old, 'update', $body ];
		}
		elsif ($what < 18)
		{
			push @statements,
			  "UPDATE $table SET note = 'n$serial' WHERE id = $old";
		}
		else
		{
			push @statements, "DELETE FROM $table WHERE id = $old";
			push @changes, [ $old, 'delete' ];
		}
	}
	# so that transactions overlap
	push @statements, 'SELECT pg_sleep(0.002)' if number(2) == 0;
	push @statements, number(10) == 0 ? 'ROLLBACK' : 'COMMIT';
	return (\@statements, \@changes);
}

sub apply
{
	my ($rows, $changes, $certain) = @_;

	foreach my $change (@$changes)
	{
		my ($id, $what, $body) = @$change;

		next if $what ne 'insert' && !exists $rows->{$id};
		if (!$certain) { $rows->{$id} = undef; }
		elsif ($what eq 'delete') { delete $rows->{$id}; }
		else { $rows->{$id} = $body; }
	}
	return;
}

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf(
	'postgresql.conf', q{
restart_after_crash = on
deadlock_timeout = 20ms
max_connections = 30
});
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION neardup');

# A vector of a document: documents of one family that differ in less than six words of
# 60 are near-duplicates at 0.9, most others are not.
$node->safe_psql('postgres', q{
	CREATE FUNCTION embedding(body text) RETURNS real[] LANGUAGE sql IMMUTABLE AS $$
		SELECT array_agg((hashtext(word) % 1000)::real ORDER BY i)
		FROM string_to_table(body, ' ') WITH ORDINALITY t (word, i) $$});

# Which pairs of rows a table must not have: near-duplicates of one scope
my (%near, %scope);

# A guarded table; an index on the note keeps updates of it from being HOT.
# How: partitions, their number; statement, triggers for each statement, of
# 'insert' only or 'all'; row, triggers for each row, of 'update' only, 'all' or
# none; within, a scope that is guarded by a partial index; dense, dense vectors, whose
# scope has no index.
sub make_table
{
	my ($table, %how) = @_;
	my $partitions = $how{partitions} // 0;
	my $statement = $how{statement} // '';
	my $row = $how{row} // 'all';
	my $partial = $how{within} && !$how{dense};
	my $guard = 'EXECUTE FUNCTION neardup_guard('
	  . ($how{dense} ? "'sig', '0.9', 'measure', 'cosine'"
		: $partial ? "'${table}_live', '0.8'" : "'sig', '0.8'")
	  . ($how{within} ? ", 'within', 'tenant')" : ')');
	my $events = $row eq 'all' ? 'INSERT OR UPDATE' : 'UPDATE';

	$near{$table} = $how{dense} ? 'cosine(a.sig, b.sig) >= 0.9' : 'similarity(a.sig, b.sig) >= 0.8';
	$scope{$table} = ($how{within} ? 'AND a.tenant = b.tenant ' : '')
	  . ($partial ? 'AND a.live AND b.live' : '');
	$node->safe_psql(
		'postgres', "
		CREATE TABLE $table (id int PRIMARY KEY, body text,
			sig signature GENERATED ALWAYS AS ("
		  . ($how{dense} ? 'dense(embedding(body))' : 'shingles(body)') . ") STORED,
			note text,
			tenant int GENERATED ALWAYS AS (id % 2) STORED,
			live boolean GENERATED ALWAYS AS (id % 7 < 6) STORED)"
		  . ($partitions ? ' PARTITION BY HASH (id)' : ''));
	$node->safe_psql(
		'postgres', "
		CREATE TABLE ${table}_$_ PARTITION OF $table
			FOR VALUES WITH (MODULUS $partitions, REMAINDER $_)")
	  for 0 .. $partitions - 1;
	$node->safe_psql(
		'postgres', "CREATE INDEX ON $table (note);
		CREATE INDEX ${table}_live ON $table USING gin (sig) WITH (fastupdate = off)"
		  . ($partial ? ' WHERE live' : ''))
	  if !$how{dense} && ($row ne 'none' || $partial);
	$node->safe_psql(
		'postgres', "
		CREATE CONSTRAINT TRIGGER guard AFTER $events ON $table
			DEFERRABLE FOR EACH ROW $guard") if $row ne 'none';
	$node->safe_psql(
		'postgres', "
		CREATE TRIGGER inserted AFTER INSERT ON $table
			REFERENCING NEW TABLE AS n FOR EACH STATEMENT $guard") if $statement;
	$node->safe_psql(
		'postgres', "
		CREATE TRIGGER updated AFTER UPDATE ON $table
			REFERENCING OLD TABLE AS o NEW TABLE AS n FOR EACH STATEMENT $guard")
	  if $statement eq 'all';
	return;
}

# Start the writers; each is a hash of its transactions and their outcomes.  With level
# 'kill' they do not end by themselves.
sub start_writers
{
	my ($table, $name, $seed, $transactions, $level) = @_;
	my $kill = ($level // '') eq 'kill';
	my @running;

	$state = $seed;
	for my $w (1 .. $writers)
	{
		my %writer = (out => '', err => '', changes => []);
		my $file = "$PostgreSQL::Test::Utils::tmp_check/$name.$w.sql";

		$rows{$table} //= {};
		append_to_file($file, "\\set VERBOSITY sqlstate\n");
		for my $serial (1 .. $transactions)
		{
			my ($statements, $changes) =
			  transaction($table, $seed * 10 + $w, $serial + 20, $kill ? undef : $level);

			push @{ $writer{changes} }, $changes;
			append_to_file($file,
				join('', map { "$_;\n" } @$statements) . "\\echo done\n");
		}
		append_to_file($file, "SELECT pg_sleep(3600);\n") if $kill;
		$writer{run} = IPC::Run::start(
			[
				'psql', '-X', '-d',
				$node->connstr('postgres') . ' application_name=victim',
				'-f', $file
			],
			'>', \$writer{out}, '2>', \$writer{err});
		push @running, \%writer;
	}
	return @running;
}

# Wait for the writers, and record the server's answers.  Return the number of each
# error, and of committed transactions.
sub finish_writers
{
	my ($table, @running) = @_;
	my %errors;
	my $committed = 0;

	foreach my $writer (@running)
	{
		IPC::Run::finish($writer->{run});
		my @told = split /^done\n/m, $writer->{out}, -1;
		foreach my $i (0 .. $#{ $writer->{changes} })
		{
			my $tags = $told[$i];
			my $changes = $writer->{changes}[$i];

			if (defined $tags && $tags =~ /^COMMIT$/m)
			{
				apply($rows{$table}, $changes, 1);
				$committed++;
			}
			# the last one, if the connection was lost
			elsif ($i == $#told) { apply($rows{$table}, $changes, 0); }
		}
		$errors{$1}++ while $writer->{err} =~ /(?:ERROR|FATAL|PANIC):  (\S+)/g;
		$errors{lost}++ if $writer->{err} =~ /connection/;
	}
	return (\%errors, $committed);
}

sub check
{
	my ($table, $name) = @_;
	my %stored = map { split /\|/ } split /\n/,
	  $node->safe_psql('postgres', "SELECT id, body FROM $table");
	my $expected = $rows{$table};
	my @wrong;

	is( $node->safe_psql(
			'postgres', "
			SET enable_mergejoin = off; SET enable_hashjoin = off;
			SELECT count(*) FROM $table a JOIN $table b
			ON $near{$table} AND a.id < b.id $scope{$table}"),
		0,
		"$name: no pair of near-duplicates by brute force");

	# unknown outcomes: read them from the table
	foreach my $id (grep { !defined $expected->{$_} } keys %$expected)
	{
		delete $expected->{$id};
		$expected->{$id} = $stored{$id} if exists $stored{$id};
	}
	@wrong = grep { ($stored{$_} // '') ne $expected->{$_} } keys %$expected;
	is("@wrong", '', "$name: every row is there as the server answered its writer");
	@wrong = grep { !exists $expected->{$_} } keys %stored;
	is("@wrong", '', "$name: and no other");
	note("$name: " . keys(%stored) . ' rows');
	return;
}

# Duplicates are rejected, deadlocks may happen; there are no other errors.
sub check_errors
{
	my ($name, $errors, $committed, @allowed) = @_;
	my %allowed = map { $_ => 1 } qw(23P01 25P02 40P01 40001), @allowed;
	my @others = grep { !$allowed{$_} } keys %$errors;

	note("$name: $committed committed, errors: "
		  . join ', ', map { "$_ $errors->{$_}" } sort keys %$errors);
	is("@others", '', "$name: no other errors");
	cmp_ok($committed, '>', 50, "$name: many were committed");
	cmp_ok($errors->{'23P01'} // 0, '>', 50, "$name: many were rejected");
	return;
}

# Start writers with more transactions than they can finish before they are killed, and
# wait until all are connected and one has written.
sub start_victims
{
	my ($table, $name, $seed) = @_;
	my $next = $node->safe_psql('postgres',
		"SELECT pg_snapshot_xmax(pg_current_snapshot())");
	my @running = start_writers($table, $name, $seed, 400, 'kill');

	$node->poll_query_until('postgres',
		"SELECT count(*) > 20 AND "
		  . victims_are_there($writers)
		  . " FROM $table WHERE xmin::text::bigint >= $next")
	  or die 'the writers do not write';
	return @running;
}

# Kills a writer's backend, one that is at work if there is one.
sub kill_writer
{
	my $pid = $node->safe_psql(
		'postgres', "
		SELECT pid FROM pg_stat_activity WHERE application_name = 'victim'
		ORDER BY state = 'active' AND query ~ '^INSERT' DESC LIMIT 1");

	return $pid ? kill('KILL', $pid) : 0;
}

make_table('docs');
make_table('parts', partitions => 3);
make_table('statements', statement => 'all', row => 'none');
make_table('mixed', statement => 'insert', row => 'update');
make_table('scopes', within => 1);
make_table('statement_scopes', within => 1, statement => 'all', row => 'none');
make_table('vectors', dense => 1);
make_table('vector_parts', dense => 1, partitions => 3);
make_table('vector_statements', dense => 1, within => 1, statement => 'all', row => 'none');

# Each isolation level, then all of them together
my $seed = 1;
foreach my $level (0 .. 2)
{
	my $name = ('read committed', 'repeatable read', 'serializable')[$level];
	my ($errors, $committed) =
	  finish_writers('docs', start_writers('docs', "level$level", $seed++, 120, $level));

	check_errors($name, $errors, $committed);
	check('docs', $name);
}
my ($errors, $committed);
foreach my $table (
	qw(parts statements mixed scopes statement_scopes vectors vector_parts vector_statements))
{
	($errors, $committed) =
	  finish_writers($table, start_writers($table, $table, $seed++, 120));
	check_errors($table, $errors, $committed);
	check($table, $table);
}

# A backend, then the postmaster are killed meanwhile
foreach my $table (qw(docs parts statements statement_scopes vectors))
{
	my @running = start_victims($table, "backend.$table", $seed++);
	ok(kill_writer(), "backend of $table: killed");
	($errors) = finish_writers($table, @running);
	$node->poll_query_until('postgres', undef, '')
	  or die 'the server does not restart';
	cmp_ok($errors->{lost}, '>', 0, "backend of $table: connections were lost");
	check($table, "backend of $table");

	@running = start_victims($table, "postmaster.$table", $seed++);
	kill_postmaster($node);
	($errors) = finish_writers($table, @running);
	$node->start;
	cmp_ok($errors->{lost}, '>', 0, "postmaster of $table: connections were lost");
	check($table, "postmaster of $table");
}

# The guard by an index of access method neardup, for rows of one statement, finds the
# near-duplicates of a join.  5,000 sets of 30: of each twenty, two share 27 values and
# two share 18.
$node->safe_psql('postgres', q{
	CREATE TABLE rows AS SELECT id, signature_from(array(
		SELECT hashint8extended(CASE WHEN id % 20 = 1 AND i > 1 OR id % 20 = 11 AND i > 10
			THEN id - 1 ELSE id END * 100 + i, 0) FROM generate_series(1, 28) i
		UNION ALL SELECT hashint8extended(i + id % 3, 1) FROM generate_series(1, 2) i)) AS sig
	FROM generate_series(1::bigint, 5000) id});
foreach my $case ([ 0.4, 100, 949 ], [ 0.4, 500, 989 ], [ 0.4, 5000, 998 ],
	[ 0.8, 100, 449 ], [ 0.8, 500, 489 ], [ 0.8, 5000, 498 ])
{
	my ($threshold, $part, $expected) = @$case;
	my $inserts = join ';', map {
		"INSERT INTO own SELECT * FROM rows WHERE id > $_ * $part AND id <= ($_ + 1) * $part"
	} 0 .. 5000 / $part - 1;
	my ($status, $out, $err) = $node->psql('postgres', qq{
		DROP TABLE IF EXISTS own;
		CREATE TABLE own (id int PRIMARY KEY, sig signature);
		CREATE INDEX own_sig ON own USING neardup (sig);
		CREATE TRIGGER guard AFTER INSERT ON own FOR EACH ROW
			EXECUTE FUNCTION neardup_guard('sig', '$threshold', 'warn');
		$inserts});

	# where one statement inserts both rows of a pair, each finds the other one
	is(scalar(() = $err =~ /WARNING:/g), $expected,
		"rows found by those of statements of $part, at $threshold");
}

$node->stop;

done_testing();
