/*
 * component_use.h
 *		Which parts of ICU and libstemmer a session has used.
 *
 * Code that cuts or stems words records it here; components.h has the
 * behaviour of each component, and document/recorded_versions.c compares it
 * with the record.
 */
#ifndef NEARDUP_COMPONENT_USE_H
#define NEARDUP_COMPONENT_USE_H

#include "text/languages.h"

/*
 * A component: one of these, or COMPONENT_STEMMER plus the number of a
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

/* Callback, or NULL, for the first use of each component in a session */
extern void (*component_first_used) (int id);

/* True for each component that this session has used */
extern bool component_used[NUM_COMPONENTS];

/* Record that a component is about to be used. */
static inline void
component_use(int id)
{
	if (likely(component_used[id]) || component_first_used == NULL)
		return;
	component_used[id] = true;
	component_first_used(id);
}

#endif							/* NEARDUP_COMPONENT_USE_H */
