/*
 * subscript.c
 *		A signature with subscripts: how a plan packs a signature_query.
 *
 * Where a near-duplicate condition becomes an index condition, the signature
 * on its other side, the measure and the threshold have to become one value
 * while the plan runs.  A function could do that, but a function of a plan is
 * run with the rights of whoever runs the query, and those who may read a view
 * need no right to names within it.  Subscripting asks for none: it belongs
 * to the type.  So the planner writes signature[measure][threshold], or
 * signature[measure] for the threshold of neardup.threshold, which nobody
 * else can write.
 *
 * Nothing is checked here: a threshold that is none is refused by the condition
 * itself, when it comes to compare a row.
 */
#include "postgres.h"

#include "catalog/pg_collation_d.h"
#include "catalog/pg_type_d.h"
#include "executor/execExpr.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "nodes/subscripting.h"
#include "parser/parse_node.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "base/settings.h"
#include "signature/sql/near.h"
#include "signature/sql/signature_query.h"
#include "signature/sql/subscript.h"

PG_FUNCTION_INFO_V1(signature_subscript);

/* Places of the subscripts */
enum
{
	SUBSCRIPT_MEASURE,			/* text */
	SUBSCRIPT_THRESHOLD,		/* float8, may be missing */
	SUBSCRIPT_COUNT
};

/* In the executor */

/* What a query says is refused as if there were no subscripts of the type. */
static void
transform(SubscriptingRef *ref, List *indirection, ParseState *pstate,
		  bool isSlice, bool isAssignment)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg("cannot subscript type %s because it does not support subscripting",
					format_type_be(ref->refcontainertype)),
			 parser_errposition(pstate, exprLocation((Node *) ref->refexpr))));
}

/* SubscriptExecSteps.sbs_check_subscripts: false makes the result null. */
static bool
check_subscripts(ExprState *state, ExprEvalStep *op, ExprContext *econtext)
{
	SubscriptingRefState *ref = op->d.sbsref_subscript.state;

	for (int i = 0; i < ref->numupper; i++)
	{
		if (ref->upperindexnull[i])
		{
			*op->resnull = true;
			return false;
		}
	}
	return true;
}

/* SubscriptExecSteps.sbs_fetch: the signature is there and no NULL. */
static void
fetch(ExprState *state, ExprEvalStep *op, ExprContext *econtext)
{
	SubscriptingRefState *ref = op->d.sbsref.state;
	Measure		measure = measure_require(DatumGetTextPP(ref->upperindex[SUBSCRIPT_MEASURE]));
	double		threshold = ref->numupper == SUBSCRIPT_COUNT ?
		DatumGetFloat8(ref->upperindex[SUBSCRIPT_THRESHOLD]) :
		neardup_threshold;
	SignatureQuery *query = signature_query_make(DatumGetSignature(*op->resvalue),
												 threshold, measure);

	*op->resvalue = PointerGetDatum(query);
}

static void
exec_setup(const SubscriptingRef *ref, SubscriptingRefState *state,
		   SubscriptExecSteps *methods)
{
	methods->sbs_check_subscripts = check_subscripts;
	methods->sbs_fetch = fetch;
	methods->sbs_assign = NULL;
	methods->sbs_fetch_old = NULL;
}

static const SubscriptRoutines routines = {
	.transform = transform,
	.exec_setup = exec_setup,
	.fetch_strict = true
};

/* The subscripting handler of type signature. */
Datum
signature_subscript(PG_FUNCTION_ARGS)
{
	PG_RETURN_POINTER(&routines);
}

/* In the planner */

Expr *
signature_subscripted(Expr *signature, Measure measure, Expr *threshold,
					  Oid querytype)
{
	SubscriptingRef *ref = makeNode(SubscriptingRef);
	Const	   *name = makeConst(TEXTOID, -1, DEFAULT_COLLATION_OID, -1,
								 CStringGetTextDatum(measure_name(measure)),
								 false, false);

	ref->refcontainertype = getBaseType(exprType((Node *) signature));
	ref->refelemtype = InvalidOid;
	ref->refrestype = querytype;
	ref->reftypmod = -1;
	ref->refexpr = signature;
	ref->refupperindexpr = threshold ? list_make2(name, threshold) :
		list_make1(name);
	return (Expr *) ref;
}

bool
signature_subscripts(Node *node, Expr **signature, Expr **measure,
					 Expr **threshold)
{
	SubscriptingRef *ref = (SubscriptingRef *) node;
	List	   *subscripts;

	if (!IsA(node, SubscriptingRef) ||
		getSubscriptingRoutines(ref->refcontainertype, NULL) != &routines)
		return false;
	subscripts = ref->refupperindexpr;
	*signature = ref->refexpr;
	*measure = list_nth(subscripts, SUBSCRIPT_MEASURE);
	*threshold = list_length(subscripts) == SUBSCRIPT_COUNT ?
		list_nth(subscripts, SUBSCRIPT_THRESHOLD) : NULL;
	return true;
}
