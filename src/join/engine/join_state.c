/*
 * join_state.c
 *		What all phases of a similarity join use of its state.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "join/engine/join_state.h"

/* Of one set in SAMPLED the features are counted to estimate how many are different. */
#define SAMPLED			16

/* With fewer features it does not matter how many counters they get. */
#define MIN_FEATURES	65536

void
setjoin_account(SetJoin *join, size_t bytes)
{
	join->search.stats.memory = Max(join->search.stats.memory, bytes);
}

void
setjoin_init_arenas(SetJoin *join)
{
	size_t		block = Min(Max(join->params.memory / 128, 1024), 64 * 1024);
	Arena	   *arenas[] = {&join->values, &join->keys, &join->rows[SIDE_OUTER],
	&join->rows[SIDE_INNER]};

	for (int i = 0; i < lengthof(arenas); i++)
	{
		arena_init(arenas[i], block);
		if (join->pool.areas != NULL)
			arenas[i]->pool = &join->pool;
	}
}

size_t
setjoin_bytes_held(SetJoin *join)
{
	size_t		counter = sizeof(uint16) + (join->search.counters.weighted ? sizeof(float) : 0);
	size_t		counters = join->algorithm->ordered ?
		Min(join->totals.nfeatures * 2 * counter, join->params.memory / 8) : 0;

	return join->values.bytes + join->rows[SIDE_OUTER].bytes +
		join->rows[SIDE_INNER].bytes + join->filter.bytes +
		settable_bytes(&join->table) +
		setindex_bytes(join->table.nsets, join->totals.npostings) + counters +
		(join->totals.nkeys + join->search.most_features) * sizeof(uint64);
}

size_t
setjoin_buffer(const SetJoin *join)
{
	return Min(Max(join->params.memory / 64, BLCKSZ), 256 * 1024);
}

void
setjoin_make_room(SetJoin *join)
{
	setjoin_account(join, setjoin_bytes_held(join));
	join->search.room = MemoryContextAllocHuge(join->search.context,
											   sizeof(uint64) * Max(join->search.most_features, 1));
}

SharedPointer
setjoin_place(const JoinSet *set)
{
	return (SharedPointer) (uintptr_t) set->keys;
}

void
setjoin_set_place(JoinSet *set, SharedPointer place)
{
	set->keys = (uint64 *) (uintptr_t) place;
}

bool
setjoin_has_stored(const SetJoin *join, const JoinSet *set)
{
	return join->params.shared == NULL ||
		POINTER_AREA(setjoin_place(set)) == join->params.part;
}

/*
 * The features of the sample are taken as if none of them were in the other sets.  Where
 * features are few and frequent, as items of market baskets are, counters for so many
 * fit into a cache.
 */
uint64
setjoin_different_features(SetJoin *join)
{
	const SetTable *table = &join->table;
	uint64		nfeatures = join->totals.nfeatures;
	TokenCounters sample = {.weighted = false};
	double		different;

	if (nfeatures < MIN_FEATURES || join->algorithm->count != NULL)
		return nfeatures;
	counters_create(&sample, nfeatures / SAMPLED, join->params.memory / 8);
	for (uint32 i = 0; i < table->nsets; i += SAMPLED)
	{
		CHECK_FOR_INTERRUPTS();
		if (setjoin_has_stored(join, &table->sets[i]))
			counters_add(&sample, table->sets[i].values, table->sets[i].size);
	}
	different = counters_different(&sample) * SAMPLED;
	counters_free(&sample);
	return different < nfeatures ? different : nfeatures;
}

void
setjoin_count(SetJoin *join, const uint64 *values, uint32 n)
{
	if (join->algorithm->count != NULL)
		join->algorithm->count(&join->search, values, n);
	else if (join->algorithm->ordered)
		counters_add(&join->search.counters, values, n);
}

void
setjoin_fetch_counters(SetJoin *join, const uint64 *values, uint32 n)
{
	if (join->algorithm->ordered && !join->algorithm->weighted)
		counters_fetch(&join->search.counters, values, n);
}

bool
setjoin_is_indexed(const SetJoin *join, const JoinSet *set)
{
	return join->search.symmetric || set->rows[join->indexed] != NULL;
}

void
setjoin_prepare(SetJoin *join, JoinSet *set)
{
	bool		probes = join->search.symmetric || set->rows[join->probing] != NULL;

	join->algorithm->prepare(&join->search, set, setjoin_is_indexed(join, set), probes);
}

uint32
setjoin_indexed_keys(SetJoin *join, const JoinSet *set)
{
	return setjoin_is_indexed(join, set) ?
		join->algorithm->indexed_keys(&join->search, set) : 0;
}

uint64
setjoin_different_keys(SetJoin *join, uint64 npostings)
{
	return join->algorithm->ordered ? join->search.counters.used : npostings;
}
