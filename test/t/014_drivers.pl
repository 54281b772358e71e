
# Copyright (c) 2026, the neardup developers

# The programs of doc/drivers.md run, and print what it shows.  A missing driver is
# skipped: java is looked for in PATH, the JDBC driver in the place of Debian's package
# libpostgresql-jdbc-java.  Drivers of Python have tests of their own, in clients/python.

use strict;
use warnings;

use File::Basename qw(dirname);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $jar = '/usr/share/java/postgresql.jar';

# A section of the chapter: a command that succeeds if its driver is installed
my %wants = (
	# from version 11 on it runs sources
	'JDBC' => [ 'sh', '-c', "java --version && javac -version && test -f $jar" ]);
my ($ignored_out, $ignored_err) = ('', '');
my %there = map {
	$_ => scalar eval { IPC::Run::run($wants{$_}, '>', \$ignored_out, '2>', \$ignored_err) }
} keys %wants;

my $chapter = slurp_file(dirname(__FILE__) . '/../../doc/drivers.md');
my ($schema) = $chapter =~ /^```sql\n(.*?)^```$/ms;
my %section = $chapter =~ /^## (\w+)\n(.*?)(?=^## |\z)/gms;
is_deeply([ sort grep { $section{$_} =~ /```/ } keys %section ], [ sort keys %wants ], 'drivers of the chapter');

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
# JDBC does not support Unix sockets
$node->append_conf('postgresql.conf', "listen_addresses = '127.0.0.1'") if $there{JDBC};
$node->start;
my $folder = PostgreSQL::Test::Utils::tempdir;

# The command that runs a section's program against a database
sub program
{
	my ($section, $database) = @_;
	my ($code) = $section =~ /^```java\n(.*?)^```$/ms;
	my $file = "$folder/Docs.java";

	open my $out, '>', $file or die "$file: $!";
	print $out $code;
	close $out or die "$file: $!";
	return [
		'java', '-cp', $jar, $file,
		'jdbc:postgresql://127.0.0.1:' . $node->port . "/$database?user=" . getpwuid($<)
	];
}

foreach my $driver (sort keys %wants)
{
  SKIP:
	{
		my $database = lc $driver;
		my ($expected) = ($section{$driver} // '') =~ /^```text\n(.*?)^```$/ms;
		my ($out, $err) = ('', '');

		skip "$driver is not there", 1 unless $there{$driver};
		$node->safe_psql('postgres', "CREATE DATABASE $database");
		$node->safe_psql($database, $schema);
		local %ENV = (
			%ENV,
			PGHOST => $node->host,
			PGPORT => $node->port,
			PGUSER => scalar getpwuid($<),
			PGDATABASE => $database);
		IPC::Run::run(program($section{$driver}, $database),
			'>', \$out, '2>', \$err);
		is($out, $expected, "$driver prints what the chapter says") or diag($err);
	}
}

$node->stop;

done_testing();
