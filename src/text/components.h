/*
 * components.h
 *		The parts of ICU and libstemmer that decide which words and sentences a
 *		text has, each identified by a hash of its results.
 */
#ifndef NEARDUP_COMPONENTS_H
#define NEARDUP_COMPONENTS_H

#include "text/languages.h"

/*
 * A component: one of these, or COMPONENT_STEMMER and the number of a
 * language.
 */
typedef enum ComponentId
{
	COMPONENT_LETTERS,			/* classes and folding of characters */
	COMPONENT_SENTENCES,		/* where sentences end */
	COMPONENT_CJK,				/* words of Chinese and Japanese */
	COMPONENT_THAI,
	COMPONENT_LAO,
	COMPONENT_KHMER,
	COMPONENT_BURMESE,
	COMPONENT_STEMMER,
} ComponentId;

#define NUM_COMPONENTS	(COMPONENT_STEMMER + NUM_LANGUAGES)

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

/* Whether a component is a part of ICU */
#define COMPONENT_IS_ICU(id)	((id) < COMPONENT_STEMMER)

/* Return the version of ICU, palloc'd. */
extern char *icu_version(void);

/* Callback, or NULL, for the first use of each component in a session */
extern void (*component_first_used) (int id);

extern bool component_used[NUM_COMPONENTS];

/* Note that a component is about to be used. */
static inline void
component_use(int id)
{
	if (likely(component_used[id]) || component_first_used == NULL)
		return;
	component_used[id] = true;
	component_first_used(id);
}

#endif							/* NEARDUP_COMPONENTS_H */
