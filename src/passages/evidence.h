/*
 * evidence.h
 *		Passages and cases of two texts, and their places.
 */
#ifndef NEARDUP_EVIDENCE_H
#define NEARDUP_EVIDENCE_H

#include "fmgr.h"
#include "lib/stringinfo.h"

#include "passages/case_presets.h"
#include "passages/word_places.h"
#include "document/doc_context.h"

/* A text, in UTF-8, and its words. */
typedef struct ReadText
{
	const char *utf8;
	size_t		len;
	uint32		nwords;
	WordPlaces	words;			/* their places */
	uint64	   *shingles;		/* in the order of their first words */
	uint32		nshingles;
	uint32	   *hashes;			/* 32 bits of each word's hash, or NULL */
} ReadText;

typedef struct Evidence
{
	MemoryContext context;		/* owns all of it */
	MemoryContext caller;		/* current before */
	uint8		language;		/* of the analysis */
	ReadText	a;
	ReadText	b;
	Passage    *passages;		/* by place in a */
	size_t		npassages;
	WordSpan   *a_spans;		/* per passage: its bytes, by whole graphemes */
	WordSpan   *b_spans;
} Evidence;

/* The bytes of the words from `first` to before `last`. */
static inline WordSpan
text_span(const ReadText *text, uint32 first, uint32 last)
{
	return (WordSpan)
	{
		word_place(&text->words, first).start,
			word_place(&text->words, last - 1).end
	};
}

/* Allocate n spans and one more. */
extern WordSpan *text_spans_alloc(size_t n);

/* Convert n spans of words to the bytes of whole graphemes. */
extern void text_place_spans(const ReadText *text, WordSpan *spans, size_t n);

/* Convert UTF-8 to a text of the server's encoding, and free it. */
extern struct varlena *text_from_utf8(StringInfo utf8);

/*
 * Find the passages of two texts.  The arguments 0 and 1 of the function are
 * the texts, 2 and 3 the least number of words and the greatest gap, and
 * number `analysis` is the analysis.  Makes the evidence's memory context the
 * current one, until evidence_end().  Raises INVALID_PARAMETER_VALUE, and
 * PROGRAM_LIMIT_EXCEEDED for a text of too many words.
 */
extern Evidence *evidence_of_passages(FunctionCallInfo fcinfo, int analysis);

/*
 * Return a copy of a preset; raises INVALID_PARAMETER_VALUE for an unknown
 * name.
 */
extern CasePreset preset_named(const struct varlena *name);

/*
 * Find the cases of two texts, each as a passage; otherwise as
 * evidence_of_passages().
 */
extern Evidence *evidence_of_cases(FunctionCallInfo fcinfo, int analysis,
								   const CasePreset *preset);
extern void evidence_end(Evidence *evidence);

/*
 * Compute the shares of the texts' words that are in passages; 0 of no words.
 */
extern void evidence_coverage(const Evidence *evidence, double *of_a,
							  double *of_b);

/*
 * Read a text's words and their places, and make its shingles of k words, none
 * if it has fewer.  With `hashes`, keep 32 bits of each word's hash.
 * Allocates in the current memory context; `doccxt` is prepared for
 * READS_SHINGLES.
 */
extern void text_read(ReadText *text, DocContext *doccxt,
					  const struct varlena *doc,
					  uint32 k, bool hashes);

#endif							/* NEARDUP_EVIDENCE_H */
