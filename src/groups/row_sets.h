/*
 * row_sets.h
 *		The rows of a query, and groups of their sets.
 */
#ifndef NEARDUP_ROW_SETS_H
#define NEARDUP_ROW_SETS_H

#include "fmgr.h"

#include "groups/row_ids.h"
#include "groups/row_query.h"
#include "groups/set_groups.h"

/* A column that rows have to agree in to be compared. */
typedef struct ScopeColumn
{
	Form_pg_attribute att;		/* in the query */
	FmgrInfo	hash;
} ScopeColumn;

/* A set: number of its SpecGroups << 32 | number in these */
typedef uint64 SetNumber;

#define NO_SET	PG_UINT64_MAX

/* Groups of the sets of all specs, or of the signatures of one spec */
typedef struct SpecGroups
{
	SignatureSpec spec;			/* or of the first set */
	SignatureKind kind;
	SetGroups  *groups;
} SpecGroups;

typedef struct RowSets
{
	RowReader	reader;			/* must be first */
	MemoryContext context;
	double		threshold;
	Measure		measure;
	Oid			signature_type;
	size_t		memory;			/* of all that is done with the rows */
	TypedColumn id;
	TypedColumn signature;
	IdOrder		order;			/* of ids */
	RowIds		ids;
	DiskArray	sets;			/* SetNumber of each row, or NO_SET */
	ScopeColumn *scope;			/* further columns of the query */
	int			nscope;
	uint64		secret;			/* with which they are hashed */
	SpecGroups *groups;
	int			ngroups;
	size_t		max_groups;
	/* of the last signature: */
	SignatureSpec last;
	SignatureKind kind;
	int			current;		/* which of the groups */
	bool		salted;			/* its features are, by scope and spec */

	/*
	 * Callbacks, or NULL: the columns of the scope are known; a row has a new
	 * set, with that signature and those values of the scope.
	 */
	void		(*begun) (struct RowSets *rows);
	void		(*new_set) (struct RowSets *rows, SetNumber set, const Signature *sig,
							const Datum *scope, const bool *nulls);
} RowSets;

/*
 * Prepare for rows whose ids are of that type.  Threshold and measure are the arguments
 * of the function from number `first` on.
 */
extern void row_sets_begin(RowSets *rows, FunctionCallInfo fcinfo, int first,
						   Oid id_type);
extern void row_sets_end(RowSets *rows);

/* Read the rows of a query. */
extern void row_sets_read(RowSets *rows, const char *query);

/* Return a number that rows have in common that agree in the columns of the scope. */
extern uint64 row_sets_scope(RowSets *rows, const Datum *values, const bool *nulls);

/* Offer a set a representative outside, see set_groups_offer(). */
extern void row_sets_offer(RowSets *rows, SetNumber set, uint32 outside, double similarity);

/* Decide groups; then return the group of a set, or of a row. */
extern void row_sets_decide(RowSets *rows, GroupRule rule);
extern SetMember row_sets_set(RowSets *rows, SetNumber set);
extern SetMember row_sets_member(RowSets *rows, uint32 row);

#endif							/* NEARDUP_ROW_SETS_H */
