/*
 * linear_probing.h
 *		Linear probing: the place of a key in a hash table.
 *
 * The caller owns the table, and probes from the first place of a key on until
 * it finds the key or a free place:
 *
 *		place = probing_first(&probing, key);
 *		while (is_used(place) && key_at(place) != key)
 *			place = probing_next(&probing, place);
 *
 * A table must never be full.  Keys are 64-bit numbers that users may choose.
 * A random factor of each process decides where they begin, so no user can
 * choose keys that collide (Dietzfelbinger et al., "A reliable randomized
 * algorithm for the closest-pair problem", 1997: multiply-shift hashing).  So
 * no result may depend on the order of the places.
 */
#ifndef NEARDUP_LINEAR_PROBING_H
#define NEARDUP_LINEAR_PROBING_H

/* A table whose number of places is a power of two */
typedef struct Probing
{
	uint64		factor;			/* odd */
	int			shift;			/* right shift that leaves the upper bits of a
								 * product */
	size_t		mask;			/* number of places - 1 */
} Probing;

/*
 * Set up a table of `places` places, a power of two of at least 2.  Raises an
 * error if there is no source of random bits.
 */
extern void probing_init(Probing *probing, size_t places);

/*
 * Return the number of places that leave a table of n keys at least half
 * empty.
 */
extern size_t probing_places(size_t n);

/* Return the first place for a key. */
static inline size_t
probing_first(const Probing *probing, uint64 key)
{
	return (size_t) ((key * probing->factor) >> probing->shift);
}

/* The place that follows. */
static inline size_t
probing_next(const Probing *probing, size_t place)
{
	return (place + 1) & probing->mask;
}

/* A table of any number of places below 2^32 */
typedef struct TightProbing
{
	uint64		factor;
	uint32		places;
} TightProbing;

/*
 * Set up a table of `places` places, at least 1, which need not be a power of
 * two.
 */
extern void tight_probing_init(TightProbing *probing, uint32 places);

/* Return the first place for a key. */
static inline uint32
tight_probing_first(const TightProbing *probing, uint64 key)
{
	return (((key * probing->factor) >> 32) * probing->places) >> 32;
}

/* The place that follows. */
static inline uint32
tight_probing_next(const TightProbing *probing, uint32 place)
{
	return place + 1 == probing->places ? 0 : place + 1;
}

#endif							/* NEARDUP_LINEAR_PROBING_H */
