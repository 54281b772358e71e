/*
 * pause.h
 *		Places where a test can have a process wait.
 */
#ifndef NEARDUP_PAUSE_H
#define NEARDUP_PAUSE_H

#ifdef NEARDUP_TESTING

/* Places, as bits of neardup.pause; a bit is the key of an advisory lock. */
typedef enum PausePlace
{
	PAUSE_SEARCH = 1,			/* an index's metapage has been read */
	PAUSE_REPLACE = 2,			/* segments have been merged at once */
	PAUSE_PUT_IN_PLACE = 4,		/* or in steps */
	PAUSE_CHECK = 8				/* an index's metapage has been read, to check it */
} PausePlace;

extern int	pause_places;

/* Waits while somebody has the lock of that place, if it is asked for. */
extern void pause_at(PausePlace place);

#else

#define pause_at(place) ((void) 0)

#endif

#endif							/* NEARDUP_PAUSE_H */
