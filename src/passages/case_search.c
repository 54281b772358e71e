/*
 * case_search.c
 *		Cases of copying: places of two texts that have many words in common.
 *
 * Words are common if both texts have them, and neither has them often.  A
 * pair of common words close to each other, in any order, is looked up in the
 * other text, and each of its words matches its place there.  Enough matches
 * close together in both texts are a passage.  The words beside them, frequent
 * ones included, match too, as far as the texts agree.  Matches close to each
 * other are a case.
 *
 * Clusters are found by single linkage over a grid.  The plane of both texts
 * is divided into square cells of `near` words.  All matches of a cell are
 * linked.  Other links lead only to cells at most `far` away in one direction
 * and in a neighbouring row or column in the other.  So each cell is compared
 * with a bounded number of later ones, unless both are in one cluster already.
 * Bands, which are cells of equal a, are visited in order.  In each later band
 * the cells in reach advance along with b.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "base/hash.h"
#include "base/interrupts.h"
#include "base/memory.h"
#include "base/sort_uint64.h"
#include "passages/case_search.h"
#include "passages/sequence_index.h"

/* Clusters of matches */

/* Return a match: a word of the first text and a word of the second text. */
static inline uint64
make_match(uint32 a, uint32 b)
{
	return (uint64) a << 32 | b;
}

/* Return the word of the first text in a match. */
static inline uint32
match_a(uint64 match)
{
	return match >> 32;
}

/* Return the word of the second text in a match. */
static inline uint32
match_b(uint64 match)
{
	return (uint32) match;
}

/* Matches by cells of the plane, and clusters of cells */
typedef struct Grid
{
	const uint64 *matches;
	uint32		near;
	uint32		far;
	uint32	   *order;			/* indexes of matches, by band, then by column */
	uint32	   *first;			/* index in `order` of the first match of each
								 * cell; ncells + 1 of them */
	uint32	   *column;			/* column of each cell */
	uint32	   *parent;			/* parent of each cell in the tree of its
								 * cluster; a root is its own parent */
	uint32		ncells;
	uint32	   *band;			/* first cell of each band; nbands + 1 cells */
	uint32		nbands;
} Grid;

/* Allocate n elements, or one if n is 0, even if they exceed 1 GB. */
static void *
allocate(size_t n, size_t width)
{
	return MemoryContextAllocHuge(CurrentMemoryContext, Max(n, 1) * width);
}

/* As allocate(), with zeroed memory. */
static void *
allocate_zero(size_t n, size_t width)
{
	return MemoryContextAllocExtended(CurrentMemoryContext, Max(n, 1) * width,
									  MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
}

/* Cells */

/* Add a cell whose matches begin at `first` in grid->order. */
static void
add_cell(Grid *grid, uint32 column, uint32 first)
{
	Assert(grid->ncells == 0 || first > grid->first[grid->ncells - 1]);
	grid->first[grid->ncells] = first;
	grid->column[grid->ncells] = column;
	grid->parent[grid->ncells] = grid->ncells;
	grid->ncells++;
}

/* Add the cells of one band, whose matches are `from` to `to` - 1. */
static void
add_band(Grid *grid, size_t from, size_t to)
{
	uint64	   *by_column = allocate(to - from, sizeof(uint64));

	for (size_t i = from; i < to; i++)
		by_column[i - from] =
			(uint64) (match_b(grid->matches[i]) / grid->near) << 32 | i;
	sort_hashes(by_column, to - from);
	for (size_t i = from; i < to; i++)
	{
		uint32		column = by_column[i - from] >> 32;

		grid->order[i] = (uint32) by_column[i - from];
		if (i == from || column != grid->column[grid->ncells - 1])
			add_cell(grid, column, i);
	}
	pfree(by_column);
}

/* Divide n sorted matches into bands, and bands into cells. */
static void
make_cells(Grid *grid, size_t n)
{
	size_t		from = 0;

	Assert(n > 0 && grid->matches != NULL);
	grid->nbands = match_a(grid->matches[n - 1]) / grid->near + 1;
	grid->band = allocate((size_t) grid->nbands + 1, sizeof(uint32));
	for (uint32 band = 0; band < grid->nbands; band++)
	{
		size_t		to = from;

		CHECK_EVERY(band);
		while (to < n && match_a(grid->matches[to]) / grid->near == band)
			to++;
		grid->band[band] = grid->ncells;
		if (to > from)
			add_band(grid, from, to);
		from = to;
	}
	grid->band[grid->nbands] = grid->ncells;
	grid->first[grid->ncells] = n;
}

/* Linkage */

/* Return the first cell of a cell's cluster, and halve the path to it. */
static uint32
find_root(Grid *grid, uint32 cell)
{
	while (grid->parent[cell] != cell)
	{
		grid->parent[cell] = grid->parent[grid->parent[cell]];
		cell = grid->parent[cell];
	}
	return cell;
}

/* Return the distance between two places. */
static inline uint32
difference(uint32 x, uint32 y)
{
	return x > y ? x - y : y - x;
}

/*
 * True if a match of one cell is linked to a match of the other.  The cells
 * must be in reach of each other.
 */
static bool
are_linked(const Grid *grid, uint32 cell, uint32 other)
{
	for (uint32 i = grid->first[cell + 1]; i-- > grid->first[cell];)
	{
		uint64		match = grid->matches[grid->order[i]];

		for (uint32 j = grid->first[other]; j < grid->first[other + 1]; j++)
		{
			uint64		second = grid->matches[grid->order[j]];
			uint32		a = difference(match_a(match), match_a(second));
			uint32		b = difference(match_b(match), match_b(second));

			if (Min(a, b) <= grid->near && Max(a, b) <= grid->far)
				return true;
		}
	}
	return false;
}

/* Unite the clusters of two cells if they are linked. */
static void
link_cells(Grid *grid, uint32 cell, uint32 other)
{
	uint32		root = find_root(grid, cell);
	uint32		other_root = find_root(grid, other);

	/* a root is the first cell of its cluster */
	if (root != other_root && are_linked(grid, cell, other))
		grid->parent[Max(root, other_root)] = Min(root, other_root);
}

/*
 * Link the cells of a band to cells of the same or a later band that are at
 * most `reach` columns away.
 */
static void
link_bands(Grid *grid, uint32 band, uint32 later, uint32 reach)
{
	uint32		low = grid->band[later];
	uint32		end = grid->band[later + 1];

	for (uint32 cell = grid->band[band]; cell < grid->band[band + 1]; cell++)
	{
		if (later == band)
			low = cell + 1;
		while (low < end && grid->column[low] + reach < grid->column[cell])
			low++;
		for (uint32 other = low;
			 other < end &&
			 grid->column[other] <= grid->column[cell] + reach; other++)
			link_cells(grid, cell, other);
	}
}

/*
 * Link all cells to the cells in reach, in their own band and in later ones.
 */
static void
link_all(Grid *grid)
{
	uint32		reach = grid->far / grid->near + 1;

	for (uint32 band = 0; band < grid->nbands; band++)
	{
		CHECK_FOR_INTERRUPTS();
		if (grid->band[band] == grid->band[band + 1])
			continue;
		for (uint32 later = band;
			 later < grid->nbands && later <= band + reach; later++)
			link_bands(grid, band, later, later <= band + 1 ? reach : 1);
	}
}

/*
 * Number the clusters in the order of their first cells, which are their
 * roots.  Sets each match's cluster, and returns the number of clusters.
 */
static uint32
number_clusters(Grid *grid, uint32 *cluster)
{
	uint32	   *numbers = allocate(grid->ncells, sizeof(uint32));
	uint32		nclusters = 0;

	for (uint32 cell = 0; cell < grid->ncells; cell++)
	{
		uint32		root = find_root(grid, cell);

		numbers[cell] = root == cell ? nclusters++ : numbers[root];
		for (uint32 i = grid->first[cell]; i < grid->first[cell + 1]; i++)
			cluster[grid->order[i]] = numbers[cell];
	}
	pfree(numbers);
	return nclusters;
}

/*
 * Partition n < 2^32 matches, sorted and distinct, into clusters.  Two matches
 * are linked if they are at most `near` words apart in one text and at most
 * `far` >= near in the other; matches that are linked, directly or through
 * others, are in one cluster.  Sets cluster[i] to the number of the i-th
 * match's cluster and returns the number of clusters.  Takes 16 bytes for each
 * match in the current memory context, freed at the end.  Answers a cancel.
 */
static uint32
cluster_matches(const uint64 *matches, size_t n, uint32 near, uint32 far,
				uint32 *cluster)
{
	Grid		grid = {matches, near, far};
	uint32		nclusters;

	Assert(near > 0 && far >= near);
	Assert(n < PG_UINT32_MAX);
	if (n == 0)
		return 0;
	grid.order = allocate(n, sizeof(uint32));
	grid.first = allocate(n + 1, sizeof(uint32));
	grid.column = allocate(n, sizeof(uint32));
	grid.parent = allocate(n, sizeof(uint32));
	make_cells(&grid, n);
	link_all(&grid);
	nclusters = number_clusters(&grid, cluster);
	pfree(grid.order);
	pfree(grid.first);
	pfree(grid.column);
	pfree(grid.parent);
	pfree(grid.band);
	return nclusters;
}

/* Words */

/*
 * A word is frequent if it makes up more than 1 / rules->rarity of a text's
 * words, and occurs more than FREQUENT_MIN times.
 */
#define FREQUENT_MIN	4

#define MATCHES_MAX		16		/* matches for each word of both texts */

/* One of the texts in a search */
typedef struct CaseText
{
	const uint32 *ids;			/* number of each word, or NOWHERE */
	uint32		n;
	uint32	   *places;			/* words that are common and not frequent */
	uint32		nplaces;
} CaseText;

/* A list of matches */
typedef struct Matches
{
	uint64	   *matches;		/* sorted and distinct */
	size_t		n;
	size_t		size;
} Matches;

void
case_words_number(NumberedWords *a, NumberedWords *b, uint64 *a_hashes,
				  uint32 na,
				  uint64 *b_hashes, uint32 nb)
{
	SequenceIndex index;

	sequences_number(&index, a_hashes, na, b_hashes, nb, CurrentMemoryContext);
	*a = (NumberedWords)
	{
		ids_shrink(a_hashes, na), na
	};
	*b = (NumberedWords)
	{
		ids_shrink(b_hashes, nb), nb
	};
	sequence_index_free(&index);
}

/*
 * Return how often a text has each word, by the word's number, which is less
 * than nids.
 */
static uint32 *
count_words(const CaseText *text, uint32 nids)
{
	uint32	   *counts = allocate_zero(nids, sizeof(uint32));

	for (uint32 i = 0; i < text->n; i++)
		if (text->ids[i] != NOWHERE)
			counts[text->ids[i]]++;
	return counts;
}

/*
 * True if a text has a word too often for the word to say where the text comes
 * from.
 */
static inline bool
is_frequent(const CaseText *text, const uint32 *counts, uint32 id,
			uint32 rarity)
{
	return counts[id] > Max(FREQUENT_MIN, text->n / rarity);
}

/*
 * Set text->places: the common words of `text`, a or b, that are frequent in
 * neither of them.
 */
static void
choose_words(CaseText *text, const CaseText *a, const uint32 *a_counts,
			 const CaseText *b, const uint32 *b_counts, uint32 rarity)
{
	text	  ->places = allocate(text->n, sizeof(uint32));
	text	  ->nplaces = 0;

	for (uint32 i = 0; i < text->n; i++)
	{
		uint32		id = text->ids[i];

		CHECK_EVERY(i);
		/* b numbers the words, and a need not have each of them */
		if (id != NOWHERE && a_counts[id] > 0 &&
			!is_frequent(a, a_counts, id, rarity) &&
			!is_frequent(b, b_counts, id, rarity))
			text	  ->places[text->nplaces++] = i;
	}
}

/* Pairs */

/*
 * Return the keys of pairs of chosen words.  Pair x * reach + d - 1 consists
 * of words x and x + d.  If they are equal, or too far apart, its key is
 * `none`.
 */
static uint64 *
make_pairs(const CaseText *text, const CaseRules *rules, uint64 none)
{
	uint64	   *pairs = allocate((size_t) text->nplaces * rules->reach,
								 sizeof(uint64));
	uint64	   *pair = pairs;

	for (uint32 x = 0; x < text->nplaces; x++)
	{
		uint32		place = text->places[x];

		CHECK_EVERY(x);
		for (uint32 d = 1; d <= rules->reach; d++)
		{
			uint32		other = x + d < text->nplaces ? text->places[x + d] :
			place;
			uint32		one = text->ids[place];
			uint32		two = text->ids[other];

			*pair++ = one == two || other - place > rules->near ? none :
				mix64((uint64) Min(one, two) << 32 | Max(one, two));
		}
	}
	return pairs;
}

/*
 * Add the places of the word `id` in b to n sorted places, as far as one of
 * its pairs finds them.  Returns the number of places.  `first` is the pair's
 * first place in the index; frequent pairs add nothing.
 */
static int
add_places(const SequenceIndex *index, uint32 first, uint32 id,
		   const CaseText *b,
		   const CaseRules *rules, uint32 *places, int n)
{
	uint32		reach = rules->reach;

	if (first == NOWHERE ||
		sequence_index_exceeds(index, first, rules->pair_often))
		return n;
	for (uint32 pair = first; pair != NOWHERE; pair = index->next[pair])
	{
		uint32		x = pair / reach;
		uint32		place = b->places[x];
		int			i = n;

		if (b->ids[place] != id)
			place = b->places[x + pair % reach + 1];
		while (i > 0 && places[i - 1] > place)
			i--;
		if (i > 0 && places[i - 1] == place)
			continue;
		memmove(places + i + 1, places + i, (n - i) * sizeof(uint32));
		places[i] = place;
		n++;
	}
	return n;
}

/*
 * Match each chosen word of a with its places in b, by all pairs that have the
 * word.
 */
static void
match_words(Matches *found, const SequenceIndex *index, const uint32 *a_pairs,
			const CaseText *a, const CaseText *b, const CaseRules *rules)
{
	uint32		reach = rules->reach;
	uint32		places[2 * CASE_REACH_MAX * PAIR_OFTEN_MAX];

	Assert(reach <= CASE_REACH_MAX && rules->pair_often <= PAIR_OFTEN_MAX);
	for (uint32 x = 0; x < a->nplaces; x++)
	{
		uint32		id = a->ids[a->places[x]];
		int			n = 0;

		CHECK_EVERY(x);
		for (uint32 d = 1; d <= reach; d++)
		{
			n = add_places(index, a_pairs[(size_t) x * reach + d - 1], id, b,
						   rules,
						   places, n);
			if (x >= d)
				n = add_places(index,
							   a_pairs[(size_t) (x - d) * reach + d - 1], id,
							   b,
							   rules, places, n);
		}
		Assert(n <= lengthof(places));
		found->matches = growing_reserve(found->matches, &found->size,
										 found->n + n,
										 sizeof(uint64));
		for (int i = 0; i < n; i++)
			found->matches[found->n++] = make_match(a->places[x], places[i]);
	}
}

/* Find the matches of all words that are in a common pair. */
static Matches
find_matches(const CaseText *a, const CaseText *b, const CaseRules *rules)
{
	Matches		found = {0};
	SequenceIndex index;

	/* keys of a word with itself, different in a and b: no pair has them */
	uint64	   *b_pairs = make_pairs(b, rules, mix64(make_match(1, 1)));
	uint64	   *a_pairs = make_pairs(a, rules, mix64(make_match(0, 0)));

	sequence_index_build(&index, b_pairs, b->nplaces * rules->reach);
	sequence_index_find(&index, a_pairs, a->nplaces * rules->reach,
						(uint32 *) a_pairs);
	LOOK_AT_MEMORY(CurrentMemoryContext->parent);
	pfree(b_pairs);
	pfree(index.slots);
	index.slots = NULL;
	match_words(&found, &index, (uint32 *) a_pairs, a, b, rules);
	pfree(a_pairs);
	sequence_index_free(&index);
	return found;
}

/* Clusters */

/*
 * Return how many words match in each cluster, in the text where they are
 * fewer.
 */
static uint32 *
count_matched(const Matches *found, const uint32 *cluster, uint32 nclusters)
{
	uint64	   *words = allocate(found->n, sizeof(uint64));
	uint32	   *counts = allocate_zero(2 * (size_t) nclusters, sizeof(uint32));

	for (int side = 0; side < 2; side++)
	{
		size_t		n;

		for (size_t i = 0; i < found->n; i++)
		{
			uint64		match = found->matches[i];

			words[i] = make_match(side == 0 ? match_a(match) :
								  match_b(match), cluster[i]);
		}
		n = sort_distinct_hashes(words, found->n);
		for (size_t i = 0; i < n; i++)
			counts[side * (size_t) nclusters + match_b(words[i])]++;
	}
	for (uint32 i = 0; i < nclusters; i++)
		counts[i] = Min(counts[i], counts[(size_t) nclusters + i]);
	LOOK_AT_MEMORY(CurrentMemoryContext->parent);
	pfree(words);
	return counts;
}

/* Keep only matches that are in passages. */
static void
keep_passages(Matches *found, uint32 *cluster, const CaseRules *rules)
{
	uint32		nclusters = cluster_matches(found->matches, found->n,
											rules->near,
											rules->near, cluster);
	uint32	   *counts = count_matched(found, cluster, nclusters);
	size_t		kept = 0;

	for (size_t i = 0; i < found->n; i++)
		if (counts[cluster[i]] >= rules->least)
			found->matches[kept++] = found->matches[i];
	found->n = kept;
	pfree(counts);
}

/* True if both places exist in their texts, and have equal words. */
static inline bool
agree(const CaseText *a, const CaseText *b, int64 a_place, int64 b_place)
{
	return a_place >= 0 && b_place >= 0 && a_place < a->n && b_place < b->n &&
		a->ids[a_place] == b->ids[b_place];
}

/*
 * Return the matches, extended to the words beside them as far as both texts
 * agree.  A run of matches on one diagonal is added once.  Nothing is added
 * beyond MATCHES_MAX for each word: then the texts have the same few words in
 * many orders.
 */
static Matches
extend_matches(const Matches *found, const CaseText *a, const CaseText *b)
{
	Matches		all = {0};
	size_t		most = MATCHES_MAX * ((size_t) a->n + b->n);
	uint32	   *reached = allocate_zero((size_t) a->n + b->n, sizeof(uint32));

	for (size_t i = 0; i < found->n; i++)
	{
		int64		a_place = match_a(found->matches[i]);
		int64		b_place = match_b(found->matches[i]);
		uint32	   *end = &reached[b_place - a_place + a->n];
		uint32		start = a_place;
		uint32		stop = a_place + 1;

		CHECK_EVERY(i);
		if (*end > a_place)
			continue;
		while (all.n < most && start > *end &&
			   agree(a, b, (int64) start - 1, b_place - a_place + start - 1))
			start--;
		while (all.n < most && agree(a, b, stop, b_place - a_place + stop))
			stop++;
		all.matches = growing_reserve(all.matches, &all.size,
									  all.n + stop - start, sizeof(uint64));
		for (uint32 place = start; place < stop; place++)
			all.matches[all.n++] = make_match(place,
											  b_place - a_place + place);
		*end = stop;
	}
	pfree(reached);
	all.n = sort_distinct_hashes(all.matches, all.n);
	return all;
}

/* Join passages to cases; return *n cases. */
static Passage *
join_passages(const Matches *found, uint32 *cluster, const CaseRules *rules,
			  size_t *n)
{
	uint32		nclusters = cluster_matches(found->matches, found->n,
											rules->gap,
											rules->far, cluster);
	uint32	   *counts = count_matched(found, cluster, nclusters);
	Passage    *passages = allocate(nclusters, sizeof(Passage));

	for (uint32 i = 0; i < nclusters; i++)
		passages[i] = (Passage)
	{
		PG_UINT32_MAX, 0, PG_UINT32_MAX, 0, counts[i]
	};
	Assert(found->n == 0 || found->matches != NULL);
	for (size_t i = 0; i < found->n; i++)
	{
		Passage    *passage = &passages[cluster[i]];
		uint32		a = match_a(found->matches[i]);
		uint32		b = match_b(found->matches[i]);

		passage->a_start = Min(passage->a_start, a);
		passage->a_end = Max(passage->a_end, a + 1);
		passage->b_start = Min(passage->b_start, b);
		passage->b_end = Max(passage->b_end, b + 1);
	}
	pfree(counts);
	*n = nclusters;
	return passages;
}

/*
 * Drop cases with too small a share, then cases within other cases; return how
 * many are left.
 */
static size_t
filter_cases(Passage *passages, size_t n, double min_share)
{
	size_t		kept = 0;

	for (size_t i = 0; i < n; i++)
		if (passage_coverage(&passages[i]) >= min_share)
			passages[kept++] = passages[i];
	return passages_drop_inner(passages, kept);
}

/* Find cases, in the current memory context, which is temporary. */
static Passage *
search(CaseText *a, CaseText *b, const CaseRules *rules, size_t *n)
{
	uint32	   *a_counts = count_words(a, b->n);
	uint32	   *b_counts = count_words(b, b->n);
	Matches		found;
	uint32	   *cluster;
	Passage    *passages;

	choose_words(a, a, a_counts, b, b_counts, rules->rarity);
	choose_words(b, a, a_counts, b, b_counts, rules->rarity);
	pfree(a_counts);
	pfree(b_counts);
	found = find_matches(a, b, rules);
	cluster = allocate(found.n, sizeof(uint32));
	keep_passages(&found, cluster, rules);
	pfree(cluster);
	found = extend_matches(&found, a, b);
	cluster = allocate(found.n, sizeof(uint32));
	passages = join_passages(&found, cluster, rules, n);
	*n = filter_cases(passages, *n, rules->min_share);
	return passages;
}

Passage *
find_cases(const NumberedWords *a_words, const NumberedWords *b_words,
		   const CaseRules *rules, size_t *n)
{
	MemoryContext caller = CurrentMemoryContext;
	MemoryContext work = AllocSetContextCreate(caller, "neardup cases",
											   ALLOCSET_DEFAULT_SIZES);
	CaseText	a = {.ids = a_words->ids,.n = a_words->n};
	CaseText	b = {.ids = b_words->ids,.n = b_words->n};
	Passage    *passages;
	Passage    *cases;

	Assert(rules->reach > 0 && rules->near > 0 && rules->far >= rules->gap);
	/* each pair of words gets a place in an index */
	Assert(b.n < INDEXED_MAX / rules->reach);
	MemoryContextSwitchTo(work);
	passages = search(&a, &b, rules, n);
	MemoryContextSwitchTo(caller);
	cases = allocate(*n, sizeof(Passage));
	memcpy(cases, passages, *n * sizeof(Passage));
	MemoryContextDelete(work);
	return cases;
}
