/*
 * grouping.h
 *		From pairs of rows to groups.
 *
 * Rows are numbers, from zero, in an order that decides between them: of a
 * group the first one that may stand for it does.  There are two rules.
 *
 * Connected: rows that are near are in one group, and so are those that others
 * connect.  The first row stands for the group.
 *
 * Kept: one row after another is kept unless it is near to one before it that
 * is.  Each of the others is in the group of the nearest kept row, before or
 * behind it; of equally near ones in that of the first.  No two kept rows are
 * near, and each other row is near to the one that stands for it.
 *
 * The outcome depends on the rows' order and on which pairs are near, and on
 * nothing else.
 */
#ifndef NEARDUP_GROUPING_H
#define NEARDUP_GROUPING_H

typedef enum GroupRule
{
	RULE_CONNECTED,
	RULE_GREEDY,
} GroupRule;

typedef struct Grouping Grouping;

/* Of a row */
typedef struct GroupMember
{
	uint32		representative; /* itself, if it stands for its group */
	double		similarity;		/* to the representative; NaN under the rule
								 * connected, and of the representative */
} GroupMember;

/*
 * Groups of n rows, each by itself as yet.  It lives in the current memory
 * context and, with what follows, within `memory` bytes; what does not fit
 * goes to disk.
 */
extern Grouping *grouping_begin(GroupRule rule, uint32 n, size_t memory);

/* Adds rows behind the others, up to n in all. */
extern void grouping_grow(Grouping *grouping, uint32 n);
extern void grouping_end(Grouping *grouping);

/*
 * Row `row` is like `first`, which is before it: near to it, and near to the
 * same rows, by the same measure.  `first` is not like another one.
 */
extern void grouping_like(Grouping *grouping, uint32 first, uint32 row,
						  double similarity);

/*
 * Two rows are near, neither of which is like another one.  False if that is
 * nothing new: under the rule connected, if they are in one group already.
 */
extern bool grouping_near(Grouping *grouping, uint32 a, uint32 b,
						  double similarity);

/* That was all; from now on it may take that much memory. */
extern void grouping_decide(Grouping *grouping, size_t memory);

/* What has been decided of a row. */
extern GroupMember grouping_member(Grouping *grouping, uint32 row);

#endif							/* NEARDUP_GROUPING_H */
