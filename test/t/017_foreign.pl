# 017_foreign.pl
#		Foreign tables and foreign partitions join like tables, and are read once in
#		a self-join.
#
# Portions Copyright (c) 2026, the neardup developers

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('foreign');
$node->init;
$node->start;
if ($node->safe_psql('postgres',
		"SELECT count(*) FROM pg_available_extensions WHERE name = 'postgres_fdw'") == 0)
{
	plan skip_all => 'there is no postgres_fdw';
}
my ($host, $port) = ($node->host, $node->port);
$node->safe_psql(
	'postgres', qq(
CREATE EXTENSION neardup;
CREATE EXTENSION postgres_fdw;
CREATE EXTENSION dblink;
CREATE SERVER here FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$host', port '$port', dbname 'postgres');
CREATE USER MAPPING FOR CURRENT_USER SERVER here;
CREATE TABLE docs AS
SELECT i AS id, i % 3 AS kind, 'title ' || i AS title,
	(SELECT string_agg('word' || (i / 4 * 50 + w), ' ' ORDER BY w)
	 FROM generate_series(1 + i % 2, 20) w) AS body
FROM generate_series(1, 200) i;
ALTER TABLE docs ADD sig signature GENERATED ALWAYS AS (shingles(body)) STORED;
CREATE TABLE far_1 AS SELECT * FROM docs WHERE id > 100;
CREATE FOREIGN TABLE far_docs (id int, kind int, title text, body text, sig signature)
	SERVER here OPTIONS (table_name 'docs');
CREATE TABLE parts (LIKE docs) PARTITION BY RANGE (id);
CREATE TABLE near_part PARTITION OF parts FOR VALUES FROM (1) TO (101);
CREATE FOREIGN TABLE far_part PARTITION OF parts FOR VALUES FROM (101) TO (1000)
	SERVER here OPTIONS (table_name 'far_1');
INSERT INTO near_part SELECT * FROM docs WHERE id <= 100;
ANALYZE;
));

# The plan with similarity joins only, and whether its rows are those of docs.
sub check
{
	my ($table, $query, $self) = @_;
	my $set = 'SET enable_nestloop = off; SET enable_hashjoin = off; SET enable_mergejoin = off;';

	(my $here = $query) =~ s/\bTABLE\b/docs/g;
	(my $there = $query) =~ s/\bTABLE\b/$table/g;
	my $expected = $node->safe_psql('postgres', "SET neardup.enable_join = off; $here");
	my $plan = $node->safe_psql('postgres', "$set EXPLAIN (FORMAT json) $there");

	like($plan, qr/"Self-Join": $self/, "$there is a self-join: $self");
	isnt($expected, '', 'there are rows');
	is($node->safe_psql('postgres', "$set $there"), $expected, 'the same rows');
	return;
}

for my $table (qw(far_docs parts))
{
	check($table, 'SELECT a.id, b.id FROM TABLE a JOIN TABLE b '
		. 'ON near_duplicate(a.sig, b.sig, 0.8) AND a.id < b.id ORDER BY 1, 2', 'true');
	check($table, 'SELECT a.id, b.id FROM TABLE a JOIN TABLE b '
		. 'ON near_duplicate(a.sig, b.sig, 0.8) AND a.id < b.id '
		. 'WHERE a.kind < 2 AND b.kind < 2 ORDER BY 1, 2', 'true');

	# one side has all columns that the other one has
	check($table, 'SELECT a.id, b.id, b.title FROM TABLE a JOIN TABLE b '
		. 'ON near_duplicate(a.sig, b.sig, 0.8) AND a.id < b.id ORDER BY 1, 2', 'true');

	# neither has, and the other server is not asked again
	check($table, 'SELECT a.id, a.kind, b.id, b.title FROM TABLE a JOIN TABLE b '
		. 'ON near_duplicate(a.sig, b.sig, 0.8) AND a.id < b.id ORDER BY 1, 3', 'false');
	check($table, 'SELECT a.id, b.id FROM TABLE a JOIN TABLE b '
		. 'ON near_duplicate(a.sig, b.sig, 0.8) AND a.id < b.id '
		. 'WHERE b.kind < 2 ORDER BY 1, 2', 'false');
}

# Rows are locked by the scan that reads them: of the named side
foreach my $side ('a', 'b')
{
	foreach my $table ('far_docs', 'parts')
	{
		my $pairs = "SELECT count(*) FROM (SELECT a.id FROM $table a JOIN $table b "
			. "ON near_duplicate(a.sig, b.sig, 0.8) AND a.id < b.id FOR UPDATE OF $side) p";
		my $far = $table eq 'parts' ? 'far_1' : 'docs';
		my @free = map {
			$node->safe_psql('postgres',
				"SET neardup.enable_join = $_; BEGIN; $pairs;"
					. "SELECT count(*) FROM dblink('host=$host port=$port dbname=postgres', "
					. "'SELECT id FROM $far FOR UPDATE SKIP LOCKED') t (id int)")
		} ('on', 'off');
		my ($with, $without) = map { (split /\n/)[-1] } @free;
		cmp_ok($with, '<=', $without, "no more rows of $table are locked for $side");
		cmp_ok($without, '<', 100, 'and not none');
	}
}

# Views read as their owners, and the other server may have other rows for each
$node->safe_psql(
	'postgres', qq(
CREATE ROLE odd_there LOGIN;
CREATE ROLE even_there LOGIN;
GRANT SELECT ON docs TO odd_there, even_there;
ALTER TABLE docs ENABLE ROW LEVEL SECURITY;
CREATE POLICY odd ON docs TO odd_there USING (id % 2 = 1);
CREATE POLICY even ON docs TO even_there USING (id % 2 = 0);
CREATE ROLE odd_here;
CREATE ROLE even_here;
GRANT SELECT ON far_docs TO odd_here, even_here;
CREATE USER MAPPING FOR odd_here SERVER here OPTIONS (user 'odd_there', password_required 'false');
CREATE USER MAPPING FOR even_here SERVER here OPTIONS (user 'even_there', password_required 'false');
CREATE VIEW far_odd AS SELECT * FROM far_docs;
CREATE VIEW far_even AS SELECT * FROM far_docs;
ALTER VIEW far_odd OWNER TO odd_here;
ALTER VIEW far_even OWNER TO even_here;
));
my $set = 'SET enable_nestloop = off;';
my $pairs = 'SELECT count(*), count(*) FILTER (WHERE a.id % 2 = 1 AND b.id % 2 = 0) '
	. 'FROM far_odd a JOIN far_even b ON near_duplicate(a.sig, b.sig, 0.8)';
like($node->safe_psql('postgres', "$set EXPLAIN (FORMAT json) $pairs"),
	qr/"Self-Join": false/, 'a table is not the same for everybody');
is($node->safe_psql('postgres', "$set $pairs"), '198|198', 'rows of both');

done_testing();
