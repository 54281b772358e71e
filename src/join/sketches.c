/*
 * sketches.c
 *		Signatures as the sets of a similarity join.
 *
 * What is measured as a set goes into the engine as the set of its values,
 * whatever else is in the header.  A sketch goes as a whole, padded with
 * zeros, and comes back to its method for keys and comparisons.  What to do
 * with the features and weights of a vector, the engine knows by itself.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/join/sketches.c
 */
#include "postgres.h"

#include "join/sketches.h"
#include "measures.h"
#include "methods/methods.h"
#include "signature.h"
#include "vectors.h"

SignatureKind
signature_kind(const Signature *sig, Measure measure)
{
	if (method_info(sig->making.method)->near == NULL)
		return KIND_SETS;
	/* raises if the measure cannot be told from it */
	if (measure != MEASURE_JACCARD)
		signatures_near(sig, sig, 1, measure);
	return method_info(sig->making.method)->weighted ? KIND_VECTORS :
		KIND_SKETCHES;
}

/* Sketches that have no keys of their own are found by all their values. */
static void
all_values(const Signature *sig, KeyList *keys)
{
	uint64		n = SIGNATURE_NVALUES(sig);

	for (uint64 i = 0; i < n; i++)
		keys_add(keys, signature_value(sig, i));
}

static void
sketch_row_keys(const uint64 *values, double threshold, KeyList *keys)
{
	const Signature *sig = (const Signature *) values;

	if (making_has_keys(&sig->making))
		signature_row_keys(sig, threshold, keys);
	else
		all_values(sig, keys);
}

/*
 * A sketch without keys is a sample of a set (bottom.c): of the values that
 * two have between them, at least as many as either has, the share that both
 * have is the estimate.
 */
static bool
sketch_query_keys(const uint64 *values, double threshold, KeyList *keys,
				  uint32 *need)
{
	const Signature *sig = (const Signature *) values;

	if (making_has_keys(&sig->making))
		return signature_query_keys(sig, threshold, threshold, keys, need);
	if (!method_info(sig->making.method)->set)
		return false;
	all_values(sig, keys);
	*need = measure_least_overlap(MEASURE_CONTAINMENT, SIGNATURE_NVALUES(sig),
								  threshold);
	return true;
}

/* Sketches of two makings may be in one engine: see makings.c. */
static bool
sketch_near(const uint64 *a, const uint64 *b, double threshold)
{
	const Signature *x = (const Signature *) a;
	const Signature *y = (const Signature *) b;

	return making_equal(&x->making, &y->making) &&
		signatures_near(x, y, threshold, MEASURE_JACCARD);
}

static const KeyedSets sketch_sets = {
	.row_keys = sketch_row_keys,
	.query_keys = sketch_query_keys,
	.near = sketch_near,
};

void
signatures_begin(SetJoin *join, SignatureKind kind)
{
	if (kind == KIND_VECTORS)
		setjoin_vectors(join);
	else if (kind == KIND_SKETCHES)
		setjoin_keyed(join, &sketch_sets);
}

/* A vector as the engine has it, see engine.h. */
static const uint64 *
vector_as_set(const Signature *sig, Measure measure, uint32 *n)
{
	Vector		vector = {
		.features = sig->values, .weights = signature_weights(sig),
		.n = *n
	};
	double		norm = measure == MEASURE_COSINE ? vector_square(&vector) :
		vector_sum(&vector);
	uint64	   *values;

	*n = VECTOR_VALUES(vector.n);
	values = palloc0(sizeof(uint64) * *n);
	memcpy(values, &norm, sizeof(double));
	memcpy(values + 1, vector.features, sizeof(uint64) * vector.n);
	memcpy(values + 1 + vector.n, vector.weights, sizeof(float4) * vector.n);
	return values;
}

const uint64 *
signature_as_set(const Signature *sig, SignatureKind kind, Measure measure,
				 uint32 *n)
{
	size_t		bytes = VARSIZE(sig);
	uint64	   *copy;

	*n = SIGNATURE_NVALUES(sig);
	if (*n == 0 || kind == KIND_SETS)
		return sig->values;
	if (kind == KIND_VECTORS)
		return vector_as_set(sig, measure, n);
	*n = (bytes + sizeof(uint64) - 1) / sizeof(uint64);
	copy = palloc0(sizeof(uint64) * *n);
	memcpy(copy, sig, bytes);
	return copy;
}
