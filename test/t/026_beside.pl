# Copyright (c) 2026, the neardup developers

# The examples of doc/beside.md for other extensions and tools run, and print what it
# shows.  Extensions of the server, modules of python3 and programs that are missing on
# the machine are skipped.

use strict;
use warnings;

use File::Basename qw(dirname);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $chapter = slurp_file(dirname(__FILE__) . '/../../doc/beside.md');
my ($schema) = $chapter =~ /^```sql\n(.*?)^```$/ms;
my %section = $chapter =~ /^## (.+?)\n(.*?)(?=^## |\z)/gms;

my $node = PostgreSQL::Test::Cluster->new('main');
my ($libraries, $share) = map { $node->config_data($_) } '--pkglibdir', '--sharedir';
my $version = $node->config_data('--version') =~ /PostgreSQL (\d+)/ ? $1 : 0;
my $folder = PostgreSQL::Test::Utils::tempdir;

sub library { return -f "$libraries/$_[0].so" }
sub extension { return -f "$share/extension/$_[0].control" }

# Runs a command, and returns whether it succeeded and what it printed
sub run
{
	my ($out, $err) = ('', '');
	my $done = eval { IPC::Run::run([@_], '>', \$out, '2>', \$err) };

	return ($done, $out . $err);
}
sub module { return (run('python3', '-c', $_[0]))[0] }

my %there = (
	'pg_hint_plan' => library('pg_hint_plan'),
	'pg_partman' => extension('pg_partman'),
	'pg_squeeze' => extension('pg_squeeze'),
	'pg_ivm' => extension('pg_ivm'),
	'Logical replication' => $version >= 18,
	'ADBC' => module('import adbc_driver_postgresql.dbapi, pyarrow'),
	'DuckDB' => module('import duckdb; duckdb.execute("LOAD postgres_scanner")'));
is_deeply([ sort grep { $section{$_} =~ /^```/m } keys %section ],
	[ sort keys %there ], 'tools of the chapter');

$node->init(allows_streaming => 'logical');
$node->append_conf('postgresql.conf', "shared_preload_libraries = '"
	  . join(',', grep { library($_) } 'pg_squeeze', 'pg_qualstats') . "'\n");
$node->start;
$ENV{PGHOST} = $node->host;
$ENV{PGPORT} = $node->port;
$ENV{PGUSER} = scalar getpwuid($<);

# A database of its own with the chapter's table
sub fresh
{
	my ($name) = @_;

	$node->safe_psql('postgres', "CREATE DATABASE $name");
	$node->safe_psql($name, "CREATE EXTENSION neardup; $schema");
	return $name;
}

# The output of psql as the chapter has it: no footers, no blanks at the ends of lines
sub printed
{
	my ($database, $code) = @_;
	my ($out, $err) = ('', '');

	$code = "SET client_min_messages = warning;\n$code";
	IPC::Run::run([ 'psql', '-XqP', 'footer=off', '-d', $database ],
		'<', \$code, '>', \$out, '2>', \$err);
	return tidy($out . $err);
}

sub tidy { return $_[0] =~ s/[ ]+$//gmr =~ s/\s+\z//r }

my $number = 0;
foreach my $tool (sort keys %there)
{
  SKIP:
	{
		my ($language, $code) = $section{$tool} =~ /^```(sql|python)\n(.*?)^```$/ms;
		my ($expected) = $section{$tool} =~ /^```text\n(.*?)^```$/ms;
		my $database = 'tool' . ++$number;

		skip "$tool is not there", 1 unless $there{$tool};
		fresh($database);
		if ($language eq 'python')
		{
			append_to_file("$folder/$database.py", $code);
			my ($done, $out) = run('python3', "$folder/$database.py",
				"postgresql:///$database?host=$ENV{PGHOST}&port=$ENV{PGPORT}&user=$ENV{PGUSER}");
			is(tidy($out), tidy($expected), "$tool prints what the chapter says");
			next;
		}
		my $out = printed($database, $code);
		if ($tool eq 'pg_squeeze')
		{
			unlike($out, qr/ERROR/, 'pg_squeeze squeezes');
			is($node->safe_psql($database, q{SELECT neardup_index_check('docs_sig')}), 3, 'with its index');
		}
		elsif ($tool eq 'Logical replication')
		{
			is($out, '', 'signatures are published');
			replicate($database);
		}
		else
		{
			is($out, tidy($expected), "$tool prints what the chapter says");
		}
	}
}

# A subscriber of the same server, whose slot is created first
sub replicate
{
	my ($database) = @_;
	my $same = 'SELECT count(*), count(*) FILTER (WHERE sig = shingles(body)) FROM docs';
	my $subscription = q{CREATE SUBSCRIPTION signatures CONNECTION $c$}
	  . $node->connstr($database) . q{$c$ PUBLICATION signatures WITH (create_slot = false)};

	$node->safe_psql('postgres', 'CREATE DATABASE subscriber');
	$node->safe_psql('subscriber', 'CREATE EXTENSION neardup;
		CREATE TABLE docs (id int PRIMARY KEY, body text, sig signature)');
	$node->safe_psql($database, q{SELECT pg_create_logical_replication_slot('signatures', 'pgoutput')});
	$node->safe_psql('subscriber', $subscription);
	ok($node->poll_query_until('subscriber', $same, '3|3'), 'a subscriber has them');
	$node->safe_psql($database, q{UPDATE docs SET body = body || ' And more.' WHERE id = 3});
	ok( $node->poll_query_until('subscriber',
			q{SELECT body LIKE '%more.' AND sig = shingles(body) FROM docs WHERE id = 3}),
		'and what is changed');
	my $position = -s $node->logfile;
	$node->safe_psql('subscriber', q{ALTER TABLE docs DROP COLUMN sig,
		ADD sig signature GENERATED ALWAYS AS (shingles(body)) STORED});
	$node->safe_psql($database, q{INSERT INTO docs (id, body) VALUES (5, 'five')});
	$node->wait_for_log(qr/has incompatible generated column: "sig"/, $position);
	pass('a generated column there stops it');
	$node->safe_psql('subscriber', 'ALTER SUBSCRIPTION signatures DISABLE');
	$node->poll_query_until('postgres', 'SELECT NOT active FROM pg_replication_slots')
	  or die 'the subscription does not stop';
	$node->safe_psql('subscriber', 'DROP SUBSCRIPTION signatures');
	return;
}

# The table of tools
sub tool
{
	my ($name, $is_there, $test) = @_;

	ok($chapter =~ /^\|\Q$name\E/m, "$name is in the table");
  SKIP:
	{
		skip "$name is not there", 1 unless $is_there;
		$test->(fresh('tool' . ++$number));
	}
	return;
}

tool(
	'auto_explain',
	library('auto_explain'),
	sub {
		my ($database) = @_;
		my $out = printed($database, q{
			LOAD 'auto_explain';
			SET auto_explain.log_min_duration = 0;
			SET auto_explain.log_analyze = on;
			SET auto_explain.log_level = warning;
			SELECT count(*) FROM docs a JOIN docs b ON near_duplicate(a.sig, b.sig, 0.8);
			SET auto_explain.log_format = json;
			SELECT count(*) FROM docs WHERE near_duplicate(sig, shingles('something'), 0.8)});
		like($out, qr/Custom Scan \(SimilarityJoin\).*Matching Sets: \d/s, 'auto_explain logs a join');
		like($out, qr/"Node Type": .*near_duplicate\(sig, /s, 'and JSON');
	});
tool(
	'hypopg',
	extension('hypopg'),
	sub {
		my ($database) = @_;
		like(printed($database, qq{CREATE EXTENSION hypopg;
			SELECT hypopg_create_index('CREATE INDEX ON docs USING $_ (sig)')}),
			qr/access method "$_" is not supported/, "hypopg refuses $_") for 'gin', 'neardup';
	});
tool(
	'pg_qualstats',
	extension('pg_qualstats'),
	sub {
		my ($database) = @_;
		like(printed($database, q{CREATE EXTENSION pg_qualstats;
			SET pg_qualstats.sample_rate = 1;
			INSERT INTO docs (id, body) SELECT i, 'number ' || i FROM generate_series(10, 1500) i;
			SELECT count(*) FROM docs WHERE sig = shingles('something');
			SELECT pg_qualstats_index_advisor(min_filter => 1, min_selectivity => 0)}),
			qr/CREATE INDEX ON public.docs USING btree \(sig\)/, 'pg_qualstats proposes a btree');
		my $long = q{INSERT INTO docs (id, body) SELECT 5, string_agg(md5(i::text), ' ') FROM generate_series(1, 600) i;
			CREATE INDEX ON docs USING };
		like(printed($database, "$long btree (sig)"), qr/index row size \d+ exceeds btree/,
			'which long signatures do not fit into');
		is(printed($database, 'CREATE INDEX ON docs USING hash (sig)'), '', 'but into hash');
	});
tool(
	'pg_repack',
	extension('pg_repack') && (run('pg_repack', '--version'))[0],
	sub {
		my ($database) = @_;
		$node->safe_psql($database, q{CREATE EXTENSION pg_repack;
			DELETE FROM docs WHERE id = 2;
			CREATE CONSTRAINT TRIGGER guard AFTER INSERT ON docs
			FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.8')});
		foreach my $options ('-t docs', '-i docs_sig')
		{
			my ($done, $out) = run('pg_repack', split(/ /, $options), $database);
			ok($done && $out !~ /ERROR|WARNING/, "pg_repack $options") or diag($out);
		}
		is($node->safe_psql($database, q{SELECT neardup_index_check('docs_sig')}), 2, 'the index is consistent');
		like(printed($database, 'INSERT INTO docs (id, body) SELECT 9, body FROM docs WHERE id = 1'),
			qr/near-duplicate row violates/, 'and the guard guards');
	});
tool(
	'psycopg 3',
	module('import psycopg'),
	sub {
		my ($database) = @_;
		my ($done, $out) = run('python3', '-c', q{import psycopg, sys
with psycopg.connect(dbname=sys.argv[1]) as conn:
    cursor = conn.cursor(binary=True)
    print(type(cursor.execute("SELECT sig FROM docs").fetchone()[0]).__name__)}, $database);
		is($out, "bytes\n", 'a binary cursor gives bytes');
	});
tool(
	'dbt-postgres',
	scalar((run('dbt', '--version'))[1] =~ /postgres: /),
	sub {
		my ($database) = @_;
		my %files = (
			'dbt_project.yml' => "name: texts\nversion: '1.0.0'\nprofile: texts\n",
			'profiles.yml' => "texts:\n  target: dev\n  outputs:\n    dev: {type: postgres, host: $ENV{PGHOST}, "
			  . "port: $ENV{PGPORT}, user: $ENV{PGUSER}, password: x, dbname: $database, schema: public}\n",
			'models/made.sql' => q{{{ config(materialized='incremental', unique_key='id',
				indexes=[{'columns': ['sig'], 'type': 'neardup'}]) }}
				SELECT id, body, shingles(body) AS sig FROM docs
				{% if is_incremental() %} WHERE id > (SELECT max(id) FROM {{ this }}) {% endif %}},
			'models/pairs.sql' => q{{{ config(materialized='view') }}
				SELECT a.id AS a, b.id AS b FROM {{ ref('made') }} a
				JOIN {{ ref('made') }} b ON near_duplicate(a.sig, b.sig, 0.8) AND a.id < b.id},
			'models/groups.sql' => q{{{ config(materialized='table') }}
				SELECT * FROM near_duplicate_groups('SELECT id, sig FROM {{ ref("made") }}', 0.8)});

		mkdir "$folder/$_" for 'dbt', 'dbt/models';
		append_to_file("$folder/dbt/$_", $files{$_}) for keys %files;
		foreach my $run ('makes', 'adds to')
		{
			my ($done, $out) = run('dbt', 'run', '--profiles-dir', "$folder/dbt", '--project-dir', "$folder/dbt");
			ok($done, "dbt $run models") or diag($out);
			$node->safe_psql($database, q{INSERT INTO docs (id, body)
				SELECT (SELECT max(id) + 1 FROM docs), body FROM docs WHERE id = 3});
		}
		is( $node->safe_psql($database, q{SELECT (SELECT count(*) FROM pairs), (SELECT max(group_id) FROM groups),
			(SELECT count(*) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
				JOIN pg_am a ON a.oid = c.relam WHERE indrelid = 'made'::regclass AND amname = 'neardup')}),
			'2|2|1', 'pairs, groups and an index');
	});

$node->stop;

done_testing();
