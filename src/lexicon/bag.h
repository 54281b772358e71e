/*
 * bag.h
 *		A document's words and how often each occurs.
 */
#ifndef NEARDUP_BAG_H
#define NEARDUP_BAG_H

#include "base/linear_probing.h"
#include "lexicon/weights.h"
#include "text/reader.h"

typedef struct BagWord
{
	uint64		hash;
	uint32		tf;				/* occurrences, at least 1 */
} BagWord;

typedef struct Bag
{
	MemoryContext context;		/* owns it */
	BagWord    *words;			/* distinct, in order of first occurrence */
	size_t		nwords;
	size_t		size;			/* room for words */
	uint32	   *places;			/* hash table: index into words + 1, or 0 */
	Probing		probing;		/* of them */
	DocumentStats stats;
} Bag;

/* Makes an empty bag in the current memory context. */
extern Bag *bag_create(void);

/* Empties the bag and frees what a large document has left behind. */
extern void bag_clear(Bag *bag);

/* Adds n words; raises PROGRAM_LIMIT_EXCEEDED beyond 2^32 - 1 different ones. */
extern void bag_add(Bag *bag, const uint64 *hashes, size_t n);

/* Fills the bag with the document, or sentence, that the reader has begun. */
extern void bag_read(Bag *bag, Reader *reader);

/* The word of a hash, or NULL. */
extern const BagWord *bag_find(const Bag *bag, uint64 hash);

#endif							/* NEARDUP_BAG_H */
