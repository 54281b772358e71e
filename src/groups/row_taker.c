/*
 * row_taker.c
 *		The rows of a parsed query, one by one.
 *
 * The query is run here, not by SPI, which would not let its parsed form be
 * changed; as SPI does for a function that changes nothing, with the snapshot
 * of the statement that calls.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "tcop/dest.h"
#include "tcop/tcopprot.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "base/compat.h"
#include "groups/row_taker.h"

/* Errors */

static void
point_into_text(void *text)
{
	int			place = geterrposition();

	if (place <= 0)
		return;
	errposition(0);
	internalerrposition(place);
	internalerrquery(text);
}

void
query_errors_begin(ErrorContextCallback *errors, const char *text)
{
	errors->callback = point_into_text;
	errors->arg = unconstify(char *, text);
	errors->previous = error_context_stack;
	error_context_stack = errors;
}

void
query_errors_end(ErrorContextCallback *errors)
{
	error_context_stack = errors->previous;
}

/* Rows */

typedef struct TakerReceiver
{
	DestReceiver pub;
	RowTaker   *taker;
	bool		begun;			/* the taker has */
	MemoryContext context;		/* of the caller */
	MemoryContext per_row;
} TakerReceiver;

static void
receive_startup(DestReceiver *self, int operation, TupleDesc desc)
{
	TakerReceiver *receiver = (TakerReceiver *) self;
	MemoryContext old = MemoryContextSwitchTo(receiver->context);

	if (!receiver->begun)
		receiver->taker->begin(receiver->taker, desc);
	receiver->begun = true;
	MemoryContextSwitchTo(old);
}

static bool
receive_row(TupleTableSlot *slot, DestReceiver *self)
{
	TakerReceiver *receiver = (TakerReceiver *) self;
	MemoryContext old = MemoryContextSwitchTo(receiver->per_row);

	receiver->taker->row(receiver->taker, slot);
	MemoryContextSwitchTo(old);
	MemoryContextReset(receiver->per_row);
	return true;
}

static void
receive_nothing(DestReceiver *self)
{
}

static bool
is_wanted(TakerReceiver *receiver, PlanState *plan)
{
	MemoryContext old = MemoryContextSwitchTo(receiver->context);
	bool		wanted = receiver->taker->planned == NULL ||
		receiver->taker->planned(receiver->taker, plan);

	MemoryContextSwitchTo(old);
	return wanted;
}

/* Runs a plan to its end, if the taker wants it; false if not. */
static bool
run_plan(PlannedStmt *plan, const char *text, QueryEnvironment *environment,
		 ParamListInfo params, TakerReceiver *receiver)
{
	QueryDesc  *desc;
	bool		wanted;

	PushActiveSnapshot(GetActiveSnapshot());
	desc = CreateQueryDesc(plan, text, GetActiveSnapshot(), InvalidSnapshot,
						   &receiver->pub, params, environment, 0);
	ExecutorStart(desc, 0);
	wanted = is_wanted(receiver, desc->planstate);
	if (wanted)
		executor_run_to_end(desc);
	ExecutorFinish(desc);
	ExecutorEnd(desc);
	FreeQueryDesc(desc);
	PopActiveSnapshot();
	return wanted;
}

static bool
has_more(TakerReceiver *receiver)
{
	MemoryContext old = MemoryContextSwitchTo(receiver->context);
	bool		more = receiver->taker->more != NULL &&
		receiver->taker->more(receiver->taker);

	MemoryContextSwitchTo(old);
	return more;
}

bool
row_taker_run(RowTaker *taker, Query *query, const char *text,
			  QueryEnvironment *environment, ParamListInfo params)
{
	MemoryContext caller = CurrentMemoryContext;
	MemoryContext context = AllocSetContextCreate(caller, "query of rows",
												  ALLOCSET_DEFAULT_SIZES);
	TakerReceiver receiver = {
		.pub = {
			.receiveSlot = receive_row,
			.rStartup = receive_startup,
			.rShutdown = receive_nothing,
			.rDestroy = receive_nothing,
			.mydest = DestNone
		},
		.taker = taker,
		.context = caller
	};
	PlannedStmt *plan;
	bool		wanted;

	MemoryContextSwitchTo(context);
	receiver.per_row = AllocSetContextCreate(context, "row of a query",
											 ALLOCSET_DEFAULT_SIZES);
	plan = compat_plan_query(query, text, CURSOR_OPT_PARALLEL_OK, NULL);
	do
	{
		CHECK_FOR_INTERRUPTS();
		wanted = run_plan(plan, text, environment, params, &receiver);
	} while (wanted && has_more(&receiver));
	MemoryContextSwitchTo(caller);
	MemoryContextDelete(context);
	return wanted;
}
