/*
 * view.h
 *		A lexicon made ready for many look-ups.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/corpus/view.h
 */
#ifndef NEARDUP_VIEW_H
#define NEARDUP_VIEW_H

#include "corpus/bag.h"
#include "corpus/lexicon.h"
#include "corpus/weights.h"

typedef struct LexiconView
{
	MemoryContext context;		/* owns all of it */
	bool		shared;			/* kept for later queries */
	int			users;			/* sites that use a shared one */
	const Lexicon *lexicon;
	uint64		id;				/* its id and number of words */
	size_t		nwords;
	int			shift;			/* from a hash to its bucket */
	uint32	   *starts;			/* of each bucket, and the end of the last */
	Weighting	weighting;		/* that weights are of */
	double	   *weights;		/* collection weights of entries, NaN where not
								 * yet computed; NULL = none */
} LexiconView;

/*
 * Makes a view, to which the context belongs from now on.  The lexicon must
 * stay where it is, or its new place be told with view_move() before the view
 * is used again.
 */
extern LexiconView *view_create(MemoryContext context, const Lexicon *lexicon);

/*
 * Views of large lexicons are kept from query to query: one at a time, and none
 * of more than VIEW_KEEP bytes.  view_share() makes a view of a lexicon of that
 * context the one that is kept, view_shared() finds the one that is, by the
 * lexicon's id and number of words; both count the caller as a user, until
 * view_release().
 */
#define VIEW_KEEP	(64 * 1024 * 1024)

extern LexiconView *view_share(MemoryContext context, const Lexicon *lexicon);
extern LexiconView *view_shared(uint64 id, size_t nwords);
extern void view_release(LexiconView *view);

/* The same lexicon is now here. */
static inline void
view_move(LexiconView *view, const Lexicon *lexicon)
{
	view->lexicon = lexicon;
}

/* Whether a lexicon is the one that is in the view. */
static inline bool
view_is_of(const LexiconView *view, const Lexicon *lexicon)
{
	return view->id == lexicon->id &&
		view->nwords == LEXICON_NWORDS(lexicon);
}

/*
 * Tells the processor that words of a bag are going to be looked up, all of
 * them one after the other: to be called before word i is.
 */
static inline void
view_expect(const LexiconView *view, const Bag *bag, size_t i)
{
#if defined(__GNUC__) || defined(__clang__)
	const BagWord *words = bag->words + i;

	if (i + 8 < bag->nwords)
		__builtin_prefetch(&view->starts[words[8].hash >> view->shift]);
	if (i + 4 < bag->nwords)
		__builtin_prefetch(&view->lexicon->entries[view->starts[words[4].hash >> view->shift]]);
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

/*
 * What a word weighs in the collection, under a weighting; computed once for
 * each word.
 */
extern double view_weight(LexiconView *view, const Weighting *weighting,
						  const LexiconEntry *entry);

#endif							/* NEARDUP_VIEW_H */
