/*
 * source_table.c
 *		The table that a column of a query comes from.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/clusters/source_table.c
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_operator_d.h"
#include "catalog/pg_type_d.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "parser/parsetree.h"

#include "clusters/source_table.h"

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

/* See source_table.h */
void
source_table_place(SourceTable *source, Index varno, AttrNumber attno)
{
	FromExpr   *from = source->query->jointree;
	Var		   *place = copyObject(source->var);
	Var		   *wanted = makeVar(varno, attno, TIDOID, -1, InvalidOid,
								 source->depth);
	Expr	   *equal;

	place->varattno = place->varattnosyn = SelfItemPointerAttributeNumber;
	place->vartype = TIDOID;
	place->vartypmod = -1;
	place->varcollid = InvalidOid;
	equal = make_opclause(TIDEqualOperator, BOOLOID, false, (Expr *) place,
						  (Expr *) wanted, InvalidOid, InvalidOid);
	set_opfuncid((OpExpr *) equal);
	from->quals = make_and_qual(from->quals, (Node *) equal);
}
