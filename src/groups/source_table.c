/*
 * source_table.c
 *		The table that a column of a query comes from.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/groups/source_table.c
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_operator_d.h"
#include "catalog/pg_type_d.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"

#include "groups/source_table.h"
#include "signature/sql/near.h"
#include "planner/conditions.h"

/* True if tables are joined as conditions say, and no row comes without a partner. */
static bool
joins_inner(Node *node)
{
	List	   *from = NIL;
	ListCell   *lc;

	if (IsA(node, JoinExpr))
	{
		JoinExpr   *join = (JoinExpr *) node;

		return join->jointype == JOIN_INNER && joins_inner(join->larg) &&
			joins_inner(join->rarg);
	}
	if (IsA(node, FromExpr))
		from = ((FromExpr *) node)->fromlist;
	foreach(lc, from)
		if (!joins_inner(lfirst(lc)))
			return false;
	return true;
}

/* True if each row of a query is one of the joined tables' rows. */
static bool
joins_only(const Query *query)
{
	return query->commandType == CMD_SELECT && query->setOperations == NULL &&
		query->groupClause == NIL && query->groupingSets == NIL &&
		query->havingQual == NULL && query->distinctClause == NIL &&
		query->limitCount == NULL && query->limitOffset == NULL &&
		query->rowMarks == NIL && !query->hasAggs && !query->hasWindowFuncs &&
		!query->hasTargetSRFs && joins_inner((Node *) query->jointree);
}

/* The column of a query, if it is one of what it reads; else NULL. */
static Var *
column_read(const Query *query, int n)
{
	ListCell   *lc;

	foreach(lc, query->targetList)
	{
		TargetEntry *entry = lfirst_node(TargetEntry, lc);

		if (entry->resno == n && !entry->resjunk && IsA(entry->expr, Var) &&
			((Var *) entry->expr)->varlevelsup == 0)
			return (Var *) entry->expr;
	}
	return NULL;
}

/* True if it is a table whose rows are all in one place. */
static bool
is_plain_table(const RangeTblEntry *rte)
{
	return rte->rtekind == RTE_RELATION && rte->tablesample == NULL &&
		(rte->relkind == RELKIND_RELATION || rte->relkind == RELKIND_MATVIEW) &&
		!(rte->inh && has_subclass(rte->relid));
}

/* See source_table.h */
bool
source_table_find(Query *query, int n, SourceTable *source)
{
	for (source->depth = 0;; source->depth++)
	{
		RangeTblEntry *rte;

		if (!joins_only(query))
			return false;
		source->query = query;
		source->var = column_read(query, n);
		if (source->var == NULL)
			return false;
		rte = rt_fetch(source->var->varno, query->rtable);
		source->table = rte->relid;
		source->column = source->var->varattno;
		if (rte->rtekind != RTE_SUBQUERY)
			return is_plain_table(rte) && source->column > 0;
		query = rte->subquery;
		n = source->column;
	}
}

/* Where a row of the table stands. */
static Expr *
place_of(const SourceTable *source)
{
	Var		   *place = copyObject(source->var);

	place->varattno = place->varattnosyn = SelfItemPointerAttributeNumber;
	place->vartype = TIDOID;
	place->vartypmod = -1;
	place->varcollid = InvalidOid;
	return (Expr *) place;
}

static void
add_condition(SourceTable *source, Node *condition)
{
	FromExpr   *from = source->query->jointree;

	from->quals = make_and_qual(from->quals, condition);
}

/* See source_table.h */
void
source_table_place(SourceTable *source, Index varno, AttrNumber attno)
{
	Var		   *wanted = makeVar(varno, attno, TIDOID, -1, InvalidOid,
								 source->depth);
	Expr	   *equal = make_opclause(TIDEqualOperator, BOOLOID, false,
									  place_of(source), (Expr *) wanted,
									  InvalidOid, InvalidOid);

	set_opfuncid((OpExpr *) equal);
	add_condition(source, (Node *) equal);
}

/* See source_table.h */
void
source_table_place_any(SourceTable *source, int param)
{
	ScalarArrayOpExpr *equal = makeNode(ScalarArrayOpExpr);
	Param	   *places = makeNode(Param);

	places->paramkind = PARAM_EXTERN;
	places->paramid = param;
	places->paramtype = TIDARRAYOID;
	places->paramtypmod = -1;
	places->location = -1;
	equal->opno = TIDEqualOperator;
	set_sa_opfuncid(equal);
	equal->useOr = true;
	equal->args = list_make2(place_of(source), places);
	equal->location = -1;
	add_condition(source, (Node *) equal);
}

/* Conditions that hold for equal sets */

static bool
is_first_param(const Node *node)
{
	return IsA(node, Param) && ((const Param *) node)->paramkind == PARAM_EXTERN &&
		((const Param *) node)->paramid == 1;
}

/* The value of an argument that is constant, or NULL. */
static const Const *
constant_argument(List *args, int n)
{
	Node	   *node = eval_const_expressions(NULL, list_nth(args, n));

	return IsA(node, Const) && !((Const *) node)->constisnull ? (Const *) node : NULL;
}

/* True if it is a condition that holds for equal sets, unless they are empty. */
static bool
holds_for_equal(Node *clause, const Var *column)
{
	List	   *args;
	const Const *threshold;
	const Const *name;
	Measure		measure = MEASURE_JACCARD;

	if (near_function(clause, &args) != signature_near_duplicate ||
		list_length(args) < 3 ||
		!(equal(linitial(args), column) && is_first_param(lsecond(args))) ||
		(threshold = constant_argument(args, 2)) == NULL)
		return false;
	if (list_length(args) > 3)
	{
		name = constant_argument(args, 3);
		if (name == NULL ||
			!measure_by_name(VARDATA_ANY(DatumGetPointer(name->constvalue)),
							 VARSIZE_ANY_EXHDR(DatumGetPointer(name->constvalue)),
							 &measure))
			return false;
	}
	return measure != MEASURE_SHARED &&
		measure_has_threshold(measure, DatumGetFloat8(threshold->constvalue));
}

/* See source_table.h */
void
source_table_drop_near(Query *query, int n)
{
	for (;;)
	{
		Var		   *column = column_read(query, n);
		List	   *quals = make_ands_implicit((Expr *) query->jointree->quals);
		ListCell   *lc;

		foreach(lc, quals)
			if (holds_for_equal(lfirst(lc), column))
				quals = foreach_delete_current(quals, lc);
		query->jointree->quals = quals == NIL ? NULL :
			(Node *) make_ands_explicit(quals);
		if (rt_fetch(column->varno, query->rtable)->rtekind != RTE_SUBQUERY)
			return;
		n = column->varattno;
		query = rt_fetch(column->varno, query->rtable)->subquery;
	}
}
