/*
 * inverted_index.h
 *		Three inverted indexes of sets, with one vocabulary.
 *
 * A hash table whose buckets are ranges of one array of postings.  The indexes
 * differ in how sets come into it:
 *
 * - announced: all sets of a chunk are counted first, so that each bucket gets
 *   a place of the right size, and then added in the order of their sizes;
 * - growing: sets come in any order of size and without notice, so buckets
 *   grow (src/groups/);
 * - shared: several processes have made the index together (shared_index.c),
 *   and each reads it.
 *
 * Who searches knows which one it is: functions that read or add postings take
 * the mode as a constant argument.
 */
#ifndef NEARDUP_INVERTED_INDEX_H
#define NEARDUP_INVERTED_INDEX_H

#include "base/interrupts.h"
#include "join/engine/set_table.h"

typedef enum IndexMode
{
	INDEX_ANNOUNCED,
	INDEX_GROWING,
	INDEX_SHARED,
} IndexMode;

#define INDEX_MODES		3

/* What a posting of a vector says. */
typedef struct WeightPayload
{
	uint16		weight;			/* of the feature, rounded up: the upper half
								 * of a float */
	uint16		rest;			/* share of the vector from the feature on, in
								 * its order, rounded up to 1/65535 */
} WeightPayload;

/*
 * What a posting says of its set besides the number.  An algorithm of sets has
 * positions and, where bit SMALL_PAYLOAD is set, small sets; an algorithm of
 * vectors has weights.
 */
typedef union PostingPayload
{
	uint32		position;		/* position of the token in the set */
	uint32		small;			/* SMALL_PAYLOAD | dropped elements << 16 |
								 * size, of a set in order */
	WeightPayload vector;		/* weight and rest of a vector's feature */
} PostingPayload;

#define SMALL_PAYLOAD	UINT32_C(0x80000000)

/* The largest size of a small set. */
#define MAX_SMALL		1023

typedef struct Posting
{
	union
	{
		uint64		key;		/* the token */
		uint64		bitmap;		/* for a small set: its folded bitmap */
	};
	uint32		set;			/* number in the chunk */
	PostingPayload payload;
} Posting;

/*
 * True if a posting of an algorithm of sets has a bitmap in place of the key.
 */
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

/* The size of a small set. */
static inline uint32
posting_size(const Posting *posting)
{
	Assert(posting_is_small(posting));
	return posting->payload.small & 0xffff;
}

/* The number of elements that were dropped from a small set. */
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
	uint32		start;			/* first posting whose set is not too small */
	uint32		n;				/* postings so far, from start */
	union
	{
		uint32		last_set;	/* announced: set of the last posting */
		uint32		first_set;	/* shared: set of the first posting */
	};
	uint32		tags;			/* bits of their keys; in a shared index, the
								 * upper half for keys with a second posting */
} Bucket;

typedef struct Accumulator
{
	uint32		shared;			/* tokens that the prefixes share, or PRUNED */
	uint32		need;			/* least overlap that reaches the threshold */
} Accumulator;

/* The elements of a set after its keys in the index. */
typedef struct SuffixBound
{
	uint32		last;			/* upper half of the last key */
	uint32		n;				/* elements after it */
} SuffixBound;

/* A vector, and its features that are not in the index. */
typedef struct IndexedVector
{
	float		whole;			/* length of the vector, as WeightPayload.rest
								 * counts it */
	uint16		rest;			/* share of the part that is not indexed */
	uint16		first;			/* upper bits of its first key */
} IndexedVector;

/* The entry of a set in the index, beside its postings. */
typedef union IndexedSet
{
	SuffixBound suffix;			/* suffix, if the postings have keys */
	IndexedVector vector;		/* the same for vectors */
	uint64		bitmap;			/* the second one, if they have the first */
} IndexedSet;

#define PRUNED	UINT32_MAX		/* Accumulator.shared of a pruned candidate */

/* What only an index of one kind has. */
typedef struct AnnouncedIndex
{
	uint32		least;			/* sets before this one are too small */
} AnnouncedIndex;

typedef struct GrowingIndex
{
	uint64		nused;			/* postings that buckets have a place for */
	uint32		max_sets;		/* sets that there is room for */
	uint64	   *filter;			/* two bits of a word for each key; NULL =
								 * none */
	int			filter_shift;	/* 64 - log2(number of words) */
	uint32		free[32];		/* places that buckets have left, lists by
								 * log2 of the number of postings; 0 = none */
} GrowingIndex;

typedef struct SharedView
{
	uint32		least;			/* as in AnnouncedIndex */
	uint32		own;			/* number of first keys by which the probing
								 * set is in the index itself */
} SharedView;

typedef struct InvertedIndex
{
	IndexMode	mode;
	Bucket	   *buckets;		/* NULL: there is no index */
	int			shift;			/* 64 - log2(number of buckets) */
	Posting    *postings;
	uint64		npostings;		/* room for */
	uint32		nadded;			/* sets that have been added; in a shared
								 * index, all */
	uint32		limit;			/* first set that cannot be a match */
	Accumulator *accumulators;	/* one a set, all zero between probes */
	uint32	   *sizes;			/* size << 2 | sides, one a set */
	IndexedSet *entries;		/* one a set */
	uint32	   *candidates;		/* candidates of the current probe */
	uint32		ncandidates;
	size_t		bytes;
	union
	{
		AnnouncedIndex announced;
		GrowingIndex growing;
		SharedView	shared;
	};
} InvertedIndex;

#define INDEXED_SIZE(index, set)	((index)->sizes[set] >> 2)
#define INDEXED_SIDES(index, set)	((index)->sizes[set] & 3)

/*
 * Number of buckets for so many postings and different keys, and
 * InvertedIndex.shift for it.
 */
extern uint64 inverted_index_buckets(uint64 npostings, uint64 nkeys);
extern int	inverted_index_shift(uint64 nbuckets);

/*
 * Bytes of an announced index of that size; and of the part that each process
 * has for itself.
 */
extern size_t inverted_index_bytes(uint32 nsets, uint64 npostings);
extern size_t inverted_index_own_bytes(uint32 nsets);

/*
 * Create an announced index over sets in the order of their sizes, without
 * postings.
 */
extern void announced_index_create(InvertedIndex *index, const JoinSet *sets,
								   uint32 nsets, uint64 npostings,
								   uint64 nkeys);

/*
 * Announce a set with these keys; and allocate all buckets after the last one.
 */
extern void announced_index_count(InvertedIndex *index, const uint64 *keys,
								  uint32 n);
extern void announced_index_allocate(InvertedIndex *index);

/*
 * Create an empty growing index; the numbers of postings and of different keys
 * are estimates.
 */
extern void growing_index_create(InvertedIndex *index, uint64 npostings,
								 uint64 nkeys);

/*
 * Give an empty growing index a filter for that number of postings: sets that
 * probe and have none of its keys are known at once if the filter is in the
 * CPU's cache.
 */
extern void growing_index_create_filter(InvertedIndex *index,
										uint64 npostings);

/* Make room for one more set of that size, which is added next. */
extern void growing_index_reserve(InvertedIndex *index, uint32 size);

/*
 * Upper bound of the bytes of a growing index while it adds n more sets of
 * nkeys keys in all.
 */
extern size_t growing_index_bytes_with(const InvertedIndex *index, uint32 n,
									   uint64 nkeys);

/* Move the postings of a full bucket to a place of twice the size. */
extern void growing_index_move(InvertedIndex *index, Bucket *bucket);

/*
 * Complete an index over the same sets that several processes read: the caller
 * has set buckets, shift, postings, npostings and entries, in shared memory.
 */
extern void shared_view_attach(InvertedIndex *index, const JoinSet *sets,
							   uint32 nsets);

extern void inverted_index_free(InvertedIndex *index);

/*
 * Add the next set with these keys; the first one is at `position` in the set.
 */
extern void inverted_index_add(InvertedIndex *index, const uint64 *keys,
							   uint32 n,
							   uint32 position);

/*
 * Add a small set, whose postings are all like that one; its entry has the
 * second bitmap.
 */
extern void inverted_index_add_bitmap(InvertedIndex *index, const uint64 *keys,
									  uint32 n, const Posting *small,
									  uint64 second);

/*
 * The first posting, from this one on, whose set is not before that one, or
 * `end`; by exponential search, as it is mostly close.
 */
extern const Posting *inverted_index_from(const Posting *posting,
										  const Posting *end,
										  uint32 set);

/* For the functions below. */
extern uint32 inverted_index_first_of_size(const InvertedIndex *index,
										   uint32 from,
										   uint64 size);
extern const Posting *shared_view_not_small(const InvertedIndex *index,
											const Bucket *bucket);

/*
 * The suffix of a set that has n >= 1 keys in the index, and nelements
 * elements from the first key on.
 */
static inline SuffixBound
suffix_bound(const uint64 *keys, uint32 n, uint32 nelements)
{
	SuffixBound suffix = {.last = keys[n - 1] >> 32,.n = nelements - n};

	return suffix;
}

/* The hash of a key: its high bits give the bucket, the next ones the tag. */
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

/*
 * The tag of a key, one bit: most absent keys are found by it without reading
 * postings.
 */
static inline uint32
inverted_index_tag(const InvertedIndex *index, uint64 key)
{
	return UINT32_C(1) << (inverted_index_hash(key) >> (index->shift -
														5) & 31);
}

/* The bits of a key, by its hash, in a word of a growing index's filter. */
static inline uint64
growing_index_bits(uint64 hash)
{
	return UINT64CONST(1) << (hash >> 26 & 63) |
		UINT64CONST(1) << (hash >> 20 & 63);
}

/* False if a growing index has none of n keys, by its filter. */
static inline bool
growing_index_may_have(const InvertedIndex *index, const uint64 *keys,
					   uint32 n)
{
	const uint64 *filter = index->growing.filter;
	int			shift = index->growing.filter_shift;

	Assert(index->mode == INDEX_GROWING);
	if (filter == NULL)
		return true;
	for (uint32 i = 0; i < n; i++)
	{
		uint64		hash = inverted_index_hash(keys[i]);
		uint64		bits = growing_index_bits(hash);

		if ((filter[hash >> shift] & bits) == bits)
			return true;
	}
	return false;
}

/* Note that sets below that size are too small; later sizes are not less. */
static pg_attribute_always_inline void
inverted_index_begin_at(InvertedIndex *index, IndexMode mode, uint64 size)
{
	Assert(mode == index->mode);
	if (mode == INDEX_ANNOUNCED)
		index->announced.least = inverted_index_first_of_size(index,
															  index->announced.least,
															  size);
	else if (mode == INDEX_SHARED)
		index->shared.least = inverted_index_first_of_size(index,
														   index->shared.least,
														   size);
}

/*
 * The place of the next posting of a key; in an announced index the key was
 * counted.
 */
static pg_attribute_always_inline Posting *
inverted_index_put(InvertedIndex *index, IndexMode mode, uint64 key)
{
	Bucket	   *bucket = inverted_index_bucket(index, key);

	Assert(mode == index->mode && mode != INDEX_SHARED);
	/* places of a bucket that grows are none, one, two, four and so on */
	if (mode == INDEX_GROWING && (bucket->n & (bucket->n - 1)) == 0)
		growing_index_move(index, bucket);
	bucket->tags |= inverted_index_tag(index, key);
	bucket->last_set = index->nadded;
	return &index->postings[bucket->start + bucket->n++];
}

/*
 * The postings of a bucket of an announced index whose sets are not too small;
 * the number of skipped ones is added up.  Sizes of probes rise, so a set that
 * is too small stays so.  An exhausted list costs no read.
 */
static inline const Posting *
announced_index_list(const InvertedIndex *index, Bucket *bucket,
					 const Posting **end,
					 uint64 *removed)
{
	const Posting *posting = &index->postings[bucket->start];
	uint32		least = index->announced.least;
	uint32		small = bucket->n;

	Assert(index->mode == INDEX_ANNOUNCED);
	*end = posting + bucket->n;
	if (bucket->n > 0 && bucket->last_set >= least)
		for (small = 0; posting[small].set < least; small++)
			CHECK_EVERY(small);
	*removed += small;
	bucket->start += small;
	bucket->n -= small;
	return posting + small;
}

/*
 * Bits for tags of keys in a bucket of a shared index: half of the bits, as
 * each tag has a second bit for a second posting.  A set that probes finds
 * itself by most of its keys, so only the second bit marks another set.
 */
#define SHARED_TAGS		16
#define AGAIN_SHIFT		16

/* Note one more posting with that tag in a bucket of a shared index. */
static inline void
shared_view_add_tag(Bucket *bucket, uint32 tag)
{
	uint32		bit = UINT32_C(1) << tag;

	bucket->tags |= (bucket->tags & bit) << AGAIN_SHIFT | bit;
}

/*
 * True if a bucket of a shared index may have postings of the key by sets
 * before `limit`, other than the set that probes.  `own`: the set that probes
 * is indexed by this key.
 */
static inline bool
shared_view_may_have(const InvertedIndex *index, const Bucket *bucket,
					 uint64 key,
					 bool own, uint32 limit)
{
	uint32		tag = inverted_index_hash(key) >> (index->shift -
												   5) & (SHARED_TAGS - 1);

	return (bucket->tags >> (own ? AGAIN_SHIFT : 0) >> tag & 1) != 0 &&
		bucket->first_set < limit;
}

/*
 * The postings of a key's bucket in a shared index whose sets are not too
 * small; none without a match.
 */
static inline const Posting *
shared_view_list(const InvertedIndex *index, uint64 key, bool own,
				 const Posting **end)
{
	const Bucket *bucket = inverted_index_bucket(index, key);

	Assert(index->mode == INDEX_SHARED);
	*end = index->postings;
	if (!shared_view_may_have(index, bucket, key, own, index->limit))
		return *end;
	*end += bucket->start + bucket->n;
	return bucket->first_set < index->shared.least ?
		shared_view_not_small(index, bucket) :
		&index->postings[bucket->start];
}

/*
 * The postings that may be of a key and of sets that are not too small; the
 * number of skipped ones is added up.  In a shared index a loop over them must
 * stop at the first set that is not before `limit`: to search for it would
 * take longer, as long lists are not in the cache.
 */
static pg_attribute_always_inline const Posting *
inverted_index_postings(const InvertedIndex *index, IndexMode mode, uint64 key,
						bool own,
						const Posting **end, uint64 *removed)
{
	Bucket	   *bucket;

	Assert(mode == index->mode);
	if (mode == INDEX_SHARED)
		return shared_view_list(index, key, own, end);
	bucket = inverted_index_bucket(index, key);
	*end = index->postings;
	if ((bucket->tags & inverted_index_tag(index, key)) == 0)
		return *end;
	if (mode == INDEX_ANNOUNCED)
		return announced_index_list(index, bucket, end, removed);
	*end += bucket->start + bucket->n;
	return &index->postings[bucket->start];
}

/* Prefetch the buckets of n keys. */
static inline void
inverted_index_fetch_buckets(const InvertedIndex *index, const uint64 *keys,
							 uint32 n)
{
	for (uint32 i = 0; i < n; i++)
		__builtin_prefetch(inverted_index_bucket(index, keys[i]), 1);
}

/*
 * Prefetch, once the buckets of an announced index are in the cache, the
 * beginning of their lists and, for the first nindexed keys, the places of the
 * next postings.
 */
static inline void
announced_index_fetch(const InvertedIndex *index, const uint64 *keys, uint32 n,
					  uint32 nindexed)
{
	Assert(index->mode == INDEX_ANNOUNCED);
	for (uint32 i = 0; i < n; i++)
	{
		const Bucket *bucket = inverted_index_bucket(index, keys[i]);

		if ((bucket->tags & inverted_index_tag(index, keys[i])) != 0 &&
			bucket->last_set >= index->announced.least)
			__builtin_prefetch(&index->postings[bucket->start]);
		if (i < nindexed)
			__builtin_prefetch(&index->postings[bucket->start + bucket->n], 1);
	}
}

/*
 * Prefetch, once the buckets of a shared index are in the cache, the beginning
 * of their lists, for a set with `own` of the keys in the index.
 */
static inline void
shared_view_fetch(const InvertedIndex *index, const uint64 *keys, uint32 n,
				  uint32 own,
				  uint32 limit)
{
	Assert(index->mode == INDEX_SHARED);
	for (uint32 i = 0; i < n; i++)
	{
		const Bucket *bucket = inverted_index_bucket(index, keys[i]);

		if (!shared_view_may_have(index, bucket, keys[i], i < own, limit))
			continue;
		__builtin_prefetch(&index->postings[bucket->start]);
		if (bucket->n > 1)
			__builtin_prefetch(&index->postings[bucket->start +
												Min(bucket->n, 8) - 1]);
	}
}

#endif							/* NEARDUP_INVERTED_INDEX_H */
