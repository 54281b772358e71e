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
	KIND_DENSE,					/* coordinates of a vector */
	SIGNATURE_KINDS
} SignatureKind;

/* Raise FEATURE_NOT_SUPPORTED if the measure cannot be computed from it. */
extern SignatureKind signature_kind(const Signature *sig, Measure measure);

/* The algorithm of a kind, unless another one is chosen. */
extern const struct Algorithm *default_algorithm(SignatureKind kind,
												 Measure measure);

/*
 * The set of a signature in the engine, as n numbers: its values, or a copy of
 * the whole sketch.  Zero numbers if it is empty.
 */
extern const uint64 *signature_as_set(const Signature *sig,
									  SignatureKind kind, Measure measure,
									  uint32 *n);

/*
 * True if signatures of a kind can be compared within scopes: sets and dense
 * vectors.
 */
extern bool kind_has_scopes(SignatureKind kind);

/*
 * As signature_as_set(), for a signature that is compared within the scope of
 * that number only: sets of different scopes or specs share no element, and
 * dense vectors of different scopes do not match.
 */
extern const uint64 *signature_as_scoped_set(const Signature *sig,
											 SignatureKind kind,
											 uint64 scope, uint32 *n);

/*
 * The measure of two prepared sets, as the SQL functions compute it.  Of a
 * set with itself, the values of a sketch alone are read.
 */
struct JoinSet;
extern double paired_similarity(SignatureKind kind, Measure measure,
								const struct JoinSet *a,
								const struct JoinSet *b);

#endif							/* NEARDUP_JOIN_KINDS_H */
