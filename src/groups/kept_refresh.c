/*
 * kept_refresh.c
 *		Refreshes kept groups.
 *
 * _near_duplicate_groups_statements() makes the statements in SQL.  They are
 * prepared once per session, as the queries of foreign keys are: to parse and
 * plan them takes longer than to decide one row.
 *
 * A transaction may refresh groups after each of its statements.  What it
 * deletes stays in the table until it ends, so a refresh leaves as little as
 * it can in the notes, which are read each time: the rows to decide are kept
 * in a tuplestore, and the lock is taken once.
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/pg_type_d.h"
#include "executor/spi.h"
#include "executor/tstoreReceiver.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "nodes/supportnodes.h"
#include "optimizer/optimizer.h"
#include "storage/lmgr.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/hsearch.h"
#include "utils/lsyscache.h"
#include "utils/plancache.h"
#include "utils/resowner.h"
#include "utils/tuplestore.h"

#include "base/compat.h"

PG_FUNCTION_INFO_V1(kept_groups_refresh);
PG_FUNCTION_INFO_V1(kept_groups_taken);
PG_FUNCTION_INFO_V1(kept_groups_taken_support);

/* Statements, in the order of _near_duplicate_groups_statements() */
typedef enum RefreshStatement
{
	STATEMENT_READ,				/* never executed: reads all that the texts of
								 * statements depend on */
	STATEMENT_LOCK,
	STATEMENT_FIRST,			/* adds the row that is the lock */
	STATEMENT_PARTITIONS,		/* notes rows of partitions that came or went;
								 * NULL unless the table is partitioned */
	STATEMENT_TAKE,				/* takes the notes */
	STATEMENT_WHOLE,			/* makes all groups anew */
	STATEMENT_ADD,				/* decides the rows whose notes were taken */
	REFRESH_STATEMENTS
} RefreshStatement;

/* Prepared statements of one table of groups */
typedef struct RefreshPlans
{
	Oid			groups;			/* table of groups: key of the hash table */
	Oid			notes;			/* table of notes */
	Oid			owner;			/* role for which they were made; InvalidOid =
								 * not made */
	int			users;			/* number of refreshes that are using them */
	TransactionId locked_by;	/* transaction that has the lock, and */
	SubTransactionId locked_in; /* its part that took it */
	SPIPlanPtr	plans[REFRESH_STATEMENTS];	/* NULL = no such statement */
} RefreshPlans;

/* The rows that a refresh decides */
typedef struct TakenRows
{
	TupleDesc	desc;			/* id, and whether the row has not changed
								 * itself but was a member of a changed one */
	Tuplestorestate *rows;
} TakenRows;

/* Those of the innermost refresh that decides rows; NULL = there is none */
static const TakenRows *taken_rows = NULL;

/* Plans */

/*
 * True if the statements can be executed: nothing that they name has changed.
 */
static bool
plans_are_valid(const RefreshPlans *plans)
{
	if (plans->owner != GetUserId())
		return false;
	for (int i = 0; i < REFRESH_STATEMENTS; i++)
		if (plans->plans[i] != NULL && !SPI_plan_is_valid(plans->plans[i]))
			return false;
	return true;
}

/* Free the statements. */
static void
plans_free(RefreshPlans *plans)
{
	plans->owner = InvalidOid;
	for (int i = 0; i < REFRESH_STATEMENTS; i++)
	{
		if (plans->plans[i] != NULL)
			SPI_freeplan(plans->plans[i]);
		plans->plans[i] = NULL;
	}
}

/* Prepare a statement, and keep it. */
static SPIPlanPtr
prepare(const char *text)
{
	SPIPlanPtr	plan = SPI_prepare(text, 0, NULL);

	if (plan == NULL || SPI_keepplan(plan) != 0)
		elog(ERROR, "SPI_prepare failed: %s",
			 SPI_result_code_string(SPI_result));
	return plan;
}

/*
 * Make the statements, for the current user.  `schema` is the schema of this
 * extension.  Raises an error unless the user owns groups that are kept.
 */
static void
plans_make(RefreshPlans *plans, Oid schema)
{
	Oid			type = REGCLASSOID;
	Datum		groups = ObjectIdGetDatum(plans->groups);
	Datum	   *texts;
	bool	   *nulls;
	int			n;
	bool		isnull;
	char	   *query =
	psprintf("SELECT notes, statements FROM %s._near_duplicate_groups_statements($1)",
			 quote_identifier(get_namespace_name(schema)));

	if (SPI_execute_with_args(query, 1, &type, &groups, NULL, false, 1) !=
		SPI_OK_SELECT || SPI_processed != 1)
		elog(ERROR, "SPI_execute_with_args failed");
	plans->notes = DatumGetObjectId(SPI_getbinval(SPI_tuptable->vals[0],
												  SPI_tuptable->tupdesc, 1,
												  &isnull));
	deconstruct_array(DatumGetArrayTypeP(SPI_getbinval(SPI_tuptable->vals[0],
													   SPI_tuptable->tupdesc,
													   2, &isnull)),
					  TEXTOID, -1, false, TYPALIGN_INT, &texts, &nulls, &n);
	if (n != REFRESH_STATEMENTS)
		elog(ERROR, "a refresh has %d statements", n);
	for (int i = 0; i < n; i++)
		if (!nulls[i])
			plans->plans[i] = prepare(TextDatumGetCString(texts[i]));
	plans->owner = GetUserId();
}

/*
 * Return the statements of a table of groups.  They are made if there are none
 * yet, or anew if something that they name has changed, since their text may
 * be another one.
 */
static RefreshPlans *
find_plans(Oid groups, Oid schema)
{
	static HTAB *all = NULL;
	RefreshPlans *plans;
	bool		found;

	if (all == NULL)
	{
		HASHCTL		ctl = {.keysize = sizeof(Oid),
		.entrysize = sizeof(RefreshPlans)};

		all = hash_create("kept groups", 16, &ctl, HASH_ELEM | HASH_BLOBS);
	}
	plans = hash_search(all, &groups, HASH_ENTER, &found);
	if (!found)
		memset((char *) plans + sizeof(Oid), 0,
			   sizeof(RefreshPlans) - sizeof(Oid));
	/* a refresh inside of another one, by a trigger on the groups */
	if (plans->users > 0 && plans->owner != GetUserId())
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("groups \"%s\" are being refreshed in this session by another role",
						get_rel_name(groups)),
				 errhint("A trigger on the groups must not refresh them as another role.")));
	if (plans->users == 0 && !plans_are_valid(plans))
	{
		plans_free(plans);
		plans_make(plans, schema);
	}
	return plans;
}

/* Refreshing */

/* Execute a statement; return the number of rows. */
static uint64
execute(const RefreshPlans *plans, RefreshStatement statement)
{
	int			result;

	Assert(plans->plans[statement] != NULL && statement != STATEMENT_READ);
	result = SPI_execute_plan(plans->plans[statement], NULL, NULL, false, 0);
	if (result < 0)
		elog(ERROR, "SPI_execute_plan failed: %s",
			 SPI_result_code_string(result));
	return SPI_processed;
}

/*
 * Plan a statement, unless it has a plan, so that it looks up rows of the
 * groups, which a bitmap scan does, and never reads all of them, which only
 * the others could.  A plan is kept while the table grows, and would be one
 * for an empty table.  The queries that are quoted in the statement are
 * planned when it is executed, for themselves.
 */
static void
plan_look_ups(SPIPlanPtr plan)
{
	static const char *const names[] = {
		"enable_seqscan", "enable_indexscan", "enable_indexonlyscan"
	};
	int			nest_level = NewGUCNestLevel();

	for (int i = 0; i < lengthof(names); i++)
		(void) set_config_option(names[i], "off", PGC_USERSET, PGC_S_SESSION,
								 GUC_ACTION_SAVE, true, 0, false);
	ReleaseCachedPlan(SPI_plan_get_cached_plan(plan), CurrentResourceOwner);
	AtEOXact_GUC(true, nest_level);
}

/*
 * True if this transaction has the lock, and has not rolled back the part that
 * took it.
 */
static bool
has_lock(const RefreshPlans *plans)
{
	return TransactionIdIsValid(plans->locked_by) &&
		plans->locked_by == GetTopTransactionIdIfAny() &&
		SubTransactionIsActive(plans->locked_in);
}

/*
 * Update the row of the notes that is the lock, and the proof that this
 * transaction sees what refreshes before did.  False if there was no such row,
 * so that all groups have to be made.
 */
static bool
update_lock(RefreshPlans *plans)
{
	if (execute(plans, STATEMENT_LOCK) == 0)
		return false;
	plans->locked_by = GetTopTransactionId();
	plans->locked_in = GetCurrentSubTransactionId();
	return true;
}

/*
 * Lock the groups until the transaction ends.  False if they have never been
 * made.
 */
static bool
lock_groups(RefreshPlans *plans)
{
	if (has_lock(plans) || update_lock(plans))
		return true;
	if (IsolationUsesXactSnapshot())
		ereport(ERROR,
				(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				 errmsg("groups \"%s\" have not been made",
						get_rel_name(plans->groups)),
				 errhint("Refresh them at isolation level READ COMMITTED first.")));
	LockRelationOid(plans->notes, ShareUpdateExclusiveLock);
	if (update_lock(plans))
		return true;
	execute(plans, STATEMENT_FIRST);
	return false;
}

/*
 * Take the notes, and delete the groups of their rows and of those that depend
 * on them.  Set *taken to these rows; the first id is null if a note is of all
 * rows.
 */
static void
take_notes(const RefreshPlans *plans, TakenRows *taken)
{
	SPIExecuteOptions options = {
		.dest = CreateDestReceiver(DestTuplestore)
	};

	taken->desc = CreateTemplateTupleDesc(2);
	TupleDescInitEntry(taken->desc, 1, "id", get_atttype(plans->notes, 1), -1,
					   0);
	TupleDescInitEntry(taken->desc, 2, "is_member", BOOLOID, -1, 0);
	TupleDescFinalize(taken->desc);
	taken->rows = tuplestore_begin_heap(true, false, work_mem);
	SetTuplestoreDestReceiverParams(options.dest, taken->rows,
									CurrentMemoryContext, false, NULL, NULL);
	plan_look_ups(plans->plans[STATEMENT_TAKE]);
	if (SPI_execute_plan_extended(plans->plans[STATEMENT_TAKE], &options) < 0)
		elog(ERROR, "SPI_execute_plan_extended failed");
	options.dest->rDestroy(options.dest);
}

/* True if one of the notes is of all rows. */
static bool
are_all(const TakenRows *taken)
{
	TupleTableSlot *slot = MakeSingleTupleTableSlot(taken->desc,
													&TTSOpsMinimalTuple);
	bool		all;

	tuplestore_rescan(taken->rows);
	all = tuplestore_gettupleslot(taken->rows, true, false, slot) &&
		slot_attisnull(slot, 1);
	ExecDropSingleTupleTableSlot(slot);
	return all;
}

/* Decide the rows that were taken. */
static void
add_taken(const RefreshPlans *plans, const TakenRows *taken)
{
	const TakenRows *outer = taken_rows;

	taken_rows = taken;
	plan_look_ups(plans->plans[STATEMENT_ADD]);
	execute(plans, STATEMENT_ADD);
	taken_rows = outer;
}

/*
 * Refresh groups.  Each statement may see more rows than the one before.  A
 * row that was changed in between still has a note, and is no old row now:
 * when its note is taken, it and what depended on it are decided again.
 */
static void
refresh(RefreshPlans *plans, bool whole)
{
	TakenRows	taken;

	if (!lock_groups(plans))
		whole = true;
	if (plans->plans[STATEMENT_PARTITIONS] != NULL)
		execute(plans, STATEMENT_PARTITIONS);
	take_notes(plans, &taken);
	if (whole || are_all(&taken))
		execute(plans, STATEMENT_WHOLE);
	else if (tuplestore_tuple_count(taken.rows) > 0)
		add_taken(plans, &taken);
	tuplestore_end(taken.rows);
}

/* _near_duplicate_groups_refresh(groups, whole), as the owner of the groups */
Datum
kept_groups_refresh(PG_FUNCTION_ARGS)
{
	const TakenRows *outer = taken_rows;
	RefreshPlans *plans;

	if (PG_ARGISNULL(0))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("table of groups must not be null")));
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	plans = find_plans(PG_GETARG_OID(0),
					   get_func_namespace(fcinfo->flinfo->fn_oid));
	plans->users++;
	PG_TRY();
	{
		refresh(plans, !PG_ARGISNULL(1) && PG_GETARG_BOOL(1));
	}
	PG_CATCH();
	{
		taken_rows = outer;
		/* the texts may be at fault, in what no plan depends on */
		plans->owner = InvalidOid;
		plans->users--;
		PG_RE_THROW();
	}
	PG_END_TRY();
	plans->users--;
	SPI_finish();
	PG_RETURN_VOID();
}

/*
 * _near_duplicate_groups_taken(id_type), for the statement that decides rows
 */
Datum
kept_groups_taken(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	TupleTableSlot *slot;

	InitMaterializedSRF(fcinfo, 0);
	if (taken_rows == NULL ||
		TupleDescAttr(taken_rows->desc, 0)->atttypid !=
		TupleDescAttr(result->setDesc, 0)->atttypid)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("no groups with ids of type %s are being refreshed",
						format_type_be(TupleDescAttr(result->setDesc,
													 0)->atttypid)),
				 errhint("Call near_duplicate_groups_refresh().")));
	slot = MakeSingleTupleTableSlot(taken_rows->desc, &TTSOpsMinimalTuple);
	tuplestore_rescan(taken_rows->rows);
	while (tuplestore_gettupleslot(taken_rows->rows, true, false, slot))
	{
		CHECK_FOR_INTERRUPTS();
		tuplestore_puttupleslot(result->setResult, slot);
	}
	ExecDropSingleTupleTableSlot(slot);
	return (Datum) 0;
}

/*
 * _near_duplicate_groups_taken_support(), for the planner: whether rows are
 * looked up or the table is read depends on how many are decided.
 */
Datum
kept_groups_taken_support(PG_FUNCTION_ARGS)
{
	Node	   *request = (Node *) PG_GETARG_POINTER(0);

	if (!IsA(request, SupportRequestRows) || taken_rows == NULL)
		PG_RETURN_POINTER(NULL);
	((SupportRequestRows *) request)->rows =
		clamp_row_est(tuplestore_tuple_count(taken_rows->rows));
	PG_RETURN_POINTER(request);
}
