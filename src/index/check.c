/*
 * check.c
 *		Functions that check an index of access method neardup, and show what
 *		it consists of.
 *
 * Checking reads all of it under the merge lock: insertions go on, but for
 * flushes.  Of each row it takes a sum of its keys, from whatever pages they
 * are on, and of its order and spec, to be compared with the table's.  Memory
 * is bounded: rows of a large segment are taken in stretches, for each of which
 * all lists are read, and sorted by their places, as those of the table are.
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
#include "catalog/pg_type.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/tuplestore.h"

#include "base/arguments.h"
#include "base/hash.h"
#include "base/interrupts.h"
#include "base/owner.h"
#include "base/pause.h"
#include "index/access.h"
#include "index/checked_filter.h"
#include "index/checked_merge.h"
#include "index/checked_rows.h"
#include "index/directory.h"
#include "index/pending.h"
#include "index/postings.h"
#include "index/steps.h"

typedef struct Check
{
	Relation	index;
	PageStore	store;
	IndexMeta meta;
	const SegmentInfo *segment; /* at hand */
	uint32		most;			/* rows in a stretch */
	uint32		first;			/* stretch of the segment's rows: from this one */
	uint32		end;			/* to before that */
	BlockNumber block;			/* page of its first row */
	ForwardEntry last;			/* row before the stretch */
	ForwardEntry *rows;			/* of the stretch */
	uint32	   *nkeys;			/* lists that each row is in */
	uint64	   *sums;
	char	   *page;
	CheckedRows indexed;		/* live rows of the index */
	CheckedRows expected;		/* rows of the table */
	MemoryContext row;			/* reset for each row of the table */
} Check;

static void
broken(Check *check, BlockNumber block, const char *rule)
{
	index_corrupt(check->index, block, rule);
}

/* Rows of the index */

static void
note_live(Check *check, ItemPointerData tid, uint32 size, uint32 nkeys,
		  uint64 sum)
{
	CheckedRow	row = {tid, size, nkeys, sum};

	checked_rows_put(&check->indexed, &row);
}

/* What is to be as in the table, beside the keys. */
static uint64
sum_of_rest(uint64 order, uint16 spec)
{
	return mix64(mix64(order) + spec);
}

static bool
spec_is_known(const Check *check, uint16 spec)
{
	return spec < check->meta.nspecs ?
		!spec_is_spare(&check->meta.specs[spec]) :
		spec == SPEC_OTHER || spec == SPEC_NULL || spec == SPEC_DEAD;
}

/* Whether a row may have so many keys; of a vector the size does not tell. */
static bool
keys_are_possible(const Check *check, uint16 spec, uint32 nkeys, uint32 size)
{
	if ((nkeys == 0) != (size == 0))
		return false;
	return nkeys <= size || spec >= check->meta.nspecs ||
		spec_indexes_vector(&check->meta.specs[spec]);
}

/* Reads the rows of the stretch; each page is to be found by its first one and its last. */
static void
read_rows(Check *check)
{
	const SegmentInfo *segment = check->segment;
	DirectoryPath path;
	uint32		n = check->first;

	directory_open(&path, &check->store, segment->owner, segment->forward,
				   NULL);
	while (n < check->end)
	{
		BlockNumber block = check->block;
		BlockNumber first;
		BlockNumber last;
		uint32		here;

		if (block == InvalidBlockNumber)
			broken(check, META_BLOCK, "A segment has fewer rows.");
		page_require(&check->store, block, segment->owner, check->page);
		here = (((PageHeader) check->page)->pd_lower -
				MAXALIGN(SizeOfPageHeaderData)) / sizeof(ForwardEntry);
		if (PAGE_TAIL(check->page)->kind != PAGE_FORWARD ||
			here != Min(segment->nrows - n, FORWARD_PER_PAGE))
			broken(check, block, "It has not the rows that the metapage tells of.");
		if (!directory_find(&path, n, &first) || first != block ||
			!directory_find(&path, n + here - 1, &last) || last != block)
			broken(check, block, "Its rows are not found by the directory.");
		memcpy(check->rows + (n - check->first), PageGetContents(check->page),
			   here * sizeof(ForwardEntry));
		n += here;
		check->block = PAGE_TAIL(check->page)->next;
	}
	directory_close(&path);
}

/* Their specs and their order; how many are dead. */
static uint32
check_rows(Check *check)
{
	uint32		ndead = 0;

	for (uint32 i = 0; i < check->end - check->first; i++)
	{
		const ForwardEntry *row = &check->rows[i];
		const ForwardEntry *before = i > 0 ? row - 1 : &check->last;

		CHECK_EVERY(i);
		tid_require(check->index, check->segment->first, &row->tid);
		ndead += row->spec == SPEC_DEAD;
		if (!spec_is_known(check, row->spec))
			broken(check, check->segment->first, "A row is of an unknown spec.");
		if (row->spec != SPEC_DEAD && row->spec != SPEC_NULL &&
			(check->segment->specs & SPEC_BIT(row->spec)) == 0)
			broken(check, META_BLOCK, "A row is of a spec that its segment does not tell of.");
		if (row->order_high < before->order_high ||
			(row->order_high == before->order_high &&
			 row->order_low < before->order_low))
			broken(check, check->segment->first, "Rows are out of order.");
	}
	return ndead;
}

/* Whether a row has its first key for an order. */
static bool
is_ordered_by_key(const Check *check, uint16 spec)
{
	return spec < check->meta.nspecs &&
		!spec_indexes_value(&check->meta.specs[spec]);
}

/* What a list tells of rows of the stretch, from first to before end. */
static void
add_key(Check *check, const ListStream *lists, uint32 first, uint32 end)
{
	uint64		hash = mix64(lists->key);

	for (uint32 i = first - check->first; i < end - check->first; i++)
	{
		if (check->nkeys[i] == 0 && check->rows[i].order_high != lists->key &&
			is_ordered_by_key(check, check->rows[i].spec))
			broken(check, lists->block, "A row has another first key.");
		check->nkeys[i]++;
		check->sums[i] += hash;
	}
}

/* One list: rising runs that do not touch. */
static void
check_list(Check *check, const ListStream *lists)
{
	const Runs *runs = &lists->runs;

	for (size_t i = 0; i < runs->n; i++)
	{
		uint32		first = Max(runs->first[i], check->first);
		uint32		end = Min(runs->end[i], check->end);

		CHECK_EVERY(i);
		if (i > 0 && runs->first[i] <= runs->end[i - 1])
			broken(check, lists->block, "Runs of a list touch.");
		if (first < end)
			add_key(check, lists, first, end);
	}
}

/* That look-ups of the keys at both ends of a page of lists come to it. */
static void
check_directory(Check *check, DirectoryPath *path, const ListStream *before,
				const ListStream *lists)
{
	const ListStream *ends[] = {before, lists};

	for (int i = 0; i < lengthof(ends); i++)
	{
		BlockNumber found;

		if (!ends[i]->done &&
			(!directory_find(path, ends[i]->key, &found) ||
			 found != ends[i]->key_block))
			broken(check, ends[i]->key_block,
				   "Its keys are not found by the directory.");
	}
}

static uint64
count_postings(const Runs *runs)
{
	uint64		n = 0;

	for (size_t i = 0; i < runs->n; i++)
		n += runs->end[i] - runs->first[i];
	return n;
}

/*
 * All lists, for the stretch.  With the first one, how they are found is checked,
 * too.
 */
static void
check_lists(Check *check)
{
	const SegmentInfo *segment = check->segment;
	bool		first = check->first == 0;
	ListStream	lists;
	ListStream	before = {.done = true};
	DirectoryPath path;
	CheckedFilter filter;
	uint64		nkeys = 0;
	uint64		npostings = 0;

	directory_open(&path, &check->store, segment->owner, segment->postings,
				   NULL);
	checked_filter_begin(&filter, &check->store, segment);
	for (lists_open(&lists, &check->store, segment); !lists.done;
		 before = lists, lists_next(&lists))
	{
		uint64		postings = count_postings(&lists.runs);

		if (nkeys++ > 0 && lists.key <= before.key)
			broken(check, lists.block, "Keys are out of order.");
		npostings += postings;
		check_list(check, &lists);
		if (!first)
			continue;
		if (before.done || lists.key_block != before.key_block)
			check_directory(check, &path, &before, &lists);
		checked_filter_key(&filter, lists.key, postings > 1, lists.is_long);
	}
	check_directory(check, &path, &before, &lists);
	if (first)
		checked_filter_end(&filter);
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

/* The stretch is read, checked, and its live rows are noted; how many are dead. */
static uint32
check_stretch(Check *check)
{
	uint32		n = check->end - check->first;
	uint32		ndead;

	memset(check->nkeys, 0, n * sizeof(uint32));
	memset(check->sums, 0, n * sizeof(uint64));
	read_rows(check);
	ndead = check_rows(check);
	check_lists(check);
	for (uint32 i = 0; i < n; i++)
	{
		const ForwardEntry *row = &check->rows[i];

		CHECK_EVERY(i);
		if (!keys_are_possible(check, row->spec, check->nkeys[i], row->size))
			broken(check, check->segment->first, "A row has more or fewer keys than its size tells.");
		if (row->spec != SPEC_DEAD)
			note_live(check, row->tid, row->size, check->nkeys[i],
					  check->sums[i] + sum_of_rest(forward_order(row), row->spec));
	}
	check->last = check->rows[n - 1];
	return ndead;
}

static void
check_segment(Check *check, const SegmentInfo *segment)
{
	uint32		ndead = 0;

	check->segment = segment;
	check->block = segment->first;
	check_chain(check);
	memset(&check->last, 0, sizeof(ForwardEntry));
	for (check->first = 0; check->first < segment->nrows; check->first = check->end)
	{
		check->end = check->first + Min(segment->nrows - check->first, check->most);
		ndead += check_stretch(check);
	}
	/* a server that stops in the midst of VACUUM may have marked some that are not counted */
	if (ndead < segment->ndead)
		broken(check, META_BLOCK, "It miscounts dead rows.");
}

/* All segments; stretches are of as many rows as memory has room for. */
static void
check_segments(Check *check, size_t memory)
{
	size_t		bytes = sizeof(ForwardEntry) + sizeof(uint32) + sizeof(uint64);
	size_t		pages = Max(memory / bytes / FORWARD_PER_PAGE, 1);
	uint32		most = 0;

	for (uint32 i = 0; i < check->meta.nsegments; i++)
		most = Max(most, check->meta.segments[i].nrows);
	check->most = Min(pages * FORWARD_PER_PAGE, most);
	check->rows = palloc_extended(check->most * sizeof(ForwardEntry),
								  MCXT_ALLOC_HUGE);
	check->nkeys = palloc_extended(check->most * sizeof(uint32), MCXT_ALLOC_HUGE);
	check->sums = palloc_extended(check->most * sizeof(uint64), MCXT_ALLOC_HUGE);
	for (uint32 i = 0; i < check->meta.nsegments; i++)
		check_segment(check, &check->meta.segments[i]);
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

/* A row that came since the metapage was read may be of a spec that came with it. */
static void
read_specs(Check *check)
{
	IndexMeta *now = palloc(sizeof(IndexMeta));

	meta_copy(check->index, now);
	check->meta.nspecs = now->nspecs;
	memcpy(check->meta.specs, now->specs, sizeof(now->specs));
	pfree(now);
}

static void
check_pending(Check *check)
{
	const IndexMeta *meta = &check->meta;

	for (uint64 place = meta->pending_first; place < meta->pending_end; place++)
	{
		BlockNumber block = meta->pending[place % MAX_PENDING_PAGES];
		uint32		end = MAXALIGN(SizeOfPageHeaderData);

		page_require(&check->store, block, PENDING_OWNER(place), check->page);
		read_specs(check);
		for (int i = 0; i < pending_count((Page) check->page); i++)
		{
			const PendingHead *head = pending_head((Page) check->page, i);
			const PendingRow *row = pending_row(check->index,
												(Page) check->page, head);
			KeysBitmap	bitmap = keys_bitmap(row->keys, row->nkeys);

			if (memcmp(&head->bitmap, &bitmap, sizeof(KeysBitmap)) != 0 ||
				head->offset != end ||
				!spec_is_known(check, head->spec) ||
				!keys_are_possible(check, head->spec, row->nkeys, head->size))
				broken(check, block, "A pending row is damaged.");
			tid_require(check->index, block, &row->tid);
			note_live(check, row->tid, head->size, row->nkeys,
					  sum_of(row->keys, row->nkeys) +
					  sum_of_rest(row->order, head->spec));
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
	Signature  *sig = isnull[0] ? NULL : indexed_signature(index, values[0]);
	IndexedRow expected;
	CheckedRow	row;

	indexed_row_set(&expected, sig);
	(void) spec_number(&check->meta, sig != NULL ? &sig->spec : NULL,
						 &expected.spec);
	row.tid = *tid;
	row.size = expected.size;
	row.nkeys = expected.nkeys;
	row.sum = sum_of(expected.keys, expected.nkeys) +
		sum_of_rest(expected.order, expected.spec);
	MemoryContextSwitchTo(old);
	MemoryContextReset(check->row);
	checked_rows_put(&check->expected, &row);
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

/*
 * Takes the rows that the snapshot sees, which are to be in the index.  What it is of
 * is worked out as the table's owner, who may have written it: see amcheck.
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

/* Both */

static void
row_is_broken(Check *check, const CheckedRow *row, const char *rule)
{
	ereport(ERROR,
			(errcode(ERRCODE_INDEX_CORRUPTED),
			 errmsg("row (%u,%u) is %s index \"%s\"",
					ItemPointerGetBlockNumberNoCheck(&row->tid),
					ItemPointerGetOffsetNumberNoCheck(&row->tid),
					rule, RelationGetRelationName(check->index)),
			 errhint("Use REINDEX.")));
}

static bool
same_row(const CheckedRow *a, const CheckedRow *b)
{
	return a->size == b->size && a->nkeys == b->nkeys && a->sum == b->sum;
}

/*
 * That no row is twice in the index, and those of the table are there, where
 * they were read; how many the index has.
 */
static int64
compare_rows(Check *check, bool all)
{
	CheckedRow	row;
	CheckedRow	before;
	CheckedRow	expected;
	bool		more = all && checked_rows_next(&check->expected, &expected);
	int64		n = 0;

	for (; checked_rows_next(&check->indexed, &row); before = row)
	{
		if (n++ > 0 && ItemPointerEquals(&row.tid, &before.tid))
			row_is_broken(check, &row, "twice in");
		while (more && ItemPointerCompare(&expected.tid, &row.tid) <= 0)
		{
			if (!ItemPointerEquals(&expected.tid, &row.tid))
				row_is_broken(check, &expected, "missing from");
			if (!same_row(&expected, &row))
				row_is_broken(check, &row, "another one in");
			more = checked_rows_next(&check->expected, &expected);
		}
	}
	if (more)
		row_is_broken(check, &expected, "missing from");
	return n;
}

/* Opening */

static Relation
open_index(Oid indexid, LOCKMODE lock)
{
	Relation	index = argument_relation(indexid, lock);

	if (index->rd_rel->relkind == RELKIND_PARTITIONED_INDEX)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("index \"%s\" is partitioned, and has no pages of its own",
						RelationGetRelationName(index)),
				 errhint("Ask for each of those in pg_partition_tree() that are leaves.")));
	if (!index_is_neardup(index))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is not an index of access method neardup",
						RelationGetRelationName(index))));
	if (!index->rd_index->indisready)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("index \"%s\" is not ready",
						RelationGetRelationName(index)),
				 errdetail("It is being made, or that was broken off."),
				 errhint("Use REINDEX, or drop it.")));
	return index;
}

static void
check_index(Check *check, size_t memory)
{
	merge_lock(check->index);
	meta_copy(check->index, &check->meta);
	pause_at(PAUSE_CHECK);
	check_segments(check, memory);
	for (int i = 0; i < MAX_MERGES; i++)
		checked_merge(check->index, &check->meta, i);
	check_pending(check);
	merge_unlock(check->index);
}

/* All checks, in half the memory for each of two things; how many rows. */
static int64
check_all(Check *check, Relation heap, Snapshot snapshot)
{
	size_t		memory = (size_t) maintenance_work_mem * 1024 / 2;
	int64		n;

	checked_rows_begin(&check->indexed, memory);
	check_index(check, memory);
	checked_rows_sort(&check->indexed);
	if (heap != NULL)
	{
		checked_rows_begin(&check->expected, memory);
		read_heap(check, heap, snapshot);
		checked_rows_sort(&check->expected);
	}
	n = compare_rows(check, heap != NULL);
	checked_rows_end(&check->indexed);
	if (heap != NULL)
		checked_rows_end(&check->expected);
	return n;
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
	int64		nrows;

	if (RecoveryInProgress())
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("an index cannot be checked during recovery"),
				 errdetail("It may change meanwhile."),
				 errhint("Check it on the primary, or once the standby has been promoted.")));
	check->index = check->store.index = open_index(indexid, AccessShareLock);
	if (all)
		require_complete(check->index, snapshot);
	check->page = palloc(BLCKSZ);
	nrows = check_all(check, all ? heap : NULL, snapshot);
	UnregisterSnapshot(snapshot);
	index_close(check->index, AccessShareLock);
	if (heap != NULL)
		table_close(heap, AccessShareLock);
	PG_RETURN_INT64(nrows);
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
count_pending(Relation index, const IndexMeta *meta)
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
	IndexMeta *meta = palloc(sizeof(IndexMeta));
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

static Datum
segment_numbers(const SegmentInfo *segments, uint32 n)
{
	Datum	   *numbers = palloc(Max(n, 1) * sizeof(Datum));

	for (uint32 i = 0; i < n; i++)
		numbers[i] = Int64GetDatum((int64) segments[i].owner);
	return PointerGetDatum(construct_array(numbers, n, INT8OID, sizeof(int64),
										   FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
}

/* What several segments have, keys not counted. */
static SegmentInfo
sum_segments(const SegmentInfo *segments, uint32 n)
{
	SegmentInfo sum = {0};

	for (uint32 i = 0; i < n; i++)
	{
		sum.nrows += segments[i].nrows;
		sum.npostings += segments[i].npostings;
	}
	return sum;
}

static void
put_merge(ReturnSetInfo *result, const IndexMeta *meta, int number,
		  const MergeState *state)
{
	static const char *const phases[] = {"rows", "lists", "finish", "release"};
	SegmentInfo *segments = palloc(MAX_SEGMENTS * sizeof(SegmentInfo));
	const SegmentInfo *output = &state->writer.info;
	uint32		n = steps_segments(meta, number, segments);
	SegmentInfo input = sum_segments(segments, n);
	Datum		values[] = {
		Int64GetDatum((int64) output->owner),
		segment_numbers(segments, n),
		CStringGetTextDatum(phases[Min(Max(state->phase, 1), lengthof(phases)) - 1]),
		Int64GetDatum(output->nrows),
		Int64GetDatum(output->nkeys),
		Int64GetDatum((int64) output->npostings),
		Int64GetDatum(output->npages),
		Int64GetDatum(input.nrows),
		Int64GetDatum((int64) input.npostings)
	};
	bool		nulls[lengthof(values)] = {false};

	/* in phase release, those that were merged are no more */
	nulls[lengthof(values) - 1] = nulls[lengthof(values) - 2] = n == 0;
	tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	pfree(segments);
}

PG_FUNCTION_INFO_V1(neardup_index_merges);

/* The metapage stays locked, so that states are those that it names. */
Datum
neardup_index_merges(PG_FUNCTION_ARGS)
{
	Relation	index = open_index(PG_GETARG_OID(0), AccessShareLock);
	MergeState *state = palloc(sizeof(MergeState));
	const IndexMeta *meta;
	Buffer		buffer;

	InitMaterializedSRF(fcinfo, 0);
	buffer = page_lock(index, META_BLOCK);
	meta = meta_of(index, BufferGetPage(buffer));
	for (int i = 0; i < MAX_MERGES; i++)
		if (steps_state(index, meta, i, state))
			put_merge((ReturnSetInfo *) fcinfo->resultinfo, meta, i, state);
	UnlockReleaseBuffer(buffer);
	index_close(index, AccessShareLock);
	return (Datum) 0;
}
