/*
 * groups.h
 *		Groups the rows of a query and returns them as rows of a result.
 */
#ifndef NEARDUP_GROUPS_H
#define NEARDUP_GROUPS_H

#include "fmgr.h"

#include "groups/apart_rows.h"
#include "groups/disk_array.h"
#include "groups/row_query.h"
#include "groups/set_groups.h"

/*
 * Number of a set: index of its SpecGroups << 32 | number of the set in these
 * groups
 */
typedef uint64 SetNumber;

#define NO_SET	PG_UINT64_MAX

/*
 * Groups of all sets, whatever their specs, or of the sketches or vectors of
 * one spec
 */
typedef struct SpecGroups
{
	SignatureSpec spec;			/* spec of the first signature; the spec of
								 * all of them unless kind is KIND_SETS */
	SignatureKind kind;
	SetGroups  *groups;
} SpecGroups;

/* Rows of a query, each with the number of its set */
typedef struct GroupInput
{
	MemoryContext context;
	double		threshold;
	Measure		measure;
	Oid			signature_type;
	size_t		memory;			/* bytes that rows and sets may take together */
	TypedColumn id;
	TypedColumn signature;
	TupleDesc	desc;			/* columns of a row: id, signature, scope */
	Datum	   *values;			/* columns of the row that was read last */
	bool	   *nulls;
	RowIds		ids;
	DiskArray	sets;			/* SetNumber of each row, or NO_SET */
	int			nscope;			/* number of columns after the signature: the
								 * scope */
	RecordNumbers scopes;		/* numbers of different scopes */
	uint64		secret;			/* seed by which numbers of scopes are hashed */
	SpecGroups *groups;
	int			ngroups;
	size_t		max_groups;
	/* the row added last */
	SignatureSpec last;
	SignatureKind kind;
	int			current;		/* index of its SpecGroups */
	const char *apart_query;	/* query of rows that are kept apart; NULL =
								 * none */
	ApartRows	apart;
	bool		salted;			/* true if the features of its set are hashed
								 * with scope and spec */
} GroupInput;

/* Arguments of a function, after the null that may give the type of ids */
typedef struct GroupArguments
{
	int			first;			/* number of the first argument */
	Oid			id_type;
	GroupRule	rule;			/* the last argument that is not optional */
	const char *apart;			/* the optional query of rows that are apart;
								 * NULL = none */
} GroupArguments;

/*
 * Prepare zeroed memory for rows.  Argument number `measure` names the
 * measure.  Call group_input_set_threshold() next.
 */
extern void group_input_begin(GroupInput *rows, FunctionCallInfo fcinfo, int measure,
							  const GroupArguments *arguments);

/* Set the threshold, and remove all rows. */
extern void group_input_set_threshold(GroupInput *rows, double threshold);

/* Free the rows. */
extern void group_input_end(GroupInput *rows);

/*
 * Prepare to read rows with these columns.  Runs the query of rows that are
 * apart, if there is one.
 */
extern void group_input_columns(GroupInput *rows, TupleDesc desc);

/* Read a row into rows->values and rows->nulls. */
extern void group_input_read(GroupInput *rows, TupleTableSlot *slot);

/*
 * Add a row, and return the number of its set; NO_SET if it has no features or
 * no signature.  `id` is the id by which the row is kept apart from others.
 */
extern SetNumber group_input_add(GroupInput *rows, Datum id, const Datum *values,
								 const bool *nulls);

/* True if memory was short, so that equal sets may have different numbers. */
extern bool group_input_has_untracked(const GroupInput *rows);

/* Remove all rows. */
extern void group_input_clear(GroupInput *rows);

/*
 * Say what is known of the group of the row added last; see set_groups_seed().
 */
extern void group_input_seed(GroupInput *rows, SetNumber set, bool represents,
							 double similarity);

/* Put two sets into one group; see set_groups_unite(). */
extern void group_input_unite(GroupInput *rows, SetNumber a, SetNumber b);

/* Decide the groups. */
extern void group_input_decide(GroupInput *rows, GroupRule rule);

/* GroupOf: return the group of a row, once the groups are decided. */
extern GroupMember group_input_member(void *rows, uint32 row);

/* Rows of results */

/* Returns the group of a row. */
typedef GroupMember (*GroupOf) (void *context, uint32 row);

/*
 * Put a row into the result for each id, in the order of the rows: id, number
 * of the group, representative, similarity, size of the group.  `memory`
 * bounds the memory that counts groups, in bytes.
 */
extern void groups_put(FunctionCallInfo fcinfo, RowIds *ids, size_t memory,
					   GroupOf group_of, void *context);

/*
 * Read the arguments of a function and begin its result.  The function has n
 * required arguments, after the optional type of ids and before the optional
 * query of rows that are apart.  Returns false, with an empty result, if a
 * required argument is null.  Raises INVALID_PARAMETER_VALUE if the rule does
 * not exist, UNDEFINED_FUNCTION if ids of the type have no order,
 * FEATURE_NOT_SUPPORTED if rows of connected groups should be apart.
 */
extern bool groups_begin(FunctionCallInfo fcinfo, int n, bool may_be_apart,
						 GroupArguments *arguments);

#endif							/* NEARDUP_GROUPS_H */
