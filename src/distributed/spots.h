/*
 * spots.h
 *		Where on the nodes of Citus sets and rows meet.
 */
#ifndef NEARDUP_SPOTS_H
#define NEARDUP_SPOTS_H

#include "distributed/working_tables.h"

/* A set has a bit for each spot that has rows of it, and more would not fit. */
#define MAX_SPOTS	63

/* How many spots there should be for so many rows on so many nodes. */
extern int	spots_wanted(double rows, double nodes);

/*
 * Finds the spots, which are the shards of the table {near}, and which one the
 * shards of {result} belong to.  From then on statements have
 *
 *	{nspots}	their number;
 *	{spots}		an array: what the column by which {near} is distributed has in
 *				the rows of a spot;
 *	{spot}		the spot, from 0, of the row of the result that has `id` as its a.
 */
extern void spots_find(WorkingTables *tables);

#endif							/* NEARDUP_SPOTS_H */
