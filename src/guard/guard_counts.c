/*
 * guard_counts.c
 *		How many rows guards have refused, skipped, tagged, or warned of.
 *
 * A table could not count what is refused: its row would be rolled back.  Shared
 * memory of our own is had by shared_preload_libraries only, before version 17.
 * But PostgreSQL itself counts the calls of functions, in the statistics that all
 * sessions share, transactions do not roll back, and a restart keeps.  So there is
 * a function for each outcome, which nobody calls, and a row counts as a call of
 * it, whatever the setting track_functions says.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/guard/guard_counts.c
 */
#include "postgres.h"

#include "catalog/pg_proc.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "base/compat.h"
#include "guard/guard.h"

PG_FUNCTION_INFO_V1(neardup_guard_counter);

/* The function beside neardup_guard() that counts for a mode, or InvalidOid. */
static Oid
counter(FmgrInfo *flinfo, GuardMode mode)
{
	static const char *const names[] = {
		[GUARD_REJECT] = "neardup_guard_refused",
		[GUARD_SKIP] = "neardup_guard_left_out",
		[GUARD_TAG] = "neardup_guard_tagged",
		[GUARD_WARN] = "neardup_guard_warned"
	};
	oidvector  *none = buildoidvector(NULL, 0);

	return GetSysCacheOid3(PROCNAMEARGSNSP, Anum_pg_proc_oid,
						   CStringGetDatum(names[mode]), PointerGetDatum(none),
						   ObjectIdGetDatum(get_func_namespace(flinfo->fn_oid)));
}

/* See guard.h */
void
guard_count(FmgrInfo *flinfo, GuardMode mode, uint64 rows)
{
	LOCAL_FCINFO(call, 0);
	FmgrInfo	function = {.fn_oid = counter(flinfo, mode)};
	int			track = pgstat_track_functions;

	if (!OidIsValid(function.fn_oid))
		return;
	InitFunctionCallInfoData(*call, &function, 0, InvalidOid, NULL, NULL);
	for (uint64 i = 0; i < rows; i++)
	{
		PgStat_FunctionCallUsage usage;

		pgstat_track_functions = TRACK_FUNC_ALL;
		pgstat_init_function_usage(call, &usage);
		pgstat_track_functions = track;
		pgstat_end_function_usage(&usage, true);
	}
}

/* Does nothing: it is there to be counted. */
Datum
neardup_guard_counter(PG_FUNCTION_ARGS)
{
	PG_RETURN_VOID();
}
