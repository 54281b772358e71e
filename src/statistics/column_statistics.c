/*
 * column_statistics.c
 *		Statistics of a column of signatures, from ANALYZE for the planner.
 */
#include "postgres.h"

#include "utils/lsyscache.h"

#include "statistics/column_statistics.h"

const double share_thresholds[NSHARES] = {0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1};

/* The greatest number that ANALYZE may write; numbers count rows or keys. */
#define MAX_NUMBER		1e13

/*
 * True if the planner can calculate with the numbers.  Superusers, and other
 * versions of neardup, may have written others into pg_statistic.
 */
static bool
are_sound(const AttStatsSlot *slot)
{
	if (slot->nnumbers != NEAR_NUMBERS)
		return false;
	for (int i = 0; i < slot->nnumbers; i++)
		if (!(slot->numbers[i] >= 0 && slot->numbers[i] <= MAX_NUMBER))
			return false;
	return true;
}

bool
near_statistics(const VariableStatData *variable, NearStatistics *statistics)
{
	AttStatsSlot slot;
	bool		known;

	if (!HeapTupleIsValid(variable->statsTuple) ||
		!get_attstatsslot(&slot, variable->statsTuple, STATISTIC_KIND_NEAR,
						  InvalidOid, ATTSTATSSLOT_NUMBERS))
		return false;
	known = are_sound(&slot);
	if (known)
		memcpy(statistics, slot.numbers, sizeof(NearStatistics));
	free_attstatsslot(&slot);
	return known;
}

bool
near_statistics_of(PlannerInfo *root, Node *expr, int relid,
				   NearStatistics *statistics)
{
	VariableStatData variable;
	bool		known;

	examine_variable(root, expr, relid, &variable);
	known = near_statistics(&variable, statistics);
	ReleaseVariableStats(variable);
	return known;
}

const NearNumbers *
near_numbers(const NearStatistics *statistics, double t)
{
	int			i = 0;

	while (i < NSHARES - 1 && share_thresholds[i + 1] <= t)
		i++;
	Assert(i == 0 || share_thresholds[i] <= t);
	return &statistics->at[i];
}
