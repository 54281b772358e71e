/*
 * settings.c
 *		The values of settings that more than one folder asks for.
 */
#include "postgres.h"

#include "access/xact.h"

#include "base/compat.h"
#include "base/settings.h"

double		neardup_threshold = 0.8;

/*
 * What the flags of a setting have in addition when it is defined, for the value that
 * it was given before to be taken over.  Where a parallel query is the first to call
 * the module, as by a function in PL/pgSQL, the server takes that for a change, and
 * refuses it with a warning: the default would hold in that worker, or for the rest
 * of the session.
 */
int
settings_taken_over(void)
{
	return IsInParallelMode() ? COMPAT_GUC_ALLOW_IN_PARALLEL : 0;
}
