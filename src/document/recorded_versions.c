/*
 * recorded_versions.c
 *		The versions that a database's signatures were made with.
 *
 * ICU and libstemmer decide which words a text has.  Another version of either
 * may decide otherwise of a few, and then signatures that were stored and those
 * that are made now are compared as if they had been made alike.  So the
 * versions are recorded where the extension is created, in a table that dumps
 * take along: restored on another machine, it has the versions of the old one
 * beside those of the new one.  pg_upgrade and copies of files leave it as it
 * was.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/document/recorded_versions.c
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/parallel.h"
#include "access/relation.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "commands/extension.h"
#include "funcapi.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/tuplestore.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "base/compat.h"
#include "document/recorded_versions.h"
#include "text/components.h"

#define RECORD_TABLE	"neardup_recorded_versions"

PG_FUNCTION_INFO_V1(neardup_components);

/* neardup_components(): what is recorded */
Datum
neardup_components(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo;
	Component  *list;
	int			n;

	InitMaterializedSRF(fcinfo, 0);
	rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	list = components_list(&n);
	for (int i = 0; i < n; i++)
	{
		Datum		values[2];
		bool		nulls[2] = {false, false};

		values[0] = CStringGetTextDatum(list[i].name);
		values[1] = CStringGetTextDatum(list[i].version);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
	return (Datum) 0;
}

/* Whether the table is the extension's: two columns of text. */
static bool
is_record(Relation rel)
{
	TupleDesc	desc = RelationGetDescr(rel);

	return rel->rd_rel->relkind == RELKIND_RELATION && desc->natts == 2 &&
		TupleDescAttr(desc, 0)->atttypid == TEXTOID &&
		TupleDescAttr(desc, 1)->atttypid == TEXTOID;
}

/* Appends a recorded version if it is another than that of today. */
static void
compare_row(HeapTuple row, TupleDesc desc, const Component *list, int n,
			StringInfo differences)
{
	bool		isnull[2];
	Datum		name = heap_getattr(row, 1, desc, &isnull[0]);
	Datum		version = heap_getattr(row, 2, desc, &isnull[1]);
	char	   *difference;

	if (isnull[0] || isnull[1])
		return;
	for (int i = 0; i < n; i++)
	{
		if (strcmp(list[i].name, TextDatumGetCString(name)) != 0 ||
			strcmp(list[i].version, TextDatumGetCString(version)) == 0)
			continue;
		difference = psprintf("%s %s, now %s", list[i].name,
							  TextDatumGetCString(version), list[i].version);
		/* the same row may be there twice */
		if (strstr(differences->data, difference) == NULL)
			appendStringInfo(differences, "%s%s",
							 differences->len == 0 ? "" : "; ", difference);
	}
}

/* The differences between what is recorded and what there is today. */
static char *
find_differences(Relation rel)
{
	StringInfoData differences;
	SysScanDesc scan = systable_beginscan(rel, InvalidOid, false, NULL, 0,
										  NULL);
	HeapTuple	row;
	int			n;
	Component  *list = components_list(&n);

	initStringInfo(&differences);
	while (HeapTupleIsValid(row = systable_getnext(scan)))
		compare_row(row, RelationGetDescr(rel), list, n, &differences);
	systable_endscan(scan);
	return differences.data;
}

static void
warn(const char *differences)
{
	ereport(WARNING,
			(errcode(ERRCODE_WARNING),
			 errmsg("stored signatures may have been made of other words than are made now"),
			 errdetail("Versions differ: %s.", differences),
			 errhint("Make stored signatures and lexicons of text anew, then call neardup_accept_versions().")));
}

void
recorded_versions_check(Oid function)
{
	static bool checked = false;
	Oid			relid;
	Relation	rel;

	/* while the extension is created, nothing is recorded */
	if (likely(checked) || creating_extension || IsParallelWorker())
		return;
	relid = get_relname_relid(RECORD_TABLE, get_func_namespace(function));
	/* nobody is to wait for a warning */
	if (!OidIsValid(relid) ||
		!ConditionalLockRelationOid(relid, AccessShareLock))
		return;
	checked = true;
	rel = try_relation_open(relid, NoLock);
	if (rel == NULL)
		return;
	if (is_record(rel))
	{
		char	   *differences = find_differences(rel);

		if (differences[0] != '\0')
			warn(differences);
	}
	relation_close(rel, AccessShareLock);
}
