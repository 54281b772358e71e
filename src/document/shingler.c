/*
 * shingler.c
 *		Units to the set of shingles.
 *
 * Units are read in blocks; the last k - 1 of a block stand before the next
 * one, so that no shingle is missed.  Shingles gather in a buffer.  When it
 * is full it is sorted and freed of repetitions, and grows only if more than
 * half of it is still filled: its size stays within twice that of the set.
 *
 * With repeats=number the shingles are a multiset (Broder's labelled
 * shingles): the second, third, ... of the same shingle is a feature of its
 * own, its hash that of the first and its number.  The overlap of two such
 * sets is the sum of the lesser counts.  Then nothing is dropped on the way.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "base/linear_probing.h"
#include "base/sort_uint64.h"
#include "signature/signature.h"
#include "document/repeats.h"
#include "document/shingle_hashes.h"
#include "document/shingler.h"

#define SET_SIZE		4096	/* shingles that there is room for at first */
#define TABLE_MAX		1024	/* shingles that are made distinct by a table;
								 * a power of two */
#define SET_KEEP		131072	/* a larger buffer is not kept */

struct Shingler
{
	Reader	   *reader;
	size_t		k;
	Order		order;
	bool		numbered;		/* repeated shingles are numbered */
	MemoryContext context;		/* owns the set */
	uint64	   *set;			/* shingles, the first of them sorted */
	size_t		n;
	size_t		size;			/* there is room for */
	uint64	   *units;			/* k - 1 of before and READ_AT_ONCE new ones */
	uint64	   *room;			/* to sort a shingle in */
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
	shingler->size = SET_SIZE;
	shingler->set = palloc(shingler->size * sizeof(uint64));
	shingler->units = palloc((shingler->k + READ_AT_ONCE) * sizeof(uint64));
	shingler->room = palloc(shingler->k * sizeof(uint64));
	return shingler;
}

/* Another buffer of the given size, with the set in it. */
static void
resize(Shingler *shingler, size_t size)
{
	uint64	   *set = MemoryContextAllocHuge(shingler->context,
											 size * sizeof(uint64));

	memcpy(set, shingler->set, shingler->n * sizeof(uint64));
	pfree(shingler->set);
	shingler->set = set;
	shingler->size = size;
}

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

/* Sorts the set and frees it of repetitions. */
static void
make_distinct(Shingler *shingler)
{
	shingler->n = sort_distinct_hashes(shingler->set, shingler->n);
	require_fit(shingler);
}

/* Makes room for n <= READ_AT_ONCE further shingles. */
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
		resize(shingler, 2 * shingler->size);
}

/* Gathers all shingles of a document, those that have not been sorted out. */
static void
gather(Shingler *shingler, const char *doc, size_t len)
{
	size_t		k = shingler->k;
	size_t		have = 0;		/* units in the block */
	bool		any = false;	/* there was a shingle */
	size_t		got;

	shingler->n = 0;
	if (shingler->size > SET_KEEP)
		resize(shingler, SET_SIZE);
	reader_begin(shingler->reader, doc, len);
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
					   shingler->room, shingler->set + shingler->n);
		shingler->n += nshingles;
		any = true;
		memmove(shingler->units, shingler->units + nshingles,
				(k - 1) * sizeof(uint64));
		have = k - 1;
	}
	if (!any && have > 0)
	{
		order_shingles(shingler->order, shingler->units, have, have,
					   shingler->room, shingler->set);
		shingler->n = 1;
	}
	if (shingler->numbered)
		number_repeats(shingler->set, shingler->n);
}

const uint64 *
shingler_set(Shingler *shingler, const char *doc, size_t len, size_t *n)
{
	gather(shingler, doc, len);
	make_distinct(shingler);
	*n = shingler->n;
	return shingler->set;
}

/* Drops repetitions and leaves the rest as it is, by a table of what is in. */
static void
drop_repeated(Shingler *shingler)
{
	uint64		table[4 * TABLE_MAX];
	uint64	   *set = shingler->set;
	size_t		places = probing_places(2 * shingler->n);
	Probing		probing;
	size_t		kept = 0;
	bool		zero = false;	/* which stands for a free place */

	Assert(places <= lengthof(table));
	probing_init(&probing, places);
	memset(table, 0, places * sizeof(uint64));
	for (size_t i = 0; i < shingler->n; i++)
	{
		uint64		hash = set[i];
		size_t		place = probing_first(&probing, hash);

		while (table[place] != 0 && table[place] != hash)
			place = probing_next(&probing, place);
		if (table[place] == hash && (hash != 0 || zero))
			continue;
		zero |= (hash == 0);
		table[place] = hash;
		set[kept++] = hash;
	}
	shingler->n = kept;
}

const uint64 *
shingler_distinct(Shingler *shingler, const char *doc, size_t len, size_t *n)
{
	gather(shingler, doc, len);
	if (shingler->n > TABLE_MAX)
		make_distinct(shingler);
	else if (shingler->n > 0)
		drop_repeated(shingler);
	*n = shingler->n;
	return shingler->set;
}
