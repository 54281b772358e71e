/*
 * id_places.c
 *		Ids of any type, each to be found again by its place.
 *
 * One that is passed by value is its own place.  Others lie one behind the
 * other, aligned, each behind its length.
 */
#include "postgres.h"

#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "base/compat.h"
#include "groups/id_places.h"

#define LENGTH_BYTES	MAXALIGN(sizeof(size_t))

void
id_places_begin(IdPlaces *places, Oid type, size_t memory)
{
	memset(places, 0, sizeof(IdPlaces));
	get_typlenbyval(type, &places->len, &places->byval);
	paged_init(&places->bytes, 1, memory);
}

void
id_places_end(IdPlaces *places)
{
	paged_free(&places->bytes);
	if (places->room != NULL)
		pfree(places->room);
}

uint64
id_places_put(IdPlaces *places, Datum id)
{
	static const char padding[MAXIMUM_ALIGNOF] = {0};
	char		head[LENGTH_BYTES] = {0};
	uint64		place;
	size_t		len;

	if (places->byval)
		return (uint64) id;
	if (places->len == -1)
		id = PointerGetDatum(PG_DETOAST_DATUM_PACKED(id));
	len = datumGetSize(id, places->byval, places->len);
	memcpy(head, &len, sizeof(len));
	place = paged_append(&places->bytes, head, sizeof(head));
	paged_append(&places->bytes, DatumGetPointer(id), len);
	paged_append(&places->bytes, padding, MAXALIGN(len) - len);
	return place;
}

Datum
id_places_get(IdPlaces *places, uint64 place)
{
	PagedArray *bytes = &places->bytes;
	size_t		len;

	if (places->byval)
		return (Datum) place;
	if (bytes->resident != NULL)
		return PointerGetDatum(bytes->resident + place + LENGTH_BYTES);
	paged_read(bytes, place, &len, sizeof(len));
	if (len > places->max_room)
	{
		if (places->room != NULL)
			pfree(places->room);
		places->room = MemoryContextAllocHuge(bytes->context, len);
		places->max_room = len;
	}
	paged_read(bytes, place + LENGTH_BYTES, places->room, len);
	return PointerGetDatum(places->room);
}
