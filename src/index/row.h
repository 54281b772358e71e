/*
 * row.h
 *		A row as an index of access method neardup has it.
 */
#ifndef NEARDUP_ROW_H
#define NEARDUP_ROW_H

#include "storage/itemptr.h"

#include "signature/signature.h"
#include "index/pages.h"

/*
 * Keys are the distinct upper 32 bits of the hashes of the features.  Rarely
 * two features of a row have one key, so there may be fewer keys than
 * features.
 */
typedef struct IndexedRow
{
	uint64		order;			/* close for most near-duplicates */
	uint32		size;			/* features; of a vector see vector_size() */
	uint32		nkeys;
	const uint32 *keys;			/* rising */
	ItemPointerData tid;
	uint16		spec;			/* see ForwardEntry */
} IndexedRow;

/*
 * True if an overlap bounds the measures of such signatures, so that an index
 * can hold them.
 */
extern bool index_can_hold(const SignatureSpec *spec);
extern bool spec_indexes_vector(const SignatureSpec *spec);

/*
 * True if it is a sketch, whose estimate is bounded by the keys that two
 * share.
 */
extern bool spec_indexes_sketch(const SignatureSpec *spec);

/*
 * The keys of a signature, rising, palloc'd; *size is its features, or places
 * of a sketch.
 */
extern uint32 *signature_keys(const Signature *sig, uint32 *nkeys,
							  uint64 *size);

/*
 * The keys of a vector, each with a number of two halves: its share of the sum
 * of weights, and its square's share of the sum of squares, in SHARE_ONE and
 * rounded up.  False if there are too many for the sum of the shares to fit.
 */
extern bool vector_keys(const Signature *sig, uint32 **keys,
						uint32 *nkeys, uint32 **shares,
						double *sum, double *length);

#define SHARE_ONE			(1 << 15)
#define SHARES_ALL			((uint32) SHARE_ONE << 16 | SHARE_ONE)
#define SHARE_OF_SUM(shares)		((double) ((shares) >> 16) / SHARE_ONE)
#define SHARE_OF_SQUARES(shares)	((double) ((shares) & 0xffff) / SHARE_ONE)

/* Upper bound of the heaviest component as a share of a vector's length */
#define VECTOR_PEAK(order)	((double) ((order) & 0xffff) / 0xffff)

/*
 * Lower bound of the sum of a vector's weights; that of size + 1 is an upper
 * one.
 */
extern double vector_size_low(uint32 size);

/* Set all but the tid; NULL is the row without a signature.  Raises FEATURE_NOT_SUPPORTED for a signature that an
 * index cannot hold.
 */
extern void indexed_row_set(IndexedRow *row, const Signature *sig);

/* A bit for each 128th of the range of keys that has one. */
extern KeysBitmap keys_bitmap(const uint32 *keys, uint32 nkeys);

/*
 * The number of keys of a that are in b, too, both rising; or the sum of their
 * shares.
 */
extern uint32 keys_overlap(const uint32 *a, const uint32 *shares, uint32 na,
						   const uint32 *b, uint32 nb);

#endif							/* NEARDUP_ROW_H */
