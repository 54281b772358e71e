/*
 * compat.h
 *		Differences between PostgreSQL 15 and 18, all of them: no other file
 *		mentions PG_VERSION_NUM.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/compat.h
 */
#ifndef NEARDUP_COMPAT_H
#define NEARDUP_COMPAT_H

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

/* 18: EXPLAIN's functions have headers of their own */
#if PG_VERSION_NUM >= 180000
#include "commands/explain_format.h"
#include "commands/explain_state.h"
#endif

/* 18: the module tells its name and version */
#if PG_VERSION_NUM >= 180000
#define NEARDUP_MODULE_MAGIC \
	PG_MODULE_MAGIC_EXT(.name = "neardup", .version = NEARDUP_VERSION)
#else
#define NEARDUP_MODULE_MAGIC PG_MODULE_MAGIC
#endif

#endif							/* NEARDUP_COMPAT_H */
