/*
 * sketch_keys.c
 *		Joins of sketches, by their candidate keys.
 *
 * A sketch is indexed under its row keys, and searched by its query keys, both
 * from its method, which also compares candidates.  If the method has no keys,
 * all sketches are candidates.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "base/sort_uint64.h"
#include "signature/signature.h"
#include "join/algorithms/sketch_keys.h"
#include "signature/sql/near.h"
#include "methods/method.h"

/*
 * Maximum number of common values that are required of sketches without keys.
 */
#define COMMON_VALUES	13

/*
 * A sketch without keys is a sample of a set (sketch.c): the estimate is the
 * share of common values among the values of both.  So each has at least that
 * share of its own values in common.
 */
static uint64
least_shared(const Signature *sig, double threshold)
{
	return measure_least_overlap(MEASURE_CONTAINMENT, SIGNATURE_NVALUES(sig),
								 threshold);
}

/* Add the first n values to the keys. */
static void
add_values(const Signature *sig, uint64 n, KeyList *keys)
{
	for (uint64 i = 0; i < n; i++)
		keys_add(keys, signature_value(sig, i));
}

/*
 * Samples are found by their first values, some of which must be common; see
 * gin/gin.c why no pair is lost.
 */
static void
first_values(const Signature *sig, double threshold, uint64 more,
			 KeyList *keys)
{
	uint64		n = SIGNATURE_NVALUES(sig);
	uint64		shared = least_shared(sig, threshold);
	uint64		first = shared > more ? n - shared + more : n;

	Assert(first <= n);
	add_values(sig, first, keys);
}

/* Add the keys under which a sketch is indexed. */
static void
sketch_row_keys(const uint64 *values, double threshold, KeyList *keys)
{
	const Signature *sig = (const Signature *) values;

	if (spec_has_keys(&sig->spec))
		signature_row_keys(sig, threshold, keys);
	else if (method_info(sig->spec.method)->set)
		first_values(sig, threshold, COMMON_VALUES, keys);
}

/*
 * Add the keys by which a sketch is searched, *need of which a match has;
 * false if all sketches are candidates.
 */
static bool
sketch_query_keys(const JoinSearch *search, const uint64 *values,
				  KeyList *keys, uint32 *need)
{
	const Signature *sig = (const Signature *) values;
	double		threshold = search->threshold;

	if (spec_has_keys(&sig->spec))
		return signature_query_keys(sig, threshold, threshold,
									search->measure == MEASURE_SIMILARITY,
									keys, need);
	if (!method_info(sig->spec.method)->set)
		return false;
	/* a sketch without values is not added to a join */
	Assert(SIGNATURE_NVALUES(sig) > 0);
	*need = Min(least_shared(sig, threshold), COMMON_VALUES);
	first_values(sig, threshold, *need, keys);
	return true;
}

/* Sketches of two specs may be in one engine: see join/node/specs.c. */
static bool
sketch_near(const JoinSearch *search, const uint64 *a, const uint64 *b)
{
	const Signature *x = (const Signature *) a;
	const Signature *y = (const Signature *) b;

	return spec_equal(&x->spec, &y->spec) &&
		signatures_near(x, y, search->threshold, search->measure);
}

/* Number of keys that are looked up in the time of a comparison. */
#define KEYS_OF_COMPARISON	2

/* Maximum number of sketches that are compared without keys. */
#define MAX_COMPARED	512

bool
sketches_are_few(double sketches, double keys)
{
	return sketches <= MAX_COMPARED && sketches * KEYS_OF_COMPARISON <= keys;
}

/* Sketches in the index with rows on some side, while they are few. */
typedef struct FewSketches
{
	uint32		n;				/* more than MAX_COMPARED: not all of them are
								 * here */
	uint32		sets[MAX_COMPARED];
} FewSketches;

/* JoinSearch.state */
typedef struct SketchKeys
{
	KeyList		last;			/* keys of the sketch prepared or probing last */
	KeyList		filtered;		/* keys of the sketch that the filter has seen
								 * last */
	uint64		nlooked_up;		/* keys of the sketch that probed by them
								 * last; 0 of a sample */
	uint32		nnoted;			/* sketches of the index that have been noted */
	FewSketches few[4];			/* sketches by the wanted sides, as bits */
} SketchKeys;

/* The state, created at the first call. */
static SketchKeys *
sketch_state(JoinSearch *search)
{
	if (search->state == NULL)
		search->state = MemoryContextAllocZero(search->context,
											   sizeof(SketchKeys));
	return search->state;
}

/* The list of keys of the sketch prepared or probing last. */
static KeyList *
last_keys(JoinSearch *search)
{
	return &sketch_state(search)->last;
}

/* Clear the list of keys for the filter, and return it. */
static KeyList *
filter_keys(JoinSearch *search)
{
	KeyList    *list = &sketch_state(search)->filtered;

	list->n = 0;
	return list;
}

/* True if a sketch is a sample without keys, see least_shared(). */
static bool
is_sample(const Signature *sig)
{
	return !spec_has_keys(&sig->spec) && method_info(sig->spec.method)->set;
}

/* Algorithm.announce */
static bool
keyed_announce(JoinSearch *search, FeatureFilter *filter, const uint64 *values,
			   uint32 n)
{
	const Signature *sig = (const Signature *) values;
	KeyList    *list = filter_keys(search);

	if (is_sample(sig))
		add_values(sig, SIGNATURE_NVALUES(sig), list);
	else if (!spec_has_keys(&sig->spec))
		return false;
	else
		signature_row_keys(sig, search->threshold, list);
	feature_filter_add(filter, list->keys, list->n);
	return true;
}

/* Algorithm.may_have_match: by all values of a sample, or by keys. */
static bool
keyed_may_have_match(JoinSearch *search, const FeatureFilter *filter,
					 const uint64 *values, uint32 n, bool indexed)
{
	const Signature *sig = (const Signature *) values;
	KeyList    *list = filter_keys(search);
	uint32		need;
	uint64		least;

	if (is_sample(sig))
	{
		add_values(sig, SIGNATURE_NVALUES(sig), list);
		least = least_shared(sig, search->threshold);
	}
	else if (sketch_query_keys(search, values, list, &need))
		least = need;
	else
		return true;
	return feature_filter_has_some(filter, list->keys, list->n, least);
}

/* Algorithm.prepare: the distinct row keys of a sketch. */
static void
keyed_prepare(JoinSearch *search, JoinSet *set, bool indexed, bool probing)
{
	KeyList    *list = last_keys(search);

	list->n = 0;
	if (indexed)
		sketch_row_keys(set->values, search->threshold, list);
	set->keys = list->keys;
	set->nkeys = sort_distinct_hashes(list->keys, list->n);
}

/*
 * Estimated by the first sketch: sketches of one spec have about equally many
 * keys.
 */
static uint32
keyed_most(JoinSearch *search, const JoinSet *set)
{
	KeyList    *list = last_keys(search);

	if (list->n == 0)
		sketch_row_keys(set->values, search->threshold, list);
	return list->n;
}

/* Algorithm.indexed_keys */
static uint32
keyed_indexed_keys(JoinSearch *search, const JoinSet *set)
{
	return set->nkeys;
}

/* Count the sets that have a key. */
static pg_attribute_always_inline void
count_key(JoinSearch *search, uint64 key, uint32 sides, IndexMode mode)
{
	InvertedIndex *index = &search->index;
	const Posting *end;
	const Posting *posting = inverted_index_postings(index, mode, key, false,
													 &end,
													 &search->stats.removed_size);

	search->stats.visited += end - posting;
	for (; posting < end; posting++)
	{
		CHECK_EVERY(end - posting);
		if (mode == INDEX_GROWING &&
			(posting = search_pass_own(search, posting, end)) == end)
			break;
		if (posting->set >= index->limit)
			break;
		if (posting->key != key ||
			(INDEXED_SIDES(index, posting->set) & sides) == 0)
			continue;
		if (index->accumulators[posting->set].shared++ == 0)
			index->candidates[index->ncandidates++] = posting->set;
	}
}

/* Add a set to the sketches of some sides, while they are few. */
static void
note_sketch(FewSketches *few, uint32 set)
{
	if (few->n < MAX_COMPARED)
		few->sets[few->n] = set;
	few->n = Min(few->n + 1, MAX_COMPARED + 1);
}

/* Note the sketches that were added to the index since the last probe. */
static void
note_sketches(SketchKeys *state, const InvertedIndex *index)
{
	for (; state->nnoted < index->limit; state->nnoted++)
	{
		CHECK_EVERY(state->nnoted);
		for (uint32 sides = 1; sides <= 3; sides++)
			if ((INDEXED_SIDES(index, state->nnoted) & sides) != 0)
				note_sketch(&state->few[sides], state->nnoted);
	}
}

/* Algorithm.end_chunk */
static void
keyed_end_chunk(JoinSearch *search)
{
	SketchKeys *state = sketch_state(search);

	Assert(state->nnoted <= Max(search->nsets, search->index.nadded));
	state->nnoted = 0;
	for (int sides = 0; sides <= 3; sides++)
		state->few[sides].n = 0;
}

/*
 * Make all sketches of these sides candidates if comparing them takes less
 * time than looking up keys, of which simhashes at 0.8 have a thousand.  The
 * number of keys is estimated by the last probe's.  Samples have as many
 * keys as values: comparing all of these takes longer.
 */
static bool
takes_few(JoinSearch *search, uint32 sides)
{
	InvertedIndex *index = &search->index;
	SketchKeys *state = sketch_state(search);
	const FewSketches *few = &state->few[sides];

	note_sketches(state, index);
	if (!sketches_are_few(few->n, state->nlooked_up))
		return false;
	Assert(few->n <= MAX_COMPARED && index->ncandidates == 0);
	memcpy(index->candidates, few->sets, few->n * sizeof(uint32));
	index->ncandidates = few->n;
	return true;
}

/* Algorithm.probe */
static pg_attribute_always_inline void
keyed_probe(JoinSearch *search, const JoinSet *set, uint32 sides,
			IndexMode mode)
{
	InvertedIndex *index = &search->index;
	KeyList    *list = last_keys(search);
	uint32		need;
	uint32		left = 0;

	if (takes_few(search, sides))
		return;
	list->n = 0;
	if (!sketch_query_keys(search, set->values, list, &need))
	{
		for (uint32 i = 0; i < index->limit; i++)
		{
			CHECK_EVERY(i);
			if ((INDEXED_SIDES(index, i) & sides) != 0)
				index->candidates[index->ncandidates++] = i;
		}
		return;
	}
	sketch_state(search)->nlooked_up =
		is_sample((const Signature *) set->values) ? 0 : list->n;
	for (size_t i = 0; i < list->n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		count_key(search, list->keys[i], sides, mode);
	}
	for (uint32 i = 0; i < index->ncandidates; i++)
	{
		uint32		candidate = index->candidates[i];

		CHECK_EVERY(i);
		if (index->accumulators[candidate].shared >= need)
			index->candidates[left++] = candidate;
		index->accumulators[candidate].shared = 0;
	}
	index->ncandidates = left;
}

DEFINE_PROBE(keyed_probe, announced, INDEX_ANNOUNCED);
DEFINE_PROBE(keyed_probe, growing, INDEX_GROWING);
DEFINE_PROBE(keyed_probe, shared, INDEX_SHARED);

/* Algorithm.verify: the method compares two sketches. */
static bool
keyed_verify(JoinSearch *search, const JoinSet *indexed,
			 const JoinSet *probing)
{
	search->stats.verified++;
	return sketch_near(search, indexed->values, probing->values);
}

/* Algorithm.reflexive: a sketch without features does not match itself. */
static bool
keyed_reflexive(JoinSearch *search, const JoinSet *set)
{
	return sketch_near(search, set->values, set->values);
}

const Algorithm sketch_keys = {
	.name = "candidate keys",
	.symmetric = true,
	.max_indexed = keyed_most,
	.max_keys = keyed_most,
	.prepare = keyed_prepare,
	.indexed_keys = keyed_indexed_keys,
	.probe = {
		[INDEX_ANNOUNCED] = keyed_probe_announced,
		[INDEX_GROWING] = keyed_probe_growing,
		[INDEX_SHARED] = keyed_probe_shared,
	},
	.announce = keyed_announce,
	.may_have_match = keyed_may_have_match,
	.end_chunk = keyed_end_chunk,
	.verify = keyed_verify,
	.reflexive = keyed_reflexive,
};
