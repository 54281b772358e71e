/*
 * groups.h
 *		Groups as the rows of a set-returning function.
 */
#ifndef NEARDUP_GROUPS_H
#define NEARDUP_GROUPS_H

#include "fmgr.h"

#include "groups/disk_array.h"

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

/* The arguments of a function, behind the null of the ids' type that may come first */
typedef struct GroupArguments
{
	int			first;			/* number of the first one */
	Oid			id_type;
	GroupRule	rule;			/* the last one */
} GroupArguments;

/*
 * Begin the result of a function that has n arguments, besides the type of ids.  Return
 * false, with an empty result, if one of them is null; raises INVALID_PARAMETER_VALUE if
 * there is no such rule.
 */
extern bool groups_begin(FunctionCallInfo fcinfo, int n, GroupArguments *arguments);

#endif							/* NEARDUP_GROUPS_H */
