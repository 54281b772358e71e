/*
 * guard_index.c
 *		The index that serves the guard on a table, or why none does.
 *
 * A usable index knows every row of the table, or is the one that the trigger
 * names, so that its predicate says which rows are meant.  It knows them under
 * the very signature that is guarded, and can look up near-duplicates at the
 * guard's threshold.  It has fastupdate off: otherwise every check would read
 * the whole list of pending entries, which makes a bulk load quadratic.
 *
 * indcheckxmin does not matter.  It says that old snapshots may miss rows in
 * broken HOT chains; a dirty snapshot asks for the last version of a row
 * only, and that one is indexed, as unique indexes rely on, too.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/gin.h"
#include "access/gin_private.h"
#include "catalog/namespace.h"
#include "catalog/pg_am.h"
#include "catalog/pg_opclass.h"
#include "common/shortest_dec.h"
#include "commands/defrem.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/ruleutils.h"
#include "utils/syscache.h"

#include "base/compat.h"
#include "gin/gin.h"
#include "index/access.h"
#include "guard/guard.h"

/* Above all thresholds: an index of access method neardup is taken first. */
#define FASTEST			2.0

/* What keeps an index from serving, from nearly usable to not at all. */
typedef enum Fault
{
	FAULT_NONE,
	FAULT_FASTUPDATE,
	FAULT_THRESHOLD,
	FAULT_INVALID,
	FAULT_PARTIAL,
	FAULT_NO_INDEX,
} Fault;

/* True if the operator class is the default one of the type. */
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

/* True if a key column is of one of our operator classes. */
static bool
is_signature_key(Relation index, AttrNumber keyno)
{
	if (index->rd_rel->relkind == RELKIND_PARTITIONED_INDEX)
		return is_signature_type(index->rd_opcintype[keyno - 1]);
	if (index_is_neardup(index))
		return is_signature_type(index->rd_opcintype[keyno - 1]);
	return gin_is_signature_key(index, keyno);
}

static GinSignatureOptions
key_options(Relation index, AttrNumber keyno)
{
	return gin_signature_options(RelationGetIndexAttOptions(index, false)[keyno - 1]);
}

static bool
is_partial(Relation index)
{
	return !heap_attisnull(index->rd_indextuple, Anum_pg_index_indpred, NULL);
}

/* The first fault of a key column of our operator class. */
static Fault
key_fault(Relation index, AttrNumber keyno, double threshold)
{
	GinSignatureOptions options;

	if (!index->rd_index->indisvalid || !index->rd_index->indisready ||
		!index->rd_index->indislive)
		return FAULT_INVALID;
	if (index_is_neardup(index))
		return FAULT_NONE;
	options = key_options(index, keyno);
	if (!gin_signature_can_answer(&options, MEASURE_JACCARD, threshold))
		return FAULT_THRESHOLD;
	if (GinGetUseFastUpdate(index))
		return FAULT_FASTUPDATE;
	return FAULT_NONE;
}

/* Names, as they have to be written */

static char *
qualified_name(Relation rel)
{
	return quote_qualified_identifier(get_namespace_name(RelationGetNamespace(rel)),
									  RelationGetRelationName(rel));
}

/* The command that makes an index for signatures of `key` (in SQL). */
static char *
create_index_command(Relation rel, const char *key, Oid type, double threshold)
{
	GinSignatureOptions options = gin_signature_options(NULL);
	Oid			opclass = GetDefaultOpClass(type, GIN_AM_OID);
	StringInfoData cmd;

	initStringInfo(&cmd);
	appendStringInfo(&cmd, "CREATE INDEX ON %s USING gin (%s", qualified_name(rel), key);
	if (!gin_signature_can_answer(&options, MEASURE_JACCARD, threshold))
		appendStringInfo(&cmd, " %s (threshold = %s)",
						 OidIsValid(opclass) ? generate_opclass_name(opclass) :
						 "signature_gin_ops",
						 double_to_shortest_decimal(threshold));
	appendStringInfoString(&cmd, ") WITH (fastupdate = off)");
	return cmd.data;
}

char *
guard_key_sql(Relation index, AttrNumber keyno)
{
	return TextDatumGetCString(DirectFunctionCall3(pg_get_indexdef_ext,
												   ObjectIdGetDatum(RelationGetRelid(index)),
												   Int32GetDatum(keyno),
												   BoolGetDatum(false)));
}

/* Raise what is wrong with an index that might have served. */
static void
raise_fault(Relation rel, Relation index, AttrNumber keyno, Fault fault, double threshold)
{
	const char *name = RelationGetRelationName(index);
	char	   *create = create_index_command(rel, guard_key_sql(index, keyno),
											  index->rd_opcintype[keyno - 1],
											  threshold);

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
					 errmsg("neardup_guard's threshold %s is below that of index \"%s\"",
							double_to_shortest_decimal(threshold), name),
					 errdetail("The index was built for thresholds from %s.",
							   double_to_shortest_decimal(key_options(index, keyno).threshold)),
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
					 errdetail("A partial index does not know all rows that a new one may be near to."),
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

static void
raise_no_index(Relation rel, AttrNumber attno, double threshold)
{
	Form_pg_attribute att = TupleDescAttr(RelationGetDescr(rel), attno - 1);
	const char *column = quote_identifier(NameStr(att->attname));

	guard_require_signature(rel, attno);
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("column \"%s\" of table \"%s\" has no index that neardup_guard could use",
					NameStr(att->attname), RelationGetRelationName(rel)),
			 errdetail("It looks for near-duplicates in a GIN index of class signature_gin_ops, or one of access method neardup."),
			 errhint(rel->rd_rel->relispartition ?
					 "Use %s, or the same on the partitioned table, for all its partitions." :
					 "Use %s.",
					 create_index_command(rel, column, att->atttypid, threshold)),
			 errtablecol(rel, attno)));
}

/* Choosing */

/* What makes one index serve better than another; most important first. */
typedef struct Merit
{
	Fault		fault;
	int			served;			/* columns of the scope that it has, too */
	double		built_for;		/* threshold: the higher, the smaller is the
								 * index and the fewer are false candidates */
} Merit;

static bool
is_better(const Merit *a, const Merit *b)
{
	if (a->fault != b->fault)
		return a->fault < b->fault;
	if (a->served != b->served)
		return a->served > b->served;
	return a->built_for > b->built_for;
}

/*
 * Of the key columns of one index that hold column attno, takes what serves
 * better than what was found so far.
 */
static void
consider_index(const Guard *guard, Relation index, AttrNumber attno,
			   Merit *best, GuardTable *table)
{
	for (int i = 0; i < index->rd_index->indnkeyatts; i++)
	{
		AttrNumber	keyno = i + 1;
		Merit		merit;

		if (index->rd_index->indkey.values[i] != attno || !is_signature_key(index, keyno))
			continue;
		merit.fault = is_partial(index) ? FAULT_PARTIAL :
			key_fault(index, keyno, guard->threshold);
		merit.served = guard_scope_served(guard, table, index);
		merit.built_for = index_is_neardup(index) ? FASTEST :
			key_options(index, keyno).threshold;
		if (is_better(&merit, best))
		{
			*best = merit;
			table->indexid = RelationGetRelid(index);
			table->keyno = keyno;
		}
	}
}

bool
guard_choose_index(const Guard *guard, Relation rel, AttrNumber attno,
				   bool again, GuardTable *table)
{
	Merit		best = {.fault = FAULT_NO_INDEX};
	List	   *indexes = RelationGetIndexList(rel);
	ListCell   *lc;

	foreach(lc, indexes)
	{
		Relation	index = index_open(lfirst_oid(lc), AccessShareLock);

		consider_index(guard, index, attno, &best, table);
		index_close(index, NoLock);
	}
	list_free(indexes);
	if (best.fault == FAULT_INVALID && again)
		return false;
	Assert(best.fault == FAULT_NO_INDEX || OidIsValid(table->indexid));
	table->searchable = best.fault == FAULT_NONE;
	if (!table->searchable && guard->statement &&
		is_signature_type(TupleDescAttr(RelationGetDescr(rel), attno - 1)->atttypid))
	{
		table->indexid = InvalidOid;
		return true;
	}
	if (best.fault == FAULT_NO_INDEX)
		raise_no_index(rel, attno, guard->threshold);
	if (best.fault != FAULT_NONE)
		raise_fault(rel, index_open(table->indexid, NoLock), table->keyno,
					best.fault, guard->threshold);
	return true;
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
				 errdetail("It looks for near-duplicates in a GIN index of class signature_gin_ops, or one of access method neardup."),
				 errhint("Give neardup_guard a column of type signature, or an index such as CREATE INDEX ... USING gin (shingles(...)) WITH (fastupdate = off) makes.")));
	return keyno;
}

bool
guard_use_index(const Guard *guard, Relation rel, Oid indexid, bool again,
				GuardTable *table)
{
	Relation	index = index_open(indexid, AccessShareLock);
	Fault		fault;

	table->indexid = indexid;
	table->keyno = guard_signature_key(index);
	fault = key_fault(index, table->keyno, guard->threshold);
	table->searchable = fault == FAULT_NONE;
	if (!table->searchable && !guard->statement && !(fault == FAULT_INVALID && again))
		raise_fault(rel, index, table->keyno, fault, guard->threshold);
	index_close(index, NoLock);
	return table->searchable || guard->statement;
}
