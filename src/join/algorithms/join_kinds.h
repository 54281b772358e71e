/*
 * join_kinds.h
 *		Signatures as the sets of a similarity join.
 */
#ifndef NEARDUP_JOIN_KINDS_H
#define NEARDUP_JOIN_KINDS_H

#include "signature/signature.h"
#include "join/engine/engine.h"

/* Kind of a signature in a join. */
typedef enum SignatureKind
{
	KIND_SETS,
	KIND_SKETCHES,				/* its method has a rule for what is near */
	KIND_VECTORS,				/* weighted features */
	SIGNATURE_KINDS
} SignatureKind;

/* Raise FEATURE_NOT_SUPPORTED if the measure cannot be computed from it. */
extern SignatureKind signature_kind(const Signature *sig, Measure measure);

/* By which a kind is joined if no other algorithm is chosen. */
extern const struct Algorithm *usual_algorithm(SignatureKind kind, Measure measure);

/*
 * The set of a signature in the engine, as n numbers: its values, or all
 * of it, if it is a sketch, which is copied then.  None if it is empty.
 */
extern const uint64 *signature_as_set(const Signature *sig,
									  SignatureKind kind, Measure measure,
									  uint32 *n);

/*
 * The same of a signature of the first kind that is compared within a scope only, which that
 * number stands for: sets of different scopes, or specs, have nothing in common.
 */
extern const uint64 *signature_as_scoped_set(const Signature *sig, uint64 scope, uint32 *n);

/*
 * The measure of two prepared sets, the same number that SQL's functions have of the
 * signatures.
 */
struct JoinSet;
extern double paired_similarity(SignatureKind kind, Measure measure,
								const struct JoinSet *a, const struct JoinSet *b);

#endif							/* NEARDUP_JOIN_KINDS_H */
