/*
 * values.c
 *		Whether values of any type have the same bytes.
 */
#include "postgres.h"

#include "utils/datum.h"

#include "base/compat.h"
#include "base/values.h"

bool
same_value(Datum a, Datum b, bool typbyval, int typlen)
{
	if (typlen == -1 && VARATT_IS_EXTERNAL_ONDISK(DatumGetPointer(a)) &&
		VARATT_IS_EXTERNAL_ONDISK(DatumGetPointer(b)) &&
		memcmp(DatumGetPointer(a), DatumGetPointer(b), VARSIZE_EXTERNAL(DatumGetPointer(a))) == 0)
		return true;
	return datum_image_eq(a, b, typbyval, typlen);
}
