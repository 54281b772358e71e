/*
 * spill.h
 *		The join of sets that do not fit into memory.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/join/engine/spill.h
 */
#ifndef NEARDUP_SPILL_H
#define NEARDUP_SPILL_H

#include "join/engine/setjoin.h"

extern void spill_begin(SetJoin *join);
extern void spill_add(SetJoin *join, JoinSide side, SetKey key,
					  const uint64 *values, const void *row, uint32 rowno,
					  uint32 len);
extern void spill_finish(SetJoin *join);
extern bool spill_next_chunk(SetJoin *join);
extern void spill_probe_from_chunk(SetJoin *join);
extern void spill_probe_after_chunk(SetJoin *join);
extern void spill_probe_from_size(SetJoin *join, uint64 size);
extern JoinSet *spill_next_probe(SetJoin *join);
extern void spill_load_rows(SetJoin *join, JoinSet *set);
extern void spill_keep_rows(SetJoin *join, JoinSet *set, Arena *arena);
extern void spill_write_keys(SetJoin *join, const JoinSet *set);
extern void spill_end_keys(SetJoin *join);
extern JoinSet *spill_next_set(SetJoin *join);
extern JoinSet *spill_set(SetJoin *join, uint32 number);
extern void spill_free_chunk(SetJoin *join);
extern void spill_end(SetJoin *join);

#endif							/* NEARDUP_SPILL_H */
