/*
 * weights.h
 *		What a word weighs: in the collection, and in a document.
 */
#ifndef NEARDUP_WEIGHTS_H
#define NEARDUP_WEIGHTS_H

#include "lexicon/lexicon.h"

/* Numbers are stored in signatures and never change. */
typedef enum WeightKind
{
	WEIGHT_NONE = 0,			/* not a weighting */
	WEIGHT_TF = 1,				/* tf / dl */
	WEIGHT_TF_IDF = 2,			/* tf / dl * log(N / df) */
	WEIGHT_NTF_IDF = 3,			/* (0.5 + 0.5 tf / tf_max) * log(N / df) */
	WEIGHT_BM25 = 4,
	WEIGHT_TF_RIDF = 5,			/* (0.5 + 0.5 tf / tf_max) * RIDF */
} WeightKind;

/* A kind with its parameters.  Compared with memcmp. */
typedef struct Weighting
{
	uint64		kind;			/* WeightKind */
	double		k1;				/* BM25 only, otherwise 0 */
	double		b;
	double		floor;			/* least IDF */
} Weighting;

/* What there is to know of a document. */
typedef struct DocumentStats
{
	uint64		length;			/* dl: words */
	uint32		tf_max;			/* of its most frequent word */
} DocumentStats;

/*
 * The weighting of a name such as 'tf-idf' or 'bm25 k1=1.2 b=0.75 floor=0'.
 * Raises INVALID_PARAMETER_VALUE.
 */
extern void weighting_parse(const text *name, Weighting *weighting);

/* The part that depends on the collection only; 1 for WEIGHT_TF. */
extern double weight_in_collection(const Weighting *weighting,
								   const Lexicon *lexicon,
								   uint32 df, uint32 cf);

/*
 * What a word weighs in a document: its weight in the collection times the
 * part that depends on the document.  lexicon may be NULL for WEIGHT_TF.
 */
extern double weight_of(const Weighting *weighting, const Lexicon *lexicon,
						double in_collection, const DocumentStats *stats,
						uint32 tf);

/* log(N / df), and that less what a random word of the same cf has. */
extern double lexicon_idf(const Lexicon *lexicon, uint32 df);
extern double lexicon_ridf(const Lexicon *lexicon, uint32 df, uint32 cf);

/*
 * Natural logarithm of a positive finite number; the same bits on every
 * machine.
 */
extern double portable_log(double x);

#endif							/* NEARDUP_WEIGHTS_H */
