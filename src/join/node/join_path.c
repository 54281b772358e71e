/*
 * join_path.c
 *		The similarity join in the planner: the path, and what it costs.
 *
 * For each pair of relations that a near-duplicate condition joins, a path is
 * offered beside those of core.  Both sides are read once, in full and
 * unparameterised, and as one if they have the same rows (selfjoin.c); the
 * condition is evaluated by the engine, the other conditions of the join on
 * the pairs that it finds.
 *
 * The hook is in place when it is needed, since planning a near-duplicate
 * condition loads the library through the planner support function, long
 * before joins are planned.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/planmain.h"
#include "optimizer/restrictinfo.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"

#include "base/compat.h"
#include "base/settings.h"
#include "signature/signature.h"
#include "join/algorithms/sketch_keys.h"
#include "join/classic/classic.h"
#include "join/engine/feature_counts.h"
#include "join/node/join_node.h"
#include "planner/conditions.h"
#include "statistics/column_statistics.h"

/* Features of a set where nothing is known. */
#define DEFAULT_FEATURES	64

/*
 * What a row costs, in units of cpu_operator_cost: for its set to be read,
 * hashed and looked up, and for each of its features to be ordered.
 */
#define ROW_OPERATIONS		50.0
#define FEATURE_OPERATIONS	1.0

/* And for both to be looked at by the filter of features, and each key of a sketch. */
#define FILTER_ROW_OPERATIONS	15.0
#define FILTER_FEATURE_OPERATIONS	0.25
#define FILTER_KEY_OPERATIONS	3.0

/*
 * And of a sketch: for it to be compared, to be indexed by a key and to be looked up
 * by one, and for each sketch that comes up to be looked at.
 */
#define SKETCH_OPERATIONS	100.0
#define INDEXED_KEY_OPERATIONS	8.0
#define PROBED_KEY_OPERATIONS	3.0
#define FOUND_OPERATIONS	1.0

/* Or, where they are few, for each of the other side's to be compared. */
#define COMPARED_OPERATIONS	1.0

/* Bytes of a row besides its set and its columns. */
#define ROW_BYTES	64

/* Candidates for each pair of distinct sets that is found, by experience. */
#define CANDIDATES_PER_PAIR	3.0

/*
 * Rows that are expected of a side unless the number is certain: statistics may be old, as
 * of a column that is being filled, and nothing is known of id % 100 = 3.
 */
#define CAUTIOUS_ROWS	10.0

/* Buckets of a hash table, so that keys are told apart by their values. */
#define UNBOUNDED_BUCKETS	1e12

/* The cost that is listed, as a share of that of a join of PostgreSQL that costs more. */
#define LISTED_SHARE	0.98

bool		neardup_enable_join = true;

int			neardup_join_algorithm = ALGORITHM_AUTO;

static const struct config_enum_entry algorithm_options[] = {
	{"auto", ALGORITHM_AUTO, false},
	{"ppjoin", ALGORITHM_PPJOIN, false},
	{"ppjoin+", ALGORITHM_PPJOIN_PLUS, false},
	{"probe-count", ALGORITHM_PROBE_COUNT, false},
	{"pair-count", ALGORITHM_PAIR_COUNT, false},
	{"probe-stopwords", ALGORITHM_PROBE_STOPWORDS, false},
	{"probe-optmerge", ALGORITHM_PROBE_OPTMERGE, false},
	{"all-pairs-0", ALGORITHM_ALL_PAIRS_0, false},
	{"all-pairs-1", ALGORITHM_ALL_PAIRS_1, false},
	{"all-pairs-2", ALGORITHM_ALL_PAIRS_2, false},
	{"word-groups", ALGORITHM_WORD_GROUPS, false},
	{NULL, 0, false}
};

static set_join_pathlist_hook_type previous_hook = NULL;

/* A condition that the node can evaluate, among those of a join. */
typedef struct JoinCondition
{
	RestrictInfo *rinfo;
	NearCondition near;
	bool		left_is_inner;
} JoinCondition;

bool
similarity_join_clause(Node *clause, NearCondition *near)
{
	return near_condition(clause, near) || approx_condition(clause, near);
}

/* True if the expression is made of columns of that side only. */
static bool
belongs_to(PlannerInfo *root, Expr *expr, RelOptInfo *rel)
{
	Relids		relids = pull_varnos(root, (Node *) expr);

	return !bms_is_empty(relids) && bms_is_subset(relids, rel->relids) &&
		!contain_volatile_functions((Node *) expr);
}

/* True if an argument, if there is one, has one value for the whole join. */
static bool
is_fixed(Expr *argument)
{
	return argument == NULL ||
		(!contain_var_clause((Node *) argument) &&
		 !contain_volatile_functions((Node *) argument));
}

/* Take a clause apart, if it is a condition between these two sides. */
static bool
join_condition(PlannerInfo *root, RestrictInfo *rinfo, RelOptInfo *outerrel,
			   RelOptInfo *innerrel, JoinCondition *condition)
{
	NearCondition *near = &condition->near;

	if (rinfo->pseudoconstant || !similarity_join_clause((Node *) rinfo->clause, near) ||
		!is_fixed(near->threshold) || !is_fixed(near->recall))
		return false;
	condition->rinfo = rinfo;
	condition->left_is_inner = false;
	if (belongs_to(root, near->left, outerrel) && belongs_to(root, near->right, innerrel))
		return true;
	condition->left_is_inner = true;
	return belongs_to(root, near->left, innerrel) && belongs_to(root, near->right, outerrel);
}

/* Features of a set, going by the width of the column. */
static double
estimate_features(PlannerInfo *root, Expr *signature)
{
	Var		   *var = (Var *) signature;
	int32		width = 0;

	if (IsA(var, Var) && !IS_SPECIAL_VARNO(var->varno) && var->varattno > 0)
	{
		RangeTblEntry *rte = planner_rt_fetch(var->varno, root);

		if (rte->rtekind == RTE_RELATION)
			width = get_attavgwidth(rte->relid, var->varattno);
	}
	if (width <= (int32) SIGNATURE_HEADER)
		return DEFAULT_FEATURES;
	return (width - SIGNATURE_HEADER) / sizeof(uint64) + 1;
}

/*
 * Between how many processes the rows of a path are divided: a partial one has the share of one
 * process, by its own account.
 */
static double
divisor(const Path *side)
{
	return Max(side->parent->rows / Max(side->rows, 1), 1);
}

/* True if several processes have the sets of all rows together. */
static bool
shares_sets(const CustomPath *cpath)
{
	return cpath->path.parallel_aware && !path_private(cpath, PATH_INNER_WHOLE);
}

/* The rows of a side whose sets one process has. */
static double
side_rows(const CustomPath *cpath, const Path *side)
{
	return shares_sets(cpath) ? side->parent->rows : side->rows;
}

/* Statistics of the keys of sketches; NULL if the column has none. */
static const NearNumbers *
sketch_numbers(PlannerInfo *root, Expr *key, double threshold, NearStatistics *statistics)
{
	if (!near_statistics_of(root, (Node *) key, 0, statistics) || statistics->key_share == 0)
		return NULL;
	return near_numbers(statistics, threshold);
}

/*
 * What the keys of a sketch cost, in units of cpu_operator_cost, with `rows` to be
 * found and `others` on the other side; 0 if there are none.
 */
static double
sketch_operations(PlannerInfo *root, Expr *key, double threshold, double rows, double others)
{
	NearStatistics statistics;
	const NearNumbers *numbers = sketch_numbers(root, key, threshold, &statistics);
	double		found = rows;
	double		probe;

	if (numbers == NULL)
		return 0;
	if (numbers->query_keys > 0)
		found = Min(numbers->query_keys * statistics.key_share, 1) * rows;
	probe = sketches_are_few(others, numbers->query_keys) ? others * COMPARED_OPERATIONS :
		numbers->query_keys * PROBED_KEY_OPERATIONS + found * FOUND_OPERATIONS;
	return SKETCH_OPERATIONS + numbers->row_keys * INDEXED_KEY_OPERATIONS + probe;
}

/*
 * Add the cost of reading one side.  Where several processes read, each takes
 * in the rows that it has read, and has those of all in its index.  Only that share of
 * the rows is kept; it is less than 1 if they are filtered by features.
 */
static void
cost_side(PlannerInfo *root, CustomPath *cpath, Path *side, Expr *key,
		  double threshold, double kept)
{
	Path	   *path = &cpath->path;
	double		features = estimate_features(root, key);
	double		rows = side_rows(cpath, side);
	double		taken = kept * (shares_sets(cpath) ? side->rows : rows);
	double		filtered = kept < 1 ? side->rows : 0;
	NearStatistics statistics;
	const NearNumbers *numbers = sketch_numbers(root, key, threshold, &statistics);
	double		filter = FILTER_ROW_OPERATIONS + features * FILTER_FEATURE_OPERATIONS +
	(numbers == NULL ? 0 : numbers->query_keys * FILTER_KEY_OPERATIONS);
	Path	   *first = linitial(cpath->custom_paths);
	Path	   *other = side == first ? lsecond(cpath->custom_paths) : first;
	double		sketches = sketch_operations(root, key, threshold, rows,
											 side_rows(cpath, other));
	QualCost	cost;

	cost_qual_eval_node(&cost, (Node *) key, root);
	path->startup_cost += side->total_cost + cost.startup +
		side->rows * cost.per_tuple +
		taken * cpu_tuple_cost +
		(filtered * filter +
		 rows * kept * ROW_OPERATIONS +
		 taken * (features * FEATURE_OPERATIONS + sketches)) * cpu_operator_cost;
}

/* The share of rows that are left when identical sets are collapsed. */
static double
distinct_share(PlannerInfo *root, const CustomPath *cpath, Path *side, Expr *key)
{
	double		rows = Max(side_rows(cpath, side), 1);

	return Min(estimate_num_groups(root, list_make1(key), rows, NULL, NULL) / rows, 1);
}

/* Bytes of the columns of a side that come out of the join: its rows are kept with them. */
static double
kept_width(PlannerInfo *root, const RelOptInfo *joinrel, const Path *side)
{
	double		width = 0;
	ListCell   *lc;

	foreach(lc, joinrel->reltarget->exprs)
	{
		Expr	   *expr = lfirst(lc);
		Var		   *var = IsA(expr, Var) ? (Var *) expr : NULL;
		int32		stored = 0;

		/*
		 * the column that identifies the rows of a table that is changed is
		 * of no relation yet
		 */
		if ((var != NULL && IS_SPECIAL_VARNO(var->varno)) ||
			!belongs_to(root, expr, side->parent))
			continue;
		if (var != NULL)
		{
			RelOptInfo *rel = find_base_rel(root, var->varno);

			if (var->varattno >= rel->min_attr && var->varattno <= rel->max_attr)
				stored = rel->attr_widths[var->varattno - rel->min_attr];
		}
		width += stored > 0 ? stored :
			get_typavgwidth(exprType((Node *) expr), exprTypmod((Node *) expr));
	}
	return width;
}

/*
 * Rows of a side of which that share has a set that is kept: the outer ones of an outer
 * join are all kept, the others without their sets.
 */
static double
kept_rows(const CustomPath *cpath, const Path *side, double kept)
{
	int			type = path_private(cpath, PATH_TYPE);

	if ((type == JOIN_LEFT || type == JOIN_ANTI) && side == linitial(cpath->custom_paths))
		kept = 1;
	return kept * side_rows(cpath, side);
}

/* Bytes that the rows of a side that are kept and their distinct sets take. */
static double
side_bytes(PlannerInfo *root, const CustomPath *cpath, Path *side, Expr *key, double kept)
{
	return kept_rows(cpath, side, kept) * (ROW_BYTES + kept_width(root, cpath->path.parent, side)) +
		kept * side_rows(cpath, side) * distinct_share(root, cpath, side, key) *
		estimate_features(root, key) * sizeof(uint64);
}

/*
 * The share of a side's rows that is kept, with `pairs` pairs of rows expected: about
 * those that are candidates, if the side is filtered.
 */
static double
kept_share(PlannerInfo *root, const CustomPath *cpath, Path *side, Expr *key,
		   Path *other, double threshold, double pairs)
{
	NearStatistics statistics;
	const NearNumbers *numbers = sketch_numbers(root, key, threshold, &statistics);

	Assert(pairs >= 0);
	if (shares_sets(cpath) || path_private(cpath, PATH_SELF) ||
		!feature_filter_pays(side_rows(cpath, other), side_rows(cpath, side)) ||
		(numbers != NULL && (numbers->query_keys == 0 ||
							 !feature_filter_tells(numbers->query_keys))))
		return 1;
	return Min(pairs * CANDIDATES_PER_PAIR / Max(side_rows(cpath, side), 1), 1);
}

/*
 * Pairs of rows that are visited, of `pairs` that are near.  In a semi- or anti-join a
 * row leaves with its first match: of rows with many, as copies of one text have, few
 * pairs are.  A row that has near ones, but no match among them, meets all of these.
 */
static double
pairs_met(PlannerInfo *root, const CustomPath *cpath, const JoinPathExtraData *extra,
		  RestrictInfo *condition, double pairs)
{
	const SemiAntiJoinFactors *factors = &extra->semifactors;
	int			type = path_private(cpath, PATH_TYPE);
	double		near;
	double		leave;			/* of the rows that have near ones */

	Assert(pairs >= 0);
	if (type != JOIN_SEMI && type != JOIN_ANTI)
		return pairs;
	near = clause_selectivity(root, (Node *) condition, 0, type, extra->sjinfo);
	leave = Min(factors->outer_match_frac / Max(near, 1e-10), 1);
	return pairs * (1 - leave) +
		Min(pairs * leave, pairs * leave / Max(factors->match_count, 1) +
			side_rows(cpath, linitial(cpath->custom_paths)) * factors->outer_match_frac);
}

/*
 * Cost of the join.  Candidates are pairs of distinct sets; all pairs of rows
 * that the condition lets through are looked at by the other conditions, and
 * those that come out have their share of the cost of output.
 */
static void
cost_join(PlannerInfo *root, CustomPath *cpath, JoinPathExtraData *extra,
		  const JoinCondition *condition, List *filter)
{
	Path	   *path = &cpath->path;
	Path	   *outer = linitial(cpath->custom_paths);
	Path	   *inner = lsecond(cpath->custom_paths);
	Path	   *left = condition->left_is_inner ? inner : outer;
	Path	   *right = condition->left_is_inner ? outer : inner;
	const NearCondition *near = &condition->near;
	double		features = estimate_features(root, near->left);
	double		threshold = near_threshold(root, near);
	double		bytes;
	double		rows;
	double		probes = shares_sets(cpath) ? divisor(outer) : 1;	/* which divide the
																	 * pairs */
	double		pairs = side_rows(cpath, outer) * side_rows(cpath, inner) *
	clause_selectivity(root, (Node *) condition->rinfo, 0, JOIN_INNER, extra->sjinfo);
	double		left_kept = kept_share(root, cpath, left, near->left, right,
									   threshold, pairs);
	double		right_kept = kept_share(root, cpath, right, near->right, left,
										threshold, pairs);
	double		candidates;
	QualCost	cost;

	path->rows = clamp_row_est(path->parent->rows / divisor(outer));
	path->startup_cost = 0;
	bytes = side_bytes(root, cpath, left, near->left, left_kept);
	rows = kept_rows(cpath, left, left_kept);
	if (!path_private(cpath, PATH_SELF))
	{
		bytes += side_bytes(root, cpath, right, near->right, right_kept);
		rows += kept_rows(cpath, right, right_kept);
	}
	cost_side(root, cpath, left, near->left, threshold, left_kept);
	if (!path_private(cpath, PATH_SELF))
		cost_side(root, cpath, right, near->right, threshold, right_kept);

	/*
	 * On disk, rows are sorted, written in that order and read; sets are
	 * written once and read several times; each is formed and taken apart.
	 */
	if (bytes > get_hash_memory_limit())
		path->startup_cost += (4 * seq_page_cost * bytes / BLCKSZ +
							   rows * (4 * cpu_tuple_cost + 2 * cpu_operator_cost *
									   log2(Max(rows / probes, 2)))) / probes;


	/*
	 * Most pairs of rows may be copies of one text, which are one set.
	 * Candidates are at most all pairs of sets, and each once where the sides
	 * have the same rows.
	 */
	candidates = Min(pairs * (1 - near_equal_share(root, near)) * CANDIDATES_PER_PAIR,
					 side_rows(cpath, outer) * side_rows(cpath, inner) /
					 (path_private(cpath, PATH_SELF) ? 2 : 1)) *
		distinct_share(root, cpath, left, near->left) *
		distinct_share(root, cpath, right, near->right) / probes;
	pairs = pairs_met(root, cpath, extra, condition->rinfo, pairs) / probes;
	cost_qual_eval(&cost, filter, root);
	path->total_cost = path->startup_cost + cost.startup +
		pairs * (cpu_tuple_cost + cost.per_tuple) +
		candidates * features * cpu_operator_cost +
		path->rows * path->pathtarget->cost.per_tuple;
	path->startup_cost += path->pathtarget->cost.startup;
	path->total_cost += path->pathtarget->cost.startup;
}

/* Divide the clauses into those of the join and those above it. */
static void
divide_clauses(RelOptInfo *joinrel, JoinType type, List *restrictlist,
			   List **clauses, List **qual)
{
	ListCell   *lc;

	*clauses = *qual = NIL;
	foreach(lc, restrictlist)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);

		if (IS_OUTER_JOIN(type) && RINFO_IS_PUSHED_DOWN(rinfo, joinrel->relids))
			*qual = lappend(*qual, rinfo);
		else
			*clauses = lappend(*clauses, rinfo);
	}
}

static const CustomPathMethods path_methods = {
	.CustomName = "SimilarityJoin",
	.PlanCustomPath = similarity_join_plan,
};

/* A pair of relations for which the join is offered. */
typedef struct JoinOffer
{
	PlannerInfo *root;
	RelOptInfo *joinrel;
	JoinType	type;
	JoinPathExtraData *extra;
	JoinCondition condition;	/* that drives the join */
} JoinOffer;

/*
 * The join of two paths: of whole paths, or of partial ones by several processes, where the
 * inner one may be whole.
 */
static Path *
join_path(const JoinOffer *offer, Path *outer, Path *inner, bool parallel, bool inner_whole)
{
	const JoinCondition *condition = &offer->condition;
	RelOptInfo *joinrel = offer->joinrel;
	const NearCondition *near = &condition->near;
	CustomPath *path = makeNode(CustomPath);
	List	   *clauses;
	List	   *qual;
	bool		self_join;

	divide_clauses(joinrel, offer->type, offer->extra->restrictlist, &clauses, &qual);
	path->path.pathtype = T_CustomScan;
	path->path.parent = joinrel;
	path->path.pathtarget = joinrel->reltarget;
	path->path.parallel_aware = parallel;
	path->path.parallel_safe = joinrel->consider_parallel &&
		outer->parallel_safe && inner->parallel_safe;
	path->path.parallel_workers = parallel ? outer->parallel_workers : 0;
	path->flags = CUSTOMPATH_SUPPORT_PROJECTION;
	path->custom_paths = list_make2(outer, inner);
	custom_path_set_restrictinfo(path, offer->extra->restrictlist);
	path_set_disabled_nodes(&path->path, outer, inner);
	path->custom_private = list_make5(condition->rinfo, clauses, qual, makeInteger(offer->type),
									  makeInteger(condition->left_is_inner));
	path->custom_private = lappend(path->custom_private, makeInteger(near->recall != NULL));
	self_join = !inner_whole &&
		selfjoin_paths(offer->root, outer, inner,
					   condition->left_is_inner ? near->right : near->left,
					   condition->left_is_inner ? near->left : near->right);
	path->custom_private = lappend(path->custom_private, makeInteger(self_join));
	path->custom_private = lappend(path->custom_private, makeInteger(inner_whole));
	Assert(list_length(path->custom_private) == PATH_COUNT);
	path->methods = &path_methods;
	cost_join(offer->root, path, offer->extra, condition,
			  remaining_clauses(clauses, condition->rinfo, near->recall != NULL));
	return &path->path;
}

static bool
is_usable(const Path *path)
{
	return path != NULL && path->param_info == NULL;
}

/*
 * PostgreSQL's own joins beside ours
 *
 * PostgreSQL takes a semi- or anti-join by a hash table to compare a row with one other, if
 * with any, and trusts small numbers of expected rows.  So it may list a join as cheaper
 * than ours that compares millions of pairs.  Its paths are left as they are; where such a
 * one would cost more than ours, ours is listed as slightly cheaper than it is listed.
 */

/* The rows of a side: those of VALUES, or of a table by a key, are certain. */
static double
cautious_rows(PlannerInfo *root, const Path *side)
{
	RelOptInfo *rel = side->parent;

	if (rel->reloptkind == RELOPT_BASEREL &&
		(rel->rtekind == RTE_VALUES ||
		 (rel->rtekind == RTE_RELATION && compat_has_unique_index(root, rel))))
		return side->rows;
	return Max(side->rows, CAUTIOUS_ROWS);
}

/* The share of the inner rows that an outer one meets by keys of a hash or merge join. */
static double
share_by_keys(PlannerInfo *root, List *keys, const Path *inner)
{
	double		share = 1;
	ListCell   *lc;

	foreach(lc, keys)
	{
		RestrictInfo *key = lfirst_node(RestrictInfo, lc);
		Selectivity mcv_freq;
		Selectivity bucket;

		estimate_hash_bucket_stats(root,
								   bms_is_subset(key->right_relids, inner->parent->relids) ?
								   get_rightop(key->clause) : get_leftop(key->clause),
								   UNBOUNDED_BUCKETS, &mcv_freq, &bucket);
		share *= bucket;
	}
	Assert(share >= 0 && share <= 1);
	return share;
}

/* The share of a table's rows that an index path reads, 1 of other paths; 0: those that are near. */
static double
share_by_index(const Path *path)
{
	if (IsA(path, MemoizePath))
		return share_by_index(((const MemoizePath *) path)->subpath);
	if (IsA(path, BitmapHeapPath))
		path = ((const BitmapHeapPath *) path)->bitmapqual;
	if (IsA(path, BitmapAndPath))
		path = linitial(((const BitmapAndPath *) path)->bitmapquals);
	if (!IsA(path, IndexPath))
		return 1;
	return index_finds_near(((const IndexPath *) path)->indexinfo) ? 0 :
		((const IndexPath *) path)->indexselectivity;
}

/* Pairs of rows that a join of PostgreSQL's compares one by one. */
static double
compared_pairs(PlannerInfo *root, const JoinPath *join)
{
	const Path *inner = join->innerjoinpath;
	double		outer_rows = cautious_rows(root, join->outerjoinpath);

	if (!IsA(join, NestPath))
		return outer_rows * inner->rows *
			share_by_keys(root, IsA(join, HashPath) ?
						  ((const HashPath *) join)->path_hashclauses :
						  ((const MergePath *) join)->path_mergeclauses, inner);
	if (inner->param_info == NULL)
		return outer_rows * cautious_rows(root, inner);
	return IS_SIMPLE_REL(inner->parent) ?
		outer_rows * inner->parent->tuples * share_by_index(inner) : 0;
}

/*
 * The cost of one of PostgreSQL's joins that evaluates the condition.  Core takes a hash
 * join that runs again to cost nothing before its first row; a look-up of near-duplicates
 * in it does all its work there.
 */
static Cost
cost_of_core_join(PlannerInfo *root, const JoinPath *join, Cost comparison)
{
	const Path *inner = join->innerjoinpath;
	Cost		cost = join->path.total_cost;

	cost = Max(cost, compared_pairs(root, join) * comparison);
	if (IsA(join, NestPath) && IsA(inner, HashPath) && inner->param_info != NULL)
		cost += join->outerjoinpath->rows * inner->startup_cost;
	return cost;
}

/* True if the path is a join of PostgreSQL's that works the condition out on pairs. */
static bool
compares_pairs(const Path *path, const RestrictInfo *condition)
{
	const JoinPath *join = (const JoinPath *) path;

	return (IsA(path, NestPath) || IsA(path, HashPath) || IsA(path, MergePath)) &&
		path->param_info == NULL &&
		!bms_is_subset(condition->clause_relids, join->outerjoinpath->parent->relids) &&
		!bms_is_subset(condition->clause_relids, join->innerjoinpath->parent->relids);
}

/* Our join, listed below those in the list that would cost more. */
static Path *
list_below(const JoinOffer *offer, Path *ours, List *paths)
{
	const RestrictInfo *condition = offer->condition.rinfo;
	Cost		listed = ours->total_cost;
	ListCell   *lc;

	/* of a LIMIT a nested loop may make little */
	if (offer->root->tuple_fraction > 0)
		return ours;
	foreach(lc, paths)
	{
		Path	   *path = lfirst(lc);

		if (compares_pairs(path, condition) && path->total_cost < listed &&
			compat_compare_disabled(ours, path) <= 0 &&
			cost_of_core_join(offer->root, (JoinPath *) path,
							  condition->eval_cost.per_tuple) > ours->total_cost)
			listed = Min(listed, path->total_cost * LISTED_SHARE);
	}
	Assert(listed >= 0 && listed <= ours->total_cost);
	ours->total_cost = listed;
	ours->startup_cost = Min(ours->startup_cost, listed);
	return ours;
}

/*
 * Offer the join by several processes: with the rows of both sides divided (join_shared.c),
 * or with those of the outer one divided and all inner ones in each process.
 */
static void
add_parallel_paths(const JoinOffer *offer, RelOptInfo *outerrel, RelOptInfo *innerrel)
{
	RelOptInfo *joinrel = offer->joinrel;
	Path	   *inner[2] = {NULL, NULL};	/* partial, and whole */

	if (!joinrel->consider_parallel || outerrel->partial_pathlist == NIL)
		return;
	if (innerrel->partial_pathlist != NIL)
		inner[0] = linitial(innerrel->partial_pathlist);
	inner[1] = get_cheapest_parallel_safe_total_inner(innerrel->pathlist);
	for (int whole = 0; whole <= 1; whole++)
		if (inner[whole] != NULL)
			add_partial_path(joinrel,
							 list_below(offer, join_path(offer, linitial(outerrel->partial_pathlist),
														 inner[whole], true, whole),
										joinrel->partial_pathlist));
}

/*
 * Offer it by each condition that can drive it: the one that finds the fewest pairs costs
 * least.
 */
static void
add_joins(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outerrel,
		  RelOptInfo *innerrel, JoinType type, JoinPathExtraData *extra)
{
	Index		least = PG_UINT32_MAX;
	ListCell   *lc;

	foreach(lc, extra->restrictlist)
		least = Min(least, lfirst_node(RestrictInfo, lc)->security_level);
	foreach(lc, extra->restrictlist)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
		JoinOffer	offer = {root, joinrel, type, extra};

		/*
		 * It is evaluated before all others, so none of them may have a lower
		 * security level: that one must not be shown rows that a security
		 * barrier would have hidden from it.
		 */
		if ((IS_OUTER_JOIN(type) && RINFO_IS_PUSHED_DOWN(rinfo, joinrel->relids)) ||
			(rinfo->security_level > least && !rinfo->leakproof) ||
			!join_condition(root, rinfo, outerrel, innerrel, &offer.condition))
			continue;
		add_path(joinrel,
				 list_below(&offer, join_path(&offer, outerrel->cheapest_total_path,
											  innerrel->cheapest_total_path, false, false),
							joinrel->pathlist));
		add_parallel_paths(&offer, outerrel, innerrel);
	}
}

/* set_join_pathlist_hook */
static void
join_pathlist(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outerrel,
			  RelOptInfo *innerrel, JoinType type, JoinPathExtraData *extra)
{
	JoinType	straight = compat_straight_join(type);
	JoinPathExtraData mirrored;

	if (previous_hook)
		previous_hook(root, joinrel, outerrel, innerrel, type, extra);
	if (!neardup_enable_join)
		return;
#ifdef USE_ASSERT_CHECKING

	/*
	 * Where a partitioned table is changed, a custom join has columns that an
	 * assertion of PostgreSQL (fix_scan_expr) does not expect, while all else
	 * treats them well.
	 */
	if (root->row_identity_vars != NIL)
		return;
#endif
	if (straight != JOIN_INNER && straight != JOIN_LEFT && straight != JOIN_SEMI &&
		straight != JOIN_ANTI)
		return;
	if (!bms_is_empty(joinrel->lateral_relids) || !is_usable(outerrel->cheapest_total_path) ||
		!is_usable(innerrel->cheapest_total_path))
		return;
	if (straight == type)
	{
		add_joins(root, joinrel, outerrel, innerrel, type, extra);
		return;
	}

	/*
	 * PostgreSQL has just planned the join with its sides exchanged: offer
	 * ours once more, as one of these paths may be listed as cheaper.
	 */
	mirrored = *extra;
	if (straight == JOIN_SEMI || straight == JOIN_ANTI)
		compute_semi_anti_join_factors(root, joinrel, innerrel, outerrel, straight,
									   extra->sjinfo, extra->restrictlist,
									   &mirrored.semifactors);
	add_joins(root, joinrel, innerrel, outerrel, straight, &mirrored);
}

/* Define the settings and install the hook. */
void
similarity_join_init(void)
{
	DefineCustomBoolVariable("neardup.enable_join",
							 "Enables the planner's use of similarity joins.",
							 NULL,
							 &neardup_enable_join,
							 true,
							 PGC_USERSET, GUC_EXPLAIN | settings_taken_over(),
							 NULL, NULL, NULL);
	DefineCustomEnumVariable("neardup.join_algorithm",
							 "Sets how similarity joins find candidates.",
							 "All algorithms find the same pairs; \"auto\" is the fastest.",
							 &neardup_join_algorithm,
							 ALGORITHM_AUTO, algorithm_options,
							 PGC_USERSET, GUC_EXPLAIN | settings_taken_over(),
							 NULL, NULL, NULL);
	RegisterCustomScanMethods(&similarity_join_scan_methods);
	previous_hook = set_join_pathlist_hook;
	set_join_pathlist_hook = join_pathlist;
}
