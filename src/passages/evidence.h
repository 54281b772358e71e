/*
 * evidence.h
 *		What two texts have in common, and where.
 */
#ifndef NEARDUP_EVIDENCE_H
#define NEARDUP_EVIDENCE_H

#include "fmgr.h"
#include "lib/stringinfo.h"

#include "passages/case_search.h"
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
	WordSpan   *a_spans;		/* per passage, where it stands: bytes, in
								 * which no grapheme is cut */
	WordSpan   *b_spans;
} Evidence;

/* From the beginning of word `first` up to the end of that before `last`. */
static inline WordSpan
text_span(const ReadText *text, uint32 first, uint32 last)
{
	return (WordSpan)
	{
		word_place(&text->words, first).start,
			word_place(&text->words, last - 1).end
	};
}

/* Room for the places of n stretches, and one more. */
extern WordSpan *text_spans_alloc(size_t n);

/*
 * Turn n stretches of words into the bytes from the first one's start to the last one's end,
 * in which no grapheme is cut.
 */
extern void text_place_spans(const ReadText *text, WordSpan *spans, size_t n);

/* The text that an SQL function returns, of UTF-8, which is freed. */
extern struct varlena *text_from_utf8(StringInfo utf8);

/*
 * Find the passages of the texts that are the function's arguments 0 and 1, of a least
 * number of words and a greatest gap that are arguments 2 and 3, under an analysis that
 * is argument `analysis`.  Until evidence_end() the current memory context is one that
 * goes with it.  Raises INVALID_PARAMETER_VALUE, and PROGRAM_LIMIT_EXCEEDED for a text of
 * too many words.
 */
extern Evidence *evidence_of_passages(FunctionCallInfo fcinfo, int analysis);

/* The rules of a preset; raises INVALID_PARAMETER_VALUE if there is none of the name. */
extern CaseRules preset_rules(const struct varlena *name);

/* Find the cases of the texts in the same way; each is a passage. */
extern Evidence *evidence_of_cases(FunctionCallInfo fcinfo, int analysis,
								   const CaseRules *rules);
extern void evidence_end(Evidence *evidence);

/* The shares of the texts' words that are in passages; of no words, 0. */
extern void evidence_coverage(const Evidence *evidence, double *of_a,
							  double *of_b);

/*
 * Read a text's words, with their places, and make its shingles of k words; none if it
 * has fewer.  With `hashes` keep those of the words, too.  All is in the current memory
 * context; `doccxt` reads shingles.
 */
extern void text_read(ReadText *text, DocContext *doccxt, const struct varlena *doc,
					  uint32 k, bool hashes);

#endif							/* NEARDUP_EVIDENCE_H */
