/*
 * counters.c
 *		What scans of access method neardup have done in this session:
 *		neardup_index_counters().
 *
 * The server's statistics have what is common to all indexes: scans, rows and
 * pages.  EXPLAIN has a place for what an access method counts from PostgreSQL 18 on
 * only: see explain_scan.c.
 */
#include "postgres.h"

#include "fmgr.h"
#include "funcapi.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"
#include "utils/tuplestore.h"

#include "base/compat.h"
#include "index/counters.h"

/* Further indexes are counted together. */
#define MAX_INDEXES			1000

static HTAB *indexes = NULL;

static void
create_indexes(void)
{
	HASHCTL		control = {
		.keysize = sizeof(Oid), .entrysize = sizeof(SearchCounters),
		.hcxt = TopMemoryContext
	};

	indexes = hash_create("neardup index counters", 16, &control,
						  HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
}

SearchCounters *
search_counters(Oid index)
{
	SearchCounters *counters;
	bool		found;

	if (indexes == NULL)
		create_indexes();
	counters = hash_search(indexes, &index, HASH_FIND, NULL);
	if (counters != NULL)
		return counters;
	if (hash_get_num_entries(indexes) >= MAX_INDEXES)
		index = InvalidOid;
	counters = hash_search(indexes, &index, HASH_ENTER, &found);
	if (!found)
	{
		memset(counters, 0, sizeof(SearchCounters));
		counters->index = index;
	}
	return counters;
}

void
search_counters_add(SearchCounters *to, const SearchCounters *now,
					  const SearchCounters *before)
{
	to->passes += now->passes - before->passes;
	to->pages += now->pages - before->pages;
	to->keys += now->keys - before->keys;
	to->postings += now->postings - before->postings;
	to->candidates += now->candidates - before->candidates;
}

static void
put_counters(ReturnSetInfo *result, const SearchCounters *counters)
{
	Datum		values[] = {
		ObjectIdGetDatum(counters->index),
		Int64GetDatum((int64) counters->scans),
		Int64GetDatum((int64) counters->passes),
		Int64GetDatum((int64) counters->pages),
		Int64GetDatum((int64) counters->keys),
		Int64GetDatum((int64) counters->postings),
		Int64GetDatum((int64) counters->candidates),
		Int64GetDatum((int64) counters->rows)
	};
	bool		nulls[lengthof(values)] = {!OidIsValid(counters->index)};

	tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}

PG_FUNCTION_INFO_V1(neardup_index_counters);

/* (reset boolean): tells them, and then sets them to 0 */
Datum
neardup_index_counters(PG_FUNCTION_ARGS)
{
	bool		reset = PG_GETARG_BOOL(0);
	HASH_SEQ_STATUS sequence;
	SearchCounters *counters;

	InitMaterializedSRF(fcinfo, 0);
	if (indexes == NULL)
		return (Datum) 0;
	hash_seq_init(&sequence, indexes);
	while ((counters = hash_seq_search(&sequence)) != NULL)
	{
		if (counters->scans > 0)
			put_counters((ReturnSetInfo *) fcinfo->resultinfo, counters);
		if (reset)
			memset(&counters->scans, 0, sizeof(SearchCounters) -
				   offsetof(SearchCounters, scans));
	}
	return (Datum) 0;
}
