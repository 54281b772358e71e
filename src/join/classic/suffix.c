/*
 * suffix.c
 *		The suffix filter of PPJoin+.
 *
 * What stands behind the first token that two sets share must not differ in
 * more than Hmax elements.  A lower bound of that Hamming distance is found by
 * bisection: the middle element w of one suffix splits both; what is left of
 * w can only be matched with what is left of it, and the same on the right,
 * so the sizes of the parts tell how many elements have no partner at least.
 * The parts are split again, MAXDEPTH times.
 *
 * Elements that are equal (tokens of one key) are split before the first of
 * them, in both suffixes alike.
 *
 * C. Xiao, W. Wang, X. Lin, J. X. Yu, "Efficient similarity joins for near
 * duplicate detection", WWW 2008, algorithm 4.
 */
#include "postgres.h"

#include "join/classic/classic.h"

#define MAXDEPTH	2			/* the paper's best */

/* Number of elements below the key. */
static int64
lower_bound(const uint64 *keys, int64 n, uint64 key)
{
	int64		low = 0;

	while (n > 0)
	{
		int64		half = n / 2;

		if (keys[low + half] < key)
		{
			low += half + 1;
			n -= half + 1;
		}
		else
			n = half;
	}
	return low;
}

static int64
distance(int64 a, int64 b)
{
	return a > b ? a - b : b - a;
}

/*
 * A lower bound of the Hamming distance of two suffixes, or anything above
 * Hmax if it is above.
 */
static int64
suffix_distance(const uint64 *x, int64 nx, const uint64 *y, int64 ny,
				int64 Hmax, int depth)
{
	int64		mid;
	int64		at;
	int64		differ;
	int64		left;
	int64		right;
	int64		H;

	if (depth > MAXDEPTH || nx == 0 || ny == 0 || distance(nx, ny) > Hmax)
		return distance(nx, ny);
	mid = lower_bound(y, ny, y[ny / 2]);
	at = lower_bound(x, nx, y[mid]);
	differ = at == nx || x[at] != y[mid];	/* w has no partner */

	left = distance(at, mid);
	right = distance(nx - at - !differ, ny - mid - 1);
	H = left + right + differ;
	if (H > Hmax)
		return H;
	left = suffix_distance(x, at, y, mid, Hmax - right - differ, depth + 1);
	H = left + right + differ;
	if (H > Hmax)
		return H;
	right = suffix_distance(x + at + !differ, nx - at - !differ,
							y + mid + 1, ny - mid - 1,
							Hmax - left - differ, depth + 1);
	return left + right + differ;
}

/* False if two suffixes certainly differ in more than Hmax elements. */
bool
suffixes_allow(const uint64 *x, int64 nx, const uint64 *y, int64 ny,
			   int64 Hmax)
{
	return Hmax >= 0 && suffix_distance(x, nx, y, ny, Hmax, 1) <= Hmax;
}
