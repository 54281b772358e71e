/*
 * progress.c
 *		How far long work is, for other sessions to see.
 */
#include "postgres.h"

#include "catalog/pg_authid.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/backend_progress.h"
#include "utils/backend_status.h"
#include "utils/builtins.h"

#include "base/compat.h"
#include "base/progress.h"

PG_FUNCTION_INFO_V1(neardup_progress);

/* None of the server's commands, nor what another extension would choose. */
#define COMMAND_NEARDUP	((ProgressCommandType) 0x6e656172)

/* Parameters */
#define PARAM_PHASE		0
#define PARAM_DONE		1
#define PARAM_TOTAL		2

static const char *const phase_names[] = {
	[PROGRESS_MAKING] = "making signatures",
	[PROGRESS_READING] = "reading rows",
	[PROGRESS_PREPARING] = "preparing sets",
	[PROGRESS_JOINING] = "joining sets",
};

/* What this session tells of now; another command may have come since. */
static ProgressCommandType
told_now(void)
{
	return MyBEEntry == NULL ? PROGRESS_COMMAND_INVALID :
		MyBEEntry->st_progress_command;
}

void
progress_begin(Progress *progress)
{
	progress->told = told_now() == PROGRESS_COMMAND_INVALID;
	if (!progress->told)
		return;
	pgstat_progress_start_command(COMMAND_NEARDUP, InvalidOid);
	progress_phase(progress, PROGRESS_READING, 0);
}

static bool
is_told(Progress *progress)
{
	if (progress->told && told_now() != COMMAND_NEARDUP)
		progress->told = false;
	return progress->told;
}

void
progress_phase(Progress *progress, ProgressPhase phase, uint64 total)
{
	static const int params[] = {PARAM_PHASE, PARAM_DONE, PARAM_TOTAL};
	int64		values[] = {phase, 0, total};

	progress->told_at = 0;
	if (is_told(progress))
		pgstat_progress_update_multi_param(lengthof(params), params, values);
}

void
progress_tell(Progress *progress, uint64 done)
{
	progress->told_at = done;
	if (is_told(progress))
		pgstat_progress_update_param(PARAM_DONE, done);
}

void
progress_end(Progress *progress)
{
	if (is_told(progress))
		pgstat_progress_end_command();
	progress->told = false;
}

/* As the server's views have it: who may see what a session does. */
static bool
may_see(const PgBackendStatus *entry)
{
	return has_privs_of_role(GetUserId(), ROLE_PG_READ_ALL_STATS) ||
		has_privs_of_role(GetUserId(), entry->st_userid);
}

static void
put_progress(ReturnSetInfo *rsinfo, const PgBackendStatus *entry)
{
	const int64 *params = entry->st_progress_param;
	Datum		values[5] = {0};
	bool		nulls[5] = {0};

	values[0] = Int32GetDatum(entry->st_procpid);
	values[1] = ObjectIdGetDatum(entry->st_databaseid);
	nulls[2] = nulls[3] = !may_see(entry);
	nulls[4] = nulls[3] || params[PARAM_TOTAL] == 0;
	if (!nulls[2])
	{
		uint64		phase = params[PARAM_PHASE];

		values[2] = CStringGetTextDatum(phase < lengthof(phase_names) ?
										phase_names[phase] : "unknown");
		values[3] = Int64GetDatum(params[PARAM_DONE]);
		values[4] = Int64GetDatum(params[PARAM_TOTAL]);
	}
	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
}

/* neardup_progress(): the sessions that tell of their work */
Datum
neardup_progress(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo;
	int			n = pgstat_fetch_stat_numbackends();

	InitMaterializedSRF(fcinfo, 0);
	rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	for (int i = 1; i <= n; i++)
	{
		LocalPgBackendStatus *local = compat_backend_status(i);

		if (local != NULL &&
			local->backendStatus.st_progress_command == COMMAND_NEARDUP)
			put_progress(rsinfo, &local->backendStatus);
	}
	return (Datum) 0;
}
