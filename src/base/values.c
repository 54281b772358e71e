/*
 * values.c
 *		Values of any type: their operators, and whether their bytes are equal.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_operator.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

#include "base/compat.h"
#include "base/values.h"

char *
operator_name(Oid operator)
{
	HeapTuple	tuple = SearchSysCache1(OPEROID, ObjectIdGetDatum(operator));
	Form_pg_operator form;
	char	   *name;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "there is no operator %u", operator);
	form = (Form_pg_operator) GETSTRUCT(tuple);
	name = psprintf("OPERATOR(%s.%s)",
					quote_identifier(get_namespace_name(form->oprnamespace)),
					NameStr(form->oprname));
	ReleaseSysCache(tuple);
	return name;
}

Oid
operator_equal(Oid type)
{
	return lookup_type_cache(type, TYPECACHE_EQ_OPR)->eq_opr;
}

Oid
operator_less(Oid type)
{
	return lookup_type_cache(type, TYPECACHE_LT_OPR)->lt_opr;
}

bool
same_value(Datum a, Datum b, bool typbyval, int typlen)
{
	if (typlen == -1 && VARATT_IS_EXTERNAL_ONDISK(DatumGetPointer(a)) &&
		VARATT_IS_EXTERNAL_ONDISK(DatumGetPointer(b)) &&
		memcmp(DatumGetPointer(a), DatumGetPointer(b), VARSIZE_EXTERNAL(DatumGetPointer(a))) == 0)
		return true;
	return datum_image_eq(a, b, typbyval, typlen);
}
