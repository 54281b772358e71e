/*
 * guard_skipped.c
 *		Which rows the last statement has not inserted, and what stands for them.
 *
 * A row that a BEFORE trigger drops is missing in RETURNING, and PostgreSQL has no
 * way to return another one in its place.  So the session remembers, as it does
 * for lastval(): until a guard in mode skip looks at a row of another statement.
 * A statement is known by the memory that its triggers are called with, which ends with it.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/guard/guard_skipped.c
 */
#include "postgres.h"

#include "access/table.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/tuplestore.h"

#include "base/growing.h"
#include "guard/guard.h"

PG_FUNCTION_INFO_V1(neardup_guard_skipped);

/* As many rows of a statement are remembered, if their keys have room in work_mem. */
#define MAX_ROWS	10000

#define COLUMNS		5

typedef struct Skipped
{
	Oid			relid;
	char	   *key;			/* NULL: it has none, or may not be told */
	Oid			near_relid;
	char	   *near_key;
	double		similarity;
	Oid			role;			/* whose statement it was, who may read the keys */
} Skipped;

static struct
{
	MemoryContext memory;		/* of the rows, or NULL */
	MemoryContext statement;	/* theirs, or NULL once it has ended */
	Skipped    *rows;
	size_t		room;
	size_t		n;
	size_t		bytes;			/* of keys */
}			last;

static void
end_statement(void *statement)
{
	if (last.statement == statement)
		last.statement = NULL;
}

/* See guard.h */
void
guard_skipped_begin(MemoryContext statement)
{
	MemoryContextCallback *callback;

	if (last.statement == statement)
		return;
	callback = MemoryContextAlloc(statement, sizeof(MemoryContextCallback));
	callback->func = end_statement;
	callback->arg = statement;
	MemoryContextRegisterResetCallback(statement, callback);
	if (last.memory != NULL)
		MemoryContextReset(last.memory);
	last.statement = statement;
	last.rows = NULL;
	last.room = last.n = last.bytes = 0;
}

static char *
copied(const char *text)
{
	if (text == NULL)
		return NULL;
	last.bytes += strlen(text);
	return pstrdup(text);
}

/* See guard.h */
void
guard_skipped_note(Relation rel, TupleTableSlot *row, const GuardMatch *match)
{
	Relation	other = table_open(match->table->relid, NoLock);
	const char *key = guard_key_text(rel, row);
	const char *near_key = guard_key_text(other, match->table->slot);
	MemoryContext old;

	table_close(other, NoLock);
	if (last.n == MAX_ROWS || last.bytes > (size_t) work_mem * 1024)
		return;
	if (last.memory == NULL)
		last.memory = AllocSetContextCreate(TopMemoryContext, "skipped rows",
											ALLOCSET_SMALL_SIZES);
	old = MemoryContextSwitchTo(last.memory);
	last.rows = growing_reserve(last.rows, &last.room, last.n + 1, sizeof(Skipped));
	last.rows[last.n] = (Skipped) {
		.relid = RelationGetRelid(rel),
		.key = copied(key),
		.near_relid = match->table->relid,
		.near_key = copied(near_key),
		.similarity = match->similarity,
		.role = GetUserId()
	};
	last.n++;
	MemoryContextSwitchTo(old);
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
		bool		told = has_privs_of_role(GetUserId(), row->role);
		Datum		values[COLUMNS] = {ObjectIdGetDatum(row->relid)};
		bool		nulls[COLUMNS] = {false};

		CHECK_FOR_INTERRUPTS();
		nulls[1] = row->key == NULL || !told;
		if (!nulls[1])
			values[1] = CStringGetTextDatum(row->key);
		values[2] = ObjectIdGetDatum(row->near_relid);
		nulls[3] = row->near_key == NULL || !told;
		if (!nulls[3])
			values[3] = CStringGetTextDatum(row->near_key);
		values[4] = Float8GetDatum(row->similarity);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
	return (Datum) 0;
}
