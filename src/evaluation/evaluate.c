/*
 * evaluate.c
 *		evaluate_methods(), evaluate_thresholds(): methods against each other on
 *		documents whose near-duplicates are known.
 *
 * Each method is an expression that makes a signature of a document.  The
 * signatures are made into a temporary table and joined with themselves, as any
 * user would.  evaluate_methods() holds the pairs against the true ones, at one
 * threshold.  evaluate_thresholds() joins once, at the least of its thresholds, and
 * keeps how many pairs have which similarity and are true; each threshold counts
 * those that reach it.
 *
 * What the caller gives is read with the caller's search path.  Everything else is
 * named with its schema: whoever may make operators in a schema of that path must
 * not have them called where the caller has written none.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/tupdesc.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "funcapi.h"
#include "nodes/execnodes.h"
#include "nodes/makefuncs.h"
#include "parser/parse_coerce.h"
#include "parser/parser.h"
#include "portability/instr_time.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/plancache.h"
#include "utils/syscache.h"
#include "utils/tuplestore.h"
#include "utils/typcache.h"

#include "base/call.h"
#include "base/compat.h"
#include "methods/method.h"
#include "signature/sql/near.h"

PG_FUNCTION_INFO_V1(neardup_operator);
PG_FUNCTION_INFO_V1(neardup_measure);
PG_FUNCTION_INFO_V1(evaluate_methods);
PG_FUNCTION_INFO_V1(evaluate_thresholds);

/*
 * Parts of statements.
 */

/* An operator as statements call it, whatever the search path is */
static char *
operator_name(Oid operator)
{
	HeapTuple	tuple = SearchSysCache1(OPEROID, ObjectIdGetDatum(operator));
	Form_pg_operator form;
	char	   *name;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "there is no operator %u", operator);
	form = (Form_pg_operator) GETSTRUCT(tuple);
	name = psprintf("OPERATOR(%s.%s)",
					quote_identifier(get_namespace_name(form->oprnamespace)),
					NameStr(form->oprname));
	ReleaseSysCache(tuple);
	return name;
}

/* The operator by which values of a type are equal, or InvalidOid */
static Oid
operator_equal(Oid type)
{
	return lookup_type_cache(type, TYPECACHE_EQ_OPR)->eq_opr;
}

/* The operator by which one value of a type is less, or InvalidOid */
static Oid
operator_less(Oid type)
{
	return lookup_type_cache(type, TYPECACHE_LT_OPR)->lt_opr;
}

/* _neardup_operator(type regtype, operator text): "<" or "=" of the type, or null */
Datum
neardup_operator(PG_FUNCTION_ARGS)
{
	Oid			type = PG_GETARG_OID(0);
	char	   *name = text_to_cstring(PG_GETARG_TEXT_PP(1));
	Oid			operator = strcmp(name, "<") == 0 ? operator_less(type) :
	operator_equal(type);

	if (!OidIsValid(operator))
		PG_RETURN_NULL();
	PG_RETURN_TEXT_P(cstring_to_text(operator_name(operator)));
}

/* An expression of the measure's value of x and y; the schema is quoted. */
static char *
measure_expression(const char *schema, Measure measure,
				   const char *x, const char *y)
{
	const char *function = measure_name(measure);

	switch (measure)
	{
		case MEASURE_JACCARD:
			function = "similarity";
			break;
		case MEASURE_CONTAINS:
			return measure_expression(schema, MEASURE_CONTAINMENT, y, x);
		case MEASURE_OVERLAP:
			return psprintf("GREATEST(%s, %s)",
							measure_expression(schema, MEASURE_CONTAINMENT, x, y),
							measure_expression(schema, MEASURE_CONTAINS, x, y));
		case MEASURE_SHARED:
			return psprintf("%s.shared(%s, %s)::pg_catalog.float8", schema, x, y);
		default:
			break;
	}
	return psprintf("%s.%s(%s, %s)", schema, function, x, y);
}

/* The extension's schema, quoted */
static const char *
own_schema(FunctionCallInfo fcinfo)
{
	Oid			schema = get_func_namespace(fcinfo->flinfo->fn_oid);

	return quote_identifier(get_namespace_name(schema));
}

/* _neardup_measure(measure text): its value of a.sig and b.sig */
Datum
neardup_measure(PG_FUNCTION_ARGS)
{
	Measure		measure = measure_require(PG_GETARG_TEXT_PP(0));

	PG_RETURN_TEXT_P(cstring_to_text(measure_expression(own_schema(fcinfo), measure,
														"a.sig", "b.sig")));
}

/*
 * Queries and expressions that a caller gives become parts of larger statements,
 * in whose words errors would be told.  So they are looked at alone first.
 */

/* Tells in errors of the query itself which argument it is. */
static void
tell_argument(void *arg)
{
	if (geterrcode() == ERRCODE_SYNTAX_ERROR)
		errhint("It is a query, such as TABLE docs or SELECT ... FROM docs.");
	errcontext("argument \"%s\"", (const char *) arg);
}

static char *
without_semicolons(const char *text)
{
	size_t		len = strlen(text);

	while (len > 0 && strchr("; \t\r\n\v\f", text[len - 1]) != NULL)
		len--;
	return pnstrdup(text, len);
}

static SPIPlanPtr
prepare_alone(const char *argument, const char *query)
{
	ErrorContextCallback callback = {.callback = tell_argument,
	.arg = unconstify(char *, argument),.previous = error_context_stack};
	SPIPlanPtr	plan;

	error_context_stack = &callback;
	plan = SPI_prepare(query, 0, NULL);
	if (plan == NULL)
		elog(ERROR, "SPI_prepare failed: %s",
			 SPI_result_code_string(SPI_result));
	error_context_stack = callback.previous;
	return plan;
}

/* The columns of what a query returns. */
static TupleDesc
result_of(SPIPlanPtr plan, const char *argument, const char *query)
{
	List	   *sources = SPI_plan_get_plan_sources(plan);

	/* only a SELECT can stand in the FROM of another */
	if (list_length(sources) != 1 ||
		((CachedPlanSource *) linitial(sources))->commandTag != CMDTAG_SELECT ||
		((CachedPlanSource *) linitial(sources))->resultDesc == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_SYNTAX_ERROR),
				 errmsg("argument \"%s\" is not a query", argument),
				 errdetail("It says: %s", query),
				 errhint("It is one query, such as TABLE docs or SELECT ... FROM docs.")));
	return ((CachedPlanSource *) linitial(sources))->resultDesc;
}

/* The type of a column of that name; InvalidOid: there is none. */
static Oid
column_type(TupleDesc desc, const char *name)
{
	for (int i = 0; i < desc->natts; i++)
	{
		if (strcmp(NameStr(TupleDescAttr(desc, i)->attname), name) == 0)
			return TupleDescAttr(desc, i)->atttypid;
	}
	return InvalidOid;
}

static void
refuse_columns(const char *argument, TupleDesc desc, const char *missing,
			   const char *const *columns)
{
	StringInfoData have;
	StringInfoData wanted;

	initStringInfo(&have);
	for (int i = 0; i < desc->natts; i++)
		appendStringInfo(&have, "%s\"%s\"", i == 0 ? "" : ", ",
						 NameStr(TupleDescAttr(desc, i)->attname));
	initStringInfo(&wanted);
	for (int i = 0; columns[i] != NULL; i++)
		appendStringInfo(&wanted, "%s\"%s\"", i == 0 ? "" : " and ",
						 columns[i]);
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_COLUMN),
			 errmsg("query \"%s\" has no column \"%s\"", argument, missing),
			 desc->natts == 0 ? errdetail("It has no columns.") :
			 errdetail("Its columns are %s.", have.data),
			 errhint("Give it columns named %s: SELECT ... AS \"%s\".",
					 wanted.data, missing)));
}

static char *
given_query(const char *argument, const char *text,
			const char *const *columns, Oid *types)
{
	char	   *query = without_semicolons(text);
	SPIPlanPtr	plan = prepare_alone(argument, query);
	TupleDesc	desc = result_of(plan, argument, query);

	for (int i = 0; columns[i] != NULL; i++)
	{
		types[i] = column_type(desc, columns[i]);
		if (!OidIsValid(types[i]))
			refuse_columns(argument, desc, columns[i], columns);
	}
	SPI_freeplan(plan);
	return query;
}

/* An expression and the argument that gives it */
typedef struct GivenExpression
{
	const char *argument;
	const char *text;
} GivenExpression;

/* The same of an expression; an error points into its text. */
static void
tell_expression(void *arg)
{
	const GivenExpression *given = arg;
	int			position = geterrposition();

	if (position > 0)
	{
		errposition(0);
		internalerrposition(position);
		internalerrquery(given->text);
	}
	errhint("It is one expression, whose brackets match.");
	errcontext("argument \"%s\"", given->argument);
}

static void
given_expression(const char *argument, const char *str)
{
	GivenExpression given;
	ErrorContextCallback callback;

	given.argument = argument;
	given.text = str;

	callback.callback = tell_expression;
	callback.arg = &given;
	callback.previous = error_context_stack;
	error_context_stack = &callback;
	raw_parser(str, RAW_PARSE_PLPGSQL_EXPR);
	error_context_stack = callback.previous;
}

/*
 * The documents and the signatures that a method makes of them.
 */

typedef struct Evaluation
{
	ReturnSetInfo *rsinfo;
	const char *schema;			/* of the extension, quoted */
	const char *condition;		/* on two documents a and b */
	const char *equal;			/* operators of the documents' ids */
	const char *less;
} Evaluation;

/* Runs a statement.  Returns the milliseconds that it took. */
static double
run(const char *statement)
{
	instr_time	start;
	instr_time	end;
	int			code;

	INSTR_TIME_SET_CURRENT(start);
	code = SPI_execute(statement, false, 0);
	if (code < 0)
		elog(ERROR, "SPI_execute failed: %s", SPI_result_code_string(code));
	INSTR_TIME_SET_CURRENT(end);
	INSTR_TIME_SUBTRACT(end, start);
	return INSTR_TIME_GET_MILLISEC(end);
}

/*
 * A document that is there twice has its pairs twice, and one without an id has none: raises
 * an error.  An id of a composite type, of which a field is null, is distinct from null, but not
 * NOT NULL.
 */
static void
require_ids(void)
{
	(void) run("SELECT FROM pg_temp.neardup_documents WHERE id IS NOT DISTINCT FROM NULL LIMIT 1");
	if (SPI_processed > 0)
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("id of a row of query \"documents\" is null"),
				 errhint("Leave such rows out of the query, or give them an id.")));
	(void) run("SELECT id FROM pg_temp.neardup_documents "
			   "GROUP BY id HAVING pg_catalog.count(*) OPERATOR(pg_catalog.>) 1 ORDER BY id LIMIT 1");
	if (SPI_processed > 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNIQUE_VIOLATION),
				 errmsg("id %s of query \"documents\" is not unique",
						SPI_getvalue(SPI_tuptable->vals[0],
									 SPI_tuptable->tupdesc, 1)),
				 errhint("Each document has an id of its own.")));
}

/* The type in which ids of both queries are compared: the documents', and two others. */
static Oid
common_type(const Oid *types)
{
	List	   *values = NIL;
	Oid			type;

	for (int i = 0; i < 3; i++)
		values = lappend(values, makeNullConst(types[i], -1, InvalidOid));
	type = select_common_type(NULL, values, NULL, NULL);
	if (!OidIsValid(type) || !OidIsValid(operator_equal(type)))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("ids of the queries \"documents\" and \"truth\" cannot be compared"),
				 errdetail("Column \"id\" is of type %s, \"id1\" of type %s, \"id2\" of type %s.",
						   format_type_be(types[0]), format_type_be(types[1]),
						   format_type_be(types[2])),
				 errhint("Cast them to one type in one of the queries.")));
	return type;
}

/* That two ids, which may be of other types, are equal in this one. */
static char *
equal_in(Oid type, const char *x, const char *y)
{
	/* "character" would be one of length 1 */
	char	   *name = format_type_extended(type, -1, FORMAT_TYPE_TYPEMOD_GIVEN |
											FORMAT_TYPE_FORCE_QUALIFY);

	return psprintf("CAST(%s AS %s) %s CAST(%s AS %s)", x, name,
					operator_name(operator_equal(type)), y, name);
}

/* The documents, and the true pairs among them. */
static void
prepare(Evaluation *evaluation, const char *documents, const char *truth)
{
	static const char *const id[] = {"id", NULL};
	static const char *const ids[] = {"id1", "id2", NULL};
	Oid			types[3];
	Oid			common;

	documents = given_query("documents", documents, id, types);
	truth = given_query("truth", truth, ids, types + 1);
	run(psprintf("CREATE TEMP TABLE neardup_documents AS SELECT * FROM (%s\n) d",
				 documents));
	require_ids();
	run("CREATE UNIQUE INDEX ON pg_temp.neardup_documents (id)");
	evaluation->equal = operator_name(operator_equal(types[0]));
	evaluation->less = operator_name(operator_less(types[0]));
	common = common_type(types);
	/* a and b are in a true pair what they are in one that is found */
	run(psprintf("CREATE TEMP TABLE neardup_truth AS "
				 "SELECT DISTINCT a.id AS id1, b.id AS id2 "
				 "FROM (%s\n) u, LATERAL (VALUES (u.id1, u.id2), (u.id2, u.id1)) t (id1, id2) "
				 "JOIN pg_temp.neardup_documents a ON %s "
				 "JOIN pg_temp.neardup_documents b ON %s "
				 "WHERE a.id %s b.id AND (%s\n)",
				 truth, equal_in(common, "a.id", "t.id1"),
				 equal_in(common, "b.id", "t.id2"),
				 evaluation->less, evaluation->condition));
}

/*
 * Connects to SPI and makes pg_temp.neardup_documents and pg_temp.neardup_truth; the
 * result set of the call is materialized.
 */
static Evaluation
begin(FunctionCallInfo fcinfo, const char *documents,
	  const char *truth, const char *condition)
{
	Evaluation	evaluation = {0};

	InitMaterializedSRF(fcinfo, 0);
	evaluation.rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	evaluation.schema = own_schema(fcinfo);
	given_expression("condition", condition);
	evaluation.condition = condition;
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	prepare(&evaluation, documents, truth);
	return evaluation;
}

/* Drops what begin() made. */
static void
end(void)
{
	run("DROP TABLE pg_temp.neardup_documents, pg_temp.neardup_truth");
	if (SPI_finish() != SPI_OK_FINISH)
		elog(ERROR, "SPI_finish failed");
}

/*
 * Makes pg_temp.neardup_signatures of a method.  Returns the milliseconds that it
 * took.
 */
static double
make_signatures(Evaluation *evaluation, const char *method)
{
	double		ms;

	given_expression("methods", method);
	ms = run(psprintf("CREATE TEMP TABLE neardup_signatures AS "
					  "SELECT *, (%s\n)::%s.signature AS neardup_signature "
					  "FROM pg_temp.neardup_documents",
					  method, evaluation->schema));
	run("ANALYZE pg_temp.neardup_signatures");
	return ms;
}

/* The similarity of two signatures, a and b, as an expression */
static char *
similarity_of(const Evaluation *evaluation, Measure measure)
{
	return measure_expression(evaluation->schema, measure,
							  "a.neardup_signature", "b.neardup_signature");
}

/* True if the signatures' method has a rule that looks at no threshold. */
static bool
have_own_rule(void)
{
	bool		isnull;
	Datum		sig;

	(void) run("SELECT neardup_signature FROM pg_temp.neardup_signatures "
			   "WHERE neardup_signature IS NOT NULL LIMIT 1");
	if (SPI_processed == 0)
		return false;
	sig = SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1,
						&isnull);
	return method_info(DatumGetSignature(sig)->spec.method)->least_similarity != NULL;
}

/*
 * The greatest threshold that two signatures reach: their similarity, or 1 if they are
 * near by a rule of the method's own, which looks at no threshold.
 */
static char *
reached(const Evaluation *evaluation, Measure measure)
{
	if (measure == MEASURE_JACCARD && have_own_rule())
		return "1::pg_catalog.float8";
	return similarity_of(evaluation, measure);
}

/*
 * A query of the pairs that reach the threshold: id1, id2, and the value as
 * similarity.
 */
static char *
pairs_query(const Evaluation *evaluation, const char *value,
			double threshold, Measure measure)
{
	return psprintf("SELECT a.id AS id1, b.id AS id2, %s AS similarity "
					"FROM pg_temp.neardup_signatures a JOIN pg_temp.neardup_signatures b "
					"ON %s.near_duplicate(a.neardup_signature, b.neardup_signature, %.17g::pg_catalog.float8, '%s'::pg_catalog.text) "
					"AND a.id %s b.id AND (%s\n)",
					value, evaluation->schema, threshold,
					measure_name(measure), evaluation->less, evaluation->condition);
}

/* A condition: pair f is true, being pair t of pg_temp.neardup_truth. */
static char *
is_true(const Evaluation *evaluation)
{
	return psprintf("f.id1 %s t.id1 AND f.id2 %s t.id2", evaluation->equal,
					evaluation->equal);
}

/*
 * The methods with a measure each, and rows of the result.
 */

typedef struct Methods
{
	int			n;
	Datum	   *expressions;
	int			nmeasures;		/* n, or one for all */
	Datum	   *measures;		/* by name */
} Methods;

/* Raises an error unless there are n of `what`, or one for all. */
static void
require_as_many(ArrayType *array, int n, const char *what)
{
	int			given = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));

	if (array_contains_nulls(array))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("methods, thresholds and measures must not be null")));
	if (given != 1 && given != n)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("there are %d %s for %d methods", given, what, n),
				 errhint("Give one for each method, or one for all.")));
}

static Methods
get_methods(ArrayType *expressions, ArrayType *measures)
{
	Methods		methods;

	methods.n = ArrayGetNItems(ARR_NDIM(expressions), ARR_DIMS(expressions));
	require_as_many(expressions, methods.n, "methods");
	require_as_many(measures, methods.n, "measures");
	deconstruct_array(expressions, TEXTOID, -1, false, TYPALIGN_INT,
					  &methods.expressions, NULL, &methods.n);
	deconstruct_array(measures, TEXTOID, -1, false, TYPALIGN_INT,
					  &methods.measures, NULL, &methods.nmeasures);
	return methods;
}

static Measure
measure_of(const Methods *methods, int i)
{
	return measure_require(DatumGetTextPP(methods->measures[methods->nmeasures == 1 ? 0 : i]));
}

/*
 * Appends a row to the result: n values that are given, row i of the query that was
 * run last, and what is given after these.
 */
static void
put_row(const Evaluation *evaluation, const Datum *before, int nbefore, uint64 i,
		const Datum *after, int nafter)
{
	Datum		values[16];
	bool		nulls[16] = {0};
	int			n = 0;

	Assert(nbefore + SPI_tuptable->tupdesc->natts + nafter ==
		   evaluation->rsinfo->setDesc->natts);
	Assert(evaluation->rsinfo->setDesc->natts <= (int) lengthof(values));
	while (n < nbefore)
		values[n++] = *before++;
	for (int column = 1; column <= SPI_tuptable->tupdesc->natts; column++, n++)
		values[n] = SPI_getbinval(SPI_tuptable->vals[i], SPI_tuptable->tupdesc,
								  column, &nulls[n]);
	while (nafter-- > 0)
		values[n++] = *after++;
	tuplestore_putvalues(evaluation->rsinfo->setResult,
						 evaluation->rsinfo->setDesc, values, nulls);
}

/*
 * evaluate_methods()
 */

/* Evaluates a method at a threshold. */
static void
evaluate_at(Evaluation *evaluation, Datum method, double threshold, Measure measure)
{
	Datum		before[] = {method, Float8GetDatum(threshold)};
	double		make_ms = make_signatures(evaluation, TextDatumGetCString(method));
	double		find_ms = run(psprintf("CREATE TEMP TABLE neardup_found AS %s",
									   pairs_query(evaluation, similarity_of(evaluation, measure),
												   threshold, measure)));
	Datum		after[] = {Float8GetDatum(make_ms), Float8GetDatum(find_ms)};

	run(psprintf("SELECT (SELECT pg_catalog.count(neardup_signature) FROM pg_temp.neardup_signatures), "
				 "(SELECT pg_catalog.avg(pg_catalog.pg_column_size(neardup_signature))::pg_catalog.float8 FROM pg_temp.neardup_signatures), "
				 "(e.e).found, (e.e).correct, (e.e).recall, (e.e).\"precision\", (e.e).f, "
				 "(e.e).highest_false_match, (e.e).separation, (e.e).true_pairs "
				 "FROM (SELECT %s.pair_evaluation(f.id1 IS DISTINCT FROM NULL, t.id1 IS DISTINCT FROM NULL, f.similarity) AS e "
				 "FROM pg_temp.neardup_found f FULL JOIN pg_temp.neardup_truth t ON %s) e",
				 evaluation->schema, is_true(evaluation)));
	put_row(evaluation, before, lengthof(before), 0, after, lengthof(after));
	run("DROP TABLE pg_temp.neardup_signatures, pg_temp.neardup_found");
}

/*
 * evaluate_methods(documents text, truth text, methods text[],
 * thresholds float8[], condition text, measures text[])
 */
Datum
evaluate_methods(PG_FUNCTION_ARGS)
{
	ArrayType  *array = PG_GETARG_ARRAYTYPE_P(3);
	const float8 *thresholds = (const float8 *) ARR_DATA_PTR(array);
	Methods		methods = get_methods(PG_GETARG_ARRAYTYPE_P(2),
									  PG_GETARG_ARRAYTYPE_P(5));
	int			step = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array)) == 1 ? 0 : 1;
	Evaluation	evaluation;

	require_as_many(array, methods.n, "thresholds");
	for (int i = 0; i < methods.n; i++)
		threshold_require_valid(thresholds[i * step], measure_of(&methods, i));
	evaluation = begin(fcinfo, text_to_cstring(PG_GETARG_TEXT_PP(0)),
					   text_to_cstring(PG_GETARG_TEXT_PP(1)),
					   text_to_cstring(PG_GETARG_TEXT_PP(4)));
	for (int i = 0; i < methods.n; i++)
		evaluate_at(&evaluation, methods.expressions[i], thresholds[i * step],
					measure_of(&methods, i));
	end();
	return (Datum) 0;
}

/*
 * evaluate_thresholds()
 */

/* Names of the values of `best`, and which pairs each leaves. */
static const struct
{
	const char *name;
	const char *condition;
}			best_names[] = {
	{"", NULL},
	{"left", "f.similarity OPERATOR(pg_catalog.>=) a.best"},
	{"right", "f.similarity OPERATOR(pg_catalog.>=) b.best"},
	{"either", "(f.similarity OPERATOR(pg_catalog.>=) a.best OR f.similarity OPERATOR(pg_catalog.>=) b.best)"},
	{"reciprocal", "f.similarity OPERATOR(pg_catalog.>=) a.best AND f.similarity OPERATOR(pg_catalog.>=) b.best"},
};

/* The condition of that name; NULL leaves all pairs. */
static const char *
best_condition(const char *name)
{
	for (size_t i = 0; i < lengthof(best_names); i++)
		if (strcmp(name, best_names[i].name) == 0)
			return best_names[i].condition;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("argument \"best\" cannot be \"%s\"", name),
			 errhint("It is left, right, either or reciprocal, or empty, which leaves all pairs.")));
}

/* The pairs of a query that are best: a document's best are all that reach its greatest similarity. */
static char *
best_pairs(const Evaluation *evaluation, const char *pairs, const char *condition)
{
	if (condition == NULL)
		return psprintf("(%s)", pairs);
	return psprintf("(WITH f AS MATERIALIZED (%s), best AS ("
					"SELECT v.id, pg_catalog.max(f.similarity) AS best "
					"FROM f, LATERAL (VALUES (f.id1), (f.id2)) v (id) GROUP BY v.id) "
					"SELECT f.* FROM f JOIN best a ON a.id %s f.id1 JOIN best b ON b.id %s f.id2 WHERE %s)",
					pairs, evaluation->equal, evaluation->equal, condition);
}

/* What one number is of another one, or null if that is 0. */
#define SHARE(part, whole) \
	"CASE WHEN " whole " OPERATOR(pg_catalog.>) 0::pg_catalog.int8 THEN " part "::pg_catalog.float8 " \
	"OPERATOR(pg_catalog./) " whole "::pg_catalog.float8 END "

static const char figures_query[] =
"SELECT threshold, true_pairs, found, correct, wrong, "
SHARE("correct", "true_pairs") ", " SHARE("correct", "found") ", "
SHARE("(correct OPERATOR(pg_catalog.+) correct)",
	  "(found OPERATOR(pg_catalog.+) true_pairs)") ", "
SHARE("wrong", "documents")
"FROM (SELECT c.*, found OPERATOR(pg_catalog.-) correct AS wrong "
"FROM (SELECT t.i, t.threshold, "
"coalesce(pg_catalog.sum(p.pairs), 0)::pg_catalog.int8 AS found, "
"coalesce(pg_catalog.sum(p.pairs) FILTER (WHERE p.correct), 0)::pg_catalog.int8 AS correct, "
"(SELECT pg_catalog.count(*) FROM pg_temp.neardup_truth) AS true_pairs, "
"(SELECT pg_catalog.count(*) FROM pg_temp.neardup_documents) AS documents "
"FROM pg_catalog.unnest($1) WITH ORDINALITY t (threshold, i) "
"LEFT JOIN pg_temp.neardup_found p ON p.similarity OPERATOR(pg_catalog.>=) t.threshold "
"GROUP BY t.i, t.threshold) c) w ORDER BY i";

/* Evaluates a method at each threshold, of which `least` is the least. */
static void
sweep(Evaluation *evaluation, Datum method, Measure measure, const char *best,
	  double least, Datum thresholds)
{
	Datum		before[] = {method, CStringGetTextDatum(measure_name(measure))};
	Oid			type = FLOAT8ARRAYOID;

	make_signatures(evaluation, TextDatumGetCString(method));
	run(psprintf("CREATE TEMP TABLE neardup_found AS "
				 "SELECT f.similarity, t.id1 IS DISTINCT FROM NULL AS correct, pg_catalog.count(*) AS pairs "
				 "FROM %s f LEFT JOIN pg_temp.neardup_truth t ON %s GROUP BY 1, 2",
				 best_pairs(evaluation, pairs_query(evaluation, reached(evaluation, measure),
													least, measure), best),
				 is_true(evaluation)));
	if (SPI_execute_with_args(figures_query, 1, &type, &thresholds, NULL, false,
							  0) != SPI_OK_SELECT)
		elog(ERROR, "SPI_execute_with_args failed");
	for (uint64 i = 0; i < SPI_processed; i++)
		put_row(evaluation, before, lengthof(before), i, NULL, 0);
	run("DROP TABLE pg_temp.neardup_signatures, pg_temp.neardup_found");
}

/* The least of the thresholds, each of which the measure must have. */
static double
least_threshold(ArrayType *thresholds, Measure measure)
{
	const float8 *values = (const float8 *) ARR_DATA_PTR(thresholds);
	int			n = ArrayGetNItems(ARR_NDIM(thresholds), ARR_DIMS(thresholds));
	double		least = 0;

	if (n == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("there are no thresholds"),
				 errhint("Give one or more, such as '{0.5, 0.8}'.")));
	for (int i = 0; i < n; i++)
	{
		threshold_require_valid(values[i], measure);
		if (i == 0 || values[i] < least)
			least = values[i];
	}
	return least;
}

/*
 * evaluate_thresholds(documents text, truth text, methods text[],
 * thresholds float8[], condition text, measures text[], best text)
 */
Datum
evaluate_thresholds(PG_FUNCTION_ARGS)
{
	ArrayType  *thresholds = PG_GETARG_ARRAYTYPE_P(3);
	Methods		methods = get_methods(PG_GETARG_ARRAYTYPE_P(2),
									  PG_GETARG_ARRAYTYPE_P(5));
	const char *best = best_condition(text_to_cstring(PG_GETARG_TEXT_PP(6)));
	Evaluation	evaluation;

	argument_elements("thresholds", thresholds);
	/* before signatures are made */
	for (int i = 0; i < methods.nmeasures; i++)
		least_threshold(thresholds, measure_of(&methods, i));
	evaluation = begin(fcinfo, text_to_cstring(PG_GETARG_TEXT_PP(0)),
					   text_to_cstring(PG_GETARG_TEXT_PP(1)),
					   text_to_cstring(PG_GETARG_TEXT_PP(4)));
	for (int i = 0; i < methods.n; i++)
		sweep(&evaluation, methods.expressions[i], measure_of(&methods, i), best,
			  least_threshold(thresholds, measure_of(&methods, i)),
			  PointerGetDatum(thresholds));
	end();
	return (Datum) 0;
}
