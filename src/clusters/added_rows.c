/*
 * added_rows.c
 *		near_duplicate_clusters_add(): new rows find their places in groups that
 *		are there already.
 *
 * Under the rule kept what was decided of rows stands whatever comes after
 * them, with one exception: a row that is not kept goes over to a new kept row
 * that is nearer.  So it is enough to look for the old rows that are near to new
 * ones, which the user's query does, given a signature, by an index if there
 * is one; the new rows among themselves are joined.
 *
 * Kept old rows come first, by their ids, then the new rows in their order:
 * among these the groups are made as ever.  Old rows that are not kept take no
 * part in that; each is then offered the new kept rows that it is near to.
 *
 * Under the rule connected a new row connects the groups of the old rows that it
 * is near to.  Their representatives stand for them, by their ids, and the new
 * rows follow; a representative that is one no longer is told of.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/clusters/added_rows.c
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type_d.h"
#include "executor/spi.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "nodes/nodes.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/float.h"

#include "base/compat.h"
#include "clusters/group_rows.h"
#include "clusters/id_table.h"
#include "clusters/row_sets.h"
#include "measures/near.h"

PG_FUNCTION_INFO_V1(near_duplicate_clusters_add);
PG_FUNCTION_INFO_V1(near_duplicate_clusters_add_typed);

#define OLD_HINT \
	"The query of old rows gives the id, the signature, the representative and, for the rule kept, the similarity to it of those that are near to the signature $1."

#define OLD_COLUMNS		4		/* the rule connected needs no similarity */

/* An old row that is near to a new one. */
typedef struct Meeting
{
	uint32		old;			/* number in the table that it is in */
	uint32		new;			/* number of the first row with that set */
	double		similarity;
} Meeting;

/* What is known of an old row that is not kept. */
typedef struct OldMember
{
	double		similarity;		/* to its representative, the best so far */
	uint64		goes;			/* to this new row, + 1; 0: it stays */
} OldMember;

typedef struct AddedRows
{
	RowSets		rows;			/* the new ones; must be first */
	GroupRule	rule;
	int			ncolumns;		/* of what the look-up gives */
	IdTable		signatures;		/* those that were looked up */
	MemoryContext context;		/* of all of this */
	SPIPlanPtr	look_up;
	TypedColumn columns[OLD_COLUMNS];	/* of what it gives */
	TupleTableSlot *found;		/* a row of that; NULL: none was asked for */
	IdTable		kept;			/* old rows that are kept, or represent */
	PagedArray	meetings;		/* Meeting: with these */
	uint64		nmeetings;
	IdTable		others;			/* old rows that are not */
	PagedArray	members;		/* OldMember: by number among those */
	PagedArray	other_meetings; /* Meeting */
	uint64		nother_meetings;
} AddedRows;

/* Looking up */

static void
keep_meeting(PagedArray *meetings, uint64 *n, Meeting meeting)
{
	paged_resize(meetings, *n + 1);
	*(Meeting *) paged_change(meetings, (*n)++) = meeting;
}

/* Takes note of an old row that is not kept. */
static void
meet_other(AddedRows *added, Datum id, Meeting meeting, double similarity)
{
	uint32		known = added->others.n;

	meeting.old = id_table_number(&added->others, id);
	if (meeting.old == known)
	{
		paged_resize(&added->members, (uint64) known + 1);
		((OldMember *) paged_change(&added->members, known))->similarity =
			similarity;
	}
	keep_meeting(&added->other_meetings, &added->nother_meetings, meeting);
}

/* Takes note of row i of what was found for a new row. */
static void
meet_found(AddedRows *added, uint64 i, const Signature *sig, uint32 new)
{
	Meeting		meeting = {.new = new};
	bool		nulls[OLD_COLUMNS] = {0};
	Datum		values[OLD_COLUMNS] = {0};
	const Signature *old;

	ExecStoreHeapTuple(SPI_tuptable->vals[i], added->found, false);
	for (int column = 0; column < added->ncolumns; column++)
		values[column] = typed_value(&added->columns[column], added->found,
									 &nulls[column]);
	if (nulls[0] || nulls[1] || nulls[2])
		return;
	old = DatumGetSignature(values[1]);
	if (!signatures_near(sig, old, added->rows.threshold, added->rows.measure))
		return;
	meeting.similarity = signatures_value(sig, old, added->rows.measure);
	if (added->rule == RULE_CONNECTED ||
		id_table_same(&added->kept, values[0], values[2]))
	{
		meeting.old = id_table_number(&added->kept, values[2]);
		keep_meeting(&added->meetings, &added->nmeetings, meeting);
	}
	else
		meet_other(added, values[0], meeting,
				   nulls[3] ? -get_float8_infinity() : DatumGetFloat8(values[3]));
}

/* Makes ready to read what the query of old rows gives. */
static void
begin_found(AddedRows *added)
{
	static const char *const what[] = {
		"the id", "the signature", "the representative", "the similarity"
	};
	Oid			types[] = {
		added->rows.ids.type, added->rows.signature_type,
		added->rows.ids.type, FLOAT8OID
	};
	MemoryContext old = MemoryContextSwitchTo(added->context);
	TupleDesc	desc = CreateTupleDescCopy(SPI_tuptable->tupdesc);

	for (int i = 0; i < added->ncolumns; i++)
		added->columns[i] = typed_column(desc, i + 1, types[i], what[i],
										 OLD_HINT);
	added->found = MakeSingleTupleTableSlot(desc, &TTSOpsHeapTuple);
	MemoryContextSwitchTo(old);
}

/* RowSets.added: looks for old rows that are near to a new one. */
static void
look_up(RowSets *rows, const Signature *sig, uint32 row)
{
	AddedRows  *added = (AddedRows *) rows;
	Datum		value = PointerGetDatum(sig);
	uint32		known = added->signatures.n;

	if (id_table_number(&added->signatures, value) < known)
		return;
	if (SPI_execute_plan(added->look_up, &value, NULL, true, 0) != SPI_OK_SELECT)
		elog(ERROR, "look-up of old rows failed");
	if (added->found == NULL)
		begin_found(added);
	for (uint64 i = 0; i < SPI_processed; i++)
	{
		CHECK_FOR_INTERRUPTS();
		meet_found(added, i, sig, row);
	}
	ExecClearTuple(added->found);
	SPI_freetuptable(SPI_tuptable);
}

static void
begin_look_up(AddedRows *added, const char *query)
{
	Oid			type = added->rows.signature_type;

	/* one plan for all: planning takes as long as a look-up */
	added->look_up = SPI_prepare_cursor(query, 1, &type,
										CURSOR_OPT_GENERIC_PLAN |
										CURSOR_OPT_NO_SCROLL);
	if (added->look_up == NULL || !SPI_is_cursor_plan(added->look_up))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("statement is not a query that only reads"),
				 errhint(OLD_HINT)));
}

/* Deciding */

/* Groups kept old rows, whose ids go to *olds, and the new ones behind them. */
static Grouping *
group_added(AddedRows *added, RowIds *olds, size_t memory)
{
	PagedArray	ranks;
	Grouping   *grouping;

	paged_init(&ranks, sizeof(uint32), memory / 16);
	id_table_sort(&added->kept, olds, &ranks, memory / 16);
	grouping = grouping_begin(added->rule, olds->n + added->rows.ids.n,
							  memory / 8 * 3);
	for (uint64 i = 0; i < added->nmeetings; i++)
	{
		Meeting		meeting = *(const Meeting *) paged_at(&added->meetings, i);

		CHECK_FOR_INTERRUPTS();
		grouping_near(grouping,
					  *(const uint32 *) paged_at(&ranks, meeting.old),
					  olds->n + meeting.new, meeting.similarity);
	}
	paged_free(&ranks);
	row_sets_unite(&added->rows, grouping, added->rule, olds->n);
	grouping_decide(grouping, memory / 2);
	return grouping;
}

/* Sends old rows that are not kept to kept new ones that are nearer. */
static void
decide_others(AddedRows *added, Grouping *grouping, uint32 nolds)
{
	for (uint64 i = 0; i < added->nother_meetings; i++)
	{
		Meeting		meeting = *(const Meeting *) paged_at(&added->other_meetings, i);
		uint32		row = nolds + meeting.new;
		OldMember  *member = paged_change(&added->members, meeting.old);

		CHECK_FOR_INTERRUPTS();
		if (grouping_member(grouping, row).representative != row ||
			meeting.similarity < member->similarity ||
			(meeting.similarity == member->similarity &&
			 (member->goes == 0 || meeting.new + (uint64) 1 >= member->goes)))
			continue;
		member->similarity = meeting.similarity;
		member->goes = meeting.new + (uint64) 1;
	}
}

/* Putting rows */

typedef struct Output
{
	ReturnSetInfo *rsinfo;
	IdPlaces	places;			/* ids of representatives */
	PagedArray	where;			/* uint64: by number, old rows first */
} Output;

static void
put_row(Output *output, Datum id, Datum representative, double similarity)
{
	Datum		values[] = {id, representative, Float8GetDatum(similarity)};
	bool		nulls[] = {false, false, isnan(similarity)};

	tuplestore_putvalues(output->rsinfo->setResult, output->rsinfo->setDesc,
						 values, nulls);
}

/* Notes where ids are, from number `first` on. */
static void
place_ids(Output *output, RowIds *ids, uint32 first)
{
	row_ids_rewind(ids);
	for (uint32 i = 0; i < ids->n; i++)
	{
		uint64		place = id_places_put(&output->places, row_ids_next(ids));

		CHECK_FOR_INTERRUPTS();
		*(uint64 *) paged_change(&output->where, (uint64) first + i) = place;
	}
}

static Datum
placed_id(Output *output, uint32 number)
{
	return id_places_get(&output->places,
						 *(const uint64 *) paged_at(&output->where, number));
}

/* The new rows, in their order. */
static void
put_new(AddedRows *added, Output *output, Grouping *grouping, uint32 nolds)
{
	RowIds	   *ids = &added->rows.ids;

	row_ids_rewind(ids);
	for (uint32 i = 0; i < ids->n; i++)
	{
		GroupMember member = grouping_member(grouping, nolds + i);

		CHECK_FOR_INTERRUPTS();
		put_row(output, row_ids_next(ids),
				placed_id(output, member.representative), member.similarity);
	}
}

/* The old representatives that are in the group of another one now. */
static void
put_renamed(Output *output, Grouping *grouping, uint32 nolds)
{
	for (uint32 i = 0; i < nolds; i++)
	{
		GroupMember member = grouping_member(grouping, i);
		Datum		id;

		CHECK_FOR_INTERRUPTS();
		if (member.representative == i)
			continue;
		/* the next id to be read may take its place */
		id = datumCopy(placed_id(output, i), output->places.byval,
					   output->places.len);
		put_row(output, id, placed_id(output, member.representative),
				member.similarity);
		if (!output->places.byval)
			pfree(DatumGetPointer(id));
	}
}

/* The old rows that go over to a new one. */
static void
put_changed(AddedRows *added, Output *output, uint32 nolds)
{
	for (uint32 i = 0; i < added->others.n; i++)
	{
		OldMember	member = *(const OldMember *) paged_at(&added->members, i);

		CHECK_FOR_INTERRUPTS();
		if (member.goes != 0)
			put_row(output, id_table_id(&added->others, i),
					placed_id(output, nolds + (uint32) (member.goes - 1)),
					member.similarity);
	}
}

/* The rows of the result. */
static void
put_rows(FunctionCallInfo fcinfo, AddedRows *added, Grouping *grouping,
		 RowIds *olds)
{
	Output		output = {.rsinfo = (ReturnSetInfo *) fcinfo->resultinfo};
	size_t		share = added->rows.memory / 8;

	id_places_begin(&output.places, olds->type, share);
	paged_init(&output.where, sizeof(uint64), share);
	paged_resize(&output.where, (uint64) olds->n + added->rows.ids.n);
	place_ids(&output, olds, 0);
	place_ids(&output, &added->rows.ids, olds->n);
	put_new(added, &output, grouping, olds->n);
	if (added->rule == RULE_CONNECTED)
		put_renamed(&output, grouping, olds->n);
	put_changed(added, &output, olds->n);
	id_places_end(&output.places);
	paged_free(&output.where);
}

static void
begin_added(AddedRows *added, Oid id_type)
{
	size_t		share = added->rows.memory / 32;

	added->context = CurrentMemoryContext;
	id_table_begin(&added->signatures, added->rows.signature_type, share * 8);
	id_table_begin(&added->kept, id_type, share);
	id_table_begin(&added->others, id_type, share);
	paged_init(&added->meetings, sizeof(Meeting), share);
	paged_init(&added->other_meetings, sizeof(Meeting), share);
	paged_init(&added->members, sizeof(OldMember), share);
}

static void
end_added(AddedRows *added)
{
	id_table_end(&added->kept);
	id_table_end(&added->others);
	paged_free(&added->meetings);
	paged_free(&added->other_meetings);
	paged_free(&added->members);
	row_ids_end(&added->rows.ids);
}

/* The function, whose arguments begin with the queries at number `first`. */
static Datum
clusters_add(FunctionCallInfo fcinfo, int first, Oid id_type)
{
	AddedRows	added = {
		.rows = {.added = look_up},
		.rule = rule_require(PG_GETARG_TEXT_PP(first + 4))
	};
	Grouping   *grouping;
	RowIds		olds;

	added.ncolumns = added.rule == RULE_KEPT ? OLD_COLUMNS : OLD_COLUMNS - 1;
	InitMaterializedSRF(fcinfo, 0);
	row_sets_begin(&added.rows, fcinfo, first + 2, id_type);
	begin_added(&added, id_type);
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	begin_look_up(&added, text_to_cstring(PG_GETARG_TEXT_PP(first + 1)));
	row_sets_read(&added.rows, text_to_cstring(PG_GETARG_TEXT_PP(first)));
	if (SPI_finish() != SPI_OK_FINISH)
		elog(ERROR, "SPI_finish failed");
	id_table_end(&added.signatures);
	row_ids_begin(&olds, id_type, added.rows.memory / 16);
	grouping = group_added(&added, &olds, added.rows.memory);
	decide_others(&added, grouping, olds.n);
	put_rows(fcinfo, &added, grouping, &olds);
	grouping_end(grouping);
	row_ids_end(&olds);
	end_added(&added);
	return (Datum) 0;
}

/*
 * near_duplicate_clusters_add(new_rows text, old_rows text, threshold float8,
 * measure text, rule text)
 */
Datum
near_duplicate_clusters_add(PG_FUNCTION_ARGS)
{
	return clusters_add(fcinfo, 0, INT8OID);
}

/*
 * near_duplicate_clusters_add(id_type anyelement, new_rows text,
 * old_rows text, threshold float8, measure text, rule text)
 */
Datum
near_duplicate_clusters_add_typed(PG_FUNCTION_ARGS)
{
	if (!group_rows_wanted(fcinfo))
		return (Datum) 0;
	return clusters_add(fcinfo, 1, get_fn_expr_argtype(fcinfo->flinfo, 0));
}
