/*
 * added_rows.c
 *		near_duplicate_groups_add(): adds new rows to the groups of old rows.
 *
 * The user's query finds the old rows that match new sets.  Old and new
 * rows are grouped together, the old rows first, with the groups that they
 * have.
 *
 * Greedy: old representatives stay.  A member moves to a new representative
 * that is more similar than its own.
 *
 * Connected: old rows with one representative are united before the groups are
 * decided.
 *
 * An old row stands for the id of its representative, as the query may not
 * find the representative itself.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type_d.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/float.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/typcache.h"

#include "base/compat.h"
#include "groups/groups.h"
#include "index/access.h"

PG_FUNCTION_INFO_V1(near_duplicate_groups_add);

#define OLD_HINT \
	"The query of old rows returns near-duplicates of the signature $1: the id, the signature, the representative and, for the rule greedy, the similarity to it; then the columns that the new rows have after the signature, which are $2 and so on."

/* Columns of an old row; the rule connected does not read the similarity */
enum OldColumns
{
	OLD_ID,
	OLD_SIGNATURE,
	OLD_REPRESENTATIVE,
	OLD_SIMILARITY,
	OLD_COLUMNS
};

/*
 * Read the matching old rows, each once, in the order of representatives.  The
 * user's query replaces (SELECT).
 */
#define NEAR_ROWS \
	"SELECT DISTINCT ON (3, 1) old.* FROM " VALUES_TABLE ", LATERAL (SELECT) AS old ORDER BY 3, 1"

/*
 * As NEAR_ROWS, but if an old row equals a new set, read only this row: it is
 * already in the group to which the new set belongs, and an index finds it at
 * a fraction of the cost.  Only scopes with the same bytes are taken as equal;
 * other rows are found as matches.
 */
#define EQUAL_ROW_OR_NEAR_ROWS \
	"SELECT DISTINCT ON (3, 1) old.* FROM " VALUES_TABLE ", LATERAL (" \
	" WITH equal AS (SELECT * FROM (SELECT) AS old (%2$s)" \
	" WHERE %1$s.near_duplicate(signature, $1, 1::pg_catalog.float8, 'jaccard'::pg_catalog.text)" \
	" AND signature OPERATOR(%1$s.=) $1" \
	" AND ROW(%3$s)::pg_catalog.record OPERATOR(pg_catalog.*=) ROW(%4$s)::pg_catalog.record LIMIT 1)" \
	" SELECT * FROM equal UNION ALL" \
	" SELECT * FROM (SELECT) AS near WHERE NOT EXISTS (SELECT FROM equal)) AS old ORDER BY 3, 1"

/* State of a call */
typedef struct AddedRows
{
	GroupInput	rows;			/* old rows, with the ids of their
								 * representatives, then new rows */
	GroupRule	rule;
	Tuplestorestate *store;		/* the new rows */
	bool		sets;			/* true if all signatures of new rows are sets */
	UserQuery	query;			/* finds the old rows */
	TypedColumn columns[OLD_COLUMNS];
	int			ncolumns;		/* number of columns that are read before the
								 * scope */
	int			first;			/* index of the scope's first column in the
								 * old rows */
	TypedColumn *scope;			/* columns of the scope */
	RowIds		olds;			/* ids of the old rows themselves */
	TypeCacheEntry *id_type;
	Oid			collation;		/* collation of ids */
	SetNumber	last;			/* set of the old row added last */
} AddedRows;

/* New rows */

/* SlotCallback: store a new row. */
static void
store_new(void *context, TupleTableSlot *slot)
{
	AddedRows  *added = context;
	GroupInput *rows = &added->rows;

	group_input_read(rows, slot);
	tuplestore_putvalues(added->store, rows->desc, rows->values, rows->nulls);
	added->sets = added->sets &&
		(rows->nulls[1] ||
		 signature_kind(DatumGetSignature(rows->values[1]),
						rows->measure) == KIND_SETS);
}

/* Run the query of new rows, and store them. */
static void
read_new(AddedRows *added, const char *text)
{
	GroupInput *rows = &added->rows;
	UserQuery	query;

	user_query_begin(&query, text, NULL, NULL);
	group_input_columns(rows, query.result);
	added->store = tuplestore_begin_heap(true, false,
										 Max(rows->memory / 16 / 1024, 64));
	added->sets = true;
	user_query_run(&query, store_new, added);
}

/* SlotCallback: add a new row, after all old rows. */
static void
add_new(void *context, TupleTableSlot *slot)
{
	AddedRows  *added = context;

	CHECK_FOR_INTERRUPTS();
	slot_getallattrs(slot);
	group_input_add(&added->rows, slot->tts_values[0], slot->tts_values,
					slot->tts_isnull);
}

/* Old rows */

/* True if two ids are equal. */
static bool
ids_equal(AddedRows *added, Datum a, Datum b)
{
	return DatumGetBool(FunctionCall2Coll(&added->id_type->eq_opr_finfo,
										  added->collation, a, b));
}

/* Prepare to read the columns of old rows. */
static void
begin_old(AddedRows *added)
{
	static const char *const what[] = {
		"the id", "the signature", "the representative", "the similarity"
	};
	GroupInput *rows = &added->rows;
	TupleDesc	desc = added->query.result;
	Oid			id = rows->ids.type;
	Oid			types[] = {id, rows->signature_type, id, FLOAT8OID};

	added->ncolumns = added->rule == RULE_GREEDY ? OLD_COLUMNS :
		OLD_COLUMNS - 1;
	added->first = Max(desc->natts - rows->nscope, added->ncolumns);
	/* the old rows may have a scope although the new rows have none */
	if (desc->natts > OLD_COLUMNS + rows->nscope)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_COLUMN_DEFINITION),
				 errmsg("query of old rows has %d columns, and at most %d are read",
						desc->natts, OLD_COLUMNS + rows->nscope),
				 errhint("%s", OLD_HINT)));
	for (int i = 0; i < added->ncolumns; i++)
		added->columns[i] = typed_column(desc, i + 1, types[i], types[i] == id,
										 what[i],
										 OLD_HINT);
	added->scope = palloc(rows->nscope * sizeof(TypedColumn));
	for (int i = 0; i < rows->nscope; i++)
		added->scope[i] = typed_column(desc, added->first + i + 1,
									   TupleDescAttr(rows->scopes.columns,
													 i)->atttypid, true,
									   "a column of the scope", OLD_HINT);
	added->id_type = lookup_type_cache(id, TYPECACHE_EQ_OPR_FINFO);
	added->collation = TupleDescAttr(desc, OLD_REPRESENTATIVE)->attcollation;
	if (!OidIsValid(added->collation))
		added->collation = added->id_type->typcollation;
	row_ids_begin(&added->olds, id, rows->memory / 16);
}

/*
 * Return an old row's similarity to its representative; -1 if it is null.  A
 * number out of range is an error, since the column may hold an id by mistake.
 */
static double
old_similarity(AddedRows *added, TupleTableSlot *slot)
{
	bool		isnull;
	double		similarity =
	DatumGetFloat8(typed_value(&added->columns[OLD_SIMILARITY], slot,
							   &isnull));

	if (isnull)
		return -1;
	/* rounding may take the similarity of vectors a little above 1 */
	if (isnan(similarity) || similarity < 0 || similarity > 1.000001)
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("similarity of an old row is out of range: %g",
						similarity),
				 errdetail("It is a number from 0 to 1."),
				 errhint("%s", OLD_HINT)));
	return similarity;
}

/*
 * SlotCallback: add an old row that matches a new set.  Rows come in the order
 * of representatives.
 */
static void
add_old(void *context, TupleTableSlot *slot)
{
	AddedRows  *added = context;
	GroupInput *rows = &added->rows;
	bool		isnull;
	Datum		id = typed_value(&added->columns[OLD_ID], slot, &isnull);
	uint32		row = rows->ids.n;
	SetNumber	set;

	CHECK_FOR_INTERRUPTS();
	rows->values[1] = typed_value(&added->columns[OLD_SIGNATURE], slot,
								  &rows->nulls[1]);
	if (isnull || rows->nulls[1])
		return;
	rows->values[0] = typed_value(&added->columns[OLD_REPRESENTATIVE], slot,
								  &rows->nulls[0]);
	if (rows->nulls[0])
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("representative of an old row must not be null"),
				 errdetail("A row that has none is a new one; WHERE representative IS NOT NULL leaves it out."),
				 errhint("%s", OLD_HINT)));
	for (int i = 0; i < rows->nscope; i++)
		rows->values[2 + i] = typed_value(&added->scope[i], slot,
										  &rows->nulls[2 + i]);
	row_ids_put(&added->olds, id, false);
	set = group_input_add(rows, id, rows->values, rows->nulls);
	if (added->rule == RULE_GREEDY)
		group_input_seed(rows, set, ids_equal(added, id, rows->values[0]),
						 old_similarity(added, slot));
	else if (row > 0 &&
			 ids_equal(added, row_ids_get(&rows->ids, row - 1),
					   rows->values[0]))
		group_input_unite(rows, added->last, set);
	added->last = set;
}

/* True if a plan scans an index of access method neardup. */
static bool
scans_index(PlanState *state, void *context)
{
	Relation	index = NULL;

	if (IsA(state, IndexScanState))
		index = ((IndexScanState *) state)->iss_RelationDesc;
	else if (IsA(state, BitmapIndexScanState))
		index = ((BitmapIndexScanState *) state)->biss_RelationDesc;
	return (index != NULL && index_is_neardup(index)) ||
		planstate_tree_walker(state, scans_index, context);
}

/* True if old and new rows have the same types of signature and scope. */
static bool
has_equal_types(const AddedRows *added)
{
	TupleDesc	desc = added->query.result;
	const GroupInput *rows = &added->rows;
	bool		equal = TupleDescAttr(desc,
									  OLD_SIGNATURE)->atttypid ==
	rows->signature_type;

	for (int i = 0; i < rows->nscope; i++)
		equal &= TupleDescAttr(desc, added->first + i)->atttypid ==
			TupleDescAttr(rows->scopes.columns, i)->atttypid;
	return equal;
}

/*
 * Find old rows by EQUAL_ROW_OR_NEAR_ROWS if its plan scans an index; false if
 * it does not, and no row was read.  `schema` is the extension's schema.
 */
static bool
find_by_index(AddedRows *added, Oid schema)
{
	GroupInput *rows = &added->rows;
	StringInfoData columns;
	StringInfoData old_scope;
	StringInfoData new_scope;

	/* kept apart, an equal row may be in another group */
	if (!added->sets || !has_equal_types(added) || rows->apart_query != NULL)
		return false;
	initStringInfo(&columns);
	initStringInfo(&old_scope);
	initStringInfo(&new_scope);
	appendStringInfoString(&columns, "id, signature");
	for (int i = OLD_SIGNATURE + 1; i < added->first + rows->nscope; i++)
		appendStringInfo(&columns, ", c%d", i);
	for (int i = 0; i < rows->nscope; i++)
	{
		appendStringInfo(&old_scope, "%sc%d", i == 0 ? "" :
						 ", ", added->first + i);
		appendStringInfo(&new_scope, "%s$%d", i == 0 ? "" : ", ", i + 2);
	}
	return user_query_run_inside(&added->query,
								 psprintf(EQUAL_ROW_OR_NEAR_ROWS,
										  quote_identifier(get_namespace_name(schema)),
										  columns.data, old_scope.data,
										  new_scope.data),
								 scans_index, add_old, added);
}

/* Rows of the result */

/* Put a row with this id into the result. */
static void
put_row(AddedRows *added, ReturnSetInfo *rsinfo, Datum id, GroupMember member)
{
	/*
	 * on 32 bits the similarity is passed by reference; the tuplestore copies
	 * it
	 */
	Datum		values[] = {
		id, row_ids_get(&added->rows.ids, member.representative),
		Float8GetDatumFast(member.similarity)
	};
	bool		nulls[] = {false, false, isnan(member.similarity)};

	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
}

/*
 * Put an old row into the result if its group has changed.  Greedy: if it has
 * a new representative.  Connected: put its old representative once, at the
 * first row that has it, if the group has another representative now.
 */
static void
put_old(AddedRows *added, ReturnSetInfo *rsinfo, uint32 row)
{
	RowIds	   *ids = &added->rows.ids;
	GroupMember member = group_input_member(&added->rows, row);

	if (added->rule == RULE_GREEDY)
	{
		if (member.representative >= added->olds.n)
			put_row(added, rsinfo, row_ids_get(&added->olds, row), member);
	}
	else if ((row == 0 ||
			  !ids_equal(added, row_ids_get(ids, row - 1),
						 row_ids_get(ids, row))) &&
			 !ids_equal(added, row_ids_get(ids, member.representative),
						row_ids_get(ids, row)))
		put_row(added, rsinfo, row_ids_get(ids, row), member);
}

/* Put the rows of the result, new rows before old ones. */
static void
put_rows(AddedRows *added, ReturnSetInfo *rsinfo)
{
	MemoryContext per_row = AllocSetContextCreate(CurrentMemoryContext,
												  "row of groups",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(per_row);
	RowIds	   *ids = &added->rows.ids;

	for (uint32 i = 0; i < ids->n; i++)
	{
		uint32		row = ((uint64) added->olds.n + i) % ids->n;

		CHECK_FOR_INTERRUPTS();
		if (row < added->olds.n)
			put_old(added, rsinfo, row);
		else
			put_row(added, rsinfo, row_ids_get(ids, row),
					group_input_member(&added->rows, row));
		MemoryContextReset(per_row);
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(per_row);
}

/*
 * near_duplicate_groups_add([id_type anyelement,] new_rows, old_rows,
 * threshold, measure, rule, apart)
 */
Datum
near_duplicate_groups_add(PG_FUNCTION_ARGS)
{
	AddedRows	added = {0};
	GroupArguments arguments;
	Tuplestorestate *values;
	bool		found;

	if (!groups_begin(fcinfo, 5, true, &arguments))
		return (Datum) 0;
	added.rule = arguments.rule;
	group_input_begin(&added.rows, fcinfo, arguments.first + 3, &arguments);
	group_input_set_threshold(&added.rows,
							  PG_GETARG_FLOAT8(arguments.first + 2));
	read_new(&added, text_to_cstring(PG_GETARG_TEXT_PP(arguments.first)));
	user_query_begin(&added.query,
					 text_to_cstring(PG_GETARG_TEXT_PP(arguments.first + 1)),
					 added.rows.desc, OLD_HINT);
	begin_old(&added);
	values = user_query_values(&added.query, added.store);
	found = find_by_index(&added, get_func_namespace(fcinfo->flinfo->fn_oid));

	/*
	 * an equal row is enough only if the new row is known to have the same
	 * set
	 */
	if (found && group_input_has_untracked(&added.rows))
	{
		group_input_clear(&added.rows);
		row_ids_end(&added.olds);
		row_ids_begin(&added.olds, arguments.id_type, added.rows.memory / 16);
		found = false;
	}
	if (!found)
		user_query_run_inside(&added.query, NEAR_ROWS, NULL, add_old, &added);
	tuplestore_end(values);
	user_query_rows(&added.query, added.store, added.rows.desc);
	user_query_run_inside(&added.query, "TABLE " VALUES_TABLE, NULL, add_new,
						  &added);
	tuplestore_end(added.store);
	group_input_decide(&added.rows, arguments.rule);
	put_rows(&added, (ReturnSetInfo *) fcinfo->resultinfo);
	row_ids_end(&added.olds);
	group_input_end(&added.rows);
	return (Datum) 0;
}
