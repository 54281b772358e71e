/*
 * values.h
 *		Whether values of any type have the same bytes.
 */
#ifndef NEARDUP_VALUES_H
#define NEARDUP_VALUES_H

/*
 * True if two values of one type have the same bytes.  Spares the detoasting
 * of a value that an UPDATE has left where it was.
 */
extern bool same_value(Datum a, Datum b, bool typbyval, int typlen);

#endif							/* NEARDUP_VALUES_H */
