/*
 * repeated.c
 *		A signature that is an argument again and again.
 *
 * In a nested loop, or a condition with a subquery, one side stays the same while
 * many rows are compared with it.  If it is large it is stored out of line, and what
 * is handed to the function says only where: each row would read all of it.
 *
 * The place tells it.  While a transaction can see a value nothing else is put there.
 */
#include "postgres.h"

#include "access/detoast.h"

#include "base/compat.h"
#include "signature/repeated.h"

typedef struct Repeated
{
	char		place[TOAST_POINTER_SIZE];	/* of the value that came last */
	Signature  *kept;			/* that value, if it came twice; or NULL */
} Repeated;

static bool
is_there(const Repeated *repeated, const void *pointer)
{
	return memcmp(repeated->place, pointer, TOAST_POINTER_SIZE) == 0;
}

/* Another value has come. */
static void
begin(Repeated *repeated, const void *pointer)
{
	if (repeated->kept != NULL)
		pfree(repeated->kept);
	repeated->kept = NULL;
	memcpy(repeated->place, pointer, TOAST_POINTER_SIZE);
}

/* Reads the value into memory that lasts. */
static void
keep(Repeated *repeated, Datum value, MemoryContext context)
{
	MemoryContext old = MemoryContextSwitchTo(context);

	repeated->kept = DatumGetSignature(value);
	MemoryContextSwitchTo(old);
}

const Signature *
repeated_fetch(FunctionCallInfo fcinfo, int n)
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
	if (!is_there(repeated, DatumGetPointer(value)))
	{
		begin(repeated, DatumGetPointer(value));
		return DatumGetSignature(value);
	}
	if (repeated->kept == NULL)
		keep(repeated, value, flinfo->fn_mcxt);
	return repeated->kept;
}
