/*
 * classic.c
 *		The algorithms of the papers, to be chosen by name.
 */
#include "postgres.h"

#include <float.h>

#include "miscadmin.h"

#include "join/algorithms/prefix_join.h"
#include "join/algorithms/vector_join.h"
#include "join/classic/classic.h"

/* For algorithms that use all elements of a set, not a prefix */

/* Algorithm.max_indexed, max_keys */
uint32
all_keys_most(JoinSearch *search, const JoinSet *set)
{
	return set->size;
}

/* Algorithm.prepare: the keys of all elements. */
void
all_keys_prepare(JoinSearch *search, JoinSet *set, bool indexed, bool probing)
{
	search_order(search, set, set->size);
}

/* Algorithm.indexed_keys */
uint32
all_keys_indexed(JoinSearch *search, const JoinSet *set)
{
	return set->nkeys;
}

/*
 * Count the shared elements of each indexed set, and leave the sets that share
 * enough.
 */
void
all_keys_scan(JoinSearch *search, const JoinSet *set, uint32 sides)
{
	InvertedIndex *index = &search->index;
	uint32		left = 0;

	Assert(index->mode == INDEX_ANNOUNCED && index->ncandidates == 0);
	Assert(set->nkeys == set->nvalues);
	for (uint32 i = 0; i < set->nkeys; i++)
	{
		const Bucket *bucket = inverted_index_bucket(index, set->keys[i]);
		const Posting *posting = &index->postings[bucket->start];
		const Posting *end = posting + bucket->n;

		CHECK_FOR_INTERRUPTS();
		for (; posting < end && posting->set < index->limit; posting++)
		{
			CHECK_EVERY(end - posting);
			search->stats.visited++;
			if (posting->key != set->keys[i] ||
				(INDEXED_SIDES(index, posting->set) & sides) == 0)
				continue;
			if (index->accumulators[posting->set].shared++ == 0)
				index->candidates[index->ncandidates++] = posting->set;
		}
	}
	for (uint32 i = 0; i < index->ncandidates; i++)
	{
		uint32		candidate = index->candidates[i];

		CHECK_EVERY(i);
		if (index->accumulators[candidate].shared >=
			search_need(search, INDEXED_SIZE(index, candidate), set->size))
			index->candidates[left++] = candidate;
		index->accumulators[candidate].shared = 0;
	}
	index->ncandidates = left;
}

/*
 * The suffix filter of PPJoin+
 *
 * The rests after the first shared token must not differ in more than Hmax
 * elements.  A lower bound of that Hamming distance is found by bisection: the
 * middle element w of one rest splits both; elements left of w can only match
 * those left of it, and the same on the right, so the sizes of the parts bound
 * the number of elements without a match.  The parts are split again, MAXDEPTH
 * times.
 *
 * Equal elements (tokens of one key) are split before the first of them, in
 * both rests.
 *
 * C.  Xiao, W.  Wang, X.  Lin, J.  X.  Yu, "Efficient similarity joins for
 * near duplicate detection", WWW 2008, algorithm 4.
 */

#define MAXDEPTH	2			/* the paper's best */

/* Number of elements below the key. */
static int64
lower_bound(const uint64 *keys, int64 n, uint64 key)
{
	int64		low = 0;

	while (n > 0)
	{
		int64		half = n / 2;

		if (keys[low + half] < key)
		{
			low += half + 1;
			n -= half + 1;
		}
		else
			n = half;
	}
	return low;
}

/* The difference of two sizes. */
static int64
distance(int64 a, int64 b)
{
	return a > b ? a - b : b - a;
}

/*
 * A lower bound of the Hamming distance of two suffixes; any number above Hmax
 * if it is greater.
 */
static int64
suffix_distance(const uint64 *x, int64 nx, const uint64 *y, int64 ny,
				int64 Hmax, int depth)
{
	int64		mid;
	int64		at;
	int64		differ;
	int64		left;
	int64		right;
	int64		H;

	if (depth > MAXDEPTH || nx == 0 || ny == 0 || distance(nx, ny) > Hmax)
		return distance(nx, ny);
	mid = lower_bound(y, ny, y[ny / 2]);
	at = lower_bound(x, nx, y[mid]);
	Assert(mid <= ny / 2 && at <= nx);
	differ = at == nx || x[at] != y[mid];	/* w has no match */

	left = distance(at, mid);
	right = distance(nx - at - !differ, ny - mid - 1);
	H = left + right + differ;
	if (H > Hmax)
		return H;
	left = suffix_distance(x, at, y, mid, Hmax - right - differ, depth + 1);
	H = left + right + differ;
	if (H > Hmax)
		return H;
	right = suffix_distance(x + at + !differ, nx - at - !differ, y + mid + 1,
							ny - mid - 1,
							Hmax - left - differ, depth + 1);
	return left + right + differ;
}

/* True if two suffixes may differ in at most Hmax elements. */
bool
suffixes_allow(const uint64 *x, int64 nx, const uint64 *y, int64 ny,
			   int64 Hmax)
{
	return Hmax >= 0 && suffix_distance(x, nx, y, ny, Hmax, 1) <= Hmax;
}

/*
 * PPJoin: prefixes, and filters by size and position.  PPJoin+: the suffix
 * filter besides
 *
 * The suffix filter costs more than it saves once bitmaps remove candidates.
 *
 * C. Xiao, W. Wang, X. Lin, J. X. Yu, "Efficient similarity joins for near
 * duplicate detection", WWW 2008.
 */

/*
 * FirstTokenFilter: false if the elements after the first shared token are too
 * different.  Both sets have all of their keys.
 */
static bool
suffixes_pass(JoinSearch *search, const JoinSet *x, const Posting *posting,
			  uint32 i, uint32 need)
{
	const JoinSet *y = &search->sets[posting->set];
	uint32		j = posting_position(posting) - (y->size - y->nvalues);
	int64		nx = x->nvalues - i - 1;
	int64		ny = y->nvalues - j - 1;

	Assert(i < x->nvalues && j < y->nvalues);
	Assert(need > 0 && need <= Min(x->size, y->size));
	return suffixes_allow(x->keys + i + 1, nx, y->keys + j + 1, ny,
						  nx + ny - 2 * ((int64) need - 1));
}

/* Count the tokens that each indexed set shares with the prefix. */
static pg_attribute_always_inline void
probe_prefix(JoinSearch *search, const JoinSet *set, uint32 sides,
			 IndexMode mode,
			 FirstTokenFilter filter)
{
	PrefixProbe probe;

	prefix_probe_begin(search, set, sides, &probe);
	inverted_index_begin_at(&search->index, mode, probe.matches->least);
	probe.filter = filter;
	for (uint32 i = 0; i < probe.nkeys; i++)
	{
		const Posting *end;
		const Posting *posting = prefix_postings(search, mode, &probe, i,
												 &end);

		CHECK_FOR_INTERRUPTS();
		prefix_count(search, &probe, i, posting, end);
	}
	prefix_gather(search, &probe);
}

/* Algorithm.probe of PPJoin */
static pg_attribute_always_inline void
ppjoin_probe(JoinSearch *search, const JoinSet *set, uint32 sides,
			 IndexMode mode)
{
	probe_prefix(search, set, sides, mode, NULL);
}

DEFINE_PROBE(ppjoin_probe, announced, INDEX_ANNOUNCED);
DEFINE_PROBE(ppjoin_probe, shared, INDEX_SHARED);

/* Algorithm.probe of PPJoin+ */
static pg_attribute_always_inline void
ppjoin_plus_probe(JoinSearch *search, const JoinSet *set, uint32 sides,
				  IndexMode mode)
{
	probe_prefix(search, set, sides, mode, suffixes_pass);
}

DEFINE_PROBE(ppjoin_plus_probe, announced, INDEX_ANNOUNCED);
DEFINE_PROBE(ppjoin_plus_probe, shared, INDEX_SHARED);

const Algorithm ppjoin = {
	.name = "ppjoin",
	JOINS_SETS,
	.max_indexed = prefix_most_indexed,
	.max_keys = prefix_most_keys,
	.prepare = prefix_prepare,
	.indexed_keys = prefix_indexed_keys,
	.probe = {
		[INDEX_ANNOUNCED] = ppjoin_probe_announced,
		[INDEX_SHARED] = ppjoin_probe_shared,
	},
};

const Algorithm ppjoin_plus = {
	.name = "ppjoin+",
	JOINS_SETS,
	INDEXES_PREFIX,
	.probe = {
		[INDEX_ANNOUNCED] = ppjoin_plus_probe_announced,
		[INDEX_SHARED] = ppjoin_plus_probe_shared,
	},
};

/*
 * All-Pairs: one counter for each indexed set, and ever fewer postings
 *
 * All-Pairs-0 indexes all elements of a set and counts the elements that each
 * other set shares with the probing one.
 *
 * All-Pairs-1 indexes only the rare elements of a set: the frequent ones,
 * first in the order of the paper, are left out as long as they could not
 * reach the threshold alone.  Sets that share an indexed element are
 * candidates; the others are counted when these are verified.
 *
 * All-Pairs-2 skips sets that are too small, adds no new candidate once the
 * rest of the probing set cannot be enough (remscore), and drops a candidate
 * whose counter and unindexed elements do not add up to the needed overlap.
 *
 * R.  J.  Bayardo, Y.  Ma, R.  Srikant, "Scaling up all pairs similarity
 * search", WWW 2007; elements of a set have equal weights.
 */

/* Count the indexed elements that each set shares with this one. */
static void
count_shared(JoinSearch *search, const JoinSet *set, uint32 sides,
			 uint32 nfresh)
{
	InvertedIndex *index = &search->index;

	for (uint32 i = 0; i < set->nkeys; i++)
	{
		Bucket	   *bucket = inverted_index_bucket(index, set->keys[i]);
		const Posting *end;
		const Posting *posting = announced_index_list(index, bucket, &end,
													  &search->stats.removed_size);

		CHECK_FOR_INTERRUPTS();
		for (; posting < end; posting++)
		{
			Accumulator *accumulator = &index->accumulators[posting->set];

			CHECK_EVERY(end - posting);
			search->stats.visited++;
			if (posting->key != set->keys[i] ||
				(INDEXED_SIDES(index, posting->set) & sides) == 0 ||
				(accumulator->shared == 0 && i >= nfresh))
				continue;
			if (accumulator->shared++ == 0)
				index->candidates[index->ncandidates++] = posting->set;
		}
	}
}

/* Clear the counters. */
static void
clear_counters(InvertedIndex *index)
{
	for (uint32 i = 0; i < index->ncandidates; i++)
	{
		CHECK_EVERY(i);
		index->accumulators[index->candidates[i]].shared = 0;
	}
}

/* Algorithm.probe: sets that share an indexed element are candidates. */
static void
all_pairs_1_probe(JoinSearch *search, const JoinSet *set, uint32 sides)
{
	count_shared(search, set, sides, set->nkeys);
	clear_counters(&search->index);
}

/*
 * Algorithm.probe: candidates are dropped whose shared and unindexed elements
 * are too few.
 */
static void
all_pairs_2_probe(JoinSearch *search, const JoinSet *set, uint32 sides)
{
	InvertedIndex *index = &search->index;
	uint32		prefix = search_probing_prefix(search, set->size);
	uint32		dropped = set->size - set->nvalues;
	uint32		left = 0;

	Assert(set->nkeys == set->nvalues);
	inverted_index_begin_at(index, INDEX_ANNOUNCED,
							search_match_sizes(search, set->size)->least);
	count_shared(search, set, sides, prefix <= dropped ? 0 : prefix - dropped);
	for (uint32 i = 0; i < index->ncandidates; i++)
	{
		uint32		candidate = index->candidates[i];
		uint32		size = INDEXED_SIZE(index, candidate);
		uint32		unindexed = size - search_indexed_prefix(search, size);
		uint32		need = search_need(search, size, set->size);
		uint32		shared = index->accumulators[candidate].shared;

		CHECK_EVERY(i);
		Assert(shared > 0 && unindexed <= size);
		index->accumulators[candidate].shared = 0;
		if (shared + Min(unindexed, set->size) >= need)
			index->candidates[left++] = candidate;
		else
			search->stats.removed_position++;
	}
	index->ncandidates = left;
}

const Algorithm all_pairs_0 = {
	.name = "all-pairs-0",
	JOINS_SETS,
	USES_ALL_KEYS,
	.probe = {[INDEX_ANNOUNCED] = all_keys_scan},
};

const Algorithm all_pairs_1 = {
	.name = "all-pairs-1",
	JOINS_SETS,
	INDEXES_PREFIX,
	.probe = {[INDEX_ANNOUNCED] = all_pairs_1_probe},
};

const Algorithm all_pairs_2 = {
	.name = "all-pairs-2",
	JOINS_SETS,
	INDEXES_PREFIX,
	.probe = {[INDEX_ANNOUNCED] = all_pairs_2_probe},
};

/*
 * All-Pairs-0 and All-Pairs-1: vectors whose cosine reaches a threshold
 *
 * For the cosine, vectors are scaled to length 1, so that the cosine is the
 * sum of the products of weights.  A probing vector adds up this sum for the
 * indexed vectors.
 *
 * All-Pairs-0 indexes all features; a vector whose sum reaches the threshold
 * is a candidate.
 *
 * All-Pairs-1 leaves the most frequent features of a vector out of the index
 * as long as these cannot reach the threshold by themselves: the sum of their
 * weights, each times the greatest weight of the feature in any vector, stays
 * below.  Vectors that share an indexed feature are candidates.
 *
 * All bounds have a tolerance for rounding errors, so no pair is lost;
 * candidates are verified with all features, in double, by the expressions of
 * cosine().
 *
 * R. J. Bayardo, Y. Ma, R. Srikant, "Scaling up all pairs similarity search",
 * WWW 2007.
 */

/* Algorithm.prepare: all features are indexed. */
static void
prepare_0(JoinSearch *search, JoinSet *set, bool indexed, bool probing)
{
	uint32		n = vectorjoin_order(search, set);

	vectorjoin_prepare(search, set, n, n, n);
}

/*
 * Algorithm.prepare: the features that may reach the threshold are indexed.
 */
static void
prepare_1(JoinSearch *search, JoinSet *set, bool indexed, bool probing)
{
	uint32		n = vectorjoin_order(search, set);
	VectorJoin *all = search->state;

	vectorjoin_prepare(search, set, n,
					   cosine_needed_tokens(search, all->tokens, n, FLT_MAX,
											false), n);
}

/* Algorithm.probe: vectors whose sum reaches the threshold are candidates. */
static void
probe_0(JoinSearch *search, const JoinSet *set, uint32 sides)
{
	InvertedIndex *index = &search->index;
	uint32		left = 0;

	vectorjoin_add_products(search, set, sides);
	for (uint32 i = 0; i < index->ncandidates; i++)
	{
		uint32		candidate = index->candidates[i];
		double	   *sum = shared_sum(index, candidate);

		CHECK_EVERY(i);
		if (*sum >= search->threshold * VECTOR_ROUNDING)
			index->candidates[left++] = candidate;
		*sum = 0;
	}
	index->ncandidates = left;
}

/* Algorithm.probe: vectors that share an indexed feature are candidates. */
static void
probe_1(JoinSearch *search, const JoinSet *set, uint32 sides)
{
	InvertedIndex *index = &search->index;

	vectorjoin_add_products(search, set, sides);
	for (uint32 i = 0; i < index->ncandidates; i++)
	{
		CHECK_EVERY(i);
		*shared_sum(index, index->candidates[i]) = 0;
	}
}

#define JOINS_VECTORS \
	.ordered = true, \
	.weighted = true, \
	.symmetric = true, \
	.max_indexed = vectorjoin_most_indexed, \
	.max_keys = vectorjoin_most_keys, \
	.count = cosine_count, \
	.indexed_keys = vectorjoin_indexed_keys, \
	.add = vectorjoin_add, \
	.announce = vectorjoin_announce, \
	.may_have_match = vectorjoin_may_have_match, \
	.verify = cosine_verify

const Algorithm cosine_all_pairs_0 = {
	JOINS_VECTORS,
	.name = "all-pairs-0",
	.prepare = prepare_0,
	.probe = {[INDEX_ANNOUNCED] = probe_0},
};

const Algorithm cosine_all_pairs_1 = {
	JOINS_VECTORS,
	.name = "all-pairs-1",
	.prepare = prepare_1,
	.probe = {[INDEX_ANNOUNCED] = probe_1},
};

/* The table of the algorithms that can be chosen by name */

/* The algorithms of sets; NULL: the default one. */
static const Algorithm *const of_sets[] = {
	[ALGORITHM_AUTO] = NULL,
	[ALGORITHM_PPJOIN] = &ppjoin,
	[ALGORITHM_PPJOIN_PLUS] = &ppjoin_plus,
	[ALGORITHM_PROBE_COUNT] = &probe_count,
	[ALGORITHM_PAIR_COUNT] = &pair_count,
	[ALGORITHM_PROBE_STOPWORDS] = &probe_stopwords,
	[ALGORITHM_PROBE_OPTMERGE] = &probe_optmerge,
	[ALGORITHM_ALL_PAIRS_0] = &all_pairs_0,
	[ALGORITHM_ALL_PAIRS_1] = &all_pairs_1,
	[ALGORITHM_ALL_PAIRS_2] = &all_pairs_2,
	[ALGORITHM_WORD_GROUPS] = &word_groups,
};

/* Sketches have one algorithm, vectors few. */
const Algorithm *
selected_algorithm(JoinAlgorithm choice, SignatureKind kind, Measure measure)
{
	const Algorithm *algorithm = NULL;

	Assert((size_t) choice < lengthof(of_sets));
	if (kind == KIND_SETS)
		algorithm = of_sets[choice];
	else if (kind == KIND_VECTORS && measure == MEASURE_COSINE &&
			 choice == ALGORITHM_ALL_PAIRS_0)
		algorithm = &cosine_all_pairs_0;
	else if (kind == KIND_VECTORS && measure == MEASURE_COSINE &&
			 choice == ALGORITHM_ALL_PAIRS_1)
		algorithm = &cosine_all_pairs_1;
	return algorithm != NULL ? algorithm : default_algorithm(kind, measure);
}
