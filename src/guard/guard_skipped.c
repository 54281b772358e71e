/*
 * guard_skipped.c
 *		Remembers the rows that guards in mode skip left out of the last
 *		statement.
 *
 * RETURNING does not return a row that a BEFORE trigger skips, nor another row
 * in its place.  So the session remembers skipped rows until DISCARD ALL, or
 * until a guard in mode skip checks a row of another statement.
 */
#include "postgres.h"

#include "access/table.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "tcop/utility.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/tuplestore.h"

#include "base/compat.h"
#include "base/memory.h"
#include "guard/guard.h"

PG_FUNCTION_INFO_V1(neardup_guard_skipped);

/* Maximum number of rows remembered; their keys must also fit into work_mem */
#define MAX_SKIPPED		10000

#define SKIPPED_COLUMNS	5

/* A skipped row, and the near-duplicate because of which it was skipped */
typedef struct Skipped
{
	Oid			relid;
	char	   *key;			/* key as text; NULL = no key, or not to be
								 * shown */
	Oid			near_relid;		/* table of the near-duplicate */
	char	   *near_key;		/* key of the near-duplicate; NULL as for key */
	double		similarity;
	bool		shown;			/* true if the role may know the similarity */
	Oid			role;			/* role that ran the statement, and may read
								 * the keys */
} Skipped;

/* The skipped rows of the last statement */
static struct
{
	MemoryContext memory;		/* memory of the rows; NULL = not created yet */
	StatementId statement;		/* statement that skipped the rows */
	Skipped    *rows;
	size_t		room;			/* number of rows allocated */
	size_t		n;				/* number of rows */
	size_t		bytes;			/* total length of the keys */
}			last;

/* Forget all rows, and begin to remember the rows of a statement. */
static void
begin_statement(StatementId statement)
{
	if (last.memory != NULL)
		MemoryContextReset(last.memory);
	last.statement = statement;
	last.rows = NULL;
	last.room = last.n = last.bytes = 0;
}

/* Return a copy of a text, which may be NULL, and count its bytes. */
static char *
copied(const char *text)
{
	if (text == NULL)
		return NULL;
	last.bytes += strlen(text);
	return pstrdup(text);
}

/* Hook that was set before ours; NULL = none */
static ProcessUtility_hook_type previous_utility = NULL;

/* ProcessUtility_hook: let DISCARD ALL forget skipped rows. */
static void
forget_on_discard(PlannedStmt *statement, const char *query, bool read_only,
				  ProcessUtilityContext context, ParamListInfo params,
				  QueryEnvironment *environment, DestReceiver *dest,
				  QueryCompletion *completion)
{
	const StatementId none = {0};
	Node	   *utility = statement->utilityStmt;
	bool		discard = IsA(utility, DiscardStmt) &&
	((DiscardStmt *) utility)->target == DISCARD_ALL;

	if (previous_utility)
		previous_utility(statement, query, read_only, context, params,
						 environment, dest, completion);
	else
		standard_ProcessUtility(statement, query, read_only, context, params,
								environment, dest, completion);
	if (discard)
		begin_statement(none);
}

void
guard_skipped_init(void)
{
	previous_utility = ProcessUtility_hook;
	ProcessUtility_hook = forget_on_discard;
}

void
guard_note_skipped(Relation rel, TupleTableSlot *row, const GuardMatch *match)
{
	StatementId statement = guard_current_statement();
	GuardReadable readable;
	MemoryContext caller;

	if (!statements_equal(last.statement, statement))
		begin_statement(statement);
	if (match == NULL || last.n == MAX_SKIPPED ||
		last.bytes > (size_t) work_mem * 1024)
		return;
	readable = guard_readable(rel, row, match, true);
	if (last.memory == NULL)
		last.memory = AllocSetContextCreate(TopMemoryContext, "skipped rows",
											ALLOCSET_SMALL_SIZES);
	caller = MemoryContextSwitchTo(last.memory);
	last.rows = growing_reserve(last.rows, &last.room, last.n + 1,
								sizeof(Skipped));
	last.rows[last.n] = (Skipped)
	{
		.relid = RelationGetRelid(rel),
			.key = copied(readable.new_key),
			.near_relid = match->table->relid,
			.near_key = copied(readable.key),
			.similarity = match->similarity,
			.shown = readable.similarity,
			.role = GetUserId()
	};
	/* it counts once it is whole */
	last.n++;
	MemoryContextSwitchTo(caller);
}

/* neardup_guard_skipped() */
Datum
neardup_guard_skipped(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;

	InitMaterializedSRF(fcinfo, 0);
	for (size_t i = 0; i < last.n; i++)
	{
		const Skipped *row = &last.rows[i];
		bool		visible = has_privs_of_role(GetUserId(), row->role);
		bool		shown = visible && row->shown;
		Datum		values[SKIPPED_COLUMNS] = {ObjectIdGetDatum(row->relid)};
		bool		nulls[SKIPPED_COLUMNS] = {false};

		CHECK_FOR_INTERRUPTS();
		nulls[1] = row->key == NULL || !visible;
		if (!nulls[1])
			values[1] = CStringGetTextDatum(row->key);
		values[2] = ObjectIdGetDatum(row->near_relid);
		nulls[3] = row->near_key == NULL || !visible;
		if (!nulls[3])
			values[3] = CStringGetTextDatum(row->near_key);
		values[4] = Float8GetDatum(row->similarity);
		nulls[2] = nulls[3] && !shown;
		nulls[4] = !shown;
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values,
							 nulls);
	}
	return (Datum) 0;
}
