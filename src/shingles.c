/*
 * shingles.c
 *		SQL functions: a document's set of shingles.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/shingles.c
 */
#include "postgres.h"

#include "fmgr.h"

#include "compat.h"
#include "documents.h"
#include "neardup.h"

PG_FUNCTION_INFO_V1(shingles_with_k);
PG_FUNCTION_INFO_V1(shingles_with_analysis);
PG_FUNCTION_INFO_V1(shingles_with_config);

static Signature *
make_signature(DocumentSite *site, text *doc)
{
	size_t		n;
	const uint64 *set = document_set(site, doc, true, &n);
	Signature  *sig = signature_alloc(document_making(site), n);

	memcpy(sig->values, set, n * sizeof(uint64));
	sig->nfeatures = n;
	return sig;
}

/* k = 0 stands for "not given" inside only. */
static void
check_k(int k)
{
	if (k == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("shingle size is out of range: %d", k),
				 errdetail("The shingle size is a number from 1 to %d.",
						   MAX_SHINGLE_SIZE)));
}

/* shingles(doc text, k int, analysis text) */
Datum
shingles_with_k(PG_FUNCTION_ARGS)
{
	text	   *doc = PG_GETARG_TEXT_PP(0);
	int			k = PG_GETARG_INT32(1);
	text	   *analysis = PG_GETARG_TEXT_PP(2);

	check_k(k);
	PG_RETURN_SIGNATURE(make_signature(document_site(fcinfo, doc, analysis, k),
									   doc));
}

/* shingles(doc text, analysis text) */
Datum
shingles_with_analysis(PG_FUNCTION_ARGS)
{
	text	   *doc = PG_GETARG_TEXT_PP(0);
	text	   *analysis = PG_GETARG_TEXT_PP(1);

	PG_RETURN_SIGNATURE(make_signature(document_site(fcinfo, doc, analysis, 0),
									   doc));
}

/* shingles(config regconfig, doc text, k int) */
Datum
shingles_with_config(PG_FUNCTION_ARGS)
{
	Oid			config = PG_GETARG_OID(0);
	text	   *doc = PG_GETARG_TEXT_PP(1);
	int			k = PG_GETARG_INT32(2);

	check_k(k);
	PG_RETURN_SIGNATURE(make_signature(document_site_for_config(fcinfo, config,
																k), doc));
}
