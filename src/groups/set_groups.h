/*
 * set_groups.h
 *		Groups of sets, by steps that go with sets and not with pairs.
 */
#ifndef NEARDUP_SET_GROUPS_H
#define NEARDUP_SET_GROUPS_H

#include "groups/grouping.h"
#include "join/algorithms/join_kinds.h"

typedef struct SetGroups SetGroups;

/* A set that is there in no group: it has no values. */
#define NO_SET	UINT32_MAX

/* What has been decided of a set */
typedef struct SetMember
{
	uint32		representative; /* a set, maybe itself */
	int64		outside;		/* or a representative outside; -1: none */
	double		similarity;		/* to the representative; greedy only */
	bool		reflexive;		/* it is near to itself, as nearly all are */
} SetMember;

/*
 * Begin without sets, in the current memory context.  The measure is symmetric; memory is
 * in bytes, and what exceeds it goes to disk.
 */
extern SetGroups *set_groups_begin(Measure measure, double threshold, size_t memory);
extern void set_groups_end(SetGroups *groups);

/* Before the first set: the kind of signatures that sets are of. */
extern void set_groups_use(SetGroups *groups, SignatureKind kind);

/*
 * Add a set of n values, and return its number, from 0.  A set that was there before mostly
 * has the number that it had, unless memory was short.  NO_SET if n is 0.
 */
extern uint32 set_groups_add(SetGroups *groups, const uint64 *values, uint32 n);
extern uint32 set_groups_number(const SetGroups *groups);

/*
 * Before groups are decided: the set is near to that representative outside, which comes
 * before all sets.  Of several, the one with the greatest similarity and the least number
 * counts.  Greedy only.
 */
extern void set_groups_offer(SetGroups *groups, uint32 set, uint32 outside,
							 double similarity);

/* Decide, and then tell of each set. */
extern void set_groups_decide(SetGroups *groups, GroupRule rule);
extern SetMember set_groups_member(SetGroups *groups, uint32 set);

#endif							/* NEARDUP_SET_GROUPS_H */
