/*
 * lexicon.h
 *		A corpus's statistics as a value: how many documents, how many words,
 *		and of each word how often it occurs.
 *
 * A lexicon is an ordinary datum.  Words are known by their hashes only, the
 * same that signatures are made of.  doc/storage.md has the bytes as a table.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/corpus/lexicon.h
 */
#ifndef NEARDUP_LEXICON_H
#define NEARDUP_LEXICON_H

#include "neardup.h"
#include "text/reader.h"

#define LEXICON_VERSION		1	/* first byte of every lexicon */

#define LEXICON_MARKUP		0x01	/* markup was stripped */
#define LEXICON_FLAGS		LEXICON_MARKUP	/* all that are known */

/*
 * Words are counted, too, by classes of their first letter: the low bits of
 * its code point, which tell the letters of every alphabet apart well enough.
 */
#define LEXICON_CLASSES		(1 << INITIAL_BITS)

typedef struct LexiconEntry
{
	uint64		hash;			/* of the word */
	uint32		df;				/* documents that have it, >= 1 */
	uint32		cf;				/* its occurrences, >= df */
} LexiconEntry;

typedef struct Lexicon
{
	int32		vl_len_;		/* varlena header (do not touch directly!) */
	uint8		version;		/* LEXICON_VERSION */
	uint8		flags;			/* LEXICON_... */
	uint8		language;		/* the analysis, as in a Making of unit word, */
	uint8		reserved;		/* order keep and k = 1; zero */
	uint32		filters;
	uint32		analysis;
	uint64		id;				/* hash of all the rest; see lexicon_seal() */
	uint64		documents;		/* N */
	uint64		length;			/* words of all documents */
	uint64		df_error;		/* no df is off by more; nor is that of a word
								 * which is not there more than this */
	uint64		cf_error;		/* the same for cf */
	uint64		initials[LEXICON_CLASSES];	/* words by class of first letter */
	LexiconEntry entries[FLEXIBLE_ARRAY_MEMBER];	/* by rising hash */
} Lexicon;

StaticAssertDecl(sizeof(LexiconEntry) == 16, "LexiconEntry has padding");
StaticAssertDecl(offsetof(Lexicon, entries) == 56 + 8 * LEXICON_CLASSES,
				 "Lexicon has padding");

#define LEXICON_HEADER		offsetof(Lexicon, entries)
#define LEXICON_NWORDS(l) \
	((VARSIZE(l) - LEXICON_HEADER) / sizeof(LexiconEntry))

/* The most words that fit into one datum. */
#define LEXICON_MAX_WORDS \
	((MaxAllocSize - LEXICON_HEADER) / sizeof(LexiconEntry))

#define DatumGetLexicon(d)		((Lexicon *) PG_DETOAST_DATUM(d))
#define PG_GETARG_LEXICON(n)	DatumGetLexicon(PG_GETARG_DATUM(n))
#define PG_RETURN_LEXICON(l)	PG_RETURN_POINTER(l)

/* lexicon.c */

/*
 * A lexicon of nwords entries, all zero, of the given analysis, in the
 * current memory context.  Raises PROGRAM_LIMIT_EXCEEDED where they do not
 * fit into a datum.
 */
extern Lexicon *lexicon_alloc(const Making *making, bool markup,
							  size_t nwords);

/* Must be called when all else is filled in. */
extern void lexicon_seal(Lexicon *lexicon);

/* The analysis that a lexicon was made with; method and width are zero. */
extern void lexicon_making(const Lexicon *lexicon, Making *making);

/*
 * Turns the making of any analysis into that of its words alone: unit word,
 * order keep, k = 1.  That of a configuration must have k = 1 already.
 */
extern void making_of_words(Making *making);

/*
 * Raises DATATYPE_MISMATCH, naming both, unless the words of a making are
 * those of the lexicon.
 */
extern void lexicon_require_making(const Lexicon *lexicon,
								   const Making *making);

/* The same for the words of two lexicons. */
extern void words_require_same(const Making *a, const Making *b);

/*
 * The analysis of words as the text form and messages have it: without the k
 * that they do not have, and "simple" for nothing special.
 */
extern char *words_name(const Making *making);

/*
 * The head of a lexicon, fetched alone: enough for all but the words, whose
 * number is told.  In the current memory context; its varlena header is void.
 */
extern const Lexicon *lexicon_header(Datum datum, size_t *nwords);

/* a + b, or the largest number if that is too small. */
static inline uint32
add_saturated(uint32 a, uint32 b)
{
	return a > PG_UINT32_MAX - b ? PG_UINT32_MAX : a + b;
}

#endif							/* NEARDUP_LEXICON_H */
