/*
 * guard_tables.c
 *		Lists the tables that the guard searches, and chooses the index for
 *		each.
 *
 * A trigger on a partitioned table is cloned to each partition, and a clone
 * fires only for rows of its partition.  But a near-duplicate may be in any
 * partition of the table that the trigger was created on, so all of them are
 * searched, each with its own index.  README.md has the locks.
 *
 * A usable index has every row of the table, or is the index that the trigger
 * names, whose predicate defines the guarded rows.  Its key is the guarded
 * signature, and it can search at the guard's threshold.  It has fastupdate
 * off: otherwise every check would read the list of pending entries, which
 * makes a bulk load quadratic.
 *
 * indcheckxmin does not matter.  Old snapshots may miss rows in broken HOT
 * chains, but a dirty snapshot sees only the last version of a row, which is
 * indexed, as unique indexes require.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/gin.h"
#include "access/gin_private.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/index.h"
#include "catalog/partition.h"
#include "catalog/pg_am.h"
#include "catalog/pg_inherits.h"
#include "commands/defrem.h"
#include "common/shortest_dec.h"
#include "storage/lmgr.h"
#include "storage/proc.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/fmgrprotos.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/ruleutils.h"
#include "utils/snapmgr.h"

#include "base/compat.h"
#include "base/trigger.h"
#include "gin/gin.h"
#include "index/access.h"
#include "methods/method.h"
#include "guard/guard.h"

/* All lists of partitions that exist, for the invalidation callback */
static dlist_head lists = DLIST_STATIC_INIT(lists);

/* First argument of the trigger */
typedef struct Source
{
	Oid			root;			/* table that the trigger was created on */
	const char *name;			/* name of a column, or of an index on the
								 * root */
} Source;

/* Invalidation of lists of partitions */

/*
 * Relation cache callback: mark lists stale that a change of a table may
 * concern.
 */
static void
partitions_changed(Datum arg, Oid relid)
{
	dlist_iter	iter;

	dlist_foreach(iter, &lists)
	{
		GuardPartitions *list = dlist_container(GuardPartitions, node,
												iter.cur);

		/* any change may concern a list that is not complete */
		if (!OidIsValid(relid) || list->parents == NIL ||
			list_member_oid(list->parents, relid))
			list->stale = true;
	}
}

/* Memory context callback: remove a list from the lists that exist. */
static void
unwatch(void *arg)
{
	dlist_delete(&((GuardPartitions *) arg)->node);
}

/*
 * Watch a list until the current memory context is reset: a change of
 * partitions sets list->stale.
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

/* Faults of an index */

/* Rank of access method neardup: above all thresholds, so it is preferred */
#define FASTEST			2.0

/* Reasons why an index cannot serve, from nearly usable to not at all */
typedef enum Fault
{
	FAULT_NONE,
	FAULT_FASTUPDATE,
	FAULT_THRESHOLD,
	FAULT_INVALID,
	FAULT_PARTIAL,
	FAULT_NO_INDEX,
} Fault;

/* True if a type is signature: its default operator class for GIN is ours. */
static bool
is_signature_type(Oid type)
{
	Oid			opclass = GetDefaultOpClass(type, GIN_AM_OID);
	Oid			input;
	Oid			proc;
	FmgrInfo	finfo;

	if (!OidIsValid(opclass))
		return false;
	input = get_opclass_input_type(opclass);
	proc = get_opfamily_proc(get_opclass_family(opclass), input, input,
							 GIN_EXTRACTVALUE_PROC);
	if (!OidIsValid(proc))
		return false;
	fmgr_info(proc, &finfo);
	return finfo.fn_addr == gin_signature_extract_value;
}

/* True if a key column of an index has one of our operator classes. */
static bool
is_signature_key(Relation index, AttrNumber keyno)
{
	if (index->rd_rel->relkind == RELKIND_PARTITIONED_INDEX ||
		index_is_neardup(index))
		return is_signature_type(index->rd_opcintype[keyno - 1]);
	return gin_is_signature_key(index, keyno);
}

/* Return the options of a key column of a GIN index. */
static GinSignatureOptions
key_options(Relation index, AttrNumber keyno)
{
	return gin_signature_options(RelationGetIndexAttOptions(index,
															false)[keyno - 1]);
}

/*
 * Return the first fault of a key column, which has one of our operator
 * classes.
 */
static Fault
key_fault(Relation index, AttrNumber keyno, const Guard *guard)
{
	GinSignatureOptions options;

	if (!index->rd_index->indisvalid || !index->rd_index->indisready ||
		!index->rd_index->indislive)
		return FAULT_INVALID;
	if (index_is_neardup(index))
		return FAULT_NONE;
	options = key_options(index, keyno);
	if (!gin_signature_can_answer(&options, guard->measure, guard->threshold))
		return FAULT_THRESHOLD;
	if (GinGetUseFastUpdate(index))
		return FAULT_FASTUPDATE;
	return FAULT_NONE;
}

/* Messages */

/* Return the name of a relation with its schema. */
static char *
qualified_name(Relation rel)
{
	return quote_qualified_identifier(get_namespace_name(RelationGetNamespace(rel)),
									  RelationGetRelationName(rel));
}

/* Return the SQL command that creates an index on `key`. */
static char *
create_index_command(Relation rel, const char *key)
{
	return psprintf("CREATE INDEX ON %s USING neardup (%s)",
					qualified_name(rel), key);
}

char *
guard_key_sql(Relation index, AttrNumber keyno)
{
	return TextDatumGetCString(DirectFunctionCall3(pg_get_indexdef_ext,
												   ObjectIdGetDatum(RelationGetRelid(index)),
												   Int32GetDatum(keyno),
												   BoolGetDatum(false)));
}

/* Raise an error for the fault of a table's index. */
static void
raise_fault(Relation rel, const GuardTable *table, Fault fault,
			double threshold)
{
	Relation	index = index_open(table->indexid, NoLock);
	AttrNumber	keyno = table->keyno;
	const char *name = RelationGetRelationName(index);
	char	   *create = create_index_command(rel,
											  guard_key_sql(index, keyno));

	switch (fault)
	{
		case FAULT_FASTUPDATE:
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("neardup_guard cannot use index \"%s\" while fastupdate is on",
							name),
					 errdetail("Each check would read the whole list of pending entries."),
					 errhint("Use ALTER INDEX %s SET (fastupdate = off), then SELECT gin_clean_pending_list(%s).",
							 qualified_name(index),
							 quote_literal_cstr(qualified_name(index))),
					 errtable(rel)));
			break;
		case FAULT_THRESHOLD:
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("neardup_guard's threshold %s is below the threshold of index \"%s\"",
							double_to_shortest_decimal(threshold), name),
					 errdetail("The index was built for thresholds from %s.",
							   double_to_shortest_decimal(key_options(index,
																	  keyno).threshold)),
					 errhint("Use %s.", create),
					 errtable(rel)));
			break;
		case FAULT_INVALID:
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("neardup_guard cannot use index \"%s\", which is not valid",
							name),
					 errhint("Use REINDEX INDEX %s, or DROP INDEX and %s.",
							 qualified_name(index), create),
					 errtable(rel)));
			break;
		case FAULT_PARTIAL:
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("neardup_guard cannot use index \"%s\", which is partial",
							name),
					 errdetail("A partial index does not have all rows with which a new row must be compared."),
					 errhint("Use %s; or give neardup_guard the name of the index, to guard the rows that it has.",
							 create),
					 errtable(rel)));
			break;
		case FAULT_NONE:
		case FAULT_NO_INDEX:
			break;
	}
	elog(ERROR, "unexpected fault of index \"%s\": %d", name, (int) fault);
}

void
guard_require_signature(Relation rel, AttrNumber attno)
{
	Form_pg_attribute att = TupleDescAttr(RelationGetDescr(rel), attno - 1);

	if (!is_signature_type(att->atttypid))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("column \"%s\" of table \"%s\" is of type %s, not signature",
						NameStr(att->attname), RelationGetRelationName(rel),
						format_type_be(att->atttypid)),
				 errhint("Give neardup_guard a column of type signature, or the name of an index on an expression that makes one."),
				 errtablecol(rel, attno)));
}

/* Raise an error: no index on the column can serve. */
static void
raise_no_index(Relation rel, AttrNumber attno)
{
	Form_pg_attribute att = TupleDescAttr(RelationGetDescr(rel), attno - 1);
	const char *column = quote_identifier(NameStr(att->attname));

	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("column \"%s\" of table \"%s\" has no index that neardup_guard could use",
					NameStr(att->attname), RelationGetRelationName(rel)),
			 errdetail("It looks for near-duplicates in an index of access method neardup, or in one of GIN and class signature_gin_ops. Only dense vectors, by the measure cosine, need none."),
			 errhint(rel->rd_rel->relispartition ?
					 "Use %s, or the same on the partitioned table, for all its partitions." :
					 "Use %s.",
					 create_index_command(rel, column)),
			 errtablecol(rel, attno)));
}

/* Choosing */

/* Criteria in the choice of an index, most important first */
typedef struct IndexRank
{
	Fault		fault;
	int			served;			/* number of the scope's columns that the
								 * index can search */
	double		built_for;		/* threshold that the index was built for; a
								 * higher one makes it smaller and more exact */
} IndexRank;

/* True if one index is better than another. */
static bool
is_better(const IndexRank *a, const IndexRank *b)
{
	if (a->fault != b->fault)
		return a->fault < b->fault;
	if (a->served != b->served)
		return a->served > b->served;
	return a->built_for > b->built_for;
}

/*
 * Make a key column of an index on column attno the choice if it is better
 * than the best so far.
 */
static void
consider_index(const Guard *guard, Relation index, AttrNumber attno,
			   IndexRank *best, GuardTable *table)
{
	for (int i = 0; i < index->rd_index->indnkeyatts; i++)
	{
		AttrNumber	keyno = i + 1;
		IndexRank	rank;

		if (index->rd_index->indkey.values[i] != attno ||
			!is_signature_key(index, keyno))
			continue;
		rank.fault = heap_attisnull(index->rd_indextuple,
									Anum_pg_index_indpred, NULL) ?
			key_fault(index, keyno, guard) : FAULT_PARTIAL;
		rank.served = guard_scope_served(guard, table, index);
		rank.built_for = index_is_neardup(index) ? FASTEST :
			key_options(index, keyno).threshold;
		if (is_better(&rank, best))
		{
			*best = rank;
			table->indexid = RelationGetRelid(index);
			table->keyno = keyno;
		}
	}
}

/*
 * Choose the best index on a signature column, and return its fault.  Keeps
 * AccessShareLock on all indexes of the table.
 */
static Fault
choose_index(const Guard *guard, Relation rel, AttrNumber attno,
			 GuardTable *table)
{
	IndexRank	best = {.fault = FAULT_NO_INDEX};
	List	   *indexes = RelationGetIndexList(rel);
	ListCell   *lc;

	table->indexid = InvalidOid;
	foreach(lc, indexes)
	{
		Relation	index = index_open(lfirst_oid(lc), AccessShareLock);

		consider_index(guard, index, attno, &best, table);
		index_close(index, NoLock);
	}
	list_free(indexes);
	Assert((best.fault == FAULT_NO_INDEX) == !OidIsValid(table->indexid));
	return best.fault;
}

AttrNumber
guard_signature_key(Relation index)
{
	AttrNumber	keyno = 0;

	for (int i = 1; i <= index->rd_index->indnkeyatts; i++)
	{
		if (!is_signature_key(index, i))
			continue;
		if (keyno != 0)
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("index \"%s\" has more than one signature",
							RelationGetRelationName(index)),
					 errhint("Give neardup_guard the column, or an index on one expression.")));
		keyno = i;
	}
	if (keyno == 0)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("index \"%s\" is not one that neardup_guard could use",
						RelationGetRelationName(index)),
				 errdetail("It looks for near-duplicates in an index of access method neardup, or in one of GIN and class signature_gin_ops."),
				 errhint("Give neardup_guard a column of type signature, or an index such as CREATE INDEX ... USING neardup (shingles(...)) makes.")));
	return keyno;
}

/* Use the index that the trigger names, and return its fault. */
static Fault
use_index(const Guard *guard, Oid indexid, GuardTable *table)
{
	Relation	index = index_open(indexid, AccessShareLock);
	Fault		fault;

	table->indexid = indexid;
	table->keyno = guard_signature_key(index);
	fault = key_fault(index, table->keyno, guard);
	index_close(index, NoLock);
	return fault;
}

/* Tables */

Oid
guard_named_index(Oid relid, const char *name)
{
	Oid			indexid = get_relname_relid(name, get_rel_namespace(relid));

	if (!OidIsValid(indexid) || (get_rel_relkind(indexid) != RELKIND_INDEX &&
								 get_rel_relkind(indexid) !=
								 RELKIND_PARTITIONED_INDEX) ||
		IndexGetRelation(indexid, true) != relid)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("table \"%s\" has no column or index \"%s\"",
						get_rel_name(relid), name),
				 errhint("The first argument of neardup_guard is a column of type signature, or an index on an expression that makes one.")));
	return indexid;
}

/*
 * Return the index of a partition that belongs to a partitioned index; raise
 * an error if there is none.
 */
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

/* Raise an error unless a relation is a table with access method heap. */
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

/*
 * Find the index of a table: the best one on a column, or the one that the
 * trigger names.  A trigger for statements does without an index on a column;
 * so does one for rows by the measure cosine, as long as its rows are dense
 * vectors.
 *
 * REINDEX CONCURRENTLY may replace an index between look-up and lock.  Then it
 * is looked up again.  That cannot happen twice: the replaced index is dropped
 * only after all older locks on the table have gone.
 */
static void
find_index(const Guard *guard, Relation rel, AttrNumber attno,
		   const Source *source,
		   GuardTable *table)
{
	Fault		fault = FAULT_INVALID;

	for (int i = 0; i < 2 && fault == FAULT_INVALID; i++)
	{
		if (i > 0)
			AcceptInvalidationMessages();
		fault = attno > 0 ? choose_index(guard, rel, attno, table) :
			use_index(guard,
					  partition_index(rel,
									  guard_named_index(source->root,
														source->name)),
					  table);
	}
	table->searchable = fault == FAULT_NONE;
	if (fault == FAULT_NO_INDEX)
		guard_require_signature(rel, attno);
	if (fault == FAULT_NO_INDEX && !guard->statement &&
		guard->measure != MEASURE_COSINE)
		raise_no_index(rel, attno);
	if (!table->searchable && fault != FAULT_NO_INDEX && !guard->statement)
		raise_fault(rel, table, fault, guard->threshold);
	if (!table->searchable && attno > 0)
		table->indexid = InvalidOid;
}

/* Prepare the search of a table. */
static void
prepare_table(Guard *guard, GuardTable *table, Relation rel,
			  const Source *source)
{
	AttrNumber	attno = get_attnum(source->root, source->name) > 0 ?
	get_attnum(RelationGetRelid(rel), source->name) : InvalidAttrNumber;

	Assert(CheckRelationLockedByMe(rel, AccessShareLock, true));
	require_heap(rel);
	table->relid = RelationGetRelid(rel);
	table->columns = guard_scope_columns(guard, rel, false);
	find_index(guard, rel, attno, source, table);
	table->key = OidIsValid(table->indexid) ?
		guard_index_value(rel, table->indexid, table->keyno, false) :
		guard_column_value(rel, attno, false);
	if (OidIsValid(table->indexid))
		table->predicate = guard_predicate(rel, table->indexid, false);

	/* a copy: the guard must hold no reference to the relation's descriptor */
	table->slot =
		compat_make_slot(CreateTupleDescCopyConstr(RelationGetDescr(rel)),
						 &TTSOpsBufferHeapTuple);
}

/* Raise an error if a table is searched without an index. */
static void
require_index(const GuardTable *table)
{
	if (!table->searchable)
		raise_no_index(table_open(table->relid, NoLock), table->key.attno);
}

void
guard_require_indexes(const Guard *guard, const NewRow *row)
{
	const GuardPartitions *partitions = guard->partitions;

	if (method_info(row->sig->spec.method)->dense)
		return;
	require_index(guard->own);
	for (int i = 0; partitions != NULL && i < partitions->ntables; i++)
		require_index(&partitions->tables[i]);
}

/*
 * Append the tables below root to *leaves, and the partitioned ones to
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

/*
 * Return the list that another clone of the trigger created in this statement,
 * or NULL.
 */
static GuardPartitions *
find_list(Oid tgoid)
{
	StatementId statement = guard_current_statement();
	dlist_iter	iter;

	AcceptInvalidationMessages();
	dlist_foreach(iter, &lists)
	{
		GuardPartitions *list = dlist_container(GuardPartitions, node,
												iter.cur);

		if (list->ready && !list->stale && list->tgoid == tgoid &&
			statements_equal(list->statement, statement) &&
			list->subtransaction == GetCurrentSubTransactionId())
			return list;
	}
	return NULL;
}

/* Create the list of partitions for a guard, in the current memory context. */
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

/* See guard.h. */
void
guard_list_tables(Guard *guard, MemoryContext parent, Relation rel,
				  const Trigger *trigger)
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
