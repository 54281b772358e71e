/*
 * memory_pages.c
 *		Wishes to the system about pages of memory.
 */
#include "postgres.h"

#include <sys/mman.h>
#include <unistd.h>

#include "miscadmin.h"

#include "base/memory_pages.h"

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
