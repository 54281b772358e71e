/*
 * values.h
 *		Values of any type: their operators, and whether their bytes are equal.
 */
#ifndef NEARDUP_VALUES_H
#define NEARDUP_VALUES_H

/* An operator as statements call it, whatever the search path is. */
extern char *operator_name(Oid operator);

/* Those by which values of a type are equal, and one is less; InvalidOid: none. */
extern Oid	operator_equal(Oid type);
extern Oid	operator_less(Oid type);

/*
 * True if two values of one type have the same bytes.  Spares the detoasting
 * of a value that an UPDATE has left where it was.
 */
extern bool same_value(Datum a, Datum b, bool typbyval, int typlen);

#endif							/* NEARDUP_VALUES_H */
