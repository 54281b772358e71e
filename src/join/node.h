/*
 * node.h
 *		The similarity join as a node of plans: what its planner part, its
 *		executor part and EXPLAIN share.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/join/node.h
 */
#ifndef NEARDUP_JOIN_NODE_H
#define NEARDUP_JOIN_NODE_H

#include "nodes/execnodes.h"
#include "nodes/extensible.h"

#include "index/support.h"
#include "join/engine.h"

/* CustomScan.custom_exprs, which core adjusts to the finished plan */
enum JoinExprs
{
	JOIN_EXPR_CONDITION,		/* the near-duplicate condition */
	JOIN_EXPR_FILTER,			/* other conditions of the join, a list */
	JOIN_EXPR_QUAL,				/* conditions above an outer join, a list: not in
								 * plan.qual, which EXPLAIN would show without
								 * the names of the tables */
	JOIN_EXPR_COUNT
};

/* CustomScan.custom_private */
enum JoinPrivate
{
	JOIN_PRIVATE_TYPE,			/* JoinType, as an Integer */
	JOIN_PRIVATE_COLUMNS,		/* columns of the outer side, as an Integer */
	JOIN_PRIVATE_LEFT_IS_INNER, /* the condition's left side, as an Integer */
	JOIN_PRIVATE_COUNT
};

typedef enum JoinPhase
{
	JOIN_BUILD,					/* nothing has been read */
	JOIN_PAIRS,
	JOIN_UNMATCHED,				/* outer rows that found no partner */
	JOIN_DONE,
} JoinPhase;

typedef struct SimilarityJoinState
{
	CustomScanState css;
	JoinType	type;
	JoinPhase	phase;

	ExprState  *keys[2];		/* signature of a row, by JoinSide */
	ExprState  *threshold;		/* NULL: neardup.threshold */
	Measure		measure;		/* of an outer in an inner signature */
	ExprState  *filter;			/* other conditions of the join */
	ExprState  *qual;			/* conditions above an outer join */
	Bitmapset  *columns[2];		/* of a side's rows that are needed, from 0 */

	MemoryContext context;		/* of the engine; reset by a rescan */
	SetJoin    *engine;
	uint8	   *matched;		/* one bit an outer row */
	TupleTableSlot *rows[2];	/* the current rows */
	Datum	   *values[2];		/* to make a row of, by JoinSide; what is not */
	bool	   *isnull[2];		/* needed is null */
	TupleTableSlot *no_row;		/* in place of an inner row */

	RowCursor	outer;			/* of the current pair of groups */
	RowCursor	inner;
	RowGroup	inner_group;
	uint32		rowno;			/* of the current outer row */
	bool		in_pair;		/* there is a current pair */
	bool		in_row;			/* there is a current outer row */

	uint64		nfiltered;		/* pairs that the filter removed */
	uint64		nremoved;		/* rows that the qual removed */
	SetJoinStats stats;			/* of the last engine that was ended */
} SimilarityJoinState;

extern bool neardup_enable_join;
extern int	neardup_join_algorithm; /* JoinAlgorithm */

/* plan.c */

/*
 * Takes a clause apart that can drive a join: a near-duplicate condition, or
 * one that implies it, and has to be worked out besides.
 */
extern bool similarity_join_clause(Node *clause, NearCondition *near,
								   bool *implied);
extern void similarity_join_init(void);

/* exec.c */
extern const CustomScanMethods similarity_join_scan_methods;

/* explain.c */
extern void similarity_join_explain(CustomScanState *node, List *ancestors,
									struct ExplainState *es);

#endif							/* NEARDUP_JOIN_NODE_H */
