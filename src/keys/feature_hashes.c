/*
 * feature_hashes.c
 *		The features of a set as hashes, in the one order that both indexes
 *		use.
 *
 * Values that users give, as numbers of words, may be dense: their order would
 * put the same features first in every set.  Hashes have no such order.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "base/hash.h"
#include "base/interrupts.h"
#include "base/sort_uint64.h"
#include "keys/feature_hashes.h"
#include "methods/method.h"

const uint64 *
feature_hashes(const Signature *sig)
{
	uint64		n = SIGNATURE_NVALUES(sig);
	uint64	   *hashes;

	Assert(method_info(sig->spec.method)->set);
	if (method_info(sig->spec.method)->hashed)
		return sig->values;
	hashes = palloc(Max(n, 1) * sizeof(uint64));
	for (uint64 i = 0; i < n; i++)
	{
		CHECK_EVERY(i);
		hashes[i] = mix64(sig->values[i]);
	}
	sort_hashes(hashes, n);
	return hashes;
}
