/*
 * join_kinds.c
 *		Signatures as the sets of a similarity join.
 *
 * A set goes into the engine as its values, without the header; a sketch as a
 * whole, padded with zeros, for its method's keys and comparisons; a weighted
 * vector as features and weights, a dense one as coordinates.
 */
#include "postgres.h"

#include "signature/dense_vectors.h"
#include "signature/vectors.h"
#include "base/hash.h"
#include "base/sort_uint64.h"
#include "signature/signature.h"
#include "join/algorithms/dense_join.h"
#include "join/algorithms/vector_join.h"
#include "join/algorithms/join_kinds.h"
#include "join/algorithms/prefix_join.h"
#include "join/algorithms/sketch_keys.h"
#include "signature/sql/near.h"
#include "methods/method.h"

SignatureKind
signature_kind(const Signature *sig, Measure measure)
{
	if (method_info(sig->spec.method)->near == NULL)
		return KIND_SETS;
	if (!measure_is_defined(method_info(sig->spec.method), measure))
		measure_refuse(sig, measure_name(measure));
	if (method_info(sig->spec.method)->dense)
		return KIND_DENSE;
	return method_info(sig->spec.method)->weighted ? KIND_VECTORS :
		KIND_SKETCHES;
}

const Algorithm *
default_algorithm(SignatureKind kind, Measure measure)
{
	Assert(kind < SIGNATURE_KINDS);
	if (kind == KIND_SKETCHES)
		return &sketch_keys;
	if (kind == KIND_VECTORS)
		return measure == MEASURE_COSINE ? &cosine_join : &resemblance_join;
	if (kind == KIND_DENSE)
		return &dense_join;
	return &prefix_join;
}

/* A vector as the engine has it, see vector_join.h. */
static const uint64 *
vector_as_set(const Signature *sig, Measure measure, uint32 *n)
{
	Vector		vector = {
		.features = sig->values,.weights = signature_weights(sig),
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

/* A dense vector in a scope as the engine has it, see dense_join.h. */
static const uint64 *
dense_as_set(const Signature *sig, uint64 scope, uint32 *n)
{
	const float4 *coordinates = signature_coordinates(sig);
	double		square = dense_dot(coordinates, coordinates, *n);
	uint64	   *values = palloc0(sizeof(uint64) * DENSE_VALUES(*n));

	memcpy(values, &square, sizeof(double));
	values[1] = scope;
	memcpy(values + DENSE_HEAD, coordinates, sizeof(float4) * *n);
	*n = DENSE_VALUES(*n);
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
	if (kind == KIND_DENSE)
		return dense_as_set(sig, 0, n);
	*n = (bytes + sizeof(uint64) - 1) / sizeof(uint64);
	copy = palloc0(sizeof(uint64) * *n);
	memcpy(copy, sig, bytes);
	return copy;
}

bool
kind_has_scopes(SignatureKind kind)
{
	return kind == KIND_SETS || kind == KIND_DENSE;
}

const uint64 *
signature_as_scoped_set(const Signature *sig, SignatureKind kind, uint64 scope,
						uint32 *n)
{
	uint64		salt = mix64(scope ^ spec_hash(&sig->spec));
	uint64	   *scoped;

	Assert(kind_has_scopes(kind));
	*n = SIGNATURE_NVALUES(sig);
	if (kind == KIND_DENSE)
		return *n == 0 ? sig->values : dense_as_set(sig, scope, n);
	scoped = palloc_extended(sizeof(uint64) * Max(*n, 1), MCXT_ALLOC_HUGE);
	for (uint32 i = 0; i < *n; i++)
		scoped[i] = mix64(signature_value(sig, i) ^ salt);
	sort_hashes(scoped, *n);
	return scoped;
}

double
paired_similarity(SignatureKind kind, Measure measure, const JoinSet *a,
				  const JoinSet *b)
{
	uint64		overlap;

	/* its values may not be in memory */
	if (a == b && kind != KIND_SKETCHES)
		return measure_value(measure, a->size, a->size, a->size);
	if (kind == KIND_SKETCHES)
		return signatures_value((const Signature *) a->values,
								(const Signature *) b->values, measure);
	if (kind == KIND_DENSE)
		return dense_cosine(dense_coordinates(a->values),
							dense_coordinates(b->values),
							dense_ncoordinates(a->size),
							dense_square(a->values), dense_square(b->values));
	if (kind == KIND_VECTORS)
	{
		Vector		v = joined_vector(a->values, a->size);
		Vector		w = joined_vector(b->values, b->size);

		return measure == MEASURE_COSINE ?
			vectors_cosine(vectors_dot(&v, &w), joined_norm(a->values),
						   joined_norm(b->values)) :
			vectors_jaccard(&v, &w);
	}

	Assert(a->nvalues <= a->size && b->nvalues <= b->size);
	/* elements of one set only, which prepared values lack, are not shared */
	overlap = set_overlap(a->values, a->nvalues, b->values, b->nvalues);
	return measure_value(measure, a->size, b->size, overlap);
}
