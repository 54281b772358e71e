
# Copyright (c) 2026, the neardup developers

# Every SQL example in the documentation runs.  An example that is marked "sql
# fails" does not.  Where a block of text follows, that is what psql prints.
#
# Each chapter runs in a database of its own.  All of them run once more in one
# database, in the order of the README, as for a reader of all: there an example that
# is marked "sql later" is left out.

use strict;
use warnings;

use Cwd qw(abs_path);
use File::Basename qw(dirname);
use PostgreSQL::Test::Cluster;
use IPC::Run;
use PostgreSQL::Test::Utils;
use Test::More;

my $top = dirname(__FILE__) . '/../..';

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->start;

# The tables that the examples of a file need
my %prepare = (
	'README.md' => '',
	'doc/analysis.md' => '',
	'doc/elsewhere.md' => '',
	'doc/groups.md' => '',
	'doc/guard.md' => '',
	'doc/join.md' =>
	  'ALTER TABLE docs ADD sig signature GENERATED ALWAYS AS (shingles(body)) STORED',
	'doc/languages.md' => '',
	'doc/lexical.md' => '',
	'doc/lexicon.md' => '',
	'doc/library.md' => '',
	'doc/live_table.md' => '',
	'doc/markup.md' => '',
	# families of texts with words exchanged, and a reader who judges all but
	# one of the pairs as soon as they are there
	'doc/methods.md' => q{
		CREATE FUNCTION judge() RETURNS event_trigger LANGUAGE plpgsql AS $$
		BEGIN
			IF to_regclass('to_judge') IS NOT NULL THEN
				UPDATE to_judge SET near = id1 % 6 = id2 % 6
				WHERE (id1, id2) <> (SELECT id1, id2 FROM to_judge ORDER BY id1, id2 LIMIT 1);
			END IF;
		END $$;
		CREATE EVENT TRIGGER judge ON ddl_command_end WHEN TAG IN ('CREATE TABLE AS')
			EXECUTE FUNCTION judge();
		INSERT INTO docs SELECT 10 + i, string_agg('w' || CASE WHEN n * 7919 % 101 < i
			THEN i * 1000 + n ELSE n + 35 * (i % 6) END, ' ' ORDER BY n)
		FROM generate_series(1, 60) i, generate_series(1, 40) n GROUP BY i},
	'doc/neardup.md' =>
	  'ALTER TABLE docs ADD sig signature GENERATED ALWAYS AS (shingles(body)) STORED',
	'doc/neardup_index.md' =>
	  'ALTER TABLE docs ADD sig signature GENERATED ALWAYS AS (shingles(body)) STORED',
	'doc/operations.md' =>
	  'ALTER TABLE docs ADD sig signature GENERATED ALWAYS AS (shingles(body)) STORED',
	'doc/passages.md' => '',
	'doc/records.md' => '',
	'doc/reference.md' => '',
	'doc/similar.md' => '',
	'doc/sizing.md' => '',
	'doc/sketches.md' =>
	  'ALTER TABLE docs ADD sig signature GENERATED ALWAYS AS (shingles(body)) STORED',
	'doc/start.md' => 'DROP TABLE docs',
	'doc/training.md' => '',
	# with a chain: each is near the next few
	'doc/tuning.md' =>
	  q{ALTER TABLE docs ADD sig signature GENERATED ALWAYS AS (shingles(body)) STORED;
		INSERT INTO docs SELECT 10 + i,
			(SELECT string_agg('w' || n, ' ' ORDER BY n) FROM generate_series(i, i + 40) n)
		FROM generate_series(1, 100) i;
		CREATE TABLE documents AS TABLE docs});

# For each file a query that is true after its examples
my %promise = (
	'doc/library.md' => q{
		SELECT documents = 2 AND words = 26 AND state = 'indexed'
		FROM libraries WHERE name = 'papers'},
	'doc/tuning.md' => q{
		SELECT count(*) BETWEEN 10 AND 50
			AND NOT EXISTS (SELECT FROM docs a, docs b WHERE a.id < b.id
				AND similarity(a.sig, b.sig) >= 0.8)
			AND NOT EXISTS (SELECT FROM documents d WHERE NOT EXISTS
				(SELECT FROM docs k WHERE k.id <= d.id AND similarity(k.sig, d.sig) >= 0.8))
		FROM docs});

# The examples of a file: code, whether it fails, and its output if the file has it
sub examples
{
	my ($file) = @_;
	my @examples;
	my $text = slurp_file("$top/$file");

	while ($text =~
		/^([ ]*)```sql( fails| later)?\n(.*?)^[ ]*```$(?:\s*^[ ]*```text\n(.*?)^[ ]*```$)?/gms)
	{
		my ($indent, $mark, $code, $output) = ($1, $2 // '', $3, $4);

		$output =~ s/^\Q$indent\E//gm if defined $output;
		push @examples, { code => $code, output => $output,
			fails => $mark eq ' fails', later => $mark eq ' later' };
	}
	return @examples;
}

# The output of psql as documents have it: without footers, and without blanks at
# the ends of lines
sub printed
{
	my ($code) = @_;
	my ($out, $err) = ('', '');

	$code = "SET client_min_messages = warning;\n$code";
	IPC::Run::run(
		[ 'psql', '-XqP', 'footer=off', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('docs') ],
		'<', \$code, '>', \$out, '2>', \$err);
	return ($?, tidy($out . $err));
}

sub tidy
{
	my ($text) = @_;

	$text =~ s/[ ]+$//gm;
	$text =~ s/^LINE \d.*\n.*\n//gm;
	$text =~ s/\n+\z//;
	return $text;
}

foreach my $file (sort keys %prepare)
{
	my @examples = examples($file);
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
	ok(scalar @examples, "$file has examples");
	foreach my $example (@examples)
	{
		my $code = $example->{code};
		my ($status, $out);

		$code =~ s/CREATE (EXTENSION|TABLE (?=docs ))(?! ?IF NOT)/CREATE $1 IF NOT EXISTS /g;
		($status, $out) = printed($code);
		$number++;
		is($status != 0, $example->{fails}, "$file, example $number")
		  or diag("$code\n$out");
		is($out, tidy($example->{output}), "$file, example $number prints this")
		  if defined $example->{output};
	}
	is($node->safe_psql('docs', $promise{$file}), 't', "$file keeps its promise")
	  if $promise{$file};
}

# All chapters, in the order of the README.  Programs have a test of their own.
{
	my ($list) = slurp_file("$top/README.md") =~ /^## Further\n(.*)/ms;
	my %seen = ('doc/drivers.md' => 1, 'doc/beside.md' => 1);
	my @chapters = grep { !$seen{$_}++ } $list =~ m{\((doc/\w+\.md)}g;

	$node->safe_psql('postgres', 'DROP DATABASE docs; CREATE DATABASE docs');
	is($chapters[0], 'doc/start.md', 'the README lists the chapters');
	is_deeply([ grep { !$seen{$_} } sort keys %prepare ], ['README.md'], 'all of them');
	foreach my $file (@chapters)
	{
		my $number = 0;

		foreach my $example (examples($file))
		{
			$number++;
			next if $example->{later};
			my ($status, $out) = printed($example->{code});
			is($status != 0, $example->{fails}, "$file, example $number, after the chapters before")
			  or diag("$example->{code}\n$out");
		}
	}
}

# The index lists every object of the extension.  If this fails, run test/index.
{
	local %ENV = (%ENV, PGHOST => $node->host, PGPORT => $node->port,
		PGDATABASE => 'docs');
	my ($index, $err) = ('', '');

	$node->safe_psql('postgres', 'DROP DATABASE docs; CREATE DATABASE docs');
	$node->safe_psql('docs', 'CREATE EXTENSION neardup_library CASCADE');
	IPC::Run::run([ 'perl', "$top/test/index" ], '>', \$index, '2>', \$err);
	is($err, '', 'the documentation describes everything');
	is_deeply([ not_in(slurp_file("$top/doc/index.md"), $index) ],
		[], 'doc/index.md lacks nothing that test/index makes');
	is_deeply([ not_in($index, slurp_file("$top/doc/index.md")) ],
		[], 'and has nothing else');
}

# So does the reference.  If this fails, run test/reference.
{
	local %ENV = (%ENV, PGHOST => $node->host, PGPORT => $node->port,
		PGDATABASE => 'docs');
	my ($reference, $err) = ('', '');

	$node->safe_psql('postgres', 'DROP DATABASE docs; CREATE DATABASE docs');
	$node->safe_psql('docs', 'CREATE EXTENSION neardup');
	IPC::Run::run([ 'perl', "$top/test/reference" ], '>', \$reference, '2>', \$err);
	is($err, '', 'the reference describes everything');
	is_deeply([ not_in(slurp_file("$top/doc/reference.md"), $reference) ],
		[], 'doc/reference.md lacks nothing that test/reference makes');
	is_deeply([ not_in($reference, slurp_file("$top/doc/reference.md")) ],
		[], 'and has nothing else');
}

# The names that a message lists
sub listed
{
	my ($sql, $pattern) = @_;
	my $err = '';

	$node->psql('docs', $sql, stderr => \$err, on_error_stop => 0);
	my ($list) = $err =~ $pattern or diag($err);
	return split /, | and /, $list // '';
}

# What the server lists is in the documents, and in the Python package
{
	my @measures = listed(
		q{SELECT near_duplicate(s, s, 1, '') FROM signature_from('{}') s}, qr/^HINT:  Measures are (.*)\.$/m);
	my @modes = listed(
		q{CREATE TABLE guarded (sig signature);
		CREATE TRIGGER t AFTER INSERT ON guarded FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '1', '')},
		qr/^DETAIL:  A mode is one of (.*)\.$/m);
	my $reference = slurp_file("$top/doc/reference.md");
	my ($rows) = slurp_file("$top/doc/neardup.md") =~ /^\|measure\|\|\n((?:\|.*\n)+)/m;
	my ($row) = $reference =~ /^\|`measure`\|(.*`shared`.*)\|$/m;
	my $guard = slurp_file("$top/doc/guard.md");
	my ($mode_row) = $reference =~ /^\|`mode`\|(.*`reject`.*)\|$/m;
	my ($python) = slurp_file("$top/clients/python/neardup/sql.py") =~ /^MODES = \((.*)\)$/m;
	my $join = slurp_file("$top/doc/join.md");
	my @lines = slurp_file("$top/src/join/node/join_explain.c") =~
	  /\b(?:explain_count|explain_removed|ExplainProperty\w+)\("([^"]+)"/g;

	cmp_ok(scalar @measures, '>', 7, 'measures are listed');
	is_deeply([ grep { $rows !~ /`$_`/ } @measures ], [], 'doc/neardup.md has all measures');
	is_deeply([ grep { $row !~ /`$_`/ } @measures ], [], 'and doc/reference.md');
	cmp_ok(scalar @modes, '>', 3, 'modes of the guard are listed');
	is_deeply([ grep { $guard !~ /^\|`$_`.*\|.*\|.*\|$/m } @modes ], [], 'doc/guard.md has all modes');
	is_deeply([ grep { $mode_row !~ /`$_`/ } @modes ], [], 'and doc/reference.md');
	is_deeply([ $python =~ /"(\w+)"/g ], [ @modes, 'exclude' ], 'and the Python package');
	cmp_ok(scalar @lines, '>', 15, 'a join has lines of EXPLAIN');
	is_deeply([ grep { index($join, $_) < 0 } @lines ], [], 'doc/join.md has all of them');
}

# The lines of the other text that a text does not have
sub not_in
{
	my ($text, $other) = @_;
	my %lines = map { $_ => 1 } split /\n/, $text;

	return grep { !$lines{$_} } split /\n/, $other;
}

# Links have targets
my @files = map { glob("$top/$_") }
  qw(*.md doc/*.md demo/*.md findings/*.md test/data/*.md clients/*/*.md src/*/*.md);
my %anchors;
foreach my $file (@files)
{
	foreach my $heading (slurp_file($file) =~ /^#+ (.*)/gm)
	{
		$heading = lc $heading =~ s/[^\w\s-]//gr =~ s/ /-/gr;
		$anchors{ abs_path($file) }{$heading} = 1;
	}
}
foreach my $file (@files)
{
	my $text = slurp_file($file);
	my @broken;

	while ($text =~ /\]\(([^)#:\s]*)(?:#([^)\s]*))?\)/g)
	{
		my ($name, $anchor) = ($1, $2);
		my $to = $name eq '' ? $file : dirname($file) . "/$name";

		push @broken, $name if !-e $to;
		push @broken, "$name#$anchor"
		  if defined $anchor && -e $to && !$anchors{ abs_path($to) }{$anchor};
	}
	is("@broken", '', 'links of ' . $file =~ s{^\Q$top\E/}{}r);
}

$node->stop;

done_testing();
