/*
 * index_condition.h
 *		What the planner knows of a condition on an index of signatures, and
 *		how often the index is searched.
 */
#ifndef NEARDUP_INDEX_CONDITION_H
#define NEARDUP_INDEX_CONDITION_H

#include "nodes/pathnodes.h"
#include "signature/sets.h"

#define SIGNATURE_MATCH_STRATEGY	1	/* %%(signature, signature_query) */

/* What the planner knows of an index condition */
typedef struct IndexCondition
{
	Measure		measure;
	double		threshold;		/* neardup.threshold if unknown */
	double		values;			/* size of the signature; 0 = unknown */
} IndexCondition;

/* Read the right side of an index condition, a signature_query. */
extern void index_condition_of(PlannerInfo *root, Node *query,
							   IndexCondition *condition);

/*
 * Return the number of searches of an index: loop_count of the path, or more
 * if its conditions depend on an outer query.
 */
extern double index_loops(PlannerInfo *root, List *conditions,
						  double loop_count);

/*
 * Return the mean number of pages that a search reads from disk.  Each of
 * `loops` searches visits `pages`; later ones find some of them in memory.
 */
extern double index_uncached_pages(PlannerInfo *root,
								   const IndexOptInfo *index, double pages,
								   double loops);

#endif							/* NEARDUP_INDEX_CONDITION_H */
