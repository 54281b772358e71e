
# Copyright (c) 2026, the neardup developers

# The version is written in several places: they agree.

use strict;
use warnings;

use File::Basename qw(dirname);
use JSON::PP;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $top = dirname(__FILE__) . '/../..';

my $meta = decode_json(slurp_file("$top/META.json"));
my $distribution = $meta->{version};
my ($control) =
  slurp_file("$top/neardup.control") =~ /^default_version = '([^']+)'/m;
my ($change) = slurp_file("$top/CHANGELOG.md") =~ /^## (\S+)/m;

like($distribution, qr/^\d+\.\d+\.\d+$/, 'META.json has a semantic version');
is($meta->{provides}{neardup}{version},
	$distribution, 'META.json provides its own version');
is($change, $distribution, 'CHANGELOG.md begins with it');
like($distribution, qr/^\Q$control\E\./, 'the control file has its beginning');
is( $meta->{provides}{neardup}{file},
	"sql/neardup--$control.sql",
	'META.json names the install script');
ok(-f "$top/$meta->{provides}{neardup}{$_}", "META.json: the $_ is there")
  for qw(file docfile);

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->start;

is( $node->safe_psql(
		'postgres', 'CREATE EXTENSION neardup;
		SELECT extversion FROM pg_extension WHERE extname = $$neardup$$'),
	$control,
	'what CREATE EXTENSION makes is of that version');
is( $node->safe_psql(
		'postgres',
		'SELECT version FROM neardup_versions() WHERE component = $$neardup$$'),
	$distribution,
	'the module tells the version of META.json');

$node->stop;

done_testing();
