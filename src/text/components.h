/*
 * components.h
 *		The parts of ICU and libstemmer that decide which words and sentences a
 *		text has, each identified by a hash of its results.
 */
#ifndef NEARDUP_COMPONENTS_H
#define NEARDUP_COMPONENTS_H

#include "text/component_use.h"

/*
 * Return the name of a component, palloc'd for stemmers, such as "letters" or
 * "stems of german"; NULL if this server does not have the component.
 */
extern const char *component_name(int id);

/*
 * Return a hash of a component's results for a fixed sample, in hexadecimal,
 * palloc'd.  Equal hashes on two servers mean equal results for the sample,
 * whatever the versions of libraries are.  Takes about a millisecond.
 */
extern char *component_version(int id);

/* True if a component is a part of ICU */
#define COMPONENT_IS_ICU(id)	((id) < COMPONENT_STEMMER)

/* Return the version of ICU, palloc'd. */
extern char *icu_version(void);

#endif							/* NEARDUP_COMPONENTS_H */
