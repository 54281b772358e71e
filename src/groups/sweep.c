/*
 * sweep.c
 *		near_duplicate_groups_sweep(): groups the rows of a query at several
 *		thresholds, and returns figures by which a threshold is chosen without
 *		labels.
 *
 * The query runs once, and its rows are stored.  Each threshold groups them
 * anew, as keys and candidates depend on it.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type_d.h"
#include "executor/tuptable.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/float.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/tuplestore.h"

#include "base/interrupts.h"
#include "groups/groups.h"
#include "signature/sql/near.h"

PG_FUNCTION_INFO_V1(near_duplicate_groups_sweep);

/* State of a call */
typedef struct Sweep
{
	GroupInput	rows;
	GroupRule	rule;
	Tuplestorestate *store;		/* the query's rows, in its order */
	TupleTableSlot *slot;		/* reads a stored row */
	/* figures at the current threshold */
	DiskArray	sizes;			/* uint32 by representative: number of rows in
								 * its group */
	uint64		groups;			/* groups of more than one row */
	uint64		duplicates;		/* rows that are not representatives */
	uint32		largest;		/* rows of the largest group */
	uint32		least_row;		/* row with the least similarity to its
								 * representative */
	GroupMember least;			/* group of least_row; similarity NaN = no
								 * such row */
} Sweep;

/* Called for each stored row, with its number */
typedef void (*StoredRow) (Sweep *sweep, uint32 row, void *context);

/* SlotCallback: store a row of the query. */
static void
store_row(void *context, TupleTableSlot *slot)
{
	Sweep	   *sweep = context;
	GroupInput *rows = &sweep->rows;

	group_input_read(rows, slot);
	tuplestore_putvalues(sweep->store, rows->desc, rows->values, rows->nulls);
}

/* Run the query, and store its rows. */
static void
read_rows(Sweep *sweep, UserQuery *query)
{
	GroupInput *rows = &sweep->rows;

	group_input_columns(rows, query->result);
	sweep->store = tuplestore_begin_heap(false, false,
										 Max(rows->memory / 16 / 1024, 64));
	sweep->slot = MakeSingleTupleTableSlot(rows->desc, &TTSOpsMinimalTuple);
	user_query_run(query, store_row, sweep);
}

/*
 * Call a function for each stored row, in a memory context that is reset after
 * each.
 */
static void
for_each_row(Sweep *sweep, StoredRow call, void *context)
{
	MemoryContext per_row = AllocSetContextCreate(CurrentMemoryContext,
												  "row of a sweep",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(per_row);

	tuplestore_rescan(sweep->store);
	for (uint32 row = 0;
		 tuplestore_gettupleslot(sweep->store, true, false,
								 sweep->slot); row++)
	{
		CHECK_FOR_INTERRUPTS();
		slot_getallattrs(sweep->slot);
		call(sweep, row, context);
		/* a tuple read from disk lies in the memory that is reset */
		ExecClearTuple(sweep->slot);
		MemoryContextReset(per_row);
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(per_row);
}

/* StoredRow: add the row to the sets that are grouped. */
static void
add_row(Sweep *sweep, uint32 row, void *unused)
{
	Datum	   *values = sweep->slot->tts_values;

	Assert(row == sweep->rows.ids.n);
	group_input_add(&sweep->rows, values[0], values, sweep->slot->tts_isnull);
}

/* Figures */

/* Note a row's similarity to its representative if it is the least so far. */
static void
note_similarity(Sweep *sweep, uint32 row, GroupMember member)
{
	if (isnan(sweep->least.similarity) ||
		member.similarity < sweep->least.similarity)
	{
		sweep->least_row = row;
		sweep->least = member;
	}
}

/* Count rows, groups and their sizes. */
static void
count_rows(Sweep *sweep)
{
	const uint32 none = 0;

	sweep->groups = sweep->duplicates = sweep->largest = 0;
	sweep->least.similarity = get_float8_nan();
	for (uint32 row = 0; row < sweep->rows.ids.n; row++)
	{
		GroupMember member = group_input_member(&sweep->rows, row);
		uint32		size;

		CHECK_EVERY(row);
		while (sweep->sizes.n <= Max(row, member.representative))
			disk_array_append(&sweep->sizes, &none, 1);
		size = ++*(uint32 *) disk_array_at(&sweep->sizes,
										   member.representative, true);
		sweep->largest = Max(sweep->largest, size);
		sweep->groups += size == 2;
		sweep->duplicates += member.representative != row;
		if (!isnan(member.similarity))
			note_similarity(sweep, row, member);
	}
}

/*
 * Connected: signatures of representatives, with which members are compared,
 * as this rule computes no similarities
 */
typedef struct Representatives
{
	RowIds		signatures;		/* numbered as they were stored */
	DiskArray	places;			/* uint32 by row: index of the row's signature */
} Representatives;

/*
 * StoredRow: store the signature of a representative that has members; compare
 * a member with its representative, which comes before it.
 */
static void
compare_row(Sweep *sweep, uint32 row, void *context)
{
	Representatives *representatives = context;
	GroupMember member = group_input_member(&sweep->rows, row);
	Datum		signature = sweep->slot->tts_values[1];
	uint32		place = representatives->signatures.n;

	disk_array_append(&representatives->places, &place, 1);
	Assert(member.representative <= row);
	if (member.representative != row)
	{
		place = *(uint32 *) disk_array_at(&representatives->places,
										  member.representative, false);
		member.similarity =
			signatures_value(DatumGetSignature(row_ids_get(&representatives->signatures, place)),
							 DatumGetSignature(signature),
							 sweep->rows.measure);
		note_similarity(sweep, row, member);
	}
	else if (*(uint32 *) disk_array_at(&sweep->sizes, row, false) > 1)
		row_ids_put(&representatives->signatures, signature,
					sweep->slot->tts_isnull[1]);
}

/* Connected: find the row with the least similarity to its representative. */
static void
compare_rows(Sweep *sweep)
{
	size_t		memory = sweep->rows.memory / 16;
	Representatives representatives;

	row_ids_begin(&representatives.signatures, sweep->rows.signature_type,
				  memory * 4);
	disk_array_begin(&representatives.places, sizeof(uint32), memory);
	for_each_row(sweep, compare_row, &representatives);
	disk_array_free(&representatives.places);
	row_ids_end(&representatives.signatures);
}

/* Return the id of a row as text. */
static Datum
id_text(RowIds *ids, uint32 row)
{
	Oid			output;
	bool		is_varlena;

	getTypeOutputInfo(ids->type, &output, &is_varlena);
	return CStringGetTextDatum(OidOutputFunctionCall(output,
													 row_ids_get(ids, row)));
}

/* Put the result row of a threshold. */
static void
put_threshold(Sweep *sweep, ReturnSetInfo *rsinfo, double threshold)
{
	bool		none = isnan(sweep->least.similarity);
	RowIds	   *ids = &sweep->rows.ids;
	Datum		values[7] = {
		Float8GetDatum(threshold), Int64GetDatum(sweep->groups),
		Int64GetDatum(sweep->duplicates),
		Int64GetDatum(sweep->largest)
	};
	bool		nulls[7] = {false, false, false, false, none, none, none};

	if (!none)
	{
		values[4] = id_text(ids, sweep->least_row);
		values[5] = id_text(ids, sweep->least.representative);
		values[6] = Float8GetDatum(sweep->least.similarity);
	}
	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
}

/* Group the stored rows at a threshold, and put its result row. */
static void
try_threshold(Sweep *sweep, ReturnSetInfo *rsinfo, double threshold)
{
	group_input_set_threshold(&sweep->rows, threshold);
	for_each_row(sweep, add_row, NULL);
	group_input_decide(&sweep->rows, sweep->rule);
	disk_array_begin(&sweep->sizes, sizeof(uint32), sweep->rows.memory / 4);
	count_rows(sweep);
	if (sweep->rule == RULE_CONNECTED && sweep->duplicates > 0)
		compare_rows(sweep);
	put_threshold(sweep, rsinfo, threshold);
	disk_array_free(&sweep->sizes);
}

/*
 * Return the thresholds, and set *n to their number; raise an error unless
 * each is valid for the measure.
 */
static double *
read_thresholds(ArrayType *array, Measure measure, int *n)
{
	Datum	   *elements;
	bool	   *nulls;
	double	   *thresholds;

	deconstruct_array(array, FLOAT8OID, sizeof(float8), FLOAT8PASSBYVAL,
					  TYPALIGN_DOUBLE,
					  &elements, &nulls, n);
	thresholds = palloc(Max(*n, 1) * sizeof(double));
	for (int i = 0; i < *n; i++)
	{
		if (nulls[i])
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("threshold must not be null")));
		thresholds[i] = DatumGetFloat8(elements[i]);
		threshold_require_valid(thresholds[i], measure);
	}
	return thresholds;
}

/* near_duplicate_groups_sweep(query, thresholds, measure, rule) */
Datum
near_duplicate_groups_sweep(PG_FUNCTION_ARGS)
{
	Sweep		sweep = {0};
	GroupArguments arguments = {0};
	UserQuery	query;
	double	   *thresholds;
	int			n;

	if (!groups_begin(fcinfo, 4, false, &arguments))
		return (Datum) 0;
	user_query_begin(&query, text_to_cstring(PG_GETARG_TEXT_PP(0)), NULL,
					 NULL);
	/* ids may have any type, since they are only shown */
	if (query.result->natts > 0)
		arguments.id_type = TupleDescAttr(query.result, 0)->atttypid;
	sweep.rule = arguments.rule;
	group_input_begin(&sweep.rows, fcinfo, 2, &arguments);
	thresholds = read_thresholds(PG_GETARG_ARRAYTYPE_P(1), sweep.rows.measure,
								 &n);
	read_rows(&sweep, &query);
	for (int i = 0; i < n; i++)
		try_threshold(&sweep, (ReturnSetInfo *) fcinfo->resultinfo,
					  thresholds[i]);
	ExecDropSingleTupleTableSlot(sweep.slot);
	tuplestore_end(sweep.store);
	group_input_end(&sweep.rows);
	return (Datum) 0;
}
