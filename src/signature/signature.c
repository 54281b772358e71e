/*
 * signature.c
 *		The signature datum, and the portable bytes of its spec.
 */
#include "postgres.h"

#include "access/detoast.h"
#include "port/pg_bswap.h"

#include "base/hash.h"
#include "signature/signature.h"

/* The signature datum */

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
 * Cache of a signature that is the argument of many calls
 *
 * In a nested loop, or a condition with a subquery, one side stays the same
 * while many rows are compared with it.  If it is large, it is stored out of
 * line, and each call would fetch it.
 *
 * The TOAST pointer identifies the value: while a transaction can see the
 * value, its place is not reused.
 */

/* The cached argument of a call site */
typedef struct Repeated
{
	char		place[TOAST_POINTER_SIZE];	/* TOAST pointer of the last
											 * argument */
	Signature  *kept;			/* value of an argument that was repeated, or
								 * NULL */
} Repeated;

/* Forget the cached value, and remember the place of another one. */
static void
begin(Repeated *repeated, const void *pointer)
{
	if (repeated->kept != NULL)
		pfree(repeated->kept);
	repeated->kept = NULL;
	memcpy(repeated->place, pointer, TOAST_POINTER_SIZE);
}

/* Fetch a value that is repeated into a context that outlives the call. */
static void
keep(Repeated *repeated, Datum value, MemoryContext context)
{
	MemoryContext old = MemoryContextSwitchTo(context);

	repeated->kept = DatumGetSignature(value);
	MemoryContextSwitchTo(old);
}

const Signature *
signature_repeated_argument(FunctionCallInfo fcinfo, int n)
{
	FmgrInfo   *flinfo = fcinfo->flinfo;
	Datum		value = PG_GETARG_DATUM(n);
	Repeated   *repeated;

	if (flinfo == NULL)
		return DatumGetSignature(value);
	if (flinfo->fn_extra == NULL)
		flinfo->fn_extra = MemoryContextAllocZero(flinfo->fn_mcxt,
												  2 * sizeof(Repeated));
	repeated = (Repeated *) flinfo->fn_extra + n;
	if (memcmp(repeated->place, DatumGetPointer(value),
			   TOAST_POINTER_SIZE) != 0)
	{
		begin(repeated, DatumGetPointer(value));
		return DatumGetSignature(value);
	}
	if (repeated->kept == NULL)
		keep(repeated, value, flinfo->fn_mcxt);
	return repeated->kept;
}

/* The portable bytes of a spec, and their hash */

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
