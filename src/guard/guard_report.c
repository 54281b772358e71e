/*
 * guard_report.c
 *		How the guard tells of the row that is already there.
 *
 * That row is named by its primary key, and to those only who may read it:
 * the inserter need not have the right to, as with unique constraints.
 * BuildIndexValueDescription() decides, and says no where row-level security
 * is in force.  The same goes for the new row's key.  A tag is another matter: it is data of the table, which its
 * owner has asked for.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/guard/guard_report.c
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/pg_type.h"
#include "common/shortest_dec.h"
#include "funcapi.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "base/compat.h"
#include "base/same_value.h"
#include "guard/guard.h"

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

/* See guard.h */
bool
guard_key_compare(Relation rel, TupleTableSlot *a, TupleTableSlot *b,
				  int *order)
{
	Relation	key = open_primary_key(rel);
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

/* True if a row has all of its primary key; a BEFORE trigger may come first. */
static bool
has_key(Relation rel, TupleTableSlot *row)
{
	Relation	key = open_primary_key(rel);
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

/*
 * True if one command of this transaction has put in both rows, which are as
 * they lie in the table.
 */
static bool
put_in_together(TupleTableSlot *a, TupleTableSlot *b)
{
	HeapTupleHeader first;
	HeapTupleHeader second;

	if (!TTS_IS_BUFFERTUPLE(a))
		return false;
	first = ExecFetchSlotHeapTuple(a, false, NULL)->t_data;
	second = ExecFetchSlotHeapTuple(b, false, NULL)->t_data;
	return TransactionIdIsCurrentTransactionId(HeapTupleHeaderGetXmin(first)) &&
		TransactionIdIsCurrentTransactionId(HeapTupleHeaderGetXmin(second)) &&
		HeapTupleHeaderGetCmin(first) == HeapTupleHeaderGetCmin(second);
}

/* See guard.h */
char *
guard_describe(const Guard *guard, Relation rel, TupleTableSlot *row,
			   const GuardMatch *match)
{
	Relation	other = table_open(match->table->relid, NoLock);
	char	   *key = describe_key(other, match->table->slot);
	char	   *new_key = has_key(rel, row) ? describe_key(rel, row) : NULL;
	bool		together = match->together ||
		(!guard->before && put_in_together(row, match->table->slot));
	StringInfoData text;

	initStringInfo(&text);
	if (key != NULL)
		appendStringInfo(&text, "Row %s", key);
	else
		appendStringInfoString(&text, "A row");
	if (together)
		appendStringInfoString(&text, " of the same statement");
	if (RelationGetRelid(other) != RelationGetRelid(rel))
		appendStringInfo(&text, together ? ", in partition \"%s\"," :
						 " of partition \"%s\"",
						 RelationGetRelationName(other));
	appendStringInfo(&text, together ? " has similarity %s" :
					 " is already there with similarity %s",
					 double_to_shortest_decimal(match->similarity));
	if (new_key != NULL)
		appendStringInfo(&text, " to row %s", new_key);
	appendStringInfo(&text, ", the threshold is %s.",
					 double_to_shortest_decimal(guard->threshold));
	if (key != NULL && match->others > 0)
		appendStringInfo(&text, " Others that are near to it: %d%s.",
						 match->others,
						 match->more || match->others >= GUARD_MOST_OTHERS ? " or more" : "");
	else if (key != NULL && match->more)
		appendStringInfoString(&text, " There may be others that are near to it.");
	table_close(other, NoLock);
	return text.data;
}

/* See guard.h */
void
guard_report(const Guard *guard, Relation rel, const Trigger *trigger,
			 const char *detail)
{
	int			elevel = guard->mode == GUARD_WARN ? WARNING : ERROR;
	AttrNumber	column = guard->own->key.attno;

	ereport(elevel,
			(errcode(elevel == ERROR ? ERRCODE_EXCLUSION_VIOLATION : ERRCODE_WARNING),
			 elevel == ERROR ?
			 errmsg("near-duplicate row violates constraint \"%s\" of table \"%s\"",
					trigger->tgname, RelationGetRelationName(rel)) :
			 errmsg("near-duplicate row for trigger \"%s\" of table \"%s\"",
					trigger->tgname, RelationGetRelationName(rel)),
			 errdetail("%s", detail),
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
	TupleDescFinalize(desc);
	tuple = heap_form_tuple(BlessTupleDesc(desc), unconstify(Datum *, values),
							unconstify(bool *, isnull));
	return OidOutputFunctionCall(F_RECORD_OUT, HeapTupleGetDatum(tuple));
}

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

/* Raises an error unless a column of that type can take keys of the table. */
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
	if (type == TEXTOID ||
		(key->rd_index->indnkeyatts == 1 && att->atttypid == type &&
		 has_room(type, typmod, att->atttypmod)))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg("a tag column of type %s cannot take the primary key of table \"%s\"",
					format_type_with_typemod(type, typmod), RelationGetRelationName(rel)),
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

/* The key of a row for a column of that type; may point into the row. */
static Datum
tag_value(Relation rel, TupleTableSlot *row, Oid type)
{
	Relation	key = open_primary_key(rel);
	Datum		values[INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS];
	Oid			keytype;
	Datum		value;

	require_tag_fits(rel, key, type, -1);
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

/* See guard.h */
char *
guard_key_text(Relation rel, TupleTableSlot *row)
{
	if (!has_key(rel, row) || describe_key(rel, row) == NULL)
		return NULL;
	return TextDatumGetCString(tag_value(rel, row, TEXTOID));
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
	return has_key(rel, row) &&
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

	if (match != NULL)
	{
		value = representative(tag, match);
		isnull = is_key_of(rel, row, tag, value) ||
			(before != NULL && is_key_of(before_rel, before, tag, value));
	}
	return heap_modify_tuple_by_cols(tuple, RelationGetDescr(rel), 1, &column,
									 &value, &isnull);
}
