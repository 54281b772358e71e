/*
 * postings.h
 *		The lists of a segment: for each key, the rows that have it.
 *
 * Near-duplicates mostly have consecutive numbers.  So a list is stored as
 * runs of rows, and takes few bytes.
 *
 * A page of lists has entries from its beginning up, and restarts from its end
 * down.  An entry, in numbers of variable length:
 *
 * 	key - key before			unless a restart stands for it
 * 	head						value * 4 + form
 * 	form 0						the list is row number `value`
 * 	form 1, length				a run that begins at row `value`
 * 	form 2, bytes				`value` bytes of runs
 * 	form 3, rest, bytes			the same; more runs, in about `rest` bytes,
 * 								are at the beginning of the next page
 *
 * A run is (first - end of the run before) * 2, plus 1 and then its length if
 * it is longer than 1.  The rest of a list that fills a page begins the next
 * page, without a key.  One entry in RESTART_EVERY has a restart, with its
 * full key and its offset; the rest of a list is not counted.
 */
#ifndef NEARDUP_POSTINGS_H
#define NEARDUP_POSTINGS_H

#include "index/pages.h"

/*
 * Numbers of variable length: seven bits a byte, lowest first; the highest bit
 * says that more follow
 */

#define MAX_NUMBER_BYTES	10

/* Encode a number.  Returns its end. */
static inline uint8 *
number_put(uint8 *at, uint64 value)
{
	while (value >= 0x80)
	{
		*at++ = (uint8) value | 0x80;
		value >>= 7;
	}
	*at++ = (uint8) value;
	return at;
}

/* Return the number of bytes of an encoded number. */
static inline int
number_bytes(uint64 value)
{
	int			n = 1;

	while (value >= 0x80)
	{
		value >>= 7;
		n++;
	}
	return n;
}

/*
 * Decode a number.  Returns its end, or NULL if it does not end before `end`.
 */
static inline const uint8 *
number_get(const uint8 *at, const uint8 *end, uint64 *value)
{
	uint64		result = 0;
	int			shift = 0;

	while (at < end && shift < 64)
	{
		uint8		byte = *at++;

		result |= (uint64) (byte & 0x7f) << shift;
		if (byte < 0x80)
		{
			*value = result;
			return at;
		}
		shift += 7;
	}
	return NULL;
}

/*
 * Decode a number where eight bytes can be read from `at` on, as anywhere on a
 * page before its tail.  Returns NULL for more than five bytes, which no
 * number of 32 bits has.
 */
static inline const uint8 *
number_get_ahead(const uint8 *at, uint64 *value)
{
	uint64		bytes = at[0];
	uint64		ends;
	int			bits;

	if (bytes < 0x80)
	{
		*value = bytes;
		return at + 1;
	}
	bytes = (uint64) at[0] | (uint64) at[1] << 8 | (uint64) at[2] << 16 |
		(uint64) at[3] << 24 | (uint64) at[4] << 32;
	ends = ~bytes & UINT64CONST(0x8080808080);
	if (ends == 0)
		return NULL;
	bits = __builtin_ctzll(ends) + 1;
	bytes &= (UINT64CONST(1) << bits) - 1;
	*value = (bytes & 0x7f) | (bytes >> 1 & 0x3f80) |
		(bytes >> 2 & 0x1fc000) | (bytes >> 3 & 0xfe00000) |
		(bytes >> 4 & UINT64CONST(0x7f0000000));
	return at + bits / 8;
}

/* Lists */

#define RESTART_EVERY		16

/* Lists of more bytes are long: they are read last, if at all. */
#define SHORT_BYTES			64

/* A full key on a page, from which reading can begin */
typedef struct Restart
{
	uint32		key;
	uint16		offset;			/* offset from the beginning of the page */
	uint16		unused;
} Restart;

/* Forms of an entry, see above */
typedef enum ListForm
{
	LIST_ROW = 0,
	LIST_RUN = 1,
	LIST_BYTES = 2,
	LIST_CHUNK = 3,
} ListForm;

/* Runs of rows: first, and one after the last */
typedef struct Runs
{
	uint32	   *first;
	uint32	   *end;
	size_t		n;
	size_t		size;			/* number of runs that fit */
} Runs;

/* Make room for another run. */
extern void runs_reserve(Runs *runs);

/* Free the arrays. */
extern void runs_free(Runs *runs);

/* Append a run. */
static inline void
runs_add(Runs *runs, uint32 first, uint32 end)
{
	Assert(first < end);
	if (unlikely(runs->n == runs->size))
		runs_reserve(runs);
	runs->first[runs->n] = first;
	runs->end[runs->n++] = end;
}

/*
 * Sort a list that consists of rising parts, by merging two of them at a time.
 * `space` must have room for 2 * n + 2 numbers.
 */
extern void sort_rising(uint32 *list, uint32 n, uint32 *space);

/* A decoded entry, without its key */
typedef struct ListHead
{
	ListForm	form;
	uint32		value;			/* row, or first row of LIST_RUN */
	uint32		length;			/* length of LIST_RUN */
	uint32		rest;			/* about the bytes after LIST_CHUNK */
	const uint8 *bytes;			/* runs of LIST_BYTES and LIST_CHUNK */
	uint32		nbytes;
} ListHead;

/*
 * Decode the entry whose head is at `at`.  Returns its end, or NULL if it is
 * invalid.
 */
extern const uint8 *posting_head(const uint8 *at, const uint8 *end,
								 ListHead *head);

/* Append the runs of an entry.  False if they are invalid. */
extern bool posting_runs(const ListHead *head, uint32 nrows, Runs *runs);

/* Reads all lists of a segment, in the order of their keys */
typedef struct ListStream
{
	PageStore  *store;
	const SegmentInfo *segment;
	char	   *page;
	BlockNumber block;			/* block of the page; invalid at the end */
	const uint8 *at;
	const uint8 *end;			/* end of the entries on the page */
	uint32		entry;			/* entries read on the page */
	bool		done;
	uint32		key;			/* key of the list, unless done */
	BlockNumber key_block;		/* block where it begins */
	bool		is_long;		/* true if it has more than SHORT_BYTES */
	Runs		runs;			/* the list */
} ListStream;

/* Begin with the first list whose key is not smaller. */
extern void lists_open(ListStream *stream, PageStore *store,
					   const SegmentInfo *segment, uint32 key);

/* Go on to the next list, or set `done`.  Raises INDEX_CORRUPTED. */
extern void lists_next(ListStream *stream);

/* Free the memory of the stream. */
extern void lists_close(ListStream *stream);

#endif							/* NEARDUP_POSTINGS_H */
