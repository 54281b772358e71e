/*
 * row_sets.h
 *		The rows of a query, their sets in the join's engine.
 */
#ifndef NEARDUP_ROW_SETS_H
#define NEARDUP_ROW_SETS_H

#include "fmgr.h"

#include "groups/grouping.h"
#include "groups/ordered_query.h"
#include "groups/row_ids.h"
#include "groups/paged.h"
#include "groups/set_groups.h"

/* Of the memory, the part that a grouping may take while the engine works. */
#define GROUPING_MEMORY(memory)	((memory) / 8 * 2)

/* A column that rows have to agree in to be compared. */
typedef struct ScopeColumn
{
	Form_pg_attribute att;		/* in the query */
	FmgrInfo	hash;
} ScopeColumn;

typedef struct RowSets
{
	RowTaker	taker;			/* must be first */
	double		threshold;
	Measure		measure;
	Oid			signature_type;
	size_t		memory;			/* of all that is done with the rows */
	TypedColumn id;
	TypedColumn signature;
	RowIds		ids;
	SetGroups  *groups;
	PagedArray	set_of;			/* uint32: the set of each row, or NO_SET */
	PagedArray	first;			/* uint32: the first row with each set */
	uint32		nrows;			/* that have been given to the groups */
	SignatureKind kind;
	ScopeColumn *scope;			/* further columns of the query */
	int			nscope;
	uint64		secret;			/* with which they are hashed */
	SignatureSpec		spec;			/* of the first signature */
	bool		made;			/* there was one */

	/*
	 * Called, if they are set, when the columns of the scope are known, and for
	 * the last row if it has a signature, with row_sets_scope() and what that was made
	 * of: who sets the latter calls row_sets_join() for all rows later
	 */
	void		(*begun) (struct RowSets *rows);
	void		(*added) (struct RowSets *rows, const Signature *sig,
						  uint64 scope, const Datum *values,
						  const bool *nulls);
} RowSets;

/*
 * Makes ready for rows whose ids are of that type.  Threshold and measure are
 * the function's arguments from number `first` on; what is given otherwise is
 * what has been set.
 */
extern void row_sets_begin(RowSets *rows, FunctionCallInfo fcinfo, int first,
						   Oid id_type);

/* Reads the rows of a query. */
extern void row_sets_read(RowSets *rows, const char *query);

/*
 * Gives the next row to the groups; without a signature, if it is NULL.
 */
extern void row_sets_join(RowSets *rows, const Signature *sig, uint64 scope);

/* A number that rows have in common that agree in the columns of the scope. */
extern uint64 row_sets_scope(RowSets *rows, const Datum *values,
							 const bool *nulls);

/*
 * Unites rows in a grouping, in which they have their numbers here and
 * `offset` more.  That is the end of the groups of sets.
 */
extern void row_sets_unite(RowSets *rows, Grouping *grouping, GroupRule rule,
						   uint32 offset);

#endif							/* NEARDUP_ROW_SETS_H */
