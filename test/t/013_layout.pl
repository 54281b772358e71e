# The layout of the source is what doc/architecture.md says: folders include
# only folders above them, files no circle, and a file name stands once.

# Portions Copyright (c) 2026, the neardup developers

use strict;
use warnings;

use File::Basename;
use File::Find;
use Test::More;

sub slurp
{
	my ($path) = @_;

	open(my $file, '<', $path) or die "$path: $!";
	local $/;
	return scalar <$file>;
}

# Folders in the order of the list, which is the only code block of that form
my @folders = slurp('doc/architecture.md') =~ m{^ {4}([a-z_/]+)/ {2,}\S}mg;
my %rank = map { $folders[$_] => $_ } 0 .. $#folders;
cmp_ok(scalar @folders, '>', 10, 'the list of folders was found');

my %includes;
find(
	{
		no_chdir => 1,
		wanted => sub {
			my $path = $File::Find::name;

			return unless $path =~ s{^src/}{} and $path =~ /\.[ch]$/;
			my @own = grep { -e "src/$_" }
			  slurp("src/$path") =~ /^#include "([^"]+)"/mg;
			$includes{$path} = \@own;
		}
	},
	'src');
cmp_ok(scalar keys %includes, '>', 100, 'the source was found');

# The folder of the list that a file belongs to: the longest that fits
sub folder
{
	my ($path) = @_;
	my $folder = dirname($path);

	$folder = dirname($folder)
	  while $folder ne '.' and not exists $rank{$folder};
	return $folder;
}

my @homeless = grep { $_ ne 'neardup.c' and folder($_) eq '.' }
  sort keys %includes;
is("@homeless", '', 'every file is in a folder of the list');

my @upwards;
foreach my $path (grep { $_ ne 'neardup.c' } sort keys %includes)
{
	push @upwards, map { "$path includes $_" }
	  grep { $rank{ folder($_) } > $rank{ folder($path) } }
	  @{ $includes{$path} };
}
is(join("\n", @upwards), '', 'no folder includes one below it');

# 1: on the way here, 2: known to be in no circle
my (%state, @circles);

sub visit
{
	my ($path, @way) = @_;

	return if ($state{$path} // 0) == 2;
	if (($state{$path} // 0) == 1)
	{
		push @circles, join(' > ', @way, $path);
		return;
	}
	$state{$path} = 1;
	visit($_, @way, $path) foreach @{ $includes{$path} };
	$state{$path} = 2;
	return;
}
visit($_) foreach sort keys %includes;
is(join("\n", @circles), '', 'no circle of includes');

# minhash.c and minhash.h are one name, in one folder
my %places;
foreach my $path (sort keys %includes)
{
	my $stem = $path =~ s/\.[ch]$//r;

	$places{ basename($stem) }{$stem} = 1;
}
my @twice = map { join(' and ', sort keys %{ $places{$_} }) }
  grep { keys %{ $places{$_} } > 1 } sort keys %places;
is(join("\n", @twice), '', 'every name stands once');

my @banners = grep { slurp("src/$_") !~ m{^ \* src/\Q$_\E$}m }
  sort keys %includes;
is("@banners", '', 'every file says where it is');

my %built = map { $_ => 1 } slurp('Makefile') =~ m{\bsrc/(\S+)\.o\b}g;
my @unbuilt = grep { not $built{ s/\.c$//r } } grep { /\.c$/ }
  sort keys %includes;
is("@unbuilt", '', 'every file is built');

my %installed = map { $_ => 1 } slurp('Makefile') =~ m{^\t(doc/\S+\.md)\b}mg;
my @left = grep { not $installed{$_} } sort glob('doc/*.md');
is("@left", '', 'every document is installed');

done_testing();
