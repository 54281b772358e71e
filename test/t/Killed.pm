
# Copyright (c) 2026, the neardup developers

# Kills a server as a failing machine would.

package Killed;

use strict;
use warnings;

use Exporter 'import';
use PostgreSQL::Test::Utils;
use Time::HiRes qw(usleep);

our @EXPORT = qw(kill_postmaster victims_are_there);

# The state and the parent of a process; none if it is gone
sub process_status
{
	my $pid = shift;

	open my $stat, '<', "/proc/$pid/stat" or return;
	my $line = <$stat> // '';
	return $line =~ /^\d+ \(.*\) (\S) (\d+) /s ? ($1, $2) : ();
}

# A zombie has ended.
sub runs
{
	my ($state) = process_status(shift);

	return defined $state && $state !~ /[ZX]/;
}

# Wait at most `seconds` until no process is left; return the remaining ones.
sub wait_for_end
{
	my ($seconds, $is_left, @processes) = @_;

	for (1 .. 10 * $seconds)
	{
		@processes = grep { $is_left->($_) } @processes;
		last if !@processes;
		usleep(100_000);
	}
	return @processes;
}

# A condition in SQL: this number of sessions named victim is connected.  A session that
# connects only after the restart would not be killed.
sub victims_are_there
{
	my $number = shift;

	return "(SELECT count(*) = $number FROM pg_stat_activity WHERE application_name = 'victim')";
}

# Kill the postmaster and wait until no process of the server runs, as they share its
# memory.  If no parent reaps it, its process id stays in use, and lock files that name
# it must be removed.
sub kill_postmaster
{
	my $node = shift;
	my $pidfile = $node->data_dir . '/postmaster.pid';
	my ($pid) = split /\n/, slurp_file($pidfile);
	my @processes = ($pid);
	my @left;

	# A stopped postmaster starts no further process.
	kill 'STOP', $pid;
	die "the postmaster does not stop"
	  if wait_for_end($PostgreSQL::Test::Utils::timeout_default,
		sub { ((process_status(shift))[0] // 'T') ne 'T' }, $pid);
	foreach my $process (map { m{/(\d+)/} } glob '/proc/[0-9]*/stat')
	{
		my (undef, $parent) = process_status($process);
		push @processes, $process if ($parent // 0) == $pid;
	}
	$node->kill9;
	@left = wait_for_end($PostgreSQL::Test::Utils::timeout_default, \&runs, @processes);
	die "processes of a killed server go on: @left" if @left;
	unlink $pidfile, glob($node->host . '/.s.PGSQL.' . $node->port . '.lock')
	  if wait_for_end(10, sub { kill 'ZERO', shift }, $pid);
	return;
}

1;
