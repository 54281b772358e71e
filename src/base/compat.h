/*
 * compat.h
 *		Differences between PostgreSQL 15 and 19, all of them, by the version
 *		that brought them: no other file mentions PG_VERSION_NUM.
 */
#ifndef NEARDUP_COMPAT_H
#define NEARDUP_COMPAT_H

#include "access/htup_details.h"
#include "nodes/tidbitmap.h"
#include "storage/proc.h"
#include "utils/guc.h"

/*
 * Flag of a setting that a parallel query may change; minor releases of 2024
 * added it
 */
#ifdef GUC_ALLOW_IN_PARALLEL
#define COMPAT_GUC_ALLOW_IN_PARALLEL GUC_ALLOW_IN_PARALLEL
#else
#define COMPAT_GUC_ALLOW_IN_PARALLEL 0
#endif

#if PG_VERSION_NUM >= 160000
#include "nodes/miscnodes.h"
#include "varatt.h"

/* from 16 on, a view that became a subquery has no list of columns to read */
#define forget_wanted_columns(rte) ((void) (rte))
/* the identifiers of a relation's file */
#define compat_file(rel) ((rel)->rd_locator)
#else
extern PGDLLEXPORT void _PG_init(void);

/* errors are never soft: the return is not reached */
#define ereturn(context, dummy_value, ...) \
	do { ereport(ERROR, __VA_ARGS__); return dummy_value; } while (0)
#define forget_wanted_columns(rte) ((rte)->selectedCols = NULL)
#define compat_file(rel) ((rel)->rd_node)
#endif

#if PG_VERSION_NUM >= 170000
/* expressions of a table's owner are computed with a safe search path */
#define compat_restrict_search_path() RestrictSearchPath()
/*
 * A custom path holds the clauses of its join, so that core can put a gating
 * node for its pseudoconstant clauses above it.  Before 17, core does not call
 * the join hook if there are such clauses.
 */
#define custom_path_set_restrictinfo(path, clauses) \
	((path)->custom_restrictinfo = (clauses))
/* the local number of this session's transaction */
#define compat_local_transaction() (MyProc->vxid.lxid)
#else
#define compat_restrict_search_path() ((void) 0)
#define custom_path_set_restrictinfo(path, clauses) ((void) 0)
#define compat_local_transaction() (MyProc->lxid)
#endif

#if PG_VERSION_NUM >= 180000
#include "access/genam.h"
#include "commands/explain.h"
#include "commands/explain_format.h"
#include "commands/explain_state.h"

/* a hook can add lines to any node of EXPLAIN */
#define COMPAT_EXPLAIN_NODE
#define NEARDUP_MODULE_MAGIC \
	PG_MODULE_MAGIC_EXT(.name = "neardup", .version = NEARDUP_VERSION)
#define compat_noreturn pg_noreturn

/*
 * A path counts the nodes below it that a setting disables.
 * compat_disable_path() raises the count above every other scan's of the same
 * table.
 */
#define path_set_disabled_nodes(path, outer, inner) \
	((path)->disabled_nodes = (outer)->disabled_nodes + (inner)->disabled_nodes)
#define compat_compare_disabled(a, b) ((a)->disabled_nodes - (b)->disabled_nodes)
#define compat_disable_path(path) ((path)->disabled_nodes += 2)
/* the last argument reserves room in front of a minimal tuple */
#define form_minimal_tuple(desc, values, isnull) \
	heap_form_minimal_tuple(desc, values, isnull, 0)
#define executor_run_to_end(desc) ExecutorRun(desc, ForwardScanDirection, 0)
/* the argument is true if ANALYZE calls it */
#define compat_vacuum_delay_point(analyze) vacuum_delay_point(analyze)
#define compat_beginscan_bitmap(index, snapshot, nkeys) \
	index_beginscan_bitmap(index, snapshot, NULL, nkeys)
/* EXPLAIN (ANALYZE) shows how often a node's scans have searched an index */
#define compat_count_search(scan) \
	do { if ((scan)->instrument) (scan)->instrument->nsearches++; } while (0)
#define bitmap_pages_begin(pages, bitmap) \
	((pages)->iterator = tbm_begin_private_iterate(bitmap))
#define bitmap_pages_end(pages) tbm_end_private_iterate((pages)->iterator)
#else
#define NEARDUP_MODULE_MAGIC PG_MODULE_MAGIC
#define compat_noreturn __attribute__((noreturn))
#define path_set_disabled_nodes(path, outer, inner) ((void) 0)
#define compat_compare_disabled(a, b) 0
#define compat_disable_path(path) ((void) 0)
#define form_minimal_tuple(desc, values, isnull) \
	heap_form_minimal_tuple(desc, values, isnull)
#define executor_run_to_end(desc) \
	ExecutorRun(desc, ForwardScanDirection, 0, true)
#define compat_vacuum_delay_point(analyze) vacuum_delay_point()
#define compat_beginscan_bitmap(index, snapshot, nkeys) \
	index_beginscan_bitmap(index, snapshot, nkeys)
#define compat_count_search(scan) ((void) 0)
#define bitmap_pages_begin(pages, bitmap) \
	((pages)->iterator = tbm_begin_iterate(bitmap))
#define bitmap_pages_end(pages) tbm_end_iterate((pages)->iterator)
#endif

#if PG_VERSION_NUM >= 190000
/* headers of the server no longer include each other */
#include "optimizer/pathnode.h"
#include "utils/tuplestore.h"
#include "utils/wait_classes.h"

/* scans and slots take flags */
#define compat_beginscan(rel, snapshot, nkeys, key) \
	table_beginscan(rel, snapshot, nkeys, key, SO_NONE)
#define compat_index_fetch_begin(rel) table_index_fetch_begin(rel, SO_NONE)
#define compat_make_slot(desc, ops) MakeTupleTableSlot(desc, ops, 0)
/* the last argument is EXPLAIN's state, or NULL */
#define compat_plan_query(query, text, options, params) \
	pg_plan_query(query, text, options, params, NULL)
/* clauses alone decide whether a unique index fits */
#define compat_has_unique_index(root, rel) \
	relation_has_unique_index_for(root, rel, NIL, NULL)
/* the hook that sees the indexes of a relation at planning */
#define compat_relation_hook build_simple_rel_hook
typedef build_simple_rel_hook_type compat_relation_hook_type;
#define COMPAT_RELATION_PARAMETERS \
	PlannerInfo *root, RelOptInfo *rel, RangeTblEntry *rte
#define COMPAT_RELATION_ARGUMENTS root, rel, rte
/* core keeps the pointer to the routines of an access method */
#define COMPAT_RETURN_AM_ROUTINE(routine) PG_RETURN_POINTER(&(routine))
#else
#include "optimizer/plancat.h"

#define pg_fallthrough __attribute__((fallthrough))
/* 19 requires this call before tuples of a new row type are read */
#define TupleDescFinalize(desc) ((void) 0)
#define compat_beginscan(rel, snapshot, nkeys, key) \
	table_beginscan(rel, snapshot, nkeys, key)
#define compat_index_fetch_begin(rel) table_index_fetch_begin(rel)
#define compat_make_slot(desc, ops) MakeTupleTableSlot(desc, ops)
#define compat_plan_query(query, text, options, params) \
	pg_plan_query(query, text, options, params)
#define compat_has_unique_index(root, rel) \
	relation_has_unique_index_for(root, rel, NIL, NIL, NIL)
#define compat_relation_hook get_relation_info_hook
typedef get_relation_info_hook_type compat_relation_hook_type;
#define COMPAT_RELATION_PARAMETERS \
	PlannerInfo *root, Oid relation, bool inhparent, RelOptInfo *rel
#define COMPAT_RELATION_ARGUMENTS root, relation, inhparent, rel
/* core frees the routines of an access method */
#define COMPAT_RETURN_AM_ROUTINE(routine) \
	PG_RETURN_POINTER(memcpy(palloc(sizeof(routine)), &(routine), sizeof(routine)))
#endif

/*
 * Return the type of a join before the planner exchanged its sides.  It may
 * exchange the sides of anti-joins from 16 on, and the sides of semi-joins
 * from 18 on.
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

/*
 * An iterator over the pages of a bitmap, in order.  From 18 on, the offsets
 * of a page are extracted in a separate step.
 */
typedef struct BitmapPages
{
	BlockNumber blockno;
	int			noffsets;		/* number of offsets; -1 = the bitmap is lossy
								 * for this page */
	OffsetNumber *offsets;
#if PG_VERSION_NUM >= 180000
	TBMPrivateIterator *iterator;
	OffsetNumber space[MaxHeapTuplesPerPage];
#else
	TBMIterator *iterator;
#endif
} BitmapPages;

/* Move to the next page; return false if there is none. */
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

#endif							/* NEARDUP_COMPAT_H */
