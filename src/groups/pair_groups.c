/*
 * pair_groups.c
 *		near_duplicate_groups_of_pairs(): groups of the rows of a query of pairs.
 *
 * Ids become numbers by two sorts: all ids, each with the other one of its pair, are sorted
 * and numbered; then pairs are sorted by the other id, and merged with the numbered ones.
 * Greedy: a third sort is by the later row, so that each earlier row is decided when its
 * pair is read.  A second reading finds the nearest representative of each other row.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type_d.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "nodes/nodes.h"
#include "utils/builtins.h"
#include "utils/float.h"

#include "base/compat.h"
#include "groups/groups.h"
#include "groups/row_query.h"

PG_FUNCTION_INFO_V1(near_duplicate_groups_of_pairs);

#define QUERY_HINT \
	"The query's columns are two ids and, if it is known, their similarity.  For ids of another type than bigint use near_duplicate_groups_of_pairs(NULL::uuid, 'SELECT ...', 'greedy')."

/* Numbers of rows, two in an int8 */
#define MAX_ROWS	PG_INT32_MAX

typedef struct PairGroups
{
	RowReader	reader;			/* must be first */
	GroupRule	rule;
	size_t		memory;
	IdOrder		order;
	TypedColumn columns[2];		/* of ids */
	TypedColumn similarity;
	bool		measured;		/* there is such a column */
	RowSort		by_id;			/* id, the other id or null, similarity */
	RowIds		ids;			/* in their order: rows */
	RowSort		by_other;		/* other id, number of the first one,
								 * similarity */
	RowSort		by_later;		/* later row << 32 | earlier row, similarity */
	DiskArray	links;			/* to the representative, or towards the first
								 * row */
	DiskArray	similarities;	/* double, to the representative; greedy */
} PairGroups;

/* Read pairs */

static void
begin_pairs(RowReader *reader, TupleDesc desc)
{
	PairGroups *pairs = (PairGroups *) reader;
	Oid			id = pairs->order.type;
	Oid			types[] = {id, id, FLOAT8OID};

	if (desc->natts > 3)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_COLUMN_DEFINITION),
				 errmsg("query has %d columns, and at most 3 are read", desc->natts),
				 errhint("%s", QUERY_HINT)));
	pairs->columns[0] = typed_column(desc, 1, id, true, "an id", QUERY_HINT);
	pairs->columns[1] = typed_column(desc, 2, id, true, "an id", QUERY_HINT);
	id_order_collate(&pairs->order, desc, 0);
	pairs->measured = desc->natts > 2;
	if (pairs->measured)
		pairs->similarity = typed_column(desc, 3, FLOAT8OID, false, "the similarity",
										 QUERY_HINT);
	row_sort_begin(&pairs->by_id, &pairs->order, 3, types, pairs->memory / 4);
}

/* Return the similarity of a pair, 0 if there is no such column. */
static double
read_similarity(PairGroups *pairs, TupleTableSlot *slot)
{
	bool		isnull = false;
	double		similarity = 0;

	if (pairs->measured)
	{
		Datum		value = typed_value(&pairs->similarity, slot, &isnull);

		similarity = isnull ? get_float8_nan() : DatumGetFloat8(value);
	}
	if (isnan(similarity))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("similarity of a pair must be a number, not %s",
						isnull ? "null" : "NaN"),
				 isnull ? errhint("Leave such pairs out, or give them a number, as coalesce(similarity, 0) does.") :
				 errhint("Leave such pairs out, or give them a number, as coalesce(nullif(similarity, 'NaN'), 0) does.")));
	return similarity;
}

/* Put an id, and the other one of its pair unless that is null. */
static void
put_id(PairGroups *pairs, Datum id, Datum other, bool isnull, double similarity)
{
	/* on 32 bits the last one is a pointer to what is copied below */
	Datum		values[] = {id, other, Float8GetDatumFast(similarity)};
	bool		nulls[] = {false, isnull, false};

	row_sort_put(&pairs->by_id, values, nulls);
}

static void
add_pair(RowReader *reader, TupleTableSlot *slot)
{
	PairGroups *pairs = (PairGroups *) reader;
	Datum		ids[2];
	bool		nulls[2];
	double		similarity = 0;
	bool		alone;

	for (int i = 0; i < 2; i++)
		ids[i] = typed_value(&pairs->columns[i], slot, &nulls[i]);
	if (nulls[0] && nulls[1])
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("both ids of a pair are null"),
				 errdetail("A row without a partner is a pair in which one id is null.")));
	alone = nulls[0] || nulls[1] || ids_equal(&pairs->order, ids[0], ids[1]);
	if (!alone)
	{
		similarity = read_similarity(pairs, slot);
		put_id(pairs, ids[1], (Datum) 0, true, 0);
	}
	put_id(pairs, ids[nulls[0] ? 1 : 0], ids[1], alone, similarity);
}

/* Number ids */

/* Number the ids in their order, and sort the pairs by their other id. */
static void
number_ids(PairGroups *pairs)
{
	RowIds	   *ids = &pairs->ids;
	Oid			types[] = {pairs->order.type, INT8OID, FLOAT8OID};
	TupleTableSlot *slot;

	row_ids_begin(ids, pairs->order.type, pairs->memory / 8);
	row_sort_begin(&pairs->by_other, &pairs->order, 3, types, pairs->memory / 4);
	tuplesort_performsort(pairs->by_id.state);
	while ((slot = row_sort_next(&pairs->by_id)) != NULL)
	{
		int64		number;
		bool		nulls[3] = {0};
		Datum		values[3];

		if (ids->n == 0 ||
			!ids_equal(&pairs->order, slot->tts_values[0], row_ids_get(ids, ids->n - 1)))
			row_ids_put(ids, slot->tts_values[0], false);
		if (ids->n > MAX_ROWS)
			ereport(ERROR,
					(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
					 errmsg("too many different ids"),
					 errdetail("There can be at most %d.", MAX_ROWS)));
		if (slot->tts_isnull[1])
			continue;
		number = ids->n - 1;
		values[0] = slot->tts_values[1];
		values[1] = Int64GetDatumFast(number);
		values[2] = slot->tts_values[2];
		row_sort_put(&pairs->by_other, values, nulls);
	}
	row_sort_end(&pairs->by_id);
}

/* Put a pair of rows in the order of the later one. */
static void
put_later(PairGroups *pairs, uint32 a, uint32 b, Datum similarity)
{
	int64		rows = (int64) Max(a, b) << 32 | Min(a, b);
	Datum		values[] = {Int64GetDatumFast(rows), similarity};
	bool		nulls[] = {false, false};

	row_sort_put(&pairs->by_later, values, nulls);
}

/* Take each pair as two numbers. */
static void
number_pairs(PairGroups *pairs)
{
	uint32		other = 0;
	TupleTableSlot *slot;

	tuplesort_performsort(pairs->by_other.state);
	while ((slot = row_sort_next(&pairs->by_other)) != NULL)
	{
		uint32		number = DatumGetInt64(slot->tts_values[1]);

		/* each of them is among the ids */
		while (!ids_equal(&pairs->order, slot->tts_values[0], row_ids_get(&pairs->ids, other)))
			other++;
		Assert(other < pairs->ids.n && other != number);
		if (pairs->rule == RULE_CONNECTED)
			links_unite(&pairs->links, number, other);
		else
			put_later(pairs, number, other, slot->tts_values[2]);
	}
	row_sort_end(&pairs->by_other);
}

/* Greedy */

static bool
is_representative(PairGroups *pairs, uint32 row)
{
	return links_get(&pairs->links, row) == row;
}

/* Return the next pair, in the order of the later row; false if there is none. */
static bool
next_pair(PairGroups *pairs, uint32 *earlier, uint32 *later, double *similarity)
{
	TupleTableSlot *slot = row_sort_next(&pairs->by_later);
	int64		rows;

	if (slot == NULL)
		return false;
	rows = DatumGetInt64(slot->tts_values[0]);
	*earlier = (uint32) rows;
	*later = rows >> 32;
	Assert(*earlier < *later && *later < pairs->ids.n);
	*similarity = DatumGetFloat8(slot->tts_values[1]);
	return true;
}

/* A row that is no representative is near to one. */
static void
offer(PairGroups *pairs, uint32 row, uint32 representative, double similarity)
{
	double		best;

	Assert(!is_representative(pairs, row) && is_representative(pairs, representative));
	disk_array_get(&pairs->similarities, row, &best, sizeof(best));
	/* NaN: there is none as yet */
	if (similarity < best ||
		(similarity == best && representative >= links_get(&pairs->links, row)))
		return;
	disk_array_set(&pairs->similarities, row, &similarity, sizeof(similarity));
	links_set(&pairs->links, row, representative);
}

static void
decide_greedy(PairGroups *pairs)
{
	uint32		earlier;
	uint32		later;
	double		similarity;

	tuplesort_performsort(pairs->by_later.state);
	while (next_pair(pairs, &earlier, &later, &similarity))
		if (is_representative(pairs, earlier) && is_representative(pairs, later))
			links_set(&pairs->links, later, earlier);
	tuplesort_rescan(pairs->by_later.state);
	while (next_pair(pairs, &earlier, &later, &similarity))
	{
		bool		first = is_representative(pairs, earlier);

		if (first == is_representative(pairs, later))
			continue;
		if (first)
			offer(pairs, later, earlier, similarity);
		else
			offer(pairs, earlier, later, similarity);
	}
	row_sort_end(&pairs->by_later);
}

/* Group the ids. */
static void
decide(PairGroups *pairs)
{
	double		none = get_float8_nan();
	Oid			types[] = {INT8OID, FLOAT8OID};

	links_begin(&pairs->links, pairs->memory / 8);
	disk_array_begin(&pairs->similarities, sizeof(double), pairs->memory / 8);
	for (uint32 row = 0; row < pairs->ids.n; row++)
	{
		CHECK_FOR_INTERRUPTS();
		links_add(&pairs->links);
		disk_array_append(&pairs->similarities, &none, 1);
	}
	if (pairs->rule == RULE_GREEDY)
		row_sort_begin(&pairs->by_later, NULL, 2, types, pairs->memory / 4);
	number_pairs(pairs);
	if (pairs->rule == RULE_GREEDY)
		decide_greedy(pairs);
}

/* GroupOf */
static GroupMember
group_of_id(void *context, uint32 row)
{
	PairGroups *pairs = context;
	GroupMember member = {row, get_float8_nan()};

	if (pairs->rule == RULE_CONNECTED)
		member.representative = links_root(&pairs->links, row);
	else
		member.representative = links_get(&pairs->links, row);
	if (pairs->measured)
		disk_array_get(&pairs->similarities, row, &member.similarity, sizeof(double));
	return member;
}

/* near_duplicate_groups_of_pairs([id_type anyelement,] query, rule) */
Datum
near_duplicate_groups_of_pairs(PG_FUNCTION_ARGS)
{
	PairGroups	pairs = {
		.reader = {.begin = begin_pairs,.row = add_pair},
		.memory = get_hash_memory_limit()
	};
	GroupArguments arguments;

	if (!groups_begin(fcinfo, 2, &arguments))
		return (Datum) 0;
	pairs.rule = arguments.rule;
	id_order_begin(&pairs.order, arguments.id_type);
	ordered_query_run(text_to_cstring(PG_GETARG_TEXT_PP(arguments.first)), false,
					  &pairs.reader);
	number_ids(&pairs);
	decide(&pairs);
	groups_put(fcinfo, &pairs.ids, pairs.memory / 4, group_of_id, &pairs);
	disk_array_free(&pairs.links);
	disk_array_free(&pairs.similarities);
	row_ids_end(&pairs.ids);
	return (Datum) 0;
}
