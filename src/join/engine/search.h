/*
 * search.h
 *		What an algorithm sees of a similarity join: sets, their index, and
 *		what is near.
 *
 * The sets of a chunk are searched, in the order of their sizes, by each other
 * and by those that come from disk.  Where the rows of a set are, and whether
 * there is more than one chunk, an algorithm does not know.
 */
#ifndef NEARDUP_SEARCH_H
#define NEARDUP_SEARCH_H

#include "signature/sets.h"
#include "join/engine/feature_filter.h"
#include "join/engine/setindex.h"
#include "join/engine/tokens.h"

#define SIZE_CACHE	1024

/*
 * A set that probes has its values only if they are not more: those of others are read
 * when it has found candidates.
 */
#define MAX_VALUES_TO_PROBE	4096

/* Sizes of partners, of the size that was asked for last. */
typedef struct PartnerSizes
{
	uint32		size;			/* 0: none was */
	uint64		least;
	uint64		most;
} PartnerSizes;

/* Prefix lengths and needed overlaps that were worked out lately, by size >= 1. */
typedef struct SizeCache
{
	uint32		other;			/* what all answers depend on besides, or 0 */
	uint32		size[SIZE_CACHE];
	uint32		answer[SIZE_CACHE];
} SizeCache;

typedef struct Search
{
	/* of the join */
	Measure		measure;		/* of an indexed set and a probing set */
	double		threshold;		/* one of the measure */
	bool		symmetric;		/* sets probe for those before them */
	size_t		memory;			/* bytes that the join stays within */
	uint32		most_features;	/* values of the largest set */
	MemoryContext context;		/* of all that lasts as long as the join */
	TokenCounters counters;		/* of the features of all sets */
	void	   *state;			/* the algorithm's own, or NULL: in context */

	/*
	 * Groups, where sets are in no order of size and the index grows: sets of one run
	 * follow each other in it, and a probe passes over those of its own component.
	 * NULL: over none.
	 */
	const uint32 *components;	/* of each set in the index */
	const uint32 *run_ends;		/* first set behind the run of each */
	uint32		component;		/* of the set that probes */

	/* of the chunk */
	JoinSet    *sets;			/* in order of size, unless the index grows */
	bool		only_keys;		/* and bitmaps of these are in memory, no values */
	uint32		nsets;
	InvertedIndex index;
	void	   *chunk_state;	/* the algorithm's own, or NULL */

	uint64	   *room;			/* for the keys of the largest set */
	SizeCache	indexed_prefix; /* length of prefixes by size */
	SizeCache	probing_prefix;
	SizeCache	least;			/* overlap with any set, by size */
	SizeCache	need;			/* overlap by partner's size */
	PartnerSizes partners;		/* of sets that probe */
	SetJoinStats stats;
} Search;

/*
 * How candidates are found and verified: the one way in which the engine is
 * extended.  The sets of a chunk are prepared, announced to an index and
 * added to it; a set that probes is prepared, too.
 *
 * What the engine calls a set is n numbers, n >= 1, which it copies and
 * compares for equality; what they mean is the algorithm's business.
 */
typedef struct Algorithm
{
	const char *name;			/* as EXPLAIN tells it */
	bool		ordered;		/* needs the order of the features */
	bool		weighted;		/* and the greatest weight of each */
	bool		at_once;		/* all sets of a chunk are in the index before
								 * the first one probes */
	bool		symmetric;		/* so is the condition, whatever the measure */
	bool		sized;			/* partners are of sizes that the measure tells */
	bool		index_sharable; /* takes postings of an index as they are, by
								 * setindex_partners(), if it is shared */

	/*
	 * Most keys that a set will have in the index, and in all, to tell the
	 * memory that it will take.
	 */
	uint32		(*most_indexed) (Search *search, const JoinSet *set);
	uint32		(*most_keys) (Search *search, const JoinSet *set);

	/*
	 * Takes note of a distinct set; all of them, before any is prepared.
	 * NULL: its values are features, to be counted if they are ordered.
	 */
	void		(*count) (Search *search, const uint64 *values, uint32 n);

	/*
	 * Makes the keys of a set, to be indexed, to probe, or both, in a place
	 * that is good until the next call.
	 */
	void		(*prepare) (Search *search, JoinSet *set, bool indexed,
							bool probing);

	/* How many of its keys, from the first, a prepared set has in the index. */
	uint32		(*indexed_keys) (Search *search, const JoinSet *set);

	/*
	 * Makes what the postings of a set have in place of keys and positions, if
	 * they have, and what is noted of the set.  NULL: none have.
	 */
	bool		(*image) (Search *search, const JoinSet *set, Posting *posting,
						  uint64 *second);

	/*
	 * Adds the next set to the index, by its first n keys, or none if nobody
	 * looks for it.  NULL: its keys are all there is, or its image.
	 */
	void		(*add) (Search *search, const JoinSet *set, uint32 n);

	/*
	 * Leaves in the index the candidates for a set, all different, among sets
	 * that have rows on one of those sides.
	 */
	void		(*probe) (Search *search, const JoinSet *set, uint32 sides);

	/*
	 * Where one side is known before the other: adds a set's features, or whatever
	 * near ones have in common, to the filter, or returns false if nothing is.
	 * And tells whether a set of the other side, indexed or not, may be near to one
	 * of these.
	 */
	bool		(*announce) (Search *search, FeatureFilter *filter,
							 const uint64 *values, uint32 n);
	bool		(*may_have_partner) (Search *search, const FeatureFilter *filter,
									 const uint64 *values, uint32 n, bool indexed);

	/* Forgets what it holds of a chunk.  NULL: nothing. */
	void		(*end_chunk) (Search *search);

	/* Decides. */
	bool		(*verify) (Search *search, const JoinSet *indexed,
						   const JoinSet *probing);

	/*
	 * The same in two steps, for sets of which only keys and bitmaps are in
	 * memory: what may be near, by these, and what is, by the values.  NULL if
	 * whole sets are needed to find candidates.
	 */
	bool		(*may_match) (Search *search, const JoinSet *indexed,
							  const JoinSet *probing);
	bool		(*compare) (Search *search, const JoinSet *indexed,
							const JoinSet *probing);

	/* Whether a set is near to itself.  NULL: each is. */
	bool		(*reflexive) (Search *search, const JoinSet *set);
} Algorithm;

/* What search_need() and the others below have not worked out lately. */
extern uint32 search_find_need(Search *search, uint32 indexed, uint32 probing);
extern uint64 search_find_least_overlap(Search *search, bool indexed, uint32 size);
extern uint32 search_find_indexed_prefix(Search *search, uint32 size);
extern uint32 search_find_probing_prefix(Search *search, uint32 size);

/* Whether the cache has the answer for that size. */
static inline bool
size_is_cached(const SizeCache *cache, uint32 other, uint32 size)
{
	return likely(cache->other == other && cache->size[size % SIZE_CACHE] == size);
}

/* The least overlap with which sets of these sizes reach the threshold. */
static inline uint32
search_need(Search *search, uint32 indexed, uint32 probing)
{
	if (size_is_cached(&search->need, probing, indexed))
		return search->need.answer[indexed % SIZE_CACHE];
	return search_find_need(search, indexed, probing);
}

/*
 * The least overlap of a set of that size, which is or is not an indexed one, with any
 * set that is near to it; size + 1 if none is.
 */
static inline uint64
search_least_overlap(Search *search, bool indexed, uint32 size)
{
	if (size_is_cached(&search->least, indexed, size))
		return search->least.answer[size % SIZE_CACHE];
	return search_find_least_overlap(search, indexed, size);
}

/*
 * How many of its rarest elements a set of that size has in the index.  With
 * a symmetric measure the sets that will look for it are as large or larger,
 * and the larger, the greater is the overlap that they need.
 */
static inline uint32
search_indexed_prefix(Search *search, uint32 size)
{
	if (size_is_cached(&search->indexed_prefix, 0, size))
		return search->indexed_prefix.answer[size % SIZE_CACHE];
	return search_find_indexed_prefix(search, size);
}

/* How many of its rarest elements a set of that size looks for. */
static inline uint32
search_probing_prefix(Search *search, uint32 size)
{
	if (size_is_cached(&search->probing_prefix, 0, size))
		return search->probing_prefix.answer[size % SIZE_CACHE];
	return search_find_probing_prefix(search, size);
}

/*
 * The first posting, from this one on, of a component that is not that of the set which
 * probes, or `end`.
 */
static inline const Posting *
search_pass_own(const Search *search, const Posting *posting, const Posting *end)
{
	if (search->components == NULL)
		return posting;
	while (posting < end && search->components[posting->set] == search->component)
		posting = setindex_from(posting, end, search->run_ends[posting->set]);
	return posting;
}

/* Sizes that an indexed set may have if one of that size probes. */
extern const PartnerSizes *search_partner_sizes(Search *search, uint32 size);

extern void search_order(Search *search, JoinSet *set, uint32 prefix);

#endif							/* NEARDUP_SEARCH_H */
