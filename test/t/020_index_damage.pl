
# Copyright (c) 2026, the neardup developers

# Access method neardup: the check finds damage that would lose rows silently, in a
# filter, an order, a spec, a number of a directory.  Each is damaged in the file of its
# own index, while the server is down.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->start;
$node->safe_psql(
	'postgres', q{
	CREATE EXTENSION neardup;
	-- one key, which several rows have
	CREATE TABLE same AS SELECT signature_from('{7}') AS sig FROM generate_series(1, 3);
	CREATE TABLE sets AS SELECT signature_from(array(SELECT i * 100 + k FROM generate_series(1, 5) k)) AS sig
	  FROM generate_series(1, 3000) i;
	CREATE TABLE hashes AS SELECT simhash(sig) AS sig FROM sets LIMIT 50;
	-- a row is a segment by itself
	CREATE TABLE growing (sig signature);
	CREATE PROCEDURE grow() LANGUAGE sql AS $$
	  INSERT INTO growing SELECT signature_from(array(SELECT k % 2900 + 100 * i FROM generate_series(1, 2900) k))
	  FROM generate_series(1, 30) i $$;
	CALL grow();
	CREATE TABLE rising AS SELECT * FROM growing;
	-- all lists are long
	CREATE TABLE long AS SELECT signature_from(array(SELECT k FROM generate_series(1, 9) k WHERE hashint4(i * 9 + k) & 1 = 1)) AS sig
	  FROM generate_series(1, 500) i});
my $size = $node->safe_psql('postgres', 'SHOW block_size');
my $header = 24;
my $word = 8;
my %file;

sub make_index
{
	my ($name, $table) = @_;

	$node->safe_psql('postgres', "CREATE INDEX $name ON $table USING neardup (sig)");
	$file{$name} = $node->data_dir . '/' .
	  $node->safe_psql('postgres', "SELECT pg_relation_filepath('$name')");
}

# Reads or writes bytes of a file
sub bytes
{
	my ($name, $at, $length, $new) = @_;
	my $old;

	open(my $file, '+<:raw', $file{$name}) or die "$file{$name}: $!";
	seek($file, $at, 0);
	read($file, $old, $length) == $length or die 'the file is too short';
	if (defined $new)
	{
		seek($file, $at, 0);
		print $file $new;
	}
	close($file);
	return $old;
}

# Offset of the contents of the first page of that kind
sub page_of_kind
{
	my ($name, $kind) = @_;

	for (my $at = $size; $at < -s $file{$name}; $at += $size)
	{
		return $at + $header if unpack('S', bytes($name, $at + $size - 4, 2)) == $kind;
	}
	die "there is no page of kind $kind";
}

# The blocks of that kind
sub blocks_of_kind
{
	my ($name, $kind) = @_;

	return grep { unpack('S', bytes($name, ($_ + 1) * $size - 4, 2)) == $kind } 1 .. (-s $file{$name}) / $size - 1;
}

my ($forward, $lists, $directory, $filter, $spare) = (3, 4, 6, 7, 10);

# Change a number of that template by a function
sub change
{
	my ($name, $at, $template, $length, $function) = @_;
	my $old = unpack($template, bytes($name, $at, $length));

	bytes($name, $at, $length, pack($template, $function->($old)));
}

my @bits = map { "bit_$_" } 0 .. 8;
make_index($_, 'same') foreach @bits, 'more_bits';
make_index('long_bits', 'long');
make_index($_, 'sets') foreach qw(directory_key whole row_count key_count cut);
make_index($_, 'sets') foreach qw(far_root far_chain);
make_index($_, 'hashes') foreach qw(row_order row_spec);
# A row with an invalid place, by the number of the block, and by that on the page
# A large segment, and a small one after it
$node->safe_psql('postgres', 'CREATE TABLE grown AS SELECT sig FROM sets LIMIT 1500');
make_index('of_grown', 'grown');
$node->safe_psql('postgres', 'INSERT INTO grown SELECT sig FROM growing LIMIT 1');
# And a page whose end is before its beginning
foreach my $table (qw(blockless placeless endless))
{
	$node->safe_psql('postgres', "CREATE TABLE $table AS SELECT sig FROM sets LIMIT 9");
	make_index("of_$table", $table);
}
make_index($_, 'growing') foreach qw(merged older newer);
make_index('key_order', 'rising');
my ($owner, $postings) = split /\|/, $node->safe_psql('postgres',
	q(SELECT segment, postings FROM neardup_index_segments('whole') WHERE segment IS NOT NULL));
$node->stop;
# They are on by default from PostgreSQL 18 on.
system_or_bail('pg_checksums', '--disable', '-D', $node->data_dir)
  if (run_command([ 'pg_controldata', $node->data_dir ]))[0] !~ /checksum version:\s+0$/m;

# Each bit of the word that is set, and one that is not
my $bits = unpack('Q', bytes('bit_0', page_of_kind('bit_0', $filter), $word));
my @set = grep { $bits >> $_ & 1 } 0 .. 63;
my @unset = grep { !($bits >> $_ & 1) } 0 .. 63;
cmp_ok(scalar @set, '>', 1, 'there are bits of the key');
foreach my $i (0 .. $#set)
{
	change("bit_$i", page_of_kind("bit_$i", $filter), 'Q', $word, sub { shift() & ~(1 << $set[$i]) });
}
change('more_bits', page_of_kind('more_bits', $filter), 'Q', $word, sub { shift() | 1 << $unset[0] });
# The fields of the metapage after the segment's number, twice, and its postings
my $meta = bytes('whole', 0, $size);
my $place = index($meta, pack('QQQ', $owner, $owner, $postings));
cmp_ok($place, '>', 0, 'the segment is in the metapage');
# All indexes of a table have the same bytes there; rows and keys follow
bytes('row_count', $place + 24, 4, "\xff" x 4);
bytes('cut', 12, 4, pack('SS', 4000, 4000));
bytes('key_count', $place + 32, 4, "\xff" x 4);
# The block of the first page, and that of the root of a directory, beyond the file
bytes('far_chain', $place + 40, 4, pack('L', 4_000_000_000));
bytes('far_root', $place + 44, 4, pack('L', 4_000_000_000));
# The first directory is of the rows: the second page of them would begin too early
change('directory_key', page_of_kind('directory_key', $directory) + 8, 'L', 4, sub { shift() - 5 });
change('row_order', page_of_kind('row_order', $forward) + 49 * 20 + 4, 'L', 4, sub { shift() ^ 1 });
bytes('of_blockless', page_of_kind('of_blockless', $forward) + 12, 4, "\xff" x 4);
bytes('of_placeless', page_of_kind('of_placeless', $forward) + 16, 2, "\0" x 2);
bytes('of_endless', page_of_kind('of_endless', $forward) - $header + 12, 2, "\0" x 2);
my @rows_of_grown = blocks_of_kind('of_grown', $forward);
bytes('of_grown', ($_ + 1) * $size - 4, 2, pack('S', $spare)) foreach @rows_of_grown;
change('row_spec', page_of_kind('row_spec', $forward) + 18, 'S', 2, sub { shift() ^ 1 });
# The second restart of a page of lists, the last but one before its end
change('key_order', page_of_kind('key_order', $lists) - $header + $size - 16 - 2 * 8, 'L', 4, sub { 0 });
my $version = $header + 4;
change('older', $version, 'L', 4, sub { shift() - 1 });
change('newer', $version, 'L', 4, sub { shift() + 1 });
$node->start;

# The result of the check of an index
sub check
{
	my ($name, $all) = @_;
	my ($stdout, $stderr);

	$node->psql('postgres', "SELECT neardup_index_check('$name', $all)",
		stdout => \$stdout, stderr => \$stderr);
	return $stdout . $stderr;
}

like(check('cut', 'false'), qr/ends too early/, 'a metapage that ends too early');
like(check("bit_$_", 'false'), qr/The filter leaves a key out/, "a bit is not set, $_") foreach 0 .. $#set;
like(check('more_bits', 'false'), qr/The filter has a bit of no key/, 'a bit is set');
like(check($_, 'false'), qr/"$_" is damaged at block 4000000000.*Use REINDEX/s, "a block that is not there, $_") foreach qw(far_root far_chain);
like(check('directory_key', 'false'), qr/not found by the directory/, 'a number in a directory');
like(check('row_order', 'true'), qr/is different in index/, 'the order of a row');
like(check('row_spec', 'true'), qr/is different in index/, 'the spec of a row');
like(check($_, 'false'), qr/more rows or keys than it can have/, "what a segment has, $_") foreach qw(row_count key_count);
is(check($_, 'true'), $_ eq 'whole' ? '3000' : '500', "the index $_ is consistent") foreach qw(whole long_bits);

# Searches report a row with an invalid place, and do not read the table there
foreach my $table (qw(blockless placeless))
{
	foreach my $way (qw(indexscan bitmapscan))
	{
		my (undef, undef, $told) = $node->psql('postgres', "SET enable_seqscan = off; SET enable_indexscan = off; SET enable_bitmapscan = off;
			SET enable_$way = on; SELECT count(*) FROM $table, sets WHERE near_duplicate($table.sig, sets.sig, 0.9)
			AND sets.ctid IN (SELECT ctid FROM sets LIMIT 9)");
		like($told, qr/"of_$table" is damaged.*no place in the table/s, "a row is $table, $way");
	}
	is($node->safe_psql('postgres', "SELECT pg_relation_size('$table') / $size"), '1', 'the table has not grown');
}

foreach my $table (qw(blockless placeless endless))
{
	my (undef, undef, $told) = $node->psql('postgres', "DELETE FROM $table; VACUUM $table");
	my $rule = $table eq 'endless' ? qr/belongs to something else/ : qr/no place in the table/;

	like($told, qr/"of_$table" is damaged.*$rule/s, "a row is $table, or a page: VACUUM");
	like(check("of_$table", 'false'), $rule, "a row is $table, or a page: the check");
}

# The small segment is read before the large one: it is merged first, and a search that
# misses a segment must restart
cmp_ok(scalar @rows_of_grown, '>', 1, 'there are rows of both segments');
my (undef, undef, $first) = $node->psql('postgres',
	'SET enable_seqscan = off; SELECT FROM grown ORDER BY sig <-> (SELECT sig FROM growing LIMIT 1) LIMIT 1');
like($first, qr/"of_grown" is damaged at block $rows_of_grown[-1]\b/, 'the small segment is read first');

# Lists that are out of order are not merged
my (undef, undef, $refused) = $node->psql('postgres',
	'SET neardup.merge_postings = 2000; INSERT INTO rising SELECT * FROM growing; VACUUM rising', on_error_stop => 0);
like($refused, qr/"key_order" is damaged.*Keys are out of order/s, 'lists that are out of order are not merged');

# Pages of another version are not read
like(check('newer', 'true'), qr/is of version 5, not 4.*REINDEX/s, 'an index of a newer version');
like(check('older', 'true'), qr/is of version 3, not 4.*REINDEX/s, 'an index of an older version');
$node->safe_psql('postgres', 'DROP INDEX newer, older');
$node->safe_psql('postgres', 'SET neardup.merge_postings = 2000; CALL grow()');
is($node->safe_psql('postgres', q(SELECT count(*) > 0 FROM neardup_index_merges('merged'))), 't', 'merges have begun in it');
is(check('merged', 'true'), '60', 'it is consistent');
# Indexes work after a crash: the metapage is restored from the WAL
$node->stop('immediate');
$node->start;
is($node->safe_psql('postgres', q(SELECT count(*) > 0 FROM neardup_index_merges('merged'))), 't', 'they are there after a crash');
is(check('merged', 'true'), '60', 'it is consistent after a crash');
$node->safe_psql('postgres', 'VACUUM growing');
is($node->safe_psql('postgres', q(SELECT count(*) FROM neardup_index_merges('merged'))), '0', 'VACUUM finishes the merges');
is(check('merged', 'true'), '60', 'it is consistent after VACUUM');
$node->stop;

done_testing();
