/*
 * sort_uint64.h
 *		Sorting 64-bit numbers, hashes for the most part.
 */
#ifndef NEARDUP_SORT_UINT64_H
#define NEARDUP_SORT_UINT64_H

/* Sort n numbers in place into rising order; can be cancelled. */
extern void sort_hashes(uint64 *values, size_t n);

/* Sort n numbers, drop repeated ones, and return how many are left. */
extern size_t sort_distinct_hashes(uint64 *values, size_t n);

#endif							/* NEARDUP_SORT_UINT64_H */
