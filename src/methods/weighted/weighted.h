/*
 * weighted.h
 *		Features and their weights as two arrays.
 */
#ifndef NEARDUP_WEIGHTED_H
#define NEARDUP_WEIGHTED_H

#include "utils/array.h"

/* Raises an error unless there are as many weights as features: how many. */
extern size_t paired_elements(ArrayType *features, ArrayType *weights);

#endif							/* NEARDUP_WEIGHTED_H */
