/*
 * signature.c
 *		The signature datum.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/datum/signature.c
 */
#include "postgres.h"

#include "datum/signature.h"

size_t
signature_size(const Making *making, uint64 nvalues)
{
	uint64		most = (MaxAllocSize - SIGNATURE_HEADER) /
		(Max(making->width, 64) / 8);

	if (nvalues > most)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("signature of " UINT64_FORMAT " values is too large",
						nvalues),
				 errdetail("A signature holds at most " UINT64_FORMAT " values.",
						   most)));
	return SIGNATURE_HEADER + nvalues * making->width / 8;
}

Signature *
signature_alloc(const Making *making, uint64 nvalues)
{
	size_t		size = signature_size(making, nvalues);
	Signature  *sig = palloc0(size);

	SET_VARSIZE(sig, size);
	sig->making = *making;
	return sig;
}
