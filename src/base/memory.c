/*
 * memory.c
 *		Arrays that grow, and hints about pages.
 */
#include "postgres.h"

#include <sys/mman.h>
#include <unistd.h>

#include "miscadmin.h"
#include "utils/memutils.h"

#include "base/memory.h"

#define MIN_ROOM		32		/* elements */

void *
growing_reserve(void *array, size_t *room, size_t wanted, size_t width)
{
	size_t		most = MaxAllocHugeSize / width;

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

/* Pages that are asked for between two looks at interrupts. */
#define ASK_AT_ONCE			((Size) 16 * 1024 * 1024)

/* Since Linux 5.14, which headers need not know. */
#if defined(__linux__) && !defined(MADV_POPULATE_WRITE)
#define MADV_POPULATE_WRITE	23
#endif

void
shared_pages_ask(void *place, Size bytes)
{
#ifdef MADV_POPULATE_WRITE
	char	   *page = (char *) TYPEALIGN_DOWN(sysconf(_SC_PAGESIZE), place);

	bytes += (char *) place - page;
	for (Size done = 0; done < bytes; done += ASK_AT_ONCE)
	{
		CHECK_FOR_INTERRUPTS();
		if (madvise(page + done, Min(bytes - done, ASK_AT_ONCE),
					MADV_POPULATE_WRITE) != 0)
			return;
	}
#endif
}

void
shared_pages_scattered(void *place, Size bytes)
{
#ifdef MADV_RANDOM
	(void) madvise(place, bytes, MADV_RANDOM);
#endif
}
