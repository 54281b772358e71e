/*
 * signature.h
 *		The signature datum.
 *
 * A signature is what a document has been boiled down to: a header that says
 * completely how it was made, then values.  doc/storage.md has the bytes as a
 * table.
 *
 * In memory and on disk numbers are in the machine's own order, as in every
 * PostgreSQL datatype; whatever leaves the machine (send, bytea) or outlives
 * it (hash, order) is computed in little-endian order.
 */
#ifndef NEARDUP_SIGNATURE_H
#define NEARDUP_SIGNATURE_H

#include "fmgr.h"
#include "utils/memutils.h"

#include "base/compat.h"
#include "signature/spec.h"

typedef struct Signature
{
	int32		vl_len_;		/* varlena header (do not touch directly!) */
	SignatureSpec		spec;			/* how it was made */
	uint32		nfeatures;		/* distinct features of the document */
	uint64		values[FLEXIBLE_ARRAY_MEMBER];	/* of spec.width bits each;
												 * sets: rising, distinct;
												 * vectors: likewise, then
												 * a float4 for each */
} Signature;

StaticAssertDecl(offsetof(Signature, values) == 32, "Signature has padding");

#define SIGNATURE_HEADER	offsetof(Signature, values)
#define SIGNATURE_BYTES(s)	(VARSIZE(s) - SIGNATURE_HEADER)
#define SIGNATURE_NVALUES(s) (SIGNATURE_BYTES(s) * 8 / (s)->spec.width)

/* The most 64-bit values that fit into one datum. */
#define SIGNATURE_MAX_VALUES \
	((MaxAllocSize - SIGNATURE_HEADER) / sizeof(uint64))

#define DatumGetSignature(d)	((Signature *) PG_DETOAST_DATUM(d))
#define PG_GETARG_SIGNATURE(n)	DatumGetSignature(PG_GETARG_DATUM(n))
#define PG_RETURN_SIGNATURE(s)	PG_RETURN_POINTER(s)

/*
 * The weights of a vector, in the order of its features: positive, finite.
 * They stand behind the features.
 */
static inline float4 *
signature_weights(const Signature *sig)
{
	Assert(sig->spec.width == 96);
	return (float4 *) unconstify(uint64 *,
								 &sig->values[SIGNATURE_NVALUES(sig)]);
}

/* Value i, whatever its width; of a vector its feature. */
static inline uint64
signature_value(const Signature *sig, uint64 i)
{
	Assert(i < SIGNATURE_NVALUES(sig));
	switch (sig->spec.width)
	{
		case 8:
			return ((const uint8 *) sig->values)[i];
		case 16:
			return ((const uint16 *) sig->values)[i];
		case 32:
			return ((const uint32 *) sig->values)[i];
		default:
			return sig->values[i];
	}
}

static inline void
signature_set_value(Signature *sig, uint64 i, uint64 value)
{
	Assert(i < SIGNATURE_NVALUES(sig));
	switch (sig->spec.width)
	{
		case 8:
			((uint8 *) sig->values)[i] = value;
			break;
		case 16:
			((uint16 *) sig->values)[i] = value;
			break;
		case 32:
			((uint32 *) sig->values)[i] = value;
			break;
		default:
			sig->values[i] = value;
	}
}

/*
 * The size of a signature of nvalues values.  Raises PROGRAM_LIMIT_EXCEEDED
 * where they do not fit into a datum.
 */
extern size_t signature_size(const SignatureSpec *spec, uint64 nvalues);

/* One of them, all zero, in the current memory context. */
extern Signature *signature_alloc(const SignatureSpec *spec, uint64 nvalues);

#endif							/* NEARDUP_SIGNATURE_H */
