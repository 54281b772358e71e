/*
 * candidate_keys.h
 *		Candidate keys: what two near-duplicate signatures have in common.
 *
 * An index or a join stores each row under its keys, looks those of a query
 * up, and checks exactly the rows that came up often enough.  Keys are 64-bit
 * hashes that say by themselves which band, block or coordinate they are of,
 * so any 32 bits of them will do, too.  No near-duplicate is ever missed:
 * filters are lossless, whatever the method.
 *
 * Signatures whose values are measured as sets have no keys of this kind:
 * their candidates are found by prefixes (see gin/gin.c).
 */
#ifndef NEARDUP_CANDIDATE_KEYS_H
#define NEARDUP_CANDIDATE_KEYS_H

#include "signature/signature.h"

/* A list that grows; all zero is an empty one. */
typedef struct KeyList
{
	uint64	   *keys;			/* palloc'd, or NULL */
	size_t		n;
	size_t		size;			/* room */
} KeyList;

/* The most keys that a query is given; one that takes more has none. */
#define MAX_QUERY_KEYS		100000

/* True if signatures of this spec have candidate keys. */
extern bool spec_has_keys(const SignatureSpec *spec);

/*
 * Appends the keys of a row, for an index or join that is built for
 * `threshold`.  A signature without values has none.
 */
extern void signature_row_keys(const Signature *sig, double threshold,
							   KeyList *keys);

/*
 * Appends the keys to look up for rows that are near-duplicates of sig at
 * `threshold`, among rows stored with their keys for `built`.  Each such row
 * has at least *need of them, counted as they stand in the list; *need >= 1.
 * False if there is no telling from keys: every row must be looked at.  By
 * value, rows are meant whose similarity reaches the threshold, whatever their
 * method's rule for near-duplicates is.
 */
extern bool signature_query_keys(const Signature *sig, double built,
								 double threshold, bool by_value,
								 KeyList *keys, uint32 *need);

/* For methods: makes room for n further keys; appends one. */
extern void keys_reserve(KeyList *keys, size_t n);
extern void keys_add(KeyList *keys, uint64 key);

/* The key of `len` bytes that stand at place `place` of `places`. */
extern uint64 key_of_bytes(const void *bytes, size_t len, uint32 place,
						   uint32 places);

/* The key of one value at that place. */
extern uint64 key_of_value(uint64 value, uint32 place, uint32 places);

#endif							/* NEARDUP_CANDIDATE_KEYS_H */
