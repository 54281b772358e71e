/*
 * trigger.c
 *		Triggers in the catalogs.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/indexing.h"
#include "catalog/pg_trigger.h"
#include "utils/fmgroids.h"

#include "base/trigger.h"

Oid
trigger_root(Relation rel, const Trigger *trigger, Oid *created)
{
	Oid			root = RelationGetRelid(rel);
	Oid			parent = trigger->tgisclone ? trigger->tgoid : InvalidOid;

	*created = trigger->tgoid;
	while (OidIsValid(parent))
	{
		Relation	catalog = table_open(TriggerRelationId, AccessShareLock);
		ScanKeyData key;
		SysScanDesc scan;
		HeapTuple	tuple;

		*created = parent;
		ScanKeyInit(&key, Anum_pg_trigger_oid, BTEqualStrategyNumber, F_OIDEQ,
					ObjectIdGetDatum(parent));
		scan = systable_beginscan(catalog, TriggerOidIndexId, true, NULL, 1,
								  &key);
		tuple = systable_getnext(scan);
		if (!HeapTupleIsValid(tuple))
			elog(ERROR, "could not find trigger %u", parent);
		root = ((Form_pg_trigger) GETSTRUCT(tuple))->tgrelid;
		parent = ((Form_pg_trigger) GETSTRUCT(tuple))->tgparentid;
		systable_endscan(scan);
		table_close(catalog, AccessShareLock);
	}
	Assert(OidIsValid(*created) && OidIsValid(root));
	return root;
}
