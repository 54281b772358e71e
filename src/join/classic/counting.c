/*
 * counting.c
 *		Algorithms of the papers that count shared elements.
 */
#include "postgres.h"

#include "lib/binaryheap.h"
#include "miscadmin.h"

#include "base/linear_probing.h"
#include "join/algorithms/prefix_join.h"
#include "join/classic/classic.h"
#include "join/engine/arena.h"

/*
 * Pair-Count: every posting list yields all of its pairs
 *
 * The pairs of sets in each posting list are counted in a hash table; a pair
 * that has been counted often enough is a candidate.  The table has the pairs
 * of a range of probing sets at a time, as many as fit, and the lists are read
 * once for each range.
 *
 * A set that is not in the index itself (it is read from disk, or the measure
 * is not symmetric) has its own counters.
 *
 * S.  Sarawagi, A.  Kirpal, "Efficient set joins on similarity predicates",
 * SIGMOD 2004.
 */

/* The part of the memory that the table may have. */
#define TABLE_SHARE		8

typedef struct PairCount
{
	uint32		low;			/* number of the set that is in the index */
	uint32		high;			/* number of the set that probes */
	uint32		count;			/* shared elements; 0: a free slot */
} PairCount;

typedef struct PairTable
{
	PairCount  *pairs;			/* hash table, then sorted by high */
	size_t		slots;
	Probing		probing;		/* probing of the slots */
	uint64		npairs;
	uint64		next;			/* next pair to emit */
	uint32		begin;			/* probing sets of the range */
	uint32		end;
} PairTable;

/* Number of pairs of a set with earlier ones, once for each shared element. */
static uint64
pairs_of(JoinSearch *search, uint32 number)
{
	const JoinSet *set = &search->sets[number];
	uint64		n = 0;

	Assert(number < search->nsets);
	for (uint32 i = 0; i < set->nkeys; i++)
	{
		const Bucket *bucket = inverted_index_bucket(&search->index,
													 set->keys[i]);

		CHECK_EVERY(i);
		/* from the beginning of the bucket to this set's own posting */
		for (uint32 j = 0; j < bucket->n; j++)
		{
			CHECK_EVERY(j);
			if (search->index.postings[bucket->start + j].set >= number)
				break;
			n++;
		}
	}
	return n;
}

/* Count one pair. */
static void
count_pair(PairTable *table, uint32 low, uint32 high)
{
	size_t		slot = probing_first(&table->probing,
									 (uint64) high << 32 | low);
	PairCount  *pair = &table->pairs[slot];

	Assert(low < high && high >= table->begin && high < table->end);
	while (pair->count != 0 && (pair->low != low || pair->high != high))
	{
		slot = probing_next(&table->probing, slot);
		pair = &table->pairs[slot];
	}
	pair->low = low;
	pair->high = high;
	pair->count++;
}

/* Count the pairs of one bucket whose probing set is in the range. */
static void
count_bucket(JoinSearch *search, PairTable *table, const Bucket *bucket)
{
	const Posting *postings = &search->index.postings[bucket->start];

	for (uint32 i = 0; i < bucket->n; i++)
	{
		const Posting *high = &postings[i];

		if (high->set < table->begin || high->set >= table->end)
			continue;
		CHECK_FOR_INTERRUPTS();
		for (uint32 j = 0; j < i; j++)
		{
			CHECK_EVERY(j);
			if (postings[j].key == high->key && postings[j].set != high->set)
				count_pair(table, postings[j].set, high->set);
		}
		search->stats.visited += i;
	}
}

/* Compare pairs by the probing set, then by the indexed one. */
static int
compare_pairs(const PairCount *x, const PairCount *y)
{
	if (x->high != y->high)
		return x->high < y->high ? -1 : 1;
	return (x->low > y->low) - (x->low < y->low);
}

#define ST_SORT sort_pairs
#define ST_ELEMENT_TYPE PairCount
#define ST_COMPARE(a, b) compare_pairs(a, b)
#define ST_SCOPE static
#define ST_CHECK_FOR_INTERRUPTS
#define ST_DEFINE
#include "lib/sort_template.h"

/* Keep the pairs that share enough, in the order of probing sets. */
static void
keep_near(JoinSearch *search, PairTable *table)
{
	table->npairs = table->next = 0;
	for (uint64 i = 0; i < table->slots; i++)
	{
		PairCount	pair = table->pairs[i];

		CHECK_EVERY(i);
		if (pair.count != 0 &&
			pair.count >= search_need(search,
									  INDEXED_SIZE(&search->index, pair.low),
									  INDEXED_SIZE(&search->index, pair.high)))
			table->pairs[table->npairs++] = pair;
	}
	sort_pairs(table->pairs, table->npairs);
}

/* Count the pairs of the next range of sets, from `begin` on. */
static void
count_range(JoinSearch *search, PairTable *table, uint32 begin)
{
	uint64		nbuckets = UINT64CONST(1) << (64 - search->index.shift);
	uint64		most = search->memory / TABLE_SHARE / (2 * sizeof(PairCount));
	uint64		n = 0;

	table->begin = table->end = begin;
	do
	{
		CHECK_FOR_INTERRUPTS();
		n += pairs_of(search, table->end++);
	} while (table->end < search->nsets && n < most);
	table->slots = probing_places(n);
	probing_init(&table->probing, table->slots);
	if (table->pairs != NULL)
		pfree(table->pairs);
	table->pairs = NULL;
	table->pairs = alloc_zeros(table->slots * sizeof(PairCount));
	for (uint64 i = 0; i < nbuckets; i++)
		count_bucket(search, table, &search->index.buckets[i]);
	keep_near(search, table);
}

/*
 * Algorithm.probe: the counted pairs of the set; or its own counters, if it
 * is not in the index.
 */
static void
pair_count_probe(JoinSearch *search, const JoinSet *set, uint32 sides)
{
	InvertedIndex *index = &search->index;
	PairTable  *table = search->chunk_state;
	uint32		number = index->limit;

	if (!search->symmetric || number == search->nsets)
	{
		all_keys_scan(search, set, sides);
		return;
	}
	if (table == NULL)
		table = search->chunk_state = palloc0(sizeof(PairTable));
	if (number >= table->end)
		count_range(search, table, number);
	Assert(number >= table->begin && number < table->end);
	for (; table->next < table->npairs; table->next++)
	{
		const PairCount *pair = &table->pairs[table->next];

		if (pair->high > number)
			break;
		/* or a set whose probe another process makes */
		if (pair->high < number)
			continue;
		if ((INDEXED_SIDES(index, pair->low) & sides) != 0)
			index->candidates[index->ncandidates++] = pair->low;
	}
}

/* Algorithm.end_chunk */
static void
pair_count_end(JoinSearch *search)
{
	PairTable  *table = search->chunk_state;

	if (table == NULL)
		return;
	if (table->pairs != NULL)
		pfree(table->pairs);
	pfree(table);
	search->chunk_state = NULL;
}

const Algorithm pair_count = {
	.name = "pair-count",
	JOINS_SETS,
	.at_once = true,
	USES_ALL_KEYS,
	.probe = {[INDEX_ANNOUNCED] = pair_count_probe},
	.end_chunk = pair_count_end,
};

/*
 * Probe-Count and its relatives: posting lists are merged
 *
 * Probe-Count looks up all elements of the probing set and merges their
 * posting lists with a heap, so that each indexed set is on top once for each
 * shared element.
 *
 * Probe-optMerge (MergeOpt) does not merge the longest lists, as many as could
 * not be enough by themselves: sets in the others are searched in them, by
 * exponential search, from the shortest to the longest, as long as they may
 * reach the threshold.
 *
 * Probe-stopWords does not index the most frequent elements of all, and lowers
 * the needed overlap by those that two sets could share.  A set in which they
 * would be enough by themselves keeps them.
 *
 * S.  Sarawagi, A.  Kirpal, "Efficient set joins on similarity predicates",
 * SIGMOD 2004.
 */

/* An element in more than this part of all sets is a stop word ... */
#define STOPWORD_SHARE		100
/* ... if it is in at least this number of sets. */
#define STOPWORD_LEAST		8

/* A posting list, from the next posting on. */
typedef struct PostingList
{
	uint64		key;
	const Posting *at;
	const Posting *end;
	uint32		n;				/* postings of the bucket: its length, about */
} PostingList;

/* Skip postings of other tokens and of sets that cannot be matches. */
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

/* The postings of a key whose sets have rows on one of the sides. */
static PostingList
posting_list(const InvertedIndex *index, uint64 key, uint32 sides)
{
	const Bucket *bucket = inverted_index_bucket(index, key);
	PostingList list;

	list.key = key;
	list.at = &index->postings[bucket->start];
	list.end = list.at + bucket->n;
	list.n = bucket->n;
	skip_others(index, &list, sides);
	return list;
}

/* The lowest set first: a binaryheap has the highest on top. */
static int
compare_lists(Datum a, Datum b, void *arg)
{
	const PostingList *x = (PostingList *) DatumGetPointer(a);
	const PostingList *y = (PostingList *) DatumGetPointer(b);

	return (x->at->set < y->at->set) - (x->at->set > y->at->set);
}

/* Remove the next set from the heap, and count its lists. */
static uint32
next_set(JoinSearch *search, binaryheap *heap, uint32 sides, uint32 *count)
{
	PostingList *list =
	(PostingList *) DatumGetPointer(binaryheap_first(heap));
	uint32		set = list->at->set;

	Assert(list->at < list->end);
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

/* The lists of n keys, allocated in the context of the search. */
static PostingList *
lists_of(JoinSearch *search, const uint64 *keys, uint32 n, uint32 sides)
{
	PostingList *lists = MemoryContextAllocHuge(search->context,
												sizeof(PostingList) *
												Max(n, 1));

	for (uint32 i = 0; i < n; i++)
	{
		CHECK_EVERY(i);
		lists[i] = posting_list(&search->index, keys[i], sides);
	}
	return lists;
}

/* Probe-Count */

/*
 * Merge the lists of the first n keys of a set; `spare` of the other keys may
 * be shared, too.
 */
static void
merge_lists(JoinSearch *search, const JoinSet *set, uint32 sides, uint32 n,
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
		if (count +
			spare >= search_need(search, INDEXED_SIZE(index, found),
								 set->size))
			index->candidates[index->ncandidates++] = found;
	}
	binaryheap_free(heap);
	pfree(lists);
}

/* Algorithm.probe of Probe-Count */
static void
probe_count_probe(JoinSearch *search, const JoinSet *set, uint32 sides)
{
	merge_lists(search, set, sides, set->nkeys, 0);
}

const Algorithm probe_count = {
	.name = "probe-count",
	JOINS_SETS,
	USES_ALL_KEYS,
	.probe = {[INDEX_ANNOUNCED] = probe_count_probe},
};

/* Probe-optMerge */

/* True if the set is in the list, which is moved to its place. */
static bool
search_list(PostingList *list, uint32 set)
{
	list->at = inverted_index_from(list->at, list->end, set);
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

/* Algorithm.probe of Probe-optMerge */
static void
probe_optmerge_probe(JoinSearch *search, const JoinSet *set, uint32 sides)
{
	InvertedIndex *index = &search->index;
	PostingList *lists = lists_of(search, set->keys, set->nkeys, sides);
	uint32		least = set->size - search_probing_prefix(search, set->size) +
	1;
	uint32		merged = set->nkeys - Min(least - 1, set->nkeys);
	binaryheap *heap;

	/* a match is in one of the merged lists at least */
	Assert(least > 0 && merged + Min(least - 1, set->nkeys) == set->nkeys);
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
			index->candidates[index->ncandidates++] = found;
	}
	binaryheap_free(heap);
	pfree(lists);
}

const Algorithm probe_optmerge = {
	.name = "probe-optmerge",
	JOINS_SETS,
	USES_ALL_KEYS,
	.probe = {[INDEX_ANNOUNCED] = probe_optmerge_probe},
};

/* Probe-stopWords */

/* The least frequency of a stop word. */
static uint32
stopword_frequency(JoinSearch *search)
{
	return Min(Max(search->stats.distinct / STOPWORD_SHARE, STOPWORD_LEAST),
			   UINT16_MAX);
}

/* The number of stop words of a set: they are the last of its keys. */
static uint32
count_stopwords(JoinSearch *search, const JoinSet *set)
{
	uint64		least = (uint64) stopword_frequency(search) << TOKEN_HASH_BITS;
	uint32		n = 0;

	while (n < set->nkeys && set->keys[set->nkeys - n - 1] >= least)
		n++;
	return n;
}

/* True if stop words alone could make the set a match of another one. */
static bool
keeps_stopwords(JoinSearch *search, const JoinSet *set, uint32 stopwords)
{
	double		t = search->threshold;

	return stopwords >= measure_least_overlap(search->measure, set->size, t) ||
		stopwords >= measure_least_overlap(measure_commute(search->measure),
										   set->size, t);
}

/* Algorithm.indexed_keys: no stop words, unless they could be enough. */
static uint32
probe_stopwords_indexed(JoinSearch *search, const JoinSet *set)
{
	uint32		stopwords = count_stopwords(search, set);

	return keeps_stopwords(search, set, stopwords) ? set->nkeys :
		set->nkeys - stopwords;
}

/* Algorithm.probe of Probe-stopWords */
static void
probe_stopwords_probe(JoinSearch *search, const JoinSet *set, uint32 sides)
{
	merge_lists(search, set, sides, probe_stopwords_indexed(search, set),
				count_stopwords(search, set));
}

const Algorithm probe_stopwords = {
	.name = "probe-stopwords",
	JOINS_SETS,
	.max_indexed = all_keys_most,
	.max_keys = all_keys_most,
	.prepare = all_keys_prepare,
	.indexed_keys = probe_stopwords_indexed,
	.probe = {[INDEX_ANNOUNCED] = probe_stopwords_probe},
};

/*
 * Word-Groups: sets that have a group of elements in common
 *
 * Sets are transactions, and groups of elements that occur in two or more of
 * them are frequent item sets.  A group is extended by another element as long
 * as it is in many sets; when it is in few, all of these are candidates.  So a
 * frequent element makes candidates only together with others.
 *
 * Groups are enumerated for the probing set: of its elements in their order,
 * with the indexed sets that have them.  Groups have up to GROUP_SIZE
 * elements.  Two sets that share `need` elements share GROUP_SIZE of them (or
 * all, if they are fewer) in prefixes of |x| - need + GROUP_SIZE elements, so
 * only prefixes are used.
 *
 * S.  Sarawagi, A.  Kirpal, "Efficient set joins on similarity predicates",
 * SIGMOD 2004.
 */

#define GROUP_SIZE	3			/* elements of the largest groups */
#define FEW_SETS	8			/* up to this number, all are candidates */

/* Sets that have a group, by number, rising. */
typedef struct Members
{
	uint32	   *sets;
	uint32		n;
} Members;

typedef struct Groups
{
	JoinSearch *search;
	const JoinSet *set;			/* set that probes */
	uint32		nkeys;			/* keys of its prefix */
	uint32		sides;			/* sides, one of which matches must have */
	Members		members[GROUP_SIZE];	/* members by size of the group - 1 */
} Groups;

/*
 * A prefix that is long enough to share GROUP_SIZE elements instead of one.
 */
static uint32
word_groups_prefix(uint32 prefix, uint32 size)
{
	return prefix == 0 ? 0 : Min(prefix + GROUP_SIZE - 1, size);
}

/* Algorithm.max_indexed */
static uint32
word_groups_most_indexed(JoinSearch *search, const JoinSet *set)
{
	return word_groups_prefix(search_indexed_prefix(search, set->size),
							  set->size);
}

/* Number of elements of the prefix by which a set probes. */
static uint32
word_groups_probing(JoinSearch *search, const JoinSet *set)
{
	return word_groups_prefix(search_probing_prefix(search, set->size),
							  set->size);
}

/* Algorithm.max_keys */
static uint32
word_groups_most_keys(JoinSearch *search, const JoinSet *set)
{
	return Max(word_groups_most_indexed(search, set),
			   word_groups_probing(search, set));
}

/* Algorithm.prepare: the keys of the longer prefix. */
static void
word_groups_prepare(JoinSearch *search, JoinSet *set, bool indexed,
					bool probing)
{
	search_order(search, set, word_groups_most_keys(search, set));
}

/* Algorithm.indexed_keys */
static uint32
word_groups_indexed(JoinSearch *search, const JoinSet *set)
{
	uint32		prefix = word_groups_most_indexed(search, set);
	uint32		dropped = set->size - set->nvalues;

	return prefix <= dropped ? 0 : Min(prefix - dropped, set->nkeys);
}

/* Make a set a candidate, unless it is one. */
static void
add_group_candidate(InvertedIndex *index, uint32 set)
{
	if (index->accumulators[set].shared++ == 0)
		index->candidates[index->ncandidates++] = set;
}

/* The sets with the element, among those in `among` unless that is NULL. */
static void
find_members(Groups *groups, uint64 key, const Members *among,
			 Members *members)
{
	InvertedIndex *index = &groups->search->index;
	const Bucket *bucket = inverted_index_bucket(index, key);
	const Posting *posting = &index->postings[bucket->start];
	const Posting *end = posting + bucket->n;
	uint32		i = 0;

	members->n = 0;
	for (; posting < end; posting++)
	{
		CHECK_EVERY(end - posting);
		groups->search->stats.visited++;
		if (posting->key != key ||
			(INDEXED_SIDES(index, posting->set) & groups->sides) == 0 ||
			(members->n > 0 && members->sets[members->n - 1] == posting->set))
			continue;
		/* numbers rise, so that groups are merged */
		Assert(members->n == 0 ||
			   members->sets[members->n - 1] < posting->set);
		if (among != NULL)
		{
			while (i < among->n && among->sets[i] < posting->set)
				i++;
			if (i == among->n)
				break;
			if (among->sets[i] != posting->set)
				continue;
		}
		members->sets[members->n++] = posting->set;
	}
}

/*
 * Make the members of a group of `size` elements, the last of which is number
 * `last`, candidates, or extend the group.
 */
static void
extend_group(Groups *groups, uint32 size, uint32 last)
{
	JoinSearch *search = groups->search;
	const Members *members;
	bool		few;

	Assert(size >= 1 && size <= GROUP_SIZE);
	CHECK_FOR_INTERRUPTS();
	members = &groups->members[size - 1];
	few = members->n <= FEW_SETS || size == GROUP_SIZE;
	for (uint32 i = 0; i < members->n; i++)
	{
		uint32		set = members->sets[i];

		CHECK_EVERY(i);
		if (few || search_need(search, INDEXED_SIZE(&search->index, set),
							   groups->set->size) <= size)
			add_group_candidate(&search->index, set);
	}
	if (few)
		return;
	for (uint32 next = last + 1; next < groups->nkeys; next++)
	{
		find_members(groups, groups->set->keys[next], members,
					 &groups->members[size]);
		extend_group(groups, size + 1, next);
	}
}

/* Algorithm.probe of Word-Groups */
static void
word_groups_probe(JoinSearch *search, const JoinSet *set, uint32 sides)
{
	InvertedIndex *index = &search->index;
	uint32		prefix = word_groups_probing(search, set);
	uint32		dropped = set->size - set->nvalues;
	Groups		groups = {.search = search,.set = set,.sides = sides};

	groups.nkeys = prefix <= dropped ? 0 : Min(prefix - dropped, set->nkeys);
	for (int i = 0; i < GROUP_SIZE; i++)
		groups.members[i].sets = MemoryContextAllocHuge(search->context,
														sizeof(uint32) *
														Max(search->nsets, 1));
	for (uint32 i = 0; i < groups.nkeys; i++)
	{
		find_members(&groups, set->keys[i], NULL, &groups.members[0]);
		extend_group(&groups, 1, i);
	}
	for (int i = 0; i < GROUP_SIZE; i++)
		pfree(groups.members[i].sets);
	for (uint32 i = 0; i < index->ncandidates; i++)
	{
		CHECK_EVERY(i);
		index->accumulators[index->candidates[i]].shared = 0;
	}
}

const Algorithm word_groups = {
	.name = "word-groups",
	JOINS_SETS,
	.max_indexed = word_groups_most_indexed,
	.max_keys = word_groups_most_keys,
	.prepare = word_groups_prepare,
	.indexed_keys = word_groups_indexed,
	.probe = {[INDEX_ANNOUNCED] = word_groups_probe},
};
