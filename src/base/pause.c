/*
 * pause.c
 *		Places where a test can have a process wait.
 *
 * A race has a window of some instructions.  A test holds an advisory lock, and
 * who comes by waits for it.
 */
#include "postgres.h"

#include "base/pause.h"

#ifdef NEARDUP_TESTING

#include "utils/fmgrprotos.h"

int			pause_places = 0;

void
pause_at(PausePlace place)
{
	if ((pause_places & place) == 0)
		return;
	DirectFunctionCall1(pg_advisory_lock_int8, Int64GetDatum(place));
	DirectFunctionCall1(pg_advisory_unlock_int8, Int64GetDatum(place));
}

#endif
