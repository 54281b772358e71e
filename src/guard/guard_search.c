/*
 * guard_search.c
 *		Searches the tables of a guard for a near-duplicate of one row: by
 *		their indexes, or all rows if the row has a dense vector.
 *
 * The protocol is the protocol of exclusion constraints: see README.md.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/gin.h"
#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/relscan.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/tupconvert.h"
#include "access/xact.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/tidbitmap.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "base/compat.h"
#include "keys/index_condition.h"
#include "index/access.h"
#include "signature/sql/signature_query.h"
#include "guard/guard.h"

/* Outcome of a visit to a row, or of a scan */
typedef enum Outcome
{
	NOTHING,					/* no near-duplicate */
	FOUND,						/* a near-duplicate that is live */
	IN_PROGRESS,				/* a near-duplicate that another transaction
								 * is changing */
	MOVED,						/* a dead version, whose row may have a new
								 * version elsewhere */
} Outcome;

/* Commands of this transaction */

bool
guard_is_own(TupleTableSlot *slot)
{
	HeapTupleHeader tuple = ExecFetchSlotHeapTuple(slot, false, NULL)->t_data;

	return TransactionIdIsCurrentTransactionId(HeapTupleHeaderGetRawXmin(tuple));
}

CommandId
guard_own_command(TupleTableSlot *slot)
{
	HeapTupleHeader tuple = ExecFetchSlotHeapTuple(slot, false, NULL)->t_data;

	Assert(guard_is_own(slot));
	/* HeapTupleHeaderGetCmin() refuses frozen rows */
	return tuple->t_infomask & HEAP_COMBOCID ? HeapTupleHeaderGetCmin(tuple) :
		HeapTupleHeaderGetRawCommandId(tuple);
}

bool
guard_inserted_together(TupleTableSlot *row, TupleTableSlot *other)
{
	CommandId	command = guard_current_statement().command;

	if (!guard_is_own(other))
		return false;
	if (TTS_IS_BUFFERTUPLE(row))
		command = guard_is_own(row) ? guard_own_command(row) :
			InvalidCommandId;
	return guard_own_command(other) == command;
}

/* Comparison */

/*
 * True if the row in the table's slot is the new row itself, whose place is
 * not known.  Its signature is equal.  It is recognized by its primary key.
 * Without a key, the first such row of this transaction counts; a second one
 * is a near-duplicate.
 */
static bool
is_found_self(ConflictScan *scan)
{
	TupleTableSlot *slot = scan->table->slot;
	int			order;

	Assert(scan->row->place == ROW_SOMEWHERE);
	if (scan->self_seen || !guard_is_own(slot))
		return false;
	scan->self_seen = !guard_key_compare(scan->rel, slot, scan->row->slot,
										 &order) || order == 0;
	return scan->self_seen;
}

bool
guard_is_near(ConflictScan *scan)
{
	NewRow	   *row = scan->row;
	bool		own = scan->table == scan->guard->own;
	bool		same;

	Assert(row->sig != NULL);
	if (own && row->place == ROW_AT_TID &&
		ItemPointerEquals(&scan->table->slot->tts_tid, &row->tid))
		return false;
	if (!guard_is_similar(scan, &same))
		return false;
	if (row->place == ROW_SOMEWHERE && same && is_found_self(scan))
		return false;
	if (!guard_condition_holds(scan))
		return false;
	return !(own && row->place == ROW_INSERTED_LATER &&
			 guard_unique_conflict(scan));
}

/* Versions */

bool
guard_deleted_since(const ConflictScan *scan, TupleTableSlot *slot)
{
	HeapTupleHeader tuple = ExecFetchSlotHeapTuple(slot, false, NULL)->t_data;
	TransactionId deleter;

	if ((tuple->t_infomask & HEAP_XMAX_INVALID) ||
		HEAP_XMAX_IS_LOCKED_ONLY(tuple->t_infomask))
		return false;
	deleter = HeapTupleHeaderGetUpdateXid(tuple);
	return !TransactionIdIsCurrentTransactionId(deleter) &&
		XidInMVCCSnapshot(deleter, scan->start);
}

bool
guard_is_visible(ConflictScan *scan, TupleTableSlot *slot)
{
	HeapTuple	tuple = ExecFetchSlotHeapTuple(slot, false, NULL);
	Buffer		buffer = ((BufferHeapTupleTableSlot *) slot)->buffer;
	bool		visible;

	Assert(TTS_IS_BUFFERTUPLE(slot));
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	visible = HeapTupleSatisfiesVisibility(tuple, &scan->dirty, buffer);
	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	return visible;
}

/*
 * True if any version on the HOT chain at tid was deleted since the scan
 * began.  All versions on it are dead.
 */
static bool
chain_deleted_since(ConflictScan *scan, ItemPointerData tid)
{
	TupleTableSlot *slot = scan->table->slot;
	bool		again = false;

	while (table_index_fetch_tuple(scan->fetch, &tid, SnapshotAny, slot,
								   &again, NULL))
	{
		if (guard_deleted_since(scan, slot))
			return true;
		if (!again)
			break;
	}
	return false;
}

/*
 * What to do about the row version in the slot, which is visible to the dirty
 * snapshot and a near-duplicate.
 */
static Outcome
outcome_of_visible(const ConflictScan *scan)
{
	return TransactionIdIsValid(scan->dirty.xmin) ||
		TransactionIdIsValid(scan->dirty.xmax) ? IN_PROGRESS : FOUND;
}

/*
 * Visit a row that the index has found.  More than one member of a HOT chain
 * is visible while another transaction extends it.
 */
static Outcome
visit(ConflictScan *scan, ItemPointerData tid)
{
	TupleTableSlot *slot = scan->table->slot;
	ItemPointerData chain = tid;
	bool		again = false;
	bool		visible = false;

	/* usually the new row begins a chain, and need not be visited */
	if (scan->row->place == ROW_AT_TID && scan->table == scan->guard->own &&
		ItemPointerEquals(&tid, &scan->row->tid))
		return NOTHING;
	Assert(ItemPointerIsValid(&tid));
	scan->guard->visited++;
	while (table_index_fetch_tuple(scan->fetch, &chain, &scan->dirty, slot,
								   &again, NULL))
	{
		visible = true;
		if (guard_is_near(scan))
			return outcome_of_visible(scan);
		if (!again)
			break;
	}
	if (!visible && chain_deleted_since(scan, tid))
		return MOVED;
	return NOTHING;
}

/*
 * True if the row in the table's slot is more similar than the best, or
 * equally similar and before it in key order.
 */
static bool
is_nearer(ConflictScan *scan)
{
	int			order;

	Assert(scan->best != NULL && !TTS_EMPTY(scan->best));
	if (scan->similarity != scan->best_similarity)
		return scan->similarity > scan->best_similarity;
	return guard_key_compare(scan->rel, scan->table->slot, scan->best,
							 &order) &&
		order < 0;
}

/*
 * Keep a near-duplicate as the best, and let the scan continue: in mode tag to
 * find the most similar one, and for a new row at an unknown place to find
 * that row.
 */
static Outcome
note_match(ConflictScan *scan)
{
	if (TTS_EMPTY(scan->best) ||
		(scan->guard->mode == GUARD_TAG && is_nearer(scan)))
	{
		ExecCopySlot(scan->best, scan->table->slot);
		scan->best_similarity = scan->similarity;
	}
	return NOTHING;
}

/* After all rows were visited, copy the best row to the table's slot. */
static Outcome
take_best(ConflictScan *scan)
{
	/*
	 * a new row that was not found was changed or deleted by another trigger
	 */
	if (TTS_EMPTY(scan->best) ||
		(scan->row->place == ROW_SOMEWHERE && !scan->self_seen))
		return NOTHING;
	ExecCopySlot(scan->table->slot, scan->best);
	scan->similarity = scan->best_similarity;
	return FOUND;
}

/* Visit the rows of a bitmap until an outcome ends the scan. */
static Outcome
visit_all(ConflictScan *scan, TIDBitmap *bitmap)
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
			outcome = visit(scan, tid);
			if (outcome == FOUND && scan->best != NULL)
				outcome = note_match(scan);
		}
	}
	bitmap_pages_end(&pages);
	return outcome == NOTHING && scan->best != NULL ? take_best(scan) :
		outcome;
}

/* The index */

/*
 * Return the key column of an index that can search column attno of the scope
 * for equal values, and set the strategy; InvalidAttrNumber if there is none.
 */
static AttrNumber
find_key(Relation index, AttrNumber attno, const GuardScope *scope,
		 StrategyNumber *strategy)
{
	for (int i = 0; i < index->rd_index->indnkeyatts; i++)
	{
		if (index->rd_index->indkey.values[i] != attno ||
			index->rd_indcollation[i] != scope->collation)
			continue;
		*strategy = get_op_opfamily_strategy(scope->operator,
											 index->rd_opfamily[i]);
		if (*strategy != InvalidStrategy)
			return i + 1;
	}
	return InvalidAttrNumber;
}

int
guard_scope_served(const Guard *guard, const GuardTable *table, Relation index)
{
	StrategyNumber strategy;
	int			n = 0;

	for (int i = 0; i < guard->nscope; i++)
		n += find_key(index, table->columns[i].attno, &guard->scope[i],
					  &strategy) != InvalidAttrNumber;
	return n;
}

/*
 * Set scan keys for the columns of the new row's scope that an index of the
 * table can search; return their number.
 */
static int
scope_scankeys(const ConflictScan *scan, Relation index, ScanKey keys)
{
	static FmgrInfo none = {0}; /* GIN has support functions instead */
	const Guard *guard = scan->guard;
	int			n = 0;

	for (int i = 0; i < guard->nscope; i++)
	{
		const GuardScope *scope = &guard->scope[i];
		StrategyNumber strategy;
		AttrNumber	keyno = find_key(index, scan->table->columns[i].attno,
									 scope,
									 &strategy);

		/* GIN cannot search nulls */
		if (keyno != InvalidAttrNumber && !scan->row->scope_isnull[i])
			ScanKeyEntryInitializeWithInfo(&keys[n++], 0, keyno, strategy,
										   InvalidOid, scope->collation,
										   &none, scan->row->scope[i]);
	}
	return n;
}

/*
 * Add all rows that a scan finds to a bitmap; gin_fuzzy_search_limit must not
 * leave any out.
 */
static void
find_all(IndexScanDesc scan, TIDBitmap *bitmap)
{
	int			limit = GinFuzzySearchLimit;

	PG_TRY();
	{
		GinFuzzySearchLimit = 0;
		index_getbitmap(scan, bitmap);
	}
	PG_FINALLY();
	{
		GinFuzzySearchLimit = limit;
	}
	PG_END_TRY();
}

/*
 * Return the rows that the index finds as a bitmap, in the current memory
 * context.
 */
static TIDBitmap *
candidates(ConflictScan *scan, ScanKey keys)
{
	Relation	index = index_open(scan->table->indexid, NoLock);
	TIDBitmap  *bitmap = tbm_create(work_mem * (Size) 1024, NULL);
	int			nkeys = 1 + scope_scankeys(scan, index, &keys[1]);
	IndexScanDesc found = compat_beginscan_bitmap(index, &scan->dirty, nkeys);

	index_rescan(found, keys, nkeys, NULL, 0);
	find_all(found, bitmap);
	index_endscan(found);
	index_close(index, NoLock);
	return bitmap;
}

/* Visit the rows that the index finds. */
static Outcome
scan_index(ConflictScan *scan, ScanKey keys)
{
	TIDBitmap  *bitmap = candidates(scan, keys);
	Outcome		outcome = NOTHING;

	if (!tbm_is_empty(bitmap))
	{
		scan->fetch = compat_index_fetch_begin(scan->rel);
		outcome = visit_all(scan, bitmap);
		table_index_fetch_end(scan->fetch);
	}
	tbm_free(bitmap);
	return outcome;
}

/* Without an index */

/*
 * Visit the row version in the table's slot, whatever its visibility.  One
 * that is dead, and was before the scan began, is not read: parts of it that
 * are out of line may be gone.
 */
static Outcome
visit_version(ConflictScan *scan)
{
	TupleTableSlot *slot = scan->table->slot;
	bool		visible = guard_is_visible(scan, slot);

	if (!visible && !guard_deleted_since(scan, slot))
		return NOTHING;
	if (!guard_is_near(scan))
		return NOTHING;
	return visible ? outcome_of_visible(scan) : MOVED;
}

/* Visit all rows of the table. */
static Outcome
scan_rows(ConflictScan *scan)
{
	TupleTableSlot *slot = scan->table->slot;
	TableScanDesc rows = compat_beginscan(scan->rel, SnapshotAny, 0, NULL);
	Outcome		outcome = NOTHING;

	while (outcome == NOTHING &&
		   table_scan_getnextslot(rows, ForwardScanDirection, slot))
	{
		CHECK_FOR_INTERRUPTS();
		outcome = visit_version(scan);
		if (outcome == FOUND && scan->best != NULL)
			outcome = note_match(scan);
	}
	/* the slot has the scan's tuple, which goes with the scan */
	if (outcome == FOUND)
		ExecMaterializeSlot(slot);
	table_endscan(rows);
	return outcome == NOTHING && scan->best != NULL ? take_best(scan) :
		outcome;
}

/*
 * Scan a table once.  If the outcome is FOUND, the table's slot holds the row.
 */
static Outcome
scan_table(ConflictScan *scan, ScanKey keys)
{
	Outcome		outcome;

	InitDirtySnapshot(scan->dirty);
	scan->start = RegisterSnapshot(GetLatestSnapshot());
	scan->self_seen = false;
	if (scan->best != NULL)
		ExecClearTuple(scan->best);
	outcome = scan->table->searchable ? scan_index(scan, keys) :
		scan_rows(scan);
	UnregisterSnapshot(scan->start);
	return outcome;
}

void
guard_wait(Relation rel, const SnapshotData *dirty, ItemPointerData tid)
{
	if (TransactionIdIsValid(dirty->xmin) && dirty->speculativeToken)
		SpeculativeInsertionWait(dirty->xmin, dirty->speculativeToken);
	else
		XactLockTableWait(TransactionIdIsValid(dirty->xmin) ? dirty->xmin :
						  dirty->xmax, rel, &tid, XLTW_RecheckExclusionConstr);
}

/*
 * Scan one table until there is no transaction to wait for; true if there is a
 * near-duplicate.
 */
static bool
search_table(ConflictScan *scan, ScanKey keys)
{
	for (;;)
	{
		Outcome		outcome = scan_table(scan, keys);
		ItemPointerData tid = scan->table->slot->tts_tid;

		if (outcome == FOUND)
			return true;
		ExecClearTuple(scan->table->slot);
		if (outcome == NOTHING)
			return false;
		if (outcome == IN_PROGRESS)
			guard_wait(scan->rel, &scan->dirty, tid);
	}
}

/*
 * Return the conversion of the table's rows to the new row's layout, or NULL
 * if the condition needs none.
 */
static TupleConversionMap *
find_layout(const Guard *guard, const GuardTable *table)
{
	if (guard->condition.expr == NULL || table == guard->own)
		return NULL;
	return convert_tuples_by_name(table->slot->tts_tupleDescriptor,
								  guard->own->slot->tts_tupleDescriptor);
}

/*
 * Search the next table; true if it has a near-duplicate, which *match
 * describes.
 */
static bool
search_next(ConflictScan *scan, GuardTable *table, Relation rel, ScanKey keys,
			GuardMatch *match)
{
	bool		found;

	scan->table = table;
	scan->rel = rel;
	scan->layout = find_layout(scan->guard, table);
	scan->best = scan->guard->mode != GUARD_TAG &&
		scan->row->place != ROW_SOMEWHERE ? NULL :
		compat_make_slot(table->slot->tts_tupleDescriptor, &TTSOpsHeapTuple);
	keys[0].sk_attno = table->keyno;
	found = search_table(scan, keys);
	if (found)
		*match = (GuardMatch)
	{
		.table = table,.similarity = scan->similarity
	};
	if (scan->best != NULL)
		ExecClearTuple(scan->best);
	return found;
}

bool
guard_search(Guard *guard, Relation rel, NewRow *row, GuardMatch *match)
{
	FmgrInfo	none = {0};		/* GIN has support functions instead */
	ScanKey		keys = palloc((1 + guard->nscope) * sizeof(ScanKeyData));
	ConflictScan scan = {.guard = guard,.row = row};
	GuardPartitions *partitions = guard->partitions;
	SignatureQuery *query = signature_query_make(row->sig, guard->threshold,
												 guard->measure);
	bool		found;

	ScanKeyEntryInitializeWithInfo(&keys[0], 0, guard->own->keyno,
								   SIGNATURE_MATCH_STRATEGY, InvalidOid,
								   InvalidOid, &none, PointerGetDatum(query));
	found = search_next(&scan, guard->own, rel, keys, match);
	for (int i = 0; partitions != NULL && i < partitions->ntables && !found;
		 i++)
	{
		GuardTable *table = &partitions->tables[i];
		Relation	partition;

		if (table->relid == guard->own->relid)
			continue;
		partition = table_open(table->relid, NoLock);
		found = search_next(&scan, table, partition, keys, match);
		table_close(partition, NoLock);
	}
	return found;
}
