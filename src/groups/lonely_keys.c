/*
 * lonely_keys.c
 *		Keys of sets on disk that only one set has.
 *
 * Such keys find nothing, but would take most of the index if texts differ.  A
 * first filter has the keys that were seen, a second one those that were seen
 * again.  If there are more keys than filters have room for, a part of them is
 * looked at, by a hash.
 */
#include "postgres.h"

#include "base/hash.h"
#include "base/interrupts.h"
#include "groups/lonely_keys.h"
#include "join/engine/feature_counts.h"

/* It is worthwhile if one in LONELY of the keys looked at was dropped. */
#define LONELY		8

/* Keys are not looked at in more parts. */
#define MAX_PARTS	64

/* A look at the keys of all sets */
typedef struct KeyLook
{
	uint64		salt;			/* salt of the filters' hashes */
	uint32		nparts;			/* a power of two */
	FeatureFilter seen;
	FeatureFilter again;		/* keys that had been seen before */
	SetStaysCallback stays;
	void	   *context;
} KeyLook;

/*
 * True if a key is of the part that is looked at, which differs from salt to
 * salt; its hash for the filters.
 */
static bool
is_looked_at(const KeyLook *look, uint64 key, uint64 *hash)
{
	*hash = mix64(key + look->salt);
	return ((mix64(key) + look->salt) & (look->nparts - 1)) == 0;
}

/* Return the next set that stays, or NULL. */
static JoinSet *
next_set(SetStore *store, const KeyLook *look, SetStays *stays)
{
	uint32		number;

	while (set_store_next(store, &number))
	{
		*stays = look->stays(look->context, number);
		if (*stays != SET_LEAVES)
			return set_store_read(store);
		set_store_skip(store);
	}
	return NULL;
}

/* Look at the keys of a set. */
static void
note_keys(KeyLook *look, const JoinSet *set)
{
	for (uint32 i = 0; i < set->nkeys; i++)
	{
		uint64		hash;

		CHECK_EVERY(i);
		if (is_looked_at(look, set->keys[i], &hash))
			feature_filter_add(feature_filter_has(&look->seen, hash) ?
							   &look->again : &look->seen, &hash, 1);
	}
}

/* Drop the keys of a set that were not seen again. */
static void
drop_keys(const KeyLook *look, JoinSet *set)
{
	uint32		left = 0;

	for (uint32 i = 0; i < set->nkeys; i++)
	{
		uint64		hash;

		CHECK_EVERY(i);
		if (!is_looked_at(look, set->keys[i], &hash) ||
			feature_filter_has(&look->again, hash))
			set->keys[left++] = set->keys[i];
	}
	set->nkeys = left;
}

bool
lonely_keys_drop(SetStore *store, uint64 salt, size_t memory, uint64 *nkeys,
				 SetStaysCallback stays, void *context)
{
	KeyLook		look = {
		.salt = salt,.nparts = 1,.stays = stays,.context = context
	};
	uint64		before = 0;
	SetStays	set_stays;
	JoinSet    *set;

	Assert(store->on_disk && store->by_keys);
	/* each filter has at least a bit, mostly two, for each key */
	while (*nkeys / look.nparts > memory * BITS_PER_BYTE / 4)
		look.nparts *= 2;
	if (look.nparts > MAX_PARTS)
		return false;
	feature_filter_create(&look.seen, *nkeys / look.nparts, memory / 2);
	feature_filter_create(&look.again, *nkeys / look.nparts, memory / 2);
	set_store_seek(store, 0);
	while ((set = next_set(store, &look, &set_stays)) != NULL)
	{
		note_keys(&look, set);
		before += set->nkeys;
	}
	*nkeys = 0;
	set_store_seek(store, 0);
	set_store_begin_preparing(store);
	while ((set = next_set(store, &look, &set_stays)) != NULL)
	{
		drop_keys(&look, set);
		*nkeys += set->nkeys;
		if (set->nkeys > 0 || set_stays == SET_STAYS)
			set_store_prepared(store, set);
	}
	set_store_end_preparing(store);
	feature_filter_free(&look.seen);
	feature_filter_free(&look.again);
	return *nkeys < before - before / look.nparts / LONELY;
}
