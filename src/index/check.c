/*
 * check.c
 *		neardup_index_check(): checks the structure of an index, and compares
 *		its rows with the table.
 *
 * The structure is checked page by page under the merge lock: insertions
 * continue, flushes wait.  Lists come first: the hash of each key is added to
 * the sums of its rows.  Then rows are read, and each row with its sum makes a
 * fingerprint.  Fingerprints of the index and of the table are sorted together
 * by the place of the row in the table.  Memory: eight bytes for each row of a
 * segment, and maintenance_work_mem.
 *
 * The output of an unfinished merge is checked when it is in place.  Until
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
	COLUMN_PLACE,				/* block, offset; lowest bit 1 = row of the
								 * table */
	COLUMN_SUM,
	COLUMN_COUNT
};

/* State of a check */
typedef struct IndexChecker
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
	uint64	   *sums;			/* sum of the hashes of the keys of each row */
	DirectoryPath filter;
	char	   *filter_page;
	BlockNumber filter_block;
	uint32		word;			/* next word of the filter to compare */
	uint64		bits;			/* bits that the keys so far have set */
} IndexChecker;

/* Raise INDEX_CORRUPTED with the broken rule as the detail. */
static void
broken(IndexChecker *checker, BlockNumber block, const char *rule)
{
	index_corrupt(checker->index, block, rule);
}

/* Fingerprints */

/* Begin to sort fingerprints by place. */
static void
begin_fingerprints(IndexChecker *checker)
{
	TupleDesc	desc = CreateTemplateTupleDesc(COLUMN_COUNT);
	AttrNumber	column = COLUMN_PLACE + 1;
	Oid			less = Int8LessOperator;
	Oid			collation = InvalidOid;
	bool		nulls_first = false;

	for (AttrNumber i = 1; i <= COLUMN_COUNT; i++)
		TupleDescInitEntry(desc, i, NULL, INT8OID, -1, 0);
	TupleDescFinalize(desc);
	checker->slot = MakeSingleTupleTableSlot(desc, &TTSOpsVirtual);
	checker->fingerprints = tuplesort_begin_heap(desc, 1, &column, &less,
												 &collation,
												 &nulls_first,
												 maintenance_work_mem,
												 NULL, TUPLESORT_NONE);
}

/* Add the fingerprint of a row of the index, or of the table. */
static void
put_row(IndexChecker *checker, const IndexedRow *row, uint64 sum,
		bool of_table)
{
	TupleTableSlot *slot = checker->slot;
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
	tuplesort_puttupleslot(checker->fingerprints, slot);
}

/* Return what a key adds to the sum of a row. */
static inline uint64
key_hash(uint32 key)
{
	return mix64((uint64) key + 1);
}

/* Return the sum of the hashes of a row's keys. */
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
 * Read the page of the next word.  The directory must find its first and its
 * last word.
 */
static void
read_filter_page(IndexChecker *checker)
{
	uint32		n = Min(FILTER_WORDS_PER_PAGE,
						checker->segment->filter_words - checker->word);
	BlockNumber last;

	if (!directory_find(&checker->filter, checker->word,
						&checker->filter_block) ||
		!directory_find(&checker->filter, checker->word + n - 1, &last) ||
		checker->filter_block == InvalidBlockNumber ||
		last != checker->filter_block)
		broken(checker, META_BLOCK, "A page of a filter is missing.");
	page_require(&checker->store, checker->filter_block,
				 checker->segment->segment_id,
				 checker->filter_page);
	if (PAGE_TAIL(checker->filter_page)->kind != PAGE_FILTER ||
		page_contents_size(checker->filter_page) != n * sizeof(uint64))
		broken(checker, checker->filter_block, "It is no page of a filter.");
}

/* Compare all words before `end`, which no further key can change. */
static void
compare_words(IndexChecker *checker, uint32 end)
{
	for (; checker->word < end; checker->word++)
	{
		uint32		place = checker->word % FILTER_WORDS_PER_PAGE;
		uint64		bits;

		CHECK_EVERY(checker->word);
		if (place == 0)
			read_filter_page(checker);
		bits = ((const uint64 *) PageGetContents(checker->filter_page))[place];
		if ((checker->bits & ~bits) != 0)
			broken(checker, checker->filter_block,
				   "The filter leaves a key out.");
		if (bits != checker->bits)
			broken(checker, checker->filter_block,
				   "The filter has a bit of no key.");
		checker->bits = 0;
	}
}

/* Add the bits of a key, and compare the words before its word. */
static void
check_filter_key(IndexChecker *checker, const ListStream *lists)
{
	uint32		key = lists->key;

	if (checker->segment->filter_words == 0)
		return;
	compare_words(checker, filter_word(key, checker->segment->filter_words));
	checker->bits |= filter_bits(key) | (lists->is_long ?
										 filter_long_bits(key) :
										 0);
}

/* Lists */

/*
 * Add a list's key to the sums of its rows.  Its runs must rise and not touch.
 * Returns the number of rows.
 */
static uint64
check_runs(IndexChecker *checker, const ListStream *lists)
{
	const Runs *runs = &lists->runs;
	uint64		hash = key_hash(lists->key);
	uint64		rows = 0;

	for (size_t i = 0; i < runs->n; i++)
	{
		CHECK_EVERY(i);
		if (i > 0 && runs->first[i] <= runs->end[i - 1])
			broken(checker, lists->block, "Runs of a list touch.");
		for (uint32 row = runs->first[i]; row < runs->end[i]; row++)
			checker->sums[row] += hash;
		rows += runs->end[i] - runs->first[i];
	}
	return rows;
}

/*
 * Raise INDEX_CORRUPTED unless the directory finds the page where the list of
 * a key begins.
 */
static void
check_found(IndexChecker *checker, DirectoryPath *path, uint32 key,
			BlockNumber block)
{
	BlockNumber found;

	if (!directory_find(path, key, &found) || found != block)
		broken(checker, block, "Its keys are not found by the directory.");
}

/* Check all lists of the segment, the directory over them, and the filter. */
static void
check_lists(IndexChecker *checker)
{
	const SegmentInfo *segment = checker->segment;
	ListStream	lists;
	DirectoryPath path;
	uint64		nkeys = 0;
	uint64		npostings = 0;
	uint32		key = 0;
	BlockNumber block = InvalidBlockNumber;

	directory_open(&path, &checker->store, segment->segment_id,
				   segment->postings,
				   NULL);
	directory_open(&checker->filter, &checker->store, segment->segment_id,
				   segment->filter, NULL);
	checker->word = 0;
	checker->bits = 0;
	for (lists_open(&lists, &checker->store, segment, 0); !lists.done;
		 lists_next(&lists))
	{
		uint64		rows = check_runs(checker, &lists);

		if (nkeys++ > 0 && lists.key <= key)
			broken(checker, lists.block, "Keys are out of order.");
		/* first key of a page, and last key of the page before it */
		if (lists.key_block != block)
		{
			check_found(checker, &path, lists.key, lists.key_block);
			if (BlockNumberIsValid(block))
				check_found(checker, &path, key, block);
		}
		check_filter_key(checker, &lists);
		npostings += rows;
		key = lists.key;
		block = lists.key_block;
	}
	if (BlockNumberIsValid(block))
		check_found(checker, &path, key, block);
	compare_words(checker, segment->filter_words);
	if (nkeys != segment->nkeys || npostings != segment->npostings)
		broken(checker, META_BLOCK, "It miscounts keys or postings.");
	lists_close(&lists);
	directory_close(&path);
	directory_close(&checker->filter);
}

/* Rows of a segment */

/*
 * Check a row.  *order is the order of the row before it.  True if it is live.
 */
static bool
check_row(IndexChecker *checker, BlockNumber block, const ForwardEntry *row,
		  uint64 *order, uint64 sum)
{
	IndexedRow	live = {
		.order = forward_order(row),.size = row->size,.tid = row->tid,
		.spec = row->spec
	};

	tid_require(checker->index, block, &row->tid);
	if (live.order < *order)
		broken(checker, block, "Rows are out of order.");
	if ((sum == 0) != (row->size == 0))
		broken(checker, block, "A row has no keys, or no size.");
	*order = live.order;
	if (row->spec == SPEC_DEAD)
		return false;
	put_row(checker, &live, sum, false);
	return true;
}

/*
 * Check a page of rows, whose first row has number n.  Returns how many it
 * has.
 */
static uint32
check_page_of_rows(IndexChecker *checker, DirectoryPath *path,
				   BlockNumber block,
				   uint32 n)
{
	const SegmentInfo *segment = checker->segment;
	BlockNumber first;
	BlockNumber last;
	uint32		here;

	if (block == InvalidBlockNumber)
		broken(checker, META_BLOCK, "A segment has fewer rows.");
	here = page_contents_size(checker->page) / sizeof(ForwardEntry);
	if (here != Min(segment->nrows - n, FORWARD_PER_PAGE))
		broken(checker, block,
			   "It has more or fewer rows than the metapage says.");
	if (!directory_find(path, n, &first) || first != block ||
		!directory_find(path, n + here - 1, &last) || last != block)
		broken(checker, block, "Its rows are not found by the directory.");
	return here;
}

/* Check all rows of the segment, and the directory over them. */
static void
check_rows(IndexChecker *checker)
{
	const SegmentInfo *segment = checker->segment;
	BlockNumber block = segment->first;
	DirectoryPath path;
	uint32		ndead = 0;
	uint64		order = 0;

	directory_open(&path, &checker->store, segment->segment_id,
				   segment->forward,
				   NULL);
	for (uint32 n = 0; n < segment->nrows;)
	{
		const ForwardEntry *rows =
		(const ForwardEntry *) PageGetContents(checker->page);
		uint32		here;

		block = chain_find(&checker->store, block, segment->segment_id,
						   PAGE_FORWARD,
						   checker->page);
		here = check_page_of_rows(checker, &path, block, n);

		for (uint32 i = 0; i < here; i++)
			ndead += !check_row(checker, block, &rows[i], &order,
								checker->sums[n + i]);
		block = PAGE_TAIL(checker->page)->next;
		n += here;
	}
	directory_close(&path);

	/* An interrupted VACUUM may have marked rows that it has not counted. */
	if (ndead < segment->ndead)
		broken(checker, META_BLOCK, "It miscounts dead rows.");
}

/*
 * Raise INDEX_CORRUPTED unless all pages of the chain belong to the segment.
 */
static void
check_chain(IndexChecker *checker)
{
	BlockNumber block = checker->segment->first;
	uint32		n = 0;

	for (; block != InvalidBlockNumber && n <= checker->segment->npages; n++)
	{
		page_require(&checker->store, block, checker->segment->segment_id,
					 checker->page);
		block = PAGE_TAIL(checker->page)->next;
	}
	if (n != checker->segment->npages)
		broken(checker, checker->segment->first,
			   "A segment has more or fewer pages.");
}

/* Check a segment. */
static void
check_segment(IndexChecker *checker, const SegmentInfo *segment)
{
	checker->segment = segment;
	check_chain(checker);
	checker->sums = palloc_extended(Max(segment->nrows, 1) * sizeof(uint64),
									MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	check_lists(checker);
	check_rows(checker);
	pfree(checker->sums);
}

/* Merges in steps, and pending rows */

/* Check the state of a merge, and its row map against its inputs. */
static void
check_merge(IndexChecker *checker, int number)
{
	MergeState *state = palloc(sizeof(MergeState));
	SegmentInfo *segments = palloc(MAX_SEGMENTS * sizeof(SegmentInfo));
	uint32		n = merge_segments(&checker->meta, number, segments);
	uint32		passed[MAX_SEGMENTS] = {0};

	if (!merge_state(checker->index, &checker->meta, number, state))
	{
		if (n > 0)
			broken(checker, META_BLOCK,
				   "A segment is in a merge that is not there.");
	}
	else if (state->phase < MERGE_ROWS || state->phase > MERGE_RELEASE ||
			 n != (state->phase == MERGE_RELEASE ? 0 : state->ninputs))
		broken(checker, checker->meta.merges[number].block,
			   "The state of a merge is damaged.");
	else if (n > 0)
	{
		uint32	  **numbers = merge_new_numbers(&checker->store, segments,
												state,
												passed);

		for (uint32 i = 0; i < n && state->phase > MERGE_ROWS; i++)
			if (passed[i] != segments[i].nrows)
				broken(checker, checker->meta.merges[number].block,
					   "A merge has other rows than its segments.");
		pfree(numbers[0]);
	}
	pfree(segments);
	pfree(state);
}

/* Check the rows of a pending page. */
static void
check_pending_page(IndexChecker *checker, BlockNumber block)
{
	uint32		end = MAXALIGN(SizeOfPageHeaderData);

	for (int i = 0; i < pending_count((Page) checker->page); i++)
	{
		const PendingHead *head = pending_head((Page) checker->page, i);
		const PendingRow *row = pending_row(checker->index,
											(Page) checker->page,
											head);
		KeysBitmap	bitmap = keys_bitmap(row->keys, row->nkeys);
		IndexedRow	live = {
			.order = row->order,.size = head->size,.tid = row->tid,
			.spec = head->spec
		};

		if (memcmp(&head->bitmap, &bitmap, sizeof(KeysBitmap)) != 0 ||
			head->offset != end || (row->nkeys == 0) != (head->size == 0))
			broken(checker, block, "A pending row is damaged.");
		tid_require(checker->index, block, &row->tid);
		put_row(checker, &live, sum_of(row->keys, row->nkeys), false);
		end += PENDING_ROW_BYTES(row->nkeys);
	}
	if (end != ((PageHeader) checker->page)->pd_lower)
		broken(checker, block, "A pending row cannot be read.");
}

/* Check the structure of the index, and collect its fingerprints. */
static void
check_index(IndexChecker *checker)
{
	const IndexMeta *meta = &checker->meta;

	merge_lock(checker->index);
	meta_copy(checker->index, &checker->meta);
	pause_at(PAUSE_CHECK);
	for (uint32 i = 0; i < meta->nsegments; i++)
		check_segment(checker, &meta->segments[i]);
	for (int i = 0; i < MAX_MERGES; i++)
		check_merge(checker, i);
	for (uint64 place = meta->pending_first; place < meta->pending_end;
		 place++)
	{
		BlockNumber block = meta->pending[place % MAX_PENDING_PAGES];

		page_require(&checker->store, block, PENDING_OWNER(place),
					 checker->page);
		check_pending_page(checker, block);
	}
	merge_unlock(checker->index);
}

/* The table */

/* Add the fingerprint of a row of the table. */
static void
check_heap_row(Relation index, ItemPointer tid, Datum *values, bool *isnull,
			   bool alive, void *state)
{
	IndexChecker *checker = state;
	MemoryContext old = MemoryContextSwitchTo(checker->row);
	IndexedRow	row;

	indexed_row_set(&row, isnull[0] ? NULL :
					indexed_signature(index, values[0]));
	row.tid = *tid;
	MemoryContextSwitchTo(old);
	put_row(checker, &row, sum_of(row.keys, row.nkeys), true);
	MemoryContextReset(checker->row);
}

/*
 * Raise an error unless the index must have all rows that the snapshot sees.
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
 * Add the rows that the snapshot sees.  Like in amcheck, expressions of the
 * index run as the owner of the table, who may have written them.
 */
static void
read_heap(IndexChecker *checker, Relation heap, Snapshot snapshot)
{
	OwnerWork	work;
	IndexInfo  *info;
	TableScanDesc scan = table_beginscan_strat(heap, snapshot, 0, NULL, true,
											   true);

	owner_begin(&work, heap);
	info = BuildIndexInfo(checker->index);
	checker->row = AllocSetContextCreate(CurrentMemoryContext, "neardup row",
										 ALLOCSET_DEFAULT_SIZES);
	info->ii_Concurrent = true; /* rows as the snapshot sees them */
	info->ii_Unique = false;
	(void) table_index_build_scan(heap, checker->index, info, true, false,
								  check_heap_row, checker, scan);
	owner_end(&work);
}

/* Raise INDEX_CORRUPTED for a row of the table. */
static void
row_is_broken(IndexChecker *checker, uint64 place, const char *rule)
{
	ereport(ERROR,
			(errcode(ERRCODE_INDEX_CORRUPTED),
			 errmsg("row (%u,%u) is %s index \"%s\"",
					(uint32) (place >> 17), (uint32) (place >> 1 & 0xffff),
					rule, RelationGetRelationName(checker->index)),
			 errhint("Use REINDEX.")));
}

/*
 * Compare the sorted fingerprints.  Returns the number of rows in the index.
 */
static int64
compare_fingerprints(IndexChecker *checker)
{
	TupleTableSlot *slot =
	MakeSingleTupleTableSlot(checker->slot->tts_tupleDescriptor,
							 &TTSOpsMinimalTuple);
	uint64		before = PG_UINT64_MAX;
	uint64		sum = 0;
	int64		n = 0;

	tuplesort_performsort(checker->fingerprints);
	while (tuplesort_gettupleslot(checker->fingerprints, true, false, slot,
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
				row_is_broken(checker, place, "twice in");
			before = place;
			sum = here;
			n++;
		}
		else if ((place ^ 1) != before)
			row_is_broken(checker, place, "missing from");
		else if (here != sum)
			row_is_broken(checker, place, "different in");
	}
	ExecDropSingleTupleTableSlot(slot);
	tuplesort_end(checker->fingerprints);
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
	IndexChecker *checker = palloc0(sizeof(IndexChecker));
	Snapshot	snapshot = RegisterSnapshot(GetTransactionSnapshot());
	int64		nrows;

	if (RecoveryInProgress())
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("an index cannot be checked during recovery"),
				 errdetail("It may change meanwhile."),
				 errhint("Check it on the primary, or once the standby has been promoted.")));
	checker->index = checker->store.index = index_open_neardup(indexid);
	if (all)
		require_complete(checker->index, snapshot);
	checker->page = palloc(BLCKSZ);
	checker->filter_page = palloc(BLCKSZ);
	begin_fingerprints(checker);
	check_index(checker);
	if (all)
		read_heap(checker, heap, snapshot);
	nrows = compare_fingerprints(checker);
	UnregisterSnapshot(snapshot);
	index_close(checker->index, AccessShareLock);
	if (heap != NULL)
		table_close(heap, AccessShareLock);
	PG_RETURN_INT64(nrows);
}
