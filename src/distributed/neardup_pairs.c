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
 *	firsts		of each set the row with the least id;
 *	sets		sets with their signatures, which travel only now;
 *	near		pairs of sets;
 *	halves		pairs of a row and a set;
 *	lists		with rows again: of each row the rows that are near to it, which
 *				travel as one array, and are the result where they arrive.
 *
 * Sets meet by their classes of sizes, or, where one class has more sets than
 * one node should, by rare features.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/distributed/neardup_pairs.c
 */
#include "postgres.h"

#include "catalog/namespace.h"
#include "catalog/pg_namespace_d.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "funcapi.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"
#include "utils/syscache.h"

#include "base/call.h"
#include "base/compat.h"
#include "distributed/working_tables.h"
#include "measures/measure_expression.h"
#include "measures/near.h"
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

typedef enum Design
{
	DESIGN_AUTO, DESIGN_JOIN, DESIGN_CLASSES, DESIGN_KEYS, DESIGNS
} Design;

static const char *const design_names[] = {
	"auto", "join", "classes", "keys"
};

/* Seeds of the two hashes of a signature. */
#define MOST_SEEDS	8

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

/* The same of a column of signatures. */
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

/* Where the result goes. */
static void
set_result(WorkingTables *tables, const char *name)
{
	char	   *schema;
	char	   *table;

	DeconstructQualifiedName(qualified_name_list(name), &schema, &table);
	tables->schema = schema == NULL ? NULL : pstrdup(quote_identifier(schema));
	tables->result = table;
}

/* The measure and the condition, of a.sig and b.sig. */
static void
set_condition(WorkingTables *tables, double threshold, Measure measure)
{
	char	   *schema = working_statement(tables, "{neardup}");

	working_term(tables, "bounds", psprintf("'%.17g'::pg_catalog.float8, '%s'",
											threshold, measure_name(measure)));
	working_term(tables, "similarity",
				 measure_expression(schema, measure, "a.sig", "b.sig"));
	working_term(tables, "is_near",
				 working_statement(tables, "{neardup}.near_duplicate(a.sig, b.sig, {bounds})"));
}

/* Finds out whether the source is distributed, and by which column. */
static void
find_place(WorkingTables *tables)
{
	bool		isnull;
	Datum		place;

	if (!OidIsValid(get_relname_relid("pg_dist_partition", PG_CATALOG_NAMESPACE)))
		return;
	if (working_run(tables, psprintf("SELECT pg_catalog.quote_ident(pg_catalog.column_to_column_name(logicalrelid, partkey)) "
									 "FROM pg_catalog.pg_dist_partition "
									 "WHERE logicalrelid = %s::pg_catalog.regclass AND partmethod = 'h'",
									 quote_literal_cstr(tables->source))) == 0)
		return;
	place = SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, &isnull);
	tables->place = text_to_cstring(DatumGetTextPP(place));
}

/* Nodes that rows are distributed to. */
static double
nodes(const WorkingTables *tables)
{
	return working_number(tables,
						  "SELECT pg_catalog.count(*)::pg_catalog.float8 FROM pg_catalog.pg_dist_node "
						  "WHERE isactive AND shouldhaveshards AND noderole = 'primary'");
}

/* One server: one join. */
static void
pairs_by_join(WorkingTables *tables)
{
	working_result(tables,
				   "SELECT a.id AS a, b.id AS b, {similarity} AS similarity "
				   "FROM (SELECT {id} AS id, {sig} AS sig FROM {source}) a "
				   "JOIN (SELECT {id} AS id, {sig} AS sig FROM {source}) b ON {is_near} AND a.id < b.id");
}

/*
 * Of each row its id, and two hashes of its signature: the second one tells
 * whether signatures that differ have the first one in common.  If so, other
 * seeds are tried.
 */
static void
make_rows(WorkingTables *tables)
{
	for (int seed = 0; seed < MOST_SEEDS; seed++)
	{
		WorkingTables attempt = *tables;

		working_table(&attempt, "rows", "set", false,
					  psprintf("SELECT {neardup}.signature_hash_extended({sig}, %d) AS set, "
							   "{neardup}.signature_hash_extended({sig}, %d) AS proof, "
							   "{id} AS id, {place} AS place FROM {source} "
							   "WHERE {neardup}.nfeatures({sig}) > 0 AND {id} IS NOT NULL",
							   2 * seed, 2 * seed + 1));
		if (working_number(&attempt,
						   "SELECT pg_catalog.count(*)::pg_catalog.float8 FROM ("
						   "SELECT set FROM {rows} GROUP BY set "
						   "HAVING pg_catalog.min(proof) <> pg_catalog.max(proof)) c") == 0)
		{
			*tables = attempt;
			return;
		}
		working_end(&attempt);
	}
	ereport(ERROR,
			(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
			 errmsg("hashes of different signatures are equal"),
			 errdetail("They were with each of %d seeds.", MOST_SEEDS),
			 errhint("Signatures that were made for that purpose are among them; join the table with itself instead.")));
}

/* Equal signatures become one set, of which the first row has the signature. */
static void
collapse(WorkingTables *tables)
{
	working_term(tables, "place",
				 tables->place != NULL ? unconstify(char *, tables->place) :
				 working_statement(tables, "{id}"));
	make_rows(tables);
	working_table(tables, "firsts", "place", true,
				  "SELECT DISTINCT ON (set) place, id, set, "
				  "pg_catalog.count(*) OVER (PARTITION BY set) > 1 AS many "
				  "FROM {rows} ORDER BY set, id, place");
	working_term(tables, "signed",
				 working_statement(tables,
								   "(SELECT f.set, f.many, s.{sig} AS sig FROM {firsts} f JOIN {source} s "
								   "ON s.{place} = f.place AND s.{id} = f.id)"));
}

/* Sets were found by ids: there must be one row for each. */
static void
require_unique_ids(uint64 found, double expected)
{
	if ((double) found != expected)
		ereport(ERROR,
				(errcode(ERRCODE_UNIQUE_VIOLATION),
				 errmsg("ids are not unique"),
				 errdetail("%.0f sets were looked up by id, and %llu found.",
						   expected, (unsigned long long) found),
				 errhint("Take a column that has another value in each row.")));
}

static double
count_firsts(const WorkingTables *tables)
{
	return working_number(tables,
						  "SELECT pg_catalog.count(*)::pg_catalog.float8 FROM {firsts}");
}

/* Pairs of sets that are near, by their sizes: each once. */
static void
near_by_classes(WorkingTables *tables)
{
	uint64		n;

	n = working_table(tables, "sets", "class", false,
					  "SELECT c.class, q.own, q.set, q.many, q.sig FROM ("
					  "SELECT g.*, g.classes[1] AS own FROM ("
					  "SELECT s.*, {neardup}.size_classes(s.sig, {bounds}) AS classes FROM {signed} s) g) q, "
					  "pg_catalog.unnest(q.classes) c (class)");
	require_unique_ids(n, 2 * count_firsts(tables));
	working_table(tables, "near", "a", false,
				  "SELECT a.set AS a, b.set AS b, {similarity} AS similarity "
				  "FROM {sets} a JOIN {sets} b ON a.class = b.class AND {is_near} AND a.set < b.set "
				  "AND a.class = GREATEST(a.own, b.own) UNION ALL "
				  "SELECT a.set, b.set, {similarity} FROM {sets} a JOIN {sets} b "
				  "ON a.set = b.set AND a.class = b.class AND a.class = a.own AND a.many AND b.many "
				  "WHERE {is_near} IS TRUE");
}

/* Likewise, by rare features that they have in common. */
static void
near_by_keys(WorkingTables *tables, bool counted)
{
	uint64		n = working_table(tables, "sets", "set", false, "SELECT * FROM {signed} s");

	require_unique_ids(n, count_firsts(tables));
	working_term(tables, "counts", counted ?
				 working_statement(tables, ", (SELECT {neardup}.feature_counts(sig) FROM {sets})") :
				 "");
	working_table(tables, "keys", "key", false,
				  "SELECT k.key, s.set FROM {sets} s, "
				  "pg_catalog.unnest({neardup}.candidate_keys(s.sig, {bounds}{counts})) k (key)");
	working_table(tables, "candidates", "a", false,
				  "SELECT DISTINCT a.set AS a, b.set AS b FROM {keys} a "
				  "JOIN {keys} b ON a.key = b.key AND a.set < b.set");
	working_table(tables, "sent", "b", false,
				  "SELECT c.b, c.a, s.sig FROM (SELECT DISTINCT a, b FROM {candidates}) c "
				  "JOIN {sets} s ON s.set = c.a UNION ALL "
				  "SELECT set, set, sig FROM {sets} WHERE many");
	working_table(tables, "near", "a", false,
				  "SELECT a.a, a.b, {similarity} AS similarity FROM {sent} a "
				  "JOIN {sets} b ON b.set = a.b WHERE {is_near} IS TRUE");
}

/*
 * Pairs of sets become pairs of rows, which travel as lists if there are arrays
 * of ids.
 */
static void
multiply_out(WorkingTables *tables, bool lists)
{
	working_table(tables, "halves", "set", false,
				  "SELECT n.b AS set, n.a = n.b AS same, r.id, n.similarity "
				  "FROM {near} n JOIN {rows} r ON r.set = n.a");
	working_term(tables, "pairs",
				 working_statement(tables,
								   "(SELECT LEAST(h.id, r.id) AS a, GREATEST(h.id, r.id) AS b, h.similarity, h.set "
								   "FROM {halves} h JOIN {rows} r ON r.set = h.set "
								   "AND CASE WHEN h.same THEN h.id < r.id ELSE h.id <> r.id END)"));
	if (lists && tables->place != NULL)
	{
		working_table(tables, "lists", "a", false,
					  "SELECT p.a, pg_catalog.array_agg(p.b) AS list, p.similarity "
					  "FROM {pairs} p GROUP BY p.set, p.a, p.similarity");
		working_result(tables,
					   "SELECT l.a, u.b, l.similarity FROM {lists} l, pg_catalog.unnest(l.list) u (b)");
	}
	else
		working_result(tables, "SELECT p.a, p.b, p.similarity FROM {pairs} p");
}

/* True if one class of sizes is more than a node's share of the sets. */
static bool
is_skewed(const WorkingTables *tables)
{
	return working_number(tables,
						  "SELECT pg_catalog.max(n)::pg_catalog.float8 / pg_catalog.sum(n)::pg_catalog.float8 FROM ("
						  "SELECT pg_catalog.count(*) AS n FROM {signed} s "
						  "GROUP BY ({neardup}.size_classes(s.sig, {bounds}))[1]) c") * nodes(tables) > 1;
}

/* True if the first signature is a set, whose size and features tell something. */
static bool
is_of_sets(const WorkingTables *tables)
{
	bool		isnull;

	if (working_run(tables, "SELECT s.sig FROM {signed} s LIMIT 1") == 0)
		return true;
	return !making_has_keys(&DatumGetSignature(SPI_getbinval(SPI_tuptable->vals[0],
															 SPI_tuptable->tupdesc, 1,
															 &isnull))->making);
}

/* True if there are arrays of such ids, of one dimension. */
static bool
ids_have_arrays(Oid source, const char *name)
{
	Oid			type = getBaseType(get_atttype(source, get_attnum(source, name)));

	return OidIsValid(get_array_type(type)) && !OidIsValid(get_element_type(type));
}

/* Finds the pairs by a design; the one that was taken. */
static Design
find_pairs(WorkingTables *tables, Design design, bool lists)
{
	bool		sets;

	if (design == DESIGN_AUTO && tables->place == NULL)
		design = DESIGN_JOIN;
	if (design == DESIGN_JOIN)
	{
		pairs_by_join(tables);
		return design;
	}
	collapse(tables);
	sets = is_of_sets(tables);
	if (design == DESIGN_AUTO)
		design = sets && !is_skewed(tables) ? DESIGN_CLASSES : DESIGN_KEYS;
	if (design == DESIGN_CLASSES)
		near_by_classes(tables);
	else
		near_by_keys(tables, sets);
	multiply_out(tables, lists);
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
	working_term(tables, "id",
				 source_column(source, NameStr(*PG_GETARG_NAME(ARGUMENT_ID))));
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
	find_place(&tables);
	design = find_pairs(&tables, design,
						ids_have_arrays(PG_GETARG_OID(ARGUMENT_SOURCE),
										NameStr(*PG_GETARG_NAME(ARGUMENT_ID))));
	working_end(&tables);
	if (SPI_finish() != SPI_OK_FINISH)
		elog(ERROR, "SPI_finish failed");
	value = CStringGetTextDatum(design_names[design]);
	PG_RETURN_DATUM(call_row(desc, &value, &isnull));
}
