/*
 * guard_key.c
 *		The primary key of a row, which names it.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "funcapi.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

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

Datum
guard_key_as(Relation rel, TupleTableSlot *row, Oid type)
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
	return TextDatumGetCString(guard_key_as(rel, row, TEXTOID));
}
