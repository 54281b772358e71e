/*
 * check.c
 *		neardup_index_check(): structure of an index, and its rows against the
 *		table.
 *
 * The structure is checked page by page under the merge lock: insertions
 * continue, flushes wait.  Lists come first: each key adds its hash to the
 * sums of its rows.  Then rows are read, and each one with its sum is a
 * fingerprint.  Fingerprints of the index and of the table are sorted together
 * by their places in the table.  Memory: eight bytes for each row of a
 * segment, and maintenance_work_mem.
 *
 * What an unfinished merge has written is checked when it is in place.  Until
 * then no search reads it.
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
#include "catalog/pg_operator_d.h"
#include "catalog/pg_type_d.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/tuplesort.h"

#include "base/call.h"
#include "base/compat.h"
#include "base/hash.h"
#include "base/interrupts.h"
#include "base/settings.h"
#include "index/access.h"
#include "index/directory.h"
#include "index/postings.h"
#include "index/segment_writer.h"
#include "index/segments.h"

/* Columns of a sorted fingerprint, each an int8 */
enum
{
	COLUMN_PLACE,				/* block, offset, and 1 if it is the table's */
	COLUMN_SUM,
	COLUMN_COUNT
};

typedef struct Check
{
	Relation	index;
	PageStore	store;
	IndexMeta	meta;
	char	   *page;
	Tuplesortstate *fingerprints;
	TupleTableSlot *slot;
	MemoryContext row;			/* reset for each row of the table */

	/* The segment being checked */
	const SegmentInfo *segment;
	uint64	   *sums;			/* of each row's keys */
	DirectoryPath filter;
	char	   *filter_page;
	BlockNumber filter_block;
	uint32		word;			/* next word of the filter to compare */
	uint64		bits;			/* bits of that word, by the keys so far */
} Check;

static void
broken(Check *check, BlockNumber block, const char *rule)
{
	index_corrupt(check->index, block, rule);
}

/* Fingerprints */

static void
begin_fingerprints(Check *check)
{
	TupleDesc	desc = CreateTemplateTupleDesc(COLUMN_COUNT);
	AttrNumber	column = COLUMN_PLACE + 1;
	Oid			less = Int8LessOperator;
	Oid			collation = InvalidOid;
	bool		nulls_first = false;

	for (AttrNumber i = 1; i <= COLUMN_COUNT; i++)
		TupleDescInitEntry(desc, i, NULL, INT8OID, -1, 0);
	TupleDescFinalize(desc);
	check->slot = MakeSingleTupleTableSlot(desc, &TTSOpsVirtual);
	check->fingerprints = tuplesort_begin_heap(desc, 1, &column, &less,
											   &collation,
											   &nulls_first,
											   maintenance_work_mem,
											   NULL, TUPLESORT_NONE);
}

/* Add a row of the index, or of the table. */
static void
put_row(Check *check, const IndexedRow *row, uint64 sum, bool of_table)
{
	TupleTableSlot *slot = check->slot;
	uint64		place =
	(uint64) ItemPointerGetBlockNumberNoCheck(&row->tid) << 17 |
	ItemPointerGetOffsetNumberNoCheck(&row->tid) << 1 | of_table;
	int64		values[] = {
		[COLUMN_PLACE] = (int64) place,
		[COLUMN_SUM] = (int64) mix64(mix64(sum ^ mix64(row->order)) +
									 ((uint64) row->spec << 32 | row->size))
	};

	ExecClearTuple(slot);
	/* on 32 bits these are pointers to what is copied below */
	for (int i = 0; i < COLUMN_COUNT; i++)
	{
		slot->tts_values[i] = Int64GetDatumFast(values[i]);
		slot->tts_isnull[i] = false;
	}
	ExecStoreVirtualTuple(slot);
	tuplesort_puttupleslot(check->fingerprints, slot);
}

/* The hash of a key in the sum of a row; not 0 */
static inline uint64
key_hash(uint32 key)
{
	return mix64((uint64) key + 1);
}

static uint64
sum_of(const uint32 *keys, uint32 nkeys)
{
	uint64		sum = 0;

	for (uint32 i = 0; i < nkeys; i++)
		sum += key_hash(keys[i]);
	return sum;
}

/* The filter of a segment: words are in the order of keys. */

/*
 * Read the page of the next word; the directory must find its first and last
 * word.
 */
static void
read_filter_page(Check *check)
{
	uint32		n = Min(FILTER_WORDS_PER_PAGE,
						check->segment->filter_words - check->word);
	BlockNumber last;

	if (!directory_find(&check->filter, check->word, &check->filter_block) ||
		!directory_find(&check->filter, check->word + n - 1, &last) ||
		check->filter_block == InvalidBlockNumber ||
		last != check->filter_block)
		broken(check, META_BLOCK, "A page of a filter is missing.");
	page_require(&check->store, check->filter_block, check->segment->owner,
				 check->filter_page);
	if (PAGE_TAIL(check->filter_page)->kind != PAGE_FILTER ||
		page_contents_size(check->filter_page) != n * sizeof(uint64))
		broken(check, check->filter_block, "It is no page of a filter.");
}

/* Compare all words before `end`: no further key sets bits there. */
static void
compare_words(Check *check, uint32 end)
{
	for (; check->word < end; check->word++)
	{
		uint32		place = check->word % FILTER_WORDS_PER_PAGE;
		uint64		bits;

		CHECK_EVERY(check->word);
		if (place == 0)
			read_filter_page(check);
		bits = ((const uint64 *) PageGetContents(check->filter_page))[place];
		if ((check->bits & ~bits) != 0)
			broken(check, check->filter_block, "The filter leaves a key out.");
		if (bits != check->bits)
			broken(check, check->filter_block,
				   "The filter has a bit of no key.");
		check->bits = 0;
	}
}

static void
check_filter_key(Check *check, const ListStream *lists)
{
	uint32		key = lists->key;

	if (check->segment->filter_words == 0)
		return;
	compare_words(check, filter_word(key, check->segment->filter_words));
	check->bits |= filter_bits(key) | (lists->is_long ? filter_long_bits(key) :
									   0);
}

/* Lists */

/*
 * Add a list's key to the sums of its rows, by runs that rise and do not
 * touch.
 */
static uint64
check_runs(Check *check, const ListStream *lists)
{
	const Runs *runs = &lists->runs;
	uint64		hash = key_hash(lists->key);
	uint64		rows = 0;

	for (size_t i = 0; i < runs->n; i++)
	{
		CHECK_EVERY(i);
		if (i > 0 && runs->first[i] <= runs->end[i - 1])
			broken(check, lists->block, "Runs of a list touch.");
		for (uint32 row = runs->first[i]; row < runs->end[i]; row++)
			check->sums[row] += hash;
		rows += runs->end[i] - runs->first[i];
	}
	return rows;
}

/* The directory must find the page where the list of a key begins. */
static void
check_found(Check *check, DirectoryPath *path, uint32 key, BlockNumber block)
{
	BlockNumber found;

	if (!directory_find(path, key, &found) || found != block)
		broken(check, block, "Its keys are not found by the directory.");
}

/* Check all lists of the segment, the directory over them, and the filter. */
static void
check_lists(Check *check)
{
	const SegmentInfo *segment = check->segment;
	ListStream	lists;
	DirectoryPath path;
	uint64		nkeys = 0;
	uint64		npostings = 0;
	uint32		key = 0;
	BlockNumber block = InvalidBlockNumber;

	directory_open(&path, &check->store, segment->owner, segment->postings,
				   NULL);
	directory_open(&check->filter, &check->store, segment->owner,
				   segment->filter, NULL);
	check->word = 0;
	check->bits = 0;
	for (lists_open(&lists, &check->store, segment, 0); !lists.done;
		 lists_next(&lists))
	{
		uint64		rows = check_runs(check, &lists);

		if (nkeys++ > 0 && lists.key <= key)
			broken(check, lists.block, "Keys are out of order.");
		/* the first key of a page, and the last one of the page before it */
		if (lists.key_block != block)
		{
			check_found(check, &path, lists.key, lists.key_block);
			if (BlockNumberIsValid(block))
				check_found(check, &path, key, block);
		}
		check_filter_key(check, &lists);
		npostings += rows;
		key = lists.key;
		block = lists.key_block;
	}
	if (BlockNumberIsValid(block))
		check_found(check, &path, key, block);
	compare_words(check, segment->filter_words);
	if (nkeys != segment->nkeys || npostings != segment->npostings)
		broken(check, META_BLOCK, "It miscounts keys or postings.");
	lists_close(&lists);
	directory_close(&path);
	directory_close(&check->filter);
}

/* Rows of a segment */

/* Check a row after the one before it; true if it is live. */
static bool
check_row(Check *check, BlockNumber block, const ForwardEntry *row,
		  uint64 *order, uint64 sum)
{
	IndexedRow	live = {
		.order = forward_order(row),.size = row->size,.tid = row->tid,
		.spec = row->spec
	};

	tid_require(check->index, block, &row->tid);
	if (live.order < *order)
		broken(check, block, "Rows are out of order.");
	if ((sum == 0) != (row->size == 0))
		broken(check, block, "A row has no keys, or no size.");
	*order = live.order;
	if (row->spec == SPEC_DEAD)
		return false;
	put_row(check, &live, sum, false);
	return true;
}

/* Check a page of rows, from number n on; returns how many it has. */
static uint32
check_page_of_rows(Check *check, DirectoryPath *path, BlockNumber block,
				   uint32 n)
{
	const SegmentInfo *segment = check->segment;
	BlockNumber first;
	BlockNumber last;
	uint32		here;

	if (block == InvalidBlockNumber)
		broken(check, META_BLOCK, "A segment has fewer rows.");
	here = page_contents_size(check->page) / sizeof(ForwardEntry);
	if (here != Min(segment->nrows - n, FORWARD_PER_PAGE))
		broken(check, block,
			   "It has more or fewer rows than the metapage says.");
	if (!directory_find(path, n, &first) || first != block ||
		!directory_find(path, n + here - 1, &last) || last != block)
		broken(check, block, "Its rows are not found by the directory.");
	return here;
}

static void
check_rows(Check *check)
{
	const SegmentInfo *segment = check->segment;
	BlockNumber block = segment->first;
	DirectoryPath path;
	uint32		ndead = 0;
	uint64		order = 0;

	directory_open(&path, &check->store, segment->owner, segment->forward,
				   NULL);
	for (uint32 n = 0; n < segment->nrows;)
	{
		const ForwardEntry *rows =
		(const ForwardEntry *) PageGetContents(check->page);
		uint32		here;

		block = chain_find(&check->store, block, segment->owner, PAGE_FORWARD,
						   check->page);
		here = check_page_of_rows(check, &path, block, n);

		for (uint32 i = 0; i < here; i++)
			ndead += !check_row(check, block, &rows[i], &order,
								check->sums[n + i]);
		block = PAGE_TAIL(check->page)->next;
		n += here;
	}
	directory_close(&path);

	/*
	 * a VACUUM that was interrupted may have marked rows that are not counted
	 */
	if (ndead < segment->ndead)
		broken(check, META_BLOCK, "It miscounts dead rows.");
}

/* All pages of the chain must belong to the segment. */
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
		broken(check, check->segment->first,
			   "A segment has more or fewer pages.");
}

static void
check_segment(Check *check, const SegmentInfo *segment)
{
	check->segment = segment;
	check_chain(check);
	check->sums = palloc_extended(Max(segment->nrows, 1) * sizeof(uint64),
								  MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	check_lists(check);
	check_rows(check);
	pfree(check->sums);
}

/* Merges in steps, and pending rows */

/* Check the state of a merge, and its row map against its segments. */
static void
check_merge(Check *check, int number)
{
	MergeState *state = palloc(sizeof(MergeState));
	SegmentInfo *segments = palloc(MAX_SEGMENTS * sizeof(SegmentInfo));
	uint32		n = merge_segments(&check->meta, number, segments);
	uint32		passed[MAX_SEGMENTS] = {0};

	if (!merge_state(check->index, &check->meta, number, state))
	{
		if (n > 0)
			broken(check, META_BLOCK,
				   "A segment is in a merge that is not there.");
	}
	else if (state->phase < MERGE_ROWS || state->phase > MERGE_RELEASE ||
			 n != (state->phase == MERGE_RELEASE ? 0 : state->ninputs))
		broken(check, check->meta.merges[number].block,
			   "The state of a merge is damaged.");
	else if (n > 0)
	{
		uint32	  **numbers = merge_new_numbers(&check->store, segments, state,
												passed);

		for (uint32 i = 0; i < n && state->phase > MERGE_ROWS; i++)
			if (passed[i] != segments[i].nrows)
				broken(check, check->meta.merges[number].block,
					   "A merge has other rows than its segments.");
		pfree(numbers[0]);
	}
	pfree(segments);
	pfree(state);
}

static void
check_pending_page(Check *check, BlockNumber block)
{
	uint32		end = MAXALIGN(SizeOfPageHeaderData);

	for (int i = 0; i < pending_count((Page) check->page); i++)
	{
		const PendingHead *head = pending_head((Page) check->page, i);
		const PendingRow *row = pending_row(check->index, (Page) check->page,
											head);
		KeysBitmap	bitmap = keys_bitmap(row->keys, row->nkeys);
		IndexedRow	live = {
			.order = row->order,.size = head->size,.tid = row->tid,
			.spec = head->spec
		};

		if (memcmp(&head->bitmap, &bitmap, sizeof(KeysBitmap)) != 0 ||
			head->offset != end || (row->nkeys == 0) != (head->size == 0))
			broken(check, block, "A pending row is damaged.");
		tid_require(check->index, block, &row->tid);
		put_row(check, &live, sum_of(row->keys, row->nkeys), false);
		end += PENDING_ROW_BYTES(row->nkeys);
	}
	if (end != ((PageHeader) check->page)->pd_lower)
		broken(check, block, "A pending row cannot be read.");
}

static void
check_index(Check *check)
{
	const IndexMeta *meta = &check->meta;

	merge_lock(check->index);
	meta_copy(check->index, &check->meta);
	pause_at(PAUSE_CHECK);
	for (uint32 i = 0; i < meta->nsegments; i++)
		check_segment(check, &meta->segments[i]);
	for (int i = 0; i < MAX_MERGES; i++)
		check_merge(check, i);
	for (uint64 place = meta->pending_first; place < meta->pending_end;
		 place++)
	{
		BlockNumber block = meta->pending[place % MAX_PENDING_PAGES];

		page_require(&check->store, block, PENDING_OWNER(place), check->page);
		check_pending_page(check, block);
	}
	merge_unlock(check->index);
}

/* The table */

static void
check_heap_row(Relation index, ItemPointer tid, Datum *values, bool *isnull,
			   bool alive, void *state)
{
	Check	   *check = state;
	MemoryContext old = MemoryContextSwitchTo(check->row);
	IndexedRow	row;

	indexed_row_set(&row, isnull[0] ? NULL :
					indexed_signature(index, values[0]));
	row.tid = *tid;
	MemoryContextSwitchTo(old);
	put_row(check, &row, sum_of(row.keys, row.nkeys), true);
	MemoryContextReset(check->row);
}

/*
 * Raise an error unless rows that the snapshot sees have to be in the index.
 */
static void
require_complete(Relation index, Snapshot snapshot)
{
	const		FormData_pg_index *form = index->rd_index;
	TransactionId made = HeapTupleHeaderGetXmin(index->rd_indextuple->t_data);

	if (!form->indisvalid)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("index \"%s\" is not valid",
						RelationGetRelationName(index)),
				 errdetail("It may lack rows of the table."),
				 errhint("Use REINDEX.")));
	if (IsolationUsesXactSnapshot() && form->indcheckxmin &&
		!TransactionIdPrecedes(made, snapshot->xmin))
		ereport(ERROR,
				(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				 errmsg("index \"%s\" cannot be checked against rows that the transaction's snapshot sees",
						RelationGetRelationName(index)),
				 errdetail("It was created after the snapshot."),
				 errhint("Check it in another transaction.")));
}

/*
 * Add the rows that the snapshot sees.  Expressions of the index run as the
 * table's owner, who may have written them: see amcheck.
 */
static void
read_heap(Check *check, Relation heap, Snapshot snapshot)
{
	OwnerWork	work;
	IndexInfo  *info;
	TableScanDesc scan = table_beginscan_strat(heap, snapshot, 0, NULL, true,
											   true);

	owner_begin(&work, heap);
	info = BuildIndexInfo(check->index);
	check->row = AllocSetContextCreate(CurrentMemoryContext, "neardup row",
									   ALLOCSET_DEFAULT_SIZES);
	info->ii_Concurrent = true; /* rows as the snapshot sees them */
	info->ii_Unique = false;
	(void) table_index_build_scan(heap, check->index, info, true, false,
								  check_heap_row, check, scan);
	owner_end(&work);
}

static void
row_is_broken(Check *check, uint64 place, const char *rule)
{
	ereport(ERROR,
			(errcode(ERRCODE_INDEX_CORRUPTED),
			 errmsg("row (%u,%u) is %s index \"%s\"",
					(uint32) (place >> 17), (uint32) (place >> 1 & 0xffff),
					rule, RelationGetRelationName(check->index)),
			 errhint("Use REINDEX.")));
}

/* Compare the sorted fingerprints; returns how many rows the index has. */
static int64
compare_fingerprints(Check *check)
{
	TupleTableSlot *slot =
	MakeSingleTupleTableSlot(check->slot->tts_tupleDescriptor,
							 &TTSOpsMinimalTuple);
	uint64		before = PG_UINT64_MAX;
	uint64		sum = 0;
	int64		n = 0;

	tuplesort_performsort(check->fingerprints);
	while (tuplesort_gettupleslot(check->fingerprints, true, false, slot,
								  NULL))
	{
		uint64		place;
		uint64		here;

		CHECK_FOR_INTERRUPTS();
		slot_getallattrs(slot);
		place = DatumGetInt64(slot->tts_values[COLUMN_PLACE]);
		here = DatumGetInt64(slot->tts_values[COLUMN_SUM]);
		if ((place & 1) == 0)
		{
			if (place == before)
				row_is_broken(check, place, "twice in");
			before = place;
			sum = here;
			n++;
		}
		else if ((place ^ 1) != before)
			row_is_broken(check, place, "missing from");
		else if (here != sum)
			row_is_broken(check, place, "different in");
	}
	ExecDropSingleTupleTableSlot(slot);
	tuplesort_end(check->fingerprints);
	return n;
}

PG_FUNCTION_INFO_V1(neardup_index_check);

/* (index regclass, heapallindexed boolean) */
Datum
neardup_index_check(PG_FUNCTION_ARGS)
{
	Oid			indexid = PG_GETARG_OID(0);
	bool		all = PG_GETARG_BOOL(1);
	Oid			heapid = IndexGetRelation(indexid, true);
	Relation	heap = OidIsValid(heapid) ?
	table_open(heapid, AccessShareLock) : NULL;
	Check	   *check = palloc0(sizeof(Check));
	Snapshot	snapshot = RegisterSnapshot(GetTransactionSnapshot());
	int64		nrows;

	if (RecoveryInProgress())
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("an index cannot be checked during recovery"),
				 errdetail("It may change meanwhile."),
				 errhint("Check it on the primary, or once the standby has been promoted.")));
	check->index = check->store.index = index_open_neardup(indexid);
	if (all)
		require_complete(check->index, snapshot);
	check->page = palloc(BLCKSZ);
	check->filter_page = palloc(BLCKSZ);
	begin_fingerprints(check);
	check_index(check);
	if (all)
		read_heap(check, heap, snapshot);
	nrows = compare_fingerprints(check);
	UnregisterSnapshot(snapshot);
	index_close(check->index, AccessShareLock);
	if (heap != NULL)
		table_close(heap, AccessShareLock);
	PG_RETURN_INT64(nrows);
}
