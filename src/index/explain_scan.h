/*
 * explain_scan.h
 *		What EXPLAIN (ANALYZE) tells of scans of access method neardup.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/index/explain_scan.h
 */
#ifndef NEARDUP_EXPLAIN_SCAN_H
#define NEARDUP_EXPLAIN_SCAN_H

/* Sees to it that it does; it has no way to before PostgreSQL 18. */
extern void explain_scan_init(void);

#endif							/* NEARDUP_EXPLAIN_SCAN_H */
