/*
 * arguments.c
 *		Arguments of SQL functions: what is out of range, and what is null.
 */
#include "postgres.h"

#include "access/relation.h"

#include "base/arguments.h"

int64
argument_whole(const char *what, int64 value, int64 least, int64 most)
{
	if (value < least || value > most)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s is out of range: %lld", what, (long long) value),
				 most == PG_INT32_MAX ?
				 errdetail("It is a number from %lld on.",
						   (long long) least) :
				 errdetail("It is a number from %lld to %lld.",
						   (long long) least, (long long) most)));
	return value;
}

double
argument_real(const char *what, double value, double least, double most)
{
	/* written so that NaN fails */
	if (!(value >= least && value <= most))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s is out of range: %g", what, value),
				 errdetail("It is a number from %g to %g.", least, most)));
	return value;
}

double
argument_share(const char *what, double share)
{
	/* written so that NaN fails */
	if (!(share > 0 && share <= 1))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s is out of range: %g", what, share),
				 errdetail("It is a number greater than 0 and at most 1.")));
	return share;
}

size_t
argument_elements(const char *what, ArrayType *array)
{
	if (array_contains_nulls(array))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("array of %s contains a null value", what)));
	return ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
}

Relation
argument_relation(Oid relid, LOCKMODE lock)
{
	Relation	rel = try_relation_open(relid, lock);

	if (rel == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", relid)));
	return rel;
}
