/*
 * source_table.h
 *		The table that a column of a query comes from.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/groups/source_table.h
 */
#ifndef NEARDUP_SOURCE_TABLE_H
#define NEARDUP_SOURCE_TABLE_H

#include "nodes/parsenodes.h"
#include "nodes/primnodes.h"

typedef struct SourceTable
{
	Oid			table;
	AttrNumber	column;
	Query	   *query;			/* the subquery that reads it, or the query itself */
	int			depth;			/* 0: itself */
	Var		   *var;			/* the column in that */
} SourceTable;

/*
 * Looks for the source of column number n of a query that has been analyzed and
 * rewritten.  False if it is not a column of one plain table, or the query's rows
 * are not those of joined tables but made of several, so that a condition on the
 * table would change more than which of them come.
 */
extern bool source_table_find(Query *query, int n, SourceTable *source);

/*
 * Adds the condition that the table's row stands where a column of the type tid says:
 * column `attno` of entry number `varno` in the range table of the query that was looked
 * in.
 */
extern void source_table_place(SourceTable *source, Index varno, AttrNumber attno);

/* The same where the places are an array, the parameter of that number. */
extern void source_table_place_any(SourceTable *source, int param);

/*
 * Takes out of a query, and of the subqueries on the way to that source, the conditions
 * that column number n, a signature, is near to the first parameter, as an equal set is
 * that is not empty.
 */
extern void source_table_drop_near(Query *query, int n);

#endif							/* NEARDUP_SOURCE_TABLE_H */
