/*
 * spec.c
 *		The portable bytes of a spec, and their hash.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/signature/spec.c
 */
#include "postgres.h"

#include "port/pg_bswap.h"

#include "base/hash.h"
#include "signature/spec.h"

void
spec_swap(SignatureSpec *spec)
{
#ifdef WORDS_BIGENDIAN
	spec->k = pg_bswap16(spec->k);
	spec->analysis = pg_bswap32(spec->analysis);
	spec->filters = pg_bswap32(spec->filters);
	spec->param[0] = pg_bswap32(spec->param[0]);
	spec->param[1] = pg_bswap32(spec->param[1]);
#endif
}

uint64
spec_hash(const SignatureSpec *spec)
{
	SignatureSpec		portable = *spec;

	spec_swap(&portable);
	return XXH3_64bits(&portable, sizeof(SignatureSpec));
}
