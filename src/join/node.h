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
#include "nodes/pathnodes.h"

#include "index/support.h"
#include "join/comparison.h"
#include "join/engine.h"
#include "join/sketches.h"
#include "neardup.h"

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
	JOIN_PRIVATE_BEFORE,		/* conditions of the filter that would be
								 * worked out before it, as an Integer */
	JOIN_PRIVATE_SELF,			/* both children have the same rows, as an
								 * Integer */
	JOIN_PRIVATE_COUNT
};

typedef enum JoinPhase
{
	JOIN_BUILD,					/* nothing has been read */
	JOIN_PAIRS,
	JOIN_UNMATCHED,				/* outer rows that found no partner */
	JOIN_DONE,
} JoinPhase;

typedef struct Makings Makings;

/* What the engine keeps of a row. */
typedef struct JoinRow
{
	int64		value;			/* to be compared, see comparison.h */
	MinimalTupleData columns;	/* those that are wanted; in bytes that nobody
								 * uses, the number of its making */
} JoinRow;

StaticAssertDecl(offsetof(JoinRow, columns) == MAXALIGN(sizeof(int64)),
				 "columns of a row are not aligned");

typedef struct SimilarityJoinState
{
	CustomScanState css;
	JoinType	type;
	JoinPhase	phase;
	bool		self_join;		/* both children have the same rows: the outer
								 * one is read for both */

	ExprState  *keys[2];		/* signature of a row, by JoinSide */
	ExprState  *threshold;		/* NULL: neardup.threshold */
	JoinSide	left;			/* side of the condition's left signature */
	Measure		measure;		/* of an outer in an inner signature */
	Comparison	comparison;		/* of a column of each side */
	ExprState  *filter;			/* other conditions of the join */
	ExprState  *before;			/* those of them that a nested loop works out
								 * before the near-duplicate condition */
	List	   *equalities;		/* of SideEquality, among those */
	ExprState  *qual;			/* conditions above an outer join */
	Bitmapset  *columns[2];		/* of a side's rows that are needed, from 0 */

	MemoryContext context;		/* of the engine; reset by a rescan */
	Makings    *makings;		/* of the signatures that were read */
	SetJoin    *engines[SIGNATURE_KINDS];	/* in the order in which their
											 * kinds came */
	int			nengines;
	SignatureKind kinds[SIGNATURE_KINDS];
	int			nkinds;			/* none until the first signature comes */
	uint8	   *matched[SIGNATURE_KINDS];	/* one bit an outer row */
	int			current;		/* the engine that is at work */
	double		threshold_value;
	TupleTableSlot *rows[2];	/* the current rows */
	Datum	   *values[2];		/* to make a row of, by JoinSide; what is not */
	bool	   *isnull[2];		/* needed is null */
	TupleTableSlot *no_row;		/* in place of an inner row */

	RowCursor	outer;			/* of the current pair of groups */
	RowCursor	inner;
	RowGroup	inner_group;
	uint32		rowno;			/* of the current outer row */
	uint32		making;			/* number of its making */
	int64		value;			/* of it, to be compared */
	bool		in_pair;		/* there is a current pair */
	bool		in_row;			/* there is a current outer row */

	uint64		nfiltered;		/* pairs that the filter removed */
	uint64		nremoved;		/* rows that the qual removed */
	SetJoinStats stats;			/* of the engines, or of those ended last */
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

/* selfjoin.c */
extern bool selfjoin_paths(PlannerInfo *root, Path *outer, Path *inner,
						   Expr *outer_signature, Expr *inner_signature);
extern bool selfjoin_unite_columns(Plan *outer, Plan *inner);

/* exec.c */
extern const CustomScanMethods similarity_join_scan_methods;

/* What the engines have to tell so far. */
extern const SetJoinStats *similarity_join_stats(SimilarityJoinState *state);

/* makings.c */
extern void makings_init(SimilarityJoinState *state, List *before);
extern Makings *makings_begin(void);
extern uint32 makings_note(Makings *makings, JoinSide side,
						   const Signature *sig, Measure measure);
extern SignatureKind makings_last_kind(const Makings *makings);
extern bool makings_on_side(const Makings *makings, JoinSide side);
extern bool makings_differ(const Makings *makings);
extern void makings_mirror(Makings *makings);
extern void makings_check(SimilarityJoinState *state);

/*
 * Rows carry the number of their making, or 0 if they have no signature, in
 * bytes of a minimal tuple that nobody else uses.  Where pointers have 32
 * bits, these are two.
 */
#if MAXIMUM_ALIGNOF >= 8
typedef uint32 RowMaking;
#else
typedef uint16 RowMaking;
#endif

extern void row_set_making(JoinRow *row, uint32 making);

/* The number; inline, as it is asked of each row of each pair. */
static inline uint32
row_making(const JoinRow *row)
{
	RowMaking	number;

	memcpy(&number, row->columns.mt_padding, sizeof(number));
	return number;
}

/* explain.c */
extern void similarity_join_explain(CustomScanState *node, List *ancestors,
									struct ExplainState *es);

#endif							/* NEARDUP_JOIN_NODE_H */
