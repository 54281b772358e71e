/*
 * ppjoin.c
 *		PPJoin: prefixes, and filters by size and position.
 *
 * Elements are ordered by rising frequency, sets by rising size.  Two sets
 * that share at least `need` elements share one in their prefixes, the first
 * |x| - need + 1 elements; so an inverted index over prefixes finds all
 * candidates.  On the way through the posting lists
 *
 *	- the size filter passes over partners that are too small or too large;
 *	- the positional filter prunes a candidate once the tokens shared so far
 *	  and what is left of the two sets behind this token,
 *	  ubound = 1 + min(|x| - i, |y| - j), do not add up to `need`;
 *
 * and at their end a candidate is dropped if what its prefix shares and what
 * is left behind the prefixes do not add up.
 *
 * What is left is verified on the sets themselves, a merge that stops as soon
 * as `need` is out of reach.  C. Xiao, W. Wang, X. Lin, J. X. Yu, "Efficient
 * similarity joins for near duplicate detection", WWW 2008.
 *
 * Tokens are compared by their keys in full: the positional filter would not
 * be sound on a match of two tokens with different places in the order.  (Two
 * features with one key have one place, side by side; then each pair of them
 * counts as a shared token, so that the count runs ahead of the positions and
 * both bounds stay upper bounds, also where prefixes end between the two.)
 *
 * PPJoin+ adds the suffix filter, see suffix.c.  It costs more than it saves
 * once candidates are turned away by bitmaps.
 *
 * Elements that occur in one set only are dropped beforehand, but keep their
 * places: they would be the first of the prefix.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/join/ppjoin.c
 */
#include "postgres.h"

#include "miscadmin.h"

#include "join/internal.h"

/* A set that looks for its partners. */
typedef struct Probe
{
	const JoinSet *set;
	uint32		nkeys;			/* of its prefix */
	uint32		sides;			/* that a partner must have one of */
	bool		suffixes;		/* PPJoin+ */
	uint64		least_size;		/* of a partner */
	uint64		most_size;
} Probe;

static uint32
ppjoin_most_indexed(SetJoin *join, const JoinSet *set)
{
	return setjoin_indexed_prefix(join, set->size);
}

static uint32
ppjoin_most_keys(SetJoin *join, const JoinSet *set)
{
	return Max(setjoin_indexed_prefix(join, set->size),
			   setjoin_probing_prefix(join, set->size));
}

/* Keys of the longer of the prefixes; and the set's bitmap. */
static void
ppjoin_prepare(SetJoin *join, JoinSet *set, bool indexed, bool probing)
{
	uint32		prefix = 0;

	if (indexed)
		prefix = setjoin_indexed_prefix(join, set->size);
	if (probing)
		prefix = Max(prefix, setjoin_probing_prefix(join, set->size));
	setjoin_order(join, set, prefix);
}

static uint32
ppjoin_indexed_keys(SetJoin *join, const JoinSet *set)
{
	uint32		prefix = setjoin_indexed_prefix(join, set->size);
	uint32		dropped = set->size - set->nvalues;

	return prefix <= dropped ? 0 : Min(prefix - dropped, set->nkeys);
}

/*
 * PPJoin+: false if the elements behind the first shared token, number i of
 * the probing set, are too different.  Both sets have all of their keys.
 */
static bool
suffixes_pass(SetJoin *join, const Probe *probe, const Posting *posting,
			  uint32 i, uint32 need)
{
	const JoinSet *x = probe->set;
	const JoinSet *y = &join->sets[posting->set];
	uint32		j = posting->position - (y->size - y->nvalues);
	int64		nx = x->nvalues - i - 1;
	int64		ny = y->nvalues - j - 1;

	return suffixes_allow(x->keys + i + 1, nx, y->keys + j + 1, ny,
						  nx + ny - 2 * ((int64) need - 1));
}

/*
 * Counts one shared token, with `rest` elements behind it in the probing set.
 */
static inline void
accumulate(SetJoin *join, const Probe *probe, const Posting *posting,
		   uint32 i, uint32 rest)
{
	InvertedIndex *index = &join->index;
	Accumulator *accumulator = &index->accumulators[posting->set];
	uint32		size = INDEXED_SIZE(index, posting->set);
	uint32		ubound;

	if (accumulator->shared == PRUNED)
		return;
	if (accumulator->need == 0)
	{
		if ((INDEXED_SIDES(index, posting->set) & probe->sides) == 0)
			return;
		index->candidates[index->ncandidates++] = posting->set;
		accumulator->need = setjoin_need(join, size, probe->set->size);
	}
	ubound = 1 + Min(rest, size - posting->position - 1);
	if (accumulator->shared + ubound < accumulator->need)
	{
		accumulator->shared = PRUNED;
		join->stats.removed_position++;
	}
	else if (probe->suffixes && accumulator->shared == 0 &&
			 !suffixes_pass(join, probe, posting, i, accumulator->need))
	{
		accumulator->shared = PRUNED;
		join->stats.removed_suffix++;
	}
	else
		accumulator->shared++;
}

/*
 * Looks through the posting list of the probe's token number i.  Probes come
 * with rising least_size, so what is too small for one is too small for all
 * that follow.
 */
static void
probe_token(SetJoin *join, const Probe *probe, uint32 i)
{
	InvertedIndex *index = &join->index;
	uint64		key = probe->set->keys[i];
	Bucket	   *bucket = setindex_bucket(index, key);
	uint32		rest = probe->set->nvalues - i - 1;
	const Posting *posting = &index->postings[bucket->start + bucket->first];
	const Posting *end = &index->postings[bucket->start + bucket->n];

	while (posting < end &&
		   INDEXED_SIZE(index, posting->set) < probe->least_size)
	{
		CHECK_EVERY(end - posting);
		posting++;
		bucket->first++;
		join->stats.removed_size++;
	}
	join->stats.visited += end - posting;
	for (; posting < end; posting++)
	{
		CHECK_EVERY(end - posting);
		if (posting->key != key)
			continue;
		if (INDEXED_SIZE(index, posting->set) > probe->most_size)
		{
			join->stats.removed_size += end - posting;
			break;
		}
		accumulate(join, probe, posting, i, rest);
	}
}

/*
 * False if what a candidate shares with the probe's prefix is not enough,
 * whatever follows.  Of the two prefixes, that which ends with the smaller
 * token has been counted in full: further shared elements are behind it.
 */
static bool
rest_is_enough(SetJoin *join, const Probe *probe, uint32 candidate)
{
	const Accumulator *accumulator = &join->index.accumulators[candidate];
	const JoinSet *x = probe->set;
	const JoinSet *y = &join->sets[candidate];
	uint32		ny = ppjoin_indexed_keys(join, y);
	uint32		rest;

	/* it has a posting and a token of the probe, so neither prefix is empty */
	if (x->keys[probe->nkeys - 1] < y->keys[ny - 1])
		rest = x->nvalues - probe->nkeys;
	else
		rest = y->nvalues - ny;
	return accumulator->shared + rest >= accumulator->need;
}

/* Forgets the candidates that have been pruned, and all that was counted. */
static void
gather_candidates(SetJoin *join, const Probe *probe)
{
	InvertedIndex *index = &join->index;
	uint32		left = 0;

	for (uint32 i = 0; i < index->ncandidates; i++)
	{
		uint32		candidate = index->candidates[i];
		Accumulator *accumulator = &index->accumulators[candidate];

		CHECK_EVERY(i);
		if (accumulator->shared != PRUNED)
		{
			if (rest_is_enough(join, probe, candidate))
				index->candidates[left++] = candidate;
			else
				join->stats.removed_position++;
		}
		memset(accumulator, 0, sizeof(Accumulator));
	}
	index->ncandidates = left;
}

static void
ppjoin_probe(SetJoin *join, const JoinSet *set, uint32 sides)
{
	uint32		prefix = setjoin_probing_prefix(join, set->size);
	uint32		dropped = set->size - set->nvalues;
	Probe		probe = {.set = set,.sides = sides};

	probe.nkeys = prefix <= dropped ? 0 : Min(prefix - dropped, set->nkeys);
	probe.suffixes = join->algorithm == &ppjoin_plus;
	measure_sizes(measure_commute(join->measure), set->size,
				  join->params.threshold, &probe.least_size,
				  &probe.most_size);
	for (uint32 i = 0; i < probe.nkeys; i++)
		__builtin_prefetch(setindex_bucket(&join->index, set->keys[i]));
	for (uint32 i = 0; i < probe.nkeys; i++)
	{
		CHECK_FOR_INTERRUPTS();
		probe_token(join, &probe, i);
	}
	gather_candidates(join, &probe);
}

/* The bitmaps first, then element by element. */
bool
sets_verify(SetJoin *join, const JoinSet *indexed, const JoinSet *probing)
{
	uint32		need = setjoin_need(join, indexed->size, probing->size);

	if (!bitmaps_allow(indexed, probing, need))
	{
		join->stats.removed_bitmap++;
		return false;
	}
	join->stats.verified++;
	return set_overlap_reaches(indexed->values, indexed->nvalues,
							   probing->values, probing->nvalues, need);
}

const Algorithm ppjoin = {
	.name = "ppjoin",
	.ordered = true,
	.most_indexed = ppjoin_most_indexed,
	.most_keys = ppjoin_most_keys,
	.prepare = ppjoin_prepare,
	.indexed_keys = ppjoin_indexed_keys,
	.probe = ppjoin_probe,
	.verify = sets_verify,
};

const Algorithm ppjoin_plus = {
	.name = "ppjoin+",
	.ordered = true,
	.most_indexed = ppjoin_most_indexed,
	.most_keys = all_keys_most,
	.prepare = all_keys_prepare,
	.indexed_keys = ppjoin_indexed_keys,
	.probe = ppjoin_probe,
	.verify = sets_verify,
};
