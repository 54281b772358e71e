/*
 * access.h
 *		The callbacks of access method neardup.
 */
#ifndef NEARDUP_ACCESS_H
#define NEARDUP_ACCESS_H

#include "access/amapi.h"

#include "signature/signature.h"

#define MATCH_STRATEGY		1	/* %%(signature, signature_query) */
#define DISTANCE_STRATEGY	2	/* <->(signature, signature), for order */
#define COSINE_STRATEGY		3	/* <=>(signature, signature), for order */

/* handler.c */

/* True if the index is of this access method, whatever its name. */
extern bool index_is_neardup(Relation index);

/*
 * Open an index with AccessShareLock.  Raises WRONG_OBJECT_TYPE for anything
 * else, and OBJECT_NOT_IN_PREREQUISITE_STATE for an index that is not ready.
 */
extern Relation index_open_neardup(Oid indexid);

#define SIGNATURE_PROC		1	/* signature(value), optional */

/*
 * Return the signature of an indexed value: the value itself, or the result of
 * SIGNATURE_PROC.
 */
extern Signature *indexed_signature(Relation index, Datum value);

/* build.c */
extern IndexBuildResult *am_build(Relation heap, Relation index,
								  struct IndexInfo *info);
extern char *am_build_phase(int64 phase);
extern void am_build_empty(Relation index);
extern bool am_insert(Relation index, Datum *values, bool *isnull,
					  ItemPointer tid, Relation heap,
					  IndexUniqueCheck unique, bool unchanged,
					  struct IndexInfo *info);

/* vacuum.c */
extern IndexBulkDeleteResult *am_bulk_delete(IndexVacuumInfo *info,
											 IndexBulkDeleteResult *stats,
											 IndexBulkDeleteCallback callback,
											 void *state);
extern IndexBulkDeleteResult *am_cleanup(IndexVacuumInfo *info,
										 IndexBulkDeleteResult *stats);

/* scan.c */
extern IndexScanDesc am_begin_scan(Relation index, int nkeys, int norderbys);
extern void am_rescan(IndexScanDesc scan, ScanKey keys, int nkeys,
					  ScanKey orderbys, int norderbys);
extern bool am_get_tuple(IndexScanDesc scan, ScanDirection dir);
extern int64 am_get_bitmap(IndexScanDesc scan, TIDBitmap *bitmap);
extern void am_end_scan(IndexScanDesc scan);

/* cost.c */
extern void am_cost(struct PlannerInfo *root, struct IndexPath *path,
					double loop_count, Cost *startup, Cost *total,
					Selectivity *selectivity, double *correlation,
					double *pages);

/*
 * Return the signature in the expressions of an index on
 * signature_query(signature, ...), or NULL if they are anything else.
 */
extern struct Node *exclusion_signature(struct List *expressions);

/* Make the planner use such an index for conditions on the signature, too. */
extern void exclusion_index_init(void);

/* scan.c: make EXPLAIN (ANALYZE) show counters, from PostgreSQL 18 on. */
extern void explain_scan_init(void);

#endif							/* NEARDUP_ACCESS_H */
