/*
 * evidence.h
 *		What two texts have in common, and where it stands in both.
 */
#ifndef NEARDUP_EVIDENCE_H
#define NEARDUP_EVIDENCE_H

#include "fmgr.h"

#include "passages/chains.h"
#include "passages/word_places.h"
#include "document/doc_context.h"

/* A text, in UTF-8, and its words. */
typedef struct ReadText
{
	const char *utf8;
	size_t		len;
	uint32		nwords;
	WordPlaces	words;			/* where they stand */
	uint64	   *shingles;		/* one begins with each word but the last */
	uint32		nshingles;
	uint32	   *hashes;			/* parts of the words' own, or NULL */
} ReadText;

typedef struct Evidence
{
	MemoryContext context;		/* owns all of it */
	MemoryContext caller;		/* the current one before */
	uint8		language;		/* of the analysis */
	ReadText	a;
	ReadText	b;
	Passage    *passages;		/* by their places in a */
	size_t		npassages;
	WordSpan   *a_spans;		/* per passage, where it stands: bytes, in which
								 * no grapheme is cut */
	WordSpan   *b_spans;
} Evidence;

/* The words of both that are in a passage, out of all words of both. */
static inline double
passage_similarity(const Passage *passage)
{
	return (double) passage->matched /
		((double) (passage->a_end - passage->a_start) +
		 (double) (passage->b_end - passage->b_start) - passage->matched);
}

/* From the beginning of word `first` up to the end of that before `last`. */
static inline WordSpan
text_span(const ReadText *text, uint32 first, uint32 last)
{
	return (WordSpan){word_place(&text->words, first).start,
	word_place(&text->words, last - 1).end};
}

/*
 * Finds the passages of the texts that are the function's arguments 0 and 1,
 * under an analysis, a least number of words and a gap that are arguments 2 to
 * 4.  Until evidence_end() the current memory context is one that goes with it.
 * Raises INVALID_PARAMETER_VALUE, and
 * PROGRAM_LIMIT_EXCEEDED for a text of too many words.
 */
extern Evidence *evidence_begin(FunctionCallInfo fcinfo);
extern void evidence_end(Evidence *evidence);

/*
 * Reads a text's words, with their places, and makes its shingles of k words;
 * none if it has fewer.  With `hashes` it keeps those of the words, too.  In the current memory context, where the site was made
 * ready for shingles.
 */
extern void text_read(ReadText *text, DocContext *doccxt, const struct varlena *doc,
					  uint32 k, bool hashes);

/* coverage.c */

/* The shares of the texts' words that are in passages; of no words, 0. */
extern void evidence_coverage(const Evidence *evidence, double *of_a,
							  double *of_b);

/* graphemes.c */

/* Widens places in a text, *n of them, where they would cut a grapheme. */
extern void spans_to_graphemes(const char *utf8, size_t len, WordSpan *spans,
							   size_t n);

/* The characters that begin in a stretch of UTF-8. */
extern uint32 count_characters(const char *start, const char *stop);

/*
 * Makes places in characters of places in bytes, as the server counts
 * characters.
 */
extern void spans_to_characters(const char *utf8, WordSpan *spans, size_t n);

#endif							/* NEARDUP_EVIDENCE_H */
