/*
 * sketch_keys.h
 *		The join of sketches, by their candidate keys.
 */
#ifndef NEARDUP_SKETCH_KEYS_H
#define NEARDUP_SKETCH_KEYS_H

#include "join/engine/search.h"

/* Sets are signatures as a whole, padded with zeros: see join_kinds.c. */
extern const Algorithm sketch_keys;

/* True if comparing the sketches takes less time than looking the keys up. */
extern bool sketches_are_few(double sketches, double keys);

#endif							/* NEARDUP_SKETCH_KEYS_H */
