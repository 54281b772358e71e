/*
 * join_state.h
 *		The state of a join, and the probes that sets in memory make.
 */
#ifndef NEARDUP_JOIN_STATE_H
#define NEARDUP_JOIN_STATE_H

#include "join/engine/arena.h"
#include "join/engine/engine_params.h"
#include "join/engine/rows.h"
#include "join/engine/search.h"
#include "join/engine/set_table.h"

/*
 * Lists of rows that are read soon.  They are singly linked, so each call
 * prefetches one more row of each of the last LISTS_AHEAD lists.
 */
#define LISTS_AHEAD	12

typedef struct RowsAhead
{
	const Row  *fetched[LISTS_AHEAD];	/* last one of each list; NULL: all
										 * are */
	uint32		next;			/* place of the oldest list */
} RowsAhead;

/* Prefetch the first row of a list, and one more of each of the last lists. */
static inline void
rows_ahead_add(RowsAhead *ahead, SharedAreas *areas, const Row *list)
{
	for (int i = 0; i < LISTS_AHEAD; i++)
	{
		if (ahead->fetched[i] == NULL)
			continue;
		ahead->fetched[i] = row_at(areas, ahead->fetched[i]->next);
		__builtin_prefetch(ahead->fetched[i]);
	}
	__builtin_prefetch(list);
	ahead->fetched[ahead->next] = list;
	ahead->next = (ahead->next + 1) % LISTS_AHEAD;
}

/* The sets of a pair of groups. */
typedef struct GroupPair
{
	const JoinSet *outer;
	const JoinSet *inner;
} GroupPair;

/* Phases of the search; see README.md for those before. */
typedef enum SearchPhase
{
	SEARCH_ADD,					/* rows are added */
	SEARCH_SELVES,				/* on disk: sets are matched with themselves */
	SEARCH_CHUNK,				/* sets probe the index of a chunk */
	SEARCH_COMPARE,				/* on disk: deferred candidates are compared */
	SEARCH_END,					/* no more pairs */
} SearchPhase;

/* Distinct sets that this process has stored, and upper bounds for them. */
typedef struct StoredTotals
{
	uint32		nstored;
	uint64		nfeatures;
	uint64		npostings;
	uint64		nkeys;			/* keys of all prefixes */
} StoredTotals;

/* Probes that this process makes, where several divide them. */
typedef struct Claims
{
	pg_atomic_uint64 *claimed;	/* counter of claimed ones; NULL: they are not
								 * divided */
	uint64		next;			/* number of the next probe */
	uint64		begin;			/* first claimed probe */
	uint64		end;
} Claims;

/* Pairs that the last probe has found. */
typedef struct FoundPairs
{
	GroupPair  *pairs;
	uint32		n;
	uint32		next;			/* next pair to emit */
	size_t		max;			/* allocated */
} FoundPairs;

/* The next row, while all rows of a side are read. */
typedef struct RowScan
{
	const Row  *row;			/* NULL: the first row of the set */
	uint32		set;
} RowScan;

/*
 * Sets and rows in memory: while rows are added, and until the end unless a
 * join goes to disk.
 */
typedef struct SetsInMemory
{
	PrefetchRing ring;			/* rows whose sets are not in the table yet */
	SetTable	table;
	Arena		values;
	Arena		rows[2];
	Arena		keys;			/* keys of sets that have no room for them */
	RowLink		empty[2];		/* rows without features, as JoinSet.rows */
	size_t		unchecked;		/* bytes added since memory was checked */
	RowScan		scans[2];		/* scans of engine_rows_next(), by side */
} SetsInMemory;

/* One of several processes that join together. */
typedef struct Participant
{
	SharedAreas *areas;			/* areas of rows and values; NULL: freed, as
								 * all are on disk */
	uint32	   *borrowed;		/* sets of the table whose values another
								 * process has stored, until their rows are
								 * reassigned */
	bool		full;			/* shared memory is used up */
} Participant;

struct JoinEngine
{
	EngineParams params;
	SearchPhase phase;
	void		(*advance) (JoinEngine *join);	/* make the next probe, or go
												 * on to the next phase */
	const Algorithm *algorithm;
	JoinSearch	search;			/* the algorithm's view */

	/*
	 * With a symmetric measure each set probes for the sets before it, of
	 * both sides.  Otherwise the sets of one side are indexed and the others
	 * probe.
	 */
	JoinSide	indexed;
	JoinSide	probing;

	/* while rows are added */
	char		secret[JOIN_SECRET];	/* secret of the hash of sets */
	FeatureFilter filter;		/* filter by the side that was added first */
	uint32		nrows[2];
	StoredTotals totals;

	/* where sets and rows are, and with whom */
	SetsInMemory *memory;		/* NULL: all of them are on disk */
	struct Spill *spill;		/* NULL: all of them are in memory */
	Participant *participant;	/* NULL: this process is alone */

	/* while sets probe */
	RowsAhead	ahead;			/* rows of sets that probe soon */
	uint32		next;			/* set of the chunk that probes next */
	ProbeCallback probe;		/* probe of the algorithm for this kind of
								 * index */
	Claims		claims;
	FoundPairs	found;
};

/* The last side whose rows are stored. */
#define LAST_SIDE(join) \
	((join)->params.self_join ? SIDE_OUTER : SIDE_INNER)

/* The shared memory that links of rows lead to; NULL: links are addresses. */
static inline SharedAreas *
engine_areas(const JoinEngine *join)
{
	return join->participant == NULL ? NULL : join->participant->areas;
}

/* Note the number of bytes that are held. */
extern void engine_account(JoinEngine *join, size_t bytes);

/*
 * Prepare to hold sets in memory, which is shared if there are areas; and free
 * all of them.
 */
extern void engine_begin_memory(JoinEngine *join);
extern void engine_free_memory(JoinEngine *join);

/* Bytes held now, or later if no more rows are added. */
extern size_t engine_bytes_held(JoinEngine *join);

/* Bytes of a buffer to read a file forward. */
extern size_t engine_buffer(const JoinEngine *join);

/* Allocate room for the keys of the largest set. */
extern void engine_make_room(JoinEngine *join);

/*
 * The number of the process that has stored a set which is not prepared; this
 * one if alone.
 */
static inline int
set_storer(const JoinEngine *join, const JoinSet *set)
{
	if (join->participant == NULL)
		return join->params.part;
	Assert(SharedPointerIsValid(set->place));
	return POINTER_AREA(set->place);
}

/* True if this process has stored a set that is not prepared. */
static inline bool
has_stored(const JoinEngine *join, const JoinSet *set)
{
	return set_storer(join, set) == join->params.part;
}

/*
 * An upper bound of the number of different features of the sets that this
 * process has stored, from a sample.
 */
extern uint64 engine_different_features(JoinEngine *join);

/*
 * Count the features of a distinct set, before any is prepared; and true if
 * the algorithm needs that.
 */
extern void engine_count(JoinEngine *join, const uint64 *values, uint32 n);
extern bool engine_counts(const JoinEngine *join);

/* Prefetch what preparing a set of these values reads first. */
extern void engine_fetch_counters(JoinEngine *join, const uint64 *values,
								  uint32 n);

/* True if a set has rows on a side that is indexed. */
extern bool engine_is_indexed(const JoinEngine *join, const JoinSet *set);

/* Make the keys of a set, to be indexed and to probe. */
extern void engine_prepare(JoinEngine *join, JoinSet *set);

/* Number of its keys that a prepared set has in the index. */
extern uint32 engine_indexed_keys(JoinEngine *join, const JoinSet *set);

/* Estimated number of different keys of these postings; not too small. */
extern uint64 engine_different_keys(JoinEngine *join, uint64 npostings);

/* Sets probe the index of a chunk and are verified */

/* Number of candidates ahead of which one is prefetched, and values of it. */
#define FETCH_AHEAD		4
#define FETCHED_VALUES	6

/*
 * Begin to probe the index of join->search; the second creates the index of a
 * chunk first.
 */
extern void probe_begin(JoinEngine *join);
extern void probe_begin_chunk(JoinEngine *join);
extern void probe_end_chunk(JoinEngine *join);

/*
 * True if this process makes the next probe.  All processes call it for the
 * same probes in the same order.
 */
extern bool probe_is_claimed(JoinEngine *join);

/*
 * Leave the candidates for a prepared set in the index; returns their number.
 */
extern uint32 probe_index(JoinEngine *join, const JoinSet *set);

/*
 * Add the next set of the chunk to the index, unless all have been added at
 * once.
 */
extern void probe_add_next(JoinEngine *join, const JoinSet *set);

/* Verify the candidates of the last probe, and note matches. */
extern void probe_verify(JoinEngine *join, const JoinSet *probing);

/*
 * Note a match of two sets; or of a set, which has rows on both sides, with
 * itself.
 */
extern void probe_add_match(JoinEngine *join, const JoinSet *indexed,
							const JoinSet *probing);
extern void probe_add_itself(JoinEngine *join, const JoinSet *set);

/* Prefetch for the probe of set `number` of the chunk and those after it. */
extern void probe_fetch_ahead(JoinEngine *join, uint32 number);

/* join->advance where all sets are in memory. */
extern void probe_advance(JoinEngine *join);

/* Candidate i of the last probe; others after it are prefetched. */
static inline const JoinSet *
probe_candidate(const JoinEngine *join, uint32 i)
{
	const JoinSet *sets = join->search.sets;
	const uint32 *candidates = join->search.index.candidates;
	uint32		n = join->search.index.ncandidates;

	if (n - i > 2 * FETCH_AHEAD)
		__builtin_prefetch(&sets[candidates[i + 2 * FETCH_AHEAD]]);
	if (n - i > FETCH_AHEAD)
	{
		const JoinSet *next = &sets[candidates[i + FETCH_AHEAD]];

		__builtin_prefetch(next->values - 1);
		__builtin_prefetch(next->values + FETCHED_VALUES);
	}
	return &sets[candidates[i]];
}

#endif							/* NEARDUP_JOIN_STATE_H */
