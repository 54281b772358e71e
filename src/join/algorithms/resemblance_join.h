/*
 * resemblance_join.h
 *		Vectors whose weighted resemblance reaches a threshold.
 */
#ifndef NEARDUP_RESEMBLANCE_JOIN_H
#define NEARDUP_RESEMBLANCE_JOIN_H

#include "join/algorithms/vectorjoin.h"

extern const Algorithm resemblance_join;

#endif							/* NEARDUP_RESEMBLANCE_JOIN_H */
