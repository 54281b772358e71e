/*
 * inverted_index.c
 *		Three inverted indexes of sets, with one vocabulary.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "port/pg_bitutils.h"

#include "base/memory.h"
#include "join/engine/arena.h"
#include "join/engine/inverted_index.h"

#define MIN_BUCKETS	64

/*
 * Buckets for each key where keys are fewer than postings, and buckets that a
 * cache holds.
 */
#define BUCKETS_A_KEY	2
#define CACHED_BUCKETS	8192

/* Longest list that is searched one by one. */
#define SHORT_LIST		8

/*
 * Number of buckets for npostings postings of about nkeys different keys: a
 * power of two, for one or two postings each.  If keys are frequent, more
 * buckets would be empty.
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

	while (n < npostings / 2 &&
		   (n < CACHED_BUCKETS || n / BUCKETS_A_KEY < nkeys))
		n *= 2;
	return n;
}

/* InvertedIndex.shift for that number of buckets. */
int
inverted_index_shift(uint64 nbuckets)
{
	return 64 - pg_leftmost_one_pos64(nbuckets);
}

/*
 * Bytes of the private part of an index for each process, if the index is
 * shared.
 */
size_t
inverted_index_own_bytes(uint32 nsets)
{
	return nsets * (sizeof(Accumulator) + 2 * sizeof(uint32));
}

/* Bytes of an index of that size. */
size_t
inverted_index_bytes(uint32 nsets, uint64 npostings)
{
	return inverted_index_buckets(Min(npostings, PG_UINT32_MAX), npostings) *
		sizeof(Bucket) +
		npostings * sizeof(Posting) + nsets * sizeof(IndexedSet) +
		inverted_index_own_bytes(nsets);
}

/* Allocate memory of any size in the current memory context. */
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
	for (uint32 i = 0; i < nsets; i++)
	{
		CHECK_EVERY(i);
		index->sizes[i] = sets[i].size << 2 | set_sides(&sets[i]);
	}
}

void
announced_index_create(InvertedIndex *index, const JoinSet *sets, uint32 nsets,
					   uint64 npostings, uint64 nkeys)
{
	uint64		nbuckets = inverted_index_buckets(npostings, nkeys);

	Assert(npostings <= PG_UINT32_MAX);
	index->shift = inverted_index_shift(nbuckets);
	index->buckets = alloc_zeros(nbuckets * sizeof(Bucket));
	index->postings = alloc_huge(npostings * sizeof(Posting));
	index->entries = alloc_huge(nsets * sizeof(IndexedSet));
	index->npostings = npostings;
	index->mode = INDEX_ANNOUNCED;
	index->announced.least = 0;
	index->nadded = 0;
	index->bytes = inverted_index_bytes(nsets, npostings);
	make_own(index, sets, nsets);
}

void
shared_view_attach(InvertedIndex *index, const JoinSet *sets, uint32 nsets)
{
	Assert(index->buckets != NULL && index->postings != NULL);
	index->mode = INDEX_SHARED;
	index->shared.least = index->shared.own = 0;
	index->nadded = nsets;
	index->bytes = inverted_index_own_bytes(nsets);
	make_own(index, sets, nsets);
}

/* Free an index, of which a shared one has only a part; there may be none. */
void
inverted_index_free(InvertedIndex *index)
{
	if (index->buckets == NULL)
		return;
	if (index->mode != INDEX_SHARED)
	{
		pfree(index->buckets);
		pfree(index->postings);
		pfree(index->entries);
	}
	if (index->mode == INDEX_GROWING && index->growing.filter != NULL)
		pfree(index->growing.filter);
	pfree(index->accumulators);
	pfree(index->sizes);
	pfree(index->candidates);
	memset(index, 0, sizeof(InvertedIndex));
}

/* Room of a growing index at first, unless fewer postings are expected. */
#define FIRST_POSTINGS	8192
#define POSTINGS_A_SET	8

void
growing_index_create(InvertedIndex *index, uint64 npostings, uint64 nkeys)
{
	uint64		nbuckets = inverted_index_buckets(Min(npostings,
													  PG_UINT32_MAX), nkeys);
	uint32		room;

	memset(index, 0, sizeof(InvertedIndex));
	index->mode = INDEX_GROWING;
	index->shift = inverted_index_shift(nbuckets);
	index->buckets = alloc_zeros(nbuckets * sizeof(Bucket));
	index->npostings = Min(Max(npostings, MIN_BUCKETS), FIRST_POSTINGS);
	index->postings = alloc_huge(index->npostings * sizeof(Posting));
	index->growing.nused = 1;	/* place 0 stands for none */
	room = index->growing.max_sets = index->npostings / POSTINGS_A_SET;
	index->entries = alloc_huge(room * sizeof(IndexedSet));
	index->accumulators = alloc_zeros(room * sizeof(Accumulator));
	index->sizes = alloc_huge(room * sizeof(uint32));
	index->candidates = alloc_huge(room * sizeof(uint32));
}

/* Postings for each word of a filter. */
#define FILTER_POSTINGS	4

void
growing_index_create_filter(InvertedIndex *index, uint64 npostings)
{
	uint64		n = 2;

	Assert(index->mode == INDEX_GROWING && index->nadded == 0);
	while (n < npostings / FILTER_POSTINGS)
		n *= 2;
	index->growing.filter = alloc_zeros(n * sizeof(uint64));
	index->growing.filter_shift = inverted_index_shift(n);
}

/* How much is added to room for that many sets or postings that is full. */
static uint64
grown_by(uint64 room)
{
	return room / 16 + 1;
}

void
growing_index_reserve(InvertedIndex *index, uint32 size)
{
	uint32		room = index->growing.max_sets;

	Assert(index->mode == INDEX_GROWING && index->nadded <= room);
	if (index->nadded == room)
	{
		uint32		n = room + grown_by(room);

		index->entries = repalloc_huge(index->entries, n * sizeof(IndexedSet));
		index->accumulators = repalloc_huge(index->accumulators,
											n * sizeof(Accumulator));
		memset(index->accumulators + room, 0,
			   (n - room) * sizeof(Accumulator));
		index->sizes = repalloc_huge(index->sizes, n * sizeof(uint32));
		index->candidates = repalloc_huge(index->candidates,
										  n * sizeof(uint32));
		index->growing.max_sets = n;
	}
	/* it has rows of both sides */
	index->sizes[index->nadded] = size << 2 | 3;
}

size_t
growing_index_bytes_with(const InvertedIndex *index, uint32 n, uint64 nkeys)
{
	size_t		a_set = sizeof(IndexedSet) + sizeof(Accumulator) + 2 *
	sizeof(uint32);
	uint64		postings = index->growing.nused + 2 * nkeys;
	uint64		sets = index->nadded + (uint64) n;

	Assert(index->mode == INDEX_GROWING);
	postings = postings <= index->npostings ? index->npostings :
		postings + grown_by(postings);
	sets = sets <= index->growing.max_sets ? index->growing.max_sets :
		sets + grown_by(sets);
	return (sizeof(Bucket) << (64 - index->shift)) +
		(index->growing.filter == NULL ? 0 :
		 sizeof(uint64) << (64 - index->growing.filter_shift)) +
		postings * sizeof(Posting) + sets * a_set;
}

/* Add that many places for postings, from which buckets take theirs. */
static uint32
add_places(InvertedIndex *index, uint64 places)
{
	uint32		start = index->growing.nused;
	uint64		wanted = start + places;

	if (wanted > index->npostings)
	{
		index->npostings = Max(index->npostings + grown_by(index->npostings),
							   wanted);
		if (index->npostings > PG_UINT32_MAX)
			ereport(ERROR,
					(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
					 errmsg("index of groups would have more than %u postings",
							PG_UINT32_MAX),
					 errhint("Lower work_mem, so that groups are made in parts.")));
		index->postings = repalloc_huge(index->postings,
										index->npostings * sizeof(Posting));
	}
	index->growing.nused = wanted;
	return start;
}

void
growing_index_move(InvertedIndex *index, Bucket *bucket)
{
	GrowingIndex *growing = &index->growing;
	uint32		class = bucket->n == 0 ? 0 :
	pg_leftmost_one_pos32(bucket->n) + 1;
	uint32		start = growing->free[class];

	Assert(index->mode == INDEX_GROWING);
	Assert(bucket->n == 0 || pg_popcount32(bucket->n) == 1);
	if (start != 0)
		growing->free[class] = index->postings[start].set;
	else
		start = add_places(index, UINT64CONST(1) << class);
	if (bucket->n > 0)
	{
		memcpy(&index->postings[start], &index->postings[bucket->start],
			   bucket->n * sizeof(Posting));
		index->postings[bucket->start].set = growing->free[class - 1];
		growing->free[class - 1] = bucket->start;
	}
	bucket->start = start;
}

void
announced_index_count(InvertedIndex *index, const uint64 *keys, uint32 n)
{
	inverted_index_fetch_buckets(index, keys, n);
	for (uint32 i = 0; i < n; i++)
	{
		CHECK_EVERY(i);
		inverted_index_bucket(index, keys[i])->n++;
	}
}

void
announced_index_allocate(InvertedIndex *index)
{
	uint64		nbuckets = UINT64CONST(1) << (64 - index->shift);
	uint32		start = 0;

	Assert(index->mode == INDEX_ANNOUNCED);
	for (uint64 i = 0; i < nbuckets; i++)
	{
		CHECK_EVERY(i);
		index->buckets[i].start = start;
		start += index->buckets[i].n;
		index->buckets[i].n = 0;
	}
	Assert(start <= index->npostings);
}

/* Sets are added */

/* Add keys to the filter of a growing index, if it has one. */
static void
add_to_filter(InvertedIndex *index, const uint64 *keys, uint32 n)
{
	GrowingIndex *growing = &index->growing;

	for (uint32 i = 0; growing->filter != NULL && i < n; i++)
	{
		uint64		hash = inverted_index_hash(keys[i]);

		CHECK_EVERY(i);
		growing->filter[hash >> growing->filter_shift] |=
			growing_index_bits(hash);
	}
}

/* Add postings for n keys of the next set, with the tokens' positions. */
static pg_attribute_always_inline void
add_keys(InvertedIndex *index, IndexMode mode, const uint64 *keys, uint32 n,
		 uint32 position)
{
	for (uint32 i = 0; i < n; i++)
	{
		Posting    *posting = inverted_index_put(index, mode, keys[i]);

		CHECK_EVERY(i);
		posting->key = keys[i];
		posting->set = index->nadded;
		posting->payload.position = position + i;
	}
}

void
inverted_index_add(InvertedIndex *index, const uint64 *keys, uint32 n,
				   uint32 position)
{
	if (index->mode == INDEX_GROWING)
	{
		add_to_filter(index, keys, n);
		add_keys(index, INDEX_GROWING, keys, n, position);
	}
	else
		add_keys(index, INDEX_ANNOUNCED, keys, n, position);
	if (n > 0)
		index->entries[index->nadded].suffix =
			suffix_bound(keys, n,
						 INDEXED_SIZE(index, index->nadded) - position);
	index->nadded++;
}

/* Add postings for n keys of the next set, all with the same bitmap. */
static pg_attribute_always_inline void
add_bitmaps(InvertedIndex *index, IndexMode mode, const uint64 *keys, uint32 n,
			const Posting *small)
{
	for (uint32 i = 0; i < n; i++)
	{
		Posting    *posting = inverted_index_put(index, mode, keys[i]);

		CHECK_EVERY(i);
		*posting = *small;
		posting->set = index->nadded;
	}
}

void
inverted_index_add_bitmap(InvertedIndex *index, const uint64 *keys, uint32 n,
						  const Posting *small, uint64 second)
{
	Assert(posting_is_small(small));
	if (index->mode == INDEX_GROWING)
	{
		add_to_filter(index, keys, n);
		add_bitmaps(index, INDEX_GROWING, keys, n, small);
	}
	else
		add_bitmaps(index, INDEX_ANNOUNCED, keys, n, small);
	index->entries[index->nadded].bitmap = second;
	index->nadded++;
}

/* Postings are searched */

/*
 * The first of n postings whose set is not before that one; n if there is
 * none.
 */
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

const Posting *
inverted_index_from(const Posting *posting, const Posting *end, uint32 set)
{
	size_t		step = 1;

	while (step < (size_t) (end - posting) && posting[step].set < set)
	{
		posting += step;
		step *= 2;
	}
	return posting +
		first_from(posting, Min(step + 1, (size_t) (end - posting)), set);
}

/*
 * The first set, from that one on, that has at least that size, or the limit.
 */
uint32
inverted_index_first_of_size(const InvertedIndex *index, uint32 from,
							 uint64 size)
{
	Assert(index->mode != INDEX_GROWING);
	while (from < index->limit && INDEXED_SIZE(index, from) < size)
	{
		CHECK_EVERY(from);
		from++;
	}
	return from;
}

/* The first posting of a bucket whose set is not too small, or its end. */
const Posting *
shared_view_not_small(const InvertedIndex *index, const Bucket *bucket)
{
	const Posting *postings = &index->postings[bucket->start];

	return postings + first_from(postings, bucket->n, index->shared.least);
}
