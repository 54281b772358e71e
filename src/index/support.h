/*
 * support.h
 *		What near-duplicate conditions look like to the planner.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/index/support.h
 */
#ifndef NEARDUP_SUPPORT_H
#define NEARDUP_SUPPORT_H

#include "algebra.h"
#include "nodes/primnodes.h"

/*
 * A near-duplicate condition taken apart.  The expressions are the clause's
 * own, not copies.
 */
typedef struct NearCondition
{
	Expr	   *left;			/* signature */
	Expr	   *right;			/* signature */
	Expr	   *threshold;		/* float8, or NULL: neardup.threshold */
	Measure		measure;		/* of left in right */
} NearCondition;

/*
 * Takes a clause apart, if it is near_duplicate, contained_in, %, <%, %>, or
 * %% with a signature_query call on its right, and its measure is known.
 * Recognised by the address of the C function.
 */
extern bool near_condition(Node *clause, NearCondition *condition);

/*
 * Takes a clause apart, if it is near_duplicate_approx(): the condition that
 * it implies, and its recall.
 */
extern bool approx_condition(Node *clause, NearCondition *condition,
							 Expr **recall);

#endif							/* NEARDUP_SUPPORT_H */
