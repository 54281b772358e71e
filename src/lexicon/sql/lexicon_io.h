/*
 * lexicon_io.h
 *		The portable bytes of lexicons.
 */
#ifndef NEARDUP_LEXICON_IO_H
#define NEARDUP_LEXICON_IO_H

#include "lexicon/lexicon.h"

/*
 * The lexicon that the portable bytes are of, in the current memory context.
 * Raises INVALID_BINARY_REPRESENTATION unless every byte is as it must be.
 */
extern Lexicon *lexicon_from_bytes(const char *bytes, size_t len);

/* How many these bytes are for so many words. */
#define LEXICON_BYTES_SIZE(nwords) \
	(LEXICON_HEADER - VARHDRSZ + (nwords) * sizeof(LexiconEntry))

#endif							/* NEARDUP_LEXICON_IO_H */
