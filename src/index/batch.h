/*
 * batch.h
 *		Rows in memory, from which a segment is written.
 */
#ifndef NEARDUP_BATCH_H
#define NEARDUP_BATCH_H

#include "index/row.h"
#include "index/writer.h"

typedef struct Batch
{
	ForwardEntry *rows;
	uint64	   *places;			/* of each row's keys in keys[] */
	uint32	   *nkeys;
	uint32		nrows;
	uint32		rows_size;
	uint32	   *keys;
	uint64		total;			/* in keys[] */
	uint64		keys_size;
	MemoryContext context;		/* all of it, and nothing else */
} Batch;

extern Batch *batch_create(void);
extern void batch_add(Batch *batch, const IndexedRow *row);

/* Bytes that it takes, with what writing it will take. */
extern uint64 batch_memory(const Batch *batch);

/* True if no row more can be added, however much memory there is. */
extern bool batch_full(const Batch *batch);

/* Writes a segment of all rows.  The batch is empty then. */
extern SegmentInfo batch_write(Batch *batch, PageStore *store, uint64 owner);
extern void batch_free(Batch *batch);

#endif							/* NEARDUP_BATCH_H */
