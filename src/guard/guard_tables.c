/*
 * guard_tables.c
 *		The tables that the guard searches.
 *
 * A trigger on a partitioned table is cloned to each partition, and a clone
 * fires for rows of its partition only.  But a near-duplicate may be in any
 * partition of the table that the trigger was created on, so all of them are
 * searched, each with its own index.  README.md has the locks.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/index.h"
#include "catalog/partition.h"
#include "catalog/pg_inherits.h"
#include "storage/lmgr.h"
#include "storage/proc.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"

#include "base/compat.h"
#include "guard/guard.h"

/* List of partitions that are in use, to be told when there may be others. */
static dlist_head lists = DLIST_STATIC_INIT(lists);

/* The first argument of the trigger, as it applies to any of the tables. */
typedef struct Source
{
	Oid			root;			/* the table that the trigger was created on */
	const char *name;			/* of a column, or of an index on that table */
} Source;

/* Following the list of partitions */

static void
partitions_changed(Datum arg, Oid relid)
{
	dlist_iter	iter;

	dlist_foreach(iter, &lists)
	{
		GuardPartitions *list = dlist_container(GuardPartitions, node, iter.cur);

		/* while the list is being made, any change may concern it */
		if (!OidIsValid(relid) || list->parents == NIL ||
			list_member_oid(list->parents, relid))
			list->stale = true;
	}
}

static void
unwatch(void *arg)
{
	dlist_delete(&((GuardPartitions *) arg)->node);
}

/*
 * From here on, a change of the partitions sets list->stale.  The list, in the
 * current memory context, is watched as long as that.
 */
static void
watch(GuardPartitions *list)
{
	static bool registered = false;

	if (!registered)
		CacheRegisterRelcacheCallback(partitions_changed, (Datum) 0);
	registered = true;
	list->unwatch.func = unwatch;
	list->unwatch.arg = list;
	dlist_push_tail(&lists, &list->node);
	MemoryContextRegisterResetCallback(CurrentMemoryContext, &list->unwatch);
}

StatementId
guard_current_statement(void)
{
	return (StatementId) {
		.transaction = compat_local_transaction(),
		.command = ActiveSnapshotSet() ? GetActiveSnapshot()->curcid :
			GetCurrentCommandId(false)
	};
}

/* What is searched */

Oid
guard_named_index(Oid relid, const char *name)
{
	Oid			indexid = get_relname_relid(name, get_rel_namespace(relid));

	if (!OidIsValid(indexid) || (get_rel_relkind(indexid) != RELKIND_INDEX &&
		 get_rel_relkind(indexid) != RELKIND_PARTITIONED_INDEX) ||
		IndexGetRelation(indexid, true) != relid)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("table \"%s\" has no column or index \"%s\"",
						get_rel_name(relid), name),
				 errhint("The first argument of neardup_guard is a column of type signature, or an index on an expression that makes one.")));
	return indexid;
}

/* The index of a partition that is part of a partitioned index. */
static Oid
partition_index(Relation rel, Oid parent)
{
	List	   *indexes = RelationGetIndexList(rel);
	ListCell   *lc;
	Oid			found = InvalidOid;

	foreach(lc, indexes)
	{
		Oid			indexid = lfirst_oid(lc);

		if (indexid == parent || (get_rel_relispartition(indexid) &&
			 list_member_oid(get_partition_ancestors(indexid), parent)))
		{
			found = indexid;
			break;
		}
	}
	list_free(indexes);
	if (!OidIsValid(found))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("partition \"%s\" has no index that is part of index \"%s\"",
						RelationGetRelationName(rel), get_rel_name(parent)),
				 errhint("Use CREATE INDEX on the partition, then ALTER INDEX ... ATTACH PARTITION."),
				 errtable(rel)));
	return found;
}

static void
require_heap(Relation rel)
{
	if (rel->rd_rel->relkind != RELKIND_RELATION)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("neardup_guard cannot look for near-duplicates in \"%s\"",
						RelationGetRelationName(rel)),
				 errdetail("It is not an ordinary table; only these have the index that is needed."),
				 errtable(rel)));
	if (table_slot_callbacks(rel) != &TTSOpsBufferHeapTuple)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("neardup_guard cannot look for near-duplicates in table \"%s\"",
						RelationGetRelationName(rel)),
				 errdetail("Its access method does not store rows as heap does."),
				 errtable(rel)));
}

/* Find the table's index; false if it is not valid but another may be. */
static bool
find_index(const Guard *guard, Relation rel, const Source *source, bool again,
		   GuardTable *table)
{
	if (get_attnum(source->root, source->name) > 0)
		return guard_choose_index(guard, rel, get_attnum(table->relid, source->name),
								  again, table);
	return guard_use_index(guard, rel, partition_index(rel, guard_named_index(source->root,
																  source->name)),
						   again, table);
}

/*
 * Prepare the search of a table.  REINDEX CONCURRENTLY may put another index in
 * the place of one that has been looked up and not locked as yet; then it is
 * looked up again.  It cannot happen twice: the index that was replaced is not
 * dropped, and the command ends, before those have ended who hold a lock on
 * the table.
 */
static void
prepare_table(Guard *guard, GuardTable *table, Relation rel, const Source *source)
{
	Assert(CheckRelationLockedByMe(rel, AccessShareLock, true));
	require_heap(rel);
	table->relid = RelationGetRelid(rel);
	table->columns = guard_scope_columns(guard, rel, false);
	if (!find_index(guard, rel, source, true, table))
	{
		AcceptInvalidationMessages();
		(void) find_index(guard, rel, source, false, table);
	}
	table->key = OidIsValid(table->indexid) ?
		guard_index_value(rel, table->indexid, table->keyno, false) :
		guard_column_value(rel, get_attnum(table->relid, source->name), false);
	if (OidIsValid(table->indexid))
		table->predicate = guard_predicate(rel, table->indexid, false);

	/* a tuple descriptor that is counted would be missed by its owner */
	table->slot = compat_make_slot(CreateTupleDescCopyConstr(RelationGetDescr(rel)),
									 &TTSOpsBufferHeapTuple);
}

/*
 * The tables below root: leaves are appended to *leaves, partitioned tables to
 * *parents.
 */
static void
list_partitions(Oid root, List **leaves, List **parents)
{
	List	   *all;
	ListCell   *lc;

	LockRelationOid(root, AccessShareLock);
	all = find_all_inheritors(root, AccessShareLock, NULL);
	foreach(lc, all)
	{
		Oid			relid = lfirst_oid(lc);

		if (get_rel_relkind(relid) == RELKIND_PARTITIONED_TABLE)
			*parents = lappend_oid(*parents, relid);
		else
			*leaves = lappend_oid(*leaves, relid);
	}
	list_free(all);
}

/* A list that another clone of the trigger has made in this statement, or NULL. */
static GuardPartitions *
find_list(Oid tgoid)
{
	StatementId statement = guard_current_statement();
	dlist_iter	iter;

	AcceptInvalidationMessages();
	dlist_foreach(iter, &lists)
	{
		GuardPartitions *list = dlist_container(GuardPartitions, node, iter.cur);

		if (list->ready && !list->stale && list->tgoid == tgoid &&
			statements_equal(list->statement, statement) &&
			list->subtransaction == GetCurrentSubTransactionId())
			return list;
	}
	return NULL;
}

/* Make the list for a guard, in the current memory context. */
static GuardPartitions *
make_list(Guard *guard, Oid tgoid, const Source *source)
{
	GuardPartitions *list = palloc0(sizeof(GuardPartitions));
	List	   *leaves = NIL;
	List	   *parents = NIL;
	ListCell   *lc;

	list->tgoid = tgoid;
	list->statement = guard_current_statement();
	list->subtransaction = GetCurrentSubTransactionId();
	watch(list);
	list_partitions(source->root, &leaves, &parents);
	list->parents = parents;
	list->tables = palloc0(list_length(leaves) * sizeof(GuardTable));
	foreach(lc, leaves)
	{
		Relation	leaf = table_open(lfirst_oid(lc), NoLock);

		prepare_table(guard, &list->tables[list->ntables++], leaf, source);
		table_close(leaf, NoLock);
	}
	Assert(list->ntables == list_length(leaves));
	list->ready = true;
	return list;
}

/*
 * List the tables to search for a trigger that fires on rel, with all that is needed to
 * search them.  Raises an error that names the table, and the command that helps, where
 * one cannot be searched.  rel is in guard->memory; partitions, which other guards of the
 * statement may use, are in parent, which ends with the statement.
 */
void
guard_list_tables(Guard *guard, MemoryContext parent, Relation rel, const Trigger *trigger)
{
	MemoryContext caller = MemoryContextSwitchTo(guard->memory);
	Oid			tgoid;
	Oid			root = trigger_root(rel, trigger, &tgoid);
	Source		source = {root, trigger->tgargs[0]};

	guard->own = palloc0(sizeof(GuardTable));
	prepare_table(guard, guard->own, rel, &source);
	MemoryContextSwitchTo(parent);
	if (root != RelationGetRelid(rel))
	{
		guard->partitions = find_list(tgoid);
		if (guard->partitions == NULL)
			guard->partitions = make_list(guard, tgoid, &source);
	}
	MemoryContextSwitchTo(caller);
}
