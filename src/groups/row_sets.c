/*
 * row_sets.c
 *		The rows of a query, and their sets.
 *
 * The rows come in a total order, so that the number of a row tells how it
 * ranks.  Their sets are grouped, each known by its first row, and rows with one
 * set go where its first row goes: no pair of rows is ever made.
 *
 * Further columns of the query are a scope: rows are compared where they agree in
 * these.  That is told by 64 bits of hash, which begin with a random number, so that
 * nobody can make values that are taken for each other.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/nodes.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

#include "base/compat.h"
#include "base/hash.h"
#include "base/interrupts.h"
#include "groups/row_sets.h"
#include "signature/sql/near.h"
#include "methods/method.h"

/* Parts of the memory while sets are grouped, in eighths. */
#define SETS_EIGHTHS	5
#define IDS_EIGHTHS		1

#define QUERY_HINT \
	"The query's columns are the id of a row and its signature, as in SELECT id, sig FROM docs, then columns that can be hashed, if rows are to be compared within these."
#define ID_HINT \
	"Give the type of the ids as the first argument, as in near_duplicate_groups(NULL::uuid, 'SELECT ...', ...)."

/* Scopes */

/* Makes ready to read a column of the scope. */
static ScopeColumn
scope_column(TupleDesc desc, AttrNumber attno)
{
	Form_pg_attribute att = TupleDescAttr(desc, attno - 1);
	TypeCacheEntry *type = lookup_type_cache(att->atttypid,
											 TYPECACHE_HASH_EXTENDED_PROC);
	ScopeColumn column = {.att = palloc(ATTRIBUTE_FIXED_PART_SIZE)};

	if (!OidIsValid(type->hash_extended_proc))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FUNCTION),
				 errmsg("column %d of the query is of type %s, which cannot be hashed",
						attno, format_type_be(att->atttypid)),
				 errdetail("Rows are compared where they are equal in all columns behind the signature."),
				 errhint(QUERY_HINT)));
	memcpy(column.att, att, ATTRIBUTE_FIXED_PART_SIZE);
	fmgr_info(type->hash_extended_proc, &column.hash);
	return column;
}

static void
begin_scope(RowSets *rows, TupleDesc desc)
{
	if (desc->natts <= 2)
		return;
	if (!pg_strong_random(&rows->secret, sizeof(rows->secret)))
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("could not generate random values")));
	rows->nscope = desc->natts - 2;
	rows->scope = palloc(rows->nscope * sizeof(ScopeColumn));
	for (int i = 0; i < rows->nscope; i++)
		rows->scope[i] = scope_column(desc, i + 3);
}

uint64
row_sets_scope(RowSets *rows, const Datum *values, const bool *nulls)
{
	uint64		hash = rows->secret;

	for (int i = 0; i < rows->nscope; i++)
	{
		ScopeColumn *column = &rows->scope[i];

		if (!nulls[i])
			hash ^= DatumGetUInt64(FunctionCall2Coll(&column->hash,
													 column->att->attcollation,
													 values[i],
													 UInt64GetDatum(rows->secret)));
		hash = mix64(hash + 1);
	}
	return hash;
}

/* Rows come in */

static void
begin_rows(RowTaker *taker, TupleDesc desc)
{
	RowSets *rows = (RowSets *) taker;

	/* first what tells that the id has been forgotten */
	rows->signature = typed_column(desc, 0, 2, rows->signature_type, false,
								   "the signature", QUERY_HINT);
	rows->id = typed_column(desc, 0, 1, rows->ids.type, true, "the id", ID_HINT);
	begin_scope(rows, desc);
	if (rows->begun != NULL)
		rows->begun(rows);
}

/* Raises an error if signatures of that kind cannot be kept apart. */
static void
require_kind_of_scopes(RowSets *rows, const Signature *sig)
{
	if (signature_kind(sig, rows->measure) != KIND_SETS)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("groups within columns are for sets only"),
				 errdetail_plural("The query has %d column behind the signature.",
								  "The query has %d columns behind the signature.",
								  rows->nscope, rows->nscope),
				 errhint("Make groups of one value after the other, by a condition in the query.")));
}

/*
 * Takes note of a signature's spec; raises if there was another one, unless
 * it may be of another scope.
 */
static void
note_spec(RowSets *rows, const Signature *sig)
{
	if (rows->nscope > 0)
		require_kind_of_scopes(rows, sig);
	else if (rows->made)
		spec_require_equal(&rows->spec, &sig->spec);
	if (rows->made)
		return;
	rows->kind = signature_kind(sig, rows->measure);
	set_groups_use(rows->groups, rows->kind);
	rows->spec = sig->spec;
	rows->made = true;
}

void
row_sets_join(RowSets *rows, const Signature *sig, uint64 scope)
{
	const uint64 *values = NULL;
	uint32		n = 0;
	uint32		known = set_groups_number(rows->groups);
	uint32		set;

	if (sig != NULL)
		values = rows->nscope > 0 ? signature_as_scoped_set(sig, scope, &n) :
			signature_as_set(sig, rows->kind, rows->measure, &n);
	set = set_groups_add(rows->groups, values, n);
	paged_resize(&rows->set_of, (uint64) rows->nrows + 1);
	*(uint32 *) paged_change(&rows->set_of, rows->nrows) = set;
	if (set == known)
	{
		paged_resize(&rows->first, (uint64) set + 1);
		*(uint32 *) paged_change(&rows->first, set) = rows->nrows;
	}
	rows->nrows++;
}

static void
add_row(RowTaker *taker, TupleTableSlot *slot)
{
	RowSets *rows = (RowSets *) taker;
	const Signature *sig = NULL;
	uint64		scope = 0;
	bool		isnull;
	Datum		value = typed_value(&rows->id, slot, &isnull);

	row_ids_put(&rows->ids, value, isnull);
	value = typed_value(&rows->signature, slot, &isnull);
	if (!isnull)
	{
		sig = DatumGetSignature(value);
		slot_getallattrs(slot);
		note_spec(rows, sig);
		scope = row_sets_scope(rows, slot->tts_values + 2,
							   slot->tts_isnull + 2);
	}
	if (rows->added == NULL)
		row_sets_join(rows, sig, scope);
	else if (sig != NULL)
		rows->added(rows, sig, scope, slot->tts_values + 2,
					slot->tts_isnull + 2);
}

/* Groups come out */

static uint32
first_row(RowSets *rows, uint32 set)
{
	return *(const uint32 *) paged_at(&rows->first, set);
}

/* Unites a row, the first one with its set or another one, with its representative. */
static void
unite_row(RowSets *rows, Grouping *grouping, GroupRule rule, uint32 offset,
		  uint32 row, uint32 set)
{
	SetMember	member = set_groups_member(rows->groups, set);
	bool		first = row == first_row(rows, set);
	uint32		representative = first_row(rows, member.representative);

	/* rows that are not near to equal ones stay alone, but for the first of them */
	if (!first && !member.reflexive)
		return;
	if (rule == RULE_CONNECTED && first && representative != row)
		grouping_near(grouping, offset + representative, offset + row, 0);
	else if (rule == RULE_CONNECTED && !first)
		grouping_like(grouping, offset + first_row(rows, set), offset + row, 0);
	else if (rule == RULE_GREEDY && member.outside >= 0)
		grouping_like(grouping, (uint32) member.outside, offset + row, member.similarity);
	else if (rule == RULE_GREEDY && representative != row)
		grouping_like(grouping, offset + representative, offset + row, member.similarity);
}

void
row_sets_unite(RowSets *rows, Grouping *grouping, GroupRule rule, uint32 offset)
{
	set_groups_decide(rows->groups, rule);
	for (uint32 row = 0; row < rows->nrows; row++)
	{
		uint32		set = *(const uint32 *) paged_at(&rows->set_of, row);

		CHECK_EVERY(row);
		if (set != NO_SET)
			unite_row(rows, grouping, rule, offset, row, set);
	}
	set_groups_end(rows->groups);
	paged_free(&rows->set_of);
	paged_free(&rows->first);
}

/* The rule stands behind the measure: who leaves that out has to name it. */
static void
refuse_rule(const char *name)
{
	if (strcmp(name, "greedy") == 0 || strcmp(name, "connected") == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("measure \"%s\" does not exist", name),
				 errhint("It is a rule: write rule => '%s'.", name)));
}

/* The symmetric measure of that name. */
static Measure
symmetric_measure(const text *name)
{
	Measure		measure;

	refuse_rule(text_to_cstring(name));
	measure = measure_require(name);
	if (measure_commute(measure) != measure)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("measure \"%s\" is of one signature in another",
						measure_name(measure)),
				 errdetail("Groups are of rows that are near to each other."),
				 errhint("Use \"overlap\", which is the greater of both containments.")));
	if (measure == MEASURE_SHARED)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("rows cannot be grouped by measure \"%s\"",
						measure_name(measure)),
				 errdetail("Equal signatures would not be in one group if they have too few features.")));
	return measure;
}

/* The type signature of the extension that the function belongs to. */
static Oid
signature_type(FunctionCallInfo fcinfo)
{
	Oid			schema = get_func_namespace(fcinfo->flinfo->fn_oid);
	Oid			type = GetSysCacheOid2(TYPENAMENSP, Anum_pg_type_oid,
									   CStringGetDatum("signature"),
									   ObjectIdGetDatum(schema));

	if (!OidIsValid(type))
		elog(ERROR, "type signature is not beside its function");
	return type;
}

void
row_sets_begin(RowSets *rows, FunctionCallInfo fcinfo, int first, Oid id_type)
{
	rows->taker.begin = begin_rows;
	rows->taker.row = add_row;
	rows->threshold = PG_GETARG_FLOAT8(first);
	rows->measure = symmetric_measure(PG_GETARG_TEXT_PP(first + 1));
	threshold_require_valid(rows->threshold, rows->measure);
	rows->signature_type = signature_type(fcinfo);
	rows->memory = get_hash_memory_limit();
	row_ids_begin(&rows->ids, id_type, rows->memory / 8 * IDS_EIGHTHS);
	paged_init(&rows->set_of, sizeof(uint32), rows->memory / 32);
	paged_init(&rows->first, sizeof(uint32), rows->memory / 32);
	rows->groups = set_groups_begin(rows->measure, rows->threshold,
									rows->memory / 8 * SETS_EIGHTHS);
}

void
row_sets_read(RowSets *rows, const char *query)
{
	ordered_query_run(query, 1, &rows->taker);
}
