
# Copyright (c) 2026, the neardup developers

# Random queries have the same rows by every plan, and altered values are refused or
# can be used: the short form of test/fuzz.

use strict;
use warnings;

use File::Basename qw(dirname);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $fuzz = dirname(__FILE__) . '/../fuzz';
my $node = PostgreSQL::Test::Cluster->new('main');

$node->init;
$node->append_conf('postgresql.conf', 'jit = off');
$node->start;

$ENV{PGHOST} = $node->host;
$ENV{PGPORT} = $node->port;
$ENV{PGUSER} = getpwuid($<);
$ENV{PGDATABASE} = 'postgres';
foreach ([ 'queries', 250 ], [ 'values', 6000 ])
{
	my ($program, $count) = @$_;
	my $output;
	my $good = IPC::Run::run([ $^X, "$fuzz/$program", '--count', $count ],
		'>', \$output, '2>&1');

	ok($good, "$program: no faults") or diag($output);
	like($output, qr/^$count \w+, 0 faults/m, "$program: all of them");
}

$node->stop;
done_testing();
