/*
 * groups.h
 *		Groups of the rows of a query, and the rows of results.
 */
#ifndef NEARDUP_GROUPS_H
#define NEARDUP_GROUPS_H

#include "fmgr.h"

#include "groups/apart_rows.h"
#include "groups/disk_array.h"
#include "groups/row_query.h"
#include "groups/set_groups.h"

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
	MemoryContext context;
	double		threshold;
	Measure		measure;
	Oid			signature_type;
	size_t		memory;			/* bytes, for rows and sets together */
	TypedColumn id;
	TypedColumn signature;
	TupleDesc	desc;			/* of a row: id, signature, scope */
	Datum	   *values;			/* of a row that was read */
	bool	   *nulls;
	RowIds		ids;
	DiskArray	sets;			/* SetNumber of each row, or NO_SET */
	int			nscope;			/* further columns of the query */
	RecordNumbers scopes;		/* their values */
	uint64		secret;			/* with which numbers of scopes are hashed */
	SpecGroups *groups;
	int			ngroups;
	size_t		max_groups;
	/* the last signature */
	SignatureSpec last;
	SignatureKind kind;
	int			current;		/* number of its SpecGroups */
	const char *apart_query;	/* NULL: none */
	ApartRows	apart;
	bool		salted;			/* its features are hashed with scope and spec */
} RowSets;

/* The arguments of a function, after the null that may give the type of ids */
typedef struct GroupArguments
{
	int			first;			/* number of the first one */
	Oid			id_type;
	GroupRule	rule;			/* the last one that is not optional */
	const char *apart;			/* optional: a query; NULL: none */
} GroupArguments;

/*
 * Prepare zeroed memory for rows, by the argument of that number, the measure.
 * Then set the threshold, and remove all rows.
 */
extern void row_sets_begin(RowSets *rows, FunctionCallInfo fcinfo, int measure,
						   const GroupArguments *arguments);
extern void row_sets_set_threshold(RowSets *rows, double threshold);
extern void row_sets_end(RowSets *rows);

/*
 * Prepare to read rows of these columns, and read which rows are apart; read a
 * row into values and nulls; add a row, which is known as `id` where rows are
 * apart, and return the number of its set, or NO_SET.
 */
extern void row_sets_columns(RowSets *rows, TupleDesc desc);
extern void row_sets_read(RowSets *rows, TupleTableSlot *slot);
extern SetNumber row_sets_add(RowSets *rows, Datum id, const Datum *values,
							  const bool *nulls);

/*
 * Return true if memory was short, so that equal sets may have different
 * numbers.
 */
extern bool row_sets_forgot(const RowSets *rows);

/* Remove all rows. */
extern void row_sets_clear(RowSets *rows);

/*
 * Set the group of the last row and its set, see set_groups_give() and
 * set_groups_unite().
 */
extern void row_sets_give(RowSets *rows, SetNumber set, bool represents,
						  double similarity);
extern void row_sets_unite(RowSets *rows, SetNumber a, SetNumber b);

/* Decide groups; then return the group of a row, as GroupOf. */
extern void row_sets_decide(RowSets *rows, GroupRule rule);
extern GroupMember row_sets_member(void *rows, uint32 row);

/* The rows of results */

typedef GroupMember (*GroupOf) (void *context, uint32 row);

/*
 * Put a row for each id, in the order of the rows: id, number of the group,
 * representative, similarity, size.
 */
extern void groups_put(FunctionCallInfo fcinfo, RowIds *ids, size_t memory,
					   GroupOf group_of, void *context);

/*
 * Begin the result of a function that has n arguments, besides the type of ids
 * and, if it has one, the query of rows that are apart.  Return false, with an
 * empty result, if one of the n is null.  Raises INVALID_PARAMETER_VALUE if
 * there is no such rule, UNDEFINED_FUNCTION if ids of the type have no order,
 * FEATURE_NOT_SUPPORTED if rows of connected groups should be apart.
 */
extern bool groups_begin(FunctionCallInfo fcinfo, int n, bool may_be_apart,
						 GroupArguments *arguments);

#endif							/* NEARDUP_GROUPS_H */
