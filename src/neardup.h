/*
 * neardup.h
 *		The signature datum, and what every file of neardup shares.
 *
 * A signature is what a document has been boiled down to: a header that says
 * completely how it was made, then values.  Two signatures may be measured
 * against each other only if they were made alike, that is, if their Making
 * is the same byte for byte.  doc/storage.md has the bytes as a table.
 *
 * In memory and on disk numbers are in the machine's own order, as in every
 * PostgreSQL datatype; whatever leaves the machine (send, bytea) or outlives
 * it (hash, order) is computed in little-endian order.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/neardup.h
 */
#ifndef NEARDUP_H
#define NEARDUP_H

#include "fmgr.h"
#include "lib/stringinfo.h"

#include "compat.h"

#define SIGNATURE_VERSION	1	/* first byte of every signature */

/* How the values were computed; the numbers are stored and never change. */
typedef enum Method
{
	METHOD_SHINGLES = 1,		/* the set of the document's shingles */
	METHOD_FEATURES = 2,		/* a set of numbers that the user gave */
	METHOD_MINHASH = 3,			/* min-hash sketch, 8 bits per slot */
	METHOD_BOTTOM = 4,			/* MIN_s: the smallest hashes */
	METHOD_SAMPLE = 5,			/* MOD_m: the hashes divisible by m */
	METHOD_SUPERSHINGLES = 6,	/* hashes of groups of min-hash slots */
	METHOD_MEGASHINGLES = 7,	/* hashes of pairs of supershingles */
	METHOD_SIMHASH = 8,			/* signs of 64 random projections */
	METHOD_WINNOW = 9,			/* shingles least in a window, a set */
	METHOD_EVERY_NTH = 10,		/* every m-th shingle, a set */
	METHOD_ANCHORED = 11,		/* shingles that begin with an anchor */
	METHOD_SIF = 12,			/* substrings that follow an anchor */
	METHOD_KOALA = 13,			/* substrings of consonants, rare ones */
	METHOD_LEAVE_OUT = 14,		/* a set without common features */
	METHOD_SENTENCE_PAIRS = 16, /* sums of neighbouring sentences, a set */
	METHOD_TEXT_HASH = 17,		/* hash of all words */
	METHOD_LONG_SENTENCES = 18, /* hash of the longest sentences */
	METHOD_HEAVY_SENTENCES = 19,	/* hash of the weightiest sentences */
	METHOD_TOP_WORDS = 20,		/* hash of the weightiest words */
	METHOD_IMATCH = 21,			/* hashes of words of middling rarity */
	METHOD_DESCRIPTIVE_WORDS = 22,	/* which words of a set are frequent */
	METHOD_FUZZY_FINGERPRINT = 23,	/* which first letters are */
	METHOD_WEIGHTED = 24,		/* a vector of numbers that the user gave */
	METHOD_WEIGHTED_WORDS = 25, /* words with their weights, a vector */
} Method;

/* What a shingle is a run of; stored. */
typedef enum Unit
{
	UNIT_WORD = 0,
	UNIT_CHAR = 1,
	UNIT_SENTENCE = 2,
	UNIT_LINE = 3,
	UNIT_NONE = 255,			/* the values are not shingles */
} Unit;

/* How the order of the units inside a shingle counts; stored. */
typedef enum Order
{
	ORDER_KEEP = 0,				/* as written */
	ORDER_SORTED = 1,			/* sorted: any permutation is the same */
	ORDER_XOR = 2,				/* xor of hashes: loses what occurs twice */
	ORDER_SUM = 3,				/* sum of hashes: keeps it */
} Order;

#define MAX_SHINGLE_SIZE	1000	/* largest k */

/*
 * Making.filters: what analysis leaves out, packed so that a header can be
 * turned back into the analysis text that made it.
 */
#define FILTER_STOP			0x00000001	/* stop words are left out */
#define FILTER_DIGITS		0x00000002	/* words with a digit are left out */
#define FILTER_CONFIG		0x00000004	/* a text-search configuration made
										 * the words */
#define FILTER_REPEATS		0x00000008	/* not a filter: repeated shingles
										 * are numbered, not dropped */
#define FILTER_ACCENTS		0x00000010	/* not a filter: letters lose their
										 * accents */
#define FILTER_MINLEN(f)	(((f) >> 8) & 0xff) /* shorter words are left
												 * out; 0 = no limit */
#define FILTER_MAXLEN(f)	(((f) >> 16) & 0xff)	/* longer ones; 0 = none */
#define FILTER_SCRIPT(f)	(((f) >> 24) & 0xff)	/* words of other scripts
													 * are; 0 = none */
#define FILTER_RESERVED		0x000000e0	/* always zero */

/* How a signature was made.  No padding: compared with memcmp. */
typedef struct Making
{
	uint8		version;		/* SIGNATURE_VERSION */
	uint8		method;			/* Method */
	uint8		unit;			/* Unit */
	uint8		order;			/* Order */
	uint8		language;		/* Language, see text/analysis.h */
	uint8		width;			/* bits per value: 8, 16, 32 or 64; 96 in a
								 * vector: a feature and its weight */
	uint16		k;				/* shingle size; 0 where there is none */
	uint32		analysis;		/* hash of the canonical analysis text */
	uint32		filters;		/* FILTER_... */
	uint32		param[2];		/* the method's own parameters, or 0 */
} Making;

typedef struct Signature
{
	int32		vl_len_;		/* varlena header (do not touch directly!) */
	Making		making;			/* how it was made */
	uint32		nfeatures;		/* distinct features of the document */
	uint64		values[FLEXIBLE_ARRAY_MEMBER];	/* of making.width bits each;
												 * sets: rising, distinct;
												 * vectors: likewise, then
												 * a float4 for each */
} Signature;

StaticAssertDecl(sizeof(Making) == 24, "Making has padding");
StaticAssertDecl(offsetof(Signature, values) == 32, "Signature has padding");

#define SIGNATURE_HEADER	offsetof(Signature, values)
#define SIGNATURE_BYTES(s)	(VARSIZE(s) - SIGNATURE_HEADER)
#define SIGNATURE_NVALUES(s) (SIGNATURE_BYTES(s) * 8 / (s)->making.width)

/* The most 64-bit values that fit into one datum. */
#define SIGNATURE_MAX_VALUES \
	((MaxAllocSize - SIGNATURE_HEADER) / sizeof(uint64))

#define DatumGetSignature(d)	((Signature *) PG_DETOAST_DATUM(d))
#define PG_GETARG_SIGNATURE(n)	DatumGetSignature(PG_GETARG_DATUM(n))
#define PG_RETURN_SIGNATURE(s)	PG_RETURN_POINTER(s)

/* signature.c */
extern Signature *signature_alloc(const Making *making, size_t nvalues);
extern bool making_equal(const Making *a, const Making *b);
extern void making_require_equal(const Making *a, const Making *b);

/* neardup.c */
extern double neardup_threshold;

#endif							/* NEARDUP_H */
