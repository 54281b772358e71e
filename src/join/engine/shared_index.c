/*
 * shared_index.c
 *		Several processes count features and make the index together.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "utils/memutils.h"

#include "base/interrupts.h"
#include "join/engine/join_state.h"
#include "join/engine/shared_index.h"

/*
 * The frequencies of features, which several processes count together
 *
 * There is one table of counters (feature_counts.c), in ranges.  A process
 * collects the counters of its features by range.  When it has many of a
 * range, it raises them under the lock of the range.  A range fits into a
 * cache; the whole table does not.
 *
 * Allocating so much memory takes time: one process does it, while the others
 * collect.
 */

/* Least number of ranges, and most bits of a counter's number in its range. */
#define MIN_RANGES_BITS	6
#define MAX_RANGE_BITS		16

/* Least number of waiting counters of a range, and most of all ranges. */
#define MIN_WAITING	256
#define MAX_WAITING	((uint32) 8 * 1024 * 1024)

typedef struct CountRange
{
	LWLock		lock;			/* protects the rest, and the counters */
	bool		cleared;
} CountRange;

struct Counting
{
	SharedCounts *shared;
	SharedAreas *areas;
	TokenCounters counters;		/* counts is NULL until they are found */
	CountRange *ranges;
	uint32		nranges;
	int			range_bits;
	uint32		room;			/* room for counters that wait, of each range */
	uint32	   *nwaiting;		/* number of counters that wait, by range */
	uint16	   *waiting;		/* numbers in the range, by range */
};

/* Initialize counters without memory, in shared memory. */
void
shared_counts_init(SharedCounts *shared)
{
	pg_atomic_init_u64(&shared->used, 0);
	LWLockInitialize(&shared->lock, LWTRANCHE_PARALLEL_QUERY_DSA);
	shared->counts = shared->ranges = InvalidSharedPointer;
	shared->shift = 0;
}

/*
 * Find the counters, or allocate them.  If another process is allocating them,
 * wait or leave them unset.
 */
static void
find_counters(Counting *counting, bool wait)
{
	SharedCounts *shared = counting->shared;
	SharedAreas *areas = counting->areas;

	if (wait)
		LWLockAcquire(&shared->lock, LW_EXCLUSIVE);
	else if (!LWLockConditionalAcquire(&shared->lock, LW_EXCLUSIVE))
		return;
	if (!SharedPointerIsValid(shared->counts))
	{
		CountRange *ranges = shared_alloc(areas,
										  sizeof(CountRange) *
										  counting->nranges,
										  &shared->ranges);

		for (uint32 i = 0; i < counting->nranges; i++)
		{
			LWLockInitialize(&ranges[i].lock, LWTRANCHE_PARALLEL_QUERY_DSA);
			ranges[i].cleared = false;
		}
		shared_alloc(areas, counting->counters.bytes, &shared->counts);
	}
	LWLockRelease(&shared->lock);
	counting->ranges = shared_at(areas, shared->ranges);
	counting->counters.count = shared_at(areas, shared->counts);
}

Counting *
shared_counts_begin(SharedCounts *shared, SharedAreas *areas,
					const TokenCounters *shape)
{
	Counting   *counting = palloc(sizeof(Counting));

	counting->shared = shared;
	counting->areas = areas;
	counting->counters = *shape;
	counting->counters.count = NULL;
	counting->range_bits = Min(pg_leftmost_one_pos64(counters_number(shape)) -
							   MIN_RANGES_BITS,
							   MAX_RANGE_BITS);
	counting->nranges = counters_number(shape) >> counting->range_bits;
	counting->room = Min((uint32) 1 << counting->range_bits,
						 MAX_WAITING / counting->nranges);
	counting->room = Max(counting->room, MIN_WAITING);
	counting->nwaiting = palloc0(sizeof(uint32) * counting->nranges);
	counting->waiting = palloc_extended(sizeof(uint16) * counting->nranges *
										counting->room,
										MCXT_ALLOC_HUGE);
	find_counters(counting, false);
	return counting;
}

/* Raise the counters of a range that wait; it is cleared first. */
static void
raise_range(Counting *counting, uint32 number)
{
	CountRange *range;
	uint16	   *counts;
	const uint16 *waiting = counting->waiting + (size_t) number *
	counting->room;
	uint32		n = counting->nwaiting[number];
	uint16		mask = (1 << counting->range_bits) - 1;
	uint64		used = 0;

	Assert(number < counting->nranges);
	if (counting->counters.count == NULL)
		find_counters(counting, true);
	range = &counting->ranges[number];
	counts = counting->counters.count +
		((size_t) number << counting->range_bits);
	LWLockAcquire(&range->lock, LW_EXCLUSIVE);
	if (!range->cleared)
		memset(counts, 0, sizeof(*counts) << counting->range_bits);
	range->cleared = true;
	for (uint32 i = 0; i < n; i++)
		used += counter_raise(&counts[waiting[i] & mask]);
	LWLockRelease(&range->lock);
	counting->counters.used += used;
	counting->nwaiting[number] = 0;
}

/* Collect the counters of a set by range, and raise a range that is full. */
void
shared_counts_add(Counting *counting, const uint64 *values, uint32 n)
{
	int			range_bits = counting->range_bits;
	uint32		room = counting->room;
	uint32	   *nwaiting = counting->nwaiting;
	uint16	   *waiting = counting->waiting;

	for (uint32 i = 0; i < n; i++)
	{
		uint64		counter = counter_of(&counting->counters, values[i]);
		uint64		range = counter >> range_bits;
		uint32		place = nwaiting[range];

		CHECK_EVERY(i);
		/* cuts off the bits of the range */
		waiting[range * room + place] = counter;
		nwaiting[range] = place + 1;
		if (place + 1 == room)
			raise_range(counting, range);
	}
}

/* Raise all counters that wait, and free the rest. */
void
shared_counts_end(Counting *counting, int process, int nprocesses)
{
	uint32		first = (uint64) counting->nranges * process / nprocesses;

	for (uint32 i = 0; i < counting->nranges; i++)
	{
		CHECK_FOR_INTERRUPTS();
		raise_range(counting, (first + i) % counting->nranges);
	}
	pg_atomic_fetch_add_u64(&counting->shared->used, counting->counters.used);
	pfree(counting->waiting);
	pfree(counting->nwaiting);
	pfree(counting);
}

void
shared_counts_fold(SharedCounts *shared, SharedAreas *areas,
				   const TokenCounters *shape)
{
	TokenCounters counters = *shape;

	counters.count = shared_at(areas, shared->counts);
	counters.used = pg_atomic_read_u64(&shared->used);
	counters_fold_in_place(&counters);
	shared->shift = counters.shift;
}

void
shared_counts_attach(SharedCounts *shared, SharedAreas *areas,
					 TokenCounters *counters)
{
	counters->count = shared_at(areas, shared->counts);
	counters->shift = shared->shift;
	counters->used = pg_atomic_read_u64(&shared->used);
	counters->bytes = counters_number(counters) * sizeof(*counters->count);
}

/*
 * The index of a similarity join that several processes make together
 *
 * The place of a bucket's postings depends on all earlier sets, and places of
 * keys are scattered over memory.  So postings are first distributed to shares
 * of the buckets, each not much larger than a cache.  The postings of each
 * share of the sets for each share of the buckets are counted beforehand, so
 * that each process knows where to write, and postings of a share are in the
 * order of the sets.  Then each share is put in the order of its buckets.
 *
 * All sets are in such an index before the first one probes; see
 * shared_view_list().
 */

/* Bits of the number of a share. */
#define SHARE_BITS	6

/* Number of sets ahead of which keys are prefetched. */
#define PASSES_AHEAD	8

/*
 * Number of postings and places ahead of which a share is prefetched: more
 * than a cache line has.
 */
#define POSTINGS_AHEAD	6
#define PLACES_AHEAD	16

/*
 * The place of a posting: the number of its bucket in the share, then bits of
 * its hash, the last of which are its tag.
 */
#define PLACE_BUCKET(place)	((place) >> 5)
#define PLACE_TAG(place)	((place) & (SHARED_TAGS - 1))

/* Postings and places of a share of the buckets, and its buckets. */
typedef struct Share
{
	Bucket	   *buckets;
	uint64		nbuckets;
	Posting    *postings;		/* postings of all shares */
	const uint32 *places;		/* places of the postings of this share */
	uint32		start;
	uint32		n;
} Share;

/* The address of a pointer into shared memory. */
static inline void *
at(const JoinEngine *join, SharedPointer pointer)
{
	return shared_at(engine_areas(join), pointer);
}

/*
 * Postings or else buckets reuse the room of the counters if it is large
 * enough, as allocating memory takes time.
 */
void
shared_index_allocate(JoinEngine *join, int part)
{
	SharedIndex *shared = &join->params.shared->index;
	uint64		npostings = pg_atomic_read_u64(&shared->npostings);
	uint64		nbuckets = inverted_index_buckets(npostings,
												  engine_different_keys(join,
																		npostings));
	bool		has_room = SharedPointerIsValid(shared->room) &&
	npostings * sizeof(Posting) <= shared->room_bytes;

	StaticAssertStmt(1 << SHARE_BITS == INDEX_SHARES,
					 "shares and their bits differ");
	switch (part)
	{
		case 0:
			if (has_room)
				shared->postings = shared->room;
			else
				shared_alloc(engine_areas(join), npostings * sizeof(Posting),
							 &shared->postings);
			break;
		case 1:
			shared->shift = inverted_index_shift(nbuckets);
			if (!has_room && nbuckets * sizeof(Bucket) <= shared->room_bytes)
				shared->buckets = shared->room;
			else
				shared_alloc(engine_areas(join), nbuckets * sizeof(Bucket),
							 &shared->buckets);
			break;
		case 2:
			shared_alloc(engine_areas(join), npostings * sizeof(uint32),
						 &shared->places);
			break;
		case 3:
			shared_alloc(engine_areas(join),
						 join->search.nsets *
						 sizeof(IndexedSet), &shared->entries);
			break;
		default:
			break;
	}
}

/* The first set of a share. */
static uint32
share_start(const JoinEngine *join, int share)
{
	return (uint64) join->search.nsets * share / INDEX_SHARES;
}

/* A set of a share that ends at `end`; keys of later sets are prefetched. */
static const JoinSet *
share_set(const JoinEngine *join, uint32 number, uint32 end)
{
	const JoinSet *set = &join->search.sets[number];

	CHECK_FOR_INTERRUPTS();
	if (number + PASSES_AHEAD < end)
	{
		set_fetch_keys(&set[PASSES_AHEAD]);
		__builtin_prefetch(set[PASSES_AHEAD].values - 1);
	}
	return set;
}

/* The share of the buckets that a key belongs to. */
static inline int
bucket_share(uint64 key)
{
	return inverted_index_hash(key) >> (64 - SHARE_BITS);
}

void
shared_index_count(JoinEngine *join, int share)
{
	SharedIndex *shared = &join->params.shared->index;
	uint32		npostings[INDEX_SHARES] = {0};
	uint32		end = share_start(join, share + 1);
	IndexedSet *entries;

	if (!SharedPointerIsValid(shared->buckets))
		return;
	entries = at(join, shared->entries);
	for (uint32 number = share_start(join, share); number < end; number++)
	{
		const JoinSet *set = share_set(join, number, end);
		uint32		n = engine_indexed_keys(join, set);

		for (uint32 i = 0; i < n; i++)
		{
			CHECK_EVERY(i);
			npostings[bucket_share(set->keys[i])]++;
		}
		if (n > 0)
			entries[number].suffix = suffix_bound(set->keys, n, set->nvalues);
	}
	for (int i = 0; i < INDEX_SHARES; i++)
		shared->tally[i][share] = npostings[i];
}

/* The state of distributing the postings of a share of the sets. */
typedef struct Distributor
{
	JoinEngine *join;
	int			shift;			/* as in InvertedIndex */
	Posting    *postings;
	uint32	   *places;
	IndexedSet *entries;
	uint32		next[INDEX_SHARES]; /* place of the next one, by share */
} Distributor;

/* Distribute the postings of the first n keys of a set. */
static void
distribute_keys(Distributor *distributor, uint32 number, const JoinSet *set,
				uint32 n)
{
	const Algorithm *algorithm = distributor->join->algorithm;
	uint32		mask = (UINT64CONST(1) << (64 - distributor->shift -
										   SHARE_BITS + 5)) - 1;
	Posting		posting = {.set = number};
	uint64		second;
	bool		small = n > 0 && algorithm->bitmaps != NULL &&
	algorithm->bitmaps(&distributor->join->search, set, &posting, &second);

	if (small)
		distributor->entries[number].bitmap = second;

	for (uint32 i = 0; i < n; i++)
	{
		uint64		key = set->keys[i];
		uint32		to = distributor->next[bucket_share(key)]++;

		CHECK_EVERY(i);
		if (!small)
		{
			posting.key = key;
			posting.payload.position = set->size - set->nvalues + i;
		}
		distributor->postings[to] = posting;
		__builtin_prefetch(&distributor->postings[to + POSTINGS_AHEAD], 1);
		__builtin_prefetch(&distributor->places[to + PLACES_AHEAD], 1);
		distributor->places[to] =
			(inverted_index_hash(key) >> (distributor->shift - 5)) & mask;
	}
}

void
shared_index_distribute(JoinEngine *join, int share)
{
	SharedIndex *shared = &join->params.shared->index;
	Distributor distributor = {.join = join,.shift = shared->shift};
	uint32		end = share_start(join, share + 1);
	uint32		start = 0;

	if (!SharedPointerIsValid(shared->buckets))
		return;
	distributor.postings = at(join, shared->postings);
	distributor.places = at(join, shared->places);
	distributor.entries = at(join, shared->entries);
	for (int i = 0; i < INDEX_SHARES; i++)
		for (int j = 0; j < INDEX_SHARES; j++)
		{
			if (j == share)
				distributor.next[i] = start;
			start += shared->tally[i][j];
		}
	for (uint32 number = share_start(join, share); number < end; number++)
	{
		const JoinSet *set = share_set(join, number, end);

		distribute_keys(&distributor, number, set,
						engine_indexed_keys(join, set));
	}
}

/* Allocate the place of each bucket of a share. */
static void
allocate_buckets(const Share *share)
{
	uint32		start = share->start;

	clear_memory(share->buckets, share->nbuckets * sizeof(Bucket));
	for (uint32 i = 0; i < share->n; i++)
	{
		CHECK_EVERY(i);
		share->buckets[PLACE_BUCKET(share->places[i])].n++;
	}
	for (uint64 i = 0; i < share->nbuckets; i++)
	{
		CHECK_EVERY(i);
		share->buckets[i].start = start;
		start += share->buckets[i].n;
		share->buckets[i].n = 0;
	}
}

void
shared_index_order(JoinEngine *join, int number)
{
	SharedIndex *shared = &join->params.shared->index;
	Share		share = {.start = 0};
	Posting    *copy;

	if (!SharedPointerIsValid(shared->buckets))
		return;
	share.nbuckets = (UINT64CONST(1) << (64 - shared->shift)) / INDEX_SHARES;
	share.buckets = (Bucket *) at(join, shared->buckets) + share.nbuckets *
		number;
	share.postings = at(join, shared->postings);
	for (int i = 0; i < number; i++)
		for (int j = 0; j < INDEX_SHARES; j++)
			share.start += shared->tally[i][j];
	for (int j = 0; j < INDEX_SHARES; j++)
		share.n += shared->tally[number][j];
	share.places = (uint32 *) at(join, shared->places) + share.start;
	allocate_buckets(&share);
	copy = MemoryContextAllocHuge(CurrentMemoryContext,
								  sizeof(Posting) * (size_t) Max(share.n, 1));
	memcpy(copy, share.postings + share.start,
		   sizeof(Posting) * (size_t) share.n);
	for (uint32 i = 0; i < share.n; i++)
	{
		Bucket	   *bucket = &share.buckets[PLACE_BUCKET(share.places[i])];

		CHECK_EVERY(i);
		if (bucket->n == 0)
			bucket->first_set = copy[i].set;
		shared_view_add_tag(bucket, PLACE_TAG(share.places[i]));
		share.postings[bucket->start + bucket->n++] = copy[i];
	}
	pfree(copy);
}

bool
shared_index_attach(JoinEngine *join)
{
	SharedIndex *shared = &join->params.shared->index;
	InvertedIndex *index = &join->search.index;

	if (!SharedPointerIsValid(shared->buckets))
		return false;
	index->buckets = at(join, shared->buckets);
	index->shift = shared->shift;
	index->postings = at(join, shared->postings);
	index->npostings = pg_atomic_read_u64(&shared->npostings);
	index->entries = at(join, shared->entries);
	shared_view_attach(index, join->search.sets, join->search.nsets);
	return true;
}
