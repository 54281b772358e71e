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
 * When the index is full, a pass continues with members only, and further
 * rounds decide the other sets.
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
#include "groups/disk_array.h"
#include "groups/set_groups.h"
#include "join/engine/rows.h"
#include "join/engine/set_table.h"
#include "join/engine/search.h"

/*
 * Shares of the memory, in sixteenths.  The rest is for sets and their index.
 */
#define STATES_SHARE	4
#define KNOWN_SHARE		2
#define COUNTERS_SHARE	2		/* reserved once known sets are freed */
#define INDEX_SHARE		10

/* Status of a set */
typedef enum SetStatus
{
	UNDECIDED,
	SEEDED,						/* known to be a representative, not indexed
								 * yet */
	REPRESENTATIVE,
	MEMBER,						/* linked to its representative */
	FOREIGN_MEMBER				/* member of a representative that was not
								 * added */
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
	uint32		name;			/* name that SetGroups.apart knows; 0 = none */
	uint8		status;
	bool		reflexive;		/* true if the set matches itself */
} SetState;

/* Header of a set in the file; the bitmap, the values and the keys follow */
typedef struct SetRecord
{
	uint32		size;
	uint32		nvalues;
	uint32		nkeys;			/* number of keys; 0 = not prepared, without a
								 * bitmap */
} SetRecord;

/* Entry of the hash table by which an equal set gets the same number */
typedef struct KnownSet
{
	SetKey		key;
	uint32		number;
	char		status;
} KnownSet;

#define SH_PREFIX		known
#define SH_ELEMENT_TYPE KnownSet
#define SH_KEY_TYPE		SetKey
#define SH_KEY			key
#define SH_HASH_KEY(table, key)	((uint32) (key).low)
#define SH_EQUAL(table, a, b)	((a).high == (b).high && (a).low == (b).low)
#define SH_SCOPE		static inline
#define SH_DEFINE
#define SH_DECLARE
#include "lib/simplehash.h"

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
	known_hash *known;
	bool		forgot;			/* true if a set was not stored in `known` */
	uint32		n;
	uint64		nvalues;
	uint64		npostings;
	DiskArray	states;			/* SetState by set number */
	GroupRule	rule;
	NamesApart	apart;			/* NULL = no set has a name */
	void	   *apart_context;

	/* the sets, by number: in memory, or in a file if spilled */
	Arena		values;
	JoinSet    *sets;
	size_t		max_sets;
	bool		spilled;
	SpillFile	file;
	SpillReader reader;
	char	   *place;			/* the set that was read last, as bytes */
	size_t		max_place;
	JoinSet		read;
	uint32		next;			/* number of the next set to read */

	/* the index */
	Arena		indexed;		/* values and keys of indexed sets that come
								 * from the file */
	JoinSet    *members;		/* JoinSearch.sets: indexed sets, by their
								 * number in the index */
	size_t		max_members;
};

SetGroups *
set_groups_begin(SignatureKind kind, Measure measure, double threshold,
				 size_t memory)
{
	SetGroups  *groups = palloc0(sizeof(SetGroups));
	MemoryContext old;

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
	groups->known = known_create(groups->context, 1024, NULL);
	arena_init(&groups->values,
			   Min(Max(groups->memory / 64, 1024), 64 * 1024));
	arena_init(&groups->indexed,
			   Min(Max(groups->memory / 64, 1024), 64 * 1024));
	MemoryContextSwitchTo(old);
	return groups;
}

/* Free all but the states. */
static void
end_deciding(SetGroups *groups)
{
	spillfile_close(&groups->file);
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

#define index_memory(groups)	((groups)->memory / 16 * INDEX_SHARE)

/* Return the bytes that the sets in memory and an index of all sets take. */
static size_t
bytes_of_all(const SetGroups *groups)
{
	return groups->values.bytes + groups->max_sets * 3 * sizeof(JoinSet) +
		groups->npostings * (5 * sizeof(Posting) + sizeof(uint64));
}

/* Create a file of sets. */
static void
create_file(SpillFile *file)
{
	static const SpillStore private_store = {.nparts = 1};

	spillfile_create(file, &private_store, "sets");
}

/*
 * Write a set.  Before it is prepared it has no keys, and its bitmap is not
 * written.
 */
static void
write_set(SpillFile *file, const JoinSet *set)
{
	SetRecord	record = {set->size, set->nvalues, set->nkeys};
	uint64	   *begin = set->nkeys == 0 ? set->values :
	set->values - bitmap_bytes(set->size) / sizeof(uint64);

	spillfile_write(file, &record, sizeof(record));
	spillfile_write(file, begin,
					(char *) (set->values + set->nvalues) - (char *) begin);
	spillfile_write(file, set->keys, sizeof(uint64) * set->nkeys);
}

/* Move the sets to a file. */
static void
spill(SetGroups *groups)
{
	groups->spilled = true;
	create_file(&groups->file);
	spillreader_create(&groups->reader, &groups->file, BLCKSZ);
	for (uint32 i = 0; i < groups->n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		write_set(&groups->file, &groups->sets[i]);
	}
	arena_reset(&groups->values);
	if (groups->sets != NULL)
		pfree(groups->sets);
	groups->sets = NULL;
	groups->max_sets = 0;
}

/* Store the values of the next set. */
static void
store_set(SetGroups *groups, const uint64 *values, uint32 n)
{
	JoinSet		set = {.size = n,.nvalues = n};

	Assert(n > 0 && groups->context != NULL);
	groups->nvalues += n;
	groups->search.max_features = Max(groups->search.max_features, n);
	set.values = unconstify(uint64 *, values);
	groups->npostings += groups->algorithm->max_indexed(&groups->search, &set);
	if (!groups->spilled && bytes_of_all(groups) > index_memory(groups))
		spill(groups);
	if (groups->spilled)
	{
		write_set(&groups->file, &set);
		return;
	}
	if (groups->n == groups->max_sets)
		groups->sets = growing_reserve(groups->sets, &groups->max_sets,
									   groups->n + (size_t) 1,
									   sizeof(JoinSet));
	set.values = set_values(arena_alloc(&groups->values, set_bytes(n)), n);
	memcpy(set.values, values, sizeof(uint64) * n);
	set.first = groups->n;
	groups->sets[groups->n] = set;
}

/* True if memory allows another entry in the table of known sets. */
static bool
may_know_more(const SetGroups *groups)
{
	/* sets in the file use no memory, and there is no index yet */
	size_t		share = groups->spilled ? KNOWN_SHARE + INDEX_SHARE :
	KNOWN_SHARE;

	return groups->known->members < groups->known->grow_threshold ||
		groups->known->size * 3 * sizeof(KnownSet) <= groups->memory /
		16 * share;
}

uint32
set_groups_add(SetGroups *groups, const uint64 *values, uint32 n, uint32 row,
			   uint32 name)
{
	SetState	state = {
		.link = groups->n,.row = row,.similarity = -1,.name = name,
		.reflexive = true
	};
	SetKey		key = set_key(groups->keys.secret, values, n);
	KnownSet   *known = name == 0 ? known_lookup(groups->known, key) : NULL;
	MemoryContext old;

	Assert(n > 0 && groups->context != NULL);
	Assert(name == 0 || groups->apart != NULL);
	if (known != NULL)
		return known->number;
	if (name != 0)
		;						/* an equal set must not get its number */
	else if (may_know_more(groups))
	{
		bool		unused;

		known_insert(groups->known, key, &unused)->number = groups->n;
	}
	else
		groups->forgot = true;
	old = MemoryContextSwitchTo(groups->context);
	store_set(groups, values, n);
	disk_array_append(&groups->states, &state, 1);
	MemoryContextSwitchTo(old);
	return groups->n++;
}

void
set_groups_keep_apart(SetGroups *groups, NamesApart apart, void *context)
{
	Assert(groups->n == 0);
	groups->apart = apart;
	groups->apart_context = context;
}

bool
set_groups_has_untracked(const SetGroups *groups)
{
	return groups->forgot;
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
	}
}

void
set_groups_unite(SetGroups *groups, uint32 a, uint32 b)
{
	links_unite(&groups->states, a, b);
}

/* Bits of statuses, for next_set() */
#define STATUS_BIT(status)	(1 << (status))
#define MEMBERS				(STATUS_BIT(MEMBER) | STATUS_BIT(FOREIGN_MEMBER))
#define ALL_SETS			0

/* Reading sets */

/* Begin to read from the first set. */
static void
rewind_sets(SetGroups *groups)
{
	groups->next = 0;
	if (groups->spilled)
		spillreader_seek(&groups->reader, 0);
}

/* Read the next set from the file. */
static JoinSet *
read_set(SetGroups *groups)
{
	JoinSet    *set = &groups->read;
	SetRecord	record;
	char	   *begin;

	spillreader_read(&groups->reader, &record, sizeof(record));
	Assert(record.nvalues <= record.size && groups->next < groups->n);
	groups->place = growing_reserve(groups->place, &groups->max_place,
									set_bytes(record.size) +
									sizeof(uint64) * record.nkeys, 1);
	memset(set, 0, sizeof(JoinSet));
	set->size = record.size;
	set->nvalues = record.nvalues;
	set->nkeys = record.nkeys;
	set->first = groups->next;
	set->values = set_values(groups->place, record.size);
	set->keys = (uint64 *) (groups->place + set_bytes(record.size));
	begin = record.nkeys == 0 ? (char *) set->values : groups->place;
	spillreader_read(&groups->reader, begin,
					 (char *) (set->values + set->nvalues) - begin);
	spillreader_read(&groups->reader, set->keys, sizeof(uint64) * set->nkeys);
	return set;
}

/*
 * Return the next set whose status is among these, valid until the next call;
 * NULL = none is left.
 */
static JoinSet *
next_set(SetGroups *groups, int statuses)
{
	while (groups->next < groups->n)
	{
		JoinSet    *set = groups->spilled ? read_set(groups) :
		&groups->sets[groups->next];

		CHECK_FOR_INTERRUPTS();
		groups->next++;
		if (statuses == ALL_SETS ||
			(statuses & STATUS_BIT(state_of(groups, set->first,
											false)->status)) != 0)
			return set;
	}
	return NULL;
}

/* Count the features, and compute the keys of each set. */
static void
prepare_sets(SetGroups *groups)
{
	JoinSearch *search = &groups->search;
	const Algorithm *algorithm = groups->algorithm;
	SpillFile	prepared;
	JoinSet    *set;

	search->room =
		palloc_extended(sizeof(uint64) * Max(search->max_features, 1),
						MCXT_ALLOC_HUGE);
	if (algorithm->ordered)
	{
		counters_create(&search->counters, groups->nvalues,
						groups->memory / 16 * COUNTERS_SHARE);
		rewind_sets(groups);
		while ((set = next_set(groups, ALL_SETS)) != NULL)
			if (algorithm->count != NULL)
				algorithm->count(search, set->values, set->size);
			else
				counters_add(&search->counters, set->values, set->size);
		counters_fold(&search->counters);
	}
	if (groups->spilled)
		create_file(&prepared);
	/* keys depend on whether the index grows */
	search->index.mode = INDEX_GROWING;
	rewind_sets(groups);
	while ((set = next_set(groups, ALL_SETS)) != NULL)
	{
		if (!groups->spilled && algorithm->ordered && groups->next < groups->n)
			counters_fetch(&search->counters, set[1].values, set[1].size);
		algorithm->prepare(search, set, true, true);
		if (groups->spilled)
			write_set(&prepared, set);
		else
			set->keys =
				memcpy(arena_alloc(&groups->values,
								   sizeof(uint64) * Max(set->nkeys, 1)),
					   set->keys, sizeof(uint64) * set->nkeys);
	}
	if (groups->spilled)
	{
		spillfile_close(&groups->file);
		groups->file = prepared;
		pfree(groups->reader.buffer);
		spillreader_create(&groups->reader, &groups->file, BLCKSZ);
	}
}

/* The index */

/* Begin an empty index. */
static void
begin_index(SetGroups *groups)
{
	JoinSearch *search = &groups->search;

	if (groups->algorithm->end_chunk != NULL)
		groups->algorithm->end_chunk(search);
	if (search->index.buckets != NULL)
		inverted_index_free(&search->index);
	arena_reset(&groups->indexed);
	growing_index_create(&search->index,
						 Min(groups->npostings,
							 index_memory(groups) / (8 * sizeof(Posting))),
						 groups->algorithm->ordered ? search->counters.used :
						 groups->npostings);
	search->components = NULL;
	search->run_ends = NULL;
}

/* True if the index has room for a set. */
static bool
has_room(SetGroups *groups, const JoinSet *set)
{
	const InvertedIndex *index = &groups->search.index;
	size_t		bytes = growing_index_bytes_with(index, set->nkeys) +
	groups->indexed.bytes + groups->values.bytes +
	groups->max_sets * sizeof(JoinSet) + groups->max_members * sizeof(JoinSet);

	if (groups->spilled)
		bytes += set_bytes(set->size) + sizeof(uint64) * set->nkeys;
	/* the first set always fits */
	return index->nadded == 0 || bytes <= index_memory(groups); /* an empty index takes
																 * any set */
}

/*
 * Copy a set that was read from the file to memory that lives as long as the
 * index.
 */
static void
store_read(SetGroups *groups, JoinSet *set)
{
	size_t		bytes = set_bytes(set->size) + sizeof(uint64) * set->nkeys;
	char	   *place;

	if (!groups->spilled)
		return;
	/* bitmap, values, keys */
	place = memcpy(arena_alloc(&groups->indexed, bytes), groups->place, bytes);
	set->values = set_values(place, set->size);
	set->keys = (uint64 *) (place + set_bytes(set->size));
}

/* Add a prepared set to the index, which refers to its values and keys. */
static void
index_set(SetGroups *groups, const JoinSet *set)
{
	JoinSearch *search = &groups->search;
	const Algorithm *algorithm = groups->algorithm;
	InvertedIndex *index = &search->index;
	uint32		number = index->nadded;
	uint32		n = algorithm->indexed_keys(search, set);
	JoinSet    *member;

	if (number == groups->max_members)
		groups->members = growing_reserve(groups->members,
										  &groups->max_members,
										  number + (size_t) 1,
										  sizeof(JoinSet));
	member = &groups->members[number];
	*member = *set;
	search->sets = groups->members;
	growing_index_reserve(index, set->size);
	search_add(search, algorithm, member, n);
	Assert(index->nadded == number + 1);
}

/* Find the candidates for a prepared set: index->candidates. */
static void
probe(SetGroups *groups, const JoinSet *set)
{
	InvertedIndex *index = &groups->search.index;

	Assert(index->mode == INDEX_GROWING);
	index->limit = index->nadded;
	index->ncandidates = 0;
	if (index->nadded > 0)
		groups->algorithm->probe[INDEX_GROWING] (&groups->search, set, 3);
}

/* Greedy, and the first pass of both rules */

/* True if a set matches itself. */
static bool
is_reflexive(SetGroups *groups, const JoinSet *set)
{
	return groups->algorithm->reflexive == NULL ||
		groups->algorithm->reflexive(&groups->search, set);
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
	return groups->algorithm->verify(&groups->search, representative, set) &&
		!must_be_apart(groups, set, representative);
}

/* Return a representative in the index to which a set may belong, or NULL. */
static const JoinSet *
near_representative(SetGroups *groups, const JoinSet *set)
{
	const InvertedIndex *index = &groups->search.index;

	probe(groups, set);
	for (uint32 i = 0; i < index->ncandidates; i++)
	{
		const JoinSet *candidate = &groups->members[index->candidates[i]];

		CHECK_EVERY(i);
		if (may_belong(groups, set, candidate))
			return candidate;
	}
	return NULL;
}

/*
 * Decide whether the undecided sets are representatives or members.  True if
 * the index became full, so that some sets stay undecided.
 */
static bool
choose_representatives(SetGroups *groups)
{
	bool		full = false;
	JoinSet    *set;

	rewind_sets(groups);
	while ((set = next_set(groups,
						   STATUS_BIT(UNDECIDED) | STATUS_BIT(SEEDED))) != NULL)
	{
		SetState   *state = state_of(groups, set->first, false);
		const JoinSet *near = state->status == SEEDED ? NULL :
		near_representative(groups, set);

		full = full || (near == NULL && !has_room(groups, set));
		if (near == NULL && full)
			continue;
		Assert(near == NULL || near->first < set->first);
		state = state_of(groups, set->first, true);
		state->reflexive = is_reflexive(groups, set);
		state->status = near != NULL ? MEMBER : REPRESENTATIVE;
		if (near == NULL)
		{
			state->similarity = paired_similarity(groups->kind,
												  groups->search.measure, set,
												  set);
			store_read(groups, set);
			index_set(groups, set);
		}
		else if (groups->rule == RULE_CONNECTED)
			links_unite(&groups->states, set->first, near->first);
		else
			state->link = near->first;
	}
	return full;
}

/* Find the representative in the index that is most similar to a member. */
static void
choose_nearest(SetGroups *groups, const JoinSet *set)
{
	SetState	state = *state_of(groups, set->first, false);
	const InvertedIndex *index = &groups->search.index;

	Assert(state.status == MEMBER || state.status == FOREIGN_MEMBER);
	state.reflexive = is_reflexive(groups, set);
	probe(groups, set);
	for (uint32 i = 0; i < index->ncandidates; i++)
	{
		const JoinSet *candidate = &groups->members[index->candidates[i]];
		double		similarity;

		CHECK_EVERY(i);
		if (!may_belong(groups, set, candidate))
			continue;
		similarity = paired_similarity(groups->kind, groups->search.measure,
									   candidate, set);
		Assert(candidate->first != set->first);

		/*
		 * on a tie, a representative that was not added comes before all sets
		 */
		if (similarity < state.similarity ||
			(similarity == state.similarity &&
			 (state.status == FOREIGN_MEMBER || candidate->first >= state.link)))
			continue;
		state.similarity = similarity;
		state.status = MEMBER;
		state.link = candidate->first;
	}
	*state_of(groups, set->first, true) = state;
}

/* Connected, second pass */

#define NO_COMPONENT	UINT32_MAX

/*
 * Compare sets by their representatives after the first pass, then by their
 * numbers.
 */
static int
compare_members(const void *a, const void *b)
{
	const JoinSet *x = a;
	const JoinSet *y = b;

	if (x->representative != y->representative)
		return x->representative < y->representative ? -1 : 1;
	return x->first < y->first ? -1 : x->first > y->first;
}

/*
 * Read as many of the next sets as fit into memory with an index; return their
 * number.
 */
static uint32
read_block(SetGroups *groups)
{
	size_t		bytes = 0;
	uint32		n = 0;

	while (groups->next < groups->n && bytes < index_memory(groups))
	{
		JoinSet    *set = next_set(groups, ALL_SETS);

		store_read(groups, set);
		if (groups->spilled)
			bytes += set->nkeys * 5 * sizeof(Posting) + set_bytes(set->size) +
				sizeof(JoinSet) * 4;
		groups->members = growing_reserve(groups->members,
										  &groups->max_members,
										  n + (size_t) 1, sizeof(JoinSet));
		groups->members[n] = *set;
		groups->members[n++].representative = links_root(&groups->states,
														 set->first);
	}
	return n;
}

/* Index the next sets; a representative and its members are a run. */
static void
index_block(SetGroups *groups)
{
	uint32		n;
	uint32	   *components;
	uint32	   *run_ends;
	uint32		start = 0;

	begin_index(groups);
	n = read_block(groups);
	qsort(groups->members, n, sizeof(JoinSet), compare_members);
	components = palloc_extended(sizeof(uint32) * n, MCXT_ALLOC_HUGE);
	run_ends = palloc_extended(sizeof(uint32) * n, MCXT_ALLOC_HUGE);
	for (uint32 i = 0; i < n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (set_representative(&groups->members[i]) !=
			set_representative(&groups->members[start]))
			start = i;
		components[i] = start;
		run_ends[start] = i + 1;
		index_set(groups, &groups->members[i]);
	}
	for (uint32 i = 0; i < n; i++)
		run_ends[i] = run_ends[components[i]];
	groups->search.components = components;
	groups->search.run_ends = run_ends;
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

		if (set_representative(&groups->members[middle]) < representative)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == groups->search.index.nadded ||
		set_representative(&groups->members[low]) != representative)
		return NO_COMPONENT;
	return search_component(&groups->search, low);
}

/*
 * Unite the component of a set with the components of its matches in the
 * index.
 */
static void
connect_set(SetGroups *groups, const JoinSet *set)
{
	JoinSearch *search = &groups->search;
	const InvertedIndex *index = &search->index;
	uint32		first = links_root(&groups->states, set->first);

	Assert(first <= set->first);
	search->component = indexed_component(groups, first);
	probe(groups, set);
	for (uint32 i = 0; i < index->ncandidates; i++)
	{
		const JoinSet *member = &groups->members[index->candidates[i]];
		uint32		component = search_component(search, index->candidates[i]);
		uint32		other;

		CHECK_FOR_INTERRUPTS();
		if (component == search->component)
			continue;
		other = links_root(&groups->states, member->first);
		if (other != first && !groups->algorithm->verify(search, member, set))
			continue;
		links_unite(&groups->states, first, other);
		first = Min(first, other);
		/* the union begins with the first set of either component */
		if (search->component != NO_COMPONENT)
			search->components[Max(search->component, component)] =
				Min(search->component, component);
		search->component = Min(search->component, component);
	}
}

/* Unite the components of matching sets. */
static void
connect(SetGroups *groups)
{
	uint32		end = 0;
	JoinSet    *set;

	while (end < groups->n)
	{
		rewind_sets(groups);
		while (groups->next < end)
			next_set(groups, ALL_SETS);
		index_block(groups);
		end = groups->next;
		rewind_sets(groups);
		while ((set = next_set(groups, MEMBERS)) != NULL)
			connect_set(groups, set);
		pfree(groups->search.components);
		pfree(groups->search.run_ends);
	}
}

void
set_groups_decide(SetGroups *groups, GroupRule rule)
{
	MemoryContext old = MemoryContextSwitchTo(groups->context);
	bool		left = groups->n > 0;
	JoinSet    *set;

	Assert(groups->context != NULL && groups->states.n == groups->n);
	groups->rule = rule;
	known_destroy(groups->known);
	if (groups->n > 0)
		prepare_sets(groups);
	while (left)
	{
		begin_index(groups);
		left = choose_representatives(groups);
		rewind_sets(groups);
		while (rule == RULE_GREEDY &&
			   (set = next_set(groups, MEMBERS)) != NULL)
			choose_nearest(groups, set);
	}
	if (rule == RULE_CONNECTED)
		connect(groups);
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
