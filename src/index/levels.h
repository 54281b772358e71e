/*
 * levels.h
 *		A directory that is written in steps.
 */
#ifndef NEARDUP_LEVELS_H
#define NEARDUP_LEVELS_H

#include "index/page_chain.h"

/* So many entries of a level are left for later at the most: LEVEL_ENTRIES but in tests. */
extern int	directory_level_entries;

/* Adds pages, in their order; what is not kept in `levels` goes to the chain. */
extern void levels_add(ChainWriter *chain, DirectoryLevels *levels,
					   const DirectoryEntry *pages, uint32 n);

/* Writes what is left. */
extern Directory levels_end(ChainWriter *chain, DirectoryLevels *levels);

#endif							/* NEARDUP_LEVELS_H */
