/*
 * feature_filter.h
 *		Tells rows of one side that share too little with all of the other.
 */
#ifndef NEARDUP_FEATURE_FILTER_H
#define NEARDUP_FEATURE_FILTER_H

#include "base/linear_probing.h"

/* How many times as large as the side in the filter the other one has to be. */
#define FILTER_RATIO	4

/* Features, or whatever else near sets have in common, of the side known first. */
typedef struct FeatureFilter
{
	uint64	   *words;			/* a bit for each place; NULL: there is no filter */
	size_t		bytes;			/* of these */
	Probing		probing;		/* the place of a feature */
	uint32		looked;			/* sets that were looked at lately */
	uint32		passed;			/* of these, passed */
	uint32		idle;			/* sets that pass without a look */
} FeatureFilter;

/* True if it pays to have one by so many rows for so many others. */
static inline bool
feature_filter_pays(double rows, double others)
{
	return rows * FILTER_RATIO <= others;
}

/*
 * False if of so many keys that a set is looked for by, any of which is enough, some seem to
 * be there in whatever filter: then nearly all sets pass, and few are looked at.
 */
extern bool feature_filter_tells(double keys);

/*
 * Makes an empty filter for so many features, those that several sets have counted
 * several times, in the current memory context; none if it would take more than
 * `most` bytes.  And frees it.
 */
extern void feature_filter_create(FeatureFilter *filter, uint64 nfeatures,
								  size_t most);
extern void feature_filter_free(FeatureFilter *filter);

extern void feature_filter_add(FeatureFilter *filter, const uint64 *features,
							   size_t n);

/* True if a feature has been added, or if it seems so. */
static inline bool
feature_filter_has(const FeatureFilter *filter, uint64 feature)
{
	size_t		place = probing_first(&filter->probing, feature);

	return (filter->words[place / 64] >> place % 64 & 1) != 0;
}

/* True if `least` of n features have been added, or if it seems so. */
extern bool feature_filter_has_some(const FeatureFilter *filter,
									const uint64 *features, size_t n,
									uint64 least);

/*
 * Whether the next set is to be looked at, and that it was and has passed or not:
 * where most sets pass, most of the time none is.
 */
static inline bool
feature_filter_looks(FeatureFilter *filter)
{
	if (filter->words == NULL)
		return false;
	if (filter->idle == 0)
		return true;
	filter->idle--;
	return false;
}

extern void feature_filter_note(FeatureFilter *filter, bool passed);

#endif							/* NEARDUP_FEATURE_FILTER_H */
