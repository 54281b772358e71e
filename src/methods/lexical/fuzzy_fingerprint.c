/*
 * fuzzy_fingerprint.c
 *		Stein's fuzzy fingerprint: which first letters a document uses more or
 *		less than the collection does.
 *
 * Words are divided into classes by their first letter.  How far a document's
 * share of each class lies from what is expected is boiled down to one of
 * three terms, fewer, as expected or more; and the terms of all classes, read
 * as the digits of a number, are the fingerprint.  A word more or less moves
 * few shares a little, and rarely one across a border.  There are several
 * fuzzification schemes with other borders, each with a number of its own, and
 * documents are near-duplicates if one number agrees.
 *
 * Deviations are measured in standard deviations of the share that a document
 * of as many words would have if they were drawn at random, so that borders
 * mean the same for short documents and for long ones.
 *
 * Source: Stein, "Fuzzy-fingerprints for text-based information retrieval"
 * (I-KNOW 2005): h(d) = sum of delta_i r^i over the classes i.
 */
#include "postgres.h"

#include <math.h>

#include "base/call.h"
#include "base/hash.h"
#include "methods/lexical/coordinates.h"

PG_FUNCTION_INFO_V1(fuzzy_fingerprint);

#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif

#define MAX_SCHEMES		8
#define NUM_TERMS		3		/* r */

/* The border between the terms in scheme s, in standard deviations. */
#define BORDER(s)		(FIRST_BORDER + (s) * BORDER_STEP)
#define FIRST_BORDER	1.2
#define BORDER_STEP		(-0.15)

static const char *fuzzy_check(const Signature *sig);

const MethodInfo fuzzy_fingerprint_method = {
	.name = "fuzzy_fingerprint", .method = METHOD_FUZZY_FINGERPRINT,
	.width = 64, .analysed = ANALYSED_ALWAYS, .nparams = 2,
	.check = fuzzy_check,
	COORDINATES_CALLBACKS
};

static const char *
fuzzy_check(const Signature *sig)
{
	uint64		n = SIGNATURE_NVALUES(sig);

	if (n < 1 || n > MAX_SCHEMES || n != sig->spec.param[0])
		return "The number of its values is not that of its schemes.";
	for (uint64 i = 0; i < n; i++)
	{
		if (sig->values[i] == NO_COORDINATE)
			return "One of its values is zero.";
	}
	return NULL;
}

/* Counts a document's words by class; returns how many there are. */
static uint64
count_initials(Reader *reader, uint64 *counts)
{
	uint64		hashes[READ_AT_ONCE];
	uint8		initials[READ_AT_ONCE];
	uint64		total = 0;
	size_t		n;

	memset(counts, 0, LEXICON_CLASSES * sizeof(uint64));
	while ((n = reader_read_initials(reader, hashes, initials,
									 READ_AT_ONCE)) > 0)
	{
		for (size_t i = 0; i < n; i++)
			counts[initials[i]]++;
		total += n;
	}
	return total;
}

/*
 * The deviation of a class's count from what is expected, in standard
 * deviations.  A class that the collection hardly has is never expected.
 */
static double
deviation(double count, double total, double share)
{
	double		expected = total * share;

	if (share <= 0 || share >= 1)
		return 0;
	return (count - expected) / sqrt(expected * (1 - share));
}

/* The fingerprint under a scheme, one more than the number it stands for. */
static uint64
fingerprint(const double *deviations, int scheme)
{
	double		border = BORDER(scheme);
	uint64		number = 0;

	StaticAssertStmt(LEXICON_CLASSES == 32 && NUM_TERMS == 3,
					 "a fingerprint has 3^32 values, which fit into 64 bits");
	for (int i = LEXICON_CLASSES - 1; i >= 0; i--)
	{
		int			term = deviations[i] < -border ? 0 :
			deviations[i] > border ? 2 : 1;

		number = number * NUM_TERMS + term;
	}
	return number + 1;
}

static Datum
make_signature(FunctionCallInfo fcinfo, DocContext *doccxt, const Lexicon *lexicon,
			   const text *doc, int schemes)
{
	uint64		counts[LEXICON_CLASSES];
	double		deviations[LEXICON_CLASSES];
	uint64		total;
	Signature  *sig;

	argument_whole("number of schemes", schemes, 1, MAX_SCHEMES);
	doc_context_begin(doccxt, doc);
	total = count_initials(doccxt->reader, counts);
	if (total == 0 || lexicon->length == 0)
		PG_RETURN_NULL();
	for (int i = 0; i < LEXICON_CLASSES; i++)
		deviations[i] = deviation(counts[i], total,
								  (double) lexicon->initials[i] / lexicon->length);
	sig = coordinates_alloc(doccxt, METHOD_FUZZY_FINGERPRINT, schemes,
							(uint32) hash_uint64s(lexicon->initials,
												  LEXICON_CLASSES), schemes);
	for (int s = 0; s < schemes; s++)
		sig->values[s] = fingerprint(deviations, s);
	sig->nfeatures = LEXICON_CLASSES;
	PG_RETURN_SIGNATURE(sig);
}

/* (doc text, lexicon, schemes int, analysis text) */
Datum
fuzzy_fingerprint(PG_FUNCTION_ARGS)
{
	DocContext	   *doccxt = doc_context_get(fcinfo, 3);
	int			n = doc_context_argument(doccxt, 1);
	size_t		nwords;
	const Lexicon *lexicon = lexicon_header(PG_GETARG_DATUM(n), &nwords);

	doc_context_read_for_lexicon(doccxt, fcinfo, lexicon, READS_WORDS);
	return make_signature(fcinfo, doccxt, lexicon, DOC_CONTEXT_GETARG_TEXT(doccxt, 0),
						  DOC_CONTEXT_GETARG_INT32(doccxt, 2));
}
