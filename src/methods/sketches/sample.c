/*
 * sample.c
 *		MOD_m: the hashes of a document that are divisible by m.
 *
 * Every feature is in the sample or not, by its own hash and so in all
 * documents alike, with a chance of 1 in m.  The sample of a union or an
 * intersection is therefore that of the samples, and all measures of sets can
 * be taken on samples (Broder, "On the resemblance and containment of
 * documents", 1997): resemblance and containment as they are, unbiased, given
 * that the sample is not empty; numbers of features times m.  Indexes serve
 * samples as they serve exact sets.
 *
 * The sample grows with the document: good for documents of very different
 * sizes, and for containment; bad for short documents, whose sample may be
 * empty and then is similar to nothing.  The standard error of a containment
 * c of a in b is sqrt(c (1 - c) m / |a|), about.
 */
#include "postgres.h"

#include "base/interrupts.h"
#include "base/sort_uint64.h"
#include "signature/feature.h"
#include "methods/method.h"
#include "methods/sketches/sketch.h"

static const char *
sample_check(const Signature *sig)
{
	uint32		m = sig->spec.param[0];
	uint64		n = SIGNATURE_NVALUES(sig);

	if (m < 1)
		return "Its modulus is zero.";
	if (n > sig->nfeatures)
		return "It has more values than features.";
	for (uint64 i = 0; i < n; i++)
	{
		CHECK_EVERY(i);
		if (sig->values[i] % m != 0)
			return "A value is not divisible by its modulus.";
	}
	return NULL;
}

/* How many of the features are sampled; writes them if there is a place. */
static size_t
choose(const SignatureSpec *spec, const uint64 *features, size_t n, uint64 *chosen)
{
	uint32		m = spec->param[0];
	size_t		nchosen = 0;

	for (size_t i = 0; i < n; i++)
	{
		uint64		hash = feature_hash(spec, features[i]);

		CHECK_EVERY(i);
		if (hash % m != 0)
			continue;
		if (chosen != NULL)
			chosen[nchosen] = hash;
		nchosen++;
	}
	return nchosen;
}

static Signature *
sample_make(const SignatureSpec *spec, const uint64 *features, size_t n)
{
	size_t		nchosen = choose(spec, features, n, NULL);
	Signature  *sig = signature_alloc(spec, nchosen);

	choose(spec, features, n, sig->values);
	/* shingles come in the order of their hashes */
	if (spec->unit == UNIT_NONE)
		sort_distinct_hashes(sig->values, nchosen);
	return sig;
}

const MethodInfo sample_method = {
	.name = "sample", .method = METHOD_SAMPLE, .width = 64,
	.analysed = ANALYSED_AS_SOURCE, .set = true, .hashed = true, .sampled = true,
	.nparams = 1,
	.check = sample_check, .make = sample_make
};

/* SQL functions */

#define SAMPLE_PARAM	METHOD_SAMPLE, "modulus", PG_INT32_MAX

PG_FUNCTION_INFO_V1(sample_of_set);
Datum
sample_of_set(PG_FUNCTION_ARGS)
{
	return sketch_of_set_arg(fcinfo, SAMPLE_PARAM);
}

PG_FUNCTION_INFO_V1(sample_of_text);
Datum
sample_of_text(PG_FUNCTION_ARGS)
{
	return sketch_of_text_arg(fcinfo, SAMPLE_PARAM);
}
