/*
 * probecount.c
 *		Probe-Count and its relatives: posting lists are merged.
 *
 * Probe-Count looks up all elements of the set that probes and merges their
 * posting lists with a heap, so that each indexed set comes up as often in a
 * row as it shares an element.
 *
 * Probe-optMerge (MergeOpt) does not merge the longest lists, as many as could
 * not be enough by themselves: what comes up in the others is looked up
 * in them, by steps that double and then bisection, from the shortest to the
 * longest, as long as there is hope.
 *
 * Probe-stopWords does not index the most frequent elements of all, and
 * lowers what is needed by those that two sets could share.  A set in which
 * they would be enough by themselves keeps them.
 *
 * S. Sarawagi, A. Kirpal, "Efficient set joins on similarity predicates",
 * SIGMOD 2004.
 */
#include "postgres.h"

#include "lib/binaryheap.h"
#include "miscadmin.h"

#include "join/algorithms/prefix_filter.h"
#include "join/classic/classic.h"

/* An element in more than one of so many sets is a stop word ... */
#define STOPWORD_SHARE		100
/* ... if it is in so many sets at least. */
#define STOPWORD_LEAST		8

/* A posting list, from the next posting on. */
typedef struct PostingList
{
	uint64		key;
	const Posting *at;
	const Posting *end;
	uint32		n;				/* postings of the bucket: its length, about */
} PostingList;

/* Passes over postings of other tokens and of sets that cannot be partners. */
static void
skip_others(const InvertedIndex *index, PostingList *list, uint32 sides)
{
	while (list->at < list->end &&
		   (list->at->key != list->key ||
			(INDEXED_SIDES(index, list->at->set) & sides) == 0))
	{
		CHECK_EVERY(list->end - list->at);
		list->at++;
	}
}

static PostingList
posting_list(const InvertedIndex *index, uint64 key, uint32 sides)
{
	const Bucket *bucket = setindex_bucket(index, key);
	PostingList list;

	list.key = key;
	list.at = &index->postings[bucket->start];
	list.end = list.at + bucket->n;
	list.n = bucket->n;
	skip_others(index, &list, sides);
	return list;
}

/* The lowest set first: binaryheap has the highest on top. */
static int
compare_lists(Datum a, Datum b, void *arg)
{
	const PostingList *x = (PostingList *) DatumGetPointer(a);
	const PostingList *y = (PostingList *) DatumGetPointer(b);

	return (x->at->set < y->at->set) - (x->at->set > y->at->set);
}

/* Takes the next set off the heap, with the number of lists that it is in. */
static uint32
next_set(Search *search, binaryheap *heap, uint32 sides, uint32 *count)
{
	PostingList *list = (PostingList *) DatumGetPointer(binaryheap_first(heap));
	uint32		set = list->at->set;

	*count = 0;
	while (!binaryheap_empty(heap))
	{
		list = (PostingList *) DatumGetPointer(binaryheap_first(heap));
		if (list->at->set != set)
			break;
		(*count)++;
		search->stats.visited++;
		list->at++;
		skip_others(&search->index, list, sides);
		if (list->at < list->end)
			binaryheap_replace_first(heap, PointerGetDatum(list));
		else
			binaryheap_remove_first(heap);
	}
	return set;
}

/* A heap of the lists that are not empty. */
static binaryheap *
heap_of(PostingList *lists, uint32 n)
{
	binaryheap *heap = binaryheap_allocate(Max(n, 1), compare_lists, NULL);

	for (uint32 i = 0; i < n; i++)
		if (lists[i].at < lists[i].end)
			binaryheap_add_unordered(heap, PointerGetDatum(&lists[i]));
	binaryheap_build(heap);
	return heap;
}

static void
add_candidate(InvertedIndex *index, uint32 set)
{
	index->candidates[index->ncandidates++] = set;
}

static PostingList *
lists_of(Search *search, const uint64 *keys, uint32 n, uint32 sides)
{
	PostingList *lists = MemoryContextAllocHuge(search->context,
												sizeof(PostingList) * Max(n, 1));

	for (uint32 i = 0; i < n; i++)
	{
		CHECK_EVERY(i);
		lists[i] = posting_list(&search->index, keys[i], sides);
	}
	return lists;
}

/* Probe-Count */

/*
 * Merges the lists of the first n keys of a set.  Of the others, `spare` may
 * be shared, too.
 */
static void
merge_lists(Search *search, const JoinSet *set, uint32 sides, uint32 n,
			uint32 spare)
{
	InvertedIndex *index = &search->index;
	PostingList *lists = lists_of(search, set->keys, n, sides);
	binaryheap *heap = heap_of(lists, n);

	while (!binaryheap_empty(heap))
	{
		uint32		count;
		uint32		found = next_set(search, heap, sides, &count);

		CHECK_FOR_INTERRUPTS();
		if (count + spare >= search_need(search, INDEXED_SIZE(index, found),
										  set->size))
			add_candidate(index, found);
	}
	binaryheap_free(heap);
	pfree(lists);
}

static void
probe_count_probe(Search *search, const JoinSet *set, uint32 sides)
{
	merge_lists(search, set, sides, set->nkeys, 0);
}

const Algorithm probe_count = {
	.name = "probe-count",
	.ordered = true,
	.sized = true,
	.most_indexed = all_keys_most,
	.most_keys = all_keys_most,
	.prepare = all_keys_prepare,
	.indexed_keys = all_keys_indexed,
	.probe = probe_count_probe,
	.announce = sets_announce,
	.may_have_partner = sets_may_have_partner,
	.verify = sets_verify,
	.reflexive = sets_reflexive,
};

/* Probe-optMerge */

/* True if the set is in the list, which is left where it would be. */
static bool
search_list(PostingList *list, uint32 set)
{
	int64		step = 1;
	int64		n = list->end - list->at;
	int64		low = 0;
	int64		high;

	while (step < n && list->at[step].set < set)
	{
		low = step;
		step *= 2;
	}
	high = Min(step + 1, n);
	while (low < high)
	{
		int64		middle = low + (high - low) / 2;

		if (list->at[middle].set < set)
			low = middle + 1;
		else
			high = middle;
	}
	list->at += low;
	for (const Posting *at = list->at; at < list->end && at->set == set; at++)
		if (at->key == list->key)
			return true;
	return false;
}

#define ST_SORT sort_by_length
#define ST_ELEMENT_TYPE PostingList
#define ST_COMPARE(a, b) (((a)->n > (b)->n) - ((a)->n < (b)->n))
#define ST_SCOPE static
#define ST_CHECK_FOR_INTERRUPTS
#define ST_DEFINE
#include "lib/sort_template.h"

static void
probe_optmerge_probe(Search *search, const JoinSet *set, uint32 sides)
{
	InvertedIndex *index = &search->index;
	PostingList *lists = lists_of(search, set->keys, set->nkeys, sides);
	uint32		least = set->size - search_probing_prefix(search, set->size) + 1;
	uint32		merged = set->nkeys - Min(least - 1, set->nkeys);
	binaryheap *heap;

	/* the shortest lists are merged, the others searched in that order */
	sort_by_length(lists, set->nkeys);
	heap = heap_of(lists, merged);
	while (!binaryheap_empty(heap))
	{
		uint32		count;
		uint32		found = next_set(search, heap, sides, &count);
		uint32		need = search_need(search, INDEXED_SIZE(index, found),
										set->size);

		CHECK_FOR_INTERRUPTS();
		for (uint32 i = merged; i < set->nkeys && count < need &&
			 count + (set->nkeys - i) >= need; i++)
			count += search_list(&lists[i], found);
		if (count >= need)
			add_candidate(index, found);
	}
	binaryheap_free(heap);
	pfree(lists);
}

const Algorithm probe_optmerge = {
	.name = "probe-optmerge",
	.ordered = true,
	.sized = true,
	.most_indexed = all_keys_most,
	.most_keys = all_keys_most,
	.prepare = all_keys_prepare,
	.indexed_keys = all_keys_indexed,
	.probe = probe_optmerge_probe,
	.announce = sets_announce,
	.may_have_partner = sets_may_have_partner,
	.verify = sets_verify,
	.reflexive = sets_reflexive,
};

/* Probe-stopWords */

/* The least frequency of a stop word. */
static uint32
stopword_frequency(Search *search)
{
	return Min(Max(search->stats.distinct / STOPWORD_SHARE, STOPWORD_LEAST),
			   UINT16_MAX);
}

/* How many stop words a set has: they are the last of its keys. */
static uint32
count_stopwords(Search *search, const JoinSet *set)
{
	uint64		least = (uint64) stopword_frequency(search) << TOKEN_HASH_BITS;
	uint32		n = 0;

	while (n < set->nkeys && set->keys[set->nkeys - n - 1] >= least)
		n++;
	return n;
}

/* True if stop words alone could make the set near to another. */
static bool
keeps_stopwords(Search *search, const JoinSet *set, uint32 stopwords)
{
	double		t = search->threshold;

	return stopwords >= measure_least_overlap(search->measure, set->size, t) ||
		stopwords >= measure_least_overlap(measure_commute(search->measure),
										   set->size, t);
}

static uint32
probe_stopwords_indexed(Search *search, const JoinSet *set)
{
	uint32		stopwords = count_stopwords(search, set);

	return keeps_stopwords(search, set, stopwords) ? set->nkeys :
		set->nkeys - stopwords;
}

static void
probe_stopwords_probe(Search *search, const JoinSet *set, uint32 sides)
{
	merge_lists(search, set, sides, probe_stopwords_indexed(search, set),
				count_stopwords(search, set));
}

const Algorithm probe_stopwords = {
	.name = "probe-stopwords",
	.ordered = true,
	.sized = true,
	.most_indexed = all_keys_most,
	.most_keys = all_keys_most,
	.prepare = all_keys_prepare,
	.indexed_keys = probe_stopwords_indexed,
	.probe = probe_stopwords_probe,
	.announce = sets_announce,
	.may_have_partner = sets_may_have_partner,
	.verify = sets_verify,
	.reflexive = sets_reflexive,
};
