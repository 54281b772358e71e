/*
 * methods.c
 *		The table of methods.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/methods/methods.c
 */
#include "postgres.h"

#include "methods/methods.h"

static const MethodInfo shingles_method = {
	.name = "shingles", .method = METHOD_SHINGLES, .width = 64,
	.analysed = ANALYSED_ALWAYS, .set = true, .exact = true, .hashed = true
};

static const MethodInfo features_method = {
	.name = "features", .method = METHOD_FEATURES, .width = 64,
	.analysed = ANALYSED_NEVER, .set = true, .exact = true
};

/* by stored number */
static const MethodInfo *const methods[] = {
	[METHOD_SHINGLES] = &shingles_method,
	[METHOD_FEATURES] = &features_method,
	[METHOD_MINHASH] = &minhash_method,
	[METHOD_BOTTOM] = &bottom_method,
	[METHOD_SAMPLE] = &sample_method,
	[METHOD_SUPERSHINGLES] = &supershingles_method,
	[METHOD_MEGASHINGLES] = &megashingles_method,
	[METHOD_SIMHASH] = &simhash_method,
	[METHOD_WINNOW] = &winnow_method,
	[METHOD_EVERY_NTH] = &every_nth_method,
	[METHOD_ANCHORED] = &anchored_method,
	[METHOD_SIF] = &sif_method,
	[METHOD_KOALA] = &koala_method,
	[METHOD_LEAVE_OUT] = &leave_out_method,
	[METHOD_SENTENCE_PAIRS] = &sentence_pairs_method,
	[METHOD_TEXT_HASH] = &text_hash_method,
	[METHOD_LONG_SENTENCES] = &long_sentences_method,
	[METHOD_HEAVY_SENTENCES] = &heavy_sentences_method,
	[METHOD_TOP_WORDS] = &top_words_method,
	[METHOD_IMATCH] = &imatch_method,
	[METHOD_DESCRIPTIVE_WORDS] = &descriptive_words_method,
	[METHOD_FUZZY_FINGERPRINT] = &fuzzy_fingerprint_method,
	[METHOD_WEIGHTED] = &weighted_method,
	[METHOD_WEIGHTED_WORDS] = &weighted_words_method,
};

const MethodInfo *
method_info(uint8 method)
{
	return method < lengthof(methods) ? methods[method] : NULL;
}

const MethodInfo *
method_by_name(const char *name, size_t len)
{
	for (size_t i = 0; i < lengthof(methods); i++)
		if (methods[i] != NULL && strlen(methods[i]->name) == len &&
			memcmp(methods[i]->name, name, len) == 0)
			return methods[i];
	return NULL;
}
