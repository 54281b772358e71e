/*
 * classic.c
 *		The table of the algorithms that can be chosen by name.
 */
#include "postgres.h"

#include "join/classic/classic.h"

/* Of sets; none where the usual one is meant. */
static const Algorithm *const of_sets[] = {
	[ALGORITHM_AUTO] = NULL,
	[ALGORITHM_PPJOIN] = &ppjoin,
	[ALGORITHM_PPJOIN_PLUS] = &ppjoin_plus,
	[ALGORITHM_PROBE_COUNT] = &probe_count,
	[ALGORITHM_PAIR_COUNT] = &pair_count,
	[ALGORITHM_PROBE_STOPWORDS] = &probe_stopwords,
	[ALGORITHM_PROBE_OPTMERGE] = &probe_optmerge,
	[ALGORITHM_ALL_PAIRS_0] = &all_pairs_0,
	[ALGORITHM_ALL_PAIRS_1] = &all_pairs_1,
	[ALGORITHM_ALL_PAIRS_2] = &all_pairs_2,
	[ALGORITHM_WORD_GROUPS] = &word_groups,
};

/* See classic.h.  Of sketches there is but one, and of vectors few. */
const Algorithm *
chosen_algorithm(JoinAlgorithm choice, SignatureKind kind, Measure measure)
{
	const Algorithm *algorithm = NULL;

	if (kind == KIND_SETS)
		algorithm = of_sets[choice];
	else if (kind == KIND_VECTORS && measure == MEASURE_COSINE &&
			 choice == ALGORITHM_ALL_PAIRS_0)
		algorithm = &cosine_all_pairs_0;
	else if (kind == KIND_VECTORS && measure == MEASURE_COSINE &&
			 choice == ALGORITHM_ALL_PAIRS_1)
		algorithm = &cosine_all_pairs_1;
	return algorithm != NULL ? algorithm : usual_algorithm(kind, measure);
}
