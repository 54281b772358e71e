/*
 * guard_key.c
 *		Primary keys of rows: their order, their text, and who may read them.
 *
 * Messages name a row by its primary key, but only to users who may read it.
 * As with unique constraints, the inserter need not have that right.
 * BuildIndexValueDescription() decides, and refuses under row-level security.
 * A user who may not read the row does not learn the similarity either:
 * whoever knows most of a hidden text could guess the rest by it.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/sysattr.h"
#include "access/table.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rls.h"
#include "utils/typcache.h"

#include "guard/guard.h"

Relation
guard_open_key(Relation rel)
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

/* Read the values of the key from a row; return their number. */
static int
key_values(Relation key, TupleTableSlot *row, Datum *values, bool *isnull)
{
	int			n = key->rd_index->indnkeyatts;

	Assert(key->rd_index->indisprimary && n > 0 && n <= INDEX_MAX_KEYS);
	for (int i = 0; i < n; i++)
		values[i] = slot_getattr(row, key->rd_index->indkey.values[i],
								 &isnull[i]);
	return n;
}

/*
 * Return the comparison function of a type, in the type cache, or NULL.  The
 * type is asked, since the key's operator class need not be for btree: a key
 * WITHOUT OVERLAPS is a GiST index.
 */
static FmgrInfo *
comparison_of(Oid type)
{
	TypeCacheEntry *entry = lookup_type_cache(type, TYPECACHE_CMP_PROC_FINFO);

	return OidIsValid(entry->cmp_proc) ? &entry->cmp_proc_finfo : NULL;
}

bool
guard_key_compare(Relation rel, TupleTableSlot *a, TupleTableSlot *b,
				  int *order)
{
	Relation	key = guard_open_key(rel);
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

		compare = comparison_of(TupleDescAttr(RelationGetDescr(rel),
											  attno - 1)->atttypid);
		if (compare == NULL)
			break;
		*order =
			DatumGetInt32(FunctionCall2Coll(compare, key->rd_indcollation[i],
											values[0][i], values[1][i]));
	}
	index_close(key, AccessShareLock);
	return compare != NULL;
}

bool
guard_has_key(Relation rel, TupleTableSlot *row)
{
	Relation	key = guard_open_key(rel);
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

/* Return the key's values as the text of a row value: (17,en). */
static char *
row_text(Relation key, TupleTableSlot *row, Datum *values, bool *isnull)
{
	int			n = key->rd_index->indnkeyatts;
	TupleDesc	desc = CreateTemplateTupleDesc(n);

	for (int i = 0; i < n; i++)
		TupleDescCopyEntry(desc, i + 1, row->tts_tupleDescriptor,
						   key->rd_index->indkey.values[i]);
	TupleDescFinalize(desc);
	return OidOutputFunctionCall(F_RECORD_OUT,
								 HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc),
																   values,
																   isnull)));
}

char *
guard_key_text(Relation rel, TupleTableSlot *row)
{
	Relation	key = guard_open_key(rel);
	Datum		values[INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS];
	Oid			output;
	bool		varlena;
	char	   *shown;

	Assert(key != NULL);
	if (key_values(key, row, values, isnull) > 1)
		shown = row_text(key, row, values, isnull);
	else
	{
		getTypeOutputInfo(TupleDescAttr(RelationGetDescr(rel),
										key->rd_index->indkey.values[0] -
										1)->atttypid,
						  &output, &varlena);
		shown = OidOutputFunctionCall(output, values[0]);
	}
	index_close(key, AccessShareLock);
	return shown;
}

/* Rights */

/*
 * Return the key of a row as "(id)=(17)".  NULL if there is no primary key,
 * the row does not have all of it, or the user may not read it.
 */
static char *
describe_key(Relation rel, TupleTableSlot *row)
{
	Relation	key = guard_open_key(rel);
	Datum		values[INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS];
	char	   *description = NULL;
	bool		complete = true;

	if (key == NULL)
		return NULL;
	for (int i = key_values(key, row, values, isnull) - 1; i >= 0; i--)
		complete = complete && !isnull[i];
	if (complete)
		description = BuildIndexValueDescription(key, values, isnull);
	index_close(key, AccessShareLock);
	return description;
}

/*
 * True if the user may read a value of all rows of a table: the column, or the
 * columns of the expression.
 */
static bool
may_read(Relation rel, const GuardValue *value)
{
	Oid			relid = RelationGetRelid(rel);
	int			member = -1;

	if (check_enable_rls(relid, InvalidOid, true) == RLS_ENABLED)
		return false;
	if (pg_class_aclcheck(relid, GetUserId(), ACL_SELECT) == ACLCHECK_OK)
		return true;
	while ((member = bms_next_member(value->inputs, member)) >= 0)
		if (pg_attribute_aclcheck(relid,
								  member + FirstLowInvalidHeapAttributeNumber,
								  GetUserId(), ACL_SELECT) != ACLCHECK_OK)
			return false;
	/* an expression over the whole row has no list of inputs */
	return value->inputs != NULL;
}

/*
 * True if the user may know the similarity of a match in this table: if he may
 * read its signature, and its key if there is one.
 */
static bool
may_compare(Relation rel, const GuardMatch *match, const char *key)
{
	Relation	index;

	if (!may_read(rel, &match->table->key))
		return false;
	index = guard_open_key(rel);
	if (index == NULL)
		return true;
	index_close(index, AccessShareLock);
	return key != NULL;
}

GuardReadable
guard_readable(Relation rel, TupleTableSlot *row, const GuardMatch *match,
			   bool as_text)
{
	Relation	other = table_open(match->table->relid, NoLock);
	TupleTableSlot *stored = match->table->slot;
	GuardReadable readable = {
		.key = describe_key(other, stored),
		.new_key = describe_key(rel, row)
	};

	readable.similarity = may_compare(other, match, readable.key);
	if (as_text && readable.key != NULL)
		readable.key = guard_key_text(other, stored);
	if (as_text && readable.new_key != NULL)
		readable.new_key = guard_key_text(rel, row);
	table_close(other, NoLock);
	return readable;
}
