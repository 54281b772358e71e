/*
 * settings.c
 *		Settings that more than one folder reads.
 */
#include "postgres.h"

#include "access/xact.h"
#include "utils/fmgrprotos.h"

#include "base/compat.h"
#include "base/settings.h"

double		neardup_threshold = 0.8;

/*
 * A setting that is defined takes the value that it was given before.  If a
 * parallel query is the first to load the module, as by a function in
 * PL/pgSQL, the server treats that as a change and refuses it with a warning.
 * Then the default would hold in that worker, or for the rest of the session.
 */
int
guc_parallel_flags(void)
{
	return IsInParallelMode() ? COMPAT_GUC_ALLOW_IN_PARALLEL : 0;
}

#ifdef NEARDUP_TESTING

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
