/*
 * operators.h
 *		Operators in statements that are put together.
 */
#ifndef NEARDUP_OPERATORS_H
#define NEARDUP_OPERATORS_H

/* An operator as statements call it, whatever the search path is. */
extern char *operator_name(Oid operator);

/* Those by which values of a type are equal, and one is less; InvalidOid: none. */
extern Oid	operator_equal(Oid type);
extern Oid	operator_less(Oid type);

#endif							/* NEARDUP_OPERATORS_H */
