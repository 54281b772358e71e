/*
 * ascii.h
 *		Index of the words in ASCII text.
 */
#ifndef NEARDUP_ASCII_H
#define NEARDUP_ASCII_H

#define ASCII_CHUNK		1024	/* bytes indexed at once; a multiple of 64 */

/* The index of a chunk of text */
typedef struct AsciiIndex
{
	uint16		length;			/* bytes of the chunk */
	uint16		nruns;			/* maximal runs of letters, digits and bytes
								 * that are not ASCII */
	bool		any_other;		/* some bytes count as not ASCII */
	uint16		bounds[ASCII_CHUNK + 1];	/* run i is from byte bounds[2i]
											 * up to bounds[2i + 1] */
	uint64		other[ASCII_CHUNK / 64];	/* a bit per byte, 1 if it counts
											 * as not ASCII */
	char		folded[ASCII_CHUNK];	/* the chunk in lower case */
} AsciiIndex;

/*
 * Index a text, or its first ASCII_CHUNK bytes.  With dotless, I counts as not
 * ASCII; with divided, so does a letter before a hyphen that may end a line.
 */
extern void ascii_index(AsciiIndex *index, const unsigned char *text,
						size_t len, bool dotless, bool divided);

/* True if the bytes from start up to stop (start < stop) are all ASCII. */
static inline bool
ascii_only(const AsciiIndex *index, int start, int stop)
{
	int			first = start / 64;
	int			last = (stop - 1) / 64;
	uint64		bits = 0;

	if (!index->any_other)
		return true;
	for (int i = first; i <= last; i++)
	{
		uint64		part = index->other[i];

		if (i == first)
			part &= PG_UINT64_MAX << (start % 64);
		if (i == last)
			part &= PG_UINT64_MAX >> (63 - (stop - 1) % 64);
		bits |= part;
	}
	return bits == 0;
}

#endif							/* NEARDUP_ASCII_H */
