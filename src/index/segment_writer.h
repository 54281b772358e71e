/*
 * segment_writer.h
 *		Writing and merging segments, at once or in steps.
 *
 * A step goes from writer_begin_step() to writer_end_step().  Rows come first,
 * then lists in the order of their keys.  An aborted step is repeated, into
 * the same pages.
 */
#ifndef NEARDUP_SEGMENT_WRITER_H
#define NEARDUP_SEGMENT_WRITER_H

#include "index/pages.h"
#include "index/postings.h"
#include "index/row.h"

typedef struct SegmentWriter SegmentWriter;

/*
 * Allocate the first page of a segment, and initialize the state for the first
 * step.
 */
extern void segment_create(PageStore *store, uint64 segment_id,
						   WriterState *state);

/* Begin a step.  The writer lives in the current memory context. */
extern SegmentWriter *writer_begin_step(PageStore *store, WriterState *state);

/* Append a row.  It gets the next number, from 0. */
extern void writer_add_row(SegmentWriter *writer, const ForwardEntry *row);

/*
 * True if the last page of rows is full, or there is no page: a step may end.
 */
extern bool writer_rows_fill_page(const SegmentWriter *writer);

/* Set the size of the filter, after the last row.  0 keys mean no filter. */
extern void writer_expect_keys(SegmentWriter *writer, uint64 keys);

/* Append the list of a key.  Runs rise, and no two of them touch. */
extern void writer_add_list(SegmentWriter *writer, uint32 key,
							const Runs *runs);

/* Append a list of one row. */
extern void writer_add_single(SegmentWriter *writer, uint32 key, uint32 row);

/*
 * True if the filter has the bits of this key on a page where no key before
 * has any.
 */
extern bool writer_begins_filter_page(const SegmentWriter *writer,
									  uint32 key);

/* End a step, and free the writer. */
extern void writer_end_step(SegmentWriter *writer);

/*
 * End the segment, and free the writer.  Returns its entry for the metapage.
 */
extern SegmentInfo writer_end_segment(SegmentWriter *writer);

/* Rows in memory that are written as one segment */
typedef struct Batch
{
	ForwardEntry *rows;
	uint64	   *places;			/* first key of each row in keys[] */
	uint32		nrows;
	size_t		rows_size;
	uint32	   *keys;
	uint64		total;			/* number of keys in keys[] */
	size_t		keys_size;
	MemoryContext context;		/* memory of the whole batch */
} Batch;

/* Create an empty batch, in a context below the current one. */
extern Batch *batch_create(void);

/* Add a copy of a row. */
extern void batch_add(Batch *batch, const IndexedRow *row);

/* Free a batch with its rows. */
extern void batch_free(Batch *batch);

/*
 * Return the bytes of memory of a batch, including those that writing it
 * takes.
 */
extern uint64 batch_memory(const Batch *batch);

/* True if a batch has reached its limit of rows or keys. */
extern bool batch_full(const Batch *batch);

/*
 * Write all rows as a segment, and empty the batch.  Returns its entry for the
 * metapage.
 */
extern SegmentInfo batch_write(Batch *batch, PageStore *store,
							   uint64 segment_id);

/* The sort key of a row, and its position */
typedef struct RowOrder
{
	uint64		order;
	uint32		row;
} RowOrder;

/* Sort rows into the order that they have in segments. */
extern void sort_rows(RowOrder *rows, size_t n);

/* Merging segments, at once or in steps */

/*
 * Merge n segments of one store into a new one of another store.  Dead rows
 * are dropped.  Returns its entry for the metapage.
 */
extern SegmentInfo segments_merge(PageStore *from, const SegmentInfo *segments,
								  uint32 n, PageStore *to, uint64 segment_id);

/* Begin a merge in steps: allocate its pages, and initialize its state. */
extern void merge_create(PageStore *store, uint64 segment_id,
						 const SegmentInfo *segments,
						 uint32 n, MergeState *state);

/*
 * Do a step of a merge, which copies rows or merges lists of about `most`
 * postings.  Sets the phase of the state, which the caller writes.
 */
extern void merge_write_step(PageStore *store, const SegmentInfo *segments,
							 uint32 n,
							 MergeState *state, uint64 most);

/*
 * The row map has a byte for each merged row, in the order of rows: the number
 * of its input, with ROW_MAP_DROPPED if the row was dead.
 */
#define ROW_MAP_DROPPED		0x80
#define ROW_MAP_PER_PAGE	PAGE_ROOM

StaticAssertDecl(MAX_SEGMENTS < ROW_MAP_DROPPED,
				 "the number of a segment does not fit into a byte of a row map");

#define MERGE_DROPPED		PG_UINT32_MAX	/* new number of a dead row */

/*
 * Return the new numbers of the merged rows of each segment, palloc'd.
 * passed[] must be 0, and is set to the number of merged rows of each segment.
 */
extern uint32 **merge_new_numbers(PageStore *store,
								  const SegmentInfo *segments,
								  const MergeState *state, uint32 *passed);

/*
 * Bytes of memory of a step, for new numbers, and of a merge at once, with
 * long lists
 */
#define MERGE_STEP_MEMORY(nrows)	((uint64) (nrows) * sizeof(uint32))
#define MERGE_MEMORY(nrows)			((uint64) (nrows) * (sizeof(uint32) * 3 + 36))

#endif							/* NEARDUP_SEGMENT_WRITER_H */
