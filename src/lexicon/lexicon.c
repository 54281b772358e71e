/*
 * lexicon.c
 *		A lexicon: its spec, header and id; counting the words of a
 *		collection.
 */
#include "postgres.h"

#include "access/detoast.h"
#include "port/pg_bswap.h"
#include "utils/memutils.h"

#include "base/hash.h"
#include "base/input.h"
#include "base/interrupts.h"
#include "base/sort_uint64.h"
#include "lexicon/lexicon.h"
#include "text/analysis.h"

Lexicon *
lexicon_alloc(const Lexicon *header, size_t nwords)
{
	Lexicon    *lexicon;
	Size		size;

	if (nwords > LEXICON_MAX_WORDS)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("lexicon of %zu words is too large", nwords),
				 errdetail("A lexicon holds at most %zu words.",
						   (size_t) LEXICON_MAX_WORDS),
				 errhint("Leave rare words out with lexicon_trim().")));
	size = LEXICON_HEADER + nwords * sizeof(LexiconEntry);
	lexicon = palloc0(size);
	SET_VARSIZE(lexicon, size);
	memcpy(LEXICON_BYTES(lexicon), LEXICON_BYTES(header),
		   LEXICON_HEADER - VARHDRSZ);
	return lexicon;
}

void
spec_of_words(SignatureSpec *spec)
{
	Assert(spec->unit != UNIT_NONE);
	spec->unit = UNIT_WORD;
	spec->order = ORDER_KEEP;
	/* the hash of a configuration is of its name and k */
	Assert(spec->k == 1 || !(spec->filters & FILTER_CONFIG));
	spec->k = 1;
	analysis_rehash(spec);
}

SignatureSpec
lexicon_spec(const Lexicon *lexicon)
{
	SignatureSpec spec = {0};

	spec.version = SIGNATURE_VERSION;
	spec.unit = lexicon->unit;
	spec.order = lexicon->order;
	spec.k = lexicon->k;
	spec.language = lexicon->language;
	spec.filters = lexicon->filters;
	spec.analysis = lexicon->analysis;
	return spec;
}

void
lexicon_set_spec(Lexicon *lexicon, const SignatureSpec *spec, uint8 reading)
{
	lexicon->version = LEXICON_VERSION;
	lexicon->reading = reading;
	lexicon->language = spec->language;
	lexicon->unit = spec->unit;
	lexicon->order = spec->order;
	lexicon->k = spec->k;
	lexicon->filters = spec->filters;
	lexicon->analysis = spec->analysis;
}

char *
words_name(const SignatureSpec *spec, uint8 reading)
{
	StringInfoData name;

	initStringInfo(&name);
	analysis_canonical(spec, &name);
	if (spec_is_of_words(spec))
	{
		/* without "k=1" at its end, and the space before it */
		name.len = Max(name.len - 4, 0);
		name.data[name.len] = '\0';
		if (name.len == 0)
			appendStringInfoString(&name, "simple");
	}
	appendStringInfoString(&name, analysis_reading(reading));
	return name.data;
}

/* Return a + b; raise PROGRAM_LIMIT_EXCEEDED if that exceeds a bigint. */
static uint64
add_total(uint64 a, uint64 b, const char *what)
{
	if (a > (uint64) PG_INT64_MAX - b)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("lexicons have too many %s to be added", what),
				 errdetail("The sum of " UINT64_FORMAT " and " UINT64_FORMAT
						   " is out of range.", a, b)));
	return a + b;
}

void
lexicon_add_totals(Lexicon *to, const Lexicon *from)
{
	lexicons_require_same(to, from);
	to->reading |= from->reading;
	to->documents = add_total(to->documents, from->documents, "documents");
	to->length = add_total(to->length, from->length, "words");
	to->df_error = lexicon_add_errors(to->df_error, from->df_error);
	to->cf_error = lexicon_add_errors(to->cf_error, from->cf_error);
	/* the sum of the initials is at most length */
	for (int i = 0; i < LEXICON_CLASSES; i++)
		to->initials[i] += from->initials[i];
}

void
lexicon_require_spec(const Lexicon *lexicon, const SignatureSpec *spec)
{
	SignatureSpec own = lexicon_spec(lexicon);

	if (!spec_equal(&own, spec))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("lexicon is of another analysis than the document"),
				 errdetail("The lexicon's words are \"%s\", the document's are \"%s\".",
						   words_name(&own, 0), words_name(spec, 0)),
				 errhint("Leave the analysis out to use the lexicon's.")));
}

void
lexicons_require_same(const Lexicon *a, const Lexicon *b)
{
	SignatureSpec left = lexicon_spec(a);
	SignatureSpec right = lexicon_spec(b);

	if (!spec_equal(&left, &right))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("lexicons of different analyses cannot be combined"),
				 errdetail("The words of one are \"%s\", the words of the other \"%s\".",
						   words_name(&left, 0), words_name(&right, 0))));
}

const Lexicon *
lexicon_header(Datum datum)
{
	Lexicon    *header = palloc(LEXICON_HEADER);
	struct varlena *slice;

	SET_VARSIZE(header, toast_raw_datum_size(datum));
	slice = PG_DETOAST_DATUM_SLICE(datum, 0, LEXICON_HEADER - VARHDRSZ);
	memcpy(LEXICON_BYTES(header), VARDATA_ANY(slice),
		   LEXICON_HEADER - VARHDRSZ);
	return header;
}

void
lexicon_swap(Lexicon *lexicon)
{
#ifdef WORDS_BIGENDIAN
	size_t		n = LEXICON_NWORDS(lexicon);

	lexicon->k = pg_bswap16(lexicon->k);
	lexicon->filters = pg_bswap32(lexicon->filters);
	lexicon->analysis = pg_bswap32(lexicon->analysis);
	/* from id to the last of initials */
	for (uint64 *number = &lexicon->id;
		 number < &lexicon->initials[LEXICON_CLASSES]; number++)
		*number = pg_bswap64(*number);
	for (size_t i = 0; i < n; i++)
	{
		lexicon->entries[i].hash = pg_bswap64(lexicon->entries[i].hash);
		lexicon->entries[i].df = pg_bswap32(lexicon->entries[i].df);
		lexicon->entries[i].cf = pg_bswap32(lexicon->entries[i].cf);
	}
#endif
}

/* Return the lexicon with portable bytes: a copy on a big-endian machine. */
static const Lexicon *
portable_form(const Lexicon *lexicon)
{
#ifdef WORDS_BIGENDIAN
	Lexicon    *copy = palloc(VARSIZE(lexicon));

	memcpy(copy, lexicon, VARSIZE(lexicon));
	lexicon_swap(copy);
	return copy;
#else
	return lexicon;
#endif
}

uint64
lexicon_bytes_hash(const Lexicon *lexicon, uint64 seed)
{
	return XXH3_64bits_withSeed(LEXICON_BYTES(portable_form(lexicon)),
								VARSIZE(lexicon) - VARHDRSZ, seed);
}

/*
 * The id is XXH3 of the entries' bytes, with the hash of the header with id 0
 * as seed.  Lexicons of the same id are equal.  Signatures that are made with
 * a lexicon have a part of its id.
 */
void
lexicon_seal(Lexicon *lexicon, size_t nwords)
{
	const Lexicon *portable;
	uint64		seed;

	SET_VARSIZE(lexicon, LEXICON_HEADER + nwords * sizeof(LexiconEntry));
	lexicon->id = 0;
	portable = portable_form(lexicon);
	seed = XXH3_64bits(LEXICON_BYTES(portable), LEXICON_HEADER - VARHDRSZ);
	lexicon->id = XXH3_64bits_withSeed(portable->entries,
									   VARSIZE(lexicon) - LEXICON_HEADER,
									   seed);
}

/* Checking bytes */

/* Return the rule that the header breaks, as a sentence, or NULL. */
static const char *
check_header(const Lexicon *lexicon)
{
	SignatureSpec spec = lexicon_spec(lexicon);
	bool		config;
	uint32		hash;
	uint64		sum = 0;

	if (lexicon->version != LEXICON_VERSION)
		return "Its format version is not known to this version of neardup.";
	if ((lexicon->reading & ~READING_KNOWN) != 0 || lexicon->reserved != 0 ||
		lexicon->reserved2 != 0)
		return "Reserved bits of its header are not zero.";
	config = (lexicon->filters & FILTER_CONFIG) != 0;
	if ((config ? lexicon->filters != FILTER_CONFIG ||
		 lexicon->language != 0 || lexicon->reading != 0 ||
		 !spec_is_of_words(&spec) : !analysis_hash(&spec, &hash)) ||
		(spec_is_of_words(&spec) && lexicon->order != ORDER_KEEP) ||
		(lexicon->filters & FILTER_REPEATS) != 0)
		return "Its analysis contradicts itself.";
	if (!config && hash != lexicon->analysis)
		return "The hash of its analysis does not match the analysis in its header.";
	if (Max(lexicon->documents, lexicon->length) > PG_INT64_MAX ||
		Max(lexicon->df_error, lexicon->cf_error) > PG_INT64_MAX)
		return "A number of its header is out of range.";
	for (int i = 0; i < LEXICON_CLASSES; i++)
	{
		if (lexicon->initials[i] > lexicon->length - sum)
			return "The classes of its words sum up to more than their number.";
		sum += lexicon->initials[i];
	}
	return NULL;
}

/* Return the rule that an entry breaks, as a sentence, or NULL. */
static const char *
check_entries(const Lexicon *lexicon)
{
	size_t		n = LEXICON_NWORDS(lexicon);

	for (size_t i = 0; i < n; i++)
	{
		const LexiconEntry *entry = &lexicon->entries[i];

		CHECK_EVERY(i);
		if (i > 0 && entry[-1].hash >= entry->hash)
			return "The hashes of its words do not rise.";
		if (entry->df == 0 || entry->df > lexicon->documents)
			return "A word's number of documents is out of range.";
		if (entry->cf < entry->df || entry->cf > lexicon->length)
			return "A word's number of occurrences is out of range.";
	}
	return NULL;
}

const char *
lexicon_broken_rule(const Lexicon *lexicon)
{
	const char *rule = check_header(lexicon);

	return rule != NULL ? rule : check_entries(lexicon);
}

Lexicon *
lexicon_from_bytes(const char *bytes, size_t len)
{
	Lexicon    *lexicon;
	const char *rule;
	uint64		id;

	if (len < LEXICON_HEADER - VARHDRSZ)
		input_bad_bytes("lexicon", "It is shorter than a header.");
	if ((len + VARHDRSZ - LEXICON_HEADER) % sizeof(LexiconEntry) != 0)
		input_bad_bytes("lexicon", "Its last word is cut off.");
	lexicon = palloc(len + VARHDRSZ);
	SET_VARSIZE(lexicon, len + VARHDRSZ);
	memcpy(LEXICON_BYTES(lexicon), bytes, len);
	lexicon_swap(lexicon);
	rule = lexicon_broken_rule(lexicon);
	id = lexicon->id;
	lexicon_seal(lexicon, LEXICON_NWORDS(lexicon));
	if (rule == NULL && lexicon->id != id)
		rule = "Its checksum does not match its content.";
	if (rule != NULL)
		input_bad_bytes("lexicon", rule);
	return lexicon;
}

/*
 * Counting the words of a collection in bounded memory
 *
 * Words are counted in an open hash table.  When it has max_words words, the
 * rarer half is dropped: in running text about half of all words occur once.
 * A dropped word that occurs again starts from zero, so its df is too small by
 * the dropped count.  Each time no word loses more than the df of the most
 * frequent dropped word, and the sum of these losses is the error of the
 * lexicon (lossy counting: Manku and Motwani, VLDB 2002); cf has its own
 * error.  Up to max_words distinct words, counts are exact.
 */

#define TABLE_SIZE		1024	/* places of a new table; a power of 2 */

/* Return an empty table of a size, a power of 2. */
static Count *
create_table(Counts *counts, size_t size)
{
	return MemoryContextAllocExtended(counts->context, size * sizeof(Count),
									  MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
}

Counts *
counts_create(const SignatureSpec *spec, uint8 reading, size_t max_words)
{
	Counts	   *counts = palloc0(sizeof(Counts));

	counts->context = CurrentMemoryContext;
	counts->totals = palloc0(LEXICON_HEADER);
	lexicon_set_spec(counts->totals, spec, reading);
	counts->max_words = max_words;
	counts->table = create_table(counts, TABLE_SIZE);
	probing_init(&counts->probing, TABLE_SIZE);
	return counts;
}

/* Return the place of a word, or the free one for it. */
static inline Count *
find_place(const Counts *counts, uint64 hash)
{
	size_t		i = probing_first(&counts->probing, hash);

	while (counts->table[i].cf != 0 && counts->table[i].hash != hash)
		i = probing_next(&counts->probing, i);
	return &counts->table[i];
}

/*
 * Move the words to a table of another size.  Words whose rank is at most the
 * limit are dropped; 0 drops none.
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
		if (lexicon_rank(old[i].df, old[i].hash) <= limit)
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

/* Drop the rarer half of a table of max_words words. */
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
			ranks[n++] = lexicon_rank(counts->table[i].df,
									  counts->table[i].hash);
	}
	Assert(n > 0 && n == counts->nwords);
	sort_hashes(ranks, n);
	limit = ranks[(n - 1) / 2];
	pfree(ranks);
	rebuild(counts, counts->probing.mask + 1, limit);
}

/* Return a free place for a new word; places found before become invalid. */
static Count *
make_place(Counts *counts, uint64 hash)
{
	if (counts->nwords == counts->max_words)
		drop_rare(counts);
	else if (counts->nwords >= (counts->probing.mask + 1) / 4 * 3)
		rebuild(counts, (counts->probing.mask + 1) * 2, 0);
	counts->nwords++;
	Assert(counts->nwords <= counts->max_words &&
		   counts->nwords <= counts->probing.mask);
	return find_place(counts, hash);
}

/* Count an occurrence of a word. */
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

/* Begin a document, with a new number, so that df counts a word in it once. */
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

/* Add the counts of a word. */
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

/* sort_entries(array, n): by hash; the sort can be cancelled */
#define ST_SORT sort_entries
#define ST_ELEMENT_TYPE LexiconEntry
#define ST_COMPARE(a, b) ((a)->hash < (b)->hash ? -1 : (a)->hash > (b)->hash)
#define ST_SCOPE static
#define ST_CHECK_FOR_INTERRUPTS
#define ST_DEFINE
#include "lib/sort_template.h"

Lexicon *
counts_lexicon(const Counts *counts)
{
	Lexicon    *lexicon = lexicon_alloc(counts->totals, counts->nwords);
	size_t		n = 0;

	for (size_t i = 0; i <= counts->probing.mask; i++)
	{
		if (counts->table[i].cf == 0)
			continue;
		lexicon->entries[n].hash = counts->table[i].hash;
		lexicon->entries[n].df = counts->table[i].df;
		lexicon->entries[n++].cf = counts->table[i].cf;
	}
	Assert(n == counts->nwords);
	sort_entries(lexicon->entries, n);
	lexicon_seal(lexicon, n);
	return lexicon;
}
