/*
 * coordinates.h
 *		Signatures of a few hashes, one of which is equal in near-duplicates.
 */
#ifndef NEARDUP_COORDINATES_H
#define NEARDUP_COORDINATES_H

#include "methods/method.h"
#include "document/doc_context.h"

/* A coordinate that a document does not have; equal to nothing. */
#define NO_COORDINATE	UINT64CONST(0)

/* Number of coordinates that both have, and that are equal. */
extern uint64 coordinates_equal(const Signature *a, const Signature *b);

/* Callbacks of MethodInfo: near-duplicates if any coordinate is equal. */
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

/* All of them, for the initializer of a MethodInfo */
#define COORDINATES_CALLBACKS \
	.similarity = coordinates_similarity, .near = coordinates_near, \
	.hamming = coordinates_hamming, \
	.row_keys = coordinates_row_keys, .query_keys = coordinates_query_keys, \
	.place_keys = coordinates_place_keys, \
	.most_similar = coordinates_most_similar, \
	.least_similarity = coordinates_least_similarity

/* Of methods with one coordinate, which is always there. */
extern const char *coordinate_check(const Signature *sig);

/*
 * A signature of n coordinates, all NO_COORDINATE, made by a method with these
 * parameters from what the document context reads.
 */
extern Signature *coordinates_alloc(const DocContext *doccxt, Method method,
									uint32 param0, uint32 param1, size_t n);

/* A hash as a coordinate: never NO_COORDINATE. */
static inline uint64
as_coordinate(uint64 hash)
{
	return hash == NO_COORDINATE ? 1 : hash;
}

#endif							/* NEARDUP_COORDINATES_H */
