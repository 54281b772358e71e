/*
 * sketches.h
 *		Signatures as the sets of a similarity join.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/join/sketches.h
 */
#ifndef NEARDUP_JOIN_SKETCHES_H
#define NEARDUP_JOIN_SKETCHES_H

#include "join/engine.h"
#include "neardup.h"

/* What a signature is to the join.  Each kind has an engine of its own. */
typedef enum SignatureKind
{
	KIND_SETS,
	KIND_SKETCHES,				/* its method has a rule for what is near */
	KIND_VECTORS,				/* weighted features */
	SIGNATURE_KINDS
} SignatureKind;

/* Raises FEATURE_NOT_SUPPORTED if the measure cannot be told from it. */
extern SignatureKind signature_kind(const Signature *sig, Measure measure);

/* Tells an engine, before the first row, what kind comes. */
extern void signatures_begin(SetJoin *join, SignatureKind kind);

/*
 * What represents a signature in the engine, as n numbers: its values, or all
 * of it, if it is a sketch, which is copied then.  None if it is empty.
 */
extern const uint64 *signature_as_set(const Signature *sig,
									  SignatureKind kind, Measure measure,
									  uint32 *n);

#endif							/* NEARDUP_JOIN_SKETCHES_H */
