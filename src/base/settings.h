/*
 * settings.h
 *		Settings that more than one folder reads.
 */
#ifndef NEARDUP_SETTINGS_H
#define NEARDUP_SETTINGS_H

/* neardup.threshold: the least similarity for the operators %, <% and %> */
extern double neardup_threshold;

/* Return the flags that a setting needs beside its own when it is defined. */
extern int	guc_parallel_flags(void);

#ifdef NEARDUP_TESTING

/* Places where a test stops a process, as bits of neardup.pause */
typedef enum PausePlace
{
	PAUSE_SEARCH = 1,			/* a search has read an index's metapage */
	PAUSE_REPLACE = 2,			/* segments have been merged in one call */
	PAUSE_INSTALL = 4,			/* segments have been merged incrementally */
	PAUSE_CHECK = 8,			/* a check has read an index's metapage */
	PAUSE_INSPECT = 16			/* a function that shows the merges of an
								 * index has read its metapage */
} PausePlace;

/* neardup.pause: bits of PausePlace */
extern int	pause_places;

/* Wait while a test holds the advisory lock whose key is the place's bit. */
extern void pause_at(PausePlace place);
#else
#define pause_at(place) ((void) 0)
#endif

#endif							/* NEARDUP_SETTINGS_H */
