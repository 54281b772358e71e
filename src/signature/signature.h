/*
 * signature.h
 *		The signature datum.
 *
 * A signature has a header, which has all parameters of its computation, and
 * values.  doc/storage.md has the bytes as a table.
 *
 * In memory and on disk numbers are in the machine's byte order, as in every
 * PostgreSQL datatype.  What leaves the machine (send, bytea) or outlives it
 * (hash, order) is little-endian.
 */
#ifndef NEARDUP_SIGNATURE_H
#define NEARDUP_SIGNATURE_H

#include "fmgr.h"
#include "utils/memutils.h"

#include "base/compat.h"
#include "base/hash.h"
#include "signature/method_list.h"

/*
 * The spec of a signature: method, analysis, parameters
 *
 * Two signatures can be compared only if their specs are the same byte for
 * byte.
 */

#define SIGNATURE_VERSION	1	/* first byte of every signature */

/* The methods, as stored: METHOD_SHINGLES and so on */
#define METHOD_NUMBER(capitals, number, name) METHOD_##capitals = (number),

typedef enum Method
{
	METHOD_LIST(METHOD_NUMBER)
} Method;

/* The unit of shingles; stored. */
typedef enum Unit
{
	UNIT_WORD = 0,
	UNIT_CHAR = 1,
	UNIT_SENTENCE = 2,
	UNIT_LINE = 3,
	UNIT_LETTER = 4,			/* a character; spaces between words are
								 * skipped */
	UNIT_NONE = 255,			/* the values are not shingles */
} Unit;

/* How the order of the units inside a shingle counts; stored. */
typedef enum Order
{
	ORDER_KEEP = 0,				/* as written */
	ORDER_SORTED = 1,			/* sorted: permutations are equal */
	ORDER_XOR = 2,				/* xor of hashes: a unit that occurs twice is
								 * lost */
	ORDER_SUM = 3,				/* sum of hashes: a unit that occurs twice
								 * counts twice */
} Order;

#define MAX_SHINGLE_SIZE	1000	/* largest k */

/*
 * SignatureSpec.filters: the filters of an analysis, packed so that the
 * analysis text follows from a header
 */
#define FILTER_STOP			0x00000001	/* stop words are left out */
#define FILTER_DIGITS		0x00000002	/* words with a digit are left out */
#define FILTER_CONFIG		0x00000004	/* a text-search configuration made
										 * the words */
#define FILTER_REPEATS		0x00000008	/* not a filter: repeated shingles are
										 * numbered, not dropped */
#define FILTER_ACCENTS		0x00000010	/* not a filter: letters lose their
										 * accents */
#define FILTER_MINLEN(f)	(((f) >> 8) & 0xff) /* minimal length of words; 0
												 * = no limit */
#define FILTER_MAXLEN(f)	(((f) >> 16) & 0xff)	/* maximal length of
													 * words; 0 = no limit */
#define FILTER_SCRIPT(f)	(((f) >> 24) & 0xff)	/* only words of this
													 * script; 0 = of any */
#define FILTER_RESERVED		0x000000e0	/* always zero */

/* The spec of a signature. No padding: compared with memcmp. */
typedef struct SignatureSpec
{
	uint8		version;		/* SIGNATURE_VERSION */
	uint8		method;			/* Method */
	uint8		unit;			/* Unit */
	uint8		order;			/* Order */
	uint8		language;		/* Language, see text/analysis.h */
	uint8		width;			/* bits per value: 8, 32 or 64; 96 in a
								 * weighted vector: feature and weight */
	uint16		k;				/* shingle size; 0 = no shingles */
	uint32		analysis;		/* hash of the canonical analysis text */
	uint32		filters;		/* FILTER_... */
	uint32		param[2];		/* the method's own parameters, or 0 */
} SignatureSpec;

StaticAssertDecl(sizeof(SignatureSpec) == 24, "Spec has padding");

/* True if two specs are the same byte for byte. */
static inline bool
spec_equal(const SignatureSpec *a, const SignatureSpec *b)
{
	return memcmp(a, b, sizeof(SignatureSpec)) == 0;
}

/* Convert a spec to its portable bytes, little-endian, or back, in place. */
extern void spec_swap(SignatureSpec *spec);

/*
 * Return XXH3 of the portable bytes, the same on every machine. Indexes store
 * it.
 */
extern uint64 spec_hash(const SignatureSpec *spec);

/* The datum */

typedef struct Signature
{
	int32		vl_len_;		/* varlena header (do not touch directly!) */
	SignatureSpec spec;			/* how the values were computed */
	uint32		nfeatures;		/* distinct features of the document */
	uint64		values[FLEXIBLE_ARRAY_MEMBER];	/* values of spec.width bits;
												 * set: rising, distinct;
												 * weighted vector: a set,
												 * then a float4 for each
												 * element; dense vector:
												 * float4 */
} Signature;

StaticAssertDecl(offsetof(Signature, values) == 32, "Signature has padding");

#define SIGNATURE_HEADER	offsetof(Signature, values)
#define SIGNATURE_BYTES(s)	(VARSIZE(s) - SIGNATURE_HEADER)
#define SIGNATURE_NVALUES(s) (SIGNATURE_BYTES(s) * 8 / (s)->spec.width)

/* The greatest number of 64-bit values in one datum */
#define SIGNATURE_MAX_VALUES \
	((MaxAllocSize - SIGNATURE_HEADER) / sizeof(uint64))

#define DatumGetSignature(d)	((Signature *) PG_DETOAST_DATUM(d))
#define PG_GETARG_SIGNATURE(n)	DatumGetSignature(PG_GETARG_DATUM(n))
#define PG_RETURN_SIGNATURE(s)	PG_RETURN_POINTER(s)

/*
 * Return the weights of a weighted vector, positive and finite.  They are
 * stored after its features, in the same order.
 */
static inline float4 *
signature_weights(const Signature *sig)
{
	Assert(sig->spec.width == 96);
	return (float4 *) unconstify(uint64 *,
								 &sig->values[SIGNATURE_NVALUES(sig)]);
}

/* Return the coordinates of a dense vector. */
static inline float4 *
signature_coordinates(const Signature *sig)
{
	Assert(sig->spec.width == 32);
	return (float4 *) unconstify(uint64 *, &sig->values[0]);
}

/*
 * Return value i of any width; for a weighted vector, feature i; for a dense
 * one, the bits of coordinate i.
 */
static inline uint64
signature_value(const Signature *sig, uint64 i)
{
	Assert(i < SIGNATURE_NVALUES(sig));
	if (sig->spec.width == 8)
		return ((const uint8 *) sig->values)[i];
	return sig->spec.width == 32 ? ((const uint32 *) sig->values)[i] :
		sig->values[i];
}

/*
 * Return the size of a signature of nvalues values.  Raises
 * PROGRAM_LIMIT_EXCEEDED if they do not fit into a datum.
 */
extern size_t signature_size(const SignatureSpec *spec, uint64 nvalues);

/* Return a signature of nvalues zeros, in the current memory context. */
extern Signature *signature_alloc(const SignatureSpec *spec, uint64 nvalues);

/*
 * Return argument n, 0 or 1, of a function that has nothing else in fn_extra:
 * read-only, and valid during this call.  A signature that is stored out of
 * line is cached from its second consecutive call on.
 */
extern const Signature *signature_repeated_argument(FunctionCallInfo fcinfo,
													int n);

#define PG_GETARG_REPEATED_SIGNATURE(n) \
	(VARATT_IS_EXTERNAL_ONDISK(PG_GETARG_POINTER(n)) ? \
	 signature_repeated_argument(fcinfo, n) : PG_GETARG_SIGNATURE(n))

/*
 * Return a feature of a document as 64 uniform bits, different for different
 * features.  Shingles are hashes already; the user's numbers need not be.
 */
static inline uint64
feature_hash(const SignatureSpec *spec, uint64 feature)
{
	return spec->unit == UNIT_NONE ? mix64(feature) : feature;
}

#endif							/* NEARDUP_SIGNATURE_H */
