/*
 * writer.h
 *		Writing a segment.
 */
#ifndef NEARDUP_WRITER_H
#define NEARDUP_WRITER_H

#include "index/page_chain.h"
#include "index/postings.h"

typedef struct SegmentWriter SegmentWriter;

/*
 * A segment of that number, with so many keys at most, in the current memory
 * context.
 */
extern SegmentWriter *segment_begin(PageStore *store, uint64 owner,
									uint64 most_keys);

/* Appends a row; it gets the next number from 0 on. */
extern void segment_add_row(SegmentWriter *writer, const ForwardEntry *row);

/*
 * Appends the list of a key, after all rows, in the order of keys.  Runs
 * rise, and no two touch.
 */
extern void segment_add_list(SegmentWriter *writer, uint32 key,
							 const Runs *runs);

/* The same where the list is one row. */
extern void segment_add_single(SegmentWriter *writer, uint32 key, uint32 row);

/* What the metapage is to say of it.  `oldest` is left to the caller. */
extern SegmentInfo segment_end(SegmentWriter *writer);

/*
 * The same in steps.  Each but the last goes from segment_resume() to
 * segment_pause(); rows stop where a page of them is full, or with the last one.
 */
extern void segment_create(PageStore *store, uint64 owner, WriterState *state);
extern SegmentWriter *segment_resume(PageStore *store, WriterState *state);
extern void segment_pause(SegmentWriter *writer);

/* After the last row, before the first list: so many keys are expected. */
extern void segment_expect_keys(WriterState *state, uint64 keys);

/* The last step, in which nothing is added; can be done once more. */
extern SegmentInfo segment_finish(PageStore *store, WriterState *state);

/* How many rows it has so far. */
extern uint32 segment_rows(const SegmentWriter *writer);

#endif							/* NEARDUP_WRITER_H */
