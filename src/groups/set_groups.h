/*
 * set_groups.h
 *		Groups sets, in time that grows with the number of sets, not of pairs.
 */
#ifndef NEARDUP_SET_GROUPS_H
#define NEARDUP_SET_GROUPS_H

#include "join/algorithms/join_kinds.h"

typedef struct SetGroups SetGroups;

/* How groups are formed */
typedef enum GroupRule
{
	RULE_CONNECTED,
	RULE_GREEDY,
} GroupRule;

/* The group of a row */
typedef struct GroupMember
{
	uint32		representative; /* row; may be the row itself */
	double		similarity;		/* similarity to the representative; NaN =
								 * null */
} GroupMember;

/*
 * Create an empty collection of sets, for signatures of one kind, in the
 * current memory context.  The measure must be symmetric.  Sets that exceed
 * `memory` bytes go to a temporary file.
 */
extern SetGroups *set_groups_begin(SignatureKind kind, Measure measure,
								   double threshold,
								   size_t memory);

/* Free the sets and their groups. */
extern void set_groups_end(SetGroups *groups);

/*
 * Add the set of a row: n values, at least one.  Return the set's number, from
 * 0.  An equal set has the same number unless memory is short.  A set with a
 * name, which is not 0, always gets a new number.
 */
extern uint32 set_groups_add(SetGroups *groups, const uint64 *values, uint32 n,
							 uint32 row,
							 uint32 name);

/*
 * True if a set named `name` must not belong to a representative named
 * `other`.
 */
typedef bool (*NamesApart) (void *context, uint32 name, uint32 other);

/*
 * Greedy: keep sets apart by their names.  Call it before the first set is
 * added.
 */
extern void set_groups_keep_apart(SetGroups *groups, NamesApart apart,
								  void *context);

/* True if memory was short, so that equal sets may have different numbers. */
extern bool set_groups_has_untracked(const SetGroups *groups);

/*
 * Greedy: say what is known of a row with this set, before groups are decided.
 * If `represents`, the row is a representative.  Otherwise it is a member of a
 * representative that was not added, at this similarity, and stands for it.  A
 * set is a representative if one of its rows is.
 */
extern void set_groups_seed(SetGroups *groups, uint32 set, uint32 row,
							bool represents,
							double similarity);

/* Connected: put two sets into one group, before groups are decided. */
extern void set_groups_unite(SetGroups *groups, uint32 a, uint32 b);

/* Return the bytes of memory that the sets or their groups may take now. */
extern size_t set_groups_held(const SetGroups *groups);

/*
 * Decide the groups, with that memory if it is more than the sets were given.
 */
extern void set_groups_decide(SetGroups *groups, GroupRule rule,
							  size_t memory);

/* Return the group of a row with this set, once the groups are decided. */
extern GroupMember set_groups_member(SetGroups *groups, uint32 set,
									 uint32 row);

#endif							/* NEARDUP_SET_GROUPS_H */
