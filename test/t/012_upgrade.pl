
# Copyright (c) 2026, the neardup developers

# pg_upgrade: a cluster with signatures, indexes, guards, lexicons and a library is
# upgraded with its files, and continues.
#
# Both clusters are of one version of the server, which pg_upgrade accepts: it dumps the
# extension object by object, without CREATE EXTENSION, and keeps data and indexes.  As
# in PostgreSQL's own test, oldinstall=/usr/lib/postgresql/17 in the environment names
# another server, in which neardup is installed; oldlibraries a folder of libraries for
# it, such as an older libstemmer.  Then a warning names the outdated signatures.

use strict;
use warnings;

use File::Basename qw(dirname);
use lib dirname(__FILE__);
use Documents;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $oldinstall = $ENV{oldinstall};
my $old = PostgreSQL::Test::Cluster->new('old',
	$oldinstall ? (install_path => $oldinstall) : ());
my $new = PostgreSQL::Test::Cluster->new('new');
$new->init;
my $sums = $oldinstall && qx(pg_controldata -D @{[ $new->data_dir ]}) =~ /checksum version: +1/;
$old->init($sums ? (extra => ['-k']) : ());
{
	local %ENV = %ENV;
	$ENV{LD_LIBRARY_PATH} = $ENV{oldlibraries} if $ENV{oldlibraries};
	$old->start;
}
$old->safe_psql('postgres', 'CREATE DATABASE docs');
$old->safe_psql('docs', 'CREATE EXTENSION neardup');
make_docs($old, 'docs', 0, 399);
$old->safe_psql(
	'docs', q{
	CREATE TABLE words AS SELECT lexicon_agg(body) AS lexicon FROM docs;
	CREATE TABLE sketched AS SELECT id, minhash(sig) AS sketch FROM docs;
	CREATE INDEX sketched_sketch ON sketched USING gin (sketch);
	CREATE DOMAIN few AS signature CHECK (cardinality(signature_to_array(VALUE)) < 1000);
	CREATE TABLE cast_to_array (sig few, features bigint[] GENERATED ALWAYS AS (sig::bigint[]) STORED,
		CHECK (cardinality(sig::bigint[]) > 0));
	INSERT INTO cast_to_array SELECT sig FROM docs WHERE id < 10;
	CREATE TABLE german (id int, body text, sig signature GENERATED ALWAYS AS (shingles(body, 'german')) STORED,
		kept signature);
	INSERT INTO german (id, body) SELECT i, 'Wer Bücher sammelt, will sie abbetteln ' || i FROM generate_series(1, 30) i;
	UPDATE german SET kept = sig WHERE id > 10;
	CREATE EXTENSION neardup_library;
	SELECT library_create('words', '', 'top_words'),
		library_add('words', '1', 'one two three four'), _library_index_batch();
	CREATE CONSTRAINT TRIGGER no_near_duplicates
		AFTER INSERT OR UPDATE ON docs
		FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.8')});

my %answers = (
	'the rows' => q(
		SELECT md5(string_agg(docs::text, e'\n' ORDER BY id)), count(*)
		FROM docs),
	'the lexicon' => q(
		SELECT (lexicon_describe(lexicon)).documents, (lexicon_describe(lexicon)).words,
			lexicon_describe(lexicon)
		FROM words),
	'the sketches, by index' => q(
		SET enable_seqscan = off;
		SELECT count(*), sum(id) FROM sketched WHERE near_duplicate(sketch,
			(SELECT sketch FROM sketched WHERE id = 7), 0.8)),
	'the domain, and casts' => q(
		SELECT md5(string_agg(c::text, e'\n' ORDER BY c::text)) FROM cast_to_array c),
	'the library' => q(
		SELECT name, documents, words, state,
			(SELECT address FROM library_check('one two three four', 'words')) FROM libraries),
	'the members of the extension' => q(
		SELECT count(*), md5(string_agg(
			pg_describe_object(classid, objid, objsubid), e'\n'
			ORDER BY pg_describe_object(classid, objid, objsubid)
				COLLATE "C"))
		FROM pg_depend
		WHERE refclassid = 'pg_extension'::regclass AND deptype = 'e'
			-- 17 adds the types of arrays and rows, 15 does not
			AND NOT EXISTS (SELECT FROM pg_type WHERE classid = 'pg_type'::regclass
				AND oid = objid AND (typelem <> 0 OR typrelid <> 0))
			AND refobjid = (SELECT oid FROM pg_extension
				WHERE extname = 'neardup')));
my %before =
  map { $_ => $old->safe_psql('docs', $answers{$_}) } keys %answers;
$old->stop;

chdir ${PostgreSQL::Test::Utils::tmp_check};	# where it writes its files
command_ok(
	[
		'pg_upgrade', '--no-sync',
		'-d', $old->data_dir, '-D', $new->data_dir,
		'-b', $old->config_data('--bindir'),
		'-B', $new->config_data('--bindir'),
		'-s', $new->host, '-p', $old->port, '-P', $new->port
	],
	'pg_upgrade');
$new->start;

is($new->safe_psql('docs', $answers{$_}), $before{$_}, "$_ as before")
  foreach sort keys %answers;
is(same_by_index_and_scan($new, 'docs', 'the index'),
	1600, 'all near-duplicates that were made');
my ($status, $out, $err) = $new->psql(
	'docs',
	'INSERT INTO docs (id, body) SELECT 1001, body FROM docs WHERE id = 7',
	extra_params => [ '-v', 'VERBOSITY=verbose' ]);
like($err, qr/ERROR:  23P01:/, 'the guard works');
($status, $out, $err) = $new->psql(
	'docs', q{
	CREATE TABLE near AS SELECT sig FROM docs WHERE id <= 20 UNION ALL SELECT sig FROM docs WHERE id = 1;
	CREATE TRIGGER guard AFTER INSERT ON near REFERENCING NEW TABLE AS new_rows
		FOR EACH STATEMENT EXECUTE FUNCTION neardup_guard('sig', '2')});
like($err, qr/invalid threshold of neardup_guard: "2"/, 'the event trigger works');
$new->safe_psql('docs', 'ANALYZE; REINDEX TABLE docs');
is(same_by_index_and_scan($new, 'docs', 'the index rebuilt'),
	1600, 'the same once more');
# Stems of German depend on the version of libstemmer
my $changed = $new->safe_psql('docs', q{
	SELECT count(*) FROM neardup_components() c JOIN neardup_recorded_versions r USING (component)
	WHERE c.version <> r.version AND component = 'stems of german'});
note $changed ? 'German is stemmed in another way' : 'German is stemmed as before';
($status, $out, $err) = $new->psql('docs', q{SELECT shingles('Haus', 'german') IS NULL;
	SELECT shingles('Haus', 'german') IS NULL});
is(scalar(() = $err =~ /WARNING/g), $changed, 'one warning a session if stems differ') or diag($err);
is($new->safe_psql('docs', q{SELECT * FROM neardup_outdated('german', 'sig')}),
	$changed ? '30|30' : '30|0', 'generated signatures that are out of date');
is( $new->safe_psql('docs', q{SELECT outdated FROM neardup_outdated('german', 'kept', $$
	CASE WHEN id > 10 THEN shingles(body, 'german') END$$)}),
	$changed ? '20' : '0', 'stored ones');
($status, $out, $err) = $new->psql('docs', 'SELECT neardup_accept_versions()');
like($err, qr/ERROR:  column "\w+" of table \w+ /, 'they are not accepted before');
$new->safe_psql('docs', q{UPDATE german SET body = body;
	UPDATE german SET kept = sig WHERE kept IS DISTINCT FROM sig AND id > 10;
	SELECT neardup_accept_versions(force => true)});
is($new->safe_psql('docs', q{SELECT outdated FROM neardup_outdated('german', 'sig')}), 0, 'they are made again');
($status, $out, $err) = $new->psql('docs', q{SELECT shingles('Haus', 'german') IS NULL});
is($err, '', 'and there is no warning any more');
$new->safe_psql('docs', 'DROP EXTENSION neardup CASCADE');
is($new->safe_psql('docs', q(SELECT count(*) FROM pg_proc
	WHERE probin ~ 'neardup')), 0, 'it can be dropped');
$new->stop;

done_testing();
