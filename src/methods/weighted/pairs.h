/*
 * pairs.h
 *		Features and their weights as two arrays.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/methods/weighted/pairs.h
 */
#ifndef NEARDUP_PAIRS_H
#define NEARDUP_PAIRS_H

#include "utils/array.h"

/* Raises an error unless there are as many weights as features: how many. */
extern size_t paired_elements(ArrayType *features, ArrayType *weights);

#endif							/* NEARDUP_PAIRS_H */
