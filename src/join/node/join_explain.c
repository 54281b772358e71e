/*
 * join_explain.c
 *		EXPLAIN of a similarity join.
 */
#include "postgres.h"

#include "commands/explain.h"
#include "nodes/makefuncs.h"
#include "utils/ruleutils.h"

#include "base/compat.h"
#include "join/classic/classic.h"
#include "join/node/join_node.h"

static const char *const join_types[] = {
	[JOIN_INNER] = "Inner",[JOIN_LEFT] = "Left",[JOIN_SEMI] =
	"Semi",[JOIN_ANTI] = "Anti",
};

/* An expression, or the conjunction of a list of them. */
static void
explain_expression(CustomScanState *node, List *ancestors, ExplainState *es,
				   const char *label, Node *expr)
{
	List	   *context;

	if (expr == NULL)
		return;
	if (IsA(expr, List))
		expr = (Node *) make_ands_explicit((List *) expr);
	context = set_deparse_context_plan(es->deparse_cxt, node->ss.ps.plan,
									   ancestors);
	ExplainPropertyText(label, deparse_expression(expr, context, true, false),
						es);
}

/* Print a counter. */
static void
explain_count(const char *label, uint64 count, ExplainState *es)
{
	ExplainPropertyUInteger(label, NULL, count, es);
}

/* As explain_count(), in text format only if it is not zero. */
static void
explain_removed(const char *label, uint64 count, ExplainState *es)
{
	if (count > 0 || es->format != EXPLAIN_FORMAT_TEXT)
		explain_count(label, count, es);
}

/*
 * Print the counters of the run; counters of filters only if they removed
 * anything.
 */
static void
explain_counters(const SimilarityJoinState *state, const EngineStats *stats,
				 ExplainState *es)
{
	explain_removed("Rows Removed by Join Filter",
					state->nfiltered + stats->alone, es);
	explain_removed("Rows Removed by Filter", state->nremoved, es);
	explain_removed("Rows Removed by Feature Filter", stats->removed_features,
					es);
	explain_count("Sets", stats->sets, es);
	explain_count("Distinct Sets", stats->distinct, es);
	explain_count("Prefix Postings", stats->postings, es);
	explain_count("Candidates", stats->candidates, es);
	explain_removed("Postings Removed by Size", stats->removed_size, es);
	explain_removed("Candidates Removed by Position", stats->removed_position,
					es);
	explain_removed("Candidates Removed by Suffix", stats->removed_suffix, es);
	explain_removed("Candidates Removed by Bitmap", stats->removed_bitmap, es);
	explain_removed("Candidates Removed by Coordinates",
					stats->removed_coordinates, es);
	explain_count("Verified", stats->verified, es);
	explain_count("Matching Sets", stats->matches, es);
	explain_count("Batches", stats->batches, es);
	ExplainPropertyUInteger("Memory Usage", "kB",
							(stats->memory + 1023) / 1024, es);
	if (stats->disk > 0 || es->format != EXPLAIN_FORMAT_TEXT)
		ExplainPropertyUInteger("Disk Usage", "kB",
								(stats->disk + 1023) / 1024, es);
}

/* CustomExecMethods.ExplainCustomScan */
void
similarity_join_explain(CustomScanState *node, List *ancestors,
						ExplainState *es)
{
	SimilarityJoinState *state = (SimilarityJoinState *) node;
	CustomScan *scan = (CustomScan *) node->ss.ps.plan;
	EngineStats stats = similarity_join_stats(state);

	ExplainPropertyText("Join Type", join_types[state->type], es);
	explain_expression(node, ancestors, es, "Similarity Cond",
					   list_nth(scan->custom_exprs, JOIN_EXPR_CONDITION));
	explain_expression(node, ancestors, es, "Join Filter",
					   list_nth(scan->custom_exprs, JOIN_EXPR_FILTER));
	explain_expression(node, ancestors, es, "Filter",
					   list_nth(scan->custom_exprs, JOIN_EXPR_QUAL));
	if (state->self_join || es->format != EXPLAIN_FORMAT_TEXT)
		ExplainPropertyBool("Self-Join", state->self_join, es);
	/* of the run, or else for sets: sketches have their own */
	ExplainPropertyText("Algorithm",
						stats.algorithm != NULL ? stats.algorithm :
						selected_algorithm(neardup_join_algorithm, KIND_SETS,
										   state->near.measure)->name, es);
	if (es->analyze && node->ss.ps.instrument)
		explain_counters(state, &stats, es);
}
