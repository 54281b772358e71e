/*
 * sort.h
 *		Sorting hashes.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/features/sort.h
 */
#ifndef NEARDUP_SORT_H
#define NEARDUP_SORT_H

/* Sorts n numbers, in place, into rising order. */
extern void sort_hashes(uint64 *values, size_t n);

/* The same, and drops repeated ones.  Returns how many are left. */
extern size_t sort_distinct_hashes(uint64 *values, size_t n);

#endif							/* NEARDUP_SORT_H */
