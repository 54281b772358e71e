/*
 * row.h
 *		A row as an index of access method neardup stores it.
 */
#ifndef NEARDUP_ROW_H
#define NEARDUP_ROW_H

#include "storage/itemptr.h"

#include "signature/signature.h"
#include "index/pages.h"

/*
 * Keys are the distinct values of the upper 32 bits of the features' hashes.
 * Two features of a row rarely have one key, so there may be fewer keys than
 * features.
 */
typedef struct IndexedRow
{
	uint64		order;			/* sort key, close for most near-duplicates */
	uint32		size;			/* features; see vector_size() for a vector */
	uint32		nkeys;
	const uint32 *keys;			/* rising */
	ItemPointerData tid;
	uint16		spec;			/* see ForwardEntry */
} IndexedRow;

/*
 * True if an index can store such signatures: an overlap bounds their
 * measures.
 */
extern bool index_can_hold(const SignatureSpec *spec);

/* True if signatures of a spec are vectors, whose keys have weights. */
extern bool spec_indexes_vector(const SignatureSpec *spec);

/*
 * True if signatures of a spec are sketches, whose estimate is bounded by the
 * number of keys that two share.
 */
extern bool spec_indexes_sketch(const SignatureSpec *spec);

/*
 * Return the keys of a signature, rising, palloc'd.  *size is the number of
 * its features, or of a sketch's places.
 */
extern uint32 *signature_keys(const Signature *sig, uint32 *nkeys,
							  uint64 *size);

/*
 * Compute the keys of a vector, rising, and for each a number of two halves:
 * its share of the sum of weights, and its square's share of the sum of
 * squares.  Shares are in units of 1 / SHARE_ONE, rounded up.  False if there
 * are so many that the sum of the shares does not fit.
 */
extern bool vector_keys(const Signature *sig, uint32 **keys,
						uint32 *nkeys, uint32 **shares,
						double *sum, double *length);

#define SHARE_ONE			(1 << 15)
#define SHARES_ALL			((uint32) SHARE_ONE << 16 | SHARE_ONE)
#define SHARE_OF_SUM(shares)		((double) ((shares) >> 16) / SHARE_ONE)
#define SHARE_OF_SQUARES(shares)	((double) ((shares) & 0xffff) / SHARE_ONE)

/* Upper bound of the heaviest component, as a share of a vector's length */
#define VECTOR_PEAK(order)	((double) ((order) & 0xffff) / 0xffff)

/*
 * Return a lower bound of the sum of a vector's weights.  The value for size +
 * 1 is an upper bound.
 */
extern double vector_size_low(uint32 size);

/*
 * Set everything but the tid.  NULL means a row without a signature.  Raises
 * FEATURE_NOT_SUPPORTED for a signature that an index cannot hold.
 */
extern void indexed_row_set(IndexedRow *row, const Signature *sig);

/*
 * Return a bitmap with a bit for each 128th of the range of keys that has one.
 */
extern KeysBitmap keys_bitmap(const uint32 *keys, uint32 nkeys);

/*
 * Return the number of keys of `a` that are in `b`, or the sum of their
 * shares.  Both arrays rise.
 */
extern uint32 keys_overlap(const uint32 *a, const uint32 *shares, uint32 na,
						   const uint32 *b, uint32 nb);

#endif							/* NEARDUP_ROW_H */
