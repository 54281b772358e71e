/*
 * disk_search.h
 *		The search of a join whose sets are on disk.
 */
#ifndef NEARDUP_DISK_SEARCH_H
#define NEARDUP_DISK_SEARCH_H

#include "join/engine/join_state.h"

/* Begin the search, once spill_read_keys() has been called. */
extern void disk_search_begin(SetJoin *join);

#endif							/* NEARDUP_DISK_SEARCH_H */
