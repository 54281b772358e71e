/*
 * groups.h
 *		Groups as the rows of a set-returning function.
 */
#ifndef NEARDUP_GROUPS_H
#define NEARDUP_GROUPS_H

#include "fmgr.h"

#include "groups/row_ids.h"

typedef enum GroupRule
{
	RULE_CONNECTED,
	RULE_GREEDY,
} GroupRule;

/* The group of a row */
typedef struct GroupMember
{
	uint32		representative; /* itself, if it stands for its group */
	double		similarity;		/* to the representative; NaN: null */
} GroupMember;

typedef GroupMember (*GroupOf) (void *context, uint32 row);

/*
 * Put a row for each id, in the order of the rows: id, number of the group,
 * representative, similarity, size.
 */
extern void groups_put(FunctionCallInfo fcinfo, RowIds *ids, size_t memory,
					   GroupOf group_of, void *context);

/*
 * Return false, with an empty result, if an argument is null; those before number
 * `first` are there for their type.
 */
extern bool groups_wanted(FunctionCallInfo fcinfo, int first);

/* Return the rule of that name; raises INVALID_PARAMETER_VALUE if there is none. */
extern GroupRule rule_require(const text *name);

#endif							/* NEARDUP_GROUPS_H */
