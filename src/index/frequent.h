/*
 * frequent.h
 *		Leaves the most frequent keys out of an index look-up.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/index/frequent.h
 */
#ifndef NEARDUP_FREQUENT_H
#define NEARDUP_FREQUENT_H

/* Counts the int4 keys that a row has in an index. */
extern void frequent_note(const Datum *keys, int32 nkeys);

/*
 * Takes frequent keys out of a query that wants `need` of its nkeys int4 keys
 * to match, and lowers *need by as many, to no less than one.  The order of
 * the others is kept.  Returns the number of keys left.
 */
extern int32 frequent_drop(Datum *keys, int32 nkeys, uint32 *need);

#endif							/* NEARDUP_FREQUENT_H */
