/*
 * prefix_join.c
 *		Joins of sets by prefixes.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"

#include "join/algorithms/prefix_join.h"

/*
 * Prefixes, and filters by size and position, as PPJoin has them
 *
 * Elements are ordered by rising frequency, sets by rising size.  Two sets
 * that share at least `need` elements share one in their prefixes, the first
 * |x| - need + 1 elements; so an inverted index over prefixes finds all
 * candidates.  While posting lists are read,
 *
 * - the size filter skips sets that are too small or too large;
 * - the positional filter prunes a candidate once the tokens shared so far and
 *   the rests of the two sets, ubound = 1 + min(|x| - i, |y| - j), do not add
 *   up to `need`;
 *
 * and in the end a candidate is dropped if the shared tokens and the rests
 * after the prefixes do not add up.
 *
 * The others are verified by a merge of both sets that stops when `need` is
 * out of reach.
 *
 * C. Xiao, W. Wang, X. Lin, J. X. Yu, "Efficient similarity
 * joins for near duplicate detection", WWW 2008.
 *
 * Tokens are compared by their full keys: the positional filter would not be
 * sound for two tokens with different places in the order.  (Two features with
 * one key have adjacent places; each pair of them counts as a shared token, so
 * that the count exceeds the positions and both bounds stay upper bounds, also
 * if a prefix ends between the two.)
 *
 * Elements that occur in one set only are dropped, but keep their places at
 * the beginning of the prefix.
 */

uint32
prefix_most_indexed(JoinSearch *search, const JoinSet *set)
{
	return search_indexed_prefix(search, set->size);
}

uint32
prefix_most_keys(JoinSearch *search, const JoinSet *set)
{
	return Max(search_indexed_prefix(search, set->size),
			   search_probing_prefix(search, set->size));
}

/* Keys of the longer of the prefixes; and the set's bitmap. */
void
prefix_prepare(JoinSearch *search, JoinSet *set, bool indexed, bool probing)
{
	uint32		prefix = 0;

	Assert(indexed || probing);
	if (indexed)
		prefix = search_indexed_prefix(search, set->size);
	if (probing)
		prefix = Max(prefix, search_probing_prefix(search, set->size));
	search_order(search, set, prefix);
}

uint32
prefix_indexed_keys(JoinSearch *search, const JoinSet *set)
{
	uint32		prefix = search_indexed_prefix(search, set->size);
	uint32		dropped = set->size - set->nvalues;

	return prefix <= dropped ? 0 : Min(prefix - dropped, set->nkeys);
}

/* Count one shared token, with `rest` elements after it in the probing set. */
static inline void
accumulate(JoinSearch *search, const PrefixProbe *probe,
		   const Posting *posting,
		   uint32 i, uint32 rest)
{
	InvertedIndex *index = &search->index;
	Accumulator *accumulator = &index->accumulators[posting->set];
	uint32		size = INDEXED_SIZE(index, posting->set);
	uint32		ubound = 1 + Min(rest, size - posting_position(posting) - 1);

	Assert(posting_position(posting) < size);
	if (accumulator->shared == PRUNED)
		return;
	if (accumulator->need == 0)
	{
		uint32		need;

		if ((INDEXED_SIDES(index, posting->set) & probe->sides) == 0)
			return;
		need = search_need(search, size, probe->set->size);
		/* fewer elements follow later tokens: it never becomes a candidate */
		if (ubound < need)
		{
			search->stats.removed_position++;
			return;
		}
		index->candidates[index->ncandidates++] = posting->set;
		accumulator->need = need;
	}
	if (accumulator->shared + ubound < accumulator->need)
	{
		accumulator->shared = PRUNED;
		search->stats.removed_position++;
	}
	else if (probe->filter != NULL && accumulator->shared == 0 &&
			 !probe->filter(search, probe->set, posting, i, accumulator->need))
	{
		accumulator->shared = PRUNED;
		search->stats.removed_suffix++;
	}
	else
		accumulator->shared++;
}

void
prefix_count(JoinSearch *search, const PrefixProbe *probe, uint32 i,
			 const Posting *posting, const Posting *end)
{
	uint64		key = probe->set->keys[i];
	uint32		rest = probe->set->nvalues - i - 1;

	for (; posting < end; posting++)
	{
		CHECK_EVERY(end - posting);
		if (posting->key != key)
			continue;
		if (posting->set >= search->index.limit)
			break;
		if (INDEXED_SIZE(&search->index, posting->set) > probe->matches->most)
		{
			search->stats.removed_size += end - posting;
			break;
		}
		accumulate(search, probe, posting, i, rest);
	}
}

/*
 * False if a candidate cannot share enough.  The prefix that ends with the
 * smaller token has been counted in full: further shared elements are after
 * it.
 */
static bool
rest_is_enough(const InvertedIndex *index, const PrefixProbe *probe,
			   uint32 candidate)
{
	const Accumulator *accumulator = &index->accumulators[candidate];
	const SuffixBound *suffix = &index->entries[candidate].suffix;

	/* the probing set shares a token with the candidate, so it has one */
	uint32		last = probe->set->keys[probe->nkeys - 1] >> 32;
	uint32		rest = probe->set->nvalues - probe->nkeys;

	Assert(probe->nkeys > 0 && probe->nkeys <= probe->set->nvalues);
	Assert(accumulator->shared > 0 && accumulator->shared != PRUNED);
	if (last > suffix->last)
		rest = suffix->n;
	else if (last == suffix->last)
		rest = Max(rest, suffix->n);
	return accumulator->shared + rest >= accumulator->need;
}

void
prefix_gather(JoinSearch *search, const PrefixProbe *probe)
{
	InvertedIndex *index = &search->index;
	uint32		left = 0;

	for (uint32 i = 0; i < index->ncandidates; i++)
	{
		uint32		candidate = index->candidates[i];
		Accumulator *accumulator = &index->accumulators[candidate];

		CHECK_EVERY(i);
		if (accumulator->shared != PRUNED)
		{
			if (accumulator->need == 0 ||
				rest_is_enough(index, probe, candidate))
				index->candidates[left++] = candidate;
			else
				search->stats.removed_position++;
		}
		memset(accumulator, 0, sizeof(Accumulator));
	}
	index->ncandidates = left;
}

void
prefix_probe_begin(JoinSearch *search, const JoinSet *set, uint32 sides,
				   PrefixProbe *probe)
{
	uint32		prefix = search_probing_prefix(search, set->size);
	uint32		dropped = set->size - set->nvalues;

	Assert(search->index.ncandidates == 0 && sides != 0);
	probe->set = set;
	probe->sides = sides;
	probe->filter = NULL;
	probe->nkeys = prefix <= dropped ? 0 : Min(prefix - dropped, set->nkeys);
	probe->matches = search_match_sizes(search, set->size);
	for (uint32 i = 0; i < probe->nkeys; i++)
		__builtin_prefetch(inverted_index_bucket(&search->index,
												 set->keys[i]));
}

bool
sets_reflexive(JoinSearch *search, const JoinSet *set)
{
	return search_need(search, set->size, set->size) <= set->size;
}

/* True if the bitmaps of two sets allow `need` shared elements. */
static inline bool
bitmaps_filter(JoinSearch *search, const JoinSet *indexed,
			   const JoinSet *probing, uint32 need)
{
	if (bitmaps_allow(indexed, probing, need))
		return true;
	search->stats.removed_bitmap++;
	return false;
}

bool
sets_announce(JoinSearch *search, FeatureFilter *filter, const uint64 *values,
			  uint32 n)
{
	feature_filter_add(filter, values, n);
	return true;
}

bool
sets_may_have_match(JoinSearch *search, const FeatureFilter *filter,
					const uint64 *values, uint32 n, bool indexed)
{
	return feature_filter_has_some(filter, values, n,
								   search_least_overlap(search, indexed, n));
}

/* True if two sets share `need` elements, which are compared. */
static inline bool
elements_reach(JoinSearch *search, const JoinSet *indexed,
			   const JoinSet *probing, uint32 need)
{
	search->stats.verified++;
	return set_overlap_reaches(indexed->values, indexed->nvalues,
							   probing->values, probing->nvalues, need);
}

bool
sets_may_match(JoinSearch *search, const JoinSet *indexed,
			   const JoinSet *probing)
{
	return bitmaps_filter(search, indexed, probing,
						  search_need(search, indexed->size, probing->size));
}

bool
sets_compare(JoinSearch *search, const JoinSet *indexed,
			 const JoinSet *probing)
{
	return elements_reach(search, indexed, probing,
						  search_need(search, indexed->size, probing->size));
}

bool
sets_verify(JoinSearch *search, const JoinSet *indexed, const JoinSet *probing)
{
	uint32		need = search_need(search, indexed->size, probing->size);

	return bitmaps_filter(search, indexed, probing, need) &&
		elements_reach(search, indexed, probing, need);
}

/*
 * The default join of sets: prefixes, and bitmaps of small sets
 *
 * Most sets of few and frequent elements, as market baskets are, that meet in
 * a posting list share little else.  So the posting of a small set holds, in
 * place of the token, the set's bitmap, folded to 64 bits.  Matches differ in
 * |x| + |y| - 2 need elements at most, and their bitmaps in no more bits.
 * Most sets of a list are removed by comparing two words and counting bits.
 * At 0.5, two in three of the remaining sets of ten elements do not match, as
 * two elements may flip the same bit.  So a second bitmap by another hash is
 * compared, which lies beside the postings, and then the elements.  The
 * posting has no token, so a set with another token of the bucket is a
 * candidate, too.
 *
 * Sets are small if the bitmaps of disjoint sets differ in more bits than the
 * bitmaps of matches may: among 64 bits, m elements that the two do not share
 * flip 32 (1 - e^(-m/32)) on average. Sets of up to 24 elements are small at
 * 0.5, and of up to 111 at 0.8.  Tokens and positions of larger sets are
 * counted.  Sets are in order of size, so the small ones come first in each
 * list.
 */

/*
 * Bitmaps are selective if matches differ in at most this share of the bits in
 * which other sets differ.
 */
#define SHARE_OF_USUAL	0.85

/* Postings that are read between two checks for interrupts. */
#define AT_ONCE			65536

/* JoinSearch.state */
typedef struct PrefixJoin
{
	uint32		most_small;		/* largest size of a small set */
	uint32		size;			/* size that differ[0] is for */
	int16	   *differ[MAX_SMALL + 1];	/* by the probing size (0: large),
										 * then by the other: elements in
										 * which matches differ at most, -1:
										 * there are none */
} PrefixJoin;

/* A probe for postings of small sets. */
typedef struct BitmapProbe
{
	const JoinSet *set;			/* set that probes */
	uint64		bitmap;			/* its folded bitmap */
	uint64		second;			/* bitmap, once it is needed */
	bool		has_second;
	int			dropped;		/* elements dropped from it */
	uint32		sides;			/* sides, one of which a match must have */
	const int16 *differ;
} BitmapProbe;

/*
 * Maximum number of elements in which matches of those sizes differ; -1: there
 * are none.
 */
static int64
most_differing(JoinSearch *search, uint64 indexed, uint64 probing)
{
	uint64		need = measure_min_overlap(search->measure, indexed, probing,
										   search->threshold);

	return need > Min(indexed, probing) ? -1 :
		(int64) (indexed + probing - 2 * need);
}

/* True if bitmaps remove most sets that differ in more elements. */
static bool
bitmaps_are_selective(JoinSearch *search, uint64 indexed, uint64 probing)
{
	double		usual = 32 * (1 - exp(-(double) (indexed + probing) / 32));

	return most_differing(search, indexed, probing) <= usual * SHARE_OF_USUAL;
}

/*
 * True if bitmaps are selective for a set of that size and all its possible
 * matches.
 */
static bool
size_is_small(JoinSearch *search, uint32 size)
{
	uint64		least;
	uint64		most;

	measure_sizes(search->measure, size, search->threshold, &least, &most);
	return most != PG_UINT64_MAX &&
		bitmaps_are_selective(search, size, size) &&
		bitmaps_are_selective(search, size, least) &&
		bitmaps_are_selective(search, size, most);
}

/* The state, created at the first call. */
static PrefixJoin *
prefix_join_state(JoinSearch *search)
{
	PrefixJoin *state = search->state;

	if (state == NULL)
	{
		state = search->state = MemoryContextAllocZero(search->context,
													   sizeof(PrefixJoin));
		while (state->most_small < MAX_SMALL &&
			   size_is_small(search, state->most_small + 1))
			state->most_small++;
	}
	return state;
}

/*
 * The second bitmap of a set, from its values.  If these are on disk all
 * second bitmaps are equal, so that all sets pass.
 */
static uint64
second_bitmap(const JoinSearch *search, const JoinSet *set)
{
	StaticAssertStmt(MAX_SMALL <= MAX_VALUES_TO_PROBE,
					 "small sets have their values when they probe");
	return search->only_keys ? 0 : bitmap_second(set);
}

/* Algorithm.bitmaps */
static bool
prefix_join_bitmaps(JoinSearch *search, const JoinSet *set, Posting *posting,
					uint64 *second)
{
	uint32		dropped = set->size - set->nvalues;

	if (set->size > prefix_join_state(search)->most_small)
		return false;
	Assert(set->size <= MAX_SMALL);
	posting_set_small(posting, bitmap_folded(set), set->size, dropped);
	*second = second_bitmap(search, set);
	return true;
}

/* Maximum differences of small sets from the probing one, by size. */
static const int16 *
differ_from(JoinSearch *search, const PrefixProbe *probe)
{
	PrefixJoin *state = prefix_join_state(search);
	uint32		size = probe->set->size;
	int16	  **differ = &state->differ[size <= MAX_SMALL ? size : 0];

	if (*differ != NULL && (size <= MAX_SMALL || state->size == size))
		return *differ;
	if (*differ == NULL)
		*differ = MemoryContextAlloc(search->context,
									 sizeof(int16) * (MAX_SMALL + 1));
	memset(*differ, -1, sizeof(int16) * (MAX_SMALL + 1));
	for (uint64 i = probe->matches->least;
		 i <= Min(probe->matches->most, state->most_small); i++)
		(*differ)[i] = most_differing(search, i, size);
	state->size = Max(size, MAX_SMALL);
	Assert(state->most_small <= MAX_SMALL);
	return *differ;
}

/* True if the second bitmaps of two sets differ in at most that many bits. */
static inline bool
second_allows(JoinSearch *search, BitmapProbe *probe, uint32 set, int allowed)
{
	if (!probe->has_second)
	{
		probe->second = second_bitmap(search, probe->set);
		probe->has_second = true;
	}
	return __builtin_popcountll(search->index.entries[set].bitmap ^
								probe->second) <= allowed;
}

/* Make a small set a candidate, if it is none yet, and prefetch it. */
static inline void
add_small(JoinSearch *search, const BitmapProbe *probe, uint32 set)
{
	InvertedIndex *index = &search->index;

	if (index->accumulators[set].shared == 0 &&
		(INDEXED_SIDES(index, set) & probe->sides) != 0)
	{
		index->accumulators[set].shared = 1;
		index->candidates[index->ncandidates++] = set;
		__builtin_prefetch(&search->sets[set]);
	}
}

/*
 * Read the postings of small sets, which come first; returns the first one of
 * another set, or `end`.
 */
static pg_attribute_always_inline const Posting *
compare_bitmaps(JoinSearch *search, BitmapProbe *probe, const Posting *posting,
				const Posting *end)
{
	while (posting < end && posting_is_small(posting))
	{
		const Posting *stop = posting + Min(end - posting, AT_ONCE);

		CHECK_FOR_INTERRUPTS();
		for (; posting < stop && posting_is_small(posting); posting++)
		{
			int			allowed = probe->differ[posting_size(posting)] -
			probe->dropped - (int) posting_dropped(posting);

			if (__builtin_popcountll(posting->bitmap ^ probe->bitmap) <=
				allowed &&
				second_allows(search, probe, posting->set, allowed))
				add_small(search, probe, posting->set);
		}
	}
	return posting;
}

/* Where processors that run the program may lack the instruction for it. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__POPCNT__)
#define POPCNT_TO_BE_CHOSEN

/* compare_bitmaps() by the instruction that counts bits. */
__attribute__((target("popcnt")))
static const Posting *
compare_bitmaps_popcnt(JoinSearch *search, BitmapProbe *probe,
					   const Posting *posting, const Posting *end)
{
	return compare_bitmaps(search, probe, posting, end);
}
#endif

/* compare_bitmaps() by what this processor has. */
static const Posting *
compare_bitmaps_chosen(JoinSearch *search, BitmapProbe *probe,
					   const Posting *posting, const Posting *end)
{
#ifdef POPCNT_TO_BE_CHOSEN
	if (__builtin_cpu_supports("popcnt"))
		return compare_bitmaps_popcnt(search, probe, posting, end);
#endif
	return compare_bitmaps(search, probe, posting, end);
}

/* Begin a probe of a set; false if it has no keys. */
static bool
begin_probe(JoinSearch *search, const JoinSet *set, uint32 sides,
			PrefixProbe *probe,
			BitmapProbe *bitmaps)
{
	prefix_probe_begin(search, set, sides, probe);
	if (probe->nkeys == 0)
		return false;
	bitmaps->set = set;
	bitmaps->bitmap = bitmap_folded(set);
	bitmaps->has_second = false;
	bitmaps->dropped = set->size - set->nvalues;
	bitmaps->sides = sides;
	bitmaps->differ = differ_from(search, probe);
	return true;
}

/* Algorithm.probe: sets are in the order of their sizes. */
static pg_attribute_always_inline void
probe_ordered(JoinSearch *search, const JoinSet *set, uint32 sides,
			  IndexMode mode)
{
	PrefixProbe probe;
	BitmapProbe bitmaps;

	if (!begin_probe(search, set, sides, &probe, &bitmaps))
		return;
	inverted_index_begin_at(&search->index, mode, probe.matches->least);
	for (uint32 i = 0; i < probe.nkeys; i++)
	{
		const Posting *end;
		const Posting *posting = prefix_postings(search, mode, &probe, i,
												 &end);

		CHECK_FOR_INTERRUPTS();
		/* most lists are short, and many empty */
		if (posting < end && posting_is_small(posting))
		{
			if (mode == INDEX_SHARED)
				end = inverted_index_from(posting, end, search->index.limit);
			posting = compare_bitmaps_chosen(search, &bitmaps, posting, end);
		}
		if (posting < end)
			prefix_count(search, &probe, i, posting, end);
	}
	prefix_gather(search, &probe);
}

DEFINE_PROBE(probe_ordered, announced, INDEX_ANNOUNCED);
DEFINE_PROBE(probe_ordered, shared, INDEX_SHARED);

/*
 * Algorithm.probe: sets are in any order, and sets of the own component are
 * passed over.
 */
static void
probe_growing(JoinSearch *search, const JoinSet *set, uint32 sides)
{
	PrefixProbe probe;
	BitmapProbe bitmaps;

	if (!begin_probe(search, set, sides, &probe, &bitmaps))
		return;
	for (uint32 i = 0; i < probe.nkeys; i++)
	{
		const Posting *end;
		const Posting *posting = prefix_postings(search, INDEX_GROWING, &probe,
												 i, &end);

		CHECK_FOR_INTERRUPTS();
		while ((posting = search_pass_own(search, posting, end)) < end)
		{
			/* sets of the own component may follow */
			const Posting *stop = search->components == NULL ? end :
			posting + 1;

			CHECK_EVERY(end - posting);
			if (posting_is_small(posting))
			{
				posting = compare_bitmaps_chosen(search, &bitmaps, posting,
												 stop);
				continue;
			}
			if (posting->key == set->keys[i] &&
				INDEXED_SIZE(&search->index, posting->set) <=
				probe.matches->most)
				accumulate(search, &probe, posting, i, set->nvalues - i - 1);
			posting++;
		}
	}
	prefix_gather(search, &probe);
}

const Algorithm prefix_join = {
	.name = "prefixes",
	.ordered = true,
	.sized = true,
	.max_indexed = prefix_most_indexed,
	.max_keys = prefix_most_keys,
	.prepare = prefix_prepare,
	.indexed_keys = prefix_indexed_keys,
	.bitmaps = prefix_join_bitmaps,
	.probe = {
		[INDEX_ANNOUNCED] = probe_ordered_announced,
		[INDEX_GROWING] = probe_growing,
		[INDEX_SHARED] = probe_ordered_shared,
	},
	.announce = sets_announce,
	.may_have_match = sets_may_have_match,
	.verify = sets_verify,
	.may_match = sets_may_match,
	.compare = sets_compare,
	.reflexive = sets_reflexive,
};
