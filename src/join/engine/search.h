/*
 * search.h
 *		The inverted index of sets, and the interface of algorithms.
 */
#ifndef NEARDUP_SEARCH_H
#define NEARDUP_SEARCH_H

#include "join/engine/feature_counts.h"
#include "join/engine/set_table.h"
#include "signature/sets.h"

/* An inverted index over the keys of a chunk of sets */

/*
 * What a posting says of its set besides the number.  An algorithm of sets has positions and,
 * where bit SMALL_PAYLOAD is set, small sets; an algorithm of vectors has weights.
 */
typedef union PostingPayload
{
	uint32		position;		/* of the token in the set */
	uint32		small;			/* SMALL_PAYLOAD | dropped elements << 16 |
								 * size, of a set in order */
	float		weight;			/* of the feature in the vector */
} PostingPayload;

#define SMALL_PAYLOAD	UINT32_C(0x80000000)

/* The largest size of a small set. */
#define MAX_SMALL		1023

typedef struct Posting
{
	union
	{
		uint64		key;		/* the token */
		uint64		bitmap;		/* or, of a small set, its folded bitmap */
	};
	uint32		set;			/* number in the chunk */
	PostingPayload payload;
} Posting;

/* True if a posting of an algorithm of sets has a bitmap in place of the key. */
static inline bool
posting_is_small(const Posting *posting)
{
	return (posting->payload.small & SMALL_PAYLOAD) != 0;
}

/* The place of the token in its set, from 0. */
static inline uint32
posting_position(const Posting *posting)
{
	Assert(!posting_is_small(posting));
	return posting->payload.position;
}

/* The size of a small set, and the number of elements that were dropped from it. */
static inline uint32
posting_size(const Posting *posting)
{
	Assert(posting_is_small(posting));
	return posting->payload.small & 0xffff;
}

static inline uint32
posting_dropped(const Posting *posting)
{
	Assert(posting_is_small(posting));
	return (posting->payload.small & ~SMALL_PAYLOAD) >> 16;
}

/* Say that a posting is of a small set. */
static inline void
posting_set_small(Posting *posting, uint64 bitmap, uint32 size, uint32 dropped)
{
	Assert(dropped <= size && size <= MAX_SMALL);
	posting->bitmap = bitmap;
	posting->payload.small = SMALL_PAYLOAD | dropped << 16 | size;
}

typedef struct Bucket
{
	uint32		start;			/* its first posting that is not too small */
	uint32		n;				/* postings so far, from start */
	uint32		set;			/* that of the last one */
	uint32		tags;			/* of their keys; in a shared index, the upper
								 * half for keys with a second posting */
} Bucket;

typedef struct Accumulator
{
	uint32		shared;			/* tokens that the prefixes share, or PRUNED */
	uint32		need;			/* least overlap that reaches the threshold */
} Accumulator;

/* The elements of a set after its keys in the index. */
typedef struct SuffixBound
{
	uint32		last;			/* upper half of the last of these keys */
	uint32		n;				/* elements after it */
} SuffixBound;

/* The entry of a set in the index, beside its postings. */
typedef union IndexedSet
{
	SuffixBound suffix;			/* if its postings have keys */
	uint64		bitmap;			/* the second one, if they have the first */
} IndexedSet;

#define PRUNED	UINT32_MAX		/* Accumulator.shared of a pruned candidate */

typedef struct InvertedIndex
{
	Bucket	   *buckets;
	int			shift;			/* 64 - log2(number of buckets) */
	Posting    *postings;
	uint64		npostings;		/* room for */
	uint32		nadded;			/* sets that have been added */
	uint32		limit;			/* only sets before this one are matches */
	uint32		least;			/* sets before this one are too small */
	bool		shared;			/* with other processes, see shared_index.h:
								 * all sets are in it, and Bucket.set is the
								 * set of the first posting */
	uint32		own;			/* number of first keys by which the probing
								 * set is in such an index itself */
	bool		growing;		/* sets have no order of size and are not
								 * announced: buckets grow */
	uint64		nused;			/* then: postings that buckets have a place
								 * for */
	uint32		max_sets;		/* then: sets that there is room for */
	Accumulator *accumulators;	/* one a set, all zero between probes */
	uint32	   *sizes;			/* size << 2 | sides, one a set */
	IndexedSet *entries;		/* one a set */
	uint32	   *candidates;		/* of the current probe */
	uint32		ncandidates;
	size_t		bytes;
} InvertedIndex;

/*
 * The suffix of a set that has n >= 1 keys in the index, with nelements elements from the
 * first of these on.
 */
static inline SuffixBound
suffix_bound(const uint64 *keys, uint32 n, uint32 nelements)
{
	SuffixBound suffix = {.last = keys[n - 1] >> 32,.n = nelements - n};

	return suffix;
}

#define INDEXED_SIZE(index, set)	((index)->sizes[set] >> 2)
#define INDEXED_SIDES(index, set)	((index)->sizes[set] & 3)

extern uint64 inverted_index_buckets(uint64 npostings, uint64 nkeys);
extern int	inverted_index_shift(uint64 nbuckets);
extern size_t inverted_index_bytes(uint32 nsets, uint64 npostings);
extern size_t inverted_index_own_bytes(uint32 nsets);
extern void inverted_index_create(InvertedIndex *index, const JoinSet *sets,
								  uint32 nsets, uint64 npostings, uint64 nkeys);

/*
 * Complete an index over the same sets that several processes read: the caller has set
 * buckets, shift, postings, npostings and entries, in shared memory.
 */
extern void inverted_index_attach(InvertedIndex *index, const JoinSet *sets, uint32 nsets);
extern void inverted_index_free(InvertedIndex *index);
extern void inverted_index_create_growing(InvertedIndex *index, uint64 npostings, uint64 nkeys);
extern void inverted_index_grow_for(InvertedIndex *index, uint32 size);
extern size_t inverted_index_bytes_with(const InvertedIndex *index, uint32 nkeys);
extern void inverted_index_grow_bucket(InvertedIndex *index, Bucket *bucket);
extern void inverted_index_count(InvertedIndex *index, const uint64 *keys, uint32 n);
extern void inverted_index_allocate(InvertedIndex *index);
extern void inverted_index_add(InvertedIndex *index, const uint64 *keys, uint32 n, uint32 position);
extern void inverted_index_add_bitmap(InvertedIndex *index, const uint64 *keys,
									  uint32 n, const Posting *small, uint64 second);
extern void inverted_index_begin_at(InvertedIndex *index, uint64 size);
extern const Posting *inverted_index_not_small(const InvertedIndex *index, const Bucket *bucket);
extern const Posting *inverted_index_from(const Posting *posting, const Posting *end, uint32 set);

static inline uint64
inverted_index_hash(uint64 key)
{
	return key * UINT64CONST(0xA24BAED4963EE407);
}

/* The bucket of a key. */
static inline Bucket *
inverted_index_bucket(const InvertedIndex *index, uint64 key)
{
	return &index->buckets[inverted_index_hash(key) >> index->shift];
}

/* The tag of a key, one bit: most absent keys are found by it without reading postings. */
static inline uint32
inverted_index_tag(const InvertedIndex *index, uint64 key)
{
	return UINT32_C(1) << (inverted_index_hash(key) >> (index->shift - 5) & 31);
}

/* The place of the next posting of a key, which was counted. */
static inline Posting *
inverted_index_put(InvertedIndex *index, uint64 key)
{
	Bucket	   *bucket = inverted_index_bucket(index, key);

	/* places of a bucket that grows are none, one, two, four and so on */
	if (index->growing && (bucket->n & (bucket->n - 1)) == 0)
		inverted_index_grow_bucket(index, bucket);
	bucket->tags |= inverted_index_tag(index, key);
	bucket->set = index->nadded;
	return &index->postings[bucket->start + bucket->n++];
}

/*
 * The postings of a bucket whose sets are not too small, if the index is not shared; the number
 * of skipped ones is added up.  Sizes of probes rise, so a set that is too small stays so.  Of a
 * list with nothing left, no posting is read.
 */
static inline const Posting *
inverted_index_list(const InvertedIndex *index, Bucket *bucket, const Posting **end,
					uint64 *removed)
{
	const Posting *posting = &index->postings[bucket->start];
	uint32		small = bucket->n;

	*end = posting + bucket->n;
	if (bucket->n > 0 && bucket->set >= index->least)
		for (small = 0; posting[small].set < index->least; small++)
			CHECK_EVERY(small);
	*removed += small;
	bucket->start += small;
	bucket->n -= small;
	return posting + small;
}

/*
 * Prefetch the buckets of keys, and later the beginning of their lists and, for the first
 * nindexed keys, the places of the next postings.
 */
static inline void
inverted_index_fetch_buckets(const InvertedIndex *index, const uint64 *keys, uint32 n)
{
	for (uint32 i = 0; i < n; i++)
		__builtin_prefetch(inverted_index_bucket(index, keys[i]), 1);
}

static inline void
inverted_index_fetch_places(const InvertedIndex *index, const uint64 *keys, uint32 n,
							uint32 nindexed)
{
	for (uint32 i = 0; i < n; i++)
	{
		const Bucket *bucket = inverted_index_bucket(index, keys[i]);

		if ((bucket->tags & inverted_index_tag(index, keys[i])) != 0 && bucket->set >= index->least)
			__builtin_prefetch(&index->postings[bucket->start]);
		if (i < nindexed)
			__builtin_prefetch(&index->postings[bucket->start + bucket->n], 1);
	}
}

/*
 * Bits for tags of keys in a bucket of a shared index: half of the bits, as each tag has a
 * second bit for a second posting.  A set that probes finds itself by most of its keys, so only
 * the second bit marks another set.
 */
#define SHARED_TAGS		16
#define AGAIN_SHIFT		16

/* Note one more posting with that tag in a bucket. */
static inline void
inverted_index_add_tag(Bucket *bucket, uint32 tag)
{
	uint32		bit = UINT32_C(1) << tag;

	bucket->tags |= (bucket->tags & bit) << AGAIN_SHIFT | bit;
}

/*
 * Whether a bucket of a shared index may have postings of the key by sets before `limit`, other
 * than the set that probes.
 */
static inline bool
inverted_index_may_have(const InvertedIndex *index, const Bucket *bucket, uint64 key,
						bool own, uint32 limit)
{
	uint32		tag = inverted_index_hash(key) >> (index->shift - 5) & (SHARED_TAGS - 1);

	return (bucket->tags >> (own ? AGAIN_SHIFT : 0) >> tag & 1) != 0 && bucket->set < limit;
}

/*
 * The postings of a key's bucket in a shared index whose sets are not too small; none without a
 * match.  A loop over them must stop at the first set that is not before `limit`: to search for
 * it would take longer, as long lists are not in the cache. `own`: the set that probes is
 * indexed by this key.
 */
static inline const Posting *
inverted_index_matches(const InvertedIndex *index, uint64 key, bool own, const Posting **end)
{
	const Bucket *bucket = inverted_index_bucket(index, key);

	*end = index->postings;
	if (!inverted_index_may_have(index, bucket, key, own, index->limit))
		return *end;
	*end += bucket->start + bucket->n;
	return bucket->set < index->least ? inverted_index_not_small(index, bucket) :
		&index->postings[bucket->start];
}

/* Prefetch postings of such buckets, for a set with `own` of the keys in the index. */
static inline void
inverted_index_fetch_matches(const InvertedIndex *index, const uint64 *keys,
							 uint32 n, uint32 own, uint32 limit)
{
	for (uint32 i = 0; i < n; i++)
	{
		const Bucket *bucket = inverted_index_bucket(index, keys[i]);

		if (!inverted_index_may_have(index, bucket, keys[i], i < own, limit))
			continue;
		__builtin_prefetch(&index->postings[bucket->start]);
		if (bucket->n > 1)
			__builtin_prefetch(&index->postings[bucket->start + Min(bucket->n, 8) - 1]);
	}
}

/*
 * The part of a similarity join that algorithms see: sets, their index, the measure.
 *
 * The sets of a chunk are probed in the order of their sizes, by each other and by sets from
 * disk.  An algorithm does not depend on the place of rows, or on the number of chunks.
 */

#define SIZE_CACHE	1024

/* A set with more values probes without them: they are read if it finds candidates. */
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
	Measure		measure;		/* of an indexed set and a probing set */
	double		threshold;		/* one of the measure */
	bool		symmetric;		/* sets probe for those before them */
	size_t		memory;			/* bytes that the join may have */
	uint32		max_features;	/* values of the largest set */
	MemoryContext context;		/* of all that lasts as long as the join */
	TokenCounters counters;		/* of the features of all sets */
	void	   *state;			/* the algorithm's own, or NULL: in context */

	/*
	 * Groups, whose index grows: sets of one run follow each other in it, and
	 * a probe skips those of its own component.  NULL: it skips none.
	 */
	uint32	   *components;		/* link of each set in the index, towards the
								 * first one of its component */
	uint32	   *run_ends;		/* first set after the run of each */
	uint32		component;		/* of the set that probes */

	/* of the chunk */
	JoinSet    *sets;			/* in order of size, unless the index grows */
	bool		only_keys;		/* and bitmaps of these are in memory, no
								 * values */
	uint32		nsets;
	InvertedIndex index;
	void	   *chunk_state;	/* the algorithm's own, or NULL */

	uint64	   *room;			/* for the keys of the largest set */
	SizeCache	indexed_prefix; /* length of prefixes by size */
	SizeCache	probing_prefix;
	SizeCache	least;			/* overlap with any set, by size */
	SizeCache	need;			/* overlap by match's size */
	MatchSizes	matches;		/* of sets that probe */
	EngineStats stats;
} JoinSearch;

/*
 * The interface by which algorithms find and verify candidates.  The sets of a chunk are
 * prepared, announced to an index and added to it; a set that probes is prepared, too.  The
 * engine copies the n >= 1 numbers of a set and compares them for equality; the algorithm
 * defines their meaning.
 */
typedef struct Algorithm
{
	const char *name;			/* in EXPLAIN */
	bool		ordered;		/* needs the order of the features */
	bool		weighted;		/* and the greatest weight of each */
	bool		at_once;		/* all sets of a chunk are in the index before
								 * the first one probes */
	bool		symmetric;		/* the condition is symmetric, whatever the
								 * measure */
	bool		sized;			/* the measure bounds the sizes of matches */
	bool		index_sharable; /* reads a shared index, by
								 * inverted_index_matches() */

	/*
	 * Upper bounds of the keys that a set will have in the index, and in all,
	 * to estimate memory.
	 */
	uint32		(*max_indexed) (JoinSearch *search, const JoinSet *set);
	uint32		(*max_keys) (JoinSearch *search, const JoinSet *set);

	/*
	 * Note a distinct set, before any is prepared.  NULL: its values are
	 * features, which are counted if they are ordered.
	 */
	void		(*count) (JoinSearch *search, const uint64 *values, uint32 n);

	/*
	 * Make the keys of a set, to be indexed, to probe, or both; valid until
	 * the next call.
	 */
	void		(*prepare) (JoinSearch *search, JoinSet *set, bool indexed, bool probing);

	/* Number of its first keys that a prepared set has in the index. */
	uint32		(*indexed_keys) (JoinSearch *search, const JoinSet *set);

	/*
	 * Compute the bitmaps by which small sets are filtered: the first in a
	 * posting, the second for the set's entry.  False if the set is too
	 * large.  NULL: all sets are.
	 */
	bool		(*bitmaps) (JoinSearch *search, const JoinSet *set, Posting *posting,
							uint64 *second);

	/*
	 * Add the next set to the index, by its first n keys; n = 0: no set
	 * probes for it.  NULL: the engine adds keys or bitmaps.
	 */
	void		(*add) (JoinSearch *search, const JoinSet *set, uint32 n);

	/*
	 * Leave the distinct candidates for a set in the index, among sets that
	 * have rows on one of those sides.
	 */
	void		(*probe) (JoinSearch *search, const JoinSet *set, uint32 sides);

	/*
	 * Add the features, or the keys of a sketch, of a set of the side that is
	 * known first to the filter; false if near sets need not share any.  And
	 * whether a set of the other side, indexed or not, may be near one of
	 * these.
	 */
	bool		(*announce) (JoinSearch *search, FeatureFilter *filter,
							 const uint64 *values, uint32 n);
	bool		(*may_have_match) (JoinSearch *search, const FeatureFilter *filter,
								   const uint64 *values, uint32 n, bool indexed);

	/* Free the state of a chunk. NULL: there is none. */
	void		(*end_chunk) (JoinSearch *search);

	/* Whether the sets are near. */
	bool		(*verify) (JoinSearch *search, const JoinSet *indexed, const JoinSet *probing);

	/*
	 * verify in two steps, for sets with only keys and bitmaps in memory:
	 * first by these, then by the values.  NULL: candidates are found by
	 * whole sets only.
	 */
	bool		(*may_match) (JoinSearch *search, const JoinSet *indexed, const JoinSet *probing);
	bool		(*compare) (JoinSearch *search, const JoinSet *indexed, const JoinSet *probing);

	/* Whether a set is near itself. NULL: each is. */
	bool		(*reflexive) (JoinSearch *search, const JoinSet *set);
} Algorithm;

/* Answers that search_need() and the others below have not cached. */
extern uint32 search_find_need(JoinSearch *search, uint32 indexed, uint32 probing);
extern uint64 search_find_least_overlap(JoinSearch *search, bool indexed, uint32 size);
extern uint32 search_find_indexed_prefix(JoinSearch *search, uint32 size);
extern uint32 search_find_probing_prefix(JoinSearch *search, uint32 size);

/* Whether the cache has the answer for that size. */
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
 * The least overlap of a set of that size, indexed or not, with any near set; size + 1 if there
 * can be none.
 */
static inline uint64
search_least_overlap(JoinSearch *search, bool indexed, uint32 size)
{
	if (size_is_cached(&search->least, indexed, size))
		return search->least.answer[SIZE_SLOT(indexed, size)];
	return search_find_least_overlap(search, indexed, size);
}

/*
 * Number of its rarest elements that a set of that size has in the index.  With a symmetric
 * measure only sets of at least its size probe for it, and larger ones need a greater overlap.
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
 * The first posting, from this one on, of another component than that of the set that probes,
 * or `end`.
 */
static inline const Posting *
search_pass_own(const JoinSearch *search, const Posting *posting, const Posting *end)
{
	if (search->components == NULL)
		return posting;
	while (posting < end && search_component(search, posting->set) == search->component)
		posting = inverted_index_from(posting, end, search->run_ends[posting->set]);
	return posting;
}

/* Sizes that an indexed set may have if one of that size probes. */
extern const MatchSizes *search_match_sizes(JoinSearch *search, uint32 size);

extern void search_order(JoinSearch *search, JoinSet *set, uint32 prefix);

#endif							/* NEARDUP_SEARCH_H */
