/*
 * ppjoin.c
 *		PPJoin: a prefix index over sets, and the probe of one set.
 *
 * Elements are ordered by rising frequency, sets by rising size.  Two sets
 * that share at least `need` elements share one in their prefixes, the first
 * |x| - need + 1 elements; so an inverted index over prefixes finds all
 * candidates.  On the way through the posting lists
 *
 *	- the size filter passes over partners that are too small or too large;
 *	- the positional filter prunes a candidate once the tokens shared so far
 *	  and what is left of the two sets behind this token,
 *	  ubound = 1 + min(|x| - i, |y| - j), do not add up to `need`.
 *
 * What is left is verified on the sets themselves, a merge that stops as soon
 * as `need` is out of reach.  C. Xiao, W. Wang, X. Lin, J. X. Yu, "Efficient
 * similarity joins for near duplicate detection", WWW 2008.
 *
 * The index is a hash table whose buckets are ranges of one array of
 * postings.  A posting has the key of its token in full: the positional
 * filter would not be sound on a match of two tokens with different places in
 * the order.  (Two features with one key have one place, side by side; then
 * each pair of them counts as a shared token, so that the count runs ahead of
 * the positions and ubound stays an upper bound.)  Postings of a bucket are
 * in order of size, and probes come in order of size, so what is too small
 * for one probe is too small for all that follow.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/join/ppjoin.c
 */
#include "postgres.h"

#include "miscadmin.h"
#include "port/pg_bitutils.h"

#include "join/internal.h"

#define BUCKET_MULTIPLIER	UINT64CONST(0xA24BAED4963EE407)

#define PRUNED	UINT32_MAX		/* Accumulator.shared of a pruned candidate */

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
prefix_index_bytes(uint32 nsets, uint64 npostings)
{
	return buckets_for(npostings) * sizeof(Bucket) +
		npostings * sizeof(Posting) +
		nsets * (sizeof(Accumulator) + 2 * sizeof(uint32));
}

static void *
alloc_huge(size_t bytes, int flags)
{
	return MemoryContextAllocExtended(CurrentMemoryContext, Max(bytes, 1),
									  flags | MCXT_ALLOC_HUGE);
}

/* An index over sets, in the order of their sizes; no postings as yet. */
void
prefix_index_create(PrefixIndex *index, const JoinSet *sets, uint32 nsets,
					uint64 npostings)
{
	uint64		nbuckets = buckets_for(npostings);

	if (npostings > PG_UINT32_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("prefix index of a similarity join would have " UINT64_FORMAT " postings",
						npostings),
				 errdetail("It can have at most %u.", PG_UINT32_MAX),
				 errhint("Lower work_mem, so that the join is done in parts.")));
	index->shift = 64 - pg_leftmost_one_pos64(nbuckets);
	index->buckets = alloc_huge(nbuckets * sizeof(Bucket), MCXT_ALLOC_ZERO);
	index->postings = alloc_huge(npostings * sizeof(Posting), 0);
	index->npostings = npostings;
	index->accumulators = alloc_huge(nsets * sizeof(Accumulator),
									 MCXT_ALLOC_ZERO);
	index->sizes = alloc_huge(nsets * sizeof(uint32), 0);
	index->candidates = alloc_huge(nsets * sizeof(uint32), 0);
	index->ncandidates = 0;
	index->bytes = prefix_index_bytes(nsets, npostings);
	for (uint32 i = 0; i < nsets; i++)
		index->sizes[i] = sets[i].size << 2 | SET_SIDES(&sets[i]);
}

void
prefix_index_free(PrefixIndex *index)
{
	if (index->buckets == NULL)
		return;
	pfree(index->buckets);
	pfree(index->postings);
	pfree(index->accumulators);
	pfree(index->sizes);
	pfree(index->candidates);
	memset(index, 0, sizeof(PrefixIndex));
}

static inline uint64
bucket_of(const PrefixIndex *index, uint64 key)
{
	return (key * BUCKET_MULTIPLIER) >> index->shift;
}

/* Announces that a set will be added with the first n of its keys. */
void
prefix_index_count(PrefixIndex *index, const JoinSet *set, uint32 n)
{
	const uint64 *keys = set->keys;

	for (uint32 i = 0; i < n; i++)
		__builtin_prefetch(&index->buckets[bucket_of(index, keys[i])], 1);
	for (uint32 i = 0; i < n; i++)
		index->buckets[bucket_of(index, keys[i])].n++;
}

/* All sets have been announced: gives each bucket its place. */
void
prefix_index_allot(PrefixIndex *index)
{
	uint64		nbuckets = UINT64CONST(1) << (64 - index->shift);
	uint32		start = 0;

	for (uint64 i = 0; i < nbuckets; i++)
	{
		index->buckets[i].start = start;
		start += index->buckets[i].n;
		index->buckets[i].n = 0;
	}
	Assert(start <= index->npostings);
}

/* Adds a set of that number in the chunk, with the first n of its keys. */
void
prefix_index_add(PrefixIndex *index, uint32 number, const JoinSet *set,
				 uint32 n)
{
	for (uint32 i = 0; i < n; i++)
	{
		Bucket	   *bucket = &index->buckets[bucket_of(index, set->keys[i])];
		Posting    *posting = &index->postings[bucket->start + bucket->n++];

		posting->key = set->keys[i];
		posting->set = number;
		posting->position = set->size - set->nvalues + i;
	}
}

/*
 * Counts one shared token, at `position` in the indexed set and with `rest`
 * elements behind it in the probing set.
 */
static inline void
accumulate(SetJoin *join, const Probe *probe, const Posting *posting,
		   uint32 rest)
{
	PrefixIndex *index = &join->index;
	Accumulator *accumulator = &index->accumulators[posting->set];
	uint32		size = index->sizes[posting->set] >> 2;
	uint32		ubound;

	if (accumulator->shared == PRUNED)
		return;
	if (accumulator->shared == 0)
	{
		if ((index->sizes[posting->set] & probe->sides) == 0)
			return;
		if (accumulator->need == 0)
			index->candidates[index->ncandidates++] = posting->set;
		accumulator->need = setjoin_need(join, size, probe->set->size);
	}
	ubound = 1 + Min(rest, size - posting->position - 1);
	if (accumulator->shared + ubound >= accumulator->need)
		accumulator->shared++;
	else
	{
		accumulator->shared = PRUNED;
		join->stats.removed_position++;
	}
}

/* Looks through the posting list of the probe's token number i. */
static void
probe_token(SetJoin *join, const Probe *probe, uint32 i)
{
	PrefixIndex *index = &join->index;
	uint64		key = probe->set->keys[i];
	Bucket	   *bucket = &index->buckets[bucket_of(index, key)];
	uint32		rest = probe->set->size - probe->position - i - 1;
	const Posting *posting = &index->postings[bucket->start + bucket->first];
	const Posting *end = &index->postings[bucket->start + bucket->n];

	while (posting < end &&
		   (index->sizes[posting->set] >> 2) < probe->least_size)
	{
		posting++;
		bucket->first++;
		join->stats.removed_size++;
	}
	join->stats.visited += end - posting;
	for (; posting < end; posting++)
	{
		if (posting->key != key)
			continue;
		if ((index->sizes[posting->set] >> 2) > probe->most_size)
		{
			join->stats.removed_size += end - posting;
			break;
		}
		accumulate(join, probe, posting, rest);
	}
}

/*
 * Collects the candidates for a probe in index->candidates: sets that share a
 * token of their prefixes with it and have passed the filters.  Probes must
 * come with rising least_size.
 */
void
prefix_index_probe(SetJoin *join, const Probe *probe)
{
	PrefixIndex *index = &join->index;
	const JoinSet *set = probe->set;
	uint32		left = 0;

	index->ncandidates = 0;
	for (uint32 i = 0; i < set->nkeys; i++)
		__builtin_prefetch(&index->buckets[bucket_of(index, set->keys[i])]);
	for (uint32 i = 0; i < set->nkeys; i++)
	{
		CHECK_FOR_INTERRUPTS();
		probe_token(join, probe, i);
	}
	for (uint32 i = 0; i < index->ncandidates; i++)
	{
		uint32		candidate = index->candidates[i];
		Accumulator *accumulator = &index->accumulators[candidate];

		if (accumulator->shared != PRUNED)
			index->candidates[left++] = candidate;
		memset(accumulator, 0, sizeof(Accumulator));
	}
	index->ncandidates = left;
	join->stats.candidates += left;
}
