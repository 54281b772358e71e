/*
 * search.h
 *		The interface of algorithms.
 */
#ifndef NEARDUP_SEARCH_H
#define NEARDUP_SEARCH_H

#include "join/engine/feature_counts.h"
#include "join/engine/inverted_index.h"
#include "join/engine/set_table.h"
#include "signature/sets.h"

/*
 * The part of a similarity join that algorithms see: sets, their index, the
 * measure.
 *
 * The sets of a chunk are probed in the order of their sizes, by each other
 * and by sets from disk.  An algorithm does not depend on the place of rows,
 * or on the number of chunks.
 */

#define SIZE_CACHE	1024

/*
 * A set with more values probes without them: they are read if it finds
 * candidates.
 */
#define MAX_VALUES_TO_PROBE	4096

/* Sizes of matches, of the last size. */
typedef struct MatchSizes
{
	uint32		size;			/* 0: none was */
	uint64		least;
	uint64		most;
} MatchSizes;

/* A cache of prefix lengths and needed overlaps, by size >= 1. */
typedef struct SizeCache
{
	uint64		key[SIZE_CACHE];	/* SIZE_KEY(), or 0 */
	uint32		answer[SIZE_CACHE];
} SizeCache;

/* `other`: a second argument of the answer, or 0 */
#define SIZE_KEY(other, size)	((uint64) (other) << 32 | (size))
#define SIZE_SLOT(other, size)	(((size) + (uint32) (other) * 37) % SIZE_CACHE)

typedef struct JoinSearch
{
	/* of the join */
	Measure		measure;		/* measure of an indexed set and a probing set */
	double		threshold;		/* one of the measure */
	bool		symmetric;		/* sets probe for those before them */
	size_t		memory;			/* bytes that the join may have */
	uint32		max_features;	/* values of the largest set */
	MemoryContext context;		/* context of all that lasts as long as the
								 * join */
	TokenCounters counters;		/* counters of the features of all sets */
	void	   *state;			/* the algorithm's own, or NULL: in context */

	/*
	 * Groups, whose index grows: sets of one run follow each other in it, and
	 * a probe skips sets of its own component.  NULL: it skips none.
	 */
	uint32	   *components;		/* link of each set in the index, towards the
								 * first one of its component */
	uint32	   *run_ends;		/* first set after the run of each */
	uint32		component;		/* component of the set that probes */

	/* of the chunk */
	JoinSet    *sets;			/* sets in order of size, unless the index
								 * grows */
	uint32		next_probes;	/* number of prepared sets in memory, from the
								 * probing one on, that probably probe one
								 * after another; 0 = not known */
	bool		only_keys;		/* true if only keys and bitmaps of the sets
								 * are in memory, no values */
	uint32		nsets;
	InvertedIndex index;
	void	   *chunk_state;	/* the algorithm's own, or NULL */

	uint64	   *room;			/* room for the keys of the largest set */
	SizeCache	indexed_prefix; /* length of prefixes by size */
	SizeCache	probing_prefix;
	SizeCache	least;			/* overlap with any set, by size */
	SizeCache	need;			/* overlap by match's size */
	MatchSizes	matches;		/* sizes of matches of the probing set */
	EngineStats stats;
} JoinSearch;

typedef void (*ProbeCallback) (JoinSearch *search, const JoinSet *set,
							   uint32 sides);

/*
 * Define a ProbeCallback for indexes of one kind, by a function that takes the
 * mode as a constant.
 */
#define DEFINE_PROBE(probe, kind, mode) \
static void \
probe##_##kind(JoinSearch *search, const JoinSet *set, uint32 sides) \
{ \
	probe(search, set, sides, mode); \
}

/*
 * The interface by which algorithms find and verify candidates.  The sets of a
 * chunk are prepared, announced to an index and added to it; a set that probes
 * is prepared, too.  The engine copies the n >= 1 numbers of a set and
 * compares them for equality; the algorithm defines their meaning.
 */
typedef struct Algorithm
{
	const char *name;			/* name in EXPLAIN */
	bool		ordered;		/* needs the order of the features */
	bool		weighted;		/* needs the greatest weight of each feature,
								 * too */
	bool		at_once;		/* all sets of a chunk are in the index before
								 * the first one probes */
	bool		symmetric;		/* the condition is symmetric, whatever the
								 * measure */
	bool		sized;			/* the measure bounds the sizes of matches */
	bool		own_index;		/* the algorithm has its own index, without
								 * postings: max_indexed is its memory */

	/*
	 * Upper bounds of the keys that a set will have in the index, and in all,
	 * to estimate memory.
	 */
	uint32		(*max_indexed) (JoinSearch *search, const JoinSet *set);
	uint32		(*max_keys) (JoinSearch *search, const JoinSet *set);

	/*
	 * Note a distinct set, before any is prepared.  NULL: its values are
	 * features, which are counted if they are ordered.  An algorithm that
	 * counts without an order of features has 1/8 of the memory for that.
	 */
	void		(*count) (JoinSearch *search, const uint64 *values, uint32 n);

	/*
	 * Make the keys of a set, to be indexed, to probe, or both; valid until
	 * the next call.
	 */
	void		(*prepare) (JoinSearch *search, JoinSet *set, bool indexed,
							bool probing);

	/* Number of its first keys that a prepared set has in the index. */
	uint32		(*indexed_keys) (JoinSearch *search, const JoinSet *set);

	/*
	 * Compute the bitmaps by which small sets are filtered: the first in a
	 * posting, the second for the set's entry.  False if the set is too
	 * large.  NULL: all sets are.
	 */
	bool		(*bitmaps) (JoinSearch *search, const JoinSet *set,
							Posting *posting,
							uint64 *second);

	/*
	 * Add the next set to the index, by its first n keys; n = 0: no set
	 * probes for it.  NULL: the engine adds keys or bitmaps.
	 */
	void		(*add) (JoinSearch *search, const JoinSet *set, uint32 n);

	/*
	 * Leave the distinct candidates for a set in an index of each kind, among
	 * sets that have rows on one of the sides.  NULL: the algorithm cannot
	 * use such an index.
	 */
	ProbeCallback probe[INDEX_MODES];

	/*
	 * Add the features, or the keys of a sketch, of a set of the side that is
	 * known first to the filter; false if matches need not share any.  And
	 * whether a set of the other side, indexed or not, may match one in the
	 * filter.
	 */
	bool		(*announce) (JoinSearch *search, FeatureFilter *filter,
							 const uint64 *values, uint32 n);
	bool		(*may_have_match) (JoinSearch *search,
								   const FeatureFilter *filter,
								   const uint64 *values, uint32 n,
								   bool indexed);

	/* Free the state of a chunk. NULL: there is none. */
	void		(*end_chunk) (JoinSearch *search);

	/* True if the sets match. */
	bool		(*verify) (JoinSearch *search, const JoinSet *indexed,
						   const JoinSet *probing);

	/*
	 * verify in two steps, for sets with only keys and bitmaps in memory:
	 * first by these, then by the values.  NULL: candidates are found by
	 * whole sets only.
	 */
	bool		(*may_match) (JoinSearch *search, const JoinSet *indexed,
							  const JoinSet *probing);
	bool		(*compare) (JoinSearch *search, const JoinSet *indexed,
							const JoinSet *probing);

	/* True if a set matches itself. NULL: each does. */
	bool		(*reflexive) (JoinSearch *search, const JoinSet *set);
} Algorithm;

/* Answers that search_need() and the others below have not cached. */
extern uint32 search_find_need(JoinSearch *search, uint32 indexed,
							   uint32 probing);
extern uint64 search_find_least_overlap(JoinSearch *search, bool indexed,
										uint32 size);
extern uint32 search_find_indexed_prefix(JoinSearch *search, uint32 size);
extern uint32 search_find_probing_prefix(JoinSearch *search, uint32 size);

/* True if the cache has the answer for that size. */
static inline bool
size_is_cached(const SizeCache *cache, uint32 other, uint32 size)
{
	return likely(cache->key[SIZE_SLOT(other, size)] == SIZE_KEY(other, size));
}

/* The least overlap with which sets of these sizes reach the threshold. */
static inline uint32
search_need(JoinSearch *search, uint32 indexed, uint32 probing)
{
	if (size_is_cached(&search->need, probing, indexed))
		return search->need.answer[SIZE_SLOT(probing, indexed)];
	return search_find_need(search, indexed, probing);
}

/*
 * The least overlap of a set of that size, indexed or not, with any match;
 * size + 1 if there can be none.
 */
static inline uint64
search_least_overlap(JoinSearch *search, bool indexed, uint32 size)
{
	if (size_is_cached(&search->least, indexed, size))
		return search->least.answer[SIZE_SLOT(indexed, size)];
	return search_find_least_overlap(search, indexed, size);
}

/*
 * Number of its rarest elements that a set of that size has in the index.
 * With a symmetric measure only sets of at least its size probe for it, and
 * larger ones need a greater overlap.
 */
static inline uint32
search_indexed_prefix(JoinSearch *search, uint32 size)
{
	if (size_is_cached(&search->indexed_prefix, 0, size))
		return search->indexed_prefix.answer[SIZE_SLOT(0, size)];
	return search_find_indexed_prefix(search, size);
}

/* Number of its rarest elements by which a set of that size probes. */
static inline uint32
search_probing_prefix(JoinSearch *search, uint32 size)
{
	if (size_is_cached(&search->probing_prefix, 0, size))
		return search->probing_prefix.answer[SIZE_SLOT(0, size)];
	return search_find_probing_prefix(search, size);
}

/* The first set of the component of a set in the index; shortens links. */
static inline uint32
search_component(const JoinSearch *search, uint32 set)
{
	uint32	   *links = search->components;

	while (links[set] != set)
		set = links[set] = links[links[set]];
	return set;
}

/*
 * In a growing index, skip postings of the probing set's component; return the
 * next other posting, or `end`.
 */
static inline const Posting *
search_pass_own(const JoinSearch *search, const Posting *posting,
				const Posting *end)
{
	Assert(search->index.mode == INDEX_GROWING);
	if (search->components == NULL)
		return posting;
	while (posting < end &&
		   search_component(search, posting->set) == search->component)
		posting = inverted_index_from(posting, end,
									  search->run_ends[posting->set]);
	return posting;
}

/* Add the next set to the index by its first n keys, as the algorithm does. */
extern void search_add(JoinSearch *search, const Algorithm *algorithm,
					   const JoinSet *set, uint32 n);

/* Sizes that an indexed set may have if one of that size probes. */
extern const MatchSizes *search_match_sizes(JoinSearch *search, uint32 size);

extern void search_order(JoinSearch *search, JoinSet *set, uint32 prefix);

#endif							/* NEARDUP_SEARCH_H */
