/*
 * same_value.h
 *		Whether two values have the same bytes.
 */
#ifndef NEARDUP_SAME_VALUE_H
#define NEARDUP_SAME_VALUE_H

/*
 * True if two values of one type have the same bytes.  Spares the detoasting
 * of a value that an UPDATE has left where it was.
 */
extern bool same_value(Datum a, Datum b, bool typbyval, int typlen);

#endif							/* NEARDUP_SAME_VALUE_H */
