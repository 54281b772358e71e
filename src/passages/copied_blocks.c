/*
 * copied_blocks.c
 *		Which blocks of a text were copied from another.
 *
 * The places of a block's shingles in the other text are sorted, and a window
 * of the block's length is moved over them.  So the other text's blocks are not
 * those of a grid, on which a copy that has moved by half a block would stand
 * half in one and half in the next.
 */
#include "postgres.h"

#include "base/sort_uint64.h"
#include "passages/copied_blocks.h"

BlockSearch *
block_search_create(const uint64 *hashes, uint32 n, uint32 shingles)
{
	BlockSearch *search = palloc0(sizeof(BlockSearch));

	sequence_index_build(&search->index, hashes, n);
	search->shingles = shingles;
	search->places = palloc((Size) shingles * PLACES_MAX * sizeof(uint64));
	search->ids = palloc(shingles * sizeof(uint32));
	search->counts = palloc(shingles * sizeof(uint32));
	return search;
}

/* Adds the places of shingle number i of the block; returns their number. */
static uint32
add_places(BlockSearch *search, uint32 i, uint64 *places)
{
	uint32		n = 0;

	for (uint32 at = search->ids[i]; at != NOWHERE;
		 at = search->index.next[at])
		places[n++] = ((uint64) at << 32) | i;
	return n;
}

/* The most different shingles in a window of so many places. */
static uint32
most_in_window(BlockSearch *search, const uint64 *places, uint32 n,
			   uint32 window)
{
	uint32		first = 0;
	uint32		here = 0;
	uint32		most = 0;

	memset(search->counts, 0, search->shingles * sizeof(uint32));
	for (uint32 i = 0; i < n; i++)
	{
		while ((places[i] >> 32) - (places[first] >> 32) >= window)
		{
			if (--search->counts[(uint32) places[first++]] == 0)
				here--;
		}
		if (search->counts[(uint32) places[i]]++ == 0)
			here++;
		most = Max(most, here);
	}
	return most;
}

double
block_share(BlockSearch *search, const uint64 *hashes, uint32 n)
{
	uint32		nplaces = 0;
	uint32		everywhere = 0;

	Assert(n >= 1 && n <= search->shingles);
	sequence_index_find(&search->index, hashes, n, search->ids);
	for (uint32 i = 0; i < n; i++)
	{
		if (search->ids[i] == NOWHERE)
			continue;
		if (search->index.count[search->ids[i]] > PLACES_MAX)
			everywhere++;
		else
			nplaces += add_places(search, i, search->places + nplaces);
	}
	sort_hashes(search->places, nplaces);
	return (double) (everywhere + most_in_window(search, search->places,
												 nplaces, n)) / n;
}
