/*
 * compat.h
 *		Differences between PostgreSQL 15 and 19, all of them: no other file
 *		mentions PG_VERSION_NUM.
 */
#ifndef NEARDUP_COMPAT_H
#define NEARDUP_COMPAT_H

#include "access/htup_details.h"
#include "nodes/tidbitmap.h"
#include "storage/proc.h"
#include "utils/guc.h"

/* 16: varatt.h was split from postgres.h */
#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif

/* 16: fmgr.h declares _PG_init */
#if PG_VERSION_NUM < 160000
extern PGDLLEXPORT void _PG_init(void);
#endif

/*
 * 16: input functions report errors softly.  Before, ereturn is ereport and
 * what follows it is never reached.
 */
#if PG_VERSION_NUM >= 160000
#include "nodes/miscnodes.h"
#define SOFT_ERROR_OCCURRED_IN(context) SOFT_ERROR_OCCURRED(context)
#else
#define ereturn(context, dummy_value, ...) \
	do { ereport(ERROR, __VA_ARGS__); return dummy_value; } while (0)
#define SOFT_ERROR_OCCURRED_IN(context) false
#endif

/*
 * 17: what a table's owner wrote for an index or the like is worked out with a search
 * path that is safe.  Before, with that of the session.
 */
#if PG_VERSION_NUM >= 170000
#define compat_restrict_search_path() RestrictSearchPath()
#else
#define compat_restrict_search_path() ((void) 0)
#endif

/*
 * 17: a custom path names the clauses of its join, so that core can gate it
 * with the pseudoconstant ones.  Before, the join hook is not called if there
 * are any.
 */
#if PG_VERSION_NUM >= 170000
#define custom_path_set_restrictinfo(path, clauses) \
	((path)->custom_restrictinfo = (clauses))
#else
#define custom_path_set_restrictinfo(path, clauses) ((void) 0)
#endif

/*
 * 18: a path counts the nodes below it that are disabled by a setting; one that must not be
 * taken has more of them than any other scan of its table
 */
#if PG_VERSION_NUM >= 180000
#define path_set_disabled_nodes(path, outer, inner) \
	((path)->disabled_nodes = (outer)->disabled_nodes + (inner)->disabled_nodes)
#define compat_compare_disabled(a, b) ((a)->disabled_nodes - (b)->disabled_nodes)
#define compat_disable_path(path) ((path)->disabled_nodes += 2)
#else
#define compat_compare_disabled(a, b) 0
#define compat_disable_path(path) ((void) 0)
#define path_set_disabled_nodes(path, outer, inner) ((void) 0)
#endif

/*
 * What a join is when its sides are exchanged, if they had been.  16: anti-joins may be
 * planned so, 18: and semi-joins
 */
static inline JoinType
compat_straight_join(JoinType type)
{
	switch (type)
	{
		case JOIN_RIGHT:
			return JOIN_LEFT;
#if PG_VERSION_NUM >= 160000
		case JOIN_RIGHT_ANTI:
			return JOIN_ANTI;
#endif
#if PG_VERSION_NUM >= 180000
		case JOIN_RIGHT_SEMI:
			return JOIN_SEMI;
#endif
		default:
			return type;
	}
}

/* 16: a view that became a subquery does not tell which columns are wanted */
#if PG_VERSION_NUM >= 160000
#define forget_wanted_columns(rte) ((void) (rte))
#else
#define forget_wanted_columns(rte) ((rte)->selectedCols = NULL)
#endif

/* A setting that a parallel query may change: minor releases of 2024 brought it. */
#ifdef GUC_ALLOW_IN_PARALLEL
#define COMPAT_GUC_ALLOW_IN_PARALLEL GUC_ALLOW_IN_PARALLEL
#else
#define COMPAT_GUC_ALLOW_IN_PARALLEL 0
#endif

/* 16: what is wrong with a name can be kept instead of raised */
#if PG_VERSION_NUM >= 160000
#define qualified_name_list(name) stringToQualifiedNameList(name, NULL)
#else
#define qualified_name_list(name) stringToQualifiedNameList(name)
#endif

/* 18: what does not return says so before its type */
#if PG_VERSION_NUM >= 180000
#define compat_noreturn pg_noreturn
#else
#define compat_noreturn __attribute__((noreturn))
#endif

/*
 * 18: EXPLAIN's functions have headers of their own; and a hook prints more of any
 * node: COMPAT_EXPLAIN_NODE is defined
 */
#if PG_VERSION_NUM >= 180000
#include "commands/explain.h"
#define COMPAT_EXPLAIN_NODE
#include "commands/explain_format.h"
#include "commands/explain_state.h"
#endif

/* 18: a minimal tuple can be made with room in front of it */
#if PG_VERSION_NUM >= 180000
#define form_minimal_tuple(desc, values, isnull) \
	heap_form_minimal_tuple(desc, values, isnull, 0)
#else
#define form_minimal_tuple(desc, values, isnull) \
	heap_form_minimal_tuple(desc, values, isnull)
#endif

/* 18: a plan cannot be run in several goes unless it is said beforehand */
#if PG_VERSION_NUM >= 180000
#define executor_run_to_end(desc) ExecutorRun(desc, ForwardScanDirection, 0)
#else
#define executor_run_to_end(desc) \
	ExecutorRun(desc, ForwardScanDirection, 0, true)
#endif

/* 16: a sorted datum is copied on request only; here by-value ones are read */
#if PG_VERSION_NUM >= 160000
#define sorted_datum(sort, value, isnull) \
	tuplesort_getdatum(sort, true, false, value, isnull, NULL)
#else
#define sorted_datum(sort, value, isnull) \
	tuplesort_getdatum(sort, true, value, isnull, NULL)
#endif

/* 18: vacuum_delay_point is told whether it is called by ANALYZE */
#if PG_VERSION_NUM >= 180000
#define vacuum_delay_point_compat(analyze) vacuum_delay_point(analyze)
#else
#define vacuum_delay_point_compat(analyze) vacuum_delay_point()
#endif

/* 18: the module tells its name and version */
#if PG_VERSION_NUM >= 180000
#define NEARDUP_MODULE_MAGIC \
	PG_MODULE_MAGIC_EXT(.name = "neardup", .version = NEARDUP_VERSION)
#else
#define NEARDUP_MODULE_MAGIC PG_MODULE_MAGIC
#endif

/* 18: a scan is told where to count */
#if PG_VERSION_NUM >= 180000
#define compat_beginscan_bitmap(index, snapshot, nkeys) \
	index_beginscan_bitmap(index, snapshot, NULL, nkeys)
#else
#define compat_beginscan_bitmap(index, snapshot, nkeys) \
	index_beginscan_bitmap(index, snapshot, nkeys)
#endif

/* 18: EXPLAIN (ANALYZE) tells how often a node's scans have searched an index */
#if PG_VERSION_NUM >= 180000
#include "access/genam.h"
#define compat_count_search(scan) \
	do { if ((scan)->instrument) (scan)->instrument->nsearches++; } while (0)
#else
#define compat_count_search(scan) ((void) 0)
#endif

/*
 * The pages of a bitmap, one after the other.  18: the offsets of a page are
 * taken out of it in a step of their own.
 */
typedef struct BitmapPages
{
	BlockNumber blockno;
	int			noffsets;		/* -1: any row of the page may be meant */
	OffsetNumber *offsets;
#if PG_VERSION_NUM >= 180000
	TBMPrivateIterator *iterator;
	OffsetNumber space[MaxHeapTuplesPerPage];
#else
	TBMIterator *iterator;
#endif
} BitmapPages;

#if PG_VERSION_NUM >= 180000
#define bitmap_pages_begin(pages, bitmap) \
	((pages)->iterator = tbm_begin_private_iterate(bitmap))
#define bitmap_pages_end(pages) tbm_end_private_iterate((pages)->iterator)
#else
#define bitmap_pages_begin(pages, bitmap) \
	((pages)->iterator = tbm_begin_iterate(bitmap))
#define bitmap_pages_end(pages) tbm_end_iterate((pages)->iterator)
#endif

static inline bool
bitmap_pages_next(BitmapPages *pages)
{
#if PG_VERSION_NUM >= 180000
	TBMIterateResult page;

	if (!tbm_private_iterate(pages->iterator, &page))
		return false;
	pages->blockno = page.blockno;
	pages->offsets = pages->space;
	pages->noffsets = page.lossy ? -1 :
		tbm_extract_page_tuple(&page, pages->space, MaxHeapTuplesPerPage);
#else
	TBMIterateResult *page = tbm_iterate(pages->iterator);

	if (page == NULL)
		return false;
	pages->blockno = page->blockno;
	pages->offsets = page->offsets;
	pages->noffsets = page->ntuples;
#endif
	return true;
}

/* 19: headers of the server no longer include each other */
#if PG_VERSION_NUM >= 190000
#include "utils/tuplestore.h"
#include "utils/wait_classes.h"
#endif

/* 19: an attribute says that a case falls through.  Before, a comment does as well. */
#ifndef pg_fallthrough
#define pg_fallthrough __attribute__((fallthrough))
#endif

/*
 * 19: a tuple descriptor is finalized after its last column.  Without that, tuples are
 * read from wrong places.
 */
#if PG_VERSION_NUM < 190000
#define TupleDescFinalize(desc) ((void) 0)
#endif

/* 19: scans and slots take flags */
#if PG_VERSION_NUM >= 190000
#define compat_beginscan(rel, snapshot, nkeys, key) \
	table_beginscan(rel, snapshot, nkeys, key, SO_NONE)
#define compat_beginscan_parallel(rel, scan) table_beginscan_parallel(rel, scan, SO_NONE)
#define compat_index_fetch_begin(rel) table_index_fetch_begin(rel, SO_NONE)
#define compat_make_slot(desc, ops) MakeTupleTableSlot(desc, ops, 0)
#else
#define compat_beginscan(rel, snapshot, nkeys, key) \
	table_beginscan(rel, snapshot, nkeys, key)
#define compat_beginscan_parallel(rel, scan) table_beginscan_parallel(rel, scan)
#define compat_index_fetch_begin(rel) table_index_fetch_begin(rel)
#define compat_make_slot(desc, ops) MakeTupleTableSlot(desc, ops)
#endif

/* 19: a planned query may be for EXPLAIN */
#if PG_VERSION_NUM >= 190000
#define compat_plan_query(query, text, options, params) \
	pg_plan_query(query, text, options, params, NULL)
#else
#define compat_plan_query(query, text, options, params) \
	pg_plan_query(query, text, options, params)
#endif

/* 19: a unique index is looked for by clauses only */
#if PG_VERSION_NUM >= 190000
#define compat_has_unique_index(root, rel) \
	relation_has_unique_index_for(root, rel, NIL, NULL)
#else
#define compat_has_unique_index(root, rel) \
	relation_has_unique_index_for(root, rel, NIL, NIL, NIL)
#endif

/*
 * The hook that sees the indexes of a relation at planning, and the parameters that it
 * has.  19: another hook at the same place.
 */
#if PG_VERSION_NUM >= 190000
#include "optimizer/pathnode.h"
#define compat_relation_hook build_simple_rel_hook
typedef build_simple_rel_hook_type compat_relation_hook_type;
#define COMPAT_RELATION_PARAMETERS \
	PlannerInfo *root, RelOptInfo *rel, RangeTblEntry *rte
#define COMPAT_RELATION_ARGUMENTS root, rel, rte
#else
#include "optimizer/plancat.h"
#define compat_relation_hook get_relation_info_hook
typedef get_relation_info_hook_type compat_relation_hook_type;
#define COMPAT_RELATION_PARAMETERS \
	PlannerInfo *root, Oid relation, bool inhparent, RelOptInfo *rel
#define COMPAT_RELATION_ARGUMENTS root, relation, inhparent, rel
#endif

/* 19: the routines of an access method stay.  Before, the caller frees them. */
#if PG_VERSION_NUM >= 190000
#define COMPAT_RETURN_AM_ROUTINE(routine) PG_RETURN_POINTER(&(routine))
#else
#define COMPAT_RETURN_AM_ROUTINE(routine) \
	PG_RETURN_POINTER(memcpy(palloc(sizeof(routine)), &(routine), sizeof(routine)))
#endif

/* Status of a session, by its number among them.  16: another name. */
#if PG_VERSION_NUM >= 160000
#define compat_backend_status(i) pgstat_get_local_beentry_by_index(i)
#else
#define compat_backend_status(i) pgstat_fetch_stat_local_beentry(i)
#endif

/* The number of the session's transaction.  17: in a struct. */
#if PG_VERSION_NUM >= 170000
#define compat_local_transaction() (MyProc->vxid.lxid)
#else
#define compat_local_transaction() (MyProc->lxid)
#endif

/* The file of a relation.  16: another name. */
#if PG_VERSION_NUM >= 160000
#define compat_file(rel) ((rel)->rd_locator)
#else
#define compat_file(rel) ((rel)->rd_node)
#endif

#endif							/* NEARDUP_COMPAT_H */
