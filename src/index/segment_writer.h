/*
 * segment_writer.h
 *		Writing and merging segments, at once or in steps.
 *
 * A step goes from segment_resume() to segment_pause().  Rows come first, then
 * lists in the order of their keys.  An aborted step is repeated, into the
 * same pages.
 */
#ifndef NEARDUP_SEGMENT_WRITER_H
#define NEARDUP_SEGMENT_WRITER_H

#include "index/pages.h"
#include "index/postings.h"
#include "index/row.h"

typedef struct SegmentWriter SegmentWriter;

/* Allocate the first page of a segment, for steps to begin with. */
extern void segment_create(PageStore *store, uint64 owner, WriterState *state);

/* Begin a step, in the current memory context. */
extern SegmentWriter *segment_resume(PageStore *store, WriterState *state);

/* Append a row; it gets the next number from 0 on. */
extern void segment_add_row(SegmentWriter *writer, const ForwardEntry *row);

/* True if the last page of rows is full, or there is none: a step may end. */
extern bool segment_rows_fill_page(const SegmentWriter *writer);

/* Set the size of the filter, after the last row: 0 keys for none. */
extern void segment_expect_keys(SegmentWriter *writer, uint64 keys);

/* Append the list of a key.  Runs rise, and no two touch. */
extern void segment_add_list(SegmentWriter *writer, uint32 key,
							 const Runs *runs);

/* Append a list of one row. */
extern void segment_add_single(SegmentWriter *writer, uint32 key, uint32 row);

/*
 * True if no key before this one has its bits on the same page of the filter.
 */
extern bool segment_begins_filter_page(const SegmentWriter *writer,
									   uint32 key);

/* End a step, and free the writer. */
extern void segment_pause(SegmentWriter *writer);

/* End the segment, and free the writer; return its entry for the metapage. */
extern SegmentInfo segment_end(SegmentWriter *writer);

/* Rows in memory, of which a segment is written at once */
typedef struct Batch
{
	ForwardEntry *rows;
	uint64	   *places;			/* of each row's keys in keys[] */
	uint32		nrows;
	size_t		rows_size;
	uint32	   *keys;
	uint64		total;			/* in keys[] */
	size_t		keys_size;
	MemoryContext context;		/* of the whole batch */
} Batch;

extern Batch *batch_create(void);
extern void batch_add(Batch *batch, const IndexedRow *row);
extern void batch_free(Batch *batch);

/* Bytes of memory of a batch, with those for writing it. */
extern uint64 batch_memory(const Batch *batch);

/* True if a batch has reached its limit of rows or keys. */
extern bool batch_full(const Batch *batch);

/* Write a segment of all rows, and empty the batch. */
extern SegmentInfo batch_write(Batch *batch, PageStore *store, uint64 owner);

/* The order of a row, and which row it is */
typedef struct RowOrder
{
	uint64		order;
	uint32		row;
} RowOrder;

/* Sort rows into the order in which segments have them. */
extern void sort_rows(RowOrder *rows, size_t n);

/* Merging segments, at once or in steps */

/*
 * Write a segment of the rows of others that are not dead, from one store to
 * another.
 */
extern SegmentInfo segments_merge(PageStore *from, const SegmentInfo *segments,
								  uint32 n, PageStore *to, uint64 owner);

/* The state of a merge in steps, of segments of an index. */
extern void merge_create(PageStore *store, uint64 owner,
						 const SegmentInfo *segments,
						 uint32 n, MergeState *state);

/*
 * Do a step with rows, or with lists, of about that many postings.  Sets the
 * phase of the state, which the caller writes.
 */
extern void merge_step(PageStore *store, const SegmentInfo *segments, uint32 n,
					   MergeState *state, uint64 most);

/*
 * The row map has a byte for each row that was merged, in the order of rows:
 * the number of its segment, with ROW_MAP_DROPPED if the row was dead.
 */
#define ROW_MAP_DROPPED		0x80
#define ROW_MAP_PER_PAGE	PAGE_ROOM

StaticAssertDecl(MAX_SEGMENTS < ROW_MAP_DROPPED,
				 "the number of a segment does not fit into a byte of a row map");

#define MERGE_DROPPED		PG_UINT32_MAX	/* new number of a dead row */

/*
 * New numbers of the merged rows of each segment, palloc'd; passed[], which is
 * 0 before, is set to the number of these rows.
 */
extern uint32 **merge_new_numbers(PageStore *store,
								  const SegmentInfo *segments,
								  const MergeState *state, uint32 *passed);

/*
 * Bytes of memory of a step, for new numbers; and of a merge at once, with
 * long lists.
 */
#define MERGE_STEP_MEMORY(nrows)	((uint64) (nrows) * sizeof(uint32))
#define MERGE_MEMORY(nrows)			((uint64) (nrows) * (sizeof(uint32) * 3 + 36))

#endif							/* NEARDUP_SEGMENT_WRITER_H */
