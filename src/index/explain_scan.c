/*
 * explain_scan.c
 *		What EXPLAIN (ANALYZE) tells of scans of access method neardup: what
 *		the scan has counted in this process, from PostgreSQL 18 on.
 */
#include "postgres.h"

#include "base/compat.h"
#include "index/access.h"

#ifdef COMPAT_EXPLAIN_NODE

#include "access/relscan.h"
#include "nodes/execnodes.h"

#include "index/counters.h"

static explain_per_node_hook_type previous_hook = NULL;

/* The scan of a node, if it scans an index. */
static IndexScanDesc
scan_of(PlanState *node)
{
	switch (nodeTag(node))
	{
		case T_IndexScanState:
			return ((IndexScanState *) node)->iss_ScanDesc;
		case T_IndexOnlyScanState:
			return ((IndexOnlyScanState *) node)->ioss_ScanDesc;
		case T_BitmapIndexScanState:
			return ((BitmapIndexScanState *) node)->biss_ScanDesc;
		default:
			return NULL;
	}
}

static void
explain_node(PlanState *node, List *ancestors, const char *relationship,
			 const char *plan_name, ExplainState *es)
{
	IndexScanDesc scan = es->analyze ? scan_of(node) : NULL;

	if (previous_hook)
		previous_hook(node, ancestors, relationship, plan_name, es);
	if (scan != NULL && index_is_neardup(scan->indexRelation))
	{
		const SearchCounters *counters = am_scan_counters(scan);

		/* scans of parallel workers are theirs */
		if (counters->passes == 0)
			return;
		ExplainPropertyUInteger("Passes", NULL, counters->passes, es);
		ExplainPropertyUInteger("Pages", NULL, counters->pages, es);
		ExplainPropertyUInteger("Keys", NULL, counters->keys, es);
		ExplainPropertyUInteger("Postings", NULL, counters->postings, es);
		ExplainPropertyUInteger("Candidates", NULL, counters->candidates, es);
	}
}

void
explain_scan_init(void)
{
	previous_hook = explain_per_node_hook;
	explain_per_node_hook = explain_node;
}

#else

void
explain_scan_init(void)
{
}

#endif
