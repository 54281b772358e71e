
# Copyright (c) 2026, the neardup developers

# A streaming replica has the index and can use it, before and after it is
# promoted.

use strict;
use warnings;

use File::Basename qw(dirname);
use lib dirname(__FILE__);
use Documents;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $primary = PostgreSQL::Test::Cluster->new('primary');
$primary->init(allows_streaming => 1);
# The standby may be slow: its WAL is kept, and its queries are not cancelled.
$primary->append_conf(
	'postgresql.conf', q{
autovacuum = off
wal_keep_size = 1GB
max_standby_streaming_delay = -1
});
$primary->start;
$primary->safe_psql('postgres', 'CREATE EXTENSION neardup');
make_docs($primary, 'postgres', 1, 200);

$primary->backup('backup');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'backup', has_streaming => 1);
$standby->start;

my $rows = q(SELECT md5(string_agg(docs::text, e'\n' ORDER BY id)), count(*)
	FROM docs);

# All commands that write to the index.
add_docs($primary, 'postgres', 201, 500);
$primary->safe_psql('postgres', 'UPDATE docs SET body = doc(id + 1000)
	WHERE id % 7 = 0');
$primary->safe_psql('postgres', 'DELETE FROM docs WHERE id % 11 = 0');
$primary->safe_psql('postgres', 'VACUUM docs');
add_docs($primary, 'postgres', 501, 600);
$primary->wait_for_catchup($standby);

is( $standby->safe_psql('postgres', $rows),
	$primary->safe_psql('postgres', $rows),
	'the same rows on the replica');
is( same_by_index_and_scan($standby, 'postgres', 'replica'),
	same_by_index_and_scan($primary, 'postgres', 'primary'),
	'the same near-duplicates on the replica');

# A new index and the guard are replicated, too.
$primary->safe_psql(
	'postgres', q{
	REINDEX INDEX docs_sig;
	CREATE CONSTRAINT TRIGGER no_near_duplicates
		AFTER INSERT OR UPDATE ON docs
		FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.8')});
$primary->wait_for_catchup($standby);
same_by_index_and_scan($standby, 'postgres', 'replica, rebuilt index');

$primary->stop;
$standby->promote;
add_docs($standby, 'postgres', 5000, 5000);
same_by_index_and_scan($standby, 'postgres', 'promoted replica');
my ($status, $out, $err) = $standby->psql(
	'postgres', 'INSERT INTO docs (id, body) SELECT 5001, doc(5001)',
	extra_params => [ '-v', 'VERBOSITY=verbose' ]);
like($err, qr/ERROR:  23P01:/, 'the guard works on the promoted replica');

$standby->stop;

done_testing();
