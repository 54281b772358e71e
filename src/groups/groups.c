/*
 * groups.c
 *		near_duplicate_groups(): groups of near-duplicates among the rows of a query.
 *
 * Rows are read twice: to count the members of groups and number these; to put the rows of the
 * result.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type_d.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/float.h"
#include "utils/memutils.h"

#include "base/compat.h"
#include "base/interrupts.h"
#include "groups/groups.h"
#include "groups/row_sets.h"

PG_FUNCTION_INFO_V1(near_duplicate_groups);

/* Of a row that stands for a group */
typedef struct GroupRow
{
	uint32		size;
	uint32		number;			/* from 1, by order of the representatives */
} GroupRow;

enum Columns
{
	COLUMN_ID,
	COLUMN_CLUSTER,
	COLUMN_REPRESENTATIVE,
	COLUMN_SIMILARITY,
	COLUMN_SIZE,
	NUM_COLUMNS
};

static GroupRule
rule_require(const text *name)
{
	char	   *rule = text_to_cstring(name);

	if (strcmp(rule, "connected") == 0)
		return RULE_CONNECTED;
	if (strcmp(rule, "greedy") == 0)
		return RULE_GREEDY;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("rule \"%s\" does not exist", rule),
	/* a query in its place, where ids of type text are asked for */
			 strchr(rule, ' ') == NULL ?
			 errhint("Rules are connected and greedy.") :
			 errhint("Rules are connected and greedy. After a type of ids come the query and the rule.")));
}

bool
groups_begin(FunctionCallInfo fcinfo, int n, GroupArguments *arguments)
{
	int			first = PG_NARGS() - n;

	InitMaterializedSRF(fcinfo, 0);
	arguments->first = first;
	arguments->id_type = first == 0 ? INT8OID : get_fn_expr_argtype(fcinfo->flinfo, 0);

	/*
	 * even if the query is null: NULL::text may be the type of ids, and the
	 * rule missing
	 */
	if (!PG_ARGISNULL(PG_NARGS() - 1))
		arguments->rule = rule_require(PG_GETARG_TEXT_PP(PG_NARGS() - 1));
	for (int i = first; i < PG_NARGS(); i++)
		if (PG_ARGISNULL(i))
			return false;
	return true;
}

/* Count the members of each group, by the number of its representative, and number groups. */
static void
count_members(DiskArray *groups, uint32 n, GroupOf group_of, void *context)
{
	const GroupRow none = {0};
	uint32		number = 0;

	for (uint32 row = 0; row < n; row++)
	{
		CHECK_EVERY(row);
		disk_array_append(groups, &none, 1);
	}
	for (uint32 row = 0; row < n; row++)
	{
		uint32		representative = group_of(context, row).representative;
		GroupRow   *group = disk_array_at(groups, representative, true);

		CHECK_EVERY(row);
		group->size++;
		if (representative == row)
			group->number = ++number;
	}
}

/* Put a row of the result. */
static void
put_row(ReturnSetInfo *rsinfo, RowIds *ids, uint32 row, GroupMember member, GroupRow group)
{
	int64		number = group.number;
	int64		size = group.size;
	Datum		values[NUM_COLUMNS];
	bool		nulls[NUM_COLUMNS] = {0};

	Assert(size > 0 && number > 0 && (member.representative != row || isnan(member.similarity)));
	values[COLUMN_ID] = row_ids_get(ids, row);
	values[COLUMN_REPRESENTATIVE] = row_ids_get(ids, member.representative);
	/* on 32 bits these are pointers to what is copied below */
	values[COLUMN_CLUSTER] = Int64GetDatumFast(number);
	values[COLUMN_SIMILARITY] = Float8GetDatumFast(member.similarity);
	values[COLUMN_SIZE] = Int64GetDatumFast(size);
	nulls[COLUMN_SIMILARITY] = isnan(member.similarity);
	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
}

void
groups_put(FunctionCallInfo fcinfo, RowIds *ids, size_t memory, GroupOf group_of,
		   void *context)
{
	MemoryContext per_row = AllocSetContextCreate(CurrentMemoryContext, "row of groups",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old;
	DiskArray	groups;

	disk_array_begin(&groups, sizeof(GroupRow), memory);
	count_members(&groups, ids->n, group_of, context);
	old = MemoryContextSwitchTo(per_row);
	for (uint32 row = 0; row < ids->n; row++)
	{
		GroupMember member = group_of(context, row);

		CHECK_FOR_INTERRUPTS();
		put_row((ReturnSetInfo *) fcinfo->resultinfo, ids, row, member,
				*(GroupRow *) disk_array_at(&groups, member.representative, false));
		MemoryContextReset(per_row);
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(per_row);
	disk_array_free(&groups);
}

/* Groups of the rows of a query */

/* SlotCallback */
static void
add_row(void *context, TupleTableSlot *slot)
{
	RowSets    *rows = context;

	row_sets_read(rows, slot);
	row_sets_add(rows, rows->values, rows->nulls);
}

/* near_duplicate_groups([id_type anyelement,] query, threshold, measure, rule) */
Datum
near_duplicate_groups(PG_FUNCTION_ARGS)
{
	RowSets		rows = {0};
	UserQuery	query;
	GroupArguments arguments = {0};

	if (!groups_begin(fcinfo, 4, &arguments))
		return (Datum) 0;
	row_sets_begin(&rows, fcinfo, arguments.first + 1, arguments.id_type);
	user_query_begin(&query, text_to_cstring(PG_GETARG_TEXT_PP(arguments.first)), NULL, NULL);
	row_sets_columns(&rows, query.result);
	user_query_run(&query, add_row, &rows);
	row_sets_decide(&rows, arguments.rule);
	groups_put(fcinfo, &rows.ids, rows.memory / 2, row_sets_member, &rows);
	row_sets_end(&rows);
	return (Datum) 0;
}
