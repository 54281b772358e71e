/*
 * guard_report.c
 *		Reports near-duplicates: errors, warnings, and their details.
 */
#include "postgres.h"

#include "common/shortest_dec.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "base/compat.h"
#include "guard/guard.h"

char *
guard_describe(const Guard *guard, Relation rel, TupleTableSlot *row,
			   const GuardMatch *match)
{
	GuardReadable readable = guard_readable(rel, row, match, false);
	const char *key = readable.key;
	bool		shown = readable.similarity;
	bool		together = !guard->before &&
	guard_inserted_together(row, match->table->slot);
	StringInfoData text;

	initStringInfo(&text);
	if (key != NULL)
		appendStringInfo(&text, "Row %s", key);
	else
		appendStringInfoString(&text, shown || together ? "A row" :
							   "A near-duplicate");
	if (together)
		appendStringInfoString(&text, " of the same statement");
	if ((shown || key != NULL) &&
		match->table->relid != RelationGetRelid(rel))
		appendStringInfo(&text, together ? ", in partition \"%s\"," :
						 " of partition \"%s\"",
						 get_rel_name(match->table->relid));
	if (!together)
		appendStringInfoString(&text, " is already there");
	if (shown)
		appendStringInfo(&text, "%s %s %s", together ? " has" : " with",
						 guard->measure == MEASURE_COSINE ? "cosine" :
						 "similarity",
						 double_to_shortest_decimal(match->similarity));
	else if (together)
		appendStringInfoString(&text, " is a near-duplicate");
	if (shown && readable.new_key != NULL)
		appendStringInfo(&text, " to row %s", readable.new_key);
	appendStringInfo(&text, ", the threshold is %s.",
					 double_to_shortest_decimal(guard->threshold));
	return text.data;
}

/*
 * Return which rows are compared, as the trigger's arguments say, to follow
 * the detail; empty if all are.
 */
static const char *
describe_compared(const Trigger *trigger)
{
	GuardArguments arguments = guard_arguments(trigger);
	StringInfoData text;

	if (arguments.nscope == 0 && arguments.condition == NULL)
		return "";
	initStringInfo(&text);
	appendStringInfoString(&text, " Rows are compared");
	for (int i = 0; i < arguments.nscope; i++)
		appendStringInfo(&text, "%s%s", i == 0 ? " within " : ", ",
						 quote_identifier(arguments.scope[i]));
	if (arguments.condition != NULL)
		appendStringInfo(&text, " if %s", arguments.condition);
	appendStringInfoChar(&text, '.');
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
			 errdetail("%s%s", detail, describe_compared(trigger)),
	/* errtableconstraint() would set the table again */
			 column != InvalidAttrNumber ?
			 errtablecol(rel, column) : errtable(rel),
			 err_generic_string(PG_DIAG_CONSTRAINT_NAME, trigger->tgname)));
}

void
guard_report_match(const Guard *guard, Relation rel, const Trigger *trigger,
				   TupleTableSlot *row, const GuardMatch *match)
{
	guard_report(guard, rel, trigger, guard_describe(guard, rel, row, match));
}
