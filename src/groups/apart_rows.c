/*
 * apart_rows.c
 *		Rows that must not belong to each other: "not the same", remembered by
 *		a user's query.
 *
 * Ids that are in pairs are numbered, and each number has a list of the
 * numbers from which it is apart.  A row whose id is in a pair has a set of
 * its own, named by the number: equal texts may be apart, too.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "base/compat.h"
#include "groups/apart_rows.h"

#define QUERY_HINT \
	"The query's columns are the ids of two rows that are not the same, as in SELECT a, b FROM not_same."

/* Element of the list of ids from which one id is apart */
typedef struct OtherId
{
	uint32		number;
	uint32		next;			/* 1 + index of the next element; 0 = end of
								 * the list */
} OtherId;

/* Add an id to the list of another id. */
static void
add_other(ApartRows *apart, uint32 number, uint32 other)
{
	OtherId		element = {.number = other};
	const uint32 none = 0;
	uint32	   *list;

	while (apart->lists.n <= number)
		disk_array_append(&apart->lists, &none, 1);
	list = disk_array_at(&apart->lists, number, true);
	element.next = *list;
	*list = apart->others.n + 1;
	disk_array_append(&apart->others, &element, 1);
}

/* SlotCallback: add a pair of ids. */
static void
add_pair(void *context, TupleTableSlot *slot)
{
	ApartRows  *apart = context;
	Datum		ids[2];
	bool		nulls[2];
	uint32		a;
	uint32		b;

	CHECK_FOR_INTERRUPTS();
	if (apart->others.n > MAX_ROWS - 2)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("too many pairs of rows that are apart"),
				 errdetail("There can be at most %u.", MAX_ROWS / 2)));
	for (int i = 0; i < 2; i++)
		ids[i] = typed_value(&apart->columns[i], slot, &nulls[i]);
	if (nulls[0] || nulls[1])
		return;
	a = record_number(&apart->ids, &ids[0], &nulls[0], true);
	b = record_number(&apart->ids, &ids[1], &nulls[1], true);
	add_other(apart, a, b);
	add_other(apart, b, a);
}

void
apart_rows_begin(ApartRows *apart, const char *text, Oid type, Oid collation,
				 size_t memory)
{
	TupleDesc	id = CreateTemplateTupleDesc(1);
	UserQuery	query;

	user_query_begin(&query, text, NULL, NULL);
	if (query.result->natts > 2)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_COLUMN_DEFINITION),
				 errmsg("query of rows that are apart has %d columns, and 2 are read",
						query.result->natts),
				 errhint(QUERY_HINT)));
	for (int i = 0; i < 2; i++)
		apart->columns[i] = typed_column(query.result, i + 1, type, true,
										 "an id", QUERY_HINT);
	if (!type_is_hashable(type))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FUNCTION),
				 errmsg("ids of type %s cannot be kept apart, as they cannot be hashed",
						format_type_be(type)),
				 errhint("Take the ids as text.")));
	TupleDescInitEntry(id, 1, "id", type, -1, 0);
	TupleDescInitEntryCollation(id, 1, collation);
	TupleDescFinalize(id);
	record_numbers_begin(&apart->ids, id, memory / 2);
	disk_array_begin(&apart->lists, sizeof(uint32), memory / 4);
	disk_array_begin(&apart->others, sizeof(OtherId), memory / 4);
	user_query_run_inside(&query, "SELECT * FROM (SELECT) AS pairs", NULL,
						  add_pair, apart);
}

void
apart_rows_end(ApartRows *apart)
{
	record_numbers_end(&apart->ids);
	disk_array_free(&apart->lists);
	disk_array_free(&apart->others);
}

uint32
apart_rows_name(ApartRows *apart, Datum id)
{
	bool		isnull = false;
	uint32		number = record_number(&apart->ids, &id, &isnull, false);

	return number == NO_RECORD ? 0 : number + 1;
}

bool
apart_rows_pair(void *context, uint32 name, uint32 other)
{
	ApartRows  *apart = context;
	uint32		next;

	Assert(name > 0 && other > 0 && name <= apart->lists.n);
	next = *(uint32 *) disk_array_at(&apart->lists, name - 1, false);
	while (next != 0)
	{
		OtherId		element = *(OtherId *) disk_array_at(&apart->others,
														 next - 1, false);

		CHECK_FOR_INTERRUPTS();
		if (element.number == other - 1)
			return true;
		next = element.next;
	}
	return false;
}
