/*
 * evaluate_thresholds.c
 *		What each threshold finds, of documents whose near-duplicates are known:
 *		the signatures are made once and joined once, at the least threshold.
 *
 * Of the pairs that come out only their similarity and whether they are true
 * is kept, with how many there are of a kind.  Each threshold then counts those
 * that reach it.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/tuplestore.h"

#include "base/call.h"
#include "evaluation/known_pairs.h"
#include "signature/sql/near.h"

PG_FUNCTION_INFO_V1(evaluate_thresholds);

#define NUM_COLUMNS		11
#define NUM_FIGURES		(NUM_COLUMNS - 2)	/* all but method and measure */

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

/* The pairs of a method, by their similarity. */
static void
find_pairs(Evaluation *evaluation, const char *method, double threshold,
		   Measure measure)
{
	evaluation_make_signatures(evaluation, method);
	evaluation_run(psprintf("CREATE TEMP TABLE neardup_found AS "
							"SELECT f.similarity, t.id1 IS DISTINCT FROM NULL AS correct, "
							"pg_catalog.count(*) AS pairs "
							"FROM (%s) f "
							"LEFT JOIN pg_temp.neardup_truth t ON %s "
							"GROUP BY 1, 2",
							evaluation_pairs(evaluation,
											 evaluation_reached(evaluation, measure),
											 threshold, measure),
							evaluation_is_true(evaluation)));
}

/* Appends a row of the result, from row i of the figures. */
static void
put_row(const Evaluation *evaluation, Datum method, Datum measure, uint64 i)
{
	Datum		values[NUM_COLUMNS] = {method, measure};
	bool		nulls[NUM_COLUMNS] = {0};

	for (int column = 0; column < NUM_FIGURES; column++)
		values[column + 2] = SPI_getbinval(SPI_tuptable->vals[i],
										   SPI_tuptable->tupdesc, column + 1,
										   &nulls[column + 2]);
	tuplestore_putvalues(evaluation->rsinfo->setResult,
						 evaluation->rsinfo->setDesc, values, nulls);
}

/* A row for each threshold. */
static void
put_rows(const Evaluation *evaluation, Datum method, Datum measure,
		 ArrayType *thresholds)
{
	Oid			type = FLOAT8ARRAYOID;
	Datum		value = PointerGetDatum(thresholds);

	if (SPI_execute_with_args(figures_query, 1, &type, &value, NULL, false,
							  0) != SPI_OK_SELECT)
		elog(ERROR, "SPI_execute_with_args failed");
	for (uint64 i = 0; i < SPI_processed; i++)
		put_row(evaluation, method, measure, i);
}

/* The least of the thresholds, each of which the measure has to know. */
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

/* One method, by one measure. */
static void
evaluate_method(Evaluation *evaluation, Datum method, Datum measure,
				ArrayType *thresholds)
{
	Measure		which = measure_require(DatumGetTextPP(measure));

	find_pairs(evaluation, TextDatumGetCString(method),
			   least_threshold(thresholds, which), which);
	put_rows(evaluation, method, measure, thresholds);
	evaluation_run("DROP TABLE pg_temp.neardup_signatures, pg_temp.neardup_found");
}

/*
 * evaluate_thresholds(documents text, truth text, methods text[],
 * thresholds float8[], condition text, measures text[])
 */
Datum
evaluate_thresholds(PG_FUNCTION_ARGS)
{
	ArrayType  *thresholds = PG_GETARG_ARRAYTYPE_P(3);
	ArrayType  *measure_array = PG_GETARG_ARRAYTYPE_P(5);
	ArrayType  *method_array = PG_GETARG_ARRAYTYPE_P(2);
	int			n = ArrayGetNItems(ARR_NDIM(method_array),
								   ARR_DIMS(method_array));
	int			nmeasures;
	Datum	   *methods = evaluation_texts(method_array, &n, n, "methods");
	Datum	   *measures = evaluation_texts(measure_array, &nmeasures, n,
											"measures");
	Evaluation	evaluation;

	argument_elements("thresholds", thresholds);
	/* before signatures are made */
	for (int i = 0; i < nmeasures; i++)
		least_threshold(thresholds,
						measure_require(DatumGetTextPP(measures[i])));
	evaluation = evaluation_begin(fcinfo,
								  text_to_cstring(PG_GETARG_TEXT_PP(0)),
								  text_to_cstring(PG_GETARG_TEXT_PP(1)),
								  text_to_cstring(PG_GETARG_TEXT_PP(4)));
	for (int i = 0; i < n; i++)
		evaluate_method(&evaluation, methods[i],
						measures[nmeasures == 1 ? 0 : i], thresholds);
	evaluation_end();
	return (Datum) 0;
}
