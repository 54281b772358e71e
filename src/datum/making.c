/*
 * making.c
 *		The portable bytes of a making, and their hash.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/datum/making.c
 */
#include "postgres.h"

#include "port/pg_bswap.h"

#include "base/hash.h"
#include "datum/making.h"

void
making_swap(Making *making)
{
#ifdef WORDS_BIGENDIAN
	making->k = pg_bswap16(making->k);
	making->analysis = pg_bswap32(making->analysis);
	making->filters = pg_bswap32(making->filters);
	making->param[0] = pg_bswap32(making->param[0]);
	making->param[1] = pg_bswap32(making->param[1]);
#endif
}

uint64
making_hash(const Making *making)
{
	Making		portable = *making;

	making_swap(&portable);
	return XXH3_64bits(&portable, sizeof(Making));
}
