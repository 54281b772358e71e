/*
 * paircount.c
 *		Pair-Count: every posting list yields all of its pairs.
 *
 * The pairs of sets in each posting list are counted in a hash table; a pair
 * that has been counted often enough is a candidate.  The table is bounded:
 * it holds the pairs of a range of probing sets at a time, as many as fit,
 * and the lists are gone through once for each range.
 *
 * A set that is not in the index itself (it comes from disk, or the measure is
 * not symmetric) has its own counters for the others.
 *
 * S. Sarawagi, A. Kirpal, "Efficient set joins on similarity predicates",
 * SIGMOD 2004.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "base/linear_probing.h"
#include "join/algorithms/prefix_filter.h"
#include "join/classic/classic.h"
#include "join/engine/arena.h"

/* The share of the memory that the table may take. */
#define TABLE_SHARE		8

typedef struct PairCount
{
	uint32		low;			/* number of the set that is in the index */
	uint32		high;			/* number of the set that probes */
	uint32		count;			/* shared elements; 0: a free slot */
} PairCount;

typedef struct PairTable
{
	PairCount  *pairs;			/* hash table, then sorted by high */
	size_t		slots;
	Probing		probing;		/* of the slots */
	uint64		npairs;
	uint64		next;			/* pair to hand out */
	uint32		begin;			/* probing sets of the range */
	uint32		end;
} PairTable;

/* Pairs that a set makes with those before it, equal ones counted again. */
static uint64
pairs_of(Search *search, uint32 number)
{
	const JoinSet *set = &search->sets[number];
	uint64		n = 0;

	for (uint32 i = 0; i < set->nkeys; i++)
	{
		const Bucket *bucket = setindex_bucket(&search->index, set->keys[i]);

		CHECK_EVERY(i);
		/* from the beginning of the bucket to this set's own posting */
		for (uint32 j = 0; j < bucket->n; j++)
		{
			CHECK_EVERY(j);
			if (search->index.postings[bucket->start + j].set >= number)
				break;
			n++;
		}
	}
	return n;
}

/* Counts one pair. */
static void
count_pair(PairTable *table, uint32 low, uint32 high)
{
	size_t		slot = probing_first(&table->probing,
									 (uint64) high << 32 | low);
	PairCount  *pair = &table->pairs[slot];

	while (pair->count != 0 && (pair->low != low || pair->high != high))
	{
		slot = probing_next(&table->probing, slot);
		pair = &table->pairs[slot];
	}
	pair->low = low;
	pair->high = high;
	pair->count++;
}

/* Counts the pairs of one bucket whose probing set is in the range. */
static void
count_bucket(Search *search, PairTable *table, const Bucket *bucket)
{
	const Posting *postings = &search->index.postings[bucket->start];

	for (uint32 i = 0; i < bucket->n; i++)
	{
		const Posting *high = &postings[i];

		if (high->set < table->begin || high->set >= table->end)
			continue;
		CHECK_FOR_INTERRUPTS();
		for (uint32 j = 0; j < i; j++)
		{
			CHECK_EVERY(j);
			if (postings[j].key == high->key && postings[j].set != high->set)
				count_pair(table, postings[j].set, high->set);
		}
		search->stats.visited += i;
	}
}

static int
compare_pairs(const PairCount *x, const PairCount *y)
{
	if (x->high != y->high)
		return x->high < y->high ? -1 : 1;
	return (x->low > y->low) - (x->low < y->low);
}

#define ST_SORT sort_pairs
#define ST_ELEMENT_TYPE PairCount
#define ST_COMPARE(a, b) compare_pairs(a, b)
#define ST_SCOPE static
#define ST_CHECK_FOR_INTERRUPTS
#define ST_DEFINE
#include "lib/sort_template.h"

/* Keeps the pairs that share enough, in the order of the probing sets. */
static void
keep_near(Search *search, PairTable *table)
{
	table->npairs = table->next = 0;
	for (uint64 i = 0; i < table->slots; i++)
	{
		PairCount	pair = table->pairs[i];

		CHECK_EVERY(i);
		if (pair.count != 0 &&
			pair.count >= search_need(search,
									   INDEXED_SIZE(&search->index, pair.low),
									   INDEXED_SIZE(&search->index, pair.high)))
			table->pairs[table->npairs++] = pair;
	}
	sort_pairs(table->pairs, table->npairs);
}

/* Counts the pairs of the next range of sets, from `begin` on. */
static void
count_range(Search *search, PairTable *table, uint32 begin)
{
	uint64		nbuckets = UINT64CONST(1) << (64 - search->index.shift);
	uint64		most = search->memory / TABLE_SHARE /
		(2 * sizeof(PairCount));
	uint64		n = 0;

	table->begin = table->end = begin;
	do
	{
		CHECK_FOR_INTERRUPTS();
		n += pairs_of(search, table->end++);
	} while (table->end < search->nsets && n < most);
	table->slots = probing_places(n);
	probing_init(&table->probing, table->slots);
	if (table->pairs != NULL)
		pfree(table->pairs);
	table->pairs = NULL;
	table->pairs = alloc_zeros(table->slots * sizeof(PairCount));
	for (uint64 i = 0; i < nbuckets; i++)
		count_bucket(search, table, &search->index.buckets[i]);
	keep_near(search, table);
}

static void
pair_count_probe(Search *search, const JoinSet *set, uint32 sides)
{
	InvertedIndex *index = &search->index;
	PairTable  *table = search->chunk_state;
	uint32		number = index->limit;

	if (!search->symmetric || number == search->nsets)
	{
		all_keys_scan(search, set, sides);
		return;
	}
	if (table == NULL)
		table = search->chunk_state = palloc0(sizeof(PairTable));
	if (number >= table->end)
		count_range(search, table, number);
	for (; table->next < table->npairs; table->next++)
	{
		const PairCount *pair = &table->pairs[table->next];

		if (pair->high > number)
			break;
		/* or one whose probe another engine makes */
		if (pair->high < number)
			continue;
		if ((INDEXED_SIDES(index, pair->low) & sides) != 0)
			index->candidates[index->ncandidates++] = pair->low;
	}
}

static void
pair_count_end(Search *search)
{
	PairTable  *table = search->chunk_state;

	if (table == NULL)
		return;
	if (table->pairs != NULL)
		pfree(table->pairs);
	pfree(table);
	search->chunk_state = NULL;
}

const Algorithm pair_count = {
	.name = "pair-count",
	.ordered = true,
	.sized = true,
	.at_once = true,
	.most_indexed = all_keys_most,
	.most_keys = all_keys_most,
	.prepare = all_keys_prepare,
	.indexed_keys = all_keys_indexed,
	.probe = pair_count_probe,
	.end_chunk = pair_count_end,
	.announce = sets_announce,
	.may_have_partner = sets_may_have_partner,
	.verify = sets_verify,
	.reflexive = sets_reflexive,
};
