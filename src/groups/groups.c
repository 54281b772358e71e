/*
 * groups.c
 *		near_duplicate_groups(): groups the rows of a query and returns them as
 *		rows of a result.
 *
 * Rows are numbered in the order of the query, which is total.  Rows with
 * equal sets are in one group, so no pairs of rows are made.
 *
 * Columns after the signature are a scope: only rows with equal scopes are
 * compared.  Scopes are numbered, and features are hashed together with the
 * number and a secret; a dense vector has that hash beside its coordinates.
 * Sets whose spec differs from the first one are separated in the same way.
 * Sketches and vectors have separate groups for each spec.
 *
 * The result is made in two passes over the rows: the first pass counts the
 * members of groups and numbers the groups, the second pass returns the rows.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "nodes/nodes.h"
#include "utils/builtins.h"
#include "utils/float.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

#include "base/compat.h"
#include "base/hash.h"
#include "base/interrupts.h"
#include "base/memory.h"
#include "groups/groups.h"
#include "methods/method.h"
#include "signature/sql/near.h"

PG_FUNCTION_INFO_V1(near_duplicate_groups);

/*
 * Shares of the memory, in sixteenths.  Three further shares of one sixteenth
 * are used for the numbers of sets, for scopes, and for ids of old rows.
 */
#define SETS_SHARE	11
#define IDS_SHARE	2
#define APART_SHARE	2			/* taken from SETS_SHARE */

#define QUERY_HINT \
	"The query's columns are the id of a row and its signature, as in SELECT id, sig FROM docs, then columns that can be hashed, if rows are to be compared within these."
#define ID_HINT \
	"Give the type of the ids as the first argument, as in near_duplicate_groups(NULL::uuid, 'SELECT ...', ...)."

/* Scopes */

/* Prepare to number the values of the columns after the signature. */
static void
begin_scope(GroupInput *rows, TupleDesc desc)
{
	TupleDesc	columns;

	rows->nscope = desc->natts - 2;
	if (rows->nscope == 0)
		return;
	columns = CreateTemplateTupleDesc(rows->nscope);
	for (int i = 0; i < rows->nscope; i++)
	{
		Oid			type = TupleDescAttr(desc, i + 2)->atttypid;

		if (!type_is_hashable(type))
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_FUNCTION),
					 errmsg("column %d of the query is of type %s, which cannot be hashed",
							i + 3, format_type_be(type)),
					 errdetail("Rows are compared where they are equal in all columns after the signature."),
					 errhint(QUERY_HINT)));
		TupleDescCopyEntry(columns, i + 1, desc, i + 3);
	}
	TupleDescFinalize(columns);
	record_numbers_begin(&rows->scopes, columns, rows->memory / 16);
	if (!pg_strong_random(&rows->secret, sizeof(rows->secret)))
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("could not generate random values")));
}

/* Return a hash of the scope; different scopes have different hashes. */
static uint64
hash_scope(GroupInput *rows, const Datum *values, const bool *nulls)
{
	return rows->nscope == 0 ? 0 :
		mix64(rows->secret +
			  record_number(&rows->scopes, values, nulls, true));
}

/* Rows */

/*
 * Run the query of rows that are apart, if there is one.  Its ids are compared
 * with the collation of the id column.
 */
static void
begin_apart(GroupInput *rows, Form_pg_attribute id)
{
	if (rows->apart_query != NULL)
		apart_rows_begin(&rows->apart, rows->apart_query, rows->ids.type,
						 id->atttypid == rows->ids.type ? id->attcollation :
						 get_typcollation(rows->ids.type),
						 rows->memory / 16 * APART_SHARE);
}

void
group_input_columns(GroupInput *rows, TupleDesc desc)
{
	/* a query of one column lacks the signature or the id: see QUERY_HINT */
	rows->signature = typed_column(desc, 2, rows->signature_type, false,
								   "the signature", QUERY_HINT);
	rows->id = typed_column(desc, 1, rows->ids.type, true, "the id", ID_HINT);
	begin_scope(rows, desc);
	begin_apart(rows, TupleDescAttr(desc, 0));
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
group_input_read(GroupInput *rows, TupleTableSlot *slot)
{
	rows->values[0] = typed_value(&rows->id, slot, &rows->nulls[0]);
	rows->values[1] = typed_value(&rows->signature, slot, &rows->nulls[1]);
	slot_getallattrs(slot);
	memcpy(rows->values + 2, slot->tts_values + 2,
		   rows->nscope * sizeof(Datum));
	memcpy(rows->nulls + 2, slot->tts_isnull + 2, rows->nscope * sizeof(bool));
}

/* Return the share of the memory for sets, in sixteenths. */
static int
sets_share(const GroupInput *rows)
{
	return SETS_SHARE - (rows->apart_query != NULL ? APART_SHARE : 0);
}

/* Begin the SetGroups of a new SpecGroups. */
static SetGroups *
begin_sets(GroupInput *rows, SignatureKind kind)
{
	/*
	 * the first spec has most of the sets; further specs get little memory
	 * until they are decided
	 */
	int			share = rows->ngroups > 0 ? 1 : sets_share(rows);
	SetGroups  *groups = set_groups_begin(kind, rows->measure, rows->threshold,
										  rows->memory / 16 * share);

	if (rows->apart_query != NULL)
		set_groups_keep_apart(groups, apart_rows_pair, &rows->apart);
	return groups;
}

/*
 * Return the index of the SpecGroups for signatures of this spec, which is
 * created if needed.
 */
static int
groups_of_spec(GroupInput *rows, const SignatureSpec *spec, SignatureKind kind)
{
	MemoryContext old = MemoryContextSwitchTo(rows->context);
	int			i = 0;

	/*
	 * all sets share one SetGroups, as further specs are hashed into features
	 */
	while (i < rows->ngroups && (rows->groups[i].kind != kind ||
								 (kind != KIND_SETS &&
								  !spec_equal(&rows->groups[i].spec, spec))))
		i++;
	if (i == rows->ngroups)
	{
		if (rows->nscope > 0 && !kind_has_scopes(kind))
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("groups within columns are for sets and dense vectors only"),
					 errdetail_plural("The query has %d column after the signature.",
									  "The query has %d columns after the signature.",
									  rows->nscope, rows->nscope),
					 errhint("Make groups of one value after the other, by a condition in the query.")));
		rows->groups = growing_reserve(rows->groups, &rows->max_groups, i + 1,
									   sizeof(SpecGroups));
		rows->groups[i].spec = *spec;
		rows->groups[i].kind = kind;
		rows->groups[i].groups = begin_sets(rows, kind);
		rows->ngroups++;
	}
	MemoryContextSwitchTo(old);
	return i;
}

/*
 * Find the groups for a signature's spec; warn if the spec differs from the
 * first one.
 */
static void
note_spec(GroupInput *rows, const Signature *sig)
{
	if (rows->ngroups > 0 && likely(spec_equal(&rows->last, &sig->spec)))
		return;
	rows->kind = signature_kind(sig, rows->measure);
	rows->current = groups_of_spec(rows, &sig->spec, rows->kind);
	rows->last = sig->spec;
	rows->salted = rows->nscope > 0 ||
		!spec_equal(&rows->groups[0].spec, &sig->spec);
	/* each scope may have its own spec */
	if (rows->salted && rows->nscope == 0)
		spec_warn_different(&rows->groups[0].spec, &sig->spec);
}

/*
 * Add the set of the row added last, which has this id, signature and scope;
 * return the set's number, or NO_SET if it has no features.
 */
static SetNumber
add_set(GroupInput *rows, Datum id, const Signature *sig, const Datum *scope,
		const bool *nulls)
{
	uint32		name = rows->apart_query == NULL ? 0 :
	apart_rows_name(&rows->apart, id);
	const uint64 *values;
	uint32		n;

	note_spec(rows, sig);
	values = rows->salted && kind_has_scopes(rows->kind) ?
		signature_as_scoped_set(sig, rows->kind,
								hash_scope(rows, scope, nulls), &n) :
		signature_as_set(sig, rows->kind, rows->measure, &n);
	if (n == 0)
		return NO_SET;
	Assert(rows->current < rows->ngroups && rows->ids.n > 0);
	return (SetNumber) rows->current << 32 |
		set_groups_add(rows->groups[rows->current].groups, values, n,
					   rows->ids.n - 1, name);
}

SetNumber
group_input_add(GroupInput *rows, Datum id, const Datum *values, const bool *nulls)
{
	SetNumber	set = NO_SET;

	row_ids_put(&rows->ids, values[0], nulls[0]);
	if (!nulls[1])
		set = add_set(rows, id, DatumGetSignature(values[1]), values + 2,
					  nulls + 2);
	disk_array_append(&rows->sets, &set, 1);
	return set;
}

/* Groups */

/* Return the SetGroups that a set belongs to. */
static SetGroups *
groups_of(const GroupInput *rows, SetNumber set)
{
	Assert(set >> 32 < rows->ngroups);
	return rows->groups[set >> 32].groups;
}

void
group_input_seed(GroupInput *rows, SetNumber set, bool represents, double similarity)
{
	if (set != NO_SET)
		set_groups_seed(groups_of(rows, set), (uint32) set, rows->ids.n - 1,
						represents,
						similarity);
}

void
group_input_unite(GroupInput *rows, SetNumber a, SetNumber b)
{
	if (a != NO_SET && b != NO_SET && a >> 32 == b >> 32)
		set_groups_unite(groups_of(rows, a), (uint32) a, (uint32) b);
}

void
group_input_decide(GroupInput *rows, GroupRule rule)
{
	size_t		memory = rows->memory / 16 * sets_share(rows);
	size_t		held = 0;

	for (int i = 0; i < rows->ngroups; i++)
		held += set_groups_held(rows->groups[i].groups);
	/* by turns, each spec has the memory that others do not take */
	for (int i = 0; i < rows->ngroups; i++)
	{
		SetGroups  *groups = rows->groups[i].groups;

		held -= set_groups_held(groups);
		set_groups_decide(groups, rule, memory - Min(held, memory));
		held += set_groups_held(groups);
	}
}

GroupMember
group_input_member(void *context, uint32 row)
{
	GroupInput *rows = context;
	SetNumber	set = *(SetNumber *) disk_array_at(&rows->sets, row, false);
	GroupMember member = {row, get_float8_nan()};

	Assert(rows->sets.n == rows->ids.n);
	return set == NO_SET ? member :
		set_groups_member(groups_of(rows, set), (uint32) set, row);
}

bool
group_input_has_untracked(const GroupInput *rows)
{
	bool		forgot = false;

	for (int i = 0; i < rows->ngroups; i++)
		forgot |= set_groups_has_untracked(rows->groups[i].groups);
	return forgot;
}

/* Free all rows. */
static void
free_rows(GroupInput *rows)
{
	for (int i = 0; i < rows->ngroups; i++)
		set_groups_end(rows->groups[i].groups);
	rows->ngroups = 0;
	disk_array_free(&rows->sets);
	row_ids_end(&rows->ids);
}

void
group_input_end(GroupInput *rows)
{
	free_rows(rows);
	if (rows->nscope > 0)
		record_numbers_end(&rows->scopes);
	if (rows->apart_query != NULL)
		apart_rows_end(&rows->apart);
}

void
group_input_clear(GroupInput *rows)
{
	free_rows(rows);
	row_ids_begin(&rows->ids, rows->ids.type, rows->memory / 16 * IDS_SHARE);
	disk_array_begin(&rows->sets, sizeof(SetNumber), rows->memory / 16);
}

/* Arguments */

/* Return the measure with this name; raise an error unless it is symmetric. */
static Measure
symmetric_measure(const text *name)
{
	const char *rule = text_to_cstring(name);
	Measure		measure;

	/* a rule in the third place, which is the measure's if it is not named */
	if (strcmp(rule, "greedy") == 0 || strcmp(rule, "connected") == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("measure \"%s\" does not exist", rule),
				 errhint("It is a rule: write rule => '%s'.", rule)));
	measure = measure_require(name);
	if (measure_commute(measure) != measure)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("measure \"%s\" is of one signature in another",
						measure_name(measure)),
				 errdetail("Groups need a measure whose value is the same in both directions."),
				 errhint("Use \"overlap_coefficient\", which is the greater of both containments.")));
	if (measure == MEASURE_SHARED)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("rows cannot be grouped by measure \"%s\"",
						measure_name(measure)),
				 errdetail("Equal signatures would not be in one group if they have too few features.")));
	return measure;
}

void
group_input_begin(GroupInput *rows, FunctionCallInfo fcinfo, int measure,
				  const GroupArguments *arguments)
{
	rows->context = CurrentMemoryContext;
	rows->measure = symmetric_measure(PG_GETARG_TEXT_PP(measure));
	/* the signature type of the function's extension */
	rows->signature_type = GetSysCacheOid2(TYPENAMENSP, Anum_pg_type_oid,
										   CStringGetDatum("signature"),
										   ObjectIdGetDatum(get_func_namespace(fcinfo->flinfo->fn_oid)));
	rows->memory = get_hash_memory_limit();
	rows->ids.type = arguments->id_type;
	rows->apart_query = arguments->apart;
}

void
group_input_set_threshold(GroupInput *rows, double threshold)
{
	threshold_require_valid(threshold, rows->measure);
	rows->threshold = threshold;
	group_input_clear(rows);
}

/* Result rows */

/* A group, stored at its representative */
typedef struct GroupRow
{
	uint32		size;			/* members, the representative included */
	uint32		number;			/* number of the group, from 1, in the order
								 * of representatives */
} GroupRow;

/* Return the rule with this name, or raise an error. */
static GroupRule
rule_require(const text *name)
{
	char	   *rule = text_to_cstring(name);

	if (strcmp(rule, "connected") == 0)
		return RULE_CONNECTED;
	if (strcmp(rule, "greedy") == 0)
		return RULE_GREEDY;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("rule \"%s\" does not exist", rule),
	/* with a type of ids first, the query may be where the rule belongs */
			 strchr(rule, ' ') == NULL ?
			 errhint("Rules are connected and greedy.") :
			 errhint("Rules are connected and greedy. After a type of ids come the query and the rule.")));
}

/*
 * Return argument `number`, the query of rows that are apart; NULL if it is
 * null.
 */
static const char *
read_apart(FunctionCallInfo fcinfo, int number, GroupRule rule)
{
	if (PG_ARGISNULL(number))
		return NULL;
	if (rule == RULE_CONNECTED)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("rows cannot be kept apart by the rule connected"),
				 errdetail("A near-duplicate of both would put them into one group."),
				 errhint("Use the rule greedy.")));
	return text_to_cstring(PG_GETARG_TEXT_PP(number));
}

bool
groups_begin(FunctionCallInfo fcinfo, int n, bool may_be_apart,
			 GroupArguments *arguments)
{
	int			first = PG_NARGS() - n - may_be_apart;
	int			end = first + n;

	InitMaterializedSRF(fcinfo, 0);
	arguments->first = first;
	arguments->id_type = first == 0 ? INT8OID :
		get_fn_expr_argtype(fcinfo->flinfo, 0);

	/* the rule is checked first: with NULL::text first, it may be missing */
	if (!PG_ARGISNULL(end - 1))
		arguments->rule = rule_require(PG_GETARG_TEXT_PP(end - 1));
	for (int i = first; i < end; i++)
		if (PG_ARGISNULL(i))
			return false;
	arguments->apart = may_be_apart ?
		read_apart(fcinfo, end, arguments->rule) : NULL;
	if (!OidIsValid(lookup_type_cache(arguments->id_type,
									  TYPECACHE_LT_OPR)->lt_opr))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FUNCTION),
				 errmsg("values of type %s cannot be ids",
						format_type_be(arguments->id_type)),
				 errdetail("Rows are sorted by their ids."),
				 errhint("Take the ids as text: id::text in the query, and NULL::text as the first argument.")));
	return true;
}

/* Count the members of each group, and number the groups. */
static void
count_members(DiskArray *groups, uint32 n, GroupOf group_of, void *context)
{
	const GroupRow none = {0};
	uint32		number = 0;

	for (uint32 row = 0; row < n; row++)
	{
		uint32		representative = group_of(context, row).representative;
		GroupRow   *group;

		while (groups->n <= representative)
		{
			CHECK_EVERY(groups->n);
			disk_array_append(groups, &none, 1);
		}
		CHECK_EVERY(row);
		group = disk_array_at(groups, representative, true);
		group->size++;
		if (representative == row)
			group->number = ++number;
	}
}

/*
 * Put a row into the result: id, group_id, representative, similarity, size.
 */
static void
put_row(ReturnSetInfo *rsinfo, RowIds *ids, uint32 row, GroupMember member,
		GroupRow group)
{
	int64		number = group.number;
	int64		size = group.size;

	/*
	 * on 32 bits numbers are passed by reference; the tuplestore copies them
	 */
	Datum		values[] = {
		row_ids_get(ids, row), Int64GetDatumFast(number),
		row_ids_get(ids, member.representative),
		Float8GetDatumFast(member.similarity), Int64GetDatumFast(size)
	};
	bool		nulls[] = {false, false, false, isnan(member.similarity),
	false};

	Assert(size > 0 && number > 0 &&
		   (member.representative != row || isnan(member.similarity)));
	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
}

void
groups_put(FunctionCallInfo fcinfo, RowIds *ids, size_t memory,
		   GroupOf group_of,
		   void *context)
{
	MemoryContext per_row = AllocSetContextCreate(CurrentMemoryContext,
												  "row of groups",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old;
	DiskArray	groups;

	disk_array_begin(&groups, sizeof(GroupRow), memory);
	count_members(&groups, ids->n, group_of, context);
	old = MemoryContextSwitchTo(per_row);
	for (uint32 row = 0; row < ids->n; row++)
	{
		GroupMember member = group_of(context, row);

		CHECK_FOR_INTERRUPTS();
		put_row((ReturnSetInfo *) fcinfo->resultinfo, ids, row, member,
				*(GroupRow *) disk_array_at(&groups, member.representative,
											false));
		MemoryContextReset(per_row);
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(per_row);
	disk_array_free(&groups);
}

/* The function */

/* SlotCallback: add a row of the query. */
static void
add_row(void *context, TupleTableSlot *slot)
{
	GroupInput *rows = context;

	group_input_read(rows, slot);
	group_input_add(rows, rows->values[0], rows->values, rows->nulls);
}

/*
 * near_duplicate_groups([id_type anyelement,] query, threshold, measure, rule,
 * apart)
 */
Datum
near_duplicate_groups(PG_FUNCTION_ARGS)
{
	GroupInput	rows = {0};
	UserQuery	query;
	GroupArguments arguments = {0};

	if (!groups_begin(fcinfo, 4, true, &arguments))
		return (Datum) 0;
	group_input_begin(&rows, fcinfo, arguments.first + 2, &arguments);
	group_input_set_threshold(&rows, PG_GETARG_FLOAT8(arguments.first + 1));
	user_query_begin(&query,
					 text_to_cstring(PG_GETARG_TEXT_PP(arguments.first)), NULL,
					 NULL);
	group_input_columns(&rows, query.result);
	user_query_run(&query, add_row, &rows);
	group_input_decide(&rows, arguments.rule);
	groups_put(fcinfo, &rows.ids, rows.memory / 2, group_input_member, &rows);
	group_input_end(&rows);
	return (Datum) 0;
}
