/*
 * spec_name.h
 *		How a signature was made, as people read it.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/methods/spec_name.h
 */
#ifndef NEARDUP_SPEC_NAME_H
#define NEARDUP_SPEC_NAME_H

#include "lib/stringinfo.h"

#include "signature/spec.h"

/* Appends method, parameters and analysis, as the text form begins. */
extern void spec_append(const SignatureSpec *spec, StringInfo out);

/* Raises DATATYPE_MISMATCH, naming both, unless a and b are the same. */
extern void spec_require_equal(const SignatureSpec *a, const SignatureSpec *b);

/*
 * Warns, naming both, that signatures of specs a and b are never
 * near-duplicates: once a statement that a client sends.  Of the workers of a
 * parallel plan only the first one warns.
 */
extern void spec_warn_different(const SignatureSpec *a, const SignatureSpec *b);

#endif							/* NEARDUP_MAKING_NAME_H */
