/*
 * view.c
 *		A lexicon made ready for many look-ups.
 *
 * Hashes are spread evenly, so their leading bits tell about where in the
 * sorted array a word stands: there are as many buckets as words, and a
 * look-up reads one place of the directory and one or two entries.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/corpus/view.c
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "utils/float.h"
#include "utils/memutils.h"

#include "corpus/view.h"

/* Fills in where the entries of each bucket begin. */
static void
fill_starts(LexiconView *view)
{
	size_t		nbuckets = (size_t) 1 << (64 - view->shift);
	size_t		bucket = 0;

	for (size_t i = 0; i < view->nwords; i++)
	{
		size_t		mine = view->lexicon->entries[i].hash >> view->shift;

		if (i % 65536 == 0)
			CHECK_FOR_INTERRUPTS();
		while (bucket <= mine)
			view->starts[bucket++] = i;
	}
	while (bucket <= nbuckets)
		view->starts[bucket++] = view->nwords;
}

LexiconView *
view_create(MemoryContext context, const Lexicon *lexicon)
{
	LexiconView *view = MemoryContextAllocZero(context, sizeof(LexiconView));
	int			bits;

	view->context = context;
	view->lexicon = lexicon;
	view->id = lexicon->id;
	view->nwords = LEXICON_NWORDS(lexicon);
	bits = pg_leftmost_one_pos64(view->nwords + 1) + 1;
	view->shift = 64 - bits;
	view->starts = MemoryContextAllocHuge(context,
										  (((size_t) 1 << bits) + 1) * sizeof(uint32));
	fill_starts(view);
	return view;
}

/* The view that is kept, or NULL. */
static LexiconView *kept = NULL;

/* A user less; what nobody uses and nobody can find is freed. */
void
view_release(LexiconView *view)
{
	Assert(view->shared && view->users > 0);
	view->users--;
	if (view->users == 0 && view != kept)
		MemoryContextDelete(view->context);
}

LexiconView *
view_share(MemoryContext context, const Lexicon *lexicon)
{
	LexiconView *view = view_create(context, lexicon);
	LexiconView *before = kept;

	MemoryContextSetParent(context, CacheMemoryContext);
	view->shared = true;
	view->users = 1;
	kept = view;
	if (before != NULL && before->users == 0)
		MemoryContextDelete(before->context);
	return view;
}

LexiconView *
view_shared(uint64 id, size_t nwords)
{
	if (kept == NULL || kept->id != id || kept->nwords != nwords)
		return NULL;
	kept->users++;
	return kept;
}

double
view_weight(LexiconView *view, const Weighting *weighting,
			const LexiconEntry *entry)
{
	size_t		i = entry - view->lexicon->entries;

	if (view->weights == NULL)
		view->weights = MemoryContextAllocHuge(view->context,
											   view->nwords * sizeof(double));
	if (memcmp(&view->weighting, weighting, sizeof(Weighting)) != 0)
	{
		view->weighting = *weighting;
		for (size_t j = 0; j < view->nwords; j++)
			view->weights[j] = get_float8_nan();
	}
	if (isnan(view->weights[i]))
		view->weights[i] = weight_in_collection(weighting, view->lexicon,
												entry->df, entry->cf);
	return view->weights[i];
}
