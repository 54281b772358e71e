/*
 * linear_probing.c
 *		Where a key's place in a hash table is: linear probing.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/base/linear_probing.c
 */
#include "postgres.h"

#include "port/pg_bitutils.h"

#include "base/linear_probing.h"

#define LEAST_PLACES	16

/* The factor of this process; 0 if it has not been drawn yet. */
static uint64 factor = 0;

static void
draw_factor(void)
{
	uint64		random;

	if (!pg_strong_random(&random, sizeof(random)))
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("could not generate random values")));
	factor = random | 1;
}

void
probing_init(Probing *probing, size_t places)
{
	Assert(places >= 2 && (places & (places - 1)) == 0);
	if (factor == 0)
		draw_factor();
	probing->factor = factor;
	probing->shift = 64 - pg_leftmost_one_pos64(places);
	probing->mask = places - 1;
}

size_t
probing_places(size_t n)
{
	size_t		places = LEAST_PLACES;

	while (places / 2 < n)
		places *= 2;
	return places;
}
