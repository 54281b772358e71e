/*
 * hash.h
 *		The hashes of stored values.  They are fixed for ever: signatures,
 *		indexes and hash partitions are made of them.
 */
#ifndef NEARDUP_HASH_H
#define NEARDUP_HASH_H

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "port/pg_bswap.h"

/*
 * Marks a function that hashes many short sequences.  Its callees are inlined,
 * since a call costs as much as the hash of a few numbers.
 */
#ifdef __GNUC__
#define HASHES_INLINE	__attribute__((flatten))
#else
#define HASHES_INLINE
#endif

/*
 * Apply a bijection of 64-bit numbers in which every output bit depends on
 * every input bit: the finalizer of SplitMix64 (Steele, Lea & Flood, OOPSLA
 * 2014).
 */
static inline uint64
mix64(uint64 x)
{
	x ^= x >> 30;
	x *= UINT64CONST(0xbf58476d1ce4e5b9);
	x ^= x >> 27;
	x *= UINT64CONST(0x94d049bb133111eb);
	x ^= x >> 31;
	return x;
}

/*
 * Return the hash of a sequence of numbers: XXH3 of their little-endian bytes,
 * on every machine.
 */
static inline uint64
hash_uint64s(const uint64 *values, size_t n)
{
#ifdef WORDS_BIGENDIAN
	XXH3_state_t state;

	XXH3_64bits_reset(&state);
	for (size_t done = 0; done < n;)
	{
		uint64		block[32];
		size_t		size = Min(n - done, lengthof(block));

		for (size_t i = 0; i < size; i++)
			block[i] = pg_bswap64(values[done + i]);
		XXH3_64bits_update(&state, block, size * sizeof(uint64));
		done += size;
	}
	return XXH3_64bits_digest(&state);
#else
	return XXH3_64bits(values, n * sizeof(uint64));
#endif
}

#endif							/* NEARDUP_HASH_H */
