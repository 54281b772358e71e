/*
 * coordinates.h
 *		Signatures of a few hashes, of which near-duplicates have one in
 *		common.
 */
#ifndef NEARDUP_COORDINATES_H
#define NEARDUP_COORDINATES_H

#include "methods/method.h"
#include "document/doc_context.h"

/* A missing coordinate, equal to none */
#define NO_COORDINATE	UINT64CONST(0)

/* Return the number of equal coordinates. */
extern uint64 coordinates_equal(const Signature *a, const Signature *b);

/*
 * Callbacks of MethodInfo for signatures that match if a coordinate is equal
 */
extern double coordinates_similarity(const Signature *a, const Signature *b);
extern bool coordinates_near(const Signature *a, const Signature *b,
							 double threshold);
extern uint64 coordinates_hamming(const Signature *a, const Signature *b);
extern void coordinates_row_keys(const Signature *sig, double threshold,
								 KeyList *keys);
extern bool coordinates_query_keys(const Signature *sig, double built,
								   double threshold, KeyList *keys,
								   uint32 *need);
extern void coordinates_place_keys(const Signature *sig, KeyList *keys);
extern double coordinates_most_similar(const SignatureSpec *spec, uint64 na,
									   uint64 nb, uint64 common);
extern double coordinates_least_similarity(const Signature *sig);

/* All callbacks, for the initializer of a MethodInfo */
#define COORDINATES_CALLBACKS \
	.similarity = coordinates_similarity, .near = coordinates_near, \
	.hamming = coordinates_hamming, \
	.row_keys = coordinates_row_keys, .query_keys = coordinates_query_keys, \
	.place_keys = coordinates_place_keys, \
	.most_similar = coordinates_most_similar, \
	.least_similarity = coordinates_least_similarity

/* The check of methods with one coordinate, which is never missing */
extern const char *coordinate_check(const Signature *sig);

/*
 * Return a signature of n coordinates, all NO_COORDINATE, of a method with
 * these parameters and the analysis of the document context.
 */
extern Signature *coordinates_alloc(const DocContext *doccxt, Method method,
									uint32 param0, uint32 param1, size_t n);

/* Return a hash as a coordinate, which is never NO_COORDINATE. */
static inline uint64
as_coordinate(uint64 hash)
{
	return hash == NO_COORDINATE ? 1 : hash;
}

#endif							/* NEARDUP_COORDINATES_H */
