
# Copyright (c) 2026, the neardup developers

# The extension in a schema of its own, which is not in the search path; a
# schema that is renamed; another that it is moved to.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->start;

# Everything that SQL can do with the extension in $schema.
sub try_all
{
	my ($schema, $name) = @_;

	is( $node->safe_psql(
			'postgres', qq(
			SELECT $schema.similarity($schema.shingles('a b c d'),
				$schema.shingles('a b c d')))),
		1,
		"$name: a function");
	is( $node->safe_psql(
			'postgres', qq(
			SELECT $schema.shingles('a b c d') OPERATOR($schema.%)
				$schema.shingles('a b c d'),
				$schema.shingles('a b c d') OPERATOR($schema.<->)
				$schema.shingles('e f g h'))),
		't|1',
		"$name: operators");
	is( $node->safe_psql(
			'postgres', qq(
			SELECT $schema.shingles('a b c d')::text::$schema.signature
				OPERATOR($schema.=) $schema.shingles('A B C D'))),
		't',
		"$name: text to signature");
	is( $node->safe_psql(
			'postgres', q(SELECT count(DISTINCT sig) FROM t)),
		200, "$name: DISTINCT");
	my $sig = $node->safe_psql('postgres', 'SELECT sig FROM t WHERE id = 7');
	foreach my $condition ("$schema.near_duplicate(sig, \$1, 0.8)",
		"$schema.near_duplicate(\$1, sig, 0.8)",
		"sig OPERATOR($schema.%) \$1")
	{
		my $explain = $node->safe_psql(
			'postgres', qq(
			SET enable_seqscan = off; SET plan_cache_mode = force_generic_plan;
			PREPARE p ($schema.signature) AS SELECT id FROM t WHERE $condition;
			EXPLAIN EXECUTE p ('$sig');
			EXECUTE p ('$sig')));
		like($explain, qr/Index Scan on t_sig\b.*^7$/ms,
			"$name: index by $condition");
	}
	my ($status, $out, $err) =
	  $node->psql('postgres', 'INSERT INTO t SELECT 1000, body FROM t
		WHERE id = 7', extra_params => [ '-v', 'VERBOSITY=verbose' ]);
	like($err, qr/ERROR:  23P01:/, "$name: guard");
	($status, $out, $err) = $node->psql(
		'postgres', qq(
		BEGIN;
		CREATE TABLE near AS SELECT sig FROM t WHERE id = 7 UNION ALL
			SELECT sig FROM t, generate_series(1, 2) WHERE id = 7;
		CREATE TRIGGER guard AFTER INSERT ON near REFERENCING NEW TABLE AS n
			FOR EACH STATEMENT EXECUTE FUNCTION $schema.neardup_guard('sig', '0.8');
		SELECT $schema.neardup_guard_check('near', 'guard');
		ROLLBACK), on_error_stop => 1);
	is($out, 2, "$name: rows that are near when a guard is created");
	return;
}

$node->safe_psql(
	'postgres', q{
	CREATE SCHEMA "Near dup";
	CREATE EXTENSION neardup SCHEMA "Near dup";
	CREATE TABLE t (id int PRIMARY KEY, body text,
		sig "Near dup".signature
			GENERATED ALWAYS AS ("Near dup".shingles(body)) STORED);
	CREATE INDEX t_sig ON t USING gin (sig) WITH (fastupdate = off);
	INSERT INTO t SELECT n, md5(n::text) || ' ' || md5(n || 'x') || ' '
		|| md5(n || 'y') || ' ' || md5(n || 'z')
	FROM generate_series(1, 200) n;
	ANALYZE t;
	CREATE CONSTRAINT TRIGGER no_near_duplicates
		AFTER INSERT OR UPDATE ON t
		FOR EACH ROW EXECUTE FUNCTION "Near dup".neardup_guard('sig', '0.8')});
is( $node->safe_psql(
		'postgres', q(
		SELECT DISTINCT n.nspname FROM pg_depend d
		CROSS JOIN pg_identify_object(d.classid, d.objid, 0) o
		JOIN pg_namespace n ON quote_ident(n.nspname) = o.schema
		WHERE d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e'
		AND d.refobjid = (SELECT oid FROM pg_extension
			WHERE extname = 'neardup'))),
	'Near dup',
	'everything is in that schema');

try_all('"Near dup"', 'own schema');
$node->safe_psql('postgres', 'ALTER SCHEMA "Near dup" RENAME TO nd');
try_all('nd', 'renamed schema');
$node->safe_psql('postgres',
	'CREATE SCHEMA other; ALTER EXTENSION neardup SET SCHEMA other');
try_all('other', 'moved');
is( $node->safe_psql(
		'postgres', q{
		INSERT INTO t VALUES (2000, 'one two three four five');
		DELETE FROM t WHERE id < 200; VACUUM t; REINDEX TABLE t;
		SELECT count(*) FROM t}),
	2,
	'moved: maintenance');

$node->stop;

done_testing();
