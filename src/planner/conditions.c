/*
 * conditions.c
 *		Parsing near-duplicate conditions, and index conditions for them.
 *
 * near_duplicate(), contained_in(), %, <% and %> become the one operator that
 * an index knows, %%(signature, signature_query).
 *
 * Functions are recognised by the addresses of their C code, whatever their
 * schema.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_am.h"
#include "catalog/pg_amop.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "nodes/pathnodes.h"
#include "nodes/supportnodes.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "utils/builtins.h"
#include "utils/catcache.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "base/compat.h"
#include "base/settings.h"
#include "gin/gin.h"
#include "keys/index_condition.h"
#include "signature/sql/near.h"
#include "planner/conditions.h"
#include "signature/sql/signature_query.h"

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

PGFunction
near_function(Node *clause, List **args)
{
	Oid			funcid;

	return clause_call(clause, &funcid, args) ? function_address(funcid) :
		NULL;
}

/*
 * The condition c of `c IS TRUE` and `coalesce(c, false)`; other clauses are
 * returned as they are.
 */
static Node *
bare_condition(Node *clause)
{
	CoalesceExpr *coalesce = (CoalesceExpr *) clause;
	Const	   *if_null;

	if (IsA(clause, BooleanTest) &&
		((BooleanTest *) clause)->booltesttype == IS_TRUE)
		return (Node *) ((BooleanTest *) clause)->arg;
	if (!IsA(clause, CoalesceExpr) || list_length(coalesce->args) != 2)
		return clause;
	if_null = lsecond(coalesce->args);
	if (!IsA(if_null, Const) || if_null->consttype != BOOLOID ||
		if_null->constisnull ||
		DatumGetBool(if_null->constvalue))
		return clause;
	return linitial(coalesce->args);
}

/* The measure, if it is a valid constant. */
static bool
constant_measure(Node *arg, Measure *measure)
{
	Const	   *con = (Const *) arg;
	text	   *name;

	if (!IsA(arg, Const) || con->constisnull)
		return false;
	name = DatumGetTextPP(con->constvalue);
	return measure_by_name(VARDATA_ANY(name), VARSIZE_ANY_EXHDR(name),
						   measure);
}

/* A threshold as an expression. */
static Expr *
constant_threshold(double threshold)
{
	return (Expr *) makeConst(FLOAT8OID, -1, InvalidOid, sizeof(float8),
							  Float8GetDatum(threshold), false,
							  FLOAT8PASSBYVAL);
}

/* The parts of a constant query, whose signature is of that type. */
static void
take_query_apart(const Const *constant, Oid type, NearCondition *condition)
{
	const SignatureQuery *query = DatumGetSignatureQuery(constant->constvalue);

	condition->measure = query->measure;
	condition->threshold = constant_threshold(query->threshold);
	condition->right = (Expr *)
		makeConst(type, -1, InvalidOid, -1, PointerGetDatum(&query->signature),
				  false, false);
}

/*
 * The right side of %%: signature_query(signature, ...), its packed form, or a
 * constant.
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

/*
 * Comparisons of a measure with a constant
 *
 * similarity(a, b) >= 0.8 equals near_duplicate(a, b, 0.8, 'similarity').  With
 * > the threshold is the next number; with a <-> b <= 0.2 it is the least
 * number that, subtracted from 1 and rounded, is not above 0.2.  Bisection
 * finds it with the comparison itself as the test: measures are numbers from 0
 * to 1, and rounding and comparing are monotonic.
 *
 * Parameters are not accepted: the value may be no threshold, so that all rows
 * pass.
 */
typedef struct Comparator
{
	FmgrInfo	compare;
	Datum		constant;
	bool		measure_first;	/* true if the measure is the left operand */
	bool		distance;		/* true if the distance is compared */
	uint64		scale;			/* number of features that a count has for
								 * each element */
} Comparator;

/*
 * The number of features that each element of a constant signature stands for.
 */
static bool
known_scale(const List *signatures, uint64 *scale)
{
	ListCell   *lc;

	foreach(lc, signatures)
	{
		const Const *constant = lfirst(lc);

		if (IsA(constant, Const) && !constant->constisnull)
		{
			*scale = features_per_element(DatumGetSignature(constant->constvalue));
			return true;
		}
	}
	return false;
}

bool
near_measure_call(Node *node, NearCondition *condition)
{
	List	   *args;
	PGFunction	function = near_function(node, &args);

	if (function == signature_similarity || function == signature_distance)
		condition->measure = MEASURE_SIMILARITY;
	else if (function == signature_containment)
		condition->measure = MEASURE_CONTAINMENT;
	else if (function == signature_dice)
		condition->measure = MEASURE_DICE;
	else if (function == signature_cosine ||
			 function == signature_cosine_distance)
		condition->measure = MEASURE_COSINE;
	else if (function == signature_shared_values ||
			 function == signature_intersection_size)
		condition->measure = MEASURE_SHARED;
	else
		return false;
	condition->recall = NULL;
	condition->left = linitial(args);
	condition->right = lsecond(args);
	return true;
}

/* Jaccard and similarity decide sketches differently, but have one value. */
static Measure
measure_of_value(Measure measure)
{
	return measure == MEASURE_SIMILARITY ? MEASURE_JACCARD : measure;
}

bool
near_is_value(Node *node, const NearCondition *condition)
{
	List	   *args;
	PGFunction	function = near_function(node, &args);
	NearCondition call;
	Measure		measure = measure_of_value(condition->measure);

	if (function == signature_distance ||
		function == signature_cosine_distance ||
		!near_measure_call(node, &call) || exprType(node) != FLOAT8OID)
		return false;
	call.measure = measure_of_value(call.measure);
	if (equal(call.left, condition->left) &&
		equal(call.right, condition->right))
		return call.measure == measure;
	return equal(call.left, condition->right) &&
		equal(call.right, condition->left) &&
		measure_commute(call.measure) == measure;
}

/*
 * As near_measure_call(), for a comparison; false if its threshold cannot be
 * found.
 */
static bool
measure_call(Node *node, NearCondition *condition, Comparator *comparator)
{
	List	   *args;
	PGFunction	function = near_function(node, &args);

	comparator->distance = (function == signature_distance ||
							function == signature_cosine_distance);
	comparator->scale = 1;
	return near_measure_call(node, condition) &&
		(function != signature_intersection_size ||
		 known_scale(args, &comparator->scale));
}

/*
 * The value at a place: fractions are ordered as their bits, counts are their
 * own places.
 */
static double
value_at(uint64 place, Measure measure)
{
	double		value;

	if (measure == MEASURE_SHARED)
		return place;
	memcpy(&value, &place, sizeof(double));
	return value;
}

/* The place of the greatest value of a measure. */
static uint64
last_place(Measure measure)
{
	double		one = 1;
	uint64		place;

	memcpy(&place, &one, sizeof(double));
	return measure == MEASURE_SHARED ? SHARED_MAX : place;
}

/* True if the value at that place passes. */
static bool
place_passes(Comparator *comparator, Measure measure, uint64 place)
{
	double		value = value_at(place, measure);
	Datum		computed;

	if (comparator->distance)
		value = measure_distance(value);
	computed = measure == MEASURE_SHARED ?
		Int64GetDatum(place * comparator->scale) :
		Float8GetDatum(value);
	return DatumGetBool(comparator->measure_first ?
						FunctionCall2(&comparator->compare, computed,
									  comparator->constant) :
						FunctionCall2(&comparator->compare,
									  comparator->constant, computed));
}

/* The least value that passes; false if none does, or 0 does. */
static bool
least_passing(Comparator *comparator, Measure measure, double *least)
{
	uint64		fails = 0;
	uint64		holds = last_place(measure);

	if (place_passes(comparator, measure, 0) ||
		!place_passes(comparator, measure, holds))
		return false;
	while (holds - fails > 1)
	{
		uint64		middle = fails + (holds - fails) / 2;

		if (place_passes(comparator, measure, middle))
			holds = middle;
		else
			fails = middle;
	}
	Assert(place_passes(comparator, measure, holds));
	*least = value_at(holds, measure);
	return true;
}

/* The operators that compare numbers of the measure's type with others. */
static Oid
family_of_comparisons(Measure measure)
{
	return get_opclass_family(GetDefaultOpClass(measure == MEASURE_SHARED ?
												INT8OID : FLOAT8OID,
												BTREE_AM_OID));
}

/* Take a comparison of a measure with a constant apart. */
static bool
near_comparison(Node *clause, NearCondition *condition)
{
	OpExpr	   *op = (OpExpr *) clause;
	Comparator	comparator;
	Const	   *constant;
	double		threshold;

	if (!IsA(clause, OpExpr) || list_length(op->args) != 2)
		return false;
	set_opfuncid(op);
	comparator.measure_first = IsA(lsecond(op->args), Const);
	constant = (Const *) list_nth(op->args, comparator.measure_first);
	if (!IsA(constant, Const) || constant->constisnull ||
		!measure_call(list_nth(op->args, !comparator.measure_first), condition,
					  &comparator) ||
		get_op_opfamily_strategy(op->opno,
								 family_of_comparisons(condition->measure)) == 0)
		return false;
	fmgr_info(op->opfuncid, &comparator.compare);
	comparator.constant = constant->constvalue;
	if (!least_passing(&comparator, condition->measure, &threshold))
		return false;
	Assert(measure_has_threshold(condition->measure, threshold));
	condition->threshold = constant_threshold(threshold);
	return true;
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

	if (near_function(bare_condition(clause),
					  &args) != signature_near_duplicate_approx ||
		list_length(args) != 4)
		return false;
	condition->left = linitial(args);
	condition->right = lsecond(args);
	condition->threshold = lthird(args);
	condition->measure = MEASURE_JACCARD;
	condition->recall = lfourth(args);
	return true;
}

/* Index conditions */

/* The family's operator and the type on its right. */
static bool
family_operator(Oid opfamily, Oid *operator, Oid *querytype)
{
	CatCList   *members = SearchSysCacheList1(AMOPSTRATEGY,
											  ObjectIdGetDatum(opfamily));
	bool		found = false;

	for (int i = 0; i < members->n_members && !found; i++)
	{
		Form_pg_amop member =
		(Form_pg_amop) GETSTRUCT(&members->members[i]->tuple);

		if (member->amopstrategy != SIGNATURE_MATCH_STRATEGY)
			continue;
		*operator = member->amopopr;
		*querytype = member->amoprighttype;
		found =
			function_address(get_opcode(member->amopopr)) == signature_matches;
	}
	ReleaseSysCacheList(members);
	return found;
}

/* The options of an index column, or their defaults. */
static GinSignatureOptions
column_options(const IndexOptInfo *index, int indexcol)
{
	return gin_signature_options(index->opclassoptions ?
								 index->opclassoptions[indexcol] : NULL);
}

/*
 * False if the index certainly cannot answer.  One of access method neardup
 * answers at any threshold.  A constant that is no threshold is left to the
 * function, which raises the error.
 */
static bool
index_can_answer(const IndexOptInfo *index,
				 const GinSignatureOptions *options, Measure measure,
				 Expr *threshold)
{
	Const	   *con = (Const *) threshold;
	double		t = 1;			/* where it is not known yet */

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

/* True if the index would certainly visit every row. */
static bool
index_has_no_keys(const GinSignatureOptions *options, Expr *query)
{
	Const	   *con = (Const *) query;

	return IsA(query, Const) && !con->constisnull &&
		!gin_signature_has_keys(options,
								DatumGetSignatureQuery(con->constvalue));
}

/*
 * True if the threshold is known when the scan begins.  A threshold from
 * another table's row may be below the threshold of a GIN index, which would
 * then visit all rows each time.
 */
static bool
threshold_is_known(PlannerInfo *root, IndexOptInfo *index, Expr *threshold)
{
	return threshold == NULL ||
		(is_pseudo_constant_for_index(root, (Node *) threshold, index) &&
		 (index->relam != GIN_AM_OID ||
		  !contain_var_clause((Node *) threshold)));
}

/*
 * The expression of the query, folded to a constant if possible, so that GIN's
 * cost estimate sees the keys; not with the setting, which may change before
 * the plan runs.
 */
static Expr *
query_expression(PlannerInfo *root, Oid querytype, Expr *other,
				 const NearCondition *condition)
{
	Expr	   *packed = signature_subscripted(other, condition->measure,
											   condition->threshold,
											   querytype);

	Assert(packed != NULL);
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

	Assert(condition->left != NULL && condition->right != NULL);
	if (indexarg > 1 ||
		!match_index_to_operand((Node *) indexed, indexcol, index) ||
		!family_operator(opfamily, &operator, &querytype))
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
