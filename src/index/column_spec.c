/*
 * column_spec.c
 *		The spec of all signatures of an indexed column, where its definition
 *		tells it.
 *
 * A look-up by another analysis than the column's finds nothing, which looks
 * like an answer.  A sequential scan meets a signature of the other spec and
 * warns; an index has only hashes of specs.  So the definition of the column
 * is asked, a generated column's expression or the index's own.
 */
#include "postgres.h"

#include "access/table.h"
#include "access/xact.h"
#include "datatype/timestamp.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "rewrite/rewriteHandler.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/relcache.h"

#include "index/column_spec.h"
#include "methods/method.h"

/*
 * Return the expression of an index's column: a generated column's or the
 * index's own; NULL if it is a column that is stored as it comes.
 */
static Node *
column_expression(Relation index)
{
	AttrNumber	attnum = index->rd_index->indkey.values[0];
	Node	   *expr = NULL;
	Relation	heap;

	if (attnum == 0)
		return linitial(RelationGetIndexExpressions(index));
	heap = table_open(index->rd_index->indrelid, AccessShareLock);
	if (TupleDescAttr(RelationGetDescr(heap), attnum - 1)->attgenerated != '\0')
		expr = build_column_default(heap, attnum);
	table_close(heap, AccessShareLock);
	return expr;
}

/*
 * Put an empty document in place of the argument that depends on the row.
 * False if no argument depends on it, or several, or the argument is no text.
 */
static bool
set_empty_document(List *args)
{
	ListCell   *document = NULL;
	ListCell   *lc;

	foreach(lc, args)
	{
		if (!contain_var_clause(lfirst(lc)))
			continue;
		if (document != NULL)
			return false;
		document = lc;
	}
	if (document == NULL || exprType(lfirst(document)) != TEXTOID)
		return false;
	lfirst(document) = makeConst(TEXTOID, -1, exprCollation(lfirst(document)),
								 -1, CStringGetTextDatum(""), false, false);
	return true;
}

/*
 * Return a signature of an empty document, made as the column's are; NULL if
 * they may have several specs, or another function makes them.
 */
static const Signature *
empty_signature(Relation index)
{
	FuncExpr   *call = (FuncExpr *) copyObject(column_expression(index));
	FmgrInfo	function;
	Node	   *made;

	if (call == NULL || !IsA(call, FuncExpr))
		return NULL;
	fmgr_info(call->funcid, &function);
	if (function.fn_addr != shingles || !set_empty_document(call->args))
		return NULL;
	made = eval_const_expressions(NULL, (Node *) call);
	if (!IsA(made, Const) || ((Const *) made)->constisnull)
		return NULL;
	return DatumGetSignature(((Const *) made)->constvalue);
}

void
column_spec_warn(Relation index, const SignatureSpec *spec)
{
	static TimestampTz asked;	/* start of the last statement that asked */
	static Oid	asked_index;
	TimestampTz statement = GetCurrentStatementStartTimestamp();
	const Signature *empty;

	if (asked == statement && asked_index == RelationGetRelid(index))
		return;
	asked = statement;
	asked_index = RelationGetRelid(index);
	empty = empty_signature(index);
	if (empty != NULL && !spec_equal(&empty->spec, spec))
		spec_warn_different(&empty->spec, spec);
}
