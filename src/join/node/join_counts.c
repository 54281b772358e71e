/*
 * join_counts.c
 *		What several processes have counted in a similarity join.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "utils/memutils.h"

#include "join/node/join_node.h"

/* What one process has. */
typedef struct PartCounts
{
	bool		counted;		/* the rest is set */
	SetJoinStats stats;
	char		algorithm[32];	/* stats.algorithm, which may lie elsewhere in
								 * another process */
	uint64		nfiltered;
	uint64		nremoved;
} PartCounts;

typedef struct JoinCounts
{
	int			nparts;
	PartCounts	parts[FLEXIBLE_ARRAY_MEMBER];
} JoinCounts;

Size
join_counts_bytes(int nparts)
{
	return MAXALIGN(add_size(offsetof(JoinCounts, parts),
							 mul_size(nparts, sizeof(PartCounts))));
}

void
join_counts_init(JoinCounts *counts, int nparts)
{
	memset(counts, 0, join_counts_bytes(nparts));
	counts->nparts = nparts;
}

void *
join_counts_behind(JoinCounts *counts)
{
	return (char *) counts + join_counts_bytes(counts->nparts);
}

void
join_counts_tell(SimilarityJoinState *state)
{
	PartCounts *part = &state->counts->parts[join_part_number()];

	part->stats = *similarity_join_stats(state);
	if (part->stats.algorithm != NULL)
		strlcpy(part->algorithm, part->stats.algorithm,
				sizeof(part->algorithm));
	part->nfiltered = state->nfiltered;
	part->nremoved = state->nremoved;
	pg_write_barrier();
	part->counted = true;
}

/*
 * The algorithm, where another one is known before or NULL: who has come by no set does
 * not know what sets are like, and so what looks for them.
 */
static const char *
told_algorithm(const SimilarityJoinState *state, const PartCounts *part,
			   const char *before)
{
	if (part->algorithm[0] == '\0' || (part->stats.sets == 0 && before != NULL))
		return before;
	return MemoryContextStrdup(state->css.ss.ps.state->es_query_cxt,
							   part->algorithm);
}

/* Adds what a process has counted to what is known of all. */
static void
add_part(SimilarityJoinState *state, const PartCounts *part)
{
	SetJoinStats *sum = &state->stats;
	SetJoinStats before = *sum;

	if (!part->counted)
		return;
	pg_read_barrier();
	setjoin_stats_add(sum, &part->stats);
	sum->batches = Max(before.batches, part->stats.batches);
	if (!state->inner_whole)
	{
		/* these are the same in all processes */
		sum->sets = Max(before.sets, part->stats.sets);
		sum->distinct = Max(before.distinct, part->stats.distinct);
		sum->postings = Max(before.postings, part->stats.postings);
	}
	state->nfiltered += part->nfiltered;
	state->nremoved += part->nremoved;
	sum->algorithm = told_algorithm(state, part, before.algorithm);
}

void
join_counts_gather(SimilarityJoinState *state)
{
	JoinCounts *counts = state->counts;

	memset(&state->stats, 0, sizeof(SetJoinStats));
	state->nfiltered = state->nremoved = 0;
	for (int i = 0; i < counts->nparts; i++)
		add_part(state, &counts->parts[i]);
	state->stats_gathered = true;
}
