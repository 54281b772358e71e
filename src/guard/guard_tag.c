/*
 * guard_tag.c
 *		Mode tag: stores the key of a near-duplicate in a column of the new
 *		row.
 *
 * A tag is data of the table, and is written whatever the user may read.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/sysattr.h"
#include "access/table.h"
#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "base/call.h"
#include "base/compat.h"
#include "guard/guard.h"

/* The column */

/*
 * True if a column of this type and typmod can store all values of another
 * column, unchanged.
 */
static bool
fits(Form_pg_attribute att, Oid type, int32 typmod)
{
	return att->atttypid == type &&
		(typmod == -1 || typmod == att->atttypmod ||
		 (type == VARCHAROID && att->atttypmod != -1 &&
		  typmod > att->atttypmod));
}

/*
 * Raise an error unless a column of this type can store all keys of the table,
 * unchanged.  `key` is the primary key; NULL = none.
 */
static void
require_fits(Relation rel, Relation key, Oid type, int32 typmod)
{
	Form_pg_attribute att;

	if (key == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("neardup_guard has no key to tag a row with"),
				 errdetail("Table \"%s\" has no primary key.",
						   RelationGetRelationName(rel)),
				 errhint("Give it one, or use mode skip or warn."),
				 errtable(rel)));
	att = TupleDescAttr(RelationGetDescr(rel),
						key->rd_index->indkey.values[0] - 1);
	if (type != TEXTOID &&
		(key->rd_index->indnkeyatts > 1 || !fits(att, type, typmod)))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("a tag column of type %s cannot take the primary key of table \"%s\"",
						format_type_with_typemod(type, typmod),
						RelationGetRelationName(rel)),
				 errhint("Make the column of type text, or of the type of the key if that is one column."),
				 errtable(rel)));
}

/*
 * Return why a column cannot have tags, to follow "the tag column is"; NULL if
 * it can.
 */
static const char *
tag_is_also(const Guard *guard, Relation rel, Relation key, AttrNumber attno)
{
	int			tag = attno - FirstLowInvalidHeapAttributeNumber;

	if (TupleDescAttr(RelationGetDescr(rel), attno - 1)->attgenerated)
		return "a generated column";
	for (int i = 0; key != NULL && i < key->rd_index->indnkeyatts; i++)
		if (key->rd_index->indkey.values[i] == attno)
			return "in its primary key";
	if (bms_is_member(tag, guard->key.inputs))
		return "what its signatures are made from";

	/* the predicate would be checked with the row's former tag */
	if (bms_is_member(tag, guard->predicate.inputs))
		return "in the predicate of the guard's index";
	if (bms_is_member(tag, guard->condition.inputs))
		return "in the guard's condition";
	for (int i = 0; i < guard->nscope; i++)
		if (bms_is_member(tag, guard->columns[i].inputs))
			return "in the guard's scope";
	return NULL;
}

AttrNumber
guard_tag_column(const Guard *guard, Relation rel, const char *column)
{
	AttrNumber	attno = get_attnum(RelationGetRelid(rel), column);
	Relation	key = guard_open_key(rel);
	Form_pg_attribute att;
	const char *also;

	if (attno <= 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("table \"%s\" has no column \"%s\" to tag rows in",
						RelationGetRelationName(rel), column),
				 errhint("The fourth argument of neardup_guard is a column for the other row's primary key."),
				 errtable(rel)));
	also = tag_is_also(guard, rel, key, attno);
	if (also != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("tag column \"%s\" of table \"%s\" is %s",
						column, RelationGetRelationName(rel), also),
				 errhint("The fourth argument of neardup_guard is a column for the other row's primary key, which is written to and not read."),
				 errtablecol(rel, attno)));
	att = TupleDescAttr(RelationGetDescr(rel), attno - 1);
	require_fits(rel, key, att->atttypid, att->atttypmod);
	index_close(key, AccessShareLock);
	return attno;
}

/* The tag */

/*
 * Return the key of a row as the type of its only column, or as text.  The row
 * must have a key.  Raises an error for another type.  The result may point
 * into the row.
 */
static Datum
key_as(Relation rel, TupleTableSlot *row, Oid type)
{
	Relation	key = guard_open_key(rel);
	AttrNumber	attno;
	bool		direct;
	bool		isnull;

	require_fits(rel, key, type, -1);
	attno = key->rd_index->indkey.values[0];
	direct = key->rd_index->indnkeyatts == 1 &&
		TupleDescAttr(RelationGetDescr(rel), attno - 1)->atttypid == type;
	index_close(key, AccessShareLock);
	return direct ? slot_getattr(row, attno, &isnull) :
		CStringGetTextDatum(guard_key_text(rel, row));
}

/*
 * Return the representative of a near-duplicate: its own tag, so that tags
 * form no chains, or its key if it has none.  The result may point into the
 * match.
 */
static Datum
representative(Form_pg_attribute tag, const GuardMatch *match)
{
	Relation	other = table_open(match->table->relid, NoLock);
	bool		isnull;
	Datum		value = slot_getattr(match->table->slot,
									 get_attnum(match->table->relid,
												NameStr(tag->attname)),
									 &isnull);

	if (isnull)
		value = key_as(other, match->table->slot, tag->atttypid);
	table_close(other, NoLock);
	return value;
}

/*
 * True if two values of the tag column are equal by their type's operator; by
 * their bytes, if it has none.
 */
static bool
tags_equal(Form_pg_attribute tag, Datum a, Datum b)
{
	TypeCacheEntry *type = lookup_type_cache(tag->atttypid,
											 TYPECACHE_EQ_OPR_FINFO);

	return OidIsValid(type->eq_opr) ?
		DatumGetBool(FunctionCall2Coll(&type->eq_opr_finfo, tag->attcollation,
									   a, b)) :
		same_value(a, b, tag->attbyval, tag->attlen);
}

/* True if a value of the tag column is the key of a row, which may be NULL. */
static bool
is_key_of(Relation rel, TupleTableSlot *row, Form_pg_attribute tag,
		  Datum value)
{
	return row != NULL && guard_has_key(rel, row) &&
		tags_equal(tag, value, key_as(rel, row, tag->atttypid));
}

HeapTuple
guard_tag(const Guard *guard, const TriggerData *trigdata,
		  const GuardMatch *match)
{
	bool		update = TRIGGER_FIRED_BY_UPDATE(trigdata->tg_event);
	Relation	rel = trigdata->tg_relation;
	TupleTableSlot *row = update ? trigdata->tg_newslot :
	trigdata->tg_trigslot;
	HeapTuple	tuple = update ? trigdata->tg_newtuple :
	trigdata->tg_trigtuple;
	int			column = guard->tag;
	Form_pg_attribute tag = TupleDescAttr(RelationGetDescr(rel), column - 1);
	Relation	former_rel = rel;
	TupleTableSlot *former = update ? trigdata->tg_trigslot :
	guard_open_former(trigdata, &former_rel);
	Datum		value = (Datum) 0;
	bool		isnull = true;

	Assert(guard->mode == GUARD_TAG && column > 0);
	if (match != NULL)
	{
		value = representative(tag, match);
		isnull = is_key_of(rel, row, tag, value) ||
			is_key_of(former_rel, former, tag, value);
	}
	tuple = heap_modify_tuple_by_cols(tuple, RelationGetDescr(rel), 1, &column,
									  &value, &isnull);
	if (!update)
		guard_close_former(former_rel, former);
	return tuple;
}
