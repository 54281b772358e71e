/*
 * support.c
 *		The planner support function of near-duplicate conditions.
 *
 * It leads near_duplicate(), contained_in(), %, <% and %> to the one operator
 * that an index knows, %%(signature, signature_query).  It is also what loads
 * the library, with the join node, into a session that plans its first
 * near-duplicate condition.
 *
 * Functions are recognised by the addresses of their C code: no cache of
 * OIDs, and nothing breaks when the extension is moved to another schema.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/index/support.c
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_amop.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "nodes/pathnodes.h"
#include "nodes/supportnodes.h"
#include "optimizer/optimizer.h"
#include "parser/parse_func.h"
#include "utils/builtins.h"
#include "utils/catcache.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "compat.h"
#include "index/gin.h"
#include "index/query.h"
#include "index/support.h"
#include "measures.h"
#include "statistics.h"

/* Taking a condition apart */

/* The address of the C function behind a function with planner support. */
static PGFunction
function_address(Oid funcid)
{
	FmgrInfo	flinfo;

	if (!OidIsValid(get_func_support(funcid)))
		return NULL;
	fmgr_info(funcid, &flinfo);
	return flinfo.fn_addr;
}

/* The function and arguments of a call or operator; false for other nodes. */
static bool
clause_call(Node *clause, Oid *funcid, List **args)
{
	if (clause == NULL)
		return false;
	if (IsA(clause, FuncExpr))
	{
		*funcid = ((FuncExpr *) clause)->funcid;
		*args = ((FuncExpr *) clause)->args;
		return true;
	}
	if (IsA(clause, OpExpr))
	{
		set_opfuncid((OpExpr *) clause);
		*funcid = ((OpExpr *) clause)->opfuncid;
		*args = ((OpExpr *) clause)->args;
		return true;
	}
	return false;
}

/* A measure that is a known, valid constant. */
static bool
constant_measure(Node *arg, Measure *measure)
{
	Const	   *con = (Const *) arg;
	text	   *name;

	if (!IsA(arg, Const) || con->constisnull)
		return false;
	name = DatumGetTextPP(con->constvalue);
	return measure_by_name(VARDATA_ANY(name), VARSIZE_ANY_EXHDR(name), measure);
}

/* signature %% signature_query(signature, ...) */
static bool
query_condition(Node *right, NearCondition *condition)
{
	Oid			funcid;
	List	   *args;
	PGFunction	address;

	if (!clause_call(right, &funcid, &args))
		return false;
	address = function_address(funcid);
	if (address != signature_query_new && address != signature_query_setting)
		return false;
	condition->right = linitial(args);
	condition->threshold = address == signature_query_new ? lsecond(args) : NULL;
	return constant_measure(llast(args), &condition->measure);
}

bool
near_condition(Node *clause, NearCondition *condition)
{
	Oid			funcid;
	List	   *args;
	PGFunction	address;

	if (!clause_call(clause, &funcid, &args) || list_length(args) < 2)
		return false;
	address = function_address(funcid);
	if (address == NULL)
		return false;
	condition->left = linitial(args);
	condition->right = lsecond(args);
	condition->threshold = NULL;
	if (address == signature_near_duplicate_op)
		condition->measure = MEASURE_JACCARD;
	else if (address == signature_contained_in_op)
		condition->measure = MEASURE_CONTAINMENT;
	else if (address == signature_contains_op)
		condition->measure = MEASURE_CONTAINS;
	else if (address == signature_matches)
		return query_condition(lsecond(args), condition);
	else if (address == signature_contained_in)
	{
		condition->measure = MEASURE_CONTAINMENT;
		condition->threshold = lthird(args);
	}
	else if (address == signature_near_duplicate && list_length(args) == 4)
	{
		condition->threshold = lthird(args);
		return constant_measure(lfourth(args), &condition->measure);
	}
	else
		return false;
	return true;
}

bool
approx_condition(Node *clause, NearCondition *condition, Expr **recall)
{
	Oid			funcid;
	List	   *args;

	if (!clause_call(clause, &funcid, &args) || list_length(args) != 4 ||
		function_address(funcid) != signature_near_duplicate_approx)
		return false;
	condition->left = linitial(args);
	condition->right = lsecond(args);
	condition->threshold = lthird(args);
	condition->measure = MEASURE_JACCARD;
	*recall = lfourth(args);
	return true;
}

/* Leading a condition to the index */

/* The family's operator and the type on its right. */
static bool
family_operator(Oid opfamily, Oid *operator, Oid *querytype)
{
	CatCList   *members = SearchSysCacheList1(AMOPSTRATEGY,
											  ObjectIdGetDatum(opfamily));
	bool		found = false;

	for (int i = 0; i < members->n_members && !found; i++)
	{
		Form_pg_amop member = (Form_pg_amop) GETSTRUCT(&members->members[i]->tuple);

		if (member->amopstrategy != SIGNATURE_MATCH_STRATEGY)
			continue;
		*operator = member->amopopr;
		*querytype = member->amoprighttype;
		found = function_address(get_opcode(member->amopopr)) == signature_matches;
	}
	ReleaseSysCacheList(members);
	return found;
}

/* A call of the signature_query function beside the operator's function. */
static Expr *
query_call(Oid operator, Oid querytype, List *args)
{
	char	   *schema = get_namespace_name(get_func_namespace(get_opcode(operator)));
	List	   *name = list_make2(makeString(schema),
								  makeString(list_length(args) == 3 ?
											 "signature_query" :
											 "signature_query_setting"));
	Oid			types[3];
	int			n = 0;
	ListCell   *lc;

	foreach(lc, args)
		types[n++] = exprType(lfirst(lc));
	return (Expr *) makeFuncExpr(LookupFuncName(name, n, types, false),
								 querytype, args, InvalidOid,
								 DEFAULT_COLLATION_OID, COERCE_EXPLICIT_CALL);
}

/*
 * signature_query(other, threshold, measure), folded to a constant where it
 * can be, so that GIN's cost estimate sees the keys.
 */
static Expr *
query_expression(PlannerInfo *root, Oid operator, Oid querytype,
				 Expr *other, Expr *threshold, Measure measure)
{
	Expr	   *name = (Expr *) makeConst(TEXTOID, -1, DEFAULT_COLLATION_OID, -1,
										  CStringGetTextDatum(measure_name(measure)),
										  false, false);
	List	   *args = threshold ? list_make3(other, threshold, name) :
	list_make2(other, name);

	return (Expr *) eval_const_expressions(root,
										   (Node *) query_call(operator, querytype, args));
}

/*
 * True unless it is known now that the index cannot answer.  A constant that
 * is no threshold is left to the plain function, which raises when it meets
 * a row.
 */
static bool
index_can_answer(const IndexOptInfo *index, int indexcol, Measure measure,
				 Expr *threshold)
{
	bytea	   *given = index->opclassoptions ?
	index->opclassoptions[indexcol] : NULL;
	GinSignatureOptions options = gin_signature_options(given);
	Const	   *con = (Const *) threshold;
	double		t = 1;			/* not known yet: may be any */

	if (threshold == NULL)
		t = neardup_threshold;
	else if (IsA(threshold, Const))
	{
		if (con->constisnull)
			return false;
		t = DatumGetFloat8(con->constvalue);
	}
	return t > 0 && t <= 1 && gin_signature_can_answer(&options, measure, t);
}

/* True if the threshold is one and the same for the whole scan. */
static bool
threshold_is_fixed(Expr *threshold)
{
	return threshold == NULL ||
		(!contain_var_clause((Node *) threshold) &&
		 !contain_volatile_functions((Node *) threshold));
}

static List *
index_condition(SupportRequestIndexCondition *req)
{
	NearCondition condition;
	Expr	   *indexed;
	Expr	   *other;
	Oid			operator;
	Oid			querytype;
	Oid			family = req->opfamily;
	Expr	   *recall = NULL;

	if (!near_condition(req->node, &condition) &&
		!approx_condition(req->node, &condition, &recall))
		return NIL;
	if (!family_operator(family, &operator, &querytype))
		return NIL;
	indexed = req->indexarg == 0 ? condition.left : condition.right;
	other = req->indexarg == 0 ? condition.right : condition.left;
	if (req->indexarg == 1)
		condition.measure = measure_commute(condition.measure);
	if (req->indexarg > 1 ||
		!is_pseudo_constant_for_index(req->root, (Node *) other, req->index) ||
		!threshold_is_fixed(condition.threshold) ||
		!index_can_answer(req->index, req->indexcol, condition.measure,
						  condition.threshold))
		return NIL;
	/* the index finds what the exact test passes; the banding is checked */
	req->lossy = (recall != NULL);
	other = query_expression(req->root, operator, querytype, other,
							 condition.threshold, condition.measure);
	return list_make1(make_opclause(operator, BOOLOID, false, indexed, other,
									InvalidOid, InvalidOid));
}

PG_FUNCTION_INFO_V1(neardup_support);
Datum
neardup_support(PG_FUNCTION_ARGS)
{
	Node	   *request = (Node *) PG_GETARG_POINTER(0);

	if (IsA(request, SupportRequestIndexCondition))
		PG_RETURN_POINTER(index_condition((SupportRequestIndexCondition *) request));
	if (IsA(request, SupportRequestSelectivity))
	{
		SupportRequestSelectivity *req = (SupportRequestSelectivity *) request;
		Expr	   *clause = (Expr *) makeFuncExpr(req->funcid, BOOLOID,
												   req->args, InvalidOid,
												   req->inputcollid,
												   COERCE_EXPLICIT_CALL);

		req->selectivity = near_selectivity(req->root, (Node *) clause,
											req->jointype,
											req->is_join ? req->sjinfo : NULL);
		PG_RETURN_POINTER(req);
	}
	PG_RETURN_POINTER(NULL);
}

/* Selectivity of the operators */

/* The condition that an estimator is asked about. */
static Node *
estimated_clause(FunctionCallInfo fcinfo)
{
	List	   *args = (List *) PG_GETARG_POINTER(2);

	return (Node *) make_opclause(PG_GETARG_OID(1), BOOLOID, false,
								  linitial(args), lsecond(args),
								  InvalidOid, PG_GET_COLLATION());
}

PG_FUNCTION_INFO_V1(neardup_sel);
Datum
neardup_sel(PG_FUNCTION_ARGS)
{
	PG_RETURN_FLOAT8(near_selectivity((PlannerInfo *) PG_GETARG_POINTER(0),
									  estimated_clause(fcinfo), JOIN_INNER,
									  NULL));
}

PG_FUNCTION_INFO_V1(neardup_joinsel);
Datum
neardup_joinsel(PG_FUNCTION_ARGS)
{
	PG_RETURN_FLOAT8(near_selectivity((PlannerInfo *) PG_GETARG_POINTER(0),
									  estimated_clause(fcinfo),
									  (JoinType) PG_GETARG_INT16(3),
									  (SpecialJoinInfo *) PG_GETARG_POINTER(4)));
}
