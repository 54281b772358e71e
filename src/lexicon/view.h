/*
 * view.h
 *		A lexicon prepared for many look-ups.
 */
#ifndef NEARDUP_VIEW_H
#define NEARDUP_VIEW_H

#include "lexicon/lexicon.h"
#include "lexicon/weights.h"

/* Weights of words in the collection; NaN is a weight not computed yet */
typedef struct CollectionWeights
{
	Weighting	weighting;
	double	   *weights;		/* weights of all entries; NULL = none are
								 * computed */
} CollectionWeights;

/* A lexicon and its directory */
typedef struct LexiconView
{
	MemoryContext context;		/* owns this struct and its arrays */
	int			users;			/* callers that have not released it */
	bool		cached;			/* the cache holds the view */
	const Lexicon *lexicon;		/* the lexicon; set again by a user whose
								 * lexicon moves */
	uint64		id;				/* id of the lexicon */
	size_t		nwords;			/* number of words of the lexicon */
	int			shift;			/* hash >> shift is the bucket of a hash */
	uint32	   *starts;			/* first entry of each bucket, and the end of
								 * the last bucket */
	CollectionWeights computed[WEIGHT_KINDS];	/* weights by kind of
												 * weighting */
	const double *current;		/* weights used last, or NULL */
} LexiconView;

/*
 * Return a new view of a lexicon that the caller owns, until view_release().
 */
extern LexiconView *view_create(const Lexicon *lexicon);

/* Limits of the session's cache: number of views, and their bytes */
#define VIEWS_CACHED	16
#define VIEW_CACHE_SIZE	(64 * 1024 * 1024)

/*
 * Return a view of a lexicon that is stored out of line, until view_release().
 * The lexicon is fetched, unless it is in the session's cache of the views
 * used last.
 */
extern LexiconView *view_fetch(struct varlena *stored);

/*
 * Release a view, which is freed when it has no users and is not in the cache.
 */
extern void view_release(LexiconView *view);

/* True if the view is of this lexicon. */
static inline bool
view_is_of(const LexiconView *view, const Lexicon *lexicon)
{
	return view->id == lexicon->id && view->nwords == LEXICON_NWORDS(lexicon);
}

/* Prefetch for later words of a bag, before word i is looked up. */
static inline void
view_expect(const LexiconView *view, const Bag *bag, size_t i)
{
#if defined(__GNUC__) || defined(__clang__)
	const BagWord *words = bag->words + i;

	if (i + 8 < bag->nwords)
		__builtin_prefetch(&view->starts[words[8].hash >> view->shift]);
	if (i + 4 < bag->nwords)
	{
		uint32		start = view->starts[words[4].hash >> view->shift];

		__builtin_prefetch(&view->lexicon->entries[start]);
		if (view->current != NULL)
			__builtin_prefetch(&view->current[start]);
	}
#endif
}

/* Return the entry of a word, or NULL. */
static inline const LexiconEntry *
view_find(const LexiconView *view, uint64 hash)
{
	size_t		bucket = hash >> view->shift;
	const LexiconEntry *entry = &view->lexicon->entries[view->starts[bucket]];
	const LexiconEntry *end =
	&view->lexicon->entries[view->starts[bucket + 1]];

	for (; entry < end; entry++)
	{
		if (entry->hash >= hash)
			return entry->hash == hash ? entry : NULL;
	}
	return NULL;
}

/* Return a word's weight in the collection, which is computed once. */
extern double view_weight(LexiconView *view, const Weighting *weighting,
						  const LexiconEntry *entry);

#endif							/* NEARDUP_VIEW_H */
