
# Copyright (c) 2026, the neardup developers

# A text has the same signature in a database of any encoding that can hold
# it; bytes without a known encoding are an error where they are not ASCII
# and not UTF-8.

use strict;
use warnings;
use utf8;

use Encode qw(encode);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(extra => [ '--encoding=UTF8', '--locale=C' ]);
$node->start;

my @encodings = qw(UTF8 LATIN1 LATIN2 WIN1251 EUC_JP SQL_ASCII);
foreach my $encoding (@encodings)
{
	$node->safe_psql(
		'postgres', qq(
		CREATE DATABASE "db_$encoding" ENCODING $encoding LOCALE 'C'
			TEMPLATE template0));
	$node->safe_psql("db_$encoding", 'CREATE EXTENSION neardup');
}

# The signature of a text in a database of that encoding.
sub signature
{
	my ($encoding, $text, $analysis) = @_;
	local $ENV{PGCLIENTENCODING} = 'UTF8';

	return $node->safe_psql("db_$encoding",
		encode('UTF-8', "SELECT shingles('$text', '$analysis')"));
}

my @texts = (
	[ 'plain ASCII text of six words', '', @encodings ],
	[ 'The plain English words', 'english stop', @encodings ],
	[ 'Crème brûlée, ÉTÉ à la Noël', '', 'UTF8', 'LATIN1' ],
	[ 'Die Straße über den Fluß', 'german', 'UTF8', 'LATIN1' ],
	[ 'Zażółć gęślą jaźń, ŁÓDŹ', '', 'UTF8', 'LATIN2' ],
	[ 'Съешь ещё этих МЯГКИХ булок', 'russian', 'UTF8', 'WIN1251' ],
	[ '日本語の文章を単語に分けます。', '', 'UTF8', 'EUC_JP' ]);
foreach my $case (@texts)
{
	my ($text, $analysis, @where) = @$case;
	my $expected = signature('UTF8', $text, $analysis);

	foreach my $encoding (grep { $_ ne 'UTF8' } @where)
	{
		is(signature($encoding, $text, $analysis),
			$expected, "$encoding: " . encode('UTF-8', $text));
	}
}

# A signature from another database is found by index.
is( $node->safe_psql(
		'db_LATIN1', encode('UTF-8', q{
		SET client_encoding = UTF8;
		CREATE TABLE t AS SELECT 'Crème brûlée à la Noël' AS body;
		CREATE INDEX t_sig ON t USING gin (shingles(body));
		SET enable_seqscan = off;
		SELECT count(*) FROM t WHERE near_duplicate(shingles(body), }
		. "'" . signature('UTF8', 'CRÈME brûlée à la Noël', '')
		. q{', 0.8)})),
	1,
	'LATIN1: a signature made elsewhere');

# SQL_ASCII: UTF-8 is accepted, other bytes are an error.
is(signature('SQL_ASCII', 'Crème brûlée à la Noël', ''),
	signature('UTF8', 'Crème brûlée à la Noël', ''), 'SQL_ASCII: UTF-8');
my ($status, $out, $err) = $node->psql('db_SQL_ASCII',
	q(SELECT shingles(E'Cr\xe8me br\xfbl\xe9e')));
like($err, qr/ERROR:  invalid byte sequence for encoding "UTF8": 0xe8/,
	'SQL_ASCII: bytes that are not UTF-8');

# Places of passages count characters as substr() does, and are highlighted.
foreach my $encoding (qw(UTF8 LATIN1 SQL_ASCII))
{
	local $ENV{PGCLIENTENCODING} = $encoding eq 'SQL_ASCII' ? '' : 'UTF8';

	is( $node->safe_psql(
			"db_$encoding", encode('UTF-8', q{
		SELECT substr(a, a_start, a_length) || '/' || substr(b, b_start, b_length)
			|| '/' || highlight(a, b, 4) || '/'
			|| (passages_html(a, b, 4) LIKE '%1</a></mark><mark class="c0">Crème brûlée à la</mark>%')
		FROM (VALUES ('Été: Crème brûlée à la.', 'où, CRÈME brûlée (à la)')) v(a, b),
			shared_passages(a, b, 4)})),
		encode('UTF-8',
			'Crème brûlée à la/CRÈME brûlée (à la/Été: <b>Crème brûlée à la</b>./true'
		),
		"$encoding: passages");
}

# ... also where one of them is two of Unicode
$node->safe_psql(
	'postgres', q(
	CREATE DATABASE db_jis ENCODING EUC_JIS_2004 LOCALE 'C' TEMPLATE template0));
$node->safe_psql('db_jis', 'CREATE EXTENSION neardup');
{
	local $ENV{PGCLIENTENCODING} = 'UTF8';

	is( $node->safe_psql(
			'db_jis', encode('UTF-8', qq{
		SELECT substr(a, a_start, a_length) || '/' || substr(b, b_start, b_length)
		FROM (VALUES ('か\x{309A}か\x{309A}, one two three.', 'I say: one two three か\x{309A}か\x{309A}')) v(a, b),
			shared_passages(a, b, 3)})),
		'one two three/one two three',
		'EUC_JIS_2004: passages');
}

# A word whose folded characters are not in the encoding is highlighted, too.
{
	local $ENV{PGCLIENTENCODING} = 'UTF8';

	is( $node->safe_psql(
			'db_LATIN1', encode('UTF-8', q{
		SELECT neardup_words('10 µm, &#x10428;b&eacute;c', 'html');
		SELECT string_agg(word, ' ') FROM word_statistics('10 µm',
			(SELECT lexicon_agg(d) FROM unnest('{10 µm,b}'::text[]) d))})),
		encode('UTF-8', "{10,U+03BCm,U+10428béc}\n10 U+03BCm"),
		'LATIN1: words with characters that it does not have');
}

$node->stop;

done_testing();
