/*
 * view.c
 *		A lexicon prepared for many look-ups.
 *
 * Hashes are uniform, so buckets by their leading bits have about one word
 * each: a look-up reads one place of the directory and one or two entries.
 */
#include "postgres.h"

#include <math.h>

#include "access/detoast.h"
#include "access/xact.h"
#include "executor/nodeHash.h"
#include "port/pg_bitutils.h"
#include "utils/float.h"
#include "utils/memutils.h"

#include "base/interrupts.h"
#include "lexicon/view.h"

/* Compute the start of the entries of each bucket. */
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

/* Make a view in a memory context, which the view owns. */
static LexiconView *
create_in(MemoryContext context, const Lexicon *lexicon)
{
	LexiconView *view = MemoryContextAllocZero(context, sizeof(LexiconView));
	int			bits;

	view->context = context;
	view->users = 1;
	view->lexicon = lexicon;
	view->id = lexicon->id;
	view->nwords = LEXICON_NWORDS(lexicon);
	bits = pg_leftmost_one_pos64(view->nwords + 1) + 1;
	view->shift = 64 - bits;
	view->starts = MemoryContextAllocHuge(context,
										  (((size_t) 1 << bits) +
										   1) * sizeof(uint32));
	fill_starts(view);
	/* only now, so that an error before frees it */
	MemoryContextSetParent(context, CacheMemoryContext);
	return view;
}

/*
 * Return a memory context for a view, which an error frees until the view is
 * complete.
 */
static MemoryContext
create_context(void)
{
	return AllocSetContextCreate(CurrentMemoryContext, "neardup lexicon",
								 ALLOCSET_DEFAULT_SIZES);
}

LexiconView *
view_create(const Lexicon *lexicon)
{
	return create_in(create_context(), lexicon);
}

/* The cache; the view used last is first */
static LexiconView *cache[VIEWS_CACHED];
static int	ncached = 0;

/*
 * Put a view first: from place i of the cache, or a new one with i views
 * before it.
 */
static void
put_first(LexiconView *view, int i)
{
	memmove(&cache[1], &cache[0], i * sizeof(LexiconView *));
	cache[0] = view;
}

void
view_release(LexiconView *view)
{
	Assert(view->users > 0);
	view->users--;
	if (view->users == 0 && !view->cached)
		MemoryContextDelete(view->context);
}

/* Remove the view at the end of the cache. */
static void
uncache_last(void)
{
	LexiconView *last = cache[--ncached];

	last->cached = false;
	if (last->users == 0)
		MemoryContextDelete(last->context);
}

/* Remove views used least recently until the others fit into `most` bytes. */
static void
shrink_cache(Size most)
{
	Size		bytes = 0;
	int			i;

	for (i = 0; i < ncached; i++)
	{
		bytes += MemoryContextMemAllocated(cache[i]->context, true);
		if (bytes > most)
			break;
	}
	while (ncached > i)
		uncache_last();
}

/* Between transactions the cache is limited to the memory of a hash table. */
static void
end_transaction(XactEvent event, void *arg)
{
	if (event != XACT_EVENT_PRE_COMMIT &&
		event != XACT_EVENT_PARALLEL_PRE_COMMIT &&
		event != XACT_EVENT_PRE_PREPARE)
		shrink_cache(Min(VIEW_CACHE_SIZE, get_hash_memory_limit()));
}

/* Add a new view to the cache, which drops others as needed. */
static void
add_to_cache(LexiconView *view)
{
	static bool registered = false;

	if (!registered)
		RegisterXactCallback(end_transaction, NULL);
	registered = true;
	if (ncached == VIEWS_CACHED)
		uncache_last();
	view->cached = true;
	put_first(view, ncached++);
	shrink_cache(VIEW_CACHE_SIZE);
}

LexiconView *
view_fetch(struct varlena *stored)
{
	const Lexicon *header = lexicon_header(PointerGetDatum(stored));
	MemoryContext context;
	MemoryContext old;
	LexiconView *view;

	for (int i = 0; i < ncached; i++)
	{
		view = cache[i];
		if (view_is_of(view, header))
		{
			view->users++;
			put_first(view, i);
			return view;
		}
	}
	context = create_context();
	old = MemoryContextSwitchTo(context);
	view = create_in(context, (Lexicon *) detoast_attr(stored));
	MemoryContextSwitchTo(old);
	if (VARSIZE(view->lexicon) <= VIEW_CACHE_SIZE)
		add_to_cache(view);
	return view;
}

/* Reset the weights of a kind, for another weighting. */
static void
reset_weights(LexiconView *view, CollectionWeights *computed,
			  const Weighting *weighting)
{
	if (computed->weights == NULL)
	{
		computed->weights = MemoryContextAllocHuge(view->context,
												   view->nwords * sizeof(double));
		if (view->cached)
			shrink_cache(VIEW_CACHE_SIZE);
	}
	for (size_t i = 0; i < view->nwords; i++)
	{
		CHECK_EVERY(i);
		computed->weights[i] = get_float8_nan();
	}
	/* only now, since the view remains after an error */
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
