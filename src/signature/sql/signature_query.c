/*
 * signature_query.c
 *		signature_query: a signature with a measure and a threshold.
 *
 * An index operator has one right operand, but near_duplicate() has three
 * arguments beside the column.  The planner support function packs these into
 * one value; users see it in EXPLAIN only.
 *
 * Text form: the threshold, the measure, the signature, with single spaces:
 * 0.8 jaccard shingles[k=3]{...}
 */
#include "postgres.h"

#include "catalog/pg_collation_d.h"
#include "catalog/pg_type_d.h"
#include "common/shortest_dec.h"
#include "executor/execExpr.h"
#include "libpq/pqformat.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "nodes/subscripting.h"
#include "parser/parse_node.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "base/compat.h"
#include "base/input.h"
#include "base/settings.h"
#include "methods/method.h"
#include "signature/sql/near.h"
#include "signature/sql/signature_type.h"
#include "signature/sql/signature_query.h"

SignatureQuery *
signature_query_make(const Signature *sig, double threshold, Measure measure)
{
	Size		size = offsetof(SignatureQuery, signature) + VARSIZE(sig);
	SignatureQuery *query;

	if (!AllocSizeIsValid(size))
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("signature of %zu bytes is too large for a query",
						(size_t) VARSIZE(sig))));
	query = palloc(size);
	SET_VARSIZE(query, size);
	query->measure = measure;
	query->threshold = threshold;
	memcpy(&query->signature, sig, VARSIZE(sig));
	return query;
}

/* signature_query(signature, threshold float8, measure text) */
PG_FUNCTION_INFO_V1(signature_query_new);
Datum
signature_query_new(PG_FUNCTION_ARGS)
{
	double		threshold = PG_GETARG_FLOAT8(1);
	Measure		measure = measure_require(PG_GETARG_TEXT_PP(2));

	threshold_require_valid(threshold, measure);
	PG_RETURN_POINTER(signature_query_make(PG_GETARG_SIGNATURE(0), threshold,
										   measure));
}

/* signature %% signature_query: true if the condition of the query holds */
PG_FUNCTION_INFO_V1(signature_matches);
Datum
signature_matches(PG_FUNCTION_ARGS)
{
	SignatureQuery *query;

	if (PG_GET_COLLATION() == INDEX_CONDITION_COLLATION)
		PG_RETURN_BOOL(true);
	query = PG_GETARG_SIGNATURE_QUERY(1);
	PG_RETURN_BOOL(signatures_near(PG_GETARG_SIGNATURE(0), &query->signature,
								   query->threshold, query->measure));
}

/*
 * signature_query %% signature_query: true if each signature meets the
 * condition of the other query.  An exclusion constraint needs an operator
 * that commutes and has no third operand, so both operands have a threshold.
 */
PG_FUNCTION_INFO_V1(signature_queries_match);
Datum
signature_queries_match(PG_FUNCTION_ARGS)
{
	SignatureQuery *a = PG_GETARG_SIGNATURE_QUERY(0);
	SignatureQuery *b = PG_GETARG_SIGNATURE_QUERY(1);
	bool		same = a->threshold == b->threshold &&
	a->measure == b->measure &&
	measure_commute(a->measure) == a->measure;

	PG_RETURN_BOOL(signatures_near(&a->signature, &b->signature,
								   b->threshold, b->measure) &&
				   (same || signatures_near(&b->signature, &a->signature,
											a->threshold, a->measure)));
}

/* signature(signature_query): a copy of its signature */
PG_FUNCTION_INFO_V1(signature_query_signature);
Datum
signature_query_signature(PG_FUNCTION_ARGS)
{
	SignatureQuery *query = PG_GETARG_SIGNATURE_QUERY(0);
	Size		size = VARSIZE(&query->signature);

	PG_RETURN_POINTER(memcpy(palloc(size), &query->signature, size));
}

/* Input and output */

/* Parse the text form: threshold, measure, signature. */
PG_FUNCTION_INFO_V1(signature_query_in);
Datum
signature_query_in(PG_FUNCTION_ARGS)
{
	Input		in = {PG_GETARG_CSTRING(0), "signature_query",
	fcinfo->context};
	const char *rule = NULL;
	const char *name;
	double		threshold;
	size_t		len;
	Measure		measure = MEASURE_JACCARD;
	Signature  *signature;

	in.at += strspn(in.at, " ");
	name = input_decimal_end(in.at);
	threshold = strtod(in.at, NULL);
	if (name == in.at)
		rule =
			"It does not begin with a threshold greater than 0 and at most 1.";
	name += strspn(name, " ");
	len = strcspn(name, " ");
	if (rule == NULL && !measure_by_name(name, len, &measure))
		rule = "The threshold is not followed by a measure.";
	if (rule == NULL && !measure_has_threshold(measure, threshold))
		rule = measure == MEASURE_SHARED ?
			"A threshold of measure \"shared\" is a whole number from 1." :
			"It does not begin with a threshold greater than 0 and at most 1.";
	if (rule != NULL && !input_bad(&in, rule))
		PG_RETURN_NULL();
	signature = signature_parse(name + len, fcinfo->context);
	if (signature == NULL)
		PG_RETURN_NULL();
	PG_RETURN_POINTER(signature_query_make(signature, threshold, measure));
}

/* Write the text form, independent of settings. */
PG_FUNCTION_INFO_V1(signature_query_out);
Datum
signature_query_out(PG_FUNCTION_ARGS)
{
	SignatureQuery *query = PG_GETARG_SIGNATURE_QUERY(0);
	char		threshold[DOUBLE_SHORTEST_DECIMAL_LEN];

	double_to_shortest_decimal_buf(query->threshold, threshold);
	PG_RETURN_CSTRING(psprintf("%s %s %s", threshold,
							   measure_name(query->measure),
							   signature_to_text(&query->signature)));
}

/* Output of signature_query_key, for errors of exclusion constraints */
PG_FUNCTION_INFO_V1(signature_query_key_out);
Datum
signature_query_key_out(PG_FUNCTION_ARGS)
{
	SignatureQuery *query = PG_GETARG_SIGNATURE_QUERY(0);
	StringInfoData text;

	initStringInfo(&text);
	spec_append(&query->signature.spec, &text);
	appendStringInfo(&text, " with %zu values",
					 (size_t) SIGNATURE_NVALUES(&query->signature));
	PG_RETURN_CSTRING(text.data);
}

/*
 * Read the binary form: threshold, measure (one byte), the signature's bytes.
 */
PG_FUNCTION_INFO_V1(signature_query_recv);
Datum
signature_query_recv(PG_FUNCTION_ARGS)
{
	StringInfo	buf = (StringInfo) PG_GETARG_POINTER(0);
	double		threshold = pq_getmsgfloat8(buf);
	int			measure = pq_getmsgbyte(buf);
	size_t		len = buf->len - buf->cursor;

	if (measure_name(measure) == NULL ||
		!measure_has_threshold(measure, threshold))
		input_bad_bytes("signature_query",
						"Its threshold is out of range or its measure does not exist.");
	PG_RETURN_POINTER(signature_query_make(
										   signature_from_bytes(pq_getmsgbytes(buf, len), len),
										   threshold, measure));
}

/* Write the binary form. */
PG_FUNCTION_INFO_V1(signature_query_send);
Datum
signature_query_send(PG_FUNCTION_ARGS)
{
	SignatureQuery *query = PG_GETARG_SIGNATURE_QUERY(0);
	bytea	   *bytes = signature_to_bytes(&query->signature);
	StringInfoData buf;

	pq_begintypsend(&buf);
	pq_sendfloat8(&buf, query->threshold);
	pq_sendbyte(&buf, query->measure);
	pq_sendbytes(&buf, VARDATA(bytes), VARSIZE(bytes) - VARHDRSZ);
	PG_RETURN_BYTEA_P(pq_endtypsend(&buf));
}

/*
 * A signature with subscripts, by which a plan packs a signature_query
 *
 * An index condition needs the signature on its other side, the measure and
 * the threshold as one value while the plan runs.  A function could pack them,
 * but it would need the rights of the role that runs the query, which may read
 * a view without rights on objects inside it.  Subscripting needs no rights:
 * it belongs to the type.  So the planner writes
 * signature[measure][threshold], or signature[measure] for the threshold of
 * neardup.threshold, which users cannot write.
 *
 * Nothing is checked here: the condition itself refuses an invalid threshold
 * when it compares a row.
 */

PG_FUNCTION_INFO_V1(signature_subscript);

/* Places of the subscripts */
enum
{
	SUBSCRIPT_MEASURE,			/* text */
	SUBSCRIPT_THRESHOLD,		/* float8, may be missing */
	SUBSCRIPT_COUNT
};

/* In the executor */

/* Refuse subscripts that users write, as if the type had none. */
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

/* SubscriptExecSteps.sbs_fetch: the signature is not null. */
static void
fetch(ExprState *state, ExprEvalStep *op, ExprContext *econtext)
{
	SubscriptingRefState *ref = op->d.sbsref.state;
	Measure		measure =
	measure_require(DatumGetTextPP(ref->upperindex[SUBSCRIPT_MEASURE]));
	double		threshold = ref->numupper == SUBSCRIPT_COUNT ?
	DatumGetFloat8(ref->upperindex[SUBSCRIPT_THRESHOLD]) :
	neardup_threshold;
	SignatureQuery *query =
	signature_query_make(DatumGetSignature(*op->resvalue),
						 threshold, measure);

	*op->resvalue = PointerGetDatum(query);
}

/* SubscriptRoutines.exec_setup: set the steps that evaluate subscripts. */
static void
exec_setup(const SubscriptingRef *ref, SubscriptingRefState *state,
		   SubscriptExecSteps *methods)
{
	methods->sbs_check_subscripts = check_subscripts;
	methods->sbs_fetch = fetch;
	methods->sbs_assign = NULL;
	methods->sbs_fetch_old = NULL;
}

/* Subscripting of type signature; its address identifies our expressions. */
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
