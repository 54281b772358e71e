
# Copyright (c) 2026, the neardup developers

# A connection to PostgreSQL by its protocol, for programs that send very many
# statements and need the outcome of each: the rows, the error, or a lost server.  It
# needs only Perl's own modules.
#
# It connects as psql does, by PGHOST, PGPORT, PGUSER and PGDATABASE, without a
# password.

package Connection;

use strict;
use warnings;

use IO::Socket::UNIX;

sub new
{
	my ($class) = @_;
	my $path = sprintf '%s/.s.PGSQL.%d', $ENV{PGHOST}, $ENV{PGPORT} || 5432;
	my $socket = IO::Socket::UNIX->new(Peer => $path)
	  or die "could not connect to $path: $!\n";
	my $self = bless { socket => $socket, buffer => '' }, $class;
	my $options = join "\0", user => $ENV{PGUSER} || 'postgres',
	  database => $ENV{PGDATABASE} || 'postgres',
	  application_name => 'fuzz', '';

	$socket->autoflush(1);
	$self->_write(pack('NN', 8 + length($options) + 1, 196608) . "$options\0");
	my $answer = $self->_answer;
	die "could not connect: $answer->{error}{M}\n" if $answer->{error};
	return $self;
}

# Whether the connection is alive
sub alive { return defined $_[0]{socket}; }

sub close
{
	my ($self) = @_;

	$self->_write(pack('aN', 'X', 4)) if $self->alive;
	undef $self->{socket};
	return;
}

# Run statements.  Return the rows of the last one that has any, the rows of all, and
# the error if there was one:
#	{ rows => [ [ column, ... ], ... ], all => [ [ column, ... ], ... ],
#	  error => { C => SQLSTATE, M => ... } }
# The error of a lost server has the SQLSTATE 'gone'.
sub query
{
	my ($self, $statements) = @_;

	$self->_write(pack('aNZ*', 'Q', 4 + length($statements) + 1, $statements));
	return $self->_answer;
}

# Prepare a statement with parameters of the types with the given OIDs.
sub prepare
{
	my ($self, $name, $statement, @types) = @_;
	my $body = pack('Z*Z*nN*', $name, $statement, scalar(@types), @types);

	$self->_write(pack('aN', 'P', 4 + length $body)
		  . $body
		  . pack('aN', 'S', 4));
	return $self->_answer;
}

# Run a prepared statement, with parameters in binary form.
sub execute
{
	my ($self, $name, @values) = @_;
	my $body = pack('Z*Z*nnn', '', $name, 1, 1, scalar(@values));

	$body .= pack('N/a*', $_) foreach @values;
	$body .= pack('n', 0);
	$self->_write(pack('aN', 'B', 4 + length $body)
		  . $body
		  . pack('aNZ*N', 'E', 9, '', 0)
		  . pack('aN', 'S', 4));
	return $self->_answer;
}

# The only value of the only row of a query that must succeed
sub value
{
	my ($self, $query) = @_;
	my $answer = $self->query($query);

	die "$answer->{error}{M}: $query\n" if $answer->{error};
	return $answer->{rows}[-1][0];
}

# Run statements that must succeed.
sub run
{
	my ($self, $statements) = @_;
	my $answer = $self->query($statements);

	die "$answer->{error}{C}: $answer->{error}{M} at " . ($answer->{error}{P} // 0) . ": " . substr($statements, ($answer->{error}{P} || 1) - 1, 200) . "\n"
	  if $answer->{error};
	return $answer;
}

sub _write
{
	my ($self, $bytes) = @_;
	local $SIG{PIPE} = 'IGNORE';

	return unless $self->{socket};
	my $done = 0;
	while ($done < length $bytes)
	{
		my $n = syswrite($self->{socket}, $bytes, length($bytes) - $done, $done);
		last unless $n;
		$done += $n;
	}
	return;
}

# Return that number of bytes, or undef if the server is lost.
sub _read
{
	my ($self, $size) = @_;

	while (length $self->{buffer} < $size)
	{
		my $n = $self->{socket}
		  && sysread($self->{socket}, $self->{buffer}, 65536,
			length $self->{buffer});
		if (!$n)
		{
			undef $self->{socket};
			return undef;
		}
	}
	return substr($self->{buffer}, 0, $size, '');
}

# Read messages until the server is ready for the next query.
sub _answer
{
	my ($self) = @_;
	my %answer = (rows => [], all => []);

	while (defined(my $head = $self->_read(5)))
	{
		my ($type, $length) = unpack 'aN', $head;
		my $body = $self->_read($length - 4);

		last unless defined $body;
		if ($type eq 'T') { $answer{rows} = []; }
		elsif ($type eq 'D')
		{
			my $row = _columns($body);
			push @{ $answer{rows} }, $row;
			push @{ $answer{all} }, $row;
		}
		elsif ($type eq 'E')
		{
			my %fields = map { substr($_, 0, 1) => substr($_, 1) }
			  grep { length } split /\0/, $body;
			$answer{error} //= \%fields;
		}
		elsif ($type eq 'Z') { return \%answer; }
	}
	my $message = $answer{error} ? $answer{error}{M} : 'no answer';
	undef $self->{socket};
	$answer{error} = { C => 'gone', M => "the server is gone: $message" };
	return \%answer;
}

# The columns of a row; null is undef.
sub _columns
{
	my ($body) = @_;
	my $count = unpack 'n', $body;
	my $at = 2;
	my @columns;

	for (1 .. $count)
	{
		my $length = unpack 'l>', substr($body, $at, 4);
		$at += 4;
		push @columns, $length < 0 ? undef : substr($body, $at, $length);
		$at += $length if $length > 0;
	}
	return \@columns;
}

1;
