/*
 * group_rows.c
 *		Groups as the rows of a set-returning function.
 *
 * The rows are gone through three times: to count the members of each group;
 * to number the groups and keep the ids of representatives; to put the rows.
 */
#include "postgres.h"

#include <math.h>

#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"

#include "base/compat.h"
#include "groups/group_rows.h"
#include "groups/id_places.h"

/* Of a row that stands for a group */
typedef struct GroupRow
{
	uint32		size;
	uint32		number;			/* from 1, by order of the representatives */
	uint64		place;			/* of its id, if there is another row */
} GroupRow;

StaticAssertDecl(BLCKSZ % sizeof(GroupRow) == 0, "groups do not fill pages");

enum Columns
{
	COLUMN_ID,
	COLUMN_CLUSTER,
	COLUMN_REPRESENTATIVE,
	COLUMN_SIMILARITY,
	COLUMN_SIZE,
	NUM_COLUMNS
};

static void
count_members(Grouping *grouping, uint32 n, PagedArray *groups)
{
	for (uint32 row = 0; row < n; row++)
	{
		GroupMember member = grouping_member(grouping, row);
		GroupRow   *group = paged_change(groups, member.representative);

		CHECK_FOR_INTERRUPTS();
		group->size++;
	}
}

static void
number_groups(RowIds *ids, PagedArray *groups, IdPlaces *places)
{
	uint32		number = 0;

	row_ids_rewind(ids);
	for (uint32 row = 0; row < ids->n; row++)
	{
		Datum		id = row_ids_next(ids);
		GroupRow	group = *(const GroupRow *) paged_at(groups, row);

		CHECK_FOR_INTERRUPTS();
		if (group.size == 0)
			continue;
		group.number = ++number;
		if (group.size > 1)
			group.place = id_places_put(places, id);
		*(GroupRow *) paged_change(groups, row) = group;
	}
}

static void
put_rows(ReturnSetInfo *rsinfo, Grouping *grouping, RowIds *ids,
		 bool measured, PagedArray *groups, IdPlaces *places)
{
	row_ids_rewind(ids);
	for (uint32 row = 0; row < ids->n; row++)
	{
		GroupMember member = grouping_member(grouping, row);
		GroupRow	group = *(const GroupRow *) paged_at(groups,
													  member.representative);
		int64		number = group.number;
		int64		size = group.size;
		double		similarity = member.similarity;
		Datum		values[NUM_COLUMNS];
		bool		nulls[NUM_COLUMNS] = {0};

		CHECK_FOR_INTERRUPTS();
		/* on 32 bits these are pointers to what is copied below */
		values[COLUMN_ID] = row_ids_next(ids);
		values[COLUMN_CLUSTER] = Int64GetDatumFast(number);
		values[COLUMN_REPRESENTATIVE] = member.representative == row ?
			values[COLUMN_ID] : id_places_get(places, group.place);
		values[COLUMN_SIMILARITY] = Float8GetDatumFast(similarity);
		nulls[COLUMN_SIMILARITY] = !measured || isnan(member.similarity);
		values[COLUMN_SIZE] = Int64GetDatumFast(size);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
}

void
group_rows_put(FunctionCallInfo fcinfo, Grouping *grouping, RowIds *ids,
			   bool measured, size_t memory)
{
	PagedArray	groups;
	IdPlaces	places;

	paged_init(&groups, sizeof(GroupRow), memory / 3 * 2);
	paged_resize(&groups, ids->n);
	id_places_begin(&places, ids->type, memory / 3);
	count_members(grouping, ids->n, &groups);
	number_groups(ids, &groups, &places);
	put_rows((ReturnSetInfo *) fcinfo->resultinfo, grouping, ids, measured,
			 &groups, &places);
	paged_free(&groups);
	id_places_end(&places);
}

GroupRule
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
group_rows_wanted(FunctionCallInfo fcinfo, int first)
{
	for (int i = first; i < PG_NARGS(); i++)
		if (PG_ARGISNULL(i))
		{
			InitMaterializedSRF(fcinfo, 0);
			return false;
		}
	return true;
}
