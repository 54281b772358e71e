/*
 * weighted.c
 *		Vectors of weighted features, words and shingles.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type_d.h"
#include "utils/array.h"
#include "utils/builtins.h"

#include "base/call.h"
#include "base/interrupts.h"
#include "base/memory.h"
#include "base/sort_uint64.h"
#include "document/shingler.h"
#include "document/weigher.h"
#include "methods/method.h"
#include "signature/signature.h"
#include "signature/vectors.h"

/*
 * Weighted features: the user's numbers with weights, or the words of a
 * document
 *
 * Two vectors have a cosine and a resemblance, the sum of the smaller weights
 * divided by the sum of the greater weights.  Candidate keys serve both
 * measures.
 *
 * A row is indexed by its heaviest features, so that the others have less than
 * the share t of the sum of its weights, t being the index's threshold.  A
 * query looks up all of its features.  If none of them is an indexed feature
 * of a row, the two share only light features, with less than t of the row's
 * sum.  The denominator of the resemblance is at least that sum, so the
 * resemblance is below t.  The squares of the light features are a smaller
 * share of the sum of squares than the light weights are of the sum: if v is a
 * weight between the heavy and the light ones, the light squares are at most v
 * times the light sum, and the heavy ones at least v times the heavy sum.  So
 * the light part is shorter than sqrt(t) of the vector, and the cosine is
 * below sqrt(t), by Cauchy and Schwarz, as in an index of sets.
 *
 * An order common to row and query, with a prefix of each, is not used:
 * frequent words weigh little, so they are rarely among the heaviest, and
 * their lists in the index are short.
 */

/*
 * Sums of up to 10^8 numbers have a relative rounding error below 10^-7;
 * bounds are lowered by more than that.
 */
#define ROUNDING	(1 - 1e-6)

/* A feature and its weight */
typedef struct Component
{
	uint64		feature;
	double		weight;
} Component;

/* Return the vector in a signature, which keeps its memory. */
static Vector
vector_of(const Signature *sig)
{
	Vector		vector = {
		.features = sig->values,.weights = signature_weights(sig),
		.n = SIGNATURE_NVALUES(sig)
	};

	return vector;
}

/* MethodInfo.check: weights are positive and finite. */
static const char *
vector_check(const Signature *sig)
{
	const float4 *weights = signature_weights(sig);

	for (uint64 i = 0; i < sig->nfeatures; i++)
	{
		CHECK_EVERY(i);
		/* written so that NaN fails */
		if (!(weights[i] > 0 && !isinf(weights[i])))
			return "One of its weights is not a finite number greater than 0.";
	}
	return NULL;
}

/* MethodInfo.similarity: the weighted Jaccard coefficient. */
static double
vector_similarity(const Signature *a, const Signature *b)
{
	Vector		v = vector_of(a);
	Vector		w = vector_of(b);

	return vectors_jaccard(&v, &w);
}

/* MethodInfo.near: true if the similarity reaches the threshold. */
static bool
vector_near(const Signature *a, const Signature *b, double threshold)
{
	return vector_similarity(a, b) >= threshold;
}

/* MethodInfo.cosine: 0 if a vector has no features. */
static double
vector_cosine(const Signature *a, const Signature *b)
{
	Vector		v = vector_of(a);
	Vector		w = vector_of(b);

	if (v.n == 0 || w.n == 0)
		return 0;
	return vectors_cosine(vectors_dot(&v, &w), vector_square(&v),
						  vector_square(&w));
}

/* Candidate keys */

/* sort_heavy(array, n): heaviest first, then by feature */
#define ST_SORT sort_heavy
#define ST_ELEMENT_TYPE Component
#define ST_COMPARE(a, b) \
	((a)->weight != (b)->weight ? ((a)->weight > (b)->weight ? -1 : 1) : \
	 ((a)->feature > (b)->feature) - ((a)->feature < (b)->feature))
#define ST_SCOPE static
#define ST_CHECK_FOR_INTERRUPTS
#define ST_DEFINE
#include "lib/sort_template.h"

/*
 * Append the heaviest features, as many as the others need to have less than
 * the share `threshold` of the sum of weights.
 */
static void
vector_row_keys(const Signature *sig, double threshold, KeyList *keys)
{
	Vector		v = vector_of(sig);
	Component  *heavy = palloc_huge(v.n, sizeof(Component));
	uint64		indexed = v.n;
	double		sum = 0;
	double		light = 0;

	for (uint64 i = 0; i < v.n; i++)
	{
		heavy[i].feature = feature_hash(&sig->spec, v.features[i]);
		heavy[i].weight = v.weights[i];
		sum += v.weights[i];
	}
	sort_heavy(heavy, v.n);
	while (indexed > 0)
	{
		light += heavy[indexed - 1].weight;
		if (light >= threshold * sum * ROUNDING)
			break;
		indexed--;
	}
	keys_reserve(keys, indexed);
	for (uint64 i = 0; i < indexed; i++)
		keys_add(keys, heavy[i].feature);
	pfree(heavy);
}

/* `threshold` and `built` are thresholds of the resemblance. */
static bool
vector_query_keys(const Signature *sig, double built, double threshold,
				  KeyList *keys, uint32 *need)
{
	uint64		n = SIGNATURE_NVALUES(sig);

	if (threshold < built || n > MAX_QUERY_KEYS)
		return false;
	keys_reserve(keys, n);
	for (uint64 i = 0; i < n; i++)
		keys_add(keys, feature_hash(&sig->spec, sig->values[i]));
	*need = 1;
	return true;
}

#define VECTOR .width = 96, .set = true, .exact = true, .weighted = true, \
	.check = vector_check, \
	.similarity = vector_similarity, .near = vector_near, \
	.cosine = vector_cosine, \
	.row_keys = vector_row_keys, .query_keys = vector_query_keys

const MethodInfo weighted_method = {
	.name = "weighted",.method = METHOD_WEIGHTED, VECTOR,
	.analysed = ANALYSED_NEVER
};

/* parameter: hash of the weighting and the lexicon */
const MethodInfo weighted_words_method = {
	.name = "weighted_words",.method = METHOD_WEIGHTED_WORDS, VECTOR,
	.analysed = ANALYSED_ALWAYS,.hashed = true,.nparams = 1
};

const MethodInfo weighted_shingles_method = {
	.name = "weighted_shingles",.method = METHOD_WEIGHTED_SHINGLES, VECTOR,
	.analysed = ANALYSED_ALWAYS,.hashed = true,.nparams = 1
};

/* SQL functions */

/*
 * sort_components(array, n): by feature, then by weight, so that the order in
 * the array does not matter to a sum
 */
#define ST_SORT sort_components
#define ST_ELEMENT_TYPE Component
#define ST_COMPARE(a, b) \
	((a)->feature != (b)->feature ? ((a)->feature < (b)->feature ? -1 : 1) : \
	 ((a)->weight > (b)->weight) - ((a)->weight < (b)->weight))
#define ST_SCOPE static
#define ST_CHECK_FOR_INTERRUPTS
#define ST_DEFINE
#include "lib/sort_template.h"

/*
 * Return a weight, which may be zero; raise an error if it is negative or not
 * finite.
 */
static double
checked_weight(double weight)
{
	/* written so that NaN fails */
	if (!(weight >= 0 && !isinf(weight)))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("weight is out of range: %g", weight),
				 errdetail("A weight is a finite number and not negative.")));
	return weight;
}

/*
 * Return the pairs of an array of bigint features and an array of weights,
 * integer or real, by rising feature; set *n to their number.  Weights of one
 * feature are added up, features without weight left out.
 */
static Component *
read_components(ArrayType *features, ArrayType *weights, size_t *n)
{
	size_t		pairs = argument_elements("features", features);
	size_t		nweights = argument_elements("weights", weights);
	const int64 *feature = (const int64 *) ARR_DATA_PTR(features);
	const int32 *whole = (const int32 *) ARR_DATA_PTR(weights);
	const float4 *real = (const float4 *) ARR_DATA_PTR(weights);
	bool		is_real = ARR_ELEMTYPE(weights) == FLOAT4OID;
	Component  *components = palloc_huge(pairs, sizeof(Component));
	size_t		positive = 0;

	if (nweights != pairs)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("there are %zu features and %zu weights", pairs,
						nweights)));
	for (size_t i = 0; i < pairs; i++)
	{
		CHECK_EVERY(i);
		components[positive].feature = feature[i];
		components[positive].weight = checked_weight(is_real ?
													 (double) real[i] :
													 whole[i]);
		positive += components[positive].weight > 0;
	}
	sort_components(components, positive);
	*n = 0;
	for (size_t i = 0; i < positive; i++)
	{
		CHECK_EVERY(i);
		if (*n > 0 && components[*n - 1].feature == components[i].feature)
			components[*n - 1].weight += components[i].weight;
		else
			components[(*n)++] = components[i];
	}
	return components;
}

/* Return the vector of n components by rising feature. */
static Signature *
vector_make(const SignatureSpec *spec, const Component *components, size_t n)
{
	Signature  *sig = signature_alloc(spec, n);
	float4	   *weights = signature_weights(sig);

	sig->nfeatures = n;
	for (size_t i = 0; i < n; i++)
	{
		CHECK_EVERY(i);
		sig->values[i] = components[i].feature;
		weights[i] = checked_weight((float4) components[i].weight);
	}
	return sig;
}

/* signature_weighted(features bigint[], weights real[]) */
PG_FUNCTION_INFO_V1(signature_weighted);
Datum
signature_weighted(PG_FUNCTION_ARGS)
{
	SignatureSpec spec = {
		.version = SIGNATURE_VERSION,.method = METHOD_WEIGHTED,
		.unit = UNIT_NONE,.width = weighted_method.width
	};
	size_t		n;
	Component  *components = read_components(PG_GETARG_ARRAYTYPE_P(0),
											 PG_GETARG_ARRAYTYPE_P(1), &n);

	PG_RETURN_SIGNATURE(vector_make(&spec, components, n));
}

/*
 * signature_from(features bigint[], weights int[]): a set that has each
 * feature as often as its weight
 *
 * The copies of an element are numbered (Broder's labelled shingles): the
 * first is the element itself, so that a set whose weights are all 1 is the
 * plain one.  Two such sets share min(v, w) copies of an element of weights v
 * and w, and their union has max(v, w).  So all measures and sketches of sets
 * become measures and sketches of weighted sets.
 */
PG_FUNCTION_INFO_V1(signature_from_weighted);
Datum
signature_from_weighted(PG_FUNCTION_ARGS)
{
	SignatureSpec spec = {
		.version = SIGNATURE_VERSION,.method = METHOD_FEATURES,
		.unit = UNIT_NONE,.width = features_method.width
	};
	size_t		n;
	Component  *components = read_components(PG_GETARG_ARRAYTYPE_P(0),
											 PG_GETARG_ARRAYTYPE_P(1), &n);
	uint64		total = 0;
	Signature  *sig;
	size_t		at = 0;

	for (size_t i = 0; i < n; i++)
		total += (uint64) components[i].weight;
	sig = signature_alloc(&spec, total);
	for (size_t i = 0; i < n; i++)
	{
		for (uint64 copy = 0; copy < components[i].weight; copy++)
		{
			CHECK_EVERY(at);
			sig->values[at++] = repeated_element(components[i].feature, copy);
		}
	}
	at = sort_distinct_hashes(sig->values, at);
	SET_VARSIZE(sig, SIGNATURE_HEADER + at * sizeof(uint64));
	sig->nfeatures = at;
	PG_RETURN_SIGNATURE(sig);
}

/*
 * A document as a vector: each of its words, or shingles, with its weight
 *
 * The weight is the frequency of the word in the document, or a weight by a
 * lexicon.  Words that the lexicon does not have are left out, and so are
 * those without positive weight: words of all documents, and by residual IDF
 * words that are spread more evenly than at random.  The vector of a document
 * without other words is empty, and similar to nothing.
 *
 * Weights are computed in double and then rounded to float4.
 */

/*
 * Return the bag's words of positive weight, by rising hash; set *n to their
 * number.
 */
static Component *
weigh_words(const Weighed *weighed, LexiconView *view, size_t *n)
{
	const Bag  *bag = weighed->bag;
	Component  *words = palloc_huge(bag->nwords, sizeof(Component));

	*n = 0;
	for (size_t i = 0; i < bag->nwords; i++)
	{
		double		weight;

		CHECK_EVERY(i);
		if (view != NULL)
			view_expect(view, bag, i);
		if (!weighed_word(weighed, view, &bag->words[i], &weight))
			continue;
		words[*n].feature = bag->words[i].hash;
		words[*n].weight = (float4) weight;
		*n += words[*n].weight > 0;
	}
	sort_components(words, *n);
	return words;
}

/*
 * Return the vector, by a method, of the words in the bag of `weighed`, which
 * came from a document with the analysis of source; in the current memory
 * context.  view is NULL if no lexicon is needed.
 */
static Signature *
document_vector(const SignatureSpec *source, Method method,
				const Weighed *weighed,
				LexiconView *view)
{
	SignatureSpec spec = *source;
	size_t		n;
	Component  *words = weigh_words(weighed, view, &n);
	Signature  *sig;

	spec.method = method;
	spec.width = method_info(method)->width;
	spec.param[0] = weighed_param(weighed, view);
	sig = vector_make(&spec, words, n);
	pfree(words);
	return sig;
}

PG_FUNCTION_INFO_V1(weighted_words);
PG_FUNCTION_INFO_V1(weighted_words_by_tf);

/*
 * Return the vector of a document, which the document context is ready to
 * read.
 */
static Signature *
words_vector(DocContext *doccxt, LexiconView *view, const text *doc,
			 const text *weight)
{
	Weighed    *weighed = weighed_get(doccxt, weight);

	doc_context_begin(doccxt, doc);
	bag_read(weighed->bag, doccxt->reader);
	return document_vector(&doccxt->analysis->spec, METHOD_WEIGHTED_WORDS,
						   weighed, view);
}

/* (doc text, lexicon, weight text, analysis text) */
Datum
weighted_words(PG_FUNCTION_ARGS)
{
	DocContext *doccxt = doc_context_get(fcinfo, 3);
	LexiconView *view = doc_context_lexicon(doccxt, fcinfo, 1);

	doc_context_read_for_lexicon(doccxt, fcinfo, view->lexicon, READS_WORDS);
	PG_RETURN_SIGNATURE(words_vector(doccxt, view,
									 DOC_CONTEXT_GETARG_TEXT(doccxt, 0),
									 DOC_CONTEXT_GETARG_TEXT(doccxt, 2)));
}

/* (doc text, analysis text): weighted by tf, without a lexicon */
Datum
weighted_words_by_tf(PG_FUNCTION_ARGS)
{
	DocContext *doccxt = doc_context_get(fcinfo, 1);

	doc_context_read(doccxt, fcinfo, READS_WORDS, 0);
	PG_RETURN_SIGNATURE(words_vector(doccxt, NULL,
									 DOC_CONTEXT_GETARG_TEXT(doccxt, 0),
									 cstring_to_text("tf")));
}

/*
 * A document as a vector: each of its shingles, with its weight
 *
 * Shingles of characters, weighted by rarity, find similar names, titles and
 * addresses in spite of misspellings and another order of words; what all of
 * them have in common counts little.
 */

PG_FUNCTION_INFO_V1(weighted_shingles);

/* (doc text, lexicon, weight text, analysis text) */
Datum
weighted_shingles(PG_FUNCTION_ARGS)
{
	DocContext *doccxt = doc_context_get(fcinfo, 3);
	LexiconView *view = doc_context_lexicon(doccxt, fcinfo, 1);
	Weighed    *weighed = weighed_get(doccxt,
									  DOC_CONTEXT_GETARG_TEXT(doccxt, 2));
	Sequence	sequence;

	doc_context_read_for_lexicon(doccxt, fcinfo, view->lexicon,
								 READS_SHINGLES);
	sequence = doc_context_sequence(doccxt,
									DOC_CONTEXT_GETARG_TEXT(doccxt, 0));
	bag_clear(weighed->bag);
	bag_add(weighed->bag, sequence.shingles, sequence.nshingles);
	PG_RETURN_SIGNATURE(document_vector(&doccxt->analysis->spec,
										METHOD_WEIGHTED_SHINGLES,
										weighed, view));
}
