/*
 * weights.h
 *		A document's words, and their weights in the collection and the
 *		document.
 */
#ifndef NEARDUP_WEIGHTS_H
#define NEARDUP_WEIGHTS_H

#include "base/linear_probing.h"
#include "lexicon/lexicon.h"
#include "text/reader.h"

/* Numbers are stored in signatures and never change. */
typedef enum WeightKind
{
	WEIGHT_NONE = 0,			/* not a weighting */
	WEIGHT_TF = 1,				/* tf / dl */
	WEIGHT_TF_IDF = 2,			/* tf / dl * log(N / df) */
	WEIGHT_NTF_IDF = 3,			/* (0.5 + 0.5 tf / tf_max) * log(N / df) */
	WEIGHT_BM25 = 4,			/* tf / (k1 * length + tf) * IDF, see
								 * weights.c */
	WEIGHT_TF_RIDF = 5,			/* (0.5 + 0.5 tf / tf_max) * RIDF */
} WeightKind;

#define WEIGHT_KINDS	6		/* every WeightKind is less than this */

/* A kind with its parameters, compared with memcmp */
typedef struct Weighting
{
	uint64		kind;			/* WeightKind */
	double		k1;				/* BM25: tf whose factor is 1/2 in a document
								 * of average length; 0 for other kinds */
	double		b;				/* BM25: influence of the length, 0 to 1 */
	double		floor;			/* BM25: least IDF */
} Weighting;

/* Numbers of a document */
typedef struct DocumentStats
{
	uint64		length;			/* number of words, dl in formulas */
	uint32		tf_max;			/* tf of its most frequent word */
} DocumentStats;

/*
 * Parse a weighting such as 'tf-idf' or 'bm25 k1=1.2 b=0.75 floor=0'.  Raises
 * INVALID_PARAMETER_VALUE.
 */
extern void weighting_parse(const text *name, Weighting *weighting);

/*
 * Return the factor of a weight that depends on the collection; 1 for
 * WEIGHT_TF.
 */
extern double weight_in_collection(const Weighting *weighting,
								   const Lexicon *lexicon,
								   uint32 df, uint32 cf);

/*
 * Return the weight of a word in a document: its weight in the collection
 * times the factor that depends on the document.  lexicon may be NULL for
 * WEIGHT_TF.
 */
extern double weight_of(const Weighting *weighting, const Lexicon *lexicon,
						double in_collection, const DocumentStats *stats,
						uint32 tf);

/* Return the IDF, log(N / df). */
extern double lexicon_idf(const Lexicon *lexicon, uint32 df);

/* Return the IDF minus the IDF expected for a random word of this cf. */
extern double lexicon_ridf(const Lexicon *lexicon, uint32 df, uint32 cf);

/*
 * Return the natural logarithm of a positive number, with the same bits
 * everywhere.
 */
extern double portable_log(double x);

/* A document's words and how often each occurs */

/* A word of a document */
typedef struct BagWord
{
	uint64		hash;
	uint32		tf;				/* number of occurrences, at least 1 */
} BagWord;

/* The words of a document, and a hash table to find them */
typedef struct Bag
{
	MemoryContext context;		/* owns the bag */
	BagWord    *words;			/* distinct words, in order of first
								 * occurrence */
	size_t		nwords;
	size_t		size;			/* number of words that have room */
	uint32	   *places;			/* hash table: index into `words` + 1, or 0 */
	Probing		probing;		/* probing of the places */
	DocumentStats stats;
} Bag;

/* Make an empty bag in the current memory context. */
extern Bag *bag_create(void);

/* Empty the bag, and free the memory of a large document. */
extern void bag_clear(Bag *bag);

/* Add n words; raises PROGRAM_LIMIT_EXCEEDED beyond 2^30 different words. */
extern void bag_add(Bag *bag, const uint64 *hashes, size_t n);

/*
 * Fill the bag with the words of the document or sentence that the reader is
 * at.
 */
extern void bag_read(Bag *bag, Reader *reader);

/* Return the word of a hash, or NULL. */
extern const BagWord *bag_find(const Bag *bag, uint64 hash);

#endif							/* NEARDUP_WEIGHTS_H */
