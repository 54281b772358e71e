/*
 * asked.h
 *		What an index is asked, as far as the planner knows.
 */
#ifndef NEARDUP_ASKED_H
#define NEARDUP_ASKED_H

#include "signature/sets.h"
#include "nodes/pathnodes.h"

typedef struct Asked
{
	Measure		measure;
	double		threshold;		/* one of the measure: the usual one if it is not
								 * known */
	double		values;			/* of the signature; 0: that is not known */
} Asked;

/* Takes the right side of an index condition, a signature_query, apart. */
extern void asked_by(PlannerInfo *root, Node *query, Asked *asked);

/*
 * How often an index is asked by conditions: loop_count, that of a path in a
 * join, or often where one has a value of an outer query's row.
 */
extern double asked_loops(PlannerInfo *root, List *conditions, double loop_count);

/* How many of the pages that one look-up goes to are not in memory, a mean of all. */
extern double asked_pages(PlannerInfo *root, const IndexOptInfo *index,
						  double pages, double loops);

#endif							/* NEARDUP_ASKED_H */
