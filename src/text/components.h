/*
 * components.h
 *		What outside neardup decides which words a text has, and its version.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/text/components.h
 */
#ifndef NEARDUP_COMPONENTS_H
#define NEARDUP_COMPONENTS_H

typedef struct Component
{
	const char *name;			/* "ICU", "Unicode", "stemmer english", ... */
	const char *version;
} Component;

/*
 * All components of this server, *n of them, palloc'd.  ICU tells its version.
 * libstemmer does not: the version of one of its stemmers is a hash of what
 * that makes of some words.
 */
extern Component *components_list(int *n);

#endif							/* NEARDUP_COMPONENTS_H */
