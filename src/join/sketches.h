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

/*
 * Tells the engine what kind of sets come, going by the first, a sketch.
 * Raises FEATURE_NOT_SUPPORTED if the measure cannot be told from it.
 */
extern void sketches_begin(SetJoin *join, const Signature *sig,
						   Measure measure);

/* True if its method has a rule of its own for what is near. */
extern bool signature_is_sketch(const Signature *sig);

/*
 * What represents a signature in the engine, as n numbers: its values, or all
 * of it, if it is a sketch, which is copied then.  None if it is empty.
 */
extern const uint64 *signature_as_set(const Signature *sig, Measure measure,
									  uint32 *n);

#endif							/* NEARDUP_JOIN_SKETCHES_H */
