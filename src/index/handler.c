/*
 * handler.c
 *		Access method neardup: an inverted index of sets, which finds
 *		near-duplicates at any threshold, and orders by distance.
 */
#include "postgres.h"

#include "access/reloptions.h"
#include "catalog/pg_amop.h"
#include "catalog/pg_opclass.h"
#include "catalog/pg_type.h"
#include "commands/vacuum.h"
#include "utils/catcache.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "base/call.h"
#include "base/compat.h"
#include "index/access.h"

bool
index_is_neardup(Relation index)
{
	return index->rd_indam != NULL && index->rd_indam->ambuild == am_build;
}

Relation
index_open_neardup(Oid indexid)
{
	Relation	index = argument_relation(indexid, AccessShareLock);

	if (index->rd_rel->relkind == RELKIND_PARTITIONED_INDEX)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("index \"%s\" is partitioned, and has no pages of its own",
						RelationGetRelationName(index)),
				 errhint("Use the leaf indexes that pg_partition_tree() lists.")));
	if (!index_is_neardup(index))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is not an index of access method neardup",
						RelationGetRelationName(index))));
	if (!index->rd_index->indisready)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("index \"%s\" is not ready",
						RelationGetRelationName(index)),
				 errdetail("It is being created, or its creation failed."),
				 errhint("Use REINDEX, or drop it.")));
	return index;
}

Signature *
indexed_signature(Relation index, Datum value)
{
	if (OidIsValid(index_getprocid(index, 1, SIGNATURE_PROC)))
		value = FunctionCall1(index_getprocinfo(index, 1, SIGNATURE_PROC),
							  value);
	return DatumGetSignature(value);
}

/* There are no options yet: refuse all. */
static bytea *
am_options(Datum given, bool validate)
{
	static relopt_kind kind = 0;

	if (kind == 0)
		kind = add_reloption_kind();
	return (bytea *) build_reloptions(given, validate, kind,
									  sizeof(StdRdOptions), NULL, 0);
}

/* True if the operator and the purpose of a member fit its strategy. */
static bool
operator_is_valid(Form_pg_amop member)
{
	switch (member->amopstrategy)
	{
		case MATCH_STRATEGY:
			return member->amoppurpose == AMOP_SEARCH &&
				get_op_rettype(member->amopopr) == BOOLOID;
		case DISTANCE_STRATEGY:
		case COSINE_STRATEGY:
			return member->amoppurpose == AMOP_ORDER &&
				get_op_rettype(member->amopopr) == FLOAT8OID;
		default:
			return false;
	}
}

/* True if all operators of an operator class fit their strategies. */
static bool
am_validate(Oid opclass)
{
	CatCList   *members = SearchSysCacheList1(AMOPSTRATEGY,
											  ObjectIdGetDatum(get_opclass_family(opclass)));
	bool		valid = members->n_members > 0;

	for (int i = 0; i < members->n_members; i++)
	{
		Form_pg_amop member =
		(Form_pg_amop) GETSTRUCT(&members->members[i]->tuple);

		if (operator_is_valid(member))
			continue;
		ereport(INFO,
				(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
				 errmsg("operator %s cannot have strategy %d of access method \"neardup\"",
						get_opname(member->amopopr), member->amopstrategy)));
		valid = false;
	}
	ReleaseSysCacheList(members);
	return valid;
}

/* The handler of access method neardup: its properties and callbacks. */
PG_FUNCTION_INFO_V1(neardup_handler);
Datum
neardup_handler(PG_FUNCTION_ARGS)
{
	static const IndexAmRoutine routine = {
		.type = T_IndexAmRoutine,
		.amstrategies = COSINE_STRATEGY,
		.amsupport = SIGNATURE_PROC,
		.amcanorderbyop = true,
		.amoptionalkey = true,
		.amusemaintenanceworkmem = true,
		.amparallelvacuumoptions = VACUUM_OPTION_NO_PARALLEL,
		.amkeytype = InvalidOid,
		.ambuild = am_build,
		.ambuildempty = am_build_empty,
		.ambuildphasename = am_build_phase,
		.aminsert = am_insert,
		.ambulkdelete = am_bulk_delete,
		.amvacuumcleanup = am_cleanup,
		.amcostestimate = am_cost,
		.amoptions = am_options,
		.amvalidate = am_validate,
		.ambeginscan = am_begin_scan,
		.amrescan = am_rescan,
		.amgettuple = am_get_tuple,
		.amgetbitmap = am_get_bitmap,
		.amendscan = am_end_scan,
	};

	COMPAT_RETURN_AM_ROUTINE(routine);
}
