/*
 * guard_tag.c
 *		The key of another row, stored in a column of the new one.
 *
 * A tag is data of the table, which its owner has asked for: it is written
 * whoever inserts, while errors tell keys only to those who may read them.
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

#include "base/compat.h"
#include "base/values.h"
#include "guard/guard.h"

/*
 * True if a column has room for all keys of that type: what is put into a tuple is not
 * made to fit.
 */
static bool
has_room(Oid type, int32 typmod, int32 of_key)
{
	return typmod == -1 || typmod == of_key ||
		(type == VARCHAROID && of_key != -1 && typmod > of_key);
}

/* Raise an error unless a column of that type can take keys of the table. */
static void
require_tag_fits(Relation rel, Relation key, Oid type, int32 typmod)
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
	att = TupleDescAttr(RelationGetDescr(rel), key->rd_index->indkey.values[0] - 1);
	if (type == TEXTOID || (key->rd_index->indnkeyatts == 1 && att->atttypid == type &&
		 has_room(type, typmod, att->atttypmod)))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg("a tag column of type %s cannot take the primary key of table \"%s\"",
					format_type_with_typemod(type, typmod), RelationGetRelationName(rel)),
			 errhint("Make the column of type text, or of the type of the key if that is one column."),
			 errtable(rel)));
}

/* Raise an error unless a column of the table can store keys of the table. */
static void
check_tag(Relation rel, AttrNumber tag)
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
	key = guard_open_primary_key(rel);
	require_tag_fits(rel, key, att->atttypid, att->atttypmod);
	for (int i = 0; i < key->rd_index->indnkeyatts; i++)
		if (key->rd_index->indkey.values[i] == tag)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("tag column \"%s\" of table \"%s\" is in its primary key",
							NameStr(att->attname), RelationGetRelationName(rel)),
					 errhint("The fourth argument of neardup_guard is another column, which takes the key of the row that is there already."),
					 errtablecol(rel, tag)));
	index_close(key, AccessShareLock);
}

AttrNumber
guard_tag_column(Relation rel, const char *column)
{
	AttrNumber	attno = get_attnum(RelationGetRelid(rel), column);

	if (attno <= 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("table \"%s\" has no column \"%s\" to tag rows in",
						RelationGetRelationName(rel), column),
				 errhint("The fourth argument of neardup_guard is a column for the other row's primary key."),
				 errtable(rel)));
	check_tag(rel, attno);
	return attno;
}

/*
 * What a tag would change besides: the end of "the tag column is", or NULL.  An index's
 * predicate is judged with the tag that a row has before it gets another one.
 */
static const char *
tag_is_also(const Guard *guard)
{
	int			tag = guard->tag - FirstLowInvalidHeapAttributeNumber;

	if (bms_is_member(tag, guard->key.inputs))
		return "what its signatures are made from";
	if (bms_is_member(tag, guard->predicate.inputs))
		return "in the predicate of the guard's index";
	for (int i = 0; i < guard->nscope; i++)
		if (bms_is_member(tag, guard->columns[i].inputs))
			return "in the guard's scope";
	return NULL;
}

void
guard_require_tag_apart(const Guard *guard, Relation rel)
{
	const char *also = tag_is_also(guard);

	Assert(guard->before && guard->tag > 0);

	if (also == NULL)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("tag column \"%s\" of table \"%s\" is %s",
					get_attname(RelationGetRelid(rel), guard->tag, false),
					RelationGetRelationName(rel), also),
			 errhint("The fourth argument of neardup_guard is a column of its own, which takes the other row's primary key."),
			 errtablecol(rel, guard->tag)));
}

/* The key of a row for a column of that type; may point into the row. */
static Datum
tag_value(Relation rel, TupleTableSlot *row, Oid type)
{
	Relation	key = guard_open_primary_key(rel);

	require_tag_fits(rel, key, type, -1);
	index_close(key, AccessShareLock);
	return guard_key_as(rel, row, type);
}

/*
 * The row that stands for the match: the one that it is itself tagged with, so
 * that tags make no chains, or else the match.  May point into the match.
 */
static Datum
representative(Form_pg_attribute tag, const GuardMatch *match)
{
	Relation	other = table_open(match->table->relid, NoLock);
	bool		isnull;
	Datum		value = slot_getattr(match->table->slot,
									 get_attnum(match->table->relid, NameStr(tag->attname)),
									 &isnull);

	if (isnull)
		value = tag_value(other, match->table->slot, tag->atttypid);
	table_close(other, NoLock);
	return value;
}

/* True if values of the tag column are equal: to their type, as 1 and 1.0 may be. */
static bool
tags_equal(Form_pg_attribute tag, Datum a, Datum b)
{
	TypeCacheEntry *type = lookup_type_cache(tag->atttypid, TYPECACHE_EQ_OPR_FINFO);

	return OidIsValid(type->eq_opr) ?
		DatumGetBool(FunctionCall2Coll(&type->eq_opr_finfo, tag->attcollation, a, b)) :
		same_value(a, b, tag->attbyval, tag->attlen);
}

/* True if a value of the tag column is the key of that row. */
static bool
is_key_of(Relation rel, TupleTableSlot *row, Form_pg_attribute tag, Datum value)
{
	return guard_has_key(rel, row) &&
		tags_equal(tag, value, tag_value(rel, row, tag->atttypid));
}

/*
 * The tuple, which is that in the slot, with the key of the match's
 * representative in its tag column, or NULL there if match is NULL or
 * represented by this very row, by the key that it has or had before (NULL: there
 * was no such row), in that table; in the current memory context.
 */
HeapTuple
guard_tag(const Guard *guard, Relation rel, HeapTuple tuple,
		  TupleTableSlot *row, Relation before_rel, TupleTableSlot *before,
		  const GuardMatch *match)
{
	int			column = guard->tag;
	Form_pg_attribute tag = TupleDescAttr(RelationGetDescr(rel), column - 1);
	Datum		value = (Datum) 0;
	bool		isnull = true;

	Assert(guard->mode == GUARD_TAG && column > 0);
	Assert((before == NULL) == (before_rel == NULL) || before == NULL);
	if (match != NULL)
	{
		value = representative(tag, match);
		isnull = is_key_of(rel, row, tag, value) ||
			(before != NULL && is_key_of(before_rel, before, tag, value));
	}
	return heap_modify_tuple_by_cols(tuple, RelationGetDescr(rel), 1, &column,
									 &value, &isnull);
}
