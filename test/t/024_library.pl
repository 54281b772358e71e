
# Copyright (c) 2026, the neardup developers

# Four workers on one queue; a backend, then the postmaster are killed at random moments
# before they end: each document is indexed exactly once, and statistics are always
# right.  Then a dump of the library is restored.

use strict;
use warnings;

use File::Basename qw(dirname);
use lib dirname(__FILE__);
use IPC::Run;
use Killed;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(usleep);

my $workers = 4;
my $documents = 4000;
srand(17);

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', 'restart_after_crash = on');
$node->start;
$node->safe_psql(
	'postgres', qq(
	CREATE EXTENSION neardup;
	CREATE SCHEMA lib;
	CREATE EXTENSION neardup_library SCHEMA lib;
	SELECT lib.library_create('papers', 'a shelf');
	SELECT lib.library_create('words', 'another', 'top_words');
	CREATE TABLE written (library_id int, address text, old boolean);
	-- time to be killed; who is still there after a sixth of all waits for it
	CREATE SEQUENCE part MINVALUE -1000000;
	CREATE FUNCTION write_down() RETURNS trigger LANGUAGE plpgsql AS \$\$
	BEGIN
		INSERT INTO written VALUES (NEW.library_id, NEW.address, TG_OP = 'UPDATE');
		PERFORM pg_sleep(CASE WHEN nextval('part') > $documents / 6 THEN 3600 ELSE 0.002 END);
		RETURN NULL;
	END \$\$;
	CREATE TRIGGER write_down AFTER INSERT OR UPDATE ON lib.library_document
		FOR EACH ROW EXECUTE FUNCTION write_down();
	CREATE FUNCTION doc(n int) RETURNS text LANGUAGE sql IMMUTABLE
	RETURN (SELECT string_agg('word' || i * n % 997, ' ') FROM generate_series(1, 30) i);
	INSERT INTO lib.library_queue (library_id, address, body)
	SELECT 1 + n % 2, 'doc/' || n, doc(n) FROM generate_series(1, $documents) n));

sub start_worker
{
	my $ignored = '';
	return IPC::Run::start(
		[
			'psql', '-X', '-q', '-d', $node->connstr('postgres') . ' application_name=victim',
			'-c', q(CALL lib.library_index(batch => 20))
		],
		'>', \$ignored, '2>', \$ignored);
}

# Statistics agree with the documents, entries with both.
sub check
{
	my $name = shift;
	is( $node->safe_psql(
			'postgres', q(
			SELECT l.name, v.documents = count(d.id), v.words = (lexicon_describe(lexicon_agg(d.body))).length
			FROM lib.library l JOIN lib.libraries v USING (name)
			JOIN lib.library_document d ON d.library_id = l.id
			GROUP BY l.name, v.documents, v.words ORDER BY l.name)),
		"papers|t|t\nwords|t|t",
		"$name: statistics are right");
	is( $node->safe_psql(
			'postgres',
			'SELECT (SELECT count(*) FROM lib.library_document) + (SELECT count(*) FROM lib.library_queue)'),
		$documents,
		"$name: each document is in the queue or indexed");
	return;
}

sub waiting
{
	return $node->safe_psql('postgres', 'SELECT count(*) FROM lib.library_queue');
}

# Wait until that number of workers has begun and a document is done.
sub wait_for_workers
{
	my ($number, $before) = @_;

	$node->poll_query_until('postgres',
		"SELECT count(*) < $before AND "
		  . victims_are_there($number) . ' FROM lib.library_queue')
	  or die 'the workers do not work';
	return;
}

my $killed = 0;
foreach my $round (1 .. 4)
{
	my $before = waiting();
	my @running;

	$node->safe_psql('postgres', q(SELECT setval('part', 1)));
	@running = map { start_worker() } 1 .. $workers;
	wait_for_workers($workers, $before);
	usleep(rand 300_000);
	if ($round == 4)
	{
		kill_postmaster($node);
	}
	else
	{
		my $pid = $node->safe_psql(
			'postgres', q(
			SELECT pid FROM pg_stat_activity
			WHERE application_name = 'victim' ORDER BY random() LIMIT 1));
		$killed += kill('KILL', $pid) if $pid;
	}
	IPC::Run::finish($_) for @running;
	if ($round == 4)
	{
		$node->start;
	}
	else
	{
		$node->poll_query_until('postgres', undef, '')
		  or die 'the server does not restart';
	}
	check("round $round");
}
is($killed, 3, 'three workers were killed');
cmp_ok(waiting(), '>', 0, 'before the queue was empty');

# After a cancel it continues, too
my $before = waiting();
$node->safe_psql('postgres', q(SELECT setval('part', 1)));
my $worker = start_worker();
wait_for_workers(1, $before);
is( $node->safe_psql(
		'postgres', q(
		SELECT pg_cancel_backend(pid) FROM pg_stat_activity
		WHERE application_name = 'victim')),
	't',
	'a worker is cancelled');
IPC::Run::finish($worker);
check('cancelled');
cmp_ok(waiting(), '>', 0, 'before the queue was empty');

$node->safe_psql('postgres', q(SELECT setval('part', -1000000)));

my @running = map { start_worker() } 1 .. $workers;
IPC::Run::finish($_) for @running;
check('afterwards');
is(waiting(), 0, 'the queue is empty');
is( $node->safe_psql(
		'postgres',
		'SELECT count(*), count(DISTINCT (library_id, address)), count(*) FILTER (WHERE old) FROM written'),
	"$documents|$documents|0",
	'each document was written exactly once');
is( $node->safe_psql(
		'postgres', q(
		SELECT count(*), count(DISTINCT d.id) FROM lib.library_document d
		JOIN lib.library_signature s ON s.library_id = d.library_id AND s.document_id = d.id)),
	"$documents|$documents",
	'and has one signature');
is( $node->safe_psql(
		'postgres', q(SELECT name, state, progress FROM lib.libraries ORDER BY name)),
	"papers|indexed|1.000\nwords|indexed|1.000",
	'the view shows it');

# Dump and restore
$node->safe_psql('postgres', q(
	DROP TRIGGER write_down ON lib.library_document;
	SELECT lib.library_add('papers', 'later', doc(20000));
	GRANT SELECT ON lib.library_signature TO PUBLIC));
my %told = (
	'libraries' => 'SELECT name, documents, words, waiting, state, last_indexed FROM lib.libraries ORDER BY name',
	'documents' => q(SELECT md5(string_agg(d::text, ' ' ORDER BY id)) FROM lib.library_document d),
	'signatures' => q(SELECT md5(string_agg(s::text, ' ' ORDER BY document_id)) FROM lib.library_signature s),
	'statistics' => q(SELECT name, lexicon_describe(statistics) FROM lib.library ORDER BY name),
	'what was granted' => q(SELECT relacl FROM pg_class WHERE oid = 'lib.library_signature'::regclass),
	'a check' => q(SELECT * FROM lib.library_check(doc(77) || ' and more')));
foreach my $format ('plain', 'custom')
{
	my $file = "$PostgreSQL::Test::Utils::tmp_check/library.$format";

	$node->safe_psql('postgres', 'CREATE DATABASE new TEMPLATE template0');
	$node->command_ok([ 'pg_dump', '-F', $format, '-f', $file, 'postgres' ],
		"$format: dump");
	$node->command_ok(
		$format eq 'plain'
		? [ 'psql', '-X', '-v', 'ON_ERROR_STOP=1', '-f', $file, 'new' ]
		: [ 'pg_restore', '--exit-on-error', '-j', '2', '-d', 'new', $file ],
		"$format: restore");
	is( $node->safe_psql('new', $told{$_}),
		$node->safe_psql('postgres', $told{$_}),
		"$format: $_")
	  for sort keys %told;
	is( $node->safe_psql(
			'new', q(
			CALL lib.library_index();
			SELECT lib.library_create('new one') > 2;
			SELECT lib.library_remake('words');
			SELECT documents FROM lib.libraries WHERE name = 'papers')),
		"t\n2000\n2001",
		"$format: it goes on");
	$node->safe_psql('postgres', 'DROP DATABASE new');
}

$node->stop;

done_testing();
