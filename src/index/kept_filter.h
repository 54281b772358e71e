/*
 * kept_filter.h
 *		The words of a segment's filter as a session keeps them, smaller the less
 *		memory there is for them.
 *
 * Whole, the filter takes a byte for each key.  Level 1 has each two words as one,
 * with the bits of both, and tells most of what the whole one does.  Each level from
 * there on has half as many bits of each of these: those that are left out are taken to
 * be set, so that fewer keys are told to be missing, and none wrongly.  This tells
 * about twice as much as the words of a part of the range of keys in the same memory.
 */
#ifndef NEARDUP_KEPT_FILTER_H
#define NEARDUP_KEPT_FILTER_H

/* Levels; at the last one, nothing is kept. */
#define KEPT_FILTER_WHOLE	0
#define KEPT_FILTER_NONE	5

typedef struct KeptFilter
{
	uint64	   *words;			/* or NULL */
	uint32		nwords;			/* of the segment's filter */
	int			level;
} KeptFilter;

/* How many words in memory there are for those of the filter. */
static inline uint32
kept_filter_size(uint32 nwords, int level)
{
	if (nwords == 0 || level == KEPT_FILTER_NONE)
		return 0;
	return ((nwords - 1) >> level) + 1;
}

/* How many bits a word of the filter has from which on in a word in memory. */
static inline int
kept_filter_width(int level)
{
	return level <= 1 ? 64 : 64 >> (level - 1);
}

static inline int
kept_filter_offset(uint32 word, int level)
{
	return (word & ((1 << level) - 1)) / 2 * kept_filter_width(level);
}

/* Where a word of the filter is. */
static inline const uint64 *
kept_filter_at(const KeptFilter *filter, uint32 word)
{
	return &filter->words[word >> filter->level];
}

/* The bits of a word, with all that are not known. */
static inline uint64
kept_filter_word(const KeptFilter *filter, uint32 word)
{
	uint64		bits = *kept_filter_at(filter, word);

	if (filter->level <= 1)
		return bits;
	return bits >> kept_filter_offset(word, filter->level) |
		PG_UINT64_MAX << kept_filter_width(filter->level);
}

/* Adds the bits of a word, as far as they are kept. */
static inline void
kept_filter_put(KeptFilter *filter, uint32 word, uint64 bits)
{
	if (filter->level > 1)
		bits = (bits & ~(PG_UINT64_MAX << kept_filter_width(filter->level))) <<
			kept_filter_offset(word, filter->level);
	filter->words[word >> filter->level] |= bits;
}

#endif							/* NEARDUP_KEPT_FILTER_H */
