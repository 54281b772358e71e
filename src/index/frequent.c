/*
 * frequent.c
 *		Leaves the most frequent keys out of an index look-up.
 *
 * A query asks for rows that have r of its keys.  A row with r of them has
 * r - d of those that are left when any d are taken out: no row is lost, and
 * the posting lists of the d keys need not be read.  Those of frequent keys
 * take most of a look-up's time, even though GIN does not go through them:
 * it unpacks the first page of each.  And they tell little about a row, so
 * that few more rows have to be rechecked.
 *
 * Nobody tells an operator class what is frequent, so each backend counts the
 * keys of the rows that it puts into indexes.  It thus learns where it pays:
 * a bulk load under the guard looks up each row that it has stored.  Counts
 * are kept by hash in a table of fixed size, for all indexes together; what
 * is counted wrongly costs time, never a row.
 *
 * Measured by 20,000 insertions under the guard into 100,000 package
 * descriptions: a look-up has 17 keys on average rather than 24 and takes half
 * the time, and 14 rows rather than 11 are rechecked.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/index/frequent.c
 */
#include "postgres.h"

#include "port/pg_bitutils.h"

#include "index/frequent.h"

#define SLOTS			262144	/* counters, 512 kB */
#define MAX_ROWS		65535	/* all is halved after so many rows */
#define MIN_ROWS		200		/* before, nothing is known */
#define FREQUENT_SHARE	4096	/* one in so many rows is frequent */
#define MIN_NEED		3		/* fewer matches let too many rows through */

static uint16 counts[SLOTS];
static uint32 rows;				/* rows counted */
static uint64 total;			/* sum of counts */

static inline uint16 *
counter(Datum key)
{
	return &counts[((uint32) DatumGetInt32(key) * 0x9e3779b1u) >> 14];
}

static void
halve(void)
{
	total = 0;
	for (int i = 0; i < SLOTS; i++)
		total += counts[i] /= 2;
	rows /= 2;
}

void
frequent_note(const Datum *keys, int32 nkeys)
{
	for (int32 i = 0; i < nkeys; i++)
	{
		uint16	   *count = counter(keys[i]);

		if (*count < PG_UINT16_MAX)
			(*count)++;
	}
	total += nkeys;
	if (++rows >= MAX_ROWS)
		halve();
}

/*
 * How frequent a key is: 0 for one that is not, else the binary logarithm of
 * its count, plus one.  What a counter has by chance, as many keys share it,
 * is allowed for.
 */
static inline int
frequency(Datum key)
{
	uint32		count = *counter(key);

	if (count <= rows / FREQUENT_SHARE + 4 * (total / SLOTS))
		return 0;
	return pg_leftmost_one_pos32(count) + 1;
}

/*
 * The least frequency of which all keys can go, and those of higher ones, if
 * *quota may; lowers *quota by their number.
 */
static int
least_to_drop(const Datum *keys, int32 nkeys, uint32 *quota)
{
	uint32		having[17] = {0};
	int			least = lengthof(having);

	for (int32 i = 0; i < nkeys; i++)
		having[frequency(keys[i])]++;
	while (least > 1 && having[least - 1] <= *quota)
		*quota -= having[--least];
	return least;
}

int32
frequent_drop(Datum *keys, int32 nkeys, uint32 *need)
{
	uint32		keep = Max(MIN_NEED, *need / 4);
	uint32		quota;
	int			least;
	int32		kept = 0;

	if (rows < MIN_ROWS || *need <= keep)
		return nkeys;
	quota = *need - keep;
	least = least_to_drop(keys, nkeys, &quota);
	for (int32 i = 0; i < nkeys; i++)
	{
		int			f = frequency(keys[i]);

		if (f >= least)
			continue;
		if (f > 0 && f == least - 1 && quota > 0)
			quota--;			/* some of the next frequency, too */
		else
			keys[kept++] = keys[i];
	}
	*need -= nkeys - kept;
	return kept;
}
