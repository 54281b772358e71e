/*
 * row_sets.c
 *		The rows of a query, and groups of their sets.
 *
 * Rows come in a total order and are numbered in it.  Rows with one set belong where the
 * set does: no pair of rows is ever made.
 *
 * Further columns of the query are a scope: rows are compared where they agree in these.
 * Features are hashed together with 64 bits of hash of the scope, seeded with a random
 * number, so that nobody can construct scopes that are taken for each other.
 * Sets of another spec than the first one are kept apart in the same way; sketches and
 * vectors of each spec have groups of their own.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "nodes/nodes.h"
#include "utils/builtins.h"
#include "utils/float.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

#include "base/compat.h"
#include "base/memory.h"
#include "groups/row_sets.h"
#include "signature/sql/near.h"
#include "methods/method.h"

/* Parts of the memory, in sixteenths. */
#define SETS_SHARE	11
#define IDS_SHARE	2

#define QUERY_HINT \
	"The query's columns are the id of a row and its signature, as in SELECT id, sig FROM docs, then columns that can be hashed, if rows are to be compared within these."
#define ID_HINT \
	"Give the type of the ids as the first argument, as in near_duplicate_groups(NULL::uuid, 'SELECT ...', ...)."

/* Scopes */

/* Prepare to hash the columns behind the signature. */
static void
begin_scope(RowSets *rows, TupleDesc desc)
{
	rows->nscope = desc->natts - 2;
	if (rows->nscope == 0)
		return;
	rows->scope = CreateTemplateTupleDesc(rows->nscope);
	for (int i = 0; i < rows->nscope; i++)
	{
		Oid			type = TupleDescAttr(desc, i + 2)->atttypid;

		if (!OidIsValid(lookup_type_cache(type, TYPECACHE_HASH_EXTENDED_PROC)->hash_extended_proc))
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_FUNCTION),
					 errmsg("column %d of the query is of type %s, which cannot be hashed",
							i + 3, format_type_be(type)),
					 errdetail("Rows are compared where they are equal in all columns behind the signature."),
					 errhint(QUERY_HINT)));
		TupleDescCopyEntry(rows->scope, i + 1, desc, i + 3);
	}
	TupleDescFinalize(rows->scope);
	BlessTupleDesc(rows->scope);
	fmgr_info(F_HASH_RECORD_EXTENDED, &rows->hash_scope);
	if (!pg_strong_random(&rows->secret, sizeof(rows->secret)))
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("could not generate random values")));
}

/* Return a number that rows have in common that agree in the columns of the scope. */
static uint64
hash_scope(RowSets *rows, const Datum *values, const bool *nulls)
{
	HeapTuple	scope;

	if (rows->nscope == 0)
		return 0;
	scope = heap_form_tuple(rows->scope, unconstify(Datum *, values), unconstify(bool *, nulls));
	return DatumGetUInt64(FunctionCall2(&rows->hash_scope, HeapTupleGetDatum(scope),
										UInt64GetDatum(rows->secret)));
}

/* Rows */

void
row_sets_columns(RowSets *rows, TupleDesc desc)
{
	/*
	 * the error for a missing signature comes first: the id may be what is
	 * missing
	 */
	rows->signature = typed_column(desc, 2, rows->signature_type, false,
								   "the signature", QUERY_HINT);
	rows->id = typed_column(desc, 1, rows->ids.type, true, "the id", ID_HINT);
	begin_scope(rows, desc);
	rows->desc = CreateTemplateTupleDesc(desc->natts);
	TupleDescInitEntry(rows->desc, 1, "id", rows->ids.type, -1, 0);
	TupleDescInitEntry(rows->desc, 2, NULL, rows->signature_type, -1, 0);
	for (int i = 3; i <= desc->natts; i++)
		TupleDescCopyEntry(rows->desc, i, desc, i);
	TupleDescFinalize(rows->desc);
	rows->values = palloc(desc->natts * sizeof(Datum));
	rows->nulls = palloc(desc->natts * sizeof(bool));
}

void
row_sets_read(RowSets *rows, TupleTableSlot *slot)
{
	rows->values[0] = typed_value(&rows->id, slot, &rows->nulls[0]);
	rows->values[1] = typed_value(&rows->signature, slot, &rows->nulls[1]);
	slot_getallattrs(slot);
	memcpy(rows->values + 2, slot->tts_values + 2, rows->nscope * sizeof(Datum));
	memcpy(rows->nulls + 2, slot->tts_isnull + 2, rows->nscope * sizeof(bool));
}

/* Raise an error if signatures of that kind cannot be kept apart by scopes. */
static void
require_kind_of_scopes(const RowSets *rows, SignatureKind kind)
{
	if (rows->nscope > 0 && kind != KIND_SETS)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("groups within columns are for sets only"),
				 errdetail_plural("The query has %d column behind the signature.",
								  "The query has %d columns behind the signature.",
								  rows->nscope, rows->nscope),
				 errhint("Make groups of one value after the other, by a condition in the query.")));
}

/* Return the number of the groups for signatures of a spec, which may begin. */
static int
groups_of_spec(RowSets *rows, const SignatureSpec *spec, SignatureKind kind)
{
	MemoryContext old = MemoryContextSwitchTo(rows->context);
	int			i = 0;

	/* sets of all specs have common groups, and salted features */
	while (i < rows->ngroups && (rows->groups[i].kind != kind ||
								 (kind != KIND_SETS && !spec_equal(&rows->groups[i].spec, spec))))
		i++;
	if (i == rows->ngroups)
	{
		require_kind_of_scopes(rows, kind);
		rows->groups = growing_reserve(rows->groups, &rows->max_groups, i + 1,
									   sizeof(SpecGroups));
		rows->groups[i].spec = *spec;
		rows->groups[i].kind = kind;
		/* further ones are rare, and have little memory */
		rows->groups[i].groups = set_groups_begin(kind, rows->measure, rows->threshold,
												  rows->memory / 16 * (i == 0 ? SETS_SHARE : 1));
		rows->ngroups++;
	}
	MemoryContextSwitchTo(old);
	return i;
}

/* Note a signature's spec; warn if it is not that of the first one. */
static void
note_spec(RowSets *rows, const Signature *sig)
{
	if (rows->ngroups > 0 && likely(spec_equal(&rows->last, &sig->spec)))
		return;
	rows->kind = signature_kind(sig, rows->measure);
	rows->current = groups_of_spec(rows, &sig->spec, rows->kind);
	rows->last = sig->spec;
	rows->salted = rows->nscope > 0 ||
		!spec_equal(&rows->groups[0].spec, &sig->spec);
	/* with scopes, each of them may have its spec */
	if (rows->salted && rows->nscope == 0)
		spec_warn_different(&rows->groups[0].spec, &sig->spec);
}

/* Add the set of the last row, which has that signature and scope; return its number. */
static SetNumber
add_set(RowSets *rows, const Signature *sig, const Datum *scope, const bool *nulls)
{
	const uint64 *values;
	uint32		n;

	note_spec(rows, sig);
	values = rows->salted && rows->kind == KIND_SETS ?
		signature_as_scoped_set(sig, hash_scope(rows, scope, nulls), &n) :
		signature_as_set(sig, rows->kind, rows->measure, &n);
	if (n == 0)
		return NO_SET;
	Assert(rows->current < rows->ngroups && rows->ids.n > 0);
	return (SetNumber) rows->current << 32 |
		set_groups_add(rows->groups[rows->current].groups, values, n, rows->ids.n - 1);
}

SetNumber
row_sets_add(RowSets *rows, const Datum *values, const bool *nulls)
{
	SetNumber	set = NO_SET;

	row_ids_put(&rows->ids, values[0], nulls[0]);
	if (!nulls[1])
		set = add_set(rows, DatumGetSignature(values[1]), values + 2, nulls + 2);
	disk_array_append(&rows->sets, &set, 1);
	return set;
}

/* Groups */

static SetGroups *
groups_of(const RowSets *rows, SetNumber set)
{
	Assert(set >> 32 < rows->ngroups);
	return rows->groups[set >> 32].groups;
}

void
row_sets_give(RowSets *rows, SetNumber set, bool represents, double similarity)
{
	if (set != NO_SET)
		set_groups_give(groups_of(rows, set), (uint32) set, represents, similarity);
}

void
row_sets_unite(RowSets *rows, SetNumber a, SetNumber b)
{
	if (a != NO_SET && b != NO_SET && a >> 32 == b >> 32)
		set_groups_unite(groups_of(rows, a), (uint32) a, (uint32) b);
}

void
row_sets_decide(RowSets *rows, GroupRule rule)
{
	for (int i = 0; i < rows->ngroups; i++)
		set_groups_decide(rows->groups[i].groups, rule);
}

GroupMember
row_sets_member(void *context, uint32 row)
{
	RowSets    *rows = context;
	SetNumber	set = *(SetNumber *) disk_array_at(&rows->sets, row, false);
	GroupMember member = {row, get_float8_nan()};

	Assert(rows->sets.n == rows->ids.n);
	return set == NO_SET ? member : set_groups_member(groups_of(rows, set), (uint32) set, row);
}

bool
row_sets_forgot(const RowSets *rows)
{
	bool		forgot = false;

	for (int i = 0; i < rows->ngroups; i++)
		forgot |= set_groups_forgot(rows->groups[i].groups);
	return forgot;
}

static void
begin_arrays(RowSets *rows, Oid id_type)
{
	row_ids_begin(&rows->ids, id_type, rows->memory / 16 * IDS_SHARE);
	disk_array_begin(&rows->sets, sizeof(SetNumber), rows->memory / 16);
}

void
row_sets_end(RowSets *rows)
{
	for (int i = 0; i < rows->ngroups; i++)
		set_groups_end(rows->groups[i].groups);
	rows->ngroups = 0;
	disk_array_free(&rows->sets);
	row_ids_end(&rows->ids);
}

void
row_sets_clear(RowSets *rows)
{
	row_sets_end(rows);
	begin_arrays(rows, rows->ids.type);
}

/* Arguments */

/* Raise an error for a rule in the place of the measure: without a measure it must be named. */
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
				 errmsg("rows cannot be grouped by measure \"%s\"", measure_name(measure)),
				 errdetail("Equal signatures would not be in one group if they have too few features.")));
	return measure;
}

void
row_sets_begin(RowSets *rows, FunctionCallInfo fcinfo, int first, Oid id_type)
{
	rows->context = CurrentMemoryContext;
	rows->threshold = PG_GETARG_FLOAT8(first);
	rows->measure = symmetric_measure(PG_GETARG_TEXT_PP(first + 1));
	threshold_require_valid(rows->threshold, rows->measure);
	/* the type of the extension that the function belongs to */
	rows->signature_type = GetSysCacheOid2(TYPENAMENSP, Anum_pg_type_oid,
										   CStringGetDatum("signature"),
										   ObjectIdGetDatum(get_func_namespace(fcinfo->flinfo->fn_oid)));
	rows->memory = get_hash_memory_limit();
	require_order(id_type);
	begin_arrays(rows, id_type);
}
