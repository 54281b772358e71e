/*
 * id_places.h
 *		Ids of any type, each to be found again by its place.
 */
#ifndef NEARDUP_ID_PLACES_H
#define NEARDUP_ID_PLACES_H

#include "groups/paged.h"

typedef struct IdPlaces
{
	int16		len;			/* typlen */
	bool		byval;			/* typbyval */
	PagedArray	bytes;			/* those that do not fit into a place */
	char	   *room;			/* the one that was read last, if it was in a
								 * file */
	size_t		max_room;
} IdPlaces;

/* None as yet, of that type; what exceeds so many bytes goes to disk. */
extern void id_places_begin(IdPlaces *places, Oid type, size_t memory);
extern void id_places_end(IdPlaces *places);

/* Keeps an id; returns the place to find it at. */
extern uint64 id_places_put(IdPlaces *places, Datum id);

/* The id at a place; valid until the next call. */
extern Datum id_places_get(IdPlaces *places, uint64 place);

#endif							/* NEARDUP_ID_PLACES_H */
