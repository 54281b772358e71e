/*
 * counts.c
 *		Counting the words of a corpus in bounded memory.
 *
 * Words are counted in an open hash table.  When it holds as many as it may,
 * the rarer half is dropped, which makes room for the next ones: in running
 * text about half of all words occur once.  A dropped word that comes back
 * begins anew, so that its df is too small by what it had.  In each dropping no
 * word loses more than the df of the most frequent one that is dropped, and
 * the sum of these is the error that a lexicon states (lossy counting: Manku
 * and Motwani, VLDB 2002); the same for cf.  While no more than max_words words
 * have been met, counts are exact.
 *
 * Which of several words of the same df are dropped is decided by their
 * hashes, so that counts depend on the order of documents no more than they
 * must.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "utils/memutils.h"

#include "base/interrupts.h"
#include "base/linear_probing.h"
#include "base/sort_uint64.h"
#include "lexicon/counts.h"

#define TABLE_SIZE		1024	/* of a new table; a power of 2 */

typedef struct Count
{
	uint64		hash;			/* of the word */
	uint32		df;
	uint32		cf;				/* 0: nothing is here */
	uint32		document;		/* the last one that had it */
} Count;

struct Counts
{
	MemoryContext context;		/* owns the table */
	Count	   *table;
	Probing		probing;		/* of its places */
	size_t		nwords;			/* filled places */
	size_t		max_words;
	uint32		document;		/* the current one; never 0 */
	Lexicon    *totals;			/* the head of a lexicon, of which only what
								 * lexicon_add_totals() adds is used */
};

static Count *
create_table(Counts *counts, size_t size)
{
	return MemoryContextAllocExtended(counts->context, size * sizeof(Count),
									  MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
}

Counts *
counts_create(size_t max_words)
{
	Counts	   *counts = palloc0(sizeof(Counts));

	counts->context = CurrentMemoryContext;
	counts->totals = palloc0(LEXICON_HEADER);
	counts->max_words = max_words;
	counts->table = create_table(counts, TABLE_SIZE);
	probing_init(&counts->probing, TABLE_SIZE);
	return counts;
}

/* The place of a word: where it is, or the empty one where it would go. */
static inline Count *
find_place(const Counts *counts, uint64 hash)
{
	size_t		i = probing_first(&counts->probing, hash);

	while (counts->table[i].cf != 0 && counts->table[i].hash != hash)
		i = probing_next(&counts->probing, i);
	return &counts->table[i];
}

/*
 * A word's rank among those to be kept: by df, then by hash.  Words of the
 * same rank are kept or dropped together.
 */
static inline uint64
rank_of(uint32 df, uint64 hash)
{
	return (uint64) df << 32 | (~hash >> 32);
}

/*
 * Moves the words to a table of the given size, but drops those of a rank up
 * to the limit; 0 drops none.
 */
static void
rebuild(Counts *counts, size_t size, uint64 limit)
{
	Count	   *old = counts->table;
	size_t		old_size = counts->probing.mask + 1;
	uint32		lost_df = 0;
	uint32		lost_cf = 0;

	counts->table = create_table(counts, size);
	probing_init(&counts->probing, size);
	counts->nwords = 0;
	for (size_t i = 0; i < old_size; i++)
	{
		CHECK_EVERY(i);
		if (old[i].cf == 0)
			continue;
		if (rank_of(old[i].df, old[i].hash) <= limit)
		{
			lost_df = Max(lost_df, old[i].df);
			lost_cf = Max(lost_cf, old[i].cf);
			continue;
		}
		*find_place(counts, old[i].hash) = old[i];
		counts->nwords++;
	}
	counts->totals->df_error += lost_df;
	counts->totals->cf_error += lost_cf;
	pfree(old);
}

/* Drops the rarer half of a table that may not get any larger. */
static void
drop_rare(Counts *counts)
{
	uint64	   *ranks = MemoryContextAllocHuge(counts->context,
											   counts->nwords * sizeof(uint64));
	size_t		n = 0;
	uint64		limit;

	for (size_t i = 0; i <= counts->probing.mask; i++)
	{
		if (counts->table[i].cf != 0)
			ranks[n++] = rank_of(counts->table[i].df, counts->table[i].hash);
	}
	sort_hashes(ranks, n);
	limit = ranks[(n - 1) / 2];
	pfree(ranks);
	rebuild(counts, counts->probing.mask + 1, limit);
}

/*
 * The place of a word that is to be counted, with room for it.  Places that
 * were found before are void then.
 */
static Count *
make_place(Counts *counts, uint64 hash)
{
	if (counts->nwords == counts->max_words)
		drop_rare(counts);
	else if (counts->nwords >= (counts->probing.mask + 1) / 4 * 3)
		rebuild(counts, (counts->probing.mask + 1) * 2, 0);
	counts->nwords++;
	return find_place(counts, hash);
}

/* A word that has been read. */
static inline void
add_word(Counts *counts, uint64 hash)
{
	Count	   *count = find_place(counts, hash);

	if (count->cf == 0)
	{
		count = make_place(counts, hash);
		count->hash = hash;
	}
	count->cf = add_saturated(count->cf, 1);
	if (count->document != counts->document)
	{
		count->document = counts->document;
		count->df = add_saturated(count->df, 1);
	}
}

/* Numbers a further document, so that words know which one they were in. */
static void
next_document(Counts *counts)
{
	counts->totals->documents++;
	if (++counts->document != 0)
		return;
	for (size_t i = 0; i <= counts->probing.mask; i++)
		counts->table[i].document = 0;
	counts->document = 1;
}

void
counts_add_document(Counts *counts, Reader *reader, const char *doc,
					size_t len)
{
	uint64		hashes[READ_AT_ONCE];
	uint8		initials[READ_AT_ONCE];
	uint64	   *initial_counts = counts->totals->initials;
	size_t		n;

	next_document(counts);
	reader_begin(reader, doc, len);
	while ((n = reader_read_initials(reader, hashes, initials,
									 READ_AT_ONCE)) > 0)
	{
		for (size_t i = 0; i < n; i++)
		{
			add_word(counts, hashes[i]);
			initial_counts[initials[i]]++;
		}
		counts->totals->length += n;
	}
}

void
counts_add_shingles(Counts *counts, const uint64 *shingles, size_t n)
{
	next_document(counts);
	for (size_t i = 0; i < n; i++)
	{
		CHECK_EVERY(i);
		add_word(counts, shingles[i]);
	}
	counts->totals->length += n;
}

/* A word counted elsewhere. */
static void
add_count(Counts *counts, uint64 hash, uint32 df, uint32 cf)
{
	Count	   *count = find_place(counts, hash);

	if (count->cf == 0)
	{
		count = make_place(counts, hash);
		count->hash = hash;
	}
	count->df = add_saturated(count->df, df);
	count->cf = add_saturated(count->cf, cf);
}

void
counts_add_lexicon(Counts *counts, const Lexicon *lexicon)
{
	size_t		n = LEXICON_NWORDS(lexicon);

	lexicon_add_totals(counts->totals, lexicon);
	for (size_t i = 0; i < n; i++)
	{
		CHECK_EVERY(i);
		add_count(counts, lexicon->entries[i].hash, lexicon->entries[i].df,
				  lexicon->entries[i].cf);
	}
}

size_t
counts_nwords(const Counts *counts)
{
	return counts->nwords;
}

/* sort_entries(array, n): by hash, can be cancelled */
#define ST_SORT sort_entries
#define ST_ELEMENT_TYPE LexiconEntry
#define ST_COMPARE(a, b) ((a)->hash < (b)->hash ? -1 : (a)->hash > (b)->hash)
#define ST_SCOPE static
#define ST_CHECK_FOR_INTERRUPTS
#define ST_DEFINE
#include "lib/sort_template.h"

Lexicon *
counts_lexicon(const Counts *counts, const SignatureSpec *spec, bool markup)
{
	Lexicon    *lexicon = lexicon_alloc(spec, markup, counts->nwords);
	size_t		n = 0;

	lexicon_add_totals(lexicon, counts->totals);
	for (size_t i = 0; i <= counts->probing.mask; i++)
	{
		if (counts->table[i].cf == 0)
			continue;
		lexicon->entries[n].hash = counts->table[i].hash;
		lexicon->entries[n].df = counts->table[i].df;
		lexicon->entries[n++].cf = counts->table[i].cf;
	}
	sort_entries(lexicon->entries, n);
	lexicon_seal(lexicon);
	return lexicon;
}
