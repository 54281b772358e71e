
# Copyright (c) 2026, the neardup developers

# A similarity join can be canceled in each of its phases, and so can groups: the
# server stops within 100 ms, or the time that it takes to read the longest sets a few times.
# All times are CPU times of the server, so that other load does not matter.

use strict;
use warnings;

use IPC::Run;
use List::Util qw(max);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep);

plan skip_all => 'no /proc/self/schedstat' unless -r '/proc/self/schedstat';

# Seconds: the limit of a cancel, and the latest moment to send one.  With later and
# more moments this takes minutes.
my $limit = 0.1;
my $latest = $ENV{CANCEL_LATEST} // 0.6;
my $moments = $ENV{CANCEL_MOMENTS} // 2;
my $seed = $ENV{CANCEL_SEED} // 20260611;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf',
	"jit = off\nenable_nestloop = off\nmax_parallel_workers_per_gather = 0");
$node->start;
$node->safe_psql(
	'postgres', q{
	CREATE EXTENSION neardup;
	-- near ones, equal ones
	CREATE TABLE docs AS
	SELECT i AS id, signature_from(ARRAY(
		SELECT (i / 4 * 1000 + e * (1 + i / 8 % 3))::bigint
		FROM generate_series(i % 4, 40) e)) AS sig
	FROM generate_series(1, 20000) i;
	-- a few very long ones
	CREATE TABLE long AS
	SELECT i AS id, signature_from(ARRAY(
		SELECT (e * 7 + i * (e % 10 / 9))::bigint
		FROM generate_series(1, 200000) e)) AS sig
	FROM generate_series(1, 25) i;
	INSERT INTO long
	SELECT 100 + i, signature_from(ARRAY(
		SELECT (e + i)::bigint FROM generate_series(1, 1500000) e))
	FROM generate_series(1, 3) i;
	-- all equal
	CREATE TABLE equal AS
	SELECT i AS id, signature_from('{1,2,3}') AS sig
	FROM generate_series(1, 100000) i;
	-- one feature in all, another one in two of them
	CREATE TABLE common AS
	SELECT i AS id, i % 2 AS kind, signature_from(ARRAY[0, 1 + i / 2]) AS sig
	FROM generate_series(1, 100000) i;
	-- of one template and of none
	CREATE TABLE mixed AS
	SELECT i AS id, signature_from(ARRAY(
		SELECT CASE WHEN i % 2 = 0 AND hashint4(i * 41 + f) % 7 <> 0 THEN f ELSE hashint4(i * 43 + f) END::bigint
		FROM generate_series(1, 40) f)) AS sig
	FROM generate_series(1, 20000) i;
	ANALYZE});

# The session whose queries are canceled.
my ($in, $out, $err) = ('', '', '');
my $psql = IPC::Run::start(
	[ 'psql', '-XAtq', '-d', $node->connstr('postgres') ],
	'<', \$in, '>', \$out, '2>', \$err,
	IPC::Run::timeout(20 * $PostgreSQL::Test::Utils::timeout_default));

# Send a command, and return at once.
sub put
{
	$out = $err = '';
	$in = "$_[0];\n\\echo done\n";
	$psql->pump_nb;
	return;
}

# Waits for the answer.
sub get
{
	$psql->pump until $out =~ /^done$/m;
	return $out;
}

put('SELECT pg_backend_pid()');
my ($pid) = get() =~ /^(\d+)$/m;

# CPU seconds of the server process.
sub computed
{
	my ($nanoseconds) = split ' ', slurp_file("/proc/$pid/schedstat");
	return $nanoseconds / 1e9;
}

# Cancel a query after some CPU seconds; return the seconds until then, and those
# that it continues, undefined if it had ended.
sub cancel
{
	my ($query, $moment) = @_;
	my $begin = computed();
	my $canceled;

	put($query);
	until ($out =~ /^done$/m || computed() >= $begin + $moment)
	{
		sleep(0.001);
		$psql->pump_nb;
	}
	kill 'INT', $pid;
	$canceled = computed();
	get();
	die "$query: $err" if $err =~ /ERROR/ && $err !~ /due to user request/;
	return ($canceled - $begin, $err ? computed() - $canceled : undef);
}

# Cancel a query at a moment, or earlier if it has ended by then.  A cancel that takes
# too long is repeated, to exclude disturbances.  Return the seconds, or nothing if the
# query is too short.
sub cancel_surely
{
	my ($query, $moment) = @_;
	my $answer;

	for (1 .. 5)
	{
		(undef, $answer) = cancel($query, $moment);
		last if defined $answer && $answer <= $limit;
		$moment /= 2 if !defined $answer;
	}
	return $answer // ();
}

# Cancel a query at several moments: the latest one, if it runs so long, and others.
sub check
{
	my ($name, $query, @settings) = @_;
	my ($seconds, $answer, @answers);

	put(join('; ', 'RESET ALL', map { "SET $_" } @settings));
	get();
	die "$name: $err" if $err;
	if ($query !~ /near_duplicate_groups/)
	{
		put("EXPLAIN $query");
		like(get(), qr/SimilarityJoin/, "$name: a similarity join");
	}
	($seconds, $answer) = cancel($query, $latest);
	push @answers, $answer <= $limit ? $answer : cancel_surely($query, $latest)
	  if defined $answer;
	push @answers, cancel_surely($query, 0.002 + rand($seconds))
	  for @answers + 1 .. $moments;
	diag sprintf('%s: of %.2f s, canceled in %s ms', $name, $seconds,
		join(' ', map { int($_ * 1000) } @answers)) if $ENV{CANCEL_VERBOSE};
	ok(max(0, @answers) <= $limit,
		sprintf('%s: canceled in %d ms at most', $name,
			1000 * max(0, @answers)));
	return scalar @answers;
}

srand($seed);
note "seed $seed";

# The time to read the three longest sets on this machine
{
	my $begin;

	put('SELECT max(signature_hash(sig)) FROM long WHERE id > 100');
	get();
	$begin = computed();
	put('SELECT max(signature_hash(sig)) FROM long WHERE id > 100');
	get();
	$limit = max($limit, 3 * (computed() - $begin));
	note sprintf 'limit %d ms', $limit * 1000;
}

my $pairs = 'SELECT count(*) FROM %1$s a JOIN %1$s b ON near_duplicate(a.sig, b.sig, %2$s)';
my $canceled = 0;

sub pairs { return sprintf($pairs, @_); }

# Inputs of all kinds, with much memory and little
foreach my $work_mem ('1GB', '1MB', '64kB')
{
	$canceled += check("$_->[0], $work_mem", pairs(@$_),
		"work_mem = '$work_mem'")
	  foreach [ 'docs', 0.6 ], [ 'long', 0.6 ], [ 'equal', 0.9 ],
	  [ 'common', 0.3 ];
}

# Each algorithm
foreach my $algorithm (
	'ppjoin+', 'probe-count', 'pair-count', 'probe-stopwords',
	'probe-optmerge', 'all-pairs-0', 'all-pairs-1', 'all-pairs-2',
	'word-groups')
{
	$canceled += check("$_->[0], $algorithm", pairs(@$_),
		"neardup.join_algorithm = '$algorithm'", "work_mem = '256MB'")
	  foreach [ 'long', 0.6 ], [ 'common', 0.3 ];
}

# Other joins
$canceled += check('semi-join',
	'SELECT count(*) FROM common a WHERE EXISTS (SELECT FROM common b
		WHERE near_duplicate(a.sig, b.sig, 0.3) AND b.id < a.id)');
$canceled += check('anti-join',
	'SELECT count(*) FROM equal a WHERE NOT EXISTS (SELECT FROM equal b
		WHERE near_duplicate(a.sig, b.sig, 0.3) AND b.id + a.id < 0)');
$canceled += check('left join',
	'SELECT count(*) FROM docs a LEFT JOIN docs b
		ON contained_in(a.sig, b.sig, 0.5)', "work_mem = '1MB'");

# Sketches and vectors
$canceled += check("sketches, $_", "SELECT count(*) FROM docs a JOIN docs b
		ON near_duplicate($_(a.sig, 64), $_(b.sig, 64), 0.6)")
  foreach 'minhash', 'bottom';
$canceled += check('sketches, simhash', 'SELECT count(*)
	FROM docs a JOIN docs b
	ON near_duplicate(simhash(a.sig), simhash(b.sig), 0.6)');
$canceled += check('vectors',
	"SELECT count(*) FROM v a JOIN v b
		ON near_duplicate(a.sig, b.sig, 0.6, 'cosine')")
  if $node->safe_psql('postgres', q{
	CREATE TABLE v AS
	SELECT id, signature_weighted(sig::bigint[],
		ARRAY[1, 0.5]::real[]) AS sig FROM common;
	SELECT count(*) FROM v});

# Two specs, separated by a condition that is evaluated pair by pair
$canceled += check('specs',
	'SELECT count(*) FROM m a JOIN m b
		ON near_duplicate(a.sig, b.sig, 0.6) AND abs(a.kind - b.kind) < 1')
  if $node->safe_psql('postgres', q{
	CREATE TABLE m AS
	SELECT id, kind, CASE kind WHEN 0 THEN sig ELSE minhash(sig, 8) END AS sig
	FROM common;
	SELECT count(*) FROM m});

# Groups of rows, of new rows, and of pairs
foreach my $rule ('greedy', 'connected')
{
	foreach my $work_mem ('1GB', '64kB')
	{
		$canceled += check("groups of $_, $rule, $work_mem",
			"SELECT count(*) FROM near_duplicate_groups('SELECT id, sig FROM $_', 0.6, rule => '$rule')",
			"work_mem = '$work_mem'")
		  foreach 'docs', 'long', 'equal', 'common', 'mixed';
		$canceled += check("groups of pairs, $rule, $work_mem",
			"SELECT count(*) FROM near_duplicate_groups_of_pairs('SELECT id, id % 1000, 0.5 FROM equal', '$rule')",
			"work_mem = '$work_mem'");
	}
	$canceled += check("added to groups, $rule",
		"SELECT count(*) FROM near_duplicate_groups_add('SELECT id, sig FROM docs WHERE id > 10000',
		 'SELECT id, sig, id, 1 FROM docs WHERE id <= 10000 AND near_duplicate(sig, \$1, 0.6)', 0.6, rule => '$rule')");
}

cmp_ok($canceled, '>=', 70, 'most queries were canceled before their end');

$in = "\\q\n";
$psql->finish;
$node->stop;

done_testing();
