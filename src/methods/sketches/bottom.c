/*
 * bottom.c
 *		MIN_s: the s smallest hashes of a document.
 *
 * The s smallest hashes of the union of two sets are among those that were
 * kept of either, and they are a random sample of the union without
 * repetition.  The share of them that is in both sets,
 *
 *		|MIN_s(A u B) n A n B| / |MIN_s(A u B)|
 *
 * is an unbiased estimate of resemblance (Broder, "On the resemblance and
 * containment of documents", 1997), with a standard error a little below
 * sqrt(J (1 - J) / s); it is exact where the union has no more than s
 * elements.  Containment cannot be told from it.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "base/interrupts.h"
#include "base/sort_uint64.h"
#include "signature/feature.h"
#include "methods/method.h"
#include "methods/sketches/sketch.h"

static const char *
bottom_check(const Signature *sig)
{
	uint32		s = sig->spec.param[0];

	if (s < 1)
		return "The number of hashes that it keeps is zero.";
	if (SIGNATURE_NVALUES(sig) != Min(s, sig->nfeatures))
		return "The number of its values is not that of the hashes that it keeps.";
	return NULL;
}

/*
 * The s smallest hashes of n > s features, rising, into smallest, which has
 * room for 2 s: half of it holds the smallest ones so far, and what is
 * smaller than all but them gathers in the other half, until that is full.
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
	smallest = palloc_extended(2 * s * sizeof(uint64), MCXT_ALLOC_HUGE);
	choose_smallest(spec, features, n, smallest, s);
	memcpy(sig->values, smallest, s * sizeof(uint64));
	pfree(smallest);
	return sig;
}

/* Merges until s values of the union have gone by, or it is at its end. */
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
	/* what is left of one set is in the union, too */
	seen = Min(seen + (na - i) + (nb - j), most);
	return (double) shared / (double) seen;
}

static bool
bottom_near(const Signature *a, const Signature *b, double threshold)
{
	return bottom_similarity(a, b) >= threshold;
}

/*
 * The estimate looks at no fewer elements than are in both, up to s, and shares no
 * more of them than are in common.
 */
static double
bottom_most_similar(const SignatureSpec *spec, uint64 na, uint64 nb, uint64 common)
{
	uint64		seen = Min(na + nb - common, spec->param[0]);

	return seen > 0 ? Min((double) common / (double) seen, 1) : 0;
}

/*
 * Candidates are found by prefixes of the values, as for exact sets.  Let x
 * and y be what is kept of both sets and u the number of elements that the
 * estimate looks at: u >= |x|, as all of x is in the union, which u falls
 * short of only at s >= |x|.  An estimate of at least t means that t u >= t
 * |x| elements are shared, as many as resemblance t of x and y themselves
 * would ask for at the least; and the same goes for |y| >= t |x|.
 */
const MethodInfo bottom_method = {
	.name = "bottom", .method = METHOD_BOTTOM, .width = 64,
	.analysed = ANALYSED_AS_SOURCE, .set = true, .nparams = 1,
	.check = bottom_check, .make = bottom_make,
	.similarity = bottom_similarity, .near = bottom_near,
	.most_similar = bottom_most_similar
};

/* SQL functions */

#define BOTTOM_PARAM	METHOD_BOTTOM, "number of hashes to keep", PG_INT32_MAX

PG_FUNCTION_INFO_V1(bottom_of_set);
Datum
bottom_of_set(PG_FUNCTION_ARGS)
{
	return sketch_of_set_arg(fcinfo, BOTTOM_PARAM);
}

PG_FUNCTION_INFO_V1(bottom_of_text);
Datum
bottom_of_text(PG_FUNCTION_ARGS)
{
	return sketch_of_text_arg(fcinfo, BOTTOM_PARAM);
}
