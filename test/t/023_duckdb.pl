# Copyright (c) 2026, the neardup developers

# The example of DuckDB in doc/distributed.md finds the pairs of the join.  It is skipped
# without python3 or its module duckdb, version 1 or later.

use strict;
use warnings;

use File::Basename qw(dirname);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

plan skip_all => 'python3 has no module duckdb of version 1'
  if system(q{python3 -c 'import duckdb; assert duckdb.__version__[0] >= "1"' 2>/dev/null}) != 0;

my $chapter = slurp_file(dirname(__FILE__) . '/../../doc/distributed.md');
my ($section) = $chapter =~ /^## In DuckDB\n(.*?)^## /ms;
my ($exports) = $section =~ /^```sql\n(.*?)^```$/ms;
my ($program) = $section =~ /^```python\n(.*?)^```$/ms;
my @exports = $exports =~ /(COPY .*?;)/gs;
is(scalar @exports, 2, 'two exports');

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->start;
$node->safe_psql(
	'postgres', q{
	CREATE EXTENSION neardup;
	CREATE TABLE docs AS
	SELECT n AS id, shingles((SELECT string_agg('w' || (n % 30 * 40 + i +
		CASE WHEN (i * 7 + n) % (9 + n % 30) = 0 THEN 5000 + n ELSE 0 END), ' ' ORDER BY i)
		FROM generate_series(1, 10 + n % 30 * 2) i)) AS sig
	FROM generate_series(1, 600) n;
	INSERT INTO docs VALUES (0, 'features{}'), (-1, NULL);
	DELETE FROM docs WHERE id = 0;
	INSERT INTO docs VALUES (0, shingles(''));
	ANALYZE docs});

my $folder = PostgreSQL::Test::Utils::tempdir;
foreach my $file ('sets.csv', 'keys.csv')
{
	my $rows = $node->safe_psql('postgres', shift @exports);

	open my $out, '>', "$folder/$file" or die "$file: $!";
	print $out $rows, "\n";
	close $out or die "$file: $!";
}
open my $out, '>', "$folder/pairs.py" or die "pairs.py: $!";
print $out $program;
close $out or die "pairs.py: $!";

my $pairs = $node->safe_psql(
	'postgres', q{
	SELECT a.id || ' ' || b.id FROM docs a JOIN docs b
	ON near_duplicate(a.sig, b.sig, 0.8) AND a.id < b.id ORDER BY a.id, b.id});
cmp_ok(scalar(split /\n/, $pairs), '>', 500, 'there are pairs');
my $found = `cd '$folder' && python3 pairs.py`;
chomp $found;
is($found, $pairs, 'DuckDB finds the same pairs');

done_testing();
