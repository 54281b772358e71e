
# Copyright (c) 2026, the neardup developers

# Shared by TAP tests: documents with many near-duplicates, and the comparison of an
# index with a sequential scan.

package Documents;

use strict;
use warnings;

use Exporter 'import';
use Test::More;

our @EXPORT = qw(make_docs add_docs same_by_index_and_scan);

# Create the table docs, with documents $from to $to and an index.
sub make_docs
{
	my ($node, $dbname, $from, $to) = @_;

	$node->safe_psql(
		$dbname, q(
		CREATE TABLE docs (id int PRIMARY KEY, body text NOT NULL,
			sig signature GENERATED ALWAYS AS (shingles(body)) STORED);
		CREATE INDEX docs_sig ON docs USING gin (sig)
			WITH (fastupdate = off);
		CREATE FUNCTION doc(id int) RETURNS text LANGUAGE sql IMMUTABLE
		RETURN (SELECT string_agg('word'
				|| ('x' || substr(md5(id / 4 || '.' || n), 1, 4))::bit(16)::int
				   % 900, ' ' ORDER BY n)
			|| ' ending' || id % 4
			FROM generate_series(1, 50) AS n)));
	add_docs($node, $dbname, $from, $to);
	return;
}

# Add documents: four consecutive ones, from a multiple of four on, are near-duplicates
# of each other (47 of 51 shingles in common), others are not.
sub add_docs
{
	my ($node, $dbname, $from, $to) = @_;

	$node->safe_psql(
		$dbname, qq(
		INSERT INTO docs (id, body)
		SELECT n, doc(n) FROM generate_series($from, $to) AS n));
	return;
}

# Each document's near-duplicates are the same by index and by sequential scan; return
# the number of (ordered) pairs.
sub same_by_index_and_scan
{
	my ($node, $dbname, $name) = @_;
	my $query = q(
		SELECT a.id, ARRAY(SELECT b.id FROM docs b
			WHERE near_duplicate(b.sig, a.sig, 0.8) ORDER BY b.id)
		FROM docs a ORDER BY a.id);
	my $by_index = "SET enable_seqscan = off; $query";
	my $by_scan = "SET enable_bitmapscan = off; $query";

	like(
		$node->safe_psql(
			$dbname, "SET enable_seqscan = off; EXPLAIN $query"),
		qr/Bitmap Index Scan on docs_sig/,
		"$name: the index is used");
	my $found = $node->safe_psql($dbname, $by_index);
	is($found, $node->safe_psql($dbname, $by_scan),
		"$name: the same rows by index and by sequential scan");
	my $pairs = 0;
	$pairs += () = /[{,]/g for $found;
	return $pairs;
}

1;
