/*
 * set_join.h
 *		The usual join of sets.
 */
#ifndef NEARDUP_SET_JOIN_H
#define NEARDUP_SET_JOIN_H

#include "join/engine/search.h"

extern const Algorithm set_join;

#endif							/* NEARDUP_SET_JOIN_H */
