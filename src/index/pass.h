/*
 * pass.h
 *		One pass through an index of access method neardup: the rows that may
 *		meet a condition, and how near they are at the most.
 */
#ifndef NEARDUP_PASS_H
#define NEARDUP_PASS_H

#include "utils/rel.h"

#include "signature/sets.h"
#include "index/layout.h"

/* What is looked for. */
typedef struct IndexQuery
{
	const SignatureSpec *spec;		/* NULL: there is nothing to compare with */
	bool		sketch;			/* see spec_indexes_sketch() */
	uint64		value;			/* of a sketch that is one */
	bool		all;			/* every row, the index does not tell */
	uint64		size;			/* features */
	uint32	   *keys;			/* rising */
	uint32	   *shares;			/* of a vector: see vector_keys() */
	uint32		nkeys;
	double		sum;			/* of a vector's weights */
	double		length;			/* of the vector */
	bool		filter;			/* only rows that reach the threshold */
	Measure		measure;		/* of the row in the query */
	double		threshold;
	bool		nearest;		/* distances are wanted, by: */
	Measure		order;
	bool		nulls;			/* rows without a signature, too */
	bool		has_own;		/* the query is a row's signature: */
	ItemPointerData own;		/* this one's, which is not wanted */
} IndexQuery;

/*
 * Takes a row.  Its distance is at least the one given: 0 if none is wanted;
 * -1 if nothing is known; infinite for a row without a signature or of a
 * different spec.  Returns the
 * greatest distance that is still of interest.
 */
typedef double (*TakeRow) (void *taker, ItemPointer tid, double distance);

/*
 * False if a part of the index was merged away meanwhile: rows may be
 * missing, the pass is to be done anew.
 */
extern bool index_search(Relation index, const IndexQuery *query,
							TakeRow take, void *taker);

#endif							/* NEARDUP_PASS_H */
