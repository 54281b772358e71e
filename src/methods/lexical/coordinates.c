/*
 * coordinates.c
 *		Signatures of a few hashes, one of which is equal in near-duplicates.
 *
 * The lexical methods boil a document down to one hash of what is
 * characteristic of it, or a few, each made in another way, so that a small
 * change leaves at least one as it was.  Two documents are near-duplicates if
 * one coordinate agrees, and their similarity is the share of those that do.
 * The threshold of a condition means nothing to them.
 */
#include "postgres.h"

#include "methods/lexical/coordinates.h"

uint64
coordinates_equal(const Signature *a, const Signature *b)
{
	uint64		n = Min(SIGNATURE_NVALUES(a), SIGNATURE_NVALUES(b));
	uint64		equal = 0;

	for (uint64 i = 0; i < n; i++)
		equal += a->values[i] == b->values[i] &&
			a->values[i] != NO_COORDINATE;
	return equal;
}

double
coordinates_similarity(const Signature *a, const Signature *b)
{
	uint64		n = Max(SIGNATURE_NVALUES(a), SIGNATURE_NVALUES(b));

	return n == 0 ? 0 : (double) coordinates_equal(a, b) / n;
}

bool
coordinates_near(const Signature *a, const Signature *b, double threshold)
{
	return coordinates_equal(a, b) > 0;
}

uint64
coordinates_hamming(const Signature *a, const Signature *b)
{
	return Max(SIGNATURE_NVALUES(a), SIGNATURE_NVALUES(b)) -
		coordinates_equal(a, b);
}

void
coordinates_row_keys(const Signature *sig, double threshold, KeyList *keys)
{
	uint64		n = SIGNATURE_NVALUES(sig);

	for (uint64 i = 0; i < n; i++)
	{
		if (sig->values[i] != NO_COORDINATE)
			keys_add(keys, key_of_value(sig->values[i], i, n));
	}
}

bool
coordinates_query_keys(const Signature *sig, double built, double threshold,
					   KeyList *keys, uint32 *need)
{
	coordinates_row_keys(sig, threshold, keys);
	*need = 1;
	return true;
}

void
coordinates_place_keys(const Signature *sig, KeyList *keys)
{
	coordinates_row_keys(sig, 0, keys);
}

/* Coordinates that are missing have no keys; so it may be less. */
double
coordinates_most_similar(const SignatureSpec *spec, uint64 na, uint64 nb,
						 uint64 common)
{
	uint64		n = Max(na, nb);

	return n == 0 ? 0 : (double) common / n;
}

double
coordinates_least_similarity(const Signature *sig)
{
	return 1.0 / Max(SIGNATURE_NVALUES(sig), 1);
}

const char *
coordinate_check(const Signature *sig)
{
	if (SIGNATURE_NVALUES(sig) != 1 || sig->values[0] == NO_COORDINATE)
		return "It does not have one value, which is not zero.";
	return NULL;
}

Signature *
coordinates_alloc(const DocContext *doccxt, Method method, uint32 param0,
				  uint32 param1, size_t n)
{
	SignatureSpec		spec = doccxt->analysis->spec;

	spec.method = method;
	spec.width = 64;
	spec.param[0] = param0;
	spec.param[1] = param1;
	return signature_alloc(&spec, n);
}
