/*
 * overlap.h
 *		How many of the keys of a query the rows of a segment have.
 */
#ifndef NEARDUP_OVERLAP_H
#define NEARDUP_OVERLAP_H

#include "index/directory.h"
#include "index/postings.h"

/* A list that is read later, or not at all. */
typedef struct LongList
{
	uint64		bytes;
	BlockNumber block;
	uint32		share;			/* of its key */
	uint16		offset;			/* of its head on the page */
} LongList;

/* The keys of a query that are looked up in a segment */
typedef struct Overlaps
{
	PageStore	store;
	const SegmentInfo *segment;
	DirectoryPath path;
	const uint32 *keys;
	const uint32 *shares;		/* what each counts; NULL: one */
	uint32		nkeys;
	uint32		next;			/* keys before it have been looked up */
	uint64		npostings;		/* in the lists that were read */
	LongList   *late;			/* lists of these that have not been read */
	uint32		nlate;
	Runs		runs;			/* from all lists that were read, or: */
	uint32	   *change;			/* by how much a row has more than the one
								 * before, modulo 2^32, and one behind all */
} Overlaps;

extern void overlaps_open(Overlaps *overlaps, Relation index,
						  const SegmentInfo *segment, KeptSegment *kept,
						  const uint32 *keys, const uint32 *shares,
						  uint32 nkeys);
extern void overlaps_close(Overlaps *overlaps);

/* Keys whose lists have not been read. */
static inline uint32
overlaps_unread(const Overlaps *overlaps)
{
	return overlaps->nkeys - overlaps->next + overlaps->nlate;
}

/*
 * Looks keys up, and reads their lists unless they are long, until at most
 * `unread` are left, or all have been looked up.  False if the segment is gone.
 */
extern bool overlaps_look_up(Overlaps *overlaps, uint32 unread);

/*
 * Reads long lists, the shortest first, until at most `unread` are left, and
 * up to `most` bytes of those.  All keys have been looked up.  False if the segment
 * is gone.
 */
extern bool overlaps_read_late(Overlaps *overlaps, uint32 unread, uint64 most);

/* Rows first ... end - 1, each of which has so many of the keys, or shares. */
typedef struct Stretch
{
	uint32		first;
	uint32		end;
	uint32		count;
} Stretch;

/*
 * The rows of the segment in stretches, palloc'd, *n of them; those that have
 * none of the keys are left out unless `all`.
 */
extern Stretch *overlaps_count(Overlaps *overlaps, bool all, size_t *n);

#endif							/* NEARDUP_OVERLAP_H */
