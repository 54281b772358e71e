/*
 * known_pairs.c
 *		Documents whose near-duplicates are known, and the signatures that a
 *		method makes of them.
 *
 * Each method is an expression that makes a signature of a document.  The
 * signatures are made into a temporary table, and joined with themselves as any
 * user would.
 *
 * What the caller gives is read with the caller's search path.  Everything else is
 * named with its schema: whoever may make operators in a schema of that path must not
 * have them called where the caller has written none.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "funcapi.h"
#include "nodes/makefuncs.h"
#include "parser/parse_coerce.h"
#include "portability/instr_time.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "base/compat.h"
#include "base/values.h"
#include "evaluation/given_query.h"
#include "evaluation/known_pairs.h"
#include "signature/sql/near.h"
#include "methods/method.h"

PG_FUNCTION_INFO_V1(neardup_operator);

double
evaluation_run(const char *statement)
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
	(void) evaluation_run("SELECT FROM pg_temp.neardup_documents WHERE id IS NOT DISTINCT FROM NULL LIMIT 1");
	if (SPI_processed > 0)
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("id of a row of query \"documents\" is null"),
				 errhint("Leave such rows out of the query, or give them an id.")));
	(void) evaluation_run("SELECT id FROM pg_temp.neardup_documents "
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
	evaluation_run(psprintf("CREATE TEMP TABLE neardup_documents AS SELECT * FROM (%s\n) d",
							documents));
	require_ids();
	evaluation_run("CREATE UNIQUE INDEX ON pg_temp.neardup_documents (id)");
	evaluation->equal = operator_name(operator_equal(types[0]));
	evaluation->less = operator_name(operator_less(types[0]));
	common = common_type(types);
	/* a and b are in a true pair what they are in one that is found */
	evaluation_run(psprintf("CREATE TEMP TABLE neardup_truth AS "
							"SELECT DISTINCT a.id AS id1, b.id AS id2 "
							"FROM (%s\n) u, LATERAL (VALUES (u.id1, u.id2), (u.id2, u.id1)) t (id1, id2) "
							"JOIN pg_temp.neardup_documents a ON %s "
							"JOIN pg_temp.neardup_documents b ON %s "
							"WHERE a.id %s b.id AND (%s\n)",
							truth, equal_in(common, "a.id", "t.id1"),
							equal_in(common, "b.id", "t.id2"),
							evaluation->less, evaluation->condition));
}

Evaluation
evaluation_begin(FunctionCallInfo fcinfo, const char *documents,
				 const char *truth, const char *condition)
{
	Oid			schema = get_func_namespace(fcinfo->flinfo->fn_oid);
	Evaluation	evaluation = {0};

	InitMaterializedSRF(fcinfo, 0);
	evaluation.rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	evaluation.schema = quote_identifier(get_namespace_name(schema));
	given_expression("condition", condition);
	evaluation.condition = condition;
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	prepare(&evaluation, documents, truth);
	return evaluation;
}

void
evaluation_end(void)
{
	evaluation_run("DROP TABLE pg_temp.neardup_documents, pg_temp.neardup_truth");
	if (SPI_finish() != SPI_OK_FINISH)
		elog(ERROR, "SPI_finish failed");
}

double
evaluation_make_signatures(Evaluation *evaluation, const char *method)
{
	double		ms;

	given_expression("methods", method);
	ms = evaluation_run(psprintf("CREATE TEMP TABLE neardup_signatures AS "
								 "SELECT *, (%s\n)::%s.signature AS neardup_signature "
								 "FROM pg_temp.neardup_documents",
								 method, evaluation->schema));
	evaluation_run("ANALYZE pg_temp.neardup_signatures");
	return ms;
}

char *
evaluation_similarity(const Evaluation *evaluation, Measure measure)
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

	(void) evaluation_run("SELECT neardup_signature FROM pg_temp.neardup_signatures "
						  "WHERE neardup_signature IS NOT NULL LIMIT 1");
	if (SPI_processed == 0)
		return false;
	sig = SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1,
						&isnull);
	return method_info(DatumGetSignature(sig)->spec.method)->least_similarity != NULL;
}

char *
evaluation_reached(const Evaluation *evaluation, Measure measure)
{
	if (measure == MEASURE_JACCARD && have_own_rule())
		return "1::pg_catalog.float8";
	return evaluation_similarity(evaluation, measure);
}

char *
evaluation_pairs(const Evaluation *evaluation, const char *value,
				 double threshold, Measure measure)
{
	return psprintf("SELECT a.id AS id1, b.id AS id2, %s AS similarity "
					"FROM pg_temp.neardup_signatures a JOIN pg_temp.neardup_signatures b "
					"ON %s.near_duplicate(a.neardup_signature, b.neardup_signature, %.17g::pg_catalog.float8, '%s'::pg_catalog.text) "
					"AND a.id %s b.id AND (%s\n)",
					value, evaluation->schema, threshold,
					measure_name(measure), evaluation->less, evaluation->condition);
}

char *
evaluation_is_true(const Evaluation *evaluation)
{
	return psprintf("f.id1 %s t.id1 AND f.id2 %s t.id2", evaluation->equal,
					evaluation->equal);
}

/* Raises an error unless there are n of `what`, or one for all. */
void
evaluation_require_as_many(ArrayType *array, int n, const char *what)
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

Datum *
evaluation_texts(ArrayType *array, int *given, int n, const char *what)
{
	Datum	   *texts;

	evaluation_require_as_many(array, n, what);
	deconstruct_array(array, TEXTOID, -1, false, TYPALIGN_INT, &texts, NULL,
					  given);
	return texts;
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
