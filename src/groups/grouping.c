/*
 * grouping.c
 *		From pairs of rows to groups.
 *
 * Each row has a link to one that it belongs to, or to itself.
 *
 * Connected: the links make trees, whose roots are the first rows of their
 * groups; a pair unites two trees, and links on the way are shortened (R. E.
 * Tarjan, J. van Leeuwen, "Worst-case analysis of set union algorithms", JACM
 * 1984: path halving, linking by index).  Pairs are not stored.
 *
 * Kept: pairs are put in the order of the later row.  Gone through in that
 * order, it is known of each earlier row whether it is kept when a later one
 * asks.  Then pairs are gone through once more, in any order, and each row that
 * is not kept finds the nearest one that is.  Where pairs are in memory each row
 * gets a list of those before it; else they are sorted.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_operator_d.h"
#include "catalog/pg_type_d.h"
#include "miscadmin.h"
#include "utils/float.h"
#include "utils/tuplesort.h"

#include "base/compat.h"
#include "base/interrupts.h"
#include "groups/grouping.h"
#include "groups/paged.h"

/* Parts of the memory under the rule greedy, in eighths; the rest is for links. */
#define SORT_EIGHTHS	2
#define PAIRS_EIGHTHS	1
#define SIMILARITIES_EIGHTHS	1

#define HIGHEST_BIT		(UINT64CONST(1) << 63)

struct Grouping
{
	GroupRule	rule;
	uint32		n;				/* rows */
	size_t		memory;
	PagedArray	links;			/* uint32: of each row */
	PagedArray	similarities;	/* double: to that; NaN: 1.  Rule greedy only,
								 * and not before one is wanted */
	PagedArray	pairs;			/* RowPair; rule greedy */
	uint64		npairs;
	Tuplesortstate *order;		/* of pairs, see put_order(); NULL as long as
								 * they are in memory */
};

typedef struct RowPair
{
	uint32		earlier;
	uint32		later;
	double		similarity;
} RowPair;

StaticAssertDecl(BLCKSZ % sizeof(RowPair) == 0, "pairs do not fill pages");

static uint32
link_of(Grouping *grouping, uint32 row)
{
	return *(const uint32 *) paged_at(&grouping->links, row);
}

static void
set_link(Grouping *grouping, uint32 row, uint32 to)
{
	*(uint32 *) paged_change(&grouping->links, row) = to;
}

Grouping *
grouping_begin(GroupRule rule, uint32 n, size_t memory)
{
	Grouping   *grouping = palloc0(sizeof(Grouping));
	size_t		others = rule == RULE_CONNECTED ? 0 :
		memory / 8 * (SORT_EIGHTHS + PAIRS_EIGHTHS + SIMILARITIES_EIGHTHS);

	grouping->rule = rule;
	grouping->memory = memory;
	paged_init(&grouping->links, sizeof(uint32), memory - others);
	grouping_grow(grouping, n);
	return grouping;
}

void
grouping_grow(Grouping *grouping, uint32 n)
{
	uint32		old = grouping->n;

	paged_resize(&grouping->links, n);
	for (uint32 i = old; i < n; i++)
	{
		if ((i & 0xffff) == 0)
			CHECK_FOR_INTERRUPTS();
		set_link(grouping, i, i);
	}
	grouping->n = n;
}

void
grouping_end(Grouping *grouping)
{
	if (grouping->order != NULL)
		tuplesort_end(grouping->order);
	if (grouping->pairs.width != 0)
		paged_free(&grouping->pairs);
	paged_free(&grouping->links);
	if (grouping->similarities.width != 0)
		paged_free(&grouping->similarities);
	pfree(grouping);
}

/* Connected */

/* The first row of the group so far. */
static uint32
find_first(Grouping *grouping, uint32 row)
{
	for (;;)
	{
		uint32		next = link_of(grouping, row);
		uint32		after;

		if (next == row)
			return row;
		after = link_of(grouping, next);
		if (after != next)
			set_link(grouping, row, after);
		row = after;
	}
}

static bool
unite(Grouping *grouping, uint32 a, uint32 b)
{
	a = find_first(grouping, a);
	b = find_first(grouping, b);
	if (a < b)
		set_link(grouping, b, a);
	else if (b < a)
		set_link(grouping, a, b);
	return a != b;
}

/* Kept */

/* Makes room for similarities, none of which is noted. */
static void
begin_similarities(Grouping *grouping, size_t memory)
{
	PagedArray *similarities = &grouping->similarities;

	if (similarities->width != 0)
		return;
	paged_init(similarities, sizeof(double), memory);
	paged_resize(similarities, grouping->n);
	for (uint32 i = 0; i < grouping->n; i++)
	{
		if ((i & 0xffff) == 0)
			CHECK_FOR_INTERRUPTS();
		*(double *) paged_change(similarities, i) = get_float8_nan();
	}
}

/* Makes room for pairs. */
static void
begin_pairs(Grouping *grouping)
{
	if (grouping->pairs.width == 0)
		paged_init(&grouping->pairs, sizeof(RowPair),
				   grouping->memory / 8 * PAIRS_EIGHTHS);
}

/* The memory in which pairs are put in order. */
static size_t
order_memory(const Grouping *grouping)
{
	return grouping->memory / 8 * SORT_EIGHTHS;
}

/* Puts the rows of a pair into the sort, as a number. */
static void
put_order(Grouping *grouping, const RowPair *pair)
{
	uint64		rows = (uint64) pair->later << 32 | pair->earlier;
	/* numbers with the highest bit are negative ones, which come first */
	int64		number = (int64) (rows ^ HIGHEST_BIT);

	/* on 32 bits it is a pointer to what is copied */
	tuplesort_putdatum(grouping->order, Int64GetDatumFast(number), false);
}

/* Begins to sort pairs, with those that there are. */
static void
begin_order(Grouping *grouping)
{
	grouping->order = tuplesort_begin_datum(INT8OID, Int8LessOperator,
											InvalidOid, false,
											Max(order_memory(grouping) / 1024, 64),
											NULL, TUPLESORT_NONE);
	for (uint64 i = 0; i < grouping->npairs; i++)
	{
		CHECK_FOR_INTERRUPTS();
		put_order(grouping, paged_at(&grouping->pairs, i));
	}
}

/* Keeps a pair. */
static void
put_pair(Grouping *grouping, uint32 earlier, uint32 later, double similarity)
{
	RowPair		pair = {earlier, later, similarity};

	paged_resize(&grouping->pairs, grouping->npairs + 1);
	*(RowPair *) paged_change(&grouping->pairs, grouping->npairs++) = pair;
	if (grouping->order != NULL)
		put_order(grouping, &pair);
	else if (grouping->pairs.resident == NULL)
		begin_order(grouping);
}

static bool
is_kept(Grouping *grouping, uint32 row)
{
	return link_of(grouping, row) == row;
}

/* An earlier row is near to a later one; of both it is known what comes before. */
static inline void
decide_pair(Grouping *grouping, uint32 earlier, uint32 later)
{
	if (is_kept(grouping, earlier) && is_kept(grouping, later))
		set_link(grouping, later, earlier);
}

/* True if there is memory for the lists of decide_by_lists(). */
static bool
lists_fit(const Grouping *grouping)
{
	size_t		most = order_memory(grouping);

	return grouping->pairs.resident != NULL &&
		grouping->n < most / sizeof(size_t) &&
		grouping->npairs < (most - grouping->n * sizeof(size_t)) / sizeof(uint32);
}

/* Links each row that is not kept to one that is, pairs being in memory. */
static void
decide_by_lists(Grouping *grouping)
{
	const RowPair *pairs = paged_at(&grouping->pairs, 0);
	size_t	   *ends = palloc_extended((grouping->n + (size_t) 1) * sizeof(size_t),
									   MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	uint32	   *earlier = palloc_extended(Max(grouping->npairs, 1) * sizeof(uint32),
										  MCXT_ALLOC_HUGE);
	size_t		next = 0;

	for (uint64 i = 0; i < grouping->npairs; i++)
	{
		CHECK_EVERY(i);
		ends[pairs[i].later + (size_t) 1]++;
	}
	for (uint32 row = 0; row < grouping->n; row++)
		ends[row + (size_t) 1] += ends[row];
	/* filled, a list ends where it was said that the next one begins */
	for (uint64 i = 0; i < grouping->npairs; i++)
	{
		CHECK_EVERY(i);
		earlier[ends[pairs[i].later]++] = pairs[i].earlier;
	}
	for (uint32 row = 0; row < grouping->n; row++)
		for (; next < ends[row]; next++)
		{
			CHECK_EVERY(next);
			decide_pair(grouping, earlier[next], row);
		}
	pfree(earlier);
	pfree(ends);
}

/* The same, pairs being sorted. */
static void
decide_by_order(Grouping *grouping)
{
	Datum		value;
	bool		isnull;

	tuplesort_performsort(grouping->order);
	while (sorted_datum(grouping->order, &value, &isnull))
	{
		uint64		rows = (uint64) DatumGetInt64(value) ^ HIGHEST_BIT;

		CHECK_FOR_INTERRUPTS();
		decide_pair(grouping, (uint32) rows, (uint32) (rows >> 32));
	}
	tuplesort_end(grouping->order);
	grouping->order = NULL;
}

/* The row, which is not kept, is near to one that is. */
static void
offer(Grouping *grouping, uint32 row, uint32 kept, double similarity)
{
	double	   *best = paged_change(&grouping->similarities, row);

	if (similarity < *best ||
		(similarity == *best && kept >= link_of(grouping, row)))
		return;
	*best = similarity;
	set_link(grouping, row, kept);
}

/* Links each row that is not kept to the nearest one that is. */
static void
decide_nearest(Grouping *grouping)
{
	for (uint64 i = 0; i < grouping->npairs; i++)
	{
		RowPair		pair = *(const RowPair *) paged_at(&grouping->pairs, i);
		bool		first = is_kept(grouping, pair.earlier);

		CHECK_FOR_INTERRUPTS();
		if (first == is_kept(grouping, pair.later))
			continue;
		if (first)
			offer(grouping, pair.later, pair.earlier, pair.similarity);
		else
			offer(grouping, pair.earlier, pair.later, pair.similarity);
	}
	paged_free(&grouping->pairs);
}

void
grouping_like(Grouping *grouping, uint32 first, uint32 row, double similarity)
{
	set_link(grouping, row, first);
	if (grouping->rule == RULE_CONNECTED || similarity == 1)
		return;
	begin_similarities(grouping, grouping->memory / 8 * SIMILARITIES_EIGHTHS);
	*(double *) paged_change(&grouping->similarities, row) = similarity;
}

bool
grouping_near(Grouping *grouping, uint32 a, uint32 b, double similarity)
{
	if (grouping->rule == RULE_CONNECTED)
		return unite(grouping, a, b);
	begin_pairs(grouping);
	put_pair(grouping, Min(a, b), Max(a, b), similarity);
	return true;
}

void
grouping_decide(Grouping *grouping, size_t memory)
{
	size_t		others = grouping->memory / 8 *
		(8 - SORT_EIGHTHS - SIMILARITIES_EIGHTHS);

	if (grouping->npairs == 0)
		return;
	if (grouping->order == NULL && lists_fit(grouping))
		decide_by_lists(grouping);
	else
	{
		if (grouping->order == NULL)
			begin_order(grouping);
		decide_by_order(grouping);
	}
	begin_similarities(grouping, Max(memory, grouping->memory) - others);
	decide_nearest(grouping);
}

/* What is not noted of a row that is not kept is 1: see grouping_like(). */
static double
similarity_of(Grouping *grouping, uint32 row)
{
	double		similarity;

	if (grouping->similarities.width == 0)
		return 1;
	similarity = *(const double *) paged_at(&grouping->similarities, row);
	return isnan(similarity) ? 1 : similarity;
}

/*
 * Of a row that is not kept: it is linked to a kept one, or to one that it is
 * like and that is linked to a kept one.
 */
static GroupMember
member_of_kept(Grouping *grouping, uint32 row)
{
	GroupMember member;
	uint32		like = link_of(grouping, row);

	member.representative = link_of(grouping, like);
	member.similarity = similarity_of(grouping,
									  member.representative == like ? row : like);
	return member;
}

GroupMember
grouping_member(Grouping *grouping, uint32 row)
{
	GroupMember member = {row, get_float8_nan()};

	if (grouping->rule == RULE_CONNECTED)
		member.representative = find_first(grouping, row);
	else if (!is_kept(grouping, row))
		member = member_of_kept(grouping, row);
	return member;
}
