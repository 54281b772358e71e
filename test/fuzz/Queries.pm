
# Copyright (c) 2026, the neardup developers

# Random queries over unusual tables: no rows, nulls, empty sets, equal sets, several
# specs, partitions, foreign tables, views.
#
# A query has the same outcome by every plan: the same rows, or an error of the same
# kind.

package Queries;

use strict;
use warnings;

use File::Basename qw(dirname);

use Dice;

# The shared tests' random sets, in tables of every kind
my $schema = <<'SQL';
CREATE SCHEMA fuzz;
SET search_path = fuzz, public;
SET client_min_messages = warning;
SQL
my $shared = dirname(__FILE__) . '/../sql/shared';
my $tables = <<'SQL';
CREATE TABLE everything AS
SELECT r AS id, r % 5 AS g, (f.x % 7)::int AS k, random_set(r) AS sig
FROM generate_series(1, 200) r
JOIN numbers f ON f.i = r % 120 + 300 * (r % 2);

CREATE TABLE plain AS SELECT * FROM everything WHERE id <= 50;
CREATE INDEX plain_sig ON plain USING gin (sig);
CREATE TABLE other AS SELECT * FROM everything WHERE id % 4 = 1;
CREATE INDEX other_sig ON other USING gin (sig signature_gin_ops (threshold = 0.3));
CREATE INDEX other_sketch ON other USING gin (minhash(sig, 16));
CREATE TABLE every_feature AS SELECT * FROM everything WHERE id > 150;
CREATE INDEX every_feature_sig ON every_feature USING gin (sig signature_gin_ops (measure = containment));
CREATE TABLE small AS SELECT * FROM everything WHERE id IN (2, 23, 24, 48, 60, 62, 80, 122, 123, 182);
CREATE INDEX small_sig ON small USING gin (sig signature_gin_ops (threshold = 0.5)) WHERE k < 5;
CREATE TABLE void AS SELECT * FROM everything LIMIT 0;
CREATE INDEX void_sig ON void USING gin (sig);
CREATE TABLE nulls AS SELECT id, g, k, NULL::signature AS sig FROM everything WHERE id < 5;
CREATE TABLE empties AS SELECT id, g, k, signature_from('{}') AS sig FROM everything WHERE id < 6;
CREATE TABLE equals AS SELECT id, g, k, signature_from(ARRAY[id % 3, 10, 11]) AS sig FROM everything WHERE id % 6 = 0;
CREATE INDEX equals_sig ON equals USING gin (sig);
CREATE TABLE parted (id int, g int, k int, sig signature) PARTITION BY LIST (g);
CREATE TABLE parted_0 PARTITION OF parted FOR VALUES IN (0, 1);
CREATE TABLE parted_2 (gone text, sig signature, k int, g int, id int);
ALTER TABLE parted_2 DROP gone;
ALTER TABLE parted ATTACH PARTITION parted_2 FOR VALUES IN (2, 3);
CREATE TABLE parted_rest PARTITION OF parted DEFAULT PARTITION BY HASH (id);
CREATE TABLE parted_rest_0 PARTITION OF parted_rest FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE parted_rest_1 PARTITION OF parted_rest FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO parted SELECT * FROM everything WHERE id % 4 < 2 AND id > 80;
CREATE INDEX parted_sig ON parted USING gin (sig);
CREATE TABLE heirs () INHERITS (small);
INSERT INTO heirs SELECT * FROM everything WHERE id BETWEEN 100 AND 110;
CREATE VIEW seen AS SELECT id, g, k, sig FROM plain WHERE k <> 3;
CREATE VIEW guarded WITH (security_barrier) AS SELECT * FROM other WHERE g <> 2;
CREATE MATERIALIZED VIEW kept AS SELECT * FROM everything WHERE k = 1;
CREATE INDEX kept_sig ON kept USING gin (sig);
-- long sets among short ones, for several batches in little memory
CREATE TABLE long AS
SELECT id, g, k, CASE WHEN id % 2 = 0 THEN sig ELSE
    signature_from(ARRAY(SELECT id / 8 * 1000 + e FROM generate_series(id % 8, 300) e)) END AS sig
FROM everything WHERE id <= 56;
CREATE INDEX long_sig ON long USING gin (sig);

-- Documents, and every spec of them; g is the spec of "mixed"
CREATE TABLE docs AS
SELECT id, g, k, (SELECT string_agg(chr((97 + c.x % 6)::int) || CASE WHEN c.x % 11 = 0 THEN '. ' ELSE ' ' END, '' ORDER BY e)
    FROM generate_series(1, (f.x % 40)::int) e JOIN numbers c ON c.i = (f.x % 13 * 50 + e + CASE WHEN (id + e) % 17 = 0 THEN id ELSE 0 END)) AS body
FROM everything JOIN numbers f ON f.i = id;
CREATE TABLE words AS
SELECT lexicon_agg(body) AS lexicon, shingle_lexicon_agg(body, 'k=2') AS shingle_lexicon, word_set_agg(body) AS word_set FROM docs;

-- A vector of a document: how often letters occur in it, and at its beginning
CREATE FUNCTION letters(body text) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT AS $$
    SELECT array_agg((length(part) - length(replace(part, letter, '')))::real ORDER BY part, letter)
    FROM unnest(ARRAY[body, left(body, 20)]) part, unnest('{a,b,c,d,e}'::text[]) letter $$;

-- Groups of near-duplicates, from all pairs
CREATE FUNCTION groups(query text, threshold float8, measure text, rule text)
RETURNS TABLE (id bigint, representative bigint) LANGUAGE plpgsql AS $$
DECLARE
    each record;
    kept int[] := '{}';
BEGIN
    EXECUTE 'CREATE TEMP TABLE d ON COMMIT DROP AS ' || query;
    IF rule = 'connected' THEN
        RETURN QUERY
        WITH RECURSIVE near AS MATERIALIZED (
            SELECT x.id AS x, y.id AS y FROM d x, d y
            WHERE near_duplicate(x.sig, y.sig, threshold, measure) AND x.id <> y.id),
        r(id, root) AS (SELECT d.id, d.id FROM d UNION SELECT near.y, r.root FROM r JOIN near ON near.x = r.id)
        SELECT r.id::bigint, min(root)::bigint FROM r GROUP BY r.id;
    ELSE
        FOR each IN SELECT * FROM pg_temp.d ORDER BY d.id LOOP
            IF NOT EXISTS (SELECT FROM pg_temp.d k WHERE k.id = ANY (kept)
                           AND near_duplicate(each.sig, k.sig, threshold, measure)) THEN
                kept := kept || each.id;
                RETURN QUERY SELECT each.id::bigint, each.id::bigint;
            END IF;
        END LOOP;
    END IF;
END $$;
SQL

# The specs that tables hold: documents' signatures by each.  Every other method of the
# catalogs is added.
my %specs = (
	minhashes => 'minhash(body, 16, 2)',
	bytes => q{minhash(body, 64, 1, 'order=sorted')},
	bottoms => 'bottom(body, 8, 1)',
	samples => 'sample(body, 2, 2)',
	supers => 'supershingles(body, 4, 2, 1)',
	megas => 'megashingles(body, 4, 2, 1)',
	simhashes => 'simhash(body, 1)',
	embeddings => 'dense(letters(body))',
	vectors => 'weighted_words(body)',
	weighed => q{weighted_words(body, lexicon, 'tf-idf')},
	counted => q{shingles(body, 'k=1 repeats=number')},
	hashes => 'text_hash(body)',
	sentences => 'long_sentences(body)',
	tops => 'top_words(body, 3)',
	imatches => 'imatch(body, lexicon, 3, 2)',
	prints => 'fuzzy_fingerprint(body, lexicon)');

# Relations of a few rows
my $small = qr/^(?:small|void|nulls|empties|kept|heirs)$/;

# Families of relations whose signatures can be compared with each other
my @sets = qw(plain other every_feature small void nulls empties equals parted
  heirs seen guarded kept long);
my @families = ([ @sets ], [ @sets ], [ @sets ]);

# The values of two specs, which are errors where a plan computes them: here they are null,
# so that the pairs of one spec can be compared.
my $nulls = join "\n", 'CREATE SCHEMA calm;', map {
	my $value = $_ eq 'intersection_size' ? 'bigint' : 'float8';

	"CREATE FUNCTION calm.$_(a signature, b signature) RETURNS $value IMMUTABLE LANGUAGE sql
	AS 'SELECT CASE WHEN a <-> b IS NOT NULL THEN public.$_(a, b) END';"
} qw(similarity containment dice cosine intersection_size);

# The server of foreign tables, if the extensions are installed; or else nothing
my %foreign = (
	postgres_fdw => <<'SQL',
CREATE EXTENSION postgres_fdw;
DO $$ BEGIN
    EXECUTE format('CREATE SERVER here FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host %L, port %L, dbname %L)',
        split_part(current_setting('unix_socket_directories'), ',', 1), current_setting('port'), current_database());
    EXECUTE format('CREATE USER MAPPING FOR CURRENT_USER SERVER here OPTIONS (user %L)', current_user);
END $$;
CREATE FOREIGN TABLE abroad (id int, g int, k int, sig signature) SERVER here OPTIONS (schema_name 'fuzz', table_name 'other');
SQL
	file_fdw => <<'SQL');
CREATE EXTENSION file_fdw;
CREATE SERVER files FOREIGN DATA WRAPPER file_fdw;
DO $$ DECLARE
    file text := current_setting('data_directory') || '/fuzz.tsv';
BEGIN
    EXECUTE format('COPY plain TO %L', file);
    EXECUTE format('CREATE FOREIGN TABLE filed (id int, g int, k int, sig signature) SERVER files OPTIONS (filename %L)', file);
END $$;
SQL

sub _contents
{
	my ($file) = @_;

	local $/;
	open(my $in, '<', $file) or die "$file: $!";
	return <$in>;
}

# Add a spec for each method that has none.
sub _add_methods
{
	my ($connection) = @_;
	my $calls = $connection->query(
		"SELECT method, min(format(call, 'body')) FROM method_calls
		WHERE takes = 'text'::regtype GROUP BY method ORDER BY method")->{rows};

	foreach my $row (@$calls)
	{
		my ($method, $call) = @$row;

		$specs{"by_$method"} = $call
		  unless grep { /^\Q$method\E\(/ } values %specs;
	}
	return;
}

# Create the tables; return the generator of queries, if $method is not empty only of those
# on signatures of that method.
sub new
{
	my ($class, $connection, $method) = @_;
	my $self = bless { families => [ map { [@$_] } @families ] }, $class;

	$connection->run('SET client_min_messages = warning;
		CREATE EXTENSION IF NOT EXISTS neardup;
		DROP SCHEMA IF EXISTS fuzz CASCADE; DROP SCHEMA IF EXISTS calm CASCADE');
	$connection->run($nulls);
	$connection->run($schema);
	$connection->run(_contents("$shared/random_sets.sql"));
	$connection->run($tables);
	$connection->run(_contents("$shared/method_calls.sql"));
	_add_methods($connection);
	$connection->run(_contents("$shared/set_measures.sql") =~ s/^\\.*\n//mgr);
	_add_measures($connection);
	push @{ $self->{families} }, map { [$_] } sort keys %specs;
	foreach my $table (sort keys %specs)
	{
		$connection->run(
			"CREATE TABLE $table AS SELECT id, g, k,
				CASE WHEN id % 29 = 0 THEN NULL ELSE $specs{$table} END AS sig
				FROM docs, words WHERE id % 4 = 1");
		# no index holds dense vectors
		next if $table eq 'embeddings';
		$connection->run("INSERT INTO $table SELECT 1000 + row_number() OVER (), g, k, near
				FROM $table, unnest('{0.5,0.8}'::float8[]) t, pg_temp.barely_near(sig, t) near
				WHERE id = 77;
			CREATE INDEX ON $table USING gin (sig)");
	}
	$self->_mix($connection);
	$self->_index_by_method($connection);
	$self->_blend($connection);
	$self->_find_foreign($connection);
	$connection->run('ANALYZE');
	if ($method)
	{
		$self->{families} = [ map { [$_] } grep { $specs{$_} =~ /^\Q$method\E\(/ } sort keys %specs ];
		die "There is no method $method.\n" unless @{ $self->{families} };
	}
	$self->{samples} = $connection->query(
		"SELECT sig FROM fuzz.everything WHERE id % 7 < 3 AND sig IS NOT NULL
		ORDER BY id")->{rows};
	$self->{version} = $connection->value('SHOW server_version_num');
	return $self;
}

# Create a table of an eighth of each of these, selected by g.
sub _unite
{
	my ($connection, $table, @of) = @_;
	my $part = 0;

	$connection->run("CREATE TABLE $table AS " . join ' UNION ALL ',
		map { sprintf 'SELECT id, %d AS g, k, sig FROM %s WHERE id %% 8 = 1', $part++, $_ } @of);
	return;
}

# A table of several specs.
sub _mix
{
	my ($self, $connection) = @_;
	my @tables = (qw(minhashes simhashes vectors supers), 'plain');

	_unite($connection, 'mixed', @tables);
	$connection->run('CREATE INDEX mixed_sig ON mixed USING gin (sig);
		CREATE TABLE mixed_parts (id int, g int, k int, sig signature) PARTITION BY LIST (g)');
	$connection->run("CREATE TABLE mixed_$_ PARTITION OF mixed_parts FOR VALUES IN ($_)")
	  for 0 .. $#tables;
	$connection->run('INSERT INTO mixed_parts SELECT * FROM mixed WHERE id % 3 > 0');
	$connection->run('CREATE INDEX mixed_parts_sig ON mixed_parts USING gin (sig)');
	push @{ $self->{families} }, [qw(mixed mixed_parts)];
	return;
}

# The access method for the nearest, if there is one for the spec.
sub _index_by_method
{
	my ($self, $connection) = @_;

	return
	  unless $connection->value(
		q{SELECT count(*) FROM pg_am WHERE amname = 'neardup'});
	foreach my $table (sort(keys %specs), qw(plain other long small void equals parted))
	{
		my $error = $connection->query("CREATE INDEX ON $table USING neardup (sig)")->{error};
		die "$table: $error->{M}\n" if $error && $error->{C} !~ /^(?:0A000|42|22)/;
	}
	return;
}

# Another table of several specs, all of which that method accepts.
sub _blend
{
	my ($self, $connection) = @_;

	_unite($connection, 'blended', qw(vectors counted weighed samples), 'plain');
	$connection->run('CREATE INDEX ON blended USING neardup (sig);
		CREATE TABLE blended_parts (id int, g int, k int, sig signature) PARTITION BY RANGE (id);
		CREATE TABLE blended_less PARTITION OF blended_parts FOR VALUES FROM (0) TO (60);
		CREATE TABLE blended_more PARTITION OF blended_parts FOR VALUES FROM (60) TO (9999);
		INSERT INTO blended_parts SELECT * FROM blended WHERE k < 5;
		CREATE INDEX ON blended_parts USING neardup (sig)');
	push @{ $self->{families} }, [qw(blended blended_parts)];
	return;
}

sub _find_foreign
{
	my ($self, $connection) = @_;

	foreach my $extension (sort keys %foreign)
	{
		next
		  unless $connection->value("SELECT count(*) FROM pg_available_extensions
			WHERE name = '$extension'");
		$connection->run("DROP EXTENSION IF EXISTS $extension CASCADE");
		$connection->run($foreign{$extension});
		my $table = $extension eq 'file_fdw' ? 'filed' : 'abroad';
		push @$_, $table
		  foreach grep { $_->[0] eq 'plain' } @{ $self->{families} };
	}
	return;
}

# ------------------------------------------------------------------ pieces

my @thresholds = (0.01, 0.3, 1 / 3, 0.5, 0.6, 2 / 3, 0.7, 0.75, 0.8, 0.8, 0.9, 0.95, 1);
# the first one is drawn twice as often
my @measures = ('jaccard');
my @symmetric = ('jaccard');

# Add the measures of sets.
sub _add_measures
{
	my ($connection) = @_;
	my $rows = $connection->query('SELECT measure, commutes FROM set_measures ORDER BY n')->{rows};

	push @measures, map { $_->[0] } @$rows;
	push @symmetric, map { $_->[0] } grep { $_->[1] eq 't' } @$rows;
	return;
}

# Whether exact sets are compared, for which every measure is defined
sub _sets
{
	my ($self) = @_;

	return $self->{form} eq '%s' && $self->{family}[0] =~ /^(?:plain|small|void|nulls)$/;
}

# A threshold, as a number or otherwise
sub _threshold
{
	my ($self) = @_;
	my $dice = $self->{dice};
	my $t = $dice->any(@thresholds);

	return $dice->any('0', '1.5', q{'NaN'}, q{'-1'}, 'NULL')
	  if $dice->one_in(150) && !$self->{three};
	return "(SELECT $t\::float8)" if $dice->one_in(20);
	return "least($t, 1 - $self->{x}.k / 20.0)" if $dice->one_in(40);
	return $self->_parameter('float8', $t) if $dice->one_in(8);
	return $t;
}

# A constant, or a parameter that has that value if the query is prepared
sub _parameter
{
	my ($self, $type, $value) = @_;

	return "$value\::$type" unless $self->{parameters};
	push @{ $self->{parameters} }, [ $type, $value ];
	return '$' . scalar @{ $self->{parameters} };
}

sub _measure
{
	my ($self) = @_;
	my $measure = $self->{dice}->any(@measures);

	$measure = $self->{dense} ? 'cosine' : 'jaccard'
	  unless $self->_sets || $self->{dice}->one_in(20) && !$self->{three};

	return q{'euclid'} if $self->{dice}->one_in(300) && !$self->{three};
	return $self->_parameter('text', "'$measure'") if $self->{dice}->one_in(20);
	return "'$measure'";
}

# A condition that two signatures are near
sub _near
{
	my ($self, $x, $y) = @_;
	my $dice = $self->{dice};
	my $t = $self->_threshold;
	my @forms = (
		sub { "near_duplicate($x, $y, $t)" },
		sub { "near_duplicate($x, $y, $t, " . $self->_measure . ')' },
		sub { "near_duplicate($x, $y, $t, " . $self->_measure . ')' },
		sub { "$x % $y" },
		sub { "near_duplicate($x, $y, $t, 'similarity')" },
		# Several specs: an index that serves this operator, or both sides of OR,
		# compares before the other conditions are evaluated.
		sub
		{
			return "near_duplicate($x, $y, $t)" if $self->{mixed};
			return "$x %% signature_query($y, $t, " . $self->_measure . ')';
		},
		sub { "similarity($x, $y) >= $t" },
		sub { "$t <= similarity($x, $y)" },
		sub { "similarity($x, $y) > $t" },
		sub { "$x <-> $y <= 1 - $t" },
		sub { "$x <-> $y < $t" },
		sub { "1 - similarity($x, $y) < 1 - $t" },
		sub { "100 * similarity($x, $y) >= 100 * ($t)::float8" },
		sub { "similarity($x, $y)::real >= ($t)::real" },
		sub { "round(similarity($x, $y)::numeric, 1) >= $t" },
		sub { "coalesce(similarity($x, $y), " . $dice->any(0, 0, 0.7) . ") >= $t" });

	# Most sketches do not have these measures, and an index does not support
	# near_duplicate_approx().
	push @forms, sub { "near_duplicate_approx($x, $y, $t)" },
	  sub { "near_duplicate_approx($x, $y, $t, 0.9)" }
	  if $self->_sets;
	push @forms,
	  sub { "near_duplicate($x, $y, " . $dice->any(1, 2, 3, 5, 9, 15, 2.5) . ", 'shared')" },
	  sub { "intersection_size($x, $y) >= " . $dice->any(1, 2, 4, 10) },
	  sub { "contained_in($x, $y, $t)" },
	  sub { "$x <% $y" },
	  sub { "$x %> $y" },
	  sub { $dice->any(qw(containment dice cosine)) . "($x, $y) >= $t" }
	  if $self->_sets || $dice->one_in(20) && !$self->{three};
	@forms = (
		sub { "near_duplicate($x, $y, $t, " . $self->_measure . ')' },
		sub { "near_duplicate($x, $y, $t, " . $self->_measure . ')' },
		sub { "$x %% signature_query($y, $t, " . $self->_measure . ')' },
		sub { "cosine($x, $y) >= $t" },
		sub { "$t < cosine($x, $y)" },
		sub { "$x <=> $y <= 1 - $t" })
	  if $self->{dense};
	return $dice->any(@forms)->();
}

# Two such conditions.  A plan that looks one up evaluates the other for fewer rows, and
# raises fewer errors: so neither has any.
sub _two_near
{
	my ($self, $operator, $x, $y) = @_;

	local $self->{three} = 1;
	return sprintf '(%s %s %s)', $self->_near($x, $y), $operator, $self->_near($x, $y);
}

# Another condition on two rows; joins of "mixed" need that of the specs.
sub _further
{
	my ($self) = @_;

	return $self->{dice}->any(
		'', '', '', ' AND a.id < b.id', ' AND a.id <> b.id', ' AND a.id > b.id',
		' AND a.g = b.g', ' AND a.k <> b.k', ' AND a.g = b.g AND a.id < b.id',
		' AND a.k + b.k > 6', ' AND (a.k = 1 OR b.g = 2)',
		' AND a.id >= b.id')
	  if !$self->{mixed};
	return ' AND a.g = b.g' . $self->{dice}->any('', ' AND a.id < b.id', ' AND a.k <> b.k')
	  unless $self->{dice}->one_in(10) && !$self->{three};
	return '';
}

# The compared expression of a relation: its signature, or one computed from it
sub _signature
{
	my ($self, $alias) = @_;

	return sprintf $self->{form}, "$alias.sig";
}

# The condition of a join
sub _condition
{
	my ($self, $x, $y) = @_;
	my $dice = $self->{dice};
	my ($left, $right) = ($self->_signature($x), $self->_signature($y));
	my %alias = (a => $x, b => $y);
	my $further = $self->_further =~ s/\b([ab])\./$alias{$1}./gr;

	$self->{x} = $x;
	($left, $right) = ($right, $left) if $dice->one_in(3);
	my $near = $self->_near($left, $right);
	if ($dice->one_in(12))
	{
		$near = $self->_two_near($dice->any('AND', $self->{mixed} ? 'AND' : 'OR'),
			$left, $right);
	}
	$near = $dice->any("($near) IS TRUE", "coalesce($near, false)") if $dice->one_in(12);
	$near = "NOT ($near)" if $dice->one_in(30);
	$near = "($near) IS NOT FALSE" if $dice->one_in(60);
	return $near . $further;
}

# A relation: mostly a table, sometimes a query of it
sub _relation
{
	my ($self, $alias) = @_;
	my $dice = $self->{dice};
	my $table = $dice->any(@{ $self->{family} });

	return $table if $table =~ s/ few$/ $alias/;
	return "(SELECT * FROM $table WHERE k <> 4 OFFSET 0) $alias" if $dice->one_in(25);
	return "(SELECT * FROM $table WHERE g < 3) $alias" if $dice->one_in(20);
	return "(SELECT * FROM $table UNION ALL SELECT * FROM $table WHERE k = 2) $alias"
	  if $dice->one_in(30);
	return "(SELECT DISTINCT ON (sig) * FROM $table ORDER BY sig, id) $alias"
	  if $dice->one_in(30);
	return "$table $alias";
}

# A filter on a row
sub _filter
{
	my ($self, $alias) = @_;

	return '' unless $self->{dice}->one_in(4);
	# A third relation, see _three: only where nothing raises an error
	return " AND $alias.id IN (SELECT id FROM small)"
	  if $self->_sets && $self->{dice}->one_in(6);
	return $self->{dice}->any(
		" AND $alias.k > 2", " AND $alias.id % 3 = 0", " AND $alias.sig IS NOT NULL",
		" AND $alias.g = " . $self->_parameter('int', 1), " AND $alias.k < 5");
}

# A signature to look for
sub _wanted
{
	my ($self) = @_;
	my $dice = $self->{dice};

	# Several specs, mostly the one of the rows
	my $where = $self->{mixed} && !$dice->one_in(6) ? ' WHERE g = 4' : '';
	return $self->_signature('b') =~ s/b\.sig/(SELECT sig FROM $self->{family}[0]$where ORDER BY id LIMIT 1 OFFSET @{[$dice->below($where ? 5 : 40)]})/r
	  if $self->{family}[0] ne 'plain' || $dice->one_in(5);
	my $sample = $dice->any(@{ $self->{samples} })->[0];
	return sprintf $self->{form}, $self->_parameter('signature', "'$sample'");
}

# ----------------------------------------------------------------- queries

sub _two
{
	my ($self) = @_;
	my $join = $self->{dice}->any(('JOIN') x 4, ('LEFT JOIN') x 2, 'RIGHT JOIN', 'FULL JOIN');
	my ($a, $b) = ($self->_relation('a'), $self->_relation('b'));
	my $condition = $self->_condition('a', 'b');

	# PostgreSQL needs a condition that can be merged or hashed.
	$condition .= ' AND a.id = b.id' if $join eq 'FULL JOIN';
	return sprintf 'SELECT a.id, b.id AS b FROM %s %s %s ON %s WHERE true%s%s',
	  $a, $join, $b, $condition, $self->_filter('a'), $self->_filter('b');
}

# With three relations the compared pairs depend on the order of joins: nothing here
# raises an error.
sub _three
{
	my ($self) = @_;
	my @joins = map { $self->{dice}->any('JOIN', 'JOIN', 'LEFT JOIN') } 1 .. 2;

	local $self->{three} = 1;
	local $self->{family} = [ map { /$small/ ? $_ : "(SELECT * FROM $_ WHERE id < 70 AND g < 4) few" } @{ $self->{family} } ];
	return sprintf
	  'SELECT a.id, b.id AS b, c.id AS c FROM %s %s %s ON %s %s %s ON %s WHERE true%s',
	  $self->_relation('a'), $joins[0], $self->_relation('b'),
	  $self->_condition('a', 'b'), $joins[1], $self->_relation('c'),
	  $self->_condition($self->{dice}->any('a', 'b'), 'c'), $self->_filter('a');
}

sub _exists
{
	my ($self) = @_;
	my $dice = $self->{dice};
	my ($a, $b) = ($self->_relation('a'), $self->_relation('b'));
	my $condition = $self->_condition('a', 'b') . $self->_filter('b');
	my $not = $dice->any('', 'NOT ');

	return "SELECT a.id FROM $a WHERE ${not}EXISTS (SELECT FROM $b WHERE $condition)"
	  . $self->_filter('a')
	  if !$dice->one_in(4);
	return "SELECT a.id FROM $a WHERE a.k IN (SELECT b.k FROM $b WHERE $condition)"
	  . $self->_filter('a')
	  if $dice->one_in(2);
	return "SELECT a.id, (${not}EXISTS (SELECT FROM $b WHERE $condition)) AS found FROM $a";
}

sub _look_up
{
	my ($self) = @_;
	my $dice = $self->{dice};
	my $a = $self->_relation('a');
	my ($x, $y) = ($self->_signature('a'), $self->_wanted);

	$self->{x} = 'a';

	($x, $y) = ($y, $x) if $dice->one_in(4);
	my $condition = $self->_near($x, $y);
	$condition = $self->_two_near('AND', $x, $y) if $dice->one_in(8);
	$condition .= ' OR ' . $self->_near($x, $self->_wanted)
	  if $dice->one_in(8) && !$self->{mixed};
	$condition = "NOT ($condition)" if $dice->one_in(30);
	my $one_spec = '';
	if ($self->{mixed})
	{
		$one_spec = ' AND a.g = 4' unless $dice->one_in(6);
	}
	return "SELECT a.id FROM $a WHERE ($condition)$one_spec" . $self->_filter('a');
}

# Rows of one side that are read again and again
sub _lateral
{
	my ($self) = @_;
	my $dice = $self->{dice};
	my ($a, $b) = ($self->_relation('a'), $self->_relation('b'));
	my $condition = $self->_condition('a', 'b');

	return $dice->any(
		"SELECT a.id, (SELECT count(*) FROM $b WHERE $condition) AS n FROM $a",
		"SELECT a.id, s.n FROM $a, LATERAL (SELECT count(*) AS n, max(b.id) AS m FROM $b WHERE $condition) s WHERE s.n > 1",
		"SELECT a.id, s.id AS b FROM $a LEFT JOIN LATERAL (SELECT b.id FROM $b WHERE $condition ORDER BY b.id LIMIT 2) s ON true",
		"SELECT o.id, (SELECT count(*) FROM $a JOIN $b ON $condition AND a.k < o.k) AS n FROM small o");
}

sub _grouped
{
	my ($self) = @_;
	my ($a, $b) = ($self->_relation('a'), $self->_relation('b'));
	my $condition = $self->_condition('a', 'b');
	my $join = $self->{dice}->any('JOIN', 'LEFT JOIN');

	return $self->{dice}->any(
		"SELECT a.g, count(*), count(b.id) AS n, sum(b.k) FROM $a $join $b ON $condition GROUP BY a.g",
		"SELECT DISTINCT a.g, b.k FROM $a $join $b ON $condition",
		"SELECT a.sig, count(b.sig) FROM $a $join $b ON $condition GROUP BY a.sig",
		"SELECT count(*) FROM $a $join $b ON $condition",
		"SELECT a.id, b.id AS b, row_number() OVER (ORDER BY a.id, b.id) FROM $a $join $b ON $condition",
		# With a limit, not all pairs are compared.
		$self->{mixed} ? () :
		  "SELECT count(*) FROM (SELECT FROM $a $join $b ON $condition LIMIT 7) s",
		"SELECT a.id FROM $a $join $b ON $condition EXCEPT ALL SELECT id FROM plain",
		"WITH p AS MATERIALIZED (SELECT a.id, b.id AS b, b.sig FROM $a $join $b ON $condition) SELECT p.id, p.b, c.id AS c FROM p JOIN small c ON near_duplicate(p.sig, c.sig, 0.8)");
}

sub _nearest
{
	my ($self) = @_;
	my $a = $self->_relation('a');
	my $x = $self->_signature('a');
	my $y = $self->_wanted;
	my $one_spec = $self->{mixed} ? 'a.g = 4' : 'true';

	return sprintf 'SELECT a.id FROM %s WHERE %s%s ORDER BY %s %s %s, a.id LIMIT %d',
	  $a, $one_spec, $self->_filter('a'), $x, $self->{dense} ? '<=>' : '<->', $y,
	  1 + $self->{dice}->below(9);
}

sub _changes
{
	my ($self) = @_;
	my $dice = $self->{dice};

	local $self->{family} =
	  [ grep { !/^(seen|guarded|kept|abroad|filed|heirs)$/ } @{ $self->{family} } ];
	my $target = $dice->any(@{ $self->{family} });
	my $b = $self->_relation('b');
	my $condition = $self->_condition('a', 'b');

	return $dice->any(
		"UPDATE $target a SET k = a.k + 1 FROM $b WHERE $condition RETURNING a.id, a.k",
		"UPDATE $target a SET sig = NULL WHERE EXISTS (SELECT FROM $b WHERE $condition) RETURNING a.id, a.sig",
		"DELETE FROM $target a USING $b WHERE $condition RETURNING a.id",
		"DELETE FROM $target a WHERE NOT EXISTS (SELECT FROM $b WHERE $condition) RETURNING a.id",
		"INSERT INTO $target SELECT b.* FROM $b JOIN $target a ON $condition RETURNING id, k",
		"MERGE INTO $target a USING $b ON $condition WHEN NOT MATCHED THEN INSERT VALUES (b.id + 1000, b.g, b.k, b.sig); SELECT * FROM $target",
		"SELECT a.id, b.id AS b FROM $target a JOIN $b ON $condition FOR UPDATE OF a",
		"INSERT INTO $target SELECT id + 1000, g, k, sig FROM $target WHERE id % 2 = 0; SELECT a.id, b.id AS b FROM $target a JOIN $b ON $condition");
}

# Groups by their function; and by all pairs, in the place of the nested loop.
sub _groups
{
	my ($self) = @_;
	my $dice = $self->{dice};
	my $rows = 'SELECT DISTINCT ON (id) id, sig FROM ' . $self->_relation('a') . ' ORDER BY id, sig';
	my $rule = $dice->any('greedy', 'connected');
	my $measure = $self->_sets ? $dice->any(@symmetric)
	  : $self->{dense} ? 'cosine' : $dice->any(qw(jaccard similarity));
	my $arguments = sprintf q{($$%s$$, %s, '%s', '%s')}, $rows, $dice->any(@thresholds), $measure, $rule;

	$self->{looped} = "SELECT * FROM groups$arguments";
	return "SELECT id, representative FROM near_duplicate_groups$arguments"
	  . ($rule eq 'greedy' ? ' WHERE id = representative' : '');
}

# Rows that a guard lets in, in their order: they are the representatives of greedy groups.
sub _guarded
{
	my ($self) = @_;
	my $dice = $self->{dice};
	my $rows = 'SELECT DISTINCT ON (id) id, sig FROM ' . $self->_relation('a') . ' ORDER BY id, sig';
	my $t = $dice->any(@thresholds);
	my $measure = $self->{dense} ? 'cosine' : $dice->any('cosine', 'jaccard');
	my $statement = $dice->one_in(4);
	my $guard = "EXECUTE FUNCTION neardup_guard('sig', '$t', " . ($statement ? '' : q('skip', )) . "'measure', '$measure')";

	$self->{looped} = "SELECT * FROM groups(\$\$$rows\$\$, $t, '$measure', 'greedy')";
	# each row is a statement, which fails for one that is not let in
	return "CREATE TABLE let_in (id int, sig signature);"
	  . ($self->{dense} ? '' : ' CREATE INDEX ON let_in USING neardup (sig);')
	  . ($statement
		? " CREATE TRIGGER guard AFTER INSERT ON let_in REFERENCING NEW TABLE AS n FOR EACH STATEMENT $guard;
			DO \$do\$ DECLARE r record; BEGIN
				FOR r IN $rows LOOP
					BEGIN INSERT INTO let_in VALUES (r.id, r.sig);
					EXCEPTION WHEN exclusion_violation THEN NULL; END;
				END LOOP;
			END \$do\$;"
		: " CREATE TRIGGER guard BEFORE INSERT ON let_in FOR EACH ROW $guard; INSERT INTO let_in $rows;")
	  . ' SELECT id, id AS representative FROM let_in';
}

# ------------------------------------------------------------- generation

# The reference plan
my @nested_loop = (
	'neardup.enable_join = off', 'enable_indexscan = off',
	'enable_bitmapscan = off', 'enable_hashjoin = off',
	'enable_mergejoin = off', 'enable_memoize = off',
	'max_parallel_workers_per_gather = 0');
my @algorithms = qw(ppjoin ppjoin+ probe-count pair-count probe-stopwords
  probe-optmerge all-pairs-0 all-pairs-1 all-pairs-2 word-groups);

# Settings that lead to another plan
sub _settings
{
	my ($self) = @_;
	my $dice = $self->{dice};
	my $parallel = $self->{version} >= 160000 ? 'debug_parallel_query' : 'force_parallel_mode';
	my @others = ('enable_nestloop = off', 'enable_hashjoin = off', 'enable_mergejoin = off');
	my @settings;

	push @settings, @others if !$dice->one_in(4);
	push @settings, 'enable_seqscan = off' if $dice->one_in(3);
	push @settings, 'neardup.enable_join = off', 'enable_nestloop = on', 'enable_seqscan = off'
	  if $dice->one_in(4);
	push @settings, 'enable_bitmapscan = off', 'enable_sort = off' if $dice->one_in(4);
	push @settings, 'neardup.join_algorithm = "' . $dice->any(@algorithms) . '"'
	  if $dice->one_in(2);
	push @settings, q{work_mem = '64kB'}, 'hash_mem_multiplier = 1' if $dice->one_in(3);
	push @settings, 'enable_partitionwise_join = on', 'enable_partitionwise_aggregate = on'
	  if $dice->one_in(4);
	push @settings, "$parallel = on", 'parallel_setup_cost = 0', 'parallel_tuple_cost = 0',
	  'min_parallel_table_scan_size = 0'
	  if $dice->one_in(40);
	push @settings, 'enable_memoize = off', 'enable_material = off' if $dice->one_in(5);
	push @settings, 'from_collapse_limit = 1', 'join_collapse_limit = 1' if $dice->one_in(8);
	return \@settings;
}

# The way to run the query: at once, by a cursor, prepared, ...
sub _frame
{
	my ($self, $query) = @_;
	my $dice = $self->{dice};
	my @parameters = @{ $self->{parameters} || [] };

	return $query if $self->{looped};
	if ($self->{parameters})
	{
		my $types = join ', ', map { $_->[0] } @parameters;
		my $values = join ', ', map { $_->[1] } @parameters;
		$types = "($types)" if @parameters;
		$values = "($values)" if @parameters;
		return "DEALLOCATE ALL; PREPARE q$types AS $query; EXECUTE q$values; EXECUTE q$values";
	}
	return $query if $query =~ /^(?:UPDATE|DELETE|INSERT|MERGE)|FOR UPDATE|;/ || $dice->one_in(2);
	return $dice->any(
		$query,
		$query,
		"DECLARE c SCROLL CURSOR FOR $query; MOVE 3 FROM c; MOVE BACKWARD 2 FROM c; MOVE FORWARD ALL FROM c; MOVE ABSOLUTE 0 FROM c; FETCH ALL FROM c",
		"DECLARE c NO SCROLL CURSOR FOR $query; FETCH 2 FROM c; FETCH 1 FROM c; FETCH ALL FROM c",
		"CREATE TEMP TABLE made AS $query; SELECT * FROM made",
		"EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) $query; -- \n$query");
}

# The query of that number: pairs of statements and settings.  The first pair is the
# nested loop; the second one, too, with null for values of different specs, if the query
# may have any.
sub make
{
	my ($self, $seed, $number, $plans) = @_;
	my $dice = $self->{dice} = Dice->new($seed * 1_000_003 + $number);
	my @shapes = (('_two') x 5, '_three', ('_exists') x 3, ('_look_up') x 4,
		('_lateral') x 2, ('_grouped') x 2, '_nearest', ('_changes') x 2);
	my $shape = $dice->one_in(50) ? '_groups' : $dice->any(@shapes);

	$self->{family} = $dice->any(@{ $self->{families} });
	$self->{mixed} = $self->{family}[0] =~ /^(?:mixed|blended)$/;
	$self->{dense} = $self->{family}[0] eq 'embeddings';
	$self->{form} = '%s';
	$shape = '_guarded'
	  if ($self->{dense} || $self->_sets) && $dice->one_in($self->{dense} ? 8 : 40);
	$self->{looped} = undef;
	$self->{form} = $dice->any('minhash(%s, 16)', 'bottom(%s, 8)', 'sample(%s, 2)', 'simhash(%s)', 'supershingles(%s, 4, 2)')
	  if $self->{family}[0] eq 'plain' && $dice->one_in(6);
	$self->{parameters} = $dice->one_in(6) && $shape !~ /changes|groups|guarded/ ? [] : undef;
	my $query = $self->$shape();
	my $statements = $self->_frame($query);
	my @common = ('search_path = fuzz, public',
		'neardup.threshold = ' . $dice->any(0.3, 0.5, 0.8, 0.8, 1));
	push @common, 'plan_cache_mode = ' . $dice->any(qw(force_generic_plan force_custom_plan))
	  if $self->{parameters};
	my $calm = $self->{mixed} && $query =~ /\b(?:similarity|containment|dice|cosine|intersection_size)\(/;
	return [ $self->{looped} // $statements, @common, @nested_loop ],
	  $calm && [ $statements, @common, 'search_path = calm, fuzz, public', @nested_loop ],
	  map { [ $statements, @common, @{ $self->_settings } ] } 1 .. $plans;
}

1;
