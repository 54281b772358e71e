/*
 * neardup.c
 *		The module: its magic block and its settings.
 */
#include "postgres.h"

#include <math.h>

#include "base/compat.h"
#include "base/settings.h"
#include "signature/signature.h"
#include "gin/gin.h"
#include "guard/guard.h"
#include "index/access.h"
#include "index/directory.h"
#include "index/segment_cache.h"
#include "index/segments.h"
#include "join/node/join_node.h"
#include "planner/conditions.h"

NEARDUP_MODULE_MAGIC;

/* Zero lies in the range that a real setting can express, but not in ours. */
static bool
check_threshold(double *newval, void **extra, GucSource source)
{
	if (*newval > 0 && *newval <= 1)
		return true;
	GUC_check_errdetail("A threshold is greater than 0 and at most 1.");
	return false;
}

void
_PG_init(void)
{
	DefineCustomRealVariable("neardup.threshold",
							 "Sets the similarity from which the operators %, <% and %> hold.",
							 "Functions such as near_duplicate() take the threshold as an argument.",
							 &neardup_threshold,
							 0.8, 0.0, 1.0,
							 PGC_USERSET, GUC_EXPLAIN | guc_parallel_flags(),
							 check_threshold, NULL, NULL);
#ifdef NEARDUP_TESTING
	DefineCustomIntVariable("neardup.merge_postings",
							"Sets how many postings of an index are merged at once.",
							NULL, &merge_step_postings,
							merge_step_postings, 1, INT_MAX,
							PGC_USERSET, GUC_NO_SHOW_ALL | GUC_NOT_IN_SAMPLE,
							NULL, NULL, NULL);
	DefineCustomIntVariable("neardup.pause",
							"Sets where to wait for an advisory lock.",
							NULL, &pause_places,
							0, 0, INT_MAX,
							PGC_USERSET, GUC_NO_SHOW_ALL | GUC_NOT_IN_SAMPLE,
							NULL, NULL, NULL);
	DefineCustomIntVariable("neardup.level_entries",
							"Sets how many entries of a directory are left for later.",
							NULL, &directory_level_entries,
							directory_level_entries, 1, LEVEL_ENTRIES,
							PGC_USERSET, GUC_NO_SHOW_ALL | GUC_NOT_IN_SAMPLE,
							NULL, NULL, NULL);
	DefineCustomIntVariable("neardup.segment_cache_memory",
							"Sets how much memory a session may take to cache segments.",
							NULL, &segment_cache_memory,
							segment_cache_memory, 0, MAX_KILOBYTES,
							PGC_USERSET,
							GUC_UNIT_KB | GUC_NO_SHOW_ALL | GUC_NOT_IN_SAMPLE,
							NULL, NULL, NULL);
#endif
	gin_cost_init();
	exclusion_index_init();
	near_look_ups_init();
	similarity_join_init();
	explain_scan_init();
	guard_skipped_init();
	MarkGUCPrefixReserved("neardup");
}
