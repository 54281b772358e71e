/*
 * feature.h
 *		Features as hashes.
 */
#ifndef NEARDUP_FEATURE_H
#define NEARDUP_FEATURE_H

#include "base/hash.h"
#include "signature/signature.h"

/*
 * A feature of a document as 64 uniform bits, different ones for different
 * features.  Shingles are hashes already; the user's numbers need not be.
 */
static inline uint64
feature_hash(const SignatureSpec *spec, uint64 feature)
{
	return spec->unit == UNIT_NONE ? mix64(feature) : feature;
}

#endif							/* NEARDUP_FEATURE_H */
