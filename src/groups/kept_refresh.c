/*
 * kept_refresh.c
 *		Refreshes kept groups.
 *
 * _near_duplicate_groups_statements() makes the statements in SQL.  They are
 * prepared once per session, as the queries of foreign keys are: to parse and
 * plan them takes longer than to decide one row.
 */
#include "postgres.h"

#include "access/xact.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/hsearch.h"
#include "utils/lsyscache.h"

PG_FUNCTION_INFO_V1(kept_groups_refresh);

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
	SPIPlanPtr	plans[REFRESH_STATEMENTS];	/* NULL = no such statement */
} RefreshPlans;

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
 * Update the row of the notes that is the lock, and the proof that this
 * transaction sees what refreshes before did.  False if there was no such row,
 * so that all groups have to be made.
 */
static bool
lock_groups(const RefreshPlans *plans)
{
	if (execute(plans, STATEMENT_LOCK) > 0)
		return true;
	if (IsolationUsesXactSnapshot())
		ereport(ERROR,
				(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				 errmsg("groups \"%s\" have not been made",
						get_rel_name(plans->groups)),
				 errhint("Refresh them at isolation level READ COMMITTED first.")));
	LockRelationOid(plans->notes, ShareUpdateExclusiveLock);
	if (execute(plans, STATEMENT_LOCK) > 0)
		return true;
	execute(plans, STATEMENT_FIRST);
	return false;
}

/*
 * Take the notes, and delete the groups of their rows.  Returns the number of
 * notes; sets *all to true if one is of all rows.
 */
static int64
take_notes(const RefreshPlans *plans, bool *all)
{
	HeapTuple	row;
	bool		isnull;

	if (execute(plans, STATEMENT_TAKE) != 1)
		elog(ERROR, "notes of changed rows were not counted");
	row = SPI_tuptable->vals[0];
	*all = DatumGetBool(SPI_getbinval(row, SPI_tuptable->tupdesc, 2, &isnull));
	return DatumGetInt64(SPI_getbinval(row, SPI_tuptable->tupdesc, 1,
									   &isnull));
}

/*
 * Refresh groups.  Each statement may see more rows than the one before.  A
 * row that was changed in between still has a note, and is no old row now:
 * when its note is taken, it and what depended on it are decided again.
 */
static void
refresh(const RefreshPlans *plans, bool whole)
{
	int64		taken;
	bool		all;

	if (!lock_groups(plans))
		whole = true;
	if (plans->plans[STATEMENT_PARTITIONS] != NULL)
		execute(plans, STATEMENT_PARTITIONS);
	taken = take_notes(plans, &all);
	if (whole || all)
		execute(plans, STATEMENT_WHOLE);
	else if (taken > 0)
		execute(plans, STATEMENT_ADD);
}

/* _near_duplicate_groups_refresh(groups, whole), as the owner of the groups */
Datum
kept_groups_refresh(PG_FUNCTION_ARGS)
{
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
