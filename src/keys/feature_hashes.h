/*
 * feature_hashes.h
 *		The features of a set as hashes, in the one order that both indexes
 *		use.
 */
#ifndef NEARDUP_FEATURE_HASHES_H
#define NEARDUP_FEATURE_HASHES_H

#include "signature/signature.h"

/*
 * Return the hashes of a set's features, rising, as many as it has values.
 * The result is the signature's own values if its method hashes them, else it
 * is palloc'd.
 */
extern const uint64 *feature_hashes(const Signature *sig);

#endif							/* NEARDUP_FEATURE_HASHES_H */
