/*
 * pair_groups.c
 *		near_duplicate_groups_of_pairs(): groups the rows that occur in a
 *		query's pairs.
 *
 * SQL numbers the ids in their order.  It returns each id of a pair with the
 * number of the other id, in the order of the ids.
 *
 * Greedy: each representative is offered to the rows of its pairs.  When the
 * first pair of a row is read, the pairs of all earlier rows have been read.
 * So the row is a representative unless a representative was offered to it.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type_d.h"
#include "miscadmin.h"
#include "nodes/nodes.h"
#include "utils/builtins.h"
#include "utils/float.h"

#include "base/compat.h"
#include "groups/groups.h"

PG_FUNCTION_INFO_V1(near_duplicate_groups_of_pairs);

#define QUERY_HINT \
	"The query's columns are two ids and, if it is known, their similarity.  For ids of another type than bigint use near_duplicate_groups_of_pairs(NULL::uuid, 'SELECT ...', 'greedy')."

/*
 * Read both ids of each pair, in the order of ids: id, number, similarity,
 * number of the other id.  A null partner counts as the row itself; two nulls
 * give null.  num_nulls() tells null from a row value with null fields, which
 * IS NULL does not.  The user's query replaces (SELECT).  No step is a join,
 * as the planner may underestimate the query's rows.
 */
#define NUMBERED_PAIRS \
	"SELECT id, number, %s," \
	" pg_catalog.min(number) FILTER (WHERE known) OVER pair OPERATOR(pg_catalog.+)" \
	" pg_catalog.max(number) FILTER (WHERE known) OVER pair OPERATOR(pg_catalog.-) number" \
	" FROM (SELECT *, pg_catalog.num_nulls(id) OPERATOR(pg_catalog.=) 0 AS known," \
	" pg_catalog.dense_rank() OVER (ORDER BY id) AS number" \
	" FROM (SELECT pg_catalog.row_number() OVER () AS pair, * FROM (SELECT) AS pairs (%s)) AS pairs," \
	" LATERAL (VALUES (a), (b)) AS ids (id)) AS ids" \
	" WINDOW pair AS (PARTITION BY pair) ORDER BY number"

/* Columns of NUMBERED_PAIRS, from 0 */
enum PairColumns
{
	PAIR_ID,
	PAIR_NUMBER,
	PAIR_SIMILARITY,
	PAIR_OTHER
};

/* State of a row */
typedef struct PairState
{
	uint32		link;			/* representative (greedy), or a row nearer to
								 * the first row of the group (connected) */
	double		similarity;		/* similarity to the representative; NaN = no
								 * representative */
} PairState;

/* State of a call */
typedef struct PairGroups
{
	GroupRule	rule;
	TypedColumn id;
	TypedColumn similarity;
	bool		measured;		/* true if the query has a column of
								 * similarities */
	RowIds		ids;			/* distinct ids, in ascending order */
	DiskArray	states;			/* PairState by number of the id, for ids read
								 * so far and their partners */
} PairGroups;

/* Read pairs */

/* Return the similarity of a pair; raise an error if it is null or NaN. */
static double
read_similarity(PairGroups *pairs, TupleTableSlot *slot)
{
	bool		isnull;
	double		similarity =
	DatumGetFloat8(typed_value(&pairs->similarity, slot, &isnull));

	if (isnull || isnan(similarity))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("similarity of a pair must be a number, not %s",
						isnull ? "null" : "NaN"),
				 isnull ?
				 errhint("Leave such pairs out, or give them a number, as coalesce(similarity, 0) does.") :
				 errhint("Leave such pairs out, or give them a number, as coalesce(nullif(similarity, 'NaN'), 0) does.")));
	return similarity;
}

/*
 * Greedy: assign a row to a representative if it is more similar than its
 * present one.
 */
static void
offer(PairGroups *pairs, uint32 row, uint32 representative, double similarity)
{
	PairState  *state = disk_array_at(&pairs->states, row, true);

	Assert(row != representative);
	if (similarity <= state->similarity)
		return;
	state->link = representative;
	state->similarity = similarity;
}

/* Add a pair, when its row `row` is read. */
static void
add_pair(PairGroups *pairs, uint32 row, uint32 other, double similarity)
{
	if (pairs->rule == RULE_CONNECTED)
		links_unite(&pairs->states, row, other);
	else if (((PairState *) disk_array_at(&pairs->states, row, false))->link ==
			 row)
		offer(pairs, other, row, similarity);
}

/* SlotCallback: add an id, and its pair with the other id. */
static void
add_id(void *context, TupleTableSlot *slot)
{
	PairGroups *pairs = context;
	bool		isnull;
	bool		alone;
	int64		number =
	DatumGetInt64(slot_getattr(slot, PAIR_NUMBER + 1, &isnull));
	int64		other =
	DatumGetInt64(slot_getattr(slot, PAIR_OTHER + 1, &alone));
	Datum		id = typed_value(&pairs->id, slot, &isnull);

	CHECK_FOR_INTERRUPTS();
	if (isnull && alone)
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("both ids of a pair are null"),
				 errdetail("A row without a match is a pair in which one id is null.")));
	if (isnull)
		return;
	Assert(number == pairs->ids.n || number == pairs->ids.n + (int64) 1);
	Assert(!alone && other >= 1);
	if (number > pairs->ids.n)
		row_ids_put(&pairs->ids, id, false);
	while (pairs->states.n < Max(number, other))
	{
		PairState	state = {.link = pairs->states.n,
		.similarity = get_float8_nan()};

		CHECK_FOR_INTERRUPTS();
		disk_array_append(&pairs->states, &state, 1);
	}
	if (other != number)
		add_pair(pairs, number - 1, other - 1, read_similarity(pairs, slot));
}

/* Run the query of pairs, and group their ids. */
static void
read_pairs(PairGroups *pairs, const char *text, Oid id_type)
{
	UserQuery	query;
	TupleDesc	columns;
	const char *numbered;

	user_query_begin(&query, text, NULL, NULL);
	if (query.result->natts > 3)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_COLUMN_DEFINITION),
				 errmsg("query has %d columns, and at most 3 are read",
						query.result->natts),
				 errhint("%s", QUERY_HINT)));
	for (int i = 1; i <= 2; i++)
		typed_column(query.result, i, id_type, true, "an id", QUERY_HINT);
	pairs->measured = query.result->natts > 2;
	numbered = pairs->measured ? psprintf(NUMBERED_PAIRS, "s", "a, b, s") :
		psprintf(NUMBERED_PAIRS, "0::pg_catalog.float8", "a, b");
	/* in this query both ids have one type */
	columns = user_query_columns(&query, numbered);
	pairs->id = typed_column(columns, PAIR_ID + 1, id_type, true, "an id",
							 QUERY_HINT);
	pairs->similarity = typed_column(columns, PAIR_SIMILARITY + 1, FLOAT8OID,
									 false,
									 "the similarity", QUERY_HINT);
	user_query_run_inside(&query, numbered, NULL, add_id, pairs);
}

/* GroupOf: return the group of an id. */
static GroupMember
group_of_id(void *context, uint32 row)
{
	PairGroups *pairs = context;
	GroupMember member = {links_root(&pairs->states, row), get_float8_nan()};

	if (pairs->measured)
		member.similarity =
			((PairState *) disk_array_at(&pairs->states, row,
										 false))->similarity;
	return member;
}

/* near_duplicate_groups_of_pairs([id_type anyelement,] query, rule) */
Datum
near_duplicate_groups_of_pairs(PG_FUNCTION_ARGS)
{
	PairGroups	pairs = {0};
	size_t		memory = get_hash_memory_limit();
	GroupArguments arguments;

	if (!groups_begin(fcinfo, 2, false, &arguments))
		return (Datum) 0;
	pairs.rule = arguments.rule;
	row_ids_begin(&pairs.ids, arguments.id_type, memory / 8);
	disk_array_begin(&pairs.states, sizeof(PairState), memory / 2);
	read_pairs(&pairs, text_to_cstring(PG_GETARG_TEXT_PP(arguments.first)),
			   arguments.id_type);
	groups_put(fcinfo, &pairs.ids, memory / 4, group_of_id, &pairs);
	disk_array_free(&pairs.states);
	row_ids_end(&pairs.ids);
	return (Datum) 0;
}
