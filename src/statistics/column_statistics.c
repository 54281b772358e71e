/*
 * column_statistics.c
 *		What ANALYZE keeps of a column of signatures, for the planner.
 */
#include "postgres.h"

#include "utils/lsyscache.h"

#include "statistics/column_statistics.h"

const double share_thresholds[NSHARES] = {0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1};

/* Shares and counts, of rows, too: what is more, ANALYZE has not put there. */
#define MAX_NUMBER		1e13

/*
 * True if the planner can calculate with the numbers.  Superusers can write anything
 * into pg_statistic, and another version of neardup other things.
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
near_statistics_of(PlannerInfo *root, Node *expr, int relid, NearStatistics *statistics)
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
	return &statistics->at[i];
}
