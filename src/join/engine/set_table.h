/*
 * set_table.h
 *		The distinct sets of a similarity join, while rows come in.
 */
#ifndef NEARDUP_SET_TABLE_H
#define NEARDUP_SET_TABLE_H

#include "base/linear_probing.h"
#include "join/engine/engine.h"
#include "join/engine/joined_set.h"

typedef struct SetTable
{
	JoinSet    *sets;			/* in order of arrival */
	uint32		nsets;
	uint32		maxsets;		/* allocated */
	uint32	   *slots;			/* hash table: number of set + 1, 0 = free */
	uint32		nslots;
	Probing		probing;		/* of the slots */
	char		secret[JOIN_SECRET];	/* of the hash, drawn for this join */
} SetTable;

extern void settable_create(SetTable *table, const char *secret);
extern void settable_free(SetTable *table);
extern JoinSet *settable_take_room(SetTable *table, uint32 n);
extern size_t settable_bytes(const SetTable *table);
extern size_t settable_bytes_next(const SetTable *table);
extern SetKey set_key(const SetTable *table, const uint64 *values, uint32 n);
extern JoinSet *settable_find(SetTable *table, SetKey key,
							  const uint64 *values, uint32 n, bool *found);
extern void settable_sort(SetTable *table);

#endif							/* NEARDUP_SET_TABLE_H */
