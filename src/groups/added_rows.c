/*
 * added_rows.c
 *		near_duplicate_groups_add(): new rows find their places in groups that
 *		are there already.
 *
 * Under the rule greedy what was decided of rows stands whatever comes after
 * them, with one exception: a row that is not kept goes over to a new kept row
 * that is nearer.  So it is enough to look for the old rows that are near to new
 * ones, which the user's query does, given a signature and its scope: by an
 * index, or by one join with all of them.  The new rows among themselves are joined.
 *
 * Kept old rows come first, by their ids, then the new rows in their order:
 * among these the groups are made as ever.  Old rows that are not kept take no
 * part in that; each is then offered the new kept rows that it is near to.
 *
 * Under the rule connected a new row connects the groups of the old rows that it
 * is near to.  Their representatives stand for them, by their ids, and the new
 * rows follow; a representative that is one no longer is told of.
 *
 * Most near-duplicates have equal signatures.  A new row that has the signature of
 * an old one is near to the same rows: so it belongs to the representative of that
 * one, or to a new row that is nearer, and no other old row matters.  One look-up
 * of an equal signature costs a fraction of one for all near ones.  So equal ones
 * are looked up first, where there is an index of access method neardup for that.
 * What becomes of the old row becomes of the new one; it is not joined.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type_d.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "nodes/nodes.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/float.h"
#include "utils/lsyscache.h"

#include "base/compat.h"
#include "groups/asked_sets.h"
#include "groups/equal_look_ups.h"
#include "groups/group_rows.h"
#include "groups/id_table.h"
#include "groups/lateral_query.h"
#include "groups/row_sets.h"
#include "signature/sql/near.h"

PG_FUNCTION_INFO_V1(near_duplicate_groups_add);
PG_FUNCTION_INFO_V1(near_duplicate_groups_add_typed);

#define OLD_HINT \
	"The query of old rows gives the id, the signature, the representative and, for the rule greedy, the similarity to it of those that are near to the signature $1, then the columns that the new rows have behind the signature, $2 and so on."

#define OLD_COLUMNS		4		/* the rule connected needs no similarity */
#define BEFORE			1		/* column: the number of the new row's set */

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

/* What is known of new rows with one set, if an old row has it, too. */
typedef struct Settled
{
	uint32		old;			/* their representative, + 1; 0: there is none */
	uint32		like;			/* the old row, + 1, if it is not kept */
	double		similarity;		/* to the representative */
} Settled;

typedef struct AddedRows
{
	RowSets		rows;			/* the new ones; must be first */
	GroupRule	rule;
	const char *query;			/* of old rows */
	AskedSets	sets;			/* that it is asked with */
	PagedArray	first;			/* uint32: the first row with each */
	PagedArray	set_of;			/* uint32: of each row, + 1; 0: it has none */
	PagedArray	settled;		/* Settled: of each set */
	bool		comparable;		/* the old rows' column is a signature itself */
	TupleDesc	asked_desc;		/* of rows of these, for the query */
	IdTable		kept;			/* old rows that are kept, or represent */
	PagedArray	meetings;		/* Meeting: with these */
	uint64		nmeetings;
	IdTable		others;			/* old rows that are not */
	PagedArray	members;		/* OldMember: by number among those */
	PagedArray	other_meetings; /* Meeting */
	uint64		nother_meetings;
} AddedRows;

/* What the query of old rows gives for new ones. */
typedef struct FoundRows
{
	RowTaker	taker;			/* must be first */
	AddedRows  *added;
	int			ncolumns;
	TypedColumn columns[OLD_COLUMNS];
	TypedColumn *scope;			/* an old row's, as the new rows have it */
	Datum	   *values;			/* of the scope */
	bool	   *nulls;
	uint32		number;			/* of the set that the last row was found for */
	AskedSet	set;			/* it */
} FoundRows;

/* The columns of an old row, but for the scope. */
typedef struct OldRow
{
	Datum		id;
	const Signature *signature;
	Datum		representative;
	double		similarity;		/* to that; NaN: null, or not wanted */
	bool		represents;		/* is it itself */
} OldRow;

/* Looking for old rows */

static void
keep_meeting(PagedArray *meetings, uint64 *n, Meeting meeting)
{
	paged_resize(meetings, *n + 1);
	*(Meeting *) paged_change(meetings, (*n)++) = meeting;
}

/* The number of an old row that is not kept. */
static uint32
other_number(AddedRows *added, Datum id, double similarity)
{
	uint32		known = added->others.n;
	uint32		number = id_table_number(&added->others, id);

	if (number == known)
	{
		paged_resize(&added->members, (uint64) known + 1);
		((OldMember *) paged_change(&added->members, known))->similarity =
			similarity;
	}
	return number;
}

/* The scope of an old row. */
static uint64
read_scope(FoundRows *found, TupleTableSlot *slot)
{
	RowSets    *rows = &found->added->rows;

	for (int i = 0; i < rows->nscope; i++)
		found->values[i] = typed_value(&found->scope[i], slot,
									   &found->nulls[i]);
	return row_sets_scope(rows, found->values, found->nulls);
}

/* Finds out for which set an old row was found; false if that is of another scope. */
static bool
find_set(FoundRows *found, TupleTableSlot *slot)
{
	AddedRows  *added = found->added;
	uint64		scope = read_scope(found, slot);
	int64		number = DatumGetInt64(slot->tts_values[0]);

	found->number = number;
	found->set = asked_sets_get(&added->sets, number);
	return found->set.scope == scope;
}

/* An old row's similarity; an error if it cannot be one, as an id in its place. */
static double
old_similarity(double similarity)
{
	/* that of vectors may be rounded to a little more than 1 */
	if (isnan(similarity) || similarity < 0 || similarity > 1.000001)
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("similarity of an old row is out of range: %g", similarity),
				 errdetail("It is a number from 0 to 1."),
				 errhint("%s", OLD_HINT)));
	return similarity;
}

/*
 * Reads an old row that was found for a set, and the set; false if they are not
 * near, and so nothing to each other.
 */
static bool
read_found(FoundRows *found, TupleTableSlot *slot, OldRow *old)
{
	AddedRows  *added = found->added;
	bool		nulls[OLD_COLUMNS] = {0};
	Datum		values[OLD_COLUMNS] = {0};

	CHECK_FOR_INTERRUPTS();
	slot_getallattrs(slot);
	for (int column = 0; column < found->ncolumns; column++)
		values[column] = typed_value(&found->columns[column], slot,
									 &nulls[column]);
	if (nulls[0] || nulls[1])
		return false;
	if (nulls[2])
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("representative of an old row must not be null"),
				 errdetail("A row that has none is a new one; WHERE representative IS NOT NULL leaves it out."),
				 errhint("%s", OLD_HINT)));
	old->id = values[0];
	old->signature = DatumGetSignature(values[1]);
	if (!find_set(found, slot))
		return false;
	old->representative = values[2];
	old->similarity = found->ncolumns < OLD_COLUMNS || nulls[3] ?
		get_float8_nan() : old_similarity(DatumGetFloat8(values[3]));
	old->represents = id_table_same(&added->kept, values[0], values[2]);
	/* within a scope, sets of different specs have nothing in common */
	if (added->rows.nscope > 0 &&
		!spec_equal(&found->set.signature->spec, &old->signature->spec))
		return false;
	return signatures_near(found->set.signature, old->signature,
						   added->rows.threshold, added->rows.measure);
}

/* RowTaker.row: takes note of an old row that was found for a new one. */
static void
meet_found(RowTaker *taker, TupleTableSlot *slot)
{
	FoundRows  *found = (FoundRows *) taker;
	AddedRows  *added = found->added;
	OldRow		old;
	Meeting		meeting;

	if (!read_found(found, slot, &old))
		return;
	meeting.new = *(const uint32 *) paged_at(&added->first, found->number);
	meeting.similarity = signatures_value(found->set.signature, old.signature,
										  added->rows.measure);
	if (added->rule == RULE_CONNECTED || old.represents)
	{
		meeting.old = id_table_number(&added->kept, old.representative);
		keep_meeting(&added->meetings, &added->nmeetings, meeting);
		return;
	}
	meeting.old = other_number(added, old.id, isnan(old.similarity) ?
							   -get_float8_infinity() : old.similarity);
	keep_meeting(&added->other_meetings, &added->nother_meetings, meeting);
}

static bool
is_settled(AddedRows *added, uint32 number)
{
	return ((const Settled *) paged_at(&added->settled, number))->old != 0;
}

/*
 * RowTaker.row: the same of an old row with an equal signature, which settles
 * what becomes of the set.
 */
static void
meet_equal(RowTaker *taker, TupleTableSlot *slot)
{
	FoundRows  *found = (FoundRows *) taker;
	AddedRows  *added = found->added;
	OldRow		old;
	Settled		settled = {0};
	const Signature *set;
	bool		represents;

	if (!read_found(found, slot, &old))
		return;
	set = found->set.signature;
	/* one will do */
	if (is_settled(added, found->number) ||
		VARSIZE(set) != VARSIZE(old.signature) ||
		memcmp(VARDATA(set), VARDATA(old.signature), VARSIZE(set) - VARHDRSZ) != 0)
		return;
	represents = added->rule == RULE_CONNECTED || old.represents;
	settled.similarity = !represents ? old.similarity :
		signatures_value(found->set.signature, old.signature, added->rows.measure);
	/* neither is true of one that is not in a group of this threshold */
	if (isnan(settled.similarity) || settled.similarity < added->rows.threshold)
		return;
	settled.old = id_table_number(&added->kept, old.representative) + 1;
	if (!represents)
		settled.like = other_number(added, old.id, old.similarity) + 1;
	*(Settled *) paged_change(&added->settled, found->number) = settled;
}

/* Makes ready to read the scope of old rows: their last columns. */
static void
begin_found_scope(FoundRows *found, TupleDesc desc)
{
	RowSets    *rows = &found->added->rows;
	int			first = Max(desc->natts - BEFORE - rows->nscope,
							found->ncolumns);

	found->scope = palloc(rows->nscope * sizeof(TypedColumn));
	found->values = palloc(rows->nscope * sizeof(Datum));
	found->nulls = palloc(rows->nscope * sizeof(bool));
	for (int i = 0; i < rows->nscope; i++)
		found->scope[i] = typed_column(desc, BEFORE, first + i + 1,
									   rows->scope[i].att->atttypid, true,
									   "a column of the scope", OLD_HINT);
}

/* RowTaker.begin: makes ready to read what the query of old rows gives. */
static void
begin_found(RowTaker *taker, TupleDesc desc)
{
	static const char *const what[] = {
		"the id", "the signature", "the representative", "the similarity"
	};
	FoundRows  *found = (FoundRows *) taker;
	RowSets    *rows = &found->added->rows;
	Oid			types[] = {
		rows->ids.type, rows->signature_type, rows->ids.type, FLOAT8OID
	};

	/* it has a scope, and the new rows have none, or another one */
	if (desc->natts - BEFORE > OLD_COLUMNS + rows->nscope)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_COLUMN_DEFINITION),
				 errmsg("query of old rows has %d columns, and at most %d are read",
						desc->natts - BEFORE, OLD_COLUMNS + rows->nscope),
				 errhint("%s", OLD_HINT)));
	for (int i = 0; i < found->ncolumns; i++)
		found->columns[i] = typed_column(desc, BEFORE, i + 1, types[i],
										 types[i] == rows->ids.type, what[i], OLD_HINT);
	id_table_collate(&found->added->kept, desc, BEFORE);
	id_table_collate(&found->added->others, desc, BEFORE);
	begin_found_scope(found, desc);
}

/* The sets that have not been settled, as rows for the query; NULL if there are none. */
static Tuplestorestate *
unsettled(AddedRows *added)
{
	Tuplestorestate *store = NULL;

	for (uint32 i = 0; i < added->sets.n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (is_settled(added, i))
			continue;
		if (store == NULL)
			store = tuplestore_begin_heap(true, false,
										  added->rows.memory / 8 / 1024);
		asked_sets_put(&added->sets, i, (Datum) 0, store, added->asked_desc);
	}
	return store;
}

/*
 * Looks for old rows that are equal to new ones.  For others it would cost more
 * than it saves.
 */
static void
look_up_equal(AddedRows *added, FoundRows *found, Oid schema)
{
	Tuplestorestate *store = unsettled(added);

	found->taker.row = meet_equal;
	if (store != NULL)
	{
		found->taker.planned = equal_look_ups_planned;
		lateral_query_run_equal(added->query, schema, added->asked_desc, store,
								&found->taker);
		tuplestore_end(store);
	}
	found->taker.planned = NULL;
	found->taker.row = meet_found;
}

/* Looks for old rows that are near to new ones. */
static void
look_up(AddedRows *added, Oid schema)
{
	FoundRows	found = {
		.taker = {.begin = begin_found, .row = meet_found},
		.added = added,
		.ncolumns = added->rule == RULE_GREEDY ? OLD_COLUMNS : OLD_COLUMNS - 1
	};
	Tuplestorestate *store;

	paged_resize(&added->settled, added->sets.n);
	if (added->comparable && added->rows.kind == KIND_SETS)
		look_up_equal(added, &found, schema);
	store = unsettled(added);
	if (store != NULL)
	{
		lateral_query_run(added->query, added->asked_desc, store, &found.taker);
		tuplestore_end(store);
	}
}

/* Joins new rows with each other, but for those that are settled. */
static void
join_unsettled(AddedRows *added)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "set of a new row",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);

	paged_resize(&added->set_of, added->rows.ids.n);
	for (uint32 row = 0; row < added->rows.ids.n; row++)
	{
		uint32		set = *(const uint32 *) paged_at(&added->set_of, row);
		AskedSet	asked = {0};

		CHECK_FOR_INTERRUPTS();
		if (set != 0 && !is_settled(added, set - 1))
			asked = asked_sets_get(&added->sets, set - 1);
		row_sets_join(&added->rows, asked.signature, asked.scope);
		MemoryContextReset(context);
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
}

/* The columns of the scope from column `first` on. */
static void
describe_scope(RowSets *rows, TupleDesc desc, AttrNumber first)
{
	for (int i = 0; i < rows->nscope; i++)
	{
		Form_pg_attribute att = rows->scope[i].att;

		TupleDescInitEntry(desc, first + i, NULL, att->atttypid,
						   att->atttypmod, 0);
		TupleDescInitEntryCollation(desc, first + i, att->attcollation);
	}
}

/* RowSets.begun: what the query of old rows is asked with is known. */
static void
begin_asked(RowSets *rows)
{
	AddedRows  *added = (AddedRows *) rows;
	TupleDesc	desc = lateral_query_desc(1 + rows->nscope);
	TupleDesc	olds;

	TupleDescInitEntry(desc, 2, NULL, rows->signature_type, -1, 0);
	describe_scope(rows, desc, 3);
	TupleDescFinalize(desc);
	olds = lateral_query_check(added->query, desc, OLD_HINT);
	added->comparable = olds->natts > 1 &&
		TupleDescAttr(olds, 1)->atttypid == rows->signature_type;
	added->asked_desc = desc;
	if (rows->nscope > 0)
	{
		TupleDesc	scope = CreateTemplateTupleDesc(rows->nscope);

		describe_scope(rows, scope, 1);
		TupleDescFinalize(scope);
		asked_sets_scope(&added->sets, scope);
	}
}

/* RowSets.added: takes note of a new row's set, which is asked for once. */
static void
take_set(RowSets *rows, const Signature *sig, uint64 scope,
		 const Datum *values, const bool *nulls)
{
	AddedRows  *added = (AddedRows *) rows;
	uint32		row = rows->ids.n - 1;
	uint32		known = added->sets.n;
	uint32		number = asked_sets_number(&added->sets, sig, scope, values, nulls);

	paged_resize(&added->set_of, (uint64) row + 1);
	*(uint32 *) paged_change(&added->set_of, row) = number + 1;
	if (number < known)
		return;
	paged_resize(&added->first, (uint64) number + 1);
	*(uint32 *) paged_change(&added->first, number) = row;
}

/* Deciding */

/*
 * Groups kept old rows, whose ids go to *olds, and their ranks to *ranks, and the
 * new ones behind them.
 */
static Grouping *
group_added(AddedRows *added, RowIds *olds, PagedArray *ranks, size_t memory)
{
	Grouping   *grouping;

	paged_init(ranks, sizeof(uint32), memory / 16);
	id_table_sort(&added->kept, olds, ranks, memory / 16);
	grouping = grouping_begin(added->rule, olds->n + added->rows.ids.n,
							  memory / 8 * 3);
	for (uint64 i = 0; i < added->nmeetings; i++)
	{
		Meeting		meeting = *(const Meeting *) paged_at(&added->meetings, i);
		uint32		old;

		CHECK_FOR_INTERRUPTS();
		old = *(const uint32 *) paged_at(ranks, meeting.old);
		if (added->rule == RULE_CONNECTED)
			grouping_near(grouping, old, olds->n + meeting.new, 0);
		else
			set_groups_offer(added->rows.groups,
							 *(const uint32 *) paged_at(&added->rows.set_of, meeting.new),
							 old, meeting.similarity);
	}
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

/* What becomes of a new row that has the set of an old one. */
static GroupMember
settled_member(AddedRows *added, Grouping *grouping, PagedArray *ranks,
			   uint32 nolds, Settled settled)
{
	uint32		old = *(const uint32 *) paged_at(ranks, settled.old - 1);
	GroupMember member = grouping_member(grouping, old);

	if (added->rule == RULE_GREEDY)
		member.similarity = settled.similarity;
	if (settled.like != 0)
	{
		OldMember	like = *(const OldMember *) paged_at(&added->members,
														 settled.like - 1);

		if (like.goes != 0)
		{
			member.representative = nolds + (uint32) (like.goes - 1);
			member.similarity = like.similarity;
		}
	}
	return member;
}

/* What becomes of a new row. */
static GroupMember
new_member(AddedRows *added, Grouping *grouping, PagedArray *ranks,
		   uint32 nolds, uint32 row)
{
	uint32		set = *(const uint32 *) paged_at(&added->set_of, row);

	if (set != 0 && is_settled(added, set - 1))
		return settled_member(added, grouping, ranks, nolds,
							  *(const Settled *) paged_at(&added->settled, set - 1));
	return grouping_member(grouping, nolds + row);
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
	/* on 32 bits the last one is a pointer to what is copied below */
	Datum		values[] = {id, representative, Float8GetDatumFast(similarity)};
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
put_new(AddedRows *added, Output *output, Grouping *grouping,
		PagedArray *ranks, uint32 nolds)
{
	RowIds	   *ids = &added->rows.ids;

	row_ids_rewind(ids);
	for (uint32 i = 0; i < ids->n; i++)
	{
		GroupMember member = new_member(added, grouping, ranks, nolds, i);

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
		 RowIds *olds, PagedArray *ranks)
{
	Output		output = {.rsinfo = (ReturnSetInfo *) fcinfo->resultinfo};
	size_t		share = added->rows.memory / 8;

	id_places_begin(&output.places, olds->type, share);
	paged_init(&output.where, sizeof(uint64), share);
	paged_resize(&output.where, (uint64) olds->n + added->rows.ids.n);
	place_ids(&output, olds, 0);
	place_ids(&output, &added->rows.ids, olds->n);
	put_new(added, &output, grouping, ranks, olds->n);
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

	asked_sets_begin(&added->sets, share * 6);
	paged_init(&added->first, sizeof(uint32), share);
	paged_init(&added->set_of, sizeof(uint32), share);
	paged_init(&added->settled, sizeof(Settled), share);
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
	paged_free(&added->set_of);
	paged_free(&added->settled);
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
		.rows = {.begun = begin_asked, .added = take_set},
		.rule = rule_require(PG_GETARG_TEXT_PP(first + 4)),
		.query = text_to_cstring(PG_GETARG_TEXT_PP(first + 1))
	};
	Grouping   *grouping;
	RowIds		olds;
	PagedArray	ranks;

	InitMaterializedSRF(fcinfo, 0);
	row_sets_begin(&added.rows, fcinfo, first + 2, id_type);
	begin_added(&added, id_type);
	row_sets_read(&added.rows, text_to_cstring(PG_GETARG_TEXT_PP(first)));
	look_up(&added, get_func_namespace(fcinfo->flinfo->fn_oid));
	join_unsettled(&added);
	asked_sets_end(&added.sets);
	paged_free(&added.first);
	row_ids_begin(&olds, id_type, added.rows.memory / 16);
	grouping = group_added(&added, &olds, &ranks, added.rows.memory);
	decide_others(&added, grouping, olds.n);
	put_rows(fcinfo, &added, grouping, &olds, &ranks);
	paged_free(&ranks);
	grouping_end(grouping);
	row_ids_end(&olds);
	end_added(&added);
	return (Datum) 0;
}

/*
 * near_duplicate_groups_add(new_rows text, old_rows text, threshold float8,
 * measure text, rule text)
 */
Datum
near_duplicate_groups_add(PG_FUNCTION_ARGS)
{
	return clusters_add(fcinfo, 0, INT8OID);
}

/*
 * near_duplicate_groups_add(id_type anyelement, new_rows text,
 * old_rows text, threshold float8, measure text, rule text)
 */
Datum
near_duplicate_groups_add_typed(PG_FUNCTION_ARGS)
{
	if (!group_rows_wanted(fcinfo, 1))
		return (Datum) 0;
	return clusters_add(fcinfo, 1, get_fn_expr_argtype(fcinfo->flinfo, 0));
}
