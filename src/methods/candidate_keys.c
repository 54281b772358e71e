/*
 * candidate_keys.c
 *		Candidate keys: lists of them, and the way to a method's own.
 */
#include "postgres.h"

#include "base/hash.h"
#include "base/memory.h"
#include "methods/candidate_keys.h"
#include "methods/method.h"

void
keys_reserve(KeyList *keys, size_t n)
{
	keys->keys = growing_reserve(keys->keys, &keys->size, keys->n + n,
								 sizeof(uint64));
}

void
keys_add(KeyList *keys, uint64 key)
{
	keys_reserve(keys, 1);
	keys->keys[keys->n++] = key;
}

/* Bands of different layouts never have a key in common but by accident. */
static inline uint64
place_seed(uint32 place, uint32 places)
{
	return (uint64) places << 32 | place;
}

uint64
key_of_bytes(const void *bytes, size_t len, uint32 place, uint32 places)
{
	return XXH3_64bits_withSeed(bytes, len, place_seed(place, places));
}

uint64
key_of_value(uint64 value, uint32 place, uint32 places)
{
	return mix64(value ^ mix64(place_seed(place, places)));
}

bool
spec_has_keys(const SignatureSpec *spec)
{
	return method_info(spec->method)->row_keys != NULL;
}

void
signature_row_keys(const Signature *sig, double threshold, KeyList *keys)
{
	if (SIGNATURE_NVALUES(sig) > 0)
		method_info(sig->spec.method)->row_keys(sig, threshold, keys);
}

bool
signature_query_keys(const Signature *sig, double built, double threshold,
					 bool by_value, KeyList *keys, uint32 *need)
{
	const MethodInfo *method = method_info(sig->spec.method);

	*need = 1;
	if (SIGNATURE_NVALUES(sig) == 0)
		return true;
	if (by_value && method->value_keys != NULL)
		return method->value_keys(sig, built, threshold, keys, need);
	return method->query_keys(sig, built, threshold, keys, need);
}
