/*
 * shingler.c
 *		Units to shingles: the set of a document, or its sequence.
 *
 * Units are read in blocks; the last k - 1 units of a block are kept before
 * the next one, so that no shingle is missed.  Shingles gather in a buffer.
 * When it is full, it is sorted and repetitions are dropped, and it grows only
 * if more than half of it is still filled.  So it has at most twice the size
 * of the set.
 *
 * With repeats=number the shingles are a multiset (see number_repeats()), and
 * no repetitions are dropped.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "base/hash.h"
#include "base/interrupts.h"
#include "base/memory.h"
#include "base/sort_uint64.h"
#include "signature/signature.h"
#include "document/shingler.h"

/* Hashes of shingles */

/*
 * Shingles whose units are sorted before they are hashed
 *
 * The units of a shingle are kept sorted from one shingle to the next: one
 * unit is removed and another inserted.  Neither needs a search or a branch,
 * which random hashes would make unpredictable.  Let s be the sorted units, t
 * the units without the removed one, and u the units with the inserted one:
 *
 * t[j] = s[j] < out ? s[j] : s[j + 1]
 * u[j] = max(t[j - 1], min(t[j], in))
 *
 * where t[-1] is the least number there is.
 */

/*
 * Hash shingles of three sorted units, the default k: they are sorted again
 * faster than they are kept sorted.
 */
static inline void
shingles_of_3(const uint64 *units, size_t n, uint64 *shingles)
{
	for (size_t i = 0; i + 3 <= n; i++)
	{
		uint64		a = Min(units[i], units[i + 1]);
		uint64		b = Max(units[i], units[i + 1]);
		uint64		c = units[i + 2];
		uint64		sorted[3];

		sorted[0] = Min(a, c);
		sorted[1] = Max(a, Min(b, c));
		sorted[2] = Max(b, c);
		shingles[i] = hash_uint64s(sorted, 3);
	}
}

/* Insert `in` into n sorted numbers. */
static pg_attribute_always_inline void
insert(uint64 *sorted, size_t n, uint64 in)
{
	for (size_t j = 0; j < n; j++)
	{
		uint64		here = sorted[j];

		sorted[j] = Min(here, in);
		in = Max(here, in);
	}
	sorted[n] = in;
}

/* Replace `out` by `in` in k sorted numbers. */
static pg_attribute_always_inline void
replace(uint64 *sorted, size_t k, uint64 out, uint64 in)
{
	for (size_t j = 0; j < k - 1; j++)
	{
		uint64		here = sorted[j];	/* both are read, which avoids a
										 * branch */
		uint64		next = sorted[j + 1];
		uint64		kept = here < out ? here : next;

		sorted[j] = Min(kept, in);
		in = Max(kept, in);
	}
	sorted[k - 1] = in;
}

/* Hash shingles of k sorted units, which are kept sorted. */
static pg_attribute_always_inline void
window_shingles(const uint64 *units, size_t n, size_t k, uint64 *sorted,
				uint64 *shingles)
{
	for (size_t i = 0; i < k; i++)
		insert(sorted, i, units[i]);
	shingles[0] = hash_uint64s(sorted, k);
	for (size_t i = 1; i + k <= n; i++)
	{
		replace(sorted, k, units[i - 1], units[i + k - 1]);
		shingles[i] = hash_uint64s(sorted, k);
	}
}

/*
 * Hash shingles of k sorted units.  A function is compiled for each usual k,
 * with unrolled loops and a known length.
 */
static pg_attribute_always_inline void
for_known_k(const uint64 *units, size_t n, size_t k, uint64 *room,
			uint64 *shingles)
{
#define KNOWN_K(known) \
	case known: \
		window_shingles(units, n, known, room, shingles); \
		break

	switch (k)
	{
			KNOWN_K(2);
			KNOWN_K(4);
			KNOWN_K(5);
			KNOWN_K(6);
			KNOWN_K(7);
			KNOWN_K(8);
		default:
			window_shingles(units, n, k, room, shingles);
			break;
	}
#undef KNOWN_K
}

/* Hash the sorted units of each shingle. */
HASHES_INLINE
static void
sorted_shingles(const uint64 *units, size_t n, size_t k, uint64 *room,
				uint64 *shingles)
{
	if (k == 3)
		shingles_of_3(units, n, shingles);
	else
		for_known_k(units, n, k, room, shingles);
}

/*
 * With order=keep the hash is XXH3 of the units' hashes in sequence, with
 * order=sorted in rising order.  With order=xor and order=sum it is mix64() of
 * their xor or sum, which takes the same time for any k, as one unit is added
 * and one removed.  Xor loses units that occur twice in a shingle: with k = 2
 * all pairs of equal words are one shingle.
 */

/*
 * Hash the units of each shingle in sequence.  Inlined for the usual k, so
 * that the compiler knows the length.
 */
static inline void
shingles_of_length(const uint64 *units, size_t n, size_t k, uint64 *shingles)
{
	for (size_t i = 0; i + k <= n; i++)
		shingles[i] = hash_uint64s(units + i, k);
}

/* Hash the xor of the units of each shingle. */
static void
shingles_xor(const uint64 *units, size_t n, size_t k, uint64 *shingles)
{
	uint64		sum = 0;

	for (size_t i = 0; i < k - 1; i++)
		sum ^= units[i];
	for (size_t i = 0; i + k <= n; i++)
	{
		sum ^= units[i + k - 1];
		shingles[i] = mix64(sum);
		sum ^= units[i];
	}
}

/* Hash the sum of the units of each shingle. */
static void
shingles_sum(const uint64 *units, size_t n, size_t k, uint64 *shingles)
{
	uint64		sum = 0;

	for (size_t i = 0; i < k - 1; i++)
		sum += units[i];
	for (size_t i = 0; i + k <= n; i++)
	{
		sum += units[i + k - 1];
		shingles[i] = mix64(sum);
		sum -= units[i];
	}
}

/* Hash the units of each shingle in sequence, for any k. */
HASHES_INLINE
static void
shingles_in_order(const uint64 *units, size_t n, size_t k, uint64 *shingles)
{
	if (k == 1)
		shingles_of_length(units, n, 1, shingles);
	else if (k == 2)
		shingles_of_length(units, n, 2, shingles);
	else if (k == 3)
		shingles_of_length(units, n, 3, shingles);
	else
		shingles_of_length(units, n, k, shingles);
}

void
order_shingles(Order order, const uint64 *units, size_t n, size_t k,
			   uint64 *room, uint64 *shingles)
{
	Assert(k >= 1 && k <= n);
	switch (order)
	{
		case ORDER_SORTED:
			sorted_shingles(units, n, k, room, shingles);
			break;
		case ORDER_XOR:
			shingles_xor(units, n, k, shingles);
			break;
		case ORDER_SUM:
			shingles_sum(units, n, k, shingles);
			break;
		default:
			shingles_in_order(units, n, k, shingles);
			break;
	}
}

/* Repeated elements */

void
number_repeats(uint64 *elements, size_t n)
{
	uint64		element = 0;
	uint64		number = 0;

	sort_hashes(elements, n);
	for (size_t i = 0; i < n; i++)
	{
		CHECK_EVERY(i);
		if (i > 0 && elements[i] == element)
		{
			elements[i] = repeated_element(element, ++number);
			continue;
		}
		element = elements[i];
		number = 0;
	}
}

/* Shinglers */

#define SET_SIZE		4096	/* shingles that there is room for at first */
#define BUFFER_KEPT		131072	/* elements; a larger buffer is freed before
								 * the next document */

/* A shingler, with buffers that serve one document after another */
struct Shingler
{
	Reader	   *reader;
	size_t		k;
	Order		order;
	bool		numbered;		/* repeated shingles are numbered */
	MemoryContext context;		/* owns the buffers */
	uint64	   *shingles;		/* shingles read so far; in a set the first
								 * ones are sorted */
	size_t		n;
	size_t		size;			/* room for shingles */
	uint64	   *units;			/* for a set the last k - 1 units and
								 * READ_AT_ONCE new ones; for a sequence all
								 * units */
	size_t		units_size;
	uint64	   *room;			/* k numbers, to sort a shingle in */
};

Shingler *
shingler_create(const Analysis *analysis)
{
	Shingler   *shingler = palloc0(sizeof(Shingler));

	shingler->reader = reader_create(analysis);
	Assert(analysis->spec.k >= 1 && analysis->spec.k <= MAX_SHINGLE_SIZE);
	shingler->k = analysis->spec.k;
	shingler->order = analysis->spec.order;
	shingler->numbered = (analysis->spec.filters & FILTER_REPEATS) != 0;
	shingler->context = CurrentMemoryContext;
	shingler->room = palloc(shingler->k * sizeof(uint64));
	return shingler;
}

/* Give a buffer room for `wanted` numbers. */
static void
reserve(Shingler *shingler, uint64 **buffer, size_t *size, size_t wanted)
{
	MemoryContext old = MemoryContextSwitchTo(shingler->context);

	*buffer = growing_reserve(*buffer, size, wanted, sizeof(uint64));
	MemoryContextSwitchTo(old);
}

/* Free a buffer that a large document has left. */
static void
free_large(uint64 **buffer, size_t *size)
{
	if (*size <= BUFFER_KEPT)
		return;
	pfree(*buffer);
	*buffer = NULL;
	*size = 0;
}

/* Begin a document. */
static void
begin(Shingler *shingler, const char *doc, size_t len)
{
	free_large(&shingler->shingles, &shingler->size);
	free_large(&shingler->units, &shingler->units_size);
	shingler->n = 0;
	reader_begin(shingler->reader, doc, len);
}

/* Sets */

/* Raise PROGRAM_LIMIT_EXCEEDED if the set does not fit into a signature. */
static void
require_fit(const Shingler *shingler)
{
	if (shingler->n > SIGNATURE_MAX_VALUES)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("document has too many shingles"),
				 errdetail("A set holds at most %zu.",
						   (size_t) SIGNATURE_MAX_VALUES),
				 errhint("Cut the document into parts.")));
}

/* Sort the set and drop repetitions. */
static void
make_distinct(Shingler *shingler)
{
	shingler->n = sort_distinct_hashes(shingler->shingles, shingler->n);
	require_fit(shingler);
}

/* Make room for n <= READ_AT_ONCE further shingles. */
static void
make_room(Shingler *shingler, size_t n)
{
	if (shingler->n + n <= shingler->size)
		return;
	if (shingler->numbered)
		require_fit(shingler);
	else
		make_distinct(shingler);
	if (shingler->n + n > shingler->size / 2)
		reserve(shingler, &shingler->shingles, &shingler->size,
				2 * shingler->size);
	Assert(shingler->n + n <= shingler->size);
}

/* Gather all shingles of a document, with some of their repetitions. */
static void
gather(Shingler *shingler, const char *doc, size_t len)
{
	size_t		k = shingler->k;
	size_t		have = 0;		/* units in the block */
	bool		any = false;	/* at least one shingle was made */
	size_t		got;

	begin(shingler, doc, len);
	reserve(shingler, &shingler->units, &shingler->units_size,
			k + READ_AT_ONCE);
	reserve(shingler, &shingler->shingles, &shingler->size, SET_SIZE);
	while ((got = reader_read(shingler->reader, shingler->units + have,
							  READ_AT_ONCE)) > 0)
	{
		size_t		nshingles;

		have += got;
		if (have < k)
			continue;
		nshingles = have - k + 1;
		make_room(shingler, nshingles);
		order_shingles(shingler->order, shingler->units, have, k,
					   shingler->room, shingler->shingles + shingler->n);
		shingler->n += nshingles;
		any = true;
		memmove(shingler->units, shingler->units + nshingles,
				(k - 1) * sizeof(uint64));
		have = k - 1;
	}
	if (!any && have > 0)
	{
		order_shingles(shingler->order, shingler->units, have, have,
					   shingler->room, shingler->shingles);
		shingler->n = 1;
	}
	if (shingler->numbered)
		number_repeats(shingler->shingles, shingler->n);
}

const uint64 *
shingler_set(Shingler *shingler, const char *doc, size_t len, size_t *n)
{
	gather(shingler, doc, len);
	make_distinct(shingler);
	*n = shingler->n;
	return shingler->shingles;
}

/* Sequences */

Sequence
shingler_sequence(Shingler *shingler, const char *doc, size_t len)
{
	Sequence	sequence = {0};
	size_t		k;
	size_t		got;

	begin(shingler, doc, len);
	do
	{
		reserve(shingler, &shingler->units, &shingler->units_size,
				sequence.nunits + READ_AT_ONCE);
		got = reader_read(shingler->reader, shingler->units + sequence.nunits,
						  READ_AT_ONCE);
		sequence.nunits += got;
	} while (got > 0);
	k = Min(shingler->k, sequence.nunits);
	sequence.nshingles = k == 0 ? 0 : sequence.nunits - k + 1;
	reserve(shingler, &shingler->shingles, &shingler->size,
			Max(sequence.nshingles, SET_SIZE));
	sequence.units = shingler->units;
	sequence.shingles = shingler->shingles;
	for (size_t at = 0; at < sequence.nshingles; at += READ_AT_ONCE)
	{
		CHECK_FOR_INTERRUPTS();
		order_shingles(shingler->order, sequence.units + at,
					   Min(READ_AT_ONCE, sequence.nshingles - at) + k - 1, k,
					   shingler->room, sequence.shingles + at);
	}
	return sequence;
}
