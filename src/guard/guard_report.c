/*
 * guard_report.c
 *		Errors and warnings about near-duplicates.
 */
#include "postgres.h"

#include "access/table.h"
#include "common/shortest_dec.h"
#include "lib/stringinfo.h"

#include "base/compat.h"
#include "guard/guard.h"

/*
 * True if one command has inserted both rows: the new one, in the table or in a
 * transition table of the running statement, and another one.
 */
static bool
inserted_together(TupleTableSlot *row, TupleTableSlot *other)
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
	char	   *new_key = guard_has_key(rel, row) ?
	guard_describe_key(rel, row) : NULL;
	bool		shown = guard_may_compare(other, match);
	bool		together = !guard->before &&
	inserted_together(row, match->table->slot);
	StringInfoData text;

	initStringInfo(&text);
	if (key != NULL)
		appendStringInfo(&text, "Row %s", key);
	else
		appendStringInfoString(&text, shown ? "A row" : "A near-duplicate");
	if (together)
		appendStringInfoString(&text, " of the same statement");
	if ((shown || key != NULL) &&
		RelationGetRelid(other) != RelationGetRelid(rel))
		appendStringInfo(&text, together ? ", in partition \"%s\"," :
						 " of partition \"%s\"",
						 RelationGetRelationName(other));
	if (!together)
		appendStringInfoString(&text, " is already there");
	if (shown)
		appendStringInfo(&text, "%s similarity %s", together ? " has" : " with",
						 double_to_shortest_decimal(match->similarity));
	else if (together)
		appendStringInfoString(&text, " is near");
	if (shown && new_key != NULL)
		appendStringInfo(&text, " to row %s", new_key);
	appendStringInfo(&text, ", the threshold is %s.",
					 double_to_shortest_decimal(guard->threshold));
	table_close(other, NoLock);
	return text.data;
}

void
guard_report(const Guard *guard, Relation rel, const Trigger *trigger,
			 const char *detail)
{
	bool		warn = guard->mode == GUARD_WARN;
	AttrNumber	column = guard->own->key.attno;

	ereport(warn ? WARNING : ERROR,
			(errcode(warn ? ERRCODE_WARNING : ERRCODE_EXCLUSION_VIOLATION),
			 !warn ?
			 errmsg("near-duplicate row violates constraint \"%s\" of table \"%s\"",
					trigger->tgname, RelationGetRelationName(rel)) :
			 errmsg("near-duplicate row for trigger \"%s\" of table \"%s\"",
					trigger->tgname, RelationGetRelationName(rel)),
			 errdetail("%s", detail),
	/* errtableconstraint() would set the table again */
			 column != InvalidAttrNumber ?
			 errtablecol(rel, column) : errtable(rel),
			 err_generic_string(PG_DIAG_CONSTRAINT_NAME, trigger->tgname)));
}
