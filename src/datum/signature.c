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

Signature *
signature_alloc(const Making *making, uint64 nvalues)
{
	uint64		most = (MaxAllocSize - SIGNATURE_HEADER) /
		(Max(making->width, 64) / 8);
	Signature  *sig;
	size_t		size;

	if (nvalues > most)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("signature of " UINT64_FORMAT " values is too large",
						nvalues),
				 errdetail("A signature holds at most " UINT64_FORMAT " values.",
						   most)));
	size = SIGNATURE_HEADER + nvalues * making->width / 8;
	sig = palloc0(size);
	SET_VARSIZE(sig, size);
	sig->making = *making;
	return sig;
}
