/*
 * evidence.h
 *		Finds the passages and cases of two texts, and their places.
 */
#ifndef NEARDUP_EVIDENCE_H
#define NEARDUP_EVIDENCE_H

#include "fmgr.h"
#include "lib/stringinfo.h"

#include "passages/case_presets.h"
#include "passages/word_places.h"
#include "document/doc_context.h"

/* A text in UTF-8, and its words */
typedef struct ReadText
{
	const char *utf8;
	size_t		len;
	uint32		nwords;
	WordPlaces	words;			/* places of the words */
	uint64	   *shingles;		/* ordered by their first words */
	uint32		nshingles;
	uint32	   *hashes;			/* 32 bits of each word's hash; NULL = not
								 * kept */
} ReadText;

/* What two texts have in common */
typedef struct Evidence
{
	MemoryContext context;		/* memory context that owns all of this */
	MemoryContext caller;		/* memory context that was current before */
	uint8		language;		/* language of the analysis */
	ReadText	a;
	ReadText	b;
	PassageRules rules;			/* what counts as a passage */
	Passage    *passages;		/* passages or cases, by their place in a */
	size_t		npassages;
	WordSpan   *a_spans;		/* bytes of each passage in a, widened to
								 * whole graphemes */
	WordSpan   *b_spans;		/* bytes of each passage in b, widened to
								 * whole graphemes */
} Evidence;

/* Return the bytes of the words `first` to `last` - 1. */
static inline WordSpan
text_span(const ReadText *text, uint32 first, uint32 last)
{
	return (WordSpan)
	{
		word_place(&text->words, first).start,
			word_place(&text->words, last - 1).end
	};
}

/* Allocate n + 1 spans, even if they exceed 1 GB. */
extern WordSpan *text_spans_alloc(size_t n);

/* Convert n spans from words to bytes, widened to whole graphemes. */
extern void text_place_spans(const ReadText *text, WordSpan *spans, size_t n);

/* Convert UTF-8 to a text in the server's encoding, and free it. */
extern struct varlena *text_from_utf8(StringInfo utf8);

/*
 * Find the passages of two texts.  Arguments 0 and 1 of the function are the
 * texts, 2 and 3 the least number of words and the greatest gap, and number
 * `analysis` is the analysis.  The evidence's memory context stays current
 * until evidence_end().  With `hashes`, the hashes of the words are kept.
 * Raises INVALID_PARAMETER_VALUE, and PROGRAM_LIMIT_EXCEEDED if a text has too
 * many words.
 */
extern Evidence *evidence_of_passages(FunctionCallInfo fcinfo, int analysis,
									  bool hashes);

/*
 * Return a copy of the preset with this name; raise INVALID_PARAMETER_VALUE if
 * there is none.
 */
extern CasePreset preset_named(const struct varlena *name);

/*
 * Find the cases of two texts, each as a passage, by a preset.  Otherwise as
 * evidence_of_passages().
 */
extern Evidence *evidence_of_cases(FunctionCallInfo fcinfo, int analysis,
								   const CasePreset *preset);

/* Free the evidence, and return to the caller's memory context. */
extern void evidence_end(Evidence *evidence);

/*
 * Compute the share of each text's words that are in passages; 0 for a text
 * without words.
 */
extern void evidence_coverage(const Evidence *evidence, double *of_a,
							  double *of_b);

/*
 * Read a text's words and their places, and make its shingles of k words; none
 * if it has fewer words.  With `hashes`, keep 32 bits of each word's hash.
 * Allocates in the current memory context.  `doccxt` must be prepared for
 * READS_SHINGLES.
 */
extern void text_read(ReadText *text, DocContext *doccxt,
					  const struct varlena *doc,
					  uint32 k, bool hashes);

#endif							/* NEARDUP_EVIDENCE_H */
