/*
 * signature.h
 *		What signature.c offers to the files that serve the datatype.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/signature.h
 */
#ifndef NEARDUP_SIGNATURE_H
#define NEARDUP_SIGNATURE_H

#include "nodes/nodes.h"

#include "neardup.h"

/*
 * The weights of a vector, in the order of its features: positive, finite.
 * They stand behind the features.
 */
static inline float4 *
signature_weights(const Signature *sig)
{
	return (float4 *) unconstify(uint64 *,
								 &sig->values[SIGNATURE_NVALUES(sig)]);
}

/* Value i, whatever its width; of a vector its feature. */
static inline uint64
signature_value(const Signature *sig, uint64 i)
{
	switch (sig->making.width)
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
	switch (sig->making.width)
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

/* signature.c */
extern void making_append(const Making *making, StringInfo out);
extern Signature *signature_parse(const char *text, Node *escontext);
extern char *signature_to_text(const Signature *sig);
extern bytea *signature_to_bytes(const Signature *sig);
extern Signature *signature_from_bytes(const char *bytes, size_t len);

/* signature_ops.c */
extern int	signature_compare(const Signature *a, const Signature *b);

/* Sorts in place and drops repetitions; returns how many are left. */
extern size_t values_sort_distinct(uint64 *values, size_t n);

#endif							/* NEARDUP_SIGNATURE_H */
