/*
 * signature.c
 *		The signature datum.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/signature/signature.c
 */
#include "postgres.h"

#include "signature/signature.h"

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

	SET_VARSIZE(sig, size);
	sig->spec = *spec;
	return sig;
}
