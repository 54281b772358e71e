
# Copyright (c) 2026, the neardup developers

# Random choices that are the same for the same seed, on every machine.

package Dice;

use strict;
use warnings;

sub new
{
	my ($class, $seed) = @_;
	# limit the bits: the product of a great seed would be a float, and all seeds equal
	my $state = ($seed & 0x7FFFFFFF) * 2654435761 + 12345;
	my $self = bless { state => $state & 0x7FFFFFFF }, $class;

	$self->below(2) for 1 .. 3;
	return $self;
}

# A number from 0 on, less than $n, which is at most 2^16
sub below
{
	my ($self, $n) = @_;

	# The low bits of a linear congruential generator are hardly random.
	$self->{state} = ($self->{state} * 1103515245 + 12345) & 0x7FFFFFFF;
	return int(($self->{state} >> 8) * $n / 8388608);
}

# True once in $n times
sub one_in { return $_[0]->below($_[1]) == 0; }

# One of the given values
sub any
{
	my ($self, @values) = @_;

	return $values[ $self->below(scalar @values) ];
}

# Some of the given values, in their order, each with an even chance
sub some
{
	my ($self, @values) = @_;

	return grep { $self->below(2) } @values;
}

1;
