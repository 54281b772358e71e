/*
 * setjoin.h
 *		The state of a similarity join, for the files that drive it.
 *
 * The stages, one file each:
 *
 *	arrivals.c	rows come in, a few of them at a time.
 *	collapse.c	rows come in; identical sets become one JoinSet with two
 *				groups of rows.
 *	feature_filter.c
 *				once one side is known, rows of the other that can have no partner
 *				are not kept.
 *	spill.c		when memory runs out, sets and rows go to disk, sorted by size.
 *	set_runs.c	sets and small rows, in sorted runs.
 *	large_rows.c
 *				rows that are larger, in a sort.
 *	seen.c		tells whether a set has gone to disk before.
 *	set_file.c	the distinct sets and their rows, once these are merged.
 *	chunks.c	reads them as memory allows.
 *	deferred.c	candidates that are found by keys, while sets are on disk, and
 *				compared later.
 *	shared_sets.c
 *				several processes make the sets ready together.
 *	shared_index.c
 *				and the index.
 *	shared_runs.c
 *				or merge together what each has on disk.
 *	tokens.c	features that occur once in the collection are dropped; the
 *				others get a key that sorts by rising frequency.
 *	setindex.c	an inverted index over the keys of a chunk of sets.
 *	search.h	an algorithm: the keys that a set has in the index, how it
 *				probes, how a candidate is verified.
 *	engine.c	takes in rows, and makes ready.
 *	probing.c	makes probes, and hands out pairs of groups.
 *	row_groups.c
 *				reads the rows of a group.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/join/engine/setjoin.h
 */
#ifndef NEARDUP_SETJOIN_H
#define NEARDUP_SETJOIN_H

#include "base/progress.h"
#include "join/engine/arena.h"
#include "join/engine/arrivals.h"
#include "join/engine/engine.h"
#include "join/engine/row_groups.h"
#include "join/engine/search.h"

/* The sets of a pair of groups to return. */
typedef struct GroupPair
{
	const JoinSet *outer;
	const JoinSet *inner;
} GroupPair;

typedef enum Stage
{
	STAGE_ADD,					/* rows come in */
	STAGE_KEYS,					/* keys of the sets on disk are made */
	STAGE_SELVES,				/* or they have been, and each set meets itself */
	STAGE_CHUNK,				/* the sets of the chunk probe */
	STAGE_STREAM,				/* sets outside the chunk probe, from disk */
	STAGE_COMPARE,				/* deferred candidates are compared */
	STAGE_END,					/* no more pairs */
} Stage;

struct SetJoin
{
	SetJoinParams params;
	Stage		stage;
	const Algorithm *algorithm;
	Search		search;			/* what the algorithm sees */

	/*
	 * With a symmetric measure each set probes for those before it, of either
	 * side.  Otherwise the sets of one side are indexed and those of the
	 * other probe.
	 */
	JoinSide	indexed;
	JoinSide	probing;

	/* while rows come in, and until the end if they fit into memory */
	Arrivals	arrivals;		/* whose sets are not in the table yet */
	SetTable	table;
	FeatureFilter filter;		/* by the side that was added first */
	Arena		values;
	Arena		rows[2];
	Row		   *empty[2];		/* rows without features, as JoinSet.rows */
	Row		   *last_empty[2];	/* of those, if they are shared */
	uint32		nrows[2];
	uint32		nstored;		/* distinct sets, but those of which another
								 * process has the values */
	uint64		nfeatures;		/* of these */
	uint64		npostings;		/* that they need */
	uint64		nkeys;			/* of their prefixes */
	uint32	   *borrowed;		/* numbers in the table of the sets whose values
								 * another process has, between their being
								 * published and the rows being handed over */
	size_t		unchecked;		/* bytes added since memory was looked at */
	struct Spill *spill;		/* NULL as long as all fits into memory */
	struct Deferred *deferred;	/* NULL if candidates are compared at once */
	Stage		resumed;		/* after STAGE_COMPARE */
	SharedPool	pool;			/* of arenas that are shared; without an area:
								 * none is */
	bool		full;			/* what is shared takes all of the memory */

	RowsAhead	ahead;			/* of sets of the chunk that probe soon */
	uint32		next;			/* set of the chunk to probe next */
	uint64		probed;			/* sets of this chunk and those before that have */
	Progress	progress;
	uint64		nprobes;		/* made or left to other engines */
	uint64		claim;			/* the probes that this one has taken */
	uint64		claim_end;
	Arena		keys;			/* of sets that have no room of their own */

	GroupPair  *pairs;			/* that the last probe found */
	uint32		npairs;
	size_t		maxpairs;		/* allocated */
	uint32		next_pair;

	RowReader	cursors[2];		/* of groups that are in a file */
	const Row  *next_row[2];	/* of setjoin_rows, by JoinSide */
	uint32		next_set[2];
};

/* The last side, by JoinSide, of those whose rows are stored. */
#define LAST_SIDE(join) \
	((join)->params.self_join ? SIDE_OUTER : SIDE_INNER)

extern void setjoin_init_arenas(SetJoin *join);
extern void setjoin_flush(SetJoin *join);
extern SharedPointer setjoin_place(const JoinSet *set);
extern bool setjoin_has_stored(const SetJoin *join, const JoinSet *set);
extern uint64 setjoin_different_features(SetJoin *join);
extern void setjoin_count(SetJoin *join, const uint64 *values, uint32 n);
extern void setjoin_fetch_counters(SetJoin *join, const uint64 *values,
								   uint32 n);
extern void setjoin_make_room(SetJoin *join);
extern void setjoin_prepare(SetJoin *join, JoinSet *set);
extern void setjoin_begin_chunk(SetJoin *join);
extern uint32 setjoin_indexed_keys(SetJoin *join, const JoinSet *set);
extern uint64 setjoin_different_keys(SetJoin *join, uint64 npostings);
extern void setjoin_account(SetJoin *join, size_t bytes);

#endif							/* NEARDUP_SETJOIN_H */
