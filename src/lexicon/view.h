/*
 * view.h
 *		A lexicon prepared for many look-ups.
 */
#ifndef NEARDUP_VIEW_H
#define NEARDUP_VIEW_H

#include "lexicon/lexicon.h"
#include "lexicon/weights.h"

/* Weights in the collection, NaN where not yet computed. */
typedef struct CollectionWeights
{
	Weighting	weighting;
	double	   *weights;		/* NULL: none */
} CollectionWeights;

typedef struct LexiconView
{
	MemoryContext context;		/* owns all of it */
	bool		shared;			/* the cache may have it */
	bool		kept;			/* and has */
	int			users;			/* sites that use a shared one */
	const Lexicon *lexicon;
	uint64		id;				/* its id and number of words */
	size_t		nwords;
	int			shift;			/* from a hash to its bucket */
	uint32	   *starts;			/* of each bucket, and the end of the last */
	CollectionWeights computed[WEIGHT_KINDS];	/* one of each kind */
	const double *current;		/* the weights used last, or NULL */
} LexiconView;

/*
 * Return a new view, which owns the context.  If the lexicon moves, call
 * view_move() before the view is used again.
 */
extern LexiconView *view_create(MemoryContext context, const Lexicon *lexicon);

/*
 * A cache of views from query to query, of the last used ones, for lexicons that
 * are stored out of line.  view_share() adds a view of a lexicon of that context;
 * view_shared() finds one by the lexicon's id and number of words.  Both count the
 * caller as a user until view_release().
 */
#define VIEWS_KEPT	16
#define VIEW_KEEP	(64 * 1024 * 1024)

extern LexiconView *view_share(MemoryContext context, const Lexicon *lexicon);
extern LexiconView *view_shared(uint64 id, size_t nwords);
extern void view_release(LexiconView *view);

static inline void
view_move(LexiconView *view, const Lexicon *lexicon)
{
	view->lexicon = lexicon;
}

static inline bool
view_is_of(const LexiconView *view, const Lexicon *lexicon)
{
	return view->id == lexicon->id &&
		view->nwords == LEXICON_NWORDS(lexicon);
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

/* The entry of a word, or NULL. */
static inline const LexiconEntry *
view_find(const LexiconView *view, uint64 hash)
{
	size_t		bucket = hash >> view->shift;
	const LexiconEntry *entry = &view->lexicon->entries[view->starts[bucket]];
	const LexiconEntry *end = &view->lexicon->entries[view->starts[bucket + 1]];

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
