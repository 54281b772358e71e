/*
 * supershingles.h
 *		Supershingles of a min-hash sketch, and megashingles of those.
 */
#ifndef NEARDUP_SUPERSHINGLES_H
#define NEARDUP_SUPERSHINGLES_H

#define SUPERSHINGLES_MAX_GROUPS	256

/*
 * Raises INVALID_PARAMETER_VALUE unless there may be so many groups, at least
 * `least`, of so many slots.
 */
extern void supershingles_require_groups(int groups, int size, int least);

#endif							/* NEARDUP_SUPERSHINGLES_H */
