/*
 * hash.h
 *		The hashes of stored values.  They are fixed for ever: signatures,
 *		indexes and hash partitions are made of them.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/hash.h
 */
#ifndef NEARDUP_HASH_H
#define NEARDUP_HASH_H

#define XXH_INLINE_ALL
#include <xxhash.h>

/*
 * A bijection of 64-bit numbers whose every output bit depends on every input
 * bit: the finalizer of SplitMix64 (Steele, Lea & Flood, OOPSLA 2014).
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

#endif							/* NEARDUP_HASH_H */
