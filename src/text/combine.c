/*
 * combine.c
 *		The hash of several units, such as the words of a sentence.
 */
#include "postgres.h"

#include "base/hash.h"
#include "base/sort_uint64.h"
#include "text/combine.h"

uint64
order_combine(Order order, uint64 *hashes, size_t n)
{
	uint64		sum = 0;

	switch (order)
	{
		case ORDER_XOR:
			for (size_t i = 0; i < n; i++)
				sum ^= hashes[i];
			return sum;
		case ORDER_SUM:
			for (size_t i = 0; i < n; i++)
				sum += hashes[i];
			return sum;
		case ORDER_SORTED:
			sort_hashes(hashes, n);
			break;
		default:
			break;
	}
	return hash_uint64s(hashes, n);
}
