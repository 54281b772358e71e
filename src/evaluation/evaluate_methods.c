/*
 * evaluate_methods.c
 *		Methods against each other on documents whose near-duplicates are known:
 *		the table of the surveys, recall, precision, F and time.
 *
 * The signatures of each method are joined with themselves, and the pairs are
 * held against the true ones.
 */
#include "postgres.h"

#include "executor/spi.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/tuplestore.h"

#include "evaluation/known_pairs.h"
#include "signature/sql/near.h"

PG_FUNCTION_INFO_V1(evaluate_methods);

#define NUM_COLUMNS		14

/* Makes the signatures of a method and finds the pairs. */
static void
find_pairs(Evaluation *evaluation, const char *method,
		   double threshold, Measure measure,
		   double *make_ms, double *find_ms)
{
	*make_ms = evaluation_make_signatures(evaluation, method);
	*find_ms = evaluation_run(psprintf("CREATE TEMP TABLE neardup_found AS %s",
									   evaluation_pairs(evaluation,
														evaluation_similarity(evaluation, measure),
														threshold, measure)));
}

/* Appends a method's row to the result. */
static void
put_row(const Evaluation *evaluation, const char *method, double threshold,
		double make_ms, double find_ms)
{
	Datum		values[NUM_COLUMNS];
	bool		nulls[NUM_COLUMNS] = {0};

	evaluation_run(psprintf("SELECT (SELECT pg_catalog.count(neardup_signature) FROM pg_temp.neardup_signatures), "
							"(SELECT pg_catalog.avg(pg_catalog.pg_column_size(neardup_signature))::pg_catalog.float8 FROM pg_temp.neardup_signatures), "
							"(e.e).found, (e.e).correct, (e.e).recall, (e.e).\"precision\", (e.e).f, "
							"(e.e).highest_false_match, (e.e).separation, (e.e).true_pairs "
							"FROM (SELECT %s.pair_evaluation(f.id1 IS DISTINCT FROM NULL, t.id1 IS DISTINCT FROM NULL, f.similarity) AS e "
							"FROM pg_temp.neardup_found f FULL JOIN pg_temp.neardup_truth t ON %s) e",
							evaluation->schema, evaluation_is_true(evaluation)));
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

static double
threshold_of(const Methods *methods, int i)
{
	return methods->thresholds[methods->nthresholds == 1 ? 0 : i];
}

static Measure
measure_of(const Methods *methods, int i)
{
	Datum		name = methods->measures[methods->nmeasures == 1 ? 0 : i];

	return measure_require(DatumGetTextPP(name));
}

static Methods
check_methods(ArrayType *expressions, ArrayType *thresholds,
			  ArrayType *measures)
{
	Methods		methods;

	methods.n = ArrayGetNItems(ARR_NDIM(expressions), ARR_DIMS(expressions));
	methods.expressions = evaluation_texts(expressions, &methods.n, methods.n,
										   "methods");
	evaluation_require_as_many(thresholds, methods.n, "thresholds");
	methods.nthresholds = ArrayGetNItems(ARR_NDIM(thresholds),
										 ARR_DIMS(thresholds));
	methods.thresholds = (const float8 *) ARR_DATA_PTR(thresholds);
	methods.measures = evaluation_texts(measures, &methods.nmeasures,
										methods.n, "measures");
	for (int i = 0; i < methods.n; i++)
		threshold_require_valid(threshold_of(&methods, i),
								measure_of(&methods, i));
	return methods;
}

/* Evaluates method i and appends its row to the result. */
static void
evaluate_method(Evaluation *evaluation, const Methods *methods, int i)
{
	char	   *method = TextDatumGetCString(methods->expressions[i]);
	double		threshold = threshold_of(methods, i);
	double		make_ms;
	double		find_ms;

	find_pairs(evaluation, method, threshold, measure_of(methods, i), &make_ms,
			   &find_ms);
	put_row(evaluation, method, threshold, make_ms, find_ms);
	evaluation_run("DROP TABLE pg_temp.neardup_signatures, pg_temp.neardup_found");
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

	evaluation = evaluation_begin(fcinfo, documents, truth,
								  text_to_cstring(PG_GETARG_TEXT_PP(4)));
	for (int i = 0; i < methods.n; i++)
		evaluate_method(&evaluation, &methods, i);
	evaluation_end();
	return (Datum) 0;
}
