
# Copyright (c) 2026, the neardup developers

# Every SQL example in the documentation runs.

use strict;
use warnings;

use File::Basename qw(dirname);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $top = dirname(__FILE__) . '/../..';

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->start;

# What each file takes for granted
my %prepare = (
	'README.md' => 'TRUNCATE docs',
	'doc/analysis.md' => '',
	'doc/join.md' =>
	  'ALTER TABLE docs ADD sig signature GENERATED ALWAYS AS (shingles(body)) STORED',
	'doc/lexical.md' => '',
	'doc/lexicon.md' => 'CREATE TABLE papers (body text, added date)',
	'doc/methods.md' => '',
	'doc/neardup.md' =>
	  'ALTER TABLE docs ADD sig signature GENERATED ALWAYS AS (shingles(body)) STORED',
	'doc/sketches.md' =>
	  'ALTER TABLE docs ADD sig signature GENERATED ALWAYS AS (shingles(body)) STORED',
	'doc/tuning.md' =>
	  'ALTER TABLE docs ADD sig signature GENERATED ALWAYS AS (shingles(body)) STORED');

foreach my $file (sort keys %prepare)
{
	my @blocks =
	  slurp_file("$top/$file") =~ /^[ ]*```sql\n(.*?)^[ ]*```$/gms;
	my $number = 0;

	$node->safe_psql('postgres',
		'DROP DATABASE IF EXISTS docs; CREATE DATABASE docs');
	$node->safe_psql(
		'docs', qq(
		CREATE EXTENSION neardup;
		CREATE TABLE docs (id int PRIMARY KEY, body text);
		INSERT INTO docs VALUES (1, 'some text'), (2, 'Some text!'),
			(3, 'another text');
		$prepare{$file}));
	ok(scalar @blocks, "$file has examples");
	foreach my $block (@blocks)
	{
		$block =~ s/CREATE (EXTENSION|TABLE (?=docs ))/CREATE $1 IF NOT EXISTS /g;
		my ($status, $out, $err) = $node->psql('docs',
			"SET client_min_messages = warning; $block",
			on_error_stop => 1);
		$number++;
		is("$status$err", '0', "$file, example $number");
		diag($block) if $status != 0;
	}
}

$node->stop;

done_testing();
