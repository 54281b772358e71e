/*
 * making_name.h
 *		How a signature was made, as people read it.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/methods/making_name.h
 */
#ifndef NEARDUP_MAKING_NAME_H
#define NEARDUP_MAKING_NAME_H

#include "lib/stringinfo.h"

#include "datum/making.h"

/* Appends method, parameters and analysis, as the text form begins. */
extern void making_append(const Making *making, StringInfo out);

/* Raises DATATYPE_MISMATCH, naming both, unless a and b are the same. */
extern void making_require_equal(const Making *a, const Making *b);

#endif							/* NEARDUP_MAKING_NAME_H */
