/*
 * guard_key.c
 *		The primary key of a row, which names it, and tags with keys.
 *
 * A tag is the key of another row, stored in a column of the new one.  It is
 * data of the table, which its owner has asked for: it is written whoever
 * inserts, while errors tell keys only to those who may read them.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/sysattr.h"
#include "access/table.h"
#include "catalog/pg_type.h"
#include "funcapi.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "base/call.h"
#include "base/compat.h"
#include "guard/guard.h"

Relation
guard_open_primary_key(Relation rel)
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

	Assert(key->rd_index->indisprimary && n > 0 && n <= INDEX_MAX_KEYS);
	for (int i = 0; i < n; i++)
		values[i] = slot_getattr(row, key->rd_index->indkey.values[i], &isnull[i]);
	return n;
}

/*
 * How values of a type compare; NULL if they cannot be put in order.  The index does not
 * tell: from version 18 on, that of a key WITHOUT OVERLAPS is a GiST one.
 */
static FmgrInfo *
comparison_of(Oid type)
{
	TypeCacheEntry *entry = lookup_type_cache(type, TYPECACHE_CMP_PROC_FINFO);

	return OidIsValid(entry->cmp_proc) ? &entry->cmp_proc_finfo : NULL;
}

bool
guard_key_compare(Relation rel, TupleTableSlot *a, TupleTableSlot *b, int *order)
{
	Relation	key = guard_open_primary_key(rel);
	Datum		values[2][INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS];
	FmgrInfo   *compare = NULL;
	int			n;

	*order = 0;
	if (key == NULL)
		return false;
	n = key_values(key, a, values[0], isnull);
	key_values(key, b, values[1], isnull);
	for (int i = 0; *order == 0 && i < n; i++)
	{
		AttrNumber	attno = key->rd_index->indkey.values[i];

		compare = comparison_of(TupleDescAttr(RelationGetDescr(rel), attno - 1)->atttypid);
		if (compare == NULL)
			break;
		*order = DatumGetInt32(FunctionCall2Coll(compare, key->rd_indcollation[i],
												 values[0][i], values[1][i]));
	}
	index_close(key, AccessShareLock);
	return compare != NULL;
}

char *
guard_describe_key(Relation rel, TupleTableSlot *row)
{
	Relation	key = guard_open_primary_key(rel);
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

bool
guard_has_key(Relation rel, TupleTableSlot *row)
{
	Relation	key = guard_open_primary_key(rel);
	Datum		values[INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS];
	bool		complete = key != NULL;

	if (key == NULL)
		return false;
	for (int i = key_values(key, row, values, isnull) - 1; i >= 0; i--)
		complete = complete && !isnull[i];
	index_close(key, AccessShareLock);
	return complete;
}

/* Several values as the text of a row: (17,en). */
static char *
row_text(Relation key, TupleTableSlot *row, const Datum *values, const bool *isnull)
{
	int			n = key->rd_index->indnkeyatts;
	TupleDesc	desc = CreateTemplateTupleDesc(n);
	HeapTuple	tuple;

	for (int i = 0; i < n; i++)
		TupleDescCopyEntry(desc, i + 1, row->tts_tupleDescriptor,
						   key->rd_index->indkey.values[i]);
	TupleDescFinalize(desc);
	tuple = heap_form_tuple(BlessTupleDesc(desc), unconstify(Datum *, values),
							unconstify(bool *, isnull));
	return OidOutputFunctionCall(F_RECORD_OUT, HeapTupleGetDatum(tuple));
}

/*
 * The key of a row, which has one, as a value of that type: text, or its own if it is
 * one column.  May point into the row.
 */
static Datum
key_as(Relation rel, TupleTableSlot *row, Oid type)
{
	Relation	key = guard_open_primary_key(rel);
	Datum		values[INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS];
	Oid			keytype;
	Datum		value;

	Assert(key != NULL);
	Assert(type == TEXTOID || key->rd_index->indnkeyatts == 1);
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

char *
guard_key_text(Relation rel, TupleTableSlot *row)
{
	if (!guard_has_key(rel, row) || guard_describe_key(rel, row) == NULL)
		return NULL;
	return TextDatumGetCString(key_as(rel, row, TEXTOID));
}

/* Tags */

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
	return key_as(rel, row, type);
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
