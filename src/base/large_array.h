/*
 * large_array.h
 *		Arrays that are read here and there.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/base/large_array.h
 */
#ifndef NEARDUP_LARGE_ARRAY_H
#define NEARDUP_LARGE_ARRAY_H

/*
 * Memory of that size, of the current memory context, with which it is given back;
 * with nothing in it.  It is in large pages where the
 * system gives them for the asking: to find out where a small one is takes longer
 * than reading what is there.
 */
extern void *large_array_alloc(Size bytes);

#endif							/* NEARDUP_LARGE_ARRAY_H */
