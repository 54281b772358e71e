/*
 * set_groups.h
 *		Groups of sets, by steps that go with sets and not with pairs.
 */
#ifndef NEARDUP_SET_GROUPS_H
#define NEARDUP_SET_GROUPS_H

#include "join/algorithms/join_kinds.h"

typedef struct SetGroups SetGroups;

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

/*
 * Begin without sets, of signatures of one kind, in the current memory context.  The measure
 * is symmetric.  Memory is in bytes; what exceeds it goes to disk.
 */
extern SetGroups *set_groups_begin(SignatureKind kind, Measure measure, double threshold,
								   size_t memory);
extern void set_groups_end(SetGroups *groups);

/*
 * Add the set of a row: n values, at least one.  Return its number, from 0.  A set that was
 * there may be taken for a new one if memory is short.
 */
extern uint32 set_groups_add(SetGroups *groups, const uint64 *values, uint32 n, uint32 row);

/* True if memory has become short, and equal sets may be taken for new ones. */
extern bool set_groups_forgot(const SetGroups *groups);

/*
 * Before groups are decided, of the first sets: the set is a representative, or it has
 * one that is no set and is represented by the set's row.  Greedy only.  Of several calls
 * the first one counts.
 */
extern void set_groups_give(SetGroups *groups, uint32 set, bool represents,
							double similarity);

/* Before groups are decided: two sets are in one group.  Connected only. */
extern void set_groups_unite(SetGroups *groups, uint32 a, uint32 b);

/* Decide; then return the group of a row with that set. */
extern void set_groups_decide(SetGroups *groups, GroupRule rule);
extern GroupMember set_groups_member(SetGroups *groups, uint32 set, uint32 row);

#endif							/* NEARDUP_SET_GROUPS_H */
