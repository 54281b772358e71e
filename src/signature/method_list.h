/*
 * method_list.h
 *		The methods by which values of signatures are computed.
 *
 * For each method: its name in capitals, its stored number, which never
 * changes, and the name of its MethodInfo without _method, see
 * methods/method.h.  A new method gets one more than the highest number.
 */
#ifndef NEARDUP_METHOD_LIST_H
#define NEARDUP_METHOD_LIST_H

#define METHOD_LIST(X) \
	/* the set of the document's shingles */ \
	X(SHINGLES, 1, shingles) \
	/* a set of the user's numbers */ \
	X(FEATURES, 2, features) \
	/* min-hash sketch, 8 bits per slot */ \
	X(MINHASH, 3, minhash) \
	/* MIN_s: the smallest hashes */ \
	X(BOTTOM, 4, bottom) \
	/* MOD_m: the hashes divisible by m */ \
	X(SAMPLE, 5, sample) \
	/* hashes of groups of min-hash slots */ \
	X(SUPERSHINGLES, 6, supershingles) \
	/* hashes of pairs of supershingles */ \
	X(MEGASHINGLES, 7, megashingles) \
	/* signs of 64 random projections */ \
	X(SIMHASH, 8, simhash) \
	/* the least shingle of each window, a set */ \
	X(WINNOW, 9, winnow) \
	/* every m-th shingle, a set */ \
	X(EVERY_NTH, 10, every_nth) \
	/* shingles that begin with an anchor */ \
	X(ANCHORED, 11, anchored) \
	/* substrings that follow an anchor */ \
	X(SIF, 12, sif) \
	/* rare substrings of consonants */ \
	X(KOALA, 13, koala) \
	/* a set without common features */ \
	X(LEAVE_OUT, 14, leave_out) \
	/* sums of neighbouring sentences, a set */ \
	X(SENTENCE_PAIRS, 16, sentence_pairs) \
	/* hash of all words */ \
	X(TEXT_HASH, 17, text_hash) \
	/* hash of the longest sentences */ \
	X(LONG_SENTENCES, 18, long_sentences) \
	/* hash of the weightiest sentences */ \
	X(HEAVY_SENTENCES, 19, heavy_sentences) \
	/* hash of the weightiest words */ \
	X(TOP_WORDS, 20, top_words) \
	/* hashes of words of middling rarity */ \
	X(IMATCH, 21, imatch) \
	/* words of a set, frequent in the document */ \
	X(DESCRIPTIVE_WORDS, 22, descriptive_words) \
	/* first letters, compared with a collection */ \
	X(FUZZY_FINGERPRINT, 23, fuzzy_fingerprint) \
	/* a vector of the user's numbers */ \
	X(WEIGHTED, 24, weighted) \
	/* words with their weights, a vector */ \
	X(WEIGHTED_WORDS, 25, weighted_words) \
	/* shingles with their weights, a vector */ \
	X(WEIGHTED_SHINGLES, 26, weighted_shingles) \
	/* a vector of length 1, of a model */ \
	X(DENSE, 27, dense)

#endif							/* NEARDUP_METHOD_LIST_H */
