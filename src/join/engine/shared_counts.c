/*
 * shared_counts.c
 *		The frequencies of features, which several processes count together.
 *
 * There is one table of counters (tokens.c), in ranges.  A process notes the counters of
 * its features by range.  When it has many of a range, it raises them all at once, and
 * meanwhile nobody else raises any of that range.  A range fits into a cache; the whole
 * table does not.
 *
 * The system takes its time to hand out so much memory.  One process asks for it, while
 * the others note what they will count.
 *
 * Counters for each process would have to be added up; and to raise those of all without
 * a lock, one after another, takes the memory as long as there are processes.
 */
#include "postgres.h"

#include "port/pg_bitutils.h"

#include "base/interrupts.h"
#include "join/engine/shared_counts.h"

/* Ranges that there are at the least, and bits of a counter's number in its range. */
#define MIN_RANGES_BITS	6
#define MAX_RANGE_BITS		16

/*
 * Counters that wait: as many as the range has, as it comes from another processor's cache
 * each time, but not next to nothing; and of all ranges.
 */
#define MIN_WAITING	256
#define MAX_WAITING	((uint32) 8 * 1024 * 1024)

typedef struct CountRange
{
	LWLock		lock;			/* of the rest, and of the counters */
	bool		cleared;
} CountRange;

struct Counting
{
	SharedCounts *shared;
	SharedPool *pool;
	TokenCounters counters;		/* without counts: this process does not know yet
								 * where they are */
	CountRange *ranges;
	bool		has_allotted;
	uint32		nranges;
	int			range_bits;
	uint32		room;			/* for counters that wait, of each range */
	uint32	   *nwaiting;		/* by range */
	uint16	   *waiting;		/* numbers in the range, by range */
};

/* Bits of the number of a counter in its range. */
static int
range_bits_of(const TokenCounters *shape)
{
	return Min(pg_leftmost_one_pos64(counters_number(shape)) - MIN_RANGES_BITS,
			   MAX_RANGE_BITS);
}

void
shared_counts_init(SharedCounts *shared)
{
	pg_atomic_init_u64(&shared->used, 0);
	LWLockInitialize(&shared->lock, LWTRANCHE_PARALLEL_QUERY_DSA);
	shared->counts = shared->ranges = InvalidSharedPointer;
	pg_atomic_init_u32(&shared->head_start, 0);
	shared->shift = 0;
}

/* Gets memory for the counters of all, under the lock. */
static void
allot(Counting *counting)
{
	SharedCounts *shared = counting->shared;
	CountRange *ranges = pool_alloc(counting->pool,
									sizeof(CountRange) * counting->nranges,
									&shared->ranges);

	for (uint32 i = 0; i < counting->nranges; i++)
	{
		LWLockInitialize(&ranges[i].lock, LWTRANCHE_PARALLEL_QUERY_DSA);
		ranges[i].cleared = false;
	}
	pool_alloc_for_all(counting->pool, counting->counters.bytes, &shared->counts);
	counting->has_allotted = true;
}

/* Has the counters, which somebody may be getting memory for: waits, or does without. */
static void
find_counters(Counting *counting, bool wait)
{
	SharedCounts *shared = counting->shared;
	SharedAreas *areas = counting->pool->areas;

	if (wait)
		LWLockAcquire(&shared->lock, LW_EXCLUSIVE);
	else if (!LWLockConditionalAcquire(&shared->lock, LW_EXCLUSIVE))
		return;
	if (!SharedPointerIsValid(shared->counts))
		allot(counting);
	LWLockRelease(&shared->lock);
	counting->ranges = shared_at(areas, shared->ranges);
	counting->counters.count = shared_at(areas, shared->counts);
}

Counting *
shared_counts_begin(SharedCounts *shared, SharedPool *pool, const TokenCounters *shape)
{
	Counting   *counting = palloc(sizeof(Counting));

	counting->shared = shared;
	counting->pool = pool;
	counting->counters = *shape;
	counting->counters.count = NULL;
	counting->has_allotted = false;
	counting->range_bits = range_bits_of(shape);
	counting->nranges = counters_number(shape) >> counting->range_bits;
	counting->room = Min((uint32) 1 << counting->range_bits,
						 MAX_WAITING / counting->nranges);
	counting->room = Max(counting->room, MIN_WAITING);
	counting->nwaiting = palloc0(sizeof(uint32) * counting->nranges);
	counting->waiting = palloc_extended(sizeof(uint16) * counting->nranges * counting->room,
										MCXT_ALLOC_HUGE);
	find_counters(counting, false);
	return counting;
}

bool
shared_counts_has_allotted(const Counting *counting)
{
	return counting->has_allotted;
}

/* Raises the counters of a range that wait, and sees that it has been cleared. */
static void
raise_range(Counting *counting, uint32 number)
{
	CountRange *range;
	uint16	   *counts;
	const uint16 *waiting = counting->waiting + (size_t) number * counting->room;
	uint32		n = counting->nwaiting[number];
	uint16		mask = (1 << counting->range_bits) - 1;
	uint64		used = 0;

	if (counting->counters.count == NULL)
		find_counters(counting, true);
	range = &counting->ranges[number];
	counts = counting->counters.count + ((size_t) number << counting->range_bits);
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
		/* what is cut off are the bits of the range */
		waiting[range * room + place] = counter;
		nwaiting[range] = place + 1;
		if (place + 1 == room)
			raise_range(counting, range);
	}
}

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
shared_counts_fold(SharedCounts *shared, SharedAreas *areas, const TokenCounters *shape)
{
	TokenCounters counters = *shape;

	counters.count = shared_at(areas, shared->counts);
	counters.used = pg_atomic_read_u64(&shared->used);
	counters_fold_in_place(&counters);
	shared->shift = counters.shift;
}

void
shared_counts_take(SharedCounts *shared, SharedAreas *areas,
				   TokenCounters *counters)
{
	counters->count = shared_at(areas, shared->counts);
	counters->shift = shared->shift;
	counters->used = pg_atomic_read_u64(&shared->used);
	counters->bytes = counters_number(counters) * sizeof(*counters->count);
}
