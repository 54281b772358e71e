/*
 * spec.h
 *		How a signature was made: method, analysis, parameters.
 *
 * Two signatures may be measured against each other only if they were made
 * alike, that is, if their Spec is the same byte for byte.
 */
#ifndef NEARDUP_SPEC_H
#define NEARDUP_SPEC_H

#include "signature/method_list.h"

#define SIGNATURE_VERSION	1	/* first byte of every signature */

/* How the values were computed: METHOD_SHINGLES and so on, as stored. */
#define METHOD_NUMBER(capitals, number, name) METHOD_##capitals = (number),

typedef enum Method
{
	METHOD_LIST(METHOD_NUMBER)
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
 * SignatureSpec.filters: what analysis leaves out, packed so that a header can be
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
typedef struct SignatureSpec
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
} SignatureSpec;

StaticAssertDecl(sizeof(SignatureSpec) == 24, "Spec has padding");

static inline bool
spec_equal(const SignatureSpec *a, const SignatureSpec *b)
{
	return memcmp(a, b, sizeof(SignatureSpec)) == 0;
}

/*
 * Turns a spec into its portable bytes, little-endian, and back: nothing to do
 * but on big-endian machines.
 */
extern void spec_swap(SignatureSpec *spec);

/* XXH3 of the portable bytes, the same on every machine: stored, in indexes. */
extern uint64 spec_hash(const SignatureSpec *spec);

#endif							/* NEARDUP_MAKING_H */
