/*
 * dense.c
 *		Dense vectors: embeddings that a model made.
 *
 * A signature has the vector's coordinates, divided by its length once.  The
 * number of dimensions is a parameter, so that vectors of different models are
 * mostly of different specs, and never near-duplicates.  A vector of zeros has
 * no direction: it has no coordinates, and is similar to nothing, as an empty
 * set.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type_d.h"
#include "utils/array.h"

#include "base/call.h"
#include "base/interrupts.h"
#include "methods/method.h"
#include "signature/dense_vectors.h"

/*
 * MethodInfo.check: as many finite coordinates as dimensions, of length 1, or
 * none; no zero has a sign, so that equal vectors have equal bytes.
 */
static const char *
dense_check(const Signature *sig)
{
	const float4 *coordinates = signature_coordinates(sig);
	uint32		dimensions = sig->spec.param[0];
	uint64		n = SIGNATURE_NVALUES(sig);

	if (dimensions < 1 || dimensions > DENSE_MAX_DIMENSIONS)
		return "Its number of dimensions is out of range.";
	if (n == 0)
		return NULL;
	if (n != dimensions)
		return "It does not have one coordinate for each dimension.";
	for (uint64 i = 0; i < n; i++)
	{
		CHECK_EVERY(i);
		if (isnan(coordinates[i]) || isinf(coordinates[i]))
			return "One of its coordinates is not a finite number.";
		if (coordinates[i] == 0 && signbit(coordinates[i]))
			return "One of its coordinates is a zero with a sign.";
	}
	if (fabs(dense_dot(coordinates, coordinates, n) - 1) > DENSE_SQUARE_ERROR)
		return "Its length is not 1.";
	return NULL;
}

/* MethodInfo.cosine, and similarity */
static double
dense_similarity(const Signature *a, const Signature *b)
{
	const float4 *x = signature_coordinates(a);
	const float4 *y = signature_coordinates(b);
	uint64		n = Min(SIGNATURE_NVALUES(a), SIGNATURE_NVALUES(b));

	if (n == 0)
		return 0;
	return dense_cosine(x, y, n, dense_dot(x, x, n), dense_dot(y, y, n));
}

/*
 * MethodInfo.near: true if the cosine is at least the threshold.  Mostly the
 * dot product shows that it is not, as lengths are nearly 1.
 */
static bool
dense_near(const Signature *a, const Signature *b, double threshold)
{
	uint64		n = Min(SIGNATURE_NVALUES(a), SIGNATURE_NVALUES(b));

	return dense_dot(signature_coordinates(a), signature_coordinates(b), n) >=
		threshold * (1 - 2 * DENSE_SQUARE_ERROR) &&
		dense_similarity(a, b) >= threshold;
}

/* parameter: number of dimensions */
const MethodInfo dense_method = {
	.name = "dense",.method = METHOD_DENSE,.width = 32,
	.analysed = ANALYSED_NEVER,.exact = true,.dense = true,.nparams = 1,
	.check = dense_check,
	.similarity = dense_similarity,.near = dense_near,
	.cosine = dense_similarity
};

/* SQL functions */

/* Raise INVALID_PARAMETER_VALUE unless all coordinates are finite. */
static void
require_finite(const float4 *coordinates, uint32 n)
{
	for (uint32 i = 0; i < n; i++)
		if (isnan(coordinates[i]) || isinf(coordinates[i]))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("coordinate %u is out of range: %g", i + 1,
							coordinates[i]),
					 errdetail("A coordinate is a finite number.")));
}

/*
 * Store coordinates, divided by the vector's length unless that is 1, so that
 * the coordinates of a signature make the same signature.
 */
static void
store_normalised(const float4 *from, uint32 n, double square, float4 *to)
{
	double		length = fabs(square - 1) <= DENSE_SQUARE_ERROR ? 1 :
	sqrt(square);

	Assert(square > 0);
	for (uint32 i = 0; i < n; i++)
	{
		to[i] = (float4) (from[i] / length);
		/* a zero without a sign */
		if (to[i] == 0)
			to[i] = 0;
	}
}

/* dense(coordinates real[]) */
PG_FUNCTION_INFO_V1(signature_dense);
Datum
signature_dense(PG_FUNCTION_ARGS)
{
	ArrayType  *array = PG_GETARG_ARRAYTYPE_P(0);
	const float4 *coordinates = (const float4 *) ARR_DATA_PTR(array);
	uint32		n = argument_whole("number of dimensions",
								   argument_elements("coordinates", array), 1,
								   DENSE_MAX_DIMENSIONS);
	SignatureSpec spec = {
		.version = SIGNATURE_VERSION,.method = METHOD_DENSE,
		.unit = UNIT_NONE,.width = dense_method.width,.param = {n}
	};
	double		square;
	Signature  *sig;

	require_finite(coordinates, n);
	square = dense_dot(coordinates, coordinates, n);
	sig = signature_alloc(&spec, square > 0 ? n : 0);
	sig->nfeatures = SIGNATURE_NVALUES(sig);
	if (square > 0)
		store_normalised(coordinates, n, square, signature_coordinates(sig));
	Assert(dense_check(sig) == NULL);
	PG_RETURN_SIGNATURE(sig);
}

/* The cast signature::real[]: the coordinates of a dense vector */
PG_FUNCTION_INFO_V1(signature_to_coordinates);
Datum
signature_to_coordinates(PG_FUNCTION_ARGS)
{
	Signature  *sig = PG_GETARG_SIGNATURE(0);
	uint32		n = sig->spec.param[0];
	Datum	   *values;

	if (sig->spec.method != METHOD_DENSE)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("%s is not a dense vector", spec_name(&sig->spec)),
				 errhint("Cast it to bigint[], the array of its values.")));
	values = palloc(n * sizeof(Datum));
	for (uint32 i = 0; i < n; i++)
		values[i] = Float4GetDatum(i < SIGNATURE_NVALUES(sig) ?
								   signature_coordinates(sig)[i] : 0);
	PG_RETURN_ARRAYTYPE_P(construct_array(values, n, FLOAT4OID,
										  sizeof(float4), true,
										  TYPALIGN_INT));
}
