/*
 * join_path.c
 *		The similarity join in the planner: the path and its cost.
 *
 * For each pair of relations that a near-duplicate condition joins, a path is
 * added to core's.  Both sides are read once, in full and
 * unparameterised, and as one if they have the same rows (selfjoin.c).  The
 * engine evaluates the condition; the other conditions of the join are checked
 * on its pairs.
 *
 * Planning a near-duplicate condition calls its support function, which loads
 * the library and installs the hook before joins are planned.
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

/* Features of a set, without statistics. */
#define DEFAULT_FEATURES	64

/*
 * Cost of a row in cpu_operator_cost: reading, hashing and looking up its set;
 * ordering a feature.
 */
#define ROW_OPERATIONS		50.0
#define FEATURE_OPERATIONS	1.0

/* Cost of the feature filter for a row, a feature, and a key of a sketch. */
#define FILTER_ROW_OPERATIONS	15.0
#define FILTER_FEATURE_OPERATIONS	0.25
#define FILTER_KEY_OPERATIONS	3.0

/*
 * Cost of a sketch: its comparison, an indexed key, a probed key, a sketch
 * found by a key.
 */
#define SKETCH_OPERATIONS	100.0
#define INDEXED_KEY_OPERATIONS	8.0
#define PROBED_KEY_OPERATIONS	3.0
#define FOUND_OPERATIONS	1.0

/* Cost of comparing it with one of few sketches. */
#define COMPARED_OPERATIONS	1.0

/* Cost of a pair of dense vectors, of which most are dropped at once */
#define DENSE_PAIR_OPERATIONS	0.07

/* Bytes of a kept row, besides its set and columns. */
#define ROW_BYTES	64

/* Candidates for each matching pair of distinct sets, as measured. */
#define CANDIDATES_PER_PAIR	3.0

/*
 * Least estimate of the rows of a side, unless the number is certain:
 * statistics may be old.
 */
#define LEAST_ROWS	10.0

/* Buckets of a hash table in which no two keys share one. */
#define UNBOUNDED_BUCKETS	1e12

/* Factor by which we undercut a core join whose true cost is higher. */
#define UNDERCUT_FACTOR	0.98

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

/* A condition of a join that can drive the node. */
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

/* True if the expression has columns of one side only, this one. */
static bool
belongs_to(PlannerInfo *root, Expr *expr, RelOptInfo *rel)
{
	Relids		relids = pull_varnos(root, (Node *) expr);

	return !bms_is_empty(relids) && bms_is_subset(relids, rel->relids) &&
		!contain_volatile_functions((Node *) expr);
}

/* True if an argument is absent, or has one value for the whole join. */
static bool
is_fixed(Expr *argument)
{
	return argument == NULL ||
		(!contain_var_clause((Node *) argument) &&
		 !contain_volatile_functions((Node *) argument));
}

/* Parse a clause, if it is a condition between these two sides. */
static bool
join_condition(PlannerInfo *root, RestrictInfo *rinfo, RelOptInfo *outerrel,
			   RelOptInfo *innerrel, JoinCondition *condition)
{
	NearCondition *near = &condition->near;

	if (rinfo->pseudoconstant ||
		!similarity_join_clause((Node *) rinfo->clause, near) ||
		!is_fixed(near->threshold) || !is_fixed(near->recall))
		return false;
	condition->rinfo = rinfo;
	condition->left_is_inner = false;
	if (belongs_to(root, near->left, outerrel) &&
		belongs_to(root, near->right, innerrel))
		return true;
	condition->left_is_inner = true;
	return belongs_to(root, near->left, innerrel) &&
		belongs_to(root, near->right, outerrel);
}

/* Features of a set, from the width of the column. */
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
 * Number of processes that divide the rows of a path: a partial one has the
 * rows of one.
 */
static double
divisor(const Path *side)
{
	return Max(side->parent->rows / Max(side->rows, 1), 1);
}

/* True if several processes share the sets of all rows. */
static bool
shares_sets(const CustomPath *cpath)
{
	return cpath->path.parallel_aware &&
		!path_private(cpath, PATH_INNER_WHOLE);
}

/* Rows of a side whose sets are in the index of one process. */
static double
side_rows(const CustomPath *cpath, const Path *side)
{
	return shares_sets(cpath) ? side->parent->rows : side->rows;
}

/* Statistics of the keys of sketches; NULL if the column has none. */
static const NearNumbers *
sketch_numbers(PlannerInfo *root, Expr *key, double threshold,
			   NearStatistics *statistics)
{
	if (!near_statistics_of(root, (Node *) key, 0, statistics) ||
		statistics->key_share == 0)
		return NULL;
	return near_numbers(statistics, threshold);
}

/*
 * Cost of the keys of a sketch in cpu_operator_cost, with `rows` rows on its
 * side and `others` on the other; 0 without keys.
 */
static double
sketch_operations(PlannerInfo *root, Expr *key, double threshold, double rows,
				  double others)
{
	NearStatistics statistics;
	const NearNumbers *numbers = sketch_numbers(root, key, threshold,
												&statistics);
	double		found = rows;
	double		probe;

	if (numbers == NULL)
		return 0;
	if (numbers->query_keys > 0)
		found = Min(numbers->query_keys * statistics.key_share, 1) * rows;
	probe = sketches_are_few(others, numbers->query_keys) ?
		others * COMPARED_OPERATIONS :
		numbers->query_keys * PROBED_KEY_OPERATIONS + found * FOUND_OPERATIONS;
	return SKETCH_OPERATIONS + numbers->row_keys * INDEXED_KEY_OPERATIONS +
		probe;
}

/*
 * Add the cost of reading one side.  Several processes each add the rows that
 * they have read, and have the rows of all in the index.  `kept` is the share
 * of rows that pass the feature filter; 1 without a filter.
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
	const NearNumbers *numbers = sketch_numbers(root, key, threshold,
												&statistics);
	double		filter = FILTER_ROW_OPERATIONS +
	features * FILTER_FEATURE_OPERATIONS +
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
		 taken * (features * FEATURE_OPERATIONS + sketches)) *
		cpu_operator_cost;
}

/* Distinct sets, as a share of the rows. */
static double
distinct_share(PlannerInfo *root, const CustomPath *cpath, Path *side,
			   Expr *key)
{
	double		rows = Max(side_rows(cpath, side), 1);

	return Min(estimate_num_groups(root, list_make1(key), rows, NULL,
								   NULL) / rows, 1);
}

/*
 * Bytes of the columns of a side in the output of the join, which are kept
 * with its rows.
 */
static double
kept_width(PlannerInfo *root, const PathTarget *target, const Path *side)
{
	double		width = 0;
	ListCell   *lc;

	foreach(lc, target->exprs)
	{
		Expr	   *expr = lfirst(lc);
		Var		   *var = IsA(expr, Var) ? (Var *) expr : NULL;
		int32		stored = 0;

		if (!belongs_to(root, expr, side->parent))
			continue;
		if (var != NULL)
		{
			RelOptInfo *rel = find_base_rel(root, var->varno);

			if (var->varattno >= rel->min_attr &&
				var->varattno <= rel->max_attr)
				stored = rel->attr_widths[var->varattno - rel->min_attr];
		}
		width += stored > 0 ? stored :
			get_typavgwidth(exprType((Node *) expr),
							exprTypmod((Node *) expr));
	}
	return width;
}

/*
 * Rows of a side that are kept; an outer join keeps all outer rows, filtered
 * ones without sets.
 */
static double
kept_rows(const CustomPath *cpath, const Path *side, double kept)
{
	int			type = path_private(cpath, PATH_TYPE);

	if ((type == JOIN_LEFT || type == JOIN_ANTI) &&
		side == linitial(cpath->custom_paths))
		kept = 1;
	return kept * side_rows(cpath, side);
}

/* Bytes of the kept rows of a side and their distinct sets. */
static double
side_bytes(PlannerInfo *root, const CustomPath *cpath, Path *side, Expr *key,
		   double kept)
{
	return kept_rows(cpath, side, kept) *
		(ROW_BYTES + kept_width(root, cpath->path.pathtarget, side)) +
		kept * side_rows(cpath, side) *
		distinct_share(root, cpath, side, key) *
		estimate_features(root, key) * sizeof(uint64);
}

/* True if an expression makes dense vectors, as its statistics say. */
static bool
is_dense(PlannerInfo *root, Expr *key)
{
	NearStatistics statistics;

	return near_statistics_of(root, (Node *) key, 0, &statistics) &&
		statistics.lanes > 0;
}

/*
 * The share of a side's rows that is kept: about the candidates, if the side
 * is filtered.
 */
static double
filter_selectivity(PlannerInfo *root, const CustomPath *cpath, Path *side,
				   Expr *key,
				   Path *other, double threshold, double pairs)
{
	NearStatistics statistics;
	const NearNumbers *numbers = sketch_numbers(root, key, threshold,
												&statistics);

	Assert(pairs >= 0);
	if (shares_sets(cpath) || path_private(cpath, PATH_SELF) ||
		is_dense(root, key) ||
		!feature_filter_is_worthwhile(side_rows(cpath, other),
									  side_rows(cpath, side)) ||
		(numbers != NULL && (numbers->query_keys == 0 ||
							 !feature_filter_is_selective(numbers->query_keys))))
		return 1;
	return Min(pairs * CANDIDATES_PER_PAIR / Max(side_rows(cpath, side), 1),
			   1);
}

/*
 * Number of visited pairs of rows, of `pairs` that are near.  In a semi- or
 * anti-join a row is done at its first match.  A row without a match visits
 * all of its near-duplicates.
 */
static double
pairs_met(PlannerInfo *root, const CustomPath *cpath,
		  const JoinPathExtraData *extra,
		  RestrictInfo *condition, double pairs)
{
	const SemiAntiJoinFactors *factors = &extra->semifactors;
	int			type = path_private(cpath, PATH_TYPE);
	double		core;			/* core's share of outer rows with a
								 * near-duplicate */
	double		leave;			/* share of these rows that have a match */
	double		matched;		/* number of outer rows with a match */

	Assert(pairs >= 0);
	if (type != JOIN_SEMI && type != JOIN_ANTI)
		return pairs;
	core = clause_selectivity(root, (Node *) condition, 0, type,
							  extra->sjinfo);
	leave = Min(factors->outer_match_frac / Max(core, 1e-10), 1);
	matched = side_rows(cpath, linitial(cpath->custom_paths)) * leave *
		near_share(root, (Node *) condition->clause, type, extra->sjinfo);
	return pairs * (1 - leave) +
		Min(pairs * leave,
			pairs * leave / Max(factors->match_count, 1) + matched);
}

/*
 * Rows of the join, by core's estimate for all conditions and ours for this
 * one.
 */
static double
join_rows(PlannerInfo *root, const CustomPath *cpath,
		  const JoinPathExtraData *extra,
		  RestrictInfo *condition)
{
	int			type = path_private(cpath, PATH_TYPE);
	double		rows = cpath->path.parent->rows;

	if (type == JOIN_ANTI)
		return rows;
	rows *= near_correction(root, condition, 0, type, extra->sjinfo);
	if (type == JOIN_LEFT)
		rows = Max(rows,
				   ((Path *) linitial(cpath->custom_paths))->parent->rows);
	return rows;
}

/*
 * Set the cost of the path.  Candidates are pairs of distinct sets.  The other
 * conditions are evaluated on all near-duplicate pairs of rows, the output on
 * pairs that pass.
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
	double		probes = shares_sets(cpath) ? divisor(outer) : 1;	/* processes that divide
																	 * them */
	double		pairs = side_rows(cpath, outer) * side_rows(cpath, inner) *
	near_share(root, (Node *) condition->rinfo->clause, JOIN_INNER,
			   extra->sjinfo);
	double		left_kept = filter_selectivity(root, cpath, left, near->left,
											   right,
											   threshold, pairs);
	double		right_kept = filter_selectivity(root, cpath, right,
												near->right, left,
												threshold, pairs);
	double		candidates;
	double		all_pairs = side_rows(cpath, outer) * side_rows(cpath, inner) /
	(path_private(cpath, PATH_SELF) ? 2 : 1);
	QualCost	cost;

	path->rows =
		clamp_row_est(join_rows(root, cpath, extra, condition->rinfo) /
					  divisor(outer));
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
	 * On disk, rows are sorted, written and read; sets are written once and
	 * read several times.
	 */
	if (bytes > get_hash_memory_limit())
		path->startup_cost += (4 * seq_page_cost * bytes / BLCKSZ +
							   rows *
							   (4 * cpu_tuple_cost + 2 * cpu_operator_cost *
								log2(Max(rows / probes, 2)))) / probes;

	/*
	 * Copies of one text are one set.  Candidates are at most all pairs of
	 * sets, of a self-join in one order.
	 */
	candidates = Min(pairs * (1 - near_equal_share(root, near)) *
					 CANDIDATES_PER_PAIR,
					 all_pairs) *
		distinct_share(root, cpath, left, near->left) *
		distinct_share(root, cpath, right, near->right) / probes;
	pairs = pairs_met(root, cpath, extra, condition->rinfo, pairs) / probes;
	cost_qual_eval(&cost, filter, root);
	path->total_cost = path->startup_cost + cost.startup +
		pairs * (cpu_tuple_cost + cost.per_tuple) +
		candidates * features * cpu_operator_cost +
		(is_dense(root, near->left) ? all_pairs / probes : 0) *
		DENSE_PAIR_OPERATIONS * cpu_operator_cost +
		path->rows * path->pathtarget->cost.per_tuple;
	path->startup_cost += path->pathtarget->cost.startup;
	path->total_cost += path->pathtarget->cost.startup;
	Assert(path->startup_cost >= 0 && path->startup_cost <= path->total_cost);
	Assert(path->rows >= 1 && candidates >= 0 && pairs >= 0);
}

/* Divide the clauses into clauses of the join and clauses above it. */
static void
divide_clauses(RelOptInfo *joinrel, JoinType type, List *restrictlist,
			   List **clauses, List **qual)
{
	ListCell   *lc;

	*clauses = *qual = NIL;
	foreach(lc, restrictlist)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);

		if (IS_OUTER_JOIN(type) &&
			RINFO_IS_PUSHED_DOWN(rinfo, joinrel->relids))
			*qual = lappend(*qual, rinfo);
		else
			*clauses = lappend(*clauses, rinfo);
	}
}

static const CustomPathMethods path_methods = {
	.CustomName = "SimilarityJoin",
	.PlanCustomPath = similarity_join_plan,
};

/* A pair of relations, and the condition that drives their join. */
typedef struct JoinOffer
{
	PlannerInfo *root;
	RelOptInfo *joinrel;
	JoinType	type;
	JoinPathExtraData *extra;
	JoinCondition condition;
} JoinOffer;

/*
 * Row identities
 *
 * If a partitioned table is changed, a join may have to emit the identity of
 * its rows, a column without relation (ROWID_VAR).  No expression of a custom
 * scan may be one, as an assertion of core says, but a node with children
 * passes one on.  So the join emits the column of the partitioned table
 * instead, and is the only child of an append node.  Core drops that node from
 * the plan, once the nodes above have found the identity in it.
 */

/*
 * True if a row identity is a whole row, of a foreign partition: not one of
 * the table's columns.
 */
static bool
has_whole_rows(const PlannerInfo *root)
{
	ListCell   *lc;

	foreach(lc, root->row_identity_vars)
		if (lfirst_node(RowIdentityVarInfo,
						lc)->rowidvar->varattno == InvalidAttrNumber)
		return true;
	return false;
}

/* The columns that the join emits. */
static PathTarget *
join_target(PlannerInfo *root, RelOptInfo *joinrel)
{
	PathTarget *target;
	ListCell   *lc;

	if (root->row_identity_vars == NIL)
		return joinrel->reltarget;
	target = copy_pathtarget(joinrel->reltarget);
	foreach(lc, target->exprs)
		lfirst(lc) = row_identity_column(root, lfirst(lc));
	return target;
}

/* The path that emits what core expects of the join. */
static Path *
row_identity_path(Path *join)
{
	AppendPath *path;

	if (join->pathtarget == join->parent->reltarget)
		return join;
	path = makeNode(AppendPath);
	path->path = *join;
	path->path.type = T_AppendPath;
	path->path.pathtype = T_Append;
	path->path.pathtarget = join->parent->reltarget;
	path->subpaths = list_make1(join);
	path->first_partial_path = 1;
	path->limit_tuples = -1;
	Assert(!join->parallel_aware);
	return &path->path;
}

/*
 * The join of two paths: whole ones, or partial ones of several processes, the
 * inner one maybe whole.
 */
static Path *
join_path(const JoinOffer *offer, Path *outer, Path *inner, bool parallel,
		  bool inner_whole)
{
	const JoinCondition *condition = &offer->condition;
	RelOptInfo *joinrel = offer->joinrel;
	const NearCondition *near = &condition->near;
	CustomPath *path = makeNode(CustomPath);
	List	   *clauses;
	List	   *qual;
	bool		self_join;

	divide_clauses(joinrel, offer->type, offer->extra->restrictlist, &clauses,
				   &qual);
	path->path.pathtype = T_CustomScan;
	path->path.parent = joinrel;
	path->path.pathtarget = join_target(offer->root, joinrel);
	path->path.parallel_aware = parallel;
	path->path.parallel_safe = joinrel->consider_parallel &&
		outer->parallel_safe && inner->parallel_safe;
	path->path.parallel_workers = parallel ? outer->parallel_workers : 0;
	path->flags = CUSTOMPATH_SUPPORT_PROJECTION;
	path->custom_paths = list_make2(outer, inner);
	custom_path_set_restrictinfo(path, offer->extra->restrictlist);
	path_set_disabled_nodes(&path->path, outer, inner);
	path->custom_private = list_make5(condition->rinfo, clauses, qual,
									  makeInteger(offer->type),
									  makeInteger(condition->left_is_inner));
	path->custom_private = lappend(path->custom_private,
								   makeInteger(near->recall != NULL));
	self_join = !inner_whole &&
		selfjoin_paths(offer->root, outer, inner,
					   condition->left_is_inner ? near->right : near->left,
					   condition->left_is_inner ? near->left : near->right);
	path->custom_private = lappend(path->custom_private,
								   makeInteger(self_join));
	path->custom_private = lappend(path->custom_private,
								   makeInteger(inner_whole));
	Assert(list_length(path->custom_private) == PATH_COUNT);
	path->methods = &path_methods;
	cost_join(offer->root, path, offer->extra, condition,
			  remaining_clauses(clauses, condition->rinfo,
								near->recall != NULL));
	return &path->path;
}

/*
 * True if the path can be a side: it does not depend on a row of another side.
 */
static bool
is_usable(const Path *path)
{
	return path != NULL && path->param_info == NULL;
}

/*
 * Joins of core
 *
 * Core assumes that a semi- or anti-join by a hash table compares a row with
 * at most one other, and trusts small estimates of rows.  So it may list a
 * join as cheaper than ours that compares millions of pairs.  A support
 * function cannot correct that: it is asked for the cost of one call, not of a
 * join.  So core's paths stay as they are, and ours is listed slightly below
 * one that really costs more.
 */

/*
 * Estimated rows of a side; of VALUES, or of a table with a unique index, they
 * are certain.
 */
static double
clamped_rows(PlannerInfo *root, const Path *side)
{
	RelOptInfo *rel = side->parent;

	if (rel->reloptkind == RELOPT_BASEREL &&
		(rel->rtekind == RTE_VALUES ||
		 (rel->rtekind == RTE_RELATION && compat_has_unique_index(root, rel))))
		return side->rows;
	return Max(side->rows, LEAST_ROWS);
}

/*
 * The share of the inner rows that have the hash or merge keys of an outer
 * one.
 */
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
								   bms_is_subset(key->right_relids,
												 inner->parent->relids) ?
								   get_rightop(key->clause) :
								   get_leftop(key->clause),
								   UNBOUNDED_BUCKETS, &mcv_freq, &bucket);
		share *= bucket;
	}
	Assert(share >= 0 && share <= 1);
	return share;
}

/*
 * True if the path looks the condition up in an index; also if that is not
 * known.
 */
static bool
looks_up(const Path *path, const RestrictInfo *condition)
{
	ListCell   *lc;

	if (IsA(path, BitmapHeapPath))
		path = ((const BitmapHeapPath *) path)->bitmapqual;
	if (!IsA(path, IndexPath))
		return true;
	foreach(lc, ((const IndexPath *) path)->indexclauses)
		if (lfirst_node(IndexClause, lc)->rinfo == condition)
		return true;
	return false;
}

/*
 * Pairs of rows that a nested loop compares whose inner side is looked up for
 * each outer row, by other conditions.  0: near-duplicates are looked up,
 * which costs what core says.
 */
static double
pairs_looked_up(const JoinOffer *offer, const Path *inner, double outer_rows)
{
	RestrictInfo *condition = offer->condition.rinfo;
	Selectivity core;

	if (looks_up(inner, condition))
		return 0;
	core = clause_selectivity(offer->root, (Node *) condition,
							  inner->parent->relid,
							  JOIN_INNER, NULL);
	return outer_rows * inner->rows / Max(core, 1e-10);
}

/* Pairs of rows on which a core join evaluates the condition. */
static double
compared_pairs(const JoinOffer *offer, const JoinPath *join)
{
	PlannerInfo *root = offer->root;
	const Path *inner = join->innerjoinpath;
	double		outer_rows = clamped_rows(root, join->outerjoinpath);

	if (!IsA(join, NestPath))
		return outer_rows * inner->rows *
			share_by_keys(root, IsA(join, HashPath) ?
						  ((const HashPath *) join)->path_hashclauses :
						  ((const MergePath *) join)->path_mergeclauses,
						  inner);
	if (inner->param_info != NULL)
		return pairs_looked_up(offer, inner, outer_rows);
	return outer_rows * clamped_rows(root, inner);
}

/*
 * The cost of a core join that evaluates the condition.  Core assumes that the
 * rescan of a hash join costs nothing before its first row, but a look-up of
 * near-duplicates in it does all its work there.
 */
static Cost
cost_of_core_join(const JoinOffer *offer, const JoinPath *join)
{
	const Path *inner = join->innerjoinpath;
	Cost		comparison = offer->condition.rinfo->eval_cost.per_tuple;
	Cost		cost = join->path.total_cost;

	cost = Max(cost, compared_pairs(offer, join) * comparison);
	if (IsA(join, NestPath) && IsA(inner, HashPath) &&
		inner->param_info != NULL)
		cost += join->outerjoinpath->rows * inner->startup_cost;
	return cost;
}

/* True if the path is a core join that evaluates the condition on pairs. */
static bool
compares_pairs(const Path *path, const RestrictInfo *condition)
{
	const JoinPath *join = (const JoinPath *) path;

	return (IsA(path, NestPath) || IsA(path, HashPath) ||
			IsA(path, MergePath)) &&
		path->param_info == NULL &&
		!bms_is_subset(condition->clause_relids,
					   join->outerjoinpath->parent->relids) &&
		!bms_is_subset(condition->clause_relids,
					   join->innerjoinpath->parent->relids);
}

/*
 * The share of `rows` rows that the query fetches: not all at a LIMIT or
 * EXISTS.
 */
static double
share_fetched(const PlannerInfo *root, double rows)
{
	Assert(root->tuple_fraction >= 0 && rows >= 1);
	if (root->tuple_fraction >= 1)
		return Min(root->tuple_fraction / rows, 1);
	return root->tuple_fraction > 0 ? root->tuple_fraction : 1;
}

/* The cost of a path whose rows are fetched up to a share. */
static Cost
cost_of_share(Cost startup, Cost total, double share)
{
	return startup + share * (total - startup);
}

/*
 * List our join slightly below the core joins in the list that really cost
 * more, in full and for the rows that are fetched.
 */
static void
undercut_core_joins(const JoinOffer *offer, Path *ours, List *paths)
{
	Cost		total = ours->total_cost;
	Cost		startup = ours->startup_cost;
	double		share = share_fetched(offer->root, ours->rows);
	Cost		fetched = cost_of_share(startup, total, share);
	ListCell   *lc;

	foreach(lc, paths)
	{
		Path	   *path = lfirst(lc);
		Cost		real;
		Cost		listed;

		if (!compares_pairs(path, offer->condition.rinfo) ||
			compat_compare_disabled(ours, path) > 0)
			continue;
		real = cost_of_core_join(offer, (JoinPath *) path);
		if (real <= ours->total_cost ||
			cost_of_share(path->startup_cost, real, share) <= fetched)
			continue;
		listed = UNDERCUT_FACTOR *
			cost_of_share(path->startup_cost, path->total_cost,
						  share_fetched(offer->root, path->rows));
		total = Min(total,
					Min(path->total_cost * UNDERCUT_FACTOR, listed / share));
		if (share < 1)
			startup = Min(startup,
						  Max(listed - share * total, 0) / (1 - share));
	}
	Assert(total >= 0 && total <= ours->total_cost);
	ours->total_cost = total;
	ours->startup_cost = Min(startup, total);
}

/*
 * Add the join by several processes: with the rows of both sides divided
 * (join_shared.c), or with all inner rows in each process.
 */
static void
add_parallel_paths(const JoinOffer *offer, RelOptInfo *outerrel,
				   RelOptInfo *innerrel)
{
	RelOptInfo *joinrel = offer->joinrel;
	Path	   *inner[2] = {NULL, NULL};	/* partial, and whole */

	if (!joinrel->consider_parallel || outerrel->partial_pathlist == NIL)
		return;
	if (innerrel->partial_pathlist != NIL)
		inner[0] = linitial(innerrel->partial_pathlist);
	inner[1] = get_cheapest_parallel_safe_total_inner(innerrel->pathlist);
	for (int whole = 0; whole <= 1; whole++)
	{
		Path	   *ours;

		if (inner[whole] == NULL)
			continue;
		ours = join_path(offer, linitial(outerrel->partial_pathlist),
						 inner[whole], true, whole);
		undercut_core_joins(offer, ours, joinrel->partial_pathlist);
		add_partial_path(joinrel, row_identity_path(ours));
	}
}

/* Add a path for each condition that can drive the join. */
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
		Path	   *ours;

		/*
		 * The condition is evaluated before all others, so none of them may
		 * have a lower security level.
		 */
		if ((IS_OUTER_JOIN(type) &&
			 RINFO_IS_PUSHED_DOWN(rinfo, joinrel->relids)) ||
			(rinfo->security_level > least && !rinfo->leakproof) ||
			!join_condition(root, rinfo, outerrel, innerrel, &offer.condition))
			continue;
		ours = join_path(&offer, outerrel->cheapest_total_path,
						 innerrel->cheapest_total_path,
						 false, false);
		undercut_core_joins(&offer, ours, joinrel->pathlist);
		add_path(joinrel, row_identity_path(ours));
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
	if (!neardup_enable_join || has_whole_rows(root))
		return;
	if (straight != JOIN_INNER && straight != JOIN_LEFT &&
		straight != JOIN_SEMI &&
		straight != JOIN_ANTI)
		return;
	if (!bms_is_empty(joinrel->lateral_relids) ||
		!is_usable(outerrel->cheapest_total_path) ||
		!is_usable(innerrel->cheapest_total_path))
		return;
	if (straight == type)
	{
		add_joins(root, joinrel, outerrel, innerrel, type, extra);
		return;
	}

	/*
	 * core has just added paths with the sides exchanged: list ours below
	 * these, too
	 */
	mirrored = *extra;
	if (straight == JOIN_SEMI || straight == JOIN_ANTI)
		compute_semi_anti_join_factors(root, joinrel, innerrel, outerrel,
									   straight,
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
							 PGC_USERSET, GUC_EXPLAIN | guc_parallel_flags(),
							 NULL, NULL, NULL);
	DefineCustomEnumVariable("neardup.join_algorithm",
							 "Sets how similarity joins find candidates.",
							 "All algorithms find the same pairs; \"auto\" is the fastest.",
							 &neardup_join_algorithm,
							 ALGORITHM_AUTO, algorithm_options,
							 PGC_USERSET, GUC_EXPLAIN | guc_parallel_flags(),
							 NULL, NULL, NULL);
	RegisterCustomScanMethods(&similarity_join_scan_methods);
	previous_hook = set_join_pathlist_hook;
	set_join_pathlist_hook = join_pathlist;
}
