/*
 * neardup_pairs.c
 *		CALL neardup_pairs(): all near-duplicates of a table, on one server or on
 *		the nodes of Citus.
 *
 * On one server that is one join.  Rows that are distributed meet in steps, each
 * a table that the next one reads:
 *
 *	rows		of each row its id and a hash of its signature: from here on
 *				equal signatures are one set;
 *	firsts		of each set the row with the least id, and which spots have rows of
 *				the set, that is, where their pairs will be in the result;
 *	sets		sets with their signatures, which travel only now;
 *	near		pairs of sets, at each spot that has rows of either;
 *	asked		sets of which a spot needs the rows for that;
 *	members		at each spot the rows of the sets that it needs, and whether they
 *				are its own: with these it makes its part of the result.
 *
 * So a set's rows go once to a spot, not once for each set that it is near to, and
 * the pairs, which may be many, do not travel at all.
 *
 * Sets meet by their classes of sizes, or, where one class has more sets than
 * one node should, by rare features.  A spot has classes that follow each other:
 * a set, which is to meet those of its class and of the next, is mostly sent once.
 */
#include "postgres.h"

#include "catalog/namespace.h"
#include "catalog/pg_namespace_d.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "funcapi.h"
#include "nodes/makefuncs.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"
#include "utils/syscache.h"
#include "utils/varlena.h"

#include "base/call.h"
#include "base/compat.h"
#include "base/values.h"
#include "distributed/spots.h"
#include "distributed/working_tables.h"
#include "signature/sql/near.h"
#include "methods/candidate_keys.h"

PG_FUNCTION_INFO_V1(neardup_pairs);

/* Numbers of the arguments. */
enum Argument
{
	ARGUMENT_SOURCE, ARGUMENT_ID, ARGUMENT_SIG, ARGUMENT_THRESHOLD,
	ARGUMENT_RESULT, ARGUMENT_MEASURE, ARGUMENT_DESIGN, ARGUMENTS
};

static const char *const argument_names[] = {
	"source", "id", "sig", "threshold", "result", "measure", "design"
};

/* Classes of sizes: how the sets are spread over them. */
typedef struct Classes
{
	double		largest;		/* share of the sets that one class has */
	double		sets;
} Classes;

typedef enum Design
{
	DESIGN_AUTO, DESIGN_JOIN, DESIGN_CLASSES, DESIGN_KEYS, DESIGNS
} Design;

static const char *const design_names[] = {
	"auto", "join", "classes", "keys"
};

/* Seeds of the two hashes of a signature. */
#define MAX_SEEDS	8

static void
require_arguments(FunctionCallInfo fcinfo)
{
	for (int i = 0; i < ARGUMENTS; i++)
		if (PG_ARGISNULL(i))
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("argument \"%s\" of neardup_pairs must not be null",
							argument_names[i])));
}

static Design
design_require(const char *name)
{
	for (int i = 0; i < DESIGNS; i++)
		if (strcmp(name, design_names[i]) == 0)
			return i;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("there is no design \"%s\"", name),
			 errhint("Designs are auto, join, classes and keys.")));
}

/* Pairs have no order, so the measure must have none. */
static void
require_symmetric(Measure measure)
{
	if (measure_commute(measure) != measure)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("measure \"%s\" depends on which one of two signatures comes first",
						measure_name(measure)),
				 errhint("Join the table with itself: SELECT ... FROM docs a JOIN docs b ON contained_in(a.sig, b.sig, 0.9).")));
}

/* A column of the source, quoted. */
static char *
source_column(Oid source, const char *name)
{
	if (get_attnum(source, name) == InvalidAttrNumber)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("\"%s\" has no column \"%s\"", get_rel_name(source),
						name),
				 errhint("Of an expression make a generated column, or a view.")));
	return pstrdup(quote_identifier(name));
}

/*
 * The terms of the column of ids, of which the lesser one comes first: {id}, and the
 * operators of its type.
 */
static void
set_ids(WorkingTables *tables, Oid source, const char *name)
{
	char	   *column = source_column(source, name);
	Oid			type = get_atttype(source, get_attnum(source, name));
	Oid			less = operator_less(type);

	if (!OidIsValid(less))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("column \"%s\" of \"%s\" is of type %s, which has no order",
						name, get_rel_name(source), format_type_be(type)),
				 errdetail("Of a pair of rows the one with the lesser id comes first."),
				 errhint("Take a column of another type, or a view that has the id as text.")));
	working_term(tables, "id", column);
	working_term(tables, "less id", operator_name(less));
	working_term(tables, "same id", operator_name(operator_equal(type)));
}

/* The column of signatures, quoted. */
static char *
source_signatures(Oid source, const char *name, Oid schema)
{
	char	   *column = source_column(source, name);
	Oid			type = get_atttype(source, get_attnum(source, name));
	Oid			signature = GetSysCacheOid2(TYPENAMENSP, Anum_pg_type_oid,
											CStringGetDatum("signature"),
											ObjectIdGetDatum(schema));

	if (getBaseType(type) != signature)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("column \"%s\" of \"%s\" is of type %s, not signature",
						name, get_rel_name(source), format_type_be(type)),
				 errhint("Make a generated column: sig signature GENERATED ALWAYS AS (shingles(body)) STORED.")));
	return column;
}

/* A table's name with its schema, quoted. */
static char *
table_name(Oid table)
{
	if (get_rel_name(table) == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("there is no table with OID %u", table)));
	return quote_qualified_identifier(get_namespace_name(get_rel_namespace(table)),
									  get_rel_name(table));
}

/* The parser would cut a name that is too long, and the result have another one. */
static void
require_short(List *names)
{
	ListCell   *lc;

	foreach(lc, names)
		working_name_require_short(lfirst(lc));
}

/*
 * Where the result goes.  Its schema is always said: without one, a temporary table
 * of the same name would be met in its place.
 */
static void
set_result(WorkingTables *tables, const char *name)
{
	char	   *schema;
	char	   *table;
	Oid			place;
	List	   *names;

	if (!SplitGUCList(pstrdup(name), '.', &names) || names == NIL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_NAME),
				 errmsg("invalid name of the result: \"%s\"", name),
				 errhint("It is the name of a table, with or without its schema.  Put one that is not a plain word into double quotes.")));
	require_short(names);
	DeconstructQualifiedName(qualified_name_list(name), &schema, &table);
	place = RangeVarGetCreationNamespace(makeRangeVar(schema, table, -1));
	tables->temporary = isTempNamespace(place);
	schema = tables->temporary ? "pg_temp" : get_namespace_name(place);
	tables->schema = pstrdup(quote_identifier(schema));
	tables->result = table;
}

/* The measure and the condition, of a.sig and b.sig. */
static void
set_condition(WorkingTables *tables, double threshold, Measure measure)
{
	char	   *schema = working_statement(tables, "{neardup}");

	working_term(tables, "bounds", psprintf("'%.17g'::pg_catalog.float8, '%s'::pg_catalog.text",
											threshold, measure_name(measure)));
	working_term(tables, "similarity",
				 measure_expression(schema, measure, "a.sig", "b.sig"));
	working_term(tables, "is_near",
				 working_statement(tables, "{neardup}.near_duplicate(a.sig, b.sig, {bounds})"));
}

/* Finds out whether the source is distributed, and by which column. */
static void
find_place(WorkingTables *tables, Oid source)
{
	char	   *place;

	if (!OidIsValid(get_relname_relid("pg_dist_partition", PG_CATALOG_NAMESPACE)))
		return;
	working_term(tables, "source_name",
				 quote_literal_cstr(tables->source));
	if (working_run(tables, "SELECT pg_catalog.column_to_column_name(logicalrelid, partkey) "
					"FROM pg_catalog.pg_dist_partition "
					"WHERE logicalrelid {=} {source_name}::pg_catalog.regclass AND partmethod {=} 'h'") == 0)
		return;
	place = SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1);
	tables->place = source_column(source, place);
	working_term(tables, "same place",
				 operator_name(operator_equal(get_atttype(source, get_attnum(source, place)))));
}

/* Nodes that rows are distributed to. */
static double
nodes(const WorkingTables *tables)
{
	return working_number(tables,
						  "SELECT pg_catalog.count(*)::pg_catalog.float8 FROM pg_catalog.pg_dist_node "
						  "WHERE isactive AND shouldhaveshards AND noderole {=} 'primary'");
}

/*
 * An id that two rows have would give a pair twice.  Ids of one server are looked at;
 * those of many would all have to travel.  Of a composite type a value with a field
 * that is null is not NOT NULL; but it is distinct from null.
 */
static void
require_unique_ids(const WorkingTables *tables, Oid source)
{
	if (working_run(tables,
					"SELECT {id} FROM {source} WHERE {id} IS DISTINCT FROM NULL AND {sig} IS NOT NULL "
					"GROUP BY 1 HAVING pg_catalog.count(*) {>} 1 ORDER BY 1 LIMIT 1") > 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNIQUE_VIOLATION),
				 errmsg("ids are not unique"),
				 errdetail("Several rows of \"%s\" have %s = %s.",
						   get_rel_name(source), working_statement(tables, "{id}"),
						   SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1)),
				 errhint("Take a column that has another value in each row.")));
}

/* One server: one join. */
static void
pairs_by_join(WorkingTables *tables)
{
	working_result(tables,
				   "SELECT a.id AS a, b.id AS b, {similarity} AS similarity "
				   "FROM (SELECT {id} AS id, {sig} AS sig FROM {source}) a "
				   "JOIN (SELECT {id} AS id, {sig} AS sig FROM {source}) b ON {is_near} AND a.id {less id} b.id");
}

/*
 * Of each row its id, and two hashes of its signature: the second one tells
 * whether signatures that differ have the first one in common.  If so, other
 * seeds are tried.  Rows without values are near to none, not to their equals
 * either; a sample may have none of many features.  The number of rows.
 */
static uint64
make_rows(WorkingTables *tables)
{
	for (int seed = 0; seed < MAX_SEEDS; seed++)
	{
		WorkingTables attempt = *tables;
		uint64		n;

		n = working_table(&attempt, "rows", "set", NULL, "set",
						  psprintf("SELECT {neardup}.signature_hash_extended({sig}, %d::pg_catalog.int8) AS set, "
								   "{neardup}.signature_hash_extended({sig}, %d::pg_catalog.int8) AS proof, "
								   "{id} AS id{source_place} FROM {source} "
								   "WHERE {neardup}.similarity({sig}, {sig}) {>} 0 AND {id} IS DISTINCT FROM NULL",
								   2 * seed, 2 * seed + 1));
		if (working_number(&attempt,
						   "SELECT pg_catalog.count(*)::pg_catalog.float8 FROM ("
						   "SELECT set FROM {rows} GROUP BY set "
						   "HAVING pg_catalog.min(proof) {<>} pg_catalog.max(proof)) c") == 0)
		{
			*tables = attempt;
			working_term(tables, "seed", psprintf("%d::pg_catalog.int8", 2 * seed));
			return n;
		}
		working_end(&attempt);
	}
	ereport(ERROR,
			(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
			 errmsg("hashes of different signatures are equal"),
			 errdetail("They were with each of %d seeds.", MAX_SEEDS),
			 errhint("Signatures that were made for that purpose are among them; join the table with itself instead.")));
}

/* The column that rows of the source are distributed by, unless that is the id. */
static void
set_place(WorkingTables *tables)
{
	const char *place = tables->place;
	bool		other = place != NULL &&
		strcmp(place, working_statement(tables, "{id}")) != 0;

	working_term(tables, "source_place",
				 other ? psprintf(", %s AS place", place) : "");
	working_term(tables, "by_place", other ? ", place" : "");
	working_term(tables, "at_place",
				 other ? psprintf("s.%s %s f.place AND ", place,
								  working_statement(tables, "{same place}")) : "");
	working_term(tables, "first_place", other ? "place" : "id");
}

/* The empty result, and the spots where it will be made of near sets. */
static void
make_spots(WorkingTables *tables, uint64 rows)
{
	working_empty_result(tables,
						 "SELECT {id} AS a, {id} AS b, 0::pg_catalog.float8 AS similarity FROM {source}");
	working_empty(tables, "near", "place", NULL,
				  tables->place == NULL ? 1 : spots_wanted((double) rows, nodes(tables)),
				  "SELECT 0 AS place, 0::pg_catalog.int8 AS a, 0::pg_catalog.int8 AS b, "
				  "0::pg_catalog.float8 AS similarity");
	spots_find(tables);
}

/*
 * Equal signatures become one set, of which the first row has the signature.  The
 * number of sets.
 */
static uint64
collapse(WorkingTables *tables)
{
	uint64		n;

	set_place(tables);
	make_spots(tables, make_rows(tables));
	n = working_table(tables, "firsts",
					  working_statement(tables, "{first_place}"), "source",
					  working_statement(tables, "{first_place}"),
					  "SELECT f.* FROM (SELECT DISTINCT ON (set) id{by_place}, set, "
					  "pg_catalog.count(*) OVER (PARTITION BY set) {>} 1 AS many, "
					  "pg_catalog.bit_or(1::pg_catalog.int8 {<<} {spot}) OVER (PARTITION BY set) AS spots "
					  "FROM {rows} ORDER BY set, id{by_place}) f");
	working_term(tables, "signed",
				 working_statement(tables,
								   "(SELECT f.set, f.many, f.spots, s.{sig} AS sig FROM {firsts} f JOIN {source} s "
								   "ON {at_place}s.{id} {same id} f.id)"));
	return n;
}

/* Each statement reads what is there when it begins; so a row may be another by now. */
static void
refuse_changed(const WorkingTables *tables, double found, uint64 expected)
{
	ereport(ERROR,
			(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
			 errmsg("rows of %s were changed while their pairs were looked for",
					tables->source),
			 errdetail("Of %llu sets that were read first %.0f were there again.",
					   (unsigned long long) expected, found),
			 errhint("Call neardup_pairs() once more, or in a transaction of isolation level REPEATABLE READ.")));
}

/* Sets were found by ids: there must be one row for each. */
static void
require_found_once(const WorkingTables *tables, double found, uint64 expected)
{
	if (found < (double) expected)
		refuse_changed(tables, found, expected);
	if (found > (double) expected)
		ereport(ERROR,
				(errcode(ERRCODE_UNIQUE_VIOLATION),
				 errmsg("ids are not unique"),
				 errdetail("%llu sets were looked up by id, and %.0f found.",
						   (unsigned long long) expected, found),
				 errhint("Take a column that has another value in each row.")));
}

/*
 * Sets must have the signature that all their rows had.  The condition is true of
 * one copy of each.
 */
static void
require_same_sets(const WorkingTables *tables, const char *one, uint64 expected)
{
	double		found = working_number(tables,
									   psprintf("SELECT pg_catalog.count(*)::pg_catalog.float8 FROM {sets} s WHERE %s "
												"AND {neardup}.signature_hash_extended(s.sig, {seed}) {=} s.set", one));

	if (found != (double) expected)
		refuse_changed(tables, found, expected);
}

/* The first row's value, or what there is without one. */
static char *
first_value(int column, char *without)
{
	char	   *value = SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc,
									 column);

	return value != NULL ? value : without;
}

/*
 * Spreads the classes over the spots, each as many of them, one after the other,
 * as have its share of the features.  {starts} has the first class of each
 * stretch, and {stretches} its spot.
 */
static Classes
find_classes(WorkingTables *tables)
{
	Classes		classes;
	char	   *starts;
	char	   *stretches;

	working_run(tables,
				"SELECT pg_catalog.max(c.sets)::pg_catalog.float8 {/} pg_catalog.sum(c.sets)::pg_catalog.float8, "
				"pg_catalog.sum(c.sets), "
				"pg_catalog.array_agg(c.class ORDER BY c.class) FILTER (WHERE c.spot {<>} c.before), "
				"pg_catalog.array_agg(c.spot ORDER BY c.class) FILTER (WHERE c.spot {<>} c.before) FROM ("
				"SELECT p.*, pg_catalog.lag(p.spot, 1, -1) OVER (ORDER BY p.class) AS before FROM ("
				"SELECT h.class, h.sets, pg_catalog.floor({nspots} {*} "
				"(pg_catalog.sum(h.features) OVER (ORDER BY h.class) {-} (h.features {/} 2.0)) "
				"{/} pg_catalog.sum(h.features) OVER ())::pg_catalog.int4 AS spot FROM ("
				"SELECT ({neardup}.size_classes(s.sig, {bounds}))[1] AS class, pg_catalog.count(*) AS sets, "
				"pg_catalog.sum({neardup}.nfeatures(s.sig)) AS features FROM {signed} s GROUP BY 1) h) p) c");
	classes.largest = atof(first_value(1, "0"));
	classes.sets = atof(first_value(2, "0"));
	starts = first_value(3, "{}");
	stretches = first_value(4, "{}");
	working_term(tables, "starts", psprintf("'%s'::pg_catalog.int8[]", starts));
	working_term(tables, "stretches",
				 psprintf("'%s'::pg_catalog.int4[]", stretches));
	return classes;
}

/*
 * Fills in pairs of sets that are near, each at the spots that have rows of either
 * set.
 */
static void
fill_near(WorkingTables *tables, const char *pairs)
{
	working_fill(tables, "near", "a, b",
				 psprintf("SELECT ({spots})[s.spot {+} 1] AS place, n.a, n.b, n.similarity FROM (%s) n, "
						  "pg_catalog.generate_series(0, {nspots} {-} 1) s (spot) "
						  "WHERE (((n.a_spots {|} n.b_spots) {>>} s.spot) {&} 1::pg_catalog.int8) {=} 1", pairs));
}

/*
 * Pairs of sets that are near, by their sizes: each once, at the spot of the
 * greater class of the two.  A set with many rows is near to itself, unless that
 * goes without saying.
 */
static void
near_by_classes(WorkingTables *tables, uint64 nsets, bool same)
{
	working_table(tables, "sets", "place", "near", "place",
				  "SELECT ({spots})[({stretches})[c.stretch] {+} 1] AS place, c.stretch {=} q.own AS home, "
				  "q.set, q.many, q.spots, q.sig FROM ("
				  "SELECT g.*, pg_catalog.width_bucket(g.classes[1], {starts}) AS own, "
				  "pg_catalog.width_bucket(g.classes[2], {starts}) AS next FROM ("
				  "SELECT s.*, {neardup}.size_classes(s.sig, {bounds}) AS classes FROM {signed} s) g) q, "
				  "pg_catalog.generate_series(q.own, q.next) c (stretch)");
	require_same_sets(tables, "s.home", nsets);
	working_term(tables, "once",
				 working_statement(tables, same ? "a.set {<} b.set AND (a.home OR b.home)" :
								   "CASE WHEN a.set {=} b.set THEN a.home AND a.many ELSE a.set {<} b.set AND (a.home OR b.home) END"));
	fill_near(tables,
			  "SELECT a.set AS a, b.set AS b, a.spots AS a_spots, b.spots AS b_spots, {similarity} AS similarity "
			  "FROM {sets} a JOIN {sets} b ON a.place {=} b.place AND {is_near} AND {once}");
}

/* Likewise, by rare features that they have in common. */
static void
near_by_keys(WorkingTables *tables, uint64 nsets, bool counted, bool same)
{
	uint64		n = working_table(tables, "sets", "set", NULL, "set",
								  "SELECT * FROM {signed} s");

	require_found_once(tables, (double) n, nsets);
	require_same_sets(tables, "true", nsets);
	working_term(tables, "counts", counted ?
				 working_statement(tables, ", (SELECT {neardup}.feature_counts(sig) FROM {sets})") :
				 "");
	working_table(tables, "keys", "key", NULL, "key",
				  "SELECT k.key, s.set FROM {sets} s, "
				  "pg_catalog.unnest({neardup}.candidate_keys(s.sig, {bounds}{counts})) k (key)");
	working_table(tables, "candidates", "a", NULL, "a, b",
				  "SELECT DISTINCT a.set AS a, b.set AS b FROM {keys} a "
				  "JOIN {keys} b ON a.key {=} b.key AND a.set {<} b.set");
	working_term(tables, "themselves", same ? "" :
				 working_statement(tables, " UNION ALL SELECT set, set, spots, sig FROM {sets} WHERE many"));
	working_table(tables, "sent", "b", NULL, "b",
				  "SELECT c.b, c.a, s.spots, s.sig FROM (SELECT DISTINCT a, b FROM {candidates}) c "
				  "JOIN {sets} s ON s.set {=} c.a{themselves}");
	fill_near(tables,
			  "SELECT a.a, a.b, a.spots AS a_spots, b.spots AS b_spots, {similarity} AS similarity FROM {sent} a "
			  "JOIN {sets} b ON b.set {=} a.b WHERE {is_near} IS TRUE");
}

/*
 * Pairs of sets become pairs of rows.  A spot has been given all pairs with sets
 * that it has rows of; it asks for the rows of these sets, and is given those of
 * sets with many rows anyway.  Of each pair of rows the lesser is the spot's own.
 */
static void
multiply_out(WorkingTables *tables, bool same)
{
	working_table(tables, "asked", "set", "rows", "set",
				  "SELECT q.set, pg_catalog.array_position({spots}, q.place) {-} 1 AS spot FROM ("
				  "SELECT DISTINCT v.set, n.place FROM {near} n, LATERAL (VALUES (n.a), (n.b)) v (set)) q");
	working_table(tables, "members", "place", "near", "set",
				  "SELECT ({spots})[s.spot {+} 1] AS place, r.set, r.spot {=} s.spot AS here, r.id "
				  "FROM (SELECT set, id, {spot} AS spot FROM {rows}) r JOIN ("
				  "SELECT u.set, pg_catalog.bit_or(u.spots) AS spots FROM ("
				  "SELECT set, CASE WHEN pg_catalog.count(*) {>} 1 THEN pg_catalog.bit_or(1::pg_catalog.int8 {<<} {spot}) ELSE 0 END AS spots "
				  "FROM {rows} GROUP BY set UNION ALL "
				  "SELECT set, 1::pg_catalog.int8 {<<} spot FROM {asked}) u GROUP BY u.set) w ON w.set {=} r.set "
				  "JOIN pg_catalog.generate_series(0, {nspots} {-} 1) s (spot) ON ((w.spots {>>} s.spot) {&} 1::pg_catalog.int8) {=} 1");
	working_term(tables, "equal", same ?
				 working_statement(tables, " UNION ALL SELECT DISTINCT place, set, set AS b, 1::pg_catalog.float8 FROM {members}") :
				 "");
	working_fill(tables, "result", "a, b, similarity",
				 "SELECT x.id AS a, y.id AS b, n.similarity FROM ("
				 "SELECT place, a, b, similarity FROM {near} UNION ALL "
				 "SELECT place, b, a, similarity FROM {near} WHERE a {<>} b{equal}) n "
				 "JOIN {members} x ON x.place {=} n.place AND x.set {=} n.a AND x.here "
				 "JOIN {members} y ON y.place {=} n.place AND y.set {=} n.b AND x.id {less id} y.id");
}

/* True if the first signature is a set, whose size and features tell something. */
static bool
is_of_sets(const WorkingTables *tables)
{
	bool		isnull;

	if (working_run(tables, "SELECT s.sig FROM {signed} s LIMIT 1") == 0)
		return true;
	return !spec_has_keys(&DatumGetSignature(SPI_getbinval(SPI_tuptable->vals[0],
															 SPI_tuptable->tupdesc, 1,
															 &isnull))->spec);
}

/* Finds the pairs by a design; the one that was taken. */
static Design
find_pairs(WorkingTables *tables, Design design, Measure measure)
{
	uint64		nsets;
	bool		sets;
	bool		same;

	if (design == DESIGN_AUTO && tables->place == NULL)
		design = DESIGN_JOIN;
	if (design == DESIGN_JOIN)
	{
		pairs_by_join(tables);
		return design;
	}
	nsets = collapse(tables);
	sets = is_of_sets(tables);
	/* then the similarity of equal signatures is 1 */
	same = sets && measure != MEASURE_SHARED;
	if (design == DESIGN_CLASSES || (design == DESIGN_AUTO && sets))
	{
		Classes		classes = find_classes(tables);

		require_found_once(tables, classes.sets, nsets);
		if (design == DESIGN_AUTO)
			design = classes.largest * nodes(tables) > 1 ? DESIGN_KEYS :
				DESIGN_CLASSES;
	}
	else
		design = DESIGN_KEYS;
	if (design == DESIGN_CLASSES)
		near_by_classes(tables, nsets, same);
	else
		near_by_keys(tables, nsets, sets, same);
	multiply_out(tables, same);
	return design;
}

/* The terms of all statements. */
static void
set_terms(FunctionCallInfo fcinfo, WorkingTables *tables)
{
	Oid			source = PG_GETARG_OID(ARGUMENT_SOURCE);
	Oid			schema = get_func_namespace(fcinfo->flinfo->fn_oid);
	double		threshold = PG_GETARG_FLOAT8(ARGUMENT_THRESHOLD);
	Measure		measure = measure_require(PG_GETARG_TEXT_PP(ARGUMENT_MEASURE));

	threshold_require_valid(threshold, measure);
	require_symmetric(measure);
	tables->source = table_name(source);
	working_term(tables, "neardup",
				 pstrdup(quote_identifier(get_namespace_name(schema))));
	working_term(tables, "source", unconstify(char *, tables->source));
	set_ids(tables, source, NameStr(*PG_GETARG_NAME(ARGUMENT_ID)));
	working_term(tables, "sig",
				 source_signatures(source,
								   NameStr(*PG_GETARG_NAME(ARGUMENT_SIG)), schema));
	set_condition(tables, threshold, measure);
	set_result(tables, text_to_cstring(PG_GETARG_TEXT_PP(ARGUMENT_RESULT)));
}

/*
 * neardup_pairs(source regclass, id name, sig name, threshold float8,
 * result text, measure text, INOUT design text)
 */
Datum
neardup_pairs(PG_FUNCTION_ARGS)
{
	WorkingTables tables = {0};
	TupleDesc	desc = call_row_type(fcinfo);
	bool		isnull = false;
	Design		design;
	Datum		value;

	require_arguments(fcinfo);
	design = design_require(text_to_cstring(PG_GETARG_TEXT_PP(ARGUMENT_DESIGN)));
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	set_terms(fcinfo, &tables);
	find_place(&tables, PG_GETARG_OID(ARGUMENT_SOURCE));
	if (tables.place == NULL)
		require_unique_ids(&tables, PG_GETARG_OID(ARGUMENT_SOURCE));
	design = find_pairs(&tables, design,
						measure_require(PG_GETARG_TEXT_PP(ARGUMENT_MEASURE)));
	working_end(&tables);
	if (SPI_finish() != SPI_OK_FINISH)
		elog(ERROR, "SPI_finish failed");
	value = CStringGetTextDatum(design_names[design]);
	PG_RETURN_DATUM(call_row(desc, 1, &value, &isnull));
}
