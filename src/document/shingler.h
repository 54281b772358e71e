/*
 * shingler.h
 *		Units to the set of shingles.
 */
#ifndef NEARDUP_SHINGLER_H
#define NEARDUP_SHINGLER_H

#include "text/reader.h"

typedef struct Shingler Shingler;

/*
 * Makes a shingler in the current memory context, which keeps its buffers.
 * The reader belongs to it.
 */
extern Shingler *shingler_create(const Analysis *analysis);

/*
 * The set of shingles of a document of len bytes of UTF-8: *n distinct values
 * in rising order.  The array is the shingler's and valid until its next
 * call.  A document of fewer than k units is one shingle of all of them; one
 * without units gives the empty set.  Raises PROGRAM_LIMIT_EXCEEDED where the
 * set does not fit into a datum.
 */
extern const uint64 *shingler_set(Shingler *shingler, const char *doc,
								  size_t len, size_t *n);

/* The same set in any order, which is quicker. */
extern const uint64 *shingler_distinct(Shingler *shingler, const char *doc,
									   size_t len, size_t *n);

#endif							/* NEARDUP_SHINGLER_H */
