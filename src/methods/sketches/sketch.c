/*
 * sketch.c
 *		Sketches that are samples, MIN_s and MOD_m, and common functions of
 *		sketches.
 */
#include "postgres.h"

#include "base/call.h"
#include "base/interrupts.h"
#include "base/memory.h"
#include "base/sort_uint64.h"
#include "document/doc_context.h"
#include "methods/method.h"
#include "methods/sketches/sketch.h"
#include "signature/signature.h"

/* Common parts of the SQL functions that make sketches */

SignatureSpec
sketch_spec(const SignatureSpec *source, Method method, uint32 param0,
			uint32 param1)
{
	SignatureSpec spec = *source;

	spec.method = method;
	spec.width = method_info(method)->width;
	spec.param[0] = param0;
	spec.param[1] = param1;
	return spec;
}

/* Return a sketch of n distinct features, which rise. */
static Signature *
make_sketch(const SignatureSpec *source, const uint64 *features, size_t n,
			Method method, uint32 param0, uint32 param1)
{
	SignatureSpec spec = sketch_spec(source, method, param0, param1);
	Signature  *sketch = method_info(method)->make(&spec, features, n);

	sketch->nfeatures = n;
	return sketch;
}

/* A sketch of a set by a method with these parameters. */
Signature *
sketch_of_set(const Signature *set, Method method, uint32 param0,
			  uint32 param1)
{
	if (set->spec.method != METHOD_SHINGLES &&
		set->spec.method != METHOD_FEATURES)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("%s cannot be made of %s",
						method_info(method)->name, spec_name(&set->spec)),
				 errdetail("A sketch is made of a set of shingles, or of given features.")));
	return make_sketch(&set->spec, set->values, SIGNATURE_NVALUES(set),
					   method, param0, param1);
}

Signature *
sketch_of_text(FunctionCallInfo fcinfo, int karg,
			   Method method, uint32 param0, uint32 param1)
{
	DocContext *doccxt = doc_context_get(fcinfo, karg + 1);
	const uint64 *set;
	size_t		n;

	doc_context_read(doccxt, fcinfo, READS_SHINGLES,
					 DOC_CONTEXT_GETARG_K(doccxt, karg));
	set = doc_context_set(doccxt, DOC_CONTEXT_GETARG_TEXT(doccxt, 0), &n);
	return make_sketch(&doccxt->spec, set, n, method, param0, param1);
}

/* The sketch of the set in argument 0, with the parameter in argument 1. */
Datum
sketch_of_set_arg(FunctionCallInfo fcinfo, Method method, const char *what,
				  int most)
{
	uint32		param = argument_whole(what, PG_GETARG_INT32(1), 1, most);

	PG_RETURN_SIGNATURE(sketch_of_set(PG_GETARG_SIGNATURE(0), method,
									  param, 0));
}

/*
 * The sketch of the shingles of the text in argument 0, with the parameter in
 * argument 1.
 */
Datum
sketch_of_text_arg(FunctionCallInfo fcinfo, Method method, const char *what,
				   int most)
{
	DocContext *doccxt = doc_context_get(fcinfo, 3);
	uint32		param = argument_whole(what,
									   DOC_CONTEXT_GETARG_INT32(doccxt, 1), 1,
									   most);

	PG_RETURN_SIGNATURE(sketch_of_text(fcinfo, 2, method, param, 0));
}

/*
 * MIN_s: the s smallest hashes of a document
 *
 * The s smallest hashes of the union of two sets are among the values of both
 * sketches, and they are a random sample of the union without repetition.  The
 * share of them that is in both sets,
 *
 *	|MIN_s(A u B) n A n B| / |MIN_s(A u B)|
 *
 * is an unbiased estimate of resemblance (Broder, "On the resemblance and
 * containment of documents", 1997), with a standard error a little below
 * sqrt(J (1 - J) / s); it is exact where the union has no more than s
 * elements.  It does not estimate containment.
 */

/* MethodInfo.check: s values, or all features if there are fewer. */
static const char *
bottom_check(const Signature *sig)
{
	uint32		s = sig->spec.param[0];

	if (s < 1)
		return "The number of hashes that it keeps is zero.";
	if (SIGNATURE_NVALUES(sig) != Min(s, sig->nfeatures))
		return "The number of its values differs from the number of hashes that it keeps.";
	return NULL;
}

/*
 * Write the s smallest hashes of n > s features, rising, to smallest, which
 * has room for 2 s.  One half has the smallest hashes so far; further
 * candidates gather in the other half until it is full.
 */
static void
choose_smallest(const SignatureSpec *spec, const uint64 *features, size_t n,
				uint64 *smallest, size_t s)
{
	uint64		bound = PG_UINT64_MAX;
	size_t		held = 0;

	for (size_t i = 0; i < n; i++)
	{
		uint64		hash = feature_hash(spec, features[i]);

		CHECK_EVERY(i);
		if (hash > bound)
			continue;
		smallest[held++] = hash;
		if (held == 2 * s)
		{
			sort_distinct_hashes(smallest, held);
			held = s;
			bound = smallest[s - 1];
		}
	}
	sort_distinct_hashes(smallest, held);
}

/* MethodInfo.make: the s smallest hashes */
static Signature *
bottom_make(const SignatureSpec *spec, const uint64 *features, size_t n)
{
	size_t		s = Min(spec->param[0], n);
	Signature  *sig = signature_alloc(spec, s);
	uint64	   *smallest;

	if (spec->unit != UNIT_NONE || s == 0)
	{
		/* shingles come in the order of their hashes */
		memcpy(sig->values, features, s * sizeof(uint64));
		return sig;
	}
	smallest = palloc_huge(2 * s, sizeof(uint64));
	choose_smallest(spec, features, n, smallest, s);
	memcpy(sig->values, smallest, s * sizeof(uint64));
	pfree(smallest);
	return sig;
}

/* Merge until s values of the union are counted, or the union ends. */
static double
bottom_similarity(const Signature *a, const Signature *b)
{
	uint64		na = SIGNATURE_NVALUES(a);
	uint64		nb = SIGNATURE_NVALUES(b);
	uint64		most = a->spec.param[0];
	uint64		seen;
	uint64		shared = 0;
	uint64		i = 0;
	uint64		j = 0;

	if (na == 0 || nb == 0)
		return 0;
	for (seen = 0; seen < most && i < na && j < nb; seen++)
	{
		uint64		x = a->values[i];
		uint64		y = b->values[j];

		shared += (x == y);
		i += (x <= y);
		j += (y <= x);
		CHECK_EVERY(seen);
	}
	/* the rest of one set is in the union, too */
	seen = Min(seen + (na - i) + (nb - j), most);
	return (double) shared / (double) seen;
}

/* True if the estimate reaches the threshold. */
static bool
bottom_near(const Signature *a, const Signature *b, double threshold)
{
	return bottom_similarity(a, b) >= threshold;
}

/*
 * The estimate uses at least the elements in both sketches, up to s; at most
 * `common` of them are shared.
 */
static double
bottom_most_similar(const SignatureSpec *spec, uint64 na, uint64 nb,
					uint64 common)
{
	uint64		seen = Min(na + nb - common, spec->param[0]);

	return seen > 0 ? Min((double) common / (double) seen, 1) : 0;
}

/*
 * Candidates are found by prefixes of the values, as for exact sets.  Let x
 * and y be the values of both sketches and u the number of elements that the
 * estimate uses: u >= |x|, as all of x is in the union, and u is less than the
 * union only at u = s >= |x|.  An estimate of at least t means that at least t
 * u >= t |x| elements are shared, which the prefixes of x and y for
 * resemblance t rely on, and also |y| >= t |x|.
 */
const MethodInfo bottom_method = {
	.name = "bottom",.method = METHOD_BOTTOM,.width = 64,
	.analysed = ANALYSED_AS_SOURCE,.set = true,.nparams = 1,
	.check = bottom_check,.make = bottom_make,
	.similarity = bottom_similarity,.near = bottom_near,
	.most_similar = bottom_most_similar
};

SKETCH_FUNCTIONS(bottom, METHOD_BOTTOM, "number of hashes to keep",
				 PG_INT32_MAX)

/*
 * MOD_m: the hashes of a document that are divisible by m
 *
 * A feature is in the sample by its own hash, and so in all documents alike,
 * with probability 1 / m.  So the union or the intersection of samples is the
 * sample of the union or the intersection, and all measures of sets can be
 * estimated from samples (Broder, "On the resemblance and containment of
 * documents", 1997): resemblance and containment directly, unbiased if the
 * sample is not empty; numbers of features times m.  Indexes serve samples as
 * they serve exact sets.
 *
 * The sample grows with the document: good for documents of very different
 * sizes, and for containment; bad for short documents, whose sample may be
 * empty and so is similar to nothing.  The standard error of a containment c
 * of a in b is sqrt(c (1 - c) m / |a|), about.
 */

/* MethodInfo.check: all values are divisible by m. */
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

/* Count the sampled features, and write them unless `chosen` is NULL. */
static size_t
choose(const SignatureSpec *spec, const uint64 *features, size_t n,
	   uint64 *chosen)
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

/* MethodInfo.make: the hashes divisible by m */
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
	.name = "sample",.method = METHOD_SAMPLE,.width = 64,
	.analysed = ANALYSED_AS_SOURCE,.set = true,.hashed = true,.sampled = true,
	.nparams = 1,
	.check = sample_check,.make = sample_make
};

SKETCH_FUNCTIONS(sample, METHOD_SAMPLE, "modulus", PG_INT32_MAX)
