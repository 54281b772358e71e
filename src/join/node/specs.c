/*
 * specs.c
 *		The specs of the signatures that a join has read.
 *
 * They are numbered as they are met, and each row carries its number.  Most joins
 * meet one; see specs_check() for several.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "utils/hsearch.h"
#include "utils/lsyscache.h"

#include "base/compat.h"
#include "base/growing.h"
#include "base/hash.h"
#include "document/recorded_versions.h"
#include "signature/signature.h"
#include "join/node/join_node.h"
#include "signature/sql/near.h"
#include "methods/method.h"
#include "methods/sketches/lsh.h"

/* A spec, in the table of those that were met. */
typedef struct NumberedSpec
{
	SignatureSpec		spec;			/* hash key */
	uint32		number;			/* from 1 */
	SignatureKind kind;			/* if not refused */
	bool		refused;		/* no two signatures can be compared */
} NumberedSpec;

struct SpecList
{
	uint32		n;				/* specs met */
	uint32		first[2];		/* by JoinSide: the first one; 0: none */
	NumberedSpec *last;		/* met last */
	Bitmapset  *refused;		/* numbers of those that are refused */
	Bitmapset  *sides[2];		/* of these, by JoinSide: those that it has */
	HTAB	   *table;			/* of NumberedSpec */
};

/* No specs as yet, in the current memory context. */
SpecList *
specs_begin(void)
{
	SpecList    *specs = palloc0(sizeof(SpecList));
	HASHCTL		ctl = {0};

	ctl.keysize = sizeof(SignatureSpec);
	ctl.entrysize = sizeof(NumberedSpec);
	ctl.hcxt = CurrentMemoryContext;
	specs->table = hash_create("specs of a similarity join", 16, &ctl,
								 HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	return specs;
}

/* Fills in what there is to know about a spec that was not met before. */
static void
add_spec(SpecList *specs, NumberedSpec *entry, const Signature *sig,
		   Measure measure, bool approx)
{
	const MethodInfo *method = method_info(sig->spec.method);
	MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(specs));

	recorded_versions_check_spec(&sig->spec);
	entry->number = ++specs->n;
	entry->refused = approx ? !approx_takes(method) :
		!measure_is_told(method, measure);
	if (entry->refused)
		specs->refused = bms_add_member(specs->refused, entry->number);
	else
		entry->kind = signature_kind(sig, measure);
	MemoryContextSwitchTo(old);
}

/*
 * Notes the spec of a signature of that side; returns its number, from 1.
 */
uint32
specs_note(SpecList *specs, JoinSide side, const Signature *sig,
			 Measure measure, bool approx)
{
	if (specs->last == NULL ||
		!spec_equal(&specs->last->spec, &sig->spec))
	{
		bool		found;

		specs->last = hash_search(specs->table, &sig->spec, HASH_ENTER,
									&found);
		if (!found)
			add_spec(specs, specs->last, sig, measure, approx);
	}
	if (specs->first[side] == NO_SPEC)
		specs->first[side] = specs->last->number;
	if (specs->last->refused)
	{
		MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(specs));

		specs->sides[side] = bms_add_member(specs->sides[side],
											specs->last->number);
		MemoryContextSwitchTo(old);
	}
	return specs->last->number;
}

/*
 * True if signatures of the spec that was noted last cannot be compared, even
 * with each other.
 */
bool
specs_last_refused(const SpecList *specs)
{
	return specs->last->refused;
}

/* The kind of the signature that was noted last, if it is not refused. */
SignatureKind
specs_last_kind(const SpecList *specs)
{
	return specs->last->kind;
}

/* How many there are. */
uint32
specs_number(const SpecList *specs)
{
	return specs->n;
}

/* True if a side has a signature. */
bool
specs_on_side(const SpecList *specs, JoinSide side)
{
	return specs->first[side] != NO_SPEC;
}

/* The first one of a side, or NO_SPEC. */
uint32
specs_first(const SpecList *specs, JoinSide side)
{
	return specs->first[side];
}

/* True if signatures of that spec, or of any, cannot be compared with each other. */
bool
specs_is_refused(const SpecList *specs, uint32 number)
{
	return bms_is_member(number, specs->refused);
}

/* A spec that both sides have and that is refused, or NO_SPEC. */
uint32
specs_refused_on_both(const SpecList *specs)
{
	Bitmapset  *both = bms_intersect(specs->sides[0], specs->sides[1]);

	return both == NULL ? NO_SPEC : bms_next_member(both, -1);
}

bool
specs_any_refused(const SpecList *specs)
{
	return specs->refused != NULL;
}

/* The spec of that number. */
SignatureSpec
specs_get(const SpecList *specs, uint32 number)
{
	SignatureSpec		spec = {0};
	NumberedSpec *entry;
	HASH_SEQ_STATUS status;

	hash_seq_init(&status, specs->table);
	while ((entry = hash_seq_search(&status)) != NULL)
		if (entry->number == number)
			spec = entry->spec;
	return spec;
}

/* The rows of the outer side, which were noted, are those of the inner. */
void
specs_mirror(SpecList *specs)
{
	specs->first[SIDE_INNER] = specs->first[SIDE_OUTER];
	specs->sides[SIDE_INNER] = specs->sides[SIDE_OUTER];
}

/* Notes the number in the row, where row_spec() finds it. */
void
row_set_spec(JoinRow *row, uint32 spec)
{
	RowSpec	number = spec;

	StaticAssertStmt(sizeof(row->columns.mt_padding) >= sizeof(number),
					 "a minimal tuple has room for a number");
	if (number != spec)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("signatures of a join are of more than %d specs",
						PG_UINT16_MAX),
				 errhint("Use SET neardup.enable_join = off.")));
	memcpy(row->columns.mt_padding, &number, sizeof(number));
}

/*
 * Signatures that cannot be compared
 *
 * Signatures of different specs are never near-duplicates, see
 * signatures_near().  But signatures that do not tell the measure, or that
 * near_duplicate_approx() does not take, or a threshold or recall out of range
 * are an error where a nested loop would come to compare two: it works out the
 * cheaper conditions of the join first.  So does this check: once all rows are
 * there it looks for a pair of rows that passes those conditions, and raises the
 * error if there is one.
 *
 * Rows that cannot be compared are paired by the hash of what the conditions want to be
 * equal: inner ones are kept, as many as have room at once, in the order of their hashes.
 */

/* A condition that an expression of each side be equal. */
typedef struct SideEquality
{
	ExprState  *args[2];		/* by JoinSide */
	FmgrInfo	hash[2];		/* of their values */
	Oid			collation;
	bool		nulls_equal;	/* IS NOT DISTINCT FROM */
} SideEquality;

/* Share of the memory of the join for rows that are kept. */
#define CHECK_SHARE		16
#define MIN_KEPT		(64 * 1024)

/* An inner row that is kept. */
typedef struct KeptRow
{
	uint64		hash;
	uint64		order;			/* in which they came */
	int64		value;			/* to be compared */
	uint32		spec;
	MinimalTuple columns;		/* or NULL */
} KeptRow;

typedef struct KeptRows
{
	MemoryContext context;		/* of the rows' columns */
	KeptRow    *rows;
	size_t		n;
	size_t		room;
	size_t		bytes;
	size_t		most;			/* bytes */
} KeptRows;

/* Conditions that come before the near-duplicate condition */

/* Notes which sides' columns an expression has. */
static bool
note_sides(Node *node, void *context)
{
	bool	   *sides = context;

	if (node == NULL)
		return false;
	if (IsA(node, Var))
		sides[((Var *) node)->varno == OUTER_VAR ? SIDE_OUTER : SIDE_INNER] = true;
	return expression_tree_walker(node, note_sides, context);
}

/* True if an expression has columns of that side only. */
static bool
is_of_side(Node *expr, JoinSide side)
{
	bool		sides[2] = {false, false};

	note_sides(expr, sides);
	return sides[side] && !sides[OTHER_SIDE(side)] &&
		!contain_subplans(expr) && !contain_volatile_functions(expr);
}

/* The call of = in a condition, which IS NOT DISTINCT FROM is, too; or NULL. */
static OpExpr *
equality_call(Node *clause, bool *nulls_equal)
{
	*nulls_equal = is_notclause(clause) && IsA(get_notclausearg(clause), DistinctExpr);
	if (*nulls_equal)
		return (OpExpr *) get_notclausearg(clause); /* of the same form */
	return IsA(clause, OpExpr) ? (OpExpr *) clause : NULL;
}

/* The condition as an equality whose values can be hashed, or NULL. */
static SideEquality *
side_equality(Node *clause, PlanState *ps)
{
	bool		nulls_equal;
	OpExpr	   *op = equality_call(clause, &nulls_equal);
	Node	   *args[2];
	SideEquality *equality;
	Oid			hash[2];
	bool		commuted;

	if (op == NULL || list_length(op->args) != 2)
		return NULL;
	args[0] = linitial(op->args);
	args[1] = lsecond(op->args);
	commuted = is_of_side(args[0], SIDE_INNER);
	if (!is_of_side(args[commuted], SIDE_OUTER) ||
		!is_of_side(args[!commuted], SIDE_INNER) ||
		!op_strict(op->opno) ||
		!op_hashjoinable(op->opno, exprType(args[0])) ||
		!get_op_hash_functions(op->opno, &hash[0], &hash[1]))
		return NULL;
	equality = palloc(sizeof(SideEquality));
	for (int i = 0; i < 2; i++)
	{
		JoinSide	side = i == commuted ? SIDE_OUTER : SIDE_INNER;

		equality->args[side] = ExecInitExpr((Expr *) args[i], ps);
		fmgr_info(hash[i], &equality->hash[side]);
	}
	equality->collation = op->inputcollid;
	equality->nulls_equal = nulls_equal;
	return equality;
}

/*
 * Takes the conditions that a nested loop works out first: a list, without the
 * comparison.
 */
void
specs_check_init(SimilarityJoinState *state, List *before)
{
	PlanState  *ps = &state->css.ss.ps;
	ListCell   *lc;

	state->before = ExecInitQual(before, ps);
	foreach(lc, before)
	{
		SideEquality *equality = side_equality(lfirst(lc), ps);

		if (equality != NULL)
			state->equalities = lappend(state->equalities, equality);
	}
}

/* Looking for a pair */

/* Goes through the rows of a side that have a signature. */
typedef struct RowScan
{
	SimilarityJoinState *state;
	JoinSide	side;
	int			engine;
	uint32		spec;			/* of the current row */
	int64		value;			/* of it, to be compared */
	uint64		hash;			/* of what conditions want to be equal */
	const JoinRow *row;
} RowScan;

static void
scan_begin(RowScan *scan, SimilarityJoinState *state, JoinSide side)
{
	scan->state = state;
	scan->side = side;
	scan->engine = 0;
	setjoin_rows(state->engines[0], side);
}

/* The hash of what an equality has of a side; false if that is never equal. */
static bool
side_hash(SideEquality *equality, JoinSide side, ExprContext *econtext,
		  uint32 *hash)
{
	bool		isnull;
	Datum		value = ExecEvalExpr(equality->args[side], econtext, &isnull);

	*hash = isnull ? 0 :
		DatumGetUInt32(FunctionCall1Coll(&equality->hash[side], equality->collation,
										 value));
	return !isnull || equality->nulls_equal;
}

/*
 * Makes the hash of the current row; false if one of the equalities is of nothing, as
 * it is never true then.
 */
static bool
make_hash(RowScan *scan)
{
	ExprContext *econtext = scan->state->css.ss.ps.ps_ExprContext;
	MemoryContext old = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
	bool		can_be = true;
	ListCell   *lc;

	scan->hash = 0;
	foreach(lc, scan->state->equalities)
	{
		uint32		hash;

		can_be = side_hash(lfirst(lc), scan->side, econtext, &hash);
		if (!can_be)
			break;
		scan->hash = mix64(scan->hash + 1 + hash);
	}
	MemoryContextSwitchTo(old);
	return can_be;
}

/*
 * Makes the next row the current one, also for conditions; false at the end, again
 * and again.
 */
static bool
scan_next(RowScan *scan)
{
	SimilarityJoinState *state = scan->state;
	ExprContext *econtext = state->css.ss.ps.ps_ExprContext;
	TupleTableSlot *slot = state->rows[scan->side];

	while (scan->engine < state->nengines)
	{
		uint32		rowno;
		const JoinRow *row = setjoin_rows_next(state->engines[scan->engine],
											scan->side, &rowno);

		CHECK_FOR_INTERRUPTS();
		if (row == NULL)
		{
			if (++scan->engine < state->nengines)
				setjoin_rows(state->engines[scan->engine], scan->side);
			continue;
		}
		scan->spec = row_spec(row);
		if (scan->spec == NO_SPEC)
			continue;
		scan->value = row->value;
		scan->row = row;
		if (state->columns[scan->side] != NULL)
			ExecStoreMinimalTuple(unconstify(MinimalTupleData *, &row->columns),
								  slot, false);
		if (scan->side == SIDE_OUTER)
			econtext->ecxt_outertuple = slot;
		else
			econtext->ecxt_innertuple = slot;
		ResetExprContext(econtext);
		if (make_hash(scan))
			return true;
	}
	return false;
}

/* True if the row cannot be compared with one of any spec. */
static bool
is_refused(const RowScan *scan)
{
	return !scan->state->valid ||
		specs_is_refused(scan->state->specs, scan->spec);
}

/*
 * Raises the error that it is to compare an outer and an inner spec, as the
 * condition itself does.
 */
static void
refuse_specs(SimilarityJoinState *state, uint32 outer, uint32 inner)
{
	SignatureSpec		found[2] = {specs_get(state->specs, outer),
		specs_get(state->specs, inner)};
	Signature  *sig;

	threshold_require_valid(state->threshold_value, state->measure);
	if (state->recall != NULL)
		(void) lsh_approx_banding(state->threshold_value, state->recall_value);
	if (state->recall != NULL)
		approx_require_method(method_info(found[0].method));
	sig = signature_alloc(&found[0], 0);
	measure_refuse(sig, measure_name(state->left == SIDE_OUTER ?
									 state->measure :
									 measure_commute(state->measure)));
}

#define ST_SORT sort_kept_rows
#define ST_ELEMENT_TYPE KeptRow
#define ST_COMPARE(a, b) \
	((a)->hash != (b)->hash ? ((a)->hash < (b)->hash ? -1 : 1) : \
	 ((a)->order > (b)->order) - ((a)->order < (b)->order))
#define ST_SCOPE static
#define ST_CHECK_FOR_INTERRUPTS
#define ST_DEFINE
#include "lib/sort_template.h"

/* Keeps the current row. */
static void
keep_row(KeptRows *kept, const RowScan *scan)
{
	KeptRow    *row;

	kept->rows = growing_reserve(kept->rows, &kept->room, kept->n + 1, sizeof(KeptRow));
	row = &kept->rows[kept->n];
	row->hash = scan->hash;
	row->order = kept->n++;
	row->value = scan->value;
	row->spec = scan->spec;
	row->columns = NULL;
	if (scan->state->columns[scan->side] != NULL)
	{
		row->columns = MemoryContextAllocHuge(kept->context, scan->row->columns.t_len);
		memcpy(row->columns, &scan->row->columns, scan->row->columns.t_len);
		kept->bytes += scan->row->columns.t_len;
	}
	kept->bytes += sizeof(KeptRow);
}

/*
 * Keeps the next inner rows that cannot be compared, in order of their hashes, as many
 * as have room; false if there are none.
 */
static bool
keep_rows(RowScan *inner, KeptRows *kept)
{
	MemoryContextReset(kept->context);
	kept->n = kept->bytes = 0;
	while (kept->bytes < kept->most && scan_next(inner))
		if (is_refused(inner))
			keep_row(kept, inner);
	sort_kept_rows(kept->rows, kept->n);
	return kept->n > 0;
}

/* The first kept row of that hash or a greater one. */
static size_t
first_kept(const KeptRows *kept, uint64 hash)
{
	size_t		from = 0;
	size_t		to = kept->n;

	while (from < to)
	{
		size_t		middle = from + (to - from) / 2;

		if (kept->rows[middle].hash < hash)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

/* True if the conditions that come before let an outer row and a kept one pass. */
static bool
passes(const RowScan *outer, const KeptRow *inner)
{
	SimilarityJoinState *state = outer->state;
	ExprContext *econtext = state->css.ss.ps.ps_ExprContext;
	TupleTableSlot *slot = state->rows[SIDE_INNER];

	if (!comparison_holds(&state->comparison, outer->value, inner->value))
		return false;
	if (inner->columns != NULL)
		ExecStoreMinimalTuple(inner->columns, slot, false);
	econtext->ecxt_innertuple = slot;
	return ExecQual(state->before, econtext);
}

/* Goes through the pairs of outer rows and kept ones that have the same hash. */
static void
check_pairs(SimilarityJoinState *state, const KeptRows *kept)
{
	RowScan		outer;

	scan_begin(&outer, state, SIDE_OUTER);
	while (scan_next(&outer))
	{
		if (!is_refused(&outer))
			continue;
		for (size_t i = first_kept(kept, outer.hash);
			 i < kept->n && kept->rows[i].hash == outer.hash; i++)
		{
			CHECK_FOR_INTERRUPTS();
			ResetExprContext(state->css.ss.ps.ps_ExprContext);
			if ((kept->rows[i].spec == outer.spec || !state->valid) &&
				passes(&outer, &kept->rows[i]))
				refuse_specs(state, outer.spec, kept->rows[i].spec);
		}
	}
}

/* Raises the error if a pair of rows that cannot be compared passes the conditions. */
static void
look_for_pair(SimilarityJoinState *state)
{
	MemoryContext old = MemoryContextSwitchTo(state->context);
	KeptRows	kept = {
		.context = AllocSetContextCreate(state->context, "kept rows",
										 ALLOCSET_DEFAULT_SIZES),
		.most = Max(get_hash_memory_limit() / CHECK_SHARE, MIN_KEPT)
	};
	RowScan		inner;

	scan_begin(&inner, state, SIDE_INNER);
	while (keep_rows(&inner, &kept))
		check_pairs(state, &kept);
	if (kept.rows != NULL)
		pfree(kept.rows);
	MemoryContextDelete(kept.context);
	MemoryContextSwitchTo(old);
}

/*
 * Raises an error if a nested loop would come to compare signatures that
 * cannot be compared.  All rows have been read, nothing has been joined.
 */
void
specs_check(SimilarityJoinState *state)
{
	const SpecList *specs = state->specs;

	/*
	 * Other conditions may keep specs apart: then rows never meet.  Each of several
	 * processes knows all specs; the leader warns.
	 */
	if (specs_number(specs) > 1 && !state->has_before && !IsParallelWorker())
	{
		SignatureSpec first = specs_get(specs, 1);
		SignatureSpec second = specs_get(specs, 2);

		spec_warn_different(&first, &second);
	}
	if ((state->valid && !specs_any_refused(specs)) ||
		!specs_on_side(specs, SIDE_OUTER) ||
		!specs_on_side(specs, SIDE_INNER))
		return;
	if (!state->has_before)
	{
		uint32		both = specs_refused_on_both(specs);

		if (!state->valid)
			refuse_specs(state, specs_first(specs, SIDE_OUTER),
						 specs_first(specs, SIDE_INNER));
		if (both != NO_SPEC)
			refuse_specs(state, both, both);
		return;
	}
	look_for_pair(state);
}
