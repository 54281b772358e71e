/*
 * remote_threshold.c
 *		The operators' threshold, where other servers answer.
 *
 * The operators %, <% and %> ask for neardup.threshold of the server where they
 * run.  Citus sends a condition on a distributed table to other nodes as it was
 * written, and does not send the SET of this session: they would answer by
 * another threshold, and nobody would notice.  So such a query is refused.
 *
 * What this server has by its configuration, or by ALTER DATABASE or ALTER ROLE,
 * which Citus passes on, is taken to be the same everywhere.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/planner/remote_threshold.c
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/pg_namespace_d.h"
#include "nodes/nodeFuncs.h"
#include "utils/fmgroids.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "planner/remote_threshold.h"

/* Where Citus notes the tables that it knows; InvalidOid if it is not there. */
static Oid
citus_tables(void)
{
	return get_relname_relid("pg_dist_partition", PG_CATALOG_NAMESPACE);
}

/*
 * True if Citus is loaded, and the session has changed the setting in a way of
 * which other nodes do not hear.
 */
static bool
threshold_is_own(void)
{
	const char *passed_on = GetConfigOption("citus.propagate_set_commands",
											true, false);

	return passed_on != NULL && strcmp(passed_on, "local") != 0 &&
		strcmp(GetConfigOption("neardup.threshold", false, false),
			   GetConfigOptionResetString("neardup.threshold")) != 0;
}

/* A column of a row of that table. */
static Datum
column_value(Relation rel, HeapTuple tuple, const char *name)
{
	bool		isnull;
	Datum		value = heap_getattr(tuple, get_attnum(RelationGetRelid(rel), name),
									 RelationGetDescr(rel), &isnull);

	return isnull ? (Datum) 0 : value;
}

/* True if its row says that the table is on this server only. */
static bool
is_local(Relation rel, HeapTuple tuple)
{
	return DatumGetChar(column_value(rel, tuple, "partmethod")) == 'n' &&
		DatumGetChar(column_value(rel, tuple, "repmodel")) == 's' &&
		DatumGetInt32(column_value(rel, tuple, "colocationid")) == 0;
}

/* True if a table is on other nodes. */
static bool
is_elsewhere(Oid table)
{
	Relation	rel = table_open(citus_tables(), AccessShareLock);
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;
	bool		elsewhere;

	ScanKeyInit(&key, get_attnum(RelationGetRelid(rel), "logicalrelid"),
				BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(table));
	scan = systable_beginscan(rel, InvalidOid, false, NULL, 1, &key);
	tuple = systable_getnext(scan);
	elsewhere = HeapTupleIsValid(tuple) && !is_local(rel, tuple);
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	return elsewhere;
}

/* Finds such a table in a query. */
static bool
find_elsewhere(Node *node, void *context)
{
	Oid		   *found = context;

	if (node == NULL)
		return false;
	if (IsA(node, RangeTblEntry))
	{
		RangeTblEntry *rte = (RangeTblEntry *) node;

		if (rte->rtekind == RTE_RELATION && is_elsewhere(rte->relid))
			*found = rte->relid;
		return OidIsValid(*found);
	}
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, find_elsewhere, context,
								 QTW_EXAMINE_RTES_BEFORE);
	return expression_tree_walker(node, find_elsewhere, context);
}

static void
refuse(Oid table)
{
	const char *threshold = GetConfigOption("neardup.threshold", false, false);

	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("other nodes have not heard of neardup.threshold = %s",
					threshold),
			 OidIsValid(table) ?
			 errdetail("Table \"%s\" is on other nodes of Citus, where %%, <%% and %%> take the setting of these.",
					   get_rel_name(table)) :
			 errdetail("On other nodes of Citus %%, <%% and %%> take the setting of these."),
			 errhint("Write near_duplicate(a, b, %s) or contained_in(a, b, %s), or set it by ALTER DATABASE.",
					 threshold, threshold)));
}

/*
 * See remote_threshold.h.  Citus evaluates conditions of its shortest way of
 * planning, for rows with one value of the distribution column, without a root.
 */
void
remote_threshold_require_same(PlannerInfo *root)
{
	Oid			found = InvalidOid;

	if (!threshold_is_own() || !OidIsValid(citus_tables()))
		return;
	if (root == NULL)
		refuse(InvalidOid);
	for (; root != NULL; root = root->parent_root)
		if (find_elsewhere((Node *) root->parse, &found))
			refuse(found);
}
