/*
 * join_node.h
 *		The plan node of the similarity join: declarations for planner,
 *		executor and EXPLAIN.
 */
#ifndef NEARDUP_JOIN_NODE_H
#define NEARDUP_JOIN_NODE_H

#include "access/parallel.h"
#include "nodes/execnodes.h"
#include "nodes/extensible.h"
#include "nodes/pathnodes.h"

#include "signature/signature.h"
#include "join/algorithms/join_kinds.h"
#include "join/engine/engine.h"
#include "join/engine/rows.h"
#include "join/node/comparison.h"
#include "planner/conditions.h"

/* CustomPath.custom_private */
enum PathPrivate
{
	PATH_CONDITION,				/* RestrictInfo */
	PATH_CLAUSES,				/* clauses of the join, the condition among
								 * them: list of RestrictInfo */
	PATH_QUAL,					/* clauses above an outer join: list of
								 * RestrictInfo */
	PATH_TYPE,					/* JoinType, as an Integer */
	PATH_LEFT_IS_INNER,			/* true if the left signature is of the inner
								 * side, as an Integer */
	PATH_IMPLIED,				/* true if the clause is more than the
								 * condition, as an Integer */
	PATH_SELF,					/* true if both sides have the same rows, as
								 * an Integer */
	PATH_INNER_WHOLE,			/* true if each of several processes has all
								 * inner rows and a part of the outer ones, as
								 * an Integer */
	PATH_COUNT
};

/* CustomScan.custom_exprs, which core adjusts to the finished plan */
enum JoinExprs
{
	JOIN_EXPR_CONDITION,		/* the near-duplicate condition */
	JOIN_EXPR_FILTER,			/* other conditions of the join, a list */
	JOIN_EXPR_QUAL,				/* conditions above an outer join, a list: not
								 * in plan.qual, which EXPLAIN would show
								 * without the names of the tables */
	JOIN_EXPR_COUNT
};

/* CustomScan.custom_private */
enum JoinPrivate
{
	JOIN_PRIVATE_TYPE,			/* JoinType, as an Integer */
	JOIN_PRIVATE_COLUMNS,		/* number of columns of the outer side, as an
								 * Integer */
	JOIN_PRIVATE_LEFT_IS_INNER, /* as in PATH_LEFT_IS_INNER */
	JOIN_PRIVATE_BEFORE,		/* number of conditions of the filter that a
								 * nested loop evaluates before the
								 * near-duplicate condition, as an Integer */
	JOIN_PRIVATE_SELF,			/* as in PATH_SELF */
	JOIN_PRIVATE_INNER_WHOLE,	/* as in PATH_INNER_WHOLE */
	JOIN_PRIVATE_COUNT
};

typedef enum JoinPhase
{
	JOIN_BUILD,					/* no row has been read yet */
	JOIN_PAIRS,
	JOIN_UNMATCHED,				/* outer rows without a match are emitted */
	JOIN_DONE,
} JoinPhase;

/* A row in the engine. */
typedef struct JoinRow
{
	int64		value;			/* compared value, see comparison.h */
	MinimalTupleData columns;	/* needed columns, if any */
} JoinRow;

StaticAssertDecl(offsetof(JoinRow, columns) == MAXALIGN(sizeof(int64)),
				 "columns of a row are not aligned");

/* An inner row, with the value that outer rows are compared with. */
typedef struct InnerRow
{
	const JoinRow *row;
	int64		value;			/* compared value, see comparison.h */
} InnerRow;

/* The inner rows of a pair of groups as an array. */
typedef struct InnerRows
{
	InnerRow   *rows;			/* NULL until the first rows are copied */
	uint32		n;
	uint32		next;			/* index of the next row, from 0 */
	bool		tried;			/* true once copying was tried */
	bool		copied;			/* true if the rows were copied */
} InnerRows;

/*
 * The order in which an outer row visits the inner ones up to its first match.
 * The round begins with the match of the previous outer row and wraps around
 * at the end, so that a.id > b.id does not take quadratic time if the rows
 * have the wrong order.
 */
typedef struct InnerRound
{
	uint64		passed;			/* number of rows before the cursor */
	uint64		end;			/* number of first rows after which the round
								 * ends */
	bool		from_first;		/* true once the cursor has wrapped around */
	bool		match;			/* true if the last row matched, and is
								 * returned again */
} InnerRound;

/* The condition that drives the join, and the values of its arguments. */
typedef struct DrivingCondition
{
	ExprState  *signatures[2];	/* signature of a row, by JoinSide */
	ExprState  *threshold;		/* threshold; NULL: neardup.threshold */
	ExprState  *recall;			/* recall of near_duplicate_approx(), or NULL */
	JoinSide	left;			/* side of the condition's left signature */
	Measure		measure;		/* measure of an outer in an inner signature */
	double		threshold_value;
	double		recall_value;
	bool		valid;			/* true if both are in range; if not, the
								 * first pair to be compared is an error */
} DrivingCondition;

/* Conditions and output of pairs of rows. */
typedef struct PairConditions
{
	Comparison	comparison;		/* comparison of a column of each side */
	ExprState  *filter;			/* other conditions of the join */
	ExprState  *before;			/* filters that a nested loop evaluates before
								 * the near-duplicate condition */
	ExprState  *qual;			/* conditions above an outer join */
	TupleTableSlot *value;		/* measure of the pair, for calls of it; NULL:
								 * there are none */
	bool		projects;		/* true if columns are emitted */
	bool		evaluates;		/* true if expressions are evaluated */
} PairConditions;

/* The rows of one side. */
typedef struct SideRows
{
	TupleTableSlot *slot;		/* the current row */
	Bitmapset  *columns;		/* needed columns, from 0; NULL: none */
	Datum	   *values;			/* values of the needed columns */
	bool	   *isnull;			/* null flags; true for columns that are not
								 * needed */
} SideRows;

/* The current pair of groups, and the rows of it that are visited. */
typedef struct PairScan
{
	RowCursor	outer;
	uint32		nouter;			/* number of outer rows visited */
	uint32		rowno;			/* number of the current outer row */
	int64		value;			/* compared value of that row */
	RowCursor	inner;
	RowGroup	inner_group;
	bool		inner_stays;	/* true if the previous pair had the same
								 * inner group */
	InnerRows	inner_rows;		/* rows of the inner group; inner is not used
								 * if they are copied */
	InnerRow	inner_row;		/* last inner row, if rows are not copied */
	InnerRound	round;			/* round of a semi- or anti-join, if rows are
								 * not copied */
	bool		in_pair;		/* true if there is a current pair */
	bool		one_group;		/* true if a group is paired with itself */
	bool		exchangeable;	/* true if its rows may pass in the other
								 * order */
	bool		in_row;			/* true if there is a current outer row */
} PairScan;

typedef struct SimilarityJoinState
{
	CustomScanState css;
	JoinType	type;
	JoinPhase	phase;
	bool		self_join;		/* true if both children have the same rows:
								 * the outer one is read for both */
	bool		either_order;	/* true if, in a self-join, two rows are
								 * paired once, and the comparison decides
								 * which is the outer one */
	DrivingCondition near;
	PairConditions conditions;
	SideRows	sides[2];		/* by JoinSide */
	TupleTableSlot *no_row;		/* slot of nulls in place of an inner row */

	MemoryContext context;		/* context of the engine, reset by a rescan */
	struct JoinSpecs *specs;	/* specs of the signatures that were read */
	JoinEngine *engine;			/* current engine; NULL: none yet */
	EngineParams *division;		/* what the processes of the engine share;
								 * NULL: this process is alone */
	bool		incomparable;	/* true if comparing signatures of the engine
								 * is an error */
	uint8	   *matched;		/* a bit for each outer row of the engine */
	pg_atomic_uint32 *shared_matched;	/* bits in place of these, where
										 * processes divide the probes of the
										 * engine */
	union
	{
		char		bytes[VARHDRSZ + VARATT_SHORT_MAX];
		uint64		aligned;
	}			short_signature;	/* signature of the row that is read, if
									 * short */
	PairScan	scan;

	uint64		nfiltered;		/* number of pairs that the filter removed */
	uint64		nremoved;		/* number of rows that the qual removed */
	EngineStats stats;			/* sum of the counters of engines that have
								 * ended */
	bool		stats_gathered; /* true once they are the sum of all processes */

	bool		inner_whole;	/* true if outer rows are divided, inner rows
								 * replicated, and only counters shared */
	struct JoinCounts *counts;	/* counters of all processes; NULL: this
								 * process is alone */
	struct SharedJoin *shared;	/* state shared with other processes; NULL:
								 * none */
	struct SharedAreas *areas;	/* shared memory of rows and sets, if there is
								 * such a state */
	SpillFile	files[2];		/* files of the rows, by JoinSide */
	bool		to_files;		/* true if rows are written to files, or read
								 * from them */
	int64		claimed_engine; /* number of the last engine that this process
								 * has claimed */

	JoinRow		bare_row;		/* row that is read, if no columns are needed;
								 * last, as rows vary in size */
} SimilarityJoinState;

extern bool neardup_enable_join;
extern int	neardup_join_algorithm; /* JoinAlgorithm */

/* join_path.c */

/*
 * Parse a clause that can drive a join: a near-duplicate condition, or one
 * that implies it, and is evaluated in addition.
 */
extern bool similarity_join_clause(Node *clause, NearCondition *near);
extern void similarity_join_init(void);

/* The clauses that the engine does not evaluate. */
static inline List *
remaining_clauses(List *clauses, RestrictInfo *condition, bool implied)
{
	return implied ? clauses : list_delete_ptr(list_copy(clauses), condition);
}

/* A member of custom_private of the path. */
static inline int
path_private(const CustomPath *path, enum PathPrivate which)
{
	return intVal(list_nth(path->custom_private, which));
}

/* join_plan.c: CustomPathMethods.PlanCustomPath */
extern Plan *similarity_join_plan(PlannerInfo *root, RelOptInfo *rel,
								  CustomPath *path, List *tlist,
								  List *clauses, List *custom_plans);

/* The expression, or the column that stands in for a row identity. */
extern Expr *row_identity_column(PlannerInfo *root, Expr *expr);

/* selfjoin.c */
extern bool selfjoin_paths(PlannerInfo *root, Path *outer, Path *inner,
						   Expr *outer_signature, Expr *inner_signature);

extern bool selfjoin_unite_columns(Plan *outer, Plan *inner);

/* join_exec.c: knows all phases */
extern const CustomScanMethods similarity_join_scan_methods;

/* The last side that is read: the inner one is read first. */
#define LAST_READ_SIDE(state) ((state)->self_join ? SIDE_OUTER : SIDE_INNER)

/* A child of the node, by JoinSide. */
static inline PlanState *
join_child(SimilarityJoinState *state, JoinSide side)
{
	return list_nth(state->css.custom_ps, side);
}

/* True if outer rows without a match are emitted. */
static inline bool
keeps_unmatched(const SimilarityJoinState *state)
{
	return state->type == JOIN_LEFT || state->type == JOIN_ANTI;
}

/* join_read.c */

/*
 * Read both sides and prepare the first pair; false if nothing is left to do.
 */
extern bool join_read(SimilarityJoinState *state);

/*
 * Prepare the first pair of the next engine; false if there is none for this
 * process.
 */
extern bool join_next_engine(SimilarityJoinState *state);

/*
 * specs.c: rows enter an engine; sketches and vectors of each spec have their
 * own
 */

/* Begin the first engine, without specs, in place of an older one; and end. */
extern void specs_begin(SimilarityJoinState *state);
extern void specs_end(SimilarityJoinState *state);

/* Add a row with its signature, or NULL. */
extern void specs_add_row(SimilarityJoinState *state, JoinSide side,
						  JoinRow *row,
						  size_t len, const Signature *sig);

/*
 * Note that one side has been read: specs that only the other side has have no
 * matches.
 */
extern void specs_end_side(SimilarityJoinState *state);

/* Number of engines that the specs so far need; the first one has number 0. */
extern uint32 specs_engines(const SimilarityJoinState *state);

/* The number of the next engine whose rows wait; -1 if there is none. */
extern int64 specs_waiting(SimilarityJoinState *state);

/* Begin that engine and add its rows, or drop them if they are not wanted. */
extern void specs_next(SimilarityJoinState *state, bool wanted);

/* The kind of the engine's signatures. */
extern SignatureKind specs_kind(const SimilarityJoinState *state);

/*
 * Prepare the engine for the first signature's spec; false if such signatures
 * cannot be compared.
 */
extern bool specs_use(SimilarityJoinState *state, const Signature *sig);

/* Warn if specs differ, unless another condition may keep them apart. */
extern void specs_warn(const SimilarityJoinState *state);

/* Raise the error that signatures of the engine's spec cannot be compared. */
extern void specs_refuse(const SimilarityJoinState *state);

/* Counters of all engines so far. */
extern EngineStats similarity_join_stats(const SimilarityJoinState *state);

/* join_shared.c: callbacks of CustomExecMethods, and what join_read.c needs */
extern Size join_shared_estimate(CustomScanState *node, ParallelContext *pcxt);
extern void join_shared_create(CustomScanState *node, ParallelContext *pcxt,
							   void *coordinate);
extern void join_shared_reset(CustomScanState *node, ParallelContext *pcxt,
							  void *coordinate);
extern void join_shared_attach(CustomScanState *node, shm_toc *toc,
							   void *coordinate);
extern void join_shared_finish(CustomScanState *node);

/* Detach from shared memory, which is not read any more. */
extern void join_shared_leave(SimilarityJoinState *state);

/* Note that all probes are claimed, and free this process's shared memory. */
extern void join_shared_close(SimilarityJoinState *state);

/* True if that had happened when this process attached. */
extern bool join_shared_is_late(const SimilarityJoinState *state);

/*
 * Let engines share rows and sets with engines of other processes, if there
 * are any.
 */
extern void join_shared_divide(SimilarityJoinState *state);

/* Begin; true if rows are still being read. */
extern bool join_shared_begin(SimilarityJoinState *state);

/* Add a row that this process has read. */
extern void join_shared_add(SimilarityJoinState *state, JoinSide side,
							JoinRow *row, size_t len, const Signature *sig);

/* Note that all rows of this process have been added. */
extern void join_shared_end_rows(SimilarityJoinState *state);

/* Prepare the sets together, or read the rows that all have written. */
extern void join_shared_gather(SimilarityJoinState *state);

/*
 * True if this process uses that engine: all processes divide the probes of a
 * single engine; each of several engines is claimed by one process.
 */
extern bool join_shared_claims(SimilarityJoinState *state, uint32 number);

/* The counter of probes that several processes divide; NULL: they do not. */
extern pg_atomic_uint64 *join_shared_probes(SimilarityJoinState *state);

/*
 * Before the first probe of an engine: false if other processes have made all.
 * After the last one: true if all others are done, so that this process emits
 * the outer rows without a match.
 */
extern bool join_shared_begin_probes(SimilarityJoinState *state);
extern bool join_shared_end_probes(SimilarityJoinState *state);

/* join_explain.c */
extern void similarity_join_explain(CustomScanState *node, List *ancestors,
									struct ExplainState *es);

#endif							/* NEARDUP_JOIN_NODE_H */
