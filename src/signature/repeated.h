/*
 * repeated.h
 *		A signature that is an argument again and again.
 */
#ifndef NEARDUP_REPEATED_H
#define NEARDUP_REPEATED_H

#include "signature/signature.h"

/*
 * Argument n, 0 or 1, of a function that has nothing else in fn_extra.  A signature
 * that is stored out of line and comes a second time running is kept, and read no
 * more as long as it comes.  What is returned is only to be read, during this call.
 */
extern const Signature *repeated_fetch(FunctionCallInfo fcinfo, int n);

#define PG_GETARG_REPEATED_SIGNATURE(n) \
	(VARATT_IS_EXTERNAL_ONDISK(PG_GETARG_POINTER(n)) ? \
	 repeated_fetch(fcinfo, n) : PG_GETARG_SIGNATURE(n))

#endif							/* NEARDUP_REPEATED_H */
