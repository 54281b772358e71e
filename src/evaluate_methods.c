/*
 * evaluate_methods.c
 *		Methods against each other on documents whose near-duplicates are known:
 *		the table of the surveys, recall, precision, F and time.
 *
 * Each method is an expression that makes a signature of a document.  The
 * signatures are made into a temporary table, joined with themselves as any
 * user would, and the pairs are held against the true ones.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/evaluate_methods.c
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "funcapi.h"
#include "portability/instr_time.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/tuplestore.h"

#include "compat.h"
#include "measures.h"

PG_FUNCTION_INFO_V1(evaluate_methods);

#define NUM_COLUMNS		14

typedef struct Evaluation
{
	ReturnSetInfo *rsinfo;
	const char *schema;			/* of the extension, quoted */
	const char *condition;		/* on two documents a and b */
} Evaluation;

/* Runs a statement; returns the milliseconds that it took. */
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

/* The documents, and the true pairs among them. */
static void
prepare(const Evaluation *evaluation, const char *documents, const char *truth)
{
	run(psprintf("CREATE TEMP TABLE neardup_documents AS SELECT * FROM (%s\n) d",
				 documents));
	/* a document that is there twice has its pairs twice: refuse it */
	run("CREATE UNIQUE INDEX ON pg_temp.neardup_documents (id)");
	run(psprintf("CREATE TEMP TABLE neardup_truth AS "
				 "SELECT DISTINCT least(t.id1, t.id2) AS id1, "
				 "greatest(t.id1, t.id2) AS id2 FROM (%s\n) t "
				 "JOIN pg_temp.neardup_documents a ON a.id = t.id1 "
				 "JOIN pg_temp.neardup_documents b ON b.id = t.id2 "
				 "WHERE t.id1 <> t.id2 AND (%s)",
				 truth, evaluation->condition));
}

/* A measure of the signatures x and y as an expression. */
static char *
measure_expression(const Evaluation *evaluation, Measure measure,
				   const char *x, const char *y)
{
	const char *function = measure_name(measure);

	switch (measure)
	{
		case MEASURE_JACCARD:
			function = "similarity";
			break;
		case MEASURE_CONTAINS:
			return measure_expression(evaluation, MEASURE_CONTAINMENT, y, x);
		case MEASURE_OVERLAP:
			return psprintf("GREATEST(%s, %s)",
							measure_expression(evaluation,
											   MEASURE_CONTAINMENT, x, y),
							measure_expression(evaluation,
											   MEASURE_CONTAINS, x, y));
		default:
			break;
	}
	return psprintf("%s.%s(%s, %s)", evaluation->schema, function, x, y);
}

/* Makes the signatures of a method and finds the pairs. */
static void
find_pairs(const Evaluation *evaluation, const char *method,
		   double threshold, Measure measure,
		   double *make_ms, double *find_ms)
{
	*make_ms = run(psprintf("CREATE TEMP TABLE neardup_signatures AS "
							"SELECT *, (%s)::%s.signature AS neardup_signature "
							"FROM pg_temp.neardup_documents",
							method, evaluation->schema));
	run("ANALYZE pg_temp.neardup_signatures");
	*find_ms = run(psprintf("CREATE TEMP TABLE neardup_found AS "
							"SELECT a.id AS id1, b.id AS id2, "
							"%s AS similarity "
							"FROM pg_temp.neardup_signatures a JOIN pg_temp.neardup_signatures b "
							"ON %s.near_duplicate(a.neardup_signature, b.neardup_signature, %.17g, '%s') "
							"AND a.id < b.id AND (%s)",
							measure_expression(evaluation, measure,
											   "a.neardup_signature",
											   "b.neardup_signature"),
							evaluation->schema, threshold,
							measure_name(measure), evaluation->condition));
}

/* Appends a method's row to the result. */
static void
put_row(const Evaluation *evaluation, const char *method, double threshold,
		double make_ms, double find_ms)
{
	Datum		values[NUM_COLUMNS];
	bool		nulls[NUM_COLUMNS] = {0};

	run(psprintf("SELECT (SELECT pg_catalog.count(neardup_signature) FROM pg_temp.neardup_signatures), "
				 "(SELECT pg_catalog.avg(pg_catalog.pg_column_size(neardup_signature))::float8 FROM pg_temp.neardup_signatures), "
				 "(e.e).found, (e.e).correct, (e.e).recall, (e.e).\"precision\", (e.e).f, "
				 "(e.e).highest_false_match, (e.e).separation, (e.e).true_pairs "
				 "FROM (SELECT %s.pair_evaluation(f.id1 IS NOT NULL, t.id1 IS NOT NULL, f.similarity) AS e "
				 "FROM pg_temp.neardup_found f FULL JOIN pg_temp.neardup_truth t USING (id1, id2)) e",
				 evaluation->schema));
	if (SPI_processed != 1)
		elog(ERROR, "evaluation gave no row");
	values[0] = CStringGetTextDatum(method);
	values[1] = Float8GetDatum(threshold);
	for (int i = 0; i < 10; i++)
		values[i + 2] = SPI_getbinval(SPI_tuptable->vals[0],
									  SPI_tuptable->tupdesc, i + 1,
									  &nulls[i + 2]);
	values[12] = Float8GetDatum(make_ms);
	values[13] = Float8GetDatum(find_ms);
	tuplestore_putvalues(evaluation->rsinfo->setResult,
						 evaluation->rsinfo->setDesc, values, nulls);
}

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

/* An array's texts. */
static Datum *
texts_of(ArrayType *array, int *n)
{
	Datum	   *texts;

	deconstruct_array(array, TEXTOID, -1, false, TYPALIGN_INT, &texts, NULL,
					  n);
	return texts;
}

/* What is to be compared. */
typedef struct Methods
{
	int			n;
	Datum	   *expressions;
	int			nthresholds;	/* n, or one for all */
	const float8 *thresholds;
	int			nmeasures;		/* n, or one for all */
	Datum	   *measures;		/* by name */
} Methods;

static Methods
check_methods(ArrayType *expressions, ArrayType *thresholds,
			  ArrayType *measures)
{
	Methods		methods;

	methods.n = ArrayGetNItems(ARR_NDIM(expressions), ARR_DIMS(expressions));
	require_as_many(expressions, methods.n, "methods");
	require_as_many(thresholds, methods.n, "thresholds");
	require_as_many(measures, methods.n, "measures");
	methods.expressions = texts_of(expressions, &methods.n);
	methods.nthresholds = ArrayGetNItems(ARR_NDIM(thresholds),
										 ARR_DIMS(thresholds));
	methods.thresholds = (const float8 *) ARR_DATA_PTR(thresholds);
	methods.measures = texts_of(measures, &methods.nmeasures);
	return methods;
}

/* Evaluates method i and appends its row to the result. */
static void
evaluate_method(const Evaluation *evaluation, const Methods *methods, int i)
{
	char	   *method = TextDatumGetCString(methods->expressions[i]);
	double		threshold =
	methods->thresholds[methods->nthresholds == 1 ? 0 : i];
	Datum		measure = methods->measures[methods->nmeasures == 1 ? 0 : i];
	double		make_ms;
	double		find_ms;

	find_pairs(evaluation, method, threshold,
			   measure_require(DatumGetTextPP(measure)), &make_ms, &find_ms);
	put_row(evaluation, method, threshold, make_ms, find_ms);
	run("DROP TABLE pg_temp.neardup_signatures, pg_temp.neardup_found");
}

/*
 * evaluate_methods(documents text, truth text, methods text[],
 * thresholds float8[], condition text, measures text[])
 */
Datum
evaluate_methods(PG_FUNCTION_ARGS)
{
	char	   *documents = text_to_cstring(PG_GETARG_TEXT_PP(0));
	char	   *truth = text_to_cstring(PG_GETARG_TEXT_PP(1));
	Methods		methods = check_methods(PG_GETARG_ARRAYTYPE_P(2),
										PG_GETARG_ARRAYTYPE_P(3),
										PG_GETARG_ARRAYTYPE_P(5));
	Evaluation	evaluation;

	InitMaterializedSRF(fcinfo, 0);
	evaluation.rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	evaluation.schema = quote_identifier(get_namespace_name(get_func_namespace(fcinfo->flinfo->fn_oid)));
	evaluation.condition = text_to_cstring(PG_GETARG_TEXT_PP(4));
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	prepare(&evaluation, documents, truth);
	for (int i = 0; i < methods.n; i++)
		evaluate_method(&evaluation, &methods, i);
	run("DROP TABLE pg_temp.neardup_documents, pg_temp.neardup_truth");
	if (SPI_finish() != SPI_OK_FINISH)
		elog(ERROR, "SPI_finish failed");
	return (Datum) 0;
}
