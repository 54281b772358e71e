/*
 * slots.c
 *		Sketches of slots: the estimate, bands and places.
 *
 * A sketch has spec.param[0] slots of one byte.  Documents of resemblance J
 * agree in a slot with probability J + (1 - J) / 256.  What a slot keeps is
 * the method's own.
 */
#include "postgres.h"

#include "port/pg_bitutils.h"

#include "methods/sketches/slots.h"

/* MethodInfo.check: the size is in range, and each slot has a value. */
const char *
slots_check(const Signature *sig)
{
	uint32		size = sig->spec.param[0];

	if (size < 1 || size > SLOTS_MAX_SIZE)
		return "The size of its sketch is out of range.";
	if (SIGNATURE_NVALUES(sig) != (sig->nfeatures > 0 ? size : 0))
		return "The number of its values is not the size of its sketch.";
	return NULL;
}

/* Return the number of zero bytes among the eight of x. */
static inline int
zero_bytes(uint64 x)
{
	const uint64 low7 = UINT64CONST(0x7f7f7f7f7f7f7f7f);

	return pg_popcount64(~((((x & low7) + low7) | x) | low7));
}

/* Count the slots in which two sketches agree. */
static uint32
slots_equal(const Signature *a, const Signature *b)
{
	const uint8 *x = (const uint8 *) a->values;
	const uint8 *y = (const uint8 *) b->values;
	uint32		n = Min(SIGNATURE_NVALUES(a), SIGNATURE_NVALUES(b));
	uint32		equal = 0;
	uint32		i;

	for (i = 0; i + 8 <= n; i += 8)
	{
		uint64		eight[2];

		memcpy(&eight[0], x + i, 8);
		memcpy(&eight[1], y + i, 8);
		equal += zero_bytes(eight[0] ^ eight[1]);
	}
	for (; i < n; i++)
		equal += (x[i] == y[i]);
	return equal;
}

/*
 * Return (p - c) / (1 - c) for p = equal / size and c = 1/256, but at least 0:
 * documents with hardly anything in common may give a negative number by
 * chance.
 */
static double
estimate(uint32 equal, uint32 size)
{
	Assert(equal <= size);
	return Max((256.0 * equal - size) / (255.0 * size), 0);
}

double
slots_similarity(const Signature *a, const Signature *b)
{
	return estimate(slots_equal(a, b), a->spec.param[0]);
}

bool
slots_near(const Signature *a, const Signature *b, double threshold)
{
	return slots_similarity(a, b) >= threshold;
}

uint64
slots_hamming(const Signature *a, const Signature *b)
{
	return Max(SIGNATURE_NVALUES(a), SIGNATURE_NVALUES(b)) - slots_equal(a, b);
}

/* Return the greatest number of slots that may differ in near-duplicates. */
static uint32
allowed_differences(uint32 size, double threshold)
{
	uint32		need = (uint32) ((threshold * 255 + 1) * size / 256);

	/* from the rounded formula to the point where the test changes */
	need = Min(need, size);
	while (need > 1 && estimate(need - 1, size) >= threshold)
		need--;
	while (need < size && estimate(need, size) < threshold)
		need++;
	Assert(need >= 1 && need <= size);
	return size - need;
}

/*
 * Append the keys of bands, one band more than slots may differ: at least one
 * band is equal, and more if the query's threshold is above the index's.
 * Bands differ in length by one slot at most.
 */
static void
add_bands(const Signature *sig, uint32 nbands, KeyList *keys)
{
	const uint8 *slots = (const uint8 *) sig->values;
	uint64		size = sig->spec.param[0];

	Assert(nbands >= 1 && nbands <= size);
	keys_reserve(keys, nbands);
	for (uint64 band = 0; band < nbands; band++)
	{
		uint64		from = band * size / nbands;
		uint64		to = (band + 1) * size / nbands;

		keys_add(keys, key_of_bytes(slots + from, to - from, band, nbands));
	}
}

uint32
slots_lossless_bands(uint32 size, double threshold)
{
	return allowed_differences(size, threshold) + 1;
}

void
slots_row_keys(const Signature *sig, double threshold, KeyList *keys)
{
	add_bands(sig, slots_lossless_bands(sig->spec.param[0], threshold),
			  keys);
}

bool
slots_query_keys(const Signature *sig, double built, double threshold,
				 KeyList *keys, uint32 *need)
{
	uint32		size = sig->spec.param[0];
	uint32		nbands = slots_lossless_bands(size, built);
	uint32		differences = allowed_differences(size, threshold);

	if (differences >= nbands)
		return false;
	add_bands(sig, nbands, keys);
	*need = nbands - differences;
	Assert(*need >= 1 && *need <= nbands);
	return true;
}

void
slots_place_keys(const Signature *sig, KeyList *keys)
{
	const uint8 *slots = (const uint8 *) sig->values;
	uint32		size = SIGNATURE_NVALUES(sig);

	keys_reserve(keys, size);
	for (uint32 i = 0; i < size; i++)
		keys_add(keys, key_of_value(slots[i], i, size));
}

double
slots_most_similar(const SignatureSpec *spec, uint64 na, uint64 nb,
				   uint64 common)
{
	return estimate(common, spec->param[0]);
}
