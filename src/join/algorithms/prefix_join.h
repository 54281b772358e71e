/*
 * prefix_join.h
 *		Joins of sets by prefixes.
 */
#ifndef NEARDUP_PREFIX_JOIN_H
#define NEARDUP_PREFIX_JOIN_H

#include "join/engine/search.h"

/* Prefixes, and filters by size and position */

/*
 * A filter for the first posting of a candidate, by token number i of the
 * probing set; false if the sets cannot share `need` elements.
 */
typedef bool (*FirstTokenFilter) (JoinSearch *search, const JoinSet *set,
								  const Posting *posting, uint32 i,
								  uint32 need);

/* A set that probes. */
typedef struct PrefixProbe
{
	const JoinSet *set;
	uint32		nkeys;			/* keys of its prefix */
	uint32		sides;			/* sides, one of which a match must have */
	FirstTokenFilter filter;	/* filter of the first posting, or NULL */
	const MatchSizes *matches;
} PrefixProbe;

/* Begin to probe; in a growing index no set is too small. */
extern void prefix_probe_begin(JoinSearch *search, const JoinSet *set,
							   uint32 sides, PrefixProbe *probe);

/*
 * The posting list of the probe's token number i, without sets that are too
 * small.
 */
static pg_attribute_always_inline const Posting *
prefix_postings(JoinSearch *search, IndexMode mode, const PrefixProbe *probe,
				uint32 i,
				const Posting **end)
{
	InvertedIndex *index = &search->index;
	bool		own = mode == INDEX_SHARED && i < index->shared.own;
	const Posting *posting = inverted_index_postings(index, mode,
													 probe->set->keys[i], own,
													 end,
													 &search->stats.removed_size);

	search->stats.visited += *end - posting;
	return posting;
}

/*
 * Count token number i for the sets of these postings, which are in order of
 * size.
 */
extern void prefix_count(JoinSearch *search, const PrefixProbe *probe,
						 uint32 i,
						 const Posting *posting, const Posting *end);

/*
 * Leave the candidates that may share enough, and those without a noted need,
 * when all tokens have been counted; and clear the counters.
 */
extern void prefix_gather(JoinSearch *search, const PrefixProbe *probe);

/* Algorithm.max_indexed, max_keys, prepare, indexed_keys: of a prefix */
extern uint32 prefix_most_indexed(JoinSearch *search, const JoinSet *set);
extern uint32 prefix_most_keys(JoinSearch *search, const JoinSet *set);
extern void prefix_prepare(JoinSearch *search, JoinSet *set, bool indexed,
						   bool probing);
extern uint32 prefix_indexed_keys(JoinSearch *search, const JoinSet *set);

/* Algorithm.announce, may_have_match: by the least overlap */
extern bool sets_announce(JoinSearch *search, FeatureFilter *filter,
						  const uint64 *values, uint32 n);
extern bool sets_may_have_match(JoinSearch *search,
								const FeatureFilter *filter,
								const uint64 *values, uint32 n, bool indexed);

/* Algorithm.may_match, by bitmaps; compare, element by element */
extern bool sets_may_match(JoinSearch *search, const JoinSet *indexed,
						   const JoinSet *probing);
extern bool sets_compare(JoinSearch *search, const JoinSet *indexed,
						 const JoinSet *probing);

/* Algorithm.verify: both */
extern bool sets_verify(JoinSearch *search, const JoinSet *indexed,
						const JoinSet *probing);

/*
 * Algorithm.reflexive: with MEASURE_SHARED, a set of too few elements does not
 * match itself.
 */
extern bool sets_reflexive(JoinSearch *search, const JoinSet *set);

/* The default join of sets. */
extern const Algorithm prefix_join;

#endif							/* NEARDUP_PREFIX_JOIN_H */
