
# Copyright (c) 2026, the neardup developers

# Dump and restore, and binary COPY: signatures, generated column, index and guard
# are restored unchanged.

use strict;
use warnings;

use File::Basename qw(dirname);
use lib dirname(__FILE__);
use Documents;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->start;
$node->safe_psql('postgres', 'CREATE DATABASE old; CREATE DATABASE new');

$node->safe_psql('old', 'CREATE EXTENSION neardup');
make_docs($node, 'old', 0, 399);
$node->safe_psql(
	'old', q{
	ALTER TABLE docs ADD kept signature;
	UPDATE docs SET kept = shingles(body, 2, 'english');
	CREATE INDEX docs_kept ON docs USING gin
		(shingles(body, 5) signature_gin_ops (threshold = 0.6))
		WITH (fastupdate = off);
	CREATE INDEX docs_options ON docs USING gin
		(kept signature_gin_ops (ell = 5, frac = 0.1))
		WITH (fastupdate = off);
	INSERT INTO neardup_recorded_versions VALUES ('ICU', '1.0'), ('stems of german', '0');
	CREATE CONSTRAINT TRIGGER no_near_duplicates
		AFTER INSERT OR UPDATE ON docs
		FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.8')});
my $violations = $node->safe_psql(
	'old', q{
	CREATE TABLE near (id int PRIMARY KEY, sig signature);
	CREATE INDEX near_sig ON near USING gin (sig) WITH (fastupdate = off);
	INSERT INTO near SELECT i, shingles('always the same text') FROM generate_series(1, 3) i;
	CREATE TRIGGER guard AFTER INSERT ON near
		FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.8');
	SELECT neardup_guard_check('near', 'guard')});
is($violations, '2', 'near rows are counted before the dump');

# A condition on both rows; a WHEN in a form that a dump can restore
$node->safe_psql(
	'old', q{
	CREATE TABLE timed (id int PRIMARY KEY, at timestamp, sig signature);
	CREATE INDEX timed_sig ON timed USING neardup (sig);
	CREATE TRIGGER guard AFTER INSERT OR UPDATE ON timed FOR EACH ROW
		WHEN ((NEW.sig = shingles('an excepted text')) IS NOT TRUE)
		EXECUTE FUNCTION neardup_guard('sig', '0.8', 'if',
			'abs(extract(epoch FROM new.at - old.at)) < 600 AND public.similarity(new.sig, old.sig) < 1.5');
	INSERT INTO timed VALUES (1, '2026-01-01 10:00', shingles('always the same text'))});

# Dense vectors, which have no index
$node->safe_psql(
	'old', q{
	CREATE TABLE embedded (id int PRIMARY KEY, v signature);
	CREATE CONSTRAINT TRIGGER guard AFTER INSERT OR UPDATE ON embedded FOR EACH ROW
		EXECUTE FUNCTION neardup_guard('v', '0.9', 'measure', 'cosine');
	INSERT INTO embedded VALUES (1, dense('{1,2,3}')), (2, dense('{0,0,0}')), (3, dense('{-1,2}'))});

my %definitions = (
	'the recorded versions' => q(
		SELECT DISTINCT component, version FROM neardup_recorded_versions
		ORDER BY 1, 2),
	'the rows' => q(
		SELECT md5(string_agg(docs::text, e'\n' ORDER BY id)), count(*)
		FROM docs),
	'the indexes' => q(
		SELECT pg_get_indexdef(indexrelid) FROM pg_index
		WHERE indrelid = 'docs'::regclass ORDER BY 1),
	'the triggers' => q(
		SELECT pg_get_triggerdef(oid) FROM pg_trigger
		WHERE tgrelid IN ('docs'::regclass, 'timed'::regclass, 'embedded'::regclass) ORDER BY 1),
	'the dense vectors' => q(
		SELECT id, v::bytea FROM embedded ORDER BY 1),
	'the event triggers' => q(
		SELECT evtname, evtenabled, evttags FROM pg_event_trigger ORDER BY 1),
	'the generated column' => q(
		SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef
		WHERE adrelid = 'docs'::regclass));

foreach my $format ('plain', 'custom')
{
	my $file = "$PostgreSQL::Test::Utils::tmp_check/dump.$format";

	$node->command_ok([ 'pg_dump', '-F', $format, '-f', $file, 'old' ],
		"$format: dump");
	$node->command_checks_all(
		$format eq 'plain'
		? [ 'psql', '-X', '-v', 'ON_ERROR_STOP=1', '-f', $file, 'new' ]
		: [ 'pg_restore', '--exit-on-error', '-d', 'new', $file ],
		0, [], [qr/\A(?!.*WARNING)/s],
		"$format: restore, without a warning");
	foreach my $name (sort keys %definitions)
	{
		is( $node->safe_psql('new', $definitions{$name}),
			$node->safe_psql('old', $definitions{$name}),
			"$format: $name");
	}
	is(same_by_index_and_scan($node, 'new', $format),
		1600, "$format: all near-duplicates that were made");
	my ($status, $out, $err) = $node->psql(
		'new', 'INSERT INTO docs (id, body) SELECT 1001, body FROM docs
			WHERE id = 7', extra_params => [ '-v', 'VERBOSITY=verbose' ]);
	like($err, qr/ERROR:  23P01:/, "$format: the guard works");
	($status, $out, $err) = $node->psql(
		'new', q{INSERT INTO timed VALUES (2, '2026-01-01 10:10', shingles('always the same text'));
			INSERT INTO timed VALUES (3, '2026-01-01 10:05', shingles('always the same text'))},
		extra_params => [ '-v', 'VERBOSITY=verbose' ]);
	like($err, qr/\A[^\n]*ERROR:  23P01:.*\nDETAIL: .*\(id\)=\(3\),/,
		"$format: the guard with a condition works");
	($status, $out, $err) = $node->psql(
		'new', q{INSERT INTO embedded VALUES (4, dense('{-1,2,0.5}')), (5, dense('{1,2,3.1}'))},
		extra_params => [ '-v', 'VERBOSITY=verbose' ]);
	like($err, qr/\A[^\n]*ERROR:  23P01:.*\nDETAIL: .*\(id\)=\(5\),/,
		"$format: the guard of dense vectors works");
	($status, $out, $err) = $node->psql(
		'new', q{CREATE OR REPLACE TRIGGER guard AFTER INSERT ON near
			FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.8')});
	is("$status$err", '0', "$format: a guard is created later");
	is($node->safe_psql('new', q{SELECT neardup_guard_check('near', 'guard')}),
		'2', "$format: rows that are near are counted");
	$node->safe_psql('postgres',
		'DROP DATABASE new; CREATE DATABASE new TEMPLATE template0');
}

# Binary COPY writes the bytes that it has read.
my $file = "$PostgreSQL::Test::Utils::tmp_check/copy.bin";
$node->safe_psql(
	'old', qq(
	CREATE TABLE copied (id int, sig signature, kept signature);
	COPY (SELECT id, sig, kept FROM docs) TO '$file' (FORMAT binary);
	COPY copied FROM '$file' (FORMAT binary)));
is( $node->safe_psql(
		'old', q(
		SELECT count(*) FROM docs d JOIN copied c USING (id)
		WHERE d.sig = c.sig AND d.kept = c.kept
			AND d.sig::text = c.sig::text AND d.kept::text = c.kept::text)),
	400,
	'binary COPY: the same signatures');

$node->stop;

done_testing();
