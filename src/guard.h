/*
 * guard.h
 *		What the parts of the guard share.
 *
 * guard.c is the trigger function, guard_tables.c lists the tables to search,
 * guard_index.c finds the index that serves a table, guard_key.c computes the
 * signature that a row has, guard_search.c searches, and guard_report.c tells
 * of the row that was found.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/guard.h
 */
#ifndef NEARDUP_GUARD_H
#define NEARDUP_GUARD_H

#include "executor/tuptable.h"
#include "lib/ilist.h"
#include "nodes/execnodes.h"
#include "utils/rel.h"
#include "utils/reltrigger.h"

#include "neardup.h"

typedef enum GuardMode
{
	GUARD_REJECT,				/* AFTER: raise exclusion_violation */
	GUARD_SKIP,					/* BEFORE: drop the row */
	GUARD_TAG,					/* BEFORE: note the other row's key */
	GUARD_WARN,					/* either: raise a warning */
} GuardMode;

/* Where a row's signature comes from. */
typedef struct GuardKey
{
	AttrNumber	attno;			/* the column that holds it, or 0 */
	ExprState  *expr;			/* the expression that makes it, if not */
	Bitmapset  *inputs;			/* columns that it depends on */
} GuardKey;

/* A table to search, and the index to search it with. */
typedef struct GuardTable
{
	Oid			relid;
	Oid			indexid;
	AttrNumber	keyno;			/* key column of the index, from 1 */
	GuardKey	key;			/* signature of a stored row */
	TupleTableSlot *slot;		/* the row that was fetched last */
} GuardTable;

/*
 * What a call site keeps from row to row, in memory of its own: no reference
 * to a relation, buffer or snapshot is held between rows, as nobody tells the
 * guard when a statement ends.
 */
typedef struct Guard
{
	Oid			tgoid;			/* the trigger this was made for */
	GuardMode	mode;
	double		threshold;
	bool		before;			/* a BEFORE trigger? */
	AttrNumber	tag;			/* column to note the other row's key in */
	GuardKey	key;			/* signature of the new row */
	GuardTable *tables;			/* tables to search; the first is the one that
								 * the trigger fires on */
	int			ntables;
	TupleTableSlot *slot;		/* the new row, fetched again */
	ExprContext *row;			/* memory of one call */
	ExprContext *candidate;		/* memory of one candidate row */
	MemoryContext memory;		/* all of this */

	/* partitions may be attached while this is in use */
	bool		partitioned;	/* is root another table than tables[0]? */
	bool		stale;			/* may there be other partitions now? */
	List	   *parents;		/* partitioned tables whose changes count */
	dlist_node	node;			/* in the list of such guards */
	MemoryContextCallback unwatch;	/* takes it out of that list */
} Guard;

/* A row that is near the new one. */
typedef struct GuardMatch
{
	GuardTable *table;			/* where it is; its slot holds the row */
	double		similarity;
} GuardMatch;

/* guard_tables.c */
extern void guard_list_tables(Guard *guard, Relation rel,
							  const Trigger *trigger);

/* guard_index.c */
extern void guard_choose_index(Relation rel, AttrNumber attno,
							   double threshold, GuardTable *table);
extern void guard_use_index(Relation rel, Oid indexid, double threshold,
							GuardTable *table);

/* guard_key.c */
extern GuardKey guard_key(Relation rel, Oid indexid, AttrNumber keyno,
						  bool before);
extern Datum guard_key_value(const GuardKey *key, TupleTableSlot *row,
							 ExprContext *econtext, bool *isnull);
extern bool guard_key_unchanged(const GuardKey *key, TupleTableSlot *before,
								TupleTableSlot *after);
extern bool guard_value_same(Datum a, Datum b, bool typbyval, int typlen);

/* guard_search.c */
extern bool guard_search(Guard *guard, Relation rel, const Signature *sig,
						 ItemPointer self, GuardMatch *match);

/* guard_report.c */
extern void guard_report(const Guard *guard, Relation rel,
						 const Trigger *trigger, const GuardMatch *match);
extern void guard_check_tag(Relation rel, AttrNumber tag);
extern HeapTuple guard_tag(const Guard *guard, Relation rel, HeapTuple row,
						   const GuardMatch *match);

#endif							/* NEARDUP_GUARD_H */
