/*
 * pair_groups.c
 *		near_duplicate_groups_of_pairs(): groups of what the pairs of a query
 *		connect.
 *
 * Ids get numbers in the order in which they come; once all are there they
 * are sorted, and rank by their order.  Pairs are kept until then, under the
 * rule connected only those that unite two groups.
 *
 * Once the table of the ids is on disk, pairs wait until there are many, whose ids are
 * looked up together.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type_d.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "nodes/nodes.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/memutils.h"

#include "base/compat.h"
#include "groups/group_rows.h"
#include "groups/id_table.h"
#include "groups/ordered_query.h"

PG_FUNCTION_INFO_V1(near_duplicate_groups_of_pairs);
PG_FUNCTION_INFO_V1(near_duplicate_groups_of_pairs_typed);

#define QUERY_HINT \
	"The query's columns are two ids and, if it is known, their similarity.  For ids of another type than bigint use near_duplicate_groups_of_pairs(NULL::uuid, 'SELECT ...', 'greedy')."

typedef struct NumberedPair
{
	uint32		a;
	uint32		b;
	double		similarity;
} NumberedPair;

#define NO_ID	UINT32_MAX

/* A pair that waits for the numbers of its ids. */
typedef struct WaitingPair
{
	uint32		ids[2];			/* which of those that wait, or NO_ID */
	double		similarity;
	bool		isnull;			/* there is none */
} WaitingPair;

/* Pairs that wait, and their ids. */
typedef struct WaitingPairs
{
	MemoryContext context;		/* of ids that are not passed by value */
	WaitingPair *pairs;			/* NULL: none has had to wait */
	uint32		npairs;
	uint32		max_pairs;
	Datum	   *ids;
	uint32	   *numbers;
	uint32		nids;
	size_t		most_bytes;		/* that ids may take */
} WaitingPairs;

/* Ids may take so many bytes however little memory there is: else none would wait. */
#define MIN_WAITING	((size_t) 4 * BLCKSZ)

/* Bytes for each: it, two ids, their numbers, and twice an order of these. */
#define WAITING_BYTES \
	(sizeof(WaitingPair) + 2 * (sizeof(Datum) + sizeof(uint32) + 2 * sizeof(uint64)))

typedef struct PairTaker
{
	RowTaker	taker;			/* must be first */
	GroupRule	rule;
	Oid			id_type;
	TypedColumn ids[2];
	TypedColumn similarity;
	bool		measured;		/* there is such a column */
	IdTable		table;
	uint32		last[2];		/* number of each id of the row before */
	bool		known[2];		/* there was one */
	WaitingPairs waiting;
	size_t		memory;			/* of those that wait */
	PagedArray	pairs;			/* NumberedPair */
	uint64		npairs;
	Grouping   *connected;		/* by number; NULL if the rule is another one */
} PairTaker;

static void
begin_pairs(RowTaker *taker, TupleDesc desc)
{
	PairTaker  *pairs = (PairTaker *) taker;

	if (desc->natts > 3)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_COLUMN_DEFINITION),
				 errmsg("query has %d columns, and at most 3 are read",
						desc->natts),
				 errhint("%s", QUERY_HINT)));
	pairs->ids[0] = typed_column(desc, 0, 1, pairs->id_type, true, "an id", QUERY_HINT);
	pairs->ids[1] = typed_column(desc, 0, 2, pairs->id_type, true, "an id", QUERY_HINT);
	id_table_collate(&pairs->table, desc, 0);
	pairs->measured = desc->natts > 2;
	if (pairs->measured)
		pairs->similarity = typed_column(desc, 0, 3, FLOAT8OID, false, "the similarity",
										 QUERY_HINT);
}

/*
 * The number of an id of the row; false if it is null.  Pairs often come so that
 * one of their ids stays the same for a while.
 */
static bool
number_of(PairTaker *pairs, int which, TupleTableSlot *slot, uint32 *number)
{
	bool		isnull;
	Datum		id = typed_value(&pairs->ids[which], slot, &isnull);

	if (isnull)
		return false;
	if (!pairs->known[which] ||
		!id_table_has_image(&pairs->table, pairs->last[which], id))
		pairs->last[which] = id_table_number(&pairs->table, id);
	pairs->known[which] = true;
	*number = pairs->last[which];
	return true;
}

/* The similarity of the row; false if it is null. */
static bool
similarity_of(PairTaker *pairs, TupleTableSlot *slot, double *similarity)
{
	bool		isnull;
	Datum		value;

	*similarity = 0;
	if (!pairs->measured)
		return true;
	value = typed_value(&pairs->similarity, slot, &isnull);
	if (!isnull)
		*similarity = DatumGetFloat8(value);	/* a pointer, where those are short */
	return !isnull;
}

static void
require_similarity(double similarity, bool isnull)
{
	if (isnull || isnan(similarity))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("similarity of a pair must be a number, not %s",
						isnull ? "null" : "NaN"),
				 isnull ? errhint("Leave such pairs out, or give them a number, as coalesce(similarity, 0) does.") :
				 errhint("Leave such pairs out, or give them a number, as coalesce(nullif(similarity, 'NaN'), 0) does.")));
}

static void
keep_pair(PairTaker *pairs, NumberedPair pair)
{
	if (pairs->connected != NULL)
	{
		grouping_grow(pairs->connected, pairs->table.n);
		if (!grouping_near(pairs->connected, pair.a, pair.b, 0))
			return;
	}
	paged_resize(&pairs->pairs, pairs->npairs + 1);
	*(NumberedPair *) paged_change(&pairs->pairs, pairs->npairs++) = pair;
}

static void
require_an_id(bool first, bool second)
{
	if (!first && !second)
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("both ids of a pair are null"),
				 errdetail("A row without a partner is a pair in which one id is null.")));
}

/* Pairs that wait */

/* Makes room for pairs that wait. */
static void
begin_waiting(WaitingPairs *waiting, size_t memory)
{
	waiting->max_pairs = Max(memory / 2 / WAITING_BYTES, 64);
	waiting->pairs = MemoryContextAllocHuge(waiting->context,
											sizeof(WaitingPair) * waiting->max_pairs);
	waiting->ids = MemoryContextAllocHuge(waiting->context,
										  2 * sizeof(Datum) * waiting->max_pairs);
	waiting->numbers = MemoryContextAllocHuge(waiting->context,
											  2 * sizeof(uint32) * waiting->max_pairs);
	waiting->most_bytes = Max(memory / 2, MIN_WAITING);
	waiting->context = AllocSetContextCreate(waiting->context,
											 "ids that wait",
											 ALLOCSET_DEFAULT_SIZES);
}

/* Takes note of an id of the row; returns which of those that wait it is, or NO_ID if null. */
static uint32
wait_for_number(PairTaker *pairs, int which, TupleTableSlot *slot)
{
	WaitingPairs *waiting = &pairs->waiting;
	const IdPlaces *type = &pairs->table.places;
	bool		isnull;
	Datum		id = typed_value(&pairs->ids[which], slot, &isnull);
	MemoryContext old;

	if (isnull)
		return NO_ID;
	old = MemoryContextSwitchTo(waiting->context);
	waiting->ids[waiting->nids] = datumCopy(id, type->byval, type->len);
	MemoryContextSwitchTo(old);
	return waiting->nids++;
}

/* Finds the numbers of all ids that wait, and keeps the pairs. */
static void
take_waiting(PairTaker *pairs)
{
	WaitingPairs *waiting = &pairs->waiting;

	id_table_numbers(&pairs->table, waiting->ids, waiting->nids, waiting->numbers);
	for (uint32 i = 0; i < waiting->npairs; i++)
	{
		const WaitingPair *from = &waiting->pairs[i];
		NumberedPair pair = {.similarity = from->similarity};

		CHECK_FOR_INTERRUPTS();
		if (from->ids[0] == NO_ID || from->ids[1] == NO_ID)
			continue;
		pair.a = waiting->numbers[from->ids[0]];
		pair.b = waiting->numbers[from->ids[1]];
		if (pair.a == pair.b)
			continue;
		require_similarity(from->similarity, from->isnull);
		keep_pair(pairs, pair);
	}
	waiting->npairs = waiting->nids = 0;
	MemoryContextReset(waiting->context);
}

/* There are no more. */
static void
end_waiting(PairTaker *pairs)
{
	WaitingPairs *waiting = &pairs->waiting;

	if (waiting->pairs == NULL)
		return;
	take_waiting(pairs);
	pfree(waiting->pairs);
	pfree(waiting->ids);
	pfree(waiting->numbers);
	MemoryContextDelete(waiting->context);
	waiting->pairs = NULL;
}

static void
add_waiting(PairTaker *pairs, TupleTableSlot *slot)
{
	WaitingPairs *waiting = &pairs->waiting;
	WaitingPair *pair;

	if (waiting->pairs == NULL)
		begin_waiting(waiting, pairs->memory);
	pair = &waiting->pairs[waiting->npairs++];
	for (int i = 0; i < 2; i++)
		pair->ids[i] = wait_for_number(pairs, i, slot);
	require_an_id(pair->ids[0] != NO_ID, pair->ids[1] != NO_ID);
	pair->isnull = !similarity_of(pairs, slot, &pair->similarity);
	if (waiting->npairs == waiting->max_pairs ||
		MemoryContextMemAllocated(waiting->context, false) > waiting->most_bytes)
		take_waiting(pairs);
}

static void
add_pair(RowTaker *taker, TupleTableSlot *slot)
{
	PairTaker  *pairs = (PairTaker *) taker;
	NumberedPair pair = {0};
	bool		first;
	bool		second;
	bool		isnull;

	if (id_table_on_disk(&pairs->table))
	{
		add_waiting(pairs, slot);
		return;
	}
	first = number_of(pairs, 0, slot, &pair.a);
	second = number_of(pairs, 1, slot, &pair.b);
	require_an_id(first, second);
	if (!first || !second || pair.a == pair.b)
		return;
	isnull = !similarity_of(pairs, slot, &pair.similarity);
	require_similarity(pair.similarity, isnull);
	keep_pair(pairs, pair);
}

/* Reads the query. */
static void
read_pairs(PairTaker *pairs, const char *query, size_t memory)
{
	id_table_begin(&pairs->table, pairs->id_type, memory / 2);
	paged_init(&pairs->pairs, sizeof(NumberedPair), memory / 8);
	pairs->waiting.context = CurrentMemoryContext;
	pairs->memory = memory / 8;
	if (pairs->rule == RULE_CONNECTED)
		pairs->connected = grouping_begin(RULE_CONNECTED, 0, memory / 4);
	ordered_query_run(query, 0, &pairs->taker);
	end_waiting(pairs);
	if (pairs->connected != NULL)
		grouping_end(pairs->connected);
}

/* Groups the ids, which go to *ids in their order. */
static Grouping *
group_pairs(PairTaker *pairs, RowIds *ids, size_t memory)
{
	PagedArray	ranks;
	Grouping   *grouping;

	paged_init(&ranks, sizeof(uint32), memory / 8);
	id_table_sort(&pairs->table, ids, &ranks, memory / 8);
	id_table_end(&pairs->table);
	grouping = grouping_begin(pairs->rule, ids->n, memory / 2);
	for (uint64 i = 0; i < pairs->npairs; i++)
	{
		NumberedPair pair = *(const NumberedPair *) paged_at(&pairs->pairs, i);
		uint32		a = *(const uint32 *) paged_at(&ranks, pair.a);
		uint32		b = *(const uint32 *) paged_at(&ranks, pair.b);

		CHECK_FOR_INTERRUPTS();
		grouping_near(grouping, a, b, pair.similarity);
	}
	paged_free(&ranks);
	paged_free(&pairs->pairs);
	grouping_decide(grouping, memory / 8 * 7);
	return grouping;
}

/* The function, whose arguments begin with the query at number `first`. */
static Datum
clusters_of_pairs(FunctionCallInfo fcinfo, int first, Oid id_type)
{
	PairTaker	pairs = {.taker = {.begin = begin_pairs,.row = add_pair}};
	size_t		memory = get_hash_memory_limit();
	Grouping   *grouping;
	RowIds		ids;

	pairs.rule = rule_require(PG_GETARG_TEXT_PP(first + 1));
	pairs.id_type = id_type;
	InitMaterializedSRF(fcinfo, 0);
	read_pairs(&pairs, text_to_cstring(PG_GETARG_TEXT_PP(first)), memory);
	row_ids_begin(&ids, id_type, memory / 8);
	grouping = group_pairs(&pairs, &ids, memory);
	group_rows_put(fcinfo, grouping, &ids, pairs.measured, memory / 2);
	grouping_end(grouping);
	row_ids_end(&ids);
	return (Datum) 0;
}

/*
 * near_duplicate_groups_of_pairs(query text, rule text)
 *
 * Who gives NULL::text for the type of ids, and no rule, calls this: so the rule is
 * looked at where the query is null, too.
 */
Datum
near_duplicate_groups_of_pairs(PG_FUNCTION_ARGS)
{
	if (!PG_ARGISNULL(1))
		rule_require(PG_GETARG_TEXT_PP(1));
	if (!group_rows_wanted(fcinfo, 0))
		return (Datum) 0;
	return clusters_of_pairs(fcinfo, 0, INT8OID);
}

/* near_duplicate_groups_of_pairs(id_type anyelement, query text, rule text) */
Datum
near_duplicate_groups_of_pairs_typed(PG_FUNCTION_ARGS)
{
	if (!group_rows_wanted(fcinfo, 1))
		return (Datum) 0;
	return clusters_of_pairs(fcinfo, 1, get_fn_expr_argtype(fcinfo->flinfo, 0));
}
