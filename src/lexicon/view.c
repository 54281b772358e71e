/*
 * view.c
 *		A lexicon prepared for many look-ups.
 *
 * Hashes are uniform, so their leading bits are buckets, as many as words: a
 * look-up reads one place of the directory and one or two entries.
 */
#include "postgres.h"

#include <math.h>

#include "access/xact.h"
#include "executor/nodeHash.h"
#include "port/pg_bitutils.h"
#include "utils/float.h"
#include "utils/memutils.h"

#include "base/interrupts.h"
#include "lexicon/view.h"

/* Fills in where the entries of each bucket begin. */
static void
fill_starts(LexiconView *view)
{
	size_t		nbuckets = (size_t) 1 << (64 - view->shift);
	size_t		bucket = 0;

	for (size_t i = 0; i < view->nwords; i++)
	{
		size_t		mine = view->lexicon->entries[i].hash >> view->shift;

		CHECK_EVERY(i);
		while (bucket <= mine)
			view->starts[bucket++] = i;
	}
	while (bucket <= nbuckets)
		view->starts[bucket++] = view->nwords;
	Assert(bucket == nbuckets + 1);
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

/* The cache, the last used first. */
static LexiconView *kept[VIEWS_KEPT];
static int	nkept = 0;

/* Move a view, number i of the cache or new, to the front. */
static void
put_first(LexiconView *view, int i)
{
	memmove(&kept[1], &kept[0], i * sizeof(LexiconView *));
	kept[0] = view;
}

/* Drop a user; free a view without users that is not in the cache. */
void
view_release(LexiconView *view)
{
	Assert(view->shared && view->users > 0);
	view->users--;
	if (view->users == 0 && !view->kept)
		MemoryContextDelete(view->context);
}

/* Remove the least recently used view from the cache. */
static void
shed_last(void)
{
	LexiconView *last = kept[--nkept];

	last->kept = false;
	if (last->users == 0)
		MemoryContextDelete(last->context);
}

/* Limit the memory of all cached views. */
static void
shed(Size most)
{
	Size		bytes = 0;

	for (int i = 0; i < nkept; i++)
		bytes += MemoryContextMemAllocated(kept[i]->context, true);
	while (nkept > 0 && bytes > most)
	{
		bytes -= MemoryContextMemAllocated(kept[nkept - 1]->context, true);
		shed_last();
	}
}

/* Between transactions the cache takes what a hash table may. */
static void
end_transaction(XactEvent event, void *arg)
{
	if (event != XACT_EVENT_PRE_COMMIT &&
		event != XACT_EVENT_PARALLEL_PRE_COMMIT &&
		event != XACT_EVENT_PRE_PREPARE)
		shed(Min(VIEW_KEEP, get_hash_memory_limit()));
}

LexiconView *
view_share(MemoryContext context, const Lexicon *lexicon)
{
	static bool registered = false;
	LexiconView *view = view_create(context, lexicon);

	if (!registered)
		RegisterXactCallback(end_transaction, NULL);
	registered = true;
	MemoryContextSetParent(context, CacheMemoryContext);
	Assert(nkept <= VIEWS_KEPT);
	view->shared = view->kept = true;
	view->users = 1;
	if (nkept == VIEWS_KEPT)
		shed_last();
	put_first(view, nkept++);
	shed(VIEW_KEEP);
	return view;
}

LexiconView *
view_shared(uint64 id, size_t nwords)
{
	for (int i = 0; i < nkept; i++)
	{
		LexiconView *view = kept[i];

		if (view->id == id && view->nwords == nwords)
		{
			view->users++;
			put_first(view, i);
			return view;
		}
	}
	return NULL;
}

/* Prepare the weights of another weighting of a kind, none of them computed. */
static void
reset_weights(LexiconView *view, CollectionWeights *computed,
			  const Weighting *weighting)
{
	if (computed->weights == NULL)
	{
		computed->weights = MemoryContextAllocHuge(view->context,
												   view->nwords * sizeof(double));
		if (view->kept)
			shed(VIEW_KEEP);
	}
	for (size_t i = 0; i < view->nwords; i++)
	{
		CHECK_EVERY(i);
		computed->weights[i] = get_float8_nan();
	}
	/* only now: the view stays after an error */
	computed->weighting = *weighting;
}

double
view_weight(LexiconView *view, const Weighting *weighting,
			const LexiconEntry *entry)
{
	CollectionWeights *computed = &view->computed[weighting->kind];
	size_t		i = entry - view->lexicon->entries;

	Assert(weighting->kind < WEIGHT_KINDS && i < view->nwords);
	if (computed->weights == NULL ||
		memcmp(&computed->weighting, weighting, sizeof(Weighting)) != 0)
		reset_weights(view, computed, weighting);
	view->current = computed->weights;
	if (isnan(computed->weights[i]))
		computed->weights[i] = weight_in_collection(weighting, view->lexicon,
													entry->df, entry->cf);
	return computed->weights[i];
}
