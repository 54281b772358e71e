/*
 * set_groups.c
 *		Groups sets, in time that grows with the number of sets, not of pairs.
 *
 * See README.md for the algorithms, and why the result depends only on the
 * order of sets.
 *
 * Greedy, first pass: each set probes an index of the representatives so far.
 * It becomes a member of the first representative that matches.  If none
 * matches, it becomes a representative and is indexed.  Second pass: each
 * member probes for the nearest representative.
 *
 * Connected, first pass: as greedy; a representative and its members are a
 * run.  Second pass: all sets are indexed, with the sets of a run side by
 * side.  Each member probes for sets of other components, and skips the runs
 * of its component.
 *
 * Sets that do not fit into memory are on disk, where a pass is made of rounds:
 * when the index is full, other sets probe it, and those without a match wait
 * for the next round.  The index of a set on disk has its keys and bitmap;
 * candidates are deferred, and compared in blocks (deferred.h).
 */
#include "postgres.h"

#include <math.h>

#include "common/hashfn.h"
#include "miscadmin.h"
#include "utils/float.h"
#include "utils/memutils.h"

#include "base/compat.h"
#include "base/interrupts.h"
#include "base/memory.h"
#include "base/sort_uint64.h"
#include "groups/disk_array.h"
#include "groups/known_sets.h"
#include "groups/lonely_keys.h"
#include "groups/set_groups.h"
#include "groups/set_store.h"
#include "join/engine/deferred.h"
#include "join/engine/search.h"

/*
 * Shares of the memory, in sixteenths.  The rest is for sets and their index.
 */
#define STATES_SHARE	2
#define KNOWN_SHARE		2
#define COUNTERS_SHARE	2		/* reserved once known sets are freed */
#define INDEX_SHARE		12

/* Shares on disk, where counters and known sets are freed before the search */
#define KEYS_SHARE		11		/* index of keys and bitmaps */
#define PAIRS_SHARE		1		/* deferred candidates */
#define BATCH_SHARE		1		/* sets that are decided together */
#define BLOCK_SHARE		1		/* sets that are compared */

/* Status of a set */
typedef enum SetStatus
{
	UNDECIDED,
	SEEDED,						/* known to be a representative, not indexed
								 * yet */
	REPRESENTATIVE,
	MEMBER,						/* linked to its representative */
	FOREIGN_MEMBER,				/* member of a representative that was not
								 * added */
	EQUAL						/* linked to an equal set before it */
} SetStatus;

/* State of a set */
typedef struct SetState
{
	uint32		link;			/* number of the representative (greedy), or
								 * of a set nearer to the first set of the
								 * component */
	uint32		row;			/* first row with this set */
	double		similarity;		/* similarity to the representative; -1 =
								 * unknown */
	uint64		place;			/* place of its values on disk */
	uint32		name;			/* name that SetGroups.apart knows; 0 = none */
	uint8		status;
	bool		reflexive;		/* true if the set matches itself */
} SetState;

/* An index, with the sets in it by their number there */
typedef struct GroupIndex
{
	InvertedIndex index;		/* unless it is the one in use */
	JoinSet    *members;		/* JoinSearch.sets of the one in use */
	size_t		max_members;
	Arena		arena;			/* what it has of sets that are on disk */
} GroupIndex;

/* Sets, and the state of each */
struct SetGroups
{
	MemoryContext context;		/* memory of all but the states; NULL = groups
								 * are decided */
	size_t		memory;
	SignatureKind kind;
	const Algorithm *algorithm;
	JoinSearch	search;

	/* while sets are added */
	SetTable	keys;			/* only its secret is used, to hash sets */
	KnownSets	known;
	uint64		nvalues;
	uint64		npostings;		/* bound of the keys that sets have */
	DiskArray	states;			/* SetState by set number */
	GroupRule	rule;
	NamesApart	apart;			/* NULL = no set has a name */
	void	   *apart_context;

	SetStore	store;
	uint64		undecided_from; /* position from which sets are undecided */
	uint64		members_from;	/* position of the first member; PG_UINT64_MAX
								 * = there is none */

	/* the indexes */
	GroupIndex	main;			/* representatives, or all sets */
	GroupIndex	batch;			/* representatives in the batch */
	GroupIndex *used;			/* the one whose index is in `search` */

	/* sets on disk that are found by keys */
	JoinSet    *sets;			/* the batch, in order, with values */
	size_t		nsets;
	size_t		max_sets;		/* allocated */
	Arena		arena;			/* memory of the batch */
	Deferred	deferred;
	Arena		probing;		/* memory of the set that is compared */

	/* second pass of the rule connected */
	uint32		ncomponents;	/* number of components in the index */
	uint64	   *places;			/* set << 32 | number in the index, rising */
};

SetGroups *
set_groups_begin(SignatureKind kind, Measure measure, double threshold,
				 size_t memory)
{
	SetGroups  *groups = palloc0(sizeof(SetGroups));
	MemoryContext old;
	size_t		block;

	Assert(measure_commute(measure) == measure);
	groups->context = AllocSetContextCreate(CurrentMemoryContext,
											"groups of sets",
											ALLOCSET_DEFAULT_SIZES);
	groups->memory = Max(memory, 64 * 1024);
	groups->kind = kind;
	groups->algorithm = default_algorithm(kind, measure);
	groups->search.context = groups->context;
	groups->search.measure = measure;
	groups->search.threshold = threshold;
	groups->search.memory = groups->memory;
	groups->search.counters.weighted = groups->algorithm->weighted;
	disk_array_begin(&groups->states, sizeof(SetState),
					 groups->memory / 16 * STATES_SHARE);
	old = MemoryContextSwitchTo(groups->context);
	join_secret_draw(groups->keys.secret);
	known_sets_begin(&groups->known);
	block = Min(Max(groups->memory / 64, 1024), 64 * 1024);
	set_store_begin(&groups->store, block);
	arena_init(&groups->main.arena, block);
	groups->used = &groups->main;
	groups->members_from = PG_UINT64_MAX;
	MemoryContextSwitchTo(old);
	return groups;
}

/* Free all but the states. */
static void
end_deciding(SetGroups *groups)
{
	set_store_end(&groups->store);
	known_sets_end(&groups->known);
	MemoryContextDelete(groups->context);
	groups->context = NULL;
}

void
set_groups_end(SetGroups *groups)
{
	if (groups->context != NULL)
		end_deciding(groups);
	disk_array_free(&groups->states);
	pfree(groups);
}

/* Bytes of a share of the memory, in sixteenths */
#define memory_share(groups, share)	((groups)->memory / 16 * (share))

/* Return the bytes that the sets in memory and an index of all sets take. */
static size_t
bytes_of_all(const SetGroups *groups)
{
	return set_store_bytes(&groups->store) +
		groups->store.n * 3 * sizeof(JoinSet) +
		groups->npostings * (5 * sizeof(Posting) + sizeof(uint64));
}

/* True if a set matches itself. */
static bool
is_reflexive(SetGroups *groups, const JoinSet *set)
{
	return groups->algorithm->reflexive == NULL ||
		groups->algorithm->reflexive(&groups->search, set);
}

/* Store the values of the next set; return their place on disk. */
static uint64
store_set(SetGroups *groups, const JoinSet *set)
{
	groups->nvalues += set->size;
	groups->search.max_features = Max(groups->search.max_features, set->size);
	groups->npostings += groups->algorithm->max_indexed(&groups->search, set);
	return set_store_add(&groups->store, set->values, set->size);
}

/*
 * Return the state of a set, which the caller may alter if `change`; valid
 * until the next call.
 */
static SetState *
state_of(SetGroups *groups, uint32 set, bool change)
{
	return disk_array_at(&groups->states, set, change);
}

/* True if an algorithm finds candidates by keys, without the values of sets. */
static bool
finds_by_keys(const Algorithm *algorithm)
{
	/* keys of an algorithm with its own index are no features */
	return algorithm->compare != NULL && !algorithm->own_index;
}

/* Move the sets to disk. */
static void
spill(SetGroups *groups)
{
	SetStore	in_memory = groups->store;

	set_store_begin_on_disk(&groups->store, finds_by_keys(groups->algorithm));
	for (uint32 i = 0; i < in_memory.n; i++)
	{
		const JoinSet *set = &in_memory.sets[i];

		CHECK_FOR_INTERRUPTS();
		state_of(groups, i, true)->place =
			set_store_add(&groups->store, set->values, set->size);
	}
	set_store_end(&in_memory);
}

/* Return the bytes that known sets may take. */
static size_t
known_memory(const SetGroups *groups)
{
	/* sets in the file use no memory, and there is no index yet */
	return memory_share(groups, groups->store.on_disk ?
						KNOWN_SHARE + INDEX_SHARE : KNOWN_SHARE);
}

uint32
set_groups_add(SetGroups *groups, const uint64 *values, uint32 n, uint32 row,
			   uint32 name)
{
	SetState	state = {
		.link = groups->store.n,.row = row,.similarity = -1,.name = name
	};
	JoinSet		set = {
		.size = n,.nvalues = n,.values = unconstify(uint64 *, values)
	};
	SetKey		key = set_key(groups->keys.secret, values, n);
	uint32		known = NOT_KNOWN;
	MemoryContext old;

	Assert(n > 0 && groups->context != NULL);
	Assert(name == 0 || groups->apart != NULL);
	/* a set with a name does not get the number of an equal set */
	if (name == 0)
		known = known_sets_find(&groups->known, key);
	if (known != NOT_KNOWN)
		return known;
	old = MemoryContextSwitchTo(groups->context);
	if (name == 0)
		known_sets_add(&groups->known, key, state.link, known_memory(groups));
	state.reflexive = is_reflexive(groups, &set);
	state.place = store_set(groups, &set);
	disk_array_append(&groups->states, &state, 1);
	if (!groups->store.on_disk &&
		bytes_of_all(groups) > memory_share(groups, INDEX_SHARE))
		spill(groups);
	MemoryContextSwitchTo(old);
	return state.link;
}

void
set_groups_keep_apart(SetGroups *groups, NamesApart apart, void *context)
{
	Assert(groups->store.n == 0);
	groups->apart = apart;
	groups->apart_context = context;
}

bool
set_groups_has_untracked(const SetGroups *groups)
{
	return known_sets_has_untracked(&groups->known);
}

void
set_groups_seed(SetGroups *groups, uint32 set, uint32 row, bool represents,
				double similarity)
{
	SetState   *state = state_of(groups, set, true);

	Assert(groups->context != NULL);
	Assert(state->status != REPRESENTATIVE && state->status != MEMBER);
	/* rows that equal a representative may come before it */
	if (represents && state->status != SEEDED)
	{
		state->status = SEEDED;
		state->row = row;
	}
	else if (state->status == UNDECIDED)
	{
		state->status = FOREIGN_MEMBER;
		state->similarity = similarity;
		groups->members_from = 0;
	}
}

void
set_groups_unite(SetGroups *groups, uint32 a, uint32 b)
{
	links_unite(&groups->states, a, b);
}

/* Bits of statuses, for next_set() */
#define STATUS_BIT(status)	(1 << (status))
#define WAITING				(STATUS_BIT(UNDECIDED) | STATUS_BIT(SEEDED))
#define MEMBERS				(STATUS_BIT(MEMBER) | STATUS_BIT(FOREIGN_MEMBER))
#define ALL_SETS			0

/*
 * Return the next set whose status is among these, valid until the next call;
 * NULL = none is left.
 */
static JoinSet *
next_set(SetGroups *groups, int statuses)
{
	uint32		number;

	while (set_store_next(&groups->store, &number))
	{
		if (statuses == ALL_SETS ||
			(statuses & STATUS_BIT(state_of(groups, number, false)->status)) != 0)
			return set_store_read(&groups->store);
		set_store_skip(&groups->store);
	}
	return NULL;
}

/* True if sets are on disk, and found by keys. */
static bool
is_by_keys(const SetGroups *groups)
{
	return groups->store.on_disk && groups->store.by_keys;
}

/* Preparation */

/*
 * EqualSetCallback: leave a set out that equals one before it, which takes over
 * what is known of it.
 */
static void
leave_equal_out(void *context, uint32 number, uint32 first)
{
	SetGroups  *groups = context;
	SetState   *state = state_of(groups, number, true);
	SetState	known = *state;

	state->status = EQUAL;
	if (groups->rule == RULE_CONNECTED)
	{
		links_unite(&groups->states, number, first);
		return;
	}
	state->link = first;
	if (known.status != UNDECIDED)
		set_groups_seed(groups, first, known.row, known.status == SEEDED,
						known.similarity);
}

/* Give each set that equals one before it the group of that set. */
static void
decide_equal(SetGroups *groups)
{
	for (uint32 i = 0; i < groups->states.n; i++)
	{
		const SetState *state = state_of(groups, i, false);
		SetState	first;

		CHECK_EVERY(i);
		if (state->status != EQUAL || groups->rule == RULE_CONNECTED)
			continue;
		first = *state_of(groups, state->link, false);
		*state_of(groups, i, true) = first;
	}
}

/*
 * True if a set needs no keys, as it equals one before it.  An algorithm that
 * does not find sets by keys alone prepares all.
 */
static bool
needs_no_keys(SetGroups *groups, const JoinSet *set)
{
	return finds_by_keys(groups->algorithm) &&
		state_of(groups, set->first, false)->status == EQUAL;
}

/* Count the features of all sets. */
static void
count_features(SetGroups *groups)
{
	JoinSearch *search = &groups->search;
	const Algorithm *algorithm = groups->algorithm;
	JoinSet    *set;

	/* on disk there is no index yet */
	if (algorithm->ordered)
		counters_create(&search->counters, groups->nvalues,
						memory_share(groups, groups->store.on_disk ?
									 INDEX_SHARE : COUNTERS_SHARE));
	while ((set = set_store_next_added(&groups->store)) != NULL)
		if (needs_no_keys(groups, set))
			continue;
		else if (algorithm->count != NULL)
			algorithm->count(search, set->values, set->size);
		else
			counters_add(&search->counters, set->values, set->size);
	if (algorithm->ordered)
		counters_fold(&search->counters);
}

/* SetStaysCallback: all sets do that equal none before them. */
static SetStays
different_stay(void *context, uint32 number, uint32 *owner)
{
	*owner = number;
	return state_of(context, number, false)->status == EQUAL ? SET_LEAVES :
		SET_STAYS;
}

/*
 * SetStaysCallback: waiting sets do; and members, until no key leads to
 * another set.
 */
static SetStays
waiting_stay(void *context, uint32 number, uint32 *owner)
{
	int			bit = STATUS_BIT(state_of(context, number, false)->status);

	*owner = number;
	if ((bit & WAITING) != 0)
		return SET_STAYS;
	return (bit & MEMBERS) != 0 ? SET_STAYS_WITH_KEYS : SET_LEAVES;
}

/* SetStaysCallback: sets with keys that another component has. */
static SetStays
connecting_stay(void *context, uint32 number, uint32 *owner)
{
	SetGroups  *groups = context;

	*owner = links_root(&groups->states, number);
	return SET_STAYS_WITH_KEYS;
}

/* Drop keys that lead to no other owner of sets that stay. */
static void
drop_lonely_keys(SetGroups *groups, SetStaysCallback stays)
{
	groups->npostings = lonely_keys_drop(&groups->store, groups->npostings,
										 memory_share(groups, INDEX_SHARE),
										 stays, groups);
}

/* Compute the keys of each set. */
static void
prepare_sets(SetGroups *groups)
{
	JoinSearch *search = &groups->search;
	const Algorithm *algorithm = groups->algorithm;
	SetStore   *store = &groups->store;
	JoinSet    *set;

	search->room = palloc_huge(search->max_features, sizeof(uint64));
	set_store_rewind(store);
	if (algorithm->ordered || algorithm->count != NULL)
		count_features(groups);
	/* keys depend on whether the index grows */
	search->index.mode = INDEX_GROWING;
	set_store_begin_preparing(store);
	set_store_rewind(store);
	while ((set = set_store_next_added(store)) != NULL)
	{
		if (!store->on_disk && algorithm->ordered && set->first + 1 < store->n)
			counters_fetch(&search->counters, set[1].values, set[1].size);
		if (needs_no_keys(groups, set))
			set->keys = search->room;
		else
			algorithm->prepare(search, set, true, true);
		set_store_prepared(store, set);
	}
	set_store_end_preparing(store);
	if (store->on_disk)
		counters_free(&search->counters);
	if (is_by_keys(groups))
		drop_lonely_keys(groups, groups->rule == RULE_GREEDY ? waiting_stay :
						 different_stay);
}

/* The indexes */

/* Return the bytes that an index may take. */
static size_t
index_memory(const SetGroups *groups)
{
	if (groups->used == &groups->batch)
		return memory_share(groups, BATCH_SHARE);
	return memory_share(groups, is_by_keys(groups) ? KEYS_SHARE : INDEX_SHARE);
}

/* Use an index: it is probed, and sets are added to it. */
static void
use_index(SetGroups *groups, GroupIndex *use)
{
	groups->used->index = groups->search.index;
	groups->search.index = use->index;
	groups->search.sets = use->members;
	groups->used = use;
}

/* Empty the index in use. */
static void
begin_index(SetGroups *groups)
{
	JoinSearch *search = &groups->search;
	uint64		npostings;

	if (groups->algorithm->end_chunk != NULL)
		groups->algorithm->end_chunk(search);
	if (search->index.buckets != NULL)
		inverted_index_free(&search->index);
	arena_reset(&groups->used->arena);
	npostings = Min(groups->npostings,
					index_memory(groups) / (8 * sizeof(Posting)));
	growing_index_create(&search->index, npostings,
						 groups->algorithm->ordered ? search->counters.used :
						 groups->npostings);
	/* what is on disk is read, so that most of the time is of the CPU's cache */
	if (is_by_keys(groups) && groups->used == &groups->main)
		growing_index_create_filter(&search->index, npostings * 4);
}

/* Return the bytes of an index in use with n more sets of nkeys keys in all. */
static size_t
index_bytes_with(const SetGroups *groups, uint32 n, uint64 nkeys)
{
	size_t		own = groups->algorithm->own_index ?
	(groups->search.index.nadded + (size_t) n) *
	(groups->npostings / groups->store.n) * sizeof(Posting) : 0;

	return growing_index_bytes_with(&groups->search.index, n, nkeys) + own +
		groups->used->arena.bytes +
		groups->used->max_members * sizeof(JoinSet);
}

/*
 * Return the bytes of a set that an index stores: all of it if it is on disk,
 * or its bitmap.
 */
static size_t
stored_bytes(const SetGroups *groups, const JoinSet *set)
{
	if (!groups->store.on_disk || groups->used == &groups->batch)
		return 0;
	if (is_by_keys(groups))
		return set->nkeys == 0 ? 0 : bitmap_bytes(set->size);
	return set_bytes(set->size) + sizeof(uint64) * set->nkeys;
}

/* Copy what the index stores of a set. */
static void
store_indexed(SetGroups *groups, JoinSet *set)
{
	size_t		bytes = stored_bytes(groups, set);
	size_t		bitmap = bitmap_bytes(set->size);
	char	   *place;

	if (bytes == 0)
		return;
	place = arena_alloc(&groups->used->arena, bytes);
	memcpy(place, (char *) set->values - bitmap, bytes);
	set->values = (uint64 *) (place + bitmap);
	if (!is_by_keys(groups))
		set->keys = set->values + set->nvalues;
}

/* True if the index has room for a set. */
static bool
has_room(SetGroups *groups, const JoinSet *set)
{
	size_t		bytes = index_bytes_with(groups, 1, set->nkeys) +
	stored_bytes(groups, set) + set_store_bytes(&groups->store);

	/* an empty index takes any set; a batch has room for all of its sets */
	return groups->search.index.nadded == 0 ||
		groups->used == &groups->batch || bytes <= index_memory(groups);
}

/* Return the place of the next member of the index in use. */
static JoinSet *
next_member(SetGroups *groups)
{
	GroupIndex *used = groups->used;
	uint32		number = groups->search.index.nadded;

	if (number == used->max_members)
	{
		/* in small steps, to leave memory for postings */
		used->max_members += Max(used->max_members / 4, 16);
		used->members = used->members == NULL ?
			palloc(used->max_members * sizeof(JoinSet)) :
			repalloc_huge(used->members, used->max_members * sizeof(JoinSet));
		groups->search.sets = used->members;
	}
	return &used->members[number];
}

/* Add a prepared set to the index in use, which refers to what it stores. */
static void
index_set(SetGroups *groups, const JoinSet *set)
{
	JoinSearch *search = &groups->search;
	uint32		n = groups->algorithm->indexed_keys(search, set);
	JoinSet    *member = next_member(groups);

	*member = *set;
	growing_index_reserve(&search->index, set->size);
	search_add(search, groups->algorithm, member, n);
	Assert(&groups->used->members[search->index.nadded - 1] == member);
}

/* Find the candidates for a prepared set: index->candidates. */
static void
probe(SetGroups *groups, const JoinSet *set)
{
	InvertedIndex *index = &groups->search.index;

	Assert(index->mode == INDEX_GROWING);
	index->limit = index->nadded;
	index->ncandidates = 0;
	if (index->nadded > 0 &&
		growing_index_may_have(index, set->keys, set->nkeys))
		groups->algorithm->probe[INDEX_GROWING] (&groups->search, set, 3);
}

/* Comparison */

/*
 * The set with all of its values, if a set on disk is found by keys: features
 * of no other set are dropped when it is prepared, but not in the file.
 */
static JoinSet
whole_set(const SetGroups *groups, const JoinSet *set)
{
	JoinSet		whole = *set;

	if (is_by_keys(groups))
		whole.nvalues = whole.size;
	return whole;
}

/* False if keys and bitmaps of two prepared sets show that they differ. */
static bool
may_match(SetGroups *groups, const JoinSet *candidate, const JoinSet *set)
{
	return !is_by_keys(groups) ||
		groups->algorithm->may_match(&groups->search, candidate, set);
}

/* True if two whole sets match. */
static bool
match(SetGroups *groups, const JoinSet *candidate, const JoinSet *set)
{
	return is_by_keys(groups) ?
		groups->algorithm->compare(&groups->search, candidate, set) :
		groups->algorithm->verify(&groups->search, candidate, set);
}

/*
 * True if a set must not belong to a representative, however similar they are.
 */
static bool
must_be_apart(SetGroups *groups, const JoinSet *set,
			  const JoinSet *representative)
{
	uint32		name;
	uint32		other;

	if (groups->apart == NULL)
		return false;
	name = state_of(groups, set->first, false)->name;
	other = state_of(groups, representative->first, false)->name;
	return name != 0 && other != 0 &&
		groups->apart(groups->apart_context, name, other);
}

/* True if a set may belong to a representative in the index. */
static bool
may_belong(SetGroups *groups, const JoinSet *set,
		   const JoinSet *representative)
{
	return match(groups, representative, set) &&
		!must_be_apart(groups, set, representative);
}

/* What is done with a candidate in the index for a set; both are whole */
typedef void (*Consider) (SetGroups *groups, const JoinSet *candidate,
						  const JoinSet *set);

/* DeferredLoad: a candidate. */
static void
load_candidate(void *context, uint32 number, JoinSet *set, Arena *arena)
{
	SetGroups  *groups = context;

	set_store_read_values(&groups->store,
						  state_of(groups, number, false)->place, number,
						  set, arena);
}

/*
 * Return the set of a deferred candidate: in the batch, if there is one, by
 * its place there, otherwise by its number.
 */
static JoinSet
deferred_set(SetGroups *groups, uint32 number)
{
	JoinSet		set;

	if (groups->nsets > 0)
		return whole_set(groups, &groups->sets[number]);
	arena_reuse(&groups->probing);
	load_candidate(groups, number, &set, &groups->probing);
	set.key.high = PG_INT64_MAX;	/* its position is not known */
	return set;
}

/* Consider the deferred candidates. */
static void
consider_deferred(SetGroups *groups, Consider consider)
{
	Deferred   *deferred = &groups->deferred;
	uint32		number;

	if (deferred->npairs == 0)
		return;
	deferred_begin(deferred);
	while (deferred_next_block(deferred, memory_share(groups, BLOCK_SHARE),
							   load_candidate, groups))
		while (deferred_next_probing(deferred, &number))
		{
			JoinSet		set = deferred_set(groups, number);
			const JoinSet *candidate;

			while ((candidate = deferred_next_found(deferred, number)) != NULL)
			{
				CHECK_FOR_INTERRUPTS();
				consider(groups, candidate, &set);
			}
		}
}

/*
 * Consider the candidates in the index for a prepared set: at once; or, if the
 * index is by keys, later, when `number` says which set it is.
 */
static void
find_candidates(SetGroups *groups, const JoinSet *set, uint32 number,
				Consider consider)
{
	const InvertedIndex *index = &groups->search.index;

	probe(groups, set);
	for (uint32 i = 0; i < index->ncandidates; i++)
	{
		const JoinSet *candidate = &groups->search.sets[index->candidates[i]];

		CHECK_EVERY(i);
		if (!is_by_keys(groups))
			consider(groups, candidate, set);
		else if (may_match(groups, candidate, set))
			deferred_add(&groups->deferred, candidate->first, number);
	}
	if (is_by_keys(groups) && deferred_is_full(&groups->deferred))
		consider_deferred(groups, consider);
}

/* Greedy, and the first pass of both rules */

/* Return a representative in the index to which a set may belong, or NULL. */
static const JoinSet *
near_representative(SetGroups *groups, const JoinSet *set)
{
	const InvertedIndex *index = &groups->search.index;
	JoinSet		whole = whole_set(groups, set);

	/* in memory, the sets after this one are probably decided next */
	if (!groups->store.on_disk)
		groups->search.next_probes = groups->store.n - set->first;
	probe(groups, set);
	groups->search.next_probes = 0;
	for (uint32 i = 0; i < index->ncandidates; i++)
	{
		const JoinSet *candidate = &groups->search.sets[index->candidates[i]];
		JoinSet		other;

		CHECK_EVERY(i);
		if (!may_match(groups, candidate, set))
			continue;
		other = whole_set(groups, candidate);
		if (may_belong(groups, &whole, &other))
			return candidate;
	}
	return NULL;
}

/* Make a set a member of a representative. */
static void
make_member(SetGroups *groups, const JoinSet *set,
			const JoinSet *representative)
{
	SetState   *state = state_of(groups, set->first, true);

	Assert(state->status == UNDECIDED && representative->first < set->first);
	state->status = MEMBER;
	groups->members_from = Min(groups->members_from, (uint64) set->key.high);
	if (groups->rule == RULE_CONNECTED)
		links_unite(&groups->states, set->first, representative->first);
	else
		state->link = representative->first;
}

/* Make a set a representative. */
static void
make_representative(SetGroups *groups, const JoinSet *set)
{
	SetState   *state = state_of(groups, set->first, true);

	Assert((STATUS_BIT(state->status) & WAITING) != 0);
	state->status = REPRESENTATIVE;
	state->similarity = paired_similarity(groups->kind,
										  groups->search.measure, set, set);
}

/* Store a representative in the index. */
static void
add_representative(SetGroups *groups, const JoinSet *set)
{
	JoinSet		stored = *set;

	store_indexed(groups, &stored);
	index_set(groups, &stored);
}

/*
 * Decide a waiting set by the representatives in the index; false if it is a
 * representative for which there is no room.
 */
static bool
decide_set(SetGroups *groups, const JoinSet *set)
{
	const JoinSet *near = NULL;

	if (state_of(groups, set->first, false)->status != SEEDED)
		near = near_representative(groups, set);
	if (near == NULL && !has_room(groups, set))
		return false;
	if (near != NULL)
		make_member(groups, set, near);
	else
	{
		make_representative(groups, set);
		add_representative(groups, set);
	}
	return true;
}

/*
 * Decide the waiting sets in order, until the index is full: false if it is.
 */
static bool
decide_sets(SetGroups *groups)
{
	JoinSet    *set;

	while ((set = next_set(groups, WAITING)) != NULL)
		if (!decide_set(groups, set))
		{
			groups->undecided_from = set->key.high;
			return false;
		}
	return true;
}

/* Sets on disk that are found by keys are decided in batches */

/*
 * True if the batch can have another set, after sets of nkeys keys: it is in
 * memory, and the index has room for all of it.
 */
static bool
batch_has_room(SetGroups *groups, const JoinSet *set, uint64 nkeys)
{
	uint32		n = groups->nsets + 1;

	if (n == 1 && groups->search.index.nadded == 0)
		return true;
	nkeys += set->nkeys;
	if (n > 1 && groups->arena.bytes + groups->max_sets * sizeof(JoinSet) +
		nkeys * 3 * sizeof(Posting) > memory_share(groups, BATCH_SHARE))
		return false;
	return index_bytes_with(groups, n, nkeys) +
		n * stored_bytes(groups, set) <= index_memory(groups);
}

/* Add a waiting set, with its values, to the batch. */
static void
add_to_batch(SetGroups *groups, const JoinSet *keys)
{
	size_t		bitmap = bitmap_bytes(keys->size);
	JoinSet    *set;
	JoinSet		values;

	groups->sets = growing_reserve(groups->sets, &groups->max_sets,
								   groups->nsets + 1, sizeof(JoinSet));
	set = &groups->sets[groups->nsets++];
	*set = *keys;
	load_candidate(groups, keys->first, &values, &groups->arena);
	set->values = values.values;
	set->keys = arena_alloc(&groups->arena, sizeof(uint64) * keys->nkeys);
	memcpy(set->keys, keys->keys, sizeof(uint64) * keys->nkeys);
	if (keys->nkeys > 0)
		memcpy((char *) set->values - bitmap, (char *) keys->values - bitmap,
			   bitmap);
}

/*
 * Read the next waiting sets that have room; false if some are left and none
 * has.
 */
static bool
read_batch(SetGroups *groups)
{
	uint64		nkeys = 0;
	JoinSet    *set;

	arena_reuse(&groups->arena);
	groups->nsets = 0;
	set_store_seek(&groups->store, groups->undecided_from);
	while ((set = next_set(groups, WAITING)) != NULL &&
		   (set->nkeys == 0 || batch_has_room(groups, set, nkeys)))
		/* a set without keys has no match */
		if (set->nkeys == 0)
			make_representative(groups, set);
		else
		{
			nkeys += set->nkeys;
			add_to_batch(groups, set);
		}
	groups->undecided_from = set != NULL ? (uint64) set->key.high :
		groups->store.position;
	return set == NULL || groups->nsets > 0;
}

/* Consider: make a set a member of the first representative that matches. */
static void
join_representative(SetGroups *groups, const JoinSet *representative,
					const JoinSet *set)
{
	if (state_of(groups, set->first, false)->status == UNDECIDED &&
		may_belong(groups, set, representative))
		make_member(groups, set, representative);
}

/*
 * Decide the batch: by the representatives before it, then in order by its
 * own, whose index has whole sets.
 */
static void
decide_batch(SetGroups *groups)
{
	for (size_t i = 0; i < groups->nsets; i++)
		if (state_of(groups, groups->sets[i].first, false)->status != SEEDED)
			find_candidates(groups, &groups->sets[i], i, join_representative);
	consider_deferred(groups, join_representative);
	use_index(groups, &groups->batch);
	begin_index(groups);
	for (size_t i = 0; i < groups->nsets; i++)
		if (state_of(groups, groups->sets[i].first, false)->status != MEMBER)
			(void) decide_set(groups, &groups->sets[i]);
	use_index(groups, &groups->main);
	for (size_t i = 0; i < groups->nsets; i++)
		if (state_of(groups, groups->sets[i].first,
					 false)->status == REPRESENTATIVE)
			add_representative(groups, &groups->sets[i]);
}

/* As decide_sets(), by batches. */
static bool
decide_batches(SetGroups *groups)
{
	bool		room;

	while ((room = read_batch(groups)) && groups->nsets > 0)
		decide_batch(groups);
	groups->nsets = 0;
	return room;
}

/*
 * Consider: a representative is nearer to a set than its own, or the set has
 * none.
 */
static void
prefer_nearer(SetGroups *groups, const JoinSet *representative,
			  const JoinSet *set)
{
	double		similarity;
	SetState   *state;

	if (!may_belong(groups, set, representative))
		return;
	similarity = paired_similarity(groups->kind, groups->search.measure,
								   representative, set);
	Assert(representative->first != set->first);
	state = state_of(groups, set->first, true);

	/* on a tie, a representative that was not added comes before all sets */
	if (similarity < state->similarity ||
		(similarity == state->similarity &&
		 (state->status == FOREIGN_MEMBER ||
		  representative->first >= state->link)))
		return;
	state->similarity = similarity;
	state->status = MEMBER;
	state->link = representative->first;
}

/*
 * Find the representatives of members among those in the index; and, if it was
 * full, of undecided sets.
 */
static void
find_members(SetGroups *groups, bool full)
{
	bool		greedy = groups->rule == RULE_GREEDY;
	int			statuses = (greedy ? MEMBERS : 0) |
	(full ? STATUS_BIT(UNDECIDED) : 0);
	JoinSet    *set;

	if (full)
		groups->members_from = Min(groups->members_from,
								   groups->undecided_from);
	if (statuses == 0 || groups->members_from == PG_UINT64_MAX)
		return;
	set_store_seek(&groups->store, greedy ? groups->members_from :
				   groups->undecided_from);
	while ((set = next_set(groups, statuses)) != NULL)
		find_candidates(groups, set, set->first, greedy ? prefer_nearer :
						join_representative);
	consider_deferred(groups, greedy ? prefer_nearer : join_representative);
}

/* They are left out when one in DECIDED of the sets is a representative. */
#define DECIDED		4

/*
 * Leave sets out of the file that lead nowhere now, and such keys of others;
 * the index is not needed any more.
 */
static void
forget_sets(SetGroups *groups, SetStaysCallback stays)
{
	inverted_index_free(&groups->search.index);
	arena_reset(&groups->main.arena);
	drop_lonely_keys(groups, stays);
	groups->undecided_from = groups->members_from = 0;
}

/* Choose representatives, and find the members of each, in rounds. */
static void
choose_representatives(SetGroups *groups)
{
	bool		full;
	uint64		decided = 0;

	do
	{
		begin_index(groups);
		set_store_seek(&groups->store, groups->undecided_from);
		full = !(is_by_keys(groups) ? decide_batches(groups) :
				 decide_sets(groups));
		find_members(groups, full);
		decided += groups->search.index.nadded;
		if (full && is_by_keys(groups) && groups->rule == RULE_GREEDY &&
			decided > groups->store.nprepared / DECIDED)
		{
			forget_sets(groups, waiting_stay);
			decided = 0;
		}
	} while (full);
}

/* Connected, second pass */

#define NO_COMPONENT	UINT32_MAX

/*
 * Compare sets by their representatives after the first pass, then by their
 * numbers.
 */
static int
compare_members(const void *a, const void *b, void *unused)
{
	const JoinSet *x = a;
	const JoinSet *y = b;

	if (x->key.low != y->key.low)
		return x->key.low < y->key.low ? -1 : 1;
	return x->first < y->first ? -1 : x->first > y->first;
}

/*
 * Read the next sets, as many as fit into memory with an index; return their
 * number.
 */
static uint32
read_block(SetGroups *groups)
{
	size_t		bytes = 0;
	uint32		n = 0;
	JoinSet    *set;

	arena_reuse(&groups->arena);
	while (bytes < index_memory(groups) &&
		   (set = next_set(groups, ALL_SETS)) != NULL)
	{
		JoinSet		stored = *set;
		size_t		keys = sizeof(uint64) * set->nkeys;

		store_indexed(groups, &stored);
		if (is_by_keys(groups))
			stored.keys = memcpy(arena_alloc(&groups->arena, keys), set->keys,
								 keys);
		if (groups->store.on_disk)
			bytes += set->nkeys * 4 * sizeof(Posting) +
				stored_bytes(groups, set) + sizeof(JoinSet) * 3;
		stored.key.low = links_root(&groups->states, set->first);
		groups->main.members = growing_reserve(groups->main.members,
											   &groups->main.max_members,
											   n + (size_t) 1,
											   sizeof(JoinSet));
		groups->main.members[n++] = stored;
	}
	groups->search.sets = groups->main.members;
	return n;
}

/*
 * Index the next sets; a representative and its members are a run.  False if
 * there is none.
 */
static bool
index_block(SetGroups *groups)
{
	JoinSearch *search = &groups->search;
	JoinSet    *members;
	uint32		n;
	uint32		start = 0;

	begin_index(groups);
	n = read_block(groups);
	groups->ncomponents = Min(n, 1);
	members = groups->main.members;
	qsort_interruptible(members, n, sizeof(JoinSet), compare_members, NULL);
	search->components = palloc_huge(n, sizeof(uint32));
	search->run_ends = palloc_huge(n, sizeof(uint32));
	groups->places = palloc_huge(n, sizeof(uint64));
	for (uint32 i = 0; i < n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (members[i].key.low != members[start].key.low)
		{
			groups->ncomponents++;
			start = i;
		}
		search->components[i] = start;
		search->run_ends[start] = i + 1;
		groups->places[i] = (uint64) members[i].first << 32 | i;
		index_set(groups, &members[i]);
	}
	sort_hashes(groups->places, n);
	for (uint32 i = 0; i < n; i++)
		search->run_ends[i] = search->run_ends[search->components[i]];
	return n > 0;
}

/* Free the index of a block. */
static void
end_block(SetGroups *groups)
{
	pfree(groups->search.components);
	pfree(groups->search.run_ends);
	pfree(groups->places);
	groups->search.components = NULL;
	groups->search.run_ends = NULL;
}

/*
 * Return the component in the index for the sets of a representative, or
 * NO_COMPONENT.
 */
static uint32
indexed_component(const SetGroups *groups, uint32 representative)
{
	uint32		low = 0;
	uint32		high = groups->search.index.nadded;

	while (low < high)
	{
		uint32		middle = low + (high - low) / 2;

		if (groups->main.members[middle].key.low < representative)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == groups->search.index.nadded ||
		groups->main.members[low].key.low != representative)
		return NO_COMPONENT;
	return search_component(&groups->search, low);
}

/* Return the number in the index of a set that is there. */
static uint32
indexed_place(const SetGroups *groups, uint32 set)
{
	uint32		low = 0;
	uint32		high = groups->search.index.nadded;

	while (high - low > 1)
	{
		uint32		middle = low + (high - low) / 2;

		if (groups->places[middle] >> 32 <= set)
			low = middle;
		else
			high = middle;
	}
	Assert(groups->places[low] >> 32 == set);
	return (uint32) groups->places[low];
}

/* Consider: unite the component of a set with the component of a match. */
static void
connect_match(SetGroups *groups, const JoinSet *member, const JoinSet *set)
{
	JoinSearch *search = &groups->search;
	uint32		first = links_root(&groups->states, set->first);
	uint32		other = links_root(&groups->states, member->first);
	uint32		own;
	uint32		component;

	if (first != other && !match(groups, member, set))
		return;
	own = indexed_component(groups, first);
	component = search_component(search, indexed_place(groups, member->first));
	links_unite(&groups->states, first, other);
	/* the union begins with the first set of either component */
	if (own != NO_COMPONENT && own != component)
	{
		search->components[Max(own, component)] = Min(own, component);
		groups->ncomponents--;
	}
	search->component = Min(own, component);
}

/*
 * Unite the component of a set with the components of its matches in the
 * index.
 */
static void
connect_set(SetGroups *groups, const JoinSet *set)
{
	uint32		first = links_root(&groups->states, set->first);
	uint32		component = indexed_component(groups, first);

	Assert(first <= set->first);
	if (component != NO_COMPONENT && groups->ncomponents == 1)
		return;
	groups->search.component = component;
	find_candidates(groups, set, set->first, connect_match);
}

/* Unite the components of matching sets. */
static void
connect(SetGroups *groups)
{
	uint64		position = 0;
	JoinSet    *set;

	if (groups->members_from == PG_UINT64_MAX)
		return;
	if (is_by_keys(groups))
		forget_sets(groups, connecting_stay);
	for (;;)
	{
		bool		more;

		set_store_seek(&groups->store, position);
		more = index_block(groups);
		position = set_store_tell(&groups->store);
		set_store_seek(&groups->store, groups->members_from);
		while (more && (set = next_set(groups, MEMBERS)) != NULL)
			connect_set(groups, set);
		consider_deferred(groups, connect_match);
		end_block(groups);
		if (!more)
			return;
	}
}

/* Prepare the search of sets on disk that are found by keys. */
static void
begin_by_keys(SetGroups *groups)
{
	size_t		block = Min(Max(groups->memory / 128, 1024), 64 * 1024);

	groups->search.only_keys = true;
	deferred_create(&groups->deferred, memory_share(groups, PAIRS_SHARE),
					block);
	arena_init(&groups->arena, block);
	arena_init(&groups->probing, block);
}

size_t
set_groups_held(const SetGroups *groups)
{
	return groups->context != NULL ? groups->memory :
		memory_share(groups, STATES_SHARE);
}

void
set_groups_decide(SetGroups *groups, GroupRule rule, size_t memory)
{
	MemoryContext old = MemoryContextSwitchTo(groups->context);

	Assert(groups->context != NULL && groups->states.n == groups->store.n);
	groups->rule = rule;
	groups->memory = Max(groups->memory, memory);
	known_sets_find_equal(&groups->known, known_memory(groups),
						  leave_equal_out, groups);
	if (groups->store.n > 0)
	{
		prepare_sets(groups);
		if (is_by_keys(groups))
			begin_by_keys(groups);
		choose_representatives(groups);
		if (rule == RULE_CONNECTED)
			connect(groups);
		decide_equal(groups);
	}
	MemoryContextSwitchTo(old);
	end_deciding(groups);
}

GroupMember
set_groups_member(SetGroups *groups, uint32 set, uint32 row)
{
	SetState	state = *state_of(groups, set, false);
	uint32		representative = state_of(groups,
										  links_root(&groups->states, set),
										  false)->row;
	GroupMember member = {row, get_float8_nan()};

	Assert(state.status > SEEDED && groups->context == NULL);
	/* if a set does not match itself, only its first row joins a group */
	if (representative == row || (!state.reflexive && row != state.row))
		return member;
	member.representative = representative;
	if (groups->rule == RULE_GREEDY && state.similarity >= 0)
		member.similarity = state.similarity;
	return member;
}
