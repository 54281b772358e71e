/*
 * signature_describe.c
 *		What a signature is, in words.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/signature/sql/signature_describe.c
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/table.h"
#include "access/tableam.h"
#include "catalog/pg_ts_config.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "base/compat.h"
#include "signature/signature.h"
#include "methods/spec_name.h"
#include "methods/method.h"
#include "text/analysis.h"

/*
 * Appends the name of the text-search configuration whose hash a spec
 * holds, if there is one in this database.
 */
static void
append_config(const SignatureSpec *spec, StringInfo out)
{
	Relation	rel = table_open(TSConfigRelationId, AccessShareLock);
	TableScanDesc scan = table_beginscan_catalog(rel, 0, NULL);
	HeapTuple	tuple;

	while ((tuple = heap_getnext(scan, ForwardScanDirection)) != NULL)
	{
		Form_pg_ts_config config = (Form_pg_ts_config) GETSTRUCT(tuple);
		Analysis   *analysis = analysis_of_config(config->oid);

		analysis_set_k(analysis, spec->k);
		if (analysis->spec.analysis == spec->analysis)
			appendStringInfo(out, ", made by text-search configuration %s",
							 quote_qualified_identifier(
														get_namespace_name(config->cfgnamespace),
														NameStr(config->cfgname)));
	}
	table_endscan(scan);
	table_close(rel, AccessShareLock);
}

/* What a shingle consists of, in words. */
static const char *
unit_name(uint8 unit)
{
	switch (unit)
	{
		case UNIT_CHAR:
			return "character";
		case UNIT_SENTENCE:
			return "sentence";
		case UNIT_LINE:
			return "line";
		default:
			return "word";
	}
}

PG_FUNCTION_INFO_V1(signature_describe);
Datum
signature_describe(PG_FUNCTION_ARGS)
{
	Signature  *sig = PG_GETARG_SIGNATURE(0);
	const SignatureSpec *spec = &sig->spec;
	const MethodInfo *method = method_info(spec->method);
	uint64		n = SIGNATURE_NVALUES(sig);
	StringInfoData out;

	initStringInfo(&out);
	spec_append(spec, &out);
	if (!method->exact)
		appendStringInfo(&out, ": %llu values of %d bits for",
						 (unsigned long long) n, spec->width);
	else
		appendStringInfo(&out, ": %s of",
						 method->weighted ? "vector" : "exact set");
	appendStringInfo(&out, " %u feature%s", sig->nfeatures,
					 sig->nfeatures == 1 ? "" : "s");
	if (spec->unit != UNIT_NONE)
		appendStringInfo(&out, ", runs of %u %s%s", spec->k,
						 unit_name(spec->unit), spec->k == 1 ? "" : "s");
	if (spec->filters & FILTER_CONFIG)
		append_config(spec, &out);
	PG_RETURN_TEXT_P(cstring_to_text_with_len(out.data, out.len));
}
