/*
 * sequence.h
 *		A document as a sequence: its units, and its shingles as they stand.
 */
#ifndef NEARDUP_SEQUENCE_H
#define NEARDUP_SEQUENCE_H

#include "text/reader.h"

typedef struct SequenceReader SequenceReader;

typedef struct Sequence
{
	const uint64 *units;		/* hashes of all units */
	size_t		nunits;
	uint64	   *shingles;		/* shingle i begins with unit i; may be
								 * changed by who reads it */
	size_t		nshingles;
} Sequence;

/*
 * Makes a reader of sequences in the current memory context, which keeps its
 * buffers: 16 bytes per unit of the document.
 */
extern SequenceReader *sequence_create(const Analysis *analysis);

/*
 * The sequence of a document of len bytes of UTF-8, valid until the reader's
 * next document.  A document of fewer than k units is one shingle.
 */
extern Sequence sequence_read(SequenceReader *reader, const char *doc,
							  size_t len);

#endif							/* NEARDUP_SEQUENCE_H */
