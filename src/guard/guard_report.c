/*
 * guard_report.c
 *		Keys of rows, tags with keys, errors and warnings, rows that are skipped.
 *
 * Messages name a row by its primary key, and only to users who may read it: the
 * inserter need not have the right to, as with unique constraints.
 * BuildIndexValueDescription() decides, and refuses under row-level security.
 * Where the key is withheld, so is the similarity, by which somebody who knows
 * most of a hidden text could guess the rest, and the partition.
 *
 * A tag is the key of another row, stored in a column of the new one.  It is data of
 * the table, and is written whichever user inserts.
 *
 * RETURNING does not return a row that a BEFORE trigger skips, nor can it return another
 * row instead.  So the session remembers skipped rows, until a guard in
 * mode skip checks a row of another statement.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/sysattr.h"
#include "access/table.h"
#include "catalog/pg_type.h"
#include "common/shortest_dec.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rls.h"
#include "utils/tuplestore.h"
#include "utils/typcache.h"

#include "base/call.h"
#include "base/compat.h"
#include "base/memory.h"
#include "guard/guard.h"
#include "methods/method.h"
#include "signature/sql/signature_query.h"

PG_FUNCTION_INFO_V1(neardup_guard_skipped);

/* The primary key */

/* Open the primary key of a table with AccessShareLock; NULL if there is none. */
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

/* Get the values of the key in a row; return their number. */
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
 * Return the comparison of a type, or NULL if it has no order.  The index may not have it:
 * from version 18 on, that of a key WITHOUT OVERLAPS is a GiST index.
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

/* Return "(id)=(17)"; NULL if there is no primary key or the user may not read it. */
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

/* True if a row has all of its primary key; before other BEFORE triggers it may not. */
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
 * True if the user may read the column, or the expression's columns, of all rows of a
 * table.
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
		if (pg_attribute_aclcheck(relid, member + FirstLowInvalidHeapAttributeNumber,
								  GetUserId(), ACL_SELECT) != ACLCHECK_OK)
			return false;
	/* an expression over the whole row has no inputs */
	return value->inputs != NULL;
}

/*
 * True if the user may know how similar the match is: may read its signature, and its
 * key if there is one.
 */
static bool
may_compare(Relation rel, const GuardMatch *match)
{
	Relation	key;

	if (!may_read(rel, &match->table->key))
		return false;
	key = open_primary_key(rel);
	if (key == NULL)
		return true;
	index_close(key, AccessShareLock);
	return describe_key(rel, match->table->slot) != NULL;
}

/* Return several values as the text of a row: (17,en). */
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

/* Raise an error unless a column of that type can store all keys of the table, unchanged. */
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
							(typmod == -1 || typmod == att->atttypmod ||
							 (type == VARCHAROID && att->atttypmod != -1 && typmod > att->atttypmod))))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg("a tag column of type %s cannot take the primary key of table \"%s\"",
					format_type_with_typemod(type, typmod), RelationGetRelationName(rel)),
			 errhint("Make the column of type text, or of the type of the key if that is one column."),
			 errtable(rel)));
}

/*
 * Return the key of a row, which has one, as text, or as the type of its only column; an
 * error for another type.  May point into the row.
 */
static Datum
key_as(Relation rel, TupleTableSlot *row, Oid type)
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

/* Return the key of a row as text; NULL if it has none yet, or the user may not read it. */
static char *
key_text(Relation rel, TupleTableSlot *row)
{
	if (!has_key(rel, row) || describe_key(rel, row) == NULL)
		return NULL;
	return TextDatumGetCString(key_as(rel, row, TEXTOID));
}

/* Tags */

/* Return why a column cannot have tags, as the end of "the tag column is"; NULL if it can. */
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

	/*
	 * the predicate would be checked with the tag that the row had before
	 */
	if (bms_is_member(tag, guard->predicate.inputs))
		return "in the predicate of the guard's index";
	for (int i = 0; i < guard->nscope; i++)
		if (bms_is_member(tag, guard->columns[i].inputs))
			return "in the guard's scope";
	return NULL;
}

AttrNumber
guard_tag_column(const Guard *guard, Relation rel, const char *column)
{
	AttrNumber	attno = get_attnum(RelationGetRelid(rel), column);
	Relation	key = open_primary_key(rel);
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
	require_tag_fits(rel, key, att->atttypid, att->atttypmod);
	index_close(key, AccessShareLock);
	return attno;
}

/*
 * Return the representative of a near-duplicate: its own tag, so that tags make no
 * chains, or else its key.  May point into the match.
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
		value = key_as(other, match->table->slot, tag->atttypid);
	table_close(other, NoLock);
	return value;
}

/* True if values of the tag column are equal by the operator of its type. */
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
		tags_equal(tag, value, key_as(rel, row, tag->atttypid));
}

/*
 * Return a copy of the tuple, that of the slot, with a tag: the representative of the
 * match, or null if match is NULL or the representative is this very row, by its key or
 * that of its version before (which may be NULL) in before_rel.
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

/* Errors and warnings */

/*
 * True if one command has inserted both rows: the new one, in the table or in a transition
 * table of the running statement, and another one.
 */
static bool
inserted_together(TupleTableSlot *row, TupleTableSlot *other)
{
	CommandId	command = guard_current_statement().command;

	if (!guard_is_own(other))
		return false;
	if (TTS_IS_BUFFERTUPLE(row))
		command = guard_is_own(row) ? guard_own_command(row) : InvalidCommandId;
	return guard_own_command(other) == command;
}

char *
guard_describe(const Guard *guard, Relation rel, TupleTableSlot *row,
			   const GuardMatch *match)
{
	Relation	other = table_open(match->table->relid, NoLock);
	char	   *key = describe_key(other, match->table->slot);
	char	   *new_key = has_key(rel, row) ? describe_key(rel, row) : NULL;
	bool		shown = may_compare(other, match);
	bool		together = !guard->before && inserted_together(row, match->table->slot);
	StringInfoData text;

	initStringInfo(&text);
	if (key != NULL)
		appendStringInfo(&text, "Row %s", key);
	else
		appendStringInfoString(&text, shown ? "A row" : "A near-duplicate");
	if (together)
		appendStringInfoString(&text, " of the same statement");
	if ((shown || key != NULL) && RelationGetRelid(other) != RelationGetRelid(rel))
		appendStringInfo(&text, together ? ", in partition \"%s\"," :
						 " of partition \"%s\"",
						 RelationGetRelationName(other));
	if (!together)
		appendStringInfoString(&text, " is already there");
	if (shown)
		appendStringInfo(&text, "%s similarity %s", together ? " has" : " with",
						 double_to_shortest_decimal(match->similarity));
	else if (together)
		appendStringInfoString(&text, " is near");
	if (shown && new_key != NULL)
		appendStringInfo(&text, " to row %s", new_key);
	appendStringInfo(&text, ", the threshold is %s.",
					 double_to_shortest_decimal(guard->threshold));
	table_close(other, NoLock);
	return text.data;
}

void
guard_report(const Guard *guard, Relation rel, const Trigger *trigger, const char *detail)
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
	/* errtableconstraint() would set the table again */
			 column != InvalidAttrNumber ?
			 errtablecol(rel, column) : errtable(rel),
			 err_generic_string(PG_DIAG_CONSTRAINT_NAME, trigger->tgname)));
}

/* Skipped rows */

/* Number of rows remembered, if their keys fit into work_mem. */
#define MAX_SKIPPED		10000

#define SKIPPED_COLUMNS	5

typedef struct Skipped
{
	Oid			relid;
	char	   *key;			/* NULL: none, or not to be shown */
	Oid			near_relid;
	char	   *near_key;
	double		similarity;
	bool		shown;			/* may the role read the near row? */
	Oid			role;			/* that ran the statement, and may read the
								 * keys */
} Skipped;

static struct
{
	MemoryContext memory;		/* of the rows, or NULL */
	StatementId statement;		/* that skipped them */
	Skipped    *rows;
	size_t		room;
	size_t		n;
	size_t		bytes;			/* of keys */
}			last;

/* Forget the rows of an earlier statement. */
static void
begin_statement(StatementId statement)
{
	if (last.memory != NULL)
		MemoryContextReset(last.memory);
	last.statement = statement;
	last.rows = NULL;
	last.room = last.n = last.bytes = 0;
}

static char *
copied(const char *text)
{
	if (text == NULL)
		return NULL;
	last.bytes += strlen(text);
	return pstrdup(text);
}

void
guard_note_skipped(Relation rel, TupleTableSlot *row, const GuardMatch *match)
{
	StatementId statement = guard_current_statement();
	const char *key;
	const char *near_key;
	bool		shown;
	Relation	other;
	MemoryContext caller;

	if (!statements_equal(last.statement, statement))
		begin_statement(statement);
	if (match == NULL || last.n == MAX_SKIPPED || last.bytes > (size_t) work_mem * 1024)
		return;
	other = table_open(match->table->relid, NoLock);
	key = key_text(rel, row);
	near_key = key_text(other, match->table->slot);
	shown = may_compare(other, match);
	table_close(other, NoLock);
	if (last.memory == NULL)
		last.memory = AllocSetContextCreate(TopMemoryContext, "skipped rows",
											ALLOCSET_SMALL_SIZES);
	caller = MemoryContextSwitchTo(last.memory);
	last.rows = growing_reserve(last.rows, &last.room, last.n + 1, sizeof(Skipped));
	last.rows[last.n++] = (Skipped)
	{
		.relid = RelationGetRelid(rel),
			.key = copied(key),
			.near_relid = match->table->relid,
			.near_key = copied(near_key),
			.similarity = match->similarity,
			.shown = shown,
			.role = GetUserId()
	};
	MemoryContextSwitchTo(caller);
}

/* neardup_guard_skipped() */
Datum
neardup_guard_skipped(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;

	InitMaterializedSRF(fcinfo, 0);
	for (size_t i = 0; i < last.n; i++)
	{
		const Skipped *row = &last.rows[i];
		bool		visible = has_privs_of_role(GetUserId(), row->role);
		bool		shown = visible && row->shown;
		Datum		values[SKIPPED_COLUMNS] = {ObjectIdGetDatum(row->relid)};
		bool		nulls[SKIPPED_COLUMNS] = {false};

		CHECK_FOR_INTERRUPTS();
		nulls[1] = row->key == NULL || !visible;
		if (!nulls[1])
			values[1] = CStringGetTextDatum(row->key);
		values[2] = ObjectIdGetDatum(row->near_relid);
		nulls[3] = row->near_key == NULL || !visible;
		if (!nulls[3])
			values[3] = CStringGetTextDatum(row->near_key);
		values[4] = Float8GetDatum(row->similarity);
		nulls[2] = nulls[3] && !shown;
		nulls[4] = !shown;
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
	return (Datum) 0;
}

/* Exclusion constraints */

/* Output of signature_query_key, for errors of exclusion constraints */
PG_FUNCTION_INFO_V1(signature_query_key_out);
Datum
signature_query_key_out(PG_FUNCTION_ARGS)
{
	SignatureQuery *query = PG_GETARG_SIGNATURE_QUERY(0);
	StringInfoData text;

	initStringInfo(&text);
	spec_append(&query->signature.spec, &text);
	appendStringInfo(&text, " with %zu values", (size_t) SIGNATURE_NVALUES(&query->signature));
	PG_RETURN_CSTRING(text.data);
}
