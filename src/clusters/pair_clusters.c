/*
 * pair_clusters.c
 *		near_duplicate_clusters_of_pairs(): groups of what the pairs of a query
 *		connect.
 *
 * Ids get numbers in the order in which they come; once all are there they
 * are sorted, and rank by their order.  Pairs are kept until then, under the
 * rule connected only those that unite two groups.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/clusters/pair_clusters.c
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type_d.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "nodes/nodes.h"
#include "utils/builtins.h"

#include "base/compat.h"
#include "clusters/group_rows.h"
#include "clusters/id_table.h"
#include "clusters/ordered_query.h"

PG_FUNCTION_INFO_V1(near_duplicate_clusters_of_pairs);
PG_FUNCTION_INFO_V1(near_duplicate_clusters_of_pairs_typed);

#define QUERY_HINT \
	"The query's columns are two ids and, if it is known, their similarity.  For ids of another type than bigint use near_duplicate_clusters_of_pairs(NULL::uuid, 'SELECT ...', 'kept')."

typedef struct NumberedPair
{
	uint32		a;
	uint32		b;
	double		similarity;
} NumberedPair;

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
	pairs->ids[0] = typed_column(desc, 0, 1, pairs->id_type, "an id", QUERY_HINT);
	pairs->ids[1] = typed_column(desc, 0, 2, pairs->id_type, "an id", QUERY_HINT);
	pairs->measured = desc->natts > 2;
	if (pairs->measured)
		pairs->similarity = typed_column(desc, 0, 3, FLOAT8OID, "the similarity",
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

static double
similarity_of(PairTaker *pairs, TupleTableSlot *slot)
{
	bool		isnull = true;
	double		similarity = 0;
	Datum		value;

	if (!pairs->measured)
		return 0;
	value = typed_value(&pairs->similarity, slot, &isnull);
	if (!isnull)
		similarity = DatumGetFloat8(value);	/* a pointer, where those are short */
	if (isnull || isnan(similarity))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("similarity of a pair must be a number, not %s",
						isnull ? "null" : "NaN"),
				 isnull ? errhint("Leave such pairs out, or give them a number, as coalesce(similarity, 0) does.") :
				 errhint("Leave such pairs out, or give them a number, as coalesce(nullif(similarity, 'NaN'), 0) does.")));
	return similarity;
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
add_pair(RowTaker *taker, TupleTableSlot *slot)
{
	PairTaker  *pairs = (PairTaker *) taker;
	NumberedPair pair = {0};
	bool		first = number_of(pairs, 0, slot, &pair.a);
	bool		second = number_of(pairs, 1, slot, &pair.b);

	if (!first && !second)
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("both ids of a pair are null"),
				 errdetail("A row without a partner is a pair in which one id is null.")));
	if (!first || !second || pair.a == pair.b)
		return;
	pair.similarity = similarity_of(pairs, slot);
	keep_pair(pairs, pair);
}

/* Reads the query. */
static void
read_pairs(PairTaker *pairs, const char *query, size_t memory)
{
	id_table_begin(&pairs->table, pairs->id_type, memory / 2);
	paged_init(&pairs->pairs, sizeof(NumberedPair), memory / 4);
	if (pairs->rule == RULE_CONNECTED)
		pairs->connected = grouping_begin(RULE_CONNECTED, 0, memory / 4);
	ordered_query_run(query, 0, &pairs->taker);
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
 * near_duplicate_clusters_of_pairs(query text, rule text)
 *
 * Who gives NULL::text for the type of ids, and no rule, calls this: so the rule is
 * looked at where the query is null, too.
 */
Datum
near_duplicate_clusters_of_pairs(PG_FUNCTION_ARGS)
{
	if (!PG_ARGISNULL(1))
		rule_require(PG_GETARG_TEXT_PP(1));
	if (!group_rows_wanted(fcinfo, 0))
		return (Datum) 0;
	return clusters_of_pairs(fcinfo, 0, INT8OID);
}

/* near_duplicate_clusters_of_pairs(id_type anyelement, query text, rule text) */
Datum
near_duplicate_clusters_of_pairs_typed(PG_FUNCTION_ARGS)
{
	if (!group_rows_wanted(fcinfo, 1))
		return (Datum) 0;
	return clusters_of_pairs(fcinfo, 1, get_fn_expr_argtype(fcinfo->flinfo, 0));
}
