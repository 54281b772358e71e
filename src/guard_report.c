/*
 * guard_report.c
 *		How the guard tells of the row that is already there.
 *
 * That row is named by its primary key, and to those only who may read it:
 * the inserter need not have the right to, as with unique constraints.
 * BuildIndexValueDescription() decides, and says no where row-level security
 * is in force.  A tag is another matter: it is data of the table, which its
 * owner has asked for.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/guard_report.c
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/pg_type.h"
#include "common/shortest_dec.h"
#include "funcapi.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

#include "compat.h"
#include "guard.h"

/* The primary key of a table, opened, or NULL. */
static Relation
open_primary_key(Relation rel)
{
	List	   *indexes = RelationGetIndexList(rel);
	Relation	found = NULL;
	ListCell   *lc;

	foreach(lc, indexes)
	{
		Relation	index = index_open(lfirst_oid(lc), AccessShareLock);

		if (index->rd_index->indisprimary)
		{
			found = index;
			break;
		}
		index_close(index, AccessShareLock);
	}
	list_free(indexes);
	return found;
}

/* The key's values in a row, and their number. */
static int
key_values(Relation key, TupleTableSlot *row, Datum *values, bool *isnull)
{
	int			n = key->rd_index->indnkeyatts;

	for (int i = 0; i < n; i++)
		values[i] = slot_getattr(row, key->rd_index->indkey.values[i],
								 &isnull[i]);
	return n;
}

/* "(id)=(17)", or NULL if there is no primary key or it may not be shown. */
static char *
describe_key(Relation rel, TupleTableSlot *row)
{
	Relation	key = open_primary_key(rel);
	Datum		values[INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS];
	char	   *description;

	if (key == NULL)
		return NULL;
	key_values(key, row, values, isnull);
	description = BuildIndexValueDescription(key, values, isnull);
	index_close(key, AccessShareLock);
	return description;
}

static char *
describe_match(const Guard *guard, Relation rel, const GuardMatch *match)
{
	Relation	other = table_open(match->table->relid, NoLock);
	char	   *key = describe_key(other, match->table->slot);
	StringInfoData text;

	initStringInfo(&text);
	if (key != NULL)
		appendStringInfo(&text, "Row %s", key);
	else
		appendStringInfoString(&text, "A row");
	if (RelationGetRelid(other) != RelationGetRelid(rel))
		appendStringInfo(&text, " of partition \"%s\"",
						 RelationGetRelationName(other));
	appendStringInfo(&text, " is already there with similarity %s, the threshold is %s.",
					 double_to_shortest_decimal(match->similarity),
					 double_to_shortest_decimal(guard->threshold));
	table_close(other, NoLock);
	return text.data;
}

/* Raises EXCLUSION_VIOLATION, or a warning in that mode. */
void
guard_report(const Guard *guard, Relation rel, const Trigger *trigger,
			 const GuardMatch *match)
{
	int			elevel = guard->mode == GUARD_WARN ? WARNING : ERROR;
	AttrNumber	column = guard->tables[0].key.attno;

	ereport(elevel,
			(errcode(elevel == ERROR ? ERRCODE_EXCLUSION_VIOLATION : ERRCODE_WARNING),
			 elevel == ERROR ?
			 errmsg("near-duplicate row violates constraint \"%s\" of table \"%s\"",
					trigger->tgname, RelationGetRelationName(rel)) :
			 errmsg("near-duplicate row for trigger \"%s\" of table \"%s\"",
					trigger->tgname, RelationGetRelationName(rel)),
			 errdetail("%s", describe_match(guard, rel, match)),
			 /* errtableconstraint() would set the table once more */
			 column != InvalidAttrNumber ?
			 errtablecol(rel, column) : errtable(rel),
			 err_generic_string(PG_DIAG_CONSTRAINT_NAME, trigger->tgname)));
}

/* Several values as the text of a row: (17,en). */
static char *
row_text(Relation key, TupleTableSlot *row, const Datum *values,
		 const bool *isnull)
{
	int			n = key->rd_index->indnkeyatts;
	TupleDesc	desc = CreateTemplateTupleDesc(n);
	HeapTuple	tuple;

	for (int i = 0; i < n; i++)
		TupleDescCopyEntry(desc, i + 1, row->tts_tupleDescriptor,
						   key->rd_index->indkey.values[i]);
	tuple = heap_form_tuple(BlessTupleDesc(desc), unconstify(Datum *, values),
							unconstify(bool *, isnull));
	return OidOutputFunctionCall(F_RECORD_OUT, HeapTupleGetDatum(tuple));
}

/* Raises an error unless a column of that type can take keys of the table. */
static void
require_tag_fits(Relation rel, Relation key, Oid type)
{
	AttrNumber	attno;

	if (key == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("neardup_guard has no key to tag a row with"),
				 errdetail("Table \"%s\" has no primary key.",
						   RelationGetRelationName(rel)),
				 errtable(rel)));
	attno = key->rd_index->indkey.values[0];
	if (type == TEXTOID ||
		(key->rd_index->indnkeyatts == 1 &&
		 TupleDescAttr(RelationGetDescr(rel), attno - 1)->atttypid == type))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg("a tag column of type %s cannot take the primary key of table \"%s\"",
					format_type_be(type), RelationGetRelationName(rel)),
			 errhint("Make the column of type text, or of the type of the key if that is one column."),
			 errtable(rel)));
}

/*
 * Raises an error unless column tag of the table can be tagged with keys of
 * the table.
 */
void
guard_check_tag(Relation rel, AttrNumber tag)
{
	Form_pg_attribute att = TupleDescAttr(RelationGetDescr(rel), tag - 1);
	Relation	key;

	if (att->attgenerated)
		ereport(ERROR,
				(errcode(ERRCODE_GENERATED_ALWAYS),
				 errmsg("tag column \"%s\" of table \"%s\" is a generated column",
						NameStr(att->attname), RelationGetRelationName(rel)),
				 errhint("The fourth argument of neardup_guard is a column that can be written to."),
				 errtablecol(rel, tag)));
	key = open_primary_key(rel);
	require_tag_fits(rel, key, att->atttypid);
	index_close(key, AccessShareLock);
}

/* The key of a row for a column of that type; may point into the row. */
static Datum
tag_value(Relation rel, TupleTableSlot *row, Oid type)
{
	Relation	key = open_primary_key(rel);
	Datum		values[INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS];
	Oid			keytype;
	Datum		value;

	require_tag_fits(rel, key, type);
	keytype = TupleDescAttr(RelationGetDescr(rel),
							key->rd_index->indkey.values[0] - 1)->atttypid;
	if (key_values(key, row, values, isnull) > 1)
		value = CStringGetTextDatum(row_text(key, row, values, isnull));
	else if (keytype == type)
		value = values[0];
	else
	{
		Oid			output;
		bool		varlena;

		getTypeOutputInfo(keytype, &output, &varlena);
		value = CStringGetTextDatum(OidOutputFunctionCall(output, values[0]));
	}
	index_close(key, AccessShareLock);
	return value;
}

/*
 * The row with the key of the match in its tag column, or NULL there if match
 * is NULL; in the current memory context.
 */
HeapTuple
guard_tag(const Guard *guard, Relation rel, HeapTuple row,
		  const GuardMatch *match)
{
	int			column = guard->tag;
	Datum		value = (Datum) 0;
	bool		isnull = match == NULL;

	if (match != NULL)
	{
		Oid			type = TupleDescAttr(RelationGetDescr(rel), column - 1)->atttypid;
		Relation	other = table_open(match->table->relid, NoLock);

		value = tag_value(other, match->table->slot, type);
		table_close(other, NoLock);
	}
	return heap_modify_tuple_by_cols(row, RelationGetDescr(rel), 1, &column,
									 &value, &isnull);
}
