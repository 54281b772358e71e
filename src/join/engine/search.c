/*
 * search.c
 *		The inverted index of sets, and the interface of algorithms.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "port/pg_bitutils.h"

#include "join/engine/arena.h"
#include "join/engine/search.h"

/*
 * An inverted index over the keys of a chunk of sets
 *
 * A hash table whose buckets are ranges of one array of postings.  Sets are announced first, so
 * that each bucket gets a place of the right size, and then added in the order of their
 * numbers, which is the order of their sizes; the postings of a bucket are in that order.  A
 * posting has its key in full.
 */

#define MIN_BUCKETS	64

/* Buckets for each key where keys are fewer than postings, and buckets that a cache holds. */
#define BUCKETS_A_KEY	2
#define CACHED_BUCKETS	8192

/* Longest list that is searched one by one. */
#define SHORT_LIST		8

/*
 * Number of buckets for npostings postings of about nkeys different keys: a power of two, for
 * one or two postings each.  If keys are frequent, more buckets would be empty.
 */
uint64
inverted_index_buckets(uint64 npostings, uint64 nkeys)
{
	uint64		n = MIN_BUCKETS;

	if (npostings > PG_UINT32_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("index of a similarity join would have " UINT64_FORMAT " postings",
						npostings),
				 errdetail("It can have at most %u.", PG_UINT32_MAX),
				 errhint("Lower work_mem, so that the join is done in parts.")));

	while (n < npostings / 2 && (n < CACHED_BUCKETS || n / BUCKETS_A_KEY < nkeys))
		n *= 2;
	return n;
}

/* InvertedIndex.shift for that number of buckets. */
int
inverted_index_shift(uint64 nbuckets)
{
	return 64 - pg_leftmost_one_pos64(nbuckets);
}

/* Bytes of the private part of an index for each process, if the index is shared. */
size_t
inverted_index_own_bytes(uint32 nsets)
{
	return nsets * (sizeof(Accumulator) + 2 * sizeof(uint32));
}

/* Bytes of an index of that size. */
size_t
inverted_index_bytes(uint32 nsets, uint64 npostings)
{
	return inverted_index_buckets(Min(npostings, PG_UINT32_MAX), npostings) * sizeof(Bucket) +
		npostings * sizeof(Posting) + nsets * sizeof(IndexedSet) + inverted_index_own_bytes(nsets);
}

static void *
alloc_huge(size_t bytes)
{
	return MemoryContextAllocHuge(CurrentMemoryContext, Max(bytes, 1));
}

/* Allocate the part of an index that each process has for itself. */
static void
make_own(InvertedIndex *index, const JoinSet *sets, uint32 nsets)
{
	index->accumulators = alloc_zeros(nsets * sizeof(Accumulator));
	index->sizes = alloc_huge(nsets * sizeof(uint32));
	index->candidates = alloc_huge(nsets * sizeof(uint32));
	index->ncandidates = 0;
	index->least = 0;
	for (uint32 i = 0; i < nsets; i++)
	{
		CHECK_EVERY(i);
		index->sizes[i] = sets[i].size << 2 | SET_SIDES(&sets[i]);
	}
}

/* Create an index over sets in the order of their sizes, without postings. */
void
inverted_index_create(InvertedIndex *index, const JoinSet *sets, uint32 nsets,
					  uint64 npostings, uint64 nkeys)
{
	uint64		nbuckets = inverted_index_buckets(npostings, nkeys);

	Assert(npostings <= PG_UINT32_MAX);
	index->shift = inverted_index_shift(nbuckets);
	index->buckets = alloc_zeros(nbuckets * sizeof(Bucket));
	index->postings = alloc_huge(npostings * sizeof(Posting));
	index->entries = alloc_huge(nsets * sizeof(IndexedSet));
	index->npostings = npostings;
	index->nadded = 0;
	index->shared = false;
	index->bytes = inverted_index_bytes(nsets, npostings);
	make_own(index, sets, nsets);
}

void
inverted_index_attach(InvertedIndex *index, const JoinSet *sets, uint32 nsets)
{
	Assert(index->buckets != NULL && index->postings != NULL);
	index->nadded = nsets;
	index->shared = true;
	index->bytes = inverted_index_own_bytes(nsets);
	make_own(index, sets, nsets);
}

void
inverted_index_free(InvertedIndex *index)
{
	if (index->buckets == NULL)
		return;
	if (!index->shared)
	{
		pfree(index->buckets);
		pfree(index->postings);
		pfree(index->entries);
	}
	pfree(index->accumulators);
	pfree(index->sizes);
	pfree(index->candidates);
	memset(index, 0, sizeof(InvertedIndex));
}

/* Growing indexes */

#define FIRST_SETS		1024
#define FIRST_POSTINGS	8192

/*
 * Create an empty index whose sets are added one by one, in any order of size.  The numbers of
 * postings and of different keys are estimates.
 */
void
inverted_index_create_growing(InvertedIndex *index, uint64 npostings, uint64 nkeys)
{
	uint64		nbuckets = inverted_index_buckets(Min(npostings, PG_UINT32_MAX), nkeys);

	memset(index, 0, sizeof(InvertedIndex));
	index->growing = true;
	index->shift = inverted_index_shift(nbuckets);
	index->buckets = alloc_zeros(nbuckets * sizeof(Bucket));
	index->npostings = FIRST_POSTINGS;
	index->postings = alloc_huge(index->npostings * sizeof(Posting));
	index->max_sets = FIRST_SETS;
	index->entries = alloc_huge(index->max_sets * sizeof(IndexedSet));
	index->accumulators = alloc_zeros(index->max_sets * sizeof(Accumulator));
	index->sizes = alloc_huge(index->max_sets * sizeof(uint32));
	index->candidates = alloc_huge(index->max_sets * sizeof(uint32));
}

/* Allocate one more set of that size, which is added next. */
void
inverted_index_grow_for(InvertedIndex *index, uint32 size)
{
	Assert(index->growing && index->nadded <= index->max_sets);
	if (index->nadded == index->max_sets)
	{
		uint32		n = index->max_sets * 2;

		index->entries = repalloc_huge(index->entries, n * sizeof(IndexedSet));
		index->accumulators = repalloc_huge(index->accumulators, n * sizeof(Accumulator));
		memset(index->accumulators + index->max_sets, 0,
			   index->max_sets * sizeof(Accumulator));
		index->sizes = repalloc_huge(index->sizes, n * sizeof(uint32));
		index->candidates = repalloc_huge(index->candidates, n * sizeof(uint32));
		index->max_sets = n;
	}
	/* it has rows of both sides */
	index->sizes[index->nadded] = size << 2 | 3;
}

/* Upper bound of the bytes of the index while it adds one more set of nkeys keys. */
size_t
inverted_index_bytes_with(const InvertedIndex *index, uint32 nkeys)
{
	size_t		a_set = sizeof(IndexedSet) + sizeof(Accumulator) + 2 * sizeof(uint32);
	uint64		postings = index->npostings;
	uint64		sets = index->max_sets;

	if (index->nused + 2 * (uint64) nkeys > postings)
		postings = postings / 4 * 5;
	if (index->nadded == index->max_sets)
		sets *= 2;
	return (sizeof(Bucket) << (64 - index->shift)) + postings * sizeof(Posting) +
		sets * a_set;
}

/* Move the postings of a full bucket to a place of twice the size. */
void
inverted_index_grow_bucket(InvertedIndex *index, Bucket *bucket)
{
	uint64		places = bucket->n == 0 ? 1 : 2 * (uint64) bucket->n;

	Assert(bucket->n == 0 || pg_popcount32(bucket->n) == 1);
	if (index->nused + places > index->npostings)
	{
		index->npostings = Max(index->npostings / 4 * 5, index->nused + places);
		if (index->npostings > PG_UINT32_MAX)
			ereport(ERROR,
					(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
					 errmsg("index of groups would have more than %u postings",
							PG_UINT32_MAX),
					 errhint("Lower work_mem, so that groups are made in parts.")));
		index->postings = repalloc_huge(index->postings, index->npostings * sizeof(Posting));
	}
	memcpy(&index->postings[index->nused], &index->postings[bucket->start],
		   bucket->n * sizeof(Posting));
	bucket->start = index->nused;
	index->nused += places;
}

/* Announce that a set will be added with these keys. */
void
inverted_index_count(InvertedIndex *index, const uint64 *keys, uint32 n)
{
	inverted_index_fetch_buckets(index, keys, n);
	for (uint32 i = 0; i < n; i++)
	{
		CHECK_EVERY(i);
		inverted_index_bucket(index, keys[i])->n++;
	}
}

/* Allocate the place of each bucket, when all sets have been announced. */
void
inverted_index_allocate(InvertedIndex *index)
{
	uint64		nbuckets = UINT64CONST(1) << (64 - index->shift);
	uint32		start = 0;

	Assert(!index->growing && !index->shared);
	for (uint64 i = 0; i < nbuckets; i++)
	{
		CHECK_EVERY(i);
		index->buckets[i].start = start;
		start += index->buckets[i].n;
		index->buckets[i].n = 0;
	}
	Assert(start <= index->npostings);
}

/* Add the next set with these keys; the first one is at `position` in the set. */
void
inverted_index_add(InvertedIndex *index, const uint64 *keys, uint32 n, uint32 position)
{
	for (uint32 i = 0; i < n; i++)
	{
		Posting    *posting = inverted_index_put(index, keys[i]);

		CHECK_EVERY(i);
		posting->key = keys[i];
		posting->set = index->nadded;
		posting->payload.position = position + i;
	}
	if (n > 0)
		index->entries[index->nadded].suffix =
			suffix_bound(keys, n, INDEXED_SIZE(index, index->nadded) - position);
	index->nadded++;
}

/*
 * Add a small set, whose postings are all like that one; its entry has the second bitmap.
 */
void
inverted_index_add_bitmap(InvertedIndex *index, const uint64 *keys, uint32 n,
						  const Posting *small, uint64 second)
{
	for (uint32 i = 0; i < n; i++)
	{
		Posting    *posting = inverted_index_put(index, keys[i]);

		CHECK_EVERY(i);
		*posting = *small;
		posting->set = index->nadded;
	}
	index->entries[index->nadded].bitmap = second;
	index->nadded++;
}

/* The first of n postings whose set is not before that one; n if there is none. */
static uint32
first_from(const Posting *postings, uint32 n, uint32 set)
{
	uint32		low = 0;

	while (n - low > SHORT_LIST)
	{
		uint32		middle = low + (n - low) / 2;

		if (postings[middle].set < set)
			low = middle + 1;
		else
			n = middle;
	}
	while (low < n && postings[low].set < set)
		low++;
	return low;
}

/*
 * The first posting, from this one on, whose set is not before that one, or `end`; by
 * exponential search, as it is mostly close.
 */
const Posting *
inverted_index_from(const Posting *posting, const Posting *end, uint32 set)
{
	size_t		step = 1;

	while (step < (size_t) (end - posting) && posting[step].set < set)
	{
		posting += step;
		step *= 2;
	}
	return posting + first_from(posting, Min(step + 1, (size_t) (end - posting)), set);
}

/* Note that sets below that size are too small; later sizes are not less. */
void
inverted_index_begin_at(InvertedIndex *index, uint64 size)
{
	while (!index->growing && index->least < index->limit &&
		   INDEXED_SIZE(index, index->least) < size)
	{
		CHECK_EVERY(index->least);
		index->least++;
	}
}

/* The first posting of a bucket whose set is not too small, or its end. */
const Posting *
inverted_index_not_small(const InvertedIndex *index, const Bucket *bucket)
{
	const Posting *postings = &index->postings[bucket->start];

	return postings + first_from(postings, bucket->n, index->least);
}

/* Prefixes and overlaps by size, and a set in order, for algorithms */

/* Store an answer in place of that for another size. */
static uint32
keep_answer(SizeCache *cache, uint32 other, uint32 size, uint32 answer)
{
	cache->key[SIZE_SLOT(other, size)] = SIZE_KEY(other, size);
	cache->answer[SIZE_SLOT(other, size)] = answer;
	return answer;
}

uint32
search_find_need(JoinSearch *search, uint32 indexed, uint32 probing)
{
	return keep_answer(&search->need, probing, indexed,
					   measure_min_overlap(search->measure, indexed, probing,
										   search->threshold));
}

uint64
search_find_least_overlap(JoinSearch *search, bool indexed, uint32 size)
{
	Measure		measure = indexed ? search->measure : measure_commute(search->measure);
	uint64		least = measure_least_overlap(measure, size, search->threshold);

	/* size + 1 of the greatest size does not fit into the cache */
	return least > PG_UINT32_MAX ? least : keep_answer(&search->least, indexed, size, least);
}

/* Length of a prefix that has one of any `need` elements of the set. */
static uint32
prefix_of(uint32 size, uint64 need)
{
	return need > size ? 0 : size - need + 1;
}

uint32
search_find_indexed_prefix(JoinSearch *search, uint32 size)
{
	double		t = search->threshold;
	uint64		need;

	if (search->symmetric)
		need = measure_min_overlap(search->measure, size, size, t);
	else
		need = measure_least_overlap(search->measure, size, t);
	return keep_answer(&search->indexed_prefix, 0, size, prefix_of(size, need));
}

uint32
search_find_probing_prefix(JoinSearch *search, uint32 size)
{
	uint64		need = measure_least_overlap(measure_commute(search->measure),
											 size, search->threshold);

	return keep_answer(&search->probing_prefix, 0, size, prefix_of(size, need));
}

const MatchSizes *
search_match_sizes(JoinSearch *search, uint32 size)
{
	MatchSizes *sizes = &search->matches;

	if (sizes->size != size)
	{
		sizes->size = size;
		measure_sizes(measure_commute(search->measure), size, search->threshold,
					  &sizes->least, &sizes->most);
	}
	return sizes;
}

/*
 * Drop values that occur in this set only, make its bitmap, and the keys of a prefix of that
 * length, which are valid until the next call.
 */
void
search_order(JoinSearch *search, JoinSet *set, uint32 prefix)
{
	uint32		dropped;

	set->nvalues = tokens_make(&search->counters, set->values, set->size, search->room);
	dropped = set->size - set->nvalues;
	set->keys = search->room;
	set->nkeys = prefix <= dropped ? 0 : Min(prefix - dropped, set->nvalues);
	tokens_select(set->keys, set->nvalues, set->nkeys);
	if (set->nvalues > 0)
		bitmap_make(set);
}
