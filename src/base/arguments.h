/*
 * arguments.h
 *		Arguments of SQL functions: what is out of range, and what is null.
 */
#ifndef NEARDUP_ARGUMENTS_H
#define NEARDUP_ARGUMENTS_H

#include "storage/lockdefs.h"
#include "utils/array.h"
#include "utils/relcache.h"

/*
 * The value, if least <= value <= most; `what` names it in the error, which is
 * INVALID_PARAMETER_VALUE.  PG_INT32_MAX is no bound to speak of.
 */
extern int64 argument_whole(const char *what, int64 value, int64 least,
							int64 most);
extern double argument_real(const char *what, double value, double least,
							double most);

/* The same for one that is greater than 0 and at most 1. */
extern double argument_share(const char *what, double share);

/*
 * How many elements an array has; raises NULL_VALUE_NOT_ALLOWED if one of them
 * is null.
 */
extern size_t argument_elements(const char *what, ArrayType *array);

/*
 * Open a relation of any kind that is given as regclass, which may be any
 * number; raises UNDEFINED_TABLE if there is none.
 */
extern Relation argument_relation(Oid relid, LOCKMODE lock);

#endif							/* NEARDUP_ARGUMENTS_H */
