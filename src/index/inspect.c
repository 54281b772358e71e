/*
 * inspect.c
 *		SQL functions that show the segments and merges of an index, and the
 *		counters of its scans in this session.
 */
#include "postgres.h"

#include "access/genam.h"
#include "catalog/pg_type.h"
#include "funcapi.h"
#include "storage/bufmgr.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"
#include "utils/tuplestore.h"

#include "base/compat.h"
#include "base/settings.h"
#include "index/access.h"
#include "index/index_search.h"
#include "index/segments.h"

PG_FUNCTION_INFO_V1(neardup_index_segments);
PG_FUNCTION_INFO_V1(neardup_index_merges);
PG_FUNCTION_INFO_V1(neardup_index_counters);

/* Segments */

/* Return a row about a segment. */
static void
put_segment(ReturnSetInfo *result, const SegmentInfo *segment)
{
	Datum		values[] = {
		Int64GetDatum((int64) segment->segment_id),
		Int64GetDatum(segment->nrows),
		Int64GetDatum(segment->ndead),
		Int64GetDatum(segment->nkeys),
		Int64GetDatum((int64) segment->npostings),
		Int64GetDatum(segment->npages)
	};
	bool		nulls[lengthof(values)] = {segment->segment_id == 0};

	tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}

/*
 * Describe the pending rows as a segment without an id.  Its keys are not
 * counted.
 */
static SegmentInfo
count_pending(Relation index, const IndexMeta *meta)
{
	PageStore	store = {.index = index};
	SegmentInfo pending = {0};
	char	   *page = palloc(BLCKSZ);

	for (uint64 place = meta->pending_first; place < meta->pending_end;
		 place++)
	{
		if (!page_copy(&store, meta->pending[place % MAX_PENDING_PAGES],
					   PENDING_OWNER(place), page))
			continue;			/* flushed meanwhile */
		pending.npages++;
		for (int i = 0; i < pending_count((Page) page); i++)
		{
			pending.nrows++;
			pending.npostings += pending_row(index, (Page) page,
											 pending_head((Page) page,
														  i))->nkeys;
		}
	}
	pfree(page);
	return pending;
}

/* (index regclass) */
Datum
neardup_index_segments(PG_FUNCTION_ARGS)
{
	Relation	index = index_open_neardup(PG_GETARG_OID(0));
	IndexMeta  *meta = meta_read(index);
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	SegmentInfo pending;

	InitMaterializedSRF(fcinfo, 0);
	for (uint32 i = 0; i < meta->nsegments; i++)
		put_segment(result, &meta->segments[i]);
	pending = count_pending(index, meta);
	put_segment(result, &pending);
	index_close(index, AccessShareLock);
	return (Datum) 0;
}

/* Merges */

/* Return a row about a merge in steps. */
static void
put_merge(ReturnSetInfo *result, const IndexMeta *meta, int number,
		  const MergeState *state)
{
	static const char *const phases[] = {"rows", "lists", "finish", "release"};
	SegmentInfo *segments = palloc(MAX_SEGMENTS * sizeof(SegmentInfo));
	const SegmentInfo *output = &state->writer.info;
	uint32		n = merge_segments(meta, number, segments);
	Datum		numbers[MAX_SEGMENTS];
	uint64		rows = 0;
	uint64		postings = 0;
	Datum		values[9];

	/* in phase release the merged segments are gone */
	bool		nulls[lengthof(values)] = {[7] = n == 0,[8] = n == 0};

	for (uint32 i = 0; i < n; i++)
	{
		numbers[i] = Int64GetDatum((int64) segments[i].segment_id);
		rows += segments[i].nrows;
		postings += segments[i].npostings;
	}
	values[0] = Int64GetDatum((int64) output->segment_id);
	values[1] =
		PointerGetDatum(construct_array(numbers, n, INT8OID, sizeof(int64),
										FLOAT8PASSBYVAL,
										TYPALIGN_DOUBLE));
	values[2] =
		CStringGetTextDatum(phases[Min(Max(state->phase, 1),
									   lengthof(phases)) - 1]);
	values[3] = Int64GetDatum(output->nrows);
	values[4] = Int64GetDatum(output->nkeys);
	values[5] = Int64GetDatum((int64) output->npostings);
	values[6] = Int64GetDatum(output->npages);
	values[7] = Int64GetDatum((int64) rows);
	values[8] = Int64GetDatum((int64) postings);
	tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	pfree(segments);
}

/*
 * True if the merge of a slot has ended since the metapage was copied: its
 * pages may belong to something else by now.
 */
static bool
has_ended(Relation index, const IndexMeta *meta, int number)
{
	IndexMeta  *now = meta_read(index);
	bool		ended = now->merges[number].segment_id !=
	meta->merges[number].segment_id;

	pfree(now);
	return ended;
}

/*
 * Read the state of a merge without a lock on the metapage.  False if there is
 * none, or if it has ended.
 */
static bool
read_state(Relation index, const IndexMeta *meta, int number,
		   MergeState *state)
{
	const MergeSlot *slot = &meta->merges[number];
	PageStore	store = {.index = index};
	PGAlignedBlock page;

	if (slot->segment_id == 0)
		return false;
	if (page_copy(&store, slot->block, MERGE_OWNER(slot->segment_id),
				  page.data) &&
		PAGE_TAIL(page.data)->kind == PAGE_MERGE)
	{
		memcpy(state, PageGetContents(page.data), sizeof(MergeState));
		return true;
	}
	if (!has_ended(index, meta, number))
		index_corrupt(index, slot->block, "It is not the state of a merge.");
	return false;
}

/* (index regclass) */
Datum
neardup_index_merges(PG_FUNCTION_ARGS)
{
	Relation	index = index_open_neardup(PG_GETARG_OID(0));
	MergeState *state = palloc(sizeof(MergeState));
	const IndexMeta *meta = meta_read(index);

	InitMaterializedSRF(fcinfo, 0);
	pause_at(PAUSE_INSPECT);
	for (int i = 0; i < MAX_MERGES; i++)
		if (read_state(index, meta, i, state))
			put_merge((ReturnSetInfo *) fcinfo->resultinfo, meta, i, state);
	index_close(index, AccessShareLock);
	return (Datum) 0;
}

/* Counters */

static HTAB *counted_indexes = NULL;

SearchCounters *
search_counters(Oid index)
{
	SearchCounters *counters;
	bool		found;

	if (counted_indexes == NULL)
	{
		HASHCTL		control = {
			.keysize = sizeof(Oid),.entrysize = sizeof(SearchCounters),
			.hcxt = TopMemoryContext
		};

		counted_indexes = hash_create("neardup index counters", 16, &control,
									  HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	}
	counters = hash_search(counted_indexes, &index, HASH_ENTER, &found);
	if (!found)
		*counters = (SearchCounters)
	{
		.index = index
	};
	return counters;
}

void
search_counters_add(SearchCounters *to, const SearchCounters *now,
					const SearchCounters *before)
{
	to->passes += now->passes - before->passes;
	to->pages += now->pages - before->pages;
	to->keys += now->keys - before->keys;
	to->postings += now->postings - before->postings;
	to->candidates += now->candidates - before->candidates;
}

/* (reset boolean): return the counters, and reset them if `reset` */
Datum
neardup_index_counters(PG_FUNCTION_ARGS)
{
	bool		reset = PG_GETARG_BOOL(0);
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	HASH_SEQ_STATUS sequence;
	SearchCounters *counters;

	InitMaterializedSRF(fcinfo, 0);
	if (counted_indexes == NULL)
		return (Datum) 0;
	hash_seq_init(&sequence, counted_indexes);
	while ((counters = hash_seq_search(&sequence)) != NULL)
	{
		Datum		values[] = {
			ObjectIdGetDatum(counters->index),
			Int64GetDatum((int64) counters->scans),
			Int64GetDatum((int64) counters->passes),
			Int64GetDatum((int64) counters->pages),
			Int64GetDatum((int64) counters->keys),
			Int64GetDatum((int64) counters->postings),
			Int64GetDatum((int64) counters->candidates),
			Int64GetDatum((int64) counters->rows)
		};
		bool		nulls[lengthof(values)] = {false};

		if (counters->scans > 0)
			tuplestore_putvalues(result->setResult, result->setDesc, values,
								 nulls);
		if (reset)
			*counters = (SearchCounters)
		{
			.index = counters->index
		};
	}
	return (Datum) 0;
}
