/*
 * repeats.c
 *		Repeated elements, numbered: a multiset as a set.
 */
#include "postgres.h"

#include "base/interrupts.h"
#include "base/sort_uint64.h"
#include "document/repeats.h"

void
number_repeats(uint64 *elements, size_t n)
{
	uint64		element = 0;
	uint64		number = 0;

	sort_hashes(elements, n);
	for (size_t i = 0; i < n; i++)
	{
		CHECK_EVERY(i);
		if (i > 0 && elements[i] == element)
		{
			elements[i] = repeated_element(element, ++number);
			continue;
		}
		element = elements[i];
		number = 0;
	}
}
