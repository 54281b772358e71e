/*
 * group_rows.h
 *		Groups as the rows of a set-returning function.
 */
#ifndef NEARDUP_GROUP_ROWS_H
#define NEARDUP_GROUP_ROWS_H

#include "fmgr.h"

#include "groups/grouping.h"
#include "groups/row_ids.h"

/*
 * Puts a row for each id, in the order of the rows: id, number of the cluster,
 * representative, similarity to that, unless it is not `measured`, size.  The
 * grouping has been decided.
 */
extern void group_rows_put(FunctionCallInfo fcinfo, Grouping *grouping,
						   RowIds *ids, bool measured, size_t memory);

/*
 * False, with an empty result, if an argument is null; those before number `first`
 * are there for their type.
 */
extern bool group_rows_wanted(FunctionCallInfo fcinfo, int first);

/* The rule of that name; raises INVALID_PARAMETER_VALUE if there is none. */
extern GroupRule rule_require(const text *name);

#endif							/* NEARDUP_GROUP_ROWS_H */
