/*
 * keys.c
 *		Candidate keys: lists of them, and the way to a method's own.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/methods/keys.c
 */
#include "postgres.h"

#include "hash.h"
#include "methods/keys.h"
#include "methods/methods.h"

void
keys_reserve(KeyList *keys, size_t n)
{
	size_t		size = Max(keys->size * 2, 32);

	if (keys->n + n <= keys->size)
		return;
	while (size < keys->n + n)
		size *= 2;
	if (keys->keys == NULL)
		keys->keys = palloc(size * sizeof(uint64));
	else
		keys->keys = repalloc(keys->keys, size * sizeof(uint64));
	keys->size = size;
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
making_has_keys(const Making *making)
{
	return method_info(making->method)->row_keys != NULL;
}

void
signature_row_keys(const Signature *sig, double threshold, KeyList *keys)
{
	if (SIGNATURE_NVALUES(sig) > 0)
		method_info(sig->making.method)->row_keys(sig, threshold, keys);
}

bool
signature_query_keys(const Signature *sig, double built, double threshold,
					 KeyList *keys, uint32 *need)
{
	*need = 1;
	if (SIGNATURE_NVALUES(sig) == 0)
		return true;
	return method_info(sig->making.method)->query_keys(sig, built, threshold,
													   keys, need);
}
