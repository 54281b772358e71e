/*
 * sets.c
 *		Measures of sets, and the bounds of sizes and overlap at a threshold.
 *
 * A filter may drop a pair only if the pair fails the test measure_value() >=
 * threshold.  The textbook bounds, for instance ceil(t / (1 + t) * (|A| +
 * |B|)) for the overlap, hold in the real numbers only: with t = 0.8 and five
 * elements a rounding error decides.  So a bound computed in floating point is
 * only the start of a search; the bound itself is where the test changes, one
 * or two steps away.  The search is correct because the test is monotonic:
 * IEEE division and square root round monotonically.  measure_value() rises
 * with the overlap, and with the greatest possible overlap it falls with the
 * distance of the sizes.  (Its steps, at least 1e-9 relative, exceed any
 * rounding error.)
 *
 * Formulas: threshold algebra of Chaudhuri et al. (ICDE 2006), Bayardo et al.
 * (WWW 2007) and Xiao et al. (WWW 2008).
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"

#include "signature/sets.h"
#include "base/interrupts.h"

/* A merge checks for interrupts once in this many steps. */
#define MERGE_BLOCK			65536

/* A merge compares this many elements at once. */
#define EQUAL_BLOCK			8

/* The `need` that counts every common element */
#define NEED_ALL			0

/* Search a set that is larger than the other by this factor; merge others. */
#define GALLOP_RATIO		32

/* Compare all pairs of elements of two sets if there are at most this many. */
#define MAX_PAIRS			64

/* The names of measures in SQL */
static const struct
{
	const char *name;
	Measure		measure;
}			measure_names[] =

{
	{"jaccard", MEASURE_JACCARD},
	{"containment", MEASURE_CONTAINMENT},
	{"contains", MEASURE_CONTAINS},
	{"dice", MEASURE_DICE},
	{"cosine", MEASURE_COSINE},
	{"overlap_coefficient", MEASURE_OVERLAP_COEFFICIENT},
	{"similarity", MEASURE_SIMILARITY},
	{"shared", MEASURE_SHARED},
};

bool
measure_by_name(const char *name, size_t len, Measure *measure)
{
	for (size_t i = 0; i < lengthof(measure_names); i++)
	{
		if (strlen(measure_names[i].name) == len &&
			(memcmp(measure_names[i].name, name, len) == 0 ||
			 pg_strncasecmp(measure_names[i].name, name, len) == 0))
		{
			*measure = measure_names[i].measure;
			return true;
		}
	}
	return false;
}

const char *
measure_name(Measure measure)
{
	for (size_t i = 0; i < lengthof(measure_names); i++)
		if (measure_names[i].measure == measure)
			return measure_names[i].name;
	return NULL;
}

bool
measure_has_threshold(Measure measure, double threshold)
{
	/* written so that NaN fails */
	if (measure != MEASURE_SHARED)
		return threshold > 0 && threshold <= 1;
	return threshold >= 1 && threshold <= SHARED_MAX &&
		threshold == floor(threshold);
}

Measure
measure_commute(Measure measure)
{
	switch (measure)
	{
		case MEASURE_CONTAINMENT:
			return MEASURE_CONTAINS;
		case MEASURE_CONTAINS:
			return MEASURE_CONTAINMENT;
		default:
			return measure;
	}
}

double
measure_value(Measure measure, uint64 na, uint64 nb, uint64 overlap)
{
	double		o = (double) overlap;

	Assert(overlap <= Min(na, nb));
	if (na == 0 || nb == 0)
		return 0;
	switch (measure)
	{
		case MEASURE_JACCARD:
		case MEASURE_SIMILARITY:
			return o / (double) (na + nb - overlap);
		case MEASURE_CONTAINMENT:
			return o / (double) na;
		case MEASURE_CONTAINS:
			return o / (double) nb;
		case MEASURE_DICE:
			return 2 * o / (double) (na + nb);
		case MEASURE_COSINE:
			/* rounding must not make it greater than 1 */
			return Min(o / sqrt((double) na * (double) nb), 1.0);
		case MEASURE_OVERLAP_COEFFICIENT:
			return o / (double) Min(na, nb);
		case MEASURE_SHARED:
			return o;
	}
	pg_unreachable();
}

/*
 * Return the overlap that meets the threshold in real numbers: each measure is
 * set equal to t and solved for the overlap o.  For Jaccard, o / (na + nb - o)
 * = t, hence o (1 + t) = t (na + nb).
 */
static double
overlap_estimate(Measure measure, double na, double nb, double t)
{
	switch (measure)
	{
		case MEASURE_JACCARD:
		case MEASURE_SIMILARITY:
			return t / (1 + t) * (na + nb);
		case MEASURE_CONTAINMENT:
			return t * na;
		case MEASURE_CONTAINS:
			return t * nb;
		case MEASURE_DICE:
			return t * (na + nb) / 2;
		case MEASURE_COSINE:
			return t * sqrt(na * nb);
		case MEASURE_OVERLAP_COEFFICIENT:
			return t * Min(na, nb);
		case MEASURE_SHARED:
			return t;
	}
	pg_unreachable();
}

/*
 * Find the least o whose value reaches the threshold.  The value rises with o,
 * so steps down and then up from any estimate end there.
 */
uint64
measure_min_overlap(Measure measure, uint64 na, uint64 nb, double threshold)
{
	uint64		most = Min(na, nb);
	double		estimate = overlap_estimate(measure, na, nb, threshold);
	uint64		o;

	if (most == 0)
		return 1;
	o = estimate < (double) most ? (uint64) estimate : most;
	o = Max(o, 1);
	while (o > 1 && measure_value(measure, na, nb, o - 1) >= threshold)
		o--;
	while (o <= most && measure_value(measure, na, nb, o) < threshold)
		o++;
	Assert(o > most || measure_value(measure, na, nb, o) >= threshold);
	Assert(o == 1 || measure_value(measure, na, nb, o - 1) < threshold);
	return o;
}

/*
 * True if sets of these sizes reach the threshold when one contains the other.
 */
static bool
sizes_reach(Measure measure, uint64 na, uint64 nb, double threshold)
{
	return measure_value(measure, na, nb, Min(na, nb)) >= threshold;
}

/*
 * Find the smallest size that reaches the threshold, near an estimate.  Up to
 * na the best value never falls with the size, from na on it never rises: sets
 * of one size can be equal, and reach any threshold.
 */
static uint64
least_size(Measure measure, uint64 na, double threshold, double estimate)
{
	uint64		n = Max((uint64) estimate, 1);

	while (n > 1 && sizes_reach(measure, na, n - 1, threshold))
		n--;
	while (n < na && !sizes_reach(measure, na, n, threshold))
		n++;
	Assert(n >= 1 && sizes_reach(measure, na, n, threshold));
	return n;
}

/* Find the largest size that reaches the threshold, near an estimate. */
static uint64
greatest_size(Measure measure, uint64 na, double threshold, double estimate)
{
	uint64		n;

	if (estimate >= (double) PG_UINT64_MAX / 2)
		return PG_UINT64_MAX;
	n = Max((uint64) estimate, na);
	while (sizes_reach(measure, na, n + 1, threshold))
		n++;
	while (n > na && !sizes_reach(measure, na, n, threshold))
		n--;
	Assert(n >= na && !sizes_reach(measure, na, n + 1, threshold));
	return n;
}

/*
 * Sets of given sizes are most similar if the smaller one is inside the larger
 * one.  If nb = share * na <= na, the overlap is then nb, and the value in
 * real numbers
 *
 *	Jaccard and containment of the larger set	nb / na = share
 *	Dice				2 nb / (na + nb) = 2 share / (1 + share)
 *	cosine				nb / sqrt(na nb) = sqrt(share)
 *	overlap, and containment of the smaller set	1, whatever the size
 *
 * The least share is the one whose value is t.  If the other set is larger
 * than na, the two change places: na / share is the greatest size.
 */
void
measure_sizes(Measure measure, uint64 na, double threshold,
			  uint64 *lo, uint64 *hi)
{
	double		share = 0;		/* least size / na, in real numbers */

	Assert(na >= 1 && measure_has_threshold(measure, threshold));
	switch (measure)
	{
		case MEASURE_JACCARD:
		case MEASURE_SIMILARITY:
		case MEASURE_CONTAINMENT:
		case MEASURE_CONTAINS:
			share = threshold;
			break;
		case MEASURE_DICE:
			share = threshold / (2 - threshold);
			break;
		case MEASURE_COSINE:
			share = threshold * threshold;
			break;
		case MEASURE_OVERLAP_COEFFICIENT:
			break;
		case MEASURE_SHARED:
			*lo = (uint64) threshold;
			*hi = PG_UINT64_MAX;
			return;
	}

	if (measure == MEASURE_CONTAINS || measure == MEASURE_OVERLAP_COEFFICIENT)
		*lo = 1;
	else
		*lo = least_size(measure, na, threshold, share * na);

	if (measure == MEASURE_CONTAINMENT ||
		measure == MEASURE_OVERLAP_COEFFICIENT)
		*hi = PG_UINT64_MAX;
	else
		*hi = greatest_size(measure, na, threshold, na / share);
	Assert(*lo <= na && na <= *hi);
}

uint64
measure_least_overlap(Measure measure, uint64 na, double threshold)
{
	uint64		lo;
	uint64		hi;

	/*
	 * For a given overlap the value falls with the other set's size, so the
	 * minimal overlap rises with it: it is least for the smallest set.
	 */
	measure_sizes(measure, na, threshold, &lo, &hi);
	return measure_min_overlap(measure, na, lo, threshold);
}

/*
 * Return the first position at or after `from` whose value is >= key, by
 * doubling steps and then bisection (Bentley & Yao 1976).
 */
static uint64
gallop(const uint64 *set, uint64 n, uint64 from, uint64 key)
{
	uint64		step = 1;
	uint64		lo = from;
	uint64		hi;

	while (from + step < n && set[from + step] < key)
	{
		lo = from + step;
		step *= 2;
	}
	hi = Min(from + step + 1, n);
	while (lo < hi)
	{
		uint64		mid = lo + (hi - lo) / 2;

		if (set[mid] < key)
			lo = mid + 1;
		else
			hi = mid;
	}
	Assert(lo >= from && (lo == n || set[lo] >= key));
	return lo;
}

/* Look up each element of the small set in the large one. */
static bool
overlap_by_search(const uint64 *small, uint64 ns,
				  const uint64 *large, uint64 nl, uint64 need, uint64 *found)
{
	uint64		overlap = 0;
	uint64		at = 0;

	Assert(ns <= nl);
	for (uint64 i = 0; i < ns && at < nl; i++)
	{
		if (need != NEED_ALL &&
			(overlap >= need || overlap + (ns - i) < need))
			break;
		if (i % 1024 == 0)
			CHECK_FOR_INTERRUPTS();
		at = gallop(large, nl, at, small[i]);
		if (at < nl && large[at] == small[i])
		{
			overlap++;
			at++;
		}
	}
	*found = overlap;
	return overlap >= need;
}

/*
 * Merge both sets.  The inner loop has no branch that depends on data and no
 * test of bounds: each step moves either position by at most one, so a run of
 * as many steps as the shorter remainder has elements is safe.  Runs are
 * short.  Before each run the loop checks whether the outcome is certain, and
 * whether the next few elements are equal, as they mostly are in
 * near-duplicates.
 */
static bool
overlap_by_merge(const uint64 *a, uint64 na,
				 const uint64 *b, uint64 nb, uint64 need, uint64 *found)
{
	uint64		i = 0;
	uint64		j = 0;
	uint64		overlap = 0;
	uint64		steps = 0;

	while (i < na && j < nb)
	{
		uint64		left = Min(na - i, nb - j);
		uint64		run = Min(left, 32);

		if (need != NEED_ALL &&
			(overlap >= need || overlap + left < need))
			break;
		if (run >= EQUAL_BLOCK &&
			memcmp(a + i, b + j, EQUAL_BLOCK * sizeof(uint64)) == 0)
		{
			run = EQUAL_BLOCK;
			overlap += run;
			i += run;
			j += run;
		}
		else
			for (uint64 s = 0; s < run; s++)
			{
				uint64		x = a[i];
				uint64		y = b[j];

				overlap += (x == y);
				i += (x <= y);
				j += (y <= x);
			}
		steps += run;
		if (steps >= MERGE_BLOCK)
		{
			CHECK_FOR_INTERRUPTS();
			steps = 0;
		}
	}
	*found = overlap;
	return overlap >= need;
}

/*
 * Compare each element of one small set with each of another: more comparisons
 * than in a merge, but none depends on the one before.
 */
static uint64
overlap_of_small(const uint64 *a, uint64 na, const uint64 *b, uint64 nb)
{
	uint64		overlap = 0;

	for (uint64 i = 0; i < na; i++)
	{
		uint64		x = a[i];

		for (uint64 j = 0; j < nb; j++)
			overlap += (x == b[j]);
	}
	return overlap;
}

/*
 * Count common elements until `need` are found or cannot be found; *found is
 * exact only if the loop did not stop early.
 */
static bool
overlap_until(const uint64 *a, uint64 na, const uint64 *b, uint64 nb,
			  uint64 need, uint64 *found)
{
	if (na > nb)
		return overlap_until(b, nb, a, na, need, found);
	if (na * nb <= MAX_PAIRS)
	{
		*found = overlap_of_small(a, na, b, nb);
		return *found >= need;
	}
	/* equal sets are frequent, and others differ soon */
	if (na == nb && memcmp(a, b, na * sizeof(uint64)) == 0)
	{
		*found = na;
		return na >= need;
	}
	if (nb / GALLOP_RATIO > na)
		return overlap_by_search(a, na, b, nb, need, found);
	return overlap_by_merge(a, na, b, nb, need, found);
}

uint64
set_overlap(const uint64 *a, uint64 na, const uint64 *b, uint64 nb)
{
	uint64		found;

	Assert(na < 2 || a[0] < a[na - 1]); /* sets rise */
	Assert(nb < 2 || b[0] < b[nb - 1]);
	(void) overlap_until(a, na, b, nb, NEED_ALL, &found);
	return found;
}

bool
set_overlap_reaches(const uint64 *a, uint64 na,
					const uint64 *b, uint64 nb, uint64 need)
{
	uint64		found;

	return need <= Min(na, nb) && overlap_until(a, na, b, nb, need, &found);
}

uint64
set_union(const uint64 *a, uint64 na, const uint64 *b, uint64 nb,
		  uint64 *result)
{
	uint64		i = 0;
	uint64		j = 0;
	uint64		n = 0;

	Assert(result != a && result != b);
	while (i < na && j < nb)
	{
		CHECK_EVERY(n);
		result[n++] = Min(a[i], b[j]);
		if (a[i] == b[j])
			j++, i++;
		else if (a[i] < b[j])
			i++;
		else
			j++;
	}
	memcpy(result + n, a + i, (na - i) * sizeof(uint64));
	n += na - i;
	memcpy(result + n, b + j, (nb - j) * sizeof(uint64));
	return n + nb - j;
}

/* Write the members of a that are in b, or the members that are not. */
static inline uint64
select_members(const uint64 *a, uint64 na, const uint64 *b, uint64 nb,
			   bool in_b, uint64 *result)
{
	uint64		j = 0;
	uint64		n = 0;

	for (uint64 i = 0; i < na; i++)
	{
		CHECK_EVERY(i);
		while (j < nb && b[j] < a[i])
			j++;
		if ((j < nb && b[j] == a[i]) == in_b)
			result[n++] = a[i];
	}
	return n;
}

uint64
set_intersection(const uint64 *a, uint64 na, const uint64 *b, uint64 nb,
				 uint64 *result)
{
	return select_members(a, na, b, nb, true, result);
}

uint64
set_difference(const uint64 *a, uint64 na, const uint64 *b, uint64 nb,
			   uint64 *result)
{
	return select_members(a, na, b, nb, false, result);
}
