/*
 * shingles.c
 *		SQL functions: a document's set of shingles.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/methods/sets/shingles.c
 */
#include "postgres.h"

#include "fmgr.h"

#include "base/arguments.h"
#include "base/compat.h"
#include "datum/signature.h"
#include "methods/method.h"
#include "site/site.h"

const MethodInfo shingles_method = {
	.name = "shingles", .method = METHOD_SHINGLES, .width = 64,
	.analysed = ANALYSED_ALWAYS, .set = true, .exact = true, .hashed = true
};

PG_FUNCTION_INFO_V1(shingles);

/* k = 0 stands for "not given" inside only. */
static void
check_k(int k)
{
	if (k == 0)
		argument_whole("shingle size", k, 1, MAX_SHINGLE_SIZE);
}

static Signature *
make_signature(Site *site, const text *doc)
{
	size_t		n;
	const uint64 *set = site_set(site, doc, true, &n);
	Signature  *sig = signature_alloc(&site->making, n);

	memcpy(sig->values, set, n * sizeof(uint64));
	sig->nfeatures = n;
	return sig;
}

/* (doc text, k int, analysis text) */
Datum
shingles(PG_FUNCTION_ARGS)
{
	Site	   *site = site_get(fcinfo, 2);
	int			k = SITE_GETARG_K(site, 1);

	if (site->has_k)
		check_k(k);
	site_read_shingles(site, fcinfo, READS_SHINGLES, k);
	PG_RETURN_SIGNATURE(make_signature(site, SITE_GETARG_TEXT(site, 0)));
}
