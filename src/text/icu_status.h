/*
 * icu_status.h
 *		What ICU says of a call.
 */
#ifndef NEARDUP_ICU_STATUS_H
#define NEARDUP_ICU_STATUS_H

#include <unicode/utypes.h>

/* Raises EXTERNAL_ROUTINE_EXCEPTION if ICU could not do what it was asked for. */
static inline void
icu_require(UErrorCode status, const char *what)
{
	if (unlikely(U_FAILURE(status)))
		ereport(ERROR,
				(errcode(ERRCODE_EXTERNAL_ROUTINE_EXCEPTION),
				 errmsg("ICU could not %s: %s", what, u_errorName(status))));
}

#endif							/* NEARDUP_ICU_STATUS_H */
