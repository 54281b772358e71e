
# Copyright (c) 2026, the neardup developers

# ALTER EXTENSION neardup UPDATE, from every version with a path: afterwards the
# extension has the members of a new one, with the same definitions and comments.
#
# Released versions have their install and update scripts.  The version 0.9, made here,
# tests the test: it lacks the last part of the install script, which updates it.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
my $folder = $node->config_data('--sharedir') . '/extension';
my @made = ("$folder/neardup--0.9.sql", "$folder/neardup--0.9--1.0.sql");

plan skip_all => "$folder cannot be written to" unless -w $folder;

my $script = slurp_file("$folder/neardup--1.0.sql");
my ($guard) = $script =~ /^(\\echo .*\n)/m;
my ($begin, $rest) = $script =~ /\A(.*\n)(\n-- [^\n]+\n(?!.*\n-- [a-z :]+\n\n).*)\z/s;

like($guard, qr/CREATE EXTENSION neardup/, 'the script is not for psql');
like($rest, qr/CREATE/, 'the last part of the install script');

sub write_file
{
	my ($file, $text) = @_;

	open my $out, '>', $file or die "$file: $!";
	print $out $text;
	close $out or die "$file: $!";
}
write_file($made[0], $begin);
write_file($made[1], "$guard$rest");

$node->init;
$node->start;

# The members of the extension, with all their properties
sub members
{
	my ($database) = @_;

	return $node->safe_psql(
		$database, q{
		SELECT pg_describe_object(classid, objid, objsubid),
			CASE WHEN p.prokind IN ('f', 'p') THEN pg_get_functiondef(p.oid) END,
			to_jsonb(o) - '{oid,oprcom,oprnegate,oprcode,oprrest,oprjoin,oprleft,oprright,oprresult}'::text[],
			obj_description(objid, classid::regclass::name)
		FROM pg_depend d
		LEFT JOIN pg_proc p ON classid = 'pg_proc'::regclass AND p.oid = objid
		LEFT JOIN pg_operator o ON classid = 'pg_operator'::regclass AND o.oid = objid
		WHERE refclassid = 'pg_extension'::regclass AND deptype = 'e'
			AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'neardup')
		ORDER BY 1});
}

$node->safe_psql('postgres', 'CREATE DATABASE fresh; CREATE DATABASE short');
$node->safe_psql('fresh', 'CREATE EXTENSION neardup');
$node->safe_psql('short', q{CREATE EXTENSION neardup VERSION '0.9'});
my $members = members('fresh');
cmp_ok(scalar(split /\n/, members('short')), '<', scalar(split /\n/, $members),
	'0.9 has fewer members');

my @versions = split /\n/, $node->safe_psql(
	'postgres', q{
	SELECT source FROM pg_extension_update_paths('neardup'), pg_available_extensions e
	WHERE e.name = 'neardup' AND target = default_version AND path IS NOT NULL
	ORDER BY source});
cmp_ok(scalar(@versions), '>', 0, 'there are versions to update from');
foreach my $version (@versions)
{
	my $database = "from_$version";

	$node->safe_psql('postgres', qq(CREATE DATABASE "$database"));
	$node->safe_psql(
		$database, qq(
		CREATE EXTENSION neardup VERSION '$version';
		CREATE TABLE docs AS SELECT shingles('a rose is a rose') AS sig;
		CREATE INDEX docs_sig ON docs USING gin (sig);
		ALTER EXTENSION neardup UPDATE));
	is(members($database), $members, "members after an update from $version");
	is( $node->safe_psql(
			$database,
			q{SET enable_seqscan = off;
			SELECT count(*) FROM docs WHERE near_duplicate(sig, shingles('a rose is a rose'), 1)}),
		'1',
		"what was there with $version works");
}

$node->stop;

done_testing();

END
{
	unlink @made if @made;
}
