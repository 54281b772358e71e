
# Copyright (c) 2026, the neardup developers

# Cases of copying are found as well as src/passages/README.md says, in a planted
# corpus that is made of the collections in the folder COLLECTIONS; for test/run, that
# is DATA.

use strict;
use warnings;

use File::Basename qw(dirname);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $test = dirname(__FILE__) . '/..';
my $collections = $ENV{COLLECTIONS} // '';

plan skip_all => 'COLLECTIONS names no folder with the collections'
  unless -e "$collections/debdesc.tsv.xz" && -e "$collections/persian_poets";

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION neardup');
$node->safe_psql('postgres', PostgreSQL::Test::Utils::slurp_file("$test/sql/shared/plagdet.sql"));
$node->safe_psql('postgres', <<"END");
CREATE TABLE texts (pair int PRIMARY KEY, language text, manner text, a text, b text);
\\copy texts FROM PROGRAM 'python3 $test/oracle/planted.py --collections $collections texts'
\\copy planted FROM PROGRAM 'python3 $test/oracle/planted.py --collections $collections cases'
END

# Plagdet of a manner by a preset, as documented of two seeds
foreach my $row (
	[ 'verbatim', 'verbatim', 0.967 ],
	[ 'verbatim', 'edited', 0.966 ],
	[ 'random', 'edited', 0.925 ],
	[ 'translated', 'edited', 0.932 ],
	[ 'summary', 'rewritten', 0.778 ])
{
	my ($manner, $preset, $documented) = @$row;
	my $plagdet = $node->safe_psql('postgres', <<"END");
TRUNCATE found;
INSERT INTO found SELECT pair, c.* FROM texts,
  LATERAL (SELECT a_start, a_length, b_start, b_length FROM copied_cases(a, b, '$preset')) c WHERE manner = '$manner';
SELECT plagdet FROM plagdet(ARRAY(SELECT pair FROM texts WHERE manner = '$manner'));
END

	cmp_ok(abs($plagdet - $documented), '<=', 0.03, "$manner by $preset: $plagdet");
}

my $wrong = $node->safe_psql('postgres', q{
	SELECT count(*) FROM texts WHERE manner = 'none' AND EXISTS (SELECT FROM copied_cases(a, b))});
cmp_ok($wrong, '<=', 4, "$wrong of 100 texts without copying have a case");

$node->stop;

done_testing();
