/*
 * setindex.h
 *		An inverted index over the keys of a chunk of sets.
 */
#ifndef NEARDUP_SETINDEX_H
#define NEARDUP_SETINDEX_H

#include "join/engine/joined_set.h"

typedef struct Posting
{
	uint64		key;			/* the token */
	uint32		set;			/* number in the chunk */
	uint32		position;		/* in the set; of a vector, its weight */
} Posting;

typedef struct Bucket
{
	uint32		start;			/* its first posting that is not too small */
	uint32		n;				/* postings so far, from start */
	uint32		set;			/* that of the last one */
	uint32		tags;			/* of their keys; where the index is shared, in the
								 * upper half of those that come again */
} Bucket;

typedef struct Accumulator
{
	uint32		shared;			/* tokens that the prefixes share, or PRUNED */
	uint32		need;			/* least overlap that reaches the threshold */
} Accumulator;

/* What is behind the keys that a set has in the index */
typedef struct Tail
{
	uint32		last;			/* upper half of the last of these keys */
	uint32		n;				/* elements behind it */
} Tail;

/* What is noted of an indexed set beside its postings. */
typedef union SetNote
{
	Tail		tail;
	uint64		image;			/* a second one, if its postings have an image */
} SetNote;

#define PRUNED	UINT32_MAX		/* Accumulator.shared of a pruned candidate */

typedef struct InvertedIndex
{
	Bucket	   *buckets;
	int			shift;			/* 64 - log2(number of buckets) */
	Posting    *postings;
	uint64		npostings;		/* room for */
	uint32		nadded;			/* sets that have been added */
	uint32		limit;			/* only sets before this one are partners */
	uint32		least;			/* sets before this one are too small */
	bool		shared;			/* with other processes, see shared_index.h:
								 * all sets are in it, and a bucket tells the set
								 * of its first posting */
	uint32		own;			/* keys, the first ones, by which the set that
								 * probes is in such an index itself */
	bool		growing;		/* sets come in no order of size, and are not
								 * announced: buckets grow as they are added */
	uint64		nused;			/* then: postings that buckets have a place for */
	uint32		max_sets;		/* then: sets that there is room for */
	Accumulator *accumulators;	/* one a set, all zero between probes */
	uint32	   *sizes;			/* size << 2 | sides, one a set */
	SetNote    *notes;			/* one a set */
	uint32	   *candidates;		/* of the current probe */
	uint32		ncandidates;
	size_t		bytes;
} InvertedIndex;

/*
 * The tail of a set that has n >= 1 keys in the index, with so many elements from the
 * first of these on.
 */
static inline Tail
setindex_tail(const uint64 *keys, uint32 n, uint32 nelements)
{
	Tail		tail = {.last = keys[n - 1] >> 32,.n = nelements - n};

	return tail;
}

#define INDEXED_SIZE(index, set)	((index)->sizes[set] >> 2)
#define INDEXED_SIDES(index, set)	((index)->sizes[set] & 3)

extern uint64 setindex_buckets(uint64 npostings, uint64 nkeys);
extern int	setindex_shift(uint64 nbuckets);
extern size_t setindex_bytes(uint32 nsets, uint64 npostings);
extern size_t setindex_own_bytes(uint32 nsets);
extern void setindex_create(InvertedIndex *index, const JoinSet *sets,
							uint32 nsets, uint64 npostings, uint64 nkeys);

/*
 * Complete an index over the same sets that several processes read: the caller has set
 * buckets, shift, postings, npostings and notes, in shared memory.
 */
extern void setindex_attach(InvertedIndex *index, const JoinSet *sets, uint32 nsets);
extern void setindex_free(InvertedIndex *index);
extern void setindex_create_growing(InvertedIndex *index, uint64 npostings,
									uint64 nkeys);
extern void setindex_grow_for(InvertedIndex *index, uint32 size);
extern size_t setindex_bytes_with(const InvertedIndex *index, uint32 nkeys);
extern void setindex_grow_bucket(InvertedIndex *index, Bucket *bucket);
extern void setindex_count(InvertedIndex *index, const uint64 *keys, uint32 n);
extern void setindex_allot(InvertedIndex *index);
extern void setindex_add(InvertedIndex *index, const uint64 *keys, uint32 n,
						 uint32 position);
extern void setindex_add_image(InvertedIndex *index, const uint64 *keys,
							   uint32 n, const Posting *image, uint64 second);
extern void setindex_begin_at(InvertedIndex *index, uint64 size);
extern const Posting *setindex_not_small(const InvertedIndex *index,
										 const Bucket *bucket);
extern const Posting *setindex_from(const Posting *posting, const Posting *end,
									uint32 set);
extern const Posting *setindex_limit(const InvertedIndex *index,
									 const Posting *posting, const Posting *end);

static inline uint64
setindex_hash(uint64 key)
{
	return key * UINT64CONST(0xA24BAED4963EE407);
}

/* The bucket of a key. */
static inline Bucket *
setindex_bucket(const InvertedIndex *index, uint64 key)
{
	return &index->buckets[setindex_hash(key) >> index->shift];
}

/*
 * One bit that tells some of the keys of a bucket apart, so that most of those
 * that are not there need no look at the postings.
 */
static inline uint32
setindex_tag(const InvertedIndex *index, uint64 key)
{
	return UINT32_C(1) << (setindex_hash(key) >> (index->shift - 5) & 31);
}

/* The place of the next posting of a key, which was counted. */
static inline Posting *
setindex_put(InvertedIndex *index, uint64 key)
{
	Bucket	   *bucket = setindex_bucket(index, key);

	/* places of a bucket that grows are none, one, two, four and so on */
	if (index->growing && (bucket->n & (bucket->n - 1)) == 0)
		setindex_grow_bucket(index, bucket);
	bucket->tags |= setindex_tag(index, key);
	bucket->set = index->nadded;
	return &index->postings[bucket->start + bucket->n++];
}

/*
 * The postings of a bucket, of an index that is not shared, whose sets are not too
 * small; how many were passed over is added up.  Probes come with rising sizes, so
 * what is too small for one is so for all that follow.  Most lists are short: of one
 * that has nothing left, no posting is looked at.
 */
static inline const Posting *
setindex_list(const InvertedIndex *index, Bucket *bucket, const Posting **end,
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
 * Fetches the buckets of keys into the cache, and later the beginning of their lists
 * and, of the first nindexed, the places of the next postings.
 */
static inline void
setindex_fetch_buckets(const InvertedIndex *index, const uint64 *keys, uint32 n)
{
	for (uint32 i = 0; i < n; i++)
		__builtin_prefetch(setindex_bucket(index, keys[i]), 1);
}

static inline void
setindex_fetch_places(const InvertedIndex *index, const uint64 *keys, uint32 n,
					  uint32 nindexed)
{
	for (uint32 i = 0; i < n; i++)
	{
		const Bucket *bucket = setindex_bucket(index, keys[i]);

		if ((bucket->tags & setindex_tag(index, keys[i])) != 0 &&
			bucket->set >= index->least)
			__builtin_prefetch(&index->postings[bucket->start]);
		if (i < nindexed)
			__builtin_prefetch(&index->postings[bucket->start + bucket->n], 1);
	}
}

/*
 * Bits that tell keys apart in a bucket of an index that is shared: half as many, for
 * such a tag that comes again there is one more.  A set that probes finds itself by most
 * of its keys: only the second one tells that there may be somebody else.
 */
#define SHARED_TAGS		16
#define AGAIN_SHIFT		16

/* Tells a bucket that it has one more posting, with that tag of SHARED_TAGS. */
static inline void
setindex_add_tag(Bucket *bucket, uint32 tag)
{
	uint32		bit = UINT32_C(1) << tag;

	bucket->tags |= (bucket->tags & bit) << AGAIN_SHIFT | bit;
}

/*
 * True if a bucket of an index that is shared has postings that may be of the key, and
 * of sets that come before `limit`, beside one if the set that probes is there itself.
 */
static inline bool
setindex_may_have(const InvertedIndex *index, const Bucket *bucket, uint64 key,
				  bool own, uint32 limit)
{
	uint32		tag = setindex_hash(key) >> (index->shift - 5) & (SHARED_TAGS - 1);

	return (bucket->tags >> (own ? AGAIN_SHIFT : 0) >> tag & 1) != 0 &&
		bucket->set < limit;
}

/*
 * The postings of a key's bucket, of an index that is shared, whose sets are not too
 * small; none if none of them are partners.  Those that are not, from `limit` on, come
 * last: whoever goes through the list has to stop there.  To look for the place first
 * would take longer, as lists that are long are not in the cache.  `own`: the set that
 * probes is in the index by this key.
 */
static inline const Posting *
setindex_partners(const InvertedIndex *index, uint64 key, bool own,
				  const Posting **end)
{
	const Bucket *bucket = setindex_bucket(index, key);

	*end = index->postings;
	if (!setindex_may_have(index, bucket, key, own, index->limit))
		return *end;
	*end += bucket->start + bucket->n;
	return bucket->set < index->least ? setindex_not_small(index, bucket) :
		&index->postings[bucket->start];
}

/* Fetches postings of such buckets, for a set with so many of the keys in the index. */
static inline void
setindex_fetch_partners(const InvertedIndex *index, const uint64 *keys,
						uint32 n, uint32 own, uint32 limit)
{
	for (uint32 i = 0; i < n; i++)
	{
		const Bucket *bucket = setindex_bucket(index, keys[i]);

		if (!setindex_may_have(index, bucket, keys[i], i < own, limit))
			continue;
		__builtin_prefetch(&index->postings[bucket->start]);
		if (bucket->n > 1)
			__builtin_prefetch(&index->postings[bucket->start + Min(bucket->n, 8) - 1]);
	}
}

#endif							/* NEARDUP_SETINDEX_H */
