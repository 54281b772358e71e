/*
 * guard_search.h
 *		One scan of the guard through a table, for rows in conflict with a new one.
 */
#ifndef NEARDUP_GUARD_SEARCH_H
#define NEARDUP_GUARD_SEARCH_H

#include "access/tableam.h"
#include "utils/snapshot.h"

#include "guard/guard.h"

typedef enum Outcome
{
	NOTHING,					/* no near-duplicate */
	FOUND,						/* one that is there to stay */
	IN_PROGRESS,				/* one that another transaction is busy with */
	MOVED,						/* one may have a new version elsewhere */
} Outcome;

/* One scan of one table. */
typedef struct ConflictScan
{
	Guard	   *guard;
	GuardTable *table;
	Relation	rel;
	const Signature *sig;		/* the new row's signature */
	ItemPointer self;			/* where the new row is, or NULL */
	IndexFetchTableData *fetch;
	SnapshotData dirty;			/* has the transaction that is changing a row */
	Snapshot	start;			/* transactions that were running when the scan began */
	double		similarity;		/* of what was found */
	bool		same;			/* its signature has the same bytes */
	bool		self_seen;		/* the new row, if its place is not known */
	bool		self_left;		/* or a version that another trigger has
								 * changed or deleted */
	TupleTableSlot *best;		/* the row to report so far, or empty; NULL: the
								 * first one ends the scan */
	double		best_similarity;	/* of the new row and that one */
	bool		only_others;	/* a row was found elsewhere */
	int			others;			/* near rows besides the one to report */
	int			dead;			/* dead rows visited to count these */
	bool		lossy;			/* of the page every place is looked at */
} ConflictScan;

/*
 * True if the row in the table's slot is near the new one, in its scope; the
 * similarity is noted.
 */
extern bool guard_is_near(ConflictScan *scan);

/*
 * True if the version of a row in the slot was deleted by a transaction that
 * was running when the scan began.
 */
extern bool guard_deleted_since(const ConflictScan *scan, TupleTableSlot *slot);

/*
 * True if this transaction has put in the row in the slot; also with COPY ... FREEZE,
 * after which rows pass for older than all transactions.
 */
extern bool guard_is_own(TupleTableSlot *slot);

/* Wait for the transaction that was busy with the row at tid. */
extern void guard_wait(Relation rel, const SnapshotData *dirty,
					   ItemPointerData tid);

#endif							/* NEARDUP_GUARD_SEARCH_H */
