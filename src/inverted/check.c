/*
 * check.c
 *		Functions that check an index of access method neardup, and show what
 *		it consists of.
 *
 * Checking reads all of it under the merge lock: insertions go on, but for
 * flushes.  Of each row it keeps a sum of its keys, from whatever pages they
 * are on, to be compared with the table's.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/inverted/check.c
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/transam.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/index.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/builtins.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/tuplestore.h"

#include "base/hash.h"
#include "inverted/access.h"
#include "inverted/directory.h"
#include "inverted/filter.h"
#include "inverted/pending.h"
#include "inverted/postings.h"

/* A live row, as the index has it */
typedef struct CheckedRow
{
	ItemPointerData tid;		/* the hash key */
	uint32		size;
	uint32		nkeys;
	uint64		sum;			/* of the mixed keys */
} CheckedRow;

typedef struct Check
{
	Relation	index;
	PageStore	store;
	InvertedMeta meta;
	const SegmentInfo *segment; /* at hand */
	ForwardEntry *rows;			/* of the segment */
	uint32	   *nkeys;			/* lists that each row is in */
	uint64	   *sums;
	char	   *page;
	HTAB	   *live;
	MemoryContext row;			/* reset for each row of the table */
} Check;

static void
broken(Check *check, BlockNumber block, const char *rule)
{
	inverted_corrupt(check->index, block, rule);
}

/* Rows of the index */

static void
note_live(Check *check, ItemPointer tid, uint32 size, uint32 nkeys, uint64 sum)
{
	bool		found;
	CheckedRow *row = hash_search(check->live, tid, HASH_ENTER, &found);

	if (found)
		ereport(ERROR,
				(errcode(ERRCODE_INDEX_CORRUPTED),
				 errmsg("index \"%s\" has row (%u,%u) twice",
						RelationGetRelationName(check->index),
						ItemPointerGetBlockNumber(tid),
						ItemPointerGetOffsetNumber(tid))));
	row->size = size;
	row->nkeys = nkeys;
	row->sum = sum;
}

static bool
making_is_known(const Check *check, uint16 making)
{
	return making < check->meta.nmakings || making == MAKING_OTHER ||
		making == MAKING_NULL || making == MAKING_DEAD;
}

/* Whether a row may have so many keys; of a vector the size does not tell. */
static bool
keys_are_possible(const Check *check, uint16 making, uint32 nkeys, uint32 size)
{
	if ((nkeys == 0) != (size == 0))
		return false;
	return nkeys <= size || making >= check->meta.nmakings ||
		inverted_is_vector(&check->meta.makings[making]);
}

/* The rows of the segment, and that each page is found by its first one. */
static void
check_rows(Check *check)
{
	const SegmentInfo *segment = check->segment;
	BlockNumber block = segment->first;
	DirectoryPath path;
	uint32		n = 0;
	uint32		ndead = 0;

	directory_open(&path, &check->store, segment->owner, segment->forward);
	while (n < segment->nrows)
	{
		BlockNumber found;
		uint32		here;

		page_require(&check->store, block, segment->owner, check->page);
		here = (((PageHeader) check->page)->pd_lower -
				MAXALIGN(SizeOfPageHeaderData)) / sizeof(ForwardEntry);
		if (PAGE_TAIL(check->page)->kind != PAGE_FORWARD || here == 0 ||
			here > segment->nrows - n)
			broken(check, block, "It has not the rows that the metapage tells of.");
		if (!directory_find(&path, n, &found) || found != block)
			broken(check, block, "Its rows are not found by the directory.");
		memcpy(check->rows + n, PageGetContents(check->page),
			   here * sizeof(ForwardEntry));
		n += here;
		block = PAGE_TAIL(check->page)->next;
	}
	directory_close(&path);
	for (uint32 i = 0; i < n; i++)
	{
		const ForwardEntry *row = &check->rows[i];

		ndead += row->making == MAKING_DEAD;
		if (!making_is_known(check, row->making))
			broken(check, segment->first, "A row is of an unknown making.");
		if (i > 0 && (row->order_high < row[-1].order_high ||
					  (row->order_high == row[-1].order_high &&
					   row->order_low < row[-1].order_low)))
			broken(check, segment->first, "Rows are out of order.");
	}
	if (ndead != segment->ndead)
		broken(check, META_BLOCK, "It miscounts dead rows.");
}

/* One list: rising runs that do not touch. */
static void
check_list(Check *check, const ListStream *lists)
{
	uint64		hash = mix64(lists->key);

	for (size_t i = 0; i < lists->runs.n; i++)
	{
		if (i > 0 && lists->runs.first[i] <= lists->runs.end[i - 1])
			broken(check, lists->block, "Runs of a list touch.");
		for (uint32 row = lists->runs.first[i]; row < lists->runs.end[i]; row++)
		{
			if (check->nkeys[row] == 0 &&
				check->rows[row].order_high != lists->key)
				broken(check, lists->block, "A row has another first key.");
			check->nkeys[row]++;
			check->sums[row] += hash;
		}
	}
}

/* Keys that the filter is to let through, few enough for it to ask them all */
typedef struct Asked
{
	uint32		keys[FILTER_LEAST_TRIED];
	uint32		n;
} Asked;

static void
check_filter(Check *check, Asked *asked, uint32 key, bool last)
{
	uint32		n = asked->n;

	if (n == FILTER_LEAST_TRIED || last)
	{
		if (!filter_keys(&check->store, check->segment, asked->keys, &asked->n, 0))
			broken(check, check->segment->first, "A page of the filter is missing.");
		if (asked->n < n)
			broken(check, check->segment->first, "The filter leaves a key out.");
		asked->n = 0;
	}
	asked->keys[asked->n++] = key;
}

static void
check_lists(Check *check)
{
	const SegmentInfo *segment = check->segment;
	ListStream	lists;
	DirectoryPath path;
	Asked		asked = {.n = 0};
	BlockNumber last = InvalidBlockNumber;
	uint64		nkeys = 0;
	uint64		npostings = 0;
	uint32		before = 0;

	directory_open(&path, &check->store, segment->owner, segment->postings);
	for (lists_open(&lists, &check->store, segment); !lists.done;
		 lists_next(&lists))
	{
		BlockNumber found;

		if (nkeys++ > 0 && lists.key <= before)
			broken(check, lists.block, "Keys are out of order.");
		before = lists.key;
		if (lists.entry == 1 && last != lists.block &&
			lists.runs.n == 1 &&
			(!directory_find(&path, lists.key, &found) || found != lists.block))
			broken(check, lists.block, "Its keys are not found by the directory.");
		last = lists.block;
		check_filter(check, &asked, lists.key, false);
		check_list(check, &lists);
		for (size_t i = 0; i < lists.runs.n; i++)
			npostings += lists.runs.end[i] - lists.runs.first[i];
	}
	check_filter(check, &asked, 0, true);
	lists_close(&lists);
	directory_close(&path);
	if (nkeys != segment->nkeys || npostings != segment->npostings)
		broken(check, META_BLOCK, "It miscounts keys or postings.");
}

/* That the chain has as many pages as it should. */
static void
check_chain(Check *check)
{
	BlockNumber block = check->segment->first;
	uint32		n = 0;

	for (; block != InvalidBlockNumber && n <= check->segment->npages; n++)
	{
		page_require(&check->store, block, check->segment->owner, check->page);
		block = PAGE_TAIL(check->page)->next;
	}
	if (n != check->segment->npages)
		broken(check, check->segment->first, "A segment has more or fewer pages.");
}

static void
check_segment(Check *check, const SegmentInfo *segment)
{
	uint32		n = segment->nrows;

	check->segment = segment;
	check->rows = palloc_extended(n * sizeof(ForwardEntry), MCXT_ALLOC_HUGE);
	check->nkeys = palloc_extended(n * sizeof(uint32),
								   MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	check->sums = palloc_extended(n * sizeof(uint64),
								  MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	check_chain(check);
	check_rows(check);
	check_lists(check);
	for (uint32 i = 0; i < n; i++)
	{
		ForwardEntry *row = &check->rows[i];

		if (!keys_are_possible(check, row->making, check->nkeys[i], row->size))
			broken(check, segment->first, "A row has more or fewer keys than its size tells.");
		if (row->making != MAKING_DEAD)
			note_live(check, &row->tid, row->size, check->nkeys[i], check->sums[i]);
	}
	pfree(check->rows);
	pfree(check->nkeys);
	pfree(check->sums);
}

static uint64
sum_of(const uint32 *keys, uint32 nkeys)
{
	uint64		sum = 0;

	for (uint32 i = 0; i < nkeys; i++)
		sum += mix64(keys[i]);
	return sum;
}

static void
check_pending(Check *check)
{
	const InvertedMeta *meta = &check->meta;

	for (uint64 place = meta->pending_first; place < meta->pending_end; place++)
	{
		BlockNumber block = meta->pending[place % MAX_PENDING_PAGES];
		uint32		end = MAXALIGN(SizeOfPageHeaderData);

		page_require(&check->store, block, PENDING_OWNER(place), check->page);
		for (int i = 0; i < pending_count((Page) check->page); i++)
		{
			const PendingHead *head = pending_head((Page) check->page, i);
			const PendingRow *row = pending_row(check->index,
												(Page) check->page, head);
			KeysBitmap	bitmap = keys_bitmap(row->keys, row->nkeys);
			ItemPointerData tid = row->tid;

			if (memcmp(&head->bitmap, &bitmap, sizeof(KeysBitmap)) != 0 ||
				head->offset != end ||
				!keys_are_possible(check, head->making, row->nkeys, head->size) ||
				!making_is_known(check, head->making))
				broken(check, block, "A pending row is damaged.");
			note_live(check, &tid, head->size, row->nkeys,
					  sum_of(row->keys, row->nkeys));
			end += PENDING_ROW_BYTES(row->nkeys);
		}
		if (end != ((PageHeader) check->page)->pd_lower)
			broken(check, block, "A pending row cannot be read.");
	}
}

/* The table */

static void
check_heap_row(Relation index, ItemPointer tid, Datum *values, bool *isnull,
			   bool alive, void *state)
{
	Check	   *check = state;
	MemoryContext old = MemoryContextSwitchTo(check->row);
	InvertedRow expected;
	CheckedRow *row = hash_search(check->live, tid, HASH_FIND, NULL);

	inverted_row_set(&expected, isnull[0] ? NULL :
					 inverted_signature(index, values[0]));
	if (row == NULL || row->size != expected.size ||
		row->nkeys != expected.nkeys ||
		row->sum != sum_of(expected.keys, expected.nkeys))
		ereport(ERROR,
				(errcode(ERRCODE_INDEX_CORRUPTED),
				 errmsg("row (%u,%u) is %s index \"%s\"",
						ItemPointerGetBlockNumber(tid),
						ItemPointerGetOffsetNumber(tid),
						row == NULL ? "missing from" : "another one in",
						RelationGetRelationName(index)),
				 errhint("Use REINDEX.")));
	MemoryContextSwitchTo(old);
	MemoryContextReset(check->row);
}

/* Raises an error unless rows that the snapshot sees have to be in the index. */
static void
require_complete(Relation index, Snapshot snapshot)
{
	const FormData_pg_index *form = index->rd_index;
	TransactionId made = HeapTupleHeaderGetXmin(index->rd_indextuple->t_data);

	if (!form->indisvalid)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("index \"%s\" is not valid",
						RelationGetRelationName(index)),
				 errdetail("It need not have all rows of the table."),
				 errhint("Use REINDEX.")));
	if (IsolationUsesXactSnapshot() && form->indcheckxmin &&
		!TransactionIdPrecedes(made, snapshot->xmin))
		ereport(ERROR,
				(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				 errmsg("index \"%s\" cannot be checked against rows that the transaction's snapshot sees",
						RelationGetRelationName(index)),
				 errdetail("It was made since."),
				 errhint("Check it in another transaction.")));
}

/* That each row that the snapshot sees is in the index. */
static void
check_heap(Check *check, Relation heap, Snapshot snapshot)
{
	IndexInfo  *info = BuildIndexInfo(check->index);
	TableScanDesc scan = table_beginscan_strat(heap, snapshot, 0, NULL, true,
											   true);

	check->row = AllocSetContextCreate(CurrentMemoryContext, "neardup row",
									   ALLOCSET_DEFAULT_SIZES);
	info->ii_Concurrent = true; /* rows as the snapshot sees them */
	info->ii_Unique = false;
	(void) table_index_build_scan(heap, check->index, info, true, false,
								  check_heap_row, check, scan);
}

/* Opening */

static Relation
open_index(Oid indexid, LOCKMODE lock)
{
	Relation	index = index_open(indexid, lock);

	if (index->rd_indam->ambuild != inverted_build ||
		index->rd_rel->relkind != RELKIND_INDEX)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("index \"%s\" is not of access method neardup",
						RelationGetRelationName(index))));
	return index;
}

static HTAB *
create_live(void)
{
	HASHCTL		control = {
		.keysize = sizeof(ItemPointerData), .entrysize = sizeof(CheckedRow),
		.hcxt = CurrentMemoryContext
	};

	return hash_create("neardup check", 1024, &control,
					   HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
}

static void
check_index(Check *check)
{
	merge_lock(check->index);
	meta_copy(check->index, &check->meta);
	for (uint32 i = 0; i < check->meta.nsegments; i++)
		check_segment(check, &check->meta.segments[i]);
	check_pending(check);
	merge_unlock(check->index);
}

PG_FUNCTION_INFO_V1(neardup_index_check);
Datum
neardup_index_check(PG_FUNCTION_ARGS)
{
	Oid			indexid = PG_GETARG_OID(0);
	bool		all = PG_GETARG_BOOL(1);
	Oid			heapid = IndexGetRelation(indexid, true);
	Relation	heap = OidIsValid(heapid) ? table_open(heapid, AccessShareLock) : NULL;
	Check	   *check = palloc0(sizeof(Check));
	Snapshot	snapshot = RegisterSnapshot(GetTransactionSnapshot());

	if (RecoveryInProgress())
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("an index cannot be checked during recovery"),
				 errdetail("It may change meanwhile.")));
	check->index = check->store.index = open_index(indexid, AccessShareLock);
	if (all)
		require_complete(check->index, snapshot);
	check->page = palloc(BLCKSZ);
	check->live = create_live();
	check_index(check);
	if (all && heap != NULL)
		check_heap(check, heap, snapshot);
	UnregisterSnapshot(snapshot);
	index_close(check->index, AccessShareLock);
	if (heap != NULL)
		table_close(heap, AccessShareLock);
	PG_RETURN_INT64(hash_get_num_entries(check->live));
}

/* Insides */

static void
put_segment(ReturnSetInfo *result, const SegmentInfo *segment)
{
	Datum		values[6];
	bool		nulls[6] = {false};

	values[0] = Int64GetDatum((int64) segment->owner);
	values[1] = Int64GetDatum(segment->nrows);
	values[2] = Int64GetDatum(segment->ndead);
	values[3] = Int64GetDatum(segment->nkeys);
	values[4] = Int64GetDatum((int64) segment->npostings);
	values[5] = Int64GetDatum(segment->npages);
	nulls[0] = segment->owner == 0;
	tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}

/* The pending rows, as a segment without a number; its keys are not counted. */
static SegmentInfo
count_pending(Relation index, const InvertedMeta *meta)
{
	PageStore	store = {.index = index};
	SegmentInfo pending = {0};
	char	   *page = palloc(BLCKSZ);

	for (uint64 place = meta->pending_first; place < meta->pending_end; place++)
	{
		if (!page_copy(&store, meta->pending[place % MAX_PENDING_PAGES],
					   PENDING_OWNER(place), page))
			continue;			/* has been flushed meanwhile */
		pending.npages++;
		for (int i = 0; i < pending_count((Page) page); i++)
		{
			pending.nrows++;
			pending.npostings +=
				pending_row(index, (Page) page,
							pending_head((Page) page, i))->nkeys;
		}
	}
	pfree(page);
	return pending;
}

PG_FUNCTION_INFO_V1(neardup_index_segments);
Datum
neardup_index_segments(PG_FUNCTION_ARGS)
{
	Relation	index = open_index(PG_GETARG_OID(0), AccessShareLock);
	InvertedMeta *meta = palloc(sizeof(InvertedMeta));
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	SegmentInfo pending;

	InitMaterializedSRF(fcinfo, 0);
	meta_copy(index, meta);
	for (uint32 i = 0; i < meta->nsegments; i++)
		put_segment(result, &meta->segments[i]);
	pending = count_pending(index, meta);
	put_segment(result, &pending);
	index_close(index, AccessShareLock);
	return (Datum) 0;
}
