/*
 * remote_threshold.h
 *		The operators' threshold, where other servers answer.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/planner/remote_threshold.h
 */
#ifndef NEARDUP_REMOTE_THRESHOLD_H
#define NEARDUP_REMOTE_THRESHOLD_H

#include "nodes/pathnodes.h"

/*
 * Raises if the query may ask %, <% or %> on other nodes of Citus, which have
 * not heard of this session's threshold.  The root is NULL if it is not known.
 */
extern void remote_threshold_require_same(PlannerInfo *root);

#endif							/* NEARDUP_REMOTE_THRESHOLD_H */
