
# Copyright (c) 2026, the neardup developers

# Access method neardup: concurrent writers, VACUUM and readers, and kills of the
# server.  After each crash the index agrees with the table, also on the standby.

use strict;
use warnings;

use File::Basename qw(dirname);
use lib dirname(__FILE__);
use IPC::Run;
use Killed;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $rounds = $ENV{NEARDUP_KILLS} // 3;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(allows_streaming => 1);
$node->append_conf(
	'postgresql.conf', qq{
	wal_consistency_checking = 'generic'
	max_wal_size = 64MB
	max_standby_streaming_delay = -1
	neardup.merge_postings = 2000
	autovacuum = on
	autovacuum_naptime = 1s
	autovacuum_vacuum_cost_delay = 0
	autovacuum_vacuum_scale_factor = 0.05
	autovacuum_vacuum_insert_scale_factor = 0.1});
$node->start;
$node->safe_psql(
	'postgres', q{
	CREATE EXTENSION neardup;
	CREATE TABLE docs (id serial PRIMARY KEY, sig signature);
	CREATE INDEX docs_sig ON docs USING neardup (sig);
	CREATE UNLOGGED TABLE lost (sig signature);
	CREATE INDEX lost_sig ON lost USING neardup (sig);
	-- a set of a family, with some elements of its own
	CREATE FUNCTION make(seed bigint) RETURNS signature LANGUAGE sql AS $$
	  SELECT signature_from(array(
	    SELECT hashint8extended(CASE WHEN hashint8extended(i, seed) & 7 > 0
	             THEN seed % 100 * 1000 + i ELSE seed * 1000 + i END, 0)
	    FROM generate_series(1, 5 + seed % 60) i)) $$;
	-- whether the index finds what a sequential scan finds
	CREATE FUNCTION differs(seed bigint) RETURNS text LANGUAGE plpgsql AS $$
	DECLARE
	  s signature := make(seed);
	  truth text;
	  nearest text;
	  by_index text;
	  in_order text;
	BEGIN
	  SET LOCAL enable_indexscan = off; SET LOCAL enable_bitmapscan = off;
	  EXECUTE 'SELECT string_agg(id::text, '','' ORDER BY id) FROM docs
	           WHERE near_duplicate(sig, $1, 0.6)' INTO truth USING s;
	  EXECUTE 'SELECT string_agg(d::text, '','' ORDER BY d) FROM
	           (SELECT sig <-> $1 AS d FROM docs ORDER BY sig <-> $1 LIMIT 150) s'
	    INTO nearest USING s;
	  SET LOCAL enable_seqscan = off;
	  SET LOCAL enable_indexscan = on; SET LOCAL enable_sort = off;
	  EXECUTE 'SELECT string_agg(id::text, '','' ORDER BY id) FROM docs
	           WHERE near_duplicate(sig, $1, 0.6)' INTO by_index USING s;
	  EXECUTE 'SELECT string_agg(d::text, '','' ORDER BY d) FROM
	           (SELECT sig <-> $1 AS d FROM docs ORDER BY sig <-> $1 LIMIT 150) s'
	    INTO in_order USING s;
	  RETURN CASE WHEN truth IS DISTINCT FROM by_index THEN 'near ' || seed
	              WHEN nearest IS DISTINCT FROM in_order THEN 'nearest ' || seed END;
	END $$;
	INSERT INTO docs (sig) SELECT make(i) FROM generate_series(1, 1000) i;
	INSERT INTO lost SELECT sig FROM docs});

$node->backup('backup');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'backup', has_streaming => 1);
# While the standby waits for a killed primary, the primary recycles its WAL.
$node->safe_psql('postgres', q(SELECT pg_create_physical_replication_slot('standby', true)));
$standby->append_conf('postgresql.conf', 'primary_slot_name = standby');
$standby->start;

my $dir = $PostgreSQL::Test::Utils::tmp_check;
# Each of them is killed before its end.
append_to_file("$dir/write_$_.sql", write_script($_) . 'SELECT pg_sleep(3600);') foreach 1 .. 2;
append_to_file("$dir/read.sql", join('', map { "
	BEGIN ISOLATION LEVEL REPEATABLE READ;
	SELECT 'DIFFERS ' || differs($_ * 37) WHERE differs($_ * 37) IS NOT NULL;
	COMMIT;\n" } 1 .. 500) . 'SELECT pg_sleep(3600);');

# Inserts, some of them long or rolled back, updates and deletions
sub write_script
{
	my $writer = shift;

	return join '', map {
		my $seed = ($writer * 1000 + $_) * 1000;

		"INSERT INTO docs (sig) SELECT make($seed + i) FROM generate_series(1, 30) i;
		UPDATE docs SET sig = make($seed + id) WHERE id % 97 = $_ % 97;
		DELETE FROM docs WHERE id % 89 = $_ % 89;
		BEGIN; INSERT INTO docs (sig) SELECT make($seed + i) FROM generate_series(1, 9) i;
		ROLLBACK;
		INSERT INTO docs (sig) SELECT signature_from(array(SELECT hashint8extended(i, $seed)
			FROM generate_series(1, 2100) i)) WHERE $_ % 7 = 0;\n"
	} 1 .. 400;
}

my $whole = q(SELECT neardup_index_check('docs_sig', true) >= count(*) FROM docs);
my $read = '';
my $merging = 0;
foreach my $round (1 .. $rounds)
{
	my $ignored = '';
	my @running = map {
		IPC::Run::start(
			[ 'psql', '-XqAt', '-d', $node->connstr('postgres') . ' application_name=victim', '-f', $_ ],
			'>', /read/ ? \$read : \$ignored, '2>', \$ignored)
	} "$dir/write_1.sql", "$dir/write_2.sql", "$dir/read.sql";
	my $there = $node->safe_psql('postgres', 'SELECT max(id) FROM docs');

	$node->poll_query_until('postgres',
		"SELECT max(id) > $there + 700 AND " . victims_are_there(3) . ' FROM docs')
	  or die 'the writers do not write';
	kill_postmaster($node);
	IPC::Run::finish($_) for @running;
	$node->start;
	$merging += $node->safe_psql('postgres', q(SELECT count(*) > 0 FROM neardup_index_merges('docs_sig'))) eq 't';
	is($node->safe_psql('postgres', $whole), 't', "round $round: the index is whole");
	is( $node->safe_psql('postgres',
			q(SELECT neardup_index_check('lost_sig', true))),
		'0',
		"round $round: that of an unlogged table is empty");
	$node->safe_psql('postgres', 'INSERT INTO lost SELECT sig FROM docs LIMIT 10');
}
note("killed in the midst of a merge in steps: $merging times of $rounds");
unlike($read, qr/DIFFERS/, 'readers found what a sequential scan finds');
like($node->safe_psql('postgres', 'SELECT count(*) FROM docs'), qr/^\d{3,}$/, 'there are rows');

$node->safe_psql('postgres', 'VACUUM docs');
is($node->safe_psql('postgres', $whole), 't', 'consistent after VACUUM');
$node->wait_for_catchup($standby);
my $same = q(SELECT count(*), count(d), min(d) FROM
	(SELECT differs(i) AS d FROM generate_series(1, 9000, 450) i OFFSET 0) s);
foreach my $server ($node, $standby)
{
	is($server->safe_psql('postgres', $same), '20|0|',
		'the same rows by index and by scan on ' . $server->name);
}
$node->stop;
$standby->promote;
$standby->safe_psql('postgres', 'INSERT INTO docs (sig) SELECT make(i) FROM generate_series(1, 500) i');
is($standby->safe_psql('postgres', $whole), 't', 'consistent on the promoted standby');
$standby->stop;

done_testing();
