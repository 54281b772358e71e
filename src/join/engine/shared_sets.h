/*
 * shared_sets.h
 *		The sets of a similarity join that several processes prepare together.
 */
#ifndef NEARDUP_SHARED_SETS_H
#define NEARDUP_SHARED_SETS_H

#include "join/engine/engine_params.h"
#include "join/engine/shared_state.h"

extern size_t shared_sets_bytes(int nparts);
extern void shared_sets_init(SharedSets *shared, int nparts);

/* For engine.c: see engine_publish(), engine_return_rows(), engine_share(). */
extern void shared_publish(JoinEngine *join);
extern void shared_return_rows(JoinEngine *join, RowCallback callback,
							   void *arg);
extern void shared_sets_prepare(JoinEngine *join);

/* Publish the numbers of rows and sets that this process has added. */
extern void shared_publish_totals(JoinEngine *join);

/*
 * Bytes that this process holds, and will hold if no process adds any more
 * rows.
 */
extern size_t shared_bytes_held(JoinEngine *join);

/* Create this process's array of all prepared sets, in order of size. */
extern void shared_gather(JoinEngine *join);

#endif							/* NEARDUP_SHARED_SETS_H */
