/*
 * row.h
 *		A row as an index of access method neardup has it.
 */
#ifndef NEARDUP_ROW_H
#define NEARDUP_ROW_H

#include "storage/itemptr.h"

#include "signature/signature.h"
#include "index/layout.h"

/*
 * Keys are the upper 32 bits of the hashes of the features, each once.  As
 * two features of a row may fall on one key, which is rare, there may be
 * fewer keys than features.
 */
typedef struct IndexedRow
{
	uint64		order;			/* near-duplicates mostly have close ones */
	uint32		size;			/* features; of a vector see vector_size() */
	uint32		nkeys;
	const uint32 *keys;			/* rising */
	ItemPointerData tid;
	uint16		spec;			/* see ForwardEntry */
} IndexedRow;

/*
 * True if the overlap of such signatures tells of what they are measured by, so that the
 * index can hold them.
 */
extern bool index_can_hold(const SignatureSpec *spec);
extern bool spec_indexes_vector(const SignatureSpec *spec);

/*
 * True if it estimates the resemblance, which is bounded by the keys that two have in
 * common.
 */
extern bool spec_indexes_sketch(const SignatureSpec *spec);

/* True if it is a sketch of one value, which its row has for an order. */
extern bool spec_indexes_value(const SignatureSpec *spec);

/*
 * The keys of a signature, rising, palloc'd, *nkeys of them; *size is how many
 * features, or places of a sketch, they stand for.
 */
extern uint32 *signature_keys(const Signature *sig, uint32 *nkeys, uint64 *size);

/*
 * The same of a vector, and what each weighs: its share of the sum of all
 * weights, and its square's share of the squares, both in SHARE_ONE and rounded
 * up, in one number.  *sum is that of the weights, *length the vector's.  False
 * if there are so many that the shares' sum would not fit.
 */
extern bool vector_keys(const Signature *sig, uint32 **keys,
								 uint32 *nkeys, uint32 **shares,
								 double *sum, double *length);

#define SHARE_ONE			(1 << 15)
#define SHARES_ALL			((uint32) SHARE_ONE << 16 | SHARE_ONE)
#define SHARE_OF_SUM(shares)		((double) ((shares) >> 16) / SHARE_ONE)
#define SHARE_OF_SQUARES(shares)	((double) ((shares) & 0xffff) / SHARE_ONE)

/* How much of a vector's length its heaviest component is, at most. */
#define VECTOR_PEAK(order)	((double) ((order) & 0xffff) / 0xffff)

/*
 * The sum of a vector's weights, as a row has it: between these two, which
 * are next to each other.
 */
extern double vector_size_low(uint32 size);
extern double vector_size_high(uint32 size);

/* The order of a set that has these keys. */
extern uint64 keys_order(const uint32 *keys, uint32 nkeys);

/*
 * Sets all but the tid.  NULL is the row without a signature.  Raises FEATURE_NOT_SUPPORTED for a signature
 * that the index cannot hold.
 */
extern void indexed_row_set(IndexedRow *row, const Signature *sig);

/*
 * One bit for each 128th of the range of keys that has one.  A key of another
 * set whose bit is not set is not among these.
 */
extern KeysBitmap keys_bitmap(const uint32 *keys, uint32 nkeys);

/* Keys that two rising lists have in common. */
extern uint32 keys_overlap(const uint32 *a, uint32 na,
						   const uint32 *b, uint32 nb);

/* The sum of the shares of those of a that are in b, too. */
extern uint32 keys_share(const uint32 *a, const uint32 *shares, uint32 na,
						 const uint32 *b, uint32 nb);

#endif							/* NEARDUP_ROW_H */
