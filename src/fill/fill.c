/*
 * fill.c
 *		neardup_fill(): a trigger function that keeps a signature column up to
 *		date where a generated column cannot.
 *
 * Signatures that use a lexicon depend on another table, which a generated
 * column must not.  This trigger computes them as a generated column would:
 *
 *		CREATE TRIGGER fill BEFORE INSERT OR UPDATE ON docs FOR EACH ROW
 *		EXECUTE FUNCTION neardup_fill('sig',
 *			'top_words(body, (SELECT words FROM library))', 'body');
 *
 * Its arguments are the column to be filled, an expression, and the columns
 * that the expression reads.  The expression can see no other columns of the
 * row.  It is computed on INSERT, and on UPDATE if a column that it reads is
 * assigned or changed, or if the filled column is assigned.
 *
 * Names in the expression are looked up in the schemas of the extension and of
 * the table, never in the inserter's search_path.  It runs with the inserter's
 * rights.
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "commands/trigger.h"
#include "executor/spi.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "base/call.h"
#include "base/compat.h"
#include "base/trigger.h"

PG_FUNCTION_INFO_V1(neardup_fill);

/* Arguments and plan of a trigger, kept for a statement */
typedef struct Fill
{
	AttrNumber	target;			/* column to be filled */
	int			nsources;		/* number of columns that the expression reads */
	AttrNumber *sources;		/* these columns */
	Bitmapset  *inputs;			/* these columns as a set */
	Oid		   *types;			/* types of these columns */
	char	   *query;			/* query that computes the expression */
	char	   *path;			/* search_path of the query */
	SPIPlanPtr	plan;			/* NULL = not prepared yet */
	MemoryContextCallback callback; /* frees the plan */
} Fill;

/* Raise an error about the use of neardup_fill(). */
static void
usage_error(const char *message, const char *hint)
{
	ereport(ERROR,
			(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
			 errmsg("%s", message),
			 errhint("%s", hint)));
}

/* Raise an error unless the trigger is defined correctly. */
static void
check_call(FunctionCallInfo fcinfo)
{
	TriggerData *data = (TriggerData *) fcinfo->context;

	if (!CALLED_AS_TRIGGER(fcinfo))
		usage_error("neardup_fill() can only be called as a trigger",
					"Use it in CREATE TRIGGER.");
	if (!TRIGGER_FIRED_BEFORE(data->tg_event) ||
		!TRIGGER_FIRED_FOR_ROW(data->tg_event) ||
		!(TRIGGER_FIRED_BY_INSERT(data->tg_event) ||
		  TRIGGER_FIRED_BY_UPDATE(data->tg_event)))
		usage_error("neardup_fill() must be fired BEFORE INSERT OR UPDATE, FOR EACH ROW",
					"Create the trigger with these words.");
	if (data->tg_trigger->tgnargs < 3)
		usage_error("neardup_fill() has too few arguments",
					"Its arguments are the column to be filled, an expression, and the columns that the expression reads.");
}

/*
 * Return the number of a column; raise an error if it does not exist or is
 * generated.
 */
static AttrNumber
find_column(Relation rel, const char *name)
{
	int			number = SPI_fnumber(RelationGetDescr(rel), name);

	if (number <= 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("column \"%s\" of relation \"%s\" does not exist",
						name, RelationGetRelationName(rel)),
				 errhint("It is named in the arguments of a trigger's neardup_fill().")));
	if (TupleDescAttr(RelationGetDescr(rel), number - 1)->attgenerated != '\0')
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("column \"%s\" of relation \"%s\" is a generated column",
						name, RelationGetRelationName(rel)),
				 errdetail("Generated columns are computed after BEFORE triggers."),
				 errhint("Use its generation expression in place of the column.")));
	return number;
}

/* Memory context callback: free the plan. */
static void
free_plan(void *arg)
{
	Fill	   *fill = arg;

	if (fill->plan != NULL)
		SPI_freeplan(fill->plan);
	fill->plan = NULL;
}

/*
 * Return the query that computes the expression over one row.  The row has the
 * expression's input columns, as parameters, and the name of the table that
 * the trigger was created on.
 */
static char *
make_query(Relation rel, Oid root, const Fill *fill, const char *expression)
{
	StringInfoData query;

	initStringInfo(&query);
	/* the expression may end with a comment */
	appendStringInfo(&query, "SELECT (%s\n) FROM (SELECT ", expression);
	for (int i = 0; i < fill->nsources; i++)
	{
		Form_pg_attribute column = TupleDescAttr(RelationGetDescr(rel),
												 fill->sources[i] - 1);

		appendStringInfo(&query, "%s$%d AS %s", i == 0 ? "" : ", ", i + 1,
						 quote_identifier(NameStr(column->attname)));
	}
	appendStringInfo(&query, ") AS %s", quote_identifier(get_rel_name(root)));
	return query.data;
}

/* Read the trigger's arguments, in the current memory context. */
static Fill *
create_fill(FunctionCallInfo fcinfo, Relation rel, const Trigger *trigger)
{
	Fill	   *fill = palloc0(sizeof(Fill));
	Oid			created;
	Oid			root = trigger_root(rel, trigger, &created);

	fill->target = find_column(rel, trigger->tgargs[0]);
	fill->nsources = trigger->tgnargs - 2;
	fill->sources = palloc(fill->nsources * sizeof(AttrNumber));
	fill->types = palloc(fill->nsources * sizeof(Oid));
	for (int i = 0; i < fill->nsources; i++)
	{
		fill->sources[i] = find_column(rel, trigger->tgargs[i + 2]);
		fill->types[i] = TupleDescAttr(RelationGetDescr(rel),
									   fill->sources[i] - 1)->atttypid;
		fill->inputs = bms_add_member(fill->inputs, fill->sources[i] -
									  FirstLowInvalidHeapAttributeNumber);
	}
	fill->query = make_query(rel, root, fill, trigger->tgargs[1]);
	fill->path = psprintf("%s, %s, pg_temp",
						  quote_identifier(get_namespace_name(get_func_namespace(fcinfo->flinfo->fn_oid))),
						  quote_identifier(get_namespace_name(get_rel_namespace(root))));
	fill->callback.func = free_plan;
	fill->callback.arg = fill;
	MemoryContextRegisterResetCallback(CurrentMemoryContext, &fill->callback);
	return fill;
}

/* True if two versions of a row are equal in the columns that are read. */
static bool
sources_unchanged(const Fill *fill, TupleTableSlot *before,
				  TupleTableSlot *after)
{
	for (int i = 0; i < fill->nsources; i++)
	{
		Form_pg_attribute att = TupleDescAttr(after->tts_tupleDescriptor,
											  fill->sources[i] - 1);
		bool		isnull[2];
		Datum		a = slot_getattr(before, fill->sources[i], &isnull[0]);
		Datum		b = slot_getattr(after, fill->sources[i], &isnull[1]);

		if (isnull[0] != isnull[1] ||
			(!isnull[0] && !same_value(a, b, att->attbyval, att->attlen)))
			return false;
	}
	return true;
}

/* True if the expression must be computed for this row. */
static bool
is_needed(const TriggerData *data, const Fill *fill)
{
	return TRIGGER_FIRED_BY_INSERT(data->tg_event) ||
		bms_is_member(fill->target - FirstLowInvalidHeapAttributeNumber,
					  data->tg_updatedcols) ||
		bms_overlap(fill->inputs, data->tg_updatedcols) ||
		!sources_unchanged(fill, data->tg_trigslot, data->tg_newslot);
}

/* Prepare the plan of the expression. */
static void
prepare(Fill *fill, Form_pg_attribute target)
{
	SPIPlanPtr	plan = SPI_prepare(fill->query, fill->nsources, fill->types);

	if (plan == NULL || SPI_keepplan(plan) != 0)
		elog(ERROR, "SPI_prepare failed: %s",
			 SPI_result_code_string(SPI_result));
	fill->plan = plan;
	if (!SPI_is_cursor_plan(plan))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("expression of column \"%s\" is not an expression",
						NameStr(target->attname))));
}

/* Raise an error unless the query returned one value of the column's type. */
static void
check_result(Form_pg_attribute target)
{
	Form_pg_attribute found;

	if (SPI_processed != 1 || SPI_tuptable->tupdesc->natts != 1)
		ereport(ERROR,
				(errcode(ERRCODE_CARDINALITY_VIOLATION),
				 errmsg("expression of column \"%s\" does not give one value",
						NameStr(target->attname))));
	found = TupleDescAttr(SPI_tuptable->tupdesc, 0);
	/* after the trigger, the server does not check the length of the value */
	if (found->atttypid != target->atttypid ||
		(found->atttypmod != target->atttypmod && target->atttypmod >= 0))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("column \"%s\" is of type %s but its expression is of type %s",
						NameStr(target->attname),
						format_type_with_typemod(target->atttypid,
												 target->atttypmod),
						format_type_with_typemod(found->atttypid,
												 found->atttypmod)),
				 errhint("Rewrite or cast the expression.")));
}

/* Compute the expression for a row, in the caller's memory context. */
static Datum
compute(Fill *fill, Relation rel, HeapTuple row, bool *isnull)
{
	TupleDesc	desc = RelationGetDescr(rel);
	Form_pg_attribute target = TupleDescAttr(desc, fill->target - 1);
	Datum	   *values = palloc(fill->nsources * sizeof(Datum));
	char	   *nulls = palloc(fill->nsources);
	int			nest_level = NewGUCNestLevel();
	Datum		result;

	for (int i = 0; i < fill->nsources; i++)
	{
		values[i] = heap_getattr(row, fill->sources[i], desc, isnull);
		nulls[i] = *isnull ? 'n' : ' ';
	}
	(void) set_config_option("search_path", fill->path, PGC_USERSET,
							 PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	if (fill->plan == NULL)
		prepare(fill, target);
	if (SPI_execute_plan(fill->plan, values, nulls, true, 2) != SPI_OK_SELECT)
		elog(ERROR, "SPI_execute_plan failed");
	check_result(target);
	result = SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1,
						   isnull);
	if (!*isnull)
		result = SPI_datumTransfer(result, target->attbyval, target->attlen);
	SPI_finish();
	AtEOXact_GUC(true, nest_level);
	return result;
}

/* neardup_fill() RETURNS trigger */
Datum
neardup_fill(PG_FUNCTION_ARGS)
{
	TriggerData *data = (TriggerData *) fcinfo->context;
	Relation	rel;
	HeapTuple	row;
	Fill	   *fill;
	Datum		value;
	bool		isnull;
	int			column;

	check_call(fcinfo);
	rel = data->tg_relation;
	row = TRIGGER_FIRED_BY_INSERT(data->tg_event) ? data->tg_trigtuple :
		data->tg_newtuple;
	fill = fcinfo->flinfo->fn_extra;
	if (fill == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(fcinfo->flinfo->fn_mcxt);

		fill = create_fill(fcinfo, rel, data->tg_trigger);
		MemoryContextSwitchTo(old);
		fcinfo->flinfo->fn_extra = fill;
	}
	if (!is_needed(data, fill))
		return PointerGetDatum(row);
	value = compute(fill, rel, row, &isnull);
	column = fill->target;
	return PointerGetDatum(heap_modify_tuple_by_cols(row,
													 RelationGetDescr(rel), 1,
													 &column, &value,
													 &isnull));
}
