/*
 * guard_report.c
 *		Errors and warnings about a row that is near to another one.
 *
 * The other row is named by its primary key, and only to those who may read it:
 * the inserter need not have the right to, as with unique constraints.
 * BuildIndexValueDescription() decides, and refuses where row-level security
 * is in force.  The same goes for the new row's key.
 *
 * A row that a BEFORE trigger skips is missing in RETURNING, and PostgreSQL has no
 * way to return another one in its place.  So the session remembers skipped rows, as
 * it does the value of lastval(): until a guard in mode skip checks a row of another
 * statement.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "common/shortest_dec.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/tuplestore.h"

#include "base/compat.h"
#include "base/memory.h"
#include "guard/guard.h"
#include "methods/method.h"
#include "signature/sql/signature_query.h"

PG_FUNCTION_INFO_V1(neardup_guard_skipped);

/*
 * True if one command has put in both rows: the new one, as it lies in the table or in a
 * transition table of the statement that is running, and another one.
 */
static bool
put_in_together(TupleTableSlot *row, TupleTableSlot *other)
{
	CommandId	command = guard_current_statement().command;

	if (!guard_is_own(other))
		return false;
	if (TTS_IS_BUFFERTUPLE(row))
		command = guard_is_own(row) ? guard_own_command(row) : InvalidCommandId;
	return guard_own_command(other) == command;
}

char *
guard_describe(const Guard *guard, Relation rel, TupleTableSlot *row,
			   const GuardMatch *match)
{
	Relation	other = table_open(match->table->relid, NoLock);
	char	   *key = guard_describe_key(other, match->table->slot);
	char	   *new_key = guard_has_key(rel, row) ? guard_describe_key(rel, row) : NULL;
	bool		together = !guard->before && put_in_together(row, match->table->slot);
	StringInfoData text;

	initStringInfo(&text);
	if (key != NULL)
		appendStringInfo(&text, "Row %s", key);
	else
		appendStringInfoString(&text, "A row");
	if (together)
		appendStringInfoString(&text, " of the same statement");
	if (RelationGetRelid(other) != RelationGetRelid(rel))
		appendStringInfo(&text, together ? ", in partition \"%s\"," :
						 " of partition \"%s\"",
						 RelationGetRelationName(other));
	appendStringInfo(&text, together ? " has similarity %s" :
					 " is already there with similarity %s",
					 double_to_shortest_decimal(match->similarity));
	if (new_key != NULL)
		appendStringInfo(&text, " to row %s", new_key);
	appendStringInfo(&text, ", the threshold is %s.",
					 double_to_shortest_decimal(guard->threshold));
	table_close(other, NoLock);
	return text.data;
}

void
guard_report(const Guard *guard, Relation rel, const Trigger *trigger, const char *detail)
{
	int			elevel = guard->mode == GUARD_WARN ? WARNING : ERROR;
	AttrNumber	column = guard->own->key.attno;

	ereport(elevel,
			(errcode(elevel == ERROR ? ERRCODE_EXCLUSION_VIOLATION : ERRCODE_WARNING),
			 elevel == ERROR ?
			 errmsg("near-duplicate row violates constraint \"%s\" of table \"%s\"",
					trigger->tgname, RelationGetRelationName(rel)) :
			 errmsg("near-duplicate row for trigger \"%s\" of table \"%s\"",
					trigger->tgname, RelationGetRelationName(rel)),
			 errdetail("%s", detail),
	/* errtableconstraint() would set the table once more */
			 column != InvalidAttrNumber ?
			 errtablecol(rel, column) : errtable(rel),
			 err_generic_string(PG_DIAG_CONSTRAINT_NAME, trigger->tgname)));
}

/* Skipped rows */

/* Number of rows remembered, if their keys fit into work_mem. */
#define MAX_SKIPPED		10000

#define SKIPPED_COLUMNS	5

typedef struct Skipped
{
	Oid			relid;
	char	   *key;			/* NULL: it has none, or it may not be shown */
	Oid			near_relid;
	char	   *near_key;
	double		similarity;
	Oid			role;			/* whose statement it was, who may read the
								 * keys */
} Skipped;

static struct
{
	MemoryContext memory;		/* of the rows, or NULL */
	StatementId statement;		/* theirs */
	Skipped    *rows;
	size_t		room;
	size_t		n;
	size_t		bytes;			/* of keys */
}			last;

void
guard_skipped_begin(void)
{
	StatementId statement = guard_current_statement();

	if (statements_equal(last.statement, statement))
		return;
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

void
guard_skipped_note(Relation rel, TupleTableSlot *row, const GuardMatch *match)
{
	Relation	other = table_open(match->table->relid, NoLock);
	const char *key = guard_key_text(rel, row);
	const char *near_key = guard_key_text(other, match->table->slot);
	MemoryContext old;

	table_close(other, NoLock);
	Assert(last.n <= MAX_SKIPPED);
	Assert(statements_equal(last.statement, guard_current_statement()));
	if (last.n == MAX_SKIPPED || last.bytes > (size_t) work_mem * 1024)
		return;
	if (last.memory == NULL)
		last.memory = AllocSetContextCreate(TopMemoryContext, "skipped rows",
											ALLOCSET_SMALL_SIZES);
	old = MemoryContextSwitchTo(last.memory);
	last.rows = growing_reserve(last.rows, &last.room, last.n + 1, sizeof(Skipped));
	last.rows[last.n] = (Skipped)
	{
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
		bool		visible = has_privs_of_role(GetUserId(), row->role);
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
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
	return (Datum) 0;
}

/* Exclusion constraints */

/* Output of signature_query_key: what the error of an exclusion constraint shows of a signature */
PG_FUNCTION_INFO_V1(signature_query_key_out);
Datum
signature_query_key_out(PG_FUNCTION_ARGS)
{
	SignatureQuery *query = PG_GETARG_SIGNATURE_QUERY(0);
	StringInfoData text;

	initStringInfo(&text);
	spec_append(&query->signature.spec, &text);
	appendStringInfo(&text, " with %zu values", (size_t) SIGNATURE_NVALUES(&query->signature));
	PG_RETURN_CSTRING(text.data);
}
