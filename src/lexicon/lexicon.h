/*
 * lexicon.h
 *		The statistics of a collection as a value: numbers of documents and
 *		words, and the frequencies of each word.
 *
 * Words are stored as their hashes, which signatures also use.  They may be
 * shingles in place of words.  doc/lexicon.md has the bytes as a table.
 */
#ifndef NEARDUP_LEXICON_H
#define NEARDUP_LEXICON_H

#include "base/linear_probing.h"
#include "signature/signature.h"
#include "text/reader.h"

#define LEXICON_VERSION		1	/* first byte of every lexicon */

/*
 * Words are also counted by classes of their first letter.  A class is the low
 * bits of its code point, which distinguish the letters of every alphabet well
 * enough.
 */
#define LEXICON_CLASSES		(1 << INITIAL_BITS)

/* A word and its frequencies */
typedef struct LexiconEntry
{
	uint64		hash;			/* hash of the word */
	uint32		df;				/* number of documents with the word, >= 1 */
	uint32		cf;				/* number of its occurrences, >= df */
} LexiconEntry;

/* The datum */
typedef struct Lexicon
{
	int32		vl_len_;		/* varlena header (do not touch directly!) */
	uint8		version;		/* LEXICON_VERSION */
	uint8		reading;		/* READING_... */
	uint8		language;		/* down to k: the analysis, as in a spec */
	uint8		unit;			/* for words: unit word, order keep, k = 1 */
	uint32		filters;
	uint32		analysis;
	uint8		order;
	uint8		reserved;		/* zero */
	uint16		k;
	uint32		reserved2;		/* zero, aligns the next field */
	uint64		id;				/* hash of other bytes; see lexicon_seal() */
	uint64		documents;		/* number of documents, N in formulas */
	uint64		length;			/* number of words in all documents */
	uint64		df_error;		/* greatest error of a df, and greatest df of
								 * a word that is missing */
	uint64		cf_error;		/* greatest error of a cf, and greatest cf of
								 * a word that is missing */
	uint64		initials[LEXICON_CLASSES];	/* number of words by class of
											 * first letter; 0 for shingles */
	LexiconEntry entries[FLEXIBLE_ARRAY_MEMBER];	/* words by rising hash */
} Lexicon;

StaticAssertDecl(sizeof(LexiconEntry) == 16, "LexiconEntry has padding");
StaticAssertDecl(offsetof(Lexicon, entries) == 64 + 8 * LEXICON_CLASSES,
				 "Lexicon has padding");

#define LEXICON_HEADER		offsetof(Lexicon, entries)

/* The portable bytes follow the varlena header; numbers are little-endian. */
#define LEXICON_BYTES(l)	((char *) (l) + VARHDRSZ)
#define LEXICON_NWORDS(l) \
	((VARSIZE(l) - LEXICON_HEADER) / sizeof(LexiconEntry))

/* The greatest number of words in one datum */
#define LEXICON_MAX_WORDS \
	((MaxAllocSize - LEXICON_HEADER) / sizeof(LexiconEntry))

#define DatumGetLexicon(d)		((Lexicon *) PG_DETOAST_DATUM(d))
#define PG_GETARG_LEXICON(n)	DatumGetLexicon(PG_GETARG_DATUM(n))
#define PG_RETURN_LEXICON(l)	PG_RETURN_POINTER(l)

/*
 * Return a lexicon with a copy of a header and room for nwords entries, in the
 * current memory context.  Raises PROGRAM_LIMIT_EXCEEDED if they do not fit
 * into a datum.
 */
extern Lexicon *lexicon_alloc(const Lexicon *header, size_t nwords);

/* Set the number of entries, within the allocated room, and the id. */
extern void lexicon_seal(Lexicon *lexicon, size_t nwords);

/* Convert the bytes of this machine to portable bytes, or back, in place. */
extern void lexicon_swap(Lexicon *lexicon);

/* Return XXH3 of the portable bytes, on which hash partitions rely. */
extern uint64 lexicon_bytes_hash(const Lexicon *lexicon, uint64 seed);

/* Return the rule that a lexicon breaks, as a sentence, or NULL. */
extern const char *lexicon_broken_rule(const Lexicon *lexicon);

/*
 * Return the lexicon of portable bytes, in the current memory context.  Raises
 * INVALID_BINARY_REPRESENTATION unless all bytes are valid.
 */
extern Lexicon *lexicon_from_bytes(const char *bytes, size_t len);

/* The size of the portable bytes */
#define LEXICON_BYTES_SIZE(nwords) \
	(LEXICON_HEADER - VARHDRSZ + (nwords) * sizeof(LexiconEntry))

/*
 * Return a word's rank: by df, then by hash.  Words of low rank are dropped
 * first, words of equal rank together.
 */
static inline uint64
lexicon_rank(uint32 df, uint64 hash)
{
	return (uint64) df << 32 | (~hash >> 32);
}

/* Set the analysis in a lexicon's header. */
extern void lexicon_set_spec(Lexicon *lexicon, const SignatureSpec *spec,
							 uint8 reading);

/*
 * Return the analysis that a lexicon was made with; method and width are zero.
 */
extern SignatureSpec lexicon_spec(const Lexicon *lexicon);

/* True if a spec is of single words, not of shingles. */
static inline bool
spec_is_of_words(const SignatureSpec *spec)
{
	return spec->unit == UNIT_WORD && spec->k == 1;
}

/*
 * Turn the spec of any analysis into the spec of its words alone: unit word,
 * order keep, k = 1.  A configuration must have k = 1 already.
 */
extern void spec_of_words(SignatureSpec *spec);

/* Raise DATATYPE_MISMATCH, naming both, unless the lexicon has this spec. */
extern void lexicon_require_spec(const Lexicon *lexicon,
								 const SignatureSpec *spec);

/* Raise DATATYPE_MISMATCH unless two lexicons have the same analysis. */
extern void lexicons_require_same(const Lexicon *a, const Lexicon *b);

/*
 * Return the analysis as in the text form and messages: for words without k,
 * and "simple" for the default.
 */
extern char *words_name(const SignatureSpec *spec, uint8 reading);

/*
 * Return the header of a lexicon, fetched without its entries, in the current
 * memory context.  LEXICON_NWORDS() of the header is the number of words of
 * the whole lexicon.
 */
extern const Lexicon *lexicon_header(Datum datum);

/*
 * Add the numbers in the header of a lexicon to the numbers of another one.
 * Raises DATATYPE_MISMATCH if their analyses differ, and
 * PROGRAM_LIMIT_EXCEEDED if a sum exceeds a bigint.
 */
extern void lexicon_add_totals(Lexicon *to, const Lexicon *from);

/* Return a + b, or the greatest bigint if the sum exceeds it. */
static inline uint64
lexicon_add_errors(uint64 a, uint64 b)
{
	return Min(a, PG_INT64_MAX) > PG_INT64_MAX - Min(b, PG_INT64_MAX) ?
		PG_INT64_MAX : a + b;
}

/* Return a + b, or the greatest uint32 if the sum exceeds it. */
static inline uint32
add_saturated(uint32 a, uint32 b)
{
	return a > PG_UINT32_MAX - b ? PG_UINT32_MAX : a + b;
}

/* Counting the words of a collection in bounded memory */

/* The counts of a word */
typedef struct Count
{
	uint64		hash;			/* hash of the word */
	uint32		df;				/* number of documents with the word */
	uint32		cf;				/* number of its occurrences; 0 = the place is
								 * free */
	uint32		document;		/* number of the last document with the word */
} Count;

/* The counts of a collection */
typedef struct Counts
{
	MemoryContext context;		/* owns the table */
	Lexicon    *totals;			/* header of the resulting lexicon */
	Count	   *table;			/* open hash table of words */
	Probing		probing;		/* probing of the places in `table` */
	size_t		nwords;			/* number of filled places */
	size_t		max_words;		/* greatest number of words to keep */
	uint32		document;		/* number of the current document; never 0 */
} Counts;

/*
 * Return empty counts of an analysis, in the current memory context.  They
 * never hold more than max_words words, 1 <= max_words <= LEXICON_MAX_WORDS.
 */
extern Counts *counts_create(const SignatureSpec *spec, uint8 reading,
							 size_t max_words);

/* Add a document of len bytes of UTF-8, by the reader's words. */
extern void counts_add_document(Counts *counts, Reader *reader,
								const char *doc, size_t len);

/* Add a document of n shingles. */
extern void counts_add_shingles(Counts *counts, const uint64 *shingles,
								size_t n);

/* Add the counts of a lexicon; raises the errors of lexicon_add_totals(). */
extern void counts_add_lexicon(Counts *counts, const Lexicon *lexicon);

/* Return the counts as a lexicon, in the current memory context. */
extern Lexicon *counts_lexicon(const Counts *counts);

#endif							/* NEARDUP_LEXICON_H */
