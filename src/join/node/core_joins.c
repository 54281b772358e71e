/*
 * core_joins.c
 *		What the planner leaves out where it costs joins of its own.
 *
 * Core knows only conditions that take next to no time, and look-ups that give their
 * first row at once.  Where it makes little of the rest of a join it may be by far
 * too cheap, and keep the similarity join out.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/join/node/core_joins.c
 */
#include "postgres.h"

#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/restrictinfo.h"
#include "utils/selfuncs.h"

#include "join/node/join_node.h"
#include "planner/conditions.h"

/* The rows that share a key of which nothing is known: see estimate_hash_bucket_stats(). */
#define UNKNOWN_KEY_SHARE	0.1

/* Keys that leave as large a share of the rows to be compared tell little. */
#define LITTLE_TOLD		0.02

/* Nested loops over look-ups */

/* See join_node.h. */
bool
looks_up_signatures(const Path *path)
{
	if (IsA(path, BitmapHeapPath))
		return looks_up_signatures(((const BitmapHeapPath *) path)->bitmapqual);
	if (IsA(path, BitmapAndPath))
	{
		ListCell   *lc;

		foreach(lc, ((const BitmapAndPath *) path)->bitmapquals)
			if (looks_up_signatures(lfirst(lc)))
				return true;
	}
	return IsA(path, IndexPath) &&
		index_finds_near(((const IndexPath *) path)->indexinfo);
}

/*
 * What each run of a nested loop's inner side costs and is not in its cost: PostgreSQL
 * takes a hash join that runs again to have nothing to do before its first row, as
 * its table is there already.  But a look-up of near-duplicates does all its work
 * before its first row, and a table that is made of one is made anew.
 */
static Cost
cost_left_out(const Path *inner)
{
	const HashPath *join = (const HashPath *) inner;
	const Path *sides[2];

	if (!IsA(inner, HashPath) || join->num_batches > 1)
		return 0;
	sides[0] = join->jpath.innerjoinpath;
	sides[1] = join->jpath.outerjoinpath;
	for (int i = 0; i < 2; i++)
		if (sides[i]->param_info != NULL && looks_up_signatures(sides[i]))
			return i == 0 ? inner->startup_cost : sides[i]->startup_cost;
	return 0;
}

/* What is to be added to a nested loop over such a hash join. */
static Cost
nested_loop_left_out(const JoinPath *join)
{
	return cost_left_out(join->innerjoinpath) *
		Max(join->outerjoinpath->rows - 1, 0);
}

/* Hash and merge joins */

/* True if one of the clauses is a near-duplicate condition. */
static bool
compares_signatures(List *rinfos)
{
	ListCell   *lc;

	foreach(lc, rinfos)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
		NearCondition near;

		if (!rinfo->pseudoconstant &&
			similarity_join_clause((Node *) rinfo->clause, &near))
			return true;
	}
	return false;
}

/* Different values of an expression; 0 if ANALYZE has noted nothing of them. */
static double
known_values(PlannerInfo *root, Node *expr)
{
	VariableStatData vardata;
	bool		unknown;
	double		values;

	examine_variable(root, expr, 0, &vardata);
	values = get_variable_numdistinct(&vardata, &unknown);
	ReleaseVariableStats(vardata);
	return unknown ? 0 : values;
}

/*
 * Shares of the inner rows that an outer one meets by a key: as PostgreSQL expects of
 * an inner join, and with caution.  Of keys such as id % 10, of which nothing is known,
 * it expects two hundred values; but where it costs a hash join, ten.
 */
typedef struct KeyShare
{
	Selectivity expected;
	Selectivity cautious;
} KeyShare;

static KeyShare
share_of_key(PlannerInfo *root, RestrictInfo *key, const Path *inner, SpecialJoinInfo *sjinfo)
{
	Node	   *left = get_leftop(key->clause);
	Node	   *right = get_rightop(key->clause);
	bool		right_is_inner = bms_is_subset(key->right_relids, inner->parent->relids);
	double		inner_values = known_values(root, right_is_inner ? right : left);
	double		outer_values = known_values(root, right_is_inner ? left : right);
	KeyShare	share;

	share.expected = share.cautious = clause_selectivity(root, (Node *) key, 0, JOIN_INNER,
														 sjinfo);
	if (inner_values == 0)
		share.cautious = UNKNOWN_KEY_SHARE;
	else if (outer_values == 0)
		share.cautious = 1 / inner_values;
	share.cautious = Max(share.cautious, share.expected);
	return share;
}

/* The same of all keys of a hash or merge join. */
static KeyShare
share_of_keys(PlannerInfo *root, List *keys, const Path *inner_path,
			  const SpecialJoinInfo *sjinfo)
{
	SpecialJoinInfo inner = *sjinfo;
	KeyShare	all = {1, 1};
	ListCell   *lc;

	inner.jointype = JOIN_INNER;
	foreach(lc, keys)
	{
		KeyShare	share = share_of_key(root, lfirst(lc), inner_path, &inner);

		all.expected *= share.expected;
		all.cautious *= share.cautious;
	}
	return all;
}

/*
 * Of a semi- or anti-join by a hash table PostgreSQL takes an outer row without a partner
 * to have none by its key either, and one with a partner to have met it at once.  With
 * a.tenant = b.tenant as the key, though, a document is compared with all of its tenant
 * before it is known to have no partner.  Of other joins it charges the comparisons, but
 * as many as it expects.
 */
static Cost
keyed_join_left_out(PlannerInfo *root, const JoinPath *join, List *keys,
					JoinPathExtraData *extra)
{
	double		rows = join->innerjoinpath->parent->rows;
	double		compared;
	KeyShare	share;
	QualCost	all;
	QualCost	of_keys;

	if (!compares_signatures(join->joinrestrictinfo))
		return 0;
	share = share_of_keys(root, keys, join->innerjoinpath, extra->sjinfo);
	if (IsA(join, HashPath) && (join->jointype == JOIN_SEMI || join->jointype == JOIN_ANTI))
	{
		double		matched = extra->semifactors.outer_match_frac;
		double		until_match = Min(2 / (extra->semifactors.match_count + 1), 1);

		compared = Max(rows * share.cautious * (1 - matched + matched * until_match) - 1, 0);
	}
	else
		compared = rows * (share.cautious - share.expected);
	cost_qual_eval(&all, join->joinrestrictinfo, root);
	cost_qual_eval(&of_keys, keys, root);
	return join->outerjoinpath->rows * compared *
		(cpu_tuple_cost + all.per_tuple - of_keys.per_tuple);
}

static List *
keys_of(const Path *path)
{
	return IsA(path, HashPath) ? ((const HashPath *) path)->path_hashclauses :
		((const MergePath *) path)->path_mergeclauses;
}

/* See join_node.h. */
bool
core_join_keys_tell_little(PlannerInfo *root, const Path *path, const SpecialJoinInfo *sjinfo)
{
	return share_of_keys(root, keys_of(path), ((const JoinPath *) path)->innerjoinpath,
						 sjinfo).cautious >= LITTLE_TOLD;
}

/* Paths */

/* What is to be added to a path that joins these two relations. */
static Cost
left_out(PlannerInfo *root, const Path *path, RelOptInfo *outerrel,
		 RelOptInfo *innerrel, JoinType type, JoinPathExtraData *extra)
{
	const JoinPath *join = (const JoinPath *) path;

	if ((!IsA(path, NestPath) && !IsA(path, HashPath) && !IsA(path, MergePath)) ||
		join->jointype != type ||
		join->outerjoinpath->parent != outerrel ||
		join->innerjoinpath->parent != innerrel)
		return 0;
	if (IsA(path, NestPath))
		return nested_loop_left_out(join);
	return keyed_join_left_out(root, join, keys_of(path), extra);
}

/* Takes the paths that something is to be added to from a list, and adds that. */
static List *
take_corrected(PlannerInfo *root, List **paths, RelOptInfo *outerrel,
			   RelOptInfo *innerrel, JoinType type, JoinPathExtraData *extra)
{
	List	   *corrected = NIL;
	ListCell   *lc;

	foreach(lc, *paths)
	{
		Path	   *path = lfirst(lc);
		Cost		added = left_out(root, path, outerrel, innerrel, type, extra);

		if (added == 0)
			continue;
		path->total_cost += added;
		corrected = lappend(corrected, path);
		*paths = foreach_delete_current(*paths, lc);
	}
	return corrected;
}

/* See join_node.h: the paths then take the places that they have by what they cost. */
void
core_joins_correct(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outerrel,
				   RelOptInfo *innerrel, JoinType type, JoinPathExtraData *extra)
{
	List	   *corrected = take_corrected(root, &joinrel->pathlist, outerrel, innerrel,
										   type, extra);
	ListCell   *lc;

	foreach(lc, corrected)
		add_path(joinrel, lfirst(lc));
	corrected = take_corrected(root, &joinrel->partial_pathlist, outerrel, innerrel,
							   type, extra);
	foreach(lc, corrected)
		add_partial_path(joinrel, lfirst(lc));
}
