/*
 * feature_filter.c
 *		Tells rows of one side that share too little with all of the other.
 *
 * Often a few rows are joined with a large table: what came today with all that is
 * there.  Of two sets that are near, each has a least number of features that the
 * other one has, too, whatever the other's size.  So once the rows of one side are
 * known, a row of the other side whose set does not have as many of all the features of
 * that side together can have no partner.  It is not kept, collapsed or ordered.
 * Of vectors it is the weight of these features that tells, of sketches their keys: see
 * Algorithm.may_have_partner.
 *
 * The features are bits of a table without chains (B. H. Bloom, "Space/time
 * trade-offs in hash coding with allowable errors", 1970, with one hash): one that was
 * not added may seem to be there, never the other way round, so no pair is lost.
 * Most sets that have no partner are told by their first few features.
 */
#include "postgres.h"

#include "base/interrupts.h"
#include "join/engine/arena.h"
#include "join/engine/feature_filter.h"

/*
 * Places for each feature: as long as a cache of the processor holds them, beyond
 * that, and if memory is short.  Where one key is enough to let a sketch pass, there
 * must be many.
 */
#define PLACES		64
#define LARGE_PLACES	8
#define MIN_PLACES	1
#define CACHED		((size_t) 512 * 1024)

/* If more than so many of so many sets passed, so many pass without a look. */
#define WINDOW		1024
#define MAX_PASSED	(WINDOW / 2)
#define IDLE		(WINDOW * 15)

bool
feature_filter_tells(double keys)
{
	return keys < PLACES;
}

void
feature_filter_create(FeatureFilter *filter, uint64 nfeatures, size_t most)
{
	uint64		places = 64;

	memset(filter, 0, sizeof(FeatureFilter));
	while (places * 2 / BITS_PER_BYTE <= most &&
		   places < nfeatures * (places / BITS_PER_BYTE < CACHED ? PLACES : LARGE_PLACES))
		places *= 2;
	if (places < nfeatures * MIN_PLACES)
		return;
	filter->bytes = places / BITS_PER_BYTE;
	filter->words = alloc_zeros(filter->bytes);
	probing_init(&filter->probing, places);
}

void
feature_filter_free(FeatureFilter *filter)
{
	if (filter->words != NULL)
		pfree(filter->words);
	filter->words = NULL;
	filter->bytes = 0;
}

void
feature_filter_add(FeatureFilter *filter, const uint64 *features, size_t n)
{
	for (size_t i = 0; i < n; i++)
	{
		size_t		place = probing_first(&filter->probing, features[i]);

		CHECK_EVERY(i);
		filter->words[place / 64] |= UINT64_C(1) << place % 64;
	}
}

bool
feature_filter_has_some(const FeatureFilter *filter, const uint64 *features,
						size_t n, uint64 least)
{
	uint64		may_miss = n - least;

	if (least > n)
		return false;
	for (size_t i = 0; i < n; i++)
	{
		CHECK_EVERY(i);
		if (!feature_filter_has(filter, features[i]) && may_miss-- == 0)
			return false;
	}
	return true;
}

void
feature_filter_note(FeatureFilter *filter, bool passed)
{
	filter->passed += passed;
	if (++filter->looked < WINDOW)
		return;
	filter->idle = filter->passed > MAX_PASSED ? IDLE : 0;
	filter->looked = filter->passed = 0;
}
