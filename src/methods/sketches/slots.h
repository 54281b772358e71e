/*
 * slots.h
 *		Sketches of slots: the estimate, bands and places.
 */
#ifndef NEARDUP_SLOTS_H
#define NEARDUP_SLOTS_H

#include "methods/method.h"

/* The greatest number of slots */
#define SLOTS_MAX_SIZE	65536

/*
 * Return the number of bands with which two sketches whose estimate is at
 * least the threshold always agree in a band.
 */
extern uint32 slots_lossless_bands(uint32 size, double threshold);

/* Callbacks of MethodInfo for sketches of spec.param[0] slots of one byte */
extern const char *slots_check(const Signature *sig);
extern double slots_similarity(const Signature *a, const Signature *b);
extern bool slots_near(const Signature *a, const Signature *b,
					   double threshold);
extern uint64 slots_hamming(const Signature *a, const Signature *b);
extern void slots_row_keys(const Signature *sig, double threshold,
						   KeyList *keys);
extern bool slots_query_keys(const Signature *sig, double built,
							 double threshold,
							 KeyList *keys, uint32 *need);
extern void slots_place_keys(const Signature *sig, KeyList *keys);
extern double slots_most_similar(const SignatureSpec *spec, uint64 na,
								 uint64 nb,
								 uint64 common);

/* All callbacks, for the initializer of a MethodInfo, which adds `make` */
#define SLOTS_CALLBACKS \
	.width = 8, \
	.check = slots_check, \
	.similarity = slots_similarity, .near = slots_near, \
	.hamming = slots_hamming, \
	.row_keys = slots_row_keys, .query_keys = slots_query_keys, \
	.place_keys = slots_place_keys, .most_similar = slots_most_similar, \
	.place_values = 1 << 8

#endif							/* NEARDUP_SLOTS_H */
