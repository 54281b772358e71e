/*
 * join_node.h
 *		The similarity join as a node of plans: what its planner part, its
 *		executor part and EXPLAIN share.
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
#include "join/engine/spill_file.h"
#include "join/node/comparison.h"
#include "planner/conditions.h"

/* CustomPath.custom_private */
enum PathPrivate
{
	PATH_CONDITION,				/* RestrictInfo */
	PATH_CLAUSES,				/* of the join, that one among them: list of
								 * RestrictInfo */
	PATH_QUAL,					/* list of RestrictInfo */
	PATH_TYPE,					/* JoinType, as an Integer */
	PATH_LEFT_IS_INNER,			/* as an Integer */
	PATH_IMPLIED,				/* clause is more than the condition, likewise */
	PATH_SELF,					/* both sides have the same rows, likewise */
	PATH_INNER_WHOLE,			/* each of several processes has all inner rows and a
								 * part of the outer ones, likewise */
	PATH_COUNT
};

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
	JOIN_PRIVATE_INNER_WHOLE,	/* as in PATH_INNER_WHOLE */
	JOIN_PRIVATE_COUNT
};

typedef enum JoinPhase
{
	JOIN_BUILD,					/* nothing has been read */
	JOIN_PAIRS,
	JOIN_UNMATCHED,				/* outer rows that found no partner */
	JOIN_DONE,
} JoinPhase;

typedef struct SpecList SpecList;

/* What the engine keeps of a row. */
typedef struct JoinRow
{
	int64		value;			/* to be compared, see comparison.h */
	MinimalTupleData columns;	/* those that are wanted, if any are; in bytes
								 * that nobody uses, the number of its spec */
} JoinRow;

StaticAssertDecl(offsetof(JoinRow, columns) == MAXALIGN(sizeof(int64)),
				 "columns of a row are not aligned");

/* What is asked of an inner row before its columns are. */
typedef struct InnerRow
{
	const JoinRow *row;
	int64		value;			/* to be compared, see comparison.h */
	uint32		spec;			/* number of its spec */
} InnerRow;

typedef struct InnerRows
{
	InnerRow   *rows;			/* NULL as long as there were none */
	uint32		n;
	uint32		next;			/* from 0 */
	bool		tried;			/* to lay them side by side */
	bool		laid;			/* that was possible */
} InnerRows;

/*
 * Where an outer row goes through the inner ones up to its first partner: it begins with the
 * partner of the row before it, goes on behind that, and from the last one to the first.
 * If each began with the first one, a.id > b.id would take the square of the rows where
 * these stand in the wrong order, and nobody can tell which one that is.
 */
typedef struct InnerRound
{
	uint64		passed;			/* rows in front of where the cursor is */
	uint64		end;			/* from the first on, rows behind which it ends */
	bool		from_first;		/* it has come to these */
	bool		partner;		/* the last row given was a partner, and comes again */
} InnerRound;

typedef struct SimilarityJoinState
{
	CustomScanState css;
	JoinType	type;
	JoinPhase	phase;
	bool		self_join;		/* both children have the same rows: the outer
								 * one is read for both */
	bool		either_order;	/* then: two rows come once, and the comparison
								 * tells which one is the outer one */

	ExprState  *keys[2];		/* signature of a row, by JoinSide */
	ExprState  *threshold;		/* NULL: neardup.threshold */
	ExprState  *recall;			/* of near_duplicate_approx(), or NULL */
	JoinSide	left;			/* side of the condition's left signature */
	Measure		measure;		/* of an outer in an inner signature */
	Comparison	comparison;		/* of a column of each side */
	ExprState  *filter;			/* other conditions of the join */
	bool		has_before;		/* a nested loop works some of them, or the
								 * comparison, out before the near-duplicate
								 * condition */
	ExprState  *before;			/* these, but for the comparison */
	List	   *equalities;		/* of SideEquality, among those */
	ExprState  *qual;			/* conditions above an outer join */
	bool		projects;		/* columns come out of the join */
	bool		evaluates;		/* or expressions are worked out on pairs */
	Bitmapset  *columns[2];		/* of a side's rows that are needed, from 0;
								 * NULL: none */

	MemoryContext context;		/* of the engine; reset by a rescan */
	SpecList    *specs;		/* of the signatures that were read */
	SetJoin    *engines[SIGNATURE_KINDS];	/* in the order in which their
											 * kinds came */
	int			nengines;
	SignatureKind kinds[SIGNATURE_KINDS];
	int			nkinds;			/* none until the first signature comes */
	uint8	   *matched[SIGNATURE_KINDS];	/* one bit an outer row; NULL where
											 * several processes share them */
	uint64		first_row[SIGNATURE_KINDS]; /* in shared_matched */
	pg_atomic_uint32 *shared_matched;	/* one bit an outer row of any engine */
	int			current;		/* the engine that is at work */
	double		threshold_value;
	double		recall_value;
	bool		valid;			/* both are what they may be: if not, the first
								 * pair to be compared is an error */
	union
	{
		Signature	sig;
		char		bytes[VARHDRSZ + VARATT_SHORT_MAX];
	}			short_signature;	/* of the row that is read, if it is short */
	JoinRow		bare_row;		/* that row, if no columns are wanted */
	TupleTableSlot *rows[2];	/* the current rows */
	Datum	   *values[2];		/* to make a row of, by JoinSide; what is not */
	bool	   *isnull[2];		/* needed is null */
	TupleTableSlot *no_row;		/* in place of an inner row */

	RowCursor	outer;			/* of the current pair of groups */
	uint32		nouter;			/* outer rows of it that have come */
	RowCursor	inner;
	RowGroup	inner_group;
	bool		inner_stays;	/* it is that of the pair before */
	InnerRows	inner_rows;		/* of it; inner is not used if they are laid */
	InnerRow	inner_row;		/* the last one, if they are not */
	InnerRound	round;			/* of semi- and anti-joins, if they are not */
	uint32		rowno;			/* of the current outer row */
	uint32		spec;			/* number of its spec */
	int64		value;			/* of it, to be compared */
	bool		in_pair;		/* there is a current pair */
	bool		one_group;		/* which is of a group with itself */
	bool		exchangeable;	/* its rows may pass in the other order */
	bool		in_row;			/* there is a current outer row */

	uint64		nfiltered;		/* pairs that the filter removed */
	uint64		nremoved;		/* rows that the qual removed */
	SetJoinStats stats;			/* of the engines, or of those ended last */
	bool		stats_gathered; /* from all who took part, and final */

	bool		inner_whole;	/* other processes have other outer rows and the same
								 * inner ones; nothing is shared but counts */
	struct JoinCounts *counts;	/* of all processes; NULL: there is but this one */
	struct SharedJoin *shared;	/* with other processes; NULL: nothing is */
	struct SharedAreas *areas;	/* then: where rows and sets are */
	SpillFile	files[2];		/* for them, by JoinSide */
	bool		to_files;		/* rows go there, or come from there */
} SimilarityJoinState;

extern bool neardup_enable_join;
extern int	neardup_join_algorithm; /* JoinAlgorithm */

/* join_path.c */

/*
 * Takes a clause apart that can drive a join: a near-duplicate condition, or
 * one that implies it, and has to be worked out besides.
 */
extern bool similarity_join_clause(Node *clause, NearCondition *near);
extern void similarity_join_init(void);

/* The clauses that the engine does not work out. */
static inline List *
remaining_clauses(List *clauses, RestrictInfo *condition, bool implied)
{
	return implied ? clauses :
		list_delete_ptr(list_copy(clauses), condition);
}

static inline int
path_private(const CustomPath *path, enum PathPrivate which)
{
	return intVal(list_nth(path->custom_private, which));
}

/* join_plan.c: CustomPathMethods.PlanCustomPath */
extern Plan *similarity_join_plan(PlannerInfo *root, RelOptInfo *rel,
								  CustomPath *path, List *tlist,
								  List *clauses, List *custom_plans);

/* selfjoin.c */
extern bool selfjoin_paths(PlannerInfo *root, Path *outer, Path *inner,
						   Expr *outer_signature, Expr *inner_signature);

/* A copy of an expression on one relation that is on another. */
extern Node *selfjoin_moved(Node *node, Index from, Index to);


extern bool selfjoin_unite_columns(Plan *outer, Plan *inner);

/* join_exec.c */
extern const CustomScanMethods similarity_join_scan_methods;

/* What the engines have to tell so far. */
extern const SetJoinStats *similarity_join_stats(SimilarityJoinState *state);

static inline PlanState *
join_child(SimilarityJoinState *state, JoinSide side)
{
	return list_nth(state->css.custom_ps, side);
}

/* True if outer rows come out of the join that have found no partner. */
static inline bool
keeps_unmatched(const SimilarityJoinState *state)
{
	return state->type == JOIN_LEFT || state->type == JOIN_ANTI;
}

/* join_read.c */

/* Makes ready for the first pair; false if there is nothing left to do. */
extern bool join_read(SimilarityJoinState *state);

/*
 * Reads one side to its end, into the engines or to where several processes
 * have what they read.  Signatures do not matter if the threshold is null.
 */
extern void join_read_side(SimilarityJoinState *state, JoinSide side,
						   bool any_threshold);

/*
 * An engine for what is read; in place of all that there are, with nothing noted
 * of signatures as yet.
 */
extern void join_begin_engines(SimilarityJoinState *state);

/* The engine for a kind; the first signature tells what the first one is for. */
extern SetJoin *join_engine_for(SimilarityJoinState *state, SignatureKind kind);
extern void join_add_row(SimilarityJoinState *state, JoinSide side,
						 JoinRow *row, size_t len, const Signature *sig);

/* join_counts.c: for so many processes, of which this one has that number, 0 for the leader */
static inline int
join_part_number(void)
{
	return ParallelWorkerNumber + 1;
}

extern Size join_counts_bytes(int nparts);
extern void join_counts_init(struct JoinCounts *counts, int nparts);

/* What lies behind them. */
extern void *join_counts_behind(struct JoinCounts *counts);

/* Tells what this process has counted; and takes over what all have. */
extern void join_counts_tell(SimilarityJoinState *state);
extern void join_counts_gather(SimilarityJoinState *state);

/* join_shared.c: callbacks of CustomExecMethods, and what join_read.c needs */
extern Size join_shared_estimate(CustomScanState *node, ParallelContext *pcxt);
extern void join_shared_create(CustomScanState *node, ParallelContext *pcxt,
							   void *coordinate);
extern void join_shared_reset(CustomScanState *node, ParallelContext *pcxt,
							  void *coordinate);
extern void join_shared_attach(CustomScanState *node, shm_toc *toc,
							   void *coordinate);
extern void join_shared_finish(CustomScanState *node);
/* No more is looked at in shared memory, by now at the latest. */
extern void join_shared_leave(SimilarityJoinState *state);
/*
 * This process has given all its pairs, and no probes are left for anybody; and
 * whether that has happened before it came.
 */
extern void join_shared_close(SimilarityJoinState *state);
extern bool join_shared_is_late(const SimilarityJoinState *state);
extern void join_shared_divide(SimilarityJoinState *state,
							   SetJoinParams *params);
extern void join_shared_read(SimilarityJoinState *state, bool any_threshold);

/*
 * Before the first probe, once so many outer rows are there: false if others
 * have done everything.  And after the last one: true if all others are done,
 * and outer rows that have found no partner are this process's business.
 */
extern bool join_shared_begin_probes(SimilarityJoinState *state, uint64 rows);
extern bool join_shared_end_probes(SimilarityJoinState *state);

/* Takes in a row that this process has read. */
extern void join_shared_take(SimilarityJoinState *state, JoinSide side,
							 JoinRow *row, size_t len, const Signature *sig);

/* specs.c: the specs of signatures, numbered from 1 */
extern SpecList *specs_begin(void);
extern uint32 specs_note(SpecList *specs, JoinSide side,
						   const Signature *sig, Measure measure,
						   bool approx);
extern bool specs_last_refused(const SpecList *specs);
extern SignatureKind specs_last_kind(const SpecList *specs);
extern uint32 specs_number(const SpecList *specs);
extern bool specs_on_side(const SpecList *specs, JoinSide side);
extern uint32 specs_first(const SpecList *specs, JoinSide side);
extern bool specs_is_refused(const SpecList *specs, uint32 number);
extern bool specs_any_refused(const SpecList *specs);
extern uint32 specs_refused_on_both(const SpecList *specs);
extern SignatureSpec specs_get(const SpecList *specs, uint32 number);
extern void specs_mirror(SpecList *specs);

#define NO_SPEC	0

/*
 * Rows carry the number of their spec, or 0 if they have no signature, in
 * bytes of a minimal tuple that nobody else uses.  Where pointers have 32
 * bits, these are two.
 */
#if MAXIMUM_ALIGNOF >= 8
typedef uint32 RowSpec;
#else
typedef uint16 RowSpec;
#endif

extern void row_set_spec(JoinRow *row, uint32 spec);

/* The number; inline, as it is asked of each row of each pair. */
static inline uint32
row_spec(const JoinRow *row)
{
	RowSpec	number;

	memcpy(&number, row->columns.mt_padding, sizeof(number));
	return number;
}

/* specs.c */
extern void specs_check_init(SimilarityJoinState *state, List *before);
extern void specs_check(SimilarityJoinState *state);

/* join_explain.c */
extern void similarity_join_explain(CustomScanState *node, List *ancestors,
									struct ExplainState *es);

#endif							/* NEARDUP_JOIN_NODE_H */
