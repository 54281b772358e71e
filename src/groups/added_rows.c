/*
 * added_rows.c
 *		near_duplicate_groups_add(): new rows find their places in groups of old rows.
 *
 * The user's query finds the old rows that are near to a new set.  The new rows are grouped
 * among themselves as ever.
 *
 * Greedy: a new set near to an old representative belongs to that, or to a new one that is
 * nearer.  An old row that is no representative changes to a new representative that is
 * nearer than its own.
 *
 * Connected: a new set connects the groups of the old rows that it is near to.
 *
 * A new set that an old row has belongs where that one does, and no other old row matters.
 * So equal ones are looked up first, where there is an index of access method neardup.
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
#include "utils/memutils.h"

#include "base/compat.h"
#include "groups/groups.h"
#include "groups/lateral_query.h"
#include "groups/row_sets.h"
#include "signature/sql/near.h"

PG_FUNCTION_INFO_V1(near_duplicate_groups_add);

#define OLD_HINT \
	"The query of old rows gives the id, the signature, the representative and, for the rule greedy, the similarity to it of those that are near to the signature $1, then the columns that the new rows have behind the signature, $2 and so on."

/* Columns of an old row; the rule connected needs no similarity. */
enum OldColumns
{
	OLD_ID,
	OLD_SIGNATURE,
	OLD_REPRESENTATIVE,
	OLD_SIMILARITY,
	OLD_COLUMNS
};

/* Columns of the sorts of matches, the last one only of MembersSort */
enum MatchColumns
{
	MATCH_ID,					/* of the representative, or of the old row */
	MATCH_SET,					/* SetNumber of the new set */
	MATCH_SIMILARITY,			/* of the new set and the old row */
	MATCH_OWN,					/* similarity of the old row and its
								 * representative */
	MATCH_COLUMNS
};

/* Columns of a new set: its position among these, its SetNumber, its signature and scope */
#define SET_BEFORE		2		/* $1 is the next one */

#define NO_OLD			UINT32_MAX

typedef struct AddedRows
{
	RowSets		rows;			/* the new ones; must be first */
	GroupRule	rule;
	const char *text;			/* query of old rows */
	Oid			schema;			/* of the extension */
	LateralQuery query;
	Tuplestorestate *sets;		/* new sets, to look up */
	int64		nsets;
	RowSort		representatives;	/* old ones that new sets belong to */
	RowSort		members;		/* other old rows that new sets are near to */
	RowIds		olds;			/* ids of old representatives, sorted */
	DiskArray	links;			/* connected: between these */
	DiskArray	old_of_row;		/* uint32, connected: old representative of
								 * the group that the new row stands for, or
								 * NO_OLD */
} AddedRows;

/* Old rows that are found for new sets. */
typedef struct OldReader
{
	RowReader	reader;			/* must be first */
	AddedRows  *added;
	Bitmapset  *settled;		/* new sets that an old row has, too; by
								 * position */
	bool		equal;			/* the query is for these */
	int			ncolumns;
	TypedColumn columns[OLD_COLUMNS];
	TypedColumn *scope;
	Datum	   *values;			/* of the scope */
	bool	   *nulls;
} OldReader;

/* One of them, and the new set */
typedef struct OldRow
{
	int64		position;		/* of the new set */
	SetNumber	set;
	const Signature *new;
	Datum		id;
	const Signature *signature;
	Datum		representative;
	double		similarity;		/* to that; NaN: null, or not wanted */
	bool		represents;		/* is it itself */
} OldRow;

/* New sets */

/* RowSets.begun: analyze the query of old rows. */
static void
begin_sets(RowSets *rows)
{
	AddedRows  *added = (AddedRows *) rows;
	TupleDesc	desc = CreateTemplateTupleDesc(SET_BEFORE + 1 + rows->nscope);

	TupleDescInitEntry(desc, 1, "position", INT8OID, -1, 0);
	TupleDescInitEntry(desc, 2, "set", INT8OID, -1, 0);
	TupleDescInitEntry(desc, 3, NULL, rows->signature_type, -1, 0);
	for (int i = 0; i < rows->nscope; i++)
	{
		Form_pg_attribute att = rows->scope[i].att;

		TupleDescInitEntry(desc, SET_BEFORE + 2 + i, NULL, att->atttypid, att->atttypmod, 0);
		TupleDescInitEntryCollation(desc, SET_BEFORE + 2 + i, att->attcollation);
	}
	TupleDescFinalize(desc);
	lateral_query_begin(&added->query, added->text, desc, SET_BEFORE, OLD_HINT);
	/* an old row may have a scope that the new rows do not have */
	if (added->query.result->natts > OLD_COLUMNS + rows->nscope)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_COLUMN_DEFINITION),
				 errmsg("query of old rows has %d columns, and at most %d are read",
						added->query.result->natts, OLD_COLUMNS + rows->nscope),
				 errhint("%s", OLD_HINT)));
	added->sets = tuplestore_begin_heap(true, false, rows->memory / 16 / 1024);
}

/* RowSets.new_set: store a new set. */
static void
put_set(RowSets *rows, SetNumber set, const Signature *sig, const Datum *scope,
		const bool *nulls)
{
	AddedRows  *added = (AddedRows *) rows;
	TupleDesc	desc = added->query.values;
	Datum	   *values = palloc(desc->natts * sizeof(Datum));
	bool	   *isnull = palloc0(desc->natts * sizeof(bool));
	int64		position = added->nsets++;
	int64		number = set;

	/* on 32 bits these are pointers to what is copied below */
	values[0] = Int64GetDatumFast(position);
	values[1] = Int64GetDatumFast(number);
	values[2] = PointerGetDatum(sig);
	memcpy(values + SET_BEFORE + 1, scope, rows->nscope * sizeof(Datum));
	memcpy(isnull + SET_BEFORE + 1, nulls, rows->nscope * sizeof(bool));
	tuplestore_putvalues(added->sets, desc, values, isnull);
}

/* Old rows */

/* RowReader.begin: prepare to read old rows. */
static void
begin_old(RowReader *reader, TupleDesc desc)
{
	static const char *const what[] = {
		"the id", "the signature", "the representative", "the similarity"
	};
	OldReader  *olds = (OldReader *) reader;
	RowSets    *rows = &olds->added->rows;
	int			before = olds->added->query.values->natts;
	Oid			id = rows->ids.type;
	Oid			types[] = {id, rows->signature_type, id, FLOAT8OID};
	int			first = Max(desc->natts - before - rows->nscope, olds->ncolumns);

	for (int i = 0; i < olds->ncolumns; i++)
		olds->columns[i] = typed_column(desc, before, i + 1, types[i], types[i] == id,
										what[i], OLD_HINT);
	olds->scope = palloc(rows->nscope * sizeof(TypedColumn));
	olds->values = palloc(rows->nscope * sizeof(Datum));
	olds->nulls = palloc(rows->nscope * sizeof(bool));
	for (int i = 0; i < rows->nscope; i++)
		olds->scope[i] = typed_column(desc, before, first + i + 1,
									  rows->scope[i].att->atttypid, true,
									  "a column of the scope", OLD_HINT);
}

/* True if the old row has the scope of the new set. */
static bool
has_scope(OldReader *olds, TupleTableSlot *slot)
{
	RowSets    *rows = &olds->added->rows;

	for (int i = 0; i < rows->nscope; i++)
		olds->values[i] = typed_value(&olds->scope[i], slot, &olds->nulls[i]);
	return rows->nscope == 0 ||
		row_sets_scope(rows, olds->values, olds->nulls) ==
		row_sets_scope(rows, slot->tts_values + SET_BEFORE + 1,
					   slot->tts_isnull + SET_BEFORE + 1);
}

/* Return an old row's similarity; raise an error if it cannot be one, as an id in its place. */
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

/* Read an old row and the new set that it was found for; false if they are not near. */
static bool
read_old(OldReader *olds, TupleTableSlot *slot, OldRow *old)
{
	AddedRows  *added = olds->added;
	bool		nulls[OLD_COLUMNS] = {0};
	Datum		values[OLD_COLUMNS] = {0};

	CHECK_FOR_INTERRUPTS();
	slot_getallattrs(slot);
	for (int column = 0; column < olds->ncolumns; column++)
		values[column] = typed_value(&olds->columns[column], slot, &nulls[column]);
	if (nulls[OLD_ID] || nulls[OLD_SIGNATURE])
		return false;
	if (nulls[OLD_REPRESENTATIVE])
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("representative of an old row must not be null"),
				 errdetail("A row that has none is a new one; WHERE representative IS NOT NULL leaves it out."),
				 errhint("%s", OLD_HINT)));
	if (!has_scope(olds, slot))
		return false;
	old->position = DatumGetInt64(slot->tts_values[0]);
	old->set = DatumGetInt64(slot->tts_values[1]);
	old->new = DatumGetSignature(slot->tts_values[2]);
	old->id = values[OLD_ID];
	old->signature = DatumGetSignature(values[OLD_SIGNATURE]);
	old->representative = values[OLD_REPRESENTATIVE];
	old->similarity = olds->ncolumns < OLD_COLUMNS || nulls[OLD_SIMILARITY] ?
		get_float8_nan() : old_similarity(DatumGetFloat8(values[OLD_SIMILARITY]));
	old->represents = ids_equal(&added->rows.order, old->id, old->representative);
	/* within a scope, specs may differ without a warning */
	if (added->rows.nscope > 0 && !spec_equal(&old->new->spec, &old->signature->spec))
		return false;
	return signatures_near(old->new, old->signature, added->rows.threshold,
						   added->rows.measure);
}

/* Put a match of an old row and a new set into a sort, by that id. */
static void
put_match(RowSort *sort, Datum id, const OldRow *old, double similarity)
{
	Datum		values[MATCH_COLUMNS];
	bool		nulls[MATCH_COLUMNS] = {0};
	int64		set = old->set;
	double		own = isnan(old->similarity) ? -get_float8_infinity() : old->similarity;

	Assert(!isnan(similarity) && !isnan(own));
	/* on 32 bits these are pointers to what is copied below */
	values[MATCH_ID] = id;
	values[MATCH_SET] = Int64GetDatumFast(set);
	values[MATCH_SIMILARITY] = Float8GetDatumFast(similarity);
	values[MATCH_OWN] = Float8GetDatumFast(own);
	row_sort_put(sort, values, nulls);
}

/*
 * Note an old row with an equal signature, which is enough for the new set; nothing if it
 * is not in a group of this threshold.
 */
static void
note_equal(OldReader *olds, const OldRow *old)
{
	AddedRows  *added = olds->added;
	double		similarity = old->similarity;
	MemoryContext context;

	if (bms_is_member(old->position, olds->settled) ||
		VARSIZE(old->new) != VARSIZE(old->signature) ||
		memcmp(VARDATA(old->new), VARDATA(old->signature), VARSIZE(old->new) - VARHDRSZ) != 0)
		return;
	if (added->rule == RULE_CONNECTED || old->represents)
		similarity = signatures_value(old->new, old->signature, added->rows.measure);
	if (isnan(similarity) || similarity < added->rows.threshold)
		return;
	put_match(&added->representatives, old->representative, old, similarity);
	context = MemoryContextSwitchTo(added->rows.context);
	olds->settled = bms_add_member(olds->settled, old->position);
	MemoryContextSwitchTo(context);
}

/* RowReader.row: note an old row that was found for a new set. */
static void
note_old(RowReader *reader, TupleTableSlot *slot)
{
	OldReader  *olds = (OldReader *) reader;
	AddedRows  *added = olds->added;
	OldRow		old;

	if (!read_old(olds, slot, &old))
		return;
	if (olds->equal)
		note_equal(olds, &old);
	else if (added->rule == RULE_CONNECTED || old.represents)
		put_match(&added->representatives, old.representative, &old,
				  signatures_value(old.new, old.signature, added->rows.measure));
	else
		put_match(&added->members, old.id, &old,
				  signatures_value(old.new, old.signature, added->rows.measure));
}

/* Remove the sets that are settled from those to look up. */
static void
remove_settled(AddedRows *added, const Bitmapset *settled)
{
	TupleTableSlot *slot = MakeSingleTupleTableSlot(added->query.values, &TTSOpsMinimalTuple);
	Tuplestorestate *left = tuplestore_begin_heap(true, false, added->rows.memory / 16 / 1024);
	bool		isnull;

	tuplestore_rescan(added->sets);
	while (tuplestore_gettupleslot(added->sets, true, false, slot))
	{
		CHECK_FOR_INTERRUPTS();
		if (!bms_is_member(DatumGetInt64(slot_getattr(slot, 1, &isnull)), settled))
			tuplestore_puttupleslot(left, slot);
	}
	ExecDropSingleTupleTableSlot(slot);
	tuplestore_end(added->sets);
	added->sets = left;
}

/* Find the old rows that are near to new sets. */
static void
look_up(AddedRows *added)
{
	TupleDesc	result = added->query.result;
	OldReader	olds = {
		.reader = {.begin = begin_old,.row = note_old},
		.added = added,
		.ncolumns = added->rule == RULE_GREEDY ? OLD_COLUMNS : OLD_COLUMNS - 1
	};
	Oid			types[] = {added->rows.ids.type, INT8OID, FLOAT8OID, FLOAT8OID};

	if (result->natts > 0)
		id_order_collate(&added->rows.order, result, OLD_ID);
	row_sort_begin(&added->representatives, &added->rows.order, MATCH_COLUMNS, types,
				   added->rows.memory / 16);
	row_sort_begin(&added->members, &added->rows.order, MATCH_COLUMNS, types,
				   added->rows.memory / 16);
	if (added->nsets == 0)
		return;
	olds.equal = result->natts > OLD_SIGNATURE && added->rows.kind == KIND_SETS &&
		TupleDescAttr(result, OLD_SIGNATURE)->atttypid == added->rows.signature_type;
	if (olds.equal)
	{
		lateral_query_run_equal(&added->query, added->schema, added->sets, &olds.reader);
		remove_settled(added, olds.settled);
	}
	olds.equal = false;
	lateral_query_run(&added->query, added->sets, &olds.reader);
}

/* Decide */

/* Connected: the group of a new set is that of an old representative. */
static void
connect_old(AddedRows *added, SetNumber set, uint32 old)
{
	uint32		row = row_sets_set(&added->rows, set).representative;
	uint32		other;

	Assert(row < added->rows.ids.n && old < added->olds.n);
	disk_array_get(&added->old_of_row, row, &other, sizeof(other));
	if (other == NO_OLD)
		disk_array_set(&added->old_of_row, row, &old, sizeof(old));
	else
		links_unite(&added->links, other, old);
}

/* Number the old representatives in the order of their ids, and give them to new sets. */
static void
join_representatives(AddedRows *added)
{
	RowIds	   *olds = &added->olds;
	TupleTableSlot *match;

	tuplesort_performsort(added->representatives.state);
	while ((match = row_sort_next(&added->representatives)) != NULL)
	{
		SetNumber	set = DatumGetInt64(match->tts_values[MATCH_SET]);

		if (olds->n == 0 ||
			!ids_equal(&added->rows.order, match->tts_values[MATCH_ID], row_ids_get(olds, olds->n - 1)))
		{
			row_ids_put(olds, match->tts_values[MATCH_ID], false);
			links_add(&added->links);
		}
		if (added->rule == RULE_CONNECTED)
			connect_old(added, set, olds->n - 1);
		else
			row_sets_offer(&added->rows, set, olds->n - 1, DatumGetFloat8(match->tts_values[MATCH_SIMILARITY]));
	}
	row_sort_end(&added->representatives);
}

static void
decide(AddedRows *added)
{
	uint32		none = NO_OLD;

	row_ids_begin(&added->olds, added->rows.ids.type, added->rows.memory / 16);
	links_begin(&added->links, added->rows.memory / 32);
	disk_array_begin(&added->old_of_row, sizeof(uint32), added->rows.memory / 32);
	if (added->rule == RULE_CONNECTED)
	{
		for (uint32 row = 0; row < added->rows.ids.n; row++)
			disk_array_append(&added->old_of_row, &none, 1);
		row_sets_decide(&added->rows, added->rule);
		join_representatives(added);
	}
	else
	{
		join_representatives(added);
		row_sets_decide(&added->rows, added->rule);
	}
}

/* Rows of the result */

static void
put_row(ReturnSetInfo *rsinfo, Datum id, Datum representative, double similarity)
{
	/* on 32 bits the last one is a pointer to what is copied below */
	Datum		values[] = {id, representative, Float8GetDatumFast(similarity)};
	bool		nulls[] = {false, false, isnan(similarity)};

	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
}

/* Put a new row. */
static void
put_new(AddedRows *added, ReturnSetInfo *rsinfo, uint32 row)
{
	SetMember	member = row_sets_member(&added->rows, row);
	uint32		old = member.outside >= 0 ? (uint32) member.outside : NO_OLD;
	double		similarity = member.similarity;

	if (added->rule == RULE_CONNECTED)
		disk_array_get(&added->old_of_row, member.representative, &old, sizeof(old));
	if (old == NO_OLD && member.representative == row)
		similarity = get_float8_nan();
	put_row(rsinfo, row_ids_get(&added->rows.ids, row),
			old == NO_OLD ? row_ids_get(&added->rows.ids, member.representative) :
			row_ids_get(&added->olds, links_root(&added->links, old)), similarity);
}

/* Put an old representative that is in the group of another one now; connected. */
static void
put_renamed(AddedRows *added, ReturnSetInfo *rsinfo, uint32 old)
{
	uint32		root = links_root(&added->links, old);

	if (root != old)
		put_row(rsinfo, row_ids_get(&added->olds, old), row_ids_get(&added->olds, root),
				get_float8_nan());
}

/* An old row that may change to a new representative */
typedef struct ChangedRow
{
	Datum		id;				/* a copy */
	double		similarity;		/* the best so far */
	uint32		representative; /* new row */
	bool		changed;
} ChangedRow;

/* Compare an old row's representative with a new one that it is near to. */
static void
compare_new(AddedRows *added, ChangedRow *row, TupleTableSlot *match)
{
	SetMember	set = row_sets_set(&added->rows, DatumGetInt64(match->tts_values[MATCH_SET]));
	double		similarity = DatumGetFloat8(match->tts_values[MATCH_SIMILARITY]);

	if (set.outside >= 0 || set.representative != set.first ||
		similarity < row->similarity ||
		(similarity == row->similarity && (!row->changed || set.first >= row->representative)))
		return;
	row->similarity = similarity;
	row->representative = set.first;
	row->changed = true;
}

/* Put the old rows that change to a new representative, which is nearer; greedy. */
static void
put_changed(AddedRows *added, ReturnSetInfo *rsinfo)
{
	ChangedRow	row = {0};
	bool		any = false;
	TupleTableSlot *match;

	tuplesort_performsort(added->members.state);
	do
	{
		match = row_sort_next(&added->members);
		if (any && match != NULL && ids_equal(&added->rows.order, row.id, match->tts_values[MATCH_ID]))
		{
			compare_new(added, &row, match);
			continue;
		}
		if (row.changed)
			put_row(rsinfo, row.id, row_ids_get(&added->rows.ids, row.representative),
					row.similarity);
		if (match == NULL)
			break;
		if (any && !added->rows.ids.byval)
			pfree(DatumGetPointer(row.id));
		row.id = datumCopy(match->tts_values[MATCH_ID], added->rows.ids.byval,
						   added->rows.ids.len);
		row.similarity = DatumGetFloat8(match->tts_values[MATCH_OWN]);
		row.changed = false;
		any = true;
		compare_new(added, &row, match);
	} while (true);
	row_sort_end(&added->members);
}

/* Put the rows of the result. */
static void
put_rows(AddedRows *added, ReturnSetInfo *rsinfo)
{
	MemoryContext per_row = AllocSetContextCreate(CurrentMemoryContext, "row of groups",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(per_row);

	for (uint32 row = 0; row < added->rows.ids.n; row++)
	{
		CHECK_FOR_INTERRUPTS();
		put_new(added, rsinfo, row);
		MemoryContextReset(per_row);
	}
	for (uint32 i = 0; added->rule == RULE_CONNECTED && i < added->olds.n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		put_renamed(added, rsinfo, i);
		MemoryContextReset(per_row);
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(per_row);
	put_changed(added, rsinfo);
}

/* near_duplicate_groups_add([id_type anyelement,] new_rows, old_rows, threshold, measure, rule) */
Datum
near_duplicate_groups_add(PG_FUNCTION_ARGS)
{
	AddedRows	added = {
		.rows = {.begun = begin_sets,.new_set = put_set},
		.schema = get_func_namespace(fcinfo->flinfo->fn_oid)
	};
	GroupArguments arguments;

	if (!groups_begin(fcinfo, 5, &arguments))
		return (Datum) 0;
	added.rule = arguments.rule;
	added.text = text_to_cstring(PG_GETARG_TEXT_PP(arguments.first + 1));
	row_sets_begin(&added.rows, fcinfo, arguments.first + 2, arguments.id_type);
	row_sets_read(&added.rows, text_to_cstring(PG_GETARG_TEXT_PP(arguments.first)));
	look_up(&added);
	tuplestore_end(added.sets);
	decide(&added);
	put_rows(&added, (ReturnSetInfo *) fcinfo->resultinfo);
	disk_array_free(&added.links);
	disk_array_free(&added.old_of_row);
	row_ids_end(&added.olds);
	row_sets_end(&added.rows);
	return (Datum) 0;
}
