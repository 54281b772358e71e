/*
 * conditions.c
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
 * src/planner/conditions.c
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_am.h"
#include "catalog/pg_amop.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "nodes/pathnodes.h"
#include "nodes/supportnodes.h"
#include "optimizer/optimizer.h"
#include "utils/builtins.h"
#include "utils/catcache.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "base/compat.h"
#include "base/settings.h"
#include "gin/gin.h"
#include "signature/sql/near.h"
#include "planner/comparisons.h"
#include "planner/conditions.h"
#include "planner/remote_threshold.h"
#include "planner/statistics.h"
#include "signature/sql/signature_query.h"
#include "signature/sql/subscript.h"

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

bool
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

PGFunction
near_function(Node *clause, List **args)
{
	Oid			funcid;

	return clause_call(clause, &funcid, args) ? function_address(funcid) : NULL;
}

/*
 * The condition in a clause that says of it that it is true, and not null: what some
 * programs make of every condition, and people who have rows without a signature.
 */
static Node *
bare_condition(Node *clause)
{
	CoalesceExpr *coalesce = (CoalesceExpr *) clause;
	Const	   *if_null;

	if (IsA(clause, BooleanTest) && ((BooleanTest *) clause)->booltesttype == IS_TRUE)
		return (Node *) ((BooleanTest *) clause)->arg;
	if (!IsA(clause, CoalesceExpr) || list_length(coalesce->args) != 2)
		return clause;
	if_null = lsecond(coalesce->args);
	if (!IsA(if_null, Const) || if_null->consttype != BOOLOID || if_null->constisnull ||
		DatumGetBool(if_null->constvalue))
		return clause;
	return linitial(coalesce->args);
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

/* The parts of a query that is a constant; the signature is of that type. */
static void
take_query_apart(const Const *constant, Oid type, NearCondition *condition)
{
	const SignatureQuery *query = DatumGetSignatureQuery(constant->constvalue);

	condition->measure = query->measure;
	condition->threshold = (Expr *)
		makeConst(FLOAT8OID, -1, InvalidOid, sizeof(float8),
				  Float8GetDatum(query->threshold), false, FLOAT8PASSBYVAL);
	condition->right = (Expr *)
		makeConst(type, -1, InvalidOid, -1,
				  PointerGetDatum(&query->signature), false, false);
}

/*
 * signature %% signature_query(signature, ...), or as the planner packs it, or
 * a constant
 */
static bool
query_condition(Node *right, NearCondition *condition)
{
	List	   *args;
	Expr	   *measure;

	if (IsA(right, Const) && !((Const *) right)->constisnull)
	{
		take_query_apart((Const *) right, exprType((Node *) condition->left),
						 condition);
		return true;
	}
	if (signature_subscripts(right, &condition->right, &measure,
							 &condition->threshold))
		return constant_measure((Node *) measure, &condition->measure);
	if (near_function(right, &args) != signature_query_new)
		return false;
	condition->right = linitial(args);
	condition->threshold = lsecond(args);
	return constant_measure(lthird(args), &condition->measure);
}

bool
near_condition(Node *clause, NearCondition *condition)
{
	List	   *args;
	PGFunction	address;

	clause = bare_condition(clause);
	address = near_function(clause, &args);
	condition->recall = NULL;
	if (address == NULL)
		return near_comparison(clause, condition);
	if (list_length(args) < 2)
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
approx_condition(Node *clause, NearCondition *condition)
{
	List	   *args;

	if (near_function(bare_condition(clause), &args) != signature_near_duplicate_approx ||
		list_length(args) != 4)
		return false;
	condition->left = linitial(args);
	condition->right = lsecond(args);
	condition->threshold = lthird(args);
	condition->measure = MEASURE_JACCARD;
	condition->recall = lfourth(args);
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

/* See conditions.h */
bool
index_finds_near(const IndexOptInfo *index)
{
	Oid			operator;
	Oid			querytype;

	for (int i = 0; i < index->nkeycolumns; i++)
		if (family_operator(index->opfamily[i], &operator, &querytype))
			return true;
	return false;
}

static GinSignatureOptions
column_options(const IndexOptInfo *index, int indexcol)
{
	return gin_signature_options(index->opclassoptions ?
								 index->opclassoptions[indexcol] : NULL);
}

/*
 * True unless it is known now that the index cannot answer.  One of access
 * method neardup answers at any threshold.  A constant that is no threshold is
 * left to the plain function, which raises when it meets a row.
 */
static bool
index_can_answer(const IndexOptInfo *index,
				 const GinSignatureOptions *options, Measure measure,
				 Expr *threshold)
{
	Const	   *con = (Const *) threshold;
	double		t = 1;			/* not known yet: may be any; 1 is one */

	if (threshold == NULL)
		t = neardup_threshold;
	else if (IsA(threshold, Const))
	{
		if (con->constisnull)
			return false;
		t = DatumGetFloat8(con->constvalue);
	}
	return measure_has_threshold(measure, t) &&
		(index->relam != GIN_AM_OID ||
		 gin_signature_can_answer(options, measure, t));
}

/* True if it is known now that the index would go through every row. */
static bool
index_has_no_keys(const GinSignatureOptions *options, Expr *query)
{
	Const	   *con = (Const *) query;

	return IsA(query, Const) && !con->constisnull &&
		!gin_signature_has_keys(options,
								DatumGetSignatureQuery(con->constvalue));
}

/*
 * True if the threshold is known when the scan begins.  One of another table's row may
 * be below that of a GIN index, which then would go through all rows for each of them.
 */
static bool
threshold_is_known(PlannerInfo *root, IndexOptInfo *index, Expr *threshold)
{
	return threshold == NULL ||
		(is_pseudo_constant_for_index(root, (Node *) threshold, index) &&
		 (index->relam != GIN_AM_OID || !contain_var_clause((Node *) threshold)));
}

/*
 * What packs the query, folded to a constant where it can be, so that GIN's
 * cost estimate sees the keys.  With the setting it cannot be, as that may
 * change before the plan runs.
 */
static Expr *
query_expression(PlannerInfo *root, Oid querytype, Expr *other,
				 const NearCondition *condition)
{
	Expr	   *packed = signature_subscripted(other, condition->measure,
											   condition->threshold,
											   querytype);

	if (condition->threshold == NULL)
		return packed;
	return (Expr *) eval_const_expressions(root, (Node *) packed);
}

Expr *
near_index_clause(PlannerInfo *root, IndexOptInfo *index, int indexcol,
				  Oid opfamily, int indexarg, const NearCondition *condition)
{
	NearCondition asked = *condition;
	GinSignatureOptions options = column_options(index, indexcol);
	Expr	   *indexed = indexarg == 0 ? asked.left : asked.right;
	Expr	   *other = indexarg == 0 ? asked.right : asked.left;
	Oid			operator;
	Oid			querytype;

	if (indexarg > 1 || !family_operator(opfamily, &operator, &querytype))
		return NULL;
	if (indexarg == 1)
		asked.measure = measure_commute(asked.measure);
	if (!is_pseudo_constant_for_index(root, (Node *) other, index) ||
		!threshold_is_known(root, index, asked.threshold) ||
		!index_can_answer(index, &options, asked.measure, asked.threshold))
		return NULL;
	other = query_expression(root, querytype, other, &asked);
	if (index->relam == GIN_AM_OID && index_has_no_keys(&options, other))
		return NULL;
	return make_opclause(operator, BOOLOID, false, indexed, other,
						 InvalidOid, INDEX_CONDITION_COLLATION);
}

/*
 * Whether a condition raises must not depend on the plan.  So the condition
 * itself is left in it, to be checked after those that are cheaper: what the
 * index asks is called lossy, and raises nothing.
 */
static List *
index_condition(SupportRequestIndexCondition *req)
{
	NearCondition condition;
	Expr	   *clause;

	if (!near_condition(req->node, &condition) &&
		!approx_condition(req->node, &condition))
		return NIL;
	clause = near_index_clause(req->root, req->index, req->indexcol,
							   req->opfamily, req->indexarg, &condition);
	if (clause == NULL)
		return NIL;
	req->lossy = true;
	return list_make1(clause);
}

/* True if the function is that of an operator that asks for the setting. */
static bool
asks_for_setting(Oid funcid)
{
	PGFunction	address = function_address(funcid);

	return address == signature_near_duplicate_op ||
		address == signature_contained_in_op ||
		address == signature_contains_op;
}

PG_FUNCTION_INFO_V1(neardup_support);
Datum
neardup_support(PG_FUNCTION_ARGS)
{
	Node	   *request = (Node *) PG_GETARG_POINTER(0);

	if (IsA(request, SupportRequestSimplify))
	{
		SupportRequestSimplify *req = (SupportRequestSimplify *) request;

		if (asks_for_setting(req->fcall->funcid))
			remote_threshold_require_same(req->root);
	}
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
