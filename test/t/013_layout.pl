# The layout of the source is as doc/architecture.md lists it: folders include only
# folders above them, files include no circle, and each file name is used once.  Within
# a folder calls make no circle of files.  Lines fit into 79 columns.

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
			my @own = grep { /\.[ch]$/ and -e "src/$_" }
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

# 1: on the current path, 2: known to be in no circle
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

# A .c file with its .h is a room; a header's types are in its own room, and not in that
# of somebody who uses them.
my %headers = %includes;
%includes = ();
foreach my $path (keys %headers)
{
	my $room = $path =~ s/\.[ch]$//r;

	$includes{$room}{$_} = 1
	  foreach grep { $_ ne $room } map { s/\.[ch]$//r } @{ $headers{$path} };
}
$_ = [ sort keys %$_ ] foreach values %includes;
%state = ();
@circles = ();
visit($_) foreach sort keys %includes;
is(join("\n", @circles), '', 'no circle of rooms');
%includes = %headers;

# minhash.c and minhash.h are one name, in one folder
my %places;
foreach my $path (sort keys %includes)
{
	my $stem = $path =~ s/\.[ch]$//r;

	$places{ basename($stem) }{$stem} = 1;
}
my @twice = map { join(' and ', sort keys %{ $places{$_} }) }
  grep { keys %{ $places{$_} } > 1 } sort keys %places;
is(join("\n", @twice), '', 'every file name is used once');

my %built = map { $_ => 1 } slurp('Makefile') =~ m{\bsrc/(\S+)\.o\b}g;
my @unbuilt = grep { not $built{ s/\.c$//r } } grep { /\.c$/ }
  sort keys %includes;
is("@unbuilt", '', 'every file is built');

my %installed = map { $_ => 1 } slurp('Makefile') =~ m{^\t(doc/\S+\.md)\b}mg;
my @left = grep { not $installed{$_} } sort glob('doc/*.md');
is("@left", '', 'every document is installed');
my $makefile = slurp('Makefile');
@left = grep { $makefile !~ /^\t\Q$_\E\b/m } sort glob('doc/images/*');
is("@left", '', 'so is every picture');

# Code without comments, strings and preprocessor lines
sub code
{
	my ($path) = @_;
	my $text = slurp("src/$path");

	$text =~ s{/\*.*?\*/}{ }gs;
	$text =~ s{"(?:\\.|[^"\\\n])*"}{""}g;
	$text =~ s{^\#(?:[^\n]*\\\n)*[^\n]*}{}mg;
	return $text;
}

my %code = map { $_ => code($_) } keys %includes;

# Functions that are not static, by the file that defines them
my %defined;
foreach my $path (grep { /\.c$/ } keys %code)
{
	while ($code{$path} =~ /^([A-Za-z_][^\n;{}()=]*)\n(\w+)\(/mg)
	{
		$defined{$2} = $path unless $1 =~ /\bstatic\b/;
	}
}

# A file calls another of its folder
my %calls;
foreach my $path (grep { /\.c$/ } keys %code)
{
	my %called;

	while ($code{$path} =~ /\b(\w+)\s*\(/g)
	{
		my $at = $defined{$1} // next;

		$called{$at} = 1 if $at ne $path and dirname($at) eq dirname($path);
	}
	$calls{$path} = [ sort keys %called ];
}
%includes = %calls;
%state = ();
@circles = ();
visit($_) foreach sort keys %includes;
foreach my $circle (@circles)
{
	my @way = split / > /, $circle;
	my ($first) = grep { $way[$_] eq $way[-1] } 0 .. $#way;

	$circle = join(' > ', @way[ $first .. $#way - 1 ]);
}
is(join("\n", @circles),
	'', 'no circle of calls within a folder');

my (@wide, @long);
foreach my $path (sort keys %code)
{
	my $text = $code{$path};

	while ($text =~ /\bstruct\s*(\w*)\s*\{((?:[^{}]|\{[^{}]*\})*)\}/g)
	{
		my ($name, $body) = ($1, $2);

		$body =~ s/\{[^{}]*\}//g;
		push @wide, "$path: $name" if ($body =~ tr/;//) > 30;
	}
	while ($text =~ /^(\w+)\(([^{};]*)\)\s*\{/mg)
	{
		my ($name, $parameters) = ($1, $2);

		1 while $parameters =~ s/\([^()]*\)//g;
		# PostgreSQL gives the parameters of an access method or a hook.
		next if $name =~ /^(am_insert|am_cost|gin_signature_cost|forget_on_discard)$/;
		push @long, "$path: $name" if ($parameters =~ tr/,//) > 6;
	}
}
is(join("\n", @wide),
	'', 'no struct of more than 30 fields');
is(join("\n", @long),
	'', 'no function of more than 7 parameters');

is(system("test/data/page_strings --check") >> 8,
	0, 'the style and the script of the page of passages are in page.inc');

# Lines of code and comments are at most 79 columns wide, with tabs of 4, but for two of
# a hundred; strings of messages may be wider.
my (%lines, %wider);
foreach my $path (sort keys %code)
{
	foreach my $line (split /\n/, slurp("src/$path"))
	{
		1 while $line =~ s/^([^\t]*)\t/$1 . ' ' x (4 - length($1) % 4)/e;
		$lines{ folder($path) }++;
		$wider{ folder($path) }++ if length($line) > 79 and $line !~ /"/;
	}
}
my @wider = map { "$_: $wider{$_} of $lines{$_}" }
  grep { ($wider{$_} // 0) > 0.02 * $lines{$_} }
  sort keys %lines;
is(join("\n", @wider), '', 'lines fit into 79 columns');

done_testing();
