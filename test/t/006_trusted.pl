
# Copyright (c) 2026, the neardup developers

# A role that is not superuser may create the extension with CREATE on the database,
# and use all of it.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->start;
$node->safe_psql(
	'postgres', q(
	CREATE ROLE alice LOGIN;
	CREATE ROLE bob LOGIN;
	CREATE DATABASE d;
	GRANT CREATE ON DATABASE d TO alice));
$node->safe_psql('d', 'GRANT CREATE ON SCHEMA public TO alice');

my ($status, $out, $err) = $node->psql('d', 'CREATE EXTENSION neardup',
	extra_params => [ '-U', 'bob' ]);
like($err, qr/permission denied to create extension "neardup"/,
	'without CREATE on the database: refused');

($status, $out, $err) = $node->psql('d', 'CREATE EXTENSION neardup',
	extra_params => [ '-U', 'alice' ]);
is("$status$err", '0', 'with CREATE on the database: created');

($status, $out, $err) = $node->psql(
	'd', q{
	CREATE TABLE docs (id int PRIMARY KEY, body text,
		sig signature GENERATED ALWAYS AS (shingles(body)) STORED);
	CREATE INDEX docs_sig ON docs USING gin (sig) WITH (fastupdate = off);
	CREATE CONSTRAINT TRIGGER no_near_duplicates
		AFTER INSERT OR UPDATE ON docs
		FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.8');
	INSERT INTO docs VALUES (1, 'one two three four five');
	SET neardup.threshold = 0.9;
	SET enable_seqscan = off;
	SELECT id FROM docs WHERE sig % shingles('One, two, three, four, five!');
	GRANT SELECT, INSERT ON docs TO bob;
	}, extra_params => [ '-U', 'alice' ], on_error_stop => 1);
is("$status$err|$out", '0|1', 'its owner uses it');
($status, $out, $err) = $node->psql('d', 'SELECT neardup_accept_versions()',
	extra_params => [ '-U', 'alice' ]);
is("$status$err", '0', 'and accepts versions');
($status, $out, $err) = $node->psql(
	'd', q{
	CREATE TABLE near (id int PRIMARY KEY, sig signature);
	CREATE INDEX near_sig ON near USING gin (sig) WITH (fastupdate = off);
	INSERT INTO near SELECT i, shingles('always the same text') FROM generate_series(1, 3) i;
	CREATE TRIGGER guard AFTER INSERT ON near
		FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.8');
	SELECT neardup_guard_check('near', 'guard');
	CREATE TRIGGER faulty AFTER INSERT ON near
		FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '8');
	}, extra_params => [ '-U', 'alice' ], on_error_stop => 1);
is($out, '2', 'and counts rows that a new guard would have refused');
like($err, qr/invalid threshold of neardup_guard: "8"/, 'and cannot create a faulty guard,');
$node->safe_psql('d', 'DROP TABLE near');
is( $node->safe_psql('d', q(SELECT evtowner FROM pg_event_trigger
	WHERE evtname = 'neardup_guard_created')),
	'10', 'by an event trigger of the bootstrap superuser');
($status, $out, $err) = $node->psql('d', q{SELECT neardup_outdated('docs', 'sig')},
	extra_params => [ '-U', 'bob' ]);
like($err, qr/must be owner of table "docs"/, 'another role may not count rows,');
($status, $out, $err) = $node->psql('d', 'SELECT neardup_accept_versions(force => true)',
	extra_params => [ '-U', 'bob' ]);
like($err, qr/permission denied for table neardup_recorded_versions/,
	'and not accept versions');

($status, $out, $err) = $node->psql(
	'd', q{
	INSERT INTO docs VALUES (2, 'six seven eight nine ten');
	SELECT id FROM docs
	WHERE near_duplicate(sig, shingles('six seven eight nine ten'), 0.8);
	}, extra_params => [ '-U', 'bob' ], on_error_stop => 1);
is("$status$err|$out", '0|2', 'another user uses it');

($status, $out, $err) = $node->psql(
	'd', q{INSERT INTO docs VALUES (3, 'one two three four five')},
	extra_params => [ '-U', 'bob', '-v', 'VERBOSITY=verbose' ]);
like($err, qr/ERROR:  23P01:/, 'the guard guards against another user');

($status, $out, $err) = $node->psql(
	'd', q{
	CREATE EXTENSION neardup_library;
	SELECT library_create('papers');
	SELECT library_add('papers', 'paper/1', 'one two three four five six');
	CALL library_index();
	SELECT library_remake('papers');
	SELECT library_create('none'), library_drop('none');
	SELECT address FROM library_check('One two three four five six.', 'papers');
	GRANT SELECT ON library, library_document, library_queue, library_signature, library_change, libraries TO bob;
	}, extra_params => [ '-U', 'alice' ], on_error_stop => 1);
is("$status$err", '0', 'the owner of a library makes, fills, remakes and drops, and grants');
like($out, qr{^paper/1$}m, 'and checks a document');

($status, $out, $err) = $node->psql(
	'd', q{
	SELECT c.address, documents
	FROM library_check('One two three four five six.', 'papers') c JOIN libraries ON name = found_in;
	}, extra_params => [ '-U', 'bob' ], on_error_stop => 1);
is("$status$err|$out", '0|paper/1|1', 'another user checks with a grant');
($status, $out, $err) = $node->psql('d', q{SELECT library_create('theirs')},
	extra_params => [ '-U', 'bob' ]);
like($err, qr/permission denied for table library/, 'and makes no library');

($status, $out, $err) = $node->psql('d', 'DROP EXTENSION neardup CASCADE',
	extra_params => [ '-U', 'bob' ]);
like($err, qr/must be owner of extension neardup/, 'only the owner drops it');
($status, $out, $err) = $node->psql(
	'd', 'SET client_min_messages = error; DROP EXTENSION neardup CASCADE',
	extra_params => [ '-U', 'alice' ]);
is("$status$err", '0', 'the owner drops it');

$node->stop;

done_testing();
