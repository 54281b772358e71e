/*
 * short_constants.h
 *		Signatures that are constants of a plan, made short for EXPLAIN.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/planner/short_constants.h
 */
#ifndef NEARDUP_SHORT_CONSTANTS_H
#define NEARDUP_SHORT_CONSTANTS_H

/* Makes EXPLAIN show them short. */
extern void short_constants_init(void);

#endif							/* NEARDUP_SHORT_CONSTANTS_H */
