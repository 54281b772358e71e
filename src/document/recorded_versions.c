/*
 * recorded_versions.c
 *		The versions of ICU and libstemmer that made a database's signatures.
 *
 * ICU and libstemmer decide which words a text has.  Another version of either
 * may change a few words, and then stored signatures and new ones of the same
 * spec differ.  So CREATE EXTENSION records the results of their components
 * (components.c) in a table whose rows are dumped: restored on another
 * machine, it has the rows of both machines.  pg_upgrade and copies of files
 * leave it unchanged.
 *
 * A component is compared at its first use in a session, so that a session
 * pays only for components that it uses.  Components of ICU are not compared
 * if its version is the recorded one.
 */
#include "postgres.h"

#include <libstemmer.h>
#include <unicode/uchar.h>
#include <unicode/uversion.h>

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/parallel.h"
#include "access/relation.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/pg_class.h"
#include "catalog/pg_extension.h"
#include "catalog/pg_type.h"
#include "commands/extension.h"
#include "funcapi.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/tuplestore.h"

#include "base/compat.h"
#include "base/hash.h"
#include "document/recorded_versions.h"
#include "text/component_use.h"
#include "text/components.h"

#define RECORD_TABLE	"neardup_recorded_versions"
#define ICU				"ICU"

PG_FUNCTION_INFO_V1(neardup_components);
PG_FUNCTION_INFO_V1(neardup_versions);

/* Add a row, of a name and a version, to the result. */
static void
put_component(ReturnSetInfo *rsinfo, const char *name, const char *version)
{
	Datum		values[2] = {CStringGetTextDatum(name),
	CStringGetTextDatum(version)};
	bool		nulls[2] = {false, false};

	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
}

/* neardup_components(): the versions to record */
Datum
neardup_components(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo;

	InitMaterializedSRF(fcinfo, 0);
	rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	put_component(rsinfo, ICU, icu_version());
	for (int id = 0; id < NUM_COMPONENTS; id++)
	{
		const char *name = component_name(id);

		if (name != NULL)
			put_component(rsinfo, name, component_version(id));
	}
	return (Datum) 0;
}

/* Return the list of the algorithms of libstemmer, which has no version. */
static char *
stemmer_list(void)
{
	StringInfoData list;
	int			n = 0;

	initStringInfo(&list);
	for (const char **name = sb_stemmer_list(); *name != NULL; name++, n++)
		appendStringInfo(&list, " %s", *name);
	return psprintf("%d languages:%s", n, list.data);
}

/* neardup_versions(): the installed versions */
Datum
neardup_versions(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo;
	UVersionInfo version;
	char text[	U_MAX_VERSION_STRING_LENGTH];

	InitMaterializedSRF(fcinfo, 0);
	rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	put_component(rsinfo, "neardup", NEARDUP_VERSION);
	put_component(rsinfo, "PostgreSQL",
				  psprintf("%s, built for %s",
						   GetConfigOption("server_version", false, false),
						   PG_VERSION));
	put_component(rsinfo, ICU,
				  psprintf("%s, built for %s", icu_version(), U_ICU_VERSION));
	u_getUnicodeVersion(version);
	u_versionToString(version, text);
	put_component(rsinfo, "Unicode", text);
	put_component(rsinfo, "libstemmer", stemmer_list());
	put_component(rsinfo, "xxHash",
				  psprintf("%d.%d.%d", XXH_VERSION_MAJOR, XXH_VERSION_MINOR,
						   XXH_VERSION_RELEASE));
	return (Datum) 0;
}

/*
 * True if the table has the columns of the extension's table: two of type
 * text.
 */
static bool
is_record(Relation rel)
{
	TupleDesc	desc = RelationGetDescr(rel);

	return rel->rd_rel->relkind == RELKIND_RELATION && desc->natts == 2 &&
		TupleDescAttr(desc, 0)->atttypid == TEXTOID &&
		TupleDescAttr(desc, 1)->atttypid == TEXTOID;
}

/* Return the recorded versions of a component, or of ICU. */
static List *
recorded_versions(Relation rel, const char *component)
{
	SysScanDesc scan = systable_beginscan(rel, InvalidOid, false, NULL, 0,
										  NULL);
	List	   *versions = NIL;
	HeapTuple	row;

	while (HeapTupleIsValid(row = systable_getnext(scan)))
	{
		bool		isnull[2];
		Datum		name = heap_getattr(row, 1, RelationGetDescr(rel),
										&isnull[0]);
		Datum		version = heap_getattr(row, 2, RelationGetDescr(rel),
										   &isnull[1]);

		if (!isnull[0] && !isnull[1] &&
			strcmp(TextDatumGetCString(name), component) == 0)
			versions = lappend(versions, TextDatumGetCString(version));
	}
	systable_endscan(scan);
	return versions;
}

/* True if every recorded version is the current one. */
static bool
all_equal(List *versions, const char *now)
{
	ListCell   *lc;

	foreach(lc, versions)
	{
		if (strcmp(lfirst(lc), now) != 0)
			return false;
	}
	return true;
}

/* True if a component's version differs from the recorded ones. */
static bool
differs(Relation rel, int id)
{
	const char *name = component_name(id);
	List	   *icu = COMPONENT_IS_ICU(id) ? recorded_versions(rel, ICU) : NIL;
	List	   *versions;

	if (name == NULL || (icu != NIL && all_equal(icu, icu_version())))
		return false;
	versions = recorded_versions(rel, name);
	return versions != NIL && !all_equal(versions, component_version(id));
}

/* Warn about all components that differ. */
static void
warn(Relation rel)
{
	StringInfoData list;

	initStringInfo(&list);
	for (int id = 0; id < NUM_COMPONENTS; id++)
		if (differs(rel, id))
			appendStringInfo(&list, "%s%s", list.len > 0 ? ", " :
							 "", component_name(id));
	ereport(WARNING,
			(errcode(ERRCODE_WARNING),
			 errmsg("stored signatures and new ones may have different words"),
			 errdetail("Different from the record: %s.", list.data),
			 errhint("neardup_outdated(table, column) counts the rows; see \"Upgrade of ICU or libstemmer\" in the documentation.")));
}

/* Return the schema of the extension, or InvalidOid. */
static Oid
extension_schema(void)
{
	Relation	rel = table_open(ExtensionRelationId, AccessShareLock);
	Oid			schema = InvalidOid;
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	row;

	ScanKeyInit(&key, Anum_pg_extension_extname, BTEqualStrategyNumber,
				F_NAMEEQ,
				CStringGetDatum("neardup"));
	scan = systable_beginscan(rel, ExtensionNameIndexId, true, NULL, 1, &key);
	if (HeapTupleIsValid(row = systable_getnext(scan)))
		schema = ((Form_pg_extension) GETSTRUCT(row))->extnamespace;
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	return schema;
}

/* Compare a component that the session is about to use; warn once. */
static void
check_component(int id)
{
	static bool warned = false;
	Oid			relid;
	Relation	rel;

	/* nothing is recorded yet while the extension is created */
	if (warned || creating_extension || IsParallelWorker() ||
		!IsTransactionState())
		return;
	relid = get_relname_relid(RECORD_TABLE, extension_schema());
	/* do not wait for a lock to give a warning */
	if (!OidIsValid(relid) ||
		!ConditionalLockRelationOid(relid, AccessShareLock))
	{
		component_used[id] = false;
		return;
	}
	rel = try_relation_open(relid, NoLock);
	if (rel == NULL)
		return;
	if (is_record(rel))
	{
		MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
													  "neardup record",
													  ALLOCSET_DEFAULT_SIZES);
		MemoryContext old = MemoryContextSwitchTo(context);

		if (differs(rel, id))
		{
			warned = true;
			warn(rel);
		}
		MemoryContextSwitchTo(old);
		MemoryContextDelete(context);
	}
	relation_close(rel, AccessShareLock);
}

void
recorded_versions_check(void)
{
	component_first_used = check_component;
}

void
recorded_versions_check_spec(const SignatureSpec *spec)
{
	recorded_versions_check();
	if (spec->unit == UNIT_NONE || (spec->filters & FILTER_CONFIG) != 0)
		return;
	component_use(COMPONENT_LETTERS);
	if (spec->unit == UNIT_SENTENCE)
		component_use(COMPONENT_SENTENCES);
	if (language_has_stemmer((Language) spec->language))
		component_use(COMPONENT_STEMMER + spec->language);
}
