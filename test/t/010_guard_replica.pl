
# Copyright (c) 2026, the neardup developers

# The guard and rows of other sources: prepared transactions, for which it waits, and
# logical replication, whose apply fires it only if it is enabled for that.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(allows_streaming => 'logical');
$node->append_conf(
	'postgresql.conf', q{
max_prepared_transactions = 5
wal_retrieve_retry_interval = 100ms
});
$node->start;

my $publisher = 'publisher';
my $subscriber = 'subscriber';
foreach my $dbname ($publisher, $subscriber)
{
	$node->safe_psql('postgres', "CREATE DATABASE $dbname");
	$node->safe_psql(
		$dbname, q{
		CREATE EXTENSION neardup;
		CREATE TABLE docs (id int PRIMARY KEY, body text,
			sig signature GENERATED ALWAYS AS (shingles(body)) STORED);
		CREATE INDEX ON docs USING gin (sig) WITH (fastupdate = off)});
}
$node->safe_psql(
	$subscriber, q{
	CREATE CONSTRAINT TRIGGER guard AFTER INSERT OR UPDATE ON docs
		FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.8')});

# The SQLSTATE of a statement that fails, or nothing.  The timeout is long for statements
# that need not wait.
sub state_of
{
	my ($statement, $patience) = @_;
	my (undef, undef, $err) = $node->psql($subscriber,
		"\\set VERBOSITY sqlstate\nSET lock_timeout = '"
		  . ($patience // '100s')
		  . "';\n$statement");

	return $err =~ /ERROR:  (\S+)/ ? $1 : '';
}

# Prepared transactions
foreach my $end ('ROLLBACK', 'COMMIT')
{
	$node->safe_psql(
		$subscriber, q{
		BEGIN;
		INSERT INTO docs VALUES (1, 'a text of six words altogether');
		PREPARE TRANSACTION 'first'});
	is(state_of("INSERT INTO docs VALUES (2, 'A text of six words, altogether')", '200ms'),
		'55P03', 'a prepared row is waited for');
	$node->safe_psql($subscriber, "$end PREPARED 'first'");
	is( state_of("INSERT INTO docs VALUES (2, 'A text of six words, altogether');
				DELETE FROM docs WHERE id = 2"),
		$end eq 'COMMIT' ? '23P01' : '',
		"$end PREPARED decides");
}
$node->safe_psql(
	$subscriber, q{
	DROP TRIGGER guard ON docs;
	CREATE CONSTRAINT TRIGGER guard AFTER INSERT OR UPDATE ON docs
		DEFERRABLE INITIALLY DEFERRED
		FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.8')});
is( state_of(
		q{BEGIN; INSERT INTO docs VALUES (2, 'a text of six words altogether');
		PREPARE TRANSACTION 'second'}),
	'23P01',
	'a deferred guard looks when a transaction is prepared');

# Dense vectors, in whose table all rows are read
$node->safe_psql(
	$subscriber, q{
	CREATE TABLE vectors (id int PRIMARY KEY, v signature);
	CREATE CONSTRAINT TRIGGER guard AFTER INSERT OR UPDATE ON vectors
		FOR EACH ROW EXECUTE FUNCTION neardup_guard('v', '0.9', 'measure', 'cosine');
	BEGIN;
	INSERT INTO vectors VALUES (1, dense('{1,2,3}'));
	PREPARE TRANSACTION 'vector'});
is(state_of("INSERT INTO vectors VALUES (2, dense('{1,2,3.1}'))", '200ms'),
	'55P03', 'a prepared vector is waited for');
$node->safe_psql($subscriber, "COMMIT PREPARED 'vector'");
is(state_of("INSERT INTO vectors VALUES (2, dense('{1,2,3.1}'))"),
	'23P01', 'and is there once it is committed');

# Logical replication; publisher and subscriber are in one cluster, so the slot must
# be created separately
$node->safe_psql($publisher, 'CREATE PUBLICATION docs FOR TABLE docs');
$node->safe_psql($publisher,
	"SELECT pg_create_logical_replication_slot('docs', 'pgoutput')");
my $connection = $node->connstr . " dbname=$publisher";
$node->safe_psql(
	$subscriber, qq{
	CREATE SUBSCRIPTION docs CONNECTION '$connection' PUBLICATION docs
		WITH (create_slot = false, slot_name = 'docs', copy_data = false)});
$node->safe_psql($publisher,
	q{INSERT INTO docs VALUES (11, 'A text of six words altogether.')});
$node->wait_for_catchup('docs');
is( $node->safe_psql($subscriber, 'SELECT id FROM docs ORDER BY id'),
	"1\n11", 'applied rows are not checked');

$node->safe_psql($subscriber, 'ALTER TABLE docs ENABLE ALWAYS TRIGGER guard');
my $log = -s $node->logfile;
$node->safe_psql(
	$publisher, q{
	INSERT INTO docs VALUES (12, 'something else that is like nothing there');
	INSERT INTO docs VALUES (13, 'a text of six words - altogether')});
ok( $node->poll_query_until(
		$subscriber, 'SELECT count(*) = 1 FROM docs WHERE id = 12'),
	'where they are checked, most go through');
my $refused;
for (1 .. 10 * $PostgreSQL::Test::Utils::timeout_default)
{
	$refused = substr(slurp_file($node->logfile), $log) =~
	  /near-duplicate row violates constraint "guard"/;
	last if $refused;
	select(undef, undef, undef, 0.1);
}
ok($refused, 'and one that is refused stops the apply');
$node->safe_psql($subscriber, 'DELETE FROM docs WHERE id IN (1, 11)');
$node->wait_for_catchup('docs');
is( $node->safe_psql($subscriber, 'SELECT id FROM docs ORDER BY id'),
	"12\n13", 'until what it is near to has gone');

# Rows are applied one by one: the outcome is visible at the end of the transaction.
my $bodies = q{SELECT id, body FROM docs WHERE id IN (12, 13) ORDER BY id};
$node->safe_psql($publisher,
	q{UPDATE docs a SET body = b.body FROM docs b WHERE (a.id, b.id) IN ((12, 13), (13, 12))});
$node->wait_for_catchup('docs');
is( $node->safe_psql($subscriber, $bodies),
	$node->safe_psql($publisher, $bodies),
	'a deferred guard lets two rows exchange their texts');

# PostgreSQL's apply does not fire triggers for statements, whatever they are
# enabled for
$node->safe_psql(
	$subscriber, q{
	DROP TRIGGER guard ON docs;
	CREATE TRIGGER guard AFTER INSERT ON docs REFERENCING NEW TABLE AS added
		FOR EACH STATEMENT EXECUTE FUNCTION neardup_guard('sig', '0.8');
	ALTER TABLE docs ENABLE ALWAYS TRIGGER guard});
$node->safe_psql($publisher,
	q{INSERT INTO docs VALUES (14, 'A text of six words: altogether')});
$node->wait_for_catchup('docs');
is( $node->safe_psql($subscriber, 'SELECT id FROM docs ORDER BY id'),
	"12\n13\n14", 'a guard for each statement does not check what is applied');

$node->safe_psql($subscriber, 'DROP SUBSCRIPTION docs');
$node->stop;

done_testing();
