/*
 * memory.c
 *		Arrays that grow.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "base/memory.h"

#define MIN_ROOM		32		/* elements */

void *
growing_reserve(void *array, size_t *room, size_t wanted, size_t width)
{
	size_t		most = MaxAllocHugeSize / width;

	Assert((array == NULL) == (*room == 0));
	if (wanted <= *room)
		return array;
	if (wanted > most)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("list of %zu elements is too large", wanted),
				 errdetail("Lists of %zu bytes an element hold at most %zu.",
						   width, most)));
	*room = *room > most / 2 ? most : 2 * *room;
	*room = Max(*room, Max(wanted, MIN_ROOM));
	if (array == NULL)
		return palloc_extended(*room * width, MCXT_ALLOC_HUGE);
	return repalloc_huge(array, *room * width);
}
