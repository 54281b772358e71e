/*
 * lsh.c
 *		Locality-sensitive hashing: bands of min-hash slots that similar sets
 *		are likely to have in common.
 *
 * Sets of resemblance s agree in a slot with probability s, in a band of r
 * slots with s^r, and in at least one of b bands with 1 - (1 - s^r)^b: a
 * curve that rises from 0 to 1, the more steeply the longer the bands
 * (Indyk & Motwani, STOC 1998; Leskovec, Rajaraman & Ullman, "Mining of
 * massive datasets", chapter 3).
 *
 * near_duplicate_approx() takes a banding that is fixed by its threshold and
 * recall, and the exact test behind it: it never says yes where
 * near_duplicate() says no, and says no where that says yes with a
 * probability of at most 1 - recall.  What is random in it are the hash
 * functions, which never change.  So it is a function of its arguments, too.
 *
 * Powers are products here, not pow(): the choice is the same on every
 * machine.
 */
#include "postgres.h"

#include <math.h>

#include "methods/sketches/lsh.h"
#include "methods/sketches/minhash.h"

/* Slots for near_duplicate_approx(), where as many do. */
#define APPROX_SIZE		128

/* base^n, by squaring. */
static double
power(double base, uint32 n)
{
	double		result = 1;

	for (; n > 0; n >>= 1, base *= base)
		if (n & 1)
			result *= base;
	return result;
}

double
lsh_probability(double s, uint32 bands, uint32 rows)
{
	return 1 - power(1 - power(s, rows), bands);
}

bool
lsh_choose(double threshold, double recall, uint32 size, Banding *banding)
{
	for (uint32 rows = size; rows >= 1; rows--)
	{
		uint32		most = size / rows;

		if (lsh_probability(threshold, most, rows) < recall)
			continue;
		/* no more bands than it takes */
		banding->rows = rows;
		banding->bands = 1;
		while (banding->bands < most &&
			   lsh_probability(threshold, banding->bands, rows) < recall)
			banding->bands++;
		return true;
	}
	return false;
}

/* The banding with the fewest slots that will do; false if none will. */
static bool
approx_banding(double threshold, double recall, Banding *banding)
{
	for (uint32 size = APPROX_SIZE; size <= MINHASH_MAX_SIZE; size *= 2)
		if (lsh_choose(threshold, recall, size, banding))
			return true;
	return false;
}

bool
lsh_approx_possible(double threshold, double recall)
{
	Banding		banding;

	/* written so that NaN fails */
	return recall > 0 && recall < 1 &&
		approx_banding(threshold, recall, &banding);
}

Banding
lsh_approx_banding(double threshold, double recall)
{
	Banding		banding;

	/* written so that NaN fails */
	if (!(recall > 0 && recall < 1))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("recall %g is out of range", recall),
				 errdetail("A recall is greater than 0 and less than 1."),
				 errhint("What misses nothing is near_duplicate().")));
	if (approx_banding(threshold, recall, &banding))
		return banding;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("threshold %g is too small for a recall of %g",
					threshold, recall),
			 errdetail("It would take a sketch of more than %d slots.",
					   MINHASH_MAX_SIZE),
			 errhint("Use near_duplicate().")));
}

void
lsh_approx_keys(const Signature *set, const Banding *banding, KeyList *keys)
{
	uint32		rows = banding->rows;
	uint8	   *slots;

	if (SIGNATURE_NVALUES(set) == 0)
		return;
	slots = palloc((size_t) banding->bands * rows);
	minhash_slots(set->values, SIGNATURE_NVALUES(set), banding->bands * rows,
				  slots);
	keys_reserve(keys, banding->bands);
	for (uint32 band = 0; band < banding->bands; band++)
		keys_add(keys, key_of_bytes(slots + (size_t) band * rows, rows,
									band, banding->bands));
	pfree(slots);
}

bool
lsh_meet(const KeyList *a, const KeyList *b)
{
	for (size_t i = 0; i < Min(a->n, b->n); i++)
		if (a->keys[i] == b->keys[i])
			return true;
	return false;
}

double
supershingle_probability(double s, uint32 groups, uint32 size, uint32 agree)
{
	double		p = power(s, size);
	double		choose = 1;
	double		sum = 0;

	if (agree == 0)
		return 1;
	/* the terms of the binomial distribution from `agree` on */
	for (uint32 i = 0; i <= groups; i++)
	{
		if (i >= agree)
			sum += choose * power(p, i) * power(1 - p, groups - i);
		choose = choose * (groups - i) / (i + 1);
	}
	return Min(sum, 1.0);
}
