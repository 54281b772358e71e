/*
 * row_taker.h
 *		The rows of a parsed query, one by one.
 */
#ifndef NEARDUP_ROW_TAKER_H
#define NEARDUP_ROW_TAKER_H

#include "executor/tuptable.h"
#include "nodes/execnodes.h"
#include "nodes/params.h"
#include "nodes/parsenodes.h"
#include "utils/queryenvironment.h"

/*
 * Who takes the rows.  begin is told what columns there are; all are called
 * in the memory context that row_taker_run() was called in, except that
 * row's is one that is reset after each row.
 */
typedef struct RowTaker
{
	/* false: the query is not to be run by this plan.  NULL: by any */
	bool		(*planned) (struct RowTaker *taker, PlanState *plan);
	void		(*begin) (struct RowTaker *taker, TupleDesc desc);
	void		(*row) (struct RowTaker *taker, TupleTableSlot *slot);
	/* true: what the query reads is other rows now, run it again.  NULL: it is not */
	bool		(*more) (struct RowTaker *taker);
} RowTaker;

/*
 * Plans and runs a query that only reads, as the statement sees the tables
 * that this is part of.  The environment has its named stores, or is NULL; so have
 * the parameters what is known when it runs.  False if the plan was not wanted.
 */
extern bool row_taker_run(RowTaker *taker, Query *query, const char *text,
						  QueryEnvironment *environment, ParamListInfo params);

/*
 * While a query is analyzed, errors in it point to their place in its text, not
 * in that of the statement that it is part of.
 */
extern void query_errors_begin(ErrorContextCallback *errors, const char *text);
extern void query_errors_end(ErrorContextCallback *errors);

#endif							/* NEARDUP_ROW_TAKER_H */
