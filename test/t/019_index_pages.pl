
# Copyright (c) 2026, the neardup developers

# Access method neardup: the pages of a standby are those of the primary, byte by byte,
# after all commands that write to an index.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $primary = PostgreSQL::Test::Cluster->new('primary');
$primary->init(allows_streaming => 1);
# No page changes between the reads of the two servers.
$primary->append_conf(
	'postgresql.conf', q{
wal_consistency_checking = 'generic'
autovacuum = off
neardup.merge_postings = 2000
});
$primary->start;
plan skip_all => 'pageinspect is not there'
  if $primary->safe_psql('postgres',
	q(SELECT count(*) FROM pg_available_extensions WHERE name = 'pageinspect')) == 0;
$primary->safe_psql(
	'postgres', q{
	SELECT pg_create_physical_replication_slot('standby', true);
	CREATE EXTENSION neardup;
	CREATE EXTENSION pageinspect;
	CREATE TABLE docs (id serial PRIMARY KEY, sig signature, v signature);
	-- a set of a family, with some elements of its own, and a vector of it
	CREATE PROCEDURE add(first int, last int) LANGUAGE sql AS $$
	  INSERT INTO docs (sig, v)
	  SELECT signature_from(f), signature_weighted(f, array_fill(1.5::real, array[cardinality(f)]))
	  FROM (SELECT array(SELECT hashint8extended(i % 40 * 1000 + k, k / 3 * i % 7)
	                     FROM generate_series(1, 5 + i % 40) k) AS f
	        FROM generate_series(first, last) i) s $$;
	CALL add(1, 500)});
$primary->backup('backup');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'backup', has_streaming => 1);
$standby->append_conf('postgresql.conf', "primary_slot_name = 'standby'");
$standby->start;

# Each page without its LSN and its checksum.  Pages that were added and never written
# are not in the WAL.
sub pages
{
	my ($server, $index) = @_;

	return $server->safe_psql('postgres', qq{
		SELECT string_agg(block || ' ' || md5(page), e'\\n' ORDER BY block)
		FROM generate_series(0, pg_relation_size('$index') / current_setting('block_size')::int - 1) block,
		  LATERAL (SELECT substring(get_raw_page('$index', block::int) FROM 13)) AS p (page)
		WHERE page <> decode(repeat('00', length(page)), 'hex')});
}

sub same_pages
{
	my $after = shift;

	$primary->wait_for_catchup($standby);
	foreach my $index ('docs_sig', 'docs_v')
	{
		my $pages = pages($primary, $index);

		is(pages($standby, $index), $pages,
			"$after: the same pages of $index, " . ($pages =~ tr/\n// + 1));
	}
}

$primary->safe_psql('postgres', q{
	CREATE INDEX docs_sig ON docs USING neardup (sig);
	CREATE INDEX docs_v ON docs USING neardup (v)});
same_pages('built');
$primary->safe_psql('postgres', 'CALL add(501, 700)');
same_pages('pending rows');
$primary->safe_psql('postgres', "CALL add($_ * 1000, $_ * 1000 + 900)") for 1 .. 8;
$primary->safe_psql('postgres', q{
	INSERT INTO docs (sig) SELECT signature_from(array(SELECT hashint8extended(i, 1)
	  FROM generate_series(1, 3000) i));
	UPDATE docs SET sig = sig WHERE id % 50 = 3});
same_pages('flushed and merged');
is($primary->safe_psql('postgres', q(SELECT count(*) > 0 FROM neardup_index_merges('docs_sig'))), 't', 'an incremental merge has begun');
is($primary->safe_psql('postgres', q(SELECT count(*) > 1 FROM neardup_index_segments('docs_sig')
	WHERE segment IS NOT NULL)), 't', 'there are several segments');
$primary->safe_psql('postgres', 'DELETE FROM docs WHERE id % 7 = 3');
$primary->safe_psql('postgres', 'VACUUM docs');
same_pages('rows deleted');
$primary->safe_psql('postgres', 'CALL add(20000, 21000)');
same_pages('pages used again');
$primary->safe_psql('postgres', 'REINDEX TABLE docs');
same_pages('rebuilt');
is($primary->safe_psql('postgres', q(SELECT neardup_index_check('docs_sig', true) >= count(*)
	AND neardup_index_check('docs_v', true) >= count(*) FROM docs)), 't', 'they are whole');
$standby->stop;
$primary->stop;

done_testing();
