/*
 * guard_search.c
 *		Is there a near-duplicate, committed or about to be?
 *
 * The protocol is that of exclusion constraints.  The new row and its index
 * entries are in the table before the search begins.  The search looks at
 * rows under a dirty snapshot, which shows what is committed and what other
 * transactions are in the middle of.  A near-duplicate that another
 * transaction is inserting or deleting is waited for, with no snapshot and no
 * buffer of that row held, and then the table is searched again.  Of two
 * transactions that insert near-duplicates of each other, the one that begins
 * its search last finds the other's row, whatever the isolation level: a
 * dirty snapshot takes no part in it.
 *
 * In a table that was searched before the wait nothing can have been missed:
 * whoever comes there later finds our row.
 *
 * One more thing has to be thought of.  An exclusion constraint checks each
 * new version of a row that is not on the old one's HOT chain; the guard does
 * not check a version whose signature is that of the version before.  So it
 * may be that the index scan finds the old version of a near-duplicate, that
 * another transaction then stores a new version elsewhere and commits, and
 * that the old one is dead when we come to it: the row would be missed, and
 * its owner does not look for ours.  Hence a version that is found dead is
 * looked at again.  If its deleter was still running when the search began,
 * the search begins anew, and finds the new version in the index, as the
 * deleter has committed since.  If it was not, the index scan that came after
 * has found the new version already.  That snapshot of who was running also
 * keeps VACUUM from removing the versions in question.
 *
 * A dirty snapshot does not keep a tuple identifier from being used for
 * another row between index scan and visit.  No harm is done: what counts is
 * the row that is there, and it is compared exactly.
 *
 * A signature stored out of line can vanish under our hands if its inserter
 * rolls back and VACUUM comes by in that very moment.  PostgreSQL then raises
 * an error about a missing chunk; exclusion constraints on long values have
 * the same gap.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/guard_search.c
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/gin.h"
#include "access/htup_details.h"
#include "access/relscan.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/tidbitmap.h"
#include "storage/lmgr.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "compat.h"
#include "guard.h"
#include "index/gin.h"
#include "index/query.h"
#include "measures.h"

typedef enum Outcome
{
	NOTHING,					/* no near-duplicate */
	FOUND,						/* one that is there to stay */
	IN_PROGRESS,				/* one that another transaction is busy with */
	MOVED,						/* one may have been stored anew meanwhile */
} Outcome;

/* One pass through one table. */
typedef struct Pass
{
	Guard	   *guard;
	GuardTable *table;
	Relation	rel;
	const Signature *sig;		/* the new row's signature */
	ItemPointer self;			/* where the new row is, or NULL */
	IndexFetchTableData *fetch;
	SnapshotData dirty;			/* tells who is busy with a row */
	Snapshot	start;			/* who was running when the pass began */
	double		similarity;		/* of what was found */
} Pass;

/* True if the row in the table's slot is near the new one. */
static bool
is_near(Pass *pass)
{
	ExprContext *econtext = pass->guard->candidate;
	MemoryContext caller;
	Datum		value;
	bool		isnull;
	bool		near = false;

	caller = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
	value = guard_key_value(&pass->table->key, pass->table->slot, econtext,
							&isnull);
	if (!isnull)
	{
		Signature  *sig = DatumGetSignature(value);

		near = signatures_near(pass->sig, sig, pass->guard->threshold,
							   MEASURE_JACCARD);
		if (near)
			pass->similarity = signatures_value(pass->sig, sig,
												MEASURE_JACCARD);
	}
	MemoryContextSwitchTo(caller);
	ResetExprContext(econtext);
	return near;
}

/*
 * True if a version on the HOT chain at tid was deleted by a transaction that
 * was running when the pass began.  All of the chain is known to be dead.
 */
static bool
deleted_since(Pass *pass, ItemPointerData tid)
{
	TupleTableSlot *slot = pass->table->slot;
	bool		again = false;

	while (table_index_fetch_tuple(pass->fetch, &tid, SnapshotAny, slot,
								   &again, NULL))
	{
		HeapTupleHeader tuple = ExecFetchSlotHeapTuple(slot, false, NULL)->t_data;
		TransactionId deleter = HeapTupleHeaderGetUpdateXid(tuple);

		if (!(tuple->t_infomask & HEAP_XMAX_INVALID) &&
			!HEAP_XMAX_IS_LOCKED_ONLY(tuple->t_infomask) &&
			!TransactionIdIsCurrentTransactionId(deleter) &&
			XidInMVCCSnapshot(deleter, pass->start))
			return true;
		if (!again)
			break;
	}
	return false;
}

/*
 * Looks at what the index has found at tid.  The loop over the members of a
 * HOT chain is for one that another transaction is adding to: more than one
 * of them is visible then.
 */
static Outcome
visit(Pass *pass, ItemPointerData tid)
{
	TupleTableSlot *slot = pass->table->slot;
	ItemPointerData chain = tid;
	bool		again = false;
	bool		visible = false;

	/* mostly the new row begins a chain of its own, and needs no visit */
	if (pass->self && ItemPointerEquals(&tid, pass->self))
		return NOTHING;
	while (table_index_fetch_tuple(pass->fetch, &chain, &pass->dirty, slot,
								   &again, NULL))
	{
		visible = true;
		if (!(pass->self && ItemPointerEquals(&slot->tts_tid, pass->self)) &&
			is_near(pass))
		{
			if (TransactionIdIsValid(pass->dirty.xmin) ||
				TransactionIdIsValid(pass->dirty.xmax))
				return IN_PROGRESS;
			return FOUND;
		}
		if (!again)
			break;
	}
	if (!visible && deleted_since(pass, tid))
		return MOVED;
	return NOTHING;
}

/* Visits every row of a bitmap, up to the first outcome that is something. */
static Outcome
visit_all(Pass *pass, TIDBitmap *bitmap)
{
	BitmapPages pages;
	Outcome		outcome = NOTHING;

	bitmap_pages_begin(&pages, bitmap);
	while (outcome == NOTHING && bitmap_pages_next(&pages))
	{
		bool		lossy = pages.noffsets < 0;
		int			n = lossy ? MaxHeapTuplesPerPage : pages.noffsets;

		for (int i = 0; outcome == NOTHING && i < n; i++)
		{
			ItemPointerData tid;

			CHECK_FOR_INTERRUPTS();
			ItemPointerSet(&tid, pages.blockno,
						   lossy ? FirstOffsetNumber + i : pages.offsets[i]);
			outcome = visit(pass, tid);
		}
	}
	bitmap_pages_end(&pages);
	return outcome;
}

/* The rows that may be near, by the index; in the current memory context. */
static TIDBitmap *
candidates(Pass *pass, ScanKey key)
{
	Relation	index = index_open(pass->table->indexid, NoLock);
	TIDBitmap  *bitmap = tbm_create(work_mem * (Size) 1024, NULL);
	IndexScanDesc scan = compat_beginscan_bitmap(index, &pass->dirty, 1);

	index_rescan(scan, key, 1, NULL, 0);
	index_getbitmap(scan, bitmap);
	index_endscan(scan);
	index_close(index, NoLock);
	return bitmap;
}

/* One pass; on FOUND the row is left in the table's slot. */
static Outcome
pass_through(Pass *pass, ScanKey key)
{
	TIDBitmap  *bitmap;
	Outcome		outcome = NOTHING;

	InitDirtySnapshot(pass->dirty);
	pass->start = RegisterSnapshot(GetLatestSnapshot());
	bitmap = candidates(pass, key);
	if (!tbm_is_empty(bitmap))
	{
		pass->fetch = table_index_fetch_begin(pass->rel);
		outcome = visit_all(pass, bitmap);
		table_index_fetch_end(pass->fetch);
	}
	tbm_free(bitmap);
	UnregisterSnapshot(pass->start);
	return outcome;
}

/* Waits for the transaction that is busy with the row in the slot. */
static void
wait_for_row(Pass *pass)
{
	ItemPointerData tid = pass->table->slot->tts_tid;
	TransactionId inserter = pass->dirty.xmin;
	TransactionId busy = TransactionIdIsValid(inserter) ? inserter :
		pass->dirty.xmax;

	ExecClearTuple(pass->table->slot);
	if (TransactionIdIsValid(inserter) && pass->dirty.speculativeToken)
		SpeculativeInsertionWait(inserter, pass->dirty.speculativeToken);
	else
		XactLockTableWait(busy, pass->rel, &tid, XLTW_RecheckExclusionConstr);
}

/* Searches one table, until there is nothing left to wait for. */
static bool
search_table(Pass *pass, ScanKey key)
{
	for (;;)
	{
		switch (pass_through(pass, key))
		{
			case FOUND:
				return true;
			case IN_PROGRESS:
				wait_for_row(pass);
				break;
			case MOVED:
				break;
			case NOTHING:
				ExecClearTuple(pass->table->slot);
				return false;
		}
	}
}

/*
 * Finds a row that is near sig in any of the guard's tables, and waits where
 * it takes to be sure of it.  rel is the table that the trigger fires on;
 * self is where the new row is in it, or the version that it replaces, or
 * NULL.  True if there is one: match->table->slot then holds the row, and it
 * is the caller's to clear.  Allocates in the current memory context.  Raises
 * an error if the index has a row of another making.
 */
bool
guard_search(Guard *guard, Relation rel, const Signature *sig,
			 ItemPointer self, GuardMatch *match)
{
	ScanKeyData key;
	FmgrInfo	none = {0};		/* GIN has support functions instead */
	SignatureQuery *query = signature_query_make(sig, guard->threshold,
												 MEASURE_JACCARD);

	for (int i = 0; i < guard->ntables; i++)
	{
		GuardTable *table = &guard->tables[i];
		bool		own = i == 0;
		Pass		pass = {.guard = guard, .table = table, .sig = sig};
		bool		found;

		pass.self = own ? self : NULL;
		pass.rel = own ? rel : table_open(table->relid, NoLock);
		ScanKeyEntryInitializeWithInfo(&key, 0, table->keyno,
									   SIGNATURE_MATCH_STRATEGY, InvalidOid,
									   InvalidOid, &none,
									   PointerGetDatum(query));
		found = search_table(&pass, &key);
		if (!own)
			table_close(pass.rel, NoLock);
		if (found)
		{
			match->table = table;
			match->similarity = pass.similarity;
			return true;
		}
	}
	return false;
}
