
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
is($change, $distribution, 'CHANGELOG.md begins with it');
like($distribution, qr/^\Q$control\E\./, 'the control file has its beginning');
foreach my $extension ('neardup', 'neardup_library')
{
	my $provided = $meta->{provides}{$extension};

	like(slurp_file("$top/$extension.control"),
		qr/^default_version = '\Q$control\E'/m, "$extension is of that version");
	is($provided->{version}, $distribution,
		"META.json provides its own version of $extension");
	is( $provided->{file}, "sql/$extension--$control.sql",
		"META.json names the install script of $extension");
	ok(-f "$top/$provided->{docfile}", "META.json: the docfile of $extension is there");
}
# The distribution of PGXN has no debian/
SKIP:
{
	skip 'no Debian package here', 1 unless -f "$top/debian/changelog";
	like(slurp_file("$top/debian/changelog"), qr/^neardup \(\Q$distribution\E-/,
		'debian/changelog begins with it');
}
like($meta->{maintainer}, qr/^[^<>]+ <\S+\@\S+>$/, 'META.json: the maintainer has an address');
ok(exists $meta->{resources}{$_}, "META.json: resources have a $_")
  for qw(homepage bugtracker repository);

my $node = PostgreSQL::Test::Cluster->new('main');
# make puts the scripts together
ok( -f $node->config_data('--sharedir') . "/extension/$_--$control.sql",
	"the install script of $_ is there") for 'neardup', 'neardup_library';
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
	'the module has the version of META.json');

$node->stop;

done_testing();
