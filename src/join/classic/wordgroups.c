/*
 * wordgroups.c
 *		Word-Groups: sets that have a group of elements in common.
 *
 * Sets are transactions, and groups of elements that occur together in two of
 * them or more are frequent item sets.  A group is extended by a further
 * element as long as it is in many sets; once it is in few, all of them are
 * candidates.  So a frequent element alone makes no candidates, only together
 * with others.
 *
 * Groups are enumerated for the set that probes: of its own elements, in
 * their order, with the indexed sets that have them.  Groups have up to
 * GROUP_SIZE elements.  Two sets that share `need` elements share GROUP_SIZE of
 * them (or all, if they are fewer) in prefixes of |x| - need + GROUP_SIZE
 * elements, so only those take part.
 *
 * S. Sarawagi, A. Kirpal, "Efficient set joins on similarity predicates",
 * SIGMOD 2004.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "join/algorithms/prefix_filter.h"
#include "join/classic/classic.h"

#define GROUP_SIZE	3			/* elements of the largest groups */
#define FEW_SETS	8			/* so many are candidates without more ado */

/* Sets that have a group, by number, rising. */
typedef struct Members
{
	uint32	   *sets;
	uint32		n;
} Members;

typedef struct Groups
{
	Search    *search;
	const JoinSet *set;			/* that probes */
	uint32		nkeys;			/* of its prefix */
	uint32		sides;			/* that partners must have one of */
	Members		members[GROUP_SIZE];	/* by size of the group - 1 */
} Groups;

static uint32
word_groups_prefix(uint32 prefix, uint32 size)
{
	return prefix == 0 ? 0 : Min(prefix + GROUP_SIZE - 1, size);
}

static uint32
word_groups_most_indexed(Search *search, const JoinSet *set)
{
	return word_groups_prefix(search_indexed_prefix(search, set->size),
							  set->size);
}

static uint32
word_groups_probing(Search *search, const JoinSet *set)
{
	return word_groups_prefix(search_probing_prefix(search, set->size),
							  set->size);
}

static uint32
word_groups_most_keys(Search *search, const JoinSet *set)
{
	return Max(word_groups_most_indexed(search, set),
			   word_groups_probing(search, set));
}

static void
word_groups_prepare(Search *search, JoinSet *set, bool indexed, bool probing)
{
	search_order(search, set, word_groups_most_keys(search, set));
}

static uint32
word_groups_indexed(Search *search, const JoinSet *set)
{
	uint32		prefix = word_groups_most_indexed(search, set);
	uint32		dropped = set->size - set->nvalues;

	return prefix <= dropped ? 0 : Min(prefix - dropped, set->nkeys);
}

static void
add_candidate(InvertedIndex *index, uint32 set)
{
	if (index->accumulators[set].shared++ == 0)
		index->candidates[index->ncandidates++] = set;
}

/* Sets that have the element, of those in `among` unless that is NULL. */
static void
find_members(Groups *groups, uint64 key, const Members *among,
			 Members *members)
{
	InvertedIndex *index = &groups->search->index;
	const Bucket *bucket = setindex_bucket(index, key);
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
			(members->n > 0 &&
			 members->sets[members->n - 1] == posting->set))
			continue;
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
 * The group of `size` elements, the last of which is number `last`, has these
 * members: makes candidates of them, or extends the group.
 */
static void
extend_group(Groups *groups, uint32 size, uint32 last)
{
	Search    *search = groups->search;
	const Members *members = &groups->members[size - 1];
	bool		few = members->n <= FEW_SETS || size == GROUP_SIZE;

	CHECK_FOR_INTERRUPTS();
	for (uint32 i = 0; i < members->n; i++)
	{
		uint32		set = members->sets[i];

		CHECK_EVERY(i);
		if (few || search_need(search, INDEXED_SIZE(&search->index, set),
								groups->set->size) <= size)
			add_candidate(&search->index, set);
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

static void
word_groups_probe(Search *search, const JoinSet *set, uint32 sides)
{
	InvertedIndex *index = &search->index;
	uint32		prefix = word_groups_probing(search, set);
	uint32		dropped = set->size - set->nvalues;
	Groups		groups = {.search = search,.set = set,.sides = sides};

	groups.nkeys = prefix <= dropped ? 0 : Min(prefix - dropped, set->nkeys);
	for (int i = 0; i < GROUP_SIZE; i++)
		groups.members[i].sets = MemoryContextAllocHuge(search->context,
														sizeof(uint32) * Max(search->nsets, 1));
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
	.ordered = true,
	.sized = true,
	.most_indexed = word_groups_most_indexed,
	.most_keys = word_groups_most_keys,
	.prepare = word_groups_prepare,
	.indexed_keys = word_groups_indexed,
	.probe = word_groups_probe,
	.announce = sets_announce,
	.may_have_partner = sets_may_have_partner,
	.verify = sets_verify,
	.reflexive = sets_reflexive,
};
