/*
 * large_array.c
 *		Arrays that are read here and there.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/base/large_array.c
 */
#include "postgres.h"

#include <sys/mman.h>

#include "base/large_array.h"

/* Of most systems; where they are of another size, this is only a hint, too. */
#define LARGE_PAGE			((Size) 2 * 1024 * 1024)

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
