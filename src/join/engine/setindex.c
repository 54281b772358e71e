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

/* Buckets for that many postings: a power of two, for one or two each. */
static uint64
buckets_for(uint64 npostings)
{
	uint64		n = FEWEST_BUCKETS;

	while (n < npostings / 2)
		n *= 2;
	return n;
}

/* Bytes of an index with room for that much. */
size_t
setindex_bytes(uint32 nsets, uint64 npostings)
{
	return buckets_for(npostings) * sizeof(Bucket) +
		npostings * sizeof(Posting) +
		nsets * (sizeof(Accumulator) + 2 * sizeof(uint32));
}

static void *
alloc_huge(size_t bytes)
{
	return MemoryContextAllocHuge(CurrentMemoryContext, Max(bytes, 1));
}

/* An index over sets, in the order of their sizes; no postings as yet. */
void
setindex_create(InvertedIndex *index, const JoinSet *sets, uint32 nsets,
					uint64 npostings)
{
	uint64		nbuckets = buckets_for(npostings);

	if (npostings > PG_UINT32_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("index of a similarity join would have " UINT64_FORMAT " postings",
						npostings),
				 errdetail("It can have at most %u.", PG_UINT32_MAX),
				 errhint("Lower work_mem, so that the join is done in parts.")));
	index->shift = 64 - pg_leftmost_one_pos64(nbuckets);
	index->buckets = alloc_zeros(nbuckets * sizeof(Bucket));
	index->postings = alloc_huge(npostings * sizeof(Posting));
	index->npostings = npostings;
	index->accumulators = alloc_zeros(nsets * sizeof(Accumulator));
	index->sizes = alloc_huge(nsets * sizeof(uint32));
	index->candidates = alloc_huge(nsets * sizeof(uint32));
	index->ncandidates = 0;
	index->nadded = 0;
	index->bytes = setindex_bytes(nsets, npostings);
	for (uint32 i = 0; i < nsets; i++)
	{
		CHECK_EVERY(i);
		index->sizes[i] = sets[i].size << 2 | SET_SIDES(&sets[i]);
	}
}

void
setindex_free(InvertedIndex *index)
{
	if (index->buckets == NULL)
		return;
	pfree(index->buckets);
	pfree(index->postings);
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
	index->nadded++;
}
