/*
 * linear_probing.c
 *		Linear probing: the place of a key in a hash table.
 */
#include "postgres.h"

#include "port/pg_bitutils.h"

#include "base/linear_probing.h"

#define MIN_PLACES	16

/* The factor of this process, or 0 */
static uint64 factor = 0;

/* Return the factor of this process; the first call draws it at random. */
static uint64
get_factor(void)
{
	uint64		random;

	if (factor != 0)
		return factor;
	if (!pg_strong_random(&random, sizeof(random)))
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("could not generate random values")));
	factor = random | 1;
	return factor;
}

void
probing_init(Probing *probing, size_t places)
{
	Assert(places >= 2 && (places & (places - 1)) == 0);
	probing->factor = get_factor();
	probing->shift = 64 - pg_leftmost_one_pos64(places);
	probing->mask = places - 1;
}

void
tight_probing_init(TightProbing *probing, uint32 places)
{
	Assert(places >= 1);
	probing->factor = get_factor();
	probing->places = places;
}

size_t
probing_places(size_t n)
{
	size_t		places = MIN_PLACES;

	while (places / 2 < n)
		places *= 2;
	return places;
}
