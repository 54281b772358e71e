/*
 * working_tables.h
 *		Statements over tables that one step of a procedure leaves to the next,
 *		on one server or on the nodes of Citus.
 */
#ifndef NEARDUP_WORKING_TABLES_H
#define NEARDUP_WORKING_TABLES_H

/* A name that statements use in braces, and what stands in its place. */
typedef struct Term
{
	const char *name;
	char	   *value;
} Term;

#define MAX_TERMS	50

typedef struct WorkingTables
{
	const char *schema;			/* quoted, of the result */
	const char *result;			/* its name, not quoted */
	bool		temporary;		/* it goes where all tables are temporary */
	const char *place;			/* column by which the source is distributed,
								 * quoted; NULL: it is on one server */
	const char *source;			/* quoted */
	Term		terms[MAX_TERMS];
	int			nterms;
	const char *made[MAX_TERMS];	/* names of tables, quoted */
	int			nmade;
} WorkingTables;

/* {name} in a statement is that value from now on. */
extern void working_term(WorkingTables *tables, const char *name, char *value);

/*
 * The statement with its terms replaced.  {=}, and any other operator in braces, is
 * the built-in one, which is found whatever the search path is and whatever has been
 * put into it.
 */
extern char *working_statement(const WorkingTables *tables,
							   const char *statement);

/* Runs a statement; the number of its rows. */
extern uint64 working_run(const WorkingTables *tables, const char *statement);

/* The first value of a query, as a number; 0 if there is none. */
extern double working_number(const WorkingTables *tables, const char *query);

/*
 * Makes an empty table that has a query's columns and is {name} from then on.  On
 * many servers rows are distributed by a column: as those of the table {beside}
 * are, or, if that is NULL, to so many shards; 0 is Citus's own number.
 */
extern void working_empty(WorkingTables *tables, const char *name,
						  const char *column, const char *beside, int shards,
						  const char *query);

/*
 * Adds a query's rows to the table {name}, and has the planner know about the
 * columns that are named.  The number of rows.
 */
extern uint64 working_fill(WorkingTables *tables, const char *name,
						   const char *columns, const char *query);

/* A table of a query's rows: both of these, with Citus's own number of shards. */
extern uint64 working_table(WorkingTables *tables, const char *name,
							const char *column, const char *beside,
							const char *columns, const char *query);

/* The result, all at once. */
extern void working_result(WorkingTables *tables, const char *query);

/* The result, empty, which is {result} from then on and is to be filled. */
extern void working_empty_result(WorkingTables *tables, const char *query);

/* Raises an error if a name is longer than names can be. */
extern void working_name_require_short(const char *name);

/* Drops all tables but the result. */
extern void working_end(WorkingTables *tables);

#endif							/* NEARDUP_WORKING_TABLES_H */
