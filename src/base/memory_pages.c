/*
 * memory_pages.c
 *		Wishes to the system about pages of memory.
 */
#include "postgres.h"

#include <sys/mman.h>
#include <unistd.h>

#include "miscadmin.h"

#include "base/memory_pages.h"

/* Of most systems; where they are of another size, this is only a hint, too. */
#define LARGE_PAGE			((Size) 2 * 1024 * 1024)

/* Pages that are asked for between two looks at interrupts. */
#define ASK_AT_ONCE			((Size) 16 * 1024 * 1024)

/* Since Linux 5.14, which headers need not know. */
#if defined(__linux__) && !defined(MADV_POPULATE_WRITE)
#define MADV_POPULATE_WRITE	23
#endif

void *
large_array_alloc(Size bytes)
{
	char	   *array;

	if (bytes < LARGE_PAGE)
		return palloc_extended(Max(bytes, 1), MCXT_ALLOC_HUGE);
	bytes = TYPEALIGN(LARGE_PAGE, bytes);
	array = palloc_extended(bytes + LARGE_PAGE, MCXT_ALLOC_HUGE);
	array = (char *) TYPEALIGN(LARGE_PAGE, array);
#ifdef MADV_HUGEPAGE
	(void) madvise(array, bytes, MADV_HUGEPAGE);
#endif
	return array;
}

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
