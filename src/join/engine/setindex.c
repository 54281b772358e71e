/*
 * setindex.c
 *		An inverted index over the keys of a chunk of sets.
 *
 * A hash table whose buckets are ranges of one array of postings.  Sets are
 * announced first, so that each bucket gets a place of the right size, and
 * then added in the order of their numbers, which is the order of their
 * sizes; the postings of a bucket are in that order.  A posting has its key
 * in full.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/join/engine/setindex.c
 */
#include "postgres.h"

#include "miscadmin.h"
#include "port/pg_bitutils.h"

#include "join/engine/arena.h"
#include "join/engine/setindex.h"

#define FEWEST_BUCKETS	64

/* Where keys are fewer than postings: so many for each, or as many as a cache holds. */
#define BUCKETS_A_KEY	2
#define CACHED_BUCKETS	8192

/* A list that is not longer is looked through for where to begin and to end. */
#define SHORT_LIST		8

/*
 * Buckets for that many postings of about so many different keys: a power of two,
 * for one or two postings each.  Where keys come often, more buckets would be empty.
 */
uint64
setindex_buckets(uint64 npostings, uint64 nkeys)
{
	uint64		n = FEWEST_BUCKETS;

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

/* InvertedIndex.shift for that many. */
int
setindex_shift(uint64 nbuckets)
{
	return 64 - pg_leftmost_one_pos64(nbuckets);
}

/* Bytes of what each process has of sets for itself, where an index is shared. */
size_t
setindex_own_bytes(uint32 nsets)
{
	return nsets * (sizeof(Accumulator) + 2 * sizeof(uint32));
}

/* Bytes of an index with room for that much. */
size_t
setindex_bytes(uint32 nsets, uint64 npostings)
{
	return setindex_buckets(Min(npostings, PG_UINT32_MAX), npostings) * sizeof(Bucket) +
		npostings * sizeof(Posting) + nsets * sizeof(SetNote) + setindex_own_bytes(nsets);
}

static void *
alloc_huge(size_t bytes)
{
	return MemoryContextAllocHuge(CurrentMemoryContext, Max(bytes, 1));
}

/* What a process has of sets for itself. */
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

/* An index over sets, in the order of their sizes; no postings as yet. */
void
setindex_create(InvertedIndex *index, const JoinSet *sets, uint32 nsets,
				uint64 npostings, uint64 nkeys)
{
	uint64		nbuckets = setindex_buckets(npostings, nkeys);

	index->shift = setindex_shift(nbuckets);
	index->buckets = alloc_zeros(nbuckets * sizeof(Bucket));
	index->postings = alloc_huge(npostings * sizeof(Posting));
	index->notes = alloc_huge(nsets * sizeof(SetNote));
	index->npostings = npostings;
	index->nadded = 0;
	index->shared = false;
	index->bytes = setindex_bytes(nsets, npostings);
	make_own(index, sets, nsets);
}

/* One over the same sets that has been made, and that others look at, too. */
void
setindex_attach(InvertedIndex *index, const JoinSet *sets, uint32 nsets,
				Bucket *buckets, int shift, Posting *postings,
				uint64 npostings, SetNote *notes)
{
	index->shift = shift;
	index->buckets = buckets;
	index->postings = postings;
	index->npostings = npostings;
	index->notes = notes;
	index->nadded = nsets;
	index->shared = true;
	index->bytes = setindex_own_bytes(nsets);
	make_own(index, sets, nsets);
}

void
setindex_free(InvertedIndex *index)
{
	if (index->buckets == NULL)
		return;
	if (!index->shared)
	{
		pfree(index->buckets);
		pfree(index->postings);
		pfree(index->notes);
	}
	pfree(index->accumulators);
	pfree(index->sizes);
	pfree(index->candidates);
	memset(index, 0, sizeof(InvertedIndex));
}

/* Announces that a set will be added with these keys. */
void
setindex_count(InvertedIndex *index, const uint64 *keys, uint32 n)
{
	setindex_fetch_buckets(index, keys, n);
	for (uint32 i = 0; i < n; i++)
	{
		CHECK_EVERY(i);
		setindex_bucket(index, keys[i])->n++;
	}
}

/* All sets have been announced: gives each bucket its place. */
void
setindex_allot(InvertedIndex *index)
{
	uint64		nbuckets = UINT64CONST(1) << (64 - index->shift);
	uint32		start = 0;

	for (uint64 i = 0; i < nbuckets; i++)
	{
		CHECK_EVERY(i);
		index->buckets[i].start = start;
		start += index->buckets[i].n;
		index->buckets[i].n = 0;
	}
	Assert(start <= index->npostings);
}

/*
 * Adds the next set, with these keys, the first of which stands at `position`
 * in the set.
 */
void
setindex_add(InvertedIndex *index, const uint64 *keys, uint32 n, uint32 position)
{
	for (uint32 i = 0; i < n; i++)
	{
		Posting    *posting = setindex_put(index, keys[i]);

		CHECK_EVERY(i);
		posting->key = keys[i];
		posting->set = index->nadded;
		posting->position = position + i;
	}
	if (n > 0)
		index->notes[index->nadded].tail =
			setindex_tail(keys, n, INDEXED_SIZE(index, index->nadded) - position);
	index->nadded++;
}

/*
 * The same of a set whose postings have an image in place of their keys and
 * positions, and which has a second one.
 */
void
setindex_add_image(InvertedIndex *index, const uint64 *keys, uint32 n,
				   const Posting *image, uint64 second)
{
	for (uint32 i = 0; i < n; i++)
	{
		Posting    *posting = setindex_put(index, keys[i]);

		CHECK_EVERY(i);
		*posting = *image;
		posting->set = index->nadded;
	}
	index->notes[index->nadded].image = second;
	index->nadded++;
}

/* The first of n postings whose set is not before that one, or behind them. */
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

/* Sets are too small below that size; the next ones are not less. */
void
setindex_begin_at(InvertedIndex *index, uint64 size)
{
	while (index->least < index->limit &&
		   INDEXED_SIZE(index, index->least) < size)
	{
		CHECK_EVERY(index->least);
		index->least++;
	}
}

/* The first posting of a bucket whose set is not too small, or behind them. */
const Posting *
setindex_not_small(const InvertedIndex *index, const Bucket *bucket)
{
	const Posting *postings = &index->postings[bucket->start];

	return postings + first_from(postings, bucket->n, index->least);
}

/* The first of those postings whose set is no partner, or `end`. */
const Posting *
setindex_limit(const InvertedIndex *index, const Posting *posting,
			   const Posting *end)
{
	return posting + first_from(posting, end - posting, index->limit);
}
