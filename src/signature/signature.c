/*
 * signature.c
 *		The signature datum, and the portable bytes of its spec.
 */
#include "postgres.h"

#include "port/pg_bswap.h"

#include "base/hash.h"
#include "signature/signature.h"

/*
 * The signature datum.
 */

size_t
signature_size(const SignatureSpec *spec, uint64 nvalues)
{
	uint64		most = (MaxAllocSize - SIGNATURE_HEADER) /
	(Max(spec->width, 64) / 8);

	if (nvalues > most)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("signature of " UINT64_FORMAT " values is too large",
						nvalues),
				 errdetail("A signature holds at most " UINT64_FORMAT " values.",
						   most)));
	return SIGNATURE_HEADER + nvalues * spec->width / 8;
}

Signature *
signature_alloc(const SignatureSpec *spec, uint64 nvalues)
{
	size_t		size = signature_size(spec, nvalues);
	Signature  *sig = palloc0(size);

	Assert(spec->version == SIGNATURE_VERSION);
	SET_VARSIZE(sig, size);
	sig->spec = *spec;
	return sig;
}

/*
 * The portable bytes of a spec, and their hash.
 */

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
	SignatureSpec portable = *spec;

	spec_swap(&portable);
	return XXH3_64bits(&portable, sizeof(SignatureSpec));
}
