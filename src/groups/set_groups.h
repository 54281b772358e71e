/*
 * set_groups.h
 *		Groups of sets, in time that grows with sets and not with pairs.
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
	uint32		representative; /* may be the row itself */
	double		similarity;		/* to the representative; NaN: null */
} GroupMember;

/*
 * Create groups without sets, for signatures of one kind, in the current
 * memory context.  The measure must be symmetric.  What exceeds `memory` bytes
 * goes to disk.
 */
extern SetGroups *set_groups_begin(SignatureKind kind, Measure measure,
								   double threshold,
								   size_t memory);
extern void set_groups_end(SetGroups *groups);

/*
 * Add the set of a row: n values, at least one.  Return its number, from 0.
 * An equal set has the same number unless memory is short.  A set that has a
 * name, which is not 0, has a number of its own.
 */
extern uint32 set_groups_add(SetGroups *groups, const uint64 *values, uint32 n,
							 uint32 row,
							 uint32 name);

/*
 * True if a set of that name must not belong to a representative of that other
 * name
 */
typedef bool (*NamesApart) (void *context, uint32 name, uint32 other);

/* Greedy, before groups are decided: keep sets apart by their names. */
extern void set_groups_keep_apart(SetGroups *groups, NamesApart apart,
								  void *context);

/*
 * Return true if memory was short, so that equal sets may have different
 * numbers.
 */
extern bool set_groups_forgot(const SetGroups *groups);

/*
 * Greedy, before groups are decided: tell what is known of a row with that
 * set.  The row is a representative, or a member, with that similarity, of a
 * representative that is not added, for which the row stands.  A set with a
 * representative represents, whatever its other rows are.
 */
extern void set_groups_give(SetGroups *groups, uint32 set, uint32 row,
							bool represents,
							double similarity);

/* Connected, before groups are decided: put two sets into one group. */
extern void set_groups_unite(SetGroups *groups, uint32 a, uint32 b);

/* Decide; then return the group of a row with that set. */
extern void set_groups_decide(SetGroups *groups, GroupRule rule);
extern GroupMember set_groups_member(SetGroups *groups, uint32 set,
									 uint32 row);

#endif							/* NEARDUP_SET_GROUPS_H */
